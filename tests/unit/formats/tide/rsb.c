/* Events of RSB and what is in them, as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/decode_sample.h"
#include "makers/pb_maker.h"
#include "makers/real_samples.h"
#include "media/picture.h"

static const uint8_t sender[16] = {0x91, 0xa9, 0xa5, 0xaf, 0xec, 0xa0, 0x44, 0x77,
                                   0xa8, 0x6d, 0xeb, 0x6e, 0x4a, 0x78, 0xe0, 0x02};

static const char *as_json(const char *type, const struct pb *payload) {
    const struct reel_channel channel = {.name = "/a", .type = type, .encoding = "rsb"};
    return decode_text(&channel, pb_bytes(payload));
}

static struct pb id_of(uint32_t sequence) {
    struct pb id = {0};
    pb_part(&id, 1, sender, sizeof sender);
    pb_number(&id, 2, sequence);
    return id;
}

static struct pb notification(const char *schema, const void *data, size_t size) {
    struct pb n = {0}, id = id_of(0);
    pb_message(&n, 108, &id);
    pb_text(&n, 6, "/a/");
    if (schema) {
        pb_text(&n, 7, schema);
    }
    pb_part(&n, 9, data, size);
    return n;
}

#define ID                                                                                                             \
    "\"event_id\":\"3c6a08b8-abf7-555c-8db9-01448c72d1a8\",\"sender_id\":\"91a9a5af-eca0-4477-a86d-eb6e4a78e002\","    \
    "\"sequence_number\":0"
#define NOTHING                                                                                                        \
    "\"method\":null,\"create_time\":null,\"send_time\":null,\"receive_time\":null,\"deliver_time\":null,\"user_"      \
    "times\":{},\"user_"                                                                                               \
    "infos\":{},"                                                                                                      \
    "\"causes\":[],"

/* What follows "payload":, without the last brace. */
static const char *payload_of(const char *type, const struct pb *n) {
    static char out[8192];
    const char *json = as_json(type, n), *at = strstr(json, "\"payload\":");
    assert_non_null(at);
    snprintf(out, sizeof out, "%s", at + 10);
    out[strlen(out) - 1] = '\0';
    return out;
}
static const char *decoded_text(const char *type, const void *data, size_t size) {
    struct pb n = notification(NULL, data, size);
    return payload_of(type, &n);
}

static void a_notification_with_everything(void **state) {
    (void)state;
    struct pb n = {0}, id = id_of(0), cause = id_of(7), meta = {0}, time = {0}, info = {0}, odd = {0};
    pb_text(&time, 1, "sampled");
    pb_number(&time, 2, 1400000000006000);
    pb_text(&info, 1, "speaker");
    pb_text(&info, 2, "bob");
    pb_text(&odd, 1, "empty");
    for (unsigned i = 2; i <= 5; i++) {
        pb_number(&meta, i, 1400000000000000 + i);
    }
    pb_message(&meta, 6, &time);
    pb_message(&meta, 7, &info);
    pb_message(&meta, 7, &odd);
    pb_number(&n, 200, 5); /* unknown fields are passed over */
    pb_message(&n, 108, &id);
    pb_text(&n, 6, "/a/");
    pb_text(&n, 14, "REQUEST");
    pb_text(&n, 9, "hello");
    pb_message(&n, 13, &cause);
    pb_message(&n, 13, &id);
    pb_message(&n, 15, &meta);
    assert_string_equal(as_json("utf-8-string", &n),
                        "{\"scope\":\"/a/\"," ID
                        ",\"method\":\"REQUEST\",\"create_time\":1400000000000002,\"send_time\":1400000000000003,"
                        "\"receive_time\":1400000000000004,\"deliver_time\":1400000000000005,\"user_times\":{"
                        "\"sampled\":1400000000006000},"
                        "\"user_infos\":{\"speaker\":\"bob\",\"empty\":null},\"causes\":[{\"event_id\":\"cee18e5a-bc6a-"
                        "5eba-a19c-cdfc0c264480\","
                        "\"sender_id\":\"91a9a5af-eca0-4477-a86d-eb6e4a78e002\",\"sequence_number\":7},{" ID
                        "}],\"wire_schema\":\"utf-8-string\",\"payload\":\"hello\"}");
}

