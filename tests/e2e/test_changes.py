"""/changes as pages and as a stream that is resumed; webhooks with a receiver of our own; retention, its dry run, and quotas."""
import csv
import hashlib
import hmac
import http.client
import http.server
import io
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

import legacy
from harness import API, CATALOG, PATIENCE, Case, Server, catalog_sql, eventually, reel
from run_tests import release_only
from samples import bag, lab_messages


def data(salt):
    return bag(lab_messages(1, salt=salt))


def call(server, method, path, body=None, token=None, **headers):
    return server.request(method, API + path, None if body is None else json.dumps(body),
                          {**({'Authorization': 'Bearer ' + token} if token else {}), **{k.replace('_', '-'): v for k, v in headers.items()}})


def in_kilobytes(*sizes):
    """As the server says sizes of 1 kB to 1 MB."""
    return ['%.1f kB' % (size / 1000) for size in sizes]


def run_retention(server):
    """Runs the rules now, to the end."""
    answer = call(server, 'POST', '/admin/retention/run', Prefer='wait=30')
    assert answer.status == 202 and answer.headers['Location'] == answer.json()['job']['href'], answer
    job = server.get(answer.json()['job']['href']).json()
    assert job['state'] == 'done', job


class Stream:
    """Server-sent events as they come, read by a thread."""

    def __init__(self, server, query='', token=None, **headers):
        self.connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=PATIENCE)
        self.connection.request('GET', API + '/changes' + query, headers={
            'Accept': 'text/event-stream', **({'Authorization': 'Bearer ' + token} if token else {}), **{k.replace('_', '-'): v for k, v in headers.items()}})
        self.response = self.connection.getresponse()
        self.events, self.comments, self.ended, self.broken, self.body = [], 0, False, None, b''
        if self.response.status == 200:
            self.thread = threading.Thread(target=self.read, daemon=True)
            self.thread.start()
        else:
            self.body = self.response.read()

    def read(self):
        event = {}
        try:
            while True:
                line = self.response.readline()
                if not line:
                    break
                line = line.decode().rstrip('\n')
                if not line:
                    if 'data' in event:
                        event['data'] = json.loads(event['data'])
                        self.events.append(event)
                    event = {}
                elif line.startswith(':'):
                    self.comments += 1
                else:
                    name, _, value = line.partition(': ')
                    event[name] = value
        except Exception as e:  # what the test asks for by `broken`
            self.broken = e
        self.ended = True

    def kinds(self):
        return [e['event'] for e in self.events]

    def wait_for(self, *kinds):
        assert eventually(lambda: self.kinds()[-len(kinds):] == list(kinds)), self.events
        return self

    def close(self):
        if self.connection.sock:
            self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join(PATIENCE)
        self.connection.close()


def ids(events):
    return [int(e['id']) for e in events if 'id' in e]


