"""Payloads as values: rows, columns, MessagePack and events of decoded messages."""
import csv
import io
import json
import struct

from harness import API, Case
from samples import bag, lab_messages, T0

MESSAGES = sorted(lab_messages(3), key=lambda m: m.time)
ODOM = [m for m in MESSAGES if m.topic == '/odom']  # geometry_msgs/Point


def point(payload):
    return dict(zip('xyz', struct.unpack('<3d', payload)))


class Decoded(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recording = cls.server.added('decoded.bag', bag(MESSAGES))

    def path(self, query):
        return '%s/recordings/%s/messages?%s' % (API, self.recording, query)

    def test_rows_hold_values(self):
        rows = self.get(self.path('topic=/odom')).rows()
        self.assertEqual([r['data'] for r in rows], [point(m.payload) for m in ODOM])
        self.assertNotIn('encoding', rows[0])
        for kind, name in (('application/json', 'json'), ('application/json-seq', 'json-seq')):
            answer = self.get(self.path('topic=/odom'), Accept=kind)
            body = answer.body.decode()
            values = json.loads(body) if name == 'json' else [json.loads(r) for r in body.split('\x1e')[1:]]
            self.assertEqual([r['data'] for r in values], [point(m.payload) for m in ODOM])

    def test_fields_are_picked(self):
        rows = self.get(self.path('topic=/odom&fields=z,x')).rows()
        self.assertEqual([r['data'] for r in rows], [{k: v for k, v in point(m.payload).items() if k != 'y'} for m in ODOM])
        self.assertEqual([r['data'] for r in self.get(self.path('topic=/odom&fields=none&limit=1')).rows()], [{}])
        self.assertProblem(self.server.get(self.path('fields=x&decode=none')), 400, 'fields')

    def table(self, query):
        answer = self.get(self.path(query), Accept='text/csv')
        self.assertEqual(answer.headers.get_content_type(), 'text/csv')
        self.assertTrue(answer.body.endswith(b'\r\n'))
        return list(csv.reader(io.StringIO(answer.body.decode(), newline='')))

    def test_columns_come_from_the_schema(self):
        rows = self.table('topic=/odom&time_format=nanoseconds')
        self.assertEqual(rows[0], ['log_time', 'publish_time', 'sequence', 'x', 'y', 'z'])
        self.assertEqual([(int(r[0]), [float(v) for v in r[3:]]) for r in rows[1:]], [(m.time, list(point(m.payload).values())) for m in ODOM])
        self.assertEqual(self.table('topic=/odom&start=%2B10h'), [rows[0]])  # without a message they are the same

    def test_several_topics_share_a_table(self):
        rows = self.table('')
        self.assertEqual(rows[0][:4], ['log_time', 'publish_time', 'sequence', 'topic'])
        self.assertEqual([r[3] for r in rows[1:]], [m.topic for m in MESSAGES])
        self.assertTrue(all(len(r) == len(rows[0]) for r in rows))
        self.assertEqual(rows[0][4:], ['data.data', 'x', 'y', 'z', 'data'])  # of the map and the words, and of the tick, which has no fields
        at = rows[0].index('y')
        self.assertEqual([float(r[at]) for r in rows[1:] if r[3] == '/odom'], [point(m.payload)['y'] for m in ODOM])
        self.assertEqual(self.table('topic=/odom&fields=y')[0], ['log_time', 'publish_time', 'sequence', 'y'])

    def test_msgpack(self):
        import msgpack
        answer = self.get(self.path('topic=/odom&time_format=nanoseconds'), Accept='application/msgpack')
        rows = list(msgpack.Unpacker(io.BytesIO(answer.body)))
        self.assertEqual([(r['log_time'], r['data']) for r in rows], [(m.time, point(m.payload)) for m in ODOM])
        raw = list(msgpack.Unpacker(io.BytesIO(self.get(self.path('topic=/odom&output=msgpack&decode=none')).body)))
        self.assertEqual([r['data'] for r in raw], [m.payload for m in ODOM])

    def test_events_end(self):
        body = self.get(self.path('topic=/odom&limit=5'), Accept='text/event-stream').body.decode()
        events = body.split('\n\n')
        self.assertEqual(events.pop(), '')
        self.assertEqual([json.loads(e[6:])['data'] for e in events[:5]], [point(m.payload) for m in ODOM[:5]])
        self.assertTrue(events[5].startswith('event: end\ndata: '), events[5])
        self.assertEqual(json.loads(events[5].split('data: ')[1])['$end']['messages'], 5)

    def test_one_message(self):
        answer = self.get('%s/recordings/%s/message?topic=/odom&index=3&fields=x' % (API, self.recording), Accept='application/json').json()
        self.assertEqual(answer['data'], {'x': point(ODOM[3].payload)['x']})

    def test_a_payload_that_does_not_fit_is_given_as_bytes(self):
        broken = lab_messages(1, salt=3)
        odom = [m for m in broken if m.topic == '/odom']
        odom[2].payload = odom[2].payload[:-3]
        self.recording = self.server.added('misfit.bag', bag(broken))
        rows = [r for r in self.get(self.path('topic=/odom')).rows()]
        self.assertEqual([('$base64' in r['data'], r.get('encoding')) for r in rows[1:4]], [(False, None), (True, 'ros1'), (False, None)])
        self.assertIn('$base64', self.table('topic=/odom')[3][3])
