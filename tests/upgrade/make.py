#!/usr/bin/env python3
"""Makes NNNN.sql: the data folder of an archive as `reel` of an earlier day leaves it, as SQL text. test_upgrade.py lets the newest program run on it.

    make.py --reel OLD/reel > 0009.sql          by the program of that day itself: run it before a migration is added
    make.py --from 0008.sql --rows 0008.sql --version 6 > 0006.sql

Both want Debian's sqlite3 command. The second is for versions that no program of the history has left: recordings of --from, other rows of --rows,
put through the migrations and the triggers up to that version, as far as it has tables for them.

Besides the catalog's own tables a file holds three of the test: `data_folder` (each file of the folder but the catalog), `told` (what the program
answered, question by question), `keys` (what must be known to ask). `@FOLDER@` stands for the folder of it all.
"""
import argparse
import glob
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, '..', '..')
sys.path.insert(0, os.path.join(ROOT, 'tests', 'e2e'))
MARK = 'PRAGMA application_id = 0x5265656c; PRAGMA user_version = %d;\n'
EXTRA = ('data_folder', 'told', 'keys')
SINCE = {'group': 3, 'epoch': 4, 'calendar_start': 4, 'calendar_end': 4, 'tags': 4, 'description': 4, 'custom': 4, 'notes': 4, 'events': 4}  # members of a recording


def golden(name, file):
    with open(os.path.join(ROOT, 'tests', 'golden', name, file), 'rb') as f:
        return f.read()


def small(salt):
    """A bag of some KB, for it stands in the text as hex."""
    from samples import bag, lab_messages
    return bag(lab_messages(1, salt=salt)[::5], indexed=False)


