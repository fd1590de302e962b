/* CDR in its versions: heads, sizes before objects, parameters in any order, and what writers do differently. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "makers/decode_text.h"
#include "makers/hex.h"

static struct reel_schema schema;
static const char *decoded_as(const char *type, const char *encoding, const char *definition,
                              struct reel_bytes payload) {
    schema = (struct reel_schema){.name = type, .encoding = encoding, .hash = "", .data = bytes_text(definition)};
    const struct reel_channel c = {.name = "/a", .type = type, .encoding = "cdr", .schemas = &schema, .n_schemas = 1};
    return decode_text(&c, payload);
}
static const char *decoded(const char *definition, const char *payload) {
    return decoded_as("T", "omgidl", definition, hex(payload));
}
static const char *decoded_ros(const char *definition, const char *payload) {
    return decoded_as("p/msg/T", "ros2msg", definition, hex(payload));
}

/* ---- heads */

static void both_versions_and_orders(void **state) {
    (void)state;
    static const char text[] = "uint8 a\nfloat64 b\nstring s\nint64[] v\nint16 n\n";
    static const char same[] = "{\"a\":1,\"b\":2.5,\"s\":\"hi\",\"v\":[5,-6],\"n\":-2}";
    static const char *const payloads[] = {
        "00010000 01 00000000000000 0000000000000440 03000000 'hi' 00 00 02000000 00000000 0500000000000000 "
        "faffffffffffffff feff",
        "00000000 01 00000000000000 4004000000000000 00000003 'hi' 00 00 00000002 00000000 0000000000000005 "
        "fffffffffffffffa fffe",
        "00070000 01 000000 0000000000000440 03000000 'hi' 00 00 02000000 0500000000000000 faffffffffffffff feff",
        "00060000 01 000000 4004000000000000 00000003 'hi' 00 00 00000002 0000000000000005 fffffffffffffffa fffe",
        "00110000 01 000000 0000000000000440 03000000 'hi' 00 00 02000000 0500000000000000 faffffffffffffff feff",
        "00100002 01 000000 4004000000000000 00000003 'hi' 00 00 00000002 0000000000000005 fffffffffffffffa fffe 0000",
        "00090000 2a000000 01 000000 0000000000000440 03000000 'hi' 00 00 02000000 0500000000000000 faffffffffffffff "
        "feff",
        "00080000 0000002a 01 000000 4004000000000000 00000003 'hi' 00 00 00000002 0000000000000005 fffffffffffffffa "
        "fffe",
        "00150000 2e000000 01 000000 0000000000000440 03000000 'hi' 00 00 02000000 0500000000000000 faffffffffffffff "
        "feff 01020304", /* a member that this definition has not */
        "000b0000 42000000 00000000 01 000000 01000030 0000000000000440 02000040 07000000 03000000 'hi' 00 00 03000070 "
        "02000000 0500000000000000 faffffffffffffff 04000010 feff",
        "000a0000 00000042 00000000 01 000000 30000001 4004000000000000 40000002 00000007 00000003 'hi' 00 00 70000003 "
        "00000002 0000000000000005 fffffffffffffffa 10000004 fffe",
        "00030000 0000 0100 01 000000 0100 0800 0000000000000440 0200 0800 03000000 'hi' 00 00 0300 1800 02000000 "
        "00000000 0500000000000000 faffffffffffffff 0400 0200 feff 0000 023f 0000",
        "00020000 0000 0001 01 000000 0001 0008 4004000000000000 0002 0008 00000003 'hi' 00 00 0003 0018 00000002 "
        "00000000 0000000000000005 fffffffffffffffa 0004 0002 fffe 0000 3f02 0000"};
    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        assert_string_equal(decoded_ros(text, payloads[i]), same);
    }
}

/* ---- objects of known size */

static void sizes_before_objects(void **state) {
    (void)state;
    static const char text[] =
        "@final struct F { octet x; }; @appendable struct A { octet x; }; @mutable struct M { @id(7) octet x; }; enum "
        "E "
        "{ ONE, TWO }; @final struct T { F f; A a; M m; sequence<F> fs; F two[2]; sequence<string> s; sequence<E> e; "
        "sequence<long> n; string g[1][2]; A last; };";
    assert_string_equal(
        decoded(text, "00070000 01 000000 03000000 02 0505 00 05000000 07000000 03 000000 05000000 01000000 04 000000 "
                      "02000000 05 06 0000 0a000000 01000000 02000000 'a' 00 0000 08000000 01000000 01000000 01000000 "
                      "08000000 0d000000 02000000 'b' 00 0000 01000000 00 000000 01000000 08"),
        "{\"f\":{\"x\":1},\"a\":{\"x\":2},\"m\":{\"x\":3},\"fs\":[{\"x\":4}],\"two\":[{\"x\":5},{\"x\":6}],\"s\":["
        "\"a\"],"
        "\"e\":[1],\"n\":[8],\"g\":[[\"b\",\"\"]],\"last\":{\"x\":8}}");
    assert_string_equal(decoded("struct T { string s; };", "00090000 08000000 05000000 'abc' 00"),
                        "error 2: byte 12 of 16: s needs 5 bytes, 4 are left");
    assert_string_equal(decoded("struct T { octet a; };", "00090000 02000000 05"),
                        "error 2: byte 8 of 9: the message needs 2 bytes, 1 are left");
    assert_string_equal(decoded("struct T { octet a; };", "00090000 00000000 05"),
                        "error 2: byte 8 of 9: a needs 1 bytes, 0 are left");
    assert_string_equal(decoded("struct T { octet a; };", "00090000 01000000 0506"),
                        "error 2: byte 9 of 10: 1 bytes too many");
}

