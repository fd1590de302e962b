"""MCAP in and out over HTTP: attachments, metadata, compressed conversions with a length and ranges."""
import json
import random
import struct
import zlib

from harness import API, Case
from samples import bag, lab_messages

MAGIC = b'\x89MCAP0\r\n'
CALIBRATION = bytes(range(256)) * 400
MESSAGES = 40_000


def text(s):
    s = s.encode() if isinstance(s, str) else s
    return struct.pack('<I', len(s)) + s


def record(op, content):
    return struct.pack('<BQ', op, len(content)) + content


def pairs(values):
    content = b''.join(text(k) + text(v) for k, v in values)
    return struct.pack('<I', len(content)) + content


def attachment(name, media_type, time, data):
    content = struct.pack('<QQ', time, time - 5) + text(name) + text(media_type) + struct.pack('<Q', len(data)) + data
    return record(9, content + struct.pack('<I', zlib.crc32(content)))


def mcap():
    out = MAGIC + record(1, text('x-test') + text('by hand'))
    out += record(3, struct.pack('<H', 1) + text('T') + text('jsonschema') + text('{"type":"object"}'))
    out += record(4, struct.pack('<HH', 1, 1) + text('/numbers') + text('json') + pairs([('unit', 'm')]))
    for i in range(MESSAGES):
        out += record(5, struct.pack('<HIQQ', 1, i, 10**18 + i * 10**6, 10**18 + i * 10**6 + 7) + json.dumps({'n': i}).encode())
    out += attachment('camera/calibration.bin', 'application/x-calibration', 10**18 + 1, CALIBRATION)
    out += attachment('page.html', 'text/html\r\nX-Evil: 1', 10**18 + 2, b'<script>')
    out += attachment('empty', 'text/plain; charset=utf-8', 10**18 + 3, b'')
    out += record(12, text('robot') + pairs([('name', 'curie'), ('room', 'b12')]))
    out += record(15, struct.pack('<I', zlib.crc32(out)))
    footer = struct.pack('<BQQQ', 2, 20, 0, 0)
    return out + footer + struct.pack('<I', zlib.crc32(footer)) + MAGIC


