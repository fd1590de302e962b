/* The numbered rules of the CARLA recorder. */
#include "makers/carla_scan.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "convert/writer.h"
#include "formats/carla/layout.h"

#define STYLE (&make_styles[4])

static struct maker begin_world(void) {
    struct maker m = {0};
    make_header(&m, 1, MAKE_DATE, MAKE_MAP);
    return m;
}

static void rule_carla_01_strings_are_u16_length_and_bytes(void **state) {
    (void)state;
    char map[60000];
    memset(map, 'x', sizeof map - 1);
    map[sizeof map - 1] = '\0';
    map[0] = '\xff'; /* no UTF-8 */
    MAKER m = {0};
    make_header(&m, 2, MAKE_DATE, map);
    make_frame(&m, &make_styles[5], 1, true);
    RECORDING *r = carla_read(&m);
    assert_findings(r, 0);
    assert_string_equal(info_of(r)->container, "CARLA recorder, version 2");
    assert_string_equal(metadata_of(r, "version"), "2");
    assert_string_equal(metadata_of(r, "date"), "2020-09-13T12:26:40.000000000Z");
    assert_int_equal(strlen(metadata_of(r, "map")), sizeof map - 1 + 3);
    assert_memory_equal(metadata_of(r, "map"), "\\xffxxx", 7);
}

/* The bytes of a cut; checked to be what was planned. */
static struct maker cut_of(struct reel_recording *r, int64_t start_ns, int64_t end_ns) {
    struct reel_error err = {0};
    struct reel_selection selection = {
        .size = sizeof selection, .start_ns = start_ns, .end_ns = end_ns, .state_at_cut = true};
    const struct reel_write_options options = {.compression = "", .is_cut = true, .start_ns = start_ns};
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, &selection);
    AUTO(reel_plan_free) struct reel_plan *plan = reel_plan_new(&reel_writer_carla, &options, s, NULL, &err);
    if (!plan) {
        fail_msg("%s", err.text);
    }
    struct maker out = {.size = reel_plan_length(plan)};
    out.data = malloc(out.size);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *render = reel_planned_output_new(plan, open_stream(r, &selection), &err);
    if (!render || !reel_planned_output_read(render, 0, out.data, out.size, &err)) {
        fail_msg("%s", err.text);
    }
    return out;
}

static void rule_carla_02_unknown_packets_are_kept_each_in_its_channel(void **state) {
    (void)state;
    MAKER m = begin_world();
    for (unsigned f = 1; f <= 3; f++) {
        make_start(&m, f, f == 3 ? -1 : 0.125, make_elapsed(f));
        make_raw(&m, 139, f == 2 ? "DReyeVR \1\2" : "");
        make_body(&m, STYLE, f);
        make_raw(&m, 99, "ninety-nine");
        make_raw(&m, 140, "custom actor");
        make_raw(&m, 255, "last");
        make_end(&m);
    }
    RECORDING *r = carla_read(&m);
    assert_findings(r, 0);
    assert_int_equal(count_of(r, "/packet_139"), 3);
    assert_int_equal(count_of(r, "/packet_140"), 3);
    assert_int_equal(count_of(r, "/packet_255"), 3);
    assert_int_equal(count_of(r, "/packet_99"), 3);
    assert_string_equal(channel_named(r, "/packet_139")->type, "carla/packet_139");
    assert_string_equal(fact_of(r, "/packet_139", "packet"), "139");
    MAKER cut = cut_of(r, info_of(r)->start_ns + 1, REEL_TIME_MAX);
    RECORDING *again = carla_read(&cut);
    struct reel_message message;
    assert_true(bytes_is(payload_of(again, "/packet_139", 0, &message), "DReyeVR \1\2"));
    assert_true(bytes_is(payload_of(again, "/packet_140", 1, &message), "custom actor"));
    assert_int_equal(count_of(again, "/packet_255"), 2);
    assert_memory_equal(packets_of(again), "0#U", 3); /* and where it stood */
}

static void rule_carla_03_packets_outside_missing_ends_second_starts(void **state) {
    (void)state;
    MAKER m = begin_world();
    size_t before = m.size;
    make_raw(&m, 200, "before");
    make_frame(&m, STYLE, 1, false);
    size_t between = m.size;
    make_none(&m, 5);
    size_t second = m.size;
    make_start(&m, 2, 0.125, 0.125);
    make_body(&m, STYLE, 2);
    make_frame(&m, STYLE, 3, true); /* the second has no end */
    size_t again = m.size;
    make_end(&m);
    RECORDING *r = carla_read(&m);
    assert_finding(r, REEL_WARNING, before, "packet 200 at 34 is outside of a frame");
    assert_finding(r, REEL_WARNING, between, "packet 5 at");
    assert_finding(r, REEL_WARNING, second, "frame 2 at");
    assert_finding(r, REEL_WARNING, second, "has no end: another starts at");
    assert_finding(r, REEL_WARNING, again, "packet 1 at");
    assert_findings(r, 4);
    struct reel_message message;
    payload_of(r, "/collision", 1, &message);
    assert_int_equal(message.entry.offset, between);
    assert_int_equal(message.entry.extra[0], 1); /* kept with the frame before it */
    assert_int_equal(message.time_ns, info_of(r)->start_ns);
    payload_of(r, "/packet_200", 0, &message);
    assert_int_equal(message.entry.extra[0], 0);
}

