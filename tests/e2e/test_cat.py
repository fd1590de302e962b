"""`reel cat`: its styles, and messages by their index; the same indexes over HTTP."""
import base64
import csv
import io
import json
import os
import struct
import subprocess
import tempfile
import unittest
import wave

from harness import API, REEL, Case, reel
from samples import SECOND, T0, Message, bag

COUNT = 40


def text(number):
    body = b'"%d"' % number
    return struct.pack('<I', len(body)) + body


MESSAGES = [Message(T0 + i * SECOND // 4, '/b' if i % 4 == 3 else '/a', text(i), 'std_msgs/String') for i in range(COUNT)]
COMPRESSED_IMAGE = 'std_msgs/Header header\nstring format\nuint8[] data\n' + '=' * 80 + '\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n'
PNG = bytes.fromhex('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000a49444154789c6300010000050001'
                    '0d0a2db40000000049454e44ae426082')


class Cat(Case):
    @classmethod
    def fill(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.file = os.path.join(cls.folder.name, 'run.bag')
        with open(cls.file, 'wb') as f:
            f.write(bag(MESSAGES))
        cls.recording = cls.server.added('run.bag', bag(MESSAGES))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()
        super().tearDownClass()

    def cat(self, *options):
        return reel('cat', self.file, *options).stdout.decode()

    def numbers(self, *options):
        return [int(json.loads(line)['data']['data'].strip('"')) for line in self.cat(*options).splitlines()]

    def remote(self, query):
        rows = self.get('%s/recordings/%s/messages?%s' % (API, self.recording, query)).rows()
        return [int(row['data']['data'].strip('"')) for row in rows if 'topic' in row]

    def test_indexes(self):
        for bounds, expected in (((5, 8), range(5, 8)), ((-3, None), range(37, 40)), ((0, -35), range(5)), ((-10, -8), range(30, 32)), ((39, 99), [39]),
                                 ((-99, 2), range(2)), ((8, 5), []), ((99, None), []), ((0, 0), []), ((None, 3), range(3)), ((-1, -1), [])):
            options = [word for name, bound in zip(('--from-index', '--to-index'), bounds) if bound is not None for word in (name, str(bound))]
            query = '&'.join('%s_index=%d' % (name, bound) for name, bound in zip(('from', 'to'), bounds) if bound is not None)
            with self.subTest(bounds=bounds):
                self.assertEqual(self.numbers(*options), list(expected))
                self.assertEqual(self.remote(query), list(expected))
        odd = [i for i in range(COUNT) if i % 4 == 3]
        self.assertEqual(self.numbers('--topic', '/b', '--from-index', '-3'), odd[-3:])
        self.assertEqual(self.remote('topic=/b&from_index=2&to_index=4'), odd[2:4])
        self.assertEqual(self.numbers('--start', '+5s', '--from-index', '1', '--limit', '2'), [21, 22])
        self.assertEqual(self.remote('every=10&topic=/a&from_index=-1'), [26])
        self.assertEqual(reel('cat', self.file, '--topic', '/a', '--output', 'raw', '--from-index', '2', '--to-index', '3').stdout, text(2))
        path = '%s/recordings/%s/messages?from_index=1' % (API, self.recording)
        for query in ('limit=2', 'offset=1', 'cursor=x', 'follow=true', 'output=parquet'):
            self.assertProblem(self.server.get(path + '&' + query), 400)
        self.assertProblem(self.server.get(path + 'x'), 400, 'from_index')

    def test_lines(self):
        self.assertEqual(self.cat('--output', 'payload', '--to-index', '2'), '{"data":"\\"0\\""}\n{"data":"\\"1\\""}\n')
        row, = [json.loads(line) for line in self.cat('--output', 'meta-data', '--from-index', '-1').splitlines()]
        self.assertEqual({k: row[k] for k in ('index', 'topic', 'type', 'encoding', 'size')},
                         {'index': 39, 'topic': '/b', 'type': 'std_msgs/String', 'encoding': 'ros1', 'size': 8})
        self.assertNotIn('data', row)
        line, = self.cat('--output', 'compact', '--limit', '1').splitlines()
        self.assertEqual(line.split('  ')[1:], ['/a', '7 B', '{"data":"\\"0\\""}'])
        detailed = self.cat('--output', 'detailed', '--from-index', '7', '--limit', '1').splitlines()
        self.assertEqual((detailed[0].split('  ')[0], detailed[0].split('  ')[2]), ('7', '/b'))
        self.assertEqual(json.loads('\n'.join(detailed[6:])), {'data': '"7"'})

    def test_figures(self):
        rows = list(csv.DictReader(io.StringIO(self.cat('--output', 'statistics', '--interval', '2s'))))
        self.assertEqual([int(row['messages']) for row in rows], [8] * 5)
        self.assertEqual((float(rows[0]['messages_per_s']), rows[4]['min_size'], rows[4]['max_size']), (4, '8', '8'))
        sizes = [len(text(i)) for i in range(8)]
        self.assertEqual((float(rows[0]['bytes_per_s']), float(rows[0]['mean_size'])), (sum(sizes) / 2, round(sum(sizes) / 8, 1)))
        rows = list(csv.DictReader(io.StringIO(self.cat('--output', 'monitor', '--interval', '5s'))))
        self.assertEqual([(row['topic'], int(row['messages'])) for row in rows], [('/a', 15), ('/b', 5)] * 2)
        lines = self.cat('--output', 'timeline', '--topic', '/a', '--topic', '/b').splitlines()
        self.assertEqual([(line.split(' |')[0], line.split('| ')[-1]) for line in lines[1:]], [('/a', '30'), ('/b', '10')])
        self.assertEqual([len(line.split('|')[1]) for line in lines[1:]], [60, 60])

    def test_files(self):
        into = os.path.join(self.folder.name, 'files')
        self.assertEqual(self.cat('--output', 'files', '--directory', into, '--from-index', '2', '--to-index', '5'), '')
        self.assertEqual(sorted(os.listdir(into)), ['000002-a.bin', '000003-b.bin', '000004-a.bin'])
        with open(os.path.join(into, '000003-b.bin'), 'rb') as f:
            self.assertEqual(f.read(), text(3))
        again = reel('cat', self.file, '--output', 'files', '--directory', into, '--from-index', '2', '--to-index', '5', check=False)
        self.assertEqual((again.returncode, b'exists' in again.stderr), (1, True))
        image = os.path.join(self.folder.name, 'image.mcap')
        compressed = struct.pack('<4I', 0, 0, 0, 0) + struct.pack('<I', 3) + b'png' + struct.pack('<I', len(PNG)) + PNG
        rows = [{'$channel': {'topic': '/camera/../image', 'type': 'sensor_msgs/CompressedImage', 'encoding': 'ros1', 'schema': COMPRESSED_IMAGE}},
                {'topic': '/camera/../image', 'log_time': T0, 'data': {'$base64': base64.b64encode(compressed).decode()}}]
        reel('record', image, stdin=''.join(json.dumps(row) + '\n' for row in rows).encode())
        reel('cat', image, '--output', 'files', '--directory', into)
        with open(os.path.join(into, '000000-camera-..-image.png'), 'rb') as f:
            self.assertEqual(f.read(), PNG)

    def test_audio(self):
        samples = struct.pack('<800h', *[(i * 37) % 2000 - 1000 for i in range(800)])
        turned = struct.pack('>800h', *struct.unpack('<800h', samples))
        ros = 'uint8[] data\nuint32 channels\nuint32 rate\nstring sample_type\nstring endianness\n'

        def chunk(data, endianness):
            words = [struct.pack('<I', len(w)) + w for w in (data, b'SAMPLE_S16', endianness)]
            return base64.b64encode(words[0] + struct.pack('<2I', 2, 8000) + words[1] + words[2]).decode()
        pieces = [samples[i:i + 400] for i in range(0, len(samples), 400)]
        rows = [{'$channel': {'topic': '/ros', 'type': 'lab_msgs/SoundChunk', 'encoding': 'ros1', 'schema': ros}}]
        rows += [{'topic': '/ros', 'log_time': T0 + i, 'data': {'$base64': chunk(turned[i * 400:i * 400 + 400], b'ENDIAN_BIG')}} for i in range(4)]
        rows += [{'topic': '/json', 'log_time': T0 + i, 'data': {'data': base64.b64encode(piece).decode(), 'format': 'pcm-s16', 'sample_rate': 8000,
                                                                 'number_of_channels': 2}} for i, piece in enumerate(pieces)]
        rows += [{'topic': '/text', 'log_time': T0, 'data': {'x': 1}}]
        path = os.path.join(self.folder.name, 'audio.mcap')
        reel('record', path, stdin=''.join(json.dumps(row) + '\n' for row in rows).encode())
        for topic in ('/ros', '/json'):
            whole = os.path.join(self.folder.name, 'out.wav')
            with open(whole, 'wb') as f:
                subprocess.run([REEL, 'cat', path, '--topic', topic, '--output', 'wav'], stdout=f, check=True)
            with wave.open(whole) as w:
                self.assertEqual((w.getnchannels(), w.getsampwidth(), w.getframerate(), w.readframes(1 << 20)), (2, 2, 8000, samples))
            piped = reel('cat', path, '--topic', topic, '--output', 'wav', '--from-index', '1', '--limit', '2').stdout
            self.assertEqual((piped[4:8], piped[40:44], piped[44:]), (b'\xff' * 4, b'\xff' * 4, samples[400:1200]))
        for options in (['--topic', '/text'], [], ['--topic', '/none']):
            self.assertEqual(reel('cat', path, '--output', 'wav', *options, check=False).returncode, 1)

    def test_mistakes(self):
        for options in (['--from-index', 'x'], ['--output', 'files'], ['--directory', 'x'], ['--output', 'compact', '--channels'],
                        ['--output', 'detailed', '--field', 'data'], ['--output', 'nice'], ['--output', 'payload', '--time-format', 'seconds']):
            self.assertEqual(reel('cat', self.file, *options, check=False).returncode, 2, options)
        for interval in ('0s', 'soon'):
            self.assertEqual(reel('cat', self.file, '--output', 'statistics', '--interval', interval, check=False).returncode, 1)


if __name__ == '__main__':
    unittest.main()
