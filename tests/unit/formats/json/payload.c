/* JSON payloads decoded as values, and the fields of JSON Schemas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "makers/decode_sample.h"
#include "makers/real_samples.h"

static const struct reel_channel plain = {.name = "/a", .type = "x", .encoding = "json"};

static void assert_decodes(const char *json, const char *decoded) {
    assert_string_equal(decode_text(&plain, bytes_text(json)), decoded);
}

/* "[" head, `zeros` zeros, tail "]". */
static void assert_decodes_of_zeros(const char *head, int zeros, const char *tail, const char *decoded) {
    char json[512], wanted[64];
    snprintf(json, sizeof json, "[%s%0*d%s]", head, zeros, 0, tail);
    snprintf(wanted, sizeof wanted, "[%s]", decoded);
    assert_decodes(json, wanted);
}

static void values_of_every_kind(void **state) {
    (void)state;
    assert_decodes(" { \"a\" : [ 1 , -2.5e1,true,false , null ] , \"b\":{} ,\"c\":[],\"\":\"x\"}\r\n\t ",
                   "{\"a\":[1,-25,true,false,null],\"b\":{},\"c\":[],\"\":\"x\"}");
    assert_decodes("[[],[{}],{\"a\":[[1]]}]", "[[],[{}],{\"a\":[[1]]}]");
    assert_decodes("7", "7");
    assert_decodes("\"\"", "\"\"");
    assert_decodes("\xEF\xBB\xBF[1]", "[1]");
    assert_decodes("[NaN,Infinity,-Infinity]", "[\"NaN\",\"Infinity\",\"-Infinity\"]");
    assert_decodes("{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}");
}

static void integers_are_exact_and_the_rest_is_double(void **state) {
    (void)state;
    assert_decodes(
        "[9223372036854775807,9223372036854775808,18446744073709551615,-9223372036854775808]",
        "[\"9223372036854775807\",\"9223372036854775808\",\"18446744073709551615\",\"-9223372036854775808\"]");
    assert_decodes("[18446744073709551616,-9223372036854775809]", "[18446744073709551616,-9223372036854775808]");
    assert_decodes("[0.1,1E3,1e-2,1.50,-0,0e0]", "[0.1,1000,0.01,1.5,-0,0]");
    assert_decodes("[1e999999999999999999999,-1e-999999999999999999999]", "[\"Infinity\",-0]");
    assert_decodes_of_zeros("0.", 400, "1e5", "0"); /* 1e-396 */
    assert_decodes_of_zeros("-0.", 400, "1e+5", "-0");
    assert_decodes_of_zeros("1", 400, "e-5", "\"Infinity\"");
    assert_decodes_of_zeros("0.", 400, "1e401", "1");
    assert_decodes("[1e999,-1e999,1e-999,0.1e999]", "[\"Infinity\",\"-Infinity\",0,\"Infinity\"]");
    assert_decodes("123456789012345678901234567890.5", "1.2345678901234568e+29");
}

