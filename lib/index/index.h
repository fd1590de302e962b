/* The index inside the core: segments and chunk rows, read on demand and checked on every read. */
#ifndef REEL_INDEX_INDEX_H
#define REEL_INDEX_INDEX_H

#include <stdatomic.h>

#include "index/pack_model.h"

struct reel_index {
    struct pack_model model;
    struct reel_index_info info;
    size_t *first_segment; /* of each channel, n_channels + 1 items; segments of a channel are consecutive, sorted by
                              first key */
    int fd;
    uint8_t *recent; /* what is at offsets from INDEX_RECENT on; NULL: the file has all */
    size_t recent_size;
    char *path;
    atomic_bool *corrupted; /* set by any thread that reads */
};

#define INDEX_RECENT (UINT64_C(1) << 62)
/* An index whose directory is given, of a pack that is still being written. Takes over `fd` and `recent`, also on
 * failure. */
struct reel_index *index_of_growing(int fd, struct reel_bytes directory, uint8_t *recent, size_t recent_size,
                                    struct reel_error *err);

/* Segment bytes into `buffer` (segment->size bytes), CRC checked. */
bool index_read_segment(const struct reel_index *index, const struct pack_segment *segment, uint8_t *buffer,
                        struct reel_error *err);

/* How many chunk rows the largest segment of them has, at least 1. */
size_t index_chunk_rows(const struct reel_index *index);

/* The segment of chunk rows with chunk `id` into `rows`, which has room for index_chunk_rows(); *first is the id of
 * rows[0]. */
bool index_read_chunks(const struct reel_index *index, uint32_t id, struct reel_chunk *rows, uint32_t *first,
                       uint32_t *count, struct reel_error *err);

#endif
