"""Our MCAP files decoded by Foxglove's libraries (mcap_values.mjs), compared value by value with what we decode from the recording and from that MCAP file."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import reel
from peer_mcap import HERE, prepare
from peer_ros1_values import BAGS, made, same
from real_samples import SAMPLES

OTHERS = ('mcap/demo_json_lz4.mcap', 'mcap/demo_json_zstd.mcap', 'rosbag2/cdr_test', 'rosbag2/cdr_test_mcap')


def recordings():
    """(name, path): of a rosbag2 folder the one file that holds the messages."""
    for name in BAGS + OTHERS:
        path = os.path.join(SAMPLES, name)
        inside = [f for f in sorted(os.listdir(path)) if f.endswith(('.db3', '.mcap'))] if os.path.isdir(path) else []
        path = os.path.join(path, inside[0]) if inside else path
        if os.path.isfile(path):
            yield name, path


def by_topic(pairs):
    topics = {}
    for topic, value in pairs:
        topics.setdefault(topic, []).append(value)
    return topics


def ours(path):
    return by_topic((row['topic'], row['data']) for row in map(json.loads, reel('cat', path).stdout.splitlines()))


class Values(unittest.TestCase):
    def check(self, found, theirs):
        self.assertEqual({t: len(v) for t, v in found.items()}, {t: len(v) for t, v in theirs.items()})
        for topic in theirs:
            for i, (a, b) in enumerate(zip(found[topic], theirs[topic])):
                self.assertTrue(same(a, b), '%s %d: %.600r is not %.600r' % (topic, i, a, b))

    def test_every_message(self):
        missing = prepare()
        if missing:
            self.skipTest(missing)
        folder, messages = tempfile.mkdtemp(prefix='reel-peers-'), 0
        self.addCleanup(shutil.rmtree, folder)
        files = [(path, path) for path in made(folder)] + list(recordings())
        for i, (name, path) in enumerate(files):
            with self.subTest(name):
                copy = os.path.join(folder, '%d.mcap' % i)
                reel('convert', path, copy)
                done = subprocess.run(['node', os.path.join(HERE, 'mcap_values.mjs'), copy], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                theirs = by_topic(map(json.loads, done.stdout.splitlines()))
                self.check(ours(path), theirs)
                self.check(ours(copy), theirs)
                messages += sum(map(len, theirs.values()))
        print('%d messages of %d recordings' % (messages, len(files)))


if __name__ == '__main__':
    unittest.main()
