/* Implements json_parse.h. The parser keeps only one bit for each level; only a long text with escapes needs memory. */
#include "syntax/json_parse.h"

#include <math.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "base/shortest_number.h"
#include "syntax/json_scan.h"
#include "syntax/visitor.h"

enum { TEXT_ROOM = 2048 }; /* texts with escapes up to this size need no allocation */

struct json_in {
    struct reel_bytes text;
    struct cursor at;
    struct reel_visitor *v;
    struct reel_error *err;
    unsigned depth;
    bool maps[REEL_DEPTH_MAX]; /* by level: a map, else a list */
    uint8_t room[TEXT_ROOM];
};

static bool fail(struct json_in *j, const char *why) {
    return reel_fail(j->err, REEL_DAMAGED, "byte %zu of %zu: %s", j->text.size - cursor_left(&j->at), j->text.size,
                     why);
}

static int peek(const struct json_in *j) {
    return cursor_done(&j->at) ? -1 : *j->at.at;
}
static bool json_parse_take(struct json_in *j, char c) {
    bool met = peek(j) == c;
    if (met) {
        cursor_u8(&j->at);
    }
    return met;
}
static bool take_word(struct json_in *j, const char *word) {
    bool met = bytes_start(bytes_of(j->at.at, cursor_left(&j->at)), bytes_text(word));
    if (met) {
        cursor_take(&j->at, strlen(word));
    }
    return met;
}

/* ---- texts */

typedef bool (*visit_text_fn)(struct reel_visitor *v, struct reel_bytes text);

/* A string with an escape, or one that is wrong. */
static bool read_escaped_text(struct json_in *j, visit_text_fn visit) {
    struct json_string text;
    bool ends = json_string(&j->at, &text);
    if (text.control) {
        j->at.at = text.control;
        return fail(j, "a control character inside a text");
    }
    if (!ends) {
        return fail(j, "ends inside a text");
    }
    AUTO_MEM uint8_t *own = text.raw.size > TEXT_ROOM ? malloc(text.raw.size) : NULL;
    if (text.raw.size > TEXT_ROOM && !own) {
        return reel_fail_memory(j->err);
    }
    uint8_t *to = own ? own : j->room;
    size_t size;
    return json_unescape(text.raw, to, &size) ? visit(j->v, bytes_of(to, size))
                                              : fail(j, "an escape that is none in the text before");
}

/* The opening quote is the next byte. */
static bool json_parse_read_text(struct json_in *j, visit_text_fn visit) {
    const uint8_t *begin = j->at.at + 1, *end = json_plain_end(begin, j->at.end);
    if (end == j->at.end || *end != '"') {
        return read_escaped_text(j, visit);
    }
    j->at.at = end + 1;
    return visit(j->v, bytes_of(begin, (size_t)(end - begin)));
}

static bool read_key(struct json_in *j) {
    json_space(&j->at);
    if (peek(j) != '"') {
        return fail(j, "a key is missing");
    }
    if (!json_parse_read_text(j, visit_key)) {
        return false;
    }
    json_space(&j->at);
    return json_parse_take(j, ':') || fail(j, "a colon is missing");
}

/* ---- numbers */

static size_t take_digits(struct json_in *j) {
    const uint8_t *begin = j->at.at;
    while (peek(j) >= '0' && peek(j) <= '9') {
        cursor_u8(&j->at);
    }
    return (size_t)(j->at.at - begin);
}

/* False: the number needs more than 64 bits. */
static bool whole_of(const uint8_t *digits, size_t n, uint64_t *value) {
    *value = 0;
    for (size_t i = 0; i < n; i++) {
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, digits[i] - (uint64_t)'0', value)) {
            return false;
        }
    }
    return true;
}

static bool emit_whole(struct json_in *j, bool negative, uint64_t value) {
    if (!negative) {
        return value > INT64_MAX ? visit_natural(j->v, value) : visit_integer(j->v, (int64_t)value);
    }
    return value == 0 ? visit_real(j->v, -0.0) : visit_integer(j->v, (int64_t)(0 - value));
}

