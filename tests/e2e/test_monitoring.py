"""What docker/compose.yaml brings along to watch a server: its dashboard asks for metrics that there are, and the files have what their readers expect."""
import os
import re
import shutil
import socket
import subprocess
import unittest

from dashboards import DOCKER, check_dashboard
from harness import API, Case, eventually
from samples import bag, lab_messages


class Monitoring(Case):
    server_args = ('--insecure-open', '--host', 'archive')

    @classmethod
    def fill(cls):
        cls.lab = cls.server.added('lab.bag', bag(lab_messages(1)))

    def cut(self):
        return int(re.search(r'(?m)^reel_http_streams_cut_total (\d+)', self.get('/metrics').body.decode()).group(1))

    def test_responses_that_end_early_are_counted_as_the_log_has_them(self):
        before = self.cut()
        for path in ['/recordings/%s/play?rate=1000&loop=true' % self.lab] * 2:  # lasts until the client leaves
            with socket.create_connection(('127.0.0.1', self.server.port), timeout=30) as s:
                s.sendall(b'GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n' % (API + path).encode())
                self.assertIn(b' 200 ', s.recv(1000))
        self.assertTrue(eventually(lambda: self.cut() == before + 2), self.server.log_text())
        eventually(lambda: self.server.log_text().count('cut=true') == before + 2)  # lines are written after the figures are counted
        self.assertEqual(self.server.log_text().count('cut=true'), before + 2)

    def test_the_dashboard_asks_for_what_there_is(self):
        check_dashboard(self, 'server.json', self.get('/metrics').body.decode())

    def test_prometheus_is_answered_by_the_name_it_uses(self):
        with open(os.path.join(DOCKER, 'prometheus.yml')) as f:
            target = re.search(r'targets: \["([^"]+)"\]', f.read()).group(1)
        self.assertEqual(self.server.get('/metrics', Host=target).status, 200)

    def test_prometheus_reads_its_configuration_and_the_metrics(self):
        if not shutil.which('promtool'):
            self.skipTest('promtool is not installed')
        subprocess.run(['promtool', 'check', 'config', os.path.join(DOCKER, 'prometheus.yml')], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(['promtool', 'check', 'metrics'], input=self.get('/metrics').body, check=True, stdout=subprocess.DEVNULL)

    def test_the_image_has_the_packages_it_names(self):
        """Only sections of docker/packages.txt decide what is installed where."""
        with open(os.path.join(DOCKER, 'packages.txt')) as f:
            sections = set(re.findall(r'^# \[(\w+)\]', f.read(), re.M))
        with open(os.path.join(DOCKER, 'Dockerfile')) as f:
            text = f.read()
        self.assertLessEqual(set(re.search(r'take = /\\\[\(([\w|]+)\)\\\]/', text).group(1).split('|')), sections)


if __name__ == '__main__':
    unittest.main()
