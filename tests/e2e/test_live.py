"""Live recordings: messages are appended over HTTP and read while they come; what was answered survives the end of the server."""
import contextlib
import http.client
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import msgpack

from harness import API, PATIENCE, REEL, Case, Server, create_token, eventually, files_below, in_a_folder, reel
from samples import T0, bag, lab_messages


def row(topic, number, **more):
    return dict({'topic': topic, 'log_time': T0 + number * 1000000, 'data': {'x': number}}, **more)


def lines(rows):
    return ''.join(json.dumps(r) + '\n' for r in rows)


class Live:
    """Of one server, which may be replaced by another one."""
    def __init__(self, server, name='run', collection='lab', query=''):
        self.server = server
        answer = server.request('POST', '%s/recordings?live=true&name=%s&collection=%s%s' % (API, name, collection, query))
        assert answer.status == 201, answer
        self.id = answer.json()['id']

    def path(self, rest=''):
        return '%s/recordings/%s%s' % (API, self.id, rest)

    def append(self, rows, query='', kind='application/x-ndjson', **headers):
        body = rows if isinstance(rows, (str, bytes)) else lines(rows)
        headers = {k.replace('_', '-'): v for k, v in headers.items()}
        return self.server.request('POST', self.path('/messages' + query), body, dict({'Content-Type': kind}, **headers))

    def appended(self, rows, **more):
        answer = self.append(rows, **more)
        assert answer.status == 200, answer
        return answer.json()

    def rows(self, query=''):
        return [r for r in self.server.get(self.path('/messages' + query)).rows() if 'topic' in r]

    def numbers(self, query=''):
        return [r['data']['x'] for r in self.rows(query)]

    def row(self):
        return self.server.get(self.path()).json()

    def finish(self):
        answer = self.server.request('POST', self.path('/finish'))
        assert answer.status == 200, answer
        return answer.json()


class Following(threading.Thread):
    def __init__(self, server, path, **headers):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=60)
        self.connection.request('GET', path, headers=headers)
        self.answer = self.connection.getresponse()
        self.lines, self.ended = [], False
        self.start()

    def run(self):
        for line in self.answer:
            self.lines.append(line)
        self.ended = True

    def numbers(self):
        return [json.loads(line)['data']['x'] for line in list(self.lines) if line.startswith(b'{"topic"')]


