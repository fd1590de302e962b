"""Recordings that are packed: compressed files and archives of every format, cut ones, archives of several recordings, encrypted ones."""
import bz2
import gzip
import io
import lzma
import os
import shutil
import subprocess
import tarfile
import tempfile
import unittest
import zipfile

import legacy
from harness import API, Case, reel
from samples import bag, lab_messages


def zipped(*files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as z:
        for name, data in files:
            z.writestr(name, data)
    return out.getvalue()


def tarred(mode, *files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as tar:
        for name, data in files:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


def encrypted(archive):
    """With the flag of encrypted members."""
    data = bytearray(archive)
    for magic, flags in (b'PK\3\4', 6), (b'PK\1\2', 8):
        at = data.find(magic)
        while at >= 0:
            data[at + flags] |= 1
            at = data.find(magic, at + 4)
    return bytes(data)


def zstd(data):
    return subprocess.run(['zstd', '-q', '-c'], input=data, stdout=subprocess.PIPE, check=True).stdout


class Packed(Case):
    @classmethod
    def fill(cls):
        cls.folder = tempfile.mkdtemp(prefix='reel-e2e-')
        cls.bag = bag(lab_messages(3))
        with open(cls.at('plain.bag'), 'wb') as f:
            f.write(cls.bag)
        cls.rows = reel('cat', cls.at('plain.bag')).stdout

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)
        super().tearDownClass()

    @classmethod
    def at(cls, name):
        return os.path.join(cls.folder, name)

    def write(self, name, data):
        with open(self.at(name), 'wb') as f:
            f.write(data)
        return self.at(name)

    def test_bags(self):
        for name, data in (('a.bag.gz', gzip.compress(self.bag)), ('a.bag.bz2', bz2.compress(self.bag)), ('a.bag.xz', lzma.compress(self.bag)),
                           ('a.zip', zipped(('day1/a.bag', self.bag), ('readme.md', b'text'))), ('a.tar', tarred('w', ('day1/a.bag', self.bag))),
                           ('a.tgz', tarred('w:gz', ('a.bag', self.bag))), ('a.tar.xz', tarred('w:xz', ('a.bag', self.bag)))):
            self.assertEqual(reel('cat', self.write(name, data)).stdout, self.rows, name)
            self.assertIn(b'clean', reel('check', self.at(name)).stdout, name)
            made = self.get('%s/recordings/%s' % (API, self.server.added(name, data))).json()
            self.assertEqual((made['format'], made['messages'], made['damaged']), ('rosbag-1.2', len(lab_messages(3)), False), name)
            self.assertEqual(self.get('%s/recordings/%s/as/x.ndjson' % (API, made['id'])).body, self.rows, name)
            self.assertEqual(self.get('%s/recordings/%s/file/%s' % (API, made['id'], name)).body, data)

    @unittest.skipUnless(shutil.which('zstd'), 'there is no zstd')
    def test_zstd(self):
        self.assertEqual(reel('cat', self.write('a.bag.zst', zstd(self.bag))).stdout, self.rows)

    def test_pair(self):
        files = list(zip(('x/run.traj', 'x/run.state'), legacy.pair(salt=3)))
        for name, data in ('pair.zip', zipped(*files)), ('pair.tar.gz', tarred('w:gz', *files)):
            self.assertIn(b', 70 messages in 2 channels, clean', reel('check', self.write(name, data)).stdout)

    def test_what_is_left_out_is_named(self):
        two = self.write('two.zip', zipped(('a.bag', self.bag), ('b.bag', bag(lab_messages(1)))))
        self.assertIn(b'b.bag is another recording and is left out', reel('check', two).stdout)
        reel('convert', self.at('plain.bag'), self.at('a.mcap'), '--force')
        with open(self.at('a.mcap'), 'rb') as f:
            mixed = self.write('mixed.zip', zipped(('a.mcap', f.read()), ('b.bag', self.bag)))
        self.assertIn(b'b.bag is another recording and is left out', reel('check', mixed).stdout)

    def test_encrypted(self):
        reel('convert', self.at('plain.bag'), self.at('e.mcap'), '--force')
        with open(self.at('e.mcap'), 'rb') as f:
            mcap = f.read()
        for name, file, data in ('bag.zip', 'a.bag', self.bag), ('mcap.zip', 'a.mcap', mcap):
            done = reel('check', self.write(name, encrypted(zipped((file, data)))), check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b'it is encrypted', done.stderr)

    def test_cut(self):
        """What unpacks is read: as many messages as of the bytes that gzip and xz give back."""
        large = bag(lab_messages(20, blob=3000))
        for name, pack, unpack in ('cut.bag.gz', gzip.compress, lambda: __import__('zlib').decompressobj(31)), ('cut.bag.xz', lzma.compress, lzma.LZMADecompressor):
            packed = pack(large)
            cut = packed[:len(packed) * 3 // 4]
            raw = unpack().decompress(cut)
            self.assertGreater(len(raw), len(large) // 3)
            found = [line for line in reel('check', self.write('raw.bag', raw), check=False).stdout.decode().splitlines()][0]
            done = reel('check', self.write(name, cut), check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn('damaged or ends early', done.stdout.decode())
            self.assertEqual(done.stdout.decode().split(' messages')[0].split()[-1], found.split(' messages')[0].split()[-1], name)
