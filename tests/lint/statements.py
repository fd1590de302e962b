#!/usr/bin/env python3
"""The statements of sql/: each is used by its name in the sources of the catalog, a name that is used has a statement, each names the
columns it gives (they are read by position: a column that a migration adds must not move others), and cmake/EmbedSql.cmake refuses files that are not
as it says. Prints what is wrong and exits with 1 when there is something."""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = re.compile(r'^-- name: (\w+)$', re.M)
LITERAL = re.compile(r'"([a-z0-9_]+)"')
CALL = re.compile(r'\bdb_statement\(\s*[^",]+,\s*"(\w+)"')
ALL_COLUMNS = re.compile(r'\b(SELECT|RETURNING)\s+(\w+\.)?\*|,\s*\w+\.\*', re.I)
ONE = '-- name: one\n-- What it does.\nSELECT 1;\n'
REFUSED = [  # the text of sql/wrong.sql, and of the message
    ('', 'wrong.sql: no statements'),
    ('SELECT 1;\n', 'wrong.sql: a statement without a name'),
    (ONE + '\nSELECT 2;\n', 'wrong.sql: a statement without a name'),
    (ONE + '\n' + ONE, 'wrong.sql: a second statement one'),
    ('-- name: other\nSELECT 2;\n', 'wrong.sql: a second statement other'),  # sql/other.sql has it
    (ONE + 'SELECT 2;\n', 'wrong.sql: one is not one statement'),
    ('-- name: one\nSELECT 1\n', 'wrong.sql: one is not one statement'),
    ('-- name: one\n-- What it does.\n', 'wrong.sql: one is not one statement'),
]


def unused(wrong):
    names = {name: path for path in sorted((ROOT / 'sql').glob('*.sql')) for name in NAME.findall(path.read_text(encoding='utf-8'))}
    literals = set()
    for path in sorted((ROOT / 'server/catalog').rglob('*.c')):
        text = path.read_text(encoding='utf-8')
        literals.update(LITERAL.findall(text))
        wrong += ['%s: there is no statement %s' % (path, name) for name in CALL.findall(text) if name not in names]
    wrong += ['%s: %s is not used' % (path, name) for name, path in names.items() if name not in literals]
    return len(names)


def unnamed(wrong):
    for path in sorted((ROOT / 'sql').rglob('*.sql')):
        text = re.sub(r'--[^\n]*', '', path.read_text(encoding='utf-8'))
        wrong += ['%s: %s: name the columns' % (path, ' '.join(found.group().split())) for found in ALL_COLUMNS.finditer(text)]


def embed(folder):
    command = ['cmake', '-DSQL=%s/sql' % folder, '-DOUT=%s/out.c' % folder, '-P', str(ROOT / 'cmake/EmbedSql.cmake')]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return ' '.join(result.stderr.split()) if result.returncode else None


def refused(wrong):
    with tempfile.TemporaryDirectory() as folder:
        sql = pathlib.Path(folder) / 'sql'
        (sql / 'postgres').mkdir(parents=True)
        (sql / 'other.sql').write_text('-- name: other\nSELECT 2;\n')
        for text, message in REFUSED:
            (sql / 'wrong.sql').write_text(text)
            if message not in (embed(folder) or ''):
                wrong.append('EmbedSql.cmake takes %r, or not with "%s"' % (text, message))
        (sql / 'wrong.sql').write_text(ONE)
        if embed(folder):
            wrong.append('EmbedSql.cmake refuses %r' % ONE)
        (sql / 'postgres/other.sql').write_text(ONE)
        if 'replaces no statement' not in (embed(folder) or ''):
            wrong.append('EmbedSql.cmake takes a statement for PostgreSQL that is in another file, or nowhere')


def main():
    wrong = []
    n = unused(wrong)
    unnamed(wrong)
    refused(wrong)
    print('\n'.join(wrong + ['%d statements' % n]))
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
