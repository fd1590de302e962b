/* core/arena.h and core/utf8.h: alignment, zeroes, the ceiling, and what counts as UTF-8. */
#include "base/arena.h"
#include "base/bytes.h"
#include "syntax/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool is_zero(const uint8_t *p, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (p[i] != 0) {
            return false;
        }
    }
    return true;
}

static void memory_is_aligned_zeroed_and_apart(void **state) {
    (void)state;
    struct arena a = {0};
    const size_t sizes[] = {0, 1, 15, 16, 17, 1000, 20000, 70000, 3, 2 << 20, 5};
    uint8_t *got[sizeof sizes / sizeof *sizes * 40];
    size_t count = 0;
    for (size_t round = 0; round < 40; round++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++, count++) {
            got[count] = (uint8_t *)arena_alloc(&a, sizes[i]);
            assert_non_null(got[count]);
            assert_int_equal((uintptr_t)got[count] % 16, 0);
            assert_true(is_zero(got[count], sizes[i]));
            memset(got[count], (int)(count % 251 + 1), sizes[i]); /* must not show in any other */
        }
    }
    for (size_t n = 0; n < count; n++) {
        size_t size = sizes[n % (sizeof sizes / sizeof *sizes)];
        for (size_t i = 0; i<size; i += size> 2000 ? 1999 : 1) {
            assert_int_equal(got[n][i], n % 251 + 1);
        }
    }
    arena_free(&a);
    assert_int_equal(a.used, 0);
    assert_non_null(arena_alloc(&a, 10)); /* may be used again */
    arena_free(&a);
    arena_free(&a);
}

static void small_requests_share_blocks(void **state) {
    (void)state;
    struct arena a = {0};
    for (int i = 0; i < 100000; i++) {
        assert_non_null(arena_alloc(&a, 16));
    }
    assert_true(a.used >= 1600000 && a.used < 2 * 1600000);
    size_t used = a.used;
    size_t left = a.left;
    assert_non_null(arena_alloc(&a, 10 << 20)); /* does not take the block that small ones are cut from */
    assert_int_equal(a.left, left);
    assert_true(a.used - used < (10 << 20) + 100);
    arena_free(&a);
}

static void the_ceiling_holds(void **state) {
    (void)state;
    struct arena a = {.max = 200000};
    assert_null(arena_alloc(&a, 200001));
    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_null(arena_alloc(&a, SIZE_MAX - 20));
    size_t total = 0;
    while (arena_alloc(&a, 100)) {
        total += 100;
        assert_true(a.used <= a.max);
    }
    assert_true(total > 150000);
    arena_free(&a);
    assert_int_equal(a.max, 200000);
}

static void copies_are_copies(void **state) {
    (void)state;
    struct arena a = {0};
    char text[] = "scan";
    const char *copy = arena_text(&a, text);
    const uint8_t *data = (const uint8_t *)arena_copy(&a, text, 2);
    text[0] = 'X';
    assert_string_equal(copy, "scan");
    assert_memory_equal(data, "sc", 2);
    assert_non_null(arena_copy(&a, NULL, 0));
    arena_free(&a);
}

static void utf8_counts_are_those_of_unicode(void **state) {
    (void)state;
    unsigned two = 0;
    unsigned three = 0;
    unsigned four = 0;
    const uint8_t tails[] = {0x00, 0x7f, 0x80, 0xbf, 0xc0, 0xff}; /* two of them are continuation bytes */
    for (unsigned n = 0; n < 1U << 24; n++) {
        const uint8_t p[3] = {(uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
        three += utf8_length(p, 3) == 3;
        two += n < 1U << 16 && utf8_length(p + 1, 2) == 2;
    }
    for (unsigned n = 0; n < 1U << 16; n++) {
        for (size_t i = 0; i < 36; i++) {
            const uint8_t p[4] = {(uint8_t)(n >> 8), (uint8_t)n, tails[i / 6], tails[i % 6]};
            four += utf8_length(p, 4) == 4;
        }
    }
    assert_int_equal(two, 0x800 - 0x80);
    assert_int_equal(three, 0x10000 - 0x800 - 0x800); /* without the surrogates */
    assert_int_equal(four, (0x110000 - 0x10000) / 0x1000 * 4);
    assert_int_equal(utf8_length((const uint8_t *)"\xe2\x82\xac", 2), 0);
    assert_int_equal(utf8_length((const uint8_t *)"", 0), 0);
}

static void other_bytes_become_escapes(void **state) {
    (void)state;
    static const struct {
        const char *raw;
        size_t size;
        const char *text;
    } cases[] = {
        {"", 0, ""},
        {"/scan", 5, "/scan"},
        {"a\0b", 3, "a\\x00b"},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\xa4\x96", 9, "\xc3\xa4\xe2\x82\xac\xf0\x9f\xa4\x96"},
        {"\xc0\xaf", 2, "\\xc0\\xaf"},                   /* overlong */
        {"\xe0\x80\x80", 3, "\\xe0\\x80\\x80"},          /* overlong */
        {"\xed\xa0\x80", 3, "\\xed\\xa0\\x80"},          /* surrogate */
        {"\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80"}, /* above 10FFFF */
        {"\xf4\x8f\xbf\xbf", 4, "\xf4\x8f\xbf\xbf"},     /* 10FFFF */
        {"x\xe2\x82", 3, "x\\xe2\\x82"},                 /* cut */
        {"\xff\xfe\x41\xc3\x28", 5,
         "\\xff\\xfe"
         "A\\xc3("},
        {"\n\x7f", 2, "\n\x7f"}, /* controls are valid text */
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(arena_utf8(&a, bytes_of(cases[i].raw, cases[i].size)), cases[i].text);
    }
    arena_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_aligned_zeroed_and_apart),
        cmocka_unit_test(small_requests_share_blocks),
        cmocka_unit_test(the_ceiling_holds),
        cmocka_unit_test(copies_are_copies),
        cmocka_unit_test(utf8_counts_are_those_of_unicode),
        cmocka_unit_test(other_bytes_become_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
