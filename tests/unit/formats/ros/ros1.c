/* Messages of ROS 1 by their definitions, as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/decode_sample.h"
#include "makers/hex.h"
#include "makers/real_samples.h"

#define LINE "================================================================================\n"
#define HEADER LINE "MSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n"

static struct reel_schema schema;
static struct reel_channel channel_of(const char *type, const char *definition) {
    schema = (struct reel_schema){.name = type, .encoding = "ros1msg", .hash = "", .data = bytes_text(definition)};
    return (struct reel_channel){.name = "/a", .type = type, .encoding = "ros1", .schemas = &schema, .n_schemas = 1};
}
static const char *decoded_text(const char *definition, const char *payload) {
    const struct reel_channel c = channel_of("pkg/Top", definition);
    return decode_text(&c, hex(payload));
}
static const char *fields_of(const char *definition) {
    const struct reel_channel c = channel_of("pkg/Top", definition);
    return decode_fields(&c);
}

static void every_type(void **state) {
    (void)state;
    static const char text[] = "bool a\nint8 b\nuint8 c\nint16 d\nuint16 e\nint32 f\nuint32 g\nint64 h\nuint64 "
                               "i\nfloat32 j\nfloat64 k\nstring l\ntime m\n"
                               "duration n\nbyte o\nchar p\n";
    assert_string_equal(
        decoded_text(text, "01 ff ff feff feff fdffffff fdffffff fcffffffffffffff 0000000001000000 0000c03f "
                           "00000000000004c0 03000000 'abc'"
                           "01000000 ff000000 ffffffff 02000000 80 80"),
        "{\"a\":true,\"b\":-1,\"c\":255,\"d\":-2,\"e\":65534,\"f\":-3,\"g\":4294967293,\"h\":-4,\"i\":4294967296,\"j\":"
        "1.5,\"k\":-2.5,"
        "\"l\":\"abc\",\"m\":{\"sec\":1,\"nsec\":255},\"n\":{\"sec\":-1,\"nsec\":2},\"o\":-128,\"p\":128}");
}

static void arrays(void **state) {
    (void)state;
    assert_string_equal(decoded_text("float32[2] a\nfloat32[] b\nuint8[] c\nchar[3] d\nbyte[2] e\nbool[] f\n",
                                     "0000803f 00000040 01000000 00004040 03000000 'foo' 'bar' 80 7f 02000000 00 01"),
                        "{\"a\":[1,2],\"b\":[3],\"c\":{\"$base64\":\"Zm9v\"},\"d\":{\"$base64\":\"YmFy\"},\"e\":[-128,"
                        "127],\"f\":[false,true]}");
    assert_string_equal(decoded_text("string[] a\nstring[2] b\ntime[] c\nduration[1] d\nuint64[] e\n",
                                     "02000000 01000000 'x' 00000000 01000000 'y' 02000000 'zz' 01000000 01000000 "
                                     "02000000 03000000 ffffffff 00000000"),
                        "{\"a\":[\"x\",\"\"],\"b\":[\"y\",\"zz\"],\"c\":[{\"sec\":1,\"nsec\":2}],\"d\":[{\"sec\":3,"
                        "\"nsec\":-1}],\"e\":[]}");
    assert_string_equal(
        decoded_text("Fix[2] a\nFix[] b\nAny[1] c\nAny[] d\nuint8 e\n" LINE "MSG: pkg/Fix\nuint8 x\nint16 y\n" LINE
                     "MSG: pkg/Any\nuint8 x\nuint8[] y\n",
                     "01 0200 03 0400  02000000 05 0600 07 0800  09 01000000 'a'  01000000 0a 00000000  0b"),
        "{\"a\":[{\"x\":1,\"y\":2},{\"x\":3,\"y\":4}],\"b\":[{\"x\":5,\"y\":6},{\"x\":7,\"y\":8}],\"c\":[{\"x\":9,"
        "\"y\":{"
        "\"$base64\":\"YQ==\"}}],"
        "\"d\":[{\"x\":10,\"y\":{\"$base64\":\"\"}}],\"e\":11}");
}

static void constants_and_comments_are_passed_over(void **state) {
    (void)state;
    assert_string_equal(
        decoded_text("# ==== a = b\n  uint8 A=1\r\n\tuint8 B = 2 # two\nstring C=x # y\nuint8 d # = 3\n\n"
                     "string E=\"uint8 q\"\nuint8 f#g\nfloat64 G= 1.5\n   \nuint8   h\t\r\n",
                     "01 02 03"),
        "{\"d\":1,\"f\":2,\"h\":3}");
}

static void names_of_types(void **state) {
    (void)state;
    const char *same = "{\"a\":{\"header\":{\"seq\":1,\"stamp\":{\"sec\":2,\"nsec\":3},\"frame_id\":\"b\"}}}",
               *payload = "01000000 02000000 03000000 01000000 'b'";
    assert_string_equal(decoded_text("pkg/In a\n" LINE "MSG: pkg/In\nHeader header\n" HEADER, payload), same);
    assert_string_equal(decoded_text("In a\n" LINE "MSG: pkg/In\nstd_msgs/Header header\n" HEADER, payload), same);
    assert_string_equal(decoded_text("In a\n" LINE "MSG: pkg/In\nroslib/Header header\n" HEADER, payload),
                        same); /* renamed
                                  in
                                  one
                                  place
                                  only
                                */
    assert_string_equal(decoded_text("In a\n" LINE "MSG: pkg/In\nHeader header\n" LINE
                                     "MSG: roslib/Header\nuint32 seq\ntime stamp\nstring frame_id\n",
                                     payload),
                        same);
    assert_string_equal(decoded_text("In a\n" LINE "MSG: pkg/In\nHeader header\n", payload), same); /* everybody's
                                                                                                       Header, when it
                                                                                                       is left out */
    assert_string_equal(decoded_text("other/In a\n" LINE "MSG: other/In\nNear b\n" LINE "MSG: pkg/Near\nuint16 c\n" LINE
                                     "MSG: other/Near\nuint8 c\n",
                                     "07"),
                        "{\"a\":{\"b\":{\"c\":7}}}"); /* a bare name is of the package that says it */
    assert_string_equal(decoded_text(LINE "MSG: pkg/Top\nuint8 a\n", "07"), "{\"a\":7}");
    assert_string_equal(
        decoded_text("other/Near a\n" LINE "MSG: a/Near\nuint8 c\n" LINE "MSG: b/Near\nuint8 c\n", "07"),
        "error 3: /a: definition of pkg/Top: other/Near, which pkg/Top holds, is not in the recording's definition");
    assert_string_equal(
        decoded_text("wstring a\n", ""),
        "error 3: /a: definition of pkg/Top: wstring, which pkg/Top holds, is not in the recording's definition");
}

