"""Random types in OMG IDL and messages of them in CDR, written from DDS-XTypes 1.3 (chapter 7.4.3), and an MCAP file around them. Knows nothing of
Reel's reader."""
import base64
import random
import struct

MAGIC = b'\x89MCAP0\r\n'
PRIMITIVES = {'boolean': '?', 'octet': 'B', 'char': 'B', 'int8': 'b', 'short': 'h', 'unsigned short': 'H', 'long': 'i', 'unsigned long': 'I',
              'long long': 'q', 'unsigned long long': 'Q', 'float': 'f', 'double': 'd', 'wchar': 'H'}
SIZES = {'?': 1, 'B': 1, 'b': 1, 'h': 2, 'H': 2, 'i': 4, 'I': 4, 'q': 8, 'Q': 8, 'f': 4, 'd': 8}
FINAL, APPENDABLE, MUTABLE = 'final', 'appendable', 'mutable'
HEADS = {(1, FINAL): 0, (1, APPENDABLE): 0, (1, MUTABLE): 2, (2, FINAL): 6, (2, APPENDABLE): 8, (2, MUTABLE): 10}
LATER_HEADS = {6: 0x10, 8: 0x14, 10: 0x12}  # those of RTPS 2.5


# ---- types: (kind, …)

class Named:
    def __init__(self, kind, name, **more):
        self.kind, self.name = kind, name
        self.__dict__.update(more)


def is_primitive(t):
    return t[0] == 'primitive'


# ---- writing

class Writer:
    """`plain`: members of mutable types in order. `evolves`: annotated types have members that the definition has not, and lack some. Not where the head
    says plain CDR, or types are not annotated: there some of these payloads could be read in two ways."""

    def __init__(self, version, big, default, plain=False, evolves=False):
        self.version, self.big, self.default, self.plain, self.evolves, self.out = version, big, default, plain, evolves, bytearray()

    def inner(self):
        return Writer(self.version, self.big, self.default, self.plain, self.evolves)

    def align(self, size):
        self.out += bytes(-len(self.out) % min(size, 8 if self.version == 1 else 4))

    def number(self, code, value):
        self.align(SIZES[code])
        self.out += struct.pack(('>' if self.big else '<') + code, value)

    def headed(self, write, needed=True):
        """What `write` writes, behind its size (a DHEADER)."""
        if self.version == 1 or not needed:
            write(self)
            return
        w = self.inner()
        write(w)
        self.number('I', len(w.out))
        self.out += w.out

    def parameter(self, number, t, write, rng, must=False):
        w = self.inner()
        write(w)
        size = len(w.out)
        self.align(4)
        if self.version == 1:
            if number > 0x3f00 or size > 0xffff or rng.random() < .1:
                for code, value in ('H', 0x3f01 | must << 14), ('H', 8), ('I', number), ('I', size):
                    self.number(code, value)
            else:
                self.number('H', number | must << 14)
                self.number('H', size)
            self.out += w.out
            return
        first = struct.unpack_from(('>' if self.big else '<') + 'I', w.out)[0] if size >= 4 else None
        codes = [4] + [code for code, n in enumerate((1, 2, 4, 8)) if n == size]
        if t is not None and starts_with_size(t, self):
            codes += [code for code, factor in ((5, 1), (6, 4), (7, 8)) if first * factor == size - 4]
        code = rng.choice(codes)
        self.number('I', must << 31 | code << 28 | number)
        if code == 4:
            self.number('I', size)
        self.out += w.out

    def value(self, t, value, rng):
        kind = t[0]
        if kind == 'primitive':
            self.number(PRIMITIVES[t[1]], value)
        elif kind == 'string':
            data = value.encode() + b'\0'
            self.number('I', len(data))
            self.out += data
        elif kind == 'wstring':
            data = value.encode('utf-16-be' if self.big else 'utf-16-le')
            self.number('I', len(data))
            self.out += data
        elif kind == 'sequence':
            self.headed(lambda w: w.items(t[1], value, rng, True), not is_primitive(t[1]))
        elif kind == 'array':
            flat = value
            for _ in t[2][1:]:
                flat = [v for row in flat for v in row]
            self.headed(lambda w: w.items(t[1], flat, rng, False), not is_primitive(t[1]))
        elif kind == 'map':
            self.headed(lambda w: w.entries(t, value, rng), not (is_primitive(t[1]) and is_primitive(t[2])))
        else:
            self.named(t[1], value, rng)

    def items(self, t, values, rng, counted):
        if counted:
            self.number('I', len(values))
        for v in values:
            self.value(t, v, rng)

    def entries(self, t, values, rng):
        self.number('I', len(values))
        for k, v in values:
            self.value(t[1], k, rng)
            self.value(t[2], v, rng)

    def named(self, t, value, rng):
        if t.kind == 'alias':
            self.value(t.of, value, rng)
            return
        if t.kind in ('enum', 'bitmask'):
            self.number({8: 'B', 16: 'H', 32: 'I', 64: 'Q'}[t.bits], value)
            return
        how = t.how or self.default
        body = self.union if t.kind == 'union' else self.struct
        self.headed(lambda w: (w.union if t.kind == 'union' else w.struct)(t, value, rng, how), how != FINAL) if self.version == 2 \
            else body(t, value, rng, how)

    def sentinel(self, how):
        if how == MUTABLE and self.version == 1:
            self.align(4)
            self.number('H', 0x3f02)
            self.number('H', 0)

    def struct(self, t, value, rng, how):
        members = list(all_members(t))
        if how == MUTABLE and not self.plain:
            rng.shuffle(members)
        for number, name, mt, optional in members:
            if how == MUTABLE:
                if name in value:
                    self.parameter(number, mt, lambda w: w.value(mt, value[name], rng), rng, rng.random() < .3)
                if t.how and self.evolves and rng.random() < .1:
                    self.parameter(3000 + rng.randrange(1000), None, lambda w: w.number('i', 5), rng)
            elif optional and self.version == 2:
                self.number('?', name in value)
                if name in value:
                    self.value(mt, value[name], rng)
            elif optional:
                self.parameter(number, mt, lambda w: w.value(mt, value[name], rng) if name in value else None, rng)
            else:
                self.value(mt, value[name], rng)
        if t.how and how == APPENDABLE and self.version == 2 and self.evolves and rng.random() < .2:
            self.number('B', 99)  # a member of a later version
        self.sentinel(how)

    def union(self, t, value, rng, how):
        chosen, label, v = value
        index = next((i for i, c in enumerate(t.cases) if c[1] == chosen), None)
        if how != MUTABLE:
            self.value(t.on, label, rng)
            if chosen:
                self.value(t.cases[index][2], v, rng)
            return
        self.parameter(0, t.on, lambda w: w.value(t.on, label, rng), rng, True)
        if chosen:
            self.parameter(index + 1, t.cases[index][2], lambda w: w.value(t.cases[index][2], v, rng), rng)
        self.sentinel(how)


