"""How much memory a server holds: at rest, and under many clients who each ask for something else of large recordings."""
import os
import random
import re
import threading
import time
from contextlib import closing

import inputs
from lab import API, BenchError, wait_for, warm
from row import Row, size_name

CLIENTS, IDLE_MAX, BUSY_MAX = 64, 64e6, 256e6


def resident(reel, name='VmRSS'):
    """Bytes; VmHWM is their peak so far."""
    with open('/proc/%d/status' % reel.process.process.pid) as f:
        return int(re.search(name + r':\s*(\d+) kB', f.read()).group(1)) << 10


def taken(reel, method, path, body=None, headers=None):
    """(status, bytes) of an answer that is read to its end and thrown away."""
    buffer, size = bytearray(1 << 18), 0
    with closing(reel.connect()) as line:
        line.request(method, path, body=body, headers=headers or {})
        answer = line.getresponse()
        while n := answer.readinto(buffer):
            size += n
        return answer.status, size


class Crowd:
    """CLIENTS threads, one kind of work each, until they are told to stop."""

    def __init__(self, reel, recordings, upload):
        self.reel, self.recordings, self.upload = reel, recordings, upload
        self.over, self.done, self.wrong, self.lock = threading.Event(), {}, [], threading.Lock()

    def run(self, seconds):
        kinds = (self.download, self.convert, self.messages, self.series, self.list, self.put, self.convert_part, self.range)
        threads = [threading.Thread(target=self.work, args=(kinds[i % len(kinds)], i)) for i in range(CLIENTS)]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        self.over.set()
        for thread in threads:
            thread.join()
        idle = [kind.__name__ for kind in kinds if kind.__name__ not in self.done]
        if self.wrong or idle:
            raise BenchError('the crowd: %s' % (self.wrong[0] if self.wrong else 'no client finished: ' + ', '.join(idle)))

    def work(self, kind, number):
        pick = random.Random(number)
        while not self.over.is_set():
            try:
                status, size = kind(pick, self.recordings[pick.randrange(len(self.recordings))])
            except OSError as e:
                status, size = 0, str(e)
            with self.lock:
                self.done[kind.__name__] = self.done.get(kind.__name__, 0) + 1
                if status not in (200, 201, 206, 503):  # 503: planned meanwhile, or as many as there may be at a time
                    self.wrong.append('%s answered %s, %s' % (kind.__name__, status, size))

    def get(self, path, headers=None):
        return taken(self.reel, 'GET', path, headers=headers)

    def download(self, _, recording):
        return self.get('%s/%s/file/x.bag' % (API, recording))

    def convert(self, _, recording):
        return self.get('%s/%s/as/x.mcap' % (API, recording))

    def convert_part(self, pick, recording):
        return self.get('%s/%s/as/x.mcap?compression=zstd&start=%%2B%ds' % (API, recording, pick.randrange(4)))

    def range(self, pick, recording):
        at = pick.randrange(10**7)
        return self.get('%s/%s/as/x.mcap' % (API, recording), {'Range': 'bytes=%d-%d' % (at, at + 10**6)})

    def messages(self, pick, recording):
        return self.get('%s/%s/messages?start=%%2B%ds&limit=10000' % (API, recording, pick.randrange(100)), {'Accept': 'application/x-ndjson'})

    def series(self, pick, _):
        field = pick.choice(('pose.pose.position.x', 'pose.pose.position.y', 'twist.twist.linear.x'))
        return self.get('%s/%s/series?max_points=1000&field=/odom.%s' % (API, self.recordings[0], field))

    def list(self, _, __):
        return self.get(API + '?limit=1000')

    def put(self, pick, _):
        with open(self.upload, 'rb') as f:
            name = 'crowd-%d.bag' % pick.randrange(10**9)
            return taken(self.reel, 'PUT', '%s/by-name/bench/%s' % (API, name), f, {'Content-Length': str(os.path.getsize(self.upload))})


def memory(lab):
    robot, _ = lab.made_once('robot-%d.bag' % lab.big, lambda path: inputs.robot_bag(path, lab.big))
    large, upload = lab.large_messages(lab.big)[0], lab.large_messages(lab.middle)[0]
    warm(robot)
    reel = lab.reel('memory')
    recordings = [reel.put(path, os.path.basename(path))[1] for path in (robot, large)]
    lab.stop(reel)
    reel = lab.reel('memory')
    wait_for(lambda: not reel.busy(), 'the sweep at start')
    idle = resident(reel)
    yield Row('resident memory at rest', '%.1f MB' % (idle / 1e6), '', None, '<= 64 MB', idle <= IDLE_MAX)
    crowd = Crowd(reel, recordings, upload)
    crowd.run(10 if lab.quick else 30)
    busy = resident(reel, 'VmHWM')
    yield Row('… its peak under %d mixed clients, recordings of %s' % (CLIENTS, size_name(lab.big)), '%.1f MB' % (busy / 1e6), '', None, '<= 256 MB',
              busy <= BUSY_MAX, {'done': crowd.done})
    wait_for(lambda: not reel.busy(), 'the scans of what was uploaded')
    after = resident(reel)
    yield Row('… and once they are gone', '%.1f MB' % (after / 1e6), '', None, '', None)
    lab.stop(reel)
