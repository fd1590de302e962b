"""A full disk and a read-only one, for real: the data folder (or the catalog alone) on a small tmpfs that is filled before each stage of each kind of
writing, or on an ext4 that its system gives up. Wherever an answer can be given it is 507 or 503; the catalog stays what it was; with space back all goes on."""
import errno
import http.client
import os
import shutil
import subprocess
import tempfile
import unittest

import fault_inject as inject
from faults import LONG
from harness import API, Server

# the server keeps 64 MiB free for itself; below that it refuses by what it knows, so the disk has to be filled while a request is under way as well
SIZE_MB = 80


def mounted(folder, size_mb):
    done = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=%dm,mode=0755' % size_mb, 'reel-faults', folder], stderr=subprocess.PIPE)
    return done.returncode == 0, done.stderr.decode(errors='replace').strip()


def why_not():
    """Why no disk can be made here; None: it can."""
    if os.geteuid() != 0:
        return 'only root makes small disks'
    folder = tempfile.mkdtemp(prefix='reel-faults-')
    good, reported = mounted(folder, 1)
    if good:
        subprocess.run(['umount', folder])
    os.rmdir(folder)
    return None if good else reported


class Disk:
    """A tmpfs, and what fills it."""
    def __init__(self, test, folder, size_mb=SIZE_MB):
        self.folder, self.ballast = folder, os.path.join(folder, 'ballast')
        good, reported = mounted(folder, size_mb)
        test.assertTrue(good, reported)
        test.addCleanup(subprocess.run, ['umount', '-l', folder])

    def fill(self, but=0):
        """All but so many bytes (whole pages)."""
        with open(self.ballast, 'ab', buffering=0) as f:
            for size in (1 << 20, 4096):
                block = b'x' * size
                try:
                    while True:
                        f.write(block)
                except OSError as e:
                    if e.errno != errno.ENOSPC:
                        raise
            f.truncate(max(f.tell() - but, 0))

    def empty(self):
        if os.path.exists(self.ballast):
            os.unlink(self.ballast)


class Faults:
    """In the place of inject.Faults: instead of calls that fail, a disk."""
    class control:
        kinds, folder = 0, b''

    def __init__(self, disk):
        self.disk, self.how = disk, None

    def disarm(self):
        self.disk.empty()
        self.how = None
        return 0, ''


class World(inject.World):
    """A server whose data folder, or only its catalog, is on a small disk."""
    def __init__(self, test, catalog):
        self.catalog = catalog
        super().__init__(test)

    def start(self):
        if self.server is None:
            where = os.path.join(self.folder, 'catalog') if self.catalog else self.data
            os.makedirs(where, exist_ok=True)
            self.disk = Disk(self.test, where)
            self.faults = Faults(self.disk)
            self.args += ('--catalog', where) if self.catalog else ()
        self.server = Server(self.data, *self.args)
        self.test.addCleanup(self.server.stop, None)


