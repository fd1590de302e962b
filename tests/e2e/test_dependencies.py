"""Types that need other types, each in a TYPE block of its own (TIDE 2.0), over HTTP: decoded values, tables, series, definitions and exports."""
import csv
import io
import struct

from harness import API, Case
from samples import read_mcap

T0 = 1_400_000_000_000_000_000
LINE = '=' * 80 + '\n'
POINT = 'float64 x\nfloat64 y\nfloat64 z\n'
TYPES = {  # hash: syntax, name, definition, hashes of what it needs; a dependency comes before and after what needs it
    b'PT': ('ros1msg', 'geometry_msgs/Point', POINT, []),
    b'WR': ('ros1msg', 'pkg/Wrap', 'geometry_msgs/Point position\n', [b'PT']),
    b'PO': ('ros1msg', 'geometry_msgs/Pose', 'Point position\nQuaternion orientation\n', [b'PT', b'QU']),
    b'QU': ('ros1msg', 'geometry_msgs/Quaternion', POINT + 'float64 w\n', []),
    b'W2': ('ros2msg', 'pkg/msg/Wrap', 'geometry_msgs/Point position\n', [b'P2']),
    b'P2': ('ros2msg', 'geometry_msgs/msg/Point', POINT, []),
    b'PR': ('protobuf-2', 'pkg.Gear', 'package pkg; message Gear { optional int32 number = 1; }', []),
    b'LO': ('ros1msg', 'pkg/Lost', 'pkg/Gone position\n', [b'NO']),  # whose TYPE the file lacks
}
POSITION = {'position': {'x': 1.0, 'y': 2.0, 'z': 3.0}}
CHANNELS = [('/wrap', b'WR', struct.pack('<3d', 1, 2, 3), POSITION),
            ('/pose', b'PO', struct.pack('<7d', 1, 2, 3, 4, 5, 6, 7), {**POSITION, 'orientation': {'x': 4.0, 'y': 5.0, 'z': 6.0, 'w': 7.0}}),
            ('/frames', b'WR PO PR', struct.pack('<3d7d', *range(10)) + b'\x08\x05',
             [{'position': {'x': 0.0, 'y': 1.0, 'z': 2.0}},
              {'position': {'x': 3.0, 'y': 4.0, 'z': 5.0}, 'orientation': {'x': 6.0, 'y': 7.0, 'z': 8.0, 'w': 9.0}}, {'number': 5}]),
            ('/two', b'W2', struct.pack('<4B3d', 0, 1, 0, 0, 1, 2, 3), POSITION)]


def text(value, size):
    value = value.encode() if isinstance(value, str) else value
    return len(value).to_bytes(size, 'little') + value


def block(tag, body):
    return tag + struct.pack('<Q', len(body)) + body


def tide():
    out, entries = block(b'TIDE', b'\2\0'), b''
    channels = CHANNELS + [('/lost', b'LO', struct.pack('<3d', 1, 2, 3), None)]
    for i, (name, own, payload, _) in enumerate(channels):
        out += block(b'CHAN', struct.pack('<I', i) + text(name, 1) + text('', 4) + text('', 4) + bytes([len(own.split())]) + b''.join(text(o, 2) for o in own.split()))
        entries += struct.pack('<IQI', i, T0 + i, len(payload)) + payload
    for key, (syntax, name, definition, needs) in TYPES.items():
        body = text(key, 2) + text(syntax, 1) + text(name, 2) + text('', 2) + text(definition, 4) + b'\0' + struct.pack('<H', len(needs))
        out += block(b'TYPE', body + b''.join(text(n, 2) for n in needs))
    return out + block(b'CHNK', struct.pack('<IIQQB', 0, len(channels), T0, T0 + len(channels) - 1, 0) + entries)


