/* How a recording is found: its topics and types, and its file's metadata, each as a set of labels that recordings
 * share; and its name as words. What a single text adds is bounded, whatever the file contains. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "catalog/list.h"
#include "json_whole.h"

enum {
    LABEL_BYTES_MAX = 4096, /* longer topics and types are not indexed */
    META_PAIRS_MAX = 200,   /* of the file's metadata, the first ones */
    META_BYTES_MAX = 256,   /* of a key, and of a value; longer ones are cut */
    DIGEST_BYTES = 32,
    LABELS_AT_ONCE = 4096,
};
struct labels {
    char **items; /* the kind as a digit, then the name */
    size_t n, room;
};

static void labels_done(struct labels *l) {
    for (size_t i = 0; i < l->n; i++) {
        free(l->items[i]);
    }
    free(l->items);
}
#define AUTO_LABELS __attribute__((cleanup(labels_done)))

static bool labels_add(struct labels *l, enum label_kind kind, const char *name, struct reel_error *err) {
    size_t size = strlen(name);
    if (size == 0 || size > LABEL_BYTES_MAX) {
        return true;
    }
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 64;
        char **items = realloc(l->items, room * sizeof *items);
        if (!items) {
            return reel_fail_memory(err);
        }
        l->items = items;
        l->room = room;
    }
    if (asprintf(&l->items[l->n], "%d%s", (int)kind, name) < 0) {
        return reel_fail_memory(err);
    }
    l->n++;
    return true;
}

/* At most so many bytes of it, not in the middle of a character; control characters as blanks. */
static void put_short(FILE *out, const char *text) {
    size_t size = strnlen(text, META_BYTES_MAX + 1);
    if (size > META_BYTES_MAX) {
        for (size = META_BYTES_MAX; size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80; size--) {
        }
    }
    for (size_t i = 0; i < size; i++) {
        fputc((unsigned char)text[i] < ' ' ? ' ' : text[i], out);
    }
}

/* As KEY:value. */
static bool labels_add_pair(struct labels *l, const struct reel_pair *pair, struct reel_error *err) {
    char name[2 * META_BYTES_MAX + 2] = "";
    FILE *out = fmemopen(name, sizeof name, "w");
    if (!out) {
        return reel_fail_memory(err);
    }
    put_short(out, pair->key);
    fputc(':', out);
    put_short(out, pair->value);
    fclose(out);
    return labels_add(l, KIND_META, name, err);
}

static bool labels_add_channels(struct labels *l, const struct reel_index *index, struct reel_error *err) {
    uint32_t n = index ? reel_index_info(index)->n_channels : 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct reel_channel *channel = reel_index_channel(index, i);
        for (uint32_t t = 0; t < channel->n_topics; t++) {
            if (!labels_add(l, KIND_TOPIC, channel->topics[t], err)) {
                return false;
            }
        }
        if (!labels_add(l, KIND_TYPE, channel->type, err)) {
            return false;
        }
    }
    return true;
}

static bool add_metadata(struct labels *l, const struct reel_index *index, struct reel_error *err) {
    const struct reel_pairs *pairs = index ? reel_index_metadata(index) : &(struct reel_pairs){0};
    for (size_t i = 0; i < pairs->count && i < META_PAIRS_MAX; i++) {
        if (!labels_add_pair(l, &pairs->items[i], err)) {
            return false;
        }
    }
    return true;
}

/* ---- sets */

static int labels_compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_once(struct labels *l) {
    size_t kept = 0;
    qsort(l->items, l->n, sizeof *l->items, labels_compare);
    for (size_t i = 0; i < l->n; i++) {
        if (kept > 0 && strcmp(l->items[kept - 1], l->items[i]) == 0) {
            free(l->items[i]);
        } else {
            l->items[kept++] = l->items[i];
        }
    }
    l->n = kept;
}

static void hash_labels(const struct labels *l, uint8_t out[DIGEST_SHA256]) {
    struct digest hash;
    digest_start(&hash, DIGEST_SHA256);
    for (size_t i = 0; i < l->n; i++) {
        digest_add(&hash, l->items[i], strlen(l->items[i]) + 1);
    }
    digest_end(&hash, out);
}

/* `statement` of a set's digest; *id 0: no row. */
static bool query_set(struct db_handle *h, const char *statement, const uint8_t *hash, int64_t *id,
                      struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    if (!s) {
        return false;
    }
    db_set_blob(s, ":digest", hash, DIGEST_BYTES);
    enum db_step step = db_next(s, err);
    *id = step == DB_ROW ? db_int(s, 0) : 0;
    return step != DB_FAILED;
}

