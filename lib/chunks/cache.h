/* A bounded store of decompressed chunks, shared by all recordings of a process; least recently used go first. Blocks
 * in use are pinned and not evicted. */
#ifndef REEL_CHUNKS_CACHE_H
#define REEL_CHUNKS_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "chunks/codec.h"

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
    size_t size, room;                 /* room: of `data` */
    struct cache_block *older, *newer; /* by last use */
    struct cache_block *next;          /* in its bucket */
};

/* The block, pinned; NULL when it is not cached. */
struct cache_block *cache_find(struct reel_cache *cache, uint64_t recording, uint32_t chunk);
/* A block with `size` bytes of undefined content, for cache_put() or cache_discard(). Evicts blocks that would have to
 * go for it, and uses the memory of one of them where it fits, because fresh pages are slow. NULL: no memory. */
struct cache_block *cache_reserve(struct reel_cache *cache, size_t size);
void cache_discard(struct cache_block *block);
/* Takes over the block and returns it pinned, or the block that another thread inserted meanwhile. */
struct cache_block *cache_put(struct reel_cache *cache, struct cache_block *block, uint64_t recording, uint32_t chunk);
void cache_unpin(struct reel_cache *cache, struct cache_block *block); /* `block` may be NULL */
void cache_drop_recording(struct reel_cache *cache, uint64_t recording);

/* Buffers for decoding a block; a few stay with the cache for the next. */
struct codec_buffers cache_take_buffers(struct reel_cache *cache);
void cache_return_buffers(struct reel_cache *cache, struct codec_buffers buffers);

#endif
