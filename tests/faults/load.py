"""Load on a server that will be cut off, and what must be true afterwards. Each worker keeps recordings of its own; of each it knows every state that it may be
in: one when the last change of it was answered, two (before and after) when it was not. check.py compares an archive with that."""
import base64
import collections
import hashlib
import http.client
import json
import os
import queue
import random
import socket
import threading

import faults  # noqa: F401 (puts the harness on the path)
import legacy
from harness import API, eventually
from samples import bag, lab_messages, nanover, nanover_messages

FAMILIES = ('upload', 'import', 'delete', 'annotate')
JSON = {'Content-Type': 'application/json'}
TUS = {'Tus-Resumable': '1.0.0'}
SMALL = 2000  # of a file that comes by pieces: so many bytes at least in each


def sha(data):
    return hashlib.sha256(data).hexdigest()


class Cut(Exception):
    """The server went away before it answered."""


class Recording:
    """`may`: the states it can be in; a state is {place, files, tags, description, notes}."""

    def __init__(self, collection, name, files, tags=None):
        self.collection, self.name, self.id, self.source, self.due = collection, name, None, None, False
        absent = {'place': 'gone', 'files': files, 'tags': tags or {}, 'description': '', 'notes': []}
        self.may = [absent, {**absent, 'place': 'here'}]  # as soon as it is asked for it may be there

    def now(self):
        """Its state, when that is certain."""
        return self.may[0] if len(self.may) == 1 else None

    def is_here(self):
        return self.id is not None and self.now() is not None and self.now()['place'] == 'here'

    def intend(self, **change):
        self.may = [self.now(), {**self.now(), **change}]

    def done(self):
        self.may = self.may[-1:]
        self.due = False


class Upload:
    """A resumable one: `sent` bytes were confirmed."""

    def __init__(self, path, recording, data):
        self.path, self.recording, self.data, self.sent = path, recording, data, 0


