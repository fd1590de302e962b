/* FlatBuffers decoded as values: demo.fbs and its payloads were made by flatc 2.0.8 (`flatc -b --schema demo.fbs`,
 * `flatc -b demo.fbs full.json`); hostile ones are made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "formats/flatbuffer/schema.h"
#include "makers/decode_changed.h"
#include "makers/decode_text.h"
#include "makers/flatbuffer_maker.h"

static struct reel_schema schema;
static struct reel_channel channel = {.name = "/a", .encoding = "flatbuffer", .schemas = &schema, .n_schemas = 1};

static void use(const struct grow *definition, const char *name) {
    schema = (struct reel_schema){.name = name, .encoding = "flatbuffer", .hash = "", .data = whole(definition)};
    channel.type = name;
}

#define STRUCT(c) "{\"x\":1,\"y\":2,\"z\":[1,2,-3],\"c\":\"" c "\"}"

static void every_type(void **state) {
    (void)state;
    struct grow definition = file("flatbuffer/demo.bfbs"), full = file("flatbuffer/full.bin"),
                empty = file("flatbuffer/empty.bin");
    for (unsigned i = 0; i < 2; i++) {
        use(&definition, i == 0 ? "demo.Root" : ""); /* without a name: the schema's own root */
        assert_string_equal(
            decode_text(&channel, whole(&full)),
            "{\"b\":true,\"i8\":-3,\"u8\":3,\"i16\":0,\"u16\":65535,\"i32\":9,\"u32\":0,\"i64\":\"-"
            "9223372036854775808\","
            "\"u64\":\"18446744073709551615\",\"f\":1.5,\"d\":0.1,\"s\":\"hé\",\"c\":\"Blue\",\"cs\":[\"Red\",\"Blue\"]"
            ",\"bits\":5,"
            "\"v\":" STRUCT("Green") ",\"two\":{\"a\":" STRUCT(
                "Blue") ",\"t\":[{\"sec\":1,\"nsec\":2},{\"sec\":3,\"nsec\":4}]},"
                        "\"t\":{\"sec\":1700000000,\"nsec\":5},\"took\":{\"sec\":-1,\"nsec\":500},\"small\":{\"name\":"
                        "\"x\",\"n\":7},"
                        "\"smalls\":[{\"n\":1},{\"n\":7}],\"names\":[\"a\",\"\",\"c\"],\"vs\":[" STRUCT(
                            "Green") "],\"bytes\":{\"$base64\":\"AQL/\"},"
                                     "\"ints\":[1,-2],\"bools\":[true,false],\"doubles\":[],\"times\":[{\"sec\":1,"
                                     "\"nsec\":2}],\"maybe\":0,"
                                     "\"shape_type\":\"Small\",\"shape\":{\"name\":\"u\",\"n\":7},\"shapes_type\":["
                                     "\"Other\",\"S\",\"V\"],"
                                     "\"shapes\":[{\"x\":1},\"str\"," STRUCT(
                                         "Green") "],\"self\":{\"b\":false,\"i8\":0,\"u8\":3,\"i16\":0,\"u16\":0,"
                                                  "\"i32\":-5,\"u32\":0,\"i64\":0,\"u64\":0,\"f\":1.5,\"d\":0,\"s\":"
                                                  "\"in\",\"c\":\"Blue\",\"bits\":0},\"i8s\":[-1,2]}");
        assert_string_equal(
            decode_text(&channel, whole(&empty)),
            "{\"b\":false,\"i8\":0,\"u8\":3,\"i16\":0,\"u16\":0,\"i32\":-5,\"u32\":0,\"i64\":0,\"u64\":0,\"f\":1.5,"
            "\"d\":0,\"c\":\"Blue\",\"bits\":0}");
    }
    grow_done(&definition);
    grow_done(&full);
    grow_done(&empty);
}

