/* FlatBuffers read in place, every offset checked. A table begins with an i32: how far before it its vtable lies; that
 * has u16 its own size, u16 the table's size, then u16 for each slot: where the field lies in the table, 0: absent.
 * Strings, vectors and tables are referred to by u32: how far behind the reference they lie. A string and a vector
 * begin with u32, the number of elements. After a read outside of the buffer everything is 0 and `failed` stays set. */
#ifndef REEL_FORMATS_FLATBUFFER_BUFFER_H
#define REEL_FORMATS_FLATBUFFER_BUFFER_H

#include "base/bytes.h"

struct fb_buffer {
    struct reel_bytes all;
    bool failed;
    size_t failed_at;
};
struct fb_table {
    size_t at, vtable;
    uint16_t vtable_size;
};

static inline bool fb_has(struct fb_buffer *b, uint64_t at, uint64_t size) {
    if (!b->failed && (at > b->all.size || size > b->all.size - at)) {
        b->failed = true;
        b->failed_at = at < b->all.size ? (size_t)at : b->all.size;
    }
    return !b->failed;
}
/* A little-endian number of `size` bytes, at most 8. */
static inline uint64_t fb_load(struct fb_buffer *b, uint64_t at, unsigned size) {
    uint64_t value = 0;
    for (unsigned i = size; fb_has(b, at, size) && i-- > 0;) {
        value = value << 8 | b->all.data[at + i];
    }
    return value;
}

/* Where a reference leads. */
static inline size_t fb_follow(struct fb_buffer *b, size_t at) {
    uint64_t target = at + fb_load(b, at, 4);
    return fb_has(b, target, 4) ? (size_t)target : 0;
}
static inline struct fb_table fb_table_at(struct fb_buffer *b, size_t at) {
    int64_t vtable = (int64_t)at - (int32_t)(uint32_t)fb_load(b, at, 4);
    struct fb_table t = {.at = at, .vtable = vtable < 0 ? SIZE_MAX : (size_t)vtable};
    t.vtable_size = (uint16_t)fb_load(b, t.vtable, 2);
    t.vtable_size = fb_has(b, t.vtable, t.vtable_size) ? t.vtable_size : 0;
    return t;
}
/* Where a field of `size` bytes lies; 0: absent. `entry` is its place in the vtable, 4 + 2 × slot. */
static inline size_t fb_field(struct fb_buffer *b, const struct fb_table *t, unsigned entry, size_t size) {
    uint64_t in_table = entry >= 4 && (uint64_t)entry + 2 <= t->vtable_size ? fb_load(b, t->vtable + entry, 2) : 0;
    return in_table > 0 && fb_has(b, t->at + in_table, size) ? t->at + (size_t)in_table : 0;
}
/* The elements of the vector or string at `at`, each of `size` bytes. */
static inline struct reel_bytes fb_elements(struct fb_buffer *b, size_t at, size_t size) {
    uint64_t bytes = fb_load(b, at, 4) * size;
    return fb_has(b, (uint64_t)at + 4, bytes) ? bytes_of(b->all.data + at + 4, (size_t)bytes) : bytes_of("", 0);
}

#endif
