/* Reading TIDE logs as they are found: what recorders wrote, with what they got wrong. */
#include "base/bytes.h"
#include "makers/tide_scan.h"

#define SIX "/a=m0|/b=m1|/a=m2|/b=m3|/a=m4|/b=m5|"

static void a_log_of_version_0(void **state) {
    (void)state;
    LOG l = {0};
    log_default(&l);
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_info(r)->format->name, "tide");
    assert_string_equal(log_info(r)->container, "TIDE 0.0");
    assert_int_equal(log_info(r)->clock, REEL_CLOCK_WALL);
    assert_string_equal(log_messages(r), SIX);
    assert_int_equal(log_info(r)->start_ns, 1400000000000000000);
    assert_int_equal(log_info(r)->end_ns, 1400000005000000000);
    assert_string_equal(log_metadata(r, 1, "tide.id"), "1");
    assert_string_equal(log_model(r, 0)->type, "TEXT");
    assert_string_equal(log_model(r, 0)->encoding, "bytes");
    log_assert_findings(r, 0);
}

static void rsb_channels_tell_scope_and_schema(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel_of(&l, 0, "/foo/bar/:.rst.vision.Image", "rsb-event-0.9:.rst.vision.Image", "UUID", "rsb:/#UUID",
                   "message Notification {\n  }\n:// Image.proto\nmessage Image { } // a:b\n");
    log_channel_of(&l, 1, "/n/:UINT64", "rsb-event:uint64", "", "",
                   "// Notification.proto\nmessage Notification { }\n");
    log_channel_of(&l, 2, "/p/:.example.Pose", ":rsb-event-0.9:.example.Pose", "", "", "message Pose { }\n");
    log_channel_of(&l, 3, "/o/", "RSB-EVENT-0.4", "", "", "message Event { }");
    RECORDING *r = log_scan(&l);
    const struct reel_channel *c = log_model(r, 0);
    assert_string_equal(c->name, "/foo/bar/:.rst.vision.Image");
    assert_string_equal(c->type, ".rst.vision.Image");
    assert_string_equal(c->encoding, "rsb");
    assert_int_equal(c->n_schemas, 2);
    assert_string_equal(c->schemas[0].name, "rsb.protocol.Notification");
    assert_true(bytes_is(c->schemas[0].data, "message Notification {\n  }\n"));
    assert_string_equal(c->schemas[1].name, "rst.vision.Image");
    assert_true(bytes_is(c->schemas[1].data, "// Image.proto\nmessage Image { } // a:b\n"));
    assert_string_equal(log_metadata(r, 0, "tide.type"), "rsb-event-0.9:.rst.vision.Image");
    assert_string_equal(log_metadata(r, 0, "tide.source"), "UUID");
    assert_string_equal(log_metadata(r, 0, "tide.source_config"), "rsb:/#UUID");
    assert_string_equal(log_metadata(r, 0, "rsb.scope"), "/foo/bar/");
    assert_string_equal(log_metadata(r, 0, "rsb.wire_schema"), ".rst.vision.Image");
    assert_string_equal(log_model(r, 1)->type, "uint64");
    assert_string_equal(log_model(r, 1)->schemas[0].name, "rsb.protocol.Notification");
    assert_string_equal(log_model(r, 2)->type, ".example.Pose");
    assert_string_equal(log_model(r, 2)->schemas[0].name, "example.Pose");
    assert_string_equal(log_model(r, 3)->type, "");
    assert_string_equal(log_model(r, 3)->schemas[0].name, "rsb.serialization.Event");
    assert_null(log_metadata(r, 3, "rsb.scope"));
    log_assert_findings(r, 0);
}

static void a_binary_source_config_is_base64(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_begin(&l, "CHAN");
    log_number(&l, 7, 4);
    log_text(&l, "a\xff", 1);
    log_text(&l, "", 4);
    log_text(&l, "", 4);
    log_number(&l, 4, 4);
    log_bytes(&l, "\0\xff\x10z", 4);
    log_text(&l, "", 4);
    log_end(&l);
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_model(r, 0)->name, "a\\xff");
    assert_string_equal(log_metadata(r, 0, "tide.source_config.base64"), "AP8Qeg==");
    assert_null(log_metadata(r, 0, "tide.source_config"));
}

/* ---- quirks of TIDE.md §2 and §3 ---- */

