/* Internals of the RSB decoder: rsb.c (the event around a payload), rsb_values.c (payloads of fundamental types),
 * rsb_guess.c (protobuf without its definition). A readable event is always decoded; a payload that does not fit its
 * type is emitted as bytes. */
#ifndef REEL_FORMATS_TIDE_RSB_H
#define REEL_FORMATS_TIDE_RSB_H

#include "base/grow.h"
#include "decode/encoding.h"
#include "formats/tide/rsb_names.h"

extern const struct reel_encoding reel_encoding_rsb, reel_encoding_bytes;

/* ---- fundamental types, by wire schema */

struct rsb_value;
/* case-insensitive; NULL: not a fundamental type */
const struct rsb_value *rsb_value_find(struct reel_bytes wire_schema);
bool rsb_value_fits(const struct rsb_value *type, struct reel_bytes data);
bool rsb_value_emit(const struct rsb_value *type, struct reel_bytes data, struct reel_visitor *v); /* `data` must fit
                                                                                                      the type */
struct reel_field rsb_value_field(const struct rsb_value *type, const char *path);

/* ---- protobuf by field number: varints are natural numbers, 4 and 8 bytes are floating point, bytes are text, a map
 * or binary, by their content. Consecutive fields with one number are a list: all serializers write repeated fields
 * that way. */

bool rsb_guess_fits(struct reel_bytes message);
bool rsb_guess_emit(struct reel_bytes message, struct reel_visitor *v); /* `message` must be valid */

#endif
