#!/usr/bin/env python3
"""A comment that names a source file names one that exists: in its own folder, by a path from lib, server or include, or by a name that only one
file has. Prints those that do not, and exits with 1 when there are some."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYSTEM = {'ctype.h', 'strings.h', 'sqlite3.h', 'microhttpd.h'}
NAME = re.compile(r'(?<![\w./-])((?:[a-z0-9_]+/)*)([a-z_0-9]+\.[ch])\b')


def main():
    files = [p for folder in ('lib', 'server', 'include', 'packaging') for p in (ROOT / folder).rglob('*.[ch]')]
    named = collections.Counter(p.name for p in files)
    problems = []
    for path in sorted(files):
        for comment in re.findall(r'/\*.*?\*/', path.read_text(encoding='utf-8'), flags=re.S):
            for folder, name in NAME.findall(comment):
                places = [path.parent, path.parent.parent, *(ROOT / root for root in ('', 'lib', 'server', 'include'))]
                known = any((place / folder / name).exists() for place in places) if folder else \
                    name in SYSTEM or (path.parent / name).exists() or named[name] == 1
                if not known and folder != 'sys/':
                    problems.append('%s: a comment names %s%s' % (path.relative_to(ROOT), folder, name))
    print('\n'.join(problems) or '%d files name what exists' % len(files))
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
