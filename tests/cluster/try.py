#!/usr/bin/env python3
"""For trying: PostgreSQL, an S3 gateway, several reel servers and nginx before them, on loopback, in folders that go when it ends."""
import argparse
import os
import shutil
import signal
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'e2e')]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--reel', default='build/release/reel')
    parser.add_argument('--port', type=int, default=8050)
    parser.add_argument('--servers', type=int, default=3)
    args = parser.parse_args()
    os.environ['REEL'] = os.path.abspath(args.reel)
    import gateway
    import postgres
    import proxy
    folder = tempfile.mkdtemp(prefix='reel-try-')
    running = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        print('starting PostgreSQL and an S3 gateway: about 20 s', flush=True)
        database = postgres.Postgres()
        running.append(database.stop)
        store = gateway.Gateway()
        running.append(store.stop)
        store.client.make_bucket('reel')
        os.environ.update(store.environment(), PGPASSWORD=database.password)
        database.sql('CREATE DATABASE reel')
        from harness import Server
        servers = []
        for i in range(args.servers):
            options = ['--catalog', database.address + '/reel', '--store', 's3://reel/archive', '--host', '127.0.0.1:%d' % args.port, '--insecure-open']  # all of it is on loopback
            servers.append(Server(os.path.join(folder, 'server%d' % (i + 1)), *options))
            running.append(lambda s=servers[-1]: s.stop(None))
        nginx = proxy.start_nginx(folder, args.port, servers)
        running.append(lambda: (nginx.terminate(), nginx.wait()))
        print('Reel is at http://127.0.0.1:%d, behind it %s' % (args.port, ', '.join('%s (process %d)' % (s.base, s.process.pid) for s in servers)))
        print('PostgreSQL: PGPASSWORD=%s psql %s/reel' % (database.password, database.address))
        print('S3: %s' % ' '.join('%s=%s' % pair for pair in store.environment().items()))
        print('Ctrl-C ends all of it.', flush=True)
        signal.pause()
    except (KeyboardInterrupt, SystemExit):
        pass
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for stop in reversed(running):
            stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == '__main__':
    main()
