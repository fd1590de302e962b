/* chunks/json_bytes.h: bytes take the place of their digits, whatever the pieces that come and go; the rest stays. */
#include "chunks/json_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { TEXT_MAX = 256 };

static void check(const char *text, const char *expected) {
    size_t size = strlen(text);
    assert_true(size <= TEXT_MAX);
    for (size_t in_piece = 1; in_piece <= size; in_piece += 1 + in_piece / 8) {
        for (size_t out_piece = 1; out_piece <= size; out_piece += 1 + out_piece / 8) {
            uint8_t out[TEXT_MAX];
            const uint8_t *from = (const uint8_t *)text, *end = from + size;
            uint8_t *to = out;
            struct json_bytes j = {0};
            while (from < end) {
                size_t left = (size_t)(end - from) < in_piece ? (size_t)(end - from) : in_piece;
                size_t room = (size_t)(out + size - to) < out_piece ? (size_t)(out + size - to) : out_piece;
                const uint8_t *before = from;
                uint8_t *written = to;
                json_bytes_decode(&j, &from, &left, &to, &room);
                assert_true(from > before || to > written);
            }
            assert_int_equal(to - out, size);
            assert_memory_equal(out, expected, size);
        }
    }
}

static void digits_become_bytes(void **state) {
    (void)state;
    check("{\"data\":{\"$base64\":\"Zm9vYg==\"}}", "{\"data\":{\"$base64\":\"foob\0\0\0\0\"}}");
    check("{\"$base64\" :\t\"\"}{\"$base64\":\"Zm9v\"} ", "{\"$base64\" :\t\"\"}{\"$base64\":\"foo\0\"} ");
    check("\"\"$base64\":\"Zm9vYmFyZm9vYmFy\",1", "\"\"$base64\":\"foobarfoobar\0\0\0\0\",1");
}

static void escapes_stand_for_digits(void **state) {
    (void)state;
    check("\"$base64\":\"+\\/\\/+\"", "\"$base64\":\"\xfb\xff\xfe\0\0\0\"");
    check("\"$base64\":\"\\u002b\\u002F8\\u003D\"", "\"$base64\":\"\xfb\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\"");
}

static void other_text_stays(void **state) {
    (void)state;
    static const char *const texts[] = {"{}", "{\"$base64\":1}", "{\"$base6\":\"Zm9v\"}", "[\"$base64\",\"Zm9v\"]",
                                        "{\"x\\\"$base64\\\":\":\"Zm9v\"}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        check(texts[i], texts[i]);
    }
}

/* A row that was cut off ends with its line, and the next one is decoded. */
static void cut_digits_end_with_their_line(void **state) {
    (void)state;
    check("{\"$base64\":\"Zm9\n{\"$base64\":\"Zm9v\"}\n", "{\"$base64\":\"fo\0\n{\"$base64\":\"foo\0\"}\n");
    check("{\"$base64\":\"Zm9\\\n{\"$base64\":\"Zm9v\"}\n", "{\"$base64\":\"fo\0\0\n{\"$base64\":\"foo\0\"}\n");
    check("\"$base64\":\"Zm9\\u00\n\"$base64\":\"Zm9v\"", "\"$base64\":\"fo\0\0\0\0\0\n\"$base64\":\"foo\0\"");
    check("\"$base64\":\"Zm9\\u0\",\"$base64\":\"Zm9v\"", "\"$base64\":\"fo\0\0\0\0\",\"$base64\":\"foo\0\"");
    check("\"$base64\":\"Zm\\q9v\\\"Zm9v\"", "\"$base64\":\"foofoo\0\0\0\0\0\0\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_become_bytes),
        cmocka_unit_test(escapes_stand_for_digits),
        cmocka_unit_test(other_text_stays),
        cmocka_unit_test(cut_digits_end_with_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
