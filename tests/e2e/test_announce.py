"""Announced recordings: the index of a file that is still on a robot, asking for the file, and its arrival."""
import hashlib
import json
import os
import shutil
import struct
import subprocess
import tempfile
import urllib.parse
import zlib

from harness import API, CATALOG, PATIENCE, REEL, STORE, Case, Server, create_token, eventually, files_below, in_a_file, in_a_folder, reel
from samples import bag, lab_messages

AGENT, OTHER = 'a' * 32, 'b' * 32


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def pack_of(data, name='x.bag'):
    """The index pack of a file, as `reel` keeps it in a cache folder."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, 'wb') as f:
            f.write(data)
        subprocess.run([REEL, 'info', '--json', path], check=True, stdout=subprocess.DEVNULL, env={**os.environ, 'XDG_CACHE_HOME': os.path.join(folder, 'cache')})
        packs = [p for p in files_below(os.path.join(folder, 'cache')) if p.endswith('.reel')]
        with open(packs[0], 'rb') as f:
            return f.read()


def changed(pack, change):
    """The pack with another directory, whose checksum holds."""
    offset, size = struct.unpack_from('<QQ', pack, len(pack) - 32)
    directory = change(pack[offset:offset + size])
    return pack[:offset] + directory + struct.pack('<QQI', offset, len(directory), zlib.crc32(directory)) + pack[-12:]


class Announced(Case):
    def announce(self, data, name, pack=None, agent=AGENT, server=None, sha=None, size=None, **params):
        query = urllib.parse.urlencode({'collection': 'robots', 'name': name, 'sha256': sha or sha256(data), 'size': len(data) if size is None else size, 'robot': 'rover 7',
                                        'agent': agent, **params})
        return (server or self.server).request('POST', API + '/announcements?' + query, pack_of(data) if pack is None else pack)

    def row(self, id, server=None):
        return (server or self.server).get('%s/recordings/%s' % (API, id)).json()

    def post(self, path, status=None, server=None):
        answer = (server or self.server).request('POST', API + path)
        if status:
            self.assertEqual(answer.status, status, answer)
        return answer

    def fetches(self, agent=AGENT):
        return self.get('%s/fetches?agent=%s' % (API, agent)).json()['items']

    # --- the index, then the file

    def test_its_index_is_there_and_its_file_arrives(self):
        data = bag(lab_messages(5, salt=4000))
        twin = self.server.added('twin.bag', data, collection='twins')
        answer = self.announce(data, 'day/run.bag', tag='site=yard')
        self.assertEqual(answer.status, 201, answer)
        row = answer.json()
        id, real = row['id'], self.row(twin)
        self.assertEqual((row['state'], row['content'], row['parts'], row['announced']), ('announced', None, [], {'robot': 'rover 7', 'sha256': sha256(data)}))
        for key in ('size', 'format', 'messages', 'start', 'end', 'channels', 'findings', 'damaged', 'payload_bytes'):
            self.assertEqual(row[key], real[key], key)
        self.assertEqual(self.row(id)['topics'], real['topics'])
        for path in ('topics', 'coverage', 'scan', 'metadata', 'attachments', 'schemas/0'):
            self.assertEqual(self.get('%s/recordings/%s/%s' % (API, id, path)).body, self.get('%s/recordings/%s/%s' % (API, twin, path)).body, path)
        topic = real['topics'][0]['name']
        for query in ('state=announced&collection=robots', 'collection=robots&q=' + urllib.parse.quote('state:announced topic:' + topic), 'collection=robots&tag=site%3Dyard'):
            self.assertIn(id, [r['id'] for r in self.get('%s/recordings?%s' % (API, query)).json()['items']], query)
        for path in ('messages', 'file/run.bag', 'as/x.mcap', 'message?topic=%s&index=0' % urllib.parse.quote(topic), 'play', 'thumbnail'):
            self.assertProblem(self.server.get('%s/recordings/%s/%s' % (API, id, path)), 409, 'rover 7', 'fetch')
        self.assertProblem(self.post('/admin/rescan/' + id), 409, 'rover 7')
        self.assertEqual(self.server.request('POST', API + '/events', json.dumps({'recording': id, 'title': 'slips', 'start': row['start'], 'end': row['start']}), {'Content-Type': 'application/json'}).status, 201)
        arrived = self.server.put('day/run.bag', data, collection='robots')
        self.assertIn(arrived.status, (200, 201))
        now = self.row(id)
        self.assertEqual((arrived.json()['id'], now['state'], now['tags'], now['events'], now['content']), (id, 'ready', {'site': 'yard'}, 1, 'sha256:' + sha256(data)))
        self.assertNotIn('announced', now)
        self.assertEqual(now['created'], row['created'])
        self.assertEqual(self.get('%s/recordings/%s/file/run.bag' % (API, id)).body, data)
        self.assertEqual(self.announce(data, 'day/run.bag', agent=OTHER).status, 200)  # its file is here

    def test_names(self):
        data, other = bag(lab_messages(2, salt=4010)), bag(lab_messages(2, salt=4011))
        first = self.announce(data, 'name.bag').json()
        again = self.announce(data, 'name.bag')
        self.assertEqual((again.status, again.json()['id']), (200, first['id']))
        self.assertProblem(self.announce(other, 'name.bag', agent=OTHER), 409, 'another robot')
        newer = self.announce(other, 'name.bag')  # the robot's file has changed since
        self.assertEqual((newer.status, newer.json()['id'], newer.json()['announced']['sha256']), (200, first['id'], sha256(other)))
        self.assertEqual(self.get('%s/recordings/%s/coverage' % (API, first['id'])).status, 200)
        self.assertEqual(self.server.put('name.bag', data, collection='robots').status, 409)  # another file does not take its place
        revision = self.server.put('name.bag', data, '?replace=true', collection='robots')
        self.assertEqual((revision.status, revision.json()['revision']), (201, 2))
        self.assertEqual(self.row(first['id'])['state'], 'announced')

    def test_of_another_collection_it_shows_nothing(self):
        """Who names the hash of a file that others have uploaded sees nothing of it, and its index stays theirs."""
        secret, own = bag(lab_messages(3, salt=4020)), bag(lab_messages(1, salt=4021))
        victim = self.server.added('secret.bag', secret, collection='hidden')
        before = self.row(victim)['topics']
        row = self.announce(own, 'claim.bag', sha=sha256(secret)).json()
        self.assertEqual(self.get('%s/recordings/%s/topics' % (API, row['id'])).status, 200)
        self.assertEqual(self.row(row['id'])['messages'], len(lab_messages(1)))
        self.assertEqual(self.server.get('%s/recordings/%s/file/claim.bag' % (API, row['id'])).status, 409)
        self.assertEqual((self.row(victim)['topics'], self.get('%s/recordings/%s/file/secret.bag' % (API, victim)).body), (before, secret))
        self.assertEqual(self.server.request('DELETE', '%s/recordings/%s?purge=true' % (API, row['id'])).status // 100, 2)
        self.assertEqual(self.get('%s/recordings/%s/file/secret.bag' % (API, victim)).body, secret)

    def test_packs_that_are_refused(self):
        data = bag(lab_messages(3, salt=4030))
        pack, row = pack_of(data), self.row(self.server.added('real.bag', data, collection='twins'))
        first, last = struct.pack('<q', int(row['start_ns'])), struct.pack('<q', int(row['end_ns']))
        topic = row['topics'][0]['name'].encode()
        wrong = {'empty': b'', 'no pack': b'x' * 4096, 'version': pack[:8] + b'\x7f' + pack[9:], 'bit': pack[:20] + bytes([pack[20] ^ 1]) + pack[21:],
                 'early': changed(pack, lambda d: d.replace(first, struct.pack('<q', 0))), 'late': changed(pack, lambda d: d.replace(last, struct.pack('<q', 2 ** 62))),
                 'text': changed(pack, lambda d: d.replace(topic, b'\xff' * len(topic))), 'size': changed(pack, lambda d: d.replace(struct.pack('<Q', len(data)), struct.pack('<Q', 1)))}
        wrong.update({'cut at %d' % n: pack[:n] for n in (1, 16, 47, len(pack) // 2, len(pack) - 33, len(pack) - 1)})
        for what, body in wrong.items():
            with self.subTest(what):
                self.assertNotEqual(body, pack)
                self.assertProblem(self.announce(data, 'wrong.bag', body), 422)
        self.assertProblem(self.announce(data, 'wrong.bag', pack, size=len(data) - 1), 422, 'size')
        for params in ({'sha': 'x'}, {'agent': 'me'}, {'robot': ''}, {'robot': 'r' * 300}, {'tag': 'no value'}, {'size': 2 ** 46 + 1}, {'size': 2 ** 63 - 1}):
            self.assertEqual(self.announce(data, 'wrong.bag', pack, **params).status, 400, params)
        self.assertEqual(self.get('%s/recordings?collection=robots&q=wrong' % API).json()['items'], [])
        if not STORE:
            self.assertEqual([p for p in files_below(os.path.join(self.server.data, 'blobs')) if '.reel.' in p], [])

    def test_rights(self):
        server = Server()
        self.addCleanup(server.stop)
        data = bag(lab_messages(1, salt=4040))
        admin, upload, read = (create_token(server, role, role) for role in ('admin', 'upload', 'read'))
        elsewhere = create_token(server, 'upload', 'elsewhere', '--collection', 'else')
        query = urllib.parse.urlencode({'collection': 'robots', 'name': 'r.bag', 'sha256': sha256(data), 'size': len(data), 'robot': 'r', 'agent': AGENT})

        def ask(method, path, token, body=None):
            return server.request(method, API + path, body, {'Authorization': 'Bearer ' + token})
        pack = pack_of(data)
        self.assertEqual(ask('POST', '/announcements?' + query, read, pack).status, 403)
        self.assertEqual(ask('POST', '/announcements?' + query, elsewhere, pack).status, 403)
        id = ask('POST', '/announcements?' + query, upload, pack).json()['id']
        self.assertEqual(ask('POST', '/recordings/%s/fetch' % id, read).status, 403)
        self.assertEqual(ask('POST', '/recordings/%s/fetch' % id, admin).status, 202)
        self.assertEqual(ask('GET', '/fetches?agent=' + AGENT, read).status, 403)
        self.assertEqual(ask('GET', '/fetches?agent=' + AGENT, elsewhere).json()['items'], [])
        self.assertEqual(len(ask('GET', '/fetches?agent=' + AGENT, upload).json()['items']), 1)

    # --- asking

    def test_asking(self):
        data = bag(lab_messages(10, salt=4050))
        row = self.announce(data, 'asked.bag').json()
        asked = self.post('/recordings/%s/fetch' % row['id'], 202).json()
        self.assertEqual((asked['state'], asked['start'], asked['problem']), ('waiting', None, None))
        self.assertEqual(self.post('/recordings/%s/fetch' % row['id'], 202).json()['id'], asked['id'])  # once
        part = self.post('/recordings/%s/fetch?start=%%2B0.1s&end=%%2B0.2s' % row['id'], 202).json()
        self.assertEqual(int(part['end_ns']) - int(part['start_ns']), 100_000_000)
        self.assertEqual(self.server.request('POST', '%s/recordings/%s/fetch?start=%%2B2s&end=%%2B1s' % (API, row['id'])).status, 400)
        mine = [f for f in self.fetches() if f['recording'] == row['id']]
        self.assertEqual([(f['id'], f['name'], f['collection'], f['sha256']) for f in mine], [(f['id'], 'asked.bag', 'robots', sha256(data)) for f in (asked, part)])
        self.assertEqual(self.fetches(OTHER), [])
        for query in ('agent=%s&problem=x' % OTHER, 'agent=%s&problem=x&recording=%s' % (AGENT, row['id']), 'agent=%s' % AGENT):
            self.assertIn(self.post('/fetches/%d?%s' % (asked['id'], query)).status, (400, 404), query)
        self.post('/fetches/%d?agent=%s&problem=%s' % (asked['id'], AGENT, urllib.parse.quote('the file is no longer on this robot')), 204)
        cut = self.server.added('asked_part.bag', bag(lab_messages(1, salt=4051)), collection='robots')
        self.post('/fetches/%d?agent=%s&recording=%s' % (part['id'], AGENT, cut), 204)
        self.assertEqual(self.post('/fetches/%d?agent=%s&recording=%s' % (part['id'], AGENT, cut)).status, 404)  # answered
        shown = self.row(row['id'])['announced']['fetches']
        self.assertEqual([(f['id'], f['state'], f['problem'], f['result']) for f in shown],
                         [(part['id'], 'done', None, cut), (asked['id'], 'failed', 'the file is no longer on this robot', None)])
        again = self.post('/recordings/%s/fetch' % row['id'], 202).json()
        self.assertNotEqual(again['id'], asked['id'])
        self.post('/fetches/%d?agent=%s&problem=%s' % (again['id'], AGENT, urllib.parse.quote('é' * 200)), 204)  # longer than what is kept
        self.assertEqual(self.row(row['id'])['announced']['fetches'][0]['problem'], 'é' * 127)
        self.assertIn(self.server.put('asked.bag', data, collection='robots').status, (200, 201))
        self.assertEqual([f for f in self.fetches() if f['recording'] == row['id']], [])
        self.assertProblem(self.post('/recordings/%s/fetch' % row['id']), 409, 'ready')

    def test_quota_counts_when_it_arrives(self):
        data = bag(lab_messages(2, salt=4060))
        rules = json.dumps({'rules': [], 'quotas': [{'collection': 'small', 'size': len(data) - 1}]})
        self.assertEqual(self.server.request('PUT', API + '/admin/retention', rules, {'Content-Type': 'application/json'}).status, 200)
        try:
            row = self.announce(data, 'q.bag', collection='small').json()
            self.assertEqual(row['state'], 'announced')
            self.assertEqual(self.server.put('q.bag', data, collection='small').status, 507)
            self.assertEqual(self.row(row['id'])['state'], 'announced')
            self.assertEqual(self.server.request('DELETE', '%s/recordings/%s' % (API, row['id'])).status // 100, 2)
            self.post('/recordings/%s/restore' % row['id'], 200)
        finally:
            self.server.request('PUT', API + '/admin/retention', '{"rules": [], "quotas": []}', {'Content-Type': 'application/json'})

    def test_trash(self):
        data = bag(lab_messages(2, salt=4070))
        row = self.announce(data, 't.bag').json()
        self.assertEqual(self.server.request('DELETE', '%s/recordings/%s' % (API, row['id'])).status // 100, 2)
        self.assertEqual(self.server.request('POST', '%s/recordings/%s/fetch' % (API, row['id'])).status, 409)
        self.assertEqual(self.post('/recordings/%s/restore' % row['id'], 200).json()['state'], 'announced')
        self.assertEqual(self.get('%s/recordings/%s/topics' % (API, row['id'])).status, 200)
        self.assertEqual(self.server.request('DELETE', '%s/recordings/%s' % (API, row['id'])).status // 100, 2)
        arrived = self.server.put('t.bag', data, collection='robots')
        self.assertEqual(arrived.status, 201)
        self.assertNotEqual(arrived.json()['id'], row['id'])  # who deleted it keeps it deleted

    # --- what else there is of an archive

    @in_a_file
    @in_a_folder
    def test_restart_backup_and_rebuild(self):
        server = Server(tempfile.mkdtemp(prefix='reel-announce-'))
        self.addCleanup(shutil.rmtree, server.data, ignore_errors=True)
        data = bag(lab_messages(4, salt=4080))
        row = self.announce(data, 'kept.bag', server=server, tag='a=b').json()
        coverage = server.get('%s/recordings/%s/coverage' % (API, row['id'])).body
        server.stop()
        copy = server.data + '-copy'
        self.addCleanup(shutil.rmtree, copy, ignore_errors=True)
        for step in ('restart', 'fsck', 'rebuild', 'backup'):
            with self.subTest(step):
                if step == 'fsck':
                    self.assertEqual(reel('fsck', '--data', server.data, check=False).returncode, 0)
                if step == 'rebuild':
                    os.rename(os.path.join(server.data, 'catalog.db'), os.path.join(server.data, 'lost.db'))
                    reel('fsck', '--rebuild', '--data', server.data, check=False)
                folder = server.data
                if step == 'backup':
                    reel('backup', copy, '--data', server.data, '--blobs', 'copy')
                    folder = copy
                again = Server(folder)
                now = self.row(row['id'], again)
                self.assertEqual((now['state'], now['tags'], now['size'], now['announced']['robot'], now['messages']), ('announced', {'a': 'b'}, len(data), 'rover 7', row['messages']))
                self.assertEqual(again.get('%s/recordings/%s/coverage' % (API, row['id'])).body, coverage)
                self.assertTrue(eventually(lambda: not again.get(API + '/jobs?state=running').json()['items']))
                again.stop()
        again = Server(server.data)
        self.addCleanup(again.stop)
        self.assertEqual(again.put('kept.bag', data, collection='robots').json()['id'], row['id'])
