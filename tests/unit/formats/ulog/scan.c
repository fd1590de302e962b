/* Reading ULog files: topics, times, texts, parameters, infos, and what is damaged. The golden files have one defect
 * each; here is what they do not show. */
#define BAG_FORMAT &reel_format_ulog
#include "makers/ulog_maker.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/ulog/container.h"
#include "makers/bag_scan.h"
#include "makers/decode_text.h"

static void free_maker(struct maker *m) {
    free(m->data);
}
#define MAKER __attribute__((cleanup(free_maker))) struct maker
#define RECORDING AUTO(reel_recording_free) struct reel_recording

static const struct reel_channel *channel_of(const struct reel_recording *r, const char *topic) {
    for (uint32_t i = 0; i < bag_info(r)->n_channels; i++) {
        if (strcmp(bag_channel(r, i)->name, topic) == 0) {
            return bag_channel(r, i);
        }
    }
    fail_msg("no topic %s", topic);
    return NULL;
}

/* Message n of a topic as JSON, and its time. */
static const char *message_of(struct reel_recording *r, const char *topic, unsigned n, int64_t *time_ns) {
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
    struct reel_message m;
    struct reel_bytes payload;
    while (stream_next(s, &m, &err) == REEL_STEP_MESSAGE) {
        if (strcmp(s->channels[m.channel]->name, topic) == 0 && n-- == 0) {
            assert_true(reel_stream_payload(s, &m, &payload, &err));
            if (time_ns) {
                *time_ns = m.time_ns;
            }
            return decode_text(s->channels[m.channel], payload);
        }
    }
    return "(none)";
}

static const char *metadata_of(const struct reel_recording *r, const char *key, unsigned n) {
    const struct reel_pairs *all = reel_index_metadata(reel_recording_index(r));
    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(all->items[i].key, key) == 0 && n-- == 0) {
            return all->items[i].value;
        }
    }
    return "(none)";
}

/* ---- values */

static void values_of_every_type(void **state) {
    (void)state;
    MAKER m = {0};
    ulg_header(&m, 1);
    ulg_format(&m, "all:uint64_t timestamp;bool b;char c;int8_t i8;uint8_t u8;int16_t i16;uint16_t u16;int32_t i32;"
                   "uint32_t u32;int64_t i64;uint64_t u64;float f;double d;uint8_t[3] bytes;char[4] text;bool[2] bits;"
                   "uint8_t[2] _padding0;int16_t last;");
    ulg_subscribe(&m, 0, 0, "all");
    size_t at = ulg_data(&m, 0, 5);
    make_bytes(&m, "\1x\xff\xff\xfe\xff\xfe\xff\xfd\xff\xff\xff\xfd\xff\xff\xff", 16);
    make_number(&m, (uint64_t)-9007199254740993, 8);
    make_number(&m, UINT64_MAX, 8);
    ulg_f32(&m, 0.1f);
    ulg_f64(&m, 0.1);
    make_bytes(&m, "\1\2\3ab\0c\1\0\xee\xee\xff\xff", 13);
    ulg_end(&m, at);
    RECORDING *r = bag_scan(&m);
    bag_assert_no_findings(r);
    assert_string_equal(
        message_of(r, "/all", 0, NULL),
        "{\"timestamp\":5,\"b\":true,\"c\":\"x\",\"i8\":-1,\"u8\":255,\"i16\":-2,\"u16\":65534,\"i32\":-3,"
        "\"u32\":4294967293,\"i64\":\"-9007199254740993\",\"u64\":\"18446744073709551615\",\"f\":0.1,"
        "\"d\":0.1,\"bytes\":[1,2,3],\"text\":\"ab\",\"bits\":[true,false],\"last\":-1}");
    assert_string_equal(decode_fields(channel_of(r, "/all")),
                        "timestamp uint64 numeric\nb bool numeric\nc string\ni8 int8 numeric\nu8 uint8 numeric\n"
                        "i16 int16 numeric\nu16 uint16 numeric\ni32 int32 numeric\nu32 uint32 numeric\n"
                        "i64 int64 numeric\nu64 uint64 numeric\nf float32 numeric\nd float64 numeric\n"
                        "bytes.0 uint8 numeric\nbytes.1 uint8 numeric\nbytes.2 uint8 numeric\ntext string\n"
                        "bits.0 bool numeric\nbits.1 bool numeric\nlast int16 numeric\n");
}