static void rule_carla_04_a_frame_without_positions_or_lights_is_named(void **state) {
    (void)state;
    MAKER m = begin_world();
    make_frame(&m, STYLE, 1, false);
    size_t second = m.size;
    make_start(&m, 2, 0.125, 0.125);
    make_none(&m, 6);
    make_end(&m);
    size_t third = m.size;
    make_start(&m, 3, -1, 0.25);
    make_none(&m, 7);
    make_end(&m);
    RECORDING *r = carla_read(&m);
    assert_finding(r, REEL_WARNING, second, "frame 2 at");
    assert_finding(r, REEL_WARNING, second, "has no traffic light packet");
    assert_finding(r, REEL_WARNING, third, "frame 3 at");
    assert_finding(r, REEL_WARNING, third, "has no position packet");
    assert_findings(r, 2);
}

static void rule_carla_05_elapsed_and_duration_make_the_next_elapsed(void **state) {
    (void)state;
    MAKER m = begin_world();
    make_frame(&m, STYLE, 1, false);
    size_t second = m.size;
    make_start(&m, 2, 0.125, 0.25); /* not 0.125 */
    make_body(&m, STYLE, 2);
    make_end(&m);
    size_t fifth = m.size;
    make_start(&m, 5, 0.5, 0.375); /* not the third; and the last should last -1 */
    make_body(&m, STYLE, 3);
    make_end(&m);
    RECORDING *r = carla_read(&m);
    assert_finding(r, REEL_WARNING, second, "elapsed 0.25 s instead of 0.125 s");
    assert_finding(r, REEL_WARNING, fifth, "has the number 5, after 2");
    assert_finding(r, REEL_WARNING, fifth, "the duration of the last frame is 0.5 s, not -1 s");
    assert_findings(r, 3);
}

static void rule_carla_06_size_0_is_no_data_and_misfits_are_flagged(void **state) {
    (void)state;
    MAKER m = begin_world();
    make_start(&m, 1, -1, 0);
    make_close(&m, make_packet(&m, 2)); /* size 0, and a sensible packet follows */
    make_close(&m, make_packet(&m, 6));
    make_close(&m, make_packet(&m, 7));
    size_t misfit = m.size;
    make_raw(&m, 8, "\1\1 one record, but not its size");
    size_t short_one = m.size;
    make_raw(&m, 9, "\2"); /* half a total */
    size_t time = m.size;
    make_raw(&m, 14, "seconds");
    size_t walked = m.size;
    make_raw(&m, 19, "\1\1bones");
    make_end(&m);
    RECORDING *r = carla_read(&m);
    assert_finding(r, REEL_WARNING, short_one, "packet 9 at");
    assert_finding(r, REEL_WARNING, misfit, "packet 8 at");
    assert_finding(r, REEL_WARNING, walked, "packet 19 at");
    assert_finding(r, REEL_WARNING, time, "packet 14 at");
    assert_findings(r, 4);
    assert_int_equal(info_of(r)->messages, 9);
    assert_int_equal(count_of(r, "/event/add"), 1);
    assert_false(info_of(r)->damaged);
}

static void rule_carla_07_a_window_holds_its_frames_and_begins_with_the_covering_state(void **state) {
    (void)state;
    MAKER m = make_world(STYLE, 5);
    RECORDING *r = carla_read(&m);
    int64_t t0 = info_of(r)->start_ns, step = 125000000;
    MAKER exact = cut_of(r, t0 + 2 * step, t0 + 4 * step); /* frames 3 and 4, the end excluded */
    RECORDING *a = carla_read(&exact);
    assert_findings(a, 0);
    assert_int_equal(count_of(a, "/frame"), 2);
    MAKER between = cut_of(r, t0 + step + 1, t0 + 3 * step + 1); /* frame 2 covers the start; 3 and 4 lie inside */
    RECORDING *b = carla_read(&between);
    assert_int_equal(between.size, exact.size);
    assert_memory_equal(between.data, exact.data, exact.size);
    struct reel_message message;
    struct reel_bytes add = payload_of(b, "/event/add", 0, &message);
    assert_int_equal(load_u16le(add.data), 6); /* all that live in frame 2 */
    MAKER first = cut_of(r, t0, t0 + 1);
    RECORDING *c = carla_read(&first);
    assert_int_equal(count_of(c, "/frame"), 1);
    MAKER after = cut_of(r, t0 + 4 * step + 1, REEL_TIME_MAX); /* the last frame covers nothing: the state alone */
    RECORDING *d = carla_read(&after);
    assert_findings(d, 0);
    assert_int_equal(count_of(d, "/frame"), 1);
    assert_int_equal(load_u16le(payload_of(d, "/event/add", 0, &message).data), 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rule_carla_01_strings_are_u16_length_and_bytes),
        cmocka_unit_test(rule_carla_02_unknown_packets_are_kept_each_in_its_channel),
        cmocka_unit_test(rule_carla_03_packets_outside_missing_ends_second_starts),
        cmocka_unit_test(rule_carla_04_a_frame_without_positions_or_lights_is_named),
        cmocka_unit_test(rule_carla_05_elapsed_and_duration_make_the_next_elapsed),
        cmocka_unit_test(rule_carla_06_size_0_is_no_data_and_misfits_are_flagged),
        cmocka_unit_test(rule_carla_07_a_window_holds_its_frames_and_begins_with_the_covering_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
