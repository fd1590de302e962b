#!/usr/bin/env python3
"""Whether libreel and `reel` compile for arm64 (Jetson): with Debian's gcc-aarch64-linux-gnu and the headers of this machine, which are the same but for
what the compiler itself defines. Nothing is linked or run. Prints what does not compile and exits with 1 when there is something; without the compiler it
is skipped."""
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GCC = 'aarch64-linux-gnu-gcc'
FLAGS = ['-fsyntax-only', '-std=gnu17', '-D_GNU_SOURCE', '-D_FILE_OFFSET_BITS=64', '-DREEL_VERSION="arm64"', '-Wall', '-Wextra', '-Wformat=2', '-Werror',
         '-Wno-error=maybe-uninitialized', '-Ilib', '-Iinclude', '-Iserver']


def headers():
    """Folders of headers that the compiler for this machine finds, after its own."""
    modules = ['libpng', 'libpq', 'p11-kit-1']
    found = subprocess.run(['pkg-config', '--cflags-only-I', *modules], capture_output=True, text=True).stdout.split()
    multiarch = subprocess.run(['gcc', '-print-multiarch'], capture_output=True, text=True).stdout.strip()
    return [flag for folder in [*(f[2:] for f in found), '/usr/include', '/usr/include/' + multiarch] for flag in ('-idirafter', folder)]


def compile_one(path, flags):
    done = subprocess.run([GCC, *FLAGS, *flags, str(path.relative_to(ROOT))], cwd=ROOT, capture_output=True, text=True)
    return path, done.returncode, done.stderr


def main():
    if not shutil.which(GCC):
        print('skipped: %s is not installed' % GCC)
        return 0
    flags, wrong = headers(), 0
    files = [path for folder in ('lib', 'server') for path in sorted((ROOT / folder).rglob('*.c'))]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for path, code, text in pool.map(lambda p: compile_one(p, flags), files):
            wrong += code != 0
            print(text if code else '', end='')
    print('%d files for arm64, %d wrong' % (len(files), wrong))
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
