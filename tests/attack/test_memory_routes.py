"""Small recordings that ask for much memory: each GET route of the program's own description is asked for each of them, eight times at once.
The server stays within --memory-mb and what it needs besides, and each answer is whole, or a problem document."""
import hashlib
import http.client
import json
import os
import struct
import threading
import time
import urllib.parse
import zlib

from harness import API, LONG, Case
from openapi_document import document
from run_tests import release_only
from test_mcap import MAGIC, attachment, pairs, record, text
from test_memory import MIB, resident

MEMORY = 512  # --memory-mb
BESIDES = 128  # of the process: catalog, index caches, stacks
AT_ONCE = 8
ENOUGH = 4 * MIB  # of an answer; a longer one is left
SAMPLE = 16  # pairs of a request and a recording in one run
T0 = 1700000000 * 10**9


def mcap(*records):
    return b''.join([MAGIC, record(1, text('') + text('')), *records, record(15, struct.pack('<I', 0)), record(2, bytes(20)), MAGIC])


def schema(n, name, encoding, definition):
    return record(3, struct.pack('<H', n) + text(name) + text(encoding) + text(definition))


def channel(n, of, topic, encoding):
    return record(4, struct.pack('<HH', n, of) + text(topic) + text(encoding) + pairs([]))


def message(n, i, payload):
    return record(5, struct.pack('<HIQQ', n, i, T0 + i * 10**6, T0 + i * 10**6) + payload)


def many_channels(count=65534):
    """Half of one definition, half JSON without one."""
    payloads = b'\0\1\0\0' + bytes(8), b'{"x":1}'
    return mcap(schema(1, 'many/msg/Many', 'ros2msg', 'float64 x'), *[channel(c, (c + 1) % 2, '/t%05d' % c, 'json' if c % 2 else 'cdr') for c in range(count)],
                *[message(c, c, payloads[c % 2]) for c in range(count)])


def wide_schema(fields=16000, channels=200 if LONG else 50):
    """Each channel of one definition, and a few messages of it."""
    definition = '\n'.join('float64 f%05d' % i for i in range(fields))
    return mcap(schema(1, 'wide/msg/Wide', 'ros2msg', definition), *[channel(c, 1, '/t%05d' % c, 'cdr') for c in range(channels)],
                *[message(c, c, b'\0\1\0\0' + bytes(8 * fields)) for c in range(4)])


def deep_schema(depth=100, channels=2000):
    """Types of types, and JSON of lists of maps."""
    types = ['d/T%d next' % 1 if depth else ''] + ['MSG: d/T%d\nd/T%d next\nfloat64 x' % (i, i + 1) for i in range(1, depth)] + ['MSG: d/T%d\nfloat64 x' % depth]
    definition = ('\n' + 80 * '=' + '\n').join(types)
    json_text = b'{"a":[' * 60 + b'1' + b']}' * 60
    half = channels // 2
    return mcap(schema(1, 'd/msg/T0', 'ros2msg', definition), *[channel(c, 1, '/ros%05d' % c, 'cdr') for c in range(half)],
                *[channel(c, 0, '/t%05d' % c, 'json') for c in range(half, channels)],
                *[message(c, c, b'\0\1\0\0' + bytes(8 * depth)) for c in range(half)], *[message(c, c, json_text) for c in range(half, channels)])


def huge_message(values=(30 if LONG else 8) * MIB):
    """Numbers as JSON, which take many times more in memory."""
    return mcap(channel(1, 0, '/huge', 'json'), message(1, 0, b'{"a":[' + b'1,' * (values - 1) + b'1]}'))


def many_chunks(chunks=50000):
    def chunk(i):
        inner = message(1, i, b'{"a":1}')
        return record(6, struct.pack('<QQQI', T0 + i * 10**6, T0 + i * 10**6, len(inner), 0) + text('') + struct.pack('<Q', len(inner)) + inner)
    return mcap(channel(1, 0, '/few', 'json'), *[chunk(i) for i in range(chunks)])


