/* A bounded store of decompressed chunks, shared by all recordings of a process; least recently used go first. Blocks
 * in use are pinned and not evicted. */
#ifndef REEL_CHUNKS_CACHE_H
#define REEL_CHUNKS_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "reel/cleanup.h"
#include "reel/error.h"

struct reel_cache;
struct reel_cache *reel_cache_new(uint64_t budget_bytes, struct reel_error *err);
void reel_cache_free(struct reel_cache *cache);
void reel_cache_lookups(struct reel_cache *cache, uint64_t *found, uint64_t *missed); /* since reel_cache_new() */
uint64_t reel_cache_used(struct reel_cache *cache);                                   /* bytes held now */
REEL_DEFINE_AUTO(struct reel_cache, reel_cache_free);

struct cache_block { /* immutable while pinned */
    uint64_t recording;
    uint32_t chunk;
    uint32_t pins;
    uint8_t *data;
    size_t size;
    struct cache_block *older, *newer; /* by last use */
    struct cache_block *next;          /* in its bucket */
};

/* The block, pinned; NULL when it is not cached. */
struct cache_block *cache_find(struct reel_cache *cache, uint64_t recording, uint32_t chunk);
/* Takes over `data` and returns it as a pinned block, or the block that another thread inserted meanwhile. NULL: no
 * memory (data is freed).
 */
struct cache_block *cache_put(struct reel_cache *cache, uint64_t recording, uint32_t chunk, uint8_t *data, size_t size);
void cache_unpin(struct reel_cache *cache, struct cache_block *block); /* `block` may be NULL */
void cache_drop_recording(struct reel_cache *cache, uint64_t recording);

#endif
