/* datasets/dataset.h: which frames an episode has, the values and their ages, against what a plain search finds. What
 * the Parquet file says is checked by a reader of its own (tests/e2e/test_datasets.py). */
#include "makers/toy_format.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/limits.h"
#include "datasets/camera.h"
#include "datasets/dataset.h"
#include "datasets/walk.h"

enum { MS = 1000000 };

static void channel(struct toy *toy, const char *topic) {
    toy_channel(toy, &(struct reel_channel){.name = topic, .type = "any", .encoding = "json"});
}
static void message(struct toy *toy, uint32_t topic, int64_t time_ns, const char *payload) {
    toy_message(toy, topic, time_ns, 0, payload, strlen(payload));
}

static const char *const state_of[] = {"/joints.position"}, *const action_of[] = {"/command.data",
                                                                                  "/command.grip.width"};
static const struct dataset_feature both[] = {{"observation.state", state_of, 1}, {"action", action_of, 2}};
static const struct dataset_spec spec_10 = {.features = both, .n_features = 2, .fps = 10};

/* Joints each 20 ms from 1 s to 3 s, their two values the number of the message and its negative; commands each 70 ms
 * from 1.15 s to 2.9 s. */
static void make(struct toy *toy) {
    char text[200];
    toy_start(toy, REEL_CLOCK_WALL);
    channel(toy, "/joints");
    channel(toy, "/command");
    channel(toy, "/other");
    for (int ms = 1000; ms <= 3000; ms += 10) {
        if (ms % 20 == 0) {
            snprintf(text, sizeof text, "{\"name\":[\"lift\",\"turn\"],\"position\":[%d,%d]}", ms, -ms);
            message(toy, 0, (int64_t)ms * MS, text);
        }
        if (ms >= 1150 && ms <= 2900 && (ms - 1150) % 70 == 0) {
            snprintf(text, sizeof text, "{\"data\":[%d],\"grip\":{\"width\":0.5}}", ms);
            message(toy, 1, (int64_t)ms * MS, text);
        }
    }
}

static struct dataset_episode plan(struct reel_recording *r, const struct dataset_spec *spec) {
    struct dataset_episode e;
    struct reel_error err = {0};
    if (!dataset_episode_plan(r, spec, NULL, &e, &err)) {
        fail_msg("%s", err.text);
    }
    return e;
}

static bool keep(void *context, const char *text, size_t size) {
    grow_put(context, text, size);
    return true;
}
static struct grow write_episode(struct reel_recording *r, const struct dataset_spec *spec, struct dataset_episode *e) {
    struct grow out = {0};
    struct reel_error err = {0};
    const struct reel_text_sink sink = {keep, &out};
    if (!dataset_episode_write(r, spec, &(struct dataset_place){.episode = 3, .first_row = 100}, &sink, e, e, &err)) {
        fail_msg("%s", err.text);
    }
    return out;
}

/* The latest value at or before each frame. */
static bool check_frame(void *context, struct walk *w, uint64_t frame, enum dataset_drop drop, struct reel_error *err) {
    int64_t ms = w->time_ns / MS, joints = ms / 20 * 20, command = 1150 + (ms - 1150) / 70 * 70;
    (void)err;
    assert_int_equal(drop, DATASET_KEPT);
    assert_int_equal(ms, 1150 + 100 * (int64_t)frame);
    assert_true(w->sources[0].values[0] == (float)joints && w->sources[0].values[1] == (float)-joints);
    assert_true(w->sources[1].values[0] == (float)command && w->sources[2].values[0] == 0.5f);
    assert_int_equal(w->ages[0], (ms - joints) * MS);
    assert_int_equal(w->ages[1], (ms - command) * MS);
    ++*(uint64_t *)context;
    return true;
}

static void frames_have_the_latest_values(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    struct walk w;
    uint64_t frames = 0;
    make(&toy);
    AUTO(reel_recording_free) struct reel_recording *r = toy_open(&toy);
    assert_true(walk_open(&w, r, &spec_10, WALK_READS_ALL, 0, &err) && walk_run(&w, NULL, check_frame, &frames, &err));
    walk_done(&w);
    assert_int_equal(frames, 18); /* 1.15 s … 2.85 s: the command ends at 2.9 s */
    assert_true(walk_open(&w, r, &spec_10, WALK_READS_ALL, 15, &err) && walk_run(&w, NULL, check_frame, &frames, &err));
    walk_done(&w);
    assert_int_equal(frames, 18 + 3);
    toy_free(&toy);
}

