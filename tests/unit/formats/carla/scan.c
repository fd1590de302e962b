/* Reading CARLA recorder files: every version, every packet, every place where a file can break off. */
#include "makers/carla_scan.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/carla/layout.h"
#include "formats/carla/names.h"

static struct maker world_of(const char *name, unsigned frames) {
    for (unsigned i = 0; i < MAKE_STYLES; i++) {
        if (strcmp(make_styles[i].name, name) == 0) {
            return make_world(&make_styles[i], frames);
        }
    }
    fail_msg("no version %s", name);
    return (struct maker){0};
}

static void every_version_is_read_without_a_remark(void **state) {
    (void)state;
    static const char *const writers[MAKE_STYLES] = {
        "CARLA 0.9.4 or 0.9.5", "CARLA 0.9.6 to 0.9.9", "CARLA 0.9.10 or 0.9.11",  "CARLA 0.9.14",
        "CARLA 0.9.15",         "CARLA 0.9.16",         "CARLA of 2026 (ue4-dev)", "CARLA 0.10 (UE5)"};
    for (unsigned i = 0; i < MAKE_STYLES; i++) {
        const struct make_style *s = &make_styles[i];
        MAKER m = make_world(s, 5);
        RECORDING *r = carla_read(&m);
        assert_findings(r, 0);
        assert_string_equal(metadata_of(r, "written by (detected from packets)"), writers[i]);
        assert_string_equal(metadata_of(r, "map"), MAKE_MAP);
        assert_string_equal(metadata_of(r, "frames"), "5");
        assert_string_equal(metadata_of(r, "duration"), "0.5");
        assert_int_equal(info_of(r)->clock, REEL_CLOCK_WALL);
        assert_int_equal(info_of(r)->start_ns, MAKE_DATE * 1000000000);
        assert_int_equal(info_of(r)->end_ns, MAKE_DATE * 1000000000 + 500000000);
        assert_int_equal(count_of(r, "/frame"), 5);
        assert_int_equal(count_of(r, "/frame_end"), 5);
        assert_string_equal(fact_of(r, "/position", "vectors"), s->doubles ? "double" : "float");
        assert_string_equal(fact_of(r, "/event/add", "attribute_types_from"), s->attributes_from_1 ? "1" : "0");
        assert_string_equal(channel_named(r, "/position")->type, "carla/Position");
        assert_string_equal(channel_named(r, "/position")->encoding, "carla");
    }
}

static void packets_of_every_kind_have_their_channel(void **state) {
    (void)state;
    static const struct {
        const char *topic, *type, *id;
        unsigned count;
    } expected[] = {{"/visual_time", "carla/VisualTime", "20", 5},
                    {"/vehicle/door", "carla/VehicleDoor", "23", 5},
                    {"/vehicle/wheels", "carla/VehicleWheels", "21", 5},
                    {"/biker", "carla/Biker", "22", 5},
                    {"/weather", "carla/Weather", "24", 2},
                    {"/scene_light", "carla/SceneLight", "11", 2},
                    {"/physics_control", "carla/PhysicsControl", "15", 2},
                    {"/traffic_light/time", "carla/TrafficLightTime", "16", 1},
                    {"/trigger_volume", "carla/TriggerVolume", "17", 1},
                    {"/walker/bones", "carla/WalkerBones", "19", 5},
                    {"/bounding_box", "carla/BoundingBox", "13", 5},
                    {"/kinematics", "carla/Kinematics", "12", 5},
                    {"/platform_time", "carla/PlatformTime", "14", 5}};
    MAKER m = world_of("dev2026", 5);
    RECORDING *r = carla_read(&m);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(count_of(r, expected[i].topic), expected[i].count);
        assert_string_equal(channel_named(r, expected[i].topic)->type, expected[i].type);
        assert_string_equal(fact_of(r, expected[i].topic, "packet"), expected[i].id);
    }
    assert_string_equal(fact_of(r, "/physics_control", "wheel_bytes"), "48");
    assert_int_equal(info_of(r)->n_channels, 24);
}

