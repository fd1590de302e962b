/* Tar archives: headers that old and new programs read, and names that can be unpacked into one folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "syntax/ustar.h"

static uint8_t head[USTAR_HEAD_MAX];

static void a_short_name_needs_one_block(void **state) {
    (void)state;
    assert_int_equal(ustar_head("lab/run.bag", 1000, 1700000000, head), USTAR_BLOCK);
    assert_string_equal((char *)head, "lab/run.bag");
    assert_string_equal((char *)head + 124, "00000001750");
    assert_memory_equal(head + 257,
                        "ustar\0"
                        "00",
                        8);
    unsigned sum = 0, stated = 0;
    for (int i = 0; i < USTAR_BLOCK; i++) {
        sum += i >= 148 && i < 156 ? ' ' : head[i];
    }
    assert_int_equal(sscanf((char *)head + 148, "%o", &stated), 1);
    assert_int_equal(stated, sum);
    assert_int_equal(ustar_padding(1000), 24);
    assert_int_equal(ustar_padding(1024), 0);
}

static void what_does_not_fit_goes_into_a_pax_header(void **state) {
    (void)state;
    char name[USTAR_NAME_MAX];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(ustar_head("lab/large", UINT64_C(9) << 30, 0, head), 3 * USTAR_BLOCK);
    assert_int_equal(head[156], 'x');
    assert_string_equal((char *)head + USTAR_BLOCK, "19 size=9663676416\n");
    assert_int_equal(ustar_head("\xc3\xa9", 5, 0, head), 3 * USTAR_BLOCK);
    assert_string_equal((char *)head + USTAR_BLOCK, "11 path=\xc3\xa9\n");
    size_t size = ustar_head(name, UINT64_MAX, INT64_MAX, head); /* the longest there is */
    assert_true(size <= USTAR_HEAD_MAX);
    assert_int_equal(head[size - USTAR_BLOCK + 156], '0');
}

static void names_get_out_of_the_way(void **state) {
    (void)state;
    const char *const given[][2] = {{"a", "1"}, {"a/b", "2"}, {"a-b", "3"}, {"a", "4"}, {"a~1", "5"}, {"c", "6"}};
    struct ustar_name names[6];
    struct reel_error err;
    for (size_t i = 0; i < 6; i++) {
        names[i] = (struct ustar_name){.name = strdup(given[i][0]), .tag = given[i][1], .position = i};
    }
    assert_true(ustar_part(names, 6, &err));
    for (size_t i = 0; i < 6; i++) {
        for (size_t k = 0; k < 6; k++) {
            size_t n = strlen(names[i].name);
            bool in_the_way = i != k && strncmp(names[i].name, names[k].name, n) == 0 &&
                              (names[k].name[n] == '\0' || names[k].name[n] == '/');
            assert_false(in_the_way);
        }
        bool unmoved = names[i].position == 1 || names[i].position == 2 || names[i].position == 5;
        assert_int_equal(strcmp(names[i].name, given[names[i].position][0]) == 0 || !unmoved, true);
    }
    for (size_t i = 0; i < 6; i++) {
        free(names[i].name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_name_needs_one_block),
        cmocka_unit_test(what_does_not_fit_goes_into_a_pax_header),
        cmocka_unit_test(names_get_out_of_the_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
