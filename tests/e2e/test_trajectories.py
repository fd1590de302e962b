"""NanoVer recordings as files of molecular dynamics, read by readers of ours (trajectories.py)."""
import os
import random
import struct
import tempfile

from harness import API, Case, reel
from samples import nanover
from trajectories import read_dcd, read_gro, read_pdb, read_trr, read_xtc

READERS = {'trr': read_trr, 'dcd': read_dcd, 'xtc': read_xtc}
BOX = (3, 0, 0, 0, 4, 0, 0, 0, 5)


def pack(positions):
    return struct.pack('<%df' % (3 * len(positions)), *[v for p in positions for v in p])


def single(positions):
    """As float32 has them."""
    numbers = struct.unpack('<%df' % (3 * len(positions)), pack(positions))
    return [numbers[i:i + 3] for i in range(0, len(numbers), 3)]


def water(pick, n, spread):
    """Molecules of three atoms near each other."""
    out = []
    while len(out) < n:
        oxygen = [pick.uniform(-spread, spread) for _ in range(3)]
        out += [tuple(v + (pick.uniform(-0.1, 0.1) if i else 0) for v in oxygen) for i in range(3)]
    return out[:n]


def topology(n):
    return {'particle.count': n, 'particle.elements': bytes([8, 1, 1] * n)[:n], 'particle.names': (['OW', 'HW1', 'HW2'] * n)[:n],
            'particle.residues': struct.pack('<%dI' % n, *[i // 3 for i in range(n)]), 'residue.names': ['SOL'] * (n // 3 + 1),
            'residue.ids': [str(7 + i) for i in range(n // 3 + 1)], 'residue.chains': struct.pack('<%dI' % (n // 3 + 1), *[i % 2 for i in range(n // 3 + 1)]),
            'chain.names': ['A', 'W'], 'bond.pairs': struct.pack('<4I', 0, 1, 0, 2)}


def recording(runs):
    """Each run is a list of frames without frame.index; between them are states."""
    messages = []
    for run in runs:
        for i, frame in enumerate(run):
            messages.append((len(messages) * 1000, {'frame': {'frame.index': i, **frame}}))
            messages.append((len(messages) * 1000, {'state': {'updates': {'scene': i}, 'removals': []}}))
    return nanover(messages)


def frames_of(positions, **more):
    out = [{'particle.positions': pack(p), 'system.simulation.time': 10 + 0.5 * i, **{k: v[i] for k, v in more.items()}} for i, p in enumerate(positions)]
    out[0]['system.box.vectors'] = struct.pack('<9f', *BOX)
    return out


class Trajectories(Case):
    @classmethod
    def fill(cls):
        pick = random.Random(5)
        cls.long = [water(pick, 100, 1.5) for _ in range(700)]  # of 1,2 MB: several groups
        cls.short = [water(pick, 4, 1) for _ in range(5)]
        first = frames_of(cls.long)
        first[0].update({'particle.count': 100})
        first[1].update(topology(100))  # it comes late
        first[3:3] = [{'energy.kinetic': 1.5}, {'particle.positions': pack(cls.short[0])}]  # no frame, and one of another size
        second = frames_of(cls.short, **{'particle.velocities': [pack(p) for p in cls.short], 'particle.forces.system': [pack(p) for p in cls.short]})
        cls.number = cls.server.added('sim.nanover.zip', recording([[{}], first, second]))
        cls.none = cls.server.added('none.nanover.zip', recording([[{'energy.kinetic': 1.0}]]))

    def path(self, name, query='', number=None):
        return '%s/recordings/%s/as/%s%s' % (API, number or self.number, name, query)

    def near(self, frames, positions, most):
        self.assertEqual(len(frames), len(positions))
        for frame, wanted in zip(frames, positions):
            self.assertEqual(len(frame.positions), len(wanted))
            worst = max(abs(a - b) for p, q in zip(frame.positions, wanted) for a, b in zip(p, q))
            self.assertLessEqual(worst, most)

    def test_all_frames_of_the_first_run(self):
        for name, read in READERS.items():
            whole = self.get(self.path('x.' + name))
            frames = read(whole.body)
            self.near(frames, [single(p) for p in self.long], 0 if name == 'trr' else 5.01e-4 if name == 'xtc' else 1e-6)
            if name == 'dcd':
                self.assertAlmostEqual(frames[1].time, 0.5, 5)
                self.assertEqual(frames[-1].box, (30, 90, 40, 90, 90, 50))
            else:
                self.assertEqual([(f.time, f.step) for f in frames], [(10 + 0.5 * i, i) for i in range(700)])
                self.assertEqual(frames[-1].box, [BOX[:3], BOX[3:6], BOX[6:]])
        self.assertEqual(len(self.get(self.path('x.trr')).body), 700 * (84 + 36 + 1200))
        self.assertLess(len(self.get(self.path('x.xtc')).body), 700 * 1200 / 2)

    def test_ranges_are_those_of_the_whole(self):
        pick = random.Random(3)
        for name in ('x.trr', 'x.dcd', 'x.xtc', 'x.pdb', 'x.gro'):
            path = self.path(name)
            whole = self.get(path)
            self.assertEqual(self.server.request('HEAD', path).headers['ETag'], whole.headers['ETag'])
            for _ in range(10):
                start = pick.randrange(len(whole.body))
                end = min(len(whole.body), start + pick.randrange(1, 3000))
                self.assertEqual(self.get(path, 206, Range='bytes=%d-%d' % (start, end - 1)).body, whole.body[start:end])

    def test_a_later_run(self):
        self.assertProblem(self.server.request('GET', self.path('x.trr', '?run=4')), 404, 'no run 4')
        for name, read in READERS.items():
            frames = read(self.get(self.path('x.' + name, '?run=3')).body)
            self.near(frames, [single(p) for p in self.short], 1e-6)  # so few atoms are not compressed
        frames = read_trr(self.get(self.path('x.trr', '?run=3')).body)
        self.assertEqual([f.velocities for f in frames], [single(p) for p in self.short])
        self.assertEqual([f.forces for f in frames], [single(p) for p in self.short])
        self.assertNotEqual(self.get(self.path('x.trr', '?run=3')).headers['ETag'], self.get(self.path('x.trr', '?run=2')).headers['ETag'])
        self.near(read_trr(self.get(self.path('x.trr', '?run=2')).body), [single(p) for p in self.long], 0)

    def test_what_is_left_out_is_said(self):
        report = self.get(self.path('x.trr', '?report=true&check=true')).json()
        text = str(report)
        self.assertIn('6 messages that are frames of a later run (select it with run=)', text)
        self.assertIn('a trajectory has frames only', text)
        self.assertIn('only the first one', str(self.get(self.path('x.pdb', '?report=true')).json()))

    def test_frames_in_another_container(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, n) for n in ('a.nanover.zip', 'a.mcap', 'a.xtc', 'b.xtc')]
            with open(paths[0], 'wb') as f:
                f.write(recording([frames_of(self.long[:20])]))
            for source, target in ((0, 1), (0, 2), (1, 3)):
                reel('convert', paths[source], paths[target])
            files = []
            for path in paths[2:]:
                with open(path, 'rb') as f:
                    files.append(f.read())
            self.assertEqual(*files)
            self.near(read_xtc(files[0]), [single(p) for p in self.long[:20]], 5.01e-4)

    def test_a_sample_of_frames_is_of_one_run_too(self):
        """Of every third message no reset may be left."""
        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, 'two.nanover.zip'), os.path.join(folder, 'two.trr')
            with open(source, 'wb') as f:
                f.write(recording([frames_of(self.short[:4]), frames_of(self.short)]))
            reel('convert', '--every', '3', '--topic', 'frame', source, target)
            with open(target, 'rb') as f:
                self.near(read_trr(f.read()), [single(self.short[i]) for i in (0, 3)], 0)

    def test_the_structure(self):
        atoms, bonds, cell = read_pdb(self.get(self.path('x.pdb')).body)
        self.assertEqual(len(atoms), 100)
        self.assertEqual([a[:5] for a in atoms[:4]], [(' OW ', 'SOL', 'A', 7, 'O'), (' HW1', 'SOL', 'A', 7, 'H'), (' HW2', 'SOL', 'A', 7, 'H'), (' OW ', 'SOL', 'W', 8, 'O')])
        self.assertEqual((bonds, cell), ({(0, 1), (1, 0), (0, 2), (2, 0)}, [30, 40, 50, 90, 90, 90]))
        self.assertLess(max(abs(a - b) for atom, p in zip(atoms, self.long[0]) for a, b in zip(atom[5], p)), 5.1e-5)
        atoms, box = read_gro(self.get(self.path('x.gro', '?run=3')).body)
        self.assertEqual([(a[0], a[1], a[2]) for a in atoms], [('X', 'UNK', 1)] * 4)
        self.assertLess(max(abs(a - b) for atom, p in zip(atoms, self.short[0]) for a, b in zip(atom[3], p)), 5.1e-4)
        self.assertLess(max(abs(a - b) for atom, p in zip(atoms, self.short[0]) for a, b in zip(atom[4], p)), 5.1e-5)
        self.assertEqual(box, [3, 4, 5])

    def test_the_structure_of_another_moment(self):
        """A cut begins with the frame at its start."""
        atoms, _, _ = read_pdb(self.get(self.path('x.pdb', '?start=%2B1.0s')).body)
        frames = read_trr(self.get(self.path('x.trr', '?start=%2B1.0s&end=%2B1.2s')).body)
        self.assertLess(max(abs(a - b) for atom, p in zip(atoms, frames[0].positions) for a, b in zip(atom[5], p)), 5.1e-5)
        self.assertGreater(frames[0].time, 10)
        self.assertEqual(atoms[0][:5], (' OW ', 'SOL', 'A', 7, 'O'))

    def test_what_is_no_trajectory(self):
        for name in ('x.trr', 'x.dcd', 'x.xtc', 'x.pdb', 'x.gro'):
            self.assertProblem(self.server.request('GET', self.path(name, number=self.none)), 422, 'no frame')
        listed = self.server.request('PROPFIND', '/dav/lab/none.nanover.zip.as/', headers={'Depth': '1', 'Prefer': 'wait=60'})
        self.assertEqual(listed.status, 207)
        self.assertIn(b'none.mcap', listed.body)
        self.assertNotIn(b'none.trr', listed.body)

    def test_positions_of_every_kind(self):
        """Of XTC: what is far apart, all alike, negative, or beyond its integers."""
        pick = random.Random(9)
        kinds = {
            'wide': [[tuple(pick.uniform(-900000, 900000) for _ in range(3)) for _ in range(50)]],
            'alike': [[(1.5, -2.25, 3)] * 40] * 3,
            'line': [[(i * 0.15, 0, -i * 0.001) for i in range(3000)]],
            'mixed': [water(pick, 60, 40) + [(0.01 * i, 0, 0) for i in range(60)] + water(pick, 30, 0.2)],
            'small': [[tuple(pick.uniform(-0.003, 0.003) for _ in range(3)) for _ in range(99)]],
            'nine': [[(1e30, 2, 3)] + [(0, 0, 0)] * 8],
        }
        with tempfile.TemporaryDirectory() as folder:
            for kind, positions in kinds.items():
                source = os.path.join(folder, kind + '.nanover.zip')
                with open(source, 'wb') as f:
                    f.write(recording([frames_of(positions + [[(float('nan'), 1e30, 0)] * len(positions[0])])]))
                for name, read in READERS.items():
                    target = os.path.join(folder, kind + '.' + name)
                    reel('convert', source, target, check=kind != 'nine' or name != 'xtc')
                    if kind == 'nine' and name == 'xtc':
                        self.assertFalse(os.path.exists(target))
                        continue
                    with open(target, 'rb') as f:
                        frames = read(f.read())
                    self.assertEqual(len(frames), len(positions) + (name != 'xtc'))
                    if kind != 'nine':
                        most = 0.5 if kind == 'wide' else 1e-4
                        self.near(frames[:len(positions)], [single(p) for p in positions], most if name == 'dcd' else 0 if name == 'trr' else 5.01e-4 + (0.04 if kind == 'wide' else 0))
