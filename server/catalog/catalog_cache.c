/* See catalog_cache.h. A slot is chosen by the key; the next entry with the same slot replaces what it has. */
#include "catalog/catalog_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash_table.h"

enum {
    STRIPES = 16,
    STRIPE_BYTES_MAX = CACHE_BYTES_MAX / STRIPES,
    FOUND = 64, /* slots of one stripe for values of a kind */
    ABSENT = 4, /* … and for what is absent, after them */
    SLOTS_OF_KIND = FOUND + ABSENT,
    SLOTS = CACHE_KINDS * SLOTS_OF_KIND,
};

struct entry {
    uint64_t version;
    size_t bytes;
    const struct catalog_cache_kind *kind;
    void *value;          /* NULL: absent */
    char *answer;         /* that was made of it; NULL: none */
    uint32_t definitions; /* … with these */
    const char *prefix;
    size_t key_size;
    char key[];
};

struct stripe {
    pthread_mutex_t mutex; /* guards what follows */
    struct entry *slots[SLOTS];
    size_t bytes;
    unsigned next; /* the slot that makes room next */
};

struct catalog_cache {
    uint64_t seed;
    struct stripe stripes[STRIPES];
};

struct catalog_cache *catalog_cache_new(struct reel_error *err) {
    struct catalog_cache *cache = calloc(1, sizeof *cache);
    if (!cache) {
        reel_fail_memory(err);
        return NULL;
    }
    cache->seed = hash_seed();
    for (unsigned i = 0; i < STRIPES; i++) {
        pthread_mutex_init(&cache->stripes[i].mutex, NULL);
    }
    return cache;
}

/* ---- entries */

static void entry_free(struct entry *e) {
    if (e) {
        if (e->value) {
            e->kind->done(e->value);
        }
        free(e->value);
        free(e->answer);
        free(e);
    }
}
REEL_DEFINE_AUTO(struct entry, entry_free);

void catalog_cache_free(struct catalog_cache *cache) {
    for (unsigned i = 0; cache && i < STRIPES; i++) {
        for (unsigned k = 0; k < SLOTS; k++) {
            entry_free(cache->stripes[i].slots[k]);
        }
        pthread_mutex_destroy(&cache->stripes[i].mutex);
    }
    free(cache);
}

/* NULL: too large, or no memory. */
static struct entry *entry_new(const struct catalog_cache_key *key, uint64_t version, const void *value) {
    size_t bytes = sizeof(struct entry) + key->size + (value ? key->kind->size + key->kind->bytes(value) : 0);
    AUTO(entry_free) struct entry *e = bytes <= CACHE_ENTRY_MAX ? calloc(1, sizeof *e + key->size) : NULL;
    if (!e) {
        return NULL;
    }
    e->version = version;
    e->bytes = bytes;
    e->kind = key->kind;
    e->prefix = key->prefix;
    e->key_size = key->size;
    memcpy(e->key, key->data, key->size);
    e->value = value ? calloc(1, key->kind->size) : NULL;
    return !value || (e->value && key->kind->copy(value, e->value)) ? TAKE(e) : NULL;
}

static bool entry_is_of(const struct entry *e, const struct catalog_cache_key *key) {
    return e && e->key_size == key->size && strcmp(e->prefix, key->prefix) == 0 &&
           memcmp(e->key, key->data, key->size) == 0;
}

/* ---- slots */

/* Nearly all requests of a server may come with one token: threads have copies of it in several stripes, so that they
 * do not wait for each other. */
static unsigned shift_of_thread(const struct catalog_cache_key *key) {
    static atomic_uint threads;
    static _Thread_local unsigned shift;
    if (shift == 0) {
        shift = atomic_fetch_add(&threads, 1) % STRIPES + 1;
    }
    return key->kind->number == CACHE_TOKEN ? shift : 0;
}

