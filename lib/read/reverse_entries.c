/* Iterates the entries of one channel, newest first. Segments unpack forwards only, so those that overlap the current
 * position are decoded into memory. */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "read/reader.h"
#include "stream/stream.h"

struct block { /* a decoded segment; entries[0 … left) have not been visited yet */
    struct reel_entry *entries;
    uint32_t left;
};

struct back {
    const struct reel_index *index;
    int64_t before_ns;
    const struct pack_segment **waiting; /* sorted by last key; consumed from the end */
    size_t n_waiting;
    struct block *blocks;
    size_t n_blocks, cap_blocks;
};

static int compare_last(const void *a, const void *b) {
    const struct pack_segment *const *x = a, *const *y = b;
    return pack_key_compare(&(*x)->last, &(*y)->last);
}

static bool reverse_entries_decode(struct back *b, const struct pack_segment *s, struct reel_error *err) {
    AUTO_MEM uint8_t *data = malloc(s->size ? s->size : 1);
    AUTO_MEM struct reel_entry *entries = malloc(s->count * sizeof *entries);
    if (!data || !entries || !GROW_ARRAY(b->blocks, b->n_blocks, b->cap_blocks)) {
        return reel_fail_memory(err);
    }
    struct pack_cursor cursor;
    if (!index_read_segment(b->index, s, data, err)) {
        return false;
    }
    if (!pack_cursor_open(&cursor, bytes_of(data, s->size), s->count, s->channel)) {
        return reel_fail(err, REEL_CHANGED, "a segment of the index does not hold together");
    }
    uint32_t left = 0;
    while (pack_cursor_next(&cursor, &entries[left]) && entries[left].time_ns < b->before_ns) {
        left++;
    }
    b->blocks[b->n_blocks++] = (struct block){.entries = TAKE(entries), .left = left};
    return true;
}

/* The block whose last entry is the newest; b->n_blocks when all are empty. Frees empty blocks. */
static size_t newest(struct back *b) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < b->n_blocks;) {
        if (b->blocks[i].left == 0) {
            free(b->blocks[i].entries);
            b->blocks[i] = b->blocks[--b->n_blocks];
            continue;
        }
        if (best != SIZE_MAX) {
            struct pack_key x = pack_key_of(&b->blocks[i].entries[b->blocks[i].left - 1]);
            struct pack_key y = pack_key_of(&b->blocks[best].entries[b->blocks[best].left - 1]);
            best = pack_key_compare(&x, &y) > 0 ? i : best;
        } else {
            best = i;
        }
        i++;
    }
    return best;
}

static bool reverse_entries_run(struct back *b, bool (*visit)(void *context, const struct reel_entry *entry),
                                void *context, struct reel_error *err) {
    for (;;) {
        size_t best = newest(b);
        if (b->n_waiting > 0) {
            const struct pack_segment *s = b->waiting[b->n_waiting - 1];
            struct pack_key now = {0};
            if (best != SIZE_MAX) {
                now = pack_key_of(&b->blocks[best].entries[b->blocks[best].left - 1]);
            }
            if (best == SIZE_MAX || pack_key_compare(&s->last, &now) > 0) {
                b->n_waiting--;
                if (!reverse_entries_decode(b, s, err)) {
                    return false;
                }
                continue;
            }
        }
        if (best == SIZE_MAX || !visit(context, &b->blocks[best].entries[--b->blocks[best].left])) {
            return true;
        }
    }
}

bool reel_reader_reverse(struct reel_reader *reader, uint32_t channel, int64_t before_ns,
                         bool (*visit)(void *context, const struct reel_entry *entry), void *context,
                         struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(reel_reader_recording(reader));
    if (channel >= index->model.n_channels) {
        return reel_fail(err, REEL_ARGUMENT, "there is no channel %u", channel);
    }
    size_t first = index->first_segment[channel], n = index->first_segment[channel + 1] - first;
    struct back b = {.index = index, .before_ns = before_ns, .waiting = malloc((n ? n : 1) * sizeof *b.waiting)};
    if (!b.waiting) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        const struct pack_segment *s = &index->model.segments[first + i];
        if (s->first.time_ns < before_ns) {
            b.waiting[b.n_waiting++] = s;
        }
    }
    qsort(b.waiting, b.n_waiting, sizeof *b.waiting, compare_last);
    bool good = reverse_entries_run(&b, visit, context, err);
    for (size_t i = 0; i < b.n_blocks; i++) {
        free(b.blocks[i].entries);
    }
    free(b.blocks);
    free(b.waiting);
    return good;
}
