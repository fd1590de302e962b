#!/usr/bin/env python3
"""lib and server do not depend on the locale that a program has set. Checks each function of their sources:

- none of <ctype.h> and <strings.h> (lib/base/ascii.h has what takes their place), and nothing that collates;
- strtod() and its like, printf of floating point numbers, strftime() of names and strerror() only in the scope of C_LOCALE
  (lib/base/c_locale.h). A function that passes its arguments on to vprintf() needs it if a caller passes such a number."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEVER = re.compile(r'\b(isal(?:num|pha)|is(?:blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit)|to(?:lower|upper)|strn?casecmp|strcasestr'
                   r'|strcoll|strxfrm|alphasort|versionsort|setlocale|localeconv|fnmatch|regcomp|isw\w+|tow\w+|mb\w*towcs?|wc\w*tomb)\(')
SCOPED = re.compile(r'\b(strto(?:d|f|ld)|ato[f]|strerror(?:_r)?|strptime)\(')
NAMES = re.compile(r'%[-_0^#]*\d*[EO]?[aAbBcpPxXrh]')  # of strftime()
FLOAT = re.compile(r'%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?L?[fFgGeEaA]')
CALL = re.compile(r'\b([a-z_][a-z_0-9]*)\(')
PASSES_ON = re.compile(r'\bv(?:s|sn|f|as|d)?printf\(')
PRINTS = {'printf', 'snprintf', 'sprintf', 'fprintf', 'asprintf', 'dprintf'}
FUNCTION = re.compile(r'^[A-Za-z_][^;{}=]*?\b(\w+)\([^;{}]*\)\s*\{\n', re.M)
TOKEN = re.compile(r'"((?:\\.|[^"\\])*)"|\'(?:\\.|[^\'\\])\'|/\*.*?\*/|//[^\n]*|([()])', re.S)


def functions(text):
    """(name, offset, body) of each."""
    for match in FUNCTION.finditer(text):
        end = text.find('\n}', match.end())
        yield match.group(1), match.end(), text[match.end():end]


def literals(body, at):
    """The string literals among the arguments of the call whose bracket opened before `at`."""
    found, depth = [], 1
    for token in TOKEN.finditer(body, at):
        if token.group(1) is not None:
            found.append(token.group(1))
        elif token.group(2):
            depth += 1 if token.group(2) == '(' else -1
            if depth == 0:
                break
    return ''.join(found).replace('%%', '')


def without_comments(text):
    keep = lambda token: re.sub(r'[^\n]', ' ', token.group(0)) if token.group(0).startswith('/') else token.group(0)
    return TOKEN.sub(keep, text)


def main():
    wrong, all_functions = [], []
    for path in sorted(p for base in ('lib', 'server') for p in (ROOT / base).rglob('*.[ch]')):
        text = without_comments(path.read_text(encoding='utf-8'))
        where = lambda offset, path=path, text=text: '%s:%d' % (path.relative_to(ROOT), text.count('\n', 0, offset) + 1)
        wrong += ['%s: %s() depends on the locale: see lib/base/ascii.h' % (where(m.start()), m.group(1)) for m in NEVER.finditer(text)]
        all_functions += [(name, where(offset), body) for name, offset, body in functions(text)]
    passing = {name for name, _, body in all_functions if PASSES_ON.search(body)}
    print_floats = set()  # functions that others give floating point numbers to print
    for name, where, body in all_functions:
        needs = [m.group(1) for m in SCOPED.finditer(body)]
        for call in CALL.finditer(body):
            if call.group(1) in PRINTS | passing and FLOAT.search(literals(body, call.end())):
                print_floats.add(call.group(1))
                needs += [call.group(1)] if call.group(1) in PRINTS else []
            elif call.group(1) == 'strftime' and NAMES.search(literals(body, call.end())):
                needs.append('strftime')
        if needs and 'C_LOCALE;' not in body:
            wrong.append('%s: %s() calls %s() without C_LOCALE' % (where, name, needs[0]))
    for name, where, body in all_functions:
        if name in print_floats and PASSES_ON.search(body) and 'C_LOCALE;' not in body:
            wrong.append('%s: %s() is given floating point numbers and has no C_LOCALE' % (where, name))
    print('\n'.join(wrong + ['%d functions' % len(all_functions)]))
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
