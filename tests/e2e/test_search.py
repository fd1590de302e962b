"""Search over 200 recordings: the grammar, each filter, facets and totals equal to counting by hand, stable pages, coverage, rates and gaps, CSV and NDJSON."""
import csv
import datetime
import io
import json
import shutil
import struct
import tempfile
import unittest
from collections import Counter
from urllib.parse import urlencode

from harness import API, Case, Server, eventually, reel, time_ns
from samples import SECOND, T0, Message, bag, nanover, nanover_messages

COUNT = 200
HOUR = 3600 * SECOND


class Made:
    """One of the 200, as it was made."""

    def __init__(self, i):
        self.i = i
        self.name = 'run-%03d-%s.bag' % (i, ('door', 'hall', 'yard')[i % 3])
        self.collection = ('lab', 'field', 'attic')[i % 7 % 3]
        self.start, self.length = T0 + i * HOUR, (1 + i % 5) * 60 * SECOND
        self.topics = {'/odom': 'geometry_msgs/Point', '/cam%d/image' % (i % 4): 'lab_msgs/Blob', **({'chatter': 'std_msgs/String'} if i % 6 == 0 else {})}
        self.count = 3 + i % 4
        self.tags = {'robot': 'r%d' % (i % 5), **({'weather': 'rain, heavy'} if i % 9 == 0 else {})}
        self.id = None

    def messages(self):
        out = []
        for n in range(self.count):
            t = self.start + self.length * n // (self.count - 1)
            out.append(Message(t, '/odom', struct.pack('<3d', n, self.i, 0), 'geometry_msgs/Point'))
        for topic, kind in self.topics.items():
            if topic != '/odom':
                out.append(Message(self.start, topic, struct.pack('<I', 4) + b'%04d' % self.i, kind))
        return sorted(out, key=lambda m: m.time)

    @property
    def total(self):
        return self.count + len(self.topics) - 1


