"""Live recordings and playbacks belong to one server; every server answers for them, and says which one is needed when that one is away."""
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from http.client import HTTPConnection, HTTPException

from cluster_store import BIG, Cluster
from harness import API, REEL, eventually
from samples import bag, lab_messages
from test_live import Following, Live, row


class CutOff(Following):
    """Its answer does not end as it should."""

    def run(self):
        try:
            super().run()
        except (AttributeError, OSError, HTTPException):  # the library's own for a chunk that does not come
            pass


class Elsewhere(Cluster):
    def start_several(self, n, *args):
        return [self.start(*args) for _ in range(n)]

    def at(self, live, server):
        live.server = server
        return live

    def id_of(self, server):
        with open(os.path.join(server.data, 'server-id')) as f:
            return f.read().strip()

    def sql(self, text):
        subprocess.run(['psql', '-qAt', '-v', 'ON_ERROR_STOP=1', self.database, '-c', text], stdout=subprocess.DEVNULL, check=True)

    def check_away(self, answer, owner, *words):
        self.assertEqual((answer.status, answer.json()['type']), (503, '/problems/other-server'), answer)
        self.assertGreater(int(answer.headers['Retry-After']), 0)
        for word in (owner, *words):
            self.assertIn(word, answer.json()['detail'])


    def check_cut_off(self, follower, server):
        """Its answer, of `server`, does not look complete."""
        follower.join(60)
        self.assertFalse(follower.is_alive())
        self.assertTrue(eventually(lambda: any('cut=true' in line and '/messages' in line for line in server.log_text().splitlines())), server.log_text())


