"""A network namespace whose way to some services can be cut: packets are then lost in both directions, and nobody is told, as with a cable that is pulled.
Requests of clients still arrive. Nothing of it outlives the test: the namespace goes with the process that holds it."""
import os
import subprocess

from faulty import Faulty
from postgres import Impossible

NOWHERE = '02:00:00:00:00:01'  # nobody has this address on the wire


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Impossible('%s: %s' % (' '.join(command), done.stderr.strip()))
    return done.stdout


class Network:
    """Two addresses at each end of one cable: one for requests of clients, one for the services."""
    def __init__(self):
        if os.geteuid() != 0:
            raise Impossible('only root makes network namespaces')
        self.holder, self.services = None, []
        try:
            self.holder = subprocess.Popen(('setpriv', '--pdeathsig', 'KILL', 'unshare', '--net', 'sleep', 'infinity'), stdin=subprocess.DEVNULL)
            self.make()
        except BaseException as e:
            self.close()
            raise Impossible(str(e)) if isinstance(e, OSError) else e

    def make(self):
        pid = self.holder.pid
        own = os.readlink('/proc/self/ns/net')
        while os.readlink('/proc/%d/ns/net' % pid) == own:  # until it has its own
            if self.holder.poll() is not None:
                raise Impossible('no network namespace can be made here')
        self.wrapper = ('nsenter', '--net=/proc/%d/ns/net' % pid)
        net = '198.18.%d.' % (pid % 256)  # a network for tests of networks
        self.outside, self.inside, self.client, self.ours, self.server, self.theirs = 'reel%d' % pid, 'cable', *(net + n for n in '1234')
        run('ip', 'link', 'add', self.outside, 'type', 'veth', 'peer', 'name', self.inside, 'netns', str(pid))
        for address in (self.client, self.ours):
            run('ip', 'address', 'add', address + '/24', 'dev', self.outside)
        run('ip', 'link', 'set', self.outside, 'up')
        for address in (self.server, self.theirs):
            run(*self.wrapper, 'ip', 'address', 'add', address + '/24', 'dev', self.inside)
        run(*self.wrapper, 'ip', 'link', 'set', self.inside, 'up')
        run(*self.wrapper, 'ip', 'route', 'add', self.ours, 'dev', self.inside, 'src', self.theirs)
        show = ('ip', '-brief', 'link', 'show', 'dev')
        self.wires = [run(*show, self.outside).split()[2], run(*self.wrapper, *show, self.inside).split()[2]]

    def service(self, target):
        """HOST:PORT by which the namespace reaches what is at HOST:PORT here."""
        self.services.append(Faulty(target, self.ours))
        return '%s:%d' % (self.ours, self.services[-1].port)

    def set(self, outside, inside):
        run(*self.wrapper, 'ip', 'neighbour', 'replace', self.ours, 'lladdr', outside, 'dev', self.inside, 'nud', 'permanent')
        run('ip', 'neighbour', 'replace', self.theirs, 'lladdr', inside, 'dev', self.outside, 'nud', 'permanent')

    def cut(self):
        self.set(NOWHERE, NOWHERE)

    def heal(self):
        self.set(*self.wires)

    def close(self):
        for service in self.services:
            service.stop()
        if self.holder:
            self.holder.kill()
            self.holder.wait()
