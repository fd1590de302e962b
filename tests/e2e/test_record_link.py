"""reel record --to over a link that is cut: the program that writes rows is not held up, and the server has all of them in the end."""
import glob
import hashlib
import http.server
import json
import os
import struct
import subprocess
import shutil
import tempfile
import threading
import urllib.error
import urllib.request

from harness import API, PATIENCE, REEL, Case, Server, create_token, eventually, reel
from link import Link

CHANNEL = b'{"$channel": {"topic": "/words", "type": "std_msgs/String", "encoding": "ros1", "schema": "string data\\n"}}\n'


class Proxy(http.server.ThreadingHTTPServer):
    """Refuses bodies of more bytes, as proxies do."""
    daemon_threads = True

    def __init__(self, to, most):
        straight = urllib.request.build_opener(urllib.request.ProxyHandler({}))

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
                status, type, answer = 413, 'text/html', b'too large'
                if len(body) <= most:
                    headers = {k: v for k, v in self.headers.items() if k in ('Content-Type', 'Idempotency-Key')}
                    try:
                        with straight.open(urllib.request.Request(to + self.path, body, headers)) as done:
                            status, type, answer = done.status, done.headers['Content-Type'], done.read()
                    except urllib.error.HTTPError as e:
                        status, type, answer = e.code, e.headers['Content-Type'], e.read()
                self.send_response(status)
                self.send_header('Content-Type', type)
                self.send_header('Content-Length', str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *args):
                pass
        super().__init__(('127.0.0.1', 0), Handler)
        self.base = 'http://127.0.0.1:%d' % self.server_port
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


