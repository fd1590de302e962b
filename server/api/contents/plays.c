/* See plays.h. */
#include "api/contents/plays.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plays {
    pthread_mutex_t mutex;
    struct play_entry *first;
};

struct plays *plays_new(struct reel_error *err) {
    struct plays *plays = calloc(1, sizeof *plays);
    if (!plays) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&plays->mutex, NULL);
    return plays;
}

void plays_free(struct plays *plays) {
    if (plays) {
        pthread_mutex_destroy(&plays->mutex);
        free(plays);
    }
}

void play_entry_done(struct play_entry *entry) {
    reel_play_free(entry->play);
    free(entry->collection);
}

const char *play_home(const char *id) {
    return strlen(id) == PLAY_ID_TEXT - 1 && id[RECORDING_ID_TEXT - 1] == '-' ? id + RECORDING_ID_TEXT : "";
}

struct play_entry *plays_add(struct plays *plays, const char *home, const struct catalog_recording *row,
                             struct reel_play *play, enum reel_clock clock, struct reel_error *err) {
    struct play_entry *entry = calloc(1, sizeof *entry);
    if (!entry || !(entry->collection = strdup(row->collection))) {
        free(entry);
        reel_fail_memory(err);
        return NULL;
    }
    memcpy(entry->recording, row->id, sizeof entry->recording);
    entry->clock = clock;
    entry->play = reel_play_ref(play);
    if (!catalog_make_id(entry->id, err)) {
        play_entry_done(entry);
        free(entry);
        return NULL;
    }
    if (home[0]) {
        snprintf(entry->id + RECORDING_ID_TEXT - 1, sizeof entry->id - RECORDING_ID_TEXT + 1, "-%s", home);
    }
    pthread_mutex_lock(&plays->mutex);
    entry->next = plays->first;
    plays->first = entry;
    pthread_mutex_unlock(&plays->mutex);
    return entry;
}

void plays_remove(struct plays *plays, struct play_entry *entry) {
    if (!entry) {
        return;
    }
    pthread_mutex_lock(&plays->mutex);
    struct play_entry **at = &plays->first;
    while (*at != entry) {
        at = &(*at)->next;
    }
    *at = entry->next;
    pthread_mutex_unlock(&plays->mutex);
    play_entry_done(entry);
    free(entry);
}

bool plays_find(struct plays *plays, const char *id, struct play_entry *out) {
    pthread_mutex_lock(&plays->mutex);
    const struct play_entry *entry = plays->first;
    while (entry && strcmp(entry->id, id) != 0) {
        entry = entry->next;
    }
    if (entry) {
        *out = *entry;
        out->collection = strdup(entry->collection);
        out->play = reel_play_ref(entry->play);
    }
    pthread_mutex_unlock(&plays->mutex);
    return entry;
}
