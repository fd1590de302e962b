"""NanoVer's older form: two files that are one recording, and what the official converter would make of them."""
import os
import shutil
import tempfile

import msgpack

import legacy
from harness import API, Case, eventually, reel, stored_below
from samples import bag, fold, lab_messages, read_mcap, read_nanover

TRAJ, STATE = legacy.pair()
WANTED = legacy.convert(TRAJ, STATE)


def set_of_removals(message):
    state = message.get('state')
    return {**message, 'state': {**state, 'removals': sorted(state['removals'])}} if state else message


class Legacy(Case):
    @classmethod
    def fill(cls):
        cls.folder = tempfile.mkdtemp(prefix='reel-e2e-')
        for name, data in (('run.traj', TRAJ), ('run.state', STATE), ('other.state', STATE), ('lab.bag', bag(lab_messages(2)))):
            with open(cls.at(name), 'wb') as f:
                f.write(data)
        cls.run_id = cls.server.added('run.traj', TRAJ)
        cls.joined = cls.server.put('run.state', STATE, '?part_of=run.traj')

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)
        super().tearDownClass()

    @classmethod
    def at(cls, name):
        return os.path.join(cls.folder, name)

    def path(self, rest):
        return '%s/recordings/%s/%s' % (API, self.run_id, rest)

    def assertConverted(self, archive, wanted):
        entries = read_nanover(archive)
        self.assertEqual([e['metadata']['timestamp'] for e, _ in entries], [t for t, _ in wanted])
        for (entry, piece), (_, message) in zip(entries, wanted):
            self.assertEqual(set_of_removals(msgpack.unpackb(piece)), set_of_removals(message))
            self.assertEqual(entry['metadata']['types'], list(message))
            self.assertEqual(entry['metadata'].get('frame.index'), message.get('frame', {}).get('frame.index'))

    def test_two_files_one_recording(self):
        self.assertEqual(self.joined.status, 200, self.joined)
        answer = self.joined.json()
        self.assertEqual((answer['id'], answer['name'], answer['revision'], answer['state']), (self.run_id, 'run.traj', 1, 'ready'))
        self.assertEqual([p['name'] for p in answer['parts']], ['run.traj', 'run.state'])
        self.assertEqual((answer['size'], answer['messages']), (len(TRAJ) + len(STATE), len(WANTED)))
        now = self.get(self.path('')[:-1]).json()
        self.assertEqual({t['name']: t['messages'] for t in now['topics']}, {kind: sum(kind in m for _, m in WANTED) for kind in ('frame', 'state')})
        self.assertEqual(self.get(self.path('file/run.state')).body, STATE)
        self.assertEqual(self.get(self.path('file/run.traj')).body, TRAJ)
        self.assertEqual([r['id'] for r in self.get(API + '/recordings?topic=state&collection=lab').json()['items']], [self.run_id])

    def test_what_is_there_is_there(self):
        for query in ('?part_of=run.traj', ):
            again = self.server.put('run.state', STATE, query)
            self.assertEqual((again.status, again.json()['id']), (200, self.run_id))
        again = self.server.put('run.traj', TRAJ)
        self.assertEqual((again.status, again.json()['id'], len(again.json()['parts'])), (200, self.run_id, 2))

    def test_the_pair_converts_like_the_official_tool(self):
        self.assertConverted(self.get(self.path('as/x.nanover.zip')).body, WANTED)

    def test_each_alone(self):
        for name, wanted in (('run.traj', legacy.convert(traj=TRAJ)), ('run.state', legacy.convert(states=STATE))):
            alone = self.server.added(name, TRAJ if name.endswith('traj') else STATE, collection='alone')
            self.assertConverted(self.get('%s/recordings/%s/as/x.nanover.zip' % (API, alone)).body, wanted)

    def test_a_cut_starts_with_the_state_of_its_instant(self):
        source = read_nanover(self.get(self.path('as/x.nanover.zip')).body)
        for start in (500, 34_334, 800_500, 1_000_990, 1_500_000):
            with self.subTest(start):
                cut = read_nanover(self.get(self.path('as/x.nanover.zip?start=%dus' % start)).body)
                frame, state = fold(source, before=start)
                tail = [p for e, p in source if e['metadata']['timestamp'] >= start]
                self.assertEqual(fold(cut[:len(cut) - len(tail)]), ({**frame, **({'frame.index': 0} if frame else {})}, state))
                self.assertEqual([p for _, p in cut][len(cut) - len(tail):], tail)

    def test_other_targets_keep_protobuf(self):
        channels, _, messages = read_mcap(self.get(self.path('as/x.mcap')).body)
        self.assertEqual({(t, e) for t, e, _ in channels.values()}, {('frame', 'nanover-protobuf'), ('state', 'nanover-protobuf')})
        self.assertEqual([m.payload for m in messages if m.topic == 'frame'], [p for _, p in legacy.records(TRAJ)])
        self.assertEqual([m.payload for m in messages if m.topic == 'state'], [p for _, p in legacy.records(STATE)])

    def test_through_mcap_and_back(self):
        back = self.server.added('travelled.mcap', self.get(self.path('as/x.mcap')).body, collection='travel')
        self.assertEqual(self.get('%s/recordings/%s/as/x.nanover.zip' % (API, back)).body, self.get(self.path('as/x.nanover.zip')).body)

    def test_what_does_not_belong_is_refused(self):
        before = self.get(self.path('')[:-1]).json()
        self.assertProblem(self.server.put('nobody.state', STATE, '?part_of=nobody.traj'), 404)
        self.assertProblem(self.server.put('run.state', STATE[:-40], '?part_of=run.traj'), 409, 'run.traj')
        self.server.added('alone.traj', TRAJ)
        self.assertProblem(self.server.put('other.state', STATE, '?part_of=alone.traj'), 422, 'other.state')
        self.assertProblem(self.server.put('alone.state', TRAJ[:-60], '?part_of=alone.traj'), 422, 'alone.state')
        self.assertProblem(self.server.put('alone.state', b'no such file', '?part_of=alone.traj'), 422, 'alone.state')
        self.server.added('lab.bag', bag(lab_messages(1)))
        self.assertProblem(self.server.put('lab.state', STATE, '?part_of=lab.bag'), 422, 'one file')
        self.assertProblem(self.server.put('alone.state', STATE, '?part_of=alone.traj&replace=true'), 400, 'part_of')
        self.assertEqual(self.get(self.path('')[:-1]).json(), before)

    def test_purged_with_all_its_files(self):
        traj, state = legacy.pair(salt=77)
        before = stored_below(self.server.data)
        made = self.server.added('gone.traj', traj)
        self.server.added('gone.state', state, '?part_of=gone.traj')
        self.assertGreater(len(stored_below(self.server.data)), len(before))
        self.assertEqual(self.server.request('DELETE', '%s/recordings/%s?purge' % (API, made)).status, 204)
        self.assertTrue(eventually(lambda: stored_below(self.server.data) == before), stored_below(self.server.data))

    def test_the_command_line_knows_the_pair(self):
        for files in (('run.traj', 'run.state'), ('run.state', 'run.traj')):
            reel('convert', *[self.at(f) for f in files], self.at('out.nanover.zip'), '--force')
            with open(self.at('out.nanover.zip'), 'rb') as f:
                self.assertEqual(f.read(), self.get(self.path('as/x.nanover.zip')).body)
        reel('convert', self.at('run.traj'), self.at('lab.bag'), self.at('run.state'), self.at('both.mcap'))  # a pair and another: two, without prefix
        with open(self.at('both.mcap'), 'rb') as f:
            topics = {t for t, _, _ in read_mcap(f.read())[0].values()}
        self.assertIn('frame', topics)
        self.assertIn('state', topics)
        reel('convert', self.at('run.state'), self.at('other.state'), self.at('two.mcap'))  # of other names: a merge
        with open(self.at('two.mcap'), 'rb') as f:
            self.assertEqual({t for t, _, _ in read_mcap(f.read())[0].values()}, {'/run/state', '/other/state'})
