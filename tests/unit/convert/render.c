/* Rendering: any range of a planned output is that of the whole, by one reader or several; a streamed output comes
 * whole through any buffer. */
#include "base/bytes.h"
#include "makers/one_thread.h"
#include "makers/toy_writer.h"

#include <pthread.h>

static const struct reel_write_options options;

struct output { /* a planned output and its whole */
    struct toy toy;
    struct reel_recording *recording;
    struct reel_selection selection;
    const struct reel_writer *writer;
    struct reel_plan *plan;
    uint8_t *all;
    uint64_t size;
};

static struct reel_planned_output *output_of(const struct output *o) {
    struct reel_error err = {0};
    struct reel_selection q = o->selection;
    q.initial = reel_plan_initial_state(o->plan);
    struct reel_planned_output *r =
        reel_planned_output_new(o->plan, reel_stream_open(&o->recording, 1, &q, &err), &err);
    assert_non_null(r);
    return r;
}

static void open_output(struct output *o, const struct reel_writer *writer, const struct reel_selection *q) {
    struct reel_error err = {0};
    o->recording = toy_open(&o->toy, NULL);
    o->writer = writer;
    o->selection = *q;
    struct reel_stream *s = reel_stream_open(&o->recording, 1, q, &err);
    o->plan = reel_plan_new(writer, &options, s, NULL, &err);
    reel_stream_free(s);
    assert_non_null(o->plan);
    o->size = reel_plan_length(o->plan);
    o->all = malloc(o->size);
    struct reel_planned_output *r = output_of(o);
    for (uint64_t at = 0; at < o->size;) { /* in order, in pieces */
        size_t n = o->size - at < 1000 + at % 777 ? (size_t)(o->size - at) : 1000 + (size_t)(at % 777);
        assert_true(reel_planned_output_read(r, at, o->all + at, n, &err));
        at += n;
    }
    reel_planned_output_free(r);
    const struct toy *toys[] = {&o->toy};
    struct wanted *w;
    size_t n = oracle_stream(toys, 1, q, &w);
    toy_check_planned(bytes_of(o->all, o->size), &o->toy, w, n, writer == &toy_hashed, 0);
    free(w);
}

static void close_output(struct output *o) {
    reel_plan_free(o->plan);
    reel_recording_free(o->recording);
    toy_free(&o->toy);
    free(o->all);
    *o = (struct output){0};
    assert_int_equal(toy_open_runs, 0);
}