class Mcap(Case):
    @classmethod
    def fill(cls):
        cls.mine = cls.server.added('mine.mcap', mcap())
        cls.walk = cls.server.added('walk.bag', bag(lab_messages(1)))

    def path(self, rest, recording=None):
        return '%s/recordings/%s/%s' % (API, recording or self.mine, rest)

    def test_is_listed(self):
        r = self.get(self.path('')[:-1]).json()
        self.assertEqual((r['format'], r['messages'], r['damaged']), ('mcap', MESSAGES, False))
        self.assertEqual([t['name'] for t in r['topics']], ['/numbers'])
        row = self.get(self.path('message?index=3')).json()
        self.assertEqual(row['sequence'], 3)

    def test_attachments_are_listed(self):
        rows = self.get(self.path('attachments')).json()['items']
        self.assertEqual([(a['index'], a['name'], a['size']) for a in rows],
                         [(0, 'camera/calibration.bin', len(CALIBRATION)), (1, 'page.html', 8), (2, 'empty', 0)])
        self.assertEqual((rows[0]['media_type'], rows[0]['time_ns']), ('application/x-calibration', str(10**18 + 1)))
        self.assertEqual(self.get(rows[0]['url']).body, CALIBRATION)
        self.assertEqual(self.get(self.path('attachments', self.walk)).json(), {'items': [], 'next': None})

    def test_an_attachment_is_a_file(self):
        answer = self.get(self.path('attachments/0'))
        self.assertEqual((answer.body, answer.headers['Content-Type']), (CALIBRATION, 'application/x-calibration'))
        self.assertIn('calibration.bin', answer.headers['Content-Disposition'])
        self.assertNotIn('camera', answer.headers['Content-Disposition'])
        self.get(self.path('attachments/0'), 304, **{'If-None-Match': answer.headers['ETag']})
        part = self.get(self.path('attachments/0'), 206, Range='bytes=1000-1999')
        self.assertEqual(part.body, CALIBRATION[1000:2000])
        self.assertEqual(self.get(self.path('attachments/2')).body, b'')
        self.assertNotEqual(self.get(self.path('attachments/2')).headers['ETag'], answer.headers['ETag'])

    def test_an_attachment_cannot_write_headers(self):
        answer = self.get(self.path('attachments/1'))
        self.assertEqual(answer.headers['Content-Type'], 'application/octet-stream')
        self.assertNotIn('X-Evil', answer.headers)
        self.assertTrue(answer.headers['Content-Disposition'].startswith('attachment'))
        self.assertEqual(answer.headers['X-Content-Type-Options'], 'nosniff')

    def test_no_such_attachment(self):
        for n in ('3', '-1', 'x', '0x0', '99999999999999999999'):
            self.assertProblem(self.server.get(self.path('attachments/' + n)), 404, 'attachment')

    def test_metadata(self):
        self.assertEqual(self.get(self.path('metadata')).json()['items'], [
            {'key': 'mcap.profile', 'value': 'x-test'}, {'key': 'mcap.library', 'value': 'by hand'},
            {'key': 'robot:name', 'value': 'curie'}, {'key': 'robot:room', 'value': 'b12'}])

    def test_attachments_and_metadata_go_along(self):
        body = self.get(self.path('as/again.mcap')).body
        self.assertIn(attachment('camera/calibration.bin', 'application/x-calibration', 10**18 + 1, CALIBRATION), body)
        self.assertIn(record(12, text('robot') + pairs([('name', 'curie'), ('room', 'b12')])), body)
        again = self.server.added('again.mcap', body)
        for rest in ('metadata', 'messages'):
            self.assertEqual(self.get(self.path(rest, again)).body, self.get(self.path(rest)).body)
        self.assertEqual([(a['name'], a['size']) for a in self.get(self.path('attachments', again)).json()['items']],
                         [(a['name'], a['size']) for a in self.get(self.path('attachments')).json()['items']])

    def test_compressed_conversions_have_length_and_ranges(self):
        plain = self.get(self.path('as/x.mcap')).body
        rng = random.Random(2)
        for compression in ('zstd', 'lz4'):
            path = self.path('as/x.mcap?compression=' + compression)
            head = self.server.request('HEAD', path)
            whole = self.get(path)
            self.assertEqual(int(head.headers['Content-Length']), len(whole.body))
            self.assertEqual(whole.headers['ETag'], head.headers['ETag'])
            self.assertLess(len(whole.body), len(plain))
            for _ in range(10):
                first = rng.randrange(len(whole.body))
                last = min(len(whole.body) - 1, first + rng.randrange(5000))
                self.assertEqual(self.get(path, 206, Range='bytes=%d-%d' % (first, last)).body, whole.body[first:last + 1])
            back = self.server.added(compression + '.mcap', whole.body)
            self.assertEqual(self.get(self.path('messages', back)).body, self.get(self.path('messages')).body)
            self.assertEqual(self.get(self.path('scan', back)).json()['findings'], [])

    def test_unknown_compression(self):
        self.assertProblem(self.server.get(self.path('as/x.mcap?compression=rar')), 422, 'rar', 'zstd')

    def test_a_cut_upload_keeps_what_is_whole(self):
        data = mcap()
        answer = self.server.added('cut.mcap', data[:len(data) // 8])
        r = self.get(self.path('', answer)[:-1]).json()
        self.assertTrue(r['damaged'])
        self.assertGreater(r['messages'], 50)
        findings = self.get(self.path('scan', answer)).json()['findings']
        self.assertTrue(any('without a footer' in f['text'] for f in findings), findings)


def two_publishers(messages, shift):
    """/tf by two channels that tell of it in turn, and /one by one channel; the times are in ms."""
    out = bytearray(MAGIC + record(1, text('') + text('by hand')))
    for channel, topic in ((1, '/tf'), (2, '/tf'), (3, '/one')):
        out += record(4, struct.pack('<HH', channel, 0) + text(topic) + text('json') + pairs([]))
    for channel, ms in messages:
        out += record(5, struct.pack('<HIQQ', channel, 0, 10**18 + ms * 10**6 + shift, 0) + b'{}')
    return bytes(out) + record(15, struct.pack('<I', 0)) + record(2, struct.pack('<QQI', 0, 0, 0)) + MAGIC


class Gaps(Case):
    def topics(self, name, messages):
        recording = self.server.added(name, two_publishers(messages, 0))
        return {t['name']: t for t in self.get('%s/recordings/%s/topics' % (API, recording)).json()['items']}

    def test_of_a_topic_with_two_publishers(self):
        topics = self.topics('two.mcap', [(1, 0), (2, 10), (1, 30), (3, 5), (2, 75), (1, 80), (2, 85), (3, 95)])
        self.assertEqual(topics['/tf']['max_gap'], 0.045)  # from 30 to 75; each alone has longer ones
        self.assertEqual([c['max_gap'] for c in topics['/tf']['channels']], [0.05, 0.065])
        self.assertEqual(topics['/one']['max_gap'], 0.09)
        self.assertFalse([t for t in topics.values() if 'max_gap_note' in t])

    def test_one_after_the_other(self):
        topics = self.topics('after.mcap', [(1, 0), (1, 10), (2, 200), (2, 210)])
        self.assertEqual(topics['/tf']['max_gap'], 0.19)

    def test_too_many_to_be_gone_through(self):
        topics = self.topics('many.mcap', [(1 + i % 2, i) for i in range(1_000_002)])
        self.assertIsNone(topics['/tf']['max_gap'])
        self.assertIn('too many', topics['/tf']['max_gap_note'])
        self.assertEqual([c['max_gap'] for c in topics['/tf']['channels']], [0.002, 0.002])
