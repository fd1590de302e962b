/* Writing MIRA tapes: what comes out is planned to the byte, reads back equal and without a finding, and any range of
 * it is the same alone.
 */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/mira_render.h"

#include <stdio.h>

static const struct reel_write_options plain = {.compression = ""};
static const struct reel_write_options zlib = {.compression = "zlib"};

static void assert_same_text(const char *a, const char *b) {
    assert_string_equal(a, b);
}
static void assert_same_channel(const struct reel_channel *a, const struct reel_channel *b) {
    assert_same_text(a->name, b->name);
    assert_same_text(a->type, b->type);
    assert_same_text(a->encoding, b->encoding);
    assert_int_equal(a->latched, b->latched);
    assert_int_equal(a->n_topics, b->n_topics);
    assert_int_equal(a->n_schemas, b->n_schemas);
    for (uint32_t i = 0; i < a->n_topics; i++) {
        assert_same_text(a->topics[i], b->topics[i]);
    }
    for (uint32_t i = 0; i < a->n_schemas; i++) {
        assert_same_text(a->schemas[i].name, b->schemas[i].name);
        assert_same_text(a->schemas[i].encoding, b->schemas[i].encoding);
        assert_same_text(a->schemas[i].hash, b->schemas[i].hash);
        assert_true(bytes_equal(a->schemas[i].data, b->schemas[i].data));
    }
    assert_int_equal(a->metadata.count, b->metadata.count);
    for (size_t i = 0; i < a->metadata.count; i++) {
        assert_same_text(a->metadata.items[i].key, b->metadata.items[i].key);
        assert_same_text(a->metadata.items[i].value, b->metadata.items[i].value);
    }
}

/* Channels by name, then every message: time, channel, bytes, sequence, frame id. */
static void assert_same_recording(struct reel_recording *a, struct reel_recording *b) {
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *s = stream_of(a, &selection_all), *t = stream_of(b, &selection_all);
    assert_int_equal(s->n_channels, t->n_channels);
    struct reel_message m, n;
    enum reel_step step;
    while ((step = stream_next(s, &m, &err)) == REEL_STEP_MESSAGE) {
        struct reel_bytes x, y;
        struct reel_description d, e;
        assert_int_equal(stream_next(t, &n, &err), REEL_STEP_MESSAGE);
        assert_int_equal(m.time_ns, n.time_ns);
        assert_same_channel(s->channels[m.channel], t->channels[n.channel]);
        assert_true(reel_stream_payload(s, &m, &x, &err) && reel_stream_payload(t, &n, &y, &err));
        assert_true(bytes_equal(x, y));
        assert_true(stream_describe(s, &m, &d, &err) && stream_describe(t, &n, &e, &err));
        assert_int_equal(d.sequence, e.sequence);
        assert_same_text(d.frame_id ? d.frame_id : "", e.frame_id ? e.frame_id : "");
    }
    assert_int_equal(step, REEL_STEP_END);
    assert_int_equal(stream_next(t, &n, &err), REEL_STEP_END);
}

static void a_tape_comes_out_byte_for_byte(void **state) {
    (void)state;
    TAPE t;
    tape_begin(&t, &tape_default);
    tape_put(&t, "/a", "float", -5, "/base", 1, TAPE_PLAIN, "1234", 4);
    tape_put(&t, "/b", "std::string", 3, "", 77, TAPE_PLAIN, "", 0);
    tape_put(&t, "/a", "float", 9, "/laser", 2, TAPE_PLAIN, "5678", 4);
    tape_finish(&t);
    RECORDING *r = bag_scan(&t.m);
    MAKER out = render(r, &selection_all, &plain, 200);
    assert_int_equal(out.size, t.m.size);
    assert_memory_equal(out.data, t.m.data, t.m.size);
}

static void other_layouts_become_the_default_one(void **state) {
    (void)state;
    struct tape_style style = tape_default;
    style.big = style.size_counts = style.links_to_content = true;
    TAPE t;
    tape_six(&t, &style);
    RECORDING *r = bag_scan(&t.m); /* not closed, too: this is the repair */
    MAKER out = render(r, &selection_all, &plain, 50);
    RECORDING *again = bag_scan(&out);
    bag_assert_no_findings(again);
    assert_same_recording(r, again);
    assert_string_equal(bag_info(again)->container, "MIRA tape, version 0x00010000");
}

