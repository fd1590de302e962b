"""Parquet and Arrow in readers that are not ours (table_check.mjs): hyparquet, DuckDB, parquet-wasm and apache-arrow, each value equal to the NDJSON: topics of
real samples, shapes that tables find hard, reports; and one column of a file read over HTTP by ranges."""
import collections
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
import urllib.request

import peer_values
from harness import API, Server, reel
from peer_mcap import HERE, prepare
from peer_values import mcap
from real_samples import SAMPLES, needs_samples

EVERY = 1 if os.environ.get('REEL_TESTS_LONG') else 24  # of the topics of the samples one in so many is tried
FOLDERS = ('carla', 'mira', 'mcap', 'nanover', 'nanover_legacy', 'rosbag1', 'rosbag2', 'rosbag2.0', 'tide')
ENDINGS = ('.bag', '.zip', '.tape', '.tide', '.log', '.rec', '.mcap', '.db3', '.traj', '.state')


def topics():
    """(name, path, topic) of all samples that can be read."""
    for folder in FOLDERS:
        for base, _, names in sorted(os.walk(os.path.join(SAMPLES, folder))):
            for name in sorted(n for n in names if n.endswith(ENDINGS)):
                path = os.path.join(base, name)
                for topic in json.loads(reel('info', path, '--json', check=False).stdout or '{"topics":[]}')['topics']:
                    yield '%s %s' % (name, topic['name']), path, topic['name']


def deep(n):
    return {'a': deep(n - 1)} if n else 1


# JSON messages of one topic each: what a table of them has to hold.
SHAPES = {
    'kinds': [{'i': 1, 'f': 1.5, 't': 'x', 'b': True, 'n': None, 'l': [1, 2], 'o': {'p': [{'q': 1}, {'q': 2}]}}] * 3,
    'nulls': [{'a': None}, {}, {'a': 1}, {'a': None, 'b': []}, {'b': [None, 1]}, {'b': None}],
    'mixed': [{'a': 1}, {'a': 'text'}, {'a': {'b': 1}}, {'a': [1]}, {'a': None}],
    'numbers': [{'a': 1, 'b': 2 ** 63, 'c': -1, 'd': 2 ** 60}, {'a': 0.5, 'b': 1, 'c': 2 ** 63, 'd': 0.5}],
    'lists': [{'a': [[1, 2], [], [3]]}, {'a': []}, {'a': [[]]}, {'a': None}, {}, {'a': [[], [4]]}],
    'structs': [{'a': {'b': {'c': 1}}}, {'a': {'b': {}}}, {'a': {}}, {}, {'a': {'b': {'c': None}}}],
    'list of structs': [{'a': [{'b': [{'c': 'x'}, {}]}, {'b': []}, {}]}, {'a': [{'b': [{'c': None}]}]}],
    'empty': [{}, {'a': {}, 'b': [], 'c': None}, {'b': [[]]}],
    'deep': [deep(20), deep(3), deep(17)],
    'a map': [{'m': {'key%d' % k: k for k in range(i, i + 3)}} for i in range(200)],
    'many columns': [{'c%d' % k: k for k in range(3000)}, {'c1': 1}],
    'no map': [1, 2.5, 3],
    'several roots': [1, [2], {'three': 3}, 'four', None],
    'texts': [{'a': 'caf\u00e9 \u6f22\U0001f600 \0 "'}, {'a': ''}, {'a': 'x' * 100}, {'a': '\u00ff' * 50}],
    'repeats': [{'state': 'walking' if i % 3 else 'standing', 'i': i} for i in range(1000)],
    'not finite': [{'a': float('nan')}, {'a': float('inf')}, {'a': -0.0}, {'a': -float('inf')}],
}
ROS = {
    'texts that are not UTF-8': ('string a\n', [b'\x03\0\0\0a\xffb', b'\0\0\0\0', b'\x02\0\0\0\xc3\xa9']),
    'damaged payloads': ('uint32 a\nstring b\n', [struct.pack('<II', 1, 1) + b'x', b'\1\2\3', struct.pack('<II', 2, 0)]),
    'nothing': ('', [b'', b'']),
    'arrays': ('float64[3] a\nuint8[] b\nbool[] c\nint8[2] d\nduration[] e\ntime f\n',
               [struct.pack('<3dI2sI2BbbIiiII', 1, -0.0, float('nan'), 2, b'xy', 2, 1, 0, -1, 5, 1, -1, -5, 1700000000, 999999999),
                struct.pack('<3dIIbbIII', 0, 1, 2, 0, 0, 3, 4, 0, 0, 0)]),
}


