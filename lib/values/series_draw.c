/* Reduces the points of a column for drawing. The time of a call depends on the number of runs in the interval, not of
 * messages. */
#include <math.h>

#include "values/series.h"

struct drawing {
    const struct run *runs; /* the runs in the interval */
    size_t n;
    int64_t start_ns, end_ns;
    struct reel_point *out;
    size_t max, count;
};

static size_t first_at(const struct reel_column *c, int64_t time_ns) {
    size_t low = 0, high = c->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->runs[middle].last.time_ns < time_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool inside(const struct drawing *d, struct reel_point p) {
    return p.time_ns >= d->start_ns && p.time_ns < d->end_ns;
}
static void series_draw_put(struct drawing *d, struct reel_point p) {
    if (d->count < d->max && inside(d, p)) {
        d->out[d->count++] = p;
    }
}
static void put_two(struct drawing *d, struct reel_point a, struct reel_point b) {
    bool later = a.time_ns > b.time_ns;
    series_draw_put(d, later ? b : a);
    if (a.time_ns != b.time_ns) {
        series_draw_put(d, later ? a : b);
    }
}

/* Length of the interval that has points: up to 2^64. */
static unsigned __int128 series_draw_span_of(const struct drawing *d) {
    return (unsigned __int128)((uint64_t)d->runs[d->n - 1].last.time_ns - (uint64_t)d->runs[0].first.time_ns) + 1;
}
/* The index of the bucket, of n equal ones, in which a run begins. */
static size_t series_draw_bucket_of(const struct drawing *d, const struct run *r, size_t n) {
    uint64_t at = (uint64_t)r->first.time_ns - (uint64_t)d->runs[0].first.time_ns;
    return (size_t)((unsigned __int128)at * n / series_draw_span_of(d));
}
static int64_t bucket_start(const struct drawing *d, size_t bucket, size_t n) {
    return (int64_t)((uint64_t)d->runs[0].first.time_ns + (uint64_t)(series_draw_span_of(d) * bucket / n));
}

/* Runs [from, to) of the bucket that contains run `from`. */
static size_t bucket_end(const struct drawing *d, size_t from, size_t n) {
    size_t bucket = series_draw_bucket_of(d, &d->runs[from], n), to = from + 1;
    while (to < d->n && series_draw_bucket_of(d, &d->runs[to], n) == bucket) {
        to++;
    }
    return to;
}

/* Of the finite values; where there are none, an infinite one. */
static double mean_of(const struct run *r) {
    return r->finite > 0 ? r->sum / (double)r->finite : r->last.value;
}

static void draw_buckets(struct drawing *d, enum reel_aggregate how) {
    size_t n = how == REEL_MINMAX ? d->max / 2 : d->max;
    for (size_t from = 0, to; from < d->n; from = to) {
        to = bucket_end(d, from, n);
        struct run all = d->runs[from];
        for (size_t i = from + 1; i < to; i++) {
            const struct run *r = &d->runs[i];
            all.low = r->low.value < all.low.value ? r->low : all.low;
            all.high = r->high.value > all.high.value ? r->high : all.high;
            all.last = inside(d, r->last) ? r->last : all.last;
            all.sum += r->sum;
            all.finite += r->finite;
        }
        if (how == REEL_MINMAX) {
            put_two(d, all.low, all.high);
        } else if (how == REEL_LAST) {
            series_draw_put(d, all.last);
        } else {
            int64_t start = bucket_start(d, series_draw_bucket_of(d, &d->runs[from], n), n);
            series_draw_put(
                d, (struct reel_point){.time_ns = start < d->start_ns ? d->start_ns : start, .value = mean_of(&all)});
        }
    }
}

static double seconds_after(int64_t from_ns, int64_t to_ns) { /* however far apart */
    return to_ns >= from_ns ? (double)((uint64_t)to_ns - (uint64_t)from_ns) / 1e9
                            : -(double)((uint64_t)from_ns - (uint64_t)to_ns) / 1e9;
}

/* Twice the area of the triangle of three points; times in seconds relative to `a`, to avoid rounding. */
static double triangle(struct reel_point a, struct reel_point b, double c_s, double c_value) {
    double b_s = seconds_after(a.time_ns, b.time_ns);
    double area = fabs(b_s * (c_value - a.value) - c_s * (b.value - a.value));
    return isnan(area) ? 0 : area;
}

/* The mean point of the runs [from, to), relative to `a`. */
static void middle_of(const struct drawing *d, size_t from, size_t to, struct reel_point a, double *s, double *value) {
    double sum = 0, seconds = 0, count = 0, finite = 0;
    for (size_t i = from; i < to; i++) {
        sum += d->runs[i].sum;
        seconds += seconds_after(a.time_ns, d->runs[i].first.time_ns) * (double)d->runs[i].count;
        count += (double)d->runs[i].count;
        finite += (double)d->runs[i].finite;
    }
    *s = count > 0 ? seconds / count : 0;
    *value = finite > 0 ? sum / finite : a.value;
}

/* An infinite value is drawn where its bucket has no other. */
enum { NOT_THERE = -2, INFINITE = -1 };
static double area_of(const struct drawing *d, struct reel_point a, struct reel_point candidate, double c_s,
                      double c_value) {
    return !inside(d, candidate) || candidate.time_ns <= a.time_ns ? NOT_THERE
           : !isfinite(candidate.value)                            ? INFINITE
                                                                   : triangle(a, candidate, c_s, c_value);
}

static void draw_triangles(struct drawing *d) {
    size_t n = d->max - 2;
    struct reel_point a = d->runs[0].first;
    series_draw_put(d, a);
    a.value = isfinite(a.value) ? a.value : 0;
    for (size_t from = 0, to; n > 0 && from < d->n; from = to) {
        to = bucket_end(d, from, n);
        size_t after = to < d->n ? bucket_end(d, to, n) : d->n;
        double c_s, c_value, best = NOT_THERE;
        struct reel_point chosen = a;
        middle_of(d, to < d->n ? to : d->n - 1, after, a, &c_s, &c_value);
        for (size_t i = from; i < to; i++) {
            const struct reel_point candidates[] = {d->runs[i].low, d->runs[i].high};
            for (unsigned k = 0; k < 2; k++) {
                double area = area_of(d, a, candidates[k], c_s, c_value);
                chosen = area > best ? candidates[k] : chosen;
                best = area > best ? area : best;
            }
        }
        if (best > NOT_THERE) {
            series_draw_put(d, chosen);
            a.time_ns = chosen.time_ns;
            a.value = isfinite(chosen.value) ? chosen.value : a.value;
        }
    }
    if (d->runs[d->n - 1].last.time_ns > a.time_ns) {
        series_draw_put(d, d->runs[d->n - 1].last);
    }
}

size_t reel_column_points(const struct reel_column *c, int64_t start_ns, int64_t end_ns, size_t max_points,
                          enum reel_aggregate how, struct reel_point *out) {
    size_t first = first_at(c, start_ns), end = first;
    uint64_t values = 0;
    while (end < c->count && c->runs[end].first.time_ns < end_ns) {
        values += c->runs[end++].count;
    }
    if (end == first || max_points < 2) {
        return 0;
    }
    struct drawing d = {.runs = c->runs + first,
                        .n = end - first,
                        .start_ns = start_ns,
                        .end_ns = end_ns,
                        .out = out,
                        .max = max_points};
    if (values <= max_points && c->each == 1) {
        for (size_t i = 0; i < d.n; i++) {
            series_draw_put(&d, d.runs[i].first);
        }
    } else if (how == REEL_LTTB) {
        draw_triangles(&d);
    } else {
        draw_buckets(&d, how);
    }
    return d.count;
}
