"""The links in the answer to an upload, with and without --public-url, and the host that it names; its path in requests and answers."""
import json
import re
import tempfile
import unittest

from harness import API, Case, Server, eventually, reel
from samples import bag, lab_messages


class Links(Case):
    base = ''

    def links(self, answer, status):
        self.assertEqual(answer.status, status, answer)
        return answer.json()['links'], answer.json()['id']

    def check(self, links, number, name):
        one = API + '/recordings/' + number
        want = {'self': one, 'file': '%s/file/%s' % (one, name), 'topics': one + '/topics', 'messages': one + '/messages', 'page': '/recordings/' + number}
        self.assertEqual({k: links[k] for k in want}, {k: self.base + path for k, path in want.items()})
        for kind in ('self', 'file', 'topics', 'messages'):
            self.get(links[kind][len(self.base):])

    def test_of_every_upload(self):
        data = bag(lab_messages(1, salt=9))
        links, number = self.links(self.server.request('PUT', API + '/recordings/by-name/lab/run%201%231.bag', data), 201)
        self.check(links, number, 'run%201%231.bag')
        self.assertEqual(self.get(links['file'][len(self.base):]).body, data)
        again, same = self.links(self.server.request('PUT', API + '/recordings/by-name/lab/run%201%231.bag', data), 200)
        self.assertEqual((again, same), (links, number))
        posted = {'Idempotency-Key': 'k%s' % number}
        links, number = self.links(self.server.request('POST', API + '/recordings?name=posted.bag', bag(lab_messages(1, salt=10)), posted), 201)
        self.check(links, number, 'posted.bag')
        self.assertEqual(self.links(self.server.request('POST', API + '/recordings?name=posted.bag', bag(lab_messages(1, salt=10)), posted), 201)[0], links)

    def test_of_a_session(self):
        headers = {'Upload-Complete': '?1', 'Upload-Draft-Interop-Version': '6', 'Content-Type': 'application/octet-stream'}
        answer = self.server.request('POST', API + '/uploads?name=session.bag', bag(lab_messages(1, salt=11)), headers)
        links, number = self.links(answer, 201)
        self.check(links, number, 'session.bag')


class PublicUrl(Links):
    server_args = ('--insecure-open', '--public-url', 'https://archive.example/reel/', '--viewer', 'https://viewer.example/')
    base = 'https://archive.example/reel'

    def test_its_host_is_ours(self):
        self.assertEqual(self.server.get('/healthz', Host='archive.example').status, 200)
        self.assertEqual(self.server.get('/healthz', Host='archive.example:443').status, 200)
        self.assertProblem(self.server.get('/healthz', Host='other.example'), 421, '--host')

    def test_links_to_the_viewer_begin_with_it(self):
        links, number = self.links(self.server.request('PUT', API + '/recordings/by-name/lab/viewed.bag', bag(lab_messages(1, salt=12))), 201)
        for kind in ('mcap', 'layout', 'self'):
            self.assertTrue(links[kind].startswith(self.base + API), json.dumps(links))
        self.assertEqual(self.get('%s/recordings/%s' % (API, number)).json()['links'], {k: links[k] for k in ('viewer', 'mcap', 'layout')})

    def test_what_is_no_address(self):
        for url in ('archive.example', 'https://', 'https:///x', 'ftp://archive.example', 'https://archive.example/?x=1', 'https://archive.example/api',
                    'https://archive.example/recordings/old/', 'https://archive.example/a"b', 'https://archive.example/' + 'x' * 128):
            done = reel('serve', '--check-config', '--public-url', url, check=False)
            self.assertEqual(done.returncode, 2, url)
            self.assertIn(b'--public-url', done.stderr)


