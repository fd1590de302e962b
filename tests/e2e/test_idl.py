"""Messages in CDR by definitions in OMG IDL: random ones of an independent writer, and what is done with their values."""
import json
import os
import struct
import unittest

from harness import API, Case, reel
from idl_writer import APPENDABLE, FINAL, MUTABLE, idl_of, mcap, message_of, random_top
from samples import SECOND, T0

SCHEMAS = 150
IDL = '''module lab {
  enum Mode { IDLE, @value(4) DRIVE };
  @appendable struct Point { @unit("m") double x; @unit("m") double y; };
  union Reading switch (Mode) { case IDLE: string note; case DRIVE: Point at; };
  const long WHEELS = 2;
  @mutable struct State { @id(1) @key string name; @id(2) Point at; @id(3) @optional float battery; @id(4) Reading reading;
    @id(5) float wheels[WHEELS][2]; @id(6) sequence<Point> path; @id(7) map<string, long> counts; @id(8) Mode mode; };
};'''


def states(n):
    """As XCDR2 with parameters: the battery is there in every other message."""
    def text(s):
        return struct.pack('<I', len(s) + 1) + s.encode() + b'\0'

    def parameter(number, body):
        return struct.pack('<II', 4 << 28 | number, len(body)) + body + bytes(-len(body) % 4)

    def point(x, y):
        return struct.pack('<Idd', 16, x, y)
    for i in range(n):
        reading = struct.pack('<I', 4) + point(i, 2 * i) if i % 2 else struct.pack('<I', 0) + text('idle')
        path = b''.join(point(k, i) for k in range(2))
        body = parameter(1, text('r1')) + parameter(2, point(i / 4, -i)) + (parameter(3, struct.pack('<f', i / 2)) if i % 2 else b'')
        body += parameter(4, struct.pack('<I', len(reading)) + reading) + parameter(5, struct.pack('<4f', i, 1, 2, 3))
        body += parameter(6, struct.pack('<II', 4 + len(path), 2) + path) + parameter(7, struct.pack('<I', 8 + len(text('a')) + 2) +
                                                                                     struct.pack('<I', 1) + text('a') + bytes(2) + struct.pack('<i', i))
        body += parameter(8, struct.pack('<I', 4 * (i % 2)))
        yield T0 + i * SECOND, b'\0\x0b\0\0' + struct.pack('<I', len(body)) + body


class RandomTypes(unittest.TestCase):
    def test_every_value_of_every_layout(self):
        channels, expected = [], {}
        for seed in range(SCHEMAS):
            annotation = (None, FINAL, APPENDABLE, MUTABLE)[seed % 4]
            maker = random_top(seed, annotation)
            for version in 1, 2:
                hows = [annotation] if annotation else [FINAL, MUTABLE] if version == 1 else [FINAL, APPENDABLE, MUTABLE]
                for how in hows:
                    for big in False, True:
                        topic = '/t%d/%d/%s/%s' % (seed, version, how, 'big' if big else 'little')
                        made = [message_of(maker, maker.types[-1], version, how, big) for _ in range(2)]
                        expected[topic] = [v for _, v in made]
                        channels.append((topic, 'm::Top', 'omgidl', idl_of(maker.types), [(T0 + i, p) for i, (p, _) in enumerate(made)]))
        rows = self.rows(mcap(channels))
        wrong = [(t, v, rows[t]) for t, v in expected.items() if rows[t] != v]
        for topic, value, row in wrong[:3]:
            print(topic, next(c[3] for c in channels if c[0] == topic), value, row, sep='\n')
        self.assertEqual([], [w[0] for w in wrong])
        self.assertGreater(len(expected), 4 * SCHEMAS)

    def rows(self, data):
        path = os.path.join(os.environ.get('TMPDIR', '/tmp'), 'reel-idl-%d.mcap' % os.getpid())
        self.addCleanup(os.remove, path)
        with open(path, 'wb') as file:
            file.write(data)
        out = {}
        for line in reel('cat', path).stdout.splitlines():
            row = json.loads(line)
            out.setdefault(row['topic'], []).append(row['data'])
        return out


