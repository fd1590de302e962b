/* See pipeline.h. The pieces are a ring: `begun` and `taken` count those that next() has set and those that the reader
 * has returned. */
#include "base/pipeline.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/thread.h"

enum {
    PIECE_BYTES = 4 << 20, /* intended size of a piece: less with many threads … */
    PIECE_BYTES_MIN = 1 << 20,
    PIPELINE_BYTES = 64 << 20, /* … so that all pieces together have about this size */
    CHECK_NS = 50000000,       /* a reader that waits looks whether it was cancelled */
};

struct pipeline {
    const struct pipeline_ops *ops;
    void *context;
    struct thread_client *client; /* NULL: the reader renders */
    const struct cancel *cancel;  /* of who made the pipeline */
    pthread_mutex_t mutex;
    pthread_cond_t done;
    uint64_t failed; /* number of the first piece that failed; UINT64_MAX: none. Under the mutex, as the workers are */
    void **idle;     /* workers without a piece */
    unsigned n_idle;
    uint64_t begun, taken; /* pieces */
    bool ended;            /* next() has no more pieces, or has failed with `err` */
    struct reel_error err;
    unsigned depth; /* pieces at a time */
    char *pieces;   /* `depth` structs of ops->piece_size bytes */
};

static struct pipeline_piece *piece_at(const struct pipeline *p, uint64_t number) {
    return (struct pipeline_piece *)(p->pieces + number % p->depth * p->ops->piece_size);
}

struct pipeline *pipeline_new(struct thread_client *client, unsigned threads, const struct pipeline_ops *ops,
                              void *context, struct reel_error *err) {
    unsigned depth = client ? threads + 2 : 1;
    struct pipeline *p = calloc(1, sizeof *p);
    char *pieces = calloc(depth, ops->piece_size);
    void **idle = calloc(depth, sizeof *idle);
    if (!p || !pieces || !idle) {
        free(p);
        free(pieces);
        free(idle);
        reel_fail_memory(err);
        return NULL;
    }
    *p = (struct pipeline){.ops = ops, .context = context, .client = client, .failed = UINT64_MAX};
    p->depth = depth;
    p->pieces = pieces;
    p->idle = idle;
    p->cancel = cancel_current();
    pthread_mutex_init(&p->mutex, NULL);
    condition_init(&p->done);
    return p;
}

size_t pipeline_piece_bytes(const struct pipeline *p) {
    size_t share = PIPELINE_BYTES / p->depth;
    return share > PIECE_BYTES ? PIECE_BYTES : share > PIECE_BYTES_MIN ? share : PIECE_BYTES_MIN;
}

static void pipeline_wait_for(struct pipeline *p, const struct pipeline_piece *piece) {
    pthread_mutex_lock(&p->mutex);
    while (!piece->done) {
        pthread_cond_wait(&p->done, &p->mutex);
    }
    pthread_mutex_unlock(&p->mutex);
}

/* The same, unless the reader is cancelled first. */
static bool wait_while_wanted(struct pipeline *p, const struct pipeline_piece *piece, struct reel_error *err) {
    bool good = true;
    pthread_mutex_lock(&p->mutex);
    while (!piece->done && good) {
        if (!condition_wait(&p->done, &p->mutex, clock_deadline(CHECK_NS))) {
            good = cancel_check(err);
        }
    }
    good = piece->done;
    pthread_mutex_unlock(&p->mutex);
    return good;
}

static void free_pieces(struct pipeline *p) {
    for (unsigned i = 0; i < p->depth; i++) {
        struct pipeline_piece *piece = piece_at(p, i);
        if (p->ops->close_piece) {
            p->ops->close_piece(piece);
        }
        free(piece->data);
    }
    free(p->pieces);
}

