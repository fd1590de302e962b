/* The only code that reads bytes of files: a bounded cursor with sticky failure. After a failed read everything reads
 * as zero and `failed` stays set, so a record is read field by field and checked once. A sub-cursor cannot read past
 * its own record. */
#ifndef REEL_BASE_CURSOR_H
#define REEL_BASE_CURSOR_H

#include "base/bytes.h"
#include "reel/bytes.h"

struct cursor {
    const uint8_t *at, *end;
    bool failed;
};

static inline struct cursor cursor_of(struct reel_bytes b) {
    return (struct cursor){.at = b.data, .end = b.size > 0 ? b.data + b.size : b.data}; /* NULL + 0 is undefined */
}
static inline size_t cursor_left(const struct cursor *c) {
    return (size_t)(c->end - c->at);
}
static inline bool cursor_done(const struct cursor *c) {
    return c->at == c->end;
}
/* Skips `size` bytes and returns their address; NULL (and failed) when they exceed the data. */
static inline const uint8_t *cursor_take(struct cursor *c, uint64_t size) {
    if (size > cursor_left(c)) {
        c->failed = true;
        c->at = c->end;
        return NULL;
    }
    const uint8_t *p = c->at;
    c->at += size;
    return p;
}
static inline struct reel_bytes cursor_bytes(struct cursor *c, uint64_t size) {
    const uint8_t *p = cursor_take(c, size);
    return p ? bytes_of(p, (size_t)size) : bytes_of("", 0);
}
static inline uint8_t cursor_u8(struct cursor *c) {
    const uint8_t *p = cursor_take(c, 1);
    return p ? *p : 0;
}
static inline uint16_t cursor_u16le(struct cursor *c) {
    const uint8_t *p = cursor_take(c, 2);
    return p ? load_u16le(p) : 0;
}
static inline uint32_t cursor_u32le(struct cursor *c) {
    const uint8_t *p = cursor_take(c, 4);
    return p ? load_u32le(p) : 0;
}
static inline uint64_t cursor_u64le(struct cursor *c) {
    const uint8_t *p = cursor_take(c, 8);
    return p ? load_u64le(p) : 0;
}
/* Big-endian, for msgpack and big-endian tapes. */
static inline uint64_t cursor_be(struct cursor *c, unsigned size) {
    const uint8_t *p = cursor_take(c, size);
    uint64_t v = 0;
    for (unsigned i = 0; p && i < size; i++) {
        v = v << 8 | p[i];
    }
    return v;
}
/* u32 length + bytes. */
static inline struct reel_bytes cursor_string32(struct cursor *c) {
    uint32_t size = cursor_u32le(c);
    return cursor_bytes(c, size);
}
static inline struct cursor cursor_sub(struct cursor *c, uint64_t size) {
    struct reel_bytes b = cursor_bytes(c, size);
    struct cursor sub = cursor_of(b);
    sub.failed = c->failed;
    return sub;
}

#endif
