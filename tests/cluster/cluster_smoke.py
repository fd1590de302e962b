"""The tests of a cluster that every run has: an upload that goes from server to server, servers that are killed, everything read at each."""
import json
import signal
import threading
from http.client import HTTPConnection

from cluster_store import BIG, BYTES, TUS, Cluster
from harness import API, eventually
from samples import bag, lab_messages


class Smoke(Cluster):
    def test_an_upload_goes_from_server_to_server(self):
        servers = [self.start() for _ in range(3)]
        self.upload_by_turns(servers, BIG, 'big.bag', 3333333)
        small = bag(lab_messages(2, salt=9))
        self.upload_by_turns(servers, small, 'small.bag', 1000)
        for server in servers:
            self.check_file(server, 'big.bag', BIG)
            self.check_file(server, 'small.bag', small)
        rows = [s.get('%s/recordings/%s/messages?limit=5' % (API, self.check_file(s, 'small.bag', small))).body for s in servers]
        self.assertEqual(len(set(rows)), 1)
        self.assertEqual((len(self.keys('objects')), len(self.keys('packs')), len(self.keys('manifests')), self.keys('incoming')), (2, 2, 2, []))
        self.assertEqual([k for k in self.s3.uploads(self.bucket) if k.startswith(self.prefix)], [])

    def test_a_killed_server_loses_nothing_that_was_acknowledged(self):
        servers = [self.start() for _ in range(2)]
        path = self.create(servers[0], len(BIG), 'big.bag')
        at, turn = 0, 0
        while at < len(BIG):
            one = servers[turn % 2]
            connection = HTTPConnection('127.0.0.1', one.port, timeout=30)
            kill = threading.Timer(0.05 + 0.03 * turn, one.process.send_signal, (signal.SIGKILL,)) if turn < 4 else None
            if kill:
                kill.start()
            try:
                connection.request('PATCH', path, BIG[at:], {**BYTES, 'Upload-Offset': str(at)})
                connection.getresponse().read()
            except OSError:
                pass
            if kill:
                kill.join()
                one.process.wait()
                one.stop(None)
                servers[turn % 2] = self.start(data=one.data)
            turn += 1
            found = eventually(lambda: servers[turn % 2].request('HEAD', path, headers=TUS).headers.get('Upload-Offset'))
            self.assertGreaterEqual(int(found), at)  # what was said before still holds
            at = int(found)
        for server in servers:
            self.check_file(server, 'big.bag', BIG)

    def test_a_revoked_token_ends_at_every_server(self):
        servers = [self.start() for _ in range(2)]
        boss = {'Content-Type': 'application/json'}
        for turn in range(10):
            made = servers[turn % 2].request('POST', API + '/tokens', json.dumps({'name': 'robot%d' % turn, 'role': 'read' if turn else 'admin'}), boss)
            self.assertEqual(made.status, 201, made)
            token = {'Authorization': 'Bearer ' + made.json()['token']}
            if turn == 0:
                boss.update(token)  # from now on one is needed
                continue
            for server in servers * 2:
                self.assertEqual(server.request('GET', API + '/recordings', headers=token).status, 200)
            self.assertEqual(servers[turn // 2 % 2].request('DELETE', API + '/tokens/robot%d' % turn, headers=boss).status, 204)
            for server in servers:
                self.assertEqual(server.request('GET', API + '/recordings', headers=token).status, 401)
