/* index/scan.h: choosing the format, and a chunk's raw bytes as a source while scanning. */
#include "makers/toy.h"

#include <unistd.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"

#define PATH REEL_SCRATCH "/scan.pack"

static uint8_t file[4096];
static struct reel_chunk chunk_asked;
static bool chunk_opened;

static bool chunk_scan(struct reel_scan *scan, struct reel_error *err) {
    struct reel_source *s = reel_scan_open_chunk(scan, &chunk_asked, err);
    uint8_t raw[1000];
    chunk_opened = s != NULL;
    if (!s) {
        return false;
    }
    assert_true(s->size == chunk_asked.raw && reel_source_read(s, 0, raw, sizeof raw, err));
    for (size_t i = 0; i < sizeof raw; i++) {
        assert_int_equal(raw[i], i % 50);
    }
    assert_false(reel_source_read(s, chunk_asked.raw - 1, raw, 2, NULL));
    reel_source_free(s);
    return true;
}

static bool scan_chunk(struct reel_chunk chunk, struct reel_error *err) {
    static const struct reel_format format = {
        .name = "toy", .title = "Toy", .probe = toy_probe, .scan = chunk_scan, .version = 3};
    struct reel_source *part = reel_source_from_memory(bytes_of(file, sizeof file), "x.toy", err);
    chunk_asked = chunk;
    bool good = reel_scan_run(&part, 1, &format, PATH, NULL, err);
    reel_source_free(part);
    return good;
}

