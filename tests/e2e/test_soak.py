"""./dev soak: its judge tells a flat line from a leak, and its load runs."""
import os
import subprocess
import sys
import unittest

from harness import PATIENCE, REEL, in_a_file
from run_tests import release_only

SOAK = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'bench', 'soak.py')
sys.path.insert(0, os.path.dirname(SOAK))


def life(leak_kb=0.0, fds=60, warm_kb=20000, minutes=15):
    """Samples of a life that warms up, with noise, and loses so many KB a second."""
    return [{'t': 900 + t, 'anon': 40000 + warm_kb * min(1, t / (20 * minutes)) + (t * 7919 % 400) + leak_kb * t, 'fds': fds + t % 3 + int(leak_kb * t / 60), 'threads': 18 + (t % 5 == 0),
             'rest': 600 + t % 40 if t % 5 == 0 else None} for t in range(0, 60 * minutes, 2)]


class Soak(unittest.TestCase):
    def verdict(self, **how):
        import soak
        return {name: flat for name, _, _, _, flat in soak.judge(life(**how))}

    def test_what_is_flat_is_flat(self):
        self.assertEqual(self.verdict(), {'anon': True, 'fds': True, 'threads': True, 'rest': True})

    def test_a_leak_is_seen(self):
        self.assertEqual(self.verdict(leak_kb=10), {'anon': False, 'fds': False, 'threads': True, 'rest': True})  # half a KB a request

    @release_only
    @in_a_file
    def test_it_runs(self):
        done = subprocess.run(['/usr/bin/python3', SOAK, '0.2', '--reel', REEL, '--seed', '3'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=5 * PATIENCE)
        output = done.stdout.decode()
        self.assertNotIn('PROBLEM', output)  # whether it is flat, seconds do not tell
        self.assertIn('kills: 6', output)
        self.assertIn('no problems', output)
