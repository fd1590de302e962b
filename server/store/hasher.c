/* See hasher.h. */
#include "store/hasher.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct hasher {
    pthread_t thread;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    struct digest *digest; /* NULL: nothing to do */
    const void *data;
    size_t size;
    bool stop;
};

static void *hasher_run(void *context) {
    struct hasher *h = context;
    pthread_mutex_lock(&h->mutex);
    while (!h->stop) {
        if (!h->digest) {
            pthread_cond_wait(&h->changed, &h->mutex);
            continue;
        }
        pthread_mutex_unlock(&h->mutex);
        digest_add(h->digest, h->data, h->size);
        pthread_mutex_lock(&h->mutex);
        h->digest = NULL;
        pthread_cond_broadcast(&h->changed);
    }
    pthread_mutex_unlock(&h->mutex);
    return NULL;
}

struct hasher *hasher_new(void) {
    struct hasher *h = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? calloc(1, sizeof *h) : NULL;
    if (!h) {
        return NULL;
    }
    pthread_mutex_init(&h->mutex, NULL);
    pthread_cond_init(&h->changed, NULL);
    if (pthread_create(&h->thread, NULL, hasher_run, h) != 0) {
        pthread_cond_destroy(&h->changed);
        pthread_mutex_destroy(&h->mutex);
        free(h);
        return NULL;
    }
    return h;
}

void hasher_free(struct hasher *h) {
    if (h) {
        pthread_mutex_lock(&h->mutex);
        h->stop = true;
        pthread_cond_broadcast(&h->changed);
        pthread_mutex_unlock(&h->mutex);
        pthread_join(h->thread, NULL);
        pthread_cond_destroy(&h->changed);
        pthread_mutex_destroy(&h->mutex);
        free(h);
    }
}

void hasher_start(struct hasher *h, struct digest *digest, const void *data, size_t size) {
    pthread_mutex_lock(&h->mutex);
    h->digest = digest;
    h->data = data;
    h->size = size;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->mutex);
}

void hasher_wait(struct hasher *h) {
    pthread_mutex_lock(&h->mutex);
    while (h->digest) {
        pthread_cond_wait(&h->changed, &h->mutex);
    }
    pthread_mutex_unlock(&h->mutex);
}
