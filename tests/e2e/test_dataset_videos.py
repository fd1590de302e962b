"""Videos of datasets: each frame's time and picture against the messages that were uploaded. ffmpeg makes what is recorded and reads what comes out."""
import io
import json
import os
import random
import shutil
import statistics
import tarfile
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

from harness import API, Case, Server
from samples import SECOND, T0, Message, bag, lab_messages
from test_frame import header, image, text
from test_video import FRAMES as RECORDED, MS, hashes, mcap, packets, run, video

WIDTH, HEIGHT, STEP, BASE = 64, 48, 22, 9
FRONT, WRIST = 'observation.images.front', 'observation.images.wrist'
VALUE = {'search': {'q': 'kind:seen'}, 'fps': 20, 'features': {FRONT: '/front', 'observation.state': ['/odom.x'], WRIST: '/wrist'}}


def levels(i):
    """The number of a message as the grey levels of the left and the right half of its picture."""
    return 30 + STEP * (i // BASE), 30 + STEP * (i % BASE)


def picture(i):
    left, right = levels(i)
    return (bytes([left] * 3) * (WIDTH // 2) + bytes([right] * 3) * (WIDTH // 2)) * HEIGHT


def number_of(rgb):
    """The message whose picture it is."""
    row = HEIGHT // 2 * WIDTH
    left, right = (rgb[3 * (row + x)] for x in (WIDTH // 4, 3 * WIDTH // 4))
    return round((left - 30) / STEP) * BASE + round((right - 30) / STEP)


def decoded(data, width=WIDTH, height=HEIGHT):
    with tempfile.NamedTemporaryFile() as f:
        f.write(data)
        f.flush()
        raw = run('ffmpeg', '-v', 'error', '-i', f.name, '-fps_mode', 'passthrough', '-pix_fmt', 'rgb24', '-f', 'rawvideo', '-')
    step = width * height * 3
    return [raw[i:i + step] for i in range(0, len(raw), step)]


def png(i):
    from test_frame import png as file
    rgb = picture(i)
    return file(WIDTH, HEIGHT, [rgb[y * WIDTH * 3:(y + 1) * WIDTH * 3] for y in range(HEIGHT)], 2)


def cameras(seconds, salt):
    """Images about each 40 ms and each 70 ms, from 100 ms and 250 ms on."""
    pick = random.Random(salt)
    front = [T0 + 100 * MS + i * 40 * MS + pick.randrange(9) * MS for i in range((seconds * 1000 - 200) // 40)]
    wrist = [T0 + 250 * MS + i * 70 * MS for i in range((seconds * 1000 - 300) // 70)]
    return ([Message(t, '/front', image('rgb8', WIDTH, HEIGHT, picture(i)), 'sensor_msgs/Image') for i, t in enumerate(front)],
            [Message(t, '/wrist', header() + text('png') + text(png(i)), 'sensor_msgs/CompressedImage') for i, t in enumerate(wrist)])


def sample(seconds, salt):
    front, wrist = cameras(seconds, salt)
    return bag(sorted(front + wrist + [m for m in lab_messages(seconds, salt=salt) if m.topic == '/odom'], key=lambda m: m.time))


def at_or_before(messages, time):
    return max(i for i, m in enumerate(messages) if m.time <= time)


def times_of(data):
    """Of all packets, exactly."""
    listed = packets(data)
    base = Fraction(*map(int, listed['streams'][0]['time_base'].split('/')))
    assert all(p['pts'] == p['dts'] and 'side_data_list' not in p for p in listed['packets'])
    return [p['pts'] * base for p in listed['packets']]


class Dataset(Case):
    @classmethod
    def put(cls, name, value):
        answer = cls.server.request('PUT', '%s/datasets/%s' % (API, name), json.dumps({'value': value}))
        assert answer.status in (200, 201), answer

    @classmethod
    def tagged(cls, name, data, tag):
        key = cls.server.added(name, data)
        cls.server.request('PUT', '%s/recordings/%s/tags/kind?value=%s' % (API, key, tag))
        return key

    def file(self, name, path):
        return self.get('/dav/datasets/%s/%s' % (name, path))

    def video(self, name, feature=FRONT, episode=0):
        return self.file(name, 'videos/%s/chunk-000/file-%03d.mp4' % (feature, episode)).body

    def report(self, name):
        return self.get('%s/datasets/%s?report' % (API, name)).json()


@unittest.skipUnless(shutil.which('ffmpeg'), 'needs ffmpeg')
class Images(Dataset):
    RECORDINGS = ((3, 1), (2, 2))

    @classmethod
    def fill(cls):
        cls.ids = [cls.tagged('%s.bag' % salt, sample(seconds, salt), 'seen') for seconds, salt in cls.RECORDINGS]
        cls.put('pick', VALUE)

    def expected(self, episode):
        """Times of the frames."""
        front, wrist = cameras(*self.RECORDINGS[episode])
        odom = T0 + (self.RECORDINGS[episode][0] * 50 - 1) * 20 * MS + 1000
        start, end = max(front[0].time, wrist[0].time), min(front[-1].time, wrist[-1].time, odom)
        return [start + k * SECOND // 20 for k in range((end - start) * 20 // SECOND + 1)]

    def test_each_frame_has_the_latest_image_at_its_time(self):
        report = self.report('pick')
        for episode, recording in enumerate(self.RECORDINGS):
            times = self.expected(episode)
            self.assertEqual(report['episodes'][episode]['frames'], len(times))
            for feature, messages in zip((FRONT, WRIST), cameras(*recording)):
                with self.subTest(episode=episode, feature=feature):
                    data = self.video('pick', feature, episode)
                    self.assertEqual(times_of(data), [Fraction(k, 20) for k in range(len(times))])
                    self.assertEqual([number_of(frame) for frame in decoded(data)], [at_or_before(messages, t) for t in times])
                    age = max(t - messages[at_or_before(messages, t)].time for t in times)
                    self.assertEqual(report['episodes'][episode]['ages'][VALUE['features'][feature]]['max_s'], age / 1e9)

    def test_info(self):
        info = self.file('pick', 'meta/info.json').json()
        self.assertEqual(info['video_path'], 'videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4')
        self.assertEqual(list(info['features'])[:3], [FRONT, 'observation.state', WRIST])
        self.assertEqual(info['features'][FRONT], {
            'dtype': 'video', 'shape': [HEIGHT, WIDTH, 3], 'names': ['height', 'width', 'channels'],
            'info': {'video.height': HEIGHT, 'video.width': WIDTH, 'video.codec': 'h264', 'video.pix_fmt': 'yuv420p', 'video.fps': 20, 'video.channels': 3,
                     'has_audio': False, 'is_depth_map': False}})
        stream = packets(self.video('pick'))['streams'][0]
        self.assertEqual((stream['codec_name'], stream['pix_fmt'], stream['width'], stream['height'], stream['avg_frame_rate'], stream['r_frame_rate']),
                         ('h264', 'yuv420p', WIDTH, HEIGHT, '20/1', '20/1'))
        self.assertEqual(self.report('pick')['features'], info['features'])

    def test_statistics(self):
        stats = self.file('pick', 'meta/stats.json').json()
        for feature, which in ((FRONT, 0), (WRIST, 1)):
            shown = [[at_or_before(cameras(*recording)[which], t) for t in self.expected(episode)] for episode, recording in enumerate(self.RECORDINGS)]
            values = [level / 255 for numbers in shown for i in numbers for level in levels(i)]  # all frames: there are fewer than 100
            found = stats[feature]
            self.assertEqual(found['count'], [sum(map(len, shown))])
            for key, value in (('min', min(values)), ('max', max(values)), ('mean', statistics.fmean(values)), ('std', statistics.pstdev(values))):
                self.assertEqual([len(found[key]), len(found[key][0]), len(found[key][0][0])], [3, 1, 1])
                for colour in range(3):
                    self.assertAlmostEqual(found[key][colour][0][0], value, delta=1e-9)
            self.assertLessEqual(found['q01'][0][0][0], found['q50'][0][0][0])

    def test_the_same_bytes_everywhere(self):
        path = 'videos/%s/chunk-000/file-001.mp4' % WRIST
        whole = self.file('pick', path)
        self.assertEqual(whole.headers['Content-Type'], 'video/mp4')
        head = self.server.request('HEAD', '/dav/datasets/pick/' + path)
        self.assertEqual((int(head.headers['Content-Length']), head.headers['ETag']), (len(whole.body), whole.headers['ETag']))
        self.assertEqual(self.get('/s3/datasets/pick/' + path).body, whole.body)
        pick = random.Random(1)
        for _ in range(10):
            start = pick.randrange(len(whole.body))
            self.assertEqual(self.get('/dav/datasets/pick/' + path, 206, Range='bytes=%d-%d' % (start, start + 999)).body, whole.body[start:start + 1000])
        archive = tarfile.open(fileobj=io.BytesIO(self.get('/dav/datasets/pick?archive=tar').body))
        names = [m.name for m in archive if m.isfile()]
        self.assertEqual(names, sorted(names))
        self.assertEqual([n for n in names if n.endswith('.mp4')], ['pick/videos/%s/chunk-000/file-00%d.mp4' % (f, i) for f in (FRONT, WRIST) for i in (0, 1)])
        self.assertEqual(archive.extractfile('pick/' + path).read(), whole.body)

    def test_a_clock(self):
        self.put('clock', {**VALUE, 'fps': None, 'clock': '/wrist'})
        report = self.report('clock')
        self.assertEqual(report['fps'], 14)  # one each 70 ms
        front, wrist = cameras(*self.RECORDINGS[0])
        ends = min(front[-1].time, T0 + 2980 * MS + 1000)
        times = [m.time for m in wrist if m.time <= ends]
        self.assertEqual(report['episodes'][0]['frames'], len(times))
        self.assertEqual(report['episodes'][0]['ages']['/wrist']['max_s'], 0)
        self.assertEqual(times_of(self.video('clock')), [Fraction(k, 14) for k in range(len(times))])
        self.assertEqual([number_of(f) for f in decoded(self.video('clock', WRIST))], list(range(len(times))))
        self.assertEqual([number_of(f) for f in decoded(self.video('clock'))], [at_or_before(front, t) for t in times])
        self.put('stated', {**VALUE, 'fps': 15, 'clock': '/wrist'})
        self.assertEqual(self.report('stated')['fps'], 15)

    def test_what_comes_leaves_the_rest_as_it_was(self):
        value = {**VALUE, 'search': {'q': 'kind:grows'}}
        self.tagged('grows.bag', sample(2, 5), 'grows')
        self.put('grows', value)
        before, sha = self.get('/dav/datasets/grows/videos/%s/chunk-000/file-000.mp4' % FRONT), self.report('grows')['sha']
        self.assertEqual(self.report('grows')['total_episodes'], 1)
        self.tagged('grown.bag', sample(1, 6), 'grows')
        report = self.report('grows')
        self.assertEqual(report['total_episodes'], 2)
        self.assertNotEqual(report['sha'], sha)
        after = self.get('/dav/datasets/grows/videos/%s/chunk-000/file-000.mp4' % FRONT)
        self.assertEqual((after.body, after.headers['ETag']), (before.body, before.headers['ETag']))

    def test_what_cannot_be_shown_is_said(self):
        front, wrist = cameras(2, 7)
        odom = [m for m in lab_messages(2) if m.topic == '/odom']
        whole = png(0)
        wrist[5].payload = header() + text('png') + text(whole[:20])  # without its sides: the run ends here
        wrist[15].payload = header() + text('png') + text(whole[:60])
        self.tagged('cut.bag', bag(sorted(front + wrist[:10] + odom, key=lambda m: m.time)), 'cut')
        self.tagged('broken.bag', bag(sorted(front + wrist[10:] + odom, key=lambda m: m.time)), 'cut')
        self.tagged('missing.bag', bag(sorted(front + odom, key=lambda m: m.time)), 'cut')
        self.put('cut', {**VALUE, 'search': {'q': 'kind:cut'}})
        self.assertEqual(self.file('cut', 'meta/info.json').json()['total_episodes'], 1)
        one, broken, missing = self.report('cut')['episodes']
        self.assertGreater(one['dropped']['unreadable'], 0)
        self.assertEqual(len(times_of(self.video('cut', WRIST))), one['frames'])
        self.assertIn('cannot be decoded', broken['problem'])
        self.assertIn('/wrist', missing['problem'])


@unittest.skipUnless(shutil.which('ffmpeg'), 'needs ffmpeg')
class Recorded(Dataset):
    """H.264 and H.265 are passed through, where their frames follow each other."""
    @classmethod
    def fill(cls):
        cls.frames = {codec: video(codec) for codec in ('h264', 'h265')}
        cls.times = [T0 + i * 50 * MS for i in range(RECORDED)]
        for codec, frames in cls.frames.items():
            cls.tagged(codec + '.mcap', mcap({'/video': (codec, list(zip(cls.times, frames)))}), codec)
            cls.put(codec, {'search': {'q': 'kind:' + codec}, 'clock': '/video', 'features': {FRONT: '/video'}})

    def test_as_recorded(self):
        for codec, name in (('h264', 'h264'), ('h265', 'hevc')):
            with self.subTest(codec):
                data = self.video(codec)
                self.assertEqual(hashes(data), (hashes(b''.join(self.frames[codec]))[0], ''))
                self.assertEqual(times_of(data), [Fraction(k, 20) for k in range(RECORDED)])
                info = self.file(codec, 'meta/info.json').json()
                self.assertEqual((info['fps'], info['total_frames']), (20, RECORDED))
                self.assertEqual((info['features'][FRONT]['shape'], info['features'][FRONT]['info']['video.codec']), ([120, 160, 3], name))

    def test_pixels(self):
        frames = video('h264', pixels='yuv444p')
        self.tagged('full.mcap', mcap({'/video': ('h264', list(zip(self.times, frames)))}), 'full')
        self.put('full', {'search': {'q': 'kind:full'}, 'clock': '/video', 'features': {FRONT: '/video'}})
        for name, pixels in (('h264', 'yuv420p'), ('full', 'yuv444p')):
            self.assertEqual(packets(self.video(name))['streams'][0]['pix_fmt'], pixels)
            self.assertEqual(self.file(name, 'meta/info.json').json()['features'][FRONT]['info']['video.pix_fmt'], pixels)

    def test_statistics(self):
        stats = self.file('h264', 'meta/stats.json').json()[FRONT]
        frames = decoded(self.video('h264'), 160, 120)
        self.assertEqual(stats['count'], [RECORDED])
        for colour in range(3):
            values = b''.join(frame[colour::3] for frame in frames)
            mean = sum(values) / len(values)
            self.assertAlmostEqual(stats['mean'][colour][0][0], mean / 255, delta=.02)
            self.assertAlmostEqual(stats['std'][colour][0][0], (sum(v * v for v in values) / len(values) - mean * mean) ** .5 / 255, delta=.02)
        self.assertNotIn(FRONT, self.file('h265', 'meta/stats.json').json())
        broken = [*self.frames['h264'][:5], b'\0\0\0\1\x41' + b'\xff' * 50, *self.frames['h264'][6:]]
        self.tagged('broken.mcap', mcap({'/video': ('h264', list(zip(self.times, broken)))}), 'broken')
        self.put('broken', {'search': {'q': 'kind:broken'}, 'clock': '/video', 'features': {FRONT: '/video'}})
        self.assertEqual(len(times_of(self.video('broken'))), RECORDED)
        self.assertEqual(self.file('broken', 'meta/stats.json').json(), {})

    def test_on_another_grid(self):
        self.put('grid', {'search': {'q': 'kind:h264'}, 'fps': 15, 'features': {FRONT: '/video'}})
        report = self.report('grid')['episodes'][0]
        self.assertGreater(report['dropped']['off_grid'], 0)
        data = self.video('grid')
        decoded_frames, complaints = hashes(data)
        self.assertEqual((len(decoded_frames), complaints), (report['frames'], ''))
        whole = hashes(b''.join(self.frames['h264']))[0]
        self.assertTrue(any(decoded_frames == whole[i:i + len(decoded_frames)] for i in range(len(whole))))


@unittest.skipUnless(shutil.which('ffmpeg'), 'needs ffmpeg')
class Cuts(Dataset):
    def test_an_episode_for_each_event(self):
        key = self.tagged('events.bag', sample(4, 8), 'events')
        front, wrist = cameras(4, 8)
        for title, start, end, tags in (('grasp left', 1000, 1200, {'task': 'grasp'}), ('place', 1500, 1600, {}), ('grasp right', 2500, None, {})):
            body = {'recording': key, 'title': title, 'start': T0 + start * MS, 'tags': tags, **({'end': T0 + end * MS} if end else {})}
            answer = self.server.request('POST', API + '/events', json.dumps(body), {'Content-Type': 'application/json'})
            self.assertEqual(answer.status, 201, answer)
        self.put('cuts', {**VALUE, 'search': {'q': 'kind:events'}, 'cuts': {'title': 'grasp*', 'before_s': .5, 'after_s': .25}})
        report = self.report('cuts')
        self.assertEqual([(e['event'], e['task'], e['episode']) for e in report['episodes']], [('grasp left', 'grasp', 0), ('grasp right', 'events.bag', 1)])
        for episode, (start, last) in enumerate(((500, 1450 * MS - 1), (2000, 2750 * MS))):
            times = [t for t in (T0 + start * MS + k * SECOND // 20 for k in range(99)) if t <= T0 + last]
            self.assertEqual(report['episodes'][episode]['frames'], len(times))
            self.assertEqual([number_of(f) for f in decoded(self.video('cuts', episode=episode))], [at_or_before(front, t) for t in times])
        self.assertEqual(self.file('cuts', 'meta/info.json').json()['total_episodes'], 2)
        self.put('cuts', {**VALUE, 'search': {'q': 'kind:events'}, 'cuts': {}})
        self.assertEqual(self.report('cuts')['total_episodes'], 3)

    def test_what_is_refused(self):
        for change, word in (({'cuts': []}, 'cuts'), ({'cuts': {'before': 1}}, 'before'), ({'cuts': {'after_s': -1}}, 'after_s'), ({'clock': ''}, 'clock'),
                             ({'features': {FRONT: ['/a', '/b']}}, FRONT), ({'fps': None}, 'fps')):
            answer = self.server.request('PUT', API + '/datasets/bad', json.dumps({'value': {**VALUE, **change}}))
            self.assertProblem(answer, 400, word)


@unittest.skipUnless(shutil.which('ffmpeg'), 'needs ffmpeg')
class Room(unittest.TestCase):
    """Videos are files of the folder of derived files, with notes beside them."""
    def setUp(self):
        self.data = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, self.data, True)
        self.start()
        self.server.added('one.bag', sample(2, 1))
        value = {**VALUE, 'search': {'q': 'collection:lab'}}
        self.server.request('PUT', API + '/datasets/one', json.dumps({'value': value}))

    def start(self):
        self.server = Server(self.data)
        self.addCleanup(self.server.stop)

    def get(self, path):
        answer = self.server.get('/dav/datasets/one/' + path)
        self.assertEqual(answer.status, 200, answer)
        return answer

    def made(self):
        return {name for name in os.listdir(os.path.join(self.data, 'derived')) if name.endswith('.mp4')}

    def remove(self):
        for name in self.made():
            os.unlink(os.path.join(self.data, 'derived', name))

    def test_what_had_to_go_is_made_again(self):
        path = 'videos/%s/chunk-000/file-000.mp4' % FRONT
        answer = self.get(path)
        self.assertEqual(len(self.made()), 2)
        self.remove()
        again = self.get(path)
        self.assertEqual((again.body, again.headers['ETag']), (answer.body, answer.headers['ETag']))
        self.assertEqual(len(self.made()), 1)

    def test_readers_of_what_had_to_go_share_it(self):
        paths = ['videos/%s/chunk-000/file-000.mp4' % feature for feature in (FRONT, WRIST)]
        bodies = [self.get(path).body for path in paths]
        with ThreadPoolExecutor(8) as pool:
            for _ in range(3):
                self.remove()
                self.assertEqual(list(pool.map(lambda path: self.get(path).body, paths * 6)), bodies * 6)

    def test_only_what_is_new_is_made(self):
        info = self.get('meta/info.json').json()
        stats, old = self.get('meta/stats.json').body, self.made()
        table = self.get('meta/episodes/chunk-000/file-000.parquet').body
        self.remove()
        self.server.stop()
        self.start()
        self.assertEqual((self.get('meta/stats.json').body, self.get('meta/episodes/chunk-000/file-000.parquet').body), (stats, table))
        self.assertEqual(self.made(), set())
        self.server.added('two.bag', sample(1, 2))
        self.assertEqual((info['total_episodes'], self.get('meta/info.json').json()['total_episodes']), (1, 2))
        self.assertEqual((len(self.made()), self.made() & old), (2, set()))

    def test_notes_that_are_not_whole_are_not_read(self):
        files = {path: self.get(path).body for path in ('meta/stats.json', 'meta/info.json', 'data/chunk-000/file-000.parquet')}
        self.server.stop()
        folder = os.path.join(self.data, 'derived')
        notes = sorted(name for name in os.listdir(folder) if name.endswith('.note'))
        self.assertEqual(len(notes), 3)
        for i, size in enumerate((0, 100, 1)):
            path = os.path.join(folder, notes[i])
            os.truncate(path, size if size != 1 else os.path.getsize(path) - 1)
        self.start()
        self.assertEqual({path: self.get(path).body for path in files}, files)


if __name__ == '__main__':
    unittest.main()
