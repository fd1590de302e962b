"""What systemd passes to the server and receives from it: a socket that listens already, READY, WATCHDOG, STOPPING."""
import os
import shutil
import socket
import subprocess
import tempfile
import unittest

from harness import API, PATIENCE, REEL, Server
from samples import bag, lab_messages


def takes_sockets():
    return b'libsystemd' in subprocess.run(['ldd', REEL], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


@unittest.skipUnless(takes_sockets(), 'the program was built without libsystemd')
class Systemd(unittest.TestCase):
    def setUp(self):
        self.data = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, self.data, True)
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.notify.close)
        self.notify.settimeout(PATIENCE)
        self.notify.bind(os.path.join(self.data, 'notify'))
        self.env = {'NOTIFY_SOCKET': os.path.join(self.data, 'notify')}

    def received(self):
        return self.notify.recv(4096).decode()

    def start(self, listener=None, count=1, *args, **env):
        """Under a listening socket as descriptor 3, in the way that sd_listen_fds(3) describes."""
        wrapper, fds = (), ()
        if listener:
            # the shell's own number is the server's after exec
            wrapper = ('bash', '-c', 'exec 3<&%d; LISTEN_PID=$$ LISTEN_FDS=%d exec "$@"' % (listener.fileno(), count), 'bash')
            fds = [listener.fileno()]
        server = Server(os.path.join(self.data, 'archive'), *args, env={**self.env, **env}, wrapper=wrapper, pass_fds=fds)
        self.addCleanup(server.stop, None)
        return server

    def test_it_says_when_it_is_ready_and_when_it_stops(self):
        server = self.start()
        self.assertEqual(self.received(), 'READY=1')
        server.stop()
        self.assertEqual(self.received(), 'STOPPING=1')

    def test_the_watchdog_is_fed_while_the_server_lives(self):
        server = self.start(WATCHDOG_USEC='400000')
        self.assertEqual([self.received() for _ in range(4)], ['READY=1'] + ['WATCHDOG=1'] * 3)
        server.stop()

    def test_nobody_feeds_a_dog_that_is_not_there(self):
        server = self.start()
        server.get('/readyz')
        server.stop()
        self.assertEqual([self.received(), self.received()], ['READY=1', 'STOPPING=1'])

    def test_it_answers_on_the_socket_it_is_given_and_requests_wait_over_a_restart(self):
        with socket.create_server(('127.0.0.1', 0)) as listener:
            port = listener.getsockname()[1]
            server = self.start(listener)
            self.assertEqual(server.port, port)
            number = server.added('lab.bag', bag(lab_messages(1)))
            server.stop()
            with socket.create_connection(('127.0.0.1', port), timeout=PATIENCE) as early:  # no server runs yet; the socket is open
                early.sendall(b'GET %s/recordings/%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n' % (API.encode(), number.encode(), port))
                self.start(listener)
                self.assertTrue(early.recv(65536).startswith(b'HTTP/1.1 200'))

    def test_a_passed_socket_that_others_reach_gets_a_token(self):
        with socket.create_server(('0.0.0.0', 0)) as listener:
            server = self.start(listener)
            self.assertEqual(server.get(API + '/recordings').status, 401)

    def refused(self, listener, count=1):
        done = subprocess.run(['bash', '-c', 'exec 3<&%d 4<&3; LISTEN_PID=$$ LISTEN_FDS=%d exec "$@"' % (listener.fileno(), count), 'bash',
                               REEL, 'serve', '--data', os.path.join(self.data, 'archive')], pass_fds=[listener.fileno()], stderr=subprocess.PIPE, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1)
        return done.stderr.decode()

    def test_other_sockets_are_refused(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
            self.assertIn('not a listening TCP socket', self.refused(datagrams))
        with socket.create_server(('127.0.0.1', 0)) as listener:
            self.assertIn('2 sockets', self.refused(listener, 2))
