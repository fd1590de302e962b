"""A client behind a trusted proxy sends headers of its own that the proxy should have set: several lines of one name."""
import unittest

from harness import API, Server


class ProxyHeaders(unittest.TestCase):
    def serve(self, *args):
        server = Server(None, '--trust-proxy', '127.0.0.1', *args)
        self.addCleanup(server.stop)
        return server

    def status(self, server, *lines):
        head = '\r\n'.join(['GET %s/recordings HTTP/1.1' % API, 'Host: localhost', 'Connection: close', *lines, '', ''])
        return int(server.raw(head.encode()).split()[1])

    def test_the_last_line_is_the_proxys(self):
        server = self.serve()
        guess = ['Authorization: Bearer wrong', 'X-Forwarded-For: 6.6.6.%d', 'X-Forwarded-For: 198.51.100.7']
        got = [self.status(server, guess[0], guess[1] % number, guess[2]) for number in range(11)]
        self.assertEqual(got, [401] * 10 + [429])  # all by 198.51.100.7, whatever else the client wrote
        self.assertEqual(self.status(server, guess[0], 'X-Forwarded-For: 198.51.100.7, 198.51.100.8'), 401)
        self.assertEqual(self.status(server, guess[0], 'X-Forwarded-For: 198.51.100.7', 'x-forwarded-for: 127.0.0.1'), 429)  # a second proxy's line

    def test_two_user_names_are_none(self):
        server = self.serve('--proxy-user-header', 'X-Remote-User', '--proxy-role', 'admin')
        self.assertEqual(self.status(server, 'X-Remote-User: alice'), 200)
        self.assertEqual(self.status(server, 'X-Remote-User: root', 'X-Remote-User: alice'), 401)
        self.assertEqual(self.status(server, 'X-Remote-User: root', 'x-remote-user: alice'), 401)
