/* See json_scan.h. */
#include "syntax/json_scan.h"

#include "base/hex.h"
#include "syntax/utf8.h"

/* ---- escapes */

static const uint8_t named[256] = {
    ['"'] = '"', ['\\'] = '\\', ['/'] = '/', ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t',
};

/* The unit of UTF-16 that an escape like \u0041 stands for; -1: here is none. */
static int32_t unit_at(const uint8_t *p, const uint8_t *end) {
    if (end - p < JSON_ESCAPE_MAX || p[0] != '\\' || p[1] != 'u') {
        return -1;
    }
    int a = hex_digit((char)p[2]), b = hex_digit((char)p[3]), c = hex_digit((char)p[4]), d = hex_digit((char)p[5]);
    return (a | b | c | d) < 0 ? -1 : a << 12 | b << 8 | c << 4 | d;
}

/* Reads one unit, or two that are the halves of a character. */
static bool read_character(struct cursor *c, uint32_t *out) {
    int32_t high = unit_at(c->at, c->end);
    int32_t low = high >= 0xd800 && high < 0xdc00 ? unit_at(c->at + JSON_ESCAPE_MAX, c->end) : 0;
    bool pair = low >= 0xdc00 && low < 0xe000;
    *out = pair ? utf8_code_of_units((uint32_t)high, (uint32_t)low) : (uint32_t)high;
    c->at += high < 0 ? 0 : pair ? 2 * JSON_ESCAPE_MAX : JSON_ESCAPE_MAX;
    return high >= 0;
}

/* Copies up to the next backslash. `to` has room for all that is left. */
static uint8_t *copy_plain(struct cursor *c, uint8_t *to) {
    for (; cursor_left(c) >= 8; c->at += 8, to += 8) {
        uint64_t v = load_u64le(c->at), met = json_match(v, '\\');
        store_u64le(to, v);
        if (met) {
            c->at += __builtin_ctzll(met) / 8;
            return to + __builtin_ctzll(met) / 8;
        }
    }
    while (!cursor_done(c) && *c->at != '\\') {
        *to++ = *c->at++;
    }
    return to;
}

bool json_unescape(struct reel_bytes raw, uint8_t *to, size_t *size) {
    struct cursor c = cursor_of(raw);
    uint8_t *at = to;
    uint32_t character;
    while (!cursor_done(&c)) {
        if (*c.at != '\\') {
            at = copy_plain(&c, at);
        } else if (cursor_left(&c) > 1 && named[c.at[1]]) {
            *at++ = named[c.at[1]];
            c.at += 2;
        } else if (read_character(&c, &character)) {
            at += utf8_put_code(character, at);
        } else {
            return false;
        }
    }
    *size = (size_t)(at - to);
    return true;
}

/* ---- members and elements */

enum { PLAIN, BETWEEN, QUOTE, OPEN, CLOSE, NOTHING };
static const uint8_t kinds[256] = {
    ['"'] = QUOTE,   ['{'] = OPEN,    ['['] = OPEN,     ['}'] = CLOSE,    [']'] = CLOSE,
    [','] = BETWEEN, [' '] = BETWEEN, ['\n'] = BETWEEN, ['\r'] = BETWEEN, ['\t'] = BETWEEN,
};

/* Moves behind the value at c->at. False: it does not end. */
static bool skip_value(struct cursor *c) {
    struct json_string ignored;
    for (size_t depth = 0;;) {
        while (!cursor_done(c) && kinds[*c->at] <= (depth > 0 ? BETWEEN : PLAIN)) {
            c->at++;
        }
        uint8_t kind = cursor_done(c) ? NOTHING : kinds[*c->at];
        if (kind == OPEN || (kind == CLOSE && depth > 0)) {
            depth = kind == OPEN ? depth + 1 : depth - 1;
            c->at++;
        } else if (kind != QUOTE) {
            return depth == 0;
        } else if (!json_string(c, &ignored)) {
            return false;
        }
        if (depth == 0) {
            return true;
        }
    }
}

static bool begins_with(const struct cursor *c, uint8_t byte) {
    return !cursor_done(c) && *c->at == byte;
}

struct json_items json_items_of(struct reel_bytes text, char open, char close) {
    struct json_items s = {.c = cursor_of(text), .close = (uint8_t)close};
    json_space(&s.c);
    s.c.failed = !begins_with(&s.c, (uint8_t)open);
    s.c.at += !s.c.failed;
    return s;
}

bool json_next(struct json_items *s, struct reel_bytes *value) {
    struct cursor *c = &s->c;
    json_space(c);
    if (c->failed || begins_with(c, s->close)) {
        c->at += !c->failed;
        c->failed |= s->more;
        return false;
    }
    const uint8_t *from = c->at;
    c->failed = !skip_value(c) || c->at == from;
    *value = bytes_of(from, (size_t)(c->at - from));
    json_space(c);
    s->more = !c->failed && begins_with(c, ',');
    c->failed |= !s->more && !begins_with(c, s->close);
    c->at += s->more;
    return !c->failed;
}

bool json_next_member(struct json_items *s, struct reel_bytes *key, struct reel_bytes *value) {
    struct cursor *c = &s->c;
    struct json_string name;
    json_space(c);
    if (!c->failed && !begins_with(c, s->close)) {
        c->failed = !begins_with(c, '"') || !json_string(c, &name);
        *key = c->failed ? bytes_of(NULL, 0) : name.raw;
        json_space(c);
        c->failed |= !begins_with(c, ':');
        c->at += !c->failed;
        s->more = true;
    }
    return json_next(s, value);
}

bool json_items_end(struct json_items *s) {
    json_space(&s->c);
    return !s->c.failed && cursor_done(&s->c);
}
