/* index/index.h: what a scan reported is what an opened pack tells. */
#include "makers/toy.h"

#include <fcntl.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "index/foreign.h"
#include "index/index.h"

static bool full_scan(struct reel_scan *scan, struct reel_error *err) {
    static const char *const topics[] = {"frame", "state"};
    struct reel_schema schemas[] = {
        {.name = "Outer", .encoding = "json", .hash = "ab", .data = {(const uint8_t *)"{}", 2}}, {.name = "Inner"}};
    struct reel_pair pairs[] = {{"k", "1"}, {"k", "2"}};
    struct reel_channel both = {.name = "frame+state",
                                .topics = topics,
                                .n_topics = 2,
                                .type = "t",
                                .encoding = "e",
                                .schemas = schemas,
                                .n_schemas = 2,
                                .metadata = {.items = pairs, .count = 2},
                                .latched = true};
    struct reel_channel bare = {.name = "/bare"};
    uint32_t a, b, chunk;
    if (!reel_scan_channel(scan, &bare, &a, err) || !reel_scan_channel(scan, &bare, &b, err) ||
        !reel_scan_channel_update(scan, b, &both, err)) {
        return false;
    }
    assert_false(reel_scan_channel_update(scan, 2, &both, err));
    assert_true(reel_scan_chunk(
        scan, &(struct reel_chunk){.part = 1, .codec = REEL_CODEC_LZ4, .offset = 10, .stored = 20, .raw = 500}, &chunk,
        err));
    assert_int_equal(chunk, 2);
    assert_true(reel_scan_entry(
        scan, &(struct reel_entry){.channel = 1, .time_ns = 50, .chunk = chunk, .offset = 400, .head = 50, .size = 50},
        err));
    assert_true(reel_scan_entry(
        scan, &(struct reel_entry){.channel = 1, .time_ns = -7, .chunk = 0, .size = 3, .extra = {1, UINT64_MAX}}, err));
    assert_true(reel_scan_attachment(
        scan,
        &(struct reel_attachment){
            .name = "cal.yaml", .media_type = "text/yaml", .time_ns = 5, .chunk = 1, .offset = 6, .size = 7},
        err));
    assert_true(reel_scan_attachment(scan, &(struct reel_attachment){.name = "raw"}, err));
    assert_true(reel_scan_metadata(scan, "who", bytes_of("x\0\xffy", 4), err));
    reel_scan_clock(scan, REEL_CLOCK_RELATIVE, "counts from its start");
    reel_scan_container(scan, "#TOY V1");
    for (int i = 0; i < REEL_FINDINGS_MAX + 5; i++) {
        reel_scan_finding(scan, i % 2 ? REEL_LOSS : REEL_NOTE, 1, (uint64_t)i, 10, "finding %d", i);
    }
    assert_string_equal(reel_scan_text(scan, bytes_of("a\x80", 2), err), "a\\x80");
    assert_true(reel_scan_progress(scan, 1, 2, err));
    return true;
}

static const struct reel_format full_format = {
    .name = "toy", .title = "Toy", .probe = toy_probe, .scan = full_scan, .version = 3};
#define PATH REEL_SCRATCH "/index.pack"

static bool scan_with(const struct reel_format *format, const struct reel_progress *progress, struct reel_error *err) {
    uint8_t bytes[100] = "TOY2";
    struct reel_source *parts[] = {reel_source_from_memory(bytes_of(bytes, 100), "a", err),
                                   reel_source_from_memory(bytes_of(bytes, 30), "b", err)};
    bool good = reel_scan_run(parts, 2, format, PATH, progress, err);
    reel_source_free(parts[0]);
    reel_source_free(parts[1]);
    return good;
}

