/* See retention_rows.h. Recordings come in row order, which is the order of creation, so a walk can stop and resume
 * anywhere. */
#include "catalog/retention_rows.h"

#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"

void retention_rows_done(struct retention_row *rows, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        free(rows[i].collection);
        free(rows[i].name);
        rows[i] = (struct retention_row){0};
    }
}

bool catalog_retention_collection(struct catalog *c, char **name, uint64_t *bytes, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "retention_collection", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_text(s, ":name", *name);
    enum db_step step = db_next(s, err);
    char *next = step == DB_ROW ? strdup(db_text(s, 0)) : NULL;
    if (step == DB_FAILED || (step == DB_ROW && !next)) {
        return step == DB_ROW && reel_fail_memory(err);
    }
    *bytes = step == DB_ROW ? db_size(s, 1) : 0;
    free(*name); /* bound until here */
    *name = next;
    return true;
}

static bool read_all(struct db_statement *s, bool trash, const char *collection, struct retention_row *out, uint32_t *n,
                     struct reel_error *err) {
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW) {
        struct retention_row *r = &out[*n];
        *r = (struct retention_row){.row = db_int(s, 0),
                                    .collection = strdup(trash ? db_text(s, 2) : collection),
                                    .name = strdup(db_text(s, 2 + trash)),
                                    .revision = (uint32_t)db_int(s, 3 + trash),
                                    .size = db_size(s, 4 + trash),
                                    .created_ns = db_int(s, 5 + trash),
                                    .kept = !trash && db_int(s, 6) != 0};
        db_hex(s, 1, r->id, sizeof r->id);
        ++*n;
        if (!r->collection || !r->name) {
            reel_fail_memory(err);
            step = DB_FAILED;
            break;
        }
    }
    if (step == DB_FAILED) {
        retention_rows_done(out, *n);
        *n = 0;
    }
    return step == DB_END;
}

bool catalog_retention_rows(struct catalog *c, const char *collection, const char *keep, int64_t row,
                            struct retention_row *out, uint32_t max, uint32_t *n, struct reel_error *err) {
    *n = 0;
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "retention_rows", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_text(s, ":collection", collection);
    db_set_text(s, ":keep", keep);
    db_set_int(s, ":row", row);
    db_set_int(s, ":limit", max);
    return read_all(s, false, collection, out, n, err);
}

bool catalog_retention_trash(struct catalog *c, int64_t before_ns, int64_t row, struct retention_row *out, uint32_t max,
                             uint32_t *n, struct reel_error *err) {
    *n = 0;
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "retention_trash", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":before", before_ns);
    db_set_int(s, ":row", row);
    db_set_int(s, ":limit", max);
    return read_all(s, true, NULL, out, n, err);
}

bool catalog_quota_used(struct catalog *c, const char *collection, uint64_t *recordings, uint64_t *bytes,
                        struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "quota_used", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_text(s, ":name", collection);
    enum db_step step = db_next(s, err);
    *recordings = step == DB_ROW ? db_size(s, 0) : 0;
    *bytes = step == DB_ROW ? db_size(s, 1) : 0;
    return step != DB_FAILED;
}
