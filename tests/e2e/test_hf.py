"""/hf: datasets and collections by the protocol of the Hugging Face Hub; its clients are in tests/peers/peer_hub.py."""
import hashlib
import json
import re
import shutil
import unittest
from urllib.parse import quote, urlencode

import test_dataset_videos
import test_datasets  # not its class, whose tests would run here, too
from harness import API, Case, Server, create_token
from samples import bag, lab_messages
from test_datasets import FILES, STATE, VALUE, sample

BASE = '/hf/api/datasets/'
FOLDERS = ['data', 'data/chunk-000', 'meta', 'meta/episodes', 'meta/episodes/chunk-000']


def code(answer):
    return answer.status, answer.headers['X-Error-Code']


class Hub:
    def info(self, name, revision=None, query='', status=200):
        return self.get(BASE + name + ('/revision/' + revision if revision else '') + query, status).json()

    def tree(self, name, path='', revision='main', **params):
        """All pages: the entries by path, in order."""
        entries, at = [], '%s%s/tree/%s%s?%s' % (BASE, name, revision, path and '/' + quote(path, safe=''), urlencode(params))
        while at:
            page = self.get(at)
            entries += page.json()
            at = page.next_path()
        return {e['path']: e for e in entries}

    def resolve(self, name, path, revision='main', status=200, **headers):
        return self.get('/hf/datasets/%s/resolve/%s/%s' % (name, revision, path), status, **headers)

    def paths_info(self, name, paths, expand=False, as_json=False, status=200):
        body = json.dumps({'paths': paths, 'expand': expand}) if as_json else urlencode([*(('paths', p) for p in paths), ('expand', str(expand))])
        kind = 'application/json' if as_json else 'application/x-www-form-urlencoded'
        answer = self.server.request('POST', BASE + name + '/paths-info/main', body, {'Content-Type': kind})
        self.assertEqual(answer.status, status, answer)
        return answer.json()


