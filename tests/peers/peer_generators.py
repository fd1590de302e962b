"""The generators of ../shared write ROS bags 1.2, MIRA tapes and TIDE logs, deliberate defects included; we find in them what the generators say they wrote and
what the independent readers find, message for message."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import matrix_readers as readers
from harness import payload, reel, time_ns
from samples import Message, by_topic, read_bag

GENERATORS = os.path.join(readers.SHARED, 'generators')


@unittest.skipUnless(os.path.isdir(GENERATORS), 'the generators are not here')
class Generators(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='reel-generated-')

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def made(self, generator):
        """Runs it; its folder and the names of its recordings."""
        folder = os.path.join(self.folder, generator)
        subprocess.run([sys.executable, os.path.join(GENERATORS, generator + '.py'), folder], check=True, stdout=subprocess.DEVNULL)
        names = sorted(n for n in os.listdir(folder) if not n.endswith('.json'))
        self.assertGreater(len(names), 8)
        return folder, names

    def found(self, path):
        """What we find; with it what info says, which must be the same."""
        info = json.loads(reel('info', path, '--json').stdout)
        rows = [json.loads(line) for line in reel('cat', path, '--no-decode').stdout.splitlines()]
        topics = by_topic([Message(time_ns(r['log_time']), r['topic'], payload(r)) for r in rows])
        self.assertEqual({t['name']: (t['messages'], t['payload_bytes']) for t in info['topics'] if t['messages']}, {k: (t['count'], t['bytes']) for k, t in topics.items()})
        return info, topics

    def test_rosbag1(self):
        folder, names = self.made('gen12')
        with open(os.path.join(folder, 'gen12_truth.json')) as f:
            truth = json.load(f)
        with open(os.path.join(folder, 'unindexed_noheader.bag'), 'rb') as f:
            uncut = read_bag(f.read())
        for name in names:
            with self.subTest(name):
                info, topics = self.found(os.path.join(folder, name))
                if name not in truth:  # the two that end within their last message
                    self.assertTrue(name.startswith('cut_in_') and info['damaged'])
                    self.assertEqual(topics, by_topic(uncut[:-1]))
                    continue
                self.assertFalse(info['damaged'])
                expected = {t: (w['type'], w['count'], w['bytes'], w['first'], w['last']) for t, w in truth[name].items()}
                self.assertEqual({t['name']: (t['type'], t['messages'], t['payload_bytes'], int(t['start_ns']), int(t['end_ns'])) for t in info['topics']}, expected)
                self.assertEqual({t['name']: t['latched'] for t in info['topics']}, {t: name == 'latched.bag' and t == '/chatter' for t in truth[name]})
                if name != 'disorder.bag':  # there its sum is of the order in the file
                    self.assertEqual({t: v['sha'] for t, v in topics.items()}, {t: w['h'] for t, w in truth[name].items()})
                with open(os.path.join(folder, name), 'rb') as f:
                    self.assertEqual(topics, by_topic(read_bag(f.read())))

    @unittest.skipUnless(readers.MIRA, 'the reader of tapes is not here')
    def test_mira(self):
        folder, names = self.made('mira_gen')
        with open(os.path.join(folder, 'generator_truth.json')) as f:
            truth = json.load(f)
        self.assertEqual(set(names), set(truth))
        for name in names:
            with self.subTest(name):
                info, topics = self.found(os.path.join(folder, name))
                with open(os.path.join(folder, name), 'rb') as f:
                    self.assertEqual(topics, by_topic(readers.mira_messages(f.read())[1]))
                self.assertEqual(info['damaged'], name == 'mira_truncated.tape')
                self.assertEqual({t['name']: t['type'] for t in info['topics']}, {t: w['type'] for t, w in truth[name]['channels'].items()})
                self.assertEqual('big-endian' in info['container'], truth[name]['byte_order'] == 'big')
                if not info['damaged']:
                    start = truth[name]['start']
                    expected = {t: (w['messages'], w['uncompressed_bytes'], start + w['first'], start + w['last']) for t, w in truth[name]['channels'].items()}
                    self.assertEqual({t: (v['count'], v['bytes'], v['first_ns'], v['last_ns']) for t, v in topics.items()}, expected)

    @unittest.skipUnless(readers.TIDE, 'the reader of TIDE logs is not here')
    def test_tide(self):
        folder, names = self.made('tide_gen')
        for name in names:
            with self.subTest(name):
                info, topics = self.found(os.path.join(folder, name))
                with open(os.path.join(folder, name), 'rb') as f:
                    seen, messages = readers.tide_messages(f.read())
                for m, entry in zip(messages, seen['entries']):
                    m.topic = m.topic or 'reconstructed%d' % entry['channel']  # its CHAN block is missing
                self.assertEqual(topics, by_topic(messages))
                self.assertEqual(info['container'], 'TIDE ' + seen['version'])
                self.assertEqual(info['damaged'], name == 'tide2_truncated.tide')
