"""Requests that are signed for S3, as a client makes them: signature version 4, in headers or in the address."""
import hashlib
import hmac
import time
import urllib.parse

NOTHING = hashlib.sha256(b'').hexdigest()


def quote(text, safe=''):
    return urllib.parse.quote(text, safe=safe + '-_.~')


def key_of(secret, day, region):
    key = b'AWS4' + secret.encode()
    for part in (day, region, 's3', 'aws4_request'):
        key = hmac.digest(key, part.encode(), 'sha256')
    return key


class Keys:
    """The access key and secret that `reel token create --s3` prints."""

    def __init__(self, printed, region='us-east-1'):
        lines = dict(line.split(': ') for line in printed.splitlines())
        self.access, self.secret, self.region = lines['access key'], lines['secret key'], region

    def signature(self, method, path, pairs, headers, payload, now):
        query = '&'.join('%s=%s' % (quote(n), quote(v)) for n, v in sorted(pairs))
        names = ';'.join(sorted(headers))
        request = '\n'.join([method, quote(path, '/'), query, *('%s:%s' % (n, ' '.join(headers[n].split())) for n in sorted(headers)), '', names, payload])
        scope = '%s/%s/s3/aws4_request' % (now[:8], self.region)
        text = '\n'.join(['AWS4-HMAC-SHA256', now, scope, hashlib.sha256(request.encode()).hexdigest()])
        return hmac.digest(key_of(self.secret, now[:8], self.region), text.encode(), 'sha256').hex()

    def headers(self, host, method, path, pairs=(), payload=NOTHING, at=None, more=None):
        now = time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(at))
        headers = {'host': host, 'x-amz-date': now, 'x-amz-content-sha256': payload, **(more or {})}
        signature = self.signature(method, path, pairs, headers, payload, now)
        return {**headers, 'Authorization': 'AWS4-HMAC-SHA256 Credential=%s/%s/%s/s3/aws4_request, SignedHeaders=%s, Signature=%s' %
                (self.access, now[:8], self.region, ';'.join(sorted(headers)), signature)}

    def address(self, host, path, pairs=(), lifetime=60, at=None):
        now = time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(at))
        pairs = [*pairs, ('X-Amz-Algorithm', 'AWS4-HMAC-SHA256'), ('X-Amz-Credential', '%s/%s/%s/s3/aws4_request' % (self.access, now[:8], self.region)),
                 ('X-Amz-Date', now), ('X-Amz-Expires', str(lifetime)), ('X-Amz-SignedHeaders', 'host')]
        signature = self.signature('GET', path, pairs, {'host': host}, 'UNSIGNED-PAYLOAD', now)
        return '%s?%s' % (quote(path, '/'), '&'.join('%s=%s' % (quote(n), quote(v)) for n, v in [*pairs, ('X-Amz-Signature', signature)]))


def target(path, pairs=()):
    return quote(path, '/') + ('?' + '&'.join('%s=%s' % (quote(n), quote(v)) for n, v in pairs) if pairs else '')
