/* Several recordings as one: clocks that fit together, topics kept distinct, and all times of the stream shifted. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/toy_oracle.h"

enum { SECOND = 1000000000 };

static const struct reel_index_info *info_of(const struct reel_recording *r) {
    return reel_index_info(reel_recording_index(r));
}

/* Messages once a second from `first`, in turn on the topics. */
static void fill(struct toy *t, const char *const *topics, uint32_t n_topics, int64_t first, unsigned count,
                 bool relative) {
    t->n_parts = 1;
    for (uint32_t i = 0; i < n_topics; i++) {
        toy_add_channel(t, topics[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        toy_add_message(t, 0, i % n_topics, first + (int64_t)i * SECOND, 8, i + 1);
    }
    toy_clock = relative ? REEL_CLOCK_RELATIVE : REEL_CLOCK_WALL;
}

struct pair { /* one of a wall clock, one of a relative one */
    struct toy toys[2];
    struct reel_recording *recordings[2];
    struct reel_source_option sources[2];
};
static void pair_free(struct pair *p) {
    for (unsigned i = 0; i < 2; i++) {
        reel_recording_free(p->recordings[i]);
        toy_free(&p->toys[i]);
    }
    toy_clock = REEL_CLOCK_WALL;
}
#define PAIR __attribute__((cleanup(pair_free))) struct pair
static const char *const robot_topics[] = {"/scan", "odom"}, *const camera_topics[] = {"scan", "/image"};

static void pair_open(struct pair *p, bool second_relative, int64_t second_start) {
    fill(&p->toys[0], robot_topics, 2, 1000 * (int64_t)SECOND, 10, false);
    p->recordings[0] = toy_open(&p->toys[0], NULL);
    fill(&p->toys[1], camera_topics, 2, second_start, 10, second_relative);
    p->recordings[1] = toy_open(&p->toys[1], NULL);
}

static void merge_pair(struct pair *p, enum reel_align align) {
    struct reel_error err = {0};
    assert_true(reel_merge_options(p->recordings, 2, (const char *const[]){"robot.bag", "runs/camera.toy"}, align,
                                   p->sources, &err));
}

static struct reel_stream *open_pair(struct pair *p, const struct reel_selection *q) {
    struct reel_error err = {0};
    struct reel_stream *s = reel_stream_open(p->recordings, 2, q, &err);
    if (!s) {
        fail_msg("%s", err.text);
    }
    return s;
}

static void relative_clocks_begin_with_the_others(void **state) {
    (void)state;
    PAIR p = {0};
    pair_open(&p, true, 7 * (int64_t)SECOND);
    merge_pair(&p, REEL_ALIGN_START);
    assert_int_equal(p.sources[0].shift_ns, 0);
    assert_int_equal(p.sources[1].shift_ns, 993 * (int64_t)SECOND);
    assert_true(p.sources[0].wall && p.sources[1].wall);
    int64_t first, last;
    reel_merge_span(p.recordings, 2, p.sources, &first, &last);
    assert_true(first == 1000 * (int64_t)SECOND && last == 1009 * (int64_t)SECOND);
    struct reel_selection q = selection_all;
    q.sources = p.sources;
    AUTO(reel_stream_free) struct reel_stream *s = open_pair(&p, &q);
    assert_true(s->clocks[0] == REEL_CLOCK_WALL && s->clocks[1] == REEL_CLOCK_WALL);
    struct reel_message m;
    struct reel_error err = {0};
    for (unsigned i = 0; i < 20; i++) { /* at one time in the order of the recordings */
        struct reel_description d;
        assert_int_equal(stream_next(s, &m, &err), REEL_STEP_MESSAGE);
        assert_int_equal(m.source, i % 2);
        assert_int_equal(m.time_ns, (1000 + i / 2) * (int64_t)SECOND);
        assert_true(stream_describe(s, &m, &d, &err));
        assert_int_equal(d.publish_ns, m.time_ns);
    }
    assert_int_equal(stream_next(s, &m, &err), REEL_STEP_END);

    merge_pair(&p, REEL_ALIGN_NONE);
    assert_true(p.sources[1].shift_ns == 0 && !p.sources[1].wall);
}

static void wall_clocks_stay_and_relative_ones_follow_the_first(void **state) {
    (void)state;
    PAIR p = {0};
    pair_open(&p, false, 500 * (int64_t)SECOND);
    merge_pair(&p, REEL_ALIGN_START);
    assert_true(p.sources[0].shift_ns == 0 && p.sources[1].shift_ns == 0);
    struct reel_recording *turned[] = {p.recordings[1], p.recordings[0]};
    int64_t first, last;
    reel_merge_span(turned, 2, p.sources, &first, &last);
    assert_true(first == 500 * (int64_t)SECOND && last == 1009 * (int64_t)SECOND);

    PAIR r = {0};
    fill(&r.toys[0], robot_topics, 2, 3 * (int64_t)SECOND, 4, true);
    r.recordings[0] = toy_open(&r.toys[0], NULL);
    fill(&r.toys[1], robot_topics, 2, 90 * (int64_t)SECOND, 4, true);
    r.recordings[1] = toy_open(&r.toys[1], NULL);
    merge_pair(&r, REEL_ALIGN_START);
    assert_true(r.sources[0].shift_ns == 0 && r.sources[1].shift_ns == -87 * (int64_t)SECOND && !r.sources[1].wall);
}

static void recordings_are_moved(void **state) {
    (void)state;
    PAIR p = {0};
    struct reel_error err = {0};
    const char *const keys[] = {"a:b", "c"}, *const texts[] = {"a:b:-1.5s", "c:1h"};
    pair_open(&p, true, 7 * (int64_t)SECOND);
    merge_pair(&p, REEL_ALIGN_NONE);
    assert_true(reel_merge_shift(p.recordings, 2, keys, texts, 2, p.sources, &err));
    assert_true(p.sources[0].shift_ns == -3 * (int64_t)SECOND / 2 && p.sources[1].shift_ns == 3600 * (int64_t)SECOND);
    assert_true(p.sources[0].wall && p.sources[1].wall); /* as the first */
    struct reel_recording *turned[] = {p.recordings[1], p.recordings[0]};
    assert_true(reel_merge_shift(turned, 2, keys, texts, 0, p.sources, &err));
    assert_true(!p.sources[0].wall && !p.sources[1].wall);

    const char *const wrong[] = {"",      ":",      "c",
                                 "c:",    "c:--1s", "c:+1",
                                 "c:+",   "c:+-1s", "c:99999999999999999999999999999999999999999999999999s",
                                 "b:+1s", ":+1s",   "a:+1s",
                                 "C:+1s"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(reel_merge_shift(p.recordings, 2, keys, &wrong[i], 1, p.sources, &err));
        assert_int_equal(err.code, REEL_ARGUMENT);
    }
    assert_false(
        reel_merge_shift(p.recordings, 2, keys, (const char *const[]){"a:b:+9223372036s"}, 1, p.sources, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    assert_true(strncmp(err.text, "a:b: ", 5) == 0);
}

static void times_that_do_not_fit_are_refused(void **state) {
    (void)state;
    PAIR p = {0};
    struct reel_error err = {0};
    fill(&p.toys[0], robot_topics, 1, INT64_MAX - 5, 1, false);
    p.recordings[0] = toy_open(&p.toys[0], NULL);
    fill(&p.toys[1], robot_topics, 1, 0, 10, true);
    p.recordings[1] = toy_open(&p.toys[1], NULL);
    assert_false(
        reel_merge_options(p.recordings, 2, (const char *const[]){"a", "b"}, REEL_ALIGN_START, p.sources, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    p.sources[0] = (struct reel_source_option){.shift_ns = INT64_MAX};
    p.sources[1] = (struct reel_source_option){.shift_ns = 0};
    struct reel_selection q = selection_all;
    q.sources = p.sources;
    assert_null(reel_stream_open(p.recordings, 2, &q, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
}

/* A stream of shifted recordings is that of the same recordings made with these times. */
static void shifted_is_as_if_recorded_so(void **state) {
    (void)state;
    static const int64_t shifts[] = {0, 123456, -1000000000, 77};
    struct reel_selection cases[5] = {selection_all, selection_all, selection_all, selection_all, selection_all};
    cases[1].start_ns = 2000000;
    cases[1].end_ns = 3000000;
    cases[2].every_n = 7;
    cases[3].every_ns = 50000;
    cases[4].start_ns = 2000000;
    cases[4].last_per_topic = true;
    for (unsigned k = 0; k < 4; k++) {
        struct toy a = {0}, b = {0}, moved = {0};
        struct reel_error err = {0};
        toy_random(&a, 1, 3, 6000, TOY_JITTER);
        toy_random(&b, 2, 3, 6000, TOY_TIES);
        toy_random(&moved, 2, 3, 6000, TOY_TIES);
        for (size_t i = 0; i < moved.n_entries; i++) {
            moved.entries[i].time_ns += shifts[k];
        }
        struct reel_recording *shifted[] = {toy_open(&a, NULL), toy_open(&b, NULL)},
                              *made[] = {toy_open(&a, NULL), toy_open(&moved, NULL)};
        struct reel_source_option sources[2] = {{.wall = true}, {.wall = true, .shift_ns = shifts[k]}};
        for (unsigned c = 0; c < 5; c++) {
            struct reel_selection q = cases[c];
            AUTO(reel_stream_free) struct reel_stream *want = reel_stream_open(made, 2, &q, &err);
            q.sources = sources;
            q.prefixing = REEL_PREFIX_NEVER;
            AUTO(reel_stream_free) struct reel_stream *got = reel_stream_open(shifted, 2, &q, &err);
            assert_true(want && got);
            struct reel_message x, y;
            enum reel_step step;
            for (unsigned n = 0; (step = stream_next(want, &x, &err)) == REEL_STEP_MESSAGE; n++) {
                assert_int_equal(stream_next(got, &y, &err), REEL_STEP_MESSAGE);
                assert_true(x.time_ns == y.time_ns && x.source == y.source && x.channel == y.channel &&
                            x.entry.offset == y.entry.offset);
                assert_true(x.before_start == y.before_start && x.initial == y.initial);
                if (n % 997 == 3) { /* and from any place on */
                    struct reel_position mark = reel_position_of(&y);
                    assert_true(stream_seek(got, &mark, &err) && stream_next(got, &y, &err) == REEL_STEP_MESSAGE);
                    assert_true(x.entry.offset == y.entry.offset && x.source == y.source);
                }
            }
            assert_int_equal(step, REEL_STEP_END);
            assert_int_equal(stream_next(got, &y, &err), REEL_STEP_END);
        }
        for (unsigned i = 0; i < 2; i++) {
            reel_recording_free(shifted[i]);
            reel_recording_free(made[i]);
        }
        toy_free(&a);
        toy_free(&b);
        toy_free(&moved);
    }
}

/* ---- names */

static void assert_names(struct pair *p, const struct reel_selection *q, const char *wanted) {
    AUTO(reel_stream_free) struct reel_stream *s = open_pair(p, q);
    char got[512] = "";
    for (uint32_t i = 0; i < s->n_channels; i++) {
        assert_string_equal(s->channels[i]->topics[0], s->channels[i]->name);
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? " " : "", s->channels[i]->name);
    }
    assert_string_equal(got, wanted);
}

static void topics_of_two_get_a_prefix(void **state) {
    (void)state;
    PAIR p = {0};
    pair_open(&p, true, 0);
    merge_pair(&p, REEL_ALIGN_START);
    struct reel_selection q = selection_all;
    assert_names(&p, &q, "/scan odom scan /image");
    q.sources = p.sources;
    assert_names(&p, &q, "/robot/scan odom /runs/camera/scan /image");
    q.prefixing = REEL_PREFIX_ALWAYS;
    assert_names(&p, &q, "/robot/scan /robot/odom /runs/camera/scan /runs/camera/image");
    q.prefixing = REEL_PREFIX_NEVER;
    assert_names(&p, &q, "/scan odom scan /image");
    q.prefixing = REEL_PREFIX_CLASH;
    q.n_topics = 1; /* globs take a topic under both of its names */
    q.topics = (const char *const[]){"/scan"};
    assert_names(&p, &q, "/robot/scan /runs/camera/scan");
    q.topics = (const char *const[]){"/robot/*"};
    assert_names(&p, &q, "/robot/scan");
    q.n_topics = 0;
    q.n_exclude = 1;
    q.exclude = (const char *const[]){"/runs/*"};
    assert_names(&p, &q, "/robot/scan odom /image");
}

static void what_stands_in_front_has_its_prefix(void **state) {
    (void)state;
    PAIR p = {0};
    toy_has_state = true;
    pair_open(&p, true, 0);
    merge_pair(&p, REEL_ALIGN_START);
    struct reel_selection q = selection_all;
    q.sources = p.sources;
    q.prefixing = REEL_PREFIX_ALWAYS;
    q.start_ns = 1005 * (int64_t)SECOND;
    q.state_at_cut = true;
    AUTO(reel_stream_free) struct reel_stream *s = open_pair(&p, &q);
    static const char *const wanted[] = {"/robot/scan", "/robot/state", "/runs/camera/scan", "/runs/camera/state"};
    struct reel_error err = {0};
    for (unsigned i = 0; i < 4; i++) {
        struct reel_message m;
        struct reel_bytes payload;
        assert_int_equal(stream_next(s, &m, &err), REEL_STEP_MESSAGE);
        assert_true(m.before_start && m.time_ns == q.start_ns);
        assert_string_equal(s->channels[m.channel]->name, wanted[i]);
        assert_true(reel_stream_payload(s, &m, &payload, &err));
        assert_int_equal(load_u64le(payload.data), i % 2 ? 2 : 3); /* messages of that channel before the cut, on its
                                                                      own clock */
    }
    toy_has_state = false;
}

static void prefixes_are_distinguished(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    fill(&t, robot_topics, 1, 0, 1, false);
    struct reel_recording *r = toy_open(&t, NULL), *all[] = {r, r, r, r, r, r};
    static const char *const names[] = {"a.toy", "a.TOY", "a.tar.toy", "/abs/a", ".hidden", "d.x/a"};
    static const char *const wanted[] = {"/a", "/a_2", "/a.tar", "/abs/a", "/.hidden", "/d.x/a"};
    struct reel_source_option sources[6];
    assert_true(reel_merge_options(all, 6, names, REEL_ALIGN_START, sources, &err));
    for (unsigned i = 0; i < 6; i++) {
        assert_string_equal(sources[i].prefix, wanted[i]);
    }
    char longest[600];
    memset(longest, 'x', sizeof longest);
    memcpy(longest + 268, "\xc3\xa4\xc3\xa4\xc3\xa4", 6);
    longest[599] = '\0';
    assert_true(reel_merge_options(all, 2, (const char *const[]){longest, longest}, REEL_ALIGN_START, sources, &err));
    assert_true(strlen(sources[0].prefix) < REEL_PREFIX_ROOM && strcmp(sources[0].prefix, sources[1].prefix) != 0);
    assert_int_equal(info_of(r)->messages, 1);
    reel_recording_free(r);
    toy_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relative_clocks_begin_with_the_others),
        cmocka_unit_test(wall_clocks_stay_and_relative_ones_follow_the_first),
        cmocka_unit_test(recordings_are_moved),
        cmocka_unit_test(times_that_do_not_fit_are_refused),
        cmocka_unit_test(shifted_is_as_if_recorded_so),
        cmocka_unit_test(topics_of_two_get_a_prefix),
        cmocka_unit_test(what_stands_in_front_has_its_prefix),
        cmocka_unit_test(prefixes_are_distinguished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
