/* The one sink every writer appends to: a window on an endless output. Bytes that fall into [lo, hi) are stored, all
 * others are only counted. So one piece of writer code counts (empty window), renders whole groups, and renders any
 * part of a huge one. */
#ifndef REEL_BASE_SINK_H
#define REEL_BASE_SINK_H

#include <string.h>

#include "reel/bytes.h"

struct reel_sink {
    uint64_t pos;    /* bytes emitted so far */
    uint64_t lo, hi; /* the window; lo == hi counts only */
    uint8_t *buffer; /* hi - lo bytes, owned by the caller */
    bool hashing;    /* keep `crc` over every byte emitted, inside the window or not */
    uint32_t crc;    /* CRC-32 (zlib's), start value 0 */
    bool partial;    /* the window covers part of a group; do not patch, or the output would depend on where the window
                      * lies
                      */
    bool lacking;    /* a writer sets this if it must patch inside a partial window; the whole group is then rendered */
};

void reel_sink_edge(struct reel_sink *s, const void *data, size_t size);   /* slow path of reel_sink_put */
void reel_sink_fill(struct reel_sink *s, uint8_t value, uint64_t repeats); /* a run of one byte value */

static inline void reel_sink_put(struct reel_sink *s, const void *data, size_t size) {
    if (s->pos >= s->lo && s->pos + size <= s->hi && size > 0 && !s->hashing) {
        memcpy(s->buffer + (s->pos - s->lo), data, size);
        s->pos += size;
        return;
    }
    reel_sink_edge(s, data, size);
}
static inline void reel_sink_put_bytes(struct reel_sink *s, struct reel_bytes b) {
    if (b.size > 0) {
        reel_sink_put(s, b.data, b.size);
    }
}
static inline void reel_sink_u8(struct reel_sink *s, uint8_t v) {
    reel_sink_put(s, &v, 1);
}
static inline void reel_sink_u16le(struct reel_sink *s, uint16_t v) {
    const uint8_t b[2] = {(uint8_t)v, (uint8_t)(v >> 8)};
    reel_sink_put(s, b, sizeof b);
}
static inline void reel_sink_u32le(struct reel_sink *s, uint32_t v) {
    const uint8_t b[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)};
    reel_sink_put(s, b, sizeof b);
}
static inline void reel_sink_u64le(struct reel_sink *s, uint64_t v) {
    const uint8_t b[8] = {(uint8_t)v,         (uint8_t)(v >> 8),  (uint8_t)(v >> 16), (uint8_t)(v >> 24),
                          (uint8_t)(v >> 32), (uint8_t)(v >> 40), (uint8_t)(v >> 48), (uint8_t)(v >> 56)};
    reel_sink_put(s, b, sizeof b);
}
/* u32 length + bytes, the string of MCAP, ROS and TIDE. */
static inline void reel_sink_string32(struct reel_sink *s, struct reel_bytes b) {
    reel_sink_u32le(s, (uint32_t)b.size);
    reel_sink_put_bytes(s, b);
}

/* Address of the stored bytes [pos, pos + size), or NULL when they do not all lie in the window or the group is not
 * shown whole. For checksums and patches. */
static inline uint8_t *reel_sink_at(const struct reel_sink *s, uint64_t pos, uint64_t size) {
    return !s->partial && pos >= s->lo && pos + size <= s->hi && size > 0 ? s->buffer + (pos - s->lo) : NULL;
}

static inline bool reel_sink_shows(const struct reel_sink *s, uint64_t pos, uint64_t size) { /* some of these bytes */
    return pos < s->hi && pos + size > s->lo;
}

#endif
