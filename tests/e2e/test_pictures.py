"""Images and point clouds as files: ZIP archives with a member for each message, and one cloud as PLY."""
import io
import random
import struct
import zipfile

import samples
from harness import API, Case
from samples import Message, T0, SECOND, bag
from test_frame import FILE, ROWS, STAMP, HEADER, header, image, pictures, read_png, text

samples.TYPES['sensor_msgs/PointCloud2'] = (
    '1158d486dd51d683ce2f1be655c3c181',
    HEADER + 'uint32 height\nuint32 width\nsensor_msgs/PointField[] fields\nbool is_bigendian\nuint32 point_step\nuint32 row_step\nuint8[] data\n'
    'bool is_dense\n' + STAMP + '=' * 80 + '\nMSG: sensor_msgs/PointField\nuint8 INT8=1\nstring name\nuint32 offset\nuint8 datatype\nuint32 count\n')
JPEG = b'\xff\xd8\xff\xe0 recorded as it is \xff\xd9'
POINTS = [(1.0, -2.5, 3.25, 0x112233, 7), (4.0, 5.0, -6.0, 0xfedcba, 65535)]


def cloud(points, big=False, damaged=False, rows=1):
    """x y z rgb ring, four bytes of padding behind each point and after each row."""
    order = '>' if big else '<'
    fields = [('x', 0, 7), ('y', 4, 7), ('z', 8, 7), ('rgb', 12, 7), ('ring', 16, 4)]
    size, width = 22, len(points) // rows
    data = b''.join(b''.join(struct.pack(order + 'fffIH', *p) + b'PAD!' for p in points[r * width:(r + 1) * width]) + b'ROW' for r in range(rows))
    listed = struct.pack('<I', len(fields)) + b''.join(text(n) + struct.pack('<IBI', at, kind, 1) for n, at, kind in fields)
    return (header() + struct.pack('<II', rows, width) + listed + struct.pack('<BII', big, size, size * width + 3) +
            text(data[:9] if damaged else data) + b'\1')


def points(clouds=(cloud(POINTS),)):
    return [Message(T0 + i * SECOND, '/points', c, 'sensor_msgs/PointCloud2') for i, c in enumerate(clouds)]


def camera():
    return [Message(T0 + i * SECOND, '/camera', image('rgb8', 32, 24, bytes([80 * i]) * (32 * 24 * 3)), 'sensor_msgs/Image') for i in range(3)]


def read_ply(data):
    """(names of the properties, rows)."""
    kinds = {'float': 'f', 'uchar': 'B', 'ushort': 'H', 'double': 'd', 'int': 'i', 'uint': 'I', 'short': 'h', 'char': 'b'}
    head, body = data.split(b'end_header\n', 1)
    lines = head.decode().splitlines()
    assert lines[:2] == ['ply', 'format binary_little_endian 1.0'], lines
    count = int(lines[2].removeprefix('element vertex '))
    properties = [line.split()[1:] for line in lines[3:]]
    layout = '<' + ''.join(kinds[kind] for kind, _ in properties)
    assert len(body) == count * struct.calcsize(layout)
    return [name for _, name in properties], list(struct.iter_unpack(layout, body))


