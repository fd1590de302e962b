"""Every list, table and report is a table by its URL alone, as pandas.read_csv(url) asks: CSV with the columns of the JSON, its times in RFC 3339."""
import csv
import io
import json
import re
import struct

import test_carla
import test_tide
from harness import API, Case
from openapi_document import document as openapi
from samples import bag, lab_messages, nanover, nanover_messages

ONE = API + '/recordings/{id}'
RFC3339 = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z')
# Where the values of the path and the required parameters come from: the recording, and the query.
ASKED = {ONE + '/carla/info': ('carla', 'all=true'), ONE + '/carla/actors/{actor}/trajectory': ('carla', ''), ONE + '/series': ('bag', 'field=/odom.x'),
         API + '/series': ('bag', 'field=/odom.x'), ONE + '/topics/fields': ('bag', 'topic=/odom'), API + '/values': ('bag', 'field=topic'),
         ONE + '/messages': ('bag', 'topic=/odom'), API + '/search/values': ('bag', 'where=/odom.pose.pose.position.x>0'),
         API + '/jobs/{id}/results': ('batch', ''), API + '/previews': ('bag', ''), API + '/fetches': ('bag', 'agent=' + '0' * 32)}


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline='')))


def cell(value):
    """A value of JSON as a cell of CSV."""
    return '' if value is None else value if isinstance(value, str) else json.dumps(value, separators=(',', ':'))


ROS1 = 'Header header\ntime[2] seen\nduration wait\ntime[] list\n' + '=' * 80 + '\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n'
ROS2 = 'std_msgs/Header header\nbuiltin_interfaces/Time[2] seen\nbuiltin_interfaces/Duration wait\nbuiltin_interfaces/Time[] list\n' + '=' * 80 + (
    '\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n')
SEC, NSEC = 1275520355, 7
PAIRS = struct.pack('<8I', SEC, NSEC, SEC + 1, 0, 2**32 - 2, 500000000, 1, SEC) + struct.pack('<I', 9)  # seen, wait -1.5 s, list of one
STAMPED = {'ros1': ('ros1msg', ROS1, struct.pack('<IIII1s', 3, SEC, NSEC, 1, b'm') + PAIRS),
           'cdr': ('ros2msg', ROS2, bytes((0, 1, 0, 0)) + struct.pack('<III2sxx', SEC, NSEC, 2, b'm\0') + PAIRS)}


def mcap(encoding):
    """One message with the times and durations of ROS."""
    def text(value):
        return struct.pack('<I', len(value)) + value.encode()

    def record(op, body):
        return bytes((op,)) + struct.pack('<Q', len(body)) + body
    language, definition, payload = STAMPED[encoding]
    magic = b'\x89MCAP0\r\n'
    return (magic + record(1, text('') + text('test')) + record(3, struct.pack('<H', 1) + text('pkg/msg/Seen') + text(language) + text(definition)) +
            record(4, struct.pack('<HH', 1, 1) + text('/seen') + text(encoding) + struct.pack('<I', 0)) +
            record(5, struct.pack('<HIQQ', 1, 0, SEC * 10**9, SEC * 10**9) + payload) + record(15, bytes(4)) + record(2, bytes(20)) + magic)


