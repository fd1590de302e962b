"""Clients that break the rules of WebSockets, or do not read: the connection ends, and the server's memory stays bounded."""
import os
import socket

from harness import API, Case, eventually
from run_tests import release_only
from samples import nanover
from test_memory import resident
from websocket_client import Raw, frame_bytes

MIB = 1 << 20
STALLED = 50


class WebSocket(Case):
    @classmethod
    def fill(cls):
        frame = {'frame.index': 0, 'particle.positions': os.urandom(256 << 10)}
        cls.recording = cls.server.added('large.nanover.zip', nanover([(i * 1000, {'frame': {**frame, 'n': i}}) for i in range(60)]))

    def opened(self, query='?paused=true', **options):
        client = Raw(self.server, '%s/recordings/%s/nanover%s' % (API, self.recording, query), **options)
        self.addCleanup(client.close)
        self.assertTrue(client.head.startswith('HTTP/1.1 101 '), client.head)
        return client

    def test_frames_that_no_client_sends(self):
        for name, data, code in (('not masked', frame_bytes(0x82, b'x', mask=None), 1002), ('a reserved bit', frame_bytes(0xc2, b'x'), 1002),
                                 ('a reserved opcode', frame_bytes(0x83, b'x'), 1002), ('a control frame in fragments', frame_bytes(0x09, b'x'), None),
                                 ('a long ping', frame_bytes(0x89, b'x', size=200), None), ('a rest without a begin', frame_bytes(0x80, b'x'), 1002),
                                 ('a new message inside of one', frame_bytes(0x02, b'x') + frame_bytes(0x82, b'y'), 1002),
                                 ('huge', frame_bytes(0x82, b'x', size=1 << 62), 1009), ('more than a message may have', frame_bytes(0x82, b'x', size=MIB + 1), 1009),
                                 ('no UTF-8', frame_bytes(0x81, b'\xff'), 1007)):
            with self.subTest(name):
                client = self.opened()
                client.send(data)
                self.assertEqual(client.close_code(), code)  # None: a close frame that gives no reason

    @release_only
    def test_many_small_fragments(self):
        client = self.opened()
        before = resident(self.server.process.pid)
        client.send(frame_bytes(0x02, b'x'))
        for _ in range(16):
            client.send(frame_bytes(0x00, b'x') * 8192 + frame_bytes(0x00, b'') * 8192)
        client.send(frame_bytes(0x80, b'') + frame_bytes(0x89, b'?'))
        self.assertEqual(client.frame(), (0x8a, b'?'))
        self.assertLess(resident(self.server.process.pid) - before, 32 * MIB)

    @release_only
    def test_pings_of_a_client_that_does_not_read(self):
        client = self.opened(receive_buffer=4096)
        before = resident(self.server.process.pid)
        client.socket.settimeout(2)
        ping = frame_bytes(0x89, bytes(125)) * 1000
        try:
            for _ in range(400):  # 50 MB of pongs
                client.send(ping)
        except socket.timeout:
            pass  # it is not read any more
        self.assertLess(resident(self.server.process.pid) - before, 16 * MIB)

    @release_only
    def test_stalled_clients(self):
        before = resident(self.server.process.pid)
        clients = [self.opened('?speed=max&loop=true', receive_buffer=4096) for _ in range(STALLED)]
        for client in clients:  # the first message has begun to arrive
            self.assertEqual(client.read(1), b'\x82')
        self.assertLess(resident(self.server.process.pid) - before, 64 * MIB)
        self.assertEqual(self.get('/healthz').status, 200)
        for client in clients:
            client.close()
        self.assertTrue(eventually(lambda: 'reel_http_connections 1\n' in self.get('/metrics').body.decode()))
