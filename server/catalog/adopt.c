/* Recordings restored from their manifests. Annotations and their authors come back as they were; only the version of
 * the row is new. */
#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"
#include "catalog/columns.h"
#include "catalog/maintenance.h"
#include "reel/time.h"

enum { AT_ONCE = 200 }; /* recordings of one transaction */

struct catalog_adoption {
    struct catalog *c;
    struct db_handle *h; /* NULL between two transactions */
    unsigned pending;
};

struct catalog_adoption *catalog_adopt_begin(struct catalog *c, struct reel_error *err) {
    struct catalog_adoption *a = calloc(1, sizeof *a);
    if (!a) {
        reel_fail_memory(err);
        return NULL;
    }
    a->c = c;
    return a;
}

static bool adopt_insert_row(struct db_handle *h, const struct catalog_adopted *one, struct reel_error *err) {
    struct catalog_recording *r = one->r;
    AUTO(db_done) struct db_statement *s = db_statement(h, "recording_adopt", err);
    if (!s) {
        return false;
    }
    columns_bind(s, r);
    db_set_int(s, ":trashed", one->trashed);
    db_set_int(s, ":now", reel_now_ns());
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    r->row = db_int(s, 0);
    r->revision = (uint32_t)db_int(s, 1);
    return true;
}

static bool insert_annotations(struct db_handle *h, int64_t row, const struct catalog_adopted *one,
                               struct reel_error *err) {
    int64_t note_row;
    for (uint32_t i = 0; i < one->notes->n; i++) {
        if (!note_write(h, row, &one->notes->items[i], &note_row, err)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < one->events->n; i++) {
        if (!event_write(h, "event_insert", row, &one->events->items[i], err)) {
            return false;
        }
    }
    return true;
}

/* Its state or revision may be another one now than its manifest has. */
static bool mark_due(struct db_handle *h, const char *id, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "manifest_set_due", err);
    if (!s) {
        return false;
    }
    db_set_hex(s, ":id", id);
    return db_run(s, err);
}

/* The id is in the catalog already: this came twice. */
static bool adopt_is_there(struct db_handle *h, const char *id, bool *there, struct reel_error *err) {
    struct reel_error none = {0};
    int64_t row;
    *there = row_by_hex(h, "row_by_id", ":id", id, "", &row, &none);
    if (!*there && none.code != REEL_NOT_FOUND && err) {
        reel_error_pass(err, &none);
    }
    return *there || none.code == REEL_NOT_FOUND;
}

bool catalog_adopt(struct catalog_adoption *a, struct catalog_adopted *one, struct reel_error *err) {
    bool there;
    unsigned n_tags = 0;
    struct catalog_recording *r = one->r;
    one->added = false;
    if ((!a->h && !(a->h = db_write(a->c->db, err))) || !adopt_is_there(a->h, r->id, &there, err)) {
        return false;
    }
    if (there) {
        return true;
    }
    one->added =
        adopt_insert_row(a->h, one, err) && row_insert_parts(a->h, r, err) &&
        annotations_write_tags(a->h, r->row, r->annotations.tags, r->annotations.n_tags, false, &n_tags, err) &&
        catalog_label(a->h, r, one->index, true, err) && insert_annotations(a->h, r->row, one, err) &&
        labels_sweep(a->h, err) && mark_due(a->h, r->id, err);
    if (one->added && ++a->pending == AT_ONCE) {
        a->pending = 0;
        one->added = db_commit(a->h, err);
        db_end(TAKE(a->h));
    }
    return one->added;
}

bool catalog_adopt_end(struct catalog_adoption *a, bool keep, struct reel_error *err) {
    if (!a) {
        return true;
    }
    bool good = !a->h || !keep || db_commit(a->h, err);
    db_end(a->h);
    free(a);
    return good;
}
