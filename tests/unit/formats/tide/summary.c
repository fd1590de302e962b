/* Summaries of TIDE logs equal the result of a scan, or are refused; and little is read of large logs. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/real_samples.h"
#include "makers/summary_check.h"
#include "makers/tide_scan.h"

static void assert_same(const struct log *l) {
    AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(l->data, l->size));
    INDEX *summary = summary_like_scan(&source, 1, &reel_format_tide);
    assert_non_null(summary);
}
static void assert_refused(const struct log *l, const char *text) {
    AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(l->data, l->size));
    summary_source_refused(source, &reel_format_tide, text);
}

static void put_at(struct large *large, uint64_t at, const void *data, size_t size) {
    large->at = at;
    large_put(large, data, size);
}

/* Two chunks each with its index, channels that have nothing, and metadata. */
static void made(struct log *l, unsigned major, enum log_packing packing) {
    log_tide(l, major, 0);
    if (major < 2) {
        log_channel(l, 0, "/a");
        log_channel_of(l, 1, "/foo/:.rst.vision.Image", "rsb-event-0.9:.rst.vision.Image", "UUID", "rsb:/#UUID",
                       "message N { }\n:message I { }\n");
        log_channel(l, 7, "/none");
    } else {
        log_channel_new(l, 0, "/a", "", "", (const char *const[]){"\x01\x02", NULL});
        log_channel_new(l, 1, "/b", "source", "config", NULL);
        log_type(l, "\x01\x02", "xml", "Type", "1", "<type/>", "http://a/b", NULL);
        log_meta(l, (const char *const[]){"dc:Title", "made", NULL});
    }
    for (unsigned k = 0; k < 2; k++) {
        size_t chunk = log_six(l, k, packing);
        log_six_index(l, major >= 2, major < 2 ? k : chunk);
    }
}

static void made_logs_are_summarized_as_scanned(void **state) {
    (void)state;
    const struct {
        unsigned major;
        enum log_packing packing;
    } kinds[] = {{0, LOG_PLAIN}, {1, LOG_PLAIN}, {2, LOG_PLAIN}, {2, LOG_GZIP}, {2, LOG_BZIP2}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        LOG l = {0};
        made(&l, kinds[i].major, kinds[i].packing);
        assert_same(&l);
    }
}

static void contents_of_a_summary(void **state) {
    (void)state;
    LOG l = {0};
    made(&l, 2, LOG_PLAIN);
    AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(l.data, l.size));
    struct reel_error err;
    INDEX *summary = summary_try(&source, 1, &reel_format_tide, &err);
    assert_non_null(summary);
    const struct reel_index_info *info = reel_index_info(summary);
    assert_string_equal(info->container, "TIDE 2.0");
    assert_int_equal(info->messages, 12);
    assert_int_equal(info->n_channels, 2);
    assert_int_equal(info->start_ns, 1400000000000000000);
    assert_int_equal(info->end_ns, 1400000005000000000);
    const struct reel_channel_stats *b = reel_index_stats(summary, 1);
    assert_int_equal(b->count, 6);
    assert_int_equal(b->first_ns, 1400000001000000000);
    assert_int_equal(b->last_ns, 1400000005000000000);
    const struct reel_pairs *pairs = reel_index_metadata(summary);
    assert_int_equal(pairs->count, 1);
    assert_string_equal(pairs->items[0].key, "dc:Title");
}

/* Times go back, the index stands in front of chunk and channels, and the log has odd blocks. */
static void no_order_is_assumed(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_begin(&l, "INDX");
    log_number(&l, 5, 4);
    log_number(&l, 3, 4);
    const uint64_t times[] = {LOG_T0 + 9, LOG_T0 + 2, LOG_T0 + 5};
    for (unsigned i = 0; i < 3; i++) {
        log_number(&l, 0, 4);
        log_number(&l, times[i], 8);
        log_number(&l, i * 17, 8);
    }
    log_end(&l);
    log_begin(&l, "JUNK");
    log_number(&l, 1, 8);
    log_end(&l);
    log_chunk(&l, 0, 3, LOG_T0 + 2, LOG_T0 + 9);
    for (unsigned i = 0; i < 3; i++) {
        log_entry(&l, 5, times[i], "x");
    }
    log_chunk_end(&l, LOG_PLAIN);
    log_channel(&l, 5, "/late");
    assert_same(&l);
}

