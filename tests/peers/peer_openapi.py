"""The OpenAPI document and a running server: every operation is sent, every answer matches the document (openapi_asker.py), by npm's ajv."""
import base64
import hashlib
import http.client
import io
import os
import shutil
import tempfile
import unittest
import zipfile

import msgpack

import test_announce
import test_carla
import test_frame
import test_tide
from harness import Server, eventually, reel
from openapi_asker import Asker, escaped
from peer_mcap import prepare
from samples import bag, nanover, nanover_messages

API = '/api/v1'
ONE = API + '/recordings/{id}'
TUS = {'Tus_Resumable': '1.0.0'}
BYTES = {'Content_Type': 'application/offset+octet-stream'}


def with_attachment(data):
    """A NanoVer recording that has another file in its archive."""
    out = io.BytesIO(data)
    with zipfile.ZipFile(out, 'a') as archive:
        archive.writestr('notes.txt', 'seen')
    return out.getvalue()


class OpenApi(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        problem = prepare()
        if problem:
            raise unittest.SkipTest(problem)
        cls.folder = tempfile.mkdtemp(prefix='reel-peers-')
        for name in ('data', 'files', 'backups'):
            os.mkdir(os.path.join(cls.folder, name))
        reel('demo', cls.at('files'))
        with open(cls.at('files/bad.bag'), 'wb') as file:
            file.write(b'junk\n' * 100)
        token = reel('token', 'create', '--data', cls.at('data'), '--role', 'admin', '--name', 'keeper').stdout.decode().split()[0]
        cls.server = Server(cls.at('data'), '--import-root', cls.at('files'), '--watch', cls.at('files') + '=watched', '--watch-mode', 'reference',
                            '--still-time', '1', '--backup-dir', cls.at('backups'), '--viewer', 'https://viewer.example/', '--insecure-open')
        cls.asker = Asker(cls.server, token)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        shutil.rmtree(cls.folder)

    @classmethod
    def at(cls, name):
        return os.path.join(cls.folder, name)

    def ask(self, *args, **more):
        return self.asker.ask(*args, **more)

    def put(self, name, data, status=201, query='', **headers):
        return self.ask('PUT', API + '/recordings/by-name/{collection}/{name}', query, status, data, collection='lab', name=name, **headers).json()['id']

    def put_async(self):
        """Uploads until one is answered before its scan has ended, which small files rarely are on a busy machine."""
        for i in range(50):
            try:
                return self.put('late%d.nanover.zip' % i, nanover(nanover_messages(salt=300 + i)), 202, Prefer='respond-async')
            except AssertionError as error:
                if ': 201 ' not in str(error):
                    raise
        self.fail('no upload was answered with 202')

    def fill(self):
        with open(self.at('files/demo.bag'), 'rb') as file:
            demo = file.read()
        with open(self.at('files/demo.nanover.zip'), 'rb') as file:
            molecule = file.read()
        self.ids = {'bag': self.put('demo.bag', demo), 'nanover': self.put('demo.nanover.zip', molecule), 'carla': self.put('drive.log', test_carla.log()),
                    'tide': self.put('robots.tide', test_tide.LOG), 'frame': self.put('camera.bag', bag(test_frame.pictures('/camera'))),
                    'extra': self.put('extra.nanover.zip', with_attachment(nanover(nanover_messages())))}
        self.put('demo.bag', demo, 200)
        self.put_async()
        self.put('demo.bag', bag(test_frame.pictures('/other')), 201, '?replace')
        self.ask('POST', API + '/recordings', '?name=posted.bag&tag=robot=r1', 201, bag(test_frame.pictures('/posted')))

    # ---- chapters

    def ask_service(self):
        for path in ('/', '/events', '/upload', '/admin', '/docs'):
            self.ask('GET', path, Accept='text/html', token=False)
        self.ask('GET', '/recordings/{path}', path='x')
        self.ask('GET', '/admin/{path}', path='tokens')
        for path in ('/', '/healthz', '/readyz', '/metrics', API, '/grafana'):
            self.ask('GET', path)
        self.ask('GET', API + '/demo/{name}', name='demo.bag')
        self.ask('GET', API + '/demo/{name}', '?nonsense=1', 400, name='demo.bag')
        self.ask('GET', API + '/demo/{name}', status=404, name='none')
        for path in ('/healthz', '/readyz', '/openapi.json', '/favicon.ico'):
            self.ask('GET', path, '?nonsense=1', 400)
        for path in ('/', '/events', '/upload', '/admin', '/docs'):
            self.ask('GET', path, '?x=%zz', 400)
        self.ask('OPTIONS', API + '/uploads', '?nonsense=1', 400)
        self.ask('OPTIONS', API + '/uploads/{id}', '?nonsense=1', 400, id='0' * 32)
        self.ask('GET', '/problems/{slug}', '?nonsense=1', 400, slug='busy')
        self.ask('GET', '/assets/{name}', '?nonsense=1', 400, name='none')
        self.ask('GET', '/recordings/{path}', '?x=%zz', 400, path='x')
        self.ask('GET', '/admin/{path}', '?x=%zz', 400, path='tokens')
        self.ask('GET', '/', token=False)
        for form in ('text/plain', 'text/html', 'application/json'):
            self.ask('GET', '/problems/{slug}', slug='busy', Accept=form)
        self.ask('GET', '/problems/{slug}', '', 404, slug='none')
        self.ask('GET', '/assets/{name}', '', 404, name='none')
        contract = self.server.get('/openapi.json')
        self.asker.hold('GET', '/openapi.json', contract, '/openapi.json')

    def ask_recordings(self):
        for query in ('', '?limit=2&count=true&sort=-start', '?state=trashed', '?q=lab&format=rosbag-1.2&damaged=false&match=any&topic=/scan'):
            self.ask('GET', API + '/recordings', query)
        for form in ('application/x-ndjson', 'text/csv'):
            self.ask('GET', API + '/recordings', '?limit=2', Accept=form)
        self.ask('GET', API + '/recordings', '?limit=0&nonsense=1', 400)
        self.ask('GET', API + '/recordings', '', 401, Authorization='Bearer nobody', token=False)
        self.ask('GET', API + '/recordings', '', 406, Accept='image/gif')
        self.ask('GET', API + '/recordings.tar', '?format=rosbag-1.2')
        tag = self.ask('GET', ONE, id=self.ids['bag'], Prefer='wait=10').headers['ETag']
        self.ask('GET', ONE, '', 304, id=self.ids['bag'], If_None_Match=tag)
        self.ask('GET', ONE, '', 404, id='0' * 32)
        for key in self.ids:
            self.ask('GET', ONE, id=self.ids[key], Prefer='wait=10')
        self.ask('PATCH', ONE, '', 412, {'description': 'x'}, id=self.ids['bag'], If_Match='"old"')
        self.ask('PATCH', ONE, '', 400, {'descriptoin': 'x'}, id=self.ids['bag'])
        self.ask('PATCH', ONE, '', 200, {'description': 'door stuck', 'custom': {'operator': 'ann'}, 'tags': {'shift': 'late'}}, id=self.ids['bag'])
        self.ask('PATCH', ONE, '', 200, {'epoch': '2024-05-01T10:00:00Z'}, id=self.ids['nanover'])
        self.ask('DELETE', ONE, '', 204, id=self.ids['frame'])
        self.ask('GET', ONE + '/topics', '', 410, id=self.ids['frame'])
        self.ask('POST', ONE + '/restore', id=self.ids['frame'])
        self.ask('POST', API + '/admin/rescan/{id}', '', 202, id=self.ids['frame'])

    def ask_contents(self):
        for recording in self.ids.values():
            self.ask('GET', API + '/viewer/manifest', '?recording=' + recording)
            for part in ('topics', 'coverage', 'scan', 'attachments', 'metadata', 'layout.json'):
                self.ask('GET', '%s/%s' % (ONE, part), id=recording, Prefer='wait=30')
            self.ask('GET', ONE + '/play', '?speed=max&end=%2B1s&latch=true', id=recording)
            self.ask('GET', ONE + '/messages', '?limit=40&last=per_topic&start=%2B1s&end_record=true', id=recording)
            self.ask('GET', ONE + '/message', '?index=-1', id=recording)
        one = self.ids['bag']
        for form in ('application/json', 'application/json-seq', 'text/csv', 'text/event-stream', 'application/msgpack', 'application/ndjson', 'application/jsonl'):
            for times in ('rfc3339', 'seconds', 'milliseconds', 'nanoseconds', 'relative'):
                end = '' if form in ('text/csv', 'application/msgpack') else '&end_record=true'
                self.ask('GET', ONE + '/messages', '?topic=/scan&limit=3&fields=range_min%s&time_format=%s' % (end, times), id=one, Accept=form)
        self.ask('GET', ONE + '/messages', '?decode=none&limit=3&channels=true', id=one)
        self.ask_play(one)
        self.ask_sockets(one, self.ids['nanover'])
        self.ask('GET', ONE + '/message', '?index=0', 206, id=one, Accept='application/octet-stream', Range='bytes=0-3')
        for part, form in (('topics', 'text/csv'), ('topics', 'application/x-ndjson'), ('coverage', 'application/x-ndjson')):
            self.ask('GET', '%s/%s' % (ONE, part), id=one, Accept=form)
        self.ask('GET', ONE + '/topics/fields', '?topic=/scan', id=one)
        for form in ('application/json', 'text/plain', 'application/octet-stream'):
            self.ask('GET', ONE + '/schemas/{sid}', id=one, sid='1', Accept=form)
        self.ask('GET', ONE + '/attachments/{n}', id=self.ids['extra'], n=0)
        self.ask('GET', ONE + '/attachments/{n}', '', 206, id=self.ids['extra'], n=0, Range='bytes=0-1')
        field = 'field=/odom.pose.pose.position.x'
        for form in ('application/json', 'text/csv', 'application/x-ndjson'):
            for query in (field, field + '&field=/odom.pose.pose.position.y', field + '&time_format=milliseconds&max_points=10&agg=mean'):
                self.ask('GET', ONE + '/series', '?' + query, id=one, Accept=form)
            self.ask('GET', API + '/series', '?%s&recording=%s' % (field, one), Accept=form)
        self.ask('GET', ONE + '/plot.svg', '?' + field, id=one)
        self.ask('GET', ONE + '/frame', '?topic=/camera&width=4', id=self.ids['frame'], Prefer='wait=30')
        self.ask('GET', ONE + '/frames', '?topic=/camera&width=4', id=self.ids['frame'], Prefer='wait=30')

    def ask_export(self):
        one, other = self.ids['bag'], self.ids['nanover']
        for method in ('GET', 'HEAD'):
            tag = self.ask(method, ONE + '/file/{name}', id=one, name='a.bag').headers['ETag']
            self.ask(method, ONE + '/file/{name}', '', 304, id=one, name='a.bag', If_None_Match=tag)
        self.ask('GET', ONE + '/file/{name}', '', 206, id=one, name='a.bag', Range='bytes=0-3,10-12')
        self.ask('GET', ONE + '/file/{name}', '', 416, id=one, name='a.bag', Range='bytes=99999999-')
        self.ask('GET', ONE + '/file/{name}', '', 412, id=one, name='a.bag', If_Match='"old"')
        for name, query in (('a.mcap', ''), ('a.mcap', '?compression=zstd&view=foxglove'), ('a.bag', '?version=1.2'), ('a.tide', ''), ('a.tape', ''), ('a.ndjson', '?end_record=true'),
                            ('a.json', ''), ('a.json-seq', ''), ('a.events', ''), ('a.csv', '?topic=/scan'), ('a.msgpack', ''), ('a.bag', '?report')):
            self.ask('GET', ONE + '/as/{name}', query, id=one, name=name, Prefer='wait=30')
        self.ask('GET', ONE + '/as/{name}', '?split=duration:1s&channel=0', id=one, name='a.mcap.tar', Prefer='wait=30')
        self.ask('GET', ONE + '/as/{name}', '?split=1s', 400, id=one, name='a.mcap.tar')
        self.ask('HEAD', ONE + '/as/{name}', id=one, name='a.mcap')
        self.ask('GET', ONE + '/as/{name}', '', 206, id=one, name='a.mcap', Range='bytes=-16')
        self.ask('GET', ONE + '/as/{name}', '', 422, id=one, name='a.log')
        self.ask('GET', ONE + '/as/{name}', '', 406, id=one, name='a.papyrus')
        self.ask('GET', ONE + '/as/{name}', '?report', id=one, name='a.log')
        self.ask('GET', ONE + '/as/{name}', '?run=1', id=other, name='a.nanover.zip', Prefer='wait=30')
        self.ask('GET', ONE + '/as/{name}', '', id=self.ids['carla'], name='a.log', Prefer='wait=30')
        both = '?recording=%s&recording=%s' % (one, other)
        for name in ('b.mcap', 'b.ndjson'):
            self.ask('GET', API + '/merge/as/{name}', both, name=name, Prefer='wait=30')
        self.ask('GET', API + '/merge/as/{name}', both + '&report', name='b.bag')
        self.ask('HEAD', API + '/merge/as/{name}', both, name='b.mcap')
        self.ask('GET', API + '/merge/as/{name}', '', 400, name='b.mcap')
        self.ask('GET', API + '/merge/play', both + '&speed=max')
        self.ask('GET', API + '/merge/play', '', 400)

    def ask_formats(self):
        for form in ('application/json', 'text/csv', 'application/x-ndjson', 'text/plain'):
            for part in ('info?all=true', 'collisions', 'blocked?min_time=0.1&min_distance=100000'):
                self.ask('GET', '%s/carla/%s' % (ONE, part.split('?')[0]), part[len(part.split('?')[0]):], id=self.ids['carla'], Accept=form)
        for form in ('json', 'csv', 'ndjson'):
            actors = self.ask('GET', ONE + '/carla/actors', '?output=' + form, id=self.ids['carla'])
            self.ask('GET', ONE + '/carla/state', '?at=%2B0.5s&frame=ros&output=' + form, id=self.ids['carla'])
            self.ask('GET', ONE + '/carla/actors/{actor}/trajectory', '?frame=ros&output=' + form, id=self.ids['carla'], actor=7)
            for part in ('state/changes', 'states', 'frames', 'energies', 'resets'):
                self.ask('GET', '%s/nanover/%s' % (ONE, part), '?output=' + form, id=self.ids['nanover'])
            for part in ('channels', 'introspection'):
                self.ask('GET', '%s/tide/%s' % (ONE, part), '?output=' + form, id=self.ids['tide'])
            self.ask('GET', ONE + '/bag/info', '?output=' + form, id=self.ids['bag'])
            for part in ('scan', 'attachments', 'metadata', 'series?field=/scan.range_min', 'topics/fields?topic=/scan'):
                path, _, query = part.partition('?')
                self.ask('GET', '%s/%s' % (ONE, path), '?output=%s&%s' % (form, query), id=self.ids['bag'])
            self.ask('GET', API + '/series', '?recording=%s&field=/scan.range_min&output=%s' % (self.ids['bag'], form))
            for path in ('/watches', '/webhooks', '/admin/scrub/last'):
                self.ask('GET', API + path, '?output=' + form)
        self.assertEqual(200, actors.status)
        self.ask('GET', ONE + '/carla/actors/{actor}/trajectory', '?output=geojson', id=self.ids['carla'], actor=7)
        self.ask('GET', ONE + '/carla/info', '', 422, id=self.ids['bag'])
        for part in ('frame', 'state'):
            for form in ('json', 'msgpack'):
                self.ask('GET', '%s/nanover/%s' % (ONE, part), '?at=%2B5s&output=' + form, id=self.ids['nanover'])
        self.ask('GET', ONE + '/tide/introspection', id=self.ids['tide'])
        for query in ('?freq', '?yaml=true'):
            self.ask('GET', ONE + '/bag/info', query, id=self.ids['bag'])

    def ask_annotations(self):
        one = self.ids['bag']
        self.ask('PUT', ONE + '/tags/{key}', '?value=r2', 201, id=one, key='robot')
        self.ask('PUT', ONE + '/tags/{key}', '', 200, 'r3', id=one, key='robot')
        self.ask('GET', ONE + '/tags/{key}', id=one, key='robot')
        self.ask('POST', API + '/tags:batch', '', 200, {'q': 'demo', 'set': {'lot': '7'}, 'unset': ['old']})
        self.ask('POST', API + '/tags:batch', '', 200, {'ids': ['0' * 32], 'set': {'lot': '7'}})
        note = self.ask('POST', ONE + '/notes', '', 201, {'text': 'seen'}, id=one).json()['id']
        self.ask('PATCH', ONE + '/notes/{note}', '', 200, {'text': 'seen again'}, id=one, note=note)
        event = self.ask('POST', API + '/events', '', 201, {'recording': one, 'start': '+10s', 'end': '+12s', 'title': 'fall', 'tags': {'kind': 'bad'}}).json()['id']
        self.ask('POST', API + '/events', '', 201, {'recording': self.ids['carla'], 'start': '+1s', 'title': 'crash'})
        self.ask('POST', API + '/events', '', 400, {'recording': one})
        self.ask('GET', API + '/events/{event}', event=event)
        self.ask('PATCH', API + '/events/{event}', '', 200, {'title': 'fell'}, event=event)
        for form in ('json', 'csv', 'ndjson'):
            self.ask('GET', ONE + '/notes', '?output=' + form, id=one)
            self.ask('GET', ONE + '/events', '?output=' + form, id=self.ids['carla'])
            self.ask('GET', API + '/events', '?limit=1&output=' + form)
            self.ask('GET', API + '/tags', '?output=' + form)
            self.ask('GET', API + '/tags/{key}', '?limit=1&output=' + form, key='robot')
        self.ask('POST', '/grafana/annotations', '', 200, {'annotation': {'query': one}})
        self.ask('DELETE', API + '/events/{event}', '', 204, event=event)
        self.ask('DELETE', ONE + '/notes/{note}', '', 204, id=one, note=note)
        self.ask('DELETE', ONE + '/tags/{key}', '', 204, id=one, key='robot')

    def ask_catalog(self):
        for output in ('json', 'csv', 'ndjson'):
            for field in ('topic', 'type', 'format', 'tag', 'tag:lot', 'meta.map'):
                self.ask('GET', API + '/values', '?limit=1&output=%s&field=%s' % (output, field))
            self.ask('GET', API + '/values', '?field=topic&q=demo&output=' + output)
            for by in ('recording&limit=1', 'collection&tolerance=1h'):
                self.ask('GET', API + '/coverage', '?output=%s&by=%s' % (output, by))
            self.ask('GET', API + '/collections', '?output=' + output)
            for by in ('', '&by=day'):
                self.ask('GET', API + '/stats', '?output=' + output + by)
        self.ask('PATCH', API + '/collections/{name}', '', 200, {'description': 'the hall'}, name='lab')
        self.ask('GET', API + '/collections/{name}', name='lab')

    def ask_imports(self):
        self.ask('POST', API + '/imports', '', 200, {'path': '.', 'dry_run': True, 'collection': 'more'})
        job = self.ask('POST', API + '/imports', '', 202, {'paths': ['demo.bag', 'bad.bag'], 'collection': 'more'}).json()['job']['id']
        self.ask('POST', API + '/imports', '', 404, {'path': 'none.bag'})
        self.assertTrue(eventually(lambda: self.server.request('GET', API + '/jobs/' + job, headers=self.header()).json()['state'] == 'done'))
        self.ask('GET', API + '/jobs/{id}', id=job)
        self.ask('GET', API + '/jobs/{id}', id=job, Accept='text/event-stream')
        for form in ('csv', 'ndjson', 'json'):
            failures = self.ask('GET', API + '/failures', '?output=' + form)
        self.assertTrue(eventually(lambda: self.ask('GET', API + '/watches').json()['items'][0]['last_scan']['ended']))
        number = failures.json()['items'][0]['id']
        self.ask('POST', API + '/failures/{id}/retry', '', 202, id=number)
        self.ask('DELETE', API + '/failures/{id}', '', 204, id=number)

    def ask_announced(self):
        data = bag(test_frame.pictures('/announced'))
        announce = '?collection=lab&name=far.bag&sha256=%s&size=%d&robot=r7&agent=%s' % (hashlib.sha256(data).hexdigest(), len(data), 'a' * 32)
        one = self.ask('POST', API + '/announcements', announce, 201, test_announce.pack_of(data)).json()['id']
        self.ask('POST', API + '/announcements', announce, 200, test_announce.pack_of(data))
        self.ask('POST', API + '/announcements', announce, 422, b'no pack')
        self.ask('POST', API + '/announcements', announce.replace('robot=r7', 'robot=r8').replace('a' * 32, 'b' * 32), 409, b'')
        self.ask('GET', ONE + '/messages', '', 409, id=one)
        fetch = self.ask('POST', ONE + '/fetch', '?start=%2B0s', 202, id=one).json()['id']
        self.ask('GET', API + '/fetches', '?agent=' + 'a' * 32)
        self.ask('POST', API + '/fetches/{id}', '?agent=%s&problem=gone' % ('a' * 32), 204, id=fetch)
        self.ask('POST', API + '/fetches/{id}', '?agent=%s&problem=gone' % ('a' * 32), 404, id=fetch)
        self.ask('GET', ONE, id=one)
        self.ask('GET', API + '/recordings', '?state=announced')
        self.put('far.bag', data)
        self.ask('POST', ONE + '/fetch', '', 409, id=one)

    def header(self):
        return {'Authorization': 'Bearer ' + self.asker.token}

    def ask_uploads(self):
        data = bag(test_frame.pictures('/tus'))
        names = {'Upload_Metadata': 'filename ' + base64.b64encode(b'tus.bag').decode()}
        self.ask('OPTIONS', API + '/uploads', '', 204, token=False)
        address = self.ask('POST', API + '/uploads', '', 201, **TUS, **names, Upload_Length=str(len(data))).headers['Location']
        one = API + '/uploads/{id}'
        upload = address.split('/')[-1]
        self.ask('OPTIONS', one, '', 204, id=upload)
        self.ask('PATCH', one, '', 204, data[:100], id=upload, **TUS, **BYTES, Upload_Offset='0')
        self.ask('PATCH', one, '', 409, data[:100], id=upload, **TUS, **BYTES, Upload_Offset='7')
        self.ask('PATCH', one, '', 412, data[:100], id=upload, **BYTES, Upload_Offset='7')
        self.ask('PATCH', one, '', 415, data[:100], id=upload, **TUS, Upload_Offset='100')
        checksum = 'sha1 ' + base64.b64encode(b'x' * 20).decode()
        self.ask('PATCH', one, '', 460, data[100:200], id=upload, **TUS, **BYTES, Upload_Offset='100', Upload_Checksum=checksum)
        self.ask('HEAD', one, '', 200, id=upload, **TUS)
        self.ask('GET', one, id=upload, **TUS)
        self.ask('POST', one, '', 204, data[100:], id=upload, **TUS, **BYTES, Upload_Offset='100', X_HTTP_Method_Override='PATCH')
        self.ask('POST', one, '', 405, b'x', id=upload, **TUS, **BYTES, Upload_Offset='100')
        self.ask('GET', one, id=upload)
        self.ask('POST', API + '/uploads', '?name=draft.bag', 201, bag(test_frame.pictures('/draft')), Upload_Complete='?1')
        part = self.ask('POST', API + '/uploads', '?name=parts.bag', 201, data[:50], Upload_Complete='?0').headers['Location'].split('/')[-1]
        self.ask('HEAD', one, '', 204, id=part, Upload_Draft_Interop_Version='6', Upload_Complete='?0')
        self.ask('DELETE', one, '', 204, id=part)

    def ask_changes(self):
        self.ask('GET', API + '/changes', '?limit=3&kind=recording.*')
        self.ask('GET', API + '/changes', '', Accept='application/x-ndjson')
        self.asker.listen(API + '/changes', '?since=0', 5)
        self.asker.listen(API + '/changes', '?since=9', 2)  # what is not kept: a gap
        for form in ('json', 'csv', 'ndjson'):
            self.ask('GET', API + '/jobs', '?state=done&state=running&output=' + form)
        job = self.ask('GET', API + '/jobs', '?state=done').json()['items'][0]['id']
        self.ask('DELETE', API + '/jobs/{id}', '', 409, id=job)
        job = self.ask('POST', API + '/admin/scrub', '?rate=1', 202).json()['job']['id']  # a second for each megabyte
        self.ask('DELETE', API + '/jobs/{id}', '', 204, id=job)
        self.ask('GET', API + '/jobs/{id}', '', 404, id='0' * 32)
        self.ask('GET', ONE + '/thumbnail', '?frames=10', id=self.ids['frame'], Prefer='wait=10')
        self.ask('GET', ONE + '/thumbnail', '', 404, id=self.ids['carla'], Prefer='wait=10')
        for form in ('json', 'csv', 'ndjson'):
            self.ask('GET', API + '/previews', '?recording=%s&output=%s' % (self.ids['frame'], form))
        for path, name in ((API + '/collections/{name}/layouts', 'layout'), (API + '/searches', 'search')):
            one, where = '%s/{%s}' % (path, name), {'name': 'lab', name: 'mine'} if name == 'layout' else {name: 'mine'}
            tag = self.ask('PUT', one, '', 201, {'value': {'a': [1]}}, **where).headers['ETag']
            self.ask('PUT', one, '', 200, {'value': {}}, If_Match=tag, **where)
            self.ask('PUT', one, '', 412, {'value': {}}, If_Match=tag, **where)
            self.ask('PUT', one, '', 400, {'value': 5}, **where)
            self.ask('GET', one, **where)
            for form in ('json', 'csv', 'ndjson'):
                self.ask('GET', path, '?output=' + form, **({'name': 'lab'} if name == 'layout' else {}))
            self.ask('DELETE', one, '', 204, **where)
            self.ask('GET', one, '', 404, **where)
        hook = self.ask('POST', API + '/webhooks', '', 201, {'url': 'https://ip6-localhost/hook', 'events': ['scan.failed']}).json()['id']
        self.ask('POST', API + '/webhooks', '', 400, {'url': 'nowhere'})
        self.ask('GET', API + '/webhooks')
        self.ask('GET', API + '/webhooks/{id}', id=hook)
        self.ask('POST', API + '/webhooks/{id}/test', id=hook)  # a private address: nothing is sent
        self.ask('POST', API + '/webhooks/{id}/test', '', 404, id='99')
        self.ask('DELETE', API + '/webhooks/{id}', '', 204, id=hook)

    def ask_datasets(self):
        value = {'search': {'q': 'lab'}, 'fps': 10, 'features': {'observation.state': ['/odom.x', '/odom.y'], 'action': '/odom.z'}}
        one = API + '/datasets/{dataset}'
        tag = self.ask('PUT', one, '', 201, {'value': value}, dataset='pick').headers['ETag']
        self.ask('PUT', one, '', 200, {'value': value}, dataset='pick', If_Match=tag)
        self.ask('PUT', one, '', 400, {'value': {'fps': 0}}, dataset='pick')
        self.ask('GET', one, dataset='pick')
        self.ask('GET', one, '?report', dataset='pick', Prefer='wait=30')
        self.ask('GET', API + '/datasets')
        self.ask('POST', API + '/datasets:preview', '', 200, {'value': value}, Prefer='wait=30')
        self.ask('POST', API + '/datasets:preview', '', 400, {'value': {'features': 1}})
        self.ask('DELETE', one, '', 204, dataset='pick')
        self.ask('GET', one, '', 404, dataset='pick')

    def ask_live(self):
        live = self.ask('POST', API + '/recordings', '?live=true&name=live', 201).json()['id']
        self.ask('POST', API + '/recordings', '?live=true&name=live', 409)
        rows = b'{"$channel": {"topic": "/a", "schema": {"type": "object"}}}\n{"topic": "/a", "log_time": 1.5, "data": {"x": 1}}\n'
        messages = API + '/recordings/{id}/messages'
        for _ in range(2):
            self.ask('POST', messages, '', 200, rows, id=live, Content_Type='application/x-ndjson', Idempotency_Key='k')
        self.ask('POST', messages, '?durable=false', 200, msgpack.packb({'topic': '/m', 'data': 1}), id=live, Content_Type='application/msgpack')
        self.ask('POST', messages, '', 400, b'{}', id=live, Content_Type='application/x-ndjson')
        self.ask('POST', messages, '', 415, b'x', id=live, Content_Type='image/png')
        self.ask('POST', messages, '', 404, rows, id='0' * 32, Content_Type='application/x-ndjson')
        self.ask('GET', ONE, id=live)
        self.ask('GET', API + '/recordings', '?state=recording')
        self.ask('DELETE', ONE, '', 409, id=live)
        self.ask('POST', ONE + '/finish', '', 200, id=live)
        self.ask('GET', messages, '?follow=true', id=live)
        self.ask('POST', messages, '', 409, rows, id=live, Content_Type='application/x-ndjson')

    def ask_play(self, one):
        for form in ('ndjson', 'events', 'msgpack'):
            self.ask('GET', ONE + '/play', '?speed=100&max_gap=10ms&end=%2B1s&output=' + form, id=one)
        connection = http.client.HTTPConnection('127.0.0.1', self.server.port, timeout=30)
        connection.request('GET', '%s/recordings/%s/play?paused=true' % (API, one), headers=self.header())
        play = connection.getresponse().headers['X-Play']
        self.ask('GET', API + '/plays/{id}', id=play)
        self.ask('PATCH', API + '/plays/{id}', '', 400, {'speed': 0}, id=play)
        self.ask('PATCH', API + '/plays/{id}', '', 200, {'paused': False, 'speed': 'max', 'position': '+1s', 'loop': False}, id=play)
        connection.close()

    def ask_sockets(self, one, molecules):
        opening = {'Upgrade': 'websocket', 'Connection': 'Upgrade', 'Sec_WebSocket_Version': '13', 'Sec_WebSocket_Key': 'dGhlIHNhbXBsZSBub25jZQ=='}
        self.ask('GET', '/nanover', '?paused=true', 101, **opening)
        self.ask('GET', ONE + '/nanover', '?start=%2B1s', 101, id=molecules, **opening)
        self.ask('GET', ONE + '/nanover', '', 422, id=one, **opening)
        self.ask('GET', '/ws/recordings/{id}', '', 101, id=one, Sec_WebSocket_Protocol='foxglove.sdk.v1', **opening)
        for path in ('/nanover', ONE + '/nanover', '/ws/recordings/{id}'):
            self.ask('GET', path, '', 426, id=one)

    def ask_access(self):
        made = self.ask('POST', API + '/tokens', '', 201, {'name': 'robot1', 'role': 'upload', 'collections': ['lab'], 'expires': '90d'}).json()
        self.ask('GET', API + '/recordings', token=False, Authorization='Bearer ' + made['token'])
        self.ask('GET', API + '/tokens', '', 403, token=False, Authorization='Bearer ' + made['token'])
        for form in ('json', 'csv', 'ndjson'):
            self.ask('GET', API + '/tokens', '?output=' + form)
            self.ask('GET', API + '/audit', '?limit=5&status=2xx&path=/api&start=now-1d&output=' + form)
        cookie = self.ask('POST', API + '/login', '', 204, token=False, Authorization='Bearer ' + made['token']).headers['Set-Cookie'].split(';')[0]
        self.ask('DELETE', API + '/login', '', 204, token=False, Cookie=cookie, **{'Sec-Fetch-Site': 'same-origin'})
        self.ask('DELETE', API + '/tokens/{id}', '', 204, id=made['id'])
        link = self.ask('POST', API + '/links', '', 201, {'path': API + '/recordings/' + self.ids['bag'], 'expires': '12h'}).json()['url']
        self.asker.hold('GET', ONE, self.server.request('GET', link), link)
        key = self.ask('POST', ONE + '/links', '', 201, {'expires': '7d'}, id=self.ids['bag']).json()['key']
        self.ask('GET', API, token=False, Authorization='Link ' + key)
        self.ask('GET', ONE, '?link=' + key, token=False, id=self.ids['bag'])
        self.ask('GET', ONE, '?link=' + key, 403, token=False, id=self.ids['carla'])

    def ask_maintenance(self):
        rules = {'rules': [{'collection': 'lab*', 'max_age': '1ns', 'keep': {'golden': None}}], 'quotas': [{'collection': '*', 'size': 10**12, 'recordings': 10**5}]}
        self.ask('GET', API + '/admin/retention')
        self.ask('PUT', API + '/admin/retention', '', 200, rules)
        self.ask('PUT', API + '/admin/retention', '', 400, {'rules': 1})
        self.ask('POST', API + '/admin/retention/run', '?dry_run=true&limit=2')
        self.ask('POST', API + '/admin/retention/run', '?dry_run=true', 200, {'rules': [{'collection': 'none*', 'max_age': '30d'}]})
        self.ask('POST', API + '/admin/retention/run', '', 400, {'rules': []})
        self.ask('PUT', API + '/admin/retention', '', 200, {})
        self.ask('POST', API + '/admin/retention/run', '', 202, Prefer='wait=20')
        self.ask('GET', API + '/admin/retention')
        self.ask('GET', API + '/admin/backup/last')
        self.ask('GET', API + '/admin/scrub/last')
        self.ask('POST', API + '/admin/backup', '?blobs=none', 202)
        self.ask('POST', API + '/admin/scrub', '?mb_per_second=1000', 202)
        self.assertTrue(eventually(lambda: self.server.request('GET', API + '/admin/backup/last', headers=self.header()).json()['state'] == 'done'))
        self.assertTrue(eventually(lambda: self.server.request('GET', API + '/admin/scrub/last', headers=self.header()).json()['state'] == 'done'))
        for last in ('backup', 'scrub'):
            self.ask('GET', '%s/admin/%s/last' % (API, last))
        self.ask('DELETE', ONE, '?purge=true', 204, id=self.ids['extra'])

    def ask_agents(self):
        for path in ('/llms.txt', '/skill.md'):
            self.ask('GET', path, token=False)
            self.ask('GET', path, '?nonsense=1', 400)
        call = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': {'name': 'search_recordings', 'arguments': {'limit': 1}}}
        self.ask('POST', '/mcp', '', 200, call, Content_Type='application/json')
        self.ask('POST', '/mcp', '', 200, {**call, 'method': 'tools/list', 'params': {}}, Content_Type='application/json')
        self.ask('POST', '/mcp', '', 200, {**call, 'method': 'none'}, Content_Type='application/json')
        self.ask('POST', '/mcp', '', 202, {'jsonrpc': '2.0', 'method': 'notifications/initialized'}, Content_Type='application/json')

    def ask_grafana(self):
        one = self.ids['bag']
        self.ask('POST', '/grafana/metrics', '', 200, {})
        self.ask('POST', '/grafana/metric-payload-options', '', 200, {'metric': one, 'name': 'field'})
        self.ask('POST', '/grafana/query', '', 200, {'targets': [{'target': one + ':/scan.range_min', 'refId': 'A'}], 'maxDataPoints': 10})
        table = {'target': one, 'refId': 'B', 'payload': {'field': '/scan.range_min', 'type': 'table'}}
        self.ask('POST', '/grafana/query', '', 200, {'targets': [{'target': 'nothing'}, {'target': 'events', 'refId': 'A'}, table]})
        self.ask('POST', '/grafana/query', '', 400, {'targets': [], 'filters': [{'key': 'agg', 'value': 'most'}]})
        for payload in ({'target': 'recordings'}, {'target': 'topics', 'recording': one}, {'target': 'fields', 'recording': one}):
            self.ask('POST', '/grafana/variable', '', 200, {'payload': payload})
        self.ask('POST', '/grafana/search', '', 200, {'target': 'demo'})
        for name in ('tag-keys', 'tag-values'):
            self.ask('POST', '/grafana/' + name, '', 200, {})

    def ask_bulk(self):
        for method in 'GET', 'HEAD':
            self.ask(method, API + '/search/as/{name}', '?q=demo', name='all.mcap', Prefer='wait=30')
            self.ask(method, API + '/search/export.zip', '?q=demo&as=mcap', Prefer='wait=30')
        self.ask('GET', API + '/search/as/{name}', '?q=nothingoftheirs', 404, name='all.mcap')
        self.ask('GET', API + '/search/export.zip', '?q=demo&as=ndjson', 400)
        for query in ('?where=/odom.pose.pose.position.x>-1e9', '?where=/odom.pose.pose.position.x>1e9&for=1s&intervals=2'):
            self.ask('GET', API + '/search/values', query, Prefer='wait=30')
        self.ask('GET', API + '/search/values', '?where=(/odom.x', 400)
        self.ask('POST', API + '/search/values', '?where=/odom.pose.pose.position.x>-1e9&save_as=event&title=far', Prefer='wait=30')
        change = {'q': 'demo', 'action': 'change', 'tags': {'lot': '8'}}
        self.ask('POST', API + '/recordings:batch', '?dry_run=true', 200, change)
        job = self.ask('POST', API + '/recordings:batch', '', 202, change).json()['job']['id']
        self.assertTrue(eventually(lambda: self.ask('GET', API + '/jobs/{id}', id=job).json()['state'] == 'done'))
        self.ask('GET', API + '/jobs/{id}/results', '?limit=1', id=job)
        self.ask('POST', API + '/recordings:batch', '', 400, {'action': 'trash'})

    def ask_definitions(self):
        battery = {'package': 'lab_msgs', 'type': 'Battery.msg'}
        one, archive = API + '/definitions/{package}/{type}', io.BytesIO()
        self.ask('PUT', one, '', 201, 'float32 volts\n', **battery)
        self.ask('PUT', one, '', 200, 'float64 volts\n', **battery)
        self.ask('PUT', one, '', 400, '#' * 70000, **battery)
        for form in ('application/json', 'text/plain'):
            self.ask('GET', one, Accept=form, **battery)
        for form in ('application/json', 'application/x-ndjson', 'text/csv'):
            self.ask('GET', API + '/definitions', '?limit=1', Accept=form)
        self.ask('DELETE', one, '', 204, **battery)
        for method in ('GET', 'DELETE'):
            self.ask(method, one, '', 404, **battery)
        with zipfile.ZipFile(archive, 'w') as out:
            out.writestr('ws/src/lab_msgs/msg/Battery.msg', 'float32 volts\n')
            out.writestr('ws/src/lab_msgs/msg/Broken.msg', '#' * 70000)
        self.ask('POST', API + '/definitions', '', 200, archive.getvalue())
        self.ask('POST', API + '/definitions', '', 400, b'no ZIP archive')

    # ---- the tests

    def test_every_operation_answers_as_the_document_says(self):
        self.fill()
        for chapter in ('service', 'recordings', 'contents', 'export', 'formats', 'annotations', 'bulk', 'catalog', 'imports', 'uploads', 'announced', 'live', 'changes', 'access', 'grafana', 'agents', 'maintenance', 'definitions', 'datasets'):
            getattr(self, 'ask_' + chapter)()
        unasked = [(method.upper(), path) for path, item in self.asker.document['paths'].items() for method in item
                   if method != 'parameters' and (method.upper(), path, True) not in self.asker.asked]
        self.assertEqual([('GET', '/assets/{name}'), ('GET', '/favicon.ico')], [key for key in unasked if key != ('GET', '/openapi.json')], 'not asked')
        self.assertEqual([], self.asker.wrong)
        self.assertGreater(len(self.asker.values), 1000)
        self.assertEqual([], self.asker.check(self.asker.values))

    def test_examples_are_what_the_schemas_say(self):
        found = []

        def walk(node, pointer):
            if isinstance(node, dict):
                if 'example' in node and 'schema' in node and pointer.count('/') > 1:
                    found.append({'where': pointer, 'pointer': pointer + '/schema', 'value': node['example']})
                if isinstance(node.get('examples'), list):
                    found.extend({'where': pointer, 'pointer': pointer, 'value': value} for value in node['examples'])
                for key, value in node.items():
                    walk(value, pointer + '/' + escaped(str(key)))
            elif isinstance(node, list):
                for at, value in enumerate(node):
                    walk(value, '%s/%d' % (pointer, at))

        walk(self.asker.document, '#')
        self.assertGreater(len(found), 30)
        self.assertEqual([], self.asker.check(found))


if __name__ == '__main__':
    unittest.main()
