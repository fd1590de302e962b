"""An archive that had tokens, and has lost its catalog: the next start served everybody as an administrator."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import API, CATALOG, STORE, Server, catalog_sql, eventually, in_a_file, in_a_folder, reel
from s3 import S3
from samples import bag, lab_messages

COMMAND = 'reel token create --role admin --name admin --data '


class LostTokens(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-lost-')
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.data = os.path.join(self.folder, 'data')
        self.record, self.catalog = os.path.join(self.data, 'tokens-required'), os.path.join(self.data, 'catalog.db')

    def start(self, *args):
        server = Server(self.data, *args)
        self.addCleanup(server.stop, None)
        return server

    def token(self, role='admin', name='boss', data=None):
        return reel('token', 'create', '--role', role, '--name', name, '--data', data or self.data).stdout.decode().strip()

    def had_tokens(self, store=False):
        """An archive with a token, and with `store` a recording; its server is stopped."""
        server = self.start()
        self.assertFalse(os.path.exists(self.record))
        if store:
            server.added('a.bag', bag(lab_messages(1)))
        answer = server.request('POST', API + '/tokens', json.dumps({'name': 'all', 'role': 'admin'}))
        self.assertEqual(answer.status, 201, answer)
        self.assertTrue(os.path.exists(self.record))
        self.assertEqual(server.get(API + '/recordings').status, 401)
        server.stop()
        return answer.json()['token']

    def lose_catalog(self):
        if os.path.exists(os.path.join(self.data, 'catalog-folder')):  # in PostgreSQL
            catalog_sql(self.data, 'SET client_min_messages = warning; DROP SCHEMA public CASCADE; CREATE SCHEMA public')
            return
        for suffix in ('', '-wal', '-shm'):
            if os.path.exists(self.catalog + suffix):
                os.remove(self.catalog + suffix)

    def assertClosed(self, server, lost=True):
        for method, path, body in (('GET', '/recordings', None), ('POST', '/tokens', '{"name": "mine", "role": "admin"}'), ('DELETE', '/recordings/x?purge=true', None)):
            answer = server.request(method, API + path, body)
            self.assertEqual(answer.status, 401, answer)
            self.assertIn('WWW-Authenticate', answer.headers)
            if lost:
                self.assertTrue(answer.json()['type'].endswith('/problems/no-tokens'), answer)
                self.assertIn(COMMAND, answer.json()['detail'])
        if lost:
            self.assertTrue(eventually(lambda: COMMAND + self.data in server.log_text()), server.log_text())
        self.assertNotIn('version', server.get(API).json() if server.get(API).status == 200 else {})

    def test_a_lost_catalog(self):
        old = self.had_tokens()
        self.lose_catalog()
        server = self.start()
        self.assertClosed(server)
        self.assertEqual(server.get(API + '/recordings', Authorization='Bearer ' + old).status, 401)
        self.assertEqual(server.get('/problems/no-tokens').status, 200)
        refused = reel('token', 'create', '--role', 'read', '--name', 'a', '--data', self.data, check=False)
        self.assertEqual(refused.returncode, 2, refused)
        self.assertClosed(server)
        token = self.token()  # by the command that the log names, while the server runs
        self.assertEqual(server.get(API + '/recordings', Authorization='Bearer ' + token).status, 200)
        self.assertProblemIsOrdinary(server)
        server.stop()
        server = self.start()
        self.assertProblemIsOrdinary(server)
        self.assertNotIn(COMMAND, server.log_text())

    def assertProblemIsOrdinary(self, server):
        self.assertTrue(server.get(API + '/recordings').json()['type'].endswith('/problems/unauthorized'))

    def test_on_a_public_address(self):
        self.had_tokens()
        self.lose_catalog()
        self.assertClosed(self.start('--host', 'lab'))
        self.assertFalse(os.path.exists(os.path.join(self.data, 'first-token')))

    def test_whoever_opens_it_says_so(self):
        self.had_tokens()
        self.lose_catalog()
        self.assertEqual(self.start('--insecure-open').get(API + '/recordings').status, 200)

    def test_the_settings_say_it(self):
        check = lambda: reel('serve', '--check-config', '--data', self.data)
        self.had_tokens()
        self.assertNotIn(COMMAND.encode(), check().stderr)
        self.lose_catalog()
        if not CATALOG:  # where there is none
            self.assertIn((COMMAND + self.data).encode(), check().stderr)
        self.start().stop()  # where there is an empty one
        self.assertIn((COMMAND + self.data).encode(), check().stderr)
        self.token()
        self.assertNotIn(COMMAND.encode(), check().stderr)

    def test_revoking_the_last_one_opens_nothing(self):
        self.had_tokens()
        reel('token', 'revoke', 'all', '--data', self.data)
        self.assertClosed(self.start(), lost=False)

    def test_tokens_of_an_earlier_version(self):
        """Which has not recorded them: the first start does."""
        self.had_tokens()
        os.remove(self.record)
        self.start().stop()
        self.assertTrue(os.path.exists(self.record))
        self.lose_catalog()
        self.assertClosed(self.start())

    @unittest.skipUnless(STORE, 'the store is no bucket')
    def test_a_lost_folder(self):
        """The bucket knows it, too, also when the token was created by the command line, before the server saw the bucket."""
        for first in (lambda: self.start().stop(), lambda: None):
            first()
            self.token()
            if not os.path.exists(os.path.join(self.data, 'store-bucket')):
                self.start().stop()
            with open(os.path.join(self.data, 'store-bucket')) as f:
                store = f.read().strip()
            self.assertIn(b'reel token create', self.noted(store))
            self.lose_catalog()
            shutil.rmtree(self.data)
            self.data = tempfile.mkdtemp(dir=self.folder)
            server = Server(self.data, '--store', store)
            self.addCleanup(server.stop, None)
            self.assertClosed(server)
            self.assertTrue(os.path.exists(os.path.join(self.data, 'tokens-required')))
            server.stop()
            self.data = tempfile.mkdtemp(dir=self.folder)

    def noted(self, store):
        """What the bucket has of the record."""
        bucket, _, prefix = store[len('s3://'):].partition('/')
        return S3.of_environment().get(bucket, prefix + '/notes/tokens-required')

    @unittest.skipUnless(STORE, 'the store is no bucket')
    def test_moved_files(self):
        """The bucket knows it as soon as the files are there, also of an archive of an earlier version."""
        store = STORE + '/moved-%d' % os.getpid()
        os.makedirs(os.path.join(self.data, 'blobs'))
        self.token()
        self.start().stop()
        self.assertFalse(os.path.exists(os.path.join(self.data, 'store-bucket')))
        os.remove(self.record)
        reel('migrate', '--data', self.data, '--store', store)
        self.assertIn(b'reel token create', self.noted(store))
        self.assertTrue(os.path.exists(self.record))
        os.remove(self.record)
        reel('migrate', '--data', self.data, '--store', 'folder')
        self.assertTrue(os.path.exists(self.record))
        self.lose_catalog()
        self.assertClosed(self.start())

    @in_a_folder
    @in_a_file
    def test_a_rebuilt_catalog(self):
        for forget in (False, True):  # True: as an earlier version left it, which recorded nothing
            with self.subTest(forget):
                self.had_tokens(store=True)
                if forget:
                    os.remove(self.record)
                done = reel('fsck', '--rebuild', '--data', self.data, check=False)
                self.assertEqual(done.returncode, 1, done)
                self.assertIn((COMMAND + self.data).encode(), done.stdout)
                self.assertNotIn(b'tokens-required', done.stdout)
                server = self.start()
                self.assertClosed(server)
                self.assertEqual(server.get(API + '/recordings?q=a', Authorization='Bearer ' + self.token()).json()['items'][0]['name'], 'a.bag')
                server.stop()
                shutil.rmtree(self.data)

    @in_a_folder
    @in_a_file
    def test_a_damaged_catalog_of_an_earlier_version(self):
        """That cannot be read: whether it had tokens is not known."""
        self.had_tokens(store=True)
        os.remove(self.record)
        self.lose_catalog()
        with open(self.catalog, 'wb') as f:
            f.write(b'\1' * 8192)
        done = reel('fsck', '--rebuild', '--data', self.data, check=False)
        self.assertIn(b'delete the file tokens-required', done.stdout)
        self.assertClosed(self.start())

    @in_a_folder
    @in_a_file
    def test_a_newer_catalog_is_not_put_aside(self):
        old = self.had_tokens(store=True)

        def version(change):
            script = 'import sqlite3,sys; c = sqlite3.connect(sys.argv[1]); v, = c.execute("PRAGMA user_version").fetchone(); c.execute("PRAGMA user_version = %d" % (v + int(sys.argv[2])))'
            subprocess.run(['/usr/bin/python3', '-c', script, self.catalog, str(change)], check=True)
        version(1)
        done = reel('fsck', '--rebuild', '--data', self.data, check=False)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(b'newer program', done.stderr)
        self.assertFalse([name for name in os.listdir(self.data) if name.startswith('catalog.db.old')])
        version(-1)
        self.assertEqual(self.start().get(API + '/recordings', Authorization='Bearer ' + old).status, 200)

    @in_a_folder
    @in_a_file
    def test_a_catalog_of_before(self):
        """From a backup that was made when there were no tokens."""
        own = os.path.join(self.folder, 'own')
        self.start().stop()
        reel('backup', own, '--data', self.data)
        self.had_tokens()
        self.lose_catalog()
        shutil.copy(os.path.join(own, 'catalog.db'), self.catalog)
        self.assertClosed(self.start())

    @in_a_folder
    @in_a_file
    def test_a_backup_without_its_catalog(self):
        own = os.path.join(self.folder, 'own')
        self.had_tokens(store=True)
        reel('backup', own, '--data', self.data, '--blobs', 'copy')
        shutil.rmtree(self.data)
        os.remove(os.path.join(own, 'catalog.db'))
        self.data = own
        server = self.start()
        self.assertClosed(server)
        self.assertEqual(server.get(API + '/recordings', Authorization='Bearer ' + self.token()).json()['items'][0]['name'], 'a.bag')

    @in_a_folder
    @in_a_file
    def test_a_forgotten_place(self):
        """catalog-folder is lost, and with it where the catalog is."""
        server = self.start('--catalog', os.path.join(self.folder, 'elsewhere'))
        self.token()
        server.stop()
        os.remove(os.path.join(self.data, 'catalog-folder'))
        self.assertClosed(self.start())
