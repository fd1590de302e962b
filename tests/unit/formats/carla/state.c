/* The state of a CARLA recording at an instant: who is alive and where, and the last word of everything that is not
 * written anew. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/carla_scan.h"

#define STYLE (&make_styles[5])

/* The packet of `topic` among those put in front of a stream that begins at `start_ns`; nothing when there is none. */
static struct reel_bytes initial_of(struct reel_recording *r, int64_t start_ns, const char *topic, unsigned n) {
    static uint8_t copy[4 << 20];
    struct reel_selection q = {.size = sizeof q, .start_ns = start_ns, .end_ns = REEL_TIME_MAX, .state_at_cut = true};
    struct reel_error err = {0};
    struct reel_message m;
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, &q);
    while (stream_next(s, &m, &err) == REEL_STEP_MESSAGE && m.initial > 0) {
        assert_int_equal(m.time_ns, start_ns);
        if (strcmp(s->channels[m.channel]->name, topic) == 0 && n-- == 0) {
            assert_true(m.size <= sizeof copy);
            memcpy(copy, m.owned, m.size);
            return bytes_of(copy, m.size);
        }
    }
    return bytes_of("", 0);
}

struct actor {
    uint32_t id;
    float x, yaw;
};
/* Actors of an event add packet with float vectors; returns how many. */
static unsigned actors_of(struct reel_bytes add, struct actor *out, unsigned room) {
    if (add.size == 0) {
        return 0;
    }
    unsigned n = load_u16le(add.data);
    const uint8_t *p = add.data + 2;
    for (unsigned i = 0; i < n; i++) {
        struct actor a = {.id = load_u32le(p)};
        memcpy(&a.x, p + 5, 4);
        memcpy(&a.yaw, p + 25, 4);
        p += 5 + 24 + 4;
        p += 2 + load_u16le(p);
        unsigned attributes = load_u16le(p);
        p += 2;
        for (unsigned k = 0; k < 2 * attributes; k++) {
            p += k % 2 == 0; /* type */
            p += 2 + load_u16le(p);
        }
        if (i < room) {
            out[i] = a;
        }
    }
    assert_ptr_equal(p, add.data + add.size);
    return n;
}

static int64_t at_frame(unsigned frame) {
    return MAKE_DATE * 1000000000 + (int64_t)(make_elapsed(frame) * 1e9);
}

static void actors_stand_where_they_were_last(void **state) {
    (void)state;
    MAKER m = make_world(STYLE, 6);
    RECORDING *r = carla_read(&m);
    struct actor a[8];
    assert_int_equal(actors_of(initial_of(r, at_frame(1), "/event/add", 0), a, 8), 0);
    assert_int_equal(actors_of(initial_of(r, at_frame(2), "/event/add", 0), a, 8), 4);
    assert_int_equal(actors_of(initial_of(r, at_frame(4), "/event/add", 0), a, 8), 6);
    const uint32_t ids[] = {1, 2, 24, 25, 26, 27};
    const float places[] = {10,  20,  300,
                            301, 302, 1}; /* after frame 3; the spectator, the light and the sensor do not move */
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(a[i].id, ids[i]);
        assert_true(a[i].x == places[i]);
        assert_true(a[i].yaw == (i >= 2 && i <= 4 ? 3.0f : 90.0f));
    }
    assert_int_equal(actors_of(initial_of(r, at_frame(5), "/event/add", 0), a, 8), 5); /* the walker is gone */
    assert_int_equal(a[4].id, 27);
}

static void an_attached_actor_keeps_its_place_at_the_parent(void **state) {
    (void)state;
    MAKER m = make_world(STYLE, 2);
    m.size -= 5; /* the end: position of the sensor, as an attached prop would have */
    size_t p = make_packet(&m, 6);
    make_number(&m, 2, 2);
    make_moved(&m, STYLE, 27, 777);
    make_moved(&m, STYLE, 25, 888);
    make_close(&m, p);
    make_end(&m);
    make_frame(&m, STYLE, 3, true);
    RECORDING *r = carla_read(&m);
    struct actor a[8];
    assert_int_equal(actors_of(initial_of(r, at_frame(3), "/event/add", 0), a, 8), 6);
    assert_true(a[5].id == 27 && a[5].x == 1);
    assert_true(a[3].id == 25 && a[3].x == 888);
}

