"""Rows about growth: what something costs at several sizes, as the exponent of size that fits. A cost in proportion has 1, one that does not depend on the
size 0. One above its limit fails the bench. Costs are instructions, as instructions.py counts them, less those of a least size; those of threads are
processor time."""
import math
import os
import resource

import catalog
import inputs
from instructions import Counter, Requests
from lab import API, BenchError, run
from row import Row

# The greatest exponents. Between 100 and 1600 channels a scan of 1.2 has n^1.17: fewer and fewer of their headers are remembered (ROSBAG_V1_TEMPLATES has
# 1024 slots), the others are parsed. A hash table of all of them has n^1.04, and makes a scan of ten channels a fifth slower. log n fits as 0.15 at RECORDINGS.
LINEAR, CHANNELS_LINEAR, FLAT = 1.05, 1.2, 0.15
ROUNDS = 4
MESSAGES, CHANNELS, RECORDINGS, CLIENTS, THREADS = (1000, 4000, 16000), (100, 400, 1600), (100, 1000, 10000), (1, 10, 100), (1, 2, 4)
# Messages: a range in the middle lies in a chunk that is full, which is rendered whole, and in segments of the index that are (4096 messages of each of ten
# topics), in which the entries before it are skipped.
RANGED = 80000, 160000, 320000
LEAST = 10  # messages, channels: what a program costs with next to nothing to do
BYTES = 114  # of a message of make_bag's, about
LARGE = 100_000_000  # bytes that are rendered on threads


def exponent(sizes, costs):
    """The slope of the line through the logarithms."""
    x, y = [math.log(size) for size in sizes], [math.log(max(cost, 1e-9)) for cost in costs]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def row(what, sizes, costs, limit, unit='%d'):
    found = exponent(sizes, costs)
    return Row('%s, %s' % (what, ' | '.join(map(str, sizes))), 'n^%.2f' % found, ' | '.join(unit % cost for cost in costs), None, '<= n^%g' % limit,
               found <= limit, {'sizes': list(sizes), 'costs': costs, 'exponent': found})


def of_programs(counter, what, sizes, limit, make):
    """A scan and a conversion of files that make(size, path) made."""
    scans, conversions = [], []
    for size in (LEAST, *sizes):
        path = counter.path('grows.bag')
        make(size, path)
        scans.append(counter.of(counter.tool('bench_scan'), path, counter.path('pack')))
        conversions.append(counter.of(counter.program, 'convert', path, counter.path('out.mcap'), '--force'))
    for name, costs in ('scan', scans), ('bag to MCAP', conversions):
        yield row('%s by %s' % (name, what), sizes, [cost - costs[0] for cost in costs[1:]], limit)


def bag_of_channels(count, path):
    kind = 'std_msgs/UInt32', '304a39449588c7f8ce2df6e8001c5fce', 'uint32 data\n'
    with open(path, 'wb') as out:
        bag = inputs.Bag(out, {'/sensor/%d' % i: kind for i in range(count)})
        for i in range(4 * count):
            bag.put('/sensor/%d' % (i % count), inputs.T0 + i // 1000, i % 1000 * 10**6, b'\1\0\0\0')


def of_requests(counter, sizes, server, asked):
    """For each size, server(size) and the instructions of asked(requests, size): a dict of names."""
    costs = {}
    for size in sizes:
        requests = Requests(counter, server(size))
        try:
            for name, cost in asked(requests, size):
                costs.setdefault(name, []).append(cost)
        finally:
            requests.close()
    return costs


def of_messages(counter):
    """A page of messages of recordings of more and more."""
    def asked(requests, size):
        path = counter.path('page.bag')
        counter.bag('1.2', path, size=size * BYTES)
        one = '%s/%s' % (API, requests.put(path, 'page.bag'))
        yield 'page of messages', requests.least(lambda _: requests.ask('GET', one + '/messages?limit=100'), ROUNDS)
    for name, costs in of_requests(counter, MESSAGES, lambda size: counter.path('data-%d' % size), asked).items():
        yield row(name + ' by messages', MESSAGES, costs, FLAT)


def of_ranges(counter):
    """A kilobyte in the middle of an export that has been planned."""
    def asked(requests, size):
        path = counter.path('ranged.bag')
        counter.bag('2.0', path, size=size * BYTES)
        export = '%s/%s/as/x.mcap' % (API, requests.put(path, 'ranged.bag'))
        middle = size * BYTES // 2
        yield 'range of a planned export', requests.least(
            lambda _: requests.ask('GET', export, headers={'Range': 'bytes=%d-%d' % (middle, middle + 999)}), ROUNDS)
    for name, costs in of_requests(counter, RANGED, lambda size: counter.path('ranged-%d' % size), asked).items():
        yield row(name + ' by messages', RANGED, costs, FLAT)


def of_recordings(lab, counter):
    def server(size):
        lab.stop(catalog.filled(lab, 'growth-%d' % size, size)[0])
        return lab.path('growth-%d' % size)

    def asked(requests, size):
        bags = [counter.path('put-%d.bag' % i) for i in range(ROUNDS)]
        for i, path in enumerate(bags):
            counter.bag('1.2', path, rate=2000 + i, size=100000)
        yield 'first page of the list', requests.least(lambda _: requests.ask('GET', API + '?limit=20'), ROUNDS)
        yield 'upload', requests.least(lambda i: requests.put(bags[i], 'put-%d.bag' % i), ROUNDS)
    for name, costs in of_requests(counter, RECORDINGS, server, asked).items():
        yield row(name + ' by recordings', RECORDINGS, costs, FLAT)


def of_clients(counter):
    """A small request beside connections that are open."""
    def asked(requests, size):
        others = [requests.server.connect() for _ in range(size)]
        for other in others:
            other.request('GET', '/healthz')
            other.getresponse().read()
        requests.parts += size
        yield 'small GET', requests.least(lambda _: [requests.ask('GET', API + '?limit=1') for _ in range(ROUNDS)], ROUNDS)
        for other in others:
            other.close()
    for name, costs in of_requests(counter, CLIENTS, lambda size: counter.path('clients-%d' % size), asked).items():
        yield row(name + ' by open connections', CLIENTS, costs, FLAT)


def processor_seconds(*command):
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = used()
    run(*command)
    return used() - before


def of_threads(lab):
    """What all threads of a conversion take together, which should not be more than what one takes: the least of some rounds."""
    path, _ = lab.bag('2.0', LARGE, 1000, 1000)
    rounds = [[processor_seconds(lab.program, 'convert', path, '-', '--format', 'mcap', '--compression', 'zstd', '--render-threads', str(n)) for n in THREADS]
              for _ in range(ROUNDS)]
    yield row('bag to MCAP zstd, processor time by threads', THREADS, [min(costs) for costs in zip(*rounds)], FLAT, '%.2f s')


def growth(lab):
    folder = lab.path('growth')
    os.makedirs(folder)
    counter, above = Counter(lab.program, folder), []
    parts = (of_programs(counter, 'messages', MESSAGES, LINEAR, lambda size, path: counter.bag('1.2', path, size=size * BYTES)),
             of_programs(counter, 'channels', CHANNELS, CHANNELS_LINEAR, bag_of_channels), of_messages(counter),
             of_ranges(counter), of_recordings(lab, counter), of_clients(counter), of_threads(lab))
    for part in parts:
        for one in part:
            above += [] if one.ok else [one.what.split(',')[0]]
            yield one
    if above:
        raise BenchError('grows faster than it may: ' + '; '.join(above))
