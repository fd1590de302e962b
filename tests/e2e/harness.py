"""A real `reel serve` for the tests: started on a free port over a folder of its own, stopped by SIGTERM, never by force unless it hangs."""
import atexit
import base64
import calendar
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse

from s3 import S3

REEL = os.path.abspath(os.environ.get('REEL', 'build/release/reel'))
LONG = bool(os.environ.get('REEL_TESTS_LONG'))  # ./dev test --long: all of what is else sampled
QUICK = os.environ.get('REEL_TESTS_QUICK') == '1'
API = '/api/v1'
if 'XDG_STATE_HOME' not in os.environ:  # of `reel record` and `reel push --watch`
    os.environ['XDG_STATE_HOME'] = tempfile.mkdtemp(prefix='reel-state-')
    atexit.register(shutil.rmtree, os.environ['XDG_STATE_HOME'], True)
PATIENCE = 60  # seconds: longer than anything here takes, sanitizers included


class Answer:
    def __init__(self, response, body):
        self.status, self.headers, self.body = response.status, response.headers, body

    def json(self):
        return json.loads(self.body)

    def rows(self):
        return [json.loads(line) for line in self.body.splitlines()]

    def next_path(self):
        """Where Link: rel="next" leads, as a path; None on the last page."""
        link = re.match(r'<([^>]+)>; *rel="?next"?', self.headers.get('Link', ''))
        return link and re.sub(r'^https?://[^/]+', '', link.group(1))

    def __repr__(self):
        return '%d %s %r' % (self.status, dict(self.headers), self.body[:400])


CATALOG = os.environ.get('REEL_TEST_CATALOG')  # postgresql://USER@HOST:PORT: each data folder has a database of its own there; PGPASSWORD is set


