"""reel ls, search, tag, rm and get: the command line as a client; names of options as in the API, the old ones beside them; completion."""
import json
import os
import shutil
import subprocess
import tempfile

from harness import API, REEL, Case, reel
from samples import bag, lab_messages

COMPLETION = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../packaging/completion/reel.bash')


def lines(*args):
    return reel(*args).stdout.decode().splitlines()


class Lists(Case):
    @classmethod
    def fill(cls):
        for i, name in enumerate(('a.bag', 'day 1/b.bag')):
            cls.server.added(name, bag(lab_messages(2, salt=700 + i)), query='?tag=robot=r%d' % i)
        cls.server.added('c.bag', bag(lab_messages(2, salt=703)), collection='hall')

    def test_lists(self):
        url = self.server.base
        self.assertEqual([line.split()[0::3] for line in lines('ls', url)], [['1', 'hall'], ['2', 'lab']])
        self.assertEqual(lines('ls', url, '--quiet'), ['hall', 'lab'])
        self.assertEqual(lines('ls', url, 'lab', '-q'), ['lab/a.bag', 'lab/day 1/b.bag'])
        line, = lines('ls', url + '/', 'hall')
        self.assertRegex(line, r'^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +\d+\.\ds +[\d.]+ kB  ready      hall/c\.bag$')
        self.assertEqual(lines('ls', url, 'lab', '-q', '--limit', '1'), ['lab/a.bag'])
        rows = [json.loads(line) for line in lines('ls', url, 'lab', '--json')]
        self.assertEqual(rows, self.get(API + '/recordings?collection=lab&sort=name').json()['items'])
        self.assertEqual(lines('search', url, 'robot:r1', '-q'), ['lab/day 1/b.bag'])
        self.assertEqual(sorted(lines('search', url + '?collection=lab', '-q')), ['lab/a.bag', 'lab/day 1/b.bag'])
        self.assertEqual(lines('search', url, '-q', '--', '-robot:r0', '-robot:r1'), ['hall/c.bag'])
        self.assertIn(b'answered 400', reel('search', url, '(x', check=False).stderr)
        self.assertEqual(reel('ls', check=False).returncode, 2)  # no address

    def test_the_address_of_the_environment(self):
        done = subprocess.run([REEL, 'ls', '-q'], env={**os.environ, 'REEL_URL': self.server.base}, stdout=subprocess.PIPE, check=True)
        self.assertEqual(done.stdout, b'hall\nlab\n')

    def test_bash_completes_names_of_the_server(self):
        if not shutil.which('bash'):
            self.skipTest('bash is not installed')
        text = 'source "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _reel; printf "%s\\n" "${COMPREPLY[@]}"'
        for typed, wanted in ((['ls', 'ha'], ['hall']), (['push', '--collection', 'la'], ['lab']), (['rm', 'la'], ['lab/']), (['tag', 'lab/d'], ['lab/day\\ 1/b.bag'])):
            with self.subTest(typed):
                done = subprocess.run(['bash', '-c', text, 'bash', COMPLETION, REEL, *typed], env={**os.environ, 'REEL_URL': self.server.base}, stdout=subprocess.PIPE, check=True)
                self.assertEqual(done.stdout.decode().splitlines(), wanted)


class Changes(Case):
    @classmethod
    def fill(cls):
        cls.folder = tempfile.mkdtemp(prefix='reel-client-')

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)
        super().tearDownClass()

    def test_tags(self):
        url, name = self.server.base, 'tags/t.bag'
        self.server.added('t.bag', bag(lab_messages(2, salt=710)), collection='tags')
        self.assertEqual(lines('tag', url, name), [])
        self.assertEqual(sorted(lines('tag', url, name, 'robot=r9', 'site=a=b')), ['robot=r9', 'site=a=b'])
        self.assertEqual(lines('tag', url, name, '--unset', 'site', 'robot=r8'), ['robot=r8'])
        self.assertEqual(lines('tag', url, '--search', 'collection:tags', 'lot=1'), ['1 found, 1 changed'])
        id = self.get(API + '/recordings/name:tags%2Ft.bag').json()['id']
        self.assertEqual(sorted(lines('tag', url, id)), ['lot=1', 'robot=r8'])
        self.assertIn(b'KEY=VALUE', reel('tag', url, name, 'robot', check=False).stderr)
        self.assertIn(b'UTF-8', reel('tag', url, name, 'a=b', b'k=\xff', check=False).stderr)
        self.assertIn(b'answered 404', reel('tag', url, 'tags/none.bag', 'a=b', check=False).stderr)

    def test_rm(self):
        url = self.server.base
        for i in range(4):
            self.server.added('%d.bag' % i, bag(lab_messages(2, salt=720 + i)), collection='old')
        self.assertEqual(lines('rm', url, 'old/0.bag', '--dry-run'), ['old/0.bag: would be moved to the trash'])
        done = reel('rm', url, 'old/0.bag', 'old/none.bag', 'old/1.bag', check=False)
        self.assertEqual((done.returncode, done.stdout.decode().splitlines()), (1, ['old/0.bag: moved to the trash', 'old/1.bag: moved to the trash']))
        self.assertEqual(lines('rm', url, '--search', 'collection:old', '--quiet'), [])
        self.assertEqual(lines('ls', url, 'old', '-q'), [])
        trashed = lines('search', url + '?state=trashed&collection=old', '-q')
        self.assertEqual(sorted(trashed), ['old/%d.bag' % i for i in range(4)])
        self.assertEqual(reel('rm', url, check=False).returncode, 2)  # never all of them

    def test_get_with_several_connections(self):
        url = self.server.base
        for i in range(12):
            self.server.added('g%d.bag' % i, bag(lab_messages(2, salt=740 + i)), collection='many')
        target = os.path.join(self.folder, 'many')
        self.assertEqual(len(lines('get', '--dry-run', url + '?collection=many', target)), 12)
        self.assertFalse(os.path.exists(target))
        self.assertIn(b'12 received, 0 skipped, 0 failed', reel('get', '-j', '5', url + '?collection=many', target).stderr)
        self.assertEqual(len(os.listdir(os.path.join(target, 'many'))), 12)
        self.assertEqual(reel('get', '--quiet', url + '?collection=many', target).stderr, b'')

    def test_names_of_options_as_in_the_api_and_before(self):
        path = os.path.join(self.folder, 'names.bag')
        with open(path, 'wb') as f:
            f.write(bag(lab_messages(2, salt=760)))
        for new, old in ((('--exclude-topic', '/odom'), ('--exclude', '/odom')), (('--decode', 'none'), ('--no-decode',)),
                         (('--fields', 'ranges[0],angle_min'), ('--field', 'ranges[0]', '--field', 'angle_min'))):
            with self.subTest(new):
                self.assertEqual(reel('cat', path, *new).stdout, reel('cat', path, *old).stdout)
                self.assertNotEqual(reel('cat', path, *new).stdout, reel('cat', path).stdout)
                self.assertNotIn((old[0] + ' ').encode(), reel('cat', '--help').stdout)
        for given, shown in (('90', '90s'), ('90s', '90s'), ('2m', '2m'), ('0', '0')):
            self.assertIn('still-time = %s ' % shown, reel('serve', '--check-config', '--data', self.folder, '--still-time', given).stdout.decode())
        self.assertEqual(reel('serve', '--check-config', '--still-time', '1x', check=False).returncode, 2)
