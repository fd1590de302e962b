#!/usr/bin/env python3
"""Runs the tests under faults: every fault_*.py in this folder. Last line: N passed, N failed, N skipped.

--long makes each of them as thorough as issue-sized claims need (hundreds of kills instead of some); a module asks with faults.LONG.
The seed of all that is random is printed; --seed gives it again."""
import argparse
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
E2E = os.path.join(os.path.dirname(HERE), 'e2e')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--reel', default='build/release/reel')
    parser.add_argument('--long', action='store_true', help='many times over: minutes instead of seconds')
    parser.add_argument('--seed', type=int, default=int(os.environ.get('REEL_TESTS_DAY') or random.SystemRandom().randrange(1 << 31)),
                        help='of what is random; printed at the start')
    parser.add_argument('filter', nargs='?', default='', help='only tests whose name holds this')
    args = parser.parse_args()
    os.environ['REEL'] = os.path.abspath(args.reel)
    os.environ['REEL_FAULTS_LONG'] = '1' if args.long else '0'
    os.environ['REEL_FAULTS_SEED'] = str(args.seed)
    sys.path[:0] = [HERE, E2E]
    import disk
    try:
        disk.namespace_of_the_run()
    except disk.Impossible:
        pass  # the tests that mount report it themselves
    from run_tests import run  # the runner of the end-to-end tests
    print('faults: seed %d%s' % (args.seed, ', long' if args.long else ''), flush=True)
    return run([HERE], 'fault_', args.filter)


if __name__ == '__main__':
    sys.exit(main())
