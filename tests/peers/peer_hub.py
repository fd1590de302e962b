"""The Hub's client for JavaScript against /hf. Python's huggingface_hub, datasets and lerobot are not run: Debian has none of them; tests/e2e/test_hf.py
asks what their code asks."""
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import test_datasets  # not its class, whose tests would run here, too
from harness import PATIENCE, Server, create_token
from peer_mcap import HERE, prepare
from test_datasets import FILES, VALUE


class JavaScript(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        why = prepare()
        if why:
            raise unittest.SkipTest(why)
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)
        cls.folder = tempfile.mkdtemp(prefix='reel-peers-')
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        test_datasets.Datasets.add(cls.server)
        test_datasets.Datasets.put(cls.server, 'lab/pick', VALUE)
        cls.token = create_token(cls.server, 'read', 'trainer')
        cls.headers = {'Authorization': 'Bearer ' + cls.token}

    def read(self, name, path):
        done = subprocess.run(['node', os.path.join(HERE, 'hub_client.mjs'), self.server.base + '/hf', self.token, name, path, os.path.join(self.folder, 'cache')],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=2 * PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check(self, name, path, base, files):
        report = self.read(name, path)
        bodies = {file: self.server.get(base + file, **self.headers).body for file in files}
        sha = self.server.get('/hf/api/datasets/' + name, **self.headers).json()['sha']
        self.assertEqual(report['info'], [name, sha, False])
        self.assertEqual([f[1:] for f in report['files'] if f[0] == 'file'], [[file, len(bodies[file])] for file in files])
        self.assertEqual(report['exists'], [True, False])
        self.assertEqual((report['download'], report['size']), (hashlib.sha256(bodies[path]).hexdigest(), len(bodies[path])))
        self.assertEqual(report['slice'], bodies[path][10:20].hex())
        self.assertEqual(report['paths'], [[path, sha]])
        self.assertEqual(report['snapshot'], {file: hashlib.sha256(body).hexdigest() for file, body in bodies.items()})

    def test_a_dataset(self):
        self.check('lab/pick', 'data/chunk-000/file-001.parquet', '/dav/datasets/lab/pick/', FILES)

    def test_a_collection(self):
        self.check('lab', 'b.bag', '/dav/lab/', ['a.bag', 'b.bag', 'c.bag'])


if __name__ == '__main__':
    unittest.main()
