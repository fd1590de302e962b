/* The recordings of a batch of changes, and what became of each. Rows are kept as long as ended jobs. */
#ifndef SERVER_CATALOG_BATCHES_H
#define SERVER_CATALOG_BATCHES_H

#include "catalog/catalog.h"

enum { BATCH_ITEMS_MAX = 10000 };
enum batch_state { BATCH_PENDING, BATCH_CHANGED, BATCH_UNCHANGED, BATCH_FAILED, BATCH_STATES }; /* as in the table */
const char *batch_state_name(enum batch_state state);

struct catalog_batch_item {
    int64_t position; /* 1 … */
    char recording[RECORDING_ID_TEXT];
    char *collection, *name; /* when the batch was made */
    char *new_name;          /* "": it keeps its name */
    enum batch_state state;
    char *problem; /* why it failed */
};
struct catalog_batch_items {
    struct catalog_batch_item *items;
    uint32_t n;
    bool more;
};
void catalog_batch_items_done(struct catalog_batch_items *items); /* fine on a zeroed one */

/* All of them in one transaction, as positions 1 …; `batch`: an id as catalog_make_id() makes it. */
bool catalog_batch_add(struct catalog *c, const char *batch, const struct catalog_batch_item *items, uint32_t n,
                       struct reel_error *err);
bool catalog_batch_after(struct catalog *c, const char *batch, int64_t after, uint32_t limit,
                         struct catalog_batch_items *out, struct reel_error *err);
bool catalog_batch_done(struct catalog *c, const char *batch, const struct catalog_batch_item *item,
                        struct reel_error *err);
bool catalog_batch_counts(struct catalog *c, const char *batch, uint64_t counts[BATCH_STATES], struct reel_error *err);
bool catalog_batch_trim(struct catalog *c, int64_t before_ns, struct reel_error *err);

#endif
