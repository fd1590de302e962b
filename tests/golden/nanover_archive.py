"""NanoVer recordings and ZIP archives in every shape that make_nanover.py needs. Shares no code with the reader."""
import struct
import zlib

import msgpack

MESSAGES, INDEX = "messages.msgpack", "index.msgpack"
DATE_1980 = 0x0021
WIDE = 0xFFFFFFFF


def pack(value):
    return msgpack.packb(value, use_bin_type=True)


def floats(*values):
    return struct.pack("<%df" % len(values), *values)


# --- a recording ---------------------------------------------------------------------------------------------------


class Recording:
    """Messages, their index entries, and what a right reader makes of them."""

    def __init__(self):
        self.messages = b""
        self.entries = []  # packed
        self.facts = []  # (time in ns, place in the file, channel, payload)

    def entry(self, value):
        self.entries.append(value if isinstance(value, bytes) else pack(value))

    def fact(self, channel, time_ns, payload):
        self.facts.append((time_ns, len(self.facts), channel, payload))

    def add(self, message, time, channel=None, metadata=None, offset=0, length=0, at=None, time_ns=None, kept=True):
        """`message` packed or not; metadata replaces the default one; offset and length are added to the true ones."""
        raw = message if isinstance(message, bytes) else pack(message)
        types = list(message) if isinstance(message, dict) else []
        if metadata is None:
            metadata = {"types": types}
            if isinstance(message, dict) and isinstance(message.get("frame"), dict) and "frame.index" in message["frame"]:
                metadata["frame.index"] = message["frame"]["frame.index"]
            metadata["timestamp"] = time
        self.entry({"offset": len(self.messages) + offset, "length": len(raw) + length, "metadata": metadata})
        self.messages += raw
        if kept:
            self.fact(channel or "+".join(types) or "(none)", time * 1000 if time_ns is None else time_ns, raw)
        return raw

    def index(self):
        return msgpack.Packer().pack_array_header(len(self.entries)) + b"".join(self.entries)


def reset(**more):
    """The first frame of a run, of one particle."""
    return {"frame": {"frame.index": 0, "particle.count": 1, "particle.positions": floats(0, 0, 0), **more}}


def frame(index, x=1.0, **more):
    return {"frame": {"frame.index": index, "particle.positions": floats(x, x, x), **more}}


def state(updates, removals=()):
    return {"state": {"updates": updates, "removals": list(removals)}}


def default_recording():
    """Two runs, two states and a message of both types: nothing odd."""
    r = Recording()
    r.add(reset(**{"system.simulation.name": "one"}), 9)
    r.add(state({"scene": [0.0, 1.0], "user": "ann"}), 1000)
    r.add(frame(1), 33000)
    r.add(state({}, ["user"]), 40000)
    r.add({"frame": reset()["frame"], "state": {"updates": {"user": "bob"}, "removals": []}}, 66000)
    r.add(frame(1, 2.0, **{"energy.potential": -1.5}), 99000)
    return r


# --- an archive ----------------------------------------------------------------------------------------------------


class Member:
    def __init__(self, name, data, zip64=False, deflated=False, descriptor=False, crc=None, unfinished=False, method=None,
                 encrypted=False):
        self.name, self.data, self.zip64, self.descriptor = name.encode(), data, zip64, descriptor
        self.method = method or (8 if deflated else 0)
        self.flags = (8 if descriptor else 0) | (1 if encrypted else 0)
        self.unfinished = unfinished  # the recorder never came back to patch its header
        self.crc = zlib.crc32(data) if crc is None else crc
        squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
        self.stored = squeeze.compress(data) + squeeze.flush() if deflated else data

    def local(self):
        crc, stored, raw = self.crc, len(self.stored), len(self.data)
        if self.descriptor or self.unfinished:
            crc = stored = raw = 0
        extra = struct.pack("<HHQQ", 1, 16, raw, stored) if self.zip64 else b""
        if self.zip64 and not self.unfinished:
            stored = raw = WIDE
        needed = 45 if self.zip64 and not self.unfinished else 20
        return struct.pack("<IHHHHHIIIHH", 0x04034B50, needed, self.flags, self.method, 0, DATE_1980, crc, stored, raw,
                           len(self.name), len(extra)) + self.name + extra

    def bytes(self):
        tail = struct.pack("<IIII", 0x08074B50, self.crc, len(self.stored), len(self.data)) if self.descriptor else b""
        return self.local() + self.stored + tail

    def central(self, offset, wide):
        needed = 45 if self.zip64 or wide else 20
        stored, raw, extra = len(self.stored), len(self.data), b""
        if wide and self.zip64:
            stored, raw, extra = WIDE, WIDE, struct.pack("<HHQQ", 1, 16, len(self.data), len(self.stored))
        elif wide:
            offset, extra = WIDE, struct.pack("<HHQ", 1, 8, offset)
        return struct.pack("<IBBHHHHHIIIHHHHHII", 0x02014B50, needed, 3, needed, self.flags, self.method, 0, DATE_1980,
                           self.crc, stored, raw, len(self.name), len(extra), 0, 0, 0, 0x01800000, offset) + self.name + extra


def archive(members, base=0, comment=b"", wide=False):
    """`base` is added to every offset in the directory; `wide` puts what may be into ZIP64 records, as over 2 GiB."""
    out, directory = b"", b""
    for member in members:
        directory += member.central(base + len(out), wide)
        out += member.bytes()
    at, n = base + len(out), len(members)
    out += directory
    if wide:
        out += struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, n, n, len(directory), at)
        out += struct.pack("<IIQI", 0x07064B50, 0, at + len(directory), 1)
    return out + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, n, n, len(directory), at, len(comment)) + comment


def official(r, index=None):
    """Both members as the official writer leaves them."""
    return [Member(MESSAGES, r.messages, zip64=True), Member(INDEX, r.index() if index is None else index)]


def plain(r, **options):
    return archive(official(r), **options), r.facts
