"""The doors: who is let in, by what, to what, and what is written down of it."""
import base64
import contextlib
import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import harness
from harness import API, Case, Server, create_token, curl, eventually, files_below, reel, stored_below
from samples import bag, lab_messages

ROLES = ('none', 'read', 'upload', 'edit', 'admin')
DATA = bag(lab_messages(1))


def bearer(token):
    return {'Authorization': 'Bearer ' + token}


def logged(server, pattern):
    """A line that the log has, sooner or later: it is written after the answer."""
    return eventually(lambda: re.search(pattern, server.log_text()))


def routes():
    """(method, path, role) of the route table."""
    return [(r['method'], r['path'], r['role']) for r in json.loads(reel('routes').stdout)['routes']]


class Guarded(Case):
    """A server that has tokens, with a recording in each of two collections."""

    @classmethod
    def fill(cls):
        cls.lab = cls.server.added('a.bag', DATA, collection='lab')
        cls.secret = cls.server.added('b.bag', bag(lab_messages(1, salt=1)), collection='secret')
        cls.tokens = {role: create_token(cls.server, role, role) for role in ROLES[1:]}

    def ask(self, method, path, token=None, body=None, **headers):
        return self.server.request(method, path, body, {**(bearer(token) if token else {}), **headers})

    def link(self, path, token=None, **more):
        answer = self.ask('POST', API + '/links', token or self.tokens['read'], json.dumps({'path': path, **more}))
        self.assertEqual(answer.status, 201, answer)
        return answer.json()['url']


class Roles(Guarded):
    def test_every_route_asks_for_its_role(self):
        table = routes()
        self.assertGreater(len(table), 60)
        for method, template, needed in table:
            path = re.sub(r'\{[^}]*\}', 'x', template)
            for i, role in enumerate(ROLES):
                with self.subTest('%s %s as %s' % (method, path, role)):
                    connection = http.client.HTTPConnection('127.0.0.1', self.server.port, timeout=harness.PATIENCE)
                    connection.request(method, path, headers=bearer(self.tokens[role]) if i else {})
                    answer = connection.getresponse()  # not its body: some never end
                    connection.close()
                    if i >= ROLES.index(needed):
                        self.assertNotIn(answer.status, (401, 403))
                    else:
                        self.assertEqual(answer.status, 403 if i else 401)
                        self.assertEqual(answer.headers['Content-Type'], 'application/problem+json')
                        if not i:
                            self.assertEqual([h.split()[0] for h in answer.headers.get_all('WWW-Authenticate')], ['Bearer', 'Basic'])

    def test_purging_needs_admin(self):
        path = '%s/recordings/%s' % (API, self.server.request('PUT', API + '/recordings/by-name/lab/gone.bag', bag(lab_messages(1, salt=2)),
                                                              bearer(self.tokens['upload'])).json()['id'])
        self.assertProblem(self.ask('DELETE', path + '?purge=true', self.tokens['edit']), 403)
        self.assertEqual(self.ask('GET', path, self.tokens['read']).status, 200)
        self.assertEqual(self.ask('DELETE', path, self.tokens['edit']).status, 204)
        self.assertEqual(self.ask('DELETE', path + '?purge=true', self.tokens['admin']).status, 204)

    def test_strangers_learn_nothing(self):
        for path in (API + '/recordings', API + '/recordings/' + self.lab, API + '/recordings/x', API + '/recordings?nonsense=1', '/metrics'):
            self.assertProblem(self.ask('GET', path), 401)
        document = self.get('/').json()
        self.assertEqual(sorted(document), ['api', 'service'])
        self.assertIn('version', self.ask('GET', API, self.tokens['read']).json())
        for path in ('/healthz', '/readyz'):
            self.assertNotIn('version', self.get(path).body.decode())

    def test_a_refused_upload_is_never_sent(self):
        """The answer comes before the body, and nothing of it is kept."""
        head = b'PUT %s/recordings/by-name/lab/x.bag HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n\r\n'
        answer = self.server.raw(head % (API.encode(), self.server.port))
        self.assertTrue(answer.startswith(b'HTTP/1.1 401'), answer[:200])
        self.assertNotIn(b'100 Continue', answer)
        self.assertEqual([f for f in stored_below(self.server.data) if '/incoming/' in f], [])


