/* core/cursor.h: bounded, sticky, and a sub-cursor stays in its record. */
#include "base/cursor.h"
#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void numbers_are_little_endian(void **state) {
    (void)state;
    const uint8_t data[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0xff};
    struct cursor c = cursor_of(bytes_of(data, sizeof data));
    assert_int_equal(cursor_left(&c), 15);
    assert_int_equal(cursor_u8(&c), 0x01);
    assert_int_equal(cursor_u16le(&c), 0x0302);
    assert_int_equal(cursor_u32le(&c), 0x07060504);
    assert_int_equal(cursor_left(&c), 8);
    assert_false(cursor_done(&c));
    assert_true(cursor_u64le(&c) == 0xff0e0d0c0b0a0908ULL);
    assert_true(cursor_done(&c));
    assert_false(c.failed);
}

static void big_endian_of_any_width(void **state) {
    (void)state;
    const uint8_t data[] = {0xf1, 0xf2, 0xf3, 0x80, 0, 0, 0, 0, 0, 0, 1};
    struct cursor c = cursor_of(bytes_of(data, sizeof data));
    assert_true(cursor_be(&c, 1) == 0xf1);
    assert_true(cursor_be(&c, 2) == 0xf2f3);
    assert_true(cursor_be(&c, 8) == 0x8000000000000001ULL);
    assert_false(c.failed);
    assert_true(cursor_be(&c, 4) == 0);
    assert_true(c.failed);
}

static void failure_sticks_and_reads_zero(void **state) {
    (void)state;
    const uint8_t data[] = {1, 2, 3, 4, 5};
    struct cursor c = cursor_of(bytes_of(data, sizeof data));
    assert_int_equal(cursor_u8(&c), 1);
    assert_true(cursor_u64le(&c) == 0);
    assert_true(c.failed);
    assert_int_equal(cursor_u8(&c), 0); /* although four bytes were left before */
    assert_int_equal(cursor_u16le(&c), 0);
    assert_int_equal(cursor_u32le(&c), 0);
    assert_null(cursor_take(&c, 1));
    assert_int_equal(cursor_bytes(&c, 3).size, 0);
    assert_true(c.failed);
}

static void lengths_from_outside_cannot_wrap(void **state) {
    (void)state;
    const uint8_t data[] = {0xff, 0xff, 0xff, 0xff, 'a', 'b'};
    struct cursor c = cursor_of(bytes_of(data, sizeof data));
    struct reel_bytes text = cursor_string32(&c);
    assert_true(c.failed);
    assert_int_equal(text.size, 0);
    assert_non_null(text.data);

    c = cursor_of(bytes_of(data, sizeof data));
    assert_null(cursor_take(&c, UINT64_MAX));
    assert_true(c.failed);
}

static void strings_carry_their_length(void **state) {
    (void)state;
    const uint8_t data[] = {2, 0, 0, 0, 'h', 'i', 0, 0, 0, 0, 9};
    struct cursor c = cursor_of(bytes_of(data, sizeof data));
    assert_true(bytes_is(cursor_string32(&c), "hi"));
    assert_true(bytes_is(cursor_string32(&c), ""));
    assert_int_equal(cursor_u8(&c), 9);
    assert_true(cursor_done(&c));
    assert_false(c.failed);
}

static void a_sub_cursor_stays_in_its_record(void **state) {
    (void)state;
    const uint8_t data[] = {1, 2, 3, 4, 5, 6};
    struct cursor c = cursor_of(bytes_of(data, sizeof data));
    struct cursor sub = cursor_sub(&c, 3);
    assert_int_equal(cursor_u16le(&sub), 0x0201);
    assert_int_equal(cursor_u16le(&sub), 0);
    assert_true(sub.failed);
    assert_false(c.failed);
    assert_int_equal(cursor_u8(&c), 4); /* the outer one is at the end of the record */

    sub = cursor_sub(&c, 3); /* only two are left */
    assert_true(sub.failed);
    assert_true(c.failed);
    assert_int_equal(cursor_left(&sub), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_little_endian),     cmocka_unit_test(big_endian_of_any_width),
        cmocka_unit_test(failure_sticks_and_reads_zero), cmocka_unit_test(lengths_from_outside_cannot_wrap),
        cmocka_unit_test(strings_carry_their_length),    cmocka_unit_test(a_sub_cursor_stays_in_its_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
