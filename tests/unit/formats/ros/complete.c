/* Definitions that recordings lack: built-in ones, those of users, and parts of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "decode/decoder_set.h"
#include "decode/own_definitions.h"
#include "formats/ros/builtin.h"
#include "formats/ros/definition.h"
#include "formats/ros/interfaces.h"
#include "formats/ros/relay.h"
#include "formats/ros/translate.h"
#include "makers/decode_sample.h"
#include "makers/hex.h"

#define LINE "================================================================================\n"

static struct reel_schema schema;
static struct reel_pair hash_pair;

static struct reel_channel ros2_channel(const char *type, const char *definition, const char *hash) {
    schema = (struct reel_schema){.name = type, .encoding = "", .hash = "", .data = bytes_text(definition)};
    hash_pair = (struct reel_pair){.key = "topic_type_hash", .value = hash};
    return (struct reel_channel){.name = "/a",
                                 .type = type,
                                 .encoding = "cdr",
                                 .schemas = &schema,
                                 .n_schemas = 1,
                                 .metadata = {.items = &hash_pair, .count = 1}};
}
static struct reel_channel ros1_channel(const char *type, const char *definition, const char *md5) {
    schema = (struct reel_schema){.name = type, .encoding = "", .hash = md5, .data = bytes_text(definition)};
    return (struct reel_channel){.name = "/a", .type = type, .encoding = "ros1", .schemas = &schema, .n_schemas = 1};
}

static void supply(const struct own_definition *items, size_t n) {
    assert_true(own_definitions_set(items, n, NULL));
}
static int supply_none(void **state) {
    (void)state;
    supply(NULL, 0);
    return 0;
}

/* ---- built in */

static void assert_opens(const struct reel_channel *c) {
    struct reel_error err = {0};
    struct reel_decoder *d = reel_decoder_open(c, &err);
    assert_string_equal(err.text, "");
    assert_non_null(d);
    reel_decoder_free(d);
}

static void every_text_is_a_definition(void **state) {
    (void)state;
    char type[ROS_NAME_ROOM];
    for (size_t i = 0; i < ros2_texts_count + ros2_more_texts_count; i++) {
        const struct ros_standard_text *t =
            i < ros2_texts_count ? &ros2_texts[i] : &ros2_more_texts[i - ros2_texts_count];
        const char *slash = strchr(t->name, '/');
        bool is_service = strchr(slash + 1, '/');
        snprintf(type, sizeof type, "%.*s%s%s%s", (int)(slash - t->name), t->name, is_service ? "" : "/msg", slash,
                 is_service ? "_Event" : "");
        struct reel_channel c = ros2_channel(type, "", "");
        assert_opens(&c);
        if (i > 0 && i != ros2_texts_count) {
            assert_true(strcmp(t[-1].name, t->name) < 0);
        }
    }
    for (size_t i = 0; i < ros1_texts_count + ros1_more_texts_count; i++) {
        const struct ros_standard_text *t =
            i < ros1_texts_count ? &ros1_texts[i] : &ros1_more_texts[i - ros1_texts_count];
        struct reel_channel c = ros1_channel(t->name, "", "");
        assert_opens(&c);
        if (i > 0 && i != ros1_texts_count) {
            assert_true(strcmp(t[-1].name, t->name) < 0);
        }
    }
}