static void missing_definitions(void **state) {
    (void)state;
    assert_string_equal(decoded_text("", ""), "error 3: /a: the recording holds no definition of pkg/Top");
    struct reel_channel c = channel_of("pkg/Top", "");
    schema.hash = "d41d8cd98f00b204e9800998ecf8427e";
    assert_string_equal(decode_text(&c, hex("")), "{}");
    assert_string_equal(decode_text(&c, hex("00")), "error 2: byte 0 of 1: 1 bytes too many");
    c.n_schemas = 0;
    assert_string_equal(decode_text(&c, hex("")), "error 3: /a: the recording holds no definition of pkg/Top");
    c = channel_of("std_msgs/Empty", "");
    assert_string_equal(decode_text(&c, hex("")), "{}");
    c = channel_of("pkg/Top", "uint8 a\n");
    schema.encoding = "ros2msg";
    assert_string_equal(decode_text(&c, hex("01")),
                        "error 3: /a: definitions in \"ros2msg\" are not read for this encoding");
}

static void payloads_that_do_not_fit(void **state) {
    (void)state;
    assert_string_equal(decoded_text("uint8 a\nuint32 b\n", "01 0200"),
                        "error 2: byte 0 of 3: a needs 5 bytes, 3 are left");
    assert_string_equal(decoded_text("uint8 a\nstring b\n", "01 0200"),
                        "error 2: byte 1 of 3: b needs 4 bytes, 2 are left");
    assert_string_equal(decoded_text("uint8 a\nstring b\n", "01 03000000 'ab'"),
                        "error 2: byte 5 of 7: b needs 3 bytes, 2 are left");
    assert_string_equal(decoded_text("uint8 a\nuint16[] b\n", "01 ffffffff 'ab'"),
                        "error 2: byte 5 of 7: b needs 8589934590 bytes, 2 are left");
    assert_string_equal(decoded_text("string[] a\n", "02000000 00000000 'abc'"),
                        "error 2: byte 4 of 11: a needs 8 bytes, 7 are left");
    assert_string_equal(decoded_text("uint8 a\nstring b\n", "01 00000000 0203"),
                        "error 2: byte 5 of 7: 2 bytes too many");
    assert_string_equal(decoded_text("uint8 a\n", ""), "error 2: byte 0 of 0: a needs 1 bytes, 0 are left");
}

