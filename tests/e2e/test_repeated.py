"""Idempotency-Key, If-Match and If-None-Match on every write of the route table: honoured, or refused with 400, as the columns of the table say."""
import hashlib
import io
import json
import os
import re
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import zipfile

from harness import API, CATALOG, REEL, Case, Server, catalog_sql, eventually, files_below, reel, size_of
from openapi_document import document
from samples import bag, lab_messages
from test_announce import pack_of

ONE = API + '/recordings/{id}'
DEFINITION = API + '/definitions/{package}/{type}'
DATASET = API + '/datasets/{dataset}'
TUS = {'Tus-Resumable': '1.0.0'}
BYTES = {**TUS, 'Content-Type': 'application/offset+octet-stream'}


def writes():
    """The rows of the table that change something, by method and path."""
    table = json.loads(subprocess.run([REEL, 'routes'], check=True, stdout=subprocess.PIPE).stdout)['routes']
    rows = {(r['method'], r['path'].replace('...}', '}')): r for r in table if r['method'] in ('POST', 'PUT', 'PATCH', 'DELETE')}
    assert all('idempotency_key' in r for r in rows.values()) and len(rows) > 50
    return rows


WRITES = writes()


def some(path):
    """An address of this template, of nothing that exists."""
    return re.sub(r'\{\w+\}', '77', path)


def query_of(method, template):
    """The parameters that it cannot do without."""
    needed = [p for p in document_of(template)[method.lower()].get('parameters', []) if p.get('in') == 'query' and p.get('required')]
    return '?' * bool(needed) + '&'.join('%s=%s' % (p['name'], p['schema'].get('enum', ['77'])[0]) for p in needed)


def digest(*texts, body=b''):
    return hashlib.sha256(b''.join(t.encode() + b'\0' for t in texts) + body).hexdigest()


def dataset(field):
    return {'value': {'search': {'q': 'none'}, 'fps': 10, 'features': {'action': field}}}