/* Locks the stripe of the key; *slot is the only one where it may be for this thread. */
static struct stripe *lock_slot(struct catalog_cache *cache, const struct catalog_cache_key *key, bool absent,
                                struct entry ***slot) {
    uint64_t hash = hash_bytes(cache->seed, (struct reel_bytes){key->data, key->size});
    struct stripe *s = &cache->stripes[(hash + shift_of_thread(key)) % STRIPES];
    uint64_t position = absent ? FOUND + hash / STRIPES % ABSENT : hash / STRIPES % FOUND;
    *slot = &s->slots[key->kind->number * SLOTS_OF_KIND + position];
    pthread_mutex_lock(&s->mutex);
    return s;
}

static void slot_set(struct stripe *s, struct entry **slot, struct entry *e) {
    s->bytes += (e ? e->bytes : 0) - (*slot ? (*slot)->bytes : 0);
    entry_free(*slot);
    *slot = e;
}

/* Empties other slots in turn until the stripe is within its bytes. */
static void make_room(struct stripe *s, struct entry *const *keeps) {
    for (; s->bytes > STRIPE_BYTES_MAX; s->next = (s->next + 1) % SLOTS) {
        if (&s->slots[s->next] != keeps) {
            slot_set(s, &s->slots[s->next], NULL);
        }
    }
}

bool catalog_cache_find(struct catalog_cache *cache, const struct catalog_cache_key *key, uint64_t version,
                        void *value) {
    struct entry **slot;
    struct stripe *s = lock_slot(cache, key, !value, &slot);
    bool found =
        entry_is_of(*slot, key) && (*slot)->version == version && (!value || key->kind->copy((*slot)->value, value));
    pthread_mutex_unlock(&s->mutex);
    return found;
}

void catalog_cache_keep(struct catalog_cache *cache, const struct catalog_cache_key *key, uint64_t version,
                        const void *value) {
    struct entry *e = entry_new(key, version, value), **slot;
    if (!e) {
        return;
    }
    struct stripe *s = lock_slot(cache, key, !value, &slot);
    struct entry *before = *slot;
    if (value && entry_is_of(before, key) && before->answer && e->kind->same(before->value, value)) {
        e->bytes += strlen(before->answer) + 1;
        e->answer = TAKE(before->answer);
        e->definitions = before->definitions;
    }
    slot_set(s, slot, e);
    make_room(s, slot);
    pthread_mutex_unlock(&s->mutex);
}

/* ---- answers */

char *catalog_cache_find_answer(struct catalog_cache *cache, const struct catalog_cache_key *key, const void *value,
                                uint32_t definitions) {
    struct entry **slot;
    struct stripe *s = lock_slot(cache, key, false, &slot);
    bool has = entry_is_of(*slot, key) && (*slot)->answer && (*slot)->definitions == definitions &&
               key->kind->same((*slot)->value, value);
    char *text = has ? strdup((*slot)->answer) : NULL;
    pthread_mutex_unlock(&s->mutex);
    return text;
}

/* In place of an answer that was made with other definitions. */
void catalog_cache_keep_answer(struct catalog_cache *cache, const struct catalog_cache_key *key, const void *value,
                               uint32_t definitions, const char *text) {
    struct entry **slot;
    struct stripe *s = lock_slot(cache, key, false, &slot);
    struct entry *e = entry_is_of(*slot, key) && key->kind->same((*slot)->value, value) ? *slot : NULL;
    size_t size = strlen(text) + 1, before = e && e->answer ? strlen(e->answer) + 1 : 0;
    bool fits = e && e->bytes - before + size <= CACHE_ENTRY_MAX && !(e->answer && e->definitions == definitions);
    char *copy = fits ? strdup(text) : NULL;
    if (copy) {
        free(e->answer);
        e->answer = copy;
        e->definitions = definitions;
        e->bytes += size - before;
        s->bytes += size - before;
        make_room(s, slot);
    }
    pthread_mutex_unlock(&s->mutex);
}

size_t catalog_cache_bytes(struct catalog_cache *cache) {
    size_t bytes = 0;
    for (unsigned i = 0; i < STRIPES; i++) {
        pthread_mutex_lock(&cache->stripes[i].mutex);
        bytes += cache->stripes[i].bytes;
        pthread_mutex_unlock(&cache->stripes[i].mutex);
    }
    return bytes;
}
