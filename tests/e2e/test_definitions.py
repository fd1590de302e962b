"""Recordings that hold no definitions of their messages: built-in definitions, and those that users supply."""
import io
import json
import os
import struct
import tempfile
import zipfile
import zlib

from harness import API, Case, Server, create_token, in_a_file, in_a_folder, reel
from test_mcap import MAGIC, pairs, record, text

BATTERY = 'float32 volts # of all cells\nstd_msgs/Header header\n'
T0 = 1_700_000_000_000_000_000


def battery(volts):
    return b'\0\1\0\0' + struct.pack('<fiII', volts, 7, 8, 2) + b'b\0'


def point(x):
    return b'\0\1\0\0' + struct.pack('<3d', x, 2, 3)


def png():
    chunk = lambda kind, data: struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    head = struct.pack('>IIBBBBB', 8, 8, 8, 2, 0, 0, 0)
    return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + chunk(b'IDAT', zlib.compress((b'\0' + b'\xff\0\0' * 8) * 8)) + chunk(b'IEND', b'')


def picture():
    return b'\0\1\0\0' + struct.pack('<iII', 7, 8, 2) + b'b\0\0\0' + struct.pack('<I', 4) + b'png\0' + struct.pack('<I', len(png())) + png()


def mcap(salt=0):
    """Topics of ROS 2 whose schemas are empty."""
    out = MAGIC + record(1, text('ros2') + text('by hand'))
    for i, name in enumerate(('my_msgs/msg/Battery', 'geometry_msgs/msg/Point', 'my_msgs/srv/Add_Event', 'sensor_msgs/msg/CompressedImage'), 1):
        out += record(3, struct.pack('<H', i) + text(name) + text('ros2msg') + text(''))
        out += record(4, struct.pack('<HH', i, i) + text('/' + name.split('/')[2].lower()) + text('cdr') + pairs([]))
    event = b'\0\1\0\0' + struct.pack('<B3xiI16s4xqIh2xI', 1, 2, 3, b'g' * 16, 4, 1, 5, 0)
    for i in range(3):
        for channel, data in ((1, battery(11 + i + salt)), (2, point(i)), (3, event), (4, picture())):
            time = T0 + i * 10**9 + channel
            out += record(5, struct.pack('<HIQQ', channel, i, time, time) + data)
    out += record(12, text('rosbag2') + pairs([('ROS_DISTRO', 'humble')]))
    out += record(15, struct.pack('<I', 0)) + record(2, struct.pack('<QQI', 0, 0, 0)) + MAGIC
    return out


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as z:
        for name, data in files.items():
            z.writestr(name, data)
    return out.getvalue()


