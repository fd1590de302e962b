"""Every definition in the bags and MCAP files that Reel makes of the samples is taken by the viewers' own packages (definitions_check.mjs), and
every message is decoded by it."""
import json
import os
import subprocess
import tempfile
import unittest

from harness import LONG, reel
from peer_mcap import HERE, prepare
from real_samples import GOLDEN, SAMPLES

SUFFIXES = ('.bag', '.mcap', '.tape', '.tide', '.zip', '.log', '.rec', '.traj', '.db3')
# Definitions that are none for viewers in the source already: a service's, a text that was made up.
NOT_OURS = 'service_events', 'bag_with_topics_and_service_events', 'reel_notes'
FORMS = ('x.bag', ()), ('x.mcap', ()), ('y.mcap', ('--view', 'foxglove'))


def sources():
    """Golden inputs, and real samples where they are; of 300 spellings of one MCAP message one."""
    for top in (GOLDEN, SAMPLES):
        for folder, _, names in os.walk(top):
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith(SUFFIXES) and not name.startswith(('OneMessage-', 'OneMetadata-', 'NoData-')) and not any(n in path for n in NOT_OURS):
                    yield path


class Definitions(unittest.TestCase):
    def test_viewers_take_every_definition(self):
        problem = prepare()
        if problem:
            self.skipTest(problem)
        definitions = messages = 0
        with subprocess.Popen(['node', os.path.join(HERE, 'definitions_check.mjs')], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as node, \
                tempfile.TemporaryDirectory() as folder:
            for n, source in enumerate(sources()):
                for name, options in FORMS if LONG else [FORMS[n % len(FORMS)]]:  # with ./dev test --long as each, else as the next
                    path = os.path.join(folder, name)
                    if reel('convert', source, path, '--force', *options, check=False).returncode != 0:
                        continue
                    # payloads of golden files are made up, and do not fit their definitions
                    node.stdin.write(json.dumps([path, source.startswith(SAMPLES), not source.endswith('.mcap')]).encode() + b'\n')
                    node.stdin.flush()
                    answer = json.loads(node.stdout.readline())
                    if 'error' in answer:
                        self.problems.append('%s as %s %s: %s' % (os.path.relpath(source, os.path.join(GOLDEN, '..')), name, options, answer['error']))
                    definitions += answer.get('definitions', 0)
                    messages += answer.get('messages', 0)
            node.stdin.close()
        print('%d definitions, %d messages' % (definitions, messages))
        self.assertEqual([], self.problems)
        self.assertGreater(definitions, 300 if LONG else 100)
        if os.path.isdir(SAMPLES):
            self.assertGreater(messages, 100_000 if LONG else 20_000)

    def setUp(self):
        self.problems = []


if __name__ == '__main__':
    unittest.main()