def starts_with_size(t, w):
    if t[0] == 'named':
        return t[1].kind in ('struct', 'union') and (t[1].how or w.default) != FINAL
    return t[0] in ('string', 'sequence') or (t[0] in ('array', 'map') and not is_primitive(t[1]))


def all_members(t):
    """(id, name, type, optional), those of the base first. Ids count on from the member before."""
    number, out = -1, []
    for t in ([t.base] if t.base else []) + [t]:
        for given, name, mt, optional in t.members:
            number = given if given is not None else number + 1
            out.append((number, name, mt, optional))
    return out


# ---- as IDL

def spell(t):
    """The words before and behind a member's name."""
    if t[0] == 'array':
        return spell(t[1])[0], ''.join('[%s]' % n for n in t[2])
    if t[0] == 'sequence':
        return 'sequence<%s%s>' % (spell(t[1])[0], ', %d' % t[2] if t[2] else ''), ''
    if t[0] == 'map':
        return 'map<%s, %s>' % (spell(t[1])[0], spell(t[2])[0]), ''
    return (t[1] if t[0] == 'primitive' else t[1].name if t[0] == 'named' else t[0]), ''


def idl_of(types, ros=False):
    """`ros`: one file of a definition of ROS, its main type first."""
    out = []
    if ros:
        return '=' * 80 + '\nIDL: pkg/msg/Top\nmodule pkg {\n' + idl_of(types[::-1]).replace('module m {', 'module msg {', 1) + '};\n'
    for t in types:
        how = '@%s ' % t.how if getattr(t, 'how', None) else ''
        if t.kind == 'alias':
            out.append('typedef %s %s%s;' % (spell(t.of)[0], t.name, spell(t.of)[1]))
        elif t.kind == 'enum':
            out.append('@bit_bound(%d) enum %s { %s };' % (t.bits, t.name, ', '.join(t.values)))
        elif t.kind == 'bitmask':
            out.append('@bit_bound(%d) bitmask %s { @position(0) %s_FLAG };' % (t.bits, t.name, t.name))
        elif t.kind == 'union':
            lines = []
            for labels, name, mt in t.cases:
                before, behind = spell(mt)
                lines += ['default:' if label is None else 'case %s:' % label for label in labels] + ['%s %s%s;' % (before, name, behind)]
            out.append('%sunion %s switch (%s) { %s };' % (how, t.name, spell(t.on)[0], ' '.join(lines)))
        else:
            lines = []
            for given, name, mt, optional in t.members:
                before, behind = spell(mt)
                lines.append('%s%s%s %s%s;' % ('@id(%d) ' % given if given is not None else '', '@optional ' if optional else '', before, name, behind))
            out.append('%sstruct %s%s { %s };' % (how, t.name, ' : ' + t.base.name if t.base else '', ' '.join(lines)))
    return 'module m {\n%s\n};\n' % '\n'.join(out)


