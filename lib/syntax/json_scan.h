/* Tokens of JSON text: for the parser of payloads, for rows, whose members are found without parsing their values, and
 * for bytes inside of text. Nothing is checked here but what the next token needs; no memory is needed. */
#ifndef REEL_SYNTAX_JSON_SCAN_H
#define REEL_SYNTAX_JSON_SCAN_H

#include "base/cursor.h"

static inline bool json_is_space(uint8_t c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}
static inline void json_space(struct cursor *c) {
    while (c->at < c->end && json_is_space(*c->at)) {
        c->at++;
    }
}

/* Sets the highest bits of those bytes of `v` that are `byte`. The lowest one is right, those above it may not be. */
static inline uint64_t json_match(uint64_t v, uint8_t byte) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    v ^= byte * ones;
    return (v - ones) & ~v & ones << 7;
}

/* Where plain characters of a string end: at a quote, a backslash, a control character, or `end`. */
static inline const uint8_t *json_plain_end(const uint8_t *p, const uint8_t *end) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    for (; end - p >= 8; p += 8) {
        uint64_t v = load_u64le(p), control = (v - ' ' * ones) & ~v & ones << 7;
        uint64_t met = control | json_match(v, '"') | json_match(v, '\\');
        if (met) {
            return p + __builtin_ctzll(met) / 8;
        }
    }
    while (p < end && *p >= ' ' && *p != '"' && *p != '\\') {
        p++;
    }
    return p;
}

struct json_string {
    struct reel_bytes raw; /* between the quotes, with its escapes */
    bool escaped;
    const uint8_t *control; /* the first control character, of which JSON allows none, that is not escaped; else NULL */
};
/* Moves behind the string whose opening quote is at c->at. False: it does not end, and all is read. */
static inline bool json_string(struct cursor *c, struct json_string *out) {
    const uint8_t *begin = c->at + 1, *p = json_plain_end(begin, c->end);
    *out = (struct json_string){0};
    while (p < c->end && *p != '"') {
        if (*p == '\\') {
            out->escaped = true;
            p += c->end - p > 1 ? 2 : 1;
        } else {
            out->control = out->control ? out->control : p;
            p++;
        }
        p = json_plain_end(p, c->end);
    }
    out->raw = bytes_of(begin, (size_t)(p - begin));
    c->at = p < c->end ? p + 1 : p;
    return p < c->end;
}

enum { JSON_ESCAPE_MAX = 6 }; /* bytes of the longest escape, \u0041 */
/* Decodes the escapes of a string; the result is never longer than `raw`. A surrogate without its other half becomes
 * three bytes that are no UTF-8. False: an invalid escape. */
bool json_unescape(struct reel_bytes raw, uint8_t *to, size_t *size);

/* ---- the members of an object and the elements of an array, without what is inside of their values */

struct json_items {
    struct cursor c; /* failed: not the text of one object or array */
    bool more;       /* a comma or colon was read: a value must follow */
    uint8_t close;
};
struct json_items json_items_of(struct reel_bytes text, char open, char close);
/* The next element of an array; false at its end, or when it has none (failed). */
bool json_next(struct json_items *s, struct reel_bytes *value);
/* The next member of an object: its key as it stands between the quotes. */
bool json_next_member(struct json_items *s, struct reel_bytes *key, struct reel_bytes *value);
/* Whether the text ended in order, with nothing but blanks behind it. */
bool json_items_end(struct json_items *s);

#endif
