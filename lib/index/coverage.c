/* Message counts of a channel over time (index/index.h): segments no longer than a bin are counted whole, in
 * the bin in which they begin; others entry by entry. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "index/index.h"

static void coverage_add(struct reel_span *spans, uint32_t n, int64_t start_ns, uint64_t width_ns,
                         const struct reel_span *what) {
    uint64_t bin = what->first_ns < start_ns ? 0 : ((uint64_t)what->first_ns - (uint64_t)start_ns) / width_ns;
    struct reel_span *to = &spans[bin < n ? bin : n - 1];
    to->first_ns = to->count == 0 || what->first_ns < to->first_ns ? what->first_ns : to->first_ns;
    to->last_ns = to->count == 0 || what->last_ns > to->last_ns ? what->last_ns : to->last_ns;
    to->count += what->count;
}

bool reel_index_coverage(const struct reel_index *index, uint32_t channel, int64_t start_ns, uint64_t width_ns,
                         struct reel_span *spans, uint32_t n, struct reel_error *err) {
    const struct pack_model *m = &index->model;
    const struct reel_channel_stats *stats = &m->stats[channel];
    if (n == 0 || width_ns == 0) {
        return reel_fail(err, REEL_ARGUMENT, "the width of coverage bins must be positive");
    }
    if (index->info.is_summary && stats->count > 0) {
        coverage_add(spans, n, start_ns, width_ns, &(struct reel_span){stats->first_ns, stats->last_ns, stats->count});
    }
    for (size_t i = index->first_segment[channel]; i < index->first_segment[channel + 1]; i++) {
        const struct pack_segment *s = &m->segments[i];
        if ((uint64_t)s->last.time_ns - (uint64_t)s->first.time_ns <= width_ns) {
            coverage_add(spans, n, start_ns, width_ns,
                         &(struct reel_span){s->first.time_ns, s->last.time_ns, s->count});
            continue;
        }
        AUTO_MEM uint8_t *data = malloc(s->size ? s->size : 1);
        struct pack_cursor cursor;
        struct reel_entry e;
        if (!data) {
            return reel_fail_memory(err);
        }
        if (!index_read_segment(index, s, data, err)) {
            return false;
        }
        if (!pack_cursor_open(&cursor, bytes_of(data, s->size), s->count, channel)) {
            return reel_fail(err, REEL_CHANGED, "a segment of the index does not hold together");
        }
        while (pack_cursor_next(&cursor, &e)) {
            coverage_add(spans, n, start_ns, width_ns, &(struct reel_span){e.time_ns, e.time_ns, 1});
        }
    }
    return true;
}
