"""Annotations of recordings: PATCH with If-Match, tags, notes, events, epoch, collections; limits; all of it through scans, new revisions, restarts and
into the manifest."""
import gzip
import hashlib
import json
import os
import shutil
import signal
import tempfile
import threading
import unittest
from urllib.parse import urlencode

from harness import API, Case, Server, catalog_sql, eventually, files_below, stored
from legacy import pair
from samples import SECOND, T0, bag, lab_messages, nanover, nanover_messages


def send(server, method, path, body=None, **headers):
    data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
    return server.request(method, API + path, data, {'Content-Type': 'application/json', **{k.replace('_', '-'): v for k, v in headers.items()}})


def wait_for_manifests(data_folder):
    """A job writes them soon after a change."""
    assert eventually(lambda: catalog_sql(data_folder, 'SELECT count(*) FROM manifests_due') == [('0',)])


def manifest(data_folder, content):
    """Of these bytes: the entries of its recordings, by id."""
    wait_for_manifests(data_folder)
    return {r['id']: r for r in json.loads(stored(data_folder, 'manifests', hashlib.sha256(content).hexdigest()))['recordings']}


class Notes(Case):
    salt = 100

    @classmethod
    def fill(cls):
        cls.lab = cls.server.added('shared.bag', bag(lab_messages(2)))
        cls.mol = cls.server.added('mol.nanover.zip', nanover(nanover_messages()), collection='sims')

    def ask(self, method, path, body=None, status=200, **headers):
        answer = send(self.server, method, path, body, **headers)
        self.assertEqual(answer.status, status, answer)
        return answer.json() if answer.body else None

    def fresh(self, query='', name=None, collection='lab'):
        """A recording of its own for a test: id and bytes."""
        Notes.salt += 1
        data = bag(lab_messages(2, salt=Notes.salt))
        return self.server.added(name or 'fresh %d.bag' % Notes.salt, data, query, collection), data

    # ---- PATCH

    def test_patch_says_and_get_shows(self):
        one, data = self.fresh()
        before = self.get('%s/recordings/%s' % (API, one)).json()
        self.assertEqual((before['tags'], before['description'], before['custom'], before['epoch'], before['notes'], before['events']), ({}, '', {}, None, 0, 0))
        self.assertEqual(before['calendar_start'], before['start'])
        annotations = {'description': 'Ärger an der Tür', 'custom': {'operator': 'ann', 'run': {'n': 7}}, 'tags': {'robot': 'r1', 'area': 'hall'}}
        patched = self.ask('PATCH', '/recordings/' + one, annotations)
        for shown in (patched, self.get('%s/recordings/%s' % (API, one)).json(), next(r for r in self.get(API + '/recordings').json()['items'] if r['id'] == one)):
            self.assertEqual({k: shown[k] for k in annotations}, annotations)
        again = self.ask('PATCH', '/recordings/' + one, {'custom': {'run': {'n': None, 'm': 1}}, 'tags': {'area': None, 'shift': 'late'}, 'description': None})
        self.assertEqual((again['custom'], again['tags'], again['description']), ({'operator': 'ann', 'run': {'m': 1}}, {'robot': 'r1', 'shift': 'late'}, ''))
        emptied = self.ask('PATCH', '/recordings/' + one, {'custom': None, 'tags': None})
        self.assertEqual((emptied['custom'], emptied['tags']), ({}, {}))
        self.assertNotIn('description', manifest(self.server.data, data)[one])
        untouched = self.ask('PATCH', '/recordings/' + one, {})
        self.assertEqual(untouched['updated'], emptied['updated'])

    def test_if_match(self):
        one, _ = self.fresh()
        path = '/recordings/' + one
        first = self.get(API + path).headers['ETag']
        self.assertRegex(first, r'^"[^"]+"$')
        self.assertEqual(self.server.get(API + path, If_None_Match=first).status, 304)
        changed = send(self.server, 'PATCH', path, {'description': 'a'}, If_Match=first)
        self.assertEqual(changed.status, 200)
        self.assertNotEqual(self.get(API + path).headers['ETag'], first)
        self.assertProblem(send(self.server, 'PATCH', path, {'description': 'b'}, If_Match=first), 412)
        self.assertProblem(send(self.server, 'PATCH', path, {'description': 'b'}, If_Match='"made-up"'), 412)
        self.assertProblem(send(self.server, 'PUT', path + '/tags/k?value=v', If_Match=first), 412)
        self.assertProblem(send(self.server, 'DELETE', path, If_Match=first), 412)
        self.assertEqual(self.get(API + path).json()['description'], 'a')
        self.ask('PATCH', path, {'description': 'b'}, If_Match='"made-up", ' + changed.headers['ETag'])
        self.ask('PATCH', path, {'description': 'c'}, If_Match='*')
        for verb, sub, body in (('PUT', '/tags/k?value=v', None), ('POST', '/notes', {'text': 'x'}), ('POST', '/restore', None)):
            tag = self.get(API + path).headers['ETag']
            if sub == '/restore':
                send(self.server, 'DELETE', path, If_Match=tag)
            send(self.server, verb, path + sub, body)
            self.assertNotEqual(self.get(API + path).headers['ETag'], tag, sub)

    def test_if_match_with_what_came_packed(self):
        one, _ = self.fresh()
        path = '/recordings/' + one
        answer = self.server.get(API + path, Accept_Encoding='gzip')
        self.assertEqual(answer.headers['Content-Encoding'], 'gzip')
        self.assertEqual(json.loads(gzip.decompress(answer.body))['id'], one)
        self.assertEqual(self.server.get(API + path, Accept_Encoding='gzip', If_None_Match=answer.headers['ETag']).status, 304)
        self.assertEqual(send(self.server, 'PATCH', path, {'description': 'a'}, If_Match=answer.headers['ETag']).status, 200)
        self.assertProblem(send(self.server, 'DELETE', path, If_Match=answer.headers['ETag']), 412)
        self.assertEqual(send(self.server, 'DELETE', path, If_Match=self.server.get(API + path, Accept_Encoding='gzip').headers['ETag']).status, 204)

    def test_of_two_patches_one_is_too_late(self):
        one, _ = self.fresh()
        for turn in range(10):
            tag = self.get('%s/recordings/%s' % (API, one)).headers['ETag']
            status, gate = [], threading.Barrier(4)

            def patch(k):
                gate.wait()
                status.append(send(self.server, 'PATCH', '/recordings/' + one, {'tags': {'winner': '%d.%d' % (turn, k)}}, If_Match=tag).status)
            threads = [threading.Thread(target=patch, args=(k,)) for k in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual(sorted(status), [200, 412, 412, 412])
        self.assertTrue(self.get('%s/recordings/%s' % (API, one)).json()['tags']['winner'].startswith('9.'))

    def test_new_names(self):
        one, data = self.fresh()
        other, _ = self.fresh(name='taken.bag')
        self.assertProblem(send(self.server, 'PATCH', '/recordings/' + one, {'name': 'taken.bag', 'description': 'not this either'}), 409, 'taken.bag')
        self.assertEqual(self.get('%s/recordings/%s' % (API, one)).json()['description'], '')
        moved = self.ask('PATCH', '/recordings/' + one, {'name': 'sub/zebra.bag', 'collection': 'yard'})
        self.assertEqual((moved['name'], moved['collection'], moved['revision'], moved['id']), ('sub/zebra.bag', 'yard', 1, one))
        self.assertEqual([r['id'] for r in self.get(API + '/recordings?q=zebra&collection=yard').json()['items']], [one])
        self.assertEqual((manifest(self.server.data, data)[one]['name'], manifest(self.server.data, data)[one]['collection']), ('sub/zebra.bag', 'yard'))
        self.assertEqual(self.server.put('sub/zebra.bag', data, collection='yard').status, 200)
        for body in ({'name': ''}, {'name': '../x'}, {'name': None}, {'name': 7}, {'collection': 'a/b'}, {'name': 'x' * 300}):
            with self.subTest(str(body)):
                self.assertProblem(send(self.server, 'PATCH', '/recordings/' + one, body), 400, 'name' if 'name' in body else 'collection')

    def test_what_patch_does_not_take(self):
        path = '/recordings/' + self.lab
        for body, word in (({'color': 1}, 'color'), ({'size': 7}, 'size'), ({'tags': []}, 'tags'), ({'tags': {'a b': 'x'}}, 'key'), ({'tags': {'a': 7}}, 'a'),
                           ({'tags': {'a': 'x\u0007'}}, 'control'), ({'custom': [1]}, 'custom'), ({'description': 7}, 'description'), ({'epoch': 'soon'}, 'epoch'),
                           ({'epoch': '+5s'}, 'epoch'), (b'{"name": "a", "name": "b"}', 'name'), (b'[1]', 'object'), (b'{', 'object'), (b'\xff', 'object'),
                           (b'{"custom":' + b'{"a":' * 40 + b'1' + b'}' * 41, 'nested')):
            with self.subTest(str(body)[:60]):
                self.assertProblem(send(self.server, 'PATCH', path, body), 400, word)
        self.assertProblem(send(self.server, 'PATCH', path, {'epoch': '2020-01-01T00:00:00Z'}), 409, 'calendar')
        self.assertProblem(send(self.server, 'PATCH', path, {'description': 'x' * (64 * 1024 + 1)}), 413, '65536')
        self.assertProblem(send(self.server, 'PATCH', path, {'custom': {'k': 'x' * 64 * 1024}}), 413, '65536')
        self.assertProblem(send(self.server, 'PATCH', path, {'tags': {'k%d' % i: 'v' for i in range(65)}}), 413, '64')
        self.assertProblem(send(self.server, 'PATCH', path, b'{"custom":{"k":"' + b'x' * (1 << 20) + b'"}}'), 413)
        self.assertProblem(send(self.server, 'PATCH', '/recordings/' + '0' * 32, {}), 404)

    def test_long_texts_are_cut_in_lists_only(self):
        one, _ = self.fresh()
        text, custom = 'ü' * 5000, {'k': 'x' * 10_000}
        self.ask('PATCH', '/recordings/' + one, {'description': text, 'custom': custom})
        whole = self.get('%s/recordings/%s' % (API, one)).json()
        self.assertEqual((whole['description'], whole['custom']), (text, custom))
        self.assertNotIn('cut', whole)
        listed = next(r for r in self.get(API + '/recordings').json()['items'] if r['id'] == one)
        self.assertEqual((listed['description'], listed['custom'], listed['cut']), ('ü' * 512, {}, ['description', 'custom']))

    # ---- tags

    def test_one_tag(self):
        one, data = self.fresh()
        path = '/recordings/%s/tags/' % one
        self.assertProblem(send(self.server, 'GET', path + 'robot'), 404)
        self.assertEqual(self.ask('PUT', path + 'robot', b'r 1\n', 201), {'key': 'robot', 'value': 'r 1'})
        self.assertEqual(self.ask('PUT', path + 'robot?value=r%C3%A4', None), {'key': 'robot', 'value': 'rä'})
        self.assertEqual(self.ask('GET', path + 'robot')['value'], 'rä')
        self.assertEqual(manifest(self.server.data, data)[one]['tags'], {'robot': 'rä'})
        self.ask('PUT', path + 'empty?value=', None, 201)
        for headers in ({}, {'Content-Type': 'application/json'}):
            answer = self.server.request('PUT', API + path + 'json', '{"value": "r1"}', headers)
            self.assertEqual(answer.json(), {'key': 'json', 'value': 'r1'})
        for body, value in (('"v"', 'v'), (' "r\u00e4 \\"2\\""\n', 'rä "2"'), ('plain', 'plain'), ('5', '5')):
            answer = self.server.request('PUT', API + path + 'json', body.encode(), {'Content-Type': 'application/json'})
            self.assertEqual(answer.json(), {'key': 'json', 'value': value})
        answer = self.server.request('PUT', API + path + 'json', '"v"', {'Content-Type': 'text/plain'})
        self.assertEqual(answer.json(), {'key': 'json', 'value': '"v"'})
        for body, words in (('{"valu": "r1"}', 'value'), ('"v', 'no JSON text'), ('"a\\u0000b"', 'no JSON text'), ('""', 'missing'), ('"%s"' % ('x' * 257), '256')):
            self.assertProblem(self.server.request('PUT', API + path + 'json', body, {'Content-Type': 'application/json'}), 400, words)
        self.assertEqual(send(self.server, 'DELETE', path + 'json').status, 204)
        for body in (b'', b'\n'):
            self.assertProblem(send(self.server, 'PUT', path + 'k', body), 400, 'value is missing')
        self.assertEqual(self.get('%s/recordings/%s' % (API, one)).json()['tags'], {'empty': '', 'robot': 'rä'})
        self.assertEqual(send(self.server, 'DELETE', path + 'robot').status, 204)
        self.assertProblem(send(self.server, 'DELETE', path + 'robot'), 404)
        for target, body in (('a%20b', b'x'), ('k' * 65, b'x'), ('k', b'x' * 257), ('k', b'\xff'), ('k', b'a\nb'), ('k', b'a\0b'), ('k?value=a', b'b')):
            with self.subTest(target):
                self.assertProblem(send(self.server, 'PUT', path + target, body), 400)
        self.ask('PUT', path + 'k' * 64, b'x' * 256, 201)

    def test_uploads_bring_tags(self):
        one, data = self.fresh('?tag=robot=r1&tag=eq=a=b&tag=none=')
        self.assertEqual(self.get('%s/recordings/%s' % (API, one)).json()['tags'], {'robot': 'r1', 'eq': 'a=b', 'none': ''})
        self.assertEqual(manifest(self.server.data, data)[one]['tags'], {'robot': 'r1', 'eq': 'a=b', 'none': ''})
        self.assertProblem(self.server.put('x.bag', data, '?tag=robot'), 400, 'tag')
        self.assertProblem(self.server.put('x.bag', data, '?tag=a%20b=c'), 400, 'tag')

    def test_a_new_revision_takes_over(self):
        one, data = self.fresh('?tag=robot=r1', name='grows.bag')
        self.ask('PATCH', '/recordings/' + one, {'description': 'd', 'custom': {'a': 1}, 'tags': {'area': 'hall'}})
        self.ask('POST', '/recordings/%s/notes' % one, {'text': 'of the first'}, 201)
        two, newer = self.fresh('?replace=true&tag=robot=r2', name='grows.bag')
        r = self.get('%s/recordings/%s' % (API, two)).json()
        self.assertEqual((r['revision'], r['tags'], r['description'], r['custom'], r['notes']), (2, {'area': 'hall', 'robot': 'r2'}, 'd', {'a': 1}, 0))
        self.assertEqual(manifest(self.server.data, newer)[two]['tags'], {'area': 'hall', 'robot': 'r2'})
        self.assertEqual(self.get('%s/recordings/%s' % (API, one)).json()['tags'], {'area': 'hall', 'robot': 'r1'})
        self.assertEqual(manifest(self.server.data, data)[one]['notes'][0]['text'], 'of the first')

    def test_batch_and_counts(self):
        ids = [self.fresh(collection='batch', name='batchword %d.bag' % i)[0] for i in range(3)]
        done = self.ask('POST', '/tags:batch', {'ids': ids + ['0' * 32], 'set': {'lot': 'x', 'bin': '1'}, 'unset': ['none']})
        self.assertEqual(done, {'matched': 3, 'changed': 3, 'not_found': ['0' * 32]})
        self.assertEqual(self.ask('POST', '/tags:batch', {'q': 'batchword', 'set': {'lot': 'x'}}), {'matched': 3, 'changed': 0, 'not_found': []})
        self.assertEqual(self.ask('POST', '/tags:batch', {'ids': ids[:1], 'set': {'lot': 'y'}, 'unset': ['bin']})['changed'], 1)
        counts = lambda path: {i.get('key', i.get('value')): i['recordings'] for i in self.get(API + path).json()['items']}
        self.assertEqual(counts('/tags?prefix=lo'), {'lot': 3})
        self.assertEqual(counts('/tags/lot'), {'x': 2, 'y': 1})
        self.assertEqual(counts('/tags/lot?prefix=y'), {'y': 1})
        self.assertEqual(counts('/tags/bin'), {'1': 2})
        self.assertEqual(counts('/tags/nobody'), {})
        send(self.server, 'DELETE', '/recordings/' + ids[1])
        self.assertEqual(counts('/tags/lot'), {'x': 1, 'y': 1})
        self.assertIn(ids[1], [r['id'] for r in self.get(API + '/recordings?state=trashed').json()['items']])
        self.assertEqual(self.ask('POST', '/recordings/%s/restore' % ids[1])['tags'], {'bin': '1', 'lot': 'x'})
        self.assertEqual(counts('/tags/lot'), {'x': 2, 'y': 1})
        seen, path = [], API + '/tags/lot?limit=1'
        while path:
            answer = self.get(path)
            seen += [i['value'] for i in answer.json()['items']]
            path = answer.next_path()
            self.assertLess(len(seen), 4)
        self.assertEqual(seen, ['x', 'y'])
        for body in ({}, {'ids': ids}, {'ids': ids, 'q': 'x', 'set': {'a': 'b'}}, {'q': '', 'set': {'a': 'b'}}, {'ids': 'x', 'set': {'a': 'b'}}, {'ids': [7], 'set': {'a': 'b'}},
                     {'ids': ids, 'set': {'a b': 'c'}}, {'ids': ids, 'unset': {'a': 1}}, {'ids': ids, 'set': {'a': 'b'}, 'more': 1}):
            with self.subTest(str(body)[-60:]):
                self.assertProblem(send(self.server, 'POST', '/tags:batch', body), 400)
        self.assertProblem(send(self.server, 'POST', '/tags:batch', {'ids': ['x'] * 10_001, 'set': {'a': 'b'}}), 413, '10000')
        self.assertProblem(self.server.get(API + '/tags?cursor=zz'), 400, 'cursor')
        self.assertProblem(self.server.get(API + '/tags?limit=0'), 400, 'limit')

    # ---- notes

    def test_notes(self):
        one, data = self.fresh()
        path = '/recordings/%s/notes' % one
        first = send(self.server, 'POST', path, {'text': 'door was open\n→ again'})
        self.assertEqual(first.status, 201)
        note = first.json()
        self.assertEqual(first.headers['Location'], '%s%s/%s' % (API, path, note['id']))
        self.assertEqual((note['text'], note['created']), ('door was open\n→ again', note['updated']))
        self.assertIsInstance(note['author'], str)
        second = self.ask('POST', path, {'text': 'two'}, 201)
        self.assertEqual([n['id'] for n in self.get(API + path).json()['items']], [note['id'], second['id']])
        page = self.get(API + path + '?limit=1')
        self.assertEqual([n['text'] for n in self.get(page.next_path()).json()['items']], ['two'])
        for cursor in ('x', ' 1', '+1', '1x', '', '9' * 20):
            self.assertProblem(self.server.get('%s%s?cursor=%s' % (API, path, cursor.encode().hex())), 400, 'cursor')
        self.assertEqual(self.ask('PATCH', '%s/%s' % (path, note['id']), {'text': 'closed'})['text'], 'closed')
        kept = manifest(self.server.data, data)[one]['notes']
        self.assertEqual([(n['id'], n['text']) for n in kept], [(note['id'], 'closed'), (second['id'], 'two')])
        self.assertEqual(self.get('%s/recordings/%s' % (API, one)).json()['notes'], 2)
        self.assertEqual(send(self.server, 'DELETE', '%s/%s' % (path, note['id'])).status, 204)
        self.assertProblem(send(self.server, 'DELETE', '%s/%s' % (path, note['id'])), 404)
        self.assertProblem(send(self.server, 'PATCH', '/recordings/%s/notes/%s' % (self.lab, second['id']), {'text': 'of another'}), 404)
        for body in ({}, {'text': ''}, {'text': 7}, {'text': 'a', 'author': 'me'}):
            with self.subTest(str(body)):
                self.assertProblem(send(self.server, 'POST', path, body), 400)
        self.assertProblem(send(self.server, 'POST', path, {'text': 'x' * 16385}), 413, '16384')

    # ---- events

    def test_events_of_a_wall_clock(self):
        one, data = self.fresh()
        r = self.get('%s/recordings/%s' % (API, one)).json()
        made = send(self.server, 'POST', '/events', {'recording': one, 'start': r['start'], 'end': '-500ms', 'title': 'fall', 'tags': {'kind': 'bad'}})
        self.assertEqual(made.status, 201, made)
        event = made.json()
        self.assertEqual(made.headers['Location'], API + '/events/' + event['id'])
        self.assertEqual((event['recording'], event['name'], event['start'], event['start_ns'], event['end_ns'], event['tags'], event['calendar_start']),
                         (one, r['name'], r['start'], str(T0), str(int(r['end_ns']) - SECOND // 2), {'kind': 'bad'}, r['start']))
        instant = self.ask('POST', '/events', {'recording': one, 'start': T0 + SECOND, 'title': 'blink'}, 201)
        self.assertEqual(instant['start'], instant['end'])
        self.assertEqual(self.ask('GET', '/events/' + event['id']), event)
        for cursor in ('x', '1', '1.', '.1', '+1.1', ' 1.1', '1.1x', '1.+1'):
            self.assertProblem(self.server.get('%s/events?cursor=%s' % (API, cursor.encode().hex())), 400, 'cursor')
        own = lambda query: [e['title'] for e in self.get('%s/recordings/%s/events%s' % (API, one, query)).json()['items']]
        self.assertEqual(own(''), ['fall', 'blink'])
        self.assertEqual(own('?start=%2B1s'), ['fall', 'blink'])
        self.assertEqual(own('?start=%2B1s&limit=1'), ['fall'])
        self.assertEqual(own('?end=%2B1s'), ['fall'])
        self.assertEqual(own('?start=-400ms'), [])
        self.assertEqual([e['title'] for e in self.get('%s/events?recording=%s' % (API, one)).json()['items']], ['fall', 'blink'])
        self.assertEqual(self.ask('PATCH', '/events/' + event['id'], {'title': 'stumble', 'tags': {'kind': None, 'who': 'r1'}, 'end': '+1s'})['tags'], {'who': 'r1'})
        kept = manifest(self.server.data, data)[one]['events']
        self.assertEqual([(e['title'], e['start_ns'], e['end_ns'], e['tags']) for e in kept], [('stumble', T0, T0 + SECOND, {'who': 'r1'}), ('blink', T0 + SECOND, T0 + SECOND, {})])
        self.assertEqual(self.get('%s/recordings/%s' % (API, one)).json()['events'], 2)
        self.assertEqual(send(self.server, 'DELETE', '/events/' + event['id']).status, 204)
        self.assertProblem(send(self.server, 'GET', '/events/' + event['id']), 404)
        for body, word in (({'start': 1, 'title': 'x'}, 'recording'), ({'recording': one, 'title': 'x'}, 'start'), ({'recording': one, 'start': 1}, 'title'),
                           ({'recording': one, 'start': 'soon', 'title': 'x'}, 'start'), ({'recording': one, 'start': 2, 'end': 1, 'title': 'x'}, 'ends'),
                           ({'recording': one, 'start': 1.5, 'title': 'x'}, 'start'), ({'recording': one, 'start': 1, 'title': 'x', 'colour': 1}, 'colour'),
                           ({'recording': one, 'start': 1, 'title': 'x', 'tags': {'a': 1}}, 'text')):
            with self.subTest(word):
                self.assertProblem(send(self.server, 'POST', '/events', body), 400, word)
        self.assertProblem(send(self.server, 'POST', '/events', {'recording': '0' * 32, 'start': 1, 'title': 'x'}), 404)
        self.assertProblem(self.server.get(API + '/events?start=%2B5s'), 400, 'start')

    def test_if_match_of_events(self):
        one, _ = self.fresh()
        made = send(self.server, 'POST', '/events', {'recording': one, 'start': T0, 'title': 'fall'})
        path, first = '/events/' + made.json()['id'], made.headers['ETag']
        self.assertEqual((first, self.get(API + path).headers['ETag']), ('"%s"' % made.json()['updated'],) * 2)
        second = send(self.server, 'PATCH', path, {'end': '+1s'}, If_Match=first)
        self.assertEqual((second.status, second.headers['ETag']), (200, '"%s"' % second.json()['updated']))
        self.assertNotEqual(second.headers['ETag'], first)
        self.assertProblem(send(self.server, 'PATCH', path, {'title': 'late'}, If_Match=first), 412)
        self.assertProblem(send(self.server, 'DELETE', path, None, If_Match=first), 412)
        self.assertEqual(self.ask('GET', path), second.json())
        self.ask('PATCH', path, {'title': 'any'}, If_Match='*')
        self.assertEqual(send(self.server, 'DELETE', path, None, If_Match=self.get(API + path).headers['ETag']).status, 204)

    def test_an_epoch_places_recording_and_events(self):
        mol, path = self.mol, '/recordings/' + self.mol
        self.assertEqual((self.get(API + path).json()['clock'], self.get(API + path).json()['calendar_start']), ('relative', None))
        event = self.ask('POST', '/events', {'recording': mol, 'start': '0.05', 'end': '70ms', 'title': 'mol event'}, 201)
        self.assertEqual((event['start'], event['start_ns'], event['end_ns'], event['calendar_start']), ('0.050000000', '50000000', '70000000', None))
        self.assertProblem(send(self.server, 'POST', '/events', {'recording': mol, 'start': '2031-05-01T00:00:00Z', 'title': 'x'}), 400, 'epoch')
        window = 'start=2031-05-01T00:00:00Z&end=2031-05-01T00:00:00.06Z'
        listed = lambda what: [i['id'] for i in self.get('%s/%s?%s' % (API, what, window)).json()['items']]
        self.assertEqual((listed('recordings'), listed('events')), ([], []))
        r = self.ask('PATCH', path, {'epoch': '2031-05-01T02:00:00+02:00'})
        self.assertEqual(r['epoch'], '2031-05-01T00:00:00.000000000Z')
        self.assertTrue(r['calendar_start'].startswith('2031-05-01T00:00:00.'), r)
        self.assertEqual((listed('recordings'), listed('events')), ([mol], [event['id']]))
        self.assertEqual(self.ask('GET', '/events/' + event['id'])['calendar_end'], '2031-05-01T00:00:00.070000000Z')
        self.assertEqual(self.ask('PATCH', '/events/' + event['id'], {'start': '2031-05-01T00:00:00.02Z'})['start_ns'], '20000000')
        self.assertEqual(self.get(API + '/recordings?sort=-start&limit=1').json()['items'][0]['id'], mol)
        note, = [a for a in self.annotations('2031-05-01T00:00:00Z', '2031-05-02T00:00:00Z')]
        self.assertEqual((note['time'], note['timeEnd'], note['title'], note['tags']), (1935360000020, 1935360000070, 'mol event', []))
        send(self.server, 'DELETE', path)
        self.assertEqual((listed('recordings'), listed('events')), ([], []))
        send(self.server, 'POST', path + '/restore')
        self.assertEqual((listed('recordings'), listed('events')), ([mol], [event['id']]))
        self.assertEqual(self.ask('PATCH', path, {'epoch': None})['calendar_start'], None)
        self.assertEqual((listed('recordings'), listed('events')), ([], []))

    def annotations(self, start, end, **annotation):
        answer = self.server.request('POST', '/grafana/annotations', json.dumps({'annotation': {'name': 'marks', **annotation}, 'range': {'from': start, 'to': end}}).encode())
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def test_grafana_annotations(self):
        one, _ = self.fresh()
        self.ask('POST', '/events', {'recording': one, 'start': '+1s', 'end': '+1500ms', 'title': 'graf', 'tags': {'kind': 'bad', 'n': '1'}}, 201)
        mine = [a for a in self.annotations('2010-01-01T00:00:00Z', '2011-01-01T00:00:00Z') if a['title'] == 'graf']
        self.assertEqual([(a['time'], a['timeEnd'], a['isRegion'], sorted(a['tags']), a['annotation']['name']) for a in mine],
                         [((T0 + SECOND) // 10**6, (T0 + SECOND * 3 // 2) // 10**6, True, ['kind=bad', 'n=1'], 'marks')])
        self.assertEqual(self.annotations('2012-01-01T00:00:00Z', '2012-01-02T00:00:00Z'), [])
        self.assertEqual([a['title'] for a in self.annotations('2010-01-01T00:00:00Z', '2011-01-01T00:00:00Z', query=one)], ['graf'])

    def test_pages_of_events(self):
        one, _ = self.fresh()
        for i in range(12):
            self.ask('POST', '/events', {'recording': one, 'start': T0 + 10**15 + i // 2 * SECOND, 'end': T0 + 10**15 + 60 * SECOND, 'title': 'p%d' % i}, 201)
        middle = '%s/events?start=%dns&end=%dns&limit=3' % (API, T0 + 10**15 + 2 * SECOND + 1, T0 + 10**15 + 4 * SECOND + 1)
        seen, path = [], middle
        while path:
            answer = self.get(path)
            seen += [e['title'] for e in answer.json()['items']]
            path = answer.next_path()
            self.assertLess(len(seen), 20)
        self.assertEqual(seen, ['p%d' % i for i in range(10)])

    # ---- collections

    def test_words_of_events(self):
        """In titles and tags, in any case; a page of rare words may be empty before the last one."""
        one, _ = self.fresh()
        start = T0 + 2 * 10**15
        for i in range(30):
            self.ask('POST', '/events', {'recording': one, 'start': start + i * SECOND, 'title': 'Wheel slips %d' % i if i % 10 == 0 else 'door',
                                         'tags': {'floor': 'wet' if i < 15 else 'dry'}}, 201)

        def titles(path, q, **query):
            found, cursor = [], None
            while True:
                page = self.ask('GET', path + '?' + urlencode({'q': q, **query, **({'cursor': cursor} if cursor else {})}))
                found += [e['title'] for e in page['items']]
                cursor = page['next']
                if not cursor:
                    return found
        for path in '/events', '/recordings/%s/events' % one:
            of = {'start': '%dns' % start, 'limit': 2} if path == '/events' else {'limit': 2}
            self.assertEqual(titles(path, 'wheel', **of), ['Wheel slips 0', 'Wheel slips 10', 'Wheel slips 20'])
            self.assertEqual(titles(path, 'WET slip', **of), ['Wheel slips 0', 'Wheel slips 10'])
            self.assertEqual(titles(path, 'wheel door', **of), [])
        self.assertProblem(send(self.server, 'GET', '/events?q=' + '+'.join('abcdefghijklmnopq')), 400, 'words')

    def test_collections(self):
        one, data = self.fresh(collection='zoo')
        two, more = self.fresh(collection='zoo')
        zoo = self.ask('GET', '/collections/zoo')
        r = self.get('%s/recordings/%s' % (API, one)).json()
        self.assertEqual((zoo['recordings'], zoo['size'], zoo['messages'], zoo['start'], zoo['end'], zoo['description']),
                         (2, len(data) + len(more), 2 * r['messages'], r['start'], r['end'], ''))
        self.assertAlmostEqual(zoo['duration_s'], 2 * int(r['duration_ns']) / 1e9, 2)
        self.assertEqual(self.ask('PATCH', '/collections/zoo', {'description': 'animals'})['description'], 'animals')
        self.assertEqual(json.loads(stored(self.server.data, 'notes', 'collections.json'))['descriptions']['zoo'], 'animals')
        names, path = [], API + '/collections?limit=1'
        while path:
            answer = self.get(path)
            names += [c['name'] for c in answer.json()['items']]
            path = answer.next_path()
        self.assertEqual(names, sorted(names))
        self.assertLessEqual({'lab', 'sims', 'zoo'}, set(names))
        for number in (one, two):
            send(self.server, 'DELETE', '/recordings/' + number)
        emptied = self.ask('GET', '/collections/zoo')
        self.assertEqual((emptied['recordings'], emptied['start'], emptied['description']), (0, None, 'animals'))
        self.assertProblem(send(self.server, 'GET', '/collections/none'), 404)
        self.assertProblem(send(self.server, 'PATCH', '/collections/none', {'description': 'x'}), 404)
        self.assertProblem(send(self.server, 'PATCH', '/collections/zoo', {'colour': 'x'}), 400, 'colour')
        self.assertProblem(send(self.server, 'PATCH', '/collections/zoo', {'description': 'x' * 16385}), 413)

    # ---- what is refused

    def test_a_refused_change_changes_nothing(self):
        """Each body has something that could be written before what it is refused for."""
        one, _ = self.fresh(collection='refusals')
        self.fresh(collection='taken')
        event = self.ask('POST', '/events', {'recording': one, 'start': '+0s', 'title': 'before'}, status=201)
        note = self.ask('POST', '/recordings/%s/notes' % one, {'text': 'before'}, status=201)
        other = self.ask('GET', '/recordings/' + one)['name']
        two, _ = self.fresh(collection='refusals')
        seen = ('/collections/refusals', '/recordings/' + one, '/recordings/' + two, '/events/' + event['id'], '/recordings/%s/notes' % one, '/admin/retention')
        before = [self.get(API + path).body for path in seen]
        for method, path, body, status in (
                ('PATCH', '/collections/refusals', {'description': 'x', 'name': 'taken'}, 409),
                ('PATCH', '/collections/refusals', {'description': 'x', 'name': 'a/b'}, 400),
                ('PATCH', '/collections/refusals', {'description': 'x', 'name': 'a*'}, 400),
                ('PATCH', '/collections/refusals', {'description': 'x' * 16385, 'name': 'free'}, 413),
                ('PATCH', '/recordings/' + two, {'description': 'x', 'tags': {'a': 'b'}, 'name': other}, 409),
                ('PATCH', '/recordings/' + two, {'description': 'x', 'tags': {'a': 'b', 'c': 'x' * 100000}}, 413),
                ('PATCH', '/recordings/' + two, {'description': 'x', 'custom': {'a': 'x' * 1000000}}, 413),
                ('PATCH', '/recordings/' + two, {'description': 'x', 'collection': 'a/b'}, 400),
                ('PATCH', '/events/' + event['id'], {'title': 'x', 'tags': {'a': 1}}, 400),
                ('PATCH', '/events/' + event['id'], {'title': 'x', 'start': '+9s', 'end': '+1s'}, 400),
                ('PATCH', '/recordings/%s/notes/%s' % (one, note['id']), {'text': 'x' * 100000}, 413),
                ('POST', '/tags:batch', {'ids': [one, two], 'set': {'a': 'b', 'c': 'x' * 100000}}, 413),
                ('POST', '/tags:batch', {'ids': [one, two], 'set': {'a': 'b', '': 'x'}}, 400),
                ('PUT', '/admin/retention', {'rules': [{'collection': 'x', 'keep_days': 1}], 'quotas': [{'collection': 'x'}]}, 400)):
            self.assertProblem(send(self.server, method, path, body), status)
            self.assertEqual([self.get(API + path).body for path in seen], before, (method, path, body))


class Lasting(unittest.TestCase):
    def setUp(self):
        self.data = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, self.data, True)

    def start(self):
        server = Server(self.data)
        self.addCleanup(server.stop, None)
        return server

    def say_much(self, server, content):
        one = server.added('a.bag', content, '?tag=robot=r1')
        send(server, 'PATCH', '/recordings/' + one, {'description': 'd', 'custom': {'a': [1, 'x']}, 'tags': {'area': 'hall'}})
        send(server, 'POST', '/recordings/%s/notes' % one, {'text': 'n'})
        send(server, 'POST', '/events', {'recording': one, 'start': '+1s', 'end': '+2s', 'title': 'e', 'tags': {'k': 'v'}})
        send(server, 'PATCH', '/collections/lab', {'description': 'the lab'})
        return one

    def shown(self, server, one):
        return [server.get(API + path).body for path in ('/recordings/' + one, '/recordings/%s/notes' % one, '/events', '/tags', '/tags/robot', '/collections')]

    def test_all_of_it_survives_a_kill_and_a_scan(self):
        content = bag(lab_messages(2))
        server = self.start()
        one = self.say_much(server, content)
        before, kept = self.shown(server, one), manifest(self.data, content)[one]
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        server = self.start()
        self.assertEqual(self.shown(server, one), before)
        self.assertEqual(manifest(self.data, content)[one], kept)
        self.assertEqual((kept['tags'], kept['description'], kept['custom']), ({'area': 'hall', 'robot': 'r1'}, 'd', {'a': [1, 'x']}))
        server.stop()
        pack, = [f for f in files_below(self.data) if f.endswith('.reel')]
        os.unlink(pack)
        server = self.start()
        self.assertEqual(len(server.get('%s/recordings/%s/messages' % (API, one)).rows()), len(lab_messages(2)))  # scanned anew
        after = server.get('%s/recordings/%s' % (API, one)).json()
        self.assertEqual({k: after[k] for k in ('tags', 'description', 'custom', 'notes', 'events')},
                         {'tags': {'area': 'hall', 'robot': 'r1'}, 'description': 'd', 'custom': {'a': [1, 'x']}, 'notes': 1, 'events': 1})
        self.assertEqual({k: v for k, v in manifest(self.data, content)[one].items() if k != 'state'}, {k: v for k, v in kept.items() if k != 'state'})

    def test_a_further_part_keeps_annotations(self):
        server = self.start()
        trajectory, state = pair()[:2]
        one = server.added('run.traj', trajectory, '?tag=robot=r1')
        send(server, 'POST', '/recordings/%s/notes' % one, {'text': 'n'})
        self.assertEqual(server.put('run.state', state, '?part_of=run.traj').status, 200)
        r = server.get('%s/recordings/%s' % (API, one)).json()
        self.assertEqual((r['tags'], r['notes'], len(r['parts'])), ({'robot': 'r1'}, 1, 2))
        wait_for_manifests(self.data)
        entry, = json.loads(stored(self.data, 'manifests', r['content'].split(':')[1]))['recordings']
        self.assertEqual((entry['tags'], entry['notes'][0]['text']), ({'robot': 'r1'}, 'n'))

    def test_manifests_left_behind_are_made_good(self):
        server = self.start()
        contents = [bag(lab_messages(2, salt=i)) for i in range(20)]
        ids = [server.added('%d.bag' % i, c) for i, c in enumerate(contents)]
        self.assertEqual(send(server, 'POST', '/tags:batch', {'ids': ids, 'set': {'lot': '7'}}).status, 200)
        server.process.send_signal(signal.SIGKILL)  # while a job writes them
        server.process.wait()
        server = self.start()
        good = lambda: all(manifest(self.data, c)[i].get('tags') == {'lot': '7'} for i, c in zip(ids, contents))
        self.assertTrue(eventually(good))
        send(server, 'POST', '/tags:batch', {'ids': ids, 'set': {'lot': '8'}})
        server.stop()  # writes what is due before it ends
        for i, c in zip(ids, contents):
            self.assertEqual(manifest(self.data, c)[i]['tags'], {'lot': '8'})

    def test_a_purged_recording_leaves_the_manifest_of_its_content(self):
        server = self.start()
        content = bag(lab_messages(2))
        one, two = server.added('a.bag', content, '?tag=k=1'), server.added('b.bag', content, '?tag=k=2')
        stop = threading.Event()

        def keep_busy():
            k = 0
            while not stop.is_set() and send(server, 'PUT', '/recordings/%s/tags/n?value=%d' % (one, k)).status != 404:
                k += 1
        busy = threading.Thread(target=keep_busy)
        busy.start()
        eventually(lambda: 'n' in server.get('%s/recordings/%s' % (API, one)).json()['tags'])
        self.assertEqual(server.request('DELETE', '%s/recordings/%s?purge=true' % (API, one)).status, 204)
        busy.join()
        stop.set()
        self.assertEqual(list(manifest(self.data, content)), [two])
        self.assertEqual(manifest(self.data, content)[two]['tags'], {'k': '2'})
