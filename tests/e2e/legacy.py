"""NanoVer's older form (.traj, .state) for the tests: made, read and converted without any code of the project, by the rules that the official
converter follows."""
import io
import struct

MAGIC, VERSION = 6661355757386708963, 2
PACKED = {'particle.positions': '<f4', 'particle.velocities': '<f4', 'particle.forces': '<f4', 'particle.forces.system': '<f4', 'particle.elements': '<u1',
          'particle.colors': '<u1', 'particle.residues': '<u4', 'residue.chains': '<u4', 'bond.pairs': '<u4', 'bond.orders': '<u1', 'system.box.vectors': '<f4',
          'forces.user.index': '<u4', 'forces.user.sparse': '<f4'}
LETTER = {'<f4': 'f', '<u1': 'B', '<u4': 'I'}
COUNTS = ('frame.index', 'particle.count', 'residue.count', 'chain.count')


# --- protobuf's wire form --------------------------------------------------------------------------------------------

def varint(data, pos):
    shift = value = 0
    while True:
        byte = data[pos]
        pos += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, pos


def fields(data):
    pos = 0
    while pos < len(data):
        tag, pos = varint(data, pos)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, pos = varint(data, pos)
        else:
            size = {1: 8, 5: 4}.get(wire)
            if wire == 2:
                size, pos = varint(data, pos)
            value, pos = data[pos:pos + size], pos + size
        yield number, wire, value


def put_varint(value):
    out = b''
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def put(number, value):
    """bytes: a length-delimited field; int: a varint; float: eight bytes."""
    if isinstance(value, bytes):
        return put_varint(number << 3 | 2) + put_varint(len(value)) + value
    if isinstance(value, float):
        return put_varint(number << 3 | 1) + struct.pack('<d', value)
    return put_varint(number << 3) + put_varint(value)


def put_value(value):
    if value is None:
        return put(1, 0)
    if isinstance(value, bool):
        return put(4, int(value))
    if isinstance(value, (int, float)):
        return put(2, float(value))
    if isinstance(value, str):
        return put(3, value.encode())
    if isinstance(value, dict):
        return put(5, put_struct(value))
    return put(6, b''.join(put(1, put_value(item)) for item in value))


def put_struct(value):
    return b''.join(put(1, put(1, key.encode()) + put(2, put_value(item))) for key, item in value.items())


def put_array(values):
    if values and isinstance(values[0], str):
        return put(3, b''.join(put(1, text.encode()) for text in values))
    if values and isinstance(values[0], float):
        return put(1, put(1, struct.pack('<%df' % len(values), *values)))
    return put(2, put(1, b''.join(put_varint(v) for v in values)))


# --- files -----------------------------------------------------------------------------------------------------------

def frame(index, values, arrays):
    data = b''.join(put(1, put(1, k.encode()) + put(2, put_value(v))) for k, v in values.items())
    data += b''.join(put(2, put(1, k.encode()) + put(2, put_array(v))) for k, v in arrays.items())
    return (put(1, index) if index else b'') + put(2, data)


def state(changed):
    return put(1, put_struct(changed))


def file_of(records):
    """records: (µs, message)."""
    return struct.pack('<QQ', MAGIC, VERSION) + b''.join(struct.pack('<QQQ', t, 0, len(m)) + m for t, m in records)


def records(data):
    assert struct.unpack_from('<QQ', data) == (MAGIC, VERSION)
    pos = 16
    while pos < len(data):
        low, high, size = struct.unpack_from('<QQQ', data, pos)
        assert high == 0 and pos + 24 + size <= len(data)
        yield low, data[pos + 24:pos + 24 + size]
        pos += 24 + size


# --- conversion ------------------------------------------------------------------------------------------------------

def _value(data):
    out = None
    for number, _, raw in fields(data):
        out = {1: lambda: None, 2: lambda: struct.unpack('<d', raw)[0], 3: lambda: raw.decode(), 4: lambda: bool(raw), 5: lambda: _struct(raw),
               6: lambda: [_value(item) for _, _, item in fields(raw)]}[number]()
    return out


