/* NanoVer recordings read: channels, times, damage, recovery; the numbered rules of the format. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/nanover_maker.h"

static int probe(struct reel_bytes file, const char *name) {
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *source = reel_source_from_memory(file, name, &err);
    assert_non_null(source);
    return reel_format_nanover.probe(file, source, NULL);
}

static void probe_requires_the_member_names(void **state) {
    (void)state;
    MAKER m = {.count = 0}, other = {.count = 0}, swapped = {.count = 0}, before = {.count = 0};
    maker_default(&m);
    assert_true(probe(maker_finish(&m), "x") > 0);
    maker_zip(&other,
              (struct member[]){{"rec/messages.msgpack", maker_messages(&m), false},
                                {"rec/index.msgpack", bytes_text("\x90"), false}},
              2);
    assert_int_equal(probe(maker_file(&other), "x.nanover.zip"), 0);
    maker_zip(
        &swapped,
        (struct member[]){{"index.msgpack", bytes_text("\x90"), false}, {"messages.msgpack", bytes_text(""), false}},
        2);
    assert_true(probe(maker_file(&swapped), "x") > 0);
    put_raw(&before.file, "#!/bin/sh\n", 10);
    maker_finish(&before);
    assert_true(probe(maker_file(&before), "x.nanover.zip") > 0);
    assert_int_equal(probe(maker_file(&before), "x"), 0);
    assert_int_equal(probe(bytes_text("PK"), "x.nanover.zip"), 0);
}

static void a_regular_recording_has_no_findings(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_default(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    assert_no_findings(r);
    assert_int_equal(info_of(r)->messages, 6);
    assert_int_equal(info_of(r)->clock, REEL_CLOCK_RELATIVE);
    assert_int_equal(info_of(r)->start_ns, 5000);
    assert_int_equal(info_of(r)->end_ns, 5000000);
    assert_int_equal(info_of(r)->payload_bytes, m.messages.size);
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, &selection_all);
    const uint64_t resets[] = {1, 0, 0, 0, 1, 0}, indices[] = {1, 0, 2, 0, 1, 2};
    for (int i = 0; i < 6; i++) {
        struct reel_message message;
        assert_non_null(next_payload(s, &message).data);
        assert_int_equal(message.entry.extra[0] & 1, resets[i]);
        assert_int_equal(message.entry.extra[1], indices[i]);
    }
}

static void rule_nanover_01_other_members_are_attachments(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_default(&m);
    maker_zip(&m,
              (struct member[]){{"messages.msgpack", maker_messages(&m), false},
                                {"notes.txt", bytes_text("hello hello hello hello"), true},
                                {"index.msgpack", maker_index(&m), false},
                                {"a/meta.json", bytes_text("{}"), false},
                                {"a/", bytes_text(""), false}},
              5);
    RECORDING *r = nanover_read(maker_file(&m));
    assert_no_findings(r);
    size_t count;
    const struct reel_attachment *a = reel_index_attachments(reel_recording_index(r), &count);
    assert_int_equal(count, 2);
    assert_string_equal(a[0].name, "notes.txt");
    assert_string_equal(a[0].media_type, "text/plain");
    assert_string_equal(a[1].media_type, "application/json");
    struct reel_error err = {0};
    AUTO(reel_reader_free) struct reel_reader *reader = reel_reader_new(r, &err);
    struct reel_bytes text;
    assert_true(reel_reader_view(reader, a[0].chunk, a[0].offset, a[0].size, &text, &err));
    assert_true(bytes_is(text, "hello hello hello hello"));
    assert_true(reel_reader_view(reader, a[1].chunk, a[1].offset, a[1].size, &text, &err));
    assert_true(bytes_is(text, "{}"));
}

/* Two types whose 64-bit FNV hashes are equal: types are compared, not hashed. */
static void types_of_equal_hashes_are_two_channels(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_add(&m, "{';5@!=#l_P@o;N' 1}", "{'types' [';5@!=#l_P@o;N'] 'timestamp' 1}");
    maker_add(&m, "{'>6M*@)uz(B$}4' 1}", "{'types' ['>6M*@)uz(B$}4'] 'timestamp' 2}");
    RECORDING *r = nanover_read(maker_finish(&m));
    assert_int_equal(info_of(r)->n_channels, 2);
    assert_string_equal(reel_index_channel(reel_recording_index(r), 0)->name, ";5@!=#l_P@o;N");
    assert_string_equal(reel_index_channel(reel_recording_index(r), 1)->name, ">6M*@)uz(B$}4");
}

