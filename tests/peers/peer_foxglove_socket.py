"""The archive's WebSocket for viewers and Foxglove's own client of the protocol, @foxglove/ws-protocol: a recording played, and a live one followed."""
import base64
import json
import os
import struct
import subprocess
import unittest

from harness import PATIENCE, Case
from peer_mcap import HERE, prepare
from samples import SECOND, T0, Message, bag
from test_live import Live, row

COUNT = 5


def text(value):
    return struct.pack('<I', len(value)) + value.encode()


class FoxgloveClient(Case):
    @classmethod
    def setUpClass(cls):
        problem = prepare()
        if problem:
            raise unittest.SkipTest(problem)
        super().setUpClass()

    @classmethod
    def fill(cls):
        cls.lab = cls.server.added('lab.bag', bag([Message(T0 + i * SECOND // 10, '/a', text('%d' % i), 'std_msgs/String') for i in range(COUNT)]))

    def client(self, recording, query, topic):
        address = 'ws://127.0.0.1:%d/ws/recordings/%s%s' % (self.server.port, recording, query)
        process = subprocess.Popen(['node', os.path.join(HERE, 'foxglove_follow.mjs'), address, topic, '%d' % COUNT], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        return process

    def seen(self, process):
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, err)
        return json.loads(out.splitlines()[-1])

    def test_it_plays(self):
        seen = self.seen(self.client(self.lab, '?speed=10&loop=true', '/a'))
        self.assertEqual((seen['name'], seen['capabilities']), ('lab.bag', ['time']))
        self.assertEqual((seen['channel']['encoding'], seen['channel']['schemaName'], seen['channel']['schema'].strip()), ('ros1', 'std_msgs/String', 'string data'))
        played = [(int(time), base64.b64decode(data)) for time, data in seen['messages']]
        every = {(T0 + i * SECOND // 10, text('%d' % i)) for i in range(COUNT)}
        self.assertTrue(set(played) <= every, played)

    def test_it_follows(self):
        live = Live(self.server, 'growing')
        live.appended([row('/x', 0)])
        process = self.client(live.id, '?follow=true', '/x')
        self.assertEqual(process.stdout.readline(), b'subscribed\n')
        # The last message comes first, of whatever was appended when the subscription was read; then all that follow.
        x = 0
        while process.poll() is None:
            x += 1
            live.appended([row('/x', x)])
        values = [json.loads(base64.b64decode(data))['x'] for _, data in self.seen(process)['messages']]
        self.assertEqual((values, len(values)), (list(range(values[0], values[0] + COUNT)), COUNT))
        live.finish()


if __name__ == '__main__':
    unittest.main()
