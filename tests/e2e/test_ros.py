"""ROS 1 as ROS 2 and back over HTTP: MCAP, ROS 2 bags with any range of them, real ROS 1 messages in bags, what the report says."""
import io
import os
import random
import struct
import tempfile
import unittest
import zipfile
import zlib

from harness import API, Case, reel
from samples import TYPES, Message, bag, lab_messages, read_bag, read_mcap

try:
    import yaml
except ImportError:
    yaml = None

BROKEN = 3  # messages that end too early


def messages():
    out = lab_messages(4, blob=30_000)
    for i in range(BROKEN):
        out.append(Message(out[-1].time + 1, '/robot/chatter', struct.pack('<I', 1000) + b'short', 'std_msgs/String'))
    return out


def as_cdr(message):
    if message.kind == 'std_msgs/Empty':
        return bytes([0, 1, 0, 0, 0])
    if message.kind == 'std_msgs/String':
        return bytes([0, 1, 0, 0]) + struct.pack('<I', len(message.payload) - 3) + message.payload[4:] + b'\0'
    return bytes([0, 1, 0, 0]) + message.payload


def payloads(found):
    out = {}
    for topic, data in found:
        out.setdefault(topic, []).append(data)
    return out


class Ros(Case):
    @classmethod
    def fill(cls):
        cls.source = bag(messages())
        cls.walk = cls.server.added('walk.bag', cls.source)
        cls.whole = [m for m in messages() if not (m.topic == '/robot/chatter' and m.payload.endswith(b'short'))]

    def path(self, rest, recording=None):
        return '%s/recordings/%s/as/%s' % (API, recording or self.walk, rest)

    def check_ranges(self, path, body):
        some = random.Random(7)
        for _ in range(40):
            start = some.randrange(len(body))
            end = min(len(body), start + some.choice((1, 100, 70_000))) - 1
            part = self.get(path, status=206, Range='bytes=%d-%d' % (start, end))
            self.assertEqual(part.body, body[start:end + 1], (path, start, end))

    def check_mcap(self, body):
        channels, schemas, found = read_mcap(body)[:3]
        self.assertEqual({encoding for _, encoding, _ in channels.values()}, {'cdr'})
        types = {schemas[schema][:2] for _, _, schema in channels.values()}
        self.assertEqual(types, {(kind.replace('/', '/msg/'), 'ros2msg') for kind in {m.kind for m in self.whole}})
        self.assertEqual(payloads((m.topic, m.payload) for m in found), payloads((m.topic, as_cdr(m)) for m in self.whole))

    def test_mcap(self):
        path = self.path('walk.mcap?ros=2')
        answer = self.get(path)
        self.check_mcap(answer.body)
        self.assertIn(b'\x04\0\0\0ros2', answer.body[:64])
        self.check_ranges(path, answer.body)
        plain = self.get(self.path('walk.mcap'))
        self.assertNotEqual(answer.headers['ETag'], plain.headers['ETag'])
        self.assertEqual(self.server.request('HEAD', path).headers['Content-Length'], str(len(answer.body)))

    def test_report(self):
        body = self.get(self.path('walk.mcap?ros=2&report=true&check=true')).json()
        self.assertTrue(body['accepted'])
        self.assertIn('%d messages that do not fit' % BROKEN, str(body['report']))
        self.assertEqual(self.get(self.path('walk.bag?report=true')).json()['report'], self.get(self.path('walk.bag?report=true&ros=1')).json()['report'])

    def test_refused(self):
        self.assertProblem(self.server.request('GET', self.path('walk.mcap?ros=3')), 400, 'ros')
        self.assertProblem(self.server.request('GET', self.path('walk.bag?ros=1&wrap=true')), 400, 'wrap')
        self.assertProblem(self.server.request('GET', self.path('walk.rosbag2.zip?metadata_version=4')), 400, 'metadata_version')

    def open_zip(self, rest, expect=('walk/walk_0.mcap', 'walk/metadata.yaml')):
        answer = self.get(self.path(rest))
        archive = zipfile.ZipFile(io.BytesIO(answer.body))
        self.assertEqual(archive.testzip(), None)
        self.assertEqual(archive.namelist(), list(expect))
        self.assertEqual({i.compress_type for i in archive.infolist()}, {zipfile.ZIP_STORED})
        return answer, archive

    def test_rosbag2(self):
        answer, archive = self.open_zip('walk.rosbag2.zip')
        self.assertEqual(archive.read('walk/walk_0.mcap'), self.get(self.path('walk.mcap?ros=2')).body)
        self.check_ranges(self.path('walk.rosbag2.zip'), answer.body)
        self.open_zip('walk.rosbag2.zip?compression=zstd')
        other, _ = self.open_zip('other.rosbag2.zip', ('other/other_0.mcap', 'other/metadata.yaml'))
        self.assertNotEqual(answer.headers['ETag'], other.headers['ETag'])

    @unittest.skipUnless(yaml, 'no yaml')
    def test_metadata(self):
        counts = {topic: len(all_of) for topic, all_of in payloads((m.topic, 0) for m in self.whole).items()}
        for version in range(5, 10):
            _, archive = self.open_zip('walk.rosbag2.zip?metadata_version=%d' % version)
            bag2 = yaml.safe_load(archive.read('walk/metadata.yaml'))['rosbag2_bagfile_information']
            self.assertEqual((bag2['version'], bag2['storage_identifier'], bag2['relative_file_paths']), (version, 'mcap', ['walk_0.mcap']))
            times = [m.time for m in self.whole]
            self.assertEqual(bag2['starting_time']['nanoseconds_since_epoch'], min(times))
            self.assertEqual(bag2['duration']['nanoseconds'], max(times) - min(times))
            topics = {t['topic_metadata']['name']: t for t in bag2['topics_with_message_count']}
            self.assertEqual({name: t['message_count'] for name, t in topics.items()}, counts)
            self.assertEqual(bag2['message_count'], sum(counts.values()))
            profiles = topics['/map']['topic_metadata']['offered_qos_profiles']
            profile, = profiles if version == 9 else yaml.safe_load(profiles)
            self.assertEqual(profile['durability'], 'transient_local' if version == 9 else 1)
            self.assertEqual('type_description_hash' in topics['/map']['topic_metadata'], version >= 7)
            self.assertEqual(('custom_data' in bag2, 'ros_distro' in bag2), (version >= 6, version >= 8))

    def test_there_and_back(self):
        for name in 'walk.mcap?ros=2', 'walk.rosbag2.zip':
            there = self.server.added('there.' + name.split('.', 1)[1].split('?')[0], self.get(self.path(name)).body, collection='there')
            found = read_bag(self.get(self.path('back.bag?version=1.2', there)).body)
            self.assertEqual(payloads((m.topic, m.payload) for m in found), payloads((m.topic, m.payload) for m in self.whole), name)
            self.assertEqual({m.topic: m.kind for m in found}, {m.topic: m.kind for m in self.whole})
            wrapped = read_bag(self.get(self.path('back.bag?version=1.2&wrap=true', there)).body)
            self.assertEqual({m.kind for m in wrapped}, {'std_msgs/UInt8MultiArray'})
            self.assertEqual(payloads((m.topic, m.payload[12:]) for m in wrapped), payloads((m.topic, as_cdr(m)) for m in self.whole))
            body = self.get(self.path('back.bag', there)).body
            for md5 in {TYPES[m.kind][0] for m in self.whole}:
                self.assertIn(md5 if isinstance(md5, bytes) else md5.encode(), body)

    def test_commands(self):
        with tempfile.TemporaryDirectory() as folder:
            source, mcap, bag2 = (os.path.join(folder, n) for n in ('walk.bag', 'out.mcap', 'walk.rosbag2.zip'))
            with open(source, 'wb') as f:
                f.write(self.source)
            said = reel('convert', source, mcap, '--ros', '2').stderr
            self.assertIn(b'%d messages that do not fit' % BROKEN, said)
            reel('convert', source, bag2)
            for name, path in ('walk.mcap?ros=2', mcap), ('walk.rosbag2.zip', bag2):
                with open(path, 'rb') as f:
                    self.assertEqual(zlib.crc32(f.read()), zlib.crc32(self.get(self.path(name)).body), name)
