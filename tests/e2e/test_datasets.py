"""Datasets: saved, planned, reported, and their files in the tree; what the files say is read by tests/peers/peer_datasets.py."""
import hashlib
import io
import json
import os
import random
import re
import shutil
import socket
import struct
import tarfile
import tempfile
import zipfile
from urllib.parse import quote

from harness import API, Case, Server, catalog_sql, create_token, reel
from samples import T0, TYPES, Message, bag, lab_messages
from test_frame import image

STATE, ACTION = ['/odom.x', '/odom.y', '/odom.z'], '/command.x'
VALUE = {'search': {'q': 'pick:yes'}, 'fps': 10, 'features': {'observation.state': STATE, 'action': ACTION}, 'robot': 'r1'}
FILES = ['README.md', 'data/chunk-000/file-000.parquet', 'data/chunk-000/file-001.parquet', 'meta/episodes/chunk-000/file-000.parquet',
         'meta/info.json', 'meta/stats.json', 'meta/tasks.parquet']

TYPES['lab_msgs/Wide'] = (hashlib.md5(b'Wide').hexdigest(), 'float32[] list\n')


def wide(noise):
    """A list of numbers from 0 to 1, which do not compress."""
    words = struct.unpack('<%dI' % (len(noise) // 4), noise)
    return struct.pack('<I%df' % len(words), len(words), *(word / (1 << 32) for word in words))


def command(seconds, salt):
    """Each 140 ms from 0.3 s on."""
    return [Message(m.time, '/command', m.payload, m.kind) for m in lab_messages(seconds, salt=salt) if m.topic == '/odom'
            and (m.time - T0) % 70_000_000 == 1000 and m.time > T0 + 300_000_000]


def sample(seconds, salt=0):
    return bag(sorted(lab_messages(seconds, salt=salt) + command(seconds, salt), key=lambda m: m.time))


class Datasets(Case):
    @classmethod
    def fill(cls):
        cls.add(cls.server)
        cls.put(cls.server, 'pick/one', VALUE)

    @classmethod
    def add(cls, server):
        cls.ids = [server.added('a.bag', sample(3)), server.added('b.bag', sample(2, 1)), server.added('c.bag', bag(lab_messages(1, salt=2)))]
        for key, task in zip(cls.ids, ('lift', 'lift', '')):
            for tag, value in (('pick', 'yes'), ('task', task)):
                if value:
                    server.request('PUT', '%s/recordings/%s/tags/%s?value=%s' % (API, key, tag, value))

    @staticmethod
    def put(server, name, value):
        answer = server.request('PUT', '%s/datasets/%s' % (API, quote(name)), json.dumps({'value': value}))
        assert answer.status in (200, 201), answer
        return answer

    def report(self, name='pick/one'):
        return self.get('%s/datasets/%s?report' % (API, name)).json()

    def preview(self, value, status=200):
        answer = self.server.request('POST', API + '/datasets:preview', json.dumps({'value': value}))
        self.assertEqual(answer.status, status, answer)
        return answer

    def file(self, path, name='pick/one'):
        return self.get('/dav/datasets/%s/%s' % (name, path))

    def test_the_report(self):
        report = self.report()
        self.assertEqual((report['total_episodes'], report['fps']), (2, 10))
        a, b, c = report['episodes']
        self.assertEqual([e['episode'] for e in (a, b, c)], [0, 1, None])
        self.assertEqual([e['name'] for e in (a, b, c)], ['lab/a.bag', 'lab/b.bag', 'lab/c.bag'])
        self.assertIn('/command', c['problem'])
        self.assertEqual((a['task'], c['task']), ('lift', 'c.bag'))
        last = max(m.time for m in command(3, 0))
        first = min(m.time for m in command(3, 0))
        self.assertEqual(a['frames'], (last - first) // 100_000_000 + 1)
        self.assertEqual(a['dropped'], {'too_old': 0, 'unreadable': 0, 'other_size': 0, 'off_grid': 0, 'other_run': 0})
        times = [m.time for m in command(3, 0)]
        frames = [first + k * 100_000_000 for k in range(a['frames'])]
        ages = sorted(t - max(x for x in times if x <= t) for t in frames)
        self.assertEqual(a['ages'][ACTION]['max_s'], ages[-1] / 1e9)
        self.assertAlmostEqual(a['ages'][ACTION]['median_s'], ages[(len(ages) - 1) // 2] / 1e9, delta=ages[-1] / 1e9 / 50)
        self.assertEqual(report['total_frames'], a['frames'] + b['frames'])

    def test_the_preview_is_what_a_dataset_gets(self):
        self.assertEqual(self.preview(VALUE).json(), self.report())
        ids = {k: v for k, v in VALUE.items() if k != 'search'}
        self.assertEqual([e['recording'] for e in self.preview({**ids, 'recordings': self.ids[1::-1]}).json()['episodes']], self.ids[1::-1])

    def test_features_are_proposed(self):
        search = {'search': VALUE['search']}
        report = self.preview(search).json()
        proposed = report.pop('proposed')
        # of Points at 50 and 7 Hz
        self.assertEqual(proposed, {**search, 'fps': 7, 'features': {'observation.state': STATE, 'action': ['/command.x', '/command.y', '/command.z']}})
        self.assertEqual(self.preview(proposed).json(), report)
        self.assertEqual(report['total_episodes'], 2)
        self.assertEqual(self.preview({**search, 'fps': 3}).json()['proposed'], {**proposed, 'fps': 3})
        features = {'action': '/odom.x'}
        self.assertEqual(self.preview({**search, 'features': features}).json()['proposed'], {**search, 'fps': 7, 'features': features})
        ids = {'recordings': self.ids[:1]}
        self.assertEqual(self.preview(ids).json()['proposed'], {**ids, 'fps': proposed['fps'], 'features': proposed['features']})
        for value, status in (({}, 400), ({'search': 5}, 400), ({'recordings': ['none']}, 404), ({'recordings': [5]}, 404), ({'search': {'q': 'pick:none'}}, 422)):
            self.preview(value, status)

    def test_what_is_proposed_can_be_saved(self):
        """Of more topics with images than a dataset has features, some of which would have one name."""
        topics = ['/odom', '/Camera/a', '/camera.A', *('/c%d' % i for i in range(70))]
        key = self.server.added('cameras.bag', bag([Message(T0 + k * 50_000_000 + i, topic, image('rgb8', 2, 2, bytes(12)), 'sensor_msgs/Image') if i else
                                                    Message(T0 + k * 50_000_000, topic, lab_messages(1)[0].payload, lab_messages(1)[0].kind)
                                                    for k in range(3) for i, topic in enumerate(topics)]))
        self.addCleanup(self.server.request, 'DELETE', '%s/recordings/%s' % (API, key))
        proposed = self.preview({'recordings': [key]}).json()['proposed']
        names = list(proposed['features'])
        self.assertEqual(len(names), 62 + ('observation.state' in names))
        self.assertEqual(len({name.lower() for name in names}), len(names))
        self.put(self.server, 'cameras', proposed)
        self.server.request('DELETE', API + '/datasets/cameras')

    def test_old_values_are_dropped(self):
        report = self.preview({**VALUE, 'max_age_s': 0.045}).json()
        dropped = report['episodes'][0]['dropped']
        self.assertGreater(dropped['too_old'], 0)
        self.assertLessEqual(report['episodes'][0]['ages'][ACTION]['max_s'], 0.045)
        self.assertEqual(report['episodes'][0]['frames'] + dropped['too_old'] + dropped['other_run'], self.report()['episodes'][0]['frames'])

    def test_info_and_stats(self):
        info, report = self.file('meta/info.json').json(), self.report()
        self.assertEqual((info['codebase_version'], info['fps'], info['robot_type'], info['splits']), ('v3.0', 10, 'r1', {'train': '0:2'}))
        self.assertEqual((info['total_episodes'], info['total_frames'], info['total_tasks']), (2, report['total_frames'], 1))
        self.assertEqual(list(info['features']), ['observation.state', 'action', 'timestamp', 'frame_index', 'episode_index', 'index', 'task_index'])
        self.assertEqual(info['features']['observation.state'], {'dtype': 'float32', 'shape': [3], 'names': STATE})
        self.assertEqual(info['features']['index'], {'dtype': 'int64', 'shape': [1], 'names': None})
        stats = self.file('meta/stats.json').json()
        self.assertEqual(list(stats), ['observation.state', 'action'])
        state = stats['observation.state']
        self.assertEqual(state['count'], [report['total_frames']])
        self.assertEqual([len(state[k]) for k in ('min', 'max', 'mean', 'std', 'q01', 'q10', 'q50', 'q90', 'q99')], [3] * 9)
        self.assertEqual(state['max'][0] * .5, state['max'][1])
        self.assertTrue(all(a <= b for a, b in zip(state['q01'], state['q99'])))

    def test_the_same_files_everywhere(self):
        files = {path: self.file(path) for path in FILES}
        for path, answer in files.items():
            with self.subTest(path):
                head = self.server.request('HEAD', '/dav/datasets/pick/one/' + path)
                self.assertEqual((int(head.headers['Content-Length']), head.headers['ETag']), (len(answer.body), answer.headers['ETag']))
                if path.endswith('.parquet'):
                    self.assertEqual((answer.body[:4], answer.body[-4:]), (b'PAR1', b'PAR1'))
                pick = random.Random(1)
                for _ in range(5):
                    start = pick.randrange(len(answer.body))
                    part = self.get('/dav/datasets/pick/one/' + path, 206, Range='bytes=%d-%d' % (start, start + 99))
                    self.assertEqual(part.body, answer.body[start:start + 100])
                self.assertEqual(self.get('/s3/datasets/pick/one/' + path).body, answer.body)
        archive = tarfile.open(fileobj=io.BytesIO(self.get('/dav/datasets/pick/one?archive=tar').body))
        packed = {m.name: archive.extractfile(m).read() for m in archive if m.isfile()}
        self.assertEqual({k.split('one/')[-1]: hashlib.sha256(v).hexdigest() for k, v in packed.items()},
                         {k: hashlib.sha256(v.body).hexdigest() for k, v in files.items()})

    def test_as_a_zip_archive(self):
        path = '/dav/datasets/pick/one/?archive=zip'
        whole = self.get(path)
        size, tag = len(whole.body), whole.headers['ETag']
        for answer in (whole, self.server.request('HEAD', path)):
            self.assertEqual([answer.headers[n] for n in ('Content-Length', 'Content-Type', 'ETag')], [str(size), 'application/zip', tag])
            self.assertIn('filename="one.zip"', answer.headers['Content-Disposition'])
        with zipfile.ZipFile(io.BytesIO(whole.body)) as archive:
            self.assertIsNone(archive.testzip())
            self.assertEqual({name: archive.read(name) for name in archive.namelist()}, {'one/' + name: self.file(name).body for name in FILES})
        pick = random.Random(2)
        for _ in range(20):  # as one continues what was cut off
            first, last = sorted(pick.randrange(size) for _ in range(2))
            self.assertEqual(self.get(path, 206, Range='bytes=%d-%d' % (first, last), If_Range=tag).body, whole.body[first:last + 1])
        self.assertEqual(self.get(path, 206, Range='bytes=%d-' % (size - 30)).body, whole.body[-30:])
        self.assertNotEqual(self.get('/dav/datasets/pick/one/?archive=tar').headers['ETag'], tag)
        with zipfile.ZipFile(io.BytesIO(self.get('/dav/datasets/pick/one/meta?archive=zip').body)) as archive:
            self.assertEqual(archive.namelist(), [name for name in FILES if name.startswith('meta/')])
        self.assertProblem(self.get('/dav/lab/?archive=zip', 422), 422, 'archive=tar')

    def test_an_archive_is_of_one_version(self):
        """The dataset changes while a reader has only the begin of it, and the sockets hold less than its first file."""
        noise = random.Random(1).randbytes(8 << 20)
        ends = [Message(T0 + k * 1_000_000, '/wide', wide(noise[k << 12:(k + 1) << 12]), 'lab_msgs/Wide') for k in range(2 << 10)]
        key = self.server.added('wide.bag', bag(ends))
        self.addCleanup(self.server.request, 'DELETE', '%s/recordings/%s' % (API, key))
        value = {'recordings': [key], 'fps': 1000, 'features': {'observation.state': '/wide.list'}}
        self.addCleanup(self.server.request, 'DELETE', API + '/datasets/wide')
        self.put(self.server, 'wide', value)
        path = '/dav/datasets/wide?archive=zip'
        whole = self.get(path).body
        self.assertGreater(len(whole), 6 << 20)
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.connect((self.server.host, self.server.port))
            s.sendall(('GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n' % path).encode())
            got = s.recv(4096)
            self.put(self.server, 'wide', {**value, 'robot': 'r2'})
            self.assertEqual(self.file('meta/info.json', 'wide').json()['robot_type'], 'r2')
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            while piece := s.recv(1 << 20):
                got += piece
        self.assertEqual(hashlib.sha256(got.split(b'\r\n\r\n', 1)[1]).digest(), hashlib.sha256(whole).digest())

    def test_listed(self):
        page = self.get('/s3/datasets?list-type=2&prefix=pick/one/').body.decode()
        self.assertEqual(re.findall('<Key>([^<]*)', page), ['pick/one/' + path for path in FILES])
        sizes = [int(x) for x in re.findall('<Size>([^<]*)', page)]
        self.assertEqual(sizes, [len(self.file(path).body) for path in FILES])
        page = self.server.request('PROPFIND', '/dav/datasets/pick/', None, {'Depth': '1'})
        self.assertIn(b'/dav/datasets/pick/one/', page.body)
        self.assertEqual(self.server.get('/dav/datasets/pick/one/meta/none').status, 404)
        self.assertEqual(self.server.get('/dav/datasets/none/meta/info.json').status, 404)

    def test_equal_on_another_server(self):
        """But for the ids of the recordings, which only the episodes' table has."""
        other = Server()
        self.addCleanup(other.stop)
        self.add(other)
        self.put(other, 'pick/one', VALUE)
        for path in FILES:
            if 'episodes' not in path:
                self.assertEqual(other.get('/dav/datasets/pick/one/' + path).body, self.file(path).body, path)
        type(self).ids = [e['recording'] for e in self.report()['episodes']]

    def test_the_sha_changes_with_the_bytes(self):
        sha = self.report()['sha']
        self.assertEqual(self.report()['sha'], sha)
        self.assertNotEqual(self.preview({**VALUE, 'fps': 20}).json()['sha'], sha)

    def test_what_is_refused(self):
        for change, word in (({'fps': 0}, 'fps'), ({'fps': 29.97}, 'fps'), ({'features': {}}, 'features'), ({'features': {'a/b': '/x.y'}}, 'a/b'),
                             ({'features': {'action': 5}}, 'features'), ({'max_age_s': -1}, 'max_age_s'), ({'recordings': ['x']}, 'either'),
                             ({'search': {'x': 'y'}}, 'search'), ({'clock': 5}, 'clock'), ({'robot': 1}, 'robot')):
            answer = self.server.request('PUT', API + '/datasets/bad', json.dumps({'value': {**VALUE, **change}}))
            self.assertProblem(answer, 400, word)
            self.assertProblem(self.preview({**VALUE, **change}, 400), 400, word)
        self.assertEqual(self.server.get(API + '/datasets/bad').status, 404)

    def test_listed_replaced_deleted(self):
        tag = self.put(self.server, 'other', VALUE).headers['ETag']
        self.assertEqual([one['name'] for one in self.get(API + '/datasets').json()['items']], ['other', 'pick/one'])
        self.assertEqual(self.get(API + '/datasets/other').json()['value'], VALUE)
        self.assertEqual(self.server.request('DELETE', API + '/datasets/other', None, {'If-Match': tag}).status, 204)
        self.assertEqual(self.server.get('/dav/datasets/other/meta/info.json').status, 404)

    def test_no_episode(self):
        self.put(self.server, 'empty', {**VALUE, 'search': {'q': 'pick:none'}})
        self.addCleanup(self.server.request, 'DELETE', API + '/datasets/empty')
        self.assertEqual(self.file('meta/info.json', 'empty').json()['total_episodes'], 0)
        self.assertEqual(self.report('empty')['episodes'], [])


class Changes(Case):
    """What happens to a recording of a dataset."""
    @classmethod
    def fill(cls):
        Datasets.add(cls.server)
        cls.ids = Datasets.ids
        Datasets.put(cls.server, 'found', VALUE)
        Datasets.put(cls.server, 'named', {**{k: v for k, v in VALUE.items() if k != 'search'}, 'recordings': cls.ids[:2]})

    def sha(self, name='found'):
        return self.get('%s/datasets/%s?report' % (API, name)).json()['sha']

    def test_it_is_scanned_again(self):
        """The dataset has no fewer files meanwhile, or a copy would lose them: it is asked for again later."""
        paths = '/dav/datasets/named/meta/info.json', '/s3/datasets?list-type=2&prefix=named/', '/hf/api/datasets/named'
        before = [self.get(path).body for path in paths]
        state, = catalog_sql(self.server.data, "SELECT state FROM recordings WHERE name = 'b.bag'")[0]
        change = lambda to: catalog_sql(self.server.data, "UPDATE recordings SET state = %s WHERE name = 'b.bag'" % to)
        change(0)
        self.addCleanup(change, state)
        self.assertEqual([self.server.request('GET', path, None, {'Prefer': 'wait=1'}).status for path in paths], [503] * 3)
        change(state)
        self.assertEqual([self.get(path).body for path in paths], before)

    def left_out(self, name):
        return [(e['recording'], e['name'], e['problem']) for e in self.get('%s/datasets/%s?report' % (API, name)).json()['episodes'] if e['problem']]

    def test_it_is_deleted(self):
        """Of those that the dataset names: the others stay, and the report has the one that is missing."""
        one = self.server.added('goes.bag', sample(1, 7))
        Datasets.put(self.server, 'goes', {**{k: v for k, v in VALUE.items() if k != 'search'}, 'recordings': [one, self.ids[0]]})
        info = lambda: self.get('/dav/datasets/goes/meta/info.json').json()['total_episodes']
        self.assertEqual((info(), self.left_out('goes')), (2, []))
        whole = self.sha('goes')
        self.assertEqual(self.server.request('DELETE', '%s/recordings/%s' % (API, one)).status, 204)
        self.assertEqual((info(), self.left_out('goes')), (1, [(one, 'lab/goes.bag', 'the recording is not ready: it is trashed')]))
        self.assertNotEqual(self.sha('goes'), whole)
        self.assertEqual(self.server.request('POST', '%s/recordings/%s/restore' % (API, one)).status, 200)
        self.assertEqual((info(), self.left_out('goes'), self.sha('goes')), (2, [], whole))
        self.assertEqual(self.server.request('DELETE', '%s/recordings/%s?purge=true' % (API, one)).status, 204)
        self.assertEqual((info(), self.left_out('goes')), (1, [(one, one, 'no recording has that id')]))
        self.assertIn('left out: %s: no recording has that id' % one, reel('dataset', 'preview', self.server.base, 'goes').stdout.decode())

    def test_it_cannot_be_planned(self):
        """Who asks for it is answered why, and a list of all datasets has the others."""
        Datasets.put(self.server, 'broken', VALUE)
        self.addCleanup(self.server.request, 'DELETE', API + '/datasets/broken')
        catalog_sql(self.server.data, """UPDATE saved SET value = '{"search": {"q": ""}, "fps": 10, "features": 5}' WHERE name = 'broken'""")
        for path in ('/dav/datasets/broken/meta/info.json', '/s3/datasets?list-type=2&prefix=broken/', '/hf/api/datasets/broken', '/dav/datasets/broken?archive=zip'):
            answer = self.server.get(path)
            self.assertEqual((answer.status, b'features' in answer.body), (400, True), answer)
        page = self.get('/s3/datasets?list-type=2').body
        self.assertIn(b'named/meta/info.json', page)
        self.assertNotIn(b'broken/', page)

    def test_one_in_the_folder_of_another(self):
        for name in ('found/meta', 'found/meta/more'):
            Datasets.put(self.server, name, VALUE)
            self.addCleanup(self.server.request, 'DELETE', API + '/datasets/' + name)
        of = lambda path: self.get('/dav/datasets/%s/meta/info.json' % path).body
        self.assertEqual(of('found'), of('found/meta/more'))
        self.assertEqual(of('found'), of('found/meta'))
        self.assertEqual(self.server.get('/dav/datasets/found/meta/more/none').status, 404)
        self.assertEqual(self.server.request('PROPFIND', '/dav/datasets/found/', None, {'Depth': '0'}).status, 207)

    def test_its_clock_is_set(self):
        sha = self.sha()
        for clock in ('relative', None):
            answer = self.server.request('PATCH', '%s/recordings/%s' % (API, self.ids[0]), json.dumps({'clock': clock}), {'Content-Type': 'application/json'})
            self.assertEqual(answer.status, 200, answer)
            self.assertEqual(self.sha() == sha, clock is None)


class Commands(Case):
    """reel dataset."""
    @classmethod
    def fill(cls):
        Datasets.add(cls.server)
        Datasets.put(cls.server, 'lab/pick', VALUE)

    def dataset(self, action, *args, code=0):
        done = reel('dataset', action, self.server.base, *args, check=False)
        self.assertEqual(done.returncode, code, done)
        return (done.stderr if code or action == 'get' else done.stdout).decode()

    def test_list_and_preview(self):
        self.assertIn('lab/pick\t10 fps\tobservation.state, action\n', self.dataset('list'))
        report = self.get(API + '/datasets/lab/pick?report').json()
        text = self.dataset('preview', 'lab/pick')
        self.assertIn('%d episodes, %d frames at 10 fps' % (report['total_episodes'], report['total_frames']), text)
        self.assertIn('episode 0: lab/a.bag: %d frames, task: lift' % report['episodes'][0]['frames'], text)
        self.assertIn('left out: lab/c.bag: ' + report['episodes'][2]['problem'], text)
        self.assertIn('largest %.3f s' % report['episodes'][0]['ages'][ACTION]['max_s'], text)
        proposed = self.dataset('preview', '--search', 'pick:yes', '--fps', '4')
        self.assertIn('"observation.state": [', proposed)
        self.assertIn('frames at 4 fps', proposed)

    @staticmethod
    def read(folder):
        out = {}
        for path in FILES:
            with open(os.path.join(folder, path), 'rb') as f:
                out[path] = f.read()
        return out

    def test_get_what_is_missing(self):
        folder = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, folder)
        bodies = {path: self.get('/dav/datasets/lab/pick/' + path).body for path in FILES}
        os.makedirs(os.path.join(folder, 'data/chunk-000'))
        with open(os.path.join(folder, FILES[1] + '.part'), 'wb') as f:
            f.write(bodies[FILES[1]][:100])
        self.assertIn('7 received, 0 skipped, 0 failed', self.dataset('get', 'lab/pick', folder))
        self.assertEqual(self.read(folder), bodies)
        with open(os.path.join(folder, 'meta/info.json'), 'ab') as f:
            f.write(b' ')
        os.remove(os.path.join(folder, FILES[2]))
        self.assertIn('2 received, 5 skipped, 0 failed', self.dataset('get', 'lab/pick', folder))
        self.assertEqual(self.read(folder), bodies)

    def test_mistakes(self):
        self.assertIn('404', self.dataset('preview', 'none', code=1))
        self.assertIn('404', self.dataset('get', 'none', tempfile.gettempdir(), code=1))
        for args in ((), ('other', self.server.base), ('list',), ('get', self.server.base, 'lab/pick'), ('preview', self.server.base)):
            self.assertEqual(reel('dataset', *args, check=False).returncode, 2, args)


class Rights(Case):
    def test_who_may(self):
        server = self.server
        key = server.added('a.bag', sample(1))
        roles = {role: create_token(server, 'edit' if role == 'limited' else role, role, *(('--collection', 'lab') if role == 'limited' else ()))
                 for role in ('read', 'edit', 'limited')}
        value = {'recordings': [key], 'fps': 10, 'features': {'action': '/odom.x'}}
        elsewhere = create_token(server, 'edit', 'elsewhere', '--collection', 'elsewhere')

        def ask(method, path, token, body=None):
            return server.request(method, path, json.dumps(body) if body else None, {'Authorization': 'Bearer ' + token}).status
        self.assertEqual(ask('PUT', API + '/datasets/d', roles['read'], {'value': value}), 403)
        self.assertEqual(ask('PUT', API + '/datasets/d', roles['limited'], {'value': value}), 403)
        self.assertEqual(ask('PUT', API + '/datasets/d', roles['edit'], {'value': value}), 201)
        for path in (API + '/datasets/d', API + '/datasets/d?report', '/dav/datasets/d/meta/info.json'):
            self.assertEqual(ask('GET', path, roles['read']), 200, path)
            self.assertIn(ask('GET', path, roles['limited']), (403, 404), path)
        preview = API + '/datasets:preview'
        self.assertEqual([ask('POST', preview, token, {'value': value}) for token in (roles['read'], roles['limited'], elsewhere)], [200, 200, 404])
