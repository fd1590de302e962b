/* Channels whose type needs other types, each in a schema of its own: TIDE 2.0 keeps them so, and every file that Reel
 * makes of it. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/bag_scan.h"
#include "makers/decode_text.h"
#include "makers/hex.h"
#include "makers/pb_maker.h"
#include "makers/tables.h"
#include "makers/tide_scan.h"

#define LINE "================================================================================\n"
#define POINT "float64 x\nfloat64 y\nfloat64 z\n"
#define QUATERNION "float64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"
#define POSE "# where\nPoint position\nQuaternion orientation\n"
#define ONE "000000000000f03f"
#define TWO "0000000000000040"
#define THREE "0000000000000840"
#define FOUR "0000000000001040"

/* A list of schemas, in the same language: name, text, name, text, …, NULL. */
enum { SCHEMAS_MAX = 8 };
static struct reel_schema schemas[SCHEMAS_MAX];
static struct reel_channel channel_of(const char *encoding, const char *language, const char *type,
                                      const char *const *texts) {
    uint32_t n = 0;
    for (; texts[2 * n]; n++) {
        assert(n < SCHEMAS_MAX);
        schemas[n] = (struct reel_schema){
            .name = texts[2 * n], .encoding = language, .hash = "", .data = bytes_text(texts[2 * n + 1])};
    }
    return (struct reel_channel){.name = "/a", .type = type, .encoding = encoding, .schemas = schemas, .n_schemas = n};
}
#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char *ros1(const char *type, const char *const *texts, const char *payload) {
    const struct reel_channel c = channel_of("ros1", "ros1msg", type, texts);
    return decode_text(&c, hex(payload));
}
static const char *ros2(const char *type, const char *const *texts, const char *payload) {
    const struct reel_channel c = channel_of("cdr", "ros2msg", type, texts);
    return decode_text(&c, hex(payload));
}
static const char *idl(const char *type, const char *const *texts, const char *payload) {
    const struct reel_channel c = channel_of("cdr", "ros2idl", type, texts);
    return decode_text(&c, hex(payload));
}

/* ---- which schema is a channel's own */

static void the_own_schema_bears_the_type(void **state) {
    (void)state;
    struct reel_channel c = channel_of("ros1", "ros1msg", "b/T", TEXTS("a/T", "1", "b/T", "2", "c/T", "3"));
    assert_ptr_equal(reel_channel_schema(&c), &schemas[1]);
    c.type = "d/T"; /* no schema has this name: the first is used */
    assert_ptr_equal(reel_channel_schema(&c), &schemas[0]);
    c.type = "";
    assert_ptr_equal(reel_channel_schema(&c), &schemas[0]);
    c.n_schemas = 0;
    assert_null(reel_channel_schema(&c));
    static const char *const spellings[][2] = {
        {"b/msg/T", "b/T"}, {"b/T", "b/msg/T"}, {"b::msg::T", "b/msg/T"}, {"b/T", "b::msg::T"},
        {".x.Y", "x.Y"},    {"x.Y", ".x.Y"},    {"b/srv/T", "b::srv::T"}, {"/b/T", "b/T"},
    };
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        c = channel_of("cdr", "ros2msg", spellings[i][0], TEXTS("other/T", "1", "T", "2", spellings[i][1], "3"));
        assert_ptr_equal(reel_channel_schema(&c), &schemas[2]);
    }
    static const char *const others[][2] = {{"b/msg/T", "b/U"}, {"b/msg/T", "msg/T"}, {"b/x/T", "b/T"},
                                            {"b/T", "b"},       {"b/T", "b/T/"},      {"bT", "b/T"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        c = channel_of("cdr", "ros2msg", others[i][0], TEXTS("first", "1", others[i][1], "2"));
        assert_ptr_equal(reel_channel_schema(&c), &schemas[0]);
    }
    c = channel_of("cdr", "ros2msg", "b/T", TEXTS("b/msg/T", "1", "b/T", "2")); /* letter by letter goes before other
                                                                                   spellings */
    assert_ptr_equal(reel_channel_schema(&c), &schemas[1]);
}

/* ---- decoding */

