"""The original bytes: a real file to any client, with ranges, conditions, digests, and curl's resume."""
import email
import hashlib
import os
import random

from harness import API, Case, curl, digest_header
from samples import bag, lab_messages

DATA = bag(lab_messages(3, blob=20_000))


def parts_of(answer):
    """[(first, last, bytes)] of a multipart/byteranges body."""
    head = b'Content-Type: ' + answer.headers['Content-Type'].encode() + b'\r\n\r\n'
    out = []
    for part in email.message_from_bytes(head + answer.body).get_payload():
        unit, place = part['Content-Range'].split(' ')
        first, last = place.split('/')[0].split('-')
        assert unit == 'bytes'
        out.append((int(first), int(last), part.get_payload(decode=True)))
    return out


class File(Case):
    @classmethod
    def fill(cls):
        cls.walk = cls.server.added('walk.bag', DATA)
        cls.path = '%s/recordings/%s/file/walk.bag' % (API, cls.walk)

    def test_whole(self):
        answer = self.get(self.path)
        self.assertEqual(answer.body, DATA)
        self.assertEqual(answer.headers['Content-Length'], str(len(DATA)))
        self.assertEqual(answer.headers['Accept-Ranges'], 'bytes')
        self.assertEqual(answer.headers['Repr-Digest'], digest_header(DATA))
        self.assertRegex(answer.headers['ETag'], r'^"[^"]+"$')
        self.assertIn('walk.bag', answer.headers['Content-Disposition'])
        self.assertIsNone(answer.headers['Content-Encoding'])
        self.assertIn('Last-Modified', answer.headers)

    def test_head(self):
        answer = self.server.request('HEAD', self.path)
        self.assertEqual((answer.status, answer.body, answer.headers['Content-Length']), (200, b'', str(len(DATA))))
        self.assertEqual(answer.headers['Repr-Digest'], digest_header(DATA))

    def test_single_ranges(self):
        n = len(DATA)
        for text, first, last in (('0-0', 0, 0), ('0-99', 0, 99), ('100-', 100, n - 1), ('-100', n - 100, n - 1), ('-%d' % (n * 2), 0, n - 1),
                                  ('%d-%d' % (n - 1, n + 500), n - 1, n - 1), ('5000-70000', 5000, 70000)):
            with self.subTest(text):
                answer = self.get(self.path, 206, Range='bytes=' + text)
                self.assertEqual(answer.headers['Content-Range'], 'bytes %d-%d/%d' % (first, last, n))
                self.assertEqual(answer.body, DATA[first:last + 1])
                self.assertEqual(answer.headers['Repr-Digest'], digest_header(DATA))

    def test_several_ranges(self):
        answer = self.get(self.path, 206, Range='bytes=0-9, 1000-1999, -7')
        self.assertEqual(answer.headers.get_content_type(), 'multipart/byteranges')
        n = len(DATA)
        self.assertEqual(parts_of(answer), [(0, 9, DATA[:10]), (1000, 1999, DATA[1000:2000]), (n - 7, n - 1, DATA[-7:])])
        self.assertEqual(int(answer.headers['Content-Length']), len(answer.body))

    def test_ranges_that_make_no_sense(self):
        answer = self.get(self.path, 416, Range='bytes=%d-' % len(DATA))
        self.assertEqual(answer.headers['Content-Range'], 'bytes */%d' % len(DATA))
        for text in ('bytes=9-3', 'bytes=x-y', 'lines=1-2', 'bytes 0-1'):  # no valid range: as if there were none
            with self.subTest(text):
                self.assertEqual(self.get(self.path, Range=text).body, DATA)
        many = 'bytes=' + ','.join('%d-%d' % (i, i) for i in range(0, 20_000, 2))
        self.assertIn(self.server.get(self.path, Range=many).status, (200, 206, 400, 416, 431))

    def test_conditions(self):
        tag = self.get(self.path).headers['ETag']
        date = self.get(self.path).headers['Last-Modified']
        for status, headers in ((304, {'If_None_Match': tag}), (304, {'If_None_Match': '"other", ' + tag}), (304, {'If_None_Match': '*'}), (304, {'If_None_Match': 'W/' + tag}),
                                (200, {'If_None_Match': '"other"'}), (412, {'If_Match': '"other"'}), (200, {'If_Match': tag}), (200, {'If_Match': '*'}),
                                (304, {'If_Modified_Since': date}), (412, {'If_Unmodified_Since': 'Sat, 01 Jan 2000 00:00:00 GMT'}),
                                (206, {'If_Range': tag, 'Range': 'bytes=0-3'}), (200, {'If_Range': '"other"', 'Range': 'bytes=0-3'}),
                                (200, {'If_Range': 'W/' + tag, 'Range': 'bytes=0-3'})):
            with self.subTest(headers):
                answer = self.get(self.path, status, **headers)
                if status == 304:
                    self.assertEqual((answer.body, answer.headers['ETag']), (b'', tag))

    def test_random_ranges_make_the_whole(self):
        rng, got = random.Random(7), bytearray(len(DATA))
        cuts = sorted({0, len(DATA), *(rng.randrange(len(DATA)) for _ in range(25))})
        pieces = list(zip(cuts, cuts[1:]))
        rng.shuffle(pieces)
        for first, end in pieces:
            got[first:end] = self.get(self.path, 206, Range='bytes=%d-%d' % (first, end - 1)).body
        self.assertEqual(bytes(got), DATA)

    def test_curl_resumes(self):
        path = os.path.join(self.server.data, 'resumed')
        with open(path, 'wb') as f:
            f.write(DATA[:12_345])
        code, _ = curl('-f', '-C', '-', '-o', path, self.server.base + self.path)
        self.assertEqual(code, 0)
        with open(path, 'rb') as f:
            self.assertEqual(hashlib.sha256(f.read()).digest(), hashlib.sha256(DATA).digest())
        os.unlink(path)

    def test_cross_origin_reader_sees_the_headers(self):
        answer = self.get(self.path, 206, Range='bytes=0-9', Origin='https://viewer.example')
        exposed = answer.headers.get('Access-Control-Expose-Headers', '').lower()
        if answer.headers.get('Access-Control-Allow-Origin'):
            for name in ('accept-ranges', 'content-length', 'content-range', 'etag', 'repr-digest'):
                self.assertIn(name, exposed)
