"""Upload sessions belong to a principal: not to whoever later gets a token of the same name, nor to an admin of other collections."""
import json

from harness import API, Case, Server, create_token, in_a_folder, reel
from samples import bag, lab_messages

FILE = bag(lab_messages(1))
TUS = {'Tus-Resumable': '1.0.0'}


def token(server, role, name, *collections):
    more = [arg for collection in collections for arg in ('--collection', collection)]
    return {'Authorization': 'Bearer ' + create_token(server, role, name, *more)}


class RemadeToken(Case):
    @classmethod
    def fill(cls):
        cls.boss = token(cls.server, 'admin', 'boss')

    def ask(self, method, path, headers, body=None, **more):
        return self.server.request(method, path, body, {**TUS, **headers, **{k.replace('_', '-'): v for k, v in more.items()}})

    def start(self, headers, collection='secret', length=len(FILE), **more):
        return self.ask('POST', '%s/uploads?name=a.bag&collection=%s' % (API, collection), headers, Upload_Length=str(length), **more)

    def test_a_name_is_no_principal(self):
        old = token(self.server, 'upload', 'robot')
        path = self.start(old).headers['Location']
        more = {'Content_Type': 'application/offset+octet-stream', 'Upload_Offset': '0'}
        self.assertEqual(self.ask('PATCH', path, old, FILE[:100], **more).status, 204)
        first = self.ask('PUT', API + '/recordings/by-name/secret/b.bag', old, bag(lab_messages(2)), Idempotency_Key='k1')
        self.assertEqual(first.status, 201)
        self.assertEqual(self.start(old, Idempotency_Key='k2').status, 201)
        reel('token', 'revoke', 'robot', '--data', self.server.data)
        new = token(self.server, 'upload', 'robot', 'public')
        more['Upload_Offset'] = '100'
        self.assertEqual(self.ask('PATCH', path, new, FILE[100:], **more).status, 404)
        self.assertEqual(self.ask('HEAD', path, new).status, 404)
        self.assertEqual(self.ask('DELETE', path, new).status, 404)
        self.assertEqual(self.start(new, Idempotency_Key='k2').status, 403)
        again = self.ask('PUT', API + '/recordings/by-name/secret/b.bag', new, bag(lab_messages(2)), Idempotency_Key='k1')
        self.assertEqual(again.status, 403, again)
        self.assertEqual(self.ask('HEAD', path, self.boss).headers['Upload-Offset'], '100')

    def test_users_of_a_proxy_are_no_tokens(self):
        server = Server(None, '--trust-proxy', '127.0.0.1', '--proxy-user-header', 'X-User', '--proxy-role', 'upload')
        self.addCleanup(server.stop)
        robot = token(server, 'upload', 'robot')
        made = server.request('POST', API + '/uploads?name=a.bag&collection=lab', headers={**TUS, **robot, 'Upload-Length': '10'})
        path = made.headers['Location']
        self.assertEqual(server.request('HEAD', path, headers={**TUS, **robot}).status, 200)
        self.assertEqual(server.request('HEAD', path, headers={**TUS, 'X-User': 'robot'}).status, 404)

    def test_limited_admins(self):
        limited, robot = token(self.server, 'admin', 'lab-admin', 'lab*'), token(self.server, 'upload', 'robot2')
        secret, lab = self.start(robot).headers['Location'], self.start(robot, 'lab1').headers['Location']
        for method in ('HEAD', 'GET', 'DELETE'):
            self.assertEqual(self.ask(method, secret, limited).status, 404)
        self.assertEqual(json.loads(self.ask('GET', lab, limited).body)['options']['collection'], 'lab1')
        self.assertEqual(self.ask('DELETE', lab, limited).status, 204)
        self.assertEqual(self.ask('DELETE', secret, self.boss).status, 204)

    @in_a_folder
    def test_reserved_bytes_count(self):
        free = json.loads(self.ask('GET', API, self.boss).body)['free_bytes']
        robot = token(self.server, 'upload', 'robot3')
        made = self.start(robot, length=int(free * 0.6))
        self.assertEqual(made.status, 201, made)
        self.assertProblem(self.start(robot, length=int(free * 0.6)), 507, 'reserved')
        self.assertEqual(self.ask('DELETE', made.headers['Location'], robot).status, 204)
        made = self.start(robot, length=int(free * 0.6))
        self.assertEqual(made.status, 201, made)
        self.assertEqual(self.ask('DELETE', made.headers['Location'], robot).status, 204)

    def test_one_principal_cannot_open_them_all(self):
        robot, other = token(self.server, 'upload', 'robot4'), token(self.server, 'upload', 'robot5')
        made = [self.start(robot).status for _ in range(1001)]
        self.assertEqual((made[999], made[1000]), (201, 507))
        self.assertEqual(self.start(other).status, 201)
