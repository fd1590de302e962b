"""An S3 of our own for tests: Ceph's gateway with one monitor and one object store in memory, on loopback."""
import os
import pwd
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
import uuid

from postgres import Impossible, free_port
from s3 import S3

CONFIG = '''[global]
fsid = {fsid}
mon host = [v2:127.0.0.1:{mon},v1:127.0.0.1:{old}]
mon initial members = a
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv4 = true
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
osd objectstore = memstore
memstore device bytes = {room}
osd data = {folder}/osd
osd journal =
mon data = {folder}/mon
mon data avail warn = 1
mon data avail crit = 1
log file = {folder}/$name.log
admin socket = {folder}/$name.asok
run dir = {folder}
keyring = {folder}/keyring
crash dir = {folder}
exporter sock dir = {folder}
[mon.a]
host = localhost
pid file = {folder}/mon.pid
[osd.0]
pid file = {folder}/osd.pid
[client.rgw.a]
pid file = {folder}/rgw.pid
rgw frontends = beast endpoint=127.0.0.1:{port} tcp_nodelay=1
rgw data = {folder}/rgw
rgw thread pool size = 64
rgw gc obj min wait = 10
rgw gc processor period = 10
rgw gc processor max time = 10
'''


class Gateway:
    def __init__(self, room=8 << 30):  # taken as it fills; a full store hangs
        for program in ('radosgw', 'ceph-mon', 'ceph-osd', 'ceph', 'monmaptool', 'radosgw-admin'):
            if not shutil.which(program):
                raise Impossible('%s is not installed' % program)
        self.folder = tempfile.mkdtemp(prefix='reel-gateway-')
        self.port, self.key, self.secret = free_port(), 'AK' + secrets.token_hex(8), secrets.token_hex(16)
        self.client = S3('127.0.0.1:%d' % self.port, self.key, self.secret)
        self.config = os.path.join(self.folder, 'ceph.conf')
        self.account = None
        with open(self.config, 'w') as f:
            f.write(CONFIG.format(fsid=uuid.uuid4(), mon=free_port(), old=free_port(), port=self.port, room=room, folder=self.folder))
        for name in ('mon', 'osd', 'rgw'):
            os.mkdir(os.path.join(self.folder, name))
        if os.geteuid() == 0:  # the daemons write as their own user
            self.account = 'ceph' if 'ceph' in (p.pw_name for p in pwd.getpwall()) else None
            if self.account:
                for where in [self.folder] + [os.path.join(self.folder, n) for n in os.listdir(self.folder)]:
                    os.chown(where, pwd.getpwnam('ceph').pw_uid, -1)
        try:
            self.begin()
        except BaseException:
            self.stop()
            raise

    def run(self, *command, check=True):
        done = subprocess.run(command, user=self.account, cwd=self.folder, env={**os.environ, 'CEPH_CONF': self.config, 'HOME': self.folder},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        if check and done.returncode != 0:
            raise AssertionError('%s: %s' % (' '.join(command), done.stdout[-1500:]))
        return done.stdout

    def begin(self):
        ring, plan = os.path.join(self.folder, 'keyring'), os.path.join(self.folder, 'monmap')
        with open(self.config) as f:
            fsid, where = re.search(r'fsid = (\S+)', f.read()).group(1), re.search(r'mon host = (\S+)', open(self.config).read()).group(1)
        self.run('ceph-authtool', '--create-keyring', ring, '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *')
        for name, caps in (('client.admin', ('mon', 'allow *', 'osd', 'allow *', 'mgr', 'allow *')), ('client.rgw.a', ('mon', 'allow rw', 'osd', 'allow rwx')),
                           ('osd.0', ('mon', 'allow profile osd', 'osd', 'allow *'))):
            flags = [flag for pair in zip(['--cap'] * 9, caps[::2], caps[1::2]) for flag in pair]
            self.run('ceph-authtool', ring, '--gen-key', '-n', name, *flags)
        self.run('monmaptool', '--create', '--fsid', fsid, '--addv', 'a', where, plan)
        self.run('ceph-mon', '--mkfs', '-i', 'a', '--monmap', plan, '--keyring', ring, '-c', self.config)
        self.run('ceph-mon', '-i', 'a', '-c', self.config)
        self.wait(lambda: 'quorum' in self.run('ceph', '-c', self.config, '--connect-timeout', '5', 'mon', 'stat', check=False))
        disk = str(uuid.uuid4())
        self.run('ceph', '-c', self.config, 'osd', 'new', disk)
        self.run('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', disk, '-c', self.config)
        self.run('ceph', '-c', self.config, 'osd', 'crush', 'add', 'osd.0', '1.0', 'root=default', 'host=localhost', check=False)
        self.run('ceph-osd', '-i', '0', '-c', self.config)
        self.wait(lambda: '1 up' in self.run('ceph', '-c', self.config, 'osd', 'stat', check=False))
        self.start_gateway()
        self.run('radosgw-admin', '-c', self.config, 'user', 'create', '--uid=reel', '--display-name=reel', '--access-key=' + self.key, '--secret-key=' + self.secret)

    def start_gateway(self):
        self.run('radosgw', '-n', 'client.rgw.a', '-c', self.config)
        self.wait(lambda: self.answers())

    def answers(self):
        try:
            self.client.ask('GET', '/', signed=False)
            return True
        except OSError:
            return False

    def wait(self, check, seconds=120):
        end = time.monotonic() + seconds
        while not check():
            if time.monotonic() > end:
                raise AssertionError('the S3 gateway did not start: ' + self.folder)
            time.sleep(0.1)

    def pid(self, name):
        try:
            with open(os.path.join(self.folder, name + '.pid')) as f:
                pid = int(f.read())
            with open('/proc/%d/cmdline' % pid) as f:
                return pid if self.config in f.read() else None
        except (OSError, ValueError):
            return None

    def kill_gateway(self):
        os.kill(self.pid('rgw'), signal.SIGKILL)

    def stop(self):
        for name in ('rgw', 'osd', 'mon'):  # SIGKILL: a store in memory would first be written out to disk
            pid = self.pid(name)
            if pid:
                os.kill(pid, signal.SIGKILL)
        for name in ('rgw', 'osd', 'mon'):
            while self.pid(name):
                time.sleep(0.02)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def endpoint(self):
        return 'http://127.0.0.1:%d' % self.port

    def environment(self):
        return {'AWS_ACCESS_KEY_ID': self.key, 'AWS_SECRET_ACCESS_KEY': self.secret, 'AWS_ENDPOINT_URL': self.endpoint, 'AWS_REGION': 'default'}
