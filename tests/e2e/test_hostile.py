"""Requests that no honest client sends, byte by byte: each is answered once, with 4xx, and logged once; nothing of it is believed.
What the library is silent about (a header without a name, NULs) is in test_guard.Smuggling."""
import re
import time
import unittest

from harness import API, Server, create_token, eventually, stored_below
from samples import bag, lab_messages

HOST = b'Host: 127.0.0.1\r\n'
PUT = b'PUT ' + API.encode() + b'/recordings/by-name/lab/x.bag HTTP/1.1\r\n' + HOST
LIST = API.encode() + b'/recordings'


def get(target, *headers, version=b'HTTP/1.1'):
    return b'GET ' + target + b' ' + version + b'\r\n' + HOST + b''.join(h + b'\r\n' for h in headers) + b'\r\n'


def put(*headers, body=b''):
    return PUT + b''.join(h + b'\r\n' for h in headers) + b'\r\n' + body


# ---- what could be read in two ways (request smuggling)
SMUGGLING = {
    'length and encoding': put(b'Content-Length: 5', b'Transfer-Encoding: chunked', body=b'0\r\n\r\nGET / HTTP/1.1\r\n' + HOST + b'\r\n'),
    'encoding and length': put(b'Transfer-Encoding: chunked', b'Content-Length: 5', body=b'0\r\n\r\n'),
    'two lengths': put(b'Content-Length: 5', b'Content-Length: 6', body=b'aaaaaa'),
    'the same length twice': put(b'Content-Length: 5', b'Content-Length: 5', body=b'aaaaa'),
    'a list of lengths': put(b'Content-Length: 5, 5', body=b'aaaaa'),
    'a signed length': put(b'Content-Length: +5', body=b'aaaaa'),
    'a negative length': put(b'Content-Length: -5'),
    'a hexadecimal length': put(b'Content-Length: 0x5', body=b'aaaaa'),
    'a length of 2^64 and more': put(b'Content-Length: 99999999999999999999999'),
    'no length': put(b'Content-Length:'),
    'a length that is a word': put(b'Content-Length: five'),
    'another coding': put(b'Transfer-Encoding: gzip', body=b'aaaaa'),
    'two codings': put(b'Transfer-Encoding: gzip, chunked', body=b'0\r\n\r\n'),
    'chunked twice': put(b'Transfer-Encoding: chunked, chunked', body=b'0\r\n\r\n'),
    'two encodings': put(b'Transfer-Encoding: chunked', b'Transfer-Encoding: identity', body=b'0\r\n\r\n'),
    'a coding with a tab': put(b'Transfer-Encoding: \x0bchunked', body=b'0\r\n\r\n'),
    'a misspelt coding': put(b'Transfer-Encoding: xchunked', body=b'0\r\n\r\n'),
    'identity': put(b'Transfer-Encoding: identity', body=b'aaaaa'),
    'chunked in HTTP/1.0': b'PUT ' + LIST + b'/by-name/lab/x.bag HTTP/1.0\r\n' + HOST + b'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'a blank before the colon': put(b'Content-Length : 5', body=b'aaaaa'),
    'a name in brackets': put(b'X(y): 5', b'Content-Length: 0'),
    'a line without a colon': get(LIST, b'nonsense'),
    'a folded header': get(LIST, b'X-A: b', b' c: d'),
    'a folded first header': b'GET ' + LIST + b' HTTP/1.1\r\n Host: 127.0.0.1\r\n\r\n',
    'two hosts': get(LIST, b'Host: 127.0.0.1'),
    'another host': get(LIST, b'Host: evil.example'),
    'no host': b'GET ' + LIST + b' HTTP/1.1\r\n\r\n',
    'an empty host': b'GET ' + LIST + b' HTTP/1.1\r\nHost:\r\n\r\n',
    'a strange host': b'GET ' + LIST + b' HTTP/1.1\r\nHost: evil.example\r\n\r\n',
    'a host with a path': b'GET ' + LIST + b' HTTP/1.1\r\nHost: 127.0.0.1/evil\r\n\r\n',
    'a host with a user': b'GET ' + LIST + b' HTTP/1.1\r\nHost: evil@127.0.0.1\r\n\r\n',
    'CR in a header': get(LIST, b'X-A: b\rc'),
    'a chunk of no size': put(b'Transfer-Encoding: chunked', body=b'zz\r\naaaaa\r\n0\r\n\r\n'),
    'a chunk of a negative size': put(b'Transfer-Encoding: chunked', body=b'-5\r\naaaaa\r\n0\r\n\r\n'),
    'a chunk of 2^64 and more': put(b'Transfer-Encoding: chunked', body=b'fffffffffffffffffff\r\naaaaa\r\n0\r\n\r\n'),
    'a chunk that is longer than it says': put(b'Transfer-Encoding: chunked', body=b'2\r\naaaaa\r\n0\r\n\r\n'),
}