class Pictures(Case):
    @classmethod
    def fill(cls):
        cls.jpegs = [JPEG + bytes([i]) * 1000 * i for i in range(5)]
        messages = pictures('/rgb')
        messages += [Message(T0 + i * SECOND // 30, '/camera/left', header() + text('jpeg') + text(b), 'sensor_msgs/CompressedImage')
                     for i, b in enumerate(cls.jpegs)]
        messages += [Message(T0 + 5, '/file', header() + text('png') + text(FILE), 'sensor_msgs/CompressedImage'),
                     Message(T0 + 5, '/../file', header() + text('png') + text(FILE), 'sensor_msgs/CompressedImage'),
                     Message(T0 + 6, '/odd', header() + text('jpeg') + text(b'no image'), 'sensor_msgs/CompressedImage'),
                     Message(T0 + 7, '/bayer', image('bayer_grbg8', 2, 2, bytes([100, 200, 50, 100])), 'sensor_msgs/Image'),
                     Message(T0 + 9, '/words', text('hello'), 'std_msgs/String')]
        cls.clouds = [cloud(POINTS), cloud(POINTS, big=True), cloud(POINTS * 2, rows=2), cloud(POINTS, damaged=True)]
        messages += points(cls.clouds)
        cls.number = cls.server.added('pictures.bag', bag(sorted(messages, key=lambda m: m.time)))

    def path(self, name, query):
        return '%s/recordings/%s/as/%s?%s' % (API, self.number, name, query)

    def archive(self, name, query):
        path = self.path(name, query)
        whole, head = self.get(path), self.server.request('HEAD', path)
        self.assertEqual(int(head.headers['Content-Length']), len(whole.body))
        self.assertEqual(head.headers['ETag'], whole.headers['ETag'])
        pick = random.Random(2)
        for _ in range(10):
            start = pick.randrange(len(whole.body))
            end = min(len(whole.body), start + pick.randrange(1, 3000))
            self.assertEqual(self.get(path, 206, Range='bytes=%d-%d' % (start, end - 1)).body, whole.body[start:end])
        z = zipfile.ZipFile(io.BytesIO(whole.body))
        self.assertIsNone(z.testzip())
        return {i.filename: z.read(i) for i in z.infolist()}

    def test_images_as_recorded(self):
        members = self.archive('images.zip', 'topic=/camera/left')
        self.assertEqual(list(members.values()), self.jpegs)
        seconds, ns = divmod(T0 + SECOND // 30, SECOND)
        self.assertEqual(list(members)[1], 'camera/left/%010d.%09d.jpg' % (seconds, ns))

    def test_pixels_as_png(self):
        members = self.archive('lab.images.zip', 'topic=/rgb')
        self.assertEqual([read_png(m) for m in members.values()], [(8, 4, 3, ROWS[4 * i:4 * i + 4]) for i in range(3)])

    def test_mosaics_have_colour(self):
        colour = (2, 2, 3, [bytes([200, 100, 50] * 2)] * 2)
        self.assertEqual([read_png(m) for m in self.archive('images.zip', 'topic=/bayer').values()], [colour])
        frame = self.get('%s/recordings/%s/frame?topic=/bayer' % (API, self.number), Accept='image/png')
        self.assertEqual(read_png(frame.body), colour)

    def test_what_is_no_image(self):
        seconds, ns = divmod(T0 + 6, SECOND)
        members = self.archive('images.zip', 'topic=/odd')
        self.assertEqual(members, {'odd/%010d.%09d.bin' % (seconds, ns): header() + text('jpeg') + text(b'no image')})
        self.assertProblem(self.server.request('GET', self.path('images.zip', '')), 422, 'topic=')

    def test_names_are_distinct_and_stay_in_the_folder(self):
        members = self.archive('images.zip', 'topic=*file')
        self.assertEqual(len(members), 2)
        self.assertEqual(set(members.values()), {FILE})
        self.assertFalse([n for n in members if '..' in n or n.startswith('/')])

    def test_clouds(self):
        names, rows = ['x', 'y', 'z', 'red', 'green', 'blue', 'ring'], [p[:3] + tuple(p[3].to_bytes(3, 'big')) + p[4:] for p in POINTS]
        members = self.archive('clouds.zip', 'topic=/points')
        self.assertEqual([read_ply(m) for n, m in members.items() if n.endswith('.ply')], [(names, rows), (names, rows), (names, rows * 2)])
        self.assertEqual([m for n, m in members.items() if n.endswith('.bin')], self.clouds[3:])
        for at, i in (('', 0), ('&at=%2B0.5s', 0), ('&at=%2B2s', 2)):
            self.assertEqual(read_ply(self.get(self.path('cloud.ply', 'topic=/points' + at)).body), (names, rows * (2 if i == 2 else 1)))
        self.assertProblem(self.server.request('GET', self.path('cloud.ply', 'topic=/points&at=%2B9s')), 422, 'fewer')
        self.assertProblem(self.server.request('GET', self.path('cloud.ply', 'topic=/points&at=%2B1s&start=%2B1s')), 400, 'at')
        self.assertProblem(self.server.request('GET', self.path('cloud.ply', 'topic=/rgb')), 422, 'no point clouds')
