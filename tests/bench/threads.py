"""Rows about large conversions on all cores, against one thread; and about compressing once. Written to nowhere, so that no disk is measured."""
import json
import os

import inputs
from decoding import ROS_TO_JSON, by_python
from lab import API, BenchError, cpu_seconds, in_turn, measured, median, run, timed, warm
from row import Row, at_most, size_name

LEAST, SMALL = 3 * 10**8, 10**8  # bytes; below 64 MiB of payloads one thread is enough


def convert(lab, path, target, *options):
    """Seconds of `reel convert`, the whole program with its scan."""
    return measured(lab.program, 'convert', path, '-', '--format', target, *options)[0]


def against_one(lab, what, path, target, *options):
    one, all_of_them = in_turn(lab.rounds, lambda: convert(lab, path, target, '--render-threads', '1', *options), lambda: convert(lab, path, target, *options))
    ratio, cores = median(one) / median(all_of_them), os.cpu_count() or 1
    yield Row('%s on %d threads | on one' % (what, cores), '%.3f s' % median(all_of_them), '%.3f s' % median(one), ratio,
              '>= 1.7 x' if cores > 1 else '', ratio >= 1.7 if cores > 1 else None, {'ours_s': all_of_them, 'peer_s': one})


def by_counted_work(lab, what, measure):
    """Processor time of the thread that asks and of all: what it would take at most on two and on eight cores, whatever this machine has.
    measure(threads) gives both. Where a thread that waits works for the others, that counts as its own."""
    alone = [measure(1) for _ in range(3)]
    one = median(s['cpu_seconds'] for s in alone)
    for cores in 2, 8:
        counted = [measure(cores) for _ in range(3)]
        longest = max(median(s['own_cpu_seconds'] for s in counted), median(s['cpu_seconds'] for s in counted) / cores)
        yield Row('%s on %d cores, by counted work | on one' % (what, cores), '%.3f s' % longest, '%.3f s' % one, one / longest,
                  '>= %.1f x' % (0.85 * cores), one / longest >= 0.85 * cores, {'ours': counted, 'peer': alone})


def converted(lab, target, topic, *paths):
    """For by_counted_work(): a conversion to nowhere, without its scan."""
    return lambda threads: json.loads(lab.tool('bench_convert', threads, target, topic, *paths))


def scanned(lab, path, messages, threads):
    got = json.loads(lab.tool('bench_scan', path, lab.path('scan.pack'), threads))
    if got['messages'] != messages or got['damaged']:
        raise BenchError('the scan found %d of %d messages' % (got['messages'], messages))
    return got


def threads(lab):
    large = max(lab.big, LEAST)
    bag, _ = lab.small_messages(large * 3 // 2, '2.0')
    lz4, plain = lab.converted(bag, '.bag', 'lz4'), lab.converted(bag, '.mcap')
    size = size_name(large)
    yield from against_one(lab, 'MCAP to MCAP zstd, %s' % size, plain, 'mcap', '--compression', 'zstd')
    yield from against_one(lab, 'bag lz4 to MCAP, %s' % size, lz4, 'mcap')
    blobs, messages = lab.large_messages(large, '2.0')
    for what, path in (('bag lz4', lab.converted(blobs, '.bag', 'lz4')), ('MCAP zstd', lab.converted(blobs, '.mcap', 'zstd'))):
        yield from by_counted_work(lab, 'scan of %s, %s of 100-KB messages' % (what, size), lambda threads, path=path: scanned(lab, path, messages, threads))
        os.unlink(path)
    # What is compressed once costs about what it costs to render it and to compress it.
    once, rendered, compressed = in_turn(lab.rounds, lambda: convert(lab, plain, 'mcap', '--compression', 'zstd', '--render-threads', '1'),
                                         lambda: convert(lab, plain, 'mcap', '--render-threads', '1'),
                                         lambda: timed('zstd', '-1', '-q', '-c', '--single-thread', '-o', '/dev/null', '-f', plain)[0])
    peer = [a + b for a, b in zip(rendered, compressed)]
    yield at_most('MCAP to MCAP zstd, one thread | MCAP to MCAP, and zstd -1 of it', median(once), median(peer), 1.25, '%.3f s',
                  {'ours_s': once, 'peer_s': peer})
    for what, target, paths in (('bag lz4 to MCAP', '.mcap', [lz4]), ('MCAP to a ROS 2 bag', '.rosbag2.tar', [plain]), ('MCAP to a ROS 2 bag in a ZIP', '.rosbag2.zip', [plain]),
                                ('MCAP to MIRA', '.tape', [plain]), ('MCAP to TIDE', '.tide', [plain]), ('two recordings to one MCAP file', '.mcap', [plain, plain])):
        yield from by_counted_work(lab, '%s, %s' % (what, size), converted(lab, target, '-', *paths))
    for path in lz4, plain:
        os.unlink(path)
    robot = lab.path('robot-threads.bag')
    inputs.robot_bag(robot, large)
    warm(robot)
    yield from against_one(lab, 'bag to NDJSON, %s' % size, robot, 'ndjson')
    yield from against_one(lab, 'bag to Parquet, /odom of %s' % size, robot, 'parquet', '--topic', '/odom')
    for what, target, topic in (('bag to NDJSON', '.ndjson', '-'), ('bag to Parquet, /odom', '.parquet', '/odom'), ('statistics', 'statistics', '-')):
        yield from by_counted_work(lab, '%s of %s' % (what, size), converted(lab, target, topic, robot))
    os.unlink(robot)
    robot = lab.path('robot-python.bag')
    messages = sum(inputs.robot_bag(robot, SMALL).values())
    warm(robot)
    ours, theirs = in_turn(lab.rounds, lambda: convert(lab, robot, 'ndjson'), lambda: by_python(ROS_TO_JSON, robot, messages))
    ratio = median(theirs) / median(ours)
    yield Row('bag to NDJSON, %s | python3-rosbag, json' % size_name(SMALL), '%.3f s' % median(ours), '%.3f s' % median(theirs), ratio, '>= 24 x', ratio >= 24,
              {'ours_s': ours, 'peer_s': theirs})
    os.unlink(robot)


def kept(lab, reel, small):
    """A compressed export is compressed when it is planned; what a download then costs."""
    path, pid = '%s/%s/as/x.mcap?compression=zstd' % (API, small), reel.process.process.pid
    began = cpu_seconds(pid)
    size, _ = reel.planned(path)
    planned = cpu_seconds(pid)
    run('curl', '-sSf', '-o', os.devnull, reel.base + path)
    planning, download = planned - began, cpu_seconds(pid) - planned
    yield Row('/as/x.mcap?compression=zstd, CPU time of a download | of planning', '%.2f s' % download, '%.2f s' % planning, download / planning, '<= 0.2 x',
              download <= 0.2 * planning, {'size': size})
