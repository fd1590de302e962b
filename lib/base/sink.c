/* The slow paths of the sink: bytes on the window's edge or outside of it, and hashing. `pos` counts every byte in all
 * cases. */
#include "base/sink.h"

#include <libdeflate.h>

/* The part of the next `size` bytes that falls into the window: its destination, or NULL; the first *skip bytes are
 * outside. */
static uint8_t *sink_overlap(const struct reel_sink *s, uint64_t size, uint64_t *skip, uint64_t *take) {
    uint64_t from = s->pos > s->lo ? s->pos : s->lo;
    uint64_t to = s->pos + size < s->hi ? s->pos + size : s->hi;
    if (from >= to) {
        return NULL;
    }
    *skip = from - s->pos;
    *take = to - from;
    return s->buffer + (from - s->lo);
}

void reel_sink_edge(struct reel_sink *s, const void *data, size_t size) {
    if (size == 0) {
        return;
    }
    if (s->hashing) {
        s->crc = libdeflate_crc32(s->crc, data, size);
    }
    uint64_t skip = 0;
    uint64_t take = 0;
    uint8_t *to = sink_overlap(s, size, &skip, &take);
    if (to) {
        memcpy(to, (const uint8_t *)data + skip, (size_t)take);
    }
    s->pos += size;
}

static void sink_hash_run(struct reel_sink *s, uint8_t value, uint64_t repeats) {
    uint8_t run[4096];
    memset(run, value, sizeof run);
    while (repeats > 0) {
        size_t size = repeats < sizeof run ? (size_t)repeats : sizeof run;
        s->crc = libdeflate_crc32(s->crc, run, size);
        repeats -= size;
    }
}

void reel_sink_fill(struct reel_sink *s, uint8_t value, uint64_t repeats) {
    if (s->hashing) {
        sink_hash_run(s, value, repeats);
    }
    uint64_t skip = 0;
    uint64_t take = 0;
    uint8_t *to = sink_overlap(s, repeats, &skip, &take);
    if (to) {
        memset(to, value, (size_t)take);
    }
    s->pos += repeats;
}
