/* Opened chunks that serve as sources: huge compressed chunks decoded to a file, rows of a database, and chunks that
 * contain other chunks. Owned by the recording and shared by its readers; beyond a limit the least recently used
 * unpinned one is closed. */
#ifndef REEL_CHUNKS_OPEN_CHUNKS_H
#define REEL_CHUNKS_OPEN_CHUNKS_H

#include <pthread.h>

#include "base/source.h"
#include "chunks/chunk.h"

struct open_chunk {
    uint32_t chunk;
    struct reel_source *source; /* NULL while it is being opened, or when that failed */
    struct open_chunk *base;    /* pinned: the source that contains its bytes; NULL: a part */
    struct open_chunk *log;     /* pinned: the log of a database; NULL: none */
    uint64_t spooled;           /* size of the file it was decoded to; 0: none */
    uint32_t pins;
    uint64_t used; /* time of the last pin */
    enum { OPEN_CHUNK_BUSY, OPEN_CHUNK_READY, OPEN_CHUNK_FAILED } state;
    struct reel_error why; /* why it failed, for the threads that waited */
};

struct open_chunks { /* the opened chunks of one recording */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* an item became ready, or failed */
    struct open_chunk **items;
    size_t count, capacity;
    uint64_t clock;
    uint64_t spooled; /* total of all items */
    uint32_t n_spooled;
};

bool open_chunks_init(struct open_chunks *set, struct reel_error *err);
void open_chunks_done(struct open_chunks *set); /* no item may be pinned */

/* Returns chunk `id`, pinned. When it is not open, calls open() outside of the lock; other threads that need the same
 * chunk wait for the result. */
struct open_chunk *open_chunk_pin(struct open_chunks *set, uint32_t id,
                                  bool (*open)(void *context, struct open_chunk *o, struct reel_error *err),
                                  void *context, struct reel_error *err);
void open_chunk_unpin(struct open_chunks *set, struct open_chunk *o); /* `o` may be NULL */

#endif