class Maker:
    def __init__(self, folder):
        self.folder, self.data, self.ids, self.told, self.keys = folder, os.path.join(folder, 'data'), {}, [], {}
        import harness
        self.harness, self.server = harness, None

    def start(self):
        os.makedirs(os.path.join(self.folder, 'files'), exist_ok=True)
        known = subprocess.run([self.harness.REEL, 'serve', '--help'], stdout=subprocess.PIPE).stdout
        self.new = b'--import-root' in known
        self.server = self.harness.Server(self.data, *(['--import-root', os.path.join(self.folder, 'files')] if self.new else []))

    def ask(self, method, path, body=None, **headers):
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers.setdefault('Content_Type', 'application/json')
        if 'token' in self.keys:
            headers['Authorization'] = 'Bearer ' + self.keys['token']
        headers = {k.replace('_', '-'): v for k, v in headers.items()}
        answer = self.server.request(method, path if path.startswith(self.harness.API) else self.harness.API + path, body, headers)
        if answer.status >= 300:
            print(method, path, answer.status, answer.json()['detail'], file=sys.stderr)
        return answer

    def put(self, name, body, query='', collection='lab'):
        answer = self.ask('PUT', '/recordings/by-name/%s/%s%s' % (collection, name, query), body)
        self.ids[name] = answer.json()['id']
        return self.ids[name]

    # ---- what is put in

    def recordings(self):
        from legacy import pair
        from samples import bag, lab_messages, nanover, nanover_messages
        self.put('walk.bag', bag(lab_messages(1)[::5]))
        self.put('cut.bag', small(1)[:-100])
        self.put('molecule.nanover.zip', nanover(nanover_messages(6, 3)), collection='chemie')
        traj, state = pair(4, 3)
        self.put('run.traj', traj)
        self.put('run.state', state, '?part_of=run.traj')
        self.put('drive.log', golden('carla/version_0.9.15', 'input.log'))
        self.put('old.bag', small(2))
        self.ask('DELETE', '/recordings/' + self.ids['old.bag'])
        self.put('walk.bag', small(3), '?replace=true')

    def said(self):
        walk, molecule = '/recordings/' + self.ids['walk.bag'], '/recordings/' + self.ids['molecule.nanover.zip']
        self.ask('PATCH', walk, {'description': 'durch die Tür', 'tags': {'robot': 'r1', 'site': 'hall 7'}, 'custom': {'operator': 'ann'}})
        self.ask('PATCH', molecule, {'epoch': '2024-05-01T10:00:00Z', 'tags': {'robot': 'none'}})
        self.ask('POST', walk + '/notes', {'text': 'look at the door'})
        self.ask('POST', '/events', {'recording': self.ids['walk.bag'], 'start': '+100ms', 'end': '+500ms', 'title': 'fall', 'tags': {'kind': 'bad'}})
        self.ask('POST', '/events', {'recording': self.ids['molecule.nanover.zip'], 'start': '+0s', 'title': 'begins'})
        self.ask('PATCH', '/collections/lab', {'description': 'the big hall'})
        self.ask('PATCH', '/recordings/' + self.ids['drive.log'], {'tags': {'robot': 'r1'}})

    def uploads(self):
        body = small(9)
        self.ask('PUT', '/recordings/by-name/lab/split.bag?group=monday', small(10), Idempotency_Key='k1')
        answer = self.ask('POST', '/uploads', None, Tus_Resumable='1.0.0', Upload_Length=str(len(body)), Upload_Metadata='filename aGFsZi5iYWc=,collection bGFi')
        where = re.sub(r'^https?://[^/]+', '', answer.headers['Location'])
        self.ask('PATCH', where, body[:500], Tus_Resumable='1.0.0', Upload_Offset='0', Content_Type='application/offset+octet-stream')
        self.keys.update(upload=where, upload_body=body.hex(), upload_offset='500')

    def files(self):
        for name, body in (('far.bag', small(4)), ('changed.bag', small(5)), ('bad.bag', b'#ROSRECORD V1.2\n' + b'\xff' * 64)):
            with open(os.path.join(self.folder, 'files', name), 'wb') as f:
                f.write(body)
        job = self.ask('POST', '/imports', {'path': '.', 'mode': 'reference', 'collection': 'far'})
        self.harness.eventually(lambda: self.ask('GET', job.headers['Location']).json()['state'] not in ('queued', 'running'))
        for item in self.ask('GET', '/recordings?collection=far').json()['items']:
            self.ids[item['name']] = item['id']
        with open(os.path.join(self.folder, 'files', 'changed.bag'), 'ab') as f:
            f.write(b'no longer what it was')
        self.ask('GET', '/recordings/%s/messages?limit=1' % self.ids['changed.bag'])
        self.ask('POST', '/webhooks', {'url': 'https://archive.invalid/hook', 'events': ['recording.*'], 'collections': ['lab']})
        self.ask('PUT', '/config/retention', {'rules': [{'collection': 'nowhere', 'max_age': '9000d'}]})

    def rot(self):
        """A stored file that has changed on disk: split.bag's."""
        rid = [i for i in self.ask('GET', '/recordings?q=split').json()['items']][0]['id']
        sha = self.ask('GET', '/recordings/' + rid).json()['parts'][0]['sha256']
        self.ids['split.bag'] = rid
        with open(os.path.join(self.data, 'blobs', sha[:2], sha), 'r+b') as f:
            f.seek(-1, 2)
            byte = f.read(1)
            f.seek(-1, 2)
            f.write(bytes([byte[0] ^ 1]))
        self.harness.reel('scrub', '--data', self.data, check=False)

    def doors(self):
        self.keys['token'] = self.harness.reel('token', 'create', '--data', self.data, '--role', 'admin', '--name', 'ann').stdout.decode().strip()
        self.harness.reel('token', 'create', '--data', self.data, '--role', 'read', '--name', 'gone', '--collection', 'lab')
        self.harness.reel('token', 'revoke', 'gone', '--data', self.data)
        self.ask('DELETE', '/recordings/' + '0' * 32)  # a line in the audit

    # ---- what is asked

    def question(self, since, path, kind):
        answer = self.ask('GET', path)
        if answer.status == 200:
            text = answer.body.decode()
            if kind == 'ids':
                text = json.dumps({'items': [{k: item[k] for k in ('collection', 'name', 'id')} for item in answer.json()['items']]})
            if path == '/webhooks':  # how it goes with them changes by itself
                text = json.dumps({'items': [{k: item[k] for k in ('id', 'url', 'events', 'collections')} for item in answer.json()['items']]})
            self.told.append((since, path, kind, answer.headers.get_content_type(), text))

    def questions(self):
        for path in ('?limit=100', '?state=trashed', '?q=molecule', '?q=odom', '?q=walk', '?format=rosbag-1.2', '?topic=/robot/*', '?type=geometry_msgs/*', '?collection=chemie', '?damaged=true', '?sort=-size',
                     '?start=2010-06-02T00:00:00Z&end=2010-06-03T00:00:00Z'):
            self.question(1, '/recordings' + path, 'ids')
        self.question(3, '/recordings?group=monday', 'ids')
        for path in ('?tag=robot=r1', '?tag=site', '?q=robot:r1'):
            self.question(4, '/recordings' + path, 'ids')
        for path in ('/events', '/collections', '/tags/robot'):
            self.question(4, path, 'json')
        for name, rid in self.ids.items():
            since = 3 if name == 'split.bag' else 7 if name in ('far.bag', 'changed.bag') else 1
            self.question(since, '/recordings/' + rid, 'recording')
            for path in ('/messages?limit=2',) if name == 'drive.log' else ('/topics', '/messages?limit=2', '/messages?start=%2B200ms&end=%2B400ms&limit=2'):
                self.question(since, '/recordings/' + rid + path, 'rows')
        self.question(4, '/recordings/%s/notes' % self.ids['walk.bag'], 'json')
        for path in ('/values?field=format', '/values?field=tag:robot', '/stats?by=format'):
            self.question(5, path, 'json')
        self.question(6, '/webhooks', 'json')
        self.question(7, '/failures', 'json')
        self.question(8, '/config/retention', 'json')

    def make(self):
        self.start()
        self.recordings()
        if self.new:
            self.said()
            self.files()
            self.doors()
            self.uploads()
            self.rot()
            self.server.stop(None)
            self.start()
        self.questions()
        time.sleep(1)  # the audit is written a tenth of a second later
        self.server.stop(None)

    def write(self, out):
        catalog = sqlite3.connect(os.path.join(self.data, 'catalog.db'))
        version, = catalog.execute('PRAGMA user_version').fetchone()
        catalog.executescript('CREATE TABLE data_folder (path TEXT, content BLOB, mtime_ns INTEGER); CREATE TABLE told (since INTEGER, path TEXT, kind TEXT, type TEXT, answer TEXT);'
                              'CREATE TABLE keys (name TEXT, value TEXT);')
        for top in ('data', 'files'):
            for path in self.harness.files_below(os.path.join(self.folder, top)):
                name = os.path.relpath(path, self.folder)
                if not re.search(r'catalog\.db|/lock$|/derived/', name):
                    with open(path, 'rb') as f:
                        content = f.read()
                    catalog.execute('INSERT INTO data_folder VALUES (?, ?, ?)', (name, content, os.stat(path).st_mtime_ns))
        catalog.executemany('INSERT INTO told VALUES (?, ?, ?, ?, ?)', self.told)
        catalog.executemany('INSERT INTO keys VALUES (?, ?)', self.keys.items())
        if version >= 7:
            run = {'paths': [os.path.join(self.folder, 'files', 'late')], 'glob': '', 'collection': 'late', 'mode': 'copy', 'replace': False, 'tags': {}, 'failure': 0}
            catalog.execute('INSERT INTO import_runs (request) VALUES (?)', (json.dumps(run),))  # begun, and cut short by a crash
        catalog.commit()
        catalog.close()
        dump(os.path.join(self.data, 'catalog.db'), version, self.folder, out)


