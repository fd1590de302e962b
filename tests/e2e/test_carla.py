"""CARLA's own questions over HTTP and on the command line: the simulator's text byte for byte, and rows with units in their names."""
import csv
import gzip
import io
import json
import os
import struct
import tempfile

from harness import API, QUICK, STORE, Case, Server, files_below, in_a_folder, reel
from real_samples import needs_samples
from samples import bag, lab_messages

TEXTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'shared', 'samples', 'carla')
START = 'Version: 1\nMap: Town05\nDate: 09/13/20 12:26:40\n\n'


def string(text):
    data = text.encode()
    return struct.pack('<H', len(data)) + data


def packet(number, data):
    return struct.pack('<BI', number, len(data)) + data


def listed(number, *records):
    return packet(number, struct.pack('<H', len(records)) + b''.join(records))


def actor(number, kind, name, role=None):
    attributes = [b'\3' + string('role_name') + string(role)] if role else []
    return struct.pack('<IB6fI', number, kind, 100, 200, 300, 0, 0, 90, number) + string(name) + struct.pack('<H', len(attributes)) + b''.join(attributes)


def log(frames=5, actors=()):
    """A car that drives 1 m a frame of 0.5 s, a walker that stands and is hit in frame 3."""
    out = struct.pack('<H', 1) + string('CARLA_RECORDER') + struct.pack('<q', 1600000000) + string('Town05')
    for k in range(1, frames + 1):
        out += packet(0, struct.pack('<Qdd', k, -1 if k == frames else 0.5, 0.5 * (k - 1)))
        out += listed(2, *([actor(7, 1, 'vehicle.tesla.model3', 'hero'), actor(8, 2, 'walker.pedestrian.0001'), *actors] if k == 1 else []))
        out += listed(3) + listed(4)
        out += listed(5, *([struct.pack('<III??', 0, 7, 8, True, False)] if k == 3 else []))
        out += listed(6, struct.pack('<I6f', 7, 100 * k, 200, 300, 1, 2, 3), struct.pack('<I6f', 8, 500, 600, 0, 0, 0, 0))
        out += listed(7) + packet(1, b'')
    return out


