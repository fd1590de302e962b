"""Runs the commands of the documents: the sh blocks of a chapter are one script, with curl -f so that a refused request fails. A block that cannot be run
says why in a comment before it and is listed in NOT_RUN."""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
import zipfile

import legacy
import test_pictures
import test_tide
import test_video
from harness import API, PATIENCE, REEL, Server, reel
from samples import bag

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
DOCUMENTS = ('README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md') + tuple(
    'docs/%s.md' % name for name in ('guide', 's3', 'operations', 'security', 'formats', 'architecture', 'contributing', 'compatibility'))
NOT_RUN = {  # document: first words of its blocks that no test runs; the reason stands there
    'docs/guide.md': ['export HF_ENDPOINT', 'rclone mount'],
    'README.md': ['./dev run', 'cmake --preset', './dev test'],
    'docs/contributing.md': ['./dev test'],
    'docs/operations.md': ['createuser reel', 'export AWS_ACCESS_KEY_ID', 'reel migrate --data'],
}

# The chapters of the guide whose commands talk to a running server, and those that start one.
GUIDE_OF_A_SERVER = ('Upload', 'Find', 'Look inside', 'Messages', 'Playback', 'Live recordings', 'Values over time', 'Export', 'Tables', 'Training sets', 'The archive as a folder', 'Reports of each format', 'Pictures and plots', 'Viewers', 'Grafana', 'Agents')
GUIDE_OF_AN_ARCHIVE = ('Access control', 'Resumable uploads', 'Import existing files', 'Annotations', 'Search', 'Changes, webhooks, retention')

# What a reader does by hand: a server in the foreground is one in the background here, an endless stream is cut after a while, and port 8040 may be taken.
PRELUDE = r'''
set -euo pipefail
server=
reel_stop() {
    if [ -n "$server" ]; then
        kill -TERM "$server" && wait "$server"
        server=
    fi
}
trap 'kill -9 $server 2>/dev/null || true' EXIT
reel() {
    case " $* " in
    *" --check-config "*) ;;
    " serve "*)
        reel_stop
        : >serve.log
        "$REEL" "$@" >>serve.log 2>&1 </dev/null &
        server=$!
        for ((i = 0; i < 1200; i++)); do
            if grep -q 'listening on' serve.log; then return 0; fi
            kill -0 "$server" || break
            sleep 0.05
        done
        cat serve.log >&2
        return 1
        ;;
    esac
    "$REEL" "$@"
}
curl() {
    case "$*" in
    *event-stream*/changes*) command curl -fsS --max-time 2 "$@" || test $? = 28 ;;
    *) command curl -fsS "$@" ;;
    esac
}
'''


def text_of(document):
    with open(os.path.join(ROOT, document)) as f:
        return f.read()


def chapter(document, title):
    return re.search(r'^## %s\n(.*?)(?=^## |\Z)' % re.escape(title), text_of(document), re.M | re.S).group(1)


def chapters(document, titles):
    return '\n'.join(chapter(document, title) for title in titles)


def blocks(text):
    """[(reason why it is not run, the block)]"""
    found = re.findall(r'(?:<!-- not run: ([^\n]*) -->\n)?^```(?:sh|bash|console)\n(.*?)^```', text, re.M | re.S)
    return [(reason, block) for reason, block in found]


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return str(s.getsockname()[1])