class Columns(Case):
    """Rows that are in no list here are tested, too."""
    server_args = ('--insecure-open',)

    def stored(self, method, path, key, request, status=207):
        """An answer in the catalog, as if this request had been answered before."""
        blob = r"'\x%s'" if CATALOG else "X'%s'"
        name = digest(self.owner, method, path, key)
        catalog_sql(self.server.data, "INSERT INTO responses (key, owner, request, status, headers, body, expires_ns) VALUES (%s, '%s', %s, %d, 'text/x-stored\nX-Total-Count: 5\n', 'from the catalog', "
                    "9000000000000000000)" % (blob % name, self.owner, blob % request, status))

    @classmethod
    def fill(cls):
        answer = cls.server.request('PUT', API + '/searches/first', '{"value": {}}', {'Idempotency-Key': 'first'})
        assert answer.status == 201, answer
        (cls.owner,), = catalog_sql(cls.server.data, 'SELECT owner FROM responses')

    def test_idempotency_key(self):
        seen = set()
        for (method, template), row in WRITES.items():
            with self.subTest(method=method, path=template, column=row['idempotency_key']):
                path, body = some(template), b'{"some": "body"}'
                column = row['idempotency_key']
                seen.add(column)
                target = path + query_of(method, template)
                if column == 'stored':
                    self.stored(method, path, 'a', digest(target, '', body=body))
                answer = self.server.request(method, target, body, {'Idempotency-Key': 'a'})
                if column == 'refused':
                    self.assertProblem(answer, 400, 'Idempotency-Key')
                    self.assertEqual(answer.json()['type'], '/problems/unsupported-header')
                    continue
                self.assertNotIn('unsupported-header', answer.body.decode())
                self.assertEqual(answer.headers['Idempotent-Replayed'], 'true' if column == 'stored' else None)
                if column == 'stored':
                    self.assertEqual((answer.status, answer.headers['Content-Type'], answer.headers['X-Total-Count'], answer.body), (207, 'text/x-stored', '5', b'from the catalog'))
                    for other in (target, body + b' '), (target, b''), (path + '?more', body):
                        answer = self.server.request(method, *other, {'Idempotency-Key': 'a'})
                        if other[0] == target or answer.status != 400:  # 400: it takes no such parameter
                            self.assertProblem(answer, 422)
                            self.assertEqual(answer.json()['type'], '/problems/key-reused')
                if column in ('stored', 'resource'):
                    for key in ('', 'k' * 256):
                        self.assertProblem(self.server.request(method, target, body, {'Idempotency-Key': key}), 400, 'Idempotency-Key')
        self.assertEqual(seen, {'stored', 'resource', 'natural', 'refused'})

    def test_an_answer_that_was_too_long_to_store(self):
        path = API + '/searches/long'
        self.stored('PUT', path, 'long', digest(path, '', body=b'{"value": {}}'), 1)
        self.assertProblem(self.server.request('PUT', path, b'{"value": {}}', {'Idempotency-Key': 'long'}), 409, 'carried out')
        self.get(path, 404)  # not again

    def test_if_match_is_refused(self):
        for (method, template), row in WRITES.items():
            with self.subTest(method=method, path=template):
                answer = self.server.request(method, some(template) + query_of(method, template), b'{}', {'If-Match': '"old"'})
                if row['if_match']:
                    self.assertNotIn('unsupported-header', answer.body.decode())
                else:
                    self.assertProblem(answer, 400, 'If-Match')
                    self.assertEqual(answer.json()['type'], '/problems/unsupported-header')

    def test_if_none_match_is_refused(self):
        for (method, template), row in WRITES.items():
            for value in ['"old"', 'W/"old"', '*, "old"'] + ['*'] * (not row['if_none_match']):
                with self.subTest(method=method, path=template, value=value):
                    answer = self.server.request(method, some(template) + query_of(method, template), b'{}', {'If-None-Match': value})
                    self.assertProblem(answer, 400, 'If-None-Match')
                    self.assertEqual(answer.json()['type'], '/problems/unsupported-header')

    def test_the_document_lists_the_headers(self):
        for (method, path), row in WRITES.items():
            operation = document_of(path)[method.lower()]
            headers = {p['$ref'].rpartition('/')[2] for p in operation['parameters'] if '$ref' in p}
            keeps = row['idempotency_key'] in ('stored', 'resource')
            self.assertEqual(('idempotencyKey' in headers, 'ifMatch' in headers, 'ifAbsent' in headers), (keeps, row['if_match'], row['if_none_match']), (method, path))
            self.assertLessEqual(set(['409', '422'] * keeps + ['412'] * (row['if_match'] or row['if_none_match'])), set(operation['responses']), (method, path))



