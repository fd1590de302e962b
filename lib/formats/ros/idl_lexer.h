/* The tokens of an IDL text, and errors at one. */
#ifndef REEL_FORMATS_ROS_IDL_LEXER_H
#define REEL_FORMATS_ROS_IDL_LEXER_H

#include "reel/bytes.h"
#include "reel/error.h"

struct idl_lexer {
    const uint8_t *begin, *at, *end;
    uint32_t line;
    struct reel_bytes token; /* a word with its ::, a number, a text with its quotes, or one character; size 0 at the
                                end */
};

/* At the first token. `line`: number of the text's first line. */
struct idl_lexer idl_lexer_of(struct reel_bytes text, uint32_t line);
/* Reads the next token. Blanks, comments, preprocessor lines and the headings between joined files are no tokens. */
void idl_next(struct idl_lexer *l);

bool idl_is(const struct idl_lexer *l, const char *text);
bool idl_is_word(const struct idl_lexer *l);            /* a name without :: */
bool idl_accept(struct idl_lexer *l, const char *text); /* the token is this: goes on to the next */
/* Goes on behind the bracket that closes the one at the token; false at the end of the text. */
bool idl_skip_brackets(struct idl_lexer *l);

/* Return false with an error that names the line and the token. */
bool idl_refuse(const struct idl_lexer *l, enum reel_code code, const char *what, struct reel_error *err);
bool idl_need(struct idl_lexer *l, const char *text, struct reel_error *err);
bool idl_need_name(struct idl_lexer *l, struct reel_bytes *name, struct reel_error *err);

#endif