static void a_wrapper_of_the_same_size_is_not_skipped(void **state) {
    (void)state;
    const char *decoded = "{\"position\":{\"x\":1,\"y\":2,\"z\":3}}";
    assert_string_equal(ros1("Wrap", TEXTS("Wrap", "Point position\n", "Point", POINT), ONE TWO THREE), decoded);
    assert_string_equal(ros1("p/Wrap", TEXTS("p/Wrap", "g/Point position", "g/Point", POINT), ONE TWO THREE), decoded);
    assert_string_equal(ros1("p/Wrap", TEXTS("p/Point", POINT, "p/Wrap", "Point position\n"), ONE TWO THREE), decoded);
    assert_string_equal(
        ros2("p/msg/Wrap", TEXTS("p/msg/Wrap", "g/Point position", "g/msg/Point", POINT), "00010000" ONE TWO THREE),
        decoded);
    assert_string_equal(
        ros2("p/Wrap", TEXTS("g/Point", POINT, "p/msg/Wrap", "g/Point position"), "00010000" ONE TWO THREE), decoded);
    assert_string_equal(
        idl("p/msg/Wrap",
            TEXTS("p/msg/Wrap", "module p { module msg { struct Wrap { g::msg::Point position; }; }; };", "g/msg/Point",
                  "module g { module msg { struct Point { double x, y, z; }; }; };"),
            "00010000" ONE TWO THREE),
        decoded);
}

static void several_dependencies_in_any_order(void **state) {
    (void)state;
    static const char *const parts[3][2] = {{"g/Pose", POSE}, {"g/Point", POINT}, {"g/Quaternion", QUATERNION}};
    static const unsigned orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const char
        *decoded = "{\"position\":{\"x\":1,\"y\":2,\"z\":3},\"orientation\":{\"x\":1,\"y\":2,\"z\":3,\"w\":4}}",
        *fields =
            "position.x float64 numeric\nposition.y float64 numeric\nposition.z float64 numeric\norientation.x float64 "
            "numeric\norientation.y float64 numeric\norientation.z float64 numeric\norientation.w float64 numeric\n";
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const char *const *a = parts[orders[i][0]], *const *b = parts[orders[i][1]], *const *c = parts[orders[i][2]];
        const char *const *texts = TEXTS(a[0], a[1], b[0], b[1], c[0], c[1]);
        assert_string_equal(ros1("g/Pose", texts, ONE TWO THREE ONE TWO THREE FOUR), decoded);
        assert_string_equal(ros2("g/msg/Pose", texts, "00010000" ONE TWO THREE ONE TWO THREE FOUR), decoded);
        const struct reel_channel channel = channel_of("ros1", "ros1msg", "g/Pose", texts);
        assert_string_equal(decode_fields(&channel), fields);
    }
}

static void nested_dependencies(void **state) {
    (void)state;
    const char *const *texts =
        TEXTS("p/Top", "Middle[] all\nuint8 end\n", "p/Low", "uint8 a", "p/Middle", "p/Low low\nHeader header");
    assert_string_equal(ros1("p/Top", texts, "01000000 07 01000000 02000000 03000000 01000000 'f' 09"),
                        "{\"all\":[{\"low\":{\"a\":7},\"header\":{\"seq\":1,\"stamp\":{\"sec\":2,\"nsec\":3},\"frame_"
                        "id\":\"f\"}}],\"end\":9}");
    /* a dependency may bring its own along, and one that is there already counts once */
    texts = TEXTS("p/Top", "Middle m\nLow l\n" LINE "MSG: p/Low\nuint8 own\n", "p/Middle",
                  "Low low\n" LINE "MSG: p/Low\nuint8 other\n", "p/Low", "uint8 third\n");
    assert_string_equal(ros1("p/Top", texts, "07 08"), "{\"m\":{\"low\":{\"own\":7}},\"l\":{\"own\":8}}");
}

