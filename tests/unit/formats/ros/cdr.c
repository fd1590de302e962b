/* Messages of ROS 2 in CDR by their definitions, as JSON. */
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

static struct reel_schema schema;
static struct reel_channel channel_of(const char *type, const char *encoding, const char *definition) {
    schema = (struct reel_schema){.name = type, .encoding = encoding, .hash = "", .data = bytes_text(definition)};
    return (struct reel_channel){.name = "/a", .type = type, .encoding = "cdr", .schemas = &schema, .n_schemas = 1};
}
static const char *decoded(const char *definition, const char *payload) {
    const struct reel_channel c = channel_of("pkg/msg/Top", "ros2msg", definition);
    return decode_text(&c, hex(payload));
}
static const char *decoded_idl(const char *definition, const char *payload) {
    const struct reel_channel c = channel_of("pkg/msg/Top", "ros2idl", definition);
    return decode_text(&c, hex(payload));
}

static void every_type_is_aligned(void **state) {
    (void)state;
    static const char text[] = "bool a\nfloat64 b\nbyte c\nint16 d\nchar e\nuint32 f\nint8 g\nuint64 h\nfloat32 "
                               "i\nint64 j\nuint8 k\nuint16 l\nint32 "
                               "m\nstring n\nuint8 o\nwstring p\n";
    static const char same[] =
        "{\"a\":true,\"b\":2.5,\"c\":255,\"d\":-2,\"e\":254,\"f\":4294967293,\"g\":-1,\"h\":4294967296,\"i\":1.5,"
        "\"j\":-4,\"k\":1,\"l\":65534,"
        "\"m\":-3,\"n\":\"abc\",\"o\":7,\"p\":\"a\xc3\xa4\xf0\x9f\x98\x80\"}";
    assert_string_equal(decoded(text, "00010000 01 00000000000000 0000000000000440 ff 00 feff fe 000000 fdffffff ff "
                                      "000000 0000000001000000 0000c03f 00000000"
                                      "fcffffffffffffff 01 00 feff fdffffff 04000000 'abc' 00 07 000000 04000000 "
                                      "61000000 e4000000 3dd80000 00de0000"),
                        same);
    assert_string_equal(decoded(text, "00000000 01 00000000000000 4004000000000000 ff 00 fffe fe 000000 fffffffd ff "
                                      "000000 0000000100000000 3fc00000 00000000"
                                      "fffffffffffffffc 01 00 fffe fffffffd 00000004 'abc' 00 07 000000 00000004 "
                                      "00000061 000000e4 0000d83d 0000de00"),
                        same);
}

static void arrays(void **state) {
    (void)state;
    static const char text[] =
        "uint8 a\nfloat64[2] b\nint16[] c\nuint8[] d\nfloat64[<=3] e\nstring<=5[] f\nbool[2] g\nuint8 h\n";
    assert_string_equal(decoded(text, "00010000 01 00000000000000 000000000000f03f 0000000000000040 02000000 feff 0300 "
                                      "03000000 'foo' 00 01000000 00000000"
                                      "0000000000000840 02000000 02000000 'x' 00 0000 00000000 01 00 07"),
                        "{\"a\":1,\"b\":[1,2],\"c\":[-2,3],\"d\":{\"$base64\":\"Zm9v\"},\"e\":[3],\"f\":[\"x\",\"\"],"
                        "\"g\":[true,false],\"h\":7}");
    assert_string_equal(decoded("float64[2] b\nint16[] c\nuint8 d\n",
                                "00000000 3ff0000000000000 4000000000000000 00000002 fffe 0003 07"),
                        "{\"b\":[1,2],\"c\":[-2,3],\"d\":7}");
    assert_string_equal(decoded("float64[] a\nuint8 b\n", "00010000 00000000 07"), "{\"a\":[],\"b\":7}"); /* nothing is
                                                                                                             aligned for
                                                                                                             an empty
                                                                                                             list */
    assert_string_equal(decoded("int8[<=2] a\n", "00010000 03000000 010203"),
                        "error 2: byte 8 of 11: a has 3 values, at most 2 are allowed");
    assert_string_equal(decoded("In[] a\nIn[1] b\nuint8 c\n" LINE "MSG: pkg/In\nuint8 x\nuint32 y\n",
                                "00010000 02000000 01 000000 02000000 03 000000 04000000 05 000000 06000000 07"),
                        "{\"a\":[{\"x\":1,\"y\":2},{\"x\":3,\"y\":4}],\"b\":[{\"x\":5,\"y\":6}],\"c\":7}");
}

