"""What the bench measures in: a folder on the real disk, the inputs in it, and the servers, Reel and nginx, each ended by its own handle."""
import contextlib
import glob
import grp
import http.client
import json
import os
import pwd
import re
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import threading
import time

API = '/api/v1/recordings'
PATIENCE = 120  # seconds

NGINX = '''
daemon off; worker_processes 2; pid %(folder)s/nginx.pid; error_log %(folder)s/nginx-errors.log; %(user)s
events { worker_connections 1024; }
http {
    access_log %(folder)s/nginx-access.log;
    sendfile on; tcp_nopush on; keepalive_requests 1000000; client_max_body_size 0;
    client_body_temp_path %(folder)s/nginx-body; proxy_temp_path %(folder)s/nginx-proxy; fastcgi_temp_path %(folder)s/nginx-fastcgi;
    uwsgi_temp_path %(folder)s/nginx-uwsgi; scgi_temp_path %(folder)s/nginx-scgi;
    server {
        listen 127.0.0.1:%(port)d; root %(root)s;
        location /dav/ { dav_methods PUT DELETE; }
    }
}
'''


class BenchError(Exception):
    pass


def run(*command, timeout=PATIENCE, check=True):
    """A program to its end; its standard output."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=timeout)
    if check and done.returncode != 0:
        raise BenchError('%s ended with %d: %s' % (' '.join(command[:2]), done.returncode, (done.stderr or done.stdout).decode(errors='replace')[-400:]))
    return done.stdout.decode(errors='replace')


def timed(*command, **options):
    """(seconds, standard output)"""
    start = time.perf_counter()
    out = run(*command, **options)
    return time.perf_counter() - start, out


def measured(*command):
    """(seconds, peak bytes) of a program. It is a child of the small program time: the kernel counts what a process was before it
    became another program, and this one has held whole recordings."""
    with tempfile.NamedTemporaryFile('r') as peak:
        start = time.perf_counter()
        done = subprocess.run(['time', '-q', '-f', '%M', '-o', peak.name, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        if done.returncode != 0:
            raise BenchError('%s ended with %d: %s' % (' '.join(command[:2]), done.returncode, done.stderr.decode(errors='replace')[-400:]))
        return seconds, int(peak.read()) << 10


def in_turn(rounds, *measures):
    """Each measure `rounds` times, one after the other and every second round backwards, so that what disturbs one disturbs all. The lists."""
    taken = [[] for _ in measures]
    for i in range(rounds):
        order = list(range(len(measures)))
        for k in order if i % 2 == 0 else reversed(order):
            taken[k].append(measures[k]())
    return taken


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))]


median = statistics.median


def wait_for(check, what, patience=PATIENCE):
    end = time.monotonic() + patience
    while not check():
        if time.monotonic() > end:
            raise BenchError('waited %d s for %s' % (patience, what))
        time.sleep(0.02)


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def curl(*args):
    """(status, seconds as curl counts them, bytes down)"""
    out = run('curl', '-sS', '--max-time', str(PATIENCE), '-o', '/dev/null', '-w', '%{http_code} %{time_total} %{size_download}', *args)
    status, seconds, size = out.split()
    return int(status), float(seconds), int(size)


def first_byte(connection, path, headers, status):
    """(seconds to the first byte of the body, seconds to the last, the body)"""
    start = time.perf_counter()
    connection.request('GET', path, headers=headers)
    answer = connection.getresponse()
    body = answer.read(1)
    first = time.perf_counter() - start
    body += answer.read()
    whole = time.perf_counter() - start
    if answer.status != status:
        raise BenchError('%s: %d %s' % (path, answer.status, body[:200].decode(errors='replace')))
    return first, whole, body


def download(lab, server, path, size):
    """Seconds, by a client that costs less than curl."""
    got = json.loads(lab.tool('drain', server.port, path))
    if got['status'] != 200 or got['bytes'] != size:
        raise BenchError('%s: %d, %d of %d bytes' % (path, got['status'], got['bytes'], size))
    return got['seconds']


def requests_per_second(lab, address, *options):
    out = run('wrk', '-c64', '-t2', '-d%ds' % (1 if lab.quick else 3), *options, address)
    if 'Non-2xx' in out or 'Socket errors' in out:
        raise BenchError('%s under wrk: %s' % (address, out))
    return float(re.search(r'Requests/sec:\s*([\d.]+)', out).group(1))


def cpu_seconds(pid):
    with open('/proc/%d/stat' % pid) as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


class Process:
    """A server that was started here, and nothing else, ends here."""

    def __init__(self, command, log):
        self.log = open(log, 'ab')
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, stdin=subprocess.DEVNULL, start_new_session=True)

    def ended(self):
        return self.process.poll() is not None

    def stop(self):
        if not self.ended():
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.log.close()


class Server:
    """Something that speaks HTTP on 127.0.0.1: `base` is its address."""

    def __init__(self, process, port):
        self.process, self.port, self.base = process, port, 'http://127.0.0.1:%d' % port

    def connect(self):
        return http.client.HTTPConnection('127.0.0.1', self.port, timeout=PATIENCE)

    def request(self, method, path, headers=None, status=(200,), body=None):
        with contextlib.closing(self.connect()) as c:
            c.request(method, path, body, headers or {})
            answer = c.getresponse()
            body = answer.read()
            if answer.status not in status:
                raise BenchError('%s %s: %d %s' % (method, path, answer.status, body[:300].decode(errors='replace')))
            return answer, body

    def stop(self):
        self.process.stop()


class Reel(Server):
    def __init__(self, program, data, log, *options):
        """`program`: its path, or a list: what runs it, and its path."""
        process = Process([*([program] if isinstance(program, str) else program), 'serve', '--data', data, '--listen', '127.0.0.1:0', *options], log)
        found, guard = None, threading.Timer(PATIENCE, process.process.kill)
        guard.start()
        while not found:
            line = process.process.stdout.readline().decode()
            if not line:
                guard.cancel()
                process.stop()
                raise BenchError('reel did not start:\n' + open(log).read()[-1000:])
            found = re.search(r'listening on http://\S+:(\d+)', line)
        guard.cancel()
        super().__init__(process, int(found.group(1)))
        self.data = data

    def put(self, path, name):
        """(seconds, id) of an upload by curl."""
        seconds, out = timed('curl', '-sS', '--max-time', str(PATIENCE), '-w', '\n%{http_code}', '-T', path, '%s%s/by-name/bench/%s' % (self.base, API, name))
        body, status = out.rsplit('\n', 1)
        if status != '201':
            raise BenchError('PUT %s: %s %s' % (name, status, body[:300]))
        return seconds, json.loads(body)['id']

    def put_and_purge(self, path):
        """Seconds of an upload with the disk's queue empty, whose recording goes again."""
        run('sync')
        seconds, recording = self.put(path, 'upload.bag')
        self.purge(recording)
        return seconds

    def purge(self, recording):
        self.request('DELETE', '%s/%s?purge=true' % (API, recording), status=(200, 204))

    def recording(self, recording):
        return json.loads(self.request('GET', '%s/%s' % (API, recording))[1])

    def jobs(self, kind=''):
        """The newest first."""
        return [job for job in json.loads(self.request('GET', '/api/v1/jobs')[1])['items'] if kind in ('', job['kind'])]

    def busy(self):
        return any(job['state'] in ('queued', 'running') for job in self.jobs())

    def planned(self, path):
        """Asks for a conversion until it is planned: its length, and how long that took."""
        start = time.perf_counter()
        while True:
            answer, _ = self.request('HEAD', path, status=(200, 503))
            if answer.status == 200:
                return int(answer.headers['Content-Length']), time.perf_counter() - start
            if time.perf_counter() - start > PATIENCE:
                raise BenchError('%s is not planned after %d s' % (path, PATIENCE))
            time.sleep(0.1)