static void an_event_of_0_4(void **state) {
    (void)state;
    struct pb e = {0}, cause = id_of(0);
    pb_number(&e, 1, 0);
    pb_part(&e, 2, sender, sizeof sender);
    pb_text(&e, 3, "/a/");
    pb_text(&e, 4, "REPLY");
    pb_text(&e, 7, "ASCII-STRING");
    pb_text(&e, 8, "x");
    pb_message(&e, 16, &cause);
    assert_string_equal(as_json("", &e),
                        "{\"scope\":\"/a/\"," ID
                        ",\"method\":\"REPLY\",\"create_time\":null,\"send_time\":null,\"receive_time\":null,"
                        "\"deliver_time\":null,\"user_times\":{},\"user_infos\":{},\"causes\":[{" ID "}],"
                        "\"wire_schema\":\"ASCII-STRING\",\"payload\":\"x\"}");
}

static void ids_of_autumn_2011_and_odd_senders(void **state) {
    (void)state;
    struct pb n = {0}, id = id_of(0), odd = {0};
    pb_message(&n, 107, &id);
    assert_string_equal(as_json("void", &n),
                        "{\"scope\":null," ID "," NOTHING "\"wire_schema\":\"void\",\"payload\":null}");
    n.size = 0;
    pb_text(&odd, 1, "abc");
    pb_message(&n, 108, &odd);
    assert_string_equal(
        as_json("void", &n),
        "{\"scope\":null,\"event_id\":null,\"sender_id\":{\"$base64\":\"YWJj\"},\"sequence_number\":0," NOTHING
        "\"wire_schema\":\"void\",\"payload\":null}");
}

static void fundamental_types(void **state) {
    (void)state;
    static const uint8_t minus_two[8] = {0xfe, 255, 255, 255, 255, 255, 255, 255};
    assert_string_equal(decoded_text("void", "", 0), "null");
    assert_string_equal(decoded_text("bool", "\1", 1), "true");
    assert_string_equal(decoded_text("BOOL", "\0", 1), "false");
    assert_string_equal(decoded_text("int32", minus_two, 4), "-2");
    assert_string_equal(decoded_text("uint32", minus_two, 4), "4294967294");
    assert_string_equal(decoded_text("INT64", minus_two, 8), "-2");
    assert_string_equal(decoded_text("uint64", minus_two, 8), "\"18446744073709551614\"");
    assert_string_equal(decoded_text("float", "\0\0\x20\x40", 4), "2.5");
    assert_string_equal(decoded_text("double", "\0\0\0\0\0\0\x04\xc0", 8), "-2.5");
    assert_string_equal(decoded_text("utf-8-string", "w\xc3\xb6rld", 6), "\"w\xc3\xb6rld\"");
    assert_string_equal(decoded_text("ascii-string", "a\xff", 2), "\"a\\\\xff\"");
    assert_string_equal(decoded_text("scope", "/x/", 3), "\"/x/\"");
    assert_string_equal(decoded_text("bytes", "foo", 3), "{\"$base64\":\"Zm9v\"}");
    assert_string_equal(decoded_text("opencv-image", "foo", 3), "{\"$base64\":\"Zm9v\"}");
    assert_string_equal(decoded_text("int64", "foo", 3), "{\"$base64\":\"Zm9v\"}"); /* does not fit */
    assert_string_equal(decoded_text("void", "foo", 3), "{\"$base64\":\"Zm9v\"}");
}

static void where_the_wire_schema_is_found(void **state) {
    (void)state;
    struct pb n = notification("bool", "\1", 1);
    assert_string_equal(payload_of("bytes", &n), "true"); /* the event knows best */
    assert_non_null(strstr(as_json("bytes", &n), "\"wire_schema\":\"bool\""));
    n = notification(NULL, "\1", 1);
    assert_string_equal(payload_of("", &n), "{\"$base64\":\"AQ==\"}");
    assert_non_null(strstr(as_json("", &n), "\"wire_schema\":null"));
    struct pb meta = {0}, info = {0};
    pb_text(&info, 1, "rsb.wire-schema");
    pb_text(&info, 2, "BOOL");
    pb_message(&meta, 7, &info);
    pb_message(&n, 15, &meta);
    assert_string_equal(payload_of("", &n), "true");
}