OPERATIONS = (inject.Put, inject.Tus, inject.Import, inject.Move, inject.Tag, inject.Delete, inject.Purge, inject.Backup, inject.Scrub)
WHY_NOT = why_not()


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Space(unittest.TestCase):
    def one(self, w, operation, how, arm):
        op = operation()
        op.prepare(w)
        w.answers, w.lossy, w.endless = [], False, True
        w.faults.how = how
        try:
            arm()
            op.act(w)
            for method, path, answer in w.answers:
                if answer.status >= 300:
                    self.assertIn(answer.status, (503, 507), 'neither done nor answered with the right status')
            listed = w.server.get(API + '/recordings?collection=lab')
            self.assertEqual(listed.status, 200, listed)  # what is there can be read
            w.faults.disarm()
            op.again(w)
            if os.environ.get('REEL_FAULTS_TRACE'):
                print(operation.__name__, how, [a[2].status for a in w.answers], flush=True)
        except Exception as e:
            w.faults.disarm()
            e.args = ('%s, %s: %s\n%s\n%s' % (operation.__name__, how, e, '\n'.join('%s %s: %r' % a for a in w.answers), w.server.log_text()[-2000:]),)
            raise

    def stages(self):
        """How much room is left: from nothing to a little more than any of these operations needs."""
        return range(0, 160 * 1024, 4096) if LONG else (0, 20 * 1024, 96 * 1024)

    def test_a_full_disk(self):
        w = World(self, catalog=False)
        inject.Tag().prepare(w)
        for operation in OPERATIONS:
            for but in self.stages():
                self.one(w, operation, 'full but %d bytes' % but, lambda: w.disk.fill(but))
        w.check()
        w.server.stop()

    def test_the_catalogs_disk_is_full(self):
        w = World(self, catalog=True)
        inject.Tag().prepare(w)
        for operation in OPERATIONS:
            for but in self.stages():
                self.one(w, operation, 'catalog full but %d bytes' % but, lambda: w.disk.fill(but))
        w.check()
        w.server.stop()

    def test_it_becomes_full_while_a_body_comes(self):
        """The room was there when the request began."""
        w = World(self, catalog=False)
        name, body = w.fresh(400)
        connection = http.client.HTTPConnection('127.0.0.1', w.server.port, timeout=inject.HANG)
        connection.putrequest('PUT', '%s/recordings/by-name/lab/%s' % (API, name))
        connection.putheader('Content-Length', str(len(body)))
        connection.endheaders()
        connection.send(body[:len(body) // 2])
        w.disk.fill(len(body) // 4)
        try:
            connection.send(body[len(body) // 2:])
        except OSError:
            pass  # it may answer before all of it has come
        response = connection.getresponse()
        self.assertEqual(response.status, 507, response.read())
        connection.close()
        w.disk.empty()
        self.assertIsNone(w.named(name))
        answer = w.server.put(name, body)
        self.assertEqual(answer.status, 201, answer)
        w.whole(answer.json()['id'], inject.sha256(body))
        w.check()
        w.server.stop()


class Ext4:
    """A disk in a file, which can end as real ones do: its system gives it up, and all that is left is reading."""
    def __init__(self, test, image, folder):
        self.image, self.folder = image, folder
        with open(image, 'wb') as f:
            f.truncate(160 << 20)
        subprocess.run(['mkfs.ext4', '-q', '-F', image], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        done = self.mount()
        if done.returncode != 0:
            test.skipTest('no loop device: %s' % done.stderr.decode(errors='replace').strip())
        test.addCleanup(subprocess.run, ['umount', '-l', folder], stderr=subprocess.DEVNULL)

    def mount(self):
        return subprocess.run(['mount', '-o', 'loop', self.image, self.folder], stderr=subprocess.PIPE)

    def give_up(self):
        subprocess.run(['mount', '-o', 'remount,abort', self.folder], check=True)

    def take_back(self):
        subprocess.run(['umount', self.folder], check=True)
        subprocess.run(['e2fsck', '-fy', self.image], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert self.mount().returncode == 0


@unittest.skipIf(WHY_NOT or not shutil.which('mkfs.ext4'), WHY_NOT or 'there is no mkfs.ext4')
class ReadOnly(unittest.TestCase):
    def writes(self, w, put):
        """Everything that writes, once, and the response to each."""
        rid = next(iter(w.kept))
        path = '/recordings/' + rid
        with open(os.path.join(w.root, 'x.bag'), 'wb') as f:
            f.write(put.body)
        yield w.ask('PUT', '/recordings/by-name/lab/' + put.name, put.body)
        yield w.ask('POST', '/uploads?name=u.bag', None, {**inject.TUS, 'Upload-Length': '10'})
        yield w.ask('PATCH', path, '{"tags":{"n":"v"}}', {'Content-Type': 'application/merge-patch+json'})
        yield w.ask('POST', path + '/notes', '{"text":"seen"}', inject.JSON)
        yield w.ask('POST', '/imports', '{"path":"%s"}' % os.path.join(w.root, 'x.bag'), inject.JSON)
        yield w.ask('DELETE', path)
        yield w.ask('DELETE', path + '?purge=true')

    def end(self, catalog):
        test = self

        class OnExt4(inject.World):
            def start(self):
                where = os.path.join(self.folder, 'catalog') if catalog else self.data
                if self.server is None:
                    os.makedirs(where, exist_ok=True)
                    self.disk = Ext4(test, os.path.join(self.folder, 'image'), where)
                    self.args += ('--catalog', where) if catalog else ()
                self.server = Server(self.data, *self.args)
                self.test.addCleanup(self.server.stop, None)

        w = OnExt4(self)
        inject.Tag().prepare(w)
        put = inject.Put()
        put.prepare(w)
        w.disk.give_up()
        for answer in self.writes(w, put):
            self.assertEqual(answer.status, 503, answer)
            self.assertFalse(w.is_done(answer))
        for rid, (name, digest) in w.kept.items():  # what is there can be read
            w.whole(rid, digest)
        w.server.stop(None)
        w.disk.take_back()
        w.start()
        w.wait_until_idle()
        put.act(w)
        put.again(w)
        w.check()
        w.server.stop()

    def test_the_system_gives_the_disk_up(self):
        self.end(catalog=False)

    def test_the_system_gives_the_catalogs_disk_up(self):
        self.end(catalog=True)
