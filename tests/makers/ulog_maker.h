/* Makes PX4 ULog files in memory, byte by byte from the specification. For tests and golden inputs; shares no line with
 * the reader. */
#ifndef TESTS_ULOG_MAKER_H
#define TESTS_ULOG_MAKER_H

#include "makers/bag_maker.h"

#include <stdbool.h>
#include <stdio.h>

#define ULG_START 112500000ull      /* µs since boot */
#define ULG_UTC 1700000000000000ull /* of the GPS message at ULG_FIRST + 2000 */
#define ULG_FIRST (ULG_START + 100000)
#define ULG_STEP 20000

enum ulg_id { ULG_ATTITUDE, ULG_ACCEL, ULG_ACCEL_1, ULG_GPS, ULG_DEBUG, ULG_ESC };

static inline void ulg_header(struct maker *m, unsigned version) {
    make_bytes(m, "ULog\x01\x12\x35", 7);
    make_number(m, version, 1);
    make_number(m, ULG_START, 8);
}
/* ulg_begin(), the data, ulg_end(). */
static inline size_t ulg_begin(struct maker *m, char type) {
    make_number(m, 0, 2);
    make_number(m, (uint8_t)type, 1);
    return m->size;
}
static inline void ulg_end(struct maker *m, size_t begin) {
    make_patch(m, begin - 3, m->size - begin, 2);
}
static inline void ulg_message(struct maker *m, char type, const void *data, size_t size) {
    size_t at = ulg_begin(m, type);
    make_bytes(m, data, size);
    ulg_end(m, at);
}
static inline void ulg_flags(struct maker *m, unsigned incompatible, uint64_t appended) {
    size_t at = ulg_begin(m, 'B');
    make_number(m, 1, 8);
    make_number(m, incompatible, 8);
    make_number(m, appended, 8);
    make_number(m, 0, 8);
    make_number(m, 0, 8);
    ulg_end(m, at);
}
static inline void ulg_format(struct maker *m, const char *text) {
    ulg_message(m, 'F', text, strlen(text));
}
/* I, M, P or Q; `first` < 0: nothing stands before the size of the key. */
static inline void ulg_info(struct maker *m, char type, int first, const char *key, const void *value, size_t size) {
    size_t at = ulg_begin(m, type);
    if (first >= 0) {
        make_number(m, (unsigned)first, 1);
    }
    make_number(m, strlen(key), 1);
    make_text(m, key);
    make_bytes(m, value, size);
    ulg_end(m, at);
}
static inline void ulg_info_text(struct maker *m, const char *name, const char *text) {
    char key[128];
    snprintf(key, sizeof key, "char[%zu] %s", strlen(text), name);
    ulg_info(m, 'I', -1, key, text, strlen(text));
}
static inline void ulg_parameter(struct maker *m, const char *name, float value) {
    char key[128];
    snprintf(key, sizeof key, "float %s", name);
    ulg_info(m, 'P', -1, key, &value, 4);
}
static inline void ulg_parameter_int(struct maker *m, const char *name, int32_t value) {
    char key[128];
    snprintf(key, sizeof key, "int32_t %s", name);
    ulg_info(m, 'P', -1, key, &value, 4);
}
static inline void ulg_subscribe(struct maker *m, unsigned instance, unsigned id, const char *name) {
    size_t at = ulg_begin(m, 'A');
    make_number(m, instance, 1);
    make_number(m, id, 2);
    make_text(m, name);
    ulg_end(m, at);
}
/* A D message begins: its id and timestamp. */
static inline size_t ulg_data(struct maker *m, unsigned id, uint64_t us) {
    size_t at = ulg_begin(m, 'D');
    make_number(m, id, 2);
    make_number(m, us, 8);
    return at;
}
static inline void ulg_f32(struct maker *m, float v) {
    make_bytes(m, &v, 4);
}
static inline void ulg_f64(struct maker *m, double v) {
    make_bytes(m, &v, 8);
}
static inline void ulg_text(struct maker *m, unsigned level, int tag, uint64_t us, const char *text) {
    size_t at = ulg_begin(m, tag < 0 ? 'L' : 'C');
    make_number(m, '0' + level, 1);
    if (tag >= 0) {
        make_number(m, (unsigned)tag, 2);
    }
    make_number(m, us, 8);
    make_text(m, text);
    ulg_end(m, at);
}
static inline void ulg_sync(struct maker *m) {
    ulg_message(m, 'S', "\x2f\x73\x13\x20\x25\x0c\xbb\x12", 8);
}
static inline void ulg_dropout(struct maker *m, unsigned ms) {
    size_t at = ulg_begin(m, 'O');
    make_number(m, ms, 2);
    ulg_end(m, at);
}

