/* stream/stream.h against a naive oracle: what a stream gives, and that it can be taken up again at any message. */
#include "base/bytes.h"
#include "makers/toy_oracle.h"
#include "reel/play.h"
#include "stream/initial_state.h"
#include <math.h>

enum { TOYS_MAX = 4 };

struct field { /* recordings with a stream to be had over them */
    struct toy toys[TOYS_MAX];
    const struct toy *pointers[TOYS_MAX];
    struct reel_recording *recordings[TOYS_MAX];
    uint32_t n;
};

static void open_field(struct field *f, uint32_t n, uint64_t seed, uint32_t channels, uint64_t messages,
                       enum toy_order order) {
    *f = (struct field){.n = n};
    for (uint32_t i = 0; i < n; i++) {
        toy_random(&f->toys[i], seed + i, channels, messages, order);
        f->pointers[i] = &f->toys[i];
        f->recordings[i] = toy_open(&f->toys[i], NULL);
    }
}
static void close_field(struct field *f) {
    for (uint32_t i = 0; i < f->n; i++) {
        reel_recording_free(f->recordings[i]);
        toy_free(&f->toys[i]);
    }
}
static struct reel_stream *open_stream(const struct field *f, const struct reel_selection *q) {
    struct reel_error err = {0};
    struct reel_stream *s = reel_stream_open(f->recordings, f->n, q, &err);
    assert_non_null(s);
    return s;
}

/* The stream from here gives wanted[from … n) and ends; every `look`-th payload is compared too. */
static void expect(const struct field *f, struct reel_stream *s, const struct wanted *wanted, size_t from, size_t n,
                   size_t look) {
    struct reel_error err = {0};
    struct reel_message m;
    for (size_t i = from; i < n; i++) {
        assert_int_equal(stream_next(s, &m, &err), REEL_STEP_MESSAGE);
        assert_true(oracle_agrees(&wanted[i], s, &m));
        if (i % look == 0) {
            struct reel_bytes payload,
                true_one = bytes_of(f->toys[m.source].parts[0].data + m.entry.offset + TOY_HEAD, m.size);
            struct reel_description d;
            assert_true(stream_describe(s, &m, &d, &err) && reel_stream_payload(s, &m, &payload, &err));
            assert_true(bytes_equal(payload, true_one));
            assert_int_equal(d.sequence, load_u32le(true_one.data - TOY_HEAD));
            assert_true(d.publish_ns == m.time_ns);
        }
    }
    assert_int_equal(stream_next(s, &m, &err), REEL_STEP_END);
    assert_int_equal(stream_next(s, &m, &err), REEL_STEP_END);
}

static size_t check(const struct field *f, const struct reel_selection *q) {
    struct wanted *wanted;
    size_t n = oracle_stream(f->pointers, f->n, q, &wanted);
    struct reel_stream *s = open_stream(f, q);
    expect(f, s, wanted, 0, n, 3);
    reel_stream_free(s);
    free(wanted);
    return n;
}

static const enum toy_order orders[] = {TOY_REGULAR, TOY_TIES, TOY_JITTER, TOY_REVERSED, TOY_RANDOM, TOY_EXTREME};
enum { N_ORDERS = sizeof orders / sizeof *orders };

static void random_recordings_come_in_order(void **state) {
    (void)state;
    for (int i = 0; i < N_ORDERS; i++) {
        struct field f;
        open_field(&f, 3, 10, 6, 2000, orders[i]);
        assert_int_equal(check(&f, &selection_all), 6000);
        close_field(&f);
        open_field(&f, 1, 20, 1, 1, orders[i]);
        assert_int_equal(check(&f, &selection_all), 1);
        close_field(&f);
        open_field(&f, 2, 30, 3, 0, orders[i]);
        assert_int_equal(check(&f, &selection_all), 0);
        close_field(&f);
    }
}

static void many_segments_come_in_order(void **state) {
    (void)state;
    for (int i = 0; i < N_ORDERS; i++) {
        struct field f;
        open_field(&f, 2, 40, 2, 60000, orders[i]);
        check(&f, &selection_all);
        struct reel_selection q = selection_all;
        q.start_ns = 20000000;
        q.end_ns = 30000000;
        check(&f, &q);
        close_field(&f);
    }
}

