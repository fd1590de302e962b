"""What a user of the page waits for, in a real Chromium (page.mjs), beside the time of a fixed piece of JavaScript in it."""
import json
import os
import subprocess
import sys

from lab import BenchError, median, quantile
from row import Row

HERE = os.path.dirname(os.path.abspath(__file__))
PICTURES, WIDTH, HEIGHT = 100, 640, 480


def bag_of_pictures(path):
    """Ten a second, not compressed: the server makes a PNG of each that is asked for."""
    sys.path.append(os.path.join(os.path.dirname(HERE), 'e2e'))
    from samples import Message, SECOND, T0, bag
    from test_frame import image
    row = bytes((x * 3 + c * 80) % 256 for x in range(WIDTH) for c in range(3))
    with open(path, 'wb') as f:
        f.write(bag([Message(T0 + i * SECOND // 10, '/camera', image('rgb8', WIDTH, HEIGHT, (row[3 * i:] + row[:3 * i]) * HEIGHT), 'sensor_msgs/Image')
                     for i in range(PICTURES)]))


def page(lab):
    path = lab.path('pictures.bag')
    bag_of_pictures(path)
    reel = lab.reel('page')
    _, recording = reel.put(path, 'pictures.bag')
    done = subprocess.run(['node', os.path.join(HERE, 'page.mjs'), reel.base, recording, str((256 if lab.quick else 1024) << 20)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    lab.stop(reel)
    if done.returncode != 0:
        raise BenchError(done.stderr.strip()[-600:])
    got = json.loads(done.stdout)
    beside = '%.2f s of JavaScript' % got['yardstick_s']
    p50 = median(got['seek_ms'])
    yield Row('seek to new picture, p50 (p90 %.0f ms) | yardstick' % quantile(got['seek_ms'], 0.9), '%.0f ms' % p50, beside, None, '<= 120 ms', p50 <= 120, got)
    yield Row('hashing a file for its upload | yardstick', '%.0f MB/s' % got['hash_mb_s'], beside, None, '>= 400 MB/s', got['hash_mb_s'] >= 400)
