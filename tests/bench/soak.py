#!/usr/bin/env python3
"""Endurance: a mixed load on one server for so many minutes – uploads of all formats, queries, conversions, edits, deletes with purge, kills with restart –
while memory, descriptors, threads and catalog are looked at. Its one rule: a line that is not flat is a defect, and the bounds stand in BOUNDS.

The server gets two malloc arenas (--arenas): glibc gives each thread one of its own, up to eight a core, and keeps the peak of each, so that without
this memory creeps up to the sum of all peaks for thousands of requests, and a leak could hide in that.

The first half of the time the server is killed again and again; whatever it had answered must be there after each start. The second half is one life,
whose last two thirds are judged: the growth is the median slope (Theil-Sen) over that span."""
import argparse
import glob
import json
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'e2e'))

from lab import cpu_seconds  # noqa: E402

POPULATION = 150  # recordings that are there at most, so that what grows with them stands still
OPTIONS = ('--cache-mb', '16', '--derived-mb', '100', '--upload-expiry', '60', '--drain', '5')
# What may grow over the judged span: a share of its level, and so much more. anon: memory of its own, in KB. rest: the catalog in KB without the feed
# of changes and the audit, which keep 100,000 rows each by design, and without free pages.
BOUNDS = {'anon': (.05, 2048), 'fds': (.03, 3), 'threads': (0, 1), 'rest': (.10, 256)}


# ---- judging

