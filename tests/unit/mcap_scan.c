/* The MCAP reader on files made byte by byte: chunked and not, compressed, cut, damaged, and with every record that may lie. */
#define BAG_FORMAT &reel_format_mcap
#include "bag_scan.h"
#include "mcap_maker.h"

#include <stdio.h>

static const char *const compressions[] = {"", "lz4", "zstd"};
#define ALL_PAYLOADS "one|{\"n\":1}|two|{\"n\":2}|three|{\"n\":3}|"

static const struct reel_pairs *metadata_of(const struct reel_recording *r) {
    return reel_index_metadata(reel_recording_index(r));
}
static const struct reel_attachment *attachments_of(const struct reel_recording *r, size_t *count) {
    return reel_index_attachments(reel_recording_index(r), count);
}
static void assert_pair(struct reel_pairs pairs, size_t i, const char *key, const char *value) {
    assert_true(i < pairs.count);
    assert_string_equal(pairs.items[i].key, key);
    assert_string_equal(pairs.items[i].value, value);
}

/* Scans what is made and frees it with the recording's end. */
static struct reel_recording *scanned(struct maker *m) {
    struct reel_error err = {0};
    struct reel_recording *r = bag_try(bytes_of(m->data, m->size), &err);
    if (!r) {
        fail_msg("%s", err.text);
    }
    return r;
}
static void done(struct reel_recording *r, struct maker *m) {
    reel_recording_free(r);
    free(m->data);
    *m = (struct maker){0};
}

/* ---- whole files ---- */

static void a_whole_file_of_every_compression(void **state) {
    (void)state;
    for (unsigned c = 0; c < 3; c++) {
        struct maker m = {0};
        mcap_make_lab(&m, compressions[c]);
        struct reel_recording *r = scanned(&m);
        bag_assert_no_findings(r);
        assert_string_equal(bag_payloads(r), ALL_PAYLOADS);
        const struct reel_index_info *info = bag_info(r);
        assert_int_equal(info->messages, 6);
        assert_int_equal(info->n_chunks, c == 0 ? 1 : 4); /* a plain chunk needs none of its own */
        assert_int_equal(info->start_ns, MCAP_T);
        assert_int_equal(info->end_ns, MCAP_T + 205);
        assert_string_equal(info->container, "MCAP0");
        assert_int_equal(info->n_channels, 2);
        const struct reel_channel *a = bag_channel(r, 0), *b = bag_channel(r, 1);
        assert_string_equal(a->name, "/a");
        assert_string_equal(a->type, "std_msgs/String");
        assert_string_equal(a->encoding, "ros1");
        assert_true(bytes_is(bag_definition(r, 0), "string data\n"));
        assert_string_equal(a->schemas[0].encoding, "ros1msg");
        assert_pair(a->metadata, 0, "callerid", "/talker");
        assert_pair(a->metadata, 1, "x", "1");
        assert_false(a->latched);
        assert_string_equal(b->type, "");
        assert_int_equal(b->n_schemas, 0);
        assert_pair(*metadata_of(r), 0, "mcap.profile", "x-lab");
        assert_pair(*metadata_of(r), 1, "mcap.library", "maker 1");
        assert_pair(*metadata_of(r), 2, "robot:name", "curie");
        assert_pair(*metadata_of(r), 3, "robot:room", "b12");
        size_t count;
        const struct reel_attachment *attached = attachments_of(r, &count);
        assert_int_equal(count, 1);
        assert_string_equal(attached->name, "calib.txt");
        assert_string_equal(attached->media_type, "text/plain");
        assert_int_equal(attached->time_ns, MCAP_T + 7);
        assert_int_equal(attached->size, 9);
        assert_memory_equal(m.data + attached->offset, "fx=1 fy=2", 9);
        done(r, &m);
    }
}

