/* See read_ahead.h. A block belongs to the reading thread until it is full and to the consumer until it is empty; only
 * the counts are shared. */
#include "http/read_ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "http/http_internal.h"

enum { BLOCKS = 3 };

struct read_ahead {
    struct http_file file;
    const struct cancel *cancel; /* of the request */
    uint64_t next, end;          /* the range still to be read */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned read, taken; /* number of blocks filled and emptied so far; read - taken <= BLOCKS */
    bool stop, failed;
    struct reel_error err;
    size_t used; /* taken bytes of the first full block */
    size_t sizes[BLOCKS];
    char blocks[BLOCKS][HTTP_BLOCK_BYTES];
};

/* True when there is a free block to fill. */
static bool wait_for_room(struct read_ahead *a) {
    pthread_mutex_lock(&a->mutex);
    while (!a->stop && a->read - a->taken == BLOCKS) {
        pthread_cond_wait(&a->changed, &a->mutex);
    }
    bool room = !a->stop;
    pthread_mutex_unlock(&a->mutex);
    return room;
}

static void *read_ahead_run(void *context) {
    struct read_ahead *a = context;
    bool good = true;
    cancel_set(a->cancel);
    while (good && a->next < a->end && wait_for_room(a)) {
        unsigned at = a->read % BLOCKS;
        a->sizes[at] = a->end - a->next < HTTP_BLOCK_BYTES ? (size_t)(a->end - a->next) : HTTP_BLOCK_BYTES;
        good = a->file.read(a->file.context, a->next, a->blocks[at], a->sizes[at], &a->err);
        a->next += a->sizes[at];
        pthread_mutex_lock(&a->mutex);
        a->read += good;
        a->failed = !good;
        pthread_cond_signal(&a->changed);
        pthread_mutex_unlock(&a->mutex);
    }
    return NULL;
}

struct read_ahead *read_ahead_start(const struct http_file *file, uint64_t offset, uint64_t end) {
    struct read_ahead *a = malloc(sizeof *a);
    if (!a) {
        return NULL;
    }
    memset(a, 0, offsetof(struct read_ahead, blocks));
    a->file = *file;
    a->cancel = cancel_current();
    a->next = offset;
    a->end = end;
    pthread_mutex_init(&a->mutex, NULL);
    pthread_cond_init(&a->changed, NULL);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, HTTP_STACK_BYTES);
    int failed = pthread_create(&a->thread, &attributes, read_ahead_run, a);
    pthread_attr_destroy(&attributes);
    if (failed) {
        pthread_cond_destroy(&a->changed);
        pthread_mutex_destroy(&a->mutex);
        free(a);
        return NULL;
    }
    return a;
}

size_t read_ahead_take(struct read_ahead *a, char *buffer, size_t size, struct reel_error *err) {
    pthread_mutex_lock(&a->mutex);
    while (a->read == a->taken && !a->failed) {
        pthread_cond_wait(&a->changed, &a->mutex);
    }
    bool there = a->read != a->taken;
    pthread_mutex_unlock(&a->mutex);
    if (!there) {
        reel_error_pass(err, &a->err);
        return 0;
    }
    unsigned at = a->taken % BLOCKS;
    size_t left = a->sizes[at] - a->used;
    size = size < left ? size : left;
    memcpy(buffer, a->blocks[at] + a->used, size);
    a->used += size;
    if (size == left) {
        a->used = 0;
        pthread_mutex_lock(&a->mutex);
        a->taken++;
        pthread_cond_signal(&a->changed);
        pthread_mutex_unlock(&a->mutex);
    }
    return size;
}

void read_ahead_stop(struct read_ahead *a) {
    if (!a) {
        return;
    }
    pthread_mutex_lock(&a->mutex);
    a->stop = true;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->mutex);
    pthread_join(a->thread, NULL);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->mutex);
    free(a);
}
