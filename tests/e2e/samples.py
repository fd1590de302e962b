"""Recordings for the tests, made and read back without any code of the project: ROS bag 1.2, NanoVer, MCAP."""
import hashlib
import io
import struct
import zipfile
import zlib

import msgpack

TYPES = {  # type: (md5, definition)
    'std_msgs/String': ('992ce8a1687cec8c8bd883ec73ca41d1', 'string data\n'),
    'std_msgs/Float32': ('73fcbf46b49191e672908e50842a83d4', 'float32 data\n'),
    'std_msgs/Float64': ('fdb28210bfa9d7c91146260178d9a584', 'float64 data\n'),
    'std_msgs/Empty': ('d41d8cd98f00b204e9800998ecf8427e', ''),
    'geometry_msgs/Point': ('4a842b65f413084dc2b10fb484ea7f17', 'float64 x\nfloat64 y\nfloat64 z\n'),
    'lab_msgs/Timed': ('5f2230f043843fecf0ef1f9e9b148338', 'time stamp\nduration period\nfloat32[3] bias\ngeometry_msgs/Point rate\n'
                       '================================================================================\nMSG: geometry_msgs/Point\nfloat64 x\nfloat64 y\nfloat64 z\n'),
    'lab_msgs/Blob': ('f43a8e1b362b75baa741461b46adc7e0', 'uint8[] data\n'),
}
T0 = 1_275_520_355_000_000_000  # 2010-06-02T23:12:35Z
SECOND = 1_000_000_000


class Message:
    def __init__(self, time, topic, payload, kind='', latched=False):
        self.time, self.topic, self.payload, self.kind, self.latched = time, topic, payload, kind, latched


def by_topic(messages):
    """What two sets of messages are compared by: per topic count, bytes, first, last, SHA-256 of the payloads in time order."""
    topics = {}
    for m in sorted(messages, key=lambda m: m.time):
        t = topics.setdefault(m.topic, {'count': 0, 'bytes': 0, 'first_ns': m.time, 'last_ns': m.time, 'sha': hashlib.sha256()})
        t['count'] += 1
        t['bytes'] += len(m.payload)
        t['last_ns'] = m.time
        t['sha'].update(m.payload)
    return {name: {**t, 'sha': t['sha'].hexdigest()} for name, t in topics.items()}


# --- ROS bag 1.2 -----------------------------------------------------------------------------------------------------

def lab_messages(seconds=10, blob=0, salt=0):
    """A little robot: a latched map at the start, odometry at 50 Hz, text at 5 Hz, empty ticks at 1 Hz, blobs at 10 Hz."""
    out = [Message(T0, '/map', struct.pack('<I', 300) + bytes((i * 7 + salt) & 255 for i in range(300)), 'lab_msgs/Blob', True)]
    for i in range(seconds * 50):
        t = T0 + i * 20_000_000
        out.append(Message(t + 1000, '/odom', struct.pack('<3d', i, i * .5, -i - salt), 'geometry_msgs/Point'))
        if i % 10 == 0:
            text = b'hello %d' % i
            out.append(Message(t + 2000, '/robot/chatter', struct.pack('<I', len(text)) + text, 'std_msgs/String'))
        if i % 50 == 0:
            out.append(Message(t + 3000, 'tick', b'', 'std_msgs/Empty'))
        if blob and i % 5 == 0:
            out.append(Message(t + 4000, '/camera', struct.pack('<I', blob) + noise(blob, i + salt), 'lab_msgs/Blob'))
    return out


def noise(size, seed):
    return hashlib.shake_128(struct.pack('<q', seed)).digest(size)


def _field(name, value):
    value = value.encode() if isinstance(value, str) else value
    both = name.encode() + b'=' + value
    return struct.pack('<I', len(both)) + both


def _record(fields, data=b''):
    header = b''.join(_field(k, fields[k]) for k in sorted(fields))
    return struct.pack('<I', len(header)) + header + struct.pack('<I', len(data)) + data


def _bag_head(index_pos):
    header = _field('index_pos', struct.pack('<Q', index_pos)) + _field('op', b'\3')
    return struct.pack('<I', len(header)) + header + struct.pack('<I', 4096 - len(header)) + b' ' * (4096 - len(header))


