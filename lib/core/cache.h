/* Decompressed chunks of all recordings of a process, bounded; a block in use is pinned and stays. */
#ifndef REEL_CORE_CACHE_H
#define REEL_CORE_CACHE_H

#include "reel/reader.h"

struct cache_block { /* immutable while pinned */
    uint64_t recording;
    uint32_t chunk;
    uint32_t pins;
    uint8_t *data;
    size_t size;
    struct cache_block *older, *newer; /* by last use */
    struct cache_block *next;          /* in its bucket */
};

/* The block, pinned; NULL when it is not there. */
struct cache_block *cache_find(struct reel_cache *cache, uint64_t recording, uint32_t chunk);
/* Takes over `data` and gives it back as a pinned block; one that another thread put there meanwhile is given instead. NULL: no memory
 * (data freed). */
struct cache_block *cache_put(struct reel_cache *cache, uint64_t recording, uint32_t chunk, uint8_t *data, size_t size);
void cache_unpin(struct reel_cache *cache, struct cache_block *block); /* NULL is fine */
void cache_drop_recording(struct reel_cache *cache, uint64_t recording);

#endif
