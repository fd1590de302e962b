/* Tags as rows, and which are in use. A key or value is one row, however many recordings have it; triggers count them.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"
#include "catalog/notes.h"

/* ---- of recordings */

static bool run_with(struct db_handle *h, const char *statement, int64_t row, const struct catalog_tag *tag,
                     unsigned *changes, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row);
    if (tag) {
        db_set_text(s, ":key", tag->key);
        db_set_text(s, ":value", tag->value);
    }
    if (!db_run(s, err)) {
        return false;
    }
    *changes += db_changes(s);
    return true;
}

static bool are_selective(struct db_handle *h, int64_t row, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "tags_count", err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    return db_int(s, 0) <= TAGS_MAX || reel_fail(err, REEL_LIMIT, "a recording has at most %d tags", TAGS_MAX);
}

bool annotations_write_tags(struct db_handle *h, int64_t row, const struct catalog_tag *tags, uint32_t n, bool clear,
                            unsigned *changes, struct reel_error *err) {
    unsigned created = 0;
    if (clear && !run_with(h, "tags_clear", row, NULL, changes, err)) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct catalog_tag *tag = &tags[i];
        bool good = tag->value ? run_with(h, "tag_key_insert", row, tag, &created, err) &&
                                     run_with(h, "tag_value_insert", row, tag, &created, err) &&
                                     run_with(h, "tag_set", row, tag, changes, err)
                               : run_with(h, "tag_unset", row, tag, changes, err);
        if (!good) {
            return false;
        }
    }
    return n == 0 || are_selective(h, row, err);
}

/* ---- in use */

void catalog_counts_done(struct catalog_counts *counts) {
    for (uint32_t i = 0; i < counts->n; i++) {
        free(counts->items[i].name);
    }
    free(counts->items);
    *counts = (struct catalog_counts){0};
}

static bool read_counts(struct db_statement *s, uint32_t limit, struct catalog_counts *out, struct reel_error *err) {
    if (!(out->items = calloc(limit, sizeof *out->items))) {
        return reel_fail_memory(err);
    }
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW && out->n < limit) {
        struct catalog_count *item = &out->items[out->n];
        if (!(item->name = strdup(db_text(s, 0)))) {
            return reel_fail_memory(err);
        }
        item->recordings = db_size(s, 1);
        out->n++;
    }
    out->more = step == DB_ROW;
    return step != DB_FAILED;
}

static bool catalog_tags_count(struct catalog *c, const char *statement, const char *key, const char *prefix,
                               const char *after, uint32_t limit, struct catalog_counts *out, struct reel_error *err) {
    *out = (struct catalog_counts){0};
    prefix = prefix ? prefix : "";
    limit = annotations_page_limit(limit);
    AUTO_MEM char *end = malloc(strlen(prefix) + 5);
    AUTO(db_end) struct db_handle *h = end ? db_read(c->db, err) : NULL;
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, statement, err) : NULL;
    if (!s) {
        return end ? false : reel_fail_memory(err);
    }
    strcpy(stpcpy(end, prefix), "\xf4\x8f\xbf\xbf"); /* the last character that there is */
    db_set_text(s, ":key", key);
    db_set_text(s, ":from", prefix);
    db_set_text(s, ":end", end);
    db_set_text(s, ":after", after);
    db_set_int(s, ":first", after == NULL);
    db_set_int(s, ":limit", (int64_t)limit + 1);
    if (!read_counts(s, limit, out, err)) {
        catalog_counts_done(out);
        return false;
    }
    return true;
}

bool catalog_tag_keys(struct catalog *c, const char *prefix, const char *after, uint32_t limit,
                      struct catalog_counts *out, struct reel_error *err) {
    return catalog_tags_count(c, "tag_keys_list", NULL, prefix, after, limit, out, err);
}

bool catalog_tag_values(struct catalog *c, const char *key, const char *prefix, const char *after, uint32_t limit,
                        struct catalog_counts *out, struct reel_error *err) {
    return catalog_tags_count(c, "tag_values_list", key, prefix, after, limit, out, err);
}
