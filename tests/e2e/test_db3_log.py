"""A database of a recorder that was killed: its last messages are in the write-ahead log beside it. Uploaded in two parts, in an archive, taken in from
a folder, and on the command line."""
import io
import os
import sqlite3
import tempfile
import zipfile

from harness import API, Case, Server, eventually, reel

FIRST, MORE = 3, 40


def unclosed():
    """The bytes of a database and its log."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'x.db3')
        base = sqlite3.connect(path, isolation_level=None)
        base.execute('PRAGMA journal_mode=WAL')
        base.execute('CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT NULL,serialization_format TEXT NOT NULL,'
                     'offered_qos_profiles TEXT NOT NULL)')
        base.execute('CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id INTEGER NOT NULL,timestamp INTEGER NOT NULL,data BLOB NOT NULL)')
        base.execute("INSERT INTO topics VALUES(1,'/chatter','std_msgs/msg/String','cdr','')")
        for i in range(FIRST + MORE):
            base.execute('INSERT INTO messages(topic_id,timestamp,data) VALUES(1,?,?)', (1_700_000_000_000_000_000 + i, b'\0\1\0\0\2\0\0\0a\0'))
            if i + 1 == FIRST:
                base.execute('PRAGMA wal_checkpoint(TRUNCATE)')
        files = []
        for name in path, path + '-wal':
            with open(name, 'rb') as f:
                files.append(f.read())
        base.close()
        return files


BASE, LOG = unclosed()


class Db3Log(Case):
    def count(self, recording):
        return self.get('%s/recordings/%s' % (API, recording)).json()['messages']

    def test_two_parts(self):
        one = self.server.added('killed_0.db3', BASE)
        self.assertEqual(self.count(one), FIRST)
        answer = self.server.put('killed_0.db3-wal', LOG, '?part_of=killed_0.db3')
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual((answer.json()['id'], answer.json()['messages']), (one, FIRST + MORE))
        self.assertEqual(len(self.get('%s/recordings/%s/as/x.csv' % (API, one)).body.splitlines()), 1 + FIRST + MORE)
        other = self.server.put('other.db3-wal', LOG + b'x', '?part_of=killed_0.db3')
        self.assertProblem(other, 422, 'other.db3-wal')

    def test_archive(self):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, 'w', zipfile.ZIP_DEFLATED) as z:
            z.writestr('bag/bag_0.db3', BASE)
            z.writestr('bag/bag_0.db3-wal', LOG)
        self.assertEqual(self.count(self.server.added('bag.zip', archive.getvalue())), FIRST + MORE)

    def test_folder_and_command_line(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root, data = os.path.join(folder.name, 'root'), os.path.join(folder.name, 'data')
        os.makedirs(os.path.join(root, 'bag'))
        path = os.path.join(root, 'bag', 'bag_0.db3')
        for name, content in ((path, BASE), (path + '-wal', LOG)):
            with open(name, 'wb') as f:
                f.write(content)
        for files in (path, ), (path, path + '-wal'):
            checked = reel('check', *files)
            self.assertEqual((checked.returncode, checked.stdout.count(b'\n')), (0, 1), checked)
            self.assertIn(b'%d messages' % (FIRST + MORE), checked.stdout)
        server = Server(data, '--import-root', root)
        self.addCleanup(server.stop, None)
        job = server.request('POST', API + '/imports', '{"path": "bag"}', {'Content-Type': 'application/json'})
        self.assertEqual(job.status, 202, job)
        rows = eventually(lambda: [r for r in server.get(API + '/recordings').json()['items'] if r['state'] == 'ready'])
        self.assertEqual([(r['messages'], len(server.get('%s/recordings/%s' % (API, r['id'])).json()['parts'])) for r in rows], [(FIRST + MORE, 2)])
