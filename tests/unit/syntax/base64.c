/* syntax/base64.h and base/hex.h: what is written reads back, and what is none is refused. */
#include "syntax/base64.h"
#include "base/bytes.h"
#include "base/hex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_of_rfc_4648),
        cmocka_unit_test(what_is_no_base64_is_refused),
        cmocka_unit_test(hex_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