static void count_of_bytes_and_four_zeros(void **state) { /* RSBag before 2011-11-24 and 2013-02-08 */
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel(&l, 0, "/a");
    log_index(&l, 0, false, 0, LOG_T0, 0);
    log_number(&l, 0, 4);
    log_resize(&l, 0);
    log_chunk(&l, 0, 19, LOG_T0, LOG_T0);
    log_entry(&l, 0, LOG_T0, "abc");
    log_number(&l, 0, 4);
    log_chunk_end(&l, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_messages(r), "/a=abc|");
    log_assert_finding(r, REEL_NOTE, "1 chunks count bytes");
    log_assert_finding(r, REEL_NOTE, "2 blocks end with four zero bytes");
    log_assert_findings(r, 2);
}

static void size_four_too_large_without_padding(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel(&l, 0, "/a");
    log_channel(&l, 1, "/b");
    log_six(&l, 0, LOG_PLAIN);
    log_resize(&l, 4);
    log_index(&l, 0, false, 0, LOG_T0, 0);
    log_resize(&l, 4);
    log_six(&l, 1, LOG_PLAIN);
    log_resize(&l, 4);
    RECORDING *r = log_scan(&l);
    assert_int_equal(log_info(r)->messages, 12);
    assert_false(log_info(r)->damaged);
    log_assert_finding(r, REEL_WARNING, "3 blocks have a wrong Size");
    log_assert_finding(r, REEL_WARNING, "the index lacks 11 of 12");
    log_assert_findings(r, 2);
}

static void channel_sizes_in_characters(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel_of(&l, 0, "/m\xc3\xbc\xc3\xbc\xc3\xbc", "T\xc3\xa4", "", "", "");
    log_resize(&l, -4);
    log_channel(&l, 1, "/b");
    log_six(&l, 0, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    assert_int_equal(log_info(r)->n_channels, 2);
    assert_string_equal(log_model(r, 0)->name, "/m\xc3\xbc\xc3\xbc\xc3\xbc");
    assert_int_equal(log_info(r)->messages, 6);
    log_assert_finding(r, REEL_WARNING, "1 blocks have a wrong Size");
}

static void tide_size_is_nonsense(void **state) {
    (void)state;
    static const uint64_t sizes[] = {0, 9, 11, 135, UINT64_MAX, UINT64_MAX - 11, UINT32_MAX};
    LOG l = {0};
    log_default(&l);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes + 2; i++) {
        uint64_t size = i < sizeof sizes / sizeof *sizes ? sizes[i]
                        : i % 2                          ? l.size
                                                         : l.size - 12; /* libtidelog: that of the file */
        log_patch(&l, 4, size, 8);
        RECORDING *r = log_scan(&l);
        assert_string_equal(log_messages(r), SIX);
        log_assert_finding(r, REEL_NOTE, "block TIDE at 0: its Size is");
        log_assert_findings(r, 1);
    }
}

static void index_clipped_by_the_end(void **state) { /* Size 36 where 28 bytes are left */
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel(&l, 0, "/a");
    log_chunk(&l, 0, 1, LOG_T0, LOG_T0);
    log_entry(&l, 0, LOG_T0, "abc");
    log_end(&l);
    log_index(&l, 0, false, 0, LOG_T0, 0);
    log_resize(&l, 8);
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_messages(r), "/a=abc|");
    assert_false(log_info(r)->damaged);
    log_assert_finding(r, REEL_WARNING, "1 blocks have a wrong Size");
    log_assert_findings(r, 1);
}

static void unknown_block_in_an_old_log(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel(&l, 0, "/a");
    log_begin(&l, "XTRA");
    log_bytes(&l, "what later versions add", 23);
    log_end(&l);
    log_channel(&l, 1, "/b");
    log_six(&l, 0, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_messages(r), SIX);
    log_assert_finding(r, REEL_NOTE, "1 blocks of unknown kinds skipped, the first (XTRA)");
}

static void abandoned_and_appended_logs_count_by_chunks(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel(&l, 0, "/a");
    log_channel(&l, 1, "/b");
    log_six(&l, 0, LOG_PLAIN);
    log_six_index(&l, false, 0);
    log_six(&l, 1, LOG_PLAIN); /* without index, with a channel of its own at last */
    log_channel(&l, 2, "/c");
    RECORDING *r = log_scan(&l);
    assert_int_equal(log_info(r)->messages, 12);
    log_assert_finding(r, REEL_WARNING, "the index lacks 6 of 12 messages");
    log_assert_findings(r, 1);
}

static void a_wrong_index_is_reported(void **state) {
    (void)state;
    LOG l = {0};
    log_default(&l);
    log_patch(&l, l.size - 8, 17, 8); /* the last row's offset */
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_messages(r), SIX);
    log_assert_finding(r, REEL_WARNING,
                       "the index of 1 channels does not match their messages: it has 3 of channel 1, which has 3");
    LOG more = {0};
    log_default(&more);
    log_index(&more, 9, false, 0, LOG_T0, 0);
    RECORDING *s = log_scan(&more);
    log_assert_finding(s, REEL_WARNING, "it has 1 of channel 9, which has 0");
    log_assert_finding(s, REEL_WARNING, "channel 9 has no block CHAN: named reconstructed9");
}

