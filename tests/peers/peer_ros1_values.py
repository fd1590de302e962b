"""Decoded messages of ROS bags compared value by value with what python3-rosbag decodes, by classes that genpy generates from the bag's own definitions."""
import base64
import json
import os
import shutil
import struct
import tempfile
import unittest

from harness import reel
from real_samples import SAMPLES
from samples import bag, lab_messages

BAGS = ('rosbag2.0/example.bag', 'rosbag2.0/example-lz4.bag', 'rosbag2.0/constants.bag', 'rosbag2.0/example-unsorted-chunks.bag',
        'rosbag2.0/multiple_connections.bag', 'rosbag1/ccny_gpsd_v1.2.bag', 'rosbag1/ccny_ortho_scan_v1.2.bag', 'rosbag1/ccny_scan_splitter_v1.2.bag',
        'rosbag1/indexed.bag', 'rosbag1/latched.bag', 'rosbag1/unindexed_noheader.bag')


def number(value, kind):
    """A number as our JSON has it, or the texts it has instead."""
    if kind in ('float32', 'float64'):
        if value != value:
            return 'NaN'
        if value in (float('inf'), float('-inf')):
            return 'Infinity' if value > 0 else '-Infinity'
        return value
    if kind == 'bool':
        return bool(value)
    return str(value) if abs(value) > 1 << 53 else value


def one(value, kind):
    if kind == 'string':
        return value
    if kind in ('time', 'duration'):
        return {'sec': value.secs, 'nsec': value.nsecs}
    return plain(value) if '/' in kind or kind == 'Header' else number(value, kind)


def plain(message):
    out = {}
    for name, kind in zip(message.__slots__, message._slot_types):
        value = getattr(message, name)
        base, bracket, _ = kind.partition('[')
        if bracket and base in ('uint8', 'char'):
            out[name] = {'$base64': base64.b64encode(bytes(value)).decode()}
        else:
            out[name] = [one(v, base) for v in value] if bracket else one(value, kind)
    return out


def single(text):
    """Floats of 32 bits are written with fewer digits: compared as what they are."""
    return struct.unpack('<f', struct.pack('<f', text))[0]


def same(ours, theirs):
    if isinstance(theirs, dict):
        return isinstance(ours, dict) and list(ours) == list(theirs) and all(same(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(same(a, b) for a, b in zip(ours, theirs))
    if isinstance(theirs, float) and not isinstance(ours, (str, bool)):
        return ours == theirs or single(ours) == theirs
    return type(ours) is type(theirs) and ours == theirs


def read(path):
    """(topic, values) of every message in order of time. The public reader cannot read indexed bags of version 1.2; the one below it can."""
    import rosbag
    with rosbag.Bag(path) as bag:
        messages = bag._reader.read_messages(None, None, None, None, False) if bag.version == 102 else bag.read_messages()
        return [(m[0], plain(m[1])) for m in sorted(messages, key=lambda m: m[2])]  # rosbag leaves overlapping chunks as they lie


def made(folder):
    """Bags of this repository: 1.2 as recorded, with and without index, and 2.0 in each compression."""
    paths = [os.path.join(folder, name) for name in ('indexed.bag', 'unindexed.bag')]
    for path in paths:
        with open(path, 'wb') as f:
            f.write(bag(lab_messages(5, blob=500), indexed=path == paths[0]))
    for compression in ('none', 'bz2', 'lz4'):
        paths.append(os.path.join(folder, compression + '.bag'))
        reel('convert', paths[0], paths[-1], '--compression', compression)
    return paths


class Values(unittest.TestCase):
    def test_every_message(self):
        try:
            import rosbag  # noqa: F401
        except ImportError as e:
            self.skipTest(str(e))
        folder = tempfile.mkdtemp(prefix='reel-peers-')
        self.addCleanup(shutil.rmtree, folder)
        for path in made(folder) + [os.path.join(SAMPLES, name) for name in BAGS if os.path.isdir(SAMPLES)]:
            with self.subTest(path):
                theirs = {}
                for topic, values in read(path):
                    theirs.setdefault(topic, []).append(values)
                ours = {}
                for line in reel('cat', path).stdout.splitlines():
                    row = json.loads(line)
                    ours.setdefault(row['topic'], []).append(row['data'])
                self.assertEqual({t: len(v) for t, v in ours.items()}, {t: len(v) for t, v in theirs.items()})
                for topic in theirs:
                    for i, (a, b) in enumerate(zip(ours[topic], theirs[topic])):
                        self.assertTrue(same(a, b), '%s %d: %r is not %r' % (topic, i, a, b))
