"""What the network may not do: pages of other origins, rebound names, smuggled requests, clients that never finish."""
import json
import re
import socket
import time

from harness import API, Case, Server, eventually
from samples import bag, lab_messages

SMALL = bag(lab_messages(1))
PUT = API + '/recordings/by-name/lab/guard.bag'


class Origins(Case):
    def test_foreign_origin_cannot_write(self):
        for origin in ('https://evil.example', 'null', 'http://127.0.0.1:1', 'http://localhost.evil.example'):
            with self.subTest(origin):
                self.assertProblem(self.server.request('PUT', PUT, SMALL, {'Origin': origin}), 403, 'rigin')
                self.assertProblem(self.server.request('DELETE', API + '/recordings/x', headers={'Origin': origin}), 403)
        self.assertEqual(self.get(API + '/recordings').json()['items'], [])

    def test_cross_site_fetch_without_origin_cannot_write(self):
        self.assertProblem(self.server.request('POST', API + '/recordings?name=x.bag', SMALL, {'Sec-Fetch-Site': 'cross-site'}), 403)

    def test_own_origin_can_write(self):
        answer = self.server.request('PUT', API + '/recordings/by-name/own/guard.bag', SMALL, {'Origin': self.server.base})
        self.assertEqual(answer.status, 201, answer)
        answer = self.server.request('DELETE', '%s/recordings/%s?purge=true' % (API, answer.json()['id']), headers={'Origin': self.server.base})
        self.assertIn(answer.status, (200, 204))

    def test_unknown_host_is_refused(self):
        for host in ('evil.example', '127.0.0.1.evil.example:%d' % self.server.port, ''):
            with self.subTest(host):
                answer = self.server.raw(b'GET %s/recordings HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' % (API.encode(), host.encode()))
                self.assertRegex(answer[:12], b'HTTP/1.1 4(00|03|21)')
        for host in ('127.0.0.1:%d' % self.server.port, 'localhost:%d' % self.server.port):
            with self.subTest(host):
                answer = self.server.raw(b'GET %s/recordings HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' % (API.encode(), host.encode()))
                self.assertTrue(answer.startswith(b'HTTP/1.1 200'), answer[:200])


