"""Who took part, from the introspection events of a TIDE log, over HTTP and by `reel tide`."""
import base64
import csv
import io
import json
import os
import struct
import subprocess
import tempfile

from harness import API, REEL, Case, payload
from samples import bag, lab_messages, read_bag

T0, SECOND = 1_400_000_000_000_000_000, 10**9
SCOPE, SCHEMA = '/__rsb/introspection/participants/', '.rsb.protocol.introspection.'


def varint(value):
    out = b''
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def part(number, value):
    """A field: of a number, a text, bytes, or of fields."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def event(payload):
    return part(6, SCOPE) + part(9, payload) + part(108, part(1, bytes(16)) + part(2, 3))


def hello(who, kind, scope, pid, host):
    process = part(1, pid) + part(2, 'camera') + part(3, '-x') + part(3, 'ü') + part(4, T0 // 1000)
    return 0, event(part(1, kind) + part(2, who * 16) + part(4, scope) + part(6, 'inprocess:') + part(7, process) + part(8, part(1, host) + part(2, host)))


def bye(who):
    return 1, event(part(1, who * 16))


def text(value):
    return struct.pack('<I', len(value)) + value.encode()


def block(tag, body):
    return tag + struct.pack('<Q', len(body)) + body


def tide(events):
    out = block(b'TIDE', struct.pack('<BBII', 0, 0, 2, 1))
    for i, name in enumerate(('Hello', 'Bye')):
        topic = SCOPE + ':' + SCHEMA + name
        out += block(b'CHAN', struct.pack('<IB', i, len(topic)) + topic.encode() + text('rsb-event-0.9:' + SCHEMA + name) + text('') + text('') + text(''))
    entries = b''.join(struct.pack('<IQI', channel, T0 + i * SECOND, len(data)) + data for i, (channel, data) in enumerate(events))
    head = struct.pack('<IIQQBI', 0, len(events), T0, T0 + (len(events) - 1) * SECOND, 0, len(entries))
    return out + block(b'CHNK', head + entries)


LOG = tide([hello(b'a', 'listener', '/left/', '11', 'hub'), hello(b'b', 'informer', '/right/', '12', 'hub'), hello(b'c', 'server', '/', '7', 'arm'), bye(b'a'),
            hello(b'b', 'informer', '/right/', '12', 'hub')])


def twins():
    """Two channels of one name, whose messages alternate."""
    out = block(b'TIDE', struct.pack('<BBII', 0, 0, 2, 1))
    for i in (4, 9):
        out += block(b'CHAN', struct.pack('<IB', i, 5) + b'/same' + text('TEXT') + text('') + text('') + text(''))
    entries = b''.join(struct.pack('<IQI', (4, 9)[i % 2], T0 + i * SECOND, 2) + b'm%d' % i for i in range(6))
    return out + block(b'CHNK', struct.pack('<IIQQB', 0, 6, T0, T0 + 5 * SECOND, 0) + entries)


def wrapped(payload):
    """As std_msgs/UInt8MultiArray."""
    return struct.pack('<III', 0, 0, len(payload)) + payload


NOTIFICATION = 'package rsb.protocol; message Notification { }'
RST = {
    '/camera': ('.rst.vision.Image', 'package rst.vision; message Image { required bytes data = 1; required uint32 width = 2; required uint32 height = 3; '
                                     'required uint32 channels = 4; required Depth depth = 5; required ColorMode color_mode = 6; '
                                     'enum Depth { DEPTH_8U = 8; } enum ColorMode { COLOR_GRAYSCALE = 0; COLOR_RGB = 1; COLOR_BGR = 2; } }'),
    '/pose': ('.rst.geometry.Pose', 'package rst.geometry; message Pose { required Translation translation = 1; required Rotation rotation = 2; }\n'
                                    'message Translation { required double x = 1; required double y = 2; required double z = 3; optional string frame_id = 4; }\n'
                                    'message Rotation { required double qw = 1; required double qx = 2; required double qy = 3; required double qz = 4; }'),
    '/laser': ('.rst.vision.LocatedLaserScan', 'package rst.vision; message LocatedLaserScan { repeated float scan_values = 1 [packed = true]; required float scan_angle = 2; '
                                               'optional float scan_angle_start = 3; optional float scan_angle_increment = 4; }'),
    '/text': ('.rst.other.Thing', ''),
}


def doubles(*values):
    return b''.join(varint(i << 3 | 1) + struct.pack('<d', value) for i, value in enumerate(values, 1))


def rst_log():
    """What converters of RST send, with the definitions in the log."""
    out = block(b'TIDE', struct.pack('<BBII', 0, 0, len(RST), 1))
    for i, (scope, (schema, definition)) in enumerate(RST.items()):
        topic = '%s/:%s' % (scope, schema)
        form = NOTIFICATION + ':' + definition if definition else ''
        out += block(b'CHAN', struct.pack('<IB', i, len(topic)) + topic.encode() + text('rsb-event-0.9:' + schema) + text('') + text('') + text(form))
    payloads = [part(1, bytes([255, 0, 0]) * 16 * 16) + part(2, 16) + part(3, 16) + part(4, 3) + part(5, 8) + part(6, 2),
                part(1, doubles(1, 2, 3) + part(4, 'map')) + part(2, doubles(1, 0, 0, 0)),
                part(1, struct.pack('<3f', 1, 2, 4)) + varint(2 << 3 | 5) + struct.pack('<f', 2) + varint(3 << 3 | 5) + struct.pack('<f', -1) +
                varint(4 << 3 | 5) + struct.pack('<f', 0.5), part(1, 7)]
    events = [(i, event(data)) for i, data in enumerate(payloads)]
    entries = b''.join(struct.pack('<IQI', channel, T0 + i * SECOND, len(data)) + data for i, (channel, data) in enumerate(events))
    return out + block(b'CHNK', struct.pack('<IIQQB', 0, len(events), T0, T0 + 3 * SECOND, 0) + entries)


class Tide(Case):
    @classmethod
    def fill(cls):
        cls.twins = cls.server.added('twins.tide', twins())
        cls.log = cls.server.added('lab.tide', LOG)
        cls.bag = cls.server.added('lab.bag', bag(lab_messages(1)))

    def path(self, query='', number=None):
        return '%s/recordings/%s/tide/introspection%s' % (API, number or self.log, query)

    def test_hosts_processes_participants(self):
        answer = self.get(self.path())
        self.assertEqual(answer.headers.get_content_type(), 'application/json')
        hosts = answer.json()['hosts']
        self.assertEqual([(h['hostname'], [(p['id'], [q['scope'] for q in p['participants']]) for p in h['processes']]) for h in hosts],
                         [('arm', [('7', ['/'])]), ('hub', [('11', ['/left/']), ('12', ['/right/'])])])
        left, right = (p['participants'][0] for p in hosts[1]['processes'])
        self.assertEqual(left, {'id': '61616161-6161-6161-6161-616161616161', 'parent': None, 'kind': 'listener', 'scope': '/left/', 'type': None,
                                'transport': ['inprocess:'], 'first_hello': '2014-05-13T16:53:20.000000000Z',
                                'last_hello': '2014-05-13T16:53:20.000000000Z', 'bye': '2014-05-13T16:53:23.000000000Z'})
        self.assertEqual((right['last_hello'], right['bye']), ('2014-05-13T16:53:24.000000000Z', None))
        process = hosts[0]['processes'][0]
        self.assertEqual((process['commandline_arguments'], process['start_time']), (['-x', 'ü'], '2014-05-13T16:53:20.000000000Z'))

    def test_what_viewers_draw(self):
        log = self.server.added('rst.tide', rst_log())
        path = '%s/recordings/%s' % (API, log)
        rows = [json.loads(line) for line in self.get(path + '/as/x.ndjson?view=foxglove').body.splitlines()]
        drawn = {row['topic']: row['data'] for row in rows}
        topics = ['/view%s/:%s' % (scope, RST[scope][0]) for scope in ('/camera', '/pose', '/laser')]
        self.assertEqual(sorted(drawn), sorted(topics + ['/text/:.rst.other.Thing']))
        image, pose, scan = (drawn[topic] for topic in topics)
        self.assertEqual((image['width'], image['height'], image['encoding'], image['step'], image['timestamp']), (16, 16, 'bgr8', 48, {'sec': T0 // SECOND, 'nsec': 0}))
        self.assertEqual(base64.b64decode(image['data']), bytes([255, 0, 0]) * 256)
        self.assertEqual((pose['frame_id'], pose['poses']), ('map', [{'position': {'x': 1, 'y': 2, 'z': 3}, 'orientation': {'x': 0, 'y': 0, 'z': 0, 'w': 1}}]))
        self.assertEqual((scan['frame_id'], scan['start_angle'], scan['end_angle'], scan['ranges'], scan['intensities']), ('rsb', -1, 0, [1, 2, 4], []))
        mcap = self.get(path + '/as/x.mcap?view=foxglove&compression=none').body
        for schema in (b'foxglove.RawImage', b'foxglove.PosesInFrame', b'foxglove.LaserScan'):
            self.assertIn(schema, mcap)
        self.assertEqual(self.get(path + '/thumbnail').headers.get_content_maintype(), 'image')
        self.assertEqual(self.get(path + '/frame?topic=' + '/camera/:.rst.vision.Image').headers.get_content_maintype(), 'image')
        self.assertIn(b'.png', self.get(path + '/as/x.images.zip?topic=/camera/*').body)

    def test_of_an_interval(self):
        self.assertEqual([h['hostname'] for h in self.get(self.path('?start=%2B2s&end=%2B4s')).json()['hosts']], ['arm'])

    def test_others_have_none(self):
        self.assertProblem(self.server.get(self.path('', self.bag)), 422, 'RSB')
        self.assertProblem(self.server.get(self.path('?topic=/x')), 400, 'topic')

    def test_channels_of_one_name_are_told_apart(self):
        base = '%s/recordings/%s/' % (API, self.twins)
        ids = {c['metadata']['tide.id']: c['id'] for c in self.get(base + 'topics').json()['items'][0]['channels']}
        self.assertEqual(sorted(ids), ['4', '9'])
        for file_id, want in (('4', [b'm0', b'm2', b'm4']), ('9', [b'm1', b'm3', b'm5'])):
            query = '?channel=%d' % ids[file_id]
            self.assertEqual([payload(r) for r in self.get(base + 'messages' + query + '&decode=none').rows()], want)
            self.assertEqual([payload(r) for r in self.get(base + 'play' + query + '&decode=none&speed=max').rows() if 'topic' in r], want)
            self.assertEqual(self.get(base + 'message' + query + '&index=1', Accept='application/octet-stream').body, want[1])
            self.assertEqual(self.get(base + 'message' + query + '&at=%2B2500ms', Accept='application/octet-stream').body, want[0] if file_id == '9' else want[1])
            self.assertEqual([m.payload for m in read_bag(self.get(base + 'as/x.bag' + query + '&version=1.2').body)], [wrapped(w) for w in want])
        tags = {self.get(base + 'as/x.mcap' + q).headers['ETag'] for q in ('', '?channel=0', '?channel=1', '?channel=0&channel=1')}
        self.assertEqual(len(tags), 4)
        self.assertEqual(len(self.get(base + 'messages?channel=0&channel=1').rows()), 6)
        self.assertEqual(self.get(base + 'messages?channel=0&topic=/other').rows(), [])
        self.assertEqual(self.get(base + 'messages?channel=2').headers['X-Matched'], '0')
        self.assertProblem(self.server.get(base + 'messages?channel=/same'), 400, 'channel')
        self.assertProblem(self.server.get('%s/merge/as/x.mcap?recording=%s&recording=%s&channel=0' % (API, self.twins, self.bag)), 400, 'one recording')
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, 'twins.tide')
            with open(file, 'wb') as f:
                f.write(twins())

            def cat(*words):
                return subprocess.run([REEL, 'cat', file, '--no-decode', *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual([payload(json.loads(line)) for line in cat('--channel', '1').stdout.splitlines()], [b'm1', b'm3', b'm5'])
            self.assertEqual(len(cat('--channel', '1', '--channel', '0').stdout.splitlines()), 6)
            self.assertIn(b'--channel /same', cat('--channel', '/same').stderr)

    def test_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, 'lab.tide')
            with open(file, 'wb') as f:
                f.write(LOG)

            def ask(*words, code=0):
                done = subprocess.run([REEL, 'tide', *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, code, done.stderr)
                return done.stdout
            self.assertEqual(json.loads(ask('introspection', file)), self.get(self.path()).json())
            self.assertEqual(len(json.loads(ask('introspection', file, '--start', '+2s', '--end', '+4s'))['hosts']), 1)
            rows = list(csv.DictReader(io.StringIO(ask('channels', file).decode(), newline='')))
            self.assertEqual([(r['scope'], r['messages']) for r in rows], [(SCOPE, '4'), (SCOPE, '1')])
            ask('participants', file, code=2)
            ask('channels', file, '--start', '+1s', code=2)