static void the_second_numbering_is_detected_by_position_and_by_size(void **state) {
    (void)state;
    MAKER ue5 = world_of("ue5", 3);
    RECORDING *r = carla_read(&ue5);
    assert_string_equal(fact_of(r, "/vehicle/door", "packet"), "21");
    assert_string_equal(fact_of(r, "/vehicle/wheels", "packet"), "22");
    assert_string_equal(fact_of(r, "/biker", "packet"), "23");
    assert_string_equal(fact_of(r, "/biker", "numbering"), "ue5");
    assert_string_equal(fact_of(r, "/physics_control", "wheel_bytes"), "208");
    /* wheels in a frame without positions: their place says doors, their size does not */
    MAKER m = {0};
    make_header(&m, 1, MAKE_DATE, MAKE_MAP);
    make_start(&m, 1, -1, 0);
    struct make_list l = {.m = &m, .packet = make_packet(&m, 21)};
    make_number(&m, 0, 2);
    make_late(&l, 'V', 1);
    make_close(&m, l.packet);
    make_end(&m);
    RECORDING *wheels = carla_read(&m);
    assert_string_equal(fact_of(wheels, "/vehicle/wheels", "numbering"), "0.9.15");
    assert_int_equal(findings(wheels, REEL_WARNING, "packet 21"), 0);
}

static void wheels_of_36_and_48_bytes(void **state) {
    (void)state;
    MAKER old = world_of("0.9.10", 3), new = world_of("0.9.14", 3);
    RECORDING *r = carla_read(&old);
    assert_string_equal(fact_of(r, "/physics_control", "wheel_bytes"), "36");
    RECORDING *n = carla_read(&new);
    assert_string_equal(fact_of(n, "/physics_control", "wheel_bytes"), "48");
}

static void attributes_of_a_version_1_file_may_count_from_1(void **state) {
    (void)state;
    struct make_style s = make_styles[4];
    s.attributes_from_1 = true;
    MAKER m = make_world(&s, 2);
    RECORDING *r = carla_read(&m);
    assert_string_equal(fact_of(r, "/event/add", "attribute_types_from"), "1");
}

static void a_message_carries_its_frame_and_its_data(void **state) {
    (void)state;
    MAKER m = world_of("0.9.15", 3);
    RECORDING *r = carla_read(&m);
    struct reel_message message;
    struct reel_bytes data = payload_of(r, "/visual_time", 2, &message);
    double seconds;
    assert_int_equal(data.size, 8);
    memcpy(&seconds, data.data, 8);
    assert_true(seconds == 1.5);
    assert_int_equal(message.time_ns, MAKE_DATE * 1000000000 + 250000000);
    assert_int_equal(message.entry.extra[0], 3);
    struct reel_description d;
    struct reel_error err = {0};
    AUTO(reel_reader_free) struct reel_reader *reader = reel_reader_new(r, &err);
    assert_true(reel_reader_describe(reader, &message.entry, &d, &err));
    assert_int_equal(d.sequence, 3);
    assert_string_equal(packets_of(r), "0UCDEFGHIJKLVWMNROPQT10UCDEFGHIJKVWMNOT10UCDEFGHIJKLVWMNOPT1");
}

static void a_date_that_is_none_makes_the_clock_relative(void **state) {
    (void)state;
    static const int64_t dates[] = {0, -1, 5000, INT64_MAX, INT64_MIN, 9000000000};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        MAKER m = world_of("0.9.6", 2);
        make_patch(&m, CARLA_DATE_AT, (uint64_t)dates[i], 8);
        RECORDING *r = carla_read(&m);
        assert_int_equal(info_of(r)->clock, REEL_CLOCK_RELATIVE);
        assert_non_null(strstr(info_of(r)->clock_note, "no plausible date"));
        assert_int_equal(info_of(r)->end_ns, 125000000);
    }
}

static void headers_that_are_none(void **state) {
    (void)state;
    struct reel_error err = {0};
    MAKER m = world_of("0.9.6", 1);
    assert_null(carla_try(bytes_of("CARLA_RECORDER", 14), &err));
    assert_int_equal(err.code, REEL_NOT_MINE);
    for (size_t size = CARLA_DATE_AT; size < CARLA_HEADER_MIN + strlen(MAKE_MAP); size++) {
        assert_null(carla_try(bytes_of(m.data, size), &err));
        assert_int_equal(err.code, REEL_DAMAGED);
    }
    MAKER other = world_of("0.9.6", 1);
    make_patch(&other, 0, 3, 2);
    RECORDING *r = carla_read(&other);
    assert_finding(r, REEL_WARNING, 0, "version 3");
    assert_string_equal(info_of(r)->container, "CARLA recorder, version 3");
    MAKER empty = {0};
    make_header(&empty, 2, MAKE_DATE, "");
    RECORDING *none = carla_read(&empty);
    assert_int_equal(info_of(none)->messages, 0);
    assert_finding(none, REEL_NOTE, empty.size, "no frame");
}

