#!/usr/bin/env python3
"""Makes the archive of a version, which later versions must open: make.py --reel PROGRAM VERSION, to be run once, by the program that is released.
It fills an archive over HTTP with something of everything, packs it into tests/upgrade/VERSION/archive.tar.xz, and keeps what each address then
answers in answers.json.gz."""
import argparse
import base64
import gzip
import io
import json
import os
import shutil
import sys
import tarfile
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(TESTS, 'e2e')]
TUS = {'Tus_Resumable': '1.0.0'}
GOLDEN = ('carla/version_0.9.14/input.log', 'tide/usual/input.tide', 'mira/usual/input.tape', 'rosbag-2.0/bz2/input.bag', 'mcap/lz4/input.mcap', 'nanover_legacy/usual_traj/input.traj')
SQL = (  # run before an archive is opened again: the folder of references, and what would have expired
    "UPDATE imports SET folder = CAST(replace(CAST(folder AS TEXT), :before, :after) AS BLOB)",
    "UPDATE failures SET folder = CAST(replace(CAST(folder AS TEXT), :before, :after) AS BLOB)",
    "UPDATE jobs SET subject = replace(subject, :before, :after), options = replace(options, :before, :after), ended_ns = iif(ended_ns > 0, :now, 0)",
    "UPDATE batch_items SET created_ns = :now",
    "UPDATE uploads SET expires_ns = :now + 86400000000000",
)


def fill(archive, root):
    """Everything that a server keeps; the paths of the unfinished uploads, and a signed link."""
    from harness import eventually
    from samples import bag, lab_messages, nanover, nanover_messages
    from test_thumbnail import camera

    def put(name, data, query='', collection='lab', status=(200, 201)):
        answer = archive.ask('/recordings/by-name/%s/%s%s' % (collection, name, query), 'PUT', data)
        assert answer.status in status, answer
        return answer.json().get('id')

    def sent(method, path, body=None, **headers):
        answer = archive.ask(path, method, body, **headers)
        assert answer.status < 300, (method, path, answer)
        return answer

    def ended(answer):
        href = answer.json()['job']['href']
        assert eventually(lambda: archive.ask(href).json()['state'] not in ('queued', 'running')), href

    def imported(name, data, mode, **more):
        with open(os.path.join(root, name), 'wb') as f:
            f.write(data)
        os.utime(os.path.join(root, name), (time.time() - 100,) * 2)
        ended(sent('POST', '/imports', {'path': name, 'mode': mode, 'collection': 'imported', **more}))

    # recordings: revisions, formats, damage, groups, states
    drive = put('drive.bag', bag(lab_messages(1)), '?tag=robot=r1&tag=weather=rain')
    put('drive.bag', bag(lab_messages(1, salt=1)), '?replace=true&tag=robot=r1')
    still = put('camera.bag', bag(camera(n=3, width=16, height=12)))
    molecule = put('molecule.nanover.zip', nanover(nanover_messages(10, 5)), collection='sim')
    for path in GOLDEN:
        with open(os.path.join(TESTS, 'golden', path), 'rb') as f:
            put(path.split('/')[0] + os.path.splitext(path)[1], f.read(), collection='formats')
    put('cut.bag', bag(lab_messages(1, salt=2))[:6000])
    for n in range(2):
        put('part%d.bag' % n, bag(lab_messages(1, salt=3 + n)), '?group=pair')
    put('broken.bag', b'#ROSRECORD V1.3\n' + b'\xff' * 4096, '?keep=true', status=(422,))
    put('trashed.bag', bag(lab_messages(1, salt=5)))
    trashed = archive.items('/recordings?q=trashed')[0]['id']
    sent('POST', '/recordings/%s/notes' % trashed, {'text': 'in the trash'})
    sent('DELETE', '/recordings/' + trashed)
    purged = put('purged.bag', bag(lab_messages(1, salt=6)))
    sent('DELETE', '/recordings/%s?purge=true' % purged)
    for n, name in enumerate(('here.bag', 'gone.bag', 'other.bag')):
        imported(name, bag(lab_messages(1, salt=10 + n)), 'reference')
    os.unlink(os.path.join(root, 'gone.bag'))
    with open(os.path.join(root, 'other.bag'), 'r+b') as f:
        f.write(bag(lab_messages(1, salt=20)))
    imported('copied.bag', bag(lab_messages(1, salt=13)), 'copy', tags={'robot': 'r2'})
    imported('nothing.bag', b'no recording at all\n' * 50, 'copy')
    for name in ('grows', 'finished'):
        live = sent('POST', '/recordings?live=true&collection=live&name=' + name).json()['id']
        for n in range(3):
            row = {'topic': '/a', 'log_time': 1_700_000_000_000_000_000 + n, 'data': {'x': n}}
            sent('POST', '/recordings/%s/messages' % live, json.dumps(row).encode() + b'\n', Content_Type='application/x-ndjson', Idempotency_Key='k%d' % n)
    sent('POST', '/recordings/%s/finish' % live)

    # annotations
    sent('PATCH', '/recordings/' + drive, {'description': 'früh am Morgen', 'custom': {'driver': {'name': 'Ann'}, 'laps': [1, None]}})
    sent('PATCH', '/recordings/' + molecule, {'epoch': '2024-05-01T10:00:00Z'})
    for text in ('first note', 'second “note”'):
        sent('POST', '/recordings/%s/notes' % drive, {'text': text})
    sent('POST', '/events', {'recording': drive, 'start': '+0.2s', 'end': '+0.4s', 'title': 'bump', 'tags': {'kind': 'hit'}})
    sent('POST', '/events', {'recording': molecule, 'start': '+0s', 'title': 'begin'})
    sent('PATCH', '/collections/lab', {'description': 'what the lab drives'})
    sent('PUT', '/collections/lab/layouts/wide', {'value': {'panels': ['/odom', None]}})
    sent('PUT', '/searches/quick%20look', {'value': {'q': 'topic:/odom'}})
    ended(sent('POST', '/recordings:batch', {'ids': [drive, still], 'action': 'change', 'tags': {'reviewed': 'yes'}}))

    # administration
    sent('POST', '/tokens', {'name': 'reader', 'role': 'read', 'collections': ['lab*']})
    sent('POST', '/webhooks', {'url': 'https://hooks.invalid/reel', 'events': ['recording.*'], 'collections': ['lab']})
    sent('PUT', '/admin/retention', {'rules': [{'collection': 'old*', 'max_age': '9000d', 'keep': {'golden': None}}],
                                     'quotas': [{'collection': 'lab', 'recordings': 1000}]})
    assert archive.server.get('/api/v1/recordings').status == 401  # for the audit log
    link = sent('POST', '/links', {'path': '/api/v1/recordings/%s/file/drive.bag' % drive, 'expires': '365d'}).json()['url']

    # uploads that are half done: a plain one, and one of a known name
    uploads = []
    for name, size in (('half.bag', 5000), ('none.bag', 0)):
        data = bag(lab_messages(1, salt=30))
        meta = ','.join('%s %s' % (k, base64.b64encode(v.encode()).decode()) for k, v in (('filename', name), ('collection', 'lab')))
        path = sent('POST', '/uploads', None, **TUS, Upload_Length=str(len(data)), Upload_Metadata=meta).headers['Location']
        if size:
            sent('PATCH', path, data[:size], **TUS, Upload_Offset='0', Content_Type='application/offset+octet-stream')
        uploads.append(path[path.index('/api/'):])

    # derived files: thumbnails, statistics, compressed exports, the integrity check
    for path in ('/recordings/%s/thumbnail' % still, '/recordings/%s/thumbnail?frames=10' % still, '/recordings/%s/as/x.mcap' % drive, '/recordings/%s/as/x.mcap?compression=zstd' % drive):
        archive.ask(path)
    archive.ask('/search/values?where=%2Fodom.x%3E40&sort=name')
    ended(sent('POST', '/admin/scrub'))
    assert eventually(archive.is_quiet)
    assert eventually(lambda: len(archive.items('/recordings?state=missing')) == 1 and len(archive.items('/recordings?state=changed')) == 1)
    return uploads, link


