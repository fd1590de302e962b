"""Background jobs through kills and stops: SIGKILL while imports run, SIGTERM while thousands wait. Each job ends once, and no file is lost."""
import collections
import json
import os
import random
import shutil
import signal
import tempfile
import time
import unittest

from faults import LONG, SEED
from harness import API, PATIENCE, Server, eventually
from samples import bag, lab_messages

KILLS = 100 if LONG else 12
WAITING = 5000 if LONG else 1000
HEADERS = {'Content-Type': 'application/json'}


class Jobs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-jobs-')
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.data, self.root = os.path.join(self.folder, 'data'), os.path.join(self.folder, 'root')
        os.mkdir(self.root)

    def start(self):
        server = Server(self.data, '--import-root', self.root)
        self.addCleanup(server.stop, None)
        return server

    def put_files(self, folder, count, first):
        os.makedirs(os.path.join(self.root, folder))
        for i in range(first, first + count):
            with open(os.path.join(self.root, folder, '%d.bag' % i), 'wb') as f:
                f.write(bag(lab_messages(3, salt=i)))

    def add(self, server, folder):
        answer = server.request('POST', API + '/imports', json.dumps({'path': folder, 'collection': 'lab'}).encode(), HEADERS)
        self.assertEqual(answer.status, 202, answer)
        return answer.json()['job']['id']

    def all_jobs(self, server):
        path, items = API + '/jobs?limit=1000', []
        while path:
            answer = server.get(path)
            items += answer.json()['items']
            path = answer.next_path()
        return items

    def states(self, server, ids):
        jobs = {j['id']: j['state'] for j in self.all_jobs(server)}
        return collections.Counter(jobs[i] for i in ids)

    def names(self, server):
        path, names = API + '/recordings?limit=1000', []
        while path:
            answer = server.get(path)
            names += [r['name'] for r in answer.json()['items']]
            path = answer.next_path()
        return names

    def test_killed_while_imports_run(self):
        rng, ids, files = random.Random(SEED), [], 0
        server = self.start()
        for n in range(KILLS):
            folder = 'f%d' % n
            self.put_files(folder, 8, files)
            files += 8
            ids.append(self.add(server, folder))
            time.sleep(rng.random() ** 2 * 0.1)
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
            server.stop(None)
            server = self.start()
        self.assertTrue(eventually(lambda: self.states(server, ids) == {'done': KILLS}, 120), self.states(server, ids))
        self.assertEqual(len(ids), len(set(ids)))
        changes = [c for c in server.get(API + '/changes?kind=job.*&limit=1000').json()['items'] if c['detail']['kind'] == 'import']
        ends = collections.Counter(c['job']['id'] for c in changes)
        self.assertEqual({i: ends[i] for i in ids}, dict.fromkeys(ids, 1))  # each has ended once
        self.assertEqual(sorted(self.names(server)), sorted('%d.bag' % i for i in range(files)))
        self.assertEqual(server.get(API + '/failures').json()['items'], [])

    def test_stopped_while_many_wait(self):
        self.put_files('day', 40, 0)
        server = self.start()
        ids = [self.add(server, 'day') for _ in range(WAITING)]
        server.terminate()
        self.assertEqual(server.process.wait(PATIENCE), 0)
        server.stop(None)
        server = self.start()
        self.assertTrue(eventually(lambda: self.states(server, ids) == {'done': WAITING}, 300), self.states(server, ids))
        self.assertEqual(len(self.names(server)), 40)


if __name__ == '__main__':
    unittest.main()
