"""Questions about values: /search/values, where= of the list of recordings, intervals as events. The oracle decodes the messages over HTTP and walks
through them one by one."""
import hashlib
import json
import math
import operator
import os
import shutil
import struct
import tempfile
import unittest
import urllib.parse

import samples
from harness import API, STORE, Case, Server, create_token, eventually, in_a_folder, reel, stored, time_ns
from samples import T0, Message, bag
from test_access import bearer

samples.TYPES['lab_msgs/State'] = (hashlib.md5(b'State').hexdigest(), 'float64 voltage\nbool ok\ntime at\nint32 n\nstring mode\nfloat64[] list\n')
samples.TYPES['lab_msgs/Speed'] = (hashlib.md5(b'Speed').hexdigest(), 'float32 x\n')
STEP = 100_000_000
OPERATORS = {'<': operator.lt, '<=': operator.le, '>': operator.gt, '>=': operator.ge, '=': operator.eq, '!=': operator.ne}


def state(i, salt):
    voltage = math.nan if i % 700 == 13 else 10.5 if salt == 3 and 1000 <= i < 1200 else 12 + (i % 10) / 10
    mode = b'auto run' if i % 500 < 250 else b'idle'
    return struct.pack('<d?IIi', voltage, i >= 1500, 1000 + i, 5, i // 100) + struct.pack('<I', len(mode)) + mode + struct.pack('<I2d', 2, i, -1)


def recording(salt, n=3000):
    out = [Message(T0 + i * STEP, '/battery', state(i, salt), 'lab_msgs/State') for i in range(n)]
    out += [Message(T0 + i * STEP + 30_000_000, '/base.speed', struct.pack('<f', i % 400 - 200 + salt), 'lab_msgs/Speed') for i in range(0, n, 3)]
    return bag(sorted(out, key=lambda m: m.time))


def query(**params):
    return urllib.parse.urlencode({k.rstrip('_'): v for k, v in params.items()}, doseq=True)


def has_statistics(data, content):
    try:
        return bool(stored(data, 'statistics', content if STORE else content + '.stats'))
    except (ValueError, OSError):
        return False


class Oracle:
    """Of one recording. A condition is (topic, path, operator, value, text as it is asked)."""

    def __init__(self, case, key):
        self.rows = [(r['topic'], time_ns(r['log_time']), r['data']) for r in
                     case.get('%s/recordings/%s/messages?output=ndjson' % (API, key)).rows() if 'data' in r]
        self.last = {topic: time for topic, time, _ in self.rows}

    @staticmethod
    def value(message, path):
        for part in path.split('.'):
            message = message[int(part)] if isinstance(message, list) else message.get(part)
        if isinstance(message, dict):
            return message['sec'] * 10**9 + message['nsec']
        return math.nan if message in ('NaN', None) else message

    def intervals(self, conditions, join, for_ns=0):
        """[(start, end, count, min, max)]; min and max of the first condition's field."""
        states, found, now = [False] * len(conditions), [], None
        topics = {c[0] for c in conditions}
        events = [(time, 0, k, topic, message) for k, (topic, time, message) in enumerate(self.rows) if topic in topics]
        events += [(self.last[t], 1, 0, t, None) for t in topics if t in self.last]
        for time, ends, _, topic, message in sorted(events, key=lambda e: e[:3]):
            for i, (about, path, sign, value, _) in enumerate(conditions):
                if about == topic:
                    states[i] = not ends and self.holds(self.value(message, path), sign, value)
            if join(states):
                now = now or [time, None, 0, []]
                now[2] += not ends
                if topic == conditions[0][0] and not ends:
                    v = self.value(message, conditions[0][1])
                    now[3] += [] if isinstance(v, str) or math.isnan(v) else [v]
            elif now:
                if time - now[0] >= for_ns:
                    found.append((now[0], time, now[2], min(now[3], default=None), max(now[3], default=None)))
                now = None
        return found

    @staticmethod
    def holds(v, sign, value):
        if isinstance(v, str) != isinstance(value, str):
            return False
        return OPERATORS[sign](v, value)


def condition(topic, path, sign, value, text=None):
    return topic, path, sign, value, '%s.%s%s%s' % (topic, path, sign, text or (json.dumps(value) if isinstance(value, str) else value))


class Values(Case):
    @classmethod
    def fill(cls):
        cls.ids = {salt: cls.server.added('run %d.bag' % salt, recording(salt)) for salt in range(1, 5)}
        cls.other = cls.server.added('other.bag', bag([Message(T0, '/battery', b'\4\0\0\0abcd', 'std_msgs/String')]), collection='sims')

    def search(self, path='/search/values', **params):
        answer = self.get('%s%s?%s' % (API, path, query(**params)))
        return answer.json()

    def check(self, conditions, join, where, for_=None, for_ns=0):
        params = {'where': where, 'intervals': 1000, 'collection': 'lab', **({'for_': for_} if for_ else {})}
        found = self.search(**params)
        self.assertEqual((found['pending'], found['next'], found['searched']), ([], None, 4))
        by_id = {i['recording']: i for i in found['items']}
        any_found = False
        for key in self.ids.values():
            expected = self.oracle(key).intervals(conditions, join, for_ns)
            any_found = any_found or expected
            self.assertEqual(key in by_id, bool(expected), where)
            if expected:
                item = by_id[key]
                got = [(int(i['start_ns']), int(i['end_ns']), i['count'], i['min'], i['max']) for i in item['intervals']]
                self.assertEqual(got, expected[:1000], where)
                self.assertEqual((item['intervals_total'], item['count']), (len(expected), sum(e[2] for e in expected)))
                self.assertTrue(item['complete'])
        return any_found

    oracles = {}

    def oracle(self, key):
        if key not in self.oracles:
            self.oracles[key] = Oracle(self, key)
        return self.oracles[key]

    def test_every_operator_and_kind_of_value(self):
        for sign in OPERATORS:
            for c in (condition('/battery', 'voltage', sign, 10.5), condition('/battery', 'n', sign, 7), condition('/battery', 'ok', sign, 1),
                      condition('/base.speed', 'x', sign, 0), condition('/battery', 'mode', sign, 'idle'), condition('/battery', 'list.0', sign, 1500),
                      condition('/battery', 'at', sign, 2000 * 10**9, '1970-01-01T00:33:20Z')):
                self.check([c], all, c[4])

    def test_conditions_together(self):
        low, fast = condition('/battery', 'voltage', '<', 11), condition('/base.speed', 'x', '>=', 150)
        auto, ok = condition('/battery', 'mode', '=', 'auto run'), condition('/battery', 'ok', '=', 1)
        self.assertTrue(self.check([low, fast], all, '%s and %s' % (low[4], fast[4])))
        self.assertTrue(self.check([low, fast], any, '%s OR %s' % (low[4], fast[4])))
        self.assertTrue(self.check([fast, auto], all, [fast[4], auto[4]]))  # repeated: all must hold
        self.assertTrue(self.check([low, auto, ok], lambda s: s[0] or (s[1] and s[2]), '%s or (%s and %s)' % (low[4], auto[4], ok[4])))
        self.assertTrue(self.check([low, auto, ok], lambda s: (s[0] or s[1]) and s[2], '(%s or %s) and %s' % (low[4], auto[4], ok[4])))

    def test_held_for_a_time(self):
        fast = condition('/base.speed', 'x', '>', 190)
        self.assertTrue(self.check([fast], all, fast[4], '0.1s', 10**8))
        self.assertTrue(self.check([fast], all, fast[4], '800ms', 8 * 10**8))
        self.assertFalse(self.check([fast], all, fast[4], '1h', 3600 * 10**9))

    def test_the_list_has_only_those_in_which_it_held(self):
        answer = self.search('/recordings', where='/battery.voltage<11')
        self.assertEqual([i['id'] for i in answer['items']], [self.ids[3]])
        self.assertEqual(answer['items'][0]['name'], 'run 3.bag')
        self.assertEqual(self.search('/recordings', where='/battery.voltage<11', q='"run 2"')['items'], [])
        self.assertProblem(self.server.get(API + '/recordings?count=true&where=/a.b=1'), 400, 'counted')

    def test_pages(self):
        seen, path = [], '%s/search/values?%s' % (API, query(where='/battery.ok=1', sort='name', limit=1, collection='lab'))
        while path:
            page = self.get(path)
            seen += [i['name'] for i in page.json()['items']]
            path = page.next_path()
        self.assertEqual(seen, ['run %d.bag' % i for i in range(1, 5)])
        table = self.get('%s/search/values?%s' % (API, query(where='/battery.ok=1', output='csv', collection='lab'))).body.decode()
        self.assertEqual(table.splitlines()[0], 'recording,collection,name,intervals_total,count,held_s,min,max,complete,intervals')
        self.assertEqual(len(table.splitlines()), 5)

    def test_what_is_no_question(self):
        for where in ('', '/battery', '/battery.n>', '(/battery.n>1', '/battery.n>1 and', '/a.b=1 or or', '((' * 40):
            self.assertProblem(self.server.get('%s/search/values?%s' % (API, query(where=where))), 400)
        self.assertProblem(self.server.get(API + '/search/values'), 400)
        self.assertProblem(self.server.get(API + '/search/values?where=/a.b=1&state=trashed'), 400, 'ready')
        self.assertProblem(self.server.get(API + '/search/values?where=/a.b=1&intervals=1001'), 400, 'intervals', '1000')

    def test_infinity_has_no_number_in_json(self):
        values = [struct.pack('<f', x) for x in (1, math.inf, 3, -math.inf)]
        key = self.server.added('far.bag', bag([Message(T0 + i, '/far', v, 'lab_msgs/Speed') for i, v in enumerate(values)]), collection='far')
        item, = self.search(where='/far.x>=3')['items']
        self.assertEqual((item['recording'], item['count'], item['min'], item['max']), (key, 2, 3, None))
        self.assertProblem(self.server.get(API + '/recordings?for=5s'), 400, 'where')

    def test_what_has_no_statistics_yet_is_pending(self):
        for salt in range(3000, 3030):  # the job of the schedule may be faster than the question
            key = self.server.added('new %d.bag' % salt, recording(salt), collection='new%d' % salt)
            path = '%s/search/values?%s' % (API, query(where='/battery.n=1', collection='new%d' % salt))
            answer = self.get(path, Prefer='wait=0')
            if answer.json()['pending']:
                break
        one, = answer.json()['pending']
        self.assertEqual((one['recording'], one['name'], one['problem'], answer.json()['items']), (key, 'new %d.bag' % salt, None, []))
        self.assertEqual(answer.headers['X-Pending'], '1')
        self.assertEqual(one['job']['href'], API + '/jobs/' + one['job']['id'])
        self.assertTrue(eventually(lambda: self.get(path, Prefer='wait=0').json()['items']))
        self.assertEqual(self.get(path).json()['pending'], [])

    def test_trash(self):
        key = self.server.added('gone.bag', recording(9), collection='bin')
        ask = {'where': '/battery.n=1', 'collection': 'bin'}
        self.assertEqual([i['recording'] for i in self.search(**ask)['items']], [key])
        self.assertTrue(has_statistics(self.server.data, hashlib.sha256(recording(9)).hexdigest()))
        self.server.request('DELETE', '%s/recordings/%s' % (API, key))
        self.assertEqual(self.search(**ask)['items'], [])
        self.server.request('DELETE', '%s/recordings/%s?purge=true' % (API, key))
        self.assertFalse(has_statistics(self.server.data, hashlib.sha256(recording(9)).hexdigest()))

    @in_a_folder
    def test_old_and_damaged_statistics_are_made_again(self):
        data = recording(20)
        key = self.server.added('old.bag', data, collection='old')
        ask = {'where': '/battery.n=1', 'collection': 'old'}
        before = self.search(**ask)
        self.assertEqual([i['recording'] for i in before['items']], [key])
        content = hashlib.sha256(data).hexdigest()
        path = os.path.join(self.server.data, 'blobs', content[:2], content + '.stats')
        self.assertLess(os.path.getsize(path), len(data) // 100)
        with open(path, 'rb') as f:
            whole = f.read()
        for at, size in ((12, len(whole)), (40, len(whole)), (0, 10), (0, 0)):  # of other decoders; damaged; cut
            with open(path, 'wb') as f:
                f.write((whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])[:size])
            self.assertEqual(self.search(**ask), before)
            with open(path, 'rb') as f:
                self.assertEqual(f.read(), whole)

    def test_intervals_as_events(self):
        path = '%s/search/values?%s' % (API, query(where='/battery.voltage<11', save_as='event', title='low'))
        first = self.server.request('POST', path)
        self.assertEqual(first.status, 200, first)
        self.assertEqual([(i['recording'], i['events'], i['added']) for i in first.json()['items']], [(self.ids[3], 1, 1)])
        self.assertEqual([(i['events'], i['added']) for i in self.server.request('POST', path).json()['items']], [(1, 0)])
        events = self.get('%s/recordings/%s/events' % (API, self.ids[3])).json()['items']
        expected = self.oracle(self.ids[3]).intervals([condition('/battery', 'voltage', '<', 11)], all)
        self.assertEqual([(int(e['start_ns']), int(e['end_ns']), e['title']) for e in events], [(s, e, 'low') for s, e, *_ in expected])
        self.assertProblem(self.server.request('POST', '%s/search/values?where=/a.b=1' % API), 400)


class Later(unittest.TestCase):
    """The job makes statistics without a question; tokens see what they may see; no file is left over."""

    def test_job_access_and_fsck(self):
        data = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, data, ignore_errors=True)
        server = Server(data)
        try:
            one = server.added('a.bag', recording(1), collection='one')
            two = server.added('b.bag', recording(2), collection='two')
            content = hashlib.sha256(recording(1)).hexdigest()
            self.assertTrue(eventually(lambda: has_statistics(data, content)))
            tokens = {'all': create_token(server, 'edit', 'all'), 'one': create_token(server, 'edit', 'one', '--collection', 'one'), 'read': create_token(server, 'read', 'r')}

            def found(who, method='GET', more=''):
                answer = server.request(method, '%s/search/values?where=/battery.n=1%s' % (API, more), headers=bearer(tokens[who]))
                return {i['recording'] for i in answer.json()['items']} if answer.status == 200 else answer.status
            self.assertEqual(found('all'), {one, two})
            self.assertEqual(found('one'), {one})
            self.assertEqual(found('one', 'POST', '&save_as=event'), {one})
            self.assertEqual(found('read', 'POST', '&save_as=event'), 403)
            self.assertEqual(server.request('GET', API + '/search/values?where=/battery.n=1').status, 401)
        finally:
            server.stop()
        self.assertIn(b'no problems', reel('fsck', '--data', data).stdout)


if __name__ == '__main__':
    unittest.main()
