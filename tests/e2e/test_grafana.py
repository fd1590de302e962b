"""Grafana without a plugin of ours: the calls of the simPod JSON data source, and of SimpleJSON before it."""
import json
import os
import struct

from harness import Case
from samples import SECOND, T0, bag, lab_messages, nanover, nanover_messages

MESSAGES = sorted(lab_messages(20), key=lambda m: m.time)
ODOM = [(m.time, struct.unpack('<3d', m.payload)) for m in MESSAGES if m.topic == '/odom']
RANGE = {'from': '2010-06-02T23:12:36.000Z', 'to': '2010-06-02T23:12:38.000Z', 'raw': {'from': 'now-6h', 'to': 'now'}}
FIELDS = ['/odom.x', '/odom.y', '/odom.z']


class Grafana(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.mol = cls.server.added('mol.nanover.zip', nanover(nanover_messages()))
        cls.lab = cls.server.added('grafana lab.bag', bag(MESSAGES))

    def post(self, path, body=None, status=200):
        content = b'' if body is None else json.dumps(body).encode()
        answer = self.server.request('POST', '/grafana/' + path, content, {'Content-Type': 'application/json'})
        self.assertEqual(answer.status, status, answer)
        return answer.json() if status == 200 else answer

    def query(self, *targets, status=200, **more):
        return self.post('query?panelId=1', {'panelId': 1, 'range': RANGE, 'maxDataPoints': 500, 'targets': list(targets), **more}, status)

    def test_connection(self):
        for path in ('/grafana', '/grafana/', '/grafana?x=1'):
            self.assertEqual(self.get(path).json()['name'], 'reel')

    def test_numbers_of_the_range(self):
        series, = self.query({'target': self.lab + ':/odom.x', 'refId': 'A'})
        self.assertEqual((series['target'], series['refId']), ('grafana lab.bag /odom.x', 'A'))
        want = [[v[0], t // 10**6] for t, v in ODOM if T0 + SECOND <= t < T0 + 3 * SECOND]
        self.assertEqual((series['datapoints'], len(want)), (want, 100))

    def test_several_targets_and_ways_to_draw(self):
        a, b, c = self.query({'target': self.lab + ':/odom.x', 'refId': 'A'}, {'target': '', 'refId': 'X'}, {'target': 'gone:/x.y', 'hide': True},
                             {'target': self.lab, 'refId': 'B', 'payload': {'field': ['/odom.y', '/odom.z'], 'agg': 'last'}}, maxDataPoints=10)
        self.assertEqual([s['target'].split()[-1] for s in (a, b, c)], FIELDS)
        self.assertTrue(all(2 <= len(s['datapoints']) <= 10 for s in (a, b, c)))
        self.assertEqual(b['datapoints'][-1][0], max(v[1] for t, v in ODOM if t < T0 + 3 * SECOND))
        mean, = self.query({'target': self.lab + ':/odom.x'}, maxDataPoints=2, adhocFilters=[{'key': 'agg', 'operator': '=', 'value': 'mean'}])
        self.assertEqual([v for v, _ in mean['datapoints']], [74.5, 124.5])

    def test_filters_as_the_plugin_names_them_now(self):
        mean, = self.query({'target': self.lab + ':/odom.x'}, maxDataPoints=2, filters=[{'key': 'agg', 'operator': '=', 'value': 'mean'}])
        self.assertEqual([v for v, _ in mean['datapoints']], [74.5, 124.5])
        self.assertProblem(self.query({'target': self.lab + ':/odom.x'}, filters=[{'key': 'agg', 'value': 'most'}], status=400), 400, 'minmax')

    def test_variables_of_several_values(self):
        both = self.query({'target': self.lab + ':(/odom.x|/odom.y)'})
        self.assertEqual([s['target'].split()[-1] for s in both], FIELDS[:2])
        two = self.query({'target': '(%s|name:lab/grafana lab.bag)' % self.lab, 'payload': {'field': r'(\/odom\.z)'}})
        self.assertEqual([s['target'].split()[-1] for s in two], [FIELDS[2]] * 2)

    def test_no_error_before_a_field_is_selected(self):
        for payload in ({}, {'field': ''}, {'field': []}, {'field': None, 'agg': 'mean'}, '', None):
            for target in (self.lab, 'name:lab/grafana lab.bag', '(%s|%s)' % (self.lab, self.mol), ''):
                self.assertEqual(self.query({'target': target, 'refId': 'A', 'payload': payload}), [])
        self.assertEqual(self.query({'target': self.lab, 'refId': 'A'}), [])
        self.assertIn('no recording', self.query({'target': 'gone', 'payload': {}})[0]['meta']['notices'][0]['text'])

    def test_variables_come_as_regular_expressions(self):
        plain, = self.query({'target': self.lab + ':/odom.x'})
        escaped, = self.query({'target': self.lab + r':\/odom\.x'})
        named, = self.query({'target': 'name:lab/grafana lab.bag:/odom.x'})
        self.assertEqual(plain, escaped)
        self.assertEqual(plain, named)

    def test_a_clock_of_its_own_begins_with_the_panel(self):
        hour = {'from': '2020-01-01T00:00:00Z', 'to': '2020-01-01T01:00:00Z'}
        series, = self.query({'target': self.mol + ':/frame.frame.energy.potential'}, range=hour)
        self.assertEqual(series['datapoints'][:2], [[0, 1577836800001], [-1, 1577836800034]])
        ages, = self.query({'target': self.mol + ':/frame.frame.energy.potential'}, range={'from': '1680-01-01T00:00:00Z', 'to': '2260-01-01T00:00:00Z'})
        self.assertEqual(ages['datapoints'][:2], [[0, -9151487999999], [-1, -9151487999966]])  # a span that 64 bits of ns do not hold
        whole, = self.query({'target': self.mol + ':/frame.frame.energy.potential'}, range={})
        self.assertEqual(whole['datapoints'][1], [-1, 34])

    def test_choosing(self):
        metrics = self.post('metrics', {})
        self.assertEqual({m['label']: m['value'] for m in metrics},
                         {'grafana lab.bag': self.lab, 'mol.nanover.zip': self.mol, 'Events': 'events'})
        field, agg, kind = metrics[0]['payloads']
        self.assertEqual((field['name'], field['type'], agg['name'], kind['name']), ('field', 'multi-select', 'agg', 'type'))
        self.assertEqual([o['value'] for o in agg['options']], ['minmax', 'mean', 'lttb', 'last'])
        self.assertEqual([o['value'] for o in self.post('metric-payload-options', {'metric': self.lab, 'payload': {}, 'name': 'field'})], FIELDS)
        self.assertEqual(self.post('metric-payload-options', {'metric': self.lab, 'payload': {}, 'name': 'other'}), [])
        self.assertEqual(self.post('search', {'target': 'grafana'}), [{'text': 'grafana lab.bag ' + f, 'value': self.lab + ':' + f} for f in FIELDS])
        self.assertEqual([o['value'] for o in self.post('search', {'target': self.lab + ':odom.z'})], [self.lab + ':/odom.z'])
        self.assertIn(self.lab + ':/odom.x', [o['value'] for o in self.post('search')])

    def test_the_metric_of_the_request_is_always_listed(self):
        for asked, label in ((self.lab, 'grafana lab.bag'), ('name:lab/grafana lab.bag', 'grafana lab.bag'), ('$recording', '$recording'), ('gone', 'gone'),
                             ('events', 'Events')):
            listed = [m['label'] for m in self.post('metrics', {'metric': asked, 'payload': {}}) if m['value'] == asked]
            self.assertEqual(listed, [label])
        self.assertEqual(len(self.post('metrics', {'metric': 'x' * 5000})), 3)  # too long to be one
        events, = [m for m in self.post('metrics', {'metric': ''}) if m['value'] == 'events']
        self.assertEqual([p['name'] for p in events['payloads']], ['recording'])
        self.assertEqual({o['value'] for o in self.post('metric-payload-options', {'metric': 'events', 'name': 'recording'})}, {self.lab, self.mol})
        self.assertEqual(self.post('metric-payload-options', {'metric': 'events', 'name': 'other'}), [])

    def test_variables(self):
        self.assertEqual({v['__text']: v['__value'] for v in self.post('variable', {'payload': {'target': 'recordings'}, 'range': RANGE})},
                         {'grafana lab.bag': self.lab, 'mol.nanover.zip': self.mol})
        self.assertEqual([v['__text'] for v in self.post('variable', {'payload': {'q': 'mol'}})], ['mol.nanover.zip'])
        self.assertEqual([v['__value'] for v in self.post('variable', {'payload': {'target': 'topics', 'recording': self.lab}})],
                         ['/map', '/odom', '/robot/chatter', 'tick'])
        of_odom = {'target': 'fields', 'recording': self.lab, 'topic': 'odom'}
        self.assertEqual([v['__value'] for v in self.post('variable', {'payload': of_odom})], FIELDS)
        self.assertProblem(self.post('variable', {'payload': {'target': 'fields'}}, 400), 400, 'recording')

    def test_filters_and_annotations(self):
        self.assertEqual(self.post('tag-keys'), [{'type': 'string', 'text': 'agg'}])
        self.assertIn({'text': 'lttb'}, self.post('tag-values', {'key': 'agg'}))
        self.assertEqual(self.post('annotations', {'annotation': {'name': 'x'}}), [])

    def test_a_target_that_fails_leaves_the_others(self):
        good = {'target': self.lab + ':/odom.x', 'refId': 'G'}
        for target, word in (({'target': 'gone:/odom.x'}, 'no recording'), ({'target': self.lab, 'payload': 'x'}, 'RECORDING'),
                             ({'target': self.lab + ':/none.x'}, '/none.x'), ({'target': self.lab + ':/odom.w'}, 'w'),
                             ({'target': self.lab, 'payload': {'field': 7}}, '/topic.field'), ({'target': 'x' * 3000}, 'RECORDING'),
                             ({'target': 'events', 'payload': {'recording': 'gone'}}, 'no recording'),
                             ({'target': self.lab + ':/odom.x', 'payload': {'agg': 'most'}}, 'minmax')):
            with self.subTest(str(target)[:80]):
                before, *bad, after = self.query(good, dict(target, refId='B'), good)
                self.assertEqual(before, after)
                self.assertEqual(len(before['datapoints']), 100)
                told = [b for b in bad if b.get('datapoints') == []]
                self.assertEqual([(b['target'], b['refId']) for b in told], [(target['target'], 'B')])
                notice, = told[0]['meta']['notices']
                self.assertEqual(notice['severity'], 'error')
                self.assertIn(word, notice['text'])
        several = self.query({'target': '(%s|gone)' % self.lab, 'payload': {'field': ['/odom.x', '/odom.y']}})
        self.assertEqual([len(s['datapoints']) for s in several], [100, 100, 0])  # what was found before is drawn

    def test_tables(self):
        series, = self.query({'target': self.lab + ':/odom.x'})
        for target in ({'target': self.lab + ':/odom.x', 'type': 'table'}, {'target': self.lab + ':/odom.x', 'payload': {'type': 'table'}}):
            table, = self.query(dict(target, refId='T'))
            self.assertEqual((table['type'], table['refId']), ('table', 'T'))
            self.assertEqual([(c['text'], c['type']) for c in table['columns']],
                             [('Time', 'time'), ('Recording', 'string'), ('Field', 'string'), ('Value', 'number')])
            self.assertEqual(table['rows'], [[ms, 'grafana lab.bag', '/odom.x', value] for value, ms in series['datapoints']])
        both, = self.query({'target': self.lab, 'payload': {'type': 'table', 'field': ['/odom.x', '/odom.y']}}, maxDataPoints=2)
        self.assertEqual([r[2] for r in both['rows']], ['/odom.x'] * 2 + ['/odom.y'] * 2)
        self.assertProblem(self.query({'target': self.lab, 'payload': {'type': 'table', 'field': ['/odom.x'] * 65}}, status=413), 413, '64')

    def test_events_are_a_target(self):
        start = T0 + 3 * SECOND // 2
        answer = self.server.request('POST', '/api/v1/events', json.dumps({'recording': self.lab,
             'start': str(start), 'end': str(start + SECOND), 'title': 'a "turn"', 'tags': {'kind': 'turn'}}).encode(), {'Content-Type': 'application/json'})
        self.assertEqual(answer.status, 201, answer)
        self.addCleanup(self.server.request, 'DELETE', '/api/v1/events/' + answer.json()['id'])
        row = [start // 10**6, (start + SECOND) // 10**6, 'a "turn"', 'grafana lab.bag', ['kind=turn'], self.lab]
        for target in ({'target': 'events'}, {'target': 'annotations'}, {'target': 'events', 'payload': {'recording': self.lab}},
                       {'target': 'events', 'payload': {'recording': '(%s|%s)' % (self.lab, self.mol)}}):
            table, = self.query(dict(target, refId='Anno'))
            self.assertEqual((table['type'], table['refId']), ('table', 'Anno'))
            self.assertEqual([c['text'] for c in table['columns']], ['time', 'timeEnd', 'title', 'text', 'tags', 'recording'])
            self.assertEqual(table['rows'], [row])
        self.assertEqual(self.query({'target': 'events', 'payload': {'recording': self.mol}})[0]['rows'], [])
        year = {'from': '2020-01-01T00:00:00Z', 'to': '2021-01-01T00:00:00Z'}
        self.assertEqual(self.query({'target': 'events'}, range=year)[0]['rows'], [])
        for query in (self.lab, 'events', 'annotations', ''):
            old = self.post('annotations', {'annotation': {'query': query}, 'range': RANGE})
            self.assertEqual([[a['time'], a['timeEnd'], a['title'], a['text'], a['tags']] for a in old], [row[:5]], query)

    def test_what_cannot_be(self):
        self.assertProblem(self.query({'target': ''}, filters=[{'key': 'City', 'operator': '=', 'value': 'Berlin'}], status=400), 400, 'City')
        self.assertEqual(self.query({'target': ''}, filters=[{'key': '', 'value': ''}, {'key': 'agg', 'value': ''}]), [])
        self.assertProblem(self.query(*[{'target': 'gone'}] * 1001, status=413), 413, '1000')
        self.assertProblem(self.query(status=400, range={'from': 'soon'}), 400, 'range.from')
        self.assertProblem(self.query({'target': self.lab, 'payload': {'field': ['/odom.x'] * 65}}, status=413), 413, '64')
        for body, status in ((b'[1]', 400), (b'{', 400), (b'{"a":"' + b'x' * (1 << 20) + b'"}', 413)):
            self.assertProblem(self.server.request('POST', '/grafana/query', body), status)

    def test_the_dashboard_is_what_it_should_be(self):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docker', 'grafana', 'dashboards', 'fields.json')) as f:
            board = json.load(f)
        source, *variables = board['templating']['list']  # which data source is chosen by a variable too, so that it can be imported or provisioned
        self.assertEqual((source['name'], source['type'], source['query']), ('DS_REEL', 'datasource', 'simpod-json-datasource'))
        chosen = {'${recording}': self.lab, '${field}': '/odom.x'}

        def filled(text):
            for name, value in chosen.items():
                text = text.replace(name, value)
            return text
        for variable in variables:
            self.assertEqual(variable['query']['format'], 'json')
            offered = [v['__value'] for v in self.post('variable', {'payload': json.loads(filled(variable['query']['query'])), 'range': RANGE})]
            self.assertIn(chosen['${%s}' % variable['name']], offered)
        for panel in board['panels']:
            targets = [{'refId': t['refId'], 'target': filled(t['target']), 'payload': json.loads(filled(t['payload']))} for t in panel['targets']]
            self.assertTrue(self.query(*targets)[0]['datapoints'], panel['title'])
