"""/s3: the archive as buckets and objects: lists, objects, conditions, callers; its clients are in tests/peers."""
import json
import os
import re
import tempfile
import unittest
import xml.etree.ElementTree as ET
from urllib.parse import unquote

from harness import API, Case, Server, create_token, eventually, reel
from samples import bag, lab_messages
from signed import Keys, target
from test_folder import metadata, rows as rows_of

DATA = bag(lab_messages(3, blob=2000))


def tree(answer):
    return ET.fromstring(re.sub(rb' xmlns="[^"]*"', b'', answer.body))


def code(answer):
    return answer.status, tree(answer).find('Code').text


class Page:
    def __init__(self, answer):
        assert answer.status == 200, answer
        self.tree = tree(answer)
        self.keys = [e.find('Key').text for e in self.tree.findall('Contents')]
        self.sizes = {e.find('Key').text: int(e.find('Size').text) for e in self.tree.findall('Contents')}
        self.etags = {e.find('Key').text: e.find('ETag').text for e in self.tree.findall('Contents')}
        self.folders = [e.find('Prefix').text for e in self.tree.findall('CommonPrefixes')]

    def text(self, name):
        element = self.tree.find(name)
        return None if element is None else element.text


class Listing:
    """What both classes use: lists of an open server."""

    def page(self, bucket, **params):
        return Page(self.server.request('GET', target('/s3/' + bucket, [('list-type', '2'), *((k.replace('_', '-'), v) for k, v in params.items())])))

    def pages(self, bucket, size, **params):
        """All keys and folders of a list, of pages of this size, in their order."""
        found, token = [], {}
        while True:
            page = self.page(bucket, max_keys=str(size), **params, **token)
            self.assertLessEqual(len(page.keys) + len(page.folders), size)
            self.assertEqual(page.text('KeyCount'), str(len(page.keys) + len(page.folders)))
            found += sorted(page.keys + page.folders, key=str.encode)
            if page.text('IsTruncated') == 'false':
                return found
            token = {'continuation_token': page.text('NextContinuationToken')}


