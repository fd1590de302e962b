"""Small files that become gigabytes: a recording of 65,535 channels, and one message of hundreds of megabytes in a ZIP of less than one.
Many clients read them at once, and slowly: the server's memory stays bounded and others are still answered."""
import io
import re
import socket
import struct
import threading
import time
import zipfile

import msgpack

from harness import API, Case, eventually
from run_tests import release_only
from samples import T0, Message, bag, lab_messages
from test_bombs import token
from test_frame import header, text
from test_live import Following, Live, row

CHANNELS = 65535
MIB = 1 << 20
MESSAGE = 200 * MIB
QUIET = ('--statistics-when-asked',)  # none are made while memory is measured


def mcap_of_channels(count=CHANNELS):
    """A message on each of `count` channels, JSON, without an index."""
    def record(opcode, body):
        return struct.pack('<BQ', opcode, len(body)) + body

    def text(value):
        return struct.pack('<I', len(value)) + value

    out = [b'\x89MCAP0\r\n', record(1, text(b'') + text(b''))]
    out += [record(4, struct.pack('<HH', c, 0) + text(b'/t%05d' % c) + text(b'json') + struct.pack('<I', 0)) for c in range(count)]
    out += [record(5, struct.pack('<HIQQ', c, 0, 1700000000 * 10**9 + c, 1700000000 * 10**9 + c) + b'{}') for c in range(count)]
    out += [record(15, struct.pack('<I', 0)), record(2, bytes(20)), b'\x89MCAP0\r\n']
    return b''.join(out)


def nanover_of_one_message(size=MESSAGE):
    """A frame of one value of `size` zeros, which deflate makes a thousandth of."""
    head = msgpack.packb({'frame': {'frame.index': 0, 'zeros': b''}})[:-2] + b'\xc6' + struct.pack('>I', size)
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        with archive.open('messages.msgpack', 'w', force_zip64=True) as member:
            member.write(head)
            for at in range(0, size, MIB):
                member.write(bytes(min(MIB, size - at)))
        archive.writestr('index.msgpack', msgpack.packb([{'offset': 0, 'length': len(head) + size, 'metadata': {'types': ['frame'], 'frame.index': 0, 'timestamp': 1}}]))
    return out.getvalue()


def resident(pid, what='VmRSS'):
    with open('/proc/%d/status' % pid) as status:
        return int(re.search(what + r':\s+(\d+) kB', status.read()).group(1)) << 10


class Peak:
    """How far the server's memory grew, in bytes, inside of `with`."""

    def __init__(self, server):
        self.pid = server.process.pid

    def __enter__(self):
        with open('/proc/%d/clear_refs' % self.pid, 'w') as refs:
            refs.write('5')
        self.before = resident(self.pid)
        return self

    def __exit__(self, *_):
        self.growth = resident(self.pid, 'VmHWM') - self.before