static void chunks_open_as_sources(void **state) {
    (void)state;
    struct reel_error err = {0};
    uint8_t raw[1000];
    for (size_t i = 0; i < sizeof raw; i++) {
        raw[i] = (uint8_t)(i % 50);
    }
    uLongf stored = 2000;
    assert_int_equal(compress(file + 100, &stored, raw, sizeof raw), Z_OK);
    memcpy(file + 3000, raw, sizeof raw);
    assert_true(
        scan_chunk((struct reel_chunk){.codec = REEL_CODEC_ZLIB, .offset = 100, .stored = stored, .raw = 1000}, &err));
    assert_true(scan_chunk((struct reel_chunk){.offset = 3000, .stored = 1000, .raw = 1000}, &err));
    assert_false(
        scan_chunk((struct reel_chunk){.codec = REEL_CODEC_ZLIB, .offset = 100, .stored = stored, .raw = 1001}, &err));
    assert_int_equal(err.code, REEL_DAMAGED);
    assert_false(scan_chunk(
        (struct reel_chunk){.codec = REEL_CODEC_ZLIB, .offset = 100, .stored = stored - 5, .raw = 1000}, &err));
    assert_false(
        scan_chunk((struct reel_chunk){.codec = REEL_CODEC_ZLIB, .offset = 100, .stored = stored, .raw = UINT64_MAX},
                   &err)); /* to a file, and too short */
    assert_int_equal(err.code, REEL_DAMAGED);
    assert_false(scan_chunk((struct reel_chunk){.offset = 3500, .stored = 1000, .raw = 1000}, &err));
    assert_false(scan_chunk((struct reel_chunk){.part = 1}, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    assert_false(chunk_opened);
    remove(PATH);
}

static void the_format_is_probed(void **state) {
    (void)state;
    struct reel_error err = {0};
    struct toy t = {.n_parts = 1};
    grow_put(&t.parts[0], "TOY2", 4);
    struct reel_source *part = NULL;
    assert_true(toy_sources(&t, &part, &err));
    toy_scanned = &t;
    assert_true(reel_scan_run(&part, 1, NULL, PATH, NULL, &err));
    reel_source_free(part);
    t.parts[0].data[3] = '9';
    assert_true(toy_sources(&t, &part, &err));
    assert_false(reel_scan_run(&part, 1, NULL, PATH, NULL, &err));
    assert_int_equal(err.code, REEL_NOT_MINE);
    assert_non_null(strstr(err.text, "Toy"));
    reel_source_free(part);
    toy_free(&t);
    remove(PATH);
}

static bool full_metadata(struct reel_scan *scan, struct reel_error *err) {
    for (int i = 0; i < REEL_METADATA_MAX; i++) {
        assert_true(reel_scan_metadata(scan, "k", bytes_text("v"), err));
        assert_true(reel_scan_attachment(scan, &(struct reel_attachment){.name = "a"}, err));
    }
    assert_false(reel_scan_attachment(scan, &(struct reel_attachment){.name = "a"}, err));
    assert_int_equal(err->code, REEL_LIMIT);
    return reel_scan_metadata(scan, "k", bytes_text("v"), err);
}

static void metadata_and_attachments_have_a_ceiling(void **state) {
    (void)state;
    static const struct reel_format format = {
        .name = "toy", .title = "Toy", .probe = toy_probe, .scan = full_metadata, .version = 3};
    struct reel_error err = {0};
    struct reel_source *part = reel_source_from_memory(bytes_of(file, 1), "x.toy", &err);
    assert_false(reel_scan_run(&part, 1, &format, PATH, NULL, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    reel_source_free(part);
}

static bool say_little(struct reel_scan *scan, struct reel_error *err) {
    uint32_t id;
    reel_scan_clock(scan, REEL_CLOCK_RELATIVE, "from its own zero");
    return reel_scan_channel(scan, &(struct reel_channel){.name = "/a", .type = "T", .encoding = "e"}, &id, err) &&
           reel_scan_count(scan, id, &(struct reel_channel_stats){.count = 3, .first_ns = 20, .last_ns = 40}, err) &&
           reel_scan_count(scan, id, &(struct reel_channel_stats){.count = 2, .first_ns = -5, .last_ns = 30}, err) &&
           reel_scan_count(scan, id, &(struct reel_channel_stats){.first_ns = -99, .last_ns = 99}, err);
}
static bool count_in_a_scan(struct reel_scan *scan, struct reel_error *err) {
    return say_little(scan, err);
}

static void a_summary_is_a_pack_without_entries(void **state) {
    (void)state;
    static const struct reel_format format = {.name = "toy",
                                              .title = "Toy",
                                              .probe = toy_probe,
                                              .scan = count_in_a_scan,
                                              .summary = say_little,
                                              .version = 3};
    struct reel_error err = {0};
    struct reel_source *part = reel_source_from_memory(bytes_of(file, 10), "x.toy", &err);
    assert_true(reel_scan_summary(&part, 1, &format, PATH, NULL, &err));
    struct reel_index *index = reel_index_open(PATH, &err);
    assert_non_null(index);
    const struct reel_index_info *info = reel_index_info(index);
    const struct reel_channel_stats *stats = reel_index_stats(index, 0);
    assert_true(info->is_summary);
    assert_int_equal(info->clock, REEL_CLOCK_RELATIVE);
    assert_string_equal(reel_index_channel(index, 0)->name, "/a");
    assert_int_equal(stats->count, 5);
    assert_int_equal(stats->first_ns, -5);
    assert_int_equal(stats->last_ns, 40);
    assert_int_equal(info->start_ns, -5);
    assert_int_equal(info->messages, 5);
    assert_null(reel_recording_from_index(index, &part, 1, NULL, &err)); /* takes both over */
    assert_int_equal(err.code, REEL_ARGUMENT);
    remove(PATH);
}

/* The index has the only reference to its pack. */
static void a_pack_needs_no_name(void **state) {
    (void)state;
    static const struct reel_format format = {.name = "toy",
                                              .title = "Toy",
                                              .probe = toy_probe,
                                              .scan = count_in_a_scan,
                                              .summary = say_little,
                                              .version = 3};
    struct reel_error err = {0};
    struct reel_source *part = reel_source_from_memory(bytes_of(file, 10), "x.toy", &err);
    AUTO(reel_index_free) struct reel_index *index = reel_scan_index(&part, 1, &format, NULL, true, NULL, NULL, &err);
    assert_non_null(index);
    assert_true(reel_index_info(index)->is_summary);
    assert_true(reel_index_verify(index, &err));
    reel_index_free(index);
    index = reel_scan_index(&part, 1, &format, PATH, true, NULL, NULL, &err);
    assert_non_null(index);
    assert_int_equal(remove(PATH), 0);
    reel_source_free(part);
}

static void counts_are_set_in_summaries_only(void **state) {
    (void)state;
    static const struct reel_format format = {
        .name = "toy", .title = "Toy", .probe = toy_probe, .scan = count_in_a_scan, .version = 3};
    struct reel_error err = {0};
    struct reel_source *part = reel_source_from_memory(bytes_of(file, 10), "x.toy", &err);
    assert_false(reel_scan_run(&part, 1, &format, PATH, NULL, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    assert_false(reel_scan_summary(&part, 1, &format, PATH, NULL, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_int_equal(access(PATH, F_OK), -1);
    reel_source_free(part);
}

/* --- errors that pass --- */

static enum reel_code swallowed;

static bool take_for_damage(struct reel_scan *scan, struct reel_error *err) {
    struct reel_error why = {0};
    uint32_t id;
    reel_fail(&why, swallowed, "not now");
    if (!reel_error_ignore(err, &why)) {
        return false;
    }
    reel_scan_finding(scan, REEL_LOSS, 0, 0, 1, "%s", why.text);
    return reel_scan_channel(scan, &(struct reel_channel){.name = "/a", .type = "T", .encoding = "e"}, &id, err) &&
           reel_scan_entry(scan, &(struct reel_entry){.channel = id, .size = 1}, err);
}

static void what_passes_is_no_damage(void **state) {
    (void)state;
    static const struct reel_format format = {
        .name = "toy", .title = "Toy", .probe = toy_probe, .scan = take_for_damage, .version = 3};
    struct reel_error err = {0};
    struct reel_source *part = reel_source_from_memory(bytes_of(file, 10), "x.toy", &err);
    for (swallowed = REEL_NOT_MINE; swallowed <= REEL_BUSY; swallowed++) {
        err = (struct reel_error){0};
        bool good = reel_scan_run(&part, 1, &format, PATH, NULL, &err);
        assert_int_equal(good, !reel_is_transient(swallowed));
        assert_int_equal(err.code, good ? REEL_OK : swallowed);
        assert_int_equal(access(PATH, F_OK), good ? 0 : -1);
        remove(PATH);
    }
    reel_source_free(part);
}

static bool take_all_the_room(struct reel_scan *scan, struct reel_error *err) {
    static char text[1 << 24];
    memset(text, 'x', sizeof text);
    while (reel_scan_text(scan, bytes_of(text, sizeof text), err)) {
    }
    return false;
}

static void too_many_texts_are_a_limit(void **state) {
    (void)state;
    static const struct reel_format format = {
        .name = "toy", .title = "Toy", .probe = toy_probe, .scan = take_all_the_room, .version = 3};
    struct reel_error err = {0};
    struct reel_source *part = reel_source_from_memory(bytes_of(file, 10), "x.toy", &err);
    assert_false(reel_scan_run(&part, 1, &format, PATH, NULL, &err));
    assert_int_equal(err.code, REEL_LIMIT); /* "no memory" would be tried again, for ever */
    assert_string_equal(err.text, "names, texts and definitions need more than 256 MiB");
    reel_source_free(part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_open_as_sources),
        cmocka_unit_test(the_format_is_probed),
        cmocka_unit_test(a_summary_is_a_pack_without_entries),
        cmocka_unit_test(what_passes_is_no_damage),
        cmocka_unit_test(too_many_texts_are_a_limit),
        cmocka_unit_test(a_pack_needs_no_name),
        cmocka_unit_test(counts_are_set_in_summaries_only),
        cmocka_unit_test(metadata_and_attachments_have_a_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
