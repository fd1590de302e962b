/* Protobuf's wire form read field by field from a cursor: no schema, no tree, nothing copied.
 * A field is a varint tag (number << 3 | wire type) and its value; wire 0: varint, 1: 8 bytes, 2: varint length +
 * bytes, 5: 4 bytes. */
#ifndef REEL_SYNTAX_PROTOBUF_H
#define REEL_SYNTAX_PROTOBUF_H

#include "base/bytes.h"
#include "base/cursor.h"

enum proto_wire { PROTO_VARINT = 0, PROTO_64 = 1, PROTO_BYTES = 2, PROTO_32 = 5 };
enum { PROTO_VARINT_MAX = 10, PROTO_NUMBER_MAX = (1 << 29) - 1 };

struct proto_field {
    uint32_t number;
    enum proto_wire wire;
    uint64_t value;          /* varint, 64, 32 */
    struct reel_bytes bytes; /* bytes */
};

static inline uint64_t proto_varint(struct cursor *c) {
    uint64_t value = 0;
    for (unsigned i = 0; i < PROTO_VARINT_MAX; i++) {
        uint8_t byte = cursor_u8(c);
        value |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (byte < 0x80) {
            return value;
        }
    }
    c->failed = true;
    return 0;
}

/* False at the end, and when the bytes are not a field: then c->failed. */
static inline bool proto_next(struct cursor *c, struct proto_field *f) {
    if (c->failed || cursor_done(c)) {
        return false;
    }
    uint64_t tag = proto_varint(c);
    f->number = (uint32_t)(tag >> 3);
    f->wire = (enum proto_wire)(tag & 7);
    f->value = 0;
    f->bytes = bytes_of("", 0);
    if (tag >> 3 == 0 || tag >> 3 > PROTO_NUMBER_MAX) {
        c->failed = true;
    }
    switch (f->wire) {
    case PROTO_VARINT:
        f->value = proto_varint(c);
        break;
    case PROTO_64:
        f->value = cursor_u64le(c);
        break;
    case PROTO_BYTES:
        f->bytes = cursor_bytes(c, proto_varint(c));
        break;
    case PROTO_32:
        f->value = cursor_u32le(c);
        break;
    default:
        c->failed = true;
    }
    return !c->failed;
}

static inline bool proto_is(const struct proto_field *f, uint32_t number, enum proto_wire wire) {
    return f->number == number && f->wire == wire;
}

#endif
