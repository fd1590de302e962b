/* See known.h. */
#include "datasets/known.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static const int64_t KNOWN_NS = INT64_C(10000000000);

struct known_datasets {
    pthread_mutex_t mutex;
    uint32_t next; /* where the next new entry goes */
    struct entry {
        struct known_key key;
        int64_t at_ns;
        char sha[SHA1_HEX];
    } entries[DATASETS_KNOWN_MAX];
};

struct known_datasets *known_datasets_new(struct reel_error *err) {
    struct known_datasets *known = calloc(1, sizeof *known);
    if (!known) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&known->mutex, NULL);
    return known;
}

void known_datasets_free(struct known_datasets *known) {
    if (known) {
        pthread_mutex_destroy(&known->mutex);
        free(known);
    }
}

/* The entry of this name; the lock is held. NULL: there is none. */
static struct entry *find(struct known_datasets *known, const char *name) {
    uint32_t i = 0;
    while (i < DATASETS_KNOWN_MAX && strcmp(known->entries[i].key.name, name) != 0) {
        i++;
    }
    return i < DATASETS_KNOWN_MAX ? &known->entries[i] : NULL;
}

bool known_find(struct known_datasets *known, const struct known_key *key, char sha[SHA1_HEX]) {
    pthread_mutex_lock(&known->mutex);
    const struct entry *e = key->name[0] ? find(known, key->name) : NULL;
    bool found = e && e->key.version == key->version && clock_ns() - e->at_ns < KNOWN_NS;
    if (found) {
        memcpy(sha, e->sha, SHA1_HEX);
    }
    pthread_mutex_unlock(&known->mutex);
    return found;
}

void known_keep(struct known_datasets *known, const struct known_key *key, const char *sha) {
    if (!key->name[0]) {
        return;
    }
    pthread_mutex_lock(&known->mutex);
    struct entry *e = find(known, key->name);
    if (!e) {
        e = &known->entries[known->next];
        known->next = (known->next + 1) % DATASETS_KNOWN_MAX;
    }
    *e = (struct entry){.key = *key, .at_ns = clock_ns()};
    memcpy(e->sha, sha, SHA1_HEX);
    pthread_mutex_unlock(&known->mutex);
}
