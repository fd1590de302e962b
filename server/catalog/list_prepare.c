/* Keeps the orders of long lists ready in memory (list_sets.h), so that whoever first asks for a sort need not wait for
 * it: of a million recordings an order takes 0.2 s to read, in PostgreSQL 0.5 s. */
#include "base/cleanup.h"
#include "catalog/columns.h"
#include "catalog/list_sets.h"

enum {
    LONG = 100000,                          /* recordings; fewer are put in order in some ms */
    BYTES_MAX = LIST_SETS_BYTES_MAX / 4 * 3 /* of the orders: the rest is for what questions need besides */
};

static bool read_rows(struct db_handle *h, int64_t *rows, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_compose(h, "SELECT coalesce(max(row), 0) FROM recordings", err);
    bool good = s && db_next(s, err) == DB_ROW;
    *rows = good ? db_int(s, 0) : 0;
    return good;
}

bool catalog_lists_are_long(struct catalog *c) {
    struct reel_error ignored;
    int64_t rows;
    AUTO(db_end) struct db_handle *h = db_read_once(c->db, &ignored);
    return h && read_rows(h, &rows, &ignored) && rows >= LONG && rows <= LIST_SETS_ROWS_MAX;
}

/* Makes one order, or brings it up to date. *room: bytes that are left for others. */
static bool prepare(struct catalog *c, const char *column, uint64_t *room, struct reel_error *err) {
    struct list_query query = {.conditions = NULL};
    struct list_plan plan = {.column = "row"};
    struct list_asking a = {.sets = c->lists};
    struct reel_error why = {0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    bool good = h && list_query(h, &(struct catalog_query){0}, &query, err) && list_choose(h, &query, 0, 1, &plan, err);
    uint64_t bytes = good ? (uint64_t)query.costs.all * sizeof(uint32_t) : 0;
    if (good && bytes <= *room && list_asking_begin(&a, c->lists, h, &query, &why)) {
        a.order = true;
        *room -= bytes;
        set_free(list_set_order(&a, column, &why));
        if (why.code == REEL_OK) {
            set_free(list_set_shown(&a, &why));
        }
    }
    list_asking_done(&a);
    list_query_done(&query);
    return good && (why.code == REEL_OK || reel_error_pass(err, &why));
}

bool catalog_lists_prepare(struct catalog *c, struct reel_error *err) {
    uint64_t room = BYTES_MAX;
    for (const struct column *column = recording_columns; column->name; column++) {
        bool sorts = column->sort && strcmp(column->name, "row") != 0; /* rows are in the order of their numbers */
        if (sorts && !prepare(c, column->name, &room, err)) {
            return false;
        }
    }
    return true;
}
