"""Work without an end: a definition with 2^40 leaves, and videos that take minutes to encode. Others get their plans meanwhile, a cancelled job ends,
and so does the server."""
import re
import shutil
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import zlib

import samples
from harness import API, REEL, Case, Server, eventually, reel
from run_tests import release_only
from samples import Message, T0, bag, lab_messages

LEVELS, FRAMES, SIDE = 40, 6000, 640
STOPS_S = 10  # it takes a fraction of a second


def endless():
    """Types with two fields each, the last of which is a number."""
    lines = ['lab/T1 a\nlab/T1 b\n']
    for i in range(1, LEVELS):
        inner = 'lab/T%d' % (i + 1) if i + 1 < LEVELS else 'int32'
        lines.append('%s\nMSG: lab/T%d\n%s a\n%s b\n' % ('=' * 80, i, inner, inner))
    return ''.join(lines)


samples.TYPES['lab/T0'] = ('1' * 32, endless())
samples.TYPES['sensor_msgs/CompressedImage'] = (
    '8f7a12909da2c9d3332d540a0977563f',
    'std_msgs/Header header\nstring format\nuint8[] data\n' + '=' * 80 + '\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n')


def endless_bag(salt=0):
    return bag([Message(T0 + i, '/endless', bytes([salt] * i), 'lab/T0') for i in range(4)])


def png(side):
    def chunk(kind, body):
        return struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))
    rows = (b'\0' + bytes(range(251)) * 4)[:side + 1] * side
    return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', side, side, 8, 0, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b'')


def film():
    """Minutes of work for an encoder."""
    picture = png(SIDE)
    payload = struct.pack('<IIII', 0, 0, 0, 0) + struct.pack('<I', 3) + b'png' + struct.pack('<I', len(picture)) + picture
    return bag([Message(T0 + i * 40_000_000, '/film', payload, 'sensor_msgs/CompressedImage') for i in range(FRAMES)])


def token(server, name, role='upload'):
    made = reel('token', 'create', '--data', server.data, '--role', role, '--name', name).stdout.decode()
    return {'Authorization': 'Bearer ' + re.search(r'reel_\S+', made).group(0)}


class Definition(Case):
    @classmethod
    def fill(cls):
        cls.number = cls.server.added('endless.bag', endless_bag())

    def test_tables_and_lists_of_fields(self):
        at = '%s/recordings/%s' % (API, self.number)
        whole = self.get(at + '/as/x.parquet').body
        self.assertEqual((whole[:4], whole[-4:]), (b'PAR1', b'PAR1'))
        for path in ('/as/x.arrows', '/as/x.ndjson', '/as/x.mcap', '/as/x.bag', '/as/x.mcap?ros=2', '/topics', '/topics/fields?topic=/endless'):
            self.get(at + path)
        self.assertProblem(self.server.get(at + '/as/x.csv'), 413, 'more than 4096 fields')

    def test_the_command_converts_it(self):
        folder = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, folder, True)
        with open(folder + '/a.bag', 'wb') as f:
            f.write(endless_bag())
        for name, code in (('a.parquet', 0), ('a.mcap', 0), ('a.csv', 1)):
            run = subprocess.run([REEL, 'convert', folder + '/a.bag', folder + '/' + name], timeout=60, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(run.returncode, code, run.stdout)
        self.assertIn(b'more than 4096 fields', run.stdout)


@release_only  # minutes of it
class Encodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.film = film()

    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.stop, None)
        self.admin, self.one, self.other = token(self.server, 'admin', 'admin'), token(self.server, 'one'), token(self.server, 'other')
        self.film_id = self.put('film.bag', self.film, self.one)
        self.small_id = self.put('small.bag', bag(lab_messages(2)), self.other)

    def put(self, name, body, headers):
        answer = self.server.request('PUT', '%s/recordings/by-name/lab/%s' % (API, name), body, {**headers, 'Prefer': 'wait=50'})
        self.assertEqual(answer.status, 201, answer)
        return answer.json()['id']

    def encode(self, fps):
        """The job of an encode that has begun, or waits."""
        answer = self.server.request('GET', '%s/recordings/%s/as/film.mp4?topic=/film&fps=%d' % (API, self.film_id, fps), headers={**self.one, 'Prefer': 'wait=0'})
        self.assertEqual(answer.status, 503, answer)
        return answer.json()['job']['id']

    def job(self, job):
        return self.server.request('GET', '%s/jobs/%s' % (API, job), headers=self.one).json()

    def test_others_get_their_plans_and_a_cancelled_job_ends(self):
        jobs = [self.encode(fps) for fps in range(20, 26)]
        self.assertTrue(eventually(lambda: sum(self.job(job)['done'] > 0 for job in jobs) > 0))
        answer = self.server.request('GET', '%s/recordings/%s/as/odom.parquet?topic=/odom' % (API, self.small_id), headers=self.other)
        self.assertEqual(answer.status, 200, answer)
        self.assertIn('running', [self.job(job)['state'] for job in jobs])
        for job in jobs:
            self.assertEqual(self.server.request('DELETE', '%s/jobs/%s' % (API, job), headers=self.admin).status, 204)
        for job in jobs:
            self.assertTrue(eventually(lambda job=job: self.job(job)['state'] == 'cancelled'), self.job(job))

    def test_the_server_stops_while_it_encodes(self):
        jobs = [self.encode(fps) for fps in (30, 31, 32)]
        self.assertTrue(eventually(lambda: sum(self.job(job)['done'] > 0 for job in jobs) > 0))
        self.assertStops()

    def test_the_server_stops_while_a_request_waits(self):
        answers, path = [], '%s/recordings/%s/as/film.mp4?topic=/film' % (API, self.film_id)
        waits = threading.Thread(target=lambda: answers.append(self.server.request('GET', path, headers={**self.one, 'Prefer': 'wait=60'})))
        waits.start()
        self.assertTrue(eventually(lambda: b'reel_jobs{state="running"} 1' in self.server.get('/metrics', **self.admin).body))
        self.assertStops()
        waits.join()
        self.assertEqual([answer.status for answer in answers], [503], answers)

    def assertStops(self):
        begun = time.monotonic()
        self.server.terminate()
        self.assertEqual(self.server.process.wait(60), 0)
        took = time.monotonic() - begun
        print('stopped in %.2f s' % took)
        self.assertLess(took, STOPS_S)