/* What is not annotated is decided by the compiler of the IDL; and RTI and Fast DDS leave some sizes out. */
static void what_writers_do_differently(void **state) {
    (void)state;
    static const char nested[] = "struct In { octet x; }; enum E { ONE, TWO }; @final struct T { In i; sequence<E> e; "
                                 "sequence<In> s; octet n; };";
    static const char same[] = "{\"i\":{\"x\":1},\"e\":[1,0],\"s\":[{\"x\":2}],\"n\":3}";
    static const char *const payloads[] = {
        /* nested types appendable, as by the specification */
        "00070000 01000000 01 000000 0c000000 02000000 01000000 00000000 09000000 01000000 01000000 02 03",
        /* without a size before enums */
        "00070000 01000000 01 000000 02000000 01000000 00000000 09000000 01000000 01000000 02 03",
        /* without any before lists */
        "00070000 01000000 01 000000 02000000 01000000 00000000 01000000 01000000 02 03",
        /* nested types final */
        "00070000 01 000000 0c000000 02000000 01000000 00000000 05000000 01000000 02 03",
        "00070000 01 000000 02000000 01000000 00000000 05000000 01000000 02 03",
        "00070000 01 000000 02000000 01000000 00000000 01000000 02 03"};
    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        assert_string_equal(decoded(nested, payloads[i]), same);
    }
    /* the payload's type decides for the others if it is not annotated either */
    static const char alike[] = "struct In { octet x; }; struct T { In i; };";
    assert_string_equal(decoded(alike, "00070000 01"), "{\"i\":{\"x\":1}}");
    assert_string_equal(decoded(alike, "00090000 05000000 01000000 01"), "{\"i\":{\"x\":1}}");
    assert_string_equal(decoded(alike, "00090000 01000000 01"), "{\"i\":{\"x\":1}}");
    assert_string_equal(decoded(alike, "000b0000 11000000 00000040 09000000 05000000 00000000 01"),
                        "{\"i\":{\"x\":1}}");
    assert_string_equal(decoded(alike, "000b0000 05000000 00000000 01"), "{\"i\":{\"x\":1}}");
    /* Foxglove's writer heeds no annotation */
    static const char ignored[] = "@mutable struct In { @id(5) octet x; }; @appendable struct T { In i; };";
    assert_string_equal(decoded(ignored, "00070000 01"), "{\"i\":{\"x\":1}}");
    assert_string_equal(decoded(ignored, "00010000 01"), "{\"i\":{\"x\":1}}");
    assert_string_equal(decoded(ignored, "00010000 0500 0100 01 000000 023f 0000"), "{\"i\":{\"x\":1}}");
    /* of none that fits the first says why */
    assert_string_equal(decoded(nested, "00070000 01000000"), "error 2: byte 8 of 8: i needs 1 bytes, 0 are left");
}

static void stamps_are_structs_too(void **state) {
    (void)state;
    static const char text[] = "builtin_interfaces/Time t\nbuiltin_interfaces/Duration[] d\n";
    static const char same[] = "{\"t\":{\"sec\":1,\"nanosec\":2},\"d\":[{\"sec\":-1,\"nanosec\":4}]}";
    assert_string_equal(decoded_ros(text, "00010000 01000000 02000000 01000000 ffffffff 04000000"), same);
    assert_string_equal(decoded_ros(text, "00070000 01000000 02000000 0c000000 01000000 ffffffff 04000000"), same);
    assert_string_equal(decoded_ros(text, "00090000 20000000 08000000 01000000 02000000 10000000 01000000 08000000 "
                                          "ffffffff 04000000"),
                        same);
    assert_string_equal(decoded_ros("builtin_interfaces/Time t\n", "000b0000 1c000000 00000040 14000000 10000000 "
                                                                   "01000020 02000000 00000020 01000000"),
                        "{\"t\":{\"sec\":1,\"nanosec\":2}}");
}

/* ---- parameters */

