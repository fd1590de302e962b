/* Protobuf payloads decoded as values, by definitions made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "makers/pb_definition.h"

static struct pb colour_enum(void) {
    struct pb e = named("Colour");
    static const struct {
        const char *name;
        uint64_t number;
    } values[] = {{"RED", 0}, {"BLUE", 7}, {"AZURE", 7}, {"ODD", UINT64_MAX}};
    for (size_t i = 0; i < 4; i++) {
        struct pb v = named(values[i].name);
        pb_number(&v, 2, values[i].number);
        pb_message(&e, 2, &v);
    }
    return e;
}

/* p.M: every type once, lists, maps, a message in itself; p.Few: a number and a list. */
static struct pb definition(const char *syntax) {
    struct pb file = {0}, m = named("M"), few = named("Few"), set = {0}, time_file = {0}, time = named("Timestamp"),
              entry, options = {0};
    static const enum pb_type kinds[] = {PB_DOUBLE,  PB_FLOAT,    PB_INT64,    PB_UINT64, PB_INT32,
                                         PB_FIXED64, PB_FIXED32,  PB_BOOL,     PB_STRING, PB_BYTES,
                                         PB_UINT32,  PB_SFIXED32, PB_SFIXED64, PB_SINT32, PB_SINT64};
    static const char *const names[] = {"double",  "float",    "int64",    "uint64", "int32",
                                        "fixed64", "fixed32",  "bool",     "string", "bytes",
                                        "uint32",  "sfixed32", "sfixed64", "sint32", "sint64"};
    for (uint32_t i = 0; i < 15; i++) {
        describe(&m, names[i], i + 1, ONE, kinds[i], NULL);
    }
    describe(&m, "colour", 16, ONE, PB_ENUM, ".p.Colour");
    describe(&m, "self", 17, ONE, PB_MESSAGE, ".p.M");
    describe(&m, "floats", 18, MANY, PB_FLOAT, NULL);
    describe(&m, "ints", 19, MANY, PB_INT32, NULL);
    describe(&m, "few", 20, MANY, PB_MESSAGE, ".p.M.Few");
    describe(&m, "map", 21, MANY, PB_MESSAGE, ".p.M.MapEntry");
    describe(&m, "stamp", 22, ONE, PB_MESSAGE, ".google.protobuf.Timestamp");
    describe(&m, "lost", 23, ONE, PB_MESSAGE, ".p.Lost");
    describe(&m, "group", 24, ONE, PB_GROUP, ".p.Few");
    describe(&few, "n", 1, ONE, PB_INT32, NULL);
    describe(&few, "colours", 2, MANY, PB_ENUM, ".p.Colour");
    pb_message(&m, 3, &few);
    entry = named("MapEntry");
    describe(&entry, "key", 1, ONE, PB_INT32, NULL);
    describe(&entry, "value", 2, ONE, PB_MESSAGE, ".p.M.Few");
    pb_number(&options, 7, 1);
    pb_message(&entry, 7, &options);
    pb_message(&m, 3, &entry);
    pb_text(&file, 2, "p");
    pb_message(&file, 4, &m);
    few = named("Few");
    pb_message(&file, 4, &few);
    struct pb e = colour_enum();
    pb_message(&file, 5, &e);
    if (syntax) {
        pb_text(&file, 12, syntax);
    }
    pb_text(&time_file, 2, "google.protobuf");
    describe(&time, "seconds", 1, ONE, PB_INT64, NULL);
    describe(&time, "nanos", 2, ONE, PB_INT32, NULL);
    pb_message(&time_file, 4, &time);
    pb_message(&set, 1, &file);
    pb_message(&set, 1, &time_file);
    return set;
}

static const char *decoded_text(const struct pb *payload) { /* proto2: absent fields are omitted, except lists */
    struct pb set = definition(NULL);
    return decode_by(&set, "p.M", payload);
}
#define LISTS "\"floats\":[],\"ints\":[],\"few\":[],\"map\":{}"

