"""A running NanoVer server recorded into a live recording: by the server (POST /recordings?live=true&from=ws://…) and by `reel record ws://… --to`."""
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import unittest
import urllib.parse

import msgpack

from harness import API, PATIENCE, REEL, Server, curl, eventually, reel
from samples import nanover, nanover_messages, read_nanover
from test_tls import make_certificate
from websocket_client import answer_handshake, frame_bytes

MESSAGES = nanover_messages()
PACKED = [msgpack.packb(message) for _, message in MESSAGES]
TOO_LONG = msgpack.packb({'x' * 70000: {}})  # no channel can have such a name
ANYWHERE = '--record-from', 'ws://127.0.0.1:*', '--record-from', 'wss://localhost:*'
GOODBYE = frame_bytes(0x88, b'\x03\xe8', mask=None)


def binary(message):
    return frame_bytes(0x82, message, mask=None)


class Peer:
    """A NanoVer server of which each connection does what a test says. The first one is that which the archive tries the address with."""
    def __init__(self, test):
        self.listening = socket.create_server(('127.0.0.1', 0))
        self.url = 'ws://127.0.0.1:%d' % self.listening.getsockname()[1]
        self.connections, self.lock = [], threading.Condition()
        threading.Thread(target=self.accept, daemon=True).start()
        test.addCleanup(self.close)

    def accept(self):
        try:
            while True:
                peer = self.listening.accept()[0]
                peer.settimeout(PATIENCE)
                answer_handshake(peer)
                with self.lock:
                    self.connections.append(peer)
                    self.lock.notify_all()
        except (OSError, IndexError):
            pass

    def connection(self, number):
        """The connection of this number, from 1; 0 was to try."""
        with self.lock:
            assert self.lock.wait_for(lambda: len(self.connections) > number, PATIENCE), len(self.connections)
            return self.connections[number]

    def close(self):
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        for peer in self.connections:
            peer.close()


def close_code(peer):
    """That of the close frame which the client sends (masked)."""
    data = b''
    while len(data) < 8:
        more = peer.recv(8 - len(data))
        if not more:
            break
        data += more
    return data[0] == 0x88 and bytes(b ^ data[2 + i % 4] for i, b in enumerate(data[6:8]))