/* In the order of the recording, each once, those that there are. */
static void channels_by_their_ids(void **state) {
    (void)state;
    static const uint32_t given[] = {4, 1, 4, UINT32_MAX, 6, 1}, wanted[] = {1, 4};
    struct field f;
    open_field(&f, 1, 60, 6, 500, TOY_TIES);
    struct reel_selection q = selection_all;
    q.channels = given;
    q.n_channels = sizeof given / sizeof *given;
    struct reel_stream *s = open_stream(&f, &q);
    assert_int_equal(s->n_channels, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_ptr_equal(s->channels[i], reel_index_channel(reel_recording_index(f.recordings[0]), wanted[i]));
    }
    reel_stream_free(s);
    q.channels = &given[3]; /* none of the recording */
    q.n_channels = 1;
    s = open_stream(&f, &q);
    assert_int_equal(s->n_channels, 0);
    reel_stream_free(s);
    close_field(&f);
}

static int64_t some_time(const struct field *f, uint64_t *seed) {
    const struct toy *t = &f->toys[toy_next(seed) % f->n];
    int64_t time = t->entries[toy_next(seed) % t->n_entries].time_ns, by = (int64_t)(toy_next(seed) % 3) - 1;
    return time == INT64_MIN || time == INT64_MAX ? time : time + by;
}

static void ranges_are_half_open(void **state) {
    (void)state;
    uint64_t seed = 8;
    for (int i = 0; i < N_ORDERS - 1; i++) {
        struct field f;
        open_field(&f, 2, 50, 5, 3000, orders[i]);
        for (int round = 0; round < 60; round++) {
            struct reel_selection q = selection_all;
            q.start_ns = round % 5 == 0 ? REEL_TIME_MIN : some_time(&f, &seed);
            q.end_ns = round % 7 == 0 ? REEL_TIME_MAX : some_time(&f, &seed);
            check(&f, &q);
        }
        close_field(&f);
    }
}

static void messages_at_the_limits_of_time_are_read(void **state) {
    (void)state;
    struct field f = {.n = 1};
    toy_add_channel(&f.toys[0], "/a");
    static const int64_t times[] = {INT64_MIN, INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX};
    for (int i = 0; i < 7; i++) {
        toy_add_message(&f.toys[0], 0, 0, times[i], 5, 3);
    }
    f.pointers[0] = &f.toys[0];
    f.recordings[0] = toy_open(&f.toys[0], NULL);
    assert_int_equal(check(&f, &selection_all), 7);
    struct reel_selection q = selection_all;
    q.start_ns = INT64_MAX;
    assert_int_equal(check(&f, &q), 1);
    q.start_ns = INT64_MIN + 1;
    q.end_ns = INT64_MAX - 1;
    assert_int_equal(check(&f, &q), 3);
    q.last_per_topic = true;
    assert_int_equal(check(&f, &q), 4);
    q.start_ns = q.end_ns = 0;
    q.last_per_topic = false;
    assert_int_equal(check(&f, &q), 0);
    close_field(&f);
}

static void topics_are_chosen_by_globs(void **state) {
    (void)state;
    static const char *const names[] = {"/camera/left", "/camera/right", "/imu", "/imu", "frame+state", "/tf"};
    static const char *const aliases[] = {"frame", "state"};
    static const char *const ins[] = {"/camera/*", "state", "/im?", "nothing", "*"}, *const outs[] = {"/camera/left",
                                                                                                      "frame", "*"};
    struct field f = {.n = 1};
    uint64_t seed = 1;
    for (uint32_t i = 0; i < 6; i++) {
        toy_add_channel(&f.toys[0], names[i]);
    }
    f.toys[0].channels[4].topics = aliases;
    f.toys[0].channels[4].n_topics = 2;
    for (int i = 0; i < 500; i++) {
        toy_add_message(&f.toys[0], 0, (uint32_t)(toy_next(&seed) % 6), i / 3, 9, 5);
    }
    f.pointers[0] = &f.toys[0];
    f.recordings[0] = toy_open(&f.toys[0], NULL);
    for (uint32_t in = 0; in < 32; in++) {
        for (uint32_t out = 0; out < 8; out++) {
            const char *topics[5], *exclude[3];
            struct reel_selection q = selection_all;
            q.topics = topics;
            q.exclude = exclude;
            for (uint32_t i = 0; i < 5; i++) {
                if (in >> i & 1) {
                    topics[q.n_topics++] = ins[i];
                }
            }
            for (uint32_t i = 0; i < 3; i++) {
                if (out >> i & 1) {
                    exclude[q.n_exclude++] = outs[i];
                }
            }
            check(&f, &q);
        }
    }
    close_field(&f);
}

