/* See cache.h. The mutex is held only while pointers are updated, never while decoding. */
#include "chunks/cache.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/thread.h"

enum { BUCKETS = 1024, IDLE_BUFFERS = 4, CHECK_NS = 50000000 }; /* who waits looks whether it was cancelled */

struct reel_cache {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    uint64_t budget, used, found, missed;
    struct cache_block *buckets[BUCKETS];
    struct cache_block *oldest, *newest;
    struct codec_buffers idle[IDLE_BUFFERS];
    unsigned n_idle;
};

struct reel_cache *reel_cache_new(uint64_t budget_bytes, struct reel_error *err) {
    struct reel_cache *c = calloc(1, sizeof *c);
    if (!c) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&c->lock, NULL);
    condition_init(&c->filled);
    c->budget = budget_bytes;
    return c;
}

static struct cache_block **cache_bucket_of(struct reel_cache *c, uint64_t recording, uint32_t chunk) {
    return &c->buckets[(recording * 0x9e3779b97f4a7c15u + chunk * 0x85ebca6bu) >> 17 & (BUCKETS - 1)];
}

static void unlink_use(struct reel_cache *c, struct cache_block *b) {
    *(b->older ? &b->older->newer : &c->oldest) = b->newer;
    *(b->newer ? &b->newer->older : &c->newest) = b->older;
}

static void link_newest(struct reel_cache *c, struct cache_block *b) {
    b->older = c->newest;
    b->newer = NULL;
    *(c->newest ? &c->newest->newer : &c->oldest) = b;
    c->newest = b;
}

static void take_block(struct reel_cache *c, struct cache_block *b) {
    struct cache_block **p = cache_bucket_of(c, b->recording, b->chunk);
    while (*p != b) {
        p = &(*p)->next;
    }
    *p = b->next;
    unlink_use(c, b);
    c->used -= b->room;
}

static void block_free(struct cache_block *b) {
    free(b->data);
    free(b);
}

static void remove_block(struct reel_cache *c, struct cache_block *b) {
    take_block(c, b);
    block_free(b);
}

/* Evicts least recently used blocks until the cache has room for `more` bytes within its budget; pinned blocks stay.
 * Returns one of them, instead of freeing it, whose memory is enough for `more` and not much larger; NULL: there is
 * none. */
static struct cache_block *cache_trim(struct reel_cache *c, size_t more) {
    struct cache_block *fit = NULL;
    for (struct cache_block *b = c->oldest, *newer; b && c->used + more > c->budget; b = newer) {
        newer = b->newer;
        if (b->pins > 0) {
            continue;
        }
        if (!fit && more > 0 && b->room >= more && b->room - more <= more / 4) {
            take_block(c, fit = b);
        } else {
            remove_block(c, b);
        }
    }
    return fit;
}

static struct cache_block *find_locked(struct reel_cache *c, uint64_t recording, uint32_t chunk) {
    for (struct cache_block *b = *cache_bucket_of(c, recording, chunk); b; b = b->next) {
        if (b->recording == recording && b->chunk == chunk) {
            b->pins++;
            unlink_use(c, b);
            link_newest(c, b);
            return b;
        }
    }
    return NULL;
}

void reel_cache_lookups(struct reel_cache *c, uint64_t *found, uint64_t *missed) {
    pthread_mutex_lock(&c->lock);
    *found = c->found;
    *missed = c->missed;
    pthread_mutex_unlock(&c->lock);
}

/* A block with room, of those that have to go for it or a new one. */
static struct cache_block *reserve(struct reel_cache *c, size_t room) {
    struct cache_block *b = cache_trim(c, room);
    if (b || !(b = calloc(1, sizeof *b))) {
        return b;
    }
    b->data = malloc(room);
    b->room = room;
    if (!b->data) {
        free(TAKE(b));
    }
    return b;
}

