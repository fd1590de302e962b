/* syntax/base64.h, base/hex.h, syntax/csv.h and the escapes of syntax/utf8.h: what is written reads back, and what is
 * none is refused. */
#include "syntax/base64.h"
#include "base/bytes.h"
#include "base/hex.h"
#include "syntax/csv.h"
#include "syntax/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void vectors_of_rfc_4648(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"},
                                           {"\xfb\xff\xfe", "+//+"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char text[16] = {0};
        uint8_t back[16];
        size_t size;
        base64_write(bytes_text(pairs[i][0]), text);
        assert_string_equal(text, pairs[i][1]);
        assert_true(base64_read(bytes_text(text), back, &size));
        assert_true(bytes_is(bytes_of(back, size), pairs[i][0]));
    }
    char url[16];
    base64url_write(bytes_text("\xfb\xff\xfe"
                               "fo"),
                    url);
    assert_string_equal(url, "-__-Zm8");
    assert_true(base64url_only(url, 7));
    assert_false(base64url_only("-_+a", 4));
    assert_false(base64url_only("a\0b", 3));
}

static void what_is_no_base64_is_refused(void **state) {
    (void)state;
    static const char *const none[] = {
        "Zg=", "Zg", "Z", "=", "====", "Z===", "Zg==Zg==", "Zm9v\n", "Zm 9", "Zm9-", "Zg=a", "=Zg="};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        uint8_t back[16];
        size_t size;
        assert_false(base64_read(bytes_text(none[i]), back, &size));
    }
}

static void what_is_written_for_urls_reads_back(void **state) {
    (void)state;
    for (size_t size = 0; size < 64; size++) {
        uint8_t data[64], back[64];
        char text[BASE64_TEXT(64) + 1];
        size_t n;
        for (size_t i = 0; i < size; i++) {
            data[i] = (uint8_t)(251 * i + size);
        }
        base64url_write(bytes_of(data, size), text);
        uint8_t *exact = malloc(strlen(text) * 3 / 4 + 1); /* so that a sanitizer sees a write past the room */
        assert_true(base64url_read(bytes_text(text), exact, &n));
        assert_true(bytes_equal(bytes_of(data, size), bytes_of(exact, n)));
        free(exact);
        strcat(text, "=");
        assert_false(base64url_read(bytes_text(text), back, &n));
    }
    static const char *const none[] = {"A", "AAAAA", "AB", "AAB", "AA==", "+/AA", "A A", "AAA\n"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        uint8_t back[8];
        size_t n;
        assert_false(base64url_read(bytes_text(none[i]), back, &n));
    }
}

static const char *written(void (*put)(struct grow *, struct reel_bytes), const char *text) {
    static char out[64];
    struct grow g = {0};
    put(&g, bytes_text(text));
    snprintf(out, sizeof out, "%.*s", (int)g.size, g.data ? (const char *)g.data : "");
    grow_done(&g);
    return out;
}

static void cells_are_quoted_where_that_is_needed(void **state) {
    (void)state;
    static const char *const cells[][2] = {
        {"", ""},         {"a b", "a b"},     {"a;b'c", "a;b'c"},           {"a,b", "\"a,b\""}, {"a\nb", "\"a\nb\""},
        {"\r", "\"\r\""}, {"\"", "\"\"\"\""}, {"a\"\"b", "\"a\"\"\"\"b\""}, {" a", "\" a\""},   {"a ", "\"a \""},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        assert_string_equal(written(csv_put, cells[i][0]), cells[i][1]);
    }
}

static void bytes_that_are_no_text_are_escaped(void **state) {
    (void)state;
    static const char *const texts[][2] = {{"", ""},
                                           {"plain", "plain"},
                                           {"\xff", "\\xff"},
                                           {"a\xc3\xa9\xc3", "a\xc3\xa9\\xc3"},
                                           {"\x80"
                                            "b\xfe",
                                            "\\x80b\\xfe"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_string_equal(written(utf8_put, texts[i][0]), texts[i][1]);
    }
}

static void hex_reads_back(void **state) {
    (void)state;
    uint8_t all[256], back[256];
    char text[513];
    for (unsigned i = 0; i < 256; i++) {
        all[i] = (uint8_t)i;
    }
    hex_write(all, 256, text);
    assert_int_equal(strlen(text), 512);
    assert_memory_equal(text, "000102030405060708090a0b", 24);
    assert_true(hex_read(text, 256, back));
    assert_memory_equal(all, back, 256);
    assert_false(hex_read("0g", 1, back));
    assert_false(hex_read("0A", 1, back));
    assert_false(hex_read("0", 1, back));
    assert_int_equal(hex_digit('F'), 15);
    assert_int_equal(hex_digit('G'), -1);
    assert_true(hex_is("09af", 4) && !hex_is("09af0", 4) && !hex_is("09a", 4) && !hex_is("09aF", 4) && hex_is("", 0));
    assert_int_equal(hex_span("09afg"), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_of_rfc_4648),
        cmocka_unit_test(what_is_no_base64_is_refused),
        cmocka_unit_test(what_is_written_for_urls_reads_back),
        cmocka_unit_test(cells_are_quoted_where_that_is_needed),
        cmocka_unit_test(bytes_that_are_no_text_are_escaped),
        cmocka_unit_test(hex_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
