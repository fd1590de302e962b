"""Decoded events of TIDE logs compared with an independent reader, written from the format's description alone (../shared/readers/tide_parse.py)."""
import base64
import json
import os
import struct
import sys
import unittest

from harness import reel

SHARED = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'shared')
LOGS = ('rsbag-tools_0.4_valid-single-event', 'rsbag-tools_0.6_valid-single-event', 'rsbag-tools_0.8_valid-single-event',
        'rsbag-tools_0.9_valid-two-events',
        'rsbagcl_multichunk', 'rsbagcl_abandoned_no_close', 'rsbagcl_unordered_timestamps', 'tide0_plain', 'tide2_plain', 'tide2_gzip', 'tide2_bzip2')
NUMBERS = {'bool': '<?', 'int32': '<i', 'uint32': '<I', 'int64': '<q', 'uint64': '<Q', 'float': '<f', 'double': '<d'}


def payload_of(parser, schema, data):
    """A payload as we decode it; of protobuf by name only the values."""
    schema = schema.lower()
    if schema in NUMBERS:
        value = struct.unpack(NUMBERS[schema], data)[0]
        return str(value) if schema.endswith('64') and abs(value) > 1 << 53 else value
    if schema in ('utf-8-string', 'ascii-string', 'scope'):
        return data.decode()
    if schema.startswith('.'):
        return [struct.unpack('<d', v)[0] if wire == 1 else v for _, wire, v in parser.pb(data)]
    return {'$base64': base64.b64encode(data).decode()}


def values_of(decoded):
    """The numbers of a protobuf payload of ours: {"x": 1, "y": 2} or {"1": [1, 2, 3]}."""
    return [v for value in decoded.values() for v in (value if isinstance(value, list) else [value])]


def expected(event):
    meta = event.get('meta_data', {})
    out = {k: event.get(k) for k in ('scope', 'event_id', 'sender_id', 'sequence_number', 'method', 'causes')}
    out.update({k + '_time': meta.get(k) or None for k in ('create', 'send', 'receive', 'deliver')})
    out.update({k: meta.get(k, {}) for k in ('user_times', 'user_infos')})
    return out


class Rsb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.exists(os.path.join(SHARED, 'readers', 'tide_parse.py')):
            raise unittest.SkipTest('%d real samples' % len(LOGS))
        sys.path.append(os.path.join(SHARED, 'readers'))
        import tide_parse
        cls.parser = tide_parse

    def check(self, name):
        path = os.path.join(SHARED, 'samples', 'tide', name + '.tide')
        with open(path, 'rb') as f:
            log = self.parser.parse(f.read())
        theirs = {}
        for entry in log['entries']:
            event = self.parser.rsb(entry['data'])
            if event:
                theirs[log['channels'][entry['channel']]['name'], event['event_id']] = event
        met = 0
        for line in reel('cat', path).stdout.splitlines():
            row = json.loads(line)
            decoded = row['data']
            if not isinstance(decoded, dict) or 'event_id' not in decoded:
                continue
            event = theirs.pop((row['topic'], decoded['event_id']))
            payload, schema = decoded.pop('payload'), decoded.pop('wire_schema')
            self.assertEqual(decoded, expected(event))
            want = payload_of(self.parser, schema, event['data'])
            self.assertEqual(values_of(payload) if schema.startswith('.') else payload, want)
            met += 1
        self.assertEqual(theirs, {})
        return met

    def test_logs(self):
        met = {name: self.check(name) for name in LOGS}
        self.assertEqual([met[name] for name in LOGS[:6]], [1, 1, 1, 2, 2660, 2616])
        self.assertGreater(min(met.values()), 0)


if __name__ == '__main__':
    unittest.main()
