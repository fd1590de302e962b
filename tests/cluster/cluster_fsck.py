"""What uploads leave in a bucket: reel fsck lists what nothing names, and removes it when it is old; what may restore a recording, or an upload that
goes on, stays."""
import json
import secrets
import unittest
import xml.etree.ElementTree

from cluster_store import BIG, BYTES, Cluster
from harness import reel
from samples import bag, lab_messages


class Leftovers(Cluster):
    def fsck(self, server, *args, code=0):
        done = reel('fsck', '--data', server.data, '--json', *args, check=False)
        self.assertEqual(done.returncode, code, done)
        return json.loads(done.stdout)

    def put(self, folder, text=b'x' * 100, name=None):
        name = name or secrets.token_hex(16)
        self.s3.put(self.bucket, '%s/%s/%s' % (self.prefix, folder, name), text)
        return '%s/%s' % (folder, name)

    def begin_parts(self):
        name = 'objects/' + secrets.token_hex(16)
        status, _, body = self.s3.ask('POST', '/%s/%s/%s' % (self.bucket, self.prefix, name), 'uploads=')
        self.assertEqual((status, xml.etree.ElementTree.fromstring(body)[-1].tag[-8:]), (200, 'UploadId'))
        return name

    def open_uploads(self, server):
        """One with parts, one with bytes behind none, one that waits to be concatenated: path, offset, the rest."""
        small = bag(lab_messages(2, salt=3))
        out = [(self.create(server, len(data), name), data, at) for data, name, at in ((BIG, 'big.bag', 9 << 20), (small, 'small.bag', 1000))]
        for path, data, at in out:
            self.assertEqual(server.request('PATCH', path, data[:at], {**BYTES, 'Upload-Offset': '0'}).status, 204)
        half = server.request('POST', '/api/v1/uploads', small[:1000], {**BYTES, 'Upload-Length': '1000', 'Upload-Concat': 'partial'})
        self.assertEqual(half.status, 201, half)
        return out

    def test_what_nothing_names_is_found_and_removed_when_it_is_old(self):
        server = self.start()
        data = bag(lab_messages(3, salt=1))
        server.added('a.bag', data)
        sessions = self.open_uploads(server)
        kept = self.put('objects', name='notes.txt')  # not ours
        named = self.put('objects')
        self.put('lost+found', json.dumps({'parts': [{'sha256': '0' * 64, 'object': named}]}).encode(), 'ab' * 32)
        lost = sorted([self.put('objects'), self.put('incoming'), self.begin_parts()])
        report = self.fsck(server)
        self.assertEqual((report['found'], report['under_way']), (0, 4))  # the three, and the one that only a manifest names
        report = self.fsck(server, '--leftover-hours', '0', code=1)
        self.assertEqual(sorted(f['subject'] for f in report['findings']), lost)
        self.assertEqual({f['repaired'] for f in report['findings']}, {None})
        server.stop()
        report = self.fsck(server, '--repair', '--leftover-hours', '0', code=1)
        self.assertEqual((sorted(f['subject'] for f in report['findings']), report['repaired']), (lost, 3))
        self.assertFalse(set(lost) & set(self.keys('objects') + self.keys('incoming')))
        self.assertNotIn('%s/%s' % (self.prefix, lost[-1]), self.s3.uploads(self.bucket))
        self.assertLessEqual({kept, named}, set(self.keys('objects')))
        self.assertTrue(self.fsck(server, '--leftover-hours', '0')['clean'])
        server = self.start(data=server.data)
        self.check_file(server, 'a.bag', data)
        for path, data, at in sessions:  # they go on
            self.assertEqual(self.offset(server, path), at)
            self.assertEqual(server.request('PATCH', path, data[at:], {**BYTES, 'Upload-Offset': str(at)}).status, 204)
        self.check_file(server, 'big.bag', BIG)

    def test_an_object_stays_while_a_manifest_cannot_be_read(self):
        server = self.start()
        server.added('a.bag', bag(lab_messages(3, salt=1)))
        lost = self.put('objects')
        self.put('lost+found', b'{"parts"', 'ab' * 32)
        server.stop()
        report = self.fsck(server, '--repair', '--leftover-hours', '0', code=1)
        self.assertEqual([(f['kind'], f['subject'], f['repaired']) for f in report['findings']], [('orphan', lost, None)])
        self.assertIn('a manifest cannot be read', report['findings'][0]['text'])
        self.assertIn(lost, self.keys('objects'))


if __name__ == '__main__':
    unittest.main()
