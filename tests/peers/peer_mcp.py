"""The clients of the Model Context Protocol's own SDK, of both eras, against /mcp: an agent finds the run in which the battery fell below 11 V."""
import json
import os
import subprocess
import tempfile
import unittest
import urllib.parse

from harness import PATIENCE, Case, create_token
from peer_mcap import HERE, prepare
from test_access import bearer
from test_values import recording


class Mcp(Case):
    @classmethod
    def setUpClass(cls):
        problem = prepare()
        if problem:
            raise unittest.SkipTest(problem)
        super().setUpClass()

    @classmethod
    def fill(cls):
        cls.ids = [cls.server.added('run%d.bag' % salt, recording(salt)) for salt in (0, 3, 4)]
        cls.token = create_token(cls.server, 'read', 'agent')

    def run_client(self, era, folder):
        transcript = os.path.join(folder, era)
        done = subprocess.run(['node', os.path.join(HERE, 'mcp_client.mjs'), 'http://127.0.0.1:%d/mcp' % self.server.port, era, transcript, self.token],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, (done.stdout, done.stderr))
        with open(transcript, encoding='utf-8') as file:
            return json.loads(done.stdout), file.read()

    def check(self, era, requests):
        with tempfile.TemporaryDirectory(prefix='reel-mcp-') as folder:
            report, transcript = self.run_client(era, folder)
        self.assertEqual((report['server'], report['read_only'], report['topics'], report['id']), ('reel', True, True, self.ids[1]))
        self.assertEqual((len(report['found']), report['lowest'], report['wrong'], report['unknown']), (1, 10.5, True, -32602))
        self.assertIn('query_values', report['tools'])
        self.assertNotIn(self.token, transcript)
        for request in requests:
            self.assertIn(request, transcript)
        link = urllib.parse.urlsplit(report['link']['uri'])
        answer = self.server.get(link.path + '?' + link.query)
        self.assertEqual((answer.status, answer.body[:5]), (200, b'\x89MCAP'))
        self.assertEqual(self.server.request('POST', '/mcp', b'{}', {'Content-Type': 'application/json', **bearer('wrong')}).status, 401)

    def test_initialize(self):
        self.check('initialize', ['2025-11-25', '"initialize"', '"notifications/initialized"'])

    def test_stateless(self):
        self.check('stateless', ['2026-07-28 server/discover', '2026-07-28 tools/call'])
