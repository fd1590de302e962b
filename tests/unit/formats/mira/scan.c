/* Reading MIRA tapes: every layout, defect and kind of damage made here says what it should. */
#define BAG_FORMAT &reel_format_mira
#include "makers/mira_maker.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/bag_scan.h"

#include <stdio.h>

static void free_tape(struct tape *t) {
    free(t->m.data);
}
#define TAPE __attribute__((cleanup(free_tape))) struct tape
#define RECORDING AUTO(reel_recording_free) struct reel_recording
#define SIX "m0|m1|m2|m3|m4|m5|"

static struct reel_description described(struct reel_recording *r, unsigned number) {
    struct reel_error err = {0};
    struct reel_description d = {.sequence = UINT32_MAX};
    struct reel_message m;
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
    assert_non_null(s);
    for (unsigned i = 0; i <= number; i++) {
        assert_int_equal(stream_next(s, &m, &err), REEL_STEP_MESSAGE);
    }
    assert_true(stream_describe(s, &m, &d, &err));
    return d;
}
static const char *metadata_of(const struct reel_channel *c, const char *key) {
    for (size_t i = 0; i < c->metadata.count; i++) {
        if (strcmp(c->metadata.items[i].key, key) == 0) {
            return c->metadata.items[i].value;
        }
    }
    return "(none)";
}

static void every_layout_is_read_without_a_finding(void **state) {
    (void)state;
    for (unsigned v = 0; v < 48; v++) {
        struct tape_style style = tape_default;
        style.big = v & 1;
        style.size_counts = v & 2;
        style.links_to_content = v & 4;
        style.block_counts = v & 8;
        style.origin = v / 16 == 0 ? 0 : v / 16 == 1 ? (style.links_to_content ? 5 : 0) : 29;
        TAPE t;
        tape_six(&t, &style);
        tape_finish(&t);
        RECORDING *r = bag_scan(&t.m);
        assert_string_equal(bag_payloads(r), SIX);
        assert_int_equal(bag_info(r)->start_ns, TAPE_START);
        assert_int_equal(bag_info(r)->end_ns, TAPE_START + 50);
        assert_int_equal(bag_info(r)->n_channels, 2);
        assert_string_equal(bag_channel(r, 1)->name, "/b");
        assert_string_equal(bag_channel(r, 1)->type, "std::string");
        assert_string_equal(bag_channel(r, 1)->encoding, "mira");
        bag_assert_no_findings(r);
    }
}

static void sequence_and_frame_ids_are_kept(void **state) {
    (void)state;
    TAPE t;
    tape_begin(&t, &tape_default);
    tape_put(&t, "/a", "T", 1, "/base", 7, TAPE_PLAIN, "x", 1);
    tape_put(&t, "/a", "T", 2, "", UINT32_MAX, TAPE_PLAIN, "y", 1);
    tape_put(&t, "/a", "T", 3, "/laser", 9, TAPE_ZLIB, "z", 1);
    tape_put(&t, "/a", "T", 4, "/base", 10, TAPE_PLAIN, "w", 1);
    tape_finish(&t);
    RECORDING *r = bag_scan(&t.m);
    assert_string_equal(bag_payloads(r), "x|y|z|w|");
    assert_string_equal(described(r, 0).frame_id, "/base");
    assert_int_equal(described(r, 0).sequence, 7);
    assert_null(described(r, 1).frame_id);
    assert_int_equal(described(r, 1).sequence, UINT32_MAX);
    assert_string_equal(described(r, 2).frame_id, "/laser");
    assert_string_equal(described(r, 3).frame_id, "/base");
    assert_int_equal(bag_channel(r, 0)->metadata.count, 2);
    bag_assert_no_findings(r);
}

static void frame_ids_beyond_the_ceiling_are_reported(void **state) {
    (void)state;
    TAPE t;
    tape_begin(&t, &tape_default);
    tape_block_begin(&t);
    for (unsigned i = 0; i < 4100; i++) {
        char frame[16];
        snprintf(frame, sizeof frame, "/f%u", i);
        tape_message_field(&t, "/a", i, frame, i, TAPE_PLAIN, "", 0);
    }
    RECORDING *r = bag_scan(&t.m);
    assert_int_equal(bag_info(r)->messages, 4100);
    assert_int_equal(bag_channel(r, 0)->metadata.count, 4096);
    bag_assert_finding(r, REEL_WARNING, "frame ids are dropped: too many or too long: 4");
    bag_assert_finding(r, REEL_WARNING, "channel /a has no channel info");
}

