/* ROS 1 as ROS 2 and back: definitions, hashes and payloads. The vectors of ../shared/samples/ros2 were checked by
 * independent decoders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "formats/ros/relay_internal.h"
#include "formats/ros/standard.h"
#include "formats/ros/translate.h"
#include "makers/hex.h"
#include "makers/real_samples.h"

#define LINE "================================================================================\n"

static struct ros_definition *standard;
static struct arena arena;

static int open_standard(void **state) {
    (void)state;
    struct reel_error err = {0};
    standard = ros2_standard_types(&err);
    return standard ? 0 : -1;
}
static int close_standard(void **state) {
    (void)state;
    ros_definition_free(standard);
    arena_free(&arena);
    return 0;
}

static bool translate(enum ros_dialect to, const char *type, const char *definition, struct reel_pairs metadata,
                      struct ros_translation *out, struct reel_error *err) {
    const struct reel_schema schema = {
        .name = type, .encoding = to == ROS_2 ? "ros1msg" : "ros2msg", .hash = "", .data = bytes_text(definition)};
    const struct reel_channel channel = {.name = "/a",
                                         .type = type,
                                         .encoding = to == ROS_2 ? "ros1" : "cdr",
                                         .schemas = &schema,
                                         .n_schemas = 1,
                                         .metadata = metadata};
    return ros_translate(&arena, &channel, to, standard, out, err);
}

static void check_translated(enum ros_dialect to, const char *type, const char *definition,
                             struct ros_translation *out) {
    struct reel_error err = {0};
    if (!translate(to, type, definition, (struct reel_pairs){0}, out, &err)) {
        fail_msg("%s: %s", type, err.text);
    }
}

/* The payload in the other layout, as digits. */
static const char *laid_out(const struct ros_relay *relay, struct reel_bytes payload) {
    static char text[8192];
    struct reel_error err = {0};
    size_t size = 0, again;
    bool needs_more;
    if (!ros_relay_size(relay, payload, payload.size, &size, &needs_more, &err)) {
        return arena_text(&arena, err.text);
    }
    for (size_t begin = 0; begin < payload.size; begin++) { /* what its beginning tells is right */
        bool known = ros_relay_size(relay, bytes_of(payload.data, begin), payload.size, &again, &needs_more, &err);
        assert_true(known ? again == size : needs_more);
    }
    uint8_t *out = malloc(size > 0 ? size : 1);
    assert_true(size < sizeof text / 2);
    assert_true(ros_relay_put(relay, payload, out, size, &again, &err));
    assert_int_equal(again, size);
    assert_true(size == 0 || !ros_relay_put(relay, payload, out, size - 1, &again, &err));
    assert_true(size == 0 || err.code == REEL_CHANGED);
    assert_true(ros_relay_put(relay, payload, out, size, &again, &err));
    for (size_t i = 0; i < size; i++) {
        snprintf(text + 2 * i, 3, "%02x", out[i]);
    }
    text[2 * size] = '\0';
    free(out);
    return text;
}

static const char *text_of(const json_t *vector, const char *key) {
    return json_string_value(json_object_get(vector, key));
}

/* "pkg/msg/Type" → "pkg/Type" */
static bool is_type(const char *ros2_type, const char *name) {
    char brief[ROS_NAME_ROOM];
    return ros_type_name(bytes_text(ros2_type), false, brief) && strcmp(brief, name) == 0;
}