# ---- random types and values

class Maker:
    """`how`: all types are annotated so, or 'any', or None. `plain`: only what Foxglove's packages read: no optional members, maps, bitmasks, bases,
    wide characters, lists of lists and lists of anything but numbers."""

    def __init__(self, seed, how, plain=False):
        self.rng, self.types, self.how, self.plain = random.Random(seed), [], how, plain

    def extensibility(self):
        return self.rng.choice((FINAL, APPENDABLE, MUTABLE)) if self.how == 'any' else self.how

    def primitive(self):
        return ('primitive', self.rng.choice([t for t in PRIMITIVES if not (self.plain and t == 'wchar')]))

    def type(self, depth):
        r = self.rng.random()
        if depth <= 0 or r < .35:
            return self.primitive()
        if r < .45:
            return (self.rng.choice(('string', 'string' if self.plain else 'wstring')),)
        if self.plain and r < .7:
            t = self.primitive()
            return ('sequence', t, self.rng.choice((None, 9))) if r < .6 else ('array', t, [self.rng.randint(1, 3) for _ in range(self.rng.randint(1, 2))])
        if r < .6:
            t = self.type(depth - 1) if self.rng.random() < .8 else ('sequence', self.scalar(depth), None)
            return ('sequence', self.alias(t) if t[0] == 'array' else t, self.rng.choice((None, 9)))
        if r < .7:
            return ('array', self.scalar(depth - 1), [self.rng.randint(1, 3) for _ in range(self.rng.randint(1, 3))])
        if r < .75 and not self.plain:
            return ('map', self.rng.choice((('string',), ('primitive', 'long'), ('primitive', 'unsigned long long'))), self.scalar(depth - 1))
        return self.named(depth)

    def alias(self, t):
        self.types.append(Named('alias', 'A%d' % len(self.types), of=t))
        return ('named', self.types[-1])

    def scalar(self, depth):
        while True:
            t = self.type(depth)
            if t[0] not in ('sequence', 'array', 'map'):
                return t

    def named(self, depth):
        r, n = self.rng.random(), len(self.types)
        if r < .15:
            t = Named('enum', 'E%d' % n, bits=32 if self.plain else self.rng.choice((8, 16, 32)), values=['E%d_%s' % (n, c) for c in 'ABC'])
        elif r < .25 and not self.plain:
            t = Named('bitmask', 'B%d' % n, bits=self.rng.choice((8, 16, 32, 64)))
        elif r < .5:
            t = self.union(depth)
        else:
            t = self.struct(depth)
        self.types.append(t)
        return ('named', t)

    def union(self, depth):
        on = ('primitive', self.rng.choice(('octet', 'short', 'long', 'long' if self.plain else 'unsigned long long')))
        cases = [([1, 2], 'a', self.type(depth - 1)), ([7], 'b', self.type(depth - 1))]
        if self.plain or self.rng.random() < .5:
            cases.append(([None], 'other', self.type(depth - 1)))
        return Named('union', 'U%d' % len(self.types), on=on, cases=cases, how=self.extensibility())

    def struct(self, depth, how='any'):
        base = None
        if how == 'any' and not self.plain and self.rng.random() < .15:
            base = self.struct(depth - 1, 'base')
            self.types.append(base)
        members, number = [], 100 * bool(base)
        for i in range(self.rng.randint(1, 6)):
            given = number = number + self.rng.randint(1, 20) if base or self.rng.random() < .3 else None
            number = number or i
            members.append((given, 'm%d%s' % (i, 'b' if how == 'base' else ''), self.type(depth - 1), not self.plain and self.rng.random() < .2))
        if not base and any(m[0] is not None for m in members):  # ids of both kinds might collide
            members = [(3 * i + 1, name, t, optional) for i, (_, name, t, optional) in enumerate(members)]
        own = self.extensibility() if how == 'any' else None
        if base and self.how is not None:
            base.how = own
        return Named('struct', 'S%d' % len(self.types), base=base, members=members, how=own)

    def value(self, t, how):
        """A value as it is written, and as JSON has it."""
        rng, kind = self.rng, t[0]
        if kind == 'primitive':
            code = PRIMITIVES[t[1]]
            if code == '?':
                v = rng.random() < .5
            elif code in 'fd':
                v = rng.randrange(-1000, 1000) / 8
            else:
                bits = 8 * SIZES[code]
                v = rng.getrandbits(bits) - (1 << bits - 1 if code.islower() else 0)
            return v, str(v) if type(v) is int and abs(v) > 1 << 53 else v
        if kind in ('string', 'wstring'):
            v = ''.join(rng.choice('abc\u00e4\u4e2d\U0001f600') for _ in range(rng.randrange(5)))
            return v, v
        if kind == 'sequence':
            return self.list(t[1], rng.randrange(4), how)
        if kind == 'array':
            return self.array(t[1], t[2], how)
        if kind == 'map':
            pairs = {}
            for _ in range(rng.randrange(3)):
                k = self.value(t[1], how)[0]
                pairs[k] = self.value(t[2], how)
            return [(k, v[0]) for k, v in pairs.items()], {str(k): v[1] for k, v in pairs.items()}
        t = t[1]
        if t.kind == 'alias':
            return self.value(t.of, how)
        if t.kind == 'enum':
            v = rng.randrange(3)
            return v, v
        if t.kind == 'bitmask':
            v = rng.getrandbits(t.bits)
            return v, str(v) if v > 1 << 53 else v
        return (self.union_value if t.kind == 'union' else self.struct_value)(t, how)

    def list(self, t, n, how):
        values = [self.value(t, how) for _ in range(n)]
        if t[0] == 'primitive' and PRIMITIVES[t[1]] == 'B' or t[0] == 'named' and t[1].kind in ('enum', 'bitmask') and t[1].bits == 8:
            return [v[0] for v in values], {'$base64': base64.b64encode(bytes(v[0] for v in values)).decode()}
        return [v[0] for v in values], [v[1] for v in values]

    def array(self, t, dims, how):
        if len(dims) == 1:
            return self.list(t, dims[0], how)
        rows = [self.array(t, dims[1:], how) for _ in range(dims[0])]
        return [r[0] for r in rows], [r[1] for r in rows]

    def struct_value(self, t, how):
        raw, plain = {}, {}
        lacks = t.how == MUTABLE and how == MUTABLE and not self.plain
        for _, name, mt, optional in all_members(t):
            if not (optional and self.rng.random() < .5) and not (lacks and self.rng.random() < .1):
                raw[name], plain[name] = self.value(mt, how)
        return raw, plain

    def union_value(self, t, how):
        label = self.rng.choice((1, 2, 7, 9))
        for labels, name, mt in t.cases:
            if label in labels or None in labels:
                v, plain = self.value(mt, how)
                return (name, label, v), {name: plain}
        return (None, label, None), {}


