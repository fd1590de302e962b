/* Cap'n Proto decoded as values: demo.cgr and its payloads were made by capnp 0.9.2 (`capnp compile -o- demo.capnp`,
 * `capnp convert json:binary demo.capnp Root`); those of several segments and hostile ones are made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "formats/capnproto/schema.h"
#include "makers/capnproto_maker.h"
#include "makers/decode_changed.h"
#include "makers/decode_text.h"

static struct reel_schema schema;
static struct reel_channel channel = {.name = "/a", .encoding = "capnproto", .schemas = &schema, .n_schemas = 1};

static void use(const struct grow *definition, const char *name) {
    schema = (struct reel_schema){.name = name, .encoding = "capnproto", .hash = "", .data = whole(definition)};
    channel.type = name;
}

static void every_type(void **state) {
    (void)state;
    struct grow definition = file("capnproto/demo.cgr"), full = file("capnproto/full.bin"),
                empty = file("capnproto/empty.bin");
    for (unsigned i = 0; i < 2; i++) {
        use(&definition, i == 0 ? "demo.capnp:Root" : "Root");
        assert_string_equal(
            decode_text(&channel, whole(&full)),
            "{\"b\":false,\"i8\":-128,\"i16\":300,\"i32\":9,\"i64\":\"-9223372036854775808\",\"u8\":255,\"u16\":65535,"
            "\"u32\":4294967295,"
            "\"u64\":\"18446744073709551615\",\"f\":0.25,\"d\":0.1,\"s\":\"hé\",\"raw\":{\"$base64\":\"AQL/"
            "\"},\"c\":\"red\","
            "\"v\":{\"x\":1,\"y\":2.5},\"names\":[\"a\",\"\",\"c\"],\"vs\":[{\"x\":1,\"y\":2},{\"x\":0,\"y\":2.5}],"
            "\"ints\":[1,-2],"
            "\"bools\":[true,false,true],\"bytes\":{\"$base64\":\"Af8=\"},\"doubles\":[0.5,-1],\"colours\":[\"blue\","
            "\"red\"],"
            "\"deep\":[[1,2],[],[-3]],"
            "\"nothing\":null,\"two\":\"t\",\"place\":{\"lat\":1.5,\"lon\":-2,\"kind\":{\"land\":7}},\"self\":{\"b\":"
            "true,\"i8\":-3,\"i16\":1,"
            "\"i32\":-5,\"i64\":0,\"u8\":3,\"u16\":0,\"u32\":0,\"u64\":7,\"f\":1.5,\"d\":0,\"c\":\"blue\",\"nothing\":"
            "null,\"three\":{\"x\":4,"
            "\"y\":\"q\"},\"place\":{\"lat\":0,\"lon\":0,\"kind\":{\"sea\":null}},\"b2\":false},\"voids\":[null,null],"
            "\"raws\":[{\"$base64\":\"AQ==\"},{\"$base64\":\"\"}],\"b2\":true,\"longs\":[1,\"18446744073709551615\"]}");
        assert_string_equal(decode_text(&channel, whole(&empty)),
                            "{\"b\":true,\"i8\":-3,\"i16\":0,\"i32\":-5,\"i64\":0,\"u8\":3,\"u16\":0,\"u32\":0,\"u64\":"
                            "7,\"f\":1.5,\"d\":0,"
                            "\"c\":\"blue\",\"nothing\":null,\"one\":0,\"place\":{\"lat\":0,\"lon\":0,\"kind\":{"
                            "\"sea\":null}},\"b2\":false}");
    }
    grow_done(&definition);
    grow_done(&full);
    grow_done(&empty);
}

static void fields_of_a_struct(void **state) {
    (void)state;
    struct grow definition = file("capnproto/demo.cgr");
    use(&definition, "demo.capnp:Root");
    assert_string_equal(decode_fields(&channel),
                        "b bool numeric\ni8 int8 numeric\ni16 int16 numeric\ni32 int32 numeric\ni64 int64 numeric\nu8 "
                        "uint8 numeric\nu16 uint16 numeric\n"
                        "u32 uint32 numeric\nu64 uint64 numeric\nf float32 numeric\nd float64 numeric\ns string\nraw "
                        "bytes\nc Colour\nv.x float32 numeric\n"
                        "v.y float64 numeric\nnames string[]\nvs Vec[]\nints int32[]\nbools bool[]\nbytes "
                        "uint8[]\ndoubles float64[]\ncolours Colour[]\n"
                        "deep int16[][]\nnothing void\none int32 numeric\ntwo string\nthree.x int32 numeric\nthree.y "
                        "string\nnone void\nplace.lat float64 numeric\n"
                        "place.lon float64 numeric\nplace.kind.sea void\nplace.kind.land uint8 numeric\nself "
                        "Root\nvoids void[]\nraws bytes[]\nb2 bool numeric\n"
                        "longs uint64[]\n");
    use(&definition, "Outer.Inner");
    assert_string_equal(decode_fields(&channel), "n int32 numeric\n");
    grow_done(&definition);
}

static void no_byte_does_harm(void **state) {
    (void)state;
    struct grow definition = file("capnproto/demo.cgr"), full = file("capnproto/full.bin");
    use(&definition, "demo.capnp:Root");
    decode_changed(&channel, &definition, &full);
    grow_done(&definition);
    grow_done(&full);
}

/* T: a Int32, t T, l List(T), ints List(Int32), texts List(Text). */
static struct grow recursive(void) {
    struct grow g = {0};
    size_t fields = cpm_node(&g, cpm_request(&g, 1), 7, "x.capnp:T", 5);
    cpm_field(&g, fields, "a", 0, 4, 0, 0);
    cpm_field(&g, fields + CPM_FIELD, "t", 0, 16, 0, 7);
    cpm_field(&g, fields + 2 * CPM_FIELD, "l", 1, 16, 1, 7);
    cpm_field(&g, fields + 3 * CPM_FIELD, "ints", 2, 4, 1, 0);
    cpm_field(&g, fields + 4 * CPM_FIELD, "texts", 3, 12, 1, 0);
    cpm_end(&g);
    return g;
}