static void an_episode_is_described(void **state) {
    (void)state;
    struct toy toy = {0};
    make(&toy);
    AUTO(reel_recording_free) struct reel_recording *r = toy_open(&toy);
    AUTO_STRUCT(dataset_episode_done) struct dataset_episode e = plan(r, &spec_10);
    assert_int_equal(e.frames, 18);
    assert_int_equal(e.start_ns, 1150 * (int64_t)MS);
    assert_int_equal(e.lead_ns, 150 * MS);
    assert_int_equal(e.tail_ns, 100 * MS);
    assert_int_equal(e.n_numbers, 4);
    assert_string_equal(e.names[0], "lift");
    assert_string_equal(e.names[1], "turn");
    assert_string_equal(e.names[3], "/command.grip.width");
    struct grow file = write_episode(r, &spec_10, &e);
    assert_memory_equal(file.data, "PAR1", 4);
    assert_memory_equal(file.data + file.size - 4, "PAR1", 4);
    grow_done(&file);
    assert_int_equal(e.ages[0].max_ns, 10 * MS);
    assert_int_equal(e.ages[1].max_ns, 60 * MS);
    assert_in_range(e.ages[1].median_ns, 30 * MS, 31 * MS); /* 0, 30, 60, 20, 50, 10, 40 ms, again and again */
    assert_true(e.stats[0].count == 18 && e.stats[0].min == 1140 && e.stats[0].max == 2840);
    assert_true(fabs(e.stats[0].quantiles[2] - 1990) < 11 && fabs(e.stats[0].mean - 1990) < 1e-6);
    assert_true(fabs(sqrt(e.stats[0].m2 / 18) - 518.81) < 0.01); /* of 1140, 1240 … 2840 */
    toy_free(&toy);
}

/* With a text that no name can be, the numbers have those of their source. */
static void check_names(const char *names) {
    struct toy toy = {0};
    char text[200];
    const struct dataset_spec spec = {.features = both, .n_features = 1, .fps = 10};
    toy_start(&toy, REEL_CLOCK_WALL);
    channel(&toy, "/joints");
    snprintf(text, sizeof text, "{\"name\":[%s],\"position\":[1,2]}", names);
    for (int ms = 0; ms <= 500; ms += 100) {
        message(&toy, 0, (int64_t)ms * MS, text);
    }
    AUTO(reel_recording_free) struct reel_recording *r = toy_open(&toy);
    AUTO_STRUCT(dataset_episode_done) struct dataset_episode e = plan(r, &spec);
    assert_int_equal(e.n_numbers, 2);
    assert_string_equal(e.names[0], "/joints.position[0]");
    assert_string_equal(e.names[1], "/joints.position[1]");
    toy_free(&toy);
}
static void names_are_texts(void **state) {
    (void)state;
    check_names("\"a\\u0000b\",\"turn\"");
    check_names("\"lift\",\"a\\u0000b\",\"turn\"");
}

