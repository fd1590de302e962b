/* Pieces of an output that are rendered on shared threads and taken in order by one reader. What a piece is made of,
 * and what a thread needs to render it, is up to the user of the pipeline: it puts struct pipeline_piece first in a
 * struct of its own. Memory is bounded: there are two more pieces than threads. Once a piece has failed, no later one
 * is rendered: they fail, too. */
#ifndef REEL_BASE_PIPELINE_H
#define REEL_BASE_PIPELINE_H

#include "base/threads.h"
#include "reel/cleanup.h"
#include "reel/error.h"

struct pipeline;

struct pipeline_piece {
    struct thread_task task;
    struct pipeline *pipeline;
    uint64_t number;
    bool done, good; /* under the mutex of the pipeline until the piece is taken */
    bool ready;      /* set by next(): there is nothing to render */
    struct reel_error err;
    uint8_t *data; /* the rendered bytes: see pipeline_reserve() and pipeline_grow() */
    size_t size, capacity;
};

/* What the user of a pipeline provides. `context` is that of pipeline_new(). */
struct pipeline_ops {
    size_t piece_size; /* of the user's struct; zeroed before its first use, and used again for later pieces */
    /* On the reader's thread: sets what the next piece consists of. False: there is none, or err is set. */
    bool (*next)(void *context, struct pipeline_piece *piece, struct reel_error *err);
    /* On any thread: fills data and size. A worker renders one piece at a time. */
    bool (*render)(void *context, void *worker, struct pipeline_piece *piece, struct reel_error *err);
    /* On any thread: there are at most as many workers as pieces. */
    void *(*open_worker)(void *context, struct reel_error *err);
    void (*close_worker)(void *worker);
    void (*close_piece)(struct pipeline_piece *piece); /* optional: frees what the user's struct holds */
    bool helps; /* the reader renders the piece it waits for if no thread has begun it */
};

/* `client` NULL: the reader renders one piece at a time itself. Everything that is passed must outlive the pipeline. */
struct pipeline *pipeline_new(struct thread_client *client, unsigned threads, const struct pipeline_ops *ops,
                              void *context, struct reel_error *err);
void pipeline_free(struct pipeline *pipeline); /* waits for the pieces that are being rendered; NULL is fine */
REEL_DEFINE_AUTO(struct pipeline, pipeline_free);

size_t pipeline_piece_bytes(const struct pipeline *pipeline); /* how large a piece should be */

/* Begins as many pieces as may be at a time, as pipeline_take() does, and waits for none. */
void pipeline_begin(struct pipeline *pipeline);
/* Waits for the oldest piece. It stays valid until pipeline_return(). NULL: there are no more, or err is set. */
struct pipeline_piece *pipeline_take(struct pipeline *pipeline, struct reel_error *err);
void pipeline_return(struct pipeline *pipeline);

/* Makes room for `size` bytes in piece->data, whose content is lost. */
bool pipeline_reserve(struct pipeline_piece *piece, size_t size, struct reel_error *err);
/* The same; the content stays. */
bool pipeline_grow(struct pipeline_piece *piece, uint64_t size, struct reel_error *err);

#endif