static void meta_data_are_the_schema(void **state) {
    (void)state;
    TAPE t;
    tape_begin(&t, &tape_default);
    tape_block_begin(&t);
    tape_info(&t, "/a", "mira::Pose2", "META\0:Pose2", 11);
    tape_text(&t, "/a", 5, "p");
    tape_finish(&t);
    RECORDING *r = bag_scan(&t.m);
    const struct reel_channel *c = bag_channel(r, 0);
    assert_int_equal(c->n_schemas, 1);
    assert_string_equal(c->schemas[0].name, "mira::Pose2");
    assert_string_equal(c->schemas[0].encoding, "mira");
    assert_true(bytes_equal(c->schemas[0].data, bytes_of("META\0:Pose2", 11)));
    bag_assert_no_findings(r);
}

/* Those of one time stay in file order, compressed or not. */
static void compressed_messages_are_found_out(void **state) {
    (void)state;
    TAPE t;
    tape_begin(&t, &tape_default);
    tape_put(&t, "/a", "T", 1, "", 0, TAPE_ZLIB, "zlib", 4);
    tape_put(&t, "/a", "T", 1, "", 0, TAPE_PLAIN, "plain", 5);
    tape_put(&t, "/b", "T", 1, "", 0, TAPE_GZIP, "gzip", 4);
    tape_put(&t, "/a", "T", 1, "", 0, TAPE_PLAIN, "more", 4);
    tape_put(&t, "/b", "T", 2, "", 0, TAPE_ZLIB, "", 0);
    tape_put(&t, "/b", "T", 3, "", 0, TAPE_PLAIN, "end", 3);
    tape_finish(&t);
    RECORDING *r = bag_scan(&t.m);
    bag_assert_no_findings(r);
    assert_string_equal(bag_payloads(r), "zlib|plain|gzip|more||end|");
}

static void unknown_compression_is_delivered_as_stored(void **state) {
    (void)state;
    TAPE t;
    tape_begin(&t, &tape_default);
    tape_put(&t, "/a", "T", 1, "/f", 3, TAPE_UNKNOWN, "data", 4);
    tape_put(&t, "/b", "T", 2, "", 0, TAPE_PLAIN, "b", 1);
    tape_finish(&t);
    RECORDING *r = bag_scan(&t.m);
    assert_string_equal(bag_payloads(r), "LZX?data|b|");
    assert_string_equal(metadata_of(bag_channel(r, 0), "mira.codec"), "unknown");
    assert_string_equal(metadata_of(bag_channel(r, 1), "mira.codec"), "(none)");
    assert_int_equal(described(r, 0).sequence, 3);
    assert_string_equal(described(r, 0).frame_id, "/f");
    bag_assert_finding(r, REEL_WARNING, "channel /a: messages with unknown compression, delivered as stored: 1");
    assert_false(bag_info(r)->damaged);
}

static void compressed_data_that_do_not_decode_are_reported(void **state) {
    (void)state;
    TAPE t;
    tape_begin(&t, &tape_default);
    size_t at = tape_put(&t, "/a", "T", 1, "", 0, TAPE_ZLIB, "broken", 6);
    t.m.data[t.m.size - 1] ^= 1; /* the checksum */
    size_t longer = tape_put(&t, "/a", "T", 2, "", 0, TAPE_ZLIB, "said otherwise", 14);
    tape_patch(&t, longer + 5 + 8 + 6 + 4 + 4 + 4 + 1, 99, 4);
    tape_finish(&t);
    RECORDING *r = bag_scan(&t.m);
    assert_int_equal(bag_info(r)->messages, 2);
    bag_assert_finding(r, REEL_LOSS, "does not decode");
    bag_assert_finding(r, REEL_WARNING, "its zlib data decode to 14 bytes, not 99");
    assert_int_equal(bag_info(r)->lost_bytes, longer - at - 5 - 25 - 2 - 4);
    assert_non_null(memmem(bag_payloads(r), 100, "|said otherwise|", 16)); /* after the bytes of the first, as they are
                                                                              stored */
}

