"""reel backup while everything is written to: the restored archive has every row of the copied catalog, all that was acknowledged before the backup
began, and goes on with live recordings where they were."""
import json
import os
import shutil
import sqlite3
import tempfile
import threading
import time
import unittest

from harness import API, Server, eventually, in_a_file, in_a_folder, reel
from samples import bag, lab_messages
from test_live import Live, row

# Written by a start, or by the scan of a live recording: what is to be done, counts, when rows were touched.
OTHERWISE = ('jobs', 'changes', 'maintenance', 'manifests_due', 'sqlite_sequence', 'sqlite_stat1', 'responses', 'sums', 'label_sets')


def rows(path):
    """Every row of a catalog by table, as texts. Of recordings that grow only the ids: the rest is read again from their files."""
    db = sqlite3.connect('file:%s?mode=ro' % path, uri=True)
    tables = [r[0] for r in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE '%search%'")]
    out = {table: {repr(r) for r in db.execute('SELECT * FROM ' + table)} for table in tables if table not in OTHERWISE}
    out['recordings'] = {repr(r) for r in db.execute('SELECT * FROM recordings WHERE state <> 6')}
    grows = {r[0] for r in db.execute('SELECT id FROM recordings WHERE state = 6')}
    db.close()
    return out, grows


@in_a_file
@in_a_folder
class BackupUnderLoad(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.server = Server(os.path.join(self.folder, 'data'))
        self.addCleanup(self.server.stop, None)
        self.stop = threading.Event()
        self.names, self.notes, self.appended, self.problems = [], [], {}, []

    def load(self, work):
        def run():
            for n in range(100000):
                if self.stop.is_set():
                    return
                try:
                    work(n)
                except Exception as e:  # shown by the test
                    self.problems.append(repr(e))
                    return
        thread = threading.Thread(target=run)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.stop.set)
        return thread

    def upload(self, n):
        one = self.server.added('u%d.bag' % n, bag(lab_messages(1, salt=n)), '?tag=robot=r%d' % (n % 3))
        if n % 4 == 3:
            assert self.server.request('DELETE', '%s/recordings/%s' % (API, one)).status == 204
        else:
            self.names.append('u%d.bag' % n)

    def annotate(self, n):
        answer = self.server.request('POST', '%s/recordings/%s/notes' % (API, self.first), json.dumps({'text': 'note %d' % n}))
        assert answer.status == 201, answer
        self.notes.append('note %d' % n)

    def append(self, live):
        def one(n):
            live.appended([row('/a', 2 * n), row('/a', 2 * n + 1)], **({'Idempotency_Key': 'k%d' % n} if live.keyed else {}))
            self.appended[live.id] = 2 * n + 2
        return one

    def short(self, n):
        """Live recordings that are finished at once: some between the copy of the catalog and that of the files."""
        live = Live(self.server, 'short%d' % n)
        live.appended([row('/a', i) for i in range(3)])
        self.server.request('POST', live.path('/finish'))

    def test_every_row_and_every_batch(self):
        self.first = self.server.added('first.bag', bag(lab_messages(1, salt=1000000)))
        growing = [Live(self.server, 'grows%d' % n) for n in range(2)]
        for live in growing:
            live.keyed = live is growing[0]
        threads = [self.load(work) for work in (self.upload, self.annotate, self.short, *(self.append(live) for live in growing))]
        self.assertTrue(eventually(lambda: len(self.names) > 5 and len(self.notes) > 5 and len(self.appended) == 2) or self.problems)
        for n in range(3):  # into a new folder, and over an earlier backup
            before = list(self.names), list(self.notes), dict(self.appended)
            backup = os.path.join(self.folder, 'backup%d' % (n // 2))
            done = json.loads(reel('backup', backup, '--data', self.server.data, '--blobs', 'copy').stdout)
            self.assertEqual(done['files']['gone'], 0, done)
            self.assertGreaterEqual(done['files']['live'], 2)
            self.check(backup, growing, *before)
        self.stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(self.problems, [])

    @staticmethod
    def listed(server, path, member):
        """Of all pages."""
        found = set()
        while path:
            answer = server.get(path)
            found |= {item[member] for item in answer.json()['items']}
            path = answer.next_path()
        return found

    def check(self, backup, growing, names, notes, appended):
        restored = tempfile.mkdtemp(dir=self.folder)
        shutil.copytree(backup, restored, dirs_exist_ok=True)
        catalog = os.path.join(restored, 'catalog.db')
        copied, grew = rows(catalog)
        self.assertGreater(len(copied['parts']), 5)
        server = Server(restored)
        self.addCleanup(server.stop, None)
        self.assertTrue(eventually(lambda: not server.get(API + '/jobs?state=queued&state=running&kind=live&kind=scan').json()['items']))
        self.assertLessEqual(set(names), self.listed(server, API + '/recordings?limit=1000', 'name'))
        self.assertLessEqual(set(notes), self.listed(server, '%s/recordings/%s/notes?limit=100' % (API, self.first), 'text'))
        for live in growing:
            there = Live.__new__(Live)
            there.server, there.id = server, live.id
            self.assertEqual(there.row()['state'], 'recording')
            numbers = there.numbers()
            self.assertEqual(numbers, list(range(len(numbers))))  # nothing is missing and nothing twice
            self.assertGreaterEqual(len(numbers), appended[live.id])
            if live.keyed:
                self.assertEqual(len(numbers) % 2, 0)
                n = len(numbers) // 2  # the client repeats its last batches, and goes on
                for batch in (n - 1, n):
                    there.appended([row('/a', 2 * batch), row('/a', 2 * batch + 1)], Idempotency_Key='k%d' % batch)
                self.assertEqual(there.numbers(), list(range(2 * n + 2)))
            self.assertEqual(there.finish()['state'], 'ready')
        for brief in grew - {bytes.fromhex(live.id) for live in growing}:
            there = Live.__new__(Live)
            there.server, there.id = server, brief.hex()
            self.assertIn(there.row()['state'], ('recording', 'ready'))
            self.assertIn(there.numbers(), ([], [0, 1, 2]))
        server.stop()
        after, _ = rows(catalog)
        for table in copied:
            self.assertEqual(copied[table] - after[table], set(), table)
        self.assertLessEqual({live.id for live in growing}, {i.hex() for i in grew})
        done = reel('fsck', '--data', restored, check=False)
        self.assertEqual(done.returncode, 0, done.stdout.decode())


if __name__ == '__main__':
    unittest.main()
