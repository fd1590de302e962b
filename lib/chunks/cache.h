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

struct cache_block { /* immutable while pinned, once it is ready */
    uint64_t recording;
    uint32_t chunk;
    uint32_t pins;
    bool ready, failed; /* neither: a thread fills it */
    uint8_t *data;
    size_t size, room;                 /* room: of `data` */
    struct cache_block *older, *newer; /* by last use */
    struct cache_block *next;          /* in its bucket */
};

/* The block of a chunk of `size` bytes, pinned; waits while another thread fills it. Not `ready`: the caller fills its
 * data and calls cache_filled(). It has the memory of a block that is evicted for it, if that fits, because fresh pages
 * are slow. NULL with err: no memory, or this thread's work was cancelled. */
struct cache_block *cache_pin(struct reel_cache *cache, uint64_t recording, uint32_t chunk, size_t size,
                              struct reel_error *err);
/* Not good: the block goes, unpinned; a thread that waits for it fills one of its own. */
void cache_filled(struct reel_cache *cache, struct cache_block *block, bool good);
void cache_unpin(struct reel_cache *cache, struct cache_block *block); /* `block` may be NULL */
void cache_drop_recording(struct reel_cache *cache, uint64_t recording);

/* Buffers for decoding a block; a few stay with the cache for the next. */
struct codec_buffers cache_take_buffers(struct reel_cache *cache);
void cache_return_buffers(struct reel_cache *cache, struct codec_buffers buffers);

#endif