class Recording(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.server = None

    def start(self, *args, env=None):
        self.server = Server(os.path.join(self.folder, 'data'), *args, env=env)
        self.addCleanup(self.server.stop, None)

    def created(self, url, status=201, name='run'):
        answer = self.server.request('POST', '%s/recordings?live=true&collection=lab&name=%s&from=%s' % (API, name, urllib.parse.quote(url, safe='')))
        self.assertEqual(answer.status, status, answer)
        return answer.json()

    def row(self, made):
        return self.server.get('%s/recordings/%s' % (API, made['id'])).json()

    def job(self, made):
        return self.server.get('%s/jobs/%s' % (API, made['job']['id'])).json()

    def becomes(self, made, **wanted):
        self.assertTrue(eventually(lambda: {k: self.row(made).get(k) for k in wanted} == wanted), (self.row(made), self.job(made), self.server.log_text()[-2000:]))

    def job_ends(self, made, state='done'):
        self.assertTrue(eventually(lambda: self.job(made)['state'] == state), self.job(made))
        return self.job(made)

    def pieces(self, made):
        answer = self.server.get('%s/recordings/%s/as/x.nanover.zip' % (API, made['id']))
        self.assertEqual(answer.status, 200, answer)
        return [piece for _, piece in read_nanover(answer.body)]


class ByTheServer(Recording):
    def setUp(self):
        super().setUp()
        self.start(*ANYWHERE)
        self.peer = Peer(self)

    def test_each_message_as_received(self):
        made = self.created(self.peer.url + '/any/path?x=1')
        self.assertEqual((made['state'], made['job']['href']), ('recording', '%s/jobs/%s' % (API, made['job']['id'])))
        peer = self.peer.connection(1)
        peer.sendall(b''.join(binary(p) for p in PACKED[:30]) + frame_bytes(0x81, b'a text', mask=None) + binary(b'\xc1 no message') + binary(TOO_LONG))
        peer.sendall(b''.join(binary(p) for p in PACKED[30:]))
        self.becomes(made, messages=len(PACKED))
        self.assertEqual(self.row(made)['state'], 'recording')
        self.assertEqual(self.pieces(made), PACKED)
        peer.sendall(GOODBYE)
        self.becomes(made, state='ready')
        self.assertEqual(self.job_ends(made)['outcome'], {'recording': made['id'], 'messages': len(PACKED), 'ignored': 2, 'breaks': 0})
        self.assertEqual(self.pieces(made), PACKED)

    def test_finish_ends_it(self):
        made = self.created(self.peer.url)
        peer = self.peer.connection(1)
        peer.sendall(binary(PACKED[0]))
        self.becomes(made, messages=1)
        self.assertEqual(self.server.request('POST', '%s/recordings/%s/finish' % (API, made['id'])).json()['state'], 'ready')
        self.assertEqual(close_code(peer), b'\x03\xe9')
        self.job_ends(made)
        self.assertEqual(self.pieces(made), PACKED[:1])

    def test_delete_ends_it(self):
        made = self.created(self.peer.url)
        peer = self.peer.connection(1)
        self.assertEqual(self.server.request('DELETE', '%s/recordings/%s?purge=true' % (API, made['id'])).status, 204)
        self.assertEqual(close_code(peer), b'\x03\xe9')
        self.job_ends(made)

    def test_a_cancelled_job(self):
        """The connection is closed; the recording can still be appended to and finished."""
        made = self.created(self.peer.url)
        peer = self.peer.connection(1)
        peer.sendall(binary(PACKED[0]))
        self.becomes(made, messages=1)
        self.assertEqual(self.server.request('DELETE', '%s/jobs/%s' % (API, made['job']['id'])).status, 204)
        self.assertEqual(close_code(peer), b'\x03\xe9')
        self.job_ends(made, 'cancelled')
        self.assertEqual(self.server.request('POST', '%s/recordings/%s/finish' % (API, made['id'])).json()['messages'], 1)

    def test_a_connection_that_breaks(self):
        """It is opened again; what came before is there."""
        made = self.created(self.peer.url)
        peer = self.peer.connection(1)
        peer.sendall(binary(PACKED[0]) + binary(PACKED[1])[:-1])
        peer.shutdown(socket.SHUT_RDWR)
        self.peer.connection(2).sendall(binary(PACKED[1]) + GOODBYE)
        self.becomes(made, state='ready')
        outcome = self.job_ends(made)['outcome']
        self.assertEqual((outcome['messages'], outcome['breaks']), (2, 1), outcome)
        self.assertIn('broke', outcome['last_break'])
        self.assertEqual(self.pieces(made), PACKED[:2])

    def test_as_many_as_threads(self):
        """A further one is refused, not left to wait without a message."""
        made = [self.created(self.peer.url, name='run%d' % i) for i in range(16)]
        self.assertIn('16', self.created(self.peer.url, 503, name='run16')['detail'])
        self.assertEqual(self.server.request('POST', '%s/recordings/%s/finish' % (API, made[0]['id'])).status, 200)
        self.job_ends(made[0])
        self.created(self.peer.url, name='run16')

    def test_a_message_that_is_too_large(self):
        made = self.created(self.peer.url)
        self.peer.connection(1).sendall(binary(PACKED[0]) + frame_bytes(0x82, b'\0' * 1000, mask=None, size=(16 << 20) + 1))
        self.becomes(made, state='ready')
        self.assertIn('16 MiB', json.dumps(self.job_ends(made, 'failed')))
        self.assertEqual(self.pieces(made), PACKED[:1])

    def test_it_goes_on_after_the_server(self):
        """Ended or killed, it connects again at the next start."""
        made = self.created(self.peer.url)
        for number in (1, 2):
            self.peer.connection(number).sendall(binary(PACKED[number - 1]))
            self.becomes(made, messages=number)
            self.server.stop() if number == 1 else (self.server.process.kill(), self.server.stop(None))
            self.start(*ANYWHERE)
        self.peer.connection(3).sendall(binary(PACKED[2]) + GOODBYE)
        self.becomes(made, state='ready')
        outcome = self.job_ends(made)['outcome']
        self.assertGreaterEqual(outcome['breaks'], 1, outcome)
        self.assertEqual(self.pieces(made), PACKED[:3])

    def test_an_address_that_is_not_allowed_any_more(self):
        made = self.created(self.peer.url)
        self.peer.connection(1)
        self.server.stop()
        self.start()
        self.becomes(made, state='ready')
        self.assertIn('--record-from', json.dumps(self.job_ends(made, 'failed')))

    def test_what_cannot_be_recorded(self):
        refused = [('ws://10.1.2.3:38801', '--record-from'), (self.peer.url.replace('ws:', 'wss:'), '--record-from'), (self.peer.url.replace('ws:', 'http:'), 'such as'),
                   (self.peer.url.replace('//', '//user@'), 'user'), (self.peer.url + '/ x', 'escaped'), ('ws://127.0.0.1:1@10.1.2.3:80/', 'user')]
        for url, word in refused:
            self.assertIn(word, json.dumps(self.created(url, 400)), url)
        answer = self.server.request('POST', '%s/recordings?name=run&from=%s' % (API, self.peer.url))
        self.assertEqual(answer.status, 400, answer)
        self.assertIn('live=true', answer.json()['detail'])
        for url, word in (('ws://127.0.0.1:1', 'connect'), (self.server.base.replace('http', 'ws') + '/healthz', '200')):
            problem = self.created(url, 422)
            self.assertIn(word, problem['detail'])
            self.assertIn('unreachable', problem['type'])
        self.assertEqual(self.server.get(API + '/recordings').json()['items'], [])

    def test_it_does_not_connect_for_a_form(self):
        """Whether the caller may create it is known only after the body."""
        answer = self.server.request('POST', '%s/recordings?live=true&name=run&from=%s' % (API, self.peer.url), b'--form--\r\n', headers={'Content-Type': 'multipart/form-data; boundary=form'})
        self.assertEqual(answer.status, 400, answer)
        self.assertIn('without a body', answer.json()['detail'])
        made = self.created(self.peer.url)
        self.peer.connection(1).sendall(GOODBYE)
        self.becomes(made, state='ready')
        self.assertEqual(len(self.peer.connections), 2)

    def test_a_secret_in_the_address(self):
        """It is in no error."""
        with socket.create_server(('127.0.0.1', 0)) as nobody:
            url = 'ws://127.0.0.1:%d/x?link=secret' % nobody.getsockname()[1]
        self.assertNotIn('secret', json.dumps(self.created(url, 422)))


class Encrypted(Recording):
    """wss://, of a server whose certificate is in the file that SSL_CERT_FILE names."""
    def test_both(self):
        cert, key = make_certificate(self.folder, 'wss.lab')
        source = Server(None, '--insecure-open', '--tls-cert', cert, '--tls-key', key)
        self.addCleanup(source.stop, None)
        name = os.path.join(self.folder, 'atoms.nanover.zip')
        with open(name, 'wb') as f:
            f.write(nanover(MESSAGES))
        code, body = curl('--cacert', cert, '--resolve', 'localhost:%d:127.0.0.1' % source.port, '-T', name,
                          'https://localhost:%d%s/recordings/by-name/lab/atoms.nanover.zip' % (source.port, API))
        self.assertEqual(code, 0, body)
        url = 'wss://localhost:%d%s/recordings/%s/nanover?loop=false&speed=max' % (source.port, API, json.loads(body)['id'])
        target = os.path.join(self.folder, 'x.mcap')
        process = subprocess.Popen([REEL, 'record', url, target], env={**os.environ, 'SSL_CERT_FILE': cert})
        self.addCleanup(process.kill)

        def has_all():
            done = os.path.exists(target) and reel('info', '--json', target, check=False)
            return done and done.returncode == 0 and json.loads(done.stdout)['messages'] == len(PACKED)
        self.assertTrue(eventually(has_all))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 0)
        refused = reel('record', url, os.path.join(self.folder, 'y.mcap'), check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(b'certificate', refused.stderr)

        self.start(*ANYWHERE, env={'SSL_CERT_FILE': cert})
        made = self.created(url)
        self.becomes(made, messages=len(PACKED))
        self.assertEqual(self.pieces(made), PACKED)
        source.stop()
        self.becomes(made, state='ready')


class ToAServer(Recording):
    """reel record ws://… --to URL"""
    def setUp(self):
        super().setUp()
        self.start()
        self.peer = Peer(self)

    def recorded(self, *args):
        process = subprocess.Popen([REEL, 'record', self.peer.url, '--to', self.server.base, '--name', 'run', *args], stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def one(self, **wanted):
        items = self.server.get(API + '/recordings').json()['items']
        return items[0] if len(items) == 1 and all(items[0][k] == v for k, v in wanted.items()) else None

    def test_it_ends_with_the_peer(self):
        process = self.recorded('--collection', 'lab')
        self.peer.connection(0).sendall(b''.join(binary(p) for p in [TOO_LONG, *PACKED]) + GOODBYE)
        self.assertEqual(process.wait(PATIENCE), 0, process.stderr.read())
        made = self.one(state='ready', collection='lab')
        self.assertEqual(self.pieces(made), PACKED)

    def test_it_ends_with_ctrl_c(self):
        process = self.recorded()
        self.peer.connection(0).sendall(b''.join(binary(p) for p in PACKED[:3]))
        made = eventually(lambda: self.one(state='recording'))
        self.assertTrue(eventually(lambda: self.row(made)['messages'] == 3), self.row(made))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 0, process.stderr.read())
        self.assertEqual(self.pieces(self.one(state='ready')), PACKED[:3])

    def test_a_connection_that_breaks(self):
        process = self.recorded()
        peer = self.peer.connection(0)
        peer.sendall(binary(PACKED[0]))
        peer.shutdown(socket.SHUT_RDWR)
        self.assertEqual(process.wait(PATIENCE), 1)
        self.assertIn(b'broke', process.stderr.read())
        self.assertEqual(self.pieces(self.one(state='ready')), PACKED[:1])

    def test_nobody_there(self):
        with socket.create_server(('127.0.0.1', 0)) as nobody:
            url = 'ws://127.0.0.1:%d' % nobody.getsockname()[1]
        self.assertEqual(reel('record', url, '--to', self.server.base, '--name', 'x', check=False).returncode, 1)
        self.assertEqual(self.server.get(API + '/recordings').json()['items'], [])


if __name__ == '__main__':
    unittest.main()
