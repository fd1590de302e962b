/* Internals of recordings and readers, for the iteration code of the core. */
#ifndef REEL_READ_READER_H
#define REEL_READ_READER_H

#include "chunks/cache.h"
#include "chunks/open_chunks.h"
#include "index/index.h"
#include "reel/iterate.h"

struct reel_recording {
    struct reel_index *index;
    struct reel_source **parts;
    uint32_t n_parts;
    uint64_t number; /* its key in the cache; never reused */
    struct reel_cache *cache;
    bool own_cache;
    char *derived_folder, *derived_name;
    _Atomic uint32_t references;
    struct open_chunks open_chunk;
};

/* Readers that are used in turns: only the latest REEL_STREAM_AWAKE of them hold memory. Of one thread. What a reader
 * showed stays valid until so many others were used. */
struct reader_set {
    struct reel_reader *first, *last; /* the latest first */
    uint32_t awake;
};
void reader_join(struct reel_reader *reader, struct reader_set *set); /* the set must outlive it */

#endif
