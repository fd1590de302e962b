#!/usr/bin/env python3
"""Addresses in the page: behind a proxy it is served below a path such as /reel/, so a link, a request or a comparison within the page must not begin
at the root of the host (web/src/address.ts). Prints each line that does and exits with 1 when there is one."""
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / 'web' / 'src'
WRONG = [
    (re.compile(r'(?:href|src)=(?:\{\s*)?["\'`]/'), 'a link has no leading slash: href="upload", href="./" for the library'),
    (re.compile(r'\b(?:href|go|fetch|redirect)\(\s*["\'`]/'), 'paths within the page have no leading slash: href(\'docs\'), go(\'./\')'),
    (re.compile(r'\bpath(?:name)?\s*[!=]==\s*["\'`]/|\bpath(?:name)?\.startsWith\(["\'`]/|/\^\\/\w'), 'the path of an address has no leading slash'),
]


def main():
    wrong = []
    for path in sorted(PAGE.rglob('*.ts*')):
        if path.name in ('address.ts', 'api_types.ts'):
            continue
        for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1):
            wrong += ['%s:%d: %s' % (path.relative_to(PAGE.parents[1]), number, why) for pattern, why in WRONG if pattern.search(line)]
    print('\n'.join(wrong))
    return 1 if wrong else 0


sys.exit(main())
