"""/play: messages leave when they are due; /plays/{id} pauses, moves and speeds up a running playback."""
import http.client
import io
import json
import os
import socket
import subprocess
import tempfile
import threading
import time
import unittest

import msgpack

from harness import API, PATIENCE, REEL, Case, eventually, reel
from samples import SECOND, T0, Message, bag, nanover, nanover_messages

STEP_NS = 20_000_000  # between two messages
STEP = STEP_NS / 1e9
COUNT = 100


def steps():
    """Messages of /a every 20 ms from a full second on, and a silence of 10 s before the last one."""
    times = [T0 + i * STEP_NS for i in range(COUNT)] + [T0 + (COUNT - 1) * STEP_NS + 10 * SECOND]
    return bag([Message(at, '/a', b'\x02\x00\x00\x00%02d' % (i % 100), 'std_msgs/String') for i, at in enumerate(times)])


class Playing(threading.Thread):
    """Reads a playback; `rows` are (time of arrival, row)."""
    def __init__(self, server, path):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=PATIENCE)
        self.began = time.monotonic()
        self.connection.request('GET', path)
        self.socket = self.connection.sock
        self.answer = self.connection.getresponse()
        self.rows = []
        self.start()

    def run(self):
        try:
            for line in self.answer:
                self.rows.append((time.monotonic(), json.loads(line)))
        except (http.client.HTTPException, OSError, ValueError, AttributeError):
            pass

    def messages(self):
        return [(at, row) for at, row in list(self.rows) if 'topic' in row]

    def id(self):
        return self.answer.headers['X-Play']

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the server was first
        self.connection.close()


