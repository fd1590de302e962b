"""Hostile bodies and arguments for /mcp: no call leaves its route, its limits or its caller's rights, and the server stays."""
import json

from harness import API, Case, create_token
from run_tests import release_only
from samples import bag, lab_messages
from test_access import Guarded
from test_mcp import body
from test_memory import MIB, resident

JSON = {'Content-Type': 'application/json'}


class Hostile(Case):
    @classmethod
    def fill(cls):
        cls.lab = cls.server.added('a.bag', bag(lab_messages(400)))

    def post(self, content, **headers):
        return self.server.request('POST', '/mcp', content if isinstance(content, bytes) else json.dumps(content).encode(), {**JSON, **headers})

    def call(self, tool, /, **arguments):
        return self.post(body('tools/call', {'name': tool, 'arguments': arguments}))

    def test_bodies(self):
        deep = json.dumps(body('tools/call', {'name': 'events', 'arguments': {}})).replace('{}', '{"q":' + '[' * 5000 + ']' * 5000 + '}').encode()
        for content in (b'\0', b'\xff' * 100, b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
                        b'{"jsonrpc":"2.0","id":1,"method":"ping\\u0000"}', deep, [body('ping')] * 1000, b'{' * 60000, b'1' * 65537):
            answer = self.post(content)
            self.assertIn(answer.status, (400, 413), repr(content)[:40])
            self.assertIn('error', answer.json())
        self.assertEqual(self.post(b' ' * (2 << 20)).status, 413)

    def test_no_argument_leaves_its_route(self):
        for value in ('../../tokens', 'x/../../tokens', '..', '.', '', 'x?purge=true', 'x#', 'x%2F..%2F..', 'name:a/b', 'x\r\nHost: y', '\x7f', 'x' * 60000):
            result = self.call('describe_recording', id=value).json()['result']
            self.assertTrue(result['isError'], value[:40])
            self.assertNotIn('"role"', json.dumps(result))
        for name in ('x&output=json', 'limit=1&follow', 'follow', 'output', 'sig', 'link', '__proto__', ''):
            self.assertTrue(self.call('messages', id=self.lab, **{name: 'true'}).json()['result']['isError'], name)
        self.assertTrue(self.call('search_recordings', tag=['a:b'] * 300).json()['result']['isError'])

    def test_answers_are_bounded(self):
        for tool, arguments in (('messages', {'limit': 10**18}), ('messages', {'limit': -1}), ('messages', {'limit': 1e300}), ('messages', {'limit': []}),
                                ('series', {'field': ['/odom.x', '/odom.y', '/odom.z'], 'max_points': 10**9}), ('describe_recording', {'kind': 'topics', 'limit': 10**9})):
            answer = self.call(tool, id=self.lab, **arguments)
            self.assertEqual(answer.status, 200, answer)
            self.assertLess(len(answer.body), 120000, (tool, arguments))
            self.assertFalse(answer.json()['result']['isError'], (tool, arguments))
        self.assertEqual(self.get('%s/recordings/%s' % (API, self.lab)).json()['name'], 'a.bag')

    @release_only
    def test_many_calls_hold_no_memory(self):
        before = resident(self.server.process.pid)
        for _ in range(300):
            self.call('messages', id=self.lab, limit=100)
        self.assertLess(resident(self.server.process.pid) - before, 32 * MIB)


class Rights(Guarded):
    def test_no_tool_reads_more_than_its_token(self):
        token = create_token(self.server, 'read', 'agent', '--collection', 'lab')
        tools = self.ask('POST', '/mcp', token, json.dumps(body('tools/list')), **JSON).json()['result']['tools']
        for tool in tools:
            for kind in tool['inputSchema']['properties'].get('kind', {}).get('enum', [None]):
                arguments = {'id': self.secret, 'recording': self.secret, 'topic': '/odom', 'field': ['/odom.x'], 'where': ['/odom.x>=0'], 'name': 'x.mcap', 'kind': kind}
                asked = {k: v for k, v in arguments.items() if k in tool['inputSchema']['properties'] and v is not None}
                with self.subTest(tool=tool['name'], kind=kind):
                    answer = self.ask('POST', '/mcp', token, json.dumps(body('tools/call', {'name': tool['name'], 'arguments': asked})), **JSON)
                    self.assertNotIn('b.bag', answer.body.decode())
                    self.assertTrue(answer.json()['result']['isError'] or self.secret not in answer.body.decode().replace('\\"', '"'))

    def test_a_link_opens_nothing(self):
        link = self.link('/api/v1/recordings/%s' % self.lab)
        key = link.split('?', 1)[1]
        self.assertEqual(self.ask('POST', '/mcp?' + key, None, json.dumps(body('tools/list')), **JSON).status, 401)

    def test_failed_log_ins_are_limited(self):
        statuses = [self.ask('POST', '/mcp', 'reel_wrong', json.dumps(body('ping')), **JSON).status for _ in range(14)]
        self.assertEqual((statuses[0], statuses[-1]), (401, 429))

    def test_export_links_are_audited(self):
        self.ask('POST', '/mcp', self.tokens['edit'], json.dumps(body('tools/call', {'name': 'export_link', 'arguments': {'id': self.lab, 'name': 'x.mcap'}})), **JSON)
        rows = self.ask('GET', API + '/audit', self.tokens['admin']).json()['items']
        self.assertTrue(any(r['path'] == '/mcp' and r['method'] == 'POST' for r in rows), rows[:3])
