/* See audit.h. A full queue or a failing disk never stops a request; the next row that is written has the number of
 * lost rows. */
#include "access/audit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "reel/time.h"

enum { QUEUE_MAX = 2048, USES_MAX = 256, USE_EVERY_S = 60, FAILED_WAIT_S = 1 };
static const int64_t SECOND_NS = 1000000000;

struct use { /* of a token; its index in the table is the token's number modulo the size */
    int64_t token, reported_ns;
    bool due;
};

struct audit {
    struct catalog *catalog;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    struct audit_row queue[QUEUE_MAX];
    uint32_t n;
    uint64_t missing;
    struct use uses[USES_MAX];
    bool use_due, stop, running;
};

void audit_add(struct audit *a, const struct audit_row *row) {
    const char *const texts[] = {row->caller, row->how, row->peer, row->method, row->path, row->request};
    size_t size = 0;
    for (unsigned i = 0; i < 6; i++) {
        size += strlen(texts[i]) + 1;
    }
    struct audit_row kept = {.time_ns = reel_now_ns(), .status = row->status, .memory = malloc(size)};
    const char **const copies[] = {&kept.caller, &kept.how, &kept.peer, &kept.method, &kept.path, &kept.request};
    char *at = kept.memory;
    for (unsigned i = 0; at && i < 6; i++) {
        *copies[i] = at;
        at = stpcpy(at, texts[i]) + 1;
    }
    pthread_mutex_lock(&a->mutex);
    if (kept.memory && a->n < QUEUE_MAX) {
        a->queue[a->n++] = kept;
        kept.memory = NULL;
    } else {
        a->missing++;
    }
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->mutex);
    free(kept.memory);
}

void audit_token_used(struct audit *a, int64_t token, int64_t used_ns) {
    int64_t now = reel_now_ns();
    if (now - used_ns < USE_EVERY_S * SECOND_NS) {
        return;
    }
    pthread_mutex_lock(&a->mutex);
    struct use *use = &a->uses[token % USES_MAX];
    if (use->token != token || now - use->reported_ns >= USE_EVERY_S * SECOND_NS) {
        *use = (struct use){.token = token, .reported_ns = now, .due = true};
        a->use_due = true;
        pthread_cond_signal(&a->changed);
    }
    pthread_mutex_unlock(&a->mutex);
}

/* ---- the thread */

struct batch {
    struct audit_row rows[QUEUE_MAX];
    uint32_t n;
    struct use uses[USES_MAX];
    uint64_t missing;
};

/* Waits for rows and moves them to the batch, after rows that could not be written before; false: no rows are left and
 * the thread must end.
 */
static bool audit_take(struct audit *a, struct batch *b) {
    pthread_mutex_lock(&a->mutex);
    while (!a->stop && a->n == 0 && !a->use_due && a->missing == 0) {
        pthread_cond_wait(&a->changed, &a->mutex);
    }
    bool more = a->n > 0 || a->use_due || a->missing > 0;
    if (b->n == 0) {
        memcpy(b->rows, a->queue, a->n * sizeof *a->queue);
        b->n = a->n;
        b->missing = a->missing;
        a->n = 0;
        a->missing = 0;
    }
    memcpy(b->uses, a->uses, sizeof a->uses);
    for (unsigned i = 0; i < USES_MAX; i++) {
        a->uses[i].due = false;
    }
    a->use_due = false;
    pthread_mutex_unlock(&a->mutex);
    return more;
}

static bool write_batch(struct audit *a, struct batch *b) {
    struct reel_error err;
    char what[64];
    if (b->n > 0 && !catalog_audit_add(a->catalog, b->rows, b->n, &err)) {
        return false;
    }
    audit_rows_done(b->rows, b->n);
    b->n = 0;
    if (b->missing > 0) {
        snprintf(what, sizeof what, "%llu rows could not be kept", (unsigned long long)b->missing);
        const struct audit_row row = {.time_ns = reel_now_ns(),
                                      .caller = "reel",
                                      .how = "",
                                      .peer = "",
                                      .method = "",
                                      .path = what,
                                      .request = ""};
        if (!catalog_audit_add(a->catalog, &row, 1, &err)) {
            return false;
        }
        b->missing = 0;
    }
    for (unsigned i = 0; i < USES_MAX; i++) {
        if (b->uses[i].due) {
            catalog_token_used(a->catalog, b->uses[i].token, b->uses[i].reported_ns, &err); /* the next use records it
                                                                                               again */
        }
    }
    return true;
}

static bool stopping(struct audit *a) {
    pthread_mutex_lock(&a->mutex);
    bool stop = a->stop;
    pthread_mutex_unlock(&a->mutex);
    return stop;
}

static void *audit_run(void *context) {
    struct audit *a = context;
    struct batch *b = calloc(1, sizeof *b);
    while (b && audit_take(a, b)) {
        while (!write_batch(a, b) && !stopping(a)) {
            nanosleep(&(struct timespec){.tv_sec = FAILED_WAIT_S}, NULL);
        }
        if (b->n > 0) { /* closing, and the rows cannot be written */
            audit_rows_done(b->rows, b->n);
            break;
        }
    }
    free(b);
    return NULL;
}

struct audit *audit_open(struct catalog *c, struct reel_error *err) {
    AUTO(audit_close) struct audit *a = calloc(1, sizeof *a);
    if (!a) {
        reel_fail_memory(err);
        return NULL;
    }
    a->catalog = c;
    pthread_mutex_init(&a->mutex, NULL);
    pthread_cond_init(&a->changed, NULL);
    a->running = pthread_create(&a->thread, NULL, audit_run, a) == 0;
    if (!a->running) {
        reel_fail_memory(err);
        return NULL;
    }
    return TAKE(a);
}

void audit_close(struct audit *a) {
    if (!a) {
        return;
    }
    pthread_mutex_lock(&a->mutex);
    a->stop = true;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->mutex);
    if (a->running) {
        pthread_join(a->thread, NULL);
    }
    audit_rows_done(a->queue, a->n);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->mutex);
    free(a);
}
