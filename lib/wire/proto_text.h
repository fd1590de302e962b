/* The text of protobuf definitions, compiled. */
#ifndef REEL_WIRE_PROTO_TEXT_H
#define REEL_WIRE_PROTO_TEXT_H

#include "reel/error.h"
#include "reel/model.h"
#include "wire/grow.h"

/* What is understood: packages, messages, enums, labels, scalar types, oneof; imports and options are passed over. No groups, no map<>. */

enum {
    PROTO_TEXT_MAX = 1 << 20,
    PROTO_TEXT_NAMES_MAX = 16384, /* messages and enums */
    PROTO_TEXT_NAME_MAX = 512,    /* a name with package and outer messages */
    PROTO_TEXT_DEPTH_MAX = 32,    /* messages in messages */
};

/* Files back to back, each begun by its package, as a protobuf FileDescriptorSet (appended to `out`). Of definitions of one name the first
 * counts. */
bool proto_text_compile(struct reel_bytes text, struct grow *out, struct reel_error *err);

/* The same of all texts among a channel's schemas from `first` on, which may refer to each other. REEL_UNSUPPORTED: it has none. */
bool proto_text_compile_channel(const struct reel_channel *channel, uint32_t first, struct grow *out, struct reel_error *err);

#endif
