"""Every option of the generator of MIRA tapes crossed with every other, because no real tape decides which is right: we find what it wrote, and the independent reader
finds in our copies what it finds in the originals. Cut anywhere, a tape gives us at least the messages that the independent walk finds."""
import itertools
import json
import os
import shutil
import tempfile
import unittest

import matrix_readers as readers
from harness import LONG, payload, reel, time_ns
from samples import Message, by_topic

GEN = readers.shared_module('generators', 'mira_gen')
ENDS, COUNTED, LINKS, CODECS, BLOCKS, CLOSED = '<>', (False, True), ('header', 'data'), ('zlib', 'bzip2', None), (2000, 1 << 16), (True, False)
OPTIONS = ENDS, COUNTED, LINKS, CODECS, BLOCKS, CLOSED


def make(endian, counted, link, codec, block_max, closed, n=40):
    """The tape, and the messages that are in it."""
    g = GEN.Gen(GEN.T0, GEN.TZ, endian=endian, incl=counted, link=link, codec=codec or 'zlib', block_max=block_max)
    written, write = [], g.write

    def remember(name, kind, t, data, *args, **options):
        written.append(Message(GEN.T0 + t, name, bytes(data)))
        write(name, kind, t, data, *args, **options)

    g.write = remember
    GEN.fill(g, n, codec is not None)
    return g.finish() if closed else g.abandon(), written


@unittest.skipUnless(GEN and readers.MIRA, 'the generator and the reader of tapes are not here')
class Mira(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='reel-mira-')

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def save(self, data, name='in.tape'):
        path = os.path.join(self.folder, name)
        with open(path, 'wb') as f:
            f.write(data)
        return path

    def test_every_option_with_every_other(self):
        for options in itertools.product(*OPTIONS):
            if not LONG and sum(values.index(one) for values, one in zip(OPTIONS, options)) % 2:
                continue  # the half that is left has any five options in every combination
            with self.subTest(options):
                data, written = make(*options)
                path, want = self.save(data), by_topic(written)
                rows = [json.loads(line) for line in reel('cat', path, '--no-decode').stdout.splitlines()]
                self.assertEqual(by_topic([Message(time_ns(r['log_time']), r['topic'], payload(r)) for r in rows]), want)
                info = json.loads(reel('info', path, '--json').stdout)
                self.assertFalse(info['damaged'])
                self.assertEqual('clean' in reel('check', path).stdout.decode(), options[-1])
                copy = os.path.join(self.folder, 'out.tape')
                reel('convert', path, copy, '--force')
                self.assertEqual(readers.mira(copy, want), want)

    def test_cut_anywhere(self):
        for endian, counted, closed in itertools.product(ENDS, COUNTED, CLOSED):
            data, _ = make(endian, counted, 'header', 'zlib', 2000, closed)
            for size in range(400, len(data), 1973):
                with self.subTest((endian, counted, closed, size)):
                    independent = readers.mira_messages(data[:size])[1]
                    rows = reel('cat', self.save(data[:size])).stdout.splitlines()
                    self.assertEqual(len(rows), len(independent))

    def test_garbage_in_the_middle(self):
        data, written = make('<', False, 'header', None, 2000, True)
        for at in range(300, len(data) - 2000, 1777):
            with self.subTest(at):
                broken = data[:at] + b'\x5a' * 30 + data[at + 30:]
                independent = readers.mira_messages(broken)[1]
                found = len(reel('cat', self.save(broken)).stdout.splitlines())
                self.assertGreaterEqual(found, len(independent))
                self.assertGreaterEqual(found, len(written) - 3)
