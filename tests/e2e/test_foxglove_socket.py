"""/ws/recordings/{id}: the protocol of Foxglove and compatible viewers, played with their controls and followed live."""
import asyncio
import base64
import json
import struct
import unittest
import urllib.parse

import msgpack
import websockets

from harness import API, Case, Server, create_token
from samples import SECOND, T0, Message, bag, nanover, nanover_messages, read_mcap
from test_live import Live, row
from websocket_client import converse

SDK, OLD = 'foxglove.sdk.v1', 'foxglove.websocket.v1'
COUNT = 40
STEP = SECOND // 20


def text(value):
    return struct.pack('<I', len(value)) + value.encode()


def lab():
    """/a counts, 20 times a second; /once has one message, at the start."""
    messages = [Message(T0, '/once', text('map'), 'std_msgs/String')]
    return bag(messages + [Message(T0 + i * STEP, '/a', text('%d' % i), 'std_msgs/String') for i in range(COUNT)])


class Viewer:
    """What a viewer has been sent."""
    def __init__(self, ws):
        self.ws, self.info, self.channels, self.messages, self.states, self.statuses, self.times, self.topics = ws, None, {}, [], [], [], [], {}

    async def receive(self):
        data = await self.ws.recv()
        if isinstance(data, str):
            message = json.loads(data)
            if message['op'] == 'serverInfo':
                self.info = message
            elif message['op'] == 'advertise':
                self.channels.update({c['topic']: c for c in message['channels']})
            elif message['op'] == 'status':
                self.statuses.append(message)
        elif data[0] == 1:
            number, time = struct.unpack('<IQ', data[1:13])
            self.messages.append((self.topics[number], time, data[13:]))
        elif data[0] == 2:
            self.times.append(struct.unpack('<Q', data[1:])[0])
        elif data[0] == 5:
            status, time, speed, seeked, size = struct.unpack('<BQfBI', data[1:19])
            self.states.append({'status': status, 'time': time, 'speed': speed, 'seeked': bool(seeked), 'request': data[19:19 + size].decode()})
            assert len(data) == 19 + size

    async def until(self, check):
        while not check():
            await self.receive()

    async def subscribe(self, *topics):
        await self.until(lambda: all(t in self.channels for t in topics))
        numbers = [len(self.topics) + i + 100 for i in range(len(topics))]
        self.topics.update(zip(numbers, topics))
        await self.ws.send(json.dumps({'op': 'subscribe', 'subscriptions': [{'id': n, 'channelId': self.channels[t]['id']} for n, t in zip(numbers, topics)]}))

    async def control(self, request, play=True, speed=1.0, seek=None):
        """A playback control request; its answer."""
        await self.ws.send(struct.pack('<BBfBQ', 3, 0 if play else 1, speed, seek is not None, seek or 0) + text(request))
        await self.until(lambda: any(s['request'] == request for s in self.states))
        return [s for s in self.states if s['request'] == request][0]

    def numbers(self):
        return [int(data[4:]) for topic, _, data in self.messages if topic == '/a']


