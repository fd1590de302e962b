#!/usr/bin/env python3
"""Migrations that were released are never edited: archives have them, and the same number would mean other tables. Each file of sql/migrations and
sql/postgres/migrations has its SHA-256 here from its release on; a change of the tables is a new file with the next number, and a line here. Both
folders have the same names, numbered from 0001 on. Prints what is wrong and exits with 1 when there is something."""
import hashlib
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ('sql/migrations', 'sql/postgres/migrations')
RELEASED = {  # name: SHA-256 of each folder's file
    '0001_schema': ('ff0d8171361cfbc0926970f4652a9a92234e9f1467a665d84abd6a3c32c3d260', '81338dd8fb044a343c1809b2ab91a648beb0eee8e2846ad45762d624fb093373'),
    '0002_responses': ('71b4ef5e1722dc542c39e84046c01da5b667f285628a39fa70d1ca62615f3db9', '8b5d17620a8a8014aae57730fa4e094c94594eb51cc8d7bc8b2a4a4e5a3cb6d9'),
    '0003_clock': ('a0395936c7ba5d9ec66010898ed1fafba5b8b62b392b16f2af4762902e27f337', '05ac388d9d06ccd94278be447c750cbf38eb6b7ffe8c3e48c5452f13f0a204e8'),
    '0004_definitions': ('8103435bf3c97dee21dc48a769d8f261afe5216a6f35ab3e43de21f7516f6417', '31228d092ff92dd3077ad8331ffe1bfa89b492412356925a1b12b7ea3512340c'),
    '0005_datasets': ('9d577bd863dfa48841f3dbda8526d41bc7920a441ef5b8a6582b8dc8733df5b6', '03b741715148295c1c55cc2f8f881cf3f09af26d83edefee40ce60bbc03adca5'),
    '0006_announced': ('58e2c65183c33d8659ec44781701d1faabdefb1f1343c4a3150d9bff4bbbef70', 'ace3e9c55056a7576351aa8d9c9427bbe8d52a707bcc8e51aa324e89d2b111da'),
    '0007_words': ('e93b365f5c2fadbf27f4fd7092763ba9da945c305840fd395356448811941c46', 'da0d7de548049b05266b202f725521854c5669b1d69f733791f8e3c3c8db9d79'),
}


def main():
    wrong = []
    names = [sorted(path.stem for path in (ROOT / folder).glob('*.sql')) for folder in FOLDERS]
    if names[0] != names[1]:
        wrong.append('%s and %s have other names' % FOLDERS)
    wrong += ['%s: the next number is %04d' % (name, i + 1) for i, name in enumerate(names[0]) if name[:5] != '%04d_' % (i + 1)]
    wrong += ['%s was released, and is gone' % name for name in RELEASED if name not in names[0]]
    for at, folder in enumerate(FOLDERS):
        for name in names[at]:
            found = hashlib.sha256((ROOT / folder / (name + '.sql')).read_bytes()).hexdigest()
            if name not in RELEASED:
                wrong.append('%s/%s.sql is new: add its SHA-256 to RELEASED in tests/lint/migrations.py: %s' % (folder, name, found))
            elif found != RELEASED[name][at]:
                wrong.append('%s/%s.sql was edited after its release: restore it, and add a migration' % (folder, name))
    print('\n'.join(wrong + ['%d migrations' % len(names[0])]))
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
