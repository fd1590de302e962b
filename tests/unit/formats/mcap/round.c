/* MCAP written and read back: whatever a recording holds comes back equal, under every compression, and an MCAP file of
 * ours converted again is the same bytes. */
#include "makers/tables.h"

#define TOY_MORE_FORMATS &reel_format_mcap,
#include "makers/toy_format.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/mcap_maker.h"

static const char *const compressions[] = {"", "zstd", "lz4"};

/* Opens MCAP bytes, which must outlive the recording. */
static struct reel_recording *open_mcap(const uint8_t *data, uint64_t size) {
    struct reel_error err = {0};
    struct reel_source *source = reel_source_from_memory(bytes_of(data, size), "round.mcap", &err);
    assert_non_null(source);
    if (!reel_scan_run(&source, 1, &reel_format_mcap, REEL_SCRATCH "/round.pack", NULL, &err)) {
        fail_msg("%s", err.text);
    }
    struct reel_recording *r =
        reel_recording_from_index(reel_index_open(REEL_SCRATCH "/round.pack", &err), &source, 1, NULL, &err);
    assert_non_null(r);
    size_t findings;
    const struct reel_finding *all = reel_index_findings(reel_recording_index(r), &findings);
    if (findings > 0) {
        fail_msg("finding: %s", all[0].text);
    }
    return r;
}

static uint8_t *convert(struct reel_recording *r, const char *compression, size_t step, uint64_t *size) {
    struct reel_error err = {0};
    const struct reel_write_options options = {.compression = compression};
    uint8_t *all = toy_render_planned(r, &reel_writer_mcap, &options, NULL, step, size, &err);
    if (!all) {
        fail_msg("%s", err.text);
    }
    return all;
}

static void same_pairs(struct reel_pairs a, struct reel_pairs b) {
    assert_int_equal(a.count, b.count);
    for (size_t i = 0; i < a.count; i++) {
        assert_string_equal(a.items[i].key, b.items[i].key);
        assert_string_equal(a.items[i].value, b.items[i].value);
    }
}

static void same_channel(const struct reel_channel *a, const struct reel_channel *b) {
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->type, b->type);
    assert_string_equal(a->encoding, b->encoding);
    assert_int_equal(a->latched, b->latched);
    assert_int_equal(a->n_topics, b->n_topics);
    for (uint32_t i = 0; i < a->n_topics; i++) {
        assert_string_equal(a->topics[i], b->topics[i]);
    }
    assert_int_equal(a->n_schemas, b->n_schemas);
    for (uint32_t i = 0; i < a->n_schemas; i++) {
        assert_string_equal(a->schemas[i].name, b->schemas[i].name);
        assert_string_equal(a->schemas[i].encoding, b->schemas[i].encoding);
        assert_string_equal(a->schemas[i].hash, b->schemas[i].hash);
        assert_true(bytes_equal(a->schemas[i].data, b->schemas[i].data));
    }
    same_pairs(a->metadata, b->metadata);
}

static void same_messages(struct reel_recording *a, struct reel_recording *b) {
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *x = toy_stream(a, NULL), *y = toy_stream(b, NULL);
    struct reel_message m, n;
    struct reel_description dm, dn;
    struct reel_bytes pm, pn;
    enum reel_step step;
    while ((step = stream_next(x, &m, &err)) == REEL_STEP_MESSAGE) {
        assert_int_equal(stream_next(y, &n, &err), REEL_STEP_MESSAGE);
        assert_int_equal(m.time_ns, n.time_ns);
        assert_int_equal(m.channel, n.channel);
        assert_true(stream_describe(x, &m, &dm, &err) && stream_describe(y, &n, &dn, &err));
        assert_int_equal(dm.sequence, dn.sequence);
        assert_int_equal(dm.publish_ns, dn.publish_ns);
        assert_true(reel_stream_payload(x, &m, &pm, &err));
        assert_true(reel_stream_payload(y, &n, &pn, &err));
        assert_true(bytes_equal(pm, pn));
    }
    assert_int_equal(step, REEL_STEP_END);
    assert_int_equal(stream_next(y, &n, &err), REEL_STEP_END);
}

