"""A server's life: one at a time over a folder, drained by SIGTERM, everything there again after a restart, lost indexes made anew."""
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from harness import API, REEL, Server, eventually, files_below, in_a_folder, stored_below
from samples import bag, lab_messages, nanover, nanover_messages


class Life(unittest.TestCase):
    def setUp(self):
        self.data = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, self.data, True)

    def start(self, *args):
        server = Server(self.data, *args)
        self.addCleanup(server.stop, None)
        return server

    def test_second_server_refuses_clearly(self):
        self.start()
        second = subprocess.run([REEL, 'serve', '--data', self.data, '--listen', '127.0.0.1:0'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.assertNotEqual(second.returncode, 0)
        self.assertIn('another server', second.stderr.decode())

    def test_taken_address_is_reported(self):
        first = self.start()
        other = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, other, True)
        second = subprocess.run([REEL, 'serve', '--data', other, '--listen', '127.0.0.1:%d' % first.port], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.assertNotEqual(second.returncode, 0)
        for words in (str(first.port), 'Address already in use', '--listen'):
            self.assertIn(words, second.stderr.decode())

    def test_restart_keeps_everything(self):
        server = self.start()
        lab, sim = server.added('lab.bag', bag(lab_messages(2))), server.added('sim.nanover.zip', nanover(nanover_messages()))
        gone = server.added('gone.bag', bag(lab_messages(2, salt=1)))
        server.request('DELETE', '%s/recordings/%s' % (API, gone))
        paths = ['%s/recordings/%s%s' % (API, i, rest) for i in (lab, sim) for rest in ('', '/topics', '/messages', '/as/x.mcap', '/scan')] + [API + '/recordings']
        before = [server.get(p).body for p in paths]
        server.stop()
        server = self.start()
        self.assertEqual([server.get(p).body for p in paths], before)
        self.assertEqual([r['id'] for r in server.get(API + '/recordings?state=trashed').json()['items']], [gone])

    def test_lost_or_broken_index_is_made_anew(self):
        server = self.start()
        data = bag(lab_messages(2))
        number = server.added('lab.bag', data)
        path = '%s/recordings/%s/messages' % (API, number)
        before = server.get(path).body
        server.stop()
        pack, = [f for f in files_below(self.data) if f.endswith(hashlib.sha256(data).hexdigest() + '.reel')]
        for harm in ('deleted', 'flipped', 'cut', 'emptied'):
            with self.subTest(harm):
                with open(pack, 'rb') as f:
                    content = bytearray(f.read())
                os.unlink(pack)
                content[len(content) // 2] ^= 0x55
                if harm != 'deleted':
                    with open(pack, 'wb') as f:
                        f.write({'flipped': content, 'cut': content[:len(content) // 3], 'emptied': b''}[harm])
                server = self.start()
                self.assertEqual(server.get(path).body, before)
                self.assertTrue(os.path.exists(pack))
                server.stop()

    def test_leftovers_are_swept_at_start(self):
        self.start().stop()
        left = os.path.join(self.data, 'incoming', 'left-over')
        with open(left, 'wb') as f:
            f.write(b'half a recording')
        self.start()
        self.assertFalse(os.path.exists(left))

    def test_killed_while_uploading_leaves_nothing(self):
        server = self.start()
        kept = server.added('kept.bag', bag(lab_messages(2)))
        before = stored_below(self.data)
        with socket.create_connection(('127.0.0.1', server.port)) as s:
            s.sendall(b'PUT %s/recordings/by-name/lab/half.bag HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 9999999\r\n\r\n' % (API.encode(), server.port) + b'x' * 50_000)
            time.sleep(0.1)
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
        server = self.start()
        self.assertEqual([r['id'] for r in server.get(API + '/recordings').json()['items']], [kept])
        self.assertTrue(eventually(lambda: stored_below(self.data) == before), stored_below(self.data))

    @in_a_folder
    def test_vanished_file_is_missing_not_a_crash(self):
        server = self.start()
        data = bag(lab_messages(2))
        number = server.added('lab.bag', data)
        server.stop()
        blob, = [f for f in files_below(self.data) if f.endswith(hashlib.sha256(data).hexdigest())]
        os.unlink(blob)
        server = self.start()
        self.assertIn(server.get('%s/recordings/%s/messages' % (API, number)).status, (404, 409, 410, 500, 503))
        self.assertTrue(eventually(lambda: server.get('%s/recordings/%s' % (API, number)).json()['state'] == 'missing'))

    def test_sigterm_lets_a_running_upload_end(self):
        server = self.start()
        data = bag(lab_messages(3, blob=20_000))
        with socket.create_connection(('127.0.0.1', server.port), timeout=60) as s:
            s.sendall(b'PUT %s/recordings/by-name/lab/late.bag HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %d\r\n\r\n' % (API.encode(), server.port, len(data)))
            s.sendall(data[:len(data) // 2])
            self.assertTrue(eventually(lambda: [f for f in files_below(self.data) if '/incoming/' in f]))  # it has begun
            server.terminate()
            time.sleep(0.3)
            self.assertIsNone(server.process.poll())
            s.sendall(data[len(data) // 2:])
            answer = s.recv(65536)
        self.assertTrue(answer.startswith(b'HTTP/1.1 201'), answer[:300])
        server.stop()
        self.assertEqual(len(self.start().get(API + '/recordings').json()['items']), 1)

    def test_sigterm_lets_a_running_download_end(self):
        server = self.start()
        data = bag(lab_messages(10, blob=90_000))
        number = server.added('lab.bag', data)
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
            s.connect(('127.0.0.1', server.port))
            s.sendall(b'GET %s/recordings/%s/as/x.mcap HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n' % (API.encode(), number.encode(), server.port))
            got = bytearray(s.recv(4096))
            server.terminate()
            time.sleep(0.3)
            while True:
                more = s.recv(1 << 20)
                if not more:
                    break
                got += more
        head, _, body = got.partition(b'\r\n\r\n')
        length = next(int(line.split(b':')[1]) for line in head.split(b'\r\n') if line.lower().startswith(b'content-length'))
        self.assertEqual(len(body), length)
        server.stop()

    def test_sigint_ends_too(self):
        server = self.start()
        server.terminate(signal.SIGINT)
        self.assertEqual(server.process.wait(60), 0)

    def test_many_clients_at_once(self):
        server = self.start()
        data = bag(lab_messages(2))
        wrong = []

        def client(k):
            try:
                number = server.added('client %d.bag' % k, bag(lab_messages(2, salt=k % 3)))
                for _ in range(5):
                    if len(server.get('%s/recordings/%s/messages?topic=/odom' % (API, number)).rows()) != 100:
                        wrong.append(k)
                server.get(API + '/recordings?q=client')
            except Exception as e:  # raised in the test's own thread
                wrong.append((k, repr(e)))

        threads = [threading.Thread(target=client, args=(k,)) for k in range(12)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])
        self.assertEqual(server.get(API + '/recordings?count=true').json()['total'], 12)
        self.assertTrue(eventually(lambda: len([f for f in files_below(self.data) if '/incoming/' in f]) == 0))
        del data
