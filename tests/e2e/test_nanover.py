"""The questions of NanoVer's own tools: moments, resets, changes, energies, and single runs."""
import csv
import io
import json
import math
import os
import struct
import tarfile
import tempfile

import msgpack

import legacy
from harness import API, Case, reel
from samples import bag, fold, lab_messages, nanover, nanover_messages, read_nanover

MESSAGES = nanover_messages()
RESETS = [i for i, (_, m) in enumerate(MESSAGES) if m.get('frame', {}).get('frame.index') == 0]
SHAPES = {'particle.positions': ('f', 3), 'particle.elements': ('B', 1), 'bond.pairs': ('I', 2)}


def entries(messages):
    """As read_nanover() gives them."""
    return [({'metadata': {'timestamp': time}}, msgpack.packb(m)) for time, m in messages]


def values(value, key=None):
    """What is packed as numbers in rows, as the API shows them; what is not finite as a string."""
    if key in SHAPES and isinstance(value, bytes):
        letter, columns = SHAPES[key]
        numbers = list(struct.unpack('<%d%s' % (len(value) // struct.calcsize(letter), letter), value))
        return numbers if columns == 1 else [numbers[i:i + columns] for i in range(0, len(numbers), columns)]
    if isinstance(value, dict):
        return {k: values(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [values(v) for v in value]
    if isinstance(value, float) and math.isinf(value):
        return 'Infinity' if value > 0 else '-Infinity'
    return value


def changes(messages):
    rows = []
    for time, m in messages:
        state = m.get('state', {})
        stamp = '%d.%09d' % divmod(time * 1000, 10**9)
        rows += [{'time': stamp, 'key': k, 'value': values(v), 'removed': False} for k, v in state.get('updates', {}).items()]
        rows += [{'time': stamp, 'key': k, 'value': None, 'removed': True} for k in state.get('removals', [])]
    return rows


class Nanover(Case):
    @classmethod
    def fill(cls):
        cls.run_id = cls.server.added('run.nanover.zip', nanover(MESSAGES))
        cls.bag = cls.server.added('lab.bag', bag(lab_messages(1)))

    def path(self, rest, number=None):
        return '%s/recordings/%s/%s' % (API, number or self.run_id, rest)

    def moment(self, part, at='', number=None):
        """As JSON and, unpacked, as MessagePack."""
        path = self.path('nanover/%s%s' % (part, at), number)
        answer, packed = self.get(path), self.get(path, Accept='application/msgpack')
        self.assertEqual(answer.headers.get_content_type(), 'application/json')
        self.assertEqual(packed.headers.get_content_type(), 'application/msgpack')
        self.assertEqual(int(packed.headers['Content-Length']), len(packed.body))
        self.assertNotEqual(answer.headers['ETag'], packed.headers['ETag'])
        return answer.json(), msgpack.unpackb(packed.body)

    def assertMoment(self, messages, at, number=None):
        frame, state = fold(entries(messages))
        text, packed = self.moment('frame', at, number)
        self.assertEqual(packed, {'frame': frame})
        self.assertEqual(text, {'frame': values(frame)})
        text, packed = self.moment('state', at, number)
        self.assertEqual(packed, {'state': {'updates': state, 'removals': []}})
        self.assertEqual(text, {'state': {'updates': values(state), 'removals': []}})

    def test_a_moment(self):
        for i in (0, 1, 5, RESETS[1] - 1, RESETS[1], RESETS[1] + 3, len(MESSAGES) - 1):
            self.assertMoment(MESSAGES[:i + 1], '?at=%dus' % MESSAGES[i][0])
        self.assertMoment(MESSAGES[:5], '?at=%dus' % (MESSAGES[5][0] - 1))
        self.assertMoment(MESSAGES, '')
        self.assertMoment([], '?at=499us')
        self.assertMoment([m for m in MESSAGES if m[0] <= 1_000_500], '?at=%2B1s')

    def test_a_moment_is_a_file(self):
        path = self.path('nanover/frame')
        whole = self.get(path)
        part = self.get(path, 206, Range='bytes=10-19')
        self.assertEqual(part.body, whole.body[10:20])
        self.get(path, 304, If_None_Match=whole.headers['ETag'])
        self.assertEqual(self.get(path + '?output=msgpack').body, self.get(path, Accept='application/msgpack').body)
        self.assertProblem(self.server.get(path, Accept='text/csv'), 406, 'msgpack')
        self.assertProblem(self.server.get(path + '?at=noon'), 400, 'at')

    def test_resets(self):
        rows = self.get(self.path('nanover/resets')).json()
        self.assertEqual([(r['run'], r['index'], r['time_ns']) for r in rows], [(i + 1, place, MESSAGES[place][0] * 1000) for i, place in enumerate(RESETS)])
        self.assertEqual([r['messages'] for r in rows], [RESETS[1] - RESETS[0], len(MESSAGES) - RESETS[1]])
        self.assertEqual([r['frames'] for r in rows], [30, 30])
        self.assertEqual([r['duration_s'] for r in rows], [30 * .033333, (MESSAGES[-1][0] - MESSAGES[RESETS[1]][0]) / 1e6])
        table = list(csv.DictReader(io.StringIO(self.get(self.path('nanover/resets'), Accept='text/csv').body.decode(), newline='')))
        self.assertEqual([(int(r['run']), r['time']) for r in table], [(r['run'], r['time']) for r in rows])

    def test_changes(self):
        path, want = self.path('nanover/state/changes'), changes(MESSAGES)
        answer = self.get(path)
        self.assertEqual(answer.headers.get_content_type(), 'application/x-ndjson')
        self.assertEqual(answer.rows(), want)
        self.assertTrue(any(r['removed'] for r in want))
        self.assertEqual(self.get(path + '?key=inter*.1&key=avatar.*').rows(), [r for r in want if r['key'] in ('interaction.1', 'avatar.1')])
        self.assertEqual(self.get(path + '?start=%2B1s&end=%2B1.5s').rows(), changes([m for m in MESSAGES if 1_000_500 <= m[0] < 1_500_500]))
        self.assertEqual(self.get(path + '?output=json').json(), want)
        self.assertEqual(self.get(path + '?key=nobody').body, b'')
        self.assertProblem(self.server.get(path + '?every=2'), 400, 'every')

    def test_states(self):
        path, want, state = self.path('nanover/states'), [], {}
        for time, m in MESSAGES:
            if any(m.get('state', {}).values()):
                removed = [k for k in m['state'].get('removals', []) if k in state]
                state = {k: v for k, v in {**state, **m['state'].get('updates', {})}.items() if k not in m['state'].get('removals', [])}
                if removed or m['state'].get('updates'):
                    want.append({'time': '%d.%09d' % divmod(time * 1000, 10**9), 'state': values(state)})
        answer = self.get(path)
        self.assertEqual(answer.headers.get_content_type(), 'application/x-ndjson')
        self.assertEqual(answer.rows(), want)
        self.assertTrue(len(want) > 3 and any(len(a['state']) > len(b['state']) for a, b in zip(want, want[1:])))
        self.assertEqual(self.get(path + '?start=1s').rows(), [r for r in want if float(r['time']) >= 1])  # with what was set before
        scenes = self.get(path + '?key=scene').rows()
        self.assertEqual({tuple(r['state']) for r in scenes} - {()}, {('scene',)})
        self.assertLess(len(scenes), len(want))
        again = [(0, {'a': 1, 'b': 2}, []), (1, {}, ['a']), (2, {'a': 3}, ['nobody']), (3, {}, ['nobody']), (4, {'b': 4}, [])]
        number = self.server.added('again.nanover.zip', nanover([(t, {'state': {'updates': u, 'removals': r}}) for t, u, r in again]))
        self.assertEqual([list(r['state'].items()) for r in self.get(self.path('nanover/states', number)).rows()],
                         [[('a', 1), ('b', 2)], [('b', 2)], [('b', 2), ('a', 3)], [('b', 4), ('a', 3)]])
        long = self.server.added('long.nanover.zip', nanover([(t, {'state': {'updates': {str(t % 3): str(t) * 50_000}, 'removals': []}}) for t in range(20)]))
        self.assertEqual([r['state'][str(t % 3)] for t, r in enumerate(self.get(self.path('nanover/states', long)).rows())], [str(t) * 50_000 for t in range(20)])

    def test_energies(self):
        path = self.path('nanover/energies')
        want = [(t / 1e6, m['frame']['energy.potential'], m['frame']['system.simulation.time']) for t, m in MESSAGES if 'frame' in m]
        rows = self.get(path).json()
        self.assertEqual([(r['time_s'], r['potential_kj_mol'], r['simulation_time_ps']) for r in rows], want)
        self.assertEqual({(r['kinetic_kj_mol'], r['total_kj_mol']) for r in rows}, {(None, None)})
        self.assertEqual(self.get(path + '?every=10&output=ndjson').rows(), rows[::10])
        table = list(csv.reader(io.StringIO(self.get(path, Accept='text/csv').body.decode(), newline='')))
        self.assertEqual(table[0][:4], ['time_s', 'simulation_time_ps', 'kinetic_kj_mol', 'potential_kj_mol'])
        self.assertEqual([(float(r[0]), float(r[3])) for r in table[1:]], [row[:2] for row in want])

    def test_frames(self):
        path = self.path('nanover/frames')
        frames = [(t, m['frame']) for t, m in MESSAGES if 'frame' in m]
        want = [('%d.%09d' % divmod(t * 1000, 10**9), f.get('frame.index'), f.get('particle.count'), f['energy.potential'], list(f)) for t, f in frames]
        rows = self.get(path).json()
        self.assertEqual([(r['time'], r['frame_index'], r['particles'], r['potential_kj_mol'], r['keys']) for r in rows], want)
        self.assertEqual([r['reset'] for r in rows], [f.get('frame.index') == 0 for _, f in frames])
        self.assertEqual(self.get(path + '?every=10&output=ndjson').rows(), rows[::10])
        self.assertEqual(self.get(path + '?start=1s').json(), [r for r in rows if float(r['time']) >= 1])
        table = list(csv.DictReader(io.StringIO(self.get(path, Accept='text/csv').body.decode(), newline='')))
        self.assertEqual([json.loads(r['keys']) for r in table], [w[-1] for w in want])

    def assertRun(self, archive, run):
        cut, start, tail = read_nanover(archive), RESETS[run - 1], RESETS[run] if run < len(RESETS) else len(MESSAGES)
        times = [e['metadata']['timestamp'] for e, _ in cut]
        self.assertEqual(times, [m[0] - MESSAGES[start][0] for m in MESSAGES[start:tail]])
        frame, state = fold(entries(MESSAGES[:start + 1]))
        self.assertEqual(msgpack.unpackb(cut[0][1]), {'frame': frame, 'state': {'updates': state, 'removals': []}})
        self.assertEqual((cut[0][0]['metadata']['frame.index'], cut[0][0]['metadata']['types']), (0, ['frame', 'state']))
        self.assertEqual([msgpack.unpackb(p) for _, p in cut[1:]], [m for _, m in MESSAGES[start + 1:tail]])

    def test_single_runs(self):
        tags = set()
        for run in (1, 2):
            answer = self.get(self.path('as/x.nanover.zip?run=%d' % run))
            self.assertRun(answer.body, run)
            self.assertEqual(self.get(self.path('as/x.nanover.zip?run=%d' % run), 206, Range='bytes=100-299').body, answer.body[100:300])
            tags.add(answer.headers['ETag'])
        plain = self.get(self.path('as/x.nanover.zip?start=%dns' % (MESSAGES[RESETS[1]][0] * 1000 + 1)))  # the same cut, counted from another instant
        self.assertEqual(len(tags | {plain.headers['ETag']}), 3)
        rows = self.get(self.path('as/x.ndjson?run=2')).rows()
        self.assertEqual((len(rows), rows[0]['before_start']), (len(MESSAGES) - RESETS[1], True))
        self.assertEqual(rows[0]['data']['frame']['particle.count'], 20)
        self.assertIn('avatar', json.dumps(self.get(self.path('as/x.ndjson?run=1')).rows()[0]['data']['state']['updates']))

    def test_a_file_for_each_run(self):
        answer = self.get(self.path('as/x.nanover.zip.tar?split=reset'))
        with tarfile.open(fileobj=io.BytesIO(answer.body)) as tar:
            parts = [(m.name, tar.extractfile(m).read()) for m in tar.getmembers() if m.isfile()]
        self.assertEqual(2, len(parts), parts)
        for run in (1, 2):
            self.assertRun(parts[run - 1][1], run)
            self.assertEqual(read_nanover(self.get(self.path('as/x.nanover.zip?run=%d' % run)).body), read_nanover(parts[run - 1][1]))
        self.assertEqual(self.get(self.path('as/x.nanover.zip.tar?split=reset'), 206, Range='bytes=700-899').body, answer.body[700:900])
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, 'whole.nanover.zip')
            with open(source, 'wb') as f:
                f.write(self.get(self.path('as/x.nanover.zip')).body)
            reel('convert', source, os.path.join(folder, 'run.mcap'), '--split', 'reset')
            self.assertEqual(['run_0000.mcap', 'run_0001.mcap'], sorted(n for n in os.listdir(folder) if n.startswith('run')))
            for words in (('--start', '+1s'),):
                self.assertIn(b'no times', reel('convert', source, os.path.join(folder, 'x.mcap'), '--split', 'reset', *words, check=False).stderr)
            self.assertIn(b'one recording', reel('convert', source, source, os.path.join(folder, 'x.mcap'), '--split', 'reset', check=False).stderr)
        self.assertProblem(self.server.get(self.path('as/x.mcap.tar?split=reset', self.bag)), 422, 'no NanoVer messages')
        self.assertProblem(self.server.get(self.path('as/x.mcap.tar?split=reset&start=%2B1s')), 400, 'no times')
        self.assertProblem(self.server.get(self.path('as/x.mcap.tar?split=resets')), 400, 'reset')

    def test_split_by_a_key(self):
        frame = lambda i, **more: {'frame': {'frame.index': i, 'particle.count': 1, **more}}
        state = lambda **updates: {'state': {'updates': updates, 'removals': []}}
        said = [state(name='a'), frame(0, kind=1), state(name='a', other=1), frame(1, kind=1), state(name='b'), frame(2, kind=2), state(other=2), state(name=['c', 1]), frame(3)]
        number = self.server.added('named.nanover.zip', nanover([(1000 * i, m) for i, m in enumerate(said)]))
        copy = self.server.added('named.mcap', self.get(self.path('as/named.mcap', number)).body)
        tags = set()

        def parts(split, recording=number):
            answer = self.get(self.path('as/x.nanover.zip.tar?split=' + split, recording))
            tags.add(answer.headers['ETag'])
            with tarfile.open(fileobj=io.BytesIO(answer.body)) as archive:
                return [[msgpack.unpackb(p) for _, p in read_nanover(archive.extractfile(m).read())] for m in archive.getmembers()]

        first, second, third = parts('key:name')
        self.assertEqual(first, said[:4])
        self.assertEqual(second, [{**frame(0, kind=1), **state(name='b', other=1)}, *said[5:7]])
        self.assertEqual(third, [{**frame(0, kind=2), **state(name=['c', 1], other=2)}, said[8]])
        self.assertEqual([len(part) for part in parts('key:kind')], [5, 4])  # of the frame
        self.assertEqual(parts('key:nothing'), [said])
        self.assertEqual(parts('key:name', copy), [first, second, third])
        self.assertEqual(len(tags), 4)
        for bad, words in (('key:', 'key:KEY'), ('key:' + 'x' * 256, '255 bytes')):
            self.assertProblem(self.server.get(self.path('as/x.nanover.zip.tar?split=' + bad, number)), 400, words)

    def test_runs_that_are_none(self):
        for run, word in ((0, 'precedes the first reset'), (3, '2 resets')):
            self.assertProblem(self.server.get(self.path('as/x.nanover.zip?run=%d' % run)), 404, word)
        self.assertProblem(self.server.get(self.path('as/x.nanover.zip?run=1&start=%2B1s')), 400, 'run')
        self.assertProblem(self.server.get(self.path('as/x.nanover.zip?run=1&end=%2B1s')), 400, 'run')
        self.assertProblem(self.server.get(self.path('as/x.nanover.zip?run=two')), 400, 'run')

    def test_others_hold_no_such_messages(self):
        for rest in ('nanover/frame', 'nanover/state?at=+0s', 'nanover/resets', 'nanover/state/changes', 'nanover/energies', 'nanover/frames', 'nanover/states', 'as/x.mcap?run=1'):
            self.assertProblem(self.server.get(self.path(rest, self.bag)), 422, 'no NanoVer messages')

    def test_the_same_messages_in_an_mcap(self):
        copy = self.server.added('run.mcap', self.get(self.path('as/run.mcap')).body)
        for at in ('?at=400us', '?at=400ms', '?at=1s', '?at=1.5s', ''):
            for part in ('frame', 'state'):
                self.assertEqual(self.moment(part, at, copy), self.moment(part, at))
        for rest in ('resets', 'state/changes?output=csv', 'energies', 'frames', 'states'):
            self.assertEqual(self.get(self.path('nanover/' + rest, copy)).body, self.get(self.path('nanover/' + rest)).body)
        self.assertEqual(read_nanover(self.get(self.path('as/x.nanover.zip?run=2', copy)).body), read_nanover(self.get(self.path('as/x.nanover.zip?run=2')).body))

    def test_the_older_form(self):
        traj, state = legacy.pair()
        converted = legacy.convert(traj, state)
        number = self.server.added('old.traj', traj)
        self.assertEqual(self.server.put('old.state', state, '?part_of=old.traj').status, 200)
        last = converted[-1][0]
        for time in (converted[0][0], last // 3, last // 2, last):
            frame, folded = fold(entries([m for m in converted if m[0] <= time]))
            self.assertEqual(self.moment('frame', '?at=%dus' % time, number)[1], {'frame': frame})
            self.assertEqual(self.moment('state', '?at=%dus' % time, number)[1], {'state': {'updates': folded, 'removals': []}})
        resets = [(i, t * 1000) for i, (t, m) in enumerate(converted) if m.get('frame', {}).get('frame.index') == 0]
        self.assertEqual([(r['index'], r['time_ns']) for r in self.get(self.path('nanover/resets', number)).json()], resets)
        self.assertEqual(len(self.get(self.path('nanover/state/changes', number)).rows()), len(changes(converted)))

    def test_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            file, out = os.path.join(folder, 'run.nanover.zip'), os.path.join(folder, 'second.nanover.zip')
            with open(file, 'wb') as f:
                f.write(nanover(MESSAGES))
            ask = lambda *words: reel('nanover', *words).stdout
            for part in ('frame', 'state'):
                self.assertEqual(ask(part, file, '--at', '1.2s'), self.get(self.path('nanover/%s?at=1.2s' % part)).body)
                self.assertEqual(ask(part, file, '--output', 'msgpack'), self.get(self.path('nanover/%s?output=msgpack' % part)).body)
            self.assertEqual(ask('resets', file), self.get(self.path('nanover/resets?output=csv')).body)
            self.assertEqual(ask('energies', file, '--start', '1s', '--output', 'json'), self.get(self.path('nanover/energies?start=1s')).body)
            self.assertEqual(ask('frames', file, '--every', '3'), self.get(self.path('nanover/frames?every=3&output=csv')).body)
            self.assertEqual(ask('states', file, '--start', '1s'), self.get(self.path('nanover/states?start=1s')).body)
            self.assertEqual(ask('changes', file, '--key', 'scene'), self.get(self.path('nanover/state/changes?key=scene')).body)
            reel('convert', '--split', 'reset', file, out)
            with open(out.replace('.nanover.zip', '_0001.nanover.zip'), 'rb') as f:
                self.assertRun(f.read(), 2)
            reel('convert', '--run', '2', file, out)
            with open(out, 'rb') as f:
                self.assertRun(f.read(), 2)
            for words in (('frame', file, '--key', 'x'), ('resets', file, '--at', '1s'), ('changes', file, '--every', '2'), ('nothing', file),
                          ('state', file, '--output', 'csv'), ('frame', file, file)):
                self.assertEqual(reel('nanover', *words, check=False).returncode, 2, words)
            self.assertEqual(reel('convert', '--run', '1', '--start', '1s', file, out, check=False).returncode, 1)
            with open(os.path.join(folder, 'lab.bag'), 'wb') as f:
                f.write(bag(lab_messages(1)))
            refused = reel('nanover', 'state', os.path.join(folder, 'lab.bag'), check=False)
            self.assertEqual((refused.returncode, b'no NanoVer messages' in refused.stderr), (1, True))
