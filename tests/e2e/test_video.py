"""Videos as MP4: H.264 and H.265 as recorded, with their times. ffmpeg makes them and reads what comes out."""
import json
import os
import random
import shutil
import struct
import subprocess
import tempfile
import unittest

import samples
from harness import API, REEL, Case, eventually
from test_frame import header, image, parts
from test_mcap import MAGIC, pairs, record, text

T0, MS = 1_700_000_000_000_000_000, 1_000_000
FRAMES, KEY_EVERY = 40, 10
CODECS = {'h264': ('libx264', 'h264_metadata', b'\0\0\0\1\x09', '-x264-params'), 'h265': ('libx265', 'hevc_metadata', b'\0\0\0\1\x46', '-x265-params')}


def run(*args, stdin=None):
    return subprocess.run(args, input=stdin, capture_output=True, check=True).stdout


def video(codec, size='160x120', pixels='yuv420p'):
    """The access units of a stream."""
    library, metadata, delimiter, option = CODECS[codec]
    stream = run('ffmpeg', '-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=size=%s:rate=30' % size, '-frames:v', str(FRAMES), '-pix_fmt', pixels, '-c:v', library,
                 '-preset', 'ultrafast', '-bf', '0', option, 'keyint=%d:min-keyint=%d:scenecut=0:repeat-headers=1:bframes=0:log-level=%s' % (
                     KEY_EVERY, KEY_EVERY, 'none' if codec == 'h265' else '-1'), '-bsf:v', metadata + '=aud=insert',
                 '-f', 'hevc' if codec == 'h265' else 'h264', '-')
    return [delimiter + part for part in stream.split(delimiter)[1:]]


def varint(n):
    return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])


def field(number, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3) + varint(value) if isinstance(value, int) else varint(number << 3 | 2) + varint(len(value)) + value


def definition():
    fields = b''.join(field(2, field(1, name) + field(3, n) + field(4, 1) + field(5, kind)) for name, n, kind in (('frame_id', 2, 9), ('data', 3, 12), ('format', 4, 9)))
    return field(1, field(1, 'v.proto') + field(2, 'foxglove') + field(4, field(1, 'CompressedVideo') + fields) + field(12, 'proto3'))


def mcap(topics):
    """topics: {name: (format, [(time, bytes)])}."""
    out = MAGIC + record(1, text('') + text('test')) + record(3, struct.pack('<H', 1) + text('foxglove.CompressedVideo') + text('protobuf') + text(definition()))
    for i, name in enumerate(topics):
        out += record(4, struct.pack('<HH', i, 1) + text(name) + text('protobuf') + pairs([]))
    messages = sorted((time, i, field(2, 'camera') + field(3, data) + field(4, form)) for i, (form, frames) in enumerate(topics.values()) for time, data in frames)
    for time, i, data in messages:
        out += record(5, struct.pack('<HIQQ', i, 0, time, time) + data)
    return out + record(15, bytes(4)) + struct.pack('<BQQQI', 2, 20, 0, 0, 0) + MAGIC


def example():
    return mcap({'/video': ('h264', [(T0 + i * 50 * MS, frame) for i, frame in enumerate(video('h264'))])})


def hashes(data, *options):
    """Of the frames that ffmpeg decodes, and what it complains about."""
    with tempfile.NamedTemporaryFile() as f:
        f.write(data)
        f.flush()
        done = subprocess.run(['ffmpeg', '-v', 'warning', *options, '-i', f.name, '-fps_mode', 'passthrough', '-f', 'framemd5', '-'], capture_output=True, check=True)
        return [line.split()[-1] for line in done.stdout.decode().splitlines() if not line.startswith('#')], done.stderr.decode()


def packets(data):
    with tempfile.NamedTemporaryFile() as f:
        f.write(data)
        f.flush()
        return json.loads(run('ffprobe', '-v', 'error', '-show_packets', '-show_streams', '-of', 'json', f.name))