class Readers:
    """Clients that each send one request and then read `rate` bytes a second."""

    def __init__(self, server, paths, rate=20000, headers=''):
        self.sockets = []
        for number, path in enumerate(paths):
            s = socket.create_connection(('127.0.0.1', server.port), timeout=60, source_address=('127.0.0.%d' % (2 + number % 20), 0))
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.sendall(('GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n' % (path, headers)).encode())
            s.setblocking(False)
            self.sockets.append(s)
        self.rate, self.answers, self.ended = rate, [b''] * len(self.sockets), False
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        while not self.ended:
            for number, s in enumerate(self.sockets):
                try:
                    self.answers[number] = (self.answers[number] + s.recv(self.rate // 5))[:100]
                except (BlockingIOError, ConnectionError):
                    pass
            time.sleep(0.2)

    def statuses(self):
        """Those that arrived; 0 while some have not."""
        return sorted({int(a[9:12] or b'0') for a in self.answers})

    def close(self):
        self.ended = True
        self.thread.join()
        for s in self.sockets:
            s.close()


def memory_metric(case, name):
    return int(case.get('/metrics', **getattr(case, 'other', {})).body.decode().split('\nreel_http_memory_%s ' % name)[1].split()[0])


class ManyChannels(Case):
    server_args = QUIET

    @classmethod
    def fill(cls):
        cls.wide = cls.server.added('wide.mcap', mcap_of_channels())

    def path(self, rest=''):
        return '%s/recordings/%s%s' % (API, self.wide, rest)

    def pages(self, path, member):
        while path:
            answer = self.get(path)
            self.assertLess(len(answer.body), 2 * MIB)
            page = answer.json()
            yield page[member]
            self.assertEqual(bool(page['next']), bool(answer.next_path()))
            path = answer.next_path()

    @release_only  # 65,535 topics as JSON, again and again
    def test_lists_have_pages(self):
        names = ['/t%05d' % c for c in range(CHANNELS)]
        recording = self.get(self.path()).json()
        first = self.get(self.path('/topics')).json()
        self.assertEqual((recording['topics'], recording['topics_next']), (first['items'], first['next']))
        self.assertEqual([t['name'] for t in first['items']], names[:1000])
        self.assertEqual([t['name'] for page in self.pages(self.path('/topics'), 'items') for t in page], names)
        self.assertEqual([t['topic'] for page in self.pages(self.path('/coverage'), 'topics') for t in page], names)
        few = self.get(self.path('/topics?limit=2&output=ndjson'))
        self.assertEqual([t['name'] for t in few.rows()], names[:2])
        self.assertEqual([t['name'] for t in self.get(few.next_path()).rows()], names[2:4])

    @release_only  # the sanitizer keeps freed memory
    def test_20_slow_readers(self):
        for path in ('', '/topics', '/coverage'):
            with self.subTest(path), Peak(self.server) as peak:
                readers = Readers(self.server, 20 * [self.path(path)])
                try:
                    eventually(lambda: 0 not in readers.statuses())
                    for _ in range(20):
                        self.get(API + '/recordings')
                finally:
                    readers.close()
            self.assertEqual(readers.statuses(), [200])
            self.assertLess(peak.growth, 200 * MIB, path)


class OneMessage(Case):
    server_args = QUIET

    @classmethod
    def fill(cls):
        cls.zeros = cls.server.added('zeros.nanover.zip', nanover_of_one_message())

    @release_only  # the sanitizer keeps freed memory
    def test_what_needs_its_values_is_refused(self):
        with Peak(self.server) as peak:
            for path in ('nanover/frames', 'nanover/frames?output=csv', 'nanover/energies', 'nanover/frame', 'nanover/frame?output=msgpack'):
                with self.subTest(path):
                    self.assertProblem(self.server.get('%s/recordings/%s/%s' % (API, self.zeros, path)), 413, '64 MiB')
        self.assertLess(peak.growth, 64 * MIB)

    def test_its_bytes_are_served(self):
        answer = self.server.get('%s/recordings/%s/message?index=0' % (API, self.zeros), Accept='application/octet-stream')
        self.assertEqual((answer.status, answer.body[-MIB:], len(answer.body) > MESSAGE), (200, bytes(MIB), True))


@release_only  # its recording is large
class Images(Case):
    """A client that does not read what it asked for holds an image, which is counted: of the topic's largest, not the recording's."""
    IMAGE = 140 * MIB
    server_args = QUIET

    @classmethod
    def fill(cls):
        messages = [Message(T0, topic, header() + text('h264') + text(bytes(size)), 'sensor_msgs/CompressedImage')
                    for topic, size in (('/large', cls.IMAGE), ('/small', 1000))]
        cls.images = '%s/recordings/%s/' % (API, cls.server.added('images.bag', bag(messages)))

    def held(self, path):
        reader = Readers(self.server, [self.images + path])
        try:
            self.assertTrue(eventually(lambda: 0 not in reader.statuses()))
            return memory_metric(self, 'bytes')
        finally:
            reader.close()
            self.assertTrue(eventually(lambda: memory_metric(self, 'bytes') == 0))

    def test_are_counted(self):
        self.assertGreater(self.held('frames?topic=/large'), 2 * self.IMAGE)
        self.assertLess(self.held('frames?topic=/small'), 16 * MIB)
        self.assertEqual(self.get(self.images + 'frames?topic=/small').status, 200)


class Limit(Case):
    """One slow reader of 65,535 channels takes all that large requests may hold of 16 MB."""
    server_args = ('--memory-mb', '16', *QUIET)

    @classmethod
    def fill(cls):
        cls.wide = '%s/recordings/%s/messages' % (API, cls.server.added('wide.mcap', mcap_of_channels()))
        cls.bag = '%s/recordings/%s' % (API, cls.server.added('lab.bag', bag(lab_messages(1))))

    def test_others_wait_and_small_ones_go_on(self):
        answers = []
        reader = Readers(self.server, [self.wide])
        try:
            self.assertTrue(eventually(lambda: 0 not in reader.statuses()))
            waiting = threading.Thread(target=lambda: answers.append(self.server.get(self.bag + '/messages')))
            waiting.start()
            self.assertTrue(eventually(lambda: memory_metric(self, 'waiting') == 1))
            self.assertEqual(len(self.get(self.bag + '/topics').json()['items']), len(self.get(self.bag).json()['topics']))
            self.assertGreater(memory_metric(self, 'bytes'), 10_000_000)
        finally:
            reader.close()
        waiting.join(60)
        self.assertEqual([a.status for a in answers], [200])
        self.assertTrue(eventually(lambda: memory_metric(self, 'bytes') == 0))

    def test_who_waits_too_long_is_refused(self):
        reader, refused = Readers(self.server, [self.wide]), memory_metric(self, 'refused_total')
        try:
            self.assertTrue(eventually(lambda: 0 not in reader.statuses()))
            answer = self.server.get(self.bag + '/messages')
            self.assertProblem(answer, 503, '--memory-mb')
            self.assertEqual((answer.headers['Retry-After'], memory_metric(self, 'refused_total')), ('10', refused + 1))
        finally:
            reader.close()
        self.assertTrue(eventually(lambda: self.server.get(self.bag + '/messages').status == 200))


class Callers(Case):
    """One caller's requests leave room for another's."""
    server_args = ('--memory-mb', '256', *QUIET)
    PLAYS = 150

    @classmethod
    def fill(cls):
        cls.wide = '%s/recordings/%s/' % (API, cls.server.added('wide.mcap', mcap_of_channels()))
        cls.bag = '%s/recordings/%s/' % (API, cls.server.added('lab.bag', bag(lab_messages(1))))
        cls.greedy = 'Authorization: %s\r\n' % token(cls.server, 'greedy')['Authorization']
        cls.other = token(cls.server, 'other')

    def test_paused_plays_hold_little(self):
        plays = Readers(self.server, self.PLAYS * [self.bag + 'play?paused=true'], headers=self.greedy)
        try:
            self.assertTrue(eventually(lambda: 0 not in plays.statuses()))
            self.assertEqual(plays.statuses(), [200])
            self.assertTrue(eventually(lambda: memory_metric(self, 'bytes') < self.PLAYS * MIB / 2))
            answer = self.server.get(self.bag + 'as/lab.csv', **self.other)
            self.assertEqual((answer.status, answer.body.count(b'\n')), (200, len(lab_messages(1)) + 1))
            self.assertEqual(self.server.get(self.wide + 'messages?limit=5', **self.other).status, 200)
        finally:
            plays.close()
        self.assertTrue(eventually(lambda: memory_metric(self, 'bytes') == 0))

    def test_a_paused_play_goes_on(self):
        with socket.create_connection(('127.0.0.1', self.server.port), timeout=60) as s:
            s.sendall(b'GET %splay?paused=true&speed=max HTTP/1.0\r\nHost: localhost\r\n%s\r\n' % (self.bag.encode(), self.greedy.encode()))
            got = s.recv(4096)
            self.assertTrue(eventually(lambda: 0 < memory_metric(self, 'bytes') < MIB))
            play = re.search(rb'X-Play: (\S+)', got).group(1).decode()
            self.assertEqual(self.server.request('PATCH', '%s/plays/%s' % (API, play), b'{"paused": false}', {'Content-Type': 'application/json', **self.other}).status, 200)
            while more := s.recv(65536):
                got += more
        self.assertEqual(got.count(b'"log_time"'), len(lab_messages(1)))

    def test_many_large_requests_of_one(self):
        readers = Readers(self.server, 8 * [self.wide + 'messages'], headers=self.greedy)
        try:
            self.assertTrue(eventually(lambda: memory_metric(self, 'waiting') > 0))
            self.assertEqual(self.server.get(self.wide + 'messages?limit=5', **self.other).status, 200)
            self.assertTrue(eventually(lambda: 0 not in readers.statuses()))
            self.assertEqual(readers.statuses(), [200, 503])
        finally:
            readers.close()
        self.assertTrue(eventually(lambda: memory_metric(self, 'bytes') == 0))


class Followers(Case):
    """Who follows a recording of many topics holds little while nothing comes."""
    server_args = ('--memory-mb', '64')
    FOLLOWERS, TOPICS = 12, 2000

    def test_hold_little_while_they_wait(self):
        live = Live(self.server, 'wide')
        live.appended([row('/t%04d' % t, t) for t in range(self.TOPICS)])
        following = [Following(self.server, live.path('/messages?follow=true')) for _ in range(self.FOLLOWERS)]
        self.assertTrue(eventually(lambda: all(len(f.numbers()) == self.TOPICS for f in following)))
        self.assertTrue(eventually(lambda: memory_metric(self, 'bytes') < self.FOLLOWERS * MIB / 4))
        live.appended([row('/t0000', 9999)])
        self.assertTrue(eventually(lambda: all(f.numbers()[-1] == 9999 for f in following)))
        live.finish()
        self.assertTrue(eventually(lambda: all(f.ended for f in following)))