class Documents(unittest.TestCase):
    ran = set()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, self.folder, True)

    def script(self, text, cwd=None, **env):
        run = [block for reason, block in blocks(text) if not reason]
        self.assertTrue(run)
        port = free_port()
        script = PRELUDE + '\n'.join(run).replace(':8040', ':' + port)
        env = {'U': 'http://127.0.0.1:%s%s' % (port, API), **env}
        done = subprocess.run(['bash', '-xc', script], cwd=cwd or self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=5 * PATIENCE,
                              env={**os.environ, 'REEL': REEL, 'REEL_LISTEN': '127.0.0.1:' + port, **env})
        log = os.path.join(self.folder, 'serve.log')
        if done.returncode != 0:
            self.fail('%s\n%s\n%s' % (done.stdout[-1500:].decode(errors='replace'), done.stderr[-3000:].decode(errors='replace'), open(log, errors='replace').read()[-1500:] if os.path.exists(log) else ''))
        return done.stdout.decode(errors='replace')

    def recordings(self, *names):
        reel('demo', self.folder)
        for name in names:
            os.makedirs(os.path.dirname(os.path.join(self.folder, name)), exist_ok=True)
            shutil.copy(os.path.join(self.folder, 'demo.bag' if name.endswith('.bag') else 'demo.nanover.zip'), os.path.join(self.folder, name))

    def served(self):
        server = Server()
        self.addCleanup(server.stop)
        return server.base + API

    # ---- the chapters

    def test_five_minutes(self):
        self.recordings('run.bag')
        os.makedirs(os.path.join(self.folder, 'build/release'))
        os.symlink(REEL, os.path.join(self.folder, 'build/release/reel'))
        output = self.script(re.sub(r'^U=.*\n', '', chapter('README.md', 'Five minutes'), flags=re.M), U=self.served())
        self.assertIn('"log_time"', output)
        self.assertTrue(os.path.getsize(os.path.join(self.folder, 'run.mcap')) > 1000)

    def test_examples_work_as_written(self):
        self.recordings()
        for name, data in zip(('pair.traj', 'pair.state'), legacy.pair()):
            with open(os.path.join(self.folder, name), 'wb') as f:
                f.write(data)
        carla = os.path.join(ROOT, 'tests', 'golden', 'carla', 'version_0.9.15', 'input.log')
        shutil.copy(carla, os.path.join(self.folder, 'drive.log'))
        for name, data in (('robots.tide', test_tide.LOG), ('camera.bag', bag(test_pictures.camera())), ('video.mcap', test_video.example()),
                           ('clouds.bag', bag(test_pictures.points()))):
            with open(os.path.join(self.folder, name), 'wb') as f:
                f.write(data)
        self.script(chapters('docs/guide.md', GUIDE_OF_A_SERVER), U=self.served(), BAG='demo.bag', NANO='demo.nanover.zip', TRAJ='pair.traj', STATE='pair.state',
                    LOG='drive.log', RSB='robots.tide', IMAGES='camera.bag', VIDEO='video.mcap', CLOUDS='clouds.bag')

    def test_tables_in_python(self):
        """With the interpreter REEL_TESTS_PYTHON, or this one, if it has the libraries."""
        python = os.environ.get('REEL_TESTS_PYTHON', sys.executable)
        if subprocess.run([python, '-c', 'import pandas, polars, pyarrow'], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest('pandas, polars and pyarrow are not installed')
        self.recordings()
        server = Server()
        self.addCleanup(server.stop)
        with open(os.path.join(self.folder, 'demo.bag'), 'rb') as f:
            recording = server.added('demo.bag', f.read())
        script, = re.findall(r'^```python\n(.*?)^```', chapter('docs/guide.md', 'Tables'), re.M | re.S)
        script = re.sub(r'^( *)(scans = .*)$', r'\1\2\n\1assert len(scans) > 0', script, flags=re.M)
        self.assertEqual(script.count('assert'), 4)
        script = script.replace('127.0.0.1:8040', '127.0.0.1:%d' % server.port).replace('/ID/', '/%s/' % recording)
        done = subprocess.run([python, '-c', script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout.decode())

    def test_running_an_archive(self):
        self.recordings('run.bag', 'molecule.nanover.zip', 'recordings/2023/a.bag', 'recordings/2024/b.bag')
        output = self.script(chapters('docs/guide.md', GUIDE_OF_AN_ARCHIVE))
        for words in ('event: recording.created', 'would_take', 'robot1'):
            self.assertIn(words, output)

    def test_operations(self):
        self.recordings('run.bag')
        output = self.script(text_of('docs/operations.md'))
        for words in ('no problems', 'reel_store_free_bytes', 'cache-mb = 512  # environment REEL_CACHE_MB', 'catalog.db.old-1', 'server-timing'):
            self.assertIn(words, output.replace('Server-Timing', 'server-timing'))

    @unittest.skipUnless(all(shutil.which(name) for name in ('aws', 'rclone', 's3cmd')), 'aws, rclone and s3cmd are not installed')
    def test_s3(self):
        self.recordings('run.bag')
        path = '/usr/bin:' + os.environ['PATH']  # Debian's aws, which is version 2
        output = self.script(text_of('docs/s3.md'), PATH=path, HOME=self.folder, AWS_EC2_METADATA_DISABLED='true', AWS_CA_BUNDLE='')  # rclone cannot use one
        for words in ('run.bag.as/', 's3://tables/'):
            self.assertIn(words, output)
        for name in ('originals/run.bag', 'copied/run.bag', 'run.mcap'):
            self.assertTrue(os.path.exists(os.path.join(self.folder, name)), name)

    def test_formats(self):
        self.script(text_of('docs/formats.md'))
        self.assertTrue(zipfile.is_zipfile(os.path.join(self.folder, 'demo', 'demo.rosbag2.zip')))

    def test_contributing(self):
        self.assertIn('rosbag_v1', self.script(text_of('docs/contributing.md'), cwd=ROOT, U=self.served()))

    # ---- that these are all

    def test_what_is_not_run_says_why(self):
        for document in DOCUMENTS:
            left = [block.split('\n')[0] for reason, block in blocks(text_of(document)) if reason]
            known = NOT_RUN.get(document, [])
            self.assertEqual([line[:len(k)] for line, k in zip(left, known)], known, document)
            self.assertEqual(len(left), len(known), (document, left))

    def test_no_chapter_is_forgotten(self):
        run = {'README.md': ('Five minutes', 'Install', 'Build and test'), 'docs/guide.md': GUIDE_OF_A_SERVER + GUIDE_OF_AN_ARCHIVE}
        for document in DOCUMENTS:
            if document in ('docs/contributing.md', 'docs/formats.md', 'docs/operations.md', 'docs/s3.md'):
                continue  # run whole
            for title, text in re.findall(r'^## (.*?)\n(.*?)(?=^## |\Z)', text_of(document), re.M | re.S):
                if title not in run.get(document, ()):
                    self.assertEqual(blocks(text), [], '%s: %s' % (document, title))

    def test_links_lead_somewhere(self):
        for document in DOCUMENTS:
            for link in re.findall(r'\]\(([^)#:]+)\)', text_of(document)):
                self.assertTrue(os.path.exists(os.path.join(ROOT, os.path.dirname(document), link)), '%s: %s' % (document, link))

    def test_named_files_are_there(self):
        """`lib/…`, `server/…`, `tests/…` in backticks, so that the source map is true."""
        for document in DOCUMENTS:
            for name in re.findall(r'`((?:lib|server|tests|sql|docker|packaging|web)/[\w./-]+)`', text_of(document)):
                self.assertTrue('NAME' in name or os.path.exists(os.path.join(ROOT, name)), '%s: %s' % (document, name))
