/* Damage in a log of version 0. It holds one topic, and its records are a stamp, a length and a payload: nothing marks
 * where one begins. So a record is recognised by what follows it: several records in a row, up to the end of the file,
 * whose stamps go on within a day. */
#include "base/bytes.h"
#include "formats/rosbag/v1.h"

enum {
    HEAD = ROSBAG_V1_STAMP + 4, /* sec, nsec, len */
    ROW = 4,                    /* so many records in a row are no coincidence */
    PEEK_BYTES = 4096,
    PEEK_COST = 32, /* cost of checking a row, in bytes of the allowance */
};
static const int64_t gap_max_ns = 86400 * (int64_t)ROSBAG_V1_NS_PER_SEC;

struct record {
    int64_t time_ns;
    uint64_t end;
};

static bool read_record(const struct rosbag_v1 *bag, const uint8_t *p, uint64_t at, struct record *out) {
    uint32_t nsec = load_u32le(p + 4);
    *out = (struct record){.time_ns = rosbag_v1_time(load_u32le(p), nsec),
                           .end = at + HEAD + load_u32le(p + ROSBAG_V1_STAMP)};
    return nsec < ROSBAG_V1_NS_PER_SEC && out->end <= bag->source->size;
}

static bool rosbag_goes_on(int64_t time_ns, int64_t from_ns) {
    return time_ns >= from_ns && time_ns - from_ns <= gap_max_ns;
}

/* *yes: ROW records follow each other from `at` on, or as many as fit before the end of the file. */
static bool is_row(const struct rosbag_v1 *bag, struct window *w, uint64_t at, int64_t from_ns, bool *yes,
                   struct reel_error *err) {
    uint64_t size = bag->source->size;
    *yes = true;
    for (unsigned i = 0; i < ROW && *yes && at < size; i++) {
        const uint8_t *p = size - at < HEAD ? NULL : window_at(w, at, HEAD, err);
        struct record r = {0};
        if (!p && size - at >= HEAD) {
            return false;
        }
        *yes = p && read_record(bag, p, at, &r) && rosbag_goes_on(r.time_ns, from_ns);
        from_ns = r.time_ns;
        at = r.end;
    }
    return true;
}

bool rosbag_v1_log_0_check(struct rosbag_v1 *bag, int64_t time_ns, uint64_t end, bool *yes, struct reel_error *err) {
    *yes = true;
    if (bag->messages == 0 || rosbag_goes_on(time_ns, bag->last_ns)) {
        bag->last_ns = time_ns;
        return true;
    }
    AUTO_STRUCT(window_close) struct window w = {0};
    if (!window_open(&w, bag->source, PEEK_BYTES, err) || !is_row(bag, &w, end, bag->last_ns, yes, err)) {
        return false;
    }
    if (*yes) { /* only the stamp is wrong */
        return true;
    }
    if (!is_row(bag, &w, end, time_ns + 1, yes, err)) {
        return false;
    }
    bag->last_ns = *yes ? time_ns : bag->last_ns; /* the clock was set */
    return true;
}

bool rosbag_v1_log_0_find(struct rosbag_v1 *bag, uint64_t from, uint64_t *found, struct reel_error *err) {
    int64_t from_ns = bag->messages > 0 ? bag->last_ns + 1 : 0;
    AUTO_STRUCT(window_close) struct window peek = {0};
    *found = ROSBAG_V1_NOWHERE;
    if (!window_open(&peek, bag->source, PEEK_BYTES, err)) {
        return false;
    }
    for (uint64_t at = from; at + HEAD <= bag->source->size && bag->search_left > 0; at++) {
        const uint8_t *p = window_at(&bag->window, at, HEAD, err);
        if (!p || !rosbag_v1_progress(bag, at, err)) {
            return false;
        }
        bag->search_left--;
        struct record r;
        if (!read_record(bag, p, at, &r) || !rosbag_goes_on(r.time_ns, from_ns)) {
            continue;
        }
        bag->search_left -= bag->search_left < PEEK_COST ? bag->search_left : PEEK_COST;
        bool yes;
        if (!is_row(bag, &peek, at, from_ns, &yes, err)) {
            return false;
        }
        if (yes) {
            *found = at;
            return true;
        }
    }
    return true;
}