class Lab:
    """Sizes, rounds, tools and folder of one run."""

    def __init__(self, program, folder, quick, minutes=1):
        self.program, self.quick, self.minutes = os.path.abspath(program), quick, minutes
        self.rounds = 3 if quick else 5
        self.big, self.middle, self.small = (10**8, 10**7, 10**7) if quick else (10**9, 10**8, 10**7)
        self.tools = self.build_tools()
        os.makedirs(folder, exist_ok=True)
        self.folder = tempfile.mkdtemp(prefix='run-', dir=folder)
        self.root = self.path('www')
        os.makedirs(os.path.join(self.root, 'dav'))
        self.servers, self.made = [], {}

    def build_tools(self):
        build = next((d for d in (os.path.dirname(self.program), os.path.dirname(os.path.dirname(self.program))) if os.path.exists(d + '/CMakeCache.txt')), None)
        if not build:
            raise BenchError('%s does not lie in a build folder, so the tools of the bench cannot be built next to it' % self.program)
        run('cmake', '--build', build, '--target', 'bench_tools', timeout=600)
        return os.path.join(build, 'bin')

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, name, *args, timeout=600):
        program = os.path.join(self.tools, name)
        if not os.path.exists(program):
            raise BenchError('%s was not built: a library it needs is missing' % name)
        return run(program, *[str(a) for a in args], timeout=timeout)

    def bag(self, version, size, payload, rate):
        """A bag of `size` bytes as 1.2, made at first use and in the page cache: (path, messages)."""
        name = 'bag-%s-%d-%d.bag' % (version.replace('.', ''), size, payload)
        return self.made_once(name, lambda path: int(self.tool('make_bag', version, size, payload, rate, path)))

    def made_once(self, name, make):
        """A file of the folder, made at first use and in the page cache: (path, what `make` returned for it)."""
        if name not in self.made:
            path = self.path(name)
            self.made[name] = path, make(path)
            warm(path)
        return self.made[name]

    def small_messages(self, size, version='1.2'):
        return self.bag(version, size, 100, 1000)

    def large_messages(self, size, version='1.2'):
        return self.bag(version, size, 100000, 100)

    def converted(self, path, extension, compression=None):
        """A recording in another container or compression, by our own converter, and in the page cache."""
        out = '%s-%s%s' % (os.path.splitext(path)[0], compression or 'plain', extension)
        run(self.program, 'convert', path, out, *(['--compression', compression] if compression else []), timeout=600)
        warm(out)
        return out

    def publish(self, path, name):
        """Puts a file where nginx serves it, without a copy; its path there."""
        os.link(path, os.path.join(self.root, name))
        return '/' + name

    def reel(self, name, *options):
        return self.keep(Reel(self.program, self.path(name), self.path(name + '.log'), *options))

    def nginx(self):
        port, user = free_port(), pwd.getpwuid(os.geteuid())
        with open(self.path('nginx.conf'), 'w') as f:
            f.write(NGINX % {'folder': self.folder, 'root': self.root, 'port': port,
                             'user': 'user %s %s;' % (user.pw_name, grp.getgrgid(user.pw_gid).gr_name) if os.geteuid() == 0 else ''})
        program = shutil.which('nginx') or '/usr/sbin/nginx'
        process = Process([program, '-p', self.folder, '-e', self.path('nginx-errors.log'), '-c', self.path('nginx.conf')], self.path('nginx.log'))
        server = self.keep(Server(process, port))

        def answers():
            if process.ended():
                raise BenchError('nginx did not start: ' + open(self.path('nginx.log')).read()[-400:])
            with contextlib.suppress(OSError):
                socket.create_connection(('127.0.0.1', port), timeout=1).close()
                return True
            return False
        wait_for(answers, 'nginx')
        return server

    def keep(self, server):
        self.servers.append(server)
        return server

    def stop(self, server):
        self.servers.remove(server)
        server.stop()

    def close(self):
        for server in self.servers:
            server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def warm(path):
    with open(path, 'rb', buffering=0) as f:
        while f.read(1 << 22):
            pass


def packs_of(data):
    """The index packs of a data folder."""
    return glob.glob(data + '/blobs/**/*.reel', recursive=True)


def machine(folder):
    """What the figures were taken on."""
    cpu = re.search(r'^model name\s*: (.*)$', open('/proc/cpuinfo').read(), re.M)
    memory = int(re.search(r'^MemTotal:\s*(\d+)', open('/proc/meminfo').read()).group(1)) << 10
    mounts = [line.split() for line in open('/proc/mounts')]
    real = os.path.realpath(folder) + '/'
    above = [m for m in mounts if real.startswith(m[1].rstrip('/') + '/')]  # none in a chroot, whose root is no mount point
    mount = max(above, key=lambda m: len(m[1]), default=['unknown', '', 'unknown'])
    return {'cpu': cpu.group(1) if cpu else os.uname().machine, 'cores': len(os.sched_getaffinity(0)), 'memory_bytes': memory, 'kernel': os.uname().release,
            'disk': '%s on %s' % (mount[2], mount[0]), 'load': os.getloadavg()[0]}
