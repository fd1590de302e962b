/* The archive's directory: where members lie, in every shape of archive, and what is refused. */
#include "makers/nanover_maker.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/nanover/container.h"

static void open_zip(struct nanover_archive *archive, struct reel_bytes file, bool expected) {
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *source = reel_source_from_memory(file, "x", &err);
    assert_non_null(source);
    bool opened = nanover_archive_open(archive, source, &err);
    if (opened != expected) {
        fail_msg("%s", err.text);
    }
}

static void members_lie_where_they_say(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    put_raw(&m.file, "in front of it", 14);
    maker_zip(&m,
              (struct member[]){{"messages.msgpack", bytes_text("0123456789"), false},
                                {"index.msgpack", bytes_text("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), true}},
              2);
    put_raw(&m.file, "behind it", 9);
    AUTO_STRUCT(nanover_archive_close) struct nanover_archive a;
    open_zip(&a, maker_file(&m), true);
    assert_null(a.lost);
    assert_int_equal(a.zip.count, 2);
    assert_int_equal(a.messages->offset, 14 + 46);
    assert_int_equal(a.messages->raw, 10);
    assert_int_equal(a.messages->codec, REEL_CODEC_NONE);
    assert_memory_equal(m.file.data + a.messages->offset, "0123456789", 10);
    assert_int_equal(a.messages->crc, crc32(0, (const Bytef *)"0123456789", 10));
    assert_int_equal(a.index->codec, REEL_CODEC_DEFLATE);
    assert_int_equal(a.index->raw, 30);
    assert_true(a.index->stored < 30);
}

static void what_cannot_be_read_is_named(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_zip(&m,
              (struct member[]){{"index.msgpack", bytes_text("\x90"), false},
                                {"messages.msgpack", bytes_text("0123456789"), false},
                                {"x", bytes_text("abc"), false}},
              3);
    size_t at = m.file.size - ZIP_END_SIZE;
    uint8_t *end = (uint8_t *)m.file.data + at, *third = end - (ZIP_CENTRAL_SIZE + 1);
    third[10] = 12; /* bzip2 */
    AUTO_STRUCT(nanover_archive_close) struct nanover_archive a;
    open_zip(&a, maker_file(&m), true);
    assert_non_null(strstr(a.zip.members[2].problem, "unknown compression"));
    third[10] = 0;
    third[42] = 1; /* a local header where none is */
    nanover_archive_close(&a);
    open_zip(&a, maker_file(&m), true);
    assert_non_null(strstr(a.zip.members[2].problem, "local header"));
    assert_null(a.messages->problem);
}

static void hostile_counts_are_refused_before_they_cost(void **state) {
    (void)state;
    uint8_t file[ZIP_END64_SIZE + ZIP_LOCATOR_SIZE + ZIP_END_SIZE + 1] = {0};
    uint8_t *end64 = file + 1, *locator = end64 + ZIP_END64_SIZE, *end = locator + ZIP_LOCATOR_SIZE;
    store_u32le(end64, ZIP_END64_MAGIC);
    store_u64le(end64 + 4, ZIP_END64_SIZE - 12);
    store_u64le(end64 + 24, UINT64_C(1) << 40);
    store_u64le(end64 + 32, UINT64_C(1) << 40);
    store_u32le(locator, ZIP_LOCATOR_MAGIC);
    store_u64le(locator + 8, 1);
    store_u32le(locator + 16, 1);
    store_u32le(end, ZIP_END_MAGIC);
    memset(end + 8, 0xFF, 12);
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *source = reel_source_from_memory(bytes_of(file, sizeof file), "x", &err);
    AUTO_STRUCT(nanover_archive_close) struct nanover_archive a;
    assert_false(nanover_archive_open(&a, source, &err));
    assert_int_equal(err.code, REEL_LIMIT);
}

static void no_archive_is_not_mine(void **state) {
    (void)state;
    const char *const files[] = {"", "PK\3\4", "PK\5\6",
                                 "no archive at all, but long enough to hold the headers of one"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        AUTO_STRUCT(nanover_archive_close) struct nanover_archive a;
        open_zip(&a, bytes_text(files[i]), false);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_lie_where_they_say),
        cmocka_unit_test(what_cannot_be_read_is_named),
        cmocka_unit_test(hostile_counts_are_refused_before_they_cost),
        cmocka_unit_test(no_archive_is_not_mine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