class Tables(unittest.TestCase):
    def setUp(self):
        missing = prepare()
        if missing:
            self.skipTest(missing)
        self.folder = tempfile.mkdtemp(prefix='reel-peers-')
        self.addCleanup(shutil.rmtree, self.folder)

    def made(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, 'wb') as f:
            f.write(content)
        return path

    def table(self, name, path, topic, *args):
        """The messages as NDJSON and as tables."""
        base = os.path.join(self.folder, str(len(os.listdir(self.folder))))
        with open(base + '.ndjson', 'wb') as f:
            f.write(reel('cat', path, '--topic', topic, '--time-format', 'nanoseconds').stdout)
        for ending in ('.parquet', '.arrows'):
            reel('convert', path, base + ending, '--topic', topic, *(args if ending == '.parquet' else ()))
        return {'name': name, 'ndjson': base + '.ndjson', 'parquet': base + '.parquet', 'arrows': base + '.arrows'}

    def check(self, tables):
        """Returns how many values were compared."""
        self.assertTrue(tables)
        done = self.readers(tables)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr).decode()[-4000:])
        return int(done.stdout.split()[-2])

    def readers(self, tables):
        listed = self.made('list.json', json.dumps(tables).encode())
        return subprocess.run(['node', os.path.join(HERE, 'table_check.mjs'), listed], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    @needs_samples(60)
    def test_topics_of_samples(self):
        picked = [t for i, t in enumerate(topics()) if i % EVERY == 0]
        values = self.check([self.table(*t) for t in picked])
        self.assertGreater(values, 20000)

    def test_shapes(self):
        tables = [self.table(name, self.made(name + '.mcap', mcap('json', None, [json.dumps(m).encode() for m in messages])), '/a')
                  for name, messages in SHAPES.items()]
        for name, (definition, messages) in ROS.items():
            schema = ('a/B', 'ros1msg', definition)
            tables.append(self.table(name, self.made(name + '.mcap', mcap('ros1', schema, messages)), '/a'))
        self.check(tables)

    def test_compressions(self):
        path = self.made('a.mcap', mcap('json', None, [json.dumps(m).encode() for m in SHAPES['repeats']]))
        self.check([self.table(c, path, '/a', '--compression', c) for c in ('zstd', 'lz4_raw', 'none')])

    def test_protobuf(self):
        kind, definition = peer_values.Protobuf.definition(self)
        messages = [m.SerializeToString() for m in peer_values.Protobuf.messages(self, kind)]
        messages.append(b'\xf8\x3f\x05')  # a field that the definition lacks
        path = self.made('a.mcap', mcap('protobuf', ('demo.Everything', 'protobuf', definition), messages))
        kind, definition = peer_values.Protobuf.definition(self, peer_values.KNOWN)
        messages = [m.SerializeToString() for m in peer_values.Protobuf.known(self, kind)]
        known = self.made('known.mcap', mcap('protobuf', ('demo.Everything', 'protobuf', definition), messages))
        self.check([self.table('protobuf', path, '/a'), self.table('known', known, '/a')])

    def test_a_difference_is_found(self):
        table = self.table('a', self.made('a.mcap', mcap('json', None, [b'{"a":1}', b'{"a":2}'])), '/a')
        with open(table['ndjson'], 'rb') as f:
            text = f.read()
        with open(table['ndjson'], 'wb') as f:
            f.write(text.replace(b'"a":2', b'"a":3'))
        done = self.readers([table])
        self.assertEqual(done.returncode, 1)
        self.assertEqual(collections.Counter(line.split(b': ')[1] for line in done.stdout.splitlines()[:-1]),
                         collections.Counter([b'hyparquet', b'duckdb', b'parquet-wasm', b'apache-arrow']))

    def test_a_column_over_http(self):
        """The footer and one column cost a reader that much and no more."""
        n = 40000
        definition = 'uint32 n\n' + ''.join('float64 v%d\n' % i for i in range(12))
        messages = [struct.pack('<I12d', i, *((i * k) % 1000 / 7 for k in range(12))) for i in range(n)]
        server = Server()
        self.addCleanup(server.stop)
        recording = server.added('state.mcap', mcap('ros1', ('a/State', 'ros1msg', definition), messages))
        path = API + '/recordings/%s/as/state.parquet?topic=/a' % recording
        self.assertEqual(server.request('HEAD', path, headers={'Prefer': 'wait=60'}).status, 200)  # it is planned
        url = server.base + path
        done = subprocess.run(['node', os.path.join(HERE, 'table_http.mjs'), url, 'n'], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        asked = json.loads(done.stdout)
        with urllib.request.urlopen(url) as answer:
            self.assertEqual(len(answer.read()), asked['length'])
        self.assertEqual((asked['rows'], asked['sum']), (n, n * (n - 1) // 2))
        self.assertLess(asked['bytes'], 512 * 1024 + asked['length'] * 0.15)  # hyparquet reads half a megabyte for the footer

    def test_sql_of_the_guide(self):
        """Its queries in DuckDB, on the files that their addresses name."""
        with open(os.path.join(HERE, '..', '..', 'docs', 'guide.md')) as f:
            sql, = re.findall(r'^```sql\n(.*?)^```', f.read(), re.M | re.S)
        reel('demo', self.folder)
        local = os.path.join(self.folder, 'scan.parquet')
        reel('convert', os.path.join(self.folder, 'demo.bag'), local, '--topic', '/scan')
        queries = re.sub(r"'http://[^']*/as/scan\.parquet\?topic=/scan'", "'%s'" % local, sql).split(';')[:-1]
        self.assertEqual((len(queries), 'http' in ''.join(queries)), (3, False))
        done = subprocess.run(['node', os.path.join(HERE, 'table_sql.mjs'), *queries], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual([len(json.loads(line)) for line in done.stdout.splitlines()], [1, 1, 5])

    def test_lists_and_reports(self):
        """output= of a list is a table of the rows that NDJSON has."""
        server = Server()
        self.addCleanup(server.stop)
        for i in range(3):
            server.added('r%d.mcap' % i, mcap('json', None, [b'{"a":%d}' % i]))
        rows = server.get(API + '/recordings?output=csv').body.decode().splitlines()
        for output, kind in (('parquet', 'application/vnd.apache.parquet'), ('arrows', 'application/vnd.apache.arrow.stream')):
            answer = server.get(API + '/recordings?output=' + output)
            self.assertEqual(answer.headers['Content-Type'], kind)
            path = self.made('list.' + output, answer.body)
            done = subprocess.run(['node', os.path.join(HERE, 'table_columns.mjs'), path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            found = json.loads(done.stdout)
            self.assertEqual(found['columns'], rows[0].split(','))
            self.assertEqual(sorted(r['name'] for r in found['rows']), ['r0.mcap', 'r1.mcap', 'r2.mcap'])
