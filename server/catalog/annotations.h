/* What the files of notes.h share: said.c, change.c, tags.c, notes.c, events.c, collections.c. */
#ifndef SERVER_CATALOG_ANNOTATIONS_H
#define SERVER_CATALOG_ANNOTATIONS_H

#include "catalog/catalog_internal.h"
#include "catalog/notes.h"

/* The row of a recording's id; REEL_NOT_FOUND. */
bool annotations_find_row(struct db_handle *h, const char *id, int64_t *row, struct reel_error *err);
/* A statement that takes ":row" and ":now". */
bool annotations_run(struct db_handle *h, const char *statement, int64_t row, struct reel_error *err);
bool annotations_touch(struct db_handle *h, int64_t row, struct reel_error *err); /* a new version */
/* `text` ("" is {}) with the merge patch (RFC 7396) applied, compact, "" when nothing is left; malloc'd. Both are no deeper than a body may
 * be. */
char *annotations_merge(const char *text, const char *patch, struct reel_error *err);
bool annotations_write_tags(struct db_handle *h, int64_t row, const struct catalog_tag *tags, uint32_t n, bool clear, unsigned *changes,
                            struct reel_error *err);

static inline uint32_t annotations_page_limit(uint32_t limit) {
    return limit < 1 ? 1 : limit > PAGE_ITEMS_MAX ? PAGE_ITEMS_MAX : limit;
}

#endif
