/* server/http/conditional.c and guard.c without a connection: entity tags, dates, hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "http/http_internal.h"

static void entity_tags(void **state) {
    (void)state;
    assert_true(conditional_etag_listed("\"a\"", "\"a\"", false));
    assert_true(conditional_etag_listed("\"b\" , \"a\"", "\"a\"", false));
    assert_true(conditional_etag_listed("*", "\"a\"", false));
    assert_true(conditional_etag_listed("W/\"a\"", "\"a\"", true));
    assert_false(conditional_etag_listed("W/\"a\"", "\"a\"", false));
    assert_false(conditional_etag_listed("\"a\"", "W/\"a\"", false));
    assert_true(conditional_etag_listed("\"a\"", "W/\"a\"", true));
    assert_true(conditional_etag_listed("\"x,\", \"a\"", "\"a\"", false)); /* a comma inside */
    assert_false(conditional_etag_listed("\"A\"", "\"a\"", true));
    assert_false(conditional_etag_listed("a", "\"a\"", true));
    assert_false(conditional_etag_listed("\"a", "\"a\"", true));
    assert_false(conditional_etag_listed("", "\"a\"", true));
}

static void dates(void **state) {
    (void)state;
    static const char *const good[] = {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                                       "Sun Nov  6 08:49:37 1994"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t seconds = 0;
        assert_true(conditional_parse_date(good[i], &seconds));
        assert_int_equal(seconds, 784111777);
    }
    static const char *const bad[] = {"",
                                      "now",
                                      "Sun, 06 Nov 1994 08:49:37",
                                      "Sun, 06 Nov 1994 25:49:37 GMT",
                                      "Sun, 06 Foo 1994 08:49:37 GMT",
                                      "Sun, 00 Nov 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 1994 08:49:37 GMT+1",
                                      "Sun, 06 Nov 1994 08:-9:37 GMT"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t seconds = 0;
        assert_false(conditional_parse_date(bad[i], &seconds));
    }
    char text[HTTP_DATE_TEXT];
    conditional_format_date(784111777, text);
    assert_string_equal(text, good[0]);
    conditional_format_date(0, text);
    assert_string_equal(text, "Thu, 01 Jan 1970 00:00:00 GMT");
}

static void hosts(void **state) {
    (void)state;
    static const char *const names[] = {"archive.example", "other.example:8443", NULL};
    struct http_server server = {.options = {.hosts = names}, .address = "192.168.1.5"};
    static const char *const ours[] = {"localhost",      "127.0.0.1:1",     "[::1]",
                                       "192.168.1.5:80", "Archive.Example", "other.example"};
    static const char *const foreign[] = {
        "",          ":80", "example", "192.168.1.6", "[::2]", "[::1", "[::1]x", "archive.example:80x", "a@localhost",
        "localhost/"};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        assert_true(guard_host_is_ours(&server, ours[i]));
    }
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        assert_false(guard_host_is_ours(&server, foreign[i]));
    }
    server.any_address = true; /* listening on 0.0.0.0: a literal address is no forged name */
    assert_true(guard_host_is_ours(&server, "192.168.1.6:80"));
    assert_true(guard_host_is_ours(&server, "[fe80::1]:80"));
    assert_false(guard_host_is_ours(&server, "evil.example"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(entity_tags), cmocka_unit_test(dates), cmocka_unit_test(hosts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
