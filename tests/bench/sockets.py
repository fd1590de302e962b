"""Recordings by WebSocket, as Foxglove's viewers play them: how punctual messages are, and what 50 viewers that read nothing cost in memory."""
import base64
import json
import os
import re
import selectors
import socket
import struct
import sys
import threading
import time

from lab import BenchError, quantile, wait_for
from play import PLAYS, bag_of_steps, lateness, sleeper
from row import Row

HERE = os.path.dirname(os.path.abspath(__file__))
STALLED, BLOB, BLOBS = 50, 100_000, 200
MEMORY_MAX = 64 << 20


class Viewer:
    """One connection, which subscribes to /a."""
    def __init__(self, port, recording, query, receive_buffer=None):
        self.socket, self.data, self.rows, self.subscribed, self.ended = socket.socket(), b'', [], False, False
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(('127.0.0.1', port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(('GET /ws/recordings/%s?%s HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
                             'Sec-WebSocket-Key: %s\r\nSec-WebSocket-Protocol: foxglove.sdk.v1\r\n\r\n' % (recording, query, key)).encode())
        head = b''
        while not head.endswith(b'\r\n\r\n'):
            byte = self.socket.recv(1)
            if not byte:
                raise BenchError('no WebSocket: %r' % head[:200])
            head += byte

    def send(self, first, payload):
        head = bytes([first, 0x80 | len(payload)]) if len(payload) < 126 else bytes([first, 0x80 | 126]) + struct.pack('>H', len(payload))
        self.socket.sendall(head + b'\0\0\0\0' + payload)  # masked with zeros

    def frames(self):
        while len(self.data) >= 2:
            size, at = self.data[1] & 0x7f, 2
            if size >= 126:
                at = 4 if size == 126 else 10
                if len(self.data) < at:
                    return
                size = int.from_bytes(self.data[2:at], 'big')
            if len(self.data) < at + size:
                return
            first, payload, self.data = self.data[0], self.data[at:at + size], self.data[at + size:]
            yield first, payload

    def read(self):
        """What there is. Messages are noted with the time of their arrival; the end of the recording ends it."""
        more = self.socket.recv(1 << 16)
        now = time.monotonic()
        self.ended = self.ended or not more
        self.data += more
        for first, payload in self.frames():
            if first == 0x81:
                self.on_text(json.loads(payload))
            elif first == 0x89:
                self.send(0x8a, payload)
            elif first != 0x82:
                self.ended = True
            elif payload[0] == 1:
                self.rows.append((now, struct.unpack('<Q', payload[5:13])[0] / 1e9))
            elif payload[0] == 5 and payload[1] == 3:
                self.ended = self.ended or len(self.rows) > 0

    def on_text(self, message):
        for channel in message.get('channels', []):
            if channel['topic'] == '/a':
                self.send(0x81, json.dumps({'op': 'subscribe', 'subscriptions': [{'id': 1, 'channelId': channel['id']}]}).encode())
                self.subscribed = True

    def play(self):
        self.send(0x82, struct.pack('<BBfBQI', 3, 0, 1.0, 0, 0, 1) + b'x')


def arrivals(port, recording, query, count):
    """For each of `count` viewers, (time of arrival, its time in seconds) of each message."""
    selector, viewers = selectors.DefaultSelector(), [Viewer(port, recording, 'paused=true&' + query) for _ in range(count)]
    for viewer in viewers:
        while not viewer.subscribed:
            viewer.read()
        viewer.play()
        selector.register(viewer.socket, selectors.EVENT_READ, viewer)
    while selector.get_map():
        for key, _ in selector.select(30):
            key.data.read()
            if key.data.ended:
                selector.unregister(key.fileobj)
                key.fileobj.close()
    return [viewer.rows[1:] for viewer in viewers]  # the first is the last message before the position, sent at once


def punctual(lab):
    seconds = 10 if lab.quick else 60
    path = lab.path('socket-steps.bag')
    bag_of_steps(path, seconds)
    reel = lab.reel('sockets')
    _, recording = reel.put(path, 'steps.bag')
    port = int(reel.base.rsplit(':', 1)[1].split('/')[0])
    slept = []
    yardstick = threading.Thread(target=sleeper, args=(seconds * 1000, slept))
    yardstick.start()
    one = lateness(arrivals(port, recording, 'view=raw', 1)[0])
    yardstick.join()
    many = [late for rows in arrivals(port, recording, 'view=raw&end=%2B10s&every=10ms', PLAYS) for late in lateness(rows)]
    lab.stop(reel)
    for what, late, most in (('1000 messages/s', one, 5), ('%d viewers of 100 messages/s' % PLAYS, many, 20)):
        got, beside = quantile(late, .99), quantile(slept, .99)
        yield Row('WebSocket, %s, lateness p99 | a program that sleeps' % what, '%.2f ms' % got, '%.2f ms' % beside, None, '<= %d ms' % most, got <= most)


def resident(reel):
    with open('/proc/%d/status' % reel.process.process.pid) as f:
        return int(re.search(r'VmRSS:\s+(\d+)', f.read()).group(1)) << 10


def stalled(lab):
    sys.path.append(os.path.join(os.path.dirname(HERE), 'e2e'))
    from samples import Message, T0, bag
    path = lab.path('socket-blobs.bag')
    with open(path, 'wb') as f:
        f.write(bag([Message(T0 + i * 1_000_000, '/a', struct.pack('<I', BLOB) + os.urandom(BLOB), 'std_msgs/String') for i in range(BLOBS)]))
    reel = lab.reel('stalled')
    _, recording = reel.put(path, 'blobs.bag')
    port = int(reel.base.rsplit(':', 1)[1].split('/')[0])
    viewers = [Viewer(port, recording, 'paused=true&view=raw', 4096) for _ in range(2)]  # what the first ones need, all use
    before = resident(reel)
    viewers += [Viewer(port, recording, 'paused=true&view=raw', 4096) for _ in range(STALLED)]
    for viewer in viewers:
        while not viewer.subscribed:
            viewer.read()
        viewer.send(0x82, struct.pack('<BBfBQI', 3, 0, 100.0, 0, 0, 1) + b'x')
    sizes = []

    def settled():
        sizes.append(resident(reel))
        return len(sizes) > 20 and max(sizes[-10:]) - min(sizes[-10:]) < 1 << 16
    wait_for(settled, 'memory that stays', 60)
    grown = max(sizes) - before
    for viewer in viewers:
        viewer.socket.close()
    lab.stop(reel)
    yield Row('memory of %d viewers that do not read messages of %d kB' % (STALLED, BLOB // 1000), '%.1f MB' % (grown / 1e6), '', None, '<= %d MB' % (MEMORY_MAX >> 20), grown <= MEMORY_MAX)


def sockets(lab):
    yield from punctual(lab)
    yield from stalled(lab)