static void check_vector(const json_t *v) {
    struct ros_translation out;
    check_translated(ROS_2, text_of(v, "ros1_type"), text_of(v, "ros1_definition"), &out);
    assert_true(is_type(text_of(v, "ros2_type"), out.type));
    assert_string_equal(laid_out(out.relay, hex(text_of(v, "ros1_hex"))), text_of(v, "cdr_hex"));
    assert_string_equal(out.hash, text_of(v, "ros2_rihs01"));
    ros_relay_free(out.relay);

    struct reel_pair original[] = {{ROS1_TYPE_KEY, text_of(v, "ros1_type")},
                                   {ROS1_DEFINITION_KEY, text_of(v, "ros1_definition")}};
    struct reel_error err = {0};
    assert_true(translate(ROS_1, text_of(v, "ros2_type"), text_of(v, "ros2_definition"),
                          (struct reel_pairs){original, 2}, &out, &err));
    assert_string_equal(out.type, text_of(v, "ros1_type"));
    assert_string_equal(laid_out(out.relay, hex(text_of(v, "cdr_hex"))), text_of(v, "ros1_back_hex"));
    assert_string_equal(out.hash, text_of(v, "ros1_md5"));
    ros_relay_free(out.relay);

    /* as recorded by ROS 2, which knows nothing of the original */
    const char *name = text_of(v, "name");
    if (strcmp(name, "camera_info_2009") != 0 && strcmp(name, "mixed") != 0) {
        check_translated(ROS_1, text_of(v, "ros2_type"), text_of(v, "ros2_definition"), &out);
        assert_string_equal(laid_out(out.relay, hex(text_of(v, "cdr_hex"))), text_of(v, "ros1_back_hex"));
        assert_string_equal(out.hash, text_of(v, "ros1_md5"));
        ros_relay_free(out.relay);
    }
}

static void vectors(void **state) {
    (void)state;
    json_error_t why;
    json_t *file = json_load_file(REEL_TESTS "/../../shared/samples/ros2/vectors.json", 0, &why);
    if (!file) {
        SAMPLES_SKIPPED(32);
    }
    size_t i;
    json_t *v, *all = json_object_get(file, "vectors");
    assert_int_equal(json_array_size(all), 32);
    json_array_foreach(all, i, v) {
        print_message("%s\n", text_of(v, "name"));
        check_vector(v);
    }
    json_decref(file);
}

