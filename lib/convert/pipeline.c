/* See ahead.h. */
#include "convert/pipeline.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "convert/conversion.h"

struct ahead {
    struct reel_conversion *conversion;
    struct reel_plan *plan;
    struct reel_initial_state *initial;
    const struct ahead_ops *ops;
    void *context;
    struct thread_client *client; /* NULL: the reader does the work */
    pthread_mutex_t mutex;
    pthread_cond_t done;
    uint64_t failed; /* number of the first piece that failed; UINT64_MAX: none. Under the mutex, as the renders are */
    struct reel_render **idle;
    unsigned n_idle;
    uint64_t begun, taken; /* pieces */
    bool ended;            /* next() has given the last one */
    struct reel_error err; /* of next() */
    unsigned depth;
    struct ahead_piece pieces[];
};

struct ahead *ahead_new(struct reel_conversion *conversion, struct reel_plan *plan, struct reel_initial_state *initial,
                        bool shared, const struct ahead_ops *ops, void *context, struct reel_error *err) {
    struct thread_client *client = shared ? conversion_client(conversion) : NULL;
    unsigned depth = client ? conversion_threads(conversion) + 2 : 1;
    struct ahead *a = calloc(1, sizeof *a + depth * sizeof *a->pieces);
    struct reel_render **idle = calloc(depth, sizeof(struct reel_render *));
    if (!a || !idle) {
        free(a);
        free(idle);
        reel_fail_memory(err);
        return NULL;
    }
    a->conversion = conversion;
    a->plan = plan;
    a->initial = initial;
    a->ops = ops;
    a->context = context;
    a->client = client;
    a->depth = depth;
    a->idle = idle;
    a->failed = UINT64_MAX;
    pthread_mutex_init(&a->mutex, NULL);
    pthread_cond_init(&a->done, NULL);
    return a;
}

size_t ahead_bytes(const struct ahead *a) {
    size_t share = AHEAD_ALL / a->depth;
    return share > AHEAD_PIECE ? AHEAD_PIECE : share > AHEAD_PIECE_MIN ? share : AHEAD_PIECE_MIN;
}

static void wait_for(struct ahead *a, const struct ahead_piece *piece) {
    pthread_mutex_lock(&a->mutex);
    while (!piece->done) {
        pthread_cond_wait(&a->done, &a->mutex);
    }
    pthread_mutex_unlock(&a->mutex);
}

void ahead_free(struct ahead *a) {
    if (!a) {
        return;
    }
    for (uint64_t i = a->begun; i > a->taken; i--) { /* the last first: none of them is then begun instead */
        struct ahead_piece *piece = &a->pieces[(i - 1) % a->depth];
        if (a->client && !threads_withdraw(a->client, &piece->task)) {
            wait_for(a, piece);
        }
    }
    for (unsigned i = 0; i < a->depth; i++) {
        free(a->pieces[i].data);
        free(a->pieces[i].notes.data);
    }
    for (unsigned i = 0; i < a->n_idle; i++) {
        reel_render_free(a->idle[i]);
    }
    free(a->idle);
    pthread_cond_destroy(&a->done);
    pthread_mutex_destroy(&a->mutex);
    free(a);
}

bool ahead_room(struct ahead_piece *piece, size_t size, struct reel_error *err) {
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

bool ahead_grow(struct ahead_piece *piece, uint64_t size, struct reel_error *err) {
    uint8_t *data = size > piece->capacity ? realloc(piece->data, size) : piece->data;
    if (!data) {
        return reel_fail_memory(err);
    }
    piece->capacity = size > piece->capacity ? size : piece->capacity;
    piece->data = data;
    return true;
}

/* ---- the work */

static struct reel_render *open_render(struct ahead *a, struct reel_error *err) {
    struct reel_conversion *c = a->conversion;
    struct reel_stream *stream = conversion_stream(c, a->initial, err);
    return stream ? reel_render_new(a->plan, c->writer, &c->options, stream, err) : NULL;
}

static void work(struct ahead *a, struct ahead_piece *piece) {
    pthread_mutex_lock(&a->mutex);
    bool wanted = piece->number < a->failed;
    struct reel_render *render = wanted && a->n_idle > 0 ? a->idle[--a->n_idle] : NULL;
    pthread_mutex_unlock(&a->mutex);
    render = wanted && !render ? open_render(a, &piece->err) : render;
    bool good = render && a->ops->work(a->context, render, piece, &piece->err);
    pthread_mutex_lock(&a->mutex);
    if (render) {
        a->idle[a->n_idle++] = render;
    }
    piece->good = good;
    piece->done = true;
    a->failed = !good && piece->number < a->failed ? piece->number : a->failed;
    pthread_cond_signal(&a->done);
    pthread_mutex_unlock(&a->mutex);
}

static void run_task(struct thread_task *task) {
    struct ahead_piece *piece = (struct ahead_piece *)task;
    work(piece->ahead, piece);
}

/* ---- the reader */

static void begin_next(struct ahead *a) {
    struct ahead_piece *piece = &a->pieces[a->begun % a->depth];
    piece->task.run = run_task;
    piece->ahead = a;
    piece->number = a->begun;
    piece->done = piece->good = piece->ready = piece->too_large = false;
    piece->err = (struct reel_error){0};
    piece->size = piece->notes.size = piece->n_groups = 0;
    if (!a->ops->next(a->context, piece, &a->err)) {
        a->ended = true;
        return;
    }
    a->begun++;
    if (piece->ready) {
        piece->done = piece->good = true;
    } else if (!a->client || !threads_submit(a->client, &piece->task)) {
        work(a, piece);
    }
}

struct ahead_piece *ahead_take(struct ahead *a, struct reel_error *err) {
    while (!a->ended && a->begun - a->taken < a->depth) {
        begin_next(a);
    }
    if (a->begun == a->taken) {
        if (a->err.code != REEL_OK) {
            reel_error_pass(err, &a->err);
        }
        return NULL;
    }
    struct ahead_piece *piece = &a->pieces[a->taken % a->depth];
    wait_for(a, piece);
    return piece;
}

void ahead_return(struct ahead *a) {
    a->taken++;
}