class Prefix(Case):
    """Behind a proxy that removes the path of --public-url from requests, and behind one that leaves it there."""
    server_args = ('--insecure-open', '--public-url', 'https://archive.example/lab/reel/')
    prefix = '/lab/reel'

    def test_both_are_the_same_request(self):
        first = self.get(API + '/recordings')
        self.assertEqual(self.get(self.prefix + API + '/recordings').json(), first.json())
        self.assertEqual(self.get(self.prefix + API + '/recordings?limit=1').status, 200)
        for path in ('', '/', '?x=1', '/?x=1'):
            self.assertIn(b'<title>Reel', self.get(self.prefix + path, Accept='text/html').body, path)
        for path in (self.prefix + self.prefix + API, self.prefix + 'x' + API, '/lab' + API):
            self.assertProblem(self.server.get(path), 404, 'No such path')
        self.assertProblem(self.server.get(self.prefix + '/../healthz'), 400, 'bad-path')

    def test_the_page_has_it_as_its_base(self):
        page = self.get('/recordings/x', Accept='text/html')
        self.assertEqual(re.findall(rb'<base href="([^"]*)"', page.body), [b'/lab/reel/'])
        self.assertIn("base-uri 'self'", page.headers['Content-Security-Policy'])
        again = self.server.get('/upload', Accept='text/html', If_None_Match=page.headers['ETag'])
        self.assertEqual((again.status, again.body), (304, b''))

    def test_addresses_in_answers_begin_with_it(self):
        problem = self.server.get('/nowhere').json()
        self.assertEqual((problem['type'], problem['instance']), (self.prefix + '/problems/not-found', self.prefix + '/nowhere'))
        self.assertEqual(self.get(problem['type'], Accept='application/json').json()['type'], problem['type'])
        for link in self.get(API).json()['links'].values():
            self.assertTrue(link.startswith(self.prefix + '/'), link)
        stored = self.server.request('PUT', API + '/recordings/by-name/lab/a.bag', bag(lab_messages(1, salt=20)))
        self.assertEqual(self.get(stored.headers['Location']).json()['id'], stored.json()['id'])
        self.server.request('PUT', API + '/recordings/by-name/lab/b.bag', bag(lab_messages(1, salt=21)))
        page = self.get(self.prefix + API + '/recordings?limit=1')
        self.assertEqual(page.next_path(), self.get(API + '/recordings?limit=1').next_path())
        self.assertTrue(page.next_path().startswith(self.prefix + API))
        self.assertEqual(len(self.get(page.next_path()).json()['items']), 1)
        headers = {'Tus-Resumable': '1.0.0', 'Upload-Length': '7', 'Upload-Metadata': 'filename YS50eHQ='}
        upload = self.server.request('POST', API + '/uploads', b'', headers).headers['Location']
        self.assertTrue(upload.startswith(self.prefix + API + '/uploads/'))
        self.assertEqual(self.server.request('DELETE', upload, None, headers).status, 204)
        job = self.server.request('POST', API + '/admin/rescan/' + stored.json()['id'])
        self.assertEqual(self.get(job.headers['Location']).json()['id'], job.json()['job']['id'])
        self.assertEqual(job.json()['job']['href'], job.headers['Location'])
        self.assertTrue(eventually(lambda: self.get(job.headers['Location']).json()['state'] == 'done'))  # or the recording changes under another test
        self.assertIn(b'<D:href>/lab/reel/dav/lab/a.bag</D:href>', self.server.request('PROPFIND', '/dav/lab/', None, {'Depth': '1'}).body)

    def test_programs_find_their_way(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + '/pushed.bag', 'wb') as f:
                f.write(bag(lab_messages(1, salt=22)))
            reel('push', folder + '/pushed.bag', 'http://127.0.0.1:%d%s' % (self.server.port, self.prefix), '--collection', 'lab')
        self.assertEqual(len(self.get(API + '/recordings?q=pushed').json()['items']), 1)

    def test_logins_and_links(self):
        server = Server(None, *self.server_args)
        self.addCleanup(server.stop)
        token = {'Authorization': 'Bearer ' + server.request('POST', API + '/tokens', '{"name":"first","role":"admin"}').json()['token']}
        self.assertIn('; Path=/lab/reel/; ', server.request('POST', API + '/login', None, token).headers['Set-Cookie'])
        for path in (API + '/recordings?limit=1', self.prefix + API + '/recordings?limit=1'):
            url = server.request('POST', API + '/links', json.dumps({'path': path}), token).json()['url']
            self.assertTrue(url.startswith(self.prefix + API), url)
            for link in (url, url[len(self.prefix):]):
                self.assertEqual(server.get(link).status, 200, link)
            self.assertEqual(server.get(url.replace('limit=1', 'limit=2')).status, 401)


if __name__ == '__main__':
    unittest.main()
