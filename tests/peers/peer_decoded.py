"""Every message of every sample through `reel cat`: decoded, or in the table below with the reason; and each form of the answer read by a reader of
that form: NDJSON by json, CSV by csv, MessagePack by msgpack, which must hold what NDJSON holds."""
import collections
import csv
import io
import json
import os
import unittest

from harness import reel
from peer_values import SAMPLES, same

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


def samples():
    """(name for the table, path). The conformance files differ in everything but their message: they count as one."""
    for folder, _, files in sorted(os.walk(SAMPLES)):
        where = os.path.relpath(folder, SAMPLES)
        for name in sorted(files) if where not in ('.', 'carla/texts') else ():
            if not name.endswith(('.json', '.yaml', '.txt', '.md')):
                yield where if 'conformance' in where else os.path.join(where, name), os.path.join(folder, name)


def cat(path, form):
    return reel('cat', path, '--output', form).stdout


def types_of(path):
    info = json.loads(reel('info', '--json', path).stdout)
    return info['messages'], {topic['name']: topic['type'] for topic in info['topics']}


@unittest.skipUnless(os.path.isdir(SAMPLES), 'the samples are not there')
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

    def test_every_message_of_every_sample(self):
        csv.field_size_limit(1 << 28)
        left, files, messages = collections.Counter(), 0, 0
        for name, path in samples():
            with self.subTest(path):
                rows = [json.loads(line) for line in cat(path, 'ndjson').splitlines()]
                left.update({(name, *key): n for key, n in self.check_rows(path, rows).items()})
                if rows:
                    self.check_csv(cat(path, 'csv'), rows)
                self.check_msgpack(cat(path, 'msgpack'), rows)
                files, messages = files + 1, messages + len(rows)
        print('%d messages of %d files, %d of them bytes' % (messages, files, sum(left.values())))
        self.assertGreater(messages, 50000)
        self.assertEqual(dict(left), {(file, topic, kind, encoding): n for (file, topic, kind), (encoding, n, _) in LEFT.items()})


if __name__ == '__main__':
    unittest.main()