static void messages_by_number(void **state) {
    (void)state;
    struct pb m = {0}, inner = {0};
    pb_number(&m, 1, 300);
    pb_number(&m, 1, 5);
    pb_double(&m, 2, 0.5);
    pb_float(&m, 3, 0.1f);
    pb_text(&m, 4, "gr\xc3\xbc\xc3\x9f");
    pb_part(&m, 5, "\xff\xfe", 2);
    pb_text(&inner, 1, "abc");
    pb_message(&m, 6, &inner); /* begins with a line end, yet is a message */
    pb_text(&m, 7, "one\ntwo");
    pb_text(&m, 8, "");
    pb_part(&m, 9, "\xc2\x85", 2); /* a control of Unicode */
    pb_number(&m, 1, 6);           /* not with the others: emitted again */
    assert_string_equal(decoded_text(".x.Y", m.data, m.size),
                        "{\"1\":[300,5],\"2\":0.5,\"3\":0.1,\"4\":\"gr\xc3\xbc\xc3\x9f\",\"5\":{\"$base64\":\"//"
                        "4=\"},\"6\":{\"1\":\"abc\"},"
                        "\"7\":\"one\\u000atwo\",\"8\":\"\",\"9\":{\"$base64\":\"woU=\"},\"1\":6}");
    assert_string_equal(decoded_text(".x.Y", "", 0), "{}");
    pb_raw(&m, "\x0a\x7f", 2); /* ends after its message */
    assert_true(strncmp(decoded_text(".x.Y", m.data, m.size), "{\"$base64\":\"CKwC", 16) == 0);
}

static void messages_in_messages_end_somewhere(void **state) {
    (void)state;
    struct pb m = {0};
    pb_number(&m, 1, 1);
    for (unsigned i = 0; i < 100; i++) {
        struct pb outer = {0};
        pb_message(&outer, 1, &m);
        m = outer;
    }
    const char *text = decoded_text(".x.Y", m.data, m.size);
    size_t depth = 0;
    while (strncmp(text + depth * 5, "{\"1\":", 5) == 0) {
        depth++;
    }
    assert_int_equal(depth, 33);
    assert_non_null(strstr(text, "{\"$base64\":"));
}

static void damaged_events(void **state) {
    (void)state;
    struct pb n = notification("bool", "\1", 1);
    const struct reel_channel channel = {.name = "/a", .type = "", .encoding = "rsb"};
    assert_string_equal(decode_text(&channel, bytes_of("", 0)),
                        "error 2: no RSB event in these 0 bytes: no id in field 108, no scope in field 3");
    assert_string_equal(decode_text(&channel, bytes_of(n.data, n.size - 1)),
                        "error 2: byte 34 of 36: not a protobuf field, or one that ends after its message");
    assert_string_equal(decode_text(&channel, bytes_of("\x18\x01", 2)),
                        "error 2: no RSB event in these 2 bytes: no id in field 108, no scope in field 3");
    n.data[4] = 100; /* the sender in the id */
    assert_string_equal(as_json("", &n),
                        "error 2: byte 3 of 37: not a protobuf field, or one that ends after its message");
    n = notification("bool", "\1", 1);
    pb_text(&n, 15, "\x3a\x03\x0a\x05x"); /* an info whose content ends after it */
    assert_string_equal(as_json("", &n),
                        "error 2: byte 41 of 44: not a protobuf field, or one that ends after its message");
}

static void an_event_cut_anywhere(void **state) {
    (void)state;
    struct pb n = notification(".x.Y", "\x0a\x01z", 3), meta = {0}, info = {0};
    pb_text(&info, 1, "k");
    pb_text(&info, 2, "v");
    pb_message(&meta, 7, &info);
    pb_message(&n, 15, &meta);
    const struct reel_channel channel = {.name = "/a", .type = "", .encoding = "rsb"};
    for (size_t size = 0; size < n.size; size++) {
        uint8_t *exact = malloc(size ? size : 1);
        memcpy(exact, n.data, size);
        const char *text = decode_text(&channel, bytes_of(exact, size));
        assert_true(text[0] == '{' || strncmp(text, "error 2: ", 9) == 0);
        free(exact);
    }
}