static void formats_in_formats(void **state) {
    (void)state;
    MAKER m = {0};
    ulg_flight(&m, 4, true);
    RECORDING *r = bag_scan(&m);
    bag_assert_no_findings(r);
    assert_string_equal(message_of(r, "/esc_status", 0, NULL),
                        "{\"timestamp\":112664000,\"counter\":7,\"esc_count\":2,\"esc\":[{\"timestamp\":112664000,"
                        "\"esc_rpm\":5000,\"voltage\":16.5,\"state\":\"a\"},{\"timestamp\":112663999,\"esc_rpm\":-1,"
                        "\"voltage\":\"NaN\",\"state\":\"b\"}],\"tail\":-3}");
    const struct reel_channel *c = channel_of(r, "/esc_status");
    assert_string_equal(c->type, "ulog/esc_status");
    assert_string_equal(c->encoding, "ulog");
    assert_true(bytes_is(c->schemas[0].data,
                         "uint64 timestamp\nuint16 counter\nuint8 esc_count\nuint8[5] ulog_padding0\n"
                         "ulog/esc_report[2] esc\nint8 tail\n"
                         "================================================================================\n"
                         "MSG: ulog/esc_report\nuint64 timestamp\nint32 esc_rpm\nfloat64 voltage\nchar state\n"
                         "uint8[3] ulog_padding0\n"));
}

/* Each is resolved before the next one that holds it, so that no call is deep. */
static void formats_are_nested_to_a_limit(void **state) {
    (void)state;
    char text[96];
    MAKER m = {0};
    ulg_header(&m, 1);
    ulg_format(&m, "f0:uint64_t timestamp;");
    for (unsigned i = 1; i < 200; i++) {
        snprintf(text, sizeof text, "f%u:uint64_t timestamp;f%u in;", i, i - 1);
        ulg_format(&m, text);
    }
    for (unsigned i = 0; i < 200; i++) {
        snprintf(text, sizeof text, "f%u", i);
        ulg_subscribe(&m, 0, i, text);
        ulg_end(&m, ulg_data(&m, i, 5));
    }
    RECORDING *r = bag_scan(&m);
    assert_int_equal(bag_findings(r, REEL_WARNING, "formats are nested too deep"), 200 - (ULOG_NESTED_MAX + 1));
    bag_assert_finding(r, REEL_WARNING, "f17 has no format that can be read (formats are nested too deep)");
    assert_non_null(strstr((const char *)channel_of(r, "/f16")->schemas[0].data.data, "MSG: ulog/f0\n"));
}

static void padding_at_the_end_may_be_there(void **state) {
    (void)state;
    MAKER m = {0};
    ulg_definitions(&m);
    ulg_subscriptions(&m);
    ulg_accel(&m, 0, ULG_FIRST, 1, false);
    ulg_accel(&m, 0, ULG_FIRST + 1, 2, true);
    RECORDING *r = bag_scan(&m);
    bag_assert_no_findings(r);
    assert_int_equal(bag_stats(r, 1)->bytes, 2 * 27);
    assert_string_equal(message_of(r, "/sensor_accel", 1, NULL),
                        "{\"timestamp\":112600001,\"x\":2,\"y\":-2,\"z\":9.75,\"device_id\":1310988,"
                        "\"clip_counter\":[1,2,2]}");
}

static void texts_and_parameters(void **state) {
    (void)state;
    MAKER m = {0};
    int64_t time;
    ulg_flight(&m, 8, false);
    RECORDING *r = bag_scan(&m);
    assert_string_equal(message_of(r, "/log_message", 0, &time),
                        "{\"header\":{\"seq\":0,\"stamp\":{\"sec\":112,\"nsec\":663000000},\"frame_id\":\"\"},"
                        "\"level\":2,\"name\":\"\",\"msg\":\"Takeoff detected\",\"file\":\"\",\"function\":\"INFO\","
                        "\"line\":0,\"topics\":[]}");
    assert_int_equal(time, 112663000000);
    assert_non_null(strstr(message_of(r, "/log_message", 1, NULL),
                           "\"level\":4,\"name\":\"tag 12\",\"msg\":\"Low battery\",\"file\":\"\","
                           "\"function\":\"WARNING\""));
    assert_string_equal(message_of(r, "/parameters", 0, &time), "{\"name\":\"MC_ROLL_P\",\"value\":7.1}");
    assert_int_equal(time, 112701000000); /* that of the message before */
    assert_string_equal(message_of(r, "/parameters", 1, NULL), "{\"name\":\"SYS_AUTOSTART\",\"value\":-2147483647}");
    assert_string_equal(message_of(r, "/dropout", 0, NULL), "{\"duration\":95}");
    assert_string_equal(message_of(r, "/debug_key_value", 1, NULL),
                        "{\"timestamp\":112743000,\"value\":-1,\"key\":\"ten_bytes_\"}");
    bag_assert_finding(r, REEL_WARNING, "dropouts, in which the logger lost messages: 1, 95 ms in all");
}

