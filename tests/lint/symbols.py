#!/usr/bin/env python3
"""Checks by symbols that the parts of libreel call one way: ./symbols.py FOLDER, with the objects of libreel in a build tree.

Each folder of lib may use what stands before it in ORDER, and a subject (a folder of lib/formats) also the shared ones. Tables in TABLES are
read from anywhere: they are how the upper parts reach subjects without knowing any. No folders call each other in a circle."""
import pathlib
import subprocess
import sys

from circles import circles

LIB = pathlib.Path(__file__).resolve().parents[2] / 'lib'
ORDER = ['base', 'syntax', 'chunks', 'index', 'decode', 'read', 'stream', 'convert', 'record', 'play', 'values', 'tables', 'media', 'datasets']
SHARED = ['formats/ros', 'formats/protobuf', 'formats/foxglove']  # subjects that others build on, in this order
PAIRS = {('formats/rosbag2', 'formats/mcap'),  # a rosbag2 recording holds MCAP files
         ('formats/molecules', 'formats/nanover'),  # trajectories are made of NanoVer's frames
         ('formats/nanover', 'formats/mcap')}  # a NanoVer recording is MCAP until it is closed
TABLES = {'reel_formats', 'reel_writers', 'reel_encodings', 'reel_views', 'view_transforms', 'reel_cut_rules'}


def folder(source):
    parts = source.split('/')
    return source if len(parts) == 2 and parts[0] == 'formats' else '/'.join(parts[:2]) if parts[0] == 'formats' else parts[0]


def rank(name):
    if name in ORDER:
        return ORDER.index(name)
    if name in SHARED:
        return len(ORDER) + SHARED.index(name)
    return 100 if name.endswith('.c') else 50  # the tables, a subject


def read(objects):
    """What each source defines, and what it needs."""
    defined, needed = {}, {}
    for path in sorted(objects.rglob('*.o')):
        source = str(path.relative_to(objects)).removesuffix('.o')
        if not (LIB / source).exists():
            continue  # left over from a file that has been moved
        for line in subprocess.run(['nm', '-P', str(path)], capture_output=True, text=True, check=True).stdout.splitlines():
            name, kind = line.split()[:2]
            if kind == 'U':
                needed.setdefault(source, set()).add(name)
            elif kind in 'TDBRVWCSG':
                defined[name] = source
    return defined, needed


def main():
    defined, needed = read(pathlib.Path(sys.argv[1]))
    if len(needed) < 100:
        sys.exit(f'{sys.argv[1]}: {len(needed)} objects of libreel: is it built?')
    problems, folders = [], {}
    for source, names in sorted(needed.items()):
        for name in sorted(names & defined.keys() - TABLES):
            used = defined[name]
            user, other = folder(source), folder(used)
            if user != other:
                folders.setdefault(user, set()).add(other)
            if user != other and rank(other) >= rank(user) and (user, other) not in PAIRS:
                problems.append(f'{source} calls {name} of {used}: {user} must not use {other}')
    problems += [f'a circle: {" -> ".join(c)}' for c in circles(folders)]
    print('\n'.join(problems) or f'{len(needed)} objects call one way')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
