"""A small client of S3, to look at what a server has stored, and to break it."""
import datetime
import hashlib
import hmac
import http.client
import os
import re
import urllib.parse
import xml.etree.ElementTree


class S3:
    def __init__(self, host, key, secret):
        self.host, self.key, self.secret = host, key, secret

    @classmethod
    def of_environment(cls):
        return cls(os.environ['AWS_ENDPOINT_URL'].split('://')[1], os.environ['AWS_ACCESS_KEY_ID'], os.environ['AWS_SECRET_ACCESS_KEY'])

    def ask(self, method, path, query='', body=b'', signed=True):
        """(status, headers, body) of one request; `path` is not escaped, `query` is sorted and escaped."""
        path = urllib.parse.quote(path)
        headers = {'Host': self.host}
        if signed:
            now = datetime.datetime.now(datetime.timezone.utc).strftime('%Y%m%dT%H%M%SZ')
            payload = hashlib.sha256(body).hexdigest()
            headers.update({'x-amz-content-sha256': payload, 'x-amz-date': now})
            names = 'host;x-amz-content-sha256;x-amz-date'
            request = '\n'.join([method, path, query, 'host:' + headers['Host'], 'x-amz-content-sha256:' + payload, 'x-amz-date:' + now, '', names, payload])
            scope = '%s/default/s3/aws4_request' % now[:8]
            text = '\n'.join(['AWS4-HMAC-SHA256', now, scope, hashlib.sha256(request.encode()).hexdigest()])
            key = b'AWS4' + self.secret.encode()
            for part in (*scope.split('/'), text):
                key = hmac.digest(key, part.encode(), 'sha256')
            headers['Authorization'] = 'AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s' % (self.key, scope, names, key.hex())
        connection = http.client.HTTPConnection(self.host, timeout=30)
        try:
            connection.request(method, path + ('?' + query if query else ''), body=body or None, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def make_bucket(self, name):
        status, _, body = self.ask('PUT', '/' + name)
        assert status in (200, 409), body

    def keys(self, bucket, prefix=''):
        """{key: size}"""
        out, after = {}, ''
        while True:
            query = 'list-type=2&prefix=%s&start-after=%s' % (urllib.parse.quote(prefix, ''), urllib.parse.quote(after, ''))
            status, _, body = self.ask('GET', '/' + bucket, query)
            assert status == 200, body
            tree = xml.etree.ElementTree.fromstring(re.sub(rb' xmlns="[^"]*"', b'', body))
            for item in tree.iter('Contents'):
                after = item.find('Key').text
                out[after] = int(item.find('Size').text)
            if tree.find('IsTruncated').text != 'true':
                return out

    def get(self, bucket, key):
        status, _, body = self.ask('GET', '/%s/%s' % (bucket, key))
        return body if status == 200 else None

    def put(self, bucket, key, body):
        status, _, text = self.ask('PUT', '/%s/%s' % (bucket, key), body=body)
        assert status == 200, text

    def delete(self, bucket, key):
        status, _, text = self.ask('DELETE', '/%s/%s' % (bucket, key))
        assert status == 204, text

    def uploads(self, bucket):
        """Keys of multipart uploads that have not ended."""
        status, _, body = self.ask('GET', '/' + bucket, 'uploads=')
        assert status == 200, body
        return [e.text for e in xml.etree.ElementTree.fromstring(re.sub(rb' xmlns="[^"]*"', b'', body)).iter('Key')]
