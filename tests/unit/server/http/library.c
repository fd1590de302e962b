/* What is done with versions of libmicrohttpd other than the one that head.c fits: this program has the function that
 * names the version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "http/http_internal.h"

static const char *version;
static char logged[1024];

const char *MHD_get_version(void) {
    return version;
}

static void keep_line(void *context, const char *line) {
    (void)context;
    strncat(logged, line, sizeof logged - strlen(logged) - 1);
}

static const char *report_of(const char *of) {
    const struct http_server server = {.options = {.log = keep_line}};
    version = of;
    logged[0] = '\0';
    library_report(&server);
    return logged;
}

static void what_is_off_is_logged(void **state) {
    (void)state;
    struct MHD_OptionItem item;
    assert_string_equal(report_of("0.9.75"), "");
    assert_true(library_parses_in_place());
    assert_false(library_strictness(&item));
    assert_int_equal(item.option, MHD_OPTION_END);
    for (const char *const *old = (const char *const[]){"0.9.76", "0.9.7", NULL}; *old; old++) {
        assert_non_null(strstr(report_of(*old), *old));
        assert_non_null(strstr(logged, "proxy"));
        assert_false(library_parses_in_place());
        assert_false(library_strictness(&item));
    }
}

static void newer_ones_are_strict_by_themselves(void **state) {
    (void)state;
    struct MHD_OptionItem item;
    assert_non_null(strstr(report_of("1.0.1"), "own strictness"));
    assert_true(library_strictness(&item));
    assert_int_equal(item.option, 38); /* MHD_OPTION_CLIENT_DISCIPLINE_LVL of 1.0 */
    assert_int_equal(item.value, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_off_is_logged),
        cmocka_unit_test(newer_ones_are_strict_by_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
