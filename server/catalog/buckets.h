/* How many recordings of a search there are in each bucket of time. */
#ifndef SERVER_CATALOG_BUCKETS_H
#define SERVER_CATALOG_BUCKETS_H

#include "catalog/catalog.h"

/* Memory for the buckets of a range is bounded by BUCKETS_MAX, the answer by BUCKETS_SHOWN_MAX, the time by
 * BUCKETS_COUNTED_MAX recordings.
 */
enum { BUCKETS_MAX = 250000, BUCKETS_SHOWN_MAX = 10000, BUCKETS_COUNTED_MAX = 1000000 };

/* Buckets begin at multiples of the width since 1970, weeks on Mondays; by a clock that is ahead of UTC by ahead_ns. */
struct catalog_bucket_width {
    int64_t ns, offset_ns; /* 0: calendar months */
    int months;
    int64_t ahead_ns;
};
/* "month", "year", "week", or a duration of at least 1 ms. REEL_ARGUMENT. */
bool catalog_bucket_width(const char *text, struct catalog_bucket_width *out, struct reel_error *err);

struct catalog_bucket { /* [start, end), within the times of the search */
    int64_t start_ns, end_ns;
    uint32_t recordings; /* that overlap it */
};
struct catalog_buckets { /* in order, without empty ones */
    struct catalog_bucket *items;
    uint32_t n, counted;
    bool capped; /* the search finds more than were counted */
};
/* REEL_ARGUMENT: too many buckets. */
bool catalog_buckets(struct catalog *c, const struct catalog_query *q, const struct catalog_bucket_width *width,
                     struct catalog_buckets *out, struct reel_error *err); /* catalog_buckets_done() in any case */
void catalog_buckets_done(struct catalog_buckets *buckets);

#endif
