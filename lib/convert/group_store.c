/* See group_store.h. */
#include "convert/group_store.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/disk.h"
#include "chunks/spool.h"

struct group_store {
    struct reel_keep keep;
    int fd; /* -1: nothing has been stored, or the file is closed */
    pthread_mutex_t mutex;
    uint64_t bytes; /* reserved with keep.take() */
    unsigned users; /* outputs */
    bool released;
};

struct group_store *group_store_new(const struct reel_keep *keep) {
    struct group_store *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    s->keep = *keep;
    s->fd = -1;
    pthread_mutex_init(&s->mutex, NULL);
    return s;
}

/* Closes the file if it is released and unused. The mutex is held. */
static void close_unused(struct group_store *s) {
    if (s->released && s->users == 0 && s->fd >= 0) {
        close(s->fd);
        s->fd = -1;
        s->keep.give(s->keep.context, s->bytes);
        s->bytes = 0;
    }
}

void group_store_free(struct group_store *s) {
    if (s) {
        group_store_release(s);
        pthread_mutex_destroy(&s->mutex);
        free(s);
    }
}

bool group_store_put(struct group_store *s, uint64_t offset, const void *data, size_t size) {
    if ((s->fd < 0 && (s->fd = spool_open(s->keep.folder, NULL)) < 0) || !s->keep.take(s->keep.context, size)) {
        return false;
    }
    pthread_mutex_lock(&s->mutex);
    s->bytes += size;
    pthread_mutex_unlock(&s->mutex);
    return disk_write_at(s->fd, data, size, offset);
}

uint64_t group_store_bytes(struct group_store *s) {
    pthread_mutex_lock(&s->mutex);
    uint64_t bytes = s->released ? 0 : s->bytes;
    pthread_mutex_unlock(&s->mutex);
    return bytes;
}

void group_store_release(struct group_store *s) {
    pthread_mutex_lock(&s->mutex);
    s->released = true;
    close_unused(s);
    pthread_mutex_unlock(&s->mutex);
}

bool group_store_acquire(struct group_store *s) {
    if (!s) {
        return false;
    }
    pthread_mutex_lock(&s->mutex);
    bool stored = !s->released;
    s->users += stored;
    pthread_mutex_unlock(&s->mutex);
    return stored;
}

void group_store_drop(struct group_store *s) {
    pthread_mutex_lock(&s->mutex);
    s->users--;
    close_unused(s);
    pthread_mutex_unlock(&s->mutex);
}

bool group_store_read(struct group_store *s, uint64_t offset, void *buffer, size_t size) {
    return disk_read_at(s->fd, buffer, size, offset);
}
