"""Background jobs: many small uploads, a stop while imports wait, and a webhook whose receiver is slow beside others."""
import http.server
import json
import os
import shutil
import signal
import socketserver
import threading
import time

import inputs
from lab import quantile, timed, wait_for
from row import Row

PUSHED, PUSHED_BYTES, WAITING, HOOKS, SLOW_S, ROUNDS = 10000, 20000, 5000, 100, 9, 5
JSON = {'Content-Type': 'application/json'}


def post(reel, path, body):
    reel.request('POST', path, JSON, (200, 201, 202), json.dumps(body).encode())


def pushed(lab):
    """One run of push, and the same files copied and synced."""
    count = PUSHED // 10 if lab.quick else PUSHED
    folder, copy = lab.path('pushed'), lab.path('pushed-copy')
    inputs.small_bags(folder, count, PUSHED_BYTES)
    reel = lab.reel('push-data')
    ours, _ = timed(lab.program, 'push', '-j', '4', '--quiet', '--recursive', folder, 'http://127.0.0.1:%d' % reel.port)
    peer, _ = timed('sh', '-c', 'cp -r "$1" "$2" && sync -f "$2"', 'sh', folder, copy)
    yield Row('push -j 4 of %d files of 20 KB | cp and sync' % count, '%d files/s' % (count / ours), '%d files/s' % (count / peer), peer / ours,
              '>= 300 files/s, or >= 0.8 x', count / ours >= 300 or peer / ours >= 0.8)
    lab.stop(reel)
    shutil.rmtree(folder)
    shutil.rmtree(copy)


def stopped(lab):
    count = WAITING // 10 if lab.quick else WAITING
    root = lab.path('imported')
    inputs.small_bags(root, 100, PUSHED_BYTES)
    reel = lab.reel('stopped', '--import-root', root)
    for _ in range(count):
        post(reel, '/api/v1/imports', {'path': '.'})
    begun = time.monotonic()
    reel.process.process.send_signal(signal.SIGTERM)
    reel.process.process.wait()
    took = time.monotonic() - begun
    yield Row('SIGTERM while %d imports wait' % count, '%.2f s' % took, '', None, '<= 3 s', took <= 3)
    reel = lab.reel('stopped', '--import-root', root)
    wait_for(lambda: not reel.busy(), 'the imports that waited', 600)
    lab.stop(reel)


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    arrived = []

    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        if self.path == '/slow':
            time.sleep(SLOW_S)
        else:
            self.arrived.append(time.monotonic())
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


class Receivers(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads, request_queue_size = True, 256


def hooks(lab):
    server = Receivers(('127.0.0.1', 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base, late = 'http://127.0.0.1:%d/' % server.server_address[1], []
    reel = lab.reel('hooks', '--webhook-private')
    for i in range(HOOKS):
        post(reel, '/api/v1/webhooks', {'url': base + ('slow' if i == 0 else str(i)), 'events': ['recording.created'], 'secret': '0123456789abcdef'})
    folder = lab.path('hooked')
    inputs.small_bags(folder, ROUNDS, PUSHED_BYTES)
    for i in range(ROUNDS):
        Receiver.arrived.clear()
        reel.put(os.path.join(folder, '%d.bag' % i), 'hook-%d.bag' % i)
        begun = time.monotonic()
        wait_for(lambda: len(Receiver.arrived) == HOOKS - 1, 'the deliveries', 30)
        late += [at - begun for at in Receiver.arrived]
    p99 = quantile(late, 0.99)
    yield Row('delivery to %d webhooks, one of which takes %d s, p99' % (HOOKS, SLOW_S), '%.2f s' % p99, '', None, '<= 1 s', p99 <= 1)
    lab.stop(reel)
    server.shutdown()


def background(lab):
    yield from pushed(lab)
    yield from stopped(lab)
    yield from hooks(lab)
