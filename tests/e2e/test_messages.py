"""Time-range queries: the interval, topics, sampling, pages, carried-in last values, and the four shapes of the answer."""
import json
import time
from urllib.parse import quote

from harness import API, Case, payload, time_ns
from samples import SECOND, T0, bag, lab_messages, nanover, nanover_messages


class Messages(Case):
    @classmethod
    def fill(cls):
        cls.messages = sorted(lab_messages(4), key=lambda m: m.time)
        cls.walk = cls.server.added('walk.bag', bag(cls.messages))
        shuffled = lab_messages(3, salt=1)
        for i, m in enumerate(shuffled):
            m.time -= 170_000_000 if i % 7 == 3 else 0
        cls.shuffled = shuffled
        cls.disorder = cls.server.added('disorder.bag', bag(shuffled, indexed=False))

    def path(self, query='', recording=None):
        return '%s/recordings/%s/messages%s%sdecode=none' % (API, recording or self.walk, query, '&' if '?' in query else '?')

    def rows(self, query='', recording=None):
        rows = self.get(self.path(query, recording), Accept='application/x-ndjson').rows()
        return [(time_ns(r['log_time']), r['topic'], payload(r)) for r in rows]

    def want(self, keep=lambda m: True):
        return [(m.time, m.topic, m.payload) for m in self.messages if keep(m)]

    def test_a_plus_needs_no_escape(self):
        self.assertEqual(self.get(self.path('?start=+200ms&end=+400ms')).body, self.get(self.path('?start=%2B200ms&end=%2B400ms')).body)

    def test_all(self):
        self.assertEqual(self.rows(), self.want())

    def test_head_of_a_stream_leaves_nothing_on_the_connection(self):
        """libmicrohttpd sends the end of a body that HEAD has not; so nothing follows on that connection."""
        request = ('HEAD %s/recordings/%s/messages HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n' % (API, self.walk, self.server.port)).encode()
        got = self.server.raw(2 * request)
        head, _, rest = got.partition(b'\r\n\r\n')
        self.assertTrue(head.startswith(b'HTTP/1.1 200 '), got)
        self.assertIn(b'connection: close', head.lower())
        self.assertIn(rest, (b'', b'0\r\n\r\n'))

    def test_row_has_the_documented_members(self):
        row = self.get(self.path('?limit=1')).rows()[0]
        self.assertLessEqual({'topic', 'sequence', 'log_time', 'publish_time', 'data'}, set(row))

    def test_time_order_of_a_file_out_of_order(self):
        want = sorted(((m.time, m.topic, m.payload) for m in self.shuffled), key=lambda m: m[0])
        self.assertEqual(self.rows(recording=self.disorder), want)

    def test_interval_is_half_open(self):
        first, last = self.messages[10].time, self.messages[90].time
        self.assertEqual(self.rows('?start=%d&end=%d' % (first, last)), self.want(lambda m: first <= m.time < last))
        self.assertEqual(self.rows('?start=%d&end=%d' % (first, first)), [])

    def test_times_in_every_form(self):
        end = self.messages[-1].time
        after, before = T0 + SECOND, T0 + 2 * SECOND
        want = self.want(lambda m: after <= m.time < before)
        for query in ('start=%2B1s&end=%2B2s', 'start=%d&end=%d' % (after, before), 'start=2010-06-02T23:12:36Z&end=2010-06-02T23:12:37.000000000Z',
                      'start=%dms&end=%dus' % (after // 10**6, before // 10**3), 'from=%d&to=%d' % (after // 10**6, before // 10**6),
                      'start=%2B1000ms&end=' + quote('2010-06-03T01:12:37+02:00')):
            with self.subTest(query):
                self.assertEqual(self.rows('?' + query), want)
        self.assertEqual(self.rows('?start=-0.5s'), self.want(lambda m: m.time >= end - SECOND // 2))
        self.assertEqual(self.rows('?end=-3.5s'), self.want(lambda m: m.time < end - 7 * SECOND // 2))

    def test_times_that_are_hardly_meant(self):
        for value, meant in (('10s', '+10s'), ('10', '+10s'), ('2.5', '+2.5s'), ('250ms', '+0.25s')):
            for path in (self.path('?start=' + value), '%s/recordings/%s/as/x.mcap?start=%s' % (API, self.walk, value), '%s/recordings/%s/events?start=%s' % (API, self.walk, value)):
                self.assertProblem(self.server.get(path), 400, 'did you mean %s?' % meant)
        self.assertProblem(self.server.get(self.path('?end=2035-01-01')), 400, 'more than a year')
        self.get(self.path('?from=10&to=20'))  # a dashboard shows any time

    def test_numbers_are_told_apart_by_their_magnitude(self):
        start = self.messages[0].time + 1_000_000_000
        seconds = start // 1_000_000_000
        want = self.get(self.path('?start=%d' % (seconds * 1_000_000_000))).rows()
        self.assertTrue(want)
        for value in (seconds, seconds * 1000, seconds * 1_000_000, '%d.0' % seconds, time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(seconds)).replace(' ', '%20')):
            self.assertEqual(self.get(self.path('?start=%s' % value)).rows(), want, value)

    def test_a_selection_that_matches_nothing_says_so(self):
        for path in (self.path('?topic=/odmo'), '%s/recordings/%s/as/x.mcap?topic=/odmo' % (API, self.walk), '%s/recordings/%s/as/x.csv?topic=/odmo' % (API, self.walk)):
            answer = self.get(path)
            self.assertEqual(answer.headers['X-Matched'], '0')
            self.assertIn('no topic /odmo; similar ones are /odom', answer.headers['X-Warning'])
        self.assertEqual(self.get(self.path('?topic=/none*')).headers['X-Warning'], 'nothing is selected')
        self.assertNotIn('X-Matched', self.get(self.path('?topic=/odom')).headers)

    def test_bad_times_are_named(self):
        for value in ('yesterday', '12parsecs', '2010-13-01T00:00:00Z', '', '99999999999999999999'):
            with self.subTest(value):
                self.assertProblem(self.server.get(self.path('?start=' + value)), 400, 'start')

    def test_topics_by_glob(self):
        self.assertEqual(self.rows('?topic=/odom'), self.want(lambda m: m.topic == '/odom'))
        self.assertEqual(self.rows('?topic=/robot/*&topic=tick'), self.want(lambda m: m.topic in ('/robot/chatter', 'tick')))
        self.assertEqual(self.rows('?exclude_topic=/odom'), self.want(lambda m: m.topic != '/odom'))
        self.assertEqual(self.rows('?topic=/*&exclude_topic=/o*'), self.want(lambda m: m.topic in ('/map', '/robot/chatter', 'tick')))
        self.assertEqual(self.rows('?topic=nothing'), [])

    def test_pages_cover_everything_once(self):
        for query, keep in (('', lambda m: True), ('&topic=/odom', lambda m: m.topic == '/odom'), ('&start=%2B1s', lambda m: m.time >= T0 + SECOND)):
            with self.subTest(query):
                seen, path = [], self.path('?limit=37' + query)
                while path:
                    answer = self.get(path, Accept='application/x-ndjson')
                    self.assertLessEqual(len(answer.rows()), 37)
                    seen += [(time_ns(r['log_time']), r['topic'], payload(r)) for r in answer.rows()]
                    path = answer.next_path()
                self.assertEqual(seen, self.want(keep))
        self.assertProblem(self.server.get(self.path('?cursor=made-up')), 400, 'cursor')

    def test_an_offset_skips_messages_and_the_index_of_a_message_is_one(self):
        for topics in ('', '&topic=/odom'):
            all = self.rows('?' + topics)
            for offset in (0, 1, 7, len(all) - 1):
                self.assertEqual(self.rows('?offset=%d&limit=3%s' % (offset, topics)), all[offset:offset + 3])
                self.assertEqual(self.rows('?offset=%d%s' % (offset, topics)), all[offset:])
            answer = self.get(self.path('?offset=2&limit=3' + topics))
            self.assertEqual([time_ns(r['log_time']) for r in self.get(answer.next_path()).rows()], [m[0] for m in all[5:8]])
        odom = self.rows('?topic=/odom')
        answer = self.get('%s/recordings/%s/message?topic=/odom&at=%d' % (API, self.walk, odom[9][0] + 1))
        self.assertEqual(int(answer.headers['X-Index']), 9)
        self.assertProblem(self.server.get(self.path('?offset=100000')), 404, 'no message 100000')
        self.assertProblem(self.server.get(self.path('?offset=1&cursor=' + quote(self.get(self.path('?limit=1')).headers['X-Next-Cursor']))), 400, 'offset')

    def test_every_keeps_one_in_n_and_one_an_interval(self):
        odom = self.want(lambda m: m.topic == '/odom')
        self.assertEqual(self.rows('?topic=/odom&every=10'), odom[::10])
        kept = self.rows('?topic=/odom&every=100ms&start=%2B0s')
        slots = [(t - T0) // 100_000_000 for t, _, _ in kept]
        self.assertEqual(slots, sorted(set(slots)))
        self.assertEqual(set(slots), {(t - T0) // 100_000_000 for t, _, _ in odom})

    def test_last_per_topic_carries_the_latched_map_in(self):
        rows = self.get(self.path('?start=%2B2s&end=%2B2.1s&last=per_topic')).rows()
        carried = [r for r in rows if r.get('before_start')]
        self.assertEqual({r['topic'] for r in carried}, {m.topic for m in self.messages})
        for r in carried:
            last = [m for m in self.messages if m.topic == r['topic'] and m.time < T0 + 2 * SECOND][-1]
            self.assertEqual((time_ns(r['log_time']), payload(r)), (last.time, last.payload))
        self.assertEqual(len(rows) - len(carried), len(self.want(lambda m: T0 + 2 * SECOND <= m.time < T0 + 2 * SECOND + SECOND // 10)))
        near = self.get(self.path('?start=%2B2s&end=%2B2.1s&last=per_topic&lookback=500ms')).rows()
        self.assertNotIn('/map', {r['topic'] for r in near})

    def test_shape_by_accept_with_weights(self):
        for accept, media in (('application/x-ndjson', 'application/x-ndjson'), ('application/ndjson', 'application/ndjson'),
                              ('application/json', 'application/json'), ('application/json-seq', 'application/json-seq'),
                              ('application/json;q=0.5, application/json-seq', 'application/json-seq'), ('text/html, application/json;q=0.9, */*;q=0.1', 'application/json'),
                              ('application/x-ndjson;q=0, application/json;q=0.1', 'application/json')):
            with self.subTest(accept):
                self.assertEqual(self.get(self.path('?limit=3'), Accept=accept).headers.get_content_type(), media)
        self.assertProblem(self.server.get(self.path(), Accept='image/png'), 406, 'application/x-ndjson')
        self.assertProblem(self.server.get(self.path('?output=papyrus')), 400, 'output', 'ndjson')

    def test_shapes_hold_the_same_rows(self):
        rows = self.get(self.path('?topic=/odom'), Accept='application/x-ndjson').rows()
        as_array = self.get(self.path('?topic=/odom&output=json')).json()
        self.assertEqual(as_array if isinstance(as_array, list) else as_array['messages'], rows)
        sequence = self.get(self.path('?topic=/odom&output=json-seq')).body
        self.assertEqual([json.loads(piece) for piece in sequence.split(b'\x1e')[1:]], rows)
        self.assertEqual(json.loads(self.get(self.path('?topic=nothing&output=json')).body), [])

    def test_end_record_tells_a_whole_answer(self):
        def ended(query):
            rows = self.get(self.path('?end_record=true' + query)).rows()
            return len(rows) - 1, rows[-1]['$end']
        count, end = ended('')
        self.assertEqual((count, end['complete'], end['messages'], end['next']), (len(self.messages), True, len(self.messages), None))
        count, end = ended('&limit=5')
        self.assertEqual((count, end['messages']), (5, 5))
        rest = self.rows('?cursor=' + quote(end['next']))
        self.assertEqual(rest, self.want()[5:])
        self.assertNotIn(b'$end', self.get(self.path('?limit=5')).body)

    def test_one_message_as_of_a_time_and_by_index(self):
        base = '%s/recordings/%s/message' % (API, self.walk)
        odom = [m for m in self.messages if m.topic == '/odom']
        raw = lambda query: self.get(base + query, Accept='application/octet-stream')
        for i in (0, 1, 77, len(odom) - 1):
            answer = raw('?topic=/odom&index=%d' % i)
            self.assertEqual(answer.body, odom[i].payload)
            self.assertEqual(answer.headers.get_content_type(), 'application/octet-stream')
        self.assertEqual(raw('?topic=/odom&index=-1').body, odom[-1].payload)
        at = odom[50].time
        self.assertEqual(raw('?topic=/odom&at=%d' % at).body, odom[50].payload)
        self.assertEqual(raw('?topic=/odom&at=%d' % (at - 1)).body, odom[49].payload)
        self.assertEqual(raw('?topic=/map&at=-0s').body, self.messages[0].payload)
        row = self.get(base + '?topic=/odom&decode=none&at=%d' % at, Accept='application/json').json()
        self.assertEqual((time_ns(row['log_time']), payload(row)), (at, odom[50].payload))
        self.assertProblem(self.server.get(base + '?topic=/odom&index=%d' % len(odom)), 404)
        self.assertProblem(self.server.get(base + '?topic=/odom&at=%d' % (T0 - 1)), 404)
        self.assertProblem(self.server.get(base + '?topic=nothing&index=0'), 404)
        self.assertProblem(self.server.get(base + '?topic=/odom'), 400, 'index')

    def test_nanover_payload_is_exactly_the_message(self):
        import msgpack
        messages = nanover_messages(30)
        number = self.server.added('sim.nanover.zip', nanover(messages))
        frames = [m for _, m in messages if 'frame' in m]
        for i in (0, 7, len(frames) - 1):
            got = self.get('%s/recordings/%s/message?topic=frame&index=%d' % (API, number, i), Accept='application/octet-stream').body
            self.assertEqual(got, msgpack.packb(frames[i]))
        rows = self.get('%s/recordings/%s/messages?topic=state&decode=none' % (API, number)).rows()
        self.assertEqual([payload(r) for r in rows], [msgpack.packb(m) for _, m in messages if 'state' in m])

