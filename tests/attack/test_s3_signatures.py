"""Signed requests of S3 that somebody has changed, replayed or made up: none reads what its secret did not sign."""
import re
import time
import unittest

from harness import Server, create_token
from samples import bag, lab_messages
from signed import Keys, NOTHING, quote, target

DATA = bag(lab_messages(3))
DAY = 86400


class Signatures(unittest.TestCase):
    def setUp(self):
        """A server of its own: failed log-ins of an address are limited."""
        self.server = Server()
        self.addCleanup(self.server.stop)
        self.server.added('walk.bag', DATA)
        self.server.added('secret.bag', DATA[:-4] + b'\1\0\0\0', collection='hidden')
        self.keys = Keys(create_token(self.server, 'read', 's3', '--s3', '--collection', 'lab'))
        self.host = '127.0.0.1:%d' % self.server.port

    def code(self, answer):
        return answer.status, re.search(rb'<Code>(\w+)</Code>', answer.body).group(1).decode()

    def get(self, path, headers, method='GET'):
        return self.server.request(method, path, headers=headers)

    def refused(self, answer, status=403, code='SignatureDoesNotMatch'):
        self.assertEqual(self.code(answer), (status, code), answer)
        self.assertNotIn(DATA[:16], answer.body)

    def test_a_header_for_another_request(self):
        good = self.keys.headers(self.host, 'GET', '/s3/lab/walk.bag')
        self.assertEqual(self.get('/s3/lab/walk.bag', good).body, DATA)
        self.refused(self.get('/s3/hidden/secret.bag', good))
        self.refused(self.get('/s3/lab/walk.bag?response-content-type=text/html', good))
        self.refused(self.get('/s3/lab/walk.bag', {**good, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD'}))
        self.refused(self.get('/s3/lab/walk.bag', {**good, 'host': 'localhost:%d' % self.server.port}))
        self.refused(self.get('/s3/lab/walk.bag', {**good, 'Authorization': good['Authorization'].replace('us-east-1', 'us-east-2')}))
        last = good['Authorization'][-1]
        self.refused(self.get('/s3/lab/walk.bag', {**good, 'Authorization': good['Authorization'][:-1] + ('0' if last != '0' else '1')}))
        self.assertEqual(self.get('/s3/lab/walk.bag', good, 'HEAD').status, 403)
        self.assertEqual(self.get('/s3/lab/walk.bag', good).status, 200)  # a good one is not limited

    def test_an_address_for_another_request(self):
        good = self.keys.address(self.host, '/s3/lab/walk.bag', [('response-content-type', 'text/plain')])
        self.assertEqual(self.server.request('GET', good).body, DATA)
        self.refused(self.server.request('GET', good.replace('/lab/walk', '/hidden/secret')))
        self.refused(self.server.request('GET', good.replace('plain', 'html')))
        self.refused(self.server.request('GET', good.replace('Expires=60', 'Expires=600')))
        self.refused(self.server.request('GET', good + '&response-content-disposition=inline'))
        self.refused(self.server.request('GET', good.replace('&X-Amz-Expires=60', '')), 400, 'AuthorizationQueryParametersError')
        self.refused(self.server.request('GET', good + '&X-Amz-Expires=600'), 400, 'AuthorizationQueryParametersError')
        self.assertEqual(self.server.request('GET', good.replace('walk.bag', 'w%61lk%2Ebag').replace('%2Fplain', '/plain')).status, 200)  # the same request

    def test_the_clock(self):
        now = time.time()
        for at in (now - 20 * 60, now + 20 * 60):
            self.refused(self.get('/s3/lab/walk.bag', self.keys.headers(self.host, 'GET', '/s3/lab/walk.bag', at=at)), 403, 'RequestTimeTooSkewed')
        for at in (now - 10 * 60, now + 10 * 60):
            self.assertEqual(self.get('/s3/lab/walk.bag', self.keys.headers(self.host, 'GET', '/s3/lab/walk.bag', at=at)).status, 200)
        address = self.keys.address(self.host, '/s3/lab/walk.bag', lifetime=600, at=now - 590)
        self.assertEqual(self.server.request('GET', address).status, 200)
        self.refused(self.server.request('GET', self.keys.address(self.host, '/s3/lab/walk.bag', lifetime=600, at=now - 700)), 403, 'AccessDenied')
        self.refused(self.server.request('GET', self.keys.address(self.host, '/s3/lab/walk.bag', at=now + 20 * 60)), 403, 'RequestTimeTooSkewed')
        self.refused(self.server.request('GET', self.keys.address(self.host, '/s3/lab/walk.bag', lifetime=8 * DAY)), 400, 'AuthorizationQueryParametersError')

    def test_keys_that_are_not_there(self):
        for access in ('REEL000000000001', 'REEL000000000099', 'REEL-1', 'AKIAIOSFODNN7EXAMPLE', 'REEL', 'REEL99999999999999999999'):
            made_up = Keys('access key: %s\nsecret key: %s' % (access, 'x' * 43))
            answer = self.get('/s3', made_up.headers(self.host, 'GET', '/s3'))
            self.refused(answer, 403, 'SignatureDoesNotMatch' if access.endswith('01') else 'InvalidAccessKeyId')

    def test_guesses_are_limited(self):
        headers = self.keys.headers(self.host, 'GET', '/s3')
        headers['Authorization'] = headers['Authorization'][:-64] + '0' * 64
        codes = [self.code(self.get('/s3', headers)) for _ in range(15)]
        self.assertEqual((codes[0], codes[-1]), ((403, 'SignatureDoesNotMatch'), (503, 'SlowDown')))
        self.assertEqual(self.get('/s3', self.keys.headers(self.host, 'GET', '/s3')).status, 200)

    def test_paths_out_of_the_tree(self):
        for path in ('/s3/lab/../hidden/secret.bag', '/s3/../api/v1/recordings', '/s3/lab/%2e%2e/hidden/secret.bag', '/s3/lab/..%2f..%2fetc/passwd', '/s3/lab/%00', '/s3/lab/%ff', '/s3/lab/%'):
            answer = self.server.request('GET', path, headers=self.keys.headers(self.host, 'GET', path))
            self.assertEqual(answer.status, 400, path)
        for path in ('/s3/hidden%2Fsecret.bag', '/s3/lab%2F..%2Fhidden', '/s3/archive/hidden/secret.bag', '/s3/searches/x', '/s3//hidden/secret.bag', '/s3/lab//walk.bag', '/s3/lab/%252e%252e/x'):
            answer = self.server.request('GET', path, headers=self.keys.headers(self.host, 'GET', path))
            self.assertIn(answer.status, (400, 403, 404), path)
            self.assertNotIn(b'ROSRECORD', answer.body)

    def test_what_is_too_large(self):
        good = self.keys.headers(self.host, 'GET', '/s3')
        names = ';'.join('a%03d' % i for i in range(200)) + ';host'
        for more in ('x' * 20000, ', Credential=' * 100, ', SignedHeaders=' + names):
            answer = self.get('/s3', {**good, 'Authorization': good['Authorization'] + more})
            self.assertIn(answer.status, (400, 403, 413, 414, 431), more[:20])
        many = {'h%d' % i: 'x' for i in range(70)}
        headers = self.keys.headers(self.host, 'GET', '/s3', more=many)
        self.assertEqual(self.get('/s3', headers).status, 403)  # more than are read
        self.assertIn(self.server.request('GET', self.keys.address(self.host, '/s3', [('p%d' % i, 'v') for i in range(300)])).status, (400, 414))
        self.assertEqual(self.get('/s3', good).status, 200)

    def test_a_signature_is_for_s3_alone(self):
        path = '/api/v1/recordings'
        self.refused(self.get(path, self.keys.headers(self.host, 'GET', path)), 404, 'NoSuchBucket')
        answer = self.server.request('PUT', '/api/v1/recordings/by-name/lab/new.bag', DATA, self.keys.headers(self.host, 'PUT', '/api/v1/recordings/by-name/lab/new.bag', payload=NOTHING))
        self.refused(answer, 403, 'AccessDenied')
        self.assertIn(b'read-only', answer.body)

    def test_words_in_names_are_not_markup(self):
        answer = self.server.request('GET', target('/s3/lab/<b>&"\'é'), headers=self.keys.headers(self.host, 'GET', '/s3/lab/<b>&"\'é'))
        self.assertEqual(self.code(answer), (404, 'NoSuchKey'))
        self.assertIn('&lt;b&gt;&amp;&quot;', answer.body.decode())
        answer = self.server.request('GET', '/s3/lab?prefix=' + quote('<x>\x01'), headers=self.keys.headers(self.host, 'GET', '/s3/lab', [('prefix', '<x>\x01')]))
        self.assertEqual(answer.status, 200)
        self.assertIn('<Prefix>&lt;x&gt;\ufffd</Prefix>'.encode(), answer.body)


if __name__ == '__main__':
    unittest.main()