class Ways(Guarded):
    """The same token in every form."""

    def test_curl_with_any_user_name(self):
        url = self.server.base + API + '/recordings'
        for user in ('any', '', 'robot1'):
            code, out = curl('-u', '%s:%s' % (user, self.tokens['read']), url)
            self.assertGreaterEqual(len(json.loads(out)['items']), 2)
        code, out = curl('-o', '/dev/null', '-w', '%{http_code}', '-u', 'any:' + self.tokens['read'][:-1] + ('E' if self.tokens['read'][-1] == 'A' else 'A'), url)
        self.assertEqual(out, b'401')

    def test_curl_uploads_with_a_token(self):
        with tempfile.NamedTemporaryFile(suffix='.bag') as f:
            f.write(bag(lab_messages(1, salt=5)))
            f.flush()
            code, out = curl('-u', 'any:' + self.tokens['upload'], '-T', f.name, self.server.base + API + '/recordings/by-name/lab/')
            self.assertEqual(json.loads(out)['collection'], 'lab')

    def test_a_link_answers_ranges(self):
        url = self.link('%s/recordings/%s/file/a.bag' % (API, self.lab))
        whole = self.get(url)
        self.assertEqual(whole.body, DATA)
        part = self.get(url, status=206, Range='bytes=10-19')
        self.assertEqual(part.body, DATA[10:20])
        self.assertEqual(self.get(url, status=206, Range='bytes=-7').body, DATA[-7:])
        self.assertEqual(self.server.request('HEAD', url).status, 200)
        self.assertEqual(self.get(url, status=304, If_None_Match=whole.headers['ETag']).body, b'')

    def test_a_link_is_for_one_path_with_its_parameters(self):
        url = self.link('%s/recordings/%s/as/a.csv?topic=/odom&start=%%2B1s' % (API, self.lab))
        self.assertEqual(self.get(url).headers.get_content_type(), 'text/csv')
        for other in (url.replace('odom', 'scan'), url + '&topic=/scan', url.replace(self.lab, self.secret), url.replace('&start=%2B1s', ''),
                      url.replace('exp=', 'exp=9'), url[:-1] + ('A' if url[-1] != 'A' else 'B')):
            self.assertProblem(self.server.get(other), 401)
        self.assertProblem(self.server.request('DELETE', self.link('%s/recordings/%s' % (API, self.lab), self.tokens['admin'])), 401)

    def test_a_link_reads_only(self):
        url = self.link(API + '/tokens', self.tokens['admin'])
        self.assertProblem(self.server.get(url), 403)

    def test_a_link_ends(self):
        url = self.link('%s/recordings/%s' % (API, self.lab), expires='1s')
        self.assertEqual(self.server.get(url).status, 200)
        self.assertEqual(eventually(lambda: self.server.get(url).status == 401 and self.server.get(url).json()['detail']).split()[-1], 'expired.')

    def test_a_link_ends_with_its_token(self):
        token = create_token(self.server, 'read', 'leaver')
        url = self.link('%s/recordings/%s' % (API, self.lab), token)
        self.assertEqual(self.server.get(url).status, 200)
        reel('token', 'revoke', 'leaver', '--data', self.server.data)
        self.assertProblem(self.server.get(url), 401)
        self.assertProblem(self.ask('GET', API + '/recordings', token), 401)

    def test_links_end_with_their_key(self):
        url = self.link(API + '/recordings')
        reel('token', 'rotate', '--data', self.server.data)
        self.assertEqual(self.server.get(url).status, 200)
        reel('token', 'rotate', '--forget', '--data', self.server.data)
        self.assertProblem(self.server.get(url), 401)
        self.assertEqual(self.server.get(self.link(API + '/recordings')).status, 200)
        self.assertEqual(os.stat(self.server.data + '/link-keys').st_mode & 0o777, 0o600)

    def test_links_that_cannot_be(self):
        for body in ({}, {'path': 5}, {'path': 'x'}, {'path': '/a?sig=1'}, {'path': '/a', 'expires': '2 moons'}, {'path': '/a', 'expires': '9999d'}, {'path': '/a', 'x': 1}):
            self.assertProblem(self.ask('POST', API + '/links', self.tokens['read'], json.dumps(body)), 400)


class Logins(Guarded):
    """A browser keeps a cookie instead of the token."""
    PAGE = {'Sec-Fetch-Site': 'same-origin'}

    def log_in(self, token, **headers):
        answer = self.ask('POST', API + '/login', token, **headers)
        self.assertEqual(answer.status, 204, answer)
        return answer.headers['Set-Cookie']

    def cookie(self, token):
        return {'Cookie': self.log_in(token).split(';')[0]}

    def status(self, cookie, method='GET', path=API + '/recordings', body=None, **headers):
        return self.ask(method, path, None, body, **cookie, **headers).status

    def test_the_cookie_stands_for_the_token(self):
        text = self.log_in(self.tokens['edit'])
        self.assertRegex(text, r'^reel_login_%d=reel_[\w-]{43}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict$' % self.server.port)
        self.assertNotIn(self.tokens['edit'], text)
        cookie, tags = {'Cookie': 'a=b; ' + text.split(';')[0]}, '%s/recordings/%s/tags/x' % (API, self.lab)
        self.assertEqual((self.status(cookie), self.status(cookie, 'PUT', tags, 'y', **self.PAGE), self.status(cookie, path=API + '/tokens')), (200, 201, 403))

    def test_over_tls_it_stays_there(self):
        self.assertIn('; Secure', self.log_in(self.tokens['read'], **{'X-Forwarded-Proto': 'https'}))

    def test_log_out_ends_it(self):
        one, other = self.cookie(self.tokens['read']), self.cookie(self.tokens['read'])
        answer = self.ask('DELETE', API + '/login', None, **one, **self.PAGE)
        self.assertEqual((answer.status, answer.headers['Set-Cookie'].split(';')[0][-1], 'Max-Age=0' in answer.headers['Set-Cookie']), (204, '=', True))
        self.assertEqual((self.status(one), self.status(other)), (401, 200))
        self.assertEqual(self.ask('DELETE', API + '/login', None, **self.PAGE).status, 204)

    def test_revocation_ends_it(self):
        cookie = self.cookie(create_token(self.server, 'read', 'short-lived'))
        self.assertEqual(self.status(cookie), 200)
        self.assertEqual(self.ask('DELETE', API + '/tokens/short-lived', self.tokens['admin']).status, 204)
        self.assertEqual(self.status(cookie), 401)

    def test_other_sites_cannot_use_it(self):
        cookie, path = self.cookie(self.tokens['edit']), '%s/recordings/%s/tags/z' % (API, self.lab)
        own = 'http://127.0.0.1:%d' % self.server.port
        for headers, status in (({}, 403), ({'Origin': 'https://evil.example'}, 403), ({'Sec-Fetch-Site': 'cross-site'}, 403), ({'Origin': 'null'}, 403), ({'Origin': own}, 201)):
            self.assertEqual(self.status(cookie, 'PUT', path, 'y', **headers), status, headers)

    def test_one_token_has_a_hundred(self):
        token = create_token(self.server, 'read', 'busy')
        first = self.cookie(token)
        for _ in range(100):
            last = self.cookie(token)
        self.assertEqual((self.status(first), self.status(last)), (401, 200))

    def test_the_first_token_logs_in_at_once(self):
        server = Server(None)
        self.addCleanup(server.stop)
        token = server.request('POST', API + '/tokens', '{"name":"first","role":"admin"}').json()['token']
        cookie = server.request('POST', API + '/login', None, bearer(token)).headers['Set-Cookie'].split(';')[0]
        self.assertEqual(server.request('GET', API + '/tokens', None, {'Cookie': cookie}).status, 200)

    def test_who_has_no_token_cannot(self):
        link = self.link('%s/recordings/%s' % (API, self.lab))
        self.assertEqual(self.ask('POST', API + '/login').status, 401)
        self.assertEqual(self.ask('POST', API + '/login' + link[link.index('?'):]).status, 401)
        self.assertEqual(self.status({'Cookie': 'reel_login_%d=reel_%s' % (self.server.port, 'A' * 43)}), 401)