def dump(path, version, folder, out):
    text = subprocess.run(['sqlite3', path, '.dump'], stdout=subprocess.PIPE, check=True).stdout.decode()
    text = text.replace(folder, '@FOLDER@')
    text = text.replace(folder.encode().hex(), '@FOLDER@'.encode().hex())  # in files
    out.write('-- A data folder of catalog version %d; made by make.py. See there.\n' % version + text + MARK % version)


# ---- versions between

# In an order that foreign keys and triggers like; what triggers keep is left to them. Columns that are not there yet, or are counted, are left out.
RECORDINGS = ('recordings', 'parts', 'labels', 'recording_labels', 'tag_keys', 'tag_values', 'recording_tags', 'notes', 'events')
OTHERS = ('tokens', 'audit', 'uploads', 'answers', 'webhooks', 'webhook_results', 'failures', 'imports', 'import_runs', 'rot', 'upkeep')
COUNTED = {'recordings': ('notes', 'events'), 'labels': ('recordings',), 'tag_keys': ('recordings',), 'tag_values': ('recordings',), 'events': ('wall_start_ns', 'wall_end_ns', 'width_ns')}
REFERENCES = 7  # the first version that knows files elsewhere


def load(path):
    db = sqlite3.connect(':memory:')
    with open(path) as f:
        db.executescript(f.read() + 'PRAGMA writable_schema = RESET;')
    return db


def copy(source, to, table, where='1'):
    columns = [c for c in column_names(to, table) if c in column_names(source, table) and c not in COUNTED.get(table, ())]
    names, marks = ', '.join(columns), ', '.join('?' * len(columns))
    to.executemany('INSERT INTO %s (%s) VALUES (%s)' % (table, names, marks), source.execute('SELECT %s FROM %s WHERE %s' % (names, table, where)))


def column_names(db, table):
    return [row[1] for row in db.execute('PRAGMA table_info(%s)' % table)]


