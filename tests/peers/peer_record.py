"""What `reel record` has written, in independent readers: closed, and after kill -9. python3-rosbag for bags, npm's @mcap/core for MCAP."""
import base64
import json
import os
import struct
import subprocess
import tempfile
import time
import unittest

import msgpack

from harness import REEL, eventually
from matrix_readers import MIRA, TIDE, McapNode, mira_messages, nanover_zip, tide_messages
from peer_mcap import prepare

COUNT = 700
T0 = 1700000000 * 10**9


def rows():
    yield {'$channel': {'topic': '/words', 'type': 'std_msgs/String', 'encoding': 'ros1', 'schema': 'string data\n'}}
    for i in range(COUNT):
        text = b'word %d' % i
        yield {'topic': '/words', 'log_time': T0 + i * 1000000, 'data': {'$base64': base64.b64encode(struct.pack('<I', len(text)) + text).decode()}}


class Recorded(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def record(self, name, kill, rows=rows):
        path = os.path.join(self.folder, name)
        process = subprocess.Popen([REEL, 'record', path], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.stdin.write(''.join(json.dumps(r) + '\n' for r in rows()).encode())
        process.stdin.flush()
        if kill:
            self.assertTrue(eventually(lambda: os.path.exists(path) and os.path.getsize(path) > COUNT * 20))
            time.sleep(0.2)
            process.kill()
        process.communicate()
        return path

    def rosbag(self):
        try:
            import rosbag
        except ImportError as e:
            self.skipTest(str(e))
        return rosbag

    def expect(self, opened):
        read = [(stamp.to_nsec(), topic, m.data) for topic, m, stamp in opened.read_messages()]
        self.assertEqual(read, [(T0 + i * 1000000, '/words', 'word %d' % i) for i in range(COUNT)])

    def test_a_bag(self):
        rosbag = self.rosbag()
        with rosbag.Bag(self.record('a.bag', kill=False)) as opened:
            self.assertEqual((opened.version, opened.get_message_count()), (200, COUNT))
            self.expect(opened)

    def test_a_bag_that_was_never_closed(self):
        rosbag = self.rosbag()
        path = self.record('a.bag', kill=True)
        with self.assertRaises(rosbag.bag.ROSBagUnindexedException):
            rosbag.Bag(path)
        with rosbag.Bag(path, 'a', allow_unindexed=True) as opened:
            for _ in opened.reindex():
                pass
        with rosbag.Bag(path) as opened:
            self.expect(opened)

    def test_mcap(self):
        why = prepare()
        if why:
            self.skipTest(why)
        reader = McapNode()
        self.addCleanup(reader.close)
        words, = reader.topics(self.record('a.mcap', kill=False)).items()
        self.assertEqual((words[0], words[1]['count'], words[1]['first_ns']), ('/words', COUNT, T0))

    def test_tide(self):
        if not TIDE:
            self.skipTest('the readers of ../shared are not there')
        for kill in (False, True):  # its writer syncs what was passed on, so nothing is lost
            with open(self.record('a%d.tide' % kill, kill=kill), 'rb') as f:
                seen, messages = tide_messages(f.read())
            self.assertEqual((seen['index_bad'], seen['index_ok'], len(messages)), (0, COUNT, COUNT))
            self.assertEqual({(m.topic, m.time) for m in messages}, {('/words', T0 + i * 1000000) for i in range(COUNT)})

    def test_nanover(self):
        """Closed: an archive, for Python's zipfile. Killed: MCAP with everything in it, which can be converted to an archive."""
        def states():
            yield {'$channel': {'topic': 'state', 'type': 'nanover/state', 'encoding': 'nanover'}}
            for i in range(COUNT):
                yield {'topic': 'state', 'log_time': i * 1000000, 'data': {'$base64': base64.b64encode(msgpack.packb({'state': {'updates': {'n': i}, 'removals': []}})).decode()}}
        paths = [self.record('a%d.nanover.zip' % kill, kill=kill, rows=states) for kill in (False, True)]
        with open(paths[1], 'rb') as f:
            self.assertEqual(b'\x89MCAP0\r\n', f.read(8))
        paths[1] += '.nanover.zip'
        subprocess.run([REEL, 'convert', paths[1][:-12], paths[1]], check=True, stderr=subprocess.DEVNULL)
        for path in paths:
            topics = nanover_zip(path)
            self.assertEqual(['state'], list(topics))
            self.assertEqual((COUNT, 0, (COUNT - 1) * 1000000), tuple(topics['state'][k] for k in ('count', 'first_ns', 'last_ns')))

    def test_mira(self):
        if not MIRA:
            self.skipTest('the readers of ../shared are not there')
        for kill in (False, True):
            with open(self.record('a%d.tape' % kill, kill=kill), 'rb') as f:
                seen, messages = mira_messages(f.read())
            self.assertEqual([('/words', T0 + i * 1000000) for i in range(COUNT)], [(m.topic, m.time) for m in messages])
            self.assertEqual(b'word %d' % (COUNT - 1), messages[-1].payload[4:])
