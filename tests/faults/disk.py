"""A disk that loses its power: a loop device over one file that this process gives out by FUSE. What was written since the last flush is in the disk's cache,
and cut() keeps any part of it, as a real disk may: so at that instant the disk holds everything that was flushed, and of the rest what chance wants.

Why not a copy of the image file: a file that is being written to cannot be copied in one instant, and its copy would hold every write in order, with or without
the flushes that the server owes. Here the instant is one lock, and a missing fsync loses data.

Everything is mounted in a mount namespace of the calling thread and of what it starts: when they end, by whatever, mounts and loop devices are gone."""
import ctypes
import errno
import mmap
import os
import stat
import struct
import subprocess
import tempfile
import threading
import time

SIZE = 320 << 20   # of memory only what is written to is taken
SECTOR = 512
WRITE_MAX = 128 << 10
ROOT, FILE = 1, 2  # nodes
LOOKUP, GETATTR, SETATTR, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC, FLUSH, INIT = 1, 3, 4, 14, 15, 16, 17, 18, 20, 25, 26
SILENT = (2, 42, 36)  # FORGET, BATCH_FORGET, INTERRUPT: no answer is wanted
CLONE_NEWNS, MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE, MS_SLAVE, MS_SHARED, MNT_DETACH, PR_SET_IO_FLUSHER = 0x20000, 2, 4, 4096, 1 << 14, 1 << 18, 1 << 19, 1 << 20, 2, 57

libc = ctypes.CDLL(None, use_errno=True)


class Impossible(Exception):
    """No root, no FUSE, no loop devices: the reason."""


def call(function, *args):
    args = [a.encode() if isinstance(a, str) else a for a in args]
    if getattr(libc, function)(*args) != 0:
        raise Impossible('%s: %s' % (function, os.strerror(ctypes.get_errno())))


