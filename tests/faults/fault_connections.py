"""2000 connections that do nothing and 200 that send a byte now and then: others are still answered, memory stays bounded, and the slow ones are cut."""
import resource
import socket
import time
import unittest

from faults import LONG
from harness import API, Case, eventually
from samples import bag, lab_messages

IDLE, SLOW = 2000, 200
FILES = 2 * (IDLE + SLOW) + 200  # both ends of a connection of ours may be in one process's view: the server inherits this limit
RSS_MAX = 192 << 20  # of the server with all of them: 64 MiB idle, and 58 KiB for each
ASKS = 20


def enough_files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < FILES:
        return False
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, FILES), hard))
    return True


class Slow:
    """Connections that drip, fed from one place. `text` is what one sends, piece by piece, over and over."""
    def __init__(self, port, head, drip, count):
        self.drip = drip
        self.sockets = []
        for _ in range(count):
            s = socket.create_connection(('127.0.0.1', port), timeout=10)
            s.sendall(head)
            s.setblocking(False)
            self.sockets.append(s)

    def feed(self):
        """A byte each; those that were cut are given up. How many are left."""
        for s in list(self.sockets):
            try:
                s.send(self.drip)
                if s.recv(4096) == b'':
                    raise ConnectionError
            except BlockingIOError:
                pass
            except OSError:
                s.close()
                self.sockets.remove(s)
        return len(self.sockets)


def rss(server):
    with open('/proc/%d/status' % server.process.pid) as f:
        return int(next(line for line in f if line.startswith('VmRSS')).split()[1]) * 1024


@unittest.skipUnless(enough_files(), 'the hard limit of open files is below %d' % FILES)
class Connections(Case):
    server_args = ('--header-timeout', '3', '--idle-timeout', '20', '--connections-per-address', '1000')

    def setUp(self):
        self.idle = []
        self.addCleanup(lambda: [s.close() for s in self.idle])

    @classmethod
    def fill(cls):
        cls.body = bag(lab_messages(4))
        cls.id = cls.server.added('first.bag', cls.body)

    def asks(self, number):
        """What everybody does all day."""
        self.assertEqual(self.server.get(API + '/recordings').status, 200)
        self.assertEqual(self.server.get('%s/recordings/%s/messages?limit=5' % (API, self.id)).status, 200)
        self.assertEqual(self.server.get('%s/recordings/%s/file/x.bag' % (API, self.id)).body, self.body)
        answer = self.server.put('more-%d.bag' % number, bag(lab_messages(2, salt=number + 1)))
        self.assertEqual(answer.status, 201, answer)

    def test_idle_and_slow_ones_hold_up_nobody(self):
        for number in range(IDLE):
            s = socket.create_connection(('127.0.0.1', self.server.port), timeout=10)
            if number % 2:  # half of them have asked once, and keep the connection
                s.sendall(b'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
            self.idle.append(s)
            if number % 500 == 499:
                self.asks(number)
        headers = Slow(self.server.port, b'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ', b'x', SLOW // 2)
        bodies = Slow(self.server.port, b'PUT %s/recordings/by-name/lab/slow.bag HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n' % API.encode(),
                      b'x', SLOW - SLOW // 2)
        most = 0
        for number in range(ASKS * (10 if LONG else 1)):
            self.asks(10000 + number)
            headers.feed(), bodies.feed()
            most = max(most, rss(self.server))
        self.assertLess(most, RSS_MAX)
        left = eventually(lambda: headers.feed() + (bodies.feed() if LONG else 0) == 0 or (time.sleep(0.5), False)[1])
        self.assertTrue(left, 'slow ones are not cut: %d headers, %d bodies' % (len(headers.sockets), len(bodies.sockets)))
        self.asks(20000)
        for s in bodies.sockets:  # in the short form the half minute that they are given is not waited for
            s.close()
        print('connections: server RSS %.1f MiB with %d' % (most / (1 << 20), IDLE + SLOW))

    def test_zz_the_server_has_let_go_of_them(self):
        def few():
            lines = self.server.get('/metrics').body.decode().splitlines()
            open_now = [float(line.split()[-1]) for line in lines if 'connections' in line and not line.startswith('#')]
            return open_now and min(open_now) < 20
        self.assertTrue(eventually(few), self.server.get('/metrics').body.decode()[:3000])


if LONG:
    class ManyConnections(Connections):
        """None of them has to make room for others."""
        server_args = (*Connections.server_args, '--connections', '4000')
