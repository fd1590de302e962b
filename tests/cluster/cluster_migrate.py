"""reel migrate: a catalog goes into PostgreSQL and back, and everything the server says of it stays the same."""
import glob
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from harness import API, REEL, Server, catalog_of, catalog_sql, reel
from samples import bag, lab_messages, nanover, nanover_messages

ROWS = 20000  # of the move that is interrupted
UNANALYZED = """SELECT tablename FROM pg_tables AS t WHERE schemaname = current_schema()
    AND pg_relation_size(format('%I.%I', schemaname, tablename)::regclass) > 0
    AND NOT EXISTS (SELECT 1 FROM pg_stats AS s WHERE s.schemaname = t.schemaname AND s.tablename = t.tablename)"""


class Migrate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-migrate-')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.address = catalog_of(self.folder)[1]
        self.token = reel('token', 'create', '--data', self.folder, '--role', 'admin', '--name', 'all').stdout.decode().strip()

    def start(self):
        server = Server(self.folder)
        self.addCleanup(server.stop, None)
        return server

    def call(self, server, method, path, body=None, kind='application/json'):
        data = json.dumps(body).encode() if body is not None and not isinstance(body, bytes) else body
        answer = server.request(method, path if path.startswith('/m') else API + path, data, {'Authorization': 'Bearer ' + self.token, 'Content-Type': kind})
        self.assertIn(answer.status, (200, 201, 202, 204), answer)
        return answer

    def fill(self, server):
        ids = []
        for i in range(6):
            path = '/recordings/by-name/%s/r%d.bag?tag=robot=%d' % ('lab' if i % 2 else 'böden', i, i % 3)
            ids.append(self.call(server, 'PUT', path.replace('ö', '%C3%B6'), bag(lab_messages(1, salt=i)), 'application/octet-stream').json()['id'])
        self.call(server, 'PUT', '/recordings/by-name/lab/m.nanover.zip', nanover(nanover_messages()), 'application/octet-stream')
        self.call(server, 'POST', '/recordings/%s/notes' % ids[0], {'text': 'a “note”'})
        self.call(server, 'POST', '/events', {'recording': ids[1], 'start': '+0.5s', 'title': 'bump'})
        self.call(server, 'PATCH', '/recordings/%s' % ids[2], {'description': 'früh', 'custom': {'a': [1, None]}})
        self.call(server, 'DELETE', '/recordings/%s' % ids[3])
        self.call(server, 'POST', '/webhooks', {'url': 'https://example.org/x', 'events': ['*']})
        for path in ('/collections/lab/layouts/breit', '/searches/m'):
            self.call(server, 'PUT', path, {'value': {'a': ['“', None]}})
        return ids

    def told(self, server):
        """What the server says of everything that does not change with time."""
        lists = ['/recordings?limit=100&state=%s' % s for s in ('ready', 'trashed')]
        lists += ['/recordings?sort=%s&q=%s' % (s, q) for s in ('name', '-name', 'size', '-start', 'duration', 'messages') for q in ('', 'r', 'topic:/odom', 'chatter', 'robot:1', 'bump')]
        lists += ['/changes?since=0', '/values?field=topic', '/values?field=type', '/values?field=format', '/collections', '/stats', '/tokens', '/webhooks', '/coverage']
        lists += ['/collections/lab/layouts', '/searches']
        out = {}
        for path in lists:
            answer = self.call(server, 'GET', path).json()
            out[path] = {k: v for k, v in answer.items() if k not in ('next',)} if isinstance(answer, dict) else answer
        for token in out['/tokens']['items']:
            token.pop('used', None)
        for hook in out['/webhooks']['items']:  # its deliveries are tried again
            for name in ('failed_tries', 'next_try'):
                del hook[name]
        recordings = [r['id'] for r in out['/recordings?limit=100&state=ready']['items']]
        out['each'] = [self.call(server, 'GET', '/recordings/%s%s' % (r, rest)).json() for r in recordings for rest in ('', '/notes', '/events')]
        return out

    def migrate(self, to, code=0):
        done = reel('migrate', '--data', self.folder, '--to', to, check=False)
        self.assertEqual(done.returncode, code, done)
        return (done.stdout if code == 0 else done.stderr).decode()

    def test_there_and_back(self):
        server = self.start()
        ids = self.fill(server)
        before = self.told(server)
        self.assertIn('a server is running', self.migrate(self.address, 1))
        server.stop()
        self.assertIn('moved and compared', self.migrate(self.address))
        self.assertEqual(catalog_sql(self.folder, UNANALYZED), [])
        self.assertEqual(sorted(os.path.basename(p) for p in glob.glob(self.folder + '/catalog.db*') if p[-4:] not in ('-wal', '-shm')), ['catalog.db.moved-1'])
        self.assertIn('already', self.migrate(self.address, 1))
        self.assertEqual(reel('fsck', '--data', self.folder, check=False).returncode, 0)
        server = self.start()
        self.assertEqual(before, self.told(server))
        again = self.call(server, 'PUT', '/recordings/by-name/lab/new.bag', bag(lab_messages(1, salt=77)), 'application/octet-stream').json()
        newest = self.call(server, 'GET', '/changes?since=0').json()['items'][-1]['seq']
        self.assertGreater(newest, before['/changes?since=0']['items'][-1]['seq'])
        self.call(server, 'DELETE', '/recordings/%s' % again['id'])
        self.call(server, 'POST', '/recordings/%s/restore' % ids[3], b'')
        moved = self.told(server)
        server.stop()
        self.migrate('sqlite')
        self.assertFalse(os.path.exists(os.path.join(self.folder, 'catalog-folder')))
        self.assertEqual(reel('fsck', '--data', self.folder, check=False).returncode, 0)
        server = self.start_on_the_file()
        self.assertEqual(moved, self.told(server))
        self.call(server, 'PUT', '/recordings/by-name/lab/newer.bag', bag(lab_messages(1, salt=78)), 'application/octet-stream')
        self.assertGreater(self.call(server, 'GET', '/changes?since=0').json()['items'][-1]['seq'], newest)
        server.stop()
        self.assertIn('there is a catalog already', self.migrate(self.address, 1))

    def start_on_the_file(self):
        return self.start()  # catalog.db is there: no database is made for it

    def test_an_interrupted_move_changes_nothing(self):
        server = self.start()
        self.fill(server)
        server.stop()
        rows = ','.join("(1, 'ann', 'token', '::1', 'GET', '/%d', 200, 'x')" % i for i in range(ROWS))
        subprocess.run(['/usr/bin/python3', '-c', 'import sqlite3,sys; c = sqlite3.connect(sys.argv[1]); c.execute("INSERT INTO audit (time_ns, caller, how, peer, '
                        'method, path, status, request) VALUES " + sys.stdin.read()); c.commit()', self.folder + '/catalog.db'], input=rows.encode(), check=True)
        interrupted = 0
        for pause in (0.05, 0.1, 0.15, 0.2, 0.3):
            process = subprocess.Popen([REEL, 'migrate', '--data', self.folder, '--to', self.address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(pause)
            process.send_signal(signal.SIGKILL)
            if process.wait() == 0 or os.path.exists(os.path.join(self.folder, 'catalog-folder')):
                break
            interrupted += 1
        self.assertGreater(interrupted, 0)
        if not os.path.exists(os.path.join(self.folder, 'catalog-folder')):
            self.assertIn('moved and compared', self.migrate(self.address))
        self.assertEqual(catalog_sql(self.folder, "SELECT count(*) FROM audit WHERE caller = 'ann'"), [(str(ROWS),)])
        self.assertEqual(reel('fsck', '--data', self.folder, check=False).returncode, 0)

    def test_what_it_refuses(self):
        self.start().stop()
        self.assertIn('--to is', self.migrate('mysql://x', 1))
        self.assertIn('PGPASSWORD', self.migrate('postgresql://x:y@127.0.0.1/z', 1))
        self.assertIn('already', self.migrate('sqlite', 1))
        self.assertIn('does not answer', self.migrate('postgresql://x@127.0.0.1:1/z', 1))
        self.assertTrue(os.path.exists(os.path.join(self.folder, 'catalog.db')))
