"""Commands run as root on another user's archive: its files stay that user's, and can be served without root."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import API, REEL, Server, files_below, reel, in_a_folder
from samples import bag, lab_messages

NOBODY = 65534
AS_NOBODY = ('setpriv', '--reuid', str(NOBODY), '--regid', str(NOBODY), '--clear-groups')


def copy_program(folder):
    """The program, and the library of ours that it needs: NOBODY cannot read them in a clone below /root."""
    loaded = subprocess.run(['ldd', REEL], stdout=subprocess.PIPE, check=True).stdout.decode()
    ours = [path for path in re.findall(r'=> (.+) \(0x', loaded) if path.startswith(os.path.dirname(REEL) + '/')]
    for path in (REEL, *ours):
        shutil.copy(path, folder)
    return os.path.join(folder, os.path.basename(REEL))


@unittest.skipUnless(os.geteuid() == 0 and shutil.which('setpriv'), 'needs root and setpriv')
class Own(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-e2e-')
        self.addCleanup(shutil.rmtree, self.folder, True)
        os.chmod(self.folder, 0o755)
        self.data = os.path.join(self.folder, 'data')
        server = Server(self.data)
        self.addCleanup(server.stop, None)
        self.rid = server.added('a.bag', bag(lab_messages(1)))
        server.stop()
        for path in self.everything():
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

    def file(self, name, seconds):
        path = os.path.join(self.folder, name)
        with open(path, 'wb') as f:
            f.write(bag(lab_messages(seconds)))
        os.chmod(path, 0o600)
        return path

    def everything(self):
        return [self.data] + [os.path.join(where, name) for where, folders, files in os.walk(self.data) for name in folders + files]

    def roots(self):
        """What is not its owner's any more."""
        return [p for p in self.everything() if (os.lstat(p).st_uid, os.lstat(p).st_gid) != (NOBODY, NOBODY)]

    def reel(self, *args, check=True):
        done = reel(*args, '--data', self.data, check=check)
        self.assertEqual(self.roots(), [], args)
        return done.stdout.decode()

    def served(self, token=None):
        """By its owner: what is there is read, more is taken."""
        who = {'Authorization': 'Bearer ' + token} if token else {}
        server = Server(self.data, wrapper=AS_NOBODY, program=copy_program(self.folder), env={'LD_LIBRARY_PATH': self.folder})
        self.addCleanup(server.stop, None)
        names = [i['name'] for i in server.get(API + '/recordings', **who).json()['items']]
        self.assertEqual(server.get('%s/recordings/%s/messages' % (API, self.rid), **who).status, 200)
        self.assertEqual(server.put('c.bag', bag(lab_messages(3)), **who).status, 201)
        server.stop()
        return sorted(names)

    @in_a_folder
    def test_commands_of_root_leave_nothing_of_root(self):
        token = re.search(r'reel_[\w-]+', self.reel('token', 'create', '--role', 'admin', '--name', 'me')).group()
        self.reel('token', 'rotate')
        self.reel('import', self.file('b.bag', 2))
        self.reel('import', '--mode', 'move', self.file('m.bag', 4))
        self.reel('rescan', '--all')
        for pack in [p for p in files_below(self.data) if p.endswith('.reel')]:
            os.unlink(pack)
        stranger = os.path.join(os.path.dirname(pack), os.path.basename(os.path.dirname(pack)) + '0' * 62)
        with open(stranger, 'w'):
            os.chown(stranger, NOBODY, NOBODY)
        self.reel('fsck', '--repair', check=False)  # it found something to repair
        self.assertEqual(os.listdir(os.path.join(self.data, 'lost+found')), [os.path.basename(stranger)])
        self.reel('scrub')
        self.assertEqual(self.served(token), ['a.bag', 'b.bag', 'm.bag'])
        self.assertEqual(self.roots(), [])

    def test_a_new_catalog_is_the_owners_as_well(self):
        self.reel('fsck', '--rebuild', check=False)
        self.assertEqual(self.served(), ['a.bag'])

    def test_root_may_serve_for_a_while(self):
        server = Server(self.data)
        self.addCleanup(server.stop, None)
        server.added('b.bag', bag(lab_messages(2)))
        answer = server.request('POST', API + '/uploads?name=part.bag', b'', {'Tus-Resumable': '1.0.0', 'Upload-Length': '9'})
        self.assertEqual(answer.status, 201, answer)
        server.stop()
        self.assertEqual(self.roots(), [])
        self.assertEqual(self.served(), ['a.bag', 'b.bag'])

