"""What an archive of tests/upgrade says of itself: the answers of the API that make.py keeps and test_upgrade.py asks for again. A request that a later
version no longer takes must stay here, with its reason in CHANGED of test_upgrade.py."""
import gzip
import hashlib
import json
import os
import re
import tarfile
import time

from harness import API, eventually

FILES = '/srv/recordings'  # stands for the folder of referenced files within a kept archive
ROOTS = 'files'  # that folder beside the archive
# Below a row that is named here, what changes by itself: deliveries are tried again, and time goes on.
VOLATILE = {'used', 'failed_tries', 'next_try', 'deliveries', 'problem_at', 'age', 'next', 'expires', 'lease', 'checked', 'last_check', 'ended', 'request_id', 'last_used', 'since'}
EXPORTS = ('as/x.mcap', 'as/x.mcap?compression=zstd', 'as/x.bag', 'as/x.ndjson', 'as/x.csv?topic=/odom')
LISTS = (
    '/recordings?limit=100&sort=name&count=true', *('/recordings?limit=100&sort=name&state=' + s for s in ('ready', 'trashed', 'failed', 'missing', 'changed', 'recording')),
    *('/recordings?sort=name&limit=100&' + q for q in ('q=drive', 'q=topic:/odom', 'q=robot:r1', 'tag=robot=r1', 'damaged=true', 'group=pair', 'collection=sim')),
    '/collections', '/collections/lab', '/stats', '/stats?by=day', '/coverage', '/coverage?by=collection', '/values?field=topic', '/values?field=type', '/values?field=format',
    '/tags', '/tags/robot', '/events', '/tokens', '/webhooks', '/audit?limit=100', '/changes?since=0&limit=1000', '/failures', '/admin/retention',
    '/admin/scrub/last', '/jobs?limit=100&kind=import&kind=batch&kind=scrub', '/searches', '/searches/quick%20look', '/collections/lab/layouts', '/collections/lab/layouts/wide',
    '/search/values?where=%2Fodom.x%3E40&collection=lab&sort=name',
)
EACH = ('', '/notes', '/events', '/topics', '/scan', '/attachments', '/metadata', '/coverage', '/messages?limit=3', '/thumbnail', '/tags/robot')


def stable(value):
    if isinstance(value, dict):
        grows = value.get('state') == 'recording'  # a start changes its row
        return {k: stable(v) for k, v in value.items() if k not in VOLATILE and not (grows and k == 'updated')}
    return [stable(v) for v in value] if isinstance(value, list) else value


class Archive:
    """A running server on an archive, as its administrator sees it."""
    def __init__(self, server, token):
        self.server, self.headers = server, {'Authorization': 'Bearer ' + token}

    def ask(self, path, method='GET', body=None, **headers):
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        kind = {'Content-Type': 'application/json'} if isinstance(body, (dict, list)) else {}
        given = {**self.headers, **kind, **{k.replace('_', '-'): v for k, v in headers.items()}}
        return self.server.request(method, path if path.startswith('/api') else API + path, data, given)

    def items(self, path):
        return self.ask(path).json()['items']

    def is_quiet(self):
        return not self.items('/jobs?state=queued&state=running&kind=scan&kind=sweep') and not self.items('/recordings?state=scanning')

    def answer(self, path, **headers):
        a = self.ask(path, **headers)
        kind = a.headers.get_content_type()
        out = {'status': a.status, 'type': kind}
        if kind in ('application/json', 'application/problem+json'):
            out['body'] = stable(a.json())
        else:
            out.update(size=len(a.body), sha256=hashlib.sha256(a.body).hexdigest())
        if '/as/' in path or '/file/' in path:
            out['etag'] = a.headers.get('ETag')
        return out

    def answers(self, noted):
        """Everything, by path. Only reads."""
        assert eventually(self.is_quiet)
        time.sleep(1)  # references are checked, webhooks tried
        out = {path: self.answer(path) for path in LISTS}
        changes = out['/changes?since=0&limit=1000']['body']
        changes['items'] = [c for c in changes['items'] if c['seq'] <= noted['seq']]  # a start makes more
        everything = [r for state in ('', '&state=trashed') for r in self.items('/recordings?limit=100&sort=name' + state)]
        for r in sorted(everything, key=lambda r: r['id']):
            one = '/recordings/' + r['id']
            for rest in EACH:
                out[one + rest] = self.answer(one + rest)
            if r['state'] in ('ready', 'recording'):
                name = r['parts'][0]['name'] if r.get('parts') else r['name']
                for rest in ('file/' + name, *EXPORTS):
                    out['%s/%s' % (one, rest)] = self.answer('%s/%s' % (one, rest))
        for hook in self.items('/webhooks'):
            out['/webhooks/%s' % hook['id']] = self.answer('/webhooks/%s' % hook['id'])
        for job in self.items('/jobs?limit=100'):
            if job['kind'] == 'batch':
                out['/jobs/%s/results' % job['id']] = self.answer('/jobs/%s/results' % job['id'])
        for path in noted['uploads']:
            head = self.ask(path, 'HEAD', Tus_Resumable='1.0.0')
            out[path] = {'status': head.status, 'offset': head.headers.get('Upload-Offset'), 'length': head.headers.get('Upload-Length')}
        if int(re.search(r'[?&]exp=(\d+)', noted['link']).group(1)) > time.time() + 60:
            followed = self.server.get(noted['link'])
            out['link'] = {'status': followed.status, 'size': len(followed.body)}
        else:  # a link lives a year at most
            out['link'] = noted['answers'].get('link')
        return out


def unpack(kept, folder):
    """A kept archive in `folder`, as if it had been stopped just now: its data folder, its files' folder, and what make.py noted."""
    with tarfile.open(os.path.join(kept, 'archive.tar.xz')) as tar:
        tar.extractall(folder)
    with gzip.open(os.path.join(kept, 'answers.json.gz'), 'rt', encoding='utf-8') as f:
        noted = json.load(f)
    move_files(folder, FILES, os.path.realpath(os.path.join(folder, ROOTS)), noted['sql'])
    return os.path.join(folder, 'data'), os.path.join(folder, ROOTS), noted


def move_files(folder, before, after, sql):
    """References name absolute paths. `sql`: what writes them in the catalog, and makes what expires new again (:before, :after, :now)."""
    import sqlite3
    db = sqlite3.connect(os.path.join(folder, 'data', 'catalog.db'))
    for statement in sql:
        db.execute(statement, {'before': before, 'after': after, 'now': time.time_ns()})
    db.commit()
    db.close()
    for path, _, names in os.walk(os.path.join(folder, 'data', 'blobs')):
        for name in names:
            if name.endswith('.ref'):
                with open(os.path.join(path, name), encoding='utf-8') as f:
                    reference = json.load(f)
                reference['path'] = reference['path'].replace(before, after)
                with open(os.path.join(path, name), 'w', encoding='utf-8') as f:
                    json.dump(reference, f)
