#!/usr/bin/env python3
"""Tests with the catalog in PostgreSQL and the files in S3: every cluster_*.py in this folder; with --whole also the end-to-end tests. Last line:
N passed, N failed, N skipped."""
import argparse
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
E2E = os.path.join(os.path.dirname(HERE), 'e2e')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--reel', default='build/release/reel')
    parser.add_argument('--whole', action='store_true', help='also the end-to-end tests on this profile')
    parser.add_argument('--smoke', action='store_true', help='only cluster_smoke.py')
    parser.add_argument('--faults', action='store_true', help='instead of them fault_*.py: servers, database and S3 fail under load')
    parser.add_argument('--long', action='store_true', help='with --faults: many times over')
    parser.add_argument('--seed', type=int, default=random.SystemRandom().randrange(1 << 31), help='with --faults: of what is random; printed')
    parser.add_argument('filter', nargs='?', default='', help='only tests whose name holds this')
    args = parser.parse_args()
    os.environ['REEL'] = os.path.abspath(args.reel)
    sys.path[:0] = [HERE, E2E]
    import gateway
    import postgres
    try:
        server = postgres.Postgres()
    except postgres.Impossible as e:
        print('skipped: all of it: %s\n0 passed, 0 failed, 1 skipped' % e)
        return 0
    os.environ.update(REEL_TEST_CATALOG=server.address, PGPASSWORD=server.password)
    store = None
    try:
        try:
            store = gateway.Gateway()
            store.client.make_bucket('reel')
            os.environ.update(store.environment(), REEL_TEST_STORE='s3://reel')
        except postgres.Impossible as e:
            print('skipped: what needs S3: %s' % e)
        if args.whole:
            return subprocess.run([sys.executable, os.path.join(E2E, 'run.py'), '--reel', args.reel, args.filter]).returncode
        from run_tests import run  # the runner of the end-to-end tests
        if args.faults:
            os.environ.update(REEL_FAULTS_LONG='1' if args.long else '0', REEL_FAULTS_SEED=str(args.seed))
            print('faults: seed %d%s' % (args.seed, ', long' if args.long else ''), flush=True)
        return run([HERE], 'fault_' if args.faults else 'cluster_smoke' if args.smoke else 'cluster_', args.filter)
    finally:
        server.stop()
        if store:
            store.stop()


if __name__ == '__main__':
    sys.exit(main())