static void same_attachments(struct reel_recording *a, struct reel_recording *b) {
    struct reel_error err = {0};
    size_t n, m;
    const struct reel_attachment *x = reel_index_attachments(reel_recording_index(a), &n),
                                 *y = reel_index_attachments(reel_recording_index(b), &m);
    AUTO(reel_reader_free) struct reel_reader *ra = reel_reader_new(a, &err), *rb = reel_reader_new(b, &err);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++) {
        struct reel_bytes p, q;
        assert_string_equal(x[i].name, y[i].name);
        assert_string_equal(x[i].media_type, y[i].media_type);
        assert_int_equal(x[i].time_ns, y[i].time_ns);
        assert_true(reel_reader_view(ra, x[i].chunk, x[i].offset, x[i].size, &p, &err));
        assert_true(reel_reader_view(rb, y[i].chunk, y[i].offset, y[i].size, &q, &err));
        assert_true(bytes_equal(p, q));
    }
}

static void same_recording(struct reel_recording *a, struct reel_recording *b) {
    const struct reel_index *x = reel_recording_index(a), *y = reel_recording_index(b);
    assert_int_equal(reel_index_info(x)->messages, reel_index_info(y)->messages);
    assert_int_equal(reel_index_info(x)->clock, reel_index_info(y)->clock);
    assert_int_equal(reel_index_info(x)->n_channels, reel_index_info(y)->n_channels);
    for (uint32_t i = 0; i < reel_index_info(x)->n_channels; i++) {
        same_channel(reel_index_channel(x, i), reel_index_channel(y, i));
    }
    same_pairs(*reel_index_metadata(x), *reel_index_metadata(y));
    same_messages(a, b);
    same_attachments(a, b);
}

/* To MCAP and back under each compression, read in pieces of any size; and from MCAP to MCAP, which changes nothing. */
static void comes_back(struct reel_recording *a) {
    for (unsigned i = 0; i < 3; i++) {
        uint64_t size, again_size;
        uint8_t *file = convert(a, compressions[i], 100003, &size);
        struct reel_recording *b = open_mcap(file, size);
        same_recording(a, b);
        uint8_t *again = convert(b, compressions[i], 1 << 24, &again_size);
        assert_int_equal(size, again_size);
        assert_memory_equal(file, again, size);
        free(again);
        again = convert(b, compressions[(i + 1) % 3], 1 << 24, &again_size);
        struct reel_recording *c = open_mcap(again, again_size);
        same_recording(a, c);
        reel_recording_free(c);
        reel_recording_free(b);
        free(again);
        free(file);
    }
}

/* ---- tests ---- */

static void channels(struct toy *toy) {
    struct reel_pair pairs[] = {{"x", "1"}, {"x", "2"}, {"y", ""}, {"schön", "ä"}};
    struct reel_schema string = {.name = "std_msgs/String",
                                 .encoding = "ros1msg",
                                 .hash = "992ce8a1687cec8c8bd883ec73ca41d1",
                                 .data = bytes_text("string data\n")};
    struct reel_schema several[] = {
        {.name = "Envelope", .encoding = "protobuf", .hash = "e1", .data = bytes_text("\1\2")},
        {.name = "Inner", .encoding = "", .hash = "", .data = bytes_text("y")},
        {.name = "Envelope", .encoding = "protobuf", .hash = "e3", .data = bytes_text("\1\2")}};
    struct reel_schema unnamed = {.name = "T", .encoding = "", .hash = "abcd", .data = bytes_text("struct T;")};
    struct reel_schema name_only = {.name = "frame", .encoding = "", .hash = ""};
    toy_channel(toy, &(struct reel_channel){.name = "/map",
                                            .type = "std_msgs/String",
                                            .encoding = "ros1",
                                            .schemas = &string,
                                            .n_schemas = 1,
                                            .metadata = {pairs, 4}});
    toy_channel(toy, &(struct reel_channel){.name = "/json", .type = "J", .encoding = "json", .latched = true});
    toy_channel(toy, &(struct reel_channel){
                         .name = "p", .type = "P", .encoding = "protobuf", .schemas = several, .n_schemas = 3});
    toy_channel(
        toy, &(struct reel_channel){.name = "t", .type = "", .encoding = "tide", .schemas = &unnamed, .n_schemas = 1});
    toy_channel(
        toy,
        &(struct reel_channel){
            .name = "frame", .type = "nanover/frame", .encoding = "nanover", .schemas = &name_only, .n_schemas = 1});
    toy_channel(toy, &(struct reel_channel){.name = "none", .type = "x/None", .encoding = "nanover"});
    toy_channel(toy, &(struct reel_channel){.name = "raw", .type = "", .encoding = ""});
    toy_channel(toy, &(struct reel_channel){.name = "/undefined", .type = "a/B", .encoding = "ros1"});
}

