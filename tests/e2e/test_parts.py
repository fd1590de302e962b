"""Files that are one recording together: splits of a rosbag2 with their metadata.yaml, a .traj with its .state; on the command line and over HTTP."""
import concurrent.futures
import io
import itertools
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
import time

import legacy
from harness import API, Case, Server, reel
from samples import bag, lab_messages, read_mcap

T0 = 1_700_000_000_000_000_000
TRAJ, STATE = legacy.pair(salt=5)


def database(folder, messages):
    """A .db3 of schema version 2 with (topic, time, number) rows; its bytes."""
    path = os.path.join(folder, 'made.db3')
    db = sqlite3.connect(path)
    db.execute('CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT NULL,serialization_format TEXT NOT NULL,offered_qos_profiles TEXT NOT NULL)')
    db.execute('CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id INTEGER NOT NULL,timestamp INTEGER NOT NULL,data BLOB NOT NULL)')
    topics = sorted({t for t, _, _ in messages})
    db.executemany('INSERT INTO topics VALUES(?,?,?,?,?)', [(i, t, 'std_msgs/msg/Int32', 'cdr', '') for i, t in enumerate(topics, 1)])
    db.executemany('INSERT INTO messages(topic_id,timestamp,data) VALUES(?,?,?)',
                   [(topics.index(t) + 1, time, b'\0\1\0\0' + n.to_bytes(4, 'little')) for t, time, n in messages])
    db.commit()
    db.close()
    with open(path, 'rb') as f:
        data = f.read()
    os.remove(path)
    return data


def metadata(names, count):
    paths = ''.join('    - %s\n' % n for n in names)
    return ('rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: sqlite3\n  message_count: %d\n  relative_file_paths:\n%s  custom_data:\n    site: hall 3\n' % (count, paths)).encode()


