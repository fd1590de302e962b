"""A catalog of many recordings: how it is made, and the rows about what it costs to ask it. Rule of the filling: what triggers would keep is counted at its
end by the statements with which `reel fsck --repair` counts it, so that a catalog that was filled is one that fsck finds nothing wrong with."""
import contextlib
import json
import os
import random
import re
import sqlite3
import time
from datetime import datetime

from lab import API, BenchError, first_byte, in_turn, median, quantile, run, wait_for
from row import Row

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROBOTS = ('albatross', 'buzzard', 'condor', 'dunlin', 'egret', 'falcon', 'grebe', 'heron')
PLACES = ('corridor', 'garage', 'kitchen', 'yard', 'lab', 'stairs', 'office')
RARE = 997  # one of so many is a copy of the other recording
MINUTE = 60 * 10**9  # one begins each minute
PAGES = 100  # asked of each question, for p99 and p50

REPAIRS = ('repair_sums', 'repair_labels', 'repair_tag_keys', 'repair_tag_values', 'repair_title_labels', 'repair_tag_labels')
MORE = '''
CREATE TEMP TABLE more AS WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :count)
SELECT (SELECT max(row) FROM recordings) + 1 + i AS row, i, iif(i % :rare = :rare - 1, :other, :common) AS source,
    json_extract(:robots, '$[' || (i % 8) || ']') AS robot, json_extract(:places, '$[' || (i % 7) || ']') AS place FROM n;
'''
TAGS = '''
INSERT OR IGNORE INTO tag_keys (name) VALUES ('place'), ('robot'), ('run');
INSERT OR IGNORE INTO tag_values (key, value) SELECT DISTINCT k.id, place FROM more CROSS JOIN tag_keys AS k WHERE k.name = 'place';
INSERT OR IGNORE INTO tag_values (key, value) SELECT DISTINCT k.id, robot FROM more CROSS JOIN tag_keys AS k WHERE k.name = 'robot';
INSERT OR IGNORE INTO tag_values (key, value) SELECT DISTINCT k.id, 'run-' || (i / 100) FROM more CROSS JOIN tag_keys AS k WHERE k.name = 'run';
INSERT INTO recording_tags (recording, key, value) SELECT m.row, k.id, v.id FROM more AS m CROSS JOIN tag_keys AS k CROSS JOIN tag_values AS v
ON v.key = k.id AND v.value = CASE k.name WHEN 'place' THEN place WHEN 'robot' THEN robot ELSE 'run-' || (i / 100) END
WHERE k.name IN ('place', 'robot', 'run');
'''
LINKS = '''
INSERT INTO parts SELECT m.row, p.position, p.sha256, p.size, p.file_name FROM more AS m CROSS JOIN parts AS p ON p.recording = m.source;
INSERT INTO search (rowid, text) SELECT m.row, search_text(r.name, r.collection) FROM more AS m CROSS JOIN recordings AS r ON r.row = m.row;
'''


def insert_recordings(db):
    """Copies of their source, but for the columns named here."""
    own = {'row': 'm.row', 'id': 'randomblob(16)', 'name': "printf('%s-%s-%06d.bag', robot, place, i)", 'revision': '1', 'clock': '0',
           'start_ns': 'c.start_ns + i * :minute', 'end_ns': 'c.end_ns + i * :minute', 'created_ns': '1000000000 + i', 'updated_ns': '1000000000 + i'}
    columns = [row[1] for row in db.execute('PRAGMA table_info(recordings)')]
    db.execute('INSERT INTO recordings (%s) SELECT %s FROM more AS m CROSS JOIN recordings AS s ON s.row = m.source CROSS JOIN recordings AS c ON c.row = :common'
               % (', '.join(columns), ', '.join(own.get(column, 's.' + column) for column in columns)), {'minute': MINUTE, 'common': 1})