class Appending(Case):
    def test_it_is_a_recording_like_any_other(self):
        live = Live(self.server, 'like-any', query='&tag=robot=r7')
        self.assertEqual((live.row()['state'], live.row()['messages'], live.row()['content']), ('recording', 0, None))
        appended = live.appended([row('/a', 1), row('/b', 3), row('/a', 2)])
        self.assertEqual(appended, {'appended': 3, 'last': live.rows()[1]['log_time']})
        now = live.row()
        self.assertEqual((now['messages'], now['channels'], [t['name'] for t in now['topics']]), (3, 2, ['/a', '/b']))
        self.assertEqual((live.numbers(), live.numbers('?topic=/a'), live.numbers('?start=%2B2ms')), ([1, 2, 3], [1, 2], [3]))
        self.assertEqual(self.get(live.path('/series?field=/a.x')).json()[-1][1], 2)
        self.assertEqual(self.get(live.path('/message?topic=/a&index=-1'), Accept='application/json').json()['data'], {'x': 2})
        self.assertEqual(self.get(live.path('/as/now.mcap')).body[:8], b'\x89MCAP0\r\n')
        self.assertEqual(len(self.get(live.path('/as/now.mcap')).body), int(self.server.request('HEAD', live.path('/as/now.mcap')).headers['Content-Length']))
        self.assertTrue(eventually(lambda: [r['id'] for r in self.get(API + '/recordings?q=topic:/b+state:recording').json()['items']] == [live.id]))
        done = live.finish()
        self.assertEqual((done['state'], done['messages'], done['tags'], done['parts'][0]['name']), ('ready', 3, {'robot': 'r7'}, 'like-any.mcap'))
        self.assertEqual(live.finish()['state'], 'ready')
        self.assertEqual(live.numbers(), [1, 2, 3])
        scan = self.get(live.path('/scan')).json()
        self.assertEqual((scan['findings_total'], scan['damaged']), (0, False))
        self.assertProblem(live.append([row('/a', 9)]), 409, 'finished')
        self.assertProblem(self.server.request('POST', API + '/recordings?live=true&name=like-any&collection=lab'), 409, 'replace=true')

    def test_appended_while_it_is_finished(self):
        """Conflict only once the recording says that it is finished: who appends asks, and must not be misled."""
        live = Live(self.server, 'ends')
        for i in range(4):
            live.appended([row('/blob', i, data='x' * 15_000_000)], query='?durable=false')
        finishing = threading.Thread(target=live.finish)
        finishing.start()
        statuses, until = [], time.monotonic() + PATIENCE
        while 409 not in statuses and time.monotonic() < until:
            statuses.append(live.append([row('/a', 1)]).status)
        self.assertEqual(live.row()['state'], 'ready')
        finishing.join()
        self.assertLessEqual(set(statuses), {200, 409, 503})

    def test_what_cannot_be_appended(self):
        live = Live(self.server, 'refused')
        live.appended([row('/a', 1)])
        self.assertProblem(live.append(lines([row('/a', 2)]) + 'x'), 400, 'row 2')
        self.assertProblem(live.append('[1]'), 400, 'row 1')
        self.assertProblem(live.append('x', kind='application/x-www-form-urlencoded'), 400, '--data-binary')
        self.assertProblem(live.append('x', kind='image/png'), 415, 'x-ndjson')
        self.assertProblem(live.append('{"$channel":{"topic":"/a","encoding":"ros1"}}'), 409, '/a')
        self.assertProblem(live.append(b'\x89MCAP0\r\n' + b'\x05garbage', kind='application/vnd.mcap'), 422, 'the body')
        self.assertProblem(live.append(b' ' * ((16 << 20) + 1)), 413, '16 MiB')
        self.assertEqual(live.numbers(), [1])
        self.assertEqual(self.server.request('DELETE', live.path()).status, 409)
        self.assertProblem(self.server.request('POST', '%s/recordings/%s/messages' % (API, '0' * 32), '{}'), 404)
        self.assertProblem(self.server.request('POST', API + '/recordings?live=true&name=x', 'body'), 400, 'without a body')
        self.assertProblem(self.server.request('POST', API + '/recordings?live=true&name=..'), 400, 'name')
        self.assertEqual(self.server.request('DELETE', live.path('?purge=true')).status, 204)
        self.assertEqual([f for f in files_below(self.server.data) if '/live/' in str(f) and live.id in str(f)], [])

    def test_every_medium(self):
        live = Live(self.server, 'media')
        live.appended(json.dumps([row('/json', 1), row('/json', 2)]), kind='application/json')
        live.appended(msgpack.packb({'topic': '/m', 'log_time': T0, 'data': {'x': 3}}) + msgpack.packb({'topic': '/bytes', 'log_time': T0, 'data': b'\0\1'}),
                      kind='application/msgpack')
        other = Live(self.server, 'other')
        other.appended([{'$channel': {'topic': '/s', 'type': 'std_msgs/String', 'encoding': 'ros1', 'schema': 'string data\n'}},
                        {'topic': '/s', 'log_time': T0, 'data': {'$base64': 'AgAAAGhp'}}])
        self.assertEqual(other.rows()[0]['data'], {'data': 'hi'})
        mcap = self.get(other.path('/as/o.mcap')).body
        self.assertEqual(live.appended(mcap, kind='application/vnd.mcap')['appended'], 1)
        records = mcap[8:]
        self.assertEqual(live.appended(records, kind='application/vnd.mcap')['appended'], 1)
        found = {r['topic']: r['data'] for r in live.rows()}
        self.assertEqual(found, {'/json': {'x': 2}, '/m': {'x': 3}, '/bytes': {'$base64': 'AAE='}, '/s': {'data': 'hi'}})
        types = {c['name']: c['channels'][0] for c in self.get(live.path('/topics')).json()['items']}
        self.assertEqual((types['/s']['type'], types['/s']['encoding']), ('std_msgs/String', 'ros1'))
        self.assertEqual(live.finish()['messages'], 6)
        self.assertEqual(self.get(live.path('/as/x.bag')).body[:13], b'#ROSBAG V2.0\n')

    def test_a_repeated_batch_is_appended_once(self):
        live = Live(self.server, 'keys')
        first = live.appended([row('/a', 1)], Idempotency_Key='one')
        again = live.appended([row('/a', 1)], Idempotency_Key='one')
        self.assertEqual(again, dict(first, repeated=True))
        live.appended([row('/a', 2)], Idempotency_Key='two')
        self.assertEqual(live.numbers(), [1, 2])

    def test_many_writers(self):
        live = Live(self.server, 'writers')
        def write(w):
            for i in range(25):
                live.appended([row('/w%d' % w, i, data={'x': i}), row('/w%d' % w, i)], query='?durable=false' if i % 2 else '')
        writers = [threading.Thread(target=write, args=(w,)) for w in range(6)]
        for w in writers:
            w.start()
        for w in writers:
            w.join(60)
        self.assertEqual(live.row()['messages'], 6 * 50)
        self.assertEqual(live.finish()['messages'], 6 * 50)
        for w in range(6):
            self.assertEqual(live.numbers('?topic=/w%d' % w), sorted(2 * list(range(25))))

    def test_followers_get_what_comes(self):
        live = Live(self.server, 'followed')
        live.appended([row('/a', 1)])
        following = Following(self.server, live.path('/messages?follow=true'))
        events = Following(self.server, live.path('/messages?follow=true&topic=/b'), Accept='text/event-stream')
        self.assertTrue(eventually(lambda: following.numbers() == [1]))
        for rows, numbers in (([row('/b', 7)], [1, 7]), ([row('/a', 0), row('/b', 8)], [1, 7, 0, 8])):  # a new topic, and late messages
            live.appended(rows)  # what is there when it looks comes in order of time
            self.assertTrue(eventually(lambda: following.numbers() == numbers), (following.lines, following.ended))
        self.assertTrue(eventually(lambda: sum(line.startswith(b'data: {"topic":"/b"') for line in events.lines) == 2))
        self.assertFalse(following.ended)
        live.appended([row('/a', 9)])
        live.finish()
        self.assertTrue(eventually(lambda: following.ended and events.ended))
        self.assertEqual(following.numbers(), [1, 7, 0, 8, 9])
        after = Following(self.server, live.path('/messages?follow=true'))  # what is finished ends at once
        self.assertTrue(eventually(lambda: after.ended))
        self.assertEqual(after.numbers(), [0, 1, 7, 8, 9])
        for output in ('json', 'csv'):
            self.assertProblem(self.server.get(live.path('/messages?follow=true&output=' + output)), 400, 'follow')


