/* reel/error.h: one line of UTF-8 whatever goes in, reported once, position first. */
#include "reel/error.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/source.h"
#include "index/scan.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void fail_fills_code_and_text(void **state) {
    (void)state;
    struct reel_error err = {.code = REEL_IO, .sys = EIO};
    assert_false(reel_fail(&err, REEL_DAMAGED, "record at %d: header length %u exceeds the file", 4096, 70000U));
    assert_int_equal(err.code, REEL_DAMAGED);
    assert_int_equal(err.sys, 0);
    assert_string_equal(err.text, "record at 4096: header length 70000 exceeds the file");
}

static void the_callback_is_optional(void **state) {
    (void)state;
    assert_false(reel_fail(NULL, REEL_DAMAGED, "x"));
    assert_false(reel_fail_errno(NULL, "x"));
    assert_false(reel_error_at(NULL, "x"));
    assert_false(reel_fail_memory(NULL));
    assert_false(reel_error_pass(NULL, &(struct reel_error){.code = REEL_IO}));
}

static void the_location_is_prepended(void **state) {
    (void)state;
    struct reel_error err = {0};
    reel_fail(&err, REEL_LIMIT, "too deep");
    assert_false(reel_error_at(&err, "chunk %d", 7));
    assert_false(reel_error_at(&err, "part %s", "a.bag"));
    assert_string_equal(err.text, "part a.bag: chunk 7: too deep");
    assert_int_equal(err.code, REEL_LIMIT);
}

static void errno_is_kept_and_a_full_disk_is_distinguished(void **state) {
    (void)state;
    struct reel_error err = {0};
    errno = EACCES;
    assert_false(reel_fail_errno(&err, "%s: cannot be opened", "a.bag"));
    assert_int_equal(err.code, REEL_IO);
    assert_int_equal(err.sys, EACCES);
    assert_string_equal(err.text, "a.bag: cannot be opened: Permission denied");
    const int full[] = {ENOSPC, EDQUOT};
    for (size_t i = 0; i < 2; i++) {
        errno = full[i];
        reel_fail_errno(&err, "writing");
        assert_int_equal(err.code, REEL_NO_SPACE);
        assert_int_equal(err.sys, full[i]);
    }
    errno = EROFS;
    reel_fail_errno(&err, "writing");
    assert_int_equal(err.code, REEL_READ_ONLY);
    assert_true(reel_is_transient(err.code));
    assert_false(reel_is_transient(REEL_DAMAGED));
    reel_fail_memory(&err);
    assert_int_equal(err.code, REEL_NO_MEMORY);
    assert_int_equal(err.sys, 0);
}

static void text_is_one_line_of_utf8(void **state) {
    (void)state;
    struct reel_error err = {0};
    reel_fail(&err, REEL_DAMAGED,
              "a\nb\tc\x7f"
              "d\xff\xc3\xa4\xc0\xaf");
    assert_string_equal(err.text, "a?b?c?d?\xc3\xa4??");
}

static void long_texts_are_cut_between_characters(void **state) {
    (void)state;
    struct reel_error err = {0};
    char text[1000];
    for (size_t shift = 0; shift < 3; shift++) { /* the cut falls on each byte of a three-byte character */
        memset(text, 'x', sizeof text);
        for (size_t i = shift; i + 3 < sizeof text; i += 3) {
            memcpy(text + i, "\xe2\x82\xac", 3);
        }
        text[sizeof text - 1] = '\0';
        reel_fail(&err, REEL_DAMAGED, "%s", text);
        size_t size = strlen(err.text);
        assert_int_equal(size, sizeof err.text - 1);
        size_t whole = (size - shift) / 3 * 3 + shift;
        assert_memory_equal(err.text, text, whole);
        for (size_t i = whole; i < size; i++) {
            assert_int_equal(err.text[i], '?');
        }
        reel_error_at(&err, "%s", text);
        assert_int_equal(strlen(err.text), sizeof err.text - 1);
    }
}

static void a_text_may_be_made_of_the_one_it_replaces(void **state) {
    (void)state;
    struct reel_error err = {0};
    reel_fail(&err, REEL_DAMAGED, "inner");
    reel_fail(&err, REEL_LIMIT, "outer (%s, %s)", err.text, err.text);
    assert_string_equal(err.text, "outer (inner, inner)");
}

static void only_what_is_of_this_machine_is_not_ignored(void **state) {
    (void)state;
    struct reel_error err = {.code = REEL_OK};
    assert_true(reel_error_ignore(&err, &(struct reel_error){.code = REEL_OK}));
    assert_true(reel_error_ignore(&err, &(struct reel_error){.code = REEL_DAMAGED, .text = "cut"}));
    assert_true(reel_error_ignore(NULL, &(struct reel_error){.code = REEL_DAMAGED}));
    assert_int_equal(err.code, REEL_OK);
    assert_false(reel_error_ignore(&err, &(struct reel_error){.code = REEL_IO, .sys = EIO, .text = "no"}));
    assert_int_equal(err.code, REEL_IO);
    assert_int_equal(err.sys, EIO);
    assert_string_equal(err.text, "no");
    assert_false(reel_error_ignore(NULL, &err));
}

