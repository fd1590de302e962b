"""What a search finds as one file: merged by time, with a length, an entity tag and ranges; nobody gets what he may not see."""
import io
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import unittest
import zipfile

from harness import API, Case, Server, eventually, reel
from samples import SECOND, T0, bag, by_topic, lab_messages, read_bag, read_mcap

LAB = [lab_messages(3, salt=i) for i in range(3)]
LATER = lab_messages(2, salt=40)
for message in LATER:
    message.time += 3600 * SECOND


class SearchAsOneFile(Case):
    @classmethod
    def fill(cls):
        cls.ids = [cls.server.added('run%d.bag' % i, bag(messages), '?tag=robot=r2') for i, messages in enumerate(LAB)]
        cls.later = cls.server.added('later.bag', bag(LATER), '?tag=robot=r2')
        cls.server.added('secret.bag', bag(lab_messages(1, salt=70)), '?tag=robot=r2', collection='secret')
        cls.server.added('other.bag', bag(lab_messages(1, salt=80)), '?tag=robot=r3')

    def path(self, query, name='all.mcap'):
        return '%s/search/as/%s?%s' % (API, name, query)

    def messages(self, query, **headers):
        return read_mcap(self.get(self.path(query), **headers).body)[2]

    def test_it_is_the_merge_of_what_matches(self):
        messages = self.messages('q=robot:r2+collection:lab')
        self.assertEqual(by_topic(messages), by_topic([m for one in LAB + [LATER] for m in one]))
        self.assertEqual([m.time for m in messages], sorted(m.time for m in messages))
        merged = self.get('%s/merge/as/all.mcap?prefix=never&%s' % (API, '&'.join('recording=' + i for i in self.ids + [self.later])))
        self.assertEqual(merged.body, self.get(self.path('q=robot:r2+collection:lab')).body)

    def test_topic_and_times_select_both(self):
        query = 'q=robot:r2+collection:lab&topic=/odom&start=%d&end=%d' % (T0 + SECOND, T0 + 2 * SECOND)
        expected = [m for one in LAB for m in one if m.topic == '/odom' and T0 + SECOND <= m.time < T0 + 2 * SECOND]
        self.assertEqual(by_topic(self.messages(query)), by_topic(expected))
        rows = self.get(self.path(query, 'all.ndjson')).rows()
        self.assertEqual({r['recording'] for r in rows}, set(self.ids))

    def test_it_behaves_like_a_file(self):
        rng, path = random.Random(5), self.path('q=robot:r2+collection:lab')
        whole = self.get(path)
        tag, size = whole.headers['ETag'], len(whole.body)
        self.assertEqual(int(self.server.request('HEAD', path).headers['Content-Length']), size)
        for _ in range(8):
            first, last = sorted(rng.randrange(size) for _ in range(2))
            self.assertEqual(self.get(path, 206, Range='bytes=%d-%d' % (first, last), If_Range=tag).body, whole.body[first:last + 1])
        self.get(path, 304, If_None_Match=tag)

    def test_the_tag_changes_with_what_is_found(self):
        path = self.path('q=robot:r9', 'x.mcap')
        self.assertProblem(self.server.get(path), 404, 'no recording')
        self.server.added('nine.bag', bag(LAB[0]), '?tag=robot=r9', collection='nine')
        before = self.get(path)
        self.server.added('ten.bag', bag(LAB[1]), '?tag=robot=r9', collection='nine')
        after = self.get(path, Range='bytes=0-9', If_Range=before.headers['ETag'])
        self.assertNotEqual(after.headers['ETag'], before.headers['ETag'])
        self.assertEqual(len(read_mcap(after.body)[2]), len(LAB[0]) + len(LAB[1]))

    def test_recordings_that_are_not_ready_are_counted(self):
        self.server.added('good.bag', bag(LAB[0]), collection='growing')
        live = self.server.request('POST', API + '/recordings?live=true&name=grows&collection=growing').json()['id']
        answer = self.get(self.path('q=collection:growing'))
        self.assertEqual(answer.headers.get('X-Left-Out'), '1')
        self.assertEqual(by_topic(read_mcap(answer.body)[2]), by_topic(LAB[0]))
        self.server.request('DELETE', '%s/recordings/%s?purge=true' % (API, live))

    def test_more_recordings_than_stay_open(self):
        parts = [lab_messages(1, salt=i) for i in range(70)]  # of which 64 are read at a time
        for i, messages in enumerate(parts):
            for message in messages:
                message.time += i % 35 * SECOND // 2
            self.server.added('p%02d.bag' % i, bag(messages), collection='many')
        whole = self.get(self.path('q=collection:many&compression=zstd')).body
        self.assertEqual(len(self.get(self.path('q=collection:many')).body), int(self.server.request('HEAD', self.path('q=collection:many')).headers['Content-Length']))
        self.assertEqual(by_topic(self.messages('q=collection:many')), by_topic([m for one in parts for m in one]))
        self.assertLess(len(whole), len(self.get(self.path('q=collection:many')).body))

    def test_mistakes_are_named(self):
        self.assertProblem(self.server.get(self.path('q=robot:r2', 'x.avi')), 406, 'mcap')
        self.assertProblem(self.server.get(self.path('q=(robot', 'x.mcap')), 400)
        self.assertProblem(self.server.get(self.path('q=robot:r2&limit=3', 'x.mcap')), 400, 'limit')