class Tokens(Guarded):
    def test_made_and_shown_once(self):
        body = {'name': 'robot1', 'role': 'upload', 'collections': ['lab', 'sim*'], 'expires': '30d'}
        answer = self.ask('POST', API + '/tokens', self.tokens['admin'], json.dumps(body))
        self.assertEqual(answer.status, 201, answer)
        token = answer.json()
        self.assertRegex(token['token'], r'^reel_[A-Za-z0-9_-]{43}$')
        self.assertEqual(answer.headers['Location'], '%s/tokens/%d' % (API, token['id']))
        self.assertEqual(self.ask('GET', API + '/recordings', token['token']).json()['items'][0]['collection'], 'lab')
        for form in ('json', 'ndjson', 'csv'):
            listed = self.ask('GET', API + '/tokens?output=' + form, self.tokens['admin'])
            self.assertIn(b'robot1', listed.body)
            self.assertNotIn(token['token'][5:].encode(), listed.body)
        row = next(t for t in self.ask('GET', API + '/tokens', self.tokens['admin']).json()['items'] if t['name'] == 'robot1')
        self.assertEqual((row['role'], row['collections'], row['state']), ('upload', ['lab', 'sim*'], 'good'))
        self.assertTrue(eventually(lambda: next(t for t in self.ask('GET', API + '/tokens', self.tokens['admin']).json()['items'] if t['name'] == 'robot1')['last_used']))
        self.assertProblem(self.ask('POST', API + '/tokens', self.tokens['admin'], json.dumps(body)), 409)
        self.assertEqual(self.ask('DELETE', answer.headers['Location'], self.tokens['admin']).status, 204)
        self.assertProblem(self.ask('GET', API + '/recordings', token['token']), 401)
        self.assertProblem(self.ask('DELETE', answer.headers['Location'], self.tokens['admin']), 404)

    def test_the_next_request_after_revoking_is_refused(self):
        for turn in range(4):
            token = create_token(self.server, 'read', 'leaving')
            for path in (API, API + '/recordings', '%s/recordings/%s' % (API, self.lab), API):
                self.assertEqual(self.ask('GET', path, token).status, 200)
            if turn % 2:
                self.assertEqual(self.ask('DELETE', API + '/tokens/leaving', self.tokens['admin']).status, 204)
            else:
                reel('token', 'revoke', 'leaving', '--data', self.server.data)
            self.assertEqual(self.ask('GET', '%s/recordings/%s' % (API, self.lab), token).status, 401)

    def test_bodies_that_make_no_sense(self):
        for body in ({}, {'name': 'x'}, {'name': 'x', 'role': 'king'}, {'name': 5, 'role': 'read'}, {'name': 'x', 'role': 'read', 'collections': 'lab'},
                     {'name': 'x', 'role': 'read', 'collections': [1]}, {'name': 'x', 'role': 'read', 'expires': 5}, {'name': 'x', 'role': 'read', 'more': 1}):
            self.assertProblem(self.ask('POST', API + '/tokens', self.tokens['admin'], json.dumps(body)), 400)

    def test_the_command_line_counts_at_once(self):
        token = create_token(self.server, 'read', 'quick', '--expires', '2s')
        self.assertEqual(self.ask('GET', API + '/recordings', token).status, 200)
        self.assertTrue(eventually(lambda: self.ask('GET', API + '/recordings', token).status == 401))  # by itself
        out = reel('token', 'list', '--data', self.server.data).stdout.decode()
        self.assertRegex(out, r'quick +read +expired')
        self.assertNotIn(token[5:], out)
        self.assertEqual(reel('token', 'revoke', 'nobody', '--data', self.server.data, check=False).returncode, 1)
        self.assertEqual(reel('token', 'create', '--role', 'king', '--name', 'x', '--data', self.server.data, check=False).returncode, 2)
        self.assertEqual(reel('token', 'list', '--data', self.server.data + '/nothing', check=False).returncode, 1)


