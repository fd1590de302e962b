"""A web page of another origin in the browser of a user who can reach the archive: it may neither read nor write, unless allowed."""
from harness import API, Case
from samples import bag, lab_messages

EVIL = 'https://evil.example'
VIEWER = 'https://viewer.example'
PREFLIGHT = {'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': 'range'}


class ForeignPage(Case):
    @classmethod
    def fill(cls):
        cls.paths = [API + '/recordings', '%s/recordings/%s' % (API, cls.server.added('lab.bag', bag(lab_messages(1)))), '/metrics', '/openapi.json', '/']

    def check_refused(self, origin):
        for path in self.paths:
            for answer in (self.server.get(path, Origin=origin), self.server.request('OPTIONS', path, headers={'Origin': origin, **PREFLIGHT})):
                with self.subTest(path=path, origin=origin):
                    self.assertEqual([name for name in answer.headers if name.lower().startswith('access-control-')], [], answer)

    def test_no_answer_is_readable(self):
        for origin in (EVIL, 'null', 'http://localhost:1'):
            self.check_refused(origin)

    def test_nothing_can_be_embedded(self):
        for path in self.paths:
            self.assertEqual(self.server.get(path).headers['Cross-Origin-Resource-Policy'], 'same-origin')


class ViewersPage(ForeignPage):
    server_args = ('--viewer', VIEWER + '/app?x=1')

    def test_nothing_can_be_embedded(self):
        pass  # a viewer may show pictures

    def test_the_viewer_reads(self):
        answer = self.get(self.paths[1], Origin=VIEWER)
        self.assertEqual(answer.headers['Access-Control-Allow-Origin'], VIEWER)
        self.assertNotIn('Access-Control-Allow-Credentials', answer.headers)
        self.assertIn('Origin', answer.headers.get_all('Vary'))
        asked = self.server.request('OPTIONS', self.paths[1], headers={'Origin': VIEWER, **PREFLIGHT})
        self.assertIn('range', asked.headers['Access-Control-Allow-Headers'].lower())
        self.assertEqual(asked.headers['Access-Control-Allow-Methods'], 'GET, HEAD')

    def test_the_viewer_does_not_write(self):
        self.assertProblem(self.server.request('DELETE', self.paths[1], headers={'Origin': VIEWER}), 403)

    def test_similar_origins_do_not_read(self):
        for origin in (VIEWER + '.evil.example', VIEWER[:-1], 'http://viewer.example', VIEWER + ':444', 'https:', ''):
            if origin:
                self.check_refused(origin)


class AnyPage(Case):
    server_args = ('--origin', '*')

    def test_any_page_reads_where_that_was_asked_for(self):
        answer = self.get(API + '/recordings', Origin=EVIL)
        self.assertEqual(answer.headers['Access-Control-Allow-Origin'], '*')
        self.assertNotIn('Access-Control-Allow-Credentials', answer.headers)