static void sha256(void **state) {
    (void)state;
    char text[SHA256_HEX], many[201];
    digest_hex(DIGEST_SHA256, bytes_text(""), text);
    assert_string_equal(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_hex(DIGEST_SHA256, bytes_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), text);
    assert_string_equal(text, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(many, 'a', sizeof many);
    digest_hex(DIGEST_SHA256, bytes_of(many, 200), text);
    assert_string_equal(text, "c2a908d98f5df987ade41b5fce213067efbcc21ef2240212a41e54b5e7c28ae5");
}

/* ---- definitions */

static void names_and_constants(void **state) {
    (void)state;
    struct ros_translation out;
    check_translated(
        ROS_2, "my_pkg/Top_Level",
        "# of ours\nbyte NEG=-1 # minus\nbool yes=True\nstring Q=say \"hi\" \\\nstring HASH=a # b\nfloat32 Pi_=3.25\n"
        "inner_t[2] pair # two\nHeader header\ntime[] times\nint16 camelCase\nuint8 d\nuint8 D\nuint8 _9__x_\n" LINE
        "MSG: my_pkg/inner_t\nduration wait\nstring[] name\n",
        &out);
    assert_string_equal(out.type, "my_pkg/TopLevel");
    assert_string_equal((const char *)out.definition.data,
                        "# of ours\nbyte NEG=255\nbool YES=true\nstring Q=\"say \\\"hi\\\" \\\\\"\n"
                        "# constant not representable: HASH = \"a # b\"\nfloat32 PI=3.25\nmy_pkg/InnerT[2] "
                        "pair\nstd_msgs/Header header\n"
                        "builtin_interfaces/Time[] times\nint16 camelcase\nuint8 d\nuint8 d_2\nuint8 f_9_x\n"
                        "\n" LINE "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
                        "\n" LINE "MSG: my_pkg/InnerT\nbuiltin_interfaces/Duration wait\nstring[] name\n"
                        "\n" LINE "MSG: builtin_interfaces/Duration\nint32 sec\nuint32 nanosec\n"
                        "\n" LINE "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n");
    assert_true(out.lost_constants);
    assert_null(out.custom);
    assert_string_equal(ros_relay_lost(out.relay), "std_msgs/Header.seq");
    ros_relay_free(out.relay);
}

static void back_by_the_rules(void **state) {
    (void)state;
    struct ros_translation out;
    check_translated(ROS_1, "my_pkg/msg/Top",
                     "byte NEG=255\nbool YES=true\nstring Q=\"say \\\"hi\\\" \\\\\" # said\nwstring<=5 "
                     "W='x'\nstring<=10[<=3] texts\nwstring wide\n"
                     "float64 w 1.5\nbuiltin_interfaces/Time t\nInner[] inner\n" LINE
                     "MSG: my_pkg/Inner\nstd_msgs/Header header\nchar c\n" LINE
                     "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n" LINE
                     "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n",
                     &out);
    assert_string_equal(out.type, "my_pkg/Top");
    assert_string_equal(
        (const char *)out.definition.data,
        "byte NEG=-1\nbool YES=1\nstring Q=say \"hi\" \\\nstring W=x\nstring[] texts\nstring wide\nfloat64 w\ntime t\n"
        "my_pkg/Inner[] inner\n"
        "\n" LINE "MSG: my_pkg/Inner\nstd_msgs/Header header\nchar c\n"
        "\n" LINE "MSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n");
    assert_string_equal(
        laid_out(out.relay, hex("00010000 02000000 02000000 'a' 00 0000 00000000 01000000 54000000 000000000000f83f"
                                " 0200000003000000 00000000")),
        "020000000100000061000000000100000054000000000000f83f020000000300000000000000");
    ros_relay_free(out.relay);
}

/* The definition decides, not the name: what is laid out otherwise gets another package. */
static void other_layouts(void **state) {
    (void)state;
    struct ros_translation out;
    check_translated(ROS_2, "nav_msgs/Path",
                     "Header header\nsensor_msgs/Temperature[] poses\n" LINE
                     "MSG: sensor_msgs/Temperature\nfloat64 celsius\n",
                     &out);
    assert_string_equal(out.type, "ros1_compat/Path");
    assert_non_null(out.custom);
    assert_string_equal(laid_out(out.relay, hex("01000000 02000000 03000000 00000000 01000000 0000000000000440")),
                        "000100000200000003000000010000000000000001000000000000000000000000000440");
    ros_relay_free(out.relay);
}

static const char transforms_2009[] =
    "geometry_msgs/TransformStamped[] transforms\n" LINE
    "MSG: geometry_msgs/TransformStamped\nHeader header\nstring parent_id\nTransform transform\n" LINE
    "MSG: roslib/Header\nuint32 seq\ntime stamp\nstring frame_id\n" LINE
    "MSG: geometry_msgs/Transform\nVector3 translation\nQuaternion rotation\n" LINE
    "MSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n" LINE
    "MSG: geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n";
#define NUMBERS                                                                                                        \
    "000000000000f03f00000000000000400000000000000840000000000000000000000000000000000000000000000000000000000000f03f"

/* Until August 2009 the header named the child. */
static void old_transforms(void **state) {
    (void)state;
    struct ros_translation out;
    check_translated(ROS_2, "tf/tfMessage", transforms_2009, &out);
    assert_string_equal(out.type, "tf2_msgs/TFMessage");
    const char *ros1 = "01000000 07000000 01000000 02000000 05000000 'child' 06000000 'parent'" NUMBERS;
    const char *cdr = laid_out(out.relay, hex(ros1));
    assert_string_equal(cdr, "00010000"
                             "01000000"
                             "01000000"
                             "02000000"
                             "07000000706172656e7400"
                             "00"
                             "060000006368696c6400"
                             "0000"
                             "00000000" NUMBERS);
    ros_relay_free(out.relay);

    struct reel_pair original[] = {{ROS1_TYPE_KEY, "tf/tfMessage"}, {ROS1_DEFINITION_KEY, transforms_2009}};
    struct reel_error err = {0};
    struct reel_bytes payload = hex(cdr);
    const char *definition = arena_text(&arena, (const char *)out.definition.data);
    assert_true(translate(ROS_1, "tf2_msgs/msg/TFMessage", definition, (struct reel_pairs){original, 2}, &out, &err));
    assert_string_equal(laid_out(out.relay, payload), "01000000"
                                                      "00000000"
                                                      "0100000002000000"
                                                      "050000006368696c64"
                                                      "06000000706172656e74" NUMBERS);
    ros_relay_free(out.relay);
}

/* ---- payloads */

static const char *refused(enum ros_dialect to, const char *definition, const char *payload) {
    struct ros_translation out;
    struct reel_error err = {0};
    size_t size;
    bool needs_more;
    struct reel_bytes bytes = hex(payload);
    check_translated(to, to == ROS_2 ? "pkg/Top" : "pkg/msg/Top", definition, &out);
    assert_false(ros_relay_size(out.relay, bytes, bytes.size, &size, &needs_more, &err));
    assert_false(needs_more);
    ros_relay_free(out.relay);
    return arena_text(&arena, err.text);
}

static void payloads_that_do_not_fit(void **state) {
    (void)state;
    assert_string_equal(refused(ROS_2, "uint32 a\n", "010000"), "byte 0: 4 bytes are needed, 3 are left");
    assert_string_equal(refused(ROS_2, "uint32 a\n", "0100000002"), "byte 4: 1 bytes too many");
    assert_string_equal(refused(ROS_2, "string a\n", "ffffffff 'abc'"),
                        "byte 4: 4294967295 bytes are needed, 3 are left");
    assert_string_equal(refused(ROS_2, "float64[] a\n", "ffffffff 00"),
                        "byte 4: 4294967295 values need 34359738360 bytes, 1 are left");
    assert_string_equal(refused(ROS_2, "std_msgs/Empty[] a\n" LINE "MSG: std_msgs/Empty\n", "ffffffff"),
                        "too many values that take no bytes");
    assert_string_equal(refused(ROS_2, "std_msgs/Empty[4000000000] a\n" LINE "MSG: std_msgs/Empty\n", ""),
                        "too many values that take no bytes");
    assert_string_equal(refused(ROS_1, "uint32 a\n", "0003000001000000"),
                        "the payload does not begin as plain CDR does");
    assert_string_equal(refused(ROS_1, "uint32 a\n", "000100"), "byte 0: 4 bytes are needed, 3 are left");
    assert_string_equal(refused(ROS_1, "uint32 a\n", "00010000 01000000 00000000"), "byte 4: 4 bytes too many");
    assert_string_equal(refused(ROS_1, "uint8 a\nfloat64 b\n", "00010000 01 00000000000000"),
                        "byte 1: 15 bytes are needed, 7 are left");
}

/* A stored definition may ask for anything. */
static void defaults_are_bounded(void **state) {
    (void)state;
    struct reel_pair original[] = {
        {ROS1_TYPE_KEY, "sensor_msgs/Range"},
        {ROS1_DEFINITION_KEY, "uint8 radiation_type\nfloat32 field_of_view\nfloat32 min_range\nfloat32 max_range\n"
                              "float32 range\nHeader header\n" LINE
                              "MSG: std_msgs/Header\nuint32[4000000000] seq\ntime stamp\nstring frame_id\n"}};
    struct ros_translation out;
    struct reel_error err = {0};
    const char *definition =
        "std_msgs/Header header\nuint8 radiation_type\nfloat32 field_of_view\nfloat32 min_range\nfloat32 max_range\n"
        "float32 range\nfloat32 variance\n" LINE
        "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n";
    assert_true(translate(ROS_1, "sensor_msgs/msg/Range", definition, (struct reel_pairs){original, 2}, &out, &err));
    struct reel_bytes payload =
        hex("00010000 0100000002000000 0100000000 00 0000 000000000000000000000000000000000000000000");
    size_t size;
    bool needs_more;
    assert_false(ros_relay_size(out.relay, payload, payload.size, &size, &needs_more, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    ros_relay_free(out.relay);
}

static void big_endian(void **state) {
    (void)state;
    struct ros_translation out;
    check_translated(ROS_1, "pkg/msg/Top", "uint8 a\nfloat64[] b\nstring c\nbuiltin_interfaces/Duration d\n", &out);
    assert_string_equal(
        laid_out(out.relay, hex("00000000 01 000000 00000001 3ff8000000000000 00000002 'x' 00 0000 ffffffff 00000005")),
        "0101000000000000000000f83f0100000078ffffffff05000000");
    ros_relay_free(out.relay);
}

static void second_version(void **state) {
    (void)state;
    static const char same[] = "0101000000000000000000f83f01000000000000000000f03f02010000000100000078020000006162";
    struct ros_translation out;
    check_translated(ROS_1, "pkg/msg/Top",
                     "uint8 a\nfloat64[] b\npkg/P[] p\nstring[] s\nwstring w\n" LINE "MSG: pkg/P\nfloat64 x\nuint8 n\n",
                     &out);
    assert_string_equal(laid_out(out.relay, hex("00070000 01 000000 01000000 000000000000f83f 0d000000 01000000 "
                                                "000000000000f03f 02 000000 0a000000 01000000 02000000 'x' 00 0000 "
                                                "04000000 6100 6200")),
                        same);
    assert_string_equal(laid_out(out.relay, hex("00100000 01 000000 00000001 3ff8000000000000 0000000d 00000001 "
                                                "3ff0000000000000 02 000000 0000000a 00000001 00000002 'x' 00 0000 "
                                                "00000004 0061 0062")),
                        same);
    assert_string_equal(laid_out(out.relay, hex("00080000 01")), "the payload does not begin as plain CDR does");
    ros_relay_free(out.relay);
    /* numbers of several groups, which are one in XCDR1 */
    check_translated(ROS_1, "pkg/msg/Top", "int32 a\npkg/P[2] p\nint32 b\n" LINE "MSG: pkg/P\nint32 x\nint32[2] y\n",
                     &out);
    assert_string_equal(
        laid_out(out.relay, hex("00070000 01000000 18000000 02000000 03000000 04000000 05000000 06000000 "
                                "07000000 08000000")),
        "0100000002000000030000000400000005000000060000000700000008000000");
    assert_string_equal(
        laid_out(out.relay, hex("00010000 01000000 02000000 03000000 04000000 05000000 06000000 07000000 "
                                "08000000")),
        "0100000002000000030000000400000005000000060000000700000008000000");
    ros_relay_free(out.relay);
}

/* What most payloads are goes the quick way, and the rest does not. */
static void the_quick_way(void **state) {
    (void)state;
    static const char definition[] =
        "Header header\nstring[] names\nfloat64[2] a\nint16[] b\nIn[] c\nduration d\n" LINE
        "MSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n" LINE "MSG: pkg/In\nuint8 x\nfloat64 y\n";
    static const char payload[] = "07000000 01000000 02000000 03000000 'map' 02000000 01000000 'a' 00000000 "
                                  "0000000000000840 0000000000001040 01000000 0900 02000000 01 0000000000000040 "
                                  "02 0000000000000040 ffffffff 00ca9a3b";
    struct ros_translation out;
    uint8_t quick[256];
    size_t size;
    check_translated(ROS_2, "pkg/Top", definition, &out);
    const char *all = laid_out(out.relay, hex(payload));
    assert_string_equal(all, "00010000"
                             "0100000002000000"
                             "040000006d617000"
                             "02000000"
                             "0200000061000000"
                             "010000000000000000000000"
                             "0000000000000840"
                             "0000000000001040"
                             "0100000009000000"
                             "02000000"
                             "01000000"
                             "0000000000000040"
                             "0200000000000000"
                             "0000000000000040"
                             "0000000000000000");
    assert_true(relay_quick(out.relay, hex(payload), quick, sizeof quick, &size));
    assert_int_equal(2 * size, strlen(all));
    struct reel_bytes whole = hex(payload);
    assert_false(relay_quick(out.relay, whole, quick, size - 1, &size));
    for (size_t n = 0; n < whole.size; n++) {
        assert_false(relay_quick(out.relay, bytes_of(whole.data, n), quick, sizeof quick, &size));
    }
    ros_relay_free(out.relay);

    check_translated(ROS_2, "pkg/Top", "bool a\n", &out); /* any byte that is not 0 is true */
    assert_false(relay_quick(out.relay, hex("02"), quick, sizeof quick, &size));
    assert_string_equal(laid_out(out.relay, hex("02")), "0001000001");
    ros_relay_free(out.relay);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256),
        cmocka_unit_test(vectors),
        cmocka_unit_test(names_and_constants),
        cmocka_unit_test(back_by_the_rules),
        cmocka_unit_test(other_layouts),
        cmocka_unit_test(old_transforms),
        cmocka_unit_test(payloads_that_do_not_fit),
        cmocka_unit_test(defaults_are_bounded),
        cmocka_unit_test(big_endian),
        cmocka_unit_test(second_version),
        cmocka_unit_test(the_quick_way),
    };
    return cmocka_run_group_tests(tests, open_standard, close_standard);
}