class Collections(Guarded):
    @classmethod
    def fill(cls):
        super().fill()
        cls.some = create_token(cls.server, 'edit', 'some', '--collection', 'l?b')
        cls.boss = create_token(cls.server, 'admin', 'boss', '--collection', 'lab')

    def test_others_are_not_there(self):
        missing = self.ask('GET', API + '/recordings/' + '0' * 32, self.some).json()['detail']
        for key in (self.secret, 'name:secret/b.bag'):
            for method, path in (('GET', ''), ('GET', '/topics'), ('GET', '/file/b.bag'), ('GET', '/as/b.mcap'), ('GET', '/messages'), ('DELETE', ''), ('POST', '/restore')):
                answer = self.ask(method, '%s/recordings/%s%s' % (API, key.replace('/', '%2F'), path), self.some)
                self.assertProblem(answer, 404)
                if key == self.secret:
                    self.assertEqual(answer.json()['detail'], missing)
        self.assertEqual(self.ask('GET', '%s/recordings/%s/as/a.mcap' % (API, self.lab), self.some).status, 200)
        self.assertProblem(self.ask('GET', '%s/merge/as/x.mcap?recording=%s&recording=%s' % (API, self.lab, self.secret), self.some), 404)
        self.assertProblem(self.ask('GET', '%s/series?recording=%s&field=/odom.x' % (API, self.secret), self.some), 404)

    def test_lists_leave_them_out(self):
        for query in ('', '?q=b', '?collection=secret', '?sort=name&count=true', '?format=rosbag-1.2', '?topic=/odom'):
            items = self.ask('GET', API + '/recordings' + query, self.some).json()['items']
            self.assertNotIn('secret', [i['collection'] for i in items])
        self.assertEqual(self.ask('GET', API + '/recordings?count=true', self.some).json()['total'], 1)
        self.assertEqual(len(self.ask('GET', API + '/recordings', self.tokens['read']).json()['items']), 2)
        for path, body in (('metrics', {}), ('search', {'target': ''}), ('variable', {'payload': {'target': 'recordings'}})):
            answer = self.ask('POST', '/grafana/' + path, self.some, json.dumps(body))
            self.assertEqual(answer.status, 200, answer)
            self.assertNotIn(self.secret, answer.body.decode())
        targets = [{'target': self.secret + ':/odom.x'}, {'target': 'events', 'payload': {'recording': self.secret}}]
        for told in self.ask('POST', '/grafana/query', self.some, json.dumps({'targets': targets})).json():
            self.assertEqual(told.get('datapoints', told.get('rows')), [])
        asked, = [m for m in self.ask('POST', '/grafana/metrics', self.some, json.dumps({'metric': self.secret})).json() if m['value'] == self.secret]
        self.assertEqual(asked['label'], self.secret)

    def test_nothing_is_put_elsewhere(self):
        self.assertProblem(self.ask('PUT', API + '/recordings/by-name/secret/c.bag', self.some, DATA), 403, 'secret')
        self.assertProblem(self.ask('POST', API + '/recordings?name=c.bag', self.some, DATA), 403)
        self.assertEqual(self.ask('PUT', API + '/recordings/by-name/lab/a.bag', self.some, DATA).status, 200)

    def test_a_link_sees_what_its_token_sees(self):
        self.assertEqual([i['collection'] for i in self.get(self.link(API + '/recordings', self.some)).json()['items']], ['lab'])
        self.assertProblem(self.server.get(self.link('%s/recordings/%s' % (API, self.secret), self.some)), 404)

    def test_jobs_of_others_are_not_there(self):
        ours, theirs = (self.ask('POST', '%s/admin/rescan/%s' % (API, i), self.tokens['admin']).headers['Location'] for i in (self.lab, self.secret))
        scrub = self.ask('POST', API + '/admin/scrub', self.tokens['admin']).headers['Location']
        self.assertEqual(self.ask('GET', ours, self.some).json()['subject'], self.lab)
        none = self.ask('GET', API + '/jobs/' + '0' * 32, self.some).json()['detail']
        for path in (theirs, scrub):
            self.assertEqual(self.ask('GET', path, self.tokens['read']).status, 200)
            for method, headers in (('GET', {}), ('GET', {'Accept': 'text/event-stream'}), ('DELETE', {})):
                answer = self.ask(method, path, self.some, **headers)
                self.assertProblem(answer, 404)
                self.assertEqual(answer.json()['detail'], none.replace('0' * 32, path.rsplit('/', 1)[1]))
        listed = [j['id'] for j in self.ask('GET', API + '/jobs', self.some).json()['items']]
        self.assertIn(ours.rsplit('/', 1)[1], listed)
        self.assertFalse({theirs.rsplit('/', 1)[1], scrub.rsplit('/', 1)[1]} & set(listed))
        self.assertIn(self.ask('DELETE', ours, self.some).status, (204, 409))  # 409: it has ended

    def test_jobs_of_one_kind(self):
        job = self.ask('POST', '%s/admin/rescan/%s' % (API, self.lab), self.tokens['admin']).headers['Location']
        jobs = lambda query: {(j['kind'], j['id']) for j in self.ask('GET', API + '/jobs' + query, self.tokens['admin']).json()['items']}  # noqa: E731
        mine = ('scan', job.rsplit('/', 1)[1])
        self.assertIn(mine, jobs('?kind=scrub&kind=scan'))
        self.assertEqual({kind for kind, _ in jobs('?kind=scan')}, {'scan'})
        self.assertNotIn(mine, jobs('?kind=scrub'))
        self.assertTrue(eventually(lambda: mine in jobs('?state=done&state=failed')))
        self.assertNotIn(mine, jobs('?kind=scan&state=queued&state=running&state=cancelled'))
        self.assertProblem(self.ask('GET', API + '/jobs?state=over', self.tokens['admin']), 400, 'state')

    def test_the_service_document_names_the_caller(self):
        caller = lambda token: self.ask('GET', API, token).json()['caller']  # noqa: E731
        self.assertEqual(caller(self.some), {'name': 'some', 'how': 'bearer', 'role': 'edit', 'collections': ['l?b']})
        admin = caller(self.tokens['admin'])
        self.assertEqual((admin['role'], admin['collections']), ('admin', None))

    def test_a_plan_is_seen_by_who_waits_for_it(self):
        for i in range(1, 50):  # one that is not made at once
            answer = self.ask('GET', '%s/recordings/%s/as/a.mcap?end=%%2B%dms' % (API, self.lab, 20 * i), self.some, Prefer='respond-async')
            if answer.status == 202:
                break
        self.assertEqual((answer.status, answer.headers['Preference-Applied']), (202, 'respond-async'), answer)
        self.assertGreater(int(answer.headers['Retry-After']), 0)
        job = answer.headers['Location']
        self.assertEqual(answer.json()['job']['href'], job)
        self.assertEqual(self.ask('GET', job, self.some).json()['kind'], 'plan')
        self.assertProblem(self.ask('DELETE', job, self.some), 403)
        self.assertNotIn('plan', [j['kind'] for j in self.ask('GET', API + '/jobs', self.some).json()['items']])

    def test_an_admin_of_some_does_not_run_the_server(self):
        for path in ('/tokens', '/audit'):
            self.assertProblem(self.ask('GET', API + path, self.boss), 403, 'limited')
        self.assertProblem(self.ask('POST', API + '/tokens', self.boss, json.dumps({'name': 'more', 'role': 'admin'})), 403)
        number = self.ask('PUT', API + '/recordings/by-name/lab/own.bag', self.boss, bag(lab_messages(1, salt=9))).json()['id']
        self.assertEqual(self.ask('DELETE', '%s/recordings/%s?purge=true' % (API, number), self.boss).status, 204)