def bag(messages, indexed=True):
    """indexed False: as the recorders of autumn 2009 left them, no file header and no index."""
    out = io.BytesIO()
    out.write(b'#ROSRECORD V1.2\n' + (_bag_head(0) if indexed else b''))
    index = {}
    for m in messages:
        md5, definition = TYPES[m.kind]
        pos = out.tell()
        common = {'topic': m.topic, 'md5': md5, 'type': m.kind}
        if m.topic not in index:
            out.write(_record({**common, 'op': b'\1', 'def': definition}))
        latch = {'latching': '1', 'callerid': '/lab'} if m.latched else {}
        sec, nsec = divmod(m.time, SECOND)
        out.write(_record({**common, **latch, 'op': b'\2', 'sec': struct.pack('<I', sec), 'nsec': struct.pack('<I', nsec)}, m.payload))
        index.setdefault(m.topic, (m.kind, []))[1].append(struct.pack('<IIQ', sec, nsec, pos))
    if indexed:
        index_pos = out.tell()
        for topic in sorted(index):
            kind, rows = index[topic]
            out.write(_record({'op': b'\4', 'topic': topic, 'type': kind, 'ver': b'\0' * 4, 'count': struct.pack('<I', len(rows))}, b''.join(rows)))
        out.seek(16)
        out.write(_bag_head(index_pos))
    return out.getvalue()


def read_bag(data):
    """Walks a 1.2 bag; returns its messages in file order. The index, when there is one, must point at what it says."""
    assert data.startswith(b'#ROSRECORD V1.2\n'), data[:16]
    pos, messages, index, places, index_pos = 16, [], {}, {}, None
    while pos < len(data):
        start = pos
        size, = struct.unpack_from('<I', data, pos)
        end, fields, pos = pos + 4 + size, {}, pos + 4
        while pos < end:
            length, = struct.unpack_from('<I', data, pos)
            name, value = data[pos + 4:pos + 4 + length].split(b'=', 1)
            fields[name.decode()] = value
            pos += 4 + length
        assert pos == end
        size, = struct.unpack_from('<I', data, pos)
        body = data[pos + 4:pos + 4 + size]
        assert len(body) == size, 'cut record at %d' % start
        pos += 4 + size
        op, topic = fields['op'][0], fields.get('topic', b'').decode()
        if op == 1:
            places.setdefault(topic, []).append(start)
        elif op == 2:
            time = struct.unpack('<I', fields['sec'])[0] * SECOND + struct.unpack('<I', fields['nsec'])[0]
            messages.append(Message(time, topic, body, fields['type'].decode(), fields.get('latching') == b'1'))
            places.setdefault(topic, []).append(start)
        elif op == 3:
            index_pos, = struct.unpack('<Q', fields['index_pos'])
        elif op == 4:
            assert start >= index_pos
            rows = list(struct.iter_unpack('<IIQ', body))
            assert len(rows) == struct.unpack('<I', fields['count'])[0]
            index[topic] = rows
    for topic, rows in index.items():
        assert all(place in places[topic] for _, _, place in rows), topic
        assert len(rows) == sum(m.topic == topic for m in messages), topic
    return messages


# --- NanoVer ---------------------------------------------------------------------------------------------------------