class Rights(unittest.TestCase):
    def test_it_ends_when_the_recording_leaves_the_collections(self):
        server = Server()
        self.addCleanup(server.stop)
        recording = server.added('lab.bag', lab(), collection='open')
        root, token = create_token(server, 'admin', 'root'), create_token(server, 'read', 'guest', '--collection', 'open')

        def move():
            answer = server.request('PATCH', API + '/recordings/' + recording, json.dumps({'collection': 'closed'}), {'Authorization': 'Bearer ' + root})
            self.assertEqual(answer.status, 200, answer)

        async def until_closed(viewer):
            await viewer.until(lambda: viewer.channels)
            await asyncio.get_running_loop().run_in_executor(None, move)
            try:
                await viewer.until(lambda: False)
            except websockets.ConnectionClosed as e:
                return e.rcvd.code
        self.assertEqual(converse(server, '/ws/recordings/%s?paused=true' % recording, until_closed, {'Authorization': 'Bearer ' + token}, client=Viewer, subprotocols=[SDK]), 1008)


    def test_it_ends_in_the_trash(self):
        server = Server()
        self.addCleanup(server.stop)
        recording = server.added('lab.bag', lab())

        def trash():
            answer = server.request('DELETE', API + '/recordings/' + recording)
            self.assertEqual(answer.status, 204, answer)

        async def until_closed(viewer):
            await viewer.until(lambda: viewer.channels)
            await asyncio.get_running_loop().run_in_executor(None, trash)
            try:
                await viewer.until(lambda: False)
            except websockets.ConnectionClosed as e:
                return e.rcvd.code
        self.assertEqual(converse(server, '/ws/recordings/%s?paused=true' % recording, until_closed, client=Viewer, subprotocols=[SDK]), 1008)

    def test_a_viewer_link_follows_a_live_recording(self):
        server = Server(None, '--viewer', 'https://viewer.example/')
        self.addCleanup(server.stop)
        root = {'Authorization': 'Bearer ' + create_token(server, 'admin', 'root')}
        live = server.request('POST', API + '/recordings?live=true&name=run', headers=root).json()
        rows = json.dumps(row('/x', 1))
        self.assertEqual(server.request('POST', '%s/recordings/%s/messages' % (API, live['id']), rows, root).status, 200)
        links = server.request('GET', '%s/recordings/%s' % (API, live['id']), headers=root).json()['links']
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(links['viewer']).query)
        self.assertEqual((asked['ds'], asked['ds.url']), (['foxglove-websocket'], [links['websocket']]))
        base = 'ws' + server.base[len('http'):]
        self.assertTrue(links['websocket'].startswith(base + '/ws/recordings/%s?follow=true&' % live['id']), links)  # signed

        async def followed(viewer):
            await viewer.subscribe('/x')
            await viewer.until(lambda: viewer.messages)
        path = links['websocket'][len(base):]
        converse(server, path, followed, {'Origin': 'https://viewer.example'}, client=Viewer, subprotocols=[SDK])
        with self.assertRaises(websockets.InvalidStatusCode) as refused:
            converse(server, path.replace('follow=true', 'follow=false'), followed, client=Viewer, subprotocols=[SDK])
        self.assertEqual(refused.exception.status_code, 401)

    def test_a_link_opens_its_recording(self):
        server = Server()
        self.addCleanup(server.stop)
        recording, other = server.added('lab.bag', lab()), server.added('other.bag', bag([Message(T0, '/b', text('x'), 'std_msgs/String')]))
        answer = server.request('POST', '%s/recordings/%s/links' % (API, recording), '{}', {'Authorization': 'Bearer ' + create_token(server, 'read', 'guest')})
        key = answer.json()['key']

        async def offered(viewer):
            await viewer.until(lambda: '/a' in viewer.channels)

        def opened(one):
            return converse(server, '/ws/recordings/%s?paused=true&link=%s' % (one, key), offered, client=Viewer, subprotocols=[SDK])
        opened(recording)
        with self.assertRaises(websockets.InvalidStatusCode) as refused:
            opened(other)
        self.assertEqual(refused.exception.status_code, 403)


