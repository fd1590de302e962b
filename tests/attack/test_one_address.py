"""One address opens as many connections as it can and keeps them busy: others are still answered."""
import contextlib
import http.client
import socket
import time

from harness import API, PATIENCE, Case, eventually

LIMIT = 10  # a quarter of --connections


class OneAddress(Case):
    server_args = ('--connections', str(4 * LIMIT))

    def setUp(self):
        self.held = []
        self.addCleanup(lambda: [s.close() for s in self.held])

    def hold(self, source, count, text=None):
        """Connections that upload without end, or that send nothing but `text`."""
        for number in range(count):
            s = socket.create_connection(('127.0.0.1', self.server.port), timeout=PATIENCE, source_address=(source, 0))
            with contextlib.suppress(ConnectionError):  # it may be closed already
                s.sendall(text if text is not None else b'PUT %s/recordings/by-name/lab/%d.bag HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n#' % (API.encode(), number))
            s.setblocking(False)
            self.held.append(s)
            time.sleep(0.01)

    def open_ones(self):
        def is_open(s):
            try:
                return s.recv(1000) != b''
            except BlockingIOError:
                return True
            except ConnectionError:
                return False
        return sum(is_open(s) for s in self.held)

    def status(self, source, path=API + '/recordings'):
        connection = http.client.HTTPConnection('127.0.0.1', self.server.port, timeout=PATIENCE, source_address=(source, 0))
        try:
            connection.request('GET', path)
            return connection.getresponse().status
        except (ConnectionError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def test_busy_ones_are_limited(self):
        self.hold('127.0.0.2', 3 * LIMIT)
        self.assertTrue(eventually(lambda: self.open_ones() == LIMIT), self.open_ones())
        self.assertIsNone(self.status('127.0.0.2'))
        self.assertEqual(self.status('127.0.0.3'), 200)
        metrics = self.get('/metrics').body.decode()
        self.assertGreaterEqual(int(metrics.split('\nreel_http_over_address_limit_total ')[1].split()[0]), 2 * LIMIT)

    def test_idle_ones_make_room_for_their_own_address(self):
        self.hold('127.0.0.4', 3 * LIMIT, b'')
        self.assertEqual(self.status('127.0.0.4'), 200)
        self.assertLessEqual(self.open_ones(), LIMIT)
        self.assertEqual(self.status('127.0.0.5'), 200)


class TrustedProxy(OneAddress):
    server_args = ('--insecure-open', '--connections', str(4 * LIMIT), '--trust-proxy', '127.0.0.2')
    test_idle_ones_make_room_for_their_own_address = None

    def test_busy_ones_are_limited(self):
        self.hold('127.0.0.2', 2 * LIMIT)
        self.assertEqual(self.status('127.0.0.2'), 200)
        self.assertEqual(self.open_ones(), 2 * LIMIT)