class Everywhere(Elsewhere):
    def test_appended_followed_and_finished_at_any_server(self):
        servers = self.start_several(3)
        live = Live(servers[0])
        live.appended([row('/a', 0)])
        followers = [Following(s, live.path('/messages?follow=true'), Prefer='wait=5') for s in servers]
        events = Following(servers[1], live.path('/messages?follow=true&topic=/b'), Accept='text/event-stream')
        for i in range(1, 31):
            self.at(live, servers[i % 3]).appended([row('/a', i)] * (i % 2) + [row('/b', i)], Idempotency_Key='k%d' % i)
            again = self.at(live, servers[(i + 1) % 3]).appended([row('/a', i)] * (i % 2) + [row('/b', i)], Idempotency_Key='k%d' % i)
            self.assertTrue(again['repeated'])
        big = [row('/big', i, data={'x': i, 'text': 'y' * 1000}) for i in range(4000)]  # more than any buffer on the way
        self.at(live, servers[1]).appended(big)
        wanted = [0, 1] + list(range(2, 31))
        for server in servers:
            self.assertEqual(self.at(live, server).numbers('?topic=/b'), wanted[1:])
            self.assertEqual(live.row()['messages'], 1 + 15 + 30 + 4000)
            self.assertEqual(live.numbers('?topic=/big'), list(range(4000)))
            whole = server.get(live.path('/as/now.mcap'))
            self.assertEqual(server.request('HEAD', live.path('/as/now.mcap')).headers['Content-Length'], str(len(whole.body)))
            part = server.get(live.path('/as/now.mcap'), Range='bytes=100-199', If_Range=whole.headers['ETag'])
            self.assertEqual((part.status, part.body), (206, whole.body[100:200]))
            self.assertEqual(server.get(live.path('/as/now.mcap'), If_None_Match=whole.headers['ETag']).status, 304)
        self.assertEqual(servers[2].request('PATCH', live.path(), json.dumps({'description': 'by another'}), {'Content-Type': 'application/json'}).status, 200)
        self.assertEqual(self.at(live, servers[0]).row()['description'], 'by another')
        self.check_questions_about_several(servers, live)
        for server in servers:
            listed, = server.get(API + '/recordings?state=recording').json()['items']
            self.assertEqual(listed['id'], live.id)
        self.assertProblem(self.at(live, servers[1]).append('x'), 400, 'row 1')
        self.assertEqual(self.at(live, servers[2]).finish()['state'], 'ready')
        for f in followers + [events]:
            f.join(20)
            self.assertTrue(f.ended)
        for f in followers:
            self.assertEqual(len(f.numbers()), 1 + 15 + 30 + 4000)
        self.assertEqual(sum(line.startswith(b'data: {"topic"') for line in events.lines), 30)
        for server in servers:
            self.assertTrue(eventually(lambda: self.at(live, server).row()['state'] == 'ready'))
            self.assertEqual(live.numbers('?topic=/b'), wanted[1:])
            self.assertEqual(live.finish()['state'], 'ready')
            self.assertEqual(live.append([row('/a', 99)]).status, 409)

    def check_questions_about_several(self, servers, live):
        stored, its = servers[1].added('a.bag', bag(lab_messages(1, salt=4))), Live(servers[1], 'of-another')
        its.appended([row('/c', 1)])
        merge = lambda server, *ids: server.get('%s/merge/as/m.mcap?topic=/b&topic=/c&%s' % (API, '&'.join('recording=' + i for i in ids)))
        bodies = {merge(s, live.id, stored).body for s in servers}
        self.assertEqual((len(bodies), bodies.pop()[:8]), (1, b'\x89MCAP0\r\n'))
        for server in servers:  # the files of two servers
            answer = merge(server, live.id, its.id)
            self.assertEqual((answer.status, answer.json()['type']), (503, '/problems/other-server'), answer)
            asked = {'range': {'from': '2000-01-01T00:00:00Z', 'to': '2040-01-01T00:00:00Z'}, 'targets': [{'target': i + ':/b.x'} for i in (stored, live.id)]}
            panel = server.request('POST', '/grafana/query', json.dumps(asked), {'Content-Type': 'application/json'})
            self.assertEqual(panel.status, 200, panel)
            self.assertEqual([p[0] for s in panel.json() if live.id in str(s) or 'run' in str(s.get('target')) for p in s['datapoints']], list(range(1, 31)), panel)
        self.assertEqual(its.finish()['state'], 'ready')

    def assertProblem(self, answer, status, text):
        self.assertEqual(answer.status, status, answer)
        self.assertIn(text, answer.json()['detail'])

    def test_a_client_that_leaves_ends_it_at_both_servers(self):
        servers = self.start_several(2)
        live = Live(servers[0])
        live.appended([row('/a', 1)])
        follower = CutOff(servers[1], live.path('/messages?follow=true'))
        running = lambda s: int(next(line.split()[1] for line in s.get('/metrics').body.decode().splitlines() if line.startswith('reel_http_connections ')))
        self.assertTrue(eventually(lambda: follower.numbers() == [1]))
        before = running(servers[0])
        follower.connection.sock.shutdown(2)
        follower.connection.close()
        self.assertTrue(eventually(lambda: running(servers[0]) < before))

    def test_playbacks(self):
        servers = self.start_several(2)
        ident = servers[0].added('a.bag', bag(lab_messages(5, salt=3)))
        play = Following(servers[0], '%s/recordings/%s/play?paused=true' % (API, ident))
        path = '%s/plays/%s' % (API, play.answer.headers['X-Play'])
        for server in servers:
            self.assertTrue(server.get(path).json()['paused'])
        self.assertEqual(servers[1].request('PATCH', path, '{"speed": "max", "paused": false}', {'Content-Type': 'application/json'}).status, 200)
        play.join(20)
        self.assertTrue(play.ended)
        for server in servers:
            self.assertEqual(server.get(path).status, 404)
            self.assertEqual(server.get(path[:-1] + 'z').status, 404)

    def test_purged_at_another_server(self):
        servers = self.start_several(2)
        live = Live(servers[0])
        live.appended([row('/a', 1)])
        self.assertEqual(servers[1].request('DELETE', live.path()).status, 409)
        self.assertEqual(servers[1].request('DELETE', live.path('?purge=true')).status, 204)
        self.assertTrue(eventually(lambda: os.listdir(os.path.join(servers[0].data, 'live')) == []))  # the thread that looks after it may have it open
        for server in servers:
            self.assertEqual(server.get(live.path()).status, 404)


    def test_idempotency_keys_hold_everywhere(self):
        servers = self.start_several(2)
        key = {'Idempotency-Key': '1'}
        one = servers[0].added('keys.bag', bag(lab_messages(2, salt=19)))
        notes = '%s/recordings/%s/notes' % (API, one)
        for i, repeated in (0, None), (1, 'true'), (0, 'true'):
            answer = servers[i].request('POST', notes, '{"text": "seen"}', key)
            self.assertEqual((answer.status, answer.headers['Idempotent-Replayed']), (201, repeated))
        self.assertEqual(servers[1].request('POST', notes, '{"text": "other"}', key).status, 422)
        answers = []  # at the same time, at both

        def put(server):
            answers.append(server.request('PUT', API + '/recordings/by-name/lab/both.bag', BIG, key))
        threads = [threading.Thread(target=put, args=(s,)) for s in servers]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(sorted((a.status, a.headers['Idempotent-Replayed'] or '') for a in answers), [(201, ''), (201, 'true')])
        self.assertEqual(answers[0].body, answers[1].body)
        live = Live(servers[0])  # forwarded by the other, which looks the key up and does not store it
        live.appended([row('/a', 1)])
        finish = live.path('/finish')
        for i, repeated in (1, None), (0, 'true'), (1, 'true'):
            answer = servers[i].request('POST', finish, headers=key)
            self.assertEqual((answer.status, answer.headers['Idempotent-Replayed']), (200, repeated), answer)


