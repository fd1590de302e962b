/* core/window.h: the right bytes at any place, each read once on a walk, and honest after a failed read. */
#include "base/window.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <string.h>

/* A source that counts what it reads and can be set to fail. */
struct counted {
    struct reel_source source;
    uint64_t bytes, reads;
    bool broken;
};

static uint8_t byte_at(uint64_t offset) {
    return (uint8_t)(offset * 167 + (offset >> 8));
}
static bool counted_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                         struct reel_error *err) {
    struct counted *c = (struct counted *)source;
    if (c->broken) {
        return reel_fail(err, REEL_IO, "broken");
    }
    for (size_t i = 0; i < size; i++) {
        ((uint8_t *)buffer)[i] = byte_at(offset + i);
    }
    c->bytes += size;
    c->reads++;
    return true;
}
static const struct reel_source_ops counted_ops = {.read = counted_read};

static struct counted counted_of(uint64_t size) {
    return (struct counted){.source = {.ops = &counted_ops, .size = size, .name = "counted"}};
}

static void expect(struct window *w, uint64_t offset, size_t size) {
    struct reel_error err = {0};
    const uint8_t *p = window_at(w, offset, size, &err);
    assert_non_null(p);
    for (size_t i = 0; i < size; i++) {
        if (p[i] != byte_at(offset + i)) {
            fail_msg("byte %zu at %llu", i, (unsigned long long)offset);
        }
    }
}

static void a_walk_reads_each_byte_once(void **state) {
    (void)state;
    struct counted c = counted_of(100000);
    struct window w;
    struct reel_error err = {0};
    assert_true(window_open(&w, &c.source, 1000, &err));
    uint64_t at = 0;
    for (size_t size = 1; at + size + 8 <= c.source.size; size = (size * 7 + 3) % 700) {
        expect(&w, at, 8); /* a header, then the record that it begins */
        expect(&w, at, 8 + size);
        at += 8 + size;
    }
    expect(&w, at, (size_t)(c.source.size - at));
    assert_int_equal(c.bytes, c.source.size);
    assert_true(c.reads < 350);
    assert_int_equal(w.capacity, 1000);
    window_close(&w);
}

static void jumps_and_large_requests(void **state) {
    (void)state;
    struct counted c = counted_of(50000);
    struct window w;
    struct reel_error err = {0};
    assert_true(window_open(&w, &c.source, 64, &err));
    uint64_t seed = 1;
    for (int i = 0; i < 5000; i++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        uint64_t offset = (seed >> 33) % c.source.size;
        size_t size = (size_t)((seed >> 20) % (i < 2500 ? 65 : 3000));
        expect(&w, offset, size < c.source.size - offset ? size : (size_t)(c.source.size - offset));
        assert_true(w.capacity <= (i < 2500 ? 65 * 2 : 3000 * 2));
    }
    expect(&w, 0, 50000);
    assert_int_equal(w.capacity, 50000);
    window_close(&w);
}

static void held_bytes_are_reported(void **state) {
    (void)state;
    struct counted c = counted_of(150);
    struct window w;
    struct reel_error err = {0};
    assert_true(window_open(&w, &c.source, 100, &err));
    assert_int_equal(window_held(&w, 0), 0);
    expect(&w, 20, 1);
    assert_int_equal(window_held(&w, 20), 100);
    assert_int_equal(window_held(&w, 119), 1);
    assert_int_equal(window_held(&w, 120), 0);
    assert_int_equal(window_held(&w, 19), 0);
    expect(&w, 119, 2);
    assert_int_equal(window_held(&w, 119), 31); /* to the end of the source */
    window_close(&w);
    window_close(&w);
}

static void requests_outside_are_damage(void **state) {
    (void)state;
    struct counted c = counted_of(150);
    struct window w;
    struct reel_error err = {0};
    assert_true(window_open(&w, &c.source, 100, &err));
    assert_non_null(window_at(&w, 150, 0, &err));
    const struct {
        uint64_t offset;
        size_t size;
    } outside[] = {{0, 151},       {149, 2},           {151, 0}, {UINT64_MAX, 1}, {UINT64_MAX, SIZE_MAX},
                   {50, SIZE_MAX}, {50, SIZE_MAX - 49}};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        err = (struct reel_error){0};
        assert_null(window_at(&w, outside[i].offset, outside[i].size, &err));
        assert_int_equal(err.code, REEL_DAMAGED);
        assert_non_null(strstr(err.text, "exceeds the file"));
        assert_int_equal(w.capacity, 100);
    }
    expect(&w, 0, 150);
    window_close(&w);
}

static void a_failed_read_leaves_no_wrong_bytes(void **state) {
    (void)state;
    struct counted c = counted_of(1000);
    struct window w;
    struct reel_error err = {0};
    assert_true(window_open(&w, &c.source, 100, &err));
    expect(&w, 0, 100);
    c.broken = true;
    assert_null(window_at(&w, 90, 20, &err));
    assert_int_equal(err.code, REEL_IO);
    expect(&w, 90, 10); /* what was kept is still right */
    assert_null(window_at(&w, 500, 20, &err));
    assert_int_equal(window_held(&w, 500), 0);
    c.broken = false;
    expect(&w, 500, 20);
    window_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_reads_each_byte_once),
        cmocka_unit_test(jumps_and_large_requests),
        cmocka_unit_test(held_bytes_are_reported),
        cmocka_unit_test(requests_outside_are_damage),
        cmocka_unit_test(a_failed_read_leaves_no_wrong_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
