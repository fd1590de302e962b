#!/usr/bin/env python3
"""The instructions of hot paths, which must be within 3 % of tests/bench/instructions.json: instructions.py --reel build/release/reel [--accept]

valgrind counts them, so a busy machine changes nothing. What depends on the machine is left out: only the program itself and COUNTED, libraries
without code for particular processors, are counted, not libc, libzstd or OpenSSL, which choose by the processor; steady.c shows the program one core and gives
its hash tables the same seeds.
Compilers make different code: the figures are kept for each, and without some for this one the test is skipped (exit code 77).
--accept writes the figures of this compiler anew. Last line: N passed, N failed, N skipped."""
import argparse
import json
import os
import re
import resource
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import inputs  # noqa: E402
from lab import API, BenchError, Reel, run  # noqa: E402

EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'instructions.json')
TOLERANCE, SKIPPED = 0.03, 77
COUNTED = ('libsqlite3.so', 'libjansson.so', 'libmicrohttpd.so')
BETWEEN, HANDLER = '/healthz', 'api_health'  # a request that ends what was counted, and its handler
ROUNDS, TIMES = 6, 5  # of requests; and of a small one in each round


def own_instructions(path, program):
    """Of a file of callgrind, the instructions in `program` and in COUNTED. Names come once and then by their numbers; the line after "calls=" is what
    the called function took, which is counted where that is."""
    names, total, counts, called = {}, 0, False, False
    with open(path) as f:
        for line in f:
            if line.startswith('ob='):
                number, name = re.match(r'ob=(\(\d+\))(?: (.*))?', line).groups()
                if name:
                    names[number] = name
                counts = names[number] == program or os.path.basename(names[number]).startswith(COUNTED)
            elif line.startswith('cob='):
                number, name = re.match(r'cob=(\(\d+\))(?: (.*))?', line).groups()
                if name:
                    names[number] = name
            elif line.startswith('calls='):
                called = True
            elif line[0] in '0123456789+-*':
                if counts and not called:
                    total += int(line.split()[1])
                called = False
    return total


class Counter:
    def __init__(self, program, folder):
        self.program, self.folder, self.tools = os.path.realpath(program), folder, os.path.join(os.path.dirname(os.path.realpath(program)), 'bin')

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, name):
        return os.path.join(self.tools, name)

    def command(self, out, *options):
        library = os.path.join(os.path.dirname(self.tools), 'lib', 'libsteady.so')
        return ['env', 'LD_PRELOAD=' + library, 'XDG_CACHE_HOME=' + self.folder, 'valgrind', '-q', '--tool=callgrind', '--callgrind-out-file=' + out, *options]

    def bag(self, version, path, rate=1000, size=1000000):
        run(self.tool('make_bag'), version, str(size), '100', str(rate), path)

    def of(self, program, *arguments):
        """The instructions of a whole program."""
        out = self.path('callgrind.out')
        run(*self.command(out), program, *arguments)
        return own_instructions(out, program)


# ---- programs

def scans(counter, small):
    """(path, instructions)"""
    zstd = counter.path('zstd.mcap')
    run(counter.program, 'convert', small['1.2'], zstd, '--compression', 'zstd')
    for name, path in (('scan of a bag 1.2', small['1.2']), ('scan of a bag 2.0', small['2.0']), ('scan of MCAP zstd', zstd)):
        yield name, counter.of(counter.tool('bench_scan'), path, counter.path('pack'))


def conversions(counter, robot):
    """The first one scans; the others find its index."""
    for name, target, *options in (('bag to Parquet', 'parquet', '--topic', '/odom'), ('bag to NDJSON', 'ndjson'), ('bag to MCAP of ROS 2', 'mcap', '--ros', '2')):
        yield name, counter.of(counter.program, 'convert', robot, counter.path('out.' + target), '--force', *options)


# ---- requests

class Requests:
    """A server whose counts end with each request for BETWEEN."""

    def __init__(self, counter, data):
        self.counter, self.out, self.parts = counter, counter.path('serve.out'), 0
        self.server = Reel(counter.command(self.out, '--dump-before=' + HANDLER) + [counter.program], data, counter.path('log'),
                           '--statistics-when-asked')
        self.connection = self.server.connect()

    def ask(self, method, path, body=None, headers=None):
        self.connection.request(method, path, body, headers or {})
        answer = self.connection.getresponse()
        data = answer.read()
        if answer.status not in (200, 201, 206):
            raise BenchError('%s %s: %d %s' % (method, path, answer.status, data[:300]))
        return data

    def put(self, path, name):
        """The id of the recording, scanned."""
        with open(path, 'rb') as f:
            one = json.loads(self.ask('PUT', '%s/by-name/bench/%s' % (API, name), f.read()))['id']
        self.ask('GET', '%s/%s/messages?limit=1' % (API, one), headers={'Prefer': 'wait=60'})
        return one

    def since(self):
        """The instructions since the last call."""
        self.ask('GET', BETWEEN)
        self.parts += 1
        return own_instructions('%s.%d' % (self.out, self.parts), self.counter.program)

    def least(self, act, rounds=ROUNDS):
        """Of the rounds of act(i), the least: work that the server does for itself at such times only adds to some, as does the first statement of each kind."""
        counts = []
        for i in range(rounds):
            self.since()
            act(i)
            counts.append(self.since())
        return min(counts)

    def close(self):
        self.connection.close()
        self.server.stop()


