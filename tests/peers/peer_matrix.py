"""Real samples (and what `reel demo` makes) as the targets that take them (with ./dev test --long as each): converted over HTTP, read back by us and by
readers that are not ours.
Prints the table: source, target, messages, readers that opened it."""
import contextlib
import io
import json
import os
import re
import shutil
import sqlite3
import tarfile
import tempfile
import unittest
import zipfile
import zlib

import matrix_readers as readers
from harness import API, LONG, Server, payload, reel, time_ns
from peer_mcap import prepare
from samples import Message, by_topic

SAMPLES = os.path.join(readers.SHARED, 'samples')
RENAMED = {'roslib/Header': 'std_msgs/Header', 'roslib/Log': 'rosgraph_msgs/Log', 'roslib/Clock': 'rosgraph_msgs/Clock'}
COMPRESSED = {'mcap': ('zstd', 'lz4'), 'rosbag-2.0': ('bz2', 'lz4'), 'tide 2.0': ('gzip', 'bz2')}
COMPRESSED_SOURCES = ('demo.bag', 'demo.nanover.zip', 'example.bag', 'mira_basic.tape')
NO_RECORDINGS = ('parquet', 'arrow', 'images', 'clouds', 'ply', 'mp4',  # peer_tables.py, e2e/test_pictures.py, e2e/test_video.py
                 'pdb', 'gro', 'trr', 'dcd', 'xtc')  # peer_molecules.py
PREFER = {'Prefer': 'wait=60'}
PARTS = 1 if LONG else 3  # of a source's targets one in so many is tried, others for other sources


def sources():
    """(name, how to get its bytes). Of the conformance files of one kind, whose one message is the same, the plainest and the fullest; a folder of rosbag2
    as its files and as one ZIP."""
    found = []
    for folder, _, names in sorted(os.walk(SAMPLES)):
        names = sorted(n for n in names if os.path.splitext(n)[1] in ('.bag', '.zip', '.tape', '.tide', '.log', '.rec', '.mcap', '.db3', '.traj', '.state'))
        if 'conformance' in folder and len(names) > 2:
            names = sorted(names, key=lambda n: (len(n), n))[::len(names) - 1]
        found += [(n, os.path.join(folder, n)) for n in names]
        if os.path.exists(os.path.join(folder, 'metadata.yaml')):
            found.append((os.path.basename(folder) + '.zip', folder))
    return found


def content(path):
    if os.path.isfile(path):
        with open(path, 'rb') as f:
            return f.read()
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w') as archive:
        for name in sorted(os.listdir(path)):
            archive.write(os.path.join(path, name), os.path.basename(path) + '/' + name)
    return out.getvalue()


def ours(path):
    """What our reader finds: info, and the messages as topics. A message of several types (NanoVer) has all of them for its topic."""
    info = json.loads(reel('info', path, '--json').stdout)
    rows = [json.loads(line) for line in reel('cat', path, '--no-decode').stdout.splitlines()]
    return info, by_topic([Message(time_ns(r['log_time']), r['topic'], payload(r)) for r in rows])


def kinds(info):
    return {t['name']: (t['type'], t['encoding']) for t in info['topics']}