static void parameters_in_any_order(void **state) {
    (void)state;
    static const char text[] =
        "@mutable struct T { @id(10) octet a; long b; @id(2) @optional string c; @hashid octet d; "
        "@id(300) double e; };";
    /* the id of d is the beginning of the MD5 sum of its name: 8277e091… */
    /* c is left out, 99 is unknown */
    assert_string_equal(decoded(text,
                                "000b0000 29000000 8277e001 04 000000 2c010030 000000000000f03f 0b000020 07000000 "
                                "63000000 07 000000 0a000000 01"),
                        "{\"d\":4,\"e\":1,\"b\":7,\"a\":1}");
    assert_string_equal(decoded(text, "000b0000 00000000"), "{}");
    assert_string_equal(decoded(text, "000b0000 11000000 0a000000 01 000000 0a000000 02 000000 00"),
                        "error 2: byte 20 of 25: a occurs twice");
    /* the same in XCDR1, with a long parameter, one to be ignored, and a size with its padding */
    assert_string_equal(decoded(text, "00030000 0a40 0400 01 000000 033f 0400 ffffffff 013f 0800 2c010000 08000000 "
                                      "000000000000f03f 0200 0600 02000000 'x' 00 0000 023f 0000"),
                        "{\"a\":1,\"e\":1,\"c\":\"x\"}");
    assert_string_equal(decoded(text, "00030000 0a00 0100 01"),
                        "error 2: byte 9 of 9: the message needs 3 bytes, 0 are left");
    assert_string_equal(decoded(text, "00030000 0a00 ff00 01"),
                        "error 2: byte 8 of 9: the message needs 255 bytes, 1 are left");
    assert_string_equal(decoded(text, "00030000 0200 0000 0a00 0100 01 000000 023f 0000"), "{\"a\":1}"); /* c without
                                                                                                         bytes */
}

static void sizes_that_are_values_too(void **state) {
    (void)state;
    static const char text[] =
        "@mutable struct T { string s; sequence<long> l; sequence<double> d; sequence<short> h; };";
    assert_string_equal(decoded(text,
                                "000b0000 3c000000 00000050 03000000 'hi' 00 00 01000060 01000000 05000000 02000070 "
                                "01000000 000000000000f03f 03000040 06000000 01000000 0700 0000"),
                        "error 2: byte 8 of 64: the message needs 60 bytes, 56 are left");
    assert_string_equal(decoded(text,
                                "000b0000 38000000 00000050 03000000 'hi' 00 00 01000060 01000000 05000000 02000070 "
                                "01000000 000000000000f03f 03000040 06000000 01000000 0700 0000"),
                        "{\"s\":\"hi\",\"l\":[5],\"d\":[1],\"h\":[7]}");
}

static void mutable_unions(void **state) {
    (void)state;
    static const char text[] =
        "@mutable union U switch (octet) { case 1: @id(4) long l; default: string s; }; @mutable "
        "struct T { U u; };";
    assert_string_equal(
        decoded(text, "000b0000 1c000000 00000040 14000000 10000000 00000000 01 000000 04000020 07000000"),
        "{\"u\":{\"l\":7}}");
    assert_string_equal(decoded(text, "00030000 0000 1400 0000 0100 01 000000 0400 0400 07000000 023f 0000 023f 0000"),
                        "{\"u\":{\"l\":7}}");
    assert_string_equal(decoded(text, "00030000 0000 0400 023f 0000 023f 0000"),
                        "error 2: byte 12 of 16: discriminator is missing");
}

static void hashed_ids(void **state) {
    (void)state;
    /* of "color" 0x0fa5dd70, which is the specification's own example */
    assert_string_equal(decoded("@autoid(HASH) @mutable struct T { octet color; @hashid(\"color2\") octet y; };",
                                "000b0000 05000000 70dda50f 09"),
                        "{\"color\":9}");
}

/* A type of more members than can be told apart is refused for parameters alone. */
static void many_members(void **state) {
    (void)state;
    static char text[65536], out[128];
    size_t size = (size_t)sprintf(text, "struct T {");
    for (unsigned i = 0; i <= REEL_MUTABLE_MEMBERS_MAX; i++) {
        size += (size_t)sprintf(text + size, "octet m%u;", i);
    }
    sprintf(text + size, "};");
    snprintf(out, sizeof out, "error 4: T has more than %d members", REEL_MUTABLE_MEMBERS_MAX);
    assert_string_equal(decoded(text, "000b0000 00000000"), out);
    static uint8_t payload[4 + REEL_MUTABLE_MEMBERS_MAX + 1] = {0, 7};
    assert_int_equal(strncmp(decoded_as("T", "omgidl", text, bytes_of(payload, sizeof payload)), "{\"m0\":0,", 8), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_versions_and_orders),
        cmocka_unit_test(sizes_before_objects),
        cmocka_unit_test(what_writers_do_differently),
        cmocka_unit_test(stamps_are_structs_too),
        cmocka_unit_test(parameters_in_any_order),
        cmocka_unit_test(sizes_that_are_values_too),
        cmocka_unit_test(mutable_unions),
        cmocka_unit_test(hashed_ids),
        cmocka_unit_test(many_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
