/* Summaries of NanoVer recordings equal the result of a scan, or are refused; and little is read of large ones. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/nanover_maker.h"
#include "makers/real_samples.h"
#include "makers/summary_check.h"

static void assert_same(struct reel_bytes file) {
    AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(file.data, file.size));
    INDEX *summary = summary_like_scan(&source, 1, &reel_format_nanover);
    assert_non_null(summary);
}
static void assert_refused(struct reel_bytes file, const char *text) {
    AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(file.data, file.size));
    summary_source_refused(source, &reel_format_nanover, text);
}

static void made_recordings_are_summarized_as_scanned(void **state) {
    (void)state;
    for (unsigned way = 0; way < 16; way++) { /* index first, each member deflated, something in front */
        MAKER m = {.count = 0};
        maker_default(&m);
        maker_add(&m, "{}", "{'types' [] 'timestamp' 6000.5}");
        maker_add(&m, "{'command' 1 'frame' {}}", "{'types' ['command' 'frame']}"); /* no time: that of the message
                                                                                       before */
        maker_add(&m, "{'command' 2}", "{'types' ['command'] 'timestamp' 3}");
        struct member messages = {"messages.msgpack", maker_messages(&m), (way & 2) != 0};
        struct member index = {"index.msgpack", maker_index(&m), (way & 4) != 0};
        if (way & 8) {
            put_raw(&m.file, "#!/bin/sh\n", 10);
        }
        maker_zip(&m, (way & 1) ? (struct member[]){index, messages} : (struct member[]){messages, index}, 2);
        assert_same(maker_file(&m));
    }
}

static void contents_of_a_summary(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_default(&m);
    maker_zip(&m,
              (struct member[]){{"messages.msgpack", maker_messages(&m), false},
                                {"notes.txt", bytes_text("hello hello hello hello"), true},
                                {"index.msgpack", maker_index(&m), true},
                                {"a/meta.json", bytes_text("{}"), false}},
              4);
    struct reel_bytes file = maker_file(&m);
    AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(file.data, file.size));
    struct reel_error err;
    INDEX *summary = summary_try(&source, 1, &reel_format_nanover, &err),
          *deep = scan_of(&source, 1, &reel_format_nanover);
    assert_non_null(summary);
    const struct reel_index_info *info = reel_index_info(summary);
    assert_int_equal(info->clock, REEL_CLOCK_RELATIVE);
    assert_string_equal(info->container, "ZIP, stored");
    const struct reel_pairs *annotations = reel_index_metadata(summary);
    assert_true(annotations->count > 0 && same_pairs(annotations, reel_index_metadata(deep)));
    assert_string_equal(annotations->items[0].key, "system.simulation.name");
    assert_int_equal(info->messages, 6);
    assert_int_equal(info->payload_bytes, m.messages.size);
    assert_int_equal(info->start_ns, 5000);
    assert_int_equal(info->end_ns, 5000000);
    assert_int_equal(info->n_channels, 3);
    const char *const names[] = {"frame", "state", "frame+state"};
    const unsigned counts[] = {3, 2, 1};
    for (uint32_t i = 0; i < 3; i++) {
        assert_string_equal(reel_index_channel(summary, i)->name, names[i]);
        assert_int_equal(reel_index_stats(summary, i)->count, counts[i]);
    }
    size_t n, n_deep;
    const struct reel_attachment *a = reel_index_attachments(summary, &n), *b = reel_index_attachments(deep, &n_deep);
    assert_int_equal(n, 2);
    assert_int_equal(n_deep, 2);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(a[i].name, b[i].name);
        assert_string_equal(a[i].media_type, b[i].media_type);
        assert_int_equal(a[i].size, b[i].size);
        assert_int_equal(a[i].chunk, b[i].chunk);
        assert_int_equal(a[i].offset, b[i].offset);
    }
}

/* One more entry, for `length` bytes at `offset` of the messages and as the picture says. */
static void refused_entry(size_t offset, size_t length, const char *metadata, const char *text) {
    MAKER m = {.count = 0};
    maker_default(&m);
    size_t at = m.messages.size;
    put_raw(&m.messages, "0123456789", 10);
    maker_entry(&m, offset == SIZE_MAX ? at : offset, length, metadata);
    assert_refused(maker_finish(&m), text);
}

