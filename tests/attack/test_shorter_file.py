"""A file becomes shorter while it is sent: the body cannot be completed, so the connection is cut; no thread keeps trying."""
import os
import shutil
import socket
import tempfile
import time
import unittest

from harness import API, PATIENCE, Server, eventually, files_below, in_a_folder
from samples import bag, lab_messages

BIG = bag(lab_messages(10, 300000))  # more than the sockets' buffers hold
SMALL = bag(lab_messages(1))


def cpu_seconds(server):
    with open('/proc/%d/stat' % server.process.pid) as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


class ShorterFile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-attack-')
        self.addCleanup(shutil.rmtree, self.folder)
        self.server = Server(None, '--import-root', self.folder)
        self.addCleanup(self.server.stop)

    def start_download(self, path):
        """A connection that has received the beginning of the body and then reads no more."""
        s = socket.socket()
        self.addCleanup(s.close)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        s.settimeout(PATIENCE)
        s.connect(('127.0.0.1', self.server.port))
        s.sendall(b'GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n' % path.encode())
        self.assertTrue(s.recv(4096).startswith(b'HTTP/1.1 200'))
        return s

    def rest(self, s):
        size = 0
        while True:
            try:
                got = s.recv(1 << 16)
            except ConnectionResetError:
                return size
            if not got:
                return size
            size += len(got)

    def rests(self):
        """For a second; statistics may still be made."""
        before = cpu_seconds(self.server)
        time.sleep(1)
        return cpu_seconds(self.server) - before < 0.5

    def check_cut(self, path, file):
        s = self.start_download(path)
        os.truncate(file, 4096)
        self.assertLess(self.rest(s), len(BIG) - 1000000)  # ends, and with fewer bytes than were promised
        self.assertTrue(eventually(lambda: 'cut=true' in self.server.log_text()), 'the cut request is not in the log')
        self.assertTrue(eventually(self.rests), 'a thread keeps trying')
        return self.server.get(path)

    @in_a_folder
    def test_stored_file(self):
        ident = self.server.added('big.bag', BIG)
        blob = max(files_below(os.path.join(self.server.data, 'blobs')), key=os.path.getsize)
        again = self.check_cut('%s/recordings/%s/file/x.bag' % (API, ident), blob)
        self.assertEqual(again.status, 410, again)
        self.assertEqual(again.headers.get_content_type(), 'application/problem+json')

    @in_a_folder
    def test_referenced_file(self):
        path = os.path.join(self.folder, 'big.bag')
        with open(path, 'wb') as f:
            f.write(BIG)
        answer = self.server.request('POST', '%s/imports' % API, '{"path": "%s", "collection": "lab", "mode": "reference"}' % self.folder, {'Content-Type': 'application/json'})
        self.assertIn(answer.status, (200, 201, 202), answer)
        items = eventually(lambda: [i for i in self.server.get(API + '/recordings').json()['items'] if i['state'] == 'ready'])
        again = self.check_cut('%s/recordings/%s/file/x.bag' % (API, items[0]['id']), path)
        self.assertEqual(again.status, 410, again)

    @in_a_folder
    def test_small_stored_file(self):
        ident = self.server.added('small.bag', SMALL)
        blob = max(files_below(os.path.join(self.server.data, 'blobs')), key=os.path.getsize)
        os.truncate(blob, 100)
        answer = self.server.get('%s/recordings/%s/file/x.bag' % (API, ident))
        self.assertEqual(answer.status, 410, answer)

    @in_a_folder
    def test_shutdown_is_not_held(self):
        ident = self.server.added('big.bag', BIG)
        self.start_download('%s/recordings/%s/file/x.bag' % (API, ident))  # stays open
        os.truncate(max(files_below(os.path.join(self.server.data, 'blobs')), key=os.path.getsize), 4096)
        begun = time.monotonic()
        self.server.stop()
        self.assertLess(time.monotonic() - begun, 25)  # the drain time is 30 s