class Expiry(Case):
    server_args = ('--live-expiry', '4')

    def test_silence_finishes_a_recording(self):
        live = Live(self.server, 'silent')
        live.appended([row('/a', 1)])
        self.assertTrue(eventually(lambda: live.row()['state'] == 'ready'))
        self.assertEqual(live.numbers(), [1])


class Killed(unittest.TestCase):
    """kill -9 at any moment, again and again: every message that was answered is there, in order, once, and the recording goes on."""

    def test_everything_answered_survives(self):
        random.seed(7)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        server = Server(folder.name)
        live, answered, at = Live(server), 0, 0
        for round_ in range(6):
            stop = threading.Timer(random.uniform(0.05, 0.4), server.process.kill)
            stop.start()
            try:
                while True:  # each batch is repeated until it is answered
                    batch, query = [row('/a', at + i) for i in range(random.randint(1, 40))], '?durable=%s' % random.choice(('true', 'false'))
                    live.appended(batch, Idempotency_Key='batch-%d' % at, query=query)
                    at += len(batch)
            except (OSError, http.client.HTTPException, AssertionError):
                stop.join()
            server.process.wait()
            server = Server(folder.name)
            live.server = server
            found = live.numbers()
            self.assertEqual(found[:at], list(range(at)))
            batch = [row('/a', at + i) for i in range(len(batch))]
            live.appended(batch, Idempotency_Key='batch-%d' % at, query=query)
            at += len(batch)
            self.assertEqual(live.numbers(), list(range(at)))
        self.assertEqual(live.finish()['messages'], at)
        self.assertEqual(server.get(live.path('/scan')).json()['findings_total'], 0)
        server.stop()

    def test_killed_while_it_finishes(self):
        for delay in (0, 0.002, 0.005, 0.01):
            with tempfile.TemporaryDirectory() as folder:
                server = Server(folder)
                live = Live(server)
                live.appended([row('/a', i) for i in range(20000)])
                asked = threading.Thread(target=lambda: self.ask(live))
                asked.start()
                time.sleep(delay)
                server.process.kill()
                server.process.wait()
                asked.join()
                server = live.server = Server(folder)
                self.assertEqual(live.finish()['messages'], 20000)
                self.assertEqual(server.get(live.path('/scan')).json()['findings_total'], 0)
                self.assertEqual([str(f) for f in files_below(folder) if '/live/' in str(f)], [])
                server.stop()

    @staticmethod
    def ask(live):
        try:
            live.finish()
        except (OSError, http.client.HTTPException, AssertionError):
            pass

    def test_old_keys_are_forgotten(self):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(folder)
            live = Live(server, 'keys')
            append = lambda key: live.appended([row('/a', 1)], Idempotency_Key=key).get('repeated', False)
            self.assertFalse(append('before'))
            server.stop()
            path = os.path.join(folder, 'live', live.id + '.keys')
            with open(path) as f:
                own = f.read()
            with open(path, 'w') as f:  # of as many batches as may be remembered
                f.write(''.join('e 1 0 %064x %064x\n' % (i, i) for i in range(99_999)) + own)
            server = live.server = Server(folder)
            self.assertFalse(append('after'))
            self.assertTrue(append('before'))
            with open(path) as f:
                self.assertEqual(len([line for line in f if line.startswith('e ')]), 50_001)
            server.stop()
            server = live.server = Server(folder)
            self.assertEqual((append('before'), append('after'), append('new')), (True, True, False))
            live.finish()
            self.assertEqual(os.listdir(os.path.join(folder, 'live')), [])
            server.stop()

    def test_a_lost_file(self):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(folder)
            live = Live(server, 'lost')
            live.appended([row('/a', 1)])
            server.stop()
            path = os.path.join(folder, 'live', live.id + '.mcap')
            os.rename(path, path + '.away')
            server = live.server = Server(folder)
            self.assertTrue(eventually(lambda: live.row()['state'] == 'missing'))
            self.assertEqual(live.append([row('/a', 2)]).status, 409)
            self.assertNotIn(folder, json.dumps([live.row(), server.get(API + '/jobs').json()]))
            sweeps = lambda: {j['id'] for j in server.get(API + '/jobs').json()['items'] if (j['kind'], j['state']) == ('sweep', 'done')}
            before = sweeps()
            server.stop()
            server = live.server = Server(folder)  # which checks all recordings once more
            self.assertTrue(eventually(lambda: sweeps() - before))
            self.assertNotIn('scan', [j['kind'] for j in server.get(API + '/jobs').json()['items']])  # there is no file
            self.assertEqual(live.row()['state'], 'missing')
            server.stop()
            os.rename(path + '.away', path)
            server = live.server = Server(folder)  # and with the file it goes on
            live.appended([row('/a', 2)])
            self.assertEqual((live.numbers(), live.finish()['state']), ([1, 2], 'ready'))
            server.stop()

    @in_a_folder
    def test_a_lost_catalog(self):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(folder)
            live = Live(server, 'kept')
            live.appended([row('/a', 1)])
            server.stop()
            for name in os.listdir(folder):
                if name.startswith('catalog.db'):
                    os.unlink(os.path.join(folder, name))
            server = live.server = Server(folder)
            live.appended([row('/a', 2)])
            self.assertEqual((live.row()['name'], live.row()['state'], live.numbers()), ('kept', 'recording', [1, 2]))
            server.stop()