class Pages(Case):
    @classmethod
    def fill(cls):
        cls.a = cls.server.added('a.bag', data(1))
        cls.b = cls.server.added('b.bag', data(2), collection='other')

    def test_a_life(self):
        before = self.get(API + '/changes?limit=1000').json()
        one = self.server.added('life.bag', data(3))
        call(self.server, 'PUT', '/recordings/%s/tags/robot?value=r1' % one)
        call(self.server, 'POST', '/recordings/%s/notes' % one, {'text': 'look'})
        call(self.server, 'PATCH', '/recordings/' + one, {'name': 'renamed.bag'})
        call(self.server, 'DELETE', '/recordings/' + one)
        call(self.server, 'POST', '/recordings/%s/restore' % one)
        call(self.server, 'DELETE', '/recordings/%s?purge=true' % one)
        page = self.get(API + '/changes?since=' + before['since']).json()
        kinds = [i['kind'] for i in page['items'] if i['kind'] != 'recording.updated']
        self.assertEqual(kinds, ['recording.created', 'scan.done', 'tag.set', 'note.added', 'recording.renamed', 'recording.trashed', 'recording.restored',
                                 'tag.unset', 'recording.purged'])
        self.assertEqual({i['recording'] for i in page['items']}, {one})
        self.assertEqual([i['detail'] for i in page['items'] if 'detail' in i and i['kind'] != 'note.added'],
                         [{'tag': 'robot', 'value': 'r1'}, {'was': 'life.bag'}, {'tag': 'robot'}])
        self.assertEqual([i['seq'] for i in page['items']], list(range(int(before['since']) + 1, int(page['since']) + 1)))
        self.assertFalse(page['gap'])
        self.assertEqual(self.get(API + '/changes?since=' + page['since']).json()['items'], [])

    def test_pages(self):
        whole = self.get(API + '/changes?limit=1000').json()['items']
        got, path = [], API + '/changes?limit=3&kind=recording.*&kind=scan.done'
        while path:
            answer = self.get(path)
            self.assertLessEqual(len(answer.json()['items']), 3)
            got += answer.json()['items']
            path = answer.next_path()
        self.assertEqual(got, [i for i in whole if i['kind'].startswith('recording.') or i['kind'] == 'scan.done'])
        rows = self.get(API + '/changes?limit=2', Accept='application/x-ndjson')
        self.assertEqual(rows.headers.get_content_type(), 'application/x-ndjson')
        self.assertEqual(rows.rows(), whole[:2])
        self.assertIn('rel="next"', rows.headers['Link'])
        self.assertEqual(self.get(API + '/changes?limit=2&output=ndjson').body, rows.body)
        for query, headers in (('&output=csv', {}), ('', {'Accept': 'text/csv'})):
            table = self.get(API + '/changes?limit=2' + query, **headers)
            self.assertEqual(table.headers.get_content_type(), 'text/csv')
            read = list(csv.DictReader(io.StringIO(table.body.decode())))
            self.assertEqual(list(read[0]), ['seq', 'time', 'kind', 'recording', 'job', 'collection', 'name', 'detail'])
            self.assertEqual([(r['seq'], r['kind'], r['recording']) for r in read], [(str(i['seq']), i['kind'], i['recording']) for i in whole[:2]])
        self.assertProblem(self.server.get(API + '/changes', Accept='image/png'), 406)
        self.assertProblem(self.server.get(API + '/changes?output=xml'), 400)

    def test_the_end_of_a_job_is_reported(self):
        since = self.get(API + '/changes?limit=1000').json()['since']
        answer = self.server.request('POST', '%s/admin/rescan/%s' % (API, self.b))
        job = answer.headers['Location'].rsplit('/', 1)[1]
        found = eventually(lambda: self.get(API + '/changes?kind=job.*&since=' + since).json()['items'])
        self.assertEqual(len(found), 1)  # and none for what uploads and the server's own business do
        self.assertEqual({k: found[0][k] for k in ('kind', 'job', 'collection', 'name', 'detail')},
                         {'kind': 'job.done', 'job': {'id': job, 'href': API + '/jobs/' + job}, 'collection': 'other', 'name': self.b, 'detail': {'kind': 'scan'}})
        self.assertNotIn('recording', found[0])
        self.get('%s/recordings/%s/as/x.mcap' % (API, self.a))  # a plan
        self.server.added('quick.bag', data(77))
        self.assertEqual(len(self.get(API + '/changes?kind=job.*&since=' + since).json()['items']), 1)

    def test_a_gap_is_reported(self):
        first = self.get(API + '/changes?limit=1').json()['items'][0]['seq']
        for since in ('7', '9' * 15):  # of a catalog before this one; of one that this is an older copy of
            self.assertTrue(self.get(API + '/changes?since=' + since).json()['gap'])
            stream = Stream(self.server, '?since=' + since)
            self.assertTrue(eventually(lambda: stream.events))
            gap = stream.events[0]
            self.assertEqual((gap['event'], gap['data']['first_seq']), ('gap', first))
            self.assertEqual(int(gap['id']), first - 1 if since == '7' else gap['data']['last_seq'])
            stream.close()
        self.assertFalse(self.get(API + '/changes').json()['gap'])
        self.assertFalse(self.get('%s/changes?since=%d' % (API, first - 1)).json()['gap'])

    def test_questions_that_make_no_sense(self):
        for query in ('since=x', 'since=-1', 'cursor=', 'since=99999999999999999999', 'limit=0', 'colour=red'):
            self.assertProblem(self.server.get(API + '/changes?' + query), 400)
        self.assertProblem(self.server.get(API + '/changes', Accept='image/png'), 406)
        bad = Stream(self.server, '', Last_Event_ID='soon')
        self.assertEqual(bad.response.status, 400)


