"""Each write, fsync, rename, open, ftruncate, unlink, mkdir, read and lock below the data folder fails in turn (failing.c, preloaded; SQLite's calls are
among them), while each kind of writing operation runs. What is acknowledged is whole; what fails says so as a 5xx; the same server does it again when the
fault has gone; after a restart `reel fsck` finds nothing."""
import base64
import ctypes
import errno
import hashlib
import http.client
import json
import mmap
import os
import random
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse

from faults import LONG, SEED
from harness import API, PATIENCE, REEL, Server, eventually, reel
from samples import bag, lab_messages

LIBRARY = os.path.join(os.path.dirname(REEL), 'lib', 'libfailing.so')
PRELOAD = {'LD_PRELOAD': os.path.basename(LIBRARY), 'LD_LIBRARY_PATH': os.path.dirname(LIBRARY)}  # a path in LD_PRELOAD would end at its first space
KINDS = {'write': 1, 'sync': 2, 'rename': 4, 'open': 8, 'truncate': 16, 'unlink': 32, 'mkdir': 64, 'read': 128, 'lock': 256,
         'memory': 512, 'map': 1024, 'thread': 2048, 'accept': 4096, 'socket': 8192}
FILES = ('write', 'sync', 'rename', 'open', 'truncate', 'unlink', 'mkdir', 'read', 'lock')
CHANGES = sum(KINDS[k] for k in ('write', 'rename', 'open', 'truncate', 'unlink', 'mkdir'))
IN_MEMORY = '/dev/shm'  # thousands of fsyncs that need no disk
HANG = 25  # seconds: SQLite waits up to 10 s for a lock
ENDLESS = 1 << 40
TUS = {'Tus-Resumable': '1.0.0'}
BYTES = {**TUS, 'Content-Type': 'application/offset+octet-stream'}
JSON = {'Content-Type': 'application/json'}


class Control(ctypes.Structure):
    """As failing.c has it."""
    _fields_ = [(name, ctypes.c_int64) for name in ('kinds', 'nth', 'how_many', 'error', 'lossy', 'pause_us', 'seen', 'failed', 'failed_kind')] + \
               [('folder', ctypes.c_char * 512), ('part', ctypes.c_char * 128), ('failed_path', ctypes.c_char * 512), ('failed_stack', ctypes.c_char * 2048),
                ('lists', ctypes.c_int64), ('listed', ctypes.c_uint64 * (1 << 18))]


