/* Names that match a glob or pattern, as the ids of labels and tags; for list_query.c and list_terms.c. */
#ifndef SERVER_CATALOG_LIST_NAMES_H
#define SERVER_CATALOG_LIST_NAMES_H

#include <stdio.h>

#include "catalog/list.h"
#include "catalog/pattern.h"

struct list_matcher {
    const char *text;
    bool exact;
    const struct pattern *pattern; /* instead of the text */
    bool slashes;                  /* a leading '/' makes no difference */
};

struct list_ids {
    FILE *out;
    char *text;
    size_t size;
    uint32_t n;
};

bool list_ids_open(struct list_ids *ids, struct reel_error *err);
/* Makes a condition of the ids (CONDITION_LABELS, CONDITION_TAGS) at `parent`; `good`: they are complete. */
bool list_ids_close(struct list_ids *ids, bool good, struct list_query *query, uint32_t parent,
                    enum condition_kind kind, const char *column, bool negated, struct reel_error *err);
bool list_add_labels(struct db_handle *h, struct list_query *query, enum label_kind kind, struct list_matcher w,
                     struct list_ids *ids, struct reel_error *err);
/* Of keys, or with `value` of values. */
bool list_add_tags(struct db_handle *h, struct list_query *query, const struct list_matcher *key,
                   const struct list_matcher *value, struct list_ids *ids, struct reel_error *err);

#endif