struct stopper {
    struct reel_visitor visitor;
    unsigned left;
};
static bool stop(struct reel_visitor *v) {
    struct stopper *s = (struct stopper *)v;
    return s->left-- > 0;
}
static bool stop_key(struct reel_visitor *v, struct reel_bytes name) {
    (void)name;
    return stop(v);
}
static bool stop_text(struct reel_visitor *v, struct reel_bytes value) {
    (void)value;
    return stop(v);
}
static bool stop_natural(struct reel_visitor *v, uint64_t value) {
    (void)value;
    return stop(v);
}

static void a_visitor_may_end_it_anywhere(void **state) {
    (void)state;
    static const struct reel_visitor_ops ops = {.begin_map = stop,
                                                .key = stop_key,
                                                .end_map = stop,
                                                .begin_list = stop,
                                                .end_list = stop,
                                                .null = stop,
                                                .text = stop_text,
                                                .natural = stop_natural};
    struct pb n = notification(".x.Y", "\x0a\x01z\x08\x05\x08\x06", 7), id = id_of(1);
    pb_message(&n, 13, &id);
    const struct reel_channel channel = {.name = "/a", .type = "", .encoding = "rsb"};
    struct reel_error err = {0};
    AUTO(reel_decoder_free) struct reel_decoder *d = reel_decoder_open(&channel, &err);
    assert_non_null(d);
    unsigned asked = 0;
    for (bool whole = false; !whole; asked++) {
        struct stopper s = {.visitor = {&ops}, .left = asked};
        whole = reel_decode(d, pb_bytes(&n), &s.visitor, &err);
        assert_int_equal(err.code, REEL_OK);
    }
    assert_int_equal(asked, 49); /* 48 calls in all */
}

static void the_fields_of_events(void **state) {
    (void)state;
#define KNOWN                                                                                                          \
    "scope string\nevent_id string\nsender_id string\nsequence_number uint32 numeric\nmethod string\ncreate_time "     \
    "int64 us "                                                                                                        \
    "numeric\nsend_time int64 "                                                                                        \
    "us numeric\n"                                                                                                     \
    "receive_time int64 us numeric\ndeliver_time int64 us numeric\nuser_times map us\nuser_infos map\ncauses "         \
    "EventId[]\nwire_schema "                                                                                          \
    "string\n"
    struct reel_channel channel = {.name = "/a", .type = "UINT64", .encoding = "rsb"};
    assert_string_equal(decode_fields(&channel), KNOWN "payload uint64 numeric\n");
    channel.type = "utf-8-string";
    assert_string_equal(decode_fields(&channel), KNOWN "payload string\n");
    channel.type = ".x.Y";
    assert_string_equal(decode_fields(&channel), KNOWN "payload .x.Y\n");
    channel.type = "";
    assert_string_equal(decode_fields(&channel), KNOWN "payload bytes\n");
}

static void channels_without_events(void **state) {
    (void)state;
    struct reel_channel channel = {.name = "/a", .type = "UTF-8-STRING", .encoding = "bytes"};
    assert_string_equal(decode_text(&channel, bytes_text("plain 1")), "\"plain 1\"");
    assert_string_equal(decode_fields(&channel), " string\n");
    channel.type = "uint32";
    assert_string_equal(decode_text(&channel, bytes_of("\1\2\0\0", 4)), "513");
    assert_string_equal(decode_text(&channel, bytes_of("\1\2\0", 3)),
                        "error 2: byte 3 of 3: the payload ends, a uint32 has 4 bytes");
    assert_string_equal(decode_text(&channel, bytes_of("\1\2\0\0\0\0", 6)),
                        "error 2: byte 4 of 6: 2 bytes too many for a uint32");
    channel.type = "MYTYPE";
    assert_string_equal(decode_text(&channel, bytes_of("\1\2\0", 3)),
                        "error 3: /a: bytes of type \"MYTYPE\" are not decoded");
    channel.type = "";
    assert_string_equal(decode_text(&channel, bytes_of("\1\2\0", 3)),
                        "error 3: /a: bytes of type \"\" are not decoded");
}