class Record(unittest.TestCase):
    """`reel record`: rows from a program into a file or a live recording."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def record(self, *args, rows=None):
        process = subprocess.Popen([REEL, 'record', *args], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        if rows is not None:
            process.stdin.write(lines(rows).encode())
            process.stdin.flush()
        return process

    def ended(self, process):
        out = process.communicate(timeout=60)
        process.communicate = lambda: out
        return process.returncode, out[1].decode()

    def numbers(self, name):
        out = reel('cat', os.path.join(self.folder, name)).stdout
        return [json.loads(line)['data']['x'] for line in out.splitlines()]

    def written(self, name):
        """Of a file that grows: some of its rows, sooner or later."""
        path = os.path.join(self.folder, name)
        return eventually(lambda: os.path.exists(path) and reel('cat', path, check=False).stdout)

    def test_into_files(self):
        rows = [row('/a', i) for i in range(3000)]
        for name in ('a.mcap', 'a.bag', 'a.tape', 'a.ndjson'):
            self.assertEqual(self.ended(self.record(name, rows=rows)), (0, 'reel record: 3000 messages\n'))
        for name in ('a.mcap', 'a.bag', 'a.tape'):
            self.assertEqual(self.numbers(name), list(range(3000)))
        self.assertEqual(sorted(os.listdir(self.folder)), ['a.bag', 'a.mcap', 'a.ndjson', 'a.tape'])
        self.assertIn('exists', self.ended(self.record('a.mcap'))[1])
        code, problem = self.ended(self.record('x.log', rows=rows))
        self.assertEqual(code, 1)
        self.assertIn('x.log.recording.mcap', problem)
        self.assertEqual(self.numbers('x.log.recording.mcap'), list(range(3000)))
        code, problem = self.ended(self.record('x.nanover.zip', rows=rows[:1]))  # it ends before it has read many
        self.assertEqual((code, 'holds NanoVer messages only' in problem), (1, True))

    def test_options_of_the_format(self):
        rows = [row('/a', i) for i in range(300)]
        for name, *options in (('whole.tape',), ('small.tape', '--block-size', '1024'), ('packed.tape', '--compression', 'zlib', '--compress-from', '1'),
                               ('other.tape', '--compression', 'zlib', '--compress-from', '1', '--compress-topic', '/b')):
            self.assertEqual(self.ended(self.record(name, *options, rows=rows))[0], 0)
            self.assertEqual(self.numbers(name), list(range(300)))
        head = lambda name: open(os.path.join(self.folder, name), 'rb').read(24)
        self.assertEqual([int.from_bytes(head(name)[20:], 'little') > 1 for name in ('whole.tape', 'small.tape')], [False, True])
        for name, word in (('a.mcap', 'block'), ('b.tape', '1024')):
            code, problem = self.ended(self.record(name, '--block-size', '10'))
            self.assertEqual((code, word in problem, os.path.exists(os.path.join(self.folder, name))), (2, True, False), problem)
        code, problem = self.ended(self.record('--to', 'http://127.0.0.1:1', '--name', 'x', '--block-size', '2048'))
        self.assertEqual((code, 'of a file' in problem), (2, True), problem)

    def test_what_came_before_a_mistake_is_kept(self):
        process = self.record('a.mcap', rows=[row('/a', 1)])
        self.assertTrue(self.written('a.mcap'))  # the first row is a batch of its own
        process.stdin.write(b'junk\n')
        code, problem = self.ended(process)
        self.assertEqual((code, 'no JSON object' in problem), (1, True))
        self.assertEqual(self.numbers('a.mcap'), [1])

    def test_killed(self):
        process = self.record('a.mcap', rows=[row('/a', i) for i in range(100)])
        path = os.path.join(self.folder, 'a.mcap')
        self.assertTrue(eventually(lambda: os.path.exists(path) and os.path.getsize(path) > 5000))
        process.kill()
        self.ended(process)
        self.assertEqual(self.numbers('a.mcap'), list(range(100)))

    def feed(self, process, rate):
        """Writes rows, evenly, until the process ends or the test does."""
        ended = threading.Event()

        def write():
            with contextlib.suppress(BrokenPipeError):
                for i in itertools.count():
                    process.stdin.write(lines([row('/a', i)]).encode())
                    process.stdin.flush()
                    if ended.wait(1 / rate):
                        return

        thread = threading.Thread(target=write)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(ended.set)

    def test_killed_while_rows_keep_coming(self):
        server = Server(os.path.join(self.folder, 'data'))
        self.addCleanup(server.stop)
        files = {(name, 50): None for name in ('a.mcap', 'a.bag', 'a.tape', 'a.tide', 'a.log.recording.mcap')}
        files.update({('%d.mcap' % rate, rate): None for rate in (1, 20, 200, 5000)})
        for name, rate in files:
            files[name, rate] = self.record(name.replace('.recording.mcap', ''))
            self.feed(files[name, rate], rate)
        remote = self.record('--to', 'http://127.0.0.1:%d' % server.port, '--name', 'remote')
        self.feed(remote, 50)
        listed = lambda: server.get(API + '/recordings').json()['items']
        self.assertTrue(eventually(lambda: listed() and listed()[0]['messages'] > 0))
        for (name, rate), process in files.items():
            with self.subTest(name=name):
                self.assertTrue(self.written(name))
                seen = self.numbers(name)
                process.kill()
                process.wait()
                kept = self.numbers(name)
                self.assertEqual(kept, list(range(len(kept))))
                self.assertGreaterEqual(len(kept), len(seen))
        remote.kill()

    def test_interrupted(self):
        process = self.record('a.mcap', rows=[row('/a', 1)])
        self.assertTrue(self.written('a.mcap'))
        process.send_signal(signal.SIGINT)
        self.assertTrue(eventually(lambda: process.poll() is not None))
        self.assertIn(b'clean', reel('check', os.path.join(self.folder, 'a.mcap')).stdout)

    def test_to_a_server_that_is_killed(self):
        data = os.path.join(self.folder, 'data')
        server = Server(data)
        process = self.record('--to', 'http://127.0.0.1:%d' % server.port, '--name', 'remote', rows=[row('/a', i) for i in range(50)])
        first = lambda: server.get(API + '/recordings').json()['items']
        self.assertTrue(eventually(lambda: first() and server.get('%s/recordings/%s' % (API, first()[0]['id'])).json()['messages'] == 50))
        server.process.kill()
        server.process.wait()
        process.stdin.write(lines([row('/a', i) for i in range(50, 90)]).encode())
        process.stdin.flush()
        time.sleep(0.3)
        again = Server(data, '--listen', '127.0.0.1:%d' % server.port)
        server = again
        self.assertEqual(self.ended(process)[0], 0)
        done, = first()
        self.assertEqual((done['state'], done['messages']), ('ready', 90))
        self.assertEqual([r['data']['x'] for r in again.get('%s/recordings/%s/messages' % (API, done['id'])).rows()], list(range(90)))
        again.stop()

    def test_rows_with_their_channels_are_the_recording(self):
        server = Server(os.path.join(self.folder, 'data'))
        whole = server.added('lab.bag', bag(lab_messages(1)))
        path = '%s/recordings/%s/messages?decode=none&channels=true' % (API, whole)
        rows = [r for r in server.get(path).rows() if 'topic' in r]
        schema = lambda i, t: server.get('%s/recordings/%s/schemas/%s' % (API, i, t['schema_id'])).body
        view = lambda i: [(t['name'], t['type'], t['encoding'], t['latched'], t['messages'], schema(i, t))
                          for t in server.get('%s/recordings/%s/topics' % (API, i)).json()['items']]
        for kind in ('application/x-ndjson', 'application/msgpack', 'application/json'):
            live = Live(server, kind[-7:])
            live.appended(server.get(path, Accept=kind).body, kind=kind)
            live.finish()
            self.assertEqual(view(live.id), view(whole))
            self.assertEqual(live.rows('?decode=none'), rows)
        name = os.path.join(self.folder, 'lab.bag')
        with open(name, 'wb') as f:
            f.write(bag(lab_messages(1)))
        self.assertEqual(reel('cat', name, '--no-decode', '--channels').stdout, server.get(path, Accept='application/x-ndjson').body)
        server.stop()

    def test_a_bridge_between_two_servers(self):
        near, far = Server(os.path.join(self.folder, 'near')), Server(os.path.join(self.folder, 'far'))
        whole = near.added('lab.bag', bag(lab_messages(1)))
        reel('play', 'http://127.0.0.1:%d%s/recordings/%s' % (near.port, API, whole), '--speed', '50', '--to', 'http://127.0.0.1:%d' % far.port,
             '--name', 'bridged')
        done, = far.get(API + '/recordings').json()['items']
        self.assertEqual((done['name'], done['state'], done['messages']), ('bridged', 'ready', len(lab_messages(1))))
        keep = lambda server, i: [(r['topic'], r['log_time'], r['data']) for r in server.get('%s/recordings/%s/messages' % (API, i)).rows()]
        self.assertEqual(keep(far, done['id']), keep(near, whole))
        near.stop()
        far.stop()

    def test_played_into_a_server(self):
        server = Server(os.path.join(self.folder, 'data'))
        path = os.path.join(self.folder, 'lab.bag')
        with open(path, 'wb') as f:
            f.write(bag(lab_messages(1)))
        reel('play', path, '--speed', '20', '--to', 'http://127.0.0.1:%d' % server.port)
        done, = server.get(API + '/recordings').json()['items']
        self.assertEqual((done['name'], done['state'], done['damaged']), ('lab.bag', 'ready', False))
        played = server.get('%s/recordings/%s/messages' % (API, done['id'])).rows()
        rows = [json.loads(line) for line in reel('cat', path).stdout.splitlines()]
        keep = lambda r: (r['topic'], r['log_time'], r['data'])
        self.assertEqual([keep(r) for r in played], [keep(r) for r in rows])
        server.stop()


class Limits(unittest.TestCase):
    """How many may grow: for one who creates them, and in all; the same after a restart."""
    OWN, ALL = 64, 256

    def setUp(self):
        self.data = tempfile.mkdtemp(prefix='reel-live-')
        self.addCleanup(shutil.rmtree, self.data, ignore_errors=True)
        self.server = Server(self.data)
        self.addCleanup(lambda: self.server.stop(None))
        self.tokens = [create_token(self.server, 'upload', 'robot-%d' % i) for i in range(5)]
        self.n = 0

    def create(self, token):
        self.n += 1
        answer = self.server.request('POST', '%s/recordings?live=true&name=n%d&collection=lab' % (API, self.n), None, {'Authorization': 'Bearer ' + token})
        return answer

    def finish(self, token, answer):
        done = self.server.request('POST', '%s/recordings/%s/finish' % (API, answer.json()['id']), None, {'Authorization': 'Bearer ' + token})
        self.assertEqual(done.status, 200, done)

    def refused(self, answer, status, *words):
        self.assertEqual(answer.status, status, answer)
        self.assertTrue(int(answer.headers['Retry-After']) > 0)
        for word in words:
            self.assertIn(word, answer.json()['detail'])

    def restart(self):
        self.server.process.kill()
        self.server.stop(None)
        self.server = Server(self.data)

    def test_one_owner_and_all(self):
        first, second = self.tokens[:2]
        made = [self.create(first) for _ in range(self.OWN)]
        self.assertEqual({answer.status for answer in made}, {201})
        self.refused(self.create(first), 429, 'yours', str(self.OWN))
        self.assertEqual(self.create(second).status, 201)  # others go on
        self.restart()
        self.refused(self.create(first), 429, 'yours')
        self.finish(first, made[0])
        self.assertEqual(self.create(first).status, 201)
        for token in self.tokens[1:]:
            for _ in range(self.OWN if token != second else self.OWN - 1):
                answer = self.create(token)
                if answer.status != 201:
                    break
        self.refused(answer, 503, str(self.ALL))
        self.restart()
        self.refused(self.create(self.tokens[4]), 503, str(self.ALL))
        live = os.path.join(self.data, 'live')
        count = lambda suffix: sum(suffix in name for name in os.listdir(live))
        self.assertEqual(count('.mcap'), self.ALL)
        self.assertTrue(eventually(lambda: count('.reel.tmp-') == self.ALL))  # of those that grow now: nothing of the killed ones is left
