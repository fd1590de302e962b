"""TLS without a proxy: with the real curl, certificates made by openssl, and a new certificate while the server runs."""
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import unittest

from harness import API, PATIENCE, Server, eventually, files_below, in_a_folder, reel
from samples import bag, lab_messages

BIG = bag(lab_messages(10, 100000))


def make_certificate(folder, name):
    cert, key = os.path.join(folder, name + '.pem'), os.path.join(folder, name + '-key.pem')
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=' + name,
                    '-addext', 'subjectAltName=DNS:%s,DNS:localhost' % name, '-keyout', key, '-out', cert], check=True, stderr=subprocess.DEVNULL)
    return cert, key


class Tls(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-tls-')
        self.addCleanup(shutil.rmtree, self.folder)
        self.first, self.second = make_certificate(self.folder, 'first.lab'), make_certificate(self.folder, 'second.lab')
        self.cert, self.key = os.path.join(self.folder, 'cert.pem'), os.path.join(self.folder, 'key.pem')
        self.use(self.first)
        self.server = Server(None, '--insecure-open', '--host', 'first.lab', '--host', 'second.lab', '--tls-cert', self.cert, '--tls-key', self.key)
        self.addCleanup(self.server.stop)

    def use(self, pair):
        for source, target in zip(pair, (self.cert, self.key)):
            shutil.copy(source, target + '.new')
            os.rename(target + '.new', target)

    def curl(self, path, *args, name='first.lab', trust=None, check=True):
        done = subprocess.run(['curl', '-sS', '--fail-with-body', '--max-time', '60', '--cacert', trust or self.first[0], '--resolve', '%s:%d:127.0.0.1' % (name, self.server.port), *args,
                               'https://%s:%d%s' % (name, self.server.port, path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if check and done.returncode != 0:
            raise AssertionError('%s\n%s' % (done, self.server.log_text()))
        return done

    def upload(self):
        path = os.path.join(self.folder, 'big.bag')
        with open(path, 'wb') as f:
            f.write(BIG)
        return json.loads(self.curl(API + '/recordings/by-name/lab/', '-T', path).stdout)['id']

    @in_a_folder
    def test_transfers(self):
        self.assertTrue(self.server.base.startswith('https://'))
        ident = self.upload()
        path = '%s/recordings/%s/file/big.bag' % (API, ident)
        self.assertEqual(self.curl(path).stdout, BIG)
        self.assertEqual(self.curl(path, '-r', '1000-2000').stdout, BIG[1000:2001])
        self.assertEqual(self.curl(path, '-r', '5-3000000').stdout, BIG[5:3000001])
        self.assertEqual(self.curl('%s/recordings/%s/messages?limit=5' % (API, ident)).stdout.count(b'\n'), 5)
        self.assertTrue(self.curl('%s/recordings/%s/as/x.mcap' % (API, ident)).stdout.startswith(b'\x89MCAP0'))
        os.truncate(max(files_below(os.path.join(self.server.data, 'blobs')), key=os.path.getsize), 1000)
        self.assertIn(b'410', self.curl(path, check=False).stderr)

    def test_one_answer_to_a_malformed_length(self):
        context = ssl.create_default_context(cafile=self.first[0])
        with socket.create_connection(('127.0.0.1', self.server.port), timeout=PATIENCE) as plain, context.wrap_socket(plain, server_hostname='first.lab', suppress_ragged_eofs=False) as s:
            s.sendall(b'PUT /healthz HTTP/1.1\r\nHost: first.lab\r\nContent-Length: abc\r\n\r\nhello')
            answer = s.makefile('rb').read()
        head, _, body = answer.partition(b'\r\n\r\n')
        self.assertTrue(head.startswith(b'HTTP/1.1 400 '), answer)
        self.assertEqual(json.loads(body)['type'], '/problems/bad-request')

    @in_a_folder
    def test_a_shorter_file_is_cut(self):
        ident = self.upload()
        context = ssl.create_default_context(cafile=self.first[0])
        with socket.create_connection(('127.0.0.1', self.server.port), timeout=PATIENCE) as plain, context.wrap_socket(plain, server_hostname='first.lab', suppress_ragged_eofs=False) as s:
            s.sendall(b'GET %s/recordings/%s/file/x HTTP/1.1\r\nHost: first.lab\r\n\r\n' % (API.encode(), ident.encode()))
            size = len(s.recv(1000))
            os.truncate(max(files_below(os.path.join(self.server.data, 'blobs')), key=os.path.getsize), 1000)
            try:
                while got := s.recv(1 << 16):
                    size += len(got)
            except (ssl.SSLError, ConnectionError):
                pass
            self.assertLess(size, len(BIG))
        self.assertTrue(eventually(lambda: 'cut=true' in self.server.log_text()))

    def test_reload(self):
        self.assertEqual(self.curl('/healthz').returncode, 0)
        self.use(self.second)
        self.assertNotEqual(self.curl('/healthz', name='second.lab', trust=self.second[0], check=False).returncode, 0)  # not yet
        self.server.process.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: 'read the certificate again' in self.server.log_text()))
        self.assertEqual(self.curl('/healthz', name='second.lab', trust=self.second[0]).returncode, 0)
        self.assertNotEqual(self.curl('/healthz', check=False).returncode, 0)
        self.use((self.first[0], self.second[1]))  # not a pair: the one in use stays
        self.server.process.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: 'is not the key of the certificate' in self.server.log_text()))
        self.assertEqual(self.curl('/healthz', name='second.lab', trust=self.second[0]).returncode, 0)

    def test_what_else_arrives(self):
        self.assertFalse(self.server.raw(b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n').startswith(b'HTTP/1.1 200'))  # no plain HTTP
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.set_ciphers('ALL:@SECLEVEL=0')
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        with socket.create_connection(('127.0.0.1', self.server.port), timeout=PATIENCE) as plain:
            with self.assertRaises((ssl.SSLError, ConnectionError)):
                old.wrap_socket(plain)
        self.assertEqual(reel('health', 'https://127.0.0.1:%d' % self.server.port).stdout, b'ready\n')
        refused = self.curl(API + '/recordings/x', '-X', 'DELETE', '-H', 'Origin: https://evil.example', check=False)
        self.assertIn(b'foreign-origin', refused.stdout + refused.stderr)

    def test_options_that_make_no_sense(self):
        for args, word in ((['--tls-cert', self.cert], b'--tls-key'), (['--tls-cert', self.cert, '--tls-key', self.first[0]], b'tls-key'),
                           (['--tls-cert', self.cert, '--tls-key', self.second[1]], b'not the key'), (['--tls-cert', '/nothing', '--tls-key', self.key], b'/nothing')):
            with tempfile.TemporaryDirectory() as data:
                done = reel('serve', '--data', data, '--listen', '127.0.0.1:0', *args, check=False)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(word, done.stderr)
