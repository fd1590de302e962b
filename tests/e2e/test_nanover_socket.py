"""The archive as a server of NanoVer's protocol: /nanover and /recordings/{id}/nanover, with the websockets and msgpack of Debian's Python."""
import asyncio
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

import msgpack
import websockets

import legacy
from harness import API, PATIENCE, REEL, Case, Server, create_token, curl, eventually, reel
from samples import SECOND, T0, Message, bag, nanover, nanover_messages, read_nanover
from test_tls import make_certificate
from websocket_client import Nanover, Raw, answer_handshake, converse, frame_bytes, refusal

MESSAGES = nanover_messages()
PACKED = [msgpack.packb(message) for _, message in MESSAGES]


class NanoverSocket(Case):
    @classmethod
    def fill(cls):
        cls.atoms = cls.server.added('atoms.nanover.zip', nanover(MESSAGES))
        cls.bag = cls.server.added('lidar.bag', bag([Message(T0 + i * SECOND, '/a', b'\0\0\0\0', 'std_msgs/String') for i in range(3)]))

    def path(self, query='', recording=None):
        return '%s/recordings/%s/nanover%s' % (API, recording or self.atoms, query)

    def talk(self, talk, query='', recording=None):
        return converse(self.server, self.path(query, recording), talk, client=Nanover)

    def test_messages_are_the_recorded_bytes(self):
        async def all_of_them(client):
            await client.until(lambda: len(client.raw) == len(PACKED))
            return client.raw
        self.assertEqual(self.talk(all_of_them, '?loop=false&speed=max'), PACKED)

    def test_messages_leave_when_they_are_due(self):
        began = time.monotonic()

        async def first_second(client):
            times = []
            while len(times) < 20:
                await client.receive()
                times.append(time.monotonic() - began)
            return times
        due = [(at - MESSAGES[0][0]) / 1e6 for at, _ in MESSAGES[:20]]
        self.assertEqual([(at, least) for at, least in zip(self.talk(first_second), due) if at < least], [])

    def test_the_start_is_frame_and_state_there(self):
        async def first(client):
            await client.receive()
            return client.raw[0], client.ws.response_headers['X-Play']
        data, play = self.talk(first, '?start=%2B1s&paused=true')
        message = msgpack.unpackb(data)
        before = [m for at, m in MESSAGES if at - MESSAGES[0][0] < 1_000_000]
        self.assertEqual(message['frame']['frame.index'], 0)
        self.assertEqual(message['frame']['energy.potential'], [m['frame'] for m in before if 'frame' in m][-1]['energy.potential'])
        self.assertEqual(message['frame']['particle.count'], 20)
        self.assertEqual(message['state']['updates']['cursor'], [m for m in before if 'state' in m][-1]['state']['updates']['cursor'])
        self.assertEqual(len(play), 32)

    def test_commands(self):
        async def commands(client):
            listed = (await client.command('commands/list'))['response']
            self.assertEqual((await client.command('playback/list'))['response'], {'simulations': ['atoms.nanover.zip']})
            self.assertEqual(set(listed['list']), {c['name'] for c in listed['commands']})
            for name in ('playback/play', 'playback/pause', 'playback/step', 'playback/step_back', 'playback/reset', 'playback/next', 'playback/load'):
                self.assertIn(name, listed['list'])
            self.assertIn('exception', await client.command('playback/explode'))
            self.assertIn('exception', await client.command('playback/load', index=7))
            self.assertIn('exception', await client.command('playback/load', index='first'))
            answer = await client.command('playback/pause')
            self.assertEqual(answer, {'request': {'name': 'playback/pause', 'arguments': {}, 'id': client.number}, 'response': None})
        self.talk(commands, '?paused=true')

    def test_steps(self):
        async def steps(client):
            for index in range(3):
                await client.command('playback/step')
                await client.until(lambda: client.frame.get('frame.index') == index)
            self.assertEqual(client.raw, PACKED[:4])
            await client.command('playback/step_back')
            await client.until(lambda: client.frame.get('energy.potential') == -1.0)
            self.assertEqual(client.frame['particle.count'], 20)  # the whole frame
            self.assertEqual(client.state['avatar.1'], {'name': 'ada'})
            await client.command('playback/step')
            await client.until(lambda: client.frame.get('energy.potential') == -2.0)
            await client.command('playback/reset')
            await client.until(lambda: client.frame == {'frame.index': 0})
            self.assertEqual(client.state, {'scene': [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]})
            await client.command('playback/play')
            await client.until(lambda: client.frame.get('energy.potential') == -3.0)
        self.talk(steps, '?paused=true')

    def test_steps_back(self):
        """One after the other, also where several commands come at once."""
        async def steps(client):
            for _ in range(10):
                await client.command('playback/step')
            for potential in (-8.0, -7.0):
                await client.command('playback/step_back')
                await client.until(lambda: client.frame.get('energy.potential') == potential)
            await client.ws.send(msgpack.packb({'command': [{'request': {'name': 'playback/step_back', 'id': 'a%d' % i}} for i in range(3)]}))
            await client.until(lambda: 'a2' in client.answers)
            self.assertEqual(client.frame['energy.potential'], -4.0)
            await client.command('playback/step')
            self.assertEqual(client.frame['energy.potential'], -5.0)
        self.talk(steps, '?paused=true')

    def test_steps_after_the_end(self):
        async def steps(client):
            for _ in range(61):  # one more than there are frames
                await client.command('playback/step')
            self.assertEqual(client.raw[:len(PACKED)], PACKED)
            await client.until(lambda: client.frame == {'frame.index': 0})
            await client.command('playback/step')
            await client.until(lambda: client.frame.get('energy.potential') == 0)
        self.talk(steps, '?paused=true')

    def test_states_alone(self):
        """Without frames a step goes to the end, and not on and on."""
        states = [(i * 1000, {'state': {'updates': {'k': i}, 'removals': []}}) for i in range(200)]
        recording = self.server.added('states.nanover.zip', nanover(states))

        async def steps(client):
            await client.command('playback/step')
            await client.command('playback/step')
            self.assertEqual(client.raw[:200], [msgpack.packb(m) for _, m in states])
        self.talk(steps, '?paused=true', recording)

    def test_older_clients_send_lists(self):
        async def older(client):
            await client.ws.send('{"text": "is dropped"}')
            await client.ws.send(msgpack.packb({'state': {'updates': {'avatar.me': {}}}}))
            for junk in (b'', b'\xc1', b'\x81', msgpack.packb([1]), msgpack.packb({'command': 5}), msgpack.packb({'command': {'request': {'name': 3}}})):
                await client.ws.send(junk)
            await client.ws.send(msgpack.packb({'command': [{'request': {'name': 'playback/list', 'arguments': {}, 'id': 1}}, {'request': {'name': 'playback/pause', 'id': 2}}]}))
            await client.until(lambda: len(client.answers) == 2)
            self.assertEqual(client.answers[2]['response'], None)
            self.assertEqual(client.raw, [])
        self.talk(older, '?paused=true')

    def test_patch_moves_it(self):
        def patch(play, change):
            answer = self.server.request('PATCH', API + '/plays/' + play, json.dumps(change))
            self.assertEqual(answer.status, 200, answer)

        async def moved(client):
            loop, play = asyncio.get_running_loop(), client.ws.response_headers['X-Play']
            await loop.run_in_executor(None, patch, play, {'position': '+1.5s'})
            await client.until(lambda: 'cursor' in client.state)
            self.assertEqual(client.frame['particle.count'], 20)  # shown while it is paused
            cursor = client.state['cursor']
            await loop.run_in_executor(None, patch, play, {'position': '+0.5s'})
            await client.until(lambda: client.state.get('cursor', cursor) < cursor)
            await loop.run_in_executor(None, patch, play, {'paused': False, 'speed': 'max'})
            await client.until(lambda: client.raw[-1] == PACKED[-1])
        self.talk(moved, '?paused=true&loop=false')

    def test_it_begins_again(self):
        async def twice(client):
            await client.until(lambda: client.raw.count(PACKED[0]) == 2)
            return client.raw
        raw = self.talk(twice, '?speed=100')
        self.assertEqual((raw[:len(PACKED)], len(raw)), (PACKED, len(PACKED) + 2))
        self.assertEqual(set(msgpack.unpackb(raw[-2])['state']['removals']), {'cursor', *('interaction.%d' % i for i in range(3))})

    def test_other_containers(self):
        mcap = self.get('%s/recordings/%s/as/x.mcap' % (API, self.atoms)).body
        again = self.server.added('again.mcap', mcap)

        async def all_of_them(client):
            await client.until(lambda: len(client.raw) == len(PACKED))
            return client.raw
        self.assertEqual(self.talk(all_of_them, '?loop=false&speed=max', again), PACKED)
        answer = self.server.get(self.path(recording=self.bag), **self.opening())
        self.assertProblem(answer, 422, 'NanoVer')

    @staticmethod
    def opening(**more):
        return {'Upgrade': 'websocket', 'Connection': 'Upgrade', 'Sec_WebSocket_Version': '13', 'Sec_WebSocket_Key': 'dGhlIHNhbXBsZSBub25jZQ==', **more}

    def test_old_recordings(self):
        traj, state = legacy.pair()
        recording = self.server.added('run.traj', traj)
        self.assertEqual(self.server.put('run.state', state, '?part_of=run.traj').status, 200)
        wanted = [piece for _, piece in read_nanover(self.get('%s/recordings/%s/as/x.nanover.zip' % (API, recording)).body)]

        async def all_of_them(client):
            await client.until(lambda: len(client.raw) == len(wanted))
            return client.raw
        self.assertEqual(self.talk(all_of_them, '?loop=false&speed=max', recording), wanted)

    def test_what_opens_no_websocket(self):
        for headers in ({}, self.opening(Upgrade='h2c'), self.opening(Connection='keep-alive'), self.opening(Sec_WebSocket_Version='8')):
            answer = self.server.get(self.path(), **headers)
            self.assertProblem(answer, 426, 'WebSocket')
            self.assertEqual(answer.headers['Sec-WebSocket-Version'], '13')
        self.assertProblem(self.server.get(self.path(), **self.opening(Sec_WebSocket_Key='short')), 400, 'Sec-WebSocket-Key')
        self.assertProblem(self.server.get(self.path(recording='0' * 32), **self.opening()), 404)
        self.assertProblem(self.server.get(self.path('?speed=fast'), **self.opening()), 400, 'speed')

    def test_pages_of_other_origins(self):
        own = 'http://127.0.0.1:%d' % self.server.port
        self.assertIsNone(refusal(self.server, self.path(), {'Origin': own}))
        self.assertEqual(refusal(self.server, self.path(), {'Origin': 'https://evil.example'}), 403)
        self.assertEqual(refusal(self.server, self.path(), {'Origin': 'null'}), 403)
        self.assertEqual(refusal(self.server, '/nanover', {'Origin': 'https://evil.example'}), 403)