static void huge_arrays_are_not_there(void **state) {
    (void)state;
    assert_string_equal(decoded_text("float64[4294967295] a\n", "00"),
                        "error 2: byte 0 of 1: a needs 34359738360 bytes, 1 are left");
    assert_string_equal(decoded_text("string[4294967295] a\n", "00000000"),
                        "error 2: byte 0 of 4: a needs 17179869180 bytes, 4 are left");
    static const char nested[] = "A[4294967295] a\n" LINE "MSG: pkg/A\nB[4294967295] b\n" LINE
                                 "MSG: pkg/B\nC[4294967295] c\n" LINE "MSG: pkg/C\nuint64[4294967295] d\n";
    assert_string_equal(decoded_text(nested, "00"), "error 2: byte 0 of 1: a needs 1099511627776 bytes, 1 are left");
    assert_string_equal(decoded_text("A[] a\n" LINE "MSG: pkg/A\nuint64[4294967295] d\nstring e\n", "ffffffff"),
                        "error 2: byte 4 of 4: a needs 1099511627776 bytes, 0 are left");
}

/* Nothing comes out of nothing without end. */
static void values_without_bytes_have_a_ceiling(void **state) {
    (void)state;
    assert_string_equal(
        decoded_text("std_msgs/Empty[] a\nuint8[0] b\nstring[0] c\n" LINE "MSG: std_msgs/Empty\n", "02000000"),
        "{\"a\":[{},{}],\"b\":{\"$base64\":\"\"},\"c\":[]}");
    static const char ceiling[] = "error 4: byte 0 of 0: more than 4096 values that take no bytes";
    assert_string_equal(decoded_text("E[4294967295] a\n" LINE "MSG: pkg/E\n", ""), ceiling);
    assert_string_equal(decoded_text("E[] a\n" LINE "MSG: pkg/E\nstring[0] b\n", "00ffffff"),
                        "error 4: byte 4 of 4: more than 4096 values that take no bytes");
    char text[8192] = "A0 a\nA0 b\n";
    size_t n = strlen(text);
    for (int i = 0; i < 30; i++) { /* each holds the next twice */
        n += (size_t)sprintf(text + n, LINE "MSG: pkg/A%d\nA%d x\nA%d y\n", i, i + 1, i + 1);
    }
    strcpy(text + n, LINE "MSG: pkg/A30\nuint8[0] q\n");
    assert_string_equal(decoded_text(text, ""), ceiling);
    assert_true(strlen(fields_of(text)) > 0);
}

static void bad_definitions(void **state) {
    (void)state;
    assert_string_equal(decoded_text("A a\n" LINE "MSG: pkg/A\nB[] b\n" LINE "MSG: pkg/B\nA a\n", ""),
                        "error 2: /a: definition of pkg/Top: pkg/A holds itself");
    assert_string_equal(decoded_text("Top a\n", ""), "error 2: /a: definition of pkg/Top: pkg/Top holds itself");
    assert_string_equal(decoded_text("uint8 a\nuint8\n", ""),
                        "error 2: /a: definition of pkg/Top: line 2: this is not a field: uint8");
    assert_string_equal(decoded_text("uint8 a 3\n", ""),
                        "error 2: /a: definition of pkg/Top: line 1: this is not a field: uint8 a 3");
    assert_string_equal(decoded_text("uint8[ a\n", ""),
                        "error 2: /a: definition of pkg/Top: line 1: this is not a type: uint8[");
    assert_string_equal(decoded_text("uint8[4294967296] a\n", ""),
                        "error 2: /a: definition of pkg/Top: line 1: this is not a type: uint8[4294967296]");
    assert_string_equal(decoded_text("uint8[2][2] a\n", ""),
                        "error 2: /a: definition of pkg/Top: line 1: this is not a type: uint8[2][2]");
    assert_string_equal(decoded_text("uint8[<=2] a\n", ""),
                        "error 2: /a: definition of pkg/Top: line 1: this is not a type: uint8[<=2]");
    assert_string_equal(
        decoded_text("uint8 a\n" LINE "uint8 b\n", ""),
        "error 2: /a: definition of pkg/Top: line 3: after a line of = this is no \"MSG: name\": uint8 b");
    assert_string_equal(decoded_text("uint8 a\n" LINE "MSG: a b\n", ""),
                        "error 2: /a: definition of pkg/Top: line 3: this is not the name of a type: a b");
}

