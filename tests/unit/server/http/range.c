/* server/http/range.c: the Range header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "http/http_internal.h"

/* The answer as text: "whole", "none", or "first-last,…". */
static const char *answer_to(const char *header, uint64_t length) {
    static char text[2048];
    struct http_ranges ranges;
    enum http_range_answer answer = range_parse(header, length, &ranges);
    if (answer != RANGE_PARTS) {
        return answer == RANGE_WHOLE ? "whole" : "none";
    }
    size_t used = 0;
    for (size_t i = 0; i < ranges.count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu-%llu", i ? "," : "",
                                 (unsigned long long)ranges.items[i].first, (unsigned long long)ranges.items[i].last);
    }
    return text;
}

struct expected {
    const char *header;
    uint64_t length;
    const char *answer;
};

static void check(const struct expected *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(answer_to(cases[i].header, cases[i].length), cases[i].answer);
    }
}

static void single_ranges(void **state) {
    (void)state;
    static const struct expected cases[] = {
        {"bytes=0-0", 10, "0-0"},
        {"bytes=0-", 10, "0-9"},
        {"bytes=9-", 10, "9-9"},
        {"bytes=3-100", 10, "3-9"},
        {"bytes=-1", 10, "9-9"},
        {"bytes=-10", 10, "0-9"},
        {"bytes=-11", 10, "0-9"},
        {"BYTES= 1-2 ", 10, "1-2"},
        {"bytes=10-", 10, "none"},
        {"bytes=-0", 10, "none"},
        {"bytes=0-", 0, "none"},
        {"bytes=-5", 0, "whole"},
        {"bytes=,1-2,", 10, "1-2"},
        {"bytes=10-,-0", 10, "none"},
        {"bytes=10-20,4-5", 10, "4-5"},
        {"bytes=0-18446744073709551615", 10, "0-9"},
        {"bytes=0-99999999999999999999999999", 10, "0-9"},
        {"bytes=99999999999999999999999999-", UINT64_MAX, "none"},
        {"bytes=-99999999999999999999999999", 10, "0-9"},
    };
    check(cases, sizeof cases / sizeof cases[0]);
}

static void what_is_no_range(void **state) {
    (void)state;
    static const struct expected cases[] = {
        {NULL, 10, "whole"},
        {"", 10, "whole"},
        {"bytes=", 10, "whole"},
        {"bytes=,", 10, "whole"},
        {"bytes=5-4", 10, "whole"},
        {"bytes=a-b", 10, "whole"},
        {"bytes=1", 10, "whole"},
        {"bytes=-", 10, "whole"},
        {"bytes=1-2x", 10, "whole"},
        {"items=1-2", 10, "whole"},
        {"bytes=1-2 3-4", 10, "whole"},
        {"bytes 1-2", 10, "whole"},
        {"bytes=1-2,x", 10, "whole"},
        {"bytes=--1", 10, "whole"},
    };
    check(cases, sizeof cases / sizeof cases[0]);
}

static void several_ranges(void **state) {
    (void)state;
    static const struct expected cases[] = {
        {"bytes=0-1,4-5", 10, "0-1,4-5"},
        {"bytes=4-5,0-1", 10, "4-5,0-1"},     /* apart: as asked */
        {"bytes=4-5,2-3,0-1", 10, "0-5"},     /* adjacent */
        {"bytes=0-4,2-3", 10, "0-4"},         /* inside */
        {"bytes=8-9,0-3,2-5", 10, "0-5,8-9"}, /* once something merges: in order */
        {"bytes=0-,-1", 10, "0-9"},
        {"bytes=0-0 , -1", 10, "0-0,9-9"},
        {"bytes=0-18446744073709551614,5-6", UINT64_MAX, "0-18446744073709551614"},
    };
    check(cases, sizeof cases / sizeof cases[0]);
}

static void too_many_are_the_whole(void **state) {
    (void)state;
    char header[1024] = "bytes=";
    for (int i = 0; i < HTTP_RANGES_MAX; i++) {
        size_t used = strlen(header);
        snprintf(header + used, sizeof header - used, "%d-%d,", 4 * i, 4 * i + 1);
    }
    struct http_ranges ranges;
    assert_int_equal(range_parse(header, 1000, &ranges), RANGE_PARTS);
    assert_int_equal(ranges.count, HTTP_RANGES_MAX);
    strcat(header, "999-999");
    assert_int_equal(range_parse(header, 1000, &ranges), RANGE_WHOLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_ranges),
        cmocka_unit_test(what_is_no_range),
        cmocka_unit_test(several_ranges),
        cmocka_unit_test(too_many_are_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
