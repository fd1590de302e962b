"""One reader per container format that shares no code with the project: the readers of ../shared where they are, otherwise Python's own modules,
python3-rosbag, python3-msgpack and @mcap/core. Each takes the path of a recording and returns the names of its channels and its messages in the order of the file; a
recording that it cannot read is an exception."""
import contextlib
import ctypes
import json
import os
import shutil
import sqlite3
import struct
import sys
import tarfile
import tempfile
import zipfile
from unittest import mock

import msgpack

import matrix_readers as readers
import ulog_reader
from samples import Message

HERE = os.path.dirname(os.path.abspath(__file__))


class Unreadable(Exception):
    """Not a recording of the format, or of a version that the reader does not know."""


class Channel:
    """One channel: two may have the same name, and a message belongs to one of them."""

    def __init__(self, name):
        self.name = name


def script(name):
    """A reader of ../shared that also is a program: its program part gets no files."""
    with mock.patch.object(sys, 'argv', [name]):
        return readers.shared_module('readers', name)


BAG_1_2, BAG_OLD, LEGACY = (script(name) for name in ('dump12', 'legacy', 'legacyscan'))


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def shown(name):
    """A name of any bytes as the project shows it: what is not UTF-8, or is a control character, as \\xNN."""
    text = name.decode('utf-8', 'backslashreplace') if isinstance(name, bytes) else name
    return ''.join('\\n' if c == '\n' else c if ' ' <= c != '\x7f' else '\\x%02x' % ord(c) for c in text)


def channel_of(channels, key, name):
    return channels.setdefault(key, Channel(shown(name)))


# --- rosbag 1.0 to 1.2 -----------------------------------------------------------------------------------------------


def rosbag_1_2(data):
    channels, messages = {}, []
    for _, fields, start, size, _ in BAG_1_2.recs(data, data.index(b'\n') + 1):
        if fields is None or start + size > len(data):
            break
        if fields['op'] == b'\x02':
            key = tuple(fields.get(name) for name in ('topic', 'type', 'md5', 'callerid', 'latching'))
            seconds, nanoseconds = struct.unpack('<II', fields['sec'] + fields['nsec'])
            channel = channel_of(channels, key, fields['topic'])
            messages.append(Message(seconds * 10**9 + nanoseconds, channel, data[start:start + size]))
    return list(channels.values()), messages


def rosbag1(path):
    data = read(path)
    if data.startswith(b'#ROSRECORD V1.2\n'):
        return rosbag_1_2(data)
    version, _, rows, _ = BAG_OLD.parse(data)
    if version not in ((0, 0), (1, 0), (1, 1)):
        raise Unreadable('version %d.%d' % version)
    channels = {}
    messages = [Message(t, channel_of(channels, topic, topic), data[at:at + size]) for topic, t, at, size in rows]
    return list(channels.values()), messages


# --- rosbag 2.0 ------------------------------------------------------------------------------------------------------

ROSBAG = r'''
import json, os, shutil, sys, traceback
import rosbag
sys.stderr = open(os.devnull, 'w')  # its warnings about definitions; what fails is in the answer
def rows(path):
    with rosbag.Bag(path) as bag:
        return [[str(sorted(header.items())), raw[0], topic, stamp.to_nsec(), raw[1].hex()]
                for topic, raw, stamp, header in bag.read_messages(raw=True, return_connection_header=True)]
def reindexed(path, copy):
    shutil.copyfile(path, copy)
    with rosbag.Bag(copy, 'a', allow_unindexed=True) as bag:
        for _ in bag.reindex():
            pass
    return rows(copy)
for line in sys.stdin:
    path, copy = json.loads(line)
    try:
        try:
            answer = {'rows': rows(path)}
        except rosbag.ROSBagUnindexedException:
            answer = {'rows': reindexed(path, copy)}
    except Exception:
        answer = {'error': traceback.format_exc()[-600:]}
    print(json.dumps(answer), flush=True)
'''


def unwrapped(kind, data):
    """The payload inside our wrapper for messages of other encodings: no dimension, no offset, the bytes."""
    wrapped = kind == 'std_msgs/UInt8MultiArray' and data[:8] == bytes(8) and int.from_bytes(data[8:12], 'little') == len(data) - 12
    return data[12:] if wrapped else data