class Written(Guarded):
    """The audit and the log."""

    def audit(self, query=''):
        return self.ask('GET', API + '/audit' + query, self.tokens['admin']).json()['items']

    def test_writes_and_denials_are_kept(self):
        wrong = self.tokens['read'][:-4] + 'AAAA'
        self.ask('PUT', API + '/recordings/by-name/lab/w.bag?keep=true', self.tokens['upload'], bag(lab_messages(1, salt=3)), **{'X-Request-Id': 'mine-1'})
        self.ask('DELETE', API + '/recordings/' + self.lab, self.tokens['read'])
        self.ask('GET', API + '/recordings', wrong)
        self.ask('GET', API + '/tokens/' + wrong, None)
        self.ask('GET', API + '/recordings', self.tokens['read'])  # no row
        self.assertTrue(eventually(lambda: any('/w.bag' in r['path'] for r in self.audit()) and any(r['status'] == 401 for r in self.audit())))
        rows = [(r['caller'], r['how'], r['method'], r['path'], r['status']) for r in self.audit()]
        upload = ('upload', 'bearer', 'PUT', API + '/recordings/by-name/lab/w.bag', 201)
        self.assertIn(upload, rows)
        self.assertIn(('read', 'bearer', 'DELETE', API + '/recordings/' + self.lab, 403), rows)
        self.assertIn(('', '', 'GET', API + '/recordings', 401), rows)
        self.assertNotIn(('read', 'bearer', 'GET', API + '/recordings', 200), rows)
        self.assertEqual(next(r for r in self.audit() if r['path'].endswith('/w.bag'))['request_id'], 'mine-1')
        self.assertTrue(all(r['peer'] == '127.0.0.1' for r in self.audit()))
        self.assertTrue(logged(self.server, r'id=mine-1 .*caller=upload'), self.server.log_text())

    def test_pages(self):
        for i in range(7):
            self.ask('DELETE', API + '/recordings/x%d' % i, self.tokens['edit'])
        self.assertTrue(eventually(lambda: len(self.audit()) >= 7))
        whole, got, path = self.audit('?limit=1000'), [], API + '/audit?limit=3'
        while path:
            answer = self.ask('GET', path, self.tokens['admin'])
            got += answer.json()['items']
            path = answer.next_path()
        self.assertEqual(got[-len(whole):], whole)  # newer ones may have come since
        cursor = self.ask('GET', API + '/audit?limit=1', self.tokens['admin']).next_path().rpartition('cursor=')[2]
        older = self.audit('?limit=1000&cursor=' + cursor)
        last = self.ask('GET', '%s/audit?limit=%d&cursor=%s' % (API, len(older), cursor), self.tokens['admin'])
        self.assertEqual((last.json()['items'], last.next_path()), (older, None))  # full, and there is no more
        self.assertProblem(self.ask('GET', API + '/audit?limit=0', self.tokens['admin']), 400, 'limit')
        self.assertProblem(self.ask('GET', API + '/audit?cursor=' + b'+1'.hex(), self.tokens['admin']), 400, 'cursor')
        csv = self.ask('GET', API + '/audit?output=csv&limit=2', self.tokens['admin']).body.decode().splitlines()
        self.assertEqual(csv[0], 'time,caller,how,peer,method,path,status,request_id')
        self.assertEqual(len(csv), 3)
        self.assertEqual(len(self.ask('GET', API + '/audit?output=ndjson&limit=2', self.tokens['admin']).rows()), 2)
        self.assertProblem(self.ask('GET', API + '/audit?cursor=x', self.tokens['admin']), 400)

    def test_a_filter_selects(self):
        for method, name in (('DELETE', 'edit'), ('DELETE', 'read'), ('PATCH', 'edit')):
            self.ask(method, API + '/recordings/picked', self.tokens[name])
        self.assertTrue(eventually(lambda: len(self.audit('?path=/picked')) == 3))
        select = lambda query: {(r['caller'], r['method'], r['status']) for r in self.audit('?path=/picked&limit=1000' + query)}  # noqa: E731
        whole = {('edit', 'DELETE', 404), ('read', 'DELETE', 403), ('edit', 'PATCH', 404)}
        for query, expected in (('', whole), ('&caller=edit', {('edit', 'DELETE', 404), ('edit', 'PATCH', 404)}), ('&method=PATCH', {('edit', 'PATCH', 404)}),
                                ('&status=403', {('read', 'DELETE', 403)}), ('&status=4xx&start=now-1h', whole), ('&status=2xx', set()), ('&status=0', set()),
                                ('&end=now-1h', set()), ('&caller=read&method=PATCH', set())):
            self.assertEqual(select(query), expected, query)
        for wrong, name in (('status=600', 'status'), ('status=4x', 'status'), ('status=40x', 'status'), ('start=%2B5s', 'start'), ('end=soon', 'end')):
            self.assertProblem(self.ask('GET', API + '/audit?' + wrong, self.tokens['admin']), 400, name)
        self.assertEqual(self.audit('?path=%25'), [])  # no pattern, but a text

    def test_no_secret_is_written_down(self):
        token = create_token(self.server, 'read', 'secretive')
        url = self.link(API + '/recordings', token)
        self.get(url)
        self.server.request('GET', API + '/recordings', headers={'Authorization': 'Basic ' + base64.b64encode(b'x:' + token.encode()).decode()})
        self.ask('DELETE', API + '/tokens/' + token, self.tokens['edit'])
        self.ask('GET', API + '/recordings?q=' + token, self.tokens['read'])
        self.assertTrue(eventually(lambda: any(r['path'].startswith(API + '/tokens/reel_') for r in self.audit())))
        places = self.server.log_text() + json.dumps(self.audit('?limit=1000'))
        for secret in (token[5:], url.split('sig=')[1]):
            self.assertNotIn(secret, places)
            for f in files_below(self.server.data):
                with contextlib.suppress(FileNotFoundError), open(f, 'rb') as file:  # what is written just now gets another name
                    self.assertNotIn(secret.encode(), file.read(), f)


