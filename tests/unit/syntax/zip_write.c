/* syntax/zip_write.c at the limits of the fields of 32 and 16 bits. Large archives are made of members that repeat one
 * byte; only the ranges that a reader asks for are rendered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <zip.h>

#include "base/cleanup.h"
#include "base/source.h"
#include "syntax/zip.h"
#include "syntax/zip_write.h"

enum { MEMBERS_MAX = 4 };
#define GIB (UINT64_C(1) << 30)

struct archive {
    struct reel_source source;
    const uint64_t *sizes;
    size_t count;
};

static void name_of(size_t i, char name[16]) {
    snprintf(name, 16, "m%05zu", i);
}

static void emit(const struct archive *a, struct reel_sink *out) {
    uint64_t at[MEMBERS_MAX];
    char name[16];
    for (size_t i = 0; i < a->count; i++) {
        at[i] = out->pos;
        name_of(i, name);
        zip_put_local(out, name, 7, a->sizes[i], a->sizes[i] > ZIP_PLAIN_MAX);
        reel_sink_fill(out, (uint8_t)('a' + i), a->sizes[i]);
    }
    uint64_t directory = out->pos;
    for (size_t i = 0; i < a->count; i++) {
        name_of(i, name);
        zip_put_central(out, name, 7, a->sizes[i], at[i], a->sizes[i] > ZIP_PLAIN_MAX);
    }
    zip_put_end(out, directory, a->count);
}

static bool archive_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                         struct reel_error *err) {
    struct reel_sink out = {.lo = offset, .hi = offset + size, .buffer = buffer};
    (void)err;
    emit((const struct archive *)source, &out);
    return true;
}
static void archive_free(struct reel_source *source) {
    (void)source;
}

static void sizes_and_places_beyond_32_bits(void **state) {
    (void)state;
    static const struct reel_source_ops ops = {.read = archive_read, .free = archive_free};
    static const uint64_t sizes[][MEMBERS_MAX] = {
        {5 * GIB, 3, 0, 5},          {2 * GIB - 1, 2 * GIB, 7, 1}, {4 * GIB - 1, 4 * GIB, 4 * GIB - 2, 9},
        {4 * GIB - 36 - 1, 1, 2, 3}, /* the second header is at 2^32 - 1 */
        {GIB, GIB, GIB, GIB},        /* the directory is beyond 2^32 */
    };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct archive a = {.sizes = sizes[k], .count = MEMBERS_MAX};
        struct reel_sink length = {0};
        struct reel_error err = {0};
        emit(&a, &length);
        a.source = (struct reel_source){.ops = &ops, .size = length.pos, .name = "large.zip"};
        AUTO_STRUCT(zip_contents_free) struct zip_contents zip = {.count = 0};
        if (!zip_contents_read(&zip, &a.source, &err)) {
            fail_msg("%s", err.text);
        }
        assert_int_equal(zip.count, MEMBERS_MAX);
        for (size_t i = 0; i < MEMBERS_MAX; i++) {
            const struct zip_member *m = &zip.members[i];
            uint8_t ends[2] = {0};
            assert_null(m->problem);
            assert_int_equal(m->raw, sizes[k][i]);
            assert_int_equal(m->stored, sizes[k][i]);
            if (m->raw > 0) {
                assert_true(reel_source_read(&a.source, m->offset, &ends[0], 1, &err));
                assert_true(reel_source_read(&a.source, m->offset + m->raw - 1, &ends[1], 1, &err));
                assert_true(ends[0] == 'a' + i && ends[1] == 'a' + i);
            }
        }
    }
}

/* An end that says 65535 means that the number is in the record of ZIP64: that is there from this number on. */
static void many_members(void **state) {
    (void)state;
    for (size_t n = UINT16_MAX - 1; n <= UINT16_MAX + 1; n++) {
        uint64_t room = (uint64_t)n * (30 + 46 + 2 * 6) + 200, *at = malloc(n * sizeof *at);
        uint8_t *data = malloc(room);
        struct reel_sink out = {.hi = room, .buffer = data};
        char name[16];
        assert_true(at && data);
        for (size_t i = 0; i < n; i++) {
            at[i] = out.pos;
            name_of(i, name);
            zip_put_local(&out, name, 0, 0, false);
        }
        uint64_t directory = out.pos;
        for (size_t i = 0; i < n; i++) {
            name_of(i, name);
            zip_put_central(&out, name, 0, 0, at[i], false);
        }
        zip_put_end(&out, directory, n);
        assert_true(out.pos <= room);
        zip_error_t why;
        zip_source_t *source = zip_source_buffer_create(data, out.pos, 0, &why);
        zip_t *zip = source ? zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &why) : NULL;
        assert_non_null(zip);
        assert_int_equal(zip_get_num_entries(zip, 0), n);
        name_of(n - 1, name);
        assert_int_equal(zip_name_locate(zip, name, 0), n - 1);
        zip_discard(zip);
        bool wide = memmem(data + directory, (size_t)(out.pos - directory), "PK\x06\x06", 4) != NULL;
        assert_int_equal(wide, n >= UINT16_MAX);
        free(data);
        free(at);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_places_beyond_32_bits),
        cmocka_unit_test(many_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
