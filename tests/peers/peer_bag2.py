"""Our ROS bags of version 2.0, in every compression, in independent readers: librosbag_storage and python3-rosbag. Messages of other encodings in their wrapper too."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import API, Server, payload, reel, time_ns
from real_samples import SAMPLES
from samples import Message, bag, by_topic, lab_messages, nanover, nanover_messages, read_nanover

BAG_READ = os.path.join(os.environ['REEL_BIN'], 'bag_read')
BAGS = os.path.join(SAMPLES, 'rosbag2.0')
COMPRESSIONS = ('none', 'bz2', 'lz4')
WRAPPER = 'std_msgs/UInt8MultiArray'


def wrapped(data):
    return bytes(8) + len(data).to_bytes(4, 'little') + data


def nanover_messages_of(data):
    """As channels: a message of several types is one message, under all of its types together."""
    return [Message(e['metadata']['timestamp'] * 1000, '+'.join(e['metadata']['types']) or '(none)', piece) for e, piece in read_nanover(data)]


def truth_topics():
    """Of the real samples: name, file, topics."""
    if not os.path.isdir(BAGS):
        return
    with open(os.path.join(BAGS, 'truth.json')) as f:
        for name, truth in json.load(f).items():
            with open(os.path.join(BAGS, name), 'rb') as sample:
                yield name, sample.read(), {t: {'count': v['count'], 'bytes': v['bytes'], 'first_ns': v['first_ns'], 'last_ns': v['last_ns'],
                                                'sha': v['payload_sha256_time_order']} for t, v in truth['topics'].items()}


class Bags20(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='reel-peers-')
        cls.server = Server()
        lab, mol = bag(lab_messages(5, blob=40_000)), nanover(nanover_messages())
        cls.foreign = nanover_messages_of(mol)
        sources = [('lab.bag', lab, by_topic(lab_messages(5, blob=40_000))),
                   ('mol.nanover.zip', mol, by_topic([Message(m.time, m.topic, wrapped(m.payload)) for m in cls.foreign]))]
        cls.cases = {}
        for name, data, topics in sources + list(truth_topics()):
            number = cls.server.added(name, data)
            for compression in COMPRESSIONS:
                answer = cls.server.get('%s/recordings/%s/as/x.bag?compression=%s' % (API, number, compression), Prefer='wait=60')
                path = os.path.join(cls.folder, '%s.%s.bag' % (name, compression))
                with open(path, 'wb') as f:
                    f.write(answer.body if answer.status == 200 else b'')
                cls.cases[name, compression] = (path, topics)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        shutil.rmtree(cls.folder)

    @unittest.skipUnless(os.path.exists(BAG_READ), 'librosbag_storage is not installed')
    def test_librosbag_storage(self):
        for case, (path, want) in self.cases.items():
            with self.subTest(case):
                done = subprocess.run([BAG_READ, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 0, done.stderr)
                got = json.loads(done.stdout)
                self.assertEqual({t: {'count': v['count'], 'bytes': v['bytes'], 'first_ns': v['first_ns'], 'last_ns': v['last_ns'], 'sha': v['sha256']} for t, v in got.items()}, want)
                self.assertTrue(all(v['type'] and len(v['md5']) == 32 for v in got.values()))

    def test_rosbag_python(self):
        try:
            import rosbag
        except ImportError as e:
            self.skipTest(str(e))
        for (name, compression), (path, want) in self.cases.items():
            with self.subTest((name, compression)):
                with rosbag.Bag(path) as opened:
                    self.assertEqual(opened.version, 200)
                    self.assertEqual(opened.get_message_count(), sum(t['count'] for t in want.values()))
                    if want:
                        self.assertEqual(opened.get_compression_info().compression, compression)
                    read = [Message(stamp.to_nsec(), topic, raw[1]) for topic, raw, stamp in opened.read_messages(raw=True)]
                    self.assertEqual(by_topic(read), want)

    def test_any_ros_tool_decodes_the_wrapper(self):
        try:
            import rosbag
        except ImportError as e:
            self.skipTest(str(e))
        for compression in COMPRESSIONS:
            with self.subTest(compression), rosbag.Bag(self.cases['mol.nanover.zip', compression][0]) as opened:
                self.assertEqual({i.msg_type for i in opened.get_type_and_topic_info().topics.values()}, {WRAPPER})
                read = [Message(stamp.to_nsec(), topic, m.data) for topic, m, stamp in opened.read_messages()]
                self.assertEqual(by_topic(read), by_topic(self.foreign))
                for _, raw, _ in opened.read_messages(raw=True):  # genpy worked the sum out from our definition
                    self.assertEqual((raw[0], raw[2], raw[4]._md5sum), (WRAPPER, raw[4]._md5sum, '82373f1612381bb6ee473b5cd6f5d89c'))

    def test_foreign_messages_come_back(self):
        ways = [self.cases['mol.nanover.zip', compression][0] for compression in COMPRESSIONS]
        ways.append(os.path.join(self.folder, 'mol.1.2.bag'))
        source = os.path.join(self.folder, 'mol.nanover.zip')
        with open(source, 'wb') as f:
            f.write(nanover(nanover_messages()))
        reel('convert', source, ways[-1], '--version', '1.2')
        want = json.loads(reel('info', source, '--json').stdout)
        for path in ways:
            with self.subTest(os.path.basename(path)):
                info = json.loads(reel('info', path, '--json').stdout)
                self.assertEqual((info['messages'], info['payload_bytes'], info['findings']), (want['messages'], want['payload_bytes'], 0))
                self.assertEqual({t['name']: (t['type'], t['encoding'], t['messages']) for t in info['topics']},
                                 {t['name']: (t['type'], t['encoding'], t['messages']) for t in want['topics']})
                rows = {}
                for line in reel('cat', path, '--no-decode').stdout.splitlines():
                    row = json.loads(line)
                    rows.setdefault(time_ns(row['log_time']), []).append(payload(row))
                self.assertEqual({t: sorted(p) for t, p in rows.items()},
                                 {t: sorted(m.payload for m in self.foreign if m.time == t) for t in {m.time for m in self.foreign}})
