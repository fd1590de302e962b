"""The OpenAPI document in the tools that people use with one: the linters of Redocly and Spectral, and a client in TypeScript."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import LONG, Server, reel
from openapi_document import document
from peer_mcap import HERE, prepare

QUIET = {'REDOCLY_TELEMETRY': 'off', 'REDOCLY_SUPPRESS_UPDATE_NOTICE': 'true', 'FORCE_COLOR': '0'}


class OpenApiTools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        problem = prepare()
        if problem:
            raise unittest.SkipTest(problem)
        cls.folder = tempfile.mkdtemp(prefix='reel-peers-')
        cls.file = os.path.join(cls.folder, 'openapi.json')
        with open(cls.file, 'w', encoding='utf-8') as file:
            json.dump(document(), file, indent=1)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def tool(self, name, *args, code=0):
        """Runs a program of node_modules in the folder; returns what it printed."""
        done = subprocess.run([os.path.join(HERE, 'node_modules/.bin', name), *args], cwd=self.folder, env={**os.environ, **QUIET},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240)
        self.assertEqual(done.returncode, code, done.stdout.decode(errors='replace')[-6000:])
        return done.stdout.decode()

    def broken(self):
        """A document whose operation has no description and no answers, to see that the linters object."""
        path = os.path.join(self.folder, 'broken.json')
        with open(path, 'w', encoding='utf-8') as file:
            json.dump({'openapi': '3.1.0', 'info': {'title': 'x', 'version': '1'}, 'paths': {'/x/': {'get': {'operationId': 'x'}}}}, file)
        return path

    def test_redocly(self):
        lint = ('lint', '--config', os.path.join(HERE, 'redocly.yaml'), '--format', 'json')
        totals = json.loads(self.json_of(self.tool('redocly', *lint, self.file)))['totals']
        self.assertEqual((totals['errors'], totals['warnings']), (0, 0))
        self.tool('redocly', *lint, self.broken(), code=1)

    @staticmethod
    def json_of(text):
        """Without the remarks of the tool around it."""
        return text[text.index('{'):text.rindex('}') + 1]

    @unittest.skipUnless(LONG, 'redocly reads the same document; only with --long')
    def test_spectral(self):
        lint = ('lint', '--ruleset', os.path.join(HERE, 'spectral.yaml'), '--format', 'json', '--fail-severity', 'warn')
        self.assertEqual(json.JSONDecoder().raw_decode(self.tool('spectral', *lint, self.file))[0], [])  # a remark follows
        self.tool('spectral', *lint, self.broken(), code=1)

    def test_a_typed_client(self):
        self.tool('openapi-typescript', self.file, '--output', 'client.d.ts')
        shutil.copy(os.path.join(HERE, 'client_use.ts'), self.folder)
        with open(os.path.join(self.folder, 'package.json'), 'w') as file:
            file.write('{"type": "module"}')
        self.tool('tsc', '--strict', '--noUncheckedIndexedAccess', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom,dom.iterable',
                  'client_use.ts')
        files, data = os.path.join(self.folder, 'files'), os.path.join(self.folder, 'data')
        os.mkdir(files)
        os.mkdir(data)
        reel('demo', files)
        server = Server(data)
        self.addCleanup(server.stop)
        with open(os.path.join(files, 'demo.bag'), 'rb') as file:
            one = server.added('demo.bag', file.read())
        done = subprocess.run(['node', 'client_use.js', 'http://127.0.0.1:%d' % server.port], cwd=self.folder, stdout=subprocess.PIPE, check=True, timeout=60)
        read = json.loads(done.stdout)
        topics = server.get('/api/v1/recordings/%s/topics' % one).json()['items']
        self.assertEqual((read['names'], read['messages']), (['demo.bag'], [t['messages'] for t in topics]))
        self.assertIn('404 /problems/not-found: ', read['refused'])


if __name__ == '__main__':
    unittest.main()