static void constants_and_defaults_are_passed_over(void **state) {
    (void)state;
    assert_string_equal(
        decoded("uint8 A=1\nuint8 b 5 # five\nstring c \"x # y = z\"\nuint8[2] d [1, 2]\nstring E = 'q'\nuint8 f\n",
                "00010000 01 000000 02000000 'h' 00 0203 04"),
        "{\"b\":1,\"c\":\"h\",\"d\":{\"$base64\":\"AgM=\"},\"f\":4}");
}

static void names_and_what_is_left_out(void **state) {
    (void)state;
    const char *stamped = "{\"header\":{\"stamp\":{\"sec\":-1,\"nanosec\":2},\"frame_id\":\"b\"},\"n\":{},\"k\":7}";
    const char *payload = "00010000 ffffffff 02000000 02000000 'b' 00 00 07";
    assert_string_equal(decoded("std_msgs/Header header\nNothing n\nuint8 k\n" LINE
                                "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n" LINE
                                "MSG: pkg/Nothing\n",
                                payload),
                        stamped);
    assert_string_equal(decoded("std_msgs/msg/Header header\npkg/msg/Nothing n\nuint8 k\n" LINE
                                "MSG: std_msgs/msg/Header\ntime stamp\nstring frame_id\n" LINE
                                "MSG: pkg/msg/Nothing\nuint8 K=1\n" LINE
                                "MSG: builtin_interfaces/msg/Time\nint32 sec\nuint32 nanosec\n",
                                payload),
                        stamped);
    const struct reel_channel c = channel_of("std_msgs/msg/Empty", "ros2msg", "");
    assert_string_equal(decode_text(&c, hex("00010000 00")), "{}");
    assert_string_equal(decode_text(&c, hex("00010000")), "error 2: byte 4 of 4: nothing needs 1 bytes, 0 are left");
}

static void heads_and_ends(void **state) {
    (void)state;
    assert_string_equal(decoded("uint8 a\n", "000100"), "error 2: byte 0 of 3: the head of CDR has 4 bytes");
    assert_string_equal(decoded("uint8 a\n", "00040000 01"), "error 3: byte 0 of 5: CDR of kind 0004 is not read");
    assert_string_equal(decoded("uint8 a\n", "01010000 01"), "error 3: byte 0 of 5: CDR of kind 0101 is not read");
    assert_string_equal(decoded("uint8 a\n", "00010000 01 000000"), "{\"a\":1}"); /* filled up to 4 bytes */
    assert_string_equal(decoded("uint8 a\n", "00010000 01 0000"), "error 2: byte 5 of 7: 2 bytes too many");
    assert_string_equal(decoded("uint8 a\n", "00010000 01 00000000 000000"), "error 2: byte 5 of 12: 7 bytes too many");
    assert_string_equal(decoded("uint8 a\nuint32 b\n", "00010000 01 0000"),
                        "error 2: byte 5 of 7: b needs 7 bytes, 2 are left");
    assert_string_equal(decoded("string a\n", "00010000 05000000 'abc' 00"),
                        "error 2: byte 8 of 12: a needs 5 bytes, 4 are left");
    assert_string_equal(decoded("string[] a\n", "00010000 ffffffff 'abcd'"),
                        "error 2: byte 8 of 12: a needs 17179869180 bytes, 4 are left");
    assert_string_equal(decoded("wstring a\n", "00010000 ffffffff 'abcd'"),
                        "error 2: byte 8 of 12: a needs 17179869180 bytes, 4 are left");
    assert_string_equal(decoded("wstring a\n", "00010000 03000000 3dd80000 61000000 00001100"), "{\"a\":\"\xef\xbf\xbd"
                                                                                                "a\xef\xbf\xbd\"}");
}

