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
import sockets
import record
import catalog
import decoding
import growth
import limits
import memory
import tables
import threads
import values
from lab import API, BenchError, cpu_seconds, curl, download, first_byte, in_turn, measured, median, quantile, requests_per_second, run, timed
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
    scans, hashes, copies = in_turn(lab.rounds, lambda: scanned(lab, path, messages), lambda: timed('openssl', 'dgst', '-sha256', path)[0],
                                    lambda: limits.copy_seconds(path))
    seconds = [s['seconds'] for s in scans]
    yield at_most('scan %s, 100-byte messages | openssl sha256' % size_name(lab.big), median(seconds), median(hashes), 0.5, '%.3f s',
                  {'ours_s': seconds, 'peer_s': hashes, 'limit_s': copies}, bound='memcpy %.3f s' % median(copies))

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


def limit_of(what, into, small):
    """Of the scan and the conversion of a bag, against librosbag_storage; None: for information. MCAP is written from small messages at its speed of reading;
    large ones are bytes to write, and reading writes none."""
    if small:
        return 0.5, 1.0 if into == 'MCAP' else None
    return (0.8, 2.0) if what.startswith('bag 2.0 lz4') else (None, None)


def container(lab, what, source, bag, read, messages, small):
    """One file scanned and converted, a bag to MCAP and MCAP to a bag, compared with librosbag_storage that opens `bag`, the same messages, and reads it
    once."""
    path, plain, codec = source
    into = 'MCAP' if path == bag else 'bag'

    def convert():
        out = lab.path('converted.' + into.lower())
        seconds, peak = measured(lab.program, 'convert', path, out)
        os.unlink(out)
        return seconds, peak

    bound, unpacked = limits.limit_of(lab, plain, codec)
    scans, converts, loops, bounds = in_turn(lab.rounds, lambda: scanned(lab, path, messages), convert, lambda: read_by_ros(lab, bag, messages), unpacked)
    ros_s = [loop['opening'] + loop['seconds'] for loop in loops]
    limit, convert_limit = limit_of(what, into, small)
    samples = {'peer_s': ros_s, 'peer_opening_s': [loop['opening'] for loop in loops], 'bytes': os.path.getsize(path)}
    for title, ours, most, peaks, more in (
            ('scan of %s' % what, [s['seconds'] for s in scans], limit, [s['peak_bytes'] for s in scans], '%s %.3f s' % (bound, median(bounds))),
            ('%s to %s' % (what, into), [seconds for seconds, _ in converts], convert_limit, [peak for _, peak in converts], '')):
        yield at_most('%s | librosbag_storage reads %s' % (title, read), median(ours), median(ros_s), most, '%.3f s',
                      {**samples, 'ours_s': ours, 'limit_s': bounds}, bound=more)
        yield Row('… its peak memory', '%.1f MB' % (max(peaks) / 1e6), '', None, '<= 128 MB', max(peaks) <= 128e6)
    if path == bag:
        yield at_most('scan of %s | python3-rosbag info' % what, median([s['seconds'] for s in scans]), info_of_ros(bag, messages), None, '%.3f s', {})


def by_mcap_cpp(lab, what, path, messages):
    """A scan compared with mcap C++ that reads the file in time order, and a copy with one that also writes it."""
    peer, copy = limits.McapCpp(lab), lab.path('copy.mcap')
    if peer.why:
        yield Row('%s | mcap C++: %s' % (what, peer.why), '', '', None, '', None)
        return
    for title, ours, files, most in (('scan of %s | mcap C++ reads it' % what, lambda: scanned(lab, path, messages)['seconds'], (path,), 0.5),
                                     ('%s to MCAP | mcap C++ reads and writes it' % what, lambda: measured(lab.program, 'convert', '--force', path, copy)[0],
                                      (path, copy), 1.0)):
        a, b = in_turn(lab.rounds, ours, lambda: peer.seconds(messages, *files))
        yield at_most(title, median(a), median(b), most, '%.3f s', {'ours_s': a, 'peer_s': b})
    os.unlink(copy)


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
        # what, (its file, the same bytes plain, the codec of its chunks), the bag to read
        sources = (('bag 2.0', (bag, bag, None), bag, 'it'), ('bag 2.0 lz4', (lz4, bag, 'lz4'), lz4, 'it'),
                   ('MCAP', (plain, plain, None), bag, 'the bag'), ('MCAP zstd', (zstd, plain, 'zstd'), lz4, 'the lz4 bag'))
        for what, source, peer, read in sources:
            title = '%s, %s of %s messages' % (what, size_name(lab.big), name)
            yield from container(lab, title, source, peer, read, messages, name == '100-byte')
            if not read.startswith('it'):
                yield from by_mcap_cpp(lab, title, source[0], messages)
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
        yield throughput('PUT %s, %s messages | nginx PUT + sync' % (size_name(lab.big), name), os.path.getsize(path), a, b, 0.8)


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


def with_token(lab):
    """What a token adds to a small request, in processor time of the server, by the same clients."""
    path, _ = lab.bag('1.2', 2000, 100, 1000)
    plain, closed = lab.reel('open-data'), lab.reel('closed-data')
    targets = [server.base + '%s/%s' % (API, server.put(path, 'tiny.bag')[1]) for server in (plain, closed)]
    token = run(lab.program, 'token', 'create', '--data', closed.data, '--role', 'admin', '--name', 'bench').strip()
    headers = (), ('-H', 'Authorization: Bearer ' + token)

    def microseconds(i):
        pid = (plain, closed)[i].process.process.pid
        before, start = cpu_seconds(pid), time.perf_counter()
        rate = requests_per_second(lab, targets[i], *headers[i])
        return (cpu_seconds(pid) - before) / (rate * (time.perf_counter() - start)) * 1e6
    without, ours = in_turn(lab.rounds, lambda: microseconds(0), lambda: microseconds(1))
    yield Row('processor time of a small GET with a token | without', '%.1f us' % median(ours), '%.1f us' % median(without), median(ours) / median(without),
              '<= 33 us', median(ours) <= 33, {'ours_us': ours, 'peer_us': without})
    for server in plain, closed:
        lab.stop(server)


# What --quick measures that is not what the target is of, by part.
SMALLER = {'containers': 'files of 100 MB, where the start of a program counts', 'values': '100 recordings of 1 MB, not 1000 of 10 MB',
           'uploads': '100 MB, not 1 GB', 'lists': 'catalogs of 100,000, not of 1,000,000', 'memory': 'recordings of 100 MB for 10 s, not of 1 GB for 30 s',
           'background': '1000 uploads and 500 imports, not 10,000 and 5000', 'play': '10 s, not 60', 'sockets': '10 s, not 60', 'tables': '100 MB, not 1 GB'}


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
    yield 'token', with_token(lab)
    yield 'decoding', decoding.decoding(lab)
    yield 'threads', threads.threads(lab)
    yield 'series', decoding.series(lab, reel)
    yield 'tables', tables.tables(lab, reel)
    yield 'memory', memory.memory(lab)
    yield 'background', background.background(lab)
    yield 'page', page.page(lab)
    yield 'play', play.play(lab)
    yield 'sockets', sockets.sockets(lab)
    yield 'record', record.record(lab)
    yield 'cluster', cluster.cluster(lab)
