"""A PostgreSQL of our own for tests: in a folder of its own on loopback, without fsync, ended with the tests."""
import glob
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile


class Impossible(Exception):
    pass


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Postgres:
    user = 'reel'

    def __init__(self, settings='', listen=()):
        """`listen`: addresses besides 127.0.0.1."""
        found = sorted(glob.glob('/usr/lib/postgresql/*/bin'), key=lambda p: int(p.split('/')[4]))
        if not found or int(found[-1].split('/')[4]) < 15:
            raise Impossible('PostgreSQL 15 or later is not installed')
        self.bin = found[-1]
        self.folder = tempfile.mkdtemp(prefix='reel-postgres-')
        self.port = free_port()
        self.password = secrets.token_hex(8)
        self.account = None
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            self.account = 'postgres' if 'postgres' in (p.pw_name for p in pwd.getpwall()) else 'nobody'
            os.chown(self.folder, pwd.getpwnam(self.account).pw_uid, -1)
        data = os.path.join(self.folder, 'data')
        with tempfile.NamedTemporaryFile('w', dir=self.folder) as secret:
            secret.write(self.password)
            secret.flush()
            os.chmod(secret.name, 0o644)
            self.run('initdb', '-D', data, '-A', 'scram-sha-256', '--pwfile', secret.name, '-U', self.user, '--locale=C.UTF-8', '-E', 'UTF8', '--no-sync')
        with open(os.path.join(data, 'postgresql.conf'), 'a') as conf:
            conf.write("listen_addresses = '%s'\nport = %d\nunix_socket_directories = '%s'\nmax_connections = 400\n"
                       'fsync = off\nfull_page_writes = off\n%s\n' % (','.join(('127.0.0.1', *listen)), self.port, self.folder, settings))
        with open(os.path.join(data, 'pg_hba.conf'), 'a') as hba:
            hba.writelines('host all all %s/24 scram-sha-256\n' % address for address in listen)
        self.start()

    def run(self, program, *args):
        command = [os.path.join(self.bin, program), *args]
        done = subprocess.run(command, user=self.account, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise AssertionError('%s: %s' % (program, done.stdout[-1500:]))

    def control(self, *args):
        self.run('pg_ctl', '-D', os.path.join(self.folder, 'data'), '-w', '-t', '60', '-l', os.path.join(self.folder, 'log'), *args)

    def start(self):
        self.control('start')

    def crash(self):
        """As after a power failure; the next start recovers."""
        self.control('-m', 'immediate', 'stop')

    def processes(self):
        with open(os.path.join(self.folder, 'data', 'postmaster.pid')) as f:
            parent = f.readline().strip()
        children = subprocess.run(['ps', '-o', 'pid=', '--ppid', parent], stdout=subprocess.PIPE, text=True).stdout.split()
        return [int(pid) for pid in (parent, *children)]

    def freeze(self):
        """It goes on to acknowledge packets, and answers nothing. Returns what thaw() takes."""
        frozen = self.processes()
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        return frozen

    def thaw(self, frozen):
        for pid in frozen:
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass

    @property
    def address(self):
        return 'postgresql://%s@127.0.0.1:%d' % (self.user, self.port)

    def sql(self, text, database='postgres'):
        done = subprocess.run(['psql', '-qAt', '-v', 'ON_ERROR_STOP=1', '%s/%s' % (self.address, database), '-c', text],
                              env={**os.environ, 'PGPASSWORD': self.password}, stdout=subprocess.PIPE, check=True, text=True)
        return done.stdout.splitlines()

    def stop(self):
        try:
            self.control('-m', 'immediate', 'stop')
        except AssertionError:
            pass  # it was not running
        shutil.rmtree(self.folder, ignore_errors=True)
