#!/usr/bin/python3
"""Makes the inputs of golden/nanover, one quirk each (Debian's python3 with python3-msgpack).

    make_nanover.py FOLDER           writes FOLDER/CASE/input.nanover.zip
    make_nanover.py --check FOLDER   compares with the committed inputs, and expected.txt with what a correct reader finds

Every case states its messages, their channels and times: --check compares them with the counts, times and
SHA-256 sums of expected.txt, so that these do not depend on our reader alone. README.md describes each case.
"""
import hashlib
import os
import re
import struct
import sys

import msgpack

from nanover_archive import INDEX, MESSAGES, Member, Recording, archive, default_recording, floats, frame, official, pack, plain, reset, state

# --- the cases: each returns the file and what is in it --------------------------------------------------------------


def official_layout():
    return plain(default_recording())


def empty():
    return plain(Recording())


def kitchen_sink():
    text, raw = b"sink", b"\x00\xff"
    values = [b"\xc0", b"\xc2", b"\xc3",
              b"\x07", b"\xe0", b"\xcc\xff", b"\xcd\xff\xff", b"\xce\xff\xff\xff\xff", b"\xcf" + b"\xff" * 8,
              b"\xd0\x80", b"\xd1\x80\x00", b"\xd2\x80\x00\x00\x00", b"\xd3\x80" + b"\0" * 7,
              b"\xca\x3f\xc0\0\0", b"\xcb\x3f\xf8" + b"\0" * 6,
              b"\xa4" + text, b"\xd9\x04" + text, b"\xda\0\x04" + text, b"\xdb\0\0\0\x04" + text,
              b"\xc4\x02" + raw, b"\xc5\0\x02" + raw, b"\xc6\0\0\0\x02" + raw,
              b"\x90", b"\x91\xc0", b"\xdc\0\x01\xc0", b"\xdd\0\0\0\x01\xc0",
              b"\x80", b"\x81\xa0\xc0", b"\xde\0\x01\xa1k\xc0", b"\xdf\0\0\0\x01\xa1k\xc0",
              b"\xd4\x05\x01", b"\xd5\x05" + raw, b"\xd6\xff\0\0\0\x01", b"\xd7\x05" + b"e" * 8, b"\xd8\x05" + b"e" * 16,
              b"\xc7\x03\x05ext", b"\xc8\0\x03\x05ext", b"\xc9\0\0\0\x03\x05ext"]
    r = Recording()
    message = b"\x81\xa4sink\xdc" + struct.pack(">H", len(values)) + b"".join(values)
    r.add(message, 1, "sink", {"types": ["sink"], "timestamp": 1})
    r.add({"sink": "\u00e9\U0001f9ea"}, 2)
    return plain(r)


def float_timestamps():
    r = Recording()
    for i in range(3):
        r.add(reset() if i == 0 else frame(i), 0, time_ns=500000 * i + (i == 2),
              metadata={"types": ["frame"], "frame.index": i, "timestamp": 500.0 * i + (0.001 if i == 2 else 0)})
    return plain(r)


def no_frame_index():
    r = Recording()
    for i in range(3):
        r.add({"frame": {"particle.count": 1, "particle.positions": floats(i, i, i)}}, 100 * (i + 1))
    return plain(r)


def first_frame_no_reset():
    r = Recording()
    r.add({"frame": {"frame.index": 2019, "particle.count": 1, "particle.positions": floats(0, 0, 0)}}, 100)
    r.add(frame(2020), 200)
    return plain(r)


def frame_and_state():
    r = Recording()
    r.add({"frame": reset()["frame"], "state": {"updates": {"a": 1}, "removals": []}}, 10)
    r.add({"state": {"updates": {"a": 2}, "removals": []}, "frame": frame(1)["frame"]}, 20)
    r.add(frame(2), 30)
    r.add(state({"a": 3}), 40)
    return plain(r)


def unknown_type():
    r = Recording()
    r.add(reset(), 10)
    r.add({"puppeteer/v2": ["any", 1]}, 20)
    r.add({"puppeteer/v2": {}, "frame": frame(1)["frame"]}, 30)
    return plain(r)


def empty_message():
    r = Recording()
    r.add({}, 10)
    r.add({}, 20)
    return plain(r)


def command():
    r = Recording()
    request = {"name": "playback/reset", "arguments": {}, "id": 1}
    r.add({"command": {"request": request}}, 10)
    r.add({"command": {"request": request, "response": None}}, 20)
    r.add({"command": [{"request": request, "exception": "no"}]}, 30)  # an array, before 2025-11
    return plain(r)


def types_missing():
    r = Recording()
    r.add(reset(), 10, metadata={"frame.index": 0, "timestamp": 10})
    r.add(state({"a": 1}), 20, metadata={"timestamp": 20})
    return plain(r)


