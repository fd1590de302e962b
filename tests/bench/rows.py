"""The rows of the table: each function measures one thing and its yardstick in turn, and yields Row by Row."""
import json
import os
import random
import time
from urllib.parse import quote

import background
import cluster
import page
import play
import record
import catalog
import decoding
import growth
import memory
import tables
import threads
import values
from lab import API, BenchError, curl, download, first_byte, in_turn, measured, median, quantile, requests_per_second, run, timed
from row import Row, at_most, size_name, throughput

RANGES, SLICES = 300, 60  # requests of each kind, for p99 and p50


# ---- the scan alone

def scanned(lab, path, messages):
    got = json.loads(lab.tool('bench_scan', path, lab.path('scan.pack')))
    if got['messages'] != messages or got['damaged']:
        raise BenchError('the scan found %d of %d messages' % (got['messages'], messages))
    return got


def scan(lab):
    path, messages = lab.small_messages(lab.big)
    scans, hashes = in_turn(lab.rounds, lambda: scanned(lab, path, messages), lambda: timed('openssl', 'dgst', '-sha256', path)[0])
    seconds = [s['seconds'] for s in scans]
    yield at_most('scan %s, 100-byte messages | openssl sha256' % size_name(lab.big), median(seconds), median(hashes), 0.6, '%.3f s',
                  {'ours_s': seconds, 'peer_s': hashes})

    middle, _ = lab.small_messages(lab.middle)
    few = json.loads(lab.tool('bench_scan', middle, lab.path('middle.pack')))['peak_bytes']
    many = max(s['peak_bytes'] for s in scans)
    yield Row('its peak memory | the same at %s' % size_name(lab.middle), '%.1f MB' % (many / 1e6), '%.1f MB' % (few / 1e6), many / few,
              '<= 64 MB, <= 1.1 x', many <= 64e6 and many <= 1.1 * few)
    each = scans[0]['pack_bytes'] / messages
    yield Row('index, bytes a message', '%.2f B' % each, '', None, '<= 8 B', each <= 8)


# ---- bags of version 2.0 and MCAP

def read_by_ros(lab, bag, messages):
    got = json.loads(lab.tool('bag_loop', bag))
    if got['messages'] != messages:
        raise BenchError('librosbag_storage read %d of %d messages' % (got['messages'], messages))
    return got


ROSBAG_INFO = '''
import sys, time
import rosbag
start = time.perf_counter()
with rosbag.Bag(sys.argv[1]) as bag:
    info = bag.get_type_and_topic_info()
print(time.perf_counter() - start, sum(topic.message_count for topic in info.topics.values()))
'''


def info_of_ros(bag, messages):
    """Seconds python3-rosbag takes to open a bag and to say what is in it, once: it may be long."""
    seconds, found = run('/usr/bin/python3', '-c', ROSBAG_INFO, bag, timeout=600).split()
    if int(found) != messages:
        raise BenchError('python3-rosbag found %s of %d messages' % (found, messages))
    return float(seconds)


def container(lab, what, path, bag, read, messages, small):
    """One file scanned and converted, a bag to MCAP and MCAP to a bag, compared with librosbag_storage that opens `bag`, the same messages, and reads it
    once. The targets are for small messages; large ones are bytes to write, and reading writes none."""
    into = 'MCAP' if path == bag else 'bag'

    def convert():
        out = lab.path('converted.' + into.lower())
        seconds, peak = measured(lab.program, 'convert', path, out)
        os.unlink(out)
        return seconds, peak

    scans, converts, loops = in_turn(lab.rounds, lambda: scanned(lab, path, messages), convert, lambda: read_by_ros(lab, bag, messages))
    scan_s, convert_s = [s['seconds'] for s in scans], [seconds for seconds, _ in converts]
    ros_s = [loop['opening'] + loop['seconds'] for loop in loops]
    limits = 0.5 if small else None, 1.0 if small and path == bag else None
    for title, ours, limit in (('scan of %s' % what, scan_s, limits[0]), ('%s to %s' % (what, into), convert_s, limits[1])):
        yield at_most('%s | librosbag_storage reads %s' % (title, read), median(ours), median(ros_s), limit, '%.3f s',
                      {'ours_s': ours, 'peer_s': ros_s, 'peer_opening_s': [loop['opening'] for loop in loops], 'bytes': os.path.getsize(path)})
    peak = max([s['peak_bytes'] for s in scans] + [peak for _, peak in converts])
    yield Row('their peak memory', '%.1f MB' % (peak / 1e6), '', None, '<= 128 MB', peak <= 128e6)
    if path == bag:
        yield at_most('scan of %s | python3-rosbag info' % what, median(scan_s), info_of_ros(bag, messages), None, '%.3f s', {})


