/* The list: sorts and pages. A page costs about the same whatever the size of the catalog. It walks the index of its sort from where the
 * last page ended; when a filter is selective, its index drives instead (list_plan.c). A walk that finds too little in its window is
 * abandoned: the newest recordings that match are sorted, and the page says so. */
#include <stdio.h>
#include <string.h>

#include "catalog/columns.h"
#include "catalog/list.h"
#include "wire/cleanup.h"
#include "wire/hex.h"
#include "wire/number.h"

enum { PAGE_MAX = 1000, CURSOR_BYTES_MAX = 1024, OFFSET_LOOKED_MAX = 5000 };

struct list { /* one question being answered */
    const struct catalog_query *q;
    struct list_query query;
    const char *sort;                /* as written in the cursor */
    char *cursor;                    /* decoded; the key points into it */
    int64_t after_row, after_number; /* the number: the key, where it is one */
    const char *after_key;           /* NULL on the first page */
    char *found;                     /* LIST_FOUND: a JSON array of rows */
};

static bool fail_sort(struct reel_error *err) {
    char names[256] = "";
    size_t n = 0;
    for (const struct column *c = recording_columns; c->name; c++) {
        n += c->sort ? (size_t)snprintf(names + n, sizeof names - n, "%s%s", n > 0 ? ", " : "", c->sort) : 0;
    }
    return reel_fail(err, REEL_ARGUMENT, "sort is one of %s; \"-\" in front reverses the order", names);
}

static bool parse_sort(struct list *l, const char **column, bool *descending, struct reel_error *err) {
    l->sort = l->q->sort && l->q->sort[0] ? l->q->sort : "-created";
    *descending = l->sort[0] == '-';
    for (const struct column *c = recording_columns; c->name; c++) {
        if (c->sort && strcmp(c->sort, l->sort + *descending) == 0) {
            *column = c->name;
            return true;
        }
    }
    return fail_sort(err);
}

/* A cursor is sort, row and key of the last item, a line each, as hex. */
static char *write_cursor(const struct list *l, int64_t row, const char *key) {
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

static bool read_cursor(struct list *l, struct reel_error *err) {
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
    l->after_key = key + 1;
    return (number_i64(row + 1, &l->after_row) && (by_name || number_i64(l->after_key, &l->after_number))) || refuse_cursor(err);
}

/* ---- answering */

static bool in_order(const struct list *l) {
    return strcmp(l->query.plan.column, "row") == 0;
}

static void bind_start(struct db_statement *s, const struct list *l) {
    bool down = l->query.plan.descending;
    int64_t edge = down ? INT64_MAX : INT64_MIN;
    db_set_int(s, ":row", l->after_key ? l->after_row : edge);
    if (strcmp(l->query.plan.column, "name") != 0) {
        int64_t first = !l->query.placed ? edge : down ? l->query.ceiling_ns : l->query.floor_ns;
        db_set_int(s, ":key", l->after_key ? l->after_number : first);
    } else if (l->after_key || !down) {
        db_set_text(s, ":key", l->after_key ? l->after_key : "");
    } else {
        db_set_blob(s, ":key", "", 0); /* SQLite sorts every blob behind every text */
    }
}

/* How many rows of links a page reads. */
static int64_t page_window(const struct list *l) {
    return LIST_LINKS_WINDOW + (int64_t)(l->q->offset < INT32_MAX ? l->q->offset : INT32_MAX);
}

/* `window`: how many rows of links are read. */
static struct db_statement *compose(struct db_handle *h, struct list *l, const struct list_plan *plan, int64_t window,
                                    struct reel_error *err) {
    AUTO_MEM char *sql = list_sql(plan);
    AUTO(db_done) struct db_statement *s = sql ? db_compose(h, sql, err) : NULL;
    if (!s) {
        if (!sql) {
            reel_fail_memory(err);
        }
        return NULL;
    }
    bind_start(s, l);
    list_bind(s, &l->query);
    db_set_size(s, ":offset", l->q->offset);
    db_set_text(s, ":found", l->found);
    db_set_int(s, ":window", window);
    return TAKE(s);
}

/* The row behind the next `skip` that labels or tags lead to, whatever the other filters. */
static bool find_edge(struct db_handle *h, struct list *l, int64_t skip, int64_t *row, bool *there, struct reel_error *err) {
    struct list_plan plan = l->query.plan;
    plan.filters = LIST_BIT(FILTER_TRASH);
    plan.links = &l->query.links[plan.driving_link];
    plan.n_links = 1;
    plan.driving_link = 0;
    AUTO(db_done) struct db_statement *s = compose(h, l, &plan, skip + 1, err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":offset", skip);
    db_set_int(s, ":limit", 1);
    enum db_step step = db_next(s, err);
    *there = step == DB_ROW;
    *row = *there ? db_int(s, 0) : 0;
    return step != DB_FAILED;
}

static uint32_t page_size(const struct catalog_query *q) {
    return q->limit < 1 ? 1 : q->limit > PAGE_MAX ? PAGE_MAX : q->limit;
}

static bool read_page(struct db_handle *h, struct list *l, const struct list_plan *plan, struct catalog_page *out, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = compose(h, l, plan, page_window(l), err);
    uint32_t limit = page_size(l->q);
    out->items = calloc(limit, sizeof *out->items);
    if (!s || !out->items) {
        return s ? reel_fail_memory(err) : false;
    }
    db_set_int(s, ":limit", (int64_t)limit + 1);
    AUTO_MEM char *key = NULL; /* of the last item on the page */
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW && out->n_items < limit) {
        int64_t row = db_int(s, 0);
        free(key);
        key = strdup(db_text(s, 1));
        if (!key || !catalog_load_plain(h, row, &out->items[out->n_items], err)) {
            return key ? false : reel_fail_memory(err);
        }
        annotations_shorten(&out->items[out->n_items++].annotations);
    }
    if (step == DB_FAILED || !annotations_load_tags(h, out->items, out->n_items, err)) {
        return false;
    }
    if (step == DB_ROW) { /* there is one more */
        out->next = write_cursor(l, out->items[out->n_items - 1].row, key);
        return out->next || reel_fail_memory(err);
    }
    return step == DB_END;
}

