"""Server-Timing of an upload shows whether its bytes had to be scanned: whether some collection has them already."""
import unittest

from harness import API, Server, create_token
from samples import bag, lab_messages


class Timing(unittest.TestCase):
    def test_who_sees_it(self):
        server = Server()
        self.addCleanup(server.stop)
        self.assertIn('total;dur=', server.get(API + '/recordings').headers['Server-Timing'])  # open: everybody is an admin
        for role, collections, seen in (('read', [], False), ('upload', [], False), ('edit', [], True), ('edit', ['--collection', 'lab'], False), ('admin', [], True)):
            token = {'Authorization': 'Bearer ' + create_token(server, role, role + ''.join(collections), *collections)}
            answers = [server.request('GET', API + '/recordings', headers=token), server.request('GET', API + '/nothing', headers=token)]
            if role != 'read':
                answers.append(server.request('PUT', API + '/recordings/by-name/lab/a.bag', bag(lab_messages(1)), token))
            self.assertEqual('Server-Timing' in answers[0].headers, seen, role)
            self.assertEqual('Server-Timing' in answers[-1].headers, seen, role)
            self.assertNotIn('Server-Timing', answers[1].headers)