class Smuggling(Case):
    def refused(self, *lines, start=b'PUT ' + PUT.encode() + b' HTTP/1.1', body=b'0\r\n\r\n'):
        answer = self.server.raw(b'\r\n'.join([start, b'Host: 127.0.0.1:%d' % self.server.port, *lines]) + b'\r\n\r\n' + body)
        self.assertTrue(answer == b'' or answer.startswith(b'HTTP/1.1 400'), answer[:300])
        self.assertEqual(answer.count(b'HTTP/1.1 '), 1 if answer else 0)

    def test_length_with_encoding(self):
        self.refused(b'Content-Length: 5', b'Transfer-Encoding: chunked')

    def test_two_lengths(self):
        self.refused(b'Content-Length: 5', b'Content-Length: 6')
        self.refused(b'Content-Length: 5', b'Content-Length: 5')

    def test_malformed_lengths(self):
        """The library refuses these by itself, and would send the head of its answer twice."""
        for line, status in ((b'Content-Length: abc', 400), (b'Content-Length: -1', 400), (b'Content-Length: +5', 400), (b'Content-Length: 0x10', 400), (b'Content-Length: 5, 5', 400),
                             (b'Content-Length: 5 5', 400), (b'Content-Length:', 400), (b'Content-Length: ' + b'9' * 30, 413)):
            for start in (b'PUT ' + PUT.encode(), b'GET /healthz', b'GET /no"\xff?a="'):
                for before in (b'', b'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'):
                    with self.subTest(line=line, start=start, before=before):
                        answer = self.server.raw(before + start + b' HTTP/1.1\r\nHost: 127.0.0.1\r\n' + line + b'\r\n\r\nhello' + b'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
                        self.one_problem(answer[answer.index(b'HTTP/1.1 4'):], status, 'Content-Length')
                        self.assertEqual(answer.count(b'HTTP/1.1 '), 1 + bool(before))
        self.one_problem(self.server.raw(b'GET /healthz HTTP/1.1\r\n\r\n'), 400, 'Host')
        self.assertTrue(eventually(lambda: re.search(r'method=- path=/healthz status=413 sent_bytes=[1-9]\d* ', self.server.log_text())), self.server.log_text())
        self.assertNotRegex(self.server.log_text(), r'method=- .* cut=true')

    def one_problem(self, answer, status, word):
        """One response of its own length, and the connection is closed."""
        head, _, body = answer.partition(b'\r\n\r\n')
        lines = dict(line.split(b': ', 1) for line in head.split(b'\r\n')[1:])
        problem = json.loads(body)
        self.assertEqual((head[:12], lines[b'Connection'], lines[b'Content-Type'], int(lines[b'Content-Length'])), (b'HTTP/1.1 %d' % status, b'close', b'application/problem+json', len(body)))
        self.assertEqual((problem['status'], problem['request_id']), (status, lines[b'X-Request-Id'].decode()))
        self.assertIn(word, problem['detail'])

    def test_other_codings(self):
        self.refused(b'Transfer-Encoding: gzip, chunked')
        self.refused(b'Transfer-Encoding: identity')
        self.refused(b'Transfer-Encoding: chunked', b'Transfer-Encoding: chunked')

    def test_encoding_in_http_1_0(self):
        self.refused(b'Transfer-Encoding: chunked', start=b'PUT ' + PUT.encode() + b' HTTP/1.0')

    def test_header_names(self):
        self.refused(b'Content-Length : 5')
        self.refused(b'X(y): 5', b'Content-Length: 5')

    def test_what_the_library_does_not_tell_of(self):
        """A line without a name, which it takes for the end of the head, and what follows a NUL."""
        hidden = b'GET /healthz HTTP/1.1'
        for line in (b': x', b':', b':  ', b': \x00', b':\x00', b':\t', b'\x00', b'\x00: x', b'\x00X: x'):
            for lines in ((line, b'Content-Length: 0'), (b'X: y', line), (line, b'', hidden, b'Host: 127.0.0.1')):
                with self.subTest(lines):
                    self.refused(*lines, start=b'GET /healthz HTTP/1.1', body=b'')
        for line in (b'X: a\x00b', b'X: \x00', b'X:\x00y', b'X\x00: a', b'X: a\x00', b'X: a\x00\x00\x00', b'X: a\n folded', b'X: a\r\n folded', b'X: a\r\n\tfolded',
                     b'X: a\nY: b', b'X: a\rY: b', b'X: a\r'):
            with self.subTest(line):
                self.refused(line, start=b'GET /healthz HTTP/1.1', body=b'')
                self.refused(line, b'Y: z', start=b'GET /healthz HTTP/1.1', body=b'')

    def test_heads_of_every_shape_are_read(self):
        for lines in ((), (b'X:',), (b'X: ',), (b'X:\t a \t ',), (b'X: ' + b'a' * 20000, b'Y: b'), tuple(b'X-%d: %d' % (i, i) for i in range(90)), (b'Cookie: a=b; c="d"',),
                      (b'X: a', b'X: a', b'x:b'), (b'X: \xff\xfe',)):
            head = b'\r\n'.join([b'GET /api/v1/recordings?q=%41 HTTP/1.1', b'Host: 127.0.0.1', *lines])
            both = head + b'\r\n\r\n' + head + b'\r\nConnection: close\r\n\r\n'  # a second one after it, on the same connection
            for pieces in ([both], [both[:30], both[30:31], both[31:]], [both[i:i + 1 + len(both) // 7] for i in range(0, len(both), 1 + len(both) // 7)]):
                with self.subTest((lines[:1], len(pieces))):
                    answer = self.server.raw(b'', pieces=pieces, pause=0.02 if len(pieces) > 1 else 0)
                    self.assertEqual(answer.count(b'HTTP/1.1 200'), 2, answer[:300])

    def test_hosts(self):
        self.refused(b'Host: evil.example', b'Content-Length: 5')
        self.assertTrue(self.server.raw(b'GET /healthz HTTP/1.1\r\n\r\n').startswith(b'HTTP/1.1 400'))

    def test_nul_in_the_first_line(self):
        for start in (b'GET /healthz\x00 HTTP/1.1', b'GET /healthz\x00/x HTTP/1.1', b'GET /healthz?\x00a HTTP/1.1', b'GET\x00T /healthz HTTP/1.1', b'GET /healthz \x00HTTP/1.1'):
            with self.subTest(start):
                self.refused(b'Connection: close', start=start, body=b'')

    def test_nul_in_the_path(self):
        self.refused(b'Connection: close', start=b'GET ' + API.encode() + b'/recordings/a%00b HTTP/1.1', body=b'')

    def test_the_server_goes_on(self):
        self.get('/healthz')


class Deadlines(Case):
    server_args = ('--header-timeout', '2')

    def test_dribbled_headers_are_cut(self):
        start = time.monotonic()
        with socket.create_connection(('127.0.0.1', self.server.port), timeout=20) as s:
            s.settimeout(0.2)
            try:
                s.sendall(b'GET /healthz HTTP/1.1\r\nHost: x\r\n')
                while time.monotonic() - start < 15:
                    s.sendall(b'X')
                    try:
                        if s.recv(1000) == b'':
                            break
                    except socket.timeout:
                        pass
            except OSError:
                pass
        self.assertLess(time.monotonic() - start, 14)

    def test_silent_connection_does_not_hold_up_others(self):
        idle = [socket.create_connection(('127.0.0.1', self.server.port)) for _ in range(50)]
        self.get('/healthz')
        for s in idle:
            s.close()


class Options(Case):
    server_args = ('--origin', 'https://viewer.example')

    def test_preflight(self):
        answer = self.server.request('OPTIONS', API + '/recordings', headers={
            'Origin': 'https://viewer.example', 'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': 'range'})
        self.assertIn(answer.status, (200, 204))
        self.assertEqual(answer.headers['Access-Control-Allow-Origin'], 'https://viewer.example')
        self.assertIn('range', answer.headers['Access-Control-Allow-Headers'].lower())