class Faults:
    """The control block that a server's preloaded library watches."""
    def __init__(self, path, folder):
        with open(path, 'w+b') as f:
            f.truncate(ctypes.sizeof(Control))
            self.map = mmap.mmap(f.fileno(), ctypes.sizeof(Control))
        self.control = Control.from_buffer(self.map)
        self.control.folder = os.path.realpath(folder).encode()

    def arm(self, kinds, nth, error, how_many=1, part='', lossy=False):
        c = self.control
        c.nth = 0
        c.kinds, c.error, c.how_many, c.part, c.lossy = kinds, error, how_many, part.encode(), int(lossy)
        c.seen = c.failed = c.failed_kind = 0
        c.failed_path = c.failed_stack = b''
        c.nth = nth

    def slow(self, kinds, pause_s, part=''):
        """None of them fails, but each takes so long."""
        self.arm(kinds, ENDLESS, 0, part=part)
        self.control.pause_us = int(pause_s * 1e6)

    def disarm(self):
        """How many calls have failed, and where the first did."""
        self.control.nth = self.control.pause_us = 0
        return self.control.failed, self.control.failed_path.decode(errors='replace')


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class World:
    """A server with faults, and what it has acknowledged."""
    def __init__(self, test, *args):
        self.test = test
        self.folder = tempfile.mkdtemp(prefix='reel-faults-', dir=IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None)
        test.addCleanup(shutil.rmtree, self.folder, True)
        self.data, self.root, self.backups = (os.path.join(self.folder, name) for name in ('data', 'root', 'backups'))
        for path in (self.data, self.root, self.backups):
            os.mkdir(path)
        self.faults = Faults(os.path.join(self.folder, 'control'), self.data)
        self.args = ('--import-root', self.root, '--backup-dir', self.backups, *args)
        self.kept = {}     # id: (name, digest)
        self.answers = []  # of what ran under the fault
        self.may = 500, 503, 507
        self.count = 0
        self.server = None
        with open(os.path.join(self.folder, 'not-leaks'), 'w') as f:
            f.write('leak:_dl_map_object_deps\n')  # the C library's, of what it loads at run time
        self.env = {**PRELOAD, 'REEL_FAILING': os.path.join(self.folder, 'control'),
                    'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0',
                    'LSAN_OPTIONS': 'print_suppressions=0:suppressions=' + os.path.join(self.folder, 'not-leaks')}
        self.start()

    def start(self):
        self.server = Server(self.data, *self.args, env=self.env)
        self.test.addCleanup(self.server.stop, None)

    def fresh(self, size=2):
        """A recording that was not uploaded yet: its name and bytes."""
        self.count += 1
        return 'r%05d.bag' % self.count, bag(lab_messages(size, salt=self.count))

    def ask(self, method, path, body=None, headers=None):
        """A request that must be answered, whatever fails."""
        try:
            answer = self.server.request(method, API + path if path.startswith('/') and not path.startswith((API, '/dav/')) else path, body, headers or {}, timeout=HANG)
        except (http.client.HTTPException, OSError) as e:
            raise AssertionError('%s %s: no answer: %r\n%s' % (method, path, e, self.server.log_text()[-3000:]))
        self.answers.append((method, path, answer))
        return answer

    def is_done(self, answer):
        """True: it was done. False: it failed with a clear error."""
        if answer.status < 300:
            return True
        if answer.status not in self.may:
            raise AssertionError('neither done nor a clear failure: %r' % answer)
        problem = answer.json()
        assert answer.headers.get_content_type() == 'application/problem+json', answer
        assert problem['status'] == answer.status and problem['detail'] and problem['request_id'] == answer.headers['X-Request-Id'], answer
        assert self.folder not in answer.body.decode() and 'Success' not in problem['detail'], answer
        return False

    def named(self, name):
        """The recording of that name in lab; None."""
        answer = self.server.get('%s/recordings?collection=lab&limit=1000' % API)
        assert answer.status == 200, answer
        found = [r for r in answer.json()['items'] if r['name'] == name]
        assert len(found) < 2, found
        return found[0] if found else None

    def whole(self, rid, digest):
        recording = self.server.get('%s/recordings/%s' % (API, rid))
        assert recording.status == 200 and recording.json()['state'] == 'ready', recording
        file = self.server.get('%s/recordings/%s/file/x.bag' % (API, rid))
        assert file.status == 200 and sha256(file.body) == digest, (rid, file.status, len(file.body))
        messages = self.server.get('%s/recordings/%s/messages?limit=3' % (API, rid))
        assert messages.status == 200 and len(messages.rows()) == 3, messages

    def not_half(self, name, digest):
        """Of what was not acknowledged: not there, or whole."""
        there = self.named(name)
        if there and there['state'] == 'scanning':
            there = eventually(lambda: (lambda r: r if not r or r['state'] != 'scanning' else None)(self.named(name)))
        if there:
            self.whole(there['id'], digest)

    def end_of(self, answer, patience=HANG, must=True):
        """Of a 202: the job, when it has ended. Asking for it goes on also while things fail."""
        path = answer.headers['Location']

        def ended():
            got = self.server.get(path)
            return got.json() if got.status == 200 and got.json()['state'] not in ('queued', 'running') else None
        job = eventually(ended, patience)
        assert job or not must, (path, self.server.log_text()[-2000:])
        return job

    def wait_until_idle(self):
        """Waits until no job of a request runs any more."""
        def idle():
            jobs = self.server.get(API + '/jobs').json()
            return not [j for j in jobs['items'] if j['state'] in ('queued', 'running')]
        assert eventually(idle), self.server.get(API + '/jobs')

    def restart(self):
        self.server.stop()
        self.start()
        self.wait_until_idle()

    def check(self):
        """After a restart and its sweep: everything acknowledged is whole, and fsck finds nothing."""
        self.restart()
        for rid, (name, digest) in self.kept.items():
            self.whole(rid, digest)
        done = reel('fsck', '--data', self.data, '--json', check=False)
        assert done.returncode == 0, (done.returncode, done.stdout.decode()[-3000:], done.stderr.decode()[-2000:])