static void check_ranges(const struct output *o, struct reel_planned_output *r, uint64_t seed, int rounds,
                         size_t most) {
    struct reel_error err = {0};
    uint8_t *piece = malloc(most + 1);
    for (int i = 0; i < rounds; i++) {
        uint64_t at = i == 0 ? o->size : i == 1 ? 0 : toy_next(&seed) % o->size;
        size_t n = (size_t)(toy_next(&seed) % (most + 1));
        n = n > o->size - at ? (size_t)(o->size - at) : n;
        reel_planned_output_expect(r, i % 3 == 0   ? 0
                                      : i % 3 == 1 ? at + n
                                                   : at + n / 2); /* nothing, the truth, or too little */
        assert_true(reel_planned_output_read(r, at, piece, n, &err));
        assert_memory_equal(piece, o->all + at, n);
    }
    assert_false(reel_planned_output_read(r, o->size, piece, 1, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    assert_false(reel_planned_output_read(r, UINT64_MAX, piece, 2, &err));
    free(piece);
}

static void random_ranges_are_those_of_the_whole(void **state) {
    (void)state;
    SKIP_WITH_TSAN();
    static const char *const nothing[] = {"nothing"};
    for (int i = 0; i < 8; i++) {
        struct output o = {0};
        toy_random(&o.toy, (uint64_t)i, 4, i == 7 ? 0 : 2500, i % 2 ? TOY_TIES : TOY_RANDOM);
        for (uint32_t k = 0; k < 40 && i != 7; k++) {
            toy_add_message(&o.toy, 0, k % 4, o.toy.entries[k * 60].time_ns, TOY_LARGE - 20 + k, k + 1);
        }
        struct reel_selection q = selection_all;
        if (i == 2 || i == 3) {
            q.start_ns = o.toy.entries[1000].time_ns;
            q.last_per_topic = true;
        }
        q.every_n = i == 4 ? 3 : 0;
        q.every_ns = i == 5 ? 12345 : 0;
        q.topics = nothing;
        q.n_topics = i == 6;
        open_output(&o, i == 1 || i == 3 ? &toy_hashed : &toy_planned, &q);
        struct reel_planned_output *r = output_of(&o);
        check_ranges(&o, r, 5, 300, 9000);
        check_ranges(&o, r, 6, 300, 30);
        reel_planned_output_free(r);
        close_output(&o);
    }
}

/* One message larger than a group that is held whole: rendered window by window, and what lies outside is not read. */
static void a_huge_message_comes_in_windows(void **state) {
    (void)state;
    SKIP_WITH_TSAN();
    for (int i = 0; i < 2; i++) {
        struct output o = {0};
        toy_random(&o.toy, 1, 2, 100, TOY_REGULAR);
        toy_add_message(&o.toy, 0, 1, 1050000, REEL_GROUP_WHOLE_MAX * 2 + 12345, 99);
        /* a group that is just whole */
        toy_add_message(&o.toy, 0, 0, 1050001, REEL_GROUP_WHOLE_MAX - TOY_RECORD - 5, 98);
        toy_add_message(&o.toy, 0, 0, 1050001, REEL_GROUP_WHOLE_MAX - TOY_RECORD - 4, 97); /* and just not */
        open_output(&o, i ? &toy_hashed : &toy_planned, &selection_all);
        struct reel_planned_output *r = output_of(&o);
        check_ranges(&o, r, 5, 12, 3 << 20);
        check_ranges(&o, r, 6, 12, 100);
        reel_planned_output_free(r);
        close_output(&o);
    }
}

static void *range_in_thread(void *context) {
    struct output *o = context;
    struct reel_planned_output *r = output_of(o);
    struct reel_plan *plan = reel_plan_ref(o->plan);
    check_ranges(o, r, (uint64_t)(uintptr_t)&r | 1, 150, 5000);
    reel_planned_output_free(r);
    reel_plan_free(plan);
    return NULL;
}

static void renders_share_a_plan_in_threads(void **state) {
    (void)state;
    struct output o = {0};
    toy_random(&o.toy, 8, 5, 4000, TOY_JITTER);
    struct reel_selection q = selection_all;
    q.start_ns = o.toy.entries[300].time_ns;
    q.last_per_topic = true;
    open_output(&o, &toy_hashed, &q);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, range_in_thread, &o), 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    close_output(&o);
}

static void another_recording_than_planned_is_reported(void **state) {
    (void)state;
    struct output o = {0};
    struct reel_error err = {0};
    toy_random(&o.toy, 1, 2, 500, TOY_REGULAR);
    open_output(&o, &toy_planned, &selection_all);
    struct toy other = {0};
    toy_random(&other, 2, 2, 400, TOY_REGULAR);
    struct reel_recording *recording = toy_open(&other, NULL);
    struct reel_planned_output *r =
        reel_planned_output_new(o.plan, reel_stream_open(&recording, 1, &selection_all, &err), &err);
    for (int i = 0; i < 2; i++) {
        assert_false(reel_planned_output_read(r, 0, o.all, o.size, &err));
        assert_int_equal(err.code, REEL_CHANGED);
    }
    reel_planned_output_free(r);
    reel_recording_free(recording);
    toy_free(&other);
    close_output(&o);
}

/* --- streamed --- */

static size_t stream_all(struct reel_recording *recording, const struct reel_selection *q,
                         const struct reel_write_options *w, size_t step, uint8_t *out, size_t room) {
    struct reel_error err = {0};
    struct reel_row_output *r = reel_row_output_new(&toy_streamed, w, reel_stream_open(&recording, 1, q, &err), &err);
    size_t size = 0, got;
    do {
        assert_true(size + step <= room);
        assert_true(reel_row_output_next(r, out + size, step, &got, &err));
        assert_true(got <= step);
        size += got;
    } while (got > 0);
    assert_true(reel_row_output_next(r, out, step, &got, &err) && got == 0);
    reel_row_output_free(r);
    return size;
}

static void check_streamed(const struct toy *t, struct reel_recording *recording, const struct reel_selection *q,
                           uint64_t limit, size_t room) {
    static const size_t steps[] = {7, 1000, 100000, 3000000};
    struct wanted *w;
    size_t n = oracle_stream(&t, 1, q, &w), shown = limit > 0 && limit < n ? limit : n;
    struct reel_write_options o = {.limit = limit};
    uint8_t *out = malloc(room + 3000000);
    for (int i = room > 1000000 ? 1 : 0; i < 4; i++) {
        size_t size = stream_all(recording, q, &o, steps[i], out, room + 3000000);
        struct cursor c = cursor_of(bytes_of(out, size));
        assert_int_equal(cursor_u8(&c), '[');
        for (size_t k = 0; k < shown; k++) {
            toy_check_record(&c, t, &w[k], 0);
        }
        assert_int_equal(cursor_u8(&c), ']');
        assert_true(cursor_u64le(&c) == shown);
        assert_true((int64_t)cursor_u64le(&c) == (shown < n ? w[shown].entry.time_ns : 0));
        assert_true(cursor_done(&c) && !c.failed);
    }
    free(out);
    free(w);
}

static void streams_come_whole_through_any_buffer(void **state) {
    (void)state;
    static const char *const nothing[] = {"nothing"};
    static const size_t groups[] = {1, 300, 5000, 1 << 20, SIZE_MAX / 2};
    struct toy t = {0};
    toy_random(&t, 1, 4, 1500, TOY_TIES);
    struct reel_recording *r = toy_open(&t, NULL);
    for (int g = 0; g < 5; g++) {
        toy_streamed_group = groups[g];
        struct reel_selection q = selection_all;
        check_streamed(&t, r, &q, 0, 100000);
        check_streamed(&t, r, &q, 1, 100000);
        check_streamed(&t, r, &q, 700, 100000);
        check_streamed(&t, r, &q, 1500, 100000);
        q.start_ns = t.entries[700].time_ns;
        q.last_per_topic = true;
        check_streamed(&t, r, &q, 3, 100000);
        check_streamed(&t, r, &q, 0, 100000);
        q.every_n = 2;
        check_streamed(&t, r, &q, 200, 100000);
        q.topics = nothing;
        q.n_topics = 1;
        check_streamed(&t, r, &q, 0, 100000);
    }
    reel_recording_free(r);
    toy_free(&t);
}

/* Groups over the window of one MiB are emitted again for each next window. */
static void large_groups_are_emitted_again(void **state) {
    (void)state;
    SKIP_WITH_TSAN();
    static const size_t groups[] = {1, 1200000, 1 << 20, SIZE_MAX / 2};
    struct toy t = {0};
    toy_random(&t, 2, 2, 200, TOY_TIES);
    for (uint32_t i = 0; i < 24; i++) {
        toy_add_message(&t, 0, i % 2, 1000000 + i / 5 * 1000, 200000 + i, i + 1);
    }
    toy_add_message(&t, 0, 1, 1002500, 5000000, 42);
    struct reel_recording *r = toy_open(&t, NULL);
    for (int g = 0; g < 4; g++) {
        toy_streamed_group = groups[g];
        struct reel_selection q = selection_all;
        check_streamed(&t, r, &q, 0, 11000000);
        check_streamed(&t, r, &q, 60, 11000000);
        q.start_ns = 1003000;
        q.last_per_topic = true;
        check_streamed(&t, r, &q, 0, 11000000);
    }
    reel_recording_free(r);
    toy_free(&t);
}

static uint64_t emitted;
static bool count_emissions(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    emitted++;
    return toy_streamed_messages(w, out, err);
}

/* The window grows with the group, so that a huge message is not worth its square. */
static void a_huge_group_is_emitted_few_times(void **state) {
    (void)state;
    SKIP_WITH_TSAN();
    enum { SIZE = 100 << 20 };
    struct toy t = {0};
    struct reel_error err = {0};
    toy_add_channel(&t, "/a");
    toy_add_message(&t, 0, 0, 5, SIZE, 3);
    struct reel_recording *r = toy_open(&t, NULL);
    struct reel_writer writer = toy_streamed;
    writer.messages = count_emissions;
    struct reel_row_output *render =
        reel_row_output_new(&writer, &options, reel_stream_open(&r, 1, &selection_all, &err), &err);
    uint8_t *piece = malloc(1 << 20);
    size_t got, size = 0;
    do {
        assert_true(reel_row_output_next(render, piece, 1 << 20, &got, &err));
        size += got;
    } while (got > 0);
    assert_int_equal(size, SIZE + TOY_RECORD + 18);
    assert_true(emitted < 12);
    free(piece);
    reel_row_output_free(render);
    reel_recording_free(r);
    toy_free(&t);
}

static bool break_off(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    return w->group < 2 ? toy_streamed_messages(w, out, err) : reel_fail(err, REEL_IO, "the disk is gone");
}

static void a_stream_that_broke_off_stays_broken(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    toy_random(&t, 2, 2, 2000, TOY_TIES);
    struct reel_recording *r = toy_open(&t, NULL);
    struct reel_writer writer = toy_streamed;
    writer.messages = break_off;
    toy_streamed_group = 1000;
    struct reel_row_output *render =
        reel_row_output_new(&writer, &options, reel_stream_open(&r, 1, &selection_all, &err), &err);
    uint8_t piece[300];
    size_t got, size = 0;
    while (reel_row_output_next(render, piece, sizeof piece, &got, &err)) {
        assert_true(got > 0);
        size += got;
    }
    assert_int_equal(err.code, REEL_IO);
    assert_true(size > 1000 && size < 3000);
    for (int i = 0; i < 3; i++) {
        assert_false(reel_row_output_next(render, piece, sizeof piece, &got, &err));
        assert_int_equal(got, 0);
    }
    reel_row_output_free(render);
    reel_recording_free(r);
    toy_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_ranges_are_those_of_the_whole),
        cmocka_unit_test(a_huge_message_comes_in_windows),
        cmocka_unit_test(renders_share_a_plan_in_threads),
        cmocka_unit_test(another_recording_than_planned_is_reported),
        cmocka_unit_test(streams_come_whole_through_any_buffer),
        cmocka_unit_test(large_groups_are_emitted_again),
        cmocka_unit_test(a_huge_group_is_emitted_few_times),
        cmocka_unit_test(a_stream_that_broke_off_stays_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
