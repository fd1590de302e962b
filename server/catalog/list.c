/* The list: sorts, pages and totals. list.h describes the two ways; a page is exact and complete by either. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/number.h"
#include "catalog/columns.h"
#include "catalog/list.h"

enum { PAGE_MAX = 1000, CURSOR_BYTES_MAX = 1024 };
#define BEHIND_ALL                                                                                                     \
    "\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf" /* in the order of names: U+10FFFF is no        \
                                                                        * character                                    \
                                                                        */

struct bound { /* a place in the order of the sort: behind it, or up to it */
    int64_t row, number;
    const char *text; /* instead of the number */
};

struct list { /* one question being answered */
    const struct catalog_query *q;
    struct list_query query;
    struct list_plan plan;
    const char *sort; /* as written in the cursor */
    char *cursor;     /* decoded; the bound points into it */
    bool continued;   /* it is not the first page */
    struct bound after, edge;
    char *edge_text;
    struct list_sets *sets; /* NULL: none are kept */
};

struct found { /* rows of a page, and the key of its last one */
    int64_t *rows;
    uint32_t n;
    bool more;
    char *key;
};

static void found_done(struct found *f) {
    free(f->rows);
    free(f->key);
    *f = (struct found){0};
}
#define AUTO_FOUND __attribute__((cleanup(found_done)))

static bool fail_sort(struct reel_error *err) {
    char names[256] = "";
    size_t n = 0;
    for (const struct column *c = recording_columns; c->name; c++) {
        n += c->sort ? (size_t)snprintf(names + n, sizeof names - n, "%s%s", n > 0 ? ", " : "", c->sort) : 0;
    }
    return reel_fail(err, REEL_ARGUMENT, "sort is one of %s; \"-\" in front reverses the order", names);
}

static bool parse_sort(struct list *l, struct reel_error *err) {
    l->sort = l->q->sort && l->q->sort[0] ? l->q->sort : "-created";
    l->plan.descending = l->sort[0] == '-';
    for (const struct column *c = recording_columns; c->name; c++) {
        if (c->sort && strcmp(c->sort, l->sort + l->plan.descending) == 0) {
            l->plan.column = c->name;
            return true;
        }
    }
    return fail_sort(err);
}

/* A cursor is sort, row and key of the last item, a line each, as hex. */
static char *list_write_cursor(const struct list *l, int64_t row, const char *key) {
    char text[CURSOR_BYTES_MAX];
    int size = snprintf(text, sizeof text, "%s\n%lld\n%s", l->sort, (long long)row, key);
    char *out = malloc(2 * sizeof text + 1);
    if (out) {
        hex_write(text, size < (int)sizeof text ? (size_t)size : sizeof text - 1, out);
    }
    return out;
}

static bool refuse_cursor(struct reel_error *err) {
    return reel_fail(err, REEL_ARGUMENT, "cursor is not one of ours; take it from the page before");
}

static bool list_read_cursor(struct list *l, struct reel_error *err) {
    const char *hex = l->q->cursor;
    if (!hex) {
        return true;
    }
    size_t size = strlen(hex) / 2;
    bool ok = size < CURSOR_BYTES_MAX && strlen(hex) % 2 == 0;
    if (ok && !(l->cursor = calloc(1, size + 1))) {
        return reel_fail_memory(err);
    }
    ok = ok && hex_read(hex, size, l->cursor);
    char *row = ok ? strchr(l->cursor, '\n') : NULL, *key = row ? strchr(row + 1, '\n') : NULL;
    if (!key) {
        return refuse_cursor(err);
    }
    *row = *key = '\0';
    if (strcmp(l->cursor, l->sort) != 0) {
        return reel_fail(err, REEL_ARGUMENT, "cursor belongs to another sort");
    }
    bool by_name = strcmp(l->sort + (l->sort[0] == '-'), "name") == 0;
    l->continued = true;
    l->after.text = by_name ? key + 1 : NULL;
    return (number_i64(row + 1, &l->after.row) && (by_name || number_i64(key + 1, &l->after.number))) ||
           refuse_cursor(err);
}

/* ---- where a page begins and ends in the order of its sort */

static bool list_by_name(const struct list *l) {
    return strcmp(l->plan.column, "name") == 0;
}

/* [*min, *max] of the sort's column that all matches lie in. What overlaps an interval begins no longer before it than
 * the widest recording is wide. */
