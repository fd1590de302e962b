"""Independent readers of recordings. Each returns the topics of a file (by_topic of samples.py). Used by the matrix and by the generated files."""
import collections
import importlib.util
import json
import os
import re
import shutil
import struct
import subprocess
import sys

from samples import Message, by_topic, read_nanover

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.path.join(HERE, '..', '..', '..', 'shared')
BAG_READ = os.path.join(os.environ['REEL_BIN'], 'bag_read')


def shared_module(folder, name):
    """A module of ../shared, None where that is not there."""
    path = os.path.join(SHARED, folder, name + '.py')
    if not os.path.exists(path):
        return None
    sys.path.insert(0, os.path.dirname(path))  # they import one another
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TIDE, MIRA, CARLA = (shared_module('readers', name) for name in ('tide_parse', 'mira_parse', 'carla_log'))


def ran(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise AssertionError('%s: exit code %d: %s' % (os.path.basename(command[0]), done.returncode, done.stderr.decode(errors='replace')[-600:]))
    return json.loads(done.stdout)


def merged(messages, known):
    """Channels that share a topic are written as "name#2" where a container has one channel of a name."""
    for m in messages:
        m.topic = m.topic if m.topic in known else re.sub(r'#\d+$', '', m.topic)
    return by_topic(messages)


# The program of python3-rosbag that Answering starts.
ROSBAG_LOOP = r'''
import hashlib, json, sys, traceback
import rosbag
def add(topics, topic, ns, data):
    t = topics.setdefault(topic, {'count': 0, 'bytes': 0, 'first_ns': ns, 'last_ns': ns, 'sha': hashlib.sha256()})
    assert ns >= t['last_ns'], 'not in time order'
    t['count'] += 1; t['bytes'] += len(data); t['last_ns'] = ns; t['sha'].update(data)
def summed(topics):
    return {k: {**t, 'sha': t['sha'].hexdigest()} for k, t in topics.items()}
def inspect(path, unwrap):
    with rosbag.Bag(path) as bag:
        # the public read_messages() of this version cannot read an indexed 1.2 bag; the reader below it can
        rows = bag.read_messages(raw=True) if bag.version == 200 else bag._reader.read_messages(None, None, None, None, True)
        plain, topics = {}, {}
        for topic, raw, stamp in rows:
            data = raw[1]
            add(plain, topic, stamp.to_nsec(), data)
            if unwrap and raw[0] == 'std_msgs/UInt8MultiArray':  # no dimension, no offset, the bytes
                assert data[:8] == bytes(8) and int.from_bytes(data[8:12], 'little') == len(data) - 12
                data = data[12:]
            add(topics, topic, stamp.to_nsec(), data)
        assert bag.get_message_count() == sum(t['count'] for t in topics.values())
        return {'version': bag.version, 'plain': summed(plain), 'topics': summed(topics)}
for line in sys.stdin:
    try:
        answer = inspect(*json.loads(line))
    except Exception:
        answer = {'error': traceback.format_exc()[-600:]}
    print(json.dumps(answer), flush=True)
'''


class Answering:
    """A reader in a process of its own that opens all the files: a line of JSON for each, [path, …], and one back."""

    def __init__(self, name, *command):
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def read(self, *asked):
        self.process.stdin.write(json.dumps(asked) + '\n')
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if 'error' in answer:
            raise AssertionError('%s: %s' % (self.name, answer['error']))
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class RosbagNode(Answering):
    """@foxglove/rosbag, which knows 2.0 only. Available where prepare() of peer_mcap.py could install it."""

    def __init__(self):
        super().__init__('@foxglove/rosbag', shutil.which('node'), os.path.join(HERE, 'bag_check.mjs'))

    def read(self, path, unwrap):
        return {k: of_node(topics) for k, topics in super().read(path, unwrap).items()}


class McapNode(Answering):
    """@mcap/core, available where prepare() of peer_mcap.py could install it."""

    def __init__(self):
        super().__init__('@mcap/core', shutil.which('node'), os.path.join(HERE, 'mcap_check.mjs'))

    def topics(self, path):
        seen = self.read(path)
        assert seen['chunks_without_crc'] == 0
        return of_node(seen['topics'])


def rosbag_python():
    """Debian's python3-rosbag, None where it is not; these tests may run under another Python."""
    there = os.path.exists('/usr/lib/python3/dist-packages/rosbag')
    return Answering('python3-rosbag', '/usr/bin/python3', '-c', ROSBAG_LOOP) if there else None


def of_node(topics):
    """Numbers of 64 bits come from node as text; MCAP knows topics without a message."""
    return {t: {'count': v['count'], 'bytes': v['bytes'], 'first_ns': int(v['first']), 'last_ns': int(v['last']), 'sha': v['sha256']}
            for t, v in topics.items() if v['count'] > 0}


def bag_storage(path):
    """librosbag_storage. It does not unwrap our wrapper: payloads as they are in the bag."""
    seen = ran(BAG_READ, path)
    return {t: {'count': v['count'], 'bytes': v['bytes'], 'first_ns': v['first_ns'], 'last_ns': v['last_ns'], 'sha': v['sha256']} for t, v in seen.items()}




def nanover_zip(path):
    """zipfile and msgpack; a message of several types is one message under all of its types together."""
    with open(path, 'rb') as f:
        return by_topic([Message(int(e['metadata']['timestamp']) * 1000, '+'.join(e['metadata']['types']) or '(none)', piece) for e, piece in read_nanover(f.read())])


def tide_messages(data):
    seen = TIDE.parse(data)
    return seen, [Message(e['ts'], seen['channels'].get(e['channel'], {}).get('name'), e['data']) for e in seen['entries']]


def tide(path, known):
    with open(path, 'rb') as f:
        seen, messages = tide_messages(f.read())
    assert seen['index_bad'] == 0 and seen['index_ok'] == len(messages), ('index', seen['index_bad'], seen['index_ok'], len(messages))
    assert not seen['notes'], seen['notes']
    return merged(messages, known)


def mira_messages(data):
    """The reader rejects a tape that starts in 1970, as one of a relative clock does: then it gets the byte order from here."""
    believed = MIRA.order
    try:
        seen = MIRA.parse(data)
    except MIRA.Bad:
        MIRA.order = lambda _: '<'
        seen = MIRA.parse(data)
    finally:
        MIRA.order = believed
    messages = []
    for m in seen['msgs']:
        at = m['at'] + 5 + 8 + 4 + len(m['name'].encode()) + 4 + len(m['frame'].encode()) + 9 + (4 if m['comp'] else 0)
        stored = data[at:at + m['stored']]
        inflated = MIRA.inflate(stored, m['size'])[1] if m['comp'] else None
        messages.append(Message(seen['start'] + m['t'], m['name'], stored if inflated is None else inflated))
    return seen, messages


def mira(path, known):
    with open(path, 'rb') as f:
        seen, messages = mira_messages(f.read())
    assert seen['index_bad'] == 0 and seen['index_ok'] == len(messages), ('index', seen['index_bad'], seen['index_ok'], len(messages))
    assert not seen['notes'] and len(seen['chain']) == len(seen['channels']), (seen['notes'], seen['chain'])
    assert all(b['seen'] == b['count'] for b in seen['blocks']) and len(seen['blocks']) == seen['blocks_in_header']
    return merged(messages, known)


def carla_content(data):
    """Per packet id the payloads in file order, with the time of their frame."""
    header = CARLA.header(data)
    now, out = header['date'] * 1_000_000_000, collections.defaultdict(list)
    for number, _, start, end, whole in CARLA.packets(data, header['size']):
        if not whole:
            break
        if number == 0:
            now = header['date'] * 1_000_000_000 + round(struct.unpack_from('<d', data, start + 16)[0] * 1e9)
        out[number].append((now, data[start:end]))
    return header, out


def carla(path):
    """Topics by packet id: the log has no names."""
    facts = CARLA.parse(path)
    assert facts['ends_exactly'] and not facts['problems'], (facts['truncation'], facts['problems'])
    with open(path, 'rb') as f:
        _, packets = carla_content(f.read())
    return by_topic([Message(t, str(number), piece) for number, rows in packets.items() for t, piece in rows])
