"""Recordings in a viewer: view=foxglove as a file that is sought, layouts made from topics, links that open both."""
import json
import os
import re
import struct
import tempfile
import urllib.parse
from unittest import mock

import msgpack

import samples
from harness import API, Case, reel
from real_samples import golden
from samples import Message, T0, bag, lab_messages, nanover, nanover_messages, read_mcap
from test_carla import log

VIEWER = 'https://viewer.example/app'
MOL = 'https://mol.example/viewer/'
PICTURES = {'sensor_msgs/CompressedImage': ('8f7a12909da2c9d3332d540a0977563f', 'string format\nuint8[] data\n'),
            'sensor_msgs/NavSatFix': ('2d3a8cd499b9b4a0249fb98fd05cfa48', 'float64 latitude\nfloat64 longitude\n'),
            'rosgraph_msgs/Log': ('acffd30cd6b6de30f120938c17c593fb', 'byte level\nstring msg\n')}


def robot():
    """A camera, a position on the map and text, next to the little robot."""
    more = [Message(T0 + 5, '/camera/compressed', struct.pack('<I', 3) + b'png' + struct.pack('<I', 0), 'sensor_msgs/CompressedImage'),
            Message(T0 + 6, '/fix', struct.pack('<2d', 48, 11), 'sensor_msgs/NavSatFix'),
            Message(T0 + 7, '/rosout', b'\2' + struct.pack('<I', 2) + b'hi', 'rosgraph_msgs/Log')]
    with mock.patch.dict(samples.TYPES, PICTURES):
        return bag(lab_messages(2) + more)


def messages_of(mcap):
    return read_mcap(mcap)[2]


def leaves(layout):
    return leaves(layout['first']) + leaves(layout['second']) if isinstance(layout, dict) else [layout]