def types_wrong():
    r = Recording()
    r.add(reset(), 10, metadata={"types": ["state"], "frame.index": 0, "timestamp": 10})
    r.add(state({"a": 1}), 20, metadata={"types": [], "timestamp": 20})
    r.add(frame(1), 30, metadata={"types": ["frame"], "frame.index": 7, "timestamp": 30})
    return plain(r)


def metadata_own_keys():
    r = Recording()
    r.add(reset(), 10, metadata={"types": ["frame"], "frame.index": 0, "timestamp": 10, "recovered": True, "note": {"by": ["ann"]}})
    return plain(r)


def entry_own_keys():
    r = Recording()
    raw = pack(reset())
    r.messages += raw
    r.entry({"offset": 0, "length": len(raw), "metadata": {"types": ["frame"], "frame.index": 0, "timestamp": 10}, "checksum": 7})
    r.fact("frame", 10000, raw)
    return plain(r)


def metadata_missing():
    r = Recording()
    raw = pack(reset())
    r.messages += raw
    r.entry({"offset": 0, "length": len(raw)})
    r.fact("frame", 0, raw)
    return plain(r)


def extra_members():
    r = default_recording()
    members = official(r) + [Member("metadata.json", b'{"author": "ann"}'), Member("notes/", b""),
                             Member("notes/day 1.txt", b"calm, calm, calm, calm", deflated=True)]
    return archive(members), r.facts


def deflated():
    r = default_recording()
    return archive([Member(MESSAGES, r.messages, deflated=True), Member(INDEX, r.index(), deflated=True)]), r.facts


def data_descriptors():
    r = default_recording()
    return archive([Member(MESSAGES, r.messages, descriptor=True), Member(INDEX, r.index(), descriptor=True)]), r.facts


def encrypted():
    r = default_recording()
    return archive([Member(MESSAGES, r.messages, encrypted=True), Member(INDEX, r.index())]), None


def unknown_compression():
    r = default_recording()
    return archive([Member(MESSAGES, r.messages, method=98), Member(INDEX, r.index())]), None


def duplicate_members():
    """An archive that was appended to: of two members with one name the later counts."""
    r = default_recording()
    old = Recording()
    old.add(reset(), 77)
    return archive(official(old) + official(r)), r.facts


def index_first():
    r = default_recording()
    return archive(official(r)[::-1]), r.facts


def archive_comment():
    return plain(default_recording(), comment=b"recorded by hand")


def archive_comment_magic():
    """The comment holds the magic of an end record."""
    return plain(default_recording(), comment=b"recorded by hand, PK\x05\x06 and all that comes with it")


def prefix_bytes():
    file, facts = plain(default_recording())
    return b"#!/bin/sh\nexit 1\n" + file, facts


def prefix_bytes_counted():
    prefix = b"#!/bin/sh\nexit 1\n"
    file, facts = plain(default_recording(), base=len(prefix))
    return prefix + file, facts


def trailing_bytes():
    file, facts = plain(default_recording())
    return file + b"\0" * 100, facts


def zip64_directory():
    return plain(default_recording(), wide=True)


def wrong_crc():
    r = default_recording()
    return archive([Member(MESSAGES, r.messages, zip64=True, crc=0xBADC0DE), Member(INDEX, r.index())]), r.facts


def offsets_outside():
    r = Recording()
    raw = r.add(reset(), 10)
    for offset, length in ((1000000, len(raw)), (2**64 - 1, 2), (1, len(raw)), (-1, 4)):
        r.entry({"offset": offset, "length": length, "metadata": {"types": ["frame"], "timestamp": 20}})
    r.add(frame(1), 30)
    return plain(r)


def length_short():
    r = Recording()
    r.add(reset(), 10)
    r.add(frame(1), 20, length=-1, kept=False)
    r.add(frame(2), 30)
    return plain(r)


def length_long():
    r = Recording()
    r.add(reset(), 10)
    r.add(frame(1), 20, length=1, kept=False)
    r.add(frame(2), 30)
    return plain(r)


def overlapping_entries():
    r = Recording()
    raw = r.add(reset(), 10)
    r.entry({"offset": 0, "length": len(raw), "metadata": {"types": ["frame"], "frame.index": 0, "timestamp": 20}})
    r.fact("frame", 20000, raw)
    return plain(r)


def gaps_and_disorder():
    r = Recording()
    parts = [pack(reset()), pack(frame(1)), pack(frame(2))]
    offsets = [100 * (3 - i) for i in range(3)]
    messages = bytearray(b"\xc1" * 400)
    for i, raw in enumerate(parts):
        messages[offsets[i]:offsets[i] + len(raw)] = raw
        r.entry({"offset": offsets[i], "length": len(raw), "metadata": {"types": ["frame"], "frame.index": i, "timestamp": 10 * i}})
        r.fact("frame", 10000 * i, raw)
    r.messages = bytes(messages)
    return plain(r)


