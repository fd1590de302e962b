/* base/source.h: exact reads, ranges that cannot wrap, and files that change or are none. */
#include "base/source.h"
#include "base/bytes.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#define PLACE REEL_SCRATCH "/source.bin"

static uint8_t data[100000];

static int make_file(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * 31 + (i >> 8));
    }
    FILE *f = fopen(PLACE, "wb");
    if (!f || fwrite(data, 1, sizeof data, f) != sizeof data) {
        return -1;
    }
    return fclose(f);
}

static void a_source_reads_what_is_there(struct reel_source *s, const uint8_t *expected, size_t size) {
    static uint8_t got[sizeof data];
    struct reel_error err = {0};
    assert_int_equal(s->size, size);
    assert_true(reel_source_read(s, 0, got, size, &err));
    assert_memory_equal(got, expected, size);
    assert_true(reel_source_read(s, size - 7, got, 7, &err));
    assert_memory_equal(got, expected + size - 7, 7);
    assert_true(reel_source_read(s, size, NULL, 0, &err));
    const struct {
        uint64_t offset;
        size_t size;
    } outside[] = {{0, size + 1},   {size - 1, 2},          {size, 1},    {size + 1, 0},
                   {UINT64_MAX, 1}, {UINT64_MAX, SIZE_MAX}, {1, SIZE_MAX}};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        err = (struct reel_error){0};
        assert_false(reel_source_read(s, outside[i].offset, got, outside[i].size, &err));
        assert_int_equal(err.code, REEL_DAMAGED);
        assert_non_null(strstr(err.text, "exceeds the file"));
    }
}

static void files(void **state) {
    (void)state;
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *s = reel_source_open(PLACE, NULL, &err);
    assert_non_null(s);
    assert_string_equal(s->name, "source.bin");
    assert_true(reel_source_fd(s) >= 0);
    assert_true(fcntl(reel_source_fd(s), F_GETFD) & FD_CLOEXEC);
    a_source_reads_what_is_there(s, data, sizeof data);
    AUTO(reel_source_free) struct reel_source *named = reel_source_open(PLACE, "run.bag", &err);
    assert_string_equal(named->name, "run.bag");
    reel_source_free(NULL);
}

static void memory(void **state) {
    (void)state;
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *s = reel_source_from_memory(bytes_of(data, 1000), "m", &err);
    assert_non_null(s);
    assert_string_equal(s->name, "m");
    assert_int_equal(reel_source_fd(s), -1);
    a_source_reads_what_is_there(s, data, 1000);
    AUTO(reel_source_free) struct reel_source *empty = reel_source_from_memory(bytes_of(NULL, 0), NULL, &err);
    assert_non_null(empty->name);
    assert_true(reel_source_read(empty, 0, NULL, 0, &err));
}

static void slices(void **state) {
    (void)state;
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *file = reel_source_open(PLACE, NULL, &err);
    AUTO(reel_source_free) struct reel_source *s = reel_source_slice(file, 5000, 3000, &err);
    assert_non_null(s);
    assert_int_equal(reel_source_fd(s), -1);
    a_source_reads_what_is_there(s, data + 5000, 3000);
    AUTO(reel_source_free) struct reel_source *inner = reel_source_slice(s, 1000, 2000, &err);
    a_source_reads_what_is_there(inner, data + 6000, 2000);
    assert_string_equal(inner->name, "source.bin");

    const uint64_t outside[][2] = {{0, 3001},       {3000, 1},       {3001, 0},
                                   {UINT64_MAX, 2}, {2, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        assert_null(reel_source_slice(s, outside[i][0], outside[i][1], &err));
        assert_int_equal(err.code, REEL_DAMAGED);
    }
    AUTO(reel_source_free) struct reel_source *none = reel_source_slice(s, 3000, 0, &err);
    assert_non_null(none);
}

static void only_plain_files(void **state) {
    (void)state;
    struct reel_error err = {0};
    assert_null(reel_source_open(REEL_SCRATCH "/nothing.bag", NULL, &err));
    assert_int_equal(err.code, REEL_IO);
    assert_int_equal(err.sys, ENOENT);
    assert_null(strstr(err.text, REEL_SCRATCH)); /* no path of ours */
    assert_non_null(strstr(err.text, "nothing.bag"));
    assert_null(reel_source_open(REEL_SCRATCH, NULL, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    unlink(REEL_SCRATCH "/pipe");
    assert_int_equal(mkfifo(REEL_SCRATCH "/pipe", 0600), 0);
    assert_null(reel_source_open(REEL_SCRATCH "/pipe", NULL, &err)); /* and does not wait for a writer */
    assert_int_equal(err.code, REEL_ARGUMENT);
    unlink(REEL_SCRATCH "/pipe");
}

static void a_descriptor_is_taken_over_also_on_failure(void **state) {
    (void)state;
    struct reel_error err = {0};
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    assert_null(reel_source_from_fd(fds[0], "p", &err));
    assert_int_equal(fcntl(fds[0], F_GETFD), -1);
    close(fds[1]);
    int fd = open(PLACE, O_RDONLY);
    struct reel_source *s = reel_source_from_fd(fd, NULL, &err);
    assert_non_null(s);
    assert_int_equal(reel_source_fd(s), fd);
    reel_source_free(s);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void a_file_that_shrinks_is_changed(void **state) {
    (void)state;
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *s = reel_source_open(PLACE, NULL, &err);
    assert_int_equal(truncate(PLACE, 10), 0);
    uint8_t got[20];
    assert_true(reel_source_read(s, 0, got, 10, &err));
    assert_false(reel_source_read(s, 0, got, 20, &err));
    assert_int_equal(err.code, REEL_CHANGED);
    assert_non_null(strstr(err.text, "file became shorter while it was read"));
    assert_int_equal(s->size, sizeof data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(files, make_file),
        cmocka_unit_test_setup(memory, make_file),
        cmocka_unit_test_setup(slices, make_file),
        cmocka_unit_test(only_plain_files),
        cmocka_unit_test_setup(a_descriptor_is_taken_over_also_on_failure, make_file),
        cmocka_unit_test_setup(a_file_that_shrinks_is_changed, make_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
