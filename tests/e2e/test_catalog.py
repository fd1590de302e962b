"""What is there: the list with its filters, order and pages; one recording, its topics, schemas and scan report; going away."""
from harness import API, Case, time_ns
from samples import SECOND, T0, TYPES, bag, by_topic, lab_messages, nanover, nanover_messages

DAY = 86_400 * SECOND


class Catalog(Case):
    @classmethod
    def fill(cls):
        cls.messages = lab_messages(4)
        cls.lab = cls.server.added('walk.bag', bag(cls.messages))
        cls.cut = cls.server.added('cut walk.bag', bag(lab_messages(4, salt=1), indexed=False)[:-30])
        cls.sim = cls.server.added('sim.nanover.zip', nanover(nanover_messages()), collection='sims')
        later = lab_messages(2, salt=2)
        for m in later:
            m.time += 10 * DAY
        cls.later = cls.server.added('later.bag', bag([m for m in later if m.topic == '/odom']))

    def ids(self, query=''):
        return [r['id'] for r in self.get(API + '/recordings' + query).json()['items']]

    def test_recording_tells_what_was_in_the_file(self):
        r = self.get('%s/recordings/%s' % (API, self.lab)).json()
        self.assertEqual((r['format'], r['clock'], r['state'], r['messages']), ('rosbag-1.2', 'wall', 'ready', len(self.messages)))
        self.assertEqual((time_ns(r['start']), time_ns(r['end'])), (T0, max(m.time for m in self.messages)))
        self.assertEqual(int(r['duration_ns']), max(m.time for m in self.messages) - T0)

    def test_topics(self):
        topics = self.get('%s/recordings/%s/topics' % (API, self.lab)).json()['items']
        truth = by_topic(self.messages)
        self.assertEqual({t['name'] for t in topics}, set(truth))
        for t in topics:
            want = truth[t['name']]
            self.assertEqual((t['messages'], t['payload_bytes'], time_ns(t['start']), time_ns(t['end'])), (want['count'], want['bytes'], want['first_ns'], want['last_ns']), t)
            self.assertEqual((t['type'], t['encoding']), (next(m.kind for m in self.messages if m.topic == t['name']), 'ros1'))

    def test_nanover_topics_are_message_types(self):
        r = self.get('%s/recordings/%s' % (API, self.sim)).json()
        self.assertEqual((r['format'], r['clock'], r['messages']), ('nanover', 'relative', len(nanover_messages())))
        topics = {t['name']: t['messages'] for t in self.get('%s/recordings/%s/topics' % (API, self.sim)).json()['items']}
        self.assertEqual(topics, {kind: sum(kind in m for _, m in nanover_messages()) for kind in ('frame', 'state')})

    def test_schema_text(self):
        topics = self.get('%s/recordings/%s/topics' % (API, self.lab)).json()['items']
        point = next(t for t in topics if t['name'] == '/odom')
        text = self.get('%s/recordings/%s/schemas/%s' % (API, self.lab, point['channels'][0]['schema_id']))
        self.assertIn(TYPES['geometry_msgs/Point'][1].strip(), text.body.decode())

    def test_scan_report_names_what_is_cut(self):
        clean = self.get('%s/recordings/%s/scan' % (API, self.lab)).json()
        self.assertFalse(clean['damaged'])
        damaged = self.get('%s/recordings/%s/scan' % (API, self.cut)).json()
        self.assertTrue(damaged['damaged'])
        loss = next(f for f in damaged['findings'] if f['severity'] == 'loss')
        self.assertEqual(loss['offset'] + loss['length'], self.get('%s/recordings/%s' % (API, self.cut)).json()['size'])
        self.assertIn(str(loss['offset']), loss['text'])
        self.assertTrue(self.get('%s/recordings/%s' % (API, self.cut)).json()['damaged'])

    def test_search(self):
        self.assertEqual(set(self.ids()), {self.lab, self.cut, self.sim, self.later})
        for query, want in (
                ('?q=walk', {self.lab, self.cut}), ('?q=walk+cut', {self.cut}), ('?q=nothing-like-it', set()),
                ('?q=geometry_msgs', {self.lab, self.cut, self.later}), ('?q=chatter', {self.lab, self.cut}),
                ('?format=nanover', {self.sim}), ('?topic=/robot/*', {self.lab, self.cut}), ('?type=std_msgs/*', {self.lab, self.cut}),
                ('?collection=sims', {self.sim}), ('?start=2010-06-10T00:00:00Z', {self.later}), ('?end=2010-06-10T00:00:00Z', {self.lab, self.cut})):
            with self.subTest(query):
                self.assertEqual(set(self.ids(query)), want)

    def test_search_words_are_data(self):
        for words in ('%22', '*', 'a%22%20OR%20b', 'NEAR(', '-x', "'%3B--", '%00'):
            with self.subTest(words):
                self.assertIn(self.server.get(API + '/recordings?q=' + words).status, (200, 400))

    def test_sort(self):
        names = lambda query: [r['name'] for r in self.get(API + '/recordings' + query).json()['items']]
        self.assertEqual(names('?sort=name'), sorted(names('')))
        self.assertEqual(names('?sort=-name'), sorted(names(''), reverse=True))
        self.assertEqual(names('?sort=-start&format=rosbag-1.2')[0], 'later.bag')
        self.assertProblem(self.server.get(API + '/recordings?sort=colour'), 400, 'sort')

    def test_pages_by_cursor_show_each_once(self):
        for sort in ('name', '-created', 'size'):
            seen, path = [], API + '/recordings?limit=1&sort=' + sort
            while path:
                answer = self.get(path)
                seen += [r['id'] for r in answer.json()['items']]
                path = answer.next_path()
                self.assertLessEqual(len(seen), 4)
            self.assertEqual(seen, self.ids('?sort=' + sort))
        self.assertProblem(self.server.get(API + '/recordings?cursor=made-up'), 400, 'cursor')

    def test_count(self):
        answer = self.get(API + '/recordings?limit=1&count=true')
        self.assertEqual((answer.json()['total'], answer.headers['X-Total-Count']), (4, '4'))

    def test_delete_hides_and_purge_removes(self):
        data = bag(lab_messages(2, salt=33))
        goes = self.server.added('goes.bag', data)
        self.assertIn(self.server.request('DELETE', '%s/recordings/%s' % (API, goes)).status, (200, 204))
        self.assertNotIn(goes, self.ids())
        self.assertIn(goes, self.ids('?state=trashed'))
        self.assertIn(self.server.request('DELETE', '%s/recordings/%s?purge=true' % (API, goes)).status, (200, 204))
        self.assertProblem(self.server.get('%s/recordings/%s' % (API, goes)), 404)
        self.assertNotEqual(self.server.added('goes.bag', data), goes)
        self.server.request('DELETE', '%s/recordings/%s?purge=true' % (API, self.ids('?q=goes')[0]))

    def test_service_document_health_and_metrics(self):
        self.assertIn('version', self.get('/', Accept='application/json').json())
        self.get('/healthz')
        self.get('/readyz')
        metrics = self.get('/metrics')
        self.assertEqual(metrics.headers.get_content_type(), 'text/plain')
        self.assertRegex(metrics.body.decode(), r'(?m)^reel_\w+(\{.*\})? \d')
