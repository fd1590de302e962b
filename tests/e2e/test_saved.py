"""Layouts of collections and searches that users save by name."""
import json

from harness import API, Case, create_token
from samples import bag, lab_messages


class Saved(Case):
    @classmethod
    def fill(cls):
        cls.server.added('a.bag', bag(lab_messages(1)))
        cls.server.added('b.bag', bag(lab_messages(1, salt=1)), collection='other')
        cls.roles = {role: cls.token('edit' if role == 'limited' else role, role, *(('--collection', 'lab') if role == 'limited' else ()))
                     for role in ('read', 'edit', 'admin', 'limited')}

    @classmethod
    def token(cls, role, name, *args):
        return create_token(cls.server, role, name, *args)

    def ask(self, method, path, body=None, role='edit', **headers):
        return self.server.request(method, API + path, json.dumps(body) if body is not None else None,
                                   {'Authorization': 'Bearer ' + self.roles[role], **{k.replace('_', '-'): v for k, v in headers.items()}})

    def put(self, path, value, status=200, role='edit', **headers):
        answer = self.ask('PUT', path, {'value': value}, role, **headers)
        self.assertEqual(answer.status, status, answer)
        return answer

    def names(self, path, role='read'):
        return [one['name'] for one in self.ask('GET', path, role=role).json()['items']]

    def test_saved_listed_replaced_deleted(self):
        for base, collection in (('/collections/lab/layouts', 'lab'), ('/searches', None)):
            value = {'panels': ['image', {'name': 'plöt', 'of': [1, None]}]}
            first = self.put(base + '/b/wide%20%C3%A4', value, 201)
            one = first.json()
            self.assertEqual({k: one[k] for k in ('name', 'collection', 'value', 'author')},
                             {'name': 'b/wide ä', 'collection': collection, 'value': value, 'author': 'edit'})
            self.assertEqual(self.ask('GET', base + '/b/wide%20%C3%A4', role='read').json(), one)
            self.put(base + '/a', {}, 201)
            self.assertEqual(self.names(base), ['a', 'b/wide ä'])
            tag = first.headers['ETag']
            self.assertEqual(self.ask('GET', base + '/b/wide%20%C3%A4', If_None_Match=tag).status, 304)
            second = self.put(base + '/b/wide%20%C3%A4', {'x': 1}, 200, 'admin', If_Match=tag)
            self.assertEqual((second.json()['author'], second.json()['created']), ('admin', one['created']))
            self.put(base + '/b/wide%20%C3%A4', {}, 412, If_Match=tag)
            self.put(base + '/b/wide%20%C3%A4', {}, 412, If_None_Match='*')
            self.put(base + '/absent', {}, 412, If_Match='*')
            self.assertProblem(self.ask('DELETE', base + '/b/wide%20%C3%A4', If_Match=tag), 412)
            self.assertEqual(self.ask('DELETE', base + '/b/wide%20%C3%A4', If_Match=second.headers['ETag']).status, 204)
            self.assertProblem(self.ask('DELETE', base + '/b/wide%20%C3%A4'), 404)
            self.assertEqual(self.names(base), ['a'])

    def test_who_may(self):
        self.put('/collections/other/layouts/o', {}, 201)
        self.put('/searches/s', {}, 201)
        self.put('/collections/lab/layouts/mine', {}, 201, 'limited')
        self.assertIn('mine', self.names('/collections/lab/layouts', 'limited'))
        for path in ('/collections/other/layouts', '/collections/other/layouts/o', '/searches/s'):
            self.assertProblem(self.ask('GET', path, role='limited'), 403, 'limited')
        self.assertEqual(self.names('/searches', 'limited'), [])
        for path in ('/collections/other/layouts/o', '/searches/s'):
            self.put(path, {}, 403, 'limited')
            self.put(path, {}, 403, 'read')
            self.assertProblem(self.ask('DELETE', path, role='limited'), 403)
        self.assertEqual(self.names('/collections/other/layouts'), ['o'])

    def test_what_is_refused(self):
        for path, body, status, word in (('/searches/x', {'value': 5}, 400, 'object'), ('/searches/x', {}, 400, 'value'), ('/searches/x', {'value': {}, 'y': 1}, 400, 'y'),
                                         ('/searches/', {'value': {}}, 400, 'name'), ('/searches/' + 256 * 'x', {'value': {}}, 400, '255'), ('/searches/a%0Ab', {'value': {}}, 400, 'control'),
                                         ('/searches/x', {'value': {'a': 'x' * (64 << 10)}}, 413, '65536'), ('/collections/none/layouts/x', {'value': {}}, 404, 'collection')):
            self.assertProblem(self.ask('PUT', path, body), status, word)
        self.assertNotIn('x', self.names('/searches'))

    def test_there_is_a_ceiling(self):
        self.ask('PATCH', '/collections/other', {'description': 'full'})
        for i in range(200 - len(self.names('/collections/other/layouts'))):
            self.put('/collections/other/layouts/n%d' % i, {}, 201)
        self.put('/collections/other/layouts/n0', {'again': 1})
        self.assertProblem(self.ask('PUT', '/collections/other/layouts/more', {'value': {}}), 413, '200')
        self.put('/collections/lab/layouts/still', {}, 201)
        for name in self.names('/collections/other/layouts'):
            self.assertEqual(self.ask('DELETE', '/collections/other/layouts/' + name).status, 204)

    def test_they_follow_a_renamed_collection(self):
        self.server.request('PUT', API + '/recordings/by-name/was/c.bag', bag(lab_messages(1, salt=2)), {'Authorization': 'Bearer ' + self.roles['edit']})
        self.put('/collections/was/layouts/kept', {'k': 1}, 201)
        self.assertEqual(self.ask('PATCH', '/collections/was', {'name': 'is'}, 'admin').status, 200)
        self.assertEqual((self.names('/collections/was/layouts'), self.names('/collections/is/layouts')), ([], ['kept']))