/* ---- a short flight */

static inline void ulg_formats(struct maker *m) {
    ulg_format(m, "vehicle_attitude:uint64_t timestamp;uint64_t timestamp_sample;float[4] q;uint8_t reset_counter;"
                  "uint8_t[7] _padding0;");
    ulg_format(m, "sensor_accel:uint64_t timestamp;float x;float y;float z;uint32_t device_id;uint8_t[3] clip_counter;"
                  "uint8_t[1] _padding0;");
    ulg_format(m, "vehicle_gps_position:uint64_t timestamp;uint64_t time_utc_usec;int32_t lat;int32_t lon;float eph;"
                  "uint8_t fix_type;bool vel_ned_valid;uint8_t[2] _padding0;");
    ulg_format(m, "debug_key_value:uint64_t timestamp;float value;char[10] key;uint8_t[2] _padding0;");
    ulg_format(m, "esc_status:uint64_t timestamp;uint16_t counter;uint8_t esc_count;uint8_t[5] _padding0;"
                  "esc_report[2] esc;int8_t tail;");
    ulg_format(m, "esc_report:uint64_t timestamp;int32_t esc_rpm;double voltage;char state;uint8_t[3] _padding0;");
}
static inline void ulg_infos(struct maker *m) {
    ulg_info_text(m, "sys_name", "PX4");
    ulg_info_text(m, "ver_hw", "PX4_SITL");
    ulg_info(m, 'I', -1, "uint32_t ver_sw_release", "\x82\x02\x0e\x01", 4);
    ulg_info(m, 'I', -1, "int32_t time_ref_utc", "\xf0\xf1\xff\xff", 4);
    ulg_info(m, 'M', 0, "char[6] boot_console_output", "first ", 6);
    ulg_info(m, 'M', 1, "char[6] boot_console_output", "second", 6);
    ulg_info(m, 'M', 0, "char[3] perf_top", "one", 3);
    ulg_info(m, 'M', 0, "char[3] perf_top", "two", 3);
    ulg_info(m, 'M', 0, "uint8_t[4] metadata_events",
             "\xfd"
             "7zX",
             4);
    ulg_info(m, 'M', 1, "uint8_t[2] metadata_events", "Z\0", 2);
    ulg_info(m, 'I', -1, "uint16_t[2] cells", "\1\0\2\1", 4);
    ulg_info(m, 'I', -1, "uint8_t[3] blob", "\1\2\3", 3);
}
static inline void ulg_parameters(struct maker *m) {
    ulg_parameter(m, "MC_ROLL_P", 6.5f);
    ulg_parameter_int(m, "SYS_AUTOSTART", 4001);
    ulg_parameter(m, "MC_PITCH_P", 0.1f);
    float system = 5;
    ulg_info(m, 'Q', 3, "float MC_ROLL_P", &system, 4);
    ulg_info(m, 'Q', 2, "int32_t SYS_AUTOSTART", "\0\0\0\0", 4);
}
static inline void ulg_subscriptions(struct maker *m) {
    ulg_subscribe(m, 0, ULG_ATTITUDE, "vehicle_attitude");
    ulg_subscribe(m, 0, ULG_ACCEL, "sensor_accel");
    ulg_subscribe(m, 1, ULG_ACCEL_1, "sensor_accel");
    ulg_subscribe(m, 0, ULG_GPS, "vehicle_gps_position");
    ulg_subscribe(m, 0, ULG_DEBUG, "debug_key_value");
    ulg_subscribe(m, 0, ULG_ESC, "esc_status");
}