def derive(source, rows, version, path):
    source, rows, to = load(source), load(rows), sqlite3.connect(path)
    for name in sorted(glob.glob(os.path.join(ROOT, 'sql', 'migrations', '*.sql')))[:version]:
        with open(name) as f:
            to.executescript(f.read())
    own = "(SELECT row FROM recordings WHERE collection <> 'far')" if version < REFERENCES else '(SELECT row FROM recordings)'
    here = set(n for n, in to.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"))
    for table in RECORDINGS:
        if table in here and column_names(source, table):
            names = column_names(source, table)
            where = 'row IN ' + own if table == 'recordings' else 'recording IN ' + own if 'recording' in names else 'kind < 2' if table == 'labels' and version < 5 else '1'
            copy(source, to, table, where if table != 'recording_labels' else where + (' AND label IN (SELECT id FROM labels WHERE kind < 2)' if version < 5 else ''))
    copy_search(source, to, own)
    for table in OTHERS:
        if table in here:
            copy(rows, to, table, 'folder IS NOT NULL' if table == 'failures' else '1')
    if 'collections' in here and column_names(source, 'collections'):
        to.executemany('UPDATE collections SET description = ? WHERE name = ?', source.execute("SELECT description, name FROM collections WHERE description <> ''"))
    copy_extra(source, rows, to, version)
    to.commit()
    to.close()


def copy_search(source, to, own):
    columns = [c for c in column_names(to, 'search') if c in column_names(source, 'search')]
    to.executemany('INSERT INTO search (rowid, %s) VALUES (?, %s)' % (', '.join(columns), ', '.join('?' * len(columns))),
                   source.execute('SELECT rowid, %s FROM search WHERE rowid IN %s' % (', '.join(columns), own)))


def copy_extra(source, rows, to, version):
    for table in EXTRA:
        to.execute(source.execute('SELECT sql FROM sqlite_schema WHERE name = ?', (table,)).fetchone()[0])
    for name, content, mtime in source.execute('SELECT * FROM data_folder'):
        if version >= REFERENCES or not (name.startswith('files/') or name.endswith('.ref')):
            to.execute('INSERT INTO data_folder VALUES (?, ?, ?)', (name, content, mtime))
    if version >= 3 and not to.execute("SELECT 1 FROM data_folder WHERE path LIKE 'data/incoming/%'").fetchone():
        to.executemany('INSERT INTO data_folder VALUES (?, ?, ?)', rows.execute("SELECT * FROM data_folder WHERE path LIKE 'data/incoming/%'"))
    gone = [i for i, in source.execute("SELECT lower(hex(id)) FROM recordings WHERE collection = 'far'")] if version < REFERENCES else []
    for since, path, kind, form, answer in source.execute('SELECT * FROM told WHERE since <= ?', (version,)):
        if any(i in answer for i in gone) and kind == 'ids':
            whole = json.loads(answer)
            whole['items'] = [item for item in whole['items'] if item['id'] not in gone]
            answer = json.dumps(whole)
        elif gone and (any(i in path or i in answer for i in gone) or (kind == 'json' and re.search('/collections|/stats|/values', path))):
            continue
        if kind == 'recording':
            answer = json.dumps({k: v for k, v in json.loads(answer).items() if SINCE.get(k, 1) <= version})
        to.execute('INSERT INTO told VALUES (?, ?, ?, ?, ?)', (since, path, kind, form, answer))
    to.executemany('INSERT INTO keys VALUES (?, ?)', [(n, v) for n, v in rows.execute('SELECT * FROM keys') if version >= (2 if n == 'token' else 3)])


def empty_tables(path):
    db = sqlite3.connect(path)
    names = [n for n, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
    return [n for n in names if not db.execute('SELECT count(*) FROM "%s"' % n).fetchone()[0]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--reel')
    parser.add_argument('--from', dest='source')
    parser.add_argument('--rows')
    parser.add_argument('--version', type=int)
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix='reel-old-')
    try:
        if args.source:
            derive(args.source, args.rows, args.version, os.path.join(folder, 'catalog.db'))
            dump(os.path.join(folder, 'catalog.db'), args.version, folder, sys.stdout)
            print('empty:', empty_tables(os.path.join(folder, 'catalog.db')), file=sys.stderr)
        else:
            os.environ['REEL'] = os.path.abspath(args.reel)
            maker = Maker(folder)
            maker.make()
            maker.write(sys.stdout)
            print('empty:', empty_tables(os.path.join(maker.data, 'catalog.db')), file=sys.stderr)
    finally:
        shutil.rmtree(folder, True)


if __name__ == '__main__':
    main()