class Objects(Listing, Case):
    NAMES = ['walk.bag', '2024/a&b c.bag', '2024/june/run.bag', '2024-01.bag', '2024', 'é/ü.bag', 'a', 'a!', 'a-b', 'a.aa', 'a.b', 'a/b', 'a0']

    @classmethod
    def fill(cls):
        for i, name in enumerate(cls.NAMES):
            cls.server.added(name, DATA[:-4] + (i << 8).to_bytes(4, 'little'))
        cls.server.added('other.bag', DATA, collection='Field%20Tests')

    def test_buckets(self):
        names = [e.text for e in tree(self.get('/s3')).iter('Name')]
        self.assertEqual(names, ['Field Tests', 'archive', 'datasets', 'lab', 'searches', 'tables'])
        self.assertEqual(self.get('/s3/').body, self.get('/s3').body)
        self.assertEqual(self.server.request('HEAD', '/s3/lab').headers['x-amz-bucket-region'], 'us-east-1')
        self.assertEqual(self.server.request('HEAD', '/s3/none').status, 404)
        self.assertEqual(code(self.get('/s3/none', 404)), (404, 'NoSuchBucket'))
        self.assertEqual(code(self.get('/s3/none/x', 404)), (404, 'NoSuchBucket'))
        self.assertEqual(tree(self.get('/s3/lab?location')).text, None)
        for other in ('acl', 'uploads', 'versions', 'policy', 'tagging'):
            self.assertEqual(code(self.get('/s3/lab?' + other, 501)), (501, 'NotImplemented'))

    def test_a_deep_list_has_the_files_that_are_stored(self):
        page = self.page('lab')
        self.assertEqual(page.keys, sorted(self.NAMES, key=str.encode))
        self.assertEqual((page.folders, page.text('IsTruncated'), page.text('Name'), page.text('MaxKeys')), ([], 'false', 'lab', '1000'))
        self.assertEqual(set(page.sizes.values()), {len(DATA)})
        self.assertEqual(self.page('archive').keys, ['Field Tests/other.bag', *('lab/' + k for k in page.keys)])

    def test_folders_by_the_delimiter(self):
        page = self.page('lab', delimiter='/')
        self.assertEqual(page.keys, sorted((n for n in self.NAMES if '/' not in n), key=str.encode))
        folders = {n + '.as/' for n in self.NAMES if '/' not in n} | {n.split('/')[0] + '/' for n in self.NAMES if '/' in n}
        self.assertEqual(page.folders, sorted(folders, key=str.encode))
        self.assertEqual(self.page('lab', delimiter='/', prefix='2024/').folders, ['2024/a&b c.bag.as/', '2024/june/'])
        self.assertEqual(self.page('lab', delimiter='/', prefix='2024').folders, ['2024-01.bag.as/', '2024.as/', '2024/'])
        self.assertEqual(self.page('archive', delimiter='/').folders, ['Field Tests/', 'datasets/', 'lab/', 'searches/', 'tables/'])
        self.assertEqual(self.page('archive', delimiter='/', prefix='la').folders, ['lab/'])
        self.assertEqual(code(self.server.request('GET', '/s3/lab?list-type=2&delimiter=-')), (501, 'NotImplemented'))

    def test_pages_join_to_the_whole(self):
        for params in ({}, {'delimiter': '/'}, {'prefix': 'a'}, {'prefix': 'a', 'delimiter': '/'}, {'prefix': 'a.', 'delimiter': '/'}, {'prefix': '2024/', 'delimiter': '/'}):
            whole = self.pages('lab', 1000, **params)
            self.assertEqual(whole, sorted(set(whole), key=str.encode), params)
            for size in (1, 2, 3):
                self.assertEqual(self.pages('lab', size, **params), whole, (size, params))
        self.assertEqual(self.pages('archive', 1), self.pages('archive', 1000))
        self.assertEqual(self.pages('archive', 1, delimiter='/'), self.pages('archive', 1000, delimiter='/'))

    def test_after_any_key_comes_the_rest(self):
        for params in ({}, {'delimiter': '/'}):
            whole = self.pages('lab', 1000, **params)
            for after in [*whole, 'a.', 'a.a', 'zzz', ' ']:
                rest = [k for k in whole if k.encode() > after.encode()]
                self.assertEqual(self.pages('lab', 1000, start_after=after, **params), rest, (after, params))

    def test_the_first_version(self):
        first = Page(self.get('/s3/lab?max-keys=2'))
        self.assertEqual((first.keys, first.text('NextMarker'), first.text('KeyCount')), (['2024', '2024-01.bag'], '2024-01.bag', None))
        self.assertEqual(Page(self.get('/s3/lab?max-keys=1&marker=2024-01.bag')).keys, ['2024/a&b c.bag'])

    def test_parameters(self):
        page = self.page('lab', prefix='é', encoding_type='url')
        self.assertEqual([unquote(k) for k in page.keys], ['é/ü.bag'])
        self.assertEqual((page.keys, page.text('EncodingType'), page.text('Prefix')), (['%C3%A9/%C3%BC.bag'], 'url', '%C3%A9'))
        none = self.page('lab', max_keys='0')
        self.assertEqual((none.keys, none.text('IsTruncated')), ([], 'false'))
        for query in ('max-keys=x', 'max-keys=-1', 'continuation-token=*', 'continuation-token=AA'):
            self.assertEqual(code(self.get('/s3/lab?list-type=2&' + query, 400)), (400, 'InvalidArgument'), query)

    def test_an_object(self):
        etag = self.page('lab', prefix='walk').etags['walk.bag']
        answer = self.get('/s3/lab/walk.bag')
        self.assertEqual((answer.body[:-4], answer.headers['ETag'], answer.headers['Content-Disposition']), (DATA[:-4], etag, None))
        self.assertEqual(self.get('/s3/lab/walk.bag', 206, Range='bytes=100-199').body, DATA[100:200])
        self.assertEqual(self.get('/s3/lab/walk.bag', 304, If_None_Match=etag).body, b'')
        self.assertEqual(code(self.get('/s3/lab/walk.bag', 412, If_Match='"other"')), (412, 'PreconditionFailed'))
        self.assertEqual(code(self.get('/s3/lab/walk.bag', 416, Range='bytes=%d-' % len(DATA))), (416, 'InvalidRange'))
        self.assertEqual(self.get('/s3/lab/walk.bag?partNumber=1').body, answer.body)
        self.assertEqual(code(self.get('/s3/lab/walk.bag?partNumber=2', 416)), (416, 'InvalidPartNumber'))
        head = self.server.request('HEAD', '/s3/lab/walk.bag?x-id=HeadObject')
        self.assertEqual((head.status, head.headers['Content-Length'], head.headers['ETag']), (200, str(len(DATA)), etag))
        self.assertEqual(self.get('/s3/archive/lab/walk.bag').body, answer.body)
        self.assertEqual(self.get('/s3/archive/Field%20Tests/other.bag').body, DATA)
        for key in ('none', 'walk.bag/', '2024/', 'walk.bag.as/', 'walk.bag.as/x.unknown', 'walk.bag/x'):
            self.assertEqual(code(self.get('/s3/lab/' + key, 404)), (404, 'NoSuchKey'), key)
        self.assertEqual(code(self.get('/s3/lab/walk.bag?response-content-type=a/b', 400)), (400, 'InvalidRequest'))  # anonymous

    def test_conversions_have_the_length_that_is_listed(self):
        page = self.page('lab', prefix='walk.bag.as/')
        self.assertIn('walk.bag.as/walk.mcap', page.keys)
        self.assertEqual(page.keys, sorted(page.keys))
        for key, size in page.sizes.items():
            answer = self.get('/s3/lab/' + key)
            self.assertEqual((len(answer.body), answer.headers['ETag']), (size, page.etags[key]), key)
        self.assertEqual(self.pages('lab', 2, prefix='walk.bag.as/'), page.keys)
        other = [('topic', '/odom'), ('version', '1.2')]  # parameters of exports are none of S3's
        self.assertEqual(len(self.get(target('/s3/lab/walk.bag.as/walk.mcap', other)).body), page.sizes['walk.bag.as/walk.mcap'])
        self.assertEqual(Page(self.get(target('/s3/lab', [('prefix', 'walk.bag.as/'), *other]))).sizes, page.sizes)

    def test_tables_of_topics_and_types(self):
        for name in ('robot/chatter', 'std_msgs/String'):
            page = self.page('tables', prefix=name + '/')
            ids = re.findall(r'recording=([0-9a-f]{32})/part.parquet', ' '.join(page.keys))
            self.assertEqual((len(page.keys), ids), (len(self.NAMES) + 1, sorted(ids)))
            self.assertEqual(self.pages('tables', 3, prefix=name + '/'), page.keys)
            for key in page.keys[:2]:
                body = self.get('/s3/tables/' + key).body
                self.assertEqual((body[:4], len(body)), (b'PAR1', page.sizes[key]))
        self.assertEqual(self.get('/s3/tables/' + page.keys[0]).body, self.get('%s/recordings/%s/as/x.parquet?topic=/robot/chatter' % (API, ids[0])).body)
        self.assertEqual(len(self.page('tables', prefix='robot/chatter/', delimiter='/').folders), len(ids))
        self.assertIn('robot/', self.page('tables', delimiter='/').folders)
        for key in ('none/recording=%s/part.parquet' % ids[0], 'robot/chatter/recording=%s/part.parquet' % ('0' * 32), 'robot/chatter/recording=1/part.parquet', 'robot/chatter'):
            self.assertEqual(code(self.get('/s3/tables/' + key, 404)), (404, 'NoSuchKey'), key)

    def test_a_saved_search_is_a_folder(self):
        def save(name, value):
            answer = self.server.request('PUT', '%s/searches/%s' % (API, name), json.dumps({'value': value}))
            self.assertIn(answer.status, (200, 201), answer)
        save('june%2Fruns', {'q': 'june', 'start': None, 'sort': '-start'})
        save('another', {'panels': 3})  # not the page's
        self.assertEqual(self.page('searches', delimiter='/').folders, ['june/'])
        formats = self.page('searches', delimiter='/', prefix='june/runs/').folders
        self.assertLess({'june/runs/mcap/', 'june/runs/original/', 'june/runs/parquet/'}, set(formats))
        self.assertEqual(self.page('searches').keys, ['june/runs/original/lab/2024/june/run.bag'])
        page = self.page('searches', prefix='june/runs/mcap/')
        self.assertEqual(page.keys, ['june/runs/mcap/lab/2024/june/run.bag.mcap'])
        self.assertEqual(len(self.get('/s3/searches/' + page.keys[0]).body), page.sizes[page.keys[0]])
        self.assertEqual(code(self.get('/s3/searches/june/runs/mcap/lab/walk.bag.mcap', 404)), (404, 'NoSuchKey'))
        for folder, status in (('mp4', 207), ('mcap/lab/2024', 207), ('zzz', 404), ('mcap/field', 404)):
            self.assertEqual(self.server.request('PROPFIND', '/dav/searches/june/runs/%s/' % folder, headers={'Depth': '1'}).status, status, folder)

    def test_writes_are_refused(self):
        for method in ('PUT', 'POST', 'DELETE'):
            for path in ('/s3/lab/new.bag', '/s3/lab', '/s3/lab?delete'):
                self.assertEqual(code(self.server.request(method, path, b'x' * 100)), (403, 'AccessDenied'))
        self.assertEqual(self.get('/s3/lab/walk.bag').body[:-4], DATA[:-4])

    def test_any_signature_opens_an_open_archive(self):
        keys = Keys('access key: any\nsecret key: thing')
        self.assertEqual(self.server.request('GET', '/s3/lab', headers=keys.headers('127.0.0.1', 'GET', '/s3/lab')).status, 200)