/* The sums of ROS 1 Noetic. */
static const struct {
    const char *type, *md5;
} sums[] = {
    {"actionlib_msgs/GoalStatusArray", "8b2b82f13216d0a8ea88bd3af735e619"},
    {"diagnostic_msgs/DiagnosticArray", "60810da900de1dd6ddd437c3503511da"},
    {"dynamic_reconfigure/Config", "958f16a05573709014982821e6822580"},
    {"dynamic_reconfigure/ConfigDescription", "757ce9d44ba8ddd801bb30bc456f946f"},
    {"geometry_msgs/InertiaStamped", "ddee48caeab5a966c5e8d166654a9ac7"},
    {"geometry_msgs/PoseStamped", "d3812c3cbc69362b77dc0b19b345f8f5"},
    {"geometry_msgs/Twist", "9f195f881246fdfa2798d1d3eebca84a"},
    {"map_msgs/OccupancyGridUpdate", "b295be292b335c34718bd939deebe1c9"},
    {"nav_msgs/GridCells", "b9e4f5df6d28e272ebde00a3994830f5"},
    {"nav_msgs/OccupancyGrid", "3381f2d731d4076ec5c71b0759edbe4e"},
    {"nav_msgs/Odometry", "cd5e73d190d741a2f92e81eda573aca7"},
    {"nav_msgs/Path", "6227e2b7e9cce15051f669a5e197bbf7"},
    {"rosgraph_msgs/Clock", "a9c97c1d230cfc112e270351a944ee47"},
    {"rosgraph_msgs/Log", "acffd30cd6b6de30f120938c17c593fb"},
    {"rosgraph_msgs/TopicStatistics", "10152ed868c5097a5e2e4a89d7daa710"},
    {"sensor_msgs/BatteryState", "4ddae7f048e32fda22cac764685e3974"},
    {"sensor_msgs/CameraInfo", "c9a58c1b0b154e0e6da7578cb991d214"},
    {"sensor_msgs/CompressedImage", "8f7a12909da2c9d3332d540a0977563f"},
    {"sensor_msgs/FluidPressure", "804dc5cea1c5306d6a2eb80b9833befe"},
    {"sensor_msgs/Image", "060021388200f6f0f447d0fcd9c64743"},
    {"sensor_msgs/Imu", "6a62c6daae103f4ff57a132d6f95cec2"},
    {"sensor_msgs/JointState", "3066dcd76a6cfaef579bd0f34173e9fd"},
    {"sensor_msgs/Joy", "5a9ea5f83505693b71e785041e67a8bb"},
    {"sensor_msgs/LaserScan", "90c7ef2dc6895d81024acba2ac42f369"},
    {"sensor_msgs/MagneticField", "2f3b0b43eed0c9501de0fa3ff89a45aa"},
    {"sensor_msgs/NavSatFix", "2d3a8cd499b9b4a0249fb98fd05cfa48"},
    {"sensor_msgs/PointCloud", "d8e9c3f5afbdd8a130fd1d2763945fca"},
    {"sensor_msgs/PointCloud2", "1158d486dd51d683ce2f1be655c3c181"},
    {"sensor_msgs/Range", "c005c34273dc426c67a020a87bc24148"},
    {"sensor_msgs/Temperature", "ff71b307acdbe7c871a5a6d7ed359100"},
    {"shape_msgs/Mesh", "1ffdae9486cd3316a121c578b47a85cc"},
    {"shape_msgs/SolidPrimitive", "d8f8cbc74c5ff283fca29569ccefb45d"},
    {"std_msgs/Duration", "3e286caf4241d664e55f3ad380e2ae46"},
    {"std_msgs/Float32MultiArray", "6a40e0ffa6a17a503ac3f8616991b1f6"},
    {"std_msgs/Header", "2176decaecbce78abc3b96ef049fabed"},
    {"std_msgs/Int8", "27ffa0c9c4b8fb8492252bcad9e5c57b"},
    {"std_msgs/String", "992ce8a1687cec8c8bd883ec73ca41d1"},
    {"std_msgs/Time", "cd7166c74c552c311fbcc2fe5a7bc289"},
    {"stereo_msgs/DisparityImage", "04a177815f75271039fa21f16acad8c9"},
    {"tf/tfMessage", "94810edda583a504dfda3829e70d7eec"},
    {"tf2_msgs/TFMessage", "94810edda583a504dfda3829e70d7eec"},
    {"trajectory_msgs/JointTrajectory", "65b4f94a94d1ed67169da35a02f33d3f"},
    {"turtlesim/Pose", "863b248d5016ca62ea2e895ae5265cf9"},
    {"visualization_msgs/ImageMarker", "1de93c67ec8858b831025a08fbf1b35c"},
    {"visualization_msgs/InteractiveMarkerFeedback", "ab0f1eee058667e28c19ff3ffc3f4b78"},
    {"visualization_msgs/InteractiveMarkerInit", "d5f2c5045a72456d228676ab91048734"},
    {"visualization_msgs/InteractiveMarkerUpdate", "710d308d0a9276d65945e92dd30b3946"},
    {"visualization_msgs/MarkerArray", "d155b9ce5188fbaf89745847fd5882d7"},
};

