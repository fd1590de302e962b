/* The numbered rules of TIDE's specification (RD 1), where they span other formats, writing and summarys. */
#include "makers/tide_scan.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/tide/layout.h"

#define SIX "/a=m0|/b=m1|/a=m2|/b=m3|/a=m4|/b=m5|"

static void begin(struct log *l) {
    log_tide(l, 2, 0);
    log_channel_new(l, 0, "/a", "", "", NULL);
    log_channel_new(l, 1, "/b", "", "", NULL);
}

static void rule_tide_03_stands_at_the_very_beginning(void **state) {
    (void)state;
    static const char *const meta[] = {"dc:Title", "t", NULL};
    LOG l = {0};
    log_meta(&l, meta); /* a block like any other, but not the first one */
    begin(&l);
    log_six(&l, 0, LOG_PLAIN);
    struct reel_error err = {0};
    AUTO(reel_source_free)
    struct reel_source *source = reel_source_from_memory(bytes_of(l.data, l.size), "a.tide", &err);
    assert_int_equal(reel_format_tide.probe(bytes_of(l.data, l.size), source, NULL), 0);
    assert_null(log_try(bytes_of(l.data, l.size), &reel_format_tide, &err));
    assert_int_equal(err.code, REEL_NOT_MINE);
}

/* Keys may repeat: all values arrive, in their order. */
static void rule_tide_05_metadata_is_kept_in_mcap(void **state) {
    (void)state;
    static const char *const meta[] = {"dc:Title", "a log",   "dc:Subject", "first", "dc:Subject",
                                       "second",   "own:key", "",           NULL};
    LOG l = {0};
    begin(&l);
    log_six(&l, 0, LOG_PLAIN);
    log_meta(&l, meta);
    RECORDING *r = log_scan(&l);
    LOG out = log_write(r, &reel_writer_mcap, "", &selection_all, 10);
    RECORDING *mcap = log_scan(&out);
    assert_ptr_equal(log_info(mcap)->format, &reel_format_mcap);
    const struct reel_pairs *pairs = reel_index_metadata(reel_recording_index(mcap));
    assert_int_equal(pairs->count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(pairs->items[i].key, meta[2 * i]);
        assert_string_equal(pairs->items[i].value, meta[2 * i + 1]);
    }
    LOG back = log_write(mcap, &reel_writer_tide2, "", &selection_all, 10);
    RECORDING *again = log_scan(&back);
    assert_string_equal(log_value(reel_index_metadata(reel_recording_index(again)), "dc:Title"), "a log");
    assert_string_equal(log_messages(again), SIX);
}

/* A log of one channel, whose types need each other in a ring: what is written has a TYPE block for each, with its
 * syntax. */
static void rule_tide_07_a_written_log_holds_every_type_with_its_syntax(void **state) {
    (void)state;
    static const char *const hashes[] = {"HP", NULL};
    static const struct {
        const char *hash, *syntax, *name, *needs;
    } types[] = {{"HP", "protobuf-2", "nav.Path", "HO"},
                 {"HO", "protobuf-2.5", "nav.Pose", "HT"},
                 {"HT", "protobuf-3.0", "nav.Time", "HP"}};
    LOG l = {0};
    log_tide(&l, 2, 0);
    log_channel_new(&l, 0, "/a", "", "", hashes);
    log_channel_new(&l, 1, "/other", "", "", NULL);
    for (size_t i = 0; i < 3; i++) {
        log_type(&l, types[i].hash, types[i].syntax, types[i].name, "1", "d", NULL, types[i].needs);
    }
    log_six(&l, 0, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    const char *const topic = "/a";
    struct reel_selection selection = selection_all;
    selection.topics = &topic;
    selection.n_topics = 1;
    LOG out = log_write(r, &reel_writer_tide2, "", &selection, 10);
    unsigned blocks = 0;
    for (const uint8_t *at = out.data; (at = memmem(at, (size_t)(out.data + out.size - at), "TYPE", 4)); at++) {
        blocks++;
    }
    assert_int_equal(blocks, 3);
    RECORDING *again = log_scan(&out);
    assert_int_equal(log_model(again, 0)->n_schemas, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(log_model(again, 0)->schemas[i].encoding, types[i].syntax);
        assert_string_equal(log_model(again, 0)->schemas[i].name, types[i].name);
    }
    size_t count;
    const struct reel_finding *findings = reel_index_findings(reel_recording_index(again), &count);
    for (size_t i = 0; i < count; i++) {
        assert_null(strstr(findings[i].text, "have no block TYPE"));
    }
}

/* INDX blocks: none, one or several a channel, before and after what they name. */
static void rule_tide_09_none_one_or_several_indices_a_channel(void **state) {
    (void)state;
    LOG l = {0};
    begin(&l);
    log_channel_new(&l, 2, "/silent", "", "", NULL); /* has none */
    size_t chunk = l.size + 2 * (TIDE_BLOCK_HEAD + 8 + 20);
    log_index(&l, 0, true, chunk, LOG_T0, 0); /* two of /a stand before their chunk, one after it */
    log_index(&l, 0, true, chunk, LOG_T0 + 4 * (uint64_t)LOG_S, 4 * 18);
    assert_int_equal(l.size, chunk);
    log_six(&l, 0, LOG_GZIP);
    log_index(&l, 0, true, chunk, LOG_T0 + 2 * (uint64_t)LOG_S, 2 * 18);
    log_begin(&l, "INDX"); /* all of /b in one */
    log_number(&l, 1, 4);
    log_number(&l, 3, 4);
    for (unsigned i = 1; i < 6; i += 2) {
        log_number(&l, chunk, 8);
        log_number(&l, LOG_T0 + i * (uint64_t)LOG_S, 8);
        log_number(&l, i * 18, 4);
    }
    log_end(&l);
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_messages(r), SIX);
    log_assert_findings(r, 0);
    LOG missed = {0}; /* an offset that counts from elsewhere is reported */
    begin(&missed);
    chunk = log_six(&missed, 0, LOG_PLAIN);
    log_index(&missed, 0, true, chunk, LOG_T0, 25);
    RECORDING *s = log_scan(&missed);
    size_t count;
    reel_index_findings(reel_recording_index(s), &count);
    assert_true(count > 0);
    assert_string_equal(log_messages(s), SIX);
}

