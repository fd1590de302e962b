/* Segments of a channel overlap when its messages are out of time order in the file. Few overlaps cost the merge
 * nothing; many would make every query open all segments. The segments are then merged, in passes of bounded fan-in,
 * into segments that do not overlap. The old ones stay as unused space in the pack: such recordings are rare, and
 * rebuilding the pack is cheaper than compacting it again. */
#include <errno.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/disk.h"
#include "index/builder.h"

enum { FAN_IN = 64 };

/* A run: segments in time order that do not overlap. `segments` holds their positions in the array that is compacted;
 * `at` is the next. */
struct run {
    size_t *segments;
    size_t count, capacity, at;
    uint8_t *data; /* of the segment being read */
    struct pack_cursor cursor;
    struct reel_entry entry;
};

static int compare_segments(const void *a, const void *b) {
    const struct pack_segment *x = a, *y = b;
    if (x->channel != y->channel) {
        return x->channel < y->channel ? -1 : 1;
    }
    return pack_key_compare(&x->first, &y->first);
}

static void sort_segments(struct pack_segment *s, size_t n) {
    if (n > 1) {
        qsort(s, n, sizeof *s, compare_segments);
    }
}

static void free_runs(struct run *runs, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(runs[i].segments);
        free(runs[i].data);
    }
    free(runs);
}

/* Appends each segment (sorted by first key) to the first run that ends before the segment begins. False: no memory. */
static bool make_runs(const struct pack_segment *s, size_t n, struct run **out, size_t *n_out) {
    struct run *runs = NULL;
    size_t n_runs = 0, cap_runs = 0;
    for (size_t i = 0; i < n; i++) {
        size_t r = 0;
        while (r < n_runs && pack_key_compare(&s[runs[r].segments[runs[r].count - 1]].last, &s[i].first) > 0) {
            r++;
        }
        if (r == n_runs) {
            if (!GROW_ARRAY(runs, n_runs, cap_runs)) {
                free_runs(runs, n_runs);
                return false;
            }
            runs[n_runs++] = (struct run){0};
        }
        if (!GROW_ARRAY(runs[r].segments, runs[r].count, runs[r].capacity)) {
            free_runs(runs, n_runs);
            return false;
        }
        runs[r].segments[runs[r].count++] = i;
    }
    *out = runs;
    *n_out = n_runs;
    return true;
}

/* Loads the run's next entry; *more is false at its end. */
static bool builder_compact_advance(struct reel_builder *b, struct run *r, const struct pack_segment *s, bool *more,
                                    struct reel_error *err) {
    while (!pack_cursor_next(&r->cursor, &r->entry)) {
        if (r->at == r->count) {
            *more = false;
            return true;
        }
        const struct pack_segment *segment = &s[r->segments[r->at++]];
        if (!cancel_check(err)) {
            return false;
        }
        free(r->data);
        if (!(r->data = malloc(segment->size))) {
            return reel_fail_memory(err);
        }
        if (!disk_read_at(fileno(b->file), r->data, segment->size, segment->offset)) {
            return errno == 0 ? reel_fail(err, REEL_IO, "the index became shorter while it was written")
                              : reel_fail_errno(err, "could not read back the index");
        }
        if (!pack_cursor_open(&r->cursor, bytes_of(r->data, segment->size), segment->count, segment->channel)) {
            return reel_fail(err, REEL_IO, "the index read back is not what was written");
        }
    }
    *more = true;
    return true;
}

/* Merges up to FAN_IN runs into new segments at the end of the table. */
static bool merge_runs(struct reel_builder *b, const struct pack_segment *s, struct run *runs, size_t n,
                       struct reel_error *err) {
    AUTO_MEM struct reel_entry *out = malloc(REEL_SEGMENT_ENTRIES * sizeof *out);
    if (!out) {
        return reel_fail_memory(err);
    }
    bool live[FAN_IN];
    for (size_t i = 0; i < n; i++) {
        if (!builder_compact_advance(b, &runs[i], s, &live[i], err)) {
            return false;
        }
    }
    uint32_t count = 0;
    for (;;) {
        size_t best = n;
        for (size_t i = 0; i < n; i++) {
            if (live[i]) {
                struct pack_key x = pack_key_of(&runs[i].entry), y = best < n ? pack_key_of(&runs[best].entry) : x;
                best = best == n || pack_key_compare(&x, &y) < 0 ? i : best;
            }
        }
        if (best == n || count == REEL_SEGMENT_ENTRIES) {
            if (count > 0 && !builder_put_segment(b, out, count, err)) {
                return false;
            }
            count = 0;
            if (best == n) {
                return true;
            }
        }
        out[count++] = runs[best].entry;
        if (!builder_compact_advance(b, &runs[best], s, &live[best], err)) {
            return false;
        }
    }
}

/* With very many channels a channel's entries are packed a few at a time; such small segments are merged too. */
static bool is_scattered(const struct pack_segment *s, size_t n) {
    uint64_t entries = 0;
    for (size_t i = 0; i < n; i++) {
        entries += s[i].count;
    }
    return n > REEL_OVERLAP_MAX && entries < (uint64_t)n * (REEL_SEGMENT_ENTRIES / 16);
}

/* Replaces the segments s[0 … n) of one channel by less overlapping ones. *again: they may still overlap too much. */
static bool compact_channel(struct reel_builder *b, const struct pack_segment *s, size_t n, bool *again,
                            struct reel_error *err) {
    struct run *runs;
    size_t n_runs;
    if (!make_runs(s, n, &runs, &n_runs)) {
        return reel_fail_memory(err);
    }
    bool good = true;
    if (n_runs <= REEL_OVERLAP_MAX && !is_scattered(s, n)) {
        for (size_t i = 0; i < n && good; i++) {
            struct pack_model *m = &b->model;
            good = GROW_ARRAY(m->segments, m->n_segments, m->cap_segments) || reel_fail_memory(err);
            if (good) {
                m->segments[m->n_segments++] = s[i];
            }
        }
    } else {
        good = fflush(b->file) == 0 || reel_fail_errno(err, "could not write the index");
        for (size_t r = 0; r < n_runs && good; r += FAN_IN) {
            good = merge_runs(b, s, runs + r, n_runs - r < FAN_IN ? n_runs - r : FAN_IN, err);
        }
        *again |= n_runs > FAN_IN * (size_t)REEL_OVERLAP_MAX;
    }
    free_runs(runs, n_runs);
    return good;
}

bool builder_compact(struct reel_builder *b, struct reel_error *err) {
    struct pack_model *m = &b->model;
    for (bool again = true; again;) {
        again = false;
        AUTO_MEM struct pack_segment *old = m->segments;
        size_t n = m->n_segments;
        m->segments = NULL;
        m->n_segments = m->cap_segments = 0;
        sort_segments(old, n);
        for (size_t from = 0, to; from < n; from = to) {
            for (to = from + 1; to < n && old[to].channel == old[from].channel; to++) {
            }
            if (!compact_channel(b, old + from, to - from, &again, err)) {
                return false;
            }
        }
    }
    sort_segments(m->segments, m->n_segments);
    return true;
}
