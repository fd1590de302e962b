#!/usr/bin/env python3
"""Checks that the files, functions and tests that lib/README.md names are there."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def named_in(cell):
    """`index/pack: one`, `two` are tests one and two of a file; `index/index.c` (`read_checked`) is a function of it."""
    return re.findall(r'`([^`]+)`', cell)


def check_upholders(row, problems):
    file = None
    for name in named_in(row):
        file = ROOT / 'lib' / name if name.endswith(('.c', '.h')) else file
        if file is None or not file.exists():
            problems.append(f'{name}: there is no such file')
        elif not name.endswith(('.c', '.h')) and not re.search(rf'\b{name}\(', file.read_text()):
            problems.append(f'{name}: not in {file.name}')


def check_tests(row, problems):
    file = None
    for name in named_in(row):
        folder, colon, test = name.rpartition(': ')
        file = ROOT / 'tests' / 'unit' / f'{folder}.c' if colon else file
        if file is None or not file.exists() or f'cmocka_unit_test({test})' not in file.read_text():
            problems.append(f'{name}: there is no such test')


def main():
    problems, rows = [], 0
    for line in (ROOT / 'lib' / 'README.md').read_text().splitlines():
        cells = line.split(' | ')
        if re.match(r'\| [IPR]\d+ ', line):
            rows += 1
            if len(cells) != 4:
                sys.exit(f'a row has four cells: {line}')
            check_upholders(cells[2], problems)
            check_tests(cells[3], problems)
    for problem in problems:
        print('lib/README.md:', problem)
    return 1 if problems or rows < 20 else 0


if __name__ == '__main__':
    sys.exit(main())