/* ---- times ---- */

static void a_start_of_zero_is_a_clock_of_its_own(void **state) {
    (void)state;
    struct tape_style style = tape_default;
    style.start = 0;
    TAPE t;
    tape_six(&t, &style);
    tape_finish(&t);
    RECORDING *r = bag_scan(&t.m);
    assert_int_equal(bag_info(r)->clock, REEL_CLOCK_RELATIVE);
    assert_int_equal(bag_info(r)->end_ns, 50);
    bag_assert_no_findings(r);
}

static void signed_times_and_what_64_bits_cannot_hold(void **state) {
    (void)state;
    TAPE t;
    tape_begin(&t, &tape_default);
    tape_text(&t, "/x", 5, "b");
    tape_text(&t, "/x", -2000000, "a");
    tape_text(&t, "/x", INT64_MAX, "z");
    tape_text(&t, "/x", 5, "c");
    tape_finish(&t);
    RECORDING *r = bag_scan(&t.m);
    assert_string_equal(bag_payloads(r), "a|b|c|z|");
    assert_int_equal(bag_info(r)->start_ns, TAPE_START - 2000000);
    assert_int_equal(bag_info(r)->end_ns, INT64_MAX);
    bag_assert_finding(r, REEL_WARNING, "set to that time: 1");
}

/* ---- what the tape says of itself ---- */

static void infos_late_missing_and_twice(void **state) {
    (void)state;
    TAPE t;
    tape_begin(&t, &tape_default);
    tape_block_begin(&t);
    tape_message_field(&t, "/late", 1, "", 0, TAPE_PLAIN, "1", 1);
    tape_info(&t, "/late", "T", "", 0);
    tape_message_field(&t, "/none", 2, "", 0, TAPE_PLAIN, "2", 1);
    tape_info(&t, "/late", "U", "", 0);
    tape_info(&t, "/unused", "V", "", 0);
    RECORDING *r = bag_scan(&t.m);
    assert_string_equal(bag_payloads(r), "1|2|");
    assert_string_equal(bag_channel(r, 0)->type, "T");
    assert_string_equal(bag_channel(r, 1)->type, "");
    assert_string_equal(bag_channel(r, 2)->name, "/unused");
    bag_assert_finding(r, REEL_WARNING, "channel infos after the first message of their channel: 1");
    bag_assert_finding(r, REEL_WARNING, "channel /none has no channel info");
    bag_assert_finding(r, REEL_WARNING, "has another type for its channel: the first one is used");
}

static void wrong_counts_links_and_indexes_are_reported(void **state) {
    (void)state;
    TAPE t;
    tape_six(&t, &tape_default);
    size_t first_block = t.messages[0].block, message = t.messages[2].at;
    tape_finish(&t);
    tape_patch(&t, first_block + 5, 9, 4);                       /* its count */
    tape_patch(&t, t.channels[0].info + 5, 77, 8);               /* next info */
    tape_patch(&t, t.channels[1].tail, 1234, 8);                 /* data size */
    tape_patch(&t, 20, 4, 4);                                    /* blocks */
    tape_patch(&t, t.m.size - 24 + 8, message - first_block, 8); /* the last entry of /b */
    RECORDING *r = bag_scan(&t.m);
    assert_string_equal(bag_payloads(r), SIX);
    bag_assert_finding(
        r, REEL_WARNING,
        "message blocks whose stated counts, sizes or times do not match their content: 1, the first at 32");
    bag_assert_finding(r, REEL_WARNING, "the links between channel infos are broken: there is none at 77");
    bag_assert_finding(r, REEL_WARNING, "channel infos whose stated sums or times do not match their messages: 1");
    bag_assert_finding(r, REEL_WARNING, "the header states 4 message blocks, but 3 were found");
    bag_assert_finding(r, REEL_WARNING, "has some other positions or times than the 3 messages found");
    assert_int_equal(bag_findings(r, REEL_WARNING, ""), 5);
    assert_false(bag_info(r)->damaged);
}