static void long_wide_texts(void **state) {
    (void)state;
    enum { N = 1000 };
    uint8_t payload[8 + 4 * N] = {0, 1, 0, 0, N & 255, N >> 8};
    for (int i = 0; i < N; i++) {
        payload[8 + 4 * i] = (uint8_t)('a' + i % 26);
    }
    const struct reel_channel c = channel_of("pkg/msg/Top", "ros2msg", "wstring a\n");
    const char *text = decode_text(&c, bytes_of(payload, sizeof payload));
    assert_int_equal(strlen(text), N + strlen("{\"a\":\"\"}"));
    assert_int_equal(strncmp(text, "{\"a\":\"abcdefghijklmnopqrstuvwxyzab", 33), 0);
}

/* The definition of the service stands for that of the messages about its calls. */
static void calls_of_services(void **state) {
    (void)state;
    const struct reel_channel c =
        channel_of("pkg/srv/Add_Event", "ros2msg", "int64 a\n---\n# sum\nIn b\n" LINE "MSG: pkg/In\nuint8 x\n");
    const char *info = "\"info\":{\"event_type\":1,\"stamp\":{\"sec\":2,\"nanosec\":3},\"client_gid\":{\"$base64\":"
                       "\"YWJjZGVmZ2hpamtsbW5vcA==\"},"
                       "\"sequence_number\":4}";
    char want[512];
    snprintf(want, sizeof want, "{%s,\"request\":[{\"a\":5}],\"response\":[]}", info);
    assert_string_equal(
        decode_text(&c,
                    hex("00010000 01 000000 02000000 03000000 'abcdefghijklmnop' 00000000 0400000000000000 01000000 "
                        "00000000 0500000000000000 00000000")),
        want);
    snprintf(want, sizeof want, "{%s,\"request\":[],\"response\":[{\"b\":{\"x\":6}}]}", info);
    assert_string_equal(decode_text(&c, hex("00010000 01 000000 02000000 03000000 'abcdefghijklmnop' 00000000 "
                                            "0400000000000000 00000000 01000000 06")),
                        want);
    assert_string_equal(decoded("uint8 a\n---\nuint8 b\n---\n---\n", ""),
                        "error 2: /a: definition of pkg/msg/Top: pkg/Top has 4 parts: a service has 2, an action 3");
    assert_string_equal(decoded(LINE "SRV: pkg/srv/Add\nuint8 a\n---\nuint8 b\n", ""),
                        "error 3: /a: definition of pkg/msg/Top: the definition has no message pkg/Top");
}

/* As rosbag2 writes it since Jazzy: a heading before the service or action, and the encoding "unknown" where all its
 * types are built in. */
