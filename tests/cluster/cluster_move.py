"""reel migrate --store: the files of an archive go into a bucket and back, and everything the server says of it stays the same."""
import glob
import hashlib
import os
import signal
import subprocess
import time
import unittest

import cluster_migrate
from databases import make_database
from harness import API, REEL, STORE, Server, files_below, reel
from s3 import S3
from samples import bag, lab_messages


@unittest.skipUnless(STORE, 'there is no S3 gateway')
class Move(cluster_migrate.Migrate):
    test_there_and_back = test_an_interrupted_move_changes_nothing = test_what_it_refuses = None  # those of the catalog

    def setUp(self):
        super().setUp()
        os.makedirs(self.folder + '/blobs')  # the files are in the folder at first
        self.s3, self.bucket = S3.of_environment(), STORE[len('s3://'):]
        self.prefix = 'm' + hashlib.md5(self.folder.encode()).hexdigest()[:12]
        self.url = '%s/%s' % (STORE, self.prefix)

    def move(self, *args, code=0):
        done = reel('migrate', '--data', self.folder, *args, check=False)
        self.assertEqual(done.returncode, code, done)
        return (done.stdout if code == 0 else done.stderr).decode()

    def fsck(self):
        done = reel('fsck', '--data', self.folder, check=False)
        return done.returncode and (done.stdout + done.stderr).decode()

    def files(self, server, ids):
        return {i: self.call(server, 'GET', '/recordings/%s/file/x' % i).body for i in ids}

    def test_files_there_and_back(self):
        server = self.start()
        ids = self.fill(server)
        ids.append(self.call(server, 'PUT', '/recordings/by-name/lab/big.bag', bag(lab_messages(40, blob=300000)), 'application/octet-stream').json()['id'])
        ids.remove(ids[3])  # it is in the trash
        before, files = self.told(server), self.files(server, ids)
        self.assertIn('a server is running', self.move('--store', self.url, code=1))
        server.stop()
        self.assertIn('already', self.move('--store', 'folder', code=1))
        self.assertIn('8 files', self.move('--store', self.url))
        self.assertTrue(os.path.exists(self.folder + '/blobs.moved-1'))
        self.assertEqual(len(self.s3.keys(self.bucket, self.prefix + '/objects/')), 8)
        self.assertEqual(self.fsck(), 0)
        server = self.start()
        self.assertEqual(before, self.told(server))
        self.assertEqual(files, self.files(server, ids))
        ids.append(self.call(server, 'PUT', '/recordings/by-name/lab/new.bag', bag(lab_messages(1, salt=77)), 'application/octet-stream').json()['id'])
        now, files = self.told(server), self.files(server, ids)
        server.stop()

        self.move('--to', self.address)  # the catalog follows: now it is a cluster, and comes back as one
        database = make_database(self.prefix)
        other = Server(None, '--catalog', database)
        self.assertIn('already', self.move('--store', self.url, code=1))
        other.stop()
        server = self.start()
        self.assertIn('a server is running', self.move('--store', 'folder', code=1))
        server.stop()
        self.assertIn('9 files', self.move('--store', 'folder', '--to', 'sqlite'))
        self.assertEqual(sorted(set(os.listdir(self.folder)) & {'store-bucket', 'objects', 'moving', 'catalog-folder'}), [])
        self.assertEqual(self.fsck(), 0)
        server = self.start()
        self.assertEqual(now, self.told(server))
        self.assertEqual(files, self.files(server, ids))
        server.stop()
        self.assertIn('another archive', self.move('--store', self.url, code=1))  # what is there now is older than this

    def test_a_killed_move_goes_on(self):
        server = self.start()
        ids = [self.call(server, 'PUT', '/recordings/by-name/lab/r%d.bag?tag=robot=1' % i, bag(lab_messages(12, blob=300000, salt=i)), 'application/octet-stream').json()['id'] for i in range(12)]
        before, files = self.told(server), self.files(server, ids)
        server.stop()
        killed = 0
        for to, pauses in ((self.url, (0.1, 0.2, 0.3, 0.5, 0.8)), ('folder', (0.05, 0.1, 0.15, 0.2))):
            for pause in pauses:
                process = subprocess.Popen([REEL, 'migrate', '--data', self.folder, '--store', to], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                time.sleep(pause)
                process.send_signal(signal.SIGKILL)
                process.communicate()
                if process.returncode == 0:
                    break
                killed += 1
            else:
                self.assertIn('12 files', self.move('--store', to))
            self.assertEqual(self.fsck(), 0)
            server = self.start()
            self.assertEqual(before, self.told(server))
            self.assertEqual(files, self.files(server, ids))
            server.stop()
        self.assertGreater(killed, 2)

    def test_what_is_refused(self):
        server = self.start()
        ids = self.fill(server)
        tus = {'Tus-Resumable': '1.0.0', 'Authorization': 'Bearer ' + self.token}
        upload = server.request('POST', API + '/uploads', headers={**tus, 'Upload-Length': '100', 'Upload-Metadata': 'name eC5iYWc='}).headers['Location']
        piece = server.request('PATCH', upload, b'x' * 50, {**tus, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0'})
        self.assertEqual(piece.status, 204, piece)
        server.stop()
        self.assertIn('--store is', self.move('--store', 'http://x', code=1))
        self.assertIn('is not finished', self.move('--store', self.url + '/other', code=1))
        server = self.start()
        self.assertEqual(server.request('DELETE', upload, headers=tus).status, 204)
        server.stop()
        self.assertIn('7 files', self.move('--store', self.url + '/other'))
        again = reel('migrate', '--data', self.folder, '--store', 'folder', check=False)
        self.assertEqual(again.returncode, 0, again)
        blob = max((f for f in files_below(self.folder + '/blobs') if '.' not in os.path.basename(f)), key=os.path.getsize)
        with open(blob, 'r+b') as f:
            f.seek(100)
            f.write(b'\xaa\xaa\xaa')
        self.assertIn('is corrupted', self.move('--store', self.url, code=1))
        self.assertEqual(glob.glob(self.folder + '/store-bucket'), [])
        os.unlink(blob)
        self.assertIn('1 were missing before', self.move('--store', self.url))
        self.assertEqual(len(ids), 6)


del cluster_migrate  # its tests run by themselves


if __name__ == '__main__':
    unittest.main()