/* ---- by name */

static void messages_by_name(void **state) {
    (void)state;
    const struct reel_schema schemas[2] = {
        {.name = "rsb.protocol.Notification",
         .encoding = "proto",
         .hash = "",
         .data = bytes_text("package rsb.protocol; message Notification { }")},
        {.name = "x.Y",
         .encoding = "proto",
         .hash = "",
         .data = bytes_text(
             "package x; message Y { required double a = 1; repeated Z z = 2; } message Z { optional bool b = 7; }")}};
    const struct reel_channel channel = {
        .name = "/a", .type = ".x.Y", .encoding = "rsb", .schemas = schemas, .n_schemas = 2};
    struct pb m = {0}, z = {0}, n;
    pb_number(&z, 7, 1);
    pb_double(&m, 1, 0.5);
    pb_message(&m, 2, &z);
    n = notification(NULL, m.data, m.size);
    assert_non_null(strstr(decode_text(&channel, pb_bytes(&n)), "\"payload\":{\"a\":0.5,\"z\":[{\"b\":true}]}}"));
    assert_non_null(strstr(decode_fields(&channel), "wire_schema string\npayload.a double numeric\n"));
    n = notification(".p.Q", m.data, m.size); /* of another type than the channel says */
    assert_non_null(strstr(decode_text(&channel, pb_bytes(&n)), "\"payload\":{\"1\":0.5,\"2\":{\"7\":1}}}"));
    n = notification(NULL, "\x09\0", 2); /* no message at all */
    assert_non_null(strstr(decode_text(&channel, pb_bytes(&n)), "\"payload\":{\"$base64\":\"CQA=\"}}"));
    const struct reel_channel bye = {.name = "/a", .type = ".rsb.protocol.introspection.Bye", .encoding = "rsb"};
    n = notification(NULL, "\x0a\3foo", 5);
    assert_non_null(strstr(decode_text(&bye, pb_bytes(&n)), "\"payload\":{\"id\":{\"$base64\":\"Zm9v\"}}}"));
}

static void definitions_of_tide_2_are_texts(void **state) {
    (void)state;
    const struct reel_schema schemas[2] = {{.name = ".x.Y",
                                            .encoding = "protobuf-2",
                                            .hash = "aa",
                                            .data = bytes_text("package x; message Y { optional z.Z a = 1; }")},
                                           {.name = "z.Z",
                                            .encoding = "protobuf-2",
                                            .hash = "bb",
                                            .data = bytes_text("package z; message Z { required int32 b = 1; }")}};
    const struct reel_channel channel = {
        .name = "/a", .type = ".x.Y", .encoding = "protobuf", .schemas = schemas, .n_schemas = 2};
    assert_string_equal(decode_text(&channel, bytes_of("\x0a\2\x08\5", 4)), "{\"a\":{\"b\":5}}");
    const struct reel_channel alone = {
        .name = "/a", .type = ".x.Y", .encoding = "protobuf", .schemas = schemas, .n_schemas = 1};
    assert_string_equal(decode_text(&alone, bytes_of("", 0)),
                        "error 2: /a: proto text, byte 41 of 45: the type \"z.Z\" is not defined");
}

/* ---- real logs; the values are those of an independent reader */

struct sums {
    unsigned events, refused, by_bytes;
    char first[8][600];
};
static void sum_up(void *context, const struct reel_channel *channel, const char *json) {
    struct sums *s = context;
    s->refused += strncmp(json, "error 3", 7) == 0;
    assert_true(strncmp(json, "error", 5) != 0 || strncmp(json, "error 3", 7) == 0);
    s->events++;
    s->by_bytes += strstr(json, "$base64") != NULL;
    if (channel->id < 8 && s->first[channel->id][0] == '\0') {
        snprintf(s->first[channel->id], sizeof s->first[0], "%s", json);
    }
}
static struct sums sums_of(const char *name) {
    struct sums s = {0};
    char path[512];
    snprintf(path, sizeof path, REEL_TESTS "/../../shared/samples/tide/%s.tide", name);
    if (!decode_sample(path, &reel_format_tide, sum_up, &s)) {
        SAMPLES_SKIPPED(1);
    }
    return s;
}