static void services_and_actions_of_jazzy(void **state) {
    (void)state;
    static const char *const languages[] = {"unknown", "ros2msg", ""};
    for (size_t i = 0; i < 3; i++) {
        struct reel_channel c =
            channel_of("pkg/srv/Add_Event", languages[i],
                       LINE "SRV: pkg/srv/Add\nint64 a\nIn b\n---\nbool ok\n\n" LINE "MSG: pkg/In\nuint8 x\n");
        assert_string_equal(
            decode_text(&c, hex("00010000 01 000000 02000000 03000000 'abcdefghijklmnop' 00000000 0400000000000000 "
                                "01000000 00000000 0500000000000000 06 000000 00000000")),
            "{\"info\":{\"event_type\":1,\"stamp\":{\"sec\":2,\"nanosec\":3},\"client_gid\":{\"$base64\":"
            "\"YWJjZGVmZ2hpamtsbW5vcA==\"},\"sequence_number\":4},\"request\":[{\"a\":5,\"b\":{\"x\":6}}],"
            "\"response\":[]}");
        static const char *const actions[] = {"int32 order\n---\nint32[] all\n---\nint32[] some\n", LINE
                                              "ACTION: pkg/action/Fib\nint32 order\n---\nint32[] all\n---\nint32[] "
                                              "some\n"};
        for (size_t k = 0; k < 2; k++) {
            c = channel_of("pkg/action/Fib_FeedbackMessage", languages[i], actions[k]);
            assert_string_equal(decode_text(&c, hex("00010000 'abcdefghijklmnop' 02000000 01000000 02000000")),
                                "{\"goal_id\":{\"uuid\":{\"$base64\":\"YWJjZGVmZ2hpamtsbW5vcA==\"}},\"feedback\":{"
                                "\"some\":[1,2]}}");
            c = channel_of("pkg/action/Fib_SendGoal_Event", languages[i], actions[k]);
            assert_string_equal(
                decode_text(&c, hex("00010000 01 000000 02000000 03000000 'abcdefghijklmnop' 00000000 0400000000000000 "
                                    "01000000 'abcdefghijklmnop' 05000000 01000000 01 000000 06000000 07000000")),
                "{\"info\":{\"event_type\":1,\"stamp\":{\"sec\":2,\"nanosec\":3},\"client_gid\":{\"$base64\":"
                "\"YWJjZGVmZ2hpamtsbW5vcA==\"},\"sequence_number\":4},\"request\":[{\"goal_id\":{\"uuid\":{"
                "\"$base64\":\"YWJjZGVmZ2hpamtsbW5vcA==\"}},\"goal\":{\"order\":5}}],\"response\":[{\"accepted\":true,"
                "\"stamp\":{\"sec\":6,\"nanosec\":7}}]}");
        }
    }
}

#define IDL_POINT LINE "IDL: geo/msg/Point\nmodule geo { module msg { struct Point { double x; float y; }; }; };\n"

static void idl(void **state) {
    (void)state;
    static const char text[] = LINE "IDL: pkg/msg/Top\n// generated\n#include \"geo/msg/Point.idl\"\n\nmodule pkg {\n  "
                                    "module msg {\n    module Top_Constants { const "
                                    "uint8 "
                                    "K = 3; const string "
                                    "S = \"};\"; };\n    typedef double double__3[3];\n    typedef geo::msg::Point "
                                    "point__2[2];\n    typedef double__3 alias;\n    "
                                    "enum "
                                    "Mode { ONE, TWO };\n"
                                    "    @verbatim (language=\"comment\", text=\"a } ( 'b\" \"c\")\n    struct Top {\n "
                                    "     @unit (value=\"m\") @default "
                                    "(value=TRUE)\n     "
                                    " double__3 at;\n"
                                    "      boolean ok; octet o; char c;\n      unsigned long a, b; long long d; "
                                    "unsigned short e[2];\n      string<5> s; wstring w;\n"
                                    "      sequence<geo::msg::Point> list; sequence<uint8, 4> bytes; /* } */\n      "
                                    "alias again; msg::Mode mode; point__2 two; "
                                    "builtin_interfaces::msg::Time t;\n"
                                    "    };\n  };\n};\n" IDL_POINT;
    assert_string_equal(
        decoded_idl(
            text,
            "00010000 000000000000f03f 0000000000000040 0000000000000840 01 02 03 00 01000000 02000000 00000000 "
            "0400000000000000 0500 0600"
            "02000000 's' 00 0000 01000000 61000000 01000000 000000000000f03f 00000040 02000000 'xy' 00000000 0000"
            "000000000000f03f 0000000000000040 0000000000000840 01000000 00000000"
            "000000000000f03f 00000040 00000000 0000000000000040 00004040 07000000 08000000"),
        "{\"at\":[1,2,3],\"ok\":true,\"o\":2,\"c\":3,\"a\":1,\"b\":2,\"d\":4,\"e\":[5,6],\"s\":\"s\",\"w\":\"a\","
        "\"list\":[{\"x\":1,\"y\":"
        "2}],"
        "\"bytes\":{\"$base64\":\"eHk=\"},\"again\":[1,2,3],\"mode\":1,\"two\":[{\"x\":1,\"y\":2},{\"x\":2,\"y\":3}],"
        "\"t\":{\"sec\":7,"
        "\"nanosec\":8}"
        "}");
    const struct reel_channel c = channel_of("pkg/msg/Top", "ros2idl", text);
    assert_string_equal(decode_fields(&c),
                        "at.0 float64 m numeric\nat.1 float64 m numeric\nat.2 float64 m numeric\nok bool numeric\no "
                        "uint8 numeric\nc uint8 numeric\na "
                        "uint32 "
                        "numeric\n"
                        "b uint32 numeric\nd int64 numeric\ne.0 uint16 numeric\ne.1 uint16 numeric\ns string\nw "
                        "wstring\nlist geo/msg/Point[]\nbytes "
                        "uint8[]\n"
                        "again.0 float64 numeric\nagain.1 float64 numeric\nagain.2 float64 numeric\nmode msg/Mode "
                        "numeric\ntwo.0.x float64 numeric\n"
                        "two.0.y float32 numeric\ntwo.1.x float64 numeric\ntwo.1.y float32 numeric\nt time\n");
    assert_string_equal(
        decoded_idl("module pkg { module msg { struct Top { uint8 structure_needs_at_least_one_member; }; }; };",
                    "00010000 00"),
        "{}");
}

