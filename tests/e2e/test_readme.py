"""The README's API by example, run as it stands: the ```sh blocks under that heading; $U is the API, $BAG and $NANO are recordings, $TRAJ and $STATE a pair."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import legacy
import test_frame
import test_tide
from harness import API, PATIENCE, REEL, Server, reel
from samples import bag

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'README.md')


class Readme(unittest.TestCase):
    def test_examples_work_as_written(self):
        if not os.path.exists(README):
            self.skipTest('there is no README yet')
        with open(README) as f:
            section = re.search(r'^## The API by example\n(.*?)(?=^## |\Z)', f.read(), re.M | re.S)
        blocks = re.findall(r'^```sh\n(.*?)^```', section.group(1), re.M | re.S)
        self.assertTrue(blocks)
        folder, server = tempfile.mkdtemp(prefix='reel-e2e-'), Server()
        self.addCleanup(shutil.rmtree, folder)
        self.addCleanup(server.stop)
        reel('demo', folder)
        for name, data in zip(('pair.traj', 'pair.state'), legacy.pair()):
            with open(os.path.join(folder, name), 'wb') as f:
                f.write(data)
        carla = os.path.join(os.path.dirname(README), 'tests', 'golden', 'carla', 'version_0.9.15', 'input.log')
        shutil.copy(carla, os.path.join(folder, 'drive.log'))
        for name, data in (('robots.tide', test_tide.LOG), ('camera.bag', bag(test_frame.pictures('/camera')))):
            with open(os.path.join(folder, name), 'wb') as f:
                f.write(data)
        # one script, as a reader would type it; curl -f so that a refused request is seen
        script = 'set -euo pipefail\ncurl() { command curl -fsS "$@"; }\nreel() { "$REEL" "$@"; }\n' + ''.join(blocks)
        done = subprocess.run(['bash', '-c', script], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE,
                              env={**os.environ, 'U': server.base + API, 'REEL': REEL, 'BAG': 'demo.bag', 'NANO': 'demo.nanover.zip', 'TRAJ': 'pair.traj', 'STATE': 'pair.state', 'LOG': 'drive.log', 'RSB': 'robots.tide', 'IMAGES': 'camera.bag'})
        self.assertEqual(done.returncode, 0, '%s\n%s' % (done.stdout[-1500:].decode(errors='replace'), done.stderr.decode(errors='replace')))
