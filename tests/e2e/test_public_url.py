"""The links in the answer to an upload, with and without --public-url, and the host that it names."""
import json
import unittest

from harness import API, Case, reel
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
    server_args = ('--public-url', 'https://archive.example/reel/', '--viewer', 'https://viewer.example/')
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
        for url in ('archive.example', 'https://', 'https:///x', 'ftp://archive.example', 'https://archive.example/?x=1'):
            done = reel('serve', '--check-config', '--public-url', url, check=False)
            self.assertEqual(done.returncode, 2, url)
            self.assertIn(b'--public-url', done.stderr)


if __name__ == '__main__':
    unittest.main()
