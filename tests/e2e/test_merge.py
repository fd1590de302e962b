"""Several recordings as one: by time, renamed where they clash, with clocks that fit; over HTTP and on the command line the same bytes."""
import json
import os
import random
import shutil
import tempfile

from harness import API, Case, eventually, payload, reel, time_ns
from samples import SECOND, T0, bag, by_topic, fold, lab_messages, nanover, nanover_messages, read_bag, read_mcap, read_nanover

FIRST, SECOND_RUN = lab_messages(4), lab_messages(3, salt=9)
SIM, OTHER_SIM = nanover_messages(60), nanover_messages(40, salt=5)


def renamed(messages, prefix):
    from samples import Message
    return [Message(m.time, prefix + '/' + m.topic.lstrip('/'), m.payload, m.kind, m.latched) for m in messages]


class Merge(Case):
    @classmethod
    def fill(cls):
        cls.folder = tempfile.mkdtemp(prefix='reel-e2e-')
        files = {'one.bag': bag(FIRST), 'two.bag': bag(SECOND_RUN), 'sim.nanover.zip': nanover(SIM), 'other.nanover.zip': nanover(OTHER_SIM)}
        cls.ids = {}
        for name, data in files.items():
            with open(os.path.join(cls.folder, name), 'wb') as f:
                f.write(data)
            cls.ids[name] = cls.server.added(name, data)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)
        super().tearDownClass()

    def path(self, target, names, query=''):
        return '%s/merge/as/%s?%s%s' % (API, target, '&'.join('recording=' + self.ids[n] for n in names), query)

    def test_mcap_of_two_robots(self):
        _, _, messages = read_mcap(self.get(self.path('x.mcap', ('one.bag', 'two.bag'))).body)
        self.assertEqual(by_topic(messages), by_topic(renamed(FIRST, '/one') + renamed(SECOND_RUN, '/two')))
        self.assertEqual([m.time for m in messages], sorted(m.time for m in messages))

    def test_at_one_time_in_the_order_that_was_asked_for(self):
        for names in (('one.bag', 'two.bag'), ('two.bag', 'one.bag')):
            rows = self.get(self.path('x.ndjson', names, '&topic=/odom')).rows()
            self.assertEqual([r['recording'] for r in rows[:4]], [self.ids[n] for n in names] * 2)

    def test_prefix_never_and_always(self):
        _, _, messages = read_mcap(self.get(self.path('x.mcap', ('one.bag', 'two.bag'), '&prefix=never')).body)
        self.assertEqual({m.topic for m in messages}, {m.topic for m in FIRST})
        self.assertEqual(len(messages), len(FIRST) + len(SECOND_RUN))
        _, _, messages = read_mcap(self.get(self.path('x.mcap', ('one.bag', 'sim.nanover.zip'), '&prefix=always')).body)
        self.assertEqual({m.topic for m in messages}, {m.topic for m in renamed(FIRST, '/one')} | {'/sim/frame', '/sim/state'})
        _, _, messages = read_mcap(self.get(self.path('x.mcap', ('one.bag', 'sim.nanover.zip'))).body)
        self.assertEqual({m.topic for m in messages}, {m.topic for m in FIRST} | {'frame', 'state'})  # none clashes

    def test_a_relative_clock_begins_with_the_wall_clock(self):
        rows = self.get(self.path('x.ndjson', ('one.bag', 'sim.nanover.zip'))).rows()
        sim = [time_ns(r['log_time']) for r in rows if r['topic'] in ('frame', 'state')]
        self.assertEqual(sim, [T0 + (t - SIM[0][0]) * 1000 for t, _ in SIM])
        self.assertEqual([time_ns(r['log_time']) for r in rows], sorted(time_ns(r['log_time']) for r in rows))
        rows = self.get(self.path('x.ndjson', ('one.bag', 'sim.nanover.zip'), '&align=none&topic=state')).rows()
        self.assertEqual(rows[0]['log_time'], '0.000500000')

    def test_a_clock_that_a_user_sets(self):
        """It stays through a scan, and another recording of this content keeps its own."""
        again = self.server.added('again.bag', bag(FIRST))
        one = API + '/recordings/' + self.ids['one.bag']
        rows = one + '/messages?topic=/odom&limit=1'
        etag = self.get(one + '/as/x.mcap').headers['ETag']

        def change(clock):
            answer = self.server.request('PATCH', one, json.dumps({'clock': clock}), {'Content-Type': 'application/json'})
            self.assertEqual(answer.status, 200, answer)
            return answer.json()

        changed = change('relative')
        self.assertEqual((changed['clock'], changed['clock_note'], changed['start']), ('relative', 'set by a user', '%d.000000000' % (T0 // SECOND)))
        self.assertEqual(self.get(one).json()['topics'][0]['start'][:4], str(T0)[:4])
        self.assertEqual(self.get(rows).rows()[0]['log_time'], '%d.000001000' % (T0 // SECOND))
        self.assertNotEqual(self.get(one + '/as/x.mcap').headers['ETag'], etag)
        self.assertEqual(self.get(API + '/recordings/' + again).json()['clock'], 'wall')
        self.assertEqual(self.get(rows.replace(self.ids['one.bag'], again)).rows()[0]['log_time'][:4], '2010')
        job = self.server.request('POST', '%s/admin/rescan/%s' % (API, self.ids['one.bag'])).headers['Location']
        self.assertEqual(eventually(lambda: self.get(job).json()['state'] == 'done'), True)
        self.assertEqual(self.get(one).json()['clock'], 'relative')
        begin = self.get(self.path('x.ndjson', ('sim.nanover.zip', 'one.bag'), '&topic=/odom')).rows()[0]['log_time']
        self.assertEqual(begin.split('.')[0], '0')  # none of them has dates: both begin with the first
        self.assertProblem(self.server.request('PATCH', one, '{"clock":"utc"}', {'Content-Type': 'application/json'}), 400, 'clock')
        changed = change(None)
        self.assertEqual((changed['clock'], changed['clock_note'], changed['start'][:4]), ('wall', None, '2010'))

    def times(self, target, names, query=''):
        """The times of each recording, in nanoseconds."""
        found = {}
        for row in self.get(self.path('x.ndjson', names, '&time_format=nanoseconds&decode=none' + query)).rows():
            found.setdefault(row['recording'], []).append(int(row['log_time']))
        return [found[self.ids[n]] for n in names]

    def test_recordings_are_moved(self):
        plain = [sorted(m.time for m in messages) for messages in (FIRST, SECOND_RUN)]
        sim = [t * 1000 for t, _ in SIM]
        for names, shifts, expected in (
                (('one.bag', 'two.bag'), ('-1.25s',), (plain[0], [t - 1250000000 for t in plain[1]])),
                (('one.bag', 'two.bag'), ('+2h',), (plain[0], [t + 7200 * SECOND for t in plain[1]])),
                (('one.bag', 'sim.nanover.zip'), ('+%dns' % T0,), (plain[0], [t + T0 for t in sim])),
                (('sim.nanover.zip', 'one.bag'), ('-%dns' % T0,), (sim, [t - T0 for t in plain[0]]))):
            with self.subTest(names=names, shifts=shifts):
                query = ''.join('&shift=%s:%s' % (self.ids[n], by.replace('+', '%2B')) for n, by in zip(names[1:], shifts))
                self.assertEqual(self.times('x.ndjson', names, query), [list(e) for e in expected])
        dated = self.get(self.path('x.ndjson', ('one.bag', 'sim.nanover.zip'), '&topic=state&shift=%s:+%dns' % (self.ids['sim.nanover.zip'], T0))).rows()
        self.assertEqual(time_ns(dated[0]['log_time']), T0 + 500000)
        without = self.get(self.path('x.ndjson', ('sim.nanover.zip', 'one.bag'), '&topic=state&shift=%s:-%dns' % (self.ids['one.bag'], T0))).rows()
        self.assertEqual(without[0]['log_time'], '0.000500000')  # as the first, which has no date

    def test_mistakes_in_shifts_are_named(self):
        one = self.ids['one.bag']
        for shift, said in ((one, 'a duration'), (one + ':s', 'a duration'), (one + ':+2', 'a duration'), (':+2s', 'names none'), ('f' * 32 + ':+2s', 'names none'),
                            (one + ':9223372036s', 'cannot be moved'), ('x' * 5000 + ':1s', 'names none')):
            with self.subTest(shift[:60]):
                self.assertProblem(self.server.get(self.path('x.mcap', ('one.bag', 'two.bag'), '&shift=' + shift)), 400, said)

    def test_a_cut_counts_from_the_first_start(self):
        _, _, messages = read_mcap(self.get(self.path('x.mcap', ('one.bag', 'two.bag'), '&start=%2B1s&end=%2B2s&exclude_topic=/map')).body)
        inside = [m for m in renamed(FIRST, '/one') + renamed(SECOND_RUN, '/two') if T0 + SECOND <= m.time < T0 + 2 * SECOND]
        self.assertEqual(by_topic(messages), by_topic(inside))

    def test_a_topic_is_asked_for_under_either_name(self):
        for topic, count in (('/odom', 4 * 50 + 3 * 50), ('/two/odom', 150), ('/one/*', len(FIRST))):
            with self.subTest(topic):
                self.assertEqual(len(self.get(self.path('x.ndjson', ('one.bag', 'two.bag'), '&topic=' + topic)).rows()), count)

    def test_a_bag_of_two(self):
        messages = read_bag(self.get(self.path('x.bag', ('one.bag', 'two.bag'), '&version=1.2')).body)
        self.assertEqual(by_topic(messages), by_topic(renamed(FIRST, '/one') + renamed(SECOND_RUN, '/two')))

    def test_two_simulations_are_one_run(self):
        entries = read_nanover(self.get(self.path('x.nanover.zip', ('sim.nanover.zip', 'other.nanover.zip'))).body)
        self.assertEqual(len(entries), len(SIM) + len(OTHER_SIM))
        self.assertEqual({t for e, _ in entries for t in e['metadata']['types']}, {'frame', 'state'})  # types are no topics to be renamed
        times = [e['metadata']['timestamp'] for e, _ in entries]
        self.assertEqual(times, sorted(t for t, _ in SIM + OTHER_SIM))
        frame, _ = fold(read_nanover(self.get(self.path('x.nanover.zip', ('sim.nanover.zip', 'other.nanover.zip'), '&start=%2B1s')).body)[:1])
        self.assertEqual(frame['frame.index'], 0)

    def test_it_behaves_like_a_file(self):
        rng = random.Random(3)
        path = self.path('x.mcap', ('one.bag', 'sim.nanover.zip', 'two.bag'))
        whole = self.get(path)
        tag, size = whole.headers['ETag'], len(whole.body)
        self.assertEqual(int(whole.headers['Content-Length']), size)
        for _ in range(10):
            first, last = sorted(rng.randrange(size) for _ in range(2))
            self.assertEqual(self.get(path, 206, Range='bytes=%d-%d' % (first, last), If_Range=tag).body, whole.body[first:last + 1])
        self.get(path, 304, If_None_Match=tag)
        others = [self.path('x.mcap', ('sim.nanover.zip', 'one.bag', 'two.bag')), path + '&prefix=always', path + '&align=none', path + '&shift=%s:+1ns' % self.ids['two.bag'], path + '&start=%2B1s',
                  self.path('x.mcap', ('one.bag', 'two.bag'))]
        tags = {self.server.request('HEAD', p).headers['ETag'] for p in others} | {tag}
        self.assertEqual(len(tags), len(others) + 1)

    def test_the_command_line_makes_the_same(self):
        at = lambda name: os.path.join(self.folder, name)
        for target, names, query, options in (('x.mcap', ('one.bag', 'two.bag', 'sim.nanover.zip'), '', ()),
                                              ('x.bag', ('two.bag', 'one.bag'), '&version=1.2&prefix=always', ('--version', '1.2', '--prefix', 'always')),
                                              ('x.nanover.zip', ('sim.nanover.zip', 'other.nanover.zip'), '&start=%2B1s', ('--start', '+1s')),
                                              ('x.mcap', ('one.bag', 'sim.nanover.zip'), '&align=none', ('--align', 'none')),
                                              ('x.mcap', ('one.bag', 'two.bag'), '&shift=%s:-3.5s' % self.ids['two.bag'], ('--shift', 'two.bag:-3.5s'))):
            with self.subTest(target + query):
                reel('convert', *[at(n) for n in names], at(target), '--force', *options)
                with open(at(target), 'rb') as f:
                    self.assertEqual(f.read(), self.get(self.path(target, names, query)).body)

    def test_report_and_refusal(self):
        report = self.get(self.path('x.nanover.zip', ('sim.nanover.zip', 'other.nanover.zip'), '&report')).json()
        self.assertTrue(report['accepted'])
        self.assertIn('2 recordings', json.dumps(report))
        self.assertProblem(self.server.get(self.path('x.nanover.zip', ('sim.nanover.zip', 'one.bag'))), 422, 'NanoVer')

    def test_mistakes_are_named(self):
        self.assertProblem(self.server.get(API + '/merge/as/x.mcap'), 400, 'recording')
        self.assertProblem(self.server.get(API + '/merge/as/x.mcap?recording=' + 'f' * 32), 404)
        self.assertProblem(self.server.get(self.path('x.mcap', ('one.bag',), '&prefix=perhaps')), 400, 'prefix', 'clash')
        self.assertProblem(self.server.get(self.path('x.avi', ('one.bag',))), 406, 'mcap')
        self.assertProblem(self.server.get(API + '/merge/as/x.mcap?' + '&'.join(['recording=' + self.ids['one.bag']] * 65)), 400, '64')

    def test_one_alone_is_itself(self):
        rows = self.get(self.path('x.ndjson', ('one.bag',), '&decode=none')).rows()
        self.assertEqual([payload(r) for r in rows], [m.payload for m in sorted(FIRST, key=lambda m: m.time)])
        self.assertEqual({r['topic'] for r in rows}, {m.topic for m in FIRST})