class Matrix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='reel-matrix-')
        cls.server = Server()
        targets = [(t['name'], t['extension'], t.get('version')) for t in cls.server.get(API).json()['targets']
                   if t['ranges'] and t['name'] not in NO_RECORDINGS]  # texts are streamed
        versioned = {name for name, _, version in targets if version}
        cls.targets = [t for t in targets if t[2] or t[0] not in versioned]  # without a version is one of those
        cls.no_node = prepare()
        cls.rosbag = readers.rosbag_python()
        cls.rosbag_node = None if cls.no_node else readers.RosbagNode()
        cls.mcap_node = None if cls.no_node else readers.McapNode()
        cls.table = []

    @classmethod
    def tearDownClass(cls):
        for reader in cls.rosbag, cls.rosbag_node, cls.mcap_node:
            if reader:
                reader.close()
        cls.server.stop()
        shutil.rmtree(cls.folder)
        width = max((len(row[0]) for row in cls.table), default=0)
        print('%-*s  %-14s %8s  %s' % (width, 'source', 'target', 'messages', 'opened by'))
        for source, target, messages, names in cls.table:
            print('%-*s  %-14s %8s  %s' % (width, source, target, messages, names))

    def variants(self, source):
        every = list(self.all_variants(source))
        return every[zlib.crc32(source.encode()) % PARTS::PARTS]

    def all_variants(self, source):
        for name, extension, version in self.targets:
            title = name + (' ' + version if version and name != 'rosbag-2.0' else '')
            query = ['version=' + version] if version else []
            query += ['wrap=true'] if name in ('rosbag-1.2', 'rosbag-2.0', 'rosbag2') else []  # converted between ROS 1 and 2: peer_ros_convert.py
            yield title, name, extension, '&'.join(query)
            for compression in COMPRESSED.get(title, ()) if source in COMPRESSED_SOURCES else ():
                yield title + ' ' + compression, name, extension, '&'.join(query + ['compression=' + compression])

    def walk(self, source, data):
        path = os.path.join(self.folder, source)
        with open(path, 'wb') as f:
            f.write(data)
        number = self.server.added(source, data, collection=self.id().rsplit('.', 1)[1])
        info, topics = ours(path)
        self.assertEqual(info['messages'], sum(t['count'] for t in topics.values()))
        if info['format'] == 'rosbag-2.0' and self.rosbag_node:
            with self.subTest('%s itself' % source):
                self.assertEqual(self.rosbag_node.read(path, False)['topics'], topics)
                self.table.append((source, '(itself)', info['messages'], 'reel, ' + self.rosbag_node.name))
        for title, name, extension, query in self.variants(source):
            with self.subTest('%s as %s' % (source, title)):
                answer = self.server.request('GET', '%s/recordings/%s/as/x%s?%s' % (API, number, extension, query), headers=PREFER)
                if answer.status == 422:
                    self.table.append((source, title, '-', 'refused: ' + answer.json()['detail'].split(': ', 1)[1]))
                    continue
                self.assertEqual(answer.status, 200, answer)
                after = os.path.join(self.folder, 'as.' + source + '.' + title.replace(' ', '.') + extension)
                with open(after, 'wb') as f:
                    f.write(answer.body)
                names = ['reel'] + self.opened(name, path, after, info, topics)
                self.table.append((source, title, info['messages'], ', '.join(names)))
                os.unlink(after)
        os.unlink(path)

    def opened(self, name, before, after, info, topics):
        """Reads it with every reader that can; returns their names."""
        got_info, got = ours(after)
        self.assertEqual((got_info['lost_bytes'], got_info['damaged']), (0, False))
        if name in ('rosbag-2.0', 'rosbag-1.2'):  # ROS has no time 0: 1 ns it is
            topics = {k: {**t, 'first_ns': max(t['first_ns'], 1), 'last_ns': max(t['last_ns'], 1)} for k, t in topics.items()}
        if info['format'] == 'nanover_legacy' and name == 'nanover':  # protobuf has become MessagePack: the same messages in other bytes
            plain = lambda t: {k: (v['count'], v['first_ns'], v['last_ns']) for k, v in t.items()}
            self.assertEqual(plain(got), plain(topics))
        else:
            self.assertEqual(got, topics)
            expected = {k: v for k, v in kinds(info).items() if k in topics}
            if name == 'rosbag-2.0':  # its readers know the later names of these types
                expected = {k: (RENAMED.get(v[0], v[0]), *v[1:]) if v[-1] == 'ros1' else v for k, v in expected.items()}
            self.assertEqual({k: v for k, v in kinds(got_info).items() if k in topics}, expected)
            self.assertEqual((got_info['messages'], got_info['payload_bytes']), (info['messages'], info['payload_bytes']))
        return getattr(self, 'peers_of_' + re.sub(r'\W', '_', name))(before, after, info, got)

    def peers_of_rosbag_2_0(self, before, after, info, topics, version=200):
        """Two readers unwrap what we wrapped, librosbag_storage does not: they must agree on what is in the bag."""
        names, plain = [], topics if info['format'] in ('rosbag-1.2', 'rosbag-2.0') else None
        unwrap = plain is None
        if self.rosbag:
            seen = self.rosbag.read(after, unwrap)
            self.assertEqual((seen['version'], seen['topics']), (version, topics))
            plain = seen['plain']
            names.append(self.rosbag.name)
        if os.path.exists(readers.BAG_READ):
            seen = readers.bag_storage(after)
            self.assertEqual({t: v['count'] for t, v in seen.items()}, {t: v['count'] for t, v in topics.items()})
            if plain is not None:
                self.assertEqual(seen, plain)
            names.append('librosbag_storage')
        if self.rosbag_node and version == 200:
            seen = self.rosbag_node.read(after, unwrap)
            self.assertEqual((seen['topics'], seen['plain']), (topics, seen['plain'] if plain is None else plain))
            names.append(self.rosbag_node.name)
        return names

    def peers_of_rosbag_1_2(self, before, after, info, topics):
        return self.peers_of_rosbag_2_0(before, after, info, topics, version=102)

    def peers_of_mcap(self, before, after, info, topics):
        if self.no_node:
            return []
        self.assertEqual(self.mcap_node.topics(after), topics)
        return ['@mcap/core']

    def peers_of_rosbag2(self, before, after, info, topics):
        if after.endswith('.tar'):
            with tarfile.open(after) as archive:
                data, = (name for name in archive.getnames() if name.endswith(('.db3', '.mcap')))
                archive.extract(data, self.folder)
        else:
            with zipfile.ZipFile(after) as archive:
                self.assertEqual(archive.testzip(), None)
                data, _ = archive.namelist()
                archive.extract(data, self.folder)
        path = os.path.join(self.folder, data)
        return ['tarfile' if after.endswith('.tar') else 'zipfile'] + (self.peers_of_database(path, topics) if data.endswith('.db3') else self.peers_of_mcap(before, path, info, topics))

    def peers_of_database(self, path, topics):
        with contextlib.closing(sqlite3.connect(path)) as base:
            self.assertEqual(base.execute('PRAGMA integrity_check').fetchall(), [('ok',)])
            rows = base.execute('SELECT timestamp, name, data FROM messages JOIN topics ON topics.id = topic_id ORDER BY messages.id').fetchall()
        self.assertEqual(by_topic([Message(time, topic, data) for time, topic, data in rows]), topics)
        return ['sqlite']

    def peers_of_nanover(self, before, after, info, topics):
        self.assertEqual(readers.nanover_zip(after), topics)
        return ['zipfile+msgpack']

    def peers_of_tide(self, before, after, info, topics):
        if not readers.TIDE:
            return []
        self.assertEqual(readers.tide(after, topics), topics)
        return ['tide_parse']

    def peers_of_mira(self, before, after, info, topics):
        if not readers.MIRA:
            return []
        self.assertEqual(readers.mira(after, topics), topics)
        return ['mira_parse']

    def peers_of_carla(self, before, after, info, topics):
        if not readers.CARLA:
            return []
        seen = readers.carla(after)
        names = {c['metadata']['packet']: t['name'] for t in info['topics'] for c in t['channels']}
        self.assertEqual({names[t]: v for t, v in seen.items()}, {t: v for t, v in topics.items() if t in names.values()})
        return ['carla_log']

    def test_demo(self):
        folder = os.path.join(self.folder, 'demo')
        reel('demo', folder)
        for name in sorted(os.listdir(folder)):
            self.walk(name, content(os.path.join(folder, name)))


def add(name, path):
    test = 'test_' + ''.join(c if c.isalnum() else '_' for c in name)
    while hasattr(Matrix, test):
        test += '_'
    setattr(Matrix, test, lambda self: self.walk(name, content(path)))


for _name, _path in sources():
    add(_name, _path)
