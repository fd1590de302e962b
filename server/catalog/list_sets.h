/* Long lists without reading the table: the order of all recordings by a sort, and which of them a condition finds, as
 * a bit each. Both are kept in memory, and a page is read off them.
 *
 * Rule: a set is that of one version of the recordings, which is the newest change that a transaction sees, so that no
 * answer differs from that of a query. While changes come more often than SETTLED_NS, none are made: they would be made
 * for one answer.
 *
 * Bounds: LIST_SETS_BYTES_MAX in total, and one more set that is being made; LIST_SETS_ROWS_MAX recordings. */
#ifndef SERVER_CATALOG_LIST_SETS_H
#define SERVER_CATALOG_LIST_SETS_H

#include "catalog/list.h"

enum {
    LIST_SETS_BYTES_MAX = 32 << 20,
    LIST_SETS_ROWS_MAX = 4000000,
    LIST_SETS_DRIVEN_MIN = 20000, /* where a gather reads fewer rows it is as fast */
};

struct list_sets *list_sets_new(struct reel_error *err);
void list_sets_free(struct list_sets *sets); /* NULL is fine */
size_t list_sets_bytes(struct list_sets *sets);
void list_sets_always(struct list_sets *sets); /* for tests: at once, and for short lists too */

struct list_cut {      /* of all that match, in the order of the sort */
    uint64_t version;  /* of the recordings, as the transaction sees them */
    int64_t after_row; /* behind this one; 0: from the first */
    uint64_t offset;
    uint32_t limit;
    /* filled in */
    bool done; /* else the answer has to come from a query */
    bool more;
    uint32_t n;
    int64_t *rows; /* `limit` of them */
};
/* Whether so many recordings match some conditions that the page is read faster from sets. */
bool list_sets_pay(struct list_sets *sets, const struct list_query *query, const struct list_plan *plan);
/* A page that was read by queries took so long. */
void list_sets_took(struct list_sets *sets, const struct list_plan *plan, int64_t ns);
/* Instead of a walk only by an order that is there. */
bool list_sets_cut(struct list_sets *sets, struct db_handle *h, const struct list_query *query,
                   const struct list_plan *plan, struct list_cut *cut, struct reel_error *err);

#endif
