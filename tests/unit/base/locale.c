/* What a program's locale changes in the C library, and not in libreel. Other tests run under the same locale
 * (comma_locale.c). */
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/ascii.h"
#include "base/number.h"
#include "reel/error.h"

static struct reel_error err;

static void the_locale_is_a_foreign_one(void **state) {
    (void)state;
    char text[8];
    if (strcmp(localeconv()->decimal_point, ",") != 0) {
        fail_msg("the tests run under no locale of its own: the package locales is missing");
    }
    snprintf(text, sizeof text, "%.1f", 1.5);
    assert_string_equal(text, "1,5");
    assert_int_not_equal(tolower('I'), 'i'); /* as strcasecmp() has it, outside of AddressSanitizer */
}

static void numbers_are_read(void **state) {
    (void)state;
    double value = 0;
    assert_true(number_real("2.5", &value) && value == 2.5);
    assert_false(number_real("2,5", &value));
}

static void numbers_and_errors_are_written(void **state) {
    (void)state;
    reel_fail(&err, REEL_ARGUMENT, "%.2f", 1.25);
    assert_string_equal(err.text, "1.25");
    reel_error_at(&err, "%.1f", 0.5);
    assert_string_equal(err.text, "0.5: 1.25");
    errno = ENOENT;
    reel_fail_errno(&err, "%g", 1.5);
    assert_string_equal(err.text, "1.5: No such file or directory");
    assert_string_equal(localeconv()->decimal_point, ","); /* the program's locale is as it was */
}

static void letters_are_compared(void **state) {
    (void)state;
    assert_int_equal(ascii_casecmp("TITLE", "title"), 0);
    assert_int_equal(ascii_ncasecmp("TITLES", "title", 5), 0);
    assert_true(ascii_casecmp("a", "B") < 0 && ascii_casecmp("ab", "A") > 0);
    assert_true(ascii_contains("/CAMERA/DISPARITY", "disparity") && ascii_contains("x", "") && ascii_contains("", ""));
    assert_false(ascii_contains("disparit", "disparity") || ascii_contains("", "x"));
    assert_false(ascii_is_alnum(0xe7) || ascii_is_letter(0xfd) || ascii_is_space(0xa0));
    for (int c = 0; c < 128; c++) {
        bool digit = c >= '0' && c <= '9', letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        assert_true(ascii_is_digit((uint8_t)c) == digit && ascii_is_alnum((uint8_t)c) == (digit || letter));
        assert_true(ascii_is_space((uint8_t)c) == (c != 0 && strchr(" \t\n\v\f\r", c)));
        assert_true(ascii_upper(ascii_lower((uint8_t)c)) == (letter && c >= 'a' ? c - 32 : c));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_locale_is_a_foreign_one),
        cmocka_unit_test(numbers_are_read),
        cmocka_unit_test(numbers_and_errors_are_written),
        cmocka_unit_test(letters_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
