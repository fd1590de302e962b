#!/usr/bin/env python3
"""Makes the golden inputs of NanoVer's older form (README.md describes each case). Shares no code with the library.

    make_nanover_legacy.py FOLDER            writes FOLDER/CASE/input.traj or input.state
    make_nanover_legacy.py --check FOLDER    compares with the committed inputs, and every expected.txt with the facts of its case
"""
import hashlib
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import legacy  # noqa: E402


def frames(n=4, first=0):
    out = []
    for i in range(n):
        values, arrays = {"energy.potential": -float(i)}, {"particle.positions": [float(i), 0.0, 1.0]}
        if i == 0:
            values["particle.count"] = 1
            arrays.update({"particle.elements": [6], "particle.names": ["C"]})
        out.append((1000 + 33333 * i, legacy.frame(first + i, values, arrays)))
    return out


def states():
    return [(500, legacy.state({"scene": [0.0, 1.0], "avatar": {"name": "ada", "on": True}})), (40000, legacy.state({"avatar": None, "cursor": 3}))]


def case(suffix, data, kept):
    """kept: the records that a correct reader returns; None: refused."""
    return suffix, data, kept


def usual_traj():
    return case("traj", legacy.file_of(frames()), frames())


def usual_state():
    return case("state", legacy.file_of(states()), states())


def header_only():
    return case("traj", legacy.file_of([]), [])


def first_frame_no_reset():
    return case("traj", legacy.file_of(frames(first=2019)), frames(first=2019))


def empty_messages():
    rows = [(10, b"")] + frames()
    return case("traj", legacy.file_of(rows), rows)


def named_otherwise():
    return case("traj", legacy.file_of(states()), states())


def cut_in_message():
    return case("traj", legacy.file_of(frames())[:-1], frames()[:-1])


def cut_in_header():
    return case("state", legacy.file_of(states())[:-len(states()[-1][1]) - 3], states()[:-1])


def wrong_size():
    data, rows = bytearray(legacy.file_of(frames(6))), frames(6)
    at = 16 + sum(24 + len(m) for _, m in rows[:2])
    struct.pack_into("<Q", data, at + 16, 1 << 62)
    return case("traj", bytes(data), rows[:2] + rows[3:])


def wrong_message():
    data, rows = bytearray(legacy.file_of(frames(6))), frames(6)
    at = 16 + sum(24 + len(m) for _, m in rows[:2]) + 24
    data[at:at + 4] = b"\xff" * 4
    return case("traj", bytes(data), rows[:2] + rows[3:])


def timestamps_decreasing():
    rows = [(3000, frames(1)[0][1]), (1000, legacy.frame(1, {}, {}))]
    return case("traj", legacy.file_of(rows), rows)


def unpacked_numbers():
    numbers = b"".join(bytes([1 << 3 | 5]) + struct.pack("<f", v) for v in (1, 2, 3))
    entry = legacy.put(1, b"particle.positions") + legacy.put(2, legacy.put(1, numbers))
    rows = [(1000, legacy.put(2, legacy.put(2, entry)))]
    return case("traj", legacy.file_of(rows), rows)


def unknown_fields():
    rows = [(t, m + legacy.put(15, b"later")) for t, m in states()]
    return case("state", legacy.file_of(rows), rows)


def nested_too_deeply():
    value = legacy.put(1, 0)
    for _ in range(200):
        value = legacy.put(6, legacy.put(1, value))
    deep = legacy.put(1, legacy.put(1, legacy.put(1, b"deep") + legacy.put(2, value)))
    return case("state", legacy.file_of([states()[0], (600, deep), states()[1]]), states())


def version_3():
    return case("traj", struct.pack("<QQ", legacy.MAGIC, 3) + legacy.file_of(frames())[16:], None)


def version_1():
    bare = [(t, next(raw for number, _, raw in legacy.fields(m) if number == 2)) for t, m in frames()]
    return case("traj", legacy.file_of(bare)[16:], bare)


def version_1_state():
    rows = [(3, b"")] + states()
    return case("state", legacy.file_of(rows)[16:], rows)


CASES = [usual_traj, usual_state, header_only, first_frame_no_reset, empty_messages, named_otherwise, cut_in_message, cut_in_header, wrong_size, wrong_message,
         timestamps_decreasing, unpacked_numbers, unknown_fields, nested_too_deeply, version_3, version_1, version_1_state]


def seconds(ns):
    return "%d.%09d" % divmod(ns, 1000000000)


def check_expected(text, kept):
    if kept is None:
        return [] if "refused by nanover_legacy: UNSUPPORTED" in text else ["it should be refused"]
    rows = sorted(kept, key=lambda row: row[0])
    payloads = b"".join(m for _, m in rows)
    first, last = (rows[0][0], rows[-1][0]) if rows else (0, 0)
    want = ["  count: %d, %d bytes" % (len(rows), len(payloads)), "  first: " + seconds(first * 1000), "  last: " + seconds(last * 1000),
            "  payloads: sha256 " + hashlib.sha256(payloads).hexdigest()]
    return [] if re.findall(r"^  (?:count|first|last|payloads): .*", text, flags=re.M) == want else ["must be %s" % want]


def main():
    check = len(sys.argv) == 3 and sys.argv[1] == "--check"
    if len(sys.argv) != 2 and not check:
        sys.exit(__doc__)
    bad = []
    for make in CASES:
        suffix, data, kept = make()
        folder = os.path.join(sys.argv[-1], make.__name__)
        path = os.path.join(folder, "input." + suffix)
        if not check:
            os.makedirs(folder, exist_ok=True)
            with open(path, "wb") as out:
                out.write(data)
            continue
        with open(path, "rb") as there:
            if there.read() != data:
                bad.append("%s: the input is not what is made now" % make.__name__)
        with open(os.path.join(folder, "expected.txt"), encoding="utf-8") as there:
            bad += ["%s: %s" % (make.__name__, why) for why in check_expected(there.read(), kept)]
    print("\n".join(bad), end="\n" if bad else "")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
