/* K-way merge by time over index segments of any number of recordings. Every query uses it. */
#ifndef REEL_STREAM_MERGE_H
#define REEL_STREAM_MERGE_H

#include "index/index.h"
#include "stream/stream.h"

struct merge_segment {
    const struct pack_segment *segment;
    const struct reel_index *index;
    uint32_t source;             /* position of the recording */
    uint32_t channel;            /* position in the stream's channels */
    int64_t shift_ns;            /* added to the times of its entries; the caller has checked that no time overflows */
    struct pack_key first, last; /* of the segment, shifted; set by merge_segments_sort() */
};

/* Unsigned addition: wraps for a corrupted index instead of being undefined; a valid index stays in range. */
static inline int64_t merge_shifted(int64_t time_ns, int64_t shift_ns) {
    return (int64_t)((uint64_t)time_ns + (uint64_t)shift_ns);
}

/* A time of the stream on the recording's own clock; out of range, it is before or after all messages there. */
static inline int64_t merge_unshifted(int64_t time_ns, int64_t shift_ns) {
    int64_t own;
    return __builtin_sub_overflow(time_ns, shift_ns, &own) ? (shift_ns > 0 ? INT64_MIN : INT64_MAX) : own;
}

struct merge_position { /* position of a message in the stream's order */
    struct pack_key key;
    uint32_t source;
};

/* The segments of a selection, sorted. Any number of merges read them. */
struct merge_segments {
    struct merge_segment *items;
    size_t n, capacity;
    int64_t *latest; /* largest last time in items[0 … i]; set by merge_segments_sort() */
};
bool merge_segments_add(struct merge_segments *segments, const struct merge_segment *segment, struct reel_error *err);
/* To be called once, after all were added. */
bool merge_segments_sort(struct merge_segments *segments, struct reel_error *err);
void merge_segments_done(struct merge_segments *segments);

/* In the stream's order: negative, 0 or positive. */
int merge_compare(const struct merge_position *a, const struct merge_position *b);

struct merge;

/* A merge at the first entry. `segments` must outlive it. */
struct merge *merge_new(const struct merge_segments *segments, struct reel_error *err);
void merge_free(struct merge *m);

/* Starts (again) with the first entry at or after `from`. */
void merge_seek(struct merge *m, const struct merge_position *from);

/* The next entry, with its time shifted; its channel id is the recording's. */
enum reel_step merge_next(struct merge *m, struct reel_entry *entry, uint32_t *source, uint32_t *channel,
                          struct reel_error *err);

/* Adds to counts[channel] the number of entries of each stream channel in [from, to): whole segments are counted from
 * the index, only those at the edges are read. */
bool merge_count(struct merge *m, const struct merge_position *from, const struct merge_position *to, uint64_t *counts,
                 struct reel_error *err);

#endif
