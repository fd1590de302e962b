/* See merge.h. A segment is opened when the merge reaches its first entry and closed after its last, so about as many
 * are open as there are channels. */
#include "stream/merge.h"
#include "base/bytes.h"
#include "base/cancel.h"

#include <stdlib.h>

struct lane { /* an open segment */
    struct reel_entry entry;
    struct pack_cursor cursor;
    const struct merge_segment *of;
    uint8_t *data;
    size_t capacity;
    struct lane *next_free;
};

struct slot {
    int64_t time_ns; /* key of lane->entry, stored here so that most comparisons do not load the lane */
    struct lane *lane;
};

enum { CHECK_EACH = 256 }; /* entries, until it is looked whether the work was cancelled */

struct merge {
    uint32_t until_check;
    const struct merge_segments *all;
    size_t n, next; /* how many there are, and the first one that has not been reached */
    struct merge_position from;
    struct slot *heap;
    size_t open, capacity;
    struct lane *free;
};

static int merge_compare_positions(const struct pack_key *a, uint32_t a_source, const struct pack_key *b,
                                   uint32_t b_source) {
    if (a->time_ns != b->time_ns) {
        return a->time_ns < b->time_ns ? -1 : 1;
    }
    if (a_source != b_source) {
        return a_source < b_source ? -1 : 1;
    }
    return pack_key_compare(a, b);
}

int merge_compare(const struct merge_position *a, const struct merge_position *b) {
    return merge_compare_positions(&a->key, a->source, &b->key, b->source);
}

static int compare_first(const void *a, const void *b) {
    const struct merge_segment *x = a, *y = b;
    return merge_compare_positions(&x->first, x->source, &y->first, y->source);
}

bool merge_segments_add(struct merge_segments *all, const struct merge_segment *segment, struct reel_error *err) {
    if (!GROW_ARRAY(all->items, all->n, all->capacity)) {
        return reel_fail_memory(err);
    }
    all->items[all->n++] = *segment;
    return true;
}

bool merge_segments_sort(struct merge_segments *all, struct reel_error *err) {
    if (!(all->latest = malloc((all->n ? all->n : 1) * sizeof *all->latest))) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < all->n; i++) {
        struct merge_segment *s = &all->items[i];
        s->first = s->segment->first;
        s->last = s->segment->last;
        s->first.time_ns = merge_shifted(s->first.time_ns, s->shift_ns);
        s->last.time_ns = merge_shifted(s->last.time_ns, s->shift_ns);
    }
    if (all->n > 1) {
        qsort(all->items, all->n, sizeof *all->items, compare_first);
    }
    for (size_t i = 0; i < all->n; i++) {
        int64_t last = all->items[i].last.time_ns;
        all->latest[i] = i > 0 && all->latest[i - 1] > last ? all->latest[i - 1] : last;
    }
    return true;
}

void merge_segments_done(struct merge_segments *all) {
    free(all->items);
    free(all->latest);
}

struct merge *merge_new(const struct merge_segments *all, struct reel_error *err) {
    struct merge *m = calloc(1, sizeof *m);
    if (!m) {
        reel_fail_memory(err);
        return NULL;
    }
    *m = (struct merge){.all = all, .n = all->n, .from = {.key = {.time_ns = REEL_TIME_MIN}}};
    return m;
}

static void close_lane(struct merge *m, struct lane *lane) {
    lane->next_free = m->free;
    m->free = lane;
}

void merge_free(struct merge *m) {
    if (!m) {
        return;
    }
    while (m->open > 0) {
        close_lane(m, m->heap[--m->open].lane);
    }
    while (m->free) {
        struct lane *lane = m->free;
        m->free = lane->next_free;
        free(lane->data);
        free(lane);
    }
    free(m->heap);
    free(m);
}

void merge_seek(struct merge *m, const struct merge_position *from) {
    while (m->open > 0) {
        close_lane(m, m->heap[--m->open].lane);
    }
    m->from = *from;
    size_t low = 0, high = m->n; /* the first segment that may still have entries */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->all->latest[middle] < from->key.time_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    m->next = low;
}

/* ---- the heap */

static inline bool slot_before(const struct slot *a, const struct slot *b) {
    if (a->time_ns != b->time_ns) {
        return a->time_ns < b->time_ns;
    }
    struct pack_key x = pack_key_of(&a->lane->entry), y = pack_key_of(&b->lane->entry);
    return merge_compare_positions(&x, a->lane->of->source, &y, b->lane->of->source) < 0;
}

static void sift_down(struct merge *m, size_t at) {
    struct slot moved = m->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= m->open) {
            break;
        }
        if (child + 1 < m->open && slot_before(&m->heap[child + 1], &m->heap[child])) {
            child++;
        }
        if (!slot_before(&m->heap[child], &moved)) {
            break;
        }
        m->heap[at] = m->heap[child];
        at = child;
    }
    m->heap[at] = moved;
}