class Parts(Listing, Case):
    """Recordings of several files are folders."""

    def test_parts_among_names(self):
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, 'run')
            os.mkdir(run)
            for i in range(2):
                rows = os.path.join(folder, 'rows.ndjson')
                with open(rows, 'wb') as f:
                    f.write(rows_of(i))
                reel('convert', rows, os.path.join(run, 'run_%d.mcap' % i))
            with open(os.path.join(run, 'metadata.yaml'), 'wb') as f:
                f.write(metadata(['run_0.mcap', 'run_1.mcap']))
            reel('push', '--collection', 'lab', run, self.server.base)
        self.server.added('run-1.bag', DATA)
        self.server.added('run.bag', DATA[:-4] + b'\1\0\0\0')
        parts = ['run/metadata.yaml', 'run/run_0.mcap', 'run/run_1.mcap']
        whole = self.pages('lab', 1000)
        self.assertEqual(whole, ['run-1.bag', 'run.bag', *parts])
        folders = self.pages('lab', 1000, delimiter='/')
        self.assertEqual(folders, ['run-1.bag', 'run-1.bag.as/', 'run.as/', 'run.bag', 'run.bag.as/', 'run/'])
        for size in (1, 2, 3):
            self.assertEqual(self.pages('lab', size), whole)
            self.assertEqual(self.pages('lab', size, delimiter='/'), folders)
        for key in whole:
            self.assertEqual(self.pages('lab', 1000, start_after=key), [k for k in whole if k > key])
            self.assertEqual(self.get('/s3/lab/' + key).status, 200)
        self.assertEqual(self.page('lab', prefix='run/').keys, parts)
        self.assertEqual(self.page('lab', prefix='run/r', delimiter='/').keys, parts[1:])
        self.assertIn('run.as/run.mcap', self.page('lab', prefix='run.as/').keys)


