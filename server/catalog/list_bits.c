/* Lists that are read off sets (list_sets.h): what matches every condition as bits, pages of it, numbers and facets. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text_stream.h"
#include "catalog/list_sets.h"

/* A row of a set; of a walk: list_plan.c; of a walk, for each text that is looked for in it. */
static const double READ_US = 0.2, WALKED_US = 1.5, TEXT_US = 2;

static uint32_t words_of(const struct list_asking *a) {
    return a->rows / 32 + 1;
}

/* The bits of a condition; *known: all that it needs is there. */
static bool evaluate(struct list_asking *a, uint32_t i, uint32_t *bits, bool *known, struct reel_error *err) {
    const struct condition *c = &a->query->conditions[i];
    uint32_t words = words_of(a);
    const bool maybe = a->maybe;
    a->maybe = maybe && !c->negated; /* what is negated must not find too much */
    bool group = c->kind == CONDITION_ALL || c->kind == CONDITION_ANY, good = true;
    memset(bits, c->kind == CONDITION_ALL ? 0xff : 0, words * sizeof *bits);
    struct reel_error why = {0};
    AUTO(set_free) struct set *leaf = group ? NULL : list_set_matches(a, i, &why);
    AUTO_MEM uint32_t *child = c->first ? malloc(words * sizeof *child) : NULL;
    if (why.code != REEL_OK || (c->first && !child)) {
        return why.code != REEL_OK ? reel_error_pass(err, &why) : reel_fail_memory(err);
    }
    *known = *known && (group || leaf);
    for (uint32_t k = c->first; k && good && *known; k = a->query->conditions[k].next) {
        good = evaluate(a, k, child, known, err);
        for (uint32_t w = 0; w < words; w++) {
            bits[w] = c->kind == CONDITION_ALL ? bits[w] & child[w] : bits[w] | child[w];
        }
    }
    for (uint32_t w = 0; w < words && *known; w++) {
        bits[w] = (leaf ? leaf->items[w] : bits[w]) ^ (c->negated ? UINT32_MAX : 0);
    }
    a->maybe = maybe;
    return good;
}

/* malloc'd; NULL without an error: something is not there. */
static uint32_t *find_matches(struct list_asking *a, struct reel_error *err) {
    AUTO_MEM uint32_t *bits = malloc(words_of(a) * sizeof *bits);
    bool known = true;
    if (!bits) {
        reel_fail_memory(err);
        return NULL;
    }
    return evaluate(a, 0, bits, &known, err) && known ? TAKE(bits) : NULL;
}

/* The same without the trash. */
static uint32_t *find_shown(struct list_asking *a, struct reel_error *err) {
    AUTO(set_free) struct set *shown = list_set_shown(a, err);
    AUTO_MEM uint32_t *bits = shown ? find_matches(a, err) : NULL;
    for (uint32_t w = 0; bits && w < words_of(a); w++) {
        bits[w] &= shown->items[w];
    }
    return TAKE(bits);
}

/* ---- a page */

static void take(struct list_cut *cut, uint64_t *skipped, int64_t row) {
    if ((*skipped)++ < cut->offset) {
        return;
    }
    cut->more = cut->n == cut->limit;
    cut->rows[cut->n] = row;
    cut->n += !cut->more;
}

static void cut_by_row(const struct list_asking *a, const uint32_t *bits, bool descending, struct list_cut *cut) {
    uint64_t skipped = 0;
    int64_t row = cut->after_row ? cut->after_row : descending ? (int64_t)a->rows + 1 : 0, step = descending ? -1 : 1;
    for (row += step; row > 0 && row <= a->rows && !cut->more; row += step) {
        if (bits[row / 32] == 0) { /* to the end of this word */
            row = descending ? row / 32 * 32 : row / 32 * 32 + 31;
        } else if (set_has(bits, (uint32_t)row)) {
            take(cut, &skipped, row);
        }
    }
}

/* Where the order goes on behind a row; false: it is not there any more. */
static bool find_begin(const struct set *order, bool descending, int64_t row, uint32_t *at) {
    *at = 0;
    for (uint32_t i = 0; row && i < order->n; i++) {
        if (order->items[i] == row) {
            *at = descending ? order->n - i : i + 1;
            return true;
        }
    }
    return !row;
}

static void cut_by_order(const struct set *order, const uint32_t *bits, bool descending, uint32_t at,
                         struct list_cut *cut) {
    for (uint64_t skipped = 0; at < order->n && !cut->more; at++) {
        uint32_t row = order->items[descending ? order->n - 1 - at : at];
        if (set_has(bits, row)) {
            take(cut, &skipped, row);
        }
    }
}

static bool cut_begin(struct list_cut *cut, struct reel_error *err) {
    cut->rows = calloc((size_t)cut->limit + 1, sizeof *cut->rows);
    cut->done = cut->rows;
    return cut->done || reel_fail_memory(err);
}

static bool cut_rows(struct list_asking *a, const struct list_plan *plan, struct list_cut *cut,
                     struct reel_error *err) {
    AUTO_MEM uint32_t *bits = find_shown(a, err);
    if (!bits || !cut_begin(cut, err)) {
        return false;
    }
    cut_by_row(a, bits, plan->descending, cut);
    return true;
}

static bool cut_sorted(struct list_asking *a, const struct list_plan *plan, struct list_cut *cut,
                       struct reel_error *err) {
    uint32_t at;
    AUTO(set_free) struct set *order = list_set_order(a, plan->column, err);
    AUTO_MEM uint32_t *bits = order ? find_matches(a, err) : NULL;
    if (!bits || !find_begin(order, plan->descending, cut->after_row, &at) || !cut_begin(cut, err)) {
        return false;
    }
    cut_by_order(order, bits, plan->descending, at, cut);
    return true;
}

