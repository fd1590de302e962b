"""ROS 1 as ROS 2 and back, read by Foxglove's decoders: every value of every message of the sample bags, and the definitions of all standard messages."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import reel
from peer_mcap import HERE, prepare
from peer_ros1_values import BAGS, same
from real_samples import SAMPLES, needs_samples

LEVELS = {1: 10, 2: 20, 4: 30, 8: 40, 16: 50}
ADDED = {'variance', 'polygon', 'texture_resource', 'texture', 'uv_coordinates', 'mesh_file'}  # fields that only ROS 2 has


def expected(value):
    """A value of ROS 1 as Foxglove's decoder of ROS 2 has it, but for fields that ROS 2 adds."""
    if isinstance(value, list):
        return [expected(v) for v in value]
    if not isinstance(value, dict) or '$base64' in value:
        return value
    if set(value) == {'data'} and isinstance(value['data'], dict) and 'nsec' in value['data']:
        return expected(value['data'])
    if set(value) == {'sec', 'nsec'}:
        return {'sec': value['sec'], 'nanosec': value['nsec']}
    out = {k.lower(): expected(v) for k, v in value.items() if not (k == 'seq' and 'frame_id' in value)}
    if {'level', 'function', 'topics', 'header'} <= set(out):
        stamp = out.pop('header')['stamp']
        out = {'stamp': stamp, **out, 'level': LEVELS[out['level']]}
        del out['topics']
    return out


def numbers(value):
    """Bytes as numbers; some have a sign in ROS 1."""
    return list(base64.b64decode(value['$base64'])) if isinstance(value, dict) and '$base64' in value else value


def alike(ros2, ros1, empty):
    """Equal but for the added fields, which are empty where ROS 1 was first."""
    if ros2 != numbers(ros2):
        return numbers(ros2) == [v & 255 for v in numbers(ros1)]
    if isinstance(ros2, list):
        return isinstance(ros1, list) and len(ros1) == len(ros2) and all(alike(a, b, empty) for a, b in zip(ros2, ros1))
    if not isinstance(ros2, dict):
        return same(ros2, ros1)
    added = [k for k in ros2 if k not in ros1]
    return [k for k in ros2 if k in ros1] == list(ros1) and ADDED.issuperset(added) and all(alike(ros2[k], ros1[k], empty) for k in ros1) and (
        not empty or all(nothing(ros2[k]) for k in added))


def nothing(value):
    value = numbers(value)
    return all(nothing(v) for v in value.values()) if isinstance(value, dict) else not value


def values(path):
    done = subprocess.run(['node', os.path.join(HERE, 'mcap_values.mjs'), path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


class RosConvert(unittest.TestCase):
    def setUp(self):
        missing = prepare()
        if missing:
            self.skipTest(missing)
        self.folder = tempfile.mkdtemp(prefix='reel-peers-')
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def convert(self, source, name, *args):
        reel('convert', source, self.path(name), '--force', *args)
        return self.path(name)

    def compare(self, ros1, ros2, empty=True):
        first, second = values(ros1), values(ros2)
        self.assertEqual([topic for topic, _ in first], [topic for topic, _ in second])
        for i, ((topic, one), (_, two)) in enumerate(zip(first, second)):
            self.assertTrue(alike(two, expected(one), empty), '%s %d: %r is not %r' % (topic, i, two, one))
        return len(first)

    @needs_samples(len(BAGS))
    def test_samples(self):
        count = 0
        for name in BAGS if os.environ.get('REEL_TESTS_LONG') else [n for n in BAGS if 'lz4' not in n and 'unsorted' not in n]:
            source = os.path.join(SAMPLES, name)
            with self.subTest(name):
                count += self.compare(self.convert(source, 'plain.mcap'), self.convert(source, 'ros2.mcap', '--ros', '2'))
        self.assertGreater(count, 9000)

    @needs_samples(2)
    def test_recordings_of_ros2(self):
        for name in 'cdr_test_mcap', 'topics_and_services':
            archive = shutil.make_archive(self.path(name), 'zip', os.path.join(SAMPLES, 'rosbag2'), name)
            select = ('--topic', '/*topic*')  # their parser reads no services
            with self.subTest(name):
                count = self.compare(self.convert(archive, 'ros1.mcap', '--ros', '1', *select), self.convert(archive, 'plain.mcap', *select))
                self.assertGreater(count, 1)

    def check(self, path, dialect):
        done = subprocess.run(['node', os.path.join(HERE, 'ros_standard_check.mjs'), path, dialect], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        *lines, (_, channels) = [json.loads(line) for line in done.stdout.splitlines()]
        return lines, channels

    def test_standard_messages(self):
        ros1, ros2 = self.path('ros1.mcap'), self.path('ros2.mcap')
        done = subprocess.run(['node', os.path.join(HERE, 'ros_standard_make.mjs'), ros1, ros2], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        forth = self.convert(ros1, 'forth.mcap', '--ros', '2')
        lines, channels = self.check(forth, '2')
        self.assertGreater(channels, 100)
        own = {'/rosgraph_msgs/TopicStatistics', '/velodyne_msgs/VelodyneScan', '/velodyne_msgs/VelodynePacket'}  # ROS 2 has none of these
        self.assertEqual([line for line in lines if line[0] not in own], [])
        self.compare(ros1, forth)
        # back: by the definitions that were kept, and by the rules alone
        lines, _ = self.check(self.convert(forth, 'back.mcap', '--ros', '1'), '1')
        self.assertEqual(lines, [])
        lines, channels = self.check(self.convert(ros2, 'ruled.mcap', '--ros', '1'), '1')
        shared = [line for line in lines if len(line) > 2]
        self.assertEqual(shared, [])
        self.compare(self.path('ruled.mcap'), ros2, empty=False)