class Planning(Listing, Case):
    """A list is complete or fails: no file is left out because its length is not known yet."""

    def test_lists_are_complete_or_busy(self):
        for i in range(80):  # more than are planned at a time for one list
            self.server.added('%02d.bag' % i, bag(lab_messages(2, salt=i)))

        def ask(method, path, **headers):
            answer = self.server.request(method, path, headers={'Prefer': 'wait=0', **headers})
            if answer.status == 503:
                self.assertEqual(answer.headers['Retry-After'], '2')
            return answer
        for path in ('/s3/tables?list-type=2&prefix=odom/', '/s3/lab?list-type=2&prefix=07.bag.as/'):
            def is_done():
                answer = ask('GET', path)
                if answer.status == 503:
                    self.assertEqual(code(answer), (503, 'SlowDown'))
                    return False
                keys = Page(answer).keys
                self.assertEqual(sum('/part.parquet' in k for k in keys) if 'odom' in path else '07.bag.as/07.mcap' in keys, 80 if 'odom' in path else True)
                return True
            eventually(is_done)
        first = self.server.request('PROPFIND', '/dav/lab/07.bag.as/', headers={'Depth': '1', 'Prefer': 'wait=60'})
        self.assertEqual((first.status, first.body.count(b'<D:getcontentlength>')), (207, len(self.page('lab', prefix='07.bag.as/').keys)))