class Archive(unittest.TestCase):
    """/nanover: all recordings that the caller may read."""
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.stop)
        for name, collection in (('one', 'lab'), ('two', 'lab'), ('three', 'other')):
            message = {'frame': {'frame.index': 0, 'name': name}, 'state': {'updates': {name: 1}, 'removals': []}}
            self.server.added(name + '.nanover.zip', nanover([(0, message), (1_000_000, {'frame': {'late': True}})]), collection=collection)

    def talk(self, talk, query='', **headers):
        return converse(self.server, '/nanover' + query, talk, headers, client=Nanover)

    def test_list_and_load(self):
        async def whole(client):
            await client.until(lambda: client.frame.get('name') == 'three')
            self.assertEqual(client.state['simulation.name'], 'three.nanover.zip')
            names = (await client.command('playback/list'))['response']['simulations']
            self.assertEqual(names, ['three.nanover.zip', 'two.nanover.zip', 'one.nanover.zip'])
            await client.command('playback/load', index=2)
            await client.until(lambda: client.frame.get('name') == 'one')
            self.assertEqual((client.state['simulation.name'], client.state['simulation.index']), ('one.nanover.zip', 2))
            self.assertNotIn('three', client.state)
            self.assertIn('exception', await client.command('playback/load', index=3))
            await client.command('playback/next')
            await client.until(lambda: client.frame.get('name') == 'three')
            play = client.state['reel.play']
            answer = await asyncio.get_running_loop().run_in_executor(None, self.server.get, API + '/plays/' + play)
            self.assertEqual(answer.json()['paused'], False)
        self.talk(whole)

        async def names(client):
            return (await client.command('playback/list'))['response']['simulations']
        self.assertEqual(self.talk(names, '?q=two'), ['two.nanover.zip'])
        self.assertEqual(self.talk(names, '?collection=other'), ['three.nanover.zip'])
        self.assertEqual(self.talk(names, '?q=nothing'), [])

    def test_who_may(self):
        token = create_token(self.server, 'read', 'lab', '--collection', 'lab')

        async def names(client):
            return (await client.command('playback/list'))['response']['simulations']
        self.assertEqual(refusal(self.server, '/nanover'), 401)
        self.assertEqual(self.talk(names, Authorization='Bearer ' + token), ['two.nanover.zip', 'one.nanover.zip'])
        answer = self.server.request('POST', API + '/login', headers={'Authorization': 'Bearer ' + token})
        self.assertIn(answer.status, (200, 204), answer)
        cookie = answer.headers['Set-Cookie'].split(';')[0]
        own = 'http://127.0.0.1:%d' % self.server.port
        self.assertEqual(self.talk(names, Cookie=cookie, Origin=own), ['two.nanover.zip', 'one.nanover.zip'])
        self.assertEqual(refusal(self.server, '/nanover', {'Cookie': cookie, 'Origin': 'https://evil.example'}), 403)

    def test_it_ends_with_the_token(self):
        create_token(self.server, 'admin', 'keeper')
        token = create_token(self.server, 'read', 'guest')

        async def until_closed(client):
            await client.command('playback/list')
            await asyncio.get_running_loop().run_in_executor(None, revoke)
            try:
                while True:
                    await client.receive()
            except websockets.ConnectionClosed as e:
                return e.rcvd.code

        def revoke():
            reel('token', 'revoke', 'guest', '--data', self.server.data)
        self.assertEqual(self.talk(until_closed, Authorization='Bearer ' + token), 1008)

    def test_it_ends_between_two_commands(self):
        """One message has thousands of them, and nobody reads the answers."""
        for i in range(3):  # so that the answers fill what the system buffers
            self.server.added('%d%s.nanover.zip' % (i, 'x' * 200), nanover([(0, {'frame': {'frame.index': 0, 'n': i}})]))
        client = Raw(self.server, '/nanover', receive_buffer=4096)
        self.addCleanup(client.close)
        requests = [{'request': {'name': 'playback/list', 'id': i}} for i in range(20_000)]
        client.send(frame_bytes(0x82, msgpack.packb({'command': requests})))
        client.read(1)
        self.server.stop()

    def test_a_recording_that_leaves_the_collections(self):
        root, token = create_token(self.server, 'admin', 'keeper'), create_token(self.server, 'read', 'guest', '--collection', 'other')

        def move():
            listed = self.server.get(API + '/recordings?collection=other', Authorization='Bearer ' + root).json()
            answer = self.server.request('PATCH', API + '/recordings/' + listed['items'][0]['id'], json.dumps({'collection': 'lab'}), {'Authorization': 'Bearer ' + root})
            self.assertEqual(answer.status, 200, answer)

        async def moved(client):
            await client.until(lambda: client.frame.get('name') == 'three')
            await asyncio.get_running_loop().run_in_executor(None, move)
            await client.until(lambda: client.frame == {'frame.index': 0})
            self.assertNotIn('three', client.state)
            self.assertIn('exception', await client.command('playback/play'))
            self.assertEqual((await client.command('playback/list'))['response'], {'simulations': []})
        self.talk(moved, Authorization='Bearer ' + token)

    def test_it_ends_with_the_server(self):
        async def until_closed(client):
            await client.command('playback/list')
            self.server.terminate()
            try:
                while True:
                    await client.receive()
            except websockets.ConnectionClosed as e:
                return e.rcvd.code
        self.assertEqual(self.talk(until_closed), 1001)

    def test_it_is_logged_when_it_ends(self):
        async def one(client):
            await client.command('playback/list')
        self.talk(one)
        self.assertTrue(eventually(lambda: 'path=/nanover status=101' in self.server.log_text()), self.server.log_text())