static void an_incomplete_index_is_refused(void **state) {
    (void)state;
    refused_entry(SIZE_MAX, 10, "{'timestamp' 1}", "lacks the types of a message");
    refused_entry(SIZE_MAX, 10, "{'types' n}", "lacks the types of a message");
    refused_entry(SIZE_MAX, 10, "{'types' ['frame' 7]}", "lacks the types of a message");
    refused_entry(SIZE_MAX, 10, "{'types' []}", "lacks the types of a message");
    refused_entry(SIZE_MAX, 7, "{'types' ['frame']}", "lacks the types of a message"); /* shorter than its types */
    refused_entry(SIZE_MAX, 0, "{'types' []}", "lacks the types of a message");
    refused_entry(SIZE_MAX, 10, "n", "lacks the types of a message");
    refused_entry(SIZE_MAX, 11, "{'types' ['frame']}", "points outside messages.msgpack");
    refused_entry((size_t)1 << 62, 10, "{'types' ['frame']}", "points outside messages.msgpack");
    refused_entry(0, 11, "{'types' ['frame']}", "has entries that overlap");
}

static void an_index_that_breaks_off_is_refused(void **state) {
    (void)state;
    MAKER m = {.count = 0}, huge = {.count = 0}, cut = {.count = 0}, map = {.count = 0}, none = {.count = 0},
          lost = {.count = 0};
    maker_default(&m);
    maker_zip(&huge,
              (struct member[]){{"messages.msgpack", maker_messages(&m), false},
                                {"index.msgpack", bytes_of("\xdd\xff\xff\xff\xff", 5), false}},
              2);
    assert_refused(maker_file(&huge), "ends before its last entry");
    struct reel_bytes index = maker_index(&m);
    index.size -= 3;
    maker_zip(&cut, (struct member[]){{"messages.msgpack", maker_messages(&m), false}, {"index.msgpack", index, false}},
              2);
    assert_refused(maker_file(&cut), "ends inside an object");
    maker_zip(&map,
              (struct member[]){{"messages.msgpack", maker_messages(&m), false},
                                {"index.msgpack", bytes_text("\x80"), false}},
              2);
    assert_refused(maker_file(&map), "is not an array");
    maker_zip(&none, (struct member[]){{"messages.msgpack", maker_messages(&m), false}}, 1);
    assert_refused(maker_file(&none), "it is missing");
    maker_default(&lost);
    struct reel_bytes file = maker_finish(&lost);
    file.size -= 22;
    assert_refused(file, "unknown until a scan");
}

static void damaged_recordings(void **state) {
    (void)state;
    for (unsigned deflated = 0; deflated < 2; deflated++) {
        MAKER m = {.count = 0};
        maker_default(&m);
        maker_zip(&m,
                  (struct member[]){{"messages.msgpack", maker_messages(&m), false},
                                    {"index.msgpack", maker_index(&m), deflated}},
                  2);
        summary_of_damaged(maker_file(&m), 0, &reel_format_nanover);
    }
}

static void put64(msgpack_sbuffer *out, uint64_t v) {
    put32(out, v & UINT32_MAX);
    put32(out, v >> 32);
}

/* Headers as the recorder leaves them for large members: ZIP64. */
static void put_header(msgpack_sbuffer *out, bool central, const char *name, uint64_t size, uint64_t at) {
    bool wide = size > UINT32_MAX, wide_at = central && at > UINT32_MAX;
    put32(out, central ? 0x02014b50 : 0x04034b50);
    if (central) {
        put16(out, 45);
    }
    put16(out, 45);
    put32(out, 0); /* flags, method */
    put32(out, 0x00210000);
    put32(out, 0); /* CRC */
    put32(out, wide ? UINT32_MAX : size);
    put32(out, wide ? UINT32_MAX : size);
    put16(out, (unsigned)strlen(name));
    put16(out, wide || wide_at ? 4 + (wide ? 16 : 0) + (wide_at ? 8 : 0) : 0);
    if (central) {
        put_raw(out, (const uint8_t[10]){0}, 10);
        put32(out, wide_at ? UINT32_MAX : at);
    }
    put_raw(out, name, strlen(name));
    if (wide || wide_at) {
        put16(out, 1);
        put16(out, (wide ? 16 : 0) + (wide_at ? 8 : 0));
    }
    if (wide) {
        put64(out, size);
        put64(out, size);
    }
    if (wide_at) {
        put64(out, at);
    }
}

static void put_directory(msgpack_sbuffer *out, uint64_t at, uint64_t messages, uint64_t index, uint64_t index_at) {
    size_t begin = out->size;
    put_header(out, true, "messages.msgpack", messages, 0);
    put_header(out, true, "index.msgpack", index, index_at);
    uint64_t size = out->size - begin, end = at + size;
    put32(out, 0x06064b50);
    put64(out, 44);
    put16(out, 45);
    put16(out, 45);
    put64(out, 0); /* disks */
    put64(out, 2);
    put64(out, 2);
    put64(out, size);
    put64(out, at);
    put32(out, 0x07064b50);
    put32(out, 0);
    put64(out, end);
    put32(out, 1);
    put32(out, 0x06054b50);
    put32(out, 0);
    put16(out, 2);
    put16(out, 2);
    put32(out, size);
    put32(out, UINT32_MAX);
    put16(out, 0);
}

