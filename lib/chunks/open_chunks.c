/* See open_chunks.h. An item pins its base, so the base is closed after all items in it. */
#include "chunks/open_chunks.h"

#include <stdlib.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/limits.h"
#include "base/thread.h"

enum { CHECK_NS = 50000000 }; /* who waits looks whether it was cancelled */

bool open_chunks_init(struct open_chunks *set, struct reel_error *err) {
    *set = (struct open_chunks){0};
    if (pthread_mutex_init(&set->lock, NULL) != 0) {
        return reel_fail_memory(err);
    }
    condition_init(&set->changed);
    return true;
}

static struct open_chunk *open_chunks_find(const struct open_chunks *set, uint32_t id) {
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i]->chunk == id) {
            return set->items[i];
        }
    }
    return NULL;
}

static void remove_item(struct open_chunks *set, const struct open_chunk *o) {
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i] == o) {
            set->items[i] = set->items[--set->count];
            return;
        }
    }
}

/* Removes the item from the set and returns its pins. Caller holds the lock. */
static void take_out(struct open_chunks *set, struct open_chunk *o) {
    remove_item(set, o);
    set->spooled -= o->spooled;
    set->n_spooled -= o->spooled > 0;
    if (o->base) {
        o->base->pins--;
    }
    if (o->log) {
        o->log->pins--;
    }
}

static void opened_free(struct open_chunk *o) {
    reel_source_free(o->source);
    free(o);
}

/* The least recently used item without pins; closing it frees a file, or allows its base to be closed. */
static struct open_chunk *oldest(const struct open_chunks *set, bool all) {
    struct open_chunk *found = NULL;
    for (size_t i = 0; i < set->count; i++) {
        struct open_chunk *o = set->items[i];
        if (o->pins == 0 && o->state == OPEN_CHUNK_READY && (all || o->spooled > 0 || o->base) &&
            (!found || o->used < found->used)) {
            found = o;
        }
    }
    return found;
}

static struct open_chunk *over_the_ceiling(struct open_chunks *set) {
    bool over = set->n_spooled > REEL_OPENED_MAX || set->spooled > (uint64_t)REEL_OPENED_MIB_MAX << 20;
    struct open_chunk *o = over ? oldest(set, false) : NULL;
    if (o) {
        take_out(set, o);
    }
    return o;
}

/* Closing a large file takes time: do it without the lock. */
static void open_chunks_trim(struct open_chunks *set) {
    for (struct open_chunk *o; (o = over_the_ceiling(set));) {
        pthread_mutex_unlock(&set->lock);
        opened_free(o);
        pthread_mutex_lock(&set->lock);
    }
}

void open_chunks_done(struct open_chunks *set) {
    for (struct open_chunk *o; (o = oldest(set, true));) {
        take_out(set, o);
        opened_free(o);
    }
    free(set->items);
    pthread_cond_destroy(&set->changed);
    pthread_mutex_destroy(&set->lock);
}

/* A new item, pinned and busy. Caller holds the lock. */
static struct open_chunk *open_chunks_add(struct open_chunks *set, uint32_t id, struct reel_error *err) {
    struct open_chunk *o = GROW_ARRAY(set->items, set->count, set->capacity) ? calloc(1, sizeof *o) : NULL;
    if (!o) {
        reel_fail_memory(err);
        return NULL;
    }
    o->chunk = id;
    o->pins = 1;
    set->items[set->count++] = o;
    return o;
}

/* Publishes the result of open() to all threads that wait for it. Caller holds the lock. */
static void open_chunks_finish(struct open_chunks *set, struct open_chunk *o, bool good) {
    o->state = good ? OPEN_CHUNK_READY : OPEN_CHUNK_FAILED;
    set->spooled += o->spooled;
    set->n_spooled += o->spooled > 0;
    if (!good) {
        take_out(set, o);
    }
    pthread_cond_broadcast(&set->changed);
}

/* A failed item is freed by the last thread that waited for it. Caller holds the lock. */
static struct open_chunk *open_chunks_answer(struct open_chunks *set, struct open_chunk *o, struct reel_error *err) {
    if (o->state == OPEN_CHUNK_READY) {
        o->used = ++set->clock;
        return o;
    }
    reel_error_pass(err, &o->why);
    if (--o->pins == 0) {
        opened_free(o);
    }
    return NULL;
}

/* Waits while another thread opens it. *again: that was cancelled, which is none of this thread's business. False:
 * this thread's work was. Caller holds the lock. */
static bool wait_opened(struct open_chunks *set, struct open_chunk *o, bool *again, struct reel_error *err) {
    bool wanted = true;
    o->pins++;
    while (o->state == OPEN_CHUNK_BUSY && wanted) {
        wanted = condition_wait(&set->changed, &set->lock, clock_deadline(CHECK_NS)) || cancel_check(err);
    }
    *again = wanted && o->state == OPEN_CHUNK_FAILED && o->why.code == REEL_CANCELLED;
    if ((!wanted || *again) && --o->pins == 0 && o->state == OPEN_CHUNK_FAILED) {
        opened_free(o);
    }
    return wanted;
}

struct open_chunk *open_chunk_pin(struct open_chunks *set, uint32_t id,
                                  bool (*open)(void *context, struct open_chunk *o, struct reel_error *err),
                                  void *context, struct reel_error *err) {
    struct open_chunk *o = NULL;
    bool wanted = true;
    pthread_mutex_lock(&set->lock);
    for (bool again = true; again && wanted;) {
        again = false;
        o = open_chunks_find(set, id);
        wanted = !o || wait_opened(set, o, &again, err);
    }
    if (!o && (o = open_chunks_add(set, id, err))) {
        pthread_mutex_unlock(&set->lock);
        bool good = open(context, o, &o->why);
        pthread_mutex_lock(&set->lock);
        open_chunks_finish(set, o, good);
    }
    o = o && wanted ? open_chunks_answer(set, o, err) : NULL;
    open_chunks_trim(set);
    pthread_mutex_unlock(&set->lock);
    return o;
}

void open_chunk_unpin(struct open_chunks *set, struct open_chunk *o) {
    if (o) {
        pthread_mutex_lock(&set->lock);
        o->pins--;
        open_chunks_trim(set);
        pthread_mutex_unlock(&set->lock);
    }
}
