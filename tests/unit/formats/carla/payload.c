/* CARLA's packets as values: every kind of every version, and what is no packet. */
#include "base/bytes.h"
#include "makers/carla_scan.h"
#include "makers/decode_sample.h"
#include "makers/real_samples.h"

#define NEW (&make_styles[6]) /* every packet there is */
#define UE5 (&make_styles[7])
#define OLD (&make_styles[2]) /* wheels of 36 bytes */

/* The JSON of message n of a topic. */
static const char *decoded(const struct make_style *style, const char *topic, unsigned n) {
    MAKER m = make_world(style, 4);
    RECORDING *r = carla_read(&m);
    struct reel_message message;
    struct reel_bytes payload = payload_of(r, topic, n, &message);
    const struct reel_channel *channel = channel_named(r, topic);
    return decode_text(channel, payload);
}
#define assert_decoded(topic, n, json) assert_string_equal(decoded(NEW, topic, n), json)

static void events(void **state) {
    (void)state;
    assert_decoded("/event/add", 1,
                   "{\"actors\":{\"26\":{\"type\":2,\"type_name\":\"walker\",\"location\":{\"x\":50,\"y\":2,\"z\":3},"
                   "\"rotation\":{\"roll\":0,"
                   "\"pitch\":0,\"yaw\":90},"
                   "\"uid\":126,\"description\":\"walker.pedestrian.0001\",\"attributes\":[]},\"27\":{\"type\":5,"
                   "\"type_name\":\"sensor\","
                   "\"location\":{\"x\":1,"
                   "\"y\":2,\"z\":3},\"rotation\":{\"roll\":0,\"pitch\":0,\"yaw\":90},\"uid\":127,\"description\":"
                   "\"sensor.camera.rgb\","
                   "\"attributes\":[]}}}");
    static const char attributes[] = "\"attributes\":[{\"type\":\"int\",\"id\":\"number_of_wheels\",\"value\":\"4\"},"
                                     "{\"type\":\"string\",\"id\":\"role_name\",\"value\":\"hero\"}]";
    assert_non_null(strstr(decoded(NEW, "/event/add", 0), attributes)); /* types count from 1 */
    assert_non_null(strstr(decoded(OLD, "/event/add", 0), attributes)); /* from 0 */
    assert_decoded("/event/del", 3, "{\"actors\":[26]}");
    assert_decoded("/event/parent", 1, "{\"actors\":{\"27\":{\"parent\":24}}}");
    assert_decoded("/collision", 2,
                   "{\"collisions\":[{\"id\":7,\"actor1\":24,\"actor2\":4294967295,\"hero1\":true,\"hero2\":false}]}");
    assert_decoded("/event/add", 2, "{\"actors\":{}}");
}

static void what_a_frame_has_once(void **state) {
    (void)state;
    assert_decoded("/frame", 1, "{\"frame\":2,\"duration\":0.125,\"elapsed\":0.125}");
    assert_decoded("/frame", 3, "{\"frame\":4,\"duration\":-1,\"elapsed\":0.375}");
    assert_decoded("/frame_end", 0, "{}");
    assert_decoded("/visual_time", 2, "{\"time\":1.5}");
    assert_decoded("/platform_time", 0, "{\"time\":0.125}");
}