class Lasting(unittest.TestCase):
    def test_what_the_audit_tells_outlives_a_kill(self):
        folder = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, folder, True)
        server = Server(folder)
        self.addCleanup(lambda: server.stop(None))
        token = create_token(server, 'admin', 'boss')

        def audit():
            return server.request('GET', API + '/audit?limit=1000', headers=bearer(token)).json()['items']
        for i in range(40):
            server.request('DELETE', '%s/recordings/k%d' % (API, i), headers=bearer(token))
        self.assertTrue(eventually(lambda: len(audit()) == 40))  # each is on the disk before it can be read
        server.process.kill()
        server.process.wait()
        server.stop(None)
        server = Server(folder)
        self.assertEqual(sorted(r['path'] for r in audit()), sorted('%s/recordings/k%d' % (API, i) for i in range(40)))


class Guessing(unittest.TestCase):
    def test_failed_log_ins_are_slowed_down(self):
        server = Server()
        try:
            token = create_token(server, 'admin', 'boss')
            statuses = [server.get(API + '/recordings', Authorization='Bearer reel_' + 'A' * 43).status for _ in range(15)]
            self.assertEqual(statuses, [401] * 10 + [429] * 5)
            answer = server.get(API + '/recordings', Authorization='Basic abcd')
            self.assertEqual(answer.status, 429)
            self.assertIn(int(answer.headers['Retry-After']), range(1, 7))
            self.assertEqual(server.get(API + '/recordings?sig=1.1.x&exp=1').status, 429)
            self.assertEqual(server.get(API + '/recordings').status, 401)  # who does not try is no guesser
            self.assertEqual(server.get(API + '/recordings', **bearer(token)).status, 200)  # nor is who has one
            self.assertEqual(server.get('/healthz').status, 200)
        finally:
            server.stop()

    def test_guessed_logins_are_slowed_down(self):
        server = Server()
        self.addCleanup(server.stop)
        token = create_token(server, 'read', 'reader')
        cookie = lambda value: {'Cookie': 'reel_login_%d=%s' % (server.port, value)}
        own = server.request('POST', API + '/login', None, bearer(token)).headers['Set-Cookie'].split(';')[0]
        statuses = [server.request('GET', API + '/recordings', None, cookie('reel_' + 'A' * 43)).status for _ in range(15)]
        self.assertEqual(statuses, [401] * 10 + [429] * 5)
        self.assertEqual(server.request('GET', API + '/recordings', None, {'Cookie': own}).status, 200)

    def test_denials_cannot_wash_the_audit_away(self):
        server = Server()
        try:
            token = create_token(server, 'admin', 'boss')
            for _ in range(150):
                server.get(API + '/recordings')
            rows = lambda: server.get(API + '/audit?limit=1000', **bearer(token)).json()['items']  # noqa: E731
            self.assertTrue(eventually(lambda: len(rows()) >= 60))
            self.assertLess(len(rows()), 120)
        finally:
            server.stop()