static void definitions_have_ceilings(void **state) {
    (void)state;
    struct grow g = {0};
    for (int i = 0; i < 128; i++) { /* each a map */
        char text[128];
        grow_put(&g, text, (size_t)sprintf(text, "A%d a\n" LINE "MSG: pkg/A%d\n", i, i));
    }
    grow_put(&g, "uint8 b\n", 9);
    assert_string_equal(decoded_text((char *)g.data, "00"),
                        "error 4: /a: definition of pkg/Top: types nest deeper than 128");
    const char *less = strstr((char *)g.data, "A1 a");
    struct reel_channel c = channel_of("pkg/A0", less);
    assert_int_equal(strncmp(decode_text(&c, hex("07")), "{\"a\":{\"a\":", 10), 0);
    g.size = 0;
    for (int i = 0; i < 4097; i++) {
        grow_put(&g, "===\nMSG: a/A\n", 13);
    }
    grow_put(&g, "", 1);
    assert_string_equal(decoded_text((char *)g.data, ""),
                        "error 4: /a: definition of pkg/Top: a definition of more than 4096 types");
    g.size = 0;
    for (int i = 0; i < 16385; i++) {
        grow_put(&g, "int8 a\n", 7);
    }
    grow_put(&g, "", 1);
    assert_string_equal(decoded_text((char *)g.data, ""),
                        "error 4: /a: definition of pkg/Top: a definition of more than 16384 fields");
    g.size = 0;
    grow_put(&g, "int8 ", 5);
    for (int i = 0; i < 256; i++) {
        grow_put(&g, "a", 1);
    }
    grow_put(&g, "", 1);
    assert_string_equal(decoded_text((char *)g.data, ""),
                        "error 4: /a: definition of pkg/Top: the name of a field is 256 bytes long");
    free(g.data);
}

static void a_visitor_may_end_the_walk(void **state) {
    (void)state;
    const struct reel_channel c = channel_of("pkg/Top", "string[] a\nuint8 b\n");
    struct reel_error err = {0};
    AUTO(reel_decoder_free) struct reel_decoder *d = reel_decoder_open(&c, &err);
    assert_non_null(d);
    for (size_t max = 0; max < 20; max++) {
        struct grow out = {0};
        struct json_out json = json_out_to(&out, max);
        assert_false(reel_decode(d, hex("02000000 05000000 'hello' 05000000 'world' 07"), &json.visitor, &err));
        assert_int_equal(err.code, REEL_OK);
        assert_true(json.too_long);
        free(out.data);
    }
}

static void json_of(const struct reel_decoder *d, struct reel_bytes payload, bool one_by_one, struct grow *out) {
    struct reel_error err = {0};
    struct json_out json = json_out_to(out, 1 << 20);
    struct reel_visitor_ops ops = *json.visitor.ops;
    ops.members = one_by_one ? NULL : ops.members;
    json.visitor.ops = &ops;
    out->size = 0;
    if (!reel_decode(d, payload, &json.visitor, &err)) {
        fail_msg("%s", err.text);
    }
}

/* Members of a fixed size, which are written in one call, have the same text as when they are written one by one. */
static void members_at_once(void **state) {
    (void)state;
    static const char text[] = "bool a\nint8 b\nuint8 c\nint16 d\nuint16 e\nint32 f\nuint32 g\nint64 h\nuint64 i\n"
                               "float32 j\nfloat64 k\ntime l\nduration m\nfloat64[3] n\nfloat32[2] o\nint16[2] p\n"
                               "uint8[5] q\nbool[2] r\nIn s\nstring t\nIn[2] u\nOut v\nfloat64 w\n" LINE
                               "MSG: pkg/In\nfloat64 x\nfloat32 y\n" LINE "MSG: pkg/Out\nIn a\nuint8 b\nIn c\n";
    enum { TEXT_AT = 43 + 8 + 8 + 24 + 8 + 4 + 5 + 2 + 12, SIZE = TEXT_AT + 4 + 24 + 25 + 8 };
    const struct reel_channel c = channel_of("pkg/Top", text);
    AUTO(reel_decoder_free) struct reel_decoder *d = reel_decoder_open(&c, NULL);
    struct grow once = {0}, each = {0};
    uint8_t payload[SIZE] = {0};
    uint64_t seed = 1;
    assert_non_null(d);
    for (unsigned round = 0; round < 500; round++) {
        for (unsigned i = 0; i < SIZE; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            payload[i] = round % 3 == 0 ? (uint8_t)(seed >> 33) : round % 3 == 1 ? 0xff : (uint8_t)(seed >> 33) & 0x81;
        }
        store_u32le(payload + TEXT_AT, 0);
        json_of(d, bytes_of(payload, SIZE), false, &once);
        json_of(d, bytes_of(payload, SIZE), true, &each);
        assert_int_equal(once.size, each.size);
        assert_memory_equal(once.data, each.data, each.size);
    }
    free(once.data);
    free(each.data);
}