static void one_name_in_two_packages(void **state) {
    (void)state;
    const char *const *texts = TEXTS("b/Point", "uint8 b\n", "a/Wrap", "Point p\nb/Point q\n", "a/Point", "uint8 a\n");
    assert_string_equal(ros1("a/Wrap", texts, "01 02"), "{\"p\":{\"a\":1},\"q\":{\"b\":2}}");
    assert_string_equal(ros2("a/msg/Wrap", texts, "00010000 01 02"), "{\"p\":{\"a\":1},\"q\":{\"b\":2}}");
    assert_string_equal(ros1("b/Point", texts, "01"), "{\"b\":1}");
    assert_string_equal(ros1("a/Point", texts, "01"), "{\"a\":1}");
}

static void a_dependency_that_is_missing(void **state) {
    (void)state;
    const char *expected =
        "error 3: /a: definition of p/Wrap: p/Point, which p/Wrap holds, is not in the recording's definition";
    assert_string_equal(ros1("p/Wrap", TEXTS("p/Wrap", "p/Point position\n", "p/Other", POINT), ONE TWO THREE),
                        expected);
    assert_string_equal(ros1("p/Wrap", TEXTS("p/Wrap", "p/Point position\n", "", ""), ONE TWO THREE),
                        expected); /* TIDE: a hash without its TYPE */
    assert_string_equal(ros1("p/Wrap", TEXTS("p/Wrap", "p/Point position\n", "p/Point", ""), ONE TWO THREE), expected);
    assert_string_equal(ros1("p/Wrap", TEXTS("p/Wrap", "", "p/Point", POINT), ONE TWO THREE),
                        "error 3: /a: the recording holds no definition of p/Wrap");
    assert_string_equal(
        ros2("p/msg/Wrap", TEXTS("p/msg/Wrap", "p/Point position\n", "p/msg/Other", POINT), "00010000"),
        "error 3: /a: definition of p/msg/Wrap: p/Point, which p/Wrap holds, is not in the recording's definition");
    struct reel_channel c =
        channel_of("ros1", "ros1msg", "p/Wrap", TEXTS("p/Wrap", "p/Point position\n", "p/Point", POINT));
    schemas[1].encoding = "protobuf"; /* another language is no dependency */
    assert_string_equal(decode_text(&c, hex(ONE TWO THREE)), expected);
}

static void an_empty_dependency(void **state) {
    (void)state;
    struct reel_channel c =
        channel_of("ros1", "ros1msg", "p/Wrap",
                   TEXTS("p/Wrap", "p/None n\nstd_msgs/Empty e\nuint8 a\n", "p/None", "", "std_msgs/Empty", ""));
    schemas[1].hash = "d41d8cd98f00b204e9800998ecf8427e"; /* md5 of nothing: what the type is really made of */
    assert_string_equal(decode_text(&c, hex("07")), "{\"n\":{},\"e\":{},\"a\":7}");
}

/* name: T or Inner; T {Inner i = 1}, Inner {int32 n = 1}. The set holds one file. */
static struct pb file_set(const char *file, const char *message, uint32_t type, const char *type_name,
                          const char *needs) {
    struct pb field = {0}, m = {0}, f = {0}, set = {0};
    pb_text(&field, 1, type_name[0] ? "i" : "n");
    pb_number(&field, 3, 1);
    pb_number(&field, 4, 1);
    pb_number(&field, 5, type);
    if (type_name[0]) {
        pb_text(&field, 6, type_name);
    }
    pb_text(&m, 1, message);
    pb_message(&m, 2, &field);
    pb_text(&f, 1, file);
    pb_text(&f, 2, "p");
    if (needs) {
        pb_text(&f, 3, needs);
    }
    pb_message(&f, 4, &m);
    pb_text(&f, 12, "proto3");
    pb_message(&set, 1, &f);
    return set;
}

static void protobuf_takes_the_channels_own(void **state) {
    (void)state;
    struct pb top = file_set("t.proto", "T", 11, ".p.Inner", "i.proto"),
              inner = file_set("i.proto", "Inner", 5, "", NULL);
    for (unsigned order = 0; order < 2; order++) {
        struct reel_channel c = channel_of("protobuf", "protobuf", "p.T",
                                           order ? TEXTS("p.Inner", "", "p.T", "") : TEXTS("p.T", "", "p.Inner", ""));
        schemas[order].data = pb_bytes(&top);
        schemas[!order].data = pb_bytes(&inner);
        assert_string_equal(decode_text(&c, hex("0a 02 08 05")), "{\"i\":{\"n\":5}}");
        assert_string_equal(decode_fields(&c), "i.n int32 numeric\n");
    }
}

