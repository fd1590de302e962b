/* See changes.h. A change is filtered by the collection in its own row: whoever could see the collection when it
 * happened sees the change. */
#include "catalog/changes.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "catalog/catalog_internal.h"
#include "reel/time.h"
#include "stream/stream.h"

void catalog_on_commit(struct catalog *c, void (*on_commit)(void *context), void *context) {
    db_on_commit(c->db, on_commit, context);
}

static bool matches(const char *const *globs, const char *text) {
    bool found = !globs;
    for (; !found && *globs; globs++) {
        found = reel_glob_match(*globs, text);
    }
    return found;
}

/* A change of the server as a whole belongs to no collection and matches no glob. */
static bool lets_through(const struct change_filter *f, struct db_statement *s) {
    const char *collection = db_text(s, 4);
    return matches(f->kinds, db_text(s, 2)) &&
           (!f->collections || (*collection && matches(f->collections, collection)));
}

static bool changes_append(const struct change_filter *f, struct db_statement *s, json_t *items,
                           struct reel_error *err) {
    char id[RECORDING_ID_TEXT], time[REEL_TIME_TEXT];
    db_hex(s, 3, id, sizeof id);
    reel_time_rfc3339(db_int(s, 1), time);
    bool is_job = strncmp(db_text(s, 2), "job.", 4) == 0;
    json_t *about = is_job ? json_pack("{s:s, s:o}", "id", id, "href", json_sprintf("%s/api/v1/jobs/%s", f->prefix, id))
                           : json_string(id);
    json_t *o = json_pack("{s:I, s:s, s:s, s:o, s:s, s:s}", "seq", (json_int_t)db_int(s, 0), "time", time, "kind",
                          db_text(s, 2), is_job ? "job" : "recording", about, "collection", db_text(s, 4), "name",
                          db_text(s, 5));
    if (o && *db_text(s, 6)) {
        json_t *detail = json_object();
        json_object_set_new(detail, db_text(s, 6), json_string(db_text(s, 7)));
        if (!db_is_null(s, 8)) {
            json_object_set_new(detail, "value", json_string(db_text(s, 8)));
        }
        json_object_set_new(o, "detail", detail);
    }
    return json_array_append_new(items, o) == 0 || reel_fail_memory(err);
}

bool catalog_changes(struct catalog *c, const struct change_filter *filter, int64_t *seq, uint32_t max, json_t *items,
                     struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "changes_after", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":seq", *seq);
    db_set_int(s, ":limit", CHANGES_READ_MAX);
    enum db_step step = DB_END;
    for (uint32_t n = 0; n < max && (step = db_next(s, err)) == DB_ROW;) {
        if (lets_through(filter, s)) {
            if (!changes_append(filter, s, items, err)) {
                return false;
            }
            n++;
        }
        *seq = db_int(s, 0);
    }
    return step != DB_FAILED;
}

bool catalog_change_job(struct db_handle *h, const struct change_job *job, struct reel_error *err) {
    char kind[32];
    AUTO(db_done) struct db_statement *s = db_statement(h, "change_job", err);
    if (!s) {
        return false;
    }
    snprintf(kind, sizeof kind, "job.%s", job->state);
    db_set_text(s, ":kind", kind);
    db_set_hex(s, ":id", job->id);
    db_set_text(s, ":collection", job->collection);
    db_set_text(s, ":subject", job->subject);
    db_set_text(s, ":work", job->kind);
    return db_run(s, err);
}

bool catalog_changes_ends(struct catalog *c, int64_t *first, int64_t *last, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "changes_ends", err) : NULL;
    if (!s || db_next(s, err) != DB_ROW) {
        return false;
    }
    *first = db_int(s, 0);
    *last = db_int(s, 1);
    return true;
}
