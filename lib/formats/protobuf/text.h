/* A compiler for protobuf definitions in text form. */
#ifndef REEL_FORMATS_PROTOBUF_TEXT_H
#define REEL_FORMATS_PROTOBUF_TEXT_H

#include "base/grow.h"
#include "reel/error.h"
#include "reel/model.h"

/* Supported: packages, messages, enums, labels, scalar types, oneof; imports and options are skipped. No groups, no
 * map<>. */

enum {
    PROTO_TEXT_MAX = 1 << 20,
    PROTO_TEXT_NAMES_MAX = 16384, /* messages and enums */
    PROTO_TEXT_NAME_MAX = 512,    /* a name with package and enclosing messages */
    PROTO_TEXT_DEPTH_MAX = 32,    /* nesting of messages */
};

/* Compiles concatenated files, each beginning with its package, to a protobuf FileDescriptorSet (appended to `out`).
 * The first of several definitions of a name is used. */
bool proto_text_compile(struct reel_bytes text, struct grow *out, struct reel_error *err);

/* The same for all texts among a channel's schemas from `first` on, which may refer to each other. REEL_UNSUPPORTED:
 * there are none. */
bool proto_text_compile_channel(const struct reel_channel *channel, uint32_t first, struct grow *out,
                                struct reel_error *err);

#endif