static void the_probe_requires_the_magic(void **state) {
    (void)state;
    struct reel_error err = {0};
    MAKER m = world_of("0.9.6", 1);
    AUTO(reel_source_free)
    struct reel_source *source = reel_source_from_memory(bytes_of(m.data, m.size), "any.thing", &err);
    assert_ptr_equal(reel_format_probe(source, &err), &reel_format_carla);
    assert_int_equal(reel_format_carla.probe(bytes_of(m.data, 17), source, NULL), 0);
    m.data[2] = 13;
    assert_int_equal(reel_format_carla.probe(bytes_of(m.data, m.size), source, NULL), 0);
}

/* Cut around every packet's begin and end: all whole packets are kept, what is cut is reported. */
static void a_file_cut_anywhere_keeps_its_whole_packets(void **state) {
    (void)state;
    static const int nudges[] = {-1, 0, 1, 4, 5, 6};
    MAKER m = world_of("0.9.16", 2);
    RECORDING *whole = carla_read(&m);
    uint64_t ends[128];
    size_t n = 1, header = CARLA_HEADER_MIN + strlen(MAKE_MAP);
    struct reel_error err = {0};
    struct reel_message message;
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(whole, &selection_all);
    ends[0] = header;
    while (n < 128 && stream_next(s, &message, &err) == REEL_STEP_MESSAGE) {
        ends[n++] = message.entry.offset + message.entry.head + message.entry.size;
    }
    assert_int_equal(ends[n - 1], m.size);
    for (size_t i = 1; i < 6 * n; i++) {
        uint64_t size = ends[i / 6] + (uint64_t)(int64_t)nudges[i % 6];
        size_t kept = 0;
        while (kept + 1 < n && ends[kept + 1] <= size) {
            kept++;
        }
        if (size >= m.size || size < header) {
            continue;
        }
        AUTO(reel_recording_free) struct reel_recording *r = carla_try(bytes_of(m.data, size), &err);
        if (!r) { /* a file of which nothing is left may be refused */
            assert_int_equal(kept, 0);
            continue;
        }
        assert_int_equal(info_of(r)->messages, kept);
        assert_int_equal(findings(r, REEL_LOSS, "the file is truncated there"), ends[kept] != size);
        assert_int_equal(info_of(r)->lost_bytes, size - ends[kept]);
    }
}

static void a_size_that_was_never_written_is_the_end(void **state) {
    (void)state;
    static const char kinds[] = "CDEIPTVW";
    for (const char *kind = kinds; *kind; kind++) {
        MAKER m = {0};
        const struct make_style *s = &make_styles[7];
        const struct make_style *floats = &make_styles[5];
        const struct make_style *use = *kind == 'W' ? s : floats; /* wheels are 21 or 22 */
        make_header(&m, 1, MAKE_DATE, MAKE_MAP);
        make_frame(&m, use, 1, false);
        make_start(&m, 2, -1, 0.125);
        size_t at = m.size;
        make_none(&m, (uint8_t)(*kind - 'A'));
        make_patch(&m, at + 1, 0, 4);
        make_patch(&m, at + 5, 3, 2); /* three records, of which this much was written */
        make_number(&m, 0x01020304, 4);
        make_number(&m, UINT64_C(0x1122334455667788), 8);
        RECORDING *r = carla_read(&m);
        assert_finding(r, REEL_LOSS, at, "its size was never written");
        assert_finding(r, REEL_LOSS, m.size, "ends inside frame 2");
        assert_int_equal(info_of(r)->lost_bytes, m.size - at);
        assert_int_equal(count_of(r, "/frame"), 2);
    }
}

static void after_damage_the_walk_continues_at_the_end_of_a_frame(void **state) {
    (void)state;
    MAKER m = {0};
    const struct make_style *s = &make_styles[4];
    make_header(&m, 1, MAKE_DATE, MAKE_MAP);
    make_frame(&m, s, 1, false);
    size_t second = m.size;
    make_frame(&m, s, 2, false);
    make_frame(&m, s, 3, false);
    make_frame(&m, s, 4, true);
    make_patch(&m, second + 29 + 1, 0x7fffffff, 4); /* the size of its first packet */
    RECORDING *r = carla_read(&m);
    assert_finding(r, REEL_LOSS, second + 29, "continued at the end of a frame");
    assert_int_equal(count_of(r, "/frame"), 4);
    assert_int_equal(count_of(r, "/frame_end"), 4);
    assert_int_equal(count_of(r, "/position"), 3);
    assert_true(info_of(r)->damaged);
    assert_true(info_of(r)->lost_bytes > 0);
}

