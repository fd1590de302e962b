"""nginx and Caddy in front of a server, as docker/nginx.conf and docker/Caddyfile have them but for names, ports and certificate."""
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import unittest

from harness import API, PATIENCE, Server, curl, eventually, files_below
from samples import bag, lab_messages

DOCKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docker')
NAME = 'archive.example.org'


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as s:
        return s.getsockname()[1]


class Proxy:
    """A server and a proxy; the classes below say how one is started."""
    server_args, bind = ('--host', NAME, '--trust-proxy', '127.0.0.1', '--proxy-user-header', 'X-Remote-User', '--proxy-role', 'admin'), '127.0.0.1'

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='reel-proxy-')
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.certificate, cls.key = os.path.join(cls.folder, 'cert.pem'), os.path.join(cls.folder, 'key.pem')
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=' + NAME, '-addext',
                        'subjectAltName=DNS:' + NAME, '-keyout', cls.key, '-out', cls.certificate], check=True, stderr=subprocess.DEVNULL)
        cls.server = Server(None, *cls.server_args)
        cls.addClassCleanup(cls.server.stop, None)
        with open(os.path.join(cls.server.data, 'first-token')) as f:
            cls.token = f.read().strip()
        cls.port, cls.plain = free_port(), free_port()
        cls.log = open(os.path.join(cls.folder, 'log'), 'wb')
        cls.addClassCleanup(cls.log.close)
        cls.proxy = subprocess.Popen(cls.command(), stdin=subprocess.DEVNULL, stdout=cls.log, stderr=cls.log, env={**os.environ, 'HOME': cls.folder, 'XDG_DATA_HOME': cls.folder})
        cls.addClassCleanup(cls.proxy.wait)
        cls.addClassCleanup(cls.proxy.terminate)
        assert eventually(cls.listens), open(cls.log.name).read()

    @classmethod
    def listens(cls):
        with socket.socket() as s:
            return s.connect_ex(('127.0.0.1', cls.port)) == 0

    @classmethod
    def example(cls, name):
        with open(os.path.join(DOCKER, name)) as f:
            return f.read().replace('127.0.0.1:8040', '127.0.0.1:%d' % cls.server.port)

    @classmethod
    def write(cls, name, text):
        path = os.path.join(cls.folder, name)
        with open(path, 'w') as f:
            f.write(text)
        return path

class NginxProxy(Proxy):
    @classmethod
    def command(cls):
        text = cls.example('nginx.conf').replace('/etc/ssl/private/archive.pem', cls.certificate).replace('/etc/ssl/private/archive.key', cls.key)
        text = text.replace('listen 443', 'listen %s:%d' % (cls.bind, cls.port)).replace('listen 80', 'listen %s:%d' % (cls.bind, cls.plain))
        temporary = ''.join('%s_temp_path %s/%s; ' % (kind, cls.folder, kind) for kind in ('client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'))
        main = 'daemon off; worker_processes 1; error_log stderr; pid %s/pid; events {} http { access_log off; %s\n%s}\n' % (cls.folder, temporary, text)
        return ['nginx', '-p', cls.folder, '-e', 'stderr', '-c', cls.write('nginx.conf', main)]


class CaddyProxy(Proxy):
    @classmethod
    def command(cls):
        text = cls.example('Caddyfile').replace(NAME + ' {', NAME + ' {\n\ttls %s %s' % (cls.certificate, cls.key), 1)
        options = '{\n\tadmin off\n\tgrace_period 1s\n\thttp_port %d\n\thttps_port %d\n\tdefault_bind %s\n}\n' % (cls.plain, cls.port, cls.bind)
        return ['caddy', 'run', '--adapter', 'caddyfile', '--config', cls.write('Caddyfile', options + text)]


