/* Opened chunks that serve as sources: huge compressed chunks decoded to a file, rows of a database, and chunks that
 * contain other chunks. Owned by the recording and shared by its readers; beyond a limit the least recently used
 * unpinned one is closed. */
#ifndef REEL_CHUNKS_OPEN_CHUNKS_H
#define REEL_CHUNKS_OPEN_CHUNKS_H

#include <pthread.h>

#include "reel/model.h"
#include "reel/source.h"

struct opened {
    uint32_t chunk;
    struct reel_source *source; /* NULL while it is being opened, or when that failed */
    struct opened *base;        /* pinned: the source that contains its bytes; NULL: a part */
    uint64_t spooled;           /* size of the file it was decoded to; 0: none */
    uint32_t pins;
    uint64_t used; /* time of the last pin */
    enum { OPENED_BUSY, OPENED_READY, OPENED_FAILED } state;
    struct reel_error why; /* why it failed, for the threads that waited */
};

struct opened_set { /* the opened chunks of one recording */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* an item became ready, or failed */
    struct opened **items;
    size_t count, capacity;
    uint64_t clock;
    uint64_t spooled; /* total of all items */
    uint32_t n_spooled;
};

bool opened_init(struct opened_set *set, struct reel_error *err);
void opened_done(struct opened_set *set); /* no item may be pinned */

/* Returns chunk `id`, pinned. When it is not open, calls open() outside of the lock; other threads that need the same
 * chunk wait for the result. */
struct opened *opened_pin(struct opened_set *set, uint32_t id,
                          bool (*open)(void *context, struct opened *o, struct reel_error *err), void *context,
                          struct reel_error *err);
void opened_unpin(struct opened_set *set, struct opened *o); /* `o` may be NULL */

#endif