class Proxies(unittest.TestCase):
    USER = {'X-Remote-User': 'alice', 'X-Forwarded-For': '6.6.6.6, 198.51.100.7'}

    def serve(self, *args):
        server = Server(None, *args)
        self.addCleanup(server.stop)
        return server

    def test_a_header_from_elsewhere_is_nothing(self):
        server = self.serve('--trust-proxy', '10.9.9.9', '--proxy-user-header', 'X-Remote-User', '--proxy-role', 'admin')
        for path in ('/recordings', '/tokens'):
            self.assertEqual(server.request('GET', API + path, headers=self.USER).status, 401)

    def test_a_trusted_proxy_says_who(self):
        server = self.serve('--trust-proxy', '127.0.0.0/8', '--proxy-user-header', 'X-Remote-User', '--proxy-role', 'edit')
        self.assertEqual(server.request('GET', API + '/recordings', headers=self.USER).status, 200)
        self.assertEqual(server.request('GET', API + '/tokens', headers=self.USER).status, 403)
        self.assertEqual(server.request('GET', API + '/recordings').status, 401)  # without its header
        self.assertEqual(server.request('GET', API + '/recordings', headers={'X-Remote-User': ''}).status, 401)
        self.assertEqual(server.request('DELETE', API + '/recordings/x', headers=self.USER).status, 404)
        token = create_token(server, 'admin', 'boss')
        rows = lambda: [r for r in server.get(API + '/audit', **bearer(token)).json()['items'] if r['method'] == 'DELETE']
        self.assertTrue(eventually(rows))
        self.assertEqual((rows()[0]['caller'], rows()[0]['how'], rows()[0]['peer']), ('alice', 'proxy', '198.51.100.7'))
        self.assertTrue(logged(server, 'remote=198.51.100.7 caller=alice'), server.log_text())

    def test_guesses_are_counted_by_whom_the_proxy_names(self):
        server = self.serve('--trust-proxy', '127.0.0.1')
        create_token(server, 'admin', 'boss')
        ask = lambda peer: server.get(API + '/recordings', Authorization='Bearer x', X_Forwarded_For=peer).status
        self.assertEqual([ask('198.51.100.7') for _ in range(11)], [401] * 10 + [429])
        self.assertEqual(ask('198.51.100.8'), 401)
        self.assertEqual([ask('2001:db8:1:2::%x' % i) for i in range(11)], [401] * 10 + [429])
        self.assertEqual(ask('2001:db8:1:3::1'), 401)

    def test_options_that_make_no_sense(self):
        for args in (['--trust-proxy', 'localhost'], ['--proxy-user-header', 'X-User'], ['--trust-proxy', '10.0.0.1', '--proxy-role', 'king']):
            with tempfile.TemporaryDirectory() as folder:
                done = reel('serve', '--data', folder, '--listen', '127.0.0.1:0', *args, check=False)
                self.assertNotEqual(done.returncode, 0)
                self.assertNotIn(b'listening', done.stdout)