class RecordLink(Case):
    server_args = ('--live-expiry', '5s')  # of silence; a link that is back sooner finds the recording as it was

    def setUp(self):
        self.state = tempfile.mkdtemp(prefix='reel-state-')
        self.addCleanup(shutil.rmtree, self.state, True)

    def record(self, url, name, *args):
        process = subprocess.Popen([REEL, 'record', '--to', url, '--name', name, '--collection', 'link', *args], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, 'XDG_STATE_HOME': self.state})
        self.addCleanup(process.kill)
        return process

    def put(self, process, first, last, blob=10):
        for i in range(first, last):
            process.stdin.write(json.dumps({'topic': '/i', 'data': {'i': i, 'blob': 'x' * blob}}).encode() + b'\n')
        process.stdin.flush()

    def rows(self, server, name, **headers):
        answer = server.get('%s/recordings/name:link%%2F%s/messages?topic=/i' % (API, name), Accept='application/x-ndjson', **headers)
        return [row['data']['i'] for row in answer.rows()] if answer.status == 200 else None

    def left(self):
        path, = [os.path.join(self.state, 'reel', name) for name in os.listdir(os.path.join(self.state, 'reel'))]
        return path

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
        left = self.left()
        self.assertTrue(eventually(lambda: b'"i": 49' in open(left, 'rb').read()))
        process.kill()
        process.communicate()
        link.budget = None
        process = self.record(link.base, 'killed')
        self.put(process, 50, 52)
        self.assertTrue(eventually(lambda: self.rows(server, 'killed') == list(range(52))))
        self.finished(process)
        server.stop()

    def test_killed_when_all_is_sent(self):
        server = Server(None)
        process = self.record(server.base, 'sent')
        self.put(process, 0, 5)
        self.assertTrue(eventually(lambda: self.rows(server, 'sent') == list(range(5))))

        def all_is_sent():
            with open(self.left(), 'rb') as f:
                f.seek(40)
                return struct.unpack('<Q', f.read(8))[0] == os.fstat(f.fileno()).st_size
        self.assertTrue(eventually(all_is_sent))
        process.kill()
        process.communicate()
        process = self.record(server.base, 'sent')
        self.put(process, 5, 7)
        self.finished(process)
        self.assertEqual(self.rows(server, 'sent'), list(range(7)))
        server.stop()

    def test_a_token_that_ends(self):
        server = Server(None)
        token_file = os.path.join(self.state, 'token')
        admin = {'Authorization': 'Bearer ' + create_token(server, 'admin', 'reader')}

        def new_token(name):
            with open(token_file, 'w') as f:
                f.write(create_token(server, 'edit', name))
        new_token('robot')
        process = self.record(server.base, 'token', '--token-file', token_file)
        self.put(process, 0, 5)
        self.assertTrue(eventually(lambda: self.rows(server, 'token', **admin) == list(range(5))))
        reel('token', 'revoke', 'robot', '--data', server.data)
        self.put(process, 5, 8)
        process.stdin.close()
        self.assertNotEqual(process.wait(PATIENCE), 0)
        self.assertIn(b'401', process.stderr.read())
        process.stderr.close()
        new_token('robot-2')
        process = self.record(server.base, 'token', '--token-file', token_file)
        self.put(process, 8, 9)
        self.finished(process)
        self.assertEqual(self.rows(server, 'token', **admin), list(range(9)))
        server.stop()

    def test_refused_rows_are_put_aside(self):
        """What the server never takes neither stops the rest nor is lost."""
        server = Server(None)
        process = self.record(server.base, 'some')
        self.put(process, 0, 3)
        self.assertTrue(eventually(lambda: self.rows(server, 'some') == [0, 1, 2]))
        refused = b'{"topic": "/i", "data": {"i": 3, "log_time": 5}, "log_time": "never"}\n'
        process.stdin.write(refused)
        process.stdin.flush()
        aside = os.path.join(self.state, 'reel')
        self.assertTrue(eventually(lambda: [n for n in os.listdir(aside) if n.endswith('.refused')]))
        self.put(process, 4, 6)
        self.assertTrue(eventually(lambda: self.rows(server, 'some') == [0, 1, 2, 4, 5]))
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 1)
        said = process.stderr.read().decode()
        self.assertIn('the server answered 400', said)
        self.assertEqual(said.count('put aside in '), 1)
        process.stderr.close()
        name, = os.listdir(aside)
        with open(os.path.join(aside, name), 'rb') as f:
            self.assertEqual(f.read(), refused)
        server.stop()

    def test_channels_of_refused_rows(self):
        """Later messages are of them, and not bytes of no type."""
        server = Server(None)
        process = self.record(server.base, 'typed')
        aside = lambda: b''.join(open(path, 'rb').read() for path in glob.glob(os.path.join(self.state, 'reel', '*.refused')))
        for i in range(2):
            process.stdin.write((CHANNEL if i == 0 else b'') + b'{"topic": "/i", "data": {}, "log_time": "never"}\n')
            process.stdin.flush()
            self.assertTrue(eventually(lambda: aside().count(b'never') == i + 1))
        process.stdin.write(b'{"topic": "/words", "data": {"$base64": "AgAAAGhp"}}\n')
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 1)
        self.assertNotIn(b'channels are not defined', process.stderr.read())
        process.stderr.close()
        row = server.get('%s/recordings/name:link%%2Ftyped' % API, Prefer='wait=30').json()
        self.assertEqual({t['name']: t['type'] for t in row['topics']}, {'/words': 'std_msgs/String'})
        server.stop()

    def test_a_proxy_that_refuses_large_bodies(self):
        """Rows of a second are sent in halves; one that is too large alone is put aside."""
        server = Server(None)
        proxy = Proxy(server.base, 1000)
        self.addCleanup(proxy.close)
        process = self.record(proxy.base, 'halves')
        process.stdin.write(CHANNEL)
        self.put(process, 0, 50)
        self.put(process, 50, 51, blob=2000)
        self.put(process, 51, 60)
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 1)
        self.assertEqual(process.stderr.read().count(b'put aside in '), 1)
        process.stderr.close()
        name, = os.listdir(os.path.join(self.state, 'reel'))
        with open(os.path.join(self.state, 'reel', name)) as f:
            self.assertEqual(json.loads(f.read())['data']['i'], 50)
        self.assertTrue(eventually(lambda: self.rows(server, 'halves') == [i for i in range(60) if i != 50]))
        server.stop()

    def test_the_file_becomes_shorter(self):
        """Also while something is always on its way; what is not sent stays."""
        server = Server(None)
        link = Link(server.port)
        self.addCleanup(link.close)
        process = self.record(link.base, 'much')
        self.put(process, 0, 1)
        self.assertTrue(eventually(lambda: self.rows(server, 'much') == [0]))
        link.budget = 0
        left = self.left()
        before = open(left, 'rb')  # so that no other file gets its inode
        self.addCleanup(before.close)
        self.put(process, 1, 201, blob=100_000)
        self.assertTrue(eventually(lambda: os.stat(left).st_size > 20_000_000))
        link.budget = None
        self.assertTrue(eventually(lambda: self.rows(server, 'much') == list(range(201))))
        self.assertTrue(eventually(lambda: os.stat(left).st_size < 8 << 20))
        self.assertNotEqual(os.stat(left).st_ino, os.fstat(before.fileno()).st_ino)
        link.budget = 0
        self.put(process, 201, 210)
        self.assertTrue(eventually(lambda: b'"i": 209' in open(left, 'rb').read()))
        process.kill()
        process.communicate()
        link.budget = None
        process = self.record(link.base, 'much')
        self.put(process, 210, 211)
        self.finished(process)
        self.assertEqual(self.rows(server, 'much'), list(range(211)))
        server.stop()

    def test_a_power_failure_when_it_began(self):
        os.mkdir(os.path.join(self.state, 'reel'))
        key = hashlib.sha256('\n'.join((self.server.base, 'link', 'blank', 'application/x-ndjson')).encode()).hexdigest()[:16]
        with open(os.path.join(self.state, 'reel', 'record-' + key), 'wb') as f:
            f.write(bytes(56))
        process = self.record(self.server.base, 'blank')
        self.put(process, 0, 2)
        self.finished(process)
        self.assertEqual(self.rows(self.server, 'blank'), [0, 1])