/* ---- libtidelog and the prototype, §7 ---- */

static void libtidelog(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 1, 0);
    log_channel(&l, 1, "position");
    log_chunk(&l, 1, 2, 13030000000000000, 13030000010000000);
    log_entry(&l, 1, 13030000000000000, "x");
    log_entry(&l, 1, 13030000010000000, "y");
    log_chunk_end(&l, LOG_PLAIN);
    log_patch(&l, 4, l.size, 8);
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_messages(r), "position=x|position=y|");
    assert_int_equal(log_info(r)->start_ns, 13030000000000000); /* reported, not corrected */
    log_assert_finding(r, REEL_NOTE, "2 of 2 messages have times before 1990 or after 2100");
    log_assert_finding(r, REEL_NOTE, "no index");
}

static void libtidelog_crashed(void **state) { /* Size 25, count 0, then entries without a frame */
    (void)state;
    LOG l = {0};
    log_tide(&l, 1, 0);
    log_channel(&l, 1, "position");
    log_chunk(&l, 1, 0, 0, 0);
    log_end(&l);
    for (unsigned i = 0; i < 30; i++) {
        log_entry(&l, 1, LOG_T0 + i, "xyz");
    }
    log_bytes(&l, "\1\0\0", 3);
    RECORDING *r = log_scan(&l);
    assert_int_equal(log_info(r)->messages, 30);
    assert_int_equal(log_info(r)->lost_bytes, 3);
    log_assert_finding(r, REEL_LOSS, "it has 30 of 0 entries");
    l.size -= 3; /* no entry is cut */
    RECORDING *whole = log_scan(&l);
    assert_int_equal(log_info(whole)->messages, 30);
    assert_false(log_info(whole)->damaged);
    log_assert_finding(whole, REEL_WARNING, "1 blocks have a wrong Size");
}

static void the_prototype_fails_cleanly(void **state) {
    (void)state;
    LOG l = {0};
    log_begin(&l, "TIDE");
    log_number(&l, 1, 2);
    log_number(&l, 1, 8);
    log_begin(&l, "CHAN");
    log_number(&l, 1, 4);
    log_text(&l, "name", 1);
    log_text(&l, "source", 1);
    log_text(&l, "a format", 4);
    struct reel_error err = {0};
    struct reel_recording *r = log_try(bytes_of(l.data, l.size), NULL, &err);
    assert_null(r);
    assert_int_equal(err.code, REEL_DAMAGED);
}

static void what_is_no_tide_log_is_not_taken(void **state) {
    (void)state;
    static const char text[] = "TIDES come and go, and this is the text of a poem about them";
    struct reel_error err = {0};
    assert_null(log_try(bytes_text(text), NULL, &err));
    assert_int_equal(err.code, REEL_NOT_MINE);
    assert_null(log_try(bytes_of("TIDE\2\0\0\0", 8), &reel_format_tide, &err));
    assert_int_equal(err.code, REEL_NOT_MINE);
    assert_null(log_try(bytes_of("tide\2\0\0\0\0\0\0\0\2\0", 14), &reel_format_tide, &err));
    assert_int_equal(err.code, REEL_NOT_MINE);
}

static void an_empty_log(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    RECORDING *r = log_scan(&l);
    assert_int_equal(log_info(r)->messages, 0);
    log_assert_findings(r, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_of_version_0),
        cmocka_unit_test(rsb_channels_tell_scope_and_schema),
        cmocka_unit_test(a_binary_source_config_is_base64),
        cmocka_unit_test(count_of_bytes_and_four_zeros),
        cmocka_unit_test(size_four_too_large_without_padding),
        cmocka_unit_test(channel_sizes_in_characters),
        cmocka_unit_test(tide_size_is_nonsense),
        cmocka_unit_test(index_clipped_by_the_end),
        cmocka_unit_test(unknown_block_in_an_old_log),
        cmocka_unit_test(abandoned_and_appended_logs_count_by_chunks),
        cmocka_unit_test(a_wrong_index_is_reported),
        cmocka_unit_test(libtidelog),
        cmocka_unit_test(libtidelog_crashed),
        cmocka_unit_test(the_prototype_fails_cleanly),
        cmocka_unit_test(what_is_no_tide_log_is_not_taken),
        cmocka_unit_test(an_empty_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
