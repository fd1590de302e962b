"""Image messages as pictures in a browser: what is a file goes as it is, what is pixels becomes one."""
import struct
import zlib

import samples
from harness import API, Case
from samples import Message, bag, T0, SECOND

HEADER = 'std_msgs/Header header\n'
STAMP = '=' * 80 + '\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n'
samples.TYPES['sensor_msgs/Image'] = (
    '060021388200f6f0f447d0fcd9c64743',
    HEADER + 'uint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\nuint8[] data\n' + STAMP)
samples.TYPES['sensor_msgs/CompressedImage'] = ('8f7a12909da2c9d3332d540a0977563f', HEADER + 'string format\nuint8[] data\n' + STAMP)


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return struct.pack('<I', len(value)) + value


def header():
    return struct.pack('<III', 0, 0, 0) + text('camera')


def image(encoding, width, height, data):
    return header() + struct.pack('<II', height, width) + text(encoding) + struct.pack('<BI', 0, len(data) // height if height else 0) + text(data)


def png(width, height, rows, colour):
    """colour 2: RGB, 0: grey."""
    def chunk(kind, body):
        return struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))
    lines = b''.join(b'\0' + row for row in rows)
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, colour, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(lines)) +
            chunk(b'IEND', b''))


def read_png(data):
    """(width, height, values a pixel, rows) of a PNG of 8 bits, all filters."""
    assert data[:8] == b'\x89PNG\r\n\x1a\n'
    pos, packed = 8, b''
    while pos < len(data):
        size, kind = struct.unpack_from('>I4s', data, pos)
        body = data[pos + 8:pos + 8 + size]
        assert struct.unpack_from('>I', data, pos + 8 + size)[0] == zlib.crc32(kind + body)
        if kind == b'IHDR':
            width, height, depth, colour = struct.unpack_from('>IIBB', body)
        packed += body if kind == b'IDAT' else b''
        pos += 12 + size
    n = {0: 1, 2: 3}[colour]
    assert depth == 8
    lines, rows, before = zlib.decompress(packed), [], bytes(width * n)
    for y in range(height):
        at = y * (width * n + 1)
        how, row = lines[at], bytearray(lines[at + 1:at + 1 + width * n])
        for i in range(len(row)):
            left, up, corner = row[i - n] if i >= n else 0, before[i], before[i - n] if i >= n else 0
            nearest = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
            row[i] = (row[i] + (0, left, up, (left + up) // 2, nearest)[how]) & 255
        rows.append(bytes(row))
        before = rows[-1]
    return width, height, n, rows


def sides_of_jpeg(data):
    assert data[:2] == b'\xff\xd8' and data[-2:] == b'\xff\xd9'
    pos = 2
    while data[pos + 1] not in (0xc0, 0xc2):
        pos += 2 + struct.unpack_from('>H', data, pos + 2)[0]
    height, width = struct.unpack_from('>HH', data, pos + 5)
    return width, height


def parts(answer):
    """Of a multipart response: [(headers, body)]."""
    assert answer.headers['Content-Type'] == 'multipart/mixed; boundary=reel-frame', answer.headers['Content-Type']
    pos, out = 0, []
    while not answer.body.startswith(b'--reel-frame--', pos):
        end = answer.body.index(b'\r\n\r\n', pos) + 4
        first, *lines = answer.body[pos:end - 4].decode().split('\r\n')
        head = dict(line.split(': ', 1) for line in lines)
        pos = end + int(head['Content-Length'])
        assert first == '--reel-frame' and answer.body[pos:pos + 2] == b'\r\n', first
        out.append((head, answer.body[end:pos]))
        pos += 2
    return out


ROWS = [bytes(v for x in range(8) for v in (x * 30, y * 40, i)) for i in range(3) for y in range(4)]
FILE = png(8, 4, ROWS[:4], 2)


def pictures(topic):
    """Three of them, a second apart."""
    return [Message(T0 + i * SECOND, topic, image('rgb8', 8, 4, b''.join(ROWS[4 * i:4 * i + 4])), 'sensor_msgs/Image') for i in range(3)]


class Frame(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        messages = pictures('/rgb')
        messages += [Message(T0 + 5, '/file', header() + text('png') + text(FILE), 'sensor_msgs/CompressedImage'),
                     Message(T0 + 6, '/huge', image('rgb8', 20000, 1, b'123'), 'sensor_msgs/Image'),
                     Message(T0 + 7, '/odd', image('hsv', 1, 1, b'123'), 'sensor_msgs/Image'),
                     Message(T0 + 8, '/cut', image('rgb8', 8, 4, b'12345678'), 'sensor_msgs/Image'),
                     Message(T0 + 9, '/words', text('hello'), 'std_msgs/String')]
        cls.number = cls.server.added('frames.bag', bag(sorted(messages, key=lambda m: m.time)))

    def path(self, query):
        return '%s/recordings/%s/frame?%s' % (API, self.number, query)

    def test_pixels_as_png(self):
        for at, i in (('', 0), ('&at=%2B0s', 0), ('&at=%2B1.5s', 1), ('&at=%2B1h', 2)):
            answer = self.get(self.path('topic=/rgb' + at), Accept='image/png')
            self.assertEqual(answer.headers['Content-Type'], 'image/png')
            self.assertEqual(read_png(answer.body), (8, 4, 3, ROWS[4 * i:4 * i + 4]))
            self.assertEqual(answer.headers['X-Log-Time'], '2010-06-02T23:12:%d.000000000Z' % (35 + i))

    def test_pixels_as_jpeg(self):
        answer = self.get(self.path('topic=/rgb'))
        self.assertEqual(answer.headers['Content-Type'], 'image/jpeg')
        self.assertEqual(sides_of_jpeg(answer.body), (8, 4))
        self.assertEqual(sides_of_jpeg(self.get(self.path('topic=/rgb&width=4')).body), (4, 2))

    def test_scaled(self):
        answer = self.get(self.path('topic=/rgb&width=4'), Accept='image/png')
        rows = [bytes((ROWS[2 * y][6 * x + c] + ROWS[2 * y][6 * x + 3 + c] + ROWS[2 * y + 1][6 * x + c] + ROWS[2 * y + 1][6 * x + 3 + c] + 2) // 4
                      for x in range(4) for c in range(3)) for y in range(2)]
        self.assertEqual(read_png(answer.body), (4, 2, 3, rows))
        self.assertEqual(read_png(self.get(self.path('topic=/file&width=4'), Accept='image/png').body), (4, 2, 3, rows))
        self.assertEqual(read_png(self.get(self.path('topic=/file&width=100')).body), (8, 4, 3, ROWS[:4]))

    def test_a_file_goes_as_it_is(self):
        answer = self.get(self.path('topic=/file'))
        self.assertEqual((answer.headers['Content-Type'], answer.body), ('image/png', FILE))
        answer = self.get(self.path('topic=/file'), Accept='image/jpeg')
        self.assertEqual(sides_of_jpeg(answer.body), (8, 4))

    def test_etags(self):
        first, smaller = self.get(self.path('topic=/rgb')), self.get(self.path('topic=/rgb&width=4'))
        self.assertNotEqual(first.headers['ETag'], smaller.headers['ETag'])
        self.assertNotEqual(first.headers['ETag'], self.get(self.path('topic=/rgb'), Accept='image/png').headers['ETag'])
        self.assertEqual(first.headers['ETag'], self.get(self.path('topic=/rgb&at=%2B0.5s')).headers['ETag'])
        self.get(self.path('topic=/rgb'), 304, If_None_Match=first.headers['ETag'])

    def test_what_is_no_picture(self):
        for query, status, word in (('topic=/words', 422, 'not an image'), ('topic=/odd', 422, 'hsv'), ('topic=/cut', 422, 'rows of 2 bytes'),
                                    ('topic=/huge', 413, '16384'), ('topic=/none', 404, 'message'), ('', 400, 'topic'),
                                    ('topic=/rgb&width=0', 400, 'width'), ('topic=/rgb&width=99999', 400, 'width'),
                                    ('topic=/rgb&at=2010-01-01T00:00:00Z', 404, 'at or before')):
            with self.subTest(query):
                self.assertProblem(self.server.get(self.path(query)), status, word)
        self.assertProblem(self.server.get(self.path('topic=/rgb'), Accept='text/plain'), 406, 'image/png')

    def frames(self, query):
        return parts(self.get(self.path(query).replace('/frame?', '/frames?')))

    def test_a_range_of_pictures(self):
        second = lambda got: [int(head['X-Log-Time'][17:19]) - 35 for head, _ in got]
        for query, seconds in (('', [0, 1, 2]), ('&start=%2B1s', [1, 2]), ('&start=%2B0.5s&end=%2B1s', []), ('&start=%2B1.5s&latch=true', [1, 2]),
                               ('&start=%2B1.5s&end=%2B1.6s&latch=true', [1]), ('&every=2', [0, 2]), ('&latch=true', [0, 1, 2])):
            with self.subTest(query):
                self.assertEqual(second(self.frames('topic=/rgb' + query)), seconds)
        for query, sides in (('', (8, 4)), ('&width=4', (4, 2)), ('&width=100', (8, 4))):
            for head, body in self.frames('topic=/rgb' + query):
                self.assertEqual((head['Content-Type'], head['X-Image-Size'], sides_of_jpeg(body)), ('image/jpeg', '8x4', sides))
        self.assertEqual([(head['Content-Type'], body) for head, body in self.frames('topic=/file')], [('image/png', FILE)])
        # a JPEG that is narrow enough is not encoded again
        (_, jpeg), = self.frames('topic=/rgb&end=%2B1s')
        again = self.server.added('again.bag', bag([Message(T0, '/a', header() + text('jpeg') + text(jpeg), 'sensor_msgs/CompressedImage')]))
        for width, same in ((8, True), (100, True), (4, False)):
            (_, body), = parts(self.get('%s/recordings/%s/frames?topic=/a&width=%d' % (API, again, width)))
            self.assertEqual(body == jpeg, same)

    def test_what_is_no_picture_does_not_end_a_range(self):
        for topic, word in (('/words', 'not an image'), ('/odd', 'hsv'), ('/cut', 'rows of 2 bytes'), ('/huge', '16384')):
            (head, body), = self.frames('topic=' + topic)
            self.assertEqual(head['Content-Type'], 'text/plain; charset=utf-8')
            self.assertIn(word, body.decode())
        self.assertEqual([head['Content-Type'][:5] for head, _ in self.frames('topic=/*&end=%2B0.5s')], ['image', 'image'] + ['text/'] * 4)
        self.assertEqual(self.frames('topic=/none'), [])
        for query in ('', 'topic=/rgb&width=0', 'topic=/rgb&start=x'):
            self.assertEqual(self.server.get(self.path(query).replace('/frame?', '/frames?')).status, 400)