def fill(path, count):
    """Puts `count` copies of the two recordings of a stopped server's catalog into it; nothing is synced to disk."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript('PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -1000000; PRAGMA journal_mode = MEMORY; BEGIN')
        db.create_function('search_text', -1, search_text, deterministic=True)
        triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute('DROP TRIGGER ' + name)
        db.execute(MORE, {'count': count, 'rare': RARE, 'common': 1, 'other': 2, 'robots': as_json(ROBOTS), 'places': as_json(PLACES)})
        insert_recordings(db)
        for text in (TAGS, LINKS):
            run_each(db, text)
        for name in REPAIRS:
            db.execute(statement('fsck', name))
        db.execute(statement('labels', 'labels_missing'))  # their text is written by the server when it starts
        for _, sql in triggers:
            db.execute(sql)
        db.execute('COMMIT')
        db.execute('PRAGMA journal_mode = WAL')


def statement(subject, name):
    with open(os.path.join(ROOT, 'sql', subject + '.sql')) as f:
        return f.read().split('-- name: %s\n' % name)[1].split('\n\n')[0]


def search_text(*texts):
    """As server/catalog/text.h says, of ASCII."""
    return '\n'.join('  ' + ''.join(word + '  ' for word in re.findall('[a-z0-9]+', text.lower())) for text in texts)


def as_json(words):
    return '["' + '","'.join(words) + '"]'


def run_each(db, text):
    for statement in text.split(';\n'):
        if statement.strip():
            db.execute(statement)


def filled(lab, name, count):
    """A server with `count` recordings in its catalog, one of 997 of another kind; and seconds from its start to its first answer."""
    path, _ = lab.bag('1.2', 100000, 100, 1000)
    run(lab.program, 'demo', '--force', lab.folder)
    reel = lab.reel(name)
    for file in path, lab.path('demo.nanover.zip'):
        reel.put(file, os.path.basename(file))
    lab.stop(reel)
    fill(os.path.join(lab.path(name), 'catalog.db'), count - 2)
    start = time.perf_counter()
    reel = lab.reel(name)
    reel.request('GET', API + '?limit=1')
    return reel, time.perf_counter() - start


def questions(count, pick):
    """(what, path, recordings on the page): each question another time anew, all of a catalog of `count`."""
    first = 1262304000  # 2010-01-01, and one a minute
    listed, values = API + '?limit=100&', '/api/v1/values?'

    def span(minutes):
        at = first + 60 * pick.randrange(max(count - minutes, 1))
        return 'start=%ds&end=%ds' % (at, at + 60 * minutes)

    day, month = min(1440, count // 2), min(43200, count // 2)
    asked = [
        ('list, page of 100', lambda: listed, 100),
        ('list by name', lambda: listed + 'sort=name', 100),
        ('next page at a depth of half', None, 100),
        ('word that every eighth has', lambda: listed + 'q=' + pick.choice(ROBOTS), 100),
        ('… by name', lambda: listed + 'sort=name&q=' + pick.choice(ROBOTS), 100),
        ('… by size, counted', lambda: listed + 'sort=-size&count=true&q=' + pick.choice(ROBOTS), 100),
        ('two words', lambda: listed + 'q=%s+yard' % pick.choice(ROBOTS), 100),
        ('word that one has', lambda: listed + 'q=%06d' % pick.randrange(count - 2), 1),
        ('part of a name that few have', lambda: listed + 'q=' + ('%06d' % pick.randrange(count - 2))[1:], None),
        ('part of a name that many have', lambda: listed + 'sort=name&q=' + pick.choice(ROBOTS)[1:], 100),
        ('either of two words', lambda: listed + 'sort=-size&q=%s+or+yard' % pick.choice(ROBOTS), 100),
        ('a day in q', lambda: listed + 'q=2010-01-%02d' % pick.randrange(1, 29 if count > 50000 else 2), None),
        ('size above, by name', lambda: listed + 'sort=name&q=size:>%d' % pick.randrange(1, 1000), 100),
        ('topic that nearly all have', lambda: listed + 'topic=/sensor%d/*' % pick.randrange(10), 100),
        ('topic that one of %d has' % RARE, lambda: listed + 'topic=frame', min(100, (count - 2) // RARE + 1)),
        ('topic by regular expression', lambda: listed + 'topic_re=sensor%5B12%5D', 100),
        ('tag that every eighth has', lambda: listed + 'tag=robot%3D' + pick.choice(ROBOTS), 100),
        ('… by name', lambda: listed + 'sort=name&tag=robot%3D' + pick.choice(ROBOTS), 100),
        ('tag that a hundred have', lambda: listed + 'q=run:run-%d' % pick.randrange(count // 100 - 1), 100),
        ('glob over a ninth of the values of a tag', lambda: listed + 'tag=run%%3Drun-%d*' % pick.randrange(1, 10), None),
        ('… by name', lambda: listed + 'sort=name&tag=run%%3Drun-%d*' % pick.randrange(1, 10), None),
        ('interval of a day', lambda: listed + span(day), 100),
        ('… by name', lambda: listed + 'sort=name&' + span(day), 100),
        ('interval of a month', lambda: listed + span(month), 100)]
    asked += [('… by ' + sort.strip('-'), lambda sort=sort: listed + 'sort=%s&' % sort + span(month), 100) for sort in ('start', '-end', 'name', 'size', 'duration')]
    asked += [  # what a sort finds last: only a gather helps
        ('worst: the newest percent, oldest first', lambda: listed + 'sort=created&created_after=%dns' % (10**9 + count // 100 * 99), 100),
        ('worst: the oldest tenth of a tag, newest first', lambda: listed + 'sort=-start&q=run:run-0*,run-1,run-2,run-3', None),
        ('worst: two filters that exclude each other', lambda: listed + 'sort=name&q=%s+-robot:*' % pick.choice(ROBOTS), 0),
        ('worst: a month, newest first', lambda: listed + 'sort=-created&start=%ds&end=%ds' % (first, first + 60 * month), 100)]
    return asked + [
        ('facets of topics', lambda: values + 'field=topic', None),
        ('facets of a tag', lambda: values + 'field=tag:run&prefix=run-' + str(pick.randrange(1, 10)), None),
        ('facets of a search', lambda: values + 'field=topic&q=' + pick.choice(ROBOTS), None),
        ('coverage of a day', lambda: '/api/v1/coverage?' + span(day), None),
        ('coverage of a month', lambda: '/api/v1/coverage?' + span(month), None),
        ('totals', lambda: '/api/v1/stats', None)]


def asked_of(server, count):
    """questions() with the whole name and the path of each."""
    deep = json.loads(server.request('GET', '%s?sort=name&limit=1&offset=%d' % (API, count // 2))[1])['next']
    kind, asked = '', []
    for what, ask, items in questions(count, random.Random(3)):
        kind = kind if what.startswith('…') else what
        asked.append((what.replace('…', kind), ask or (lambda: '%s?limit=100&sort=name&cursor=%s' % (API, deep)), items))
    return asked


def pages(lab):
    return PAGES // 4 if lab.quick else PAGES


def list_row(what, count, taken, ratio, samples):
    p99, limit = quantile(taken, 0.99), 250 if 'worst' in what else 25
    return Row('%s, %s recordings, p99 | p50' % (what, count), '%.2f ms' % (p99 * 1e3), '%.2f ms' % (median(taken) * 1e3), ratio, 'p99 <= %d ms' % limit,
               p99 * 1e3 <= limit, samples)


def page_seconds(line, what, path, items):
    """Of a page that has so many recordings; None: any number."""
    _, whole, body = first_byte(line, path(), {}, 200)
    if items is not None and body.count(b'"collection"') != items:
        raise BenchError('%s: a page of %d has %d recordings' % (what, items, body.count(b'"collection"')))
    return whole


def ask_in_turn(lab, servers, counts):
    asked = [asked_of(server, count) for server, count in zip(servers, counts)]
    lines = [server.connect() for server in servers]
    for k, (what, _, items) in enumerate(asked[1]):
        def one(i):
            return page_seconds(lines[i], what, asked[i][k][1], items if i == 1 else None)

        for i in (0, 1):
            one(i)
        few, many = in_turn(pages(lab), lambda: one(0), lambda: one(1))
        yield list_row(what, counts[1], many, median(many) / median(few), {'ours_s': many, 'of_%d_s' % counts[0]: few})
    for line in lines:
        line.close()


def lists(lab):
    """The ratio is of the medians of the large catalog and of one of a thousand."""
    counts = 1000, 100000 if lab.quick else 1000000
    (few, _), (many, started) = filled(lab, 'few', counts[0]), filled(lab, 'many', counts[1])
    yield Row('start of a server with %d recordings until it lists' % counts[1], '%.0f ms' % (started * 1e3), '', None, '<= 1 s', started <= 1)
    yield sweep_row('', many, counts[1])
    yield from ask_in_turn(lab, (few, many), counts)
    each = os.path.getsize(lab.path('many') + '/catalog.db') / counts[1]
    yield Row('catalog, bytes a recording', '%.0f B' % each, '', None, '<= 3000 B', each <= 3000)
    for server in few, many:
        lab.stop(server)


def sweep_row(where, reel, count):
    swept = swept_in(reel)
    return Row('%sthe sweep at start, in the background, of %d recordings' % (where, count), '%.1f s' % swept, '', None, '<= 60 s', swept <= 60)


def swept_in(reel):
    """Seconds that the sweep at start took, once it is over."""
    wait_for(lambda: not reel.busy(), 'the sweep at start', 600)
    job = reel.jobs('sweep')[0]
    if job['state'] != 'done':
        raise BenchError('the sweep at start: %s' % job)
    began, ended = (datetime.fromisoformat(job[key][:26].rstrip('Z') + '+00:00') for key in ('created', 'ended'))
    return (ended - began).total_seconds()
