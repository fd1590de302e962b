/* server/http/accept.c: which of our media types a client likes best. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "http/http_internal.h"

static const char *const offers[] = {"application/x-ndjson", "application/json", "text/csv; charset=utf-8", NULL};

static void best_offer(void **state) {
    (void)state;
    static const struct {
        const char *header, *best;
    } cases[] = {
        {NULL, "application/x-ndjson"},
        {"", "application/x-ndjson"},
        {" , ", "application/x-ndjson"},
        {"*/*", "application/x-ndjson"},
        {"application/json", "application/json"},
        {"Application/JSON", "application/json"},
        {"text/csv", "text/csv; charset=utf-8"},
        {"text/csv;header=absent", "text/csv; charset=utf-8"},
        {"text/*", "text/csv; charset=utf-8"},
        {"application/*;q=0.2, text/csv;q=0.3", "text/csv; charset=utf-8"},
        {"application/json;q=0.9, */*;q=0.8", "application/json"},
        {"application/x-ndjson;q=0, */*", "application/json"},
        {"*/*;q=0.1, application/x-ndjson;q=0", "application/json"},
        {"application/json;q=0.001, text/csv;q=0.002", "text/csv; charset=utf-8"},
        {"text/html,application/xhtml+xml,*/*;q=0.8", "application/x-ndjson"},
        {"application/json; Q=0.5 , text/csv ; q=0.6", "text/csv; charset=utf-8"},
        {"foo/bar;x=\"a,b;q=0\", application/json", "application/json"},
        {"image/png", NULL},
        {"application/json;q=0", NULL},
        {"*/*;q=0.0", NULL},
        {"application", NULL},
        {"app/*", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *best = accept_best(cases[i].header, offers);
        if (cases[i].best) {
            assert_non_null(best);
            assert_string_equal(best, cases[i].best);
        } else {
            assert_null(best);
        }
    }
}

static void codings(void **state) {
    (void)state;
    assert_false(accept_coding(NULL, "gzip"));
    assert_false(accept_coding("", "gzip"));
    assert_true(accept_coding("gzip", "gzip"));
    assert_true(accept_coding("br;q=1.0, GZIP;q=0.1", "gzip"));
    assert_false(accept_coding("gzip;q=0, *", "gzip"));
    assert_true(accept_coding("br, *", "gzip"));
    assert_false(accept_coding("*;q=0", "gzip"));
    assert_false(accept_coding("identity, br", "gzip"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(best_offer), cmocka_unit_test(codings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
