"""What no program can beat on the same bytes: one copy of them, or unpacking them. And mcap C++, where MCAP_CPP names a checkout of it."""
import os
import time

from lab import BenchError, run, timed, warm

PIECE = 1 << 20
HERE = os.path.dirname(os.path.abspath(__file__))


def copy_seconds(path):
    """One copy of a file's bytes out of the page cache, into a buffer that stays in the processor's."""
    buffer, start = bytearray(PIECE), time.perf_counter()
    with open(path, 'rb', buffering=0) as f:
        while f.readinto(buffer):
            pass
    return time.perf_counter() - start


def limit_of(lab, plain, codec=None):
    """(name, what measures it) for a reader of the bytes of `plain`; with a codec, of chunks that it has compressed."""
    if not codec:
        return 'memcpy', lambda: copy_seconds(plain)
    out, to = lab.path('packed.' + codec), ['-o'] if codec == 'zstd' else []
    run(codec, '-1', '-q', '-f', plain, *to, out, timeout=600)
    warm(out)
    return codec + ' -d', lambda: timed(codec, '-d', '-q', '-f', out, *to, os.devnull)[0]


class McapCpp:
    """The program mcap_loop, built from the headers of a checkout; `why` says why there is none."""

    def __init__(self, lab):
        self.lab, self.program, self.why = lab, None, ''
        include = os.path.join(os.environ.get('MCAP_CPP', ''), 'cpp', 'mcap', 'include')
        if not os.environ.get('MCAP_CPP'):
            self.why = 'MCAP_CPP is not set'
        elif not os.path.exists(os.path.join(include, 'mcap', 'reader.hpp')):
            self.why = 'MCAP_CPP names no checkout of mcap'
        else:
            self.program, _ = lab.made_once('mcap_loop', lambda out: run(
                'c++', '-O2', '-std=c++17', '-I', include, os.path.join(HERE, 'mcap_loop.cpp'), '-o', out, '-llz4', '-lzstd', timeout=600))

    def seconds(self, messages, *files):
        """Of reading every message of the first file, and of writing it to the second if there is one."""
        seconds, found = run(self.program, *files, timeout=600).split()
        if int(found) != messages:
            raise BenchError('mcap C++ read %s of %d messages' % (found, messages))
        return float(seconds)