static void every_level_of_a_text(void **state) {
    (void)state;
    static const char *const names[] = {"EMERG", "ALERT", "CRIT", "ERR", "WARNING", "NOTICE", "INFO", "DEBUG"};
    static const unsigned levels[] = {16, 16, 16, 8, 4, 2, 2, 1};
    MAKER m = {0};
    ulg_header(&m, 1);
    for (unsigned i = 0; i < 8; i++) {
        ulg_text(&m, i, -1, i, "");
    }
    RECORDING *r = bag_scan(&m);
    for (unsigned i = 0; i < 8; i++) {
        char level[32], name[32];
        snprintf(level, sizeof level, "\"level\":%u,", levels[i]);
        snprintf(name, sizeof name, "\"function\":\"%s\"", names[i]);
        const char *text = message_of(r, "/log_message", i, NULL);
        assert_true(strstr(text, level) && strstr(text, name));
    }
}

static void names_may_have_any_characters(void **state) {
    (void)state;
    MAKER m = {0};
    ulg_header(&m, 1);
    ulg_format(&m, "a.b/c-d:uint64_t timestamp;float x.y;uint8_t 2nd;int8_t _own;uint8_t[2] _padding1;");
    ulg_subscribe(&m, 3, 0, "a.b/c-d");
    size_t at = ulg_data(&m, 0, 5);
    make_bytes(&m, "\0\0\x80\x3f\2\xff", 6);
    ulg_end(&m, at);
    RECORDING *r = bag_scan(&m);
    bag_assert_no_findings(r);
    assert_string_equal(channel_of(r, "/a.b/c-d/3")->type, "ulog/a_b_c_d");
    assert_string_equal(message_of(r, "/a.b/c-d/3", 0, NULL),
                        "{\"timestamp\":5,\"x_y\":1,\"ulog_2nd\":2,\"ulog_own\":-1}");
}

/* ---- times */

static void gps_gives_the_time_of_day(void **state) {
    (void)state;
    MAKER m = {0}, never = {0};
    int64_t time;
    ulg_flight(&m, 6, true);
    RECORDING *r = bag_scan(&m);
    assert_int_equal(bag_info(r)->clock, REEL_CLOCK_WALL);
    message_of(r, "/vehicle_gps_position", 1, &time);
    assert_int_equal(time, (int64_t)(ULG_UTC + 4 * ULG_STEP) * 1000);
    message_of(r, "/vehicle_attitude", 0, &time); /* before the first one that knows */
    assert_int_equal(time, (int64_t)(ULG_UTC - 2000) * 1000);
    ulg_flight(&never, 6, false);
    RECORDING *relative = bag_scan(&never);
    assert_int_equal(bag_info(relative)->clock, REEL_CLOCK_RELATIVE);
    assert_int_equal(bag_info(relative)->start_ns, (int64_t)ULG_FIRST * 1000);
}

static void times_of_the_wrong_decade_are_none(void **state) {
    (void)state;
    static const uint64_t wrong[] = {1, 315964800000000, 1234567889999999, 4102444800000001, UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        MAKER m = {0};
        ulg_definitions(&m);
        ulg_subscriptions(&m);
        ulg_gps(&m, ULG_FIRST, wrong[i]);
        RECORDING *r = bag_scan(&m);
        assert_int_equal(bag_info(r)->clock, REEL_CLOCK_RELATIVE);
    }
}

static void a_gap_is_no_damage(void **state) {
    (void)state;
    MAKER m = {0};
    int64_t time;
    const uint64_t later = ULG_FIRST + UINT64_C(400000000000); /* 4.6 days */
    ulg_definitions(&m);
    ulg_subscriptions(&m);
    ulg_attitude(&m, ULG_FIRST, 0);
    ulg_attitude(&m, later, 1);
    ulg_attitude(&m, later + 1000, 2);
    ulg_attitude(&m, later + 2000, 3);
    RECORDING *r = bag_scan(&m);
    bag_assert_finding(r, REEL_WARNING, "times that are more than a day later than others are not used: 1,");
    assert_non_null(strstr(message_of(r, "/vehicle_attitude", 3, &time), "\"reset_counter\":3"));
    assert_int_equal(time, (int64_t)(later + 2000) * 1000);
}

/* ---- metadata */

