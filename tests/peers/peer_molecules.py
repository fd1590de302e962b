"""Trajectories and structures that we write, in the readers of their users: MDAnalysis, MDTraj, ASE and gmx check of GROMACS, as Debian has them."""
import importlib
import os
import random
import re
import shutil
import subprocess
import tempfile
import unittest
import warnings

from harness import reel
from test_trajectories import BOX, frames_of, pack, recording, single, topology, water

FRAMES, ATOMS = 50, 300


def module(name):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            return importlib.import_module(name)
    except ImportError:
        raise unittest.SkipTest('%s is not installed' % name) from None


class Molecules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        pick = random.Random(11)
        cls.positions = [water(pick, ATOMS, 1.4) for _ in range(FRAMES)]
        frames = frames_of(cls.positions, **{'particle.velocities': [pack(p) for p in cls.positions]})
        frames[0].update(topology(ATOMS))
        cls.folder = tempfile.TemporaryDirectory()
        source = cls.path('nanover.zip')
        with open(source, 'wb') as f:
            f.write(recording([frames]))
        for extension in ('pdb', 'gro', 'trr', 'dcd', 'xtc'):
            reel('convert', source, cls.path(extension))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, extension):
        return os.path.join(cls.folder.name, 'sim.' + extension)

    def near(self, frame, number, most):
        self.assertEqual(len(frame), ATOMS)
        self.assertLessEqual(max(abs(float(a) - b) for p, q in zip(frame, single(self.positions[number])) for a, b in zip(p, q)), most)

    def test_mdanalysis(self):
        mda = module('MDAnalysis')
        for extension, most in (('trr', 1e-6), ('dcd', 1e-6), ('xtc', 5.1e-4)):
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                universe = mda.Universe(self.path('pdb'), self.path(extension))
                self.assertEqual(len(universe.trajectory), FRAMES)
                for number in (0, 1, FRAMES - 1, 7):
                    self.near(universe.trajectory[number].positions / 10, number, most)
                self.assertEqual([round(float(v), 3) for v in universe.dimensions], [30, 40, 50, 90, 90, 90])
                self.assertAlmostEqual(universe.trajectory.dt, 0.5, 5)
                self.assertEqual((list(universe.atoms.elements[:3]), list(universe.atoms.names[:3]), len(universe.bonds)), (['O', 'H', 'H'], ['OW', 'HW1', 'HW2'], 2))
                self.assertEqual((len(universe.residues), universe.residues[1].resid, universe.residues[1].resname), (ATOMS // 3, 8, 'SOL'))

    def test_mdtraj(self):
        mdtraj = module('mdtraj')
        for extension, most in (('trr', 0), ('dcd', 1e-6), ('xtc', 5.1e-4)):
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                trajectory = mdtraj.load(self.path(extension), top=self.path('pdb'))
            self.assertEqual((trajectory.n_frames, trajectory.n_atoms), (FRAMES, ATOMS))
            for number in range(FRAMES):
                self.near(trajectory.xyz[number], number, most)
            self.assertEqual([round(float(v), 5) for v in trajectory.unitcell_lengths[-1]], [BOX[0], BOX[4], BOX[8]])
            if extension != 'dcd':
                self.assertEqual([float(t) for t in trajectory.time[:3]], [10, 10.5, 11])
        self.near(mdtraj.load(self.path('gro')).xyz[0], 0, 5.1e-4)

    def test_ase(self):
        io = module('ase.io')
        for extension in ('pdb', 'gro'):
            atoms = io.read(self.path(extension))
            self.near(atoms.positions / 10, 0, 5.1e-4)
        self.assertEqual(io.read(self.path('pdb')).get_chemical_formula(), 'H200O100')

    def test_gromacs(self):
        gmx = shutil.which('gmx')
        if not gmx:
            raise unittest.SkipTest('gmx is not installed')
        for extension, velocities in (('trr', FRAMES), ('xtc', 0)):
            said = subprocess.run([gmx, 'check', '-f', self.path(extension)], capture_output=True, text=True, timeout=120, check=True).stderr
            counts = dict(re.findall(r'^(\w+) +(\d+)', said, flags=re.M))
            self.assertEqual((counts['Coords'], counts['Velocities'], counts['Box']), (str(FRAMES), str(velocities), str(FRAMES)), said)
            self.assertIn('# Atoms  %d' % ATOMS, said)