class FoxgloveSocket(Case):
    @classmethod
    def fill(cls):
        cls.lab = cls.server.added('lab.bag', lab())
        cls.atoms = cls.server.added('atoms.nanover.zip', nanover(nanover_messages()))

    def talk(self, talk, query='', recording=None, protocols=(SDK, OLD)):
        return converse(self.server, '/ws/recordings/%s%s' % (recording or self.lab, query), talk, client=Viewer, subprotocols=list(protocols))

    def test_what_is_offered(self):
        async def offered(viewer):
            await viewer.until(lambda: len(viewer.channels) == 2 and viewer.states)
            self.assertEqual(viewer.ws.subprotocol, SDK)
            self.assertEqual(viewer.info['capabilities'], ['time', 'playbackControl'])
            self.assertEqual(viewer.info['dataStartTime'], {'sec': T0 // SECOND, 'nsec': T0 % SECOND})
            self.assertEqual(viewer.info['dataEndTime']['sec'], (T0 + (COUNT - 1) * STEP) // SECOND)
            a = viewer.channels['/a']
            self.assertEqual((a['encoding'], a['schemaName'], a['schemaEncoding']), ('ros1', 'std_msgs/String', 'ros1msg'))
            self.assertIn('string data', a['schema'])
            self.assertEqual((viewer.states[0]['status'], viewer.states[0]['time']), (1, T0))
        self.talk(offered, '?paused=true')

    def test_the_older_protocol_has_no_controls(self):
        async def offered(viewer):
            await viewer.until(lambda: len(viewer.channels) == 2)
            await viewer.subscribe('/a')
            await viewer.until(lambda: COUNT - 1 in viewer.numbers())
            self.assertEqual((viewer.ws.subprotocol, viewer.info['capabilities'], viewer.states), (OLD, ['time'], []))
            self.assertNotIn('dataStartTime', viewer.info)
            self.assertEqual(viewer.times, sorted(viewer.times))
            return viewer.ws.response_headers['X-Play']
        self.assertEqual(len(self.talk(offered, '?speed=10', protocols=[OLD])), 32)

    def test_without_a_protocol(self):
        with self.assertRaises(websockets.InvalidStatusCode) as refused:
            self.talk(None, protocols=['graphql-ws'])
        self.assertEqual(refused.exception.status_code, 400)

    def test_it_plays(self):
        async def played(viewer):
            await viewer.subscribe('/a', '/once')
            await viewer.control('go', speed=10.0)
            await viewer.until(lambda: viewer.states[-1]['status'] == 3)
            self.assertEqual(viewer.numbers(), list(range(COUNT)))
            self.assertEqual([t for topic, t, _ in viewer.messages if topic == '/a'], [T0 + i * STEP for i in range(COUNT)])
            self.assertEqual([d for topic, _, d in viewer.messages if topic == '/once'], [text('map')])
        self.talk(played, '?paused=true')

    def test_controls(self):
        async def controlled(viewer):
            await viewer.subscribe('/a', '/once')
            answer = await viewer.control('one', play=False, speed=.5, seek=T0 + 10 * STEP + 1)
            self.assertEqual((answer['status'], answer['speed'], answer['seeked'], answer['time']), (1, .5, True, T0 + 10 * STEP + 1))
            at = len(viewer.messages)
            await viewer.until(lambda: {topic for topic, _, _ in viewer.messages[at:]} == {'/a', '/once'})  # the last of each, while it is paused
            self.assertEqual((viewer.numbers()[-1], viewer.messages[-1][2] if viewer.messages[-1][0] == '/once' else text('map')), (10, text('map')))
            answer = await viewer.control('two', speed=100.0)
            self.assertEqual((answer['status'], answer['seeked']), (0, False))
            await viewer.until(lambda: viewer.states[-1]['status'] == 3)
            self.assertEqual(viewer.numbers()[-(COUNT - 11):], list(range(11, COUNT)))
            answer = await viewer.control('three', play=False, seek=0)  # before the start: the start
            self.assertEqual(answer['time'], T0)
            await viewer.ws.send(b'\3\0')
            await viewer.ws.send(b'\1\0\0\0\0x')
            await viewer.ws.send('{"op": "advertise", "channels": []}')
            await viewer.until(lambda: viewer.statuses)
        self.talk(controlled, '?paused=true')

    def test_patch(self):
        """Others change the controls: the viewer gets the state; and what would never wait is not repeated."""
        def patch(play, change):
            answer = self.server.request('PATCH', API + '/plays/' + play, json.dumps(change))
            self.assertEqual(answer.status, 200, answer)

        async def changed(viewer):
            loop, play = asyncio.get_running_loop(), viewer.ws.response_headers['X-Play']
            await viewer.control('seek', play=False, seek=T0)  # where no message is due
            await loop.run_in_executor(None, patch, play, {'speed': 0.5})
            await viewer.until(lambda: viewer.states[-1]['speed'] == 0.5 and not viewer.states[-1]['request'])
            await loop.run_in_executor(None, patch, play, {'paused': False, 'speed': 'max', 'loop': True})
            await viewer.until(lambda: viewer.states[-1]['status'] == 3)
        self.talk(changed, '?paused=true')

    def test_a_later_subscription_begins_with_the_last_message(self):
        async def later(viewer):
            await viewer.subscribe('/a')
            await viewer.control('go', speed=100.0)
            await viewer.until(lambda: viewer.states[-1]['status'] == 3)
            states = len(viewer.states)
            await viewer.subscribe('/once')
            await viewer.until(lambda: len(viewer.states) > states and viewer.states[-1]['status'] == 3)
            self.assertEqual([d for topic, _, d in viewer.messages if topic == '/once'], [text('map')])
            number = [n for n, topic in viewer.topics.items() if topic == '/a']
            await viewer.ws.send(json.dumps({'op': 'unsubscribe', 'subscriptionIds': number}))
            count = len(viewer.numbers())
            await viewer.control('again', speed=100.0, seek=T0)
            await viewer.until(lambda: viewer.states[-1]['status'] == 3)
            self.assertEqual(len(viewer.numbers()), count)
        self.talk(later, '?paused=true')

    def test_what_viewers_cannot_read(self):
        """NanoVer's messages as Foxglove's scenes; the same as in the MCAP of the view."""
        channels = read_mcap(self.get('%s/recordings/%s/as/x.mcap?view=foxglove' % (API, self.atoms)).body)[0]
        topic = sorted(topic for topic, encoding, _ in channels.values() if encoding == 'json')[0]

        async def viewed(viewer):
            await viewer.subscribe(topic)
            await viewer.until(lambda: viewer.messages)
            self.assertEqual((viewer.channels[topic]['encoding'], viewer.channels[topic]['schemaEncoding']), ('json', 'jsonschema'))
            json.loads(viewer.messages[0][2])
        self.talk(viewed, '?speed=10&loop=true', self.atoms)

    def test_late_messages_that_a_view_draws(self):
        """They are drawn with the state at their time, each once."""
        live = Live(self.server, 'molecule')
        channel = {'$channel': {'topic': 'frame', 'type': 'nanover/frame', 'encoding': 'nanover', 'topics': ['frame']}}

        def frame(tenths, energy):
            data = msgpack.packb({'frame': {'frame.index': 0 if tenths == 0 else tenths, 'energy.potential': energy}})
            return {'topic': 'frame', 'log_time': T0 + tenths * SECOND // 10, 'data': {'$base64': base64.b64encode(data).decode()}}
        live.appended([channel, frame(0, 1.0), frame(10, 2.0)])

        async def followed(viewer):
            loop = asyncio.get_running_loop()
            await viewer.subscribe('/view/energies')
            await viewer.ws.send('{"op": "advertise"}')
            await viewer.until(lambda: viewer.statuses)  # the subscription was read
            for tenths, energy in ((20, 3.0), (5, 4.0), (21, 5.0)):  # the second is late
                await loop.run_in_executor(None, live.appended, [frame(tenths, energy)])
                await viewer.until(lambda: viewer.messages and viewer.messages[-1][1] == T0 + tenths * SECOND // 10)
            return [(t - T0, json.loads(d)['potential']) for _, t, d in viewer.messages]
        self.assertEqual(self.talk(followed, '?follow=true', live.id), [(20 * SECOND // 10, 3.0), (5 * SECOND // 10, 4.0), (21 * SECOND // 10, 5.0)])
        live.finish()

    def test_a_live_recording(self):
        live = Live(self.server, 'growing')
        live.appended([row('/x', 1), row('/y', 0)])

        async def followed(viewer):
            loop = asyncio.get_running_loop()
            await viewer.subscribe('/x', '/y')
            await viewer.until(lambda: len(viewer.messages) == 2)  # the present
            self.assertNotIn('playbackControl', viewer.info['capabilities'])
            for x in range(2, 5):
                await loop.run_in_executor(None, live.appended, [row('/x', x)])
                await viewer.until(lambda: json.loads(viewer.messages[-1][2])['x'] == x)
            for x, late in ((40, row('/x', 4)), (20, row('/x', 2))):  # as late as the last message, and earlier
                await loop.run_in_executor(None, live.appended, [{**late, 'data': {'x': x}}])
                await viewer.until(lambda: json.loads(viewer.messages[-1][2])['x'] == x)
            await loop.run_in_executor(None, live.appended, [row('/new', 7)])
            await viewer.subscribe('/new')
            await viewer.until(lambda: viewer.messages[-1][0] == '/new')
            await loop.run_in_executor(None, live.appended, [row('/x', 9)])
            await loop.run_in_executor(None, live.finish)
            await viewer.until(lambda: any(json.loads(d)['x'] == 9 for _, _, d in viewer.messages))
        for view in ('raw', 'foxglove'):
            with self.subTest(view):
                if view == 'foxglove':
                    live = Live(self.server, 'growing-again')
                    live.appended([row('/x', 1), row('/y', 0)])
                self.talk(followed, '?follow=true&view=' + view, live.id)