static void fields_of_a_table(void **state) {
    (void)state;
    struct grow definition = file("flatbuffer/demo.bfbs");
    use(&definition, "demo.Root");
    assert_string_equal(
        decode_fields(&channel),
        "b bool numeric\ni8 byte numeric\nu8 ubyte numeric\ni16 short numeric\nu16 ushort numeric\ni32 int "
        "numeric\nu32 uint numeric\n"
        "i64 long numeric\nu64 ulong numeric\nf float numeric\nd double numeric\ns string\nc demo.Colour\ncs "
        "demo.Colour[]\n"
        "bits demo.Bits\nv.x float numeric\nv.y double numeric\nv.z short[]\nv.c demo.Colour\ntwo.a.x float numeric\n"
        "two.a.y double numeric\ntwo.a.z short[]\ntwo.a.c demo.Colour\ntwo.t time[]\nt time\ntook duration\nsmall.name "
        "string\n"
        "small.n int numeric\nsmalls demo.Small[]\nnames string[]\nvs demo.Vec[]\nbytes ubyte[]\nints int[]\nbools "
        "bool[]\n"
        "doubles double[]\ntimes time[]\nmaybe int numeric\nshape_type demo.Shape\nshape demo.Shape\nshapes_type "
        "demo.Shape[]\n"
        "shapes demo.Shape[]\nself demo.Root\nold int numeric\ni8s byte[]\n");
    use(&definition, "demo.Small");
    assert_string_equal(decode_fields(&channel), "name string\nn int numeric\n");
    grow_done(&definition);
}

static void no_byte_does_harm(void **state) {
    (void)state;
    struct grow definition = file("flatbuffer/demo.bfbs"), full = file("flatbuffer/full.bin");
    use(&definition, "demo.Root");
    decode_changed(&channel, &definition, &full);
    grow_done(&definition);
    grow_done(&full);
}

/* 60 tables, each of which refers to the next twice: 2^60 values in 1 kB. */
static void shared_parts_have_a_ceiling(void **state) {
    (void)state;
    static const struct fbm_member twice[] = {{"a", FB_OBJECT, 0, 4, 0}, {"b", FB_OBJECT, 0, 6, 0}};
    static const uint8_t both[] = {4, 4};
    struct grow definition = {0}, p = {0};
    fbm_object(&definition, "T", twice, 2, 0, fbm_schema(&definition, 1));
    size_t fields[2] = {0, 0};
    fbm_zeros(&p, 4);
    for (int i = 0; i < 60; i++) {
        size_t reference[2] = {fields[0], fields[1]};
        size_t at = fbm_table(&p, both, 2, fields, reference[0]);
        if (i > 0) {
            fbm_set(&p, reference[1], at - reference[1], 4);
        }
    }
    fbm_table(&p, both, 0, fields, fields[0]);
    fbm_set(&p, fields[1], fbm_table(&p, both, 0, fields, fields[1]) - fields[1], 4);
    use(&definition, "T");
    assert_memory_equal(decode_text(&channel, whole(&p)), "error 4: ", 9);
    grow_done(&definition);
    grow_done(&p);
}

/* A table that refers to itself cannot: references lead forward only; but a chain may be longer than what is decoded.
 */
static void depth_has_a_ceiling(void **state) {
    (void)state;
    static const struct fbm_member next[] = {{"a", FB_OBJECT, 0, 4, 0}};
    static const uint8_t one_field[] = {4};
    struct grow definition = {0};
    fbm_object(&definition, "T", next, 1, 0, fbm_schema(&definition, 1));
    use(&definition, "T");
    for (int depth = 128; depth <= 129; depth++) {
        struct grow p = {0};
        size_t field = 0;
        fbm_zeros(&p, 4);
        for (int i = 1; i < depth; i++) {
            fbm_table(&p, one_field, 1, &field, field);
        }
        fbm_table(&p, one_field, 0, &field, field);
        assert_memory_equal(decode_text(&channel, whole(&p)), depth == 128 ? "{\"a\":{" : "error 4", 6);
        grow_done(&p);
    }
    grow_done(&definition);
}