class Play(Case):
    @classmethod
    def fill(cls):
        cls.steps = cls.server.added('steps.bag', steps())
        cls.atoms = cls.server.added('atoms.nanover.zip', nanover(nanover_messages()))

    def path(self, query='', rest='/play', recording=None):
        return '%s/recordings/%s%s%s' % (API, recording or self.steps, rest, query)

    def play(self, query='', recording=None):
        playing = Playing(self.server, self.path(query, recording=recording))
        self.addCleanup(playing.close)
        return playing

    def control(self, playing, **change):
        answer = self.server.request('PATCH', API + '/plays/' + playing.id(), json.dumps(change))
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def test_messages_leave_when_they_are_due(self):
        playing = self.play('?end=%2B1s')
        playing.join(PATIENCE)
        rows = playing.messages()
        self.assertEqual(len(rows), 50)
        early = [i for i, (at, _) in enumerate(rows) if at - playing.began < i * STEP]
        self.assertEqual(early, [])
        play, end = playing.rows[0][1]['$play'], playing.rows[-1][1]['$end']
        self.assertEqual((play['id'], play['speed'], play['paused'], play['recording']), (playing.id(), 1, False, self.steps))
        self.assertEqual((end['complete'], end['messages']), (True, 50))

    def test_the_rows_are_those_of_messages(self):
        played = [json.loads(line) for line in self.server.get(self.path('?speed=max')).body.splitlines()]
        rows = self.server.get(self.path(rest='/messages')).rows()
        self.assertEqual([row for row in played if 'topic' in row], rows)
        unpacked = list(msgpack.Unpacker(io.BytesIO(self.server.get(self.path('?speed=max&output=msgpack')).body)))
        self.assertEqual((unpacked[0]['$play']['speed'], len(unpacked)), ('max', COUNT + 2 + ('$end' in unpacked[-1])))
        events = self.server.get(self.path('?speed=max&output=events')).body.decode().split('\n\n')
        self.assertTrue(events[0].startswith('event: play\ndata: {"$play":'), events[0])
        self.assertEqual([json.loads(event[6:]) for event in events if event.startswith('data: {"topic"')], rows)

    def test_speed_rate_and_gaps(self):
        for query, least in (('?speed=100', 0.119), ('?rate=200', COUNT / 200)):  # 12 s of recording
            playing = self.play(query)
            playing.join(PATIENCE)
            rows = playing.messages()
            self.assertEqual(len(rows), COUNT + 1)
            self.assertGreaterEqual(rows[-1][0] - playing.began, least)
        playing = self.play('?start=%2B1.98s&speed=0.1&max_gap=10ms')  # else 100 s
        playing.join(PATIENCE)
        self.assertEqual(playing.rows[-1][1]['$end']['messages'], 2)

    def test_pause_move_and_speed_up(self):
        playing = self.play('?paused=true')
        self.assertTrue(eventually(lambda: len(playing.rows) == 1))
        time.sleep(0.1)
        self.assertEqual(playing.messages(), [])
        answer = self.control(playing, position='+1s', speed=2)
        self.assertEqual((answer['paused'], answer['speed'], answer['position'][17:]), (True, 2, '36.000000000Z'))
        self.control(playing, paused=False)
        self.assertTrue(eventually(lambda: len(playing.messages()) >= 5))
        self.assertEqual(playing.messages()[0][1]['log_time'][17:], '36.000000000Z')
        self.control(playing, paused=True)
        state = self.server.get(API + '/plays/' + playing.id()).json()
        self.assertTrue(eventually(lambda: len(playing.messages()) == state['messages']))
        time.sleep(0.2)
        self.assertEqual((state['paused'], len(playing.messages())), (True, state['messages']))
        self.control(playing, position='-10.1s', paused=False, speed='max')
        playing.join(PATIENCE)
        self.assertEqual(playing.rows[-1][1]['$end']['complete'], True)
        self.assertTrue(eventually(lambda: self.server.get(API + '/plays/' + playing.id()).status == 404))

    def test_loop_and_the_end_of_the_connection(self):
        playing = self.play('?speed=max&loop=true&end=%2B100ms')
        self.assertTrue(eventually(lambda: len(playing.messages()) > 20))
        self.assertEqual({row['log_time'] for _, row in playing.messages()[:5]}, {row['log_time'] for _, row in playing.messages()[5:10]})
        self.control(playing, paused=True)
        playing.close()
        self.assertTrue(eventually(lambda: self.server.get(API + '/plays/' + playing.id()).status == 404))  # while it waits

    def test_a_position_at_the_end_of_a_loop_begins_again(self):
        playing = self.play('?loop=true&paused=true&end=%2B100ms')
        self.control(playing, position='-1ms', paused=False)
        self.assertTrue(eventually(lambda: len(playing.messages()) > 6))
        self.assertEqual(playing.messages()[0][1]['log_time'][17:], '35.000000000Z')
        nothing = self.play('?loop=true&start=%2B3s&end=%2B4s')
        nothing.join(PATIENCE)
        self.assertEqual(nothing.rows[-1][1]['$end']['messages'], 0)

    def test_clock(self):
        playing = self.play('?speed=4&clock=10&end=%2B1s')
        playing.join(PATIENCE)
        ticks = [row for _, row in playing.messages() if row['topic'] == '/clock']
        self.assertIn(len(ticks), (2, 3))  # 1 s in 0.25 s
        self.assertEqual(ticks[0]['data']['clock'], {'sec': T0 // SECOND, 'nsec': 0})

    def test_latch_begins_with_what_was_valid(self):
        rows = self.server.get(self.path('?speed=max&latch=true&start=%2B1.99s&end=%2B2s')).rows()
        self.assertEqual([row.get('before_start') for row in rows if 'topic' in row], [True])

    def test_a_new_position_begins_with_the_state_there(self):
        asked = self.server.get(self.path('?start=%2B1s&speed=max', recording=self.atoms)).rows()[1]
        self.assertEqual(asked['before_start'], True)
        playing = self.play('?paused=true&loop=true', self.atoms)
        rows = lambda: [row for _, row in playing.messages()]
        states = lambda: [row for row in rows() if row.get('before_start')]
        again = lambda: [row for row in rows() if 'avatar.1' in json.dumps(row)]  # the first message has it
        for position, arrived in (('+1s', lambda: states()), ('+0s', lambda: again()), ('+1s', lambda: states()[1:])):
            self.control(playing, position=position, paused=False)
            self.assertTrue(eventually(arrived), position)
            self.control(playing, paused=True)
        self.assertEqual([row['data'] for row in states()], [asked['data']] * 2)
        self.assertEqual(rows()[0], states()[0])

    def test_latch_holds_for_new_positions(self):
        playing = self.play('?paused=true&latch=true')
        self.control(playing, position='+1.99s', paused=False)
        self.assertTrue(eventually(lambda: playing.messages()[:1]))
        self.assertEqual(playing.messages()[0][1]['before_start'], True)

    def test_it_pauses_before_a_topic(self):
        two = self.server.added('two.bag', bag([Message(T0 + i * STEP_NS, '/b' if i in (3, 6) else '/a', b'\x02\x00\x00\x00%02d' % i, 'std_msgs/String')
                                                for i in range(10)]))
        playing = self.play('?speed=max&pause_topic=/b', recording=two)
        for count in (3, 6):
            self.assertTrue(eventually(lambda: len(playing.messages()) == count and playing.rows[-1][1].get('$play', {}).get('paused')))
            self.control(playing, paused=False)
        playing.join(PATIENCE)
        self.assertEqual([row['topic'] for _, row in playing.messages()], ['/b' if i in (3, 6) else '/a' for i in range(10)])
        self.assertEqual([row['$play']['paused'] for _, row in playing.rows if '$play' in row], [False, True, True])

    def test_a_merge(self):
        other = self.server.added('other.bag', bag([Message(T0 + i * STEP_NS + 1000, topic, b'\x02\x00\x00\x00%02d' % i, 'std_msgs/String')
                                                    for i in range(10) for topic in ('/a', '/b')]))
        named = '?recording=%s&recording=%s' % (self.steps, other)
        for query in ('', '&prefix=never&topic=/a', '&shift=%s:1s&end=%%2B2s' % other, '&start=%2B100ms&end=%2B200ms'):
            merged = self.server.get('%s/merge/as/x.ndjson%s%s' % (API, named, query)).rows()
            played = self.server.get('%s/merge/play%s%s&speed=max' % (API, named, query)).rows()
            self.assertEqual(played[0]['$play']['recording'], self.steps)
            self.assertEqual([row for row in played if 'topic' in row], merged, query)
        playing = Playing(self.server, '%s/merge/play%s&paused=true&speed=max&end=%%2B1s' % (API, named))
        self.addCleanup(playing.close)
        self.assertTrue(eventually(lambda: len(playing.rows) == 1))
        self.control(playing, position='+100ms', paused=False)
        playing.join(PATIENCE)
        self.assertEqual([row['recording'] for _, row in playing.messages()[:4]], [self.steps, other, other, self.steps])
        self.assertProblem(self.server.get(API + '/merge/play'), 400, 'recording')
        self.assertProblem(self.server.get('%s/merge/play%s&follow=1' % (API, named)), 400, 'follow')
        self.assertProblem(self.server.get(API + '/merge/play?recording=' + '0' * 32), 404)

    def test_reel_play_of_several_recordings(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, topic, first in (('one.bag', '/a', T0), ('two.bag', '/b', T0 + STEP_NS // 2), ('three.bag', '/a', T0)):
                with open(os.path.join(folder, name), 'wb') as f:
                    f.write(bag([Message(first + i * STEP_NS, topic, b'\x02\x00\x00\x00%02d' % i, 'std_msgs/String') for i in range(10)]))
            one, two, three, merged = (os.path.join(folder, name) for name in ('one.bag', 'two.bag', 'three.bag', 'merged.ndjson'))
            for files, options in (([one, two], []), ([two, one], ['--shift', 'two.bag:1s']), ([one, three], []), ([one, two], ['--prefix', 'always']),
                                   ([one, two], ['--start', '+100ms'])):
                reel('convert', *files, merged, '--force', *options)
                with open(merged, 'rb') as f:
                    expected = [(row['topic'], row['log_time'], row['data']) for row in map(json.loads, f) if 'topic' in row]
                out = reel('play', *files, '--speed', 'max', *options, stdin=b'').stdout
                self.assertEqual([(row['topic'], row['log_time'], row['data']) for row in map(json.loads, out.splitlines()) if 'topic' in row], expected)
            self.assertIn(b'--shift needs several', reel('play', one, '--shift', 'one.bag:1s', check=False).stderr)
            self.assertIn(b'--follow needs a single', reel('play', one, two, '--follow', '1', check=False).stderr)
            self.assertEqual(reel('play', self.path(rest=''), one, check=False).returncode, 1)
            self.pauses_until_enter(one, two)

    def pauses_until_enter(self, *files):
        playing = subprocess.Popen([REEL, 'play', *files, '--speed', 'max', '--pause-topics', '/b'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.assertIn(b'paused', playing.stderr.readline())
        self.assertIsNone(playing.poll())
        self.assertEqual([json.loads(playing.stdout.readline())['topic']], ['/a'])
        playing.stdin.write(b'\n')
        playing.stdin.flush()
        self.assertEqual([json.loads(playing.stdout.readline())['topic'] for _ in range(2)], ['/b', '/a'])
        out, err = playing.communicate()  # the end of the standard input: no more pauses
        self.assertEqual((playing.returncode, len([1 for line in out.splitlines() if 'topic' in json.loads(line)])), (0, 17), err)

    def test_a_silent_playback_tells_where_it_is(self):
        playing = self.play('?paused=true')
        self.assertTrue(eventually(lambda: len(playing.rows) >= 2))
        self.assertEqual(playing.rows[1][1]['$play']['paused'], True)
        self.assertGreater(playing.rows[1][0] - playing.rows[0][0], 10)

    def test_reel_play_of_an_address(self):
        own = 'http://127.0.0.1:%d' % self.server.port
        asked = [row for row in self.server.get(self.path('?start=%2B1s&topic=/a&speed=max&decode=none')).rows() if 'topic' in row]
        for address in (own + self.path(rest=''), own + '/recordings/' + self.steps + '?panels=plot', own + self.path('?topic=/a')):
            out = reel('play', address, '--start', '+1s', '--topic', '/a', '--speed', 'max', '--no-decode').stdout
            self.assertEqual([row for row in map(json.loads, out.splitlines()) if 'topic' in row], asked)
        for address, why in ((own, b'recordings/ID'), (own + self.path(recording='0' * 32, rest=''), b'404'), (own + self.path(), b'rate')):
            done = reel('play', address, '--rate', '-1', check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(why, done.stderr)

    def test_refusals(self):
        for query in ('speed=0', 'speed=fast', 'speed=101', 'rate=-1', 'clock=1e9', 'loop=maybe', 'output=csv'):
            self.assertProblem(self.server.get(self.path('?' + query)), 400, query.split('=')[0])
        self.assertProblem(self.server.get(self.path(), Accept='text/csv'), 406)
        self.assertProblem(self.server.get(API + '/plays/0123'), 404)
        playing = self.play('?paused=true')
        for change in ({'speed': 0}, {'speed': 'slow'}, {'position': '+99s'}, {'position': 'x'}, {'paused': 1}, {'loop': 'no'}, {'x': 1}):
            answer = self.server.request('PATCH', API + '/plays/' + playing.id(), json.dumps(change))
            self.assertProblem(answer, 400, next(iter(change)))


if __name__ == '__main__':
    unittest.main()