static void a_loop_of_links_ends(void **state) {
    (void)state;
    TAPE t;
    tape_six(&t, &tape_default);
    tape_finish(&t);
    tape_patch(&t, t.channels[1].info + 5, t.channels[0].info, 8);
    RECORDING *r = bag_scan(&t.m);
    bag_assert_finding(r, REEL_WARNING, "the links between channel infos reach 2 of 2 and do not end");
}

static void an_unfinished_tape_loses_nothing(void **state) {
    (void)state;
    TAPE t;
    tape_six(&t, &tape_default);
    tape_text(&t, "/a", 60, "m6");
    RECORDING *r = bag_scan(&t.m);
    assert_string_equal(bag_payloads(r), SIX "m6|");
    bag_assert_finding(r, REEL_NOTE, "the tape was not closed");
    bag_assert_finding(r, REEL_NOTE, "message blocks that were not closed: 1");
    bag_assert_finding(r, REEL_NOTE, "channels without an index: 2");
    assert_int_equal(bag_findings(r, REEL_WARNING, ""), 0);
    assert_false(bag_info(r)->damaged);
}

/* ---- damage ---- */

static void a_cut_tape_keeps_what_is_whole(void **state) {
    (void)state;
    TAPE t;
    tape_six(&t, &tape_default);
    tape_finish(&t);
    for (size_t size = t.messages[0].at; size < t.m.size; size++) {
        size_t whole = 0;
        while (whole < 6 && t.messages[whole].at + 5 + 25 + 2 + 2 <= size) {
            whole++;
        }
        const struct maker cut = {.data = t.m.data, .size = size};
        if (whole == 0) { /* nothing to keep: refused, or an empty tape */
            continue;
        }
        RECORDING *r = bag_scan(&cut);
        assert_int_equal(bag_info(r)->messages, whole);
    }
}

static void garbage_costs_what_it_covers(void **state) {
    (void)state;
    TAPE t;
    tape_six(&t, &tape_default);
    size_t at = t.messages[3].at, next = t.m.size;
    next = t.messages[4].block;
    tape_finish(&t);
    memset(t.m.data + at, 0x0c, 20);
    RECORDING *r = bag_scan(&t.m);
    assert_string_equal(bag_payloads(r), "m0|m1|m2|m4|m5|");
    assert_int_equal(bag_info(r)->lost_bytes, next - at);
    assert_int_equal(bag_findings(r, REEL_LOSS, ""), 1);
    bag_assert_finding(r, REEL_WARNING, "has 3 messages, but 2 were found");
}

static void an_unknown_field_is_stepped_over(void **state) {
    (void)state;
    TAPE t;
    tape_begin(&t, &tape_default);
    tape_text(&t, "/a", 1, "one");
    size_t field = tape_field(&t, 0x42);
    tape_message_field(&t, "/inner", 9, "", 0, TAPE_PLAIN, "not to be found", 15);
    tape_field_end(&t, field);
    tape_text(&t, "/a", 2, "two");
    RECORDING *r = bag_scan(&t.m);
    assert_string_equal(bag_payloads(r), "one|two|");
    bag_assert_finding(r, REEL_LOSS, "byte 42 at");
}

/* A size that is wrong is known by what follows; a length that is wrong, by the size. */
static void sizes_and_lengths_help_each_other(void **state) {
    (void)state;
    TAPE t;
    tape_six(&t, &tape_default);
    tape_finish(&t);
    tape_patch(&t, t.messages[1].at + 1, 3, 4);
    RECORDING *r = bag_scan(&t.m);
    assert_string_equal(bag_payloads(r), SIX);
    bag_assert_finding(r, REEL_WARNING, "fields whose size does not match their content: 1");
    tape_patch(&t, t.messages[1].at + 1, 25 + 2 + 2, 4);
    tape_patch(&t, t.messages[2].at + 5 + 8 + 4 + 2 + 4 + 4, 40, 4); /* stored size: the next message would be in it */
    RECORDING *again = bag_scan(&t.m);
    assert_string_equal(bag_payloads(again), "m0|m1|m3|m4|m5|");
    assert_int_equal(bag_info(again)->lost_bytes, 5 + 25 + 2 + 2);
}

