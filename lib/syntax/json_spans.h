/* Finds the members of a JSON object and the elements of an array without parsing the values inside: their extents
 * only. What the values hold is checked by whoever parses them. */
#ifndef REEL_SYNTAX_JSON_SPANS_H
#define REEL_SYNTAX_JSON_SPANS_H

#include <string.h>

#include "base/bytes.h"
#include "reel/bytes.h"

struct json_spans {
    const uint8_t *at, *end;
    bool failed; /* not the text of one object or array */
    bool more;   /* a comma was read: another element must follow */
    uint8_t close;
};

static inline void json_spans_white(struct json_spans *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r')) {
        s->at++;
    }
}
/* Moves behind the string that begins at s->at. */
static inline bool json_spans_string(struct json_spans *s) {
    for (s->at++; s->at < s->end && *s->at != '"'; s->at++) {
        s->at += *s->at == '\\';
    }
    return s->at < s->end && ++s->at;
}
/* Moves behind the value at s->at. */
static inline bool json_spans_value(struct json_spans *s) {
    size_t depth = 0;
    while (s->at < s->end) {
        uint8_t c = *s->at;
        if (c == '"') {
            if (!json_spans_string(s)) {
                return false;
            }
        } else if (c == '{' || c == '[') {
            depth++;
            s->at++;
            continue;
        } else if (c == '}' || c == ']') {
            if (depth == 0) {
                return true;
            }
            depth--;
            s->at++;
        } else if (depth == 0 && (c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t')) {
            return true;
        } else {
            s->at++;
            continue;
        }
        if (depth == 0) {
            return true;
        }
    }
    return depth == 0;
}
static inline struct json_spans json_spans_of(struct reel_bytes text, char open, char close) {
    struct json_spans s = {
        .at = text.data, .end = text.size > 0 ? text.data + text.size : text.data, .close = (uint8_t)close};
    json_spans_white(&s);
    s.failed = s.at == s.end || *s.at != (uint8_t)open;
    s.at += !s.failed;
    return s;
}
/* The next element of an array; false at its end, or when it has none (failed). */
static inline bool json_spans_next(struct json_spans *s, struct reel_bytes *value) {
    json_spans_white(s);
    if (s->failed || s->at == s->end) {
        s->failed = true;
        return false;
    }
    if (*s->at == s->close) {
        s->failed = s->more;
        s->at++;
        return false;
    }
    const uint8_t *from = s->at;
    s->failed = !json_spans_value(s) || s->at == from;
    *value = bytes_of(from, (size_t)(s->at - from));
    json_spans_white(s);
    s->more = !s->failed && s->at < s->end && *s->at == ',';
    if (s->more) {
        s->at++;
    } else {
        s->failed |= s->at == s->end || *s->at != s->close;
    }
    return !s->failed;
}
/* The next member of an object: its key as it stands between the quotes. */
static inline bool json_spans_member(struct json_spans *s, struct reel_bytes *key, struct reel_bytes *value) {
    json_spans_white(s);
    if (!s->failed && s->at < s->end && *s->at == '"') {
        const uint8_t *from = s->at + 1;
        s->failed = !json_spans_string(s);
        *key = bytes_of(from, s->failed ? 0 : (size_t)(s->at - from - 1));
        json_spans_white(s);
        s->failed |= s->at == s->end || *s->at != ':';
        s->at += !s->failed;
    } else if (s->at == s->end || *s->at != s->close) {
        s->failed = true;
    }
    return json_spans_next(s, value);
}

#endif
