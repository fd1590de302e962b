"""Who took part, from the introspection events of a TIDE log, over HTTP and by `reel tide`."""
import csv
import io
import json
import os
import struct
import subprocess
import tempfile

from harness import API, REEL, Case
from samples import bag, lab_messages

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


class Tide(Case):
    @classmethod
    def fill(cls):
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

    def test_of_an_interval(self):
        self.assertEqual([h['hostname'] for h in self.get(self.path('?start=%2B2s&end=%2B4s')).json()['hosts']], ['arm'])

    def test_others_have_none(self):
        self.assertProblem(self.server.get(self.path('', self.bag)), 422, 'RSB')
        self.assertProblem(self.server.get(self.path('?topic=/x')), 400, 'topic')

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