class Parts(Case):
    @classmethod
    def fill(cls):
        cls.folder = tempfile.mkdtemp(prefix='reel-e2e-')
        # The files meet at one time: which comes first is for metadata.yaml to say, and it counts backwards here.
        cls.rows = [[('/a', T0 + i * 1000, i) for i in range(5)], [('/a', T0 + i * 1000, 100 + i) for i in range(4, 9)]]
        cls.files = {'run_%d.db3' % i: database(cls.folder, rows) for i, rows in enumerate(cls.rows)}
        cls.files['metadata.yaml'] = metadata(['run_1.db3', 'run_0.db3'], 10)
        for name, data in cls.files.items():
            cls.write('run', name, data)
        cls.whole = cls.convert(cls.at('run', n) for n in sorted(cls.files))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)
        super().tearDownClass()

    @classmethod
    def at(cls, *name):
        return os.path.join(cls.folder, *name)

    @classmethod
    def write(cls, folder, name, data):
        os.makedirs(cls.at(folder), exist_ok=True)
        with open(cls.at(folder, name), 'wb') as f:
            f.write(data)

    @classmethod
    def convert(cls, paths):
        reel('convert', *paths, cls.at('out.mcap'), '--force')
        with open(cls.at('out.mcap'), 'rb') as f:
            return f.read()

    def get_whole(self, made):
        return self.get('%s/recordings/%s/as/out.mcap' % (API, made)).body

    def test_one_recording_in_any_order(self):
        numbers = [int.from_bytes(m.payload[4:8], 'little') for m in read_mcap(self.whole)[2]]
        self.assertEqual(numbers, [0, 1, 2, 3, 104, 4, 105, 106, 107, 108])
        self.assertIn(b'hall 3', self.whole)
        for order in itertools.permutations(sorted(self.files)):
            self.assertEqual(self.convert(self.at('run', n) for n in order), self.whole, order)

    def test_info_is_of_all_files(self):
        info = json.loads(reel('info', '--json', *(self.at('run', n) for n in ('metadata.yaml', 'run_1.db3', 'run_0.db3'))).stdout)
        self.assertEqual((info['messages'], info['size'], info['format']), (10, sum(map(len, self.files.values())), 'rosbag2'))
        self.assertEqual([p['name'] for p in info['parts']], ['metadata.yaml', 'run_1.db3', 'run_0.db3'])
        lines = reel('info', *(self.at('run', n) for n in self.files)).stdout.decode().splitlines()
        self.assertEqual(sum(line.startswith('file ') for line in lines), 3)
        self.assertEqual(sum(line.startswith('messages ') for line in lines), 1)

    def test_others_stay_apart(self):
        self.write('other', 'run_2.db3', self.files['run_1.db3'])  # of another folder
        self.write('run', 'run_0.bag', bag(lab_messages(1)))
        found = reel('info', '--json', self.at('run', 'run_0.db3'), self.at('other', 'run_2.db3'), self.at('run', 'run_0.bag'), self.at('run', 'run_1.db3')).stdout.splitlines()
        self.assertEqual([[p['name'] for p in json.loads(r)['parts']] for r in found], [['run_0.db3', 'run_1.db3'], ['run_2.db3'], ['run_0.bag']])
        os.remove(self.at('run', 'run_0.bag'))

    def test_metadata_alone_is_refused(self):
        refused = reel('info', self.at('run', 'metadata.yaml'), check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(b'run_1.db3', refused.stderr)
        self.assertProblem(self.server.put('metadata.yaml', self.files['metadata.yaml']), 422, 'metadata.yaml alone', 'run_1.db3')

    def test_put_as_parts(self):
        for k, order in enumerate((('run_1.db3', 'metadata.yaml', 'run_0.db3'), ('run_0.db3', 'run_1.db3', 'metadata.yaml'))):
            collection = 'put%d' % k
            made = self.server.added(order[0], self.files[order[0]], collection=collection)
            for name in order[1:]:
                answer = self.server.put(name, self.files[name], '?part_of=' + order[0], collection)
                self.assertEqual((answer.status, answer.json()['id']), (200, made), answer)
            self.assertEqual([p['name'] for p in answer.json()['parts']], list(order))
            self.assertEqual(self.get_whole(made), self.whole)

    def test_parts_that_are_not_waited_for(self):
        made = self.server.added('run_0.db3', self.files['run_0.db3'], collection='async')
        for name in ('metadata.yaml', 'run_1.db3'):
            answer = self.server.put(name, self.files[name], '?part_of=run_0.db3', 'async', Prefer='respond-async')
            self.assertIn(answer.status, (200, 202), answer)
            self.assertEqual(answer.json()['id'], made)
            if answer.status == 202:
                self.assertEqual(answer.json()['state'], 'scanning')
                self.assertEqual(self.get(answer.json()['job']['href']).status, 200)
        until = time.monotonic() + 60
        while self.get('%s/recordings/%s' % (API, made)).json()['state'] == 'scanning' and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(self.get_whole(made), self.whole)

    def test_parts_at_once(self):
        made = self.server.added('run_0.db3', self.files['run_0.db3'], collection='once')
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            names = ('metadata.yaml', 'run_1.db3', 'run_0.db3', 'run_1.db3')
            answers = list(pool.map(lambda n: self.server.put(n, self.files[n], '?part_of=run_0.db3', 'once'), names))
        self.assertEqual([a.status for a in answers], [200] * 4, answers)
        self.assertEqual(self.get_whole(made), self.whole)

    def test_packed_folder(self):
        for name, mode in (('bag.tar', 'w'), ('bag.tar.gz', 'w:gz'), ('bag.tgz', 'w:gz')):
            out = io.BytesIO()
            with tarfile.open(fileobj=out, mode=mode) as tar:
                for f in sorted(self.files):
                    tar.add(self.at('run', f), 'drive/' + f)
            self.assertEqual(self.get_whole(self.server.added(name, out.getvalue(), collection='packed')), self.whole, name)

    def test_put_metadata_first(self):
        kept = self.server.put('metadata.yaml', self.files['metadata.yaml'], '?keep=true', 'first')
        self.assertProblem(kept, 422)
        self.assertProblem(self.server.put('run_0.mcap', self.whole, '?part_of=metadata.yaml', 'first'), 422, 'run_0.mcap')  # it says sqlite3
        for name in ('run_0.db3', 'run_1.db3'):
            answer = self.server.put(name, self.files[name], '?part_of=metadata.yaml', 'first')
            self.assertEqual(answer.status, 200, answer)
        self.assertEqual((answer.json()['state'], answer.json()['format'], answer.json()['messages']), ('ready', 'rosbag2', 10))
        self.assertEqual(self.get_whole(answer.json()['id']), self.whole)

    def test_metadata_of_mcap_files(self):
        self.write('mcap', 'run_0.mcap', self.whole)
        self.write('mcap', 'metadata.yaml', metadata(['run_0.mcap'], 10).replace(b'sqlite3', b'mcap'))
        for order in (('run_0.mcap', 'metadata.yaml'), ('metadata.yaml', 'run_0.mcap')):
            info = json.loads(reel('info', '--json', *(self.at('mcap', n) for n in order)).stdout)
            self.assertEqual((info['format'], info['messages'], len(info['parts'])), ('rosbag2', 10, 2))
        self.server.added('run_0.mcap', self.whole, collection='mcap')
        with open(self.at('mcap', 'metadata.yaml'), 'rb') as f:
            answer = self.server.put('metadata.yaml', f.read(), '?part_of=run_0.mcap', 'mcap')
        self.assertEqual((answer.status, answer.json()['format'], answer.json()['messages']), (200, 'rosbag2', 10))

    def imported(self, *args):
        """What `reel import` says, and then a server of that archive: {name: recording}."""
        data = tempfile.mkdtemp(dir=self.folder)
        output = reel('import', '--data', data, *args).stdout.decode()
        again = reel('import', '--data', data, *args).stdout.decode()
        self.assertEqual(again, output.replace(': added as', ': already stored as'))
        server = Server(data=data)
        try:
            items = server.get(API + '/recordings').json()['items']
            return output, {r['name']: server.get('%s/recordings/%s' % (API, r['id'])).json() for r in items}, {
                r['name']: server.get('%s/recordings/%s/as/out.mcap' % (API, r['id'])).body for r in items}
        finally:
            server.stop()

    def test_import_joins_files(self):
        self.write('pair', 'run.traj', TRAJ)
        self.write('pair', 'run.state', STATE)
        self.write('pair', 'lab.bag', bag(lab_messages(2)))
        output, rows, mcaps = self.imported(*(self.at('pair', n) for n in ('run.state', 'lab.bag', 'run.traj')), *(self.at('run', n) for n in self.files))
        self.assertEqual({name: [p['name'] for p in r['parts']] for name, r in rows.items()},
                         {'run.traj': ['run.state', 'run.traj'], 'lab.bag': ['lab.bag'], 'run_0.db3': ['metadata.yaml', 'run_0.db3', 'run_1.db3']})
        self.assertEqual(len(output.splitlines()), 3)
        self.assertEqual(mcaps['run_0.db3'], self.whole)
        self.assertEqual(mcaps['run.traj'], self.convert([self.at('pair', 'run.state'), self.at('pair', 'run.traj')]))

    def test_import_of_folders(self):
        for name, data in self.files.items():
            self.write('tree/drive', name, data)
        self.write('tree/drive/below', 'run.traj', TRAJ)
        self.write('tree/drive/below', 'run.state', STATE)
        self.write('tree', 'alone_0.db3', self.files['run_0.db3'])
        _, rows, mcaps = self.imported('--recursive', self.at('tree'))
        self.assertEqual({name: len(r['parts']) for name, r in rows.items()}, {'drive': 3, 'drive/below': 2, 'alone_0.db3': 1})
        self.assertEqual(mcaps['drive'], self.whole)

    def test_import_goes_on_after_a_bad_file(self):
        self.write('bad', 'a.db3', b'SQLite format 3\0' + bytes(600))
        self.write('bad', 'run.traj', TRAJ)
        data = self.at('bad-data')
        done = reel('import', '--data', data, self.at('bad', 'a.db3'), self.at('bad', 'none.db3'), self.at('bad', 'run.traj'), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'none.db3', done.stderr)
        self.assertIn(b'a.db3', done.stderr)
        self.assertIn(b'added as default/run.traj', done.stdout)
