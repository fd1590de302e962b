/* Reading objects through the cache, and fetching what is not in it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "store/bucket/blocks_internal.h"

/* A slice of a recording ends after a few blocks: what was read in order decides how much more is fetched, one block at
 * first and later a sixth of them, so that little is fetched for nothing. */
enum { AHEAD_AFTER = 2, AHEAD_PART = 6, AHEAD_SHORT = 12, AHEAD_MAX = 8, EDGE_BYTES = 128 << 10 };

/* ---- one block; the object's mutex is held where it says so */

static void set_done(struct held *h, uint32_t block, bool there, uint32_t sum) {
    pthread_mutex_lock(&h->mutex);
    h->sums[block] = there ? sum : 0;
    h->blocks[block].flags = there ? BLOCK_GOOD | BLOCK_RECENT : 0;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->mutex);
}

/* Compares a block that an earlier process has written, or that was adopted. The block is busy. */
static void check_block(struct blocks *all, struct held *h, uint32_t block) {
    uint32_t size = block_size(h, block), sum = h->sums[block];
    AUTO_MEM uint8_t *buffer = malloc(BLOCK_BYTES);
    bool good =
        buffer && disk_read_at(h->fd, buffer, size, (uint64_t)block * BLOCK_BYTES) && block_sum(buffer, size) == sum;
    set_done(h, block, good, sum);
    if (!good) {
        blocks_give_room(all, h, size);
    }
}

/* Gets the block from S3 into `buffer` and the cache. It is busy. A cache that cannot be written only costs the next
 * fetch. */
static bool fetch_block(struct block_source *s, uint32_t block, uint8_t *buffer, struct reel_error *err) {
    struct held *h = s->held;
    uint32_t size = block_size(h, block);
    uint64_t at = (uint64_t)block * BLOCK_BYTES;
    struct reel_error why = {0};
    atomic_fetch_add(&s->all->misses, 1);
    bool good = s3_get(s->all->s3, (struct s3_name){s->bucket, s->key}, s->etag, at, buffer, size, &why);
    if (good) {
        blocks_take_room(s->all, h, size);
        bool kept = disk_write_at(h->fd, buffer, size, at);
        set_done(h, block, kept, block_sum(buffer, size));
        if (!kept) {
            blocks_give_room(s->all, h, size);
        }
        return true;
    }
    pthread_mutex_lock(&h->mutex);
    h->failures++;
    h->failed = why;
    pthread_mutex_unlock(&h->mutex);
    set_done(h, block, false, 0);
    return reel_error_pass(err, &why);
}

/* ---- reading ahead */

static bool is_asked(const struct blocks *all, const struct block_source *s, uint32_t block) {
    for (unsigned i = 0; i < all->n_waiting; i++) {
        if (all->waiting[i].source == s && all->waiting[i].block == block) {
            return true;
        }
    }
    return false;
}

static void fetch_ahead(struct block_source *s, uint32_t first, uint32_t count) {
    struct blocks *all = s->all;
    struct held *h = s->held;
    pthread_mutex_lock(&all->mutex);
    pthread_mutex_lock(&h->mutex);
    for (uint32_t i = first; i < h->n_blocks && i - first < count && all->n_waiting < BLOCK_WAITING; i++) {
        if (h->sums[i] == 0 && !(h->blocks[i].flags & BLOCK_BUSY) && !is_asked(all, s, i)) {
            all->waiting[all->n_waiting++] = (struct ahead){.source = s, .block = i};
            pthread_cond_signal(&all->wake);
        }
    }
    pthread_mutex_unlock(&h->mutex);
    pthread_mutex_unlock(&all->mutex);
}

static void note_read(struct block_source *s, uint32_t block) {
    uint32_t last = atomic_exchange_explicit(&s->last, block, memory_order_relaxed), run;
    if (block == last) {
        return;
    }
    run = block == last + 1 ? atomic_fetch_add_explicit(&s->run, 1, memory_order_relaxed) + 1 : 0;
    atomic_store_explicit(&s->run, run, memory_order_relaxed);
    if (run >= AHEAD_AFTER && !s->source.sparse) {
        uint32_t count = run < AHEAD_SHORT ? 1 : run / AHEAD_PART;
        fetch_ahead(s, block + 1, count < AHEAD_MAX ? count : AHEAD_MAX);
    }
}