def catalog_of(data):
    """The options for a server's catalog; its database is made when it is first asked for."""
    if not CATALOG or any(os.path.exists(os.path.join(data, name)) for name in ('catalog-folder', 'catalog.db')):
        return []
    name = 't' + hashlib.md5(os.path.realpath(data).encode()).hexdigest()[:16]
    subprocess.run(['psql', '-qAt', CATALOG + '/postgres', '-c', 'CREATE DATABASE ' + name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return ['--catalog', '%s/%s' % (CATALOG, name)]


STORE = os.environ.get('REEL_TEST_STORE')  # s3://BUCKET: each data folder has a prefix of its own there; AWS_… are set


def store_of(data):
    """The options for a server's store."""
    if not STORE or os.path.exists(os.path.join(data, 'store-bucket')) or os.path.exists(os.path.join(data, 'blobs')):
        return []
    return ['--store', '%s/%s' % (STORE, hashlib.md5(os.path.realpath(data).encode()).hexdigest()[:16])]


def catalog_sql(data, sql):
    """Runs a statement in the catalog of a data folder, behind the server's back; the rows, as texts."""
    if CATALOG:
        with open(os.path.join(data, 'catalog-folder')) as f:
            done = subprocess.run(['psql', '-qAt', '-v', 'ON_ERROR_STOP=1', f.read().strip(), '-c', sql], stdout=subprocess.PIPE, check=True)
        return [tuple(line.split('|')) for line in done.stdout.decode().splitlines()]
    # a process of its own: closing a file of SQLite drops the locks of this one
    script = 'import json,sqlite3,sys; c = sqlite3.connect(sys.argv[1]); print(json.dumps([list(map(str, r)) for r in c.execute(sys.argv[2])])); c.commit()'
    done = subprocess.run(['/usr/bin/python3', '-c', script, os.path.join(data, 'catalog.db'), sql], stdout=subprocess.PIPE, check=True)
    return [tuple(row) for row in json.loads(done.stdout)]


def stored(data, folder, name):
    """A file that the server keeps for a lost catalog: ('manifests', content) or ('notes', 'collections.json'); bytes."""
    if os.path.exists(os.path.join(data, 'store-bucket')):
        with open(os.path.join(data, 'store-bucket')) as f:
            bucket, _, prefix = f.read().strip()[len('s3://'):].partition('/')
        return S3.of_environment().get(bucket, '%s/%s/%s' % (prefix, folder, name))
    path, = [f for f in files_below(data) if f.endswith('/' + name + ('.json' if folder == 'manifests' else ''))]
    with open(path, 'rb') as f:
        return f.read()


in_a_file = unittest.skipIf(CATALOG, 'the catalog is not a file')
in_a_folder = unittest.skipIf(STORE, 'the store is not a folder')


class Server:
    def __init__(self, data=None, *args, env=None, wrapper=(), program=REEL, pass_fds=(), host='127.0.0.1'):
        self.own, self.host = data is None, host
        self.data = data or tempfile.mkdtemp(prefix='reel-e2e-')
        with tempfile.NamedTemporaryFile() as file:  # opened twice: reading through the server's descriptor would move its write position
            writes, self.log = open(file.name, 'ab'), open(file.name, 'rb')
        command = [*wrapper, program, 'serve', '--data', self.data, '--listen', host + ':0', *([] if '--catalog' in args else catalog_of(self.data)), *store_of(self.data), *args]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=writes, stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})}, pass_fds=pass_fds)
        writes.close()
        atexit.register(self.process.kill)  # should the tests end in the middle
        self.asked = False
        self.base, guard = None, threading.Timer(PATIENCE, self.process.kill)
        guard.start()
        while self.base is None:
            line = self.process.stdout.readline().decode()
            if not line:
                raise AssertionError('the server ended before it listened: exit code %s\n%s' % (self.process.wait(), self.log_text()))
            found = re.search(r'listening on (https?://\S+:(\d+))', line)
            if found:
                self.base, self.port = found.group(1), int(found.group(2))
        guard.cancel()
        self.drain = threading.Thread(target=self.process.stdout.read, daemon=True)  # so that it never blocks on its own output
        self.drain.start()

    def log_text(self):
        """What it wrote on stderr. While it runs whole lines only: of one that is being written a part may be seen."""
        runs = self.process.poll() is None
        self.log.seek(0)
        text = self.log.read().decode(errors='replace')
        return text[:text.rfind('\n') + 1] if runs else text

    def request(self, method, path, body=None, headers=None, timeout=PATIENCE):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            patient = {'Prefer': 'wait=60'} if method in ('GET', 'HEAD') else {}  # what takes long on a loaded machine is waited for, not asked again
            connection.request(method, path, body=body, headers={**patient, **(headers or {})})
            response = connection.getresponse()
            return Answer(response, response.read())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.request('GET', path, headers={k.replace('_', '-'): v for k, v in headers.items()})

    def put(self, name, body, query='', collection='lab', **headers):
        """Uploads; the answer's json() is the recording. Its scan is waited for, however busy the machine is."""
        path = '%s/recordings/by-name/%s/%s%s' % (API, collection, urllib.parse.quote(name), query)
        return self.request('PUT', path, body, {'Prefer': 'wait=60', **{k.replace('_', '-'): v for k, v in headers.items()}}, 2 * PATIENCE)

    def added(self, name, body, query='', collection='lab'):
        answer = self.put(name, body, query, collection)
        if answer.status not in (200, 201, 202):
            raise AssertionError('upload of %s: %r' % (name, answer))
        number = answer.json()['id']
        if answer.status == 202:
            eventually(lambda: self.get('%s/recordings/%s' % (API, number)).json().get('state') != 'scanning')
        return number

    def raw(self, data, timeout=PATIENCE, pieces=None, pause=0):
        """Bytes to a socket of its own, and all that comes back until the server closes."""
        with socket.create_connection((self.host, self.port), timeout=timeout) as s:
            for piece in pieces or [data]:
                s.sendall(piece)
                time.sleep(pause)
            got = b''
            try:
                while True:
                    more = s.recv(65536)
                    if not more:
                        return got
                    got += more
            except ConnectionResetError:
                return got

    def terminate(self, how=signal.SIGTERM):
        """Asks it to end, once: whoever asks twice does not want to wait."""
        if not self.asked and self.process.poll() is None:
            self.process.send_signal(how)
        self.asked = True

    def stop(self, expect=0):
        self.terminate()
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError('the server did not end after SIGTERM\n' + self.log_text())
        self.drain.join()
        output = '' if self.log.closed else self.log_text()
        self.process.stdout.close()
        self.log.close()
        if self.own:
            shutil.rmtree(self.data, ignore_errors=True)
        if expect is not None and code != expect:
            raise AssertionError('the server ended with %d\n%s' % (code, output))