/* Its rows, up to `max`, as a JSON array; *more: there are others. */
static bool write_rows(struct db_statement *s, uint32_t max, char **rows, uint32_t *n, bool *more, struct reel_error *err) {
    size_t size;
    free(*rows);
    *rows = NULL;
    FILE *out = open_memstream(rows, &size);
    if (!out) {
        return reel_fail_memory(err);
    }
    db_set_int(s, ":limit", (int64_t)max + 1);
    enum db_step step;
    fputc('[', out);
    for (*n = 0; (step = db_next(s, err)) == DB_ROW && *n < max; ++*n) {
        fprintf(out, *n == 0 ? "%lld" : ",%lld", (long long)db_int(s, 0));
    }
    fputc(']', out);
    fclose(out);
    *more = step == DB_ROW;
    return step != DB_FAILED && (*rows || reel_fail_memory(err));
}

/* The newest of those that are found, put in order: where the others stand among them is not known. */
static bool sort_newest(struct db_handle *h, struct list *l, struct catalog_page *out, struct reel_error *err) {
    const struct list_plan plan = {
        .driver = LIST_FOUND, .column = l->query.plan.column, .descending = l->query.plan.descending, .filters = LIST_BIT(FILTER_TRASH)};
    uint32_t n;
    bool more;
    catalog_page_done(out);
    free(l->found);
    if (!list_rows(h, l->q, LIST_WINDOW, &l->found, &n, &more, err)) {
        return false;
    }
    out->sorted_newest = more ? n : 0;
    return read_page(h, l, &plan, out, err);
}

/* A page that is not full because the window ended: the next one begins after it. */
static bool end_early(struct db_handle *h, struct list *l, struct catalog_page *out, struct reel_error *err) {
    int64_t row;
    bool there;
    if (!find_edge(h, l, page_window(l) - 1, &row, &there, err)) {
        return false;
    }
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)row);
    out->next = there ? write_cursor(l, row, key) : NULL;
    return !there || out->next || reel_fail_memory(err);
}

/* The next rows in the order of the sort, LIST_WINDOW for each LIST_PAGE of the page; *full: there are more. Of the filters only
 * those count that are ends of that order. */
