"""`reel record` into several files: each is complete, and begins with what still holds of the one before."""
import base64
import contextlib
import glob
import json
import os
import subprocess
import tempfile
import threading
import unittest

from harness import REEL, eventually, reel
from samples import SECOND, T0, fold, nanover, nanover_messages, read_nanover

PART = 40  # messages
MAP = {'topic': '/map', 'log_time': T0, 'data': {'$base64': base64.b64encode(b'\x03\0\0\0abc').decode()}}
CHANNELS = [{'$channel': {'topic': '/map', 'type': 'std_msgs/String', 'encoding': 'ros1', 'schema': 'string data\n', 'latched': True}},
            {'$channel': {'topic': '/silent', 'type': 'std_msgs/String', 'encoding': 'ros1', 'schema': 'string data\n'}},
            {'$channel': {'topic': '/a', 'type': 'std_msgs/UInt32', 'encoding': 'ros1', 'schema': 'uint32 data\n'}}]


def step(number):
    return {'topic': '/a', 'log_time': T0 + number * SECOND // 10, 'data': {'$base64': base64.b64encode(number.to_bytes(4, 'little')).decode()}}


def lines(rows):
    return ''.join(json.dumps(r) + '\n' for r in rows).encode()


class RecordSplit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def at(self, name):
        return os.path.join(self.folder, name)

    def record(self, name, *options, rows, check=True):
        return reel('record', self.at(name), *options, stdin=rows, check=check)

    def rows(self, path):
        return [r for r in map(json.loads, reel('cat', path).stdout.splitlines()) if 'topic' in r]

    def parts(self, name):
        stem, ending = name.split('.', 1)
        return sorted(glob.glob(self.at(stem + '_*.' + ending)))

    def numbers(self, parts):
        return [[r['data']['data'] for r in self.rows(part) if r['topic'] == '/a'] for part in parts]

    def test_every_part_is_complete(self):
        rows = lines(CHANNELS + [MAP] + [step(i) for i in range(100)])
        for name in ('run.mcap', 'run.bag', 'run.tape', 'run.tide', 'run.rosbag2.zip'):
            with self.subTest(name=name):
                done = self.record(name, '--split-duration', '3s', rows=rows)
                self.assertEqual(done.stderr, b'reel record: 101 messages\n')
                parts = self.parts(name)
                self.assertEqual([os.path.basename(p) for p in parts], [name.replace('.', '_000%d.' % i, 1) for i in range(4)])
                self.assertEqual(self.numbers(parts), [list(range(30)), list(range(30, 60)), list(range(60, 90)), list(range(90, 100))])
                for part in parts:
                    first = self.rows(part)[0]
                    self.assertEqual((first['topic'], first['data']['data']), ('/map', 'abc'))
                    self.assertIn(b'clean', reel('check', part).stdout)
                    if name == 'run.mcap':
                        self.assertIn(b'/silent', reel('info', part).stdout)
                self.assertEqual(self.left(name), [])

    def left(self, name):
        """What is no part."""
        return [f for f in os.listdir(self.folder) if f.startswith('run') and f.endswith('.recording.mcap')]

    def test_by_size_and_messages(self):
        rows = lines(CHANNELS + [step(i) for i in range(1000)])
        self.record('small.mcap', '--split-size', '8kB', rows=rows)
        parts = self.parts('small.mcap')
        self.assertGreater(len(parts), 3)
        self.assertEqual(sum(self.numbers(parts), []), list(range(1000)))
        self.record('few.bag', '--split-messages', '300', '--max-splits', '2', rows=rows)
        parts = self.parts('few.bag')
        self.assertEqual([os.path.basename(p) for p in parts], ['few_0002.bag', 'few_0003.bag'])
        self.assertEqual(self.numbers(parts), [list(range(600, 900)), list(range(900, 1000))])
        whole = self.record('one.mcap', '--split-size', '1G', rows=rows)
        self.assertEqual((whole.returncode, len(self.parts('one.mcap'))), (0, 1))

    def test_state_of_a_simulation(self):
        messages = nanover_messages(60)
        with open(self.at('sim.nanover.zip'), 'wb') as f:
            f.write(nanover(messages))
        rows = reel('cat', self.at('sim.nanover.zip'), '--channels', '--no-decode').stdout
        self.record('run.nanover.zip', '--split-messages', '20', rows=rows)
        parts = self.parts('run.nanover.zip')
        self.assertGreater(len(parts), 2)
        with open(self.at('sim.nanover.zip'), 'rb') as f:
            whole = read_nanover(f.read())
        for part in parts:
            self.assertIn(b'clean', reel('check', part).stdout)
        with open(parts[-1], 'rb') as f:
            self.assertEqual(fold(read_nanover(f.read())), fold(whole))

    def test_killed(self):
        for name in ('run.mcap', 'log.rosbag2.zip'):
            process = subprocess.Popen([REEL, 'record', self.at(name), '--split-messages', str(PART)], stdin=subprocess.PIPE)
            self.addCleanup(process.wait)
            ended = threading.Event()
            sent = 0

            def feed():
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.write(lines(CHANNELS))
                    for i in range(100000):
                        process.stdin.write(lines([step(i)]))
                        process.stdin.flush()
                        nonlocal sent
                        sent = i
                        if ended.wait(0.002):
                            return

            thread = threading.Thread(target=feed)
            thread.start()
            self.addCleanup(thread.join)
            self.addCleanup(ended.set)
            self.assertTrue(eventually(lambda: len(self.parts(name)) > 4))
            due = sent  # all but the last of the parts are whole
            self.assertTrue(eventually(lambda: PART * (len(self.parts(name)) - 1) > due))
            process.kill()
            process.wait()
            ended.set()
            thread.join()
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            stem, ending = name.split('.', 1)
            parts = sorted(p for p in glob.glob(self.at(stem + '_*')) if os.path.getsize(p) > 0)
            if len(parts) > 1 and parts[-1].startswith(parts[-2]):  # it was converted and not yet removed
                del parts[-1]
            kept = {n for numbers in self.numbers(parts) for n in numbers}
            self.assertEqual(kept, set(range(len(kept))))
            self.assertGreater(len(kept), due)

    def test_mistakes(self):
        rows = lines(CHANNELS + [step(1)])
        self.record('run.mcap', '--split-messages', '1', rows=rows)
        again = self.record('run.mcap', '--split-messages', '1', rows=rows, check=False)
        self.assertEqual((again.returncode, b'run_0000.mcap exists' in again.stderr), (1, True), again.stderr)
        for options, why in ((['--max-splits', '2'], b'needs'), (['--split-size', '0'], b'size'), (['--split-size', '3 apples'], b'size'),
                             (['--split-duration', 'x'], b'duration'), (['--split-messages', '0'], b'above 0')):
            done = self.record('other.mcap', *options, rows=rows, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(why, done.stderr)
        self.assertEqual(reel('record', '--to', 'http://127.0.0.1:1', '--name', 'x', '--split-size', '1G', check=False).returncode, 2)
        self.assertEqual(self.parts('other.mcap'), [])
        broken = self.record('some.mcap', '--split-messages', '2', rows=lines(CHANNELS + [step(i) for i in range(5)]) + b'junk\n', check=False)
        self.assertEqual((broken.returncode, b'no JSON object' in broken.stderr), (1, True))


if __name__ == '__main__':
    unittest.main()
