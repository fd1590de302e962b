/* What the parts of the decoder of RSB events share: rsb (the event around a payload) · rsb_values (payloads of fundamental type) ·
 * rsb_guess (protobuf without its definition). Rule: an event that can be read is told whole; a payload that does not fit its type is told
 * as bytes in it. */
#ifndef REEL_DECODE_RSB_H
#define REEL_DECODE_RSB_H

#include "reel/encoding.h"
#include "wire/grow.h"
#include "wire/rsb.h"

extern const struct reel_encoding reel_encoding_rsb, reel_encoding_bytes;

/* ---- fundamental types, by wire schema */

struct rsb_value;
const struct rsb_value *rsb_value_find(struct reel_bytes wire_schema); /* upper or lower case; NULL: none of them */
bool rsb_value_fits(const struct rsb_value *type, struct reel_bytes data);
bool rsb_value_tell(const struct rsb_value *type, struct reel_bytes data, struct reel_visitor *v); /* data that fits */
struct reel_field rsb_value_field(const struct rsb_value *type, const char *path);

/* ---- protobuf by field number: varints are naturals, 4 and 8 bytes are floating point, bytes are text, a map or binary, whatever they
 * look like. Repeated fields are lists where their values stand together, as all serializers write them. */

bool rsb_guess_fits(struct reel_bytes message);
bool rsb_guess_tell(struct reel_bytes message, struct reel_visitor *v); /* a message that fits */

#endif
