/* decode/json_out.h: values as JSON text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>

#include "base/bytes.h"
#include "base/number.h"
#include "syntax/json_out.h"
#include "syntax/visitor.h"

static struct grow out;
static struct json_out json;
static struct reel_visitor *v = &json.visitor;

static int begin(void **state) {
    (void)state;
    out.size = 0;
    json = json_out_to(&out, 1 << 20);
    return 0;
}
static int end(void **state) {
    (void)state;
    free(out.data);
    out = (struct grow){0};
    return 0;
}
static void assert_output(const char *text) {
    assert_int_equal(out.size, strlen(text));
    assert_memory_equal(out.data, text, out.size);
}

static void maps_and_lists_nest(void **state) {
    (void)state;
    assert_true(visit_begin_map(v) && visit_key_text(v, "a") && visit_begin_list(v) && visit_integer(v, -1) &&
                visit_begin_map(v) && visit_end_map(v) && visit_null(v) && visit_end_list(v) &&
                visit_key_text(v, "b") && visit_boolean(v, true) && visit_key_text(v, "a") &&
                visit_text(v, bytes_text("x")) && visit_end_map(v));
    assert_output("{\"a\":[-1,{},null],\"b\":true,\"a\":\"x\"}");
}

static void integers_beyond_2_53_are_strings(void **state) {
    (void)state;
    visit_begin_list(v);
    visit_natural(v, UINT64_C(9007199254740992));
    visit_natural(v, UINT64_C(9007199254740993));
    visit_integer(v, -INT64_C(9007199254740993));
    visit_integer(v, INT64_MIN);
    visit_natural(v, UINT64_MAX);
    visit_natural(v, 0);
    visit_end_list(v);
    assert_output("[9007199254740992,\"9007199254740993\",\"-9007199254740993\",\"-9223372036854775808\","
                  "\"18446744073709551615\",0]");
}

static void reals_are_the_shortest_that_read_back(void **state) {
    (void)state;
    visit_begin_list(v);
    visit_real(v, 0.1);
    visit_real32(v, 0.1f);
    visit_real(v, (double)0.1f);
    visit_real(v, NAN);
    visit_real(v, INFINITY);
    visit_real32(v, -INFINITY);
    visit_real(v, -0.0);
    visit_real(v, 1e300);
    visit_real(v, 3);
    visit_end_list(v);
    assert_output("[0.1,0.1,0.10000000149011612,\"NaN\",\"Infinity\",\"-Infinity\",-0,1e+300,3]");
}

static void every_double_reads_back(void **state) {
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        double value;
        memcpy(&value, &seed, sizeof value);
        if (!isfinite(value)) {
            continue;
        }
        out.size = 0;
        json_put_real(&out, value);
        grow_put(&out, "", 1);
        double read;
        assert_true(number_real((char *)out.data, &read) && read == value);
    }
}

static void texts_are_escaped(void **state) {
    (void)state;
    visit_text(v, bytes_of("a\"\\\n\x1f\xc3\xa4\xff\xe2\x82 \0z", 13));
    assert_output("\"a\\\"\\\\\\u000a\\u001f\xc3\xa4\\\\xff\\\\xe2\\\\x82 \\u0000z\"");
}

static void bytes_are_base64(void **state) {
    (void)state;
    visit_begin_list(v);
    visit_binary(v, bytes_of("", 0));
    visit_binary(v, bytes_text("f"));
    visit_binary(v, bytes_text("fo"));
    visit_binary(v, bytes_text("foo"));
    visit_binary(v, bytes_text("foobar\xff\xfe"));
    visit_end_list(v);
    assert_output("[{\"$base64\":\"\"},{\"$base64\":\"Zg==\"},{\"$base64\":\"Zm8=\"},{\"$base64\":\"Zm9v\"},{\"$"
                  "base64\":\"Zm9vYmFy//4=\"}]");
}

static void packed_arrays_are_lists(void **state) {
    (void)state;
    static const float floats[] = {1.5f, -2, 0.25f, 7};
    static const int16_t shorts[] = {-1, 300};
    visit_begin_list(v);
    visit_numbers(v, REEL_F32, bytes_of(floats, sizeof floats), 0);
    visit_numbers(v, REEL_F32, bytes_of(floats, sizeof floats), 3);
    visit_numbers(v, REEL_I16, bytes_of(shorts, sizeof shorts), 1);
    visit_numbers(v, REEL_BOOL, bytes_of("\1\0", 2), 0);
    visit_numbers(v, REEL_F64, bytes_of("", 0), 0);
    visit_end_list(v);
    assert_output("[[1.5,-2,0.25,7],[[1.5,-2,0.25],[7]],[-1,300],[true,false],[]]");
}

static void length_and_depth_have_ceilings(void **state) {
    (void)state;
    json = json_out_to(&out, 100);
    char text[200] = {0};
    assert_false(visit_text(v, bytes_of(text, sizeof text)));
    assert_true(json.too_long);
    begin(NULL);
    int depth = 0;
    while (visit_begin_list(v)) {
        depth++;
    }
    assert_int_equal(depth, JSON_DEPTH_MAX);
}

/* The array ends soon after the ceiling, however long it is. */
static void a_long_array_has_a_ceiling(void **state) {
    (void)state;
    enum { VALUES = 1 << 20, MAX = 1000, SPARE = 4096 };
    float *values = calloc(VALUES, sizeof *values);
    assert_non_null(values);
    const struct reel_bytes data = bytes_of(values, VALUES * sizeof *values);
    const struct reel_member array = {.json = bytes_of(",\"a\":                ", 5),
                                      .kind = REEL_MEMBER_NUMBERS,
                                      .number = REEL_F32,
                                      .count = VALUES};
    const struct reel_members members = {.items = &array, .n = 1, .values = 1, .array_bytes = data.size};
    json = json_out_to(&out, MAX);
    assert_false(visit_numbers(v, REEL_F32, data, 0));
    assert_true(json.too_long);
    assert_true(out.size <= MAX + SPARE);
    begin(NULL);
    json = json_out_to(&out, MAX);
    assert_false(visit_begin_map(v) && visit_members(v, &members, data.data));
    assert_true(json.too_long);
    assert_true(out.size <= MAX + SPARE);
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(maps_and_lists_nest, begin, end),
        cmocka_unit_test_setup_teardown(integers_beyond_2_53_are_strings, begin, end),
        cmocka_unit_test_setup_teardown(reals_are_the_shortest_that_read_back, begin, end),
        cmocka_unit_test_setup_teardown(every_double_reads_back, begin, end),
        cmocka_unit_test_setup_teardown(texts_are_escaped, begin, end),
        cmocka_unit_test_setup_teardown(bytes_are_base64, begin, end),
        cmocka_unit_test_setup_teardown(packed_arrays_are_lists, begin, end),
        cmocka_unit_test_setup_teardown(length_and_depth_have_ceilings, begin, end),
        cmocka_unit_test_setup_teardown(a_long_array_has_a_ceiling, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