class Every(Case):
    """Each operation that stores its answer is carried out, and repeated: what is stored is what was answered, and nothing happens twice."""
    server_args = ('--insecure-open',)

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        for name in ('files', 'backups'):
            os.mkdir(os.path.join(cls.folder.name, name))
        with open(os.path.join(cls.folder.name, 'files/bad.bag'), 'wb') as file:
            file.write(b'junk\n' * 100)
        cls.server_args = ('--insecure-open', '--import-root', cls.folder.name + '/files', '--backup-dir', cls.folder.name + '/backups')
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.folder.cleanup()

    def send(self, method, path, body=None, **headers):
        body = json.dumps(body) if isinstance(body, dict) else body
        return self.server.request(method, path, body, {k.replace('_', '-'): v for k, v in headers.items()})

    def twice(self, method, template, body=None, status=200, query='', headers={}, **names):
        """The first answer. The operation must be one that stores it."""
        self.assertEqual(WRITES[method, template]['idempotency_key'], 'stored', (method, template))
        self.seen.add((method, template))
        path = template.format(**names) + query
        headers = {**headers, 'Idempotency_Key': 'n%d' % len(self.seen)}
        with self.subTest(method=method, path=template):
            first = self.send(method, path, body, **headers)
            self.assertEqual((first.status, first.headers['Idempotent-Replayed']), (status, None), first)
            again = self.send(method, path, body, **headers)
            self.assertEqual((again.status, again.headers['Idempotent-Replayed'], again.body), (status, 'true', first.body), again)
            for name in ('Location', 'Content-Location', 'ETag', 'Content-Type', 'Upload-Offset'):
                self.assertEqual(again.headers[name], first.headers[name], name)
            self.assertProblem(self.send(method, path, b'another body', **headers), 422, 'Idempotency-Key')
            return first
        self.fail('%s %s' % (method, path))  # what follows needs its answer

    def test_every_operation(self):
        self.seen, data = set(), bag(lab_messages(3, salt=900))
        twice, send = self.twice, self.send
        one = twice('PUT', API + '/recordings/by-name/{collection}/{name}', data, 201, collection='lab', name='one.bag').json()['id']
        twice('POST', API + '/recordings', bag(lab_messages(3, salt=901)), 201, '?name=two.bag')
        session = send('POST', API + '/uploads', b'', Upload_Length='200', Upload_Metadata='filename eC5iYWc=', **{'Tus-Resumable': '1.0.0'}).headers['Location'].rpartition('/')[2]
        tus = {k.replace('-', '_'): v for k, v in BYTES.items()}
        twice('PATCH', API + '/uploads/{id}', data[:100], 204, headers={**tus, 'Upload_Offset': '0'}, id=session)
        twice('POST', API + '/uploads/{id}', data[100:150], 204, headers={**tus, 'Upload_Offset': '100', 'X_HTTP_Method_Override': 'PATCH'}, id=session)
        twice('DELETE', API + '/uploads/{id}', None, 204, headers={'Tus_Resumable': '1.0.0'}, id=session)
        live = send('POST', API + '/recordings?live=true&name=live').json()['id']
        self.assertEqual(send('POST', API + '/recordings/%s/messages' % live, '{"topic": "/a", "data": 1}').status, 200)
        twice('POST', ONE + '/finish', id=live)

        twice('PUT', ONE + '/tags/{key}', '{"value": "r2"}', 201, id=one, key='robot')
        twice('DELETE', ONE + '/tags/{key}', None, 204, id=one, key='robot')
        note = twice('POST', ONE + '/notes', {'text': 'seen'}, 201, id=one).json()['id']
        self.assertEqual(len(self.get(API + '/recordings/%s/notes' % one).json()['items']), 1)
        twice('PATCH', ONE + '/notes/{note}', {'text': 'seen again'}, id=one, note=note)
        twice('DELETE', ONE + '/notes/{note}', None, 204, id=one, note=note)
        twice('POST', API + '/tags:batch', {'ids': [one], 'set': {'lot': '7'}})
        event = twice('POST', API + '/events', {'recording': one, 'start': '+0s', 'title': 'fall'}, 201).json()['id']
        self.assertEqual(len(self.get(API + '/events?recording=' + one).json()['items']), 1)
        twice('PATCH', API + '/events/{event}', {'title': 'fell'}, event=event)
        twice('DELETE', API + '/events/{event}', None, 204, event=event)
        twice('PATCH', API + '/collections/{name}', {'description': 'the hall'}, name='lab')
        twice('PATCH', ONE, {'description': 'door stuck'}, id=one)
        twice('POST', API + '/recordings:batch', {'ids': [one], 'action': 'change', 'tags': {'day': '1'}}, 202)
        twice('POST', API + '/search/values', None, 200, '?where=/none.x>1&save_as=event&title=far')
        for path, names in ((API + '/searches/{search}', {'search': 'x'}), (API + '/collections/{name}/layouts/{layout}', {'name': 'lab', 'layout': 'x'})):
            twice('PUT', path, {'value': {}}, 201, **names)
            twice('DELETE', path, None, 204, **names)
        twice('PUT', DATASET, dataset('/odom.x'), 201, dataset='x')
        twice('DELETE', DATASET, None, 204, dataset='x')
        archive = io.BytesIO()
        zipfile.ZipFile(archive, 'w').close()
        twice('POST', API + '/definitions', archive.getvalue())
        twice('PUT', DEFINITION, 'int8 a\n', 201, package='p', type='X')
        twice('DELETE', DEFINITION, None, 204, package='p', type='X')
        twice('POST', API + '/admin/rescan/{id}', None, 202, id=one)
        eventually(lambda: self.get(API + '/recordings/' + one).json()['state'] == 'ready')
        twice('DELETE', ONE, None, 204, id=one)
        twice('POST', ONE + '/restore', id=one)
        announced = send('POST', API + '/announcements?name=a.bag&sha256=%s&size=%d&robot=r&agent=%s' % ('0' * 64, len(data), 'a' * 32), pack_of(data)).json()['id']
        fetch = send('POST', API + '/recordings/%s/fetch' % announced).json()['id']
        twice('POST', API + '/fetches/{id}', None, 204, '?agent=%s&problem=no' % ('a' * 32), id=fetch)

        hook = send('POST', API + '/webhooks', {'url': 'https://ip6-localhost/hook', 'events': ['scan.failed']}).json()['id']
        twice('POST', API + '/webhooks/{id}/test', id=hook)
        twice('DELETE', API + '/webhooks/{id}', None, 204, id=hook)
        twice('PUT', API + '/admin/retention', {})
        twice('POST', API + '/admin/retention/run', None, 200, '?dry_run=true')
        twice('POST', API + '/admin/backup', None, 202)
        twice('POST', API + '/admin/scrub', None, 202)
        job = twice('POST', API + '/imports', {'path': 'bad.bag'}, 202).json()['job']['id']
        eventually(lambda: self.get(API + '/jobs/' + job).json()['state'] not in ('queued', 'running'))
        failure = self.get(API + '/failures').json()['items'][0]['id']
        twice('POST', API + '/failures/{id}/retry', None, 202, id=failure)
        eventually(lambda: not [j for j in self.get(API + '/jobs?state=queued&state=running').json()['items'] if j['kind'] == 'import'])
        twice('DELETE', API + '/failures/{id}', None, 204, id=self.get(API + '/failures').json()['items'][0]['id'])
        token = send('POST', API + '/tokens', {'name': 'robot1', 'role': 'admin'}).json()
        twice('DELETE', API + '/tokens/{id}', None, 204, id=token['id'])

        rest = {key for key, row in WRITES.items() if row['idempotency_key'] == 'stored'} - self.seen
        self.assertEqual(rest, {('DELETE', API + '/jobs/{id}')})  # of a job that runs long enough; Columns has it

    def test_if_match(self):
        """Stale: 412, and nothing has happened; current: carried out."""
        seen = set()
        one = self.server.added('match.bag', bag(lab_messages(3, salt=910)))

        def check(method, template, tagged, body=None, **names):
            seen.add((method, template))
            path = template.format(**names)
            etag = self.server.get(tagged.format(**names)).headers['ETag']
            with self.subTest(method=method, path=template):
                self.assertTrue(etag)
                self.assertProblem(self.send(method, path, body, If_Match='"old"'), 412)
                self.assertEqual(self.server.get(tagged.format(**names)).headers['ETag'], etag)
                self.assertLess(self.send(method, path, body, If_Match=etag).status, 300)

        check('PUT', ONE + '/tags/{key}', ONE, '{"value": "r2"}', id=one, key='robot')
        check('DELETE', ONE + '/tags/{key}', ONE, id=one, key='robot')
        check('PATCH', ONE, ONE, {'description': 'x'}, id=one)
        event = self.send('POST', API + '/events', {'recording': one, 'start': '+0s', 'title': 'fall'}).json()['id']
        check('PATCH', API + '/events/{event}', API + '/events/{event}', {'title': 'fell'}, event=event)
        check('DELETE', API + '/events/{event}', API + '/events/{event}', event=event)
        for path, names in ((API + '/searches/{search}', {'search': 'm'}), (API + '/collections/{name}/layouts/{layout}', {'name': 'lab', 'layout': 'm'})):
            self.assertEqual(self.send('PUT', path.format(**names), {'value': {}}).status, 201)
            check('PUT', path, path, {'value': {'a': 1}}, **names)
            check('DELETE', path, path, **names)
        self.assertEqual(self.send('PUT', API + '/datasets/m', dataset('/odom.x')).status, 201)
        check('PUT', DATASET, DATASET, dataset('/odom.y'), dataset='m')
        check('DELETE', DATASET, DATASET, dataset='m')
        self.assertEqual(self.send('PUT', API + '/definitions/p/M', 'int8 a\n').status, 201)
        check('PUT', DEFINITION, DEFINITION, 'int8 b\n', package='p', type='M')
        check('DELETE', DEFINITION, DEFINITION, package='p', type='M')
        check('DELETE', ONE, ONE, id=one)
        self.assertEqual(seen, {key for key, row in WRITES.items() if row['if_match']})

    def test_if_none_match(self):
        """The first creates it; the second: 412, and nothing has happened."""
        seen = set()
        one = self.server.added('absent.bag', bag(lab_messages(3, salt=911)))
        data = bag(lab_messages(3, salt=912))

        def check(template, body, other, **names):
            seen.add(('PUT', template))
            path = template.format(**names)
            with self.subTest(path=path):
                self.assertEqual(self.send('PUT', path, body, If_None_Match='*').status, 201)
                for again in body, other:
                    self.assertProblem(self.send('PUT', path, again, If_None_Match='*'), 412, 'already')

        check(ONE + '/tags/{key}', '{"value": "r2"}', '{"value": "r3"}', id=one, key='absent')
        self.assertEqual(self.get(API + '/recordings/%s/tags/absent' % one).json()['value'], 'r2')
        check(API + '/searches/{search}', {'value': {'a': 1}}, {'value': {'a': 2}}, search='absent')
        check(API + '/collections/{name}/layouts/{layout}', {'value': {'a': 1}}, {'value': {'a': 2}}, name='lab', layout='absent')
        check(DEFINITION, 'int8 a\n', 'int8 b\n', package='p', type='Absent')
        check(DATASET, dataset('/odom.x'), dataset('/odom.y'), dataset='absent')
        named = API + '/recordings/by-name/{collection}/{name}'
        check(named, data, bag(lab_messages(3, salt=913)), collection='lab', name='new.bag')
        self.assertEqual(seen, {key for key, row in WRITES.items() if row['if_none_match']})

        named = named.format(collection='lab', name='new.bag')
        self.assertEqual(self.get(API + '/recordings/name:lab%2Fnew.bag').json()['revision'], 1)
        for query in '?replace=true', '?part_of=absent.bag':
            self.assertProblem(self.send('PUT', named + query, data, If_None_Match='*'), 400, 'If-None-Match')
        self.assertProblem(self.send('PUT', named + '?live=true', If_None_Match='*'), 412, 'already')
        self.assertEqual(self.send('PUT', named, data).status, 200)

    def test_if_none_match_of_two_at_once(self):
        """Both are sent before the first has ended: one is answered 201, the other 412, though their bytes are the same."""
        data, answers = bag(lab_messages(3, salt=914)), []
        path = API + '/recordings/by-name/lab/race.bag'
        head = 'PUT %s HTTP/1.1\r\nHost: 127.0.0.1\r\nIf-None-Match: *\r\nConnection: close\r\nContent-Length: %d\r\n\r\n' % (path, len(data))
        incoming = self.server.data + '/incoming'
        before = set(files_below(incoming))
        both = [socket.create_connection(('127.0.0.1', self.server.port), timeout=60) for _ in range(2)]
        for s in both:
            s.sendall(head.encode() + data[:-10])
        self.assertTrue(eventually(lambda: len(set(files_below(incoming)) - before) == 2))  # both were admitted
        for s in both:
            s.sendall(data[-10:])
            answers.append(s.makefile('rb').readline())
            s.close()
        self.assertEqual([a.split()[1] for a in answers], [b'201', b'412'])

    def test_a_failed_request_may_be_repeated(self):
        one, key = self.server.added('fails.bag', bag(lab_messages(3, salt=920))), {'Idempotency_Key': 'fails'}
        self.assertProblem(self.send('POST', API + '/recordings/%s/notes' % one, {'text': ''}, **key), 400)
        self.assertEqual(self.send('POST', API + '/recordings/%s/notes' % one, {'text': 'better'}, **key).status, 201)

    def test_a_form_has_another_boundary_each_time(self):
        def form(boundary, data):
            body = b'--%s\r\nContent-Disposition: form-data; name="file"; filename="form.bag"\r\n\r\n%s\r\n--%s--\r\n' % (boundary, data, boundary)
            return self.send('POST', API + '/recordings', body, Content_Type='multipart/form-data; boundary=' + boundary.decode(), Idempotency_Key='form')
        data = bag(lab_messages(3, salt=921))
        first, again = form(b'one', data), form(b'two', data)
        self.assertEqual((first.status, again.status, again.body, again.headers['Idempotent-Replayed']), (201, 201, first.body, 'true'))
        self.assertProblem(form(b'three', data + b'x'), 422)


