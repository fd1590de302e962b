"""web/openapi.yaml says what the program's table of routes says: the same paths, methods, roles, parameters and bodies, no more and no less."""
import json
import os
import re
import subprocess
import unittest

import yaml

from harness import REEL

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../web/openapi.yaml')
PLAIN = {'text': {'type': 'string'}, 'glob': {'$ref': '#/components/schemas/GlobText'}, 'uint': {'type': 'integer'}, 'int': {'type': 'integer'},
         'bool': {'type': 'boolean'}, 'time': {'$ref': '#/components/schemas/TimeText'}, 'time_ms': {'$ref': '#/components/schemas/TimeMsText'},
         'duration': {'$ref': '#/components/schemas/DurationText'}}
METHODS = ('get', 'head', 'post', 'put', 'patch', 'delete', 'options')


def resolve(document, node):
    while '$ref' in node:
        at = document
        for key in node['$ref'][2:].split('/'):
            at = at[key]
        node = at
    return node


def shape(document, schema):
    """(type, repeats, choices) of a query parameter, in the words of the table."""
    repeats = schema.get('type') == 'array'
    item = schema['items'] if repeats else schema
    for name, plain in PLAIN.items():
        if '$ref' in plain and item.get('$ref') == plain['$ref']:
            return name, repeats, []
    item = resolve(document, item)
    if 'enum' in item:
        return 'choice', repeats, item['enum']
    if item['type'] == 'integer':
        return ('uint' if item.get('minimum', -1) >= 0 else 'int'), repeats, []
    return {'string': 'text', 'boolean': 'bool'}[item['type']], repeats, []


class OpenApi(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        with open(DOCUMENT, encoding='utf-8') as file:
            cls.document = yaml.safe_load(file)
        told = json.loads(subprocess.run([REEL, 'routes'], check=True, capture_output=True).stdout)
        cls.everywhere = told['everywhere']
        cls.routes = {(r['method'], re.sub(r'\.\.\.\}', '}', r['path'])): r for r in told['routes']}
        cls.operations = {}
        for path, item in cls.document['paths'].items():
            for method in METHODS:
                if method in item:
                    cls.operations[method.upper(), path] = {**item[method], 'parameters': [
                        resolve(cls.document, p) for p in item.get('parameters', []) + item[method].get('parameters', [])]}

    def route_of(self, method, path):
        return self.routes.get((method, path)) or (self.routes.get(('GET', path)) if method == 'HEAD' else None)

    def test_every_route_is_in_the_document_and_nothing_else(self):
        self.assertEqual([], sorted(set(self.routes) - set(self.operations)), 'routes that the document does not have')
        self.assertEqual([], sorted(key for key in self.operations if not self.route_of(*key)), 'what no route answers')
        self.assertGreater(len(self.routes), 90)

    def test_roles_and_who_may_come_in(self):
        default, by_token = self.document['security'], [{'bearer': []}, {'basic': []}]
        self.assertIn({'linkSignature': [], 'linkExpiry': []}, default)
        for key, operation in self.operations.items():
            role, security = self.route_of(*key)['role'], operation.get('security', default)
            self.assertEqual(role, operation['x-role'], key)
            self.assertEqual([] if role == 'none' else default if key[0] in ('GET', 'HEAD') else by_token, security, key)

    def test_what_signs_a_link_is_taken_everywhere(self):
        schemes = self.document['components']['securitySchemes'].values()
        self.assertEqual(sorted(p['name'] for p in self.everywhere), sorted(s['name'] for s in schemes if s['type'] == 'apiKey' and s['in'] == 'query'))

    def test_names_in_paths(self):
        for (method, path), operation in self.operations.items():
            told = sorted(p['name'] for p in operation['parameters'] if p['in'] == 'path')
            self.assertEqual(sorted(re.findall(r'\{(\w+)\}', path)), told, (method, path))

    def test_parameters(self):
        for key, operation in self.operations.items():
            taken = {p['name']: (p['type'], p['repeats'], p['choices']) for p in self.route_of(*key)['params'] if p['name'] != '*'}
            told = {p['name']: shape(self.document, p['schema']) for p in operation['parameters'] if p['in'] == 'query'}
            self.assertEqual(taken, told, key)
            for p in operation['parameters']:
                self.assertTrue(p.get('description'), (key, p['name']))

    def test_bodies(self):
        for key, operation in self.operations.items():
            self.assertEqual(self.route_of(*key)['body'], 'requestBody' in operation, key)

    def test_errors_are_problems(self):
        for key, operation in self.operations.items():
            for status, answer in operation['responses'].items():
                answer = resolve(self.document, answer)
                if int(status) >= 400:
                    self.assertEqual({'$ref': '#/components/schemas/Problem'}, answer['content']['application/problem+json']['schema'], (key, status))
            if operation['x-role'] != 'none':
                self.assertLessEqual({'401', '403'}, set(operation['responses']), key)


if __name__ == '__main__':
    unittest.main()
