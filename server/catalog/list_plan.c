/* Chooses how a list is answered: by estimates of how many recordings match, which are counts that are kept or counted
 * as far as LIST_ESTIMATE_MAX. A wrong estimate costs time, never a recording. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/list.h"

enum {
    TEXT_COUNTED_MAX = 2000, /* matches of trigrams are slow to count */
    SAMPLED_ROWS = 200,
    SAMPLED_ENOUGH = 5, /* matches among them to rely on */
    WINDOW_MIN = 1000,
};
/* What a row costs, measured at a million recordings: one that a walk reads and tests; one that a gather reads from an
 * index, and one that it reads from the table to sort or test it. In microseconds. */
static const double WALKED_US = 1.5, COLLECTED_US = 0.3, GATHERED_US = 2.0;

static struct condition *at(const struct list_query *query, uint32_t i) {
    return &query->conditions[i];
}

/* ---- estimates */

static bool query_number(struct db_handle *h, const struct list_query *query, char *sql, int64_t limit, int64_t *out,
                         struct reel_error *err) {
    AUTO_MEM char *text = sql;
    AUTO(db_done) struct db_statement *s = text ? db_compose(h, text, err) : NULL;
    if (!s) {
        return text ? false : reel_fail_memory(err);
    }
    list_bind(s, query);
    db_set_int(s, ":limit", limit);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    *out = db_int(s, 0);
    return true;
}

bool list_widest(struct db_handle *h, int64_t *width_ns, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "width_max", err);
    if (!s || db_next(s, err) != DB_ROW) {
        return false;
    }
    *width_ns = db_int(s, 0);
    return true;
}

bool list_can_gather(const struct list_query *query, uint32_t i) {
    const struct condition *c = at(query, i);
    bool shown_only = c->kind == CONDITION_RANGE || c->kind == CONDITION_SPAN; /* their indexes do not have the trash */
    if (c->negated || (shown_only && query->has_trash)) {
        return false;
    }
    if (c->kind != CONDITION_ALL && c->kind != CONDITION_ANY) {
        return true;
    }
    bool all = true, any = false;
    for (uint32_t k = c->first; k; k = at(query, k)->next) {
        bool can = list_can_gather(query, k);
        all = all && can;
        any = any || can;
    }
    return c->kind == CONDITION_ALL ? any : all;
}

uint32_t list_driver(const struct list_query *query, uint32_t i) {
    uint32_t best = 0;
    for (uint32_t k = at(query, i)->first; k; k = at(query, k)->next) {
        if (list_can_gather(query, k) && (!best || at(query, k)->estimate < at(query, best)->estimate)) {
            best = k;
        }
    }
    return best;
}

/* Of each condition, its children first; of `all` recordings. */
static bool estimate(struct db_handle *h, struct list_query *query, uint32_t i, int64_t all, struct reel_error *err) {
    struct condition *c = at(query, i);
    double part = 1, sum = 0;
    if (c->kind != CONDITION_ALL && c->kind != CONDITION_ANY) {
        int64_t max = c->kind == CONDITION_TEXT ? TEXT_COUNTED_MAX : LIST_ESTIMATE_MAX;
        if (!query_number(h, query, list_sql_count(query, i), max, &c->estimate, err)) {
            return false;
        }
        c->capped = c->estimate >= max && !list_is_kept(c);
    }
    for (uint32_t k = c->first; k; k = at(query, k)->next) {
        if (!estimate(h, query, k, all, err)) {
            return false;
        }
        double n = (double)at(query, k)->estimate;
        part *= n < (double)all ? n / (double)all : 1;
        sum += n;
        c->capped = c->capped || at(query, k)->capped;
    }
    c->estimate = c->kind == CONDITION_ALL   ? (int64_t)(part * (double)all)
                  : c->kind == CONDITION_ANY ? (int64_t)sum
                                             : c->estimate;
    c->estimate = c->estimate < all ? c->estimate : all;
    c->estimate = c->negated ? all - c->estimate : c->estimate;
    return true;
}

/* What part of the recordings matches everything, by one of each of SAMPLED_ROWS stretches of rows; which one is as
 * good as random, so that no rhythm of the recordings is met. *known: enough of them match. */