class Away(Elsewhere):
    def test_a_killed_owner(self):
        owner, other = self.start_several(2)
        live = Live(owner)
        for i in range(20):
            self.at(live, (owner, other)[i % 2]).appended([row('/a', i)], Idempotency_Key=str(i))
        follower = CutOff(other, live.path('/messages?follow=true'))
        self.assertTrue(eventually(lambda: follower.numbers() == list(range(20))))
        ident = self.id_of(owner)
        owner.process.kill()
        owner.process.wait()
        owner.stop(None)
        self.check_cut_off(follower, other)
        self.at(live, other)
        self.check_away(live.append([row('/a', 20)]), ident, 'cannot be reached')
        self.check_away(other.get(live.path('/messages')), ident, 'cannot be reached')
        self.check_away(other.request('POST', live.path('/finish')), ident)
        self.assertEqual([r['id'] for r in other.get(API + '/recordings?state=recording').json()['items']], [live.id])
        self.sql('UPDATE servers SET beat_ns = beat_ns - 60000000000')  # it is known to be silent
        self.assertTrue(eventually(lambda: other.get(live.path('/messages')).json()['detail'].endswith('s') and 'sign of life' in other.get(live.path('/messages')).json()['detail']))
        self.assertEqual((live.row()['state'], live.row()['id']), ('recording', live.id))  # as it was saved
        owner = self.start(data=owner.data)  # on another port
        for i in range(20, 30):
            self.at(live, (owner, other)[i % 2]).appended([row('/a', i)], Idempotency_Key=str(i))
        self.assertEqual(self.at(live, other).finish()['messages'], 30)
        self.assertEqual(live.numbers(), list(range(30)))

    def test_an_owner_that_hangs(self):
        owner, other = self.start_several(2)
        live = Live(owner)
        live.appended([row('/a', 1)])
        follower = CutOff(other, live.path('/messages?follow=true'))
        ident = self.id_of(owner)
        os.kill(owner.process.pid, signal.SIGSTOP)
        try:
            self.at(live, other)
            begun = time.monotonic()
            self.check_away(live.append([row('/a', 2)]), ident, 'has not answered')
            self.assertLess(time.monotonic() - begun, 20)
            self.check_cut_off(follower, other)
            begun = time.monotonic()
            self.check_away(live.append([row('/a', 2)]), ident, 'sign of life')
            self.assertLess(time.monotonic() - begun, 2)
        finally:
            os.kill(owner.process.pid, signal.SIGCONT)
        self.assertTrue(eventually(lambda: live.append([row('/a', 3)]).status == 200))
        self.assertEqual(live.numbers()[-1], 3)

    def test_an_owner_that_is_gone_and_comes_back(self):
        back, never, other = self.start_several(3)
        kept, lost = Live(back, 'kept'), Live(never, 'lost')
        for live in (kept, lost):
            live.appended([row('/a', 1)])
        for server in (back, never):
            server.process.kill()
            server.process.wait()
            server.stop(None)
        shutil.rmtree(never.data)
        self.sql("UPDATE servers SET beat_ns = beat_ns - 7200000000000 WHERE id <> '%s'" % self.id_of(other))
        for live in (kept, lost):
            self.at(live, other)
            self.assertTrue(eventually(lambda: live.row()['state'] == 'missing'))
            self.assertEqual(live.append([row('/a', 2)]).status, 409)
            self.assertEqual(other.get(live.path('/messages')).status, 410)
        self.assertIn(self.id_of(back), kept.row()['problem'])
        back = self.start(data=back.data)
        self.assertTrue(eventually(lambda: kept.row()['state'] == 'recording'))
        self.assertEqual(kept.row()['problem'], None)
        kept.appended([row('/a', 2)])
        self.assertEqual((kept.numbers(), kept.finish()['state'], kept.numbers()), ([1, 2], 'ready', [1, 2]))
        os.makedirs(never.data)
        self.assertEqual(other.request('DELETE', lost.path('?purge=true')).status, 204)

    def test_a_server_that_was_given_up_while_it_ran(self):
        owner, other = self.start_several(2)
        live = Live(owner)
        live.appended([row('/a', 1)])
        self.assertTrue(eventually(lambda: other.get(API + '/recordings?state=recording&min_messages=1').json()['items']))
        self.sql("UPDATE recordings SET state = 3, problem = 'given up'")
        owner.request('POST', live.path('/messages'), json.dumps(row('/a', 2)), {'Content-Type': 'application/json'})
        self.assertTrue(eventually(lambda: self.at(live, other).row()['state'] == 'recording'))
        self.assertEqual(live.numbers(), [1, 2])


