/* Payloads of MIRA tapes: only what cannot be anything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "makers/decode_sample.h"
#include "makers/real_samples.h"

static const char *decoded_text(const char *type, const void *data, size_t size) {
    const struct reel_channel channel = {.name = "/a", .type = type, .encoding = "mira"};
    return decode_text(&channel, bytes_of(data, size));
}

static void numbers(void **state) {
    (void)state;
    static const uint8_t minus_two[8] = {0xfe, 255, 255, 255, 255, 255, 255, 255};
    assert_string_equal(decoded_text("bool", "\1", 1), "true");
    assert_string_equal(decoded_text("signed char", minus_two, 1), "-2");
    assert_string_equal(decoded_text("unsigned char", minus_two, 1), "254");
    assert_string_equal(decoded_text("short", minus_two, 2), "-2");
    assert_string_equal(decoded_text("unsigned short", minus_two, 2), "65534");
    assert_string_equal(decoded_text("int", minus_two, 4), "-2");
    assert_string_equal(decoded_text("unsigned int", minus_two, 4), "4294967294");
    assert_string_equal(decoded_text("long", minus_two, 4), "-2");
    assert_string_equal(decoded_text("long", minus_two, 8), "-2");
    assert_string_equal(decoded_text("unsigned long", minus_two, 4), "4294967294");
    assert_string_equal(decoded_text("unsigned long", minus_two, 8), "\"18446744073709551614\"");
    assert_string_equal(decoded_text("long long", minus_two, 8), "-2");
    assert_string_equal(decoded_text("unsigned long long", minus_two, 8), "\"18446744073709551614\"");
    assert_string_equal(decoded_text("float", "\0\0\x20\x40", 4), "2.5");
    assert_string_equal(decoded_text("double", "\0\0\0\0\0\0\x04\xc0", 8), "-2.5");
}

static void strings(void **state) {
    (void)state;
    assert_string_equal(decoded_text("std::string", "\3\0\0\0Zie", 7), "\"Zie\"");
    assert_string_equal(decoded_text("std::string", "\3\0\0\0\0\0\0\0Zie", 11), "\"Zie\"");
    assert_string_equal(decoded_text("std::string", "\0\0\0\0", 4), "\"\"");
    assert_string_equal(decoded_text("std::string", "\0\0\0\0\0\0\0\0", 8), "\"\"");
    assert_string_equal(decoded_text("std::string", "\4\0\0\0\0\0\0\0", 8), "\"\\u0000\\u0000\\u0000\\u0000\"");
    assert_string_equal(decoded_text("std::string", "\3\0\0\0Zi", 6),
                        "error 2: 6 bytes, of which no length of 4 or 8 bytes makes a string");
    assert_string_equal(decoded_text("std::string", "\3\0\0\0Ziel", 8),
                        "error 2: 8 bytes, of which no length of 4 or 8 bytes makes a string");
    assert_string_equal(decoded_text("std::string", "", 0),
                        "error 2: 0 bytes, of which no length of 4 or 8 bytes makes a string");
}

static void nothing_else_is_reported(void **state) {
    (void)state;
    assert_string_equal(decoded_text("float", "\0\0\0\0\0", 5), "error 2: 5 bytes, where float has 4");
    assert_string_equal(decoded_text("long", "\0\0\0\0\0", 5), "error 2: 5 bytes, where long has 8");
    assert_string_equal(decoded_text("mira::RigidTransform<float, 2>", "\0\0\0\0\0\0\0\0\0\0\0\0", 12),
                        "error 3: /a: MIRA's \"mira::RigidTransform<float, 2>\" is not decoded: how it is serialized "
                        "is not documented");
    assert_string_equal(decoded_text("", "x", 1),
                        "error 3: /a: MIRA's \"\" is not decoded: how it is serialized is not documented");
    struct reel_pair big = {"mira.byte_order", "big"};
    const struct reel_channel channel = {.name = "/a", .type = "int", .encoding = "mira", .metadata = {&big, 1}};
    assert_string_equal(decode_text(&channel, bytes_of("\0\0\0\1", 4)),
                        "error 3: /a: payloads of a big-endian tape are not decoded");
}

static void fields(void **state) {
    (void)state;
    struct reel_channel channel = {.name = "/a", .type = "double", .encoding = "mira"};
    assert_string_equal(decode_fields(&channel), " double numeric\n");
    channel.type = "std::string";
    assert_string_equal(decode_fields(&channel), " std::string\n");
}

struct sums {
    unsigned texts, refused;
};
static void sum_up(void *context, const struct reel_channel *channel, const char *json) {
    struct sums *s = context;
    if (strcmp(channel->type, "std::string") != 0) {
        assert_true(strncmp(json, "error 3", 7) == 0);
        s->refused++;
    } else if (s->texts++ == 0) {
        assert_string_equal(json, "\"Ziel 10 \xc3\xa4\xc3\xb6\xc3\xbc\"");
    } else {
        assert_true(strncmp(json, "\"Ziel ", 6) == 0);
    }
}

static void a_whole_tape(void **state) {
    (void)state;
    struct sums s = {0};
    if (!decode_sample(REEL_TESTS "/../../shared/samples/mira/mira_basic.tape", &reel_format_mira, sum_up, &s)) {
        SAMPLES_SKIPPED(1);
    }
    assert_int_equal(s.texts, 16);
    assert_int_equal(s.refused, 540);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers), cmocka_unit_test(strings),      cmocka_unit_test(nothing_else_is_reported),
        cmocka_unit_test(fields),  cmocka_unit_test(a_whole_tape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
