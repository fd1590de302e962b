"""The golden files' expected.txt, which our own scanner prints, held against readers that share no code with it: channels, counts, first and last times, and the
SHA-256 of each channel's payloads in time order. Damage that such a reader cannot follow is listed in golden_unfollowed.py; a listed case that agrees must leave the list."""
import hashlib
import os
import re
import shutil
import tempfile
import unittest

import golden_readers as readers
import peer_mcap
from golden_unfollowed import UNFOLLOWED

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, '..', 'golden')


def nanoseconds(text):
    seconds, fraction = text.lstrip('-').split('.')
    value = int(seconds) * 10**9 + int(fraction)
    return -value if text.startswith('-') else value


def row(name, count, size, first, last, digest):
    return '%s: %d messages, %d bytes, %d to %d, %s' % (name, count, size, first, last, digest)


def expected_rows(text):
    """What an expected.txt says: one line for the recording and one per channel; "refused" where we read nothing of it."""
    if 'format: ' not in text.split('\n')[0]:
        return ['refused']
    head = re.search(r'^messages: (\d+), (\d+) bytes, from (\S+) to (\S+)$', text, re.M)
    rows = [row('all', int(head[1]), int(head[2]), nanoseconds(head[3]), nanoseconds(head[4]), '')]
    for c in re.finditer(r'^channel \d+\n  name: (.*)\n(?:  .*\n)*?  count: (\d+), (\d+) bytes\n  first: (\S+)\n  last: (\S+)\n  payloads: sha256 (\w+)$', text, re.M):
        rows.append(row(c[1], int(c[2]), int(c[3]), nanoseconds(c[4]), nanoseconds(c[5]), c[6]))
    assert len(rows) == 1 + len(re.findall(r'^channel \d+$', text, re.M)), 'a channel was not understood'
    return sorted(rows)


def sum_up(name, messages):
    digest = hashlib.sha256(b''.join(m.payload for m in messages)).hexdigest()
    first, last = (messages[0].time, messages[-1].time) if messages else (0, 0)
    return row(name, len(messages), sum(len(m.payload) for m in messages), first, last, '' if name == 'all' else digest)


def derived_rows(reader, path):
    """The same lines, from what the reader finds in the file."""
    try:
        channels, messages = reader(path)
    except Exception as e:  # a library's own exceptions; the case has to be listed unless we refuse the file too
        return ['refused'], '%s: %s' % (type(e).__name__, e)
    messages = sorted(messages, key=lambda m: m.time)
    rows = [sum_up('all', messages)] + [sum_up(c.name, [m for m in messages if m.topic is c]) for c in channels]
    return sorted(rows), None


def cases_of(name):
    folder = os.path.join(GOLDEN, name)
    return {case: os.path.join(folder, case) for case in sorted(os.listdir(folder)) if os.path.isdir(os.path.join(folder, case))}


class Golden(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='reel-golden-')
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def compare(self, name, reader):
        """The cases whose expected.txt and reader disagree are exactly those listed."""
        differing, cases = {}, cases_of(name)
        for case, folder in cases.items():
            path, = [os.path.join(folder, file) for file in os.listdir(folder) if file.startswith('input.')]
            with open(os.path.join(folder, 'expected.txt'), encoding='utf-8', errors='surrogateescape') as f:
                expected = expected_rows(f.read())
            derived, problem = derived_rows(reader, path)
            if derived != expected:
                differing[case] = {'expected': expected, 'reader': derived, 'problem': problem}
        listed = UNFOLLOWED.get(name, {})
        self.assertEqual({k: v for k, v in differing.items() if k not in listed}, {}, 'expected.txt differs from what the independent reader finds')
        self.assertEqual(sorted(set(listed) - set(differing)), [], 'listed as not followed, but the reader agrees: take them off the list')
        self.assertLess(len(listed), len(cases))

    def compare_shared(self, name, reader, module):
        if not module:
            self.skipTest('%d golden cases, no independent readers besides the project' % len(cases_of(name)))
        self.compare(name, reader)

    def test_rosbag_1_2(self):
        self.compare_shared('rosbag-1.2', readers.rosbag1, readers.BAG_1_2 and readers.BAG_OLD)

    def test_rosbag_2_0(self):
        reader = readers.Bag2(self.folder)
        self.addCleanup(reader.close)
        self.compare('rosbag-2.0', reader)

    def test_mcap(self):
        problem = peer_mcap.prepare()
        if problem:
            self.skipTest(problem)
        reader = readers.Mcap()
        self.addCleanup(reader.close)
        self.compare('mcap', reader)

    def test_rosbag2(self):
        self.compare('rosbag2', readers.ros2db)

    def test_nanover(self):
        self.compare('nanover', readers.nanover)

    def test_nanover_legacy(self):
        self.compare_shared('nanover_legacy', readers.nanover_legacy, readers.LEGACY)

    def test_carla(self):
        self.compare_shared('carla', readers.carla, readers.readers.CARLA)

    def test_mira(self):
        self.compare_shared('mira', readers.mira, readers.readers.MIRA)

    def test_tide(self):
        self.compare_shared('tide', readers.tide, readers.readers.TIDE)

    def test_ulog(self):
        self.compare('ulog', readers.ulog)

    def test_every_format(self):
        """A format's folder without a reader here would be held by nothing."""
        tested = {'rosbag-1.2', 'rosbag-2.0', 'mcap', 'rosbag2', 'nanover', 'nanover_legacy', 'carla', 'mira', 'tide', 'ulog'}
        self.assertEqual({name for name in os.listdir(GOLDEN) if os.path.isdir(os.path.join(GOLDEN, name))}, tested)
