"""SIGKILL before each call in turn that changes a file: of every kind of operation, and of the start after it. What fault_kill.py hits by chance is
gone through here step by step (failing.c, preloaded, counts the calls)."""
import os
import random
import shutil
import subprocess
import tempfile
import unittest

from faults import LONG, SEED
from check import Check, lose_catalog
from fault_inject import KINDS, LIBRARY, PRELOAD, Faults
from harness import REEL, Server, eventually
from load import Cut, Load

CHANGES = sum(KINDS[k] for k in ('write', 'sync', 'rename', 'open', 'truncate', 'unlink', 'mkdir'))
WAYS = ('put', 'form', 'twice', 'pair', 'replace', 'pieces', 'copy', 'move', 'reference', 'delete', 'annotate')
STRIDE, CHOSEN, ENOUGH = (1, len(WAYS), 4) if LONG else (45, 4, 1)  # calls between two kills; ways; whole operations that end it: some ways are several
STEPS_MAX = 400


class Steps(unittest.TestCase):
    def setUp(self):
        self.rng = random.Random(SEED)
        if not os.path.exists(LIBRARY):
            self.skipTest('libfailing.so is not built')

    def new_archive(self):
        self.folder = tempfile.mkdtemp(prefix='reel-steps-')
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.data, self.root, control = (os.path.join(self.folder, name) for name in ('data', 'root', 'control'))
        os.mkdir(self.root)
        self.faults = Faults(control, self.folder)
        self.env = {**PRELOAD, 'REEL_FAILING': control}
        self.load = Load(self.root, self.rng.randrange(1 << 30), workers=1)

    def start(self):
        server = self.load.server = Server(self.data, '--import-root', self.root, env=self.env)
        self.addCleanup(server.stop, None)
        return server

    def killed_start(self):
        """One that ends before some call of its own."""
        self.faults.arm(CHANGES, self.rng.randrange(1, 60), -1)
        early = subprocess.Popen([REEL, 'serve', '--data', self.data, '--listen', '127.0.0.1:0', '--import-root', self.root], env={**os.environ, **self.env},
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        early.stdout.readline()  # it listens, or is gone
        early.kill()
        early.communicate()
        self.faults.disarm()

    def work(self, worker, way):
        """One operation to its end, jobs included, or to the server's."""
        try:
            if way in ('copy', 'move', 'reference'):
                worker.import_(way)
            elif way == 'pieces':
                worker.create()
                while worker.uploads:
                    worker.append(worker.uploads[0])
            else:
                getattr(worker, way)()
            over = lambda: all(j['state'] not in ('queued', 'running') for j in worker.ask('GET', '/jobs').json()['items'])
            assert eventually(over), 'jobs do not end'
        except Cut:
            assert self.faults.control.failed > 0, 'the server does not answer, and has not been killed'

    def step(self, server, way, nth):
        """Killed before that call, or all of it is done: which, and the next server."""
        self.load.cutting = True
        self.faults.arm(CHANGES, nth, -1)
        self.work(self.load.workers[0], way)
        done = self.faults.disarm()[0] == 0  # also what it does after an answer can be hit
        if not done:
            server.process.wait()
            server.stop(None)
            if self.rng.random() < 0.3:
                self.killed_start()
            server = self.start()
        Check(self.load, server, self.data).run()
        self.load.workers[0].go_on(1)
        return done, server

    def gone_through(self, way):
        self.new_archive()
        server, kills, done = self.start(), 0, 0
        for _ in range(3):
            self.load.workers[0].put()
        for nth in range(self.rng.randrange(1, STRIDE + 1), STEPS_MAX, STRIDE):
            try:
                whole, server = self.step(server, way, nth)
            except AssertionError as e:
                raise AssertionError('seed %d, %s killed before call %d: %s' % (SEED, way, nth, e)) from None
            done, kills = done + whole, kills + (not whole)
            if done == ENOUGH:
                break
        server.stop()
        lose_catalog(self.data)
        server = self.start()
        Check(self.load, server, self.data).run()
        server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        return kills

    def test_killed_before_each_call(self):
        kills = {way: self.gone_through(way) for way in self.rng.sample(WAYS, CHOSEN)}
        print('  steps: %d kills, before calls of %s' % (sum(kills.values()), kills))


if __name__ == '__main__':
    unittest.main()