/* --- taking up again --- */

/* Every `step`-th message's mark, in a stream that has run elsewhere before, goes on as the first run did. */
static void check_marks(const struct field *f, const struct reel_selection *q, size_t step) {
    struct wanted *wanted;
    struct reel_error err = {0};
    size_t n = oracle_stream(f->pointers, f->n, q, &wanted);
    struct reel_position *marks = malloc((n + 1) * sizeof *marks);
    struct reel_stream *s = open_stream(f, q);
    struct reel_message m;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(stream_next(s, &m, &err), REEL_STEP_MESSAGE);
        assert_true(oracle_agrees(&wanted[i], s, &m));
        marks[i] = reel_position_of(&m);
    }
    uint64_t seed = 4;
    for (size_t i = 0; i < n; i += step) {
        size_t at = step == 1 ? i : toy_next(&seed) % n, run = toy_next(&seed) % 20;
        assert_true(stream_seek(s, &marks[at], &err));
        for (size_t k = at; k < n && k < at + 1 + run; k++) {
            assert_int_equal(stream_next(s, &m, &err), REEL_STEP_MESSAGE);
            assert_true(oracle_agrees(&wanted[k], s, &m));
        }
        if (i % 97 == 0) {
            assert_true(stream_seek(s, &marks[at], &err));
            expect(f, s, wanted, at, n, 50);
        }
    }
    reel_stream_free(s);
    free(marks);
    free(wanted);
}

static void any_message_can_be_sought(void **state) {
    (void)state;
    for (int i = 0; i < N_ORDERS; i++) {
        struct field f;
        open_field(&f, 3, 60, 4, 400, orders[i]);
        struct reel_selection q = selection_all;
        check_marks(&f, &q, 1);
        q.every_n = 3;
        check_marks(&f, &q, 1);
        if (orders[i] != TOY_EXTREME) {
            q.every_n = 0;
            q.every_ns = 7777;
            check_marks(&f, &q, 1);
            q.every_n = 2;
            check_marks(&f, &q, 1);
            q.every_n = 5;
            q.every_ns = 60000;
            check_marks(&f, &q, 1);
        }
        uint64_t seed = 1;
        q.start_ns = some_time(&f, &seed);
        check_marks(&f, &q, 1);
        q.last_per_topic = true;
        check_marks(&f, &q, 1);
        q.lookback_ns = 3000;
        q.end_ns = some_time(&f, &seed);
        q.every_ns = 0;
        check_marks(&f, &q, 1);
        close_field(&f);
    }
}

static void any_message_of_many_segments_can_be_sought(void **state) {
    (void)state;
    for (int i = 0; i < N_ORDERS; i++) {
        struct field f;
        open_field(&f, 2, 70, 2, 40000, orders[i]);
        struct reel_selection q = selection_all;
        check_marks(&f, &q, 997);
        q.every_n = 7;
        check_marks(&f, &q, 499);
        if (orders[i] != TOY_EXTREME) {
            q.every_ns = 40000;
            check_marks(&f, &q, 499);
        }
        close_field(&f);
    }
}

static void a_mark_before_the_start_or_behind_the_end(void **state) {
    (void)state;
    struct field f;
    struct reel_error err = {0};
    open_field(&f, 1, 80, 3, 1000, TOY_TIES);
    struct reel_selection q = selection_all;
    q.start_ns = 1000000 + 20000;
    q.end_ns = 1000000 + 90000;
    struct wanted *wanted;
    size_t n = oracle_stream(f.pointers, 1, &q, &wanted);
    struct reel_stream *s = open_stream(&f, &q);
    assert_true(stream_seek(s, &(struct reel_position){.time_ns = 5, .offset = 99}, &err));
    expect(&f, s, wanted, 0, n, 5);
    assert_true(
        stream_seek(s, &(struct reel_position){.time_ns = INT64_MAX, .offset = 99, .source = 7, .chunk = 9}, &err));
    expect(&f, s, wanted, n, n, 5);
    assert_true(stream_seek(s, &(struct reel_position){.initial = 70000}, &err)); /* nothing stands in front */
    expect(&f, s, wanted, 0, n, 5);
    reel_stream_free(s);
    free(wanted);
    close_field(&f);
}