static bool find_window(struct db_handle *h, struct list *l, bool *full, struct reel_error *err) {
    const struct list_plan *f = &l->query.plan;
    bool by_start = strcmp(f->column, "calendar_start_ns") == 0;
    uint32_t ends = by_start ? LIST_BIT(FILTER_END) | LIST_BIT(FILTER_FLOOR) : LIST_BIT(FILTER_START) | LIST_BIT(FILTER_CEILING), n;
    const struct list_plan plan = {
        .driver = LIST_WALK, .column = f->column, .descending = f->descending, .filters = l->query.placed ? f->filters & ends : 0};
    AUTO(db_done) struct db_statement *s = compose(h, l, &plan, 0, err);
    uint64_t last = l->q->offset < OFFSET_LOOKED_MAX ? l->q->offset + page_size(l->q) : OFFSET_LOOKED_MAX;
    if (!s) {
        return false;
    }
    db_set_int(s, ":offset", 0); /* that is of what the filters leave of them */
    return write_rows(s, (uint32_t)(LIST_WINDOW * ((last + LIST_PAGE - 1) / LIST_PAGE)), &l->found, &n, full, err);
}

/* A walk in the order of a sort reads only a window when the filters may leave little of it. */
static bool answer(struct db_handle *h, struct list *l, struct catalog_page *out, struct reel_error *err) {
    struct list_plan *f = &l->query.plan;
    bool walks = f->driver == LIST_WALK && !in_order(l) && (f->filters || f->n_links > 0), full = false;
    if (walks && (f->filters & LIST_BIT(FILTER_WORDS))) {
        return sort_newest(h, l, out, err); /* a lookup of each row in the full-text index would cost too much */
    }
    if (walks) {
        f->driver = LIST_FOUND;
        if (!find_window(h, l, &full, err)) {
            return false;
        }
    }
    if (!read_page(h, l, f, out, err)) {
        return false;
    }
    if (out->next) {
        return true;
    }
    return full ? sort_newest(h, l, out, err) : f->driver != LIST_STREAM_LINKS || end_early(h, l, out, err);
}

/* All there are are counted already; others are as far as LIST_COUNTED. */
static bool read_total(struct db_handle *h, struct list *l, struct catalog_page *out, struct reel_error *err) {
    struct list_plan *f = &l->query.plan;
    bool all = f->filters == 0 && f->n_links == 0;
    *f = (struct list_plan){
        .column = "row", .descending = true, .counting = true, .filters = f->filters, .links = f->links, .n_links = f->n_links};
    f->filters &= ~(LIST_BIT(FILTER_FLOOR) | LIST_BIT(FILTER_CEILING));
    if (!all && !list_choose_plan(h, &l->query, err)) {
        return false;
    }
    AUTO(db_done) struct db_statement *s = all ? db_statement(h, "total", err) : compose(h, l, f, 0, err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":counted", LIST_COUNTED + 1);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    out->total = db_size(s, 0);
    out->total_capped = !all && out->total > LIST_COUNTED;
    out->total -= out->total_capped;
    return true;
}

/* Parses the query and plans it. */
static bool open_list(struct db_handle *h, const struct catalog_query *q, struct list *l, struct reel_error *err) {
    const char *column = NULL;
    bool descending = false;
    *l = (struct list){.q = q};
    if (!parse_sort(l, &column, &descending, err) || !read_cursor(l, err) || !list_query(h, q, &l->query, err)) {
        return false;
    }
    l->query.plan.column = column;
    l->query.plan.descending = descending;
    return list_choose_plan(h, &l->query, err);
}

static void list_done(struct list *l) {
    list_query_done(&l->query);
    free(l->cursor);
    free(l->found);
}

bool catalog_list(struct catalog *c, const struct catalog_query *q, struct catalog_page *out, struct reel_error *err) {
    *out = (struct catalog_page){0};
    struct list l = {0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    bool ok = h && open_list(h, q, &l, err) && answer(h, &l, out, err) && (!q->count || read_total(h, &l, out, err));
    if (!ok) {
        catalog_page_done(out);
    }
    list_done(&l);
    return ok;
}

bool list_rows(struct db_handle *h, const struct catalog_query *q, uint32_t max, char **rows, uint32_t *n, bool *more,
               struct reel_error *err) {
    struct catalog_query plain = *q;
    struct list l;
    *rows = NULL;
    plain.sort = plain.cursor = NULL;
    plain.offset = 0;
    bool good = open_list(h, &plain, &l, err);
    {
        AUTO(db_done) struct db_statement *s = good ? compose(h, &l, &l.query.plan, (int64_t)max + 1, err) : NULL;
        good = s && write_rows(s, max, rows, n, more, err);
    }
    if (good && !*more && l.query.plan.driver == LIST_STREAM_LINKS) {
        int64_t row;
        good = find_edge(h, &l, max, &row, more, err); /* there are others after the window */
    }
    if (!good) {
        free(*rows);
        *rows = NULL;
    }
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