static bool list_find_range(struct db_handle *h, const struct list *l, int64_t *min, int64_t *max,
                            struct reel_error *err) {
    const struct list_query *query = &l->query;
    bool by_start = strcmp(l->plan.column, "calendar_start_ns") == 0,
         by_end = strcmp(l->plan.column, "calendar_end_ns") == 0;
    *min = INT64_MIN;
    *max = INT64_MAX;
    for (uint32_t i = query->conditions[0].first; i; i = query->conditions[i].next) {
        const struct condition *c = &query->conditions[i];
        int64_t low = c->min, high = c->max, width = 0;
        bool span = c->kind == CONDITION_SPAN && (by_start || by_end);
        if (c->negated || (!span && (c->kind != CONDITION_RANGE || strcmp(c->column, l->plan.column) != 0))) {
            continue;
        }
        if (span && !list_widest(h, &width, err)) {
            return false;
        }
        if (by_start) {
            low = low < INT64_MIN + width ? INT64_MIN : low - width;
        } else if (by_end) {
            high = high > INT64_MAX - width ? INT64_MAX : high + width;
        }
        *min = low > *min ? low : *min;
        *max = high < *max ? high : *max;
    }
    return true;
}

/* Where the page begins, unless a cursor says so, and where the order ends. */
static bool find_bounds(struct db_handle *h, struct list *l, struct reel_error *err) {
    int64_t min, max;
    bool down = l->plan.descending;
    if (!list_find_range(h, l, &min, &max, err)) {
        return false;
    }
    if (!l->continued) {
        l->after = (struct bound){
            .row = down ? INT64_MAX : INT64_MIN, .number = down ? max : min, .text = down ? BEHIND_ALL : ""};
    }
    l->edge =
        (struct bound){.row = down ? INT64_MIN : INT64_MAX, .number = down ? min : max, .text = down ? "" : BEHIND_ALL};
    l->plan.bounded = l->edge.number != l->edge.row; /* there is an end */
    return true;
}

static void bind_bound(struct db_statement *s, const struct list *l, const char *key, const char *row,
                       const struct bound *bound) {
    db_set_int(s, row, bound->row);
    if (list_by_name(l)) {
        db_set_text(s, key, bound->text);
    } else {
        db_set_int(s, key, bound->number);
    }
}

static struct db_statement *compose(struct db_handle *h, const struct list *l, char *sql, struct reel_error *err) {
    AUTO_MEM char *text = sql;
    AUTO(db_done) struct db_statement *s = text ? db_compose(h, text, err) : NULL;
    if (!s) {
        if (!text) {
            reel_fail_memory(err);
        }
        return NULL;
    }
    list_bind(s, &l->query);
    bind_bound(s, l, ":key", ":row", &l->after);
    bind_bound(s, l, ":edge_key", ":edge_row", &l->edge);
    db_set_int(s, ":window", l->plan.window);
    return TAKE(s);
}

/* Ends a walk with its window; *ends: there is more behind it. */
static bool find_edge(struct db_handle *h, struct list *l, bool *ends, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = compose(h, l, list_sql_edge(&l->plan), err);
    enum db_step step = s ? db_next(s, err) : DB_FAILED;
    *ends = step == DB_ROW;
    if (step != DB_ROW) {
        return step == DB_END;
    }
    l->plan.bounded = true;
    l->edge.row = db_int(s, 0);
    l->edge.number = list_by_name(l) ? 0 : db_int(s, 1);
    free(l->edge_text);
    l->edge_text = list_by_name(l) ? strdup(db_text(s, 1)) : NULL;
    l->edge.text = l->edge_text;
    return l->edge_text || !list_by_name(l) || reel_fail_memory(err);
}

/* ---- answering */

static uint32_t page_size(const struct catalog_query *q) {
    return q->limit < 1 ? 1 : q->limit > PAGE_MAX ? PAGE_MAX : q->limit;
}

static bool list_read_rows(struct db_handle *h, const struct list *l, uint32_t limit, uint64_t offset,
                           struct found *out, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = compose(h, l, list_sql(&l->query, &l->plan), err);
    if (!s || !(out->rows = calloc(limit, sizeof *out->rows))) {
        return s ? reel_fail_memory(err) : false;
    }
    db_set_int(s, ":limit", (int64_t)limit + 1);
    db_set_size(s, ":offset", offset);
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW && out->n < limit) {
        out->rows[out->n++] = db_int(s, 0);
        if (out->n == limit && !l->plan.counting && !(out->key = strdup(db_text(s, 1)))) {
            return reel_fail_memory(err);
        }
    }
    out->more = step == DB_ROW;
    return step != DB_FAILED;
}

