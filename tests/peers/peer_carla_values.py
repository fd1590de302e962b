"""CARLA packets as our JSON against an independent reader of the samples: every number and text of every packet, in the order of the file."""
import json
import math
import os
import struct
import unittest

from harness import reel
from peer_carla_cuts import SAMPLES, Log
from real_samples import needs_samples


def scalars(value):
    """Of our JSON: the numbers that name actors and all values; names that only explain a number left out."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not key.endswith(('_name', '_on')):
                yield from [int(key)] if key.lstrip('-').isdigit() else []
                yield from scalars(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from scalars(inner)
    else:
        yield {'NaN': math.nan, 'Infinity': math.inf, '-Infinity': -math.inf}.get(value, value) if isinstance(value, str) else value


def flat(value):
    """Of the reader's records. Types of attributes are numbers there and words in ours: left out in both."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat([pair[1:] for pair in inner] if key == 'attrs' else inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from flat(inner)
    elif value is not None:
        yield value


def without_types(data):
    for actor in data.get('actors', {}).values() if isinstance(data.get('actors'), dict) else ():
        for attribute in actor.get('attributes', ()):
            del attribute['type']
    return data


def same(a, b):
    if isinstance(b, float):
        return a == b or (a != a and b != b) or struct.pack('<f', a) == struct.pack('<f', b)  # ours are the fewest digits of a float
    return a == b


@needs_samples(11)
class CarlaValues(unittest.TestCase):
    def test_every_packet_of_every_sample(self):
        packets = values = 0
        for name in sorted(os.listdir(SAMPLES)):
            if not name.endswith(('.log', '.rec')):
                continue
            with self.subTest(name):
                path = os.path.join(SAMPLES, name)
                wanted = [p for f in Log(path).frames for p in [('FrameStart', (f.number, f.duration, f.elapsed), b'')] + f.packets]
                rows = [row for row in map(json.loads, reel('cat', path).stdout.splitlines()) if row['topic'] != '/frame_end']
                self.assertEqual(len(rows), len(wanted))
                for row, (kind, records, data) in zip(rows, wanted):
                    if '$base64' in row['data']:
                        self.assertEqual(row['topic'], '/physics_control')  # UE5's only
                        continue
                    got, want = list(scalars(without_types(row['data']))), list(flat(records))
                    self.assertTrue(len(got) == len(want) and all(map(same, got, want)), '%s %s: %s instead of %s' % (kind, row['log_time'], got[:20], want[:20]))
                    packets, values = packets + 1, values + len(got)
        print('%d packets, %d values' % (packets, values))
        self.assertGreater(values, 100000)


if __name__ == '__main__':
    unittest.main()