class Callers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)
        cls.server.added('walk.bag', DATA)
        cls.server.added('other.bag', DATA[:-4] + b'\1\0\0\0', collection='field')
        cls.keys = Keys(create_token(cls.server, 'read', 's3', '--s3'), 'eu-west-3')
        cls.host = '127.0.0.1:%d' % cls.server.port

    def ask(self, path, pairs=(), keys=None, method='GET', **options):
        return self.server.request(method, target(path, pairs), headers=(keys or self.keys).headers(self.host, method, path, pairs, **options))

    def test_by_header(self):
        self.assertEqual(self.ask('/s3/lab/walk.bag').body, DATA)
        self.assertEqual(self.ask('/s3/lab', [('list-type', '2'), ('prefix', 'w a+l/&=é')]).status, 200)
        self.assertEqual(self.ask('/s3/lab/walk.bag', payload='UNSIGNED-PAYLOAD', more={'range': 'bytes=0-9', 'x-amz-meta': 'a  b'}).body, DATA[:10])
        self.assertEqual(self.ask('/s3/lab/walk.bag', method='HEAD').headers['Content-Length'], str(len(DATA)))
        self.assertEqual(self.ask('/s3/lab/walk.bag', at=None).status, 200)

    def test_a_signed_request_needs_no_path_of_its_own(self):
        self.assertEqual(self.ask('/lab/walk.bag').body, DATA)
        self.assertEqual([e.text for e in tree(self.ask('/')).iter('Name')], ['archive', 'datasets', 'field', 'lab', 'searches', 'tables'])
        self.assertEqual(code(self.ask('/api/v1/recordings')), (404, 'NoSuchBucket'))
        self.assertEqual(self.server.request('GET', self.keys.address(self.host, '/lab/walk.bag')).body, DATA)

    def test_by_address(self):
        address = self.keys.address(self.host, '/s3/lab/walk.bag', [('response-content-type', 'text/x'), ('response-content-disposition', 'inline'), ('response-cache-control', 'no-store')])
        answer = self.server.request('GET', address)
        self.assertEqual([answer.body, *(answer.headers[n] for n in ('Content-Type', 'Content-Disposition', 'Cache-Control'))], [DATA, 'text/x', 'inline', 'no-store'])
        missing = self.server.request('GET', self.keys.address(self.host, '/s3/lab/none', [('response-content-type', 'text/x')]))
        self.assertEqual((code(missing), missing.headers['Content-Type']), ((404, 'NoSuchKey'), 'application/xml'))

    def test_other_callers(self):
        self.assertEqual(code(self.server.get('/s3/lab')), (403, 'AccessDenied'))
        token = create_token(self.server, 'read', 'bearer')
        self.assertEqual(self.server.get('/s3/lab/walk.bag', Authorization='Bearer ' + token).body, DATA)

    def test_the_old_signatures_are_named(self):
        for path, headers in (('/s3/lab/walk.bag?AWSAccessKeyId=REEL000000000002&Signature=x&Expires=1', {}), ('/lab/walk.bag', {'Authorization': 'AWS REEL000000000002:x='})):
            answer = self.server.request('GET', path, headers=headers)
            self.assertEqual(code(answer), (400, 'InvalidRequest'))
            self.assertIn(b'AWS4-HMAC-SHA256', answer.body)

    def test_rights(self):
        limited = Keys(create_token(self.server, 'read', 'limited', '--s3', '--collection', 'field'))
        names = [e.text for e in tree(self.ask('/s3', keys=limited)).iter('Name')]
        self.assertEqual(names, ['archive', 'field', 'tables'])
        self.assertEqual(Page(self.ask('/s3/archive', keys=limited)).keys, ['field/other.bag'])
        self.assertEqual(code(self.ask('/s3/lab/walk.bag', keys=limited)), (404, 'NoSuchBucket'))
        self.assertEqual(code(self.ask('/s3/archive/lab/walk.bag', keys=limited)), (404, 'NoSuchKey'))
        tables = [('list-type', '2'), ('prefix', 'tick/')]
        every, its = Page(self.ask('/s3/tables', tables)).keys, Page(self.ask('/s3/tables', tables, limited)).keys
        self.assertEqual((len(every), len(its)), (2, 1))
        other, = set(every) - set(its)
        self.assertEqual(code(self.ask('/s3/tables/' + other, keys=limited)), (404, 'NoSuchKey'))

    def test_a_revoked_token(self):
        keys = Keys(create_token(self.server, 'read', 'gone', '--s3'))
        self.assertEqual(self.ask('/s3/lab', keys=keys).status, 200)
        reel('token', 'revoke', 'gone', '--data', self.server.data)
        self.assertEqual(code(self.ask('/s3/lab', keys=keys)), (403, 'InvalidAccessKeyId'))

    def test_keys_by_the_api(self):
        admin = {'Authorization': 'Bearer ' + create_token(self.server, 'admin', 'boss')}
        made = self.server.request('POST', API + '/tokens', json.dumps({'name': 'api', 'role': 'read', 's3': True}), admin).json()
        self.assertEqual(set(made['s3']), {'access_key', 'secret_key'})
        keys = Keys('access key: %(access_key)s\nsecret key: %(secret_key)s' % made['s3'])
        self.assertEqual(self.ask('/s3/lab/walk.bag', keys=keys).body, DATA)
        plain = self.server.request('POST', API + '/tokens', json.dumps({'name': 'plain', 'role': 'read'}), admin).json()
        self.assertNotIn('s3', plain)
        self.assertEqual(self.server.request('POST', API + '/tokens', json.dumps({'name': 'odd', 'role': 'read', 's3': 1}), admin).status, 400)


