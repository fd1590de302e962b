/* Long lists without reading the table: the order of all recordings by a sort, and which of them a condition finds, as
 * a bit each. Both are kept in memory, and a page is read off them.
 *
 * Rule: a set is that of one version of the recordings, which is the newest change that a transaction sees, so that no
 * answer differs from that of a query. While changes come more often than SETTLED_NS, none are made: they would be made
 * for one answer.
 *
 * Bounds: LIST_SETS_BYTES_MAX in total, and one more set that is being made; LIST_SETS_ROWS_MAX recordings.
 *
 * A set is shared: it is freed by the last who has it. */
#include "catalog/list.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"

enum { SETS_MAX = 64, COLUMNS_MAX = 8, CAPPED_ROWS = 50000 /* of a driver whose rows were not all counted */ };
static const int64_t SETTLED_NS = 1000000000, SLOW_NS = 30000000;
static const double READ_US = 0.2, WALKED_US = 1.5, GATHERED_US = 2.0; /* a row of a set; of a walk or a gather:
                                                                           list_plan.c */

struct set {
    atomic_uint users;
    char *key; /* how it is asked for */
    uint64_t version;
    int64_t used_ns;
    uint32_t n;       /* numbers */
    uint32_t items[]; /* rows in an order; or bits */
};

struct list_sets {
    pthread_mutex_t mutex;  /* of what follows; no query is run under it */
    pthread_mutex_t making; /* one set is made at a time */
    struct set *all[SETS_MAX];
    bool always;
    uint64_t version; /* that lists were asked for last, and since when */
    int64_t since_ns;
    const char *slow[COLUMNS_MAX]; /* sorts by which a gather took SLOW_NS though its rows could not be estimated */
};

static void set_free(struct set *s) {
    if (s && atomic_fetch_sub(&s->users, 1) == 1) {
        free(s->key);
        free(s);
    }
}
REEL_DEFINE_AUTO(struct set, set_free);

struct list_sets *list_sets_new(struct reel_error *err) {
    struct list_sets *sets = calloc(1, sizeof *sets);
    if (!sets) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&sets->mutex, NULL);
    pthread_mutex_init(&sets->making, NULL);
    return sets;
}

void list_sets_free(struct list_sets *sets) {
    for (size_t i = 0; sets && i < SETS_MAX; i++) {
        set_free(sets->all[i]);
    }
    free(sets);
}

static size_t set_bytes(const struct set *s) {
    return s ? sizeof *s + s->n * sizeof *s->items + strlen(s->key) : 0;
}

static size_t total(const struct list_sets *sets) {
    size_t bytes = 0;
    for (size_t i = 0; i < SETS_MAX; i++) {
        bytes += set_bytes(sets->all[i]);
    }
    return bytes;
}

void list_sets_always(struct list_sets *sets) {
    sets->always = true;
}

size_t list_sets_bytes(struct list_sets *sets) {
    pthread_mutex_lock(&sets->mutex);
    size_t bytes = total(sets);
    pthread_mutex_unlock(&sets->mutex);
    return bytes;
}

static struct set *find(struct list_sets *sets, const char *key, uint64_t version) {
    struct set *found = NULL;
    pthread_mutex_lock(&sets->mutex);
    for (size_t i = 0; i < SETS_MAX && !found; i++) {
        struct set *s = sets->all[i];
        if (s && s->version == version && strcmp(s->key, key) == 0) {
            s->used_ns = clock_ns();
            atomic_fetch_add(&s->users, 1);
            found = s;
        }
    }
    pthread_mutex_unlock(&sets->mutex);
    return found;
}

/* Where the next one goes: those of other versions give way, then the one that was used longest ago. */
static struct set **free_place(struct list_sets *sets, uint64_t version, size_t bytes) {
    for (;;) {
        struct set **empty = NULL, **oldest = NULL;
        for (size_t i = 0; i < SETS_MAX; i++) {
            struct set **at = &sets->all[i];
            if (*at && (*at)->version != version) {
                set_free(TAKE(*at));
            }
            empty = *at ? empty : at;
            oldest = *at && (!oldest || (*at)->used_ns < (*oldest)->used_ns) ? at : oldest;
        }
        if ((empty && total(sets) + bytes <= LIST_SETS_BYTES_MAX) || !oldest) {
            return empty;
        }
        set_free(TAKE(*oldest));
    }
}

static void keep(struct list_sets *sets, struct set *s) {
    pthread_mutex_lock(&sets->mutex);
    s->used_ns = clock_ns();
    if (set_bytes(s) <= LIST_SETS_BYTES_MAX) {
        atomic_fetch_add(&s->users, 1);
        *free_place(sets, s->version, set_bytes(s)) = s;
    }
    pthread_mutex_unlock(&sets->mutex);
}

