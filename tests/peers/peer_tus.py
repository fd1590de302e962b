"""tus-js-client, the client that pages and scripts use, against our /uploads: whole, in pieces, parallel, stopped and resumed, and over a killed server."""
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import API, PATIENCE, Case, Server, eventually
from link import Link
from peer_mcap import HERE, prepare
from samples import bag, lab_messages


class Tus(Case):
    @classmethod
    def setUpClass(cls):
        problem = prepare()
        if problem:
            raise unittest.SkipTest(problem)
        super().setUpClass()
        cls.folder = tempfile.mkdtemp(prefix='reel-peers-')

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        shutil.rmtree(cls.folder)

    def file(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, 'wb') as f:
            f.write(data)
        return path

    def command(self, path, name, *args, port=None):
        return ['node', os.path.join(HERE, 'tus_push.mjs'), path, 'http://127.0.0.1:%d%s/uploads' % (port or self.server.port, API), name, *args]

    def push(self, path, name, *args, port=None):
        done = subprocess.run(self.command(path, name, *args, port=port), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, (done.stdout, done.stderr))
        return json.loads(done.stdout)

    def arrived(self, name, data, server=None):
        recording = (server or self.server).get('%s/recordings/name:tus%%2F%s' % (API, name)).json()
        self.assertEqual((recording['content'], recording['state']), ('sha256:' + hashlib.sha256(data).hexdigest(), 'ready'))

    def test_whole(self):
        data = bag(lab_messages(3, blob=200000, salt=201))
        report = self.push(self.file('whole.bag', data), 'whole.bag')
        self.assertEqual((report['requests'], report['failed']), (['POST', 'PATCH'], []))
        self.arrived('whole.bag', data)

    def test_pieces(self):
        data = bag(lab_messages(3, blob=200000, salt=202))
        report = self.push(self.file('pieces.bag', data), 'pieces.bag', '--chunk', '100000', '--during-creation')
        self.assertEqual(report['requests'].count('PATCH'), (len(data) - 1) // 100000)
        self.assertEqual(report['failed'], [])
        self.arrived('pieces.bag', data)

    def test_parallel_parts(self):
        data = bag(lab_messages(3, blob=200000, salt=203))
        report = self.push(self.file('parallel.bag', data), 'parallel.bag', '--parallel', '3')
        self.assertEqual((report['requests'].count('POST'), report['failed']), (4, []))
        self.arrived('parallel.bag', data)

    def test_stopped_and_resumed(self):
        data = bag(lab_messages(4, blob=1000000, salt=204))
        path = self.file('stopped.bag', data)
        slow = Link(self.server.port, rate=6_000_000)
        first = self.push(path, 'stopped.bag', '--stop-after', str(len(data) // 3), port=slow.port)
        second = self.push(path, 'stopped.bag', '--url', first['url'])
        self.assertGreater(second['resumed_at'][0], 0)
        self.assertLess(second['resumed_at'][0], len(data))
        self.arrived('stopped.bag', data)
        slow.close()

    def test_server_killed(self):
        data = bag(lab_messages(4, blob=1000000, salt=205))
        path, store = self.file('killed.bag', data), tempfile.mkdtemp(prefix='reel-peers-')
        server = Server(store)
        slow = Link(server.port, rate=6_000_000)
        client = subprocess.Popen(self.command(path, 'killed.bag', port=slow.port), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(client.kill)
        self.assertTrue(eventually(lambda: slow.passed > len(data) // 2))
        server.process.kill()
        server.process.wait()
        server.stop(None)
        server = Server(store)
        slow.to = server.port
        out, err = client.communicate(timeout=PATIENCE)
        self.assertEqual(client.returncode, 0, (out, err))
        report = json.loads(out)
        self.assertGreater(report['resumed_at'][-1], 0)
        self.arrived('killed.bag', data, server)
        slow.close()
        server.stop()
        shutil.rmtree(store)