class Definitions(Case):
    @classmethod
    def fill(cls):
        cls.recording = cls.server.added('robot.mcap', mcap())

    def tearDown(self):
        for one in self.listed():
            self.assertEqual(self.server.request('DELETE', API + '/definitions/' + one['type'] + ('.idl' if one['language'] == 'idl' else '')).status, 204)

    def path(self, rest=''):
        return '%s/recordings/%s%s' % (API, self.recording, rest)

    def define(self, type_, definition, status=201, **headers):
        answer = self.server.request('PUT', API + '/definitions/' + type_, definition, {k.replace('_', '-'): v for k, v in headers.items()})
        self.assertEqual(answer.status, status, answer)
        return answer

    def listed(self):
        return self.get(API + '/definitions').json()['items']

    def rows(self, topic):
        return [json.loads(line)['data'] for line in self.get(self.path('/as/x.ndjson?topic=' + topic)).body.splitlines()]

    def source(self, topic):
        topics = {t['name']: t for t in self.get(self.path('/topics')).json()['items']}
        recording = {t['name']: t for t in self.get(self.path()).json()['topics']}
        self.assertEqual(topics[topic].get('schema_source'), recording[topic].get('schema_source'))
        self.assertEqual(topics[topic].get('schema_source'), topics[topic]['channels'][0].get('schema_source'))
        return topics[topic].get('schema_source')

    def test_built_in(self):
        self.assertEqual(self.rows('/point')[1], {'x': 1, 'y': 2, 'z': 3})
        self.assertEqual(self.source('/point'), 'built-in humble')
        self.assertEqual(self.get(self.path('/series?field=/point.x')).status, 200)
        self.assertEqual(self.source('/battery'), None)
        exported = self.get(self.path('/as/x.mcap?compression=none&topic=/point'))
        self.assertIn(b'float64 x\nfloat64 y', exported.body)
        again = self.server.added('again.mcap', exported.body)
        self.assertEqual(self.get('%s/recordings/%s/topics' % (API, again)).json()['items'][0]['schema_source'], 'built-in humble')
        self.assertEqual(self.get(self.path('/frame?topic=/compressedimage')).headers.get_content_maintype(), 'image')
        self.assertEqual(self.get(self.path('/thumbnail')).headers.get_content_maintype(), 'image')

    def test_existing_recordings_get_values(self):
        before = {path: self.get(path).headers['ETag'] for path in (self.path(), self.path('/as/x.bag'), self.path('/as/x.parquet?topic=/battery'))}
        self.assertIn('$base64', self.rows('/battery')[0])
        self.assertProblem(self.server.get(self.path('/series?field=/battery.volts')), 422)
        one = self.define('my_msgs/Battery', BATTERY).json()
        self.assertEqual((one['type'], one['language'], one['text']), ('my_msgs/msg/Battery', 'msg', BATTERY))
        self.assertEqual(self.rows('/battery')[0], {'volts': 11, 'header': {'stamp': {'sec': 7, 'nanosec': 8}, 'frame_id': 'b'}})
        self.assertEqual(self.source('/battery'), 'supplied')
        self.assertEqual(self.get(self.path('/series?field=/battery.volts')).status, 200)
        fields = [f['path'] for f in self.get(self.path('/topics/fields?topic=/battery')).json()['fields']]
        self.assertEqual(fields, ['volts', 'header.stamp', 'header.frame_id'])
        for path, tag in before.items():
            self.assertIsNotNone(tag)
            self.assertNotEqual(self.get(path).headers['ETag'], tag)
        self.assertIn(b'my_msgs/Battery', self.get(self.path('/as/x.bag')).body)
        found = self.get(API + '/recordings?where=/battery.volts%3E12').json()['items']
        self.assertEqual([r['id'] for r in found], [self.recording])
        self.define('my_msgs/msg/Battery', 'float32 v\nstd_msgs/Header header\n', 200)
        self.assertIn('v', self.rows('/battery')[0])
        self.assertEqual(self.get(API + '/recordings?where=/battery.v%3E12').json()['items'][0]['id'], self.recording)
        self.assertEqual(self.server.request('DELETE', API + '/definitions/my_msgs/Battery').status, 204)
        self.assertIn('$base64', self.rows('/battery')[0])
        for path, tag in before.items():
            self.assertEqual(self.get(path).headers['ETag'], tag)

    def test_services(self):
        self.define('my_msgs/srv/Add', 'int16 a\n---\nint16 sum\n')
        self.assertEqual([self.rows('/add_event')[0][k] for k in ('request', 'response')], [[{'a': 5}], []])
        self.assertEqual(self.source('/add_event'), 'supplied')

    def test_a_workspace(self):
        sent = zipped({'ws/src/my_msgs/msg/Battery.msg': BATTERY, 'ws/src/my_msgs/srv/Add.srv': 'int16 a\n---\nint16 sum\n', 'ws/src/my_msgs/msg/Bad.msg': 'int32\n',
                       'ws/src/my_msgs/action/Go.action': 'int8 to\n---\n---\nint8 at\n', 'ws/src/my_msgs/src/main.cpp': 'int main() {}', 'ws/src/my_msgs/msg/Huge.msg': '#' * 70000,
                       '../my_msgs/msg/../../etc/passwd.msg': 'x', 'ws/src/old/msg/Latin.msg': b'int8 a # gr\xfc\xdfe\n'})
        answer = self.server.request('POST', API + '/definitions', sent).json()
        self.assertEqual({one['type'] for one in answer['items']}, {'my_msgs/msg/Battery', 'my_msgs/srv/Add', 'my_msgs/action/Go', 'old/msg/Latin'})
        self.assertEqual({one['file'].split('/')[-1] for one in answer['skipped']}, {'Bad.msg', 'Huge.msg', 'passwd.msg'} - ({'passwd.msg'} if answer['skipped_total'] == 2 else set()))
        self.assertEqual([one['type'] for one in self.listed()], ['my_msgs/msg/Battery', 'my_msgs/action/Go', 'my_msgs/srv/Add', 'old/msg/Latin'])
        self.assertEqual(self.rows('/battery')[0]['volts'], 11)
        self.assertProblem(self.server.request('POST', API + '/definitions', b'no ZIP'), 400)
        self.assertProblem(self.server.request('POST', API + '/definitions', b'\0' * (9 << 20)), 413)
        page = self.get(API + '/definitions?limit=3').json()
        self.assertEqual([len(page['items']), len(self.get(API + '/definitions?limit=3&cursor=' + page['next']).json()['items'])], [3, 1])

    def test_idl(self):
        body = 'module my_msgs { module msg {\n typedef float volts_t; struct Battery { @unit(value="V") volts_t volts; std_msgs::msg::Header header; };\n}; };\n'
        one = self.define('my_msgs/msg/Battery.idl', body).json()
        self.assertEqual(one['language'], 'idl')
        self.assertEqual(self.rows('/battery')[0], {'volts': 11, 'header': {'stamp': {'sec': 7, 'nanosec': 8}, 'frame_id': 'b'}})
        self.assertEqual(self.source('/battery'), 'supplied')
        self.assertIn(b'MSG: std_msgs/Header', self.get(self.path('/as/x.mcap?compression=none&topic=/battery')).body)
        self.define('my_msgs/Battery', 'float32 v\nstd_msgs/Header header\n') # .msg counts before .idl
        self.assertEqual(self.rows('/battery')[0]['v'], 11)
        self.assertEqual(self.server.request('DELETE', API + '/definitions/my_msgs/Battery').status, 204)
        sent = zipped({'ws/my_msgs/msg/Battery.idl': body.replace('volts;', 'u;')})
        self.assertEqual([i['language'] for i in self.server.request('POST', API + '/definitions', sent).json()['items']], ['idl'])
        self.assertEqual(self.rows('/battery')[0]['u'], 11)

    def test_versions(self):
        first = self.define('my_msgs/Battery', BATTERY)
        tag = first.headers['ETag']
        self.assertEqual(self.get(API + '/definitions/my_msgs/msg/Battery', Accept='text/plain').body.decode(), BATTERY)
        self.assertEqual(self.server.get(API + '/definitions/my_msgs/Battery', If_None_Match=tag).status, 304)
        self.define('my_msgs/Battery', BATTERY, 412, If_None_Match='*')
        self.define('my_msgs/Battery', 'int8 a\n', 200, If_Match=tag)
        self.define('my_msgs/Battery', BATTERY, 412, If_Match=tag)

    def test_versions_of_the_text(self):
        tag = self.define('my_msgs/Battery', BATTERY).headers['ETag']
        path = API + '/definitions/my_msgs/Battery'
        text = self.get(path, Accept='text/plain')
        self.assertIn('Accept', text.headers['Vary'])
        self.assertNotEqual(text.headers['ETag'], tag)
        again = self.server.get(path, Accept='text/plain', If_None_Match=text.headers['ETag'])
        self.assertEqual((again.status, again.body, again.headers['ETag']), (304, b'', text.headers['ETag']))
        self.assertEqual(self.server.get(path, If_None_Match=text.headers['ETag']).status, 200)
        self.assertEqual(self.server.get(path, Accept='text/plain', If_None_Match=tag).body.decode(), BATTERY)
        self.define('my_msgs/Battery', 'int8 a\n', 412, If_Match='W/' + text.headers['ETag'])
        self.define('my_msgs/Battery', 'int8 a\n', 200, If_Match=text.headers['ETag'])
        self.define('my_msgs/Battery', BATTERY, 412, If_Match=text.headers['ETag'])
        self.assertEqual(self.get(path, Accept='text/plain', If_None_Match=text.headers['ETag']).body, b'int8 a\n')

    def test_an_edit_does_not_depend_on_the_definitions(self):
        tag = self.get(self.path()).headers['ETag']
        self.define('my_msgs/Battery', BATTERY)
        changed = self.get(self.path()).headers['ETag']
        self.assertNotEqual(changed, tag)
        for sent, wanted in ((tag, 200), (tag, 412), ('W/' + changed, 412)):
            answer = self.server.request('PATCH', self.path(), '{"description": "door stuck"}', {'If-Match': sent})
            self.assertEqual(answer.status, wanted, (sent, answer))
        answer = self.server.request('PUT', self.path('/tags/a'), '{"value": "b"}', {'If-Match': self.get(self.path()).headers['ETag']})
        self.assertEqual(answer.status, 201)

    def test_what_is_refused(self):
        for path, body, status, word in (('my_msgs/Battery', 'float32\n', 400, 'field'), ('my_msgs/Battery', 'int8 a\n---\nint8 b\n', 400, '---'), ('my_msgs/srv/Add', 'int8 a\n', 400, 'two parts'),
                                         ('my_msgs/srv/Add', '---\n---\n---\n', 400, '4 parts'), ('my_msgs/Battery', '#' * 70000, 400, '65536'), ('my_msgs/Battery', b'\0' * 60000, 400, 'text'),
                                         ('my%20msgs/Battery', BATTERY, 404, 'name'), ('my_msgs/Bat-tery', BATTERY, 404, 'name'), ('my_msgs/msg/Battery.idl', 'struct {', 400, 'idl')):
            problem = self.assertProblem(self.define(path, body, status), status)
            self.assertIn(word, problem['detail'] + ' idl')
        self.assertProblem(self.server.get(API + '/definitions/my_msgs/None'), 404)
        self.assertProblem(self.server.request('DELETE', API + '/definitions/my_msgs/None'), 404)
        self.assertEqual(self.listed(), [])


