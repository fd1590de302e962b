"""Definitions that are supplied at one server count at all others at once, and after a restart."""
import json

from cluster_store import Cluster
from harness import API
from test_definitions import BATTERY, mcap


class Definitions(Cluster):
    def test_each_server_uses_them(self):
        servers = [self.start() for _ in range(2)]
        id_ = servers[0].added('robot.mcap', mcap())
        path = '%s/recordings/%s/as/x.ndjson?topic=/battery' % (API, id_)

        def first(server):
            answer = server.get(path)
            row = json.loads(answer.body.splitlines()[0])
            self.assertIn('data', row, answer)
            return row['data']

        def source(server):
            return {t['name']: t.get('schema_source') for t in server.get('%s/recordings/%s' % (API, id_)).json()['topics']}['/battery']

        for turn in range(3):
            here, there = servers[turn % 2], servers[1 - turn % 2]
            self.assertEqual([source(s) for s in servers], [None, None])
            self.assertEqual(here.request('PUT', API + '/definitions/my_msgs/Battery', BATTERY).status, 201)
            self.assertEqual((source(there), first(there)['volts'], source(here), first(here)['volts']), ('supplied', 11, 'supplied', 11))
            self.assertEqual(len({s.get('%s/recordings/%s' % (API, id_)).headers['ETag'] for s in servers}), 1)
            self.assertEqual(first(self.start())['volts'], 11)
            self.assertEqual(there.request('DELETE', API + '/definitions/my_msgs/Battery').status, 204)
            self.assertIn('$base64', first(here))
            self.assertIn('$base64', first(there))