static bool is_settled(struct list_sets *sets, uint64_t version) {
    pthread_mutex_lock(&sets->mutex);
    if (version != sets->version) {
        sets->version = version;
        sets->since_ns = clock_ns();
    }
    bool settled = sets->always || clock_ns() - sets->since_ns >= SETTLED_NS;
    pthread_mutex_unlock(&sets->mutex);
    return settled;
}

void list_sets_took(struct list_sets *sets, const struct list_plan *plan, int64_t ns) {
    size_t i = 0;
    pthread_mutex_lock(&sets->mutex);
    while (i < COLUMNS_MAX && sets->slow[i] && sets->slow[i] != plan->column) {
        i++;
    }
    if (ns >= SLOW_NS && plan->way == LIST_GATHER && i < COLUMNS_MAX) {
        sets->slow[i] = plan->column;
    }
    pthread_mutex_unlock(&sets->mutex);
}

static bool is_slow(struct list_sets *sets, const char *column) {
    bool slow = false;
    pthread_mutex_lock(&sets->mutex);
    for (size_t i = 0; i < COLUMNS_MAX; i++) {
        slow = slow || sets->slow[i] == column;
    }
    pthread_mutex_unlock(&sets->mutex);
    return slow;
}

/* ---- making one */

struct making {
    struct list_sets *sets;
    struct db_handle *h;
    const struct list_query *query;
    uint64_t version;
    uint32_t rows;    /* the highest */
    bool order, bits; /* what is not there may be made */
};

static void set_bit(struct set *s, int64_t row) {
    if (row > 0 && (uint64_t)row / 32 < s->n) {
        s->items[row / 32] |= UINT32_C(1) << row % 32;
    }
}

/* PostgreSQL gives them as one value, four bytes each. */
static bool read_rows(struct db_statement *s, bool postgres, bool bits, struct set *out, struct reel_error *err) {
    uint32_t room = out->n, n = 0;
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW) {
        size_t size = 1;
        const uint8_t *data = postgres ? db_bytes(s, 0, &size) : NULL;
        for (size_t i = 0; i < (postgres ? size / 4 : 1); i++) {
            int64_t row = postgres ? __builtin_bswap32(load_u32le(data + 4 * i)) : db_int(s, 0);
            if (bits) {
                set_bit(out, row);
            } else if (n < room) {
                out->items[n++] = (uint32_t)row;
            }
        }
    }
    out->n = bits ? room : n;
    return step == DB_END;
}

static struct set *make(const struct making *m, char *key, const char *sql, bool bits, struct reel_error *err) {
    uint32_t n = bits ? m->rows / 32 + 1 : m->rows;
    AUTO(set_free) struct set *s = calloc(1, sizeof *s + n * sizeof *s->items);
    if (!s) {
        free(key);
        reel_fail_memory(err);
        return NULL;
    }
    s->users = 1;
    s->key = key;
    s->version = m->version;
    s->n = n;
    AUTO(db_done) struct db_statement *statement = db_compose(m->h, sql, err);
    if (!statement) {
        return NULL;
    }
    list_bind(statement, m->query);
    if (!read_rows(statement, m->query->postgres, bits, s, err)) {
        return NULL;
    }
    keep(m->sets, s);
    return TAKE(s);
}

/* NULL without an error: it is not there, and another one is being made. */
static struct set *get(const struct making *m, char *key, char *sql, bool bits, struct reel_error *err) {
    AUTO_MEM char *text = sql, *name = key;
    if (!text || !name) {
        reel_fail_memory(err);
        return NULL;
    }
    struct set *s = find(m->sets, name, m->version);
    if (s || !(bits ? m->bits : m->order) || pthread_mutex_trylock(&m->sets->making) != 0) {
        return s;
    }
    if (!(s = find(m->sets, name, m->version))) {
        s = make(m, TAKE(name), text, bits, err);
    }
    pthread_mutex_unlock(&m->sets->making);
    return s;
}

static struct set *get_bits(const struct making *m, uint32_t i, struct reel_error *err) {
    const struct condition *c = &m->query->conditions[i];
    char *key = NULL, *sql = list_sql_rows(m->query, i);
    if (sql && asprintf(&key, "%d %d%d %s %lld %lld %s", c->kind, c->in_channels, c->in_metadata,
                        c->column ? c->column : "", (long long)c->min, (long long)c->max, c->text ? c->text : "") < 0) {
        key = NULL;
    }
    return get(m, key, sql, true, err);
}

static struct set *get_order(const struct making *m, const char *column, struct reel_error *err) {
    return get(m, strdup(column), list_sql_order(m->query, column), false, err);
}

/* ---- what matches everything */

