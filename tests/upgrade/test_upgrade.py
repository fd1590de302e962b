"""Archives that released versions have left (make.py): the program of today opens each, everything is there, fsck finds nothing."""
import fnmatch
import glob
import os
import re
import shutil
import struct
import tempfile
import unittest
import urllib.parse

import contents
from harness import Server, eventually, files_below, in_a_file, in_a_folder, reel

HERE = os.path.dirname(os.path.abspath(__file__))
VERSIONS = sorted(os.path.basename(os.path.dirname(p)) for p in glob.glob(os.path.join(HERE, '*', 'archive.tar.xz')))
# What answers otherwise than it did, and why: {version: {path, where * stands for anything: reason}}.
CHANGED = {
    '1.0.0': {
        '/recordings/*/as/x.mcap*': 'the entity tag has a new version of the conversion between ROS 1 and ROS 2',
        '/recordings/*/as/x.bag': 'so has this one',
        '/recordings/dbcfb9ec44233deaa301179d1320d24b*': 'its times, 1000 s after 1970, are a clock of its own now',
    },
}


def lost(old, new, path=''):
    """Where `new` lacks something of `old`, or has it otherwise; members may be added."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [x for k in old for x in (lost(old[k], new[k], path + '.' + k) if k in new else [path + '.' + k + ' is gone'])]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [x for i, (a, b) in enumerate(zip(old, new)) for x in lost(a, b, '%s[%d]' % (path, i))]
    return [] if old == new else ['%s: %.200r is now %.200r' % (path, old, new)]


def localized(value, root):
    if isinstance(value, dict):
        return {k: localized(v, root) for k, v in value.items()}
    if isinstance(value, list):
        return [localized(v, root) for v in value]
    return value.replace(root, contents.FILES) if isinstance(value, str) else value


@in_a_file
@in_a_folder
class Upgrade(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-upgrade-')
        self.addCleanup(shutil.rmtree, self.folder, True)

    def start(self, *args):
        server = Server(self.data, '--import-root', self.root, '--rescan-interval', '1', *args)
        self.addCleanup(server.stop, None)
        return server, contents.Archive(server, self.noted['token'])

    def unpack(self, version):
        self.data, self.root, self.noted = contents.unpack(os.path.join(HERE, version), tempfile.mkdtemp(dir=self.folder))

    def clean(self):
        done = reel('fsck', '--data', self.data, '--import-root', self.root, check=False)
        self.assertEqual(done.returncode, 0, done.stdout.decode())

    @staticmethod
    def has_changed(version, path):
        return any(fnmatch.fnmatchcase(path, pattern) for pattern in CHANGED.get(version, {}))

    def compare(self, version, new, *ignored):
        """`ignored`: what a difference contains that is expected here."""
        wrong, new = [], localized(new, os.path.realpath(self.root))
        for path, answer in self.noted['answers'].items():
            if not self.has_changed(version, path):
                wrong += [w for w in lost(answer, new.get(path, {}), path) if not any(word in w for word in ignored)]
        self.assertFalse(wrong, 'name what changed, and why, in CHANGED:\n' + '\n'.join(wrong[:40]))

    def compare_anew(self, version, archive):
        """Where indexes and statistics are made again, which changes rows."""
        for search in (p for p in self.noted['answers'] if p.startswith('/search/values')):
            self.assertTrue(eventually(lambda: not archive.ask(search).json()['pending']))
        self.compare(version, archive.answers(self.noted), '.updated: ', '/webhooks/')

    def test_each_archive_is_complete(self):
        self.assertIn('1.0.0', VERSIONS)
        for version in VERSIONS:
            with self.subTest(version=version):
                self.unpack(version)
                pending = reel('serve', '--check-config', '--data', self.data).stdout.decode()
                self.assertRegex(pending, '# catalog: version [0-9]+, ')
                server, archive = self.start()
                self.assertGreater(len(self.noted['answers']), 200)
                self.compare_anew(version, archive)
                found = lambda q: {r['id'] for r in archive.items('/recordings?limit=100&q=' + q)}  # noqa: E731
                self.assertTrue(found('robot:r1') <= found('r1'))
                for event in archive.items('/events'):
                    self.assertIn(event['recording'], found(urllib.parse.quote('"%s"' % event['title'])))
                server.stop()
                self.clean()

    def test_an_archive_goes_on(self):
        """Recordings that grow, uploads that are half done."""
        for version in VERSIONS:
            with self.subTest(version=version):
                self.unpack(version)
                server, archive = self.start()
                live, = archive.items('/recordings?state=recording')
                row = b'{"topic": "/a", "log_time": 1700000000000000003, "data": {"x": 3}}\n'
                answer = archive.ask('/recordings/%s/messages' % live['id'], 'POST', row, Content_Type='application/x-ndjson')
                self.assertEqual(answer.status, 200, answer)
                self.assertEqual(archive.ask('/recordings/%s/finish' % live['id'], 'POST').json()['messages'], 4)
                path = self.noted['uploads'][0]
                offset, length = (int(self.noted['answers'][path][k]) for k in ('offset', 'length'))
                answer = archive.ask(path, 'PATCH', bytes(length - offset), Tus_Resumable='1.0.0', Upload_Offset=str(offset), Content_Type='application/offset+octet-stream')
                self.assertIn(answer.status, (204, 422), answer)  # its end is not that of the file
                server.stop()
                self.clean()

    def test_derived_files_of_another_version_are_made_again(self):
        """Index packs, statistics and what is in derived/: their version is 255, or the file is cut or empty."""
        for version in VERSIONS:
            for change in (self.version_of_tomorrow, self.cut, self.empty):
                with self.subTest(version=version, change=change.__name__):
                    self.unpack(version)
                    derived = [p for p in files_below(self.data) if p.endswith(('.reel', '.stats')) or '/derived/' in p]
                    for kind, least in (('.reel', 10), ('.stats', 3), ('.jpg', 2)):
                        self.assertGreaterEqual(len([p for p in derived if p.endswith(kind)]), least)
                    for path in derived:
                        change(path)
                    server, archive = self.start()
                    self.compare_anew(version, archive)
                    server.stop()
                    if change != self.version_of_tomorrow:  # that of a recording in the trash is not made again before
                        reel('fsck', '--repair', '--data', self.data, '--import-root', self.root, check=False)
                    self.clean()

    def test_manifests_of_another_version_are_written_again(self):
        """Nothing is read from them while the catalog is there."""
        for version in VERSIONS:
            with self.subTest(version=version):
                self.unpack(version)
                manifests = [p for p in files_below(os.path.join(self.data, 'blobs')) if p.endswith('.json')]
                for path in manifests:
                    with open(path, encoding='utf-8') as f:
                        text = f.read()
                    self.assertIn('"reel_manifest": ', text)
                    with open(path, 'w', encoding='utf-8') as f:
                        f.write(re.sub('"reel_manifest": [0-9]+', '"reel_manifest": 255', text))
                server, archive = self.start()
                self.compare_anew(version, archive)
                one = archive.items('/recordings?q=drive&limit=1')[0]
                self.assertEqual(archive.ask('/recordings/' + one['id'], 'PATCH', {'description': 'new'}).status, 200)
                server.stop()
                done = reel('fsck', '--repair', '--data', self.data, '--import-root', self.root, check=False)
                self.assertEqual(done.returncode, 1, done)
                found, repaired = map(int, re.search('([0-9]+) problems found, ([0-9]+) repaired', done.stdout.decode()).groups())
                self.assertGreater(found, 0)  # those of recordings that were scanned again are written anew
                self.assertEqual(repaired, found)
                self.clean()

    def test_a_lost_catalog_is_made_again(self):
        """From the manifests and settings of that version: all but tokens, jobs, uploads, changes and the audit log."""
        kept = ('', '/notes', '/events', '/topics', '/scan', '/messages?limit=3')
        for version in VERSIONS:
            with self.subTest(version=version):
                self.unpack(version)
                os.unlink(os.path.join(self.data, 'catalog.db'))
                done = reel('token', 'create', '--data', self.data, '--role', 'admin', '--name', 'again')
                self.noted['token'] = done.stdout.decode().strip()
                server, archive = self.start()
                self.assertTrue(eventually(archive.is_quiet))
                paths = [p for p in self.noted['answers'] if p in ('/searches', '/collections/lab', '/collections/lab/layouts', '/tags/robot', '/admin/retention') or
                         re.fullmatch('/recordings/[0-9a-f]{32}(%s)' % '|'.join(map(re.escape, kept)), p)]
                self.assertGreater(len(paths), 100)
                paths = [p for p in paths if not self.has_changed(version, p)]
                wrong = [w for p in paths for w in lost(self.noted['answers'][p], localized(archive.answer(p), os.path.realpath(self.root)), p)]
                wrong = [w for w in wrong if '.updated: ' not in w and '.author: ' not in w]
                self.assertFalse(wrong, '\n'.join(wrong[:40]))
                server.stop()

    @staticmethod
    def version_of_tomorrow(path):
        with open(path, 'r+b') as f:
            if path.endswith(('.reel', '.stats')):  # thumbnails have it in their names
                f.seek(8)
                f.write(struct.pack('<I', 255))

    @staticmethod
    def cut(path):
        os.truncate(path, os.path.getsize(path) // 2)

    @staticmethod
    def empty(path):
        os.truncate(path, 0)
