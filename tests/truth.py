#!/usr/bin/env python3
"""The real samples against what is known of them: counts, first and last times, sizes, and per topic the SHA-256 of the payloads in time order, all from
their truth.json or worked out here from the file; and NanoVer cuts at 20 random times each. Last line: N passed, N failed, N skipped."""
import argparse
import json
import os
import random
import sys
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(HERE, '..', '..', 'shared', 'samples')
EXPECTED = 26  # samples that should be there
CUTS = 20
sys.path.insert(0, os.path.join(HERE, 'e2e'))


def load(folder, name):
    with open(os.path.join(SAMPLES, folder, name), 'rb') as f:
        return f.read()


def check_equal(what, got, want):
    if got != want:
        raise AssertionError('%s: %.600r instead of %.600r' % (what, got, want))


def rows_by_topic(path, topics):
    from harness import payload, reel, time_ns
    from samples import Message, by_topic
    messages = []
    for topic in topics:  # one at a time: a message of several types is found under each
        for line in reel('cat', path, '--topic', topic).stdout.splitlines():
            row = json.loads(line)
            messages.append(Message(time_ns(row['log_time']), topic, payload(row)))
    return by_topic(messages)


def check_info(path, info, topics, total, first_ns, last_ns):
    from harness import time_ns
    check_equal('size', info['size'], os.path.getsize(path))
    check_equal('messages', info['messages'], total)
    listed = {t['name']: t for t in info['topics']}
    check_equal('topics', set(listed), set(topics))
    if total > 0:
        check_equal('start and end', (time_ns(info['start']), time_ns(info['end'])), (first_ns, last_ns))
    for name, want in topics.items():
        t = listed[name]
        check_equal(name, (t['count'], t['bytes'], time_ns(t['first']), time_ns(t['last'])), (want['count'], want['bytes'], want['first_ns'], want['last_ns']))
    check_equal('payloads', rows_by_topic(path, topics), topics)


def check_rosbag(path, truth, server):
    from harness import reel
    info = json.loads(reel('info', path, '--json').stdout)
    topics = {name: {'count': t['count'], 'bytes': t['bytes'], 'first_ns': t['first_ns'], 'last_ns': t['last_ns'], 'sha': t['payload_sha256_time_order']}
              for name, t in truth['topics'].items()}
    check_info(path, info, topics, truth['message_count'], truth['start_ns'], truth['end_ns'])
    for t in info['topics']:
        check_equal(t['name'] + ' type', t['type'], truth['topics'][t['name']]['type'])


def packed(values):
    """By key the bytes of each value: what is no number at all is still equal to itself."""
    import msgpack
    return {key: msgpack.packb(value) for key, value in values.items()}


def check_nanover(path, truth, server):
    from harness import API, reel
    from samples import Message, by_topic, fold, read_nanover
    with open(path, 'rb') as f:
        data = f.read()
    source = read_nanover(data)
    check_equal('entries', len(source), truth['entries'])
    stamp = lambda entry: int(entry['metadata']['timestamp'])
    topics = by_topic([Message(stamp(e) * 1000, kind, piece) for e, piece in source for kind in e['metadata']['types'] or ['(none)']])
    for kind, count in (('frame', truth['frame_messages']), ('state', truth['state_messages'])):
        check_equal(kind + ' messages', topics.get(kind, {'count': 0})['count'], count)
    info = json.loads(reel('info', path, '--json').stdout)
    ends = (min(map(stamp, (e for e, _ in source))) * 1000, max(map(stamp, (e for e, _ in source))) * 1000) if source else (0, 0)
    check_info(path, info, topics, truth['entries'], *ends)
    if not source:
        return
    number, rng = server.added(os.path.basename(path), data), random.Random(3)
    for _ in range(CUTS):
        start = rng.randrange(ends[0] // 1000, ends[1] // 1000 + 2)
        answer = server.get('%s/recordings/%s/as/cut.nanover.zip?start=%dus' % (API, number, start))
        check_equal('status of the cut at %d us' % start, answer.status, 200)
        cut = read_nanover(answer.body)
        frame, state = fold(source, before=start)
        tail = [piece for e, piece in source if stamp(e) >= start]
        front = cut[:len(cut) - len(tail)]
        check_equal('messages put in front at %d us' % start, len(front), 1 if frame or state else 0)
        if front:
            want = ({**frame, 'frame.index': 0} if frame else {}, state)
            check_equal('state at the cut at %d us' % start, [packed(part) for part in fold(front)], [packed(part) for part in want])
        check_equal('messages after %d us' % start, [p for _, p in cut[len(front):]], tail)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--reel', default='build/release/reel')
    parser.add_argument('filter', nargs='?', default='', help='only samples whose name holds this')
    args = parser.parse_args()
    os.environ['REEL'] = os.path.abspath(args.reel)
    if not os.path.isdir(SAMPLES):
        print('skipped: %d real samples' % EXPECTED)
        print('0 passed, 0 failed, %d skipped' % EXPECTED)
        return 0
    from harness import Server
    passed = failed = 0
    server = Server()
    for folder, check in (('rosbag1', check_rosbag), ('rosbag2.0', check_rosbag), ('nanover', check_nanover)):
        for name, truth in sorted(json.loads(load(folder, 'truth.json')).items()):
            if args.filter not in 'truth.' + name:
                continue
            try:
                check(os.path.join(SAMPLES, folder, name), truth, server)
                passed += 1
            except Exception:
                failed += 1
                print('FAILED: %s\n%s' % (name, traceback.format_exc()[-3000:]), flush=True)
    server.stop()
    print('%d passed, %d failed, 0 skipped' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