static bool json_parse_read_number(struct json_in *j) {
    const uint8_t *begin = j->at.at;
    bool negative = json_parse_take(j, '-'), leading = peek(j) == '0';
    if (negative && take_word(j, "Infinity")) {
        return visit_real(j->v, -INFINITY);
    }
    const uint8_t *digits = j->at.at;
    size_t n = take_digits(j);
    bool good = n > 0 && (!leading || n == 1), whole = true;
    if (json_parse_take(j, '.')) {
        whole = false;
        good = take_digits(j) > 0 && good;
    }
    if (json_parse_take(j, 'e') || json_parse_take(j, 'E')) {
        whole = false;
        if (!json_parse_take(j, '+')) {
            json_parse_take(j, '-');
        }
        good = take_digits(j) > 0 && good;
    }
    if (!good) {
        return fail(j, "a number that is none");
    }
    uint64_t value;
    if (whole && whole_of(digits, n, &value) && (!negative || value <= UINT64_C(1) << 63)) {
        return emit_whole(j, negative, value);
    }
    return visit_real(j->v, shortest_read((const char *)begin, (size_t)(j->at.at - begin)));
}

/* ---- the walk */

static bool read_single(struct json_in *j) {
    int c = peek(j);
    if (c == '"') {
        return json_parse_read_text(j, visit_text);
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        return json_parse_read_number(j);
    }
    if (take_word(j, "true") || take_word(j, "false")) {
        return visit_boolean(j->v, c == 't');
    }
    if (take_word(j, "null")) {
        return visit_null(j->v);
    }
    if (take_word(j, "NaN") || take_word(j, "Infinity")) {
        return visit_real(j->v, c == 'N' ? NAN : INFINITY);
    }
    return fail(j, c < 0 ? "ends before a value" : "no value begins here");
}

static bool end_container(struct json_in *j) {
    return j->maps[--j->depth] ? visit_end_map(j->v) : visit_end_list(j->v);
}

/* Reads a value, or the beginning of a map or list up to its first value: then *inside is set. */
static bool json_parse_read_value(struct json_in *j, bool *inside) {
    json_space(&j->at);
    bool map = json_parse_take(j, '{');
    *inside = false;
    if (!map && !json_parse_take(j, '[')) {
        return read_single(j);
    }
    if (j->depth == REEL_DEPTH_MAX) {
        return reel_fail(j->err, REEL_LIMIT, "byte %zu of %zu: nested more than %d levels deep",
                         j->text.size - cursor_left(&j->at), j->text.size, REEL_DEPTH_MAX);
    }
    j->maps[j->depth++] = map;
    if (!(map ? visit_begin_map(j->v) : visit_begin_list(j->v))) {
        return false;
    }
    json_space(&j->at);
    if (json_parse_take(j, map ? '}' : ']')) {
        return end_container(j);
    }
    *inside = true;
    return !map || read_key(j);
}

/* Reads from the end of a value to the next one. */
static bool read_on(struct json_in *j) {
    while (j->depth > 0) {
        bool map = j->maps[j->depth - 1];
        json_space(&j->at);
        if (json_parse_take(j, ',')) {
            return !map || read_key(j);
        }
        if (!json_parse_take(j, map ? '}' : ']')) {
            return fail(j, peek(j) < 0 ? "ends inside a map or list" : "a comma is missing");
        }
        if (!end_container(j)) {
            return false;
        }
    }
    return true;
}

bool json_parse(struct reel_bytes text, struct reel_visitor *v, struct reel_error *err) {
    struct json_in j;
    uint32_t values = 0;
    bool inside;
    j.text = text;
    j.at = cursor_of(text);
    j.v = v;
    j.err = err;
    j.depth = 0;
    take_word(&j, "\xEF\xBB\xBF");
    do {
        if (!cancel_check_step(&values, err) || !json_parse_read_value(&j, &inside) || (!inside && !read_on(&j))) {
            return false;
        }
    } while (j.depth > 0);
    json_space(&j.at);
    return cursor_done(&j.at) || reel_fail(err, REEL_DAMAGED, "byte %zu of %zu: %zu bytes too many",
                                           text.size - cursor_left(&j.at), text.size, cursor_left(&j.at));
}
