/* See limiter.h. A row of the table is a leaky bucket, kept as the time when it will be empty; the table's rows are in
 * small sets, and a full set replaces the bucket that will be empty first. */
#include "access/limiter.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { SETS = 512, ROWS = 8 };

struct bucket {
    struct address who;
    int64_t empty_ms;
};

struct limiter {
    pthread_mutex_t mutex;
    int64_t every_ms, full_ms;
    uint64_t seed; /* so that clients cannot choose addresses that collide */
    struct bucket sets[SETS][ROWS];
};

struct limiter *limiter_new(unsigned at_once, unsigned every_ms, struct reel_error *err) {
    struct limiter *l = calloc(1, sizeof *l);
    if (!l || getrandom(&l->seed, sizeof l->seed, 0) != (ssize_t)sizeof l->seed) {
        free(l);
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&l->mutex, NULL);
    l->every_ms = every_ms;
    l->full_ms = (int64_t)at_once * every_ms;
    return l;
}

void limiter_free(struct limiter *l) {
    if (l) {
        pthread_mutex_destroy(&l->mutex);
        free(l);
    }
}

static struct bucket *set_of(struct limiter *l, const struct address *who) {
    uint64_t hash = l->seed;
    for (unsigned i = 0; i < sizeof who->bytes; i++) {
        hash = (hash ^ who->bytes[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return l->sets[hash % SETS];
}

static struct bucket *limiter_find(struct limiter *l, const struct address *who) {
    struct bucket *set = set_of(l, who), *oldest = &set[0];
    for (unsigned i = 0; i < ROWS; i++) {
        if (memcmp(&set[i].who, who, sizeof *who) == 0) {
            return &set[i];
        }
        if (set[i].empty_ms < oldest->empty_ms) {
            oldest = &set[i];
        }
    }
    *oldest = (struct bucket){.who = *who};
    return oldest;
}

unsigned limiter_take(struct limiter *l, const struct address *address, int64_t now_ms) {
    struct address who = address_prefix(address);
    pthread_mutex_lock(&l->mutex);
    struct bucket *b = limiter_find(l, &who);
    int64_t level = b->empty_ms > now_ms ? b->empty_ms - now_ms : 0;
    int64_t wait_ms = level + l->every_ms - l->full_ms;
    if (wait_ms <= 0) {
        b->empty_ms = now_ms + level + l->every_ms;
    }
    pthread_mutex_unlock(&l->mutex);
    return wait_ms > 0 ? (unsigned)((wait_ms + 999) / 1000) : 0;
}