@unittest.skipUnless(shutil.which('ffmpeg'), 'needs ffmpeg')
class Video(Case):
    @classmethod
    def fill(cls):
        pick = random.Random(3)
        cls.times = [T0 + i * 33 * MS + pick.randrange(9000) * 1000 for i in range(FRAMES)]
        cls.frames = {codec: video(codec) for codec in CODECS}
        for codec, frames in cls.frames.items():
            assert len(frames) == FRAMES, (codec, len(frames))
        topics = {'/' + codec: (codec, list(zip(cls.times, frames))) for codec, frames in cls.frames.items()}
        h264 = cls.frames['h264']
        other = video('h264', '96x64')
        odd = [b'', b'\0\0\1', b'no start code', b'\0' * 50, b'\0\0\1\x67', b'\0\0\1\x67\xff\xff\xff\xff\xff', b'\0\0\1\x65\x80', h264[3]]
        topics['/changes'] = ('h264', list(zip(cls.times, h264[:20] + other[:10] + h264[30:])))
        topics['/late'] = ('h264', list(zip(cls.times, h264[5:])))
        topics['/odd'] = ('h264', list(zip(cls.times, odd + h264[:10] + odd[:5] + h264[10:15])))
        topics['/nothing'] = ('h264', list(zip(cls.times, odd)))
        topics['/vp9'] = ('vp9', [(T0, b'123')])
        short = [f.replace(b'\0\0\0\1', b'\0\0\1') for f in h264]
        topics['/short'] = ('h264', list(zip(cls.times, short)))
        cls.number = cls.server.added('video.mcap', mcap(topics))

    def path(self, name, query):
        return '%s/recordings/%s/as/%s?%s' % (API, self.number, name, query)

    def times_of(self, data):
        return [round(float(p['pts_time']) * 1e6) for p in packets(data)['packets']]

    def test_frames_and_times_are_those_recorded(self):
        for codec, frames in self.frames.items():
            with self.subTest(codec):
                answer = self.get(self.path('cam.mp4', 'topic=/' + codec))
                self.assertEqual(answer.headers['Content-Type'], 'video/mp4')
                decoded, complaints = hashes(answer.body)
                self.assertEqual((decoded, complaints), (hashes(b''.join(frames))[0], ''))
                self.assertEqual(self.times_of(answer.body), [(t - T0) // 1000 - (self.times[0] - T0) // 1000 for t in self.times])
                listed = packets(answer.body)
                self.assertEqual([i for i, p in enumerate(listed['packets']) if 'K' in p['flags']], list(range(0, FRAMES, KEY_EVERY)))
                stream = listed['streams'][0]
                self.assertEqual((stream['width'], stream['height'], stream['codec_name']), (160, 120, {'h264': 'h264', 'h265': 'hevc'}[codec]))
                self.assertLess(answer.body.index(b'moov'), answer.body.index(b'mdat'))

    def test_length_tag_and_ranges(self):
        path = self.path('cam.mp4', 'topic=/h264')
        head, whole = self.server.request('HEAD', path), self.get(path)
        self.assertEqual((int(head.headers['Content-Length']), head.headers['ETag']), (len(whole.body), whole.headers['ETag']))
        pick = random.Random(1)
        for _ in range(30):
            start = pick.randrange(len(whole.body))
            end = min(len(whole.body), start + pick.randrange(1, 5000))
            self.assertEqual(self.get(path, 206, Range='bytes=%d-%d' % (start, end - 1)).body, whole.body[start:end])

    def test_short_start_codes(self):
        self.assertEqual(self.get(self.path('a.mp4', 'topic=/short')).body, self.get(self.path('b.mp4', 'topic=/h264')).body)

    def test_a_cut_begins_at_the_key_frame_before(self):
        whole = hashes(b''.join(self.frames['h264']))[0]
        query = 'topic=/h264&start=%d' % (self.times[17] - 1)
        cut = self.get(self.path('cut.mp4', query)).body
        self.assertEqual(hashes(cut), (whole[17:], ''))
        self.assertEqual(hashes(cut, '-ignore_editlist', '1'), (whole[10:], ''))
        rows = self.get(self.path('cut.mcap', query)).body
        self.assertEqual([f in rows for f in self.frames['h264']], [False] * 10 + [True] * 30)
        tag = lambda q: self.server.request('HEAD', self.path('cut.mcap', q)).headers['ETag']
        self.assertNotEqual(tag(query), tag('topic=/h264'))
        parts = self.get(self.path('cut.mp4.tar', 'topic=/h264&split=duration:0.5s')).body
        self.assertEqual(parts.count(b'ftypisom'), 3)

    def test_frames_for_a_player(self):
        for codec, frames in self.frames.items():
            get = lambda query: parts(self.get('%s/recordings/%s/frames?topic=/%s&start=%d&end=%d%s' % (API, self.number, codec, self.times[17] - 1, self.times[25], query)))
            self.assertEqual([(head['Content-Type'], body) for head, body in get('')], [('video/' + codec, frame) for frame in frames[17:25]])
            self.assertEqual([body for _, body in get('&latch=true')], frames[10:25])

    def test_parameter_sets_that_change(self):
        data = self.get(self.path('cam.mp4', 'topic=/changes')).body
        self.assertIn(b'avc3', data)
        self.assertEqual(len(self.times_of(data)), FRAMES)
        self.assertNotIn('rror', hashes(data)[1])

    def test_listed_as_a_file(self):
        self.server.added('one.mcap', example(), collection='one')
        answer = self.server.request('PROPFIND', '/dav/one/one.mcap.as/', headers={'Depth': '1'})
        self.assertIn(b'/one.mcap.as/one.mp4<', answer.body)

    def test_all_frames_or_none(self):
        for query in ('fps=10', 'width=80', 'every=2', 'every=100ms'):
            self.assertProblem(self.server.request('GET', self.path('cam.mp4', 'topic=/h264&' + query)), 422, 'depend on those before')
        for name in ('cam.mcap', 'cam.ndjson'):
            for query in ('fps=10', 'width=80'):
                self.assertProblem(self.server.request('GET', self.path(name, 'topic=/h264&' + query)), 400, 'means nothing')

    def test_what_cannot_be_played_is_left_out(self):
        late = self.get(self.path('cam.mp4', 'topic=/late')).body
        self.assertEqual(hashes(late), (hashes(b''.join(self.frames['h264'][10:]))[0], ''))
        self.assertEqual(len(self.times_of(self.get(self.path('cam.mp4', 'topic=/odd')).body)), 15)
        for topic, number in (('/h264', None), ('/late', 5), ('/odd', 13)):
            report = self.get(self.path('cam.mp4', 'report=true&check=true&topic=' + topic)).json()['report']
            self.assertEqual([r['text'].split(' that ')[0] for r in report], ['%d messages' % number] if number else [])
        for topic in ('/nothing', '/vp9'):
            self.assertProblem(self.server.request('GET', self.path('cam.mp4', 'topic=' + topic)), 422, 'key frame')
        self.assertProblem(self.server.request('GET', self.path('cam.mp4', 'topic=/h*')), 422, 'one topic')


@unittest.skipUnless(shutil.which('ffmpeg'), 'needs ffmpeg')
class Drawn(Case):
    """Videos of images, which are encoded."""
    WIDTH, HEIGHT, COUNT = 64, 48, 70

    @classmethod
    def fill(cls):
        size = '%dx%d' % (cls.WIDTH, cls.HEIGHT)
        source = ('ffmpeg', '-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=size=%s:rate=30' % size, '-frames:v', str(cls.COUNT))
        raw = run(*source, '-pix_fmt', 'rgb24', '-f', 'rawvideo', '-')
        step = len(raw) // cls.COUNT
        cls.rgb = [raw[i:i + step] for i in range(0, len(raw), step)]
        jpegs = [b'\xff\xd8\xff' + part for part in run(*source, '-pix_fmt', 'yuvj420p', '-q:v', '2', '-f', 'image2pipe', '-c:v', 'mjpeg', '-').split(b'\xff\xd8\xff')[1:]]
        cls.times = [T0 + i * 40 * MS for i in range(cls.COUNT)]
        bomb = jpegs[0].replace(struct.pack('>HH', cls.HEIGHT, cls.WIDTH), b'\xff\xff\xff\xff')
        odd = [b'', b'\xff\xd8\xff', bomb, jpegs[0][:30], run(*source[:-1], '1', '-vf', 'scale=32:32', '-f', 'image2pipe', '-c:v', 'mjpeg', '-')]
        ns = lambda i: samples.T0 + i * 40 * MS
        messages = [samples.Message(ns(i), '/rgb', image('rgb8', cls.WIDTH, cls.HEIGHT, b), 'sensor_msgs/Image') for i, b in enumerate(cls.rgb)]
        messages += [samples.Message(ns(i), '/jpeg', header() + text('jpeg') + text(b), 'sensor_msgs/CompressedImage') for i, b in enumerate(jpegs)]
        messages += [samples.Message(ns(i), '/odd', header() + text('jpeg') + text(b), 'sensor_msgs/CompressedImage')
                     for i, b in enumerate(odd[:4] + jpegs[:5] + odd + jpegs[5:9])]
        messages += [samples.Message(ns(i), '/none', header() + text('jpeg') + text(b), 'sensor_msgs/CompressedImage') for i, b in enumerate(odd[:4])]
        cls.data = samples.bag(sorted(messages, key=lambda m: m.time))
        cls.number = cls.server.added('drawn.bag', cls.data)

    def path(self, query):
        return '%s/recordings/%s/as/cam.mp4?%s' % (API, self.number, query)

    def planned(self, path):
        def ask():
            answer = self.server.request('GET', path)
            return answer if answer.status != 503 else None
        answer = eventually(ask)
        self.assertEqual(answer.status, 200, answer)
        return answer

    def decoded(self, data):
        with tempfile.NamedTemporaryFile() as f:
            f.write(data)
            f.flush()
            raw = run('ffmpeg', '-v', 'error', '-i', f.name, '-fps_mode', 'passthrough', '-pix_fmt', 'rgb24', '-f', 'rawvideo', '-')
        step = self.WIDTH * self.HEIGHT * 3
        return [raw[i:i + step] for i in range(0, len(raw), step)]

    def test_pictures_and_times(self):
        for topic in ('/rgb', '/jpeg'):
            with self.subTest(topic):
                answer = self.planned(self.path('topic=' + topic))
                frames = self.decoded(answer.body)
                self.assertEqual(len(frames), self.COUNT)
                for i in range(0, self.COUNT, 9):
                    off = sum(abs(a - b) for a, b in zip(frames[i], self.rgb[i])) / len(frames[i])
                    self.assertLess(off, 12, i)
                listed = packets(answer.body)['packets']
                self.assertEqual([round(float(p['pts_time']) * 1000) for p in listed], [40 * i for i in range(self.COUNT)])
                self.assertEqual([i for i, p in enumerate(listed) if 'K' in p['flags']], [0, 30, 60])

    def test_ranges_and_tag(self):
        path = self.path('topic=/jpeg')
        whole = self.planned(path)
        pick = random.Random(1)
        for _ in range(20):
            start = pick.randrange(len(whole.body))
            end = min(len(whole.body), start + pick.randrange(1, 5000))
            part = self.get(path, 206, Range='bytes=%d-%d' % (start, end - 1))
            self.assertEqual((part.body, part.headers['ETag']), (whole.body[start:end], whole.headers['ETag']))

    def test_width(self):
        stream = packets(self.planned(self.path('topic=/rgb&width=32')).body)['streams'][0]
        self.assertEqual((stream['width'], stream['height']), (32, 24))

    def test_frames_a_second(self):
        for fps, kept in ((1, 25), (10, 3), (25, 1), (1000, 1)):  # one comes every 40 ms
            with self.subTest(fps=fps):
                answer = self.planned(self.path('topic=/rgb&fps=%d' % fps))
                listed = packets(answer.body)['packets']
                self.assertEqual([round(float(p['pts_time']) * 1000) for p in listed], [40 * i for i in range(0, self.COUNT, kept)])
        frames = self.decoded(self.planned(self.path('topic=/rgb&fps=13')).body)  # of two groups
        self.assertEqual(len(frames), self.COUNT // 2)
        for i, frame in enumerate(frames):
            self.assertLess(sum(abs(a - b) for a, b in zip(frame, self.rgb[2 * i])) / len(frame), 12, i)
        self.assertNotEqual(*(self.planned(self.path('topic=/rgb' + q)).headers['ETag'] for q in ('', '&fps=1000')))

    def test_what_cannot_be_decoded_is_left_out(self):
        self.assertEqual(len(self.decoded(self.planned(self.path('topic=/odd')).body)), 9)
        report = self.get(self.path('topic=/odd&report=true&check=true')).json()['report']
        self.assertIn('9 messages that cannot be decoded', str(report))
        self.assertProblem(self.server.request('GET', self.path('topic=/none')), 422, 'nothing to play')

    def test_command(self):
        with tempfile.TemporaryDirectory() as folder:
            source, out = os.path.join(folder, 'drawn.bag'), os.path.join(folder, 'out.mp4')
            with open(source, 'wb') as f:
                f.write(self.data)
            convert = lambda *args: subprocess.run([REEL, 'convert', '--topic', '/odd', '--force', *args], capture_output=True, text=True)
            done = convert(source, out, '--fps', '10')
            self.assertEqual((done.returncode, 'messages that cannot be decoded' in done.stderr), (0, True), done.stderr)
            with open(out, 'rb') as f:
                self.assertLess(len(self.decoded(f.read())), 9)
            self.assertIn('--fps: means nothing for mcap files', convert('--fps', '10', source, out + '.mcap').stderr)
