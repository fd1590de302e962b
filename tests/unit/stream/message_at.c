/* One message by its place or by a time, against the oracle; and entries newest first. */
#include "base/cleanup.h"
#include "makers/toy_oracle.h"

static const enum toy_order orders[] = {TOY_REGULAR, TOY_TIES, TOY_JITTER, TOY_REVERSED, TOY_RANDOM, TOY_EXTREME};
enum { N_ORDERS = sizeof orders / sizeof *orders };

static void check_index(struct reel_recording *r, const struct toy *t, const struct reel_selection *q, uint64_t tries) {
    struct wanted *w;
    struct reel_error err = {0};
    struct reel_message m;
    uint64_t seed = 2;
    int64_t n = (int64_t)oracle_stream(&t, 1, q, &w);
    for (uint64_t i = 0; i < tries && n > 0; i++) {
        int64_t index = (int64_t)(toy_next(&seed) % (uint64_t)(2 * n)) - n;
        index = i == 0 ? 0 : i == 1 ? n - 1 : i == 2 ? -1 : i == 3 ? -n : index;
        struct reel_stream *s = reel_stream_open(&r, 1, q, &err);
        assert_true(reel_message_at_index(s, index, &m, &err));
        assert_true(oracle_agrees(&w[index < 0 ? n + index : index], s, &m));
        reel_stream_free(s);
    }
    const int64_t outside[] = {n, n + 1, -n - 1, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        struct reel_stream *s = reel_stream_open(&r, 1, q, &err);
        assert_false(reel_message_at_index(s, outside[i], &m, &err));
        assert_int_equal(err.code, REEL_NOT_FOUND);
        reel_stream_free(s);
    }
    free(w);
}

static void messages_by_place(void **state) {
    (void)state;
    static const char *const topics[] = {"/topic/1"};
    for (int i = 0; i < N_ORDERS; i++) {
        struct toy t = {0};
        toy_random(&t, 1, 3, 1500, orders[i]);
        struct reel_recording *r = toy_open(&t, NULL);
        struct reel_selection q = selection_all;
        check_index(r, &t, &q, 100);
        q.topics = topics;
        q.n_topics = 1;
        check_index(r, &t, &q, 50);
        q.start_ns = t.entries[300].time_ns;
        check_index(r, &t, &q, 50);
        q.end_ns = t.entries[1200].time_ns;
        check_index(r, &t, &q, 50);
        q.n_topics = 0;
        q.last_per_topic = true;
        check_index(r, &t, &q, 50);
        q.every_n = 2;
        check_index(r, &t, &q, 50);
        reel_recording_free(r);
        toy_free(&t);
    }
}

static void messages_by_place_in_many_segments(void **state) {
    (void)state;
    for (int i = 0; i < N_ORDERS; i++) {
        struct toy t = {0};
        toy_random(&t, 1, 2, 100000, orders[i]);
        struct reel_recording *r = toy_open(&t, NULL);
        check_index(r, &t, &selection_all, 12);
        reel_recording_free(r);
        toy_free(&t);
    }
}

static void the_state_in_front_counts_too(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    struct reel_message m;
    toy_random(&t, 1, 4, 100, TOY_REGULAR);
    struct reel_recording *r = toy_open(&t, NULL);
    struct reel_selection q = selection_all;
    q.start_ns = t.entries[50].time_ns;
    q.state_at_cut = toy_has_state = true;
    for (int64_t i = -54; i < 54; i++) {
        struct reel_stream *s = reel_stream_open(&r, 1, &q, &err);
        assert_true(reel_message_at_index(s, i, &m, &err));
        int64_t place = i < 0 ? 54 + i : i;
        assert_true(place < 4 ? m.initial == place + 1 : m.entry.offset == t.entries[50 + place - 4].offset);
        reel_stream_free(s);
    }
    toy_has_state = false;
    reel_recording_free(r);
    toy_free(&t);
}

static void messages_by_time(void **state) {
    (void)state;
    static const char *const topics[] = {"/topic/2", "/topic/0"};
    uint64_t seed = 7;
    for (int i = 0; i < N_ORDERS; i++) {
        struct toy t = {0};
        struct reel_error err = {0};
        toy_random(&t, 4, 5, 800, orders[i]);
        struct reel_recording *r = toy_open(&t, NULL);
        const struct toy *toys[] = {&t};
        for (int round = 0; round < 100; round++) {
            struct reel_selection q = selection_all;
            q.topics = topics;
            q.n_topics = round % 3;
            struct wanted *w;
            if (round >= 50) {
                int64_t one = t.entries[toy_next(&seed) % 800].time_ns,
                        other = t.entries[toy_next(&seed) % 800].time_ns;
                q.start_ns = one < other ? one : other;
                q.end_ns = one < other ? other : one;
            }
            size_t n = oracle_stream(toys, 1, &q, &w), best = n;
            int64_t at = round == 0 ? INT64_MIN : t.entries[toy_next(&seed) % 800].time_ns;
            at = at < INT64_MAX - 2 && round % 2 ? at + 1 : at;
            for (size_t k = 0; k < n && w[k].entry.time_ns <= at && w[k].entry.time_ns != INT64_MAX; k++) {
                best = k;
            }
            struct reel_stream *s = NULL;
            struct reel_message m;
            q.last_per_topic = q.state_at_cut = toy_has_state = true; /* play no part here */
            bool found = reel_message_at_time(r, &q, at, &s, &m, &err);
            assert_int_equal(found, best < n);
            assert_true(found ? oracle_agrees(&w[best], s, &m) : err.code == REEL_NOT_FOUND && s == NULL);
            struct reel_bytes payload;
            assert_true(!found || reel_stream_payload(s, &m, &payload, &err));
            reel_stream_free(s);
            free(w);
        }
        toy_has_state = false;
        reel_recording_free(r);
        toy_free(&t);
    }
}