class Streams(unittest.TestCase):
    def test_in_order_resumed_after_a_cut_and_a_restart(self):
        folder = tempfile.mkdtemp(prefix='reel-e2e-')
        server = Server(folder)
        try:
            server.added('zero.bag', data(10))
            stream = Stream(server)  # from now on
            eventually(lambda: stream.comments)
            server.added('one.bag', data(11))
            stream.wait_for('recording.created', 'scan.done')
            self.assertEqual(len(stream.events), 2)
            self.assertEqual([e['data']['name'] for e in stream.events], ['one.bag'] * 2)
            self.assertEqual([e['data']['seq'] for e in stream.events], ids(stream.events))
            stream.close()
            server.added('two.bag', data(12))  # while no client listens
            stream = Stream(server, '?since=0', Last_Event_ID=stream.events[0]['id'])  # the header counts
            stream.wait_for('scan.done', 'recording.created', 'scan.done')
            seen = ids(stream.events)
            self.assertEqual(seen, list(range(seen[0], seen[0] + 3)))
            begun = time.monotonic()
            server.stop()
            self.assertLess(time.monotonic() - begun, 25)  # a stream does not hold the drain of 30 s up
            self.assertTrue(eventually(lambda: stream.ended))
            self.assertIsNone(stream.broken)
            self.assertEqual(stream.kinds()[-1], 'end')
            server = Server(folder)
            stream = Stream(server, '', Last_Event_ID=str(seen[-1]))
            server.added('three.bag', data(13))
            stream.wait_for('recording.created', 'scan.done')
            self.assertEqual(ids(stream.events)[0], seen[-1] + 1)
            all_of = Stream(server, '?since=0&kind=recording.created')
            eventually(lambda: len(all_of.events) == 4)
            self.assertEqual([e['data']['name'] for e in all_of.events], ['zero.bag', 'one.bag', 'two.bag', 'three.bag'])
        finally:
            server.stop(None)
            shutil.rmtree(folder, ignore_errors=True)

    def test_what_another_process_does_is_seen(self):
        server = Server()
        try:
            stream = Stream(server)
            eventually(lambda: stream.comments)
            direct = "INSERT INTO changes (kind, recording, collection, name) SELECT 'test.direct', id, 'lab', 'x' FROM recordings"
            server.added('one.bag', data(49))
            catalog_sql(server.data, direct + ('; NOTIFY reel' if CATALOG else ''))
            stream.wait_for('test.direct')
        finally:
            server.stop()

    @release_only
    def test_a_quiet_stream_beats(self):
        server = Server()
        try:
            stream = Stream(server)
            self.assertTrue(eventually(lambda: stream.comments == 1))
            begun = time.monotonic()
            self.assertTrue(eventually(lambda: stream.comments == 2))
            self.assertTrue(13 < time.monotonic() - begun < 25)
            self.assertEqual(stream.events, [])
        finally:
            server.stop()

    def test_only_so_many(self):
        server = Server(None, '--connections', '12', '--connections-per-address', '12')
        try:
            streams = [Stream(server) for _ in range(7)]
            self.assertEqual([s.response.status for s in streams], [200] * 6 + [503])
            self.assertIn('Retry-After', streams[6].response.headers)
            server.added('a.bag', data(20))
            for s in streams[:6]:
                s.wait_for('recording.created', 'scan.done')
            streams[0].close()
            server.added('b.bag', data(21))  # the write finds that it is gone
            self.assertTrue(eventually(lambda: Stream(server).response.status == 200))
        finally:
            server.stop()

    def test_a_limited_token_sees_its_collections(self):
        server = Server()
        try:
            make = lambda *args: reel('token', 'create', '--data', server.data, *args).stdout.decode().strip()
            admin = make('--role', 'admin', '--name', 'root')
            lab = make('--role', 'read', '--name', 'lab', '--collection', 'lab*')
            live = Stream(server, '?since=0', token=lab)
            self.assertEqual(Stream(server).response.status, 401)
            put = lambda collection, name, salt: server.request('PUT', '%s/recordings/by-name/%s/%s' % (API, collection, name), data(salt),
                                                                {'Authorization': 'Bearer ' + admin}).json()['id']
            one = put('lab1', 'a.bag', 30)
            put('secret', 'b.bag', 31)
            call(server, 'PATCH', '/recordings/' + one, {'collection': 'secret', 'name': 'c.bag'}, token=admin)
            put('lab2', 'd.bag', 32)
            live.wait_for('recording.created', 'scan.done')
            eventually(lambda: live.events[-1]['data']['name'] == 'd.bag')
            self.assertEqual([(e['event'], e['data']['collection'], e['data']['name']) for e in live.events],
                             [('recording.created', 'lab1', 'a.bag'), ('scan.done', 'lab1', 'a.bag'), ('recording.left', 'lab1', 'a.bag'),
                              ('recording.created', 'lab2', 'd.bag'), ('scan.done', 'lab2', 'd.bag')])
            items = call(server, 'GET', '/changes', token=lab).json()['items']
            self.assertEqual([e['data'] for e in live.events], items)
            self.assertNotIn('secret', json.dumps(items))
            self.assertEqual(call(server, 'GET', '/webhooks', token=lab).status, 403)
            reel('token', 'revoke', 'lab', '--data', server.data)
            put('lab2', 'e.bag', 33)
            self.assertTrue(eventually(lambda: live.ended))
            self.assertEqual(live.kinds()[-1], 'end')
            self.assertNotIn('e.bag', json.dumps([e['data'] for e in live.events]))
        finally:
            server.stop()


