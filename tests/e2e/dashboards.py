"""Whether a Grafana dashboard of docker/grafana asks for metrics and labels that a server has."""
import json
import os
import re

DOCKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docker')


def check_dashboard(case, name, metrics):
    with open(os.path.join(DOCKER, 'grafana', 'dashboards', name)) as f:
        targets = [target for panel in json.load(f)['panels'] for target in panel.get('targets', [])]
    asked = {metric for target in targets for metric in re.findall(r'reel_\w+', target['expr'])}
    case.assertGreater(len(asked), 10)
    for metric in asked:
        case.assertRegex(metrics, r'(?m)^%s[{ ]' % metric)
    for target in targets:
        for label in re.findall(r'{{(\w+)}}', target['legendFormat']):
            case.assertRegex(metrics, r'(?m)^%s\S*[{,]%s="' % (re.search(r'reel_\w+', target['expr']).group(), label))