static void times_never_decrease_whatever_elapsed_is(void **state) {
    (void)state;
    static const double bad[] = {-1, 1e300, 0.0, 1e8};
    for (size_t i = 0; i < 6; i++) {
        MAKER m = {0};
        make_header(&m, 1, MAKE_DATE, MAKE_MAP);
        for (unsigned f = 1; f <= 4; f++) {
            double elapsed = f != 3 ? make_elapsed(f) : i < 4 ? bad[i] : i == 4 ? 0.0 / 0.0 * 1 : 1.0 / 0.0 * -1;
            make_start(&m, f, f == 4 ? -1 : 0.125, elapsed);
            make_body(&m, &make_styles[0], f);
            make_end(&m);
        }
        RECORDING *r = carla_read(&m);
        assert_int_equal(info_of(r)->end_ns - info_of(r)->start_ns, 375000000);
        struct reel_message message;
        payload_of(r, "/frame", 2, &message);
        assert_int_equal(message.time_ns - info_of(r)->start_ns, 250000000);
        assert_int_equal(findings(r, REEL_WARNING, "frame 3 at"), 1);
    }
}

static void totals_that_wrapped_are_read(void **state) {
    (void)state;
    enum { RECORDS = 65536 + 3 };
    MAKER m = {0};
    make_header(&m, 1, MAKE_DATE, MAKE_MAP);
    make_start(&m, 1, -1, 0);
    make_none(&m, 6);
    make_none(&m, 7);
    size_t p = make_packet(&m, 9);
    make_number(&m, RECORDS, 2);
    for (unsigned i = 0; i < RECORDS; i++) {
        make_number(&m, i, 8);
    }
    make_close(&m, p);
    make_end(&m);
    RECORDING *r = carla_read(&m);
    assert_findings(r, 1);
    assert_finding(r, REEL_NOTE, 0, "totals have wrapped");
}

/* Where CARLA's documents say other than its files. */
static void a_total_of_32_bits(void **state) {
    (void)state;
    MAKER m = {0};
    make_header(&m, 1, MAKE_DATE, MAKE_MAP);
    make_start(&m, 1, -1, 0);
    size_t p = make_packet(&m, 3);
    make_number(&m, 3, 4);
    for (unsigned i = 0; i < 3; i++) {
        make_number(&m, 70000 + i, 4);
    }
    make_close(&m, p);
    make_none(&m, 6);
    make_none(&m, 7);
    make_end(&m);
    RECORDING *r = carla_read(&m);
    assert_findings(r, 1);
    assert_finding(r, REEL_NOTE, 0, "1 lists have a total of 32 bits");
    struct reel_message message;
    struct reel_bytes data = payload_of(r, "/event/del", 0, &message);
    uint32_t count;
    struct carla_layout layout = {0};
    assert_true(carla_count(CARLA_EVENT_DEL, &layout, data, &count));
    assert_int_equal(count, 3);
    struct cursor c = carla_records(CARLA_EVENT_DEL, data);
    assert_int_equal(cursor_u32le(&c), 70000);
}

static void a_date_since_1900_is_remarked(void **state) {
    (void)state;
    MAKER m = {0};
    make_header(&m, 1, MAKE_DATE + 2208988800, MAKE_MAP);
    RECORDING *r = carla_read(&m);
    assert_finding(r, REEL_NOTE, CARLA_DATE_AT, "the date is 2090-");
    assert_finding(r, REEL_NOTE, CARLA_DATE_AT, "would be 2020-");
}

static void packets_out_of_order_are_remarked(void **state) {
    (void)state;
    MAKER m = {0};
    make_header(&m, 1, MAKE_DATE, MAKE_MAP);
    make_start(&m, 1, 0.5, 0);
    make_none(&m, 7);
    size_t first = m.size;
    make_none(&m, 6);
    make_none(&m, 2);
    make_end(&m);
    make_start(&m, 2, -1, 0.5);
    make_none(&m, 6);
    make_none(&m, 7);
    make_end(&m);
    RECORDING *r = carla_read(&m);
    assert_findings(r, 1);
    assert_finding(r, REEL_NOTE, first, "2 packets are not in the order");
}