/* Channels, types, counts and times without a payload: the chunk's bytes may be anything. */
static void rule_tide_11_a_summary_has_channels_types_and_times(void **state) {
    (void)state;
    static const char *const hashes[] = {"HP", NULL};
    LOG l = {0};
    log_tide(&l, 2, 0);
    size_t chunk = log_six(&l, 0, LOG_PLAIN), end = l.size;
    memset(l.data + chunk + TIDE_BLOCK_HEAD + TIDE_CHUNK_HEAD, 0xee, end - chunk - TIDE_BLOCK_HEAD - TIDE_CHUNK_HEAD);
    log_six_index(&l, true, chunk);
    log_channel_new(&l, 0, "/a", "", "", hashes);
    log_type(&l, "HP", "ros-msg-1.0", "geometry_msgs/Point", "1", "float64 x\n", NULL, NULL);
    log_channel_new(&l, 1, "/b", "", "", NULL);
    struct reel_error err = {0};
    AUTO(reel_source_free)
    struct reel_source *source = reel_source_from_memory(bytes_of(l.data, l.size), "a.tide", &err);
    if (!reel_scan_summary(&source, 1, NULL, REEL_SCRATCH "/summary.pack", NULL, &err)) {
        fail_msg("%s", err.text);
    }
    AUTO(reel_index_free) struct reel_index *index = reel_index_open(REEL_SCRATCH "/summary.pack", &err);
    assert_non_null(index);
    assert_int_equal(reel_index_info(index)->messages, 6);
    assert_int_equal(reel_index_info(index)->start_ns, LOG_T0);
    assert_int_equal(reel_index_info(index)->end_ns, LOG_T0 + 5 * (uint64_t)LOG_S);
    assert_string_equal(reel_index_channel(index, 0)->name, "/a");
    assert_string_equal(reel_index_channel(index, 0)->type, "geometry_msgs/Point");
    assert_true(bytes_is(reel_index_channel(index, 0)->schemas[0].data, "float64 x\n"));
    for (unsigned c = 0; c < 2; c++) {
        const struct reel_channel_stats *s = reel_index_stats(index, c);
        assert_int_equal(s->count, 3);
        assert_int_equal(s->first_ns, LOG_T0 + c * (uint64_t)LOG_S);
        assert_int_equal(s->last_ns, LOG_T0 + (c + 4) * (uint64_t)LOG_S);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rule_tide_03_stands_at_the_very_beginning),
        cmocka_unit_test(rule_tide_05_metadata_is_kept_in_mcap),
        cmocka_unit_test(rule_tide_07_a_written_log_holds_every_type_with_its_syntax),
        cmocka_unit_test(rule_tide_09_none_one_or_several_indices_a_channel),
        cmocka_unit_test(rule_tide_11_a_summary_has_channels_types_and_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
