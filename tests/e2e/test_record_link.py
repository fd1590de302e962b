"""reel record --to over a link that is cut: the program that writes rows is not held up, and the server has all of them in the end."""
import json
import os
import subprocess
import tempfile
import shutil

from harness import API, PATIENCE, REEL, Case, Server, eventually
from link import Link

CHANNEL = b'{"$channel": {"topic": "/words", "type": "std_msgs/String", "encoding": "ros1", "schema": "string data\\n"}}\n'


class RecordLink(Case):
    server_args = ('--live-expiry', '1s')  # of silence; a link that is back sooner finds the recording as it was

    def setUp(self):
        self.state = tempfile.mkdtemp(prefix='reel-state-')
        self.addCleanup(shutil.rmtree, self.state, True)

    def record(self, url, name):
        process = subprocess.Popen([REEL, 'record', '--to', url, '--name', name, '--collection', 'link'], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, 'XDG_STATE_HOME': self.state})
        self.addCleanup(process.kill)
        return process

    def put(self, process, first, last, blob=10):
        for i in range(first, last):
            process.stdin.write(json.dumps({'topic': '/i', 'data': {'i': i, 'blob': 'x' * blob}}).encode() + b'\n')
        process.stdin.flush()

    def rows(self, server, name):
        answer = server.get('%s/recordings/name:link%%2F%s/messages?topic=/i' % (API, name), Accept='application/x-ndjson')
        return [row['data']['i'] for row in answer.rows()] if answer.status == 200 else None

    def finished(self, process):
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 0, process.stderr.read())
        self.assertEqual(os.listdir(os.path.join(self.state, 'reel')), [])
        process.stderr.close()

    def test_the_link_is_back_in_time(self):
        server = Server(None)
        link = Link(server.port)
        self.addCleanup(link.close)
        process = self.record(link.base, 'short')
        self.put(process, 0, 10)
        self.assertTrue(eventually(lambda: self.rows(server, 'short') == list(range(10))))
        link.budget = 0  # the next bytes cut it
        self.put(process, 10, 1010, blob=2000)  # far more than a pipe holds: not held up
        link.budget = 3000  # a request that breaks off
        self.put(process, 1010, 1020)
        self.assertTrue(eventually(lambda: link.budget == 0))
        link.budget = None
        self.assertTrue(eventually(lambda: self.rows(server, 'short') == list(range(1020))))
        self.finished(process)
        self.assertEqual(server.get('%s/recordings/name:link%%2Fshort' % API).json()['state'], 'ready')
        server.stop()

    def test_the_server_has_finished_it_meanwhile(self):
        link = Link(self.server.port)
        self.addCleanup(link.close)
        process = self.record(link.base, 'long.mcap')
        process.stdin.write(CHANNEL)
        self.put(process, 0, 5)
        state = lambda: self.server.get('%s/recordings/name:link%%2Flong.mcap' % API).json().get('state')
        self.assertTrue(eventually(lambda: self.rows(self.server, 'long.mcap') == list(range(5))))
        link.budget = 0
        self.put(process, 5, 8)
        process.stdin.write(b'{"topic": "/words", "data": {"$base64": "AgAAAGhp"}}\n')
        process.stdin.flush()
        self.assertTrue(eventually(lambda: state() == 'ready'))
        link.budget = None
        self.put(process, 8, 9)
        self.finished(process)
        names = ['long.mcap'] + ['long-%d.mcap' % i for i in range(2, 9)]  # two, or more where a second without rows passed once more
        parts = {name: rows for name in names for rows in [self.rows(self.server, name)] if rows is not None}
        self.assertEqual(sum(parts.values(), []), list(range(9)))
        self.assertGreater(len(parts), 1)
        words = [self.server.get('%s/recordings/name:link%%2F%s' % (API, name), Prefer='wait=30').json() for name in list(parts)[1:]]
        self.assertEqual({row['group'] for row in words}, {'long.mcap'})
        self.assertEqual({t['type'] for row in words for t in row['topics'] if t['name'] == '/words' and t['messages']}, {'std_msgs/String'})

    def test_killed_while_the_link_is_cut(self):
        server = Server(None)
        link = Link(server.port)
        self.addCleanup(link.close)
        process = self.record(link.base, 'killed')
        self.put(process, 0, 5)
        self.assertTrue(eventually(lambda: self.rows(server, 'killed') == list(range(5))))
        link.budget = 0
        self.put(process, 5, 50)
        left, = [os.path.join(self.state, 'reel', name) for name in os.listdir(os.path.join(self.state, 'reel'))]
        self.assertTrue(eventually(lambda: b'"i": 49' in open(left, 'rb').read()))
        process.kill()
        process.communicate()
        link.budget = None
        process = self.record(link.base, 'killed')
        self.put(process, 50, 52)
        self.assertTrue(eventually(lambda: self.rows(server, 'killed') == list(range(52))))
        self.finished(process)
        server.stop()