def run(*command):
    done = subprocess.run(command, timeout=60, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise Impossible('%s: %s' % (' '.join(command), done.stderr.decode().strip()))
    return done.stdout.decode().strip()


def own_namespace(*propagation):
    """What is mounted from now on is seen by this thread and its children only."""
    if os.geteuid() != 0:
        raise Impossible('mounting needs root')
    call('unshare', CLONE_NEWNS)
    for how in propagation:
        call('mount', 'none', '/', None, ctypes.c_ulong(MS_REC | how), None)


def namespace_of_the_run():
    """The disks of all tests, private to them; and what a test unmounts is gone from the namespaces within, too.
    Were it not, a copy of the mount would keep a file system that was given up, and mounting its disk again would find that one."""
    own_namespace(MS_PRIVATE, MS_SHARED)


class Medium:
    """The bytes: what was flushed, and the writes since."""

    def __init__(self):
        self.lock = threading.Lock()
        self.delay_s = 0  # of each read and write
        self.flushed, self.cached, self.on = mmap.mmap(-1, SIZE), [], True
        self.writes = self.flushes = 0

    def read(self, at, size):
        with self.lock:
            out = bytearray(self.flushed[at:at + size])
            for start, data in self.cached:
                begin, end = max(start, at), min(start + len(data), at + size)
                if begin < end:
                    out[begin - at:end - at] = data[begin - start:end - start]
            return bytes(out)

    def write(self, at, data):
        with self.lock:
            if self.on:
                self.cached.append((at, data))
                self.writes += 1
                if len(self.cached) > 512:  # a cache is not endless: the oldest half goes to the disk
                    self.write_through(256)

    def write_through(self, n):
        for at, data in self.cached[:n]:
            self.flushed[at:at + len(data)] = data
        del self.cached[:n]

    def flush(self):
        with self.lock:
            if self.on:
                self.flushes += 1
                self.write_through(len(self.cached))

    def cut(self, rng, share=None):
        """The power goes: of what is cached any sectors in any order have reached the disk. Until power() nothing else does. How many writes were lost."""
        with self.lock:
            self.on, lost, share = False, 0, rng.choice((0, 0.5, 0.9, 1)) if share is None else share
            for at, data in self.cached:
                for i in range(0, len(data), SECTOR) if rng.random() < 0.3 else (0,):  # most as a whole, some torn
                    piece = data if i == 0 and len(data) <= SECTOR else data[i:i + SECTOR]
                    if rng.random() < share:
                        self.flushed[at + i:at + i + len(piece)] = piece
                    else:
                        lost += 1
            self.cached.clear()
            return lost

    def power(self):
        with self.lock:
            self.on = True


class Fuse(threading.Thread):
    """Gives the medium out as the only file of a file system."""

    def __init__(self, medium, folder):
        super().__init__(daemon=True)
        self.medium, self.folder = medium, folder
        self.fd = os.open('/dev/fuse', os.O_RDWR)
        call('mount', 'reel-disk', folder, 'fuse', ctypes.c_ulong(MS_NOSUID | MS_NODEV), 'fd=%d,rootmode=40000,user_id=0,group_id=0' % self.fd)

    def run(self):
        libc.prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0)  # its own memory is not to be got by writing to itself
        while True:
            try:
                request = os.read(self.fd, WRITE_MAX + 65536)
            except InterruptedError:
                continue
            except OSError as e:
                if e.errno == errno.ENOENT:  # a request that was taken back
                    continue
                break  # unmounted
            _, opcode, unique, node = struct.unpack_from('<IIQQ', request)
            if opcode in SILENT:
                continue
            try:
                code, answer = self.answer(opcode, node, request[40:])
            except Exception as e:  # whoever asked would wait for ever
                print('disk: %r' % e, flush=True)
                code, answer = errno.EIO, b''
            try:
                os.write(self.fd, struct.pack('<IiQ', 16 + len(answer), -code, unique) + answer)
            except OSError:
                pass
        os.close(self.fd)

    def attributes(self, node):
        mode = stat.S_IFDIR | 0o755 if node == ROOT else stat.S_IFREG | 0o600
        return struct.pack('<6Q10I', node, SIZE, SIZE // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def answer(self, opcode, node, body):
        if opcode == INIT:
            major, _, ahead, _ = struct.unpack_from('<4I', body)
            return 0, struct.pack('<4IHHII32x', major, 31, ahead, 1 << 5, 16, 12, WRITE_MAX, 1)  # 1 << 5: large writes
        if opcode == LOOKUP:
            return (0, struct.pack('<4Q2I', FILE, 0, 3600, 3600, 0, 0) + self.attributes(FILE)) if node == ROOT and body == b'disk\0' else (errno.ENOENT, b'')
        if opcode in (GETATTR, SETATTR):
            return 0, struct.pack('<QII', 3600, 0, 0) + self.attributes(node)
        if opcode == OPEN:
            return 0, struct.pack('<QII', 1, 1, 0)  # 1: nothing of it is kept in the page cache
        if opcode in (READ, WRITE):
            time.sleep(self.medium.delay_s)
        if opcode == READ:
            _, at, size = struct.unpack_from('<QQI', body)
            return 0, self.medium.read(at, min(size, max(0, SIZE - at)))
        if opcode == WRITE:
            _, at, size = struct.unpack_from('<QQI', body)
            self.medium.write(at, body[40:40 + size])
            return 0, struct.pack('<II', size, 0)
        if opcode == FSYNC:
            self.medium.flush()
            return 0, b''
        if opcode == STATFS:
            return 0, struct.pack('<5Q10I', SIZE // 4096, 0, 0, 0, 0, 4096, 255, 4096, *[0] * 7)[:80]
        return (0, b'') if opcode in (RELEASE, FLUSH) else (errno.ENOSYS, b'')


class Disk:
    """An ext4 on such a disk, at `folder`."""

    def __init__(self):
        own_namespace(MS_SLAVE)
        self.base = tempfile.mkdtemp(prefix='reel-power-')
        self.folder, self.fuse, self.device = os.path.join(self.base, 'disk'), None, None
        try:
            os.mkdir(self.folder)
            os.mkdir(os.path.join(self.base, 'fuse'))
            self.medium = Medium()
            self.fuse = Fuse(self.medium, os.path.join(self.base, 'fuse'))
            self.fuse.start()
            self.attach()
            run('mkfs.ext4', '-q', '-F', '-E', 'nodiscard', '-J', 'size=8', self.device)
        except Exception as e:
            self.close()
            raise Impossible(str(e)) from e

    def attach(self):
        self.device = run('losetup', '--find', '--show', os.path.join(self.base, 'fuse', 'disk'))

    def mount(self, options=''):
        run('mount', '-t', 'ext4', '-o', 'noatime' + (options and ',' + options), self.device, self.folder)

    def another_boot(self, rng):
        """The system's name of its run, as it is after a loss of power."""
        name = os.path.join(self.base, 'boot_id')
        with open(name, 'w') as f:
            f.write('%032x\n' % rng.getrandbits(128))
        libc.umount2(b'/proc/sys/kernel/random/boot_id', MNT_DETACH)
        call('mount', name, '/proc/sys/kernel/random/boot_id', None, ctypes.c_ulong(MS_BIND), None)

    def detach(self):
        """Everything that the system still holds of it goes, too."""
        subprocess.run(['umount', self.folder], stderr=subprocess.DEVNULL)
        if self.device:
            subprocess.run(['losetup', '--detach', self.device], stderr=subprocess.DEVNULL)
            self.device = None

    def close(self):
        self.detach()
        libc.umount2(os.path.join(self.base, 'fuse').encode(), MNT_DETACH)
        if self.fuse and self.fuse.is_alive():
            self.fuse.join(10)
        subprocess.run(['rm', '-rf', '--one-file-system', self.base])