static void a_parent_that_is_gone_is_none(void **state) {
    (void)state;
    MAKER m = make_world(STYLE, 4);
    make_start(&m, 5, 0.125, make_elapsed(5));
    size_t p = make_packet(&m, 3);
    make_number(&m, 1, 2);
    make_number(&m, 24, 4);
    make_close(&m, p);
    make_end(&m);
    make_frame(&m, STYLE, 6, true);
    RECORDING *r = carla_read(&m);
    struct reel_bytes parents = initial_of(r, at_frame(5), "/event/parent", 0);
    assert_int_equal(parents.size, 10);
    assert_int_equal(load_u32le(parents.data + 2), 27);
    assert_int_equal(load_u32le(parents.data + 6), 24);
    assert_int_equal(initial_of(r, at_frame(6), "/event/parent", 0).size, 0);
    assert_int_equal(load_u16le(initial_of(r, at_frame(5), "/physics_control", 0).data), 1);
    assert_int_equal(initial_of(r, at_frame(6), "/physics_control", 0).size, 0); /* with the actor its physics, doors
                                                                                    and boxes */
    assert_int_equal(initial_of(r, at_frame(6), "/vehicle/door", 0).size, 0);
    assert_int_equal(initial_of(r, at_frame(6), "/bounding_box", 0).size, 0);
    assert_int_equal(initial_of(r, at_frame(6), "/trigger_volume", 0).size, 2 + 28);
}

static void an_id_used_again_is_another_actor(void **state) {
    (void)state;
    MAKER m = make_world(STYLE, 4);
    make_start(&m, 5, 0.125, make_elapsed(5));
    size_t p = make_packet(&m, 2);
    make_number(&m, 1, 2);
    make_actor(&m, STYLE, 26, 2, 66, "walker.pedestrian.0002", NULL);
    make_close(&m, p);
    make_end(&m);
    make_frame(&m, STYLE, 6, true);
    RECORDING *r = carla_read(&m);
    struct actor a[8];
    assert_int_equal(actors_of(initial_of(r, at_frame(6), "/event/add", 0), a, 8), 6);
    assert_true(a[5].id == 26 && a[5].x == 66); /* where it was created, not where the first 26 was last */
    struct reel_bytes boxes = initial_of(r, at_frame(6), "/bounding_box", 0);
    assert_int_equal(load_u16le(boxes.data), 1); /* the hero's; that of the first 26 is gone */
    assert_int_equal(load_u32le(boxes.data + 2), 24);
}

static void the_last_packet_of_what_frames_write_anew(void **state) {
    (void)state;
    MAKER m = make_world(&make_styles[6], 6);
    RECORDING *r = carla_read(&m);
    struct reel_message message;
    const char *const topics[] = {"/position",
                                  "/traffic_light/state",
                                  "/vehicle/animation",
                                  "/walker/animation",
                                  "/vehicle/light",
                                  "/vehicle/wheels",
                                  "/biker",
                                  "/walker/bones",
                                  "/visual_time"};
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        struct reel_bytes initial = initial_of(r, at_frame(4), topics[i], 0);
        assert_true(bytes_equal(initial, payload_of(r, topics[i], 2, &message)));
    }
    float cloudiness;
    memcpy(&cloudiness, initial_of(r, at_frame(4), "/weather", 0).data + 2, 4);
    assert_true(cloudiness == 10);
    memcpy(&cloudiness, initial_of(r, at_frame(5), "/weather", 0).data + 2, 4);
    assert_true(cloudiness == 40);
    const char *const none[] = {"/collision", "/kinematics", "/platform_time", "/event/del", "/frame", "/frame_end"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(initial_of(r, at_frame(4), none[i], 0).size, 0);
    }
}