/* A selection by topic finds the message of two types under both; all together it is there once. */
static void rule_nanover_03_types_decide_the_channels(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_default(&m);
    maker_add(&m, "{}", "{'types' [] 'timestamp' 6000}");
    RECORDING *r = nanover_read(maker_finish(&m));
    assert_no_findings(r);
    assert_int_equal(info_of(r)->n_channels, 4);
    const char *const names[] = {"frame", "state", "frame+state", "(none)"}, *const types[] = {
                                                                                 "nanover/frame", "nanover/state",
                                                                                 "nanover/frame+state", "nanover/"};
    const uint64_t counts[] = {3, 2, 1, 1};
    for (uint32_t i = 0; i < 4; i++) {
        const struct reel_channel *c = reel_index_channel(reel_recording_index(r), i);
        assert_string_equal(c->name, names[i]);
        assert_string_equal(c->type, types[i]);
        assert_string_equal(c->encoding, "nanover");
        assert_int_equal(c->n_schemas, 1);
        assert_int_equal(reel_index_stats(reel_recording_index(r), i)->count, counts[i]);
        assert_int_equal(nanover_channel_types(c), i == 3 ? 0 : i == 2 ? 2 : 1);
    }
    const char *const topics[] = {"frame", "state", "*"};
    const int expected[] = {4, 3, 7};
    for (int t = 0; t < 3; t++) {
        struct reel_selection selection = selection_all;
        selection.topics = &topics[t];
        selection.n_topics = 1;
        AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, &selection);
        struct reel_message message;
        int n = 0;
        while (next_payload(s, &message).data) {
            n++;
        }
        assert_int_equal(n, expected[t]);
    }
}

static void rule_nanover_04_one_entry_is_one_object(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_add(&m, "{'state' {'updates' {'a' 1} 'removals' []}}", "{'types' ['state'] 'timestamp' 1}");
    size_t size = m.messages.size;
    maker_entry(&m, 0, size - 1, "{'types' ['state'] 'timestamp' 2}");
    picture(&m.messages, "{}");
    maker_entry(&m, 0, size + 1, "{'types' ['state'] 'timestamp' 3}");
    maker_entry(&m, size, 2, "{'types' [] 'timestamp' 4}");
    RECORDING *r = nanover_read(maker_finish(&m));
    assert_int_equal(info_of(r)->messages, 1);
    assert_true(info_of(r)->damaged);
    assert_finding(r, REEL_LOSS, "ends inside an object");
    assert_finding(r, REEL_LOSS, "is shorter than its index entry says");
    assert_finding(r, REEL_LOSS, "points outside messages.msgpack");
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, &selection_all);
    struct reel_message message;
    assert_picture(next_payload(s, &message), "{'state' {'updates' {'a' 1} 'removals' []}}");
}

static void times_of_every_kind(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_add(&m, "{}", "{'types' [] 'timestamp' 1500.25}");
    maker_add(&m, "{}", "{'types' [] 'timestamp' n}");
    maker_add(&m, "{}", "{'types' []}");
    maker_add(&m, "{}", "{'types' [] 'timestamp' 9000000000000000000}");
    maker_add(&m, "{}", "{'types' [] 'timestamp' 5000000000}");
    maker_add(&m, "{}", "{'types' [] 'timestamp' 3}");
    RECORDING *r = nanover_read(maker_finish(&m));
    assert_int_equal(info_of(r)->messages, 6);
    assert_int_equal(info_of(r)->start_ns, 3000);
    assert_int_equal(info_of(r)->end_ns, 5000000000000);
    assert_finding(r, REEL_NOTE, "1 message(s) have a timestamp that is not an integer");
    assert_finding(r, REEL_WARNING, "3 message(s) have no usable timestamp");
    assert_finding(r, REEL_WARNING, "1 message(s) are earlier");
    assert_finding(r, REEL_NOTE, "above 2^32 microseconds");
    assert_false(info_of(r)->damaged);
}

static void odd_frames_are_kept_and_reported(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_add(&m,
              "{'frame' {'frame.index' 7 'particle.count' 2 'particle.positions' " ORIGIN
              " 'bond.pairs' <0000000005000000>}}",
              "{'types' ['state'] 'frame.index' 8 'timestamp' 1}");
    maker_add(&m, "{'frame' {'particle.positions' <00> 'bond.orders' [1 2] 5 6}}", "{'timestamp' 2}");
    maker_add(&m, "{'frame' 7 'state' []}", "{'types' ['frame' 'state'] 'timestamp' 3}");
    RECORDING *r = nanover_read(maker_finish(&m));
    assert_int_equal(info_of(r)->messages, 3);
    assert_finding(r, REEL_NOTE, "not a reset");
    assert_finding(r, REEL_WARNING, "not as many as particles");
    assert_finding(r, REEL_WARNING, "refer to particles or residues that do not exist");
    assert_finding(r, REEL_WARNING, "types in the index that are not those");
    assert_finding(r, REEL_WARNING, "frame.index in the index");
    assert_finding(r, REEL_NOTE, "1 message(s) have no types in the index");
    assert_finding(r, REEL_WARNING, "packed keys with an incomplete row");
    assert_finding(r, REEL_NOTE, "lists of numbers");
    assert_finding(r, REEL_WARNING, "map key that is not text");
    assert_finding(r, REEL_NOTE, "without frame.index");
    assert_finding(r, REEL_WARNING, "frame or a frame.index of the wrong kind");
    assert_finding(r, REEL_WARNING, "not made of updates and removals");
    assert_false(info_of(r)->damaged);
}

