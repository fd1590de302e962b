"""A small picture of a recording, or ten side by side; and what a list shows of many recordings."""
import os
import struct
import zlib

from harness import API, Case, create_token, files_below
from samples import Message, T0, SECOND, bag, lab_messages
from test_frame import header, image, png, read_png, sides_of_jpeg, text


def camera(topic='/camera', n=11, width=64, height=48):
    """One image a second; the shade says which."""
    return [Message(T0 + i * SECOND, topic, image('mono8', width, height, bytes([min(250, 25 * i)]) * (width * height)), 'sensor_msgs/Image') for i in range(n)]


def huge_png():
    """Says that it has 8000 x 8000 pixels."""
    whole = png(1, 1, [b'abc'], 2)
    body = struct.pack('>IIBBBBB', 8000, 8000, 8, 2, 0, 0, 0)
    return whole[:16] + body + struct.pack('>I', zlib.crc32(b'IHDR' + body)) + whole[33:]


def compressed(topic, data, form='png', at=T0):
    return Message(at, topic, header() + text(form) + text(data), 'sensor_msgs/CompressedImage')


class Thumbnail(Case):
    @classmethod
    def fill(cls):
        cls.camera = cls.server.added('camera.bag', bag(camera()))
        cls.plain = cls.server.added('plain.bag', bag(lab_messages(4)))

    def path(self, recording, frames=1):
        return '%s/recordings/%s/thumbnail%s' % (API, recording, '' if frames == 1 else '?frames=%d' % frames)

    def shades(self, jpeg, tiles):
        """The grey in the middle of each tile: the JPEG is uploaded as an image, and read back as a PNG."""
        rid = self.server.added('jpeg%d.bag' % zlib.crc32(jpeg), bag([compressed('/jpeg', jpeg, 'jpeg')]))
        width, height, values, rows = read_png(self.get('%s/recordings/%s/frame?topic=/jpeg' % (API, rid), Accept='image/png').body)
        return [rows[height // 2][(2 * i + 1) * width // (2 * tiles) * values] for i in range(tiles)]

    def kept(self, recording):
        content = self.get(API + '/recordings/' + recording).json()['parts'][0]['sha256']
        return [f for f in files_below(os.path.join(self.server.data, 'derived')) if os.path.basename(f).startswith(content)]

    def test_from_the_middle(self):
        answer = self.get(self.path(self.camera))
        self.assertEqual((answer.headers['Content-Type'], sides_of_jpeg(answer.body)), ('image/jpeg', (64, 48)))
        self.assertIn('immutable', answer.headers['Cache-Control'])
        self.assertAlmostEqual(self.shades(answer.body, 1)[0], 125, delta=3)
        again = self.get(self.path(self.camera))
        self.assertEqual((again.body, again.headers['ETag']), (answer.body, answer.headers['ETag']))
        self.get(self.path(self.camera), 304, If_None_Match=answer.headers['ETag'])
        self.assertEqual(self.get(self.path(self.camera), 206, Range='bytes=0-1').body, b'\xff\xd8')

    def test_ten_frames(self):
        answer = self.get(self.path(self.camera, 10))
        self.assertEqual(sides_of_jpeg(answer.body), (640, 48))
        for i, shade in enumerate(self.shades(answer.body, 10)):
            self.assertAlmostEqual(shade, 25 * i, delta=4)
        self.assertNotEqual(answer.headers['ETag'], self.get(self.path(self.camera)).headers['ETag'])

    def test_large_ones_are_scaled(self):
        wide = self.server.added('wide.bag', bag(camera(n=1, width=1000, height=500)))
        tall = self.server.added('tall.bag', bag(camera(n=1, width=100, height=900)))
        self.assertEqual(sides_of_jpeg(self.get(self.path(wide)).body), (320, 160))
        self.assertEqual(sides_of_jpeg(self.get(self.path(wide, 10)).body), (2400, 120))
        self.assertEqual(sides_of_jpeg(self.get(self.path(tall)).body)[0], 35)

    def test_every_kind_of_image(self):
        pixels = [bytes((x * 3 + y) % 256 for x in range(3 * 32)) for y in range(24)]
        for name, message in (('png', compressed('/c', png(32, 24, pixels, 2))), ('bayer', Message(T0, '/c', image('bayer_rggb8', 32, 24, bytes(32 * 24)), 'sensor_msgs/Image')),
                              ('depth', Message(T0, '/depth', image('16UC1', 32, 24, bytes(2 * 32 * 24)), 'sensor_msgs/Image'))):
            self.assertEqual(sides_of_jpeg(self.get(self.path(self.server.added(name + '.bag', bag([message])))).body), (32, 24), name)

    def test_what_a_camera_sees_goes_before_depth(self):
        messages = sorted(camera('/depth', 11) + camera('/left', 2, 32, 24), key=lambda m: m.time)
        self.assertEqual(sides_of_jpeg(self.get(self.path(self.server.added('both.bag', bag(messages)))).body), (32, 24))

    def test_what_cannot_be_drawn(self):
        self.assertProblem(self.server.get(self.path(self.plain)), 404, 'no images')
        self.assertProblem(self.server.get(self.path('0' * 32)), 404)
        self.assertProblem(self.server.get(self.path(self.camera, 7)), 400, 'frames')
        for name, data, status in (('huge', huge_png(), 413), ('junk', b'\xff\xd8 no JPEG', 422)):
            rid = self.server.added(name + '.bag', bag([compressed('/c', data)]))
            self.assertProblem(self.server.get(self.path(rid)), status)
            self.assertProblem(self.server.get(self.path(rid, 10)), status)
        # a channel of which none is drawn gives way to the next one, and a bad frame among good ones stays black
        mixed = camera('/left', 4) + [compressed('/best', b'junk', at=T0 + i) for i in range(9)]
        self.assertEqual(sides_of_jpeg(self.get(self.path(self.server.added('mixed.bag', bag(sorted(mixed, key=lambda m: m.time))))).body), (64, 48))
        gap = [compressed('/c', png(64, 48, [bytes([200]) * 64] * 48, 0) if i != 5 else b'junk', at=T0 + i * SECOND) for i in range(10)]
        shades = self.shades(self.get(self.path(self.server.added('gap.bag', bag(gap)), 10)).body, 10)
        self.assertLess(min(shades), 20)
        self.assertGreater(sorted(shades)[5], 190)

    def test_kept_while_the_recording_is(self):
        rid = self.server.added('short.bag', bag(camera(n=3)))
        picture = self.get(self.path(rid)).body
        file, = self.kept(rid)
        with open(file, 'r+b') as f:  # cut off by a power failure
            f.truncate(100)
        self.assertEqual(self.get(self.path(rid)).body, picture)
        self.assertEqual(os.path.getsize(file), len(picture))
        self.assertEqual(self.server.request('DELETE', API + '/recordings/' + rid).status, 204)
        self.assertProblem(self.server.get(self.path(rid)), 410)
        self.assertEqual(self.server.request('DELETE', API + '/recordings/%s?purge=true' % rid).status, 204)
        self.assertFalse(os.path.exists(file))


class Previews(Case):
    @classmethod
    def fill(cls):
        cls.camera = cls.server.added('camera.bag', bag(camera()))
        cls.plain = cls.server.added('plain.bag', bag(lab_messages(4)))
        cls.other = cls.server.added('other.bag', bag(lab_messages(1, salt=1)), collection='other')

    def ask(self, *ids, **headers):
        return self.get(API + '/previews?' + '&'.join('recording=' + i for i in ids), **headers).json()['items']

    def test_many_at_once(self):
        got = self.ask(self.plain, '0' * 32, self.camera)
        self.assertEqual([(one['recording'], one['picture']) for one in got], [(self.plain, False), (self.camera, True)])
        for one in got:
            self.assertEqual(len(one['rate']), 40)
            self.assertEqual(sum(one['rate']), self.get(API + '/recordings/' + one['recording']).json()['messages'])
        self.assertEqual(self.ask(), [])
        self.assertProblem(self.server.get(API + '/previews?' + '&'.join(['recording=' + self.plain] * 101)), 400, 'recording')

    def test_those_of_other_collections_are_left_out(self):
        token = create_token(self.server, 'read', 'limited', '--collection', 'lab')
        self.assertEqual([one['recording'] for one in self.ask(self.other, self.plain, Authorization='Bearer ' + token)], [self.plain])
