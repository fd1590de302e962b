/* Internals of recordings and readers, for the iteration code of the core. */
#ifndef REEL_CORE_READER_H
#define REEL_CORE_READER_H

#include "core/cache.h"
#include "core/index.h"
#include "core/opened.h"

struct reel_recording {
    struct reel_index *index;
    struct reel_source **parts;
    uint32_t n_parts;
    uint64_t number; /* its key in the cache; never reused */
    struct reel_cache *cache;
    bool own_cache;
    char *derived_folder, *derived_name;
    _Atomic uint32_t references;
    struct opened_set opened;
};

#endif