static void states_of_actors(void **state) {
    (void)state;
    assert_decoded(
        "/position", 0,
        "{\"actors\":{\"24\":{\"location\":{\"x\":100,\"y\":5,\"z\":6},\"rotation\":{\"roll\":1,\"pitch\":2,\"yaw\":3}}"
        ","
        "\"25\":{\"location\":{\"x\":101,\"y\":5,\"z\":6},\"rotation\":{\"roll\":1,\"pitch\":2,\"yaw\":3}}}}");
    assert_decoded("/traffic_light/state", 2,
                   "{\"actors\":{\"2\":{\"frozen\":false,\"elapsed\":3,\"state\":3,\"state_name\":\"off\"}}}");
    assert_non_null(
        strstr(decoded(NEW, "/vehicle/animation", 0), "\"throttle\":0.5,\"brake\":0,\"handbrake\":false,\"gear\":-1}"));
    assert_decoded("/walker/animation", 1, "{\"actors\":{\"26\":{\"speed\":140}}}");
    assert_decoded("/vehicle/light", 2,
                   "{\"actors\":{\"24\":{\"lights\":3,\"lights_on\":[\"Position\",\"LowBeam\"]},\"25\":{\"lights\":3,"
                   "\"lights_on\":["
                   "\"Position\",\"LowBeam\"]}}}");
    assert_decoded("/vehicle/wheels", 1,
                   "{\"actors\":{\"24\":{\"wheels\":[{\"wheel\":0,\"steering\":0.5,\"rotation\":2},{\"wheel\":1,"
                   "\"steering\":0.5,\"rotation\":2},"
                   "{\"wheel\":2,\"steering\":0.5,\"rotation\":2},{\"wheel\":3,\"steering\":0.5,\"rotation\":2}]}}}");
    assert_decoded("/biker", 0, "{\"actors\":{\"25\":{\"speed\":300,\"engine_rotation\":0.25}}}");
    assert_decoded("/vehicle/door", 2, "{\"doors\":[{\"actor\":24,\"door\":5,\"door_name\":\"Trunk\",\"open\":true}]}");
    assert_non_null(strstr(
        decoded(NEW, "/kinematics", 2),
        "\"24\":{\"linear_velocity\":{\"x\":300,\"y\":5,\"z\":6},\"angular_velocity\":{\"x\":1,\"y\":2,\"z\":3}}"));
    assert_decoded(
        "/bounding_box", 1,
        "{\"actors\":{\"26\":{\"origin\":{\"x\":2,\"y\":5,\"z\":6},\"extension\":{\"x\":1,\"y\":2,\"z\":3}}}}");
    assert_decoded(
        "/trigger_volume", 0,
        "{\"actors\":{\"2\":{\"origin\":{\"x\":9,\"y\":5,\"z\":6},\"extension\":{\"x\":1,\"y\":2,\"z\":3}}}}");
    assert_decoded("/traffic_light/time", 0, "{\"actors\":{\"2\":{\"green\":10,\"yellow\":3,\"red\":2}}}");
    assert_decoded(
        "/walker/bones", 1,
        "{\"actors\":{\"26\":{\"bones\":[{\"name\":\"crl_root\",\"location\":{\"x\":1,\"y\":1,\"z\":1},\"rotation\":{"
        "\"roll\":2,"
        "\"pitch\":2,\"yaw\":2}},"
        "{\"name\":\"\",\"location\":{\"x\":3,\"y\":3,\"z\":3},\"rotation\":{\"roll\":4,\"pitch\":4,\"yaw\":4}}]}}}");
}

static void the_world(void **state) {
    (void)state;
    assert_decoded("/scene_light", 1,
                   "{\"lights\":{\"-1\":{\"intensity\":3,\"red\":1,\"green\":1,\"blue\":1,\"alpha\":1,\"on\":true,"
                   "\"type\":2,\"type_name\":"
                   "\"street\"}}}");
    const char *weather = decoded(NEW, "/weather", 1);
    assert_non_null(strstr(weather, "{\"weather\":[{\"cloudiness\":40,"));
    assert_non_null(strstr(weather, "\"dust_storm\":53}]}"));
}

static void physics_of_both_sizes(void **state) {
    (void)state;
    assert_non_null(strstr(decoded(NEW, "/physics_control", 1),
                           "\"mass\":3000,\"drag_coefficient\":2,\"center_of_mass\":{\"x\":0,\"y\":0,\"z\":-1},"
                           "\"torque_curve\":[{\"rpm\":7,\"torque\":7}],"
                           "\"forward_gears\":[{\"ratio\":7,\"down_ratio\":7,\"up_ratio\":7}],\"steering_curve\":[{"
                           "\"speed\":7,\"factor\":7}],\"wheels\":[{"));
    assert_non_null(strstr(decoded(NEW, "/physics_control", 1),
                           "\"longitudinal_stiffness_value\":8,\"position\":{\"x\":8,\"y\":8,\"z\":8}}]}}}"));
    assert_non_null(strstr(decoded(OLD, "/physics_control", 1),
                           "\"max_handbrake_torque\":8,\"position\":{\"x\":8,\"y\":8,\"z\":8}}]}}}"));
}