# ---- operations: prepare() before the fault, act() under it, again() when it has gone


class Put:
    def prepare(self, w):
        self.name, self.body = w.fresh()

    def put(self, w):
        return w.ask('PUT', '/recordings/by-name/lab/' + self.name, self.body)

    def act(self, w):
        answer = self.put(w)
        self.done = w.is_done(answer)
        self.id = answer.json()['id'] if self.done else None

    def again(self, w):
        if not self.done:
            w.not_half(self.name, sha256(self.body))
        answer = self.put(w)
        assert answer.status in (200, 201), answer
        assert self.id in (None, answer.json()['id']), answer
        w.whole(answer.json()['id'], sha256(self.body))
        w.kept[answer.json()['id']] = self.name, sha256(self.body)


class Tus(Put):
    """Created, two pieces; what fails is asked where it stands and gone on with. Also with a fault: an acknowledged offset is kept."""
    def create(self, w):
        meta = 'filename %s,collection %s' % (base64.b64encode(self.name.encode()).decode(), base64.b64encode(b'lab').decode())
        answer = w.ask('POST', '/uploads', None, {**TUS, 'Upload-Length': str(len(self.body)), 'Upload-Metadata': meta})
        return answer.headers['Location'] if w.is_done(answer) else None

    def patch(self, w, upto):
        answer = w.ask('PATCH', self.path, self.body[self.at:upto], {**BYTES, 'Upload-Offset': str(self.at)})
        done = w.is_done(answer)
        if done:
            assert answer.headers['Upload-Offset'] == str(upto), answer
            self.at = upto
        return done

    def act(self, w):
        self.id, self.at, self.path = None, 0, self.create(w)
        self.path = self.path and urllib.parse.urlparse(self.path).path
        self.done = bool(self.path) and self.patch(w, len(self.body) // 2) and self.patch(w, len(self.body))

    def again(self, w):
        w.not_half(self.name, sha256(self.body))
        if not self.path:
            self.path = urllib.parse.urlparse(self.create(w)).path
        if not self.done:
            head = w.ask('HEAD', self.path, headers=TUS)
            if head.status == 404 and w.faults.control.kinds & KINDS['rename'] and w.endless:  # not even the way back was open to it
                return Put.again(self, w)
            if head.status != 404 or not w.named(self.name):  # else it has become a recording, and could not say so
                assert head.status == 200, ('an upload that was begun is lost', head)
                offset = int(head.headers['Upload-Offset'])
                assert offset >= self.at or w.lossy, ('bytes that were acknowledged are lost', offset, self.at)
                self.at = offset
                if not (offset == len(self.body) and w.named(self.name)):
                    assert self.patch(w, len(self.body)), w.answers[-1]
        found = w.named(self.name)
        assert found, 'a complete upload has no recording'
        w.whole(found['id'], sha256(self.body))
        w.kept[found['id']] = self.name, sha256(self.body)


class Import:
    mode, waits = 'copy', False

    def prepare(self, w):
        self.name, self.body = w.fresh()
        folder = os.path.join(w.root, str(w.count // 20))  # what is known of a folder is read: in one, each run would make more calls than the one before
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, self.name)
        with open(self.path, 'wb') as f:
            f.write(self.body)

    def post(self, w):
        return w.ask('POST', '/imports', json.dumps({'path': self.path, 'mode': self.mode, 'collection': 'lab'}), JSON)

    def act(self, w):
        answer = self.post(w)
        self.done = w.is_done(answer)
        if self.done:
            self.judge(w.end_of(answer, 0.5, False))
        self.answer = answer

    def judge(self, job):
        """None: it has not ended, as its end cannot be written to a full disk."""
        assert not job or job['state'] in ('done', 'failed'), job
        self.waits = job is None
        self.done = bool(job) and job['state'] == 'done' and job['outcome']['failed'] == 0
        assert not job or self.done or job['state'] == 'failed' or job['outcome']['failed'] == 1, job

    def again(self, w):
        if self.waits:
            self.judge(w.end_of(self.answer))
        w.wait_until_idle()
        if self.done:
            assert w.named(self.name), 'imported, and not there'
        assert self.mode == 'move' or os.path.exists(self.path)
        if os.path.exists(self.path):
            w.not_half(self.name, sha256(self.body))
            answer = self.post(w)
            assert answer.status == 202, answer
            job = w.end_of(answer)
            assert job['state'] == 'done' and job['outcome']['failed'] == 0, job
        found = w.named(self.name)
        assert found, ('not imported', w.server.get(API + '/failures').body)
        assert (self.mode == 'copy') == os.path.exists(self.path)
        assert not w.server.get(API + '/failures').json()['items'], w.server.get(API + '/failures')
        w.whole(found['id'], sha256(self.body))
        w.kept[found['id']] = self.name, sha256(self.body)


class Move(Import):
    mode = 'move'


class Tag:
    follows = False

    def prepare(self, w):
        if not w.kept:
            put = Put()
            put.prepare(w)
            put.act(w)
            put.again(w)
        self.id = next(iter(w.kept))
        self.path = '%s/recordings/%s' % (API, self.id)
        self.before = w.server.get(self.path).json()['tags'].get('n')
        w.count += 1
        self.value = 'v%d' % w.count

    def act(self, w):
        self.done = w.is_done(w.ask('PATCH', self.path, json.dumps({'tags': {'n': self.value}}), {'Content-Type': 'application/merge-patch+json'}))

    def again(self, w):
        now = w.server.get(self.path).json()['tags'].get('n')
        assert now == self.value or not self.done and now == self.before, (now, self.value, self.before, self.done)
        if not self.follows:  # a change of its own brings the manifest along, else the next look at what was missed
            self.value += ' again'
            self.act(w)
        assert self.done and w.server.get(self.path).json()['tags']['n'] == self.value, w.answers[-1]
        manifest = os.path.join(w.data, 'blobs', w.kept[self.id][1][:2], w.kept[self.id][1] + '.json')

        def written():
            with open(manifest) as f:
                return json.load(f)['recordings'][0].get('tags', {}).get('n') == self.value
        assert eventually(written, 3 * PATIENCE), 'the manifest does not follow'


class Delete:
    def prepare(self, w):
        put = Put()
        put.prepare(w)
        put.act(w)
        put.again(w)
        self.put = put
        self.id = w.named(put.name)['id']
        self.path = '/recordings/' + self.id

    def act(self, w):
        self.done = w.is_done(w.ask('DELETE', self.path))

    def again(self, w):
        digest = sha256(self.put.body)
        if self.done or not w.named(self.put.name):
            restored = w.ask('POST', self.path + '/restore')
            assert restored.status == 200, restored
        w.whole(self.id, digest)


class Purge(Delete):
    def act(self, w):
        w.kept.pop(self.id, None)
        self.done = w.is_done(w.ask('DELETE', self.path + '?purge=true'))

    def again(self, w):
        there = w.server.get(API + self.path)
        assert there.status == 404 or there.status == 200 and not self.done, there
        if there.status == 200:
            w.whole(self.id, sha256(self.put.body))
            self.act(w)
            assert self.done, w.answers[-1]
        again = Put()
        again.name, again.body, again.done, again.id = self.put.name, self.put.body, True, None
        again.again(w)  # the same bytes, right after: nothing of what was purged is in the way


class Backup:
    def prepare(self, w):
        if not w.kept:
            Tag().prepare(w)
        shutil.rmtree(w.backups)
        os.mkdir(w.backups)

    waits = None

    def post(self, w):
        if self.waits:  # its end could not be written to a full disk
            w.end_of(self.waits)
        answer = w.ask('POST', '/admin/backup?blobs=copy')
        job = w.is_done(answer) and w.end_of(answer, HANG if self.waits else 0.5, False)
        self.waits = answer if w.is_done(answer) and not job else None
        return job

    def act(self, w):
        job = self.post(w)
        self.done = bool(job) and job['state'] == 'done'

    def verify(self, w):
        made = [os.path.join(w.backups, name) for name in os.listdir(w.backups)]
        finished = [path for path in made if os.path.exists(os.path.join(path, 'backup.json'))]
        for path in finished:
            with open(os.path.join(path, 'backup.json')) as f:
                reported = json.load(f)
            with open(os.path.join(path, 'catalog.db'), 'rb') as f:
                assert sha256(f.read()) == reported['catalog']['sha256']
            with open(os.path.join(path, 'blobs.txt')) as f:
                lines = f.read().splitlines()
            assert len(lines) == reported['files']['count'] >= len({digest for _, digest in w.kept.values()}), (len(lines), reported)
            for line in lines:
                digest, name = line.split('  ')
                with open(os.path.join(path, name), 'rb') as f:
                    assert sha256(f.read()) == digest, name
        return finished

    def again(self, w):
        if self.waits:
            self.done = w.end_of(self.waits)['state'] == 'done'
            self.waits = None
        finished = self.verify(w)
        assert finished or not self.done, 'a backup reported as done is not complete'
        shutil.rmtree(w.backups)  # the name is the second
        os.mkdir(w.backups)
        job = self.post(w) or w.end_of(self.waits)
        assert job and job['state'] == 'done', job
        assert len(self.verify(w)) == 1


class Scrub:
    def prepare(self, w):
        if not w.kept:
            Tag().prepare(w)

    waits = None

    def post(self, w):
        if self.waits:  # its end could not be written to a full disk
            w.end_of(self.waits)
        answer = w.ask('POST', '/admin/scrub?rate=1000&restart=true')
        job = w.is_done(answer) and w.end_of(answer, HANG if self.waits else 0.5, False)
        self.waits = answer if w.is_done(answer) and not job else None
        return job

    def act(self, w):
        self.post(w)

    def again(self, w):
        job = self.post(w) or w.end_of(self.waits)
        assert job and job['state'] == 'done', job
        last = w.server.get(API + '/admin/scrub/last').json()
        assert last['state'] == 'done' and not last['corrupted_files'] and last['corrupted'] == 0 and last['missing'] == 0, last
        for rid, (name, digest) in w.kept.items():
            w.whole(rid, digest)


WAYS = (errno.EIO, 1), (errno.ENOSPC, ENDLESS)  # once, and from then on
BROKEN_MAX = 3  # of one operation, then its test ends


@unittest.skipUnless(os.path.exists(LIBRARY), 'libfailing.so is not built next to the server')
class Inject(unittest.TestCase):
    def one(self, w, operation, kinds, nth, error, how_many, **more):
        """True while there was an N-th call to fail."""
        op = operation()
        op.prepare(w)
        w.answers = []
        w.lossy, w.endless = more.get('lossy', False), how_many > 1
        w.may = {errno.ENOSPC: (503, 507), errno.EROFS: (503,)}.get(error, (500, 503, 507))
        inside = os.path.realpath(w.folder if operation in (Backup, Import, Move) else w.data).encode()
        w.faults.control.folder = inside
        where = '(nothing failed)'
        w.faults.arm(kinds, nth, error, how_many, **more)
        try:
            op.act(w)
            failed, where = w.faults.disarm()
            op.again(w)
        except Exception as e:
            _, where = w.faults.disarm()
            reported = '\n'.join('%s %s: %r' % a for a in w.answers)
            e.args = ('%s, call %d of kind %#x, %s at %s (seed %d): %s\n%s\n%s' % (
                operation.__name__, nth, kinds, os.strerror(error), where, SEED, e, reported, w.server.log_text()[-3000:]),)
            raise
        self.assertIsNone(w.server.process.poll(), w.server.log_text())
        if os.environ.get('REEL_FAULTS_TRACE'):
            print(operation.__name__, kinds, nth, os.strerror(error), failed, where, [a[2].status for a in w.answers], flush=True)
        return failed > 0

    def each(self, operation, names=FILES):
        """Every call of every kind in turn; in the short form some of them."""
        dice = random.Random('%d %s' % (SEED, operation.__name__))
        w, broken = World(self), []
        for kind in names:
            for error, how_many in WAYS[:1] if kind in ('read', 'lock') else WAYS:
                nth, more = 1 if LONG else dice.randrange(1, 4), LONG or dice.random() < 0.4
                while more and len(broken) < BROKEN_MAX:
                    try:
                        more = self.one(w, operation, KINDS[kind], nth, error, how_many)
                    except Exception as e:  # reported at the end: what follows is of another server
                        broken.append(str(e))
                        w.server.stop(None)
                        w = World(self)
                    nth += 1 if LONG else dice.randrange(10, 40)
                if LONG and not broken:
                    w.check()
        w.check()
        w.server.stop()
        self.assertFalse(broken, '\n\n'.join(broken))

    def test_put(self):
        self.each(Put)

    def test_tus(self):
        self.each(Tus)

    def test_import(self):
        self.each(Import)

    def test_move(self):
        self.each(Move)

    def test_tag(self):
        self.each(Tag)

    def test_delete(self):
        self.each(Delete)

    def test_purge(self):
        self.each(Purge)

    def test_backup(self):
        self.each(Backup)

    def test_scrub(self):
        self.each(Scrub)

    def from_then_on(self, error):
        """The whole disk, from the N-th change on."""
        dice = random.Random('%d %d' % (SEED, error))
        for operation in (Put, Tus, Import, Move, Tag, Delete, Purge, Backup, Scrub):
            w, nth = World(self), 1  # a fresh archive: a backup makes as many calls as there are recordings
            while self.one(w, operation, CHANGES, nth, error, ENDLESS):
                nth += 1 if LONG else dice.randrange(20, 60)
            w.check()
            w.server.stop()

    def test_a_disk_that_becomes_full(self):
        self.from_then_on(errno.ENOSPC)

    def test_a_disk_that_becomes_read_only(self):
        self.from_then_on(errno.EROFS)

    @unittest.skipUnless(LONG, 'it waits a minute; only with --long')
    def test_a_manifest_that_was_missed_follows(self):
        class Alone(Tag):
            follows = True
        w = World(self)
        self.one(w, Alone, KINDS['open'], 1, errno.EIO, 1, part='/incoming')
        self.assertTrue([a for a in w.answers if a[0] == 'PATCH' and a[2].status == 200])
        w.check()
        w.server.stop()

    def test_what_an_fsync_has_lost_is_never_acknowledged(self):
        """An fsync that fails may leave clean pages that are not what was written: the next one says that all is well."""
        w = World(self)
        for operation in (Put, Tus, Import):
            nth = 1
            while self.one(w, operation, KINDS['sync'], nth, errno.EIO, 1, part='/incoming', lossy=True):
                nth += 1
            self.assertGreater(nth, 1)
        w.check()
        w.server.stop()


@unittest.skipUnless(os.path.exists(LIBRARY), 'libfailing.so is not built next to the server')
class Commands(unittest.TestCase):
    """What a command could not make last it says, and it leaves nothing half."""
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-fault-')
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.data, block = os.path.join(self.folder, 'data'), os.path.join(self.folder, 'control')
        os.mkdir(self.data)
        self.faults = Faults(block, self.data)
        self.env = {**os.environ, **PRELOAD, 'REEL_FAILING': block, 'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0'}

    def fails(self, *command):
        """Every change of it in turn; after each, what is in the data folder."""
        nth = 1
        while True:
            self.faults.arm(KINDS['write'] + KINDS['sync'] + KINDS['rename'], nth, errno.EIO)
            done = subprocess.run([REEL, *command, '--data', self.data], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
            failed, where = self.faults.disarm()
            if not failed:
                return
            self.assertEqual(done.returncode, 1, (nth, where, done))
            yield os.listdir(self.data)
            nth += 1

    def test_new_keys_of_links(self):
        reel('token', 'rotate', '--data', self.data)
        self.assertEqual(list(self.fails('token', 'rotate')), 4 * [['link-keys']])  # the file is written and fsynced, renamed, and the folder fsynced

    def test_where_the_catalog_is(self):
        local, seen = os.path.join(self.folder, 'local'), []
        for left in self.fails('serve', '--catalog', local, '--listen', '127.0.0.1:0'):
            if 'lock' in left:
                break
            seen.append(left)
            for name in left:
                os.unlink(os.path.join(self.data, name))
        self.assertEqual(seen, [[], [], ['catalog-folder']])  # the mark is fsynced, renamed, and the folder fsynced
