#!/usr/bin/env python3
"""Every function reel_… that fills a struct reel_error, public or private, is called in tests/unit/reel/null_error.c. Prints those that are not, and
exits with 1 when there are some."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUNCTION = re.compile(r'\b(reel_\w+)\((?:[^;{}]*,\s*)?struct reel_error \*err\b[^;{}]*\);')


def main():
    test = (ROOT / 'tests/unit/reel/null_error.c').read_text(encoding='utf-8')
    names = set()
    for header in [*(ROOT / 'include/reel').glob('*.h'), *(ROOT / 'lib').rglob('*.h')]:
        names.update(FUNCTION.findall(re.sub(r'/\*.*?\*/', '', header.read_text(encoding='utf-8'), flags=re.S)))
    missing = sorted(name for name in names if not re.search(r'\b%s\(' % name, test))
    print('\n'.join(['%s is not called in tests/unit/reel/null_error.c' % name for name in missing] + ['%d functions' % len(names)]))
    return 1 if missing or len(names) < 100 else 0


if __name__ == '__main__':
    sys.exit(main())
