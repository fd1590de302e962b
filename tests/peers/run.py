#!/usr/bin/env python3
"""Files we write, and the golden files that we read, in independent readers: ROS's librosbag_storage and python3-rosbag, npm's @mcap/core and
@foxglove/rosbag, the readers of ../shared; MDAnalysis, MDTraj, ASE and GROMACS where they are installed.
Those that take long run by turns, every other day (REEL_TESTS_DAY); all of them with a filter or REEL_TESTS_LONG.
Last line: N passed, N failed, N skipped."""
import argparse
import functools
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'e2e')]

BY_TURNS = (  # about as long as each other: of even days, of odd days
    ('peer_foxglove', 'peer_definitions', 'peer_mira', 'peer_mcap_values', 'peer_openapi_tools'),
    ('peer_matrix', 'peer_decoded', 'peer_tables', 'peer_ros_convert', 'peer_bag_info'))


def left_out(words):
    if words or os.environ.get('REEL_TESTS_LONG'):
        return ()
    day = int(os.environ.get('REEL_TESTS_DAY') or time.time() // 86400)
    print('day %d: left out %s (REEL_TESTS_DAY=%d, --long)' % (day, ', '.join(BY_TURNS[(day + 1) % 2]), day + 1))
    return BY_TURNS[(day + 1) % 2]


def is_present(absent, test):
    return test.id().split('.')[0] not in absent


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--reel', default='build/release/reel')
    parser.add_argument('--bin', default='build/release/bin', help='where bag_read lies')
    parser.add_argument('filter', nargs='?', default='', help='only tests whose name holds this')
    args = parser.parse_args()
    os.environ['REEL'] = os.path.abspath(args.reel)
    os.environ['REEL_BIN'] = os.path.abspath(args.bin)
    from run_tests import run
    absent = left_out(args.filter)
    return run([HERE], 'peer_', args.filter, functools.partial(is_present, absent))


if __name__ == '__main__':
    sys.exit(main())