static void json_takes_the_channels_own(void **state) {
    (void)state;
    const char *const *texts = TEXTS("B", "{\"properties\":{\"b\":{\"type\":\"number\"}}}", "A",
                                     "{\"properties\":{\"a\":{\"type\":\"number\"}}}");
    struct reel_channel c = channel_of("json", "jsonschema", "A", texts);
    assert_string_equal(decode_fields(&c), "a number numeric\n");
    c.type = "B";
    assert_string_equal(decode_fields(&c), "b number numeric\n");
}

/* ---- files */

/* A log with channels /wrap (ROS 1), /pose (ROS 1) and /two (ROS 2), the types after the channels and the dependencies
 * before what needs them. One message each. */
static void make_log(struct log *l) {
    log_tide(l, 2, 0);
    log_channel_new(l, 0, "/wrap", "", "", TEXTS("WW"));
    log_channel_new(l, 1, "/pose", "", "", TEXTS("PO"));
    log_channel_new(l, 2, "/two", "", "", TEXTS("W2"));
    log_type(l, "PT", "ros1msg", "geometry_msgs/Point", "", POINT, NULL, NULL);
    log_type(l, "QU", "ros1msg", "geometry_msgs/Quaternion", "", QUATERNION, NULL, NULL);
    log_type(l, "WW", "ros1msg", "pkg/Wrap", "", "geometry_msgs/Point position\n", NULL, "PT");
    log_type_of(l, "PO", "ros1msg", "geometry_msgs/Pose", "", POSE, NULL, TEXTS("QU", "PT"));
    log_type(l, "W2", "ros2msg", "pkg/msg/Wrap", "", "geometry_msgs/Point position\n", NULL, "P2");
    log_type(l, "P2", "ros2msg", "geometry_msgs/msg/Point", "", POINT, NULL, NULL);
    log_chunk(l, 0, 3, LOG_T0, LOG_T0 + 2);
    const struct reel_bytes payloads[] = {hex(ONE TWO THREE), hex(ONE TWO THREE ONE TWO THREE FOUR),
                                          hex("00010000" ONE TWO THREE)};
    for (unsigned i = 0; i < 3; i++) {
        log_number(l, i, 4);
        log_number(l, LOG_T0 + i, 8);
        log_number(l, payloads[i].size, 4);
        log_bytes(l, payloads[i].data, payloads[i].size);
    }
    log_chunk_end(l, LOG_PLAIN);
}

static const char *const log_decoded[] = {
    "{\"position\":{\"x\":1,\"y\":2,\"z\":3}}",
    "{\"position\":{\"x\":1,\"y\":2,\"z\":3},\"orientation\":{\"x\":1,\"y\":2,\"z\":3,\"w\":4}}",
    "{\"position\":{\"x\":1,\"y\":2,\"z\":3}}"};

static void assert_decoded(struct reel_recording *r) {
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
    assert_non_null(s);
    struct reel_message m;
    struct reel_bytes payload;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(stream_next(s, &m, &err), REEL_STEP_MESSAGE);
        assert_true(reel_stream_payload(s, &m, &payload, &err));
        assert_string_equal(decode_text(s->channels[m.channel], payload), log_decoded[i]);
    }
    assert_int_equal(stream_next(s, &m, &err), REEL_STEP_END);
}

static bool holds(const struct log *l, const char *text) {
    return memmem(l->data, l->size, text, strlen(text)) != NULL;
}