def converted_to_ros2(lab):
    """As MCAP with messages of ROS 2, beside MCAP with those of the bag."""
    for name, (bag, _) in (('100-byte', lab.small_messages(lab.big, '2.0')), ('100-KB', lab.large_messages(lab.big, '2.0'))):
        def convert(*options):
            out = lab.path('ros.mcap')
            seconds, _ = measured(lab.program, 'convert', bag, out, *options)
            os.unlink(out)
            return seconds

        ours, plain = in_turn(lab.rounds, lambda: convert('--ros', '2'), convert)
        title = 'bag 2.0, %s of %s messages to MCAP of ROS 2 | to MCAP' % (size_name(lab.big), name)
        yield throughput(title, os.path.getsize(bag), ours, plain, 0.8)


def containers(lab):
    small = lab.small_messages(lab.big * 3 // 2, '2.0')  # as 1.2 they take one and a half times as much
    for name, (bag, messages) in (('100-byte', small), ('100-KB', lab.large_messages(lab.big, '2.0'))):
        lz4 = lab.converted(bag, '.bag', 'lz4')
        plain, zstd = lab.converted(bag, '.mcap'), lab.converted(bag, '.mcap', 'zstd')
        sources = (('bag 2.0', bag, bag, 'it'), ('bag 2.0 lz4', lz4, lz4, 'it'),
                   ('MCAP', plain, bag, 'the bag'), ('MCAP zstd', zstd, lz4, 'the lz4 bag'))
        for what, path, peer, read in sources:
            title = '%s, %s of %s messages' % (what, size_name(lab.big), name)
            yield from container(lab, title, path, peer, read, messages, name == '100-byte')
        for path in lz4, plain, zstd:
            os.unlink(path)


# ---- bytes in and out

def uploads(lab, reel, nginx):
    for name, (path, _) in (('100-byte', lab.small_messages(lab.big)), ('100-KB', lab.large_messages(lab.big))):
        copy = os.path.join(lab.root, 'dav', 'upload.bag')

        def peer():
            run('sync')
            start = time.perf_counter()
            status, _, _ = curl('-T', path, nginx.base + '/dav/upload.bag')
            if status not in (201, 204):
                raise BenchError('nginx answered %d to PUT' % status)
            run('sync', copy)
            seconds = time.perf_counter() - start
            os.unlink(copy)
            return seconds

        a, b = in_turn(lab.rounds, lambda: reel.put_and_purge(path), peer)
        yield throughput('PUT %s, %s messages | nginx PUT + sync' % (size_name(lab.big), name), os.path.getsize(path), a, b, 0.7)


def against_sendfile(lab, reel, nginx, what, path, file, limit):
    """Reel's `path` against the same bytes as a file of nginx."""
    size = os.path.getsize(file)
    download(lab, reel, path, size)  # brings it into the page cache
    peer_path = lab.publish(file, os.path.basename(path) + '-%d' % len(os.listdir(lab.root)))
    a, b = in_turn(lab.rounds, lambda: download(lab, reel, path, size), lambda: download(lab, nginx, peer_path, size))
    return throughput(what, size, a, b, limit)


def downloads(lab, reel, nginx, large):
    file, _ = lab.large_messages(lab.big)
    original = '%s/%s/file/x.bag' % (API, large)
    yield against_sendfile(lab, reel, nginx, 'download of the original, %s | nginx sendfile' % size_name(lab.big), original, file, 0.9)
    converted = '%s/%s/as/x.mcap' % (API, large)
    size, _ = reel.planned(converted)
    file = lab.path('large.mcap')
    run('curl', '-sSf', '-o', file, reel.base + converted)
    if os.path.getsize(file) != size:
        raise BenchError('x.mcap has %d bytes, not %d' % (os.path.getsize(file), size))
    yield against_sendfile(lab, reel, nginx, '/as/x.mcap, 100-KB messages | nginx sendfile', converted, file, 0.35)
    os.unlink(file)


def small_messages(lab, reel, small):
    """Both after their preparation: ours planned, the bag opened."""
    bag, messages = lab.small_messages(lab.big, '2.0')
    path = '%s/%s/as/x.mcap' % (API, small)
    size, planning = reel.planned(path)
    a, loops = in_turn(lab.rounds, lambda: download(lab, reel, path, size), lambda: read_by_ros(lab, bag, messages))
    ours, theirs = messages / median(a), messages / median([g['seconds'] for g in loops])
    samples = {'ours_s': a, 'peer_s': [g['seconds'] for g in loops], 'planning_s': planning, 'peer_opening_s': [g['opening'] for g in loops]}
    yield Row('/as/x.mcap, 100-byte messages | librosbag_storage loop', '%.2f M/s' % (ours / 1e6), '%.2f M/s' % (theirs / 1e6), ours / theirs, '>= 4 x',
              ours / theirs >= 4, samples)


# ---- how soon

def ranges(lab, reel, kinds):
    """kinds: name -> (id of a short recording, id of a long one)"""
    pick = random.Random(1)
    for name, pair in kinds.items():
        paths = ['%s/%s/as/x.mcap' % (API, recording) for recording in pair]
        sizes = [reel.planned(path)[0] for path in paths]
        lines = [reel.connect() for _ in pair]

        def one(i):
            at = pick.randrange(sizes[i] - 4096)
            return first_byte(lines[i], paths[i], {'Range': 'bytes=%d-%d' % (at, at + pick.randrange(4096))}, 206)[0]

        def p99():
            short, long = in_turn(RANGES, lambda: one(0), lambda: one(1))
            return quantile(short, 0.99), quantile(long, 0.99), median(short), median(long)

        one(0), one(1)
        sets = [p99() for _ in range(lab.rounds)]
        for line in lines:
            line.close()
        b, a, short, long = (median(values) for values in zip(*sets))
        yield Row('first byte of any range of /as/x.mcap, %s messages, p99 | of 10 MB' % name, '%.2f ms' % (a * 1e3), '%.2f ms' % (b * 1e3), a / b,
                  '<= 20 ms, <= 1.5 x', a <= 0.02 and a <= 1.5 * b, {'ours_p50_s': long, 'peer_p50_s': short, 'sets': sets})


def slices(lab, reel, short, long):
    pick = random.Random(2)
    lines = [reel.connect() for _ in range(2)]
    spans = [int(n / 1000) - 1 for n in (lab.small_messages(lab.small)[1], lab.small_messages(lab.big)[1])]

    def one(i, recording):
        at = pick.randrange(spans[i])
        path = '%s/%s/messages?start=%s&end=%s' % (API, recording, quote('+%ds' % at), quote('+%ds' % (at + 1)))
        _, whole, body = first_byte(lines[i], path, {'Accept': 'application/x-ndjson'}, 200)
        rows = body.count(b'\n')
        if not 900 <= rows <= 1100:
            raise BenchError('a slice of 1000 messages has %d rows' % rows)
        return whole

    one(0, short), one(1, long)
    few, many = in_turn(SLICES, lambda: one(0, short), lambda: one(1, long))
    for line in lines:
        line.close()
    yield at_most('1-second slice of %s as NDJSON, p50 | of %s' % (size_name(lab.big), size_name(lab.small)), median(many), median(few), 1.5, '%.2f ms',
                  {'ours_p99_s': quantile(many, 0.99), 'peer_p99_s': quantile(few, 0.99)}, 1e3)


# ---- many clients

def many_clients(lab, reel, nginx):
    path, _ = lab.bag('1.2', 2000, 100, 1000)
    _, recording = reel.put(path, 'tiny.bag')
    _, body = reel.request('GET', '%s/%s' % (API, recording))
    with open(lab.path('metadata.json'), 'wb') as f:
        f.write(body)
    kinds = (('a small file', '%s/%s/file/x.bag' % (API, recording), path, 0.4), ('a recording as JSON', '%s/%s' % (API, recording), lab.path('metadata.json'), None))
    for what, ours, file, limit in kinds:
        peer = lab.publish(file, os.path.basename(file))
        a, b = in_turn(lab.rounds, lambda: requests_per_second(lab, reel.base + ours), lambda: requests_per_second(lab, nginx.base + peer))
        ratio = median(a) / median(b)
        yield Row('GET of %s, 64 clients | nginx file' % what, '%.1f k/s' % (median(a) / 1e3), '%.1f k/s' % (median(b) / 1e3), ratio,
                  limit and '>= %g x' % limit, limit and ratio >= limit, {'ours_per_s': a, 'peer_per_s': b})


def all_rows(lab):
    """Generators of rows, in order; each may fail for itself."""
    yield 'scan', scan(lab)
    yield 'containers', containers(lab)
    yield 'ros 2', converted_to_ros2(lab)
    yield 'values', values.values(lab)
    yield 'growth', growth.growth(lab)
    reel, nginx = lab.reel('data'), lab.nginx()
    yield 'uploads', uploads(lab, reel, nginx)
    (_, small), (_, large) = reel.put(lab.small_messages(lab.big)[0], 'small.bag'), reel.put(lab.large_messages(lab.big)[0], 'large.bag')
    yield 'downloads', downloads(lab, reel, nginx, large)
    yield 'small messages', small_messages(lab, reel, small)
    (_, short), (_, short_large) = reel.put(lab.small_messages(lab.small)[0], 'short.bag'), reel.put(lab.large_messages(lab.small)[0], 'short-large.bag')
    yield 'compressed downloads', threads.kept(lab, reel, small)
    yield 'ranges', ranges(lab, reel, {'100-byte': (short, small), '100-KB': (short_large, large)})
    yield 'slices', slices(lab, reel, short, small)
    yield 'lists', catalog.lists(lab)
    yield 'many clients', many_clients(lab, reel, nginx)
    yield 'decoding', decoding.decoding(lab)
    yield 'threads', threads.threads(lab)
    yield 'series', decoding.series(lab, reel)
    yield 'tables', tables.tables(lab, reel)
    yield 'memory', memory.memory(lab)
    yield 'background', background.background(lab)
    yield 'page', page.page(lab)
    yield 'play', play.play(lab)
    yield 'record', record.record(lab)
    yield 'cluster', cluster.cluster(lab)
