"""Every message of every sample through `reel cat`: decoded, or in the table below with the reason; and each form of the answer read by a reader of
that form: NDJSON by json, CSV by csv, MessagePack by msgpack, which must hold what NDJSON holds."""
import collections
import csv
import io
import json
import os
import tempfile
import unittest

from harness import reel
from peer_values import same
from real_samples import SAMPLES, golden, needs_samples
from samples import bag, lab_messages, nanover, nanover_messages

MIRA = 'how MIRA serializes its own types is not documented'
V11 = 'version 1.1 holds no definitions'
UNKNOWN = 'no such syntax is known'
UNTYPED = 'the channel says no type'
OTHER = 'an encoding of its own: three bytes to see whether they come through'
LEFT = {  # of these messages, so many are delivered as bytes: (file, topic, type): (encoding, count, why)
    ('mcap/conformance-OneMessage', 'example', 'Example'): ('a', 154, OTHER),
    ('mira/mira_basic.tape', '/robot/Odometry', 'mira::RigidTransform<float, 2>'): ('mira', 400, MIRA),
    ('mira/mira_basic.tape', '/robot/Laser', 'mira::robot::RangeScan'): ('mira', 100, MIRA),
    ('mira/mira_basic.tape', '/robot/Battery', 'mira::robot::BatteryState'): ('mira', 40, MIRA),
    ('rosbag1/ekf_test_v1.1.bag', 'imu_data', 'std_msgs/PoseWithRatesStamped'): ('ros1', 4583, V11),
    ('rosbag1/ekf_test_v1.1.bag', 'odom', 'std_msgs/RobotBase2DOdom'): ('ros1', 1347, V11),
    ('tide/rsbagcl_raw_types.tide', '/raw/a', ''): ('bytes', 3, UNTYPED),
    ('tide/tide0_plain.tide', '/arm/position', 'double-xyz'): ('bytes', 300, UNKNOWN),
    ('tide/tide2_plain.tide', '/log/text', ''): ('bytes', 40, UNTYPED),
    ('tide/tide2_gzip.tide', '/log/text', ''): ('bytes', 40, UNTYPED),
    ('tide/tide2_bzip2.tide', '/log/text', ''): ('bytes', 40, UNTYPED),
    ('tide/tide2_truncated.tide', '/log/text', ''): ('bytes', 29, UNTYPED),
}
for tape, counts in {'mira_bzip2': (200, 50, 20), 'mira_unfinished': (200, 50, 20), 'mira_truncated': (149, 37, 15)}.items():
    for (_, topic, kind), count in zip([key for key in LEFT if key[0] == 'mira/mira_basic.tape'], counts):
        LEFT['mira/%s.tape' % tape, topic, kind] = 'mira', count, MIRA

MADE = {  # golden recordings: messages, and how many of them are delivered as bytes
    'rosbag-2.0/lz4': (6, 6), 'rosbag2/schema_4': (6, 6), 'mcap/plain': (6, 3), 'nanover_legacy/usual_traj': (4, 0), 'nanover_legacy/usual_state': (2, 0),
    'carla/version_0.9.15': (60, 0), 'carla/version_ue5': (63, 0), 'mira/usual': (6, 6), 'tide/new_usual': (6, 6),
}


def samples():
    """(name for the table, path). The conformance files differ in everything but their message: they count as one."""
    for folder, _, files in sorted(os.walk(SAMPLES)):
        where = os.path.relpath(folder, SAMPLES)
        for name in sorted(files) if where not in ('.', 'carla/texts', 'tables') else ():  # tables are no recordings
            if not name.endswith(('.json', '.yaml', '.txt', '.md')):
                yield where if 'conformance' in where else os.path.join(where, name), os.path.join(folder, name)


def cat(path, form):
    return reel('cat', path, '--output', form).stdout


def types_of(path):
    info = json.loads(reel('info', '--json', path).stdout)
    return info['messages'], {topic['name']: topic['type'] for topic in info['topics']}


class Decoded(unittest.TestCase):
    def check_rows(self, path, rows):
        """How many of each topic, type and encoding are bytes."""
        messages, types = types_of(path)
        self.assertEqual(len(rows), messages)
        left = collections.Counter()
        for row in rows:
            if 'encoding' in row:
                self.assertEqual(list(row['data']), ['$base64'])
                left[row['topic'], types[row['topic']], row['encoding']] += 1
            else:
                self.assertFalse(isinstance(row['data'], dict) and '$base64' in row['data'], row)
        return left

    def check_csv(self, text, rows):
        table = csv.reader(io.StringIO(text.decode(), newline=''), strict=True)
        header = next(table)
        self.assertEqual(len(set(header)), len(header))
        time, topic = header.index('log_time'), header.index('topic') if 'topic' in header else None
        n = 0
        for line, row in zip(table, rows):
            self.assertEqual(len(line), len(header), line[:8])
            self.assertEqual(line[time], row['log_time'])
            self.assertTrue(topic is None or line[topic] == row['topic'], line[:8])
            n += 1
        self.assertEqual((n, next(table, None)), (len(rows), None))

    def check_msgpack(self, data, rows):
        import msgpack
        messages = msgpack.Unpacker(io.BytesIO(data), raw=False, strict_map_key=False, max_buffer_size=0)
        n = 0
        for message, row in zip(messages, rows):
            self.assertTrue(same(row, message), (row['topic'], row['log_time']))
            n += 1
        self.assertEqual((n, next(messages, None)), (len(rows), None))

    def check_forms(self, path):
        """The forms of the answer agree. Returns how many messages there are, and how many of each topic, type and encoding are bytes."""
        rows = [json.loads(line) for line in cat(path, 'ndjson').splitlines()]
        left = self.check_rows(path, rows)
        if rows:
            self.check_csv(cat(path, 'csv'), rows)
        self.check_msgpack(cat(path, 'msgpack'), rows)
        return len(rows), left

    def test_made_recordings(self):
        """One of each format: a bag and a NanoVer recording decode whole, of the golden files what is decodable."""
        with tempfile.TemporaryDirectory() as folder:
            for name, data in (('lab.bag', bag(lab_messages(3))), ('mol.nanover.zip', nanover(nanover_messages(20)))):
                with self.subTest(name), open(os.path.join(folder, name), 'wb') as f:
                    f.write(data)
                    f.flush()
                    messages, left = self.check_forms(f.name)
                    self.assertGreater(messages, 20)
                    self.assertEqual(left, {})
        for name, want in MADE.items():
            with self.subTest(name):
                messages, left = self.check_forms(golden(name))
                self.assertEqual((messages, sum(left.values())), want)

    @needs_samples(67)
    def test_every_message_of_every_sample(self):
        csv.field_size_limit(1 << 28)
        left, files, messages = collections.Counter(), 0, 0
        for name, path in samples():
            with self.subTest(path):
                n, found = self.check_forms(path)
                left.update({(name, *key): count for key, count in found.items()})
                files, messages = files + 1, messages + n
        print('%d messages of %d files, %d of them bytes' % (messages, files, sum(left.values())))
        self.assertGreater(messages, 50000)
        self.assertEqual(dict(left), {(file, topic, kind, encoding): n for (file, topic, kind), (encoding, n, _) in LEFT.items()})


if __name__ == '__main__':
    unittest.main()