def timestamps_decreasing():
    r = Recording()
    r.add(reset(), 300)
    r.add(frame(1), 100)
    r.add(frame(2), 200)
    return plain(r)


def timestamps_equal():
    r = Recording()
    r.add(reset(), 100)
    r.add(state({"a": 1}), 100)
    r.add(frame(1), 100)
    return plain(r)


def timestamp_nil():
    r = Recording()
    r.add(reset(), 100)
    r.add(frame(1), 0, metadata={"types": ["frame"], "frame.index": 1, "timestamp": None}, time_ns=100000)
    r.add(frame(2), 0, metadata={"types": ["frame"], "frame.index": 2, "timestamp": float("nan")}, time_ns=100000)
    r.add(frame(3), 300)
    return plain(r)


def timestamp_over_32_bits():
    r = Recording()
    r.add(reset(), 2**32)
    r.add(frame(1), 2**32 + 33000)
    return plain(r)


def key_integer():
    r = Recording()
    r.add({"state": {"updates": {"a": {1: "one"}}, "removals": []}}, 10)
    r.add({"frame": {"frame.index": 0, 5: 6}}, 20)
    return plain(r)


def type_not_text():
    r = Recording()
    r.add(reset(), 10)
    r.add(pack({5: {}}), 20, metadata={"types": [], "timestamp": 20}, kept=False)
    r.add(frame(1), 30)
    return plain(r)


def message_no_map():
    r = Recording()
    r.add(reset(), 10)
    r.add(pack(["frame"]), 20, metadata={"types": ["frame"], "timestamp": 20}, kept=False)
    r.add(frame(1), 30)
    return plain(r)


def positions_no_rows():
    r = Recording()
    r.add(reset(), 10)
    r.add({"frame": {"frame.index": 1, "particle.positions": floats(1, 1, 1) + b"\0"}}, 20)
    return plain(r)


def packed_keys_as_lists():
    r = Recording()
    r.add({"frame": {"frame.index": 0, "particle.count": 2.0, "particle.positions": floats(0, 0, 0, 1, 1, 1), "bond.pairs": [0, 1],
                     "bond.orders": [1.0], "forces.user.index": b"", "forces.user.sparse": []}}, 10)
    return plain(r)


def nested_too_deeply():
    def nest(levels):
        return b"\x81\xa4nest" + b"\x91" * (levels - 1) + b"\xc0"

    r = Recording()
    r.add(nest(128), 10, "nest", {"types": ["nest"], "timestamp": 10})
    r.add(nest(129), 20, metadata={"types": ["nest"], "timestamp": 20}, kept=False)
    r.add(nest(5000), 30, metadata={"types": ["nest"], "timestamp": 30}, kept=False)
    r.add({"nest": None}, 40)
    return plain(r)


