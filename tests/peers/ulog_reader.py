"""A reader of PX4 ULog files from the specification (docs.px4.io, "ULog File Format") alone: it shares nothing with Reel's, and is not fast. It follows no damage: what
it cannot read raises ValueError, but a message that the end of the file, or of the data before appended ones, cuts off is discarded, as the specification wants."""
import struct

MAGIC = b'ULog\x01\x12\x35'
BASIC = {'int8_t': 'b', 'uint8_t': 'B', 'int16_t': 'h', 'uint16_t': 'H', 'int32_t': 'i', 'uint32_t': 'I', 'int64_t': 'q', 'uint64_t': 'Q', 'float': 'f', 'double': 'd', 'bool': '?',
         'char': 'c'}
EARLIEST_UTC = 1234567890_000000  # earlier times of GPS receivers are wrong; PX4 says so, not the specification


def text(raw):
    return raw.split(b'\0')[0].decode('utf-8', 'replace')


class Field:
    def __init__(self, line):
        kind, self.name = line.split(' ')
        self.kind, _, count = kind.partition('[')
        self.count = int(count.rstrip(']')) if count else None
        self.padding = self.name.startswith('_padding')


class Data:
    def __init__(self, topic, time, payload, value):
        self.topic, self.time, self.payload, self.value = topic, time, payload, value  # time: µs since boot


class Log:
    def __init__(self, data):
        if data[:7] != MAGIC or len(data) < 16:
            raise ValueError('not a ULog file')
        self.version, (self.start,) = data[7], struct.unpack('<Q', data[8:16])
        self.formats, self.infos, self.multi, self.parameters, self.defaults = {}, {}, {}, {}, {1: {}, 2: {}}
        self.topics, self.ids = [], {}  # topics in the order of their subscriptions
        self.messages, self.texts, self.changes, self.dropouts = [], [], [], []
        self.utc = None  # what is added to times to have µs since 1970
        self.last, in_data = 0, False
        for at, kind, body in self.split(data):
            in_data = in_data or kind in 'ALC'
            self.take(kind, body, in_data)

    def split(self, data):
        at, ends = 16, []
        if data[18:19] == b'B' and len(data) >= 59:
            flags = data[19:59]
            if flags[8] & ~1 or any(flags[9:16]):
                raise ValueError('incompatible flags')
            if flags[8] & 1:
                ends = [o for o in struct.unpack('<3Q', flags[16:40]) if 0 < o < len(data)]
        for end in ends + [len(data)]:
            while at + 3 <= end:
                size, kind = struct.unpack_from('<Hc', data, at)
                if at + 3 + size > end:
                    break
                yield at, kind.decode('latin-1'), data[at + 3:at + 3 + size]
                at += 3 + size
            at = end

    # ---- formats

    def size(self, field):
        one = struct.calcsize('<' + BASIC[field.kind]) if field.kind in BASIC else sum(self.size(f) for f in self.formats[field.kind])
        return one * (field.count or 1)

    def value(self, fields, raw):
        out, at = {}, 0
        for f in fields:
            piece = raw[at:at + self.size(f)]
            at += self.size(f)
            if f.padding:
                continue
            if f.kind == 'char':
                out[f.name] = text(piece)
            elif f.kind in BASIC:
                values = list(struct.unpack('<%d%s' % (f.count or 1, BASIC[f.kind]), piece))
                out[f.name] = values if f.count else values[0]
            else:
                one = self.size(f) // (f.count or 1)
                values = [self.value(self.formats[f.kind], piece[i * one:(i + 1) * one]) for i in range(f.count or 1)]
                out[f.name] = values if f.count else values[0]
        return out

    def logged(self, name):
        """Its fields without the padding at the end, which need not be logged."""
        fields = list(self.formats[name])
        while fields and fields[-1].padding:
            fields.pop()
        return fields

    # ---- messages

    @staticmethod
    def pair(body):
        key = body[1:1 + body[0]].decode()
        kind, name = key.split(' ')
        raw = body[1 + body[0]:]
        base = kind.partition('[')[0]
        if base == 'char':
            return name, text(raw)
        if base == 'uint8_t' and len(raw) > 1:
            return name, raw
        values = struct.unpack('<%d%s' % (len(raw) // struct.calcsize(BASIC[base]), BASIC[base]), raw)
        return name, values[0] if '[' not in kind else values

    def take(self, kind, body, in_data):
        if kind == 'F':
            name, _, fields = body.decode().partition(':')
            self.formats.setdefault(name, [Field(f) for f in fields.split(';') if f])
        elif kind == 'I':
            name, value = self.pair(body)
            self.infos[name] = value
        elif kind == 'M':
            name, value = self.pair(body[1:])
            lists = self.multi.setdefault(name, [])
            if body[0] and lists:
                lists[-1].append(value)
            else:
                lists.append([value])
        elif kind == 'P':
            name, value = self.pair(body)
            if in_data:
                self.changes.append((self.last, name, value))
            else:
                self.parameters[name] = value
        elif kind == 'Q':
            name, value = self.pair(body[1:])
            for bit in (1, 2):
                if body[0] & bit:
                    self.defaults[bit][name] = value
        elif kind == 'A':
            multi, ident = struct.unpack('<BH', body[:3])
            topic = (body[3:].decode(), multi)
            if topic not in self.topics:
                self.topics.append(topic)
            self.ids[ident] = topic
        elif kind == 'D':
            self.take_data(body)
        elif kind == 'L':
            level, time = struct.unpack('<BQ', body[:9])
            self.texts.append((time, level - 48, None, body[9:]))
            self.last = time
        elif kind == 'C':
            level, tag, time = struct.unpack('<BHQ', body[:11])
            self.texts.append((time, level - 48, tag, body[11:]))
            self.last = time
        elif kind == 'O':
            self.dropouts.append((self.last, struct.unpack('<H', body)[0]))

    def take_data(self, body):
        topic = self.ids.get(struct.unpack('<H', body[:2])[0])
        if not topic:
            raise ValueError('no subscription')
        fields = self.logged(topic[0])
        size = sum(self.size(f) for f in fields)
        if len(body) - 2 < size:
            raise ValueError('a message is too short')
        payload = body[2:2 + size]
        value = self.value(fields, payload)
        self.last = value['timestamp']
        self.messages.append(Data(topic, self.last, payload, value))
        utc = value.get('time_utc_usec', 0)
        if self.utc is None and utc >= EARLIEST_UTC:
            self.utc = utc - self.last


def topic_name(topic):
    return '/' + topic[0] + ('/%d' % topic[1] if topic[1] else '')
