/* Runs a recording through view=foxglove. For tests with cmocka, after a maker that scans. What must hold of every one:
 * sought is the same as run there, a message asked for later is the same, and any range of a planned file is that of
 * the whole. */
#ifndef TESTS_VIEW_CHECK_H
#define TESTS_VIEW_CHECK_H

#include "base/cleanup.h"
#include "convert/writer.h"
#include "makers/tables.h"
#include "stream/view.h"

struct view_seen {
    struct reel_message m;
    const char *topic;
    uint8_t *data; /* as text: NUL after it */
};
struct view_list {
    struct view_seen *items;
    size_t count;
    struct reel_stream *stream; /* kept for its topics */
};
static inline void view_list_free(struct view_list *l) {
    for (size_t i = 0; i < l->count; i++) {
        free(l->items[i].data);
    }
    free(l->items);
    reel_stream_free(l->stream);
}
#define VIEW_LIST __attribute__((cleanup(view_list_free))) struct view_list

static inline struct reel_selection view_all(void) {
    struct reel_error err = {0};
    struct reel_selection q = selection_all;
    q.view = reel_view_named("foxglove", &err);
    assert_non_null(q.view);
    return q;
}
static inline struct reel_stream *view_stream(struct reel_recording *r, const struct reel_selection *q) {
    struct reel_error err = {0};
    struct reel_stream *s = reel_writer_stream(&reel_writer_mcap, &r, 1, q, &err);
    if (!s) {
        fail_msg("%s", err.text);
    }
    return s;
}

/* What comes next, until the end. */
static inline void view_run(struct view_list *l, struct reel_stream *s) {
    struct reel_error err = {0};
    struct reel_message m;
    enum reel_step step;
    while ((step = stream_next(s, &m, &err)) == REEL_STEP_MESSAGE) {
        struct reel_bytes payload;
        if (!reel_stream_payload(s, &m, &payload, &err)) {
            fail_msg("%s", err.text);
        }
        assert_int_equal(payload.size, m.size);
        if ((l->count & (l->count - 1)) == 0) { /* 0, 1, 2, 4, …: room for as many again */
            l->items = realloc(l->items, (l->count > 0 ? 2 * l->count : 1) * sizeof *l->items);
        }
        struct view_seen *seen = &l->items[l->count++];
        *seen = (struct view_seen){.m = m, .topic = s->channels[m.channel]->name, .data = calloc(1, payload.size + 1)};
        if (payload.size > 0) {
            memcpy(seen->data, payload.data, payload.size);
        }
    }
    if (step == REEL_STEP_ERROR) {
        fail_msg("%s", err.text);
    }
}
static inline struct view_list view_list_of(struct reel_recording *r, const struct reel_selection *q) {
    struct view_list l = {.stream = view_stream(r, q)};
    view_run(&l, l.stream);
    return l;
}

/* Message n of a topic as text; NULL: there is none. */
static inline const char *view_text(const struct view_list *l, const char *topic, size_t n) {
    for (size_t i = 0; i < l->count; i++) {
        if (strcmp(l->items[i].topic, topic) == 0 && n-- == 0) {
            return (const char *)l->items[i].data;
        }
    }
    return NULL;
}
static inline size_t view_count(const struct view_list *l, const char *topic) {
    size_t n = 0;
    while (view_text(l, topic, n)) {
        n++;
    }
    return n;
}
static inline void assert_view_has(const struct view_list *l, const char *topic, size_t n, const char *part) {
    const char *text = view_text(l, topic, n);
    if (!text || !strstr(text, part)) {
        fail_msg("%s %zu: %s\nhas no %s", topic, n, text ? text : "(none)", part);
    }
}

