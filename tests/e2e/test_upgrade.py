"""The newest program on data folders of every earlier catalog (tests/upgrade/NNNN.sql, made by make.py there): what the program of that day answered is
answered still; a catalog of tomorrow is refused; an upgrade that is cut short has not begun."""
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

from harness import API, PATIENCE, QUICK, REEL, Server, eventually, reel

HERE = os.path.dirname(os.path.abspath(__file__))
OLD = sorted(glob.glob(os.path.join(HERE, '..', 'upgrade', '*.sql')))
NEWEST = len(glob.glob(os.path.join(HERE, '..', '..', 'sql', 'migrations', '*.sql')))
RENAMED = ((r'\brosbag1\b', 'rosbag-1.2'),)
EXTRA = ('data_folder', 'told', 'keys')  # tables of the test, not of the catalog


def version_of(path):
    return int(os.path.basename(path)[:4])


def today(text):
    """A question or an answer of then, in the names of today's API."""
    for old, new in RENAMED:
        text = re.sub(old, new, text)
    return text


def has(new, old, where=''):
    """What is in `old` and not in `new`: members may be more now, none may be less or other."""
    if isinstance(old, dict) and isinstance(new, dict):
        return next(filter(None, (has(new.get(k), v, where + '/' + k) for k, v in old.items())), None)
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return next(filter(None, (has(n, o, '%s/%d' % (where, i)) for i, (n, o) in enumerate(zip(new, old)))), None)
    return None if old == new else '%s: %r, was %r' % (where, new, old)


def pragma(path, name):
    db = sqlite3.connect(path)
    value, = db.execute('PRAGMA ' + name).fetchone()
    db.close()
    return value


def schema(path):
    """Tables with their columns, indexes, triggers, views: what a catalog is, whatever way it became that."""
    db = sqlite3.connect(path)
    out = {}
    for kind, name, sql in db.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%'"):
        columns = [row[1:] for row in db.execute('PRAGMA table_xinfo("%s")' % name)] if kind == 'table' else None
        out[name] = (kind, columns or re.sub(r'\s+', ' ', sql))
    db.close()
    return out