class Payloads:
    """Files to send: of several formats, some of them the same for everybody, so that recordings share their bytes."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.salt = self.rng.randrange(1 << 30)
        self.lock = threading.Lock()
        self.shared = [self.make(kind) for kind in ('bag', 'nanover', 'bag', 'raw')]

    def make(self, kind):
        with self.lock:
            self.salt += 1
            salt = self.salt
        if kind == 'nanover':
            return 'nanover.zip', nanover(nanover_messages(count=20, salt=salt))
        if kind == 'big':  # longer than what the server gathers before it writes
            return 'bag', bag(lab_messages(1, blob=120_000, salt=salt))
        return 'bag', bag(lab_messages(1, salt=salt), indexed=kind == 'bag')

    def one(self, rng):
        if rng.random() < 0.2:
            return rng.choice(self.shared)
        return self.make(rng.choice(('bag', 'bag', 'raw', 'nanover', 'nanover', 'big')))

    def pair(self):
        with self.lock:
            self.salt += 1
            return legacy.pair(frames=10, salt=self.salt)


class Load:
    """Workers that ask for things until the server is gone."""

    def __init__(self, root, seed, workers=6, families=FAMILIES):
        self.root, self.payloads, self.families = root, Payloads(seed), families
        self.server, self.cutting, self.dark = None, False, False  # cutting: it is meant to go away; dark: the disk takes no more
        self.workers = [Worker(self, number, random.Random(seed * 31 + number)) for number in range(workers)]
        self.threads = []
        self.answered, self.interrupted = dict.fromkeys(FAMILIES, 0), dict.fromkeys(FAMILIES, 0)
        self.problems = queue.Queue()

    def recordings(self):
        return [r for w in self.workers for r in w.recordings]

    def uploads(self):
        return [u for w in self.workers for u in w.uploads]

    def begin(self, server):
        self.server, self.cutting, self.dark = server, False, False
        self.threads = [threading.Thread(target=w.run, daemon=True) for w in self.workers]
        for thread in self.threads:
            thread.start()

    def end(self):
        """After the server has been cut off: every worker has noticed."""
        for thread in self.threads:
            thread.join()
        self.threads = []
        if not self.problems.empty():
            raise AssertionError(self.problems.get())


class Worker:
    def __init__(self, load, number, rng):
        self.load, self.number, self.rng = load, number, rng
        self.recordings, self.uploads, self.count = [], [], 0
        self.asked = collections.deque(maxlen=20)  # the last requests, for who has to find out what went wrong
        self.unanswered = None  # (recording, data) of a request with a key

    def run(self):
        """Until the server is cut off. What breaks before that, or is refused, is a problem."""
        try:
            while True:
                family = self.rng.choice(self.load.families)
                try:
                    getattr(self, family)()
                    self.load.answered[family] += 1
                except Cut as cut:
                    if not isinstance(cut.__cause__, ConnectionRefusedError):
                        self.load.interrupted[family] += 1
                    if not self.load.cutting:
                        raise AssertionError('the server went away by itself: %r\n%s' % (cut.__cause__, self.load.server.log_text())) from cut
                    return
        except Exception as e:  # reported by the thread that waits
            self.load.problems.put('worker %d: %s: %s' % (self.number, type(e).__name__, e))

    def ask(self, method, path, body=None, headers=None, expect=(200, 201, 202, 204)):
        try:
            answer = self.load.server.request(method, API + path if not path.startswith('/api') else path, body, headers)
        except (OSError, http.client.HTTPException) as e:
            self.asked.append('%s %s %r' % (method, path, e))
            raise Cut() from e
        self.asked.append('%s %s %d' % (method, path, answer.status))
        if answer.status not in expect:
            raise AssertionError('%s %s: %r' % (method, path, answer))
        return answer

    def name(self, ending):
        self.count += 1
        return 'w%d-%d.%s' % (self.number, self.count, ending)

    def new(self, collection, name, *bodies, tags=None):
        recording = Recording(collection, name, tuple(sha(b) for b in bodies), tags)
        self.recordings.append(recording)
        return recording

    def some(self, wanted):
        coming = [u.recording for u in self.uploads]
        found = [r for r in self.recordings if r.id is not None and r.now() is not None and r not in coming and wanted(r)]
        return self.rng.choice(found) if found else None

    # ---- uploads

    def upload(self):
        way = self.rng.choice((self.put, self.put, self.post, self.form, self.twice, self.pair, self.replace, self.pieces, self.pieces, self.pieces))
        way()

    def answered(self, recording, answer):
        recording.id = answer.json()['id']
        recording.done()

    def put(self):
        ending, data = self.load.payloads.one(self.rng)
        recording = self.new('lab', self.name(ending), data, tags={'robot': 'r%d' % self.number})
        self.answered(recording, self.ask('PUT', '/recordings/by-name/lab/%s?tag=robot=r%d' % (recording.name, self.number), data))

    def post(self):
        ending, data = self.load.payloads.one(self.rng)
        recording = self.new('hall', self.name(ending), data)
        self.answered(recording, self.ask('POST', '/recordings?collection=hall&name=' + recording.name, data))

    def form(self):
        ending, data = self.load.payloads.one(self.rng)
        recording = self.new('lab', self.name(ending), data, tags={'by': 'form'})
        meta = json.dumps({'collection': 'lab', 'tags': {'by': 'form'}, 'sha256': sha(data)})
        body = ('--zz\r\nContent-Disposition: form-data; name="meta"\r\n\r\n%s\r\n--zz\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n'
                'Content-Type: application/octet-stream\r\n\r\n' % (meta, recording.name)).encode() + data + b'\r\n--zz--\r\n'
        self.answered(recording, self.ask('POST', '/recordings', body, {'Content-Type': 'multipart/form-data; boundary=zz'}))

    def twice(self):
        """Asked for again by its key: one recording, the same answer."""
        ending, data = self.load.payloads.one(self.rng)
        self.unanswered = self.new('lab', self.name(ending), data), data
        for _ in range(2):
            self.with_key(*self.unanswered)
        self.unanswered = None

    def with_key(self, recording, data):
        answer = self.ask('PUT', '/recordings/by-name/lab/' + recording.name, data, {'Idempotency-Key': recording.name})
        if recording.id not in (None, answer.json()['id']):
            raise AssertionError('another recording for the same key: %r' % answer)
        self.answered(recording, answer)

    def pair(self):
        traj, state = self.load.payloads.pair()
        recording = self.new('lab', self.name('traj'), traj)
        self.answered(recording, self.ask('PUT', '/recordings/by-name/lab/' + recording.name, traj))
        recording.intend(files=(sha(traj), sha(state)))
        self.answered(recording, self.ask('PUT', '/recordings/by-name/lab/%s?part_of=%s' % (recording.name[:-4] + 'state', recording.name), state))

    def replace(self):
        """Other content under a name that is taken: annotations go over to the new revision."""
        newest = {(r.collection, r.name): r for r in self.recordings}
        old = self.some(lambda r: r.is_here() and newest[r.collection, r.name] is r and len(r.now()['files']) == 1 and not r.source)
        if not old:
            return self.put()
        data = self.load.payloads.make('bag')[1]
        recording = self.new(old.collection, old.name, data, tags=old.now()['tags'])
        for state in recording.may:
            state['description'] = old.now()['description']
        self.answered(recording, self.ask('PUT', '/recordings/by-name/%s/%s?replace=true' % (old.collection, old.name), data))
        return None

    def pieces(self):
        """A further piece of a resumable upload, or a new one."""
        if not self.uploads or (len(self.uploads) < 4 and self.rng.random() < 0.3):
            self.create()
        else:
            self.append(self.rng.choice(self.uploads))

    def create(self):
        ending, data = self.load.payloads.one(self.rng)
        name = self.name(ending)
        metadata = 'filename %s,collection %s' % (b64(name), b64('lab'))
        answer = self.ask('POST', '/uploads', None, {**TUS, 'Upload-Length': str(len(data)), 'Upload-Metadata': metadata})
        self.uploads.append(Upload(answer.headers['Location'], self.new('lab', name, data), data))
        self.uploads[-1].recording.may.pop()  # it is there with its last byte only

    def append(self, upload):
        if self.rng.random() < 0.1 and upload.recording.now():
            self.uploads.remove(upload)
            self.ask('DELETE', upload.path, headers=TUS)
            return
        size = self.rng.randrange(SMALL, max(SMALL + 1, len(upload.data) // 2))
        piece = upload.data[upload.sent:upload.sent + size]
        last = upload.sent + len(piece) == len(upload.data)
        if self.rng.random() < 0.2:
            self.half(upload, piece)
        elif last and upload.recording.now():
            upload.recording.intend(place='here')
        answer = self.ask('PATCH', upload.path, piece, {**TUS, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': str(upload.sent)}, (204, 409, 423))
        if answer.status == 204:
            upload.sent += len(piece)
            self.completed(upload, answer)
        else:  # the half that has been sent before counts
            self.look(upload)

    def completed(self, upload, answer):
        if upload.sent == len(upload.data):
            upload.recording.may = [{**upload.recording.may[0], 'place': 'here'}]
            upload.recording.id = answer.headers['Content-Location'].rsplit('/', 1)[1]
            self.uploads.remove(upload)

    def half(self, upload, piece):
        """A client that goes away in the middle of what it announced: the server keeps what came. The last byte stays away."""
        if upload.sent + len(piece) == len(upload.data) and upload.recording.now():
            upload.recording.intend(place='here')  # what comes next may end it
        try:
            with socket.create_connection(('127.0.0.1', self.load.server.port)) as s:
                s.sendall(('PATCH %s HTTP/1.1\r\nHost: 127.0.0.1\r\nTus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\nUpload-Offset: %d\r\n'
                           'Content-Length: %d\r\n\r\n' % (upload.path, upload.sent, len(piece))).encode() + piece[:self.rng.randrange(len(piece))])
        except OSError as e:
            raise Cut() from e

    def look(self, upload):
        """The server's offset: never less than what it confirmed."""
        answer = self.ask('HEAD', upload.path, headers=TUS)
        offset = int(answer.headers['Upload-Offset'])
        if not upload.sent <= offset <= len(upload.data):
            raise AssertionError('%s: offset %d was acknowledged, now it is %d' % (upload.path, upload.sent, offset))
        upload.sent = offset
        self.completed(upload, answer)

    def look_at_all(self):
        """Of one that ends now its recording may be there already: its last byte is asked for once more, and finds it."""
        for upload in list(self.uploads):
            self.look(upload)

    def go_on(self, how_far=0.8):
        """After a restart: every upload from where the server is, most to their end; and what was asked for with a key is asked for again."""
        for upload in list(self.uploads):
            while upload in self.uploads and self.rng.random() < how_far:
                self.append(upload)
        if self.unanswered:
            if self.unanswered[0].now()['place'] == 'gone':
                self.unanswered[0].intend(place='here')
            self.with_key(*self.unanswered)
            self.unanswered = None

    # ---- imports

    def import_(self, mode=None):
        mode = mode or self.rng.choice(('copy', 'move', 'reference'))
        folder = os.path.join(self.load.root, 'w%d' % self.number, str(self.count))
        os.makedirs(folder)
        recordings, sources = [], []
        for _ in range(self.rng.randrange(1, 4)):
            ending, data = self.load.payloads.one(self.rng)
            path = os.path.join(folder, self.name(ending))
            write_for_good(path, data)
            recordings.append(self.new('imports', os.path.basename(path), data))
            sources.append((path, mode))
        write_for_good(folder)
        write_for_good(os.path.dirname(folder))
        write_for_good(self.load.root)
        if self.load.dark:  # nothing of this may be on the disk
            del self.recordings[-len(recordings):]
            raise Cut() from ConnectionRefusedError()
        for recording, source in zip(recordings, sources):
            recording.source = source
        body = {'path': os.path.relpath(folder, self.load.root), 'mode': mode, 'collection': 'imports'}
        job = self.ask('POST', '/imports', json.dumps(body), JSON).json()['job']['id']
        for recording in recordings:
            recording.due = True
        if self.rng.random() < 0.5:
            ended = eventually(lambda: self.ask('GET', '/jobs/' + job).json()['state'] not in ('queued', 'running'))
            if not ended:
                raise AssertionError('the import does not end')
            for recording in recordings:
                recording.done()

    # ---- deletes, and annotations

    def delete(self):
        r = self.some(lambda r: r.now()['place'] != 'gone')
        if not r:
            return self.put()
        place = r.now()['place']
        way = self.rng.choice(('trash', 'trash', 'gone') if place == 'here' else ('here', 'here', 'gone'))
        r.intend(place=way)
        path = '/recordings/' + r.id
        if way == 'here':
            self.ask('POST', path + '/restore')
        else:
            self.ask('DELETE', path + ('?purge=true' if way == 'gone' else ''))
        r.done()
        return None

    def annotate(self):
        r = self.some(Recording.is_here)
        if not r:
            return self.put()
        self.count += 1
        value, path, now = 'v%d' % self.count, '/recordings/' + r.id, r.now()
        way = self.rng.randrange(5)
        if way == 0:
            r.intend(tags={**now['tags'], 'shift': value})
            self.ask('PUT', path + '/tags/shift?value=' + value)
        elif way == 1:  # both or none
            r.intend(tags={**{k: v for k, v in now['tags'].items() if k != 'shift'}, 'site': value}, description='about ' + value)
            self.ask('PATCH', path, json.dumps({'tags': {'site': value, 'shift': None}, 'description': 'about ' + value}), {'Content-Type': 'application/merge-patch+json'})
        elif way == 2 and now['tags']:
            key = self.rng.choice(sorted(now['tags']))
            r.intend(tags={k: v for k, v in now['tags'].items() if k != key})
            self.ask('DELETE', '%s/tags/%s' % (path, key))
        elif way == 3:
            r.intend(tags={**now['tags'], 'lot': value})
            self.ask('POST', '/tags:batch', json.dumps({'ids': [r.id], 'set': {'lot': value}}), JSON)
        else:
            r.intend(notes=[*now['notes'], 'note ' + value])
            self.ask('POST', path + '/notes', json.dumps({'text': 'note ' + value}), JSON)
        r.done()
        return None


setattr(Worker, 'import', Worker.import_)  # by the name of its family


def b64(text):
    return base64.b64encode(text.encode()).decode()


def write_for_good(path, data=None):
    """A file, or with no data a folder: it stays also when the power goes."""
    fd = os.open(path, os.O_RDONLY if data is None else os.O_CREAT | os.O_WRONLY, 0o644)
    try:
        if data is not None:
            with os.fdopen(os.dup(fd), 'wb') as f:
                f.write(data)
        os.fsync(fd)
    finally:
        os.close(fd)