static void fields(void **state) {
    (void)state;
    assert_string_equal(
        fields_of("Header header\nuint8 K=1\nbool ok\nfloat32[3] at\nuint8[16] id\nfloat64[65] many\nIn[2] in\nIn[] "
                  "ins\nstring[] names\nduration d\n" LINE "MSG: pkg/In\nint8 x\nstring s\n"),
        "header.seq uint32 numeric\nheader.stamp time\nheader.frame_id string\nok bool numeric\nat.0 float32 "
        "numeric\nat.1 "
        "float32 numeric\n"
        "at.2 float32 numeric\nid uint8[16]\nmany float64[65]\nin.0.x int8 numeric\nin.0.s string\nin.1.x int8 "
        "numeric\nin.1.s string\nins In[]\n"
        "names string[]\nd duration\n");
}

/* ---- real recordings */

struct sums {
    unsigned long decoded, undefined;
};
static void sum_up(void *context, const struct reel_channel *channel, const char *json) {
    struct sums *s = context;
    if (strstr(json, "the recording holds no definition")) {
        s->undefined++;
    } else if (json[0] == '{') {
        s->decoded++;
    } else {
        fail_msg("%s: %s", channel->name, json);
    }
}

static void every_message_of_the_samples(void **state) {
    (void)state;
    static const struct {
        const char *name;
        const struct reel_format *format;
        unsigned long decoded, undefined; /* version 1.1 has no definitions */
    } samples[] = {
        {"rosbag2.0/example.bag", &reel_format_rosbag_v2, 8647, 0},
        {"rosbag2.0/example-lz4.bag", &reel_format_rosbag_v2, 8647, 0},
        {"rosbag2.0/constants.bag", &reel_format_rosbag_v2, 1, 0},
        {"rosbag2.0/example-unsorted-chunks.bag", &reel_format_rosbag_v2, 3, 0},
        {"rosbag2.0/multiple_connections.bag", &reel_format_rosbag_v2, 6, 0},
        {"rosbag1/ccny_gpsd_v1.2.bag", &reel_format_rosbag_v1, 267, 0},
        {"rosbag1/ccny_ortho_scan_v1.2.bag", &reel_format_rosbag_v1, 3361, 0},
        {"rosbag1/ccny_scan_splitter_v1.2.bag", &reel_format_rosbag_v1, 123, 0},
        {"rosbag1/ekf_test_v1.1.bag", &reel_format_rosbag_v1, 0, 5930},
        {"rosbag1/latched.bag", &reel_format_rosbag_v1, 140, 0},
        {"rosbag1/unindexed_noheader.bag", &reel_format_rosbag_v1, 140, 0},
        {"rosbag1/cut_in_data.bag", &reel_format_rosbag_v1, 139, 0},
    };
    bool any = false;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char path[1024];
        struct sums s = {0};
        snprintf(path, sizeof path, "%s/../../shared/samples/%s", REEL_TESTS, samples[i].name);
        if (decode_sample(path, samples[i].format, sum_up, &s)) {
            any = true;
            assert_int_equal(s.decoded, samples[i].decoded);
            assert_int_equal(s.undefined, samples[i].undefined);
        }
    }
    if (!any) {
        SAMPLES_SKIPPED(12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),
        cmocka_unit_test(arrays),
        cmocka_unit_test(constants_and_comments_are_passed_over),
        cmocka_unit_test(names_of_types),
        cmocka_unit_test(missing_definitions),
        cmocka_unit_test(payloads_that_do_not_fit),
        cmocka_unit_test(huge_arrays_are_not_there),
        cmocka_unit_test(values_without_bytes_have_a_ceiling),
        cmocka_unit_test(bad_definitions),
        cmocka_unit_test(definitions_have_ceilings),
        cmocka_unit_test(a_visitor_may_end_the_walk),
        cmocka_unit_test(members_at_once),
        cmocka_unit_test(fields),
        cmocka_unit_test(every_message_of_the_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
