#!/usr/bin/env python3
"""The real samples compared with known values: counts, first and last times, sizes, and per topic the SHA-256 of the payloads in time order, all from
their truth.json or computed here from the file; values of the headers; NanoVer cuts at 20 random times each, and the output of NanoVer's own tools. Last
line: N passed, N failed, N skipped."""
import argparse
import collections
import json
import os
import random
import struct
import sys
import tempfile
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(HERE, '..', '..', 'shared', 'samples')
EXPECTED = 63  # samples that should be there
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
        for line in reel('cat', path, '--topic', topic, '--no-decode').stdout.splitlines():
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
        check_equal(name, (t['messages'], t['payload_bytes'], time_ns(t['start']), time_ns(t['end'])), (want['count'], want['bytes'], want['first_ns'], want['last_ns']))
    check_equal('payloads', rows_by_topic(path, topics), topics)


def check_rosbag(path, truth, server):
    from harness import reel
    info = json.loads(reel('info', path, '--json').stdout)
    topics = {name: {'count': t['count'], 'bytes': t['bytes'], 'first_ns': t['first_ns'], 'last_ns': t['last_ns'], 'sha': t['payload_sha256_time_order']}
              for name, t in truth['topics'].items()}
    check_info(path, info, topics, truth['message_count'], truth.get('start_ns'), truth.get('end_ns'))
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
    number, rng = server.added(os.path.basename(path), data, '?replace=true'), random.Random(3)
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
    check_nanover_asked(number, source, truth, server)


def sum_of_floats(rows):
    """Of 32 bits: their decimals are the shortest that mean them."""
    numbers = [x for row in rows for x in row]
    return sum(struct.unpack('<%df' % len(numbers), struct.pack('<%df' % len(numbers), *numbers)))


def near(what, got, want):
    if (got is None) != (want is None) or (want is not None and abs(got - want) > 1e-6 * max(1, abs(want))):
        raise AssertionError('%s: %r instead of %r' % (what, got, want))


def check_moment(what, ask, probe):
    frame, state = ask('frame')['frame'], ask('state')['state']
    check_equal(what, (len(frame), frame.get('frame.index'), sorted(state['updates']), state['removals']),
                (probe['frame_keys'], probe['frame_index'], probe['state_keys'], []))
    check_equal(what + ' bonds', len(frame['bond.pairs']) if 'bond.pairs' in frame else None, probe['bond_pairs'])
    near(what + ' potential', frame.get('energy.potential'), probe['potential'])
    near(what + ' time', frame.get('system.simulation.time'), probe['sim_time_ps'])
    near(what + ' positions', sum_of_floats(frame['particle.positions']) if 'particle.positions' in frame else None, probe['positions_sum'])


def check_nanover_rows(ask, truth):
    counts, duration = truth['frame_key_counts'], truth['duration_s']
    resets, changes, energies = ask('resets'), ask('state/changes?output=json'), ask('energies')
    check_equal('resets', [r['index'] for r in resets], truth['frame_reset_entries'])
    check_equal('messages of the runs', sum(r['messages'] for r in resets), truth['entries'] - resets[0]['index'] if resets else 0)
    check_equal('removals', sum(c['removed'] for c in changes), truth['state_removals'])
    check_equal('keys', len({c['key'] for c in changes if not c['removed']}), truth['state_distinct_keys'])
    prefixes = collections.Counter(c['key'].split('.')[0] for c in changes if not c['removed'])
    check_equal('changes', dict(prefixes), truth['state_key_prefix_counts'])
    for column, key in (('kinetic_kj_mol', 'energy.kinetic'), ('user_kj_mol', 'energy.user.total'), ('work_done_kj_mol', 'forces.user.work_done')):
        check_equal(key, sum(row[column] is not None for row in energies), counts.get(key, 0))
    if len(energies) > 1:
        assert all(a['time_s'] < b['time_s'] for a, b in zip(energies, energies[1:])) and energies[-1]['time_s'] - energies[0]['time_s'] <= duration + 1e-9
    return resets