/* --- in front --- */

static void the_last_of_each_topic_comes_first(void **state) {
    (void)state;
    uint64_t seed = 13;
    for (int i = 0; i < N_ORDERS; i++) {
        struct field f = {.n = 2};
        for (uint32_t s = 0; s < 2; s++) {
            struct toy *t = &f.toys[s];
            toy_random(t, 90 + s, 9, 600, orders[i]);
            for (uint32_t c = 1; c < 6; c++) { /* several channels of one topic, some latched */
                free((void *)t->channels[c].name);
                t->channels[c].name = strdup("/same");
                t->channels[c].latched = c % 2 == 0;
            }
            f.pointers[s] = t;
            f.recordings[s] = toy_open(t, NULL);
        }
        for (int round = 0; round < 40; round++) {
            struct reel_selection q = selection_all;
            q.last_per_topic = true;
            q.start_ns = some_time(&f, &seed);
            q.lookback_ns = round % 3 == 0 && orders[i] != TOY_EXTREME ? (int64_t)(toy_next(&seed) % 20000) : 0;
            check(&f, &q);
        }
        close_field(&f);
    }
}

static void the_state_at_the_cut_comes_first(void **state) {
    (void)state;
    struct field f;
    struct reel_error err = {0};
    open_field(&f, 2, 100, 5, 900, TOY_TIES);
    static const char *const exclude[] = {"/topic/2"};
    struct reel_selection q = selection_all;
    q.start_ns = 1000000 + 50000;
    q.state_at_cut = toy_has_state = true;
    q.exclude = exclude;
    q.n_exclude = 1;
    struct reel_stream *s = open_stream(&f, &q);
    assert_non_null(s->initial);
    assert_int_equal(s->n_channels, 10); /* 4 selected of each, and /state of each, once */
    struct reel_message m;
    struct reel_position marks[8];
    for (int i = 0; i < 8; i++) { /* channels 0, 1, 3, 4 of both */
        assert_int_equal(stream_next(s, &m, &err), REEL_STEP_MESSAGE);
        assert_true(m.before_start && m.initial == (uint32_t)i + 1 && m.owned && m.size == 8 &&
                    m.time_ns == q.start_ns && m.source == (uint32_t)i / 4);
        uint32_t channel = (const uint32_t[]){0, 1, 3, 4}[i % 4];
        assert_string_equal(s->channels[m.channel]->name, channel % 2 ? "/state" : channel ? "/topic/4" : "/topic/0");
        assert_int_equal(s->channel_source[m.channel], m.source);
        uint64_t count = 0, annotations;
        for (size_t k = 0; k < f.toys[m.source].n_entries; k++) {
            count += f.toys[m.source].entries[k].channel == channel && f.toys[m.source].entries[k].time_ns < q.start_ns;
        }
        struct reel_bytes payload;
        assert_true(reel_stream_payload(s, &m, &payload, &err) && reel_stream_copy(s, &m, 0, &annotations, 8, &err));
        assert_true(annotations == count && payload.size == 8 && m.entry.extra[0] == 7 && m.entry.extra[1] == 8);
        marks[i] = reel_position_of(&m);
    }
    /* another stream takes the front as it is, and goes on at each place of it */
    struct reel_initial_state *initial = reel_initial_state_ref(s->initial);
    reel_stream_free(s);
    toy_has_state = false;
    q.initial = initial;
    s = open_stream(&f, &q);
    reel_initial_state_free(initial);
    q.initial = NULL;
    q.state_at_cut = false;
    struct wanted *wanted;
    size_t n = oracle_stream(f.pointers, 2, &q, &wanted);
    for (int i = 8; i-- > 0;) {
        assert_true(stream_seek(s, &marks[i], &err));
        for (int k = i; k < 8; k++) {
            assert_int_equal(stream_next(s, &m, &err), REEL_STEP_MESSAGE);
            assert_int_equal(m.initial, k + 1);
        }
        expect(&f, s, wanted, 0, n, 100);
    }
    reel_stream_free(s);
    free(wanted);
    close_field(&f);
}

