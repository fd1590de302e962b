"""Every refusal is application/problem+json that names what is wrong."""
from harness import API, Case
from samples import bag, lab_messages


class Errors(Case):
    @classmethod
    def fill(cls):
        cls.id = cls.server.added('walk.bag', bag(lab_messages(1)))

    def test_unknown_parameter_is_named(self):
        for path in ('', '/%s' % self.id, '/%s/topics' % self.id, '/%s/messages' % self.id, '/%s/as/x.mcap' % self.id, '/%s/file/walk.bag' % self.id):
            with self.subTest(path):
                self.assertProblem(self.server.get('%s/recordings%s?colour=red' % (API, path)), 400, 'colour')

    def test_bad_values_are_named(self):
        for path, name in (('?limit=many', 'limit'), ('?limit=-1', 'limit'), ('?offset=x', 'offset'), ('?state=asleep', 'state'), ('?count=perhaps', 'count'),
                           ('/%s/messages?limit=x' % self.id, 'limit'), ('/%s/messages?every=0' % self.id, 'every'), ('/%s/messages?every=fast' % self.id, 'every'),
                           ('/%s/messages?last=first' % self.id, 'last'), ('/%s/messages?lookback=9' % self.id, 'lookback'),
                           ('/%s/message?topic=/odom&index=one' % self.id, 'index')):
            with self.subTest(path):
                problem = self.assertProblem(self.server.get('%s/recordings%s' % (API, path)), 400, name)
                self.assertIn('request_id', problem)

    def test_unknown_places(self):
        for path in ('/nothing', API, API + '/nothing', API + '/recordings/0123456789abcdef0123456789abcdef', API + '/recordings/%s/nothing' % self.id,
                     API + '/recordings/..%2f..%2fetc', API + '/recordings/%s/file/' % self.id, API + '/recordings/%s/schemas/99999' % self.id):
            with self.subTest(path):
                self.assertProblem(self.server.get(path), 404)

    def test_wrong_method_lists_the_right_ones(self):
        answer = self.server.request('PATCH', API + '/recordings', b'{}')
        self.assertProblem(answer, 405)
        self.assertIn('GET', answer.headers['Allow'])

    def test_request_id_is_kept_or_made(self):
        self.assertEqual(self.get('/healthz', X_Request_Id='abc-123').headers['X-Request-Id'], 'abc-123')
        self.assertTrue(self.get('/healthz').headers['X-Request-Id'])

    def test_json_ends_with_a_newline(self):
        for path in ('/', API + '/recordings', API + '/recordings/' + self.id, API + '/recordings/%s/topics' % self.id):
            with self.subTest(path):
                self.assertTrue(self.get(path, Accept='application/json').body.endswith(b'}\n'))