static void check_channels(const struct reel_index *index) {
    const struct reel_channel *c = reel_index_channel(index, 0);
    assert_true(c->id == 0 && c->n_topics == 1 && c->n_schemas == 0 && c->metadata.count == 0 && !c->latched);
    assert_string_equal(c->name, "/bare");
    assert_string_equal(c->topics[0], "/bare");
    assert_string_equal(c->type, "");
    assert_string_equal(c->encoding, "");
    c = reel_index_channel(index, 1);
    assert_true(c->id == 1 && c->n_topics == 2 && c->n_schemas == 2 && c->metadata.count == 2 && c->latched);
    assert_string_equal(c->name, "frame+state");
    assert_string_equal(c->topics[1], "state");
    assert_string_equal(c->schemas[0].name, "Outer");
    assert_string_equal(c->schemas[0].encoding, "json");
    assert_string_equal(c->schemas[0].hash, "ab");
    assert_true(bytes_is(c->schemas[0].data, "{}"));
    assert_true(c->schemas[1].data.size == 0);
    assert_string_equal(c->metadata.items[1].key, "k");
    assert_string_equal(c->metadata.items[1].value, "2");
    const struct reel_channel_stats *none = reel_index_stats(index, 0), *two = reel_index_stats(index, 1);
    assert_true(none->count == 0 && none->first_ns == 0 && none->last_ns == 0);
    assert_true(two->count == 2 && two->bytes == 53 && two->first_ns == -7 && two->last_ns == 50);
}

static void scanned_files_are_reported(void **state) {
    (void)state;
    struct reel_error err = {0};
    assert_true(scan_with(&full_format, NULL, &err));
    struct reel_index *index = reel_index_open(PATH, &err);
    assert_non_null(index);
    const struct reel_index_info *info = reel_index_info(index);
    assert_ptr_equal(info->format, &toy_format);
    assert_string_equal(info->container, "#TOY V1");
    assert_string_equal(info->clock_note, "counts from its start");
    assert_true(info->clock == REEL_CLOCK_RELATIVE && info->n_channels == 2 && info->n_parts == 2 &&
                info->n_chunks == 3);
    assert_true(info->messages == 2 && info->payload_bytes == 53 && info->start_ns == -7 && info->end_ns == 50);
    assert_true(info->damaged && info->n_findings_total == REEL_FINDINGS_MAX + 5 &&
                info->lost_bytes == (REEL_FINDINGS_MAX + 5) / 2 * 10);
    check_channels(index);
    size_t n;
    const struct reel_attachment *a = reel_index_attachments(index, &n);
    assert_true(n == 2 && a[0].time_ns == 5 && a[0].chunk == 1 && a[0].offset == 6 && a[0].size == 7);
    assert_string_equal(a[0].name, "cal.yaml");
    assert_string_equal(a[1].media_type, "application/octet-stream");
    const struct reel_finding *f = reel_index_findings(index, &n);
    assert_true(n == REEL_FINDINGS_MAX && f[999].offset == 999 && f[999].severity == REEL_LOSS && f[999].part == 1 &&
                f[999].length == 10);
    assert_string_equal(f[999].text, "finding 999");
    const struct reel_pairs *pairs = reel_index_metadata(index);
    assert_true(pairs->count == 1);
    assert_string_equal(pairs->items[0].value, "x\\x00\\xffy");
    assert_true(reel_index_part_size(index, 0) == 100 && reel_index_part_size(index, 1) == 30 &&
                reel_index_part_size(index, 2) == 0);
    reel_index_free(index);
}

/* What is read by the number of a chunk has room for as many as there are. */
static void a_foreign_index_has_the_chunks_it_counts(void **state) {
    (void)state;
    struct reel_error err = {0};
    assert_true(scan_with(&full_format, NULL, &err));
    AUTO(reel_index_free) struct reel_index *index = reel_index_open(PATH, &err);
    struct pack_model *m = &index->model;
    assert_true(index_check_foreign(index, &err));
    static const uint64_t counts[] = {0, 2, 4, UINT64_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        m->n_chunks = counts[i];
        assert_false(index_check_foreign(index, &err));
    }
    m->n_chunks = m->chunk_segments[0].count = 2; /* the entry of chunk 2 is then of none */
    assert_false(index_check_foreign(index, &err));
    m->n_chunks = m->chunk_segments[0].count = 3;
    m->channels[1].n_topics = 0;
    assert_false(index_check_foreign(index, &err));
    m->channels[1].n_topics = REEL_CHANNELS_MAX; /* more than that in all: not read */
    assert_false(index_check_foreign(index, &err));
    m->channels[1].n_topics = 2;
    assert_true(index_check_foreign(index, &err));
}