class Bag2:
    """python3-rosbag, which indexes a bag that was not closed again, in a copy."""

    def __init__(self, folder):
        self.copy = os.path.join(folder, 'reindexed.bag')
        self.python = readers.Answering('python3-rosbag', '/usr/bin/python3', '-c', ROSBAG)
        self.close = self.python.close

    def __call__(self, path):
        channels = {}
        rows = self.python.read(path, self.copy)['rows']
        messages = [Message(t, channel_of(channels, (topic, header), topic), unwrapped(kind, bytes.fromhex(data))) for header, kind, topic, t, data in rows]
        return list(channels.values()), messages


# --- MCAP ------------------------------------------------------------------------------------------------------------


class Mcap:
    """@mcap/core, where prepare() of peer_mcap.py could install it: the records from front to back, up to the first that it refuses."""

    def __init__(self):
        self.node = readers.Answering('@mcap/core', shutil.which('node'), os.path.join(HERE, 'mcap_records.mjs'))
        self.close = self.node.close

    def __call__(self, path):
        seen = self.node.read(path)
        channels = {c['key']: Channel(shown(c['topic'])) for c in seen['channels']}
        messages = [Message(int(m['time']), channels[m['key']], bytes.fromhex(m['data'])) for m in seen['messages']]
        return list(channels.values()), messages


# --- rosbag2 ---------------------------------------------------------------------------------------------------------


def unzstd(data):
    """Data as they are, or out of their zstd frame; None where that is broken."""
    if not data.startswith(b'\x28\xb5\x2f\xfd'):
        return data
    zstd, out = ctypes.CDLL('libzstd.so.1'), ctypes.create_string_buffer(1 << 20)
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    size = zstd.ZSTD_decompress(out, len(out), data, len(data))
    return out.raw[:size] if size <= len(out) else None  # an error is a huge number


def database_of(path):
    """The bytes of the database, out of the archive or the zstd frame that the recording is."""
    if path.endswith('.zip'):
        with zipfile.ZipFile(path) as archive:
            inside = {name: archive.read(name) for name in archive.namelist()}
    elif path.endswith('.tar'):
        with tarfile.open(path) as archive:
            inside = {m.name: archive.extractfile(m).read() for m in archive.getmembers() if m.isfile()}
    else:
        inside = {path: read(path)}
    data, = [data for name, data in inside.items() if '.db3' in name]
    return unzstd(data)


def ros2db(path):
    channels = {}
    with tempfile.TemporaryDirectory(prefix='reel-golden-') as folder:
        copy = os.path.join(folder, 'copy.db3')
        with open(copy, 'wb') as f:
            f.write(database_of(path))
        with contextlib.closing(sqlite3.connect(copy)) as db:
            topics = dict(db.execute('SELECT id, name FROM topics ORDER BY id'))
            rows = list(db.execute('SELECT topic_id, timestamp, data FROM messages WHERE typeof(topic_id) = "integer" AND typeof(timestamp) = "integer" '
                                   'AND typeof(data) = "blob" ORDER BY timestamp, id'))
    for number, name in topics.items():
        channel_of(channels, number, name)
    rows = [(topic, t, unzstd(data)) for topic, t, data in rows]
    messages = [Message(t, channel_of(channels, topic, 'topic_id_%d' % topic), data) for topic, t, data in rows if data is not None]
    return list(channels.values()), messages


# --- NanoVer ---------------------------------------------------------------------------------------------------------


def nanover_kind(piece):
    """The channel of a message: its keys, in their order. None where it is not one map with text keys and nothing else."""
    try:
        message = msgpack.unpackb(piece, strict_map_key=False, unicode_errors='surrogateescape')
    except ValueError:
        return None
    good = isinstance(message, dict) and all(isinstance(key, str) for key in message)
    return ('+'.join(message) or '(none)') if good else None


def nanover(path):
    """Python's zipfile and msgpack."""
    channels, messages = {}, []
    with zipfile.ZipFile(path) as archive:
        body = archive.read('messages.msgpack')
        index = msgpack.unpackb(archive.read('index.msgpack'), strict_map_key=False)
    for entry in index:
        piece = body[entry['offset']:entry['offset'] + entry['length']]
        kind = nanover_kind(piece) if len(piece) == entry['length'] else None
        if kind is not None:
            messages.append(Message(round(entry['metadata']['timestamp'] * 1000), channel_of(channels, kind, kind), piece))
    return list(channels.values()), messages