static void real_events(void **state) {
    (void)state;
    static const char first[] =
        "{\"scope\":\"/rsbtest/clientserver/request/addone/"
        "\",\"event_id\":\"9235de4c-4865-5230-9fd8-a462fbc9af1b\",\"sender_id\":\"719a7fee-82bc-4556-b078-"
        "a9b41d2fd94a\","
        "\"sequence_number\":0,\"method\":\"REQUEST\",\"create_time\":1316724943827752,\"send_time\":1316724944037983,"
        "\"receive_time\":1316724944168266,"
        "\"deliver_time\":1316724944178931,\"user_times\":{},\"user_infos\":{\"rsb.wire-schema\":\"UINT64\"},"
        "\"causes\":[],"
        "\"wire_schema\":\"uint64\",\"payload\":1}";
    assert_string_equal(sums_of("rsbag-tools_0.4_valid-single-event").first[0], first);
    assert_string_equal(sums_of("rsbag-tools_0.6_valid-single-event").first[0], first);
    assert_string_equal(sums_of("rsbag-tools_0.8_valid-single-event").first[0], first);
    assert_string_equal(sums_of("rsbag-tools_0.9_valid-two-events").first[0],
                        "{\"scope\":\"/foo/"
                        "\",\"event_id\":\"93c7929b-2e05-5970-9494-fc02215da932\",\"sender_id\":\"131e0bd4-4b10-4e24-"
                        "a731-6cf2cea3c3ba\","
                        "\"sequence_number\":0,\"method\":null,\"create_time\":1389717970040170,\"send_time\":"
                        "1389717970099893,\"receive_time\":"
                        "1389717970207527,"
                        "\"deliver_time\":1389717970211636,\"user_times\":{},\"user_infos\":{},\"causes\":[],\"wire_"
                        "schema\":\"int64\",\"payload\":1}");
}

static void real_logs_decode_whole(void **state) {
    (void)state;
    struct sums s = sums_of("rsbagcl_multichunk");
    assert_int_equal(s.events, 2660);
    assert_int_equal(s.refused, 0);
    assert_int_equal(s.by_bytes, 40); /* the camera's */
    assert_non_null(strstr(s.first[0], "\"payload\":{\"x\":1,\"y\":0,\"theta\":0}}"));
    assert_non_null(strstr(
        s.first[2],
        "\"user_infos\":{\"speaker\":\"bob\"},\"causes\":[{\"event_id\":\"d7f68235-13ff-5506-818a-7a5806e94162\","));
    assert_non_null(strstr(s.first[2], "\"payload\":\"hello w\xc3\xb6rld #0\"}"));
    assert_non_null(strstr(s.first[3], "\"user_times\":{\"sampled\":1400000000006000}"));
    s = sums_of("rsbagcl_abandoned_no_close");
    assert_int_equal(s.events, 2616);
    assert_int_equal(s.refused, 0);
    s = sums_of("rsbagcl_raw_types");
    assert_int_equal(s.events, 5);
    assert_int_equal(s.refused, 3); /* of no type */
    s = sums_of("tide0_plain");
    assert_int_equal(s.events, 375);
    assert_int_equal(s.refused, 300); /* "double-xyz" is no known type */
    assert_string_equal(s.first[1], "\"0\"");
    s = sums_of("tide2_plain");
    assert_int_equal(s.events, 250);
    assert_int_equal(s.refused, 40); /* of no type */
    assert_string_equal(s.first[0], "{\"x\":0,\"y\":0,\"z\":0.13436424411240122}");
    assert_non_null(strstr(s.first[2], "\"sequence_number\":3,"));
    assert_non_null(strstr(s.first[2], "\"wire_schema\":\"utf-8-string\",\"payload\":\"Fahr vor 3\"}"));
}

/* ---- images of RST, by the definition in the log */

#define RST_IMAGE                                                                                                      \
    "package rst.vision; message Image { required bytes data = 1; required uint32 width = 2; required uint32 height "  \
    "= "                                                                                                               \
    "3; required uint32 channels = 4; required Depth depth = 5; required ColorMode color_mode = 6; required "          \
    "DataOrder "                                                                                                       \
    "data_order = 7; enum Depth { DEPTH_8U = 8; DEPTH_16U = 16; DEPTH_32F = 32; } enum ColorMode { COLOR_GRAYSCALE = " \
    "0; COLOR_RGB = 1; COLOR_BGR = 2; COLOR_YUV = 4; COLOR_YUV422 = 8; } enum DataOrder { DATA_SEPARATE = 0; "         \
    "DATA_INTERLEAVED = 1; } }"