static void empty_logs(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    assert_same(&l);
    log_channel(&l, 3, "/a");
    assert_same(&l);
    log_chunk(&l, 0, 0, 0, 0);
    log_chunk_end(&l, LOG_PLAIN);
    assert_same(&l);
}

static void an_index_that_is_not_whole_is_refused(void **state) {
    (void)state;
    LOG none = {0}, abandoned = {0}, lacks = {0}, later = {0}, unknown = {0};
    log_tide(&none, 0, 0);
    log_channel(&none, 0, "/a");
    log_channel(&none, 1, "/b");
    log_six(&none, 0, LOG_PLAIN);
    assert_refused(&none, "the index has 0 messages, the chunks state 6");
    log_default(&abandoned);
    log_six(&abandoned, 1, LOG_PLAIN);
    assert_refused(&abandoned, "the index has 6 messages, the chunks state 12");
    log_default(&lacks);
    log_resize(&lacks, -20);
    lacks.size -= 20;
    assert_refused(&lacks, "some of its rows are missing");
    log_default(&later);
    log_patch(&later, later.size - 16, LOG_T0 + 6 * (uint64_t)LOG_S, 8);
    assert_refused(&later, "the index has other times than the chunks");
    log_default(&unknown);
    log_patch(&unknown, unknown.block + 12, 77, 4);
    assert_refused(&unknown, "refers to channel 77, which has no block CHAN");
}

static void chunks_without_counts_are_refused(void **state) {
    (void)state;
    const struct {
        unsigned at;
        uint64_t value;
        unsigned bytes;
        const char *text;
    } wrong[] = {{4, UINT32_MAX, 4, "its number of messages is missing"}, /* count */
                 {4, 6 * 18, 4, "its number of messages is missing"},     /* of bytes, as old recorders have it */
                 {4, 0, 4, "its number of messages is missing"},
                 {16, LOG_T0 - 1, 8, "it ends before it starts"},
                 {24, 7, 1, "its number of messages is missing"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        LOG l = {0};
        log_tide(&l, 0, 0);
        log_channel(&l, 0, "/a");
        log_channel(&l, 1, "/b");
        size_t chunk = log_six(&l, 0, LOG_PLAIN);
        log_six_index(&l, false, 0);
        log_patch(&l, chunk + 12 + wrong[i].at, wrong[i].value, wrong[i].bytes);
        assert_refused(&l, wrong[i].text);
    }
}

static void damaged_logs(void **state) {
    (void)state;
    for (unsigned major = 0; major < 3; major += 2) {
        LOG l = {0};
        made(&l, major, LOG_PLAIN);
        summary_of_damaged(bytes_of(l.data, l.size), 0, &reel_format_tide);
    }
}

/* Sizes in characters, four zeros at the end of blocks. */
static void what_old_recorders_got_wrong(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel(&l, 0, "/\xc3\xa4\xc3\xa4");
    log_resize(&l, -2);
    log_channel(&l, 1, "/b");
    log_chunk(&l, 0, 1, LOG_T0, LOG_T0);
    log_entry(&l, 0, LOG_T0, "x");
    log_number(&l, 0, 4);
    log_end(&l);
    log_index(&l, 0, false, 0, LOG_T0, 0);
    log_number(&l, 0, 4);
    log_resize(&l, 0);
    assert_same(&l);
}

/* A damaged block of a large log: nothing after it is searched. */
static void damage_costs_nothing(void **state) {
    (void)state;
    const char *path = REEL_SCRATCH "/damaged.tide";
    const struct {
        uint64_t size; /* of a chunk with one message: too large, left open, leading nowhere */
        const char *text;
    } wrong[] = {{UINT64_C(1) << 50, "no block begins at"},
                 {25, "its number of messages is missing"},
                 {1 << 20, "no block begins at"}};
    for (unsigned i = 0; i < 3; i++) {
        LOG l = {0};
        log_default(&l);
        log_chunk(&l, 1, 1, LOG_T0, LOG_T0);
        log_entry(&l, 0, LOG_T0, "x");
        log_patch(&l, l.block + 4, wrong[i].size, 8);
        struct large large = {.file = fopen(path, "w")};
        put_at(&large, 0, l.data, l.size);
        fclose(large.file);
        assert_int_equal(truncate(path, (off_t)20 << 30), 0);
        struct reel_error err;
        AUTO(reel_source_free) struct reel_source *file = reel_source_open(path, NULL, &err);
        struct counted counted = counted_of(file);
        summary_source_refused(&counted.base, &reel_format_tide, wrong[i].text);
        assert_true(counted.bytes < 4096);
        remove(path);
    }
}

static void too_many_blocks_are_refused(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 2, 0);
    for (unsigned i = 0; i < (1 << 20) + 1; i++) {
        log_bytes(&l, "JUNK\0\0\0\0\0\0\0\0", 12);
    }
    assert_refused(&l, "too many blocks");
}

