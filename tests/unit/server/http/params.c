/* server/http/params.c: what a query string may hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "http/http_internal.h"

static const char *const kinds[] = {"red", "green", NULL};
static const struct http_param table[] = {{.name = "text", .type = HTTP_TEXT},
                                          {.name = "topic", .type = HTTP_GLOB, .repeats = true},
                                          {.name = "u", .type = HTTP_UINT},
                                          {.name = "i", .type = HTTP_INT},
                                          {.name = "b", .type = HTTP_BOOL},
                                          {.name = "t", .type = HTTP_TIME},
                                          {.name = "from", .type = HTTP_TIME_MS},
                                          {.name = "d", .type = HTTP_DURATION},
                                          {.name = "kind", .type = HTTP_CHOICE, .choices = kinds},
                                          {0}};
static const struct http_param open_table[] = {{.name = "u", .type = HTTP_UINT}, {.name = "*", .type = HTTP_TEXT}, {0}};

/* "name=value|…" of what was taken, or "!name: detail|…". */
static const char *parse_with(const struct http_param *params, const char *raw) {
    static char text[4096];
    char buffer[4096];
    struct http_query query;
    json_t *errors = json_array();
    text[0] = '\0';
    size_t used = 0;
    if (params_parse(raw, buffer, params, NULL, &query, errors)) {
        for (size_t i = 0; i < query.count; i++) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", i ? "|" : "", query.values[i].name,
                                     query.values[i].value);
        }
    } else {
        size_t i;
        json_t *error;
        json_array_foreach(errors, i, error) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? "|" : "!",
                                     json_string_value(json_object_get(error, "param")));
        }
    }
    free(query.values);
    json_decref(errors);
    return text;
}

static void taken(void **state) {
    (void)state;
    static const struct {
        const char *raw, *answer;
    } cases[] = {
        {"", ""},
        {"&&", ""},
        {"text=a%20b+c%2Bd", "text=a b c+d"},
        {"text=", "text="},
        {"text=a=b", "text=a=b"},
        {"b", "b="},
        {"b&text=x&", "b=|text=x"},
        {"topic=/a&topic=/b/*", "topic=/a|topic=/b/*"},
        {"u=18446744073709551615&i=-9223372036854775808", "u=18446744073709551615|i=-9223372036854775808"},
        {"t=%2B2.5s", "t=+2.5s"},
        {"t=+2.5s", "t=+2.5s"},
        {"t=-2.5s", "t=-2.5s"},
        {"t=2024-05-01T10:00:00+02:00", "t=2024-05-01T10:00:00+02:00"},
        {"t=2024-05-01+10:00:00Z", "t=2024-05-01 10:00:00Z"},
        {"from=1700000000000", "from=1700000000000"},
        {"d=100ms&kind=green", "d=100ms|kind=green"},
        {"te%78t=%C3%A4", "text=\xc3\xa4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(parse_with(table, cases[i].raw), cases[i].answer);
    }
    assert_string_equal(parse_with(open_table, "u=1&x=2&x=3"), "u=1|x=2|x=3");
}

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *raw, *answer;
    } cases[] = {
        {"nope=1", "!nope"},
        {"Text=1", "!Text"},
        {"=1", "!"},
        {"text=1&text=2", "!text"},
        {"text=%", "!text"},
        {"text=%0", "!text"},
        {"text=%00", "!text"},
        {"text=%ff", "!text"},
        {"%ff=1", "!?"},
        {"u=-1", "!u"},
        {"u=18446744073709551616", "!u"},
        {"u=", "!u"},
        {"u=1.5", "!u"},
        {"i=9223372036854775808", "!i"},
        {"i=-9223372036854775809", "!i"},
        {"i=--1", "!i"},
        {"b=yes", "!b"},
        {"t=soon", "!t"},
        {"t=", "!t"},
        {"d=100", "!d"},
        {"d=-1s", "!d"},
        {"kind=Red", "!kind"},
        {"nope=1&u=x&text=a&d=1", "!nope|u|d"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(parse_with(table, cases[i].raw), cases[i].answer);
    }
    assert_string_equal(parse_with(NULL, "a=1"), "!a");
    assert_string_equal(parse_with(open_table, "u=x"), "!u");
}