/* A block for the caller to fill. The lock is held. */
static struct cache_block *insert(struct reel_cache *c, uint64_t recording, uint32_t chunk, size_t size,
                                  struct reel_error *err) {
    struct cache_block *b = reserve(c, size > 0 ? size : 1);
    struct cache_block **bucket = cache_bucket_of(c, recording, chunk);
    if (!b) {
        reel_fail_memory(err);
        return NULL;
    }
    *b = (struct cache_block){.recording = recording,
                              .chunk = chunk,
                              .pins = 1,
                              .data = b->data,
                              .size = size,
                              .room = b->room,
                              .next = *bucket};
    *bucket = b;
    link_newest(c, b);
    c->used += b->room;
    return b;
}

/* Gives one pin back; a failed block, which is in no list, goes with its last. The lock is held. */
static void unpin(struct cache_block *b) {
    if (--b->pins == 0 && b->failed) {
        block_free(b);
    }
}

/* Waits while another thread fills a block, which is pinned. False: this thread's work was cancelled. The lock is held.
 */
static bool wait_filled(struct reel_cache *c, const struct cache_block *b, struct reel_error *err) {
    bool wanted = true;
    while (!b->ready && !b->failed && wanted) {
        wanted = condition_wait(&c->filled, &c->lock, clock_deadline(CHECK_NS)) || cancel_check(err);
    }
    return wanted;
}

struct cache_block *cache_pin(struct reel_cache *c, uint64_t recording, uint32_t chunk, size_t size,
                              struct reel_error *err) {
    struct cache_block *b;
    bool wanted = true;
    pthread_mutex_lock(&c->lock);
    while (wanted && (b = find_locked(c, recording, chunk))) {
        wanted = wait_filled(c, b, err);
        if (wanted && b->ready) {
            break;
        }
        unpin(b);
        b = NULL;
    }
    if (wanted) {
        *(b ? &c->found : &c->missed) += 1;
        b = b ? b : insert(c, recording, chunk, size, err);
    }
    pthread_mutex_unlock(&c->lock);
    return wanted ? b : NULL;
}

void cache_filled(struct reel_cache *c, struct cache_block *b, bool good) {
    pthread_mutex_lock(&c->lock);
    b->ready = good;
    b->failed = !good;
    if (!good) {
        take_block(c, b);
        unpin(b);
    }
    pthread_cond_broadcast(&c->filled);
    pthread_mutex_unlock(&c->lock);
}

void cache_unpin(struct reel_cache *c, struct cache_block *b) {
    if (b) {
        pthread_mutex_lock(&c->lock);
        unpin(b);
        cache_trim(c, 0);
        pthread_mutex_unlock(&c->lock);
    }
}

void cache_drop_recording(struct reel_cache *c, uint64_t recording) {
    pthread_mutex_lock(&c->lock);
    for (struct cache_block *b = c->oldest, *newer; b; b = newer) {
        newer = b->newer;
        if (b->recording == recording && b->pins == 0) {
            remove_block(c, b);
        }
    }
    pthread_mutex_unlock(&c->lock);
}

uint64_t reel_cache_used(struct reel_cache *c) {
    pthread_mutex_lock(&c->lock);
    uint64_t used = c->used;
    pthread_mutex_unlock(&c->lock);
    return used;
}

struct codec_buffers cache_take_buffers(struct reel_cache *c) {
    struct codec_buffers buffers = {0};
    pthread_mutex_lock(&c->lock);
    if (c->n_idle > 0) {
        buffers = c->idle[--c->n_idle];
    }
    pthread_mutex_unlock(&c->lock);
    return buffers;
}

void cache_return_buffers(struct reel_cache *c, struct codec_buffers buffers) {
    pthread_mutex_lock(&c->lock);
    bool kept = c->n_idle < IDLE_BUFFERS;
    if (kept) {
        c->idle[c->n_idle++] = buffers;
    }
    pthread_mutex_unlock(&c->lock);
    if (!kept) {
        codec_buffers_free(&buffers);
    }
}

void reel_cache_free(struct reel_cache *c) {
    if (!c) {
        return;
    }
    while (c->oldest) {
        remove_block(c, c->oldest);
    }
    while (c->n_idle > 0) {
        codec_buffers_free(&c->idle[--c->n_idle]);
    }
    pthread_cond_destroy(&c->filled);
    pthread_mutex_destroy(&c->lock);
    free(c);
}
