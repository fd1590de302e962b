"""Mistakes that users make with curl: the answer names what was meant."""
import os
import tempfile

import legacy
from harness import API, Case, curl
from samples import bag, lab_messages


class Mistakes(Case):
    @classmethod
    def fill(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.file, cls.empty = os.path.join(folder.name, 'run.bag'), os.path.join(folder.name, 'empty.bag')
        for path, data in ((cls.file, bag(lab_messages(1))), (cls.empty, b'')):
            with open(path, 'wb') as f:
                f.write(data)
        cls.ident = cls.server.added('x.bag', bag(lab_messages(1)))
        traj, state = legacy.pair()
        cls.server.added('run.traj', traj)
        cls.pair = cls.server.put('run.state', state, '?part_of=run.traj').json()['id']

    def check(self, status, word, *args):
        path = args[-1]
        code, body = curl(*args[:-1], '-w', '%{http_code}', self.server.base + API + path)
        self.assertEqual((code, body[-3:]), (0, b'%d' % status), body)
        self.assertIn(word.encode(), body)

    def test_uploads(self):
        self.check(404, 'add a name, or a slash', '-T', self.file, '/recordings/by-name/lab')
        self.check(405, 'by-name/COLLECTION/NAME', '-T', self.file, '/recordings/')
        self.check(400, '--data-binary', '-d', '@' + self.file, '/recordings?name=y.bag')
        self.check(400, '--data-binary', '-X', 'PUT', '-d', '@' + self.file, '/recordings/by-name/lab/y.bag')
        self.check(201, 'id', '--data-binary', '@' + self.file, '/recordings?name=y.bag')
        self.check(400, 'curl -F file=@FILE', '-F', 'run=@' + self.file, '/recordings')
        self.check(415, 'the file is empty', '-T', self.empty, '/recordings/by-name/lab/')

    def test_reading(self):
        self.check(406, 'such as x.mcap', '/recordings/%s/as/mcap' % self.ident)
        self.check(404, 'such as /recordings/{id}/as/x.mcap', '/recordings/%s/as' % self.ident)
        self.check(404, 'recordings/{id}/file/NAME; `links.file` of the recording', '/recordings/%s/file' % self.ident)
        for name in ('', 'y'):
            self.check(404, 'this recording has no file \\"%s\\": its files are run.' % name, '/recordings/%s/file/%s' % (self.pair, name))
        self.check(400, '1 to 1000.', '/recordings?limit=abc')
        self.check(400, 'from 1 to 1000000', '/recordings/%s/messages?limit=abc' % self.ident)
        for path in ('/recordings/%s/messages' % self.ident, '/recordings/%s/as/x.mcap' % self.ident, '/recordings/%s/events' % self.ident):
            self.check(400, 'must not be before start', path + '?start=+2s&end=+1s')
        for path in ('/recordings', '/events'):
            self.check(400, 'must not be before start', path + '?start=2024-05-02&end=2024-05-01')
        self.check(404, 'id is empty', '/recordings//messages')
        self.check(404, 'id is empty', '/recordings/')


class Parameters(Case):
    """What a parameter's row says holds, and what an output cannot take is refused."""

    @classmethod
    def fill(cls):
        cls.ident = cls.server.added('a.bag', bag(lab_messages(3)))

    def asked(self, path, status, *words):
        answer = self.server.get(API + path.replace('{id}', self.ident))
        if status == 200:
            self.assertEqual(answer.status, 200, (path, answer))
        else:
            self.assertProblem(answer, status, *words)

    def test_numbers_have_the_bounds_of_the_document(self):
        for path, good, bad in (('/recordings?limit=%d', (1, 1000), (0, 1001, 100000)), ('/recordings/{id}/messages?limit=%d', (1, 1000000), (0, 1000001)),
                                ('/jobs?limit=%d', (1, 1000), (0, 1001)), ('/changes?limit=%d', (1, 1000), (0, 1001)),
                                ('/recordings/{id}/topics?limit=%d', (1, 1000), (0, 1001)), ('/recordings/{id}/coverage?bins=%d', (1, 2000), (0, 2001)),
                                ('/search/values?where=/a.x>1&intervals=%d', (1, 1000), (0, 1001)), ('/recordings/{id}/as/a.mcap?chunk_size=%d', (), (0,))):
            for number in good:
                self.asked(path % number, 200)
            for number in bad:
                self.asked(path % number, 400, path[path.rindex('?'):].split('&')[-1].strip('?').split('=')[0])
        topics = '&'.join('topic=/%d' % i for i in range(65))
        self.asked('/recordings/{id}/messages?' + topics, 400, 'at most 64 times')
        self.asked('/recordings/{id}/messages?' + topics.rpartition('&')[0], 200)

    def test_each_output_takes_its_own(self):
        values = {'decode': 'none', 'fields': 'x', 'time_format': 'seconds'}
        takes = {'ndjson': {*values, 'channels', 'end_record'}, 'json': {*values, 'channels', 'end_record'}, 'json-seq': {*values, 'channels', 'end_record'},
                 'csv': {*values}, 'msgpack': {*values, 'channels'}, 'parquet': set(), 'arrows': set(), 'mcap': set(), 'bag': {'wrap'}}
        for output, own in takes.items():
            for name in (*values, 'channels', 'end_record', 'wrap'):
                path = '/recordings/{id}/as/a.%s?%s=%s' % (output, name, values.get(name, 'true'))
                self.asked(path, 200 if name in own else 400, name)
                if name != 'wrap' and output not in ('mcap', 'bag'):
                    self.asked('/recordings/{id}/messages?output=%s&%s=%s' % (output, name, values.get(name, 'true')), 200 if name in own else 400, name)
        self.asked('/recordings/{id}/as/a.mcap?raw=true', 400, 'raw', 'view')
        self.asked('/recordings/{id}/messages?lookback=1s', 400, 'lookback', 'last')
        path = API + '/recordings/%s/message?topic=*&index=0&fields=x' % self.ident
        self.assertProblem(self.server.get(path, Accept='application/octet-stream'), 400, 'fields')
        self.get(path)