def nanover_messages(count=60, atoms=20, salt=0):
    """(time in µs, map): topology first, then a frame and now and then a state; the simulation is reset half-way."""
    out = [(500, {'state': {'updates': {'scene': [0.0] * 10, 'avatar.1': {'name': 'ada'}}, 'removals': []}})]
    for i in range(count):
        run = i % (count // 2)
        frame = {'frame.index': run, 'particle.positions': struct.pack('<%df' % (atoms * 3), *[(i + k) * .25 for k in range(atoms * 3)]),
                 'system.simulation.time': i * .5 + salt, 'energy.potential': -float(i)}
        if run == 0:
            frame.update({'particle.count': atoms, 'particle.elements': bytes([6] * atoms), 'bond.pairs': struct.pack('<2I', 0, 1),
                          'particle.names': ['C%d' % k for k in range(atoms)]})
        out.append((1000 + i * 33_333, {'frame': frame}))
        if i % 7 == 3:
            removed = ['avatar.1'] if i == 24 else []
            updates = {'interaction.%d' % (i % 3): {'particles': [i % atoms], 'max_force': float('inf')}, 'cursor': i}
            out.append((1000 + i * 33_333 + 400, {'state': {'updates': updates, 'removals': removed}}))
    return out


def nanover(messages):
    body, index = io.BytesIO(), []
    for time, message in messages:
        packed = msgpack.packb(message)
        metadata = {'types': list(message)}
        if 'frame.index' in message.get('frame', {}):
            metadata['frame.index'] = message['frame']['frame.index']
        index.append({'offset': body.tell(), 'length': len(packed), 'metadata': {**metadata, 'timestamp': time}})
        body.write(packed)
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w') as archive:
        for name, data, large in (('messages.msgpack', body.getvalue(), True), ('index.msgpack', msgpack.packb(index), False)):
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o600 << 16
            with archive.open(info, 'w', force_zip64=large) as member:
                member.write(data)
    return out.getvalue()


def read_nanover(data):
    """Returns [(index entry, message bytes)] in index order; zipfile has checked the CRC of both members."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist()[:2] == ['messages.msgpack', 'index.msgpack'], archive.namelist()
        body, index = archive.read('messages.msgpack'), msgpack.unpackb(archive.read('index.msgpack'), strict_map_key=True)
    out = []
    for entry in index:
        assert set(entry) == {'offset', 'length', 'metadata'}, entry
        piece = body[entry['offset']:entry['offset'] + entry['length']]
        assert len(piece) == entry['length']
        out.append((entry, piece))
    return out


def fold(entries, before=None):
    """The full frame and state that the messages (of read_nanover) add up to; with `before`: those with an earlier timestamp."""
    frame, state = {}, {}
    for entry, piece in entries:
        if before is not None and entry['metadata']['timestamp'] >= before:
            continue
        message = msgpack.unpackb(piece)
        update = message.get('frame')
        if update is not None:
            sticky = update.get('frame.index') == 0 or frame.get('frame.index') == 0
            frame = {**({} if update.get('frame.index') == 0 else frame), **update}
            if sticky:
                frame['frame.index'] = 0
        if message.get('state') is not None:
            state.update(message['state'].get('updates', {}))
            for key in message['state'].get('removals', []):
                state.pop(key, None)
    return frame, state


# --- MCAP ------------------------------------------------------------------------------------------------------------

MCAP_MAGIC = b'\x89MCAP0\r\n'


def _string(data, pos):
    size, = struct.unpack_from('<I', data, pos)
    return data[pos + 4:pos + 4 + size], pos + 4 + size


def _records(data, pos, end):
    while pos < end:
        op, size = struct.unpack_from('<BQ', data, pos)
        yield op, data[pos + 9:pos + 9 + size], pos
        pos += 9 + size
    assert pos == end, 'a record exceeds its place'


def read_mcap(data):
    """Reads an uncompressed MCAP from front to back, checking every CRC, index and count. Returns channels {id: (topic, encoding, schema id)},
    schemas {id: (name, encoding, text)} and messages."""
    assert data.startswith(MCAP_MAGIC) and data.endswith(MCAP_MAGIC)
    schemas, channels, messages, chunks, chunk_indexes, statistics = {}, {}, [], {}, [], None
    footer = None

    def definition(op, body):
        if op == 3:
            number, = struct.unpack_from('<H', body)
            name, pos = _string(body, 2)
            encoding, pos = _string(body, pos)
            text, pos = _string(body, pos)
            assert schemas.setdefault(number, (name.decode(), encoding.decode(), text)) == (name.decode(), encoding.decode(), text)
        elif op == 4:
            number, schema = struct.unpack_from('<HH', body)
            topic, pos = _string(body, 4)
            encoding, pos = _string(body, pos)
            assert channels.setdefault(number, (topic.decode(), encoding.decode(), schema)) == (topic.decode(), encoding.decode(), schema)

    for op, body, pos in _records(data, len(MCAP_MAGIC), len(data) - len(MCAP_MAGIC)):
        definition(op, body)
        if op == 6:
            start, end, raw, crc = struct.unpack_from('<QQQI', body)
            compression, at = _string(body, 28)
            assert compression == b''
            records = body[at + 8:]
            assert len(records) == raw and (crc == 0 or zlib.crc32(records) == crc)
            times = []
            for inner, content, place in _records(records, 0, len(records)):
                definition(inner, content)
                if inner == 5:
                    channel, sequence, time, publish = struct.unpack_from('<HIQQ', content)
                    assert channel in channels
                    messages.append(Message(time, channels[channel][0], content[22:]))
                    times.append(time)
            assert not times or (start, end) == (min(times), max(times))
            chunks[pos] = (len(body) + 9, len(times))
        elif op == 8:
            chunk_indexes.append(struct.unpack_from('<QQQQ', body))
        elif op == 11:
            statistics = struct.unpack_from('<QHIIIIQQ', body)
        elif op == 2:
            footer = struct.unpack_from('<QQI', body)
    assert {(place, size) for _, _, place, size in chunk_indexes} == {(place, size) for place, (size, _) in chunks.items()}
    assert statistics[0] == len(messages) and statistics[5] == len(chunks)
    summary_start, _, crc = footer
    assert crc == zlib.crc32(data[summary_start:len(data) - 8 - 4])
    return channels, schemas, messages