def nanover_legacy(path):
    """Records of a 64-bit magic, a version and then (time in us, 128 bits; size; protobuf), as the reader's own scan() walks them."""
    data, at, messages = read(path), 16, []
    magic, version = struct.unpack_from('<QQ', data)
    if magic != 6661355757386708963 or version != 2:
        raise Unreadable('magic %d, version %d' % (magic, version))
    channel = Channel('state' if path.endswith('.state') else 'frame')
    while at + 24 <= len(data):
        t, _, size = struct.unpack_from('<QQQ', data, at)
        piece = data[at + 24:at + 24 + size]
        if len(piece) < size:
            break
        at += 24 + size
        with contextlib.suppress(ValueError, IndexError):  # not protobuf: that record alone is lost
            list(LEGACY.fields(piece))
            messages.append(Message(t * 1000, channel, piece))
    return [channel], messages


# --- CARLA, MIRA, TIDE -----------------------------------------------------------------------------------------------

CARLA_TOPICS = {
    'FrameStart': '/frame', 'FrameEnd': '/frame_end', 'EventAdd': '/event/add', 'EventDel': '/event/del', 'EventParent': '/event/parent', 'Collision': '/collision',
    'Position': '/position', 'State': '/traffic_light/state', 'AnimVehicle': '/vehicle/animation', 'AnimWalker': '/walker/animation', 'VehicleLight': '/vehicle/light',
    'SceneLight': '/scene_light', 'Kinematics': '/kinematics', 'BoundingBox': '/bounding_box', 'PlatformTime': '/platform_time', 'PhysicsControl': '/physics_control',
    'TrafficLightTime': '/traffic_light/time', 'TriggerVolume': '/trigger_volume', 'FrameCounter': '/frame_counter', 'WalkerBones': '/walker/bones',
    'VisualTime': '/visual_time', 'AnimVehicleWheels': '/vehicle/wheels', 'AnimBiker': '/biker', 'VehicleDoor': '/vehicle/door', 'Weather': '/weather'}


def carla(path):
    data = read(path)
    header, packets = readers.carla_content(data)
    meaning = readers.CARLA.detect_21(data, header['size'])
    channels, messages = {}, []
    for number, rows in packets.items():
        name = CARLA_TOPICS.get(readers.CARLA.idname(number, meaning), '/packet_%d' % number)
        messages += [Message(t, channel_of(channels, number, name), piece) for t, piece in rows]
    return list(channels.values()), messages


def mira(path):
    seen, messages = readers.mira_messages(read(path))
    channels = {name: Channel(shown(name)) for name in seen['channels']}
    for m in messages:
        m.topic = channel_of(channels, m.topic, m.topic)
    return list(channels.values()), messages


def tide(path):
    seen = readers.TIDE.parse(read(path))
    channels = {number: Channel(shown(c['name'])) for number, c in seen['channels'].items()}
    messages = [Message(e['ts'], channel_of(channels, e['channel'], 'reconstructed%d' % e['channel']), e['data']) for e in seen['entries']]
    return list(channels.values()), messages


# --- ULog ------------------------------------------------------------------------------------------------------------

ULOG_LEVELS = (('EMERG', 16), ('ALERT', 16), ('CRIT', 16), ('ERR', 8), ('WARNING', 4), ('NOTICE', 2), ('INFO', 2), ('DEBUG', 1))


def ros_string(raw):
    return struct.pack('<I', len(raw)) + raw


def ulog_text(time, level, tag, raw):
    """rosgraph_msgs/Log."""
    name, ros = ULOG_LEVELS[level]
    strings = (b'' if tag is None else b'tag %d' % tag, raw, b'', name.encode())
    return struct.pack('<IIIIB', 0, time // 1000000, time % 1000000 * 1000, 0, ros) + b''.join(map(ros_string, strings)) + bytes(8)


def ulog_number(value):
    """A float of 32 bits as the shortest decimal that names it."""
    decimals = [float('%.*g' % (n, value)) for n in range(1, 10)]
    return next(v for v in decimals if struct.pack('<f', v) == struct.pack('<f', value))


def ulog(path):
    log = ulog_reader.Log(read(path))
    channels, messages = {}, []

    def add(time, name, payload):
        messages.append(Message((time + (log.utc or 0)) * 1000, channel_of(channels, name, name), payload))
    for topic in log.topics:
        channel_of(channels, ulog_reader.topic_name(topic), ulog_reader.topic_name(topic))
    for m in log.messages:
        add(m.time, ulog_reader.topic_name(m.topic), m.payload)
    for time, level, tag, raw in log.texts:
        add(time, '/log_message', ulog_text(time, level, tag, raw))
    for time, name, value in log.changes:
        add(time, '/parameters', ros_string(name.encode()) + struct.pack('<d', value if isinstance(value, int) else ulog_number(value)))
    for time, ms in log.dropouts:
        add(time, '/dropout', struct.pack('<H', ms))
    return list(channels.values()), messages
