/* See answer_cache.h. A slot is chosen by the id; the next recording with the same slot replaces what it holds. */
#include "views/answer_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1024, LOCKS = 16, TEXT_MAX = 16 << 10 }; /* 16 MiB at most */

struct slot {
    char id[RECORDING_ID_TEXT];
    int64_t updated_ns;
    enum recording_state state; /* as the request saw it: of referenced files it may be newer than the row */
    char *text;
};

struct answer_cache {
    pthread_mutex_t locks[LOCKS];
    struct slot slots[SLOTS];
};

struct answer_cache *answer_cache_new(struct reel_error *err) {
    struct answer_cache *cache = calloc(1, sizeof *cache);
    if (!cache) {
        reel_fail_memory(err);
        return NULL;
    }
    for (unsigned i = 0; i < LOCKS; i++) {
        pthread_mutex_init(&cache->locks[i], NULL);
    }
    return cache;
}

void answer_cache_free(struct answer_cache *cache) {
    if (!cache) {
        return;
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        free(cache->slots[i].text);
    }
    for (unsigned i = 0; i < LOCKS; i++) {
        pthread_mutex_destroy(&cache->locks[i]);
    }
    free(cache);
}

/* Ids are random. */
static unsigned answer_cache_slot_of(const char *id) {
    char digits[5] = "";
    memcpy(digits, id, sizeof digits - 1);
    return (unsigned)strtoul(digits, NULL, 16) % SLOTS;
}

static bool is_of(const struct slot *slot, const struct catalog_recording *row) {
    return slot->text && slot->updated_ns == row->updated_ns && slot->state == row->state &&
           strcmp(slot->id, row->id) == 0;
}

char *answer_cache_find(struct answer_cache *cache, const struct catalog_recording *row) {
    unsigned i = answer_cache_slot_of(row->id);
    pthread_mutex_lock(&cache->locks[i % LOCKS]);
    char *text = is_of(&cache->slots[i], row) ? strdup(cache->slots[i].text) : NULL;
    pthread_mutex_unlock(&cache->locks[i % LOCKS]);
    return text;
}

void answer_cache_keep(struct answer_cache *cache, const struct catalog_recording *row, const char *text) {
    char *copy = strlen(text) < TEXT_MAX ? strdup(text) : NULL;
    if (!copy) {
        return;
    }
    unsigned i = answer_cache_slot_of(row->id);
    struct slot *slot = &cache->slots[i];
    pthread_mutex_lock(&cache->locks[i % LOCKS]);
    free(slot->text);
    *slot = (struct slot){.updated_ns = row->updated_ns, .state = row->state, .text = copy};
    memcpy(slot->id, row->id, sizeof slot->id);
    pthread_mutex_unlock(&cache->locks[i % LOCKS]);
}