def check_runs(server, at, source, resets):
    from samples import fold, read_nanover
    for i, reset in enumerate(resets):
        first, end = reset['index'], resets[i + 1]['index'] if i + 1 < len(resets) else len(source)
        answer = server.get('%s/as/run.nanover.zip?run=%d' % (at, reset['run']))
        check_equal('status of run %d' % reset['run'], answer.status, 200)
        cut = read_nanover(answer.body)
        check_equal('start of run %d' % reset['run'], [packed(part) for part in fold(cut[:1])], [packed(part) for part in fold(source[:first + 1])])
        check_equal('rest of run %d' % reset['run'], [p for _, p in cut[1:]], [p for _, p in source[first + 1:end]])
        zero = int(source[first][0]['metadata']['timestamp'])
        check_equal('times of run %d' % reset['run'], [e['metadata']['timestamp'] for e, _ in cut], [int(e['metadata']['timestamp']) - zero for e, _ in source[first:end]])


def check_nanover_asked(number, source, truth, server):
    """Moments, rows and runs, over HTTP."""
    from harness import API
    at = '%s/recordings/%s' % (API, number)
    def ask(rest):
        answer = server.get('%s/nanover/%s' % (at, rest))
        check_equal('status of ' + rest, answer.status, 200)
        return answer.json()
    for probe in truth['probes']:
        check_moment('after entry %d' % probe['entry'], lambda part: ask('%s?at=%dus' % (part, probe['timestamp_us'])), probe)
    last = ask('frame')['frame']
    if truth.get('final_frame'):
        check_equal('last frame', (last['particle.count'], sum(last['particle.elements']), last['system.box.vectors'], last.get('system.simulation.name')),
                    tuple(truth['final_frame'][k] for k in ('particle.count', 'elements_sum', 'box', 'simulation_name')))
    check_runs(server, at, source, check_nanover_rows(ask, truth))


def metadata(path, server):
    from harness import API
    with open(path, 'rb') as f:
        number = server.added(os.path.basename(path), f.read())
    return [(m['key'], m['value']) for m in server.get('%s/recordings/%s/metadata' % (API, number)).json()['items']]


def info_of(path):
    from harness import reel
    info = json.loads(reel('info', path, '--json').stdout)
    check_equal('size', info['size'], os.path.getsize(path))
    rows = reel('cat', path).stdout.splitlines()
    check_equal('rows', len(rows), info['messages'])
    return info, [c for t in info['topics'] for c in t['channels']]


def check_carla(path, truth, server):
    info, channels = info_of(path)
    head, stored = truth['header'], dict(metadata(path, server))
    check_equal('header', (stored['version'], stored['map'], stored['frames']), (str(head['version']), head['map'], str(truth['frames'])))
    check_equal('date and duration', (info['start_ns'], stored['duration']), (str(head['date'] * 10**9), '%.9g' % truth['duration']))
    check_equal('end', int(info['end_ns']), head['date'] * 10**9 + round(truth['duration'] * 1e9))
    check_equal('packets', {c['metadata']['packet']: c['messages'] for c in channels}, {key.split()[0]: count for key, count in truth['packets'].items()})
    check_equal('bytes', {c['metadata']['packet']: c['payload_bytes'] + 5 * c['messages'] for c in channels}, truth['bytes_per_packet'])
    check_equal('vectors', {c['metadata'].get('vectors', truth['vectors']) for c in channels}, {truth['vectors']})
    check_equal('damaged', info['damaged'], truth['truncation'] is not None)


def check_mira(path, truth, server):
    info, channels = info_of(path)
    start, stored = truth['start'], dict(metadata(path, server))
    check_equal('header', (stored['mira.version'], stored['mira.start_ns'], stored['mira.utc_offset_ns'], 'big-endian' in info['container']),
                (truth['version'], str(start), str(truth['utc_offset_ns']), truth['byte_order'] == 'big'))
    check_equal('messages', info['messages'], truth['messages'])
    check_equal('channels', {c['name']: (c['type'], c['messages'], c['payload_bytes'], int(c['start_ns']), int(c['end_ns'])) for c in channels},
                {name: (c['type'], c['messages'], c['uncompressed_bytes'], start + c['first'], start + c['last']) for name, c in truth['channels'].items()})
    check_equal('damaged', info['damaged'], not truth['at_eof'])


