"""The OpenAPI document: the components of server/api/openapi.yaml with the paths of the program's route table. Works without the page."""
import json
import os
import subprocess
import tempfile

import yaml

from harness import REEL

COMPONENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../server/api/openapi.yaml')


def document():
    with open(COMPONENTS, encoding='utf-8') as file:
        components = yaml.safe_load(file)
    with tempfile.NamedTemporaryFile('w', suffix='.json', encoding='utf-8') as file:
        json.dump(components, file, default=str)
        file.flush()
        return json.loads(subprocess.run([REEL, 'routes', '--openapi', file.name], check=True, stdout=subprocess.PIPE).stdout)