class Carla(Case):
    @classmethod
    def fill(cls):
        cls.log = cls.server.added('drive.log', log())
        cls.bag = cls.server.added('walk.bag', bag(lab_messages(1)))

    def path(self, question, recording=None):
        return '%s/recordings/%s/carla/%s' % (API, recording or self.log, question)

    def text(self, question, **headers):
        return self.get(self.path(question), **headers).body.decode()

    def table(self, question):
        return list(csv.DictReader(io.StringIO(self.get(self.path(question), Accept='text/csv').body.decode(), newline='')))

    def test_info_is_carlas_text(self):
        answer = self.get(self.path('info'))
        self.assertEqual(answer.headers.get_content_type(), 'text/plain')
        self.assertEqual(answer.body.decode(), START + 'Frame 1 at 0 seconds\n Create 7: vehicle.tesla.model3 (1) at (100, 200, 300)\n  role_name = hero\n'
                         ' Create 8: walker.pedestrian.0001 (2) at (100, 200, 300)\nFrame 3 at 1 seconds\n Collision id 0 between 7 (hero)  with 8\n'
                         '\nFrames: 5\nDuration: 2 seconds\n')
        full = self.text('info?all=true')
        self.assertIn('Frame 2 at 0.5 seconds\n Positions: 2\n  Id: 7 Location: (200, 200, 300) Rotation: (1, 2, 3)\n', full)
        self.assertIn('  Id: 7 Location (200, 200, 300) Rotation (1, 2, 3)\n', self.text('info?all&dialect=0.9.6'))
        self.assertProblem(self.server.get(self.path('info?dialect=1.2')), 400, 'dialect', '0.9.4')

    def test_every_shape_of_the_same_rows(self):
        rows = self.get(self.path('info'), Accept='application/json').json()
        self.assertEqual([(r['event'], r['actor'], r['other']) for r in rows], [('created', 7, None), ('created', 8, None), ('collided', 7, 8)])
        for accept, query in (('application/x-ndjson', 'info'), ('*/*', 'info?output=ndjson')):
            answer = self.get(self.path(query), Accept=accept)
            self.assertEqual(answer.headers.get_content_type(), 'application/x-ndjson')
            self.assertEqual(answer.rows(), rows)
        table = self.table('info')
        self.assertEqual([list(r) for r in table], [list(r) for r in rows])
        self.assertEqual([r['actor'] for r in table], ['7', '8', '7'])

    def test_collisions(self):
        head = START + '    Time  Types     Id Actor 1                                 Id Actor 2                            \n'
        row = '       1   v w       7 vehicle.tesla.model3                     8 walker.pedestrian.0001             \n'
        self.assertEqual(self.text('collisions'), head + row + '\nFrames: 5\nDuration: 2 seconds\n')
        self.assertEqual(self.text('collisions?type1=h&type2=w'), head + row + '\nFrames: 5\nDuration: 2 seconds\n')
        self.assertEqual(self.text('collisions?type1=w'), head + '\nFrames: 5\nDuration: 2 seconds\n')
        self.assertEqual(self.get(self.path('collisions'), Accept='application/json').json(),
                         [{'time_s': 1, 'frame': 3, 'collision': 0, 'actor1': 7, 'type1': 'vehicle', 'description1': 'vehicle.tesla.model3', 'hero1': True, 'actor2': 8,
                           'type2': 'walker', 'description2': 'walker.pedestrian.0001', 'hero2': False}])
        self.assertProblem(self.server.get(self.path('collisions?type1=x')), 400, 'type1')

    def test_blocked(self):
        self.assertEqual(self.text('blocked?min_time=0.4&min_distance=50').splitlines()[4:6],
                         ['    Time     Id Actor                                 Duration', '       0      8 walker.pedestrian.0001                       0'])
        self.assertEqual(self.table('blocked?min_time=1&min_distance=50'),
                         [{'actor': '8', 'type': 'walker', 'description': 'walker.pedestrian.0001', 'since_s': '0.5', 'duration_s': '1.5'}])
        self.assertEqual(self.get(self.path('blocked'), Accept='application/json').json(), [])
        for bad in ('min_time=long', 'min_time=-1', 'min_distance=nan'):
            self.assertProblem(self.server.get(self.path('blocked?' + bad)), 400, bad.split('=')[0])

    def test_actors(self):
        rows = self.get(self.path('actors')).json()
        self.assertEqual([r['actor'] for r in rows], [7, 8])
        self.assertEqual(rows[0], {'actor': 7, 'type': 'vehicle', 'description': 'vehicle.tesla.model3', 'role_name': 'hero', 'parent': None, 'first_time_s': 0,
                                   'last_time_s': 2, 'destroyed': False, 'x_m': 1, 'y_m': 2, 'z_m': 3, 'roll_deg': 0, 'pitch_deg': 0, 'yaw_deg': 90,
                                   'attributes': {'role_name': 'hero'}})
        self.assertEqual(json.loads(self.table('actors')[0]['attributes']), {'role_name': 'hero'})
        self.assertProblem(self.server.get(self.path('actors'), Accept='text/plain'), 406, 'text/csv')

    def test_trajectory(self):
        rows = self.table('actors/7/trajectory')
        self.assertEqual([(r['time_s'], r['x_m'], r['y_m'], r['yaw_deg'], r['speed_m_s']) for r in rows],
                         [(t, x, '2', '3', v) for t, x, v in (('0', '1', ''), ('0.5', '2', '2'), ('1', '3', '2'), ('1.5', '4', '2'), ('2', '5', '2'))])
        line = self.get(self.path('actors/7/trajectory'), Accept='application/geo+json').json()
        self.assertEqual(line['geometry']['type'], 'LineString')
        table = self.get(self.path('actors/7/trajectory')).json()
        self.assertEqual(line['geometry']['coordinates'], [[r['x_m'], r['y_m'], r['z_m'], r['time_s']] for r in table])
        self.assertProblem(self.server.get(self.path('actors?output=geojson')), 406, 'text/csv')
        mirrored = self.get(self.path('actors/7/trajectory?frame=ros')).json()
        self.assertEqual([(r['x_m'], r['y_m'], r['z_m'], r['roll_deg'], r['pitch_deg'], r['yaw_deg']) for r in mirrored[:2]], [(1, -2, 3, 1, -2, -3), (2, -2, 3, 1, -2, -3)])
        for number in ('999', 'hero', '-1', '99999999999999999999'):
            self.assertProblem(self.server.get(self.path('actors/%s/trajectory' % number)), 404)

    def test_the_state_at_a_time(self):
        """Positions between frames, the speed from the frames around, the creation where nothing has moved yet."""
        def at(time, **more):
            return {r['actor']: r for r in self.get(self.path('state?at=' + time), **more).json()}
        for time, x in (('%2B0s', 1), ('%2B0.5s', 2), ('%2B0.75s', 2.5), ('%2B1.9s', 4.8), ('%2B2s', 5)):
            actors = at(time)
            self.assertEqual([7, 8], list(actors))
            self.assertAlmostEqual(x, actors[7]['x_m'], places=5, msg=time)
            self.assertEqual((2, 3, 1, 2, 3), tuple(actors[7][k] for k in ('y_m', 'z_m', 'roll_deg', 'pitch_deg', 'yaw_deg')))
            self.assertEqual(('vehicle', 'vehicle.tesla.model3', 'hero', None), tuple(actors[7][k] for k in ('type', 'description', 'role_name', 'parent')))
            self.assertEqual((5, 'walker'), (actors[8]['x_m'], actors[8]['type']))
        self.assertEqual((2, 2, 'difference'), tuple(at('%2B0.6s')[7][k] for k in ('speed_m_s', 'vx_m_s', 'speed_from')))
        self.assertEqual((None, None), tuple(at('%2B2s')[7][k] for k in ('speed_m_s', 'speed_from')))
        self.assertEqual(at('%2B2s'), {r['actor']: r for r in self.get(self.path('state')).json()})
        self.assertEqual((-2, -2, -3), tuple(self.get(self.path('state?frame=ros')).json()[0][k] for k in ('y_m', 'pitch_deg', 'yaw_deg')))
        self.assertEqual(['7', '8'], [r['actor'] for r in self.table('state?at=%2B1s')])
        self.assertEqual([], self.get(self.path('state?at=-30s')).json())
        self.assertProblem(self.server.get(self.path('state?at=yesterday')), 400, 'at')

    def test_the_state_of_everything_recorded(self):
        turning = struct.pack('<H', 1) + string('CARLA_RECORDER') + struct.pack('<q', 1600000000) + string('Town05')
        for k, yaw in enumerate((170, -170, -150)):
            turning += packet(0, struct.pack('<Qdd', k + 1, -1 if k == 2 else 1, k))
            added = [actor(7, 1, 'vehicle.a'), actor(9, 3, 'traffic.light'), actor(8, 2, 'walker.b')] if k == 0 else []
            turning += listed(2, *added) + listed(3, *([struct.pack('<I', 8)] if k == 2 else []))
            turning += listed(4, *([struct.pack('<II', 8, 7)] if k == 0 else []))
            turning += listed(6, struct.pack('<I6f', 7, 0, 0, 0, 0, 0, yaw), struct.pack('<I6f', 8, 0, 0, 0, 0, 0, 0))
            turning += listed(7, struct.pack('<I?fB', 9, True, 1.5 + k, 1)) + listed(8, struct.pack('<I3f?i', 7, 0.25, 0.5, 0, False, -1))
            turning += listed(9, struct.pack('<If', 8, 150)) + listed(10, struct.pack('<II', 7, 4 | 8))
            turning += listed(12, struct.pack('<I6f', 7, 3, 4, 0, 0, 0, 0)) if k == 1 else b''
            turning += packet(1, b'')
        recording = self.server.added('turning.log', turning)
        rows = {r['actor']: r for r in self.get(self.path('state?at=%2B0.5s', recording)).json()}
        self.assertEqual({7: None, 9: None, 8: 7}, {k: r['parent'] for k, r in rows.items()})
        self.assertEqual(180, abs(rows[7]['yaw_deg']))  # the shorter way
        self.assertEqual((0.25, 0.5, 0, False, -1, ['HighBeam', 'Brake']), tuple(rows[7][k] for k in ('steering', 'throttle', 'brake', 'handbrake', 'gear', 'lights')))
        self.assertEqual(('yellow', True, 1.5), tuple(rows[9][k] for k in ('traffic_light', 'traffic_light_frozen', 'traffic_light_s')))
        self.assertEqual((150, 'difference'), (rows[8]['walk_cm_s'], rows[7]['speed_from']))
        rows = {r['actor']: r for r in self.get(self.path('state?at=%2B1s', recording)).json()}
        self.assertEqual((5, 3, 4, 'recorded'), tuple(rows[7][k] for k in ('speed_m_s', 'vx_m_s', 'vy_m_s', 'speed_from')))
        self.assertEqual([7, 9], sorted(r['actor'] for r in self.get(self.path('state', recording)).json()))

    def test_acceleration(self):
        """The difference of velocities of one source; none after a frame without the actor."""
        speeding = struct.pack('<H', 1) + string('CARLA_RECORDER') + struct.pack('<q', 1600000000) + string('Town05')
        for k, x in enumerate((0, 100, 400, None, 900, 1000, 2000)):
            speeding += packet(0, struct.pack('<Qdd', k + 1, -1 if k == 6 else 0.5, 0.5 * k)) + listed(2, *([actor(7, 1, 'vehicle.a')] if k == 0 else []))
            speeding += listed(6, *([struct.pack('<I6f', 7, x, -x, 0, 0, 0, 0)] if x is not None else []))
            speeding += listed(12, struct.pack('<I6f', 7, 3, 4, 0, 0, 0, 0)) if k == 6 else b''
            speeding += packet(1, b'')
        number = self.server.added('speeding.log', speeding)
        rows = self.get(self.path('actors/7/trajectory', number)).json()
        self.assertEqual([(r['ax_m_s2'], r['ay_m_s2'], r['az_m_s2']) for r in rows], [(None,) * 3] * 2 + [(8, -8, 0)] + [(None,) * 3] * 3)
        self.assertAlmostEqual(rows[2]['acceleration_m_s2'], 128 ** 0.5, places=5)
        self.assertEqual([r['ay_m_s2'] for r in self.get(self.path('actors/7/trajectory?frame=ros', number)).json()], [None, None, 8, None, None, None])

    def test_doors_and_weather_at_a_time(self):
        sky = lambda first: struct.pack('<14f', first, *range(2, 15))
        doors = {1: [(7, 0, 1)], 2: [(7, 6, 1)], 3: [(7, 0, 0), (9, 4, 1)], 4: [(7, 6, 0), (7, 5, 1)]}
        changing = struct.pack('<H', 1) + string('CARLA_RECORDER') + struct.pack('<q', 1600000000) + string('Town05')
        for k in range(5):
            changing += packet(0, struct.pack('<Qdd', k + 1, -1 if k == 4 else 1, k))
            changing += listed(2, *([actor(7, 1, 'vehicle.a'), actor(8, 2, 'walker.b'), actor(9, 1, 'vehicle.c')] if k == 0 else []))
            changing += listed(23, *(struct.pack('<IBB', *door) for door in doors.get(k, ())))
            changing += listed(6, struct.pack('<I6f', 7, 0, 0, 0, 0, 0, 0))
            changing += (listed(24, sky(k)) if k in (1, 3) else b'') + packet(1, b'')
        number = self.server.added('doors.log', changing)
        at = lambda time: self.get(self.path('state?at=%%2B%ss' % time, number)).json()
        most = ['Front Left', 'Front Right', 'Rear Left', 'Rear Right', 'Hood', 'Trunk']
        for time, want in ((0, [None] * 3), (1, [most[:1], None, None]), (2.5, [most, None, None]), (3, [most[1:], None, ['Hood']]), (4, [['Trunk'], None, ['Hood']])):
            self.assertEqual([r['doors_open'] for r in at(time)], want, time)
        self.assertEqual([{r['weather'] and r['weather']['cloudiness'] for r in at(time)} for time in (0, 1, 2.5, 3, 4)], [{None}, {1}, {1}, {3}, {3}])
        self.assertEqual((at(4)[1]['weather']['precipitation'], at(4)[1]['weather']['dust_storm']), (2, 14))

    def test_play_in_the_frame_of_an_actor(self):
        """A car that turns, a walker 10 m behind it and 10 m away to the right; later only the walker."""
        head = struct.pack('<H', 1) + string('CARLA_RECORDER') + struct.pack('<q', 1600000000) + string('Town05')
        car, walker = (1000, 200, 50), (0, 200, 50)
        for k, yaw in enumerate((0, 90, 180, None)):
            added = [actor(7, 1, 'vehicle.a'), actor(8, 2, 'walker.b')] if k == 0 else []
            head += packet(0, struct.pack('<Qdd', k + 1, -1 if k == 3 else 0.5, 0.5 * k)) + listed(2, *added)
            there = [struct.pack('<I6f', 7, *car, 0, 0, yaw)] if yaw is not None else []
            head += listed(6, *there, struct.pack('<I6f', 8, *walker, 0, 20, 30)) + packet(1, b'')
        turning = self.server.added('follow.log', head)
        def rows(query, end='play?speed=max&topic=/position'):
            answer = self.get('%s/recordings/%s/%s%s' % (API, turning, end, query))
            return [r for r in map(json.loads, answer.body.splitlines()) if 'topic' in r]
        plain, followed = rows(''), rows('&actor=7')
        self.assertEqual((4, 3), (len(plain), len(followed)))
        for row, (x, y, yaw) in zip(followed, ((-1000, 0, 30), (0, 1000, -60), (1000, 0, -150))):
            own, other = row['data']['actors']['7'], row['data']['actors']['8']
            self.assertEqual([0] * 6, [*own['location'].values(), *own['rotation'].values()])
            for want, got in zip((x, y, 0, 0, 20, yaw), [*other['location'].values(), *other['rotation'].values()]):
                self.assertAlmostEqual(want, got, places=3)
        self.assertEqual(followed[1:], [r for r in rows('&follow=7&start=%2B0.4s')][-2:])
        every = rows('&actor=7', 'play?speed=max')
        self.assertEqual(['/position'] * 3, [r['topic'] for r in every if r['topic'] == '/position'])
        self.assertEqual([r for r in rows('', 'play?speed=max') if r['topic'] != '/position'], [r for r in every if r['topic'] != '/position'])
        for path, code in (('%s/play?actor=9' % turning, 404), ('%s/play?follow=x' % turning, 400)):
            self.assertProblem(self.server.get('%s/recordings/%s' % (API, path)), code)
        for name in ('actor', 'follow'):  # the older name
            answer = self.server.get('%s/recordings/%s/play?%s=7' % (API, self.bag, name))
            self.assertEqual('unsupported', answer.json()['type'].split('/')[-1])
            self.assertEqual(name == 'follow', 'Deprecation' in answer.headers)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'follow.log')
            with open(path, 'wb') as f:
                f.write(head)
            told = reel('play', path, '--follow', '7', '--speed', 'max', '--topic', '/position')
            self.assertEqual([r['data'] for r in followed], [json.loads(line)['data'] for line in told.stdout.splitlines()])
            self.assertIn(b'no actor 9', reel('play', path, '--follow', '9', check=False).stderr)

    def test_what_is_no_carla_log(self):
        for question in ('info', 'collisions', 'blocked', 'actors', 'actors/7/trajectory'):
            self.assertProblem(self.server.get(self.path(question, self.bag)), 422, 'CARLA')
        self.assertProblem(self.server.get(self.path('info', 'nothing')), 404)

    def test_a_damaged_log_says_so(self):
        cut = self.server.added('cut.log', log()[:-60])
        answer = self.get(self.path('info?all', cut))
        self.assertEqual(answer.headers.get('X-Recording-Damaged'), 'true')
        self.assertTrue(answer.body.endswith(b'\n\nFrames: 5\nDuration: 2 seconds\n'), answer)
        self.assertNotIn('X-Recording-Damaged', self.get(self.path('info')).headers)

    def test_a_long_log_is_streamed_whole(self):
        data = log(3000, [actor(100 + i, 0, 'static.prop.box') for i in range(500)])
        long = self.server.added('long.log', data)
        text = self.get(self.path('info?all=true', long)).body.decode()
        self.assertEqual(text.count('\nFrame '), 3000)
        self.assertTrue(text.endswith('\nFrames: 3000\nDuration: 1499.5 seconds\n'))
        self.assertEqual(len(self.get(self.path('actors', long), Accept='application/x-ndjson').rows()), 502)
        self.assertEqual(len(self.get(self.path('actors/7/trajectory', long), Accept='application/x-ndjson').rows()), 3000)

    def test_the_texts_of_real_logs(self):
        folder = os.path.join(TEXTS, 'texts')
        if not os.path.isdir(folder):
            self.skipTest('3 real samples')
        met = 0
        for name in ('sr_0.9.10_DistanceBetweenVehicles.log', 'tkortz_2762.rec', 'made_0.9.15_full.log'):
            with open(os.path.join(TEXTS, name), 'rb') as f:
                recording = self.server.added(name, f.read())
            dialect = '0.9.6' if name.endswith('.rec') else name.split('_')[1]
            for kind, query in (('info', 'info?'), ('info_all', 'info?all=true&'), ('coll_ha', 'collisions?type1=h&type2=a&')):
                path = os.path.join(folder, '%s.%s.%s.txt' % (name, dialect, kind))
                opened = open(path, 'rb') if os.path.exists(path) else gzip.open(path + '.gz')
                with opened as f:
                    want = f.read()
                answer = self.get(self.path(query + ('dialect=' + dialect if kind.startswith('info') else ''), recording))
                self.assertTrue(answer.body == want, '%s %s' % (name, kind))
                met += 1
        self.assertEqual(met, 9)

    def test_messages_are_values(self):
        rows = self.get('%s/recordings/%s/messages?topic=/position&limit=1' % (API, self.log), Accept='application/x-ndjson').rows()
        if '$base64' in rows[0]['data']:
            self.skipTest('messages are not decoded yet')
        self.assertEqual(rows[0]['data']['actors']['7'], {'location': {'x': 100, 'y': 200, 'z': 300}, 'rotation': {'roll': 1, 'pitch': 2, 'yaw': 3}})

    def converted(self, folder, source):
        """The log in each container that keeps packets."""
        for name, options in (('x.mcap', ()), ('x.bag', ()), ('y.bag', ('--version', '1.2')), ('x.tide', ()), ('y.tide', ('--version', '2.0'))):
            path = os.path.join(folder, name)
            reel('convert', source, path, *options)
            yield path
        path = os.path.join(folder, 'x.ndjson')
        with open(path, 'wb') as f:
            f.write(reel('cat', source, '--no-decode', '--channels').stdout)
        yield path

    def sources(self, folder):
        made = os.path.join(folder, 'drive.log')
        with open(made, 'wb') as f:
            f.write(log(40, actors=[actor(100 + i, 5, 'static.prop') for i in range(3)]))
        logs = [name for name in sorted(os.listdir(TEXTS)) if name.endswith(('.log', '.rec'))] if os.path.isdir(TEXTS) else []
        return [made] + [os.path.join(TEXTS, name) for name in logs[::QUICK * 4 + 1]]

    def test_back_from_every_container(self):
        """The whole log comes back byte for byte, and a cut of it is the cut of the log."""
        with tempfile.TemporaryDirectory() as folder:
            for source in self.sources(folder):
                back = os.path.join(folder, 'back.log')
                reel('convert', source, back, '--start', '+0.1s', '--end', '+3s')
                cut = self.content(back)
                for path in self.converted(folder, source):
                    os.remove(back)
                    reel('convert', path, back, '--start', '+0.1s', '--end', '+3s')
                    self.assertEqual(cut, self.content(back), (source, path))
                    os.remove(back)
                    reel('convert', path, back)
                    self.assertEqual(self.content(source), self.content(back), (source, path))
                os.remove(back)
                for path in [os.path.join(folder, name) for name in ('x.mcap', 'x.bag', 'y.bag', 'x.tide', 'y.tide', 'x.ndjson')]:
                    os.remove(path)

    def test_reports_on_a_converted_log(self):
        with tempfile.TemporaryDirectory() as folder:
            source = self.sources(folder)[0]
            paths = list(self.converted(folder, source))
            for question, *more in (['info'], ['info', '--all'], ['collisions'], ['blocked'], ['actors'], ['trajectory', '7']):
                text = reel('carla', question, source, *more).stdout
                self.assertTrue(text)
                for path in paths:
                    self.assertEqual(text, reel('carla', question, path, *more).stdout, (path, question))

    def test_events_that_follow_from_a_log(self):
        """Collisions, actors added and removed, blocked vehicles, traffic lights: by start, in pages, and nothing is stored."""
        data = struct.pack('<H', 1) + string('CARLA_RECORDER') + struct.pack('<q', 1600000000) + string('Town05')
        for k in range(1, 41):
            data += packet(0, struct.pack('<Qdd', k, -1 if k == 40 else 1, k - 1))
            data += listed(2, *([actor(7, 1, 'vehicle.tesla.model3', 'hero'), actor(8, 2, 'walker.a')] if k == 1 else [actor(9, 2, 'walker.b\xff\0x')] if k == 5 else []))
            data += listed(3, *([struct.pack('<I', 8)] if k == 20 else []))
            data += listed(5, *([struct.pack('<III??', k, 7, 8, True, False)] if k in (10, 11, 15) else []))
            data += listed(6, struct.pack('<I6f', 7, 100 * min(k, 3), 0, 0, 0, 0, 0))
            data += listed(7, struct.pack('<I?fB', 5, False, 0, k // 16)) + packet(1, b'')
        one = self.server.added('moments.log', data)
        path = '%s/recordings/%s/events' % (API, one)
        page = self.get(path + '?derived=true').json()
        self.assertIsNone(page['next'])
        wanted = [(3, 39, 'Blocked: vehicle.tesla.model3 7', {'kind': 'blocked', 'actor': '7', 'type': 'vehicle', 'description': 'vehicle.tesla.model3'}),
                  (4, 4, 'Added: walker.b\xff', {'kind': 'added', 'actor': '9', 'type': 'walker', 'description': 'walker.b\xff'}),
                  (9, 9, 'Collision of vehicle.tesla.model3 7 with walker.a 8',
                   {'kind': 'collision', 'actor': '7', 'type': 'vehicle', 'description': 'vehicle.tesla.model3', 'other': '8', 'other_type': 'walker', 'other_description': 'walker.a'}),
                  (14, 14, 'Collision of vehicle.tesla.model3 7 with walker.a 8', None),
                  (15, 15, 'Traffic light 5: yellow', {'kind': 'traffic_light', 'actor': '5', 'state': 'yellow'}),
                  (19, 19, 'Removed: walker.a 8', {'kind': 'removed', 'actor': '8', 'type': 'walker', 'description': 'walker.a'}),
                  (31, 31, 'Traffic light 5: green', None)]
        self.assertEqual([(w[0], w[1], w[2]) for w in wanted],
                         [((int(e['start_ns']) - 1600000000 * 10**9) / 10**9, (int(e['end_ns']) - 1600000000 * 10**9) / 10**9, e['title']) for e in page['items']])
        for (_, _, _, tags), event in zip(wanted, page['items']):
            self.assertEqual((tags or event['tags'], one, 'moments.log', '', True), (event['tags'], event['recording'], event['name'], event['author'], event['derived']))
            self.assertProblem(self.server.get('%s/events/%s' % (API, event['id'])), 404)
        self.assertEqual(7, len({e['id'] for e in page['items']}))
        self.assertEqual([], self.get(path).json()['items'])
        paged, cursor = [], ''
        while cursor is not None:
            some = self.get('%s?derived=true&limit=2%s' % (path, cursor and '&cursor=' + cursor)).json()
            self.assertLessEqual(len(some['items']), 2)
            paged, cursor = paged + some['items'], some['next']
        self.assertEqual(page['items'], paged)
        for query, titles in (('kind=collision', [2, 3]), ('start=%2B14s', [0, 3, 4, 5, 6]), ('start=%2B40s', []), ('end=%2B4s', [0]), ('start=%2B9s&end=%2B10s&kind=collision', [2])):
            self.assertEqual([page['items'][i] for i in titles], self.get('%s?derived=true&%s' % (path, query)).json()['items'], query)
        rows = list(csv.DictReader(io.StringIO(self.get(path + '?derived=true&output=csv').body.decode(), newline='')))
        self.assertEqual([e['title'] for e in page['items']], [r['title'] for r in rows])
        for query in ('kind=collision', 'derived=true&kind=crash', 'derived=true&cursor=abcd', 'derived=maybe'):
            self.assertProblem(self.server.get(path + '?' + query), 400)
        self.assertEqual({'items': [], 'next': None}, self.get('%s/recordings/%s/events?derived=true' % (API, self.bag)).json())
        self.assertProblem(self.server.get('%s/recordings/nothing/events?derived=true' % API), 404)

    @in_a_folder
    def test_more_events_than_can_be_kept(self):
        """The log is read once: that it has too many is kept, too."""
        data = struct.pack('<H', 1) + string('CARLA_RECORDER') + struct.pack('<q', 1500000000) + string('Town05')
        others = range(100, 1300)
        for k in (1, 2):
            data += packet(0, struct.pack('<Qdd', k, -1 if k == 2 else 1, k - 1))
            data += listed(2, *([actor(7, 1, 'vehicle.' + 60000 * 'x'), *(actor(n, 2, 'walker.a') for n in others)] if k == 1 else []))
            data += listed(5, *(struct.pack('<III??', n, 7, n, True, False) for n in (others if k == 1 else []))) + packet(1, b'')
        server = Server(None, '--statistics-when-asked')
        self.addCleanup(server.stop)
        one = server.added('crowd.log', data)
        for _ in range(2):
            page = server.get(API + '/events?derived=true').json()
            self.assertEqual((page['items'], [(p['recording'], p['job']) for p in page['pending']]), ([], [(one, None)]))
            self.assertIn('events', page['pending'][0]['problem'])
            self.assertProblem(server.get('%s/recordings/%s/events?derived=true' % (API, one)), 413, 'events')
            kept, = [p for p in files_below(server.data) if p.endswith('.events')]
            self.assertLess(os.path.getsize(kept), 1000)

    def test_events_of_all_logs(self):
        """Across recordings, in the order in which these start; kept beside the statistics, so that the logs are not read again."""
        def log(start, name):
            data = struct.pack('<H', 1) + string('CARLA_RECORDER') + struct.pack('<q', start) + string('Town05')
            for k in range(1, 6):
                data += packet(0, struct.pack('<Qdd', k, -1 if k == 5 else 1, k - 1))
                data += listed(2, *([actor(7, 1, name, 'hero'), actor(8, 2, 'walker.a')] if k == 1 else [actor(9, 2, 'walker.b')] if k == 3 else []))
                data += listed(5, *([struct.pack('<III??', k, 7, 8, True, False)] if k == 2 else [])) + packet(1, b'')
            return data
        server = Server(None)
        self.addCleanup(server.stop)
        logs = [server.added('log%d.log' % i, log(1500000000 - 1000 * i, 'vehicle.number%d' % i)) for i in range(4)]
        server.added('other.bag', bag(lab_messages(1)))

        def ask(query='', status=200):
            answer = server.get(API + '/events?derived=true' + query)
            self.assertEqual(answer.status, status, answer.body)
            return answer.json()

        def get(query=''):
            found = ask(query)
            return [(logs.index(e['recording']), e['tags']['kind']) for e in found['items']], found
        every, page = get()
        self.assertEqual(every, [(i, kind) for i in (3, 2, 1, 0) for kind in ('collision', 'added')])
        self.assertEqual((page['next'], page['pending'], page['searched']), (None, [], 4))
        self.assertEqual(page['items'][:2], server.get('%s/recordings/%s/events?derived=true' % (API, logs[3])).json()['items'])
        for limit in (1, 2, 3, 7):
            paged, cursor = [], ''
            while cursor is not None:
                some = ask('&limit=%d%s' % (limit, cursor and '&cursor=' + cursor))
                self.assertLessEqual(len(some['items']), limit)
                paged, cursor = paged + some['items'], some['next']
            self.assertEqual(page['items'], paged)
        some = ask('&limit=3')
        server.request('DELETE', '%s/recordings/%s' % (API, logs[2]))  # in which the page has ended
        self.assertEqual(page['items'][4:], ask('&cursor=' + some['next'])['items'])
        server.request('POST', '%s/recordings/%s/restore' % (API, logs[2]))
        self.assertEqual(page['items'][3:], ask('&cursor=' + some['next'])['items'])
        self.assertEqual(get('&q=NUMBER2')[0], [(2, 'collision')])
        self.assertEqual(get('&q=walker.b%20added')[0], [(3, 'added'), (2, 'added'), (1, 'added'), (0, 'added')])
        self.assertEqual(get('&kind=collision&q=number')[0], [(3, 'collision'), (2, 'collision'), (1, 'collision'), (0, 'collision')])
        self.assertEqual(get('&q=nothing')[0], [])
        self.assertEqual(get('&start=2017-07-14T02:06:42Z&end=2017-07-14T02:23:21.5Z')[0], [(2, 'added'), (1, 'collision')])
        for query in ('&recording=' + logs[0], '&cursor=abcd', '&cursor=zz', '&kind=crash', '&q=' + 'a%20' * 17):
            ask(query, 400)
        self.assertEqual(server.get(API + '/events?q=number').json()['items'], [])  # nobody has added any
        self.assertEqual(server.get('%s/recordings/%s/events?derived=true&q=walker.b' % (API, logs[0])).json()['items'][0]['tags']['kind'], 'added')
        if not STORE:
            kept = [f for f in files_below(server.data) if f.endswith('.events')]
            self.assertEqual(len(kept), 4)
            with open(kept[0], 'r+b') as f:  # what is damaged is made again
                f.seek(20)
                f.write(b'damage')
            self.assertEqual(get()[0], every)
        cursor = ask('&limit=1')['next']
        self.assertEqual(server.request('DELETE', '%s/recordings/%s' % (API, logs[3])).status, 204)
        self.assertEqual(get('&cursor=' + cursor)[0], every[2:])  # the recording that the page ended with is gone
        self.assertEqual(get()[0], every[2:])

    def test_lists_without_items_do_not_count(self):
        """A packet of collisions is in every frame; what collided is in one."""
        def spans(query):
            return {t['topic']: sum(s[2] for s in t['spans']) for t in self.get('%s/recordings/%s/coverage?bins=300%s' % (API, self.log, query)).json()['topics']}
        every, filled = spans(''), spans('&empty=false')
        self.assertEqual({5}, set(every.values()))
        self.assertEqual({**every, '/collision': 1, '/event/add': 1, '/event/del': 0, '/event/parent': 0, '/traffic_light/state': 0}, filled)
        spans, = [t['spans'] for t in self.get('%s/recordings/%s/coverage?empty=false&topic=/collision' % (API, self.log)).json()['topics']]
        self.assertEqual([['2020-09-13T12:26:41.000000000Z', '2020-09-13T12:26:41.000000000Z', 1]], spans)
        topics = {t['name']: t for t in self.get('%s/recordings/%s/topics?empty=false' % (API, self.log)).json()['items']}
        self.assertEqual(filled, {k: t['messages'] for k, t in topics.items()})
        self.assertEqual((16, '2020-09-13T12:26:41.000000000Z', None), tuple(topics['/collision'][k] for k in ('payload_bytes', 'start', 'rate')))
        self.assertEqual((0, None, 0), tuple(topics['/event/del'][k] for k in ('payload_bytes', 'start', 'messages')))
        self.assertEqual(0.5, topics['/position']['max_gap'])
        self.assertEqual({5}, {t['messages'] for t in self.get('%s/recordings/%s/topics' % (API, self.log)).json()['items']})
        plain, same = (self.get('%s/recordings/%s/topics%s' % (API, self.bag, q)).body for q in ('', '?empty=false'))
        self.assertEqual(plain, same)

    @needs_samples(11)
    def test_events_and_counts_of_real_logs(self):
        with open(os.path.join(TEXTS, 'truth.json'), 'rb') as f:
            truth = json.load(f)
        for name, facts in truth.items():
            with open(os.path.join(TEXTS, name), 'rb') as f:
                recording = self.server.added(name, f.read())
            found, cursor = [], ''
            while cursor is not None:
                page = self.get('%s/recordings/%s/events?derived=true&limit=1000%s' % (API, recording, cursor and '&cursor=' + cursor)).json()
                found, cursor = found + page['items'], page['next']
            kinds = [e['tags']['kind'] for e in found]
            self.assertEqual(facts['destroyed'], kinds.count('removed'), name)
            rows = self.get(self.path('info', recording), Accept='application/json').json()
            self.assertEqual(sum(r['event'] == 'created' and r['frame'] > 1 for r in rows), kinds.count('added'), name)
            self.assertEqual(len(self.get(self.path('collisions', recording), Accept='application/json').json()), kinds.count('collision'), name)
            blocked = self.get(self.path('blocked', recording), Accept='application/json').json()
            self.assertEqual(sum(r['type'] == 'vehicle' for r in blocked), kinds.count('blocked'), name)
            self.assertEqual(sorted(found, key=lambda e: (int(e['start_ns']), e['id'])), found)
            topics = {t['name']: t['messages'] for t in self.get('%s/recordings/%s/topics?empty=false' % (API, recording)).json()['items']}
            self.assertEqual(facts['frames'], topics['/frame'], name)
            self.assertLessEqual(topics['/collision'], facts['collisions'], name)
            self.assertEqual(facts['collisions'] > 0, topics['/collision'] > 0, name)

    def test_a_log_needs_its_frames(self):
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, 'drive.log')
            mcap = os.path.join(folder, 'x.mcap')
            with open(made, 'wb') as f:
                f.write(log())
            reel('convert', made, mcap)
            answer = reel('convert', mcap, os.path.join(folder, 'y.log'), '--topic', '/position', check=False)
            self.assertNotEqual(0, answer.returncode)
            self.assertIn(b'with the topic /frame', answer.stderr)

    @staticmethod
    def content(path):
        with open(path, 'rb') as f:
            return f.read()

    def test_the_command_line_says_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'drive.log')
            with open(path, 'wb') as f:
                f.write(log())
            for words, question in ((('info', path, '--all', '--dialect', '0.9.13'), 'info?all&dialect=0.9.13'), (('collisions', path, '--type1', 'h'), 'collisions?type1=h'),
                                    (('blocked', path, '--min-time', '1', '--output', 'json'), 'blocked?min_time=1&output=json'), (('actors', path), 'actors?output=csv'), (('state', path, '--at', '+0.7s', '--frame', 'ros'), 'state?at=%2B0.7s&frame=ros&output=csv'),
                                    (('trajectory', path, '7', '--frame', 'ros', '--output', 'ndjson'), 'actors/7/trajectory?frame=ros&output=ndjson')):
                self.assertEqual(reel('carla', *words).stdout, self.get(self.path(question)).body, words)
            for words, code, expected in ((('trajectory', path, '99'), 1, b'no actor 99'), (('trajectory', path), 2, b'FILE ACTOR'), (('dance', path), 2, b'dance'),
                                      (('collisions', path, '--type1', 'x'), 2, b'hero'), (('info', path, '--dialect', '7'), 2, b'0.9.4')):
                done = reel('carla', *words, check=False)
                self.assertEqual(done.returncode, code, done)
                self.assertIn(expected, done.stderr)
