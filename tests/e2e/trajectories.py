"""Independent readers of TRR, DCD, XTC, PDB and GRO, written from descriptions of the formats. All give nm and ps."""
import struct

RANGES = (0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 80, 101, 128, 161, 203, 256, 322, 406, 512, 645, 812, 1024, 1290,
          1625, 2048, 2580, 3250, 4096, 5060, 6501, 8192, 10321, 13003, 16384, 20642, 26007, 32768, 41285, 52015, 65536, 82570, 104031, 131072,
          165140, 208063, 262144, 330280, 416127, 524287, 660561, 832255, 1048576, 1321122, 1664510, 2097152, 2642245, 3329021, 4194304, 5284491,
          6658042, 8388607, 10568983, 13316085, 16777216)


def rows(numbers):
    return [tuple(numbers[i:i + 3]) for i in range(0, len(numbers), 3)]


class Frame:
    def __init__(self, positions, time=None, step=None, box=None, velocities=None, forces=None):
        self.positions, self.time, self.step, self.box, self.velocities, self.forces = positions, time, step, box, velocities, forces


def read_trr(data):
    frames, at = [], 0

    def floats(size):
        nonlocal at
        at += size
        return rows(struct.unpack('>%df' % (size // 4), data[at - size:at]))

    while at < len(data):
        magic, length, text_length, text = struct.unpack_from('>iii12s', data, at)
        assert (magic, length, text_length, text) == (1993, 13, 12, b'GMX_trn_file'), data[at:at + 24]
        ir, e, box, vir, pres, top, sym, x, v, f, n, step, nre, time, _ = struct.unpack_from('>13i2f', data, at + 24)
        assert not (ir or e or vir or pres or top or sym or nre) and x == 12 * n and v in (0, x) and f in (0, x) and box in (0, 36)
        at += 84
        frames.append(Frame(box=floats(box), positions=floats(x), velocities=floats(v), forces=floats(f), time=time, step=step))
    assert at == len(data)
    return frames


def records(data):
    """Of Fortran: each between its length."""
    at = 0
    while at < len(data):
        size, = struct.unpack_from('<i', data, at)
        assert struct.unpack_from('<i', data, at + 4 + size)[0] == size
        yield data[at + 4:at + 4 + size]
        at += size + 8


def read_dcd(data):
    head, titles, (n,), *rest = [r if i < 2 or i > 2 else struct.unpack('<i', r) for i, r in enumerate(records(data))]
    assert head[:4] == b'CORD' and len(head) == 84 and len(titles) == 4 + 80 * struct.unpack_from('<i', titles)[0]
    control = struct.unpack('<9if10i', head[4:])
    cell = control[10]
    each = 3 + cell
    assert len(rest) == control[0] * each and control[19] == 24
    frames = []
    for i in range(control[0]):
        parts = rest[i * each:i * each + each]
        axes = [struct.unpack('<%df' % n, p) for p in parts[cell:]]
        box = struct.unpack('<6d', parts[0]) if cell else None
        frames.append(Frame([tuple(v / 10 for v in p) for p in zip(*axes)], box=box, time=i * control[9] * 0.04888821))
    return frames


class Bits:
    def __init__(self, data):
        self.value, self.left = int.from_bytes(data, 'big'), 8 * len(data)

    def take(self, n):
        self.left -= n
        assert self.left >= 0
        return self.value >> self.left & ((1 << n) - 1)

    def three(self, n, ranges):
        number = sum(self.take(min(8, n - i)) << i for i in range(0, n, 8))
        number, c = divmod(number, ranges[2])
        return [*divmod(number, ranges[1]), c]


def unpack_xtc(bits, n, least, most, small):
    whole = [b - a + 1 for a, b in zip(least, most)]
    together = None if any(w > 0xffffff for w in whole) else (whole[0] * whole[1] * whole[2]).bit_length()
    half, smaller = RANGES[small] // 2, RANGES[max(9, small - 1)] // 2
    out, run = [], 0
    while len(out) < n:
        raw = bits.three(together, whole) if together else [bits.take(w.bit_length()) for w in whole]
        last = [v + a for v, a in zip(raw, least)]
        change = 0
        if bits.take(1):
            run, change = divmod(bits.take(5), 3)
            change -= 1
        group = [last]
        for _ in range(run):
            last = [v + p - half for v, p in zip(bits.three(small, [RANGES[small]] * 3), last)]
            group.append(last)
            if len(group) == 2:  # the first two have changed places
                group.reverse()
        out += group
        small += change
        if change < 0:
            half, smaller = smaller, RANGES[small - 1] // 2
        elif change > 0:
            half, smaller = RANGES[small] // 2, half
    return out


def read_xtc(data):
    frames, at = [], 0
    while at < len(data):
        magic, n, step, time, *box, again = struct.unpack_from('>3if9fi', data, at)
        assert magic == 1995 and again == n
        at += 56
        if n <= 9:
            positions = rows(struct.unpack_from('>%df' % (3 * n), data, at))
            at += 12 * n
        else:
            precision, *ints, small, size = struct.unpack_from('>f8i', data, at)
            at += 36
            assert precision == 1000 and not any(data[at + size:at + size + -size % 4])
            bits = Bits(data[at:at + size])
            positions = [tuple(v / 1000 for v in p) for p in unpack_xtc(bits, n, ints[:3], ints[3:], small)]
            assert bits.left < 8
            at += size + -size % 4
        frames.append(Frame(positions, time=time, step=step, box=rows(box)))
    assert at == len(data)
    return frames


def read_pdb(data):
    """Atoms as (name, residue, chain, residue number, element, position), bonds, and the cell in Angstrom and degrees."""
    atoms, bonds, cell = [], set(), None
    lines = data.decode('ascii').splitlines()
    assert lines[-1] == 'END'
    for line in lines:
        if line.startswith('ATOM'):
            assert int(line[6:11]) == len(atoms) + 1 and len(line) == 78
            position = tuple(float(line[i:i + 8]) / 10 for i in (30, 38, 46))
            atoms.append((line[12:16], line[17:21].strip(), line[21], int(line[22:26]), line[76:78].strip(), position))
        elif line.startswith('CONECT'):
            bonds.add((int(line[6:11]) - 1, int(line[11:16]) - 1))
        elif line.startswith('CRYST1'):
            cell = [float(line[i:j]) for i, j in ((6, 15), (15, 24), (24, 33), (33, 40), (40, 47), (47, 54))]
    return atoms, bonds, cell


def read_gro(data):
    """Atoms as (name, residue, residue number, position, velocity), and the box."""
    title, count, *lines = data.decode('ascii').splitlines()
    assert len(lines) == int(count) + 1 and ' t= ' in title
    atoms = []
    for i, line in enumerate(lines[:-1]):
        assert int(line[15:20]) == i + 1
        numbers = [float(line[at:at + 8]) for at in range(20, len(line), 8)]
        atoms.append((line[10:15].strip(), line[5:10].strip(), int(line[:5]), tuple(numbers[:3]), tuple(numbers[3:])))
    return atoms, [float(v) for v in lines[-1].split()]