class Behind:
    """What holds behind any of them."""

    def connect(self):
        context = ssl.create_default_context(cafile=self.certificate)
        return context.wrap_socket(socket.create_connection(('127.0.0.1', self.port), timeout=PATIENCE), server_hostname=NAME)

    def head(self, method, path, *lines):
        return ('%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s\r\n' % (method, path, NAME, self.token, ''.join(line + '\r\n' for line in lines))).encode('latin-1')

    def ask(self, path, method='GET', body=None, **headers):
        with self.connect() as s:
            connection = http.client.HTTPConnection(NAME)
            connection.sock = s
            connection.request(method, path, body, {'Authorization': 'Bearer ' + self.token, **{k.replace('_', '-'): v for k, v in headers.items()}})
            answer = connection.getresponse()
            return answer, answer.read()

    def upload(self, name):
        answer, body = self.ask('%s/recordings/by-name/proxy/%s' % (API, name), 'PUT', bag(lab_messages(2, salt=len(name))))
        self.assertIn(answer.status, (200, 201), body)
        return json.loads(body)['id']

    def test_recordings_go_in_and_come_out(self):
        number = self.upload('some.bag')
        straight = self.server.get('%s/recordings/%s/as/x.mcap' % (API, number), Authorization='Bearer ' + self.token).body
        answer, body = self.ask('%s/recordings/%s/as/x.mcap' % (API, number))
        self.assertEqual((answer.status, body, answer.headers['Accept-Ranges']), (200, straight, 'bytes'))
        answer, body = self.ask('%s/recordings/%s/as/x.mcap' % (API, number), Range='bytes=-100')
        self.assertEqual((answer.status, body), (206, straight[-100:]))
        code, output = curl('--cacert', self.certificate, '--resolve', '%s:%d:127.0.0.1' % (NAME, self.port), '-H', 'Authorization: Bearer ' + self.token,
                          'https://%s:%d%s/recordings/%s' % (NAME, self.port, API, number))
        self.assertEqual((code, json.loads(output)['id']), (0, number))

    def test_plain_http_is_led_to_tls(self):
        connection = http.client.HTTPConnection('127.0.0.1', self.plain, timeout=PATIENCE)
        connection.request('GET', '/x', headers={'Host': NAME})
        answer = connection.getresponse()
        connection.close()
        self.assertEqual((answer.status, re.sub(r':\d+', '', answer.headers['Location'])), (308, 'https://%s/x' % NAME))

    def test_uploads_are_not_held_back(self):
        """Of a body that has not ended the archive has what was sent."""
        whole, sent = 16 << 20, 8 << 20
        with self.connect() as s:
            s.sendall(self.head('POST', API + '/uploads', 'Tus-Resumable: 1.0.0', 'Upload-Length: %d' % whole, 'Content-Length: 0', 'Connection: close',
                                'Upload-Metadata: filename bGF0ZS5iYWc='))
            where = re.search(rb'(?i)location: (?:https?://[^/]+)?(\S+)', s.recv(65536)).group(1).decode()
        with self.connect() as s:
            s.sendall(self.head('PATCH', where, 'Tus-Resumable: 1.0.0', 'Upload-Offset: 0', 'Content-Type: application/offset+octet-stream', 'Content-Length: %d' % whole))
            s.sendall(b'x' * sent)
            folder = os.path.join(self.server.data, 'incoming')
            self.assertTrue(eventually(lambda: sum(os.path.getsize(path) for path in files_below(folder) if path.endswith('.part')) > sent // 2))

    def test_events_are_not_held_back(self):
        with self.connect() as s:
            s.sendall(self.head('GET', API + '/changes?kind=recording.created', 'Accept: text/event-stream'))
            got = b''
            while b'\r\n\r\n' not in got:
                got += s.recv(65536)
            number = self.upload('event.bag')
            while number.encode() not in got:
                more = s.recv(65536)
                self.assertTrue(more, got)
                got += more

    def test_nobody_says_for_the_proxy_who_asks(self):
        answer, _ = self.ask(API + '/recordings', Authorization='', X_Remote_User='root')
        self.assertEqual(answer.status, 401)
        answer, _ = self.ask(API + '/recordings', Authorization='', X_Remote_User='root', Connection='X-Remote-User, close')
        self.assertEqual(answer.status, 401)

    def test_the_archive_sees_the_client(self):
        self.ask(API + '/recordings', X_Forwarded_For='203.0.113.9', X_Request_Id='by-proxy-%s' % self.port)
        line = eventually(lambda: [line for line in self.server.log_text().splitlines() if 'by-proxy-%s' % self.port in line])
        self.assertTrue(line)
        self.assertNotIn('203.0.113.9', line[0])

    def test_nothing_is_smuggled_past(self):
        """What libmicrohttpd alone would take for the end of a header, or for two lengths: one answer, and nothing of what follows is a request."""
        hidden = 'GET /smuggled HTTP/1.1\r\nHost: %s\r\n\r\n' % NAME
        for name, lines in (('no name', (': x', 'Content-Length: %d' % len(hidden))), ('NUL', ('X-A: a\0b', 'Content-Length: %d' % len(hidden))),
                            ('both', ('Content-Length: %d' % len(hidden), 'Transfer-Encoding: chunked')), ('two lengths', ('Content-Length: 0', 'Content-Length: %d' % len(hidden))),
                            ('blank', ('Content-Length : %d' % len(hidden),)), ('unknown coding', ('Transfer-Encoding: xchunked',))):
            with self.subTest(name), self.connect() as s:
                s.sendall(self.head('GET', API + '/recordings', 'Connection: close', *lines) + hidden.encode())
                got = b''
                try:
                    while True:
                        more = s.recv(65536)
                        if not more:
                            break
                        got += more
                except (ConnectionResetError, ssl.SSLError):
                    pass
                answers = re.findall(rb'(?m)^HTTP/1\.1 (\d+)', got)
                self.assertLessEqual(len(answers), 1, got)
                if name in self.refused:
                    self.assertIn(answers, ([b'400'], [b'501']), got)
        self.assertNotIn('/smuggled', self.server.log_text())


has_nginx = unittest.skipUnless(shutil.which('nginx') and shutil.which('openssl'), 'nginx or openssl is not installed')
has_caddy = unittest.skipUnless(shutil.which('caddy') and shutil.which('openssl'), 'caddy or openssl is not installed')


@has_nginx
class Nginx(Behind, NginxProxy, unittest.TestCase):
    refused = ('no name', 'NUL', 'both', 'two lengths', 'blank', 'unknown coding')


@has_caddy
class Caddy(Behind, CaddyProxy, unittest.TestCase):
    refused = ('NUL', 'two lengths', 'blank', 'unknown coding')
