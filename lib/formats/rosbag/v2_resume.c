/* Finds where the walk goes on after damage: at the next bytes that look like two records in a row, but not after the
 * next chunk that the index lists, or the end of the current chunk. The length of the previous message may be wrong, so
 * its payload is searched too. The work is linear in the size of the file: the search stops when its allowance is used
 * up. */
#include "base/bytes.h"
#include "formats/rosbag/v2.h"

enum {
    PROGRESS_STEP = 4 << 20,
    PADDING_MAX = 1 << 20,
};

bool rosbag_v2_progress(struct bag2 *bag, struct rosbag_v2_run *run, uint64_t at, struct reel_error *err) {
    if (at < run->report_at) {
        return true;
    }
    run->report_at = at + PROGRESS_STEP;
    return reel_scan_progress(bag->scan, run == &bag->file ? at : bag->file.at, bag->source->size, err);
}

/* Where the search goes on. */
struct resume {
    struct bag2 *bag;
    struct rosbag_v2_run *run;
};

/* True when a record at `at` is followed by another one, by the end, or by one that the end cuts. */
static bool looks_like_record(void *context, struct window *peek, uint64_t at, bool *yes, struct reel_error *err) {
    struct resume *resume = context;
    struct bag2 *bag = resume->bag;
    const struct rosrecord_bounds bounds = {resume->run->end, "the file"};
    struct rosbag_v2_record r;
    struct reel_error why = {0};
    *yes = false;
    for (int i = 0; i < 2; i++) {
        uint64_t cost = peek->capacity;
        bag->search_left -= cost < bag->search_left ? cost : bag->search_left;
        bool read = rosbag_v2_record_read(peek, at, &bounds, &r, &why);
        if (!read && why.code != REEL_DAMAGED) {
            return reel_error_pass(err, &why);
        }
        if (!read) { /* a plain chunk that the end cuts still has records */
            bool chunk =
                r.op == ROSBAG_V2_CHUNK && r.cut && rosbag_v2_is_record(&r) && bytes_is(r.fields.compression, "none");
            *yes = chunk || (i == 1 && r.cut);
            return true;
        }
        if (!rosbag_v2_is_record(&r)) {
            return true;
        }
        bool plain = r.op == ROSBAG_V2_CHUNK && bytes_is(r.fields.compression, "none");
        at += (uint64_t)r.head + (plain ? 0
                                  : r.op == ROSBAG_V2_INDEX
                                      ? (uint64_t)load_u32le(r.fields.count.data) * ROSBAG_V2_INDEX_ENTRY
                                      : r.size);
        if (at >= resume->run->end) {
            break;
        }
    }
    *yes = true;
    return true;
}

static bool search_progress(void *context, uint64_t at, struct reel_error *err) {
    struct resume *resume = context;
    return rosbag_v2_progress(resume->bag, resume->run, at, err);
}

/* The next chunk that the index lists, or index_pos itself; `end` when there is none before it. */
static bool next_by_tail(struct bag2 *bag, const struct rosbag_v2_run *run, uint64_t *to, struct reel_error *err) {
    struct rosbag_v2_tail *tail = &bag->tail;
    *to = run->end;
    if (run != &bag->file || run->end != bag->source->size || !tail->there) {
        return true;
    }
    while (tail->ordered && tail->has && tail->info.chunk_pos <= run->at) {
        if (tail->info.chunk_pos == bag->chunk.at && bag->chunk.open) {
            break; /* still to be compared */
        }
        tail->strays_at = tail->strays++ == 0 ? tail->info.chunk_pos : tail->strays_at;
        if (!rosbag_v2_tail_next(bag, err)) {
            return false;
        }
    }
    if (tail->ordered && tail->has && tail->info.chunk_pos > run->at && tail->info.chunk_pos < *to) {
        *to = tail->info.chunk_pos;
    } else if (bag->index_pos > run->at && bag->index_pos < *to) {
        *to = bag->index_pos;
    }
    return true;
}