static void types_of_actors_have_the_names_of_the_version(void **state) {
    (void)state;
    const struct carla_layout old = {.types = CARLA_TYPES_094}, middle = {.types = CARLA_TYPES_0910}, now = {0};
    assert_string_equal(carla_type_name(3, &old), "traffic_light");
    assert_string_equal(carla_type_name(4, &old), "invalid");
    assert_string_equal(carla_type_name(5, &old), "unknown");
    assert_string_equal(carla_type_name(4, &middle), "traffic_sign");
    assert_string_equal(carla_type_name(5, &middle), "invalid");
    assert_string_equal(carla_type_name(5, &now), "sensor");
    assert_string_equal(carla_type_name(6, &now), "invalid");
}

static void what_many_frames_lack_is_summarised(void **state) {
    (void)state;
    MAKER m = {0};
    make_header(&m, 1, MAKE_DATE, MAKE_MAP);
    for (unsigned f = 1; f <= 100; f++) {
        make_start(&m, f, f == 100 ? -1 : 0.125, make_elapsed(f));
        make_none(&m, 6);
        make_end(&m);
    }
    RECORDING *r = carla_read(&m);
    assert_findings(r, 21);
    assert_int_equal(findings(r, REEL_WARNING, "80 more frames have no traffic light packet"), 1);
}

/* A sparse file: 3 GiB of user data in the first frame, then another frame. */
static void files_of_more_than_2_gib(void **state) {
    (void)state;
    enum { GIB = 1 << 30 };
    MAKER first = {0}, second = {0};
    make_header(&first, 1, MAKE_DATE, MAKE_MAP);
    make_start(&first, 1, 0.125, 0);
    make_none(&first, 6);
    make_none(&first, 7);
    make_patch(&first, make_packet(&first, 200) - 4, UINT64_C(3) * GIB, 4);
    make_end(&second);
    make_frame(&second, &make_styles[1], 2, true);
    const char *path = REEL_SCRATCH "/large.log";
    FILE *file = fopen(path, "wbe");
    assert_true(file && fwrite(first.data, first.size, 1, file) == 1 && fseeko(file, (off_t)3 * GIB, SEEK_CUR) == 0 &&
                fwrite(second.data, second.size, 1, file) == 1 && fclose(file) == 0);
    struct reel_error err = {0};
    struct reel_source *source = reel_source_open(path, NULL, &err);
    assert_non_null(source);
    if (!reel_scan_run(&source, 1, &reel_format_carla, CARLA_PACK, NULL, &err)) {
        fail_msg("%s", err.text);
    }
    RECORDING *r = reel_recording_from_index(reel_index_open(CARLA_PACK, &err), &source, 1,
                                             &(struct reel_recording_options){0}, &err);
    assert_non_null(r);
    assert_findings(r, 0);
    assert_int_equal(count_of(r, "/frame"), 2);
    struct reel_message message;
    payload_of(r, "/frame", 1, &message);
    assert_int_equal(message.entry.offset, first.size + UINT64_C(3) * GIB + 5);
    assert_int_equal(reel_index_stats(reel_recording_index(r), channel_named(r, "/packet_200")->id)->bytes,
                     UINT64_C(3) * GIB);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_is_read_without_a_remark),
        cmocka_unit_test(packets_of_every_kind_have_their_channel),
        cmocka_unit_test(the_second_numbering_is_detected_by_position_and_by_size),
        cmocka_unit_test(wheels_of_36_and_48_bytes),
        cmocka_unit_test(attributes_of_a_version_1_file_may_count_from_1),
        cmocka_unit_test(a_message_carries_its_frame_and_its_data),
        cmocka_unit_test(a_date_that_is_none_makes_the_clock_relative),
        cmocka_unit_test(headers_that_are_none),
        cmocka_unit_test(the_probe_requires_the_magic),
        cmocka_unit_test(a_file_cut_anywhere_keeps_its_whole_packets),
        cmocka_unit_test(a_size_that_was_never_written_is_the_end),
        cmocka_unit_test(after_damage_the_walk_continues_at_the_end_of_a_frame),
        cmocka_unit_test(times_never_decrease_whatever_elapsed_is),
        cmocka_unit_test(totals_that_wrapped_are_read),
        cmocka_unit_test(a_total_of_32_bits),
        cmocka_unit_test(a_date_since_1900_is_remarked),
        cmocka_unit_test(packets_out_of_order_are_remarked),
        cmocka_unit_test(types_of_actors_have_the_names_of_the_version),
        cmocka_unit_test(what_many_frames_lack_is_summarised),
        cmocka_unit_test(files_of_more_than_2_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