class Tables(Case):
    @classmethod
    def fill(cls):
        cls.ids = {'bag': cls.server.added('lab.bag', bag(lab_messages(10))), 'nanover': cls.server.added('mol.nanover.zip', nanover(nanover_messages())),
                   'carla': cls.server.added('drive.log', test_carla.log()), 'tide': cls.server.added('robots.tide', test_tide.LOG)}
        for path, body in ((API + '/recordings/%s/notes' % cls.ids['bag'], {'text': 'door'}),
                           (API + '/events', {'recording': cls.ids['bag'], 'start': '+1s', 'title': 'turn'}), (API + '/webhooks', {'url': 'https://example.org/hook'})):
            answer = cls.server.request('POST', path, json.dumps(body).encode(), {'Content-Type': 'application/json'})
            assert answer.status == 201, answer
        cls.server.request('PUT', API + '/recordings/%s/tags/robot?value=r1' % cls.ids['bag'])
        for path in ('/collections/lab/layouts/wide', '/searches/mine'):
            assert cls.server.request('PUT', API + path, b'{"value": {"a": [1]}}').status == 201, path
        batch = json.dumps({'ids': [cls.ids['bag']], 'action': 'rescan'}).encode()
        cls.ids['batch'] = cls.server.request('POST', API + '/recordings:batch', batch, {'Content-Type': 'application/json'}).json()['job']['id']

    def read_csv(self, path, query=''):
        """What pandas sends: the URL, and no Accept."""
        answer = self.get('%s?%s' % (path, '&'.join(q for q in ('output=csv', query) if q)))
        self.assertEqual(answer.headers.get_content_type(), 'text/csv', path)
        return rows_of(answer.body.decode())

    def filled(self, path):
        kind = ASKED.get(path, (path.split('/')[5] if path.startswith(ONE + '/') else '', ''))
        key = self.ids.get(kind[0], self.ids['bag'])
        return path.replace('{id}', key).replace('{actor}', '7').replace('{key}', 'robot').replace('{name}', 'lab'), kind[1]

    def test_every_table_is_one(self):
        document = openapi()
        asked = 0
        for path, item in document['paths'].items():
            if 'get' not in item or '/as/' in path:  # an export's name has its format
                continue
            outputs = [p['schema'].get('enum', ()) for p in item['get']['parameters'] if p.get('name') == 'output']
            reference = item['get']['responses'].get('200', {}).get('$ref', '').rpartition('/')[2]
            content = document['components']['responses'].get(reference, {}).get('content', {})
            with self.subTest(path):
                self.assertEqual('text/csv' in content, any('csv' in o for o in outputs))
                schema = self.resolved(document, content.get('application/json', {}).get('schema', {}))
                is_list = schema.get('type') == 'array' or 'items' in schema.get('properties', {})
                if is_list:
                    self.assertIn('text/csv', content)
                if 'text/csv' in content:
                    asked += 1
                    for row in self.read_csv(*self.filled(path)):
                        self.assertNotIn(None, row)  # no row is longer than the head
        self.assertGreater(asked, 30)

    @staticmethod
    def resolved(document, schema):
        while '$ref' in schema:
            schema = document['components']['schemas'][schema['$ref'].rpartition('/')[2]]
        return schema

    def test_rows_are_those_of_the_json(self):
        one = API + '/recordings/%s/' % self.ids['bag']
        for path, query, rows in ((one + 'topics/fields', 'topic=/odom', lambda v: v['fields']), (one + 'attachments', '', lambda v: v['items']),
                                  (one + 'scan', '', lambda v: v['findings']), (API + '/webhooks', '', lambda v: v['items']),
                                  (API + '/collections/lab/layouts', '', lambda v: v['items']), (API + '/searches', '', lambda v: v['items']),
                                  (API + '/recordings/%s/metadata' % self.ids['carla'], '', lambda v: v['items'])):
            want = rows(self.get(path + '?' + query).json())
            read = self.read_csv(path, query)
            self.assertEqual(len(read), len(want), path)
            for row, values in zip(read, want):
                self.assertEqual(row, {k: cell(values.get(k)) for k in row})
        points = self.get(one + 'series?field=/odom.x').json()
        self.assertEqual([[r['time'], float(r['value'])] for r in self.read_csv(one + 'series', 'field=/odom.x')], points)

    def test_times_are_rfc3339(self):
        one = API + '/recordings/%s/' % self.ids['bag']
        for path, query, columns in ((API + '/recordings', 'q=lab', ('start', 'end', 'created')), (one + 'topics', '', ('start', 'end')),
                                     (one + 'series', 'field=/odom.x', ('time',)), (one + 'messages', 'topic=/odom', ('log_time', 'publish_time')),
                                     (one + 'coverage', '', ('start', 'end')), (API + '/events', '', ('start', 'created')), (one + 'notes', '', ('created',)),
                                     (API + '/coverage', 'by=collection', ('start', 'end')), (API + '/changes', '', ('time',)),
                                     (API + '/jobs', '', ('created',)), (API + '/webhooks', '', ('created',)), (API + '/searches', '', ('created', 'updated')),
                                     (API + '/recordings/%s/tide/channels' % self.ids['tide'], '', ('start', 'end')),
                                     (API + '/recordings/%s/tide/introspection' % self.ids['tide'], '', ('process_start_time', 'first_hello'))):
            rows = self.read_csv(path, query)
            self.assertTrue(rows, path)
            for column in columns:
                self.assertRegex(rows[0][column], RFC3339, path)

    def test_times_in_messages_are_rfc3339_and_durations_seconds(self):
        for encoding, nsec in (('ros1', 'nsec'), ('cdr', 'nanosec')):
            path = API + '/recordings/%s/' % self.server.added(encoding + '.mcap', mcap(encoding))
            row, = self.read_csv(path + 'messages')
            row = {k: v for k, v in row.items() if k not in ('log_time', 'publish_time', 'sequence', 'header.seq')}
            self.assertEqual(row, {'header.stamp': '2010-06-02T23:12:35.000000007Z', 'header.frame_id': 'm', 'seen.0': '2010-06-02T23:12:35.000000007Z',
                                   'seen.1': '2010-06-02T23:12:36.000000000Z', 'wait': '-1.500000000', 'list': '[{"sec":%d,"%s":9}]' % (SEC, nsec)})
            row, = self.read_csv(path + 'messages', 'fields=header.stamp,header.stamp.sec,wait,list[0]&time_format=milliseconds')
            self.assertEqual([row[k] for k in ('header.stamp', 'wait', 'list[0]')], ['%d000.000007' % SEC, '-1.500000000', '%d000.000009' % SEC])
            row, = self.read_csv(path + 'messages', 'fields=header.stamp.' + nsec)
            self.assertEqual(row['header.stamp.' + nsec], str(NSEC))
            self.assertEqual(self.get(path + 'messages').rows()[0]['data']['header']['stamp'], {'sec': SEC, nsec: NSEC})  # JSON has them as they are
            fields = {f['path']: f['type'] for f in self.get(path + 'topics/fields?topic=/seen').json()['fields']}
            self.assertEqual([fields[k] for k in ('header.stamp', 'seen.1', 'wait', 'list')], ['time', 'time', 'duration', 'time[]'])
            self.assertEqual(float(self.read_csv(path + 'series', 'field=/seen.header.stamp.sec')[0]['value']), SEC)

    def test_reports_of_formats(self):
        topics = {r['topic']: r for r in self.read_csv(API + '/recordings/%s/bag/info' % self.ids['bag'])}
        self.assertEqual([topics['/odom'][k] for k in ('type', 'messages', 'connections')], ['geometry_msgs/Point', '500', '1'])
        self.assertAlmostEqual(float(topics['/odom']['frequency_hz']), 50, places=3)
        path = API + '/recordings/%s/tide/introspection' % self.ids['tide']
        rows = self.read_csv(path)
        report = self.get(path).json()
        self.assertEqual([(r['host_hostname'], r['process_program_name'], r['id'], json.loads(r['transport'])) for r in rows],
                         [(h['hostname'], p['program_name'], one['id'], one['transport']) for h in report['hosts'] for p in h['processes']
                          for one in p['participants']])
        self.assertIn('topics:', self.get(API + '/recordings/%s/bag/info?output=text' % self.ids['bag']).body.decode())
        self.assertProblem(self.server.get(API + '/recordings/%s/bag/info' % self.ids['bag'], Accept='image/png'), 406, 'text/csv')
