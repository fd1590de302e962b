/* Rows by id, as they were last read. A row is good for as long as nothing has been committed since: every GET of a
 * recording starts with one, and most of the time nothing changes. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog_internal.h"
#include "catalog/columns.h"

enum {
    SLOTS = 1024,
    CACHED_TEXT_MAX = 8 << 10, /* of a description or custom fields that are kept */
};

struct slot {
    uint64_t version;
    struct catalog_recording row; /* id "" = empty */
};

struct rows {
    pthread_mutex_t mutex;
    struct slot slots[SLOTS];
};

struct rows *rows_new(struct reel_error *err) {
    struct rows *rows = calloc(1, sizeof *rows);
    if (!rows) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&rows->mutex, NULL);
    return rows;
}

void rows_free(struct rows *rows) {
    if (!rows) {
        return;
    }
    for (size_t i = 0; i < SLOTS; i++) {
        catalog_recording_done(&rows->slots[i].row);
    }
    pthread_mutex_destroy(&rows->mutex);
    free(rows);
}

/* Copies all texts and parts. False, and an emptied copy: no memory. */
static bool copy_row(const struct catalog_recording *from, struct catalog_recording *to) {
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

static struct slot *rows_slot_of(struct rows *rows, const char *id) {
    uint32_t hash = 2166136261u;
    for (; *id; id++) {
        hash = (hash ^ (uint8_t)*id) * 16777619u;
    }
    return &rows->slots[hash % SLOTS];
}

bool rows_find(struct rows *rows, const char *id, uint64_t version, struct catalog_recording *out) {
    pthread_mutex_lock(&rows->mutex);
    const struct slot *slot = rows_slot_of(rows, id);
    bool found = slot->version == version && strcmp(slot->row.id, id) == 0 && copy_row(&slot->row, out);
    pthread_mutex_unlock(&rows->mutex);
    return found;
}

/* Long descriptions are rare; 1000 of them would be much memory for rows that are seldom read. */
static bool is_small(const struct catalog_annotations *annotations) {
    return (!annotations->description || strlen(annotations->description) <= CACHED_TEXT_MAX) &&
           (!annotations->custom || strlen(annotations->custom) <= CACHED_TEXT_MAX);
}

void rows_keep(struct rows *rows, uint64_t version, const struct catalog_recording *r) {
    if (!is_small(&r->annotations)) {
        return;
    }
    pthread_mutex_lock(&rows->mutex);
    struct slot *slot = rows_slot_of(rows, r->id);
    catalog_recording_done(&slot->row);
    slot->row = (struct catalog_recording){0};
    if (copy_row(r, &slot->row)) {
        slot->version = version;
    }
    pthread_mutex_unlock(&rows->mutex);
}