/* 20 GiB in chunks of 8 MiB, each of four messages of four channels, and one INDX a channel at the end. The payloads
 * are holes: what is written is a block of the disk for each message. */
enum { CHUNKS = 5 << 9, CHANNELS = 4, PAYLOAD = (1 << 21) - 16 };
#define CHUNK_BYTES (37 + (uint64_t)CHANNELS * (16 + PAYLOAD))

static void put_chunks(struct large *large, uint64_t at) {
    for (uint64_t k = 0; k < CHUNKS; k++, at += CHUNK_BYTES) {
        LOG chunk = {0};
        log_chunk(&chunk, (uint32_t)k, CHANNELS, LOG_T0 + k * LOG_S, LOG_T0 + k * LOG_S + CHANNELS - 1);
        log_patch(&chunk, 4, CHUNK_BYTES - 12, 8);
        put_at(large, at, chunk.data, chunk.size);
        for (uint32_t c = 0; c < CHANNELS; c++) {
            uint8_t entry[16];
            store_u32le(entry, c);
            store_u64le(entry + 4, LOG_T0 + k * LOG_S + c);
            store_u32le(entry + 12, PAYLOAD);
            put_at(large, at + 37 + c * (uint64_t)(16 + PAYLOAD), entry, sizeof entry);
        }
    }
}

static void log_indexes(struct log *l, bool is_new, uint64_t first) {
    for (uint32_t c = 0; c < CHANNELS; c++) {
        log_begin(l, "INDX");
        log_number(l, c, 4);
        log_number(l, CHUNKS, 4);
        for (uint64_t k = 0; k < CHUNKS; k++) {
            log_number(l, is_new ? first + k * CHUNK_BYTES : k, is_new ? 8 : 4);
            log_number(l, LOG_T0 + k * LOG_S + c, 8);
            log_number(l, c * (uint64_t)(16 + PAYLOAD), is_new ? 4 : 8);
        }
        log_end(l);
    }
}

static void a_log_of_20_gib(void **state) {
    (void)state;
    const char *path = REEL_SCRATCH "/large.tide";
    for (unsigned major = 0; major < 3; major += 2) {
        LOG head = {0}, index = {0};
        log_tide(&head, major, 0);
        for (unsigned c = 0; c < CHANNELS; c++) {
            char name[] = {'/', (char)('a' + c), 0};
            major < 2 ? log_channel(&head, c, name) : log_channel_new(&head, c, name, "", "", NULL);
        }
        log_indexes(&index, major >= 2, head.size);
        struct large large = {.file = fopen(path, "w")};
        put_at(&large, 0, head.data, head.size);
        put_chunks(&large, head.size);
        put_at(&large, head.size + CHUNKS * CHUNK_BYTES, index.data, index.size);
        fclose(large.file);
        /* 37 bytes a chunk, the index and a little more */
        INDEX *summary = large_summary(path, &reel_format_tide, CHUNKS * 37 + index.size + 4096);
        assert_int_equal(reel_index_info(summary)->messages, CHUNKS * CHANNELS);
        assert_int_equal(reel_index_info(summary)->start_ns, LOG_T0);
        assert_int_equal(reel_index_info(summary)->end_ns, LOG_T0 + (CHUNKS - 1) * (uint64_t)LOG_S + CHANNELS - 1);
        for (uint32_t c = 0; c < CHANNELS; c++) {
            assert_int_equal(reel_index_stats(summary, c)->count, CHUNKS);
            assert_int_equal(reel_index_stats(summary, c)->first_ns, LOG_T0 + c);
            assert_int_equal(reel_index_stats(summary, c)->last_ns, LOG_T0 + (CHUNKS - 1) * (uint64_t)LOG_S + c);
        }
        remove(path);
    }
}

