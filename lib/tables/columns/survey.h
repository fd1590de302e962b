/* A visitor that lets the tree of columns grow with each value of a payload. */
#ifndef REEL_TABLES_COLUMNS_SURVEY_H
#define REEL_TABLES_COLUMNS_SURVEY_H

#include "base/limits.h"
#include "tables/columns/tree.h"

struct survey_level {
    struct column *column; /* a struct or list */
    uint32_t hint;
    bool is_list;
};
struct columns_survey {
    struct reel_visitor visitor; /* must be the first member */
    struct columns *columns;
    uint32_t depth, skipped; /* containers that are open; those that are open below a column that is JSON */
    struct column *next;     /* the member whose key was last; NULL: not wanted */
    struct survey_level levels[REEL_COLUMN_DEPTH_MAX + 2];
};
/* Call before each payload, only of those that columns_can_decode(): one that fails must not be seen here. */
void columns_survey_start(struct columns_survey *s, struct columns *columns);

/* *can: the payload can be decoded, and is no more than a row may have (REEL_ROW_VALUES_MAX). *bytes (may be NULL):
 * about what its values take. */
bool columns_can_decode(const struct reel_decoder *decoder, struct reel_bytes payload, bool *can, uint64_t *bytes,
                        struct reel_error *err);

#endif
