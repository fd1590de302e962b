/* See words.h. */
#include "formats/protobuf/words.h"
#include "base/ascii.h"
#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>

bool words_wrong(const struct words *w, const char *what) {
    return reel_fail(w->err, REEL_DAMAGED, "proto text, byte %zu of %zu: %s", (size_t)(w->token_at - w->text.data),
                     w->text.size, what);
}

static bool protobuf_is_word(uint8_t c) {
    return ascii_is_alnum(c) || c == '_' || c == '.';
}

static uint8_t ahead(const struct words *w, size_t by) {
    return cursor_left(&w->c) > by ? w->c.at[by] : 0;
}

static void skip_space(struct words *w) {
    while (!cursor_done(&w->c)) {
        if (ascii_is_space(ahead(w, 0))) {
            cursor_u8(&w->c);
        } else if (ahead(w, 0) == '/' && ahead(w, 1) == '/') {
            const uint8_t *end = memchr(w->c.at, '\n', cursor_left(&w->c));
            cursor_take(&w->c, end ? (size_t)(end - w->c.at) : cursor_left(&w->c));
        } else if (ahead(w, 0) == '/' && ahead(w, 1) == '*') {
            const uint8_t *end = memmem(w->c.at + 2, cursor_left(&w->c) - 2, "*/", 2);
            cursor_take(&w->c, end ? (size_t)(end - w->c.at) + 2 : cursor_left(&w->c));
        } else {
            return;
        }
    }
}

void words_next(struct words *w) {
    skip_space(w);
    w->token_at = w->c.at;
    uint8_t first = ahead(w, 0);
    cursor_take(&w->c, !cursor_done(&w->c));
    if (protobuf_is_word(first)) {
        while (protobuf_is_word(ahead(w, 0))) {
            cursor_u8(&w->c);
        }
    } else if (first == '"' || first == '\'') {
        while (!cursor_done(&w->c) && ahead(w, 0) != first) {
            cursor_take(&w->c, ahead(w, 0) == '\\' && cursor_left(&w->c) > 1 ? 2 : 1);
        }
        cursor_take(&w->c, !cursor_done(&w->c));
    }
    w->token = bytes_of(w->token_at, (size_t)(w->c.at - w->token_at));
}

bool words_expect(struct words *w, const char *text) {
    if (!words_is(w, text)) {
        char what[32];
        snprintf(what, sizeof what, "\"%s\" is expected", text);
        return words_wrong(w, what);
    }
    words_next(w);
    return true;
}

bool words_take(struct words *w, struct reel_bytes *word) {
    *word = w->token;
    if (words_end(w) || !protobuf_is_word(w->token.data[0])) {
        return words_wrong(w, "a name is expected");
    }
    words_next(w);
    return true;
}

bool words_number(struct words *w, int64_t *number) {
    char digits[24] = "";
    bool minus = words_is(w, "-");
    if (minus) {
        words_next(w);
    }
    if (words_end(w) || w->token.size >= sizeof digits || !ascii_is_digit(w->token.data[0])) {
        return words_wrong(w, "a number is expected");
    }
    memcpy(digits, w->token.data, w->token.size);
    char *end;
    long long value = strtoll(digits, &end, 0);
    if (*end != '\0' || value > INT32_MAX) {
        return words_wrong(w, "not a number of 32 bits");
    }
    *number = minus ? -value : value;
    words_next(w);
    return true;
}

bool words_skip_statement(struct words *w) {
    for (size_t open = 0; !words_end(w);) {
        bool last = open == 0 ? words_is(w, ";") : open == 1 && words_is(w, "}");
        open += words_is(w, "{");
        open -= open > 0 && words_is(w, "}");
        words_next(w);
        if (last) {
            return true;
        }
    }
    return words_wrong(w, "a statement has no end");
}
