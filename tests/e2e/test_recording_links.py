"""Signed links to a recording: what they open, and that they open nothing else."""
import json
import re
import unittest

from harness import API, Server, create_token, eventually, reel
from samples import bag, lab_messages
from test_access import DATA, Guarded, routes

DENIED = (401, 403, 404)


class RecordingLinks(Guarded):
    def key(self, token=None, recording=None, **more):
        answer = self.ask('POST', '%s/recordings/%s/links' % (API, recording or self.lab), token or self.tokens['read'], json.dumps(more))
        self.assertEqual(answer.status, 201, answer)
        return answer.json()['key']

    def by(self, key, path, method='GET', body=None, **headers):
        return self.server.request(method, path, body, {'Authorization': 'Link ' + key, **headers})

    def added(self, name, salt):
        answer = self.ask('PUT', '%s/recordings/by-name/lab/%s' % (API, name), self.tokens['upload'], bag(lab_messages(1, salt=salt)))
        self.assertEqual(answer.status, 201, answer)
        return answer.json()['id']

    def own(self, rest=''):
        return '%s/recordings/%s%s' % (API, self.lab, rest)

    def test_it_opens_the_recording_and_all_below_it(self):
        key = self.key()
        self.assertEqual(self.by(key, self.own()).json()['id'], self.lab)
        self.assertEqual(self.by(key, self.own('/file/a.bag')).body, DATA)
        self.assertEqual(self.by(key, self.own('/file/a.bag'), Range='bytes=10-19').body, DATA[10:20])
        for rest in ('/topics', '/messages?limit=3', '/events', '/notes', '/scan', '/metadata', '/as/a.csv?topic=/odom', '/coverage', '/topics/fields?topic=/odom'):
            self.assertEqual(self.by(key, self.own(rest)).status, 200, rest)
        # requests that a browser sends by itself
        self.assertEqual(self.get(self.own('/file/a.bag?link=' + key)).body, DATA)
        self.assertEqual(self.server.request('HEAD', self.own('/file/a.bag?link=' + key)).status, 200)
        following = self.by(key, self.own('/messages?limit=1')).headers.get('Link')
        self.assertTrue(following is None or key not in following)

    def test_it_says_what_it_is(self):
        answer = self.ask('POST', self.own('/links'), self.tokens['read'], json.dumps({'expires': '7d'})).json()
        self.assertEqual(answer['url'], '%s/recordings/%s#link=%s' % (self.server.base, self.lab, answer['key']))
        caller = self.by(answer['key'], API).json()['caller']
        self.assertEqual(caller, {'name': None, 'how': 'link', 'role': 'read', 'collections': [], 'recording': self.lab, 'expires': answer['expires']})

    def test_it_opens_no_other_recording(self):
        other, key = self.added('c.bag', 2), self.key()
        for one in (other, self.secret, '0' * 32):
            for rest in ('', '/topics', '/file/c.bag', '/messages', '/events', '/thumbnail'):
                answer, absent = (self.by(key, '%s/recordings/%s%s' % (API, x, rest)) for x in (one, 'f' * 32))
                self.assertEqual((answer.status, absent.status), (403, 403), one + rest)
                self.assertEqual(re.sub(r'"(instance|request_id)":"[^"]*"', '', answer.body.decode()), re.sub(r'"(instance|request_id)":"[^"]*"', '', absent.body.decode()))
        for name in ('name:lab/a.bag', 'name:lab%2Fa.bag', 'sha256:' + '0' * 64, self.lab.upper(), self.lab + '%2Ftopics', self.lab + '%2F..'):
            self.assertIn(self.by(key, '%s/recordings/%s' % (API, name)).status, (400, *DENIED), name)
        self.assertProblem(self.server.get('%s/recordings/%s?link=%s' % (API, other, key)), 403)

    def test_it_opens_nothing_else(self):
        """Every path of the server, with the recording wherever a path has a place for one."""
        key, tried = self.key(self.tokens['admin']), 0
        for method, path, role in routes():
            below = path.startswith((API + '/recordings/{id}', '/ws/recordings/{id}'))  # by WebSocket: test_foxglove_socket
            if role == 'none' or path == API or (below and method == 'GET') or method not in ('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'):
                continue
            target = re.sub(r'\{[a-z_]+(\.\.\.)?\}', self.lab, path)
            for suffix in ('', '?recording=' + self.lab) if method == 'GET' else ('',):
                answer = self.by(key, target + suffix, method, None if method in ('GET', 'DELETE', 'PROPFIND') else b'{}')
                self.assertEqual(answer.status, 403, (method, target + suffix, answer))
                tried += 1
        self.assertGreater(tried, 80)
        self.assertEqual(self.by(key, self.own(), 'DELETE').status, 403)
        self.assertEqual(self.ask('GET', self.own(), self.tokens['read']).json()['state'], 'ready')

    def test_it_reads_only(self):
        key = self.key(self.tokens['admin'])
        for method, path, body in (('PATCH', '', '{"description": "x"}'), ('PUT', '/tags/x', 'y'), ('POST', '/notes', '{"text": "x"}'), ('DELETE', '', None),
                                   ('POST', '/links', '{}'), ('POST', '/restore', None)):
            for answer in (self.by(key, self.own(path), method, body), self.server.request(method, self.own(path) + '?link=' + key, body)):
                self.assertProblem(answer, 403, 'reading only')

    def test_it_ends(self):
        key = self.key(expires='1s')
        self.assertEqual(self.by(key, self.own()).status, 200)
        self.assertIn('expired', eventually(lambda: self.by(key, self.own()).status == 401 and self.by(key, self.own()).json()['detail']))
        self.assertProblem(self.server.get(self.own('?link=' + key)), 401)

    def test_it_ends_with_its_token(self):
        key = self.key(create_token(self.server, 'read', 'sharer'))
        self.assertEqual(self.by(key, self.own()).status, 200)
        reel('token', 'revoke', 'sharer', '--data', self.server.data)
        self.assertProblem(self.by(key, self.own()), 401)

    def test_it_has_the_rights_of_its_token(self):
        limited = create_token(self.server, 'read', 'limited', '--collection', 'lab')
        self.assertProblem(self.ask('POST', '%s/recordings/%s/links' % (API, self.secret), limited, '{}'), 404)
        moved = self.added('d.bag', 3)
        key = self.key(limited, moved)
        path = '%s/recordings/%s' % (API, moved)
        self.assertEqual(self.by(key, path).status, 200)
        self.assertEqual(self.ask('PATCH', path, self.tokens['edit'], '{"collection": "secret"}', **{'Content-Type': 'application/merge-patch+json'}).status, 200)
        self.assertProblem(self.by(key, path), 404)

    def test_it_does_not_reach_into_the_trash(self):
        gone = self.added('e.bag', 4)
        path, key = '%s/recordings/%s' % (API, gone), self.key(recording=gone)
        self.assertEqual(self.ask('DELETE', path, self.tokens['edit']).status, 204)
        for rest in ('', '/file/e.bag', '/topics'):
            self.assertProblem(self.by(key, path + rest), 404)
        self.assertEqual(self.ask('POST', path + '/restore', self.tokens['edit']).status, 200)
        self.assertEqual(self.by(key, path).status, 200)

    def test_it_ends_with_its_key(self):
        key = self.key()
        reel('token', 'rotate', '--data', self.server.data)
        self.assertEqual(self.by(key, self.own()).status, 200)
        reel('token', 'rotate', '--forget', '--data', self.server.data)
        self.assertProblem(self.by(key, self.own()), 401)
        self.assertEqual(self.by(self.key(), self.own()).status, 200)

    def test_what_is_no_key(self):
        key = self.key()
        id, expires, version, token, mac = key.split('.')
        for wrong in ('', '.', key[:-1], key + 'A', '.'.join((self.secret, expires, version, token, mac)), '.'.join((id, '9' + expires, version, token, mac)),
                      '.'.join((id, expires, version, '0', mac)), self.tokens['admin'], 'x' * 3000):
            self.assertIn(self.by(wrong, self.own()).status, (401, 429), wrong)
            if wrong:
                self.assertIn(self.server.get(self.own('?link=' + wrong)).status, (401, 429), wrong)

    def test_the_audit_log_has_it(self):
        key = self.key(self.tokens['edit'])
        self.by(key, self.own())

        def rows():
            found = self.ask('GET', API + '/audit?limit=1000', self.tokens['admin']).json()['items']
            return {(row['how'], row['method'], row['path'], row['status']) for row in found if row['caller'] == 'edit'}
        wanted = {('bearer', 'POST', self.own('/links'), 201), ('link', 'GET', self.own(), 200)}
        self.assertTrue(eventually(lambda: wanted <= rows()), rows())
        self.assertNotIn(key, self.server.log_text())

    def test_the_audit_log_is_not_flooded(self):
        token = create_token(self.server, 'read', 'visitors')
        key = self.key(token)
        for _ in range(200):
            self.assertEqual(self.by(key, self.own()).status, 200)
        self.key(token)  # rows are in order: once this one is there, all are

        def rows(method):
            return self.ask('GET', API + '/audit?limit=1000&caller=visitors&path=/recordings/&method=' + method, self.tokens['admin']).json()['items']
        self.assertTrue(eventually(lambda: len(rows('POST')) == 2), rows('POST'))
        self.assertTrue(0 < len(rows('GET')) < 150, len(rows('GET')))

    def test_an_open_server_has_none(self):
        server = Server(None)
        self.addCleanup(server.stop)
        one = server.added('a.bag', DATA, collection='lab')
        self.assertProblem(server.request('POST', '%s/recordings/%s/links' % (API, one), b'{}'), 409, 'tokens')


if __name__ == '__main__':
    unittest.main()
