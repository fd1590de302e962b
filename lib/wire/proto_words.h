/* The text of a protobuf definition, word by word. Rule: the word looked at is `token`; what takes one leaves the next. */
#ifndef REEL_WIRE_PROTO_WORDS_H
#define REEL_WIRE_PROTO_WORDS_H

#include "reel/error.h"
#include "wire/bytes.h"
#include "wire/cursor.h"

struct words {
    struct cursor c;               /* behind the token */
    struct reel_bytes text, token; /* a word or number, a text with its quotes, or one other character; empty at the end */
    const uint8_t *token_at;
    struct reel_error *err;
};

void words_next(struct words *w);
bool words_wrong(const struct words *w, const char *what); /* false, with an error that says where */

static inline bool words_end(const struct words *w) {
    return w->token.size == 0;
}
static inline bool words_is(const struct words *w, const char *text) {
    return bytes_is(w->token, text);
}
bool words_expect(struct words *w, const char *text);
bool words_take(struct words *w, struct reel_bytes *word);
bool words_number(struct words *w, int64_t *number); /* of 32 bits */
bool words_skip_statement(struct words *w);          /* with its block, if it has one */

#endif
