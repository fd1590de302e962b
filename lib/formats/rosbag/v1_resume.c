/* Finds where the walk goes on after damage: at the next record that the index lists or, without an index, at the next
 * bytes that look like two records in a row. The length of the previous record may be wrong, so its payload is searched
 * too. The work is linear in the size of the file: the index is read at most PASSES_MAX times, and the search stops
 * when its allowance is used up. */
#include "base/bytes.h"
#include "base/order.h"
#include "formats/rosbag/v1.h"

#include <stdlib.h>

enum {
    POSITIONS_KEPT = 1 << 16, /* index positions held at a time, 8 bytes each (twice that while gathering) */
    PASSES_MAX = 64,
    PEEK_BYTES = 4096,
};

/* ---- by the in-file index ---- */

/* Keeps the smallest positions, each once. */
static void positions_sort_unique(struct rosbag_v1_positions *positions) {
    qsort(positions->at, positions->count, sizeof *positions->at, order_u64);
    size_t n = 0;
    for (size_t i = 0; i < positions->count; i++) {
        if (n == 0 || positions->at[i] != positions->at[n - 1]) {
            positions->at[n++] = positions->at[i];
        }
    }
    positions->more |= n > POSITIONS_KEPT;
    positions->count = n > POSITIONS_KEPT ? POSITIONS_KEPT : n;
}

static bool places_add(struct rosbag_v1 *bag, struct window *w, const struct rosbag_v1_record *r, uint64_t after,
                       struct reel_error *err) {
    struct rosbag_v1_positions *positions = &bag->positions;
    uint64_t at = r->at + r->head, ceiling = positions->more ? positions->at[POSITIONS_KEPT - 1] : bag->index_pos;
    for (uint32_t left = r->size / ROSBAG_V1_INDEX_ENTRY; left > 0; left--, at += ROSBAG_V1_INDEX_ENTRY) {
        const uint8_t *p = window_at(w, at, ROSBAG_V1_INDEX_ENTRY, err);
        if (!p) {
            return false;
        }
        uint64_t pos = load_u64le(p + 8);
        if (pos <= after || pos >= ceiling) {
            continue;
        }
        positions->at[positions->count++] = pos;
        if (positions->count == 2 * (size_t)POSITIONS_KEPT) {
            positions_sort_unique(positions);
            ceiling = positions->more ? positions->at[POSITIONS_KEPT - 1] : ceiling;
        }
    }
    return true;
}

/* Collects the next positions after `after` in one pass over the index records. */
static bool places_gather(struct rosbag_v1 *bag, uint64_t after, struct reel_error *err) {
    struct rosbag_v1_positions *positions = &bag->positions;
    if (!positions->at && !(positions->at = malloc(2 * (size_t)POSITIONS_KEPT * sizeof *positions->at))) {
        return reel_fail_memory(err);
    }
    AUTO_STRUCT(window_close) struct window w = {0};
    if (!window_open(&w, bag->source, REEL_WINDOW_BYTES, err)) {
        return false;
    }
    positions->passes++;
    positions->count = positions->next = 0;
    positions->more = false;
    for (uint64_t at = bag->index_pos; at < bag->source->size;) {
        struct rosbag_v1_record r;
        struct reel_error why = {0};
        if (!rosbag_v1_record_read(&w, at, &r, &why)) {
            if (why.code != REEL_DAMAGED) {
                return reel_error_pass(err, &why);
            }
            break;
        }
        if (r.op == ROSBAG_V1_INDEX && !places_add(bag, &w, &r, after, err)) {
            return false;
        }
        at += (uint64_t)r.head + r.size;
    }
    positions_sort_unique(positions);
    return true;
}

static bool index_is_there(struct rosbag_v1 *bag, uint64_t after, bool *there, struct reel_error *err) {
    *there = false;
    if (bag->index_pos <= after || bag->index_pos >= bag->source->size) {
        return true;
    }
    AUTO_STRUCT(window_close) struct window w = {0};
    struct rosbag_v1_record r;
    struct reel_error why = {0};
    if (!window_open(&w, bag->source, PEEK_BYTES, err)) {
        return false;
    }
    if (rosbag_v1_record_read(&w, bag->index_pos, &r, &why)) {
        *there = r.op == ROSBAG_V1_INDEX;
    } else if (why.code != REEL_DAMAGED) {
        return reel_error_pass(err, &why);
    }
    return true;
}

/* The first position after `after`, except bag->at: that record is damaged. *to = ROSBAG_V1_NOWHERE when there is no
 * usable index. */
