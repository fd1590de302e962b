"""/metrics as Prometheus's own checker sees it. promtool is part of Debian's prometheus, which also brings a service: it is used where it is, never installed."""
import shutil
import subprocess
import unittest

from harness import Case


class Metrics(Case):
    def test_promtool_finds_nothing(self):
        promtool = shutil.which('promtool')
        if not promtool:
            raise unittest.SkipTest('promtool is not there')
        for _ in range(2):  # the second time there are requests to report
            text = self.get('/metrics').body
            done = subprocess.run([promtool, 'check', 'metrics'], input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (0, b''))
