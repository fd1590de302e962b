"""A validator of bags (RFC 8493) and of the RO-Crate in their payload, after the specifications alone."""
import hashlib
import json
import re
import urllib.parse

PAYLOAD, TAGS = 'manifest-sha256.txt', 'tagmanifest-sha256.txt'


class Invalid(Exception):
    pass


def need(condition, *why):
    if not condition:
        raise Invalid(' '.join(str(w) for w in why))


def lines(data):
    text = data.decode('utf-8')
    need(not text.startswith('\ufeff'), 'a byte order mark')
    need(text.endswith('\n'), 'the last line does not end')
    return text.split('\n')[:-1]


def manifest(files, name):
    listed = {}
    for line in lines(files[name]):
        match = re.fullmatch(r'([0-9a-f]{64})[ \t]+\*?(\S.*)', line)
        need(match, name, 'has the line', line)
        path = re.sub('%(25|0[AaDd])', lambda m: chr(int(m[1], 16)), match[2])
        need(path not in listed, path, 'is listed twice')
        need(not path.startswith(('/', '~')) and '..' not in path.split('/'), path, 'leads out of the bag')
        listed[path] = match[1]
    return listed


def valid_bag(members):
    """`members`: bytes by their name in the archive. Returns the files by their path in the bag, and bag-info.txt."""
    roots = {name.split('/')[0] for name in members}
    need(len(roots) == 1, 'more than one folder:', roots)
    files = {name.split('/', 1)[1]: data for name, data in members.items()}
    need(files['bagit.txt'] == b'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n', 'bagit.txt', files['bagit.txt'])
    payload, tags = manifest(files, PAYLOAD), manifest(files, TAGS)
    need(set(payload) == {f for f in files if f.startswith('data/')}, 'the payload is not what the manifest lists')
    need(set(tags) == {f for f in files if not f.startswith('data/')} - {TAGS}, 'the tag files are not what their manifest lists')
    for path, digest in {**payload, **tags}.items():
        need(hashlib.sha256(files[path]).hexdigest() == digest, path, 'has another digest')
    info = dict(line.split(': ', 1) for line in lines(files['bag-info.txt']))
    need(info['Payload-Oxum'] == '%d.%d' % (sum(len(files[p]) for p in payload), len(payload)), 'Payload-Oxum', info)
    need(re.fullmatch(r'\d{4}-\d\d-\d\d', info['Bagging-Date']), 'Bagging-Date', info)
    return files, info


def references(value):
    if isinstance(value, dict):
        if set(value) == {'@id'}:
            yield value['@id']
        else:
            for item in value.values():
                yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def valid_crate(files):
    """`files`: those of a valid bag. Returns the entities of the RO-Crate by their @id."""
    data = {path[len('data/'):]: content for path, content in files.items() if path.startswith('data/')}
    document = json.loads(data['ro-crate-metadata.json'])
    need(document['@context'] == 'https://w3id.org/ro/crate/1.2/context', document['@context'])
    entities = {entity['@id']: entity for entity in document['@graph']}
    need(len(entities) == len(document['@graph']), 'two entities have one @id')
    for entity in entities.values():
        need(entity.get('@type'), entity['@id'], 'has no @type')
        need(not any(isinstance(item, dict) and set(item) != {'@id'} for value in entity.values() for item in (value if isinstance(value, list) else [value])),
             entity['@id'], 'is not flat')
    about = entities['ro-crate-metadata.json']
    need(about['about'] == {'@id': './'} and about['conformsTo'] == {'@id': 'https://w3id.org/ro/crate/1.2'}, about)
    root = entities['./']
    need(root['@type'] == 'Dataset' and all(root.get(member) for member in ('name', 'description', 'license')), root)
    need(re.fullmatch(r'\d{4}-\d\d-\d\d', root['datePublished']), root)
    for entity in entities.values():
        for target in references([v for k, v in entity.items() if k != '@id']):
            need(target in entities or target == 'https://w3id.org/ro/crate/1.2', target, 'is not described')
    listed = {urllib.parse.unquote(e['@id']): e for e in entities.values() if e['@type'] == 'File'}
    need(set(listed) == set(data) - {'ro-crate-metadata.json'}, 'the files are not those of the payload:', set(listed) ^ set(data))
    parts = {part['@id'] for part in root['hasPart']}
    need(all(e['@id'] in parts for e in entities.values() if e['@type'] in ('File', 'Dataset') and e is not root), 'hasPart lacks some')
    for path, entity in listed.items():
        need(entity['contentSize'] == str(len(data[path])), path, 'contentSize')
        need(entity['sha256'] == hashlib.sha256(data[path]).hexdigest(), path, 'sha256')
    return entities