static void entries_that_overlap_cannot_cost_more_than_the_file(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    msgpack_packer pk;
    msgpack_packer_init(&pk, &m.messages, msgpack_sbuffer_write);
    static const char blob[1 << 20];
    msgpack_pack_map(&pk, 1);
    msgpack_pack_str_with_body(&pk, "x", 1);
    msgpack_pack_bin_with_body(&pk, blob, sizeof blob);
    for (int i = 0; i < 1000; i++) {
        maker_entry(&m, 0, m.messages.size, "{'types' ['x'] 'timestamp' 1}");
    }
    RECORDING *r = nanover_read(maker_finish(&m));
    assert_finding(r, REEL_LOSS, "overlap");
    assert_true(info_of(r)->messages <= 4);
}

/* --- recovery --- */

static void messages_of_a_crashed_recorder_are_recovered(void **state) {
    (void)state;
    MAKER m = {.count = 0}, whole = {.count = 0};
    for (int i = 0; i < 10; i++) {
        char frame[160];
        snprintf(frame, sizeof frame,
                 "{'frame' {'frame.index' %d 'server.timestamp' %d.5 'particle.positions' " ORIGIN "}}", i,
                 1000 + 2 * i);
        maker_add(&m, frame, "{}");
        maker_add(&m, "{'state' {'updates' {} 'removals' []}}", "{}");
    }
    maker_zip(&whole, (struct member[]){{"messages.msgpack", maker_messages(&m), false}}, 1);
    size_t data = 46, size = data + m.messages.size;
    memset(whole.file.data + 14, 0, 12); /* CRC and sizes are patched in at the end only */
    RECORDING *r = nanover_read(bytes_of(whole.file.data, size - 3));
    assert_int_equal(info_of(r)->messages, 19);
    assert_finding(r, REEL_LOSS, "the last one is truncated");
    assert_finding(r, REEL_LOSS, "members are taken from their local headers");
    assert_finding(r, REEL_WARNING, "server.timestamp (9)");
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, &selection_all);
    for (int i = 0; i < 19; i++) { /* frames every 2 s, a state half way between */
        struct reel_message message;
        assert_non_null(next_payload(s, &message).data);
        assert_int_equal(message.time_ns, i * INT64_C(1000000000));
    }
}

static void messages_go_on_where_the_index_breaks_off(void **state) {
    (void)state;
    MAKER m = {.count = 0}, cut = {.count = 0};
    maker_default(&m);
    struct reel_bytes index = maker_index(&m);
    maker_zip(&cut,
              (struct member[]){{"messages.msgpack", maker_messages(&m), false},
                                {"index.msgpack", bytes_of(index.data, index.size - 30), false}},
              2);
    RECORDING *r = nanover_read(maker_file(&cut));
    assert_int_equal(info_of(r)->messages, 6);
    assert_finding(r, REEL_LOSS, "index.msgpack ends inside an object");
    assert_int_equal(info_of(r)->end_ns, 4000000 + 1000000000 / 30);
    MAKER none = {.count = 0};
    maker_zip(&none, (struct member[]){{"messages.msgpack", maker_messages(&m), false}}, 1);
    RECORDING *without = nanover_read(maker_file(&none));
    assert_int_equal(info_of(without)->messages, 6);
    assert_finding(without, REEL_LOSS, "index.msgpack cannot be read: it is missing");
}

static void cut_anywhere_is_an_answer(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_default(&m);
    struct reel_bytes file = maker_finish(&m);
    for (size_t size = 0; size < file.size; size++) {
        struct reel_error err = {0};
        RECORDING *r = nanover_try(bytes_of(file.data, size), &err);
        assert_true(r || err.text[0] != '\0');
        assert_true(!r || (info_of(r)->damaged && info_of(r)->messages <= 6));
        assert_true(r || err.code == REEL_NOT_MINE || err.code == REEL_DAMAGED); /* until the first message is whole
                                                                                    there is nothing to keep */
        if (size >= 46 + m.messages.size) {
            assert_non_null(r);
            assert_int_equal(info_of(r)->messages, 6);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probe_requires_the_member_names),
        cmocka_unit_test(a_regular_recording_has_no_findings),
        cmocka_unit_test(rule_nanover_01_other_members_are_attachments),
        cmocka_unit_test(types_of_equal_hashes_are_two_channels),
        cmocka_unit_test(rule_nanover_03_types_decide_the_channels),
        cmocka_unit_test(rule_nanover_04_one_entry_is_one_object),
        cmocka_unit_test(times_of_every_kind),
        cmocka_unit_test(odd_frames_are_kept_and_reported),
        cmocka_unit_test(entries_that_overlap_cannot_cost_more_than_the_file),
        cmocka_unit_test(messages_of_a_crashed_recorder_are_recovered),
        cmocka_unit_test(messages_go_on_where_the_index_breaks_off),
        cmocka_unit_test(cut_anywhere_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
