/* The catalog as a whole: every recording in turn, and statistics. No statement is open while a caller's function runs. */
#include "catalog/catalog_internal.h"
#include "wire/cleanup.h"

enum { VISIT_ROWS = 256 };

/* The next rows after `row`, all read before the first is visited, so no statement is open during a visit. */
static bool next_rows(struct db_handle *h, int64_t after, int64_t rows[VISIT_ROWS], uint32_t *count, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "rows_after", err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", after);
    db_set_int(s, ":limit", VISIT_ROWS);
    enum db_step step;
    for (*count = 0; (step = db_next(s, err)) == DB_ROW;) {
        rows[(*count)++] = db_int(s, 0);
    }
    return step == DB_END;
}

static bool load_row(struct catalog *c, int64_t row, struct catalog_recording *out, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    return h && catalog_load(h, row, out, err);
}

static bool rows_after(struct catalog *c, int64_t after, int64_t rows[VISIT_ROWS], uint32_t *count, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    return h && next_rows(h, after, rows, count, err);
}

bool catalog_each(struct catalog *c, bool (*visit)(void *context, const struct catalog_recording *r), void *context,
                  struct reel_error *err) {
    int64_t rows[VISIT_ROWS], after = 0;
    uint32_t count;
    do {
        if (!rows_after(c, after, rows, &count, err)) {
            return false;
        }
        for (uint32_t i = 0; i < count; i++) {
            struct catalog_recording r;
            struct reel_error gone = {0};
            after = rows[i];
            if (!load_row(c, rows[i], &r, &gone)) {
                if (gone.code == REEL_NOT_FOUND) { /* purged since */
                    continue;
                }
                if (err) {
                    reel_error_pass(err, &gone);
                }
                return false;
            }
            bool more = visit(context, &r);
            catalog_recording_done(&r);
            if (!more) {
                return true;
            }
        }
    } while (count == VISIT_ROWS);
    return true;
}

bool catalog_statistics(struct catalog *c, struct catalog_statistics *out, struct reel_error *err) {
    *out = (struct catalog_statistics){0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "statistics", err) : NULL;
    enum db_step step = s ? db_next(s, err) : DB_FAILED;
    for (; step == DB_ROW; step = db_next(s, err)) {
        int64_t state = db_int(s, 0);
        if (state >= STATE_SCANNING && state <= STATE_RECORDING) {
            out->recordings[state] = db_size(s, 1);
            out->bytes += db_size(s, 2);
            out->messages += db_size(s, 3);
        }
    }
    return step == DB_END;
}

bool catalog_ready(struct catalog *c) {
    struct reel_error err;
    AUTO(db_end) struct db_handle *h = db_read(c->db, &err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "ready", &err) : NULL;
    return s && db_next(s, &err) == DB_ROW;
}
