"""A recording of 65,534 channels: what is found out of each of them takes as long as there are channels, not as their square."""
import os
import resource
import subprocess
import tempfile
import unittest

from harness import REEL
from run_tests import release_only
from test_memory_routes import many_channels

PROCESSOR_S = 5  # a fraction of a second; the square of the number took 13 s


@release_only
class ManyChannels(unittest.TestCase):
    def test_commands(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'channels.mcap')
            with open(path, 'wb') as file:
                file.write(many_channels())
            for command in 'info', 'check':
                before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                done = subprocess.run([REEL, command, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, PROCESSOR_S, command)


if __name__ == '__main__':
    unittest.main()