def slope(points):
    """Theil-Sen: the median of the slopes of all pairs (of at most 200 points)."""
    points = points[::max(1, len(points) // 200)]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for i, a in enumerate(points) for b in points[i + 1:] if b[0] > a[0]]
    return statistics.median(slopes) if slopes else 0.0


def judge(samples):
    """Of one life: [(name, level, growth, allowed, flat)]."""
    begin, end = samples[0]['t'], samples[-1]['t']
    late = [s for s in samples if s['t'] >= begin + (end - begin) / 3]
    out = []
    for name, (share, more) in BOUNDS.items():
        points = [(s['t'], s[name]) for s in late if s.get(name) is not None]
        if len(points) < 4:
            out.append((name, 0, 0, 0, False))
            continue
        level, growth = statistics.median(v for _, v in points), slope(points) * (points[-1][0] - points[0][0])
        allowed = level * share + more
        out.append((name, level, growth, allowed, growth <= allowed))
    return out


# ---- looking

def memory(pid):
    with open('/proc/%d/status' % pid) as f:
        lines = dict(line.split(':', 1) for line in f)
    return {'rss': int(lines['VmRSS'].split()[0]), 'anon': int(lines['RssAnon'].split()[0]), 'threads': int(lines['Threads'])}


def catalog_size(data):
    return sum(os.path.getsize(p) for p in glob.glob(os.path.join(data, 'catalog.db*')) if not p.endswith('-shm')) // 1024


def catalog_rest(data):
    db = sqlite3.connect('file:%s/catalog.db?mode=ro' % data, uri=True, timeout=10)
    try:
        size, = db.execute("SELECT sum(pgsize) FROM dbstat WHERE aggregate = TRUE AND name NOT IN ('changes', 'audit')").fetchone()
        return size // 1024
    finally:
        db.close()


# ---- the load

class Soak:
    def __init__(self, minutes, rate, seed, kinds=None, arenas=2):
        import harness
        self.harness, self.api = harness, harness.API
        self.data, self.env = tempfile.mkdtemp(prefix='reel-soak-'), {'MALLOC_ARENA_MAX': str(arenas)} if arenas else {}
        self.seconds, self.rate, self.seed, self.kinds = minutes * 60, rate, seed, kinds or self.KINDS
        self.golden = sorted(p for p in glob.glob(os.path.join(HERE, '..', 'golden', '*', '*', 'input*')) if os.path.isfile(p) and os.path.getsize(p) < 1 << 20)
        self.lock = threading.Lock()
        self.ids, self.gone, self.cut = {}, [], set()  # known to be there; purged; asked for when it was killed
        self.counts, self.problems, self.samples, self.lives = {}, [], [], []
        self.server, self.life, self.up, self.over = None, 0, threading.Event(), threading.Event()
        self.idle, self.busy = threading.Condition(self.lock), 0
        self.number = 0

    def start(self):
        begin = time.monotonic()
        self.server = self.harness.Server(self.data, *OPTIONS, env=self.env)
        self.life += 1
        self.lives.append({'life': self.life, 'ready_s': time.monotonic() - begin, 'requests': 0})
        self.check()
        self.up.set()

    def kill(self):
        """In the middle of whatever is under way."""
        self.up.clear()
        self.server.process.kill()
        self.server.process.wait()
        with self.lock:
            while self.busy:
                self.idle.wait()
        self.server.stop(None)

    def ask(self, method, path, body=None, **headers):
        server = self.server
        with self.lock:
            self.lives[-1]['requests'] += 1
        answer = server.request(method, path if path.startswith(self.api) else self.api + path, json.dumps(body) if isinstance(body, dict) else body,
                                {k.replace('_', '-'): v for k, v in headers.items()} | ({'Content-Type': 'application/json'} if isinstance(body, dict) else {}))
        if answer.status >= 500 and answer.status != 503:
            self.problems.append('%s %s: %d %s' % (method, path, answer.status, answer.body[:300].decode(errors='replace')))
        return answer

    # ---- one of each kind; `r` is the thread's own random

    def body(self, r):
        import legacy
        from samples import bag, lab_messages, nanover, nanover_messages
        salt, kind = r.randrange(1 << 30), r.choice(('bag', 'bag', 'nanover', 'traj', 'golden', 'golden', 'golden', 'noise'))
        if kind == 'bag':
            return '.bag', bag(lab_messages(r.choice((1, 4)), r.choice((0, 2000)), salt=salt), indexed=r.random() < .7)
        if kind == 'nanover':
            return '.nanover.zip', nanover(nanover_messages(60, 20, salt))
        if kind == 'traj':
            return '.traj', legacy.pair(salt=salt)[0]
        if kind == 'noise':
            return '.bin', r.randbytes(2000)
        path = r.choice(self.golden)
        with open(path, 'rb') as f:
            return os.path.basename(path)[len('input'):], f.read()

    def name(self, suffix):
        with self.lock:
            self.number += 1
            return 'soak-%06d%s' % (self.number, suffix)

    def added(self, answer):
        if answer.status in (200, 201, 202):
            with self.lock:
                self.ids[answer.json()['id']] = answer.json()['format']

    def upload(self, r):
        suffix, body = self.body(r)
        if len(self.ids) >= POPULATION:
            return self.purge(r)
        if r.random() < .2:
            return self.upload_in_pieces(suffix, body)
        self.added(self.ask('PUT', '/recordings/by-name/c%d/%s?tag=kind=%s' % (r.randrange(4), self.name(suffix), suffix[1:].replace('.', '')), body))

    def upload_in_pieces(self, suffix, body):
        import base64
        name = self.name(suffix)
        metadata = 'filename %s,collection cGllY2Vz' % base64.b64encode(name.encode()).decode()
        answer = self.ask('POST', '/uploads', None, Tus_Resumable='1.0.0', Upload_Length=str(len(body)), Upload_Metadata=metadata)
        where, at = '/uploads/' + answer.headers['Location'].rsplit('/', 1)[1], 0
        for part in (body[:len(body) // 2], body[len(body) // 2:]):
            self.ask('PATCH', where, part, Tus_Resumable='1.0.0', Upload_Offset=str(at), Content_Type='application/offset+octet-stream')
            at += len(part)
        for item in self.ask('GET', '/recordings?collection=pieces&sort=-created&limit=10').json()['items']:
            if item['name'] == name:
                with self.lock:
                    self.ids[item['id']] = item['format']

    def reupload(self, r):
        """A conversion comes in as a recording of another format: all that can be written are read."""
        rid = self.any(r)
        if rid and len(self.ids) < POPULATION:
            kind = r.choice(('mcap', 'bag', 'tape', 'tide', 'nanover.zip'))
            made = self.ask('GET', '/recordings/%s/as/x.%s?end=%%2B1s' % (rid, kind))
            if made.status == 200:
                self.added(self.ask('PUT', '/recordings/by-name/made/' + self.name('.' + kind), made.body))

    def any(self, r):
        with self.lock:
            return r.choice(list(self.ids)) if self.ids else None

    def purge(self, r):
        with self.lock:
            if len(self.ids) < 20:
                return
            rid = r.choice(list(self.ids))
            del self.ids[rid]
            self.cut.add(rid)
        if r.random() < .5:
            self.ask('DELETE', '/recordings/' + rid)
        if self.ask('DELETE', '/recordings/%s?purge=true' % rid).status in (200, 204):
            with self.lock:
                self.cut.discard(rid)
                self.gone.append(rid)

    def query(self, r):
        rid = self.any(r)
        if rid:
            self.ask('GET', '/recordings/' + rid + r.choice((
                '', '/topics', '/scan', '/metadata', '/attachments', '/coverage', '/topics/fields', '/messages?limit=50', '/messages?start=%2B200ms&end=%2B900ms', '/messages?output=csv&limit=100&decode=none',
                '/messages?output=msgpack&limit=100', '/messages?last=per_topic&start=%2B500ms&limit=20', '/message?index=-1', '/series?field=/odom.x&max_points=50',
                '/plot.svg?field=/odom.x', '/carla/info', '/nanover/energies', '/bag/info', '/layout.json')))

    def convert(self, r):
        rid = self.any(r)
        if rid:
            headers = {'Range': 'bytes=%d-%d' % (1000, 9000)} if r.random() < .3 else {}
            self.ask('GET', '/recordings/%s/as/x.%s' % (rid, r.choice(('mcap', 'bag', 'bag?version=1.2', 'bag?compression=bz2', 'mcap?compression=zstd', 'tape', 'tide', 'tide?version=2.0', 'log', 'nanover.zip',
                                                                        'mcap?view=foxglove', 'mcap?report', 'ndjson'))), **headers)

    def leave(self, r):
        """A client that goes away in the middle of an answer."""
        import socket
        rid = self.any(r)
        if rid:
            with socket.create_connection(('127.0.0.1', self.server.port), timeout=10) as s:
                s.sendall(b'GET %s/recordings/%s/as/x.mcap HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n' % (self.api.encode(), rid.encode()))
                s.recv(100)

    def find(self, r):
        self.ask('GET', r.choice(('/recordings?q=odom', '/recordings?sort=-start&limit=20', '/recordings?topic=/odom*', '/recordings?tag=kind=bag&count=true', '/values?field=topic', '/stats', '/collections', '/coverage',
                                  '/changes?since=0&limit=50', '/failures', '/events', '/tags/lot', '/recordings?damaged=true', '/jobs', '/merge/as/x.mcap?recording=%s&recording=%s' % (self.any(r), self.any(r)))))

    def edit(self, r):
        rid = self.any(r)
        if rid:
            way = r.randrange(5)
            if way == 0:
                self.ask('PUT', '/recordings/%s/tags/lot?value=%d' % (rid, r.randrange(20)))
            elif way == 1:
                self.ask('PATCH', '/recordings/' + rid, {'description': 'seen %d times' % r.randrange(100), 'tags': {'lot': None}})
            elif way == 2:
                self.ask('POST', '/recordings/%s/notes' % rid, {'text': 'note %d' % r.randrange(100)})
            elif way == 3:
                self.ask('POST', '/events', {'recording': rid, 'start': '+0s', 'title': 'e'})
            else:
                self.ask('POST', '/tags:batch', {'q': 'odom', 'set': {'lot': str(r.randrange(5))}})

    KINDS = ('upload', 'reupload', 'purge', 'query', 'query', 'query', 'query', 'convert', 'convert', 'leave', 'find', 'find', 'edit', 'edit')

    def work(self, index, workers):
        r, due = random.Random(self.seed + index), time.monotonic()
        while not self.over.is_set():
            due = max(due + workers / self.rate, time.monotonic() - 1)  # bounded: what was missed while it was down is not made up for
            self.over.wait(max(0, due - time.monotonic()))
            if not self.up.wait(1) or self.over.is_set():
                continue
            kind, life = r.choice(self.kinds), self.life
            with self.lock:
                if not self.up.is_set():
                    continue
                self.busy += 1
            try:
                getattr(self, kind)(r)
                with self.lock:
                    self.counts[kind] = self.counts.get(kind, 0) + 1
            except Exception as e:  # a killed server breaks connections: that alone is no problem
                if self.up.is_set() and self.life == life:
                    self.problems.append('%s: %r' % (kind, e))
            finally:
                with self.lock:
                    self.busy -= 1
                    self.idle.notify_all()

    # ---- what must be there after a kill

    def check(self):
        there, path = set(), self.api + '/recordings?limit=1000'
        while path:
            answer = self.server.get(path)
            there |= {item['id'] for item in answer.json()['items']}
            path = answer.next_path()
        lost, back = [i for i in self.ids if i not in there], [i for i in self.gone if i in there]
        if lost or back:
            self.problems.append('after a kill: lost %s, back again %s' % (lost[:5], back[:5]))
        for rid in there - set(self.ids):  # under way when it was killed
            self.ids[rid] = ''
        self.gone = self.gone[-1000:]
        self.lives[-1]['recordings'] = len(there)

    # ---- the run

    def sample(self, begin):
        pid = self.server.process.pid
        one = {'t': time.monotonic() - begin, 'life': self.life, 'fds': len(os.listdir('/proc/%d/fd' % pid)), 'catalog': catalog_size(self.data), 'recordings': len(self.ids),
               'requests': self.lives[-1]['requests'], 'cpu': cpu_seconds(pid), **memory(pid)}
        one['rest'] = catalog_rest(self.data) if len(self.samples) % 5 == 0 else None
        self.samples.append(one)

    def fill(self):
        """Full from the start, each opened once: what grows afterwards grows with use."""
        r = random.Random(self.seed - 1)
        for _ in range(3 * POPULATION):
            if len(self.ids) < POPULATION - 10:
                suffix, body = self.body(r)
                self.added(self.ask('PUT', '/recordings/by-name/c%d/%s' % (r.randrange(4), self.name(suffix)), body))
        for rid in self.ids:
            self.ask('GET', '/recordings/%s/messages?limit=1' % rid)

    def run(self, workers=3):
        self.start()
        self.fill()
        begin, step = time.monotonic(), max(.5, self.seconds / 900)
        ends = [begin + self.seconds * i / 12 for i in range(1, 7)]  # six kills in the first half
        threads = [threading.Thread(target=self.work, args=(i, workers), daemon=True) for i in range(workers)]
        for t in threads:
            t.start()
        while time.monotonic() < begin + self.seconds:
            time.sleep(step)
            if self.server.process.poll() is not None:
                self.problems.append('the server has ended by itself: exit code %s\n%s' % (self.server.process.returncode, self.server.log_text()))
                break
            self.sample(begin)
            if ends and time.monotonic() > ends[0]:
                ends.pop(0)
                self.kill()
                self.start()
        self.over.set()
        for t in threads:
            t.join()
        self.end()

    def end(self):
        if self.server.process.poll() is None:
            begin = time.monotonic()
            try:
                self.server.stop()
            except AssertionError as e:
                self.problems.append(str(e))
            self.stopped_s = time.monotonic() - begin
        done = self.harness.reel('fsck', '--data', self.data, check=False)
        self.fsck = done.stdout.decode().strip().splitlines()
        if done.returncode != 0:
            self.problems.append('fsck: %s' % '\n'.join(self.fsck[:20]))


def report(soak):
    print('%-5s %8s %8s %8s %6s %7s %6s %10s %9s %9s %6s' % ('life', 'at', 'rss MB', 'anon MB', 'fds', 'threads', 'recs', 'catalog KB', 'rest KB', 'requests', 'cpu %'))
    by_life = {}
    for s in soak.samples:
        by_life.setdefault(s['life'], []).append(s)
    last = max(by_life)
    for life, all_of in by_life.items():
        shown = all_of[::max(1, len(all_of) // 12)] if life == last else all_of[-1:]
        for s in shown:
            span = s['t'] - all_of[0]['t'] + .001
            rest = next((x['rest'] for x in reversed(soak.samples[:soak.samples.index(s) + 1]) if x['rest']), 0)
            print('%-5d %7.0fs %8.1f %8.1f %6d %7d %6d %10d %9d %9d %6.0f' % (life, s['t'], s['rss'] / 1024, s['anon'] / 1024, s['fds'], s['threads'], s['recordings'], s['catalog'], rest,
                                                                             s['requests'], 100 * s['cpu'] / span if span > 5 else 0))
    print('\ndone: ' + ', '.join('%d %s' % (n, k) for k, n in sorted(soak.counts.items())))
    print('kills: %d; ready again after %s s' % (len(soak.lives) - 1, ', '.join('%.2f' % one['ready_s'] for one in soak.lives[1:])))
    print('fsck: ' + (soak.fsck[-1] if soak.fsck else 'nothing'))
    rows = judge(by_life[last])
    for name, level, growth, allowed, flat in rows:
        print('%-8s level %9.0f  growth %+8.0f  allowed %8.0f  %s' % (name, level, growth, allowed, 'flat' if flat else 'RISES: a defect'))
    for problem in soak.problems[:20]:
        print('PROBLEM: ' + problem)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('minutes', type=float)
    parser.add_argument('--reel', default='build/release/reel')
    parser.add_argument('--rate', type=float, default=20, help='requests begun a second, all workers together (20)')
    parser.add_argument('--seed', type=int, default=int(time.time()))
    parser.add_argument('--only', help='kinds of requests, with commas: to find what grows (%s)' % ', '.join(sorted(set(Soak.KINDS))))
    parser.add_argument('--arenas', type=int, default=2, help='of malloc, for the server (2); 0: as glibc has it')
    parser.add_argument('--json', help='also write samples and verdict to this file')
    args = parser.parse_args()
    os.environ['REEL'] = os.path.abspath(args.reel)
    soak = Soak(args.minutes, args.rate, args.seed, args.only and args.only.split(','), args.arenas)
    print('%g minutes, %g requests a second, seed %d, %s malloc arenas, %s' % (args.minutes, args.rate, args.seed, args.arenas or 'all', subprocess.run([args.reel, '--version'], stdout=subprocess.PIPE).stdout.decode().strip()), flush=True)
    try:
        soak.run()
        rows = report(soak)
    finally:
        shutil.rmtree(soak.data, True)
    good = not soak.problems and all(row[4] for row in rows)
    if args.json:
        with open(args.json, 'w') as f:
            json.dump({'good': good, 'samples': soak.samples, 'lives': soak.lives, 'problems': soak.problems, 'verdict': rows, 'counts': soak.counts}, f)
    print('endurance: ' + ('good' if good else 'NOT good'))
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
