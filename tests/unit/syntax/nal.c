/* syntax/nal.h: units behind start codes of either length, what they are, and the sides in a parameter set. */
#include "syntax/nal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void units_behind_both_start_codes(void **state) {
    (void)state;
    static const char text[] = "junk\0\0\1\x67"
                               "ab\0\0\0\1\x68\0\0\1\0\0\1\x65"
                               "c\0\0";
    struct reel_bytes unit, stream = bytes_of(text, sizeof text - 1);
    static const enum nal_role roles[] = {NAL_SPS, NAL_PPS, NAL_KEY_PICTURE};
    static const size_t sizes[] = {3, 1, 2};
    for (size_t i = 0; i < 3; i++) {
        assert_true(nal_next(&stream, &unit));
        assert_int_equal(nal_role(unit, false), roles[i]);
        assert_int_equal(unit.size, sizes[i]);
    }
    assert_false(nal_next(&stream, &unit));
    stream = bytes_of("", 0);
    assert_false(nal_next(&stream, &unit));
}

/* What they are in a good set is compared with ffprobe in tests/e2e/test_video.py. */
static void sets_that_end_early(void **state) {
    (void)state;
    struct nal_size size;
    assert_false(nal_read_sps(bytes_of("\x67\x42\0\x1e", 4), false, &size));
    assert_false(nal_read_sps(bytes_of("", 0), false, &size));
    assert_false(nal_read_sps(bytes_of("\x42", 1), true, &size));
}

/* 16384 x 16384, of which all but 66 are cut off: what decoders allocate is known. */
static void sets_with_edges(void **state) {
    static const char set[] = "\x67\x42\x00\x34\xd8\x44\x00\x40\x00\x02\x00\x78\x00\x7f\x82\x00\x1f\xe0\x40";
    struct nal_size size;
    (void)state;
    assert_true(nal_read_sps(bytes_of(set, sizeof set - 1), false, &size));
    assert_int_equal(size.width, 66);
    assert_int_equal(size.height, 66);
    assert_int_equal(size.coded_width, 16384);
    assert_int_equal(size.coded_height, 16384);
}

static void any_bytes(void **state) {
    (void)state;
    srand(1);
    for (unsigned n = 0; n < 50000; n++) {
        size_t size = 1 + (size_t)rand() % 200;
        uint8_t *data = malloc(size); /* of its size, so that a read beyond is found */
        struct nal_size sides;
        for (size_t i = 0; i < size; i++) {
            int r = rand();
            data[i] = r % 3 == 0 ? 0 : r % 7 == 0 ? 1 : (uint8_t)(r >> 8);
        }
        struct reel_bytes stream = bytes_of(data, size), unit;
        bool good = nal_read_sps(stream, n & 1, &sides);
        assert_true(!good || (sides.width > 0 && sides.width <= 65535 && sides.height > 0 && sides.height <= 65535));
        while (nal_next(&stream, &unit)) {
            nal_role(unit, n & 1);
            nal_read_sps(unit, n & 1, &sides);
        }
        free(data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_behind_both_start_codes),
        cmocka_unit_test(sets_that_end_early),
        cmocka_unit_test(sets_with_edges),
        cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
