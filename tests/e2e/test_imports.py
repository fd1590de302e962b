"""Files of the server's machine: taken in by request and from watched folders, copied, moved or only referred to; bad ones among good, a crash in the middle."""
import csv
import hashlib
import http.client
import io
import json
import os
import re
import shutil
import socket
import signal
import tempfile
import time
import unittest

import legacy
from harness import API, Server, eventually, files_below, in_a_file, in_a_folder, reel
from samples import bag, lab_messages, nanover, nanover_messages

TRAJ, STATE = legacy.pair(salt=9)


class Imports(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.data, self.root = os.path.join(self.folder, 'data'), os.path.join(self.folder, 'root')
        os.mkdir(self.root)
        self.server = None

    def start(self, *args, root=True):
        self.server = Server(self.data, *(('--import-root', self.root) if root else ()), *args)
        self.addCleanup(self.server.stop, None)
        return self.server

    def write(self, name, data, age=0):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as f:
            f.write(data)
        if age:
            os.utime(path, (time.time() - age,) * 2)
        return path

    def ask(self, body, query='', status=202):
        answer = self.server.request('POST', API + '/imports' + query, json.dumps(body), {'Content-Type': 'application/json'})
        self.assertEqual(answer.status, status, answer)
        return answer.json()

    def ended(self, job):
        """The job, once it has ended."""
        def look():
            view = self.server.get(API + '/jobs/' + job).json()
            return view if view['state'] not in ('queued', 'running') else None
        return eventually(look)

    def take(self, state='done', **body):
        job = self.ended(self.ask(body)['job']['id'])
        self.assertEqual(job['state'], state, job)
        return job['outcome']

    def rows(self, query=''):
        return self.server.get(API + '/recordings?limit=1000' + query).json()['items']

    def names(self, query=''):
        return sorted(r['name'] for r in self.rows(query))

    def failures(self):
        return self.server.get(API + '/failures').json()['items']

    def blobs(self):
        return sorted(os.path.basename(f) for f in files_below(os.path.join(self.data, 'blobs')) if '.' not in os.path.basename(f))

    def metric(self, name):
        return int(re.search(r'^%s (\d+)$' % re.escape(name), self.server.get('/metrics').body.decode(), re.M).group(1))

    def read(self, recording):
        return self.server.get('%s/recordings/%s/messages?topic=/odom' % (API, recording))

    # ---- by request

    @in_a_folder
    def test_copy(self):
        self.start()
        data = bag(lab_messages(2))
        self.write('day1/run.bag', data)
        self.write('day2/run.bag', bag(lab_messages(2, salt=1)))
        self.write('day2/run.traj', TRAJ)
        self.write('day2/run.state', STATE)
        self.write('day2/notes.txt', b'nothing that is read')
        self.write('day2/late.bag.active', bag(lab_messages(2, salt=3)))
        self.write('day2/.hidden.bag', bag(lab_messages(2, salt=4)))
        outcome = self.take(path='.', collection='lab', tags={'robot': 'r1'})
        self.assertEqual({k: v for k, v in outcome.items() if v}, {'created': 3, 'no_recording': 1})
        rows = {r['name']: r for r in self.rows()}
        self.assertEqual(sorted(rows), ['day1/run.bag', 'day2/run.bag', 'day2/run.traj'])
        one = self.server.get('%s/recordings/%s' % (API, rows['day1/run.bag']['id'])).json()
        self.assertEqual((one['collection'], one['tags']), ('lab', {'robot': 'r1'}))
        self.assertEqual(self.server.get('%s/recordings/%s/file/run.bag' % (API, one['id'])).body, data)
        self.assertEqual(len(self.read(one['id']).rows()), 100)
        parts = self.server.get('%s/recordings/%s' % (API, rows['day2/run.traj']['id'])).json()['parts']
        self.assertEqual(sorted(p['name'] for p in parts), ['run.state', 'run.traj'])
        self.assertEqual(len(self.blobs()), 4)
        self.assertEqual(self.failures(), [])

    def test_unchanged_files_are_not_read_again(self):
        self.start()
        path = self.write('a.bag', bag(lab_messages(2)))
        self.write('b.traj', TRAJ)
        self.write('b.state', STATE)
        self.write('bad.bag', b'#ROSBAG V1.2\n' + bytes(100))
        self.take(path='.')
        read = self.metric('reel_import_read_bytes_total')
        self.assertGreater(read, os.path.getsize(path))
        outcome = self.take(path='.')
        self.assertEqual({k: v for k, v in outcome.items() if v}, {'unchanged': 3})
        self.assertEqual(self.metric('reel_import_read_bytes_total'), read)
        os.utime(path)  # touched: its edges are looked at, not the whole
        self.assertEqual(self.take(path='.')['unchanged'], 3)
        self.assertEqual(self.metric('reel_import_read_bytes_total'), read)
        self.write('a.bag', bag(lab_messages(2, salt=1)))
        self.assertEqual(self.take(path='a.bag', replace=True)['created'], 1)
        self.assertGreater(self.metric('reel_import_read_bytes_total'), read)
        self.assertEqual([r['revision'] for r in self.rows() if r['name'] == 'a.bag'], [2, 1])

    @in_a_folder
    def test_move(self):
        self.start()
        data = bag(lab_messages(2))
        path, bad = self.write('a.bag', data), self.write('bad.bag', b'#ROSBAG V1.2\n' + bytes(100))
        outcome = self.take(path='.', mode='move')
        self.assertEqual((outcome['created'], outcome['failed']), (1, 1))
        self.assertFalse(os.path.exists(path))
        self.assertTrue(os.path.exists(bad))
        self.assertEqual(self.blobs(), [hashlib.sha256(data).hexdigest()])
        again = self.write('a.bag', data)
        self.assertEqual(self.take(path='a.bag', mode='move')['exists'], 1)
        self.assertFalse(os.path.exists(again))
        self.assertEqual(len(self.rows()), 1)

    def test_glob_and_dry_run(self):
        self.start()
        for day in (1, 2, 3):
            self.write('day%d/run.bag' % day, bag(lab_messages(1, salt=day)))
            self.write('day%d/sim.nanover.zip' % day, nanover(nanover_messages()))
        seen, query = [], '?limit=2'
        while query:
            page = self.ask({'glob': 'day*.bag', 'dry_run': True}, query, 200)
            self.assertLessEqual(len(page['items']), 2)
            seen += [(i['outcome'], i['files'], i['name'], i['format'], i['name_taken']) for i in page['items']]
            query = page['next'] and '?limit=2&cursor=' + page['next']
        self.assertEqual(seen, [('would_take', ['day%d/run.bag' % d], 'day%d/run.bag' % d, 'rosbag-1.2', False) for d in (1, 2, 3)])
        self.assertEqual((self.rows(), self.blobs(), self.failures()), ([], [], []))
        for cursor in ('1', '-1.0', '1.0x', '+1.0', '1. 0'):
            self.ask({'glob': 'day*.bag', 'dry_run': True}, '?cursor=' + cursor.encode().hex(), 400)
        self.assertEqual(self.take(glob='day[12]*')['created'], 0)  # brackets mean nothing
        self.assertEqual(self.take(paths=['day1', 'day2'], glob='*.bag')['created'], 1)  # the second is called run.bag, too
        self.assertEqual(self.names(), ['run.bag'])
        self.assertEqual([f['code'] for f in self.failures()], ['conflict'])
        self.assertEqual(self.take(glob='*.bag', collection='all')['created'], 3)
        self.assertEqual(self.names('&collection=all'), ['day1/run.bag', 'day2/run.bag', 'day3/run.bag'])

    def test_nothing_leads_out_of_the_roots(self):
        secret = os.path.join(self.folder, 'secret')
        os.mkdir(secret)
        outside = os.path.join(secret, 'a.bag')
        with open(outside, 'wb') as f:
            f.write(bag(lab_messages(1)))
        os.symlink(outside, os.path.join(self.root, 'link.bag'))
        os.symlink(secret, os.path.join(self.root, 'linked'))
        os.mkfifo(os.path.join(self.root, 'pipe.bag'))
        named = socket.socket(socket.AF_UNIX)
        self.addCleanup(named.close)
        named.bind(os.path.join(self.root, 'socket.bag'))
        self.start()
        for path, status in (('../secret/a.bag', 400), (outside, 404), ('/etc/passwd', 404), ('link.bag', 400), ('linked', 400), ('linked/a.bag', 400), ('none', 404),
                             ('x/../../secret/a.bag', 400), (self.root + '/../secret', 400), ('socket.bag', 400), (self.root + 'x', 404)):
            for mode in ('copy', 'move', 'reference'):
                answer = self.ask({'path': path, 'mode': mode}, status=status)
                self.assertNotIn(self.folder, answer['detail'].replace(path, ''))
        self.assertEqual({k: v for k, v in self.take(path='.').items() if v}, {})
        self.assertEqual(self.take(path='pipe.bag')['failed'], 1)
        self.assertEqual(self.rows(), [])
        self.assertTrue(os.path.exists(outside))
        for body in ({}, {'path': 'a', 'paths': ['b']}, {'path': 1}, {'path': '.', 'mode': 'steal'}, {'path': '.', 'other': 1}, {'paths': []}, {'path': '.', 'dry_run': 1},
                     {'path': '.', 'collection': 'a/b'}, {'path': '.', 'tags': 3}, {'path': 'a\0b'}):
            self.ask(body, status=400)

    @in_a_folder
    def test_the_archive_itself_is_not_imported(self):
        self.data = os.path.join(self.root, 'data')
        self.write('a.bag', bag(lab_messages(1)))
        self.start()
        self.assertEqual(self.take(path='.')['created'], 1)
        blob, = self.blobs()
        self.assertEqual(self.take(path='data')['created'], 0)
        self.assertEqual(self.take(path='data/blobs/%s/%s' % (blob[:2], blob), mode='move')['failed'], 1)
        self.assertEqual(len(self.rows()), 1)
        self.assertEqual(self.blobs(), [blob])

    def test_no_roots(self):
        self.start(root=False)
        self.assertIn('--import-root', self.ask({'path': 'a'}, status=404)['detail'])

    # ---- what cannot be read

    def test_bad_files_stop_nothing(self):
        self.start()
        for i in range(6):
            self.write('tree/good%d.bag' % i, bag(lab_messages(1, salt=i)))
            self.write('tree/bad%d.bag' % i, b'#ROSBAG V1.2\n' + bytes([i]) * 200)
        self.write('tree/empty.mcap', b'')
        outcome = self.take(path='tree')
        self.assertEqual((outcome['created'], outcome['failed']), (6, 7))
        rows = self.failures()
        self.assertEqual(sorted(r['path'] for r in rows if r['path'].endswith('.bag')), ['tree/bad%d.bag' % i for i in range(6)])
        self.assertEqual({(r['tries'], r['collection'], r['recording']) for r in rows}, {(1, 'default', None)})
        self.assertTrue(all(r['reason'] and r['code'] and r['first_failed'] == r['last_failed'] for r in rows), rows)
        self.assertNotIn(self.folder, json.dumps(rows))
        # pages, and other forms
        first = self.server.get(API + '/failures?limit=4')
        second = self.server.get(first.next_path())
        self.assertEqual(first.json()['items'] + second.json()['items'], rows)
        self.assertIsNone(self.server.get(API + '/failures?limit=8').next_path())
        self.assertEqual(self.server.get(API + '/failures?output=ndjson').rows(), rows)
        for cursor in ('x', '+1', '1x'):
            self.assertEqual(self.server.get('%s/failures?cursor=%s' % (API, cursor.encode().hex())).status, 400, cursor)
        table = list(csv.DictReader(io.StringIO(self.server.get(API + '/failures', Accept='text/csv').body.decode())))
        self.assertEqual([r['path'] for r in table], [r['path'] for r in rows])
        # retried without success, retried after a repair, dismissed
        bad0, bad1, bad2 = sorted((r for r in rows if r['path'].endswith('.bag')), key=lambda r: r['path'])[:3]
        answer = self.server.request('POST', '%s/failures/%d/retry' % (API, bad0['id']))
        self.assertEqual(answer.status, 202, answer)
        self.assertEqual(self.ended(answer.json()['job']['id'])['state'], 'failed')
        self.assertEqual([r['tries'] for r in self.failures() if r['id'] == bad0['id']], [2])
        self.write('tree/bad1.bag', bag(lab_messages(1, salt=77)))
        answer = self.server.request('POST', '%s/failures/%d/retry' % (API, bad1['id']))
        self.assertEqual(self.ended(answer.json()['job']['id'])['state'], 'done')
        self.assertIn('bad1.bag', self.names())
        self.assertEqual(self.server.request('DELETE', '%s/failures/%d' % (API, bad2['id'])).status, 204)
        self.assertEqual({r['id'] for r in rows} - {r['id'] for r in self.failures()}, {bad1['id'], bad2['id']})
        for method, path in (('DELETE', '/failures/%d' % bad2['id']), ('POST', '/failures/999999/retry'), ('DELETE', '/failures/x')):
            self.assertEqual(self.server.request(method, API + path).status, 404)
        self.assertEqual(self.take(path='tree')['created'], 0)

    def test_kept_uploads_are_failures_too(self):
        self.start()
        answer = self.server.put('bad.bag', b'#ROSBAG V1.2\n' + bytes(100), '?keep=true')
        self.assertEqual(answer.status, 422)
        row, = self.failures()
        recording, = self.rows('&state=failed')
        self.assertEqual((row['recording'], row['name'], row['path'], row['collection']), (recording['id'], 'bad.bag', None, 'lab'))
        self.assertTrue(row['reason'])
        answer = self.server.request('POST', '%s/failures/%d/retry' % (API, row['id']))
        self.assertEqual(self.ended(answer.json()['job']['id'])['state'], 'failed')
        self.assertEqual([r['tries'] for r in self.failures()], [2])
        self.server.request('DELETE', '%s/recordings/%s?purge=true' % (API, recording['id']))
        self.assertEqual(self.failures(), [])

    # ---- references

    @in_a_folder
    def test_reference(self):
        self.start('--rescan-interval', '1')
        data = bag(lab_messages(2))
        path = self.write('a.bag', data, age=100)
        self.assertEqual(self.take(path='.', mode='reference')['created'], 1)
        self.assertEqual(self.blobs(), [])
        recording, = self.rows()
        one = '%s/recordings/%s' % (API, recording['id'])

        def state():
            return self.rows()[0]['state']

        self.assertEqual(self.server.get(one + '/file/a.bag').body, data)
        self.assertEqual(len(self.read(recording['id']).rows()), 100)
        # gone: noticed on a request, and without one
        os.rename(path, path + '.away')
        self.assertEqual(self.read(recording['id']).status, 410)
        self.assertEqual(self.server.get(one).json()['state'], 'missing')
        os.rename(path + '.away', path)
        self.assertEqual(len(self.read(recording['id']).rows()), 100)
        os.rename(path, path + '.away')
        self.assertTrue(eventually(lambda: state() == 'missing'))
        self.assertTrue(eventually(lambda: len(self.rows('&state=missing')) == 1))
        os.rename(path + '.away', path)
        self.assertTrue(eventually(lambda: state() == 'ready'))
        # touched: the same after all
        os.utime(path, (time.time() - 50,) * 2)
        self.assertTrue(eventually(lambda: state() == 'ready' and self.read(recording['id']).status == 200))
        # changed, and back
        other = bag(lab_messages(2, salt=1))
        self.assertEqual(len(other), len(data))
        with open(path, 'r+b') as f:
            f.write(other)
        self.assertEqual(self.read(recording['id']).status, 410)
        self.assertTrue(eventually(lambda: state() == 'changed'))
        time.sleep(2.5)  # looks at it must not change their mind
        self.assertEqual([r['state'] for r in self.rows('&state=changed')], ['changed'])
        with open(path, 'r+b') as f:
            f.write(data)
        self.assertTrue(eventually(lambda: state() == 'ready'))
        self.assertEqual(self.server.get(one + '/file/a.bag').body, data)
        # a restart without and with the root
        self.server.stop()
        self.start(root=False)
        self.assertTrue(eventually(lambda: state() == 'missing'))
        self.server.stop()
        self.start()
        self.assertTrue(eventually(lambda: state() == 'ready'))
        # purged: the file stays
        self.assertEqual(self.server.request('DELETE', one + '?purge=true').status, 204)
        with open(path, 'rb') as f:
            self.assertEqual(f.read(), data)
        self.assertEqual(files_below(os.path.join(self.data, 'blobs')), [])

    @in_a_folder
    def test_a_reference_outlives_the_catalog_file(self):
        """The reference to the file is in the store, next to the manifest."""
        self.start()
        data = bag(lab_messages(2))
        path = self.write('a.bag', data, age=100)
        self.take(path='a.bag', mode='reference')
        note, = [f for f in files_below(os.path.join(self.data, 'blobs')) if f.endswith('.ref')]
        self.assertEqual(os.path.basename(note), hashlib.sha256(data).hexdigest() + '.ref')
        with open(note) as f:
            output = json.load(f)
        self.assertEqual((output['path'], output['size']), (os.path.realpath(path), len(data)))
        # an upload of the same content makes a copy, which stands for it from then on
        self.assertEqual(self.server.put('b.bag', data).status, 201)
        self.assertEqual(self.blobs(), [hashlib.sha256(data).hexdigest()])
        self.assertFalse(os.path.exists(note))
        os.unlink(path)
        for r in self.rows():
            self.assertEqual(len(self.read(r['id']).rows()), 100)

    @in_a_folder
    def test_an_upload_heals_a_reference(self):
        self.start()
        data = bag(lab_messages(2))
        path = self.write('a.bag', data, age=100)
        self.take(path='a.bag', mode='reference', collection='lab')
        self.write('a.bag', bag(lab_messages(2, salt=1)))
        recording, = self.rows()
        one = '%s/recordings/%s' % (API, recording['id'])
        self.assertEqual(self.server.get(one).json()['state'], 'changed')
        self.assertEqual(self.server.put('a.bag', data).status, 200)
        self.assertEqual(self.server.get(one).json()['state'], 'ready')
        os.unlink(path)
        self.assertEqual(self.server.get(one + '/file/a.bag').body, data)

    @in_a_folder
    @in_a_file
    def test_a_lost_catalog(self):
        self.start()
        self.write('a.bag', bag(lab_messages(2)), age=100)
        self.take(path='.', mode='reference')
        self.server.stop()
        for name in os.listdir(self.data):
            if name.startswith('catalog.db'):
                os.unlink(os.path.join(self.data, name))
        self.start('--rescan-interval', '1')
        recording, = self.rows()
        self.assertEqual(len(self.read(recording['id']).rows()), 100)
        self.assertTrue(eventually(lambda: [j['state'] for j in self.server.get(API + '/jobs').json()['items'] if j['kind'] == 'sweep'] == ['done']))
        self.assertEqual(self.take(path='.', mode='reference')['unchanged'], 1)
        self.assertEqual(self.metric('reel_import_read_bytes_total'), 0)
        os.rename(os.path.join(self.root, 'a.bag'), os.path.join(self.folder, 'b'))
        self.assertTrue(eventually(lambda: self.rows()[0]['state'] == 'missing'))

    def test_too_deep_a_folder_is_reported(self):
        self.start()
        deep = '/'.join('d' * 3 for _ in range(70))
        self.write('a/%s/far.bag' % deep, bag(lab_messages(1)))
        self.write('z.bag', bag(lab_messages(1, salt=1)))
        outcome = self.take(path='.')
        self.assertEqual((outcome['created'], outcome['failed']), (1, 1))
        row, = self.failures()
        self.assertEqual(row['path'], 'a/' + '/'.join('d' * 3 for _ in range(63)))
        self.assertIn('deeper than 64', row['reason'])
        self.take(path='.')
        self.assertEqual(len(self.failures()), 1)
        shutil.rmtree(os.path.join(self.root, row['path'], 'ddd'))
        self.assertEqual(self.take(path='.')['failed'], 0)
        self.assertEqual(self.failures(), [])

    @in_a_folder
    def test_odd_names(self):
        self.start()
        for name in (b'\xff.bag', b'new\nline.bag', b'x' * 250 + b'.bag', '\u00e4 \u2603 #?%.bag'.encode()):
            with open(os.path.join(self.root.encode(), name), 'wb') as f:
                f.write(bag(lab_messages(1)))
        for mode in ('copy', 'reference'):
            outcome = self.take(path='.', mode=mode, collection=mode)
            self.assertEqual((outcome['created'], outcome['failed']), (2, 2))
            self.assertEqual(self.names('&collection=' + mode), ['x' * 250 + '.bag', '\u00e4 \u2603 #?%.bag'])
        rows = self.failures()
        self.assertEqual(sorted(r['path'] for r in rows), ['\\xff.bag', 'new\nline.bag'])
        self.assertEqual({r['code'] for r in rows}, {'refused'})
        self.take(path='\u00e4 \u2603 #?%.bag', collection='named')

    # ---- watched folders

    def watch(self):
        return self.server.get(API + '/watches').json()['items'][0]

    def test_watch(self):
        self.write('old.bag', bag(lab_messages(1)), age=100)
        self.write('sub/old.traj', TRAJ, age=100)
        self.write('sub/old.state', STATE, age=100)
        self.start('--watch', self.root + '=lab', '--still-time', '3', '--rescan-interval', '3600', root=False)  # many times the pauses below
        self.assertTrue(eventually(lambda: self.names() == ['old.bag', 'sub/old.traj']), self.watch())
        self.assertEqual({r['collection'] for r in self.rows()}, {'lab'})
        # a growing one waits
        data = bag(lab_messages(4))
        with open(os.path.join(self.root, 'grow.bag'), 'wb') as f:
            for at in range(0, len(data), len(data) // 5):
                f.write(data[at:at + len(data) // 5])
                f.flush()
                self.assertEqual(self.names(), ['old.bag', 'sub/old.traj'])
                time.sleep(0.3)
        self.assertTrue(eventually(lambda: 'grow.bag' in self.names()), self.watch())
        self.assertEqual([r['revision'] for r in self.rows() if r['name'] == 'grow.bag'], [1])
        self.assertEqual(self.server.get('%s/recordings/name:lab%%2Fgrow.bag/file/x' % API).body[:20], data[:20])
        self.assertEqual(self.failures(), [])
        # a new folder, a file that gets its name at the end, one that is bad
        self.write('new/deep/er.bag.active', bag(lab_messages(1, salt=5)))
        self.write('new/bad.bag', b'#ROSBAG V1.2\n' + bytes(100))
        self.assertTrue(eventually(lambda: self.failures()))
        os.rename(os.path.join(self.root, 'new/deep/er.bag.active'), os.path.join(self.root, 'new/deep/er.bag'))
        self.assertTrue(eventually(lambda: 'new/deep/er.bag' in self.names()), self.watch())
        self.assertEqual([f['path'] for f in self.failures()], ['new/bad.bag'])
        # a file that becomes another is the next revision
        self.write('old.bag', bag(lab_messages(2, salt=8)))
        self.assertTrue(eventually(lambda: [r['revision'] for r in self.rows() if r['name'] == 'old.bag'] == [2, 1]))
        # two that belong together wait for each other
        self.write('pair/run.traj', TRAJ)
        time.sleep(0.3)
        self.write('pair/run.state', STATE + b'')
        self.assertTrue(eventually(lambda: 'pair/run.traj' in self.names() or 'pair/run.state' in self.names()))
        one, = [r for r in self.rows() if r['name'].startswith('pair/')]
        self.assertEqual(len(self.server.get('%s/recordings/%s' % (API, one['id'])).json()['parts']), 2)
        # and one that comes late makes the next revision of what it belongs to
        self.write('late/run.traj', TRAJ)
        self.assertTrue(eventually(lambda: 'late/run.traj' in self.names()))
        self.write('late/run.state', STATE)
        self.assertTrue(eventually(lambda: [r['revision'] for r in self.rows() if r['name'].startswith('late/')] == [2, 1]), self.rows())
        late = self.server.get('%s/recordings/name:lab%%2Flate%%2Frun.traj' % API).json()
        self.assertEqual(sorted(p['name'] for p in late['parts']), ['run.state', 'run.traj'])
        view = self.watch()
        self.assertEqual((view['folder'], view['collection'], view['mode'], view['state']), ('root', 'lab', 'copy', 'watching'))
        self.assertGreaterEqual(view['watched_folders'], 5)
        self.assertTrue(view['last_scan']['ended'])
        self.assertEqual(view['counts']['failed'], 1)
        # what is known is not read again by a restart, what was deleted does not come back
        gone, = [r for r in self.rows() if r['name'] == 'new/deep/er.bag']
        self.server.request('DELETE', '%s/recordings/%s?purge=true' % (API, gone['id']))
        self.server.stop()
        self.start('--watch', self.root + '=lab', '--still-time', '1', root=False)
        self.assertTrue(eventually(lambda: self.watch()['last_scan'].get('ended')))
        self.assertEqual(self.metric('reel_import_read_bytes_total'), 0)
        self.assertNotIn('new/deep/er.bag', self.names())
        self.assertEqual([f['tries'] for f in self.failures()], [1])

    def test_watch_by_rescan_alone(self):
        self.write('sub/a.bag', bag(lab_messages(1)), age=100)
        self.start('--watch', self.root, '--watch-folders', '1', '--still-time', '1', '--rescan-interval', '1', root=False)
        self.assertTrue(eventually(lambda: self.names() == ['sub/a.bag']))
        self.assertTrue(eventually(lambda: self.watch()['state'] == 'polling'))
        self.assertIn('--watch-folders', self.watch()['note'])
        self.write('sub/b.bag', bag(lab_messages(1, salt=1)))
        self.assertTrue(eventually(lambda: self.names() == ['sub/a.bag', 'sub/b.bag']))

    @in_a_folder
    def test_watch_move_and_reference(self):
        other = os.path.join(self.folder, 'other')
        os.mkdir(other)
        path = self.write('a.bag', bag(lab_messages(1)))
        self.start('--watch', self.root + '=lab', '--watch-mode', 'move', '--still-time', '1', root=False)
        self.assertTrue(eventually(lambda: self.names() == ['a.bag'] and not os.path.exists(path)))
        self.server.stop()
        path = self.write('r.bag', bag(lab_messages(1, salt=1)))
        self.start('--watch', self.root + '=lab', '--watch-mode', 'reference', '--still-time', '1', '--rescan-interval', '3600', root=False)
        self.assertTrue(eventually(lambda: self.names() == ['a.bag', 'r.bag']))
        os.unlink(path)
        self.assertTrue(eventually(lambda: [r['name'] for r in self.rows('&state=missing')] == ['r.bag']))

    # ---- jobs and crashes

    def test_progress_as_events(self):
        self.start()
        for i in range(20):
            self.write('tree/%02d.bag' % i, bag(lab_messages(4, salt=i)))
        job = self.ask({'path': 'tree'})['job']['id']
        connection = http.client.HTTPConnection('127.0.0.1', self.server.port, timeout=60)
        self.addCleanup(connection.close)
        connection.request('GET', '%s/jobs/%s' % (API, job), headers={'Accept': 'text/event-stream'})
        response = connection.getresponse()
        self.assertEqual((response.status, response.headers.get_content_type()), (200, 'text/event-stream'))
        events = re.findall(r'event: (\w+)\ndata: (\{.*\})\n\n', response.read().decode())
        self.assertEqual([kind for kind, _ in events].count('end'), 1)
        self.assertEqual(events[-1][0], 'end')
        views = [json.loads(text) for _, text in events]
        self.assertEqual((views[-1]['state'], views[-1]['outcome']['created']), ('done', 20))
        self.assertEqual(int(views[-1]['done']), int(views[-1]['total']))
        dones = [int(v['done']) for v in views]
        self.assertEqual(dones, sorted(dones))
        self.assertEqual(self.server.get(API + '/jobs/' + '0' * 32, Accept='text/event-stream').status, 404)

    def test_cancel(self):
        self.start('--scan-threads', '1')
        for i in range(60):
            self.write('tree/%02d.bag' % i, bag(lab_messages(10, salt=i)))
        job = self.ask({'path': 'tree'})['job']['id']
        self.assertEqual(self.server.request('DELETE', API + '/jobs/' + job).status, 204)
        self.assertEqual(self.ended(job)['state'], 'cancelled')
        self.assertLess(len(self.rows()), 60)
        self.assertEqual(self.failures(), [])
        self.assertEqual(self.server.request('DELETE', API + '/jobs/' + job).status, 204)  # it is what was wanted
        other = self.ask({'path': 'tree'})['job']['id']
        self.assertEqual(self.ended(other)['outcome']['failed'], 0)
        self.assertEqual(len(self.rows()), 60)
        answer = self.server.request('DELETE', API + '/jobs/' + other)
        self.assertEqual((answer.status, answer.json()['type']), (409, '/problems/conflict'))

    @in_a_folder
    def test_killed_in_the_middle(self):
        for i in range(40):
            self.write('tree/%02d.bag' % i, bag(lab_messages(6, salt=i)))
        self.start()
        self.ask({'path': 'tree', 'mode': 'move', 'collection': 'lab'})
        self.assertTrue(eventually(lambda: len(self.rows()) >= 3))
        self.server.process.send_signal(signal.SIGKILL)
        self.server.process.wait()
        self.start()  # the import goes on by itself
        self.assertTrue(eventually(lambda: len(self.rows()) == 40 and not files_below(os.path.join(self.root, 'tree'))), (self.names(), self.failures()))
        self.assertEqual((self.failures(), {r['state'] for r in self.rows()}), ([], {'ready'}))
        self.assertEqual(len(self.blobs()), 40)
        self.assertTrue(eventually(lambda: all(j['state'] == 'done' for j in self.server.get(API + '/jobs').json()['items'])))
        self.assertEqual([f for f in files_below(os.path.join(self.data, 'incoming')) if not os.path.basename(f).startswith('.')], [])
        self.server.stop()
        self.start()  # and only once
        self.assertEqual([j['state'] for j in self.server.get(API + '/jobs').json()['items'] if j['kind'] == 'import'], ['done'])

    # ---- the command line

    def test_command_line(self):
        a = self.write('a.bag', bag(lab_messages(1)))
        self.write('sub/a.bag', bag(lab_messages(1, salt=1)))
        self.write('sub/readme.txt', b'text')
        output = reel('import', '--data', self.data, '--dry-run', '--recursive', self.root).stdout.decode()
        self.assertIn('sub/a.bag: would be imported as sub/a.bag, rosbag-1.2', output)
        output = reel('import', '--data', self.data, '--collection', 'lab', '--mode', 'reference', '--glob', 'sub/*', self.root).stdout.decode()
        self.assertIn('added as lab/sub/a.bag, 57 messages', output)
        self.assertIn('readme.txt: skipped', output)
        for tag in ('robot', '=r1'):
            self.assertEqual(reel('import', '--data', self.data, '--tag', tag, a, check=False).returncode, 2)
        output = reel('import', '--data', self.data, '--mode', 'move', '--tag', 'robot=r1', '--tag', 'site=hall=7', a).stdout.decode()
        self.assertIn('added as default/a.bag', output)
        self.assertFalse(os.path.exists(a))
        self.start()
        self.assertEqual({(r['collection'], r['name'], r['state']) for r in self.rows()}, {('lab', 'sub/a.bag', 'ready'), ('default', 'a.bag', 'ready')})
        self.assertEqual({r['name']: r['tags'] for r in self.rows()}, {'sub/a.bag': {}, 'a.bag': {'robot': 'r1', 'site': 'hall=7'}})
        self.assertEqual(len(self.blobs()), 1)
