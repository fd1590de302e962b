/* The longest time in which none of several channels has a message (index/index.h): walks all their entries in time
 * order. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "reel/cleanup.h"
#include "stream/merge.h"

REEL_DEFINE_AUTO(struct merge, merge_free);

/* All segments of the channels, malloc'd. */
static struct merge_segment *gather(const struct reel_index *index, const uint32_t *channels, uint32_t n,
                                    size_t *count) {
    size_t total = 0;
    for (uint32_t c = 0; c < n; c++) {
        total += index->first_segment[channels[c] + 1] - index->first_segment[channels[c]];
    }
    struct merge_segment *items = calloc(total ? total : 1, sizeof *items);
    *count = 0;
    for (uint32_t c = 0; items && c < n; c++) {
        for (size_t i = index->first_segment[channels[c]]; i < index->first_segment[channels[c] + 1]; i++) {
            items[(*count)++] =
                (struct merge_segment){.segment = &index->model.segments[i], .index = index, .channel = c};
        }
    }
    return items;
}

bool reel_index_gap(const struct reel_index *index, const uint32_t *channels, uint32_t n, uint64_t *gap_ns,
                    struct reel_error *err) {
    size_t count;
    struct merge_segment *segments = gather(index, channels, n, &count);
    AUTO(merge_free) struct merge *m = segments ? merge_new(segments, count, err) : NULL;
    if (!m) {
        return segments ? false : reel_fail_memory(err);
    }
    struct reel_entry entry;
    uint32_t source, channel;
    enum reel_step step;
    int64_t before = 0;
    *gap_ns = 0;
    merge_seek(m, &(struct merge_position){.key = {.time_ns = INT64_MIN}});
    for (bool first = true; (step = merge_next(m, &entry, &source, &channel, err)) == REEL_STEP_MESSAGE;
         first = false) {
        uint64_t between = first ? 0 : (uint64_t)entry.time_ns - (uint64_t)before;
        *gap_ns = between > *gap_ns ? between : *gap_ns;
        before = entry.time_ns;
    }
    return step == REEL_STEP_END;
}
