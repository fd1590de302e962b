"""Conversions are real files too: length and tag before the first byte, any range, the same after a restart; and they hold what the source holds."""
import io
import os
import random
import shutil
import signal
import tarfile
import tempfile
import urllib.parse

from harness import API, Case, QUICK, Server, payload, reel, time_ns
from samples import SECOND, T0, bag, by_topic, fold, lab_messages, nanover, nanover_messages, read_bag, read_mcap, read_nanover

LAB = lab_messages(6, blob=60_000)
SIM = nanover_messages(200, atoms=400)
BINARY = (('lab', 'as/x.mcap', ''), ('lab', 'as/x.bag', '?version=1.2'), ('lab', 'as/x.bag', ''), ('lab', 'as/x.bag', '?version=2.0&compression=lz4'), ('sim', 'as/x.bag', '?compression=bz2'),
          ('lab', 'as/x.mcap', '?start=%2B1s&end=%2B4s&topic=/camera&topic=/odom'),
          ('lab', 'as/x.bag', '?version=1.2&start=%2B3s&last=per_topic'), ('sim', 'as/x.mcap', ''), ('sim', 'as/x.nanover.zip', ''),
          ('sim', 'as/x.nanover.zip', '?start=%2B2s&end=%2B5s'))


class Convert(Case):
    @classmethod
    def setUpClass(cls):
        cls.data = tempfile.mkdtemp(prefix='reel-e2e-')
        cls.server = Server(cls.data)
        cls.ids = {'lab': cls.server.added('lab.bag', bag(LAB)), 'sim': cls.server.added('sim.nanover.zip', nanover(SIM))}

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        shutil.rmtree(cls.data, ignore_errors=True)

    def path(self, source, rest):
        return '%s/recordings/%s/%s' % (API, self.ids[source], rest)

    def test_mcap_holds_the_source(self):
        answer = self.get(self.path('lab', 'as/x.mcap'))
        channels, schemas, messages = read_mcap(answer.body)
        self.assertEqual(by_topic(messages), by_topic(LAB))
        self.assertEqual({(t, e) for t, e, _ in channels.values()}, {(m.topic, 'ros1') for m in LAB})
        for _, _, schema in channels.values():
            self.assertEqual(schemas[schema][1], 'ros1msg')

    def test_mcap_of_nanover_has_schemas(self):
        channels, schemas, messages = read_mcap(self.get(self.path('sim', 'as/x.mcap')).body)
        self.assertEqual(len(messages), len(SIM))
        self.assertTrue(all(schema in schemas for _, _, schema in channels.values()))

    def test_bag_holds_the_source(self):
        self.assertEqual(by_topic(read_bag(self.get(self.path('lab', 'as/x.bag?version=1.2')).body)), by_topic(LAB))

    def test_bag_keeps_latching(self):
        messages = read_bag(self.get(self.path('lab', 'as/x.bag?version=1.2')).body)
        self.assertEqual({m.topic for m in messages if m.latched}, {'/map'})

    def test_nanover_holds_the_source(self):
        self.assertEqual([p for _, p in read_nanover(self.get(self.path('sim', 'as/x.nanover.zip')).body)], [p for _, p in read_nanover(nanover(SIM))])

    def test_ndjson_holds_the_source(self):
        answer = self.get(self.path('lab', 'as/x.ndjson?decode=none'))
        self.assertEqual(answer.headers.get_content_type(), 'application/x-ndjson')
        self.assertEqual([(time_ns(r['log_time']), payload(r)) for r in answer.rows()], [(m.time, m.payload) for m in sorted(LAB, key=lambda m: m.time)])

    def test_settings_of_tapes(self):
        def tape(query):
            return self.get(self.path('sim', 'as/x.tape' + query)).body

        plain, packed, some = tape(''), tape('?compression=zlib'), tape('?compression=zlib&compress_topic=fram*')
        self.assertLessEqual(len(packed), len(some))
        self.assertLess(len(some), len(plain))
        self.assertEqual(len(tape('?compression=zlib&compress_topic=/none')), len(plain))
        self.assertLess(len(packed), len(tape('?compression=zlib&compress_from=5000')))
        small = tape('?block_size=20000')
        self.assertGreater(len(small), len(plain))  # more blocks
        rows = self.get(self.path('sim', 'messages?decode=none')).rows()
        for name, data in (('some', some), ('small', small)):
            back = self.server.added(name + '.tape', data)
            read = self.get('%s/recordings/%s/messages?decode=none' % (API, back)).rows()
            self.assertEqual([(r['topic'], r['data']) for r in read], [(r['topic'], r['data']) for r in rows])
        self.assertProblem(self.server.get(self.path('sim', 'as/x.mcap?block_size=20000')), 400, 'means nothing for mcap files')
        self.assertProblem(self.server.get(self.path('sim', 'as/x.tape?fps=5')), 400, 'block_size, compress_from, compress_topic')
        self.assertProblem(self.server.get(self.path('sim', 'as/x.tape?block_size=100')), 400, 'from 1024 to 1073741824')

    def test_messages_by_their_values(self):
        rows = self.get(self.path('lab', 'messages?topic=/odom')).rows()
        x = sorted(r['data']['x'] for r in rows)[len(rows) // 3]
        keep = [r for r in rows if r['data']['x'] > x]
        self.assertLess(0, len(keep) < len(rows))
        where = 'where=/odom.x%%3E%r' % x
        self.assertEqual(self.get(self.path('lab', 'messages?topic=/odom&' + where)).rows(), keep)
        self.assertEqual(len(self.get(self.path('lab', 'messages?' + where)).rows()), len(LAB) - len(rows) + len(keep))  # other topics stay
        want = by_topic([m for m in LAB if m.topic == '/odom' and m.time in {time_ns(r['log_time']) for r in keep}])
        for name in ('x.mcap?', 'x.bag?', 'x.bag?version=1.2&', 'x.mcap?compression=zstd&'):
            answer = self.get(self.path('lab', 'as/' + name + 'topic=/odom&' + where))
            self.assertEqual(len(answer.body), int(answer.headers['Content-Length']))
            if '1.2' in name:
                self.assertEqual(by_topic(read_bag(answer.body)), want)
        _, _, messages = read_mcap(self.get(self.path('lab', 'as/x.mcap?topic=/odom&' + where)).body)
        self.assertEqual(by_topic(messages), want)
        last = [r for r in rows if r['data']['x'] <= x][-1]  # of those up to a time, the last for which it holds
        at = 'as/x.ndjson?topic=/odom&at=%s&where=/odom.x%%3C%%3D%r' % (rows[-1]['log_time'], x)
        self.assertEqual([r['log_time'] for r in self.get(self.path('lab', at)).rows()], [last['log_time']])
        words = self.get(self.path('lab', 'messages?topic=/robot/chatter')).rows()
        said = words[1]['data']['data']
        texts = self.get(self.path('lab', 'messages?topic=/robot/chatter&where=/robot/chatter.data=' + urllib.parse.quote(said))).rows()
        self.assertEqual(texts, [r for r in words if r['data']['data'] == said])
        self.assertEqual(self.get(self.path('lab', 'messages?topic=/odom&where=/odom.nothing>1')).rows(), [])
        most = sorted(r['data']['x'] for r in rows)[-2]
        ends = 'where=' + urllib.parse.quote('(/odom.x<=%r or /odom.x>%r) and /robot/chatter.data="%s"' % (x, most, said))
        both = [r for r in rows if r['data']['x'] <= x or r['data']['x'] > most]
        self.assertLess(0, len(both) < len(rows))
        self.assertEqual(self.get(self.path('lab', 'messages?topic=/odom&' + ends)).rows(), both)
        self.assertEqual(self.get(self.path('lab', 'messages?topic=/robot/chatter&' + ends)).rows(), texts)
        for bad, words in (('/odom', 'a condition'), ('/nothing.x%3E1', 'no topic'), ('%3E1', 'a condition'), ('/odom.x%3E1%20or', 'a condition')):
            self.assertProblem(self.server.get(self.path('lab', 'messages?where=' + bad)), 400, words)

    def parts(self, source, query):
        """The members of an archive of parts, and the answer."""
        answer = self.get(self.path(source, query))
        self.assertEqual(len(answer.body), int(answer.headers['Content-Length']))
        with tarfile.open(fileobj=io.BytesIO(answer.body)) as archive:
            return {m.name: archive.extractfile(m).read() for m in archive.getmembers()}, answer

    def test_split_by_duration(self):
        parts, answer = self.parts('lab', 'as/lab.mcap.tar?split=duration:2s')
        self.assertEqual(answer.headers.get_content_type(), 'application/x-tar')
        start, end = min(m.time for m in LAB), max(m.time for m in LAB)
        self.assertEqual(sorted(parts), ['lab_%04d.mcap' % i for i in range((end - start) // (2 * SECOND) + 1)])
        for i, name in enumerate(sorted(parts)):
            begin = start + i * 2 * SECOND
            _, _, messages = read_mcap(parts[name])
            latched = [m for m in LAB if m.latched and m.time < begin]  # each part can be played alone
            self.assertEqual(len(latched), int(i > 0))
            self.assertEqual(by_topic(messages), by_topic(latched + [m for m in LAB if begin <= m.time < begin + 2 * SECOND]), name)
            if i == 0:
                alone = self.get(self.path('lab', 'as/x.mcap?start=%d&end=%d' % (begin, begin + 2 * SECOND)))
                self.assertEqual(len(alone.body), len(parts[name]))  # as if it were cut
        rng = random.Random(4)
        for _ in range(12):  # any range is the same alone
            first = rng.randrange(len(answer.body))
            last = min(first + rng.randrange(200_000), len(answer.body) - 1)
            piece = self.server.get(self.path('lab', 'as/lab.mcap.tar?split=duration:2s'), Range='bytes=%d-%d' % (first, last))
            self.assertEqual((piece.status, piece.body), (206, answer.body[first:last + 1]))

    def test_split_by_size(self):
        whole = len(self.get(self.path('lab', 'as/x.bag?version=1.2')).body)
        for most in (whole // 2, whole * 2):
            parts, _ = self.parts('lab', 'as/lab.bag.tar?version=1.2&split=size:%d' % most)
            self.assertEqual(len(parts) > 1, most < whole)
            self.assertTrue(most > whole or all(len(data) < most * 1.2 for data in parts.values()), [len(d) for d in parts.values()])
            messages = [m for i, name in enumerate(sorted(parts)) for m in read_bag(parts[name]) if i == 0 or not m.latched]
            self.assertEqual(by_topic(messages), by_topic(LAB))
        parts, _ = self.parts('sim', 'as/sim.nanover.zip.tar?split=duration:3s')  # parts begin with the state at that time
        self.assertGreater(len(parts), 1)
        self.assertGreater(sum(len(read_nanover(data)) for data in parts.values()), len(SIM))
        tags = {self.get(self.path('lab', 'as/lab.mcap' + q)).headers['ETag'] for q in ('', '.tar?split=size:1MB', '.tar?split=size:2MB', '.tar?split=duration:1s')}
        self.assertEqual(len(tags), 4)

    def test_split_is_refused(self):
        for name, bad, words in (('x.mcap.tar', 'size:0', 'size:1GB'), ('x.mcap.tar', '60s', 'duration:60s'), ('x.mcap.tar', 'duration:0s', 'duration'),
                                 ('x.mcap', 'size:1MB', '.tar'), ('x.ndjson.tar', 'size:1MB', 'not split')):
            self.assertProblem(self.server.get(self.path('lab', 'as/%s?split=%s' % (name, bad))), 400, words)
        many = self.server.added('many.bag', bag(lab_messages(100)))
        self.assertProblem(self.server.get('%s/recordings/%s/as/x.mcap.tar?split=duration:1ms' % (API, many)), 413, '1000 parts')
        self.assertProblem(self.server.get(self.path('lab', 'as/x.mcap.tar')), 406, '.tar')

    def test_split_on_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'lab.bag')
            with open(path, 'wb') as f:
                f.write(bag(LAB))
            reel('convert', path, os.path.join(folder, 'out.mcap'), '--split', 'duration:2s')
            names = sorted(n for n in os.listdir(folder) if n.startswith('out'))
            self.assertEqual(names[:2], ['out_0000.mcap', 'out_0001.mcap'])
            messages = []
            for name in names:
                with open(os.path.join(folder, name), 'rb') as f:
                    part = read_mcap(f.read())[2]
                latched = [m for m in part if m.topic == '/map']  # in each part, which can be played alone
                self.assertEqual(len(latched), 1, name)
                messages += part if name == names[0] else [m for m in part if m.topic != '/map']
            self.assertEqual(by_topic(messages), by_topic(LAB))
            self.assertNotEqual(reel('convert', path, os.path.join(folder, 'bad.mcap'), '--split', '2s', check=False).returncode, 0)
            reel('convert', path, os.path.join(folder, 'rows.ndjson'), '--split', 'duration:2s')
            self.assertTrue(os.path.exists(os.path.join(folder, 'rows_0001.ndjson')))

    def test_topics_get_other_names(self):
        query = '?rename=/odom:/wheels&rename=map:/plan&topic=/odom&topic=/map'
        want = by_topic([m for m in LAB if m.topic in ('/odom', '/map')])
        want = {{'/odom': '/wheels', '/map': '/plan'}[topic]: v for topic, v in want.items()}
        _, _, messages = read_mcap(self.get(self.path('lab', 'as/x.mcap' + query)).body)
        self.assertEqual(by_topic(messages), want)
        self.assertEqual(by_topic(read_bag(self.get(self.path('lab', 'as/x.bag' + query + '&version=1.2')).body)), want)
        self.assertEqual({r['topic'] for r in self.get(self.path('lab', 'messages' + query)).rows()}, {'/wheels', '/plan'})
        tags = {self.get(self.path('lab', 'as/x.mcap' + q)).headers['ETag'] for q in ('', '?rename=/odom:/a', '?rename=/odom:/b')}
        self.assertEqual(len(tags), 3)
        for bad in ('/odom', ':/a', '/odom:'):
            self.assertProblem(self.server.get(self.path('lab', 'messages?rename=' + bad)), 400, 'FROM:TO')

    def test_a_cut_holds_the_interval(self):
        answer = self.get(self.path('lab', 'as/x.mcap?start=%2B1s&end=%2B2s&exclude_topic=/camera'))
        channels, _, messages = read_mcap(answer.body)
        want = [m for m in LAB if T0 + SECOND <= m.time < T0 + 2 * SECOND and m.topic != '/camera']
        self.assertEqual(by_topic(messages), by_topic(want))
        self.assertIn('/map', {t for t, _, _ in channels.values()})  # selected, though without a message here

    def test_a_cut_with_last_per_topic_carries_the_map(self):
        _, _, messages = read_mcap(self.get(self.path('lab', 'as/x.mcap?start=%2B2s&end=%2B3s&last=per_topic')).body)
        self.assertIn(LAB[0].payload, [m.payload for m in messages if m.topic == '/map'])

    def test_a_nanover_cut_starts_with_the_state_of_its_instant(self):
        source = read_nanover(nanover(SIM))
        for start in (0, 1000, 700_000, 3_000_123, 3_334_300):
            with self.subTest(start):
                cut = read_nanover(self.get(self.path('sim', 'as/x.nanover.zip?start=%dus' % start)).body)
                wanted = fold(source, before=start)
                if any(wanted):
                    self.assertEqual(fold(cut[:1]), ({**wanted[0], **({'frame.index': 0} if wanted[0] else {})}, wanted[1]))
                    self.assertEqual(cut[0][0]['metadata']['timestamp'], 0)
                    cut = cut[1:]
                tail = [(e, p) for e, p in source if e['metadata']['timestamp'] >= start]
                self.assertEqual([p for _, p in cut], [p for _, p in tail])
                if start > 0:
                    self.assertEqual([e['metadata']['timestamp'] for e, _ in cut], [e['metadata']['timestamp'] - start for e, _ in tail])

    def test_a_nanover_cut_is_the_same_from_any_container(self):
        wanted = read_nanover(self.get(self.path('sim', 'as/x.nanover.zip?start=%2B2s&end=%2B5s')).body)
        self.assertTrue(wanted)
        for ending in ('x.mcap', 'x.tape', 'x.tide?version=2.0', 'x.bag', 'x.bag?version=1.2'):
            made = self.server.added('foreign-' + ending.replace('?', '-'), self.get(self.path('sim', 'as/' + ending)).body, collection='foreign')
            cut = self.get('%s/recordings/%s/as/x.nanover.zip?start=%%2B2s&end=%%2B5s' % (API, made)).body
            self.assertEqual(read_nanover(cut), wanted, ending)

    def test_random_ranges_make_the_whole(self):
        rng = random.Random(11)
        for source, target, query in BINARY:
            with self.subTest(source + ' ' + target + query):
                path = self.path(source, target + query)
                head = self.server.request('HEAD', path)
                size, tag = int(head.headers['Content-Length']), head.headers['ETag']
                self.assertEqual(head.headers['Accept-Ranges'], 'bytes')
                cuts = sorted({0, size, *(rng.randrange(size) for _ in range(8 if QUICK else 30)), *(min(k, size) for k in (1, 8, 66))})
                pieces, got = list(zip(cuts, cuts[1:])), bytearray(size)
                rng.shuffle(pieces)
                for first, end in pieces:
                    answer = self.get(path, 206, Range='bytes=%d-%d' % (first, end - 1), If_Range=tag)
                    self.assertEqual(answer.headers['Content-Range'], 'bytes %d-%d/%d' % (first, end - 1, size))
                    got[first:end] = answer.body
                whole = self.get(path)
                self.assertEqual((whole.headers['ETag'], len(whole.body)), (tag, size))
                self.assertTrue(bytes(got) == whole.body)
                self.assertEqual(self.get(path, 206, Range='bytes=-4096').body, whole.body[-4096:])
                self.assertEqual(self.get(path, 304, If_None_Match=tag).body, b'')
                self.get(path, 416, Range='bytes=%d-' % size)

    def test_tag_names_content_and_parameters(self):
        tags = [self.server.request('HEAD', self.path(s, t + q)).headers['ETag'] for s, t, q in BINARY]
        self.assertEqual(len(set(tags)), len(BINARY))
        for tag in tags:
            self.assertRegex(tag, r'^"[^"]+"$')
        again = Server(self.copy())
        try:
            self.assertEqual([again.request('HEAD', self.path(s, t + q)).headers['ETag'] for s, t, q in BINARY], tags)
        finally:
            again.stop()
            shutil.rmtree(again.data)

    def copy(self):
        """The data folder as it is, for a server after a restart (this one's lock is not copied along in force). No file goes meanwhile."""
        to = tempfile.mkdtemp(prefix='reel-e2e-')
        self.server.process.send_signal(signal.SIGSTOP)
        try:
            shutil.copytree(self.data, to, dirs_exist_ok=True)
        finally:
            self.server.process.send_signal(signal.SIGCONT)
        return to

    def test_nothing_is_stored(self):
        from harness import files_below
        stored = lambda: [f for f in files_below(self.data) if not f.endswith(('-wal', '-shm', '.stats', '.events'))]  # what comes and goes by itself
        before = stored()
        for source, target, query in BINARY:
            self.get(self.path(source, target + query))
        self.assertEqual(set(stored()) - set(before), set())  # what an upload before left in incoming/ may be gone

    def test_report_says_what_would_change(self):
        for source, target in (('lab', 'as/x.mcap?report'), ('sim', 'as/x.mcap?report'), ('lab', 'as/x.bag?version=1.2&report')):
            with self.subTest(target):
                answer = self.get(self.path(source, target))
                self.assertEqual(answer.headers.get_content_type(), 'application/json')
                self.assertIsInstance(answer.json(), dict)

    def test_targets_that_are_not_there_are_406_with_the_list(self):
        for target in ('as/x.bag?version=1.3', 'as/x.xyz', 'as/x.avi', 'as/x', 'as/x.bag?version=7'):
            with self.subTest(target):
                self.assertProblem(self.server.get(self.path('lab', target)), 406, 'mcap', 'nanover.zip')

    def test_a_target_that_cannot_hold_the_source_is_422(self):
        self.assertProblem(self.server.get(self.path('lab', 'as/x.nanover.zip')), 422)