class BehindAProxy(unittest.TestCase):
    def test_signatures_are_of_the_public_address(self):
        """The proxy may have taken the path of --public-url away, and set its own Host."""
        server = Server(None, '--public-url', 'http://archive.example:99/lab/reel')
        self.addCleanup(server.stop)
        keys = Keys(create_token(server, 'read', 's3', '--s3'))
        upload = create_token(server, 'upload', 'robot')
        self.assertEqual(server.put('walk.bag', DATA, Authorization='Bearer ' + upload).status, 201)
        ours = '127.0.0.1:%d' % server.port
        for public in ('/lab/reel/s3/lab/walk.bag', '/lab/reel/lab/walk.bag'):
            for path in (public, public[len('/lab/reel'):]):
                for signed, sent in (('archive.example:99', 'archive.example:99'), ('archive.example:99', ours), (ours, ours)):
                    answer = server.request('GET', path, headers={**keys.headers(signed, 'GET', public), 'host': sent})
                    self.assertEqual((answer.status, answer.body), (200, DATA), (path, signed, sent))
        answer = server.request('GET', '/s3/lab/walk.bag', headers={**keys.headers('other.example', 'GET', '/s3/lab/walk.bag'), 'host': ours})
        self.assertEqual(code(answer), (403, 'SignatureDoesNotMatch'))


class Rotation(unittest.TestCase):
    def test_keys_last_until_the_second_rotation(self):
        server = Server()
        self.addCleanup(server.stop)
        keys = Keys(create_token(server, 'read', 's3', '--s3'))
        status = lambda: server.request('GET', '/s3', headers=keys.headers('127.0.0.1:%d' % server.port, 'GET', '/s3')).status
        self.assertEqual(status(), 200)
        reel('token', 'rotate', '--data', server.data)
        self.assertEqual(status(), 200)
        reel('token', 'rotate', '--data', server.data)
        self.assertEqual(status(), 403)


if __name__ == '__main__':
    unittest.main()
