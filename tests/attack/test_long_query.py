"""A query so long that the link to the next page fits no header: the client still learns that there is more, and how to get it."""
from harness import API, Case
from samples import bag, lab_messages


class LongQuery(Case):
    @classmethod
    def fill(cls):
        cls.id = cls.server.added('a.bag', bag(lab_messages(1)))
        cls.server.added('b.bag', bag(lab_messages(1, salt=1)))

    def test_lists(self):
        glob = '/odom' + '*' * 1000
        path = API + '/recordings?limit=1' + ''.join('&topic=' + glob for _ in range(6))
        first = self.get(path)
        self.assertNotIn('Link', first.headers)
        self.assertEqual(first.headers['X-Next-Cursor'], first.json()['next'])
        second = self.get(path + '&cursor=' + first.json()['next'])
        self.assertEqual(len(second.json()['items']), 1)
        self.assertNotEqual(second.json()['items'][0]['id'], first.json()['items'][0]['id'])

    def test_rows(self):
        path = '%s/recordings/%s/messages?limit=3%s' % (API, self.id, ''.join('&topic=/odom' + '*' * 1000 for _ in range(6)))
        first = self.get(path)
        second = self.get(path + '&cursor=' + first.headers['X-Next-Cursor'])
        self.assertNotEqual(first.rows()[0], second.rows()[0])

    def test_links_are_as_long_as_they_may_be(self):
        path = API + '/recordings?limit=1&topic=/odom' + '*' * 3000
        self.assertIn('cursor=', self.get(path).next_path())