class Archive(Case):
    """/search/export.zip, read by Python's zipfile and by unzip."""
    @classmethod
    def fill(cls):
        cls.ids = [cls.server.added('run%d.bag' % i, bag(messages), '?tag=robot=r2') for i, messages in enumerate(LAB)]
        cls.server.added('run0.bag', bag(LATER), '?tag=robot=r2', collection='two')
        for name in ('same.bag', 'same.mcap.bag', 'same.x.bag', 'same.x'):
            cls.server.added(name, bag(LATER), '?tag=robot=r4', collection='alike')
        for recording, title, start, end in ((0, 'fall', SECOND, None), (0, 'fall', SECOND * 3 // 2, SECOND * 2), (1, 'Fall down/hill', SECOND, None), (1, 'fall', SECOND, None), (2, 'rise', 0, None)):
            body = {'recording': cls.ids[recording], 'title': title, 'start': T0 + start, **({'end': T0 + end} if end else {})}
            answer = cls.server.request('POST', API + '/events', json.dumps(body), {'Content-Type': 'application/json'})
            assert answer.status == 201, answer

    def path(self, query):
        return '%s/search/export.zip?%s' % (API, query)

    def members(self, query):
        with zipfile.ZipFile(io.BytesIO(self.get(self.path(query)).body)) as archive:
            self.assertIsNone(archive.testzip())
            self.assertEqual({i.compress_type for i in archive.infolist()}, {zipfile.ZIP_STORED})
            return {name: archive.read(name) for name in archive.namelist()}

    def test_each_recording_is_a_member(self):
        members = self.members('q=robot:r2')
        self.assertEqual(sorted(members), ['lab/run0.mcap', 'lab/run1.mcap', 'lab/run2.mcap', 'two/run0.mcap'])
        for i, name in enumerate(('lab/run0.mcap', 'lab/run1.mcap', 'lab/run2.mcap')):
            self.assertEqual(members[name], self.get('%s/recordings/%s/as/x.mcap' % (API, self.ids[i])).body)
        bags = self.members('q=robot:r2+collection:lab&as=bag&version=1.2&topic=/odom')
        self.assertEqual(by_topic(read_bag(bags['lab/run1.bag'])), by_topic([m for m in LAB[1] if m.topic == '/odom']))

    def test_recordings_are_named_instead_of_searched(self):
        query = '&'.join('recording=' + i for i in self.ids[:2])
        members = self.members(query)
        self.assertEqual(sorted(members), ['lab/run0.mcap', 'lab/run1.mcap'])
        self.assertEqual(members['lab/run0.mcap'], self.members('q=robot:r2')['lab/run0.mcap'])
        self.assertProblem(self.server.get(self.path(query + '&q=run')), 400, 'recording')
        self.assertProblem(self.server.get(self.path('recording=none')), 404)

    def test_names_differ_and_keep_their_ending(self):
        names = list(self.members('q=robot:r4'))
        self.assertEqual(len(set(names)), 4)
        self.assertTrue(all(n.endswith('.mcap') and n.startswith('alike/same') for n in names), names)

    def test_cuts_around_events(self):
        members = self.members('q=collection:lab&around=event:fall&before=500ms&after=250ms')
        self.assertEqual(sorted(members), ['lab/run0.001-fall.mcap', 'lab/run0.002-fall.mcap', 'lab/run1.001-fall.mcap'])
        inside = [m for m in LAB[0] if T0 + SECOND // 2 <= m.time <= T0 + SECOND * 5 // 4]
        self.assertEqual(by_topic(m for m in read_mcap(members['lab/run0.001-fall.mcap'])[2] if m.topic != '/map'), by_topic(inside))
        inside = [m for m in LAB[0] if T0 + SECOND <= m.time < T0 + SECOND * 9 // 4]
        self.assertEqual(by_topic(m for m in read_mcap(members['lab/run0.002-fall.mcap'])[2] if m.topic != '/map'), by_topic(inside))
        self.assertIn('lab/run1.001-Fall down_hill.mcap', self.members('q=collection:lab&around=event:Fall*'))
        self.assertProblem(self.server.get(self.path('around=event:nothing')), 404, 'event')

    def test_it_is_resumable(self):
        for query in ('q=robot:r2', 'q=robot:r2&compression=zstd', 'around=event:fall&before=1s&after=1s&as=bag'):
            rng, whole = random.Random(6), self.get(self.path(query))
            tag, size = whole.headers['ETag'], len(whole.body)
            self.assertEqual(int(whole.headers['Content-Length']), size)
            for _ in range(8):
                first, last = sorted(rng.randrange(size) for _ in range(2))
                self.assertEqual(self.get(self.path(query), 206, Range='bytes=%d-%d' % (first, last), If_Range=tag).body, whole.body[first:last + 1])
            self.get(self.path(query), 304, If_None_Match=tag)

    @unittest.skipUnless(shutil.which('unzip'), 'unzip is not installed')
    def test_unzip_reads_it(self):
        with tempfile.NamedTemporaryFile(suffix='.zip') as file:
            file.write(self.get(self.path('q=robot:r2')).body)
            file.flush()
            self.assertIn(b'No errors detected', subprocess.run(['unzip', '-t', file.name], stdout=subprocess.PIPE, check=True).stdout)

    def test_what_cannot_be_had_is_listed(self):
        answer = self.get(self.path('q=robot:r2&as=nanover.zip'))
        self.assertEqual(answer.headers['X-Left-Out'], '4')
        with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
            self.assertEqual(archive.namelist(), ['LEFT-OUT.txt'])
            self.assertEqual(archive.read('LEFT-OUT.txt').count(b'\n'), 4)

    def test_mistakes_are_named(self):
        self.assertProblem(self.server.get(self.path('as=avi')), 406, 'mcap')
        self.assertProblem(self.server.get(self.path('as=ndjson')), 400, 'as', 'mcap')
        self.assertProblem(self.server.get(self.path('around=fall')), 400, 'event:')
        self.assertProblem(self.server.get(self.path('before=1s')), 400, 'around')
        self.assertProblem(self.server.get(self.path('q=nothing-has-this')), 404)


class Access(Case):
    @classmethod
    def fill(cls):
        cls.server.added('a.bag', bag(LAB[0]))
        cls.server.added('b.bag', bag(LAB[1]), collection='secret')
        create = lambda role, *args: reel('token', 'create', '--role', role, '--name', role, '--data', cls.server.data, *args).stdout.decode().strip()
        cls.admin, cls.limited = create('admin'), create('edit', '--collection', 'lab')

    def ask(self, path, token):
        return self.server.request('GET', API + path, headers={'Authorization': 'Bearer ' + token})

    def test_only_what_the_caller_may_see_is_merged(self):
        for query in ('', 'collection=secret', 'q=b', 'q=a+or+b'):
            answer = self.ask('/search/as/x.mcap?' + query, self.limited)
            if answer.status != 404:
                self.assertEqual(by_topic(read_mcap(answer.body)[2]), by_topic(LAB[0]))
        self.assertEqual(len(read_mcap(self.ask('/search/as/x.mcap', self.admin).body)[2]), len(LAB[0]) + len(LAB[1]))

    def test_only_what_the_caller_may_see_is_changed(self):
        post = lambda body, query='': self.server.request('POST', API + '/recordings:batch' + query, json.dumps(body), {'Content-Type': 'application/json', 'Authorization': 'Bearer ' + self.limited})
        listed = self.ask('/recordings', self.admin).json()['items']
        secret = [r['id'] for r in listed if r['collection'] == 'secret']
        plan = post({'ids': [r['id'] for r in listed], 'action': 'trash'}, '?dry_run=true').json()
        self.assertEqual((plan['matched'], plan['not_found']), (1, secret))
        self.assertEqual(post({'q': 'collection:secret', 'action': 'trash'}, '?dry_run=true').json()['matched'], 0)
        self.assertEqual(post({'q': 'a', 'action': 'change', 'collection': 'secret'}).status, 403)

    def test_only_what_the_caller_may_see_is_in_the_archive(self):
        with zipfile.ZipFile(io.BytesIO(self.ask('/search/export.zip', self.limited).body)) as archive:
            self.assertEqual(archive.namelist(), ['lab/a.mcap'])
        self.assertEqual(self.ask('/search/export.zip?collection=secret', self.limited).status, 404)


class Batch(Case):
    """POST /recordings:batch."""
    def setUp(self):
        self.tag = 't%d' % random.randrange(1 << 40)
        self.ids = [self.server.added('%s-%d.bag' % (self.tag, i), bag(lab_messages(1, salt=i)), '?tag=lot=' + self.tag) for i in range(4)]

    def post(self, body, query='', status=202, token=None):
        headers = {'Content-Type': 'application/json', **({'Authorization': 'Bearer ' + token} if token else {})}
        answer = self.server.request('POST', API + '/recordings:batch' + query, json.dumps(body), headers)
        self.assertEqual(answer.status, status, answer)
        return answer.json()

    def done(self, body):
        job = self.post(body)['job']
        eventually(lambda: self.get(job['href']).json()['state'] not in ('queued', 'running'))
        state = self.get(job['href']).json()
        self.assertEqual(state['state'], 'done', state)
        return state, self.get(job['href'] + '/results').json()['items']

    def row(self, i):
        return self.get('%s/recordings/%s' % (API, self.ids[i])).json()

    def test_a_dry_run_changes_nothing(self):
        before = [self.row(i) for i in range(4)]
        plan = self.post({'q': 'lot:' + self.tag, 'action': 'change', 'collection': 'moved', 'name': 'day1/{stem}-{n}{ending}'}, '?dry_run=true', 200)
        self.assertEqual((plan['matched'], plan['changes'], plan['problems']), (4, 4, 0))
        self.assertEqual(plan['items'][0]['new_name'], 'day1/%s-0-1.bag' % self.tag)
        self.assertEqual([self.row(i) for i in range(4)], before)
        plan = self.post({'ids': self.ids, 'action': 'change', 'name': 'one.bag'}, '?dry_run=true', 200)
        self.assertEqual((plan['changes'], plan['problems']), (1, 3))

    def test_move_rename_and_tag(self):
        state, results = self.done({'q': 'lot:' + self.tag, 'action': 'change', 'collection': 'moved', 'name': '{stem}-{n}{ending}', 'tags': {'checked': 'yes', 'lot': None}})
        self.assertEqual(state['outcome'], {'changed': 4, 'unchanged': 0, 'failed': 0, 'pending': 0})
        self.assertEqual([r['result'] for r in results], ['changed'] * 4)
        for i in range(4):
            row = self.row(i)
            self.assertEqual((row['collection'], row['name'], row['tags']), ('moved', '%s-%d-%d.bag' % (self.tag, i, i + 1), {'checked': 'yes'}))
        changes = self.get(API + '/changes?since=0&limit=1000&kind=recording.renamed').json()['items']
        self.assertLessEqual(set(self.ids), {c['recording'] for c in changes})

    def test_trash_and_restore(self):
        self.done({'ids': self.ids[:2], 'action': 'trash'})
        self.assertEqual([self.row(i)['state'] for i in range(3)], ['trashed', 'trashed', 'ready'])
        state, results = self.done({'ids': self.ids, 'action': 'restore'})
        self.assertEqual([r['result'] for r in results], ['changed', 'changed', 'unchanged', 'unchanged'])
        self.done({'ids': self.ids, 'action': 'rescan'})
        self.done({'ids': self.ids[:2], 'action': 'trash'})
        state, results = self.done({'q': self.tag, 'action': 'restore'})  # looks into the trash
        self.assertEqual(sorted(r['recording'] for r in results), sorted(self.ids[:2]))
        self.assertEqual([self.row(i)['state'] for i in range(3)], ['ready'] * 3)

    def test_one_that_fails_does_not_stop_the_others(self):
        state, results = self.done({'ids': self.ids + ['f' * 32], 'action': 'change', 'name': self.tag + '-same.bag'})
        self.assertEqual([r['result'] for r in results], ['changed', 'failed', 'failed', 'failed'])
        self.assertIn('already', results[1]['problem'])
        state, results = self.done({'ids': self.ids[:1], 'action': 'change', 'epoch': '2024-05-01T00:00:00Z'})
        self.assertIn('calendar', results[0]['problem'])

    def test_it_goes_on_after_a_kill(self):
        server = Server()
        server.own = False
        self.addCleanup(shutil.rmtree, server.data, True)
        for i in range(60):
            server.added('k%02d.bag' % i, bag(lab_messages(1, salt=i)))
        job = server.request('POST', API + '/recordings:batch', json.dumps({'q': 'collection:lab', 'action': 'change', 'name': 'x-{name}'}), {'Content-Type': 'application/json'}).json()['job']
        eventually(lambda: server.get(job['href']).json()['state'] != 'queued')
        server.terminate(signal.SIGKILL)
        server.stop(-signal.SIGKILL)
        again = Server(server.data)
        self.addCleanup(again.stop)
        eventually(lambda: again.get(job['href']).json()['state'] == 'done')
        names = [r['name'] for r in again.get(API + '/recordings?limit=1000&sort=name').json()['items']]
        self.assertEqual(names, ['x-k%02d.bag' % i for i in range(60)])
        self.assertEqual({r['result'] for r in again.get(job['href'] + '/results?limit=100').json()['items']} - {'unchanged'}, {'changed'})

    def test_mistakes_are_named(self):
        for body, word in (({}, 'ids'), ({'ids': [], 'q': 'x', 'action': 'trash'}, 'either'), ({'q': 'x', 'action': 'burn'}, 'restore'), ({'q': 'x', 'action': 'change'}, 'needs'),
                           ({'q': 'x', 'action': 'change', 'name': '{date}'}, '{stem}'), ({'q': 'x', 'action': 'trash', 'name': 'y'}, 'change'), ({'q': 'x', 'action': 'change', 'tags': 3}, 'object')):
            self.assertIn(word, json.dumps(self.post(body, status=400)))


class RenameCollection(Case):
    def ask(self, method, path, body=None, token=None):
        return self.server.request(method, API + path, json.dumps(body) if body is not None else None, {'Content-Type': 'application/json', 'Authorization': 'Bearer ' + (token or self.admin)})

    @classmethod
    def fill(cls):
        cls.ids = [cls.server.added('a%d.bag' % i, bag(lab_messages(1, salt=i))) for i in range(3)]
        cls.server.added('b.bag', bag(LAB[1]), collection='other')
        create = lambda role, *args: reel('token', 'create', '--role', role, '--name', role, '--data', cls.server.data, *args).stdout.decode().strip()
        cls.admin, cls.limited = create('admin'), create('edit', '--collection', 'lab')

    def test_all_that_names_it_follows(self):
        self.assertEqual(self.ask('PUT', '/admin/retention', {'rules': [{'collection': 'lab', 'max_age': '30d'}], 'quotas': [{'collection': 'lab*', 'recordings': 9}]}).status, 200)
        self.assertEqual(self.ask('DELETE', '/recordings/' + self.ids[2]).status, 204)
        self.assertEqual(self.ask('PATCH', '/collections/lab', {'description': 'the hall'}).status, 200)
        self.assertProblem(self.ask('PATCH', '/collections/lab', {'name': 'other'}), 409, 'already')
        self.assertProblem(self.ask('PATCH', '/collections/lab', {'name': 'lab*'}), 400, 'glob')
        self.assertProblem(self.ask('PATCH', '/collections/lab', {'name': 'hall'}, self.limited), 403, 'admin')
        self.assertProblem(self.ask('PATCH', '/collections/none', {'name': 'hall'}), 404)
        renamed = self.ask('PATCH', '/collections/lab', {'name': 'hall'})
        self.assertEqual((renamed.status, renamed.json()['name'], renamed.json()['description'], renamed.json()['recordings']), (200, 'hall', 'the hall', 2))
        self.assertEqual({self.ask('GET', '/recordings/' + i, None, self.limited).json()['collection'] for i in self.ids}, {'hall'})
        self.assertEqual(self.ask('GET', '/recordings?q=hall').json()['items'][0]['collection'], 'hall')
        rules = self.ask('GET', '/admin/retention').json()
        self.assertEqual([r['collection'] for r in rules['rules'] + rules['quotas']], ['hall', 'lab*'])
        self.assertEqual(self.ask('GET', '/collections/lab').status, 404)
        kinds = [c['kind'] for c in self.ask('GET', '/changes?since=0&limit=1000').json()['items'] if c['recording'] == self.ids[0]]
        self.assertIn('recording.renamed', kinds)


class Get(Case):
    """reel get."""
    @classmethod
    def fill(cls):
        cls.files = {'g%d.bag' % i: bag(lab_messages(1, salt=i)) for i in range(4)}
        for name, data in cls.files.items():
            cls.server.added('day1/' + name, data, '?tag=robot=r2')
        cls.server.added('other.bag', bag(LATER))

    def test_a_mirror_that_goes_on(self):
        folder = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, folder)
        at = lambda name='': os.path.join(folder, 'lab/day1', name)
        os.makedirs(at())
        with open(at('g0.bag.part'), 'wb') as f:
            f.write(self.files['g0.bag'][:1000])
        with open(at('g1.bag.part'), 'wb') as f:
            f.write(b'?' * 1000)  # of something else
        first = reel('get', self.server.base + '?q=robot:r2', folder, check=False)
        self.assertEqual(first.returncode, 1)
        self.assertIn(b'3 received, 0 skipped, 1 failed', first.stderr)
        self.assertIn(b'SHA-256', first.stderr)
        self.assertIn(b'1 received, 3 skipped, 0 failed', reel('get', self.server.base + '/api/v1/?q=robot:r2', folder).stderr)
        self.assertEqual(sorted(os.listdir(at())), sorted(self.files))
        for name, data in self.files.items():
            with open(at(name), 'rb') as f:
                self.assertEqual(f.read(), data)
        with open(at('g2.bag'), 'r+b') as f:
            f.write(b'!')
        self.assertIn(b'1 received, 3 skipped, 0 failed', reel('get', self.server.base + '?q=robot:r2', folder).stderr)

    def test_names_of_255_bytes(self):
        folder = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, folder)
        names = ['ü' * 100 + '%051d.bag' % i for i in range(2)]  # the same but for their ends
        for i, name in enumerate(names):
            self.assertEqual(len(name.encode()), 255)
            self.server.added(name, bag(lab_messages(1, salt=90 + i)), '?tag=long=yes')
        self.assertIn(b'2 received, 0 skipped, 0 failed', reel('get', self.server.base + '?q=long:yes', folder).stderr)
        self.assertEqual(sorted(os.listdir(os.path.join(folder, 'lab'))), names)
        mcap = os.path.join(folder, 'm' * 250 + '.mcap')
        reel('convert', os.path.join(folder, 'lab', names[0]), mcap)
        self.assertGreater(os.path.getsize(mcap), 0)

    def test_mistakes_are_named(self):
        self.assertIn(b'answered 400', reel('get', self.server.base + '?q=(x', tempfile.gettempdir(), check=False).stderr)
        self.assertEqual(reel('get', self.server.base, check=False).returncode, 2)