def document_of(path, cache={}):
    if not cache:
        cache.update(document()['paths'])
    return cache[path]


class Principals(unittest.TestCase):
    """A key belongs to who uses it, and to what it is used on."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.data = folder.name
        Server(self.data).stop()  # makes the catalog
        reel('token', 'create', '--data', self.data, '--role', 'admin', '--name', 'admin')
        self.tokens = [reel('token', 'create', '--data', self.data, '--role', 'edit', '--name', 'robot%d' % i).stdout.decode().split()[0] for i in range(2)]
        self.server = Server(self.data)
        self.addCleanup(lambda: self.server.stop())

    def send(self, who, method, path, body=None, **headers):
        headers = {'Authorization': 'Bearer ' + self.tokens[who], **{k.replace('_', '-'): v for k, v in headers.items()}}
        return self.server.request(method, API + path, body, headers)

    def test_two_robots_count_from_one(self):
        runs = [self.send(0, 'POST', '/recordings?live=true&name=run%d' % i).json()['id'] for i in range(2)]

        def append(who, run, x, key='1'):
            return self.send(who, 'POST', '/recordings/%s/messages' % runs[run], json.dumps({'topic': '/a', 'data': {'x': x}}), Idempotency_Key=key)
        for who, run, x, repeated in (0, 0, 1, None), (1, 0, 2, None), (0, 1, 3, None), (0, 0, 1, 'true'):
            answer = append(who, run, x)
            self.assertEqual((answer.status, answer.json()['appended'], answer.headers['Idempotent-Replayed']), (200, 1, repeated))
        answer = append(0, 0, 4)  # as the second robot with the same token: refused, not lost
        self.assertEqual((answer.status, answer.json()['type']), (422, '/problems/key-reused'))
        self.server.process.kill()
        self.server.process.wait()
        self.server = Server(self.data)
        eventually(lambda: append(0, 0, 1).status == 200)
        self.assertEqual(append(0, 0, 1).headers['Idempotent-Replayed'], 'true')
        self.assertEqual(append(0, 0, 4).status, 422)
        found = [sorted(r['data']['x'] for r in self.send(0, 'GET', '/recordings/%s/messages' % run).rows() if 'topic' in r) for run in runs]
        self.assertEqual(found, [[1, 2], [3]])

    def test_the_same_key_of_others_and_elsewhere(self):
        one = self.send(0, 'PUT', '/recordings/by-name/lab/a.bag', bag(lab_messages(2, salt=930))).json()['id']
        other = self.send(0, 'PUT', '/recordings/by-name/lab/b.bag', bag(lab_messages(2, salt=931))).json()['id']
        for who, run in (0, one), (1, one), (0, other):
            answer = self.send(who, 'POST', '/recordings/%s/notes' % run, '{"text": "seen by %d"}' % who, Idempotency_Key='1')
            self.assertEqual((answer.status, answer.headers['Idempotent-Replayed']), (201, None))
        self.server.stop()
        self.server = Server(self.data)  # keys survive a restart
        answer = self.send(1, 'POST', '/recordings/%s/notes' % one, '{"text": "seen by 1"}', Idempotency_Key='1')
        self.assertEqual((answer.status, answer.headers['Idempotent-Replayed']), (201, 'true'))
        self.assertEqual(len(self.send(0, 'GET', '/recordings/%s/notes' % one).json()['items']), 2)

    def test_keys_of_one_are_bounded(self):
        (blob, hexes) = (r"decode(md5(i::text) || md5(i::text), 'hex')", 'generate_series(1, 10000) AS i') if CATALOG else ('randomblob(32)', 'n')
        head = '' if CATALOG else 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) '
        soon = time.time_ns() + 3600 * 10**9  # they expire in an hour, a new one in 24
        rows = "SELECT %s, 'token:2', %s, 200, '', '', %d + i FROM %s" % (blob, blob, soon, hexes)
        catalog_sql(self.data, 'INSERT INTO responses (key, owner, request, status, headers, body, expires_ns) ' + head + rows)
        self.assertEqual(self.send(0, 'PUT', '/searches/x', '{"value": {}}', Idempotency_Key='new').status, 201)
        self.assertEqual(catalog_sql(self.data, "SELECT count(*), min(expires_ns) - %d FROM responses WHERE owner = 'token:2'" % soon), [('10000', '2')])  # without the oldest
        self.assertEqual(self.send(0, 'PUT', '/searches/x', '{"value": {}}', Idempotency_Key='new').headers['Idempotent-Replayed'], 'true')


class AtTheSameTime(Case):
    WRITTEN = 1 << 20  # bytes of an upload that are buffered

    def half(self, name, data):
        """An upload of which one half has arrived; the connection, and the rest."""
        s = socket.create_connection(('127.0.0.1', self.server.port), timeout=60)
        head = 'PUT %s/recordings/by-name/lab/%s HTTP/1.1\r\nHost: 127.0.0.1\r\nIdempotency-Key: slow\r\nConnection: close\r\nContent-Length: %d\r\n\r\n' % (API, name, len(data))
        s.sendall(head.encode() + data[:-10])
        self.addCleanup(s.close)
        incoming = self.server.data + '/incoming'  # what else is there is small
        self.assertTrue(eventually(lambda: any(size_of(f) >= self.WRITTEN for f in files_below(incoming))))  # it has its key
        return s

    def test_the_second_waits(self):
        data, answers = bag(lab_messages(3, blob=100_000, salt=940)), []
        first = self.half('waits.bag', data)
        second = threading.Thread(target=lambda: answers.append(self.server.put('waits.bag', data, Idempotency_Key='slow')))
        second.start()
        eventually(lambda: self.running() == 2)
        first.sendall(data[-10:])
        self.assertIn(b'201 Created', first.makefile('rb').read())
        second.join()
        self.assertEqual((answers[0].status, answers[0].headers['Idempotent-Replayed']), (201, 'true'))

    def test_the_second_does_not_wait_for_ever(self):
        data = bag(lab_messages(3, blob=100_000, salt=941))
        first = self.half('slow.bag', data)
        answer = self.server.put('slow.bag', data, Idempotency_Key='slow')
        self.assertEqual((answer.status, answer.json()['type'], answer.headers['Retry-After']), (409, '/problems/key-in-use', '5'))
        first.close()  # the client gives up: its key is free
        eventually(lambda: self.server.put('slow.bag', data, Idempotency_Key='slow').status == 201)

    def running(self):
        """Connections but the one that asks."""
        return int(re.search(r'^reel_http_connections (\d+)', self.get('/metrics').body.decode(), re.M).group(1)) - 1


if __name__ == '__main__':
    unittest.main()