void pipeline_free(struct pipeline *p) {
    if (!p) {
        return;
    }
    for (uint64_t i = p->begun; i > p->taken; i--) { /* the last first, so that no thread starts an earlier one */
        struct pipeline_piece *piece = piece_at(p, i - 1);
        if (p->client && !threads_withdraw(p->client, &piece->task)) {
            pipeline_wait_for(p, piece);
        }
    }
    free_pieces(p);
    for (unsigned i = 0; i < p->n_idle; i++) {
        p->ops->close_worker(p->idle[i]);
    }
    free(p->idle);
    pthread_cond_destroy(&p->done);
    pthread_mutex_destroy(&p->mutex);
    free(p);
}

bool pipeline_reserve(struct pipeline_piece *piece, size_t size, struct reel_error *err) {
    if (size > piece->capacity) {
        free(TAKE(piece->data));
        piece->capacity = 0;
        if (!(piece->data = malloc(size))) {
            return reel_fail_memory(err);
        }
        piece->capacity = size;
    }
    return true;
}

bool pipeline_grow(struct pipeline_piece *piece, uint64_t size, struct reel_error *err) {
    uint8_t *data = size > piece->capacity ? realloc(piece->data, size) : piece->data;
    if (!data) {
        return reel_fail_memory(err);
    }
    piece->capacity = size > piece->capacity ? size : piece->capacity;
    piece->data = data;
    return true;
}

/* ---- rendering */

static void render(struct pipeline *p, struct pipeline_piece *piece) {
    pthread_mutex_lock(&p->mutex);
    bool wanted = piece->number < p->failed;
    void *worker = wanted && p->n_idle > 0 ? p->idle[--p->n_idle] : NULL;
    pthread_mutex_unlock(&p->mutex);
    worker = wanted && !worker ? p->ops->open_worker(p->context, &piece->err) : worker;
    bool good = worker && p->ops->render(p->context, worker, piece, &piece->err);
    pthread_mutex_lock(&p->mutex);
    if (worker) {
        p->idle[p->n_idle++] = worker;
    }
    piece->good = good;
    piece->done = true;
    p->failed = !good && piece->number < p->failed ? piece->number : p->failed;
    pthread_cond_signal(&p->done);
    pthread_mutex_unlock(&p->mutex);
}

static void run_task(struct thread_task *task) {
    struct pipeline_piece *piece = (struct pipeline_piece *)task;
    const struct cancel *before = cancel_set(piece->pipeline->cancel);
    render(piece->pipeline, piece);
    cancel_set(before);
}

/* ---- the reader */

static void begin_next(struct pipeline *p) {
    struct pipeline_piece *piece = piece_at(p, p->begun);
    piece->task.run = run_task;
    piece->pipeline = p;
    piece->number = p->begun;
    piece->done = piece->good = piece->ready = false;
    piece->err = (struct reel_error){0};
    piece->size = 0;
    if (!p->ops->next(p->context, piece, &p->err)) {
        p->ended = true;
        return;
    }
    p->begun++;
    if (piece->ready) {
        piece->done = piece->good = true;
    } else if (!p->client || !threads_submit(p->client, &piece->task)) {
        render(p, piece);
    }
}

void pipeline_begin(struct pipeline *p) {
    while (!p->ended && p->begun - p->taken < p->depth) {
        begin_next(p);
    }
}

struct pipeline_piece *pipeline_take(struct pipeline *p, struct reel_error *err) {
    pipeline_begin(p);
    if (p->begun == p->taken) {
        if (p->err.code != REEL_OK) {
            reel_error_pass(err, &p->err);
        }
        return NULL;
    }
    struct pipeline_piece *piece = piece_at(p, p->taken);
    if (p->ops->helps && p->client && !piece->ready && threads_withdraw(p->client, &piece->task)) {
        render(p, piece);
    }
    if (!wait_while_wanted(p, piece, err)) {
        p->ended = true;
        return NULL;
    }
    return piece;
}

void pipeline_return(struct pipeline *p) {
    struct pipeline_piece *piece = piece_at(p, p->taken);
    if (piece->capacity > 2 * PIECE_BYTES) { /* as that of a table's row group: seldom all pieces have one at a time */
        free(TAKE(piece->data));
        piece->capacity = 0;
    }
    p->taken++;
}
