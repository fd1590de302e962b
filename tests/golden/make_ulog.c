/* Makes the inputs of golden/ulog, one quirk each, and nothing else: `make_ulog FOLDER` writes FOLDER/CASE/input.ulg,
 * `make_ulog --check FOLDER` compares with what is there. README.md describes each case. Shares no code with the
 * reader. */
#include "golden_maker.h"
#include "makers/ulog_maker.h"

enum { FRAMES = 9 };

static void usual(struct maker *m) {
    ulg_flight(m, FRAMES, true);
}
static void no_gps_time(struct maker *m) {
    ulg_flight(m, FRAMES, false);
}
static void version_0(struct maker *m) { /* without flags, multi infos and defaults */
    ulg_header(m, 0);
    ulg_formats(m);
    ulg_info_text(m, "sys_name", "PX4");
    ulg_parameter(m, "MC_ROLL_P", 6.5f);
    ulg_subscriptions(m);
    ulg_frame(m, 0, false);
    ulg_frame(m, 1, false);
}
static void version_7(struct maker *m) {
    ulg_header(m, 7);
    ulg_flags(m, 0, 0);
    ulg_formats(m);
    ulg_subscriptions(m);
    ulg_frame(m, 0, true);
}
static void longer_flags(struct maker *m) {
    ulg_header(m, 1);
    size_t at = ulg_begin(m, 'B');
    make_number(m, 0xff, 8); /* all of them are compatible */
    for (unsigned i = 0; i < 6; i++) {
        make_number(m, 0, 8);
    }
    ulg_end(m, at);
    ulg_formats(m);
    ulg_subscriptions(m);
    ulg_frame(m, 0, true);
}
static void incompatible(struct maker *m) {
    ulg_header(m, 1);
    ulg_flags(m, 2, 0);
    ulg_formats(m);
}
static void header_only(struct maker *m) {
    ulg_header(m, 1);
}
static void no_messages(struct maker *m) {
    ulg_definitions(m);
    ulg_subscriptions(m);
}

/* The log ends inside of a message, then a crash dump was appended. */
static void appended(struct maker *m) {
    ulg_header(m, 1);
    size_t flags = m->size;
    ulg_flags(m, 1, 0);
    ulg_formats(m);
    ulg_subscriptions(m);
    ulg_frame(m, 0, true);
    ulg_attitude(m, ULG_FIRST + 90000, 9);
    m->size -= 20;
    make_patch(m, flags + 3 + 16, m->size, 8);
    ulg_info(m, 'M', 0, "char[5] hardfault_plain", "fault", 5);
    ulg_text(m, 0, -1, ULG_FIRST + 100000, "Hard fault");
}
static void appended_nowhere(struct maker *m) {
    ulg_header(m, 1);
    ulg_flags(m, 1, 1 << 20);
    ulg_formats(m);
    ulg_subscriptions(m);
    ulg_frame(m, 0, true);
}

/* ---- damage */

static void cut_in_data(struct maker *m) {
    ulg_flight(m, FRAMES, true);
    m->size -= 7;
}
static void cut_in_head(struct maker *m) {
    ulg_flight(m, 2, true);
    make_bytes(m, "\x20", 1);
}
static void zeros_at_end(struct maker *m) {
    ulg_flight(m, 2, true);
    for (unsigned i = 0; i < 100; i++) {
        make_bytes(m, "\0", 1);
    }
}
/* 40 bytes of something else over the messages of frame 3; `sync`: they are behind it. */
static void garbage(struct maker *m) {
    ulg_flight(m, 3, true);
    size_t at = m->size;
    for (unsigned n = 3; n < FRAMES; n++) {
        ulg_frame(m, n, true);
    }
    memset(m->data + at + 20, 0xcc, 40);
}
static void size_too_large(struct maker *m) {
    ulg_flight(m, 3, true);
    size_t at = m->size;
    for (unsigned n = 3; n < FRAMES; n++) {
        ulg_frame(m, n, true);
    }
    make_patch(m, at, 65000, 2);
}
static void subscription_missing(struct maker *m) {
    ulg_definitions(m);
    ulg_subscribe(m, 0, ULG_ATTITUDE, "vehicle_attitude");
    ulg_subscribe(m, 1, ULG_ACCEL_1, "sensor_accel");
    for (unsigned n = 0; n < 3; n++) {
        ulg_frame(m, n, true);
    }
}
static void too_short(struct maker *m) {
    ulg_flight(m, 1, true);
    size_t at = ulg_data(m, ULG_ATTITUDE, ULG_FIRST + 10000);
    ulg_end(m, at);
    ulg_frame(m, 1, true);
}
static void unknown_type(struct maker *m) {
    ulg_flight(m, 1, true);
    ulg_message(m, 'Z', "of a later version", 18);
    ulg_frame(m, 1, true);
}
static void time_odd(struct maker *m) {
    ulg_flight(m, 2, false);
    ulg_attitude(m, ULG_FIRST + ((uint64_t)1 << 40), 77);
    ulg_frame(m, 2, false);
    ulg_attitude(m, UINT64_MAX, 78);
}