static void every_type(void **state) {
    (void)state;
    struct pb p = {0};
    pb_double(&p, 1, 0.1);
    pb_float(&p, 2, 0.1F);
    pb_number(&p, 3, UINT64_MAX);
    pb_number(&p, 4, UINT64_MAX);
    pb_number(&p, 5, UINT64_MAX - 1);
    pb_double(&p, 6, 0);
    pb_float(&p, 7, 1);
    pb_number(&p, 8, 1);
    pb_text(&p, 9, "x");
    pb_text(&p, 10, "x");
    pb_number(&p, 11, 4294967295);
    pb_raw(&p, "\x65\xff\xff\xff\xff", 5);
    pb_raw(&p, "\x69\xfe\xff\xff\xff\xff\xff\xff\xff", 9);
    pb_number(&p, 14, 3);
    pb_number(&p, 15, UINT64_MAX);
    pb_number(&p, 16, 7);
    assert_string_equal(decoded_text(&p),
                        "{\"double\":0.1,\"float\":0.1,\"int64\":-1,\"uint64\":\"18446744073709551615\",\"int32\":-2,"
                        "\"fixed64\":0,\"fixed32\":1065353216,"
                        "\"bool\":true,\"string\":\"x\",\"bytes\":{\"$base64\":\"eA==\"},\"uint32\":4294967295,"
                        "\"sfixed32\":-1,\"sfixed64\":-2,"
                        "\"sint32\":-2,\"sint64\":\"-9223372036854775808\",\"colour\":\"BLUE\"," LISTS "}");
}

static void absent_fields(void **state) {
    (void)state;
    struct pb p = {0}, three = definition("proto3");
    assert_string_equal(decoded_text(&p), "{" LISTS "}");
    assert_string_equal(decode_by(&three, "p.M", &p),
                        "{\"double\":0,\"float\":0,\"int64\":0,\"uint64\":0,\"int32\":0,\"fixed64\":0,\"fixed32\":0,"
                        "\"bool\":false,\"string\":\"\","
                        "\"bytes\":{\"$base64\":\"\"},\"uint32\":0,\"sfixed32\":0,\"sfixed64\":0,\"sint32\":0,"
                        "\"sint64\":0,\"colour\":\"RED\"," LISTS "}");
}

static void fields_with_presence_have_no_default(void **state) {
    (void)state;
    struct pb m = named("M"), file = {0}, set = {0}, p = {0};
    static const char *const names[] = {"plain", "optional", "implicit", "explicit"};
    for (uint32_t i = 0; i < 4; i++) {
        struct pb f = named(names[i]), features = {0}, options = {0};
        pb_number(&f, 3, i + 1);
        pb_number(&f, 5, PB_INT32);
        if (i == 1) {
            pb_number(&f, 9, 0); /* in a oneof, as proto3 writes "optional" */
        } else if (i > 1) {
            pb_number(&features, 1, i == 2 ? 2 : 1);
            pb_message(&options, 21, &features);
            pb_message(&f, 8, &options);
        }
        pb_message(&m, 2, &f);
    }
    pb_message(&file, 4, &m);
    pb_text(&file, 12, "proto3");
    pb_message(&set, 1, &file);
    assert_string_equal(decode_by(&set, "M", &p), "{\"plain\":0,\"implicit\":0}");
}

