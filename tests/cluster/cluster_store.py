"""Files in a bucket and several servers over them: uploads that go from one to another, kills, faults of S3, caches, claims, rebuilding."""
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPConnection

from dashboards import check_dashboard
from databases import make_database
from faulty import Faulty
from harness import API, CATALOG, REEL, STORE, Server, eventually, files_below, reel
from s3 import S3
from samples import bag, lab_messages

TUS = {'Tus-Resumable': '1.0.0'}
BYTES = {**TUS, 'Content-Type': 'application/offset+octet-stream'}
BIG = bag(lab_messages(40, blob=300000, salt=7))  # more than three parts


@unittest.skipUnless(CATALOG and STORE, 'there is no S3 gateway')
class Cluster(unittest.TestCase):
    def setUp(self):
        self.s3, self.bucket = S3.of_environment(), STORE[len('s3://'):]
        self.prefix = 'c' + hashlib.md5(self.id().encode() + str(time.time()).encode()).hexdigest()[:12]
        self.database = make_database(self.prefix)
        self.folders, self.servers = [], []

    def tearDown(self):
        for server in self.servers:
            server.stop(None)
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)

    def folder(self):
        self.folders.append(tempfile.mkdtemp(prefix='reel-cluster-'))
        return self.folders[-1]

    def options(self):
        return ['--catalog', self.database, '--store', 's3://%s/%s' % (self.bucket, self.prefix)]

    def start(self, *args, data=None, **how):
        server = Server(data or self.folder(), *self.options(), *args, **how)
        self.servers.append(server)
        return server

    def keys(self, folder):
        return sorted(k[len(self.prefix) + 1:] for k in self.s3.keys(self.bucket, '%s/%s/' % (self.prefix, folder)))

    def create(self, server, length, name, collection='lab'):
        meta = 'name %s,collection %s' % tuple(subprocess.run(['base64', '-w0'], input=v.encode(), stdout=subprocess.PIPE).stdout.decode() for v in (name, collection))
        answer = server.request('POST', API + '/uploads', headers={**TUS, 'Upload-Length': str(length), 'Upload-Metadata': meta})
        self.assertEqual(answer.status, 201, answer)
        return answer.headers['Location']

    def offset(self, server, path):
        answer = server.request('HEAD', path, headers=TUS)
        self.assertEqual(answer.status, 200, answer)
        return int(answer.headers['Upload-Offset'])

    def upload_by_turns(self, servers, data, name, step):
        """Each piece through another server; the path of the finished upload."""
        path, turn = self.create(servers[0], len(data), name), 0
        at = 0
        while at < len(data):
            turn += 1
            server = servers[turn % len(servers)]
            self.assertEqual(self.offset(server, path), at)
            answer = server.request('PATCH', path, data[at:at + step], {**BYTES, 'Upload-Offset': str(at)})
            self.assertEqual(answer.status, 204, answer)
            at = int(answer.headers['Upload-Offset'])
        return path

    def check_file(self, server, name, data):
        found = max((r for r in server.get(API + '/recordings?limit=100').json()['items'] if r['name'] == name), key=lambda r: r['revision'])
        self.assertEqual((found['state'], found['content']), ('ready', 'sha256:' + hashlib.sha256(data).hexdigest()), found)
        path = '%s/recordings/%s/file/%s' % (API, found['id'], urllib.parse.quote(name))
        self.assertEqual(server.get(path).body, data)
        self.assertEqual(server.get(path, Range='bytes=%d-%d' % (len(data) // 2, len(data) // 2 + 99)).body, data[len(data) // 2:len(data) // 2 + 100])
        return found['id']


class Store(Cluster):
    def test_the_cache_is_only_a_cache(self):
        server = self.start('--store-cache-mb', '16')
        others = [bag(lab_messages(20, blob=300000, salt=20 + i)) for i in range(4)]
        for i, data in enumerate(others):
            server.added('c%d.bag' % i, data)
        for _ in range(2):
            for i, data in enumerate(others):
                self.check_file(server, 'c%d.bag' % i, data)
            used = sum(os.stat(f).st_blocks * 512 for f in files_below(os.path.join(server.data, 'objects')))
            self.assertLess(used, 20 << 20)
        server.stop()
        cached = max(files_below(os.path.join(server.data, 'objects')), key=lambda f: os.stat(f).st_blocks)
        with open(cached, 'r+b') as f:  # a block that a disk has changed is fetched again
            f.seek(5 << 20)
            f.write(b'\xaa' * 4096)
        server = self.start(data=server.data)
        for i, data in enumerate(others):
            self.check_file(server, 'c%d.bag' % i, data)
        server.stop()
        for folder in ('objects', 'blobs', 'derived', 'incoming'):
            shutil.rmtree(os.path.join(server.data, folder))
        server = self.start(data=server.data)
        for i, data in enumerate(others):
            ident = self.check_file(server, 'c%d.bag' % i, data)
            self.assertEqual(server.get('%s/recordings/%s/messages?limit=1' % (API, ident)).status, 200)

    def test_a_slice_fetches_what_it_needs(self):
        """Ten seconds of a recording that is one object: what is fetched ahead is little."""
        blob, seconds = 100000, 40
        ident = self.start().added('slices.bag', bag(lab_messages(seconds, blob=blob, salt=91)))
        server = self.start()  # whose cache is empty
        self.assertEqual(server.get('%s/recordings/%s/messages?limit=1' % (API, ident)).status, 200)
        eventually(lambda: not any(j['state'] in ('queued', 'running') for j in server.get(API + '/jobs').json()['items']))
        before = self.received(server)
        answer = server.get('%s/recordings/%s/messages?start=%%2B15s&end=%%2B25s' % (API, ident), accept='application/x-ndjson')
        self.assertEqual(answer.body.count(b'"/camera"'), 100)
        fetched = self.received(server) - before
        self.assertGreaterEqual(fetched, 100 * blob)
        self.assertLessEqual(fetched, 100 * blob + (4 << 20))

    def test_a_range_up_to_the_end_of_a_block_fetches_no_further_one(self):
        block = 1 << 20
        ident = self.start().added('edge.bag', bag(lab_messages(4, blob=100000, salt=92)))
        server = self.start('--statistics-when-asked')  # whose cache is empty
        before = self.received(server)
        answer = server.get('%s/recordings/%s/file/edge.bag' % (API, ident), Range='bytes=0-%d' % (block - 1))
        self.assertEqual((answer.status, len(answer.body)), (206, block))
        self.assertLess(self.received(server) - before, block + block // 2)

    def received(self, server):
        return float(re.search(r'^reel_s3_received_bytes_total (\S+)', server.get('/metrics').body.decode(), re.M).group(1))

    def packs(self, server):
        return {os.path.basename(f)[:-5] for f in files_below(os.path.join(server.data, 'blobs')) if f.endswith('.reel')}

    def test_indexes_are_trimmed_with_the_cache(self):
        server = self.start('--store-cache-mb', '16')
        data = bag(lab_messages(1, salt=71))
        path, content = '%s/recordings/%s/messages?limit=1' % (API, server.added('a.bag', data)), hashlib.sha256(data).hexdigest()
        others = [bag(lab_messages(20, blob=300000, salt=72 + i)) for i in range(4)]

        def fill():
            for i, other in enumerate(others):
                server.added('o%d.bag' % i, other)
                self.check_file(server, 'o%d.bag' % i, other)
        self.assertEqual(server.get(path).status, 200)
        for _ in range(2):
            fill()
        self.assertIn(content, self.packs(server))  # it is open
        server.stop()
        server = self.start('--store-cache-mb', '16', data=server.data)
        for _ in range(2):
            fill()
        self.assertNotIn(content, self.packs(server))
        self.assertLess(float(re.search(r'^reel_store_cache_bytes (\S+)', server.get('/metrics').body.decode(), re.M).group(1)), 20 << 20)
        jobs = server.get(API + '/jobs?limit=1000').json()['items']
        self.assertEqual(server.get(path).status, 200)  # fetched again, not made again
        self.assertIn(content, self.packs(server))
        self.assertEqual({j['id'] for j in server.get(API + '/jobs?limit=1000').json()['items']}, {j['id'] for j in jobs})

    def test_the_dashboard_asks_for_what_there_is(self):
        server = self.start()
        server.added('a.bag', bag(lab_messages(1, salt=70)))
        check_dashboard(self, 'cluster.json', server.get('/metrics').body.decode())

    def test_what_is_being_sent_stays_in_the_cache(self):
        server = self.start('--store-cache-mb', '32')
        first, *others = [bag(lab_messages(40, blob=300000, salt=60 + i)) for i in range(5)]  # each is above a third of the cache
        path = '%s/recordings/%s/file/a.bag' % (API, server.added('a.bag', first))
        for _ in range(2):  # then it is whole in the cache, and sent from its file
            self.assertEqual(server.get(path).body, first)
        connection = HTTPConnection('127.0.0.1', server.port, timeout=60)
        connection.request('GET', path)
        answer = connection.getresponse()
        body = answer.read(100000)
        for i, data in enumerate(others):
            server.added('o%d.bag' % i, data)
            self.check_file(server, 'o%d.bag' % i, data)
        self.assertEqual(body + answer.read(), first)
        connection.close()

    def test_equal_content_is_kept_once_and_goes_with_its_last_recording(self):
        servers = [self.start() for _ in range(2)]
        data = bag(lab_messages(3, blob=200000, salt=30))
        ids = [servers[i % 2].added('same%d.bag' % i, data) for i in range(4)]
        self.assertEqual(len(self.keys('objects')), 1)
        for i, ident in enumerate(ids):
            self.check_file(servers[0], 'same3.bag', data)
            self.assertIn(servers[i % 2].request('DELETE', '%s/recordings/%s?purge=true' % (API, ident)).status, (200, 204))
            self.assertEqual(len(self.keys('objects')), 1 if i < 3 else 0)
        self.assertEqual((self.keys('packs'), self.keys('manifests')), ([], []))
        again = servers[0].added('again.bag', data)  # by the index that this server still has: the bucket gets it too
        self.assertEqual(len(self.keys('packs')), 1)
        self.assertEqual(self.start().get('%s/recordings/%s/messages?limit=1' % (API, again)).status, 200)

    def test_many_servers_write_the_same_content_at_once(self):
        servers = [self.start() for _ in range(3)]
        data, answers = bag(lab_messages(3, blob=200000, salt=31)), []

        def put(i):
            answers.append(servers[i % 3].put('at-once%d.bag' % i, data).status)
        threads = [threading.Thread(target=put, args=(i,)) for i in range(9)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(sorted(answers), [201] * 9)
        self.assertEqual(len(self.keys('objects')), 1)
        self.assertEqual(len(json.loads(self.s3.get(self.bucket, '%s/%s' % (self.prefix, self.keys('manifests')[0])))['recordings']), 9)
        self.assertEqual(reel('fsck', '--data', servers[0].data, check=False).returncode, 0)

    def test_a_lost_catalog_is_made_again_from_the_bucket(self):
        server = self.start()
        ident = server.added('kept.bag', BIG, '?tag=robot=r1')
        before = server.get('%s/recordings/%s' % (API, ident)).json()
        server.stop()
        old, self.database = self.database, make_database(self.prefix + 'b')
        with self.assertRaisesRegex(AssertionError, 'does not know'):  # a catalog that knows nothing takes nothing over
            self.start()
        folder = self.folder()
        with open(os.path.join(folder, 'catalog-folder'), 'w') as f:
            f.write(self.database + '\n')
        os.mkdir(os.path.join(folder, 'blobs'))
        with open(os.path.join(folder, 'store-bucket'), 'w') as f:
            f.write('s3://%s/%s\n' % (self.bucket, self.prefix))
        done = reel('fsck', '--data', folder, '--repair', check=False)
        self.assertIn(b'kept.bag', done.stdout + done.stderr)
        server = self.start()
        after = server.get('%s/recordings/%s' % (API, ident)).json()
        self.assertEqual({k: after[k] for k in ('name', 'tags', 'content', 'size')}, {k: before[k] for k in ('name', 'tags', 'content', 'size')})
        self.check_file(server, 'kept.bag', BIG)
        server.stop()
        self.database = old

    def test_nobody_opens_what_belongs_to_another(self):
        first = self.start()
        first.added('a.bag', bag(lab_messages(1, salt=40)))
        prefix, self.prefix = self.prefix, self.prefix + 'x'
        with self.assertRaisesRegex(AssertionError, 'in another bucket'):
            self.start()
        first.stop()
        self.prefix += 'y'
        with self.assertRaisesRegex(AssertionError, 'belongs to the store'):
            self.start(data=first.data)
        self.prefix = prefix
        local = self.folder()
        os.mkdir(os.path.join(local, 'blobs'))  # so that the harness gives it no bucket
        own = Server(local, '--catalog', make_database(self.prefix + 'l'))
        own.added('b.bag', bag(lab_messages(1, salt=41)))
        own.stop()
        done = subprocess.run([REEL, 'serve', '--data', local, '--store', 's3://%s/%s' % (self.bucket, self.prefix), '--listen', '127.0.0.1:0'], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60)
        self.assertIn('recordings of its own', done.stdout)
        for wrong, words in (({'AWS_SECRET_ACCESS_KEY': 'notthesecret'}, '403'), ({'AWS_ENDPOINT_URL': 'http://127.0.0.1:9'}, 'does not answer')):
            with self.assertRaises(AssertionError) as raised:
                self.start(env=wrong)
            self.assertIn(words, str(raised.exception))
            self.assertNotIn('notthesecret', str(raised.exception))

    def test_originals_are_redirected_to_the_bucket(self):
        server = self.start('--redirect-originals')
        ident = server.added('räder „x".bag', BIG)
        path = '%s/recordings/%s/file/x.bag' % (API, ident)
        answer = server.get(path, Range='bytes=5-9')
        self.assertEqual((answer.status, answer.body, answer.headers['Cache-Control']), (307, b'', 'no-store'))
        address = answer.headers['Location']
        self.assertNotIn(os.environ['AWS_SECRET_ACCESS_KEY'], address)
        with urllib.request.urlopen(address, timeout=60) as there:
            self.assertEqual(there.read(), BIG)
            self.assertIn(urllib.parse.quote('räder „x".bag'), there.headers['Content-Disposition'])
        with urllib.request.urlopen(urllib.request.Request(address, headers={'Range': 'bytes=100-199'}), timeout=60) as there:
            self.assertEqual((there.status, there.read()), (206, BIG[100:200]))
        with self.assertRaises(urllib.error.HTTPError):
            urllib.request.urlopen(address.replace('/objects/', '/objects/0'), timeout=60)
        head = server.request('HEAD', path)
        self.assertEqual((head.status, head.headers['Content-Length']), (200, str(len(BIG))))
        self.assertEqual(server.get(path, **{'If-None-Match': head.headers['ETag']}).status, 304)
        same = server.get(path, **{'If-Range': head.headers['ETag'], 'Range': 'bytes=100-199'})
        self.assertEqual((same.status, same.body), (206, BIG[100:200]))
        self.assertEqual(self.start().get(path).body, BIG)  # it is each server's own option
        server.request('DELETE', '%s/recordings/%s' % (API, ident))
        self.assertEqual(server.get(path).status, 410)

    def put_old(self, name, data):
        self.s3.put(self.bucket, '%s-old/%s' % (self.prefix, name), data)

    def import_url(self, server, url, **body):
        answer = server.request('POST', API + '/imports', json.dumps({'url': url, 'mode': 'reference', 'collection': 'lab', **body}))
        self.assertEqual(answer.status, 202, answer)
        job = answer.headers['Location']
        self.assertTrue(eventually(lambda: server.get(job).json()['state'] in ('done', 'failed')))
        return server.get(job).json()

    def counts(self, job):
        self.assertEqual(job['state'], 'done', job)
        return {k: v for k, v in job['outcome'].items() if v}

    def test_an_existing_bucket_is_cataloged_in_place(self):
        old = 's3://%s/%s-old' % (self.bucket, self.prefix)
        files = {'2019/a.bag': BIG, '2019/b/ä c.bag': bag(lab_messages(30)), '2019-other/d.bag': bag(lab_messages(31))}
        for name, data in files.items():
            self.put_old(name, data)
        self.put_old('2019/notes.txt', b'nothing that can be played')
        self.put_old('2019/bad.bag', b'#ROSBAG V2.0\nnot really')
        server = self.start('--import-root', old + '/2019')
        self.assertEqual(server.request('POST', API + '/imports', json.dumps({'url': old + '/2019-other/', 'mode': 'reference'})).status, 404)
        self.assertEqual(server.request('POST', API + '/imports', json.dumps({'url': old + '/2019/'})).status, 400)
        self.assertEqual(self.counts(self.import_url(server, old + '/2019/', tags={'robot': 'r1'})), {'created': 2, 'no_recording': 1, 'failed': 1})
        self.assertEqual(self.keys('objects'), [])  # nothing was copied
        self.check_file(server, 'a.bag', BIG)
        ident = self.check_file(server, 'b/ä c.bag', files['2019/b/ä c.bag'])
        self.assertEqual(server.get('%s/recordings/%s' % (API, ident)).json()['tags'], {'robot': 'r1'})
        self.assertEqual(server.get('%s/recordings/%s/messages?limit=1' % (API, ident)).status, 200)
        self.assertEqual([(f['path'], f['code']) for f in server.get(API + '/failures').json()['items']], [(old + '/2019/bad.bag', 'damaged')])
        self.assertEqual(self.counts(self.import_url(server, old + '/2019')), {'unchanged': 3, 'failed': 1})
        other = self.start()  # another server reads them, too
        self.check_file(other, 'a.bag', BIG)

        now = bag(lab_messages(32))
        self.put_old('2019/b/ä c.bag', now)  # it is overwritten
        self.assertEqual(other.get('%s/recordings/%s/file/x.bag' % (API, ident)).status, 410)
        self.assertTrue(eventually(lambda: other.get('%s/recordings/%s' % (API, ident)).json()['state'] == 'changed'))
        self.assertEqual(self.counts(self.import_url(server, old + '/2019/', replace=True)), {'created': 1, 'unchanged': 2, 'failed': 1})
        self.check_file(server, 'b/ä c.bag', now)
        self.put_old('2019/bad.bag', bag(lab_messages(33)))  # it is mended, and tried again
        failure, = server.get(API + '/failures').json()['items']
        job = server.request('POST', '%s/failures/%d/retry' % (API, failure['id'])).headers['Location']
        self.assertTrue(eventually(lambda: server.get(job).json()['state'] == 'done'))
        self.check_file(server, 'bad.bag', bag(lab_messages(33)))
        self.s3.delete(self.bucket, '%s-old/2019/a.bag' % self.prefix)
        self.import_url(server, old + '/2019/b')
        gone, = [r for r in server.get(API + '/recordings').json()['items'] if r['name'] == 'a.bag']
        self.assertEqual(other.get('%s/recordings/%s/file/a.bag' % (API, gone['id'])).status, 410)
        self.assertTrue(eventually(lambda: other.get('%s/recordings/%s' % (API, gone['id'])).json()['state'] == 'missing'))

        for item in server.get(API + '/recordings').json()['items']:  # deleting forgets them, and touches nothing
            self.assertEqual(server.request('DELETE', '%s/recordings/%s?purge=true' % (API, item['id'])).status, 204)
        self.assertEqual(self.s3.get(self.bucket, '%s-old/2019/b/ä c.bag' % self.prefix), now)

    def test_links_of_one_server_hold_at_the_others(self):
        servers = [self.start() for _ in range(2)]
        ident = servers[0].added('a.bag', bag(lab_messages(1, salt=42)))
        keys = [open(os.path.join(s.data, 'link-keys')).read() for s in servers]
        self.assertEqual(keys[0], keys[1])
        self.assertEqual(servers[1].get('%s/recordings/%s' % (API, ident)).status, 200)


class Faults(Cluster):
    """S3 behind a proxy that breaks it."""
    def setUp(self):
        super().setUp()
        self.proxy = Faulty(self.s3.host)
        self.addCleanup(self.proxy.stop)
        self.through = {'AWS_ENDPOINT_URL': 'http://127.0.0.1:%d' % self.proxy.port}

    def test_errors_and_cuts_are_tried_again(self):
        server = self.start(env=self.through)
        for i, mode in enumerate(('http 503', 'cut', 'reset')):
            self.proxy.set(mode, every=3)  # each third connection
            data = bag(lab_messages(20, blob=300000, salt=50 + i))
            server.added('f%d.bag' % i, data)
            server.stop()
            shutil.rmtree(os.path.join(server.data, 'objects'))
            server = self.start(data=server.data, env=self.through)
            self.check_file(server, 'f%d.bag' % i, data)
            self.proxy.set('ok')

    def test_readiness_asks_s3_and_seldom(self):
        server = self.start(env=self.through)
        asked = self.requests(server, 'HEAD')
        for _ in range(20):
            self.assertEqual(server.get('/readyz').status, 200)
        self.assertLess(self.requests(server, 'HEAD') - asked, 5)
        for mode in ('http 500', 'hang'):
            self.proxy.set(mode)

            def fails():
                begun = time.monotonic()
                answer = server.get('/readyz')
                self.assertLess(time.monotonic() - begun, 4)
                return answer.status == 503 and answer
            answer = eventually(fails)
            self.assertTrue(answer.headers['Retry-After'])
            self.assertEqual((answer.json()['type'], answer.json()['detail']), ('/problems/not-ready', 'S3 does not answer'))
            self.assertEqual(server.get('/healthz').status, 200)
            self.proxy.set('ok')
            self.assertTrue(eventually(lambda: server.get('/readyz').status == 200))

    def requests(self, server, method):
        text = server.get('/metrics').body.decode()
        return float(re.search(r'^reel_s3_requests_total\{method="%s"\} (\S+)' % method, text, re.M).group(1))

    def test_while_s3_is_away_requests_get_503_and_nothing_is_lost(self):
        server = self.start(env=self.through)
        data = bag(lab_messages(3, blob=300000, salt=60))
        ident = server.added('before.bag', data)
        for mode in ('http 500', 'refuse', 'hang'):
            self.proxy.set(mode)
            begun = time.monotonic()
            answer = server.put('during.bag', bag(lab_messages(3, salt=61)))
            self.assertEqual(answer.status, 503, answer)
            self.assertTrue(answer.headers['Retry-After'])
            self.assertLess(time.monotonic() - begun, 60)
            self.assertEqual(server.get(API + '/recordings').json()['items'][0]['id'], ident)  # the catalog answers
            self.assertEqual(server.get('%s/recordings/%s/messages?limit=1' % (API, ident)).status, 200)  # from the cache
            self.proxy.set('ok')
            self.assertEqual(len(server.get(API + '/recordings').json()['items']), 1)
        server.added('during.bag', bag(lab_messages(3, salt=61)))
        self.check_file(server, 'before.bag', data)
        self.assertNotIn(S3.of_environment().secret, server.log_text())
        self.assertEqual(self.keys('incoming'), [])


if __name__ == '__main__':
    unittest.main()