# ---- paths that lead elsewhere
PLACES = (b'/..', b'/../etc/passwd', b'/../../../../../../etc/passwd', b'/%2e%2e/%2e%2e/etc/passwd', b'/%2e%2e%2fetc%2fpasswd', b'/..%2f..%2fetc%2fpasswd',
          b'/.', b'/./', b'/%2e', b'/a/%2e%2e/b', b'/%00', b'/a%00.bag', b'/%c0%ae%c0%ae/etc/passwd', b'/%ff', b'/%zz', b'/%2', b'/..%5c..%5cetc', b'/..;/etc/passwd',
          b'//etc/passwd', b'/%252e%252e/etc/passwd', b'/etc/passwd', b'/catalog.db', b'/link-keys', b'/data/catalog.db', b'/proc/self/environ', b'/.git/config')
UNDER = (b'', API.encode(), LIST, LIST + b'/00000000000000000000000000000000/file', LIST + b'/by-name/lab', API.encode() + b'/uploads')
TRAVERSAL = {(where + place).decode('latin-1'): get(where + place) for where in UNDER for place in PLACES}
TRAVERSAL.update({'PUT to ' + name.decode(): b'PUT ' + LIST + b'/by-name/' + name + b' HTTP/1.1\r\n' + HOST + b'Content-Length: 5\r\n\r\naaaaa' for name in
                  (b'../x.bag', b'lab/../../x.bag', b'lab/%2e%2e/x.bag', b'..%2flab/x.bag', b'lab/a%2f..%2f..%2fx.bag', b'lab/a%00.bag', b'%2e%2e/%2e%2e', b'lab/', b'lab/.', b'lab/..')})

# ---- no HTTP at all, or too much of it
GARBAGE = {
    'random bytes': bytes(range(1, 256)) + b'\r\n\r\n',
    'TLS': bytes.fromhex('16030100c8010000c403030000') + b'\r\n\r\n',
    'HTTP/2': b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'no version': b'GET ' + LIST + b'\r\n\r\n',
    'a version of its own': get(LIST, version=b'HTTP/9.9'),
    'no HTTP': get(LIST, version=b'FTP/1.1'),
    'a lower-case version': get(LIST, version=b'http/1.1'),
    'blanks in the target': get(LIST + b'?q=a b'),
    'a target without a slash': get(b'recordings'),
    'an address as target': get(b'http://evil.example/'),
    'a star': get(b'*'),
    'an unknown method': b'BREW / HTTP/1.1\r\n' + HOST + b'\r\n',
    'a method with signs': b'GE\x01T / HTTP/1.1\r\n' + HOST + b'\r\n',
    'TRACE': b'TRACE / HTTP/1.1\r\n' + HOST + b'\r\n',
    'CONNECT': b'CONNECT evil.example:443 HTTP/1.1\r\n' + HOST + b'\r\n',
    'a very long target': get(b'/' + b'a' * 60000),
    'a very long method': b'A' * 40000 + b' / HTTP/1.1\r\n' + HOST + b'\r\n',
    'a very long header': get(LIST, b'X-A: ' + b'a' * 60000),
    'very many headers': get(LIST, *[b'X-%d: a' % i for i in range(4000)]),
    'very many segments': get(b'/a' * 2000),
    'very many parameters': get(LIST + b'?' + b'&'.join(b'q%d=1' % i for i in range(300))),
    'a body for a reader': b'GET ' + LIST + b' HTTP/1.1\r\n' + HOST + b'Content-Length: 1000000\r\n\r\n' + b'a' * 1000,
    'unknown parameters': get(LIST + b'?nonsense=1'),
    'bad escapes in parameters': get(LIST + b'?q=%zz'),
    'no UTF-8 in parameters': get(LIST + b'?q=%ff%fe'),
    'NUL in parameters': get(LIST + b'?q=a%00b'),
    'a cursor of another catalog': get(LIST + b'?cursor=2e2e2f'),
    'SQL in an id': get(LIST + b"/1'%20OR%20'1'='1"),
    'SQL in a sort': get(LIST + b'?sort=name;DROP%20TABLE%20recordings'),
    'a token that is none': get(LIST, b'Authorization: Bearer ' + b'A' * 5000),
    'Basic without base64': get(LIST, b'Authorization: Basic \xff\xfe%%%'),
    'an unknown scheme': get(LIST, b'Authorization: Negotiate abcd'),
    'no scheme': get(LIST, b'Authorization: \x01'),
    'a signature of an unknown key': get(LIST + b'?sig=1.1.' + b'A' * 43 + b'&exp=99999999999'),
    'a signature that is none': get(LIST + b"?sig=';--&exp=x"),
    'two signatures': get(LIST + b'?sig=a&sig=b'),
}


