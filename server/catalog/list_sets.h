/* Sets in memory that long lists are read from: list_sets.c keeps them, list_set.c makes them, list_bits.c reads lists
 * off them. */
#ifndef SERVER_CATALOG_LIST_SETS_H
#define SERVER_CATALOG_LIST_SETS_H

#include <stdatomic.h>

#include "catalog/list.h"

enum set_kind {
    SET_BITS,  /* of each row */
    SET_ORDER, /* rows, as a sort has them */
    SET_VALUES /* a number for each row; 0: none */
};

struct set { /* shared: it is freed by the last who has it */
    atomic_uint users;
    enum set_kind kind;
    char *key;                /* how it is asked for */
    uint64_t version;         /* the newest change of the recordings in it */
    int64_t used_ns, cost_ns; /* last used; what it took to make */
    uint32_t n;               /* numbers */
    uint32_t items[];
};
void set_free(struct set *s);
REEL_DEFINE_AUTO(struct set, set_free);

static inline bool set_has(const uint32_t *bits, uint32_t row) {
    return bits[row / 32] >> row % 32 & 1;
}

/* Of this version or an older one; set_free(). */
struct set *list_sets_find(struct list_sets *sets, const char *key, uint64_t version);
struct set *list_sets_any_order(struct list_sets *sets, uint64_t version); /* of this version */
void list_sets_keep(struct list_sets *sets, struct set *s);
bool list_sets_make(struct list_sets *sets); /* false: another set is being made. list_sets_made() */
void list_sets_made(struct list_sets *sets);

struct list_asking { /* one question; list_asking_done() in any case */
    struct list_sets *sets;
    struct db_handle *h;
    const struct list_query *query;
    uint64_t oldest, version; /* changes that the transaction sees */
    uint32_t rows;            /* the highest */
    bool order, bits;         /* what is not there may be made */
    bool maybe, unsure;       /* more may be found than matches; more may have been found */
    struct set_changes {      /* recordings that changed after `since` */
        bool known;
        uint64_t since;
        char *json;
        uint32_t n;
        uint32_t *bits; /* the same; NULL: too many to bring a set up to date */
        bool gone;      /* others are not there any more */
    } changes;
};
/* False without an error: there are no sets for it. */
bool list_asking_begin(struct list_asking *a, struct list_sets *sets, struct db_handle *h,
                       const struct list_query *query, struct reel_error *err);
void list_asking_done(struct list_asking *a);

/* What the transaction sees; set_free(). NULL without an error: it is not there. */
struct set *list_set_matches(struct list_asking *a, uint32_t condition, struct reel_error *err);
struct set *list_set_shown(struct list_asking *a, struct reel_error *err); /* bits of what is not in the trash */
struct set *list_set_order(struct list_asking *a, const char *column, struct reel_error *err);
struct set *list_set_values(struct list_asking *a, const struct list_values *values, struct reel_error *err);

double list_sets_rows(const struct list_query *query); /* how many are read to make the bits of its conditions */
bool list_sets_are_always(const struct list_sets *sets);

#endif