static void ue5_has_doubles_and_its_own_numbers(void **state) {
    (void)state;
    assert_non_null(
        strstr(decoded(UE5, "/position", 0),
               "\"24\":{\"location\":{\"x\":100,\"y\":5,\"z\":6},\"rotation\":{\"roll\":1,\"pitch\":2,\"yaw\":3}}"));
    assert_string_equal(decoded(UE5, "/vehicle/door", 0),
                        "{\"doors\":[{\"actor\":24,\"door\":0,\"door_name\":\"Front Left\",\"open\":true}]}");
    assert_string_equal(decoded(UE5, "/biker", 0), "{\"actors\":{\"25\":{\"speed\":300,\"engine_rotation\":0.25}}}");
}

static void physics_of_ue5(void **state) {
    (void)state;
    const char *text = decoded(UE5, "/physics_control", 1);
    static const char *const parts[] = {
        "{\"actors\":{\"24\":{\"max_torque\":10,\"max_rpm\":11,\"idle_rpm\":12,",
        "\"rev_down_rate\":15,\"differential_type\":2,\"front_rear_split\":0.5,\"use_automatic_gears\":true,"
        "\"gear_change_time\":20,",
        "\"mass\":3000,\"drag_coefficient\":26,\"center_of_mass\":{\"x\":27,\"y\":28,\"z\":29},\"chassis_width\":30,",
        "\"sleep_slope_limit\":38,\"use_sweep_wheel_collision\":true,"
        "\"torque_curve\":[{\"rpm\":2,\"torque\":2},{\"rpm\":1,\"torque\":1}],"
        "\"forward_gear_ratios\":[2.85,2.02,1.35],\"reverse_gear_ratios\":[-2.86],"
        "\"steering_curve\":[],\"wheels\":[{\"axle_type\":0,\"offset\":{\"x\":0.5,\"y\":1.5,\"z\":2.5},",
        "\"max_steer_angle\":11.5,\"affected_by_steering\":true,\"affected_by_brake\":true,\"affected_by_handbrake\":"
        "false,"
        "\"affected_by_engine\":true,\"abs_enabled\":false,\"traction_control_enabled\":true,\"max_wheelspin_"
        "rotation\":30,"
        "\"external_torque_combine_method\":1,\"suspension_axis\":{\"x\":100,\"y\":101,\"z\":102},",
        "\"spring_preload\":111,\"suspension_smoothing\":-2,\"rollbar_scaling\":0.25,\"sweep_shape\":1,\"sweep_type\":"
        "2,"
        "\"max_brake_torque\":1500,\"max_hand_brake_torque\":3000,\"wheel_index\":0,",
        "\"wheel_index\":1,\"location\":{\"x\":200,\"y\":201,\"z\":202},\"old_location\":{\"x\":203,\"y\":204,\"z\":"
        "205},"
        "\"velocity\":{\"x\":206,\"y\":207,\"z\":208}}]}}}"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!strstr(text, parts[i])) {
            fail_msg("%s is not in %s", parts[i], text);
        }
    }
}

/* The wheels of another compiler or version, here those of UE4. */
static void physics_of_ue5_with_other_sizes_are_opaque(void **state) {
    (void)state;
    struct make_style style = *UE5;
    style.wheel = 48;
    assert_non_null(strstr(decoded(&style, "/physics_control", 0), "error 3: /physics_control: the physics of UE5"));
}

static void fields_of_a_packet(void **state) {
    (void)state;
    MAKER m = make_world(NEW, 4);
    RECORDING *r = carla_read(&m);
    assert_string_equal(decode_fields(channel_named(r, "/frame")),
                        "frame uint64 numeric\nduration float64 s numeric\nelapsed float64 s numeric\n");
    assert_string_equal(decode_fields(channel_named(r, "/position")),
                        "actors carla/Position[] location cm, rotation deg\n");
    assert_string_equal(decode_fields(channel_named(r, "/kinematics")),
                        "actors carla/Kinematics[] linear_velocity m/s, angular_velocity deg/s\n");
    assert_string_equal(decode_fields(channel_named(r, "/frame_end")), "");
}

/* A channel of one's own making. */
static const char *of_packet(const char *id, const void *data, size_t size) {
    struct reel_pair pair = {"packet", id};
    const struct reel_channel channel = {.name = "/a", .type = "carla/A", .encoding = "carla", .metadata = {&pair, 1}};
    return decode_text(&channel, bytes_of(data, size));
}