static void images(void **state) {
    (void)state;
    static const struct {
        unsigned width, depth, mode, channels, order;
        const char *data, *encoding; /* NULL: not drawn */
        size_t size;
        unsigned step;
    } cases[] = {{1, 8, 2, 3, 1, "\1\2\3\4\5\6", "bgr8", 6, 3},
                 {1, 8, 2, 3, 1, "\1\2\3\0\4\5\6\0", "bgr8", 8, 4}, /* rows of IplImage have padding */
                 {2, 8, 0, 1, 0, "\1\2\3\4", "mono8", 4, 2},
                 {1, 16, 0, 1, 1, "\1\2\3\4", "mono16", 4, 2},
                 {1, 32, 0, 1, 1, "\0\0\x80\x3f\0\0\0\x40", "32FC1", 8, 4},
                 {2, 8, 8, 2, 1, "\1\2\3\4\5\6\7\x08", "yuv422_yuy2", 8, 4},
                 {1, 8, 4, 3, 1, "\1\2\3\4\5\6", NULL, 6, 0},
                 {1, 8, 1, 3, 0, "\1\2\3\4\5\6", NULL, 6, 0}};
    const struct reel_schema schemas[2] = {
        {.name = "rsb.protocol.Notification",
         .encoding = "proto",
         .hash = "",
         .data = bytes_text("package rsb.protocol; message Notification { }")},
        {.name = "rst.vision.Image", .encoding = "proto", .hash = "", .data = bytes_text(RST_IMAGE)}};
    const struct reel_channel channel = {
        .name = "/a", .type = ".rst.vision.Image", .encoding = "rsb", .schemas = schemas, .n_schemas = 2};
    struct reel_error err = {0};
    AUTO(reel_decoder_free) struct reel_decoder *decoder = reel_decoder_open(&channel, &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pb m = {0};
        struct reel_image image;
        err = (struct reel_error){0};
        pb_part(&m, 1, cases[i].data, cases[i].size);
        pb_number(&m, 2, cases[i].width);
        pb_number(&m, 3, 2);
        pb_number(&m, 4, cases[i].channels);
        pb_number(&m, 5, cases[i].depth);
        pb_number(&m, 6, cases[i].mode);
        pb_number(&m, 7, cases[i].order);
        struct pb n = notification(NULL, m.data, m.size);
        assert_int_equal(reel_image_read(decoder, pb_bytes(&n), &image, &err), cases[i].encoding != NULL);
        if (cases[i].encoding) {
            assert_string_equal(image.encoding, cases[i].encoding);
            assert_int_equal(image.width, cases[i].width);
            assert_int_equal(image.height, 2);
            assert_int_equal(image.step, cases[i].step);
            assert_memory_equal(image.data.data, cases[i].data, cases[i].size);
        } else {
            assert_int_equal(err.code, REEL_UNSUPPORTED);
        }
        reel_image_done(&image);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_notification_with_everything),
        cmocka_unit_test(an_event_of_0_4),
        cmocka_unit_test(ids_of_autumn_2011_and_odd_senders),
        cmocka_unit_test(fundamental_types),
        cmocka_unit_test(where_the_wire_schema_is_found),
        cmocka_unit_test(messages_by_number),
        cmocka_unit_test(messages_in_messages_end_somewhere),
        cmocka_unit_test(damaged_events),
        cmocka_unit_test(an_event_cut_anywhere),
        cmocka_unit_test(a_visitor_may_end_it_anywhere),
        cmocka_unit_test(the_fields_of_events),
        cmocka_unit_test(channels_without_events),
        cmocka_unit_test(messages_by_name),
        cmocka_unit_test(definitions_of_tide_2_are_texts),
        cmocka_unit_test(images),
        cmocka_unit_test(real_events),
        cmocka_unit_test(real_logs_decode_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
