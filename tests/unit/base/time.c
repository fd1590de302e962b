/* reel/time.h: times as users write them. */
#include "reel/time.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *parsed(const char *text, int64_t unit) {
    static char out[64];
    static const char *const kinds[] = {"", "start", "end", "now"};
    struct reel_time t;
    struct reel_error err;
    if (!reel_time_parse(text, unit, &t, &err)) {
        assert_int_equal(err.code, REEL_ARGUMENT);
        return "!";
    }
    snprintf(out, sizeof out, "%s%s%" PRId64, kinds[t.kind], t.kind ? " " : "", t.ns);
    return out;
}

static void accepted(void **state) {
    (void)state;
    static const struct {
        const char *text, *answer;
    } cases[] = {
        {"0", "0"},
        {"1273501757457991000", "1273501757457991000"},
        {"9223372036854775807", "9223372036854775807"},
        {"12ns", "12"},
        {"12us", "12000"},
        {"12ms", "12000000"},
        {"12s", "12000000000"},
        {"1.5s", "1500000000"},
        {"1.000000001s", "1000000001"},
        {"1.0000000010000s", "1000000001"},
        {"0.5us", "500"},
        {"+2.5s", "start 2500000000"},
        {"+0s", "start 0"},
        {"+10m", "start 600000000000"},
        {"-2.5s", "end -2500000000"},
        {"-1h", "end -3600000000000"},
        {"-1d", "end -86400000000000"},
        {"now", "now 0"},
        {"now-1h", "now -3600000000000"},
        {"now+1.5m", "now 90000000000"},
        {"1.5", "1500000000"},
        {"1715000000.25", "1715000000250000000"},
        {"1715000000000.25", "1715000000000250000"},
        {"1715000000000000.5", "1715000000000000500"},
        {"1970-01-01T00:00:00Z", "0"},
        {"2010-05-10", "1273449600000000000"},
        {"2010-05-10T14:29:17", "1273501757000000000"},
        {"2010-05-10 14:29:17", "1273501757000000000"},
        {"2010-05-10 14:29:17.5", "1273501757500000000"},
        {"2010-05-10T14:29:17.457991Z", "1273501757457991000"},
        {"2010-05-10T16:29:17.457991000+02:00", "1273501757457991000"},
        {"2010-05-10t10:59:17.457991z", "1273489157457991000"},
        {"2010-05-10 14:29:17Z", "1273501757000000000"},
        {"1969-12-31T23:59:59.5Z", "-500000000"},
        {"2024-02-29T12:00:00-05:30", "1709227800000000000"},
        {"2016-12-31T23:59:60Z", "1483228800000000000"},
        {"2262-04-11T23:47:16.854775807Z", "9223372036854775807"},
        {"1677-09-21T00:12:43.145224192Z", "-9223372036854775808"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(parsed(cases[i].text, 1), cases[i].answer);
    }
    assert_string_equal(parsed("1700000000000", 1000000), "1700000000000000000");
    assert_string_equal(parsed("1700000000000.25", 1000000), "1700000000000250000");
    assert_string_equal(parsed("5s", 1000000), "5000000000");
}

static void refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      " ",
                                      "soon",
                                      "5 s",
                                      "5x",
                                      "+5",
                                      "-5",
                                      "--5s",
                                      "+",
                                      "-",
                                      "+s",
                                      "1.s",
                                      ".5s",
                                      "0.5ns",
                                      "1e9",
                                      "5m",
                                      "5h",
                                      "1d",
                                      "9223372036854775808",
                                      "9223372037s",
                                      "99999999999999999999999999",
                                      "now5",
                                      "now-",
                                      "now 1h",
                                      "nowadays",
                                      "2010-05-10T",
                                      "2010-05-10T14:29",
                                      "2010-13-10T14:29:17Z",
                                      "2010-02-29T00:00:00Z",
                                      "1900-02-29T00:00:00Z",
                                      "2010-05-10T24:00:00Z",
                                      "2010-05-10T14:60:00Z",
                                      "2010-05-10T14:29:61Z",
                                      "2010-05-10T14:29:17.Z",
                                      "2010-05-10T14:29:17.1234567891Z",
                                      "2010-05-10T14:29:17+2:00",
                                      "2010-05-10T14:29:17+02:00x",
                                      "2010-5-10T14:29:17Z",
                                      "2262-04-11T23:47:16.854775808Z",
                                      "9999-12-31T23:59:59Z",
                                      "0000-01-01T00:00:00Z",
                                      "+99999999d",
                                      "1.00000000000000000000000001s"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (strcmp(parsed(bad[i], 1), "!") != 0) {
            print_error("%s\n", bad[i]);
        }
        assert_string_equal(parsed(bad[i], 1), "!");
    }
    struct reel_time t;
    assert_false(reel_time_parse("soon", 1, &t, NULL));
}

static void durations(void **state) {
    (void)state;
    int64_t ns;
    assert_true(reel_duration_parse("100ms", &ns, NULL) && ns == 100000000);
    assert_true(reel_duration_parse("2.5s", &ns, NULL) && ns == 2500000000);
    assert_true(reel_duration_parse("1h", &ns, NULL) && ns == 3600000000000);
    assert_true(reel_duration_parse("0.1m", &ns, NULL) && ns == 6000000000);
    static const char *const bad[] = {"", "0s", "-1s", "+1s", "100", "1 s", "s", "1h30m", "300000000d", "1.5ns"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct reel_error err;
        assert_false(reel_duration_parse(bad[i], &ns, &err));
        assert_int_equal(err.code, REEL_ARGUMENT);
    }
}

