/* CARLA's packets as scenes, frames, lines and numbers for viewers. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/carla/follow.h"
#include "makers/carla_scan.h"
#include "makers/view_check.h"
#include "stream/stream.h"

#define STYLE (&make_styles[4])

static int64_t at_frame(unsigned frame) {
    return MAKE_DATE * 1000000000 + (int64_t)(make_elapsed(frame) * 1e9);
}

static void originals_stay_and_topics_join(void **state) {
    (void)state;
    MAKER m = make_world(STYLE, 5);
    RECORDING *r = carla_read(&m);
    struct reel_selection q = view_all();
    q.view = q.view->raw;
    VIEW_LIST l = view_list_of(r, &q);
    view_check(r, &q);
    assert_int_equal(l.stream->n_channels, info_of(r)->n_channels + 5);
    struct reel_selection plain = selection_all;
    AUTO(reel_stream_free) struct reel_stream *raw = view_stream(r, &plain);
    assert_true(l.stream->view_version != raw->view_version);
    assert_int_equal(view_count(&l, "/position"), 5);
    assert_int_equal(view_count(&l, "/view/tf"), 5);
    assert_int_equal(view_count(&l, "/view/ego"), 5);
    assert_int_equal(view_count(&l, "/view/trajectories"), 1);
    assert_int_equal(view_count(&l, "/view/scene"), 3); /* the first, with the walker, without it */
    const struct reel_channel *c = l.stream->channels[l.stream->n_channels - 5];
    assert_string_equal(c->name, "/view/scene");
    assert_string_equal(c->type, "foxglove.SceneUpdate");
    assert_string_equal(c->encoding, "json");
    assert_string_equal(c->schemas[0].encoding, "jsonschema");
}

/* What the view draws is left out as it was recorded; the rest is JSON. */
static void other_channels_are_json(void **state) {
    (void)state;
    MAKER m = make_world(STYLE, 5);
    RECORDING *r = carla_read(&m);
    struct reel_selection q = view_all();
    VIEW_LIST l = view_list_of(r, &q);
    assert_int_equal(view_count(&l, "/position"), 0);
    assert_int_equal(view_count(&l, "/vehicle/light"), 5);
    assert_string_equal(view_text(&l, "/vehicle/light", 0),
                        "{\"actors\":{\"24\":{\"lights\":1,\"lights_on\":[\"Position\"]},\"25\":{\"lights\":1,\"lights_"
                        "on\":[\"Position\"]}}}");
    for (uint32_t i = 0; i < l.stream->n_channels; i++) {
        assert_string_equal(l.stream->channels[i]->encoding, "json");
        assert_string_equal(l.stream->channels[i]->schemas[0].encoding, "jsonschema");
    }
}

static void the_world_is_right_handed_and_in_metres(void **state) {
    (void)state;
    MAKER m = make_world(STYLE, 3);
    RECORDING *r = carla_read(&m);
    struct reel_selection q = view_all();
    VIEW_LIST l = view_list_of(r, &q);
    /* the hero at (200, 5, 6) cm, rolled 1, pitched 2 and turned 3 degrees the left-handed way */
    assert_view_has(
        &l, "/view/tf", 1,
        "\"parent_frame_id\":\"map\",\"child_frame_id\":\"actor/24\",\"translation\":{\"x\":2,\"y\":-0.05,\"z\":0.06}");
    assert_view_has(&l, "/view/tf", 1, "\"rotation\":{\"x\":0.008265");
    assert_view_has(&l, "/view/tf", 1, "\"y\":-0.01767");
    assert_view_has(&l, "/view/tf", 1, "\"z\":-0.02601");
    assert_view_has(&l, "/view/tf", 1, "\"parent_frame_id\":\"actor/24\",\"child_frame_id\":\"ego\"");
    assert_view_has(&l, "/view/ego", 1,
                    "\"x\":2,\"y\":-0.05,\"z\":0.06,\"roll\":1,\"pitch\":-2,\"yaw\":-3,\"speed\":8");
    assert_view_has(&l, "/view/ego", 1, "\"throttle\":0.5,\"brake\":0,");
    assert_view_has(&l, "/view/ego", 1, "\"handbrake\":false,\"gear\":-1}");
}

