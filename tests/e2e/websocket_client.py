"""Clients of WebSockets for the tests: the websockets of Debian's Python, and one that sends raw frames."""
import asyncio
import base64
import hashlib
import os
import socket
import struct

import msgpack
import websockets

from harness import PATIENCE

MESSAGE_MAX = 128 << 20  # as NanoVer's client has it


def converse(server, path, talk, headers=None, ssl=None, client=lambda ws: ws, **options):
    """Connects, and returns what the coroutine talk(client(ws)) does."""
    async def whole():
        address = '%s://%s:%d%s' % ('wss' if ssl else 'ws', server.host, server.port, path)
        async with websockets.connect(address, max_size=MESSAGE_MAX, extra_headers=headers or {}, ssl=ssl, **options) as ws:
            return await asyncio.wait_for(talk(client(ws)), PATIENCE)
    return asyncio.run(whole())


def refusal(server, path, headers=None):
    """The status with which a connection is refused; None: it is not."""
    async def nothing(ws):
        return None
    try:
        return converse(server, path, nothing, headers)
    except websockets.InvalidStatusCode as e:
        return e.status_code


class Nanover:
    """What a client of NanoVer does: frame and state as they add up, and commands."""
    def __init__(self, ws):
        self.ws, self.raw, self.frame, self.state, self.answers, self.number = ws, [], {}, {}, {}, 0

    async def receive(self):
        """The next message, which is applied."""
        data = await self.ws.recv()
        message = msgpack.unpackb(data)
        if 'command' in message:
            self.answers[message['command']['request']['id']] = message['command']
            return message
        self.raw.append(data)
        frame, state = message.get('frame', {}), message.get('state', {})
        if frame.get('frame.index') == 0:
            self.frame = {}
        self.frame.update(frame)
        self.state.update(state.get('updates', {}))
        for key in state.get('removals', []):
            self.state.pop(key, None)
        return message

    async def until(self, check):
        while not check():
            await self.receive()

    async def command(self, name, **arguments):
        """Its answer: {'request': …, 'response': …}, or with 'exception'."""
        self.number += 1
        number = self.number
        await self.ws.send(msgpack.packb({'command': {'request': {'name': name, 'arguments': arguments, 'id': number}}}))
        await self.until(lambda: number in self.answers)
        return self.answers[number]


def frame_bytes(first, payload=b'', mask=b'\1\2\3\4', size=None):
    """One frame; `first` is its first byte. mask None: none; `size`: what it says, whatever there is."""
    size = len(payload) if size is None else size
    flag = 0x80 if mask is not None else 0
    length = bytes([flag | size]) if size < 126 else bytes([flag | 126]) + struct.pack('>H', size) if size < 65536 else bytes([flag | 127]) + struct.pack('>Q', size)
    masked = bytes(b ^ mask[i % 4] for i, b in enumerate(payload)) if mask is not None else payload
    return bytes([first]) + length + (mask or b'') + masked


def answer_handshake(peer):
    """As a server of WebSockets does."""
    head = b''
    while b'\r\n\r\n' not in head:
        head += peer.recv(65536)
    key = [line.split(b': ')[1] for line in head.split(b'\r\n') if line.startswith(b'Sec-WebSocket-Key')][0]
    accept = base64.b64encode(hashlib.sha1(key + b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest())
    peer.sendall(b'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ' + accept + b'\r\n\r\n')


class Raw:
    """A connection after its handshake, for frames that no client sends."""
    def __init__(self, server, path, headers='', receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect((server.host, server.port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(('GET %s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n'
                             'Sec-WebSocket-Key: %s\r\n%s\r\n' % (path, key, headers)).encode())
        head = b''
        while not head.endswith(b'\r\n\r\n'):
            more = self.socket.recv(1)
            if not more:
                break
            head += more
        self.head = head.decode()

    def send(self, data):
        self.socket.sendall(data)

    def read(self, size):
        got = b''
        while len(got) < size:
            more = self.socket.recv(size - len(got))
            if not more:
                raise ConnectionError('the server closed the connection')
            got += more
        return got

    def frame(self):
        """The next frame of the server: its first byte and its payload."""
        first, size = self.read(2)
        size = struct.unpack('>H', self.read(2))[0] if size == 126 else struct.unpack('>Q', self.read(8))[0] if size == 127 else size
        return first, self.read(size)

    def close_code(self):
        """That of the close frame which comes, after any others."""
        while True:
            first, payload = self.frame()
            if first == 0x88:
                return struct.unpack('>H', payload[:2])[0] if payload else None

    def close(self):
        self.socket.close()