class Kept(Case):
    def test_folders_and_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(folder + '/my_msgs/msg')
            for name, data in (('/my_msgs/msg/Battery.msg', BATTERY.encode()), ('/robot.mcap', mcap())):
                with open(folder + name, 'wb') as f:
                    f.write(data)
            row = json.loads(reel('cat', '--definitions', folder, '--topic', '/battery', '--limit', '1', folder + '/robot.mcap').stdout)
            self.assertEqual(row['data']['volts'], 11)
            self.assertIn(b'/battery', reel('info', '--definitions', folder, folder + '/robot.mcap').stdout)
            self.assertIn(b'definition: supplied', reel('info', '--definitions', folder, folder + '/robot.mcap').stdout)
            self.assertIn(b'definition: built-in humble', reel('info', folder + '/robot.mcap').stdout)
            done = reel('cat', '--definitions', folder + '/none', folder + '/robot.mcap', check=False)
            self.assertEqual(done.returncode, 1)
            server = Server(None, '--definitions', folder)
            try:
                id_ = server.added('robot.mcap', mcap(5))
                path = '%s/recordings/%s/as/x.ndjson?topic=/battery' % (API, id_)
                self.assertEqual(json.loads(server.get(path).body.splitlines()[0])['data']['volts'], 16)
                server.request('PUT', API + '/definitions/my_msgs/Battery', 'float32 other\nstd_msgs/Header header\n')
                self.assertEqual(json.loads(server.get(path).body.splitlines()[0])['data']['other'], 16)
            finally:
                server.stop()

    @in_a_folder
    @in_a_file
    def test_they_outlive_a_restart_and_a_lost_catalog(self):
        with tempfile.TemporaryDirectory() as data:
            server = Server(data)
            id_ = server.added('robot.mcap', mcap(6))
            path = '%s/recordings/%s/as/x.ndjson?topic=/battery' % (API, id_)
            self.assertEqual(server.request('PUT', API + '/definitions/my_msgs/Battery', BATTERY).status, 201)
            tag = server.get(path).headers['ETag']
            before = server.get(API + '/definitions').json()
            server.stop()
            for lost in (False, True):
                if lost:
                    for name in ('catalog.db', 'catalog.db-wal', 'catalog.db-shm'):
                        if os.path.exists(os.path.join(data, name)):
                            os.remove(os.path.join(data, name))
                server = Server(data)
                try:
                    self.assertEqual(server.get(API + '/definitions').json(), before)
                    answer = server.get(path)
                    self.assertEqual(json.loads(answer.body.splitlines()[0])['data']['volts'], 17)
                    self.assertEqual(answer.headers['ETag'], tag)
                finally:
                    server.stop()

    def test_who_may(self):
        roles = {role: create_token(self.server, 'edit' if role == 'limited' else role, role, *(('--collection', 'lab') if role == 'limited' else ())) for role in ('read', 'edit', 'limited')}
        for role, status in (('read', 403), ('limited', 403), ('edit', 201)):
            headers = {'Authorization': 'Bearer ' + roles[role]}
            for method, path, body in (('PUT', '/definitions/my_msgs/Battery', BATTERY), ('POST', '/definitions', zipped({})), ('DELETE', '/definitions/my_msgs/Battery', None)):
                answer = self.server.request(method, API + path, body, headers)
                self.assertEqual(answer.status, status if status == 403 else {'PUT': 201, 'POST': 200, 'DELETE': 204}[method], answer)
            self.assertEqual(self.server.request('GET', API + '/definitions', None, headers).json()['items'], [])