static void everything_a_recording_holds_comes_back(void **state) {
    (void)state;
    for (int clock = 0; clock < 2; clock++) {
        struct toy toy = {0};
        toy_start(&toy, clock ? REEL_CLOCK_RELATIVE : REEL_CLOCK_WALL);
        toy_pair(&toy, clock ? "dc:Creator" : "creator", "Ada"); /* from MCAP again it would be a record dc, after the
                                                                    others */
        toy_pair(&toy, "note", "");
        toy_pair(&toy, "note", "two");
        channels(&toy);
        for (uint32_t i = 0; i < 3000; i++) {
            char payload[600];
            memset(payload, 'a' + (int)(i % 7), sizeof payload);
            toy_message(&toy, i % 8, (clock ? 0 : INT64_C(1600000000000000000)) + i * 1000, i, payload, i % 600);
        }
        toy_attachment(&toy, "a.txt", "text/plain", 5, bytes_text("hello"));
        toy_attachment(&toy, "empty", "application/octet-stream", 6, bytes_of("", 0));
        struct reel_recording *a = toy_open(&toy);
        if (clock == 0) { /* metadata of other formats goes into one record, in its own order */
            comes_back(a);
        } else {
            uint64_t size;
            uint8_t *file = convert(a, "zstd", 4096, &size);
            struct reel_recording *b = open_mcap(file, size);
            assert_int_equal(reel_index_info(reel_recording_index(b))->clock, REEL_CLOCK_RELATIVE);
            same_pairs(*reel_index_metadata(reel_recording_index(a)), *reel_index_metadata(reel_recording_index(b)));
            reel_recording_free(b);
            free(file);
        }
        reel_recording_free(a);
        toy_free(&toy);
    }
}

/* A TIDE log keeps the values, and their names, but not which stood in a record together: so an MCAP made of it has one
 * record of them. */
static void tide_says_that_records_go(struct reel_recording *r) {
    struct reel_error err = {0};
    size_t count, annotations = 0;
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    AUTO(reel_stream_free)
    struct reel_stream *s = reel_writer_stream(&reel_writer_tide2, &r, 1, &selection_all, &err);
    assert_true(reel_writer_accepts(&reel_writer_tide2, s, loss, &err));
    const struct reel_loss_item *items = reel_loss_items(loss, &count);
    for (size_t i = 0; i < count; i++) {
        annotations += items[i].kind == REEL_CHANGES && strstr(items[i].text, "5 values of metadata records") != NULL;
    }
    assert_int_equal(annotations, 1);
}

static void metadata_records_and_create_times_of_mcap_survive(void **state) {
    (void)state;
    static const char *const one[] = {"k", "v", "l", "w", NULL}, *const two[] = {"k", "u", NULL};
    struct maker m = {0};
    mcap_make_lab(&m, "lz4");
    struct reel_recording *a = open_mcap(m.data, m.size);
    comes_back(a);
    uint64_t size;
    uint8_t *file = convert(a, "", 1 << 20, &size);
    struct maker expected = {0};
    mcap_attachment(&expected, "calib.txt", "text/plain", MCAP_T + 7, "fx=1 fy=2"); /* with its own create_time */
    assert_non_null(memmem(file, size, expected.data, expected.size));
    assert_non_null(memmem(file, size, "\x05\0\0\0x-lab\x0a\0\0\0reel", 4 + 5 + 4 + 4)); /* the profile stays */
    reel_recording_free(a);
    free(file);
    m.size = expected.size = 0;
    mcap_header(&m, "", "");
    for (int i = 0; i < 2; i++) { /* the second time what is expected of it */
        struct maker *to = i == 0 ? &m : &expected;
        mcap_metadata(to, "n", one);
        mcap_metadata(to, "n", two); /* the same name and key: another record */
        mcap_metadata(to, "empty", NULL);
        mcap_metadata(to, "o", two);
    }
    mcap_close(&m);
    a = open_mcap(m.data, m.size);
    assert_int_equal(reel_index_metadata(reel_recording_index(a))->count, 5);
    comes_back(a);
    file = convert(a, "", 1 << 20, &size);
    assert_non_null(memmem(file, size, expected.data, expected.size));
    tide_says_that_records_go(a);
    reel_recording_free(a);
    free(file);
    free(m.data);
    free(expected.data);
}