static void hostile_lengths_allocate_nothing(void **state) {
    (void)state;
    static const struct {
        unsigned from, bytes;
    } lengths[] = {{13, 4}, {19, 4}, {27, 4}}; /* of a message: channel, frame id, data */
    for (unsigned i = 0; i < 3; i++) {
        TAPE t;
        tape_six(&t, &tape_default);
        tape_finish(&t);
        tape_patch(&t, t.messages[0].at + lengths[i].from, UINT32_MAX, lengths[i].bytes);
        RECORDING *r = bag_scan(&t.m);
        assert_string_equal(bag_payloads(r), "m1|m2|m3|m4|m5|");
    }
    TAPE t;
    tape_six(&t, &tape_default);
    tape_finish(&t);
    tape_patch(&t, t.channels[0].info + 5 + 24 + 4 + 2 + 4 + 11, UINT64_MAX, 8); /* meta data */
    RECORDING *r = bag_scan(&t.m);
    assert_string_equal(bag_payloads(r), SIX);
    assert_string_equal(bag_channel(r, 0)->type, "");
}

/* ---- recognition ---- */

static int bits_of(const struct maker *m, const char *name) {
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *s = reel_source_from_memory(bytes_of(m->data, m->size), name, &err);
    assert_non_null(s);
    return reel_format_mira.probe(bytes_of(m->data, m->size), s, NULL);
}

static void only_tapes_are_recognised(void **state) {
    (void)state;
    TAPE t;
    tape_six(&t, &tape_default);
    tape_finish(&t);
    assert_true(bits_of(&t.m, "a") > 30);
    assert_true(bits_of(&t.m, "a.tape") > bits_of(&t.m, "a"));
    tape_patch(&t, 0, 0x7f000000, 4); /* version */
    assert_int_equal(bits_of(&t.m, "a.tape"), 0);
    tape_patch(&t, 0, 0x10000, 4);
    tape_patch(&t, 12, (uint64_t)(16 * TAPE_HOUR), 8);
    assert_int_equal(bits_of(&t.m, "a.tape"), 0);
    tape_patch(&t, 12, 0, 8);
    t.m.data[32] = 'x'; /* the first field: only its name tells */
    assert_int_equal(bits_of(&t.m, "a"), 0);
    assert_true(bits_of(&t.m, "a.TAPE") > 0);
    const struct maker zeros = {.data = (uint8_t[64]){1}, .size = 64};
    assert_int_equal(bits_of(&zeros, "a.tape"), 0);
    struct reel_error err = {0};
    assert_null(bag_try(bytes_of(zeros.data, zeros.size), &err));
    assert_int_equal(err.code, REEL_NOT_MINE);
}

static void an_empty_tape_is_one(void **state) {
    (void)state;
    TAPE t;
    tape_begin(&t, &tape_default);
    assert_int_equal(t.m.size, 32);
    RECORDING *r = bag_scan(&t.m);
    assert_int_equal(bag_info(r)->messages, 0);
    assert_string_equal(bag_info(r)->container, "MIRA tape, version 0x00010000");
    bag_assert_no_findings(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_is_read_without_a_finding),
        cmocka_unit_test(sequence_and_frame_ids_are_kept),
        cmocka_unit_test(frame_ids_beyond_the_ceiling_are_reported),
        cmocka_unit_test(meta_data_are_the_schema),
        cmocka_unit_test(compressed_messages_are_found_out),
        cmocka_unit_test(unknown_compression_is_delivered_as_stored),
        cmocka_unit_test(compressed_data_that_do_not_decode_are_reported),
        cmocka_unit_test(a_start_of_zero_is_a_clock_of_its_own),
        cmocka_unit_test(signed_times_and_what_64_bits_cannot_hold),
        cmocka_unit_test(infos_late_missing_and_twice),
        cmocka_unit_test(wrong_counts_links_and_indexes_are_reported),
        cmocka_unit_test(a_loop_of_links_ends),
        cmocka_unit_test(an_unfinished_tape_loses_nothing),
        cmocka_unit_test(a_cut_tape_keeps_what_is_whole),
        cmocka_unit_test(garbage_costs_what_it_covers),
        cmocka_unit_test(an_unknown_field_is_stepped_over),
        cmocka_unit_test(sizes_and_lengths_help_each_other),
        cmocka_unit_test(hostile_lengths_allocate_nothing),
        cmocka_unit_test(only_tapes_are_recognised),
        cmocka_unit_test(an_empty_tape_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