class Repositories(Hub, Case):
    @classmethod
    def fill(cls):
        test_datasets.Datasets.add(cls.server)
        for name in ('lab/pick', 'solo'):
            test_datasets.Datasets.put(cls.server, name, VALUE)

    def test_info(self):
        info = self.info('lab/pick')
        self.assertEqual((info['id'], info['private'], [s['rfilename'] for s in info['siblings']]), ('lab/pick', False, FILES))
        self.assertEqual(info['sha'], self.get(API + '/datasets/lab/pick?report').json()['sha'])
        self.assertRegex(info['lastModified'], r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$')
        for revision in ('main', 'HEAD', 'v3.0', info['sha']):
            self.assertEqual(self.info('lab/pick', revision), info)
        self.assertEqual(self.info('lab/pick', 'main', '?expand=sha&expand=gated')['siblings'], [])
        for sibling in self.info('lab/pick', query='?blobs=true')['siblings']:
            body = self.resolve('lab/pick', sibling['rfilename']).body
            self.assertEqual((sibling['size'], sibling['lfs']['size'], sibling['lfs']['sha256']), (len(body), len(body), hashlib.sha256(body).hexdigest()))
        self.assertEqual([self.info(name)['sha'] for name in ('solo', 'reel/solo', 'reel/lab/pick')], [info['sha']] * 3)

    def test_refs(self):
        sha = self.info('lab/pick')['sha']
        refs = self.get(BASE + 'lab/pick/refs').json()
        self.assertEqual([(r['name'], r['ref'], r['targetCommit']) for r in refs['branches'] + refs['tags']],
                         [('main', 'refs/heads/main', sha), ('v3.0', 'refs/tags/v3.0', sha)])
        commit, = self.get(BASE + 'lab/pick/commits/main').json()
        self.assertEqual(commit['id'], sha)

    def test_tree(self):
        tree = self.tree('lab/pick', recursive='True', expand='False')
        self.assertEqual([p for p, e in tree.items() if e['type'] == 'file'], FILES)
        self.assertEqual([p for p, e in tree.items() if e['type'] == 'directory'], FOLDERS)
        for path in FILES:
            body = self.resolve('lab/pick', path).body
            self.assertEqual((tree[path]['size'], tree[path]['lfs']['oid']), (len(body), hashlib.sha256(body).hexdigest()))
            self.assertRegex(tree[path]['oid'], '^[0-9a-f]{40}$')
        self.assertEqual(list(self.tree('lab/pick')), ['README.md', 'data', 'meta'])
        self.assertEqual(list(self.tree('lab/pick', 'meta/episodes')), ['meta/episodes/chunk-000'])
        self.assertEqual(list(self.tree('lab/pick', 'meta', recursive='true')), ['meta/episodes', 'meta/episodes/chunk-000', *FILES[3:]])
        commits = {e['lastCommit']['id'] for e in self.tree('lab/pick', recursive='true', expand='true').values()}
        self.assertEqual(commits, {self.info('lab/pick')['sha']})

    def test_pages_join_to_the_whole(self):
        for name, path in (('lab/pick', ''), ('lab/pick', 'meta'), ('lab', ''), ('lab', 'a.bag.as')):
            for recursive in ('true', 'false'):
                whole = self.tree(name, path, recursive=recursive)
                for limit in (1, 2, 3):
                    self.assertEqual(list(self.tree(name, path, recursive=recursive, limit=limit).items()), list(whole.items()), (name, path, recursive, limit))

    def test_files(self):
        sha = self.info('lab/pick')['sha']
        for path in FILES:
            answer = self.resolve('lab/pick', path, sha)
            tag = hashlib.sha256(answer.body).hexdigest()
            head = self.server.request('HEAD', '/hf/datasets/lab/pick/resolve/main/' + path, headers={'Accept-Encoding': 'identity'})
            for one in (answer, head):
                self.assertEqual([one.headers[n] for n in ('X-Repo-Commit', 'X-Linked-Etag', 'X-Linked-Size', 'Content-Length')],
                                 [sha, '"%s"' % tag, str(len(answer.body)), str(len(answer.body))])
            self.assertEqual(answer.body, self.get('/dav/datasets/lab/pick/' + path).body)
            self.assertEqual(self.resolve('lab/pick', path, status=206, Range='bytes=3-7').body, answer.body[3:8])
        self.assertIn('data_files: data/*/*.parquet', self.resolve('lab/pick', 'README.md').body.decode())

    def test_paths_info(self):
        for as_json in (False, True):
            paths = ['meta/info.json', 'none', 'data', 'data/chunk-000/file-001.parquet']
            found = self.paths_info('lab/pick', paths, True, as_json)
            self.assertEqual([(e['path'], e['type']) for e in found], [(paths[0], 'file'), (paths[2], 'directory'), (paths[3], 'file')])
            self.assertEqual({e['lastCommit']['id'] for e in found}, {self.info('lab/pick')['sha']})
        self.assertEqual(self.paths_info('lab/pick', ['meta/info.json'])[0], self.tree('lab/pick', 'meta')['meta/info.json'])

    def test_collections(self):
        info = self.info('lab')
        self.assertEqual([s['rfilename'] for s in info['siblings']], ['a.bag', 'b.bag', 'c.bag'])
        self.assertEqual(self.info('reel/lab')['sha'], info['sha'])
        self.assertEqual(self.get(BASE + 'lab/refs').json()['tags'], [])
        self.assertEqual(list(self.tree('lab')), ['a.bag', 'a.bag.as', 'b.bag', 'b.bag.as', 'c.bag', 'c.bag.as'])
        original = self.resolve('lab', 'a.bag', info['sha'])
        self.assertEqual((original.body, original.headers['X-Linked-Etag']), (sample(3), '"%s"' % hashlib.sha256(sample(3)).hexdigest()))
        listed = self.tree('lab', 'a.bag.as')['a.bag.as/a.mcap']
        mcap = self.resolve('lab', 'a.bag.as/a.mcap')
        self.assertNotIn('lfs', listed)  # its tag is not that of its bytes
        self.assertEqual((len(mcap.body), mcap.headers['X-Linked-Size'], mcap.headers['X-Linked-Etag']), (listed['size'], str(listed['size']), '"%s"' % mcap.headers['X-Linked-Etag'].strip('"')))
        self.assertRegex(mcap.headers['X-Linked-Etag'], '^"[0-9a-f]{40}"$')

    def test_what_is_not_there(self):
        ask = lambda path: code(self.server.get(path))
        sha = self.info('lab/pick')['sha']
        for name in ('none', 'none/none', 'lab/none', 'lab/', 'a/b/c/d', 'datasets', 'searches', 'tables', 'reel/none', 'models/x'):
            self.assertEqual(ask(BASE + name), (404, 'RepoNotFound'), name)
            self.assertEqual(ask('/hf/datasets/%s/resolve/main/meta/info.json' % name), (404, 'RepoNotFound'), name)
        for name in ('lab/pick', 'lab'):
            for revision in ('v2.1', 'refs%2Fpr%2F1', 'refs%2Fconvert%2Fparquet', '0' * 40, sha[:39], sha.upper(), 'f' * 40, 'x' * 3000):
                self.assertEqual(ask(BASE + name + '/revision/' + revision), (404, 'RevisionNotFound'), revision[:50])
                self.assertEqual(ask('/hf/datasets/%s/resolve/%s/a.bag' % (name, revision)), (404, 'RevisionNotFound'), revision[:50])
        for path in ('none', 'meta', 'meta/none', 'meta/info.json/x', 'a/' * 20 + 'b', 'pick.py', 'dataset_infos.json'):
            answer = self.resolve('lab/pick', path, status=404)
            self.assertEqual((code(answer), answer.headers['X-Repo-Commit']), ((404, 'EntryNotFound'), sha), path)
        for path in ('none', 'meta/info.json'):
            self.assertEqual(ask(BASE + 'lab/pick/tree/main/' + path), (404, 'EntryNotFound'))

    def test_hostile(self):
        for path in ('..', '../../lab/a.bag', '%2e%2e/lab', 'meta/../../solo/meta/info.json', 'meta%2F..%2F..', 'a%00b', '%ff', '%zz'):
            for start in ('/hf/datasets/lab/pick/resolve/main/', BASE + 'lab/pick/tree/main/'):
                self.assertIn(self.server.get(start + path).status, (400, 404), path)
        found = self.paths_info('lab/pick', ['../solo/meta/info.json', '/etc/passwd', '/', '..', 'meta//info.json', 'x' * 5000, './meta/info.json'])
        self.assertEqual(found, [])
        self.paths_info('lab/pick', ['meta/info.json'] * 101, status=400)
        self.assertEqual(self.paths_info('lab/pick', ['meta/info.json'] * 100)[99]['path'], 'meta/info.json')
        for body in (b'paths=%zz', b'{"paths": 5}', b'\xff' * 10, b'&' * 1000, b'paths'):
            for kind in ('application/json', 'application/x-www-form-urlencoded'):
                answer = self.server.request('POST', BASE + 'lab/pick/paths-info/main', body, {'Content-Type': kind})
                self.assertIn(answer.status, (200, 400), body)
        big = self.server.request('POST', BASE + 'lab/pick/paths-info/main', b'paths=' + b'x' * (2 << 20))
        self.assertEqual(big.status, 413)
        for query in ('limit=0', 'limit=1001', 'limit=x'):
            self.assertEqual(self.server.get('%slab/pick/tree/main?%s' % (BASE, query)).status, 400, query)
        for cursor in ('zzz', '../..', '/', '%C3%A9', 'meta/', 'x' * 3000):
            self.assertEqual(self.server.get('%slab/pick/tree/main?cursor=%s' % (BASE, cursor)).status, 200, cursor)
        for method, status in (('PUT', 405), ('DELETE', 405), ('PATCH', 405)):
            self.assertEqual(self.server.request(method, BASE + 'lab/pick', b'x').status, status)
        for path in ('commit/main', 'preupload/main', 'branch/x'):
            self.assertEqual(self.server.request('POST', BASE + 'lab/pick/' + path, b'x').status, 403)


class Revisions(Hub, Case):
    """A sha goes on meaning the same bytes, or is not found."""

    def add(self, name, salt, **tags):
        key = self.server.added(name, sample(1, salt))
        for tag, value in tags.items():
            self.server.request('PUT', '%s/recordings/%s/tags/%s?value=%s' % (API, key, tag, value))
        return key

    def test_of_a_dataset(self):
        self.add('one.bag', 1, run='yes')
        test_datasets.Datasets.put(self.server, 'set', {**VALUE, 'search': {'q': 'run:yes'}})
        old = self.info('set')
        self.add('two.bag', 2, run='yes')
        new = self.info('set')
        self.assertNotEqual(new['sha'], old['sha'])
        self.assertEqual(len(new['siblings']), len(old['siblings']) + 1)
        answer = self.resolve('set', 'meta/info.json', old['sha'], 404)
        self.assertEqual(code(answer), (404, 'RevisionNotFound'))

    def test_of_a_collection(self):
        self.add('first.bag', 3)
        old = self.info('lab')
        key = self.add('later.bag', 4)
        new = self.info('lab')
        self.assertNotEqual(new['sha'], old['sha'])
        self.assertEqual({s['rfilename'] for s in new['siblings']} - {s['rfilename'] for s in old['siblings']}, {'later.bag'})
        self.assertEqual(self.info('lab', old['sha'])['siblings'], old['siblings'])
        self.assertNotIn('later.bag', self.tree('lab', revision=old['sha'], recursive='true'))
        self.assertEqual(self.resolve('lab', 'first.bag', old['sha']).body, sample(1, 3))
        self.assertEqual(code(self.resolve('lab', 'later.bag', old['sha'], 404)), (404, 'EntryNotFound'))
        self.assertEqual(self.resolve('lab', 'later.bag', new['sha']).body, sample(1, 4))
        self.assertEqual(self.server.request('DELETE', '%s/recordings/%s' % (API, key)).status, 204)
        self.assertEqual(code(self.resolve('lab', 'later.bag', new['sha'], 404)), (404, 'EntryNotFound'))


@unittest.skipUnless(shutil.which('ffmpeg'), 'needs ffmpeg')
class Videos(Hub, Case):
    def test_what_is_proposed_of_images(self):
        key = self.server.added('seen.bag', test_dataset_videos.sample(2, 1))
        preview = lambda value: self.server.request('POST', API + '/datasets:preview', json.dumps({'value': value})).json()
        proposed = preview({'recordings': [key]})['proposed']
        images = {'observation.images.front': '/front', 'observation.images.wrist': '/wrist'}
        self.assertEqual(proposed, {'recordings': [key], 'fps': 25, 'features': {'observation.state': STATE, **images}})
        self.assertEqual(set(preview({'recordings': [key], 'clock': '/front'})['proposed']), {'recordings', 'clock', 'features'})
        test_datasets.Datasets.put(self.server, 'lab/seen', proposed)
        files = [s['rfilename'] for s in self.info('lab/seen')['siblings']]
        for image in images:
            path = 'videos/%s/chunk-000/file-000.mp4' % image
            self.assertIn(path, files)
            answer = self.resolve('lab/seen', path)
            self.assertEqual((answer.body[4:8], answer.headers['Content-Type']), (b'ftyp', 'video/mp4'))
            self.assertEqual(answer.headers['X-Linked-Etag'], '"%s"' % hashlib.sha256(answer.body).hexdigest())
            self.assertEqual(self.resolve('lab/seen', path, status=206, Range='bytes=100-199').body, answer.body[100:200])


class Callers(unittest.TestCase):
    def test_rights(self):
        server = Server()
        self.addCleanup(server.stop)
        key = server.added('a.bag', sample(1))
        server.added('b.bag', bag(lab_messages(1)), collection='field')
        test_datasets.Datasets.put(server, 'field/pick', {'recordings': [key], 'fps': 10, 'features': {'action': '/odom.x'}})
        whole, limited = create_token(server, 'read', 'whole'), create_token(server, 'read', 'limited', '--collection', 'field')

        def ask(path, token):
            answer = server.get(path, **({'Authorization': 'Bearer ' + token} if token else {}))
            return answer.status, answer.headers['X-Error-Code']
        paths = [BASE + 'field/pick', BASE + 'lab', BASE + 'field', '/hf/datasets/field/pick/resolve/main/meta/info.json', '/hf/datasets/lab/resolve/main/a.bag',
                 '/hf/datasets/field/resolve/main/b.bag']
        self.assertEqual([ask(p, None) for p in paths], [(401, None)] * 6)
        self.assertEqual([ask(p, 'hf_none') for p in paths], [(401, None)] * 6)
        for token in (whole, 'hf_' + whole):
            self.assertEqual([ask(p, token) for p in paths], [(200, None)] * 6)
        hidden, seen = (404, 'RepoNotFound'), (200, None)
        self.assertEqual([ask(p, limited) for p in paths], [hidden, hidden, seen, hidden, hidden, seen])
        me = server.get('/hf/api/whoami-v2', Authorization='Bearer hf_' + limited).json()
        self.assertEqual((me['type'], me['name']), ('user', 'limited'))

    def test_links_have_the_public_address(self):
        server = Server(None, '--public-url', 'http://archive.example:99/lab/reel')
        self.addCleanup(server.stop)
        token = create_token(server, 'read', 'reader')
        upload = create_token(server, 'upload', 'robot')
        for i in range(2):
            self.assertEqual(server.put('%d.bag' % i, sample(1, i), Authorization='Bearer ' + upload).status, 201)
        page = server.get('/lab/reel' + BASE + 'lab/tree/main?limit=1&recursive=True', Authorization='Bearer ' + token)
        self.assertEqual([e['path'] for e in page.json()], ['0.bag'])
        self.assertTrue(re.match('<http://archive.example:99/lab/reel/hf/api/datasets/lab/tree/[0-9a-f]{40}\\?', page.headers['Link']), page.headers['Link'])


if __name__ == '__main__':
    unittest.main()
