/* chunks/spool.h: a chunk's raw bytes as a source, in memory or in a file that appears whole or not at all. */
#include "makers/toy_chunks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#include "chunks/spool.h"

#define FOLDER REEL_SCRATCH "/spool"

static unsigned files_in_folder(void) {
    unsigned n = 0;
    DIR *d = opendir(FOLDER);
    for (struct dirent *e; (e = readdir(d));) {
        n += e->d_name[0] != '.';
    }
    closedir(d);
    return n;
}

static void check_source(struct reel_source *s, uint32_t id, size_t size) {
    struct reel_error err = {0};
    uint8_t *raw = malloc(size + 1);
    assert_non_null(s);
    assert_true(s->size == size && reel_source_read(s, 0, raw, size, &err) && chunk_bytes_are(id, 0, raw, size));
    assert_false(reel_source_read(s, size, raw, 1, &err));
    assert_string_equal(s->name, "test.toy");
    free(raw);
    reel_source_free(s);
}

static void chunks_come_whole(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    struct reel_source *parts[TOY_PARTS_MAX];
    toy_with_chunks(&t, 1, 4, 50000, 0);
    assert_true(toy_sources(&t, parts, &err));
    assert_int_equal(system("rm -rf '" FOLDER "'; mkdir '" FOLDER "'"), 0);
    for (uint32_t i = 0; i < 4; i++) {
        const struct reel_chunk *c = &t.chunks[i];
        check_source(spool_chunk(c, parts[0], &err), 2 + i, 50000);
        check_source(spool_file(c, parts[0], NULL, &err), 2 + i, 50000);
        check_source(spool_file(c, parts[0], FOLDER "/x", &err), 2 + i, 50000);
        struct reel_source *kept = spool_file(c, parts[0], FOLDER "/x", &err); /* there already */
        assert_true(truncate(FOLDER "/x", 49999) == 0);
        reel_source_free(kept);
        check_source(spool_file(c, parts[0], FOLDER "/x", &err), 2 + i, 50000); /* of the wrong size: made again */
        assert_int_equal(files_in_folder(), 1);
        remove(FOLDER "/x");
    }
    reel_source_free(parts[0]);
    reel_source_free(parts[1]);
    toy_free(&t);
}

static void failure_leaves_no_file(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    struct reel_source *parts[TOY_PARTS_MAX];
    toy_with_chunks(&t, 1, 4, 50000, 0);
    assert_true(toy_sources(&t, parts, &err));
    for (uint32_t i = 0; i < 3; i++) {
        struct reel_chunk c = t.chunks[i];
        c.raw = i == 0 ? 49999 : 50001;
        assert_null(spool_chunk(&c, parts[0], &err));
        assert_int_equal(err.code, REEL_DAMAGED);
        assert_null(spool_file(&c, parts[0], FOLDER "/x", &err));
        assert_int_equal(err.code, REEL_DAMAGED);
        assert_null(spool_file(&c, parts[0], NULL, &err));
        assert_int_equal(files_in_folder(), 0);
    }
    assert_null(spool_file(&t.chunks[0], parts[0], FOLDER "/no/such/x", &err));
    assert_int_equal(err.code, REEL_IO);
    reel_source_free(parts[0]);
    reel_source_free(parts[1]);
    toy_free(&t);
}

/* File systems without O_TMPFILE, and a folder that is not there. */
static int tmpfile_errno;
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if ((flags & O_TMPFILE) == O_TMPFILE && tmpfile_errno != 0) {
        errno = tmpfile_errno;
        return -1;
    }
    return __real_open64(path, flags, mode);
}

static void temporary_files_need_no_tmpfile(void **state) {
    (void)state;
    static const int errors[] = {EOPNOTSUPP, EISDIR, ENOENT, EACCES};
    struct toy t = {0};
    struct reel_error err = {0};
    struct reel_source *parts[TOY_PARTS_MAX];
    toy_with_chunks(&t, 1, 4, 50000, 0);
    assert_true(toy_sources(&t, parts, &err));
    assert_int_equal(system("rm -rf '" FOLDER "'; mkdir '" FOLDER "'"), 0);
    assert_int_equal(setenv("TMPDIR", FOLDER, 1), 0);
    for (size_t i = 0; i < 3; i++) {
        tmpfile_errno = errors[i];
        check_source(spool_file(&t.chunks[0], parts[0], NULL, &err), 2, 50000);
        assert_int_equal(files_in_folder(), 0);
    }
    tmpfile_errno = errors[3];
    assert_null(spool_file(&t.chunks[0], parts[0], NULL, &err));
    assert_true(err.code == REEL_IO && err.sys == EACCES);
    tmpfile_errno = EISDIR;
    assert_int_equal(setenv("TMPDIR", FOLDER "/none", 1), 0);
    assert_null(spool_file(&t.chunks[0], parts[0], NULL, &err));
    assert_true(err.code == REEL_IO && err.sys == ENOENT);
    tmpfile_errno = 0;
    assert_int_equal(unsetenv("TMPDIR"), 0);
    reel_source_free(parts[0]);
    reel_source_free(parts[1]);
    toy_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(chunks_come_whole), cmocka_unit_test(failure_leaves_no_file),
                                       cmocka_unit_test(temporary_files_need_no_tmpfile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
