"""Decoded messages of NanoVer, MessagePack, JSON and protobuf, compared value by value with Python's own readers: msgpack, json, google.protobuf with
definitions compiled by protoc."""
import base64
import io
import json
import math
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
import zipfile

from harness import reel
from real_samples import SAMPLES, golden, needs_samples
from samples import nanover, nanover_messages

PACKED = {'particle.positions': ('f', 3), 'particle.velocities': ('f', 3), 'particle.forces': ('f', 3), 'particle.forces.system': ('f', 3),
          'particle.elements': ('B', 1), 'particle.colors': ('B', 4), 'particle.residues': ('I', 1), 'residue.chains': ('I', 1),
          'bond.pairs': ('I', 2), 'bond.orders': ('B', 1), 'system.box.vectors': ('f', 3), 'forces.user.index': ('I', 1),
          'forces.user.sparse': ('f', 3)}


def single(value):
    return struct.unpack('<f', struct.pack('<f', value))[0]


def same(ours, theirs):
    """Floats of 32 bits are written with fewer digits: compared as what they are. What JSON has no number for is text."""
    if isinstance(theirs, dict):
        return isinstance(ours, dict) and set(ours) == set(theirs) and all(same(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(same(a, b) for a, b in zip(ours, theirs))
    if isinstance(theirs, bytes):
        return ours == {'$base64': base64.b64encode(theirs).decode()}
    if isinstance(theirs, float) and not math.isfinite(theirs):
        return ours == ('NaN' if theirs != theirs else 'Infinity' if theirs > 0 else '-Infinity')
    if isinstance(theirs, int) and not isinstance(theirs, bool) and abs(theirs) > 1 << 53:
        return ours == str(theirs)
    if isinstance(theirs, float) and not isinstance(ours, (str, bool)):
        return ours == theirs or single(ours) == theirs
    return isinstance(ours, bool) == isinstance(theirs, bool) and ours == theirs


def decoded_rows(path, *args):
    return [json.loads(line) for line in reel('cat', path, *args).stdout.splitlines()]


def raw(rows):
    return [base64.b64decode(row['data']['$base64']) for row in rows]


def rows_of(values, columns):
    return [values[i:i + columns] for i in range(0, len(values), columns)] if columns > 1 and not any(isinstance(v, list) for v in values) else values


def frame_plain(frame):
    out = dict(frame)
    for key, (kind, columns) in PACKED.items():
        if isinstance(out.get(key), bytes):
            data = out[key]
            out[key] = rows_of(list(struct.unpack('<%d%s' % (len(data) // struct.calcsize(kind), kind), data)), columns)
        elif isinstance(out.get(key), list):
            out[key] = rows_of(out[key], columns)
    return out


def mcap(encoding, schema, messages):
    """One channel, as plain as MCAP gets. schema: (name, encoding, data) or None."""
    out = io.BytesIO(b'')

    def record(op, body):
        out.write(struct.pack('<BQ', op, len(body)) + body)

    def text(value):
        value = value if isinstance(value, bytes) else value.encode()
        return struct.pack('<I', len(value)) + value
    out.write(b'\x89MCAP0\r\n')
    record(1, text('') + text(''))
    if schema:
        record(3, struct.pack('<H', 1) + b''.join(text(part) for part in schema))
    record(4, struct.pack('<HH', 1, 1 if schema else 0) + text('/a') + text(encoding) + struct.pack('<I', 0))
    for i, message in enumerate(messages):
        record(5, struct.pack('<HIQQ', 1, i, i * 1000, i * 1000) + message)
    record(15, struct.pack('<I', 0))
    record(2, struct.pack('<QQI', 0, 0, 0))
    return out.getvalue() + b'\x89MCAP0\r\n'


class Decoding(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-peers-')
        self.addCleanup(shutil.rmtree, self.folder)

    def decoded(self, encoding, schema, messages):
        path = os.path.join(self.folder, 'a.mcap')
        with open(path, 'wb') as f:
            f.write(mcap(encoding, schema, messages))
        return [row['data'] for row in decoded_rows(path)]

    def assert_same(self, ours, theirs):
        self.assertEqual(len(ours), len(theirs))
        for i, (a, b) in enumerate(zip(ours, theirs)):
            self.assertTrue(same(a, b), 'message %d: %.500s instead of %.500s' % (i, a, b))


class Values(Decoding):
    def check_nanover(self, path):
        """Our messages, which are what msgpack decodes."""
        import msgpack
        with zipfile.ZipFile(path) as archive:
            body, index = archive.read('messages.msgpack'), msgpack.unpackb(archive.read('index.msgpack'))
        theirs = [msgpack.unpackb(body[e['offset']:e['offset'] + e['length']]) for e in index]
        for message in theirs:
            if 'frame' in message:
                message['frame'] = frame_plain(message['frame'])
        ours = [row['data'] for row in decoded_rows(path)]
        self.assert_same(ours, theirs)
        return ours

    def test_nanover(self):
        made = os.path.join(self.folder, 'made.nanover.zip')
        with open(made, 'wb') as f:
            f.write(nanover(nanover_messages()))
        for path in (made, golden('nanover/frame_and_state'), golden('nanover/command')):
            with self.subTest(path):
                self.assertGreater(len(self.check_nanover(path)), 0)

    @needs_samples(10)
    def test_nanover_samples(self):
        folder = os.path.join(SAMPLES, 'nanover')
        with open(os.path.join(folder, 'truth.json')) as f:
            truths = json.load(f)
        for name, truth in truths.items():
            with self.subTest(name):
                self.check_probes(self.check_nanover(os.path.join(folder, name)), truth['probes'])

    def check_probes(self, messages, probes):
        """truth.json was made by NanoVer's own reader: what a frame is after a few of the messages."""
        frame, by_entry = {}, {probe['entry']: probe for probe in probes}
        for i, message in enumerate(messages):
            update = message.get('frame', {})
            frame = {**({} if update.get('frame.index') == 0 else frame), **update}
            probe = by_entry.get(i)
            if probe and probe['positions_sum'] is not None:
                total = sum(single(v) for row in frame['particle.positions'] for v in row)
                self.assertAlmostEqual(total, probe['positions_sum'], delta=1e-6)
            if probe and probe['potential'] is not None:
                self.assertAlmostEqual(frame['energy.potential'], probe['potential'], delta=1e-6)
                self.assertEqual(len(frame['bond.pairs']), probe['bond_pairs'])

    @needs_samples(4)
    def test_nanover_of_the_older_form(self):
        folder = os.path.join(SAMPLES, 'nanover_legacy')
        with open(os.path.join(folder, 'truth.json')) as f:
            truths = json.load(f)
        for name, truth in truths.items():
            ours = [row['data'] for row in decoded_rows(os.path.join(folder, name))]
            self.assertEqual(len(ours), truth['entries'])
            if name.endswith('.traj'):
                total = math.fsum(single(v) for m in ours for row in m['frame'].get('particle.positions', []) for v in row)
                self.assertAlmostEqual(total, truth['sum_of_all_positions'], delta=1e-6)
            else:
                self.assertEqual(sum(len(m['state']['removals']) for m in ours), truth['state_removals'])

    @needs_samples(1)
    def test_json_sample(self):
        path = os.path.join(SAMPLES, 'mcap/demo_json_lz4.mcap')
        self.assert_same([row['data'] for row in decoded_rows(path)], [json.loads(data) for data in raw(decoded_rows(path, '--no-decode'))])

    def test_json(self):
        odd = [{'a': [1, -1, 2**63, -2**63, 2**64 - 1, 0.1, 1e300, -1.5e-7, True, None, {}, []],
                'ä"\\\n': '😀\u0001\u2028'}, [float('nan'), float('inf')], 'x', 7]
        for ascii_only in (True, False):
            self.assert_same(self.decoded('json', None, [json.dumps(v, ensure_ascii=ascii_only).encode() for v in odd]), odd)

    def test_msgpack(self):
        import msgpack
        odd = [{'a': [1, -1, 127, 128, -32, -33, 65536, 2**63, -2**63, 2**64 - 1, 0.1, True, None, {}, [], b'\x00\xff'], 'ü' * 300: 'x' * 70000},
               list(range(-300, 70000, 331)), float('-inf'), 'x', {'k%d' % i: i for i in range(20)}]
        self.assert_same(self.decoded('msgpack', None, [msgpack.packb(v) for v in odd]), odd)
        self.assert_same(self.decoded('msgpack', None, [msgpack.packb(0.1, use_single_float=True), msgpack.packb({1: 2, None: 3}),
                                                        msgpack.packb(msgpack.ExtType(5, b'ab')), msgpack.packb(msgpack.Timestamp(1, 5))]),
                         [0.1, {'1': 2, 'null': 3}, {'$ext': 5, 'data': b'ab'}, '1970-01-01T00:00:01.000000005Z'])


PROTO = '''syntax = "proto3"; package demo; import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto";
enum Mode { IDLE = 0; RUN = 1; }
message Point { double x = 1; double y = 2; float z = 3; }
message Everything {
  google.protobuf.Timestamp stamp = 1; google.protobuf.Duration took = 2; string name = 3;
  bytes data = 4; bool on = 5; Mode mode = 6; repeated Mode modes = 7;
  int32 a = 8; int64 b = 9; uint32 c = 10; uint64 d = 11; sint32 e = 12; sint64 f = 13; fixed32 g = 14; fixed64 h = 15;
  sfixed32 i = 16; sfixed64 j = 17;
  repeated float floats = 18; repeated double doubles = 19; repeated int32 ints = 20; repeated sint64 longs = 21 [packed = false];
  repeated Point points = 22;
  map<string, int32> counts = 23; map<int32, Point> places = 24; oneof which { string text = 25; Point point = 26; } optional int32 maybe = 27;
  Everything inner = 28; repeated bool flags = 29; repeated string names = 30;
  message Late { int32 n = 1; } Late late = 2000;
}
'''


KNOWN = '''syntax = "proto3"; package demo;
import "google/protobuf/any.proto"; import "google/protobuf/duration.proto"; import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto"; import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
message Everything {
  google.protobuf.Timestamp at = 1; google.protobuf.Duration took = 2; google.protobuf.FieldMask mask = 3; google.protobuf.Any any = 4;
  google.protobuf.Struct object = 5; google.protobuf.Value any_value = 6; google.protobuf.ListValue list = 7;
  google.protobuf.DoubleValue d = 8; google.protobuf.FloatValue f = 9; google.protobuf.Int64Value i = 10; google.protobuf.UInt64Value u = 11;
  google.protobuf.Int32Value j = 12; google.protobuf.UInt32Value k = 13; google.protobuf.BoolValue b = 14; google.protobuf.StringValue s = 15;
  google.protobuf.BytesValue raw = 16; repeated google.protobuf.DoubleValue ds = 17; map<string, google.protobuf.Value> values = 18;
  repeated google.protobuf.Timestamp times = 19; string own = 20;
}
'''
GROUPS = '''syntax = "proto2"; package demo;
message Everything {
  optional group Result = 1 { optional string url = 2; repeated group Part = 3 { optional int32 n = 4; } }
  repeated group Many = 5 { optional int32 x = 6; }
  oneof which { Everything inner = 7; string text = 8; int32 number = 9; } optional int32 after = 10; optional Everything self = 11;
  extensions 100 to 200;
}
'''


class Protobuf(Decoding):
    def definition(self, text=PROTO):
        """The message class and its FileDescriptorSet, as protoc makes them."""
        if not shutil.which('protoc'):
            self.skipTest('protoc is not installed')
        try:
            from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
        except ImportError as e:
            self.skipTest(str(e))
        with open(os.path.join(self.folder, 'demo.proto'), 'w') as f:
            f.write(text)
        out = os.path.join(self.folder, 'demo.set')
        subprocess.run(['protoc', '-I' + self.folder, '--include_imports', '-o' + out, 'demo.proto'], check=True)
        with open(out, 'rb') as f:
            data = f.read()
        pool = descriptor_pool.DescriptorPool()
        for file in descriptor_pb2.FileDescriptorSet.FromString(data).file:
            pool.Add(file)
        self.pool = pool
        return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName('demo.Everything')), data

    def plain(self, message):
        out = {}
        for field in message.DESCRIPTOR.fields:
            value = getattr(message, field.name)
            if field.message_type and field.message_type.GetOptions().map_entry:
                of = field.message_type.fields_by_name['value']
                out[field.name] = {str(k): self.one(of, v) for k, v in value.items()}
            elif field.label == field.LABEL_REPEATED:
                out[field.name] = [self.one(field, v) for v in value]
            elif message.HasField(field.name) if field.has_presence else True:
                out[field.name] = self.one(field, value)
        return out

    def one(self, field, value):
        if field.enum_type:
            found = field.enum_type.values_by_number.get(value)
            return found.name if found else value
        if not field.message_type:
            return value
        name = field.message_type.full_name
        if name.startswith('google.protobuf.') and name.endswith('Value') and name not in ('google.protobuf.Value', 'google.protobuf.ListValue'):
            return value.value  # 64 bits and bytes are shown in our way
        if name.startswith('google.protobuf.'):
            from google.protobuf import json_format
            return json_format.MessageToDict(value, preserving_proto_field_name=True, descriptor_pool=self.pool)
        return self.plain(value)

    def messages(self, kind):
        yield kind()
        m = kind(name='ä', data=b'\x00\xff', on=True, mode=1, modes=[0, 1, 5], a=-1, b=-2**63, c=2**32 - 1, d=2**64 - 1, e=-2**31,
                 f=-2**63, g=7, h=2**63, i=-5, j=-2**40, floats=[0.1, float('nan'), -2],
                 doubles=[0.1, float('inf')], ints=[1, -1, 300], longs=[-1, 2**62], flags=[True, False],
                 names=['', 'x'], maybe=0)
        m.stamp.seconds, m.stamp.nanos, m.took.seconds, m.took.nanos = 1700000000, 5, -1, -500
        m.points.add(x=1)
        m.points.add()
        m.counts.update({'': 0, 'one': 1})
        m.places[-7].y = 2.5
        m.point.z = 0.3
        m.inner.inner.text = 'deep'
        m.late.n = 3
        yield m
        yield kind(text='')

    def test_every_type(self):
        kind, definition = self.definition()
        messages = list(self.messages(kind))
        ours = self.decoded('protobuf', ('demo.Everything', 'protobuf', definition), [m.SerializeToString() for m in messages])
        self.assert_same(ours, [self.plain(m) for m in messages])
        self.assertEqual(list(ours[1])[:3], ['stamp', 'took', 'name'])

    def test_messages_put_together(self):
        """The bytes of two messages back to back are one: lists go on, and of single values the later counts."""
        kind, definition = self.definition()
        parts = [kind(a=1, ints=[1, 2], names=['x'], floats=[1]), kind(a=2, ints=[3], names=['y'], floats=[2])]
        data = b''.join(m.SerializeToString() for m in parts)
        self.assert_same(self.decoded('protobuf', ('demo.Everything', 'protobuf', definition), [data]), [self.plain(kind.FromString(data))])

    def known(self, kind):
        messages = [kind(), kind(own='x')]
        m = kind(own='y')
        m.at.FromJsonString('2023-11-14T22:13:20.005Z')
        m.took.FromJsonString('-1.5s')
        m.mask.paths.extend(['user.display_name', 'photo'])
        m.any.Pack(messages[1])
        m.object.update({'n': 1.5, 'none': None, 'in': {'t': 'x', 'l': [1, [2], {}]}, 'yes': True})
        m.any_value.string_value = 'v'
        m.list.extend([1, None, 'x', {'a': []}])
        m.d.value, m.f.value, m.i.value, m.u.value, m.j.value, m.k.value = 0.1, -0.5, -2**62, 2**64 - 1, -5, 7
        m.b.value, m.s.value, m.raw.value = True, 'ü', b'\x00\xff'
        m.ds.add(value=1)
        m.ds.add()
        m.values['a'].number_value = 2
        m.values['b'].null_value = 0
        m.times.add(seconds=-62135596800)
        m.times.add(seconds=253402300799, nanos=999999999)
        messages.append(m)
        of_known = kind()
        of_known.any.Pack(m.took)
        messages.append(of_known)
        empty = kind()
        for name in ('at', 'took', 'mask', 'any', 'object', 'list', 'd', 'i', 'b', 's', 'raw'):
            getattr(empty, name).SetInParent()
        messages.append(empty)
        return messages

    def test_well_known_types(self):
        kind, definition = self.definition(KNOWN)
        messages = self.known(kind)
        ours = self.decoded('protobuf', ('demo.Everything', 'protobuf', definition), [m.SerializeToString() for m in messages])
        theirs = [self.plain(m) for m in messages]
        theirs[2]['any'].update({'ds': [], 'times': [], 'values': {}})  # which MessageToDict leaves out
        theirs[4]['any'] = {'type_url': '', 'value': b''}  # which is {} there
        self.assert_same(ours, theirs)

    def test_groups_and_oneofs(self):
        kind, definition = self.definition(GROUPS)
        part = kind()
        part.result.url = 'u'
        part.result.part.add(n=1)
        part.result.part.add()
        part.many.add(x=1)
        part.after, part.inner.after = 8, 1
        other = kind(text='x')
        other.result.part.add(n=3)
        other.self.number = 4
        third = kind()
        third.inner.self.after = 2
        third.self.after = 6
        datas = [b''.join(m.SerializeToString() for m in parts) for parts in ([part], [part, other], [part, other, third], [part, third], [other, part, part])]
        ours = self.decoded('protobuf', ('demo.Everything', 'protobuf', definition), datas)
        self.assert_same(ours, [self.plain(kind.FromString(data)) for data in datas])