/* Holes for the messages, and for what of the index is not given. */
static void put_archive(const char *path, uint64_t messages, struct reel_bytes index, uint64_t index_size) {
    MAKER first = {.count = 0}, second = {.count = 0}, end = {.count = 0};
    put_header(&first.file, false, "messages.msgpack", messages, 0);
    uint64_t at = first.file.size + messages;
    put_header(&second.file, false, "index.msgpack", index_size, 0);
    uint64_t data = at + second.file.size;
    put_directory(&end.file, data + index_size, messages, index_size, at);
    struct large large = {.file = fopen(path, "w")};
    large_put(&large, first.file.data, first.file.size);
    large.at = at;
    large_put(&large, second.file.data, second.file.size);
    large_put(&large, index.data, index.size);
    large.at = data + index_size;
    large_put(&large, end.file.data, end.file.size);
    assert_int_equal(fclose(large.file), 0);
}

static void a_recording_of_20_gib(void **state) {
    (void)state;
    enum { MESSAGES = 40 << 10, LENGTH = 512 << 10 };
    const uint64_t size = (uint64_t)MESSAGES * LENGTH;
    const char *path = REEL_SCRATCH "/large.nanover.zip";
    MAKER m = {.count = 0};
    for (uint64_t i = 0; i < MESSAGES; i++) {
        char metadata[128];
        snprintf(metadata, sizeof metadata,
                 i % 8 == 7 ? "{'types' ['state'] 'timestamp' %llu}"
                            : "{'types' ['frame'] 'frame.index' 5 'timestamp' %llu}",
                 (unsigned long long)i * 33333);
        maker_entry(&m, i * LENGTH, LENGTH, metadata);
    }
    struct reel_bytes index = maker_index(&m);
    put_archive(path, size, index, index.size);
    /* the end of the archive is read more than once for its directory; the first messages, 4 MiB of them, for the
     * simulation's name */
    INDEX *summary = large_summary(path, &reel_format_nanover, index.size + (256 << 10) + (4 << 20));
    assert_int_equal(reel_index_info(summary)->messages, MESSAGES);
    assert_int_equal(reel_index_info(summary)->payload_bytes, size);
    assert_int_equal(reel_index_info(summary)->n_channels, 2);
    assert_int_equal(reel_index_stats(summary, 0)->count, MESSAGES / 8 * 7);
    assert_int_equal(reel_index_stats(summary, 0)->first_ns, 0);
    assert_int_equal(reel_index_stats(summary, 0)->last_ns, (MESSAGES - 2) * INT64_C(33333000));
    assert_int_equal(reel_index_stats(summary, 1)->count, MESSAGES / 8);
    assert_int_equal(reel_index_stats(summary, 1)->first_ns, 7 * INT64_C(33333000));
    assert_int_equal(reel_index_stats(summary, 1)->last_ns, (MESSAGES - 1) * INT64_C(33333000));
    remove(path);
}

static void an_index_that_is_too_large_is_refused(void **state) {
    (void)state;
    const uint64_t size = (UINT64_C(256) << 20) + 1;
    const char *path = REEL_SCRATCH "/index.nanover.zip";
    put_archive(path, 1, bytes_text("\x90"), size);
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *file = reel_source_open(path, NULL, &err);
    summary_source_refused(file, &reel_format_nanover, "over 256 MiB only a scan reads it");
    remove(path);
}

static const char *const NONE[] = {NULL};

static void golden_recordings(void **state) {
    (void)state;
    struct summarized sum = {0};
    assert_true(summary_folder(REEL_TESTS "/golden/nanover", "/input.nanover.zip", &reel_format_nanover, NONE, &sum));
    assert_true(sum.same >= 35 && sum.refused >= 15);
}

static void real_recordings(void **state) {
    (void)state;
    struct summarized sum = {0};
    if (!summary_folder(REEL_TESTS "/../../shared/samples/nanover", ".nanover.zip", &reel_format_nanover, NONE, &sum)) {
        SAMPLES_SKIPPED(10);
    }
    assert_int_equal(sum.same, 10);
    assert_int_equal(sum.refused, 0);
    assert_int_equal(sum.damaged, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_recordings_are_summarized_as_scanned),
        cmocka_unit_test(contents_of_a_summary),
        cmocka_unit_test(an_incomplete_index_is_refused),
        cmocka_unit_test(an_index_that_breaks_off_is_refused),
        cmocka_unit_test(damaged_recordings),
        cmocka_unit_test(a_recording_of_20_gib),
        cmocka_unit_test(an_index_that_is_too_large_is_refused),
        cmocka_unit_test(golden_recordings),
        cmocka_unit_test(real_recordings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
