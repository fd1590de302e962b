#!/usr/bin/env python3
"""Files we write, and the golden files that we read, in independent readers: ROS's librosbag_storage and python3-rosbag, npm's @mcap/core and
@foxglove/rosbag, the readers of ../shared.
Last line: N passed, N failed, N skipped."""
import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'e2e')]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--reel', default='build/release/reel')
    parser.add_argument('--bin', default='build/release/bin', help='where bag_read lies')
    parser.add_argument('filter', nargs='?', default='', help='only tests whose name holds this')
    args = parser.parse_args()
    os.environ['REEL'] = os.path.abspath(args.reel)
    os.environ['REEL_BIN'] = os.path.abspath(args.bin)
    from run_tests import run
    return run([HERE], 'peer_', args.filter)


if __name__ == '__main__':
    sys.exit(main())