static void unknown_compression_stays_as_it_is(void **state) {
    (void)state;
    TAPE t;
    tape_begin(&t, &tape_default);
    tape_put(&t, "/a", "T", 1, "/f", 5, TAPE_UNKNOWN, "data of a codec that nobody knows", 33);
    tape_finish(&t);
    RECORDING *r = bag_scan(&t.m);
    MAKER out = render(r, &selection_all, &zlib, 20);
    assert_int_equal(out.size, t.m.size);
    assert_memory_equal(out.data, t.m.data, t.m.size);
}

/* ---- cuts, clocks ---- */

static void a_cut_has_its_own_start_and_keeps_empty_channels(void **state) {
    (void)state;
    TAPE t;
    tape_six(&t, &tape_default);
    tape_text(&t, "/rare", 1000, "r");
    tape_finish(&t);
    RECORDING *r = bag_scan(&t.m);
    struct reel_selection selection = {
        .size = sizeof selection, .start_ns = TAPE_START + 20, .end_ns = TAPE_START + 50};
    struct reel_write_options options = {.compression = "", .is_cut = true, .start_ns = selection.start_ns};
    MAKER out = render(r, &selection, &options, 50);
    assert_int_equal(load_u64le(out.data + 4), TAPE_START + 20);
    assert_int_equal(load_u64le(out.data + 12), TAPE_HOUR);
    RECORDING *cut = bag_scan(&out);
    assert_string_equal(bag_payloads(cut), "m2|m3|m4|");
    assert_int_equal(bag_info(cut)->n_channels, 3);
    assert_string_equal(bag_channel(cut, 2)->name, "/rare");
    assert_string_equal(bag_channel(cut, 2)->type, "std::string");
    bag_assert_no_findings(cut);
    selection.start_ns = selection.end_ns = TAPE_START + 60;
    MAKER nothing = render(r, &selection, &options, 10);
    RECORDING *empty = bag_scan(&nothing);
    assert_int_equal(bag_info(empty)->messages, 0);
    assert_int_equal(bag_info(empty)->n_channels, 3);
    bag_assert_no_findings(empty);
}

static void relative_clocks_begin_at_zero(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, "#ROSLOG V1.1\n");
    make_log_record(&m, "imu\n*\nstd_msgs/Imu\n", 4, 490000000, "first");
    RECORDING *r = scan_bag(&m);
    MAKER out = render(r, &selection_all, &plain, 10);
    assert_int_equal(load_u64le(out.data + 4), 0);
    format_now = &reel_format_mira;
    struct reel_error err = {0};
    struct reel_source *source = reel_source_from_memory(bytes_of(out.data, out.size), "a.tape", &err);
    assert_true(reel_format_mira.probe(bytes_of(out.data, out.size), source, NULL) > 0);
    reel_source_free(source);
    RECORDING *again = bag_scan(&out);
    assert_int_equal(bag_info(again)->clock, REEL_CLOCK_RELATIVE);
    assert_same_recording(r, again);
}

/* A merge may give a relative recording times of the day: the tape counts from their first, as of any other recording.
 */
static void shifted_clocks_are_wall_clocks(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, "#ROSLOG V1.1\n");
    make_log_record(&m, "imu\n*\nstd_msgs/Imu\n", 4, 490000000, "first");
    make_log_record(&m, "imu\n*\nstd_msgs/Imu\n", 5, 0, "second");
    RECORDING *r = scan_bag(&m);
    assert_int_equal(bag_info(r)->clock, REEL_CLOCK_RELATIVE);
    const struct reel_source_option option = {.shift_ns = TAPE_START, .wall = true};
    struct reel_selection shifted = selection_all;
    shifted.sources = &option;
    MAKER out = render(r, &shifted, &plain, 20);
    assert_int_equal(load_u64le(out.data + 4), TAPE_START + INT64_C(4490000000));
    RECORDING *again = bag_scan(&out);
    bag_assert_no_findings(again);
    assert_int_equal(bag_info(again)->clock, REEL_CLOCK_WALL);
    assert_int_equal(bag_info(again)->start_ns, TAPE_START + INT64_C(4490000000));
    assert_int_equal(bag_info(again)->end_ns, TAPE_START + INT64_C(5000000000));
}

