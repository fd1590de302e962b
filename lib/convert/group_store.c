/* See kept.h. */
#include "convert/group_store.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/disk.h"
#include "chunks/spool.h"

struct kept {
    struct reel_keep keep;
    int fd; /* -1: nothing is kept yet, or no longer */
    pthread_mutex_t mutex;
    uint64_t bytes; /* reserved */
    unsigned users;
    bool forgotten;
};

struct kept *kept_new(const struct reel_keep *keep) {
    struct kept *k = calloc(1, sizeof *k);
    if (!k) {
        return NULL;
    }
    k->keep = *keep;
    k->fd = -1;
    pthread_mutex_init(&k->mutex, NULL);
    return k;
}

/* The mutex is held. */
static void close_unused(struct kept *k) {
    if (k->forgotten && k->users == 0 && k->fd >= 0) {
        close(k->fd);
        k->fd = -1;
        k->keep.give(k->keep.context, k->bytes);
        k->bytes = 0;
    }
}

void kept_free(struct kept *k) {
    if (k) {
        kept_forget(k);
        pthread_mutex_destroy(&k->mutex);
        free(k);
    }
}

bool kept_put(struct kept *k, uint64_t offset, const void *data, size_t size) {
    if ((k->fd < 0 && (k->fd = spool_open(k->keep.folder, NULL)) < 0) || !k->keep.take(k->keep.context, size)) {
        return false;
    }
    pthread_mutex_lock(&k->mutex);
    k->bytes += size;
    pthread_mutex_unlock(&k->mutex);
    return disk_write_at(k->fd, data, size, offset);
}

uint64_t kept_bytes(struct kept *k) {
    pthread_mutex_lock(&k->mutex);
    uint64_t bytes = k->forgotten ? 0 : k->bytes;
    pthread_mutex_unlock(&k->mutex);
    return bytes;
}

void kept_forget(struct kept *k) {
    pthread_mutex_lock(&k->mutex);
    k->forgotten = true;
    close_unused(k);
    pthread_mutex_unlock(&k->mutex);
}

bool kept_use(struct kept *k) {
    if (!k) {
        return false;
    }
    pthread_mutex_lock(&k->mutex);
    bool there = !k->forgotten;
    k->users += there;
    pthread_mutex_unlock(&k->mutex);
    return there;
}

void kept_leave(struct kept *k) {
    pthread_mutex_lock(&k->mutex);
    k->users--;
    close_unused(k);
    pthread_mutex_unlock(&k->mutex);
}

bool kept_read(struct kept *k, uint64_t offset, void *buffer, size_t size) {
    return disk_read_at(k->fd, buffer, size, offset);
}
