"""What a user of the page waits for, in a real Chromium (page.mjs), beside the time of a fixed piece of JavaScript in it."""
import json
import os
import shutil
import subprocess
import sys

import catalog
import inputs
from lab import BenchError, median, quantile
from row import Row, size_name

HERE = os.path.dirname(os.path.abspath(__file__))
PICTURES, WIDTH, HEIGHT = 100, 640, 480
POINTS, FEW = 1_000_000, 100_000  # of the plot; recordings of the list
sys.path.append(os.path.join(os.path.dirname(HERE), 'e2e'))


def bag_of_pictures(path):
    """Ten a second, not compressed: the server makes a JPEG of each that is asked for."""
    from samples import Message, SECOND, T0, bag
    from test_frame import image
    row = bytes((x * 3 + c * 80) % 256 for x in range(WIDTH) for c in range(3))
    with open(path, 'wb') as f:
        f.write(bag([Message(T0 + i * SECOND // 10, '/camera', image('rgb8', WIDTH, HEIGHT, (row[3 * i:] + row[:3 * i]) * HEIGHT), 'sensor_msgs/Image')
                     for i in range(PICTURES)]))


def jpegs(count=120):
    if not shutil.which('ffmpeg'):
        raise BenchError('ffmpeg, which makes the pictures, is missing')
    made = subprocess.run(['ffmpeg', '-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=30', '-frames:v', str(count), '-q:v', '4', '-f', 'image2pipe',
                           '-c:v', 'mjpeg', '-'], capture_output=True, check=True).stdout
    return [b'\xff\xd8\xff' + part for part in made.split(b'\xff\xd8\xff')[1:]]


def video(path):
    """30 seconds of H.264, a key frame every second."""
    import test_video
    test_video.FRAMES, test_video.KEY_EVERY = 900, 30
    with open(path, 'wb') as f:
        f.write(test_video.mcap({'/video': ('h264', [(test_video.T0 + i * 33_333_333, frame) for i, frame in enumerate(test_video.video('h264', '1280x720'))])}))


def put(lab, reel, name, make, *args):
    path = lab.path(name)
    make(path, *args)
    return reel.put(path, name)[1]


def measured(lab, **given):
    done = subprocess.run(['node', os.path.join(HERE, 'page.mjs'), json.dumps(given)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=900 + 120 * lab.minutes)
    if done.returncode != 0:
        raise BenchError(done.stderr.strip()[-600:])
    return json.loads(done.stdout)


def page(lab):
    lists, _ = catalog.filled(lab, 'page-lists', FEW)
    reel = lab.reel('page')
    drive = put(lab, reel, 'drive.bag', inputs.drive_bag, lab.big, jpegs())
    got = measured(lab, base=reel.base, lists=lists.base, drive=drive, pictures=put(lab, reel, 'pictures.bag', bag_of_pictures),
                   states=put(lab, reel, 'states.mcap', inputs.states, POINTS * 131), video=put(lab, reel, 'video.mcap', video),
                   hash_bytes=(256 if lab.quick else 1024) << 20, rounds=lab.rounds, minutes=lab.minutes)
    lab.stop(reel)
    lab.stop(lists)
    yield from rows(lab, got)


def rows(lab, got):
    yard = median(got['yardstick_s'])
    beside = '%.2f s of JavaScript' % yard
    load = ', load %s' % ' to '.join(got['load'])

    def at_most(what, ms, limit):
        return Row(what, '%.0f ms' % ms, beside, ms / 1000 / yard, '<= %d ms' % limit, ms <= limit)

    def at_least(what, a_second, limit):
        return Row(what, '%.1f' % a_second, beside, None, '' if limit is None else '>= %g' % limit, None if limit is None else a_second >= limit)
    size = median(one['bytes'] for one in got['first'])
    yield Row('first load, compressed' + load, '%.1f kB' % (size / 1000), '', None, '<= 150 kB', size <= 150_000, got)
    yield at_most('list visible, %d recordings | yardstick' % FEW, median(one['ms'] for one in got['first']), 500)
    yield at_most('recording of %s open with a picture | yardstick' % size_name(lab.big), median(got['opened']), 600)
    for name, times in (('JPEG', got['seek_jpeg']), ('pixels', got['seek_raw'])):
        yield at_most('seek to new picture, %s, p50 (p95 %.0f ms) | yardstick' % (name, quantile(times, 0.95)), median(times), 120)
    yield at_most('plot of 1 M points, cold | yardstick', got['plot'][0], 400)
    yield at_most('plot of 1 M points, warm | yardstick', median(got['plot'][1:]), 60)
    yield at_least('frames a second, 1 M rows scrolled (longest %.0f ms) | yardstick' % got['scroll']['worst'], got['scroll']['fps'], 59)
    for what, key, wanted, page_wanted in (('camera of 30 Hz', 'play', 25, 25), ('camera of 10 Hz', 'play_slow', 9.5, 25), ('30 Hz, and 3D by the processor', 'play_scene', None, None),
                                           ('H.264 of 30 Hz', 'play_video', 25, 25)):
        yield at_least('pictures a second, four panels play, %s | yardstick' % what, got[key]['pictures'], wanted)
        yield at_least('frames of the page meanwhile (longest %.0f ms) | yardstick' % got[key]['worst'], got[key]['fps'], page_wanted)
    minutes, process, heap = got['memory'][-1]
    half = got['memory'][len(got['memory']) // 2]
    growth = (process - half[1]) / max(minutes - half[0], 1e-9)
    yield Row('memory of the tab after %.1f minutes (%+.1f MB a minute since half of it; heap %.0f MB)' % (minutes, growth, heap), '%.0f MB' % process, '', None, '<= 400 MB',
              process <= 400)
    yield Row('hashing the parts of a file while it is sent | yardstick', '%.0f MB/s' % got['hash_mb_s'], beside, None, '>= 400 MB/s', got['hash_mb_s'] >= 400)
