/* Answers about recordings, kept as bytes by the recording's version: most requests ask for what has not changed.
 * Bounded. */
#ifndef SERVER_VIEWS_ANSWER_CACHE_H
#define SERVER_VIEWS_ANSWER_CACHE_H

#include "catalog/catalog.h"

struct answer_cache;
struct answer_cache *answer_cache_new(struct reel_error *err);
void answer_cache_free(struct answer_cache *cache); /* NULL is fine */

/* A copy from malloc of the answer that was kept for this row; NULL: none. */
char *answer_cache_find(struct answer_cache *cache, const struct catalog_recording *row);
void answer_cache_keep(struct answer_cache *cache, const struct catalog_recording *row, const char *text); /* copies;
                                                                                                              not if it
                                                                                                              is long */

#endif
