"""Rows about questions about values: many recordings, of which few meet a condition."""
import json
import os
import struct
import sys
import time
from urllib.parse import quote

from lab import BenchError, cpu_seconds, median, wait_for
from row import Row, size_name

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'e2e'))
import samples  # noqa: E402

COUNT, MEET = 1000, 10
FIELDS = ('voltage', 'current', 'charge') + tuple('cell_%d' % i for i in range(9))
SALT, LOW = -12345.678, -87654.321  # numbers in the first recording that the others have others in the place of


def template(size):
    samples.TYPES['lab_msgs/Battery'] = ('0' * 32, ''.join('float64 %s\n' % name for name in FIELDS))
    n = size // 225  # bytes of a message and its record
    values = [[12 + (i * k) % 97 / 50 for k in range(1, len(FIELDS) + 1)] for i in range(n)]
    values[0][1], values[n // 2][0] = SALT, LOW
    return samples.bag([samples.Message(samples.T0 + i * 10**7, '/battery', struct.pack('<12d', *v), 'lab_msgs/Battery') for i, v in enumerate(values)])


def fill(lab, server, count, size):
    whole, path = template(size), lab.path('battery.bag')
    salt, low = whole.index(struct.pack('<d', SALT)), whole.index(struct.pack('<d', LOW))
    data = bytearray(whole)
    for i in range(count):
        data[salt:salt + 8] = struct.pack('<d', i)
        data[low:low + 8] = struct.pack('<d', 10.5 if i % (count // MEET) == 0 else 12.5)
        with open(path, 'wb') as f:
            f.write(data)
        server.put(path, 'run-%d.bag' % i)
    os.remove(path)
    return len(whole)


def ask(server, where, found):
    start = time.perf_counter()
    page = json.loads(server.request('GET', '/api/v1/search/values?limit=1000&where=' + quote(where))[1])
    if page['pending'] or page['next'] or len(page['items']) != found:
        raise BenchError('%s: %d items, %d pending, next %s' % (where, len(page['items']), len(page['pending']), page['next']))
    return time.perf_counter() - start


def statistics_bytes(data):
    return sum(os.path.getsize(os.path.join(folder, f)) for folder, _, files in os.walk(os.path.join(data, 'blobs')) for f in files if f.endswith('.stats'))


def values(lab):
    count, size = (100, 10**6) if lab.quick else (COUNT, 10**7)
    server = lab.reel('values')
    try:
        each = fill(lab, server, count, size)
        wait_for(lambda: not json.loads(server.request('GET', '/api/v1/search/values?limit=1&where=/battery.voltage%3C0', {'Prefer': 'wait=10'})[1])['pending'],
                 'the statistics')
        about = '%d recordings of %s' % (count, size_name(each))
        share = statistics_bytes(server.data) / (each * count)
        yield Row('field statistics of %s, of their bytes' % about, '%.3f %%' % (100 * share), '', None, '<= 1 %', share <= .01)
        for where, found in (('/battery.voltage<11', MEET), ('/battery.voltage<0', 0)):
            ask(server, where, found)
            before = cpu_seconds(server.process.process.pid)
            seconds = [ask(server, where, found) for _ in range(lab.rounds)]
            cpu = (cpu_seconds(server.process.process.pid) - before) / lab.rounds
            yield Row('%s in %s: %d meet it | processor' % (where, about, found), '%.3f s' % median(seconds), '%.3f s' % cpu, None, '<= 1 s',
                      median(seconds) <= 1, {'ours_s': seconds})
    finally:
        lab.stop(server)