static void compressed_chunks_are_smaller_or_plain(void **state) {
    (void)state;
    enum { HUGE_SIZE = 9 << 20, LARGE = 2 << 20 };
    struct toy toy = {0};
    uint8_t *noise = malloc(HUGE_SIZE);
    uint64_t seed = 5, size;
    for (size_t i = 0; i < HUGE_SIZE; i++) {
        noise[i] = (uint8_t)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 56);
    }
    toy_start(&toy, REEL_CLOCK_RELATIVE);
    toy_channel(&toy, &(struct reel_channel){.name = "/a", .type = "T", .encoding = "x"});
    char text[1000];
    memset(text, 'z', sizeof text);
    for (uint32_t i = 0; i < 1000; i++) {
        toy_message(&toy, 0, i, i, text, sizeof text); /* shrinks */
    }
    toy_message(&toy, 0, 2000, 0, noise, LARGE); /* does not: stays plain */
    memset(noise, 0, HUGE_SIZE);
    toy_message(&toy, 0, 3000, 0, noise, LARGE);     /* one message larger than a chunk */
    toy_message(&toy, 0, 4000, 0, noise, HUGE_SIZE); /* would shrink, but is rendered in pieces */
    struct reel_recording *a = toy_open(&toy);
    comes_back(a);
    uint8_t *file = convert(a, "zstd", 1 << 20, &size);
    assert_in_range(size, LARGE + HUGE_SIZE, LARGE + HUGE_SIZE + 100000);
    struct reel_recording *b = open_mcap(file, size);
    assert_int_equal(reel_index_info(reel_recording_index(b))->n_chunks, 1 + 2); /* the file, two compressed ones; the
                                                                                    others are plain */
    reel_recording_free(b);
    reel_recording_free(a);
    free(file);
    free(noise);
    toy_free(&toy);
}

static void any_range_of_a_compressed_file_is_that_part(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    toy_start(&toy, REEL_CLOCK_WALL);
    toy_channel(&toy, &(struct reel_channel){.name = "/a", .type = "T", .encoding = "x"});
    for (uint32_t i = 0; i < 20000; i++) {
        char payload[200];
        int n = snprintf(payload, sizeof payload, "message %u of many, %u", i, i * i);
        toy_message(&toy, 0, i, i, payload, (size_t)n * 3 < sizeof payload ? (size_t)n * 3 : (size_t)n);
    }
    struct reel_recording *a = toy_open(&toy);
    const struct reel_write_options options = {.compression = "zstd"};
    uint64_t size;
    uint8_t *whole = convert(a, "zstd", 1 << 24, &size);
    struct reel_stream *stream = toy_stream(a, NULL);
    struct reel_plan *plan = reel_plan_new(&reel_writer_mcap, &options, stream, NULL, &err);
    reel_stream_free(stream);
    struct reel_planned_output *render = reel_planned_output_new(plan, toy_stream(a, NULL), &err);
    assert_non_null(render);
    uint64_t seed = 11;
    for (int i = 0; i < 60; i++) {
        uint8_t piece[5000];
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t at = (seed >> 20) % size, n = size - at < sizeof piece ? size - at : sizeof piece;
        assert_true(reel_planned_output_read(render, at, piece, n, &err));
        assert_memory_equal(piece, whole + at, n);
    }
    reel_planned_output_free(render);
    reel_plan_free(plan);
    reel_recording_free(a);
    free(whole);
    toy_free(&toy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_a_recording_holds_comes_back),
        cmocka_unit_test(metadata_records_and_create_times_of_mcap_survive),
        cmocka_unit_test(compressed_chunks_are_smaller_or_plain),
        cmocka_unit_test(any_range_of_a_compressed_file_is_that_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