class Viewer(Case):
    server_args = ('--viewer', VIEWER, '--viewer-mol', MOL)

    @classmethod
    def fill(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.log = cls.server.added('drive it.log', log())
        cls.sim = cls.server.added('sim.nanover.zip', nanover(nanover_messages(80)))
        cls.bag = cls.server.added('robot.bag', robot())
        cls.empty = cls.server.added('nothing.bag', bag([]))

    def path(self, recording, rest):
        return '%s/recordings/%s/%s' % (API, recording, rest)

    def test_scene_beside_the_messages(self):
        plain = messages_of(self.get(self.path(self.log, 'as/show.mcap')).body)
        shown = messages_of(self.get(self.path(self.log, 'as/show.mcap?view=foxglove&raw=true')).body)
        own = [m for m in shown if not m.topic.startswith('/view/')]
        self.assertEqual([(m.time, m.topic, m.payload) for m in own], [(m.time, m.topic, m.payload) for m in plain])
        made = [m for m in shown if m.topic.startswith('/view/')]
        tf = [json.loads(m.payload)['transforms'] for m in made if m.topic == '/view/tf']
        self.assertEqual([t[0]['translation'] for t in tf], [{'x': k, 'y': -2, 'z': 3} for k in range(1, 6)])  # a metre a frame, y turned over
        self.assertEqual({m.topic for m in made}, {'/view/scene', '/view/tf', '/view/log', '/view/trajectories', '/view/ego'})
        hits = [json.loads(m.payload)['message'] for m in made if m.topic == '/view/log' and b' hit ' in m.payload]
        self.assertEqual(hits, ['7 vehicle.tesla.model3 hit 8 walker.pedestrian.0001'])

    def test_ranges_are_of_the_whole(self):
        for recording in (self.log, self.sim):
            for query in ('', '&start=%2B1s', '&start=%2B0.5s&end=%2B1.5s&topic=/view/*', '&compression=zstd'):
                with self.subTest(recording=recording, query=query):
                    path = self.path(recording, 'as/show.mcap?view=foxglove' + query)
                    whole = self.get(path)
                    size, etag = len(whole.body), whole.headers['ETag']
                    self.assertEqual((whole.headers['Accept-Ranges'], int(whole.headers['Content-Length'])), ('bytes', size))
                    head = self.server.request('HEAD', path)
                    self.assertEqual((int(head.headers['Content-Length']), head.headers['ETag']), (size, etag))
                    for first, last in ((size - 300, size - 1), (0, 40), (size // 2, size // 2 + 2000), (size // 3, size // 3)):
                        part = self.get(path, 206, Range='bytes=%d-%d' % (first, last), If_Range=etag)
                        self.assertEqual(part.headers['Content-Range'], 'bytes %d-%d/%d' % (first, min(last, size - 1), size))
                        self.assertEqual(part.body, whole.body[first:last + 1])
                    self.get(path, 304, If_None_Match=etag)
        plain, raw, shown = (self.get(self.path(self.log, 'as/show.mcap' + q)).headers['ETag'] for q in ('', '?view=raw', '?view=foxglove'))
        self.assertEqual(plain, raw)
        self.assertNotEqual(plain, shown)

    def test_only_topics_that_are_asked_for(self):
        shown = messages_of(self.get(self.path(self.sim, 'as/e.mcap?view=foxglove&topic=/view/energies')).body)
        self.assertEqual({m.topic for m in shown}, {'/view/energies'})
        self.assertEqual([json.loads(m.payload)['potential'] for m in shown], [0 if i == 0 else -i for i in range(80)])
        hidden = messages_of(self.get(self.path(self.sim, 'as/e.mcap?view=foxglove&exclude_topic=/view/*')).body)
        self.assertEqual(set(), {m.topic for m in hidden})
        hidden = messages_of(self.get(self.path(self.sim, 'as/e.mcap?view=foxglove&raw=true&exclude_topic=/view/*')).body)
        self.assertEqual({m.topic for m in hidden}, {'frame', 'state'})

    def test_what_is_not_drawn_is_json(self):
        """Each topic that a viewer cannot read, of TIDE, MIRA and MessagePack: the values of its rows, with a schema that has their fields."""
        rows = [{'$channel': {'topic': '/packed', 'type': 'Sample', 'encoding': 'msgpack'}}]
        rows += [{'topic': '/packed', 'log_time': T0 + i, 'data': msgpack.packb({'x': i, 'name': 'é%d' % i})} for i in range(5)]
        rows += [{'topic': '/number', 'log_time': T0 + i, 'data': i * 0.5} for i in range(5)]
        rows += [{'$channel': {'topic': '/secret', 'type': 'X', 'encoding': 'unheard-of'}}, {'topic': '/secret', 'log_time': T0, 'data': b'abc'}]
        packed = self.server.added('packed.msgpack', b''.join(msgpack.packb(r) for r in rows))
        met = 0
        for recording in [packed] + [self.server.added(os.path.basename(os.path.dirname(path)) + os.path.basename(path), open(path, 'rb').read())
                                     for path in (golden('tide/rsb'), golden('mira/usual'))]:
            answer = self.get(self.path(recording, 'as/show.mcap?view=foxglove'))
            path = os.path.join(self.folder, 'show.mcap')
            with open(path, 'wb') as f:
                f.write(answer.body)
            shown = [json.loads(line) for line in reel('cat', path).stdout.splitlines()]
            topics = {r['topic'] for r in shown}
            values = [r for r in self.get(self.path(recording, 'messages')).rows() if r['topic'] in topics]
            self.assertEqual([r['data'] if isinstance(r['data'], dict) else {'value': r['data']} for r in values], [r['data'] for r in shown])
            self.assertNotIn('/secret', topics)
            met += len(values)
            for topic in json.loads(reel('info', path, '--json').stdout)['topics']:
                self.assertEqual(('json', 'jsonschema'), (topic['encoding'], topic['channels'][0]['schema_encoding']))
        self.assertGreater(met, 12)

    def test_rows(self):
        """A view is a stream like any other: its messages as rows."""
        rows = self.get(self.path(self.log, 'as/show.ndjson?view=foxglove&topic=/view/ego')).rows()
        self.assertEqual([r['data']['x'] for r in rows], [1, 2, 3, 4, 5])
        self.assertEqual([r['data'].get('speed') for r in rows], [None, 2, 2, 2, 2])

    def test_merged(self):
        answer = self.get('%s/merge/as/both.mcap?view=foxglove&recording=%s&recording=%s&prefix=always' % (API, self.log, self.sim))
        topics = {m.topic for m in messages_of(answer.body)}
        self.assertTrue({'/drive it/view/tf', '/sim/view/scene'} <= {re.sub(r'_', ' ', t) for t in topics}, topics)

    def test_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            before, after = os.path.join(folder, 'drive.log'), os.path.join(folder, 'show.mcap')
            with open(before, 'wb') as f:
                f.write(log())
            reel('convert', '--view', 'foxglove', before, after)
            with open(after, 'rb') as f:
                self.assertEqual(f.read(), self.get(self.path(self.log, 'as/show.mcap?view=foxglove')).body)
            refused = reel('convert', '--view', 'picasso', before, after, check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertIn(b'"picasso" is not a view; there is: foxglove', refused.stderr)

    def test_unknown_view(self):
        self.assertProblem(self.server.get(self.path(self.log, 'as/show.mcap?view=picasso')), 400, 'view', 'foxglove')

    # --- layouts

    def layout(self, recording):
        layout = self.get(self.path(recording, 'layout.json')).json()
        shown = leaves(layout['layout'])
        self.assertEqual(sorted(shown), sorted(layout['configById']))  # each once
        return {panel.split('!')[0]: layout['configById'][panel] for panel in shown}

    def test_layout_of_a_drive(self):
        panels = self.layout(self.log)
        self.assertEqual(set(panels), {'3D', 'Plot', 'RosOut'})
        self.assertEqual(set(panels['3D']['topics']), {'/view/scene', '/view/trajectories'})
        self.assertEqual((panels['3D']['followTf'], panels['RosOut']['topicToRender']), ('ego', '/view/log'))
        self.assertIn('/view/ego.speed', [p['value'] for p in panels['Plot']['paths']])

    def test_layout_of_a_simulation(self):
        panels = self.layout(self.sim)
        self.assertEqual(set(panels), {'3D', 'Plot', 'RosOut'})
        self.assertEqual(set(panels['3D']['topics']), {'/view/scene', '/view/points', '/view/avatars'})
        self.assertIn('/view/energies.potential', [p['value'] for p in panels['Plot']['paths']])

    def test_the_camera_sees_what_is_drawn(self):
        """A simulation is in the middle of the picture, whole, above a grid; a drive is followed."""
        scene = [json.loads(m.payload) for m in messages_of(self.get(self.path(self.sim, 'as/e.mcap?view=foxglove&topic=/view/scene')).body)]
        drawn = next(filter(None, ([s['pose']['position'] for e in one['entities'] for s in e.get('spheres', [])] for one in scene)))
        panel = self.layout(self.sim)['3D']
        camera = panel['cameraState']
        middle = [(min(p[axis] for p in drawn) + max(p[axis] for p in drawn)) / 2 for axis in 'xyz']
        radius = sum((max(p[axis] for p in drawn) - min(p[axis] for p in drawn)) ** 2 for axis in 'xyz') ** .5 / 2
        for x, y in zip(middle + [2.5 * radius], camera['target'] + [camera['distance']]):
            self.assertAlmostEqual(x, y, delta=0.3 * radius)  # bonds and the box are drawn too
        grid, = panel['layers'].values()
        self.assertEqual(('foxglove.Grid', True, 2 * camera['distance']), (grid['layerId'], grid['visible'], grid['size']))
        self.assertEqual({'transforms': {'enablePreloading': True}}, panel['scene'])
        self.assertEqual(40, self.layout(self.log)['3D']['cameraState']['distance'])

    def test_layout_of_a_robot(self):
        panels = self.layout(self.bag)
        self.assertEqual(set(panels), {'Plot', 'Image', 'map', 'RosOut'})
        self.assertEqual((panels['Image']['imageMode']['imageTopic'], panels['map']['followTopic']), ('/camera/compressed', '/fix'))
        self.assertEqual([p['value'] for p in panels['Plot']['paths']], ['/odom.x', '/odom.y', '/odom.z'])

    def test_layout_of_nothing(self):
        self.assertEqual(set(self.layout(self.empty)), {'RawMessages'})
        self.assertProblem(self.server.get(self.path('0' * 26, 'layout.json')), 404)

    # --- links

    def test_links_open(self):
        recording = self.get(self.path(self.log, '')[:-1]).json()
        address = urllib.parse.urlsplit(recording['links']['viewer'])
        asked = urllib.parse.parse_qs(address.query, strict_parsing=True)
        self.assertEqual('%s://%s%s' % address[:3], VIEWER)
        self.assertEqual((asked['ds'], asked['time']), (['remote-file'], ['2020-09-13T12:26:40.200000000Z']))
        self.assertEqual((asked['ds.url'], asked['layoutUrl']), ([recording['links']['mcap']], [recording['links']['layout']]))
        mcap, layout = urllib.parse.urlsplit(asked['ds.url'][0]), urllib.parse.urlsplit(asked['layoutUrl'][0])
        self.assertEqual(mcap.netloc, '127.0.0.1:%d' % self.server.port)
        self.assertTrue(mcap.path.endswith('/drive%20it.log.mcap'), mcap.path)  # viewers go by the path's end
        self.assertTrue(self.get(mcap.path + '?' + mcap.query).body.startswith(b'\x89MCAP0'))
        self.assertIn('configById', self.get(layout.path).json())

    def test_links_of_molecules(self):
        links = self.get(self.path(self.sim, '')[:-1]).json()['links']
        address = urllib.parse.urlsplit(links['mol'])
        asked = urllib.parse.parse_qs(address.query, strict_parsing=True)
        self.assertEqual(('%s://%s%s' % address[:3], asked['structure-url-format']), (MOL, ['pdb']))
        pdb = urllib.parse.urlsplit(asked['structure-url'][0])
        answer = self.get(pdb.path, Origin='https://mol.example')
        self.assertEqual((answer.body[:6], answer.headers['Access-Control-Allow-Origin']), (b'ATOM  ', 'https://mol.example'))
        self.assertNotIn('mol', self.get(self.path(self.log, '')[:-1]).json()['links'])

    def test_a_manifest_leads_to_the_files(self):
        manifest = self.get('%s/viewer/manifest?recording=%s&recording=%s' % (API, self.log, self.sim)).json()
        self.assertEqual('drive it.log', manifest['name'])
        for source in manifest['sources']:
            self.assertIs(True, source['supportsRangeRequests'])
            url = urllib.parse.urlsplit(source['url'])
            self.assertEqual('127.0.0.1:%d' % self.server.port, url.netloc)
            self.assertEqual(b'\x89MCAP0', self.get('%s?%s' % (url.path, url.query), 206, Range='bytes=0-5').body)
        self.assertEqual(2, len(manifest['sources']))
        self.assertProblem(self.server.get(API + '/viewer/manifest'), 400, 'recording=ID')
        self.assertProblem(self.server.get(API + '/viewer/manifest?recording=nothing'), 404)

    def test_the_viewers_page_may_read(self):
        path = self.path(self.log, 'as/show.mcap?view=foxglove')
        asked = self.server.request('OPTIONS', path, headers={'Origin': 'https://viewer.example', 'Access-Control-Request-Method': 'GET',
                                                              'Access-Control-Request-Headers': 'range'})
        self.assertIn('range', asked.headers['Access-Control-Allow-Headers'].lower())
        part = self.get(path, 206, Origin='https://viewer.example', Range='bytes=-100')
        self.assertEqual(part.headers['Access-Control-Allow-Origin'], 'https://viewer.example')
        exposed = part.headers['Access-Control-Expose-Headers'].lower()
        for name in ('accept-ranges', 'content-length', 'content-range', 'etag'):
            self.assertIn(name, exposed)
        self.assertNotIn('Content-Encoding', part.headers)
        layout = self.get(self.path(self.log, 'layout.json'), Origin='https://viewer.example')
        self.assertEqual(layout.headers['Access-Control-Allow-Origin'], 'https://viewer.example')

    def test_links_in_lists(self):
        listed = {r['id']: r['links'] for r in self.get(API + '/recordings').json()['items']}
        self.assertEqual(set(listed), {self.log, self.sim, self.bag, self.empty})
        self.assertNotIn('time=', listed[self.empty]['viewer'])

    def test_a_name_the_client_has(self):
        secure = self.get(self.path(self.log, '')[:-1], Host='localhost:%d' % self.server.port, X_Forwarded_Proto='https').json()['links']
        self.assertTrue(secure['mcap'].startswith('https://localhost:%d/' % self.server.port), secure)


class NoViewer(Case):
    def test_no_links(self):
        recording = self.server.added('drive.log', log())
        self.assertNotIn('links', self.get('%s/recordings/%s' % (API, recording)).json())
        self.assertIn('configById', self.get('%s/recordings/%s/layout.json' % (API, recording)).json())
