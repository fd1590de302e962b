/* base/sink.h: whatever the window, what is stored is that part of the whole. */
#include "base/sink.h"
#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>
#include <zlib.h>

#include <cmocka.h>

static const uint8_t sample[] = {0x2a, 0x34, 0x12, 0x78, 0x56, 0x34, 0x12, 8,   7,   6,   5,   4,   3,   2,
                                 1,    3,    0,    0,    0,    'a',  'b',  'c', ' ', ' ', ' ', ' ', ' ', 'z'};

static void emit(struct reel_sink *s) {
    reel_sink_u8(s, 0x2a);
    reel_sink_u16le(s, 0x1234);
    reel_sink_u32le(s, 0x12345678);
    reel_sink_u64le(s, 0x0102030405060708ULL);
    reel_sink_string32(s, bytes_text("abc"));
    reel_sink_fill(s, ' ', 5);
    reel_sink_put_bytes(s, bytes_of(NULL, 0));
    reel_sink_fill(s, 'x', 0);
    reel_sink_put(s, "z", 1);
}

static void counting_needs_no_memory(void **state) {
    (void)state;
    struct reel_sink s = {0};
    emit(&s);
    assert_int_equal(s.pos, sizeof sample);
    reel_sink_fill(&s, 0, 1ULL << 50);
    assert_true(s.pos == (1ULL << 50) + sizeof sample);
}

static void every_window_shows_its_part(void **state) {
    (void)state;
    for (size_t lo = 0; lo <= sizeof sample; lo++) {
        for (size_t hi = lo; hi <= sizeof sample + 2; hi++) {
            for (int hashing = 0; hashing < 2; hashing++) {
                uint8_t buffer[sizeof sample + 4];
                memset(buffer, 0xee, sizeof buffer);
                struct reel_sink s = {.lo = lo, .hi = hi, .buffer = buffer + 1, .hashing = hashing};
                emit(&s);
                size_t end = hi < sizeof sample ? hi : sizeof sample;
                assert_int_equal(s.pos, sizeof sample);
                assert_memory_equal(buffer + 1, sample + lo, end - lo);
                assert_int_equal(buffer[0], 0xee);
                for (size_t i = 1 + end - lo; i < sizeof buffer; i++) {
                    assert_int_equal(buffer[i], 0xee);
                }
                assert_int_equal(s.crc, hashing ? crc32(0, sample, sizeof sample) : 0);
            }
        }
    }
}

static void a_window_far_inside_a_run(void **state) {
    (void)state;
    uint8_t buffer[3];
    struct reel_sink s = {.lo = 1ULL << 40, .hi = (1ULL << 40) + 3, .buffer = buffer};
    clock_t start = clock();
    reel_sink_fill(&s, 'q', 1ULL << 41);
    assert_memory_equal(buffer, "qqq", 3);
    assert_true(clock() - start < CLOCKS_PER_SEC / 10);
}

static void runs_are_hashed(void **state) {
    (void)state;
    static uint8_t run[10001];
    memset(run, 7, sizeof run);
    struct reel_sink s = {.hashing = true};
    reel_sink_put(&s, "ab", 2);
    reel_sink_fill(&s, 7, sizeof run);
    assert_int_equal(s.crc, crc32(crc32(0, (const uint8_t *)"ab", 2), run, sizeof run));
}

static void stored_bytes_can_be_patched(void **state) {
    (void)state;
    uint8_t buffer[8];
    struct reel_sink s = {.lo = 10, .hi = 18, .buffer = buffer};
    assert_ptr_equal(reel_sink_at(&s, 10, 8), buffer);
    assert_ptr_equal(reel_sink_at(&s, 14, 4), buffer + 4);
    assert_null(reel_sink_at(&s, 9, 4));
    assert_null(reel_sink_at(&s, 15, 4));
    assert_null(reel_sink_at(&s, 12, 0));
    s.partial = true;
    assert_null(reel_sink_at(&s, 10, 8));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_needs_no_memory),    cmocka_unit_test(every_window_shows_its_part),
        cmocka_unit_test(a_window_far_inside_a_run),   cmocka_unit_test(runs_are_hashed),
        cmocka_unit_test(stored_bytes_can_be_patched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