class Values(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recording = cls.server.added('states.mcap', mcap([('/state', 'lab::State', 'omgidl', IDL, list(states(8)))]))

    def at(self, path):
        return self.get('%s/recordings/%s/%s' % (API, self.recording, path))

    def test_rows(self):
        rows = [r['data'] for r in self.at('messages?topic=/state').rows()]
        self.assertEqual(rows[3], {'name': 'r1', 'at': {'x': 0.75, 'y': -3}, 'battery': 1.5, 'reading': {'at': {'x': 3, 'y': 6}},
                                   'wheels': [[3, 1], [2, 3]], 'path': [{'x': 0, 'y': 3}, {'x': 1, 'y': 3}], 'counts': {'a': 3}, 'mode': 4})
        self.assertEqual((rows[2]['reading'], 'battery' in rows[2]), ({'note': 'idle'}, False))

    def test_fields(self):
        fields = {f['path']: f for f in self.at('topics/fields?topic=/state').json()['fields']}
        self.assertEqual(list(fields), ['name', 'at.x', 'at.y', 'battery', 'reading.note', 'reading.at.x', 'reading.at.y', 'wheels.0.0', 'wheels.0.1',
                                        'wheels.1.0', 'wheels.1.1', 'path', 'counts', 'mode'])
        self.assertEqual((fields['at.x']['unit'], fields['wheels.0.0']['type'], fields['counts']['type']), ('m', 'float32', 'map'))

    def test_where_series_and_statistics(self):
        self.assertEqual([r['data']['at']['x'] for r in self.at('messages?topic=/state&where=/state.reading.at.y>%3D6').rows()], [0.75, 1.25, 1.75])
        self.assertEqual([v for _, v in self.at('series?field=/state.wheels.0.0').json()], list(range(8)))
        self.assertEqual([v for _, v in self.at('series?field=/state.battery').json()], [.5, 1.5, 2.5, 3.5])

    def test_tables(self):
        for output in 'parquet', 'arrows':
            self.assertGreater(len(self.at('as/x.%s?topic=/state' % output).body), 500)
        header = self.get('%s/recordings/%s/messages?topic=/state' % (API, self.recording), Accept='text/csv').body.decode().split('\r\n')[0]
        self.assertIn('reading.at.x', header)

    def test_ros1(self):
        """A type that ROS 1 can express becomes one of ROS 1; another stays as it is, and the report says why."""
        idl = '''module lab { enum Mode { IDLE, DRIVE }; struct Base { long seq; }; typedef double pair[2];
          struct Odom : Base { Mode mode; pair at; sequence<octet> raw; wstring<9> name; builtin_interfaces::msg::Time stamp; };
          struct Maps { map<string, long> m; }; };'''
        payload = b'\0\1\0\0' + struct.pack('<iI2dI2s2xI2s2xiI', 7, 1, .5, 1.5, 2, b'ab', 2, b'x\0', 3, 4)
        data = mcap([('/odom', 'lab::Odom', 'omgidl', idl, [(T0, payload)]), ('/maps', 'lab::Maps', 'omgidl', idl, [(T0 + 1, b'\0\1\0\0' + bytes(4))])])
        recording = self.server.added('odom.mcap', data)
        report = self.get('%s/recordings/%s/as/x.bag?report' % (API, recording)).body.decode()
        self.assertIn('ROS 1 has no maps', report)
        bag = self.server.added('odom.bag', self.get('%s/recordings/%s/as/x.bag' % (API, recording)).body)
        row = self.get('%s/recordings/%s/messages?topic=/odom' % (API, bag)).rows()[0]['data']
        self.assertEqual(row, {'seq': 7, 'mode': 1, 'at': [.5, 1.5], 'raw': {'$base64': 'YWI='}, 'name': 'x', 'stamp': {'sec': 3, 'nsec': 4}})
        again = self.server.added('again.mcap', self.get('%s/recordings/%s/as/x.mcap?ros=2&topic=/odom' % (API, bag)).body)
        row['stamp'] = {'sec': 3, 'nanosec': 4}
        self.assertEqual(self.get('%s/recordings/%s/messages?topic=/odom' % (API, again)).rows()[0]['data'], row)


if __name__ == '__main__':
    unittest.main()