static void tide_types_reach_every_file(void **state) {
    (void)state;
    static const struct reel_writer *const writers[] = {&reel_writer_mcap,      &reel_writer_rosbag_v2,
                                                        &reel_writer_rosbag_v1, &reel_writer_tide2,
                                                        &reel_writer_tide,      &reel_writer_mira};
    LOG l = {0};
    make_log(&l);
    RECORDING *r = log_scan(&l);
    assert_decoded(r);
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        LOG out = log_write(r, writers[i], "", &selection_all, 100);
        RECORDING *again = log_scan(&out);
        assert_decoded(again);
        LOG twice = log_write(again, &reel_writer_mcap, "", &selection_all, 20); /* from each of them the next is as
                                                                                    good */
        RECORDING *mcap = log_scan(&twice);
        assert_decoded(mcap);
    }
}

static void mcap_has_one_definition_with_its_dependencies(void **state) {
    (void)state;
    LOG l = {0};
    make_log(&l);
    RECORDING *r = log_scan(&l);
    LOG out = log_write(r, &reel_writer_mcap, "", &selection_all, 100);
    assert_true(holds(&out, "geometry_msgs/Point position\n\n" LINE "MSG: geometry_msgs/Point\n" POINT));
    assert_true(holds(&out, POSE "\n" LINE "MSG: geometry_msgs/Quaternion\n" QUATERNION "\n" LINE
                                 "MSG: geometry_msgs/Point\n" POINT));
    RECORDING *again = log_scan(&out);
    for (uint32_t i = 0; i < 3; i++) { /* all schemas are as they were, in their order, with their hashes */
        const struct reel_channel *x = log_model(r, i), *y = log_model(again, i);
        assert_string_equal(x->type, y->type);
        assert_int_equal(x->n_schemas, y->n_schemas);
        for (uint32_t k = 0; k < x->n_schemas; k++) {
            assert_string_equal(x->schemas[k].name, y->schemas[k].name);
            assert_string_equal(x->schemas[k].encoding, y->schemas[k].encoding);
            assert_string_equal(x->schemas[k].hash, y->schemas[k].hash);
            assert_true(bytes_equal(x->schemas[k].data, y->schemas[k].data));
        }
    }
    /* geometry_msgs/Pose */
    assert_non_null(memmem(out.data, out.size, "md5sum\x20\0\0\0e45d45a5a1ce597b249e23fb30fc871f", 42));
}

static void bags_have_one_definition_with_its_dependencies(void **state) {
    (void)state;
    static const struct reel_writer *const writers[] = {&reel_writer_rosbag_v2, &reel_writer_rosbag_v1};
    LOG l = {0};
    make_log(&l);
    RECORDING *r = log_scan(&l);
    for (unsigned i = 0; i < 2; i++) {
        LOG out = log_write(r, writers[i], "", &selection_all, 100);
        RECORDING *again = log_scan(&out);
        const struct reel_channel *wrap = NULL, *pose = NULL;
        for (uint32_t c = 0; c < 3; c++) {
            wrap = strcmp(log_model(again, c)->name, "/wrap") == 0 ? log_model(again, c) : wrap;
            pose = strcmp(log_model(again, c)->name, "/pose") == 0 ? log_model(again, c) : pose;
        }
        assert_true(wrap && pose);
        assert_true(bytes_is(wrap->schemas[0].data,
                             "geometry_msgs/Point position\n\n" LINE "MSG: geometry_msgs/Point\n" POINT));
        assert_string_equal(pose->schemas[0].hash, "e45d45a5a1ce597b249e23fb30fc871f"); /* as ROS has it */
        assert_string_equal(wrap->schemas[0].hash, "e7bb0ef028c744b081acdc57743b11d8");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_own_schema_bears_the_type),
        cmocka_unit_test(a_wrapper_of_the_same_size_is_not_skipped),
        cmocka_unit_test(several_dependencies_in_any_order),
        cmocka_unit_test(nested_dependencies),
        cmocka_unit_test(one_name_in_two_packages),
        cmocka_unit_test(a_dependency_that_is_missing),
        cmocka_unit_test(an_empty_dependency),
        cmocka_unit_test(protobuf_takes_the_channels_own),
        cmocka_unit_test(json_takes_the_channels_own),
        cmocka_unit_test(tide_types_reach_every_file),
        cmocka_unit_test(mcap_has_one_definition_with_its_dependencies),
        cmocka_unit_test(bags_have_one_definition_with_its_dependencies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
