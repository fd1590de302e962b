/* Planning: the length is exact, a plan outlives its stream, can be cancelled, holds the front, and is the same each
 * time. */
#include "makers/toy_writer.h"

#include "base/bytes.h"
#include "convert/writer_run.h"
#include "stream/initial_state.h"

static const struct reel_write_options options;

static struct reel_plan *plan_of(struct reel_recording *r, const struct reel_writer *writer,
                                 const struct reel_write_options *o, const struct reel_selection *q) {
    struct reel_error err = {0};
    struct reel_stream *s = reel_stream_open(&r, 1, q, &err);
    struct reel_plan *plan = reel_plan_new(writer, o, s, NULL, &err);
    reel_stream_free(s);
    assert_non_null(plan);
    return plan;
}

/* The whole output by one read. */
static uint8_t *whole(struct reel_recording *r, struct reel_plan *plan, const struct reel_selection *q) {
    struct reel_error err = {0};
    struct reel_selection with_initial_state = *q;
    with_initial_state.initial = reel_plan_initial_state(plan);
    struct reel_planned_output *render =
        reel_planned_output_new(plan, reel_stream_open(&r, 1, &with_initial_state, &err), &err);
    uint8_t *all = malloc(reel_plan_length(plan) + 1);
    assert_true(reel_planned_output_read(render, 0, all, reel_plan_length(plan), &err));
    reel_planned_output_free(render);
    return all;
}

static void check(const struct toy *t, struct reel_recording *r, const struct reel_writer *writer,
                  const struct reel_selection *q) {
    struct wanted *w;
    size_t n = oracle_stream(&t, 1, q, &w);
    bool cut = q->start_ns != REEL_TIME_MIN;
    struct reel_write_options o = {.is_cut = cut, .start_ns = q->start_ns};
    int64_t rebase = cut && (writer->needs & REEL_REBASES_CUT) ? q->start_ns : 0;
    struct reel_plan *plan = plan_of(r, writer, &o, q), *again = plan_of(r, writer, &o, q);
    assert_true(reel_plan_length(plan) == reel_plan_length(again));
    uint8_t *all = whole(r, plan, q), *same = whole(r, again, q);
    assert_memory_equal(all, same, reel_plan_length(plan));
    toy_check_planned(bytes_of(all, reel_plan_length(plan)), t, w, n, writer == &toy_hashed, rebase);
    assert_true(reel_plan_memory(plan) > 0);
    reel_plan_free(plan);
    reel_plan_free(again);
    free(all);
    free(same);
    free(w);
    assert_int_equal(toy_open_runs, 0);
}

static void lengths_are_exact_and_bytes_right(void **state) {
    (void)state;
    static const char *const topics[] = {"/topic/1"}, *const nothing[] = {"nothing"};
    static const enum toy_order orders[] = {TOY_REGULAR, TOY_TIES, TOY_RANDOM};
    for (int i = 0; i < 6; i++) {
        const struct reel_writer *writer = i % 2 ? &toy_hashed : &toy_planned;
        struct toy t = {0};
        toy_random(&t, 1, 4, 3000, orders[i / 2]);
        for (int k = 0; k < 30; k++) { /* large ones among them */
            toy_add_message(&t, 0, (uint32_t)k % 4, t.entries[k * 50].time_ns + 1, TOY_LARGE - 10 + (uint32_t)k, 5);
        }
        struct reel_recording *r = toy_open(&t, NULL);
        struct reel_selection q = selection_all;
        check(&t, r, writer, &q);
        q.topics = topics;
        q.n_topics = 1;
        check(&t, r, writer, &q);
        q.topics = nothing;
        check(&t, r, writer, &q);
        q.n_topics = 0;
        q.start_ns = t.entries[500].time_ns;
        check(&t, r, writer, &q);
        q.end_ns = t.entries[2000].time_ns;
        q.last_per_topic = true;
        check(&t, r, writer, &q);
        q.every_n = 3;
        check(&t, r, writer, &q);
        q.end_ns = q.start_ns;
        q.last_per_topic = false;
        check(&t, r, writer, &q);
        reel_recording_free(r);
        toy_free(&t);
    }
}

