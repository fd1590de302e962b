"""`reel convert --rules`: topics and types get other names, fields are renamed, removed, added, or become larger numbers."""
import base64
import hashlib
import io
import json
import os
import struct
import tempfile
import unittest
import urllib.parse
import zipfile

from harness import API, Case, reel
from samples import SECOND, T0, read_bag

LINE = '=' * 80 + '\n'
HEADER1 = 'uint32 seq\ntime stamp\nstring frame_id\n'
POSE = 'float32 x\nint16 y # metres\n'
STATUS1 = ('Header header\n# how bad\nuint8 level\nstring debug\nlab_msgs/Pose[] poses\nPose[2] two\nuint8 OK=0\nint64 last\n' + LINE +
           'MSG: std_msgs/Header\n' + HEADER1 + LINE + 'MSG: lab_msgs/Pose\n' + POSE)
STATUS2 = ('builtin_interfaces/Time stamp\nuint8 level\nstring debug\nPose[] poses\nPose[2] two\nuint8 OK=0\nint64 last\n' + LINE +
           'MSG: lab_msgs/Pose\n' + POSE + LINE + 'MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n')
RULES = {
    'topics': {'/status': '/state'},
    'types': {
        'lab_msgs/Status': {'name': 'new_msgs/State', 'rename': {'level': 'severity'}, 'remove': ['debug'], 'change': {'level': 'int32'},
                            'add': [{'type': 'string', 'name': 'frame', 'value': 'map'}, {'type': 'uint8[3]', 'name': 'rgb', 'value': 7},
                                    {'type': 'float64[]', 'name': 'none'}, {'type': 'lab_msgs/Pose', 'name': 'zero'}, {'type': 'bool', 'name': 'on', 'value': True}]},
        'lab_msgs/Pose': {'change': {'x': 'float64'}, 'add': [{'type': 'int32', 'name': 'z', 'value': -5}]},
    },
}
NEW_POSE1 = 'float64 x\nint16 y\nint32 z\n'


class Ros1:
    """Little-endian, without alignment."""
    nul = b''

    def __init__(self):
        self.data = b''

    def put(self, code, *values):
        for value in values:
            self.data += struct.pack('<' + code, value)
        return self

    def text(self, text):
        self.put('I', len(text) + len(self.nul))
        self.data += text.encode() + self.nul
        return self


class Cdr(Ros1):
    """CDR, version 1: numbers are aligned to their size from the end of the head."""
    nul = b'\0'

    def put(self, code, *values):
        for value in values:
            size = struct.calcsize(code)
            self.data += b'\0' * (-len(self.data) % size) + struct.pack('<' + code, value)
        return self

    def whole(self):
        return b'\0\1\0\0' + self.data


def poses(number):
    return [(i + .5, -i) for i in range(number % 3)], [(number, 1), (2.25, 3)]


def old_payload(number, ros2):
    w = Cdr() if ros2 else Ros1()
    if not ros2:
        w.put('I', number)
    w.put('I', 5, 6)
    if not ros2:
        w.text('base')
    w.put('B', number % 200).text('x' * (number % 5))
    some, two = poses(number)
    w.put('I', len(some))
    for x, y in some + two:
        w.put('f', x).put('h', y)
    w.put('q', -number)
    return w.whole() if ros2 else w.data


def new_payload(number, ros2):
    w = Cdr() if ros2 else Ros1()
    if not ros2:
        w.put('I', number)
    w.put('I', 5, 6)
    if not ros2:
        w.text('base')
    w.put('i', number % 200)
    some, two = poses(number)
    w.put('I', len(some))
    for x, y in some + two:
        w.put('d', x).put('h', y).put('i', -5)
    w.put('q', -number).text('map').put('B', 7, 7, 7).put('I', 0).put('d', 0).put('h', 0).put('i', -5).put('B', 1)
    return w.whole() if ros2 else w.data


def base64_of(data):
    return {'$base64': base64.b64encode(data).decode()}


