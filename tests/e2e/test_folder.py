"""A ROS 2 recording is a folder: that of `ros2 bag record` for every command, in uploads, and what else is one recording together."""
import contextlib
import io
import json
import os
import shutil
import tarfile
import tempfile

import legacy
from harness import API, Case, curl, reel
from samples import bag, lab_messages

SECOND = 1_000_000_000
FILES = 3


def rows(number):
    return b''.join(json.dumps({'topic': '/chatter', 'log_time': (1_700_000_000 + 10 * number + i) * SECOND, 'data': {'n': 10 * number + i}}).encode() + b'\n'
                    for i in range(5))


def metadata(names, storage='mcap', version=5, more=''):
    paths = ''.join('    - %s\n' % n for n in names)
    return ('rosbag2_bagfile_information:\n  version: %d\n  storage_identifier: %s\n  message_count: 0\n  relative_file_paths:\n%s%s' %
            (version, storage, paths, more)).encode()


class Folder(Case):
    @classmethod
    def fill(cls):
        cls.folder = tempfile.mkdtemp(prefix='reel-e2e-')
        os.mkdir(cls.at('my_bag'))
        cls.names = ['my_bag_%d.mcap' % i for i in range(FILES)]
        for i, name in enumerate(cls.names):
            with open(cls.at('rows.ndjson'), 'wb') as f:
                f.write(rows(i))
            reel('convert', cls.at('rows.ndjson'), cls.at('my_bag', name))
        cls.write('my_bag/metadata.yaml', metadata(cls.names))
        cls.write('many/a.bag', bag(lab_messages(1)))
        cls.write('many/deep/b.bag', bag(lab_messages(2)))
        cls.write('many/deep/c.bag', bag(lab_messages(3)))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)
        super().tearDownClass()

    @classmethod
    def at(cls, *name):
        return os.path.join(cls.folder, *name)

    @classmethod
    def write(cls, name, data):
        os.makedirs(os.path.dirname(cls.at(name)), exist_ok=True)
        with open(cls.at(name), 'wb') as f:
            f.write(data)

    def copy(self, name, *without):
        """my_bag under another name, and its path."""
        shutil.copytree(self.at('my_bag'), self.at(name), ignore=lambda _, names: without)
        return self.at(name)

    def info(self, *paths):
        return [json.loads(line) for line in reel('info', '--json', *paths).stdout.splitlines()]

    def stored(self, name, collection='default'):
        return self.get('%s/recordings/name:%s%%2F%s' % (API, collection, name)).json()

    def address(self):
        return 'http://127.0.0.1:%d' % self.server.port

    def test_every_command(self):
        for path in self.at('my_bag'), self.at('my_bag/'):
            info = self.info(path)
            self.assertEqual([(r['name'], r['format'], r['messages'], len(r['parts'])) for r in info], [('my_bag', 'rosbag2', 15, 4)])
            self.assertEqual(len(reel('cat', path).stdout.splitlines()), 15)
            self.assertEqual(reel('play', '--speed', 'max', path).stdout, reel('cat', path).stdout)
            self.assertIn(b'my_bag: MCAP, 15 messages', reel('check', path, check=False).stdout)
            reel('convert', path, self.at('whole.ndjson'), '--force')
            self.assertEqual(reel('cat', self.at('whole.ndjson')).stdout, reel('cat', path).stdout)
        reel('convert', self.at('my_bag'), self.at('out/'))
        self.assertEqual(os.listdir(self.at('out')), ['my_bag.mcap'])
        every = [self.at('my_bag', name) for name in os.listdir(self.at('my_bag'))]
        self.assertEqual(reel('cat', *every).stdout, reel('cat', self.at('my_bag')).stdout)
        self.assertEqual(len(reel('check', *every, check=False).stdout.splitlines()), len(reel('check', self.at('my_bag'), check=False).stdout.splitlines()))

    def test_a_folder_of_many(self):
        self.assertEqual([r['name'] for r in self.info(self.at('many'))], ['a.bag', 'b.bag', 'c.bag'])
        for command in ('cat',), ('play',), ('convert', None):
            done = reel(command[0], self.at('many/deep'), *([self.at('x.mcap')] if len(command) > 1 else []), check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(b'holds 2 recordings', done.stderr)
        self.assertEqual(reel('bag', 'info', self.at('many/deep')).stdout, b'---\n'.join(reel('bag', 'info', self.at('many/deep', n)).stdout for n in ('b.bag', 'c.bag')))
        os.mkdir(self.at('empty'))
        self.assertIn(b'holds no recording', reel('cat', self.at('empty'), check=False).stderr)
        self.assertEqual(reel('check', self.at('empty'), check=False).returncode, 2)

    def test_metadata_is_a_hint(self):
        none = self.copy('none', 'metadata.yaml')
        self.assertEqual([(r['name'], r['format'], r['messages']) for r in self.info(none)], [('none', 'mcap', 15)])
        empty = self.copy('no_text', 'my_bag_1.mcap', 'my_bag_2.mcap')
        self.write('no_text/metadata.yaml', b'')
        self.assertEqual([(r['messages'], len(r['parts'])) for r in self.info(empty)], [(5, 1)])
        missing = self.copy('missing', 'my_bag_1.mcap')
        self.assertEqual([r['messages'] for r in self.info(missing)], [10])
        self.assertIn(b'metadata.yaml names my_bag_1.mcap, which is not here', reel('check', missing, check=False).stdout)
        renamed = self.copy('renamed')
        os.rename(self.at('renamed/my_bag_1.mcap'), self.at('renamed/my_bag_7.mcap'))
        self.assertEqual([r['messages'] for r in self.info(renamed)], [15])
        self.write('renamed/metadata.yaml', metadata(['x.mcap'], storage='""', version=9, more='  custom_data:\n    site: hall 3\n'))
        self.assertEqual([(r['messages'], len(r['parts'])) for r in self.info(renamed)], [(15, 4)])
        cut = self.copy('cut')
        self.write('cut/my_bag_2.mcap', b'')
        self.assertEqual([r['messages'] for r in self.info(cut)], [10])
        self.assertIn(b'my_bag_2.mcap', reel('check', cut, check=False).stdout)

    def test_writing_a_folder(self):
        for storage, ending in ('mcap', 'mcap'), ('sqlite3', 'db3'):
            out = self.at('written_' + storage)
            reel('convert', self.at('my_bag'), out + '/', '--format', 'rosbag2', '--storage', storage)
            self.assertEqual(sorted(os.listdir(out)), ['metadata.yaml', 'written_%s_0.%s' % (storage, ending)])
            self.assertEqual(len(reel('cat', out).stdout.splitlines()), 15)
            self.assertNotIn(b'damaged', reel('check', out).stdout)
            again = reel('convert', self.at('my_bag'), out, '--format', 'rosbag2', '--storage', storage, check=False)
            self.assertIn(b'already exists; --force replaces it', again.stderr)
            reel('convert', self.at('my_bag'), out, '--format', 'rosbag2', '--storage', storage, '--force')
        reel('convert', self.at('my_bag'), self.at('many/a.bag'), self.at('bags/'), '--format', 'rosbag2')
        self.assertEqual(sorted(os.listdir(self.at('bags'))), ['a', 'my_bag'])
        self.assertEqual([(r['name'], r['messages']) for r in self.info(self.at('bags'))], [('a', len(lab_messages(1))), ('my_bag', 15)])

    def test_export_as_tar(self):
        reel('push', '--collection', 'tar', self.at('my_bag'), self.address())
        made = self.stored('my_bag', 'tar')['id']
        for storage in 'mcap', 'sqlite3':
            path = '%s/recordings/%s/as/drive.rosbag2.tar?storage=%s' % (API, made, storage)
            self.get(path.replace('.tar', '.zip'))  # planned before, and not to be taken for it
            whole = self.get(path)
            self.assertEqual(whole.headers['Content-Type'], 'application/x-tar')
            with tarfile.open(fileobj=io.BytesIO(whole.body)) as tar:
                names = tar.getnames()
                self.assertEqual(names, ['drive/drive_0.' + ('mcap' if storage == 'mcap' else 'db3'), 'drive/metadata.yaml'])
                self.assertIn(names[0].split('/')[1].encode(), tar.extractfile(names[1]).read())
            self.assertEqual(self.get(path, status=206, Range='bytes=100-4999').body, whole.body[100:5000])
            again = self.server.added('again-%s.tar' % storage, whole.body)
            self.assertEqual(self.get('%s/recordings/%s' % (API, again)).json()['messages'], 15)

    def test_pair(self):
        traj, state = legacy.pair(salt=1)
        self.write('pair/run.traj', traj)
        self.write('pair/run.state', state)
        self.assertEqual([(r['name'], len(r['parts'])) for r in self.info(self.at('pair'))], [('pair', 2)])

    def test_push(self):
        path = self.copy('pushed')
        for word in b'added', b'already stored':
            done = reel('push', path, self.address())
            self.assertEqual(done.stdout.count(word), 4, done)
        made = self.stored('pushed')
        self.assertEqual((made['format'], made['messages'], sorted(p['name'] for p in made['parts'])), ('rosbag2', 15, ['metadata.yaml'] + self.names))
        reel('push', '--recursive', '--collection', 'tree', self.at('many'), self.address())
        self.assertEqual(self.stored('deep%2Fb.bag', 'tree')['messages'], len(lab_messages(2)))
        self.assertIn(b'use --recursive', reel('push', self.at('many/deep'), self.address(), check=False).stderr)
        reel('push', '--collection', 'two', path, self.at('many/a.bag'), self.address())
        self.assertEqual((self.stored('pushed', 'two')['messages'], self.stored('a.bag', 'two')['messages']), (15, len(lab_messages(1))))

    def test_push_of_databases(self):
        """No metadata.yaml, a log beside one."""
        import test_db3_log
        self.write('killed/killed_0.db3', test_db3_log.BASE)
        self.write('killed/killed_0.db3-wal', test_db3_log.LOG)
        reel('push', self.at('killed'), self.address())
        self.assertEqual(self.stored('killed')['messages'], test_db3_log.FIRST + test_db3_log.MORE)

    def test_a_form_of_several_files(self):
        url = self.address() + API + '/recordings'

        def post(*files, name='form'):
            fields = [part for f in files for part in ('-F', 'file=@' + f)]
            return json.loads(curl(*fields, url + '?name=' + name if name else url)[1])
        every = [self.at('my_bag', name) for name in self.names] + [self.at('my_bag/metadata.yaml')]
        one = post(*every)
        self.assertEqual((one['name'], one['messages'], [p['name'] for p in one['parts']]), ('form', 15, ['metadata.yaml'] + self.names))
        self.assertEqual(post(*reversed(every))['id'], one['id'])
        self.assertEqual(post(*every[:3], name='')['name'], 'my_bag_0.mcap')
        self.assertEqual(post(*(f + ';filename=day1/my_bag/' + os.path.basename(f) for f in every), name='')['name'], 'my_bag')
        self.assertIn('not a further part', post(every[0], self.at('many/a.bag'))['detail'])
        self.assertIn('two of the files', post(every[0], every[0])['detail'])

    def test_splits_of_ros1(self):
        os.mkdir(self.at('run'))
        names = ['run_%d.bag' % i for i in range(FILES)]
        for i, name in enumerate(names):
            self.write('rows.ndjson', rows(i))
            reel('convert', self.at('rows.ndjson'), self.at('run', name))
        self.assertEqual([(r['name'], len(r['parts']), r['messages']) for r in self.info(self.at('run'))], [('run', FILES, 15)])
        reel('push', self.at('run'), self.address())
        made = self.stored('run')
        self.assertEqual((made['format'], made['messages'], [p['name'] for p in made['parts']], len(made['topics'])), ('rosbag-2.0', 15, names, 1))
        values = [json.loads(line)['data']['n'] for line in self.get('%s/recordings/%s/as/x.ndjson' % (API, made['id'])).body.splitlines()]
        self.assertEqual(values, [10 * i + k for i in range(FILES) for k in range(5)])
        fields = [part for name in reversed(names) for part in ('-F', 'file=@' + self.at('run', name))]
        _, done = curl(*fields, self.address() + API + '/recordings?collection=forms')
        self.assertEqual(json.loads(done)['messages'], 15)

    def test_tar_in_a_pipe(self):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode='w') as tar:
            tar.add(self.at('my_bag'), 'my_bag')
        _, done = curl('-T', '-', self.address() + API + '/recordings/by-name/piped/my_bag', stdin=out.getvalue())
        self.assertEqual(json.loads(done)['messages'], 15)

    def test_import(self):
        data = self.at('archive')
        self.copy('imported/day1')
        self.copy('imported/single', 'metadata.yaml', 'my_bag_1.mcap', 'my_bag_2.mcap')
        os.rename(self.at('imported/single'), self.at('imported/my_bag'))
        with contextlib.ExitStack() as stack:
            done = reel('import', '--data', data, '--recursive', self.at('imported'))
            stack.callback(shutil.rmtree, data)
        lines = sorted(line.split(' as ')[1].split(',')[0] for line in done.stdout.decode().splitlines())
        self.assertEqual(lines, ['default/day1', 'default/my_bag'])
