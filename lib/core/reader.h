/* Inside of recordings and readers, for the iteration code of the core. */
#ifndef REEL_CORE_READER_H
#define REEL_CORE_READER_H

#include <pthread.h>

#include "core/cache.h"
#include "core/index.h"

struct opened { /* a chunk that is a source: a huge compressed one, decoded once; the rows of a database; one that holds other chunks */
    uint32_t chunk;
    struct reel_source *source;
};

struct reel_recording {
    struct reel_index *index;
    struct reel_source **parts;
    uint32_t n_parts;
    uint64_t number; /* names it in the cache; never reused */
    struct reel_cache *cache;
    bool own_cache;
    char *derived_folder, *derived_name;
    _Atomic uint32_t references;
    pthread_mutex_t lock;  /* for opened */
    struct opened *opened; /* those inside of others stand behind them */
    size_t n_opened, cap_opened;
};

#endif
