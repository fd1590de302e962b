"""A dataset read as LeRobot v3 reads one (a reader of our own: info.json, episodes, data, tasks, statistics), its Parquet files by hyparquet and DuckDB, and
each frame compared with the messages that were uploaded. lerobot itself is not run."""
import json
import os
import shutil
import statistics
import struct
import subprocess
import tempfile
import unittest

from harness import API, PATIENCE, Server
from peer_mcap import HERE, prepare
from samples import SECOND
from test_datasets import ACTION, FILES, STATE, VALUE, Datasets, command, lab_messages

OWN = ['timestamp', 'frame_index', 'episode_index', 'index', 'task_index']


def f32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def latest(messages, time):
    return struct.unpack('<3d', max((m for m in messages if m.time <= time), key=lambda m: m.time).payload)


class Reader(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        why = prepare()
        if why:
            raise unittest.SkipTest(why)
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)
        cls.folder = tempfile.mkdtemp(prefix='reel-peers-')
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        Datasets.add(cls.server)
        Datasets.put(cls.server, 'pick', VALUE)
        for path in FILES:
            at = os.path.join(cls.folder, path)
            os.makedirs(os.path.dirname(at), exist_ok=True)
            with open(at, 'wb') as f:
                f.write(cls.server.get('/dav/datasets/pick/' + path).body)
        tables = [os.path.join(cls.folder, path) for path in FILES if path.endswith('.parquet')]
        done = subprocess.run(['node', os.path.join(HERE, 'dataset_read.mjs'), *tables], stdout=subprocess.PIPE, check=True, timeout=2 * PATIENCE)
        cls.tables = {os.path.relpath(path, cls.folder): table for path, table in json.loads(done.stdout).items()}
        with open(os.path.join(cls.folder, 'meta/info.json')) as f:
            cls.info = json.load(f)

    def episodes(self):
        return self.tables['meta/episodes/chunk-000/file-000.parquet']['rows']

    def data(self, episode):
        path = self.info['data_path'].format(chunk_index=episode['data/chunk_index'], file_index=episode['data/file_index'])
        return self.tables[path]

    def test_readers_agree(self):
        for path, table in self.tables.items():
            self.assertEqual(table['rows'], table['duck'], path)
            self.assertEqual(table['nullable'], [], path)

    def test_columns_are_the_features(self):
        features = self.info['features']
        self.assertEqual(self.info['codebase_version'], 'v3.0')
        for episode in self.episodes():
            columns = self.data(episode)['columns']
            self.assertEqual(list(columns), list(features))
            for name, feature in features.items():
                kind = {'float32': 'FLOAT', 'int64': 'BIGINT'}[feature['dtype']]
                self.assertEqual(columns[name], kind if feature['shape'] == [1] else kind + '[]', name)

    def test_each_frame_has_the_latest_messages(self):
        fps, index = self.info['fps'], 0
        for episode, (seconds, salt) in zip(self.episodes(), ((3, 0), (2, 1)), strict=True):
            odom = [m for m in lab_messages(seconds, salt=salt) if m.topic == '/odom']
            commands = command(seconds, salt)
            start, end = commands[0].time, commands[-1].time
            rows = self.data(episode)['rows']
            self.assertEqual(len(rows), (end - start) * fps // SECOND + 1)
            self.assertEqual((episode['length'], episode['dataset_from_index'], episode['dataset_to_index']), (len(rows), index, index + len(rows)))
            for k, row in enumerate(rows):
                time = start + k * SECOND // fps
                self.assertEqual(row['observation.state'], [f32(x) for x in latest(odom, time)])
                self.assertEqual(row['action'], f32(latest(commands, time)[0]))
                self.assertEqual([row[name] for name in OWN], [f32(k / fps), k, episode['episode_index'], index + k, 0])
            index += len(rows)
        self.assertEqual(index, self.info['total_frames'])

    def test_episodes(self):
        for i, episode in enumerate(self.episodes()):
            self.assertEqual((episode['episode_index'], episode['tasks'], episode['meta/episodes/file_index']), (i, ['lift'], 0))
            recording = self.server.get('%s/recordings/%s' % (API, episode['reel/recording'])).json()
            self.assertEqual(recording['collection'] + '/' + recording['name'], episode['reel/name'])
            self.assertEqual(episode['reel/dropped_frames'], 0)
            self.assertTrue(0 < episode['reel/max_age_s'] < .14)

    def test_videos_are_in_the_table_of_episodes(self):
        """Each frame's time is that of the data's row, and its picture the latest one."""
        if not shutil.which('ffmpeg'):
            self.skipTest('needs ffmpeg')
        from test_dataset_videos import FRONT, VALUE as SEEN, WRIST, at_or_before, cameras, decoded, number_of, sample, times_of
        key = self.server.added('seen.bag', sample(3, 1), collection='seen')
        value = {**{k: v for k, v in SEEN.items() if k != 'search'}, 'recordings': [key]}
        self.server.request('PUT', API + '/datasets/seen', json.dumps({'value': value}))
        paths = []
        for name in ('meta/episodes/chunk-000/file-000.parquet', 'data/chunk-000/file-000.parquet'):
            paths.append(os.path.join(self.folder, 'seen-' + os.path.dirname(name).split('/')[0] + '.parquet'))
            with open(paths[-1], 'wb') as f:
                f.write(self.server.get('/dav/datasets/seen/' + name).body)
        done = subprocess.run(['node', os.path.join(HERE, 'dataset_read.mjs'), *paths], stdout=subprocess.PIPE, check=True, timeout=2 * PATIENCE)
        tables = json.loads(done.stdout)
        episode, rows = tables[paths[0]]['rows'][0], tables[paths[1]]['rows']
        info = self.server.get('/dav/datasets/seen/meta/info.json').json()
        self.assertEqual(tables[paths[0]]['nullable'], [])
        self.assertEqual(list(tables[paths[1]]['columns']), [name for name, feature in info['features'].items() if feature['dtype'] != 'video'])
        for feature, messages in zip((FRONT, WRIST), cameras(3, 1)):
            column = lambda name: episode['videos/%s/%s' % (feature, name)]
            self.assertEqual((column('from_timestamp'), column('to_timestamp')), (0, episode['length'] / 20))
            path = info['video_path'].format(video_key=feature, chunk_index=column('chunk_index'), file_index=column('file_index'))
            data = self.server.get('/dav/datasets/seen/' + path).body
            self.assertEqual([f32(float(t)) for t in times_of(data)], [row['timestamp'] for row in rows])
            shown = [number_of(frame) for frame in decoded(data)]
            self.assertEqual(shown, [at_or_before(messages, episode['reel/start_ns'] + k * SECOND // 20) for k in range(episode['length'])])

    def test_tasks_are_the_index_of_pandas(self):
        table = self.tables['meta/tasks.parquet']
        self.assertEqual(table['rows'], [{'task_index': 0, 'task': 'lift'}])
        about = json.loads(table['metadata']['pandas'])
        self.assertEqual(about['index_columns'], ['task'])
        self.assertEqual([(c['name'], c['field_name'], c['pandas_type']) for c in about['columns']],
                         [('task_index', 'task_index', 'int64'), ('task', 'task', 'unicode')])

    def test_statistics(self):
        with open(os.path.join(self.folder, 'meta/stats.json')) as f:
            stats = json.load(f)
        rows = [row for episode in self.episodes() for row in self.data(episode)['rows']]
        for name, width in (('observation.state', len(STATE)), ('action', 1)):
            for i in range(width):
                values = [row[name] if width == 1 else row[name][i] for row in rows]
                found = {key: stats[name][key][i] for key in ('min', 'max', 'mean', 'std')}
                expected = {'min': min(values), 'max': max(values), 'mean': statistics.fmean(values), 'std': statistics.pstdev(values)}
                for key, value in expected.items():
                    self.assertAlmostEqual(found[key], value, delta=1e-6 * (1 + abs(value)))
        self.assertEqual(ACTION, '/command.x')


if __name__ == '__main__':
    unittest.main()
