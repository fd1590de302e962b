/* Chunks that are sources: huge compressed ones, decoded once to a file; the rows of a database; those that hold other chunks. Kept by the
 * recording, shared by its readers, and closed when they are too many: the least recently used first, never one that is pinned. */
#ifndef REEL_CORE_OPENED_H
#define REEL_CORE_OPENED_H

#include <pthread.h>

#include "reel/model.h"
#include "reel/source.h"

struct opened {
    uint32_t chunk;
    struct reel_source *source; /* NULL while it is being opened, or when that failed */
    struct opened *base;        /* pinned: what its bytes lie in; NULL: a part */
    uint64_t spooled;           /* bytes of the file it was decoded to; 0: none */
    uint32_t pins;
    uint64_t used; /* when it was pinned last */
    enum { OPENED_BUSY, OPENED_READY, OPENED_FAILED } state;
    struct reel_error why; /* of a failed one, for those that waited */
};

struct opened_set { /* of one recording */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* one is ready, or has failed */
    struct opened **items;
    size_t count, capacity;
    uint64_t clock;
    uint64_t spooled; /* bytes of all */
    uint32_t n_spooled;
};

bool opened_init(struct opened_set *set, struct reel_error *err);
void opened_done(struct opened_set *set); /* nothing may be pinned */

/* Chunk `id`, pinned. Not there: opened by open(), outside of the lock; whoever asks for the same chunk meanwhile waits for it. */
struct opened *opened_pin(struct opened_set *set, uint32_t id, bool (*open)(void *context, struct opened *o, struct reel_error *err),
                          void *context, struct reel_error *err);
void opened_unpin(struct opened_set *set, struct opened *o); /* NULL is fine */

#endif