class Receiver:
    """Takes POSTs, checks their signatures, answers what `answers` says (then 204)."""

    def __init__(self, secret, context=None):
        receiver = self
        self.secret, self.got, self.answers, self.location = secret, [], [], None

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                signature = dict(p.split('=', 1) for p in self.headers['Reel-Signature'].split(','))
                expected = hmac.new(receiver.secret.encode(), signature['t'].encode() + b'.' + body, hashlib.sha256).hexdigest()
                status = receiver.answers.pop(0) if receiver.answers else 204
                receiver.got.append({'path': self.path, 'status': status, 'change': json.loads(body), 'event': self.headers['Reel-Event'],
                                     'delivery': self.headers['Reel-Delivery'], 'signed': hmac.compare_digest(expected, signature['v1']),
                                     'age': time.time() - int(signature['t']), 'at': time.monotonic()})
                self.send_response(status)
                if receiver.location:
                    self.send_header('Location', receiver.location)
                self.send_header('Content-Length', '0')
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = 'http%s://127.0.0.1:%d/hook' % ('s' if context else '', self.server.server_address[1])
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def delivered(self):
        return [(g['event'], g['change']['name']) for g in self.got if 200 <= g['status'] < 300]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


SECRET = 'a secret of the tests'


class Webhooks(unittest.TestCase):
    def setUp(self):
        self.receiver = Receiver(SECRET)
        self.folder = tempfile.mkdtemp(prefix='reel-e2e-')
        self.server = Server(self.folder, '--webhook-private')

    def tearDown(self):
        self.server.stop(None)
        self.receiver.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def hook(self, **more):
        answer = call(self.server, 'POST', '/webhooks', {'url': self.receiver.url, 'secret': SECRET, **more})
        self.assertEqual(answer.status, 201, answer)
        return answer

    def test_told_in_order_and_signed(self):
        self.server.added('before.bag', data(40))
        made = self.hook()
        self.assertEqual(made.json()['secret'], SECRET)
        path = made.headers['Location'][len(API):]
        one = self.server.added('one.bag', data(41))
        self.server.put('bad.bag', b'#ROSBAG V2.0\n' + b'\xff' * 100, '?keep=true')
        call(self.server, 'DELETE', '/recordings/' + one)
        self.assertTrue(eventually(lambda: len(self.receiver.got) >= 4), self.receiver.got)
        self.assertEqual(self.receiver.delivered(), [('recording.created', 'one.bag'), ('recording.created', 'bad.bag'), ('scan.failed', 'bad.bag'),
                                                ('recording.trashed', 'one.bag')])
        for g in self.receiver.got:
            self.assertTrue(g['signed'])
            self.assertLess(abs(g['age']), 60)
            self.assertEqual(g['path'], '/hook')
            self.assertEqual(g['delivery'], '%d-%d' % (g['change']['webhook'], g['change']['seq']))
        self.assertTrue(self.receiver.got[2]['change']['detail']['problem'])
        self.assertTrue(eventually(lambda: call(self.server, 'GET', path).json()['delivered'] == 4))
        wanted = {'reel_webhooks{last="good"} 1', 'reel_webhooks{last="failed"} 0', 'reel_webhook_tries_total{result="delivered"} 4',
                  'reel_webhook_tries_total{result="failed"} 0', 'reel_webhook_dropped_total 0'}
        figures = lambda: self.server.get('/metrics').body.decode()  # noqa: E731
        self.assertTrue(eventually(lambda: wanted <= set(figures().splitlines())), figures())
        self.assertRegex(figures(), r'\nreel_webhook_waiting \d+\n')
        shown = call(self.server, 'GET', path)
        self.assertNotIn(SECRET, shown.body.decode())
        self.assertEqual([r['status'] for r in shown.json()['results']], [204] * 4)
        self.assertNotIn(SECRET, call(self.server, 'GET', '/webhooks').body.decode())
        self.assertEqual(call(self.server, 'DELETE', path).status, 204)
        self.assertEqual(call(self.server, 'GET', path).status, 404)
        self.server.added('after.bag', data(42))
        time.sleep(1)
        self.assertEqual(len(self.receiver.got), 4)

    def test_only_what_is_wished(self):
        self.hook(events=['recording.*'], collections=['lab*'])
        self.server.added('a.bag', data(43), collection='other')
        self.server.added('b.bag', data(44), collection='lab2')
        self.assertTrue(eventually(lambda: self.receiver.got))
        time.sleep(0.5)
        self.assertEqual(self.receiver.delivered(), [('recording.created', 'b.bag')])

    def test_tried_again_and_after_a_restart(self):
        path = self.hook(events=['recording.created']).headers['Location'][len(API):]
        self.receiver.answers = [500, 503, 302]
        self.receiver.location = self.receiver.url + '/elsewhere'
        self.server.added('one.bag', data(45))
        self.server.added('two.bag', data(46))
        # The receiver has answered before the server has written the answer down: a kill in between is tried again at once. The next try is in 4 s.
        self.assertTrue(eventually(lambda: call(self.server, 'GET', path).json()['failed_tries'] >= 3))
        self.server.terminate(signal.SIGKILL)
        self.server.process.wait()
        self.server.stop(None)
        self.server = Server(self.folder, '--webhook-private')
        self.assertTrue(eventually(lambda: len(self.receiver.delivered()) == 2), self.receiver.got)
        self.assertEqual(self.receiver.delivered(), [('recording.created', 'one.bag'), ('recording.created', 'two.bag')])
        self.assertEqual([g['status'] for g in self.receiver.got], [500, 503, 302, 204, 204])
        self.assertEqual({g['path'] for g in self.receiver.got}, {'/hook'})  # the redirect was not followed
        self.assertEqual(len({g['delivery'] for g in self.receiver.got[:4]}), 1)
        times = [g['at'] for g in self.receiver.got]
        self.assertGreater(times[1] - times[0], 0.9)
        self.assertGreater(times[2] - times[1], 1.9)
        self.assertGreater(times[3] - times[2], 3.9)
        self.assertTrue(eventually(lambda: call(self.server, 'GET', path).json()['failed_tries'] == 0))
        self.assertEqual([r['status'] for r in call(self.server, 'GET', path).json()['results']][-3:], [302, 503, 500])

    def test_what_is_a_day_old_is_given_up(self):
        path = self.hook(events=['recording.created']).headers['Location'][len(API):]
        self.receiver.answers = [500] * 2
        self.server.added('old.bag', data(47))
        self.assertTrue(eventually(lambda: self.receiver.got))
        self.server.stop()
        catalog_sql(self.folder, 'UPDATE changes SET time_ns = time_ns - 90000000000000')
        self.server = Server(self.folder, '--webhook-private')
        self.server.added('new.bag', data(48))
        self.assertTrue(eventually(lambda: ('recording.created', 'new.bag') in self.receiver.delivered()), self.receiver.got)
        self.assertNotIn(('recording.created', 'old.bag'), self.receiver.delivered())
        self.assertTrue(eventually(lambda: call(self.server, 'GET', path).json()['dropped'] == 1))

    def test_a_certificate_that_nobody_vouches_for(self):
        cert, key = self.folder + '-cert.pem', self.folder + '-key.pem'
        for file in (cert, key):
            self.addCleanup(os.unlink, file)
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-subj', '/CN=127.0.0.1', '-days', '2',
                        '-addext', 'subjectAltName=IP:127.0.0.1'], check=True, stderr=subprocess.DEVNULL)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        secure = Receiver(SECRET, context)
        self.addCleanup(secure.close)
        path = call(self.server, 'POST', '/webhooks', {'url': secure.url, 'secret': SECRET}).headers['Location'][len(API):]
        self.server.added('a.bag', data(49))
        self.assertTrue(eventually(lambda: call(self.server, 'GET', path).json()['results']))
        result = call(self.server, 'GET', path).json()['results'][0]
        self.assertEqual((result['status'], secure.got), (0, []))
        self.assertIn('certificate', result['problem'])

    def test_bodies_that_make_no_sense(self):
        for body in ({}, {'url': 3}, {'url': 'ftp://x/'}, {'url': self.receiver.url, 'secret': 'short'}, {'url': self.receiver.url, 'events': 'all'},
                     {'url': self.receiver.url, 'events': ['']}, {'url': self.receiver.url, 'event': []}):
            self.assertEqual(call(self.server, 'POST', '/webhooks', body).status, 400, body)
        made = call(self.server, 'POST', '/webhooks', {'url': self.receiver.url}).json()
        self.assertRegex(made['secret'], '^[0-9a-f]{64}$')
        for path in ('/webhooks/0', '/webhooks/x', '/webhooks/99', '/webhooks/1x'):
            self.assertEqual(call(self.server, 'GET', path).status, 404)

    def test_a_test_sends_a_signed_sample_once_and_answers_what_came_back(self):
        path = self.hook(events=['recording.created']).headers['Location'][len(API):]
        answer = call(self.server, 'POST', path + '/test').json()
        self.assertEqual((answer['delivered'], answer['status'], answer['problem']), (True, 204, ''))
        got = self.receiver.got[0]
        self.assertEqual((got['event'], got['change']['kind'], got['change']['seq'], got['signed']), ('webhook.test', 'webhook.test', 0, True))
        self.receiver.answers = [503]
        answer = call(self.server, 'POST', path + '/test').json()
        self.assertEqual((answer['delivered'], answer['status'], answer['problem']), (False, 503, 'the answer was 503'))
        shown = call(self.server, 'GET', path).json()  # neither counts as a delivery, and neither is tried again
        self.assertEqual((shown['delivered'], shown['failed_tries'], shown['results']), (0, 0, []))
        self.receiver.close()
        answer = call(self.server, 'POST', path + '/test').json()
        self.assertEqual((answer['delivered'], answer['status']), (False, 0))
        self.assertTrue(answer['problem'])
        self.assertEqual(len(self.receiver.got), 2)
        for missing in ('/webhooks/99/test', '/webhooks/x/test'):
            self.assertEqual(call(self.server, 'POST', missing).status, 404)

    def test_without_the_flag_nothing_inside_is_asked(self):
        self.hook(events=['recording.created'])
        self.server.stop()
        self.server = Server(self.folder)
        self.assertEqual(call(self.server, 'POST', '/webhooks', {'url': self.receiver.url}).status, 400)
        self.assertEqual(call(self.server, 'POST', '/webhooks', {'url': 'https://127.0.0.1:1/'}).status, 400)
        self.server.added('a.bag', data(50))
        self.assertTrue(eventually(lambda: call(self.server, 'GET', '/webhooks/1').json()['results']))
        self.assertIn('--webhook-private', call(self.server, 'GET', '/webhooks/1').json()['results'][0]['problem'])
        tested = call(self.server, 'POST', '/webhooks/1/test').json()
        self.assertEqual((tested['delivered'], tested['status']), (False, 0))
        self.assertIn('--webhook-private', tested['problem'])
        self.assertEqual(self.receiver.got, [])