/* Whether all rows of the page and the first one behind it match: then no other one before them was left out. */
static bool check_rows(struct list_asking *a, const struct list_cut *cut, bool *good, struct reel_error *err) {
    uint32_t n = cut->n + cut->more;
    AUTO_MEM char *rows = rows_json(cut->rows, n);
    AUTO_MEM char *sql = rows ? list_sql_sample(a->query) : NULL;
    AUTO(db_done) struct db_statement *s = sql ? db_compose(a->h, sql, err) : NULL;
    if (!s) {
        return sql ? false : reel_fail_memory(err);
    }
    list_bind(s, a->query);
    db_set_text(s, ":rows", rows);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    *good = db_int(s, 0) == n;
    return true;
}

static bool cut(struct list_asking *a, const struct list_plan *plan, struct list_cut *out, struct reel_error *err) {
    bool good = true;
    struct reel_error why = {0};
    (strcmp(plan->column, "row") == 0 ? cut_rows : cut_sorted)(a, plan, out, &why);
    if (out->done && a->unsure && why.code == REEL_OK) {
        check_rows(a, out, &good, &why);
    }
    if (!good || why.code != REEL_OK) {
        free(out->rows);
        *out = (struct list_cut){.after_row = out->after_row, .offset = out->offset, .limit = out->limit};
    }
    a->maybe = a->unsure = false;
    return why.code != REEL_OK ? reel_error_pass(err, &why) : good || cut(a, plan, out, err);
}

/* Instead of a walk. Names that have a text lie together in the order of names, so that a walk may read far. */
static bool bits_pay(const struct list_query *query, const struct list_plan *plan) {
    unsigned texts = 0;
    for (uint32_t i = 1; i < query->n; i++) {
        texts += query->conditions[i].kind == CONDITION_TEXT;
    }
    double walk = (double)plan->window * (WALKED_US + TEXT_US * texts);
    return (texts > 0 && strcmp(plan->column, "name") == 0) || list_sets_rows(query) * READ_US <= walk;
}

bool list_sets_cut(struct list_sets *sets, struct db_handle *h, const struct list_query *query,
                   const struct list_plan *plan, struct list_cut *out, struct reel_error *err) {
    struct list_asking a;
    struct reel_error why = {0};
    if (list_asking_begin(&a, sets, h, query, &why)) {
        bool always = list_sets_are_always(sets), all = plan->way == LIST_GATHER || always;
        bool few = plan->counting && out->limit <= LIST_TOTAL_MAX; /* counted faster than all are found */
        a.order = all;
        a.bits = always || (!few && (all || bits_pay(query, plan)));
        a.maybe = out->offset == 0 && !plan->counting;
        cut(&a, plan, out, &why);
    }
    list_asking_done(&a);
    return why.code == REEL_OK || reel_error_pass(err, &why);
}

/* ---- how many have a value */

enum { VALUE_MAX = 4000000 };

/* Of the newest `max`; counts[value]. */
static void count_values(const struct list_asking *a, const uint32_t *bits, const struct set *values, uint32_t max,
                         struct list_found *out, uint32_t *counts) {
    for (uint32_t row = a->rows; row > 0 && !out->more; row--) {
        if (bits[row / 32] == 0) { /* to the end of this word */
            row = row / 32 * 32 > 0 ? row / 32 * 32 : 1;
        } else if (set_has(bits, row)) {
            out->more = out->n == max;
            out->n += !out->more;
            counts[values->items[row]] += !out->more;
        }
    }
}

static char *counts_json(const uint32_t *counts, uint32_t n) {
    char *text = NULL;
    size_t size;
    bool first = true;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    fputc('[', out);
    for (uint32_t value = 1; value < n; value++) {
        if (counts[value]) {
            fprintf(out, first ? "%lld" : ",%lld", (long long)((int64_t)value << 32 | counts[value]));
            first = false;
        }
    }
    fputc(']', out);
    return text_stream_close(out, &text) ? text : NULL;
}

static bool count(struct list_asking *a, const struct list_values *values, uint32_t max, struct list_found *out,
                  struct reel_error *err) {
    AUTO(set_free) struct set *of = list_set_values(a, values, err);
    AUTO_MEM uint32_t *bits = of ? find_shown(a, err) : NULL;
    uint32_t n = 1;
    for (uint32_t i = 0; bits && i < of->n; i++) {
        n = of->items[i] >= n ? of->items[i] + 1 : n;
    }
    if (!bits || n > VALUE_MAX) {
        return true;
    }
    AUTO_MEM uint32_t *counts = calloc(n, sizeof *counts);
    if (!counts) {
        return reel_fail_memory(err);
    }
    count_values(a, bits, of, max, out, counts);
    out->counted = true;
    out->rows = counts_json(counts, n);
    return out->rows || reel_fail_memory(err);
}

bool list_sets_count(struct list_sets *sets, struct db_handle *h, const struct list_query *query,
                     const struct list_values *values, uint32_t max, struct list_found *out, struct reel_error *err) {
    struct list_asking a;
    struct reel_error why = {0};
    if (list_asking_begin(&a, sets, h, query, &why)) {
        a.order = a.bits = true;
        count(&a, values, max, out, &why);
    }
    list_asking_done(&a);
    return why.code == REEL_OK || reel_error_pass(err, &why);
}