static void other_definitions(void **state) {
    (void)state;
    const struct reel_channel c = channel_of("pkg/msg/Top", "ros1msg", "uint8 a\n");
    assert_string_equal(decode_text(&c, hex("00010000 01")),
                        "error 3: /a: definitions in \"ros1msg\" are not read for this encoding");
    assert_string_equal(decoded("", ""), "error 3: /a: the recording holds no definition of pkg/msg/Top");
    assert_string_equal(decoded("E[4294967295] a\n" LINE "MSG: pkg/E\nuint8[0] b\n", "00010000"),
                        "error 4: byte 4 of 4: more than 4096 values that take no bytes");
}

/* ---- real recordings */

static void count(void *context, const struct reel_channel *channel, const char *json) {
    unsigned *messages = context;
    if (json[0] != '{') {
        fail_msg("%s: %s", channel->name, json);
    }
    if (strcmp(channel->name, "/test_topic") == 0) {
        assert_string_equal(json, "{\"bool_value\":false,\"byte_value\":0,\"char_value\":0,\"float32_value\":0,"
                                  "\"float64_value\":0,\"int8_value\":0,"
                                  "\"uint8_value\":0,"
                                  "\"int16_value\":0,\"uint16_value\":0,\"int32_value\":123,\"uint32_value\":0,\"int64_"
                                  "value\":0,\"uint64_value\":0}");
    }
    ++*messages;
}

/* ---- members of a fixed size at once */

static bool (*members_of_json)(struct reel_visitor *v, const struct reel_members *members, const uint8_t *at);
static unsigned calls; /* of it */

static bool counted_members(struct reel_visitor *v, const struct reel_members *members, const uint8_t *at) {
    calls++;
    return members_of_json(v, members, at);
}

/* Its JSON, or the error. */
static void json_of(const struct reel_decoder *d, struct reel_bytes payload, bool one_by_one, struct grow *out) {
    struct reel_error err = {0};
    struct json_out json = json_out_to(out, 1 << 20);
    struct reel_visitor_ops ops = *json.visitor.ops;
    members_of_json = ops.members;
    ops.members = one_by_one ? NULL : counted_members;
    json.visitor.ops = &ops;
    out->size = 0;
    if (!reel_decode(d, payload, &json.visitor, &err)) {
        grow_text(out, err.text);
    }
    grow_u8(out, 0);
}

/* A payload of random values: of each letter that many bytes at a multiple of them; T: a text of up to 9 letters. */
static size_t random_payload(const char *layout, uint64_t *seed, uint8_t *out) {
    size_t size = 4;
    memcpy(out, "\0\1\0", 4);
    for (const char *l = layout; *l; l++) {
        size_t align = *l == 'T' ? 4 : (size_t)(*l - '0'), length;
        for (; (size - 4) % align != 0; size++) {
            out[size] = 0;
        }
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        length = *l == 'T' ? 1 + (*seed >> 33) % 10 : align;
        if (*l == 'T') {
            store_u32le(out + size, (uint32_t)length);
            size += 4;
        }
        for (size_t i = 0; i < length; i++, size++) {
            *seed = *seed * 6364136223846793005u + 1442695040888963407u;
            out[size] = *l != 'T' ? (uint8_t)(*seed >> 33) : i + 1 < length ? 'x' : 0;
        }
    }
    return size;
}

