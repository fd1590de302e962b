"""A link signed while anybody could sign still opens the archive after access control is on."""
import json
import unittest

from harness import API, Server


class Links(unittest.TestCase):
    def serve(self, *args):
        server = Server(None, *args)
        self.addCleanup(server.stop)
        return server

    def sign(self, server, **headers):
        return server.request('POST', API + '/links', json.dumps({'path': API + '/recordings', 'expires': '300d'}), headers)

    def test_an_open_server_signs_nothing(self):
        answer = self.sign(self.serve())
        self.assertEqual(answer.status, 409, answer)
        self.assertIn('without tokens', answer.json()['detail'])

    def test_a_proxys_user_signs_nothing_unless_admin(self):
        for role, status in (('read', 409), ('edit', 409), ('admin', 201)):
            server = self.serve('--trust-proxy', '127.0.0.1', '--proxy-user-header', 'X-User', '--proxy-role', role)
            answer = self.sign(server, **{'X-User': 'alice'})
            self.assertEqual(answer.status, status, answer)
        self.assertEqual(server.get(answer.json()['url']).status, 200)
