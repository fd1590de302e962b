/* The longest time in which none of several channels has a message (index/index.h): walks all their entries in time
 * order. */
#include "base/cleanup.h"
#include "reel/cleanup.h"
#include "stream/merge.h"

REEL_DEFINE_AUTO(struct merge, merge_free);

/* All segments of the channels. */
static bool gap_gather(const struct reel_index *index, const uint32_t *channels, uint32_t n, struct merge_segments *all,
                       struct reel_error *err) {
    for (uint32_t c = 0; c < n; c++) {
        for (size_t i = index->first_segment[channels[c]]; i < index->first_segment[channels[c] + 1]; i++) {
            const struct merge_segment added = {.segment = &index->model.segments[i], .index = index, .channel = c};
            if (!merge_segments_add(all, &added, err)) {
                return false;
            }
        }
    }
    return merge_segments_sort(all, err);
}

bool reel_index_gap(const struct reel_index *index, const uint32_t *channels, uint32_t n, uint64_t *gap_ns,
                    struct reel_error *err) {
    AUTO_STRUCT(merge_segments_done) struct merge_segments all = {.n = 0};
    AUTO(merge_free) struct merge *m = gap_gather(index, channels, n, &all, err) ? merge_new(&all, err) : NULL;
    if (!m) {
        return false;
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
