"""Three servers on one catalog and one bucket under faults: servers are killed while others go on with their uploads; the database is restarted and frozen;
S3 answers errors, cuts, hangs; a network is cut; disks are slow or full. What was acknowledged is there, what was refused said 503, and nothing stays stuck."""
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import unittest

from cluster_store import Cluster
from cut import Network
from faulty import Faulty
from harness import API, eventually, reel
from postgres import Impossible, Postgres
from s3 import S3
from samples import bag, lab_messages

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'faults'))
import disk  # noqa: E402
import fault_space  # noqa: E402
from check import Check  # noqa: E402
from faults import LONG, SEED  # noqa: E402
from load import Load, sha  # noqa: E402

KILLS = 200 if LONG else 8
FAULTY_S = 60 if LONG else 12  # that S3 is faulty for
RESTARTS = 10 if LONG else 2
SERVERS = 3
LEASE_S = 30  # of jobs: JOB_LEASE_NS
SLOW_S = 0.1 if LONG else 0.03
ENDS_WITH_US = ('setpriv', '--pdeathsig', 'KILL')
CUTS_S = (5, 20, 90) if LONG else (8,)


class Together:
    """The loads of several servers, as one for Check."""
    def __init__(self, loads):
        self.__dict__['loads'] = loads

    def __setattr__(self, name, value):
        for load in self.loads:
            setattr(load, name, value)

    @property
    def workers(self):
        return [w for load in self.loads for w in load.workers]

    def recordings(self):
        return [r for w in self.workers for r in w.recordings]


class CheckBucket(Check):
    """What the bucket has instead of files in the data folder."""
    def __init__(self, load, server, keys):
        super().__init__(load, server, server.data)
        self.keys, self.unknown, self.ended, self.manifest = keys, 0, False, None

    def files(self, rows):
        contents = {r['content'].split(':')[1] for r in rows}
        parts = {p['sha256'] for r in rows for p in r['parts']}
        self.unknown = len(self.keys('objects')) - len(parts)
        if self.unknown < 0:
            self.report('%d objects for %d files', len(self.keys('objects')), len(parts))
        objects = set(self.keys('objects'))
        for folder in ('packs', 'manifests'):
            left = {k.split('/')[1] for k in self.keys(folder)} - contents
            # What could restore a recording stays: the catalog may be an older one, come back from a backup.
            dead = [c for c in left if not all(p['object'] in objects for p in self.manifest(c)['parts'])]
            if dead and self.ended:  # an upload that goes on has them already
                self.report('left in %s: %s', folder, sorted(dead))


class Kill(Cluster):
    def manifest(self, content):
        text = self.s3.get(self.bucket, '%s/manifests/%s' % (self.prefix, content))
        return json.loads(text) if text else {'parts': [{'object': None}]}

    def test_killed_under_load(self):
        rng, roots = random.Random(SEED), tempfile.mkdtemp(prefix='reel-cluster-kill-')
        self.addCleanup(shutil.rmtree, roots, True)
        servers = [self.start() for _ in range(SERVERS)]
        loads = [Load(roots, SEED + i, workers=2, families=('upload', 'delete', 'annotate')) for i in range(SERVERS)]
        for i, load in enumerate(loads):
            for worker in load.workers:
                worker.number += 10 * i
            load.begin(servers[i])
        longest = 0
        for _ in range(KILLS):
            time.sleep(rng.random() ** 2)
            dying = rng.choice(servers)
            cut = [load for load in loads if load.server is dying]
            for load in cut:
                load.cutting = True
            dying.process.send_signal(signal.SIGKILL)
            dying.process.wait()
            for load in cut:
                load.end()
            begun = time.monotonic()
            others = [s for s in servers if s is not dying]
            for load in cut:  # at once, at another server, which knows what the dead one has acknowledged
                load.server, load.cutting = rng.choice(others), False
                for worker in load.workers:
                    worker.look_at_all()
                longest = max(longest, time.monotonic() - begun)
                load.begin(load.server)
            dying.stop(None)
            servers[servers.index(dying)] = self.start(data=dying.data)
        for load in loads:
            load.cutting = True
        for server in servers:
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
        for load in loads:
            load.end()
        together = Together(loads)
        for ended in (False, True):
            servers = [self.start(data=s.data) for s in servers]
            for server in servers:
                check = CheckBucket(together, server, self.keys)
                check.ended, check.manifest = ended, self.manifest
                check.run()
            for worker in together.workers:
                worker.go_on(1)
            for server in servers:
                server.stop()
        for args, codes in ((('--repair',), (0, 1)), ((), (0,))):  # what the kills have left goes, and nothing else
            done = reel('fsck', '--data', servers[0].data, '--leftover-hours', '0', *args, check=False)
            self.assertIn(done.returncode, codes, done)
        server = self.start(data=servers[0].data)
        CheckBucket(together, server, self.keys).run()
        server.stop()
        print('  kill: seed %d, %d kills, %d requests answered, longest wait at the next server %.1f s, objects without a recording: %d'
              % (SEED, KILLS, sum(sum(load.answered.values()) for load in loads), longest, check.unknown))