static void fetch_waiting(const struct ahead *a) {
    struct held *h = a->source->held;
    struct reel_error ignored;
    pthread_mutex_lock(&h->mutex);
    bool mine = h->sums[a->block] == 0 && !(h->blocks[a->block].flags & BLOCK_BUSY);
    if (mine) {
        h->blocks[a->block].flags |= BLOCK_BUSY;
    }
    pthread_mutex_unlock(&h->mutex);
    if (!mine) {
        return;
    }
    AUTO_MEM uint8_t *buffer = malloc(BLOCK_BYTES);
    if (!buffer) {
        set_done(h, a->block, false, 0);
    } else {
        fetch_block(a->source, a->block, buffer, &ignored);
    }
}

void *fetcher_run(void *context) {
    struct blocks *all = context;
    pthread_mutex_lock(&all->mutex);
    while (!all->stopping) {
        struct ahead *mine = all->now;
        if (all->n_waiting == 0) {
            pthread_cond_wait(&all->wake, &all->mutex);
            continue;
        }
        while (mine->source) {
            mine++;
        }
        *mine = all->waiting[0];
        memmove(all->waiting, all->waiting + 1, --all->n_waiting * sizeof *mine);
        const struct ahead now = *mine;
        pthread_mutex_unlock(&all->mutex);
        fetch_waiting(&now);
        pthread_mutex_lock(&all->mutex);
        mine->source = NULL;
        pthread_cond_broadcast(&all->idle);
    }
    pthread_mutex_unlock(&all->mutex);
    return NULL;
}

/* Nothing is fetched for the source any more when this returns. */
static void stop_ahead(struct block_source *s) {
    struct blocks *all = s->all;
    pthread_mutex_lock(&all->mutex);
    unsigned left = 0;
    for (unsigned i = 0; i < all->n_waiting; i++) {
        if (all->waiting[i].source != s) {
            all->waiting[left++] = all->waiting[i];
        }
    }
    all->n_waiting = left;
    for (unsigned i = 0; i < BLOCK_FETCHERS;) {
        if (all->now[i].source == s) {
            pthread_cond_wait(&all->idle, &all->mutex);
            i = 0;
        } else {
            i++;
        }
    }
    pthread_mutex_unlock(&all->mutex);
}

/* ---- the source */

/* Waits for another's fetch. False: it has failed. The object's mutex is held. */
static bool block_source_wait_for(struct held *h, uint32_t block, struct reel_error *err) {
    uint64_t failures = h->failures;
    while (h->blocks[block].flags & BLOCK_BUSY) {
        pthread_cond_wait(&h->changed, &h->mutex);
    }
    return (h->blocks[block].flags & BLOCK_GOOD) || h->failures == failures || reel_error_pass(err, &h->failed);
}

static bool read_pinned(struct held *h, uint32_t block, uint64_t offset, uint8_t *out, size_t size) {
    h->blocks[block].pins++;
    h->blocks[block].flags |= BLOCK_RECENT;
    pthread_mutex_unlock(&h->mutex);
    bool good = disk_read_at(h->fd, out, size, offset);
    pthread_mutex_lock(&h->mutex);
    h->blocks[block].pins--;
    return good;
}

/* Inside one block. */
static bool read_block(struct block_source *s, uint32_t block, uint64_t offset, uint8_t *out, size_t size,
                       struct reel_error *err) {
    struct held *h = s->held;
    pthread_mutex_lock(&h->mutex);
    for (;;) {
        struct block *b = &h->blocks[block];
        if (b->flags & BLOCK_BUSY) {
            if (!block_source_wait_for(h, block, err)) {
                break;
            }
        } else if (b->flags & BLOCK_GOOD) {
            bool good = read_pinned(h, block, offset, out, size);
            atomic_fetch_add_explicit(&s->all->hits, 1, memory_order_relaxed);
            pthread_mutex_unlock(&h->mutex);
            return good || reel_fail_errno(err, "the cache cannot be read");
        } else if (h->sums[block] != 0) {
            b->flags |= BLOCK_BUSY;
            pthread_mutex_unlock(&h->mutex);
            check_block(s->all, h, block);
            pthread_mutex_lock(&h->mutex);
        } else {
            b->flags |= BLOCK_BUSY;
            pthread_mutex_unlock(&h->mutex);
            AUTO_MEM uint8_t *buffer = malloc(BLOCK_BYTES);
            if (!buffer) {
                set_done(h, block, false, 0);
                return reel_fail_memory(err);
            }
            bool good = fetch_block(s, block, buffer, err);
            if (good) {
                memcpy(out, buffer + (offset - (uint64_t)block * BLOCK_BYTES), size);
            }
            return good;
        }
    }
    pthread_mutex_unlock(&h->mutex);
    return false;
}

