"""How recordings come in: PUT, POST, curl -T; names and contents met again; digests; refusals that leave no files."""
import hashlib
import os
import socket
import time

from harness import API, Case, curl, digest_header, eventually, in_a_folder, stored_below
from samples import bag, lab_messages

SMALL = bag(lab_messages(2))


class Upload(Case):
    def setUp(self):
        self.assertTrue(eventually(lambda: not any('/incoming/' in f for f in self.stored())))  # of the test before

    def stored(self):
        return stored_below(self.server.data)

    def unchanged(self, before):
        """What was received goes a moment after the answer."""
        self.assertTrue(eventually(lambda: self.stored() == before), self.stored())

    def test_put_answers_the_recording(self):
        data = bag(lab_messages(2, salt=1))
        answer = self.server.put('first.bag', data)
        self.assertEqual(answer.status, 201, answer)
        recording = answer.json()
        self.assertEqual((recording['collection'], recording['name'], recording['revision']), ('lab', 'first.bag', 1))
        self.assertEqual((recording['state'], recording['format'], recording['size']), ('ready', 'rosbag-1.2', len(data)))
        self.assertFalse(recording['damaged'])
        self.assertTrue(answer.headers['Location'].endswith('%s/recordings/%s' % (API, recording['id'])), answer)
        again = self.get('%s/recordings/%s' % (API, recording['id'])).json()
        self.assertEqual(again['id'], recording['id'])
        by_content = self.get('%s/recordings/sha256:%s' % (API, hashlib.sha256(data).hexdigest())).json()
        self.assertEqual(by_content['id'], recording['id'])

    def test_curl_upload_with_the_name_from_the_file(self):
        path = os.path.join(self.server.data, 'from curl.bag')
        with open(path, 'wb') as f:
            f.write(bag(lab_messages(2, salt=2)))
        code, out = curl('-f', '-T', path, '%s%s/recordings/by-name/lab/' % (self.server.base, API))
        os.unlink(path)
        self.assertEqual(code, 0, out)
        self.assertIn(b'from curl.bag', out)

    def test_curl_upload_from_a_pipe_is_chunked(self):
        code, out = curl('-f', '-T', '-', '%s%s/recordings/by-name/lab/piped.bag' % (self.server.base, API), stdin=bag(lab_messages(2, salt=3)))
        self.assertEqual(code, 0, out)

    def test_post_takes_the_name_as_a_parameter(self):
        data = bag(lab_messages(2, salt=4))
        answer = self.server.request('POST', API + '/recordings?name=posted.bag&collection=desk', data)
        self.assertEqual(answer.status, 201, answer)
        self.assertEqual((answer.json()['collection'], answer.json()['name']), ('desk', 'posted.bag'))

    def test_same_content_again_is_200(self):
        first = self.server.put('again.bag', SMALL)
        self.assertEqual(first.status, 201, first)
        before = self.stored()
        second = self.server.put('again.bag', SMALL)
        self.assertEqual(second.status, 200, second)
        self.assertEqual(second.json()['id'], first.json()['id'])
        self.unchanged(before)

    @in_a_folder
    def test_same_content_under_another_name_is_a_new_recording_on_the_same_blob(self):
        data = bag(lab_messages(2, salt=5))
        one = self.server.put('one.bag', data)
        blobs = [f for f in self.stored() if f.endswith(hashlib.sha256(data).hexdigest())]
        two = self.server.put('two.bag', data)
        self.assertEqual((one.status, two.status), (201, 201))
        self.assertNotEqual(one.json()['id'], two.json()['id'])
        self.assertEqual([f for f in self.stored() if f.endswith(hashlib.sha256(data).hexdigest())], blobs)
        self.assertEqual(len(blobs), 1)

    def test_other_content_under_a_taken_name_is_409_unless_replaced(self):
        first = self.server.put('taken.bag', bag(lab_messages(2, salt=6)))
        other = bag(lab_messages(2, salt=7))
        self.assertProblem(self.server.put('taken.bag', other), 409, 'taken.bag')
        replaced = self.server.put('taken.bag', other, '?replace=true')
        self.assertEqual(replaced.status, 201, replaced)
        self.assertEqual(replaced.json()['revision'], 2)
        self.assertNotEqual(replaced.json()['id'], first.json()['id'])
        self.get('%s/recordings/%s' % (API, first.json()['id']))

    def test_unknown_format_is_415_and_leaves_nothing(self):
        before = self.stored()
        self.assertProblem(self.server.put('notes.txt', b'just some text, many times over\n' * 99), 415, 'ROS 1 bag', 'NanoVer')
        self.assertProblem(self.server.put('empty.bag', b''), 415)
        self.unchanged(before)

    def test_unreadable_is_422_and_kept_only_when_asked(self):
        unreadable = b'#ROSRECORD V1.3\n' + b'\xff' * 4096
        before = self.stored()
        self.assertProblem(self.server.put('broken.bag', unreadable), 422, '1.3')
        self.unchanged(before)
        kept = self.server.put('broken.bag', unreadable, '?keep=true')
        self.assertProblem(kept, 422)
        failed = self.get(API + '/recordings?state=failed').json()['items']
        self.assertEqual([(r['name'], r['state']) for r in failed], [('broken.bag', 'failed')])
        original = self.get('%s/recordings/%s/file/broken.bag' % (API, failed[0]['id']))
        self.assertEqual(original.body, unreadable)

    def test_digests_are_checked(self):
        data = bag(lab_messages(2, salt=8))
        before = self.stored()
        for header in ('Content_Digest', 'Repr_Digest'):
            with self.subTest(header):
                wrong = self.server.put('digest.bag', data, **{header: digest_header(b'something else')})
                self.assertProblem(wrong, 400, 'digest')
                self.unchanged(before)
        for text in ('sha-256=nonsense', 'sha-256=:AAAA:', 'sha-256=:%s==:' % ('A' * 42)):
            with self.subTest(text):
                self.assertProblem(self.server.put('digest.bag', data, Content_Digest=text), 400, 'sha-256=:<base64')
        right = self.server.put('digest.bag', data, Content_Digest=digest_header(data), Repr_Digest=digest_header(data))
        self.assertEqual(right.status, 201, right)

    def test_broken_off_upload_leaves_nothing(self):
        before = self.stored()
        data = bag(lab_messages(2, salt=9))
        for head in (b'Content-Length: %d\r\n\r\n' % len(data), b'Transfer-Encoding: chunked\r\n\r\n2000\r\n'):
            with socket.create_connection(('127.0.0.1', self.server.port)) as s:
                s.sendall(b'PUT %s/recordings/by-name/lab/half.bag HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n' % (API.encode(), self.server.port) + head + data[:4000])
                time.sleep(0.1)
        self.unchanged(before)
        self.assertEqual(self.get(API + '/recordings?q=half').json()['items'], [])

    def test_refusals_come_before_the_body(self):
        head = b'PUT %s/recordings/by-name/lab/x.bag?nonsense=1 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n' % (API.encode(), self.server.port)
        answer = self.server.raw(head + b'Content-Length: 1000000\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n')
        self.assertTrue(answer.startswith(b'HTTP/1.1 400 '), answer[:200])

    def test_names_that_would_leave_their_place_are_refused(self):
        for name in ('..', '.', '%2e%2e%2fetc', 'a%0ab', 'a%00b', '%ff'):
            with self.subTest(name):
                answer = self.server.request('PUT', '%s/recordings/by-name/lab/%s' % (API, name), SMALL)
                self.assertIn(answer.status, (400, 404), answer)

    def test_until_its_scan_ends_a_recording_is_what_its_file_says(self):
        messages = lab_messages(4, blob=2_000_000, salt=77)
        for attempt in range(20):  # the scan may be quicker than the answer
            messages[0].time += 1
            data = bag(messages)
            name = 'later-%d.bag' % attempt
            answer = self.server.request('PUT', '%s/recordings/by-name/lab/%s' % (API, name), data, {'Prefer': 'respond-async'})
            self.assertIn(answer.status, (201, 202), answer)
            if answer.status == 202:
                break
        self.assertEqual(answer.status, 202)
        listed = answer.json()
        self.assertEqual((listed['state'], listed['indexed'], listed['messages'], listed['format']), ('scanning', False, len(messages), 'rosbag-1.2'))
        self.assertEqual((listed['damaged'], listed['findings'], listed['payload_bytes']), (None, None, None))
        path = '%s/recordings/%s' % (API, listed['id'])
        rows = self.get(path + '/messages?topic=/odom&decode=none').rows()  # waits for the scan
        self.assertEqual(len(rows), len([m for m in messages if m.topic == '/odom']))
        self.assertTrue(eventually(lambda: self.get(path).json()['indexed']))
        deep = self.get(path).json()
        self.assertEqual((deep['state'], deep['messages'], deep['damaged'], deep['start_ns']), ('ready', len(messages), False, listed['start_ns']))
        self.assertTrue(eventually(lambda: self.get(listed['job']['href']).json()['state'] == 'done'))
