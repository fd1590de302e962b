/* Distinct values with counts (facets), totals, and time coverage. For the whole catalog the counts are kept by
 * triggers; within a query they are counted over a bounded number of recordings, and the result says so. */
#ifndef SERVER_CATALOG_VALUES_H
#define SERVER_CATALOG_VALUES_H

#include "catalog/catalog.h"
#include "catalog/notes.h"

enum { VALUES_COUNTED_MAX = 100000, COVERAGE_COUNTED_MAX = 100000 };

enum values_field {
    VALUES_TOPIC,
    VALUES_TYPE,
    VALUES_META,
    VALUES_TAG,
    VALUES_FORMAT,
    VALUES_COLLECTION,
    VALUES_STATE
};
struct values_query {
    enum values_field field;
    const char *key;            /* VALUES_META, which needs it; VALUES_TAG: of this tag, NULL: the keys themselves */
    const char *prefix, *after; /* NULL: all, from the first */
    uint32_t limit;
    const struct catalog_query *within; /* only what this finds; NULL: the whole catalog but its trash */
};
struct values_counts {
    struct catalog_counts counts; /* by name */
    uint32_t counted;             /* recordings of `within` */
    bool capped;                  /* it finds more than were counted */
};
bool catalog_values(struct catalog *c, const struct values_query *q, struct values_counts *out,
                    struct reel_error *err); /* catalog_counts_done(&out->counts) */

/* Totals, by name in order. */
enum totals_by { TOTALS_FORMAT, TOTALS_STATE, TOTALS_DAY, TOTALS_MONTH };
struct catalog_total {
    enum totals_by by;
    char name[64]; /* "" : a format not known yet; a day that is none of the calendar */
    uint64_t recordings, bytes, messages, duration_ms;
};
/* `allowed` as in catalog_query. *rows: malloc'd. At most TOTALS_MAX of each. */
enum { TOTALS_MAX = 5000 };
bool catalog_totals(struct catalog *c, enum totals_by by, const char *const *allowed, struct catalog_total **rows,
                    uint32_t *n, struct reel_error *err);

/* When there are recordings, of each collection: spans that are no further apart than the tolerance are one. */
struct catalog_span {
    char *collection;
    int64_t start_ns, end_ns;
    uint64_t recordings, messages;
};
struct catalog_spans {
    struct catalog_span *items;
    uint32_t n, counted;
    bool capped; /* as above */
};
void catalog_spans_done(struct catalog_spans *spans);
bool catalog_coverage(struct catalog *c, const struct catalog_query *q, int64_t tolerance_ns, struct catalog_spans *out,
                      struct reel_error *err);

#endif
