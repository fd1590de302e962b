"""The OpenAPI document: generated from the route table, complete, and in sentences; and an explanation of every problem type."""
import json
import os
import re
import subprocess
import unittest

from harness import REEL, Case
from openapi_document import document

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..')
METHODS = ('get', 'head', 'post', 'put', 'patch', 'delete', 'options')


def sentence(text):
    """At least two words and a full stop, and none of the pronouns that explained nothing: "It", "Of the note"."""
    return bool(re.fullmatch(r'(?!(It|They|Of|This)\b)\S+ .*[.…*)]', text, re.S))


class OpenApi(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.document = document()
        table = json.loads(subprocess.run([REEL, 'routes'], check=True, stdout=subprocess.PIPE).stdout)
        cls.everywhere = table['everywhere']
        cls.routes = {(r['method'], re.sub(r'\.\.\.\}', '}', r['path'])): r for r in table['routes']}
        cls.operations = {}
        for path, item in cls.document['paths'].items():
            for method in METHODS:
                if method in item:
                    cls.operations[method.upper(), path] = {**item[method], 'parameters': [
                        cls.resolve(p) for p in item.get('parameters', []) + item[method]['parameters']]}

    @classmethod
    def resolve(cls, node):
        while '$ref' in node:
            at = cls.document
            for key in node['$ref'][2:].split('/'):
                at = at[key]
            node = at
        return node

    def test_every_route_is_in_the_document(self):
        aliases = {('GET', '/grafana/')}  # the same as without the slash
        self.assertEqual(set(self.routes) - aliases, {key for key in self.operations if key[0] != 'HEAD'})
        self.assertGreater(len(self.routes), 90)

    def test_every_reference_leads_somewhere_and_nothing_is_unused(self):
        found = set(re.findall(r'"#/components/(\w+)/([\w.-]+)"', json.dumps(self.document)))
        have = {(section, name) for section, members in self.document['components'].items() if section != 'securitySchemes' for name in members}
        self.assertEqual([], sorted(found - have), 'missing')
        self.assertEqual([], sorted(have - found), 'unused')

    def test_operation_ids_and_tags(self):
        ids = [o['operationId'] for o in self.operations.values()]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual({t['name'] for t in self.document['tags']}, {t for o in self.operations.values() for t in o['tags']})

    def test_roles_and_credentials(self):
        default, by_token = self.document['security'], [{'bearer': []}, {'basic': []}, {'login': []}]
        self.assertIn({'linkSignature': [], 'linkExpiry': []}, default)
        for key, operation in self.operations.items():
            role = (self.routes.get(key) or self.routes['GET', key[1]])['role']
            self.assertEqual(role, operation['x-role'], key)
            self.assertEqual([] if role == 'none' else default if key[0] in ('GET', 'HEAD') else by_token, operation.get('security', default), key)

    def test_signed_links_are_accepted_everywhere(self):
        schemes = self.document['components']['securitySchemes'].values()
        self.assertEqual(sorted(p['name'] for p in self.everywhere), sorted(s['name'] for s in schemes if s['type'] == 'apiKey' and s['in'] == 'query'))

    def test_parameters(self):
        for key, operation in self.operations.items():
            route = self.routes.get(key) or self.routes['GET', key[1]]
            query = [p for p in operation['parameters'] if p['in'] == 'query']
            self.assertEqual([p['name'] for p in route['params'] if p['name'] != '*'], [p['name'] for p in query], key)
            self.assertEqual(len(query), len({p['name'] for p in query}), key)  # an option of a writer may not hide another parameter
            self.assertEqual(re.findall(r'\{(\w+)\}', key[1]), [p['name'] for p in operation['parameters'] if p['in'] == 'path'], key)
            for given, p in zip([p for p in route['params'] if p['name'] != '*'], query):
                self.assertEqual(given['repeats'], p['schema'].get('type') == 'array', (key, p['name']))
                one = p['schema'].get('items', p['schema'])
                self.assertEqual(given['choices'], one.get('enum', []), (key, p['name']))

    def test_recordings_tar_has_one_output(self):
        names = {p['name'] for p in self.operations['GET', '/api/v1/recordings.tar']['parameters']}
        self.assertEqual(set(), names & {'output', 'count'})
        self.assertLessEqual({'q', 'sort', 'limit'}, names)

    def test_everything_is_explained_in_a_sentence(self):
        texts = []
        for key, operation in self.operations.items():
            texts += [(key, operation['summary']), (key, operation['description'])]
            texts += [(key, p['name'], p['description']) for p in operation['parameters']]
            texts += [(key, status, self.resolve(answer)['description']) for status, answer in operation['responses'].items()]
        self.assertEqual([], [text for text in texts if not sentence(text[-1])])

    def test_bodies(self):
        for key, operation in self.operations.items():
            self.assertEqual(self.routes.get(key, {'body': False})['body'], 'requestBody' in operation, key)

    def test_errors_are_problems(self):
        for key, operation in self.operations.items():
            for status, answer in operation['responses'].items():
                answer = self.resolve(answer)
                if int(status) >= 400:  # every operation may refuse its parameters
                    self.assertEqual({'$ref': '#/components/schemas/Problem'}, answer['content']['application/problem+json']['schema'], (key, status))
            self.assertIn('400', operation['responses'], key)
            if operation['x-role'] != 'none':
                self.assertLessEqual({'401', '403'}, set(operation['responses']), key)


class ProblemTypes(Case):
    def table(self):
        """The types of the table in service.c; tests/lint/problems.py sees to it that the server sends no others."""
        with open(os.path.join(ROOT, 'server/api/service/service.c'), encoding='utf-8') as file:
            return re.findall(r'^    \{"([a-z-]+)", ', file.read().split('problems[] = {')[1], re.M)

    def test_each_type_is_explained_to_programs_and_people(self):
        types = self.table()
        self.assertGreater(len(types), 50)
        for slug in types:
            path = '/problems/' + slug
            explained = self.get(path, Accept='application/json').json()
            self.assertEqual(explained.pop('type'), path)
            self.assertEqual([], [text for text in explained.values() if not text.endswith('.')])
            text = self.get(path)
            self.assertEqual((text.headers.get_content_type(), text.body.decode().splitlines()), ('text/plain', [explained[k] for k in ('what', 'why', 'remedy')]))
            page = self.get(path, Accept='text/html,application/xhtml+xml,*/*;q=0.8')
            self.assertEqual(page.headers.get_content_type(), 'text/html')
            for part in explained.values():
                self.assertIn('>%s<' % part, page.body.decode())
        self.assertEqual(self.server.get('/problems/busy', Accept='image/png').status, 200)
        self.assertProblem(self.server.get('/problems/none'), 404, 'none')

    def test_the_type_of_an_answer_leads_to_its_explanation(self):
        problem = self.server.get('/api/v1/recordings?nonsense=1').json()
        self.assertIn('query parameter', self.get(problem['type'], Accept='application/json').json()['what'])


if __name__ == '__main__':
    unittest.main()
