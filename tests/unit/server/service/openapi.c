/* server/api/service/openapi.c: what will be removed is marked, and for long enough. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "api/routes.h"
#include "api/service/openapi.h"
#include "reel/time.h"

static const int64_t YEAR_NS = 365 * 86400 * INT64_C(1000000000);

static const struct http_deprecation gone = {
    .what = "old", .since = "2027-01-31", .sunset = "2028-06-30", .link = "https://example.org/old"};
static const struct http_param old_params[] = {
    {.name = "old", .type = HTTP_TEXT, .help = "The old one.", .deprecated = &gone},
    {.name = "new", .type = HTTP_TEXT, .help = "The new one."},
    {0},
};
static const struct api_route stays = {.http = {.method = "GET",
                                                .path = "/api/v1/toy",
                                                .role = ROLE_READ,
                                                .params = old_params,
                                                .summary = "Returns a toy."},
                                       .id = "getToy",
                                       .tag = "toys",
                                       .answers = "200"},
                              goes = {.http = {.method = "DELETE",
                                               .path = "/api/v1/toy",
                                               .role = ROLE_EDIT,
                                               .params = old_params,
                                               .summary = "Deletes a toy."},
                                      .id = "deleteToy",
                                      .tag = "toys",
                                      .answers = "204:Deleted",
                                      .policy = {.deprecated = &gone}};

static bool is_marked(const json_t *described) {
    const char *text = json_string_value(json_object_get(described, "description")),
               *sunset = json_string_value(json_object_get(described, "x-sunset"));
    bool marked = json_is_true(json_object_get(described, "deprecated"));
    assert_int_equal(marked, strstr(text, "Deprecated since 2027-01-31") != NULL);
    assert_int_equal(marked, strstr(text, gone.link) != NULL);
    assert_int_equal(marked, sunset && strcmp(sunset, gone.sunset) == 0);
    return marked;
}

static void what_goes_is_marked(void **state) {
    (void)state;
    struct reel_error err = {0};
    json_auto_t *paths = json_object();
    assert_true(openapi_add_row(paths, &stays, &err) && openapi_add_row(paths, &goes, &err));
    const json_t *item = json_object_get(paths, "/api/v1/toy"), *get = json_object_get(item, "get"),
                 *parameters = json_object_get(get, "parameters");
    assert_false(is_marked(get));
    assert_true(is_marked(json_object_get(item, "delete")));
    assert_true(is_marked(json_array_get(parameters, 0)));
    assert_false(is_marked(json_array_get(parameters, 1)));
}

static int64_t ns_of(const char *date) {
    struct reel_time time;
    assert_true(reel_time_parse(date, 1, &time, NULL));
    return time.ns;
}

static void check_dates(const struct http_deprecation *d) {
    if (d) {
        assert_true(d->what && d->link);
        assert_true(ns_of(d->sunset) - ns_of(d->since) >= YEAR_NS);
    }
}

/* docs/compatibility.md: it works for at least twelve months. */
static void every_row_goes_on_for_a_year(void **state) {
    (void)state;
    check_dates(&gone);
    for (size_t i = 0; api_tables[i]; i++) {
        for (const struct api_route *row = api_tables[i]; row->id; row++) {
            check_dates(row->policy.deprecated);
            for (const struct http_param *p = http_param_row(row->http.params); p; p = http_param_row(p + 1)) {
                check_dates(p->deprecated);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_goes_is_marked),
                                       cmocka_unit_test(every_row_goes_on_for_a_year)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
