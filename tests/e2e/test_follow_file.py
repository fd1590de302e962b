"""reel record --follow-file: a file that another program is writing goes into a live recording while it grows."""
import os
import random
import re
import signal
import struct
import subprocess
import tempfile
import unittest

from harness import API, REEL, Case, eventually, reel
from test_carla import log as carla_log
from samples import bag, lab_messages, nanover, nanover_messages

PIECES = 6
LAB = lab_messages(3, blob=200_000)


class FollowFile(Case):
    @classmethod
    def fill(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.files = {'a.bag': bag(LAB), 'old.bag': bag(LAB, indexed=False), 'b.nanover.zip': nanover(nanover_messages())}
        with open(cls.at('whole.bag'), 'wb') as f:
            f.write(cls.files['a.bag'])
        for name, options in (('c.mcap', ()), ('d.tide', ()), ('e.tape', ()), ('f.bag', ('--version', '2.0'))):
            reel('convert', cls.at('whole.bag'), cls.at(name), *options)
            with open(cls.at(name), 'rb') as f:
                cls.files[name] = f.read()
            os.remove(cls.at(name))

    @classmethod
    def at(cls, name):
        return os.path.join(cls.folder, name)

    def write(self, name, data, mode='ab'):
        with open(self.at(name), mode) as f:
            f.write(data)

    def follow(self, name, *args):
        process = subprocess.Popen([REEL, 'record', '--follow-file', self.at(name), '--to', 'http://127.0.0.1:%d' % self.server.port, *args],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.stop, process)
        return process

    @staticmethod
    def stop(process):
        process.kill()
        process.communicate()

    def recording(self, name):
        found = [r for r in self.server.get(API + '/recordings?limit=100').json()['items'] if r['name'] == name]
        return found[0]['id'] if found else None

    def messages(self, identifier):
        return self.server.get('%s/recordings/%s' % (API, identifier)).json()['messages'] if identifier else 0

    def rows(self, identifier):
        rows = self.server.get('%s/recordings/%s/messages?decode=none&time_format=nanoseconds' % (API, identifier)).rows()
        return sorted((r['log_time'], r['topic'], r['publish_time'], str(r['data'])) for r in rows)

    def ended(self, process):
        _, problem = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, problem.decode())

    def test_folder_of_a_recorder(self):
        """As `ros2 bag record` fills it: one file after another, metadata.yaml at the end."""
        os.mkdir(self.at('my_bag'))
        process = self.follow('my_bag/')
        parts, data = [], self.files['c.mcap']
        for number in range(2):
            name = 'my_bag/my_bag_%d.mcap' % number
            self.write(name, data[:len(data) // 2], 'wb')
            self.assertTrue(eventually(lambda: self.messages(self.recording('my_bag')) > number * len(LAB)))
            self.write(name, data[len(data) // 2:])
            parts.append(name)
        self.assertTrue(eventually(lambda: self.messages(self.recording('my_bag')) == 2 * len(LAB)))
        self.assertIsNone(process.poll())
        self.write('my_bag/metadata.yaml', b'rosbag2_bagfile_information:\n')
        self.ended(process)
        self.assertEqual(self.messages(self.recording('my_bag')), 2 * len(LAB))

    def test_every_format_while_it_is_written(self):
        for name, data in self.files.items():
            with self.subTest(name):
                live, active = 'live ' + name, name + '.active'
                cuts = [0, *sorted(random.Random(name).sample(range(1, len(data)), PIECES)), len(data)]
                self.write(active, data[:cuts[1]], 'wb')
                process = self.follow(active, '--name', live)
                for start, end in zip(cuts[1:], cuts[2:-1]):
                    before = self.messages(self.recording(live))
                    self.write(active, data[start:end])
                    eventually(lambda: self.messages(self.recording(live)) > before, 0.6)  # some cuts add no message
                if 'nanover' not in name:  # its times are at the end
                    self.assertTrue(eventually(lambda: self.messages(self.recording(live))))
                self.write(active, data[cuts[-2]:])
                os.rename(self.at(active), self.at(name))
                self.ended(process)
                whole = self.server.added(name, data)
                self.assertEqual(self.rows(self.recording(live)), self.rows(whole))

    def test_a_frame_is_taken_when_the_next_one_begins(self):
        """CARLA writes a frame's duration as -1 and corrects it when the next frame begins."""
        data = carla_log(6)
        frames = [m.start() for m in re.finditer(re.escape(struct.pack('<BI', 0, 24)), data)]
        start = frames[3]
        unpatched = bytearray(data[:start])
        unpatched[frames[2] + 13:frames[2] + 21] = struct.pack('<d', -1)
        self.write('drive.log', unpatched, 'wb')
        process = self.follow('drive.log', '--idle', '6s', '--name', 'drive')
        self.assertTrue(eventually(lambda: self.messages(self.recording('drive')) > 0))
        with open(self.at('drive.log'), 'r+b') as f:
            f.write(data[:start])
            f.write(data[start:])
        self.ended(process)
        self.assertEqual(self.rows(self.recording('drive')), self.rows(self.server.added('drive whole.log', data)))

    def test_a_file_that_does_not_grow_is_complete(self):
        self.write('idle.bag', self.files['a.bag'], 'wb')
        self.ended(self.follow('idle.bag', '--idle', '1s'))
        self.assertEqual(self.messages(self.recording('idle.bag')), len(LAB))

    def test_a_renamed_file_is_complete(self):
        data = self.files['a.bag']
        self.write('run.bag.active', data[:len(data) // 2], 'wb')
        process = self.follow('run.bag.active')
        self.assertTrue(eventually(lambda: self.messages(self.recording('run.bag'))))
        self.write('run.bag.active', data[len(data) // 2:])
        os.rename(self.at('run.bag.active'), self.at('run.bag'))
        self.ended(process)
        done = self.server.get('%s/recordings/%s' % (API, self.recording('run.bag'))).json()
        self.assertEqual((done['state'], done['messages']), ('ready', len(LAB)))

    def test_interrupted(self):
        self.write('cut.bag', self.files['a.bag'], 'wb')
        process = self.follow('cut.bag', '--name', 'interrupted')
        self.assertTrue(eventually(lambda: self.messages(self.recording('interrupted')) == len(LAB)))
        process.send_signal(signal.SIGINT)
        self.ended(process)
        self.assertEqual(self.server.get('%s/recordings/%s' % (API, self.recording('interrupted'))).json()['state'], 'ready')

    def test_an_open_chunk_is_sent_once(self):
        """rosbag writes a chunk's header with a size of 0 and corrects it when the chunk is full."""
        data = self.files['f.bag']
        whole, start = self.server.added('f whole.bag', data), data.index(b'op=\x05')
        size = data.index(b'size=', start) + 5
        length = size + 4 + 0
        open_chunk = data[:size] + b'\0\0\0\0' + data[size + 4:]
        self.write('open.bag.active', open_chunk[:length + 5000], 'wb')
        process = self.follow('open.bag.active', '--name', 'open')
        eventually(lambda: self.messages(self.recording('open')), 1)
        self.write('open.bag.active', data, 'wb')
        os.rename(self.at('open.bag.active'), self.at('open.bag'))
        self.ended(process)
        self.assertEqual(self.rows(self.recording('open')), self.rows(whole))

    def test_mistakes(self):
        for args in (('--follow-file', 'x.bag'), ('--follow-file', 'none.bag', '--to', 'http://127.0.0.1:%d' % self.server.port)):
            done = reel('record', *args, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(b'--follow-file needs --to' if len(args) == 2 else b'none.bag', done.stderr)


if __name__ == '__main__':
    unittest.main()
