#!/usr/bin/env python3
"""./dev bench: Reel against its yardsticks, each pair in the same run and in turn, medians of 5 (--quick: of 3, and inputs of a tenth).

Prints one table; a ratio is ours over the peer's, for rates and for times alike. What has no peer is compared with itself at another size. The column
"limit" is what no program can beat on the same bytes: one copy of them, or unpacking them.
The exit code says whether everything could be measured, not whether the targets were met: that is in the table."""
import argparse
import json
import os
import shutil
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lab import BenchError, Lab, machine  # noqa: E402
from row import Row  # noqa: E402
from rows import SMALLER, all_rows  # noqa: E402

NEEDED = ('cmake', 'curl', 'lz4', 'openssl', 'sync', 'time', 'wrk', 'zstd')
HEADS = ('what | against', 'ours', 'peer', 'limit', 'ratio', 'target', 'ok')


def report(text):
    print(text, file=sys.stderr, flush=True)


def measure(lab, only):
    rows, failures, smaller, began = [], [], [], time.monotonic()
    for name, part in all_rows(lab):
        if only and only not in name:
            continue
        report('%4d s  %s' % (time.monotonic() - began, name))
        smaller += ['%s: %s' % (name, SMALLER[name])] if lab.quick and name in SMALLER else []
        try:
            for row in part:
                rows.append(row)
                report('        %s: %s, %s%s' % (row.what, row.ours, row.peer, '' if row.ratio is None else ', %.2f x' % row.ratio))
        except (BenchError, OSError, ValueError) as e:
            failures.append('%s: %s' % (name, e))
            report('        failed: %s' % e)
    report('%4d s  done' % (time.monotonic() - began))
    return rows, failures, smaller


def cells(row):
    return row.what, row.ours, row.peer, row.limit, '' if row.ratio is None else '%.2f' % row.ratio, row.target or '', {None: '', True: 'yes', False: 'NO'}[row.ok]


def print_table(rows):
    lines = [HEADS] + [cells(row) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADS))]
    for line in lines:
        print('  '.join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
        if line is HEADS:
            print('  '.join('-' * width for width in widths))


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--reel', default=os.path.join(root, 'build', 'release', 'reel'), help='the program, in its build folder')
    p.add_argument('--folder', default=os.path.join(root, 'build', 'bench'), help='where inputs and archives lie meanwhile: on the disk to measure')
    p.add_argument('--quick', action='store_true', help='inputs of a tenth, medians of 3')
    p.add_argument('--only', metavar='PART',
                   help='only the parts whose name holds this: scan, containers, values, growth, uploads, downloads, small, ranges, slices, lists, clients, token, decoding, threads, series, tables, memory, background, page, play, sockets, record, cluster')
    p.add_argument('--minutes', type=float, default=1, help='how long the page plays before its memory is measured')
    p.add_argument('--json', metavar='FILE', help='the figures, with every sample, as JSON')
    args = p.parse_args()
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing:
        p.exit(1, 'bench: missing: %s\n' % ', '.join(missing))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        lab = Lab(args.reel, args.folder, args.quick, args.minutes)
    except BenchError as e:
        p.exit(1, 'bench: %s\n' % e)
    try:
        about = machine(lab.folder)
        rows, failures, smaller = measure(lab, args.only)
    finally:
        lab.close()
    print('%(cpu)s, %(cores)d cores, kernel %(kernel)s, %(disk)s' % about + ', %.0f GB memory, load %.1f at start' % (about['memory_bytes'] / 1e9, about['load']))
    print_table(rows)
    for one in smaller:
        print('--quick, so the target is of something else: ' + one)
    for failure in failures:
        print('failed: ' + failure)
    judged = [row.ok for row in rows if row.ok is not None]
    print('%d of %d targets met%s' % (sum(judged), len(judged), ', %d parts failed' % len(failures) if failures else ''))
    if args.json:
        with open(args.json, 'w') as f:
            json.dump({'machine': about, 'quick': args.quick, 'rows': [Row._asdict(row) for row in rows], 'failures': failures}, f, indent=1)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