static bool list_plan_sample(struct db_handle *h, const struct list_query *query, int64_t highest, double *part,
                             bool *known, struct reel_error *err) {
    char rows[SAMPLED_ROWS * 22 + 2] = "[";
    size_t n = 1;
    int64_t stretch = highest / SAMPLED_ROWS + 1;
    for (int64_t i = 0; i < SAMPLED_ROWS; i++) {
        int64_t row = 1 + i * stretch + (int64_t)((uint64_t)i * 2654435761u % 1000003u) % stretch;
        n += (size_t)snprintf(rows + n, sizeof rows - n, i ? ",%lld" : "%lld", (long long)row);
    }
    snprintf(rows + n, sizeof rows - n, "]");
    AUTO_MEM char *sql = list_sql_sample(query);
    AUTO(db_done) struct db_statement *s = sql ? db_compose(h, sql, err) : NULL;
    if (!s) {
        return sql ? false : reel_fail_memory(err);
    }
    list_bind(s, query);
    db_set_text(s, ":rows", rows);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    *known = db_int(s, 0) >= SAMPLED_ENOUGH;
    *part = ((double)db_int(s, 0) + 0.3) / ((double)db_int(s, 1) + 1);
    return true;
}

/* ---- plans */

static bool find_costs(struct db_handle *h, struct list_query *query, struct reel_error *err) {
    struct list_costs *out = &query->costs;
    if (out->found) {
        return true;
    }
    *out = (struct list_costs){.found = true, .part = 1, .known = true};
    if (!query_number(h, query, strdup("SELECT coalesce(max(row), 0) FROM recordings"), 0, &out->all, err)) {
        return false;
    }
    out->all = out->all > 0 ? out->all : 1;
    if (!at(query, 0)->first) {
        return true;
    }
    if (!estimate(h, query, 0, out->all, err)) {
        return false;
    }
    out->part = ((double)at(query, 0)->estimate + 0.5) / (double)out->all;
    out->known = !at(query, 0)->capped;
    if (!out->known && !list_plan_sample(h, query, out->all, &out->part, &out->known, err)) {
        return false;
    }
    out->driver = list_driver(query, 0);
    out->driven = out->driver ? (double)at(query, out->driver)->estimate : (double)out->all;
    if (out->driver && at(query, out->driver)->capped && out->part * (double)out->all > out->driven) {
        out->driven = out->part * (double)out->all; /* at least so many */
    }
    return true;
}

static double at_most(double value, double most) {
    return value < most ? value : most;
}

/* Rows that a walk reads until it has found `wanted`, and rows of the driver. */
static double list_plan_walked(const struct list_costs *costs, double wanted) {
    return at_most(wanted / costs->part, (double)costs->all);
}

static double collected(const struct list_costs *costs, double wanted) {
    return at_most(list_plan_walked(costs, wanted) / (double)costs->all * costs->driven, costs->driven);
}

bool list_choose(struct db_handle *h, struct list_query *query, uint64_t offset, uint64_t limit, struct list_plan *plan,
                 struct reel_error *err) {
    const struct list_costs *costs = &query->costs;
    plan->way = LIST_WALK;
    plan->window = 0;
    if (!find_costs(h, query, err)) {
        return false;
    }
    plan->driver = costs->driver;
    if (!plan->driver) { /* nothing can be gathered */
        return true;
    }
    bool by_row = strcmp(plan->column, "row") == 0;
    double wanted = (double)offset + (double)limit, walk = list_plan_walked(costs, wanted),
           gather = by_row ? collected(costs, wanted) : costs->driven;
    if (query->has_trash || costs->driven * COLLECTED_US + gather * GATHERED_US <= walk * WALKED_US) {
        double window = 4 * gather + WINDOW_MIN;
        plan->way = LIST_GATHER;
        plan->window = by_row && window < costs->driven ? (int64_t)window : 0;
        return true;
    }
    double window = costs->known ? at_most(4 * walk + WINDOW_MIN, LIST_WALKED_MAX) : LIST_WALKED_MAX;
    plan->window = (int64_t)(2 * walk > window ? 2 * walk : window); /* that far at least for a large offset */
    return true;
}

void list_choose_again(uint64_t offset, uint64_t limit, struct list_plan *plan) {
    bool by_row = strcmp(plan->column, "row") == 0;
    plan->window = plan->way == LIST_WALK && by_row
                       ? (int64_t)at_most(4 * ((double)offset + (double)limit) + WINDOW_MIN, 1e15)
                       : 0;
    plan->way = LIST_GATHER;
}

bool list_choose_any(struct db_handle *h, struct list_query *query, uint64_t max, struct list_plan *plan,
                     struct reel_error *err) {
    const struct list_costs *costs = &query->costs;
    *plan = (struct list_plan){.way = LIST_WALK, .column = "row", .descending = true, .counting = true};
    if (!find_costs(h, query, err)) {
        return false;
    }
    plan->driver = costs->driver;
    if (plan->driver && (query->has_trash || collected(costs, (double)max) * (COLLECTED_US + WALKED_US) <=
                                                 list_plan_walked(costs, (double)max) * WALKED_US)) {
        plan->way = LIST_GATHER;
    }
    return true;
}
