/* JSON text told to a visitor. */
#ifndef REEL_DECODE_JSON_IN_H
#define REEL_DECODE_JSON_IN_H

#include "reel/encoding.h"

/* Exactly one value, with white space around it. Integers that fit 64 bits are told as such, other numbers as double; NaN, Infinity and
 * -Infinity, which Python writes, are taken too; half of a surrogate pair becomes the three bytes that UTF-8 would have for it. */
bool json_tell(struct reel_bytes text, struct reel_visitor *v, struct reel_error *err);

#endif