static void cubes_are_the_boxes(void **state) {
    (void)state;
    MAKER m = make_world(STYLE, 5);
    RECORDING *r = carla_read(&m);
    struct reel_selection q = view_all();
    VIEW_LIST l = view_list_of(r, &q);
    /* of the hero: origin (1, 5, 6), half (1, 2, 3) cm */
    assert_view_has(&l, "/view/scene", 0, "\"frame_id\":\"actor/24\",\"id\":\"actor/24\"");
    assert_view_has(&l, "/view/scene", 0, "\"position\":{\"x\":0.01,\"y\":-0.05,\"z\":0.06}");
    assert_view_has(&l, "/view/scene", 0, "\"size\":{\"x\":0.02,\"y\":0.04,\"z\":0.06}");
    assert_view_has(&l, "/view/scene", 0,
                    "\"deletions\":[{\"timestamp\":{\"sec\":1600000000,\"nsec\":0},\"type\":1,\"id\":\"\"}]");
    assert_view_has(&l, "/view/scene", 0, "{\"key\":\"role_name\",\"value\":\"hero\"}");
    assert_view_has(&l, "/view/scene", 0, "\"size\":{\"x\":4.5,\"y\":1.9,\"z\":1.5}"); /* of what has none */
    assert_null(strstr(view_text(&l, "/view/scene", 0), "actor/26"));
    assert_view_has(&l, "/view/scene", 1, "actor/26");
    assert_null(strstr(view_text(&l, "/view/scene", 1), "actor/27")); /* a sensor */
    assert_null(strstr(view_text(&l, "/view/scene", 2), "actor/26"));
}

static void what_happens_is_logged(void **state) {
    (void)state;
    MAKER m = make_world(STYLE, 4);
    RECORDING *r = carla_read(&m);
    struct reel_selection q = view_all();
    VIEW_LIST l = view_list_of(r, &q);
    assert_int_equal(view_count(&l, "/view/log"), 9);
    assert_view_has(&l, "/view/log", 2, "\"level\":2,\"message\":\"created 24 vehicle.tesla.model3\"");
    assert_view_has(&l, "/view/log", 6, "\"message\":\"27 sensor.camera.rgb attached to 24 vehicle.tesla.model3\"");
    assert_view_has(&l, "/view/log", 7,
                    "\"level\":4,\"message\":\"24 vehicle.tesla.model3 hit 4294967295\",\"name\":\"carla.collisions\"");
    assert_view_has(&l, "/view/log", 8, "\"message\":\"destroyed 26 walker.pedestrian.0001\"");
}

static void ways_are_lines(void **state) {
    (void)state;
    MAKER m = make_world(STYLE, 1000);
    RECORDING *r = carla_read(&m);
    struct reel_selection q = view_all();
    VIEW_LIST l = view_list_of(r, &q);
    const char *text = view_text(&l, "/view/trajectories", 0);
    assert_non_null(strstr(text, "\"points\":[{\"x\":1,\"y\":-0.05,\"z\":0.06},"));
    assert_non_null(strstr(text, "{\"x\":1000,\"y\":-0.05,\"z\":0.06}],"));
    unsigned points = 0;
    for (const char *p = strstr(text, "\"points\":["); p && p < strstr(text, "],\"color\"");
         p = strstr(p + 1, "{\"x\":")) {
        points++;
    }
    assert_in_range(points, 129, 260);
}

static void every_version_seeks(void **state) {
    (void)state;
    for (unsigned i = 0; i < MAKE_STYLES; i++) {
        MAKER m = make_world(&make_styles[i], 6);
        RECORDING *r = carla_read(&m);
        struct reel_selection q = view_all();
        view_check(r, &q);
    }
}

static void a_cut_begins_with_all_that_is_there(void **state) {
    (void)state;
    MAKER m = make_world(STYLE, 6);
    RECORDING *r = carla_read(&m);
    struct reel_selection q = view_all();
    VIEW_LIST whole = view_list_of(r, &q);
    q.start_ns = at_frame(3);
    view_check(r, &q);
    VIEW_LIST cut = view_list_of(r, &q);
    assert_int_equal(view_count(&cut, "/view/tf"), 4);
    assert_view_has(&cut, "/view/scene", 0, "actor/24");
    assert_view_has(&cut, "/view/scene", 0, "actor/26");
    assert_view_has(&cut, "/view/trajectories", 0, "{\"x\":3,");
    for (unsigned i = 0; i < 4; i++) { /* also the speed, from the frame before the cut */
        assert_string_equal(view_text(&cut, "/view/ego", i), view_text(&whole, "/view/ego", i + 2));
        assert_string_equal(view_text(&cut, "/view/tf", i), view_text(&whole, "/view/tf", i + 2));
    }
}

static void topics_are_chosen_like_any(void **state) {
    (void)state;
    MAKER m = make_world(STYLE, 4);
    RECORDING *r = carla_read(&m);
    const char *only = "/view/tf", *not = "/view/*", *two[] = {"/position", "/view/scene"};
    struct reel_selection q = view_all();
    VIEW_LIST all = view_list_of(r, &q);
    q.topics = &only;
    q.n_topics = 1;
    VIEW_LIST frames = view_list_of(r, &q);
    assert_int_equal(frames.count, 4);
    assert_string_equal(view_text(&frames, "/view/tf", 2), view_text(&all, "/view/tf", 2)); /* though nothing else was
                                                                                               selected */
    view_check(r, &q);
    q.topics = two;
    q.n_topics = 2;
    q.view = q.view->raw;
    VIEW_LIST pair = view_list_of(r, &q);
    assert_int_equal(pair.count, 4 + 3);
    view_check(r, &q);
    q = view_all();
    q.view = q.view->raw;
    q.exclude = &not ;
    q.n_exclude = 1;
    VIEW_LIST none = view_list_of(r, &q);
    assert_int_equal(none.count, info_of(r)->messages);
    q.view = NULL;
    AUTO(reel_stream_free) struct reel_stream *raw = view_stream(r, &q);
    assert_int_equal(none.stream->view_version, raw->view_version); /* the same bytes, the same ETag */
    q = view_all();
    q.every_n = 3; /* does not thin out what is made */
    view_check(r, &q);
}