def crashed_recorder():
    r = Recording()
    for i in range(4):
        r.add({"frame": {"frame.index": i, "particle.positions": floats(i, i, i), "server.timestamp": 100 + 0.25 * i}}, 0, kept=i < 3,
              time_ns=250000000 * i)
        if i < 3:
            r.add(state({"n": i}), 0, time_ns=250000000 * i + 125000000)
    r.facts[-1] = (500000000 + 1000000000 // 30,) + r.facts[-1][1:]  # no frame came after it
    return Member(MESSAGES, r.messages, zip64=True, unfinished=True).bytes()[:-5], r.facts


def cut_in_index():
    """An upload that broke off: all messages are there, and a part of the index member."""
    r = default_recording()
    members = official(r)
    whole = members[0].bytes() + members[1].bytes()
    keep = 9 + 30 + len(INDEX)  # reaches into the first entry
    r.facts = recovered(r.facts, 0)
    return whole[:len(members[0].bytes()) + keep], r.facts


def recovered(facts, known):
    """Facts of messages from the known-th on when their times are gone: frames 1/30 s apart, others between."""
    out, last, step, waiting = list(facts[:known]), facts[known - 1][0] if known else 0, 1000000000 // 30, []
    started = known > 0
    for fact in facts[known:]:
        if "frame" not in fact[2]:
            waiting.append(fact)
            started = True
            continue
        now = last + (step if started else 0)
        started = True
        for i, w in enumerate(waiting):
            out.append((last + (now - last) // (len(waiting) + 1) * (i + 1),) + w[1:])
        out.append((now,) + fact[1:])
        waiting, last = [], now
    return out + [(last + step * (i + 1),) + w[1:] for i, w in enumerate(waiting)]


def index_truncated():
    """The index is three entries long but says six."""
    r = default_recording()
    index = msgpack.Packer().pack_array_header(6) + b"".join(r.entries[:3]) + r.entries[3][:5]
    r.facts = recovered(r.facts, 3)
    return archive(official(r, index)), r.facts


def index_missing():
    r = default_recording()
    r.facts = recovered(r.facts, 0)
    return archive(official(r)[:1]), r.facts


def messages_missing():
    return archive(official(default_recording())[1:]), None


def sub_directory():
    r = default_recording()
    return archive([Member("rec/" + MESSAGES, r.messages), Member("rec/" + INDEX, r.index())]), None


def state_nil():
    r = Recording()
    r.add(state({"user": None, "": 1}), 10)
    r.add({"state": {"updates": {"both": 1}, "removals": ["both", "absent"]}}, 20)
    r.add({"state": {"removals": ["user"]}}, 30)
    r.add({"state": {}}, 40)
    return plain(r)


def not_finite():
    r = Recording()
    r.add(reset(**{"energy.potential": float("nan"), "system.temperature": float("-inf")}), 10)
    r.add(state({"interaction.a": {"max_force": float("inf")}}), 20)
    return plain(r)


def text_not_utf8():
    r = Recording()
    raw = b"\x81\xa5state\x82\xa7updates\x81\xa4user\xa3a\xff\xfe\xa8removals\x90"
    r.add(raw, 10, "state", {"types": ["state"], "timestamp": 10})
    return plain(r)


def indices_out_of_range():
    r = Recording()
    r.add({"frame": {"frame.index": 0, "particle.count": 2, "residue.count": 1, "particle.positions": floats(0, 0, 0, 1, 1, 1),
                     "bond.pairs": struct.pack("<2I", 0, 2), "particle.residues": struct.pack("<2I", 0, 1)}}, 10)
    r.add(frame(1), 20)  # one particle where there are two
    return plain(r)


CASES = [official_layout, empty, encrypted, unknown_compression, duplicate_members, kitchen_sink, float_timestamps, no_frame_index,
         first_frame_no_reset, frame_and_state, unknown_type, empty_message, command, types_missing, types_wrong, metadata_own_keys,
         entry_own_keys, metadata_missing, extra_members, deflated, data_descriptors, index_first, archive_comment, archive_comment_magic,
         prefix_bytes, prefix_bytes_counted, trailing_bytes, zip64_directory, wrong_crc, offsets_outside, length_short, length_long,
         overlapping_entries, gaps_and_disorder, timestamps_decreasing, timestamps_equal, timestamp_nil, timestamp_over_32_bits,
         key_integer, type_not_text, message_no_map, positions_no_rows, packed_keys_as_lists, nested_too_deeply, crashed_recorder,
         cut_in_index, index_truncated, index_missing, messages_missing, sub_directory, state_nil, not_finite, text_not_utf8,
         indices_out_of_range]


# --- writing and checking ------------------------------------------------------------------------------------------


def seconds(ns):
    return "%d.%09d" % divmod(ns, 1000000000)


def expected_lines(facts):
    """Per channel: count, first, last and sum, as golden.c prints them."""
    lines = {}
    for channel in {f[2] for f in facts}:
        own = sorted(f for f in facts if f[2] == channel)
        payloads = b"".join(f[3] for f in own)
        lines[channel] = ["  count: %d, %d bytes" % (len(own), len(payloads)), "  first: " + seconds(own[0][0]),
                          "  last: " + seconds(own[-1][0]), "  payloads: sha256 " + hashlib.sha256(payloads).hexdigest()]
    return lines


def check_expected(text, facts):
    if facts is None:
        return [] if "refused by nanover: " in text else ["it should be refused"]
    got = {}
    for part in re.split(r"^channel ", text, flags=re.M)[1:]:
        lines = part.split("\n")
        got[lines[1][len("  name: "):]] = [line for line in lines if re.match("  (count|first|last|payloads): ", line)]
    want = expected_lines(facts)
    return ["channel %s: must be %s, expected.txt has %s" % (c, want.get(c), got.get(c))
            for c in sorted(set(want) | set(got)) if want.get(c) != got.get(c)]


def main():
    check = len(sys.argv) == 3 and sys.argv[1] == "--check"
    if len(sys.argv) != 2 and not check:
        sys.exit(__doc__)
    bad = []
    for case in CASES:
        folder = os.path.join(sys.argv[-1], case.__name__)
        path = os.path.join(folder, "input.nanover.zip")
        file, facts = case()
        if not check:
            os.makedirs(folder, exist_ok=True)
            with open(path, "wb") as out:
                out.write(file)
            continue
        with open(path, "rb") as there:
            if there.read() != file:
                bad.append("%s: the input is not what is made now" % case.__name__)
        with open(os.path.join(folder, "expected.txt"), encoding="utf-8") as there:
            bad += ["%s: %s" % (case.__name__, why) for why in check_expected(there.read(), facts)]
    print("\n".join(bad), end="\n" if bad else "")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
