"""Nobody reads the server's stderr: requests are answered, SIGTERM ends the server, and the log says how many of its lines are missing."""
import http.client
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

from harness import PATIENCE, REEL, catalog_of, eventually, store_of

REQUESTS = 5000
PATH = '/api/v1/recordings/' + 'x' * 400  # a line of the log is as long


class StalledLog(unittest.TestCase):
    def started(self, stderr, *args):
        folder = tempfile.TemporaryDirectory(prefix='reel-log-')
        self.addCleanup(folder.cleanup)
        command = [REEL, 'serve', '--data', folder.name, '--listen', '127.0.0.1:0', *catalog_of(folder.name), *store_of(folder.name), *args]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, stdin=subprocess.DEVNULL)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        port = int(re.search(rb'listening on \S+:(\d+)', process.stdout.readline()).group(1))
        return process, port

    def ask(self, port, n):
        connection = http.client.HTTPConnection('127.0.0.1', port, timeout=PATIENCE)
        self.addCleanup(connection.close)
        for _ in range(n):
            connection.request('GET', PATH)
            response = connection.getresponse()
            response.read()
            self.assertEqual(response.status, 404)
        connection.request('GET', '/metrics')
        dropped = re.search(rb'(?m)^reel_log_dropped_lines_total (\d+)', connection.getresponse().read())
        connection.close()
        return int(dropped.group(1))

    def ended(self, process):
        before = time.monotonic()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertLess(time.monotonic() - before, PATIENCE / 2)

    def test_a_pipe_that_nobody_reads(self):
        for form, field in (('logfmt', rb'dropped_lines=(\d+)'), ('json', rb'"dropped_lines":(\d+)')):
            with self.subTest(form):
                reader, writer = os.pipe()
                process, port = self.started(writer, '--log-format', form)
                os.close(writer)
                dropped = self.ask(port, REQUESTS)
                self.assertGreater(dropped, 0)
                self.ended(process)
                with os.fdopen(reader, 'rb') as f:
                    log = f.read()
                told = re.findall(field, log)
                self.assertTrue(told, log[-500:])
                self.assertGreaterEqual(int(told[-1]), dropped)
                self.assertTrue(log.endswith(b'\n'))
                logged = log.count(b'x' * 400) + int(told[-1])
                self.assertTrue(REQUESTS <= logged < REQUESTS + 20, logged)  # /metrics and jobs have lines, too

    def test_a_reader_that_comes_back(self):
        reader, writer = os.pipe()
        process, port = self.started(writer)
        os.close(writer)
        self.assertGreater(self.ask(port, REQUESTS), 0)
        with os.fdopen(reader, 'rb') as f:
            line = f.readline()
            while b'dropped_lines=' not in line:
                line = f.readline()
            self.ask(port, 1)
            while b'x' * 400 not in line:  # lines go on: without them this never ends
                line = f.readline()
            self.ended(process)

    def test_a_reader_that_is_gone(self):
        reader, writer = os.pipe()
        process, port = self.started(writer)
        os.close(writer)
        os.close(reader)
        self.assertTrue(eventually(lambda: self.ask(port, 1) > 0))  # another thread writes
        self.ended(process)
