/* The catalog as a whole: every recording in turn, and statistics. No statement is open while a caller's function runs.
 */
#include <string.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "catalog/catalog_internal.h"
#include "catalog/sweep.h"

enum { VISIT_ROWS = 256 };

struct batch {
    uint32_t n;
    int64_t after; /* its last row */
    struct catalog_recording items[VISIT_ROWS];
};

/* The next recordings after a row, all read before the first is visited, so no statement is open during a visit. */
static bool read_batch(struct catalog *c, const char *statement, enum recording_state state, struct batch *b,
                       struct reel_error *err) {
    int64_t rows[VISIT_ROWS];
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, statement, err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", b->after);
    db_set_int(s, ":state", state);
    db_set_int(s, ":limit", VISIT_ROWS);
    enum db_step step;
    for (b->n = 0; (step = db_next(s, err)) == DB_ROW;) {
        rows[b->n++] = db_int(s, 0);
    }
    b->after = b->n > 0 ? rows[b->n - 1] : b->after;
    memset(b->items, 0, sizeof b->items);
    return step == DB_END && catalog_load_rows(h, rows, b->n, b->items, err);
}

/* False: the visitor has had enough, or *good: the work was cancelled; NULL: it has seen none. One that was deleted
 * meanwhile has no row. */
static bool visit_batch(struct batch *b, bool (*visit)(void *context, const struct catalog_recording *r), void *context,
                        bool *good, struct reel_error *err) {
    bool more = visit;
    for (uint32_t i = 0; i < b->n; i++) {
        more = more && (*good = cancel_check(err)) && (b->items[i].row == 0 || visit(context, &b->items[i]));
        catalog_recording_done(&b->items[i]);
    }
    return more;
}

static bool each_each(struct catalog *c, const char *statement, enum recording_state state, int64_t after,
                      bool (*visit)(void *context, const struct catalog_recording *r), void *context,
                      struct reel_error *err) {
    AUTO_MEM struct batch *b = calloc(1, sizeof *b);
    if (!b) {
        return reel_fail_memory(err);
    }
    b->after = after;
    bool good = true, more = true;
    while (good && more) {
        good = read_batch(c, statement, state, b, err);
        more = visit_batch(b, good ? visit : NULL, context, &good, err) && b->n == VISIT_ROWS;
    }
    return good;
}

bool catalog_each(struct catalog *c, bool (*visit)(void *context, const struct catalog_recording *r), void *context,
                  struct reel_error *err) {
    return each_each(c, "rows_after", STATE_READY, 0, visit, context, err);
}

bool catalog_each_after(struct catalog *c, int64_t row, bool (*visit)(void *context, const struct catalog_recording *r),
                        void *context, struct reel_error *err) {
    return each_each(c, "rows_after", STATE_READY, row, visit, context, err);
}

bool catalog_each_in_state(struct catalog *c, enum recording_state state,
                           bool (*visit)(void *context, const struct catalog_recording *r), void *context,
                           struct reel_error *err) {
    return each_each(c, "rows_in_state", state, 0, visit, context, err);
}

bool catalog_each_row(struct catalog *c, const int64_t *rows, uint32_t n,
                      bool (*visit)(void *context, const struct catalog_recording *r), void *context,
                      struct reel_error *err) {
    AUTO_MEM struct batch *b = calloc(1, sizeof *b);
    bool good = b || reel_fail_memory(err), more = true;
    for (uint32_t i = 0; good && more && i < n; i += VISIT_ROWS) {
        b->n = n - i < VISIT_ROWS ? n - i : VISIT_ROWS;
        memset(b->items, 0, sizeof b->items);
        {
            AUTO(db_end) struct db_handle *h = db_read(c->db, err);
            good = h && catalog_load_rows(h, &rows[i], b->n, b->items, err);
        }
        more = visit_batch(b, good ? visit : NULL, context, &good, err);
    }
    return good;
}

bool catalog_statistics(struct catalog *c, struct catalog_statistics *out, struct reel_error *err) {
    *out = (struct catalog_statistics){0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "sums_by_state", err) : NULL;
    enum db_step step = s ? db_next(s, err) : DB_FAILED;
    for (; step == DB_ROW; step = db_next(s, err)) {
        int64_t state = db_int(s, 0);
        if (state >= STATE_SCANNING && state <= STATE_ANNOUNCED) {
            out->recordings[state] = db_size(s, 1);
            out->bytes += db_size(s, 2);
            out->messages += db_size(s, 3);
        }
    }
    return step == DB_END;
}

bool catalog_ready(struct catalog *c) {
    struct reel_error err;
    AUTO(db_end) struct db_handle *h = db_read_reserved(c->db, &err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "schema_version", &err) : NULL;
    return s && db_next(s, &err) == DB_ROW;
}