static bool push(struct merge *m, struct lane *lane, struct reel_error *err) {
    if (!GROW_ARRAY(m->heap, m->open, m->capacity)) {
        close_lane(m, lane);
        return reel_fail_memory(err);
    }
    struct slot slot = {.time_ns = lane->entry.time_ns, .lane = lane};
    size_t at = m->open++;
    while (at > 0 && slot_before(&slot, &m->heap[(at - 1) / 2])) {
        m->heap[at] = m->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    m->heap[at] = slot;
    return true;
}

/* ---- segments */

/* Loads the segment into `lane`. */
static bool merge_load(struct lane *lane, const struct merge_segment *s, struct reel_error *err) {
    if (s->segment->size > lane->capacity) {
        uint8_t *data = realloc(lane->data, s->segment->size);
        if (!data) {
            return reel_fail_memory(err);
        }
        lane->data = data;
        lane->capacity = s->segment->size;
    }
    lane->of = s;
    if (!index_read_segment(s->index, s->segment, lane->data, err)) {
        return false;
    }
    return pack_cursor_open(&lane->cursor, bytes_of(lane->data, s->segment->size), s->segment->count,
                            s->segment->channel) ||
           reel_fail(err, REEL_CHANGED, "a segment of the index does not hold together");
}

static inline bool lane_next(struct lane *lane) {
    if (!pack_cursor_next(&lane->cursor, &lane->entry)) {
        return false;
    }
    lane->entry.time_ns = merge_shifted(lane->entry.time_ns, lane->of->shift_ns);
    return true;
}

static struct lane *take_lane(struct merge *m, struct reel_error *err) {
    struct lane *lane = m->free;
    if (lane) {
        m->free = lane->next_free;
    } else if (!(lane = calloc(1, sizeof *lane))) {
        reel_fail_memory(err);
    }
    return lane;
}

/* Opens a segment at its first entry at or after m->from. */
static bool open_segment(struct merge *m, const struct merge_segment *s, struct reel_error *err) {
    if (merge_compare_positions(&s->last, s->source, &m->from.key, m->from.source) < 0) {
        return true;
    }
    struct lane *lane = take_lane(m, err);
    if (!lane) {
        return false;
    }
    if (!merge_load(lane, s, err)) {
        close_lane(m, lane);
        return false;
    }
    int64_t from;
    if (!__builtin_sub_overflow(m->from.key.time_ns, s->shift_ns, &from)) {
        pack_cursor_skip(&lane->cursor, from);
    }
    while (lane_next(lane)) {
        struct pack_key key = pack_key_of(&lane->entry);
        if (merge_compare_positions(&key, s->source, &m->from.key, m->from.source) >= 0) {
            return push(m, lane, err);
        }
    }
    close_lane(m, lane);
    return true;
}

static bool open_reached(struct merge *m, struct reel_error *err) {
    while (m->next < m->n) {
        const struct merge_segment *s = &m->all->items[m->next];
        if (m->open > 0) {
            const struct lane *top = m->heap[0].lane;
            struct pack_key key = pack_key_of(&top->entry);
            if (merge_compare_positions(&s->first, s->source, &key, top->of->source) > 0) {
                break;
            }
        }
        m->next++;
        if (!open_segment(m, s, err)) {
            return false;
        }
    }
    return true;
}

enum reel_step merge_next(struct merge *m, struct reel_entry *entry, uint32_t *source, uint32_t *channel,
                          struct reel_error *err) {
    if (m->until_check-- == 0) {
        m->until_check = CHECK_EACH;
        if (!cancel_check(err)) {
            return REEL_STEP_ERROR;
        }
    }
    if (m->next < m->n && !open_reached(m, err)) {
        return REEL_STEP_ERROR;
    }
    if (m->open == 0) {
        return REEL_STEP_END;
    }
    struct lane *lane = m->heap[0].lane;
    *entry = lane->entry;
    *source = lane->of->source;
    *channel = lane->of->channel;
    if (lane_next(lane)) {
        m->heap[0].time_ns = lane->entry.time_ns;
    } else {
        close_lane(m, lane);
        m->heap[0] = m->heap[--m->open];
    }
    if (m->open > 1) {
        sift_down(m, 0);
    }
    return REEL_STEP_MESSAGE;
}

/* Counts the entries of one segment in [from, to). */
static bool merge_count_in(struct merge *m, const struct merge_segment *s, const struct merge_position *from,
                           const struct merge_position *to, uint64_t *count, struct reel_error *err) {
    if (merge_compare_positions(&s->last, s->source, &from->key, from->source) < 0 ||
        merge_compare_positions(&s->first, s->source, &to->key, to->source) >= 0) {
        return true;
    }
    if (merge_compare_positions(&s->first, s->source, &from->key, from->source) >= 0 &&
        merge_compare_positions(&s->last, s->source, &to->key, to->source) < 0) {
        *count += s->segment->count;
        return true;
    }
    struct lane *lane = take_lane(m, err);
    if (!lane) {
        return false;
    }
    bool good = cancel_check(err) && merge_load(lane, s, err);
    while (good && lane_next(lane)) {
        struct pack_key key = pack_key_of(&lane->entry);
        *count += merge_compare_positions(&key, s->source, &from->key, from->source) >= 0 &&
                  merge_compare_positions(&key, s->source, &to->key, to->source) < 0;
    }
    close_lane(m, lane);
    return good;
}

bool merge_count(struct merge *m, const struct merge_position *from, const struct merge_position *to, uint64_t *counts,
                 struct reel_error *err) {
    for (size_t i = 0; i < m->n; i++) {
        const struct merge_segment *s = &m->all->items[i];
        if (!merge_count_in(m, s, from, to, &counts[s->channel], err)) {
            return false;
        }
    }
    return true;
}
