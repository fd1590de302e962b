"""What docker/compose.yaml brings along to watch a server: its dashboard asks for metrics that there are, and the files have what their readers expect."""
import json
import os
import re
import shutil
import subprocess
import unittest

from harness import Case
from samples import bag, lab_messages

DOCKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docker')


class Monitoring(Case):
    server_args = ('--host', 'archive')

    @classmethod
    def fill(cls):
        cls.server.added('lab.bag', bag(lab_messages(1)))

    def test_the_dashboard_asks_for_what_there_is(self):
        metrics = self.get('/metrics').body.decode()
        with open(os.path.join(DOCKER, 'grafana', 'dashboards', 'server.json')) as f:
            board = json.load(f)
        asked = {name for panel in board['panels'] for target in panel['targets'] for name in re.findall(r'reel_\w+', target['expr'])}
        self.assertGreater(len(asked), 10)
        for name in asked:
            self.assertRegex(metrics, r'(?m)^%s[{ ]' % name)
        for panel in board['panels']:
            for target in panel['targets']:
                for label in re.findall(r'{{(\w+)}}', target['legendFormat']):
                    self.assertRegex(metrics, r'(?m)^%s\S*[{,]%s="' % (re.search(r'reel_\w+', target['expr']).group(), label))

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