static void opaque_physics_of_ue5_come_whole(void **state) {
    (void)state;
    struct make_style style = make_styles[7];
    style.wheel = 48;
    MAKER m = make_world(&style, 6);
    RECORDING *r = carla_read(&m);
    struct reel_message message;
    assert_true(
        bytes_equal(initial_of(r, at_frame(4), "/physics_control", 0), payload_of(r, "/physics_control", 0, &message)));
    assert_true(
        bytes_equal(initial_of(r, at_frame(4), "/physics_control", 1), payload_of(r, "/physics_control", 1, &message)));
    struct reel_bytes add = initial_of(r, at_frame(4), "/event/add", 0);
    double x;
    memcpy(&x, add.data + 2 + 5, 8);
    assert_true(load_u16le(add.data) == 6 && x == 10);
}

static void more_actors_than_a_packet_holds_are_refused(void **state) {
    (void)state;
    MAKER m = {0};
    make_header(&m, 1, MAKE_DATE, MAKE_MAP);
    for (unsigned f = 1; f <= 3; f++) {
        make_start(&m, f, f == 3 ? -1 : 0.125, make_elapsed(f));
        size_t p = make_packet(&m, 2);
        make_number(&m, 40000, 2);
        for (unsigned i = 0; i < 40000; i++) {
            make_actor(&m, STYLE, f * 100000 + i, 0, 1, "p", NULL);
        }
        make_close(&m, p);
        make_end(&m);
    }
    RECORDING *r = carla_read(&m);
    struct reel_error err = {0};
    struct reel_selection q = {
        .size = sizeof q, .start_ns = at_frame(3), .end_ns = REEL_TIME_MAX, .state_at_cut = true};
    assert_null(reel_stream_open(&r, 1, &q, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    assert_non_null(strstr(err.text, "80000 records make the state of /event/add"));
    assert_int_equal(actors_of(initial_of(r, at_frame(2), "/event/add", 0), NULL, 0), 40000);
}

/* Ids that were never alive count too. */
static void more_than_can_be_remembered_is_refused(void **state) {
    (void)state;
    MAKER m = {0};
    make_header(&m, 1, MAKE_DATE, MAKE_MAP);
    make_start(&m, 1, 0.125, 0);
    for (uint32_t i = 0; i < 17; i++) {
        size_t p = make_packet(&m, 3);
        make_number(&m, 65535, 2);
        for (uint32_t k = 0; k < 65535; k++) {
            make_number(&m, i << 16 | k, 4);
        }
        make_close(&m, p);
    }
    make_end(&m);
    make_frame(&m, STYLE, 2, true);
    RECORDING *r = carla_read(&m);
    struct reel_error err = {0};
    struct reel_selection q = {
        .size = sizeof q, .start_ns = at_frame(2), .end_ns = REEL_TIME_MAX, .state_at_cut = true};
    assert_null(reel_stream_open(&r, 1, &q, &err));
    assert_int_equal(err.code, REEL_LIMIT);
}

static void only_what_is_wanted_is_made(void **state) {
    (void)state;
    MAKER m = make_world(STYLE, 6);
    RECORDING *r = carla_read(&m);
    const char *topic = "/scene_light";
    struct reel_error err = {0};
    struct reel_selection q = {.size = sizeof q,
                               .topics = &topic,
                               .n_topics = 1,
                               .start_ns = at_frame(4),
                               .end_ns = REEL_TIME_MAX,
                               .state_at_cut = true};
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, &q);
    struct reel_message message;
    assert_int_equal(stream_next(s, &message, &err), REEL_STEP_MESSAGE);
    assert_int_equal(message.size, 2 + 2 * 26);
    assert_int_equal(stream_next(s, &message, &err), REEL_STEP_END);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(actors_stand_where_they_were_last),
        cmocka_unit_test(an_attached_actor_keeps_its_place_at_the_parent),
        cmocka_unit_test(a_parent_that_is_gone_is_none),
        cmocka_unit_test(an_id_used_again_is_another_actor),
        cmocka_unit_test(the_last_packet_of_what_frames_write_anew),
        cmocka_unit_test(opaque_physics_of_ue5_come_whole),
        cmocka_unit_test(more_actors_than_a_packet_holds_are_refused),
        cmocka_unit_test(more_than_can_be_remembered_is_refused),
        cmocka_unit_test(only_what_is_wanted_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
