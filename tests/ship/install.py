#!/usr/bin/env python3
"""What `cmake --install` lays out, used as others use it: install.py BUILD_FOLDER. Last line: N passed, N failed, N skipped."""
import glob
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, '..', 'e2e'))
from run_tests import Result  # noqa: E402

BUILD = None


def run(*command, text_input='', **more):
    done = subprocess.run(command, input=text_input, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors='replace', timeout=120, **more)
    if done.returncode != 0:
        raise AssertionError('%s: %d\n%s%s' % (' '.join(command), done.returncode, done.stdout[-2000:], done.stderr[-4000:]))
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='reel-installed-')
        with open(os.path.join(BUILD, 'CMakeCache.txt')) as f:
            cls.prefix = cls.folder + re.search(r'^CMAKE_INSTALL_PREFIX:PATH=(.*)$', f.read(), re.M).group(1)
        run('cmake', '--install', BUILD, env={**os.environ, 'DESTDIR': cls.folder})
        cls.reel = os.path.join(cls.prefix, 'bin', 'reel')
        cls.lib, = {os.path.dirname(f) for f in glob.glob(cls.prefix + '/lib/**/libreel.so', recursive=True)}
        cls.headers = sorted(glob.glob(os.path.join(ROOT, 'include', 'reel', '*.h')))
        cls.env = {**os.environ, 'LD_LIBRARY_PATH': cls.lib, 'PKG_CONFIG_PATH': os.path.join(cls.lib, 'pkgconfig')}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def flags(self, *what):
        # the file says the prefix of the build; a tree that was put elsewhere is configured so, as a distribution's tools do
        return run('pkg-config', '--define-variable=prefix=' + self.prefix, *what, 'libreel', env=self.env).split()

    def example(self, compiler, source, *link):
        program = self.path(source.replace('.', '_'))
        warnings = ['-Wall', '-Wextra', '-Wpedantic', '-Werror']
        run(*compiler, *warnings, '-o', program, os.path.join(self.prefix, 'share/doc/libreel-dev', source), *link)
        run(self.reel, 'demo', '--force', self.path('demo'))
        return program, self.path('demo', 'demo.bag')

    def test_the_c_example_prints_and_converts(self):
        program, bag = self.example(['cc', '-std=c11'], 'example.c', *self.flags('--cflags', '--libs'))
        self.assertIn('libreel.so', run('ldd', program, env=self.env))
        expected = run(self.reel, 'cat', bag, '--output', 'ndjson').splitlines()
        self.assertEqual(run(program, bag, env=self.env).splitlines(), expected)
        out = self.path('out.mcap')
        run(program, bag, out, env=self.env)
        self.assertEqual(run(self.reel, 'cat', out, '--output', 'ndjson').splitlines(), expected)
        done = subprocess.run([program, bag, out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env)
        self.assertEqual((done.returncode, b'already exists' in done.stderr), (1, True))
        done = subprocess.run([program, program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env)
        self.assertEqual((done.returncode, b'no known recording format' in done.stderr), (1, True))

    def test_the_c_example_links_with_the_static_library(self):
        flags = [('-l:libreel.a' if flag == '-lreel' else flag) for flag in self.flags('--cflags', '--libs', '--static')]
        program, bag = self.example(['cc', '-std=c11'], 'example.c', *flags)
        self.assertNotIn('libreel.so', run('ldd', program, env=self.env))
        self.assertGreater(len(run(program, bag).splitlines()), 100)

    def test_the_cpp_example_lists_topics_and_cuts(self):
        program, bag = self.example(['c++', '-std=c++17'], 'example.cc', *self.flags('--cflags', '--libs'))
        half = self.path('half.mcap')
        topics = [line.split() for line in run(program, bag, half, env=self.env).splitlines()]
        self.assertGreater(len(topics), 1)
        whole = sum(int(count) for _, _, count in topics)
        self.assertEqual(whole, len(run(self.reel, 'cat', bag).splitlines()))
        self.assertTrue(0 < len(run(self.reel, 'cat', half).splitlines()) < whole)

    def test_each_header_stands_alone(self):
        self.assertEqual([os.path.basename(h) for h in self.headers], sorted(os.listdir(os.path.join(self.prefix, 'include', 'reel'))))
        for header in self.headers:
            text = '#include <reel/%s>\n' % os.path.basename(header)
            for language in (['cc', '-std=c11', '-xc'], ['c++', '-std=c++17', '-xc++']):
                done = subprocess.run([*language, '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only', '-', *self.flags('--cflags')], input=text + 'int unused;\n', text=True, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 0, header + done.stderr)

    def test_public_names_have_the_prefix(self):
        """Macros, types, enumerators and functions that the headers define, as the compiler sees them."""
        text = '#include <reel/reel.h>\n'
        flags = self.flags('--cflags')
        macros = run('cc', '-std=c11', '-E', '-dM', '-xc', '-', *flags, text_input=text)
        system = run('cc', '-std=c11', '-E', '-dM', '-xc', '-', text_input=''.join('#include <%s>\n' % name for name in sorted(set(re.findall(r'#include <([a-z]\w*\.h)>', ''.join(open(h).read() for h in self.headers))))))
        ours = set(re.findall(r'^#define (\w+)', macros, re.M)) - set(re.findall(r'^#define (\w+)', system, re.M))
        self.assertEqual(sorted(name for name in ours if not name.startswith('REEL_')), [])
        for header in self.headers:
            with open(header) as f:
                body = re.sub(r'/\*.*?\*/', ' ', f.read(), flags=re.S)
            named = re.findall(r'^(?:struct|enum|union) (\w+)', body, re.M) + re.findall(r'^static inline [\w ]*?\**(\w+)\(', body, re.M)
            self.assertEqual([name for name in named if not name.startswith('reel_')], [], header)

    def test_both_libraries_show_the_same_functions(self):
        """Which these are, and that they are what the headers declare, is checked by abi.py."""
        shared = os.path.join(self.lib, 'libreel.so')
        self.assertRegex(run('readelf', '-d', shared), r'SONAME.*\[libreel\.so\.\d+\]')
        shown = {line.split()[-1].split('@')[0] for line in run('nm', '-D', '--defined-only', shared).splitlines()}
        static = run('nm', '-g', '--defined-only', os.path.join(self.lib, 'libreel.a')).splitlines()
        self.assertEqual({line.split()[-1] for line in static if ' ' in line}, shown)
        self.assertTrue(shown and all(name.startswith('reel_') for name in shown))

    def test_manual_pages_tell_every_option_and_command(self):
        pages = {}
        for name, where in (('reel', 'man1/reel.1.gz'), ('serve', 'man8/reel-serve.8.gz')):
            with gzip.open(os.path.join(self.prefix, 'share/man', where), 'rt') as f:
                pages[name] = f.read().replace('\\-', '-')
        commands = re.findall(r'^  ([a-z]+) ', run(self.reel, '--help'), re.M)
        self.assertGreater(len(commands), 15)
        for command in commands:
            page = pages['serve' if command == 'serve' else 'reel']
            section = page if command == 'serve' else re.search(r'^\.SS reel %s\b(.*?)(?=^\.S[SH] |\Z)' % command, page, re.M | re.S).group(1)
            for option in re.findall(r'^  (?:-., )?(--[a-z0-9-]+)', run(self.reel, command, '--help'), re.M):
                self.assertRegex(section, r'(?m)^\.B .*%s\b' % option, command)

    def test_manual_pages_are_clean(self):
        if not shutil.which('groff'):
            self.skipTest('groff is not installed')
        for page in glob.glob(self.prefix + '/share/man/man?/*'):
            with gzip.open(page) as f:
                done = subprocess.run(['groff', '-man', '-Kutf8', '-Tutf8', '-ww', '-z'], input=f.read(), stderr=subprocess.PIPE)
            self.assertEqual(done.stderr, b'')

    def test_whose_it_is_goes_along(self):
        for package in ('reel', 'libreel-dev'):
            self.assertIn('License:', open(os.path.join(self.prefix, 'share/doc', package, 'copyright')).read())
        texts = os.path.join(self.prefix, 'share/doc/reel/licenses.txt')
        if not os.path.exists(texts):
            self.skipTest('built without the page')
        self.assertIn('preact', open(texts).read())

    def test_bash_completes_commands_options_and_choices(self):
        script = os.path.join(self.prefix, 'share/bash-completion/completions/reel')
        for typed, wanted in ((['ser'], ['serve']), (['serve', '--log-f'], ['--log-format']), (['serve', '--log-format', 'j'], ['json']), (['convert', '--compressi'], ['--compression']),
                              (['token', 'r'], ['revoke', 'rotate']), (['carla', 'bl'], ['blocked']), (['cat', 'x.bag', '--output', 'json'], ['json', 'json-seq'])):
            text = 'source "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _reel; printf "%s\\n" "${COMPREPLY[@]}"'
            self.assertEqual(run('bash', '-c', text, 'bash', script, self.reel, *typed).split(), wanted, typed)

    def test_other_shells_read_their_completions(self):
        checked = 0
        for shell, file in (('zsh', 'zsh/vendor-completions/_reel'), ('fish', 'fish/vendor_completions.d/reel.fish')):
            if shutil.which(shell):
                run(shell, '-n', os.path.join(self.prefix, 'share', file))
                checked += 1
        if not checked:
            self.skipTest('neither zsh nor fish is installed')

    def test_fish_completes_values_and_subcommands(self):
        if not shutil.which('fish'):
            self.skipTest('fish is not installed')
        script = os.path.join(self.prefix, 'share/fish/vendor_completions.d/reel.fish')
        for typed, wanted in (('reel serve --log-format ', ['json', 'logfmt']), ('reel token r', ['revoke', 'rotate']), ('reel convert --compressi', ['--compression'])):
            got = run('fish', '--no-config', '-c', 'source %s; set -x PATH %s $PATH; complete -C "%s"' % (script, os.path.dirname(self.reel), typed)).split()
            self.assertEqual([word for word in got if word in wanted], got, typed)
            self.assertEqual(sorted(set(got)), wanted, typed)

    def test_systemd_understands_the_units(self):
        if not shutil.which('systemd-analyze'):
            self.skipTest('systemd-analyze is not installed')
        units = self.path('units')
        shutil.copytree(os.path.join(self.prefix, 'lib/systemd/system'), units)
        for unit in ('reel.service', 'reel-push.service'):
            with open(os.path.join(units, unit)) as f:
                text = f.read()
            with open(os.path.join(units, unit), 'w') as f:
                f.write(re.sub(r'(?m)^ExecStart=\S+', 'ExecStart=' + self.reel, text))
        done = subprocess.run(['systemd-analyze', 'verify', '--man=no', '--recursive-errors=no', *glob.glob(units + '/*')], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual([line for line in done.stdout.splitlines() if 'reel' in line], [])
        done = subprocess.run(['systemd-analyze', 'security', '--offline=yes', '--threshold=20', os.path.join(units, 'reel.service')], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-1500:])  # exposure of at most 2.0 of 10


def main():
    global BUILD
    BUILD = os.path.abspath(sys.argv[1])
    result = Result()
    unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(Installed)).run(result)
    failed = len(result.failures) + len(result.errors)
    print('%d passed, %d failed, %d skipped' % (result.passed, failed, len(result.skipped)))
    return 1 if failed or not result.passed else 0


if __name__ == '__main__':
    sys.exit(main())
