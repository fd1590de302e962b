"""view=foxglove over HTTP, read by libraries that are not ours (foxglove_check.mjs: @mcap/core, ajv with the schemas that Foxglove publishes,
@foxglove/rosmsg): every message holds, the frames are one tree, and what is drawn is what independent readers of the samples find: each living
actor's box where the simulator had it, each atom where its frame puts it, each point of an old cloud."""
import base64
import collections
import json
import math
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
from unittest import mock

import msgpack

import samples
from harness import API, Case
from peer_carla_cuts import Log
from peer_mcap import HERE, prepare
from real_samples import SAMPLES, needs_samples
from samples import Message, T0, fold, nanover, nanover_messages, read_nanover

CLOUD = '''Header header
geometry_msgs/Point32[] points
ChannelFloat32[] channels
================================================================================
MSG: roslib/Header
uint32 seq
time stamp
string frame_id
================================================================================
MSG: geometry_msgs/Point32
float32 x
float32 y
float32 z
================================================================================
MSG: sensor_msgs/ChannelFloat32
string name
float32[] values
'''
TF = '''geometry_msgs/TransformStamped[] transforms
================================================================================
MSG: geometry_msgs/TransformStamped
Header header
string child_frame_id
geometry_msgs/Transform transform
================================================================================
MSG: roslib/Header
uint32 seq
time stamp
string frame_id
================================================================================
MSG: geometry_msgs/Transform
geometry_msgs/Vector3 translation
geometry_msgs/Quaternion rotation
================================================================================
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
================================================================================
MSG: geometry_msgs/Quaternion
float64 x
float64 y
float64 z
float64 w
'''
SEC = struct.Struct('<II')
MOVE = (1, 2)  # vehicles, walkers: types of CARLA's actors
SENSOR = 5


def text(value):
    return struct.pack('<I', len(value)) + value.encode()


def header(time, frame):
    return struct.pack('<I', 0) + SEC.pack(*divmod(time, 10**9)) + text(frame)


def cloud(time, points, intensities):
    places = struct.pack('<I', len(points)) + b''.join(struct.pack('<3f', *p) for p in points)
    values = struct.pack('<I', len(intensities)) + struct.pack('<%df' % len(intensities), *intensities)
    return Message(time, '/cloud', header(time, 'laser') + places + struct.pack('<I', 1) + text('intensity') + values, 'sensor_msgs/PointCloud')


def transform(time):
    return Message(time, '/tf', struct.pack('<I', 1) + header(time, 'base') + text('laser') + struct.pack('<7d', 1, 2, 3, 0, 0, 0, 1), 'tf/tfMessage')


def time_of(row):
    return int(row['time'])


def vector(v):
    return (v['x'], v['y'], v['z'])


def turned(q, v):
    """v turned by the unit quaternion q, by its matrix."""
    x, y, z, w = q['x'], q['y'], q['z'], q['w']
    rows = ((1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)), (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
            (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)))
    return tuple(sum(a * b for a, b in zip(row, v)) for row in rows)


def axes(rotation):
    """Where Unreal's FRotationMatrix sends forward and up, the y of each turned over: what a right-handed viewer must see."""
    roll, pitch, yaw = (math.radians(a) for a in rotation)
    cr, sr, cp, sp, cy, sy = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch), math.cos(yaw), math.sin(yaw)
    return (cp * cy, -cp * sy, sp), (-(cr * sp * cy + sr * sy), -(cy * sr - cr * sp * sy), cr * cp)


def metres(location):
    return (location[0] / 100, -location[1] / 100, location[2] / 100)


class Drawn:
    """Of a CARLA log: the actors that must be drawn at the end of each frame, by an independent reader."""

    def __init__(self, path):
        self.alive, self.boxes, self.children, self.placed, self.frames = {}, {}, set(), {}, []
        log = Log(path)
        for frame in log.frames:
            for name, records, _ in frame.packets:
                getattr(self, 'on_' + name, lambda r: None)(records)
            moving = {k: place for k, place in self.placed.items() if k in self.alive and self.alive[k]['type'] in MOVE}
            self.frames.append((log.header['date'] * 10**9 + log.time_ns(frame), self.drawn(), moving))

    def on_EventAdd(self, records):
        for r in records:
            self.alive[r['id']] = r
            self.boxes.pop(r['id'], None)
            self.children.discard(r['id'])

    def on_EventDel(self, records):
        for (actor,) in records:
            self.alive.pop(actor, None)

    def on_EventParent(self, records):
        self.children.update(r[0] for r in records)

    def on_BoundingBox(self, records):
        self.boxes.update((r[0], r[1:]) for r in records if all(map(math.isfinite, r[1:])) and min(r[4:7]) > 0 and r[0] in self.alive)

    def on_Position(self, records):
        self.placed = {r[0]: r[1:] for r in records}

    def drawn(self):
        """id: the box that was recorded, or None where a default box is drawn."""
        out = {}
        for key, actor in self.alive.items():
            moves = actor['type'] in MOVE
            there = key in self.placed or not (moves or key in self.children)
            unseen = actor['type'] == SENSOR or actor['tid'].startswith(('sensor.', 'controller.', 'spectator'))
            if there and not unseen and (moves or key in self.boxes):
                out[key] = self.boxes.get(key)
        return out


