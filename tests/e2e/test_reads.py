"""What a range costs, seen from outside by strace: at most two groups' payload is read and no file is made, wherever the range lies."""
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from harness import API, PATIENCE, Server, files_below, in_a_folder, stored_below
from run_tests import release_only
from samples import bag, lab_messages, nanover, nanover_messages

GROUP = 1 << 20            # what the writers aim at
LARGEST = 90_000           # one message may overshoot it
ALLOWED = 2 * (GROUP + LARGEST)


def traced():
    return shutil.which('strace') and subprocess.run(['strace', '-f', '-o', '/dev/null', 'true'], stderr=subprocess.DEVNULL).returncode == 0


class Trace:
    """The server's reads of stored recordings, and the files it makes, since the last look."""

    def __init__(self, path):
        self.path, self.place, self.begun = path, 0, {}

    def wait_until_written(self):
        size = -1
        while size != os.path.getsize(self.path):
            size = os.path.getsize(self.path)
            time.sleep(0.15)

    def look(self):
        self.wait_until_written()
        read, made = 0, []
        with open(self.path, errors='replace') as f:
            f.seek(self.place)
            for line in f:
                thread, _, text = line.partition(' ')
                text = text.strip()
                if text.endswith('<unfinished ...>'):
                    self.begun[thread] = text[:-len('<unfinished ...>')]
                    continue
                resumed = re.match(r'<\.\.\. \w+ resumed>(.*)', text)
                if resumed:
                    text = self.begun.pop(thread, '') + resumed.group(1)
                result = re.search(r'\) += (-?\d+)', text)
                count = int(result.group(1)) if result else -1
                if re.match(r'(p?readv?(64)?|preadv2|sendfile)\(', text) and re.search(r'<[^>]*/blobs/../[0-9a-f]{64}>', text):
                    read += max(count, 0)
                elif text.startswith('mmap(') and '/blobs/' in text and not text.split('/blobs/')[1][67:].startswith('.reel'):
                    read += int(text.split(', ')[1])
                elif text.startswith(('openat(', 'open(', 'creat(')) and re.search(r'O_CREAT|O_TMPFILE|^creat', text) and '/catalog.db' not in text and count >= 0:
                    made.append(text)
            self.place = f.tell()
        return read, made


@release_only
@unittest.skipUnless(traced(), 'strace may not trace here')
class Reads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.log = tempfile.mktemp(prefix='reel-strace-')
        traced = {'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0'}  # who is traced cannot look for leaks
        cls.server = Server(None, '--statistics-when-asked', env=traced, wrapper=('strace', '-D', '-f', '-y', '-s', '0', '-o', cls.log,
                                           '-e', 'trace=read,pread64,readv,preadv,preadv2,sendfile,mmap,open,openat,creat'))
        cls.trace = Trace(cls.log)
        cls.lab = cls.server.added('lab.bag', bag(lab_messages(20, blob=LARGEST)))
        cls.sim = cls.server.added('sim.nanover.zip', nanover(nanover_messages(600, atoms=1500)))

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        os.unlink(cls.log)

    def check(self, number, target, plan_reads_payload=False):
        path, rng = '%s/recordings/%s/as/%s' % (API, number, target), random.Random(5)
        self.trace.look()
        size = int(self.server.request('HEAD', path).headers['Content-Length'])
        planned, made = self.trace.look()
        self.assertEqual(made, [])
        self.assertGreater(size, 6 * GROUP)
        if plan_reads_payload:
            self.assertGreater(planned, size // 2)
        else:
            self.assertLess(planned, 300_000, 'a plan reads the index, not the payloads')
        starts = [0, size - 4096, size // 2] + [rng.randrange(size - 4096) for _ in range(9)]
        for start in starts:
            answer = self.server.get(path, Range='bytes=%d-%d' % (start, start + rng.randrange(1, 4096)))
            self.assertEqual(answer.status, 206)
            read, made = self.trace.look()
            self.assertLessEqual(read, ALLOWED, 'range at %d' % start)
            self.assertEqual(made, [], 'range at %d' % start)

    def test_mcap(self):
        self.check(self.lab, 'x.mcap')

    def test_mcap_cut(self):
        self.check(self.lab, 'x.mcap?start=%2B1s&topic=/camera')

    @in_a_folder
    def test_bag(self):
        self.check(self.lab, 'x.bag?version=1.2')

    @in_a_folder
    def test_nanover_sums_once(self):
        self.check(self.sim, 'x.nanover.zip', plan_reads_payload=True)

    @in_a_folder
    def test_mcap_of_nanover(self):
        self.check(self.sim, 'x.mcap')

    def test_dropping_after_the_headers_reads_little(self):
        """Viewers ask for the whole and hang up: what was read by then is a few groups, not the file."""
        import socket
        path = '%s/recordings/%s/as/x.mcap' % (API, self.lab)
        self.server.request('HEAD', path)
        self.trace.look()
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.settimeout(PATIENCE)
            s.connect(('127.0.0.1', self.server.port))
            s.sendall(b'GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n' % (path.encode(), self.server.port))
            self.assertTrue(s.recv(100).startswith(b'HTTP/1.1 200'))
        time.sleep(0.3)
        read, made = self.trace.look()
        self.assertLessEqual(read, 8 * GROUP)
        self.assertEqual(made, [])

    def test_nothing_derived_is_left(self):
        self.assertEqual([f for f in files_below(self.server.data) if '/derived/' in f], [])
        self.assertEqual([f for f in stored_below(self.server.data) if '/incoming/' in f], [])