/* The sort's column of a row; *key malloc'd, NULL: there is no such row. */
static bool read_key(struct db_handle *h, const struct list *l, int64_t row, char **key, struct reel_error *err) {
    char sql[96];
    *key = NULL;
    snprintf(sql, sizeof sql, "SELECT %s FROM recordings WHERE row = :row", l->plan.column);
    AUTO(db_done) struct db_statement *s = db_compose(h, sql, err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row);
    enum db_step step = db_next(s, err);
    return step == DB_ROW ? (*key = strdup(db_text(s, 0))) || reel_fail_memory(err) : step == DB_END;
}

/* Sets know where a row is now: *is: that is where the page before has ended. */
static bool is_where_it_was(struct db_handle *h, const struct list *l, bool *is, struct reel_error *err) {
    AUTO_MEM char *key = NULL;
    int64_t number = 0;
    *is = !l->continued || l->plan.counting;
    if (*is) {
        return true;
    }
    bool good = read_key(h, l, l->after.row, &key, err);
    *is = key &&
          (l->after.text ? strcmp(key, l->after.text) == 0 : number_i64(key, &number) && number == l->after.number);
    return good;
}

/* From sets in memory; *done: it is. */
static bool find_in_sets(struct db_handle *h, struct list *l, uint32_t limit, struct found *out, bool *done,
                         struct reel_error *err) {
    struct list_cut cut = {.limit = limit};
    bool is = false;
    *done = false;
    if (!l->sets || !list_sets_pay(l->sets, &l->query, &l->plan)) {
        return true;
    }
    if (!is_where_it_was(h, l, &is, err)) {
        return false;
    }
    if (!l->plan.counting) {
        cut.after_row = l->continued ? l->after.row : 0;
        cut.offset = l->q->offset;
    }
    bool good = !is || list_sets_cut(l->sets, h, &l->query, &l->plan, &cut, err);
    *done = good && cut.done;
    if (*done) {
        *out = (struct found){.rows = cut.rows, .n = cut.n, .more = cut.more};
    } else {
        free(cut.rows);
    }
    return good && (!*done || !out->more || l->plan.counting || read_key(h, l, out->rows[out->n - 1], &out->key, err));
}

/* The rows of the page. What a window leaves is read again: by a gather, at last without a window. */
static bool find_page(struct db_handle *h, struct list *l, struct found *out, struct reel_error *err) {
    uint32_t limit = page_size(l->q);
    for (;;) {
        bool ends = l->plan.way == LIST_GATHER && l->plan.window, done;
        if (!find_in_sets(h, l, limit, out, &done, err) || done) {
            return done;
        }
        if (l->plan.way == LIST_WALK && l->plan.window && !find_edge(h, l, &ends, err)) {
            return false;
        }
        int64_t begun_ns = clock_ns();
        if (!list_read_rows(h, l, limit, l->q->offset, out, err)) {
            return false;
        }
        if (l->sets) {
            list_sets_took(l->sets, &l->plan, clock_ns() - begun_ns);
        }
        if (out->more || !ends) {
            return true;
        }
        found_done(out);
        list_choose_again(l->q->offset, limit, &l->plan);
    }
}

static bool list_read_page(struct db_handle *h, struct list *l, struct catalog_page *out, struct reel_error *err) {
    AUTO_FOUND struct found found = {0};
    if (!list_choose(h, &l->query, l->q->offset, (uint64_t)page_size(l->q) + 1, &l->plan, err) ||
        !find_bounds(h, l, err) || !find_page(h, l, &found, err)) {
        return false;
    }
    out->items = calloc(found.n ? found.n : 1, sizeof *out->items);
    out->n_items = out->items ? found.n : 0;
    if (!out->items || !catalog_load_rows(h, found.rows, found.n, out->items, err)) {
        return out->items ? false : reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < out->n_items; i++) {
        annotations_shorten(&out->items[i].annotations);
    }
    out->next = found.more ? list_write_cursor(l, found.rows[found.n - 1], found.key) : NULL;
    return out->next || !found.more || reel_fail_memory(err);
}