/* They have the same text as one by one, wherever a run begins; and where the payload ends early, the same error. */
static void members_at_once(void **state) {
    (void)state;
    static const char text[] =
        "bool a\nint8 b\nuint8 c\nint16 d\nuint16 e\nint32 f\nuint32 g\nint64 h\nuint64 i\nfloat32 j\nfloat64 k\n"
        "builtin_interfaces/Time l\nbuiltin_interfaces/Duration m\nfloat64[3] n\nfloat32[2] o\nint16[2] p\nuint8[5] q\n"
        "bool[2] r\nIn s\nstring t\nIn[2] u\nOut v\nfloat64 w\nstring x\nuint32 y\nfloat32 z\nfloat64 aa\n"
        "string bb\nfloat32 cc\nfloat32 dd\nstring ee\nuint8 ff\nIn gg\n" LINE
        "MSG: pkg/In\nfloat64 x\nfloat32 y\n" LINE "MSG: pkg/Out\nIn a\nuint8 b\nIn c\n",
                      layout[] = "1112244884844448884422"
                                 "11111"
                                 "11"
                                 "84"
                                 "T"
                                 "8484"
                                 "84184"
                                 "8"
                                 "T"
                                 "448"
                                 "T"
                                 "44"
                                 "T"
                                 "184";
    const struct reel_channel c = channel_of("pkg/msg/Top", "ros2msg", text);
    AUTO(reel_decoder_free) struct reel_decoder *d = reel_decoder_open(&c, NULL);
    struct grow once = {0}, each = {0};
    uint64_t seed = 1;
    assert_non_null(d);
    for (unsigned round = 0; round < 500; round++) {
        uint8_t payload[1024];
        size_t size = random_payload(layout, &seed, payload);
        for (size_t cut = round < 20 ? 4 : size; cut <= size; cut++) {
            calls = 0;
            json_of(d, bytes_of(payload, cut), false, &once);
            assert_true(cut < size || calls >= 5);
            json_of(d, bytes_of(payload, cut), true, &each);
            assert_string_equal((const char *)once.data, (const char *)each.data);
        }
    }
    free(once.data);
    free(each.data);
}

static void every_message_of_the_samples(void **state) {
    (void)state;
    static const struct {
        const char *name;
        const struct reel_format *format;
        unsigned messages;
    } samples[] = {{"cdr_test/cdr_test_0.db3", &reel_format_rosbag2, 7},
                   {"cdr_test_mcap/cdr_test_0.mcap", &reel_format_mcap, 7},
                   {"topics_and_services/bag_with_topics_and_service_events.db3", &reel_format_rosbag2, 10}};
    unsigned files = 0;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char path[1024];
        unsigned messages = 0;
        snprintf(path, sizeof path, "%s/../../shared/samples/rosbag2/%s", REEL_TESTS, samples[i].name);
        if (decode_sample(path, samples[i].format, count, &messages)) {
            assert_int_equal(messages, samples[i].messages);
            files++;
        }
    }
    if (files == 0) {
        SAMPLES_SKIPPED(3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_aligned),
        cmocka_unit_test(arrays),
        cmocka_unit_test(constants_and_defaults_are_passed_over),
        cmocka_unit_test(names_and_what_is_left_out),
        cmocka_unit_test(heads_and_ends),
        cmocka_unit_test(long_wide_texts),
        cmocka_unit_test(calls_of_services),
        cmocka_unit_test(services_and_actions_of_jazzy),
        cmocka_unit_test(idl),
        cmocka_unit_test(other_definitions),
        cmocka_unit_test(members_at_once),
        cmocka_unit_test(every_message_of_the_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