class Case(unittest.TestCase):
    """A class of tests that share one server; `fill` puts in what they read."""
    server_args = ()

    @classmethod
    def fill(cls):
        pass

    @classmethod
    def setUpClass(cls):
        cls.server = Server(None, *cls.server_args)
        try:
            cls.fill()
        except BaseException:
            cls.server.stop(None)
            raise

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def get(self, path, status=200, **headers):
        answer = self.server.get(path, **headers)
        self.assertEqual(answer.status, status, answer)
        return answer

    def assertProblem(self, answer, status, *words):
        """RFC 9457, with the words it must name."""
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.headers.get_content_type(), 'application/problem+json', answer)
        problem = answer.json()
        self.assertEqual(problem['status'], status)
        for member in ('type', 'title', 'detail'):
            self.assertTrue(problem.get(member), problem)
        self.assertTrue(answer.body.endswith(b'\n'))
        for word in words:
            self.assertIn(word, json.dumps(problem))
        return problem


def curl(*args, stdin=None):
    """The real curl; returns (exit code, stdout)."""
    done = subprocess.run(['curl', '-sS', '--max-time', str(PATIENCE), *args], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout


def reel(*args, stdin=None, check=True):
    """The command line; returns the finished process."""
    done = subprocess.run([REEL, *args], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE * 2)
    if check and done.returncode != 0:
        raise AssertionError('reel %s: exit code %d: %s' % (' '.join(args), done.returncode, done.stderr.decode(errors='replace')))
    return done


def create_token(server, role, name, *args):
    """A token, created while the server runs. The first one of an archive has to be an admin's: one is created before."""
    if not os.path.exists(os.path.join(server.data, 'tokens-required')):
        reel('token', 'create', '--role', 'admin', '--name', 'first', '--data', server.data)
    return reel('token', 'create', '--role', role, '--name', name, '--data', server.data, *args).stdout.decode().strip()


def digest_header(data, name='sha-256'):
    return '%s=:%s:' % (name, base64.b64encode(hashlib.new(name.replace('-', ''), data).digest()).decode())


def time_ns(text):
    """A time as the API writes it: RFC 3339 with nine digits, or seconds with nine digits where the clock is the recording's own."""
    seconds, _, fraction = text.rstrip('Z').partition('.')
    whole = calendar.timegm(time.strptime(seconds, '%Y-%m-%dT%H:%M:%S')) if 'T' in text else int(seconds)
    assert len(fraction) == 9 and text.endswith('Z') == ('T' in text), text
    return whole * 1_000_000_000 + int(fraction)


def payload(row):
    """Of a row asked for with decode=none."""
    return base64.b64decode(row['data']['$base64'])


def eventually(check, seconds=PATIENCE):
    """Waits until check() is true; its last value."""
    end = time.monotonic() + seconds
    while True:
        value = check()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.05)


def files_below(folder):
    return sorted(os.path.join(where, name) for where, _, names in os.walk(folder) for name in names)


def size_of(path):
    """0 if it is gone: what is being written gets another name in the end."""
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0


def stored_below(data):
    """The files of contents and of uploads while nothing is being written; the statistics of a recording come a moment after it."""
    stored = []

    def settled():
        stored[:] = [f for f in files_below(data) if ('/blobs/' in f and not f.endswith(('.stats', '.events'))) or '/incoming/' in f]
        return not any('/incoming/' in f and not f.endswith('.part') for f in stored)

    eventually(settled)
    return stored
