"""Rows about payloads as values: a robot's bag compared with python3-rosbag, a CARLA log, a simulation compared with Python's msgpack and json; and series."""
import json
import os
import time

import inputs
from lab import API, PATIENCE, BenchError, in_turn, measured, median, run, warm
from row import Row, size_name

# Each does once what the other does: open, decode every message, write it as a line of JSON; the import of its modules is not counted.
ROS_TO_JSON = '''
import base64, json, os, sys, time
import rosbag
def plain(value):
    return {'$base64': base64.b64encode(value).decode()} if isinstance(value, bytes) else {name: getattr(value, name) for name in value.__slots__}
start, n = time.perf_counter(), 0
with rosbag.Bag(sys.argv[1]) as bag, open(os.devnull, 'w') as out:
    for topic, message, stamp in bag.read_messages():
        out.write(json.dumps({'topic': topic, 'log_time': stamp.to_nsec(), 'data': message}, default=plain) + '\\n')
        n += 1
print(time.perf_counter() - start, n)
'''
NANOVER_TO_JSON = '''
import json, os, sys, time, zipfile
import msgpack
start, n = time.perf_counter(), 0
with zipfile.ZipFile(sys.argv[1]) as archive, open(os.devnull, 'w') as out:
    body, index = memoryview(archive.read('messages.msgpack')), msgpack.unpackb(archive.read('index.msgpack'))
    for entry in index:
        message = msgpack.unpackb(body[entry['offset']:entry['offset'] + entry['length']])
        frame = message['frame']
        flat = memoryview(frame['particle.positions']).cast('f').tolist()
        frame['particle.positions'] = [flat[i:i + 3] for i in range(0, len(flat), 3)]
        if 'particle.elements' in frame:
            frame['particle.elements'] = list(frame['particle.elements'])
        out.write(json.dumps({'topic': 'frame', 'log_time': entry['metadata']['timestamp'], 'data': message}) + '\\n')
        n += 1
print(time.perf_counter() - start, n)
'''


def by_python(script, path, messages):
    seconds, found = run('/usr/bin/python3', '-c', script, path, timeout=600).split()
    if int(found) != messages:
        raise BenchError('Python found %s of %d messages' % (found, messages))
    return float(seconds)


def check_count(lab, path, messages):
    """All messages by `reel cat` are as many as were made."""
    found = run(lab.program, 'cat', path, '--field', 'nothing').count('\n')
    if found != messages:
        raise BenchError('reel cat printed %d of %d messages' % (found, messages))


def faster(lab, what, path, messages, script, limit):
    """`reel cat`, the whole program with its scan, compared with Python."""
    check_count(lab, path, messages)
    ours, theirs = in_turn(lab.rounds, lambda: measured(lab.program, 'cat', path)[0], lambda: by_python(script, path, messages))
    ratio = median(theirs) / median(ours)
    return Row(what, '%.0f k/s' % (messages / median(ours) / 1e3), '%.1f k/s' % (messages / median(theirs) / 1e3), ratio, '>= %g x' % limit, ratio >= limit,
               {'ours_s': ours, 'peer_s': theirs, 'bytes': os.path.getsize(path)})


def as_csv(lab, what, path, *args):
    seconds = [measured(lab.program, *args)[0] for _ in range(lab.rounds)]
    return Row('%s, %s' % (what, size_name(os.path.getsize(path))), '%.0f MB/s' % (os.path.getsize(path) / median(seconds) / 1e6), '', None, '', None,
               {'ours_s': seconds})


def decoding(lab):
    size = lab.middle // 2
    made = lab.path('robot.bag')
    messages = sum(inputs.robot_bag(made, size).values())
    bag = lab.converted(made, '.bag')
    yield faster(lab, 'odometry, tf and scans to NDJSON, bag of %s | python3-rosbag and json' % size_name(size), bag, messages, ROS_TO_JSON, 30)
    os.unlink(made)
    os.unlink(bag)

    log = lab.path('positions.log')
    inputs.carla_log(log, lab.middle)
    warm(log)
    yield as_csv(lab, 'CARLA positions to CSV', log, 'cat', log, '--topic', '/position', '--output', 'csv')
    yield as_csv(lab, "CARLA, one actor's trajectory to CSV", log, 'carla', 'trajectory', log, '7', '--output', 'csv')
    os.unlink(log)

    simulation = lab.path('atoms.nanover.zip')
    frames = inputs.simulation(simulation, size)
    warm(simulation)
    yield faster(lab, 'NanoVer frames of 1000 atoms to NDJSON, %s | msgpack and json' % size_name(size), simulation, frames, NANOVER_TO_JSON, 5)
    os.unlink(simulation)


# ---- series

def points(reel, path, limit):
    """Seconds until a series is there, and its points."""
    start = time.perf_counter()
    while True:
        answer, body = reel.request('GET', path, status=(200, 503))
        if answer.status == 200:
            break
        if time.perf_counter() - start > PATIENCE:
            raise BenchError('%s is not read after %d s' % (path, PATIENCE))
        time.sleep(0.05)
    seconds, found = time.perf_counter() - start, len(json.loads(body))
    if not limit * 0.9 <= found <= limit:
        raise BenchError('%s: %d points' % (path, found))
    return seconds


def series(lab, reel):
    """The first call reads the whole topic; a further one of the same field reads what was kept."""
    path, counts = lab.made_once('robot-%d.bag' % lab.big, lambda path: inputs.robot_bag(path, lab.big))
    values = counts['/odom']
    _, recording = reel.put(path, 'long.bag')
    base = '%s/%s/series?max_points=1000&field=' % (API, recording)
    firsts = [points(reel, base + '/odom.' + name, 1000) for name in ('pose.pose.position.x', 'pose.pose.position.y', 'twist.twist.linear.x')]
    again = [points(reel, base + '/odom.pose.pose.position.x', 1000) for _ in range(20)]
    what = 'series of a field, %s, %.1f M values, 1000 points' % (size_name(lab.big), values / 1e6)
    yield Row(what + ': first call', '%.0f ms' % (median(firsts) * 1e3), '', None, '', None, {'ours_s': firsts})
    yield Row('… the next | the first', '%.2f ms' % (median(again) * 1e3), '%.0f ms' % (median(firsts) * 1e3), median(again) / median(firsts), '<= 20 ms',
              median(again) <= 0.02, {'ours_s': again})
    reel.purge(recording)
