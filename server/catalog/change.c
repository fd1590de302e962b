/* Changes of users' annotations, of one recording or many: in one transaction, with a new version for each recording
 * that changed. */
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"
#include "catalog/notes.h"
#include "json_whole.h"
#include "reel/time.h"

/* ---- JSON merge patches (RFC 7396); both are objects no deeper than a body may be */

static bool merge(json_t *target, const json_t *patch) {
    const char *key;
    json_t *value;
    bool good = true;
    json_object_foreach((json_t *)patch, key, value) {
        if (json_is_null(value)) {
            json_object_del(target, key);
        } else if (!json_is_object(value)) {
            good = json_object_set(target, key, value) == 0 && good;
        } else {
            json_t *inside = json_object_get(target, key);
            if (!json_is_object(inside)) {
                inside = json_object();
                good = json_object_set_new(target, key, inside) == 0 && good;
            }
            good = good && merge(inside, value);
        }
    }
    return good;
}

char *annotations_merge(const char *text, const char *patch, struct reel_error *err) {
    json_t *target = text && text[0] ? json_loads(text, 0, NULL) : json_object(),
           *change = json_loads(patch, JSON_DECODE_ANY, NULL);
    char *out = NULL;
    if (!json_is_object(change) && !json_is_null(change)) {
        reel_fail(err, REEL_ARGUMENT, "not a JSON object");
    } else {
        if (json_is_null(change)) {
            json_object_clear(target);
        }
        bool good = json_is_object(target) && merge(target, change);
        out = good ? json_object_size(target) > 0 ? json_whole_text(target, JSON_COMPACT) : strdup("") : NULL;
        if (!out) {
            reel_fail_memory(err);
        }
    }
    json_decref(target);
    json_decref(change);
    return out;
}

/* ---- steps */

bool annotations_run(struct db_handle *h, const char *statement, int64_t row, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row);
    db_set_int(s, ":now", reel_now_ns());
    return db_run(s, err);
}

bool annotations_touch(struct db_handle *h, int64_t row, struct reel_error *err) {
    return annotations_run(h, "recording_touch", row, err) && labels_sweep(h, err);
}

static bool run_named(struct db_handle *h, const char *statement, int64_t row, const char *collection, const char *name,
                      struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row);
    db_set_text(s, ":collection", collection);
    db_set_text(s, ":name", name);
    return db_run(s, err);
}

static bool rename_to(struct db_handle *h, const struct catalog_recording *r, const struct catalog_change *change,
                      bool *changed, struct reel_error *err) {
    const char *collection = change->collection ? change->collection : r->collection,
               *name = change->name ? change->name : r->name;
    struct reel_error none = {0};
    int64_t other;
    if (strcmp(collection, r->collection) == 0 && strcmp(name, r->name) == 0) {
        return true;
    }
    if (row_by_name(h, collection, name, &other, &none)) {
        return reel_fail(err, REEL_CONFLICT, "there is a recording \"%.200s\" in the collection \"%.200s\" already",
                         name, collection);
    }
    if (none.code != REEL_NOT_FOUND) {
        return reel_error_pass(err, &none);
    }
    *changed = true;
    return run_named(h, "recording_rename", r->row, collection, name, err) &&
           run_named(h, "search_rename", r->row, collection, name, err);
}

static bool change_same(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool write_annotations(struct db_handle *h, int64_t row, const struct catalog_annotations *annotations,
                              struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "recording_annotate", err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row);
    db_set_text(s, ":description", annotations->description);
    db_set_text(s, ":custom", annotations->custom);
    if (annotations->has_epoch) { /* else NULL */
        db_set_int(s, ":epoch_ns", annotations->epoch_ns);
    }
    return db_run(s, err);
}

/* Description, custom fields and epoch. */
static bool annotate(struct db_handle *h, const struct catalog_recording *r, const struct catalog_change *change,
                     bool *changed, struct reel_error *err) {
    struct catalog_annotations now = r->annotations; /* borrowed */
    AUTO_MEM char *custom = change->custom ? annotations_merge(r->annotations.custom, change->custom, err) : NULL;
    if (change->custom && (!custom || !catalog_text_check("custom", custom, CUSTOM_MAX, err))) {
        return custom ? false : reel_error_at(err, "custom");
    }
    enum reel_clock clock = change->sets_clock ? change->clock : r->clock;
    if (change->sets_epoch && change->has_epoch && clock == REEL_CLOCK_WALL && r->messages > 0) {
        return reel_fail(
            err, REEL_CONFLICT,
            "the times of this recording are on the calendar already; an epoch is for those of their own clock");
    }
    now.description = change->description ? (char *)change->description : now.description;
    now.custom = custom ? custom : now.custom;
    now.has_epoch = change->sets_epoch ? change->has_epoch : now.has_epoch;
    now.epoch_ns = change->sets_epoch && change->has_epoch ? change->epoch_ns : now.epoch_ns;
    bool as_before = change_same(now.description, r->annotations.description) &&
                     change_same(now.custom, r->annotations.custom) && now.has_epoch == r->annotations.has_epoch &&
                     (!now.has_epoch || now.epoch_ns == r->annotations.epoch_ns);
    *changed = *changed || !as_before;
    return as_before || write_annotations(h, r->row, &now, err);
}