/* `set` or `last`, as the statement names it. */
static bool run_labels(struct db_handle *h, const char *statement, int64_t number, const char *labels,
                       struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":set", number);
    db_set_int(s, ":last", number);
    db_set_text(s, ":labels", labels);
    return db_run(s, err);
}

/* Two statements, however many labels: the transaction holds up all other writers. */
static bool fill_some(struct db_handle *h, int64_t set, char *const *items, size_t n, struct reel_error *err) {
    json_auto_t *names = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(names, json_string(items[i])); /* what is no UTF-8 is not found */
    }
    AUTO_MEM char *labels = json_whole_text(names, JSON_COMPACT);
    return labels ? run_labels(h, "label_insert", set, labels, err) && run_labels(h, "label_link", set, labels, err)
                  : reel_fail_memory(err);
}

static bool fill_set(struct db_handle *h, int64_t set, const struct labels *l, struct reel_error *err) {
    bool good = true;
    for (size_t i = 0; i < l->n && good; i += LABELS_AT_ONCE) {
        good = fill_some(h, set, l->items + i, l->n - i < LABELS_AT_ONCE ? l->n - i : LABELS_AT_ONCE, err);
    }
    return good;
}

/* The set of these labels, which may be new; 0 for none. */
static bool find_set(struct db_handle *h, struct labels *l, int64_t *set, struct reel_error *err) {
    uint8_t hash[DIGEST_SHA256];
    *set = 0;
    if (l->n == 0) {
        return true;
    }
    sort_once(l);
    hash_labels(l, hash);
    if (!query_set(h, "label_set_find", hash, set, err)) {
        return false;
    }
    return *set || (query_set(h, "label_set_insert", hash, set, err) && fill_set(h, *set, l, err));
}

static bool set_labels(struct db_handle *h, int64_t row, int64_t channels, int64_t metadata, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "recording_set_labels", err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row);
    if (channels) { /* else NULL */
        db_set_int(s, ":channels", channels);
    }
    if (metadata) {
        db_set_int(s, ":metadata", metadata);
    }
    return db_run(s, err);
}

static bool insert_words(struct db_handle *h, const struct catalog_recording *r, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "search_insert", err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", r->row);
    db_set_text(s, ":name", r->name);
    db_set_text(s, ":collection", r->collection);
    return db_run(s, err);
}

/* Up to LABELS_AT_ONCE labels that have changed: those that are still there as a JSON array, and the last one's id. */
static bool read_changed(struct db_handle *h, json_t *names, int64_t *last, bool *more, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "labels_changed", err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":limit", LABELS_AT_ONCE);
    uint32_t n = 0;
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW) {
        *last = db_int(s, 0);
        n++;
        if (db_text(s, 1)[0]) {
            json_array_append_new(names, json_string(db_text(s, 1)));
        }
    }
    *more = n == LABELS_AT_ONCE;
    return step == DB_END;
}

bool labels_sweep(struct db_handle *h, struct reel_error *err) {
    for (bool more = true; more;) {
        int64_t last = 0;
        json_auto_t *names = json_array();
        if (!read_changed(h, names, &last, &more, err)) {
            return false;
        }
        AUTO_MEM char *labels = last > 0 ? json_whole_text(names, JSON_COMPACT) : NULL;
        if (last > 0 && (!labels || !run_labels(h, "label_search_delete", last, NULL, err) ||
                         !run_labels(h, "label_search_insert", 0, labels, err) ||
                         !run_labels(h, "labels_changed_clear", last, NULL, err))) {
            return labels ? false : reel_fail_memory(err);
        }
    }
    return true;
}

bool catalog_label(struct db_handle *h, const struct catalog_recording *r, const struct reel_index *index, bool fresh,
                   struct reel_error *err) {
    AUTO_LABELS struct labels channels = {0};
    AUTO_LABELS struct labels metadata = {0};
    int64_t channel_set, metadata_set;
    if (!labels_add_channels(&channels, index, err) || !add_metadata(&metadata, index, err) ||
        !find_set(h, &channels, &channel_set, err) || !find_set(h, &metadata, &metadata_set, err)) {
        return false;
    }
    bool good = (fresh && !channel_set && !metadata_set) || set_labels(h, r->row, channel_set, metadata_set, err);
    return good && (!fresh || insert_words(h, r, err)) && labels_sweep(h, err);
}
