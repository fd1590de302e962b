"""Definitions in OMG IDL and messages in CDR of both versions: Foxglove's reader has the same values as Reel, of files of our independent writer
(tests/e2e/idl_writer.py) and of its own (idl_check.mjs)."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import reel
from idl_writer import APPENDABLE, FINAL, MUTABLE, idl_of, mcap, message_of, random_top
from peer_mcap import HERE, prepare
from samples import T0

SCHEMAS = 200


def rows(path):
    return [(row['topic'], row['data']) for row in map(json.loads, reel('cat', path).stdout.splitlines())]


def is_of_ros(t):
    """Foxglove's reader of ROS has no unions and no arrays of several dimensions."""
    return t.kind != 'union' and not any(m[2][0] == 'array' and len(m[2][2]) > 1 for m in getattr(t, 'members', ()))


class Idl(unittest.TestCase):
    def test_every_message(self):
        missing = prepare()
        if missing:
            self.skipTest(missing)
        folder = tempfile.mkdtemp(prefix='reel-peers-')
        self.addCleanup(shutil.rmtree, folder)
        made, written = os.path.join(folder, 'made.mcap'), os.path.join(folder, 'written.mcap')
        channels, ros = [], []
        for seed in range(SCHEMAS):
            how = (FINAL, APPENDABLE, MUTABLE)[seed % 3]
            maker = random_top(seed, how, plain=True)
            for version in 1, 2:
                payload = message_of(maker, maker.types[-1], version, how, seed % 2 == 0)[0]
                channels.append(('/t%d/%d' % (seed, version), 'm::Top', 'omgidl', idl_of(maker.types), [(T0 + len(channels), payload)]))
                if how == FINAL and all(is_of_ros(t) for t in maker.types):
                    ros.append(('/ros%d/%d' % (seed, version), 'pkg/msg/Top', 'ros2idl', idl_of(maker.types, True), [(T0 + 10 ** 6 + len(ros), payload)]))
        with open(made, 'wb') as file:
            file.write(mcap(channels + ros))
        done = subprocess.run(['node', os.path.join(HERE, 'idl_check.mjs'), made, written], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        theirs = [json.loads(line) for line in done.stdout.splitlines()]
        for path, expected in (made, [t for t in theirs if len(t) == 2]), (written, [t for t in theirs if len(t) == 3]):
            ours = rows(path)
            self.assertEqual([t for t, _ in ours], [t[0] for t in expected])
            for (topic, value), their in zip(ours, expected):
                self.assertEqual(value, their[1], topic)
        print('%d messages, %d of them of ROS, %d written' % (len(theirs) - len(ours), len(ros), len(ours)))
        self.assertGreater(len(ours), SCHEMAS / 4)
        self.assertGreater(len(ros), SCHEMAS / 10)


if __name__ == '__main__':
    unittest.main()
