/* reel/open.h: files as recordings, their kept index packs, and what other programs do to both meanwhile. */
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

#include "reel/open.h"
#include "wire/cleanup.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(only_old_packs_are_removed, set_up),
        cmocka_unit_test_setup(a_file_replaced_while_it_is_opened_has_its_own_pack, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