class Uploaders:
    """Clients that try again what got 503, or no answer, until they are told to stop; then each ends what it has begun."""
    def __init__(self, servers, workers=4):
        self.servers, self.stopping, self.lock = servers, False, threading.Lock()
        self.acknowledged, self.refused, self.wrong, self.longest = {}, 0, [], 0.0
        self.threads = [threading.Thread(target=self.run, args=(i,), daemon=True) for i in range(workers)]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        count = 0
        while not self.stopping:
            count += 1
            name, data = 'u%d-%d.bag' % (number, count), bag(lab_messages(2, blob=20000, salt=1000 * number + count))
            until = time.monotonic() + 240
            while not self.put(self.servers[(number + count) % len(self.servers)], name, data):
                if time.monotonic() > until:
                    self.wrong.append('%s was never taken' % name)
                    return
                time.sleep(0.1)

    def put(self, server, name, data):
        begun = time.monotonic()
        try:
            answer = server.put(name, data)
            good = answer.status in (200, 201, 202)  # 202: it is scanned
            if not good and (answer.status != 503 or not answer.headers['Retry-After']):
                self.wrong.append('%s: %r' % (name, answer))
        except OSError as e:
            good = False
            self.wrong.append('%s: %r' % (name, e))
        with self.lock:
            self.longest = max(self.longest, time.monotonic() - begun)
            if good:
                self.acknowledged[name] = sha(data)
            else:
                self.refused += 1
        return good

    def end(self):
        self.stopping = True
        for thread in self.threads:
            thread.join()