/* A topic shared by as many channels as there may be must not cost their square. */
static void many_channels_of_one_topic_are_no_burden(void **state) {
    (void)state;
    enum { CHANNELS = 30000 };
    struct field f = {.n = 1};
    for (uint32_t i = 0; i < CHANNELS; i++) {
        toy_add_channel(&f.toys[0], "/same");
        toy_add_message(&f.toys[0], 0, i, i, 1, 1);
    }
    f.recordings[0] = toy_open(&f.toys[0], NULL);
    struct reel_selection q = selection_all;
    q.start_ns = CHANNELS;
    q.last_per_topic = true;
    q.every_n = 2;
    struct reel_stream *s = open_stream(&f, &q);
    struct reel_message m;
    struct reel_error err = {0};
    assert_int_equal(stream_next(s, &m, &err), REEL_STEP_MESSAGE);
    assert_true(m.time_ns == CHANNELS - 1);
    assert_int_equal(stream_next(s, &m, &err), REEL_STEP_END);
    reel_stream_free(s);
    q = selection_all;
    q.every_n = 2;
    s = open_stream(&f, &q);
    assert_true(stream_seek(s, &(struct reel_position){.time_ns = CHANNELS - 5}, &err));
    for (int i = 0; i < 5; i++) {
        assert_int_equal(stream_next(s, &m, &err), REEL_STEP_MESSAGE);
    }
    reel_stream_free(s);
    close_field(&f);
}

static void an_empty_recording_does_not_move_the_origin(void **state) {
    (void)state;
    struct field f = {.n = 2};
    toy_add_channel(&f.toys[0], "/a");
    f.toys[0].n_parts = 1;
    toy_random(&f.toys[1], 3, 2, 500, TOY_REGULAR); /* from 1000000 on */
    for (uint32_t i = 0; i < 2; i++) {
        f.pointers[i] = &f.toys[i];
        f.recordings[i] = toy_open(&f.toys[i], NULL);
    }
    struct reel_selection q = selection_all;
    q.every_ns = 30001;
    check(&f, &q);
    close_field(&f);
}

/* Times are divided by them. */
static void speeds_have_bounds(void **state) {
    (void)state;
    static const double good[] = {0, 1e-3, 1, 1e6}, bad[] = {-1, 1e-300, 9e-4, 1.1e6, INFINITY, NAN};
    struct reel_error err = {0};
    for (size_t i = 0; i < 3 * (sizeof good / sizeof *good + sizeof bad / sizeof *bad); i++) {
        size_t k = i / 3, n = sizeof good / sizeof *good;
        double value = k < n ? good[k] : bad[k - n];
        const struct reel_play_options options = {.size = sizeof options,
                                                  .speed = i % 3 == 0 ? value : 1,
                                                  .rate = i % 3 == 1 ? value : 0,
                                                  .clock_hz = i % 3 == 2 ? value : 0};
        struct reel_play *play = reel_play_new(&options, &err);
        assert_int_equal(play != NULL, k < n);
        assert_true(play || err.code == REEL_ARGUMENT);
        reel_play_free(play);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_recordings_come_in_order),
        cmocka_unit_test(many_segments_come_in_order),
        cmocka_unit_test(channels_by_their_ids),
        cmocka_unit_test(ranges_are_half_open),
        cmocka_unit_test(messages_at_the_limits_of_time_are_read),
        cmocka_unit_test(topics_are_chosen_by_globs),
        cmocka_unit_test(any_message_can_be_sought),
        cmocka_unit_test(any_message_of_many_segments_can_be_sought),
        cmocka_unit_test(a_mark_before_the_start_or_behind_the_end),
        cmocka_unit_test(the_last_of_each_topic_comes_first),
        cmocka_unit_test(the_state_at_the_cut_comes_first),
        cmocka_unit_test(many_channels_of_one_topic_are_no_burden),
        cmocka_unit_test(an_empty_recording_does_not_move_the_origin),
        cmocka_unit_test(speeds_have_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
