"""The catalog in a folder of its own: configured once, every command finds it; never a second one by mistake."""
import glob
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import API, PATIENCE, REEL, Server, in_a_file, in_a_folder, reel
from samples import bag, lab_messages


@in_a_file
class Place(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.data, self.local = os.path.join(self.folder, 'data'), os.path.join(self.folder, 'local')

    def start(self, *args):
        server = Server(self.data, *args)
        self.addCleanup(server.stop, None)
        return server

    def refused(self, *args):
        done = subprocess.run([REEL, 'serve', '--data', self.data, '--listen', '127.0.0.1:0', *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1, done)
        return done.stderr.decode()

    def names(self, server):
        return [i['name'] for i in server.get(API + '/recordings').json()['items']]

    def catalogs(self, folder):
        return [os.path.basename(p) for p in sorted(glob.glob(os.path.join(folder, 'catalog.db*'))) if not p.endswith(('-wal', '-shm'))]

    @in_a_folder
    def test_said_once_and_known_to_every_command(self):
        server = self.start('--catalog', self.local)
        server.added('a.bag', bag(lab_messages(1)))
        server.stop()
        self.assertEqual((self.catalogs(self.data), self.catalogs(self.local)), ([], ['catalog.db']))
        server = self.start()
        self.assertEqual(self.names(server), ['a.bag'])
        self.assertIn(b'no problems', reel('fsck', '--data', self.data).stdout)
        backup = os.path.join(self.folder, 'backup')
        reel('backup', backup, '--data', self.data, '--blobs', 'copy')
        reel('token', 'list', '--data', self.data)
        reel('scrub', '--data', self.data)
        server.stop()
        self.assertEqual(reel('fsck', '--rebuild', '--data', self.data, check=False).returncode, 1)  # 1: it found something to repair
        self.assertEqual((self.catalogs(self.data), self.catalogs(self.local)), ([], ['catalog.db', 'catalog.db.old-1']))
        self.assertEqual(self.names(self.start('--catalog', self.local)), ['a.bag'])
        self.data = backup  # which is an archive like any other
        self.assertEqual(self.names(self.start()), ['a.bag'])

    def test_a_disk_that_is_not_there_begins_nothing_anew(self):
        self.start('--catalog', self.local).stop()
        os.rename(self.local, self.local + '.away')
        self.assertIn('is its disk mounted?', self.refused())
        for command in (('fsck',), ('token', 'create', '--role', 'read', '--name', 'a'), ('scrub',)):
            done = reel(*command, '--data', self.data, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(b'is its disk mounted?', done.stderr)
        self.assertEqual(self.catalogs(self.data), [])
        os.rename(self.local + '.away', self.local)
        self.start().stop()

    def test_a_catalog_that_is_there_is_moved_by_hand(self):
        server = self.start()
        server.added('a.bag', bag(lab_messages(1)))
        server.stop()
        self.assertIn('move catalog.db', self.refused('--catalog', self.local))
        for path in glob.glob(os.path.join(self.data, 'catalog.db*')):
            shutil.move(path, self.local)
        server = self.start('--catalog', self.local)
        self.assertEqual(self.names(server), ['a.bag'])
        server.stop()
        self.assertIn('the catalog is in', self.refused('--catalog', os.path.join(self.folder, 'other')))
        for path in glob.glob(os.path.join(self.local, 'catalog.db*')):
            shutil.move(path, self.data)
        os.remove(os.path.join(self.data, 'catalog-folder'))
        self.assertEqual(self.names(self.start()), ['a.bag'])