/* The blocks that a read needs, at once and not one after the other. A jump to the end of a block mostly goes on in the
 * next one. */
static void fetch_together(struct block_source *s, uint64_t offset, size_t size) {
    uint32_t first = (uint32_t)(offset / BLOCK_BYTES);
    bool jumps = first != atomic_load_explicit(&s->last, memory_order_relaxed) && !s->source.sparse;
    uint32_t last = (uint32_t)((offset + size - 1 + (jumps ? EDGE_BYTES : 0)) / BLOCK_BYTES);
    if (size > 0 && last > first) {
        fetch_ahead(s, first + 1, last - first);
    }
}

static bool source_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                        struct reel_error *err) {
    struct block_source *s = (struct block_source *)source;
    fetch_together(s, offset, size);
    for (size_t done = 0; done < size;) {
        uint64_t at = offset + done;
        uint32_t block = (uint32_t)(at / BLOCK_BYTES);
        uint64_t left = (uint64_t)(block + 1) * BLOCK_BYTES - at;
        size_t n = size - done < left ? size - done : (size_t)left;
        note_read(s, block);
        if (!read_block(s, block, at, (uint8_t *)buffer + done, n, err)) {
            return false;
        }
        done += n;
    }
    return true;
}

/* Whether every block is there and compared; then they are all in use. The object's mutex is held. */
static bool take_all(struct held *h) {
    for (uint32_t i = 0; i < h->n_blocks; i++) {
        if ((h->blocks[i].flags & (BLOCK_GOOD | BLOCK_BUSY)) != BLOCK_GOOD) {
            return false;
        }
    }
    for (uint32_t i = 0; i < h->n_blocks; i++) {
        h->blocks[i].flags |= BLOCK_RECENT;
    }
    return true;
}

/* The file itself, when it is whole. Its blocks cannot be given up meanwhile, so at most half the cache is lent. */
static int source_fd(struct reel_source *source) {
    struct block_source *s = (struct block_source *)source;
    pthread_mutex_lock(&s->held->mutex);
    if (!s->lent && atomic_fetch_add(&s->all->lent_bytes, source->size) + source->size <= s->all->max_bytes / 2 &&
        take_all(s->held)) {
        s->lent = true;
        s->held->lent++;
    } else if (!s->lent) {
        atomic_fetch_sub(&s->all->lent_bytes, source->size);
    }
    int fd = s->lent ? s->held->fd : -1;
    pthread_mutex_unlock(&s->held->mutex);
    return fd;
}

static void end_lending(struct block_source *s) {
    pthread_mutex_lock(&s->held->mutex);
    if (s->lent) {
        s->held->lent--;
        atomic_fetch_sub(&s->all->lent_bytes, s->source.size);
    }
    pthread_mutex_unlock(&s->held->mutex);
}

static void source_free(struct reel_source *source) {
    struct block_source *s = (struct block_source *)source;
    end_lending(s);
    stop_ahead(s);
    held_release(s->all, s->held);
    free(s->bucket);
    free(s->key);
    free(s->etag);
    free(s);
}

static const struct reel_source_ops ops = {.read = source_read, .free = source_free, .fd = source_fd};

struct reel_source *blocks_source(struct blocks *all, const struct blocks_object *object, const char *name,
                                  struct reel_error *err) {
    size_t name_size = strlen(name) + 1;
    struct held *h = held_acquire(all, object->content, object->size, err);
    struct block_source *s = h ? calloc(1, sizeof *s + name_size) : NULL;
    if (!s) {
        if (h) {
            held_release(all, h);
            reel_fail_memory(err);
        }
        return NULL;
    }
    memcpy(s->name, name, name_size);
    s->source = (struct reel_source){.ops = &ops, .size = object->size, .name = s->name};
    s->all = all;
    s->held = h;
    s->last = UINT32_MAX - 1; /* no block */
    s->bucket = strdup(object->bucket);
    s->key = strdup(object->key);
    s->etag = object->etag ? strdup(object->etag) : NULL;
    if (!s->bucket || !s->key || (object->etag && !s->etag)) {
        source_free(&s->source);
        reel_fail_memory(err);
        return NULL;
    }
    return &s->source;
}
