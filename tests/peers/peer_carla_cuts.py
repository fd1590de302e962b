"""Our CARLA logs and an independent reader of them: a whole recording is the same file, and at random cuts of each sample the state (which actors exist, where, with which parent, lights,
doors, weather, physics …) and all texts of the frames are those of the source."""
import collections
import math
import os
import random
import shutil
import sys
import tempfile
import time
import unittest

import carla_text
from harness import LONG, reel
from real_samples import needs_samples

SHARED = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'shared')
SAMPLES = os.path.join(SHARED, 'samples', 'carla')
sys.path.append(os.path.join(SHARED, 'readers'))
CUTS = 20 if LONG else 7

Frame = collections.namedtuple('Frame', 'number duration elapsed packets')  # packets: (name, decoded records, bytes)
JOINED = {'EventAdd': lambda r: r['id'], 'EventParent': lambda r: r[0], 'SceneLight': lambda r: r[0], 'BoundingBox': lambda r: r[0], 'TriggerVolume': lambda r: r[0],
          'PhysicsControl': lambda r: r['id'], 'TrafficLightTime': lambda r: r[0], 'VehicleDoor': lambda r: r[:2]}
OF_ACTORS = ('EventParent', 'BoundingBox', 'TriggerVolume', 'PhysicsControl', 'TrafficLightTime', 'VehicleDoor')
ALL_DOORS = 6
ANEW = ('Position', 'State', 'AnimVehicle', 'AnimWalker', 'VehicleLight', 'AnimVehicleWheels', 'AnimBiker', 'WalkerBones', 'VisualTime', 'Weather')


class Log:
    def __init__(self, path):
        import carla_log as reader
        with open(path, 'rb') as f:
            data = f.read()
        self.facts = reader.parse(path)
        self.header = self.facts['header']
        self.frames = []
        doubles, mode = self.facts['vectors'] == 'double', self.facts['ids21']
        for packet, size, at, end, whole in reader.packets(data, self.header['size']):
            if not whole:
                break
            records = reader.decode(packet, data, at, end, doubles, mode)
            if packet == 0:
                self.frames.append(Frame(*records, []))
            elif packet != 1:
                self.frames[-1].packets.append((reader.idname(packet, mode), records, data[at:end]))

    def time_ns(self, frame):
        return math.floor(frame.elapsed * 1e9 + 0.5)


class State:
    """The state after each frame."""

    def __init__(self):
        self.actors, self.places, self.keyed, self.anew = {}, {}, {}, {}

    def add(self, frame):
        for name, records, data in frame.packets:
            if name == 'EventDel':
                for (actor,) in records:
                    self.forget(actor)
            elif name in JOINED and isinstance(records, list):
                for r in records:
                    if name == 'EventAdd':
                        self.forget(r['id'])
                        self.actors[r['id']] = r
                        self.places[r['id']] = r['loc'] + r['rot']
                    elif name == 'VehicleDoor' and r[1] == ALL_DOORS:
                        self.keyed.update(((name, (r[0], door)), (r[0], door, r[2])) for door in range(ALL_DOORS))
                    else:
                        self.keyed[name, JOINED[name](r)] = r
            if name == 'Position':
                self.places.update((r[0], r[1:]) for r in records if r[0] in self.actors)
            if name in ANEW:
                self.anew[name] = data
        return self

    def forget(self, actor):
        self.actors.pop(actor, None)
        self.places.pop(actor, None)
        for name, key in list(self.keyed):
            if name in OF_ACTORS and (key == actor or (name == 'VehicleDoor' and key[0] == actor)):
                del self.keyed[name, key]

    def parents(self):
        return {r[0]: r[1] for (name, _), r in self.keyed.items() if name == 'EventParent' and r[0] in self.actors and r[1] in self.actors}

    def seen(self, placed=True):
        """All of it, for comparing; nan is equal to itself."""
        actors = {k: (a['type'], a['tid'], a['uid'], a['attrs']) for k, a in self.actors.items()}
        others = {k: r for k, r in self.keyed.items() if k[0] != 'EventParent'}
        return repr((sorted(actors.items()), sorted(self.parents().items()), sorted(others.items(), key=repr), sorted(self.anew.items()), sorted(self.places.items()) if placed else 0))


def frame_text(frame):
    return [line for name, records, _ in frame.packets for line in carla_text.packet_text(name, records or [])]


def file_text(log):
    lines = ['Version: %d' % log.header['version'], 'Map: ' + log.header['map'], 'Date: ' + time.strftime('%x %X', time.gmtime(log.header['date'])), '']
    for f in log.frames:
        lines += ['Frame %d at %s seconds' % (f.number, carla_text.g(f.elapsed))] + frame_text(f)
    return '\n'.join(lines + ['', 'Frames: %d' % log.frames[-1].number, 'Duration: %s seconds' % carla_text.g(log.frames[-1].elapsed), ''])