/* ---- formats */

static void formats_odd(struct maker *m) {
    ulg_header(m, 1);
    ulg_flags(m, 0, 0);
    ulg_format(m, "loop:uint64_t timestamp;pool[2] p;");
    ulg_format(m, "pool:loop[2] l;");
    ulg_format(m, "lacks:uint64_t timestamp;nowhere n;");
    ulg_format(m, "huge:uint64_t timestamp;double[60000] d;");
    ulg_format(m, "no_time:uint8_t a;;int16_t b");
    ulg_format(m, "late-name/x:float f;uint64_t timestamp;bool b");
    const char *const names[] = {"loop", "lacks", "huge", "no_time", "late-name/x", "not_there"};
    for (unsigned i = 0; i < 6; i++) {
        ulg_subscribe(m, 0, i, names[i]);
    }
    size_t at = ulg_begin(m, 'D');
    make_number(m, 4, 2);
    ulg_f32(m, 1.5f);
    make_number(m, ULG_FIRST, 8);
    make_number(m, 1, 1);
    ulg_end(m, at);
    ulg_end(m, ulg_data(m, 0, 1));
    at = ulg_begin(m, 'D');
    make_number(m, 3, 2);
    make_bytes(m, "\xff\xfe\xff", 3);
    ulg_end(m, at);
    ulg_end(m, ulg_data(m, 5, 1));
}
static void ids_again(struct maker *m) { /* a topic that gets another id, and an id that gets another topic */
    ulg_definitions(m);
    ulg_subscriptions(m);
    ulg_frame(m, 1, false);
    ulg_message(m, 'R', "\1\0", 2);
    ulg_subscribe(m, 0, ULG_ATTITUDE, "sensor_accel");
    size_t at = ulg_data(m, ULG_ATTITUDE, ULG_FIRST + 50000);
    for (unsigned i = 0; i < 4; i++) {
        make_number(m, 0, 4);
    }
    make_number(m, 0, 3);
    ulg_end(m, at);
}

static const struct {
    const char *name;
    void (*make)(struct maker *m);
} inputs[] = {
    {"usual", usual},
    {"no_gps_time", no_gps_time},
    {"version_0", version_0},
    {"version_7", version_7},
    {"longer_flags", longer_flags},
    {"incompatible", incompatible},
    {"header_only", header_only},
    {"no_messages", no_messages},
    {"appended", appended},
    {"appended_nowhere", appended_nowhere},
    {"cut_in_data", cut_in_data},
    {"cut_in_head", cut_in_head},
    {"zeros_at_end", zeros_at_end},
    {"garbage", garbage},
    {"size_too_large", size_too_large},
    {"subscription_missing", subscription_missing},
    {"too_short", too_short},
    {"unknown_type", unknown_type},
    {"time_odd", time_odd},
    {"formats_odd", formats_odd},
    {"ids_again", ids_again},
};

static struct golden_input make(size_t i, struct maker *m) {
    inputs[i].make(m);
    return (struct golden_input){inputs[i].name, "input.ulg"};
}

int main(int argc, char **argv) {
    return golden_main(argc, argv, sizeof inputs / sizeof *inputs, make);
}
