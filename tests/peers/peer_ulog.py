"""ULog files by readers that are not ours: one from the specification (ulog_reader.py), @foxglove/ulog, and pyulog where it is installed, value by value; and what we make of
them as MCAP and Parquet by the readers of others."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import ulog_reader
from harness import reel
from peer_mcap import HERE, prepare
from peer_mcap_values import by_topic
from peer_ros1_values import same

GOLDEN = os.path.join(HERE, '..', 'golden', 'ulog')
WHOLE = ('usual', 'no_gps_time', 'version_0', 'longer_flags', 'appended', 'cut_in_data', 'ids_again', 'no_messages', 'zeros_at_end')
MADE = ('/log_message', '/parameters', '/dropout')  # topics that we make of messages without a format


def golden(name):
    return os.path.join(GOLDEN, name, 'input.ulg')


def log_of(name):
    with open(golden(name), 'rb') as f:
        return ulog_reader.Log(f.read())


def node(script, path):
    done = subprocess.run(['node', os.path.join(HERE, script), path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise AssertionError(done.stderr.decode())
    return [json.loads(line) for line in done.stdout.splitlines()]


def plain(value):
    """As our JSON has it."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, float) and value != value:
        return 'NaN'
    return str(value) if isinstance(value, int) and abs(value) > 1 << 53 else value


def ours(path):
    return by_topic((row['topic'], row['data']) for row in map(json.loads, reel('cat', path).stdout.splitlines()))


class Ulog(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-peers-')
        self.addCleanup(shutil.rmtree, self.folder)

    def check(self, found, theirs):
        self.assertEqual({t: len(v) for t, v in found.items()}, {t: len(v) for t, v in theirs.items()})
        for topic in theirs:
            for a, b in zip(found[topic], theirs[topic]):
                self.assertTrue(same(a, b), '%s: %.600r is not %.600r' % (topic, a, b))

    def test_values(self):
        for name in WHOLE:
            with self.subTest(name):
                found, log = ours(golden(name)), log_of(name)
                theirs = by_topic((ulog_reader.topic_name(m.topic), plain(m.value)) for m in sorted(log.messages, key=lambda m: m.time))
                self.check({t: v for t, v in found.items() if t not in MADE}, theirs)
                self.assertEqual([m['msg'] for m in found.get('/log_message', [])], [text.decode() for _, _, _, text in log.texts])
                self.assertEqual([m['duration'] for m in found.get('/dropout', [])], [ms for _, ms in log.dropouts])
                changes = [(m['name'], m['value']) for m in found.get('/parameters', [])]
                self.assertTrue(all(a[0] == b[1] and (a[1] == b[2] or abs(a[1] - b[2]) < 1e-6) for a, b in zip(changes, log.changes)) and len(changes) == len(log.changes))

    def test_values_by_foxglove(self):
        missing = prepare()
        if missing:
            self.skipTest(missing)
        for name in ('usual', 'no_gps_time', 'version_0', 'cut_in_data'):  # it takes longer flags for messages
            with self.subTest(name):
                rows = node('ulog_values.mjs', golden(name))
                found, theirs = ours(golden(name)), by_topic((t, v) for t, v in rows[:-1] if t and t != '/log_message')
                self.check({t: v for t, v in found.items() if t not in MADE}, theirs)
                texts = [(v['time'], v['text']) for t, v in rows[:-1] if t == '/log_message']
                self.assertEqual([(m['header']['stamp']['sec'] * 1000000 + m['header']['stamp']['nsec'] // 1000, m['msg']) for m in found.get('/log_message', [])], texts)

    def test_values_by_pyulog(self):
        try:
            import pyulog
        except ImportError as e:
            self.skipTest(str(e))
        log, found = pyulog.ULog(golden('usual')), ours(golden('usual'))
        for d in log.data_list:
            rows = found[ulog_reader.topic_name((d.name, d.multi_id))]
            self.assertEqual([row['timestamp'] for row in rows], [int(t) for t in d.data['timestamp']])
        self.assertEqual([m.message for m in log.logged_messages], [m['msg'] for m in found['/log_message'] if not m['name']])

    def raw(self, log, fields, payload):
        """A message as readers of ROS 1 have it: with padding, and char as bytes."""
        out, at = {}, 0
        for f in fields:
            piece = payload[at:at + log.size(f)]
            at += len(piece)
            name = 'ulog' + f.name if f.padding else f.name
            if f.kind in ('char', 'uint8_t') and f.count:
                out[name] = {'$base64': base64.b64encode(piece).decode()}
            elif f.kind == 'char':
                out[name] = piece[0]
            elif f.kind in ulog_reader.BASIC:
                out[name] = plain(log.value([f], piece)[f.name])
            else:
                one = len(piece) // (f.count or 1)
                values = [self.raw(log, log.formats[f.kind], piece[i * one:(i + 1) * one]) for i in range(f.count or 1)]
                out[name] = values if f.count else values[0]
        return out

    def test_mcap(self):
        """What we write is ROS 1 for @mcap/core and Foxglove's decoder, and for us what it was."""
        missing = prepare()
        if missing:
            self.skipTest(missing)
        for name in ('usual', 'no_gps_time', 'version_0', 'appended'):
            with self.subTest(name):
                log, copy = log_of(name), os.path.join(self.folder, name + '.mcap')
                reel('convert', golden(name), copy)
                theirs = by_topic(node('mcap_values.mjs', copy))
                want = by_topic((ulog_reader.topic_name(m.topic), self.raw(log, log.logged(m.topic[0]), m.payload)) for m in sorted(log.messages, key=lambda m: m.time))
                self.check({t: v for t, v in theirs.items() if t not in MADE}, want)
                self.assertEqual([(m['msg'], m['level']) for m in theirs.get('/log_message', [])], [(m['msg'], m['level']) for m in ours(golden(name)).get('/log_message', [])])
                self.assertEqual(ours(copy), ours(golden(name)))

    def test_ros_2(self):
        missing = prepare()
        if missing:
            self.skipTest(missing)
        copy = os.path.join(self.folder, 'ros2.mcap')
        reel('convert', golden('usual'), copy, '--ros', '2')
        theirs, found = by_topic(node('mcap_values.mjs', copy)), ours(golden('usual'))
        self.assertEqual([m['q'] for m in theirs['/vehicle_attitude']], [m['q'] for m in found['/vehicle_attitude']])
        self.assertEqual([e['esc_rpm'] for e in theirs['/esc_status'][0]['esc']], [5000, -1])
        self.assertEqual([(m['level'], m['msg']) for m in theirs['/log_message']], [(20, 'Takeoff detected'), (30, 'Low battery')])


if __name__ == '__main__':
    unittest.main()
