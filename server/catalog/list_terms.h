/* The terms of q= as conditions, and what parameters have in common with them. */
#ifndef SERVER_CATALOG_LIST_TERMS_H
#define SERVER_CATALOG_LIST_TERMS_H

#include "catalog/list.h"
#include "catalog/search.h"

/* Adds the formats of that name, of its family ("rosbag" finds "rosbag-1.2" and "rosbag-2.0") or, with `glob`, that
 * match it. REEL_ARGUMENT: there is no such format; the message names similar ones. */
bool list_find_formats(struct db_handle *h, const char *name, bool glob, json_t *names, struct reel_error *err);
/* Tags whose key matches and whose value is one of these; "*" is any value. */
bool list_add_tag_values(struct db_handle *h, struct list_query *query, uint32_t parent, const struct search_value *key,
                         const struct search_value *values, uint32_t n, bool negated, struct reel_error *err);

#endif