def many_attachments(count=60000):
    return mcap(channel(1, 0, '/one', 'json'), message(1, 0, b'{"a":1}'), *[attachment('a' * 200 + str(i), 'text/plain', T0 + i, b'') for i in range(count)])


def png(side=8192):
    """Black, a thousandth of its pixels."""
    packer, row = zlib.compressobj(9), bytes(1 + 3 * side)
    data = b''.join(packer.compress(row) for _ in range(side)) + packer.flush()

    def part(kind, content):
        return struct.pack('>I', len(content)) + kind + content + struct.pack('>I', zlib.crc32(kind + content))
    return b'\x89PNG\r\n\x1a\n' + part(b'IHDR', struct.pack('>IIBBBBB', side, side, 8, 2, 0, 0, 0)) + part(b'IDAT', data) + part(b'IEND', b'')


def large_pictures():
    """PNG files of 64 megapixels, as large as an image may be."""
    definition = 'std_msgs/Header header\nstring format\nuint8[] data\n' + 80 * '=' + '\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n'
    image = struct.pack('<III', 0, 0, 0) + text('') + text('png') + text(png())
    return mcap(schema(1, 'sensor_msgs/CompressedImage', 'ros1msg', definition), channel(1, 1, '/camera', 'ros1'), *[message(1, i, image) for i in range(3)])


HOSTILE = {'channels': (many_channels, '/t00000', 'x'), 'wide': (wide_schema, '/t00000', 'f00000'), 'deep': (deep_schema, '/t01000', 'a'),
           'huge': (huge_message, '/huge', 'a.0'), 'chunks': (many_chunks, '/few', 'a'), 'attachments': (many_attachments, '/one', 'a'),
           'pictures': (large_pictures, '/camera', 'format')}
EXPORTS = ('csv', 'ndjson', 'json', 'json-seq', 'msgpack', 'parquet', 'arrows', 'arrow', 'mcap', 'bag', 'db3', 'images.zip', 'clouds.zip', 'mp4', 'tide', 'nanover.zip')


def requests(paths, name, recording):
    """What can be asked for this recording: each route, with each of its outputs."""
    _, topic, field = HOSTILE[name]
    values = {'topic': topic, 'field': topic + '.' + field, 'for': '1s', 'where': '%s.%s>0' % (topic, field), 'recording': recording, 'collection': name}
    segments = {'id': [recording], 'name': [name], 'path': ['lab'], 'key': ['k'], 'actor': ['1'], 'n': ['0'], 'sid': ['0'], 'slug': ['busy']}
    for path, methods in sorted(paths.items()):
        if 'get' not in methods:
            continue
        parameters = [p for p in methods['get'].get('parameters', []) + methods.get('parameters', []) if p.get('in') == 'query']
        names = {p['name'] for p in parameters}
        needed = [p['name'] for p in parameters if p.get('required')]
        outputs = next((p['schema']['enum'] for p in parameters if p['name'] == 'output' and 'enum' in p['schema']), [None])
        targets = ['recording.' + e for e in EXPORTS] if '/as/{name}' in path else [name + '.mcap'] if '/file/{name}' in path else segments['name']
        for target in targets:
            for output in outputs:
                query = [(n, values[n]) for n in ('recording', 'collection') if n in names][:1]
                query += [(n, values[n]) for n in values if n not in ('recording', 'collection') and (n in needed or n in ('where', 'for') and '/search/values' in path)]
                query = [(n, 'topic') if path == API + '/values' and n == 'field' else (n, v) for n, v in query]  # one of the catalog
                query += [('topic', topic)] if path.endswith(('/frame', '/frames', '/message', '/topics/fields')) and 'topic' in names and 'topic' not in needed else []
                query += [('index', '0')] if path.endswith('/message') else []
                query += [('field', values['field'])] if path.endswith(('/series', '/plot.svg', '/values')) and 'field' in names and 'field' not in needed else []
                query += [('as', 'mcap')] if 'as' in names else []
                query += [('output', output)] if output else []
                views = [[]] + [[(p['name'], v)] for p in parameters if p['name'] in ('view', 'ros') for v in p['schema'].get('enum', ()) if target.endswith('.mcap')]
                views += [[('width', w)] for w in ('100', '8000') if path.endswith(('/frame', '/frames')) and 'width' in names]
                filled = path.replace('{name}', target)
                views += [[('width', '100')]] if target.endswith('.mp4') and 'width' in names else []
                for segment, choices in segments.items():
                    filled = filled.replace('{%s}' % segment, choices[0])
                for view in views:
                    yield filled.replace('{', '').replace('}', '') + ('?' + urllib.parse.urlencode(query + view) if query + view else '')
    yield '%s/recordings/%s/messages?limit=5&output=csv' % (API, recording)