static void a_plan_outlives_its_stream_and_shares_its_front(void **state) {
    (void)state;
    struct toy t = {0};
    toy_random(&t, 1, 4, 300, TOY_REGULAR);
    struct reel_recording *r = toy_open(&t, NULL);
    struct reel_selection q = selection_all;
    q.start_ns = t.entries[100].time_ns;
    q.state_at_cut = toy_has_state = true;
    struct reel_plan *plan = plan_of(r, &toy_planned, &options, &q), *second = reel_plan_ref(plan);
    reel_plan_free(second);
    struct reel_initial_state *initial = reel_plan_initial_state(plan);
    assert_non_null(initial);
    assert_int_equal(initial->n_messages, 4);
    assert_int_equal(initial->references, 1);
    uint8_t *all = whole(r, plan, &q); /* made by a stream that takes the initial state over */
    toy_has_state = false;
    uint8_t *same = whole(r, plan, &q); /* state_at would add nothing now */
    assert_memory_equal(all, same, reel_plan_length(plan));
    assert_true(load_u64le(all + 8) == 204);
    struct reel_plan *other = plan_of(r, &toy_planned, &options, &selection_all);
    assert_null(reel_plan_initial_state(other));
    reel_plan_free(other);
    free(all);
    free(same);
    reel_plan_free(plan);
    reel_plan_free(NULL);
    reel_recording_free(r);
    toy_free(&t);
}

struct watch {
    uint64_t calls, done, total;
    bool stop;
};
static bool report(void *context, uint64_t done, uint64_t total) {
    struct watch *w = context;
    assert_true(done >= w->done && done <= total);
    *w = (struct watch){.calls = w->calls + 1, .done = done, .total = total, .stop = w->stop};
    return !w->stop;
}

static void progress_is_reported_and_can_cancel(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    toy_random(&t, 1, 4, 10000, TOY_REGULAR);
    struct reel_recording *r = toy_open(&t, NULL);
    struct watch w = {0};
    for (int i = 0; i < 2; i++) {
        struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
        struct reel_plan *plan =
            reel_plan_new(&toy_planned, &options, s, &(struct reel_progress){.report = report, .context = &w}, &err);
        reel_stream_free(s);
        assert_true(i == 0 ? plan != NULL && w.calls > 3 && w.total == 10000
                           : plan == NULL && err.code == REEL_CANCELLED);
        reel_plan_free(plan);
        w = (struct watch){.stop = true};
    }
    assert_int_equal(toy_open_runs, 0);
    reel_recording_free(r);
    toy_free(&t);
}

static bool take_none(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    (void)err;
    (void)w;
    reel_sink_u8(out, 'x');
    return true;
}
static bool refuse(struct reel_write *w, struct reel_error *err) {
    return toy_writer_open(w, err) && reel_fail(err, REEL_UNSUPPORTED, "not today");
}

static void writers_that_fail_are_reported_and_closed(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    toy_random(&t, 1, 1, 10, TOY_REGULAR);
    struct reel_recording *r = toy_open(&t, NULL);
    struct reel_writer idle = toy_planned, closed = toy_planned;
    idle.messages = take_none;
    closed.open = refuse;
    struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
    assert_null(reel_plan_new(&idle, &options, s, NULL, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    assert_null(reel_plan_new(&closed, &options, s, NULL, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_int_equal(toy_open_runs, 0);
    assert_null(reel_row_output_new(&closed, &options, s, &err)); /* takes the stream over even so */
    assert_int_equal(toy_open_runs, 0);
    reel_recording_free(r);
    toy_free(&t);
}

/* A plan outlives the texts of its options: whoever made it may free them. */
static void options_are_copied(void **state) {
    (void)state;
    struct toy t = {0};
    toy_random(&t, 1, 1, 10, TOY_REGULAR);
    struct reel_recording *r = toy_open(&t, NULL);
    char compression[] = "zstd", first[] = "pose.x", second[] = "pose.y", id[] = "one";
    const char *fields[] = {first, second}, *ids[] = {id};
    const struct reel_write_options o = {
        .compression = compression, .fields = fields, .n_fields = 2, .source_ids = ids};
    struct reel_plan *plan = plan_of(r, &toy_planned, &o, &selection_all);
    memset(compression, 'x', 4);
    memset(first, 'x', 6);
    memset(second, 'x', 6);
    memset(id, 'x', 3);
    fields[0] = fields[1] = ids[0] = "gone";
    assert_string_equal(plan->options.compression, "zstd");
    assert_int_equal(plan->options.n_fields, 2);
    assert_string_equal(plan->options.fields[0], "pose.x");
    assert_string_equal(plan->options.fields[1], "pose.y");
    assert_string_equal(plan->options.source_ids[0], "one");
    reel_plan_free(plan);
    reel_recording_free(r);
    toy_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_exact_and_bytes_right),
        cmocka_unit_test(a_plan_outlives_its_stream_and_shares_its_front),
        cmocka_unit_test(options_are_copied),
        cmocka_unit_test(progress_is_reported_and_can_cancel),
        cmocka_unit_test(writers_that_fail_are_reported_and_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
