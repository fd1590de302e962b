/* A JSON parser that calls a visitor. */
#ifndef REEL_SYNTAX_JSON_PARSE_H
#define REEL_SYNTAX_JSON_PARSE_H

#include "decode/encoding.h"

/* Parses exactly one value, with white space around it. Integers that fit 64 bits stay integers, other numbers become
 * double. NaN, Infinity and -Infinity, which Python writes, are accepted. An unpaired surrogate becomes three bytes, as
 * UTF-8 would encode it. */
bool json_parse(struct reel_bytes text, struct reel_visitor *v, struct reel_error *err);

#endif
