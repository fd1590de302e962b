"""Versions of the catalog: an empty data folder gets the newest one; a newer catalog or another program's is refused and left alone; a migration that fails changes nothing."""
import glob
import os
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

from harness import PATIENCE, REEL, Server, in_a_file, reel

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
