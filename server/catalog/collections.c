/* Collections: their totals and descriptions; and which manifests are out of date. */
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"
#include "catalog/notes.h"
#include "json_whole.h"

void catalog_collection_done(struct catalog_collection *collection) {
    free(collection->name);
    free(collection->description);
    *collection = (struct catalog_collection){0};
}

void catalog_collections_done(struct catalog_collections *collections) {
    for (uint32_t i = 0; i < collections->n; i++) {
        catalog_collection_done(&collections->items[i]);
    }
    free(collections->items);
    *collections = (struct catalog_collections){0};
}

static bool read_collection(struct db_statement *s, struct catalog_collection *out, struct reel_error *err) {
    *out = (struct catalog_collection){.recordings = db_size(s, 1),
                                       .bytes = db_size(s, 2),
                                       .messages = db_size(s, 3),
                                       .duration_ms = db_size(s, 4),
                                       .on_calendar = !db_is_null(s, 6),
                                       .first_ns = db_int(s, 6),
                                       .last_ns = db_int(s, 7)};
    out->name = strdup(db_text(s, 0));
    out->description = strdup(db_text(s, 5));
    if (!out->name || !out->description) {
        catalog_collection_done(out);
        return reel_fail_memory(err);
    }
    return true;
}

bool catalog_collections_list(struct catalog *c, const char *after, uint32_t limit, struct catalog_collections *out,
                              struct reel_error *err) {
    *out = (struct catalog_collections){0};
    limit = annotations_page_limit(limit);
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "collections_list", err) : NULL;
    if (!s || !(out->items = calloc(limit, sizeof *out->items))) {
        return s ? reel_fail_memory(err) : false;
    }
    db_set_text(s, ":after", after);
    db_set_int(s, ":limit", (int64_t)limit + 1);
    bool good = true;
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW && out->n < limit && good) {
        good = read_collection(s, &out->items[out->n], err);
        out->n += good;
    }
    out->more = step == DB_ROW;
    good = good && step != DB_FAILED;
    if (!good) {
        catalog_collections_done(out);
    }
    return good;
}

static bool collections_fail_unknown(struct reel_error *err) {
    return reel_fail(err, REEL_NOT_FOUND, "there is no collection of that name");
}

bool catalog_collection_get(struct catalog *c, const char *name, struct catalog_collection *out,
                            struct reel_error *err) {
    *out = (struct catalog_collection){0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "collection_by_name", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_text(s, ":name", name);
    enum db_step step = db_next(s, err);
    return step == DB_ROW ? read_collection(s, out, err) : step == DB_END ? collections_fail_unknown(err) : false;
}

bool catalog_collection_newest(struct catalog *c, const char *name, int64_t *ns, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "collection_newest", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_text(s, ":name", name);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    *ns = db_is_null(s, 0) ? 0 : db_int(s, 0);
    return true;
}

bool collections_describe(struct db_handle *h, const char *name, const char *description, struct reel_error *err) {
    if (!catalog_text_check("description", description, COLLECTION_DESCRIPTION_MAX, err)) {
        return false;
    }
    AUTO(db_done)
    struct db_statement *s = db_statement(h, description[0] ? "collection_describe" : "collection_drop", err);
    if (!s) {
        return false;
    }
    db_set_text(s, ":name", name);
    db_set_text(s, ":description", description);
    enum db_step step = db_next(s, err);
    return step == DB_ROW || (step == DB_END && (!description[0] || collections_fail_unknown(err)));
}

bool catalog_collection_describe(struct catalog *c, const char *name, const char *description, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && collections_describe(h, name, description, err) && db_commit(h, err);
}

char *catalog_collection_descriptions(struct catalog *c, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "collection_descriptions", err) : NULL;
    json_t *all = json_object();
    enum db_step step = s ? db_next(s, err) : DB_FAILED;
    for (; step == DB_ROW; step = db_next(s, err)) {
        json_object_set_new(all, db_text(s, 0), json_string(db_text(s, 1)));
    }
    char *text = step == DB_END ? json_whole_text(all, JSON_INDENT(1)) : NULL;
    json_decref(all);
    if (step == DB_END && !text) {
        reel_fail_memory(err);
    }
    return text;
}

/* ---- manifests */

bool catalog_manifest_due(struct catalog *c, int64_t *after, char id[33], struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "manifest_due", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":after", *after);
    enum db_step step = db_next(s, err);
    if (step != DB_ROW) {
        return step == DB_END ? reel_fail(err, REEL_NOT_FOUND, "no manifest is due") : false;
    }
    *after = db_int(s, 0);
    db_hex(s, 1, id, RECORDING_ID_TEXT);
    return true;
}

static bool forget_due(struct db_handle *h, const struct catalog_written *one, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "manifest_written", err);
    if (!s) {
        return false;
    }
    db_set_hex(s, ":id", one->id);
    db_set_int(s, ":version", one->updated_ns);
    return db_run(s, err);
}

bool catalog_manifests_written(struct catalog *c, const struct catalog_written *written, uint32_t n,
                               struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    bool good = h;
    for (uint32_t i = 0; i < n && good; i++) {
        good = forget_due(h, &written[i], err);
    }
    return good && db_commit(h, err);
}
