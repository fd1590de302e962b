#!/usr/bin/env python3
"""Runs the end-to-end tests, every test_*.py in this folder, tests/attack and tests/upgrade. Last line: N passed, N failed, N skipped."""
import argparse
import functools
import os
import sys

from run_tests import is_release_only, run

# Where requests, jobs and scans meet in the server's memory: these run under ThreadSanitizer, too.
THREADS = ('play', 'live', 'changes', 'convert', 'upload', 'uploads')
if os.environ.get('REEL_TESTS_LONG'):
    THREADS += ('imports', 'life', 'messages', 'series', 'upkeep')

HERE = os.path.dirname(os.path.abspath(__file__))
ATTACK = os.path.join(os.path.dirname(HERE), 'attack')  # attacks that once succeeded, a file each
UPGRADE = os.path.join(os.path.dirname(HERE), 'upgrade')  # archives of released versions


def keep(only, test):
    if only == 'threads' and type(test).__module__ not in ['test_' + name for name in THREADS]:
        return False
    return only is None or (only == 'release') == is_release_only(test)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--reel', default='build/release/reel')
    parser.add_argument('--only', choices=['release', 'sanitized', 'threads'],
                        help='of all tests (default): those for the release build alone; those that a sanitizer may run; of these what threads share')
    parser.add_argument('filter', nargs='?', default='', help='only tests whose name holds this')
    args = parser.parse_args()
    os.environ['REEL'] = os.path.abspath(args.reel)
    os.environ['REEL_TESTS_QUICK'] = '1' if args.only in ('sanitized', 'threads') else '0'
    sys.path += [ATTACK, UPGRADE]
    return run((HERE, ATTACK, UPGRADE), 'test_', args.filter, functools.partial(keep, args.only))


if __name__ == '__main__':
    sys.exit(main())
