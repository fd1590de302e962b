"""The catalog in PostgreSQL and the files in S3, both started here on loopback, against the one-machine profile, rclone, and one server against three."""
import contextlib
import os
import random
import shutil
import signal
import sys
import threading
import time
from urllib.parse import quote

import catalog
from lab import API, BenchError, Server, cpu_seconds, download, first_byte, free_port, in_turn, median, quantile, requests_per_second, run, timed, wait_for
from row import Row, at_most, size_name, throughput

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RANGES, SLICES = 40, 20  # of each server that begins with an empty cache
CLIENTS = 10  # that list, and as many that upload


class Engines:
    """PostgreSQL and an S3 gateway. Servers of `cluster()` find them by the environment."""

    def __init__(self, lab):
        sys.path += [os.path.join(TESTS, 'cluster'), os.path.join(TESTS, 'e2e')]  # behind the folder of the bench
        import gateway
        import postgres
        self.lab, self.before, self.started, self.count = lab, dict(os.environ), [], 0
        try:
            self.database = self.keep(postgres.Postgres('shared_buffers = 2GB'))  # for the catalog of a million, as docs/operations.md says
            self.store = self.keep(gateway.Gateway())
        except postgres.Impossible as e:
            self.stop()
            raise BenchError(str(e))
        self.store.client.make_bucket('bench')
        os.environ.update(self.store.environment(), PGPASSWORD=self.database.password)
        os.environ.pop('AWS_CA_BUNDLE', None)  # Debian's rclone ends with an error when it is set
        self.archive('main')

    def keep(self, engine):
        self.started.append(engine)
        return engine

    def addresses(self, archive):
        """Of the catalog and of the store."""
        return '%s/%s' % (self.database.address, archive), 's3://bench/' + archive

    def archive(self, name):
        """A new one; its addresses."""
        self.database.sql('CREATE DATABASE ' + name)
        return self.addresses(name)

    def server(self, archive='main'):
        """One more server of an archive, with an empty cache."""
        self.count += 1
        at, store = self.addresses(archive)
        return self.lab.reel('cluster%d' % self.count, '--catalog', at, '--store', store)

    def stop(self):
        for engine in reversed(self.started):
            engine.stop()
        os.environ.clear()
        os.environ.update(self.before)


def figure(reel, name):
    text = reel.request('GET', '/metrics')[1].decode()
    return sum(float(line.rsplit(' ', 1)[1]) for line in text.splitlines() if line.startswith(name))


# ---- one server, against one with a folder