/* Words of two segments, as they are in a file. */
static const char *two_segments(const uint64_t *first, size_t n_first, const uint64_t *second, size_t n_second) {
    struct grow p = {0};
    grow_u32(&p, 1);
    grow_u32(&p, (uint32_t)n_first);
    grow_u32(&p, (uint32_t)n_second);
    grow_u32(&p, 0);
    for (size_t i = 0; i < n_first + n_second; i++) {
        grow_u64(&p, i < n_first ? first[i] : second[i - n_first]);
    }
    const char *text = decode_text(&channel, whole(&p));
    grow_done(&p);
    return text;
}
#define FAR(segment, word) (UINT64_C(2) | (uint64_t)(word) << 3 | (uint64_t)(segment) << 32)
#define DOUBLE_FAR(segment, word) (FAR(segment, word) | 4)
#define T(words) ((uint64_t)(uint32_t)((words)*4) | UINT64_C(1) << 32) /* a struct of one word, so many words on */

static void pointers_into_other_segments(void **state) {
    (void)state;
    struct grow definition = recursive();
    use(&definition, "T");
    assert_string_equal(two_segments((uint64_t[]){FAR(1, 1)}, 1, (uint64_t[]){5, T(-2)}, 2), "{\"a\":5}");
    assert_string_equal(two_segments((uint64_t[]){DOUBLE_FAR(1, 0), 0, 6}, 3, (uint64_t[]){FAR(0, 2), T(0)}, 2),
                        "{\"a\":6}");
    static const uint64_t bad[][2] = {
        {FAR(1, 2), 0}, {FAR(2, 0), 0}, {FAR(1, 0), FAR(1, 1)}, {DOUBLE_FAR(1, 0), T(0)}, {DOUBLE_FAR(1, 1), FAR(0, 0)},
        {T(1), 0},      {T(-2), 0},     {FAR(1, 0), T(1)}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_memory_equal(two_segments(&bad[i][0], 1, (uint64_t[]){bad[i][1], 0}, 2), "error 2", 7);
    }
    grow_done(&definition);
}