class Encrypted(unittest.TestCase):
    def test_tls(self):
        folder = tempfile.mkdtemp(prefix='reel-wss-')
        self.addCleanup(shutil.rmtree, folder)
        cert, key = make_certificate(folder, 'wss.lab')
        server = Server(None, '--insecure-open', '--tls-cert', cert, '--tls-key', key)
        self.addCleanup(server.stop)
        name = os.path.join(folder, 'atoms.nanover.zip')
        with open(name, 'wb') as f:
            f.write(nanover(MESSAGES))
        code, body = curl('--cacert', cert, '--resolve', 'localhost:%d:127.0.0.1' % server.port, '-T', name,
                          'https://localhost:%d%s/recordings/by-name/lab/atoms.nanover.zip' % (server.port, API))
        self.assertEqual(code, 0, body)
        recording = json.loads(body)['id']

        async def all_of_them(client):
            await client.until(lambda: len(client.raw) == len(PACKED))
            return client.raw
        trust = ssl.create_default_context(cafile=cert)
        self.assertEqual(converse(server, '%s/recordings/%s/nanover?loop=false&speed=max' % (API, recording), all_of_them, ssl=trust, client=Nanover,
                                  server_hostname='localhost'), PACKED)


class Recorded(Case):
    """reel record ws://…"""
    @classmethod
    def fill(cls):
        cls.folder = tempfile.mkdtemp(prefix='reel-e2e-')
        cls.atoms = cls.server.added('atoms.nanover.zip', nanover(MESSAGES))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)
        super().tearDownClass()

    def setUp(self):
        self.target = os.path.join(self.folder, self._testMethodName + '.nanover.zip')

    def address(self, query='', recording=None, port=None):
        return 'ws://127.0.0.1:%d%s/recordings/%s/nanover%s' % (port or self.server.port, API, recording or self.atoms, query)

    def recording(self, query, *args, server=None):
        process = subprocess.Popen([REEL, 'record', self.address(query, port=server and server.port), self.target, *args], stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def has_all(self):
        done = os.path.exists(self.target) and reel('info', '--json', self.target, check=False)
        return done and done.returncode == 0 and json.loads(done.stdout)['messages'] == len(PACKED)

    def pieces(self, path):
        with open(path, 'rb') as f:
            return [piece for _, piece in read_nanover(f.read())]

    def test_what_is_played_is_recorded(self):
        process = self.recording('?loop=false&speed=max')
        self.assertTrue(eventually(self.has_all))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 0, process.stderr.read())
        self.assertEqual(self.pieces(self.target), PACKED)
        with open(self.target, 'rb') as f:
            times = [entry['metadata']['timestamp'] for entry, _ in read_nanover(f.read())]
        self.assertTrue(0 <= times[0] <= times[-1] < PATIENCE * 1_000_000 and times == sorted(times), times)

    def test_what_was_received_survives(self):
        process = self.recording('?loop=false&speed=max')
        self.assertTrue(eventually(self.has_all))
        process.kill()
        process.wait(PATIENCE)
        again = self.target.replace('.nanover.zip', '.again.nanover.zip')
        reel('convert', self.target, again)
        self.assertEqual(self.pieces(again), PACKED)

    def test_it_ends_with_the_server(self):
        server = Server()
        self.addCleanup(server.stop, None)
        server.added('atoms.nanover.zip', nanover(MESSAGES))
        process = subprocess.Popen([REEL, 'record', 'ws://127.0.0.1:%d/nanover?speed=max&loop=false' % server.port, self.target])
        self.addCleanup(process.kill)
        self.assertTrue(eventually(lambda: os.path.exists(self.target) and json.loads(reel('info', '--json', self.target, check=False).stdout or '{}').get('messages') == len(PACKED) + 1))
        server.stop()
        self.assertEqual(process.wait(PATIENCE), 0)
        first, *rest = self.pieces(self.target)
        self.assertEqual((msgpack.unpackb(first)['state']['updates']['simulation.name'], rest), ('atoms.nanover.zip', PACKED))

    def test_a_connection_that_breaks(self):
        """What came before is recorded, and it is a failure."""
        for end, code in ((b'', 1), (frame_bytes(0x88, b'\x03\xf3', mask=None), 1), (frame_bytes(0x88, b'\x03\xe8', mask=None), 0), (frame_bytes(0x88, mask=None), 0)):
            with self.subTest(end=end), socket.create_server(('127.0.0.1', 0)) as listening:
                process = subprocess.Popen([REEL, 'record', 'ws://127.0.0.1:%d/' % listening.getsockname()[1], self.target], stderr=subprocess.PIPE)
                self.addCleanup(process.kill)
                self.addCleanup(process.stderr.close)
                listening.settimeout(PATIENCE)
                with listening.accept()[0] as peer:
                    answer_handshake(peer)
                    peer.sendall(frame_bytes(0x82, PACKED[0], mask=None) + end)
                    peer.shutdown(socket.SHUT_WR)
                    self.assertEqual(process.wait(PATIENCE), code)
                self.assertEqual(b'broke' in process.stderr.read(), code == 1)
                self.assertEqual(self.pieces(self.target), PACKED[:1])
                os.remove(self.target)

    def test_what_answers_with_a_long_head(self):
        with socket.create_server(('127.0.0.1', 0)) as listening:
            process = subprocess.Popen([REEL, 'record', 'ws://127.0.0.1:%d/' % listening.getsockname()[1], self.target], stderr=subprocess.PIPE)
            self.addCleanup(process.kill)
            self.addCleanup(process.stderr.close)
            listening.settimeout(PATIENCE)
            with listening.accept()[0] as peer:
                peer.sendall(b'HTTP/1.1 101 x\r\n' + b'A: b\r\n' * (16 << 10))
                self.assertEqual(process.wait(PATIENCE), 1)
            self.assertIn(b'does not answer as a WebSocket', process.stderr.read())

    def test_what_cannot_be_recorded(self):
        for address, words in ((self.address(recording='0' * 32), b'404'), ('ws://127.0.0.1:1/', b'connect'), (self.address()[:-len('/nanover')], b'200')):
            done = reel('record', address, self.target, check=False)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(words, done.stderr)
            self.assertFalse(os.path.exists(self.target))
