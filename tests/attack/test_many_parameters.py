"""More query parameters than anybody needs: refused with a problem document, and the connection stays usable."""
import re

from harness import API, Case


class ManyParameters(Case):
    def test_each_number(self):
        for number in (257, 600, 1500, 2500):
            with self.subTest(number):
                self.assertProblem(self.server.get(API + '/recordings?' + '&'.join('tag=a%d:b' % i for i in range(number))), 414, 'too-many-parameters')

    def test_the_connection_stays(self):
        query = '&'.join('a%d=b' % i for i in range(600))
        answer = self.server.raw(('GET /x?%s HTTP/1.1\r\nHost: localhost\r\n\r\nGET %s/recordings?%s HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
                                  % (query, API, query)).encode())
        self.assertEqual(re.findall(rb'HTTP/1\.1 (\d+)', answer), [b'404', b'414', b'200'])
