/* See buckets.h. */
#include "catalog/buckets.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "catalog/list.h"
#include "reel/time.h"

static const int64_t SECOND_NS = 1000000000, DAY_NS = 86400 * SECOND_NS;

bool catalog_bucket_width(const char *text, struct catalog_bucket_width *out, struct reel_error *err) {
    struct reel_error ignored;
    *out = (struct catalog_bucket_width){0};
    if (text && strcmp(text, "year") == 0) {
        out->months = 12;
    } else if (text && strcmp(text, "month") == 0) {
        out->months = 1;
    } else if (text && strcmp(text, "week") == 0) {
        out->ns = 7 * DAY_NS;
        out->offset_ns = 4 * DAY_NS; /* the first Monday of 1970 was the 5th of January */
    } else if (!text || !reel_duration_parse(text, &out->ns, &ignored) || out->ns < SECOND_NS / 1000) {
        return reel_fail(err, REEL_ARGUMENT, "bucket is week, month, year, or a duration of at least 1 ms such as 6h");
    }
    return true;
}

/* ---- the number of the bucket of a time, and where a bucket begins */

static int64_t floor_divide(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

static int64_t clamped(__int128 ns) {
    return ns < INT64_MIN ? INT64_MIN : ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

static int64_t buckets_number_of(const struct catalog_bucket_width *w, int64_t ns) {
    if (w->ns) {
        return floor_divide(clamped((__int128)ns + w->ahead_ns - w->offset_ns), w->ns);
    }
    time_t seconds = (time_t)floor_divide(clamped((__int128)ns + w->ahead_ns), SECOND_NS);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    return floor_divide((int64_t)tm.tm_year * 12 + tm.tm_mon, w->months);
}

static int64_t begin_of(const struct catalog_bucket_width *w, int64_t number) {
    if (w->ns) {
        return clamped((__int128)number * w->ns + w->offset_ns - w->ahead_ns);
    }
    int64_t month = number * w->months;
    struct tm tm = {
        .tm_year = (int)floor_divide(month, 12), .tm_mon = (int)(month - 12 * floor_divide(month, 12)), .tm_mday = 1};
    return clamped((__int128)timegm(&tm) * SECOND_NS - w->ahead_ns);
}

/* ---- counting */

struct counting {
    const struct catalog_bucket_width *width;
    int64_t from_ns, last_ns; /* of the search, both included */
    int64_t first;            /* number of the first bucket */
    uint32_t n;
    uint32_t *begun, *ended; /* recordings whose first and last bucket it is */
};

static void count_one(void *context, int64_t start_ns, int64_t end_ns) {
    struct counting *c = context;
    int64_t start = start_ns > c->from_ns ? start_ns : c->from_ns, end = end_ns < c->last_ns ? end_ns : c->last_ns;
    c->begun[buckets_number_of(c->width, start) - c->first]++;
    c->ended[buckets_number_of(c->width, end > start ? end : start) - c->first]++;
}

static void buckets_widen(void *context, int64_t start_ns, int64_t end_ns) {
    int64_t *range = context;
    range[0] = start_ns < range[0] ? start_ns : range[0];
    range[1] = end_ns > range[1] ? end_ns : range[1];
}

static uint64_t buckets_distance(const struct counting *c, const int64_t *range) {
    return (uint64_t)buckets_number_of(c->width, range[1]) - (uint64_t)buckets_number_of(c->width, range[0]);
}

static bool buckets_begin(struct counting *c, struct db_handle *h, const struct catalog_query *q,
                          struct reel_error *err) {
    c->from_ns = q->has_start ? q->start_ns : INT64_MIN;
    c->last_ns = q->has_end && q->end_ns != INT64_MAX ? q->end_ns - 1 : INT64_MAX;
    if (c->last_ns < c->from_ns) {
        c->last_ns = c->from_ns;
    }
    int64_t range[2] = {c->from_ns, c->last_ns};
    if (buckets_distance(c, range) >= BUCKETS_MAX) { /* what is found may need fewer */
        int64_t found[2] = {c->last_ns, c->from_ns};
        uint32_t n;
        bool more;
        if (!list_spans(h, q, BUCKETS_COUNTED_MAX, buckets_widen, found, &n, &more, err)) {
            return false;
        }
        range[0] = n == 0 || found[0] < range[0] ? range[0] : found[0];
        range[1] = n == 0 ? range[0] : found[1] > range[1] ? range[1] : found[1];
    }
    if (buckets_distance(c, range) >= BUCKETS_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "more than %d buckets; choose start and end, or a wider bucket",
                         BUCKETS_MAX);
    }
    c->first = buckets_number_of(c->width, range[0]);
    c->n = (uint32_t)buckets_distance(c, range) + 1;
    c->begun = calloc(c->n, sizeof *c->begun);
    c->ended = calloc(c->n, sizeof *c->ended);
    return (c->begun && c->ended) || reel_fail_memory(err);
}

static bool buckets_put(const struct counting *c, uint32_t i, uint32_t recordings, struct catalog_buckets *out,
                        struct reel_error *err) {
    if (out->n == BUCKETS_SHOWN_MAX) {
        return reel_fail(err, REEL_ARGUMENT,
                         "more than %d buckets have recordings; choose start and end, or a wider bucket",
                         BUCKETS_SHOWN_MAX);
    }
    int64_t start = begin_of(c->width, c->first + i), end = begin_of(c->width, c->first + i + 1);
    int64_t behind = c->last_ns == INT64_MAX ? INT64_MAX : c->last_ns + 1;
    out->items[out->n++] = (struct catalog_bucket){.start_ns = start > c->from_ns ? start : c->from_ns,
                                                   .end_ns = end < behind ? end : behind,
                                                   .recordings = recordings};
    return true;
}

static bool sum_up(const struct counting *c, struct catalog_buckets *out, struct reel_error *err) {
    uint32_t most = c->n < BUCKETS_SHOWN_MAX ? c->n : BUCKETS_SHOWN_MAX, now = 0;
    if (!(out->items = calloc(most, sizeof *out->items))) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < c->n; i++) {
        now += c->begun[i];
        if (now > 0 && !buckets_put(c, i, now, out, err)) {
            return false;
        }
        now -= c->ended[i];
    }
    return true;
}

static void counting_done(struct counting *c) {
    free(c->begun);
    free(c->ended);
}

bool catalog_buckets(struct catalog *c, const struct catalog_query *q, const struct catalog_bucket_width *width,
                     struct catalog_buckets *out, struct reel_error *err) {
    *out = (struct catalog_buckets){0};
    AUTO_STRUCT(counting_done) struct counting counting = {.width = width};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    return h && buckets_begin(&counting, h, q, err) &&
           list_spans(h, q, BUCKETS_COUNTED_MAX, count_one, &counting, &out->counted, &out->capped, err) &&
           sum_up(&counting, out, err);
}

void catalog_buckets_done(struct catalog_buckets *buckets) {
    free(buckets->items);
    *buckets = (struct catalog_buckets){0};
}
