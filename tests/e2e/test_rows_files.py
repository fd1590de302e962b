"""Files of rows (.ndjson, .msgpack) as recordings: what Reel writes comes back whole, what others write is understood, damage costs one row."""
import base64
import json
import os
import random
import tempfile
import unittest

import msgpack

from harness import API, LONG, Case, payload, reel
from real_samples import SAMPLES, needs_samples
from run_tests import release_only
from samples import T0, bag, lab_messages, nanover, nanover_messages

SUFFIXES = ('.bag', '.mcap', '.tape', '.tide', '.zip', '.log', '.rec', '.traj', '.state', '.db3')
RAW = '--no-decode', '--channels'


def lines(rows):
    return ''.join(json.dumps(r) + '\n' for r in rows).encode()


def b64(data):
    return {'$base64': base64.b64encode(data).decode()}


class RowsFiles(Case):
    @classmethod
    def fill(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name

    def file(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, 'wb') as f:
            f.write(data)
        return path

    def cat(self, path, *args):
        return reel('cat', path, *args).stdout

    def rows(self, path, *args):
        return [json.loads(line) for line in self.cat(path, *args).splitlines()]

    def check(self, path):
        return json.loads(reel('check', path, '--json', check=False).stdout)

    def findings(self, path):
        return self.check(path)['findings']

    def comes_back(self, path):
        """Whether its rows, as a file, have the same rows; and the same conversion to MCAP."""
        rows = self.cat(path, *RAW)
        if not rows:
            return False
        again = self.file('again.ndjson', rows)
        self.assertEqual(rows, self.cat(again, *RAW), path)
        self.assertEqual(rows, self.cat(self.file('again.msgpack', self.cat(path, '--output', 'msgpack', *RAW)), *RAW), path)
        return True

    def test_what_reel_writes_comes_back(self):
        for name, data in (('lab.bag', bag(lab_messages(3, blob=200_000))), ('nano.nanover.zip', nanover(nanover_messages()))):
            path = self.file(name, data)
            self.assertTrue(self.comes_back(path))
            values = self.cat(path, '--channels')
            self.assertEqual([json.loads(v) for v in values.splitlines() if b'$channel' not in v],
                             self.rows(self.file('values.ndjson', values)))

    @release_only
    @needs_samples(60)
    def test_the_rows_of_every_sample_come_back(self):
        count = 0
        for folder, _, names in os.walk(SAMPLES):
            for name in sorted(names):
                if name.endswith(SUFFIXES) and not (name.startswith('OneMessage') and len(name) > 20):  # 300 spellings of one message
                    count += self.comes_back(os.path.join(folder, name))
        self.assertGreaterEqual(count, 60)

    def test_uploaded_as_any_recording(self):
        data = bag(lab_messages(3))
        added = lambda name, data: self.get('%s/recordings/%s' % (API, self.server.added(name, data))).json()
        made = added('lab.bag', data)
        rows = self.get('%s/recordings/%s/as/x.ndjson?decode=none&channels=true' % (API, made['id'])).body
        as_rows = added('lab.ndjson', rows)
        self.assertEqual('rows', as_rows['format'])
        self.assertEqual((made['messages'], made['start'], made['end']), (as_rows['messages'], as_rows['start'], as_rows['end']))
        for query in ('decode=none', 'limit=7', 'start=+1.2s&end=+2.1s'):
            one, other = (self.get('%s/recordings/%s/messages?%s' % (API, r['id'], query)).rows() for r in (made, as_rows))
            self.assertEqual(one, other)
        first = self.get('%s/recordings/%s/as/x.mcap?topic=/imu' % (API, made['id'])).body
        path = self.file('one.mcap', first)
        self.assertEqual(self.rows(path, '--no-decode'),
                         self.rows(self.file('two.mcap', self.get('%s/recordings/%s/as/x.mcap?topic=/imu' % (API, as_rows['id'])).body), '--no-decode'))

    def test_what_others_write(self):
        """Escapes that JSON allows, seconds, values, bytes beside values, rows without a time, separators of json-seq."""
        every = bytes(range(256)) * 3
        digits = base64.b64encode(every).decode()
        odd = digits.replace('/', '\\/').replace('+', '\\u002b').replace('=', '\\u003D')
        data = (b'\x1e{"topic":"/a","log_time":1700000000.123456789,"data":{"x":1,"picture":{"$base64":"AAEC"}}}\n'
                b'\n'
                b'{"data": {"$base64" : "%s"}, "topic": "/a", "encoding": "ros1", "log_time": 1700000001000000000, "sequence": 7}\r\n'
                b'{"$note": "ours"}\n'
                b'{"topic":"/\\u0062","data":[1,2,3]}\n' % odd.encode())
        path = self.file('others.jsonl', data)
        rows = self.rows(path)
        self.assertEqual(['/a', '/a', '/b'], [r['topic'] for r in rows])
        self.assertEqual('2023-11-14T22:13:20.123456789Z', rows[0]['log_time'])
        self.assertEqual({'x': 1, 'picture': {'$base64': 'AAEC'}}, rows[0]['data'])
        self.assertEqual((every, 7, 'ros1'), (payload(rows[1]), rows[1]['sequence'], rows[1]['encoding']))
        self.assertEqual(([1, 2, 3], rows[1]['log_time']), (rows[2]['data'], rows[2]['log_time']))
        self.assertEqual([], self.findings(path))

    def test_times_without_a_date_stay_relative(self):
        path = self.file('relative.ndjson', lines({'topic': '/a', 'log_time': t, 'data': {}} for t in (-0.5, 0.25, 3.0)))
        self.assertEqual(['-0.500000000', '0.250000000', '3.000000000'], [r['log_time'] for r in self.rows(path)])

    def test_channels_of_one_topic(self):
        path = self.file('types.ndjson', lines(
            [{'$channel': {'topic': '/a', 'type': 'A', 'encoding': 'x'}}, {'topic': '/a', 'log_time': 1.7e9, 'data': b64(b'one')},
             {'$channel': {'topic': '/a', 'type': 'B', 'encoding': 'x'}}, {'topic': '/a', 'log_time': 1.7e9 + 1, 'data': b64(b'two')},
             {'topic': '/a', 'log_time': 1.7e9 + 2, 'data': {'v': 3}}]))
        topic, = json.loads(reel('info', path, '--json').stdout)['topics']
        channels = topic['channels']
        self.assertEqual([('/a', 'A', 'x', 1), ('/a', 'B', 'x', 1), ('/a', 'B', 'json', 1)],
                         [(c['name'], c['type'], c['encoding'], c['messages']) for c in channels])

    def test_damage_costs_one_row(self):
        whole = [{'topic': '/t%d' % (i % 3), 'log_time': T0 + i * 10**9, 'data': b64(os.urandom(50 + i)) if i % 2 else {'i': i}}
                 for i in range(200)]
        good = lines(whole).splitlines(True)
        for number in (0, 3, 77, 198):
            bad = list(good)
            line = bytearray(bad[number + 1])
            line[1] = 0
            bad[number + 1] = bytes(line)
            path = self.file('bad.ndjson', b''.join(bad))
            self.assertEqual(199, len(self.rows(path)), number)
            found, = self.findings(path)
            self.assertEqual(('loss', sum(map(len, good[:number + 1]))), (found['severity'], found['offset']))
            self.assertIn('row %d' % (number + 2), found['text'])

    def test_a_file_that_was_cut(self):
        rows = [{'topic': '/t', 'log_time': T0 + i * 10**9, 'data': {'i': i}} for i in range(50)]
        packed = b''.join(msgpack.packb(dict(r, data=os.urandom(r['data']['i']))) for r in rows)
        pieces = [msgpack.packb(dict(r, data=os.urandom(r['data']['i']))) for r in rows]
        for name, pieces in (('cut.ndjson', lines(rows).splitlines(True)), ('cut.msgpack', pieces)):
            data = b''.join(pieces)
            ends = [len(data) - len(pieces[-1]), len(data)]
            last = [end - (name == 'cut.ndjson') for end in ends]  # the newline may be missing
            for size in sorted({*range(ends[0] - 5, len(data), 1 if LONG else 4), *(end for end in ends + last if end < len(data))}):
                found = self.check(self.file(name, data[:size]))
                self.assertEqual((48 + sum(size >= end for end in last), [] if size in ends + last else ['loss']),
                                 (found['messages'], [f['severity'] for f in found['findings']]), (name, size))

    def test_packed_rows_go_on_behind_damage(self):
        packed = [msgpack.packb({'topic': '/t', 'log_time': T0 + i * 10**9, 'data': {'i': i}}) for i in range(50)]
        packed[20] = packed[20][:3] + b'\xc1' * 10 + packed[20][13:]
        path = self.file('bad.msgpack', b''.join(packed))
        self.assertEqual([i for i in range(50) if i != 20], [r['data']['i'] for r in self.rows(path)])
        self.assertTrue(self.findings(path))

    def test_other_json_is_refused(self):
        for name, data in (('a.ndjson', b'{"x": 1}\n{"x": 2}\n'), ('b.ndjson', b'{"topic": 1}'), ('c.msgpack', msgpack.packb({'x': 1})),
                           ('d.ndjson', b'{"topic"')):
            answer = self.server.put(name, data)
            self.assertNotEqual(201, answer.status, name)
            self.assertProblem(answer, 415, 'no known recording format')

    def test_long_rows_and_long_runs(self):
        """Rows longer than a run and longer than what is read at once, beside small ones."""
        rows = [{'topic': '/t', 'log_time': T0 + i * 10**9, 'data': b64(random.Random(i).randbytes(size))}
                for i, size in enumerate([10, 3_000_000, 0, 200_000, 1, 200_000, 60_000, 60_000, 5_000_000, 7])]
        self.assertEqual([payload(r) for r in rows], [payload(r) for r in self.rows(self.file('long.ndjson', lines(rows)))])


if __name__ == '__main__':
    unittest.main()
