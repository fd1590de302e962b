"""Backup under load and restore, scrub, fsck both ways, a lost catalog made again, rescan; configuration, figures and log lines."""
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import unittest
from random import Random

from harness import API, LONG, REEL, Case, Server, catalog_sql, eventually, files_below, in_a_file, in_a_folder, reel
from samples import bag, lab_messages


def blob(data, body):
    sha = hashlib.sha256(body).hexdigest()
    return os.path.join(data, 'blobs', sha[:2], sha)


def flip(path, at):
    with open(path, 'r+b') as f:
        f.seek(at)
        byte = f.read(1)
        f.seek(at)
        f.write(bytes([byte[0] ^ 1]))


def wait_job(server, answer):
    """Of a 202: until it has ended; the job."""
    assert answer.status == 202, answer
    path = answer.headers['Location']
    return eventually(lambda: (lambda j: j if j['state'] not in ('queued', 'running') else None)(server.get(path).json()))


class Upkeep(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.data = os.path.join(self.folder, 'data')

    def start(self, *args, data=None, **more):
        server = Server(data or self.data, *args, **more)
        self.addCleanup(server.stop, None)
        return server

    def fsck(self, *args, data=None, code=0):
        done = reel('fsck', '--data', data or self.data, '--json', *args, check=False)
        self.assertEqual(done.returncode, code, done)
        return json.loads(done.stdout) if code < 2 else done.stderr.decode()

    def annotate(self, server, rid):
        """All kinds of annotations."""
        answer = server.request('PATCH', '%s/recordings/%s' % (API, rid), json.dumps({'tags': {'robot': 'r1', 'site': 'hall 7'}, 'description': 'through the door'}),
                                {'Content-Type': 'application/merge-patch+json'})
        self.assertEqual(answer.status, 200, answer)
        answer = server.request('POST', '%s/recordings/%s/notes' % (API, rid), json.dumps({'text': 'look here'}), {'Content-Type': 'application/json'})
        self.assertEqual(answer.status, 201, answer)

    def annotations(self, server, rid):
        r = server.get('%s/recordings/%s' % (API, rid)).json()
        notes = server.get('%s/recordings/%s/notes' % (API, rid)).json()['items']
        return [r['name'], r['collection'], r['revision'], r['state'], r['messages'], r['tags'], r['description'], [n['text'] for n in notes], r['clock']]

    @in_a_folder
    @in_a_file
    def test_backup_under_load_and_restore(self):
        server = self.start('--backup-dir', os.path.join(self.folder, 'backups'))
        os.mkdir(os.path.join(self.folder, 'backups'))
        first = bag(lab_messages(20))
        rid = server.added('first.bag', first)
        self.annotate(server, rid)
        before = self.annotations(server, rid)
        stop, sent, failed = threading.Event(), [], []

        def load():
            for i in range(10000):
                if stop.is_set():
                    return
                answer = server.put('load-%d' % i, bag(lab_messages(21 + i)))
                (sent if answer.status in (200, 201) else failed).append((i, answer))
        thread = threading.Thread(target=load)
        thread.start()
        try:
            self.assertTrue(eventually(lambda: len(sent) > 3 or failed))
            own = os.path.join(self.folder, 'own')
            done = json.loads(reel('backup', own, '--data', self.data, '--blobs', 'copy').stdout)
            job = wait_job(server, server.request('POST', API + '/admin/backup?blobs=link'))
            self.assertEqual(job['state'], 'done', job)
        finally:
            stop.set()
            thread.join()
        self.assertEqual(failed, [])
        last = server.get(API + '/admin/backup/last').json()
        theirs = os.path.join(self.folder, 'backups', last['name'])
        server.stop()
        for folder, report in ((own, done), (theirs, last)):
            catalog = open(os.path.join(folder, 'catalog.db'), 'rb').read()
            self.assertEqual(report['catalog']['sha256'], hashlib.sha256(catalog).hexdigest())
            self.assertGreaterEqual(report['recordings'], 4)
            self.assertEqual(report['files']['count'], report['recordings'])
            check = subprocess.run(['sha256sum', '--quiet', '-c', 'blobs.txt'], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual((check.returncode, check.stdout), (0, b''))
            with open(os.path.join(folder, 'blobs.txt'), 'rb') as f:
                self.assertEqual(report['files']['sha256'], hashlib.sha256(f.read()).hexdigest())
            found = self.fsck(data=folder)
            self.assertEqual(found['recordings'], report['recordings'])
            restored = self.start(data=folder)
            self.assertEqual(self.annotations(restored, rid), before)
            self.assertEqual(before[5:8], [{'robot': 'r1', 'site': 'hall 7'}, 'through the door', ['look here']])
            self.assertEqual(restored.get('%s/recordings/%s/file/first.bag' % (API, rid)).body, first)
            restored.stop()
            self.fsck(data=folder)
        again = reel('backup', self.folder, '--data', self.data, check=False)  # a folder with other things in it
        self.assertEqual(again.returncode, 1)
        self.assertIn(b'not empty', again.stderr)

    @in_a_folder
    @in_a_file
    def test_a_backup_is_brought_up_to_date(self):
        own = os.path.join(self.folder, 'own')
        server = self.start()
        keep, drop = server.added('keep', bag(lab_messages(5))), server.added('drop', bag(lab_messages(6)))
        reel('backup', own, '--data', self.data, '--blobs', 'copy')
        server.request('DELETE', '%s/recordings/%s?purge=true' % (API, drop))
        new = server.added('new', bag(lab_messages(7)))
        reel('backup', own, '--data', self.data, '--blobs', 'copy')
        server.stop()
        restored = self.start(data=own)
        self.assertEqual(sorted(r['id'] for r in restored.get(API + '/recordings').json()['items']), sorted([keep, new]))
        restored.stop()
        self.fsck(data=own)

    @in_a_folder
    @in_a_file
    def test_an_older_catalog_loses_nothing(self):
        own = os.path.join(self.folder, 'own')
        server = self.start()
        old = server.added('old', bag(lab_messages(5)))
        reel('backup', own, '--data', self.data)
        new = server.added('new', bag(lab_messages(6)))
        server.stop()
        for name in ('catalog.db', 'catalog.db-wal', 'catalog.db-shm'):
            if os.path.exists(os.path.join(self.data, name)):
                os.remove(os.path.join(self.data, name))
        shutil.copy(os.path.join(own, 'catalog.db'), self.data)
        server = self.start()
        self.assertEqual(sorted(r['id'] for r in server.get(API + '/recordings').json()['items']), sorted([old, new]))
        server.stop()
        self.fsck()

    def test_without_a_folder_there_is_no_backup(self):
        server = self.start()
        self.assertEqual(server.request('POST', API + '/admin/backup').status, 422)
        self.assertEqual(server.get(API + '/admin/backup/last').json(), {'state': 'none'})

    @in_a_folder
    def test_scrub_finds_a_flipped_byte(self):
        server = self.start()
        good, bad = bag(lab_messages(5)), bag(lab_messages(50))
        fine = server.added('good', good)
        rid = server.added('bad', bad)
        self.assertEqual(server.get(API + '/admin/scrub/last').json()['state'], 'none')
        job = wait_job(server, server.request('POST', API + '/admin/scrub?rate=1000'))
        self.assertEqual(job['state'], 'done', job)
        last = server.get(API + '/admin/scrub/last').json()
        self.assertEqual([last['state'], last['files'], last['size'], last['corrupted'], last['corrupted_files']], ['done', 2, len(good) + len(bad), 0, []])
        flip(blob(self.data, bad), len(bad) // 2)
        wait_job(server, server.request('POST', API + '/admin/scrub?rate=1000'))
        last = server.get(API + '/admin/scrub/last').json()
        self.assertEqual([last['corrupted'], len(last['corrupted_files'])], [1, 1])
        self.assertEqual(last['corrupted_files'][0]['sha256'], hashlib.sha256(bad).hexdigest())
        self.assertEqual([r['id'] for r in last['corrupted_files'][0]['recordings']], [rid])
        shown = server.get('%s/recordings/%s' % (API, rid)).json()
        self.assertEqual(shown['state'], 'ready')
        self.assertIn('is corrupted', shown['problem'])
        done = reel('scrub', '--data', self.data, check=False)  # the same while the server runs
        self.assertEqual(done.returncode, 1)
        flip(blob(self.data, good), len(good) // 2)
        shown = server.get('%s/recordings/%s' % (API, fine)).json()
        self.assertIsNone(shown['problem'])
        self.assertEqual(reel('scrub', '--data', self.data, check=False).returncode, 1)
        # though it has just been asked for, and the server itself has written nothing
        self.assertTrue(eventually(lambda: 'is corrupted' in (server.get('%s/recordings/%s' % (API, fine)).json()['problem'] or '')))
        flip(blob(self.data, good), len(good) // 2)
        self.assertIn(b'lab/bad', done.stdout)
        self.assertEqual(server.put('bad', bad).status, 200)  # sent again, it is whole again
        self.assertEqual(server.get('%s/recordings/%s/file/bad' % (API, rid)).body, bad)
        self.assertIsNone(server.get('%s/recordings/%s' % (API, rid)).json()['problem'])
        self.assertEqual(reel('scrub', '--data', self.data).returncode, 0)

    @in_a_folder
    def test_a_corrupted_index_pack_is_rebuilt(self):
        server = self.start()
        body = bag(lab_messages(50))
        rid = server.added('run.bag', body)
        pack = blob(self.data, body) + '.reel'
        messages = lambda: server.get('%s/recordings/%s/messages?limit=1000000' % (API, rid)).body
        whole, size = messages(), os.path.getsize(pack)
        self.assertTrue(whole)
        random = Random(7)
        for _ in range(30 if LONG else 12):
            before = os.stat(pack).st_ino
            flip(pack, random.randrange(size))
            self.assertEqual(messages(), whole)  # the request that notices it waits for a new one
            if os.stat(pack).st_ino == before:  # the directory, which this server has read before
                wait_job(server, server.request('POST', API + '/admin/scrub?rate=1000'))
                self.assertEqual(server.get(API + '/admin/scrub/last').json()['corrupted_packs'], 1)
                self.assertEqual(messages(), whole)
        server.stop()
        self.assertTrue(self.fsck()['clean'])
        for _ in range(20 if LONG else 6):
            flip(pack, random.randrange(size))
            self.assertEqual([f['kind'] for f in self.fsck(code=1)['findings']], ['index'])
            self.assertEqual(self.fsck('--repair', code=1)['repaired'], 1)
            self.assertTrue(self.fsck()['clean'])
        flip(pack, random.randrange(size))
        done = reel('scrub', '--data', self.data, check=False)
        self.assertEqual((done.returncode, b'another version: 1;' in done.stdout), (1, True), done)
        self.assertEqual(reel('scrub', '--data', self.data, check=False).returncode, 0)
        server = self.start()
        self.assertEqual(messages(), whole)
        server.stop()
        for at in (0, 20, size // 2, size - 200, size - 20):  # a server that begins with it
            flip(pack, at)
            server = self.start()
            self.assertIn(whole, (messages(), messages()))
            server.stop()
            self.assertTrue(self.fsck()['clean'])

    def test_a_stopped_scrub_goes_on(self):
        server = self.start()
        bodies = [bag(lab_messages(4, blob=60_000, salt=i)) for i in range(5)]
        for i, body in enumerate(bodies):
            server.added('f%d' % i, body)
        answer = server.request('POST', API + '/admin/scrub?rate=1')  # ten seconds of work
        self.assertEqual(server.request('POST', API + '/admin/scrub').status in (202, 409), True)
        eventually(lambda: server.get(answer.headers['Location']).json()['done'] not in (0, '0'))
        self.assertEqual(server.request('DELETE', answer.headers['Location']).status, 204)
        job = wait_job(server, answer)
        self.assertEqual(job['state'], 'cancelled', job)
        server.stop()
        before = json.loads(catalog_sql(self.data, "SELECT value FROM maintenance WHERE key = 'scrub'")[0][0])
        self.assertEqual(before['state'], 'stopped')
        self.assertLess(before['files'], 5)
        done = reel('scrub', '--data', self.data)
        self.assertIn(b'5 files', done.stdout)
        last = json.loads(catalog_sql(self.data, "SELECT value FROM maintenance WHERE key = 'scrub'")[0][0])
        self.assertEqual([last['state'], last['files'], last['size']], ['done', 5, sum(map(len, bodies))])
        self.assertIn(b'resumed' if before['files'] else b'', done.stdout)

    @in_a_folder
    def test_fsck_both_ways(self):
        server = self.start()
        one, two = bag(lab_messages(5)), bag(lab_messages(6))
        gone, kept = server.added('gone', one), server.added('kept', two)
        self.assertTrue(self.fsck()['server_runs'])
        self.assertIn('a server uses', self.fsck('--repair', code=2))
        server.stop()
        os.remove(blob(self.data, one))
        os.remove(blob(self.data, two) + '.reel')
        stranger = hashlib.sha256(b'stranger').hexdigest()
        os.makedirs(os.path.join(self.data, 'blobs', stranger[:2]), exist_ok=True)
        with open(os.path.join(self.data, 'blobs', stranger[:2], stranger), 'wb') as f:
            f.write(b'stranger')
        kinds = sorted(f['kind'] for f in self.fsck(code=1)['findings'])
        self.assertEqual(kinds, ['file', 'index', 'orphan'])
        repaired = self.fsck('--repair', code=1)
        self.assertEqual([repaired['found'], repaired['repaired']], [3, 3])
        self.assertTrue(self.fsck()['clean'])
        with open(os.path.join(self.data, 'lost+found', stranger), 'rb') as f:
            self.assertEqual(f.read(), b'stranger')
        server = self.start()
        self.assertEqual(server.get('%s/recordings/%s' % (API, gone)).json()['state'], 'missing')
        self.assertEqual(server.get('%s/recordings/%s/file/kept' % (API, kept)).body, two)
        self.assertIn('no archive', self.fsck(data=os.path.join(self.folder, 'nowhere'), code=2))

    @in_a_folder
    def test_fsck_checks_referenced_files(self):
        root = os.path.join(self.folder, 'root')
        os.mkdir(root)
        for name in 'abc':
            with open(os.path.join(root, name + '.bag'), 'wb') as f:
                f.write(bag(lab_messages(2, salt=ord(name))))
        server = self.start('--import-root', root)
        job = wait_job(server, server.request('POST', API + '/imports', json.dumps({'path': '.', 'mode': 'reference', 'collection': 'lab'})))
        self.assertEqual(job['state'], 'done', job)
        server.stop()
        self.assertEqual([self.fsck(*args)['elsewhere'] for args in ((), ('--import-root', root), ('--import-root', self.data))], [3, 0, 3])
        os.remove(os.path.join(root, 'b.bag'))
        flip(os.path.join(root, 'c.bag'), 500)
        os.utime(os.path.join(root, 'c.bag'), (1, 1))
        self.assertTrue(self.fsck()['clean'])  # the folder is not known
        found = self.fsck('--import-root', root, code=1)['findings']
        self.assertEqual(sorted((f['kind'], re.search('gone|changed', f['text']).group()) for f in found), [('file', 'changed'), ('file', 'gone')])
        repaired = self.fsck('--import-root', root, '--repair', code=1)
        self.assertEqual([repaired['found'], repaired['repaired']], [2, 2])
        self.assertTrue(self.fsck('--import-root', root)['clean'])
        server = self.start('--import-root', root)
        states = {r['name']: r['state'] for r in server.get(API + '/recordings').json()['items']}
        self.assertEqual(states, {'a.bag': 'ready', 'b.bag': 'missing', 'c.bag': 'changed'})

    def lose(self, how):
        server = self.start()
        body = bag(lab_messages(20))
        rid, other = server.added('run.bag', body, '?group=drive-1'), server.added('trash.bag', bag(lab_messages(3)), collection='field')
        self.annotate(server, rid)
        self.assertEqual(server.request('PATCH', '%s/recordings/%s' % (API, rid), '{"clock": "relative"}', {'Content-Type': 'application/json'}).status, 200)
        server.request('PATCH', API + '/collections/lab', json.dumps({'description': "the lab's"}), {'Content-Type': 'application/merge-patch+json'})
        server.request('DELETE', '%s/recordings/%s' % (API, other))
        before = self.annotations(server, rid)
        server.stop()
        for name in ('catalog.db-wal', 'catalog.db-shm'):
            if os.path.exists(os.path.join(self.data, name)):
                os.remove(os.path.join(self.data, name))
        how(os.path.join(self.data, 'catalog.db'))

        def check():
            server = self.start()
            self.assertEqual(self.annotations(server, rid), before)
            self.assertEqual(server.get('%s/recordings/%s/file/run.bag' % (API, rid)).body, body)
            self.assertEqual(server.get('%s/recordings/%s' % (API, rid)).json()['group'], 'drive-1')
            self.assertEqual(server.get('%s/recordings/%s' % (API, other)).json()['state'], 'trashed')
            names = {c['name']: c.get('description') for c in server.get(API + '/collections').json()['items']}
            self.assertEqual(names.get('lab'), "the lab's")
            server.stop()
            self.assertTrue(self.fsck()['clean'])
        return check

    @in_a_folder
    @in_a_file
    def test_a_damaged_catalog_is_made_again(self):
        def damage(path):
            with open(path, 'r+b') as f:
                f.write(b'\0' * 8192)
        check = self.lose(damage)
        self.assertEqual(self.fsck(code=1)['findings'][0]['kind'], 'catalog')
        refused = subprocess.run([REEL, 'serve', '--data', self.data, '--listen', '127.0.0.1:0'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(refused.returncode, 1)
        made = self.fsck('--rebuild', code=1)
        self.assertEqual([made['old_catalog'], made['recordings'], made['tokens_lost']], ['catalog.db.old-1', 2, True])
        os.remove(os.path.join(self.data, 'tokens-required'))  # there were none, which a catalog that cannot be read does not say
        check()

    @in_a_folder
    @in_a_file
    def test_a_deleted_catalog_comes_back_by_itself(self):
        check = self.lose(os.remove)
        check()

    def settings(self, server):
        retention = server.get(API + '/admin/retention').json()
        hooks = server.get(API + '/webhooks').json()['items']
        saved = [server.get(API + path).json()['items'] for path in ('/collections/lab/layouts', '/searches')]
        return [retention['rules'], retention['quotas'], [(h['id'], h['url'], h['events'], h['collections'], h['created']) for h in hooks], *saved]

    @in_a_folder
    @in_a_file
    def test_what_was_set_outlives_the_catalog(self):
        own, file = os.path.join(self.folder, 'own'), os.path.join(self.data, 'settings.json')
        server = self.start('--webhook-private')
        server.added('a', bag(lab_messages(1)))
        self.assertFalse(os.path.exists(file))
        rules = {'rules': [{'collection': 'lab', 'max_age': '30d'}], 'quotas': [{'collection': '*', 'recordings': 7}]}
        self.assertEqual(server.request('PUT', API + '/admin/retention', json.dumps(rules)).status, 200)
        hooks = [server.request('POST', API + '/webhooks', json.dumps({'url': 'http://127.0.0.1:9/%d' % i, 'collections': ['lab']})).json() for i in range(3)]
        self.assertEqual(server.request('DELETE', '%s/webhooks/%d' % (API, hooks[0]['id'])).status, 204)
        for path in ('/collections/lab/layouts/wide', '/searches/mine', '/searches/mine'):
            self.assertIn(server.request('PUT', API + path, json.dumps({'value': {'a': [path]}})).status, (200, 201))
        before = self.settings(server)
        self.assertEqual([len(part) for part in before], [1, 1, 2, 1, 1])
        self.assertEqual(os.stat(file).st_mode & 0o777, 0o600)
        reel('backup', own, '--data', self.data)
        server.stop()

        def lose():
            for name in ('catalog.db', 'catalog.db-wal', 'catalog.db-shm'):
                if os.path.exists(os.path.join(self.data, name)):
                    os.remove(os.path.join(self.data, name))

        def back():
            server = self.start('--webhook-private')
            self.assertEqual(self.settings(server), before)
            server.stop()
            with open(file) as f:
                self.assertEqual([w['secret'] for w in json.load(f)['webhooks']], [h['secret'] for h in hooks[1:]])

        lose()  # and the server is started
        back()
        lose()  # and it is repaired
        self.fsck('--repair', code=1)
        back()
        self.fsck('--rebuild', code=1)
        back()
        os.remove(file)  # written again from the catalog
        back()
        with open(os.path.join(own, 'settings.json')) as theirs, open(file) as ours:
            self.assertEqual(json.load(theirs), json.load(ours))
        self.assertEqual(os.stat(os.path.join(own, 'settings.json')).st_mode & 0o777, 0o600)
        with open(file, 'w') as f:  # of no use: passed over
            json.dump({'reel_settings': 1, 'retention': {'rules': [{'collection': 5}]}, 'webhooks': [{'id': 1}, 7, {'id': 'x', 'url': 'y'}],
                       'saved': [7, {'kind': 'song', 'collection': '', 'name': 'x', 'value': {}, 'author': 'x', 'created_ns': 1, 'updated_ns': 1}]}, f)
        lose()
        server = self.start()
        self.assertEqual(self.settings(server), [[], [], [], [], []])

    def test_rescan(self):
        server = self.start()
        rid = server.added('run.bag', bag(lab_messages(20)))
        self.annotate(server, rid)
        before = self.annotations(server, rid)
        pack = [p for p in files_below(os.path.join(self.data, 'blobs')) if p.endswith('.reel')][0]
        was = os.stat(pack).st_ino
        job = wait_job(server, server.request('POST', '%s/admin/rescan/%s' % (API, rid)))
        self.assertEqual(job['state'], 'done')
        self.assertNotEqual(os.stat(pack).st_ino, was)
        self.assertEqual(self.annotations(server, rid), before)
        self.assertEqual(server.request('POST', '%s/admin/rescan/%s' % (API, '0' * 32)).status, 404)
        refused = reel('rescan', '--all', '--data', self.data, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(b'curl', refused.stderr)
        server.stop()
        self.assertIn(b'run.bag: scanned', reel('rescan', rid, '--data', self.data).stdout)
        self.assertIn(b'run.bag: scanned', reel('rescan', '--format', 'rosbag-1.2', '--data', self.data).stdout)
        self.assertEqual(reel('rescan', '--format', 'carla', '--data', self.data).stdout, b'')
        self.assertEqual(reel('rescan', '--data', self.data, check=False).returncode, 2)
        self.assertTrue(self.fsck()['clean'])


class Configuration(unittest.TestCase):
    def settings(self, *args, env=None, code=0):
        done = subprocess.run([REEL, 'serve', '--check-config', *args], env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, code, done)
        if code:
            return done.stderr.decode()
        return {k: (v, where) for k, v, where in re.findall(r'(?m)^([a-z-]+) = (.*?)  # (.*)$', done.stdout.decode())}

    def test_where_each_value_comes_from(self):
        settings = self.settings()
        self.assertEqual(settings['cache-mb'], ('256', 'default'))
        self.assertEqual(settings['listen'], ('127.0.0.1:8040', 'default'))
        with tempfile.NamedTemporaryFile('w') as f:
            f.write('/srv/reel\n')
            f.flush()
            got = self.settings('--cache-mb', '64', '--host', 'c', env={
                'REEL_CACHE_MB': '128', 'REEL_DATA_FILE': f.name, 'REEL_HOST': 'a,b', 'REEL_ORIGIN': 'http://x,http://y', 'REEL_METRICS_OPEN': 'true',
                'REEL_LOG_FORMAT': 'json'})
        self.assertEqual(got['cache-mb'], ('64', 'command line'))
        self.assertEqual(got['data'], ('/srv/reel', 'file REEL_DATA_FILE'))
        self.assertEqual(got['host'], ('c', 'command line'))
        self.assertEqual(got['origin'], ('http://x,http://y', 'environment REEL_ORIGIN'))
        self.assertEqual(got['metrics-open'], ('true', 'environment REEL_METRICS_OPEN'))
        self.assertEqual(got['log-format'], ('json', 'environment REEL_LOG_FORMAT'))

    def test_a_file_of_settings(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'reel.conf')

            def written(text):
                with open(path, 'w') as f:
                    f.write(text)
                return path
            written('# a lab\n\n  cache-mb=64 # less\nhost = a, b#c\n metrics-open = yes\nlog-format = json\r\npublic-url =\ntrash-days = 3\nviewer = x\n')
            got = self.settings('--config', path, '--trash-days', '5', env={'REEL_VIEWER': 'http://viewer'})
            self.assertEqual(got['cache-mb'], ('64', path))
            self.assertEqual(got['host'], ('a,b#c', path))
            self.assertEqual(got['metrics-open'], ('true', path))
            self.assertEqual(got['log-format'], ('json', path))
            self.assertEqual(got['public-url'], ('', 'default'))
            self.assertEqual(got['trash-days'], ('5', 'command line'))
            self.assertEqual(got['viewer'], ('http://viewer', 'environment REEL_VIEWER'))
            self.assertEqual(self.settings(env={'REEL_CONFIG': path, 'REEL_VIEWER': 'http://viewer'})['cache-mb'], ('64', path))
            printed = reel('serve', '--check-config', '--cache-mb', '7', '--host', 'a', '--host', 'b').stdout.decode()
            again = self.settings('--config', written(printed))
            self.assertEqual({k: v for k, (v, _) in again.items() if k not in ('config', 'check-config')},
                             {k: v for k, v in re.findall(r'(?m)^([a-z-]+) = (.*?)  # ', printed) if k not in ('config', 'check-config')})
            for text, problem in (('cache-mb = 64\ncash-mb = 3\n', ':2: "cash-mb" is no option; did you mean cache-mb'), ('cache-mb = much\n', ':1: cache-mb: '),
                                  ('host = a\nhost = b\n', ':2: host is set twice'), ('config = other\n', ':1: a configuration file names no other'),
                                  ('cache-mb\n', ':1: "cache-mb" has no value'), ('csv-raw = maybe\n', ':1: csv-raw: "maybe" is not true or false')):
                self.assertIn(path + problem, self.settings('--config', written(text), code=2))
            self.assertIn('/nowhere', self.settings('--config', '/nowhere/reel.conf', code=2))

    def test_every_option_is_documented_by_its_table(self):
        text = reel('serve', '--help').stdout.decode()
        for name in self.settings():
            self.assertIn('--' + name, text)

    def test_what_makes_no_sense_is_reported(self):
        self.assertIn('REEL_CACHE_MB', self.settings(env={'REEL_CACHE_MB': 'much'}, code=2))
        self.assertIn('REEL_LOG_FORMAT', self.settings(env={'REEL_LOG_FORMAT': 'xml'}, code=2))
        self.assertIn('both set', self.settings(env={'REEL_DATA': 'x', 'REEL_DATA_FILE': 'y'}, code=2))
        self.assertIn('REEL_DATA_FILE', self.settings(env={'REEL_DATA_FILE': '/nowhere/at/all'}, code=2))
        self.assertIn('cache-mb', self.settings('--cache-mb', '0', code=2))


def samples_of(text):
    return {k: float(v) for k, v in re.findall(r'(?m)^([a-z_]+(?:\{[^}]*\})?) (\S+)$', text)}


class Figures(Case):
    def test_requests_are_counted_by_class(self):
        before = samples_of(self.get('/metrics').body.decode())
        body = bag(lab_messages(3))
        rid = self.server.added('counted', body)
        for _ in range(3):
            self.get(API + '/recordings')
        self.get('%s/recordings/%s/file/x' % (API, rid))
        self.get('%s/recordings/%s/messages?limit=1' % (API, rid))
        self.get('%s/recordings/%s/messages?limit=1' % (API, rid))
        self.get('%s/recordings/%s' % (API, '0' * 32), 404)
        self.get('/nothing/here', 404)
        after = {}
        wanted = {'reel_http_requests_total{route="%s",status="%s"}' % (route, status): n for route, status, n in (
            ('list', '2xx', 3), ('file', '2xx', 1), ('messages', '2xx', 2), ('recording', '4xx', 1), ('none', '4xx', 1), ('upload', '2xx', 1))}
        wanted.update({'reel_http_request_duration_seconds_count{route="list"}': 3, 'reel_http_request_duration_seconds_bucket{route="list",le="+Inf"}': 3,
                       'reel_jobs_total{kind="scan",end="done"}': 1, 'reel_recordings{state="ready"}': 1, 'reel_recordings_bytes': len(body)})

        def grown():  # an answer is counted after it is sent
            after.update(samples_of(self.get('/metrics').body.decode()))
            return {name: after[name] - before[name] for name in wanted}
        eventually(lambda: grown() == wanted)
        self.assertEqual(grown(), wanted)
        self.assertEqual(set(before), set(after))  # no request makes a new series

    def test_histograms_grow_from_bucket_to_bucket(self):
        text = self.get('/metrics').body.decode()
        for route in set(re.findall(r'duration_seconds_count\{route="(\w+)"', text)):
            values = [float(v) for v in re.findall(r'duration_seconds_bucket\{route="%s",le="[^"]+"\} (\S+)' % route, text)]
            self.assertEqual(len(values), 10)
            self.assertEqual(values, sorted(values))
        self.assertEqual(len(re.findall(r'(?m)^# TYPE (\S+)', text)), len(set(re.findall(r'(?m)^# TYPE (\S+)', text))))

    def test_answers_say_how_long_they_took(self):
        answer = self.get(API + '/recordings', X_Request_Id='mine-7')
        self.assertEqual(answer.headers['X-Request-Id'], 'mine-7')
        timing = dict(re.findall(r'(\w+);dur=([0-9.]+)', answer.headers['Server-Timing']))
        self.assertGreater(float(timing['total']), 0)
        self.assertGreater(float(timing['db']), 0)
        self.assertLessEqual(float(timing['db']), float(timing['total']))
        self.assertNotIn('io', timing)
        upload = self.server.put('timed', bag(lab_messages(3, salt=5)))
        timing = {k: float(v) for k, v in re.findall(r'(\w+);dur=([0-9.]+)', upload.headers['Server-Timing'])}
        self.assertEqual(sorted(timing), ['db', 'io', 'scan', 'total'])
        self.assertGreater(timing['io'], 0)
        self.assertLess(timing['scan'], timing['total'])  # the wait for it: nothing where it was done before


class LogLines(unittest.TestCase):
    def test_json_lines_parse(self):
        server = Server(None, '--log-format', 'json')
        self.addCleanup(server.stop, None)
        server.added('named "so" = \\ é', bag(lab_messages(2)))
        server.request('GET', API + '/recordings?q=secret', headers={'X-Request-Id': 'abc-1'})
        server.raw(b'garbage\r\n\r\n')
        self.assertTrue(eventually(lambda: 'abc-1' in server.log_text() and '"kind":"scan"' in server.log_text()))
        lines = [json.loads(line) for line in server.log_text().splitlines() if line]
        one = [line for line in lines if line.get('id') == 'abc-1'][0]
        self.assertEqual([one['method'], one['path'], one['status']], ['GET', API + '/recordings', 200])
        self.assertNotIn('secret', json.dumps(lines))
        self.assertTrue(one['ms'] >= 0 and one['sent_bytes'] > 0)
        scan = [line for line in lines if line.get('kind') == 'scan'][0]
        self.assertEqual(scan['state'], 'done')

    def test_logfmt_is_the_default(self):
        server = Server()
        self.addCleanup(server.stop, None)
        server.request('GET', API + '/recordings', headers={'X-Request-Id': 'abc-2'})
        self.assertTrue(eventually(lambda: re.search(r'(?m)^ts=\S+ id=abc-2 method=GET path=/api/v1/recordings status=200 sent_bytes=\d+ in=0 ms=\d+ remote=127.0.0.1', server.log_text())))


class Stopping(unittest.TestCase):
    def test_a_stream_cut_by_the_end_is_not_taken_for_whole(self):
        server = Server(None, '--drain', '0')
        self.addCleanup(server.stop, None)
        rid = server.added('long', bag(lab_messages(1000, blob=20_000)))
        import http.client
        import socket
        connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=60)
        connection.connect()
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        connection.request('GET', '%s/recordings/%s/messages' % (API, rid))
        response = connection.getresponse()
        response.read(1000)
        server.terminate()
        with self.assertRaises((http.client.IncompleteRead, ConnectionError)):
            response.read()
        connection.close()
        server.stop()
