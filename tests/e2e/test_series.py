"""Numbers over time: a field of a topic at as many points as are wanted."""
import csv
import io
import json
import struct
import xml.etree.ElementTree

from harness import API, Case, time_ns
from samples import SECOND, T0, Message, bag, lab_messages, nanover, nanover_messages

MESSAGES = sorted(lab_messages(20), key=lambda m: m.time)
ODOM = [(m.time, struct.unpack('<3d', m.payload)) for m in MESSAGES if m.topic == '/odom']


class Series(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recording = cls.server.added('series.bag', bag(MESSAGES))

    def series(self, query, **headers):
        return self.get('%s/recordings/%s/series?%s' % (API, self.recording, query), **headers)

    def test_few_values_are_all_there(self):
        points = self.series('field=/odom.x&start=%2B1s&end=%2B2s').json()
        self.assertEqual([(time_ns(t), v) for t, v in points], [(t, v[0]) for t, v in ODOM if T0 + SECOND <= t < T0 + 2 * SECOND])

    def test_minmax_keeps_the_peaks(self):
        points = self.series('field=/odom.y&max_points=20&time_format=nanoseconds').json()
        self.assertLessEqual(len(points), 20)
        values = [v[1] for _, v in ODOM]
        self.assertEqual((min(v for _, v in points), max(v for _, v in points)), (min(values), max(values)))
        there = {(t, v[1]) for t, v in ODOM}
        self.assertTrue(all((int(t), v) in there for t, v in points))

    def test_other_ways_of_drawing(self):
        for how in ('mean', 'lttb', 'last'):
            points = self.series('field=/odom.x&max_points=7&agg=%s&time_format=milliseconds' % how).json()
            self.assertTrue(3 <= len(points) <= 7, points)
            self.assertEqual(points, sorted(points))
            self.assertTrue(all(T0 // 10**6 <= t <= ODOM[-1][0] // 10**6 for t, _ in points))

    def test_an_object_is_refused_and_a_time_is_seconds(self):
        timed = Message(T0, '/imu', struct.pack('<2I2i3f3d', 1700000000, 500_000_000, -2, 500_000_000, 1, 2, 3, 4, 5, 6), 'lab_msgs/Timed')
        recording = self.server.added('imu.bag', bag([timed]))
        path = '%s/recordings/%s/series?time_format=relative&field=/imu.' % (API, recording)
        self.assertEqual([self.get(path + f).json() for f in ('stamp', 'period')], [[[0.0, 1700000000.5]], [[0.0, -1.5]]])
        self.assertProblem(self.server.get(path + 'rate'), 400, 'rate.x, rate.y, rate.z')
        self.assertProblem(self.server.get(path + 'bias'), 400, 'bias[0]')
        self.assertProblem(self.server.get(path.replace('series', 'plot.svg').replace('time_format=relative&', '') + 'rate'), 400, 'rate.x')
        self.assertProblem(self.server.get('%s/series?recording=%s&field=/imu.rate' % (API, recording)), 400, 'rate.x')

    def test_fields_that_cannot_be_read_say_why(self):
        recording = self.server.added('undecoded.bag', bag([Message(T0, '/cut', b'abc', 'std_msgs/Float64'), Message(T0, '/good', bytes(8), 'std_msgs/Float64')]))
        cut, good = (self.get('%s/recordings/%s/topics/fields?topic=%s' % (API, recording, t)).json() for t in ('/cut', '/good'))
        self.assertEqual(([f['path'] for f in cut['fields']], good.get('undecoded')), (['data'], None))
        self.assertIn('/cut: byte 0 of 3', cut['undecoded'])

    def test_several_fields_and_other_media(self):
        both = self.series('field=/odom.x&field=odom.z&max_points=4').json()
        self.assertEqual(list(both), ['/odom.x', 'odom.z'])
        rows = list(csv.reader(io.StringIO(self.series('field=/odom.x&field=/odom.z&max_points=4', Accept='text/csv').body.decode(), newline='')))
        self.assertEqual(rows[0], ['time', 'field', 'value'])
        self.assertEqual([[float(r[2]) for r in rows[1:] if r[1] == f] for f in ('/odom.x', '/odom.z')], [[v for _, v in both[k]] for k in both])
        lines = [json.loads(line) for line in self.series('field=/odom.x&max_points=4', Accept='application/x-ndjson').body.splitlines()]
        self.assertEqual([[r['time'], r['value']] for r in lines], both['/odom.x'])

    def test_numbers_are_the_shortest_that_read_back(self):
        values = (0.02, 0.1, 3, 1e-7)
        messages = [Message(T0 + i * 401_773_000, '/f', struct.pack('<f', v), 'std_msgs/Float32') for i, v in enumerate(values)]
        recording = self.server.added('float32.bag', bag(messages))
        path = '%s/recordings/%s/series?field=/f.data&time_format=relative' % (API, recording)
        self.assertEqual(self.get(path).body, b'[[0.000000000,0.02],[0.401773000,0.1],[0.803546000,3],[1.205319000,1e-07]]\n')
        self.assertEqual(self.get(path, Accept='text/csv').body.split()[1:3], [b'0.000000000,0.02', b'0.401773000,0.1'])
        self.assertIn(b'"value":0.02}', self.get(path, Accept='application/x-ndjson').body)
        self.assertIn(b'"max_gap":0.401773', self.get('%s/recordings/%s/topics' % (API, recording)).body)

    def test_a_column_is_kept(self):
        long = []
        m = next(m for m in MESSAGES if m.topic == '/odom')
        for i in range(30000):
            copy = type(m)(**vars(m))
            copy.time, copy.payload = T0 + i * 1_000_000, struct.pack('<3d', i, -i, i % 10)
            long.append(copy)
        number = self.server.added('long.bag', bag(long))
        path = '%s/recordings/%s/series?field=/odom.x&max_points=10&time_format=nanoseconds' % (API, number)
        first = self.get(path).json()
        self.assertEqual(self.get(path).json(), first)
        self.assertEqual((first[0][1], first[-1][1]), (0, 29999))
        self.assertTrue(all((int(t) - T0) // 1_000_000 == v for t, v in first))
        part = self.get(path + '&start=%2B10s&end=%2B10.005s').json()
        self.assertEqual([v for _, v in part], [10000, 10001, 10002, 10003, 10004])

    def test_fields_are_listed(self):
        answer = self.get('%s/recordings/%s/topics/fields?topic=/odom' % (API, self.recording)).json()
        self.assertEqual([(f['path'], f['type'], f['numeric']) for f in answer['fields']], [(k, 'float64', True) for k in 'xyz'])
        sim = self.server.added('series.nanover.zip', nanover(nanover_messages()))
        fields = self.get('%s/recordings/%s/topics/fields?topic=frame' % (API, sim)).json()['fields']
        self.assertIn('kJ/mol', {f['unit'] for f in fields})

    def test_an_interval_without_the_field_is_empty(self):
        """Only some frames have energies: a panel that looks between two of them is no mistake."""
        messages = [(i * 100_000, {'frame': {'frame.index': i, **({'energy.potential': float(i)} if i % 10 == 0 else {'particle.count': 1})}})
                    for i in range(30)]
        sim = self.server.added('gaps.nanover.zip', nanover(messages))
        path = '%s/recordings/%s/series?field=frame.frame.' % (API, sim)
        self.assertEqual([v for _, v in self.get(path + 'energy.potential').json()], [0, 10, 20])
        self.assertEqual(self.get(path + 'energy.potential&start=%2B200ms&end=%2B900ms').json(), [])
        self.assertProblem(self.server.get(path + 'energy.nothing&start=%2B200ms&end=%2B900ms'), 404, 'energy.nothing')

    def test_mistakes_are_named(self):
        base = '%s/recordings/%s/series' % (API, self.recording)
        self.assertProblem(self.server.get(base), 400, 'field')
        self.assertProblem(self.server.get(base + '?field=/nothing.x'), 404, '/nothing.x')
        self.assertProblem(self.server.get(base + '?field=/odom.w'), 404, 'w', 'topics/fields')
        self.assertProblem(self.server.get(base + '?field=/odom.x&max_points=1'), 400, 'max_points')
        self.assertProblem(self.server.get(base + '?field=/odom.x&agg=median'), 400, 'agg', 'minmax')


def later(messages, by):
    out = []
    for m in messages:
        copy = type(m)(**vars(m))
        copy.time += by
        out.append(copy)
    return out


class Across(Case):
    """Two runs of one robot, a day apart, and a simulation that has nothing of it."""
    DAY = 86400 * SECOND

    @classmethod
    def fill(cls):
        cls.second = cls.server.added('run 2.bag', bag(later(lab_messages(4, salt=5), cls.DAY)), collection='runs')
        cls.first = cls.server.added('run "1".bag', bag(lab_messages(4)), collection='runs')
        cls.sim = cls.server.added('sim.nanover.zip', nanover(nanover_messages()))

    def series(self, query, **headers):
        return self.get('%s/series?%s' % (API, query), **headers)

    def test_those_that_have_the_topic(self):
        items = self.series('field=/odom.z&start=%2B1s&end=%2B1.05s&time_format=relative').json()['items']
        self.assertEqual(items, [{'recording': self.first, 'name': 'run "1".bag', 'field': '/odom.z', 'points': [[0.000001, -50], [0.020001, -51], [0.040001, -52]]},
                                 {'recording': self.second, 'name': 'run 2.bag', 'field': '/odom.z', 'points': [[0.000001, -55], [0.020001, -56], [0.040001, -57]]}])
        items = self.series('field=/odom.x&field=frame.frame.energy.potential&max_points=4').json()['items']
        self.assertEqual([(i['recording'], i['field']) for i in sorted(items, key=lambda i: i['field'])],
                         [(self.first, '/odom.x'), (self.second, '/odom.x'), (self.sim, 'frame.frame.energy.potential')])
        self.assertEqual([time_ns(i['points'][0][0]) for i in items if i['recording'] == self.second], [T0 + self.DAY + 1000])

    def test_found_by_the_list_or_named(self):
        def found(query):
            return [i['recording'] for i in self.series('field=/odom.x&max_points=2&' + query).json()['items']]
        both = [self.first, self.second]
        self.assertEqual(found('collection=runs'), both)
        self.assertEqual(found('q=2'), [self.second])
        self.assertEqual(found('topic=/odom&format=rosbag-1.2'), both)
        self.assertEqual(found('format=nanover'), [])
        self.assertEqual(found('recording=%s&recording=%s&recording=name:runs/run%%202.bag' % (self.second, self.sim)), [self.second] * 2)

    def test_rows(self):
        query = 'field=/odom.x&start=%2B1s&end=%2B1.05s'
        items = self.series(query).json()['items']
        expected = [(i['recording'], t, i['field'], v) for i in items for t, v in i['points']]
        self.assertEqual(len(expected), 6)
        rows = list(csv.reader(io.StringIO(self.series(query, Accept='text/csv').body.decode(), newline='')))
        self.assertEqual(rows[0], ['recording', 'time', 'field', 'value'])
        self.assertEqual([(r, t, f, float(v)) for r, t, f, v in rows[1:]], expected)
        self.assertEqual([tuple(r.values()) for r in self.series(query, Accept='application/x-ndjson').rows()], expected)

    def test_mistakes_are_named(self):
        base = API + '/series?'
        self.assertProblem(self.server.get(base + 'q=run'), 400, 'field')
        self.assertProblem(self.server.get(base + 'field=/odom.nothing'), 404, 'nothing', 'topics/fields')
        self.assertEqual(self.series('field=/nowhere.x').json(), {'items': []})
        self.assertProblem(self.server.get(base + 'field=/odom.x&recording=%s&q=run' % self.first), 400, 'q', 'named')
        self.assertProblem(self.server.get(base + 'field=/odom.x&recording=nothing'), 404, 'recording')
        self.assertProblem(self.server.get(base + 'field=/odom.x' + 21 * ('&recording=' + self.first)), 400, 'recording', '20')
        self.assertProblem(self.server.get(base + 'field=/odom.x' + 16 * '&field=/odom.y' + '&max_points=100000'), 400, 'field', '16')
        self.assertProblem(self.server.get(base + 15 * 'field=/odom.y&' + 'field=/odom.x&max_points=100000'), 400, 'max_points', '33333')

    def test_too_many(self):
        for i in range(21):
            self.server.added('%d.bag' % i, bag(later(lab_messages(1), i)), collection='many')
        path = API + '/series?collection=many&max_points=2&field=/odom.x'
        self.assertProblem(self.server.get(path), 400, '20', 'collection', 'recording')
        self.assertEqual(len(self.get(path + '&q=3').json()['items']), 1)


class Plot(Case):
    SVG = '{http://www.w3.org/2000/svg}'

    @classmethod
    def fill(cls):
        cls.recording = cls.server.added('<plot> & "bag"', bag(MESSAGES))

    def plot(self, query):
        answer = self.get('%s/recordings/%s/plot.svg?%s' % (API, self.recording, query))
        self.assertEqual(answer.headers['Content-Type'], 'image/svg+xml')
        tree = xml.etree.ElementTree.fromstring(answer.body)
        self.assertEqual({e.tag for e in tree.iter()} - {self.SVG + t for t in ('svg', 'title', 'rect', 'text', 'path', 'polyline', 'circle')}, set())
        self.assertEqual([k for e in tree.iter() for k in e.attrib if k.endswith('href') or k.startswith('on') or k == 'style'], [])
        return tree

    def lines(self, tree):
        return [[tuple(map(float, p.split(','))) for p in e.get('points').split()] for e in tree.iter(self.SVG + 'polyline')]

    def texts(self, tree):
        return [e.text for e in tree.iter(self.SVG + 'text')]

    def test_fields_as_lines(self):
        tree = self.plot('field=/odom.x&field=/odom.z&width=400&height=240')
        self.assertEqual((tree.get('width'), tree.get('height'), tree.get('viewBox')), ('400', '240', '0 0 400 240'))
        self.assertEqual(tree.find(self.SVG + 'title').text, '<plot> & "bag"')
        self.assertEqual(self.texts(tree), ['<plot> & "bag"', '999', '0', '-999', '2010-06-02T23:12:35Z', '2010-06-02T23:12:54Z', '/odom.x', '/odom.z'])
        x, z = self.lines(tree)
        self.assertTrue(100 < len(x) <= 400 and len(z) <= 400)
        self.assertEqual((x[0], z[0]), ((74, z[0][1]), (74, x[0][1])))  # both begin at 0
        self.assertEqual((x[-1][0], z[-1][0]), (388, 388))
        self.assertTrue(all(b[0] >= a[0] and b[1] <= a[1] for a, b in zip(x, x[1:])))  # larger is further up
        self.assertEqual((x[-1][1], z[-1][1]), (28, 240 - 26 - 32))
        self.assertEqual(len({e.get('stroke') for e in tree.iter(self.SVG + 'polyline')}), 2)

    def test_of_an_interval(self):
        tree = self.plot('field=/odom.x&start=%2B1s&end=%2B1.09s')
        self.assertEqual(self.texts(tree)[1:6], ['54', '52', '50', '2010-06-02T23:12:36.000Z', '2010-06-02T23:12:36.080Z'])
        self.assertEqual([p[0] for p in self.lines(tree)[0]], [74, 252.5, 431, 609.5, 788])
        one = self.plot('field=/odom.x&start=%2B1s&end=%2B1.01s')
        self.assertEqual([(e.get('cx'), e.get('cy')) for e in one.iter(self.SVG + 'circle')], [('431.0', '143.0')])
        narrow = self.texts(self.plot('field=/odom.x&start=%2B1s&end=%2B1.09s&width=250'))
        self.assertEqual(narrow[4:6], ['23:12:36.000Z', '23:12:36.080Z'])  # two dates would lie on each other
        self.assertIn('no values in this interval', self.texts(self.plot('field=/odom.x&start=%2B1.01s&end=%2B1.015s')))

    def test_of_a_simulation(self):
        sim = self.server.added('plot.nanover.zip', nanover(nanover_messages()))
        tree = xml.etree.ElementTree.fromstring(self.get('%s/recordings/%s/plot.svg?field=frame.frame.energy.potential' % (API, sim)).body)
        self.assertTrue(self.texts(tree)[-2].endswith(' s'), self.texts(tree))

    def test_it_has_an_etag(self):
        path = '%s/recordings/%s/plot.svg?field=/odom.x' % (API, self.recording)
        tag = self.get(path).headers['ETag']
        self.assertEqual(self.get(path).headers['ETag'], tag)
        self.assertNotEqual(self.get(path + '&width=801').headers['ETag'], tag)
        again = self.server.get(path, If_None_Match=tag)
        self.assertEqual((again.status, again.body), (304, b''))

    def test_names_are_text(self):
        number = self.server.added('hostile.bag', bag([type(m)(**{**vars(m), 'topic': '/a"<script>&\x01'}) for m in MESSAGES if m.topic == '/odom']))
        body = self.get('%s/recordings/%s/plot.svg?field=/a%%22%%3Cscript%%3E%%26%%01.x' % (API, number)).body
        self.assertNotIn(b'<script', body)
        self.assertEqual(self.texts(xml.etree.ElementTree.fromstring(body))[-1], '/a"<script>&\ufffd.x')

    def test_mistakes_are_named(self):
        base = '%s/recordings/%s/plot.svg' % (API, self.recording)
        self.assertProblem(self.server.get(base), 400, 'field')
        self.assertProblem(self.server.get(base + '?' + 9 * '&field=/odom.x'), 400, 'field', '8')
        self.assertProblem(self.server.get(base + '?field=/odom.w'), 404, 'w')
        self.assertProblem(self.server.get(base + '?field=/odom.x&width=100'), 400, 'width', '200')
        self.assertProblem(self.server.get(base + '?field=/odom.x&field=/odom.y&height=120'), 400, 'height', '126')
        self.assertProblem(self.server.get(base + '?field=/odom.x&height=4001'), 400, 'height', '4000')