static void what_does_not_fit_is_reported(void **state) {
    (void)state;
    static const uint8_t two_parents[2 + 16] = {2, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0};
    assert_string_equal(of_packet("4", two_parents, 18), "{\"actors\":{\"1\":{\"parent\":2},\"3\":{\"parent\":4}}}");
    assert_string_equal(of_packet("4", two_parents, 16), "error 2: byte 14 of 16: parent is truncated");
    assert_string_equal(of_packet("4", two_parents, 2), "error 2: byte 2 of 2: actors is truncated");
    assert_string_equal(of_packet("4", two_parents, 1), "error 2: byte 0 of 1: actors is truncated");
    assert_string_equal(of_packet("4", two_parents, 0), "error 2: byte 0 of 0: actors is truncated");
    static const uint8_t one_parent[2 + 11] = {1, 0, 1, 0, 0, 0, 2};
    assert_string_equal(of_packet("4", one_parent, 13), "error 2: byte 10 of 13: 3 bytes too many");
    static const uint8_t many_wheels[2 + 8] = {1, 0, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
    assert_string_equal(of_packet("21", many_wheels, 10), "error 2: byte 10 of 10: wheel is truncated");
    assert_string_equal(of_packet("14", two_parents, 4), "error 2: byte 0 of 4: time is truncated");
    assert_string_equal(of_packet("18", "\1\0\0\0\0\0\0\0", 8), "{\"frame\":1}");
    assert_non_null(strstr(of_packet("139", "abc", 3), "error 3: /a: packets 139"));
    assert_non_null(strstr(of_packet("x", "abc", 3), "error 2: /a: "));
}

static void a_total_that_wrapped(void **state) {
    (void)state;
    size_t n = 65536 + 2, size = 2 + 4 * n;
    uint8_t *data = calloc(1, size);
    assert_non_null(data);
    data[0] = 2;
    data[size - 4] = 9;
    const char *json = of_packet("3", data, size);
    assert_int_equal(strlen(json), strlen("{\"actors\":[]}") + 2 * n - 1);
    assert_string_equal(json + strlen(json) - 5, "0,9]}");
    data[0] = 3;
    assert_non_null(strstr(of_packet("3", data, size), "bytes too many"));
    free(data);
}

struct sums {
    unsigned messages, refused;
};
static void sum_up(void *context, const struct reel_channel *channel, const char *json) {
    struct sums *s = context;
    s->messages++;
    s->refused += json[0] != '{';
    if (json[0] != '{') {
        print_message("%s: %s\n", channel->name, json);
    }
}
static void whole_golden_logs(void **state) {
    (void)state;
    static const char *const versions[] = {"0.9.4", "0.9.6", "0.9.10", "0.9.14", "0.9.15", "0.9.16", "2024", "2026"};
    struct sums s = {0};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        char path[512];
        snprintf(path, sizeof path, REEL_TESTS "/golden/carla/version_%s/input.log", versions[i]);
        assert_true(decode_sample(path, &reel_format_carla, sum_up, &s));
    }
    assert_true(s.messages > 300);
    assert_int_equal(s.refused, 0);
}
static void whole_logs(void **state) {
    (void)state;
    static const char *const names[] = {"made_0.9.6_basic.log",
                                        "made_0.9.14_full.log",
                                        "made_dev2603_full.log",
                                        "made_ue5like_basic.log",
                                        "sr_0.9.10_DistanceBetweenVehicles.log",
                                        "tkortz_2762.rec"};
    struct sums s = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/../../shared/samples/carla/%s", REEL_TESTS, names[i]);
        if (!decode_sample(path, &reel_format_carla, sum_up, &s)) {
            SAMPLES_SKIPPED(6);
        }
    }
    print_message("%u messages\n", s.messages);
    assert_true(s.messages > 1000);
    assert_int_equal(s.refused, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events),
        cmocka_unit_test(what_a_frame_has_once),
        cmocka_unit_test(states_of_actors),
        cmocka_unit_test(the_world),
        cmocka_unit_test(physics_of_both_sizes),
        cmocka_unit_test(ue5_has_doubles_and_its_own_numbers),
        cmocka_unit_test(physics_of_ue5),
        cmocka_unit_test(physics_of_ue5_with_other_sizes_are_opaque),
        cmocka_unit_test(fields_of_a_packet),
        cmocka_unit_test(what_does_not_fit_is_reported),
        cmocka_unit_test(a_total_that_wrapped),
        cmocka_unit_test(whole_golden_logs),
        cmocka_unit_test(whole_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