class Foxglove(Case):
    @classmethod
    def setUpClass(cls):
        problem = prepare()
        if problem:
            raise unittest.SkipTest(problem)
        super().setUpClass()
        cls.folder = tempfile.mkdtemp(prefix='reel-peers-')

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)
        super().tearDownClass()

    def sample(self, *names):
        """A recording of these parts; its id and the first part's bytes."""
        data = []
        for name in names:
            with open(os.path.join(SAMPLES, name), 'rb') as f:
                data.append(f.read())
        first = self.server.added(os.path.basename(names[0]), data[0])
        for name, more in zip(names[1:], data[1:]):
            self.assertEqual(self.server.put(os.path.basename(name), more, '?part_of=' + os.path.basename(names[0])).status, 200)
        return first, data[0]

    def truth(self, folder, name, file='truth.json'):
        with open(os.path.join(SAMPLES, folder, file)) as f:
            return json.load(f)[name]

    def shown(self, recording, *topics, query=''):
        """What show.mcap contains; `topics`: with their messages."""
        answer = self.get('%s/recordings/%s/as/show.mcap?view=foxglove%s' % (API, recording, query))
        self.assertEqual(len(answer.body), int(answer.headers['Content-Length']))
        path = os.path.join(self.folder, 'show.mcap')
        with open(path, 'wb') as f:
            f.write(answer.body)
        done = subprocess.run(['node', os.path.join(HERE, 'foxglove_check.mjs'), path, *topics], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        seen = json.loads(done.stdout)
        for topic in topics:
            seen['messages'].setdefault(topic, [])
        return seen

    def near(self, a, b, within=2e-3):
        for x, y in zip(a, b):
            if math.isfinite(y):
                self.assertAlmostEqual(x, y, delta=within + 1e-6 * abs(y))

    # --- CARLA

    @needs_samples(11)
    def test_carla(self):
        cubes = 0
        for name in sorted(os.listdir(os.path.join(SAMPLES, 'carla'))):
            if name.endswith(('.log', '.rec')):
                with self.subTest(name):
                    cubes += self.check_carla(name)
        self.assertGreater(cubes, 1000)
        print('%d cubes' % cubes)

    def check_carla(self, name):
        recording, _ = self.sample('carla/' + name)
        truth, drawn = self.truth('carla', name), Drawn(os.path.join(SAMPLES, 'carla', name))
        seen = self.shown(recording, '/view/scene', '/view/tf', '/view/log', '/view/trajectories')
        self.assertEqual(seen['roots'], ['map'])
        scenes, tf = seen['messages']['/view/scene'], {time_of(r): r['value']['transforms'] for r in seen['messages']['/view/tf']}
        at = cubes = 0
        for time, boxes, places in drawn.frames:
            while at + 1 < len(scenes) and time_of(scenes[at + 1]) <= time:
                at += 1
            self.assertLessEqual(time_of(scenes[at]), time)
            now = {e['id']: e for e in scenes[at]['value']['entities']}
            self.assertEqual(set(now), {'actor/%d' % key for key in boxes}, time)
            self.check_frames(tf.get(time, []), places)
            for key, box in boxes.items():
                cube, = now['actor/%d' % key]['cubes']
                cubes += 1
                if box:
                    self.near(vector(cube['size']), [h / 50 for h in box[3:6]])
                if box and drawn.alive.get(key, {}).get('type') in MOVE:
                    self.assertEqual(now['actor/%d' % key]['frame_id'], 'actor/%d' % key)
                    self.near(vector(cube['pose']['position']), metres(box[:3]))
        self.check_log(truth, seen['messages']['/view/log'])
        went = {key for _, _, places in drawn.frames for key in places if any(p[key][:3] != places[key][:3] for _, _, p in drawn.frames if key in p)}
        self.assertEqual({int(e['metadata'][0]['value']) for r in seen['messages']['/view/trajectories'] for e in r['value']['entities']}, went)
        return cubes

    def check_frames(self, transforms, places):
        found = {t['child_frame_id']: t for t in transforms}
        ego = found.pop('ego', None)
        self.assertEqual(set(found), {'actor/%d' % key for key in places})
        self.assertTrue(ego is None or ego['parent_frame_id'] in found)
        for key, place in places.items():
            t = found['actor/%d' % key]
            forward, up = axes(place[3:6])
            self.near(vector(t['translation']), metres(place[:3]))
            self.near(turned(t['rotation'], (1, 0, 0)), forward, 1e-4)
            self.near(turned(t['rotation'], (0, 0, 1)), up, 1e-4)

    def check_log(self, truth, rows):
        logged = collections.Counter(r['value']['message'].split()[0] for r in rows if r['value']['name'] == 'carla.actors')
        hits = {(w[0], w[w.index('hit') + 1]) for w in (r['value']['message'].split() for r in rows if r['value']['name'] == 'carla.collisions')}
        self.assertEqual((logged['created'], logged['destroyed']), (truth['actors'], truth['destroyed']))
        self.assertEqual({'-'.join(pair) for pair in hits}, set(truth['collision_pairs']))

    @needs_samples(1)
    def test_carla_cut(self):
        """A cut shows at its start what the whole shows there, and only the topics that are asked for."""
        recording, _ = self.sample('carla/tkortz_2762.rec')
        whole = self.shown(recording, '/view/scene', '/view/tf')
        cut = self.shown(recording, '/view/scene', '/view/tf', query='&start=%2B5s&end=%2B6s&topic=/view/*')
        self.assertTrue(all(t.startswith('/view/') for t in cut['topics']), cut['topics'])
        self.assertEqual(cut['roots'], ['map'])
        inside = [r for r in whole['messages']['/view/tf'] if 5 * 10**9 <= time_of(r) - time_of(whole['messages']['/view/tf'][0]) < 6 * 10**9]
        self.assertGreater(len(inside), 5)
        self.assertEqual(cut['messages']['/view/tf'], inside)
        first = cut['messages']['/view/scene'][0]
        before = [r for r in whole['messages']['/view/scene'] if time_of(r) <= time_of(first)][-1]
        self.assertEqual([e['cubes'] for e in first['value']['entities']], [e['cubes'] for e in before['value']['entities']])

    # --- NanoVer

    @needs_samples(10)
    def test_nanover(self):
        for name in sorted(os.listdir(os.path.join(SAMPLES, 'nanover'))):
            if name.endswith('.zip'):
                with self.subTest(name):
                    recording, data = self.sample('nanover/' + name)
                    self.check_nanover(recording, read_nanover(data), self.truth('nanover', name))

    def test_made_nanover(self):
        messages, box = nanover_messages(60, atoms=20), (2., 0., 0., 0., 3., 0., 0., 0., 4.)
        for _, message in messages:
            if message.get('frame', {}).get('frame.index') == 0:
                message['frame']['system.box.vectors'] = struct.pack('<9f', *box)
        data = nanover(messages)
        truth = {'mdanalysis_universes': [(20, 30), (20, 30)], 'final_frame': {'particle.count': 20, 'box': (box[:3], box[3:6], box[6:])}}
        self.check_nanover(self.server.added('made.nanover.zip', data), read_nanover(data), truth)

    def check_nanover(self, recording, entries, truth):
        seen = self.shown(recording, '/view/scene', '/view/energies')
        self.assertIn(seen['roots'], ([], ['simulation']))  # [] where nothing was recorded
        scenes = {time_of(r): {e['id']: e for e in r['value']['entities']} for r in seen['messages']['/view/scene']}
        self.check_runs([s for _, s in sorted(scenes.items())], truth['mdanalysis_universes'])
        frames = [msgpack.unpackb(piece).get('frame', {}) for _, piece in entries]
        potentials = [r['value']['potential'] for r in seen['messages']['/view/energies'] if 'potential' in r['value']]
        self.assertEqual(potentials, [f['energy.potential'] for f in frames if isinstance(f.get('energy.potential'), (int, float))])
        frame = fold(entries)[0]
        if 'particle.positions' not in frame:
            return
        last = scenes[max(scenes)]
        places = list(struct.iter_unpack('<3f', frame['particle.positions']))
        self.assertEqual(len(last['particles']['spheres']), truth['final_frame']['particle.count'])
        for sphere, place in zip(last['particles']['spheres'], places):
            self.near(vector(sphere['pose']['position']), place, 1e-6)
        bonds = list(struct.iter_unpack('<2I', frame.get('bond.pairs', b'')))
        points = [vector(p) for p in last['particles']['lines'][0]['points']]
        self.assertEqual(len(points), 2 * len(bonds))
        for (a, b), one, other in zip(bonds, points[::2], points[1::2]):
            self.near(one + other, places[a] + places[b], 1e-6)
        edges = [vector(p) for p in last['box']['lines'][0]['points']]
        self.assertEqual(len(edges), 24)
        self.near(map(max, *edges), map(sum, zip(*truth['final_frame']['box'])), 1e-6)  # the far corner

    def check_runs(self, scenes, universes):
        """As many pictures with as many atoms as MDAnalysis reads frames, run after run."""
        runs = []
        for scene in scenes:
            atoms = len(scene.get('particles', {}).get('spheres', ()))
            if atoms > 0 and (not runs or runs[-1][0] != atoms):
                runs.append([atoms, 0])
            if atoms > 0:
                runs[-1][1] += 1
        wanted = []
        for atoms, frames in universes:  # two runs of as many atoms after each other look like one here
            if wanted and wanted[-1][0] == atoms:
                wanted[-1][1] += frames
            else:
                wanted.append([atoms, frames])
        self.assertEqual(runs, wanted)

    @needs_samples(4)
    def test_nanover_legacy(self):
        for name in ('nanotube-example', 'sim-switching'):
            with self.subTest(name):
                recording, _ = self.sample('nanover_legacy/%s.traj' % name, 'nanover_legacy/%s.state' % name)
                seen = self.shown(recording, '/view/scene', '/view/avatars')
                self.assertEqual(seen['roots'], ['simulation'])
                scenes = [{e['id']: e for e in r['value']['entities']} for r in seen['messages']['/view/scene']]
                self.check_runs(scenes, self.truth('nanover_legacy', name + '.nanover.zip', 'truth_converted.json')['mdanalysis_universes'])
                total = math.fsum(c for s in scenes for p in s.get('particles', {}).get('spheres', ()) for c in vector(p['pose']['position']))
                self.assertAlmostEqual(total / self.truth('nanover_legacy', name + '.traj')['sum_of_all_positions'], 1, delta=1e-6)
                poses = [len(r['value']['poses']) for r in seen['messages']['/view/avatars']]
                self.assertEqual(max(poses) > 0, name == 'nanotube-example', poses[:20])

    # --- ROS before mid-2010

    def test_old_clouds(self):
        points = [[(i + k * .5, -i, k) for k in range(7)] for i in range(20)]
        types = {'sensor_msgs/PointCloud': ('d8e9c3f5afbdd8a130fd1d2763945fca', CLOUD), 'tf/tfMessage': ('94810edda583a504dfda3829e70d7eec', TF)}
        messages = [transform(T0)] + [cloud(T0 + 10**8 * i, p, [q[0] * 2 for q in p]) for i, p in enumerate(points)]
        with mock.patch.dict(samples.TYPES, types):
            recording = self.server.added('clouds.bag', samples.bag(messages))
        seen = self.shown(recording, '/view/cloud', '/cloud')
        self.assertEqual((seen['roots'], seen['frames']), (['base'], ['laser']))
        self.assertEqual({t: (v['count'], v['schema']) for t, v in seen['topics'].items()},
                         {'/tf': (1, 'tf/tfMessage'), '/cloud': (20, 'sensor_msgs/PointCloud'), '/view/cloud': (20, 'foxglove.PointCloud')})
        self.assertTrue(all(t['read'] for t in seen['topics'].values()))
        for i, (row, own) in enumerate(zip(seen['messages']['/view/cloud'], seen['messages']['/cloud'])):
            value = row['value']
            self.assertEqual(time_of(row), time_of(own))
            self.assertEqual((value['frame_id'], value['point_stride'], value['timestamp']), ('laser', 16, own['value']['header']['stamp']))
            fields = [(f['name'], f['offset'], f['type']) for f in value['fields']]
            self.assertEqual(fields, [('x', 0, 7), ('y', 4, 7), ('z', 8, 7), ('intensity', 12, 7)])
            self.assertEqual(list(struct.iter_unpack('<4f', base64.b64decode(value['data']))), [(*p, p[0] * 2) for p in points[i]])

    @needs_samples(3)
    def test_old_definitions(self):
        """Bags whose types are in roslib: every message is read by the definition in the file."""
        for name in ('ccny_gpsd_v1.2.bag', 'ccny_ortho_scan_v1.2.bag', 'ccny_scan_splitter_v1.2.bag'):
            with self.subTest(name):
                recording, data = self.sample('rosbag1/' + name)
                self.assertIn(b'MSG: roslib/Header', data)
                seen = self.shown(recording)
                self.assertTrue(all(t['read'] and not t['schema'].startswith('roslib/') for t in seen['topics'].values()))
                counts = {t: v['count'] for t, v in self.truth('rosbag1', name)['topics'].items()}
                self.assertEqual({t: v['count'] for t, v in seen['topics'].items()}, counts)
                mcap = self.get('%s/recordings/%s/as/show.mcap?view=foxglove' % (API, recording)).body
                self.assertNotIn(b'roslib/Header', mcap)
