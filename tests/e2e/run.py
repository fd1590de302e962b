#!/usr/bin/env python3
"""Runs the end-to-end tests: every test_*.py beside this file. Last line: N passed, N failed, N skipped."""
import argparse
import os
import sys

from run_tests import run

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--reel', default='build/release/reel')
    parser.add_argument('--quick', action='store_true', help='leave out what measures or waits')
    parser.add_argument('filter', nargs='?', default='', help='only tests whose name holds this')
    args = parser.parse_args()
    os.environ['REEL'] = os.path.abspath(args.reel)
    os.environ['REEL_TESTS_QUICK'] = '1' if args.quick else '0'
    return run(HERE, 'test_', args.filter)


if __name__ == '__main__':
    sys.exit(main())