def random_top(seed, annotation, plain=False):
    """Types, and the one that payloads have: with the annotation, or all without. Others are annotated at random, unless `plain`."""
    maker = Maker(seed, annotation and (annotation if plain else 'any'), plain)
    inner = maker.struct(3)
    inner.how = annotation
    if inner.base:
        inner.base.how = annotation
    members = [(None, 'head', ('primitive', 'octet'), False), (None, 'rest', ('named', inner), False)]
    maker.types += [inner, Named('struct', 'Top', base=None, members=members, how=annotation)]
    return maker


def message_of(maker, top, version, how, big):
    """A payload and the value it has."""
    raw, plain = maker.value(('named', top), how)
    default = FINAL if top.how and version == 1 else how  # how nested types without an annotation are
    w = Writer(version, big, default, maker.plain, how != FINAL and HEADS[version, how] > 0 and not maker.plain)
    w.named(top, raw, maker.rng)
    head = HEADS[version, how]
    head = LATER_HEADS[head] if head in LATER_HEADS and maker.rng.random() < .3 else head
    padding = bytes(-len(w.out) % 4) if maker.rng.random() < .5 else b''
    return bytes((0, head + (not big), 0, len(padding))) + bytes(w.out) + padding, plain


# ---- MCAP without chunks and index

def _text(s):
    data = s if isinstance(s, bytes) else s.encode()
    return struct.pack('<I', len(data)) + data


def mcap(channels):
    """channels: (topic, schema name, schema encoding, schema, [(time, payload)])."""
    def record(op, body):
        return struct.pack('<BQ', op, len(body)) + body
    out = [MAGIC, record(1, _text('') + _text('tests'))]
    for i, (topic, name, encoding, schema, messages) in enumerate(channels):
        out.append(record(3, struct.pack('<H', i + 1) + _text(name) + _text(encoding) + _text(schema)))
        out.append(record(4, struct.pack('<HH', i, i + 1) + _text(topic) + _text('cdr') + struct.pack('<I', 0)))
        out += [record(5, struct.pack('<HIQQ', i, n, time, time) + payload) for n, (time, payload) in enumerate(messages)]
    return b''.join(out + [record(15, bytes(4)), record(2, bytes(20)), MAGIC])