def requests(counter, robot):
    small, ids = [counter.path('small-%d.bag' % i) for i in range(ROUNDS)], []
    for i, path in enumerate(small):  # bags that differ
        counter.bag('1.2', path, 1000 + i)
    r = Requests(counter, counter.path('data'))

    def often(*request, **more):
        for _ in range(TIMES):
            r.ask('GET', *request, **more)
    try:
        yield 'upload, SHA-256 and scan', r.least(lambda i: ids.append(r.put(small[i], 'small-%d.bag' % i)))
        yield 'plan and export of MCAP', r.least(lambda i: r.ask('GET', '%s/%s/as/x.mcap' % (API, ids[i])))
        one = '%s/%s' % (API, r.put(robot, 'robot.bag'))
        yield 'series of a field', r.least(lambda _: r.ask('GET', one + '/series?max_points=100&field=/odom.pose.pose.position.x'))
        yield 'list of recordings', r.least(lambda _: often(API + '?limit=10'))
        yield 'small GET', r.least(lambda _: often(one))
        token = run(counter.program, 'token', 'create', '--data', counter.path('data'), '--role', 'admin', '--name', 'one').strip()
        yield 'small GET with a token', r.least(lambda _: often(one, headers={'Authorization': 'Bearer ' + token}))
    finally:
        r.close()


# ---- the comparison

def counted(program):
    with tempfile.TemporaryDirectory(prefix='reel-instructions-') as folder:
        counter = Counter(program, folder)
        small, robot = {v: counter.path('small-%s.bag' % v) for v in ('1.2', '2.0')}, counter.path('robot.bag')
        for version, path in small.items():
            counter.bag(version, path)
        inputs.robot_bag(robot, 500000)
        return {**dict(scans(counter, small)), **dict(conversions(counter, robot)), **dict(requests(counter, robot))}


def compiler_of(program):
    """As the compiler writes it into what it makes, and the processor's kind."""
    names = re.findall(r'^ +\[ *[0-9a-f]+\] +(.*\S)', run('readelf', '-p', '.comment', program), re.M)
    return ', '.join(sorted(set(names))) + ', ' + os.uname().machine


def compare(expected, found):
    """The lines to print, and how many paths are wrong."""
    lines, wrong = [], 0
    for name in sorted({*expected, *found}):
        was, now = expected.get(name), found.get(name)
        bad = was is None or now is None or abs(now - was) > TOLERANCE * was
        change = '' if was is None or now is None else '%+.1f %%' % (100 * (now / was - 1))
        lines.append('%-26s %12s %12s %9s%s' % (name, now or '-', was or '-', change, '  NOT WITHIN 3 %' if bad else ''))
        wrong += bad
    return lines, wrong


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--reel', required=True, help='the program of a release build, in its build folder')
    p.add_argument('--accept', action='store_true', help='write the figures of this compiler into instructions.json')
    args = p.parse_args()
    with open(EXPECTED) as f:
        expected = json.load(f)
    compiler = compiler_of(args.reel)
    if not shutil.which('valgrind') or not args.accept and compiler not in expected:
        print('skipped: %s' % ('no valgrind' if not shutil.which('valgrind') else 'no figures for %s; --accept writes them' % compiler))
        print('0 passed, 0 failed, 1 skipped')
        return SKIPPED
    found = counted(args.reel)
    lines, wrong = compare(expected.get(compiler, {}), found)
    print('%-26s %12s %12s %9s' % ('instructions', 'now', 'expected', 'change'))
    print('\n'.join(lines))
    print('%d paths, %.1f s of processor' % (len(found), processor_seconds()))
    if args.accept:
        expected[compiler] = found
        with open(EXPECTED, 'w') as f:
            f.write(json.dumps(expected, indent=1, sort_keys=True) + '\n')
        return 0
    if wrong:
        print('If a change is meant to cost more, or costs less: tests/bench/instructions.py --reel %s --accept, and commit instructions.json with it.' % args.reel)
    print('%d passed, %d failed, 0 skipped' % (len(lines) - wrong, wrong))
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
