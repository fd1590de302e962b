/* Message counts of a channel over time (index/index.h): segments no longer than a bin, and those before or after all
 * bins, are counted whole, in the bin in which they begin; others, and those of which some messages are left out, entry
 * by entry. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "index/index.h"

struct bins {
    struct reel_span *spans;
    uint32_t n;
    int64_t start_ns;
    uint64_t width_ns;
};

static uint32_t bin_of(const struct bins *bins, int64_t time_ns) {
    uint64_t bin = time_ns < bins->start_ns ? 0 : ((uint64_t)time_ns - (uint64_t)bins->start_ns) / bins->width_ns;
    return bin < bins->n ? (uint32_t)bin : bins->n - 1;
}

static void coverage_add(const struct bins *bins, const struct reel_span *what) {
    struct reel_span *to = &bins->spans[bin_of(bins, what->first_ns)];
    to->first_ns = to->count == 0 || what->first_ns < to->first_ns ? what->first_ns : to->first_ns;
    to->last_ns = to->count == 0 || what->last_ns > to->last_ns ? what->last_ns : to->last_ns;
    to->count += what->count;
}

/* The entries of a segment whose payloads have at least so many bytes. */
static bool coverage_entries(const struct reel_index *index, const struct pack_segment *s, uint32_t least,
                             void (*visit)(void *context, const struct reel_entry *entry), void *context,
                             struct reel_error *err) {
    AUTO_MEM uint8_t *data = malloc(s->size ? s->size : 1);
    struct pack_cursor cursor;
    struct reel_entry e;
    if (!data) {
        return reel_fail_memory(err);
    }
    if (!index_read_segment(index, s, data, err)) {
        return false;
    }
    if (!pack_cursor_open(&cursor, bytes_of(data, s->size), s->count, s->channel)) {
        return reel_fail(err, REEL_CHANGED, "a segment of the index does not hold together");
    }
    while (pack_cursor_next(&cursor, &e)) {
        if (e.size >= least) {
            visit(context, &e);
        }
    }
    return true;
}

static void coverage_visit(void *context, const struct reel_entry *e) {
    coverage_add(context, &(struct reel_span){e->time_ns, e->time_ns, 1});
}

bool index_coverage_from(const struct reel_index *index, uint32_t channel, uint32_t least, int64_t start_ns,
                         uint64_t width_ns, struct reel_span *spans, uint32_t n, struct reel_error *err) {
    const struct pack_model *m = &index->model;
    const struct reel_channel_stats *stats = &m->stats[channel];
    struct bins bins = {spans, n, start_ns, width_ns};
    if (n == 0 || width_ns == 0) {
        return reel_fail(err, REEL_ARGUMENT, "the width of coverage bins must be positive");
    }
    if (index->info.is_summary && stats->count > 0) {
        coverage_add(&bins, &(struct reel_span){stats->first_ns, stats->last_ns, stats->count});
    }
    for (size_t i = index->first_segment[channel]; i < index->first_segment[channel + 1]; i++) {
        const struct pack_segment *s = &m->segments[i];
        if (least == 0 && ((uint64_t)s->last.time_ns - (uint64_t)s->first.time_ns <= width_ns ||
                           bin_of(&bins, s->first.time_ns) == bin_of(&bins, s->last.time_ns))) {
            coverage_add(&bins, &(struct reel_span){s->first.time_ns, s->last.time_ns, s->count});
        } else if (!coverage_entries(index, s, least, coverage_visit, &bins, err)) {
            return false;
        }
    }
    return true;
}

bool reel_index_coverage(const struct reel_index *index, uint32_t channel, int64_t start_ns, uint64_t width_ns,
                         struct reel_span *spans, uint32_t n, struct reel_error *err) {
    return index_coverage_from(index, channel, 0, start_ns, width_ns, spans, n, err);
}

struct sums {
    struct reel_channel_stats stats;
    int64_t latest_ns; /* the time of the entry before */
};

static void stats_visit(void *context, const struct reel_entry *e) {
    struct sums *sums = context;
    struct reel_channel_stats *s = &sums->stats;
    bool first = s->count == 0;
    uint64_t gap_ns = first ? 0 : (uint64_t)e->time_ns - (uint64_t)sums->latest_ns;
    s->knows_gap = s->knows_gap && (first || e->time_ns >= sums->latest_ns);
    s->max_gap_ns = gap_ns > s->max_gap_ns ? gap_ns : s->max_gap_ns;
    s->first_ns = first || e->time_ns < s->first_ns ? e->time_ns : s->first_ns;
    s->last_ns = first || e->time_ns > s->last_ns ? e->time_ns : s->last_ns;
    s->largest = e->size > s->largest ? e->size : s->largest;
    s->bytes += e->size;
    s->count++;
    sums->latest_ns = e->time_ns;
}

bool index_stats_from(const struct reel_index *index, uint32_t channel, uint32_t least, struct reel_channel_stats *out,
                      struct reel_error *err) {
    struct sums sums = {.stats.knows_gap = true};
    *out = index->model.stats[channel];
    if (least == 0 || index->info.is_summary) {
        return true;
    }
    for (size_t i = index->first_segment[channel]; i < index->first_segment[channel + 1]; i++) {
        if (!coverage_entries(index, &index->model.segments[i], least, stats_visit, &sums, err)) {
            return false;
        }
    }
    *out = sums.stats;
    return true;
}
