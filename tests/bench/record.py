"""Recording: rows over HTTP beside an upload of the same bytes, the library beside fwrite, and how soon a follower has what was appended."""
import http.client
import json
import socket
import threading
import time

from lab import median, quantile
from row import Row

BATCH = 1 << 20


def rows_of(count):
    return b''.join(b'{"topic":"/imu","log_time":%d,"data":{"x":%d,"y":0.5,"z":-1.25,"t":%d}}\n' % (1700000000 * 10**9 + i, 10**9 + i, 10**5 + i % 10**5)
                    for i in range(count))


class Client:
    def __init__(self, reel):
        self.connection = http.client.HTTPConnection('127.0.0.1', int(reel.base.rsplit(':', 1)[1].split('/')[0]), timeout=60)

    def ask(self, method, path, body=b'', kind='application/x-ndjson'):
        self.connection.request(method, '/api/v1' + path, body, {'Content-Type': kind})
        answer = self.connection.getresponse()
        data = answer.read()
        assert answer.status < 300, data
        return json.loads(data)

    def live(self, name):
        return self.ask('POST', '/recordings?live=true&name=' + name)['id']


def appended(client, body, name):
    """Seconds to append all rows of `body`, in batches of 1 MiB, each on the disk before the next."""
    one, at = client.live(name), 0
    began = time.monotonic()
    while at < len(body):
        end = body.rfind(b'\n', at, at + BATCH) + 1
        client.ask('POST', '/recordings/%s/messages' % one, body[at:end])
        at = end
    took = time.monotonic() - began
    client.ask('POST', '/recordings/%s/finish' % one)
    return took


def latencies(reel, count):
    """ms from the answer to an append until a follower has its row; negative: the row was first."""
    client = Client(reel)
    one = client.live('followed')
    s = socket.create_connection((client.connection.host, client.connection.port))
    s.sendall(b'GET /api/v1/recordings/%s/messages?follow=true HTTP/1.1\r\nHost: localhost\r\n\r\n' % one.encode())
    arrived, found = {}, threading.Event()

    def read():
        rest = b''
        while data := s.recv(1 << 16):
            now = time.monotonic()
            *lines, rest = (rest + data).split(b'\n')
            arrived.update({json.loads(line)['data']: now for line in lines if line.startswith(b'{"topic"')})
            if len(arrived) == count:
                found.set()

    threading.Thread(target=read, daemon=True).start()
    answered = []
    for i in range(count):
        client.ask('POST', '/recordings/%s/messages' % one, b'{"topic":"/a","data":%d}' % i)
        answered.append(time.monotonic())
        time.sleep(0.01)
    found.wait(30)
    s.shutdown(socket.SHUT_RDWR)
    return [(arrived[i] - at) * 1000 for i, at in enumerate(answered)]


def record(lab):
    count = 300_000 if lab.quick else 3_000_000
    body = rows_of(count)
    reel = lab.reel('record')
    client = Client(reel)
    ours = [appended(client, body, 'rows-%d' % i) for i in range(3)]
    peer = []
    for i in range(3):
        began = time.monotonic()
        client.connection.request('PUT', '/api/v1/recordings/by-name/lab/copy-%d.bin?keep=true' % i, body[:-3] + b'%03d' % i)
        client.connection.getresponse().read()
        peer.append(time.monotonic() - began)
    a, b = median(ours), median(peer)
    yield Row('rows of %d bytes by NDJSON | an upload of the same bytes' % (len(body) // count), '%d rows/s' % (count / a), '%d rows/s' % (count / b), b / a,
              '>= 150000 rows/s', count / a >= 150_000)
    late = latencies(reel, 100 if lab.quick else 500)
    lab.stop(reel)
    yield Row('follow: a row after the answer to its append, p99', '%.1f ms' % quantile(late, 0.99), '', None, '<= 50 ms', quantile(late, 0.99) <= 50)
    messages = 3_000_000
    runs = [[float(t) for t in lab.tool('bench_record', messages, 100, lab.path('library.mcap')).split()] for _ in range(3)]
    a, b = median([r[0] for r in runs]), median([r[1] for r in runs])
    yield Row('C recorder, messages of 100 bytes | fwrite of as many', '%.2f M/s' % (messages / a / 1e6), '%.2f M/s' % (messages / b / 1e6), b / a, '>= 1.5 M/s',
              messages / a >= 1_500_000)