class Retention(Case):
    def set(self, document, status=200):
        answer = call(self.server, 'PUT', '/admin/retention', document)
        self.assertEqual(answer.status, status, answer)
        return answer

    def test_rules_are_tried_before_they_are_saved(self):
        one = self.server.added('tried.bag', data(57), collection='tried')
        rules = {'rules': [{'collection': 'tried', 'max_size': 0}]}
        dry = '/admin/retention/run?dry_run=true'
        found = call(self.server, 'POST', dry, rules).json()['items']
        self.assertEqual([(i['recording'], i['action'], i['why']) for i in found if i['collection'] == 'tried'], [(one, 'trash', 'size')])
        self.assertEqual(call(self.server, 'GET', '/admin/retention').json()['rules'], [])
        self.assertEqual(call(self.server, 'POST', dry).json()['items'], [])
        self.assertEqual(call(self.server, 'POST', dry, {'rules': [], 'quotas': [], 'trash_days': 0, 'last_run': None}).json()['items'], [])
        refused = call(self.server, 'POST', dry, {'rules': [{'collection': 'tried', 'max_age': 'soon'}]})
        self.assertEqual(refused.status, 400)
        self.assertIn('max_age', refused.json()['detail'])
        self.assertEqual(call(self.server, 'POST', '/admin/retention/run', rules).status, 400)  # without dry_run
        self.assertEqual(call(self.server, 'GET', '/recordings/' + one).json()['state'], 'ready')

    def test_the_run_does_what_the_dry_run_says(self):
        salt, kept = 60, []
        for collection in ('ret1', 'ret2', 'stays'):
            for i in range(7):
                salt += 1
                query = '?tag=golden%3Dyes' if i == 2 else ''
                one = self.server.added('%d.bag' % i, data(salt), query, collection)
                kept += [one] if i == 2 or collection == 'stays' else []
        time.sleep(1.1)
        self.set({'rules': [{'collection': 'ret*', 'max_age': '1s', 'keep': {'golden': 'yes'}}]})
        planned, path = [], API + '/admin/retention/run?dry_run=true&limit=5'
        while path:
            answer = self.server.request('POST', path)
            self.assertEqual(answer.status, 200, answer)
            self.assertLessEqual(len(answer.json()['items']), 5)
            planned += answer.json()['items']
            path = answer.next_path()
        self.assertEqual(len(planned), 12)
        self.assertEqual({(p['action'], p['why']) for p in planned}, {('trash', 'age')})
        since = self.get(API + '/changes?limit=1000').json()['since']
        run_retention(self.server)
        trashed = [i['recording'] for i in self.get(API + '/changes?kind=recording.trashed&since=' + since).json()['items']]
        self.assertEqual(trashed, [p['recording'] for p in planned])
        for one in kept:
            self.assertEqual(self.get('%s/recordings/%s' % (API, one)).json()['state'], 'ready')
        self.assertEqual(call(self.server, 'POST', '/admin/retention/run?dry_run=true').json(), {'items': [], 'next': None})
        run_retention(self.server)
        rows = [r for r in self.get(API + '/audit?output=ndjson&limit=100').rows() if r['caller'] == 'retention']
        self.assertEqual(len(rows), 12)
        self.assertEqual({r['path'].split('/')[-1] for r in rows}, set(trashed))
        last = self.get(API + '/admin/retention').json()
        self.assertEqual((last['last_run']['trashed'], last['trash_days']), (0, 0))
        self.set(last)  # as it was given
        self.set({})

    def test_documents_that_make_no_sense(self):
        self.set({'rules': [], 'quotas': []})
        for bad in ({'rule': []}, {'rules': [{'collection': 'a', 'max_age': 'soon'}]}, {'rules': [{'max_age': '3d'}]},
                    {'quotas': [{'collection': 'a', 'size': -1}]}):
            self.assertProblem(self.set(bad, 400), 400)
        self.assertEqual(self.get(API + '/admin/retention').json()['rules'], [])
        self.assertProblem(call(self.server, 'POST', '/admin/retention/run?dry_run=true&cursor=00ff'), 400)

    def test_quotas(self):
        size = len(data(90))
        self.set({'quotas': [{'collection': 'q*', 'size': 2 * size + 10, 'recordings': 5}, {'collection': 'few', 'recordings': 1}]})
        self.server.added('a.bag', data(90), collection='q1')
        self.server.added('b.bag', data(91), collection='q1')
        refused = self.server.put('c.bag', data(92), collection='q1')
        self.assertProblem(refused, 507, *in_kilobytes(2 * size + 10, 2 * size, len(data(92))))
        with_unknown_length = self.server.request('PUT', API + '/recordings/by-name/q1/d.bag', iter([data(93)]))  # chunked
        self.assertProblem(with_unknown_length, 507)
        self.server.added('c.bag', data(92), collection='q2')
        one = self.server.added('a.bag', data(94), collection='few')
        self.assertProblem(self.server.put('b.bag', data(95), collection='few'), 507, '1 recordings')
        call(self.server, 'DELETE', '/recordings/' + one)
        self.server.added('b.bag', data(95), collection='few')
        self.set({})
        self.server.added('e.bag', data(96), collection='q1')

    def test_whatever_takes_room_is_held_to_the_quota(self):
        """Moving in, coming out of the trash, and a further part."""
        size = len(data(200))
        self.set({'quotas': [{'collection': 'narrow', 'recordings': 1, 'size': size + 1000}]})
        inside = self.server.added('a.bag', data(200), collection='narrow')
        outside = self.server.added('b.bag', data(201), collection='wide')
        path = '/recordings/' + outside
        self.assertProblem(call(self.server, 'PATCH', path, {'collection': 'narrow', 'description': 'x'}), 507, '1 recordings')
        self.assertEqual([self.get(API + path).json()[k] for k in ('collection', 'description')], ['wide', ''])
        self.assertEqual(call(self.server, 'PATCH', '/recordings/' + inside, {'name': 'c.bag', 'collection': 'narrow'}).status, 200)  # it has its place
        call(self.server, 'DELETE', '/recordings/' + inside)
        self.assertEqual(call(self.server, 'PATCH', path, {'collection': 'narrow'}).status, 200)
        self.assertProblem(call(self.server, 'POST', '/recordings/%s/restore' % inside), 507, '1 recordings')
        self.assertEqual(self.get(API + '/recordings/' + inside).json()['state'], 'trashed')
        call(self.server, 'DELETE', path)
        self.assertEqual(call(self.server, 'POST', '/recordings/%s/restore' % inside).status, 200)
        self.assertEqual(call(self.server, 'POST', '/recordings/%s/restore' % inside).status, 200)  # it is back already
        traj, state = legacy.pair(salt=9)
        self.set({'quotas': [{'collection': 'pairs', 'size': len(traj) + len(state) - 1}]})
        whole = self.server.added('run.traj', traj, collection='pairs')
        url = API + '/recordings/by-name/pairs/run.state?part_of=run.traj'
        for body in (state, iter([state])):  # also where the length is not known before
            self.assertProblem(self.server.request('PUT', url, body), 507, *in_kilobytes(len(traj) + len(state) - 1, len(traj), len(state)))
        self.assertEqual([p['name'] for p in self.get(API + '/recordings/' + whole).json()['parts']], ['run.traj'])
        self.set({'quotas': [{'collection': 'pairs', 'size': len(traj) + len(state)}]})
        self.assertEqual(self.server.request('PUT', url, iter([state])).status, 200)
        self.set({})

    def test_two_at_once_do_not_share_the_last_place(self):
        self.set({'quotas': [{'collection': 'race', 'recordings': 3}]})
        answers = []
        threads = [threading.Thread(target=lambda i=i: answers.append(self.server.put('%d.bag' % i, data(100 + i), collection='race').status))
                   for i in range(12)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(sorted(answers), [201] * 3 + [507] * 9)
        self.set({})


class Trash(unittest.TestCase):
    def test_what_lies_long_in_the_trash_is_purged(self):
        folder = tempfile.mkdtemp(prefix='reel-e2e-')
        server = Server(folder, '--trash-days', '7')
        try:
            old, new = server.added('old.bag', data(120)), server.added('new.bag', data(121))
            for one in (old, new):
                call(server, 'DELETE', '/recordings/' + one)
            server.stop()
            catalog_sql(folder, "UPDATE recordings SET updated_ns = updated_ns - 700000000000000 WHERE name = 'old.bag'")
            server = Server(folder, '--trash-days', '7')
            planned = call(server, 'POST', '/admin/retention/run?dry_run=true').json()['items']
            self.assertEqual([(p['action'], p['recording']) for p in planned], [('purge', old)])
            run_retention(server)
            self.assertEqual(server.get('%s/recordings/%s' % (API, old)).status, 404)
            self.assertEqual(server.get('%s/recordings/%s' % (API, new)).json()['state'], 'trashed')
            self.assertEqual(server.get(API + '/changes?kind=recording.purged').json()['items'][0]['recording'], old)
        finally:
            server.stop(None)
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == '__main__':
    unittest.main()
