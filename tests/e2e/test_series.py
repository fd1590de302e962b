"""Numbers over time: a field of a topic at as many points as are wanted."""
import csv
import io
import json
import struct

from harness import API, Case, time_ns
from samples import SECOND, T0, bag, lab_messages, nanover, nanover_messages

MESSAGES = sorted(lab_messages(20), key=lambda m: m.time)
ODOM = [(m.time, struct.unpack('<3d', m.payload)) for m in MESSAGES if m.topic == '/odom']


class Series(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.id = cls.server.added('series.bag', bag(MESSAGES))

    def series(self, query, **headers):
        return self.get('%s/recordings/%s/series?%s' % (API, self.id, query), **headers)

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

    def test_several_fields_and_other_media(self):
        both = self.series('field=/odom.x&field=odom.z&max_points=4').json()
        self.assertEqual(list(both), ['/odom.x', 'odom.z'])
        rows = list(csv.reader(io.StringIO(self.series('field=/odom.x&field=/odom.z&max_points=4', Accept='text/csv').body.decode(), newline='')))
        self.assertEqual(rows[0], ['time', 'field', 'value'])
        self.assertEqual([[float(r[2]) for r in rows[1:] if r[1] == f] for f in ('/odom.x', '/odom.z')], [[v for _, v in both[k]] for k in both])
        lines = [json.loads(line) for line in self.series('field=/odom.x&max_points=4', Accept='application/x-ndjson').body.splitlines()]
        self.assertEqual([[r['time'], r['value']] for r in lines], both['/odom.x'])

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
        answer = self.get('%s/recordings/%s/topics/fields?topic=/odom' % (API, self.id)).json()
        self.assertEqual([(f['path'], f['type'], f['numeric']) for f in answer['fields']], [(k, 'float64', True) for k in 'xyz'])
        sim = self.server.added('series.nanover.zip', nanover(nanover_messages()))
        fields = self.get('%s/recordings/%s/topics/fields?topic=frame' % (API, sim)).json()['fields']
        self.assertIn('kJ/mol', {f['unit'] for f in fields})

    def test_mistakes_are_named(self):
        base = '%s/recordings/%s/series' % (API, self.id)
        self.assertProblem(self.server.get(base), 400, 'field')
        self.assertProblem(self.server.get(base + '?field=/nothing.x'), 404, '/nothing.x')
        self.assertProblem(self.server.get(base + '?field=/odom.w'), 404, 'w', 'topics/fields')
        self.assertProblem(self.server.get(base + '?field=/odom.x&max_points=1'), 400, 'max_points')
        self.assertProblem(self.server.get(base + '?field=/odom.x&agg=median'), 400, 'agg', 'minmax')
