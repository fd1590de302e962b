"""Uploads that survive: tus 1.0 with every extension and the IETF's draft by hand, forms, Idempotency-Key, groups; killed servers and clients, expiry, two clients."""
import base64
import hashlib
import http.server
import io
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tarfile
import tempfile
import threading
import time

from harness import API, PATIENCE, QUICK, REEL, Case, Server, curl, digest_header, eventually, files_below, in_a_folder
from link import Link
from samples import bag, lab_messages

TUS = {'Tus-Resumable': '1.0.0'}
BYTES = {**TUS, 'Content-Type': 'application/offset+octet-stream'}
DRAFT = {'Upload-Draft-Interop-Version': '8'}
PART = {**DRAFT, 'Content-Type': 'application/partial-upload'}
SEED = 20261121


def meta(**pairs):
    return ','.join('%s %s' % (k, base64.b64encode(str(v).encode()).decode()) for k, v in pairs.items())


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Uploads(Case):
    server_args = ('--upload-max-mb', '50')

    # --- helpers

    def create(self, length, body=None, status=201, server=None, **headers):
        given = {**(BYTES if body is not None else TUS), 'Upload-Length': str(length), **{k.replace('_', '-'): v for k, v in headers.items()}}
        given = {k: v for k, v in given.items() if v is not None}
        answer = (server or self.server).request('POST', API + '/uploads', body, given)
        self.assertEqual(answer.status, status, answer)
        return answer

    def patch(self, path, offset, body, status=204, server=None, **headers):
        given = {**BYTES, 'Upload-Offset': str(offset), **{k.replace('_', '-'): v for k, v in headers.items()}}
        answer = (server or self.server).request('PATCH', path, body, given)
        self.assertEqual(answer.status, status, answer)
        return answer

    def head(self, path, status=200, server=None, headers=TUS):
        answer = (server or self.server).request('HEAD', path, headers=headers)
        self.assertEqual(answer.status, status, answer)
        return answer

    def offset(self, path, server=None):
        return int(self.head(path, server=server).headers['Upload-Offset'])

    def uploaded(self, path, data, server=None):
        """What the finished upload became has these bytes."""
        server = server or self.server
        answer = self.head(path, server=server)
        self.assertEqual(int(answer.headers['Upload-Offset']), len(data))
        recording = server.get(answer.headers['Content-Location']).json()
        self.assertEqual(recording['content'], 'sha256:' + sha256(data))
        file = server.get('%s/recordings/%s/file/x' % (API, recording['id']))
        self.assertEqual(sha256(file.body), sha256(data))
        return recording

    def partials(self, server=None):
        return [f for f in files_below((server or self.server).data) if f.endswith('.part')]

    def half_sent(self, path, offset, announced, body, server=None):
        """A client that sends less than it announced and is cut off."""
        with socket.create_connection(('127.0.0.1', (server or self.server).port)) as s:
            s.sendall(('PATCH %s HTTP/1.1\r\nHost: 127.0.0.1\r\nTus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\n'
                       'Upload-Offset: %d\r\nContent-Length: %d\r\n\r\n' % (path, offset, announced)).encode() + body)
            time.sleep(0.05)

    # --- tus

    def test_options(self):
        answer = self.server.request('OPTIONS', API + '/uploads')
        self.assertEqual(answer.status, 204, answer)
        self.assertEqual((answer.headers['Tus-Version'], answer.headers['Tus-Resumable']), ('1.0.0', '1.0.0'))
        self.assertEqual(set(answer.headers['Tus-Extension'].split(',')),
                         {'creation', 'creation-with-upload', 'creation-defer-length', 'termination', 'checksum', 'expiration', 'concatenation'})
        self.assertEqual(answer.headers['Tus-Max-Size'], '50000000')
        self.assertIn('sha256', answer.headers['Tus-Checksum-Algorithm'])
        self.assertIn('application/partial-upload', answer.headers['Accept-Patch'])

    def test_versions(self):
        answer = self.server.request('POST', API + '/uploads', headers={'Tus-Resumable': '0.2.2', 'Upload-Length': '3'})
        self.assertProblem(answer, 412)
        self.assertEqual(answer.headers['Tus-Version'], '1.0.0')
        self.assertProblem(self.server.request('POST', API + '/uploads', headers={'Upload-Length': '3'}), 412, 'Tus-Resumable')

    def test_creation_and_pieces(self):
        data = bag(lab_messages(2, salt=101))
        metadata = meta(filename='walk.bag', collection='hall', tags=json.dumps({'robot': 'r1'}), filetype='application/x', sha256=sha256(data))
        made = self.create(len(data), Upload_Metadata=metadata)
        path = made.headers['Location']
        self.assertIn('Upload-Expires', made.headers)
        answer = self.head(path)
        self.assertEqual((answer.headers['Upload-Offset'], answer.headers['Upload-Length'], answer.headers['Upload-Metadata'], answer.headers['Cache-Control']),
                         ('0', str(len(data)), metadata, 'no-store'))
        for at in range(0, len(data), 3000):
            piece = data[at:at + 3000]
            answer = self.patch(path, at, piece)
            self.assertEqual(answer.headers['Upload-Offset'], str(at + len(piece)))
        self.assertEqual(answer.headers['Repr-Digest'], digest_header(data))
        recording = self.uploaded(path, data)
        self.assertEqual((recording['collection'], recording['name'], recording['state'], recording['tags']), ('hall', 'walk.bag', 'ready', {'robot': 'r1'}))
        self.assertEqual(self.patch(path, len(data), b'').headers['Content-Location'], API + '/recordings/' + recording['id'])
        self.patch(path, len(data), b'more', 409)
        self.assertEqual(self.server.get(path).json()['recording'], recording['id'])
        self.assertEqual(self.partials(), [])

    def test_creation_with_upload(self):
        data = bag(lab_messages(2, salt=102))
        whole = self.create(len(data), data, Upload_Metadata=meta(name='at once.bag'))
        self.assertEqual(whole.headers['Upload-Offset'], str(len(data)))
        self.uploaded(whole.headers['Location'], data)
        data = bag(lab_messages(2, salt=103))
        first = self.create(len(data), data[:1000], Upload_Metadata=meta(name='a part.bag'))
        self.assertEqual(first.headers['Upload-Offset'], '1000')
        self.patch(first.headers['Location'], 1000, data[1000:])
        self.uploaded(first.headers['Location'], data)

    def test_defer_length(self):
        data = bag(lab_messages(2, salt=104))
        path = self.create(0, Upload_Length=None, Upload_Defer_Length='1', Upload_Metadata=meta(name='later.bag')).headers['Location']
        self.patch(path, 0, data[:500])
        self.assertEqual(self.head(path).headers['Upload-Defer-Length'], '1')
        self.patch(path, 500, data[500:900], Upload_Length=str(len(data)))
        self.assertEqual(self.head(path).headers['Upload-Length'], str(len(data)))
        self.patch(path, 900, b'x', 409, Upload_Length=str(len(data) + 1))
        self.patch(path, 900, data[900:])
        self.uploaded(path, data)
        self.create(3, status=400, Upload_Defer_Length='1', Upload_Metadata=meta(name='x'))
        self.create(0, status=400, Upload_Length=None, Upload_Metadata=meta(name='x'))

    def test_termination(self):
        path = self.create(5000, Upload_Metadata=meta(name='away.bag')).headers['Location']
        self.patch(path, 0, b'x' * 100)
        self.assertEqual(len(self.partials()), 1)
        self.assertEqual(self.server.request('DELETE', path, headers=TUS).status, 204)
        self.head(path, 404)
        self.patch(path, 100, b'x', 404)
        self.assertEqual(self.partials(), [])

    def test_checksum(self):
        data = bag(lab_messages(2, salt=105))
        path = self.create(len(data), Upload_Metadata=meta(name='checked.bag')).headers['Location']

        def checksum(name, piece):
            return '%s %s' % (name, base64.b64encode(hashlib.new(name, piece).digest()).decode())
        self.patch(path, 0, data[:1000], Upload_Checksum=checksum('sha256', data[:1000]))
        answer = self.patch(path, 1000, data[1000:3000], 460, Upload_Checksum=checksum('sha256', b'else'))
        self.assertEqual(answer.headers['Upload-Offset'], '1000')
        self.assertEqual(self.offset(path), 1000)
        self.patch(path, 1000, data[1000:2000], 400, Upload_Checksum='md5 AAAA')
        self.patch(path, 1000, data[1000:2000], 400, Upload_Checksum='sha256 nonsense')
        self.patch(path, 1000, data[1000:2000], Upload_Checksum=checksum('sha1', data[1000:2000]))
        self.patch(path, 2000, data[2000:2100], 400, Content_Digest=digest_header(b'else'))
        self.patch(path, 2000, data[2000:2500], Content_Digest=digest_header(data[2000:2500]))
        # a checked piece that is cut off does not count at all
        with socket.create_connection(('127.0.0.1', self.server.port)) as s:
            s.sendall(('PATCH %s HTTP/1.1\r\nHost: 127.0.0.1\r\nTus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\nUpload-Offset: 2500\r\n'
                       'Upload-Checksum: %s\r\nContent-Length: 1000\r\n\r\n' % (path, checksum('sha256', data[2500:3500]))).encode() + data[2500:3000])
            time.sleep(0.1)
            self.assertEqual(self.offset(path), 2500)
        self.assertTrue(eventually(lambda: self.server.request('PATCH', path, data[2500:], {**BYTES, 'Upload-Offset': '2500'}).status == 204))
        self.uploaded(path, data)

    def test_concatenation(self):
        data = bag(lab_messages(3, salt=106))
        cuts = [0, 2000, 2001, len(data)]
        paths = []
        for start, end in zip(cuts, cuts[1:]):
            path = self.create(end - start, Upload_Concat='partial').headers['Location']
            self.patch(path, 0, data[start:end])
            self.assertEqual(self.head(path).headers['Upload-Concat'], 'partial')
            paths.append(path)
        open_one = self.create(10, Upload_Concat='partial').headers['Location']
        final = 'final;' + ' '.join(paths)
        self.create(0, status=409, Upload_Length=None, Upload_Concat=final + ' ' + open_one, Upload_Metadata=meta(name='joined.bag'))
        self.create(0, status=400, Upload_Length=None, Upload_Concat='final;/nowhere', Upload_Metadata=meta(name='joined.bag'))
        self.create(5, status=400, Upload_Concat=final, Upload_Metadata=meta(name='joined.bag'))
        made = self.create(0, Upload_Length=None, Upload_Concat=final, Upload_Metadata=meta(name='joined.bag'))
        path = made.headers['Location']
        self.uploaded(path, data)
        self.assertEqual(self.head(path).headers['Upload-Concat'], final)
        self.patch(path, len(data), b'', 403)
        for part in paths:
            self.head(part, 404)
        self.server.request('DELETE', open_one, headers=TUS)

    def test_method_override(self):
        data = bag(lab_messages(2, salt=107))
        path = self.create(len(data), Upload_Metadata=meta(name='override.bag')).headers['Location']
        answer = self.server.request('POST', path, data, {**BYTES, 'Upload-Offset': '0', 'X-HTTP-Method-Override': 'PATCH'})
        self.assertEqual(answer.status, 204, answer)
        self.uploaded(path, data)
        self.assertProblem(self.server.request('POST', path, b'', {**BYTES, 'Upload-Offset': '0'}), 405)

    def test_refusals(self):
        self.assertProblem(self.create(60000000, status=413, Upload_Metadata=meta(name='large')), 413)
        self.assertProblem(self.create(3, status=400), 400, 'filename')
        self.assertProblem(self.create(3, status=400, Upload_Metadata='name ###'), 400, 'Upload-Metadata')
        self.assertProblem(self.create(3, status=400, Upload_Metadata='name ' + 'A' * 8300), 400, '8192')
        self.assertProblem(self.create(-3, status=400, Upload_Metadata=meta(name='x')), 400)
        path = self.create(1000, Upload_Metadata=meta(name='refused.bag')).headers['Location']
        self.assertProblem(self.patch(path, 7, b'x', 409), 409, 'expected-offset')
        self.assertEqual(self.patch(path, 7, b'x', 409).headers['Upload-Offset'], '0')
        self.patch(path, 0, b'x' * 1001, 413)
        self.server.request('DELETE', path, headers=TUS)
        path = self.create(1000, Upload_Metadata=meta(name='refused.bag')).headers['Location']
        answer = self.server.request('PATCH', path, b'x', {**TUS, 'Upload-Offset': '0', 'Content-Type': 'text/plain'})
        self.assertProblem(answer, 415)
        self.assertProblem(self.patch(path, 0, b'no recording at all\n' * 50, 415), 415, 'ROS 1 bag')
        self.head(path, 404)
        self.head(API + '/uploads/' + '0' * 32, 404)
        self.assertEqual(self.partials(), [])

    def test_announced_digest(self):
        data = bag(lab_messages(2, salt=108))
        path = self.create(len(data), Upload_Metadata=meta(name='announced.bag', sha256=sha256(b'else'))).headers['Location']
        self.assertProblem(self.patch(path, 0, data, 400), 400, 'SHA-256')
        self.head(path, 404)

    # --- interrupted

    def test_client_cut_off_at_random_places(self):
        rng = random.Random(SEED)
        data = bag(lab_messages(4, blob=300000, salt=109))
        path = self.create(len(data), Upload_Metadata=meta(name='cut.bag')).headers['Location']
        at, cuts = 0, 0
        while cuts < (4 if QUICK else 12):
            sent = rng.randrange(1, max(2, (len(data) - at) // 4))
            self.half_sent(path, at, len(data) - at, data[at:at + sent])
            self.assertTrue(eventually(lambda: self.offset(path) == at + sent), (at, sent))  # every byte that came counts
            at, cuts = at + sent, cuts + 1
            eventually(lambda: self.server.request('PATCH', path, b'', {**BYTES, 'Upload-Offset': str(at)}).status == 204)
        self.patch(path, at, data[at:])
        self.uploaded(path, data)

    def test_two_clients(self):
        data = bag(lab_messages(2, salt=110))
        path = self.create(len(data), Upload_Metadata=meta(name='two.bag')).headers['Location']
        with socket.create_connection(('127.0.0.1', self.server.port)) as s:
            s.sendall(('PATCH %s HTTP/1.1\r\nHost: 127.0.0.1\r\nTus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\nUpload-Offset: 0\r\n'
                       'Content-Length: %d\r\n\r\n' % (path, len(data))).encode() + data[:1000])
            self.assertTrue(eventually(lambda: self.offset(path) == 1000))
            self.patch(path, 0, b'z' * 50, 423)
            self.patch(path, 1000, b'z' * 50, 423)
            if not QUICK:  # it has fallen silent: who comes next goes on, and what the first one still sends is refused
                time.sleep(3.2)
                self.patch(path, 0, b'z' * 50, 409)
                self.patch(path, 1000, data[1000:2000])
                s.sendall(data[1000:])
                self.assertIn(b' 409 ', s.recv(100))
                self.patch(path, 2000, data[2000:])
            else:
                s.sendall(data[1000:])
                self.assertIn(b' 204 ', s.recv(100))
        self.uploaded(path, data)

    def test_server_killed_in_the_middle(self):
        rng = random.Random(SEED)
        data = bag(lab_messages(4, blob=500000, salt=111))
        folder = tempfile.mkdtemp(prefix='reel-kill-')
        server = Server(folder)
        path = self.create(len(data), server=server, Upload_Metadata=meta(name='killed.bag')).headers['Location']
        acknowledged = 0
        for _ in range(3 if QUICK else 8):
            sent = rng.randrange(1, (len(data) - acknowledged) // 3)
            size = rng.randrange(0, sent)
            if size:
                self.patch(path, acknowledged, data[acknowledged:acknowledged + size], server=server)
                acknowledged += size
            with socket.create_connection(('127.0.0.1', server.port)) as s:
                s.sendall(('PATCH %s HTTP/1.1\r\nHost: 127.0.0.1\r\nTus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\n'
                           'Upload-Offset: %d\r\nContent-Length: %d\r\n\r\n' % (path, acknowledged, len(data) - acknowledged)).encode())
                s.sendall(data[acknowledged:acknowledged + sent])
                if rng.random() < 0.5:
                    acknowledged = self.offset(path, server)  # reported by HEAD counts as well
                server.process.send_signal(signal.SIGKILL)
                server.process.wait()
            server.stop(None)
            server = Server(folder)
            now = self.offset(path, server)
            self.assertGreaterEqual(now, acknowledged)
            self.assertLessEqual(now, len(data))
            acknowledged = now
        self.patch(path, acknowledged, data[acknowledged:], server=server)
        self.uploaded(path, data, server)
        self.assertEqual(self.partials(server), [])
        server.stop()
        shutil.rmtree(folder)

    def test_server_killed_at_the_end(self):
        """Between the last byte and the answer: a client never gets a success while there is no recording."""
        folder = tempfile.mkdtemp(prefix='reel-kill-')
        server = Server(folder)
        for i in range(3 if QUICK else 10):
            data = bag(lab_messages(3, blob=400000, salt=120 + i))
            path = self.create(len(data), data[:-9], server=server, Upload_Metadata=meta(name='end%d.bag' % i)).headers['Location']
            with socket.create_connection(('127.0.0.1', server.port)) as s:
                s.sendall(('PATCH %s HTTP/1.1\r\nHost: 127.0.0.1\r\nTus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\n'
                           'Upload-Offset: %d\r\nContent-Length: 9\r\n\r\n' % (path, len(data) - 9)).encode() + data[-9:])
                time.sleep(i * 0.004)
                server.process.send_signal(signal.SIGKILL)
                server.process.wait()
            server.stop(None)
            server = Server(folder)
            answer = server.request('HEAD', path, headers=TUS)
            if answer.status == 200 and int(answer.headers['Upload-Offset']) < len(data):
                now = int(answer.headers['Upload-Offset'])
                self.patch(path, now, data[now:], server=server)
            self.uploaded(path, data, server)
        self.assertEqual(self.partials(server), [])
        self.assertEqual(len(server.get(API + '/recordings').json()['items']), 3 if QUICK else 10)
        server.stop()
        shutil.rmtree(folder)

    def test_stopping_keeps_the_offset(self):
        data = bag(lab_messages(2, salt=112))
        folder = tempfile.mkdtemp(prefix='reel-stop-')
        server = Server(folder, '--drain', '0')
        path = self.create(len(data), server=server, Upload_Metadata=meta(name='stopped.bag')).headers['Location']
        with socket.create_connection(('127.0.0.1', server.port)) as s:
            s.sendall(('PATCH %s HTTP/1.1\r\nHost: 127.0.0.1\r\nTus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\n'
                       'Upload-Offset: 0\r\nContent-Length: %d\r\n\r\n' % (path, len(data))).encode() + data[:2345])
            self.assertTrue(eventually(lambda: self.offset(path, server) == 2345))
            server.stop()
        server = Server(folder)
        self.assertEqual(self.offset(path, server), 2345)
        self.patch(path, 2345, data[2345:], server=server)
        self.uploaded(path, data, server)
        server.stop()
        shutil.rmtree(folder)

    def test_expiry(self):
        server = Server(None, '--upload-expiry', '1')
        path = self.create(1000, server=server, Upload_Metadata=meta(name='old.bag')).headers['Location']
        self.patch(path, 0, b'x' * 100, server=server)
        self.assertEqual(len(self.partials(server)), 1)
        self.assertTrue(eventually(lambda: server.request('HEAD', path, headers=TUS).status == 404))
        self.assertEqual(self.partials(server), [])
        server.stop()

    # --- the IETF's draft

    def test_draft(self):
        data = bag(lab_messages(2, salt=113))
        answer = self.server.request('POST', API + '/uploads?name=draft.bag&collection=hall', data[:1500], {**DRAFT, 'Upload-Complete': '?0'})
        self.assertEqual(answer.status, 201, answer)
        self.assertEqual((answer.headers['Upload-Offset'], answer.headers['Upload-Complete'], answer.headers['Upload-Draft-Interop-Version']), ('1500', '?0', '8'))
        self.assertIn('max-size=50000000', answer.headers['Upload-Limit'])
        path = answer.headers['Location']
        answer = self.server.request('PATCH', path, data[1500:2000], {**PART, 'Upload-Complete': '?0', 'Upload-Offset': '1500'})
        self.assertEqual((answer.status, answer.headers['Upload-Offset']), (204, '2000'), answer)
        self.assertProblem(self.server.request('PATCH', path, b'x', {**PART, 'Upload-Complete': '?0', 'Upload-Offset': '9'}), 409, 'expected-offset')
        answer = self.server.request('PATCH', path, data[2000:], {**PART, 'Upload-Complete': '?0', 'Upload-Offset': '2000'})
        self.assertEqual(answer.status, 204, answer)  # all is there, but the client has not declared it complete
        answer = self.head(path, 204, headers=DRAFT)
        self.assertEqual((answer.headers['Upload-Offset'], answer.headers['Upload-Complete']), (str(len(data)), '?0'))
        answer = self.server.request('PATCH', path, b'', {**PART, 'Upload-Complete': '?1', 'Upload-Offset': str(len(data))})
        self.assertEqual((answer.status, answer.headers['Upload-Complete']), (201, '?1'), answer)
        self.assertEqual(answer.json()['content'], 'sha256:' + sha256(data))
        answer = self.head(path, 204, headers=DRAFT)
        self.assertEqual((answer.headers['Upload-Offset'], answer.headers['Upload-Complete']), (str(len(data)), '?1'))
        self.assertProblem(self.server.request('PATCH', path, b'x', {**PART, 'Upload-Complete': '?1', 'Upload-Offset': str(len(data))}), 400)

    def test_draft_at_once_and_cancelled(self):
        data = bag(lab_messages(2, salt=114))
        answer = self.server.request('POST', API + '/uploads?name=once.bag', data, {**DRAFT, 'Upload-Complete': '?1'})
        self.assertEqual((answer.status, answer.headers['Upload-Complete']), (201, '?1'), answer)
        self.assertEqual(answer.json()['content'], 'sha256:' + sha256(data))
        self.assertRegex(' '.join(answer.headers.get_all('Location')), '^%s/uploads/[^ ]+$' % API)
        self.assertEqual(answer.headers['Content-Location'], '%s/recordings/%s' % (API, answer.json()['id']))
        answer = self.server.request('POST', API + '/uploads?name=twice.bag', data[:10], {**DRAFT, 'Upload-Complete': '?0', 'Upload-Length': str(len(data))})
        path = answer.headers['Location']
        answer = self.server.request('PATCH', path, data[10:20], {**PART, 'Upload-Complete': '?1', 'Upload-Offset': '10'})
        self.assertProblem(answer, 409, 'bytes')  # less than was announced
        self.assertEqual(self.server.request('DELETE', path, headers=DRAFT).status, 204)
        self.head(path, 404, headers=DRAFT)

    # --- one request

    def test_form(self):
        data = bag(lab_messages(2, salt=115))
        path = os.path.join(self.server.data, 'form walk.bag')
        with open(path, 'wb') as f:
            f.write(data)
        annotations = json.dumps({'collection': 'hall', 'tags': {'robot': 'r2'}, 'description': 'a walk', 'sha256': sha256(data)})
        code, out = curl('-f', '-F', 'file=@' + path, '-F', 'meta=' + annotations, self.server.base + API + '/recordings')
        self.assertEqual(code, 0, out)
        recording = json.loads(out)
        self.assertEqual((recording['collection'], recording['name'], recording['content']), ('hall', 'form walk.bag', 'sha256:' + sha256(data)))
        self.assertEqual((recording['tags'], recording['description']), ({'robot': 'r2'}, 'a walk'))
        for fields, status in ((['file=@' + path, 'meta={"name": "x", "sha256": "%s"}' % sha256(b'')], b'400'), (['meta={}'], b'400'), (['file=@' + path, 'meta=[]'], b'400'),
                               (['file=@' + path, 'nonsense=1'], b'400'), (['file=@' + path, 'file=@' + path], b'400')):
            with self.subTest(fields):
                code, out = curl('-o', os.devnull, '-w', '%{http_code}', *[a for f in fields for a in ('-F', f)], self.server.base + API + '/recordings')
                self.assertEqual(out, status)
        os.unlink(path)

    def test_large_form_is_not_held_in_memory(self):
        with tempfile.NamedTemporaryFile(suffix='.bag', dir=self.server.data) as f:
            f.truncate(45_000_000)
            code, out = curl('-o', os.devnull, '-w', '%{http_code}', '-F', 'file=@' + f.name, self.server.base + API + '/recordings')
        self.assertEqual(out, b'415')

    def test_idempotency_key(self):
        data, other = bag(lab_messages(2, salt=116)), bag(lab_messages(2, salt=117))
        key = {'Idempotency-Key': 'k-1'}
        first = self.server.request('POST', API + '/recordings?name=key.bag', data, key)
        again = self.server.request('POST', API + '/recordings?name=key.bag', data, key)
        self.assertEqual((first.status, again.status, again.body, again.headers['Location']), (201, 201, first.body, first.headers['Location']))
        self.assertProblem(self.server.request('POST', API + '/recordings?name=key.bag', other, key), 422, 'Idempotency-Key')
        self.assertProblem(self.server.request('POST', API + '/recordings?name=key2.bag', data, key), 422)
        self.assertEqual(self.server.request('POST', API + '/recordings?name=key.bag', data).status, 200)
        self.assertProblem(self.server.request('POST', API + '/recordings?name=key.bag', data, {'Idempotency-Key': 'k' * 300}), 400)

    def test_more_than_can_be_counted(self):
        path = self.server.request('POST', API + '/uploads?name=huge.bag', b'', {**DRAFT, 'Upload-Complete': '?0'}).headers['Location']
        for offset, length in ((1000, 2**64 - 1000), (0, 2**64 - 1000), (2**63 - 1, 1)):
            with self.subTest(offset=offset, length=length):
                answer = self.server.raw(('PATCH %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/partial-upload\r\nUpload-Complete: ?1\r\n'
                                          'Upload-Offset: %d\r\nContent-Length: %d\r\n\r\n' % (path, offset, length)).encode())
                self.assertTrue(answer.startswith(b'HTTP/1.1 413 '), answer)
        self.assertEqual(self.server.request('DELETE', path, headers=DRAFT).status, 204)

    def test_idempotency_key_finds_the_session(self):
        data = bag(lab_messages(2, salt=118))
        asked = dict(Upload_Metadata=meta(name='found.bag'), Idempotency_Key='s-1')
        path = self.create(len(data), **asked).headers['Location']
        self.patch(path, 0, data[:700])
        again = self.create(len(data), **asked)
        self.assertEqual((again.headers['Location'], again.headers['Upload-Offset']), (path, '700'))
        self.create(len(data) + 1, status=422, **asked)
        self.patch(path, 700, data[700:])
        self.uploaded(path, data)
        self.assertEqual(self.create(len(data), **asked).headers['Upload-Offset'], str(len(data)))

    def test_group(self):
        ids = [self.server.added('split_%d.bag' % i, bag(lab_messages(2, salt=130 + i)), '?group=split') for i in range(3)]
        self.server.added('alone.bag', bag(lab_messages(2, salt=140)))
        found = self.get(API + '/recordings?group=split&sort=name').json()['items']
        self.assertEqual([(r['id'], r['group']) for r in found], [(i, 'split') for i in ids])
        self.assertEqual(self.get(API + '/recordings?group=splits').json()['items'], [])
        self.assertIsNone(self.get(API + '/recordings?q=alone').json()['items'][0]['group'])

    # --- /recordings.tar

    def test_tar(self):
        long_name = 'a walk through the long corridor/' * 5 + 'é.bag'
        wanted = {'tar/one.bag': bag(lab_messages(2, salt=150)), 'tar/%s' % long_name: bag(lab_messages(2, salt=151)), 'tar/d/x.bag': bag(lab_messages(2, salt=152))}
        for name, data in wanted.items():
            self.server.added(name[4:], data, collection='tar')
        file = self.server.added('d', bag(lab_messages(2, salt=153)), collection='tar')  # would be in the way of the folder d
        self.server.added('one.bag', bag(lab_messages(2, salt=154)), '?replace=true', collection='tar')  # a second one of that name
        wanted['tar/d~%s-0' % file] = bag(lab_messages(2, salt=153))
        answer = self.get(API + '/recordings.tar?collection=tar')
        self.assertEqual(answer.headers['Content-Type'], 'application/x-tar')
        self.assertEqual(int(answer.headers['Content-Length']), len(answer.body))
        with tarfile.open(fileobj=io.BytesIO(answer.body)) as tar:
            found = {m.name: tar.extractfile(m).read() for m in tar}
        self.assertEqual(len(found), 5)
        other = [n for n in found if n.startswith('tar/one.bag~')]
        self.assertEqual(len(other), 1)
        self.assertEqual({sha256(found['tar/one.bag']), sha256(found[other[0]])}, {sha256(wanted['tar/one.bag']), sha256(bag(lab_messages(2, salt=154)))})
        for name in wanted:
            if name != 'tar/one.bag':
                self.assertEqual(sha256(found[name]), sha256(wanted[name]), name)
        folder = tempfile.mkdtemp()
        done = subprocess.run(['tar', '-xf', '-', '-C', folder], input=answer.body, stderr=subprocess.PIPE)  # GNU's
        self.assertEqual((done.returncode, done.stderr), (0, b''))
        self.assertEqual({os.path.relpath(f, folder): sha256(open(f, 'rb').read()) for f in files_below(folder)}, {n: sha256(d) for n, d in found.items()})
        shutil.rmtree(folder)
        rng = random.Random(SEED)
        for _ in range(20):  # it can be resumed anywhere
            start = rng.randrange(len(answer.body))
            end = rng.randrange(start, min(len(answer.body), start + 5000))
            part = self.server.request('GET', API + '/recordings.tar?collection=tar', headers={'Range': 'bytes=%d-%d' % (start, end), 'If-Range': answer.headers['ETag']})
            self.assertEqual((part.status, part.body), (206, answer.body[start:end + 1]))
        empty = self.get(API + '/recordings.tar?collection=nobody')
        self.assertEqual(empty.body, bytes(1024))
        self.assertProblem(self.server.get(API + '/recordings.tar?nonsense=1'), 400)

    @in_a_folder
    def test_tar_says_what_it_leaves_out(self):
        for name, salt in (('here.bag', 160), ('gone.bag', 161), ('short.bag', 162)):
            self.server.added(name, bag(lab_messages(2, salt=salt)), collection='holes')
        blob = lambda salt: os.path.join(self.server.data, 'blobs', sha256(bag(lab_messages(2, salt=salt)))[:2], sha256(bag(lab_messages(2, salt=salt))))
        os.unlink(blob(161))
        os.truncate(blob(162), 100)
        answer = self.get(API + '/recordings.tar?collection=holes')
        self.assertEqual((answer.headers['X-Left-Out'], int(answer.headers['Content-Length'])), ('2', len(answer.body)))
        with tarfile.open(fileobj=io.BytesIO(answer.body)) as tar:
            found = {m.name: tar.extractfile(m).read() for m in tar}
        self.assertEqual(sorted(found), ['LEFT-OUT.txt', 'holes/here.bag'])
        lines = found['LEFT-OUT.txt'].decode().splitlines()
        self.assertEqual(sorted(line.split(' ')[0] for line in lines), ['holes/gone.bag', 'holes/short.bag'])

    # --- reel push

    def push(self, *args, server=None, check=0, env=None):
        done = subprocess.run([REEL, 'push', *args, (server or self.server).base], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, check, done)
        return done.stdout.decode(), done.stderr.decode()

    def test_push(self):
        folder = tempfile.mkdtemp()
        data = {'p%d.bag' % i: bag(lab_messages(2, salt=160 + i)) for i in range(5)}
        os.mkdir(folder + '/sub')
        for i, name in enumerate(data):
            with open(os.path.join(folder, 'sub' if i % 2 else '', name), 'wb') as f:
                f.write(data[name])
        out, _ = self.push('--recursive', '-j', '3', '--collection', 'pushed', '--tag', 'robot=r7', '--group', 'g7', folder)
        self.assertEqual(out.count(': added as pushed/'), 5)
        for i, name in enumerate(data):
            recording = self.get('%s/recordings/name:pushed%%2F%s' % (API, ('sub%2F' if i % 2 else '') + name)).json()
            self.assertEqual((recording['content'], recording['tags'], recording['group']), ('sha256:' + sha256(data[name]), {'robot': 'r7'}, 'g7'))
        out, _ = self.push('--recursive', '--collection', 'pushed', folder)
        self.assertEqual(out.count(': already stored as pushed/'), 5)
        first = os.path.join(folder, 'p0.bag')
        with open(first, 'wb') as f:
            f.write(bag(lab_messages(2, salt=170)))
        with open(folder + '/no.bag', 'wb') as f:
            f.write(b'no bag\n' * 100)
        out, err = self.push(first, folder + '/no.bag', folder + '/absent.bag', folder + '/p2.bag', '--collection', 'pushed', check=1)
        self.assertIn('p2.bag: already stored', out)
        for words in ('p0.bag: the name "p0.bag" has other content', 'no.bag: the server answered 415', 'absent.bag: cannot be opened'):
            self.assertIn(words, err)
        out, _ = self.push(first, '--collection', 'pushed', '--replace')
        self.assertIn('added as', out)
        id = self.get(API + '/recordings/name:pushed%2Fp0.bag').json()['id']
        self.assertEqual(self.server.request('DELETE', '%s/recordings/%s?purge=true' % (API, id)).status, 204)
        id = self.get(API + '/recordings/name:pushed%2Fp2.bag').json()['id']
        self.assertEqual(self.server.request('DELETE', '%s/recordings/%s?purge=true' % (API, id)).status, 204)
        out, _ = self.push(folder + '/p2.bag', '--collection', 'pushed', '--tag', 'robot=r7', '--group', 'g7')  # its session says done, but it is gone
        self.assertIn('added as', out)
        shutil.rmtree(folder)

    def test_push_of_folders(self):
        folder = tempfile.mkdtemp()
        for day, salt in (('monday', 180), ('tuesday', 181)):
            os.mkdir(os.path.join(folder, day))
            with open(os.path.join(folder, day, 'run.bag'), 'wb') as f:
                f.write(bag(lab_messages(2, salt=salt)))
            with open(os.path.join(folder, day, 'notes.txt'), 'wb') as f:
                f.write(b'no recording\n' * 50)
        args = ('--recursive', '--collection', 'days', folder)
        out, _ = self.push('--dry-run', *args)
        self.assertEqual((out.count('would be uploaded as days/'), self.get(API + '/recordings?collection=days').json()['items']), (2, []))
        out, err = self.push('--glob', 'tuesday/*', *args)
        self.assertEqual((out.count(': added as days/tuesday/run.bag'), out.count('monday')), (1, 0))
        self.assertEqual(self.push('--quiet', *args), ('', ''))
        names = sorted((item['name'], item['revision']) for item in self.get(API + '/recordings?collection=days').json()['items'])
        self.assertEqual(names, [('monday/run.bag', 1), ('tuesday/run.bag', 1)])
        out, _ = self.push(*args)
        self.assertEqual((out.count('already stored as days/'), out.count('notes.txt: is no recording, passed over')), (2, 2))
        self.push(os.path.join(folder, 'monday', 'notes.txt'), check=1)  # named: an error
        shutil.rmtree(folder)

    def test_push_comes_again_when_it_is_put_off(self):
        """A server (or a proxy before it) that says 503 is asked again, also for what it received; its message is shown."""
        folder, data = tempfile.mkdtemp(), b'some bytes' * 200000  # more than one request sends
        path = os.path.join(folder, 'a.bag')
        with open(path, 'wb') as f:
            f.write(data)
        with Scripted(data, {'GET': 1}) as busy:
            out, _ = self.push(path, server=busy)
            self.assertIn('a.bag: added as default/a.bag', out)
            self.assertEqual(busy.put_off, {'GET': 0})
        with Scripted(data, {'GET name': 1}) as busy:
            _, err = self.push(path, '--retries', '0', server=busy, check=1)
            self.assertIn('a.bag: the server answered 503: not just now', err)
        small = os.path.join(folder, 'small.bag')
        with open(small, 'wb') as f:
            f.write(b'some bytes')
        with Scripted(b'some bytes', {'PUT': 1}) as busy:
            out, _ = self.push(small, server=busy)
            self.assertIn('small.bag: added as default/a.bag', out)
            self.assertEqual((busy.put_off, busy.taken), ({'PUT': 0}, b'some bytes'))
        shutil.rmtree(folder)

    def test_push_goes_on_after_kills(self):
        """The client is killed, then the server while the client waits: in the end the bytes are the same."""
        folder, data = tempfile.mkdtemp(), bag(lab_messages(4, blob=1_000_000, salt=180))
        path = os.path.join(folder, 'big.bag')
        with open(path, 'wb') as f:
            f.write(data)
        store = os.path.join(folder, 'data')
        server = Server(store)
        slow = Link(server.port, rate=6_000_000)
        command = [REEL, 'push', path, 'http://127.0.0.1:%d' % slow.port, '--retries', '20']
        client = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(client.kill)
        self.assertTrue(eventually(lambda: slow.passed > len(data) // 5))
        client.kill()
        client.communicate()
        first = slow.passed
        client = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(client.kill)
        self.assertTrue(eventually(lambda: slow.passed > first + len(data) // 5))
        server.process.kill()
        server.process.wait()
        server.stop(None)
        server = Server(store)
        slow.to = server.port
        out, err = client.communicate(timeout=PATIENCE)
        self.assertEqual(client.returncode, 0, err)
        self.assertIn(b'added as default/big.bag', out)
        self.assertLess(slow.passed, len(data) * 1.6)  # it went on, and did not begin anew
        recording = server.get(API + '/recordings/name:default%2Fbig.bag').json()
        self.assertEqual(recording['content'], 'sha256:' + sha256(data))
        slow.close()
        server.stop()
        shutil.rmtree(folder)

    # --- common clients

    def test_curl_and_wget_resume_a_download(self):
        data = bag(lab_messages(3, blob=100000, salt=190))
        id = self.server.added('resume.bag', data)
        url = '%s%s/recordings/%s/file/resume.bag' % (self.server.base, API, id)
        folder = tempfile.mkdtemp()
        for tool, command in (('curl', ['curl', '-sS', '-C', '-', '-O', url]), ('wget', ['wget', '-q', '-c', url])):
            with self.subTest(tool):
                if not shutil.which(tool):
                    self.skipTest('%s is not installed' % tool)
                path = os.path.join(folder, 'resume.bag')
                with open(path, 'wb') as f:
                    f.write(data[:54321])
                done = subprocess.run(command, cwd=folder, stderr=subprocess.PIPE, timeout=PATIENCE)
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(path, 'rb') as f:
                    self.assertEqual(sha256(f.read()), sha256(data))
        shutil.rmtree(folder)


class Scripted:
    """Takes one file of `data` as the server does, but says 503 to the first requests of some kinds."""

    def __init__(self, data, put_off):
        scripted, done = self, {'Content-Location': '/api/v1/recordings/1'}
        self.put_off, self.taken = put_off, b''
        recording = {'id': '1', 'name': 'a.bag', 'collection': 'default', 'state': 'ready', 'content': 'sha256:' + sha256(data)}

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def answer(self):
                kind = self.command + (' name' if '/name:' in self.path else '')
                body = self.rfile.read(int(self.headers.get('Content-Length', 0)))
                if scripted.put_off.get(kind):
                    scripted.put_off[kind] -= 1
                    return self.reply(503, {}, {'detail': 'not just now'})
                if kind in ('PATCH', 'PUT'):
                    scripted.taken += body
                whole = done if scripted.taken == data else {}
                offset = {'Upload-Offset': str(len(scripted.taken))}
                return self.reply(*{'GET name': (404, {}, {}), 'POST': (201, {'Location': '/api/v1/uploads/1', **whole, **offset}), 'HEAD': (200, {**whole, **offset}),
                                  'PATCH': (204, {**whole, **offset}), 'GET': (200, {}, recording), 'PUT': (201, {}, recording)}[kind])

            def reply(self, status, headers, body=None):
                text = b'' if body is None or self.command == 'HEAD' else json.dumps(body).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if status != 204:
                    self.send_header('Content-Length', str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_HEAD = do_PATCH = do_PUT = answer

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.base = 'http://127.0.0.1:%d' % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