static void repeated_fields(void **state) {
    (void)state;
    struct pb p = {0}, few = {0};
    pb_part(&p, 18, "\x00\x00\x80\x3f\x00\x00\x00\x40", 8);
    pb_part(&p, 19, "\x01\x96\x01", 3);
    pb_number(&p, 19, 5); /* packed and not */
    pb_number(&few, 1, 3);
    pb_part(&few, 2, "\x00\x07\x09\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13);
    pb_message(&p, 20, &few);
    pb_part(&p, 20, "", 0);
    assert_string_equal(decoded_text(&p), "{\"floats\":[1,2],\"ints\":[1,150,5],\"few\":[{\"n\":3,\"colours\":[\"RED\","
                                          "\"BLUE\",9,\"ODD\"]},{\"colours\":[]}],\"map\":{}}");
}

static void fields_in_any_order(void **state) {
    (void)state;
    struct pb p = {0};
    pb_number(&p, 19, 1);
    pb_float(&p, 18, 1);
    pb_number(&p, 16, 0);
    pb_number(&p, 19, 2);
    pb_number(&p, 100, 8);
    pb_float(&p, 18, 2);
    pb_number(&p, 16, 7); /* the last counts */
    assert_string_equal(decoded_text(&p),
                        "{\"colour\":\"BLUE\",\"floats\":[1,2],\"ints\":[1,2],\"few\":[],\"map\":{},\"#100\":8}");
}

static void maps_and_times(void **state) {
    (void)state;
    struct pb p = {0}, entry = {0}, few = {0}, stamp = {0};
    pb_number(&few, 1, 3);
    pb_number(&entry, 1, UINT64_MAX);
    pb_message(&entry, 2, &few);
    pb_message(&p, 21, &entry);
    pb_part(&p, 21, "", 0); /* key and value are defaults */
    pb_number(&stamp, 1, 1700000000);
    pb_number(&stamp, 2, 5);
    pb_message(&p, 22, &stamp);
    assert_string_equal(
        decoded_text(&p),
        "{\"floats\":[],\"ints\":[],\"few\":[],\"map\":{\"-1\":{\"n\":3,\"colours\":[]},\"0\":{\"colours\":[]}},"
        "\"stamp\":\"2023-11-14T22:13:20.000000005Z\"}");
}

static void what_the_definition_lacks(void **state) {
    (void)state;
    struct pb p = {0};
    pb_text(&p, 23, "ab");                             /* of a message that is not there */
    pb_raw(&p, "\xc3\x01\x08\x05\x0b\x0c\xc4\x01", 8); /* a group, with a group in it */
    pb_number(&p, 99, 300);
    pb_double(&p, 100, 0);
    pb_text(&p, 101, "x");
    pb_text(&p, 101, "y");
    pb_raw(&p, "\xb3\x06\xb4\x06", 4); /* a group that is not there either: 102 */
    assert_string_equal(decoded_text(&p),
                        "{" LISTS ",\"lost\":{\"$base64\":\"YWI=\"},\"group\":{\"#1\":5,\"#1\":{\"$base64\":\"\"}},\"#"
                        "99\":300,\"#100\":0,\"#101\":{"
                        "\"$base64\":\"eA==\"},\"#101\":{\"$base64\":\"eQ==\"},\"#102\":{\"$base64\":\"\"}}");
}

static void groups_are_messages(void **state) {
    (void)state;
    struct pb result = named("Result"), m = named("M"), file = {0}, set = {0}, p = {0};
    describe(&result, "url", 4, ONE, PB_STRING, NULL);
    describe(&m, "result", 3, ONE, PB_GROUP, "M.Result");
    describe(&m, "many", 5, MANY, PB_GROUP, "M.Result");
    describe(&m, "self", 6, ONE, PB_MESSAGE, "M");
    pb_message(&m, 3, &result);
    pb_message(&file, 4, &m);
    pb_message(&set, 1, &file);
    pb_raw(&p, "\x1b\x22\x01u\x1c", 5);
    pb_raw(&p, "\x2b\x22\x01x\x2c\x2b\x2c", 7);
    pb_raw(&p, "\x33\x2b\x2c\x34", 4); /* a message written as a group, as editions may */
    assert_string_equal(decode_by(&set, "M", &p), "{\"result\":{\"url\":\"u\"},\"many\":[{\"url\":\"x\"},{}],"
                                                  "\"self\":{\"many\":[{}]}}");
}

/* Groups in groups are read again at each level: what that may cost has a ceiling. */
static void nested_groups_have_a_ceiling(void **state) {
    (void)state;
    struct pb m = named("M"), file = {0}, set = {0}, p = {0};
    describe(&m, "g", 1, MANY, PB_GROUP, "M");
    for (uint32_t i = 2; i < 60; i++) {
        describe(&m, "x", i, ONE, PB_INT32, NULL);
    }
    pb_message(&file, 4, &m);
    pb_message(&set, 1, &file);
    for (int i = 0; i < 1900; i++) {
        pb_raw(&p, i % 100 < 50 ? "\x0b" : "\x0c", 1);
    }
    assert_memory_equal(decode_by(&set, "M", &p), "{\"g\":[{\"g\":[", 12);
    p.size = 0;
    for (int i = 0; i < 1000; i++) { /* out of order, so that each field is searched for from the start */
        pb_raw(&p, i < 60 ? "\x10\x01\x0b" : i < 940 ? "\x18\x01" : "\x0c", i < 60 ? 3 : i < 940 ? 2 : 1);
    }
    assert_memory_equal(decode_by(&set, "M", &p), "error 4: ", 9);
}

static void a_message_in_pieces_is_merged(void **state) {
    (void)state;
    struct pb p = {0}, one = {0}, two = {0}, few = {0};
    pb_number(&one, 5, 1);
    pb_message(&few, 17, &one);
    pb_message(&p, 17, &few);
    pb_number(&p, 5, 7);
    pb_number(&two, 11, 2);
    few.size = 0;
    pb_message(&few, 17, &two);
    pb_number(&few, 19, 3);
    pb_message(&p, 17, &few);
    pb_part(&p, 17, "", 0);
    assert_string_equal(decoded_text(&p), "{\"int32\":7,\"self\":{\"self\":{\"int32\":1,\"uint32\":2," LISTS
                                          "},\"floats\":[],\"ints\":[3],\"few\":[],\"map\":{}}," LISTS "}");
}

static void of_a_oneof_the_last_member_counts(void **state) {
    (void)state;
    struct pb m = named("M"), file = {0}, set = {0}, p = {0}, in = {0};
    static const enum pb_type types[] = {PB_MESSAGE, PB_STRING, PB_INT32};
    static const char *const names[] = {"in", "s", "other"};
    for (uint32_t i = 0; i < 3; i++) {
        struct pb f = named(names[i]);
        pb_number(&f, 3, i + 1);
        pb_number(&f, 5, types[i]);
        if (i == 0) {
            pb_text(&f, 6, ".M");
        }
        pb_number(&f, 9, i / 2); /* "other" is in a oneof of its own */
        pb_message(&m, 2, &f);
    }
    pb_message(&file, 4, &m);
    pb_text(&file, 12, "proto3");
    pb_message(&set, 1, &file);
    pb_number(&in, 3, 5);
    pb_message(&p, 1, &in);
    pb_number(&p, 3, 6);
    pb_text(&p, 2, "x");
    assert_string_equal(decode_by(&set, "M", &p), "{\"s\":\"x\",\"other\":6}");
    pb_part(&p, 1, "", 0); /* what came before "s" is gone */
    assert_string_equal(decode_by(&set, "M", &p), "{\"in\":{},\"other\":6}");
    pb_message(&p, 1, &in);
    assert_string_equal(decode_by(&set, "M", &p), "{\"in\":{\"other\":5},\"other\":6}");
    p.size = 0; /* in order */
    pb_message(&p, 1, &in);
    pb_text(&p, 2, "x");
    pb_number(&p, 3, 6);
    assert_string_equal(decode_by(&set, "M", &p), "{\"s\":\"x\",\"other\":6}");
}

static void extensions_have_their_full_names(void **state) {
    (void)state;
    struct pb m = named("M"), scope = named("Scope"), file = {0}, set = {0}, p = {0};
    describe(&m, "own", 1, ONE, PB_INT32, NULL);
    for (uint32_t i = 0; i < 3; i++) { /* one of them twice, as merged sets have it */
        struct pb f = named(i == 2 ? "y" : "x");
        pb_text(&f, 2, ".p.M");
        pb_number(&f, 3, i == 2 ? 101 : 100);
        pb_number(&f, 5, PB_INT32);
        pb_message(i == 2 ? &scope : &file, i == 2 ? 6 : 7, &f);
    }
    pb_text(&file, 2, "p");
    pb_message(&file, 4, &m);
    pb_message(&file, 4, &scope);
    pb_message(&set, 1, &file);
    pb_number(&p, 1, 1);
    pb_number(&p, 100, 77);
    pb_number(&p, 101, 78);
    assert_string_equal(decode_by(&set, "p.M", &p), "{\"own\":1,\"[p.x]\":77,\"[p.Scope.y]\":78}");
}

static void damage_is_reported_with_its_position(void **state) {
    (void)state;
    struct pb p = {0}, inner = {0};
    pb_number(&p, 5, 1);
    pb_raw(&p, "\x4a\x05x", 3);
    assert_string_equal(decoded_text(&p), "error 2: byte 2 of 5: no field of protobuf, or it ends early, in p.M");
    p.size = 0;
    pb_text(&p, 5, "x");
    assert_string_equal(decoded_text(&p),
                        "error 2: byte 0 of 3: the message there has another kind of value in its field int32");
    p.size = 0;
    pb_raw(&inner, "\x08", 1);
    pb_message(&p, 20, &inner);
    assert_string_equal(decoded_text(&p), "error 2: byte 3 of 4: no field of protobuf, or it ends early, in p.M.Few");
    p.size = 0;
    pb_part(&p, 18, "\x00\x00\x80\x3f\x00", 5);
    assert_string_equal(decoded_text(&p), "error 2: byte 3 of 8: a packed array ends early: floats");
    p.size = 0;
    pb_raw(&p, "\x0b\x14", 2);
    assert_memory_equal(decoded_text(&p), "error 2", 7); /* a group that ends as another */
    p.size = 0;
    pb_raw(&p, "\x00\x01", 2);
    assert_memory_equal(decoded_text(&p), "error 2", 7); /* field 0 */
}

static void depth_has_a_ceiling(void **state) {
    (void)state;
    struct pb p = {0};
    for (int i = 0; i < 126; i++) {
        struct pb outer = {0};
        pb_message(&outer, 17, &p);
        p = outer;
    }
    assert_memory_equal(decoded_text(&p), "{\"self\":{", 9);
    struct pb outer = {0};
    pb_message(&outer, 17, &p);
    assert_memory_equal(decoded_text(&outer), "error 4: messages are nested", 28);
}

/* Two bytes each, and each tells 15 defaults in proto3: what 4 KB may tell has a ceiling. */
static void a_small_payload_does_not_yield_millions_of_values(void **state) {
    (void)state;
    struct pb m = named("M"), file = {0}, set = {0}, p = {0};
    describe(&m, "m", 1, MANY, PB_MESSAGE, "M");
    for (uint32_t i = 2; i < 250; i++) {
        describe(&m, "x", i, ONE, PB_INT32, NULL);
    }
    pb_message(&file, 4, &m);
    pb_text(&file, 12, "proto3");
    pb_message(&set, 1, &file);
    while (p.size < 4000) {
        pb_part(&p, 1, "", 0);
    }
    assert_memory_equal(decode_by(&set, "M", &p), "error 4: 4000 bytes of protobuf in such disorder", 48);
}

static void definitions_that_are_damaged(void **state) {
    (void)state;
    struct pb payload = {0}, set = {0}, file = {0}, m = named("M");
    assert_string_equal(decode_by(&set, "M", &payload), "error 3: /a: protobuf without a definition is not decoded");
    pb_raw(&set, "\x0a\x7f", 2);
    assert_string_equal(decode_by(&set, "M", &payload),
                        "error 2: /a: the protobuf definition is damaged: a field does not fit");
    set.size = 0;
    describe(&m, "a", 1, ONE, PB_INT32, NULL);
    describe(&m, "b", 1, ONE, PB_INT32, NULL);
    pb_message(&file, 4, &m);
    pb_message(&set, 1, &file);
    assert_string_equal(decode_by(&set, "M", &payload),
                        "error 2: /a: the protobuf definition is damaged: two fields of one message have one number");
    set = definition(NULL);
    assert_string_equal(decode_by(&set, "p.N", &payload),
                        "error 2: /a: the protobuf definition has no message \"p.N\"");
    assert_memory_equal(decode_by(&set, ".p.M", &payload), "{", 1);
}

static void fields_of_a_message(void **state) {
    (void)state;
    struct pb set = definition(NULL);
    const struct reel_schema schema = {.name = "p.M", .encoding = "protobuf", .hash = "", .data = pb_bytes(&set)};
    const struct reel_channel channel = {
        .name = "/a", .type = "p.M", .encoding = "protobuf", .schemas = &schema, .n_schemas = 1};
    assert_string_equal(decode_fields(&channel), "double double numeric\nfloat float numeric\nint64 int64 "
                                                 "numeric\nuint64 uint64 numeric\nint32 int32 numeric\nfixed64 fixed64 "
                                                 "numeric\n"
                                                 "fixed32 fixed32 numeric\nbool bool numeric\nstring string\nbytes "
                                                 "bytes\nuint32 uint32 numeric\nsfixed32 sfixed32 numeric\n"
                                                 "sfixed64 sfixed64 numeric\nsint32 sint32 numeric\nsint64 sint64 "
                                                 "numeric\ncolour p.Colour\nself p.M\nfloats float[]\nints int32[]\n"
                                                 "few p.M.Few[]\nmap map\nstamp time\nlost message\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),
        cmocka_unit_test(absent_fields),
        cmocka_unit_test(fields_with_presence_have_no_default),
        cmocka_unit_test(repeated_fields),
        cmocka_unit_test(fields_in_any_order),
        cmocka_unit_test(maps_and_times),
        cmocka_unit_test(what_the_definition_lacks),
        cmocka_unit_test(groups_are_messages),
        cmocka_unit_test(nested_groups_have_a_ceiling),
        cmocka_unit_test(a_message_in_pieces_is_merged),
        cmocka_unit_test(of_a_oneof_the_last_member_counts),
        cmocka_unit_test(extensions_have_their_full_names),
        cmocka_unit_test(damage_is_reported_with_its_position),
        cmocka_unit_test(depth_has_a_ceiling),
        cmocka_unit_test(a_small_payload_does_not_yield_millions_of_values),
        cmocka_unit_test(definitions_that_are_damaged),
        cmocka_unit_test(fields_of_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