static const char *within(const char *text, int64_t first_ns, int64_t last_ns) {
    static char out[400];
    struct reel_time t;
    struct reel_error err = {0};
    int64_t ns;
    assert_true(reel_time_parse(text, 1, &t, &err));
    snprintf(out, sizeof out, "%" PRId64, reel_time_within(&t, first_ns, last_ns, &ns, &err) ? ns : 0);
    return err.text[0] ? strcpy(out, err.text) : out;
}

static void numbers_by_their_magnitude(void **state) {
    (void)state;
    const int64_t first = INT64_C(1273501757000000000), last = first + INT64_C(60000000000);
    assert_string_equal(within("1273501760", first, last), "1273501760000000000");
    assert_string_equal(within("1273501760000", first, last), "1273501760000000000");
    assert_string_equal(within("1273501760000000", first, last), "1273501760000000000");
    assert_string_equal(within("1273501760000000000", first, last), "1273501760000000000");
    assert_string_equal(within("2009-12-01", first, last), "1259625600000000000");
    assert_non_null(strstr(within("10s", first, last), "did you mean +10s?"));
    assert_non_null(strstr(within("2.5", first, last), "did you mean +2.5s?"));
    assert_non_null(strstr(within("10", first, last), "did you mean +10s?"));
    assert_non_null(strstr(within("0", first, last), "1970-01-01"));
    assert_non_null(strstr(within("2008-05-01", first, last), "more than a year outside of the recording"));
    assert_null(strstr(within("2008-05-01", first, last), "did you mean"));
    assert_string_equal(within("5000000000", 0, 10000000000), "5000000000"); /* a relative clock: nanoseconds */
    assert_string_equal(within("5", 0, 10000000000), "5");
    assert_string_equal(within("2.5", 0, 10000000000), "2500000000");
    assert_non_null(strstr(within("2024-05-01", 0, 10000000000), "0.000000000 to 10.000000000"));
    assert_string_equal(within("1715000000", 0, 0), "1715000000000000000"); /* no recording */
}

static void tied_to_a_recording(void **state) {
    (void)state;
    const int64_t first = 1000, last = 5000, now = 9000;
    assert_int_equal(reel_time_resolve(&(struct reel_time){.kind = REEL_TIME_ABSOLUTE, .ns = 7}, first, last, now), 7);
    assert_int_equal(reel_time_resolve(&(struct reel_time){.kind = REEL_TIME_FROM_START, .ns = 7}, first, last, now),
                     1007);
    assert_int_equal(reel_time_resolve(&(struct reel_time){.kind = REEL_TIME_FROM_END, .ns = -7}, first, last, now),
                     4993);
    assert_int_equal(reel_time_resolve(&(struct reel_time){.kind = REEL_TIME_FROM_NOW, .ns = -7}, first, last, now),
                     8993);
    assert_true(reel_time_resolve(&(struct reel_time){.kind = REEL_TIME_FROM_START, .ns = INT64_MAX}, first, last,
                                  now) == INT64_MAX);
    assert_true(reel_time_resolve(&(struct reel_time){.kind = REEL_TIME_FROM_END, .ns = -INT64_MAX}, first,
                                  INT64_MIN + 5, now) == INT64_MIN);
}

static void printed(void **state) {
    (void)state;
    static const struct {
        int64_t ns;
        const char *rfc3339, *seconds;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000000000Z", "0.000000000"},
        {1273501757457991000, "2010-05-10T14:29:17.457991000Z", "1273501757.457991000"},
        {-1, "1969-12-31T23:59:59.999999999Z", "-0.000000001"},
        {-1500000000, "1969-12-31T23:59:58.500000000Z", "-1.500000000"},
        {951782400000000000, "2000-02-29T00:00:00.000000000Z", "951782400.000000000"},
        {INT64_MAX, "2262-04-11T23:47:16.854775807Z", "9223372036.854775807"},
        {INT64_MIN, "1677-09-21T00:12:43.145224192Z", "-9223372036.854775808"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[REEL_TIME_TEXT];
        assert_int_equal(reel_time_rfc3339(cases[i].ns, text), strlen(cases[i].rfc3339));
        assert_string_equal(text, cases[i].rfc3339);
        struct reel_time back;
        assert_true(reel_time_parse(text, 1, &back, NULL));
        assert_true(back.ns == cases[i].ns);
        assert_int_equal(reel_time_seconds(cases[i].ns, text), strlen(cases[i].seconds));
        assert_string_equal(text, cases[i].seconds);
    }
    for (int64_t day = -100000; day < 100000; day += 7) { /* every date comes back */
        char text[REEL_TIME_TEXT];
        struct reel_time back;
        reel_time_rfc3339(day * 86400000000000, text);
        assert_true(reel_time_parse(text, 1, &back, NULL) && back.ns == day * 86400000000000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted),
        cmocka_unit_test(refused),
        cmocka_unit_test(durations),
        cmocka_unit_test(numbers_by_their_magnitude),
        cmocka_unit_test(tied_to_a_recording),
        cmocka_unit_test(printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
