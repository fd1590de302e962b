/* base/hash_table.h: what was set is found, keys are compared whole, and an empty table holds nothing. */
#include "base/hash_table.h"
#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void numbers_are_found_again(void **state) {
    (void)state;
    struct hash_table t = {.slots = NULL};
    struct reel_error err = {0};
    enum { COUNT = 100000 };
    assert_int_equal(hash_table_get(&t, hash_key_number(0)), 0);
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_true(hash_table_set(&t, hash_key_number(i << 40 | i), (uintptr_t)i + 1, &err));
    }
    assert_int_equal(t.count, COUNT);
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_int_equal(hash_table_get(&t, hash_key_number(i << 40 | i)), i + 1);
        assert_int_equal(hash_table_get(&t, hash_key_number(i << 40 | (i + 1))), 0);
    }
    hash_table_free(&t);
    assert_int_equal(hash_table_get(&t, hash_key_number(0)), 0);
}

static void bytes_and_number_both_count(void **state) {
    (void)state;
    struct hash_table t = {.slots = NULL};
    struct reel_error err = {0};
    const struct hash_key keys[] = {
        hash_key_bytes(bytes_text("")),
        hash_key_bytes(bytes_text("a")),
        hash_key_bytes(bytes_of("a\0", 2)),
        hash_key_bytes(bytes_text("0123456789abcdef")),
        hash_key_bytes(bytes_text("0123456789abcdeg")),
        hash_key_bytes(bytes_text("0123456789abcdef0123456789")),
        {.number = 1, .bytes = bytes_text("a")},
        {.number = 2, .bytes = bytes_text("a")},
        hash_key_number(1),
    };
    enum { COUNT = sizeof keys / sizeof *keys };
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(hash_table_get(&t, keys[i]), 0);
        assert_true(hash_table_set(&t, keys[i], i + 1, &err));
    }
    assert_int_equal(t.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(hash_table_get(&t, keys[i]), i + 1);
    }
    hash_table_free(&t);
}

static void a_value_is_replaced(void **state) {
    (void)state;
    struct hash_table t = {.slots = NULL};
    struct reel_error err = {0};
    assert_true(hash_table_set(&t, hash_key_bytes(bytes_text("x")), 1, &err));
    assert_true(hash_table_set(&t, hash_key_bytes(bytes_text("x")), 2, &err));
    assert_int_equal(t.count, 1);
    assert_int_equal(hash_table_get(&t, hash_key_bytes(bytes_text("x"))), 2);
    hash_table_free(&t);
}

/* Names chosen for one table do not meet in another. */
static void each_table_has_its_own_seed(void **state) {
    (void)state;
    struct hash_table a = {.slots = NULL}, b = {.slots = NULL};
    struct reel_error err = {0};
    assert_true(hash_table_set(&a, hash_key_number(1), 1, &err));
    assert_true(hash_table_set(&b, hash_key_number(1), 1, &err));
    assert_true(a.seed != b.seed);
    assert_true(hash_bytes(a.seed, bytes_text("name")) != hash_bytes(b.seed, bytes_text("name")));
    hash_table_free(&a);
    hash_table_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_found_again),
        cmocka_unit_test(bytes_and_number_both_count),
        cmocka_unit_test(a_value_is_replaced),
        cmocka_unit_test(each_table_has_its_own_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
