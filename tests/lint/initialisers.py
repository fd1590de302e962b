#!/usr/bin/env python3
"""No value may hang on the order in which C evaluates things: finds initialisers and argument lists in which two calls advance
the same cursor, as in {.id = cursor_u16le(&c), .size = cursor_u16le(&c)}. Prints each place and exits with 1 when there is one."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLANKED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DECLARED = re.compile(r'\b(\w+)\(([^(){};]*\bstruct cursor \*[^(){};]*)\)')
CALL = re.compile(r'\b(\w+)\s*\(')
CLOSING = {'(': ')', '{': '}', '[': ']'}


def blank(text):
    """Comments and literals as blanks: places stay."""
    return BLANKED.sub(lambda m: re.sub(r'[^\n]', ' ', m.group()), text)


def groups(text):
    """Every (…) and {…} as (begin, end) of what is inside, with the places of its commas; none that holds statements."""
    stack = []
    for at, c in enumerate(text):
        if c in CLOSING:
            stack.append([c, at + 1, [], False])
        elif c in CLOSING.values():
            if not stack:
                continue
            opening, begin, commas, statements = stack.pop()
            if opening != '[' and not statements and commas:
                yield begin, at, commas
        elif stack and c == ',':
            stack[-1][2].append(at)
        elif stack and c == ';':
            stack[-1][3] = True


def advancing_functions(text):
    """(name, number of the parameter that is a cursor that may move)."""
    for m in DECLARED.finditer(text):
        for i, parameter in enumerate(m.group(2).split(',')):
            if re.match(r'\s*struct cursor \*', parameter):
                yield m.group(1), i


def arguments(text, at):
    """Those of the call whose parenthesis opens before `at`."""
    depth, begin = 0, at
    for i in range(at, len(text)):
        depth += (text[i] in CLOSING) - (text[i] in CLOSING.values())
        if depth < 0 or (depth == 0 and text[i] == ','):
            yield re.sub(r'\s', '', text[begin:i])
            begin = i + 1
        if depth < 0:
            return


def faults(text, advancing):
    for begin, end, commas in groups(text):
        seen, edges = {}, [begin, *commas, end]
        for first, last in zip(edges, edges[1:]):
            for call in CALL.finditer(text, first, last):
                for cursor in [a for i, a in enumerate(arguments(text, call.end())) if (call.group(1), i) in advancing]:
                    if seen.setdefault(cursor, first) != first:
                        yield call.start(), cursor


def check_itself(advancing):
    bad = 'struct x v = {.a = cursor_u8(&c), .b = f(1, cursor_u16le(&c))}; f(cursor_u8(x->c), cursor_u8(x->c));'
    good = 'f(cursor_u8(&a), cursor_u8(&b)); { a = cursor_u8(&c); b = cursor_u8(&c), d = 1; } g(cursor_left(&c), cursor_u8(&c));'
    assert [cursor for _, cursor in faults(bad, advancing)] == ['x->c', '&c'][::-1], list(faults(bad, advancing))
    assert not list(faults(good, advancing)), list(faults(good, advancing))


def main():
    files = [f for folder in (sys.argv[1:] or [ROOT / 'lib', ROOT / 'server', ROOT / 'tests']) for f in sorted(pathlib.Path(folder).rglob('*.[ch]'))]
    texts = {f: blank(f.read_text()) for f in files}
    headers = sorted((ROOT / 'lib').rglob('*.[ch]'))
    advancing = {found for f in headers for found in advancing_functions(blank(f.read_text()))}
    check_itself(advancing)
    found = sorted({(str(f), text.count('\n', 0, at) + 1, cursor) for f, text in texts.items() for at, cursor in faults(text, advancing)})
    for place in found:
        print('%s:%d: %s is advanced twice in one list: write statements' % place)
    return 1 if found or not advancing else 0


sys.exit(main())