class Old(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.data = os.path.join(self.folder, 'data')
        self.catalog = os.path.join(self.data, 'catalog.db')

    def lay_out(self, path):
        """The data folder of that file; (what was told, keys)."""
        os.makedirs(os.path.join(self.folder, 'files'))
        os.makedirs(self.data)
        with open(path) as f:
            text = f.read()
        text = text.replace('@FOLDER@', self.folder).replace(b'@FOLDER@'.hex(), self.folder.encode().hex())
        db = sqlite3.connect(self.catalog)
        db.executescript(text)
        db.close()
        db = sqlite3.connect(self.catalog)  # anew: it was written below the parser
        self.assertEqual(db.execute('PRAGMA integrity_check').fetchone(), ('ok',))
        told, keys = [tuple(map(today, row)) for row in db.execute('SELECT path, kind, type, answer FROM told')], dict(db.execute('SELECT name, value FROM keys'))
        for name, content, mtime in db.execute('SELECT * FROM data_folder'):
            where = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(where), exist_ok=True)
            with open(where, 'wb') as f:
                f.write(content)
            os.chmod(where, 0o600)
            os.utime(where, ns=(mtime, mtime))
        for name in EXTRA:
            db.execute('DROP TABLE ' + name)
        db.commit()
        db.execute('PRAGMA journal_mode = WAL')  # as the server has it
        db.close()
        self.assertEqual(pragma(self.catalog, 'user_version'), version_of(path))
        return told, keys

    def start(self, *args, **more):
        server = Server(self.data, '--import-root', os.path.join(self.folder, 'files'), *args, **more)
        self.addCleanup(server.stop, None)
        return server

    def refused(self):
        """A start that must not come to anything; what it said."""
        done = subprocess.run([REEL, 'serve', '--data', self.data, '--listen', '127.0.0.1:0'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1, done)
        return done.stderr.decode()

    # ---- from every version

    def test_there_is_one_of_every_version(self):
        self.assertEqual([version_of(path) for path in OLD], list(range(1, max(NEWEST - 1, len(OLD)) + 1)))

    def test_every_old_archive_answers_as_it_did(self):
        for path in OLD:
            with self.subTest(os.path.basename(path)):
                self.setUp()
                self.follow(path)

    def follow(self, path):
        told, keys = self.lay_out(path)
        server = self.start()
        headers = {'Authorization': 'Bearer ' + keys['token']} if 'token' in keys else {}
        if headers:  # tokens of then still open the door, and keep it shut
            self.assertEqual(server.get(API + '/recordings').status, 401)
        self.assertGreater(len(told), 20)
        for question, kind, form, before in told:
            answer = server.request('GET', API + question, headers=headers)
            self.assertEqual(answer.status, 200, (question, answer))
            self.assertEqual(self.same(kind, form, answer.body.decode(), before), None, question)
        self.go_on(server, keys, headers)
        server.stop()
        self.assertEqual(pragma(self.catalog, 'user_version'), NEWEST)
        self.assertEqual(pragma(self.catalog, 'integrity_check'), 'ok')
        self.assertEqual(schema(self.catalog), self.fresh_schema())
        self.look_through()

    def same(self, kind, form, now, before):
        if form == 'application/x-ndjson':
            return has([json.loads(line) for line in now.splitlines()], [json.loads(line) for line in before.splitlines()])
        now, before = json.loads(now), json.loads(before)
        if kind == 'ids':
            now, before = ([(i['collection'], i['name'], i['id']) for i in one['items']] for one in (now, before))
        if kind == 'recording':
            before = {k: v for k, v in before.items() if k not in ('links', 'topics', 'updated')}  # topics have an address of their own today; a scan anew is an update
        return has(now, before)

    def go_on(self, server, keys, headers):
        """An upload that was under way goes on where it was."""
        if 'upload' in keys:
            body = bytes.fromhex(keys['upload_body'])
            answer = server.request('PATCH', keys['upload'], body[int(keys['upload_offset']):],
                                    {**headers, 'Tus-Resumable': '1.0.0', 'Upload-Offset': keys['upload_offset'], 'Content-Type': 'application/offset+octet-stream'})
            self.assertEqual(answer.status, 204, answer)
            found = server.request('GET', API + '/recordings?q=half', headers=headers).json()['items']
            self.assertEqual([i['content'] for i in found], ['sha256:' + hashlib.sha256(body).hexdigest()])

    def look_through(self):
        """fsck counts everything that the triggers keep anew."""
        done = reel('fsck', '--data', self.data, '--json', check=False)
        found = json.loads(done.stdout)['findings']
        own = ('file', 'index')  # one stored file is corrupted in them; an index pack of then is rebuilt when it is opened
        self.assertEqual([f for f in found if f['kind'] not in own], [], found)

    def fresh_schema(self):
        other = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, other, True)
        Server(other).stop()
        return schema(os.path.join(other, 'catalog.db'))

    # ---- from tomorrow

    def test_a_newer_catalog_is_refused_and_left_alone(self):
        self.lay_out(OLD[-1])
        db = sqlite3.connect(self.catalog)
        db.execute('PRAGMA user_version = %d' % (NEWEST + 1))
        db.close()
        with open(self.catalog, 'rb') as f:
            before = f.read()
        self.assertRegex(self.refused(), r'version %d, made by a newer program; this one knows versions up to %d' % (NEWEST + 1, NEWEST))
        for command in (('token', 'list'), ('scrub',), ('import', os.path.join(self.folder, 'files')), ('backup', os.path.join(self.folder, 'backup'))):
            done = reel(*command, '--data', self.data, check=False)
            self.assertNotEqual(done.returncode, 0, done)
            self.assertIn('version %d' % (NEWEST + 1), done.stderr.decode())
        with open(self.catalog, 'rb') as f:
            self.assertEqual(f.read(), before)

    # ---- whole or not at all

    def test_an_upgrade_that_fails_half_way_has_changed_nothing(self):
        self.lay_out(OLD[0])
        db = sqlite3.connect(self.catalog)
        db.execute('CREATE TABLE notes (in_the_way)')
        db.close()
        before = schema(self.catalog)
        self.assertRegex(self.refused(), r'migration .*notes')
        self.assertEqual((schema(self.catalog), pragma(self.catalog, 'user_version')), (before, 1))
        db = sqlite3.connect(self.catalog)
        db.execute('DROP TABLE notes')
        db.close()
        self.start().stop()
        self.assertEqual(pragma(self.catalog, 'user_version'), NEWEST)
        self.look_through()

    @unittest.skipIf(QUICK, 'takes long under a sanitizer')
    def test_a_kill_in_the_middle_leaves_the_old_catalog_or_the_new_one(self):
        self.lay_out(OLD[0])
        db = sqlite3.connect(self.catalog)
        columns = [c[1] for c in db.execute('PRAGMA table_info(recordings)') if c[1] not in ('row', 'id', 'name')]
        db.execute("INSERT INTO recordings (id, name, %s) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) SELECT randomblob(16), 'copy-' || i, %s "
                   "FROM n, recordings WHERE row = (SELECT min(row) FROM recordings WHERE state = 1)" % (', '.join(columns), ', '.join(columns)))
        db.commit()
        count, = db.execute('SELECT count(*) FROM recordings').fetchone()
        db.close()
        before, new, cut = schema(self.catalog), self.fresh_schema(), 0
        with open(self.catalog, 'rb') as f:
            old = f.read()
        for size in (1 << 12, 1 << 20, 2 << 20, 4 << 20, 8 << 20):  # so much of it is in the log when it is killed
            for path in glob.glob(self.catalog + '-*'):
                os.remove(path)
            with open(self.catalog, 'wb') as f:
                f.write(old)
            process = subprocess.Popen([REEL, 'serve', '--data', self.data, '--listen', '127.0.0.1:0'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                while process.poll() is None and (not os.path.exists(self.catalog + '-wal') or os.path.getsize(self.catalog + '-wal') < size) and pragma(self.catalog, 'user_version') == 1:
                    time.sleep(0.002)
            finally:
                process.send_signal(signal.SIGKILL)
                process.wait()
            version = pragma(self.catalog, 'user_version')
            self.assertIn(version, (1, NEWEST))
            self.assertEqual(schema(self.catalog), before if version == 1 else new)
            self.assertEqual(pragma(self.catalog, 'integrity_check'), 'ok')
            cut += version == 1
        self.assertGreaterEqual(cut, 2)  # else nothing was cut short here
        self.start().stop()
        db = sqlite3.connect(self.catalog)
        self.assertEqual((db.execute('SELECT count(*) FROM recordings').fetchone()[0], db.execute('PRAGMA user_version').fetchone()[0]), (count, NEWEST))
        db.close()
