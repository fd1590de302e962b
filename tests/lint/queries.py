#!/usr/bin/env python3
"""Every query names the columns it gives, since they are read by position: a column that a migration adds must not move others. Prints those that do
not, and exits with 1 when there are some."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALL = re.compile(r'\b(SELECT|RETURNING)\s+(\w+\.)?\*|,\s*\w+\.\*', re.I)


def main():
    paths = sorted((ROOT / 'sql').rglob('*.sql'))
    texts = {path: re.sub(r'--[^\n]*', '', path.read_text(encoding='utf-8')) for path in paths}
    wrong = ['%s: %s: name the columns' % (path.relative_to(ROOT), ' '.join(found.group().split())) for path, text in texts.items() for found in ALL.finditer(text)]
    print('\n'.join(wrong + ['%d files' % len(paths)]))
    return 1 if wrong or not paths else 0


if __name__ == '__main__':
    sys.exit(main())
