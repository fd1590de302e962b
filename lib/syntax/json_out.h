/* Values as JSON text. Integers beyond 2^53 and numbers that are not finite are written as strings, bytes as
 * {"$base64":"…"}, bytes of text that are not UTF-8 as \xNN; duplicate keys are all written. */
#ifndef REEL_SYNTAX_JSON_OUT_H
#define REEL_SYNTAX_JSON_OUT_H

#include "base/grow.h"
#include "decode/encoding.h"

enum { JSON_DEPTH_MAX = 160 }; /* above the limit of every decoder */

struct json_out {
    struct reel_visitor visitor; /* must be the first member */
    struct grow *to;             /* text is appended here; `failed` when memory is exhausted */
    size_t max;                  /* ends the walk when to->size exceeds it */
    uint32_t depth;
    bool too_long;
    bool follows[JSON_DEPTH_MAX + 1]; /* by depth: a comma is needed before the next value */
    bool after_key;
};

struct json_out json_out_to(struct grow *to, size_t max);

/* Single values, for code that writes JSON without a visitor. */
void json_put_string(struct grow *to, struct reel_bytes text);
void json_put_real(struct grow *to, double value);
void json_put_real32(struct grow *to, float value);
void json_put_integer(struct grow *to, int64_t value);
void json_put_natural(struct grow *to, uint64_t value);
void json_put_base64(struct grow *to, struct reel_bytes data); /* only the digits */

/* The shortest decimal that reads back to the same number, with NUL; "NaN", "Infinity", "-Infinity". */
enum { REEL_NUMBER_TEXT = 48 };
void reel_number_text(double value, char out[REEL_NUMBER_TEXT]);
void reel_number_text32(float value, char out[REEL_NUMBER_TEXT]); /* of a float32, which needs fewer digits */

#endif