static void texts_are_unescaped(void **state) {
    (void)state;
    assert_decodes("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\u0008\\u000c\\u000a\\u000d\\u0009\"");
    assert_decodes("\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"", "\"A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"");
    assert_decodes("{\"\\u0041\":1}", "{\"A\":1}");
    assert_decodes("\"\\ud83dx\"", "\"\\\\xed\\\\xa0\\\\xbdx\""); /* half a pair */
    assert_decodes("\"a\xff\"", "\"a\\\\xff\"");
}

static void a_long_text_with_escapes(void **state) {
    (void)state;
    static char in[20004], out[10003];
    in[0] = out[0] = in[20001] = out[10001] = '"';
    for (int i = 0; i < 10000; i++) {
        memcpy(in + 1 + 2 * i, "\\/", 2);
        out[1 + i] = '/';
    }
    assert_decodes(in, out);
}

static void invalid_json_is_reported_with_its_position(void **state) {
    (void)state;
    assert_decodes("", "error 2: byte 0 of 0: ends before a value");
    assert_decodes("{\"a\":1", "error 2: byte 6 of 6: ends inside a map or list");
    assert_decodes("[1]  x", "error 2: byte 5 of 6: 1 bytes too many");
    assert_decodes("[1,]", "error 2: byte 3 of 4: no value begins here");
    assert_decodes("[1 2]", "error 2: byte 3 of 5: a comma is missing");
    assert_decodes("{\"a\" 1}", "error 2: byte 5 of 7: a colon is missing");
    assert_decodes("{a:1}", "error 2: byte 1 of 5: a key is missing");
    assert_decodes("[\"a\n\"]", "error 2: byte 3 of 6: a control character inside a text");
    assert_decodes("\"a\\", "error 2: byte 3 of 3: ends inside a text");
    assert_decodes("\"\\x\"", "error 2: byte 4 of 4: an escape that is none in the text before");
    assert_decodes("\"\\u12g4\"", "error 2: byte 8 of 8: an escape that is none in the text before");
    assert_decodes("[1}", "error 2: byte 2 of 3: a comma is missing");
    assert_decodes("tru", "error 2: byte 0 of 3: no value begins here");
}

static void numbers_that_are_none(void **state) {
    (void)state;
    static const char *const wrong[] = {"-", "01", "1.", ".5", "1e", "1e+", "-.1", "+1", "1.e1", "--1", "0x10"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_memory_equal(decode_text(&plain, bytes_text(wrong[i])), "error 2", 7);
    }
}

static void depth_has_a_ceiling(void **state) {
    (void)state;
    char deep[300];
    memset(deep, '[', 128);
    memset(deep + 128, ']', 128);
    assert_memory_equal(decode_text(&plain, bytes_of(deep, 256)), "[[[[", 4);
    memset(deep, '[', 129);
    memset(deep + 129, ']', 129);
    assert_string_equal(decode_text(&plain, bytes_of(deep, 258)),
                        "error 4: byte 129 of 258: nested more than 128 levels deep");
}

static const char *fields_of(const char *text) {
    const struct reel_schema schema = {.name = "x", .encoding = "jsonschema", .hash = "", .data = bytes_text(text)};
    struct reel_channel channel = plain;
    channel.schemas = &schema;
    channel.n_schemas = 1;
    return decode_fields(&channel);
}

static void a_schema_has_fields(void **state) {
    (void)state;
    assert_string_equal(
        fields_of("{\"$schema\":\"x\",\"title\":\"T\",\"type\":\"object\",\"properties\":{"
                  "\"timestamp\":{\"type\":\"object\",\"title\":\"time\",\"properties\":{\"sec\":{\"type\":\"integer\","
                  "\"minimum\":0},\"nsec\":"
                  "{\"type\":\"integer\"}}},"
                  "\"x\":{\"type\":[\"null\",\"number\"]},\"on\":{\"type\":\"boolean\"},\"name\":{\"type\":\"string\"},"
                  "\"list\":{\"items\":{\"type\":\"number\"},\"type\":\"array\"},\"poses\":{\"type\":\"array\","
                  "\"items\":{\"type\":\"object\","
                  "\"properties\":{\"x\":{\"type\":\"number\"}}}},\"free\":{\"type\":\"object\"},\"any\":{\"enum\":[1,{"
                  "\"type\":\"x\"}]}},"
                  "\"required\":[\"x\"],\"definitions\":{\"properties\":{\"no\":{\"type\":\"number\"}}}}"),
        "timestamp.sec integer numeric\ntimestamp.nsec integer numeric\nx number numeric\non boolean numeric\nname "
        "string\nlist number[]\n"
        "poses object[]\nfree object\nany any\n");
    assert_string_equal(fields_of(""), "");
    assert_string_equal(fields_of("[]"), "");
    assert_string_equal(fields_of("{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\""),
                        "a string\n"); /* cut: as far as it goes */
}

static void a_schema_that_nests_as_deep_as_can_be(void **state) {
    (void)state;
    struct grow text = {0};
    for (int i = 0; i < 63; i++) {
        grow_put(&text, "{\"properties\":{\"a\":", 19);
    }
    grow_put(&text, "{\"properties\":{\"b\":1,\"c\":{", 26);
    grow_put(&text, "", 1);
    fields_of((const char *)text.data);
    free(text.data);
}

struct seen {
    unsigned messages, good;
    char first[1024];
};
static void see(void *context, const struct reel_channel *channel, const char *json) {
    struct seen *s = context;
    (void)channel;
    s->messages++;
    s->good += json[0] == '{';
    if (!s->first[0]) {
        snprintf(s->first, sizeof s->first, "%s", json);
    }
}
static void a_golden_recording(void **state) {
    (void)state;
    struct seen s = {0};
    assert_true(decode_sample(REEL_TESTS "/golden/mcap/lz4/input.mcap", &reel_format_mcap, see, &s));
    assert_int_equal(s.messages, 6);
    assert_int_equal(s.good, 3); /* /b; /a is ROS */
}
static void a_real_recording(void **state) {
    (void)state;
    struct seen s = {0};
    if (!decode_sample(REEL_TESTS "/../../shared/samples/mcap/demo_json_lz4.mcap", &reel_format_mcap, see, &s)) {
        SAMPLES_SKIPPED(1);
    }
    assert_true(s.messages > 100);
    assert_int_equal(s.good, s.messages);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_every_kind),
        cmocka_unit_test(integers_are_exact_and_the_rest_is_double),
        cmocka_unit_test(texts_are_unescaped),
        cmocka_unit_test(a_long_text_with_escapes),
        cmocka_unit_test(invalid_json_is_reported_with_its_position),
        cmocka_unit_test(numbers_that_are_none),
        cmocka_unit_test(depth_has_a_ceiling),
        cmocka_unit_test(a_schema_has_fields),
        cmocka_unit_test(a_schema_that_nests_as_deep_as_can_be),
        cmocka_unit_test(a_golden_recording),
        cmocka_unit_test(a_real_recording),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
