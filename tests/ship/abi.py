#!/usr/bin/env python3
"""The interface of the installed libreel, compared with tests/ship/abi.txt: abi.py BUILD_FOLDER [--accept].

Functions with their types, the sizes of structs and the places of their members, constants. What the library exports must be what its headers
declare. --accept writes abi.txt anew. Last line: N passed, N failed, N skipped."""
import difflib
import glob
import os
import re
import subprocess
import sys
import tempfile

EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'abi.txt')
DECISION = """The interface of libreel is not what tests/ship/abi.txt says. That is a decision: programs are compiled with these headers and run
with later libraries. New functions, constants and members at the end of structs that begin with their size, or that the library returns one
by one, are compatible; everything else needs a new soname (REEL_VERSION_MAJOR in include/reel/version.h).
If the change is meant, run: tests/ship/abi.py BUILD_FOLDER --accept, and commit abi.txt with it."""


def run(*command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def installed(build, folder):
    """The installed library and its headers."""
    for component in ('libreel', 'libreel-dev'):
        run('cmake', '--install', build, '--component', component, env={**os.environ, 'DESTDIR': folder})
    library, = glob.glob(folder + '/**/libreel.so', recursive=True)
    header, = glob.glob(folder + '/**/include/reel/reel.h', recursive=True)
    return library, os.path.dirname(header)


def read(headers):
    """Their text, without comments, preprocessor lines and bodies of functions."""
    text = ''
    for path in sorted(glob.glob(headers + '/*.h')):
        with open(path) as f:
            text += re.sub(r'/\*.*?\*/', ' ', f.read(), flags=re.S).replace('\\\n', ' ')
    constants = re.findall(r'^#define (REEL_[A-Z0-9_]+) +[^ ]', text, re.M)
    text = re.sub(r'^#.*$|^extern "C" \{|^REEL_DEFINE_AUTO\(.*\);', '', text, flags=re.M)
    text = re.sub(r'^static inline .*?^\}', '', text, flags=re.S | re.M)
    text = re.sub(r'^\}$', '', text, flags=re.M)  # of extern "C"
    return text, constants


def members_of(body):
    for declaration in filter(str.strip, body.split(';')):
        pointer = re.search(r'\(\*(\w+)\)\(', declaration)
        if pointer:
            yield pointer[1]
        else:
            yield from (re.search(r'(\w+)\s*(?:\[[^]]*\])?\s*$', part)[1] for part in declaration.split(','))


def interface(library, headers):
    text, constants = read(headers)
    structs = re.findall(r'^struct (\w+) \{(.*?)^\};', text, re.S | re.M)
    for body in re.findall(r'^enum (?:\w+ )?\{(.*?)\}', text, re.S | re.M):
        constants += re.findall(r'\b(REEL_\w+)(?=\s*(?:=|,|$))', re.sub(r'=[^,]*', '=', body) + ',')
    text = re.sub(r'^(?:struct|enum) (?:\w+ )?\{.*?\};', '', text, flags=re.S | re.M)
    functions = {}
    for declaration in text.split(';'):
        declaration = re.sub(r'__attribute__\(\((?:[^()]|\([^()]*\))*\)\)', '', declaration)
        name = re.search(r'^[\w\s*]*?\b(\w+)\(', declaration.strip())
        if name and not declaration.strip().startswith(('typedef', 'struct reel_auto')):
            functions[name[1]] = re.sub(r'\s+', ' ', declaration).strip().replace('( ', '(')
    types = [re.sub(r'\s+', ' ', t).strip() for t in re.findall(r'^(typedef [^;]*)', text, re.M)]
    lines = ['function ' + functions[name] for name in sorted(functions)] + sorted(types)
    program = '#include <reel/reel.h>\n#include <stdio.h>\nint main(void) {\n'
    for name, body in sorted(structs):
        program += f'    printf("struct {name}: %zu bytes\\n", sizeof(struct {name}));\n'
        for m in members_of(body):
            program += f'    printf("  {name}.{m}: at %zu, %zu bytes\\n", offsetof(struct {name}, {m}), sizeof ((struct {name} *)0)->{m});\n'
    for name in sorted(set(constants)):
        if not name.startswith(('REEL_VERSION_', 'REEL_DEFINE_')) and not name.endswith('_H'):
            program += f'    printf("constant {name} = %lld\\n", (long long){name});\n'
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, 'layout.c')
        with open(source, 'w') as f:
            f.write(program + '    return 0;\n}\n')
        run('cc', '-std=c11', '-Wall', '-Werror', '-I', os.path.dirname(headers), '-o', source[:-2], source)
        lines += run(source[:-2]).splitlines()
    exported = {line.split()[-1].split('@')[0] for line in run('nm', '-D', '--defined-only', library).splitlines()}
    return lines, sorted(exported - functions.keys()), sorted(functions.keys() - exported)


def main():
    build, accept = os.path.abspath(sys.argv[1]), '--accept' in sys.argv[2:]
    with tempfile.TemporaryDirectory(prefix='reel-abi-') as folder:
        lines, undeclared, unexported = interface(*installed(build, folder))
    problems = [f'{name} is exported, but no header declares it' for name in undeclared]
    problems += [f'{name} is declared, but not exported' for name in unexported]
    if accept:
        with open(EXPECTED, 'w') as f:
            f.write('\n'.join(lines) + '\n')
    with open(EXPECTED) as f:
        expected = f.read().splitlines()
    if lines != expected:
        problems += [*difflib.unified_diff(expected, lines, 'abi.txt', 'installed', lineterm='', n=0), DECISION]
    print('\n'.join(problems + ['%d functions' % sum(line.startswith('function ') for line in lines)]))
    print('%d passed, %d failed, 0 skipped' % (not problems, bool(problems)))
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
