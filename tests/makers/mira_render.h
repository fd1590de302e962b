/* Renders a recording as a tape, whole and in random ranges that are compared, and scans whatever was made. For tests
 * with cmocka; include it first. */
#ifndef TESTS_MIRA_RENDER_H
#define TESTS_MIRA_RENDER_H

#include "makers/tables.h"

static const struct reel_format *format_now = &reel_format_mira; /* what bag_scan() scans */
#define BAG_FORMAT format_now
#include "makers/mira_maker.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "makers/bag_scan.h"

static inline void free_maker(struct maker *m) {
    free(m->data);
}
static inline void free_tape(struct tape *t) {
    free(t->m.data);
}
#define MAKER __attribute__((cleanup(free_maker))) struct maker
#define TAPE __attribute__((cleanup(free_tape))) struct tape
#define RECORDING AUTO(reel_recording_free) struct reel_recording

static inline struct reel_recording *scan_bag(const struct maker *m) {
    format_now = &reel_format_rosbag_v1;
    struct reel_recording *r = bag_scan(m);
    format_now = &reel_format_mira;
    return r;
}

static inline struct reel_stream *stream_of(struct reel_recording *r, const struct reel_selection *selection) {
    struct reel_error err = {0};
    struct reel_stream *s = reel_stream_open(&r, 1, selection, &err);
    assert_non_null(s);
    return s;
}
static inline struct reel_plan *plan_of(struct reel_recording *r, const struct reel_selection *selection,
                                        const struct reel_write_options *options, struct reel_error *err) {
    AUTO(reel_stream_free) struct reel_stream *s = stream_of(r, selection);
    return reel_plan_new(&reel_writer_mira, options, s, NULL, err);
}

static inline struct maker render(struct reel_recording *r, const struct reel_selection *selection,
                                  const struct reel_write_options *options, unsigned ranges) {
    struct reel_error err = {0};
    AUTO(reel_plan_free) struct reel_plan *plan = plan_of(r, selection, options, &err);
    if (!plan) {
        fail_msg("%s", err.text);
    }
    struct maker out = {0};
    out.size = out.room = reel_plan_length(plan);
    out.data = (uint8_t *)malloc(out.size);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *whole = reel_planned_output_new(plan, stream_of(r, selection), &err);
    assert_non_null(whole);
    if (!reel_planned_output_read(whole, 0, out.data, out.size, &err)) {
        fail_msg("%s", err.text);
    }
    AUTO(reel_planned_output_free)
    struct reel_planned_output *parts = reel_planned_output_new(plan, stream_of(r, selection), &err);
    assert_non_null(parts);
    uint64_t random = 7;
    for (unsigned i = 0; i < ranges; i++) {
        static uint8_t piece[5000];
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t at = (size_t)((random >> 20) % out.size), size = (size_t)(random >> 50) % sizeof piece;
        size = size > out.size - at ? out.size - at : size;
        assert_true(reel_planned_output_read(parts, at, piece, size, &err));
        assert_memory_equal(piece, out.data + at, size);
    }
    return out;
}

/* ---- the fields of a tape that we wrote, one after the other ---- */

struct field {
    uint8_t type;
    size_t at, end;
    const uint8_t *content;
};
static inline bool field_next(const struct maker *m, struct field *f) {
    size_t at = f->end ? f->end : 32;
    if (at >= m->size) {
        return false;
    }
    assert_true(m->size - at >= 5);
    uint32_t size = load_u32le(m->data + at + 1);
    assert_true(size <= m->size - at - 5);
    *f = (struct field){.type = m->data[at], .at = at, .end = at + 5 + size, .content = m->data + at + 5};
    return true;
}

#endif
