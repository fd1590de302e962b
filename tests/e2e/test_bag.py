"""/search/export.zip?package=bagit: what repositories and journals take, checked by a validator of our own (bagit.py)."""
import hashlib
import io
import json
import os
import random
import unittest
import urllib.parse
import zipfile

from bagit import Invalid, valid_bag, valid_crate
from harness import API, Case, eventually, files_below, in_a_folder
from samples import SECOND, T0, bag, by_topic, lab_messages, read_mcap

LAB = [lab_messages(3, salt=i) for i in range(3)]
DEPOSIT = {
    'title': 'Falls of "r2": 3 % of all', 'description': 'Two lines:\nthe second # one.', 'license': 'CC-BY-4.0', 'publisher': 'Lab für Robotik',
    'doi': '10.5281/zenodo.1234567', 'date': '2026-11-27', 'keywords': ['falls', 'yes', 'key: value'], 'instruments': ['Robot r2', 'Lidar'],
    'authors': [{'family': 'Carberry', 'given': 'Josiah', 'orcid': '0000-0002-1825-0097', 'affiliation': 'Brown University', 'email': 'j@example.org'},
                {'name': 'The r2 team'}, {'family': 'Ōe'}],
}
try:
    import yaml
except ImportError:
    yaml = None


class Bag(Case):
    @classmethod
    def fill(cls):
        cls.ids = [cls.server.added('run%d.bag' % i, bag(messages), '?tag=robot=r2') for i, messages in enumerate(LAB)]
        cls.server.added('50% ü#?.bag', bag(LAB[0]), '?tag=robot=r2', collection='odd')
        cls.mcap = cls.server.added('copy.mcap', cls.server.get('%s/recordings/%s/as/copy.mcap' % (API, cls.ids[0])).body, '?tag=robot=r5')

    def path(self, query, deposit=None):
        more = '&deposit=' + urllib.parse.quote(json.dumps(deposit)) if deposit is not None else ''
        return '%s/search/export.zip?package=bagit&%s%s' % (API, query, more)

    def bag(self, query, deposit=None):
        """A valid bag's files, bag-info.txt and entities."""
        with zipfile.ZipFile(io.BytesIO(self.get(self.path(query, deposit)).body)) as archive:
            self.assertIsNone(archive.testzip())
            self.assertEqual(len(set(archive.namelist())), len(archive.namelist()))
            files, info = valid_bag({name: archive.read(name) for name in archive.namelist()})
        return files, info, valid_crate(files)

    def test_originals_and_conversions(self):
        files, _, entities = self.bag('q=collection:lab+robot:r2&as=original,mcap')
        for i in range(3):
            self.assertEqual(files['data/original/lab/run%d.bag' % i], bag(LAB[i]))
            self.assertEqual(files['data/mcap/lab/run%d.mcap' % i], self.get('%s/recordings/%s/as/x.mcap' % (API, self.ids[i])).body)
            self.assertEqual(entities['#recording-' + self.ids[i]]['hasPart'], [{'@id': 'original/lab/run%d.bag' % i}])
            self.assertEqual(entities['mcap/lab/run%d.mcap' % i]['isBasedOn'], {'@id': '#recording-' + self.ids[i]})
        self.assertNotIn('data/CITATION.cff', files)
        self.assertEqual(sorted(f for f in files if f.startswith('data/') and f.count('/') == 1), ['data/conversion-reports.json', 'data/ro-crate-metadata.json'])

    def test_without_formats_it_has_the_originals(self):
        files, info, _ = self.bag('q=collection:lab+robot:r2')
        self.assertEqual(sorted(f for f in files if f.count('/') > 1), ['data/original/lab/run%d.bag' % i for i in range(3)])
        self.assertEqual(info['Bag-Software-Agent'], 'Reel 1.0.0')

    def test_an_original_and_its_conversion_to_the_same_format(self):
        files, _, _ = self.bag('recording=%s&as=mcap,original' % self.mcap)
        self.assertEqual(sorted(f for f in files if f.count('/') > 1), ['data/mcap/lab/copy.mcap', 'data/original/lab/copy.mcap'])

    def test_names_that_manifests_and_addresses_escape(self):
        files, _, entities = self.bag('q=collection:odd')
        self.assertEqual([f for f in files if f.count('/') > 1], ['data/original/odd/50_ ü#?.bag'])
        self.assertIn('original/odd/50_%20ü%23%3F.bag', entities)

    def test_the_crate_describes_recordings_and_conversions(self):
        _, _, entities = self.bag('q=collection:lab+robot:r2&as=original,mcap', DEPOSIT)
        times = [m.time for m in LAB[1]]
        recording = entities['#recording-' + self.ids[1]]
        row = self.get('%s/recordings/%s' % (API, self.ids[1])).json()
        self.assertEqual(recording['name'], 'lab/run1.bag')
        self.assertEqual(recording['keywords'], ['robot=r2'])
        self.assertEqual(recording['temporalCoverage'], '%s/%s' % (row['start'], row['end']))
        self.assertEqual((int(row['start_ns']), int(row['end_ns'])), (min(times), max(times)))
        topics = {entities[t['@id']]['name'] for t in recording['variableMeasured']}
        self.assertEqual(topics, {m.topic for m in LAB[1]})
        actions = [e for e in entities.values() if e['@type'] == 'CreateAction' and e.get('object') == {'@id': '#recording-' + self.ids[1]}]
        self.assertEqual([a['result'] for a in actions], [{'@id': 'mcap/lab/run1.mcap'}])
        self.assertEqual(entities['#recorded-' + self.ids[1]]['instrument'], [{'@id': '#instrument-1'}, {'@id': '#instrument-2'}])

    def test_reports_are_those_of_the_conversions(self):
        files, _, _ = self.bag('q=collection:lab+robot:r2&as=bag&version=1.2')
        reports = json.loads(files['data/conversion-reports.json'])
        self.assertEqual([r['recording'] for r in reports], self.ids)
        for one in reports:
            expected = self.get('%s/recordings/%s/as/x.bag?version=1.2&report&check=true' % (API, one['recording'])).json()['report']
            self.assertTrue(expected)
            self.assertEqual((one['report'], one['as']), (expected, 'bag'))
            self.assertIn('data/' + one['file'], files)

    def test_people_licence_and_title(self):
        files, info, entities = self.bag('recording=' + self.ids[0], DEPOSIT)
        root = entities['./']
        self.assertEqual([root[k] for k in ('name', 'description', 'datePublished', 'keywords')], [DEPOSIT[k] for k in ('title', 'description', 'date', 'keywords')])
        self.assertEqual(root['license'], {'@id': 'https://spdx.org/licenses/CC-BY-4.0'})
        self.assertEqual([entities[a['@id']]['name'] for a in root['author']], ['Josiah Carberry', 'The r2 team', 'Ōe'])
        person = entities['https://orcid.org/0000-0002-1825-0097']
        self.assertEqual((person['@type'], entities[person['affiliation']['@id']]['name']), ('Person', 'Brown University'))
        self.assertEqual(entities[root['identifier']['@id']]['value'], 'doi:10.5281/zenodo.1234567')
        self.assertEqual((info['Contact-Name'], info['Contact-Email'], info['Bagging-Date']), ('Josiah Carberry', 'j@example.org', '2026-11-27'))
        self.assertEqual((info['Source-Organization'], info['External-Identifier']), (DEPOSIT['publisher'], DEPOSIT['doi']))
        citation = files['data/CITATION.cff'].decode()
        for line in ('cff-version: 1.2.0', 'type: dataset', 'title: ' + json.dumps(DEPOSIT['title']), 'license: "CC-BY-4.0"', '  - name: "The r2 team"', '  - family-names: "Ōe"'):
            self.assertIn(line + '\n', citation)

    @unittest.skipUnless(yaml, 'python3-yaml is not installed')
    def test_the_citation_is_yaml(self):
        citation = yaml.safe_load(self.bag('recording=' + self.ids[0], DEPOSIT)[0]['data/CITATION.cff'])
        self.assertEqual((citation['title'], citation['abstract'], citation['keywords']), (DEPOSIT['title'], DEPOSIT['description'], DEPOSIT['keywords']))
        self.assertEqual(citation['authors'][0], {'family-names': 'Carberry', 'given-names': 'Josiah', 'orcid': 'https://orcid.org/0000-0002-1825-0097',
                                                  'affiliation': 'Brown University', 'email': 'j@example.org'})
        self.assertEqual(citation['date-released'], '2026-11-27')

    def test_cuts_around_events(self):
        body = {'recording': self.ids[0], 'title': 'bump', 'start': T0 + SECOND}
        answer = self.server.request('POST', API + '/events', json.dumps(body), {'Content-Type': 'application/json'})
        self.assertEqual(answer.status, 201, answer)
        files, _, _ = self.bag('q=collection:lab&around=event:bump&before=100ms&after=100ms&as=mcap')
        inside = [m for m in LAB[0] if abs(m.time - T0 - SECOND) <= SECOND // 10]
        cut = [m for m in read_mcap(files['data/mcap/lab/run0.001-bump.mcap'])[2] if m.topic != '/map']
        self.assertEqual(by_topic(cut), by_topic(m for m in inside if m.topic != '/map'))
        self.assertProblem(self.server.get(self.path('around=event:bump')), 400, 'as')

    def test_it_is_resumable(self):
        rng, path = random.Random(7), self.path('q=robot:r2&as=original,mcap', DEPOSIT)
        whole = self.get(path)
        tag, size = whole.headers['ETag'], len(whole.body)
        self.assertEqual(int(self.server.request('HEAD', path).headers['Content-Length']), size)
        for _ in range(20):
            first, last = sorted(rng.randrange(size) for _ in range(2))
            self.assertEqual(self.get(path, 206, Range='bytes=%d-%d' % (first, last), If_Range=tag).body, whole.body[first:last + 1])
        self.get(path, 304, If_None_Match=tag)
        self.assertNotEqual(self.get(self.path('q=robot:r2&as=original,mcap', {**DEPOSIT, 'publisher': 'Other'})).headers['ETag'], tag)

    def test_a_client_need_not_wait_while_it_is_planned(self):
        path, answers = self.path('q=robot:r2&as=original,mcap', {'title': 'Later'}), []

        def there():  # a small one may be there at once
            answers.append(self.server.get(path, Prefer='respond-async'))
            return answers[-1].status != 202
        eventually(there)
        self.assertEqual(answers[-1].body, self.get(path).body)
        for answer in answers[:-1]:
            self.assertTrue(answer.json()['job']['id'], answer)

    def test_what_cannot_be_had_is_listed(self):
        files, _, entities = self.bag('q=collection:lab+robot:r2&as=original,nanover.zip')
        self.assertEqual(files['data/LEFT-OUT.txt'].count(b'\n'), 3)
        self.assertIn('LEFT-OUT.txt', entities)
        self.assertNotIn('data/conversion-reports.json', files)

    @in_a_folder
    def test_a_stored_file_that_has_changed_is_no_deposit(self):
        recording = self.server.added('rot.bag', bag(lab_messages(2, salt=9)), collection='rot')
        digest = self.get('%s/recordings/%s' % (API, recording)).json()['parts'][0]['sha256']
        blob, = [f for f in files_below(self.server.data) if os.path.basename(f) == digest]
        os.chmod(blob, 0o644)
        with open(blob, 'r+b') as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)[0]
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last ^ 1]))
        answer = self.server.get(self.path('recording=' + recording))
        self.assertGreaterEqual(answer.status, 400, answer)
        self.assertIn('SHA-256', answer.json()['detail'])

    def test_mistakes_are_named(self):
        here = 'recording=' + self.ids[0]
        for deposit, word in (([], 'object'), ({'titel': 'x'}, 'titel'), ({'title': 'a\nb'}, 'title'), ({'title': 3}, 'title'), ({'license': 'my own'}, 'license'),
                              ({'date': '2026-02-29'}, 'date'), ({'doi': 'https://doi.org/10.1/2'}, 'doi'), ({'keywords': 'one'}, 'keywords'), ({'keywords': ['']}, 'keywords'),
                              ({'authors': [{'given': 'Ada'}]}, 'family'), ({'authors': ['Ada']}, 'authors[0]'), ({'authors': [{'name': 'A', 'family': 'B'}]}, 'authors[0]'),
                              ({'authors': [{'name': 'A', 'orcid': '0000-0002-1825-0098'}]}, 'orcid'), ({'authors': [{'name': 'A', 'email': 'nobody'}]}, 'email'),
                              ({'authors': [{'name': n, 'orcid': '0000-0002-1825-0097'} for n in 'AB']}, 'authors[1].orcid'), ({'keywords': ['a'] * 201}, '200')):
            with self.subTest(deposit=deposit):
                self.assertProblem(self.server.get(self.path(here, deposit)), 400, 'deposit', word)
        self.assertProblem(self.server.get('%s&deposit={' % self.path(here)), 400, 'deposit')
        self.assertProblem(self.server.get('%s/search/export.zip?deposit=%%7B%%7D' % API), 400, 'package')
        self.assertProblem(self.server.get('%s/search/export.zip?package=zip' % API), 400, 'bagit')
        self.assertProblem(self.server.get(self.path(here + '&as=mcap,')), 400, 'as')
        self.assertProblem(self.server.get(self.path(here + '&as=mcap,mcap')), 400, 'as')


