"""An archive that is put behind a proxy by the letter of docker/nginx.conf and docker/Caddyfile: strangers were its administrators, as every request of a
proxy comes from loopback."""
import json
import os
import re
import socket
import subprocess
import unittest

from harness import API, Server, curl, reel
from samples import bag, lab_messages
from test_proxy import DOCKER, NAME, CaddyProxy, NginxProxy, has_caddy, has_nginx

STRANGER = '198.51.100.7'


def own_address():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect((STRANGER, 9))  # sends nothing
            return s.getsockname()[0]
        except OSError:
            return '127.0.0.1'


class Namespace:
    """A network of its own, with one address; its other end is an address of this machine."""

    def __init__(self, number):
        self.name, self.link = 'reel%d' % os.getpid(), 'reel%d' % (os.getpid() % 10**8)
        self.here, self.there = ('10.%d.%d.%d' % (200 + number, os.getpid() // 63 % 256, os.getpid() % 63 * 4 + i) for i in (1, 2))

    def run(self, *command):
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL).returncode == 0

    def open(self):
        """False: that is not permitted, or there is no ip."""
        try:
            return self.run('ip', 'netns', 'add', self.name) and self.run('ip', 'link', 'add', self.link, 'type', 'veth', 'peer', 'name', 'out', 'netns', self.name) and \
                self.run('ip', 'addr', 'add', self.here + '/30', 'dev', self.link) and self.run('ip', 'link', 'set', self.link, 'up') and \
                self.run('ip', '-n', self.name, 'addr', 'add', self.there + '/30', 'dev', 'out') and self.run('ip', '-n', self.name, 'link', 'set', 'out', 'up')
        except FileNotFoundError:
            return False

    def close(self):
        try:
            self.run('ip', 'link', 'del', self.link)
            self.run('ip', 'netns', 'del', self.name)
        except FileNotFoundError:
            pass


class Published:
    """The archive is started as the comments of the example say."""
    bind = '0.0.0.0'

    @classmethod
    def setUpClass(cls):
        cls.space = Namespace(cls.number)
        cls.addClassCleanup(cls.space.close)
        cls.far = cls.space.open()
        super().setUpClass()
        with open(os.path.join(DOCKER, cls.file)) as f:
            comment = ' '.join(line.strip('# \n') for line in f if line.startswith('#'))
        assert re.search(r'--host archive\.example\.org.* --trust-proxy ADDRESS', comment), comment

    def status(self, method, path, body=None, *headers):
        """Asked by another machine; where none can be made, by an address of this one that is not loopback."""
        address = self.space.here if self.far else own_address()
        command = ['--cacert', self.certificate, '-o', '/dev/null', '-w', '%{http_code}', '--resolve', '%s:%d:%s' % (NAME, self.port, address), '-X', method, *headers]
        command += ['-H', 'Content-Type: application/json', '--data', body] if body else []
        url = 'https://%s:%d%s' % (NAME, self.port, path)
        if self.far:
            done = subprocess.run(['ip', 'netns', 'exec', self.space.name, 'curl', '-sS', '--max-time', '60', *command, url], stdout=subprocess.PIPE, check=True)
            return int(done.stdout)
        return int(curl(*command, url)[1])

    def test_strangers_are_refused(self):
        known = ('-H', 'Authorization: Bearer ' + self.token)
        stored = self.server.request('PUT', API + '/recordings/by-name/lab/a.bag', bag(lab_messages(1)), {'Authorization': 'Bearer ' + self.token}).json()['id']
        recording, token = '%s/recordings/%s' % (API, stored), json.dumps({'name': 'mine', 'role': 'admin'})
        for claim in ((), ('-H', 'X-Forwarded-For: 127.0.0.1'), ('-H', 'Forwarded: for=127.0.0.1'), ('-H', 'X-Remote-User: root')):
            self.assertEqual(self.status('GET', API + '/recordings', None, *claim), 401, claim)
            self.assertEqual(self.status('GET', recording + '/file/a.bag', None, *claim), 401, claim)
            self.assertEqual(self.status('POST', API + '/tokens', token, *claim), 401, claim)
            self.assertEqual(self.status('DELETE', recording + '?purge=true', None, *claim), 401, claim)
        self.assertEqual(self.status('GET', recording, None, *known), 200)
        self.assertEqual(self.status('POST', API + '/tokens', token, *known), 201)
        self.assertEqual(self.status('DELETE', recording + '?purge=true', None, *known), 204)

    def test_the_machine_itself_is_a_stranger_too(self):
        self.assertEqual(self.server.get(API + '/recordings').status, 401)


class OnlyHost:
    server_args = ('--host', NAME)


class Trusting:
    server_args = ('--host', NAME, '--trust-proxy', '127.0.0.1')


@has_nginx
class Nginx(Published, OnlyHost, NginxProxy, unittest.TestCase):
    file, number = 'nginx.conf', 1


@has_nginx
class NginxTrusted(Published, Trusting, NginxProxy, unittest.TestCase):
    file, number = 'nginx.conf', 2


@has_caddy
class Caddy(Published, OnlyHost, CaddyProxy, unittest.TestCase):
    file, number = 'Caddyfile', 3


@has_caddy
class CaddyTrusted(Published, Trusting, CaddyProxy, unittest.TestCase):
    file, number = 'Caddyfile', 4


class Forwarded(unittest.TestCase):
    """A proxy that the archive has not been told of, such as one that passes on as 127.0.0.1."""

    def serve(self, *args):
        server = Server(None, *args)
        self.addCleanup(server.stop)
        return server

    def test_an_open_server_is_for_its_own_machine(self):
        server = self.serve()
        for name, value, status in (('X-Forwarded-For', STRANGER, 401), ('X-Forwarded-For', STRANGER + ', 127.0.0.1', 401), ('X-Forwarded-For', '127.0.0.1, ' + STRANGER, 401),
                                    ('X-Forwarded-For', '', 401), ('X-Forwarded-For', 'unknown', 401), ('X-Real-IP', STRANGER, 401), ('Forwarded', 'for=' + STRANGER, 401),
                                    ('Forwarded', 'for="[2001:db8::1]:99";proto=https', 401), ('Forwarded', 'for=_secret', 401), ('Forwarded', 'proto=https', 401),
                                    ('X-Forwarded-For', '127.0.0.1', 200), ('X-Forwarded-For', '::1, 127.0.0.1:99', 200), ('Forwarded', 'for=127.0.0.1', 200)):
            with self.subTest(name, value=value):
                self.assertEqual(server.request('GET', API + '/recordings', headers={name: value}).status, status)
                self.assertEqual(server.request('POST', API + '/tokens', '{"name": "mine", "role": "king"}', {name: value}).status, 401 if status == 401 else 400)
        refused = server.request('GET', API + '/recordings', headers={'X-Forwarded-For': STRANGER})
        self.assertIn('reel token create --role admin', refused.json()['detail'])
        self.assertEqual(server.get(API + '/recordings').status, 200)
        self.assertNotIn('version', server.request('GET', API, headers={'X-Forwarded-For': STRANGER}).json())

    def test_two_lines(self):
        server = self.serve()
        head = 'GET %s/recordings HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-For: %s\r\n\r\n' % (API, STRANGER)
        self.assertEqual(server.raw(head.encode()).split()[1], b'401')

    def test_what_says_that_others_reach_the_server_closes_it(self):
        for args in (('--host', 'lab'), ('--public-url', 'http://lab/'), ('--trust-proxy', '10.0.0.1')):
            server = self.serve(*args)
            self.assertEqual(server.get(API + '/recordings').status, 401, args)
            with open(os.path.join(server.data, 'first-token')) as f:
                self.assertEqual(server.get(API + '/recordings', Authorization='Bearer ' + f.read().strip()).status, 200)
        self.assertEqual(self.serve('--host', 'lab', '--insecure-open').get(API + '/recordings').status, 200)


class FirstToken(unittest.TestCase):
    """A first token of another role closed the archive, and nobody could create one of an admin by HTTP."""

    def test_it_is_an_admins(self):
        server = Server()
        self.addCleanup(server.stop)
        for body in ({'role': 'read'}, {'role': 'upload'}, {'role': 'admin', 'collections': ['lab']}):
            answer = server.request('POST', API + '/tokens', json.dumps({'name': 'a', **body}))
            self.assertEqual(answer.status, 400, answer)
            self.assertIn('create an admin token first', answer.json()['detail'])
        for args in (('--role', 'read'), ('--role', 'admin', '--collection', 'lab')):
            done = reel('token', 'create', '--data', server.data, '--name', 'a', *args, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, b''))
            self.assertIn(b'create an admin token first', done.stderr)
        self.assertEqual(server.get(API + '/recordings').status, 200)  # still open
        self.assertFalse(os.path.exists(os.path.join(server.data, 'tokens-required')))
        self.assertEqual(server.request('POST', API + '/tokens', json.dumps({'name': 'a', 'role': 'admin'})).status, 201)
        self.assertTrue(os.path.exists(os.path.join(server.data, 'tokens-required')))
        reel('token', 'create', '--data', server.data, '--name', 'b', '--role', 'read')