/* Up to `max` rows that match, the newest first when there are more. */
static bool find_rows(struct db_handle *h, struct list *l, uint32_t max, struct found *out, struct reel_error *err) {
    bool done;
    return list_choose_any(h, &l->query, max, &l->plan, err) && find_in_sets(h, l, max, out, &done, err) &&
           (done || list_read_rows(h, l, max, 0, out, err));
}

/* All there are are counted already; others as far as LIST_TOTAL_MAX. */
static bool list_read_total(struct db_handle *h, struct list *l, struct catalog_page *out, struct reel_error *err) {
    AUTO_FOUND struct found found = {0};
    if (!l->query.conditions[0].first) {
        AUTO(db_done) struct db_statement *s = db_statement(h, "recordings_total", err);
        if (!s || db_next(s, err) != DB_ROW) {
            return false;
        }
        out->total = db_size(s, 0);
        return true;
    }
    if (!find_rows(h, l, LIST_TOTAL_MAX, &found, err)) {
        return false;
    }
    out->total = found.n;
    out->total_capped = found.more;
    return true;
}

static void list_done(struct list *l) {
    list_query_done(&l->query);
    free(l->cursor);
    free(l->edge_text);
}

bool catalog_list(struct catalog *c, const struct catalog_query *q, struct catalog_page *out, struct reel_error *err) {
    *out = (struct catalog_page){0};
    struct list l = {.q = q, .sets = c->lists};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    bool ok = h && parse_sort(&l, err) && list_read_cursor(&l, err) && list_query(h, q, &l.query, err) &&
              list_read_page(h, &l, out, err) && (!q->count || list_read_total(h, &l, out, err));
    if (!ok) {
        catalog_page_done(out);
    }
    list_done(&l);
    return ok;
}

static bool count_in_sets(struct db_handle *h, struct list *l, const struct list_values *values, uint32_t max,
                          struct list_found *out, struct reel_error *err) {
    return !values || !l->sets || !list_choose_any(h, &l->query, max, &l->plan, err) ||
           !list_sets_pay(l->sets, &l->query, &l->plan) ||
           list_sets_count(l->sets, h, &l->query, values, max, out, err);
}

static bool read_found(struct db_handle *h, struct list *l, uint32_t max, struct list_found *out,
                       struct reel_error *err) {
    AUTO_FOUND struct found found = {0};
    if (!find_rows(h, l, max, &found, err)) {
        return false;
    }
    *out = (struct list_found){.rows = rows_json(found.rows, found.n), .n = found.n, .more = found.more};
    return out->rows || reel_fail_memory(err);
}

bool list_rows(struct catalog *c, struct db_handle *h, const struct catalog_query *q, const struct list_values *values,
               uint32_t max, struct list_found *out, struct reel_error *err) {
    struct list l = {.q = q, .sets = c->lists};
    *out = (struct list_found){0};
    bool good = list_query(h, q, &l.query, err) && count_in_sets(h, &l, values, max, out, err) &&
                (out->rows || read_found(h, &l, max, out, err));
    list_done(&l);
    return good;
}

void list_found_done(struct list_found *found) {
    free(found->rows);
    *found = (struct list_found){0};
}

static bool visit_spans(struct db_handle *h, struct list *l, uint32_t max,
                        void (*visit)(void *, int64_t start_ns, int64_t end_ns), void *context, uint32_t *n, bool *more,
                        struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = compose(h, l, list_sql(&l->query, &l->plan), err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":limit", (int64_t)max + 1);
    db_set_size(s, ":offset", 0);
    enum db_step step;
    for (*n = 0; (step = db_next(s, err)) == DB_ROW && *n < max; ++*n) {
        visit(context, db_int(s, 1), db_int(s, 2));
    }
    *more = step == DB_ROW;
    return step != DB_FAILED;
}

bool list_spans(struct db_handle *h, const struct catalog_query *q, uint32_t max,
                void (*visit)(void *, int64_t start_ns, int64_t end_ns), void *context, uint32_t *n, bool *more,
                struct reel_error *err) {
    struct list l = {.q = q};
    bool good = list_query(h, q, &l.query, err) && list_choose_any(h, &l.query, max, &l.plan, err);
    l.plan.spans = true;
    good = good && visit_spans(h, &l, max, visit, context, n, more, err);
    list_done(&l);
    return good;
}

void catalog_page_done(struct catalog_page *page) {
    for (uint32_t i = 0; i < page->n_items; i++) {
        catalog_recording_done(&page->items[i]);
    }
    free(page->items);
    free(page->next);
    *page = (struct catalog_page){0};
}
