"""Every refusal is application/problem+json that names what is wrong."""
from harness import API, Case
from samples import bag, lab_messages


class Errors(Case):
    @classmethod
    def fill(cls):
        cls.walk = cls.server.added('walk.bag', bag(lab_messages(1)))

    def test_unknown_parameter_is_named(self):
        for path in ('', '/%s' % self.walk, '/%s/topics' % self.walk, '/%s/messages' % self.walk, '/%s/as/x.mcap' % self.walk, '/%s/file/walk.bag' % self.walk):
            with self.subTest(path):
                self.assertProblem(self.server.get('%s/recordings%s?colour=red' % (API, path)), 400, 'colour')

    def test_bad_values_are_named(self):
        for path, name in (('?limit=many', 'limit'), ('?limit=-1', 'limit'), ('?offset=x', 'offset'), ('?state=asleep', 'state'), ('?count=perhaps', 'count'),
                           ('/%s/messages?limit=x' % self.walk, 'limit'), ('/%s/messages?every=0' % self.walk, 'every'), ('/%s/messages?every=fast' % self.walk, 'every'),
                           ('/%s/messages?last=first' % self.walk, 'last'), ('/%s/messages?lookback=9' % self.walk, 'lookback'),
                           ('/%s/message?topic=/odom&index=one' % self.walk, 'index')):
            with self.subTest(path):
                problem = self.assertProblem(self.server.get('%s/recordings%s' % (API, path)), 400, name)
                self.assertIn('request_id', problem)

    def test_unknown_places(self):
        for path in ('/nothing', '/api', API + '/nothing', API + '/recordings/0123456789abcdef0123456789abcdef', API + '/recordings/%s/nothing' % self.walk,
                     *('%s/recordings/%s/schemas/%s' % (API, self.walk, s) for s in ('99999', '+0', '%200', '-0', '0.+0', '0.', '-18446744073709551615'))):
            with self.subTest(path):
                self.assertProblem(self.server.get(path), 404)

    def test_paths_that_climb(self):
        for path in (API + '/recordings/..%2f..%2fetc', API + '/../../etc/passwd', API + '/recordings/%s/file/..%%2f..%%2fetc%%2fpasswd' % self.walk):
            with self.subTest(path):
                self.assertProblem(self.server.get(path), 400)

    def test_wrong_method_lists_the_right_ones(self):
        answer = self.server.request('PATCH', API + '/recordings', b'{}')
        self.assertProblem(answer, 405)
        self.assertIn('GET', answer.headers['Allow'])

    def test_request_id_is_kept_or_made(self):
        self.assertEqual(self.get('/healthz', X_Request_Id='abc-123').headers['X-Request-Id'], 'abc-123')
        self.assertTrue(self.get('/healthz').headers['X-Request-Id'])

    def test_json_ends_with_a_newline(self):
        for path in ('/', API + '/recordings', API + '/recordings/' + self.walk, API + '/recordings/%s/topics' % self.walk):
            with self.subTest(path):
                self.assertTrue(self.get(path, Accept='application/json').body.endswith(b'}\n'))
