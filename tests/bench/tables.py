"""Rows about tables: messages to Parquet compared with MCAP, and what one column of it costs a reader over HTTP."""
import json
import os
import shutil

import inputs
from lab import API, BenchError, in_turn, measured, median, run
from row import Row, size_name

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'peers')


def converting(lab, path):
    def to(name, *args):
        seconds, peak = measured(lab.program, 'convert', path, lab.path(name), *args)
        os.unlink(lab.path(name))
        return seconds, peak
    ours, theirs = in_turn(lab.rounds, lambda: to('state.parquet'), lambda: to('state-zstd.mcap', '--compression', 'zstd'))
    a, b = median([s for s, _ in ours]), median([s for s, _ in theirs])
    size = os.path.getsize(path)
    yield Row('100-byte messages to Parquet, %s | to MCAP zstd' % size_name(size), '%.0f MB/s' % (size / a / 1e6), '%.0f MB/s' % (size / b / 1e6), b / a,
              '>= 0.6 x', b / a >= 0.6, {'ours_s': [s for s, _ in ours], 'peer_s': [s for s, _ in theirs]})
    peak = max(p for _, p in ours)
    yield Row('... memory', '%.0f MB' % (peak / 1e6), '', None, '<= 150 MB', peak <= 150e6, {'peak_bytes': peak})


def column(lab, reel, path, messages):
    """hyparquet adds one column up; DuckDB reads the same ranges, but its HTTP is an extension that cannot be installed here."""
    if not shutil.which('node') or not os.path.isdir(os.path.join(PEERS, 'node_modules', 'hyparquet')):
        raise BenchError('node or the readers of tests/peers are not there: ./dev bench installs them, see build/peers-npm.log')
    _, recording = reel.put(path, 'state.mcap')
    address = '%s/%s/as/state.parquet?topic=/state' % (API, recording)
    length, _ = reel.planned(address)
    asked = json.loads(run('node', os.path.join(PEERS, 'table_http.mjs'), reel.base + address, 'x', timeout=600))
    if asked['rows'] != messages or asked['length'] != length:
        raise BenchError('%s rows of %d were read' % (asked['rows'], messages))
    share = asked['bytes'] / length
    yield Row('sum of one column over HTTP, Parquet of %s' % size_name(length), '%.1f MB' % (asked['bytes'] / 1e6), '%.1f MB' % (length / 1e6), share, '<= 0.15 x',
              share <= 0.15, asked)
    reel.purge(recording)


def tables(lab, reel):
    path, messages = lab.made_once('state-%d.mcap' % lab.big, lambda path: inputs.states(path, lab.big))
    yield from converting(lab, path)
    yield from column(lab, reel, path, messages)