/* A failure that a caller makes up for, as with less memory, is none of the whole work. */
static bool scan_one(struct reel_scan *scan, struct reel_error *err) {
    const struct reel_channel channel = {.name = "/x", .type = "", .encoding = ""};
    uint32_t id;
    reel_fail_memory(NULL);
    reel_fail(&(struct reel_error){.code = REEL_OK}, REEL_IO, "it was tried again");
    return reel_scan_channel(scan, &channel, &id, err) &&
           reel_scan_entry(scan, &(struct reel_entry){.channel = id, .size = 1}, err);
}
static void an_ignored_failure_changes_no_other_result(void **state) {
    (void)state;
    static const struct reel_format format = {.name = "one", .title = "One", .scan = scan_one};
    struct reel_error err = {.code = REEL_OK};
    AUTO(reel_source_free)
    struct reel_source *source = reel_source_from_memory((struct reel_bytes){(const uint8_t *)"x", 1}, "x", &err);
    assert_non_null(source);
    assert_true(reel_scan_run(&source, 1, &format, REEL_SCRATCH "/error.pack", NULL, &err));
    assert_int_equal(err.code, REEL_OK);
}

/* ---- errno through a whole scan ---- */

struct failing {
    struct reel_source source; /* first */
    struct reel_source *file;
    unsigned reads_left;
};
static bool failing_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                         struct reel_error *err) {
    struct failing *f = (struct failing *)source;
    if (f->reads_left == 0) {
        errno = EIO;
        return reel_fail_errno(err, "could not read");
    }
    f->reads_left--;
    return reel_source_read(f->file, offset, buffer, size, err);
}
static void failing_free(struct reel_source *source) {
    (void)source;
}

typedef bool (*pass)(struct reel_source *const *, uint32_t, const struct reel_format *, const char *,
                     const struct reel_progress *, struct reel_error *);

/* Each read of the file fails once. Whoever passes the error on, passes errno on with it. */
static unsigned each_read_fails(const char *name, pass run) {
    static const struct reel_source_ops ops = {.read = failing_read, .free = failing_free};
    char path[256];
    snprintf(path, sizeof path, REEL_TESTS "/golden/%s", name);
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *file = reel_source_open(path, NULL, &err);
    assert_non_null(file);
    unsigned failures = 0;
    for (unsigned reads = 0; reads < 10000; reads++) {
        struct failing f = {
            .source = {.ops = &ops, .size = file->size, .name = file->name}, .file = file, .reads_left = reads};
        struct reel_source *source = &f.source;
        err = (struct reel_error){.code = REEL_OK};
        bool good = run(&source, 1, NULL, REEL_SCRATCH "/error.pack", NULL, &err);
        if (f.reads_left > 0 || good || err.code != REEL_IO) {
            break; /* it ended for another reason */
        }
        if (err.sys != EIO) {
            fail_msg("%s, read %u: errno is %d: %s", name, reads, err.sys, err.text);
        }
        failures++;
    }
    return failures;
}

static void errno_survives_a_scan(void **state) {
    (void)state;
    const char *const files[] = {
        "rosbag-2.0/bz2/input.bag",
        "rosbag-2.0/crashed_in_a_packed_chunk/input.bag.active",
        "carla/user_packets/input.log",
        "mcap/zstd/input.mcap",
        "mcap/cut_in_summary/input.mcap",
        "mcap/cut_in_packed_chunk/input.mcap",
        "mira/compressed/input.tape",
        "mira/garbage/input.tape",
        "nanover/deflated/input.nanover.zip",
        "rosbag-1.2/cut_in_index/input.bag",
        "rosbag-1.2/garbage_with_index/input.bag",
        "tide/gzip_broken/input.tide",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        assert_true(each_read_fails(files[i], reel_scan_run) > 0);
        each_read_fails(files[i], reel_scan_summary);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fail_fills_code_and_text),
        cmocka_unit_test(the_callback_is_optional),
        cmocka_unit_test(the_location_is_prepended),
        cmocka_unit_test(errno_is_kept_and_a_full_disk_is_distinguished),
        cmocka_unit_test(text_is_one_line_of_utf8),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(a_text_may_be_made_of_the_one_it_replaces),
        cmocka_unit_test(only_what_is_of_this_machine_is_not_ignored),
        cmocka_unit_test(an_ignored_failure_changes_no_other_result),
        cmocka_unit_test(errno_survives_a_scan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