/* Structs and lists that are older or newer than the schema. */
static void other_versions(void **state) {
    (void)state;
    struct grow definition = recursive(), p = {0};
    use(&definition, "x.capnp:T");
    cpm_begin(&p);
    size_t root = cpm_struct(&p, 1, 2, 5);
    cpm_set(&p, root * 8, 9, 4);
    size_t at = cpm_structs(&p, root + 2 + 2, 2, 1, 1); /* ints, which became structs */
    cpm_set(&p, at * 8, 3, 4);
    cpm_set(&p, (at + 2) * 8, 4, 4);
    at = cpm_list(&p, root + 2 + 1, 4, 2, 1); /* structs, which were numbers */
    cpm_set(&p, at * 8, 5, 4);
    cpm_set(&p, at * 8 + 4, 6, 4);
    at = cpm_structs(&p, root + 2 + 3, 1, 0, 1); /* texts, which became structs */
    cpm_text(&p, at, "x");
    cpm_end(&p);
    assert_string_equal(decode_text(&channel, whole(&p)),
                        "{\"a\":9,\"l\":[{\"a\":5},{\"a\":6}],\"ints\":[3,4],\"texts\":[\"x\"]}");
    p.size = 0;
    cpm_begin(&p);
    root = cpm_struct(&p, 1, 0, 1); /* no data, fewer pointers */
    cpm_text(&p, root, "x");        /* and another kind of thing than the schema says */
    cpm_end(&p);
    assert_string_equal(decode_text(&channel, whole(&p)), "{\"a\":0,\"t\":{\"a\":0}}");
    grow_done(&definition);
    grow_done(&p);
}

static void few_bytes_have_few_values(void **state) {
    (void)state;
    struct grow definition = recursive(), p = {0};
    use(&definition, "T");
    cpm_begin(&p); /* 2^29 - 1 structs without a byte */
    size_t root = cpm_struct(&p, 1, 0, 4), at = cpm_list(&p, root + 1, 7, 0, 1);
    cpm_set(&p, at * 8, UINT64_C(0x1fffffff) << 2, 8);
    cpm_end(&p);
    assert_memory_equal(decode_text(&channel, whole(&p)), "error 4: more than 4096 elements", 32);
    p.size = 0; /* each of 8 lists of 64 elements is every element of the one before: 64^8 */
    cpm_begin(&p);
    at = cpm_structs(&p, cpm_struct(&p, 1, 0, 4) + 1, 1, 0, 4);
    for (int level = 0; level < 8; level++) {
        size_t next = cpm_structs(&p, at + 1, 64, 0, 4);
        for (size_t i = 1; i < 64 && level > 0; i++) {
            cpm_set(&p, (at + 4 * i + 1) * 8,
                    (cpm_offset(at + 4 * i + 1, next - 1) | 1) | UINT64_C(7) << 32 | UINT64_C(256) << 35, 8);
        }
        at = next;
    }
    cpm_end(&p);
    assert_memory_equal(decode_text(&channel, whole(&p)), "error 4: ", 9);
    grow_done(&definition);
    grow_done(&p);
}

static void a_struct_in_itself_has_a_ceiling(void **state) {
    (void)state;
    struct grow definition = recursive(), p = {0};
    use(&definition, "T");
    cpm_begin(&p);
    size_t root = cpm_struct(&p, 1, 0, 4);
    cpm_set(&p, root * 8, cpm_offset(root, root) | UINT64_C(4) << 48, 8); /* t is the root */
    cpm_end(&p);
    assert_memory_equal(decode_text(&channel, whole(&p)), "error 4: structs are nested", 27);
    grow_done(&definition);
    grow_done(&p);
}

static void refusals_have_words(void **state) {
    (void)state;
    struct grow definition = file("capnproto/demo.cgr"), nothing = {0};
    use(&definition, "None");
    assert_string_equal(decode_text(&channel, bytes_of("", 0)),
                        "error 2: /a: the Cap'n Proto schema has no struct \"None\"");
    use(&definition, "demo.capnp:Root");
    assert_string_equal(
        decode_text(&channel, bytes_of("", 0)),
        "error 2: byte 0 of 0: a Cap'n Proto message ends early, or refers to bytes that are not there");
    use(&nothing, "Root");
    assert_string_equal(decode_text(&channel, bytes_of("", 0)),
                        "error 3: /a: Cap'n Proto without a schema is not decoded");
    definition.size = 20;
    use(&definition, "Root");
    assert_memory_equal(decode_text(&channel, bytes_of("", 0)), "error 2: /a: the Cap'n Proto schema is damaged", 46);
    grow_done(&definition);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),
        cmocka_unit_test(fields_of_a_struct),
        cmocka_unit_test(no_byte_does_harm),
        cmocka_unit_test(pointers_into_other_segments),
        cmocka_unit_test(other_versions),
        cmocka_unit_test(few_bytes_have_few_values),
        cmocka_unit_test(a_struct_in_itself_has_a_ceiling),
        cmocka_unit_test(refusals_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