class Safe(Elsewhere):
    def audit(self, server, token):
        rows = server.get(API + '/audit?limit=50', Authorization='Bearer ' + token).json()['items']
        return [(r['caller'], r['address'] if 'address' in r else r['peer']) for r in rows if r['path'].endswith('/messages')]

    def token(self, server, role, *more):
        done = subprocess.run([REEL, 'token', 'create', '--role', role, '--name', role, '--data', server.data, *more], stdout=subprocess.PIPE, check=True)
        return done.stdout.decode().split()[-1]

    def test_the_rights_and_the_address_of_the_client_count(self):
        owner, other = self.start_several(2, '--trust-proxy', '127.0.0.1')
        admin, upload, read = (self.token(owner, role) for role in ('admin', 'upload', 'read'))
        narrow = subprocess.run([REEL, 'token', 'create', '--role', 'upload', '--name', 'narrow', '--collection', 'none', '--data', owner.data],
                                stdout=subprocess.PIPE, check=True).stdout.decode().split()[-1]
        answer = owner.request('POST', API + '/recordings?live=true&name=a&collection=lab', headers={'Authorization': 'Bearer ' + admin})
        self.assertEqual(answer.status, 201, answer)
        path = '%s/recordings/%s/messages' % (API, answer.json()['id'])
        append = lambda token, **more: other.request('POST', path, json.dumps(row('/a', 1)), {'Content-Type': 'application/json', **({'Authorization': 'Bearer ' + token} if token else {}), **more})
        self.assertEqual([append(t).status for t in (None, read, narrow, upload)], [401, 403, 404, 200])
        self.assertEqual(append(upload, **{'X-Forwarded-For': '203.0.113.9'}).status, 200)
        self.assertTrue(eventually(lambda: sorted(a for a in self.audit(owner, admin) if a[0] == 'upload') == [('upload', '127.0.0.1'), ('upload', '203.0.113.9')]),
                        self.audit(owner, admin))  # each once
        link = owner.request('POST', API + '/links', json.dumps({'path': path}), {'Content-Type': 'application/json', 'Authorization': 'Bearer ' + admin})
        signed = link.json()['url']
        self.assertEqual(other.get(signed[signed.index('/api'):]).status, 200)

    def test_the_header_of_servers_from_outside(self):
        owner, other = self.start_several(2)
        live = Live(owner)
        live.appended([row('/a', 1)])
        for value in ('x', '', '%d 203.0.113.7 %s' % (time.time(), 'A' * 43), '1 127.0.0.1 ' + 'A' * 43, '%d 127.0.0.1 ' % time.time(), '9' * 40 + ' ::1 ' + 'A' * 43, '-' + '9' * 40 + ' ::1 ' + 'A' * 43):
            for server in (owner, other):
                answer = server.get(live.path(), X_Reel_Passed=value)
                self.assertEqual((answer.status, answer.json()['type']), (421, '/problems/not-passed-on'), value)
        raw = other.raw(b'GET %s HTTP/1.1\r\nHost: localhost\r\nX-Reel-Passed: a\r\nX-Reel-Passed: b\r\nConnection: close\r\n\r\n' % live.path().encode())
        self.assertIn(b' 421 ', raw.split(b'\r\n')[0])

    def test_what_one_server_sends_is_good_for_that_request_only(self):
        owner, other = self.start_several(2)
        live = Live(owner)
        live.appended([row('/a', 1)])
        seen = self.listen_instead_of(owner, other, live)
        name, value = next((k, v) for k, v in seen if k.lower() == 'x-reel-passed')
        headers = {k: v for k, v in seen if k.lower() not in ('host', name.lower())}
        host = dict(seen)['Host']
        ask = lambda server, path, more: self.raw_get(server, path, [('Host', host), *headers.items(), *more, (name, value)])
        self.assertEqual(ask(owner, live.path('/messages?limit=1'), []), 200)  # the same again, for a minute
        self.assertEqual(ask(other, live.path('/messages?limit=1'), []), 421)
        self.assertEqual(ask(owner, live.path('/messages?limit=2'), []), 421)
        self.assertEqual(ask(owner, live.path('/messages?limit=1'), [('X-Remote-User', 'root')]), 421)

    def test_servers_that_speak_tls(self):
        folder = self.folder()
        cert, key = os.path.join(folder, 'cert.pem'), os.path.join(folder, 'key.pem')
        for name in ('127.0.0.1', '127.0.0.9'):  # the second is no address of the first server
            subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=reel', '-addext',
                            'subjectAltName=IP:' + name, '-keyout', key, '-out', cert], check=True, stderr=subprocess.DEVNULL)
            servers = self.start_several(2, '--tls-cert', cert, '--tls-key', key)
            ask = lambda server, *more: json.loads(subprocess.run(['curl', '-sk', *more[1:], server.base + API + more[0]], stdout=subprocess.PIPE, check=True).stdout)
            live = '/recordings/%s/messages' % ask(servers[0], '/recordings?live=true&name=%s&collection=lab' % name, '-X', 'POST')['id']
            answers = [ask(s, live, '-H', 'Content-Type: application/json', '-d', json.dumps(row('/a', 1))) for s in servers]
            self.assertEqual([a.get('appended', a.get('status')) for a in answers], [1, 1 if name == '127.0.0.1' else 503], answers)
            for server in servers:
                server.stop()
                self.servers.remove(server)

    def listen_instead_of(self, owner, other, live):
        """The headers that `other` passes on to `owner`, which gets them, too late."""
        import socket
        with socket.create_server(('127.0.0.1', 0)) as listener:
            listener.settimeout(20)
            self.sql("UPDATE servers SET address = 'http://127.0.0.1:%d' WHERE id = '%s'" % (listener.getsockname()[1], self.id_of(owner)))
            connection = HTTPConnection('127.0.0.1', other.port, timeout=30)
            connection.request('GET', live.path('/messages?limit=1'), headers={'X-Empty': '', 'Accept-Encoding': 'gzip'})
            with listener.accept()[0] as s:
                got = b''
                while b'\r\n\r\n' not in got:
                    got += s.recv(65536)
            self.assertEqual(connection.getresponse().status, 503)
        lines = got.decode().split('\r\n\r\n')[0].split('\r\n')[1:]
        return [tuple(line.split(': ', 1)) if ': ' in line else (line[:-1], '') for line in lines]

    def raw_get(self, server, path, headers):
        lines = ['GET %s HTTP/1.1' % path] + ['%s: %s' % h for h in headers] + ['Connection: close', '', '']
        return int(server.raw('\r\n'.join(lines).encode()).split(b' ')[1])