/* An index of more rows than are read: counts stay right, times become those of the recording. */
static void an_index_that_is_too_long(void **state) {
    (void)state;
    enum { ROWS = 5 << 20 };
    const char *path = REEL_SCRATCH "/rows.tide";
    LOG head = {0}, chunk = {0};
    log_tide(&head, 2, 0);
    log_channel_new(&head, 0, "/a", "", "", NULL);
    log_channel_new(&head, 1, "/b", "", "", NULL);
    log_begin(&head, "INDX");
    log_number(&head, 1, 4);
    log_number(&head, ROWS, 4);
    log_patch(&head, head.block + 4, 8 + (uint64_t)ROWS * 20, 8);
    log_chunk(&chunk, 0, ROWS, LOG_T0, LOG_T0 + 99);
    log_patch(&chunk, 4, 25 + (uint64_t)ROWS * 16, 8);
    uint64_t at = head.size + (uint64_t)ROWS * 20;
    struct large large = {.file = fopen(path, "w")};
    put_at(&large, 0, head.data, head.size);
    put_at(&large, at, chunk.data, chunk.size);
    fclose(large.file);
    assert_int_equal(truncate(path, (off_t)(at + chunk.size + (uint64_t)ROWS * 16)), 0);
    INDEX *summary = large_summary(path, &reel_format_tide, 4096);
    assert_int_equal(reel_index_stats(summary, 0)->count, 0);
    assert_int_equal(reel_index_stats(summary, 1)->count, ROWS);
    assert_int_equal(reel_index_stats(summary, 1)->first_ns, LOG_T0);
    assert_int_equal(reel_index_stats(summary, 1)->last_ns, LOG_T0 + 99);
    remove(path);
}

static bool cancel(void *context, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    ++*(unsigned *)context;
    return false;
}

static void a_summary_can_be_cancelled(void **state) {
    (void)state;
    LOG l = {0};
    log_default(&l);
    AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(l.data, l.size));
    unsigned asked = 0;
    struct reel_progress progress = {.report = cancel, .context = &asked};
    struct reel_error err = {0};
    assert_false(reel_scan_summary(&source, 1, &reel_format_tide, REEL_SCRATCH "/cancelled.pack", &progress, &err));
    assert_int_equal(err.code, REEL_CANCELLED);
    assert_int_equal(asked, 1);
}

static const char *const NONE[] = {NULL};

static void golden_logs(void **state) {
    (void)state;
    struct summarized sum = {0};
    assert_true(summary_folder(REEL_TESTS "/golden/tide", "/input.tide", &reel_format_tide, NONE, &sum));
    assert_true(sum.same >= 15 && sum.refused >= 19);
}

static void real_logs(void **state) {
    (void)state;
    struct summarized sum = {0};
    if (!summary_folder(REEL_TESTS "/../../shared/samples/tide", ".tide", &reel_format_tide, NONE, &sum)) {
        SAMPLES_SKIPPED(15);
    }
    assert_int_equal(sum.same, 10);
    assert_int_equal(sum.refused, 5); /* three count bytes, one was abandoned, one is cut */
    assert_int_equal(sum.damaged, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_logs_are_summarized_as_scanned),
        cmocka_unit_test(contents_of_a_summary),
        cmocka_unit_test(no_order_is_assumed),
        cmocka_unit_test(empty_logs),
        cmocka_unit_test(an_index_that_is_not_whole_is_refused),
        cmocka_unit_test(chunks_without_counts_are_refused),
        cmocka_unit_test(damaged_logs),
        cmocka_unit_test(what_old_recorders_got_wrong),
        cmocka_unit_test(damage_costs_nothing),
        cmocka_unit_test(too_many_blocks_are_refused),
        cmocka_unit_test(a_log_of_20_gib),
        cmocka_unit_test(an_index_that_is_too_long),
        cmocka_unit_test(a_summary_can_be_cancelled),
        cmocka_unit_test(golden_logs),
        cmocka_unit_test(real_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