class FirstStart(unittest.TestCase):
    def start(self, data, *args):
        process = subprocess.Popen([harness.REEL, 'serve', '--data', data, '--listen', '0.0.0.0:0', *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        output = ''
        for line in process.stdout:
            output += line
            found = re.search(r'listening on http://\S+:(\d+)', line)
            if found:
                return process, output, int(found.group(1))
        raise AssertionError('it ended: ' + output)

    def status(self, port, token=None):
        connection = http.client.HTTPConnection('127.0.0.1', port, timeout=harness.PATIENCE)
        connection.request('GET', API + '/tokens', headers=bearer(token) if token else {})
        status = connection.getresponse().status
        connection.close()
        return status

    def test_a_wide_address_is_never_open(self):
        with tempfile.TemporaryDirectory() as data:
            process, output, port = self.start(data)
            path = os.path.join(data, 'first-token')
            self.assertIn(path, output)
            self.assertNotIn('reel_', output)  # logs may be read by others
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
            with open(path) as f:
                token = f.read().strip()
            self.assertRegex(token, '^reel_[A-Za-z0-9_-]{43}$')
            self.assertEqual(self.status(port), 401)
            self.assertEqual(self.status(port, token), 200)
            process.terminate()
            process.wait()
            process, output, port = self.start(data)
            self.assertNotIn('first-token', output)  # once
            self.assertEqual(self.status(port), 401)
            self.assertEqual(self.status(port, token), 200)

    def test_a_terminal_shows_the_token(self):
        with tempfile.TemporaryDirectory() as data:
            ours, its = os.openpty()
            process = subprocess.Popen([harness.REEL, 'serve', '--data', data, '--listen', '0.0.0.0:0'], stdout=its, stderr=subprocess.DEVNULL)
            os.close(its)
            output = b''
            while b'listening' not in output:
                output += os.read(ours, 4096)
            process.terminate()
            process.wait()
            os.close(ours)
            self.assertRegex(output.decode(), r'\nreel_[A-Za-z0-9_-]{43}\r?\n')
            self.assertFalse(os.path.exists(os.path.join(data, 'first-token')))

    def test_who_means_it(self):
        with tempfile.TemporaryDirectory() as data:
            process, output, port = self.start(data, '--insecure-open')
            self.assertNotIn('reel_', output)
            self.assertEqual(self.status(port), 200)
            self.assertEqual(self.status(port, 'reel_' + 'A' * 43), 401)  # who shows one shows a good one

    def test_loopback_is_open_until_there_is_a_token(self):
        server = Server()
        self.addCleanup(server.stop)
        self.assertEqual(server.get(API + '/tokens').status, 200)
        create_token(server, 'read', 'first-one')
        self.assertEqual(server.get(API + '/tokens').status, 401)
        reel('token', 'revoke', 'first-one', '--data', server.data)
        self.assertEqual(server.get(API + '/tokens').status, 401)  # and is not open again

    def test_metrics_may_be_open(self):
        server = Server(None, '--metrics-open')
        self.addCleanup(server.stop)
        create_token(server, 'read', 'a')
        self.assertEqual(server.get('/metrics').status, 200)
        self.assertEqual(server.get(API + '/recordings').status, 401)


class ViewerLinks(Guarded):
    server_args = ('--viewer', 'https://viewer.example')

    def test_links_in_answers_are_signed_where_a_token_is_needed(self):
        links = self.ask('GET', '%s/recordings/%s' % (API, self.lab), self.tokens['read']).json()['links']
        for link in (links['mcap'], links['layout']):
            self.assertEqual(self.get(link.replace(self.server.base, '')).status, 200)
            self.assertProblem(self.server.get(re.sub('[&?]exp=.*', '', link.replace(self.server.base, ''))), 401)
        same = self.ask('GET', '%s/recordings/%s' % (API, self.lab), self.tokens['read']).json()['links']
        self.assertEqual(same, links)  # so that a viewer's cache is of use
        by_link = self.get(self.link('%s/recordings/%s' % (API, self.lab))).json()['links']
        self.assertNotIn('sig', by_link['mcap'])  # or a link would never end


class Headers(Guarded):
    def test_every_answer_is_harmless_in_a_browser(self):
        paths = ['/', '/healthz', '/nothing', API + '/recordings', '%s/recordings/%s' % (API, self.lab), '%s/recordings/%s/file/a.bag' % (API, self.lab),
                 '%s/recordings/%s/as/a.csv' % (API, self.lab), '%s/recordings/%s/plot.svg?field=/odom.pose.pose.position.x' % (API, self.lab), '/problems/busy']
        for token in (None, self.tokens['read']):
            for path in paths:
                headers = self.ask('GET', path, token).headers
                with self.subTest(path):
                    self.assertEqual(headers['X-Content-Type-Options'], 'nosniff')
                    self.assertEqual(headers['Referrer-Policy'], 'no-referrer')
                    policy = headers['Content-Security-Policy']
                    for word in ("default-src 'none'", 'sandbox', "frame-ancestors 'none'"):
                        self.assertIn(word, policy)
                    self.assertNotIn('script-src', policy)
                    self.assertIsNone(headers['Server'])
                    self.assertTrue(headers['X-Request-Id'])

    def test_no_answer_tells_where_the_files_are(self):
        number = self.ask('PUT', API + '/recordings/by-name/lab/lost.bag', self.tokens['upload'], bag(lab_messages(1, salt=8))).json()
        lost = next(f for f in files_below(self.server.data) if f.endswith(number['parts'][0]['sha256'] if 'parts' in number else number['sha256']))
        os.unlink(lost)
        for path in ('', '/file/lost.bag', '/as/lost.mcap', '/messages', '/topics', '/scan', '/attachments', '/as/lost.csv'):
            answer = self.ask('GET', '%s/recordings/%s%s' % (API, number['id'], path), self.tokens['read'])
            for hint in (self.server.data, os.path.basename(self.server.data), 'blobs/', 'incoming', '.db'):
                self.assertNotIn(hint, answer.body.decode(errors='replace') + str(answer.headers), path)