class Dependencies(Case):
    @classmethod
    def fill(cls):
        cls.log = cls.server.added('typed.tide', tide())

    def path(self, rest, number=None):
        return '%s/recordings/%s/%s' % (API, number or self.log, rest)

    def assertValues(self, number):
        for topic, _, _, value in CHANNELS:
            rows = self.get(self.path('messages?topic=' + topic, number), Accept='application/x-ndjson').rows()
            self.assertEqual([r['data'] for r in rows], [value], topic)

    def test_values(self):
        self.assertValues(self.log)

    def test_frames_that_end_early_are_bytes(self):
        log = tide().replace(struct.pack('<3d7d', *range(10)) + b'\x08\x05', struct.pack('<3d7d', *range(10)) + b'\x08\x80')
        row = self.get(self.path('messages?topic=/frames', self.server.added('frames.tide', log)), Accept='application/x-ndjson').rows()[0]
        self.assertEqual((list(row['data']), row['encoding']), (['$base64'], 'frames'))

    def test_a_missing_type_is_named(self):
        row = self.get(self.path('messages?topic=/lost'), Accept='application/x-ndjson').rows()[0]
        self.assertEqual((list(row['data']), row['encoding']), (['$base64'], 'ros1'))  # delivered as bytes
        self.assertProblem(self.server.get(self.path('series?field=/lost.position.x')), 422, 'pkg/Gone', 'pkg/Lost')

    def test_table(self):
        answer = self.get(self.path('messages?topic=/pose'), Accept='text/csv')
        head, row = csv.reader(io.StringIO(answer.body.decode(), newline=''))
        self.assertEqual(head[-7:], ['position.x', 'position.y', 'position.z'] + ['orientation.' + c for c in 'xyzw'])
        self.assertEqual([float(v) for v in row[-7:]], [1, 2, 3, 4, 5, 6, 7])

    def test_series(self):
        rows = list(csv.reader(io.StringIO(self.get(self.path('series?field=/wrap.position.y'), Accept='text/csv').body.decode(), newline='')))
        self.assertIn('2', rows[1])
        rows = list(csv.reader(io.StringIO(self.get(self.path('series?field=/frames.1.orientation.w'), Accept='text/csv').body.decode(), newline='')))
        self.assertIn('9', rows[1])
        paths = [f['path'] for f in self.get(self.path('topics/fields?topic=/frames')).json()['fields']]
        self.assertTrue({'0.position.x', '1.orientation.w', '2.number'} <= set(paths), paths)

    def test_definitions(self):
        topics = {t['name']: t for t in self.get(self.path('topics')).json()['items']}
        for topic, own, _, _ in CHANNELS:
            own = own.split()[0]
            channel = topics[topic]['channels'][0]
            self.assertEqual((channel['schema_name'], channel['type']), (TYPES[own][1], TYPES[own][1]))
            for sid in (topics[topic]['schema_id'], channel['schema_id'], channel['id']):
                self.assertEqual(self.get(self.path('schemas/%s' % sid), Accept='text/plain').body.decode(), TYPES[own][2])

    def test_mcap(self):
        answer = self.get(self.path('as/x.mcap'))
        channels, schemas, _ = read_mcap(answer.body)
        texts = {topic: schemas[schema] for topic, _, schema in channels.values()}
        self.assertEqual(texts['/wrap'], ('pkg/Wrap', 'ros1msg', ('geometry_msgs/Point position\n\n' + LINE + 'MSG: geometry_msgs/Point\n' + POINT).encode()))
        self.assertEqual(texts['/two'], ('pkg/msg/Wrap', 'ros2msg', ('geometry_msgs/Point position\n\n' + LINE + 'MSG: geometry_msgs/Point\n' + POINT).encode()))
        self.assertValues(self.server.added('again.mcap', answer.body))

    def test_bags(self):
        for version in ('1.2', '2.0'):
            answer = self.get(self.path('as/x.bag?version=' + version))
            number = self.server.added('again%s.bag' % version, answer.body)
            self.assertValues(number)
            topics = {t['name']: t['channels'][0] for t in self.get(self.path('topics', number)).json()['items']}
            self.assertEqual(topics['/pose']['schema_hash'], 'e45d45a5a1ce597b249e23fb30fc871f')  # ROS's own
            definition = self.get(self.path('schemas/%s' % topics['/wrap']['schema_id'], number), Accept='text/plain').body.decode()
            self.assertEqual(definition, 'geometry_msgs/Point position\n\n' + LINE + 'MSG: geometry_msgs/Point\n' + POINT)
