#!/usr/bin/env python3
"""The types of problems: each that the server's sources send has a row in the table of server/api/service/service.c, with what has happened, why and what
to do in sentences, each row is sent, and no type is computed. Prints what is wrong and exits with 1 when there is something."""
import pathlib
import re
import sys

SERVER = pathlib.Path(__file__).resolve().parents[2] / 'server'
CALL = re.compile(r'\bhttp_reply_problem(?:_with)?\(\s*r,([^;]*)')
TYPE = re.compile(r'(?:[^,"()]|\([^()]*\))*,\s*"([a-z-]+)"')  # the status, then the type
BY_CODE = re.compile(r'\[REEL_\w+\] = \{\d+, "([a-z-]+)"\}')
TEXT = r'((?:"(?:\\.|[^"\\])*"\s*)+)'
ROW = re.compile(r'\{"([a-z-]+)",\s*%s,\s*%s,\s*%s\}' % (TEXT, TEXT, TEXT))
SENTENCE = re.compile(r'(`[a-z]+` |[A-Z]).*\.', re.S)


def sent(wrong):
    found = {}
    for path in sorted(SERVER.rglob('*.c')):
        text = path.read_text(encoding='utf-8')
        for slug in BY_CODE.findall(text):
            found.setdefault(slug, path)
        for call in CALL.finditer(text):
            kind = TYPE.match(call.group(1))
            if kind:
                found.setdefault(kind.group(1), path)
            elif path.name != 'reply.c':  # which passes types on
                wrong.append('%s:%d: the type of a problem is written as a literal' % (path, text.count('\n', 0, call.start()) + 1))
    return found


def main():
    wrong = []
    found = sent(wrong)
    table = (SERVER / 'api/service/service.c').read_text(encoding='utf-8').split('problems[] = {')[1].split('\n};')[0]
    rows = {slug: texts for slug, *texts in ROW.findall(table)}
    if len(rows) != len(re.findall(r'^    \{"', table, re.M)):
        wrong.append('service.c: a row of the problem types has not its four texts, or a type twice')
    wrong += ['%s: the problem type %s is not explained in service.c' % (found[slug], slug) for slug in sorted(set(found) - set(rows))]
    wrong += ['service.c: the problem type %s is never sent' % slug for slug in sorted(set(rows) - set(found))]
    for slug, texts in rows.items():
        plain = [''.join(re.findall(r'"((?:\\.|[^"\\])*)"', text)) for text in texts]
        wrong += ['service.c: %s: %r is no sentence' % (slug, text) for text in plain if not SENTENCE.fullmatch(text)]
        wrong += ['service.c: %s: %r has a character of HTML' % (slug, text) for text in plain if re.search('[<>&]', text)]
    print('\n'.join(wrong + ['%d problem types' % len(rows)]))
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