static bool set_clock(struct db_handle *h, const struct catalog_recording *r, const struct catalog_change *change,
                      bool *changed, struct reel_error *err) {
    const struct catalog_annotations *now = &r->annotations;
    if (!change->sets_clock || (change->has_clock == now->has_clock && change->clock == r->clock)) {
        return true;
    }
    if (r->state != STATE_READY) { /* the scan that found the other one is done again */
        return reel_fail(err, REEL_CONFLICT, "its clock cannot be set while the recording is %s",
                         recording_state_name(r->state));
    }
    AUTO(db_done) struct db_statement *s = db_statement(h, "recording_set_clock", err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", r->row);
    db_set_int(s, ":clock", change->clock == REEL_CLOCK_RELATIVE);
    db_set_text(s, ":clock_note", change->clock_note);
    if (change->has_clock) { /* else NULL */
        db_set_int(s, ":set_clock", change->clock == REEL_CLOCK_RELATIVE);
    }
    *changed = true;
    return db_run(s, err);
}

static bool change_check(const struct catalog_change *change, struct reel_error *err) {
    for (uint32_t i = 0; i < change->n_tags; i++) {
        if (!catalog_tag_check(change->tags[i].key, change->tags[i].value, err)) {
            return false;
        }
    }
    if (change->sets_epoch && change->has_epoch && change->epoch_ns < 0) {
        return reel_fail(err, REEL_ARGUMENT, "an epoch is not before 1970");
    }
    return !change->description || catalog_text_check("description", change->description, DESCRIPTION_MAX, err);
}

bool annotations_find_row(struct db_handle *h, const char *id, int64_t *row, struct reel_error *err) {
    return row_by_hex(h, "row_by_id", ":id", id, "no recording has that id", row, err);
}

bool catalog_change(struct catalog *c, const char *id, const struct catalog_change *change, bool *changed,
                    struct reel_error *err) {
    *changed = false;
    if (!change_check(change, err)) {
        return false;
    }
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording r = {0};
    int64_t row;
    unsigned n_tags = 0;
    if (!h || !annotations_find_row(h, id, &row, err) || !catalog_load(h, row, &r, err)) {
        return false;
    }
    if (change->has_version && r.updated_ns != change->version) {
        return reel_fail(err, REEL_CHANGED, "the recording has changed since");
    }
    if (change->absent_tag && catalog_annotations_tag(&r.annotations, change->absent_tag)) {
        return reel_fail(err, REEL_CHANGED, "the recording has a tag of that key already");
    }
    if (!rename_to(h, &r, change, changed, err) || !annotate(h, &r, change, changed, err) ||
        !set_clock(h, &r, change, changed, err) ||
        !annotations_write_tags(h, row, change->tags, change->n_tags, change->clears_tags, &n_tags, err)) {
        return false;
    }
    *changed = *changed || n_tags > 0;
    return !*changed || (annotations_touch(h, row, err) && db_commit(h, err));
}

static bool change_is_there(struct db_handle *h, int64_t row, bool *there, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "rows_after", err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row - 1);
    db_set_int(s, ":limit", 1);
    enum db_step step = db_next(s, err);
    *there = step == DB_ROW && db_int(s, 0) == row;
    return step != DB_FAILED;
}

bool catalog_tag_many(struct catalog *c, struct catalog_tag_batch *batch, struct reel_error *err) {
    const struct catalog_change checked = {.tags = batch->tags, .n_tags = batch->n_tags};
    batch->changed = 0;
    if (batch->n_rows > TAG_BATCH_MAX) {
        return reel_fail(err, REEL_LIMIT, "at most %d recordings are tagged at a time", TAG_BATCH_MAX);
    }
    if (!change_check(&checked, err)) {
        return false;
    }
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    for (uint32_t i = 0; h && i < batch->n_rows; i++) {
        unsigned changes = 0;
        bool there;
        if (!change_is_there(h, batch->rows[i], &there, err)) {
            return false;
        }
        if (there && !annotations_write_tags(h, batch->rows[i], batch->tags, batch->n_tags, false, &changes, err)) {
            return false;
        }
        batch->changed += changes > 0;
        if (changes > 0 && !annotations_touch(h, batch->rows[i], err)) {
            return false;
        }
    }
    return h && db_commit(h, err);
}
