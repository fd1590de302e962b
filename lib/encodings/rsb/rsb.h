/* What the parts of the decoder of RSB events share: rsb (the event around a payload) · rsb_values (payloads of fundamental type) ·
 * rsb_guess (protobuf without its definition) · rsb_proto (the text of a definition, compiled). Rule: an event that can be read is told
 * whole; a payload that does not fit its type is told as bytes in it. */
#ifndef REEL_DECODE_RSB_H
#define REEL_DECODE_RSB_H

#include "reel/encoding.h"
#include "wire/grow.h"

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

/* ---- proto text: packages, messages, enums, labels, scalar types, oneof; imports and options are passed over. No groups, no map<>. */

enum {
    RSB_PROTO_TEXT_MAX = 1 << 20,
    RSB_PROTO_NAMES_MAX = 16384, /* messages and enums */
    RSB_PROTO_NAME_MAX = 512,    /* a name with package and outer messages */
    RSB_PROTO_DEPTH_MAX = 32,    /* messages in messages */
};

/* Files back to back, each begun by its package, as a protobuf FileDescriptorSet (appended to `out`). Of definitions of one name the first
 * counts. */
bool rsb_proto_compile(struct reel_bytes text, struct grow *out, struct reel_error *err);

/* The same of all texts that a channel has of its payloads, which may refer to each other; an envelope's is none. REEL_UNSUPPORTED: it has
 * none. */
bool rsb_proto_compile_channel(const struct reel_channel *channel, struct grow *out, struct reel_error *err);

#endif