def clean(info):
    info.uid = info.gid = 0
    info.uname = info.gname = ''
    return None if os.path.basename(info.name) == 'lock' else info


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--reel', required=True)
    parser.add_argument('version')
    args = parser.parse_args()
    os.environ['REEL'] = os.path.abspath(args.reel)
    import contents
    import harness
    out = os.path.join(HERE, args.version)
    folder = os.path.realpath(tempfile.mkdtemp(prefix='reel-upgrade-'))
    data, root = os.path.join(folder, 'data'), os.path.join(folder, contents.ROOTS)
    os.mkdir(root)
    token = harness.reel('token', 'create', '--data', data, '--role', 'admin', '--name', 'upgrade').stdout.decode().strip()
    options = ('--import-root', root, '--rescan-interval', '1')
    server = harness.Server(data, *options)
    try:
        archive = contents.Archive(server, token)
        uploads, link = fill(archive, root)
        seq = archive.items('/changes?since=0&limit=1000')[-1]['seq']
    finally:
        server.stop(None)
    contents.move_files(folder, root, contents.FILES, SQL)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    with tarfile.open(os.path.join(out, 'archive.tar.xz'), 'w:xz', preset=9) as tar:
        for name in ('data', contents.ROOTS):
            tar.add(os.path.join(folder, name), name, filter=clean)
    with tarfile.open(os.path.join(out, 'archive.tar.xz')) as tar:
        for member in tar.getmembers():
            assert not member.isfile() or folder.encode() not in tar.extractfile(member).read(), member.name
    shutil.rmtree(folder)

    noted = {'version': args.version, 'token': token, 'uploads': uploads, 'link': link, 'seq': seq, 'sql': SQL, 'answers': {}}
    with gzip.GzipFile(os.path.join(out, 'answers.json.gz'), 'wb', mtime=0) as f:
        f.write(json.dumps(noted).encode())
    with tempfile.TemporaryDirectory() as again:
        data, root, noted = contents.unpack(out, again)
        server = harness.Server(data, '--import-root', root, '--rescan-interval', '1')
        try:
            noted['answers'] = contents.Archive(server, token).answers(noted)
        finally:
            server.stop(None)
    text = io.BytesIO()
    with gzip.GzipFile(fileobj=text, mode='wb', mtime=0) as f:
        f.write(json.dumps(noted, ensure_ascii=False, sort_keys=True).replace(os.path.realpath(root), contents.FILES).encode())
    with open(os.path.join(out, 'answers.json.gz'), 'wb') as f:
        f.write(text.getvalue())
    print(*('%s: %d bytes' % (name, os.path.getsize(os.path.join(out, name))) for name in sorted(os.listdir(out))), sep='\n')


if __name__ == '__main__':
    main()
