/* reel/open.h: files as recordings, their kept index packs, what other programs do to both meanwhile, and a system
 * that is short of something. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "index/builder.h"
#include "reel/open.h"
#include "reel/record.h"

#define FOLDER REEL_SCRATCH "/open"
#define CACHE FOLDER "/cache"
#define FILE_PATH FOLDER "/a.ndjson"

static int set_up(void **state) {
    (void)state;
    return system("rm -rf " FOLDER " && mkdir -p " CACHE);
}

/* `n` rows. */
static void write_rows(const char *path, int n) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < n; i++) {
        fprintf(f, "{\"topic\":\"/a\",\"log_time\":%d,\"data\":1}\n", i + 1);
    }
    assert_int_equal(fclose(f), 0);
}

static uint64_t messages_of(const char *path) {
    struct reel_error err = {0};
    AUTO(reel_recording_free) struct reel_recording *r = reel_recording_open(path, CACHE, &err);
    if (!r) {
        fail_msg("%s", err.text);
    }
    return reel_index_info(reel_recording_index(r))->messages;
}

/* ---- the cache folder is the caller's */

static void make_old_file(const char *name) {
    char path[PATH_MAX];
    struct timespec old[2] = {{.tv_sec = time(NULL) - 31 * 86400}, {.tv_sec = time(NULL) - 31 * 86400}};
    snprintf(path, sizeof path, CACHE "/%s", name);
    write_rows(path, 1);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
}
static bool exists(const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, CACHE "/%s", name);
    return access(path, F_OK) == 0;
}

#define DIGITS "0123456789abcdef0123456789abcdef01234567"
static void only_old_packs_are_removed(void **state) {
    (void)state;
    static const char *const others[] = {"notes.reel.txt", "notes.reel",       DIGITS "8.reel", "9" DIGITS ".reel",
                                         DIGITS ".reels",  DIGITS ".reel.txt", DIGITS,          DIGITS ".txt.reel",
                                         ".reel",          DIGITS "-.reel"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        make_old_file(others[i]);
    }
    make_old_file(DIGITS ".reel");
    write_rows(FILE_PATH, 3);
    assert_int_equal(messages_of(FILE_PATH), 3);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (!exists(others[i])) {
            fail_msg("%s was removed", others[i]);
        }
    }
    assert_false(exists(DIGITS ".reel"));
}

/* ---- files that another program replaces */

static const char *replacement; /* renamed to FILE_PATH once that has been opened */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    int fd = __real_open64(path, flags, mode);
    if (replacement && strcmp(path, FILE_PATH) == 0) {
        assert_int_equal(rename(replacement, FILE_PATH), 0);
        replacement = NULL;
    }
    return fd;
}

static void a_file_replaced_while_it_is_opened_has_its_own_pack(void **state) {
    (void)state;
    write_rows(FILE_PATH, 3);
    write_rows(FOLDER "/new", 5);
    replacement = FOLDER "/new";
    assert_int_equal(messages_of(FILE_PATH), 3); /* it was opened before */
    assert_null(replacement);
    assert_int_equal(messages_of(FILE_PATH), 5);
}

/* ---- a system that is short of something */

static bool no_streams;
FILE *__real_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size) {
    if (no_streams) {
        errno = EMFILE;
        return NULL;
    }
    return __real_open_memstream(text, size);
}

static void naming_a_pack_needs_memory_alone(void **state) {
    (void)state;
    write_rows(FILE_PATH, 3);
    no_streams = true;
    assert_int_equal(messages_of(FILE_PATH), 3);
    no_streams = false;
}

static size_t piece_max = SIZE_MAX; /* of a read; 0: the file ends */
ssize_t __real_pread64(int fd, void *buffer, size_t size, off_t offset);
ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset);
ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset) {
    return __real_pread64(fd, buffer, size < piece_max ? size : piece_max, offset);
}

/* An index whose segments overlap so much that they are read back and merged; reads give `max` bytes at most. */
static bool compact(size_t max, struct reel_error *err) {
    enum { N = 20 * REEL_SEGMENT_ENTRIES };
    uint64_t part_size = N;
    uint32_t id;
    AUTO(builder_free)
    struct reel_builder *b = builder_new(FOLDER "/overlaps.reel", "rows", 1, &part_size, 1, err);
    assert_true(b && builder_add_channel(b, &(struct reel_channel){.name = "/c"}, &id, err));
    for (uint32_t i = 0; i < N; i++) {
        const struct reel_entry entry = {.time_ns = i % 1000, .offset = i, .size = 1};
        assert_true(builder_add_entry(b, &entry, err));
    }
    piece_max = max;
    errno = EACCES; /* of an earlier failure */
    bool good = builder_finish(b, err);
    piece_max = SIZE_MAX;
    return good;
}

static void an_index_is_read_back_in_pieces(void **state) {
    (void)state;
    struct reel_error err = {0};
    assert_true(compact(1000, &err));
    assert_false(compact(0, &err));
    assert_int_equal(err.code, REEL_IO);
    assert_int_equal(err.sys, 0);
    assert_string_equal(err.text, "the index became shorter while it was written");
}

static int no_room; /* what posix_fallocate() returns; it leaves errno alone */
int __real_posix_fallocate64(int fd, off_t offset, off_t size);
int __wrap_posix_fallocate64(int fd, off_t offset, off_t size);
int __wrap_posix_fallocate64(int fd, off_t offset, off_t size) {
    return no_room ? no_room : __real_posix_fallocate64(fd, offset, size);
}

static void a_full_disk_is_named(void **state) {
    (void)state;
    struct reel_error err = {0};
    AUTO(reel_recorder_free)
    struct reel_recorder *recorder =
        reel_recorder_open(FOLDER "/r.bag", reel_writer_named(".bag", "1.2", &err), NULL, &err);
    const struct reel_channel channel = {.name = "/a", .type = "std_msgs/Empty", .encoding = "ros1"};
    const struct reel_record record = {.size = sizeof record, .log_time_ns = 1, .payload = bytes_text("x")};
    uint32_t id;
    assert_true(recorder && reel_recorder_copy_channel(recorder, &channel, &id, &err) &&
                reel_recorder_message(recorder, &record, &err));
    no_room = ENOSPC;
    errno = EACCES;
    assert_false(reel_recorder_close(TAKE(recorder), &err));
    no_room = 0;
    assert_int_equal(err.code, REEL_NO_SPACE);
    assert_int_equal(err.sys, ENOSPC);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(only_old_packs_are_removed, set_up),
        cmocka_unit_test_setup(a_file_replaced_while_it_is_opened_has_its_own_pack, set_up),
        cmocka_unit_test_setup(naming_a_pack_needs_memory_alone, set_up),
        cmocka_unit_test_setup(an_index_is_read_back_in_pieces, set_up),
        cmocka_unit_test_setup(a_full_disk_is_named, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