static void types_of_ros1_are_known_by_their_sums(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        struct reel_channel c = ros1_channel(sums[i].type, "", sums[i].md5);
        const char *source = ros_definition_source(&c);
        if (!source) {
            fail_msg("%s has another sum than %s", sums[i].type, sums[i].md5);
        }
        assert_string_equal(source, "built-in noetic");
    }
    struct reel_channel other = ros1_channel("std_msgs/Int8", "", "27ffa0c9c4b8fb8492252bcad9e5c57c");
    assert_null(ros_definition_source(&other));
    assert_string_equal(decode_text(&other, hex("05")),
                        "error 3: /a: the recording holds no definition of std_msgs/Int8, "
                        "and the built-in one has another MD5 sum");
    struct reel_channel any = ros1_channel("std_msgs/Int8", "", "*");
    assert_string_equal(decode_text(&any, hex("fb")), "{\"data\":-5}");
}

static void types_of_ros2_are_known_by_their_hashes(void **state) {
    (void)state;
    static const struct {
        const char *type, *hash;
    } known[] = {
        {"std_msgs/msg/String", "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"},
        {"std_msgs/msg/Header", "RIHS01_f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01"},
        {"test_msgs/msg/Strings", "RIHS01_eee55533636293ac7c94c62432eedb5777eb849847d2a17b4dcead8c4a20ab32"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct reel_channel c = ros2_channel(known[i].type, "", known[i].hash);
        assert_string_equal(ros_definition_source(&c), "built-in");
    }
    struct reel_channel c = ros2_channel("std_msgs/msg/String", "", known[1].hash);
    assert_string_equal(
        decode_text(&c, hex("00010000 02000000 'a' 00")),
        "error 3: /a: the recording holds no definition of std_msgs/msg/String, and the built-in one has "
        "another type hash");
    struct reel_channel recorded = ros2_channel("std_msgs/msg/String", "uint8 x\n", "");
    assert_string_equal(decode_text(&recorded, hex("00010000 07")), "{\"x\":7}"); /* its own definition counts */
    assert_null(ros_definition_source(&recorded));
    struct reel_channel none = ros2_channel("std_msgs/msg/Sting", "", "");
    assert_string_equal(decode_text(&none, hex("00010000 07")),
                        "error 3: /a: the recording holds no definition of std_msgs/msg/Sting");
    struct reel_channel name = ros2_channel("geometry_msgs/msg/Point32", "geometry_msgs/msg/Point32", "");
    assert_string_equal(decode_text(&name, hex("00010000 0000803f 00000040 00004040")), "{\"x\":1,\"y\":2,\"z\":3}");
}

#define RANGE "00010000 01000000 02000000 02000000 'a' 00 01 00 0000803f 00000040 00004040 00008040"

/* Jazzy's sensor_msgs/Range has a variance. */
static void a_payload_has_the_layout_it_fits(void **state) {
    (void)state;
    struct reel_channel c = ros2_channel("sensor_msgs/msg/Range", "", "");
    const char *humble = "{\"header\":{\"stamp\":{\"sec\":1,\"nanosec\":2},\"frame_id\":\"a\"},\"radiation_type\":1,"
                         "\"field_of_view\":1,\"min_range\":2,\"max_range\":3,\"range\":4";
    char want[512];
    snprintf(want, sizeof want, "%s}", humble);
    assert_string_equal(decode_text(&c, hex(RANGE)), want);
    snprintf(want, sizeof want, "%s,\"variance\":5}", humble);
    assert_string_equal(decode_text(&c, hex(RANGE "0000a040")), want);
    assert_string_equal(decode_text(&c, hex("00010000 01000000 02000000 02000000 'a' 00 01 00 0000803f")),
                        "error 2: byte 24 of 24: min_range needs 4 bytes, 0 are left");
}

static enum reel_shape_next count_optional(void *context, const struct reel_shape *part) {
    *(unsigned *)context += part->optional;
    return REEL_SHAPE_ENTER;
}

static void later_members_are_optional(void **state) {
    (void)state;
    struct reel_channel c = ros2_channel("visualization_msgs/msg/MarkerArray", "", "");
    struct reel_decoder *d = reel_decoder_open(&c, NULL);
    unsigned optional = 0;
    assert_true(reel_decoder_shape(d, count_optional, &optional, NULL));
    assert_int_equal(optional, 4); /* texture_resource, texture, uv_coordinates, mesh_file */
    reel_decoder_free(d);
}

/* Of both layouts become messages of ROS 1. */
static void both_layouts_are_converted(void **state) {
    (void)state;
    struct arena arena = {0};
    struct ros_definition *standard = ros2_standard_types(NULL);
    struct reel_channel c = ros2_channel("sensor_msgs/msg/Range", "", "");
    struct ros_translation t;
    struct reel_error err = {0};
    uint8_t out[128];
    static const char *const payloads[] = {RANGE, RANGE "0000a040"};
    assert_true(ros_translate(&arena, &c, ROS_1, standard, &t, &err));
    assert_string_equal(t.hash, "c005c34273dc426c67a020a87bc24148");
    for (int i = 0; i < 2; i++) {
        size_t size, measured;
        bool needs_more;
        struct reel_bytes payload = hex(payloads[i]);
        assert_true(ros_relay_size(t.relay, payload, payload.size, &measured, &needs_more, &err));
        assert_false(ros_relay_put(t.relay, payload, out, 8, &size, &err));
        assert_int_equal(err.code, REEL_CHANGED);
        assert_true(ros_relay_put(t.relay, payload, out, sizeof out, &size, &err));
        assert_int_equal(size, 34);
        assert_int_equal(measured, size);
        assert_memory_equal(out + 30, "\0\0\x80\x40", 4);
    }
    assert_false(ros_relay_put(t.relay, hex("00010000 01000000"), out, sizeof out, &(size_t){0}, &err));
    assert_int_equal(err.code, REEL_DAMAGED);
    ros_relay_free(t.relay);
    ros_definition_free(standard);
    arena_free(&arena);
}

static void missing_types_are_added(void **state) {
    (void)state;
    struct reel_channel c =
        ros1_channel("geometry_msgs/Twist", "Vector3  linear\nVector3  angular", "9f195f881246fdfa2798d1d3eebca84a");
    const char *ones = "000000000000f03f 000000000000f03f 000000000000f03f";
    char payload[256];
    snprintf(payload, sizeof payload, "%s %s", ones, ones);
    assert_string_equal(decode_text(&c, hex(payload)),
                        "{\"linear\":{\"x\":1,\"y\":1,\"z\":1},\"angular\":{\"x\":1,\"y\":1,\"z\":1}}");
    assert_string_equal(ros_definition_source(&c), "built-in noetic");
    schema.hash = "9f195f881246fdfa2798d1d3eebca84b";
    assert_string_equal(
        decode_text(&c, hex(payload)),
        "error 3: /a: definition of geometry_msgs/Twist: Vector3, which geometry_msgs/Twist holds, is not "
        "in the recording's definition");
    struct reel_channel own =
        ros2_channel("my/msg/Spot", "std_msgs/Header h\nIn in\n" LINE "MSG: my/In\nuint8 a\n", "");
    assert_string_equal(decode_text(&own, hex("00010000 01000000 02000000 02000000 'b' 00 07")),
                        "{\"h\":{\"stamp\":{\"sec\":1,\"nanosec\":2},\"frame_id\":\"b\"},\"in\":{\"a\":7}}");
    assert_string_equal(ros_definition_source(&own), "built-in");
}

/* A hostile file has many channels of a type that it does not define. */
static void channels_of_a_missing_type_share_a_decoder(void **state) {
    (void)state;
    static const struct reel_pair string = {"topic_type_hash",
                                            "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"};
    static const struct reel_schema none = {"std_msgs/msg/String", "", "", {(const uint8_t *)"", 0}};
    struct reel_channel a = {
        .name = "/a", .type = "std_msgs/msg/String", .encoding = "cdr", .schemas = &none, .n_schemas = 1};
    struct reel_channel b = a, c = a, d = a;
    b.name = "/b";
    c.metadata = (struct reel_pairs){.items = (struct reel_pair *)(uintptr_t)&string, .count = 1};
    d.n_schemas = 0;
    struct decoder_set set = {0};
    const struct reel_decoder *first = decoder_set_open(&set, &a, NULL);
    assert_non_null(first);
    assert_ptr_equal(decoder_set_open(&set, &b, NULL), first);
    assert_ptr_not_equal(decoder_set_open(&set, &c, NULL), first);
    assert_ptr_not_equal(decoder_set_open(&set, &d, NULL), first);
    assert_true(channels_decode_alike(&a, &b) && !channels_decode_alike(&a, &c) && !channels_decode_alike(&a, &d));
    decoder_set_free(&set);
}

/* ---- of users */

static void users_supply_definitions(void **state) {
    (void)state;
    struct own_definition items[] = {{"my/Top", bytes_text("In[] a\n"), 0},
                                     {"my/In", bytes_text("uint8 x\ngeometry_msgs/Point32 p\n"), 0},
                                     {"my/srv/Add", bytes_text("int8 a\n---\nint8 sum\n"), 0},
                                     {"my/action/Go", bytes_text("int8 to\n---\nIn in\n---\nint8 at\n"), 0},
                                     {"std_msgs/Int8", bytes_text("int8 number\n"), 0}};
    struct reel_channel c = ros2_channel("my/msg/Top", "", "");
    assert_null(ros_definition_source(&c));
    assert_int_equal(own_definitions_version(), 0);
    unsigned version = reel_encodings_version();
    supply(items, 5);
    assert_true(own_definitions_version() != 0 && version != reel_encodings_version());
    assert_string_equal(decode_text(&c, hex("00010000 01000000 07 000000 0000803f 00000040 00004040")),
                        "{\"a\":[{\"x\":7,\"p\":{\"x\":1,\"y\":2,\"z\":3}}]}");
    assert_string_equal(ros_definition_source(&c), "supplied");
    c = ros1_channel("my/Top", "", "*");
    assert_string_equal(decode_text(&c, hex("01000000 07 0000803f 00000040 00004040")),
                        "{\"a\":[{\"x\":7,\"p\":{\"x\":1,\"y\":2,\"z\":3}}]}");
    c = ros2_channel("my/action/Go_FeedbackMessage", "", "");
    assert_string_equal(decode_text(&c, hex("00010000 'abcdefghijklmnop' fe")),
                        "{\"goal_id\":{\"uuid\":{\"$base64\":\"YWJjZGVmZ2hpamtsbW5vcA==\"}},\"feedback\":{\"at\":-2}}");
    c = ros2_channel("my/srv/Add_Event", "", "");
    assert_string_equal(ros_definition_source(&c), "supplied");
    c = ros2_channel("my/action/Go_GetResult_Event", "", "");
    assert_string_equal(ros_definition_source(&c), "supplied");
    /* before a built-in one, unless only that has the recorded sum */
    c = ros1_channel("std_msgs/Int8", "", "");
    assert_string_equal(decode_text(&c, hex("05")), "{\"number\":5}");
    schema.hash = "27ffa0c9c4b8fb8492252bcad9e5c57b";
    assert_string_equal(decode_text(&c, hex("05")), "{\"data\":5}");
    c = ros1_channel("my/In", "", "27ffa0c9c4b8fb8492252bcad9e5c57b");
    assert_string_equal(
        decode_text(&c, hex("05")),
        "error 3: /a: the recording holds no definition of my/In, and the supplied one has another MD5 sum");
    uint32_t first = own_definitions_version();
    items[4].text = bytes_text("int8 other\n");
    supply(items, 5);
    assert_int_not_equal(own_definitions_version(), first);
}

#define IDL(NAME, BODY) "#include \"geometry_msgs/msg/Point32.idl\"\nmodule my {\n module msg {\n" BODY " };\n};\n"

static void users_supply_idl(void **state) {
    (void)state;
    struct own_definition items[] = {
        {"my/msg/Top.idl",
         bytes_text(IDL("Top",
                        "module Top_Constants { const uint8 N = 2; };\n typedef my::msg::In In__2[2];\n"
                        "enum Mode { OFF, ON };\n@verbatim (language=\"comment\", text=\"a top\")\n"
                        "struct Top { In__2 a; sequence<geometry_msgs::msg::Point32> p; string<4> s; Mode m; };")),
         0},
        {"my/msg/In.idl",
         bytes_text(IDL("In", "struct In { @unit(value=\"m\") octet x; my::msg::Empty e; Other o; };")), 0},
        {"my/msg/Empty.idl", bytes_text(IDL("Empty", "struct Empty { uint8 structure_needs_at_least_one_member; };")),
         0},
        {"my/Other", bytes_text("int8 o\n"), 0},
        {"my/msg/Either.idl",
         bytes_text(IDL("Either", "union U switch (uint8) { case 0: In i; case 1: int8 j; };\n"
                                  "struct Either { U u; };")),
         0}};
    supply(items, 5);
    const char *payload =
                   "00010000 07 00 01 08 00 02 0000 01000000 0000803f 00000040 00004040 02000000 'a' 00 0000 01000000",
               *top = "{\"a\":[{\"x\":7,\"e\":{},\"o\":{\"o\":1}},{\"x\":8,\"e\":{},\"o\":{\"o\":2}}],\"p\":[{\"x\":1,"
                      "\"y\":2,\"z\":3}],\"s\":\"a\",\"m\":1}";
    struct reel_channel c = ros2_channel("my/msg/Top", "", "");
    assert_string_equal(decode_text(&c, hex(payload)), top);
    assert_string_equal(ros_definition_source(&c), "supplied");
    c = ros2_channel("my/msg/Holder", "my/Top t\n", "");
    char nested[512];
    snprintf(nested, sizeof nested, "{\"t\":%s}", top);
    assert_string_equal(decode_text(&c, hex(payload)), nested);
    /* what .msg cannot say */
    c = ros2_channel("my/msg/Either", "", "");
    assert_string_equal(decode_text(&c, hex("00010000 00 07 00 03")),
                        "{\"u\":{\"i\":{\"x\":7,\"e\":{},\"o\":{\"o\":3}}}}");
    c = ros2_channel("my/msg/Holder", "my/Either e\n", "");
    assert_string_equal(decode_text(&c, hex("00010000 00 07 00 03")),
                        "error 3: /a: definition of my/msg/Holder: my/Either, which my/Holder holds, is not in the "
                        "recording's definition");
    /* types that a recorded definition in IDL lacks */
    c = ros2_channel("my/msg/Recorded", IDL("Recorded", "struct Recorded { In i; Other o; };"), "");
    schema.encoding = "ros2idl";
    assert_string_equal(decode_text(&c, hex("00010000 07 00 01 02")),
                        "{\"i\":{\"x\":7,\"e\":{},\"o\":{\"o\":1}},\"o\":{\"o\":2}}");
    assert_string_equal(ros_definition_source(&c), "supplied");
    c = ros2_channel("my/msg/Recorded", IDL("Recorded", "struct Recorded { geometry_msgs::msg::Pose p; };"), "");
    schema.encoding = "ros2idl";
    assert_string_equal(ros_definition_source(&c), "built-in");
    c = ros2_channel("my/msg/Recorded", IDL("Recorded", "struct Recorded { unknown::msg::Pose2 p; };"), "");
    schema.encoding = "ros2idl";
    assert_string_equal(decode_text(&c, hex("00010000 07 00 01 02")),
                        "error 3: /a: definition of my/msg/Recorded: unknown/msg/Pose2, which my/msg/Recorded holds, "
                        "is not in the recording's definition");
}

static void users_supply_services_in_idl(void **state) {
    (void)state;
    struct own_definition items[] = {
        {"my/srv/Add.idl",
         bytes_text(
             "module my { module srv { struct Add_Request { int8 a; }; struct Add_Response { int16 sum; }; }; };"),
         0},
        {"my/action/Go.idl",
         bytes_text(
             "module my { module action { struct Go_Goal { int8 to; }; struct Go_Result { my::msg::In in; }; struct "
             "Go_Feedback { int8 at; }; }; };"),
         0},
        {"my/msg/In.idl", bytes_text("module my { module msg { struct In { uint8 x; }; }; };"), 0},
        {"my/srv/Half.idl", bytes_text("module my { module srv { struct Half_Request { int8 a; }; }; };"), 0}};
    supply(items, 4);
    struct reel_channel c = ros2_channel("my/action/Go_FeedbackMessage", "", "");
    assert_string_equal(decode_text(&c, hex("00010000 'abcdefghijklmnop' fe")),
                        "{\"goal_id\":{\"uuid\":{\"$base64\":\"YWJjZGVmZ2hpamtsbW5vcA==\"}},\"feedback\":{\"at\":-2}}");
    c = ros2_channel("my/action/Go_GetResult_Event", "", "");
    assert_string_equal(ros_definition_source(&c), "supplied");
    c = ros2_channel("my/srv/Add_Event", "", "");
    assert_string_equal(ros_definition_source(&c), "supplied");
    c = ros2_channel("my/srv/Half_Event", "", "");
    assert_string_equal(decode_text(&c, hex("00010000")),
                        "error 3: /a: the .idl file does not define the struct my/Half_Response");
}

static void names_of_files(void **state) {
    (void)state;
    static const struct {
        const char *path, *name;
    } cases[] = {{"ws/src/my_pkg/msg/Spot.msg", "my_pkg/Spot"},  {"my_pkg/Spot.msg", "my_pkg/Spot"},
                 {"my_pkg/srv/Add.srv", "my_pkg/srv/Add"},       {"my_pkg/action/Go.action", "my_pkg/action/Go"},
                 {"my_pkg/msg/Spot.idl", "my_pkg/msg/Spot.idl"}, {"my_pkg/Spot.idl", "my_pkg/msg/Spot.idl"},
                 {"my_pkg/srv/Add.idl", "my_pkg/srv/Add.idl"},   {"my_pkg/action/Go.idl", "my_pkg/action/Go.idl"}};
    static const char *const others[] = {"Spot.msg",
                                         "msg/Spot.msg",
                                         "my_pkg/msg/.msg",
                                         "my_pkg/msg/Spot.txt",
                                         "my pkg/msg/Spot.msg",
                                         "my_pkg/msg/../x.msg",
                                         ""};
    char name[OWN_DEFINITION_NAME_ROOM], path[512];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(own_definition_name(cases[i].path, name));
        assert_string_equal(name, cases[i].name);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(own_definition_name(others[i], name));
    }
    snprintf(path, sizeof path, "p/msg/%0*d.msg", OWN_DEFINITION_NAME_ROOM, 1);
    assert_false(own_definition_name(path, name));
}

