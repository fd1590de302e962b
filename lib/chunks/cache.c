/* See cache.h. The mutex is held only while pointers are updated, never while decoding. */
#include "chunks/cache.h"

#include <pthread.h>
#include <stdlib.h>

enum { BUCKETS = 1024 };

struct reel_cache {
    pthread_mutex_t lock;
    uint64_t budget, used, found, missed;
    struct cache_block *buckets[BUCKETS];
    struct cache_block *oldest, *newest;
};

struct reel_cache *reel_cache_new(uint64_t budget_bytes, struct reel_error *err) {
    struct reel_cache *c = calloc(1, sizeof *c);
    if (!c) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&c->lock, NULL);
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

static void remove_block(struct reel_cache *c, struct cache_block *b) {
    struct cache_block **p = cache_bucket_of(c, b->recording, b->chunk);
    while (*p != b) {
        p = &(*p)->next;
    }
    *p = b->next;
    unlink_use(c, b);
    c->used -= b->size;
    free(b->data);
    free(b);
}

/* Evicts least recently used blocks until the cache is within its budget; pinned blocks stay. */
static void cache_trim(struct reel_cache *c) {
    for (struct cache_block *b = c->oldest, *newer; b && c->used > c->budget; b = newer) {
        newer = b->newer;
        if (b->pins == 0) {
            remove_block(c, b);
        }
    }
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

struct cache_block *cache_find(struct reel_cache *c, uint64_t recording, uint32_t chunk) {
    pthread_mutex_lock(&c->lock);
    struct cache_block *b = find_locked(c, recording, chunk);
    *(b ? &c->found : &c->missed) += 1;
    pthread_mutex_unlock(&c->lock);
    return b;
}

struct cache_block *cache_put(struct reel_cache *c, uint64_t recording, uint32_t chunk, uint8_t *data, size_t size) {
    struct cache_block *fresh = malloc(sizeof *fresh);
    if (!fresh) {
        free(data);
        return NULL;
    }
    pthread_mutex_lock(&c->lock);
    struct cache_block *b = find_locked(c, recording, chunk);
    if (b) {
        free(data);
        free(fresh);
    } else {
        struct cache_block **bucket = cache_bucket_of(c, recording, chunk);
        *fresh = (struct cache_block){
            .recording = recording, .chunk = chunk, .pins = 1, .data = data, .size = size, .next = *bucket};
        *bucket = b = fresh;
        link_newest(c, b);
        c->used += size;
        cache_trim(c);
    }
    pthread_mutex_unlock(&c->lock);
    return b;
}

void cache_unpin(struct reel_cache *c, struct cache_block *b) {
    if (b) {
        pthread_mutex_lock(&c->lock);
        b->pins--;
        cache_trim(c);
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

void reel_cache_free(struct reel_cache *c) {
    if (!c) {
        return;
    }
    while (c->oldest) {
        remove_block(c, c->oldest);
    }
    pthread_mutex_destroy(&c->lock);
    free(c);
}
