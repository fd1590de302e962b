"""Versions of the catalog: an empty data folder gets the newest one; a newer catalog or another program's is refused and left alone; a migration that fails changes nothing."""
import glob
import os
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

from harness import API, PATIENCE, REEL, Server, eventually, in_a_file, in_a_folder, reel
from samples import bag, lab_messages

HERE = os.path.dirname(os.path.abspath(__file__))
MIGRATIONS = glob.glob(os.path.join(HERE, '..', '..', 'sql', 'migrations', '*.sql'))
NEWEST = len(MIGRATIONS)
APPLICATION = 0x5265656c  # "Reel"


@in_a_file
class CatalogVersion(unittest.TestCase):
    def setUp(self):
        self.data = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, self.data, True)
        self.catalog = os.path.join(self.data, 'catalog.db')

    def execute(self, statement):
        db = sqlite3.connect(self.catalog)
        rows = list(db.execute(statement))
        db.commit()
        db.close()
        return rows

    def content(self):
        with open(self.catalog, 'rb') as f:
            return f.read()

    def refused(self):
        """Starts a server that must not start; its stderr."""
        done = subprocess.run([REEL, 'serve', '--data', self.data, '--listen', '127.0.0.1:0'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1, done)
        return done.stderr.decode()

    def test_an_empty_folder_gets_the_newest(self):
        Server(self.data).stop()
        self.assertEqual(self.execute('PRAGMA user_version'), [(NEWEST,)])
        self.assertEqual(self.execute('PRAGMA application_id'), [(APPLICATION,)])
        self.assertEqual(self.execute('PRAGMA integrity_check'), [('ok',)])

    def test_a_newer_catalog_is_refused_and_left_alone(self):
        Server(self.data).stop()
        self.execute('PRAGMA user_version = %d' % (NEWEST + 1))
        before = self.content()
        self.assertRegex(self.refused(), r'version %d.*newer program.*up to %d' % (NEWEST + 1, NEWEST))
        for command in (('token', 'list'), ('scrub',), ('import', self.data), ('backup', self.data + '-backup')):
            done = reel(*command, '--data', self.data, check=False)
            self.assertNotEqual(done.returncode, 0, done)
            self.assertIn('version %d' % (NEWEST + 1), done.stderr.decode())
        self.assertEqual(self.content(), before)

    def test_what_a_start_would_do_is_printed(self):
        for command in (('serve', '--check-config'), ('upgrade', '--dry-run')):
            done = reel(*command, '--data', self.data)
            self.assertIn('catalog: none yet', done.stdout.decode())
        self.assertEqual(os.listdir(self.data), [])
        self.assertIn('no catalog', reel('upgrade', '--data', self.data, check=False).stderr.decode())
        with_server = Server(self.data)
        self.assertNotEqual(reel('upgrade', '--data', self.data, check=False).returncode, 0)
        with_server.stop()
        for command in (('serve', '--check-config'), ('upgrade', '--dry-run'), ('upgrade',)):
            done = reel(*command, '--data', self.data)
            self.assertIn('catalog: version %d, nothing to upgrade' % NEWEST, done.stdout.decode())
        self.execute('PRAGMA user_version = %d' % (NEWEST + 1))
        self.assertIn('# catalog: the catalog has version %d' % (NEWEST + 1), reel('serve', '--check-config', '--data', self.data).stdout.decode())

    def test_tables_that_are_not_those_of_the_version_are_refused(self):
        """As those of an archive that an earlier 0001_schema made: it has the same number."""
        Server(self.data).stop()
        self.execute('DROP TABLE saved')
        self.assertIn('the tables of the catalog are not those of version %d' % NEWEST, self.refused())
        done = reel('fsck', '--data', self.data, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('the tables of the catalog are not those of version %d' % NEWEST, done.stdout.decode())
        self.assertIn('reel fsck --rebuild', done.stdout.decode())
        reel('fsck', '--rebuild', '--data', self.data, check=False)
        self.assertEqual(reel('fsck', '--data', self.data).returncode, 0)
        Server(self.data).stop()

    def test_a_database_of_another_program_is_refused_and_left_alone(self):
        self.execute('CREATE TABLE accounts (name)')
        before = self.execute('SELECT * FROM sqlite_schema')
        self.assertIn('another program', self.refused())
        self.assertEqual(self.execute('SELECT * FROM sqlite_schema'), before)

    def test_a_migration_that_fails_changes_nothing(self):
        self.execute('CREATE TABLE webhooks (unexpected)')
        self.execute('PRAGMA application_id = %d' % APPLICATION)
        before = self.execute('SELECT * FROM sqlite_schema')
        self.assertRegex(self.refused(), r'migration .*webhooks')
        self.assertEqual(self.execute('SELECT * FROM sqlite_schema'), before)
        self.execute('DROP TABLE webhooks')
        Server(self.data).stop()
        self.assertEqual(self.execute('PRAGMA user_version'), [(NEWEST,)])

    def first_version(self):
        """Takes the catalog back to version 1, as the program that made only that would have left it."""
        later = self.catalog + '.later'
        os.replace(self.catalog, later)
        db = sqlite3.connect(self.catalog)
        with open(sorted(MIGRATIONS)[0], encoding='utf-8') as f:
            db.executescript(f.read())
        db.execute('ATTACH ? AS later', (later,))
        tables = "SELECT name FROM %s.sqlite_schema WHERE type = 'table' AND name NOT LIKE '%%search%%' AND name NOT LIKE 'sqlite_%%'"
        triggers = db.execute("SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute('DROP TRIGGER ' + name)
        common = [name for name, in db.execute('%s INTERSECT %s' % (tables % 'main', tables % 'later'))]
        for name in common:
            old, new = ([row[1] for row in db.execute('PRAGMA %s.table_info(%s)' % (schema, name))] for schema in ('main', 'later'))
            columns = ', '.join(column for column in old if column in new)
            db.execute('DELETE FROM main.' + name)
            db.execute('INSERT INTO main.%s (%s) SELECT %s FROM later.%s%s' % (name, columns, columns, name, ' WHERE kind <= 2' if name == 'labels' else ''))
        db.execute('INSERT INTO main.search (rowid, text) SELECT rowid, text FROM later.search')
        db.execute('INSERT INTO main.label_search (rowid, text) SELECT rowid, text FROM later.label_search WHERE rowid IN (SELECT id FROM main.labels)')
        db.execute("DELETE FROM maintenance WHERE key IN ('migrations', 'schema')")
        for _, sql in triggers:
            db.execute(sql)
        db.execute('PRAGMA application_id = %d' % APPLICATION)
        db.execute('PRAGMA user_version = 1')
        db.commit()
        db.close()
        os.unlink(later)

    def names(self, server):
        return sorted(r['name'] for r in server.get(API + '/recordings').json()['items'])

    @unittest.skipIf(NEWEST == 1, 'there is no other version')
    @in_a_folder
    def test_an_upgrade_with_recordings_and_back(self):
        server = Server(self.data)
        one = server.added('one.bag', bag(lab_messages(1)), '?tag=robot=r1')
        self.assertEqual(server.request('POST', '%s/recordings/%s/notes' % (API, one), '{"text": "seen"}').status, 201)
        event = '{"recording": "%s", "start": "+0s", "title": "Wheel slips"}' % one
        self.assertEqual(server.request('POST', API + '/events', event, {'Content-Type': 'application/json'}).status, 201)
        before = server.get('%s/recordings/%s' % (API, one)).json()
        server.stop()
        self.first_version()
        for command in (('serve', '--check-config'), ('upgrade', '--dry-run')):
            printed = reel(*command, '--data', self.data).stdout.decode()
            self.assertIn('catalog: version 1, to be upgraded to %d' % NEWEST, printed)
            self.assertIn('pending migration: 0002_', printed)
            self.assertIn('will be kept as %s.version-1' % self.catalog, printed)
        self.assertIn('reel upgrade', reel('token', 'list', '--data', self.data, check=False).stderr.decode())
        self.assertEqual(self.execute('PRAGMA user_version'), [(1,)])
        server = Server(self.data)
        self.assertTrue(eventually(lambda: 'reel: upgrading the catalog from version 1 to %d' % NEWEST in server.log_text()), server.log_text())
        self.assertIn('reel: the catalog of version 1 is kept as %s.version-1' % self.catalog, server.log_text())
        self.assertEqual(server.get('%s/recordings/%s' % (API, one)).json(), before)
        self.assertEqual(server.get('%s/recordings/%s/notes' % (API, one)).json()['items'][0]['text'], 'seen')
        self.assertEqual([r['name'] for q in ('r1', 'slips') for r in server.get(API + '/recordings?q=' + q).json()['items']], ['one.bag'] * 2)
        server.added('two.bag', bag(lab_messages(1, salt=1)))
        server.stop()
        self.assertEqual(reel('fsck', '--data', self.data).returncode, 0)
        os.replace(self.catalog + '.version-1', self.catalog)  # as docs/operations.md says; this program takes the older one's part
        self.assertEqual(self.execute('PRAGMA user_version'), [(1,)])
        server = Server(self.data)
        self.assertEqual(self.names(server), ['one.bag', 'two.bag'])
        server.stop()
        self.assertEqual(reel('fsck', '--data', self.data).returncode, 0)

    def test_an_older_catalog_is_upgraded(self):
        for version in range(1, NEWEST):
            with self.subTest(version=version):
                if os.path.exists(self.catalog):
                    os.unlink(self.catalog)
                db = sqlite3.connect(self.catalog)
                for older in sorted(MIGRATIONS)[:version]:
                    with open(older, encoding='utf-8') as f:
                        db.executescript(f.read())
                db.executescript('PRAGMA application_id = %d; PRAGMA user_version = %d' % (APPLICATION, version))
                db.close()
                Server(self.data).stop()
                upgraded = self.execute('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name')
                self.assertEqual(self.execute('PRAGMA user_version'), [(NEWEST,)])
                os.unlink(self.catalog)
                Server(self.data).stop()
                self.assertEqual(self.execute('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name'), upgraded)