static void rosbag_v2_resume_report(struct bag2 *bag, const struct rosbag_v2_run *run, uint64_t to, const char *why) {
    uint64_t from = run->at, lost = to > from ? to - from : 0;
    if (run != &bag->file) {
        reel_scan_finding(bag->scan, REEL_LOSS, 0, bag->chunk.at, lost,
                          "in the chunk at %llu: %s; continued at its raw byte %llu", (ull)bag->chunk.at, why, (ull)to);
    } else if (lost == 0) {
        reel_scan_finding(bag->scan, REEL_LOSS, 0, from, 0,
                          "%s; the length of the previous message is wrong: continued at %llu", why, (ull)to);
    } else if (to == bag->source->size) {
        reel_scan_finding(bag->scan, REEL_LOSS, 0, from, lost, "truncated at byte %llu: %s", (ull)from, why);
    } else {
        reel_scan_finding(bag->scan, REEL_LOSS, 0, from, lost, "%s; bytes %llu to %llu are lost", why, (ull)from,
                          (ull)to - 1);
    }
}

/* The payload of the message before the damage, when it is in the same chunk. Searching it again uses up allowance. */
static uint64_t search_from(struct bag2 *bag, const struct rosbag_v2_run *run) {
    bool same = run->last > 0 && run->last <= run->at &&
                (run != &bag->file || (bag->chunk.open && run->last > bag->chunk.data && !bag->chunk.indexed));
    uint64_t from = same ? run->last : run->at + 1;
    uint64_t cost = same ? run->at - from + (from < run->window->offset ? run->window->capacity : 0) : 0;
    if (cost >= bag->search_left) {
        return run->at + 1;
    }
    bag->search_left -= cost;
    return from;
}

/* Zeros or spaces, as programs that build an index anew leave them behind the last chunk. */
static bool is_padding(struct window *w, uint64_t from, uint64_t to, bool *yes, struct reel_error *err) {
    uint8_t first = 0;
    *yes = to > from && to - from <= PADDING_MAX;
    for (uint64_t at = from; *yes && at < to; at++) {
        const uint8_t *p = window_at(w, at, 1, err);
        if (!p) {
            return false;
        }
        first = at == from ? *p : first;
        *yes = *p == first && (*p == 0 || *p == ' ');
    }
    return true;
}

/* *over: only padding is left before the index, which lists no further chunk: it is passed over. */
static bool pass_padding(struct bag2 *bag, struct rosbag_v2_run *run, bool *over, struct reel_error *err) {
    const struct rosbag_v2_tail *tail = &bag->tail;
    *over = run == &bag->file && run->end == bag->source->size && tail->there && tail->ordered;
    if (*over && !is_padding(run->window, run->at, bag->index_pos, over, err)) {
        return false;
    }
    if (!*over) {
        return true;
    }
    if (!rosbag_v2_chunk_close(bag, err)) {
        return false;
    }
    *over = !tail->has;
    if (*over) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, run->at, bag->index_pos - run->at,
                          "%llu bytes before the index belong to no record", (ull)(bag->index_pos - run->at));
        run->at = bag->index_pos;
    }
    return true;
}

bool rosbag_v2_resume(struct bag2 *bag, struct rosbag_v2_run *run, const char *why, struct reel_error *err) {
    uint64_t limit, found;
    if (bag->tail_met) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, run->at, run->end - run->at,
                          "the index is damaged at byte %llu: %s", (ull)run->at, why);
        run->at = run->end; /* after the last message: none is lost */
        return true;
    }
    bool over;
    if (!pass_padding(bag, run, &over, err)) {
        return false;
    }
    if (over) {
        return true;
    }
    bag->chunk.broken = true;
    bag->window.capacity = REEL_WINDOW_BYTES;
    if (!next_by_tail(bag, run, &limit, err)) {
        return false;
    }
    struct resume resume = {bag, run};
    const struct rosrecord_search search = {.window = run->window,
                                            .from = search_from(bag, run),
                                            .to = limit,
                                            .allowance = &bag->search_left,
                                            .looks_like = looks_like_record,
                                            .progress = search_progress,
                                            .context = &resume};
    if (!rosrecord_search(&search, &found, err)) {
        return false;
    }
    uint64_t to = found == ROSRECORD_NOWHERE ? limit : found;
    rosbag_v2_resume_report(bag, run, to, why);
    run->at = to;
    run->last = to + 1; /* not searched again */
    return true;
}