class Rules(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.rules(RULES)

    def at(self, name):
        return os.path.join(self.folder, name)

    def rules(self, rules):
        with open(self.at('rules.json'), 'w') as f:
            f.write(rules if isinstance(rules, str) else json.dumps(rules))

    def recorded(self, name, ros2, payloads, more=()):
        channel = {'topic': '/status', 'type': 'lab_msgs/msg/Status' if ros2 else 'lab_msgs/Status', 'encoding': 'cdr' if ros2 else 'ros1',
                   'schema': STATUS2 if ros2 else STATUS1, 'schema_encoding': 'ros2msg' if ros2 else 'ros1msg'}
        rows = [{'$channel': channel}, *more]
        rows += [{'topic': '/status', 'log_time': T0 + i * SECOND, 'data': base64_of(p)} for i, p in enumerate(payloads)]
        reel('record', self.at(name), stdin=''.join(json.dumps(row) + '\n' for row in rows).encode())
        return self.at(name)

    def convert(self, path, out, *options, check=True):
        return reel('convert', path, self.at(out), '--rules', self.at('rules.json'), '--force', *options, check=check)

    def rows(self, name, *options):
        return [row for row in map(json.loads, reel('cat', self.at(name), *options).stdout.splitlines()) if 'topic' in row]

    def payloads(self, name):
        return [base64.b64decode(row['data']['$base64']) for row in self.rows(name, '--no-decode')]

    def channels(self, name):
        return [json.loads(line)['$channel'] for line in reel('cat', self.at(name), '--channels').stdout.splitlines() if b'$channel' in line]

    def test_payloads_and_definitions(self):
        for ros2 in (False, True):
            with self.subTest(ros2=ros2):
                path = self.recorded('old%d.mcap' % ros2, ros2, [old_payload(i, ros2) for i in range(40)])
                self.convert(path, 'new.mcap')
                self.assertEqual(self.payloads('new.mcap'), [new_payload(i, ros2) for i in range(40)])
                channel, = self.channels('new.mcap')
                self.assertEqual((channel['topic'], channel['type']), ('/state', 'new_msgs/msg/State' if ros2 else 'new_msgs/State'))
                row = self.rows('new.mcap')[7]['data']
                self.assertNotIn('debug', row)
                self.assertEqual((row['severity'], row['frame'], row['rgb'], row['none'], row['zero'], row['on'], row['last']),
                                 (7, 'map', row['rgb'], [], {'x': 0, 'y': 0, 'z': -5}, True, -7))
                self.assertEqual(row['poses'], [{'x': .5, 'y': 0, 'z': -5}])
                schema = base64.b64decode(channel['schema']['$base64']).decode()
                self.assertIn('# how bad\nint32 severity\nlab_msgs/Pose[] poses\n', schema if not ros2 else '# how bad\n' + schema.split('\n', 1)[1])
                self.assertIn('uint8 OK=0\n', schema)
                self.assertIn(b'clean', reel('check', self.at('new.mcap')).stdout)
                os.unlink(path)

    def test_a_bag_has_the_md5_sum(self):
        path = self.recorded('old.mcap', False, [old_payload(i, False) for i in range(5)])
        self.convert(path, 'new.bag')
        with open(self.at('new.bag'), 'rb') as f:
            data = f.read()
        pose = hashlib.md5(NEW_POSE1.strip().encode()).hexdigest()
        header = '2176decaecbce78abc3b96ef049fabed'  # of std_msgs/Header in every distribution
        text = ('uint8 OK=0\n%s header\nint32 severity\n%s poses\n%s two\nint64 last\nstring frame\nuint8[3] rgb\nfloat64[] none\n%s zero\nbool on'
                % (header, pose, pose, pose))
        self.assertIn(hashlib.md5(text.encode()).hexdigest().encode(), data)
        self.assertEqual(self.payloads('new.bag'), [new_payload(i, False) for i in range(5)])
        self.convert(path, 'cut.bag', '--start', '+2s', '--split', 'duration:2s')
        self.assertEqual(self.payloads('cut_0000.bag'), [new_payload(i, False) for i in (2, 3)])

    def test_both_with_the_other_ros(self):
        self.rules({'types': {'lab_msgs/Pose': {'rename': {'x': 'east'}, 'add': [{'type': 'float64', 'name': 'z', 'value': 2.5}]}}})
        path = self.recorded('old.mcap', False, [old_payload(i, False) for i in range(5)])
        self.convert(path, 'new.mcap', '--ros', '2')
        row = self.rows('new.mcap')[4]
        self.assertEqual(row['data']['poses'], [{'east': .5, 'y': 0, 'z': 2.5}])
        self.assertEqual(self.channels('new.mcap')[0]['encoding'], 'cdr')

    def test_what_does_not_fit(self):
        good = [old_payload(i, False) for i in range(6)]
        path = self.recorded('some.mcap', False, good[:1] + [good[1][:-3]] + good[2:])
        done = self.convert(path, 'new.mcap')
        self.assertEqual(self.payloads('new.mcap'), [new_payload(i, False) for i in (0, 2, 3, 4, 5)])
        self.assertIn(b'1 messages', done.stderr)
        path = self.recorded('none.mcap', False, [b'short'] * 9)
        done = self.convert(path, 'same.mcap')
        self.assertEqual(self.payloads('same.mcap'), [b'short'] * 9)
        self.assertIn(b'do not fit their definition', done.stderr)
        self.assertEqual(self.channels('same.mcap')[0]['type'], 'lab_msgs/Status')
        self.rules({'types': {'no_msgs/Such': {'name': 'no_msgs/Other'}}})
        done = self.convert(path, 'same.mcap')
        self.assertEqual(self.payloads('same.mcap'), [b'short'] * 9)
        self.assertIn(b'no topic has messages with the type no_msgs/Such', done.stderr)
        self.rules(RULES)
        other = [{'topic': '/json', 'log_time': T0, 'data': {'x': 1}}]
        self.convert(self.recorded('more.mcap', False, good, other), 'with.mcap')
        self.assertEqual([row['data'] for row in self.rows('with.mcap', '--topic', '/json')], [{'x': 1}])

    def test_what_cannot_be_done_is_reported(self):
        path = self.recorded('old.mcap', False, [old_payload(i, False) for i in range(3)])
        pose = lambda **rule: {'types': {'lab_msgs/Pose': rule}}
        for rules, why in ((pose(change={'x': 'int64'}), b'larger'), (pose(change={'y': 'uint32'}), b'larger'), (pose(remove=['nothing']), b'no field nothing'),
                           (pose(add=[{'type': 'what_msgs/Ever', 'name': 'w'}]), b'what_msgs/Ever'),
                           (pose(add=[{'type': 'uint8', 'name': 'w', 'value': 256}]), b'cannot have the value'),
                           (pose(add=[{'type': 'int32[]', 'name': 'w', 'value': 1}]), b'cannot have the value')):
            self.rules(rules)
            done = self.convert(path, 'same.mcap', '--report')
            self.assertIn(b'stay as they are', done.stdout, rules)
            self.assertIn(why, done.stdout)
            self.convert(path, 'same.mcap')
            self.assertEqual(self.payloads('same.mcap'), [old_payload(i, False) for i in range(3)])

    def test_over_http(self):
        path = self.recorded('old.mcap', False, [old_payload(i, False) for i in range(9)])
        with open(path, 'rb') as f:
            recording = self.server.added('old.mcap', f.read())
        asked = lambda name, rules, more='': '%s/recordings/%s/as/%s?rules=%s%s' % (API, recording, name, urllib.parse.quote(json.dumps(rules)), more)
        self.convert(path, 'new.mcap')
        answer = self.get(asked('new.mcap', RULES))
        with open(self.at('new.mcap'), 'rb') as f:
            self.assertEqual(answer.body, f.read())
        plain = self.get('%s/recordings/%s/as/new.mcap' % (API, recording))
        other = self.get(asked('new.mcap', {'types': {'lab_msgs/Pose': {'rename': {'x': 'z'}}}}))
        self.assertEqual(len({a.headers['ETag'] for a in (answer, plain, other)}), 3)
        rows = [row for row in self.get(asked('x.ndjson', RULES, '&start=%2B7s&rename=/other:/one')).rows() if 'topic' in row]
        self.assertEqual([(row['topic'], row['data']['severity']) for row in rows], [('/state', 7), ('/state', 8)])
        part = self.get(asked('new.mcap', RULES), 206, Range='bytes=-100').body
        self.assertEqual(part, answer.body[-100:])
        for rules in ([], {'types': {'x': {}}}, {'what': 1}):
            self.assertProblem(self.server.get(asked('new.mcap', rules)), 400, 'rules')
        report = self.get(asked('new.mcap', {'types': {'no_msgs/Such': {}}}, '&report')).json()
        self.assertIn('no_msgs/Such', json.dumps(report))
        archive = self.get('%s/search/export.zip?as=mcap&recording=%s&rules=%s' % (API, recording, urllib.parse.quote(json.dumps(RULES)))).body
        with zipfile.ZipFile(io.BytesIO(archive)) as z:
            self.assertEqual(z.read(z.namelist()[0]), answer.body)

    def test_mistakes(self):
        path = self.recorded('old.mcap', False, [old_payload(0, False)])
        for rules, why in (('{', b'line 1'), ([], b'object'), ({'topic': {}}, b'"topic"'), ({'topics': {'/a': 1}}, b'/a'), ({'types': {'Pose': {}}}, b'Pose'),
                           ({'types': {'a/B': {'name': 'c'}}}, b'package/Type'), ({'types': {'a/B': {'rename': {'x': 'not this'}}}}, b'a/B: x'),
                           ({'types': {'a/B': {'add': [{'name': 'x'}]}}}, b'add'), ({'types': {'a/B': {'remove': {}}}}, b'list'),
                           ({'types': {'a/B': {'add': [{'type': 'int8 x\nint8', 'name': 'y'}]}}}, b'add')):
            self.rules(rules)
            done = self.convert(path, 'new.mcap', check=False)
            self.assertEqual((done.returncode, why in done.stderr), (1, True), done.stderr)
            self.assertFalse(os.path.exists(self.at('new.mcap')))
        self.assertEqual(reel('convert', path, self.at('x.mcap'), '--rules', self.at('absent'), check=False).returncode, 1)


if __name__ == '__main__':
    unittest.main()
