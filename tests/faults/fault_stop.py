"""Every kind of job while its files are slow: DELETE of the job, and SIGTERM, end it within seconds of a minute of work; what it held is back, and it goes on
after the next start. The kinds are those that the server says it has: a new one without a row here fails.

In the short form one of six kinds, others each day (REEL_TESTS_DAY)."""
import json
import os
import re
import resource
import signal
import socket
import time
import unittest

import fault_inject as inject
from fault_inject import JSON, KINDS, LIBRARY, TUS
from faults import LONG
from harness import API, PATIENCE, catalog_sql, eventually, files_below
from samples import T0, bag, lab_messages
from test_nanover_record import Peer

DAY = int(os.environ.get('REEL_TESTS_DAY') or time.time() // 86400)
PARTS = 1 if LONG else 6
PAUSE_MAX_S = 1.0  # of one call, which cannot be interrupted
PROCESSOR_S = 3    # of a stop
FILES = 40


class World(inject.World):
    def __init__(self, test, slow):
        self.slow, self.numbers = slow, 0
        super().__init__(test, *slow.args)

    def start(self):
        watched = os.path.join(self.root, 'watched')
        os.makedirs(watched, exist_ok=True)
        self.args = [watched + '=lab' if a == 'WATCHED' else a for a in self.args]
        super().start()

    def stopped(self):
        if self.server.process.poll() is None:
            self.server.stop()

    def number(self):
        self.numbers += 1
        return self.numbers

    def slow_down(self, pause_s):
        self.faults.slow(sum(KINDS[k] for k in self.slow.calls), pause_s, self.slow.part)
        self.faults.control.folder = os.path.realpath(self.folder).encode()

    def killed(self):
        self.server.process.send_signal(signal.SIGKILL)
        self.server.process.wait()
        self.server.stop(None)

    def metric(self, name):
        found = re.search(r'^%s (\S+)$' % re.escape(name), self.server.get('/metrics').body.decode(), re.M)
        return float(found.group(1)) if found else 0

    def ended(self, kind):
        return sum(self.metric('reel_jobs_total{kind="%s",end="%s"}' % (kind, end)) for end in ('done', 'failed', 'cancelled'))

    def jobs(self, kind):
        return [j for j in self.server.get(API + '/jobs?limit=100').json()['items'] if j['kind'] == kind and j['state'] in ('queued', 'running')]

    def running(self, kind):
        """Its job, which has come to the slow files."""
        def found():
            running = [j for j in self.jobs(kind) if j['state'] == 'running']
            return running[0] if running and (self.slow.endless or self.faults.control.seen > 0) else None
        job = eventually(found)
        assert job, (kind, self.faults.control.seen, self.server.get(API + '/jobs').body, self.server.log_text()[-2000:])
        return job

    def put_many(self, collection, size=1):
        for _ in range(FILES):
            n = self.number()
            answer = self.server.put('f%d.bag' % n, bag(lab_messages(size, salt=n)), collection=collection)
            assert answer.status == 201, answer

    def write_many(self, folder):
        """Files to import, each in a folder of its own."""
        for _ in range(FILES):
            n = self.number()
            os.makedirs(os.path.join(self.root, folder, '%d' % n))
            with open(os.path.join(self.root, folder, '%d' % n, 'f.bag'), 'wb') as f:
                f.write(bag(lab_messages(1, salt=n)))

    def left(self):
        """Of what was being written."""
        return [f for f in files_below(os.path.join(self.data, 'incoming')) if not os.path.basename(f).startswith('.')]

    def post(self, path, body=None, status=202):
        answer = self.ask('POST', path, json.dumps(body) if body is not None else None, JSON)
        assert answer.status == status, answer
        return answer

    def grow(self):
        """A live recording of some size."""
        self.live = self.ask('POST', '/recordings?live=true&collection=live&name=l%d' % self.number()).json()['id']
        for part in range(4):
            rows = ''.join(json.dumps({'topic': '/a', 'log_time': T0 + n, 'data': {'x': os.urandom(10_000).hex()}}) + '\n' for n in range(part * 100, part * 100 + 100))
            answer = self.ask('POST', '/recordings/%s/messages' % self.live, rows, {'Content-Type': 'application/x-ndjson'})
            assert answer.status == 200, answer


# ---- the kinds: prepare() makes work, start() begins it when its files are slow


class Slow:
    args = ()            # of the server
    calls, part = ('read',), '/data/blobs/'  # that are slow
    lasts_s = 240        # what it takes then, if nothing ends it
    at_start = False     # it begins when the server does
    endless = False      # it lasts by itself, and no call is slow

    def prepare(self, w):
        """By default: nothing."""

    def end(self, w):
        """After it was stopped, and goes on."""
        assert eventually(lambda: not w.jobs(self.kind)), (w.jobs(self.kind), w.server.log_text()[-2000:])


class OfCatalog(Slow):
    """What only reads and writes the catalog. Requests and the end of the server are slow then, too."""
    calls, part, lasts_s = ('read', 'lock'), '/data/catalog.db', 60


class Large(Slow):
    """One recording of several MB."""
    def prepare(self, w):
        if not hasattr(self, 'id'):
            self.id = w.server.added('large.bag', bag(lab_messages(40, blob=100_000)))


class Scan(Large):
    def start(self, w):
        w.post('/admin/rescan/' + self.id)


class Plan(Large):
    def start(self, w):
        path = '%s/recordings/%s/as/x.parquet?topic=/camera&start=%%2B%dms' % (API, self.id, w.number())  # another plan
        w.server.request('GET', path, headers={'Prefer': 'wait=0'})


class Import(Slow):
    calls, part = ('write', 'open', 'sync'), '/data/incoming/'

    def prepare(self, w):
        self.folder = 'day%d' % w.number()
        w.write_many(self.folder)

    def start(self, w):
        w.post('/imports', {'path': self.folder, 'collection': 'lab'})


class Batch(OfCatalog):
    def prepare(self, w):
        self.collection = 'batch%d' % w.number()
        w.put_many(self.collection)

    def start(self, w):
        w.post('/recordings:batch', {'q': 'collection:' + self.collection, 'action': 'change', 'tags': {'n': '%d' % w.number()}})


class Manifests(Batch):
    calls, part, lasts_s = ('write', 'open', 'sync'), '/data/incoming/', 240


class Watch(OfCatalog):
    """A scan of its folders, each of which is looked up."""
    args = '--still-time', '0', '--watch', 'WATCHED', '--rescan-interval', '2'

    def prepare(self, w):
        w.write_many('watched')

    def start(self, w):
        """It comes by itself."""


class References(Slow):
    args = '--rescan-interval', '2'
    calls = 'read', 'open'

    def prepare(self, w):
        if not hasattr(self, 'done'):
            w.write_many('referenced')
            self.done = w.end_of(w.post('/imports', {'path': 'referenced', 'collection': 'lab', 'mode': 'reference'}))
            assert self.done['outcome']['created'] == FILES, self.done

    def start(self, w):
        """It comes by itself."""


class LiveAgain(Slow):
    """The recordings that grew when the server was killed."""
    part, at_start = '/data/live/', True

    def prepare(self, w):
        w.grow()
        w.killed()


class Finish(Slow):
    part = '/data/incoming/'

    def prepare(self, w):
        w.grow()

    def start(self, w):
        answer = w.server.request('POST', '%s/recordings/%s/finish' % (API, w.live), headers={'Prefer': 'wait=0'})
        assert answer.status == 202, answer


class Statistics(Slow):
    """Made of what has none, some seconds after the start."""
    at_start = True

    def prepare(self, w):
        w.put_many('lab')
        w.stopped()
        for path in files_below(w.data):
            if path.endswith('.stats'):
                os.unlink(path)
        catalog_sql(w.data, "DELETE FROM maintenance WHERE key = 'statistics'")  # up to where they were made


class Sweep(Slow):
    """The files of a folder whose server was killed."""
    calls, part, at_start = ('read', 'open'), '/data/blobs/', True

    def prepare(self, w):
        w.put_many('lab')
        w.killed()


class Expiry(Slow):
    args = '--upload-expiry', '1'
    calls, part = ('unlink',), '/data/incoming/'

    def prepare(self, w):
        """Its uploads are made under the slow calls, as they expire at once."""

    def start(self, w):
        for _ in range(FILES):
            answer = w.ask('POST', '/uploads?name=u%d&collection=lab' % w.number(), headers={**TUS, 'Upload-Length': '1000'})
            assert answer.status == 201, answer


class Retention(OfCatalog):
    def prepare(self, w):
        self.collection = 'old%d' % w.number()
        w.put_many(self.collection)
        rules = {'rules': [{'collection': self.collection, 'max_size': 0}]}
        assert w.ask('PUT', '/admin/retention', json.dumps(rules), JSON).status < 300

    def start(self, w):
        answer = w.server.request('POST', API + '/admin/retention/run', headers={'Prefer': 'wait=0'})
        assert answer.status in (200, 202), answer


class Many(Slow):
    def prepare(self, w):
        if not hasattr(self, 'done'):
            w.put_many('lab')
            self.done = True


class Scrub(Many):
    calls = 'read', 'open'

    def start(self, w):
        w.post('/admin/scrub?restart=true')


class Backup(Many):
    calls, part = ('write', 'open'), '/blobs/'

    def start(self, w):
        w.post('/admin/backup?blobs=copy')


class Webhook(Slow):
    """A receiver that accepts and says nothing."""
    args, endless = ('--webhook-private',), True

    def prepare(self, w):
        if not hasattr(self, 'listener'):
            self.listener = socket.create_server(('127.0.0.1', 0))
            w.test.addCleanup(self.listener.close)
            w.post('/webhooks', {'url': 'http://127.0.0.1:%d/' % self.listener.getsockname()[1]}, 201)

    def start(self, w):
        w.put_many('lab')

    def end(self, w):
        for hook in w.server.get(API + '/webhooks').json()['items']:
            assert w.ask('DELETE', '/webhooks/%s' % hook['id']).status == 204
        super().end(w)


class Record(Slow):
    """A NanoVer server that answers the handshake and says nothing. Its recording goes on when the job is cancelled, so each has its own."""
    args, endless = ('--record-from', 'ws://127.0.0.1:*'), True

    def prepare(self, w):
        if not hasattr(self, 'peer'):
            self.peer = Peer(w.test)

    def start(self, w):
        answer = w.ask('POST', '/recordings?live=true&collection=live&name=l%d&from=%s' % (w.number(), self.peer.url))
        assert answer.status == 201, answer
        self.made = answer.json()['id']

    def end(self, w):
        assert w.ask('POST', '/recordings/%s/finish' % self.made).status == 200
        super().end(w)


SLOW = {'scan': Scan, 'plan': Plan, 'import': Import, 'batch': Batch, 'watched-folder': Watch, 'manifests': Manifests, 'references': References, 'live': LiveAgain,
        'finish': Finish, 'statistics': Statistics, 'sweep': Sweep, 'expiry': Expiry, 'retention': Retention, 'scrub': Scrub, 'backup': Backup, 'webhook': Webhook, 'record': Record}
SHORT = {'lists': 'a few statements, of archives with more than 100,000 recordings; a long statement is ended when its work is cancelled',
         'files': 'looks at the files of one recording',
         'unattended': 'writes rows of servers that are gone, which one server alone has none of'}


def processor_s(pid):
    with open('/proc/%d/stat' % pid) as f:
        fields = f.read().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def processor_of_children_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@unittest.skipUnless(os.path.exists(LIBRARY), 'libfailing.so is not built next to the server')
class Stop(unittest.TestCase):
    def test_each_kind_has_a_row(self):
        w = World(self, Slow())
        kinds = set(re.findall(r'^reel_jobs_total\{kind="([^"]+)"', w.server.get('/metrics').body.decode(), re.M))
        self.assertEqual(kinds, set(SLOW) | set(SHORT))
        w.server.stop()

    def begin(self, w, kind, pause_s):
        """Prepares and starts it; how many have ended before."""
        slow, before = w.slow, 0
        slow.prepare(w)
        if slow.at_start:
            w.stopped()
            w.slow_down(pause_s)
            w.start()
        else:
            assert slow.endless or eventually(lambda: not w.jobs(kind)), w.jobs(kind)
            before = w.ended(kind)
            w.slow_down(pause_s)
            slow.start(w)
        return before

    def count(self, w, kind):
        """How many of the calls that are to be slow it makes."""
        before = self.begin(w, kind, 0)
        self.assertTrue(eventually(lambda: w.ended(kind) > before and not w.jobs(kind)), (kind, w.server.log_text()[-2000:]))
        seen = w.faults.control.seen
        w.faults.disarm()
        return seen

    def cancel(self, w, kind, pause_s):
        self.begin(w, kind, pause_s)
        job = w.running(kind)
        begun = time.monotonic()
        answer = w.server.request('DELETE', '%s/jobs/%s' % (API, job['id']))
        self.assertEqual(answer.status, 204, answer)
        path = '%s/jobs/%s' % (API, job['id'])
        self.assertTrue(eventually(lambda: w.server.get(path).json()['state'] not in ('queued', 'running')), w.server.get(path))
        took = time.monotonic() - begun
        self.assertEqual(w.server.get(path).json()['state'], 'cancelled')
        w.faults.disarm()
        self.assertTrue(eventually(lambda: w.metric('reel_http_memory_bytes') == 0))
        return took

    def terminate(self, w, kind, pause_s):
        self.begin(w, kind, pause_s)
        w.running(kind)
        begun, before = time.monotonic(), processor_of_children_s() + processor_s(w.server.process.pid)
        w.server.terminate()
        self.assertEqual(w.server.process.wait(PATIENCE), 0)
        took, processor = time.monotonic() - begun, processor_of_children_s() - before
        log = w.server.log_text()
        w.server.stop()
        self.assertNotIn('did not stop in time', log)
        self.assertLess(processor, PROCESSOR_S)
        w.faults.disarm()
        w.start()
        w.slow.end(w)
        return took

    def one(self, kind):
        w = World(self, SLOW[kind]())
        w.slow.kind = kind
        calls = 0 if w.slow.endless else self.count(w, kind)
        pause_s = 0 if w.slow.endless else min(w.slow.lasts_s / max(calls, 1), PAUSE_MAX_S)
        took = self.cancel(w, kind, pause_s), self.terminate(w, kind, pause_s)
        self.assertTrue(eventually(lambda: not w.left()), w.left())
        w.check()
        w.server.stop()
        print('%s: %d slow calls of %.2f s; cancelled in %.1f s, stopped in %.1f s' % (kind, calls, pause_s, *took), flush=True)


for number, name in enumerate(SLOW):
    if (number + DAY) % PARTS == 0:
        setattr(Stop, 'test_' + name.replace('-', '_'), lambda self, kind=name: self.one(kind))


if __name__ == '__main__':
    unittest.main()