def check_tide(path, truth, server):
    info, channels = info_of(path)
    check_equal('version', info['container'], 'TIDE ' + truth['version'])
    check_equal('messages', info['messages'], truth['entries'])
    if truth['entries']:
        check_equal('start and end', (int(info['start_ns']), int(info['end_ns'])), (truth['first'], truth['last']))
    check_equal('channels', {(int(c['metadata']['tide.id']), c['name'], c['messages'], c['payload_bytes'], *(int(c[k]) for k in ('start_ns', 'end_ns') if c['messages']))
                             for c in channels},
                {(c['id'], c['name'], c['count'], c['bytes'], *(c[k] for k in ('first', 'last') if c['count'])) for c in truth['channels']})
    for key, field in (('tide.source', 'source_name'), ('tide.source_config', 'source_config')):
        check_equal(field, {c['name']: c['metadata'].get(key, '') for c in channels}, {c['name']: c[field] for c in truth['channels']})
    check_equal('META', metadata(path, server), [tuple(pair) for pair in truth.get('meta', [])])
    check_equal('damaged', info['damaged'], not truth['at_eof'] or any('cut off' in note for note in truth['notes']))


def check_legacy(path, truth, server):
    info, channels = info_of(path)
    check_equal('messages', info['messages'], truth['entries'])
    check_equal('start and end', (int(info['start_ns']), int(info['end_ns'])), (truth['first_timestamp_us'] * 1000, truth['last_timestamp_us'] * 1000))
    check_equal('duration', info['duration_ns'], round(truth['duration_s'] * 1e9))
    check_equal('channels', [(c['name'], c['messages']) for c in channels], [({'.traj': 'frame', '.state': 'state'}[os.path.splitext(path)[1]], truth['entries'])])
    check_equal('damaged', info['damaged'], False)


def check_converted(path, truth, server):
    """What the official converter makes of a pair, against what we make of it."""
    from harness import reel
    stem = path[:-len('.nanover.zip')]
    def ask(part, us):
        return json.loads(reel('nanover', part, stem + '.traj', stem + '.state', '--at', '%dus' % us).stdout)
    for probe in truth['probes']:
        check_moment('of the pair, after entry %d' % probe['entry'], lambda part: ask(part, probe['timestamp_us']), probe)
    with tempfile.TemporaryDirectory() as folder:
        after = os.path.join(folder, os.path.basename(path))
        reel('convert', stem + '.traj', stem + '.state', after)
        check_nanover(after, truth, server)
        from samples import fold, read_nanover
        with open(after, 'rb') as f:
            entries = read_nanover(f.read())
        stamps = [int(e['metadata']['timestamp']) for e, _ in entries]
        check_equal('times', (min(stamps), max(stamps)), (truth['first_timestamp_us'], truth['last_timestamp_us']))
        check_equal('greatest gap', max(b - a for a, b in zip(stamps, stamps[1:])), truth['max_gap_us'])
        indices = [e['metadata']['frame.index'] for e, _ in entries if 'frame.index' in e['metadata']]
        check_equal('frame indices', (indices[0], indices[-1]), (truth['first_frame_index'], truth['last_frame_index']))
        check_equal('resets', [i for i, (e, _) in enumerate(entries) if e['metadata'].get('frame.index') == 0], truth['frame_reset_entries'])
        check_equal('atoms at the end', fold(entries)[0]['particle.count'], truth['final_frame']['particle.count'])


CHECKS = (('rosbag1', 'truth', check_rosbag), ('rosbag2.0', 'truth', check_rosbag), ('nanover', 'truth', check_nanover), ('carla', 'truth', check_carla),
          ('mira', 'truth', check_mira), ('tide', 'truth', check_tide), ('nanover_legacy', 'truth', check_legacy),
          ('nanover_legacy', 'truth_converted', check_converted))


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
    for folder, known, check in CHECKS:
        for name, truth in sorted(json.loads(load(folder, known + '.json')).items()):
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
