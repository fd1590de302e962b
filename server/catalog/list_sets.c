/* Long lists without reading the table: the order of all recordings by a sort, which of them a condition finds, as a
 * bit each, and what labels or value of a tag each has. They are kept here, in memory; list_set.c makes
 * them, list_bits.c reads lists off them.
 *
 * Rule: a set is that of one version of the recordings, which is the newest change that a transaction sees, so that no
 * answer differs from that of a query. A set of an older version is brought up to date by the recordings that changed
 * since then, as a copy: others may be reading it.
 *
 * Bounds: LIST_SETS_BYTES_MAX in total, and one more set for each question; LIST_SETS_ROWS_MAX recordings. */
#include "catalog/list_sets.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"

enum {
    SETS_MAX = 64,
    COLUMNS_MAX = 8,
    CAPPED_ROWS = 50000,  /* of a driver whose rows were not all counted */
    POSTGRES_FACTOR = 10, /* a gather there costs so much more */
};
static const int64_t SLOW_NS = 30000000;
static const double READ_US = 0.2, GATHERED_US = 2.0; /* a row of a set; of a gather: list_plan.c */

struct list_sets {
    pthread_mutex_t mutex;  /* of what follows; no query is run under it */
    pthread_mutex_t making; /* one set is made at a time */
    struct set *all[SETS_MAX];
    bool always;
    const char *slow[COLUMNS_MAX]; /* sorts by which a gather took SLOW_NS though its rows could not be estimated */
};

void set_free(struct set *s) {
    if (s && atomic_fetch_sub(&s->users, 1) == 1) {
        free(s->key);
        free(s);
    }
}

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

/* Of this version or an older one. */
struct set *list_sets_find(struct list_sets *sets, const char *key, uint64_t version) {
    struct set *found = NULL;
    pthread_mutex_lock(&sets->mutex);
    for (size_t i = 0; i < SETS_MAX && !found; i++) {
        struct set *s = sets->all[i];
        if (s && s->version <= version && strcmp(s->key, key) == 0) {
            s->used_ns = clock_ns();
            atomic_fetch_add(&s->users, 1);
            found = s;
        }
    }
    pthread_mutex_unlock(&sets->mutex);
    return found;
}

/* The one of two that makes room: the one that was used longest ago, but each ms that it took to make counts as if it
 * had been used ten seconds later. An order of a million names outlives many sets of a day that somebody asked for. */
static struct set **less_needed(struct set **a, struct set **b) {
    enum { LONGER = 10000 };
    return !b || (*a)->used_ns + LONGER * (*a)->cost_ns < (*b)->used_ns + LONGER * (*b)->cost_ns ? a : b;
}

/* Where a set goes: where that key is, or where none is, or where the least needed one is. NULL: a newer one is there.
 */
static struct set **find_place(struct list_sets *sets, const struct set *s) {
    struct set **empty = NULL, **least = NULL;
    for (size_t i = 0; i < SETS_MAX; i++) {
        struct set **at = &sets->all[i];
        if (*at && strcmp((*at)->key, s->key) == 0) {
            return (*at)->version > s->version ? NULL : at;
        }
        empty = *at ? empty : at;
        least = *at ? less_needed(at, least) : least;
    }
    return empty ? empty : least;
}

static void drop_least(struct list_sets *sets, struct set *const *but) {
    struct set **least = NULL;
    for (size_t i = 0; i < SETS_MAX; i++) {
        struct set **at = &sets->all[i];
        least = *at && at != but ? less_needed(at, least) : least;
    }
    if (least) {
        set_free(TAKE(*least));
    }
}

void list_sets_keep(struct list_sets *sets, struct set *s) {
    pthread_mutex_lock(&sets->mutex);
    s->used_ns = clock_ns();
    struct set **place = set_bytes(s) <= LIST_SETS_BYTES_MAX ? find_place(sets, s) : NULL;
    if (place) {
        set_free(*place);
        *place = s;
        atomic_fetch_add(&s->users, 1);
        while (total(sets) > LIST_SETS_BYTES_MAX) {
            drop_least(sets, place);
        }
    }
    pthread_mutex_unlock(&sets->mutex);
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

struct set *list_sets_any_order(struct list_sets *sets, uint64_t version) {
    struct set *found = NULL;
    pthread_mutex_lock(&sets->mutex);
    for (size_t i = 0; i < SETS_MAX && !found; i++) {
        struct set *s = sets->all[i];
        if (s && s->kind == SET_ORDER && s->version == version) {
            atomic_fetch_add(&s->users, 1);
            found = s;
        }
    }
    pthread_mutex_unlock(&sets->mutex);
    return found;
}

bool list_sets_make(struct list_sets *sets) {
    return pthread_mutex_trylock(&sets->making) == 0;
}

void list_sets_made(struct list_sets *sets) {
    pthread_mutex_unlock(&sets->making);
}

/* ---- whether they pay */

double list_sets_rows(const struct list_query *query) {
    double rows = 0;
    for (uint32_t i = 1; i < query->n; i++) {
        const struct condition *c = &query->conditions[i];
        double found = (double)(c->negated ? query->costs.all - c->estimate : c->estimate);
        rows += !c->capped ? found : i == query->costs.driver ? query->costs.driven : (double)query->costs.all;
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
    int64_t least = LIST_SETS_DRIVEN_MIN / (query->postgres ? POSTGRES_FACTOR : 1);
    return driven >= (double)least && list_sets_rows(query) * READ_US <= 4 * driven * GATHERED_US;
}

bool list_sets_are_always(const struct list_sets *sets) {
    return sets->always;
}
