"""ROS 2 bags whose data file is a database (storage=sqlite3), read by SQLite: every message, the index of times, sizes at which pages and levels of
pages begin; any range of the bytes; read back by Reel."""
import io
import os
import random
import sqlite3
import struct
import tempfile
import zipfile

from harness import API, Case
from samples import T0, Message, bag, read_mcap

INDEX = 228     # messages of a leaf of the index and the one after it
CHILDREN = 273  # leaves below an inner page of the messages
LEAF = 4000     # bytes of a message that has a leaf to itself


def text(i, size):
    """A std_msgs/String of ROS 1 with about that many bytes."""
    data = bytes(65 + (i + k) % 26 for k in range(min(size, 50))).ljust(size, b'-')
    return Message(T0 + i * 1000, '/text%d' % (i % 3), struct.pack('<I', size) + data, 'std_msgs/String')


def recordings():
    """Sizes of the messages of each."""
    yield 'none', []
    for n in 1, INDEX - 1, INDEX, INDEX + 1, 2 * INDEX, 2 * INDEX + 1:
        yield 'index-%d' % n, [4] * n
    for n in CHILDREN - 1, CHILDREN, CHILDREN + 1, 2 * CHILDREN + 1:
        yield 'leaves-%d' % n, [LEAF] * n
    yield 'index-levels', [8] * (INDEX * 186)
    yield 'sizes', [*range(4020, 4060), *range(8120, 8150), 100_000, 3_000_000, 0, 20]


class Databases(Case):
    def path(self, recording, rest):
        return '%s/recordings/%s/as/%s' % (API, recording, rest)

    def open(self, body):
        archive = zipfile.ZipFile(io.BytesIO(body))
        self.assertIsNone(archive.testzip())
        self.assertEqual(archive.namelist(), ['x/x_0.db3', 'x/metadata.yaml'])
        self.assertIn(b'storage_identifier: "sqlite3"', archive.read('x/metadata.yaml'))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = archive.extract('x/x_0.db3', folder.name)
        base = sqlite3.connect(file)
        self.addCleanup(base.close)
        self.assertEqual(base.execute('PRAGMA integrity_check').fetchall(), [('ok',)])
        self.assertEqual(base.execute('PRAGMA page_count').fetchone()[0] * 4096, os.path.getsize(file))
        return base

    def check(self, name, sizes):
        one = self.server.added(name + '.bag', bag([text(i, size) for i, size in enumerate(sizes)]))
        path = self.path(one, 'x.rosbag2.zip?storage=sqlite3')
        answer = self.get(path)
        base = self.open(answer.body)
        expected = [(m.time, m.topic, m.payload) for m in read_mcap(self.get(self.path(one, 'x.mcap?ros=2')).body)[2]]
        by_id = 'SELECT timestamp, name, data FROM messages JOIN topics ON topics.id = topic_id ORDER BY messages.id'
        self.assertEqual(base.execute(by_id).fetchall(), expected, name)
        self.assertIn('INDEX timestamp_idx', str(base.execute('EXPLAIN QUERY PLAN SELECT * FROM messages ORDER BY timestamp').fetchall()))
        self.assertEqual(base.execute('SELECT timestamp FROM messages ORDER BY timestamp').fetchall(), [(t,) for t, _, _ in expected])
        for time, _, data in expected[::max(1, len(expected) // 50)]:
            self.assertEqual(base.execute('SELECT data FROM messages WHERE timestamp = ?', (time,)).fetchall(), [(data,)])
        some = random.Random(name)
        for _ in range(12):
            start = some.randrange(len(answer.body))
            end = min(len(answer.body), start + some.choice((1, 5000, 300_000))) - 1
            self.assertEqual(self.get(path, status=206, Range='bytes=%d-%d' % (start, end)).body, answer.body[start:end + 1], (name, start, end))
        return answer.body, expected

    def test_sizes(self):
        for name, sizes in recordings():
            with self.subTest(name):
                self.check(name, sizes)

    def test_topics(self):
        one = self.server.added('topics.bag', bag([Message(T0 + i, '/topic/%d' % i, struct.pack('<I', 0), 'std_msgs/String') for i in range(600)]))
        base = self.open(self.get(self.path(one, 'x.rosbag2.zip?storage=sqlite3')).body)
        topics = base.execute('SELECT name, type, serialization_format, offered_qos_profiles, type_description_hash FROM topics').fetchall()
        self.assertEqual({(name, kind, coded) for name, kind, coded, _, _ in topics}, {('/topic/%d' % i, 'std_msgs/msg/String', 'cdr') for i in range(600)})
        self.assertEqual({(qos[:10], kind[:7]) for *_, qos, kind in topics}, {('- history:', 'RIHS01_')})
        self.assertEqual(base.execute('SELECT topic_type, encoding FROM message_definitions').fetchall(), [('std_msgs/msg/String', 'ros2msg')])
        self.assertEqual(base.execute('SELECT schema_version FROM schema').fetchall(), [(4,)])

    def test_read_back(self):
        body, expected = self.check('back', [100] * 500 + [9000, 70_000])
        again = self.server.added('again.rosbag2.zip', body)
        self.assertEqual(self.get('%s/recordings/%s' % (API, again)).json()['format'], 'rosbag2')
        self.assertEqual([(m.time, m.topic, m.payload) for m in read_mcap(self.get(self.path(again, 'x.mcap')).body)[2]], expected)

    def test_storage(self):
        one = self.server.added('one.bag', bag([text(0, 5)]))
        self.assertIn(b'storage_identifier: "mcap"', self.get(self.path(one, 'x.rosbag2.zip?storage=mcap')).body)
        self.assertProblem(self.server.request('GET', self.path(one, 'x.rosbag2.zip?storage=leveldb')), 400, 'storage')
        self.assertProblem(self.server.request('GET', self.path(one, 'x.mcap?storage=sqlite3')), 406, 'sqlite3')
