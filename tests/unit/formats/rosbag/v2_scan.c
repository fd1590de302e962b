/* ROS bags 2.0: what is recognised, what becomes of connections, chunks and times, what the file says of itself
 * compared, and encrypted bags. */
#define BAG_FORMAT &reel_format_rosbag_v2
#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/bag_scan.h"
#include "makers/rosbag2_0_maker.h"

#define BAG __attribute__((cleanup(make2_free))) struct make2
#define RECORDING AUTO(reel_recording_free) struct reel_recording

static const char *const compressions[] = {"none", "bz2", "lz4"};
enum { COMPRESSIONS = 3 };

static int probe(const char *text) {
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *source = reel_source_from_memory(bytes_text(text), "probed", &err);
    assert_non_null(source);
    return reel_format_rosbag_v2.probe(bytes_text(text), source, NULL);
}

static void probe_accepts_2_and_refuses_3(void **state) {
    (void)state;
    assert_int_equal(probe("#ROSBAG V2.0\n"), 104);
    assert_int_equal(probe("#ROSBAG V2.17\nand more"), 112);
    assert_true(probe("#ROSBAG V3.0\n") > 0);
    assert_int_equal(probe("#ROSBAG V1.3\n"), 0);
    assert_int_equal(probe("#ROSBAG V2.0"), 0);
    assert_int_equal(probe(""), 0);
    struct reel_error err = {0};
    assert_null(bag_try(bytes_text("#ROSBAG V3.0\n"), &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_non_null(strstr(err.text, "#ROSBAG V3"));
    assert_null(bag_try(bytes_text("no bag at all"), &err));
    assert_int_equal(err.code, REEL_NOT_MINE);
}

static void every_compression_reads_alike(void **state) {
    (void)state;
    for (unsigned i = 0; i < COMPRESSIONS; i++) {
        BAG b;
        make2_ten(&b, compressions[i]);
        RECORDING *r = bag_scan(&b.out);
        assert_string_equal(bag_info(r)->container, "#ROSBAG V2.0");
        assert_int_equal(bag_info(r)->clock, REEL_CLOCK_WALL);
        assert_int_equal(bag_info(r)->n_channels, 2);
        assert_int_equal(bag_info(r)->n_chunks, i == 0 ? 1 : 3);
        assert_int_equal(bag_info(r)->start_ns, 1500000000000000000);
        assert_string_equal(bag_channel(r, 1)->name, "/b");
        assert_string_equal(bag_channel(r, 1)->type, MAKE_TYPE);
        assert_string_equal(bag_channel(r, 1)->encoding, "ros1");
        assert_string_equal(bag_channel(r, 1)->schemas[0].encoding, "ros1msg");
        assert_string_equal(bag_channel(r, 1)->schemas[0].hash, MAKE_MD5);
        assert_int_equal(bag_channel(r, 1)->metadata.count, 0);
        assert_true(bytes_is(bag_definition(r, 1), MAKE_DEF));
        assert_int_equal(bag_stats(r, 1)->count, 5);
        assert_string_equal(bag_payloads(r), "m0|m1|m2|m3|m4|m5|m6|m7|m8|m9|");
        bag_assert_no_findings(r);
    }
}

static void no_messages(void **state) {
    (void)state;
    BAG b;
    make2_begin(&b, "none");
    make2_end(&b);
    assert_int_equal(b.out.size, 4117);
    RECORDING *r = bag_scan(&b.out);
    assert_int_equal(bag_info(r)->messages, 0);
    bag_assert_no_findings(r);
}

static void each_connection_is_a_channel(void **state) {
    (void)state;
    BAG b;
    make2_begin(&b, "lz4");
    make2_connection(&b, 0, "/rosout", "/one", "1");
    make2_connection(&b, 4000000000u, "/rosout", "/two", "0");
    make2_connection(&b, 7, "/idle", NULL, NULL);
    struct maker inner = {0};
    make_field_text(&inner, "topic", "/before");
    make_field_text(&inner, "type", MAKE_TYPE);
    make_field_text(&inner, "md5sum", "*");
    make_field_text(&inner, "message_definition", "");
    make_field_text(&inner, "my own", "field=value");
    make2_connection_of(&b, 256, "/after", &inner);
    free(inner.data);
    make2_message(&b, 0, 1500000000, "a");
    make2_message(&b, 4000000000u, 1500000001, "b");
    make2_message(&b, 256, 1500000002, "c");
    make2_message(&b, 0, 1500000003, "d");
    make2_close(&b);
    make2_end(&b);
    RECORDING *r = bag_scan(&b.out);
    assert_string_equal(bag_payloads(r), "a|b|c|d|");
    assert_int_equal(bag_info(r)->n_channels, 4);
    assert_string_equal(bag_channel(r, 3)->name, "/idle");
    assert_string_equal(bag_channel(r, 0)->name, "/rosout");
    assert_string_equal(bag_channel(r, 1)->name, "/rosout");
    assert_true(bag_channel(r, 0)->latched);
    assert_false(bag_channel(r, 1)->latched);
    assert_string_equal(bag_channel(r, 1)->metadata.items[0].key, "callerid");
    assert_string_equal(bag_channel(r, 1)->metadata.items[0].value, "/two");
    assert_string_equal(bag_channel(r, 1)->metadata.items[1].value, "0");
    const struct reel_channel *remapped = bag_channel(r, 2);
    assert_string_equal(remapped->name, "/after");
    assert_int_equal(remapped->metadata.count, 2);
    assert_string_equal(remapped->metadata.items[0].key, "topic");
    assert_string_equal(remapped->metadata.items[0].value, "/before");
    assert_string_equal(remapped->metadata.items[1].key, "my own");
    assert_string_equal(remapped->metadata.items[1].value, "field=value");
    assert_int_equal(bag_stats(r, 0)->count, 2);
    assert_int_equal(bag_findings(r, REEL_WARNING, ""), 0);
}

static void fields_in_any_order_and_unknown_ones(void **state) {
    (void)state;
    BAG b;
    make2_begin(&b, "none");
    make2_connection(&b, 1, "/a", NULL, NULL);
    make2_message(&b, 1, 1500000000, "usual");
    b.entries[b.n_entries++] = (struct make2_entry){1, 1500000001, 5, (uint32_t)b.raw.size};
    size_t record = make_record(&b.raw);
    make_field_number(&b.raw, "time", make2_time(1500000001, 5), 8);
    make_field_number(&b.raw, "op", 2, 1);
    make_field_number(&b.raw, "conn", 1, 4);
    make_data(&b.raw, record, "other", 5);
    make2_message(&b, 1, 1500000002, "usual again");
    b.entries[b.n_entries++] = (struct make2_entry){1, 1500000003, 0, (uint32_t)b.raw.size};
    record = make_record(&b.raw);
    make_field_text(&b.raw, "shape", "round");
    make_field_number(&b.raw, "op", 2, 1);
    make_field_number(&b.raw, "conn", 1, 4);
    make_field_number(&b.raw, "time", make2_time(1500000003, 0), 8);
    make_data(&b.raw, record, "more", 4);
    record = make_record(&b.raw);
    make_field_number(&b.raw, "op", 0x55, 1);
    make_data(&b.raw, record, "skip me", 7);
    make2_close(&b);
    record = make_record(&b.out);
    make_field_number(&b.out, "op", 0x77, 1);
    make_data(&b.out, record, "and me", 6);
    make2_end(&b);
    RECORDING *r = bag_scan(&b.out);
    assert_string_equal(bag_payloads(r), "usual|other|usual again|more|");
    bag_assert_finding(r, REEL_NOTE, "2 records of an unknown kind are skipped, the first with op 85");
    bag_assert_finding(r, REEL_NOTE, "1 unknown header fields are skipped, the first named shape");
    assert_int_equal(bag_findings(r, REEL_WARNING, ""), 0);
}

static void times_of_chunks_overlap_and_come_unsorted(void **state) {
    (void)state;
    BAG b;
    make2_begin(&b, "bz2");
    make2_connection(&b, 0, "/a", NULL, NULL);
    make2_message(&b, 0, 8, "8");
    make2_message(&b, 0, 4, "4");
    make2_close(&b);
    make2_message(&b, 0, 9, "9");
    make2_message(&b, 0, 0, "0");
    make2_close(&b);
    make2_message_of(&b, 0, 5, 1999999999, "6.9", 3);
    make2_message_of(&b, 0, 5, 0, "5", 1);
    make2_close(&b);
    make2_end(&b);
    RECORDING *r = bag_scan(&b.out);
    assert_string_equal(bag_payloads(r), "0|4|5|6.9|8|9|");
    assert_int_equal(bag_info(r)->clock, REEL_CLOCK_RELATIVE);
    assert_int_equal(bag_info(r)->start_ns, 0);
    bag_assert_finding(r, REEL_NOTE, "1 stamps have 10^9 or more nanoseconds");
    assert_int_equal(bag_findings(r, REEL_WARNING, ""), 0);
}

/* Recorders that split a bag in early 2010 described connections only at the end. */
static void a_connection_without_messages_is_a_topic(void **state) {
    (void)state;
    BAG b;
    make2_begin(&b, "none");
    make2_connection(&b, 0, "/chatter", NULL, NULL);
    make2_connection(&b, 1, "/silent", NULL, NULL);
    make2_message(&b, 0, 1700000000, "a");
    make2_close(&b);
    make2_end(&b);
    RECORDING *r = bag_scan(&b.out);
    assert_int_equal(bag_info(r)->n_channels, 2);
    assert_string_equal(bag_channel(r, 1)->name, "/silent");
    assert_int_equal(bag_channel(r, 1)->n_schemas, 1);
    assert_int_equal(bag_stats(r, 1)->count, 0);
}

/* Some programs that build an index leave room before it. */
static void padding_before_the_index_is_no_loss(void **state) {
    (void)state;
    for (int fill = 0; fill <= 'x'; fill += fill == 0 ? ' ' : 'x' - ' ') {
        BAG b;
        uint8_t padding[49];
        memset(padding, fill, sizeof padding);
        make2_begin(&b, "bz2");
        make2_connection(&b, 0, "/a", NULL, NULL);
        make2_message(&b, 0, 1700000000, "a");
        make2_close(&b);
        make_bytes(&b.out, padding, sizeof padding);
        make2_end(&b);
        RECORDING *r = bag_scan(&b.out);
        assert_string_equal(bag_payloads(r), "a|");
        assert_int_equal(bag_info(r)->damaged, fill == 'x');
        bag_assert_finding(r, fill == 'x' ? REEL_LOSS : REEL_WARNING,
                           fill == 'x' ? "are lost" : "49 bytes before the index belong to no record");
    }
}

/* Recorders write 0 until the clock is set, so the first message says little. */
static void most_messages_determine_the_clock(void **state) {
    (void)state;
    static const struct {
        uint32_t early, late;
        enum reel_clock clock;
        const char *note;
    } cases[] = {{2, 0, REEL_CLOCK_RELATIVE, "times start near zero"},
                 {2, 5, REEL_CLOCK_WALL, "most times are dates"},
                 {2, 2, REEL_CLOCK_WALL, "most times are dates"},
                 {3, 2, REEL_CLOCK_RELATIVE, "most times are near zero"},
                 {0, 2, REEL_CLOCK_WALL, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BAG b;
        make2_begin(&b, "none");
        make2_connection(&b, 0, "/a", NULL, NULL);
        for (uint32_t k = 0; k < cases[i].early; k++) {
            make2_message(&b, 0, 0, "early");
        }
        for (uint32_t k = 0; k < cases[i].late; k++) {
            make2_message(&b, 0, 1700000000 + k, "late");
        }
        make2_close(&b);
        make2_end(&b);
        RECORDING *r = bag_scan(&b.out);
        assert_int_equal(bag_info(r)->clock, cases[i].clock);
        assert_memory_equal(bag_info(r)->clock_note, cases[i].note, strlen(cases[i].note));
    }
}

static void connections_only_at_the_end(void **state) {
    (void)state;
    for (unsigned i = 0; i < COMPRESSIONS; i++) {
        BAG b;
        make2_begin(&b, compressions[i]);
        b.conns_only_at_end = true;
        make2_connection(&b, 3, "/a", "/n", NULL);
        make2_message(&b, 3, 1500000000, "one");
        make2_close(&b);
        make2_end(&b);
        RECORDING *r = bag_scan(&b.out);
        assert_string_equal(bag_payloads(r), "one|");
        assert_string_equal(bag_channel(r, 0)->name, "/a");
        bag_assert_no_findings(r);
    }
}

static void connections_late_never_and_twice(void **state) {
    (void)state;
    BAG b;
    make2_begin(&b, "none");
    make2_message(&b, 1, 1500000000, "early");
    make2_message(&b, 2, 1500000001, "unknown");
    make2_connection(&b, 1, "/late", "/n", "1");
    make2_connection(&b, 1, "/twice", NULL, NULL);
    make2_connection(&b, 1, "/thrice", NULL, NULL);
    make2_message(&b, 1, 1500000002, "again");
    make2_close(&b);
    RECORDING *r = bag_scan(&b.out);
    assert_string_equal(bag_payloads(r), "early|unknown|again|");
    assert_string_equal(bag_channel(r, 0)->name, "/late");
    assert_string_equal(bag_channel(r, 0)->type, MAKE_TYPE);
    assert_true(bag_channel(r, 0)->latched);
    assert_true(bytes_is(bag_definition(r, 0), MAKE_DEF));
    assert_string_equal(bag_channel(r, 1)->name, "connection 2");
    assert_string_equal(bag_channel(r, 1)->encoding, "ros1");
    bag_assert_finding(r, REEL_WARNING, "the record of connection 1 (topic /late) follows its first message");
    bag_assert_finding(r, REEL_WARNING, "connection 1 (topic /late) is described again");
    bag_assert_finding(r, REEL_WARNING, "no record describes connection 2");
    bag_assert_finding(r, REEL_NOTE, "was not closed");
    assert_false(bag_info(r)->damaged);
}

static void index_data_with_the_lengths_of_early_2010(void **state) {
    (void)state;
    const int32_t off[] = {-4, 4, 100000};
    for (unsigned i = 0; i < 3; i++) {
        BAG b;
        make2_begin(&b, "none");
        b.index_length_off = off[i];
        make2_connection(&b, 0, "/a", NULL, NULL);
        make2_connection(&b, 1, "/b", NULL, NULL);
        for (uint32_t chunk = 0; chunk < 2; chunk++) {
            make2_message(&b, 0, 1500000000 + 2 * chunk, "a");
            make2_message(&b, 1, 1500000001 + 2 * chunk, "b");
            make2_close(&b);
        }
        make2_end(&b);
        RECORDING *r = bag_scan(&b.out);
        assert_string_equal(bag_payloads(r), "a|b|a|b|");
        bag_assert_finding(r, REEL_NOTE, "4 index records have a wrong data length");
        assert_int_equal(bag_findings(r, REEL_WARNING, ""), 0);
    }
}

static void index_that_disagrees_is_reported(void **state) {
    (void)state;
    BAG b;
    make2_begin(&b, "lz4");
    make2_connection(&b, 0, "/a", NULL, NULL);
    make2_connection(&b, 1, "/b", NULL, NULL);
    make2_message(&b, 0, 1500000000, "a");
    make2_message(&b, 1, 1500000001, "b");
    b.entries[0].offset++; /* another place */
    b.entries[1].conn = 9; /* another connection */
    make2_close(&b);
    make2_message(&b, 0, 1500000002, "a");
    b.entries[b.n_entries] = b.entries[0]; /* twice */
    b.n_entries++;
    make2_close(&b);
    make2_message(&b, 0, 1500000003, "a");
    b.no_index = true;
    make2_close(&b);
    make2_end(&b);
    make_patch(&b.out, b.chunk_count_at, 5, 4);
    RECORDING *r = bag_scan(&b.out);
    assert_string_equal(bag_payloads(r), "a|b|a|a|");
    bag_assert_finding(r, REEL_WARNING, "have other times or positions than the messages of topic /a");
    bag_assert_finding(r, REEL_WARNING, "names 1 messages of connection 9, of which the chunk at 4117 holds none");
    bag_assert_finding(r, REEL_WARNING, "name 0 messages of topic /b, it holds 1");
    bag_assert_finding(r, REEL_WARNING, "name 2 messages of topic /a, it holds 1");
    bag_assert_finding(r, REEL_WARNING, "has no index data");
    bag_assert_finding(r, REEL_WARNING, "counts other messages of its connections");
    bag_assert_finding(r, REEL_WARNING, "counts 2 messages, it holds 1");
    bag_assert_finding(r, REEL_WARNING, "counts 2 connections and 5 chunks, the index has 2 and 3");
    assert_false(bag_info(r)->damaged);
}

static void chunk_infos_that_disagree_are_reported(void **state) {
    (void)state;
    BAG b;
    struct maker none = {0};
    make2_begin(&b, "none");
    make2_connection(&b, 0, "/a", NULL, NULL);
    make2_message(&b, 0, 1500000000, "a");
    make2_close(&b);
    b.infos.size = 0; /* of the first none, but of a place where no chunk is */
    make2_info_record(&b.infos, b.chunk_at + 1, 0, 0, 0, &none);
    make2_message(&b, 0, 1500000001, "b");
    make2_close(&b);
    make2_end(&b);
    RECORDING *r = bag_scan(&b.out);
    assert_string_equal(bag_payloads(r), "a|b|");
    bag_assert_finding(r, REEL_WARNING, "1 chunks have no chunk info, the first at 4117");
    bag_assert_finding(r, REEL_WARNING, "1 chunk infos have positions without a chunk, the first 4118");
}

static void raw_size_that_is_wrong_is_found_out(void **state) {
    (void)state;
    for (unsigned i = 0; i < COMPRESSIONS; i++) {
        BAG b;
        make2_begin(&b, compressions[i]);
        b.size_off = i == 1 ? 500 : -20;
        make2_connection(&b, 0, "/a", NULL, NULL);
        make2_message(&b, 0, 1500000000, "a");
        make2_message(&b, 0, 1500000001, "b");
        make2_close(&b);
        make2_end(&b);
        RECORDING *r = bag_scan(&b.out);
        assert_string_equal(bag_payloads(r), "a|b|");
        bag_assert_finding(r, REEL_WARNING, i == 0 ? "not compressed, but" : "where its header says");
        assert_false(bag_info(r)->damaged);
    }
}

/* ---- encrypted ---- */

static void encrypted_bags_list_their_chunks(void **state) {
    (void)state;
    BAG b = {0};
    make2_sealed(&b);
    RECORDING *r = bag_scan(&b.out);
    assert_int_equal(bag_info(r)->messages, 0);
    assert_false(bag_info(r)->damaged);
    bag_assert_finding(
        r, REEL_NOTE,
        "encrypted (rosbag/AesCbcEncryptor): its 14 messages in 2 chunks, from 2017-07-14T02:40:00.000000000Z to "
        "2017-07-14T02:40:06.000000007Z, cannot be read without the key");
    const struct reel_pairs *pairs = reel_index_metadata(reel_recording_index(r));
    assert_int_equal(pairs->count, 4);
    assert_string_equal(pairs->items[0].key, "encryptor");
    assert_string_equal(pairs->items[1].value, "Foo");
    assert_string_equal(pairs->items[3].key, "encrypted chunk");
    assert_non_null(strstr(pairs->items[3].value, "7 messages of 2 connections from 2017-07-14T02:40:01"));
    b.out.size -= 30; /* cut in the last chunk info */
    RECORDING *cut = bag_scan(&b.out);
    bag_assert_finding(cut, REEL_NOTE, "its 7 messages in 1 chunks");
}

/* ---- wrapped messages (ros_wrap.h) ---- */

static void foreign_messages_come_out_of_their_wrapper(void **state) {
    (void)state;
    for (unsigned i = 0; i < COMPRESSIONS; i++) {
        BAG b;
        make2_begin(&b, compressions[i]);
        make2_foreign(&b);
        make2_end(&b);
        RECORDING *r = bag_scan(&b.out);
        const struct reel_channel *c = bag_channel(r, 0);
        assert_string_equal(c->name, "/p+q");
        assert_string_equal(c->type, "my.Pose");
        assert_string_equal(c->encoding, "protobuf");
        assert_true(c->latched);
        assert_int_equal(c->n_schemas, 2);
        assert_true(bytes_equal(c->schemas[0].data, bytes_of("\0\1", 2)));
        assert_string_equal(c->schemas[1].name, "");
        assert_int_equal(c->metadata.count, 2);
        assert_string_equal(c->metadata.items[0].key, "a");
        assert_string_equal(c->metadata.items[0].value, "1");
        assert_string_equal(c->metadata.items[1].value, "");
        assert_int_equal(c->n_topics, 2);
        assert_string_equal(c->topics[1], "/q");
        assert_int_equal(bag_stats(r, 0)->bytes, 15 + 15 + 16 + 5);
        assert_int_equal(bag_stats(r, 0)->count, 6);
        bag_assert_finding(r, REEL_WARNING, "3 messages do not have the wrapper that their connection states");
        assert_int_equal(strncmp(bag_payloads(r), "inner|inner|inner|", 18), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probe_accepts_2_and_refuses_3),
        cmocka_unit_test(every_compression_reads_alike),
        cmocka_unit_test(no_messages),
        cmocka_unit_test(each_connection_is_a_channel),
        cmocka_unit_test(fields_in_any_order_and_unknown_ones),
        cmocka_unit_test(times_of_chunks_overlap_and_come_unsorted),
        cmocka_unit_test(a_connection_without_messages_is_a_topic),
        cmocka_unit_test(padding_before_the_index_is_no_loss),
        cmocka_unit_test(most_messages_determine_the_clock),
        cmocka_unit_test(connections_only_at_the_end),
        cmocka_unit_test(connections_late_never_and_twice),
        cmocka_unit_test(index_data_with_the_lengths_of_early_2010),
        cmocka_unit_test(index_that_disagrees_is_reported),
        cmocka_unit_test(chunk_infos_that_disagree_are_reported),
        cmocka_unit_test(raw_size_that_is_wrong_is_found_out),
        cmocka_unit_test(encrypted_bags_list_their_chunks),
        cmocka_unit_test(foreign_messages_come_out_of_their_wrapper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
