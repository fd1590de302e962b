/* Tokens of a protobuf definition. `token` is the current one; functions that consume it advance to the next. */
#ifndef REEL_FORMATS_PROTOBUF_WORDS_H
#define REEL_FORMATS_PROTOBUF_WORDS_H

#include "base/bytes.h"
#include "base/cursor.h"
#include "reel/error.h"

struct words {
    struct cursor c;               /* text after the token */
    struct reel_bytes text, token; /* a word or number, a quoted string, or one other character; empty at the end */
    const uint8_t *token_at;
    struct reel_error *err;
};

void words_next(struct words *w);
bool words_wrong(const struct words *w, const char *what); /* returns false, with an error that includes the position */

static inline bool words_end(const struct words *w) {
    return w->token.size == 0;
}
static inline bool words_is(const struct words *w, const char *text) {
    return bytes_is(w->token, text);
}
bool words_expect(struct words *w, const char *text);
bool words_take(struct words *w, struct reel_bytes *word);
bool words_number(struct words *w, int64_t *number); /* of 32 bits */
bool words_skip_statement(struct words *w);          /* including its block, if any */

#endif