/* The bits of a condition; *known: all that it needs is there. */
static bool evaluate(const struct making *m, uint32_t i, uint32_t *bits, bool *known, struct reel_error *err) {
    const struct condition *c = &m->query->conditions[i];
    uint32_t words = m->rows / 32 + 1;
    bool group = c->kind == CONDITION_ALL || c->kind == CONDITION_ANY, good = true;
    memset(bits, c->kind == CONDITION_ALL ? 0xff : 0, words * sizeof *bits);
    struct reel_error why = {0};
    AUTO(set_free) struct set *leaf = group ? NULL : get_bits(m, i, &why);
    AUTO_MEM uint32_t *child = c->first ? malloc(words * sizeof *child) : NULL;
    if (why.code != REEL_OK || (c->first && !child)) {
        return why.code != REEL_OK ? reel_error_pass(err, &why) : reel_fail_memory(err);
    }
    *known = *known && (group || leaf);
    for (uint32_t k = c->first; k && good && *known; k = m->query->conditions[k].next) {
        good = evaluate(m, k, child, known, err);
        for (uint32_t w = 0; w < words; w++) {
            bits[w] = c->kind == CONDITION_ALL ? bits[w] & child[w] : bits[w] | child[w];
        }
    }
    for (uint32_t w = 0; w < words && *known; w++) {
        bits[w] = (leaf ? leaf->items[w] : bits[w]) ^ (c->negated ? UINT32_MAX : 0);
    }
    return good;
}

static double rows_to_read(const struct list_query *query) {
    double rows = 0;
    for (uint32_t i = 1; i < query->n; i++) {
        const struct condition *c = &query->conditions[i];
        double found = (double)(c->negated ? query->costs.all - c->estimate : c->estimate);
        rows += c->capped && i != query->costs.driver ? (double)query->costs.all : found;
    }
    return rows;
}

/* The index by groups has no recordings without one. */
static bool has_all(const struct list_query *query) {
    bool all = true;
    for (uint32_t i = 1; i < query->n; i++) {
        const struct condition *c = &query->conditions[i];
        all = all && !(c->negated && c->column && strcmp(c->column, "group_name") == 0);
    }
    return all;
}

bool list_sets_pay(struct list_sets *sets, const struct list_query *query, const struct list_plan *plan) {
    const struct list_costs *costs = &query->costs;
    double driven = costs->driven;
    if (query->has_trash || !costs->found || costs->all > LIST_SETS_ROWS_MAX || !has_all(query)) {
        return false;
    }
    if (sets->always || !costs->driver) {
        return sets->always;
    }
    if (query->conditions[costs->driver].capped && driven < CAPPED_ROWS && is_slow(sets, plan->column)) {
        driven = CAPPED_ROWS;
    }
    return driven >= LIST_SETS_DRIVEN_MIN && rows_to_read(query) * READ_US <= 4 * driven * GATHERED_US;
}

/* ---- a page */

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

static void cut_rows(const struct set *order, const uint32_t *bits, bool descending, uint32_t at,
                     struct list_cut *cut) {
    for (uint64_t skipped = 0; at < order->n && !cut->more; at++) {
        uint32_t row = order->items[descending ? order->n - 1 - at : at];
        if (!(bits[row / 32] >> row % 32 & 1) || skipped++ < cut->offset) {
            continue;
        }
        cut->more = cut->n == cut->limit;
        if (!cut->more) {
            cut->rows[cut->n++] = row;
        }
    }
}

bool list_sets_cut(struct list_sets *sets, struct db_handle *h, const struct list_query *query,
                   const struct list_plan *plan, struct list_cut *cut, struct reel_error *err) {
    struct making m = {.sets = sets,
                       .h = h,
                       .query = query,
                       .version = cut->version,
                       .rows = (uint32_t)query->costs.all,
                       .order = plan->way == LIST_GATHER || sets->always,
                       .bits = plan->way == LIST_GATHER || sets->always ||
                               rows_to_read(query) * READ_US <= (double)plan->window * WALKED_US};
    if (!is_settled(sets, cut->version)) {
        return true;
    }
    struct reel_error why = {0};
    AUTO(set_free) struct set *order = get_order(&m, plan->column, &why);
    AUTO_MEM uint32_t *bits = order ? malloc((m.rows / 32 + 1) * sizeof *bits) : NULL;
    bool known = true;
    uint32_t at;
    if (!order || !bits) {
        return why.code != REEL_OK ? reel_error_pass(err, &why) : !order || reel_fail_memory(err);
    }
    if (!evaluate(&m, 0, bits, &known, err)) {
        return false;
    }
    if (known && find_begin(order, plan->descending, cut->after_row, &at)) {
        cut->rows = calloc(cut->limit, sizeof *cut->rows);
        cut->done = cut->rows;
        if (!cut->done) {
            return reel_fail_memory(err);
        }
        cut_rows(order, bits, plan->descending, at, cut);
    }
    return true;
}
