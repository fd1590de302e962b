"""Parquet and Arrow as virtual files: length and tag before the first byte, any range is that slice of the whole, topics and recordings as columns. What the
values are is checked by the readers of tests/peers."""
import os
import random
import struct
import tempfile

from harness import API, Case, Server, reel
from samples import bag, lab_messages, nanover, nanover_messages

LAB = lab_messages(20, blob=3000)
PARQUET, ARROW = 'application/vnd.apache.parquet', 'application/vnd.apache.arrow.stream'

def footer(data):
    """The bytes of the footer."""
    size, = struct.unpack('<I', data[-8:-4])
    return data[-8 - size:-8]


class Parquet(Case):
    @classmethod
    def fill(cls):
        cls.lab = cls.server.added('lab.bag', bag(LAB))
        cls.other = cls.server.added('other.bag', bag(lab_messages(5, salt=1)))
        cls.sim = cls.server.added('sim.nanover.zip', nanover(nanover_messages(50)))

    def at(self, recording, name, query=''):
        return '%s/recordings/%s/as/%s?%s' % (API, recording, name, query)

    def test_length_tag_and_ranges(self):
        pick = random.Random(1)
        for name, query in (('odom.parquet', 'topic=/odom'), ('camera.parquet', 'topic=/camera&compression=none'),
                            ('camera.parquet', 'topic=/camera&compression=lz4_raw'), ('odom.arrows', 'topic=/odom')):
            with self.subTest(name, query=query):
                path = self.at(self.lab, name, query)
                head, whole = self.server.request('HEAD', path), self.get(path)
                self.assertEqual(int(head.headers['Content-Length']), len(whole.body))
                self.assertEqual(head.headers['ETag'], whole.headers['ETag'])
                self.assertEqual(whole.headers['Content-Type'], PARQUET if name.endswith('.parquet') else ARROW)
                self.assertNotIn('Content-Encoding', whole.headers)
                for _ in range(20):
                    start = pick.randrange(len(whole.body))
                    end = min(len(whole.body), start + pick.randrange(1, 5000))
                    part = self.get(path, 206, Range='bytes=%d-%d' % (start, end - 1))
                    self.assertEqual(part.body, whole.body[start:end])
                    self.assertEqual(part.headers['ETag'], whole.headers['ETag'])
                tail = self.get(path, 206, Range='bytes=-100')
                self.assertEqual(tail.body, whole.body[-100:])

    def test_the_frame_of_a_file(self):
        data = self.get(self.at(self.lab, 'odom.parquet', 'topic=/odom')).body
        self.assertEqual((data[:4], data[-4:]), (b'PAR1', b'PAR1'))
        self.assertIn(b'log_time', footer(data))
        self.assertNotIn(b'recording', footer(data))
        data = self.get(self.at(self.lab, 'odom.arrows', 'topic=/odom')).body
        self.assertEqual((data[:4], data[-8:]), (b'\xff' * 4, b'\xff' * 4 + bytes(4)))

    def test_the_tag_depends_on_what_the_bytes_do(self):
        paths = [self.at(self.lab, 'x.parquet', q) for q in ('topic=/odom', 'topic=/odom&compression=none', 'topic=/odom&decode=none', 'topic=/camera')]
        paths += ['%s/merge/as/x.parquet?topic=/odom&recording=%s&recording=%s' % ((API,) + ids) for ids in ((self.lab, self.other), (self.other, self.lab))]
        tags = [self.server.request('HEAD', path).headers['ETag'] for path in paths]
        self.assertEqual(len(set(tags)), len(paths))
        self.assertEqual(tags, [self.server.request('HEAD', path).headers['ETag'] for path in paths])
        self.get(paths[0], 304, **{'If-None-Match': tags[0]})

    def test_equal_on_another_server(self):
        """The same recording makes the same bytes."""
        other = Server()
        self.addCleanup(other.stop)
        path = self.at(other.added('lab.bag', bag(LAB)), 'odom.parquet', 'topic=/odom')
        mine, theirs = self.get(self.at(self.lab, 'odom.parquet', 'topic=/odom')), other.get(path)
        self.assertEqual((mine.body, mine.headers['ETag']), (theirs.body, theirs.headers['ETag']))

    def test_topics_and_recordings_are_columns(self):
        merged = self.get('%s/merge/as/x.parquet?topic=/odom&recording=%s&recording=%s' % (API, self.lab, self.other)).body
        for column in (b'recording', b'topic', self.lab.encode(), self.other.encode()):
            self.assertIn(column, merged)

    def test_one_type_of_message(self):
        self.assertProblem(self.get(self.at(self.lab, 'x.parquet'), 422), 422, 'topics of one type', '/odom')
        answer = self.get(self.at(self.lab, 'x.parquet', 'report')).json()
        self.assertFalse(answer['accepted'])

    def test_errors(self):
        self.assertProblem(self.get(self.at(self.lab, 'x.parquet', 'topic=/odom&compression=snappy'), 422), 422, 'zstd, lz4_raw or none')
        self.assertProblem(self.get(self.at(self.lab, 'x.arrows', 'topic=/odom&compression=zstd'), 422), 422, 'not written with compression')

    def test_no_messages(self):
        answer = self.get(self.at(self.lab, 'x.parquet', 'topic=/nothing'))
        self.assertEqual(answer.headers['X-Matched'], '0')
        self.assertEqual((answer.body[:4], answer.body[-4:]), (b'PAR1', b'PAR1'))

    def test_output_of_lists_and_reports(self):
        for path in ('/recordings', '/recordings/%s/topics' % self.lab, '/recordings/%s/nanover/resets' % self.sim, '/series?field=/odom.x'):
            for output, kind, magic in (('parquet', PARQUET, b'PAR1'), ('arrows', ARROW, b'\xff' * 4)):
                with self.subTest(path, output=output):
                    path_of = '%s%s%soutput=%s' % (API, path, '&' if '?' in path else '?', output)
                    answer = self.get(path_of)
                    self.assertEqual((answer.headers['Content-Type'], answer.body[:4]), (kind, magic))
                    self.assertEqual(answer.body, self.get('%s%s' % (API, path), Accept=kind).body)

    def test_messages(self):
        """/messages as a table is the export, byte for byte, with its length and ranges."""
        for output, ending in ('parquet', 'parquet'), ('arrows', 'arrows'):
            path = '%s/recordings/%s/messages?topic=/odom&start=+0.2s&output=%s' % (API, self.lab, output)
            answer = self.get(path)
            self.assertEqual(answer.body, self.get(self.at(self.lab, 'messages.' + ending, 'topic=/odom&start=+0.2s')).body)
            self.assertEqual(answer.body, self.get(path.rsplit('&', 1)[0], Accept=PARQUET if output == 'parquet' else ARROW).body)
            self.assertEqual(self.get(path, 206, Range='bytes=10-99').body, answer.body[10:100])
            self.assertProblem(self.get(path + '&limit=5', 400), 400, 'limit')

    def test_reports_of_commands(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, 'sim.nanover.zip')
            with open(file, 'wb') as f:
                f.write(nanover(nanover_messages()))
            for output in 'parquet', 'arrows':
                report = '%s/recordings/%s/nanover/resets?output=%s' % (API, self.server.added('sim2.nanover.zip', nanover(nanover_messages())), output)
                self.assertEqual(reel('nanover', 'resets', file, '--output', output).stdout, self.get(report).body)

    def test_targets_are_listed(self):
        targets = {t['name']: t for t in self.get(API).json()['targets']}
        self.assertEqual(targets['parquet']['compressions'], ['zstd', 'lz4_raw', 'none'])
        self.assertTrue(targets['parquet']['ranges'] and targets['arrow']['ranges'])