static void structs_that_do_not_fit(void **state) {
    (void)state;
    static const struct fbm_member good[] = {{"a", FB_INT, 0, 4, -1}}, outside[] = {{"a", FB_INT, 0, 5, -1}},
                                   text_in_it[] = {{"a", FB_STRING, 0, 0, -1}},
                                   itself[] = {{"a", FB_OBJECT, 0, 0, 0}, {"b", FB_OBJECT, 0, 0, 0}},
                                   holds[] = {{"s", FB_OBJECT, 0, 4, 0}};
    const struct {
        const struct fbm_member *members;
        unsigned n;
        const char *result;
    } cases[] = {
        {good, 1, "{}"},
        {outside, 1, "error 2: /a: S: the FlatBuffers schema is damaged: a field does not fit into its struct"},
        {text_in_it, 1, "error 2: /a: S: the FlatBuffers schema is damaged: a field does not fit into its struct"},
        {itself, 2, "{}"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct grow definition = {0}, p = {0};
        size_t objects = fbm_schema(&definition, 2);
        fbm_object(&definition, "S", cases[i].members, cases[i].n, 8, objects);
        fbm_object(&definition, "T", holds, 1, 0, objects + 4);
        use(&definition, "T");
        size_t fields[1];
        fbm_zeros(&p, 4);
        fbm_table(&p, (const uint8_t[]){0}, 1, fields, 0);
        assert_string_equal(decode_text(&channel, whole(&p)), cases[i].result);
        p.size = 4;
        fbm_table(&p, (const uint8_t[]){8}, 1, fields, 0);
        assert_memory_equal(decode_text(&channel, whole(&p)), i == 0 ? "{\"s\":{\"a\":0}}" : "error ", 6);
        grow_done(&definition);
        grow_done(&p);
    }
}

/* A struct of that name with other parts is one like any; here one of 5 bytes, at the end of the payload. */
static void times_have_whole_seconds(void **state) {
    (void)state;
    static const struct fbm_member byte[] = {{"a", FB_UBYTE, 0, 0, -1}},
                                   parts[] = {{"sec", FB_OBJECT, 0, 4, 0}, {"nsec", FB_UINT, 0, 0, -1}},
                                   holds[] = {{"t", FB_OBJECT, 0, 4, 1}};
    struct grow definition = {0}, p = {0};
    size_t objects = fbm_schema(&definition, 3), fields[1];
    fbm_object(&definition, "S", byte, 1, 1, objects);
    fbm_object(&definition, "Time", parts, 2, 5, objects + 4);
    fbm_object(&definition, "T", holds, 1, 0, objects + 8);
    use(&definition, "T");
    fbm_zeros(&p, 4);
    fbm_table(&p, (const uint8_t[]){5}, 1, fields, 0);
    assert_int_equal(fields[0] + 5, p.size);
    assert_string_equal(decode_text(&channel, whole(&p)), "{\"t\":{\"sec\":{\"a\":0},\"nsec\":0}}");
    grow_done(&definition);
    grow_done(&p);
}

static void refusals_have_words(void **state) {
    (void)state;
    struct grow definition = file("flatbuffer/demo.bfbs"), nothing = {0};
    use(&definition, "demo.None");
    assert_string_equal(decode_text(&channel, bytes_of("", 0)),
                        "error 2: /a: the FlatBuffers schema has no table \"demo.None\"");
    use(&definition, "demo.Vec"); /* a struct */
    assert_memory_equal(decode_text(&channel, bytes_of("", 0)), "error 2: /a: the FlatBuffers schema has no table", 48);
    use(&definition, "demo.Root");
    assert_string_equal(decode_text(&channel, bytes_of("", 0)),
                        "error 2: byte 0 of 0: a FlatBuffer ends early, or refers to bytes that are not there");
    use(&nothing, "demo.Root");
    assert_string_equal(decode_text(&channel, bytes_of("", 0)),
                        "error 3: /a: FlatBuffers without a schema are not decoded");
    grow_done(&definition);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),
        cmocka_unit_test(fields_of_a_table),
        cmocka_unit_test(no_byte_does_harm),
        cmocka_unit_test(shared_parts_have_a_ceiling),
        cmocka_unit_test(depth_has_a_ceiling),
        cmocka_unit_test(structs_that_do_not_fit),
        cmocka_unit_test(times_have_whole_seconds),
        cmocka_unit_test(refusals_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
