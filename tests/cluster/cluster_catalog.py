"""The catalog in PostgreSQL: what it says when the database is away or hangs, that nothing acknowledged is lost, and that no password is told."""
import glob
import os
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

from harness import API, REEL, Server, catalog_of, catalog_sql, eventually, files_below, reel
from postgres import Postgres
from samples import bag, lab_messages

LIMIT = 20  # seconds: any request to a database that hangs has ended by then


def data(salt):
    return bag(lab_messages(1, salt=salt))


class Away(unittest.TestCase):
    """With a database server of its own, which is stopped and frozen."""
    def setUp(self):
        self.postgres = Postgres()
        self.addCleanup(self.postgres.stop)
        self.folder = tempfile.mkdtemp(prefix='reel-cluster-')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.postgres.sql('CREATE DATABASE archive')
        self.server = self.start()
        self.addCleanup(lambda: self.server.stop(None))

    def start(self):
        return Server(self.folder, '--catalog', self.postgres.address + '/archive', env={'PGPASSWORD': self.postgres.password})

    def names(self):
        return {r['name'] for r in self.server.get(API + '/recordings?limit=1000').json()['items']}

    def test_a_server_reads_on_while_newer_ones_take_over(self):
        self.assertEqual(self.server.put('before.bag', data(1)).status, 201)
        self.postgres.sql('UPDATE catalog_state SET version = version + 1', 'archive')
        for _ in range(2):
            answer = self.server.put('after.bag', data(2))
            self.assertEqual((answer.status, answer.json()['type']), (503, '/problems/read-only'), answer)
            self.assertIn('newer version', answer.json()['detail'])
            self.assertEqual(self.names(), {'before.bag'})
        self.server.stop()
        with self.assertRaisesRegex(AssertionError, 'made by a newer program'):
            self.start()
        self.postgres.sql('UPDATE catalog_state SET version = version - 1', 'archive')
        self.server = self.start()
        self.assertEqual(self.server.put('after.bag', data(2)).status, 201)

    def test_servers_that_start_at_once_upgrade_one_after_the_other(self):
        """Tables of the first version, without checksums, and with rows; the lock of upgrades is held by another meanwhile."""
        here = os.path.dirname(os.path.abspath(__file__))
        migrations = sorted(glob.glob(os.path.join(here, '..', '..', 'sql', 'postgres', 'migrations', '*.sql')))
        self.postgres.sql('CREATE DATABASE old')
        with open(migrations[0], encoding='utf-8') as f:
            self.postgres.sql(f.read() + "; UPDATE catalog_state SET version = 1; INSERT INTO collections VALUES ('lab', 'old')", 'old')
        address = self.postgres.address + '/old'
        options = {'env': {**os.environ, 'PGPASSWORD': self.postgres.password}, 'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, 'text': True}
        holder = subprocess.Popen(['psql', '-qAt', address, '-c', 'SELECT pg_advisory_lock(1382376813)', '-c', 'SELECT pg_sleep(600)'], **options)
        held = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 1382376813 AND granted"
        self.assertTrue(eventually(lambda: self.postgres.sql(held)))
        ended = []
        for n in range(3):
            folder = os.path.join(self.folder, str(n))
            os.mkdir(folder)
            with open(os.path.join(folder, 'catalog-folder'), 'w') as f:
                f.write(address + '\n')
            ended.append(subprocess.Popen([REEL, 'upgrade', '--data', folder], **options))
        lines = [upgrade.stderr.readline() for upgrade in ended]
        for line in lines:
            self.assertIn('another server is upgrading the catalog; waiting for it', line)
        holder.terminate()
        holder.communicate()
        self.postgres.sql("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = 1382376813 AND granted AND "
                          "pid IN (SELECT pid FROM pg_stat_activity WHERE application_name = 'psql')")
        upgraded = 0
        for upgrade in ended:
            out, err = upgrade.communicate(timeout=60)
            self.assertEqual(upgrade.returncode, 0, err)
            self.assertIn('version %d, nothing to upgrade' % len(migrations), out)
            upgraded += err.count('upgrading the catalog from version 1')
        self.assertEqual(upgraded, 1 if len(migrations) > 1 else 0)
        self.assertEqual(self.postgres.sql('SELECT version FROM catalog_state', 'old'), [str(len(migrations))])
        self.assertEqual(self.postgres.sql('SELECT name, description FROM collections', 'old'), ['lab|old'])
        self.postgres.sql('ALTER TABLE saved DROP COLUMN author', 'old')
        done = subprocess.run([REEL, 'upgrade', '--data', os.path.join(self.folder, '0')], **options)
        self.assertEqual(done.returncode, 1)
        self.assertIn('are not those of version %d' % len(migrations), done.stderr)

    def test_a_restart_costs_503_and_nothing_else(self):
        acknowledged, answers, stop = set(), [], threading.Event()

        def load(worker):
            for i in range(10000):
                name = 'w%d-%d.bag' % (worker, i)
                while not stop.is_set():
                    answer = self.server.put(name, data(worker * 10000 + i))
                    answers.append((answer.status, answer.headers.get('Retry-After')))
                    if answer.status in (200, 201):
                        acknowledged.add(name)
                        break
                    time.sleep(0.05)
                if stop.is_set():
                    return
        workers = [threading.Thread(target=load, args=(n,)) for n in range(3)]
        for w in workers:
            w.start()
        for _ in range(2):
            time.sleep(1.5)
            self.postgres.crash()
            time.sleep(0.5)
            self.postgres.start()
        before = len(acknowledged)
        self.assertTrue(eventually(lambda: len(acknowledged) > before + 5), 'it goes on')
        stop.set()
        for w in workers:
            w.join()
        self.assertEqual([], [a for a in answers if a[0] not in (200, 201, 503)])
        self.assertTrue(any(a[0] == 503 for a in answers))
        self.assertEqual([], [a for a in answers if a[0] == 503 and not a[1]])
        self.assertLessEqual(acknowledged, self.names())
        checked = self.check()
        self.assertEqual((checked.returncode, b'no problems' in checked.stdout), (0, True), checked)

    def check(self):
        self.server.stop()
        os.environ['PGPASSWORD'], before = self.postgres.password, os.environ.get('PGPASSWORD', '')
        try:
            return reel('fsck', '--data', self.folder, check=False)
        finally:
            os.environ['PGPASSWORD'] = before
            self.server = self.start()

    def test_a_database_that_hangs_ends_no_patience(self):
        self.server.added('one.bag', data(1))
        frozen = self.postgres.freeze()
        try:
            begun = time.monotonic()
            for method, path, body in (('GET', '/recordings', None), ('PUT', '/recordings/by-name/lab/two.bag', data(2)), ('GET', '/readyz', None)):
                answer = self.server.request(method, path if path == '/readyz' else API + path, body, timeout=60)
                self.assertEqual(answer.status, 503, answer)
                self.assertLess(time.monotonic() - begun, LIMIT)
                begun = time.monotonic()
        finally:
            self.postgres.thaw(frozen)
        self.assertTrue(eventually(lambda: self.server.get(API + '/recordings').status == 200))
        self.assertEqual({'one.bag'}, self.names())
        self.assertEqual(self.server.put('two.bag', data(2)).status, 201)

    def test_a_connection_ended_by_the_server_is_made_again(self):
        self.server.added('one.bag', data(1))
        for _ in range(3):
            self.postgres.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'archive'")
            self.assertEqual({'one.bag'}, self.names())
            self.assertEqual(self.server.put('one.bag', data(1)).status, 200)

    def test_a_server_analyzes_tables_without_statistics(self):
        self.server.added('one.bag', data(1))
        self.server.stop()
        self.start().stop()
        self.assertEqual(self.postgres.sql("SELECT count(*) > 0 FROM pg_stats WHERE tablename = 'recordings'", 'archive'), ['t'])

    def test_no_password_is_told(self):
        secret = self.postgres.password
        self.postgres.crash()
        told = self.server.get(API + '/recordings').body.decode() + self.server.log_text() + self.server.get('/metrics').body.decode()
        self.assertNotIn(secret, told)
        for path in files_below(self.folder):
            with open(path, 'rb') as f:
                self.assertNotIn(secret.encode(), f.read(), path)
        self.postgres.start()
        with tempfile.TemporaryDirectory() as folder:
            address = self.postgres.address.replace('@', ':%s@' % secret) + '/archive'
            done = reel('serve', '--data', folder, '--catalog', address, '--listen', '127.0.0.1:0', check=False)
            self.assertEqual((done.returncode, b'PGPASSWORD' in done.stderr, secret.encode() in done.stderr), (1, True, False), done)
            done = reel('serve', '--data', folder, '--catalog', 'postgresql://x:%s@[::1' % secret, '--listen', '127.0.0.1:0', check=False)
            self.assertEqual((done.returncode, secret.encode() in done.stderr), (1, False), done)


class Places(unittest.TestCase):
    def folder(self):
        folder = tempfile.mkdtemp(prefix='reel-cluster-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def refused(self, folder, *options):
        done = reel('serve', '--data', folder, '--listen', '127.0.0.1:0', *options, check=False)
        self.assertEqual(done.returncode, 1, done)
        return done.stderr.decode()

    def test_one_database_is_one_archive(self):
        folder = self.folder()
        options = catalog_of(folder)
        Server(folder).stop()
        self.assertIn('another data folder', self.refused(self.folder(), *options))
        Server(folder).stop()  # it is remembered
        self.assertIn('is not opened in its stead', self.refused(folder, '--catalog', self.folder()))
        other = self.folder()
        reel('import', '--data', other, self.write(bag(lab_messages(1))))
        self.assertIn('there is a catalog in the data folder', self.refused(other, *options))

    def write(self, content):
        path = os.path.join(self.folder(), 'a.bag')
        with open(path, 'wb') as f:
            f.write(content)
        return path

    def test_a_database_of_others_is_left_alone(self):
        folder = self.folder()
        address = catalog_of(folder)[1]
        with open(os.path.join(folder, 'catalog-folder'), 'w') as f:
            f.write(address + '\n')
        catalog_sql(folder, 'CREATE TABLE theirs (a int)')
        self.assertIn('another program', self.refused(folder))
        self.assertEqual(catalog_sql(folder, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), [('1',)])

    def test_fsck_repairs_what_is_searched(self):
        folder = self.folder()
        server = Server(folder)
        server.added('find-me.bag', data(5), '?tag=season=autumn')
        server.stop()
        catalog_sql(folder, 'DELETE FROM search; DELETE FROM label_search; UPDATE sums SET recordings = 7; UPDATE tag_values SET label = NULL')
        self.assertEqual(reel('fsck', '--data', folder, check=False).returncode, 1)
        reel('fsck', '--data', folder, '--repair', check=False)
        self.assertEqual(reel('fsck', '--data', folder, check=False).returncode, 0)
        server = Server(folder)
        try:
            for q in ('find-me', 'ind', 'chatter', 'geometry', 'autumn'):
                self.assertEqual([r['name'] for r in server.get(API + '/recordings?q=' + q).json()['items']], ['find-me.bag'], q)
        finally:
            server.stop()
