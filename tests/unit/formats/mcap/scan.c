/* The MCAP reader on whole files made byte by byte: chunked and not, compressed, with definitions in every order, in
 * several files. Damage: mcap_damage.c. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/mcap_scan.h"

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

static void a_message_head_has_sequence_and_publish_time(void **state) {
    (void)state;
    for (unsigned c = 0; c < 3; c++) {
        struct maker m = {0};
        struct reel_error err = {0};
        mcap_make_lab(&m, compressions[c]);
        struct reel_recording *r = scanned(&m);
        AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
        struct reel_message message;
        struct reel_description d;
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(stream_next(s, &message, &err), REEL_STEP_MESSAGE);
        }
        assert_true(stream_describe(s, &message, &d, &err));
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

static void probe_recognises_the_magic(void **state) {
    (void)state;
    struct reel_error err = {0};
    assert_int_equal(reel_format_mcap.probe(bytes_of("\x89MCAP0\r\n", 8), NULL, NULL), 64);
    assert_int_equal(reel_format_mcap.probe(bytes_of("\x89MCAP0\r", 7), NULL, NULL), 0);
    assert_int_equal(reel_format_mcap.probe(bytes_of("\x89MCAP0\n\n", 8), NULL, NULL), 0);
    assert_int_equal(reel_format_mcap.probe(bytes_text("#ROSBAG V2.0\n"), NULL, NULL), 0);
    assert_true(reel_format_mcap.probe(bytes_of("\x89MCAP1\r\n", 8), NULL, NULL) > 0);
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

static void messages_of_an_unknown_channel_are_kept_and_reported(void **state) {
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
    bag_assert_finding(r, REEL_WARNING, "channel 2: its schema 9 is missing");
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

static void broken_definitions_are_reported(void **state) {
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

/* ---- several files ---- */

/* Scans two parts as one recording. */
static struct reel_recording *two_files(struct maker parts[2]) {
    struct reel_source *sources[2];
    struct reel_error err = {0};
    for (unsigned i = 0; i < 2; i++) {
        mcap_close(&parts[i]);
        sources[i] = reel_source_from_memory(bytes_of(parts[i].data, parts[i].size), "part", &err);
    }
    assert_true(reel_scan_run(sources, 2, &reel_format_mcap, BAG_PACK, NULL, &err));
    struct reel_recording *r = reel_recording_from_index(reel_index_open(BAG_PACK, &err), sources, 2, NULL, &err);
    assert_non_null(r);
    bag_assert_no_findings(r);
    return r;
}

static void the_same_channel_of_several_files_is_one(void **state) {
    (void)state;
    struct maker parts[2] = {{0}, {0}};
    for (unsigned i = 0; i < 2; i++) {
        mcap_header(&parts[i], "", "");
        mcap_schema(&parts[i], 1 + i, "T", "jsonschema", "{}");
        mcap_channel(&parts[i], 5 + i, 1 + i, "/t", "json", NULL);
        mcap_channel(&parts[i], 7, 0, i == 0 ? "/first" : "/second", "json", NULL);
        mcap_message(&parts[i], 5 + i, 10 + i, 0, i == 0 ? "a" : "b");
        mcap_message(&parts[i], 7, 20 + i, 0, "c");
    }
    struct reel_recording *r = two_files(parts);
    assert_int_equal(bag_info(r)->n_channels, 3);
    assert_string_equal(bag_channel(r, 0)->name, "/t");
    assert_int_equal(bag_stats(r, 0)->count, 2);
    assert_string_equal(bag_payloads(r), "a|b|c|c|");
    done(r, &parts[0]);
    free(parts[1].data);
}

/* Of the metadata the entries count, not their order. A definition may be repeated in another order, too. */
static void metadata_is_compared_whole_and_in_any_order(void **state) {
    (void)state;
    static const char *const ab[] = {"a", "1", "b", "2", NULL}, *const ba[] = {"b", "2", "a", "1", NULL},
                             *const swapped[] = {"a", "2", "b", "1", NULL}, *const twice[] = {"a", "1", "a", "1", NULL};
    struct maker parts[2] = {{0}, {0}};
    for (unsigned i = 0; i < 2; i++) {
        mcap_header(&parts[i], "", "");
        mcap_channel(&parts[i], 1, 0, "/same", "json", i == 0 ? ab : ba);
        mcap_channel(&parts[i], 2, 0, "/swapped", "json", i == 0 ? ab : swapped);
        mcap_channel(&parts[i], 3, 0, "/twice", "json", i == 0 ? ab : twice);
        mcap_channel(&parts[i], 1, 0, "/same", "json", i == 0 ? ba : ab);
        mcap_message(&parts[i], 1, 10 + i, 0, "x");
    }
    struct reel_recording *r = two_files(parts);
    assert_int_equal(bag_info(r)->n_channels, 5);
    assert_int_equal(bag_stats(r, 0)->count, 2);
    assert_string_equal(bag_channel(r, 0)->metadata.items[0].key, "a");
    assert_string_equal(bag_channel(r, 3)->name, "/swapped");
    assert_string_equal(bag_channel(r, 4)->name, "/twice");
    done(r, &parts[0]);
    free(parts[1].data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file_of_every_compression),
        cmocka_unit_test(a_message_head_has_sequence_and_publish_time),
        cmocka_unit_test(a_file_without_chunks_index_or_summary),
        cmocka_unit_test(longer_records_and_unknown_ones_are_fine),
        cmocka_unit_test(probe_recognises_the_magic),
        cmocka_unit_test(definitions_may_come_late_or_only_in_the_summary),
        cmocka_unit_test(messages_of_an_unknown_channel_are_kept_and_reported),
        cmocka_unit_test(an_id_that_comes_to_mean_something_else_is_another_channel),
        cmocka_unit_test(equal_channels_of_two_ids_stay_two),
        cmocka_unit_test(broken_definitions_are_reported),
        cmocka_unit_test(latching_and_md5_of_ros1),
        cmocka_unit_test(the_same_channel_of_several_files_is_one),
        cmocka_unit_test(metadata_is_compared_whole_and_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