static inline void assert_same_message(const struct view_seen *a, const struct view_seen *b, const char *what) {
    struct reel_position x = reel_position_of(&a->m), y = reel_position_of(&b->m);
    if (memcmp(&x, &y, sizeof x) != 0 || strcmp(a->topic, b->topic) != 0 || a->m.size != b->m.size ||
        memcmp(a->data, b->data, a->m.size) != 0) {
        fail_msg("%s: %s at %lld (%u): %.300s\n is %s at %lld (%u): %.300s", what, a->topic, (long long)a->m.time_ns,
                 a->m.again, a->data, b->topic, (long long)b->m.time_ns, b->m.again, b->data);
    }
}

static inline void view_check_seek(struct reel_recording *r, const struct reel_selection *q,
                                   const struct view_list *whole) {
    AUTO(reel_stream_free) struct reel_stream *s = view_stream(r, q);
    size_t step = whole->count > 300 ? whole->count / 100 : 1;
    /* backwards: nothing that was met before helps */
    for (size_t i = whole->count; i > 0; i = i > step ? i - step : 0) {
        struct reel_position mark = reel_position_of(&whole->items[i - 1].m);
        struct reel_error err = {0};
        VIEW_LIST rest = {.count = 0};
        if (!stream_seek(s, &mark, &err)) {
            fail_msg("%s", err.text);
        }
        view_run(&rest, s);
        assert_int_equal(rest.count, whole->count - i + 1);
        for (size_t k = 0; k < rest.count; k++) {
            assert_same_message(&rest.items[k], &whole->items[i - 1 + k], "sought");
        }
    }
}

static inline void view_check_later(struct reel_recording *r, const struct reel_selection *q,
                                    const struct view_list *whole) {
    AUTO(reel_stream_free) struct reel_stream *s = view_stream(r, q);
    size_t step = whole->count > 300 ? whole->count / 100 : 1;
    for (size_t i = 0; i < 2 * whole->count; i += step) { /* backwards, then forwards */
        const struct view_seen *want = &whole->items[i < whole->count ? whole->count - 1 - i : i - whole->count];
        struct reel_error err = {0};
        struct reel_bytes payload;
        if (!reel_stream_payload(s, &want->m, &payload, &err)) {
            fail_msg("%s at %lld: %s", want->topic, (long long)want->m.time_ns, err.text);
        }
        if (payload.size != want->m.size || memcmp(payload.data, want->data, payload.size) != 0) {
            fail_msg("%s at %lld: later %.*s\n was %s", want->topic, (long long)want->m.time_ns, (int)payload.size,
                     payload.data, want->data);
        }
    }
}

static inline void view_check_ranges(struct reel_recording *r, const struct reel_selection *q) {
    struct reel_error err = {0};
    struct reel_write_options options = {.compression = ""};
    AUTO(reel_stream_free) struct reel_stream *s = view_stream(r, q);
    AUTO(reel_plan_free) struct reel_plan *plan = reel_plan_new(&reel_writer_mcap, &options, s, NULL, &err);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *all = plan ? reel_planned_output_new(plan, view_stream(r, q), &err) : NULL;
    AUTO(reel_planned_output_free)
    struct reel_planned_output *piece = plan ? reel_planned_output_new(plan, view_stream(r, q), &err) : NULL;
    if (!all || !piece) {
        fail_msg("%s", err.text);
    }
    size_t size = (size_t)reel_plan_length(plan);
    AUTO_MEM uint8_t *whole = malloc(size), *part = malloc(size);
    assert_true(reel_planned_output_read(all, 0, whole, size, &err));
    uint32_t seed = 7;
    for (unsigned i = 0; i < 40; i++) {
        size_t at = (seed = seed * 1664525 + 1013904223) % size,
               n = (seed = seed * 1664525 + 1013904223) % (size - at) + 1;
        if (!reel_planned_output_read(piece, at, part, n, &err)) {
            fail_msg("%zu bytes at %zu: %s", n, at, err.text);
        }
        assert_memory_equal(part, whole + at, n);
    }
}

static inline void view_check(struct reel_recording *r, const struct reel_selection *q) {
    VIEW_LIST whole = view_list_of(r, q);
    view_check_seek(r, q, &whole);
    view_check_later(r, q, &whole);
    view_check_ranges(r, q);
}

#endif
