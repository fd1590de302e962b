"""SIGKILL at random moments while recordings are uploaded, imported, deleted, restored, purged and talked about: after each restart everything that was
acknowledged is there whole, nothing half is visible, nothing is left over, and fsck is clean."""
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from faults import LONG, SEED
from check import Check, lose_catalog
from harness import REEL, Server
from load import FAMILIES, Load

WANTED = 200 if LONG else 1       # unanswered requests of each family, at least
ROUNDS, ARCHIVES = (12, 1) if LONG else (7, 2)  # kills of an archive before its catalog is made again from its files, and archives at least


class Kill(unittest.TestCase):
    def setUp(self):
        self.rng = random.Random(SEED)
        self.folder = None

    def new_archive(self):
        self.folder = tempfile.mkdtemp(prefix='reel-kill-')
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.data, self.root = os.path.join(self.folder, 'data'), os.path.join(self.folder, 'root')
        os.mkdir(self.root)

    def start(self):
        server = Server(self.data, '--import-root', self.root)
        self.addCleanup(server.stop, None)
        return server

    def kill_early(self):
        """One that does not even come to listen."""
        command = [REEL, 'serve', '--data', self.data, '--listen', '127.0.0.1:0', '--import-root', self.root]
        early = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        time.sleep(self.rng.random() * 0.08)
        early.kill()
        early.wait()

    def kill_under(self, load, server):
        load.begin(server)
        time.sleep(self.rng.random() ** 2 * 0.6)
        load.cutting = True
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        load.end()
        server.stop(None)

    def archive(self, load):
        """Kills of one archive, each looked at; then it loses its catalog."""
        server = self.start()
        for _ in range(ROUNDS):
            self.kill_under(load, server)
            for _ in range(self.rng.choice((0, 0, 0, 1, 2))):
                self.kill_early()
            server = self.start()
            Check(load, server, self.data).run()
            for worker in load.workers:
                worker.go_on()
        for worker in load.workers:
            worker.go_on(1)
        Check(load, server, self.data).run()
        server.stop()
        lose_catalog(self.data)
        server = self.start()
        Check(load, server, self.data).run()
        server.stop()

    def test_killed_under_load(self):
        interrupted, answered, kills, archives = dict.fromkeys(FAMILIES, 0), 0, 0, 0
        while min(interrupted.values()) < WANTED or archives < ARCHIVES:
            self.new_archive()
            load = Load(self.root, SEED + archives)
            try:
                self.archive(load)
            except AssertionError as e:
                raise AssertionError('seed %d, archive %d: %s' % (SEED, archives, e)) from None
            archives, kills, answered = archives + 1, kills + ROUNDS, answered + sum(load.answered.values())
            for family, n in load.interrupted.items():
                interrupted[family] += n
            shutil.rmtree(self.folder, ignore_errors=True)
        print('  kill: %d archives, %d kills, %d requests answered, unanswered %s' % (archives, kills, answered, interrupted))


if __name__ == '__main__':
    unittest.main()
