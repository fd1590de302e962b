"""Sends the operations of the OpenAPI document to a server: each answer's status, media type and headers must be in the document. The values are kept
for openapi_check.mjs, and the operations that were sent, so that none is left out."""
import http.client
import json
import os
import re
import subprocess
import tempfile
import urllib.parse

from openapi_document import document

HERE = os.path.dirname(os.path.abspath(__file__))
# What any answer may carry (info.description), and what is HTTP's own.
EVERYWHERE = {'date', 'connection', 'content-type', 'content-length', 'transfer-encoding', 'content-encoding', 'vary', 'cache-control', 'server-timing',
              'x-request-id', 'idempotent-replayed', 'x-content-type-options', 'x-frame-options', 'x-accel-buffering', 'referrer-policy', 'content-security-policy',
              'cross-origin-opener-policy', 'permissions-policy', 'keep-alive'}
OF_DEPRECATED = {'deprecation', 'sunset', 'link'}


def escaped(key):
    return key.replace('~', '~0').replace('/', '~1')


def values_of(media, body):
    """The values that a body holds: one, or one a row or event."""
    if media == 'text/event-stream':
        return [json.loads(line[6:]) for line in body.splitlines() if line.startswith(b'data: ')]
    if media == 'application/json-seq':
        return [json.loads(row) for row in body.split(b'\x1e') if row]
    if media in ('application/x-ndjson', 'application/ndjson', 'application/jsonl'):
        return [json.loads(row) for row in body.split(b'\n') if row]
    return [json.loads(body)] if media.endswith('json') else []


class Asker:
    def __init__(self, server, token):
        self.document = document()
        self.server, self.token = server, token
        self.values, self.wrong, self.asked = [], [], set()

    def resolve(self, node, pointer):
        while '$ref' in node:
            pointer, node = node['$ref'], self.document
            for key in pointer[2:].split('/'):
                node = node[key]
        return node, pointer

    def ask(self, method, template, query='', status=200, body=None, token=True, **headers):
        """{names} of the template come from `headers` that are called like them, all others are headers: If_Match."""
        names = re.findall(r'\{(\w+)\}', template)
        path = re.sub(r'\{(\w+)\}', lambda m: urllib.parse.quote(str(headers[m.group(1)]), safe=''), template)
        sent = {k.replace('_', '-'): v for k, v in headers.items() if k not in names}
        if token and self.token:
            sent['Authorization'] = 'Bearer ' + self.token
        if isinstance(body, dict):
            body = json.dumps(body)
        answer = self.server.request(method, path + query, body, sent)
        if answer.status != status:
            raise AssertionError('%s %s%s: %r' % (method, path, query, answer))
        self.hold(method, template, answer, path + query)
        return answer

    def hold(self, method, template, answer, where):
        where = '%s %s (%d)' % (method, where, answer.status)
        operation = self.document['paths'][template][method.lower()]
        responses = operation['responses']
        pointer = '#/paths/%s/%s/responses/%d' % (escaped(template), method.lower(), answer.status)
        if str(answer.status) not in responses:
            self.wrong.append('%s: this status is not in the document' % where)
            return
        self.asked.add((method, template, answer.status < 400))
        response, pointer = self.resolve(responses[str(answer.status)], pointer)
        documented = {name.lower() for name in response.get('headers', {})}
        if any(p.get('deprecated') and p['name'] + '=' in where for p in operation['parameters']):
            documented |= OF_DEPRECATED
        self.wrong += ['%s: the header %s is not in the document' % (where, name) for name in answer.headers if name.lower() not in documented | EVERYWHERE]
        if answer.body:
            self.hold_body(response, pointer, answer, where)

    def hold_body(self, response, pointer, answer, where):
        media = answer.headers.get_content_type()
        documented = response.get('content', {})
        if media not in documented and '*/*' not in documented:
            self.wrong.append('%s: %s is not in the document' % (where, media))
            return
        key = media if media in documented else '*/*'
        if 'schema' in documented[key]:
            pointer_to_schema = '%s/content/%s/%s' % (pointer, escaped(key), 'x-item-schema' if 'x-item-schema' in documented[key] else 'schema')
            self.values += [{'where': where, 'pointer': pointer_to_schema, 'value': value} for value in values_of(media, answer.body)]

    def listen(self, template, query, events):
        """The first events of a stream that does not end."""
        connection = http.client.HTTPConnection('127.0.0.1', self.server.port, timeout=60)
        try:
            connection.request('GET', template + query, headers={'Accept': 'text/event-stream', 'Authorization': 'Bearer ' + self.token})
            answer = connection.getresponse()
            answer.body = b''
            while answer.body.count(b'\n\n') < events + 1:  # the first is the greeting
                answer.body += answer.readline()
            self.hold('GET', template, answer, template + query)
        finally:
            connection.close()

    def check(self, values):
        """What ajv finds wrong."""
        with tempfile.TemporaryDirectory() as folder:
            names = [os.path.join(folder, name) for name in ('document.json', 'values.json')]
            for name, content in zip(names, (self.document, values)):
                with open(name, 'w', encoding='utf-8') as file:
                    json.dump(content, file, default=str)
            done = subprocess.run(['node', os.path.join(HERE, 'openapi_check.mjs'), *names], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        if done.returncode != 0:
            raise AssertionError(done.stderr.decode())
        return json.loads(done.stdout)
