"""Every call in turn: while a journey runs, the N-th allocation, mapping, new thread, accept or socket call of the server fails, once or from then on for a
moment, and of the journeys that fault_inject does not have each call on a file too. N goes up until a run meets no failure. After each run the server still
lives and answers, what it has acknowledged is whole, nothing is half, and the next try works; at the end `reel fsck` finds nothing, and a sanitizer no leak.

A journey is a row of JOURNEYS. --long takes every call (of more than 4,000 those that differ in who makes them); else one of ten journeys and a part of its calls, others each day (REEL_TESTS_DAY)."""
import errno
import glob
import http.client
import itertools
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
import unittest
import urllib.parse

import fault_inject as inject
from fault_inject import ENDLESS, FILES, HANG, JSON, KINDS, LIBRARY, PRELOAD, BROKEN_MAX, sha256
from faults import LONG
from harness import API, REEL, Server, eventually
from samples import T0

DAY = int(os.environ.get('REEL_TESTS_DAY') or time.time() // 86400)
PARTS = 1 if LONG else int(os.environ.get('REEL_FAULTS_PARTS') or 300)  # one of so many calls fails; set for all journeys and a deeper run than CI's
ROWS = 1 if PARTS < 300 else 10  # one of so many journeys runs
EVERY_MAX = 4000  # of more calls the first and the last of those that are alike fail
CALLERS = 8  # are the same then: those that differ only further up do the same with a failure
MOMENT = 0.3  # seconds that it goes on failing "from then on": nobody has no memory for ever
OTHERS = ('memory', 'map', 'thread', 'accept', 'socket')
ERRORS = {'memory': errno.ENOMEM, 'map': errno.ENOMEM, 'thread': errno.EAGAIN, 'accept': errno.EMFILE, 'socket': errno.ECONNRESET}


class Unanswered:
    """The server has closed the connection, which it may when it has no memory to answer."""
    status = 0

    def __init__(self, why):
        self.why = why

    def __repr__(self):
        return 'no answer: %r' % self.why


def short(answer):
    return '%d %s' % (answer.status, answer.body[:300]) if answer.status else repr(answer)


class World(inject.World):
    shaken = False  # something fails that an answer needs

    def ask(self, method, path, body=None, headers=None):
        if not self.shaken:
            return super().ask(method, path, body, headers)
        answer = self.attempt(method, path if path.startswith((API, '/dav/')) else API + path, body, headers)
        self.answers.append((method, path, answer))
        return answer

    def attempt(self, method, path, body=None, headers=None):
        try:
            return self.server.request(method, path, body, headers or {}, timeout=HANG)
        except (http.client.HTTPException, ConnectionError) as e:  # but not that it never answers
            return Unanswered(e)

    def is_done(self, answer):
        return bool(answer.status) and super().is_done(answer)

    def wait_until_idle(self):
        def idle():
            jobs = self.server.get(API + '/jobs').json()
            return not [j for j in jobs['items'] if j['state'] in ('queued', 'running') and j['kind'] != 'manifests']  # which waits between its tries
        assert eventually(idle), self.server.get(API + '/jobs')

    def end_of(self, answer, patience=HANG, must=True):
        if not self.shaken:
            return super().end_of(answer, patience, must)

        def ended():
            got = self.attempt('GET', answer.headers['Location'])
            return got.json() if got.status == 200 and got.json()['state'] not in ('queued', 'running') else None
        return eventually(ended, patience)


# ---- further journeys: prepare() before the fault, act() under it, again() when it has gone


class Live:
    """A live recording, appended to twice. A batch is there whole or not at all; the recording ends and is complete."""
    def rows(self, numbers):
        return ''.join(json.dumps({'topic': '/a', 'log_time': T0 + n * 1000000, 'data': {'x': n, 'of': self.content}}) + '\n' for n in numbers)

    def prepare(self, w):
        w.count += 1
        self.name = 'live%05d' % w.count
        self.content = w.count // 2  # two become the same content, with one manifest: with all, each run would make more calls than the one before
        made = w.ask('POST', '/recordings?live=true&collection=live&name=' + self.name)
        assert made.status == 201, made
        self.path = '/recordings/' + made.json()['id']
        self.sure, self.maybe = [], []
        self.append(w, (1, 2))
        assert self.sure == [1, 2], w.answers[-1]

    def append(self, w, numbers):
        done = w.is_done(w.ask('POST', self.path + '/messages', self.rows(numbers), {'Content-Type': 'application/x-ndjson'}))
        (self.sure if done else self.maybe).extend(numbers)

    def act(self, w):
        self.append(w, (3, 4, 5))
        self.append(w, (6, 7, 8))

    def numbers(self, w):
        answer = w.server.get(API + self.path + '/messages')
        assert answer.status == 200, answer
        return [r['data']['x'] for r in answer.rows() if 'topic' in r]

    def again(self, w):
        there = self.numbers(w)
        assert set(self.sure) <= set(there) <= set(self.sure + self.maybe) and len(set(there)) == len(there), (there, self.sure, self.maybe)
        assert all(len({n in there for n in batch}) == 1 for batch in ((3, 4, 5), (6, 7, 8))), ('half a batch', there)
        w.shaken = False
        self.append(w, (9,))
        assert self.sure[-1] == 9, w.answers[-1]
        ended = w.ask('POST', self.path + '/finish')
        assert ended.status == 200 and ended.json()['state'] == 'ready', ended
        ended = self.numbers(w)  # what was not acknowledged may be seen later
        assert set(there + [9]) <= set(ended) <= set(self.sure + self.maybe) and len(set(ended)) == len(ended), (ended, there)


class Finish(Live):
    """A live recording is ended: the file is made, or it goes on."""
    def act(self, w):
        self.done = w.is_done(w.ask('POST', self.path + '/finish'))

    def again(self, w):
        state = w.server.get(API + self.path).json()['state']
        assert state in (('ready',) if self.done else ('ready', 'recording')), (state, self.done)
        assert self.numbers(w) == [1, 2]
        ended = w.ask('POST', self.path + '/finish')
        assert ended.status == 200 and ended.json()['state'] == 'ready' or ended.status == 409 and state == 'ready', (ended.status, ended.body, state)
        assert self.numbers(w) == [1, 2]


class Reading:
    """An answer is what it always is, or is seen to be incomplete."""
    rest, streams = '', True  # its headers may have left when something fails

    def prepare(self, w):
        if not w.kept:
            inject.Tag().prepare(w)
        self.id = next(iter(w.kept))
        self.path = self.rest.format(id=self.id, name=w.kept[self.id][0])
        if type(self).__name__ not in w.expected:
            answer = w.ask('GET', self.path)
            assert answer.status == 200 and answer.body, answer
            w.expected[type(self).__name__] = self.content(answer)

    def content(self, answer):
        return sha256(answer.body)

    def act(self, w):
        answer = w.ask('GET', self.path)
        if w.is_done(answer):
            self.compare(w, answer)

    def compare(self, w, answer):
        assert self.content(answer) == w.expected[type(self).__name__], ('other bytes', answer)

    def again(self, w):
        answer = w.ask('GET', self.path)
        assert answer.status == 200, answer
        self.compare(w, answer)


class Export(Reading):
    rest = '/recordings/{id}/as/x.mcap'


class ExportZip(Reading):
    rest = '/search/export.zip?q=collection:lab'


class ExportBag(Reading):
    rest = '/search/export.zip?package=bagit&q=collection:lab&as=original,bag&deposit=' + urllib.parse.quote(json.dumps({
        'date': '2026-11-27', 'license': 'CC0-1.0', 'doi': '10.1/2', 'keywords': ['k'], 'instruments': ['i'], 'authors': [{'family': 'B', 'email': 'a@b.org'}]}))


class Tree(Reading):
    """A folder of the tree, none of whose files is left out."""
    rest = '/dav/lab/{name}.as?archive=tar'


class Play(Reading):
    rest = '/recordings/{id}/play?speed=max'

    def content(self, answer):
        return [row for row in answer.rows() if 'topic' in row]


class Scan:
    """Scanned again, as a job."""
    def prepare(self, w):
        if not w.kept:
            inject.Tag().prepare(w)
        self.id = next(iter(w.kept))

    def post(self, w, patience):
        answer = w.ask('POST', '/admin/rescan/' + self.id)
        return w.is_done(answer) and w.end_of(answer, patience, False)

    def act(self, w):
        self.post(w, 2 * MOMENT)

    def again(self, w):
        w.wait_until_idle()
        job = self.post(w, HANG)
        assert job and job['state'] == 'done', job
        w.whole(self.id, w.kept[self.id][1])


class Retention:
    """Rules are set and run: the recording goes to the trash, or stays; no other one goes."""
    def prepare(self, w):
        put = inject.Put()
        put.prepare(w)
        self.collection = 'old%d' % w.count
        answer = w.ask('PUT', '/recordings/by-name/%s/%s' % (self.collection, put.name), put.body)
        assert answer.status == 201, answer
        self.id, self.digest = answer.json()['id'], sha256(put.body)
        self.before = w.server.get(API + '/admin/retention').json()['rules']
        self.rules = [{'collection': self.collection, 'max_size': 0}]

    def run(self, w, patience):
        self.set = w.is_done(w.ask('PUT', '/admin/retention', json.dumps({'rules': self.rules}), JSON))
        answer = w.ask('POST', '/admin/retention/run')
        return w.is_done(answer) and w.end_of(answer, patience, False)

    def act(self, w):
        job = self.run(w, 2 * MOMENT)
        self.done = self.set and bool(job) and job['state'] == 'done'

    def again(self, w):
        w.wait_until_idle()
        rules = [r['collection'] for r in w.server.get(API + '/admin/retention').json()['rules']]
        assert rules == [self.collection] or not self.set and rules == [r['collection'] for r in self.before], (rules, self.set)
        state = w.server.get('%s/recordings/%s' % (API, self.id)).json()['state']
        assert state == 'trashed' or state == 'ready' and not self.done, (state, self.done)
        if state == 'ready':
            w.whole(self.id, self.digest)
        job = self.run(w, HANG)
        assert self.set and job and job['state'] == 'done', job
        assert w.server.get('%s/recordings/%s' % (API, self.id)).json()['state'] == 'trashed'
        restored = w.ask('POST', '/recordings/%s/restore' % self.id)
        assert restored.status == 200, restored
        w.whole(self.id, self.digest)
        assert w.ask('DELETE', '/recordings/%s?purge=true' % self.id).status < 300


class Upgrade:
    """A server starts on a catalog of the first version: it is upgraded, or left alone with an error; the next start does it."""
    files = sorted(glob.glob(os.path.join(os.path.dirname(__file__), '..', '..', 'sql', 'migrations', '*.sql')))
    apart = True  # a server of its own, whose start has 99,000 allocations: not in the short form

    def prepare(self, w):
        self.data = os.path.join(w.folder, 'upgrade')
        shutil.rmtree(self.data, True)
        os.mkdir(self.data)
        self.catalog = os.path.join(self.data, 'catalog.db')
        db = sqlite3.connect(self.catalog)
        with open(self.files[0], encoding='utf-8') as f:
            db.executescript(f.read())
        db.executescript('PRAGMA application_id = %d; PRAGMA user_version = 1' % 0x5265656c)
        db.close()

    def act(self, w):
        with open(os.path.join(w.folder, 'stderr'), 'w+b') as log:
            process = subprocess.Popen([REEL, 'serve', '--data', self.data, '--listen', '127.0.0.1:0'], env={**os.environ, **w.env}, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=log)
            guard = threading.Timer(HANG, process.kill)
            guard.start()
            listens = False
            for line in process.stdout:
                if b'listening on' in line and not listens:
                    listens = True
                    process.terminate()
            code = process.wait()
            guard.cancel()
            process.stdout.close()
            log.seek(0)
            said = log.read().decode(errors='replace')
        by_crypto = b'libcrypto' in w.faults.control.failed_stack  # it uses a pointer that it did not get
        assert code in (0, 1) or by_crypto and code == -signal.SIGSEGV, ('the server ended with', code, said)
        assert code != 1 or said, 'it ended without a word'
        assert 'Sanitizer' not in said, said

    def again(self, w):
        Server(self.data).stop()
        db = sqlite3.connect(self.catalog)
        assert list(db.execute('PRAGMA user_version')) == [(len(self.files),)]
        assert list(db.execute('PRAGMA integrity_check')) == [('ok',)]
        db.close()


NEW = OTHERS + FILES
KINDS_OF_THE_RUN = (os.environ.get('REEL_FAULTS_KINDS') or ' '.join(KINDS)).split()
JOURNEYS = [  # what is done, and which calls fail
    (inject.Put, OTHERS), (inject.Tus, OTHERS), (inject.Import, OTHERS), (inject.Move, OTHERS), (inject.Tag, OTHERS), (inject.Delete, OTHERS),
    (inject.Purge, OTHERS), (inject.Backup, OTHERS), (inject.Scrub, OTHERS), (Live, NEW), (Finish, NEW), (Export, NEW), (ExportZip, NEW), (ExportBag, NEW),
    (Play, NEW), (Scan, NEW), (Retention, NEW), (Upgrade, NEW), (Tree, OTHERS),
]


def logged(w):
    """What it has written last, but for what was only read."""
    return '\n'.join([line for line in w.server.log_text().splitlines() if 'method=GET' not in line][-12:])


def stack_of(control):
    """Where the call was made that failed first: with functions and lines, as far as they are known."""
    lines = []
    for frame in control.failed_stack.decode(errors='replace').split():
        module, _, offset = frame.rpartition('+')
        path = {'reel': REEL, os.path.basename(LIBRARY): LIBRARY}.get(module, os.path.join(os.path.dirname(LIBRARY), module))
        if os.path.exists(path) and path != LIBRARY:
            found = subprocess.run(['addr2line', '-fse', path, '%#x' % (int(offset, 16) - 1)], stdout=subprocess.PIPE).stdout.decode().split()
            lines.append('%s %s' % tuple((found + ['?', '?'])[:2]))
        elif path != LIBRARY:
            lines.append(frame)
    return '\n  '.join(lines)


@unittest.skipUnless(os.path.exists(LIBRARY), 'libfailing.so is not built next to the server')
class Every(unittest.TestCase):
    """Its tests are made from the table."""
    def world(self):
        w = World(self)
        w.expected = {}
        return w

    def one(self, w, journey, kind, nth, endless):
        """True while there was an N-th call to fail."""
        op, error = journey(), ERRORS.get(kind, errno.EIO)
        w.shaken, w.answers, w.lossy, w.endless, w.may = False, [], False, endless, (500, 503, 507)
        op.prepare(w)
        w.wait_until_idle()
        w.answers, w.shaken = [], kind in OTHERS or getattr(op, 'streams', False)
        w.faults.control.folder = os.path.realpath(w.folder).encode()
        w.faults.arm(KINDS[kind], nth, error, ENDLESS if endless else 1)
        stop = threading.Event()
        watch = threading.Thread(target=self.watch, args=(w.faults, stop))
        watch.start()
        try:
            op.act(w)
        finally:
            stop.set()
            watch.join()
            w.faults.disarm()
            w.shaken = False
        w.wait_until_idle()  # also for what was begun, and not answered
        op.again(w)
        assert w.server.process.poll() is None, 'the server has died'
        return w.faults.control.failed > 0

    def watch(self, faults, stop):
        """A moment after the first failure they end."""
        while not stop.wait(0.02):
            if faults.control.failed:
                stop.wait(MOMENT)
                faults.control.nth = 0
                return

    def calls(self, w, journey, kind, begin):
        """The numbers of the calls that fail, in turn, until there is none of that number."""
        if PARTS > 1:
            return itertools.count(begin, PARTS)
        control = w.faults.control
        control.lists = CALLERS
        for _ in range(2):  # the first time more is done
            self.one(w, journey, kind, ENDLESS, False)
        control.lists = 0
        if control.seen <= EVERY_MAX:
            return itertools.count(1)
        callers = control.listed[:control.seen]
        assert len(callers) == control.seen, control.seen
        first = {c: n for n, c in reversed(list(enumerate(callers, 1)))}
        last = {c: n for n, c in enumerate(callers, 1)}
        return sorted({*first.values(), *last.values()})

    def all_of(self, journey, kinds):
        row = [j for j, _ in JOURNEYS].index(journey)
        if (row + DAY) % ROWS or ROWS > 1 and getattr(journey, 'apart', False):
            return  # on another day
        w, broken, runs, more = self.world(), [], 0, True
        for kind in [k for k in kinds if k in KINDS_OF_THE_RUN]:
            for endless in (False, True):
                for nth in self.calls(w, journey, kind, (DAY - row - kinds.index(kind)) % PARTS + 1):
                    try:
                        more = self.one(w, journey, kind, nth, endless)
                        runs += more
                    except Exception as e:  # reported at the end: what follows is of another server
                        w.faults.disarm()
                        broken.append('%s, %s call %d %s: %r\nfailed first in\n  %s\n%s\n%s' % (
                            journey.__name__, kind, nth, 'and on' if endless else 'once', e, stack_of(w.faults.control),
                            '\n'.join('%s %s: %s' % (m, p, short(a)) for m, p, a in w.answers), logged(w)))
                        w.server.stop(None)
                        w = self.world()
                    if not more or len(broken) == BROKEN_MAX:
                        break
        if not broken:
            w.check()
            w.server.stop()
        print('every call: %s: %d failed (day %d, one of %d)' % (journey.__name__, runs, DAY, PARTS), flush=True)
        self.assertFalse(broken, '\n\n'.join(broken))


for made, called in JOURNEYS:
    setattr(Every, 'test_' + made.__name__.lower(), lambda self, j=made, k=called: self.all_of(j, k))