static bool empty_scan(struct reel_scan *scan, struct reel_error *err) {
    (void)scan;
    (void)err;
    return true;
}

static void an_empty_recording_has_an_index(void **state) {
    (void)state;
    struct reel_error err = {0};
    struct reel_format format = full_format;
    format.scan = empty_scan;
    assert_true(scan_with(&format, NULL, &err));
    struct reel_index *index = reel_index_open(PATH, &err);
    assert_non_null(index);
    const struct reel_index_info *info = reel_index_info(index);
    assert_true(info->messages == 0 && info->start_ns == 0 && info->end_ns == 0 && info->n_channels == 0 &&
                !info->damaged && info->n_findings_total == 0);
    assert_true(index_check_foreign(index, &err));
    reel_index_free(index);
}

static bool is_other(void) {
    AUTO_FD int fd = open(PATH, O_RDONLY);
    return index_is_of_another_version(fd);
}

static void packs_of_others_are_to_be_rebuilt(void **state) {
    (void)state;
    struct reel_error err = {0};
    struct reel_format format = full_format;
    format.scan = empty_scan;
    format.version = 2; /* an older reader of the format */
    assert_true(scan_with(&format, NULL, &err));
    assert_null(reel_index_open(PATH, &err));
    assert_int_equal(err.code, REEL_CHANGED);
    assert_true(is_other());
    format.version = 3;
    assert_true(scan_with(&format, NULL, &err));
    assert_false(is_other());
    format.name = "elsewhere";
    assert_true(scan_with(&format, NULL, &err));
    assert_null(reel_index_open(PATH, &err));
    assert_int_equal(err.code, REEL_CHANGED);
    FILE *f = fopen(PATH, "wb");
    fputs("something else altogether, but longer than a footer and a header", f);
    fclose(f);
    assert_null(reel_index_open(PATH, &err));
    assert_int_equal(err.code, REEL_CHANGED);
    assert_false(is_other()); /* damaged */
    remove(PATH);
    assert_null(reel_index_open(PATH, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
}

static bool stop(void *context, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    return --*(int *)context > 0;
}
static bool endless_scan(struct reel_scan *scan, struct reel_error *err) {
    for (uint64_t i = 0;; i++) {
        if (!reel_scan_progress(scan, i, UINT64_MAX, err)) {
            return false;
        }
    }
}

static void a_scan_can_be_cancelled(void **state) {
    (void)state;
    struct reel_error err = {0};
    struct reel_format format = full_format;
    format.scan = endless_scan;
    int calls = 10;
    struct reel_progress progress = {.report = stop, .context = &calls};
    assert_false(scan_with(&format, &progress, &err));
    assert_int_equal(err.code, REEL_CANCELLED);
    assert_int_equal(calls, 0);
    assert_null(reel_index_open(PATH, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
}

static void the_number_of_parts_is_checked(void **state) {
    (void)state;
    struct reel_error err = {0};
    assert_false(reel_scan_run(NULL, 0, &full_format, PATH, NULL, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    assert_false(reel_scan_run(NULL, REEL_PARTS_MAX + 1, &full_format, PATH, NULL, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scanned_files_are_reported),      cmocka_unit_test(a_foreign_index_has_the_chunks_it_counts),
        cmocka_unit_test(an_empty_recording_has_an_index), cmocka_unit_test(packs_of_others_are_to_be_rebuilt),
        cmocka_unit_test(a_scan_can_be_cancelled),         cmocka_unit_test(the_number_of_parts_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
