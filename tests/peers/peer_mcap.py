"""Our MCAP files and npm's @mcap/core: streamed and indexed, every CRC checked (mcap_check.mjs)."""
import fcntl
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import reel
from matrix_readers import McapNode
from real_samples import SAMPLES, needs_samples
from samples import Message, bag, by_topic, lab_messages, nanover, nanover_messages, read_bag, read_nanover

HERE = os.path.dirname(os.path.abspath(__file__))
INSTALLED = os.path.join(HERE, 'node_modules', '.package-lock.json')


def prepare():
    """Installs the readers of npm where they are not, one process for all; returns why they cannot be."""
    with open(os.path.join(HERE, 'package.json')) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return install()


def install():
    if not shutil.which('node') or not shutil.which('npm'):
        return 'node and npm are not installed'
    if os.path.exists(INSTALLED) and os.path.getmtime(INSTALLED) >= os.path.getmtime(os.path.join(HERE, 'package-lock.json')):
        return None
    try:
        done = subprocess.run(['npm', 'ci', '--no-audit', '--no-fund', '--ignore-scripts'], cwd=HERE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=240)
    except subprocess.TimeoutExpired:
        return 'npm ci took too long'
    return None if done.returncode == 0 else 'npm ci failed: ' + done.stdout.decode(errors='replace')[-300:]


def nanover_topics(data):
    """As MCAP channels: a message of several types is one message, under all of its types together."""
    return by_topic([Message(e['metadata']['timestamp'] * 1000, '+'.join(e['metadata']['types']) or '(none)', piece) for e, piece in read_nanover(data)])


class Mcap(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        problem = prepare()
        if problem:
            raise unittest.SkipTest(problem)
        cls.node = McapNode()
        cls.addClassCleanup(cls.node.close)
        cls.folder = tempfile.mkdtemp(prefix='reel-peers-')

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def seen(self, path):
        return self.node.read(path)

    def check(self, name, data, want, profile, *args):
        before, after = os.path.join(self.folder, name), os.path.join(self.folder, name + '.mcap')
        with open(before, 'wb') as f:
            f.write(data)
        reel('convert', before, after, *args)
        seen = self.seen(after)
        self.assertEqual((seen['profile'], seen['chunks_without_crc']), (profile, 0))
        got = {t: {'count': v['count'], 'bytes': v['bytes'], 'first_ns': int(v['first'] or 0), 'last_ns': int(v['last'] or 0), 'sha': v['sha256']}
               for t, v in seen['topics'].items() if v['count'] > 0}
        self.assertEqual(got, want)
        return seen

    def test_bag(self):
        messages = lab_messages(5, blob=40_000)
        seen = self.check('lab.bag', bag(messages), by_topic(messages), 'ros1')
        self.assertGreater(seen['chunks'], 1)
        self.assertEqual({(t['message_encoding'], t['schema_encoding']) for t in seen['topics'].values()}, {('ros1', 'ros1msg')})

    def test_bag_out_of_order_and_unindexed(self):
        messages = lab_messages(3)
        for i, m in enumerate(messages):
            m.time -= 170_000_000 if i % 7 == 3 else 0
        self.check('disorder.bag', bag(messages, indexed=False), by_topic(messages), 'ros1')

    def test_nanover(self):
        data = nanover(nanover_messages(100, atoms=500))
        self.check('sim.nanover.zip', data, nanover_topics(data), '')

    def test_cut(self):
        messages = lab_messages(5)
        first, end = messages[0].time + 10**9, messages[0].time + 3 * 10**9
        self.check('cut.bag', bag(messages), by_topic([m for m in messages if first <= m.time < end]), 'ros1', '--start', '+1s', '--end', '+3s')

    def test_compressed(self):
        messages = lab_messages(5, blob=2_000)
        for codec in ('zstd', 'lz4'):
            with self.subTest(codec):
                self.check('lab.%s.bag' % codec, bag(messages), by_topic(messages), 'ros1', '--compression', codec)

    @needs_samples(5)
    def test_samples(self):
        for folder, name in (('rosbag1', 'ccny_gpsd_v1.2.bag'), ('rosbag1', 'ccny_ortho_scan_v1.2.bag'), ('nanover', 'sim-switching.nanover.zip'),
                             ('nanover', 'kitchen-sink.nanover.zip'), ('nanover', 'empty.nanover.zip')):
            with self.subTest(name):
                with open(os.path.join(SAMPLES, folder, name), 'rb') as f:
                    data = f.read()
                want = by_topic(read_bag(data)) if folder == 'rosbag1' else nanover_topics(data)
                self.check(name, data, want, 'ros1' if folder == 'rosbag1' else '')

    @needs_samples(4)
    def test_mcap_to_mcap(self):
        """Others' files through us are the same to their own reader."""
        self.check_copies(os.path.join(SAMPLES, name) for name in (
            'mcap/demo_json_zstd.mcap', 'mcap/demo_json_lz4.mcap', 'rosbag2/cdr_test_mcap/cdr_test_0.mcap', 'mcap/conformance-OneMetadata/OneMetadata-mdx-st-sum.mcap'))

    def test_made_mcap_to_mcap(self):
        source = os.path.join(self.folder, 'source.bag')
        with open(source, 'wb') as f:
            f.write(bag(lab_messages(5)))
        files = [os.path.join(self.folder, 'source.%s.mcap' % codec) for codec in ('none', 'zstd', 'lz4')]
        for path in files:
            reel('convert', source, path, '--compression', path.split('.')[-2])
        self.check_copies(files)

    def check_copies(self, files):
        for before in files:
            name, want = before, self.seen(before)
            for codec in ('', 'zstd', 'lz4'):
                with self.subTest(name=name, codec=codec):
                    after = os.path.join(self.folder, 'again.mcap')
                    reel('convert', before, after, '--force', *(['--compression', codec] if codec else []))
                    got = self.seen(after)
                    for member in ('topics', 'profile', 'attachments'):
                        self.assertEqual(got[member], want[member])
                    self.assertEqual(*([m for m in seen['metadata'] if m['name'] != 'reel'] for seen in (got, want)))