/* Before memory is reserved for its frames. */
static void a_video_has_a_limit(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    struct dataset_picture picture = {.video = DATASET_ENCODED};
    const struct dataset_episode e = {.frames = REEL_VIDEO_FRAMES_MAX + 1, .n_sources = 1, .pictures = &picture};
    make(&toy);
    AUTO(reel_recording_free) struct reel_recording *r = toy_open(&toy);
    assert_null(dataset_camera_new(r, &spec_10, &e, 0, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    toy_free(&toy);
}

/* The joints are silent for 0.5 s, and have one message with three numbers. */
static void the_longest_run_is_the_episode(void **state) {
    (void)state;
    struct toy toy = {0};
    char text[100];
    const struct dataset_spec spec = {.features = both, .n_features = 1, .fps = 100, .max_age_ns = 50 * (int64_t)MS};
    toy_start(&toy, REEL_CLOCK_WALL);
    channel(&toy, "/joints");
    for (int ms = 0; ms <= 3000; ms += 10) {
        snprintf(text, sizeof text, "{\"position\":[%d,1%s]}", ms, ms == 2000 ? ",2" : "");
        if (ms <= 500 || ms >= 1000) {
            message(&toy, 0, (int64_t)ms * MS, ms == 2500 ? "{\"position\":" : text);
        }
    }
    AUTO(reel_recording_free) struct reel_recording *r = toy_open(&toy);
    AUTO_STRUCT(dataset_episode_done) struct dataset_episode e = plan(r, &spec);
    assert_int_equal(e.frames, 100); /* 1.00 … 1.99 s */
    assert_int_equal(e.first, 100);
    assert_int_equal(e.dropped[DATASET_TOO_OLD], 44);
    assert_int_equal(e.dropped[DATASET_OTHER_SIZE], 1);
    assert_int_equal(e.dropped[DATASET_UNREADABLE], 1);
    assert_int_equal(e.dropped[DATASET_OTHER_RUN], 56 + 49 + 50);
    struct grow a = write_episode(r, &spec, &e), b = write_episode(r, &spec, &e);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    grow_done(&a);
    grow_done(&b);
    assert_true(e.stats[0].min == 1000 && e.stats[0].max == 1990);
    toy_free(&toy);
}

static void there_may_be_no_frame(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    const char *const text_of[] = {"/joints.name"}, *const gone[] = {"/gone.x"};
    const struct dataset_feature names = {"observation.state", text_of, 1}, no_topic = {"action", gone, 1};
    struct dataset_episode e;
    make(&toy);
    AUTO(reel_recording_free) struct reel_recording *r = toy_open(&toy);
    e = plan(r, &(struct dataset_spec){.features = &names, .n_features = 1, .fps = 10});
    assert_int_equal(e.frames, 0);
    assert_int_equal(e.dropped[DATASET_UNREADABLE], 21);
    dataset_episode_done(&e);
    assert_false(dataset_episode_plan(r, &(struct dataset_spec){.features = &no_topic, .n_features = 1, .fps = 10},
                                      NULL, &e, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    toy_free(&toy);
}

/* Times at the ends of what 64 bits hold. */
static void hostile_times(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    struct dataset_episode e;
    toy_start(&toy, REEL_CLOCK_WALL);
    channel(&toy, "/joints");
    message(&toy, 0, INT64_MIN + 1, "{\"position\":1}");
    message(&toy, 0, INT64_MAX - 1, "{\"position\":1}");
    AUTO(reel_recording_free) struct reel_recording *r = toy_open(&toy);
    const struct dataset_spec spec = {.features = both, .n_features = 1, .fps = 1000};
    assert_false(dataset_episode_plan(r, &spec, NULL, &e, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    toy_free(&toy);
}

static struct dataset_episode plan_cut(struct reel_recording *r, const char *clock, int64_t start_ms, int64_t end_ms) {
    const struct dataset_cut cut = {start_ms * MS, end_ms * MS};
    struct dataset_spec spec = spec_10;
    spec.fps = clock ? 0 : 10;
    spec.clock = clock;
    spec.cut = &cut;
    return plan(r, &spec);
}

/* Frames are at the clock's messages from the time on at which all sources have begun. */
static void a_clock_and_cuts(void **state) {
    (void)state;
    struct toy toy = {0};
    make(&toy);
    AUTO(reel_recording_free) struct reel_recording *r = toy_open(&toy);
    AUTO_STRUCT(dataset_episode_done) struct dataset_episode all = plan_cut(r, "/command", 0, 9000);
    assert_int_equal(all.frames, 26); /* 1.15 s … 2.90 s */
    assert_int_equal(all.start_ns, 1150 * (int64_t)MS);
    assert_int_equal(all.end_ns, 2900 * (int64_t)MS);
    AUTO_STRUCT(dataset_episode_done) struct dataset_episode cut = plan_cut(r, "/command", 1500, 2060);
    assert_int_equal(cut.frames, 9); /* 1.5 s, 1.57 s … 2.06 s */
    assert_int_equal(cut.grid_ns, 1500 * (int64_t)MS);
    AUTO_STRUCT(dataset_episode_done) struct dataset_episode joints = plan_cut(r, "/joints", 0, 2000);
    assert_int_equal(joints.frames, 43); /* 1.16 s … 2.00 s */
    assert_int_equal(joints.start_ns, 1160 * (int64_t)MS);
    AUTO_STRUCT(dataset_episode_done) struct dataset_episode grid = plan_cut(r, NULL, 1505, 2000);
    assert_int_equal(grid.frames, 5); /* 1.505 s … 1.905 s */
    assert_int_equal(grid.start_ns, 1505 * (int64_t)MS);
    AUTO_STRUCT(dataset_episode_done) struct dataset_episode late = plan_cut(r, NULL, 2950, 3000);
    assert_int_equal(late.frames, 0);
    toy_free(&toy);
}

/* Grey images of 16 x 16 pixels each 40 ms, of which one has another size and one is none. */
static void images_are_sources(void **state) {
    (void)state;
    struct toy toy = {0};
    char text[600], grey[345];
    const char *const camera[] = {"/camera"}, *const value[] = {"/joints.position"};
    const struct dataset_feature features[] = {{"observation.state", value, 1},
                                               {"observation.images.front", camera, 1}};
    const struct dataset_spec spec = {.features = features, .n_features = 2, .fps = 25};
    memset(grey, 'A', 344);
    snprintf(grey + 340, 5, "AA==");
    toy_start(&toy, REEL_CLOCK_WALL);
    channel(&toy, "/joints");
    channel(&toy, "/camera");
    for (int i = 0; i < 50; i++) {
        int width = i == 20 ? 8 : 16;
        snprintf(text, sizeof text, "{\"height\":%d,\"width\":%d,\"encoding\":\"mono8\",\"step\":%d,\"data\":\"%s\"}",
                 256 / width, width, width, grey);
        message(&toy, 0, (int64_t)i * 40 * MS, "{\"position\":[1,2]}");
        message(&toy, 1, (int64_t)i * 40 * MS, i == 40 ? "{\"data\":1}" : text);
    }
    AUTO(reel_recording_free) struct reel_recording *r = toy_open(&toy);
    AUTO_STRUCT(dataset_episode_done) struct dataset_episode e = plan(r, &spec);
    assert_int_equal(e.frames, 20);
    assert_int_equal(e.dropped[DATASET_OTHER_SIZE], 1);
    assert_int_equal(e.dropped[DATASET_UNREADABLE], 1);
    assert_int_equal(e.n_numbers, 2);
    assert_int_equal(e.widths[1], 0);
    assert_int_equal(e.pictures[1].video, DATASET_ENCODED);
    assert_int_equal(e.pictures[1].width, 16);
    struct grow file = write_episode(r, &spec, &e);
    assert_memory_equal(file.data, "PAR1", 4);
    grow_done(&file);
    toy_free(&toy);
}

static void check_refused(const char *const *names, uint32_t n, uint32_t fps) {
    struct dataset_feature features[4];
    struct reel_error err = {0};
    for (uint32_t i = 0; i < n; i++) {
        features[i] = (struct dataset_feature){names[i], state_of, 1};
    }
    assert_false(dataset_spec_check(&(struct dataset_spec){.features = features, .n_features = n, .fps = fps}, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
}
static void what_lerobot_does_not_allow_is_refused(void **state) {
    (void)state;
    check_refused((const char *const[]){"a/b"}, 1, 30);
    check_refused((const char *const[]){""}, 1, 30);
    check_refused((const char *const[]){"index"}, 1, 30);
    check_refused((const char *const[]){"action", "Action"}, 2, 30);
    check_refused((const char *const[]){"action"}, 1, 0);
    check_refused((const char *const[]){"action"}, 0, 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_have_the_latest_values),
        cmocka_unit_test(an_episode_is_described),
        cmocka_unit_test(names_are_texts),
        cmocka_unit_test(a_video_has_a_limit),
        cmocka_unit_test(the_longest_run_is_the_episode),
        cmocka_unit_test(there_may_be_no_frame),
        cmocka_unit_test(hostile_times),
        cmocka_unit_test(a_clock_and_cuts),
        cmocka_unit_test(images_are_sources),
        cmocka_unit_test(what_lerobot_does_not_allow_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