/* Of a recording that grows, what has come since an earlier size. */
static void only_new_messages_are_counted(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    struct reel_message m;
    enum { N = 100, OLD = 60 };
    toy_random(&t, 1, 1, N, TOY_REGULAR);
    struct reel_recording *r = toy_open(&t, NULL);
    struct reel_selection q = selection_all;
    const struct reel_since since = {.bytes = t.entries[OLD].offset};
    q.since = &since;
    for (int64_t i = -(N - OLD) - 1; i <= N - OLD; i++) {
        AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &q, &err);
        bool there = i >= -(N - OLD) && i < N - OLD;
        assert_int_equal(reel_message_at_index(s, i, &m, &err), there);
        assert_true(!there || m.entry.offset == t.entries[i < 0 ? N + i : OLD + i].offset);
    }
    AUTO(reel_stream_free) struct reel_stream *at = NULL;
    assert_false(reel_message_at_time(r, &q, t.entries[OLD - 1].time_ns, &at, &m, &err));
    reel_recording_free(r);
    toy_free(&t);
}

/* A stream continued anywhere goes on as it would have, also when it is sampled. */
static void new_messages_are_sampled_from_the_first_one(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    toy_random(&t, 1, 2, 100, TOY_REGULAR);
    struct reel_recording *r = toy_open(&t, NULL);
    for (int by_time = 0; by_time < 2; by_time++) {
        struct reel_selection q = selection_all;
        const struct reel_since since = {.bytes = t.entries[61].offset};
        q.since = &since;
        q.every_n = by_time ? 0 : 3;
        q.every_ns = by_time ? 7000 : 0;
        struct reel_message expected[100], m;
        size_t n = 0;
        AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &q, &err);
        while (stream_next(s, &expected[n], &err) == REEL_STEP_MESSAGE) {
            n++;
        }
        assert_in_range(n, 5, 30);
        for (size_t i = 0; i < n; i++) {
            struct reel_position mark = reel_position_of(&expected[i]);
            assert_true(stream_seek(s, &mark, &err));
            for (size_t k = i; k < n; k++) {
                assert_true(stream_next(s, &m, &err) == REEL_STEP_MESSAGE);
                assert_int_equal(m.entry.offset, expected[k].entry.offset);
            }
            assert_true(stream_next(s, &m, &err) == REEL_STEP_END);
        }
    }
    reel_recording_free(r);
    toy_free(&t);
}

struct backwards {
    const struct wanted *w;
    size_t left, stop_after;
};

static bool visit(void *context, const struct reel_entry *e) {
    struct backwards *b = context;
    assert_true(b->left > 0);
    assert_memory_equal(e, &b->w[--b->left].entry, sizeof *e);
    return --b->stop_after > 0;
}

static void entries_newest_first(void **state) {
    (void)state;
    static const char *const topics[] = {"/topic/1"};
    uint64_t seed = 3;
    for (int i = 0; i < N_ORDERS; i++) {
        struct toy t = {0};
        struct reel_error err = {0};
        toy_random(&t, 4, 2, 30000, orders[i]);
        const struct toy *toys[] = {&t};
        struct reel_recording *r = toy_open(&t, NULL);
        struct reel_reader *reader = reel_reader_new(r, &err);
        for (int round = 0; round < 20; round++) {
            struct reel_selection q = selection_all;
            q.topics = topics;
            q.n_topics = 1;
            q.end_ns = t.entries[toy_next(&seed) % 30000].time_ns;
            q.end_ns = q.end_ns == INT64_MAX ? 0 : q.end_ns;
            struct wanted *w;
            size_t n = oracle_stream(toys, 1, &q, &w);
            struct backwards b = {.w = w, .left = n, .stop_after = round % 2 ? SIZE_MAX : 10};
            assert_true(reel_reader_reverse(reader, 1, q.end_ns, visit, &b, &err));
            assert_true(b.left == 0 || b.stop_after == 0);
            free(w);
        }
        assert_false(reel_reader_reverse(reader, 2, 0, visit, NULL, &err));
        assert_int_equal(err.code, REEL_ARGUMENT);
        reel_reader_free(reader);
        reel_recording_free(r);
        toy_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_by_place),
        cmocka_unit_test(messages_by_place_in_many_segments),
        cmocka_unit_test(the_state_in_front_counts_too),
        cmocka_unit_test(messages_by_time),
        cmocka_unit_test(only_new_messages_are_counted),
        cmocka_unit_test(new_messages_are_sampled_from_the_first_one),
        cmocka_unit_test(entries_newest_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
