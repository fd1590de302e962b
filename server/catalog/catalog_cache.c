/* See catalog_cache.h. A slot is chosen by the key; the next entry with the same slot replaces what it has. */
#include "catalog/catalog_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash_table.h"
#include "catalog/access.h"
#include "catalog/columns.h"

enum {
    STRIPES = 16,
    STRIPE_BYTES_MAX = CACHE_BYTES_MAX / STRIPES,
    FOUND = 64,                 /* slots of one stripe for recordings, and as many for tokens */
    ABSENT = 4,                 /* … and for what is absent */
    SLOTS = 2 * FOUND + ABSENT, /* in this order */
};

struct entry {
    uint64_t version;
    size_t bytes;
    enum cache_kind kind;
    struct catalog_recording recording; /* of CACHE_RECORDING, else empty; the same below */
    char *answer;                       /* NULL: none */
    struct token token;
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

/* ---- values */

static size_t recording_bytes(const struct catalog_recording *r) {
    size_t bytes = columns_texts_size(r) + r->n_parts * sizeof *r->parts;
    for (uint32_t i = 0; i < r->n_parts; i++) {
        bytes += strlen(r->parts[i].file_name) + 1;
    }
    bytes += r->annotations.n_tags * sizeof *r->annotations.tags;
    for (uint32_t i = 0; i < r->annotations.n_tags; i++) {
        bytes += strlen(r->annotations.tags[i].key) + strlen(r->annotations.tags[i].value) + 2;
    }
    return bytes;
}

/* False, and an empty copy: no memory. */
static bool recording_copy(const struct catalog_recording *from, struct catalog_recording *to) {
    *to = *from;
    bool good = columns_copy_texts(to);
    to->parts = calloc(from->n_parts ? from->n_parts : 1, sizeof *to->parts);
    to->n_parts = to->parts ? from->n_parts : 0;
    good = good && to->parts;
    for (uint32_t i = 0; i < to->n_parts; i++) {
        to->parts[i] = from->parts[i];
        to->parts[i].file_name = strdup(from->parts[i].file_name);
        good = good && to->parts[i].file_name;
    }
    good = annotations_copy_tags(&from->annotations, &to->annotations) && good;
    if (!good) {
        catalog_recording_done(to);
    }
    return good;
}

static bool recording_same(const struct catalog_recording *a, const struct catalog_recording *b) {
    return a->updated_ns == b->updated_ns && a->state == b->state && strcmp(a->id, b->id) == 0;
}

static bool token_copy(const struct token *from, struct token *to) {
    *to = *from;
    to->name = strdup(from->name);
    to->collections = strdup(from->collections);
    bool good = to->name && to->collections;
    if (!good) {
        token_done(to);
    }
    return good;
}

/* ---- entries */

static void entry_free(struct entry *e) {
    if (e) {
        catalog_recording_done(&e->recording);
        token_done(&e->token);
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

static size_t value_bytes(enum cache_kind kind, const void *value) {
    const struct token *t = value;
    return kind == CACHE_RECORDING ? recording_bytes(value)
           : kind == CACHE_TOKEN   ? strlen(t->name) + strlen(t->collections) + 2
                                   : 0;
}

static bool value_copy(enum cache_kind kind, const void *from, void *to) {
    return kind == CACHE_RECORDING ? recording_copy(from, to) : kind == CACHE_ABSENT || token_copy(from, to);
}

static void *value_of(struct entry *e) {
    return e->kind == CACHE_RECORDING ? (void *)&e->recording : (void *)&e->token;
}

/* NULL: too large, or no memory. */
static struct entry *entry_new(const struct catalog_cache_key *key, uint64_t version, const void *value) {
    size_t bytes = sizeof(struct entry) + key->size + value_bytes(key->kind, value);
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
    return value_copy(key->kind, value, value_of(e)) ? TAKE(e) : NULL;
}

static bool entry_is_of(const struct entry *e, const struct catalog_cache_key *key) {
    return e && e->key_size == key->size && strcmp(e->prefix, key->prefix) == 0 &&
           memcmp(e->key, key->data, key->size) == 0;
}

/* ---- slots */

/* Locks the stripe of the key; *slot is the only one where it may be. */
static struct stripe *lock_slot(struct catalog_cache *cache, const struct catalog_cache_key *key,
                                struct entry ***slot) {
    static const struct {
        unsigned first, count;
    } slots_of[CACHE_KINDS] = {
        [CACHE_RECORDING] = {0, FOUND}, [CACHE_TOKEN] = {FOUND, FOUND}, [CACHE_ABSENT] = {2 * FOUND, ABSENT}};
    uint64_t hash = hash_bytes(cache->seed, (struct reel_bytes){key->data, key->size});
    struct stripe *s = &cache->stripes[hash % STRIPES];
    *slot = &s->slots[slots_of[key->kind].first + hash / STRIPES % slots_of[key->kind].count];
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
    struct stripe *s = lock_slot(cache, key, &slot);
    bool found =
        entry_is_of(*slot, key) && (*slot)->version == version && value_copy(key->kind, value_of(*slot), value);
    pthread_mutex_unlock(&s->mutex);
    return found;
}

void catalog_cache_keep(struct catalog_cache *cache, const struct catalog_cache_key *key, uint64_t version,
                        const void *value) {
    struct entry *e = entry_new(key, version, value), **slot;
    if (!e) {
        return;
    }
    struct stripe *s = lock_slot(cache, key, &slot);
    struct entry *before = *slot;
    if (e->kind == CACHE_RECORDING && entry_is_of(before, key) && before->answer &&
        recording_same(&before->recording, &e->recording)) {
        e->bytes += strlen(before->answer) + 1;
        e->answer = TAKE(before->answer);
    }
    slot_set(s, slot, e);
    make_room(s, slot);
    pthread_mutex_unlock(&s->mutex);
}

/* ---- answers */

char *catalog_cache_find_answer(struct catalog_cache *cache, const struct catalog_cache_key *key,
                                const struct catalog_recording *row) {
    struct entry **slot;
    struct stripe *s = lock_slot(cache, key, &slot);
    bool has = entry_is_of(*slot, key) && (*slot)->answer && recording_same(&(*slot)->recording, row);
    char *text = has ? strdup((*slot)->answer) : NULL;
    pthread_mutex_unlock(&s->mutex);
    return text;
}

void catalog_cache_keep_answer(struct catalog_cache *cache, const struct catalog_cache_key *key,
                               const struct catalog_recording *row, const char *text) {
    struct entry **slot;
    size_t size = strlen(text) + 1;
    struct stripe *s = lock_slot(cache, key, &slot);
    struct entry *e = entry_is_of(*slot, key) && recording_same(&(*slot)->recording, row) ? *slot : NULL;
    if (e && !e->answer && e->bytes + size <= CACHE_ENTRY_MAX && (e->answer = strdup(text))) {
        e->bytes += size;
        s->bytes += size;
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
