/* The tables of formats and writers: the highest bid wins, endings and versions find their writer, and a lookup without
 * a match reports what there is. */
#define TOY_OWN_TABLES
#include "base/bytes.h"
#include "makers/toy.h"

static int bid_of(struct reel_bytes head, const char *magic, int bits) {
    return bytes_start(head, bytes_text(magic)) ? bits : 0;
}
static int probe_low(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    (void)err;
    (void)source;
    return bid_of(head, "AB", 16);
}
static int probe_high(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    (void)err;
    return source->size > 70000 && head.size != 65536 ? 0 : bid_of(head, "ABC", 24);
}
/* Of this machine, not of the file. */
static int probe_failing(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    (void)source;
    return head.size > 0 && head.data[0] == 'F' ? (reel_fail_memory(err), -1) : 0;
}
static const struct reel_format low = {.name = "low", .title = "Low", .probe = probe_low},
                                high = {.name = "high", .title = "High", .probe = probe_high},
                                failing = {.name = "failing", .title = "Failing", .probe = probe_failing};
const struct reel_encoding *const reel_encodings[] = {&toy_encoding, NULL};
const struct reel_format *const reel_formats[] = {&low, &high, &toy_format, &failing, NULL};

static const struct reel_writer plain = {.name = "plain", .extension = ".txt"},
                                old = {.name = "old", .extension = ".bag", .variant = "1.2"},
                                new = {.name = "new", .extension = ".bag", .variant = "2.0"},
                                zip = {.name = "zip", .extension = ".zip"},
                                long_zip = {.name = "long", .extension = ".long.zip"};
const struct reel_writer *const reel_writers[] = {&plain, &old, &new, &zip, &long_zip, NULL};

static const struct reel_format *probe(const void *data, size_t size, struct reel_error *err) {
    struct reel_source *s = reel_source_from_memory(bytes_of(data, size), "x", err);
    const struct reel_format *f = reel_format_probe(s, err);
    reel_source_free(s);
    return f;
}

static void the_highest_bid_wins(void **state) {
    (void)state;
    struct reel_error err = {0};
    assert_ptr_equal(probe("AB", 2, &err), &low);
    assert_ptr_equal(probe("ABC", 3, &err), &high);
    uint8_t *large = calloc(1, 100000);
    memcpy(large, "ABC", 3);
    assert_ptr_equal(probe(large, 100000, &err), &high);
    free(large);
    assert_null(probe("", 0, &err));
    assert_int_equal(err.code, REEL_NOT_MINE);
    assert_null(probe("F", 1, &err)); /* whether it is one of them is not known */
    assert_int_equal(err.code, REEL_NO_MEMORY);
    assert_null(probe("XYZ", 3, &err));
    assert_non_null(strstr(err.text, "Low, High, Toy, Failing"));
}

static void formats_have_names(void **state) {
    (void)state;
    assert_ptr_equal(reel_format_named("high"), &high);
    assert_null(reel_format_named("hig"));
}

static void writers_are_found(void **state) {
    (void)state;
    struct reel_error err = {0};
    assert_ptr_equal(reel_writer_named(".txt", NULL, &err), &plain);
    assert_ptr_equal(reel_writer_named(".bag", "2.0", &err), &new);
    assert_ptr_equal(reel_writer_named(".bag", "1.2", &err), &old);
    assert_null(reel_writer_named(".bag", NULL, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_non_null(strstr(err.text, ".bag version 1.2"));
    assert_null(reel_writer_named(".txt", "3", &err));
    assert_null(reel_writer_named(".png", NULL, &err));
    assert_ptr_equal(reel_writer_for_file("a.long.zip", NULL, &err), &long_zip);
    assert_ptr_equal(reel_writer_for_file("a.zip", NULL, &err), &zip);
    assert_ptr_equal(reel_writer_for_file("long.zip", NULL, &err), &long_zip);
    assert_null(reel_writer_for_file("zip", NULL, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_highest_bid_wins),
        cmocka_unit_test(formats_have_names),
        cmocka_unit_test(writers_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