static void infos_are_metadata(void **state) {
    (void)state;
    MAKER m = {0};
    ulg_flight(&m, 1, false);
    ulg_info_text(&m, "late", "in the data");
    ulg_info(&m, 'I', -1, "uint32_t sys_os_ver_release", "\xff\0\0\x09", 4);
    ulg_info(&m, 'I', -1, "double[2] pair", "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\xf8\x7f", 16);
    RECORDING *r = bag_scan(&m);
    bag_assert_no_findings(r);
    static const char *const pairs[][2] = {
        {"sys_name", "PX4"},
        {"ver_hw", "PX4_SITL"},
        {"ver_sw_release", "v1.14.2-beta2"},
        {"sys_os_ver_release", "v9.0.0"},
        {"time_ref_utc", "-3600"},
        {"boot_console_output", "first second"},
        {"perf_top", "one"},
        {"cells", "1 258"},
        {"late", "in the data"},
        {"pair", "1 nan"},
        {"parameters.MC_ROLL_P", "6.5"},
        {"parameters.MC_PITCH_P", "0.1"},
        {"parameters.SYS_AUTOSTART", "4001"},
        {"system_defaults.MC_ROLL_P", "5"},
        {"setup_defaults.MC_ROLL_P", "5"},
        {"system_defaults.SYS_AUTOSTART", "(none)"},
        {"setup_defaults.SYS_AUTOSTART", "0"},
        {"ulog.start_us", "112500000"},
        {"metadata_events", "(none)"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_string_equal(metadata_of(r, pairs[i][0], 0), pairs[i][1]);
    }
    assert_string_equal(metadata_of(r, "perf_top", 1), "two");
}

static void bytes_are_attachments(void **state) {
    (void)state;
    MAKER m = {0};
    ulg_flight(&m, 1, false);
    RECORDING *r = bag_scan(&m);
    size_t n;
    const struct reel_attachment *all = reel_index_attachments(reel_recording_index(r), &n);
    static const char *const names[] = {"blob", "metadata_events.0", "metadata_events.1"};
    static const uint64_t sizes[] = {3, 4, 2};
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(all[i].name, names[i]);
        assert_int_equal(all[i].size, sizes[i]);
    }
    assert_memory_equal(m.data + all[1].offset,
                        "\xfd"
                        "7zX",
                        4);
}

/* ---- damage */

/* Bytes of a message in the middle become others: what follows it is there. */
static void every_message_may_be_damaged(void **state) {
    (void)state;
    MAKER whole = {0};
    ulg_flight(&whole, 8, false);
    size_t first = 0;
    for (size_t at = 16; at + 3 <= whole.size; at += 3 + (size_t)load_u16le(whole.data + at)) {
        first = first == 0 && whole.data[at + 2] == 'D' ? at : first;
    }
    uint64_t all = 0;
    {
        RECORDING *r = bag_scan(&whole);
        all = bag_info(r)->messages;
    }
    for (size_t at = first; at + 60 < whole.size; at += 3 + (size_t)load_u16le(whole.data + at)) {
        MAKER m = {0};
        make_bytes(&m, whole.data, whole.size);
        size_t size = 3 + (size_t)load_u16le(whole.data + at);
        memset(m.data + at, 0xdd, size < 9 ? size : 9);
        RECORDING *r = bag_scan(&m);
        assert_in_range(bag_info(r)->messages, all - 1, all); /* a sync message is none */
    }
}

static void a_log_without_its_formats_is_bytes(void **state) {
    (void)state;
    MAKER m = {0};
    ulg_header(&m, 1);
    ulg_subscriptions(&m);
    ulg_frame(&m, 1, false);
    RECORDING *r = bag_scan(&m);
    assert_int_equal(bag_findings(r, REEL_WARNING, "has no format that can be read (there is none)"), 6);
    assert_int_equal(bag_info(r)->messages, 3);
    assert_non_null(strstr(message_of(r, "/sensor_accel", 0, NULL), "holds no definition of ulog/sensor_accel"));
}

static void what_is_no_log_is_refused(void **state) {
    (void)state;
    static const char *const starts[] = {"", "ULog", "ULog\x01\x12\x34 and more bytes"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct reel_error err = {0};
        assert_null(bag_try(bytes_text(starts[i]), &err));
        assert_int_equal(err.code, REEL_NOT_MINE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_every_type),
        cmocka_unit_test(formats_in_formats),
        cmocka_unit_test(formats_are_nested_to_a_limit),
        cmocka_unit_test(names_may_have_any_characters),
        cmocka_unit_test(padding_at_the_end_may_be_there),
        cmocka_unit_test(texts_and_parameters),
        cmocka_unit_test(every_level_of_a_text),
        cmocka_unit_test(gps_gives_the_time_of_day),
        cmocka_unit_test(times_of_the_wrong_decade_are_none),
        cmocka_unit_test(a_gap_is_no_damage),
        cmocka_unit_test(infos_are_metadata),
        cmocka_unit_test(bytes_are_attachments),
        cmocka_unit_test(every_message_may_be_damaged),
        cmocka_unit_test(a_log_without_its_formats_is_bytes),
        cmocka_unit_test(what_is_no_log_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
