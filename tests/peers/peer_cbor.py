"""Random CBOR, written from RFC 8949 and RFC 8746 in every form that they allow, decoded by us."""
import random
import struct
import unittest

from peer_values import Decoding, same


def head(r, major, n):
    """Not only the shortest."""
    forms = [bytes([major << 5 | n])] if n < 24 else []
    forms += [bytes([major << 5 | info]) + n.to_bytes(size, 'big') for info, size in ((24, 1), (25, 2), (26, 4), (27, 8)) if n < 1 << 8 * size]
    return r.choice(forms)


def string(r, major, data):
    if r.random() < 0.7:
        return head(r, major, len(data)) + data
    cuts = sorted(r.randrange(len(data) + 1) for _ in range(r.randrange(4)))
    if major == 3:  # a piece ends between characters
        cuts = [c for c in cuts if c == len(data) or data[c] & 0xC0 != 0x80]
    pieces = [data[a:b] for a, b in zip([0] + cuts, cuts + [len(data)])]
    return bytes([major << 5 | 31]) + b''.join(head(r, major, len(p)) + p for p in pieces) + b'\xff'


def integer(r):
    n = r.choice([r.randrange(30), r.randrange(1 << r.randrange(1, 65))])
    return (head(r, 0, n), n) if r.random() < 0.5 else (head(r, 1, n), -1 - n)


def bignum(r):
    n = r.randrange(1 << r.randrange(1, 500))
    data = bytes(r.randrange(3)) + n.to_bytes((n.bit_length() + 7) // 8, 'big')
    data = data[-64:]
    return (b'\xc2' + string(r, 2, data), n) if r.random() < 0.5 else (b'\xc3' + string(r, 2, data), -1 - n)


def real(r):
    kind, info = r.choice([('e', 25), ('f', 26), ('d', 27)])
    value = r.choice([r.uniform(-1000, 1000), 0.0, float('inf'), float('nan'), r.uniform(-6e-8, 6e-8)])
    data = struct.pack('>' + kind, value)
    return bytes([7 << 5 | info]) + data, struct.unpack('>' + kind, data)[0]


def text(r):
    value = ''.join(r.choice('aZ ü€😀"\\\n') for _ in range(r.randrange(8)))
    return string(r, 3, value.encode()), value


def octets(r):
    value = bytes(r.randrange(256) for _ in range(r.randrange(8)))
    return string(r, 2, value), value


def simple(r):
    return r.choice([(b'\xf4', False), (b'\xf5', True), (b'\xf6', None), (b'\xf7', None), (b'\xe0', None), (b'\xf8\x80', None)])


def numbers(r):
    """RFC 8746; without floats of 128 bits."""
    tag, kind = r.choice([(64, 'B'), (65, '>H'), (66, '>I'), (67, '>Q'), (68, 'B'), (69, '<H'), (70, '<I'), (71, '<Q'), (72, 'b'), (73, '>h'), (74, '>i'),
                          (75, '>q'), (77, '<h'), (78, '<i'), (79, '<q'), (80, '>e'), (81, '>f'), (82, '>d'), (84, '<e'), (85, '<f'), (86, '<d')])
    size = struct.calcsize(kind)
    values = [struct.unpack(kind, bytes(r.randrange(256) for _ in range(size)))[0] for _ in range(r.randrange(5))]
    values = [0.0 if v != v else v for v in values]
    return head(r, 6, tag) + string(r, 2, b''.join(struct.pack(kind, v) for v in values)), values


def fraction(r):
    exponent, mantissa = r.randrange(-20, 20), r.randrange(-10**6, 10**6)
    parts = b''.join(head(r, int(n < 0), n if n >= 0 else -1 - n) for n in (exponent, mantissa))
    if r.random() < 0.5:
        return b'\xc4\x82' + parts, float('%de%d' % (mantissa, exponent))
    return b'\xc5\x82' + parts, mantissa * 2.0 ** exponent


def listed(r, depth):
    parts = [value(r, depth - 1) for _ in range(r.randrange(5))]
    body = b''.join(p for p, _ in parts)
    return (head(r, 4, len(parts)) + body if r.random() < 0.6 else b'\x9f' + body + b'\xff'), [v for _, v in parts]


def mapped(r, depth):
    parts, keys = [], set()
    for _ in range(r.randrange(5)):
        key, name = r.choice([text, integer])(r)
        if str(name) not in keys:
            keys.add(str(name))
            parts.append((key, str(name), value(r, depth - 1)))
    body = b''.join(key + v[0] for key, _, v in parts)
    return (head(r, 5, len(parts)) + body if r.random() < 0.6 else b'\xbf' + body + b'\xff'), {name: v[1] for _, name, v in parts}


def value(r, depth=4):
    if r.random() < 0.1:
        data, of = value(r, depth)
        return (head(r, 6, r.choice([35, 100, 55799])) + data, of) if data[0] >> 5 != 6 else (data, of)  # tags without a meaning here
    if depth > 0 and r.random() < 0.5:
        return r.choice([listed, mapped])(r, depth)
    return r.choice([integer, bignum, real, text, octets, simple, numbers, fraction])(r)


class Cbor(Decoding):
    def test_random_values(self):
        r = random.Random(11)
        made = [value(r) for _ in range(3000)]
        ours = self.decoded('cbor', None, [data for data, _ in made])
        for i, (a, (data, b)) in enumerate(zip(ours, made)):
            self.assertTrue(same(a, b), '%d %s: %s is not %s' % (i, data.hex(), a, b))


if __name__ == '__main__':
    unittest.main()