/* The bounds of a row are checked before the handler runs. */
static void bounds(void **state) {
    (void)state;
    static const struct http_param bounded[] = {
        {.name = "n", .type = HTTP_UINT, .min = 2, .max = 9, .required = true, .help = "How many."},
        {.name = "limit", .type = HTTP_UINT, .min = 1, .max = 9},
        {.name = "id", .type = HTTP_UINT, .repeats = true, .max = 2},
        {0}};
    static const struct {
        const char *raw, *answer;
    } cases[] = {
        {"n=2", "n=2"},
        {"n=9", "n=9"},
        {"n=1", "!n"},
        {"n=10", "!n"},
        {"", "!n"},
        {"id=1", "!n"},
        {"n=2&limit=0", "!limit"},
        {"n=2&limit=10", "!limit"},
        {"n=2&id=70&id=3", "n=2|id=70|id=3"}, /* max is how often */
        {"n=2&id=1&id=2&id=3", "!id"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(parse_with(bounded, cases[i].raw), cases[i].answer);
    }
}

static void too_many(void **state) {
    (void)state;
    char raw[4096] = "";
    for (int i = 0; i <= HTTP_PARAMS_MAX; i++) {
        strcat(raw, "topic=a&");
    }
    assert_int_equal(params_count(raw), HTTP_PARAMS_MAX + 1); /* refused before they are read */
    raw[8 * HTTP_PARAMS_MAX] = '\0';
    assert_memory_equal(parse_with(table, raw), "topic=a|topic=a|", 16);
}

static void values_by_type(void **state) {
    (void)state;
    struct http_text values[] = {{"u", "7"},    {"i", "-7"}, {"b", ""},      {"from", "1500"},
                                 {"t", "1500"}, {"d", "2m"}, {"topic", "a"}, {"topic", "b"}};
    struct http_route route = {.params = table};
    struct http_request r = {.route = &route, .query = {.values = values, .count = 8}};
    uint64_t u = 0;
    int64_t i = 0, d = 0;
    bool b = false;
    struct reel_time t = {0};
    const char *topics[2] = {0};
    assert_true(http_param_u64(&r, "u", &u) && u == 7);
    assert_true(http_param_i64(&r, "i", &i) && i == -7);
    assert_true(http_param_bool(&r, "b", &b) && b);
    assert_true(http_param_time(&r, "from", &t) && t.ns == 1500000000);
    assert_true(http_param_time(&r, "t", &t) && t.ns == 1500);
    assert_true(http_param_duration(&r, "d", &d) && d == 120000000000);
    assert_int_equal(http_params(&r, "topic", topics, 1), 1);
    assert_int_equal(http_params(&r, "topic", topics, 2), 2);
    assert_string_equal(topics[0], "a");
    assert_null(http_param(&r, "text"));
    assert_false(http_param_u64(&r, "text", &u));
    assert_int_equal(u, 7);
}

static void whole_numbers(void **state) {
    (void)state;
    const char *const none[] = {"",
                                " 1",
                                "1 ",
                                "+1",
                                "--1",
                                "-",
                                "1.",
                                "0x1",
                                "1e3",
                                "18446744073709551616",
                                "184467440737095516150",
                                "9223372036854775808-"};
    for (size_t n = 0; n < sizeof none / sizeof *none; n++) {
        uint64_t u = 7;
        int64_t i = 7;
        assert_false(number_u64(none[n], &u) || number_i64(none[n], &i));
        assert_true(u == 7 && i == 7);
    }
    uint64_t u = 7;
    int64_t i = 7;
    assert_true(number_u64("18446744073709551615", &u) && u == UINT64_MAX);
    assert_true(number_u64("007", &u) && u == 7);
    assert_false(number_u64("-0", &u) || number_i64("9223372036854775808", &i) ||
                 number_i64("-9223372036854775809", &i));
    assert_true(number_i64("-9223372036854775808", &i) && i == INT64_MIN);
    assert_true(number_i64("9223372036854775807", &i) && i == INT64_MAX);
    assert_true(number_u64_of("12.5", 2, &u) && u == 12);
    assert_true(number_i64_of("-12.5", 3, &i) && i == -12);
    assert_false(number_u64_of("12.5", 0, &u) || number_u64_of("12.5", 3, &u) || number_i64_of("-12", 1, &i));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken),  cmocka_unit_test(refused),        cmocka_unit_test(too_many),
        cmocka_unit_test(bounds), cmocka_unit_test(values_by_type), cmocka_unit_test(whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