static void hostile_definitions(void **state) {
    (void)state;
    struct reel_error err = {0};
    char *large = calloc(1, REEL_OWN_DEFINITION_MAX + 2);
    memset(large, '#', REEL_OWN_DEFINITION_MAX + 1);
    struct own_definition one = {"my/Top", bytes_of(large, REEL_OWN_DEFINITION_MAX + 1), 0};
    assert_false(own_definitions_set(&one, 1, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    assert_int_equal(own_definitions_version(), 0);

    /* each type contains the next ones: more than completes a definition */
    enum { N = 64 };
    static char names[N][16];
    struct own_definition many[N];
    for (int i = 0; i < N; i++) {
        char *text = malloc(REEL_OWN_DEFINITION_MAX);
        int used = snprintf(text, REEL_OWN_DEFINITION_MAX, "T%d a\nT%d b\n", (i + 1) % N, (i + 2) % N);
        memset(text + used, '#', (size_t)(REEL_OWN_DEFINITION_MAX - used));
        snprintf(names[i], sizeof names[i], "my/T%d", i);
        many[i] = (struct own_definition){names[i], bytes_of(text, REEL_OWN_DEFINITION_MAX), 0};
    }
    supply(many, N);
    struct reel_channel c = ros2_channel("my/msg/T0", "", "");
    assert_string_equal(decode_text(&c, hex("00010000")),
                        "error 4: /a: more than 1048576 bytes or 4096 types would complete "
                        "the definition");
    for (int i = 0; i < N; i++) {
        free((void *)(uintptr_t)many[i].text.data);
    }
    many[0].text = bytes_text("T1 a\nT2 b\n");
    many[1].text = bytes_text("uint8 c\n");
    supply(many, 2);
    assert_string_equal(decode_text(&c, hex("00010000")),
                        "error 3: /a: T2, which my/T0 holds, is not in the recording's definition");
    many[1].text = bytes_text("T0 back\n");
    supply(many, 2);
    assert_string_equal(decode_text(&c, hex("00010000")), "error 2: /a: my/T0 holds itself");
    free(large);
}

/* Each section becomes many messages: writing ends at the limit, not with the text. */
static void many_actions_are_refused(void **state) {
    (void)state;
    static const char section[] = "===\nMSG:a/b\n---\n---\n";
    size_t n = (4 << 20) / (sizeof section - 1);
    char *text = test_malloc(n * (sizeof section - 1));
    for (size_t i = 0; i < n; i++) {
        memcpy(text + i * (sizeof section - 1), section, sizeof section - 1);
    }
    struct arena arena = {0};
    struct reel_error err = {0};
    struct reel_bytes out;
    size_t size = 0;
    assert_false(ros_interfaces_to_messages(&arena, "a/b_Goal", bytes_of(text, n * (sizeof section - 1)), &out, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    assert_int_equal(sscanf(err.text, "a definition of %zu bytes", &size), 1);
    assert_in_range(size, 2 * REEL_SCHEMA_MAX + 1, 2 * REEL_SCHEMA_MAX + 4096);
    arena_free(&arena);
    test_free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_text_is_a_definition),
        cmocka_unit_test(types_of_ros1_are_known_by_their_sums),
        cmocka_unit_test(types_of_ros2_are_known_by_their_hashes),
        cmocka_unit_test(a_payload_has_the_layout_it_fits),
        cmocka_unit_test(later_members_are_optional),
        cmocka_unit_test(both_layouts_are_converted),
        cmocka_unit_test(missing_types_are_added),
        cmocka_unit_test(channels_of_a_missing_type_share_a_decoder),
        cmocka_unit_test_teardown(users_supply_definitions, supply_none),
        cmocka_unit_test_teardown(users_supply_idl, supply_none),
        cmocka_unit_test_teardown(users_supply_services_in_idl, supply_none),
        cmocka_unit_test(names_of_files),
        cmocka_unit_test(many_actions_are_refused),
        cmocka_unit_test_teardown(hostile_definitions, supply_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