def _pair(data):
    parts = {number: raw for number, _, raw in fields(data)}
    return parts.get(1, b'').decode(), parts.get(2, b'')


def _struct(data):
    return {key: _value(raw) for key, raw in (_pair(entry) for _, _, entry in fields(data))}


def _numbers(data, kind):
    for _, wire, raw in fields(data):
        if kind == 1:
            yield from struct.unpack('<%df' % (len(raw) // 4), raw)
        elif wire == 2:
            pos = 0
            while pos < len(raw):
                value, pos = varint(raw, pos)
                yield value
        else:
            yield raw


def _array(key, data):
    for kind, _, raw in fields(data):
        if kind == 3:
            return [text.decode() for _, _, text in fields(raw)]
        values = list(_numbers(raw, kind))
        if key in PACKED:
            letter = LETTER[PACKED[key]]
            return struct.pack('<%d%s' % (len(values), letter), *[v if letter == 'f' else int(v) for v in values])
        return values
    return []


def convert_frame(data):
    index, out = 0, {}
    for number, _, raw in fields(data):
        if number == 1:
            index = raw
            continue
        for kind, _, entry in fields(raw):
            key, value = _pair(entry)
            out[key] = _array(key, value) if kind == 2 else _value(value)
    for key in COUNTS:
        if isinstance(out.get(key), float):
            out[key] = int(out[key])
    out['frame.index'] = index
    return {'frame': out}


def convert_state(data):
    changed = {}
    for _, _, raw in fields(data):
        changed.update(_struct(raw))
    return {'state': {'updates': {k: v for k, v in changed.items() if v is not None}, 'removals': [k for k, v in changed.items() if v is None]}}


def convert(traj=None, states=None):
    """[(µs, message)] as the official tool orders them: by time, at equal times the frame first."""
    out = [(t, 0, convert_frame(m)) for t, m in (records(traj) if traj else [])] + [(t, 1, convert_state(m)) for t, m in (records(states) if states else [])]
    return [(t, m) for t, _, m in sorted(out, key=lambda row: row[:2])]


# --- a recording made up ---------------------------------------------------------------------------------------------

def pair(frames=60, atoms=12, salt=0):
    """(.traj, .state) of one made-up session: two runs, an avatar that goes, interactions."""
    traj, states = io.BytesIO(), []
    rows = []
    for i in range(frames):
        run = i % (frames // 2)
        values = {'energy.potential': -float(i) - salt, 'system.simulation.time': run * .5}
        arrays = {'particle.positions': [(i + k) * .25 for k in range(3 * atoms)], 'forces.user.index': [0, 1] if i % 5 == 0 else [],
                  'system.box.vectors': [3., 0., 0., 0., 3., 0., 0., 0., 3.]}
        if run == 0:
            values.update({'particle.count': atoms, 'residue.count': 1, 'chain.count': 1, 'system.simulation.counter': i // (frames // 2)})
            arrays.update({'particle.elements': [6] * atoms, 'bond.pairs': [0, 1, 1, 2], 'bond.orders': [1., 2.], 'particle.names': ['C%d' % k for k in range(atoms)],
                           'residue.ids': ['1'], 'particle.residues': [0] * atoms, 'residue.chains': [0], 'custom.floats': [.5, 1.5]})
        rows.append((1000 + i * 33_333, frame(run, values, arrays)))
        if i % 7 == 3:
            changed = {'interaction.%d' % (i % 3): {'particles': [i % atoms], 'max_force': float('inf'), 'scale': None}, 'cursor': i, 'on': i % 2 == 0}
            if i == 24:
                changed['avatar.1'] = None
            states.append((1000 + i * 33_333 + (0 if i % 2 else 400), state(changed)))
    states.insert(0, (500, state({'scene': [0.] * 10, 'avatar.1': {'name': 'ada'}})))
    traj.write(file_of(rows))
    return traj.getvalue(), file_of(states)
