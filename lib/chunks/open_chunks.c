/* See opened.h. An item pins its base, so the base is closed after all items in it. */
#include "chunks/open_chunks.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/limits.h"

bool opened_init(struct opened_set *set, struct reel_error *err) {
    *set = (struct opened_set){0};
    if (pthread_mutex_init(&set->lock, NULL) != 0) {
        return reel_fail_memory(err);
    }
    if (pthread_cond_init(&set->changed, NULL) != 0) {
        pthread_mutex_destroy(&set->lock);
        return reel_fail_memory(err);
    }
    return true;
}

static struct opened *find(const struct opened_set *set, uint32_t id) {
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i]->chunk == id) {
            return set->items[i];
        }
    }
    return NULL;
}

static void remove_item(struct opened_set *set, const struct opened *o) {
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i] == o) {
            set->items[i] = set->items[--set->count];
            return;
        }
    }
}

/* Removes the item from the set and returns its pin on the base. Caller holds the lock. */
static void take_out(struct opened_set *set, struct opened *o) {
    remove_item(set, o);
    set->spooled -= o->spooled;
    set->n_spooled -= o->spooled > 0;
    if (o->base) {
        o->base->pins--;
    }
}

static void opened_free(struct opened *o) {
    reel_source_free(o->source);
    free(o);
}

/* The least recently used item without pins; closing it frees a file, or allows its base to be closed. */
static struct opened *oldest(const struct opened_set *set, bool all) {
    struct opened *found = NULL;
    for (size_t i = 0; i < set->count; i++) {
        struct opened *o = set->items[i];
        if (o->pins == 0 && o->state == OPENED_READY && (all || o->spooled > 0 || o->base) &&
            (!found || o->used < found->used)) {
            found = o;
        }
    }
    return found;
}

static struct opened *over_the_ceiling(struct opened_set *set) {
    bool over = set->n_spooled > REEL_OPENED_MAX || set->spooled > (uint64_t)REEL_OPENED_MIB_MAX << 20;
    struct opened *o = over ? oldest(set, false) : NULL;
    if (o) {
        take_out(set, o);
    }
    return o;
}

/* Closing a large file takes time: do it without the lock. */
static void trim(struct opened_set *set) {
    for (struct opened *o; (o = over_the_ceiling(set));) {
        pthread_mutex_unlock(&set->lock);
        opened_free(o);
        pthread_mutex_lock(&set->lock);
    }
}

void opened_done(struct opened_set *set) {
    for (struct opened *o; (o = oldest(set, true));) {
        take_out(set, o);
        opened_free(o);
    }
    free(set->items);
    pthread_cond_destroy(&set->changed);
    pthread_mutex_destroy(&set->lock);
}

/* A new item, pinned and busy. Caller holds the lock. */
static struct opened *add(struct opened_set *set, uint32_t id, struct reel_error *err) {
    struct opened *o = GROW_ARRAY(set->items, set->count, set->capacity) ? calloc(1, sizeof *o) : NULL;
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
static void finish(struct opened_set *set, struct opened *o, bool good) {
    o->state = good ? OPENED_READY : OPENED_FAILED;
    set->spooled += o->spooled;
    set->n_spooled += o->spooled > 0;
    if (!good) {
        take_out(set, o);
    }
    pthread_cond_broadcast(&set->changed);
}

/* A failed item is freed by the last thread that waited for it. Caller holds the lock. */
static struct opened *answer(struct opened_set *set, struct opened *o, struct reel_error *err) {
    if (o->state == OPENED_READY) {
        o->used = ++set->clock;
        return o;
    }
    reel_error_pass(err, &o->why);
    if (--o->pins == 0) {
        opened_free(o);
    }
    return NULL;
}

struct opened *opened_pin(struct opened_set *set, uint32_t id,
                          bool (*open)(void *context, struct opened *o, struct reel_error *err), void *context,
                          struct reel_error *err) {
    pthread_mutex_lock(&set->lock);
    struct opened *o = find(set, id);
    if (o) {
        o->pins++;
        while (o->state == OPENED_BUSY) {
            pthread_cond_wait(&set->changed, &set->lock);
        }
    } else if ((o = add(set, id, err))) {
        pthread_mutex_unlock(&set->lock);
        bool good = open(context, o, &o->why);
        pthread_mutex_lock(&set->lock);
        finish(set, o, good);
    }
    o = o ? answer(set, o, err) : NULL;
    trim(set);
    pthread_mutex_unlock(&set->lock);
    return o;
}

void opened_unpin(struct opened_set *set, struct opened *o) {
    if (o) {
        pthread_mutex_lock(&set->lock);
        o->pins--;
        trim(set);
        pthread_mutex_unlock(&set->lock);
    }
}
