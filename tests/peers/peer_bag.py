"""Our ROS bags of version 1.2 in independent readers: librosbag_storage, and python3-rosbag with its `rosbag info`."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import reel
from real_samples import SAMPLES
from samples import bag, by_topic, lab_messages, read_bag

BAG_READ = os.path.join(os.environ['REEL_BIN'], 'bag_read')
BAGS = os.path.join(SAMPLES, 'rosbag1')
REAL = ('ccny_gpsd_v1.2.bag', 'ccny_ortho_scan_v1.2.bag', 'unindexed_noheader.bag', 'crashed_index_pos_0.bag', 'first_pos_is_message.bag', 'latched.bag')


class Bags(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='reel-peers-')
        sources = {'lab': bag(lab_messages(5, blob=40_000)), 'unindexed': bag(lab_messages(3), indexed=False)}
        disorder = lab_messages(3)
        for i, m in enumerate(disorder):
            m.time -= 170_000_000 if i % 7 == 3 and m.topic == '/odom' else 0
        sources['disorder'] = bag(disorder)
        for name in REAL:
            if os.path.exists(os.path.join(BAGS, name)):
                with open(os.path.join(BAGS, name), 'rb') as f:
                    sources[name[:-4]] = f.read()
        cls.cases = {}
        for name, data in sources.items():
            before, after = os.path.join(cls.folder, name + '.bag'), os.path.join(cls.folder, name + '.out.bag')
            with open(before, 'wb') as f:
                f.write(data)
            reel('convert', before, after, '--version', '1.2')
            cls.cases[name] = (after, {t: v for t, v in by_topic(read_bag(data)).items()})

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @unittest.skipUnless(os.path.exists(BAG_READ), 'librosbag_storage is not installed')
    def test_librosbag_storage(self):
        for name, (path, want) in self.cases.items():
            with self.subTest(name):
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
        for name, (path, want) in self.cases.items():
            with self.subTest(name):
                with rosbag.Bag(path) as opened:
                    self.assertEqual(opened.version, 102)
                    self.assertEqual(opened.get_message_count(), sum(t['count'] for t in want.values()))
                    self.assertEqual(set(opened.get_type_and_topic_info().topics), set(want))
                    # the public read_messages() of this version cannot read any indexed 1.2 bag; the reader below it can
                    read = [len(raw[1]) for _, raw, _ in opened._reader.read_messages(None, None, None, None, True)]
                    self.assertEqual((len(read), sum(read)), (sum(t['count'] for t in want.values()), sum(t['bytes'] for t in want.values())))

    def test_rosbag_info(self):
        if not os.path.exists('/usr/bin/rosbag'):
            self.skipTest('python3-rosbag is not installed')
        for name, (path, want) in self.cases.items():
            with self.subTest(name):
                done = subprocess.run(['/usr/bin/rosbag', 'info', '--yaml', path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(b'messages: %d\n' % sum(t['count'] for t in want.values()), done.stdout)
                self.assertNotIn(b'reindex', done.stdout + done.stderr)