def uploads(lab, engines, local, there):
    path, _ = lab.large_messages(lab.big // 4)
    size = os.path.getsize(path)
    to = ':s3,provider=Ceph,env_auth=true,region=default,endpoint="%s":bench/rclone.bag' % engines.store.endpoint

    def rclone():
        run('sync')
        return timed('rclone', '--config', '/dev/null', '--ignore-times', 'copyto', path, to)[0]

    bucket, folder, copies = in_turn(lab.rounds, lambda: there.put_and_purge(path), lambda: local.put_and_purge(path), rclone)
    yield throughput('PUT %s to a bucket | rclone copyto' % size_name(size), size, bucket, copies, 0.5)
    yield at_most('… | the same into a folder', median(bucket), median(folder), None, '%.2f s', {'ours_s': bucket, 'peer_s': folder})


def warm(lab, local, there, ids):
    for what, end in (('the original', 'file/x.bag'), ('as MCAP', 'as/x.mcap')):
        paths = ['%s/%s/%s' % (API, i, end) for i in ids]
        size, _ = local.planned(paths[0])
        there.planned(paths[1])
        for server, path in zip((there, local), reversed(paths)):
            download(lab, server, path, size)
        a, b = in_turn(lab.rounds, lambda: download(lab, there, paths[1], size), lambda: download(lab, local, paths[0], size))
        yield throughput('download, %s, from the cache of a bucket | from a folder' % what, size, a, b, 0.8)


def cold_ranges(lab, engines, local, ids):
    """Each in blocks that no one has asked for: a new server for each round, whose cache is empty."""
    pick = random.Random(4)
    paths = ['%s/%s/as/x.mcap' % (API, i) for i in ids]
    size, _ = local.planned(paths[0])
    ours, peer = [], []
    for _ in range(lab.rounds):
        there = engines.server()
        there.planned(paths[1])
        lines = [local.connect(), there.connect()]
        places = [int((i + pick.random()) * (size - 4096) / RANGES) for i in range(RANGES)]
        pick.shuffle(places)
        for at in places:
            for line, path, taken in zip(lines, paths, (peer, ours)):
                taken.append(first_byte(line, path, {'Range': 'bytes=%d-%d' % (at, at + 4095)}, 206)[1])
        for line in lines:
            line.close()
        lab.stop(there)
    p99 = quantile(ours, 0.99)
    yield Row('range of 4 KiB of /as/x.mcap, %s, nothing cached, p99 | in a folder' % size_name(lab.big), '%.1f ms' % (p99 * 1e3), '%.2f ms' % (quantile(peer, 0.99) * 1e3),
              p99 / quantile(peer, 0.99), '<= 150 ms', p99 <= 0.15, {'ours_s': ours, 'peer_s': peer})


def cold_slices(lab, engines, kinds):
    """kinds: what → (id, messages a second, bytes of each, seconds)"""
    pick = random.Random(5)
    for what, (recording, rate, size, seconds) in kinds.items():
        there = engines.server()
        began = figure(there, 'reel_s3_received_bytes_total')
        there.request('GET', '%s/%s/messages?limit=1' % (API, recording))
        first = figure(there, 'reel_s3_received_bytes_total') - began
        fetched, taken = [], []
        with contextlib.closing(there.connect()) as line:
            for _ in range(SLICES):
                at, before = pick.randrange(seconds - 1), figure(there, 'reel_s3_received_bytes_total')
                path = '%s/%s/messages?start=%s&end=%s' % (API, recording, quote('+%ds' % at), quote('+%ds' % (at + 1)))
                _, whole, body = first_byte(line, path, {'Accept': 'application/x-ndjson'}, 200)
                rows = body.count(b'\n')
                if not rate * 0.9 <= rows <= rate * 1.1:
                    raise BenchError('a slice of %d messages has %d rows' % (rate, rows))
                fetched.append(figure(there, 'reel_s3_received_bytes_total') - before)
                taken.append(whole)
        lab.stop(there)
        more = max(fetched) - rate * size
        yield Row('bytes from S3 for a 1-second slice of %s, %s messages, most | more than its messages' % (size_name(lab.big), what), '%.2f MiB' % (max(fetched) / 2**20),
                  '%.2f MiB' % (more / 2**20), None, '<= 4 MiB more', more <= 4 << 20, {'bytes': fetched})
        yield Row('… how long, p99', '%.1f ms' % (quantile(taken, 0.99) * 1e3), '', None, '', None, {'ours_s': taken})
        yield Row('… bytes for the first request of a server: the index', '%.2f MiB' % (first / 2**20), '', None, '', None)


# ---- three servers

class Front(Server):
    """nginx before some servers."""

    def __init__(self, lab, servers):
        import proxy
        port = free_port()
        folder = lab.path('front%d' % port)
        os.mkdir(folder)
        super().__init__(proxy.start_nginx(folder, port, servers), port)
        wait_for(self.answers, 'nginx')

    def answers(self):
        with contextlib.suppress(OSError, BenchError):
            return self.request('GET', '/healthz')

    def stop(self):
        self.process.terminate()
        self.process.wait()


def cpu_seconds_of(servers):
    return sum(cpu_seconds(server.process.process.pid) for server in servers)


def replicas(lab, engines, recording):
    servers = [engines.server() for _ in range(3)]
    fronts = [(lab.keep(Front(lab, some)), some) for some in (servers, servers[:1])]
    path = '%s/%s' % (API, recording)

    def one(front, some):
        before, began = cpu_seconds_of(some), time.perf_counter()
        rate = requests_per_second(lab, front.base + path)
        return rate, (cpu_seconds_of(some) - before) / (rate * (time.perf_counter() - began))

    for pair in fronts:
        one(*pair)
    three, single = in_turn(lab.rounds, lambda: one(*fronts[0]), lambda: one(*fronts[1]))
    rates, costs = [[median([x[k] for x in group]) for group in (three, single)] for k in (0, 1)]
    yield Row('a recording as JSON through nginx, three servers | one', '%.1f k/s' % (rates[0] / 1e3), '%.1f k/s' % (rates[1] / 1e3), rates[0] / rates[1],
              '>= 2 x from 6 cores on', rates[0] >= 2 * rates[1] if (os.cpu_count() or 1) >= 6 else None, {'ours': three, 'peer': single})
    yield Row('… their CPU time a request', '%.0f us' % (costs[0] * 1e6), '%.0f us' % (costs[1] * 1e6), costs[0] / costs[1], '<= 1.15 x', costs[0] <= 1.15 * costs[1])
    yield loss(fronts[0][0], servers[2], path)
    for server in [front for front, _ in fronts] + servers:
        lab.stop(server)


def loss(front, victim, path):
    """Clients ask through nginx, one server is killed; from the first answer that is not 200 to the last."""
    over, errors, lock, good = threading.Event(), [], threading.Lock(), [0]

    def ask():
        while not over.is_set():
            status = None
            with contextlib.suppress(OSError), contextlib.closing(front.connect()) as line:
                line.request('GET', path)
                answer = line.getresponse()
                answer.read()
                status = answer.status
            with lock:
                good[0] += status == 200
                if status != 200:
                    errors.append(time.perf_counter())
            time.sleep(0.005)
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    victim.process.process.send_signal(signal.SIGKILL)
    time.sleep(4)
    over.set()
    for thread in threads:
        thread.join()
    span = max(errors) - min(errors) if errors else 0
    return Row('one of three is killed: how long clients of nginx see errors', '%.2f s, %d of %d' % (span, len(errors), good[0] + len(errors)), '', None, '<= 1 s', span <= 1)


# ---- many recordings

def many_recordings(lab, engines):
    count = 20000 if lab.quick else 1000000
    local, _ = catalog.filled(lab, 'million', count)
    lab.stop(local)
    at, store = engines.archive('million')
    seconds, _ = timed(lab.program, 'migrate', '--data', local.data, '--to', at, '--store', store, timeout=3000)
    yield Row('reel migrate of %d recordings to PostgreSQL' % count, '%.0f s' % seconds, '', None, '', None)
    size = int(engines.database.sql("SELECT pg_database_size('million')")[0]) / count
    yield Row('catalog in PostgreSQL, bytes a recording', '%.0f B' % size, '', None, '', None)
    there = engines.server('million')
    yield catalog.sweep_row('PostgreSQL: ', there, count)
    with contextlib.closing(there.connect()) as line:
        for question in catalog.asked_of(there, count):
            catalog.page_seconds(line, *question)
            taken = [catalog.page_seconds(line, *question) for _ in range(catalog.pages(lab))]
            yield catalog.list_row('PostgreSQL: ' + question[0], count, taken, None, {'ours_s': taken})
    yield crowd(lab, there)
    lab.stop(there)


def crowd(lab, there):
    """CLIENTS list, as many upload small files."""
    path, _ = lab.bag('1.2', 20000, 100, 1000)
    with open(path, 'rb') as f:
        data = f.read()
    over, taken, lock, sent, wrong = threading.Event(), [], threading.Lock(), [0], []

    def lists():
        with contextlib.closing(there.connect()) as line:
            while not over.is_set():
                seconds = first_byte(line, API + '?limit=100', {}, 200)[1]
                with lock:
                    taken.append(seconds)
                time.sleep(0.05)

    def puts(k):
        number = 0
        with contextlib.closing(there.connect()) as line:
            while not over.is_set():
                line.request('PUT', '%s/by-name/crowd/%d-%d.bag' % (API, k, number), data[:-8] + k.to_bytes(4, 'little') + number.to_bytes(4, 'little'))
                answer = line.getresponse()
                body = answer.read()
                if answer.status != 201:
                    wrong.append('%d %s' % (answer.status, body[:200]))
                    return
                number += 1
                with lock:
                    sent[0] += 1
    threads = [threading.Thread(target=lists) for _ in range(CLIENTS)] + [threading.Thread(target=puts, args=(k,)) for k in range(CLIENTS)]
    for thread in threads:
        thread.start()
    time.sleep(3 if lab.quick else 15)
    over.set()
    for thread in threads:
        thread.join()
    if wrong or not taken or not sent[0]:
        raise BenchError('ten that list and ten that upload: %s' % (wrong[:1] or 'nothing came'))
    return Row('%d list while %d upload (%d uploads): p99 | p50 of a list' % (CLIENTS, CLIENTS, sent[0]), '%.0f ms' % (quantile(taken, 0.99) * 1e3),
               '%.1f ms' % (median(taken) * 1e3), None, '', None)


def cluster(lab):
    if not shutil.which('rclone'):
        raise BenchError('rclone is not installed')
    engines = Engines(lab)
    try:
        local, there = lab.reel('folder'), engines.server()
        yield from uploads(lab, engines, local, there)
        (large, large_n), (small, small_n) = lab.large_messages(lab.big), lab.small_messages(lab.big)
        ids = [server.put(large, 'large.bag')[1] for server in (local, there)]
        other = there.put(small, 'small.bag')[1]
        yield from warm(lab, local, there, ids)
        yield from cold_ranges(lab, engines, local, ids)
        yield from cold_slices(lab, engines, {'100-KB': (ids[1], 100, 100000, large_n // 100), '100-byte': (other, 1000, 100, small_n // 1000)})
        yield from replicas(lab, engines, other)
        for server in local, there:
            lab.stop(server)
        yield from many_recordings(lab, engines)
    finally:
        engines.stop()