def named(state, collision):
    return [(state.actors.get(a, {}).get('type', 0), state.actors.get(a, {}).get('tid', '')) for a in collision[1:3]]


@needs_samples(11)
class CarlaCuts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='reel-peers-')
        cls.samples = {n: os.path.join(SAMPLES, n) for n in sorted(os.listdir(SAMPLES)) if n.endswith(('.log', '.rec'))}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def convert(self, path, *options):
        out = os.path.join(self.folder, 'out.log')
        reel('convert', '--force', path, out, *options)
        return out

    def test_texts_are_carlas(self):
        """The texts that the cuts are compared by are those that CARLA itself made of the samples."""
        for name in ('made_0.9.15_basic.log', 'made_0.9.15_full.log'):
            with self.subTest(name), open(os.path.join(SAMPLES, 'texts', name + '.0.9.15.info_all.txt')) as f:
                self.assertEqual(file_text(Log(self.samples[name])), f.read())

    def test_whole_recordings(self):
        for name, path in self.samples.items():
            with self.subTest(name), open(path, 'rb') as before, open(self.convert(path), 'rb') as after:
                self.assertTrue(before.read() == after.read())

    def test_cuts(self):
        for name, path in self.samples.items():
            source = Log(path)
            chance = random.Random(name)
            for _ in range(CUTS):
                times = [source.time_ns(f) for f in source.frames]
                start = chance.choice((chance.choice(times), chance.randrange(times[-1] + 1)))
                end = chance.choice((None, chance.randrange(start + 1, times[-1] + 2)))
                with self.subTest(name, start=start, end=end):
                    self.check_cut(path, source, start, end)

    def check_cut(self, path, source, start, end):
        limits = ['--start', '+%dns' % start] + ([] if end is None else ['--end', '+%dns' % end])
        cut = Log(self.convert(path, *limits))
        first = next(i for i, f in enumerate(source.frames) if source.time_ns(f) >= start)
        frames = [f for f in source.frames[first:] if end is None or source.time_ns(f) < end]
        before = State()
        for f in source.frames[:first]:
            before.add(f)
        self.check_sound(source, cut, frames, start)
        if not frames:
            self.assertEqual(len(cut.frames), 1)
            self.assertEqual(State().add(cut.frames[0]).seen(), before.seen())
            return
        self.check_first(before, frames[0], cut.frames[0])
        there, here = before.add(frames[0]), State().add(cut.frames[0])
        self.assertEqual(here.seen(), there.seen())
        for a, b in zip(frames[1:], cut.frames[1:]):
            self.assertEqual([p[0::2] for p in a.packets], [p[0::2] for p in b.packets])
            self.assertEqual(frame_text(a), frame_text(b))
            there.add(a)
            here.add(b)
            for (_, x, _), (_, y, _) in zip((p for p in a.packets if p[0] == 'Collision'), (p for p in b.packets if p[0] == 'Collision')):
                self.assertEqual([named(there, c) for c in x], [named(here, c) for c in y])
        self.assertEqual(here.seen(), there.seen())

    def check_sound(self, source, cut, frames, start):
        facts = cut.facts
        self.assertTrue(facts['ends_exactly'] and facts['ids_consecutive'] and not facts['problems'], facts)
        self.assertEqual(facts['elapsed_matches_sum'], 0)
        self.assertEqual((facts['first_frame'][0], facts['first_frame'][2], facts['last_frame'][1]), (1, 0, -1))
        self.assertEqual((cut.header['version'], cut.header['map']), (source.header['version'], source.header['map']))
        begins = source.time_ns(frames[0]) if frames else start
        self.assertEqual(cut.header['date'], source.header['date'] + (begins // 10**9 if begins > 0 else 0))
        if frames:
            self.assertEqual([f.duration for f in cut.frames[:-1]], [f.duration for f in frames[:-1]])
            self.assertEqual(len(cut.frames), len(frames))

    def check_first(self, before, frame, first):
        """The source's frame, with the state before it in front of each list and nothing else."""
        order = [p[0] for p in first.packets]
        own = {name: (records, data) for name, records, data in frame.packets}
        self.assertEqual([n for n in order if n in own], [p[0] for p in frame.packets])
        for name, records, data in first.packets:
            if name not in own:
                self.assertTrue(name in JOINED or name in ANEW, name)
            elif name in JOINED and records:
                tail = own[name][0]
                self.assertEqual(repr(records[len(records) - len(tail):]), repr(tail))
            else:
                self.assertEqual(data, own[name][1])
        created = [r for name, records, _ in first.packets if name == 'EventAdd' for r in records[:len(records) - len(own[name][0])]]
        self.assertEqual({r['id'] for r in created}, set(before.actors) - {r['id'] for r in own.get('EventAdd', [[]])[0]})
        for r in created:
            attached = r['id'] in before.parents()
            self.assertEqual(r['loc'] + r['rot'], before.actors[r['id']]['loc'] + before.actors[r['id']]['rot'] if attached else before.places[r['id']])