/* ---- compression ---- */

static void large_messages_are_compressed_on_request(void **state) {
    (void)state;
    static char text[5000], noise[2000];
    memset(text, 'a', sizeof text);
    uint64_t random = 99;
    for (size_t i = 0; i < sizeof noise; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        noise[i] = (char)(random >> 56);
    }
    TAPE t;
    tape_begin(&t, &tape_default);
    for (int i = 0; i < 100; i++) {
        tape_put(&t, "/large", "T", i, "/f", 1, TAPE_PLAIN, text, sizeof text - (size_t)i);
        tape_put(&t, "/small", "T", i, "", 1, TAPE_PLAIN, text, 100);
        tape_put(&t, "/noise", "T", i, "", 1, TAPE_PLAIN, noise, sizeof noise);
    }
    tape_finish(&t);
    RECORDING *r = bag_scan(&t.m);
    const struct reel_write_value size = {.name = "block_size", .text = "", .number = 10000};
    const struct reel_write_options small_blocks = {.compression = "zlib", .values = &size, .n_values = 1};
    MAKER out = render(r, &selection_all, &small_blocks, 300);
    assert_true(out.size < t.m.size / 2);
    RECORDING *again = bag_scan(&out);
    bag_assert_no_findings(again);
    assert_same_recording(r, again);
    struct reel_error err = {0};
    const struct reel_write_options other = {.compression = "lz4"};
    assert_null(plan_of(r, &selection_all, &other, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
}

/* Whatever their size, and by the same codec; the others stay as they were. Only compression=none leaves all of them
 * uncompressed. */
static void messages_of_a_tape_are_compressed_again(void **state) {
    (void)state;
    static char text[3000];
    memset(text, 'a', sizeof text);
    TAPE t;
    tape_begin(&t, &tape_default);
    for (int i = 0; i < 20; i++) {
        tape_put(&t, "/zlib", "T", i, "/f", 1, TAPE_ZLIB, text, 200);
        tape_put(&t, "/gzip", "T", i, "", 1, i % 2 ? TAPE_GZIP : TAPE_PLAIN, text, sizeof text);
        tape_put(&t, "/plain", "T", i, "", 1, TAPE_PLAIN, text, sizeof text);
        tape_put(&t, "/tiny", "T", i, "", 1, TAPE_ZLIB, "x", 1); /* grows when compressed: stored as it is */
    }
    tape_finish(&t);
    RECORDING *r = bag_scan(&t.m);
    MAKER out = render(r, &selection_all, &plain, 300);
    unsigned compressed[4] = {0}, zlibs = 0, gzips = 0;
    for (struct field f = {0}; field_next(&out, &f);) {
        if (out.data[f.at] == 0x0c) {
            const uint8_t *p = out.data + f.at + 5 + 8, *frame = p + 4 + load_u32le(p),
                          *rest = frame + 4 + load_u32le(frame);
            unsigned channel = p[5] == 'z' ? 0 : p[5] == 'g' ? 1 : p[5] == 'p' ? 2 : 3;
            bool packed = rest[8] != 0;
            compressed[channel] += packed;
            zlibs += packed && rest[13] == 0x78;
            gzips += packed && rest[13] == 0x1f && rest[14] == 0x8b;
        }
    }
    assert_int_equal(compressed[0], 20);
    assert_int_equal(compressed[1], 10);
    assert_int_equal(compressed[2] + compressed[3], 0);
    assert_int_equal(zlibs, 20);
    assert_int_equal(gzips, 10);
    RECORDING *again = bag_scan(&out);
    bag_assert_no_findings(again);
    assert_same_recording(r, again);
    const struct reel_write_options none = {.compression = "none"};
    MAKER unpacked = render(r, &selection_all, &none, 50);
    assert_true(unpacked.size > 40 * sizeof text);
    RECORDING *still = bag_scan(&unpacked);
    assert_same_recording(r, still);
}

/* ---- foreign channels ---- */

static void ros_messages_come_back_equal(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    make_definition(&m, "/map");
    make_message_of(&m, "/map", MAKE_MD5, MAKE_TYPE, "/server", 1500000002, 0, "map", 3);
    make_message(&m, "/map", 1500000004, 0, "");
    make_definition_of(&m, "/map", "fdb28210bfa9d7c91146260178d9a584", "std_msgs/Float64", "float64 data\n");
    make_message_of(&m, "/map", "fdb28210bfa9d7c91146260178d9a584", "std_msgs/Float64", NULL, 1500000005, 0, "12345678",
                    8);
    make_definition(&m, "/map#2");
    make_message(&m, "/map#2", 1500000006, 0, "its own");
    RECORDING *r = scan_bag(&m);
    MAKER out = render(r, &selection_all, &plain, 50);
    RECORDING *again = bag_scan(&out);
    bag_assert_no_findings(again);
    assert_int_equal(bag_info(again)->n_channels, 4);
    assert_non_null(memmem(out.data, out.size, "\6\0\0\0/map#3", 10)); /* the second /map: /map#2 is another's own, here
                                                                          and in TIDE */
    assert_same_recording(r, again);
    MAKER third = render(again, &selection_all, &plain, 0); /* and from tape to tape */
    assert_int_equal(third.size, out.size);
    assert_memory_equal(third.data + 32, out.data + 32, out.size - 32);
}

static void changes_and_losses_are_reported(void **state) {
    (void)state;
    size_t count;
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    struct reel_schema schema = {.name = "T", .encoding = "ros1msg", .hash = "", .data = bytes_of("", 0)};
    struct reel_channel c = {.name = "/t", .type = "T", .encoding = "ros1", .schemas = &schema, .n_schemas = 1};
    assert_true(reel_writer_mira.accepts(&c, loss));
    const struct reel_loss_item *items = reel_loss_items(loss, &count);
    assert_int_equal(count, 1);
    assert_int_equal(items[0].kind, REEL_CHANGES);
    assert_non_null(strstr(items[0].text, "encoding (ros1)"));
    AUTO_MEM uint8_t *huge = calloc(1, 17 << 20);
    schema.data = bytes_of(huge, 17 << 20);
    assert_false(reel_writer_mira.accepts(&c, loss));
    items = reel_loss_items(loss, &count);
    assert_int_equal(items[1].kind, REEL_REFUSES);
    const struct reel_channel own = {.name = "/t", .type = "T", .encoding = "mira"};
    assert_true(reel_writer_mira.accepts(&own, loss));
    reel_loss_items(loss, &count);
    assert_int_equal(count, 2);
}

/* ---- size ---- */

/* More messages than one part of the index holds, on channels that some blocks lack, and one message larger than a
 * group is rendered whole.
 */
static void many_blocks_and_parts(void **state) {
    (void)state;
    enum { MESSAGES = 300000 };
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    make_definition(&m, "/often");
    for (uint32_t i = 0; i < MESSAGES; i++) {
        make_message(&m, "/often", 1500000000 + i / 1000, i % 1000 * 1000000, i % 3 ? "payload" : "");
        if (i % 70000 == 60000) {
            make_message(&m, "rare", 1500000000 + i / 1000, i % 1000 * 1000000 + 1, "rare");
        }
        if (i == 150000) {
            AUTO_MEM char *huge = calloc(1, 9 << 20);
            make_message_of(&m, "/huge", MAKE_MD5, MAKE_TYPE, NULL, 1500000000 + i / 1000, 0, huge, 9 << 20);
        }
    }
    RECORDING *r = scan_bag(&m);
    MAKER out = render(r, &selection_all, &plain, 60);
    RECORDING *again = bag_scan(&out);
    assert_int_equal(bag_info(again)->messages, MESSAGES + 4 + 1);
    assert_int_equal(bag_info(again)->payload_bytes, bag_info(r)->payload_bytes);
    bag_assert_no_findings(again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tape_comes_out_byte_for_byte),
        cmocka_unit_test(other_layouts_become_the_default_one),
        cmocka_unit_test(unknown_compression_stays_as_it_is),
        cmocka_unit_test(a_cut_has_its_own_start_and_keeps_empty_channels),
        cmocka_unit_test(relative_clocks_begin_at_zero),
        cmocka_unit_test(shifted_clocks_are_wall_clocks),
        cmocka_unit_test(messages_of_a_tape_are_compressed_again),
        cmocka_unit_test(large_messages_are_compressed_on_request),
        cmocka_unit_test(ros_messages_come_back_equal),
        cmocka_unit_test(changes_and_losses_are_reported),
        cmocka_unit_test(many_blocks_and_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
