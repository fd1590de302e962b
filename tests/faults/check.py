"""Compares an archive whose server was cut off with what it acknowledged to its clients (load.py): that is there whole, nothing half is visible, nothing is left over."""
import json
import os

from harness import API, eventually, files_below, reel
from load import sha


def lose_catalog(data):
    """Of a stopped server: the next one makes it again from files and manifests. Open uploads are gone with it."""
    for name in ('catalog.db', 'catalog.db-wal', 'catalog.db-shm'):
        if os.path.exists(os.path.join(data, name)):
            os.unlink(os.path.join(data, name))


class Check:
    """`lasting`: what was removed is gone for good (not so when the power went)."""

    def __init__(self, load, server, data, lasting=True):
        self.load, self.server, self.data, self.lasting = load, server, data, lasting
        self.wrong = []
        load.server, load.cutting, load.dark = server, False, False  # its workers ask this one from now on

    def report(self, text, *args):
        self.wrong.append(text % args)

    def get(self, path, expect=200):
        answer = self.server.get(API + path)
        if answer.status != expect:
            self.report('GET %s: %r', path, answer)
            return None
        return answer

    def wait_for_jobs(self):
        """The sweep that every start begins with is one of them."""
        def over():
            jobs = self.server.get(API + '/jobs').json()['items']
            return jobs if all(j['state'] not in ('queued', 'running') for j in jobs) and any(j['kind'] == 'sweep' for j in jobs) else None
        jobs = eventually(over)
        if not jobs:
            raise AssertionError('jobs do not end: %r' % self.server.get(API + '/jobs').json())
        for job in jobs:
            if job['state'] != 'done':
                self.report('a job has not ended well: %r', job)

    def rows(self):
        found = []
        for state in ('', '&state=trashed'):
            path = '/recordings?limit=1000' + state
            while path:
                page = self.get(path).json()
                found += [{**row, 'place': 'trash' if state else 'here'} for row in page['items']]
                path = page['next'] and '/recordings?limit=1000%s&cursor=%s' % (state, page['next'])
        return found

    def bytes_of(self, row):
        """What it gives out is what it says that it is, and its index can be used."""
        path = '/recordings/' + row['id']
        if row['place'] == 'trash':
            return
        for part in row['parts']:
            answer = self.get('%s/file/%s' % (path, part['name']))
            if answer and (sha(answer.body) != part['sha256'] or len(answer.body) != part['size']):
                self.report('%s: file %s is not what it says', row['name'], part['name'])
        self.get(path + '/messages?limit=2')

    def state_of(self, row):
        notes = self.get('/recordings/%s/notes?limit=1000' % row['id']).json()['items'] if row['notes'] else []
        return {'place': row['place'], 'files': tuple(p['sha256'] for p in row['parts']), 'tags': row['tags'], 'description': row['description'],
                'notes': sorted(n['text'] for n in notes)}

    def check_place(self, recording, row):
        """`row`: where it was found; None."""
        may = [m for m in recording.may if not recording.due or m['place'] == 'here']
        if row is None:
            found = [m for m in may if m['place'] == 'gone']
            state = None
        else:
            recording.id, state = row['id'], self.state_of(row)
            found = [m for m in may if {**m, 'notes': sorted(m['notes']), 'files': sorted(m['files'])} == {**state, 'files': sorted(state['files'])}]
            if row['state'] != ('ready' if row['place'] == 'here' else 'trashed'):
                self.report('%s is %s: %s', row['name'], row['state'], row['problem'])
        if not found:
            asked = next(w.asked for w in self.load.workers if recording in w.recordings)
            self.report('%s/%s (%s) is %r, and may be %r, after %s', recording.collection, recording.name, recording.id, state, may, '; '.join(asked))
        recording.may, recording.due = found[:1] or may[-1:], False

    def sources(self, recording, row):
        """Of an import: copied and referred-to files stay, a moved one is at one of two places."""
        path, mode = recording.source
        there = os.path.exists(path)
        if mode != 'move':
            if not there:
                self.report('%s was to be left alone', path)
        elif row is None and not there and recording.id is None:
            self.report('%s has gone, and is no recording', path)
        elif row is not None and there and self.lasting:
            self.report('%s was moved, and is still there', path)

    def recordings(self):
        rows = self.rows()
        by_id, by_key = {r['id']: r for r in rows}, {}
        for row in rows:
            by_key.setdefault((row['collection'], row['name'], row['parts'][0]['sha256']), []).append(row)
        known = set()
        for recording in self.load.recordings():
            keys = {(recording.collection, recording.name, m['files'][0]) for m in recording.may}
            found = by_key.get(keys.pop(), [])
            if len(found) > 1:
                self.report('%s is there %d times: %s', recording.name, len(found), [(r['id'], r['place'], r['created'], r['updated']) for r in found])
            row = by_id.get(recording.id) if recording.id else found[0] if found else None
            self.check_place(recording, row)
            if recording.source:
                self.sources(recording, row)
            known.update([row['id']] if row else [])
        for row in rows:
            if row['id'] not in known:
                self.report('not requested by a client: %r', row)
            self.bytes_of(row)
        return rows

    def files(self, rows):
        """No orphaned files: neither in the store nor among the uploads."""
        used = {r['content'].split(':')[1] for r in rows} | {p['sha256'] for r in rows for p in r['parts']}
        for path in files_below(os.path.join(self.data, 'blobs')):
            name = os.path.basename(path)
            if name[:64] not in used or name[64:] not in ('', '.json', '.reel', '.ref', '.stats', '.events'):
                self.report('an orphan: %s', name)
        incoming = os.path.join(self.data, 'incoming')
        left = lambda: [path for path in files_below(incoming) if not self.is_upload(os.path.basename(path))]
        if not eventually(lambda: not left()):  # a job may be writing just now: what it writes is there for a moment
            self.report('left among what comes in: %s', [os.path.basename(path) for path in left()])

    def is_upload(self, name):
        session, ending = os.path.splitext(name)
        return ending == '.part' and self.server.request('HEAD', '%s/uploads/%s' % (API, session), headers={'Tus-Resumable': '1.0.0'}).status == 200

    def fsck(self):
        done = reel('fsck', '--data', self.data, '--json', check=False)
        if done.returncode != 0:
            self.report('fsck (%d): %s %s', done.returncode, json.loads(done.stdout)['findings'] if done.stdout else '', done.stderr.decode())

    def run(self):
        self.wait_for_jobs()
        for worker in self.load.workers:
            worker.look_at_all()
        rows = self.recordings()
        self.files(rows)
        self.fsck()
        if self.wrong:
            raise AssertionError('\n'.join(self.wrong[:20]) + '\n' + self.server.log_text()[-600:])
        return rows
