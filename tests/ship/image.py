#!/usr/bin/env python3
"""The built image, started as compose.yaml starts it: image.py docker|buildah [NAME]. Where no container can run the image is unpacked, and its program
run by its user in a chroot whose root is mounted read-only. Last line: N passed, N failed, N skipped."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'e2e'))
from run_tests import Result  # noqa: E402
from samples import bag, lab_messages  # noqa: E402

PATIENCE = 120
SIZE_MAX = 120_000_000
ENGINE, NAME = 'docker', 'reel'


def run(*command, check=True):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    if check and done.returncode != 0:
        raise AssertionError('%s: %d\n%s%s' % (' '.join(command), done.returncode, done.stdout[-2000:], done.stderr[-2000:]))
    return done


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as s:
        return s.getsockname()[1]


class Docker:
    """A container as compose.yaml has it."""
    def __init__(self, data, port):
        self.data, self.port, self.id = data, port, None
        self.inside_port = 8040

    def start(self):
        self.id = run('docker', 'run', '-d', '--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '-p', '127.0.0.1:%d:8040' % self.port,
                      '-v', self.data + ':/data', NAME).stdout.strip()

    def log_text(self):
        done = run('docker', 'logs', self.id)
        return done.stdout + done.stderr

    def pid(self):
        return int(run('docker', 'inspect', '-f', '{{.State.Pid}}', self.id).stdout)

    def inside(self, *command):
        return run('docker', 'exec', self.id, *command, check=False)

    def stop(self):
        run('docker', 'stop', '-t', '60', self.id)
        code = int(run('docker', 'inspect', '-f', '{{.State.ExitCode}}', self.id).stdout)
        run('docker', 'rm', self.id)
        return code

    def close(self):
        if self.id:
            run('docker', 'rm', '-f', self.id, check=False)

    @staticmethod
    def config():
        return json.loads(run('docker', 'image', 'inspect', NAME).stdout)[0]['Config']

    @staticmethod
    def size():
        return int(run('docker', 'image', 'inspect', '-f', '{{.Size}}', NAME).stdout)


class Unpacked:
    """The image's files below a read-only mount of this process's own; the rest of the machine as it is."""
    def __init__(self, data, port):
        self.data, self.port, self.process = data, port, None
        self.inside_port = port
        self.work = run('buildah', 'from', '--pull=never', NAME).stdout.strip()
        self.root = run('buildah', 'mount', self.work).stdout.strip()
        self.log = tempfile.NamedTemporaryFile(mode='r+', prefix='reel-image-')

    def command(self, *command):
        config = self.config()
        env = dict(entry.split('=', 1) for entry in config['Env'])
        env['REEL_LISTEN'] = env['REEL_LISTEN'].replace(':8040', ':%d' % self.port)  # what -p does for a container
        script = ('set -e; root=$1 data=$2 user=$3; shift 3; mount --bind "$root" "$root"; mount -o remount,bind,ro "$root"; mount --rbind /dev "$root/dev"; '
                  'mount --bind "$data" "$root/data"; cd "$root"; exec chroot --userspec="$user" --groups="" "$root" env -i -C "%s" "$@"' % config['WorkingDir'])
        return ['unshare', '--mount', 'setpriv', '--no-new-privs', 'sh', '-c', script, 'sh', self.root, self.data, config['User'],
                *('%s=%s' % pair for pair in env.items()), *command]

    def start(self):
        config = self.config()
        self.log.truncate(0)
        self.process = subprocess.Popen(self.command(*config['Entrypoint'], *config['Cmd']), stdin=subprocess.DEVNULL, stdout=open(self.log.name, 'a'), stderr=subprocess.STDOUT)

    def log_text(self):
        self.log.seek(0)
        return self.log.read()

    def pid(self):
        return self.process.pid  # everything before the program has become it by exec

    def inside(self, *command):
        return run(*self.command(*command), check=False)

    def stop(self):
        self.process.send_signal(getattr(signal, self.config()['StopSignal']))
        return self.process.wait(PATIENCE)

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        run('buildah', 'umount', self.work, check=False)
        run('buildah', 'rm', self.work, check=False)

    @staticmethod
    def config():
        return json.loads(run('buildah', 'inspect', '--type', 'image', NAME).stdout)['Docker']['config']

    @staticmethod
    def size():
        root = run('buildah', 'from', '--pull=never', NAME).stdout.strip()
        try:
            return int(run('du', '-xsB1', '--apparent-size', run('buildah', 'mount', root).stdout.strip()).stdout.split()[0])
        finally:
            run('buildah', 'umount', root)
            run('buildah', 'rm', root)


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.data = tempfile.mkdtemp(prefix='reel-image-data-')
        cls.kind = Docker if ENGINE == 'docker' else Unpacked
        cls.config = cls.kind.config()
        user = cls.config['User'].split(':')
        os.chown(cls.data, int(user[0]), int(user[1]))
        cls.box = cls.kind(cls.data, free_port())

    @classmethod
    def tearDownClass(cls):
        cls.box.close()
        shutil.rmtree(cls.data, ignore_errors=True)

    def ask(self, path, token=None, method='GET', body=None):
        request = urllib.request.Request('http://127.0.0.1:%d%s' % (self.box.port, path), data=body, method=method)
        if token:
            request.add_header('Authorization', 'Bearer ' + token)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.read()

    def start(self):
        began = time.monotonic()
        self.box.start()
        while True:
            try:
                self.ask('/readyz')
                return time.monotonic() - began
            except (urllib.error.URLError, ConnectionError):
                if time.monotonic() - began > PATIENCE:
                    self.fail(self.box.log_text())
                time.sleep(0.05)

    def test_size(self):
        size = self.kind.size()
        print('the image holds %.1f MB' % (size / 1e6))
        self.assertLessEqual(size, SIZE_MAX)

    def test_what_it_says_of_itself(self):
        self.assertNotIn(self.config['User'].split(':')[0], ('', '0', 'root'))
        self.assertEqual(list(self.config['Volumes']), ['/data'])
        self.assertEqual(list(self.config['ExposedPorts']), ['8040/tcp'])
        self.assertEqual(self.config['StopSignal'], 'SIGTERM')
        self.assertEqual(self.config['Healthcheck']['Test'], ['CMD', 'reel', 'health'])

    def test_its_life(self):
        print('ready in %.1f s' % self.start())
        self.assertIn('/data/first-token', self.box.log_text())
        self.assertNotIn('reel_', self.box.log_text())
        token = self.box.inside('cat', '/data/first-token').stdout.strip()
        self.assertTrue(token.startswith('reel_'), token)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.ask('/api/v1/recordings')
        self.assertEqual(refused.exception.code, 401)
        status, body = self.ask('/api/v1/recordings/by-name/lab/lab.bag', token, 'PUT', bag(lab_messages(5)))
        self.assertEqual(status, 201)
        number = json.loads(body)['id']
        paths = ['/api/v1/recordings/%s%s' % (number, rest) for rest in ('', '/messages?limit=20', '/as/lab.mcap')]
        before = [self.ask(path, token)[1] for path in paths]
        self.assertEqual(len(before[1].splitlines()), 20)

        script = re.search(rb'src="(assets/[^"]+\.js)"', self.ask('/admin')[1])
        self.assertTrue(script, 'the page was not built into the program')
        self.assertGreater(len(self.ask('/' + script.group(1).decode())[1]), 10_000)

        with open('/proc/%d/status' % self.box.pid()) as f:
            status = dict(line.rstrip('\n').split(':\t', 1) for line in f if ':\t' in line)
        self.assertEqual(status['Name'], 'reel')
        self.assertEqual(set(status['Uid'].split() + status['Gid'].split()), set(self.config['User'].split(':')))
        self.assertEqual((int(status['CapEff'], 16), status['NoNewPrivs']), (0, '1'))
        self.assertIn('Read-only', self.box.inside('sh', '-c', 'echo >/new').stderr)
        self.assertIn('Read-only', self.box.inside('sh', '-c', 'echo >/tmp/new').stderr)
        health = ('reel', 'health', *(['http://127.0.0.1:%d' % self.box.inside_port] if self.box.inside_port != 8040 else []))
        healthy = self.box.inside(*health)
        self.assertEqual((healthy.returncode, healthy.stdout), (0, 'ready\n'))
        self.assertEqual(self.box.inside('reel', 'token', 'list', '--data', '/data').returncode, 0)
        self.assertNotEqual(self.box.inside('curl', '--version').returncode, 0)  # only what runs

        self.assertEqual(self.box.stop(), 0)
        if self.kind is Unpacked:
            self.assertEqual(self.box.inside(*health).returncode, 1)
        print('ready again in %.1f s' % self.start())
        self.assertNotIn('first-token', self.box.log_text())
        self.assertEqual([self.ask(path, token)[1] for path in paths], before)
        self.assertEqual(self.box.stop(), 0)


def main():
    global ENGINE, NAME
    ENGINE = sys.argv[1]
    NAME = sys.argv[2] if len(sys.argv) > 2 else NAME
    result = Result()
    unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(Image)).run(result)
    failed = len(result.failures) + len(result.errors)
    print('%d passed, %d failed, %d skipped' % (result.passed, failed, len(result.skipped)))
    return 1 if failed or not result.passed else 0


if __name__ == '__main__':
    sys.exit(main())
