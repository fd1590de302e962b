"""The power goes at random instants while recordings are uploaded, imported, deleted and talked about. The archive lies on a disk that forgets what was not
flushed (disk.py); the server is started on what is left of it, and everything that was acknowledged must be there whole."""
import os
import random
import signal
import subprocess
import time
import unittest

from faults import LONG, SEED
from check import Check
from disk import Disk, Impossible
from harness import API, REEL, Server
from load import FAMILIES, TUS, Load, b64
from samples import bag, lab_messages

ROUNDS, DISKS = (10, 12) if LONG else (6, 1)
ENDS_WITH_US = ('setpriv', '--pdeathsig', 'KILL')  # or the disk would stay mounted for it
OPTIONS = ('', 'noauto_da_alloc', 'data=writeback,noauto_da_alloc')  # how much ext4 does of itself to make files last


class Power(unittest.TestCase):
    def setUp(self):
        self.rng = random.Random(SEED)

    def new_disk(self):
        try:
            self.disk = Disk()
        except (Impossible, OSError) as e:
            self.skipTest('no disk can be mounted here: %s' % e)
        self.addCleanup(self.disk.close)  # after those of its servers
        self.disk.mount(self.rng.choice(OPTIONS))
        self.root = os.path.join(self.disk.folder, 'root')
        os.mkdir(self.root)
        os.sync()

    def start(self):
        server = Server(os.path.join(self.disk.folder, 'data'), '--import-root', self.root, wrapper=ENDS_WITH_US)
        self.addCleanup(server.stop, None)
        return server

    def cut(self, server, share=None):
        """Whatever was answered before the server stops was there for good; nothing is answered after that, and then the power goes."""
        server.process.send_signal(signal.SIGSTOP)
        lost = self.disk.medium.cut(self.rng, share)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        return lost

    def loss(self, load, server):
        load.begin(server)
        time.sleep(0.05 + self.rng.random() * 0.6)
        load.cutting = load.dark = True
        lost = self.cut(server)
        load.end()
        server.stop(None)
        self.back()
        return lost

    def early_loss(self):
        """While a server starts on what the last loss has left."""
        command = [*ENDS_WITH_US, REEL, 'serve', '--data', os.path.join(self.disk.folder, 'data'), '--listen', '127.0.0.1:0', '--import-root', self.root]
        early = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        time.sleep(self.rng.random() * 0.1)
        lost = self.disk.medium.cut(self.rng)
        early.kill()
        early.wait()
        self.back()
        return lost

    def back(self):
        """The power is back, the system starts anew."""
        self.disk.detach()
        self.disk.medium.power()
        self.disk.another_boot(self.rng)
        self.disk.attach()
        self.disk.mount(self.rng.choice(OPTIONS))

    def archive(self, load):
        server, lost = self.start(), 0
        for _ in range(ROUNDS):
            lost += self.loss(load, server)
            if self.rng.random() < 0.3:
                lost += self.early_loss()
            server = self.start()
            Check(load, server, server.data, lasting=False).run()
            for worker in load.workers:
                worker.go_on()
        for worker in load.workers:
            worker.go_on(1)
        Check(load, server, server.data, lasting=False).run()
        server.stop()
        return lost

    def test_the_power_goes_under_load(self):
        interrupted, answered, lost = dict.fromkeys(FAMILIES, 0), 0, 0
        for number in range(DISKS):
            self.new_disk()
            try:
                load = Load(self.root, SEED + number)
                lost += self.archive(load)
            except AssertionError as e:
                raise AssertionError('seed %d, disk %d: %s' % (SEED, number, e)) from None
            finally:
                self.doCleanups()
            answered += sum(load.answered.values())
            for family, n in load.interrupted.items():
                interrupted[family] += n
        print('  power: %d losses of power, %d requests answered, unanswered %s, %d writes lost in the disk' % (ROUNDS * DISKS, answered, interrupted, lost))


    def test_an_upload_that_was_made_is_there(self):
        """Nothing of it has come yet, and no sync of the catalog takes its name along: SQLite writes over what its log has already, which changes no folder."""
        self.new_disk()
        server = self.start()
        recording = server.added('a.bag', bag(lab_messages(1)))
        log = os.path.join(server.data, 'catalog.db-wal')
        for i in range(1000):
            before = os.path.getsize(log)
            answer = server.request('PUT', '%s/recordings/%s/tags/n?value=%d' % (API, recording, i))
            self.assertIn(answer.status, (200, 201), answer)
            if before > 4_000_000 and os.path.getsize(log) == before:  # it has begun again at its start
                break
        else:
            self.fail('the log does not begin again: %d bytes' % before)
        for _ in range(2):
            answers = [server.request('POST', API + '/uploads', headers={**TUS, 'Upload-Length': '100', 'Upload-Metadata': 'filename ' + b64('b.bag')}) for _ in range(3)]
            self.assertEqual([a.status for a in answers], [201] * 3, answers)
            self.cut(server, 0)
            server.stop(None)
            self.back()
            server = self.start()
            for answer in answers:
                found = server.request('HEAD', answer.headers['Location'], headers=TUS)
                self.assertEqual((found.status, found.headers['Upload-Offset']), (200, '0'), found)
        server.stop()


if __name__ == '__main__':
    unittest.main()
