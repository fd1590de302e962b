"""Streams that last end soon after their token or link does, or after the recording has left the token's collections."""
import http.client
import json
import os
import threading
import time
import urllib.parse

from harness import API, Case, create_token, eventually, reel
from samples import bag, lab_messages
from test_access import bearer
from test_live import Live, row

SOON = 30  # seconds: rights are checked twice in one, but the machine may be loaded; without a check they never end
LIFE = 10  # seconds that a token or link lasts: longer than it takes to open the streams
SUSPENDED = 2.5  # for what must go on


class Reading(threading.Thread):
    """A stream, read by a thread; `ended` when nothing more comes, however that was."""

    def __init__(self, server, path, headers):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=60)
        self.connection.request('GET', path, headers=headers)
        self.answer = self.connection.getresponse()
        self.body, self.ended, self.whole = b'', False, False
        self.status = self.answer.status
        self.start()

    def run(self):
        try:
            while True:
                got = self.answer.read1(65536)
                self.body += got
                if not got:
                    self.whole = True
                    break
        except (http.client.HTTPException, OSError):
            pass
        self.ended = True


def in_seconds(n):
    return time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(time.time() + n))


class StreamRights(Case):
    @classmethod
    def fill(cls):
        cls.stored = cls.server.added('a.bag', bag(lab_messages(50)), collection='open')
        cls.other = cls.server.added('b.bag', bag(lab_messages(1)), collection='open')
        cls.server.put('large.txt', os.urandom(20_000_000), '?keep=true', collection='open')  # what a slow integrity check takes long for
        cls.live = Live(cls.server, 'growing', collection='open')
        cls.live.appended([row('/a', 1)])
        cls.root = create_token(cls.server, 'admin', 'root')
        cls.count = 0

    def call(self, method, path, body=None, **headers):
        return self.server.request(method, path, None if body is None else json.dumps(body), {**bearer(self.root), **headers})

    def setUp(self):
        job = self.call('POST', API + '/admin/scrub?rate=1')
        self.assertEqual(job.status, 202, job)
        self.job = job.json()['job']['id']

    def tearDown(self):
        self.call('DELETE', '%s/jobs/%s' % (API, self.job))
        eventually(lambda: self.call('GET', '%s/jobs/%s' % (API, self.job)).json()['state'] == 'cancelled')

    def streams(self):
        """Name, path, headers and whether it is of a recording."""
        live = self.live.path('/messages?follow=true')
        play = '%s/recordings/%s/play?paused=true' % (API, self.stored)
        slow = '%s/recordings/%s/play?speed=0.01' % (API, self.stored)
        for output in ('ndjson', 'events', 'msgpack', 'json-seq'):
            yield 'follow ' + output, live + '&output=' + output, {}, True
        for output in ('ndjson', 'events', 'msgpack'):
            yield 'play ' + output, play + '&output=' + output, {}, True
        yield 'play slowly', slow, {}, True
        yield 'play a merge', '%s/merge/play?recording=%s&recording=%s&paused=true' % (API, self.other, self.stored), {}, True
        yield 'changes', API + '/changes?since=0', {'Accept': 'text/event-stream'}, False
        yield 'job', '%s/jobs/%s' % (API, self.job), {'Accept': 'text/event-stream'}, False

    def token(self, *args):
        type(self).count += 1
        name = 'reader-%d' % self.count
        return name, create_token(self.server, 'read', name, *args)

    def opened(self, token=None, of_recordings=False, path=lambda path: path, headers=None, without=()):
        headers = headers if headers is not None else bearer(token)
        found = {name: Reading(self.server, path(at), {**headers, **more})
                 for name, at, more, of_recording in self.streams() if (of_recording or not of_recordings) and name not in without}
        for name, stream in found.items():
            self.assertEqual(stream.status, 200, (name, stream.answer.headers.items()))
        return found

    def all_go_on(self, streams):
        time.sleep(SUSPENDED)
        self.assertEqual([name for name, s in streams.items() if s.ended], [])

    def all_end(self, streams):
        eventually(lambda: all(s.ended for s in streams.values()), LIFE + SOON)
        self.assertEqual([name for name, s in streams.items() if not s.ended], [])
        for name, stream in streams.items():
            if name == 'changes':
                self.assertIn(b'event: end\ndata: {"why":"reconnect"}', stream.body)
            else:
                self.assertFalse(stream.whole, name)  # cut: what ends well would be taken for the end of the recording

    def test_revoked_token(self):
        name, token = self.token()
        streams = self.opened(token)
        others = self.opened(self.root)
        self.all_go_on(streams)
        reel('token', 'revoke', name, '--data', self.server.data)
        self.all_end(streams)
        self.live.server.request('POST', self.live.path('/messages'), json.dumps(row('/a', 2)) + '\n', {**bearer(self.root), 'Content-Type': 'application/x-ndjson'})
        self.assertEqual([name for name, s in others.items() if s.ended], [])

    def test_expired_token(self):
        _, token = self.token('--expires', in_seconds(LIFE))
        streams = self.opened(token)
        self.assertEqual([name for name, s in streams.items() if s.ended], [])
        self.all_end(streams)

    def test_recording_out_of_scope(self):
        _, token = self.token('--collection', 'open')
        streams = self.opened(token, of_recordings=True)
        self.all_go_on(streams)
        for recording in (self.stored, self.live.id):
            self.assertEqual(self.call('PATCH', '%s/recordings/%s' % (API, recording), {'collection': 'closed'}).status, 200)
        try:
            self.all_end(streams)
        finally:
            for recording in (self.stored, self.live.id):
                self.call('PATCH', '%s/recordings/%s' % (API, recording), {'collection': 'open'})

    def test_signed_paths(self):
        """Their streams end with the link, and with the token that signed it."""
        name, token = self.token()

        def signed(path):
            answer = self.server.request('POST', API + '/links', json.dumps({'path': path, 'expires': in_seconds(60)}), bearer(token))
            self.assertEqual(answer.status, 201, answer)
            return answer.json()['url']
        streams = self.opened(path=signed, headers={})
        self.assertEqual([name for name, s in streams.items() if s.ended], [])
        reel('token', 'revoke', name, '--data', self.server.data)
        self.all_end(streams)

    def test_links_to_a_recording(self):
        def key(recording):
            answer = self.call('POST', '%s/recordings/%s/links' % (API, recording), {'expires': in_seconds(LIFE)})
            self.assertEqual(answer.status, 201, answer)
            return urllib.parse.quote(answer.json()['key'])
        keys = {recording: key(recording) for recording in (self.stored, self.live.id)}
        streams = self.opened(of_recordings=True, path=lambda path: path + '&link=' + next(k for r, k in keys.items() if r in path), headers={},
                              without=('play a merge',))  # a link is of one recording
        self.assertEqual([name for name, s in streams.items() if s.ended], [])
        self.all_end(streams)
        self.assertEqual(self.server.get(self.live.path(), Authorization='Bearer ' + self.root).status, 200)  # the ends were no failed log-ins
