"""Decoded messages of ROS 2, compared value by value with what Foxglove's CDR writer encoded (cdr_make.mjs)."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import reel
from peer_mcap import HERE, prepare
from peer_ros1_values import same


class Values(unittest.TestCase):
    def test_every_message(self):
        missing = prepare()
        if missing:
            self.skipTest(missing)
        folder = tempfile.mkdtemp(prefix='reel-peers-')
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, 'made.mcap')
        done = subprocess.run(['node', os.path.join(HERE, 'cdr_make.mjs'), path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        theirs = [json.loads(line) for line in done.stdout.splitlines()]
        ours = [json.loads(line) for line in reel('cat', path).stdout.splitlines()]
        self.assertEqual(len(theirs), 1000)
        self.assertEqual([row['topic'] for row in ours], [topic for topic, _ in theirs])
        for i, (row, (topic, value)) in enumerate(zip(ours, theirs)):
            self.assertTrue(same(row['data'], value), '%s %d: %r is not %r' % (topic, i, row['data'], value))