static inline void ulg_attitude(struct maker *m, uint64_t us, unsigned n) {
    size_t at = ulg_data(m, ULG_ATTITUDE, us);
    make_number(m, us - 500, 8);
    ulg_f32(m, 1);
    ulg_f32(m, 0);
    ulg_f32(m, 0);
    ulg_f32(m, (float)n / 8);
    make_number(m, n, 1);
    ulg_end(m, at);
}
/* `padded`: with the padding at its end. */
static inline void ulg_accel(struct maker *m, unsigned instance, uint64_t us, unsigned n, bool padded) {
    size_t at = ulg_data(m, ULG_ACCEL + instance, us);
    ulg_f32(m, (float)n);
    ulg_f32(m, -(float)n);
    ulg_f32(m, 9.75f);
    make_number(m, 1310988, 4);
    make_number(m, 1, 1);
    make_number(m, 2, 1);
    make_number(m, n, 1);
    make_bytes(m, "\xee", padded);
    ulg_end(m, at);
}
static inline void ulg_gps(struct maker *m, uint64_t us, uint64_t utc) {
    size_t at = ulg_data(m, ULG_GPS, us);
    make_number(m, utc, 8);
    make_number(m, 473977418, 4);
    make_number(m, (uint64_t)-85455938, 4);
    ulg_f32(m, 0.75f);
    make_number(m, 3, 1);
    make_number(m, 1, 1);
    ulg_end(m, at);
}
static inline void ulg_debug(struct maker *m, uint64_t us, const char *key, float value) {
    char ten[10] = "";
    memcpy(ten, key, strlen(key) < 10 ? strlen(key) : 10);
    size_t at = ulg_data(m, ULG_DEBUG, us);
    ulg_f32(m, value);
    make_bytes(m, ten, 10);
    ulg_end(m, at);
}
static inline void ulg_esc(struct maker *m, uint64_t us) {
    size_t at = ulg_data(m, ULG_ESC, us);
    make_number(m, 7, 2);
    make_number(m, 2, 1);
    make_bytes(m, "\xee\xee\xee\xee\xee", 5);
    for (unsigned i = 0; i < 2; i++) {
        make_number(m, us - i, 8);
        make_number(m, i == 0 ? 5000 : (uint64_t)-1, 4);
        ulg_f64(m, i == 0 ? 16.5 : (double)__builtin_nanf(""));
        make_text(m, i == 0 ? "a" : "b");
        make_bytes(m, "\xee\xee\xee", 3);
    }
    make_number(m, (uint64_t)-3, 1);
    ulg_end(m, at);
}

/* Frame n of the flight, with `utc` the time of day in frames 4, 8, … */
static inline void ulg_frame(struct maker *m, unsigned n, bool utc) {
    uint64_t us = ULG_FIRST + n * ULG_STEP;
    ulg_attitude(m, us, n);
    ulg_accel(m, 0, us + 1000, n, false);
    ulg_accel(m, 1, us + 1000, n + 100, n == 5);
    if (n % 4 == 0) {
        ulg_sync(m);
        ulg_gps(m, us + 2000, utc && n > 0 ? ULG_UTC + n * ULG_STEP : n);
    }
    if (n == 3) {
        ulg_text(m, 6, -1, us + 3000, "Takeoff detected");
        ulg_esc(m, us + 4000);
    } else if (n == 5) {
        ulg_dropout(m, 95);
        ulg_parameter(m, "MC_ROLL_P", 7.1f);
        ulg_debug(m, us + 3000, "velx", 1.5f);
    } else if (n == 7) {
        ulg_text(m, 4, 12, us + 3000, "Low battery");
        ulg_parameter_int(m, "SYS_AUTOSTART", -2147483647);
        ulg_debug(m, us + 3000, "ten_bytes_", -1);
    }
}
static inline void ulg_definitions(struct maker *m) {
    ulg_header(m, 1);
    ulg_flags(m, 0, 0);
    ulg_formats(m);
    ulg_infos(m);
    ulg_parameters(m);
}
static inline void ulg_flight(struct maker *m, unsigned frames, bool utc) {
    ulg_definitions(m);
    ulg_subscriptions(m);
    for (unsigned n = 0; n < frames; n++) {
        ulg_frame(m, n, utc);
    }
}

#endif