/* What is no record, or none of ours, is passed over; and whatever comes, sought is the same as run there. */
static void damage_is_passed_over(void **state) {
    (void)state;
    uint32_t seed = 1;
    for (unsigned round = 0; round < 60; round++) {
        MAKER m = make_world(&make_styles[round % MAKE_STYLES], 4);
        for (unsigned i = 0; i < 12; i++) {
            seed = seed * 1664525 + 1013904223;
            m.data[40 + (seed >> 8) % (m.size - 40)] ^= (uint8_t)(1 + (seed >> 3) % 255);
        }
        struct reel_error err = {0};
        AUTO(reel_recording_free) struct reel_recording *r = carla_try(bytes_of(m.data, m.size), &err);
        struct reel_selection q = view_all();
        if (r) {
            VIEW_LIST l = view_list_of(r, &q);
            view_check_later(r, &q, &l);
        }
    }
}

static void of_several_recordings_topics_are_distinguished(void **state) {
    (void)state;
    MAKER m = make_world(STYLE, 3);
    RECORDING *r = carla_read(&m);
    struct reel_recording *both[] = {r, r};
    const char *const names[] = {"one.log", "two.log"};
    struct reel_source_option sources[2];
    struct reel_error err = {0};
    assert_true(reel_merge_options(both, 2, names, REEL_ALIGN_START, sources, &err));
    struct reel_selection q = view_all();
    q.sources = sources;
    VIEW_LIST l = {.stream = reel_writer_stream(&reel_writer_mcap, both, 2, &q, &err)};
    assert_non_null(l.stream);
    view_run(&l, l.stream);
    assert_int_equal(view_count(&l, "/one/view/tf"), 3);
    assert_int_equal(view_count(&l, "/two/view/tf"), 3);
    assert_string_equal(view_text(&l, "/one/view/scene", 1), view_text(&l, "/two/view/scene", 1));
}

static void other_names_are_no_view(void **state) {
    (void)state;
    struct reel_error err = {0};
    assert_null(reel_view_named("rviz", &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    assert_non_null(strstr(err.text, "foxglove"));
}

/* The positions put in front, of each recording one, as the hero sees them: the same bytes each time they are given. */
static unsigned fronts_of(struct reel_stream *s, const uint8_t **owned) {
    struct reel_error err = {0};
    struct reel_message m;
    unsigned n = 0;
    assert_true(stream_seek(s, &(struct reel_position){.time_ns = REEL_TIME_MIN, .initial = 1}, &err));
    while (stream_next(s, &m, &err) == REEL_STEP_MESSAGE && m.initial > 0) {
        if (strcmp(s->channels[m.channel]->name, "/position") == 0) {
            assert_true(n < 4 && m.owned);
            owned[n++] = m.owned;
        }
    }
    return n;
}

static void what_an_actor_sees_is_made_once(void **state) {
    (void)state;
    MAKER m = make_world(STYLE, 5);
    RECORDING *r = carla_read(&m);
    struct reel_error err = {0};
    struct reel_recording *const two[] = {r, r};
    struct reel_selection q = selection_all;
    q.start_ns = at_frame(3);
    q.state_at_cut = true;
    AUTO(reel_stream_free)
    struct reel_stream *s = reel_carla_follow(reel_stream_open(two, 2, &q, &err), 24, &err);
    assert_non_null(s);
    const uint8_t *first[4] = {0}, *again[4] = {0};
    assert_int_equal(fronts_of(s, first), 2);
    assert_ptr_not_equal(first[0], first[1]);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(fronts_of(s, again), 2);
        assert_ptr_equal(again[0], first[0]);
        assert_ptr_equal(again[1], first[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(originals_stay_and_topics_join),
        cmocka_unit_test(other_channels_are_json),
        cmocka_unit_test(the_world_is_right_handed_and_in_metres),
        cmocka_unit_test(cubes_are_the_boxes),
        cmocka_unit_test(what_happens_is_logged),
        cmocka_unit_test(ways_are_lines),
        cmocka_unit_test(every_version_seeks),
        cmocka_unit_test(a_cut_begins_with_all_that_is_there),
        cmocka_unit_test(topics_are_chosen_like_any),
        cmocka_unit_test(damage_is_passed_over),
        cmocka_unit_test(of_several_recordings_topics_are_distinguished),
        cmocka_unit_test(other_names_are_no_view),
        cmocka_unit_test(what_an_actor_sees_is_made_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