static void a_message_head_tells_sequence_and_publish_time(void **state) {
    (void)state;
    for (unsigned c = 0; c < 3; c++) {
        struct maker m = {0};
        struct reel_error err = {0};
        mcap_make_lab(&m, compressions[c]);
        struct reel_recording *r = scanned(&m);
        AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &REEL_SELECT_ALL, &err);
        struct reel_message message;
        struct reel_description d;
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(reel_stream_next(s, &message, &err), REEL_STEP_MESSAGE);
        }
        assert_true(reel_stream_describe(s, &message, &d, &err));
        assert_int_equal(d.sequence, 3);
        assert_int_equal(d.publish_ns, MCAP_T + 106);
        reel_stream_free(TAKE(s));
        done(r, &m);
    }
}

static void a_file_without_chunks_index_or_summary(void **state) {
    (void)state;
    struct maker m = {0};
    mcap_header(&m, "", "");
    mcap_lab_definitions(&m);
    mcap_message(&m, 2, 7, 0, "b7");
    mcap_message(&m, 1, 5, 0, "a5");
    mcap_message(&m, 1, 5, 0, "");
    mcap_close(&m);
    struct reel_recording *r = scanned(&m);
    bag_assert_no_findings(r);
    assert_string_equal(bag_payloads(r), "a5||b7|");
    assert_int_equal(metadata_of(r)->count, 0);
    done(r, &m);
    mcap_magic(&m); /* not even a header, as a recorder may leave it */
    r = scanned(&m);
    assert_int_equal(bag_info(r)->messages, 0);
    bag_assert_finding(r, REEL_WARNING, "ends without a footer");
    done(r, &m);
}

static void longer_records_and_unknown_ones_are_fine(void **state) {
    (void)state;
    struct maker m = {0};
    mcap_header(&m, "", "");
    for (unsigned op = 3; op < 6; op++) {
        size_t record = m.size;
        if (op == 3) {
            mcap_schema(&m, 1, "T", "jsonschema", "{}");
        } else if (op == 4) {
            mcap_channel(&m, 1, 1, "/t", "json", NULL);
        } else {
            mcap_metadata(&m, "n", NULL);
        }
        make_text(&m, "padding");
        mcap_end(&m, record);
    }
    mcap_schema(&m, 1, "T", "jsonschema", "{}"); /* the same, without the padding */
    for (unsigned i = 0; i < 3; i++) {
        size_t record = mcap_begin(&m, i == 1 ? 0x10 : 0x80 + i);
        make_text(&m, "who knows");
        mcap_end(&m, record);
    }
    mcap_message(&m, 1, 1, 0, "x");
    mcap_close(&m);
    struct reel_recording *r = scanned(&m);
    assert_string_equal(bag_payloads(r), "x|");
    assert_int_equal(bag_info(r)->n_findings_total, 1);
    bag_assert_finding(r, REEL_NOTE, "3 records of an unknown kind are skipped, the first with op 128");
    assert_pair(*metadata_of(r), 0, "n:", ""); /* a metadata record without pairs */
    done(r, &m);
}

