"""Encodings of MCAP's registry that are neither ROS nor JSON: values, fields, series, conditions and columns."""
import csv
import io
import json
import os
import shutil
import struct
import tempfile

from harness import API, Case, reel
from samples import T0

UNIT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'unit', 'formats')


def content(name):
    with open(os.path.join(UNIT, name), 'rb') as f:
        return f.read()


def text(value):
    value = value if isinstance(value, bytes) else value.encode()
    return struct.pack('<I', len(value)) + value


def mcap(topics):
    """topics: {topic: (encoding, schema name, schema, payloads)}, a second between the payloads."""
    out = io.BytesIO()
    out.write(b'\x89MCAP0\r\n')

    def record(op, body):
        out.write(struct.pack('<BQ', op, len(body)) + body)
    record(1, text('') + text(''))
    for i, (topic, (encoding, name, schema, _)) in enumerate(topics.items(), 1):
        if schema:
            record(3, struct.pack('<H', i) + text(name) + text(encoding) + text(schema))
        record(4, struct.pack('<HH', i, i if schema else 0) + text(topic) + text(encoding) + struct.pack('<I', 0))
    for i, (_, _, _, payloads) in enumerate(topics.values(), 1):
        for k, payload in enumerate(payloads):
            record(5, struct.pack('<HIQQ', i, k, T0 + k * 10**9, T0 + k * 10**9) + payload)
    record(15, struct.pack('<I', 0))
    record(2, struct.pack('<QQI', 0, 0, 0))
    return out.getvalue() + b'\x89MCAP0\r\n'


def cbor(i):
    return b'\xa3\x61x\x18' + bytes([30 + i]) + b'\x62at\xc1\x1a' + struct.pack('>I', 1700000000 + i) + b'\x64list\x82\xf9\x3c\x00\xf6'


BUFFERS = [content('flatbuffer/full.bin'), content('flatbuffer/empty.bin')]
MESSAGES = [content('capnproto/full.bin'), content('capnproto/empty.bin')]
TOPICS = {'/cbor': ('cbor', '', b'', [cbor(0), cbor(1)]), '/buffer': ('flatbuffer', 'demo.Root', content('flatbuffer/demo.bfbs'), BUFFERS),
          '/capnp': ('capnproto', 'demo.capnp:Root', content('capnproto/demo.cgr'), MESSAGES)}


class Encodings(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.file = mcap(TOPICS)
        cls.recording = '%s/recordings/%s/' % (API, cls.server.added('encodings.mcap', cls.file))

    def values(self, topic):
        return [row['data'] for row in self.get(self.recording + 'messages?topic=' + topic).rows()]

    def test_values(self):
        self.assertEqual(self.values('/cbor'), [{'x': 30 + i, 'at': '2023-11-14T22:13:2%dZ' % i, 'list': [1, None]} for i in range(2)])
        for topic in ('/buffer', '/capnp'):
            full, empty = self.values(topic)
            self.assertEqual((full['i32'], full['u64'], full['s'], full['d']), (9, '18446744073709551615', 'hé', 0.1))
            self.assertEqual((empty['i32'], empty['f'], empty['c'].lower()), (-5, 1.5, 'blue'))

    def test_fields_and_series(self):
        for topic, path, kind, numbers in (('/cbor', 'x', 'int64', [30, 31]), ('/buffer', 'i32', 'int', [9, -5]), ('/capnp', 'i32', 'int32', [9, -5]),
                                           ('/buffer', 'v.y', 'double', [2]), ('/capnp', 'place.lat', 'float64', [1.5, 0])):
            fields = {f['path']: f for f in self.get(self.recording + 'topics/fields?topic=' + topic).json()['fields']}
            self.assertEqual((fields[path]['type'], fields[path]['numeric']), (kind, True))
            points = self.get(self.recording + 'series?field=%s.%s' % (topic, path)).json()
            self.assertEqual([v for _, v in points], numbers)
        self.assertEqual([v for _, v in self.get(self.recording + 'series?field=/cbor.at.sec').json()], [1700000000, 1700000001])

    def test_conditions(self):
        path = os.path.join(tempfile.mkdtemp(prefix='reel-encodings-'), 'a.mcap')
        self.addCleanup(shutil.rmtree, os.path.dirname(path))
        with open(path, 'wb') as f:
            f.write(self.file)
        for where, count in (('/cbor.x>30', 1), ('/cbor.at>2023-11-14T22:13:20Z', 1), ('/buffer.v.c=Green', 1), ('/buffer.i32<10', 2), ('/capnp.place.kind.land=7', 1),
                             ('/capnp.c=blue', 1)):
            topic = where.split('.')[0]
            rows = [json.loads(line) for line in reel('cat', path, '--topic', topic, '--where', where).stdout.splitlines()]
            self.assertEqual(len(rows), count, where)

    def test_columns(self):
        def table(query):
            answer = self.get(self.recording + 'messages?time_format=nanoseconds&topic=' + query, Accept='text/csv')
            return list(csv.DictReader(io.StringIO(answer.body.decode(), newline='')))
        self.assertEqual([(r['x'], r['at']) for r in table('/cbor&fields=x,at')], [('30', '1700000000000000000'), ('31', '1700000001000000000')])
        self.assertEqual([(r['i32'], r['v.x'], r['t']) for r in table('/buffer')], [('9', '1', '1700000000000000005'), ('-5', '', '')])
        self.assertEqual([(r['i32'], r['two'], r['one'], r['place.lat']) for r in table('/capnp')], [('9', 't', '', '1.5'), ('-5', '', '0', '0')])
        for topic in TOPICS:
            self.assertEqual(self.get(self.recording + 'as/a.parquet?topic=' + topic).body[:4], b'PAR1')
