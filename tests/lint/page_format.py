#!/usr/bin/env python3
"""The page's sources and tests are formatted by Prettier (`./dev format`). Prints each file that is not and exits with 1, or with
77 (skipped) when the page's packages are not installed."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEB = ROOT / 'web'


def main():
    if not (WEB / 'node_modules' / 'prettier').exists():
        print('Prettier is not installed: npm ci --prefix web --ignore-scripts')
        return 77
    done = subprocess.run(['npm', 'run', '--silent', 'format:check'], cwd=WEB, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for name in done.stdout.splitlines():
        print('%s is not formatted: run ./dev format' % (WEB / name).resolve().relative_to(ROOT))
    print(done.stderr, end='')
    return 1 if done.returncode else 0


if __name__ == '__main__':
    sys.exit(main())
