"""How punctual playback is: arrival of each row beside the time it was due, and a program that only sleeps, in the same run."""
import json
import os
import selectors
import socket
import sys
import threading
import time

from lab import quantile
from row import Row

HERE = os.path.dirname(os.path.abspath(__file__))
STEP_NS = 1_000_000  # a thousand messages a second
PLAYS = 50


def bag_of_steps(path, seconds):
    sys.path.append(os.path.join(os.path.dirname(HERE), 'e2e'))
    from samples import Message, T0, bag
    with open(path, 'wb') as f:
        f.write(bag([Message(T0 + i * STEP_NS, '/a', i.to_bytes(8, 'little'), 'std_msgs/Float64') for i in range(seconds * 1000)]))


def arrivals(port, recording, query, count):
    """For each of `count` playbacks, (time of arrival, its own time in seconds) of its rows."""
    selector, found = selectors.DefaultSelector(), [[] for _ in range(count)]
    for i in range(count):
        s = socket.create_connection(('127.0.0.1', port))
        s.sendall(b'GET /api/v1/recordings/%s/play?decode=none&%s HTTP/1.1\r\nHost: localhost\r\n\r\n' % (recording.encode(), query.encode()))
        selector.register(s, selectors.EVENT_READ, [i, b''])
    while selector.get_map():
        for key, _ in selector.select(30):
            i, rest = key.data
            data = key.fileobj.recv(1 << 16)
            now = time.monotonic()
            *lines, key.data[1] = (rest + data).split(b'\n')
            found[i] += [(now, seconds_of(json.loads(line)['log_time'])) for line in lines if line.startswith(b'{"topic"')]
            if not data or any(line.startswith(b'{"$end"') for line in lines):
                selector.unregister(key.fileobj)
                key.fileobj.close()
    return found


def seconds_of(text):
    """Within the hour."""
    return int(text[17:19]) + int(text[14:16]) * 60 + float('0.' + text[20:29])


def lateness(rows):
    """ms after each row, (time of arrival, its own time in seconds), was due; the most punctual row is the reference."""
    offsets = [at - second for at, second in rows]
    least = min(offsets)
    return [(offset - least) * 1000 for offset in offsets]


def sleeper(count, out):
    began = time.monotonic()
    for i in range(count):
        due = began + i * STEP_NS / 1e9
        time.sleep(max(0, due - time.monotonic()))
        out.append((time.monotonic() - due) * 1000)


def play(lab):
    seconds = 10 if lab.quick else 60
    path = lab.path('steps.bag')
    bag_of_steps(path, seconds)
    reel = lab.reel('play')
    _, recording = reel.put(path, 'steps.bag')
    port = int(reel.base.rsplit(':', 1)[1].split('/')[0])
    slept = []
    yardstick = threading.Thread(target=sleeper, args=(seconds * 1000, slept))
    yardstick.start()
    one = lateness(arrivals(port, recording, 'speed=1', 1)[0])
    yardstick.join()
    many = [late for rows in arrivals(port, recording, 'end=%2B10s&every=10ms', PLAYS) for late in lateness(rows)]
    lab.stop(reel)
    for what, late, quantiles in (('1000 messages/s', one, ((0.5, 1), (0.99, 5))), ('%d plays of 100 messages/s' % PLAYS, many, ((0.99, 20),))):
        for q, most in quantiles:
            got, beside = quantile(late, q), quantile(slept, q)
            yield Row('%s, lateness p%d | a program that sleeps' % (what, q * 100), '%.2f ms' % got, '%.2f ms' % beside, None, '<= %d ms' % most, got <= most)