def ask(server, path):
    """Status, and whether the answer ended as HTTP says."""
    connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=100)
    try:
        connection.request('GET', path, headers={'Prefer': 'wait=60'})
        response = connection.getresponse()
        body, more = b'', True
        while more and len(body) < ENOUGH and not path.split('?')[0].endswith(('/play', '/changes')):
            more = response.read(65536)
            body += more
        if response.status >= 400 and response.headers.get_content_type() != 'application/problem+json':
            return 'status %d is no problem document: %r' % (response.status, body[:200])
        if response.status == 400 or response.status >= 500 and response.status not in (503, 507):  # 400: it is not asked as the route wants it
            return body[:400]
        return response.status
    except http.client.IncompleteRead:
        return 'cut'
    finally:
        connection.close()


@release_only  # a sanitizer keeps freed memory
class Routes(Case):
    server_args = ('--memory-mb', str(MEMORY))

    @classmethod
    def fill(cls):
        cls.recordings = {name: cls.server.added(name + '.mcap', make(), collection=name) for name, (make, _, _) in HOSTILE.items()}

    def pairs(self):
        every = [(name, path) for name, recording in self.recordings.items() for path in requests(document()['paths'], name, recording)]
        only = os.environ.get('REEL_TESTS_MEMORY')  # "RECORDING,… WORD …": those of these recordings whose path holds one of the words
        if only:
            return [(n, p) for n, p in every if n in only.split()[0].split(',') and any(word in p for word in only.split()[1:])]
        if LONG:
            return every
        day = os.environ.get('REEL_TESTS_DAY') or str(int(time.time()) // 86400)
        print('of %d requests, the %d of day %s' % (len(every), SAMPLE, day))
        return sorted(every, key=lambda pair: hashlib.sha256(' '.join((day, pair[0], self.lasting(*pair))).encode()).digest())[:SAMPLE]  # a new route changes few

    def lasting(self, name, path):
        """Without the recording's id, which is another in each run."""
        return path.replace(self.recordings[name], '')

    def at_once(self, path):
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(ask(self.server, path))) for _ in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return answers

    def test_memory_is_bounded(self):
        for name, path in self.pairs():
            with self.subTest(recording=name, path=path):
                with open('/proc/%d/clear_refs' % self.server.process.pid, 'w') as refs:
                    refs.write('5')
                answers = self.at_once(path)
                peak = resident(self.server.process.pid, 'VmHWM') // MIB
                if os.environ.get('REEL_TESTS_MEMORY_TABLE'):
                    with open(os.environ['REEL_TESTS_MEMORY_TABLE'], 'a') as table:
                        print(peak, name, path, sorted(map(str, answers)), sep='\t', file=table, flush=True)
                self.assertEqual([a for a in answers if not isinstance(a, int)], [])
                self.assertEqual(len(answers), AT_ONCE)
                self.assertLessEqual(peak, MEMORY + BESIDES)