class Originals(Case):
    """as= of archives that are no packages."""
    @classmethod
    def fill(cls):
        cls.ids = [cls.server.added('run%d.bag' % i, bag(messages)) for i, messages in enumerate(LAB)]

    def names(self, query):
        with zipfile.ZipFile(io.BytesIO(self.get('%s/search/export.zip?%s' % (API, query)).body)) as archive:
            self.assertIsNone(archive.testzip())
            return {name: archive.read(name) for name in archive.namelist()}

    def test_originals(self):
        self.assertEqual(self.names('as=original'), {'lab/run%d.bag' % i: bag(LAB[i]) for i in range(3)})

    def test_several_formats_have_folders(self):
        self.assertEqual(sorted(self.names('as=original,mcap&recording=' + self.ids[0])), ['mcap/lab/run0.mcap', 'original/lab/run0.bag'])


class Validator(unittest.TestCase):
    """It finds what is wrong."""
    def test_changes_are_found(self):
        digest = lambda data: hashlib.sha256(data).hexdigest()
        files = {'data/a': b'A', 'bagit.txt': b'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n', 'bag-info.txt': b'Bagging-Date: 2026-11-27\nPayload-Oxum: 1.1\n'}
        files['manifest-sha256.txt'] = ('%s  data/a\n' % digest(b'A')).encode()
        files['tagmanifest-sha256.txt'] = ''.join('%s  %s\n' % (digest(files[n]), n) for n in ('bagit.txt', 'bag-info.txt', 'manifest-sha256.txt')).encode()
        whole = {'x/' + name: data for name, data in files.items()}
        valid_bag(whole)
        for change in ({'x/data/a': b'B'}, {'x/data/b': b''}, {'y/data/a': b'A'}, {'x/bag-info.txt': b'Payload-Oxum: 2.1\n'}, {'x/other.txt': b''}):
            with self.subTest(change=change), self.assertRaises(Invalid):
                valid_bag({**whole, **change})
