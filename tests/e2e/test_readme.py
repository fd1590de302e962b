"""The README's API by example, run as it stands: each ```sh block under that heading, in a folder with run.bag and sim.nanover.zip, $U being the server's API."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import API, PATIENCE, REEL, Server
from samples import bag, lab_messages, nanover, nanover_messages

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'README.md')


class Readme(unittest.TestCase):
    def test_examples_work_as_written(self):
        if not os.path.exists(README):
            self.skipTest('there is no README yet')
        with open(README) as f:
            section = re.search(r'^## API by example\n(.*?)(?=^## |\Z)', f.read(), re.M | re.S)
        blocks = re.findall(r'^```sh\n(.*?)^```', section.group(1), re.M | re.S)
        self.assertTrue(blocks)
        folder, server = tempfile.mkdtemp(prefix='reel-e2e-'), Server()
        self.addCleanup(shutil.rmtree, folder)
        self.addCleanup(server.stop)
        for name, data in (('run.bag', bag(lab_messages(20))), ('sim.nanover.zip', nanover(nanover_messages(300)))):
            with open(os.path.join(folder, name), 'wb') as f:
                f.write(data)
        # one script, as a reader would type it; curl -f so that a refused request is seen
        script = 'set -euo pipefail\ncurl() { command curl -fsS "$@"; }\nreel() { "$REEL" "$@"; }\n' + ''.join(blocks)
        done = subprocess.run(['bash', '-c', script], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE,
                              env={**os.environ, 'U': server.base + API, 'REEL': REEL})
        self.assertEqual(done.returncode, 0, '%s\n%s' % (done.stdout[-1500:].decode(errors='replace'), done.stderr.decode(errors='replace')))
