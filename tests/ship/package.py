#!/usr/bin/env python3
"""The .deb files on a minimal Debian 12: package.py DEBIAN_TAR BUILD_FOLDER. Installed in a chroot, then lived with under a systemd of its own: started, upgraded,
hung, removed and purged. Last line: N passed, N failed, N skipped."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'e2e'))
from run_tests import Result  # noqa: E402
from samples import bag, lab_messages  # noqa: E402

PATIENCE = 120
CGROUP = '/sys/fs/cgroup/systemd'
TAR, BUILD = None, None
BASE = 'http://127.0.0.1:8040'

# systemd as the first process of namespaces of its own: its cgroup is the root it sees, its network has loopback alone, kernel settings are read-only.
BOOT = r'''
set -e
echo $$ >"$2/cgroup.procs"
exec unshare -m -p -n -C -i -u -f --kill-child sh -c '
set -e
root=$1
ip link set lo up
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
mkdir "$root/sys/fs/cgroup/systemd"
mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom tty; do touch "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
mkdir "$root/dev/shm" "$root/dev/pts"; mount -t tmpfs tmpfs "$root/dev/shm"; mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"; ln -s pts/ptmx "$root/dev/ptmx"; ln -s /proc/self/fd "$root/dev/fd"
mount --bind "$root/proc/sys" "$root/proc/sys"; mount -o remount,bind,ro "$root/proc/sys"
cd "$root"; mkdir -p old; pivot_root . old; umount -l /old
exec env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --unit=multi-user.target
' sh "$1"
'''
NOT_IN_HERE = ('systemd-udevd.service', 'systemd-sysctl.service', 'systemd-logind.service', 'getty.target', 'console-getty.service', 'e2scrub_reap.service')


def run(*command, check=True, **more):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, **more)
    done.stdout, done.stderr = done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace')
    if check and done.returncode != 0:
        raise AssertionError('%s: %d\n%s%s' % (' '.join(command), done.returncode, done.stdout[-2000:], done.stderr[-4000:]))
    return done


def eventually(check):
    end = time.monotonic() + PATIENCE
    while not check():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


class Debian:
    def __init__(self):
        self.root, self.init, self.cgroup = tempfile.mkdtemp(prefix='reel-debian-'), None, None
        run('tar', '-C', self.root, '-xf', TAR)
        os.chmod(self.root, 0o755)
        shutil.copy('/etc/resolv.conf', os.path.join(self.root, 'etc'))
        os.mkdir(self.path('debs'))
        self.log = tempfile.TemporaryFile()
        built, = glob.glob(os.path.join(BUILD, 'packages', 'reel_*.deb'))
        self.debs = {1: shutil.copy(built, self.path('debs'))}
        next_one = self.path('debs', 'next')  # the same as a later release
        run('cpack', '--config', os.path.join(BUILD, 'CPackConfig.cmake'), '-B', next_one, '-D', 'CPACK_DEBIAN_PACKAGE_RELEASE=2', '-D', 'CPACK_COMPONENTS_ALL=reel')
        self.debs[2], = glob.glob(next_one + '/reel_*.deb')

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def deb(self, release):
        return self.debs[release][len(self.root):]

    def chroot(self, *command, **more):
        return run('chroot', self.root, 'env', 'DEBIAN_FRONTEND=noninteractive', *command, **more)

    def boot(self):
        """None when a systemd runs, else why this machine does not let it."""
        if not os.path.isdir(CGROUP):
            return CGROUP + ' is not there'
        self.chroot('apt-get', 'install', '-yqq', '--no-install-recommends', 'systemd', 'systemd-sysv')
        for unit in NOT_IN_HERE:
            os.symlink('/dev/null', self.path('etc/systemd/system', unit))
        self.cgroup = os.path.join(CGROUP, os.path.basename(self.root))
        os.mkdir(self.cgroup)
        self.unshare = subprocess.Popen(['sh', '-c', BOOT, 'sh', self.root, self.cgroup], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log)

        def running():
            children = run('pgrep', '-P', str(self.unshare.pid), check=False).stdout.split()
            self.init = children[0] if children else None
            return self.init and self.inside('systemctl', 'is-system-running', check=False).stdout.strip() in ('running', 'degraded') or self.unshare.poll() is not None
        if eventually(running) and self.unshare.poll() is None:
            return None
        self.init = None
        self.log.seek(0)
        return 'no systemd can be started: ' + (self.log.read().decode(errors='replace').strip() or 'it says nothing')

    def inside(self, *command, **more):
        return run('nsenter', '-a', '-t', self.init, *command, **more)

    def close(self):
        if self.init and self.unshare.poll() is None:
            self.unshare.kill()  # what it started goes with it
            self.unshare.wait()
        if self.cgroup:
            for folder, _, _ in os.walk(self.cgroup, topdown=False):
                eventually(lambda: run('rmdir', folder, check=False).returncode == 0)
        shutil.rmtree(self.root, ignore_errors=True)


class Package(unittest.TestCase):
    """In the order of their names: one life."""
    @classmethod
    def setUpClass(cls):
        cls.debian = Debian()
        try:
            cls.debian.chroot('apt-get', 'update', '-qq')
        except AssertionError as e:
            cls.debian.close()
            raise unittest.SkipTest('no Debian mirror answers: %s' % str(e).splitlines()[-1])

    @classmethod
    def tearDownClass(cls):
        cls.debian.close()

    def setUp(self):
        if self._testMethodName > 'test_3' and not self.debian.init:
            self.skipTest('no systemd runs')

    def curl(self, *args):
        return run('nsenter', '-n', '-t', self.debian.init, 'curl', '-sSf', '--max-time', str(PATIENCE), *args).stdout

    def show(self, what, unit='reel.service'):
        return self.debian.inside('systemctl', 'show', '-P', what, unit).stdout.strip()

    def seen(self):
        return [self.curl(BASE + '/api/v1/recordings'), self.curl(BASE + '/api/v1/recordings/%s/messages?limit=20' % self.number)]

    def ready(self):
        return self.debian.inside('reel', 'health', check=False).returncode == 0

    def test_1_installs_where_nothing_runs(self):
        depends = run('dpkg-deb', '-f', self.debian.debs[1], 'Depends').stdout
        self.assertRegex(depends, r'libmicrohttpd12 \(>= .*libsqlite3-0 \(>= ')
        names = [line.split()[5] for line in run('dpkg-deb', '-c', self.debian.debs[1]).stdout.splitlines()]
        self.assertEqual([name for name in names if not re.match(r'\./(etc|usr)/', name)], [])
        self.assertIn('./usr/share/doc/reel/licenses.txt', names)
        self.assertIn('./usr/share/doc/reel/copyright', names)
        began = time.monotonic()
        self.debian.chroot('apt-get', 'install', '-yqq', '--no-install-recommends', self.debian.deb(1))
        print('installed on a minimal Debian in %.1f s' % (time.monotonic() - began))
        verified = self.debian.chroot('dpkg', '--verify', 'reel', check=False).stdout.splitlines()
        self.assertEqual([line for line in verified if '/share/man/' not in line and '/share/doc/' not in line], [])  # a slim Debian takes none of them
        self.assertRegex(self.debian.chroot('reel', '--version').stdout, r'^reel \d')
        self.assertTrue(os.path.islink(self.debian.path('etc/systemd/system/multi-user.target.wants/reel.service')))
        self.assertTrue(os.path.islink(self.debian.path('etc/systemd/system/sockets.target.wants/reel.socket')))
        self.assertTrue(os.path.exists(self.debian.path('etc/reel/reel.conf')))

    def test_2_starts_with_the_machine(self):
        wrong = self.debian.boot()
        if wrong:
            self.skipTest(wrong)
        self.assertEqual([self.show('ActiveState'), self.show('ActiveState', 'reel.socket')], ['active', 'active'])
        self.assertEqual(self.debian.inside('reel', 'health').stdout, 'ready\n')
        type(self).number = json.loads(self.upload())['id']
        self.assertEqual(len(self.seen()[1].splitlines()), 20)

    def upload(self):
        with tempfile.NamedTemporaryFile(suffix='.bag') as f:
            f.write(bag(lab_messages(3)))
            f.flush()
            return self.curl('-T', f.name, BASE + '/api/v1/recordings/by-name/lab/lab.bag')

    def test_3_is_locked_in(self):
        pid = self.show('MainPID')
        status = self.debian.inside('cat', '/proc/%s/status' % pid).stdout
        self.assertTrue(61184 <= int(re.search(r'^Uid:\s+(\d+)', status, re.M).group(1)) <= 65519, status)  # systemd's range of dynamic users
        self.assertRegex(status, r'(?m)^CapBnd:\s+0+$')
        self.assertRegex(status, r'(?m)^Seccomp:\s+2$')
        mounts = self.debian.inside('cat', '/proc/%s/mountinfo' % pid).stdout
        self.assertRegex(mounts, r'(?m)^\S+ \S+ \S+ \S+ / ro\b')
        self.assertRegex(mounts, r'(?m)^\S+ \S+ \S+ \S+ /var/lib/private/reel rw\b')

    def test_4_upgrades_and_keeps_everything(self):
        with open(self.debian.path('etc/reel/reel.conf'), 'a') as f:
            f.write('trash-days = 7\n')
        before, pid = self.seen(), self.show('MainPID')
        self.debian.inside('dpkg', '-i', self.debian.deb(2))
        self.assertTrue(eventually(self.ready))
        self.assertNotEqual(self.show('MainPID'), pid)
        self.assertEqual(self.seen(), before)
        self.assertTrue(self.debian.inside('dpkg-query', '-W', '-f', '${Version}', 'reel').stdout.endswith('-2'))
        with open(self.debian.path('etc/reel/reel.conf')) as f:
            self.assertIn('trash-days = 7', f.read())
        settings = self.debian.inside('reel', 'serve', '--check-config', '--config', '/etc/reel/reel.conf').stdout
        self.assertIn('trash-days = 7  # /etc/reel/reel.conf', settings)

    def test_5_is_started_by_who_asks(self):
        before = self.seen()
        self.debian.inside('systemctl', 'stop', 'reel.service')
        self.assertEqual(self.show('ActiveState'), 'inactive')
        self.assertEqual(self.seen(), before)  # the socket is there, and who asks waits
        self.assertEqual(self.show('ActiveState'), 'active')

    def test_6_is_started_anew_when_it_hangs(self):
        self.debian.inside('mkdir', '-p', '/run/systemd/system/reel.service.d')
        self.debian.inside('sh', '-c', 'printf "[Service]\\nWatchdogSec=2\\nTimeoutAbortSec=2\\n" >/run/systemd/system/reel.service.d/soon.conf')
        self.debian.inside('systemctl', 'daemon-reload')
        self.debian.inside('systemctl', 'restart', 'reel.service')
        before, pid = self.seen(), self.show('MainPID')
        self.debian.inside('systemctl', 'kill', '-s', 'STOP', 'reel.service')
        self.assertTrue(eventually(lambda: self.show('MainPID') not in ('0', pid) and self.show('ActiveState') == 'active'))
        self.assertEqual(self.seen(), before)
        self.assertEqual(self.show('NRestarts'), '1')

    def test_7_removed_and_back(self):
        before = self.seen()
        self.debian.inside('dpkg', '-r', 'reel')
        self.assertNotEqual(self.debian.inside('systemctl', 'is-active', 'reel.service', check=False).stdout.strip(), 'active')
        self.assertFalse(os.path.exists(self.debian.path('usr/bin/reel')))
        self.assertTrue(os.path.exists(self.debian.path('etc/reel/reel.conf')))
        self.debian.inside('dpkg', '-i', self.debian.deb(2))
        self.assertTrue(eventually(self.ready))
        self.assertEqual(self.seen(), before)

    def test_8_purging_leaves_nothing_but_recordings(self):
        done = self.debian.inside('dpkg', '-P', 'reel')
        self.assertIn('recordings in /var/lib/private/reel are kept', done.stderr)
        left = [os.path.join(where, name) for top in ('etc', 'usr', 'var/lib') for where, folders, names in os.walk(self.debian.path(top)) for name in names + folders if 'reel' in name]
        own = self.debian.path('var/lib/private/reel')
        self.assertEqual([path for path in left if not path.startswith(own + '/')], [self.debian.path('var/lib/reel'), own])
        self.assertFalse(os.path.exists(own + '/derived'))
        self.debian.inside('dpkg', '-i', self.debian.deb(2))
        self.assertTrue(eventually(self.ready))
        self.curl('-X', 'DELETE', BASE + '/api/v1/recordings/' + self.number)
        self.curl('-X', 'DELETE', BASE + '/api/v1/recordings/' + self.number + '?purge=true')
        self.debian.inside('dpkg', '-P', 'reel')
        self.assertEqual([os.path.exists(own), os.path.lexists(self.debian.path('var/lib/reel'))], [False, False])


def main():
    global TAR, BUILD
    TAR, BUILD = (os.path.abspath(path) for path in sys.argv[1:3])
    result = Result()
    unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(Package)).run(result)
    failed = len(result.failures) + len(result.errors)
    print('%d passed, %d failed, %d skipped' % (result.passed, failed, len(result.skipped)))
    return 1 if failed or not result.passed else 0


if __name__ == '__main__':
    sys.exit(main())
