/* CARLA's way of writing: what a C++ stream makes of numbers, and the parts of records. Rule: nothing here knows which packet it writes. */
#include <stdio.h>
#include <time.h>

#include "reports/carla/carla.h"
#include "wire/bytes.h"
#include "wire/carla_names.h"
#include "wire/shortest.h"

void carla_say(struct grow *text, const char *what) {
    grow_put(text, what, strlen(what));
}

void carla_say_number(struct grow *text, uint64_t value) {
    char digits[24];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    grow_put(text, digits + at, sizeof digits - at);
}

static void say_integer(struct grow *text, int64_t value) {
    carla_say(text, value < 0 ? "-" : "");
    carla_say_number(text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void carla_say_real(struct grow *text, double value) {
    char digits[SHORTEST_ROOM];
    grow_put(text, digits, general_double(value, digits));
}

void carla_say_padded(struct grow *text, struct reel_bytes what, int width) {
    size_t columns = (size_t)(width < 0 ? -width : width), spaces = what.size < columns ? columns - what.size : 0;
    for (size_t i = 0; i < spaces && width > 0; i++) {
        carla_say(text, " ");
    }
    grow_put(text, what.data, what.size);
    for (size_t i = 0; i < spaces && width < 0; i++) {
        carla_say(text, " ");
    }
}

void carla_say_rounded(struct grow *text, double value, int width) {
    char digits[340]; /* the largest double has 309 digits */
    int n = snprintf(digits, sizeof digits, "%.0f", value);
    carla_say_padded(text, bytes_of(digits, (size_t)n), width);
}

/* --- parts of records --- */

static void say_vec(struct grow *text, const double v[3]) {
    for (int i = 0; i < 3; i++) {
        carla_say(text, i == 0 ? "(" : ", ");
        carla_say_real(text, v[i]);
    }
    carla_say(text, ")");
}

static void say_floats(struct grow *text, struct cursor *c, bool to_centimetres_and_back) {
    double v[3] = {0};
    const uint8_t *p = cursor_take(c, CARLA_VEC_FLOAT);
    for (int i = 0; p && i < 3; i++) {
        volatile float value = load_f32le(p + (ptrdiff_t)4 * i); /* each step rounds to a float */
        if (to_centimetres_and_back) {
            value = value * 100.0f;
            value = value * 0.01f;
        }
        v[i] = (double)value;
    }
    say_vec(text, v);
}

static void say_packed_vec(struct grow *text, struct cursor *c, const struct carla_layout *layout) {
    double v[3] = {0};
    const uint8_t *p = cursor_take(c, layout->vec);
    if (p) {
        carla_vec_read(p, layout, v);
    }
    say_vec(text, v);
}

static void say_lights(struct grow *text, uint32_t bits) {
    bool any = false;
    for (size_t i = 0; i < CARLA_LIGHTS; i++) {
        if (bits & carla_lights[i].bit) {
            carla_say(text, any ? " " : "");
            carla_say(text, carla_lights[i].name);
            any = true;
        }
    }
    carla_say(text, any ? "" : "None");
}

/* A door that CARLA does not know ends its line without a line end. */
static void say_door(struct grow *text, uint8_t door) {
    if (door < CARLA_DOORS) {
        carla_say(text, " ");
        carla_say(text, carla_door_names[door]);
        carla_say(text, " \n");
    }
}

static float f32(struct cursor *c) {
    const uint8_t *p = cursor_take(c, 4);
    return p ? load_f32le(p) : 0;
}
static double f64(struct cursor *c) {
    const uint8_t *p = cursor_take(c, 8);
    return p ? load_f64le(p) : 0;
}

static void say_part(struct grow *text, char part, struct cursor *c, const struct carla_layout *layout) {
    char character[2] = "";
    switch (part) {
    case 'u':
        carla_say_number(text, cursor_u32le(c));
        break;
    case 'i':
        say_integer(text, (int32_t)cursor_u32le(c));
        break;
    case 'f':
        carla_say_real(text, (double)f32(c));
        break;
    case 'g':
        carla_say_real(text, f64(c));
        break;
    case 'b':
        carla_say(text, cursor_u8(c) ? "1" : "0");
        break;
    case 'c':
        character[0] = (char)(0x30 + cursor_u8(c));
        grow_put(text, character, 1);
        break;
    case 'h':
        carla_say(text, cursor_u8(c) ? " (hero) " : "");
        break;
    case 'B':
        carla_say(text, cursor_u8(c) ? "True" : "False");
        break;
    case 't':
        carla_say(text, cursor_u8(c) ? "true" : "false");
        break;
    case 'v':
        say_packed_vec(text, c, layout);
        break;
    case 'w':
    case 'm':
        say_floats(text, c, part == 'm');
        break;
    case 's': {
        struct reel_bytes s = cursor_bytes(c, cursor_u16le(c));
        grow_put(text, s.data, s.size);
        break;
    }
    case 'D':
        say_door(text, cursor_u8(c));
        break;
    default:
        say_lights(text, cursor_u32le(c));
    }
}

void carla_say_record(struct grow *text, const char *form, struct cursor *record, const struct carla_layout *layout) {
    const uint8_t *begin = record->at;
    while (*form) {
        size_t plain = strcspn(form, "%");
        grow_put(text, form, plain);
        form += plain;
        if (*form == '\0') {
            break;
        }
        form++;
        if (*form >= '0' && *form <= '9') {
            size_t place = 0;
            for (; *form >= '0' && *form <= '9'; form++) {
                place = place * 10 + (size_t)(*form - '0');
            }
            *record = cursor_of(bytes_of(begin, (size_t)(record->end - begin)));
            cursor_take(record, place);
        }
        say_part(text, *form++, record, layout);
    }
}

/* --- begin and end --- */

void carla_say_start(struct reel_carla *pass) {
    struct grow *text = &pass->text;
    char date[80] = "";
    struct tm tm;
    time_t at = (time_t)pass->header.date;
    if (gmtime_r(&at, &tm)) {
        snprintf(date, sizeof date, "%02d/%02d/%02d %02d:%02d:%02d", tm.tm_mon + 1, tm.tm_mday, (tm.tm_year % 100 + 100) % 100, tm.tm_hour,
                 tm.tm_min, tm.tm_sec);
    }
    carla_say(text, "Version: ");
    carla_say_number(text, pass->header.version);
    carla_say(text, "\nMap: ");
    grow_put(text, pass->header.map.data, pass->header.map.size);
    carla_say(text, "\nDate: ");
    carla_say(text, date);
    carla_say(text, "\n\n");
}

void carla_say_end(struct reel_carla *pass, bool whole_seconds) {
    struct grow *text = &pass->text;
    carla_say(text, "\nFrames: ");
    carla_say_number(text, pass->frame.id);
    carla_say(text, "\nDuration: ");
    if (whole_seconds) {
        carla_say_rounded(text, carla_now(pass), 0);
    } else {
        carla_say_real(text, carla_now(pass));
    }
    carla_say(text, " seconds\n");
}