static bool next_by_index(struct rosbag_v1 *bag, uint64_t after, uint64_t *to, struct reel_error *err) {
    struct rosbag_v1_positions *positions = &bag->positions;
    *to = ROSBAG_V1_NOWHERE;
    bool there;
    if (!index_is_there(bag, after, &there, err)) {
        return false;
    }
    while (there) {
        while (positions->next < positions->count &&
               (positions->at[positions->next] <= after || positions->at[positions->next] == bag->at)) {
            positions->next++;
        }
        if (positions->next < positions->count) {
            *to = positions->at[positions->next];
            return true;
        }
        if (positions->passes > 0 && !positions->more) {
            *to = bag->index_pos; /* the index lists no message between here and itself */
            return true;
        }
        if (positions->passes == PASSES_MAX) {
            return true;
        }
        if (!places_gather(bag, after, err)) {
            return false;
        }
    }
    return true;
}

/* ---- by looking for a record ---- */

static bool is_record(const struct rosbag_v1_record *r) {
    const struct rosbag_v1_fields *f = &r->fields;
    switch (r->op) {
    case ROSBAG_V1_MESSAGE:
        return f->topic.size > 0 && f->sec.size == 4 && f->nsec.size == 4;
    case ROSBAG_V1_DEFINITION:
        return f->topic.size > 0 && f->type.size > 0;
    case ROSBAG_V1_INDEX:
        return f->topic.size > 0 && f->count.size == 4;
    default:
        return false;
    }
}

/* True when a record at `at` is followed by another one, by the end of the file, or by one that the end of the file
 * cuts. */
static bool looks_like_record(void *context, struct window *peek, uint64_t at, bool *yes, struct reel_error *err) {
    struct rosbag_v1 *bag = context;
    struct rosbag_v1_record r;
    struct reel_error why = {0};
    *yes = false;
    for (int i = 0; i < 2; i++) {
        uint64_t cost = peek->capacity;
        bag->search_left -= cost < bag->search_left ? cost : bag->search_left;
        if (!rosbag_v1_record_read(peek, at, &r, &why)) {
            *yes = i == 1 && r.cut;
            return why.code == REEL_DAMAGED || reel_error_pass(err, &why);
        }
        if (r.fields.odd || !is_record(&r)) {
            return true;
        }
        at += (uint64_t)r.head + r.size;
        if (at == bag->source->size) {
            break;
        }
    }
    *yes = true;
    return true;
}

static bool search_progress(void *context, uint64_t at, struct reel_error *err) {
    return rosbag_v1_progress(context, at, err);
}

/* Searching the previous payload again uses up allowance. */
static uint64_t search_from(struct rosbag_v1 *bag, uint64_t after) {
    uint64_t back = bag->at - after, cost = back + (after < bag->window.offset ? bag->window.capacity : 0);
    if (back == 0 || cost >= bag->search_left) {
        return bag->at + 1;
    }
    bag->search_left -= cost;
    return after + 1;
}

static bool next_by_search(struct rosbag_v1 *bag, uint64_t after, uint64_t *to, struct reel_error *err) {
    const struct rosrecord_search search = {.window = &bag->window,
                                            .from = search_from(bag, after),
                                            .to = bag->source->size,
                                            .allowance = &bag->search_left,
                                            .looks_like = looks_like_record,
                                            .progress = search_progress,
                                            .context = bag};
    return rosrecord_search(&search, to, err);
}

static void rosbag_v1_resume_report(const struct rosbag_v1 *bag, uint64_t to, const char *why) {
    uint64_t from = bag->at;
    if (to == ROSBAG_V1_NOWHERE) {
        reel_scan_finding(bag->scan, REEL_LOSS, 0, from, bag->source->size - from, "truncated at byte %llu: %s",
                          (unsigned long long)from, why);
    } else if (to <= from) {
        reel_scan_finding(bag->scan, REEL_LOSS, 0, from, 0,
                          "%s; the length of the previous record is wrong: continued at %llu", why,
                          (unsigned long long)to);
    } else {
        reel_scan_finding(bag->scan, REEL_LOSS, 0, from, to - from, "%s; bytes %llu to %llu are lost", why,
                          (unsigned long long)from, (unsigned long long)to - 1);
    }
}

bool rosbag_v1_resume(struct rosbag_v1 *bag, const char *why, struct reel_error *err) {
    uint64_t from = bag->at, size = bag->source->size, to;
    if (from == bag->index_pos || (bag->index_at != ROSBAG_V1_NOWHERE && bag->index_at == bag->index_pos)) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, from, size - from,
                          "the in-file index is damaged at byte %llu: %s", (unsigned long long)from, why);
        bag->at = size; /* after the last message: none is lost */
        return true;
    }
    uint64_t after = bag->last > 0 && bag->last <= from ? bag->last - 1 : from;
    if (!next_by_index(bag, after, &to, err) || (to == ROSBAG_V1_NOWHERE && !next_by_search(bag, after, &to, err))) {
        return false;
    }
    rosbag_v1_resume_report(bag, to, why);
    bag->at = to == ROSBAG_V1_NOWHERE ? size : to;
    bag->last = bag->at + 1; /* not searched again */
    return true;
}