class Away(Cluster):
    def rows(self, server):
        rows, path = {}, API + '/recordings?limit=1000'
        while path:
            page = server.get(path).json()
            rows.update((r['name'], r) for r in page['items'])
            path = page['next'] and API + '/recordings?limit=1000&cursor=' + page['next']
        return rows

    def check(self, load, servers, what, longest):
        load.end()
        self.assertEqual(load.wrong, [])
        self.assertGreater(len(load.acknowledged), 10)
        self.assertLess(load.longest, longest)
        self.assertTrue(eventually(lambda: {r['state'] for r in self.rows(servers[0]).values()} == {'ready'}))
        for server in servers:
            rows = self.rows(server)
            self.assertEqual({n: r['content'][7:] for n, r in rows.items()}, load.acknowledged)
            self.assertEqual({r['state'] for r in rows.values()}, {'ready'})
            self.assertTrue(eventually(lambda: all(j['state'] not in ('queued', 'running') for j in server.get(API + '/jobs').json()['items'])))
        for name in random.Random(SEED).sample(sorted(load.acknowledged), 10):
            self.assertEqual(sha(servers[0].get('%s/recordings/%s/file/x' % (API, rows[name]['id'])).body), load.acknowledged[name])
        print('  %s: %d uploads acknowledged, %d answers 503, longest request %.1f s' % (what, len(load.acknowledged), load.refused, load.longest))

    def test_s3_is_faulty(self):
        proxy = Faulty(self.s3.host)
        self.addCleanup(proxy.stop)
        servers = [self.start(env={'AWS_ENDPOINT_URL': 'http://127.0.0.1:%d' % proxy.port}) for _ in range(SERVERS)]
        load = Uploaders(servers)
        for mode in ('http 500', 'http 503', 'cut', 'reset', 'refuse', 'hang'):
            for every in (3, 1):  # some of the connections, then all
                proxy.set(mode, every)
                time.sleep(FAULTY_S / 12)
        proxy.set('ok')
        time.sleep(1)
        self.check(load, servers, 'S3 faulty for %d s' % FAULTY_S, 60)  # 20 s of tries for each of several requests, and a slow machine
        secret = S3.of_environment().secret
        self.assertEqual([s.data for s in servers if secret in s.log_text()], [])

    def test_the_database_is_restarted_and_frozen(self):
        database = Postgres()
        self.addCleanup(database.stop)
        database.sql('CREATE DATABASE archive')
        self.database = database.address + '/archive'
        servers = [self.start(env={'PGPASSWORD': database.password}) for _ in range(SERVERS)]
        load = Uploaders(servers)
        for i in range(RESTARTS):
            time.sleep(1)
            if i % 2 == 0:
                database.crash()
                time.sleep(1)
                database.start()
            else:
                frozen = database.freeze()
                time.sleep(FAULTY_S / 2)
                database.thaw(frozen)
        time.sleep(1)
        self.check(load, servers, 'the database crashed or frozen %d times' % RESTARTS, 20)  # one statement's 12 s, and a slow machine

    def test_the_network_of_a_server_is_cut(self):
        try:
            network = Network()
        except Impossible as e:
            self.skipTest('no network can be cut here: %s' % e)
        self.addCleanup(network.close)
        database = Postgres(listen=(network.ours,))
        self.addCleanup(database.stop)
        database.sql('CREATE DATABASE archive')
        password = {'PGPASSWORD': database.password}
        self.database = database.address + '/archive'
        others = [self.start(env=password) for _ in range(SERVERS - 1)]
        self.database = self.database.replace('127.0.0.1', network.ours)
        lone = self.start('--insecure-open', env={**password, 'AWS_ENDPOINT_URL': 'http://' + network.service(self.s3.host)}, wrapper=network.wrapper,
                          host=network.server)
        load, longest = Uploaders([lone, *others], workers=2 * SERVERS), 0
        for cut_s in CUTS_S:
            time.sleep(1)
            job = lone.put('long%d.bag' % cut_s, bag(lab_messages(20000, salt=cut_s)), Prefer='respond-async').json()
            load.acknowledged['long%d.bag' % cut_s] = job['content'][7:]
            network.cut()
            self.addCleanup(network.heal)
            end = time.monotonic() + cut_s
            refused, good = 0, len(load.acknowledged)
            while time.monotonic() < end:
                for path in ('/readyz', API + '/recordings'):
                    begun = time.monotonic()
                    answer = lone.get(path)
                    longest = max(longest, time.monotonic() - begun)
                    self.assertEqual((answer.status, bool(answer.headers['Retry-After'])), (503, True), answer)
                    refused += 1
                self.assertEqual(lone.get('/healthz').status, 200)
            if cut_s > LEASE_S:  # others have its jobs
                self.assertEqual(others[0].get('%s/recordings/%s' % (API, job['id'])).json()['state'], 'ready')
            self.assertGreater(len(load.acknowledged), good)  # the others went on
            network.heal()
            healed = time.monotonic()
            self.assertTrue(eventually(lambda: lone.get('/readyz').status == 200))
            back = time.monotonic() - healed
            self.assertTrue(eventually(lambda: others[0].get('%s/recordings/%s' % (API, job['id'])).json()['state'] == 'ready'))
            print('  cut for %d s: %d requests refused, the longest after %.1f s, ready again after %.1f s, its scan done after %.1f s'
                  % (cut_s, refused, longest, back, time.monotonic() - healed))
        time.sleep(1)
        self.assertLess(longest, 20)
        self.check(load, [*others, lone], 'the network of a server was cut %d times' % len(CUTS_S), 60)

    def test_the_disk_of_the_cache_is_slow(self):
        try:
            slow = disk.Disk()
        except (disk.Impossible, OSError) as e:
            self.skipTest('no disk can be mounted here: %s' % e)
        self.addCleanup(slow.close)
        slow.mount()
        folder = os.path.join(slow.folder, 'data')
        other, server = self.start(), self.start(data=folder, wrapper=ENDS_WITH_US)
        self.addCleanup(server.stop, None)  # before its disk goes
        files = {'s%d.bag' % i: bag(lab_messages(10, blob=300000, salt=100 + i)) for i in range(4)}
        ids = {name: other.added(name, data) for name, data in files.items()}
        for name in list(files)[:2]:  # in its cache
            self.assertEqual(server.get('%s/recordings/%s/file/x' % (API, ids[name])).body, files[name])
        server.stop()
        slow.detach()  # nothing of it stays in memory
        slow.attach()
        slow.mount()
        server = self.start(data=folder, wrapper=ENDS_WITH_US)
        self.addCleanup(server.stop, None)
        slow.medium.delay_s = SLOW_S
        load, longest = Uploaders([server, other]), 0
        for name, data in files.items():
            for path, check in (('file/x', data), ('messages?limit=1', None)):
                begun = time.monotonic()
                answer = server.get('%s/recordings/%s/%s' % (API, ids[name], path))
                longest = max(longest, time.monotonic() - begun)
                self.assertEqual(answer.status, 200, answer)
                self.assertTrue(check is None or answer.body == check)
        time.sleep(1)
        slow.medium.delay_s = 0
        load.acknowledged.update((name, sha(data)) for name, data in files.items())
        print('  each access to the disk of a cache takes %.2f s: the longest read %.1f s' % (SLOW_S, longest))
        self.assertLess(longest, 30)
        self.check(load, [other, server], 'the disk of a cache was slow', 30)
        server.stop()

    def test_the_disk_of_the_cache_is_full(self):
        if why := fault_space.why_not():
            self.skipTest(why)
        small = fault_space.Disk(self, self.folder(), 100)
        other, server = self.start(), self.start(data=small.folder)
        files = {'f%d.bag' % i: bag(lab_messages(20, blob=300000, salt=80 + i)) for i in range(3)}
        ids = {name: other.added(name, data) for name, data in files.items()}
        small.fill()
        for name, data in files.items():  # past the cache
            self.assertEqual(server.get('%s/recordings/%s/file/x' % (API, ids[name])).body, data)
        self.assertEqual(len(server.get(API + '/recordings').json()['items']), 3)
        answer = server.get('%s/recordings/%s/messages?limit=1' % (API, ids['f0.bag']))  # its index has to lie in the folder
        self.assertEqual(answer.status, 507, answer)
        answer = server.put('new.bag', bag(lab_messages(2, salt=90)))
        self.assertEqual(answer.status, 507, answer)
        self.assertEqual(other.put('new.bag', bag(lab_messages(2, salt=90))).status, 201)
        small.empty()
        self.assertEqual(server.get('%s/recordings/%s/messages?limit=1' % (API, ids['f0.bag'])).status, 200)
        self.assertEqual(server.put('newer.bag', bag(lab_messages(2, salt=91))).status, 201)
        server.stop()


if __name__ == '__main__':
    unittest.main()