static void probe_knows_the_magic(void **state) {
    (void)state;
    struct reel_error err = {0};
    assert_int_equal(reel_format_mcap.probe(bytes_of("\x89MCAP0\r\n", 8), NULL), 64);
    assert_int_equal(reel_format_mcap.probe(bytes_of("\x89MCAP0\r", 7), NULL), 0);
    assert_int_equal(reel_format_mcap.probe(bytes_of("\x89MCAP0\n\n", 8), NULL), 0);
    assert_int_equal(reel_format_mcap.probe(bytes_text("#ROSBAG V2.0\n"), NULL), 0);
    assert_true(reel_format_mcap.probe(bytes_of("\x89MCAP1\r\n", 8), NULL) > 0);
    assert_null(bag_try(bytes_of("\x89MCAP1\r\n", 8), &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_non_null(strstr(err.text, "'1'"));
    assert_null(bag_try(bytes_text("PK"), &err));
    assert_int_equal(err.code, REEL_NOT_MINE);
}

/* ---- definitions ---- */

static void definitions_may_come_late_or_only_in_the_summary(void **state) {
    (void)state;
    struct maker m = {0};
    mcap_header(&m, "", "");
    mcap_message(&m, 7, 1, 0, "early");
    mcap_message(&m, 8, 2, 0, "mapped");
    mcap_channel(&m, 7, 3, "/late", "json", NULL);
    mcap_schema(&m, 3, "Late", "jsonschema", "{}");
    mcap_data_end(&m);
    size_t summary = m.size;
    mcap_schema(&m, 4, "Four", "jsonschema", "{\"a\":1}");
    mcap_channel(&m, 8, 4, "/summary", "json", NULL);
    mcap_channel(&m, 9, 4, "/silent", "json", NULL);
    mcap_footer(&m, summary);
    struct reel_recording *r = scanned(&m);
    assert_string_equal(bag_payloads(r), "early|mapped|");
    assert_int_equal(bag_info(r)->n_channels, 3);
    assert_string_equal(bag_channel(r, 0)->name, "/late");
    assert_string_equal(bag_channel(r, 0)->type, "Late");
    assert_int_equal(bag_stats(r, 0)->count, 1);
    assert_string_equal(bag_channel(r, 1)->name, "/summary");
    assert_true(bytes_is(bag_definition(r, 1), "{\"a\":1}"));
    assert_string_equal(bag_channel(r, 2)->name, "/silent");
    assert_int_equal(bag_info(r)->n_findings_total, 1);
    bag_assert_finding(r, REEL_WARNING, "channel 7 is defined at");
    done(r, &m);
}

static void messages_of_an_unknown_channel_are_kept_and_told(void **state) {
    (void)state;
    struct maker m = {0};
    mcap_header(&m, "", "");
    mcap_message(&m, 7, 1, 0, "lost");
    mcap_message(&m, 7, 2, 0, "found");
    mcap_channel(&m, 2, 9, "/t", "json", NULL); /* its schema is nowhere */
    mcap_close(&m);
    struct reel_recording *r = scanned(&m);
    assert_string_equal(bag_payloads(r), "lost|found|");
    assert_string_equal(bag_channel(r, 0)->name, "(channel 7)");
    assert_true(bag_info(r)->damaged);
    bag_assert_finding(r, REEL_LOSS, "channel 7: no record says what it is; its 2 messages are kept");
    bag_assert_finding(r, REEL_WARNING, "channel 2: its schema 9 is nowhere");
    done(r, &m);
}

static void an_id_that_comes_to_mean_something_else_is_another_channel(void **state) {
    (void)state;
    struct maker m = {0};
    mcap_header(&m, "", "");
    mcap_schema(&m, 1, "A", "jsonschema", "{}");
    mcap_channel(&m, 1, 1, "/a", "json", NULL);
    mcap_channel(&m, 1, 1, "/a", "json", NULL);
    mcap_message(&m, 1, 1, 0, "a");
    mcap_schema(&m, 1, "B", "jsonschema", "{}");
    mcap_channel(&m, 1, 1, "/b", "json", NULL);
    mcap_message(&m, 1, 2, 0, "b");
    mcap_close(&m);
    struct reel_recording *r = scanned(&m);
    assert_int_equal(bag_info(r)->n_channels, 2);
    assert_string_equal(bag_channel(r, 0)->type, "A");
    assert_string_equal(bag_channel(r, 1)->name, "/b");
    assert_string_equal(bag_channel(r, 1)->type, "B");
    assert_int_equal(bag_stats(r, 0)->count, 1);
    assert_int_equal(bag_stats(r, 1)->count, 1);
    bag_assert_finding(r, REEL_WARNING, "schema 1 is defined again");
    bag_assert_finding(r, REEL_WARNING, "channel 1 is defined again");
    done(r, &m);
}

static void equal_channels_of_two_ids_stay_two(void **state) {
    (void)state;
    struct maker m = {0};
    mcap_header(&m, "", "");
    mcap_channel(&m, 0, 0, "/a", "json", NULL);
    mcap_channel(&m, 65535, 0, "/a", "json", NULL);
    mcap_message(&m, 0, 1, 0, "0");
    mcap_message(&m, 65535, 2, 0, "1");
    mcap_close(&m);
    struct reel_recording *r = scanned(&m);
    bag_assert_no_findings(r);
    assert_int_equal(bag_info(r)->n_channels, 2);
    assert_int_equal(bag_stats(r, 1)->count, 1);
    done(r, &m);
}

static void broken_definitions_are_told(void **state) {
    (void)state;
    struct maker m = {0};
    static const char *const odd[] = {"key without value", NULL};
    mcap_header(&m, "", "");
    mcap_schema(&m, 0, "Zero", "jsonschema", "{}");
    size_t record = m.size;
    mcap_schema(&m, 5, "Five", "jsonschema", "{}");
    make_patch(&m, record + 9 + 2, 1000, 4); /* the length of its name */
    mcap_channel(&m, 1, 0, "/odd", "json", odd);
    mcap_message(&m, 1, 1, 0, "x");
    mcap_close(&m);
    struct reel_recording *r = scanned(&m);
    assert_string_equal(bag_payloads(r), "x|");
    bag_assert_finding(r, REEL_LOSS, "a schema with id 0");
    bag_assert_finding(r, REEL_LOSS, "a schema whose fields do not fit");
    bag_assert_finding(r, REEL_LOSS, "channel 1: its metadata is a map of texts whose lengths do not fit");
    done(r, &m);
}

static void latching_and_md5_of_ros1(void **state) {
    (void)state;
    struct maker m = {0};
    static const char *const latched[] = {"latching", "true", "md5sum", "992ce8a1687cec8c8bd883ec73ca41d1", NULL};
    static const char *const plain[] = {"latching", "false", NULL};
    mcap_header(&m, "ros1", "");
    mcap_schema(&m, 1, "std_msgs/String", "ros1msg", "string data\n");
    mcap_channel(&m, 1, 1, "/map", "ros1", latched);
    mcap_channel(&m, 2, 1, "/scan", "ros1", plain);
    mcap_channel(&m, 3, 0, "/json", "json", plain);
    mcap_close(&m);
    struct reel_recording *r = scanned(&m);
    bag_assert_no_findings(r);
    assert_true(bag_channel(r, 0)->latched);
    assert_int_equal(bag_channel(r, 0)->metadata.count, 1);
    assert_pair(bag_channel(r, 0)->metadata, 0, "latching", "1"); /* as a bag says it */
    assert_string_equal(bag_channel(r, 0)->schemas[0].hash, "992ce8a1687cec8c8bd883ec73ca41d1");
    assert_false(bag_channel(r, 1)->latched);
    assert_int_equal(bag_channel(r, 1)->metadata.count, 0);
    assert_pair(bag_channel(r, 2)->metadata, 0, "latching", "false");
    done(r, &m);
}

/* ---- cut files ---- */

static void a_cut_plain_chunk_gives_its_whole_records(void **state) {
    (void)state;
    struct maker m = {0};
    struct mcap_lab lab = mcap_make_lab(&m, "");
    m.size = lab.chunk[1] + 49 + 31 + 3 + 31 + 2; /* in the payload of its second message */
    struct reel_recording *r = scanned(&m);
    assert_string_equal(bag_payloads(r), "one|{\"n\":1}|two|");
    assert_true(bag_info(r)->damaged);
    bag_assert_finding(r, REEL_LOSS, "exceeds the file; whole records at its beginning are taken");
    bag_assert_finding(r, REEL_LOSS, "nothing after it is one");
    bag_assert_finding(r, REEL_WARNING, "ends without a footer");
    done(r, &m);
}

static void a_cut_compressed_chunk_is_lost_alone(void **state) {
    (void)state;
    for (unsigned c = 1; c < 3; c++) {
        struct maker m = {0};
        struct mcap_lab lab = mcap_make_lab(&m, compressions[c]);
        m.size = lab.chunk[2] + 70;
        struct reel_recording *r = scanned(&m);
        assert_string_equal(bag_payloads(r), "one|{\"n\":1}|two|{\"n\":2}|");
        bag_assert_finding(r, REEL_LOSS, "its length");
        assert_int_equal(bag_info(r)->lost_bytes, 70);
        done(r, &m);
    }
}

static void a_cut_anywhere_keeps_what_is_whole(void **state) {
    (void)state;
    struct maker m = {0};
    struct mcap_lab lab = mcap_make_lab(&m, "zstd");
    for (size_t size = 8; size < m.size; size++) {
        struct reel_error err = {0};
        struct reel_recording *r = bag_try(bytes_of(m.data, size), &err);
        assert_non_null(r);
        unsigned chunks = 0;
        for (unsigned i = 0; i < 3; i++) {
            chunks += size >= lab.chunk[i] + 9 + m.data[lab.chunk[i] + 1];
        }
        assert_int_equal(bag_info(r)->messages, 2 * chunks);
        assert_true(bag_info(r)->n_findings_total > 0);
        bag_payloads(r);
        reel_recording_free(r);
    }
    free(m.data);
}

/* ---- chunks that are wrong ---- */

static void a_chunk_whose_crc_fails_is_left_out(void **state) {
    (void)state;
    for (unsigned c = 0; c < 3; c++) {
        struct maker m = {0};
        struct mcap_lab lab = mcap_make_lab(&m, compressions[c]);
        m.data[lab.chunk[1] + 33] ^= 1;
        struct reel_recording *r = scanned(&m);
        assert_string_equal(bag_payloads(r), "one|{\"n\":1}|three|{\"n\":3}|");
        bag_assert_finding(r, REEL_LOSS, "its CRC is");
        bag_assert_finding(r, REEL_LOSS, "the statistics say 6 messages, 4 were found: 2 are lost");
        bag_assert_finding(r, REEL_WARNING, "the data section's CRC is");
        assert_int_equal(bag_findings(r, REEL_WARNING, "indexes of chunks"), 0);
        done(r, &m);
    }
}

static void a_crc_of_0_is_none(void **state) {
    (void)state;
    struct maker m = {0}, records = {0};
    mcap_header(&m, "", "");
    mcap_lab_definitions(&m);
    mcap_message(&records, 1, 3, 0, "x");
    size_t chunk = mcap_chunk(&m, &records, 3, 3, "lz4");
    make_patch(&m, chunk + 33, 0, 4);
    mcap_close(&m);
    struct reel_recording *r = scanned(&m);
    bag_assert_no_findings(r);
    assert_string_equal(bag_payloads(r), "x|");
    free(records.data);
    done(r, &m);
}

static void chunks_that_cannot_be_decoded_are_told(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint64_t value;
        unsigned bytes;
        const char *text;
    } wrong[] = {
        {25, 66, 8, "gives more than the 66 bytes"},
        {25, 1000, 8, "gives less than the 1000 bytes"},
        {25, 1ull << 40, 8, "it would be 1099511627776 bytes decoded"},
        {41, 'x', 1, "its compression \"xstd\" is not known"},
        {45, 1ull << 30, 8, "its records exceed it"},
        {37, 200, 4, "its fields do not fit"},
        {53, 0, 4, "does not decode"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct maker m = {0};
        struct mcap_lab lab = mcap_make_lab(&m, "zstd");
        make_patch(&m, lab.chunk[0] + wrong[i].at, wrong[i].value, wrong[i].bytes);
        struct reel_recording *r = scanned(&m);
        assert_string_equal(bag_payloads(r), "two|{\"n\":2}|three|{\"n\":3}|");
        bag_assert_finding(r, REEL_LOSS, wrong[i].text);
        done(r, &m);
    }
}

static void records_in_a_chunk_that_do_not_belong_there(void **state) {
    (void)state;
    for (unsigned c = 0; c < 3; c++) {
        struct maker m = {0}, records = {0};
        mcap_header(&m, "", "");
        mcap_schema(&records, 1, "T", "jsonschema", "{}");
        mcap_channel(&records, 1, 1, "/in", "json", NULL);
        mcap_metadata(&records, "odd", NULL);
        mcap_end(&records, mcap_begin(&records, 0x99));
        mcap_schema(&records, 0, "Zero", "", "");
        mcap_message(&records, 1, 4, 0, "x");
        size_t cut = mcap_message(&records, 1, 5, 0, "y");
        make_patch(&records, cut + 1, 99, 8);
        mcap_chunk(&m, &records, 4, 4, compressions[c]);
        mcap_close(&m);
        struct reel_recording *r = scanned(&m);
        assert_string_equal(bag_payloads(r), "x|");
        bag_assert_finding(r, REEL_WARNING, "1 records that do not belong into a chunk");
        bag_assert_finding(r, REEL_NOTE, "1 records of an unknown kind");
        bag_assert_finding(r, REEL_LOSS, "a schema with id 0");
        bag_assert_finding(r, REEL_LOSS, "of its bytes exceeds it");
        free(records.data);
        done(r, &m);
    }
}

static void a_chunk_too_large_for_memory_is_spooled(void **state) {
    (void)state;
    enum { SIZE = 70 << 20 };
    struct maker m = {0}, records = {0};
    mcap_header(&m, "", "");
    mcap_lab_definitions(&m);
    size_t record = mcap_message(&records, 1, 5, 0, "");
    char *zeros = calloc(1, SIZE);
    assert_non_null(zeros);
    make_bytes(&records, zeros, SIZE);
    free(zeros);
    mcap_end(&records, record);
    mcap_message(&records, 2, 6, 0, "after");
    mcap_chunk(&m, &records, 5, 6, "zstd");
    mcap_close(&m);
    struct reel_recording *r = scanned(&m);
    bag_assert_no_findings(r);
    assert_int_equal(bag_info(r)->messages, 2);
    assert_int_equal(bag_stats(r, 0)->bytes, SIZE);
    assert_non_null(strstr(bag_payloads(r), "after|"));
    free(records.data);
    done(r, &m);
}

/* ---- messages that are wrong ---- */

static void times_that_nobody_has_are_damage(void **state) {
    (void)state;
    struct maker m = {0};
    mcap_header(&m, "", "");
    mcap_lab_definitions(&m);
    mcap_message(&m, 1, 1ull << 63, 0, "far");
    size_t publish = mcap_message(&m, 1, INT64_MAX, 0, "last");
    make_patch(&m, publish + 23, UINT64_MAX, 8);
    mcap_message(&m, 1, 0, 0, "first");
    mcap_end(&m, mcap_begin(&m, 0x90));
    mcap_close(&m);
    struct reel_recording *r = scanned(&m);
    assert_string_equal(bag_payloads(r), "first|last|");
    bag_assert_finding(r, REEL_LOSS, "its log_time lies after the year 2262");
    done(r, &m);
}

static void damage_between_records_costs_only_itself(void **state) {
    (void)state;
    struct maker m = {0};
    mcap_header(&m, "", "");
    mcap_lab_definitions(&m);
    for (unsigned i = 0; i < 10; i++) {
        char payload[8];
        snprintf(payload, sizeof payload, "m%u", i);
        size_t at = mcap_message(&m, 1, 10 + i, i, payload);
        if (i == 3) {
            make_text(&m, "garbage that is no record at all");
            make_number(&m, 0, 8);
        } else if (i == 6) {
            make_patch(&m, at + 1, 1ull << 40, 8); /* its length */
        }
    }
    mcap_close(&m);
    struct reel_recording *r = scanned(&m);
    assert_string_equal(bag_payloads(r), "m0|m1|m2|m3|m4|m5|m7|m8|m9|");
    assert_int_equal(bag_findings(r, REEL_LOSS, "the walk goes on behind it"), 2);
    assert_int_equal(bag_info(r)->lost_bytes, 40 + 33);
    done(r, &m);
}

/* ---- what the file says of itself ---- */

static void wrong_figures_are_told(void **state) {
    (void)state;
    struct mcap_lab lab;
    struct maker first = {0};
    lab = mcap_make_lab(&first, "");
    free(first.data);
    const struct {
        size_t at;
        unsigned bytes;
        enum reel_severity severity;
        const char *text;
    } wrong[] = {
        {lab.statistics + 9, 8, REEL_LOSS, "the statistics say 7 messages, 6 were found: 1 are lost"},
        {lab.statistics + 17, 2, REEL_WARNING, "the statistics say 0 schemas, there are 1"},
        {lab.statistics + 19, 4, REEL_WARNING, "the statistics say 3 channels, there are 2"},
        {lab.statistics + 23, 4, REEL_WARNING, "the statistics say 0 attachments, there are 1"},
        {lab.statistics + 27, 4, REEL_WARNING, "the statistics say 0 metadata records, there are 1"},
        {lab.statistics + 31, 4, REEL_WARNING, "the statistics say 2 chunks, there are 3"},
        {lab.statistics + 35, 8, REEL_WARNING, "the statistics say times"},
        {lab.statistics + 57, 8, REEL_WARNING, "give 1 channels another number of messages"},
        {lab.chunk_index + 25, 8, REEL_WARNING, "the summary's indexes of chunks"},
        {lab.chunk_index + 47, 8, REEL_WARNING, "the summary's indexes of chunks"}, /* a message index's place */
        {lab.attachment_index + 9, 8, REEL_WARNING, "the summary's indexes of attachments"},
        {lab.metadata_index + 9, 8, REEL_WARNING, "the summary's indexes of metadata"},
        {lab.chunk[1] + 9, 8, REEL_WARNING, "it states times"},
        {lab.chunk[1] + 25, 8, REEL_WARNING, "bytes of records, and has"},
        {lab.chunk[2] - 8, 8, REEL_WARNING, "its message indexes do not name its messages"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct maker m = {0};
        lab = mcap_make_lab(&m, "");
        m.data[wrong[i].at] ^= 1;
        struct reel_recording *r = scanned(&m);
        assert_string_equal(bag_payloads(r), ALL_PAYLOADS);
        bag_assert_finding(r, wrong[i].severity, wrong[i].text);
        bag_assert_finding(r, REEL_WARNING, wrong[i].at > lab.summary ? "the summary's CRC" : "the data section's CRC");
        done(r, &m);
    }
}

static void wrong_ends_are_told(void **state) {
    (void)state;
    struct maker m = {0};
    mcap_make_lab(&m, "lz4");
    size_t whole = m.size;
    make_text(&m, "trailing");
    struct reel_recording *r = scanned(&m);
    assert_string_equal(bag_payloads(r), ALL_PAYLOADS);
    bag_assert_finding(r, REEL_WARNING, "8 bytes after the file's end");
    reel_recording_free(r);
    m.size = whole - 3;
    r = scanned(&m);
    bag_assert_finding(r, REEL_WARNING, "does not end with the magic");
    reel_recording_free(r);
    m.size = whole;
    make_patch(&m, whole - 8 - 20, 1ull << 50, 8);
    r = scanned(&m);
    assert_string_equal(bag_payloads(r), ALL_PAYLOADS);
    bag_assert_finding(r, REEL_WARNING, "the summary begins where it cannot");
    done(r, &m);
}

static void an_attachment_whose_crc_fails_is_left_out(void **state) {
    (void)state;
    struct maker m = {0};
    size_t count;
    mcap_header(&m, "", "");
    size_t bad = mcap_attachment(&m, "bad.bin", "", 5, "abc");
    mcap_attachment(&m, "good.bin", "", 6, "abc");
    size_t unchecked = mcap_attachment(&m, "unchecked.bin", "", UINT64_MAX, "abc");
    size_t broken = mcap_attachment(&m, "broken.bin", "", 6, "abc");
    m.data[bad + 9 + 16] ^= 0; /* the name's length stays */
    m.data[bad + 9 + 20] = 'B';
    make_patch(&m, m.size - (m.size - broken) - 4, 0, 4);  /* CRC 0 */
    make_patch(&m, broken + 9 + 16 + 4 + 10 + 4, 1000, 8); /* data longer than the record */
    (void)unchecked;
    mcap_close(&m);
    struct reel_recording *r = scanned(&m);
    const struct reel_attachment *all = attachments_of(r, &count);
    assert_int_equal(count, 2);
    assert_string_equal(all[0].name, "good.bin");
    assert_string_equal(all[1].name, "unchecked.bin");
    assert_int_equal(all[1].time_ns, INT64_MAX);
    bag_assert_finding(r, REEL_LOSS, "attachment \"Bad.bin\": its CRC is");
    bag_assert_finding(r, REEL_LOSS, "an attachment whose fields do not fit");
    done(r, &m);
}

/* ---- several files ---- */

static void the_same_channel_of_several_files_is_one(void **state) {
    (void)state;
    struct maker parts[2] = {{0}, {0}};
    struct reel_source *sources[2];
    struct reel_error err = {0};
    for (unsigned i = 0; i < 2; i++) {
        mcap_header(&parts[i], "", "");
        mcap_schema(&parts[i], 1 + i, "T", "jsonschema", "{}");
        mcap_channel(&parts[i], 5 + i, 1 + i, "/t", "json", NULL);
        mcap_channel(&parts[i], 7, 0, i == 0 ? "/first" : "/second", "json", NULL);
        mcap_message(&parts[i], 5 + i, 10 + i, 0, i == 0 ? "a" : "b");
        mcap_message(&parts[i], 7, 20 + i, 0, "c");
        mcap_close(&parts[i]);
        sources[i] = reel_source_from_memory(bytes_of(parts[i].data, parts[i].size), "part", &err);
    }
    assert_true(reel_scan_run(sources, 2, &reel_format_mcap, BAG_PACK, NULL, &err));
    struct reel_recording *r = reel_recording_open(reel_index_open(BAG_PACK, &err), sources, 2, NULL, &err);
    assert_non_null(r);
    bag_assert_no_findings(r);
    assert_int_equal(bag_info(r)->n_channels, 3);
    assert_string_equal(bag_channel(r, 0)->name, "/t");
    assert_int_equal(bag_stats(r, 0)->count, 2);
    assert_string_equal(bag_payloads(r), "a|b|c|c|");
    done(r, &parts[0]);
    free(parts[1].data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file_of_every_compression),
        cmocka_unit_test(a_message_head_tells_sequence_and_publish_time),
        cmocka_unit_test(a_file_without_chunks_index_or_summary),
        cmocka_unit_test(longer_records_and_unknown_ones_are_fine),
        cmocka_unit_test(probe_knows_the_magic),
        cmocka_unit_test(definitions_may_come_late_or_only_in_the_summary),
        cmocka_unit_test(messages_of_an_unknown_channel_are_kept_and_told),
        cmocka_unit_test(an_id_that_comes_to_mean_something_else_is_another_channel),
        cmocka_unit_test(equal_channels_of_two_ids_stay_two),
        cmocka_unit_test(broken_definitions_are_told),
        cmocka_unit_test(latching_and_md5_of_ros1),
        cmocka_unit_test(a_cut_plain_chunk_gives_its_whole_records),
        cmocka_unit_test(a_cut_compressed_chunk_is_lost_alone),
        cmocka_unit_test(a_cut_anywhere_keeps_what_is_whole),
        cmocka_unit_test(a_chunk_whose_crc_fails_is_left_out),
        cmocka_unit_test(a_crc_of_0_is_none),
        cmocka_unit_test(chunks_that_cannot_be_decoded_are_told),
        cmocka_unit_test(records_in_a_chunk_that_do_not_belong_there),
        cmocka_unit_test(a_chunk_too_large_for_memory_is_spooled),
        cmocka_unit_test(times_that_nobody_has_are_damage),
        cmocka_unit_test(damage_between_records_costs_only_itself),
        cmocka_unit_test(wrong_figures_are_told),
        cmocka_unit_test(wrong_ends_are_told),
        cmocka_unit_test(an_attachment_whose_crc_fails_is_left_out),
        cmocka_unit_test(the_same_channel_of_several_files_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