# The HTTP library closes on these without a word.
UNANSWERED = ('random bytes', 'TLS', 'blanks in the target')


class Hostile(unittest.TestCase):
    """Without any token on loopback, where nothing but the shape of a request refuses it."""
    closed = False

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.kept = cls.server.added('kept.bag', bag(lab_messages(1)))
        if cls.closed:
            cls.token = create_token(cls.server, 'read', 'a')
        cls.before = cls.seen()
        eventually(lambda: [line for line in cls.lines() if ' method=PUT ' in line or ' method=POST ' in line])

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    @classmethod
    def lines(cls):
        return [line for line in cls.server.log_text().splitlines() if ' method=' in line]

    @classmethod
    def seen(cls):
        return [f[len(cls.server.data):] for f in stored_below(cls.server.data)]

    def refused(self, requests):
        for name, data in requests.items():
            with self.subTest(name):
                before = len(self.lines())
                answer = self.server.raw(data if b'Connection:' in data else data.replace(b'\r\n\r\n', b'\r\nConnection: close\r\n\r\n', 1) if b' HTTP/1.1\r\n' in data else data)
                if name in UNANSWERED:
                    self.assertEqual(answer, b'')
                else:
                    self.assertRegex(answer[:13], rb'^HTTP/1\.[01] (4\d\d|505)', data[:200])
                    self.assertEqual(len(set(re.findall(rb'HTTP/1\.1 \d\d\d', answer))), 1, answer)  # the library sends some of its own heads twice
                    self.assertLessEqual(answer.count(b'</html>') + answer.count(b'"request_id"'), 1, answer)
                for hint in (self.server.data.encode(), b'root:', b'SQLite', b'Traceback'):
                    self.assertNotIn(hint, answer)
                self.assertTrue(eventually(lambda: len(self.lines()) > before), 'not logged')
                time.sleep(0.01)
                new = self.lines()[before:]
                self.assertEqual(len(new), 1, new)
                self.assertRegex(new[0], r' status=4\d\d ')

    def test_smuggling(self):
        self.refused(SMUGGLING)

    def test_traversal(self):
        self.refused(TRAVERSAL)

    def test_garbage(self):
        self.refused(GARBAGE)

    def test_zz_nothing_has_come_of_it(self):
        self.assertTrue(eventually(lambda: self.seen() == self.before), self.seen())
        headers = {'Authorization': 'Bearer ' + self.token} if self.closed else {}
        answer = self.server.request('GET', API + '/recordings', headers=headers)
        self.assertEqual([r['id'] for r in answer.json()['items']], [self.kept])


class HostileAtClosedDoors(Hostile):
    """The same where tokens are needed, by a client that has none."""
    closed = True