def stamp(ns):
    return (datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=ns // 1000)).strftime('%Y-%m-%dT%H:%M:%SZ')


class Words(Case):
    """Words of tags and events: what finds a recording changes with them, at once."""
    @classmethod
    def fill(cls):
        cls.ids = [cls.server.added('%d.bag' % i, bag([Message(T0 + i, '/odom', bytes(24), 'geometry_msgs/Point')])) for i in range(4)]

    def send(self, method, path, status, body=None):
        answer = self.server.request(method, API + path, json.dumps(body).encode() if body is not None else None, {'Content-Type': 'application/json'})
        self.assertEqual(answer.status, status, answer)
        return answer.json() if answer.body else None

    def tag(self, i, **tags):
        self.send('PATCH', '/recordings/' + self.ids[i], 200, {'tags': tags})

    def event(self, i, title):
        return '/events/' + self.send('POST', '/events', 201, {'recording': self.ids[i], 'start': '+0s', 'title': title})['id']

    def expect(self, q, *found):
        for sort in ('name', '-created'):
            page = self.get(API + '/recordings?' + urlencode({'q': q, 'sort': sort, 'count': 'true'})).json()
            self.assertEqual((sorted(r['name'] for r in page['items']), page['total']), (['%d.bag' % i for i in found], len(found)), (q, sort))

    def test_words_of_tags(self):
        self.tag(0, season='Late autumn', site='Café')
        self.tag(1, season='autumn')
        self.tag(2, season='winter', weather='autumn storm')
        for q, found in (('autumn', (0, 1, 2)), ('AUTU', (0, 1, 2)), ('tum', (0, 1, 2)), ('"late autumn"', (0,)), ('"autumn late"', ()), ('cafe', (0,)), ('ca', (0,)),
                         ('af', ()), ('autumn -late', (1, 2)), ('-autumn', (3,)), ('storm or cafe', (0, 2)), ('season', ())):
            self.expect(q, *found)
        self.tag(1, season='spring')
        self.expect('autumn', 0, 2)
        self.expect('spring', 1)
        self.tag(2, weather=None)
        self.expect('storm')
        self.assertEqual([v['value'] for v in self.get(API + '/values?field=tag:season&q=autumn').json()['items']], ['Late autumn'])
        self.tag(0, season=None)
        self.expect('autumn')

    def test_words_of_events(self):
        first, again, other = self.event(0, 'Wheel slips'), self.event(0, 'Wheel slips'), self.event(3, 'The wheel slips: éboulis')
        for q, found in (('"wheel slips"', (0, 3)), ('wheel slips', (0, 3)), ('lips', (0, 3)), ('eboulis', (3,)), ('wheel -the', (0,)), ('-wheel', (1, 2))):
            self.expect(q, *found)
        self.send('DELETE', first, 204)
        self.expect('slips', 0, 3)
        self.send('PATCH', again, 200, {'title': 'Wheels stand'})
        self.expect('slips', 3)
        self.expect('stand', 0)
        self.send('DELETE', again, 204)
        self.expect('stand')
        self.send('PATCH', other, 200, {'start': '+0s', 'tags': {'kind': 'bad'}})
        self.expect('slips', 3)
        self.send('DELETE', other, 204)
        self.expect('wheel')

    def test_what_is_purged_is_found_no_more(self):
        gone = self.server.added('gone.bag', bag([Message(T0, '/odom', bytes(24), 'geometry_msgs/Point')]), '?tag=state=meltdown')
        self.send('POST', '/events', 201, {'recording': gone, 'start': '+0s', 'title': 'implosion'})
        names = lambda q: [r['name'] for r in self.get(API + '/recordings?q=' + q).json()['items']]  # noqa: E731
        self.assertEqual((names('meltdown'), names('implosion')), (['gone.bag'], ['gone.bag']))
        self.send('DELETE', '/recordings/' + gone, 204)
        self.assertEqual((names('meltdown'), names('implosion'), names('implosion+state:trashed')), ([], [], ['gone.bag']))
        self.send('DELETE', '/recordings/%s?purge=true' % gone, 204)
        self.assertEqual((names('meltdown'), names('implosion+state:trashed')), ([], []))


class Rebuilt(unittest.TestCase):
    def test_words_come_back_with_their_manifests(self):
        folder = tempfile.mkdtemp(prefix='reel-words-')
        self.addCleanup(shutil.rmtree, folder, True)
        server = Server(folder)
        self.addCleanup(lambda: server.stop(None))
        one = server.added('one.bag', bag([Message(T0, '/odom', bytes(24), 'geometry_msgs/Point')]), '?tag=season=autumn')
        body = json.dumps({'recording': one, 'start': '+0s', 'title': 'Wheel slips'}).encode()
        self.assertEqual(server.request('POST', API + '/events', body, {'Content-Type': 'application/json'}).status, 201)
        server.stop()
        reel('fsck', '--rebuild', '--data', folder, check=False)
        self.assertEqual(reel('fsck', '--data', folder, check=False).returncode, 0)
        server = Server(folder)
        for q in ('autumn', '%22wheel+slips%22'):
            self.assertEqual([r['name'] for r in server.get(API + '/recordings?q=' + q).json()['items']], ['one.bag'], q)


class Search(Case):
    @classmethod
    def fill(cls):
        cls.made = [Made(i) for i in range(COUNT)]
        for m in cls.made:
            query = '?' + urlencode([('tag', '%s=%s' % tag) for tag in m.tags.items()])
            m.id = cls.server.added(m.name, bag(m.messages()), query, m.collection)
            m.size = len(bag(m.messages()))

    def ask(self, path, status=200, accept=None, **query):
        answer = self.server.request('GET', API + path + ('?' + urlencode(query, doseq=True) if query else ''), headers={'Accept': accept} if accept else {})
        self.assertEqual(answer.status, status, answer)
        return answer

    def found(self, **query):
        """Names, over all pages; the total says the same."""
        names, path = [], API + '/recordings?' + urlencode({'limit': 70, 'count': 'true', **query}, doseq=True)
        while path:
            answer = self.get(path)
            names += [r['name'] for r in answer.json()['items']]
            total = answer.json()['total']
            path = answer.next_path()
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(total, len(names))
        return set(names)

    def expect(self, holds, **query):
        wanted = {m.name for m in self.made if holds(m)}
        for sort in ('-created', 'name', '-start', 'size'):
            self.assertEqual(self.found(sort=sort, **query), wanted, (sort, query))
        return wanted

    # ---- q

    def test_words_and_phrases(self):
        self.assertEqual(len(self.expect(lambda m: True)), COUNT)
        self.expect(lambda m: m.i % 3 == 0, q='door')
        self.expect(lambda m: m.i % 3 == 0, q='DOO')
        self.expect(lambda m: m.i % 3 == 0 and m.i < 10, q='door 00')
        self.expect(lambda m: m.name == 'run-017-yard.bag', q='"run-017-yard"')
        self.expect(lambda m: False, q='"017 run"')
        self.expect(lambda m: m.i % 3 != 0, q='-door')
        self.expect(lambda m: m.i % 3 == 1, q='run -door -yard')
        self.expect(lambda m: m.i % 6 == 0, q='chatter')

    def test_keys(self):
        self.expect(lambda m: m.i % 5 == 1, q='robot:r1')
        self.expect(lambda m: m.i % 5 in (1, 3), q='robot:r1,r3')
        self.expect(lambda m: True, q='robot:*')
        self.expect(lambda m: m.i % 5 != 1, q='-robot:r1')
        self.expect(lambda m: m.i % 9 == 0, q='weather:*')
        self.expect(lambda m: m.i % 9 == 0, q='weather:"rain, heavy"')
        self.expect(lambda m: m.i % 9 == 0, q='*:rain*')
        self.expect(lambda m: m.i % 9 and m.i % 5 == 0, q='robot:r0 -weather:*')
        self.expect(lambda m: m.i % 4 == 2, q='topic:/cam2/*')
        self.expect(lambda m: m.i % 4 == 2, q='topic:cam2/image')
        self.expect(lambda m: m.i % 6 == 0, q='topic:/chatter type:std_msgs/*')
        self.expect(lambda m: m.collection in ('lab', 'attic'), q='collection:lab,at*')
        self.expect(lambda m: m.collection == 'field', q='-collection:lab,at*')
        self.expect(lambda m: True, q='format:rosbag-1.2 state:ready')
        self.expect(lambda m: True, q='format:mcap,rosbag')
        self.expect(lambda m: True, format='rosbag')
        self.expect(lambda m: False, q='-format:rosbag')
        self.expect(lambda m: False, q='state:failed')
        self.expect(lambda m: False, q='damaged:true')
        self.expect(lambda m: m.i % 5 == 1 and m.i % 3 == 0 and m.collection == 'lab', q='robot:r1 door collection:lab type:lab_msgs/*')

    def test_or_parentheses_and_ranges(self):
        self.expect(lambda m: m.i % 5 in (1, 3), q='robot:r1 or robot:r3')
        self.expect(lambda m: m.i % 5 == 1 or m.collection == 'lab', q='robot:r1 | collection:lab')
        self.expect(lambda m: m.i % 9 and (m.i % 5 == 1 or m.collection == 'lab'), q='(robot:r1 or collection:lab) -weather:*')
        self.expect(lambda m: m.collection == 'field' and m.i % 5 != 1, q='-(robot:r1 or collection:lab,attic)')
        self.expect(lambda m: True, q='size:>0 created:>now-1d')
        self.expect(lambda m: False, q='created:<2020-01-01')
        self.expect(lambda m: False, q='messages:>1M or duration:>9d')
        self.expect(lambda m: True, created_after='now-1d', created_before='now+1d')
        self.expect(lambda m: False, created_before='2020-01-01T00:00:00Z')

    def test_a_list_is_followed_to_its_end(self):
        for sort in ('name', '-size', 'start', '-created', 'duration'):
            names, cursor = [], None
            while True:
                page = self.ask('/recordings', sort=sort, q='size:>0', limit=7, **({'cursor': cursor} if cursor else {})).json()
                names += [item['id'] for item in page['items']]
                cursor = page['next']
                if not cursor:
                    break
                self.assertEqual(len(page['items']), 7)
            self.assertEqual((len(names), len(set(names))), (COUNT, COUNT))

    def test_errors_say_what_is_meant(self):
        for query, words in (({'format': 'bag'}, 'did you mean rosbag-1.2, rosbag-2.0, rosbag2?'), ({'q': 'format:mcpa'}, 'character 1: there is no format "mcpa": did you mean mcap?'),
                             ({'format': 'rosbag1'}, 'did you mean rosbag-1.2?'), ({'q': 'fromat:mcap'}, ': did you mean format?'),
                             ({'q': 'a robt:r1'}, 'character 3: there is no key and no tag "robt": did you mean robot?'), ({'q': 'formt:mcap'}, 'did you mean format?'),
                             ({'q': 'door start:>2026-05-01'}, 'character 6: there is no key and no tag "start": a day or month is written alone'),
                             ({'q': 'format:x*'}, 'there is no format "x*"'), ({'q': 'group:a*'}, 'a group is named whole'), ({'q': 'size:>big'}, 'write 500, 100M'),
                             ({'q': '(a'}, 'not closed'), ({'q': 'a or'}, 'a term is missing'), ({'q': '(' * 9 + 'a' + ')' * 9}, 'too many parentheses')):
            answer = self.ask('/recordings', status=400, **query)
            self.assertIn(words, answer.json()['detail'], query)
        self.assertEqual(self.found(q='"robt":r1'), set())  # quoted, it is a tag

    def test_nothing_of_it_is_sql(self):
        for q in ("x'; DROP TABLE recordings; --", 'robot:"\' OR 1=1 --"', 'name MATCH x', '") OR ("', '* OR *', 'NEAR(door hall, 1)', "topic:'%", '%', '_'):
            self.ask('/recordings', q=q)
        self.assertEqual(len(self.found()), COUNT)

    def test_errors_name_the_place(self):
        for query, words in (({'q': 'ärger "not closed'}, 'character 7'), ({'q': 'robot:'}, 'character 7'), ({'q': ':x'}, 'character 1'),
                             ({'q': 'state:odd'}, 'character 7'), ({'q': 'a' * 2001}, '2000 bytes'), ({'topic_re': 'a('}, 'byte 3'),
                             ({'topic_re': '(' * 30 + ')' * 30}, 'nest'), ({'topic_re': 'a' * 300}, '256 bytes'), ({'tag': '=x'}, 'key=value')):
            self.assertProblem(self.ask('/recordings', 400, **query), 400, words)
        self.assertProblem(self.ask('/recordings', 400, topic_re='^/odom$', match='some'), 400, 'match')

    # ---- parameters

    def test_topics(self):
        both = ['/cam1/*', '/chatter']
        self.expect(lambda m: m.i % 4 == 1 and m.i % 6 == 0, topic=both)
        self.expect(lambda m: m.i % 4 == 1 or m.i % 6 == 0, topic=both, match='any')
        self.expect(lambda m: m.i % 4 < 2, topic_re='^/cam[01]/')
        self.expect(lambda m: m.i % 4 == 0, topic_re=['cam0', 'image$'])
        self.expect(lambda m: True, topic_re=['cam0', 'image$'], match='any')
        self.expect(lambda m: m.i % 6 == 0, type_re='^std_msgs/S')
        self.expect(lambda m: m.i % 6 == 0, type='std_msgs/*')

    def test_ranges(self):
        self.expect(lambda m: m.total >= 7, min_messages=7)
        self.expect(lambda m: m.total <= 5, max_messages=5)
        self.expect(lambda m: 60 < m.length / SECOND <= 180, min_duration='61s', max_duration='3m')
        middle = sorted(m.size for m in self.made)[COUNT // 2]
        self.expect(lambda m: m.size >= middle, min_size=middle)
        self.expect(lambda m: m.size < middle, max_size=middle - 1)
        self.expect(lambda m: m.i % 5 == 2, tag='robot=r2')
        self.expect(lambda m: m.i % 5 == 2 and m.i % 9 == 0, tag=['robot=r2', 'weather'])
        self.expect(lambda m: True, tag='robot=r?')

    def test_intervals_are_half_open(self):
        a, b = T0 + 50 * HOUR, T0 + 90 * HOUR
        self.assertEqual(len(self.expect(lambda m: 50 <= m.i < 90, start=stamp(a), end=stamp(b))), 40)
        self.expect(lambda m: m.i >= 150, start=stamp(T0 + 150 * HOUR))
        self.expect(lambda m: m.i < 3, end=stamp(T0 + 3 * HOUR))
        self.expect(lambda m: m.i == 4, start=stamp(T0 + 4 * HOUR + 299 * SECOND), end=stamp(T0 + 5 * HOUR))
        self.expect(lambda m: 50 <= m.i < 90 and m.i % 5 == 1, start=stamp(a), end=stamp(b), q='robot:r1')

    def test_pages_stay_while_others_come(self):
        for sort in ('name', 'start', '-size', 'created'):
            seen, path = [], '%s/recordings?limit=30&sort=%s&q=run' % (API, sort)
            for k in range(20):
                answer = self.get(path)
                seen += [r['name'] for r in answer.json()['items']]
                path = answer.next_path()
                if not path:
                    break
                if k % 3 == 0:
                    late = Made(5000 + k)
                    late.start = T0 - (k + 1) * HOUR
                    one = self.server.added('aaa %s %d late' % (sort.strip('-'), k), bag(late.messages()), '', 'late')
                    self.addCleanup(self.server.request, 'DELETE', '%s/recordings/%s?purge=true' % (API, one))
            old = [n for n in seen if n.startswith('run-')]
            self.assertEqual(len(old), COUNT, sort)
            self.assertEqual(len(set(old)), COUNT, sort)

    # ---- what there is

    def values(self, **query):
        return {v['value']: v['recordings'] for v in self.ask('/values', **query).json()['items']}

    def test_facets_are_what_counting_says(self):
        count = lambda key, holds=lambda m: True: dict(Counter(x for m in self.made if holds(m) for x in key(m)))  # noqa: E731
        robot = lambda m: m.i % 5 == 1  # noqa: E731
        keys = {'topic': lambda m: list(m.topics), 'type': lambda m: set(m.topics.values()), 'tag': lambda m: list(m.tags),
                'tag:robot': lambda m: [m.tags['robot']], 'collection': lambda m: [m.collection], 'format': lambda m: ['rosbag-1.2'], 'state': lambda m: ['ready']}
        for field, key in keys.items():
            self.assertEqual(self.values(field=field), count(key), field)
            self.assertEqual(self.values(field=field, q='robot:r1'), count(key, robot), field)
            self.assertEqual(self.values(field=field, start=stamp(T0), end=stamp(T0 + 20 * HOUR)), count(key, lambda m: m.i < 20), field)
        self.assertEqual(self.values(field='topic', prefix='/cam1'), count(lambda m: [t for t in m.topics if t.startswith('/cam1')]))
        page = self.ask('/values', field='topic', limit=2)
        more = self.get(page.next_path()).json()['items']
        self.assertEqual([v['value'] for v in page.json()['items'] + more], sorted(self.values(field='topic'))[:4])
        self.assertEqual((self.ask('/values', field='topic', q='robot:r1').json()['capped']), False)
        self.assertProblem(self.ask('/values', 400, field='colour'), 400, 'field')

    def test_totals(self):
        stats = self.ask('/stats').json()
        self.assertEqual((stats['recordings'], stats['messages'], stats['size']), (COUNT, sum(m.total for m in self.made), sum(m.size for m in self.made)))
        rows = {(r['by'], r['name']): r for r in stats['items']}
        self.assertEqual(rows['format', 'rosbag-1.2']['recordings'], COUNT)
        self.assertEqual(rows['state', 'ready']['messages'], stats['messages'])
        for c in {m.collection for m in self.made}:
            mine = [m for m in self.made if m.collection == c]
            self.assertEqual((rows['collection', c]['recordings'], rows['collection', c]['size']), (len(mine), sum(m.size for m in mine)))
        days = {r['name']: r['recordings'] for r in self.ask('/stats', by='day').json()['items']}
        self.assertEqual(days, dict(Counter(stamp(m.start)[:10] for m in self.made)))
        self.assertAlmostEqual(sum(r['duration_s'] for r in self.ask('/stats', by='month').json()['items']), sum(m.length for m in self.made) / SECOND)

    def test_coverage_across(self):
        got = self.ask('/coverage', start=stamp(T0 + 10 * HOUR), end=stamp(T0 + 14 * HOUR)).json()
        self.assertEqual([r['recording'] for r in got['items']], [m.id for m in self.made[10:14]])
        self.assertEqual(time_ns(got['items'][0]['start']), self.made[10].start)
        spans = self.ask('/coverage', by='collection', q='collection:lab').json()
        mine = sorted((m for m in self.made if m.collection == 'lab'), key=lambda m: m.start)
        self.assertEqual([(time_ns(s['start']), time_ns(s['end']), s['recordings']) for s in spans['items']], [(m.start, m.start + m.length, 1) for m in mine])
        one, = self.ask('/coverage', by='collection', q='collection:lab', tolerance='24h').json()['items']
        self.assertEqual((time_ns(one['start']), time_ns(one['end']), one['recordings']), (mine[0].start, max(m.start + m.length for m in mine), len(mine)))

    def bucketed(self, **query):
        got = self.ask('/coverage', by='time', **query).json()
        self.assertEqual((got['interval'], got['capped']), ('[)', False))
        return {(time_ns(b['start']), time_ns(b['end'])): b['recordings'] for b in got['items']}

    def test_coverage_by_time_counts_what_overlaps_each_bucket(self):
        held = lambda a, b, robot='r2': sum(m.tags['robot'] == robot and m.start < b and m.start + m.length >= a for m in self.made)  # noqa: E731
        last = max(m.start + m.length for m in self.made)
        for bucket, width, offset in (('1h', HOUR, 0), ('6h', 6 * HOUR, 0), ('7m', 420 * SECOND, 0), ('24h', 24 * HOUR, 0), ('week', 168 * HOUR, 96 * HOUR)):
            wanted, at = {}, (T0 - offset) // width * width + offset
            while at <= last:
                wanted.update({(at, at + width): held(at, at + width)} if held(at, at + width) else {})
                at += width
            between = {'start': stamp(T0 - 200 * HOUR), 'end': stamp(last + 400 * HOUR)} if bucket == '7m' else {}
            self.assertEqual(self.bucketed(bucket=bucket, q='robot:r2', **between), wanted, bucket)
        for (a, b), n in self.bucketed(bucket='24h').items():  # what the list finds between the same times
            self.assertEqual(self.ask('/recordings', start=str(a), end=str(b), count='true', limit=1).json()['total'], n)
        months = self.bucketed(bucket='month')
        self.assertEqual({stamp(a)[:7] for a, _ in months}, {stamp(m.start)[:7] for m in self.made})
        self.assertTrue(all(stamp(a)[8:] == stamp(b)[8:] == '01T00:00:00Z' for a, b in months), months)
        (a, b), = self.bucketed(bucket='year')
        self.assertEqual((stamp(a)[4:], stamp(b)[4:]), ('-01-01T00:00:00Z',) * 2)
        # the first and the last bucket end where the search does
        a, b = T0 + 90 * 60 * SECOND, T0 + 5 * HOUR + 30 * SECOND
        got = self.bucketed(bucket='2h', start=str(a), end=str(b))
        self.assertEqual((min(got)[0], max(got)[1]), (a, b))
        self.assertEqual(got, {s: sum(m.start < s[1] and m.start + m.length >= s[0] for m in self.made) for s in got})
        self.assertEqual(self.bucketed(bucket='1h', q='no-such-word', start=str(a), end=str(b)), {})
        for bucket in ('', '0s', '-1h', 'fortnight'):
            self.assertProblem(self.ask('/coverage', 400, by='time', bucket=bucket), 400, 'bucket')
        # by a clock that is ahead of UTC, or behind it: days begin elsewhere
        for minutes in (330, -480):
            days, ahead = self.bucketed(bucket='24h', utc_offset=minutes, q='robot:r2'), minutes * 60 * SECOND
            self.assertEqual(days, {s: held(*s) for s in days})
            self.assertTrue(all((a + ahead) % (24 * HOUR) == 0 for a, _ in days), days)
            self.assertTrue(all(stamp(a + ahead)[8:] == '01T00:00:00Z' for a, _ in self.bucketed(bucket='month', utc_offset=minutes)))
        self.assertProblem(self.ask('/coverage', 400, by='time', bucket='24h', utc_offset=1441), 400, 'utc_offset')
        self.assertProblem(self.ask('/coverage', 400, by='time'), 400, 'bucket')
        self.assertProblem(self.ask('/coverage', 400, by='time', bucket='1s'), 400, 'start and end')
        self.assertEqual(self.bucketed(bucket='1s', q='no-such-word'), {})

    # ---- one recording

    def test_coverage_rate_and_gap_of_one(self):
        times = [0, 1, 2, 3, 10, 11, 12, 30]
        one = self.server.added('gaps.bag', bag([Message(T0 + t * SECOND, '/odom', struct.pack('<3d', t, 1, 2), 'geometry_msgs/Point') for t in times] +
                                                [Message(T0 + 31 * SECOND, '/end', b'', 'std_msgs/Empty')]), collection='late')
        self.addCleanup(self.server.request, 'DELETE', '%s/recordings/%s?purge=true' % (API, one))
        topics = {t['name']: t for t in self.ask('/recordings/%s/topics' % one).json()['items']}
        self.assertEqual((topics['/odom']['max_gap'], topics['/end']['max_gap']), (18.0, None))
        self.assertAlmostEqual(topics['/odom']['rate'], 7 / 30)
        covered = lambda **query: [[time_ns(a) - T0, time_ns(b) - T0, n] for a, b, n in {  # noqa: E731
            t['topic']: t['spans'] for t in self.ask('/recordings/%s/coverage' % one, **query).json()['topics']}['/odom']]
        self.assertEqual(covered(), [[t * SECOND, t * SECOND, 1] for t in times])
        self.assertEqual(covered(tolerance='1s'), [[0, 3 * SECOND, 4], [10 * SECOND, 12 * SECOND, 3], [30 * SECOND, 30 * SECOND, 1]])
        self.assertEqual(covered(tolerance='7s'), [[0, 12 * SECOND, 7], [30 * SECOND, 30 * SECOND, 1]])
        self.assertEqual(covered(bins=1), [[0, 30 * SECOND, 8]])
        self.assertEqual([t['topic'] for t in self.ask('/recordings/%s/coverage' % one, topic='/end').json()['topics']], ['/end'])
        rows = self.ask('/recordings/%s/coverage' % one, output='csv', tolerance='7s').body.decode()
        self.assertEqual([r['messages'] for r in csv.DictReader(io.StringIO(rows)) if r['topic'] == '/odom'], ['7', '1'])
        self.assertProblem(self.ask('/recordings/%s/coverage' % one, 400, bins=0), 400, 'bins')

    def test_coverage_of_a_part(self):
        """Bins of a range: exactly what is in it, as counted from its messages, however long the segments of the index are."""
        times = sorted({i * 10**8 + i * i % 977 for i in range(5000)})
        one = self.server.added('parts.bag', bag([Message(T0 + t, '/odom', struct.pack('<3d', t, 1, 2), 'geometry_msgs/Point') for t in times]), collection='late')
        self.addCleanup(self.server.request, 'DELETE', '%s/recordings/%s?purge=true' % (API, one))

        def spans(**query):
            covered = self.ask('/recordings/%s/coverage' % one, tolerance='1ns', **query).json()
            (topic,) = covered['topics']
            return [(time_ns(a) - T0, time_ns(b) - T0, n) for a, b, n in topic['spans']], covered['bin_s']

        last = times[-1]
        for start, end, bins in ((times[100], times[200], 7), (times[100], times[200], 300), (0, times[3000], 50), (times[4990], None, 2000), (None, 1, 1),
                                 (12345, 10**9, 3), (last, None, 5)):
            query = {name: T0 + at for name, at in (('start', start), ('end', end)) if at is not None}
            found, width = spans(bins=bins, **query)
            inside = [t for t in times if t >= (start or 0) and (end is None or t < end)]
            with self.subTest(start=start, end=end, bins=bins):
                self.assertEqual(sum(n for _, _, n in found), len(inside))
                self.assertEqual((found[0][0], found[-1][1]), (inside[0], inside[-1]))
                for a, b, n in found:
                    self.assertEqual(n, sum(a <= t <= b for t in inside))
                    self.assertLess(b - a, round(width * SECOND))
        self.assertEqual(spans(bins=9, start=T0, end=T0 + last + 1), spans(bins=9))
        self.assertEqual(spans(start='+250s', end='+250s')[0], [])
        self.assertProblem(self.ask('/recordings/%s/coverage' % one, 400, start='+9s', end='+1s'), 400, 'before start')

    def test_when_messages_were_lost(self):
        """A finding of a loss has the times of the messages before and after it in the file."""
        data = bytearray(bag([Message(T0 + t * SECOND, '/odom', struct.pack('<3d', 1000 + t, 1, 2), 'geometry_msgs/Point') for t in range(100)]))
        places = [data.index(struct.pack('<d', 1000 + t)) for t in range(100)]
        data[places[40]:places[44]] = b'\xff' * (places[44] - places[40])
        one = self.server.added('torn.bag', bytes(data), collection='late')
        self.addCleanup(self.server.request, 'DELETE', '%s/recordings/%s?purge=true' % (API, one))
        path = '/recordings/%s/scan' % one
        plain, timed = self.ask(path).json(), self.ask(path, times='true').json()
        self.assertTrue(timed['damaged'])
        losses = [f for f in timed['findings'] if f['severity'] == 'loss']
        first, last = min(time_ns(f['start']) for f in losses), max(time_ns(f['end']) for f in losses)
        rows = self.ask('/recordings/%s/messages' % one, decode='none', output='ndjson').body.splitlines()
        kept = {(time_ns(json.loads(row)['log_time']) - T0) // SECOND for row in rows}
        lost = set(range(100)) - kept
        self.assertTrue(lost and lost <= set(range(39, 46)), lost)
        self.assertEqual(((first - T0) // SECOND, (last - T0) // SECOND), (min(lost) - 1, max(lost) + 1))
        for f in timed['findings']:
            self.assertEqual((f.pop('start') is None, f.pop('end') is None), (f['severity'] != 'loss',) * 2)
        self.assertEqual(timed, plain)
        rows = list(csv.DictReader(io.StringIO(self.ask(path, times='true', output='csv').body.decode())))
        self.assertEqual({'start', 'end'} & set(rows[0]), {'start', 'end'})

    def test_what_files_say_of_themselves(self):
        one = self.server.added('mol.nanover.zip', nanover(nanover_messages()), collection='late')
        self.addCleanup(self.server.request, 'DELETE', '%s/recordings/%s?purge=true' % (API, one))
        metadata = self.ask('/recordings/%s/metadata' % one).json()['items']
        key, value = metadata[0]['key'], metadata[0]['value']
        self.assertEqual(self.found(q='meta."%s":"%s"' % (key, value)), {'mol.nanover.zip'})
        self.assertEqual(self.found(q='meta."%s":*' % key), {'mol.nanover.zip'})
        self.assertEqual(self.found(q='meta."%s":nothing' % key), set())
        self.assertEqual(self.values(field='meta.' + key), {value: 1})

    # ---- forms

    def table(self, path, **query):
        answer = self.ask(path, accept='text/csv', **query)
        self.assertTrue(answer.headers['Content-Type'].startswith('text/csv'), answer.headers)
        return list(csv.DictReader(io.StringIO(answer.body.decode(), newline='')))

    def test_lists_as_csv_and_ndjson(self):
        made = {m.name: m for m in self.made}
        rows = self.table('/recordings', limit=1000)
        self.assertEqual(len(rows), COUNT)
        for row in rows:
            m = made[row['name']]
            self.assertEqual((row['id'], row['collection'], int(row['messages']), int(row['size']), json.loads(row['tags'])),
                             (m.id, m.collection, m.total, m.size, m.tags))
        lines = self.ask('/recordings', accept='application/x-ndjson', limit=1000, output='ndjson').body.decode().splitlines()
        self.assertEqual({json.loads(line)['id'] for line in lines}, {m.id for m in self.made})
        one = self.made[9].id
        answer = self.server.request('POST', '%s/recordings/%s/notes' % (API, one), b'{"text": "a, \\"b\\"\\nc"}', {'Content-Type': 'application/json'})
        self.assertEqual(answer.status, 201)
        self.assertEqual([r['text'] for r in self.table('/recordings/%s/notes' % one)], ['a, "b"\nc'])
        self.assertEqual({r['value']: r['recordings'] for r in self.table('/tags/weather')}, {'rain, heavy': str(sum('weather' in m.tags for m in self.made))})
        for path, query, column in (('/tags', {}, 'key'), ('/collections', {}, 'name'), ('/values', {'field': 'topic'}, 'value'), ('/stats', {}, 'by'),
                                    ('/coverage', {}, 'recording'), ('/coverage', {'by': 'collection'}, 'collection'),
                                    ('/recordings/%s/topics' % one, {}, 'name')):
            rows = self.table(path, **query)
            lines = [json.loads(x) for x in self.ask(path, accept='application/x-ndjson', **query).body.decode().splitlines()]
            self.assertEqual([r[column] for r in rows], [str(x[column]) for x in lines], path)
            self.assertTrue(rows, path)
        for path in ('/events', '/jobs', '/failures', '/audit'):
            self.table(path)


if __name__ == '__main__':
    unittest.main()
