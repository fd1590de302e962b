"""The command line does over files what the server does over HTTP."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import API, REEL, Server, payload, reel, time_ns
from samples import Message, SECOND, T0, bag, by_topic, lab_messages, nanover, nanover_messages, read_bag, read_mcap, read_nanover

LAB = lab_messages(4, blob=5000)


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='reel-e2e-')
        for name, data in (('lab.bag', bag(LAB)), ('cut.bag', bag(LAB, indexed=False)[:-30]), ('sim.nanover.zip', nanover(nanover_messages())), ('notes.txt', b'hello\n' * 99)):
            with open(cls.at(name), 'wb') as f:
                f.write(data)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def at(cls, name):
        return os.path.join(cls.folder, name)

    def read(self, name):
        with open(self.at(name), 'rb') as f:
            return f.read()

    def test_info_json_is_the_recording_of_the_api(self):
        info = json.loads(reel('info', self.at('lab.bag'), '--json').stdout)
        self.assertEqual({t['name']: t['messages'] for t in info['topics']}, {name: t['count'] for name, t in by_topic(LAB).items()})
        server = Server()
        try:
            online = server.get('%s/recordings/%s' % (API, server.added('lab.bag', self.read('lab.bag')))).json()
            self.assertEqual({k: v for k, v in info.items() if k in ('format', 'messages', 'start', 'end', 'clock', 'size', 'topics', 'damaged')},
                             {k: online[k] for k in info if k in ('format', 'messages', 'start', 'end', 'clock', 'size', 'topics', 'damaged')})
        finally:
            server.stop()

    def test_info_for_people(self):
        out = reel('info', self.at('lab.bag')).stdout.decode()
        for word in ('/odom', 'geometry_msgs/Point', '/robot/chatter'):
            self.assertIn(word, out)

    def test_cat(self):
        rows = [json.loads(line) for line in reel('cat', self.at('lab.bag'), '--no-decode', '--topic', '/odom', '--start', '+1s', '--end', '+2s').stdout.splitlines()]
        want = [m for m in LAB if m.topic == '/odom' and T0 + SECOND <= m.time < T0 + 2 * SECOND]
        self.assertEqual([(time_ns(r['log_time']), payload(r)) for r in rows], [(m.time, m.payload) for m in want])

    def test_cat_formats(self):
        array = json.loads(reel('cat', self.at('lab.bag'), '--topic', 'tick', '--output', 'json').stdout)
        self.assertEqual(len(array), 4)
        self.assertNotEqual(reel('cat', self.at('lab.bag'), '--output', 'papyrus', check=False).returncode, 0)

    def test_cat_ends_quietly_when_nobody_reads(self):
        done = subprocess.run(['sh', '-c', '"$1" cat "$2" | head -n 1', 'sh', REEL, self.at('lab.bag')], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((len(done.stdout.splitlines()), done.stderr), (1, b''))

    def test_convert(self):
        reel('convert', self.at('lab.bag'), self.at('out.mcap'))
        self.assertEqual(by_topic(read_mcap(self.read('out.mcap'))[2]), by_topic(LAB))
        reel('convert', self.at('lab.bag'), self.at('out.bag'), '--version', '1.2')
        self.assertEqual(by_topic(read_bag(self.read('out.bag'))), by_topic(LAB))
        reel('convert', self.at('sim.nanover.zip'), self.at('out.nanover.zip'))
        self.assertEqual([p for _, p in read_nanover(self.read('out.nanover.zip'))], [p for _, p in read_nanover(nanover(nanover_messages()))])

    def test_convert_leaves_no_half_file(self):
        self.assertNotEqual(reel('convert', self.at('notes.txt'), self.at('never.mcap'), check=False).returncode, 0)
        self.assertNotEqual(reel('convert', self.at('lab.bag'), self.at('never.nanover.zip'), check=False).returncode, 0)
        self.assertEqual([n for n in os.listdir(self.folder) if n.startswith('never')], [])

    def test_check(self):
        self.assertEqual(reel('check', self.at('lab.bag')).returncode, 0)
        damaged = reel('check', self.at('cut.bag'), check=False)
        self.assertNotEqual(damaged.returncode, 0)
        self.assertIn(b'cut', damaged.stdout + damaged.stderr)

    def test_convert_into_a_folder(self):
        out = self.at('all/')
        days = [self.at('day1.bag'), self.at('day2.bag'), self.at('day3.bag')]
        for number, path in enumerate(days):
            with open(path, 'wb') as f:
                f.write(bag(lab_messages(1, salt=number)))
        reel('convert', *days, out, '--jobs', '2')
        self.assertEqual(sorted(os.listdir(out)), ['day1.mcap', 'day2.mcap', 'day3.mcap'])
        for name in os.listdir(out):
            self.assertEqual(json.loads(reel('info', '--json', out + name).stdout)['messages'], len(lab_messages(1)))
        self.assertIn(b'0 converted, 3 skipped, 0 failed', reel('convert', *days, out).stderr)
        os.utime(out + 'day2.mcap', (1, 1))  # older than the recording
        self.assertIn(b'1 converted, 2 skipped, 0 failed', reel('convert', *days, out).stderr)
        done = reel('convert', days[0], self.at('notes.txt'), out, '--format', 'ndjson', check=False)  # the others go on
        self.assertNotEqual(done.returncode, 0)
        self.assertTrue(os.path.exists(out + 'day1.ndjson'))
        os.mkdir(self.at('other'))
        shutil.copy(days[0], self.at('other/day1.bag'))
        self.assertIn(b'two recordings would become', reel('convert', days[0], self.at('other/day1.bag'), out, '--force', check=False).stderr)

    def test_convert_a_tree(self):
        for place in ('tree/a/one.bag', 'tree/a/b/one.bag', 'tree/.hidden/two.bag'):
            os.makedirs(os.path.dirname(self.at(place)), exist_ok=True)
            shutil.copy(self.at('lab.bag'), self.at(place))
        for name in 'broken.bag', 'notes.md':
            with open(self.at('tree/a/' + name), 'wb') as f:
                f.write(b'nothing')
        done = reel('convert', '--jobs', '2', self.at('tree'), self.at('tree/out/'), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'2 converted, 0 skipped, 1 failed', done.stderr)
        made = sorted(os.path.relpath(os.path.join(folder, name), self.at('tree/out')) for folder, _, names in os.walk(self.at('tree/out')) for name in names)
        self.assertEqual(made, ['a/b/one.mcap', 'a/one.mcap'])
        os.remove(self.at('tree/a/broken.bag'))
        done = reel('convert', self.at('tree'), self.at('tree/out/'))
        self.assertIn(b'0 converted, 2 skipped, 0 failed', done.stderr)
        self.assertIn(b'no recording', reel('convert', self.at('tree/.hidden/..') + '/out', self.at('tree/out/'), check=False).stderr)

    def test_check_json(self):
        done = reel('check', '--json', self.at('lab.bag'), self.at('cut.bag'), self.at('notes.txt'), check=False)
        self.assertEqual(done.returncode, 2)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([row['state'] for row in rows], ['clean', 'damaged', 'unreadable'])
        self.assertEqual(len({tuple(sorted(row)) for row in rows}), 1)
        self.assertEqual((rows[0]['messages'], rows[0]['findings'], rows[0]['error']), (len(LAB), [], None))
        self.assertTrue(rows[1]['findings'][0]['text'])
        self.assertIn('no known recording format', rows[2]['error'])

    def test_what_is_not_decoded_says_why(self):
        messages = [Message(T0, '/cut', b'abc', 'std_msgs/Float64'), Message(T0 + 1, '/cut', b'abc', 'std_msgs/Float64'), Message(T0, '/good', bytes(8), 'std_msgs/Float64')]
        with open(self.at('undecoded.bag'), 'wb') as f:
            f.write(bag(messages))
        printed = reel('check', self.at('undecoded.bag')).stdout.decode()
        self.assertEqual([line.split()[1] for line in printed.splitlines() if line.startswith('  undecoded')], ['/cut:'])
        rows = json.loads(reel('check', '--json', self.at('undecoded.bag')).stdout)['undecoded']
        self.assertEqual([r['topic'] for r in rows], ['/cut'])
        self.assertIn(rows[0]['reason'], reel('info', self.at('undecoded.bag')).stdout.decode())
        topics = json.loads(reel('info', '--json', self.at('undecoded.bag')).stdout)['topics']
        self.assertEqual([t.get('undecoded') for t in topics], [rows[0]['reason'], None])

    def test_info_json_has_one_shape(self):
        for count in (1, 2):
            lines = reel('info', '--json', *[self.at('lab.bag'), self.at('sim.nanover.zip')][:count]).stdout.splitlines()
            self.assertEqual([json.loads(line)['name'] for line in lines], ['lab.bag', 'sim.nanover.zip'][:count])

    def test_errors_are_told_on_stderr(self):
        for args in (('info', self.at('notes.txt')), ('info', self.at('not there.bag')), ('info',), ('polish', 'x'), ('cat', self.at('lab.bag'), '--start', 'yesterday')):
            with self.subTest(args):
                done = reel(*args, check=False)
                self.assertNotEqual(done.returncode, 0)
                self.assertTrue(done.stderr)
                self.assertEqual(done.stdout, b'')

    def test_what_was_meant(self):
        done = reel('conver', check=False)
        self.assertEqual((done.returncode, done.stderr), (2, b'reel: unknown command "conver"; did you mean convert?\n'))
        self.assertEqual(reel('xyzzy', check=False).stderr, b'reel: unknown command "xyzzy"; reel --help lists the commands\n')
        path = os.path.join(self.folder, 'meant.bag')
        with open(path, 'wb') as f:
            f.write(bag(lab_messages(1)))
        done = reel('cat', path, '--topic', '/odmo')
        self.assertEqual((done.returncode, done.stdout), (0, b''))
        self.assertIn(b'there is no topic /odmo; similar ones are /odom', done.stderr)
        self.assertIn(b'similar ones', reel('convert', path, os.path.join(self.folder, 'meant.mcap'), '--topic', '/odmo').stderr)
        done = reel('cat', path, '--start', '10s', check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b'did you mean +10s?', done.stderr)

    def test_help_for_each(self):
        self.assertIn(b'serve', reel('--help').stdout)
        for command in ('serve', 'info', 'cat', 'convert', 'check', 'import', 'push', 'get', 'ls', 'search', 'tag', 'rm'):
            with self.subTest(command):
                text = reel(command, '--help').stdout
                self.assertIn(command.encode(), text)
                options = re.findall(rb'^  (?:-\w, )?--([\w-]+)', text, re.M)
                self.assertEqual(len(options), len(set(options)))  # an option of a writer may not hide another one

    def test_import(self):
        data = tempfile.mkdtemp(prefix='reel-e2e-')
        try:
            reel('import', '--data', data, self.at('lab.bag'), self.at('sim.nanover.zip'))
            server = Server(data)
            try:
                self.assertEqual({r['name'] for r in server.get(API + '/recordings').json()['items']}, {'lab.bag', 'sim.nanover.zip'})
            finally:
                server.stop()
        finally:
            shutil.rmtree(data)

    def test_demo_recordings_are_the_same_each_time(self):
        contents = []
        for name in ('demo 1', 'demo 2'):
            os.mkdir(self.at(name))
            reel('demo', self.at(name))
            contents.append({n: self.read(os.path.join(name, n)) for n in sorted(os.listdir(self.at(name)))})
        self.assertEqual(contents[0], contents[1])
        self.assertEqual(list(contents[0]), ['demo.bag', 'demo.nanover.zip'])
        self.assertTrue(read_bag(contents[0]['demo.bag']))
        self.assertTrue(read_nanover(contents[0]['demo.nanover.zip']))
