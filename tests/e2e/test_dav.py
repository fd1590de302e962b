"""/dav: the archive as a folder, for WebDAV clients: listings, originals, exports; by curl and by rclone."""
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import unittest
import xml.etree.ElementTree as ET
from urllib.parse import unquote

from harness import API, Case, Server, eventually
from samples import SECOND, T0, Message, bag, lab_messages, nanover, nanover_messages
from test_frame import image

CAN_MOUNT = os.geteuid() == 0 and os.path.exists('/dev/fuse')
DATA = bag(lab_messages(3, blob=2000))
D = '{DAV:}'


def entries(answer):
    """address → its properties, in order."""
    out = {}
    for response in ET.fromstring(answer.body).findall(D + 'response'):
        properties = response.find(D + 'propstat').find(D + 'prop')
        out[unquote(response.find(D + 'href').text)] = {
            'folder': properties.find(D + 'resourcetype').find(D + 'collection') is not None,
            **{name: (properties.find(D + name).text if properties.find(D + name) is not None else None)
               for name in ('displayname', 'getcontentlength', 'getetag', 'getlastmodified', 'getcontenttype')}}
    return out


class Dav(Case):
    @classmethod
    def fill(cls):
        cls.walk = cls.server.added('walk.bag', DATA)
        cls.server.added('2024/a&b c.bag', bag(lab_messages(4, blob=10)))
        cls.server.added('2024/june/run.bag', bag(lab_messages(5, blob=10)))
        cls.server.added('2024-01.bag', bag(lab_messages(6, blob=10)))
        cls.server.added('other.bag', bag(lab_messages(7, blob=10)), collection='field')
        for i in range(150):
            cls.server.added('many/%03d.bag' % i, DATA[:-4] + i.to_bytes(4, 'little'), collection='field')

    def find(self, path, depth='1', status=207):
        headers = {'Depth': depth} if depth else {}
        answer = self.server.request('PROPFIND', path, headers=headers)
        self.assertEqual(answer.status, status, answer.body[:300])
        return entries(answer) if status == 207 else answer

    def test_root_and_collections(self):
        self.assertEqual(list(self.find('/dav/')), ['/dav/', '/dav/datasets/', '/dav/field/', '/dav/lab/', '/dav/searches/', '/dav/tables/'])
        self.assertEqual(list(self.find('/dav/', '0')), ['/dav/'])
        lab = self.find('/dav/lab/')
        self.assertEqual(list(lab), ['/dav/lab/', '/dav/lab/2024-01.bag', '/dav/lab/2024-01.bag.as/', '/dav/lab/2024/', '/dav/lab/walk.bag', '/dav/lab/walk.bag.as/'])
        self.assertEqual([e['folder'] for e in lab.values()], [True, False, True, True, False, True])
        self.assertEqual(lab['/dav/lab/walk.bag']['getcontentlength'], str(len(DATA)))
        self.assertEqual(list(self.find('/dav/lab')), list(lab))  # with or without the slash

    def test_names_with_slashes_are_folders(self):
        self.assertEqual([k for k in self.find('/dav/lab/2024/') if not k.endswith('.as/')], ['/dav/lab/2024/', '/dav/lab/2024/a&b c.bag', '/dav/lab/2024/june/'])
        self.assertEqual(self.find('/dav/lab/2024/')['/dav/lab/2024/a&b c.bag']['displayname'], 'a&b c.bag')
        self.assertIn('/dav/lab/2024/june/run.bag', self.find('/dav/lab/2024/june'))

    def test_a_folder_of_several_pages(self):
        many = [k for k in self.find('/dav/field/many/') if k.endswith('.bag')]
        self.assertEqual(many, ['/dav/field/many/%03d.bag' % i for i in range(150)])
        self.assertEqual(list(self.find('/dav/field/')), ['/dav/field/', '/dav/field/many/', '/dav/field/other.bag', '/dav/field/other.bag.as/'])

    def test_an_original(self):
        entry = self.find('/dav/lab/walk.bag', '0')['/dav/lab/walk.bag']
        answer = self.get('/dav/lab/walk.bag')
        self.assertEqual((answer.body, answer.headers['ETag'], answer.headers['Last-Modified']), (DATA, entry['getetag'], entry['getlastmodified']))
        self.assertEqual(self.get('/dav/lab/walk.bag', 206, Range='bytes=100-199').body, DATA[100:200])
        self.assertEqual(self.server.request('HEAD', '/dav/lab/walk.bag').headers['Content-Length'], str(len(DATA)))
        self.assertEqual(self.get('/dav/lab/walk.bag', 304, **{'If-None-Match': entry['getetag']}).body, b'')

    def test_exports_are_files_of_the_size_they_have(self):
        files = {k: v for k, v in self.find('/dav/lab/walk.bag.as/').items() if not v['folder']}
        self.assertLessEqual({'/dav/lab/walk.bag.as/walk.mcap', '/dav/lab/walk.bag.as/walk.bag', '/dav/lab/walk.bag.as/walk.tide'}, set(files))
        self.assertFalse([k for k in files if k.endswith(('.ndjson', '.csv', '.log'))])
        for path, entry in files.items():
            answer = self.get(path)
            self.assertEqual((str(len(answer.body)), answer.headers['ETag']), (entry['getcontentlength'], entry['getetag']), path)
            self.assertEqual(self.find(path, '0')[path], entry)
        self.assertEqual(self.get('/dav/lab/walk.bag.as/walk.mcap').body, self.get('%s/recordings/%s/as/walk.mcap' % (API, self.walk)).body)
        self.assertTrue(self.get('/dav/lab/walk.bag.as/rows.ndjson').body.startswith(b'{'))  # not listed, as its length is not known

    def test_videos_are_not_made_to_be_listed(self):
        self.server.added('camera.bag', bag([Message(T0 + i * SECOND, '/camera', image('mono8', 32, 32, bytes(1024)), 'sensor_msgs/Image') for i in range(3)]), collection='camera')
        folder = '/dav/camera/camera.bag.as/'
        files = self.find(folder)
        self.assertIn(folder + 'camera.images.zip', files)
        self.assertNotIn(folder + 'camera.mp4', files)
        self.assertEqual(self.find(folder + 'camera.mp4', '0'), {})
        eventually(lambda: self.server.request('GET', folder + 'camera.mp4').status == 200)
        video = self.get(folder + 'camera.mp4')
        self.assertEqual(self.find(folder)[folder + 'camera.mp4']['getcontentlength'], str(len(video.body)))

    def test_the_suffix_of_a_format_goes(self):
        self.server.added('sim.nanover.zip', nanover(nanover_messages()), collection='zip')
        self.assertIn('/dav/zip/sim.nanover.zip.as/sim.nanover.zip', self.find('/dav/zip/sim.nanover.zip.as/'))

    def test_what_is_not_there(self):
        for path in ('/dav/none/', '/dav/lab/none.bag', '/dav/lab/walk.bag/x', '/dav/lab/none.bag.as/', '/dav/lab/walk.bag.as/x.unknown', '/dav/lab/walk.bag.as/a/b.mcap', '/dav/lab/202'):
            with self.subTest(path):
                self.find(path, '0', 404)
        self.find('/dav/', None, 403)
        self.find('/dav/', 'infinity', 403)
        for method in ('PUT', 'DELETE', 'MKCOL', 'MOVE', 'LOCK', 'PROPPATCH'):
            answer = self.server.request(method, '/dav/lab/walk.bag')
            self.assertEqual((answer.status, answer.headers['Allow']), (405, 'GET, HEAD, PROPFIND, OPTIONS'), method)
        self.assertEqual(self.get('/dav/lab/walk.bag').body, DATA)

    def test_a_folder_as_one_archive(self):
        def members(path):
            answer = self.get(path + '?archive=tar')
            self.assertEqual(answer.headers['Content-Length'], str(len(answer.body)))
            with tarfile.open(fileobj=io.BytesIO(answer.body)) as tar:
                return answer, {m.name: tar.extractfile(m).read() for m in tar}
        answer, files = members('/dav/lab/')
        self.assertEqual(set(files), {'lab/2024-01.bag', 'lab/2024/a&b c.bag', 'lab/2024/june/run.bag', 'lab/walk.bag'})
        self.assertEqual(files['lab/walk.bag'], DATA)
        self.assertEqual(answer.headers['Content-Disposition'].split(';')[1].strip(), 'filename="lab.tar"')
        self.assertEqual(set(members('/dav/lab/2024')[1]), {'2024/a&b c.bag', '2024/june/run.bag'})
        self.assertIn('field/many/149.bag', members('/dav/')[1])
        answer, files = members('/dav/lab/walk.bag.as')
        listed = {k.rsplit('/', 1)[1]: int(v['getcontentlength']) for k, v in self.find('/dav/lab/walk.bag.as/').items() if not v['folder']}
        self.assertEqual({k.rsplit('/', 1)[1]: len(v) for k, v in files.items()}, listed)
        self.assertEqual(files['walk.bag.as/walk.mcap'], self.get('/dav/lab/walk.bag.as/walk.mcap').body)
        part = self.get('/dav/lab/walk.bag.as?archive=tar', 206, Range='bytes=70000-150000', If_Range=answer.headers['ETag'])
        self.assertEqual(part.body, answer.body[70000:150001])
        tables = members('/dav/tables/odom')[1]
        self.assertEqual({v[:4] for v in tables.values()}, {b'PAR1'})
        self.assertProblem(self.get('/dav/lab/none/?archive=tar', 404), 404, 'no such')
        self.assertProblem(self.get('/dav/lab/?archive=rar', 400), 400, 'archive')

    def test_options(self):
        answer = self.server.request('OPTIONS', '/dav/')
        self.assertEqual((answer.status, answer.headers['DAV']), (204, '1'))

    def test_the_newest_revision(self):
        first, second = DATA[:-4] + b'\1\0\1\0', DATA[:-4] + b'\2\0\1\0'
        self.server.added('again.bag', first, collection='revised')
        self.server.added('again.bag', second, '?replace=true', collection='revised')
        self.assertEqual([k for k in self.find('/dav/revised/') if k.endswith('.bag')], ['/dav/revised/again.bag'])
        self.assertEqual(self.get('/dav/revised/again.bag').body, second)

    @unittest.skipUnless(shutil.which('rclone'), 'rclone is not installed')
    def test_rclone(self):
        def rclone(*args):
            remote = ':webdav,url="%s/dav":' % self.server.base
            done = subprocess.run(['rclone', '--config', '/dev/null', args[0], remote + args[1], *args[2:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout
        listed = {line.split(None, 1)[1]: int(line.split(None, 1)[0]) for line in rclone('ls', 'lab').splitlines()}
        self.assertEqual(listed['walk.bag'], len(DATA))
        self.assertIn('2024/june/run.bag', listed)
        with tempfile.TemporaryDirectory() as folder:
            rclone('copy', 'lab', folder)
            for name, size in listed.items():
                self.assertEqual(os.path.getsize(os.path.join(folder, name)), size, name)
            with open(os.path.join(folder, 'walk.bag'), 'rb') as f:
                self.assertEqual(f.read(), DATA)
            with open(os.path.join(folder, 'walk.bag.as', 'walk.mcap'), 'rb') as f:
                self.assertEqual(f.read(), self.get('/dav/lab/walk.bag.as/walk.mcap').body)

    def read_in(self, folder):
        """An original, a part of it and an export, through a mount."""
        with open(os.path.join(folder, 'lab', 'walk.bag'), 'rb') as f:
            self.assertEqual(f.read(), DATA)
            f.seek(1000)
            self.assertEqual(f.read(10), DATA[1000:1010])
        with open(os.path.join(folder, 'lab', 'walk.bag.as', 'walk.mcap'), 'rb') as f:
            self.assertEqual(f.read(), self.get('/dav/lab/walk.bag.as/walk.mcap').body)

    @unittest.skipUnless(CAN_MOUNT and shutil.which('rclone') and shutil.which('fusermount3'), 'rclone cannot mount here')
    def test_rclone_mount(self):
        with tempfile.TemporaryDirectory() as folder:
            mount = subprocess.Popen(['rclone', '--config', '/dev/null', 'mount', '--read-only', ':webdav,url="%s/dav":' % self.server.base, folder], stderr=subprocess.PIPE, text=True)
            try:
                self.assertTrue(eventually(lambda: os.path.ismount(folder) or mount.poll() is not None))
                self.assertIsNone(mount.poll())
                self.assertIn('walk.bag.as', os.listdir(os.path.join(folder, 'lab')))
                self.read_in(folder)
            finally:
                subprocess.run(['fusermount3', '-uz', folder], check=False)
                mount.terminate()
                mount.communicate()

    @unittest.skipUnless(CAN_MOUNT and shutil.which('mount.davfs'), 'davfs2 cannot mount here')
    def test_davfs2(self):
        with tempfile.TemporaryDirectory() as folder:
            at, conf = os.path.join(folder, 'at'), os.path.join(folder, 'conf')
            os.mkdir(at)
            with open(conf, 'w') as f:
                f.write('ask_auth 0\nuse_locks 0\n')
            subprocess.run(['mount.davfs', '-o', 'ro,conf=' + conf, self.server.base + '/dav/', at], stdin=subprocess.DEVNULL, check=True, timeout=30)
            try:
                self.read_in(at)  # no listing: davfs2 1.6 cannot list any server's folders on Linux 6.18
            finally:
                subprocess.run(['umount', at], check=True, timeout=30, stdout=subprocess.DEVNULL)


class Access(unittest.TestCase):
    def test_only_collections_of_the_token(self):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(folder)
            server.added('a.bag', DATA, collection='lab')
            server.added('b.bag', DATA[:-4] + b'\1\1\1\1', collection='secret')
            made = lambda body: server.request('POST', API + '/tokens', body, headers=made.headers).json()['token']
            made.headers = {'Content-Type': 'application/json'}
            admin = made(b'{"name": "admin", "role": "admin"}')
            made.headers['Authorization'] = 'Bearer ' + admin
            reader = made(b'{"name": "reader", "role": "read", "collections": ["lab"]}')
            find = lambda path, **headers: server.request('PROPFIND', path, headers={'Depth': '1', **headers})
            self.assertEqual(find('/dav/').status, 401)
            self.assertEqual(server.request('GET', '/dav/lab/a.bag').status, 401)
            seen = {'Authorization': 'Bearer ' + reader}
            self.assertEqual(list(entries(find('/dav/', **seen))), ['/dav/', '/dav/lab/', '/dav/tables/'])
            self.assertEqual([find(path, **seen).status for path in ('/dav/lab/', '/dav/secret/', '/dav/secret/b.bag', '/dav/secret/b.bag.as/')], [207, 404, 404, 404])
            self.assertEqual([server.get(path, **seen).status for path in ('/dav/lab/a.bag', '/dav/secret/b.bag', '/dav/secret/b.bag.as/b.mcap')], [200, 404, 404])
            server.stop()


if __name__ == '__main__':
    unittest.main()
