"""A PX4 log over HTTP by curl, and on the command line: stored by an upload, listed, its values, series, questions, exports and metadata."""
import csv
import io
import json
import os
import tempfile
import urllib.parse

from harness import API, Case, curl, reel
from samples import read_mcap

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden', 'ulog')
UTC = 1_700_000_000_000_000_000  # of frame 0, less 2 ms
STEP = 20_000_000


def golden(name):
    return os.path.join(GOLDEN, name, 'input.ulg')


class Ulog(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        code, answer = curl('-T', golden('usual'), cls.at('/recordings/by-name/flights/log_1.ulg'))
        assert code == 0, answer
        cls.recording = json.loads(answer)['id']
        cls.server.get('%s/recordings/%s/topics?wait=20' % (API, cls.recording))

    @classmethod
    def at(cls, path):
        return 'http://127.0.0.1:%d%s%s' % (cls.server.port, API, path)

    def ask(self, path, **query):
        code, body = curl('-G', self.at('/recordings/%s%s' % (self.recording, path)), *[a for k, v in query.items() for a in ('--data-urlencode', '%s=%s' % (k, v))])
        self.assertEqual(code, 0)
        return body

    def test_recording(self):
        found = json.loads(self.ask(''))
        self.assertEqual((found['format'], found['messages'], found['clock'], found['damaged']), ('ulog', 38, 'wall', False))
        self.assertEqual(found['start'], '2023-11-14T22:13:19.998000000Z')
        topics = {t['name']: (t['type'], t['messages']) for t in found['topics']}
        self.assertEqual(topics['/sensor_accel/1'], ('ulog/sensor_accel', 9))
        self.assertEqual(topics['/log_message'], ('rosgraph_msgs/Log', 2))
        listed = json.loads(curl(self.at('/recordings?format=ulog'))[1])['items']
        self.assertIn(self.recording, [r['id'] for r in listed])
        texts = [f['text'] for f in json.loads(self.ask('/scan'))['findings']]
        self.assertEqual(texts, ['dropouts, in which the logger lost messages: 1, 95 ms in all (topic /dropout)'])

    def test_metadata_and_attachments(self):
        pairs = [(p['key'], p['value']) for p in json.loads(self.ask('/metadata', limit=100))['items']]
        for pair in (('sys_name', 'PX4'), ('ver_sw_release', 'v1.14.2-beta2'), ('parameters.MC_ROLL_P', '6.5'), ('setup_defaults.MC_ROLL_P', '5')):
            self.assertIn(pair, pairs)
        attachments = json.loads(self.ask('/attachments'))['items']
        self.assertEqual([a['name'] for a in attachments], ['blob', 'metadata_events.0', 'metadata_events.1'])
        self.assertEqual(self.ask('/attachments/1'), b'\xfd7zX')
        found = json.loads(curl(self.at('/recordings?q=' + urllib.parse.quote('"PX4_SITL"')))[1])['items']
        self.assertIn(self.recording, [r['id'] for r in found])

    def test_messages(self):
        rows = [json.loads(line) for line in self.ask('/messages', topic='/esc_status').splitlines()]
        self.assertEqual([e['state'] for e in rows[0]['data']['esc']], ['a', 'b'])
        rows = [json.loads(line) for line in self.ask('/messages', topic='/log_message').splitlines()]
        self.assertEqual([(r['data']['msg'], r['data']['level']) for r in rows], [('Takeoff detected', 2), ('Low battery', 4)])
        table = list(csv.reader(io.StringIO(self.ask('/messages', topic='/sensor_accel', output='csv').decode(), newline='')))
        self.assertEqual(table[0][3:], ['timestamp', 'x', 'y', 'z', 'device_id', 'clip_counter.0', 'clip_counter.1', 'clip_counter.2'])
        self.assertEqual([float(r[4]) for r in table[1:]], list(range(9)))

    def test_series_fields_and_questions(self):
        points = json.loads(self.ask('/series', field='/vehicle_attitude.q.3', time_format='nanoseconds'))
        self.assertEqual([(int(t), v) for t, v in points], [(UTC - 2_000_000 + n * STEP, n / 8) for n in range(9)])
        points = json.loads(self.ask('/series', field='/esc_status.esc.0.esc_rpm'))
        self.assertEqual([v for _, v in points], [5000])
        fields = {f['path'] for f in json.loads(self.ask('/topics/fields', topic='/esc_status'))['fields']}
        self.assertTrue({'esc.1.voltage', 'tail'} <= fields and not any('padding' in f for f in fields))
        for where, yes in (('/sensor_accel/1.x>107.5', True), ('/sensor_accel/1.x>109', False), ('/debug_key_value.key="velx"', True), ('/parameters.value=7.1', True)):
            found = json.loads(curl('-G', self.at('/recordings'), '--data-urlencode', 'where=' + where)[1])['items']
            self.assertEqual(self.recording in [r['id'] for r in found], yes, where)

    def test_exports(self):
        channels, schemas, messages = read_mcap(self.ask('/as/log_1.mcap'))
        self.assertEqual((len(messages), {c[1] for c in channels.values()}, {s[1] for s in schemas.values()}), (38, {'ros1'}, {'ros1msg'}))
        channels, _, messages = read_mcap(self.ask('/as/log_1.mcap', view='foxglove'))
        self.assertEqual((len(messages), {c[0]: c[1] for c in channels.values()}['/esc_status']), (38, 'json'))
        parquet = self.ask('/as/log_1.parquet', topic='/esc_status')
        self.assertEqual((parquet[:4], parquet[-4:]), (b'PAR1', b'PAR1'))
        with open(golden('usual'), 'rb') as f:
            self.assertEqual(self.ask('/file/log_1.ulg'), f.read())
        cut = [json.loads(line) for line in self.ask('/messages', start='+100ms', topic='/vehicle_attitude').splitlines()]
        self.assertEqual([r['data']['reset_counter'] for r in cut], [5, 6, 7, 8])

    def test_a_cut_log(self):
        found = self.server.added('cut.ulg', open(golden('cut_in_data'), 'rb').read())
        answer = self.get('%s/recordings/%s' % (API, found)).json()
        self.assertEqual((answer['format'], answer['damaged'], answer['messages']), ('ulog', True, 37))

    def test_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, 'all.csv')
            reel('convert', golden('usual'), out)
            with open(out, newline='') as f:
                self.assertEqual(len(list(csv.reader(f))), 39)
            self.assertIn(b'/sensor_accel/1', reel('info', golden('usual')).stdout)
            refused = reel('info', golden('incompatible'), check=False)
            self.assertIn(b'incompatible flags', refused.stdout + refused.stderr)
