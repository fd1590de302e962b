/* CARLA's output formats: numbers as a C++ stream writes them, and fields of records. */
#include <stdio.h>
#include <time.h>

#include "base/bytes.h"
#include "base/c_locale.h"
#include "base/shortest_number.h"
#include "formats/carla/names.h"
#include "formats/carla/report.h"

void carla_print(struct grow *text, const char *what) {
    grow_put(text, what, strlen(what));
}

void carla_print_number(struct grow *text, uint64_t value) {
    char digits[24];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    grow_put(text, digits + at, sizeof digits - at);
}

static void print_integer(struct grow *text, int64_t value) {
    carla_print(text, value < 0 ? "-" : "");
    carla_print_number(text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void carla_print_real(struct grow *text, double value) {
    char digits[SHORTEST_ROOM];
    grow_put(text, digits, general_double(value, digits));
}

void carla_print_padded(struct grow *text, struct reel_bytes what, int width) {
    size_t columns = (size_t)(width < 0 ? -width : width), spaces = what.size < columns ? columns - what.size : 0;
    for (size_t i = 0; i < spaces && width > 0; i++) {
        carla_print(text, " ");
    }
    grow_put(text, what.data, what.size);
    for (size_t i = 0; i < spaces && width < 0; i++) {
        carla_print(text, " ");
    }
}

void carla_print_rounded(struct grow *text, double value, int width) {
    C_LOCALE;
    char digits[340]; /* the largest double has 309 digits */
    int n = snprintf(digits, sizeof digits, "%.0f", value);
    carla_print_padded(text, bytes_of(digits, (size_t)n), width);
}

/* --- fields of records --- */

static void print_vec(struct grow *text, const double v[3]) {
    for (int i = 0; i < 3; i++) {
        carla_print(text, i == 0 ? "(" : ", ");
        carla_print_real(text, v[i]);
    }
    carla_print(text, ")");
}

static void print_floats(struct grow *text, struct cursor *c, bool to_centimetres_and_back) {
    double v[3] = {0};
    const uint8_t *p = cursor_take(c, CARLA_VEC_FLOAT);
    for (int i = 0; p && i < 3; i++) {
        volatile float value = load_f32le(p + (ptrdiff_t)4 * i); /* every step rounds to float */
        if (to_centimetres_and_back) {
            value = value * 100.0f;
            value = value * 0.01f;
        }
        v[i] = (double)value;
    }
    print_vec(text, v);
}

static void print_packed_vec(struct grow *text, struct cursor *c, const struct carla_layout *layout) {
    double v[3] = {0};
    const uint8_t *p = cursor_take(c, layout->vec);
    if (p) {
        carla_vec_read(p, layout, v);
    }
    print_vec(text, v);
}

static void print_lights(struct grow *text, uint32_t bits) {
    bool any = false;
    for (size_t i = 0; i < CARLA_LIGHTS; i++) {
        if (bits & carla_lights[i].bit) {
            carla_print(text, any ? " " : "");
            carla_print(text, carla_lights[i].name);
            any = true;
        }
    }
    carla_print(text, any ? "" : "None");
}

/* The line of an unknown door has no line end in CARLA. */
static void print_door(struct grow *text, uint8_t door) {
    if (door < CARLA_DOORS) {
        carla_print(text, " ");
        carla_print(text, carla_door_names[door]);
        carla_print(text, " \n");
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

static void print_part(struct grow *text, char part, struct cursor *c, const struct carla_layout *layout) {
    char character[2] = "";
    switch (part) {
    case 'u':
        carla_print_number(text, cursor_u32le(c));
        break;
    case 'i':
        print_integer(text, (int32_t)cursor_u32le(c));
        break;
    case 'f':
        carla_print_real(text, (double)f32(c));
        break;
    case 'g':
        carla_print_real(text, f64(c));
        break;
    case 'b':
        carla_print(text, cursor_u8(c) ? "1" : "0");
        break;
    case 'c':
        character[0] = (char)(0x30 + cursor_u8(c));
        grow_put(text, character, 1);
        break;
    case 'n':
        carla_print_number(text, cursor_u8(c));
        break;
    case 'h':
        carla_print(text, cursor_u8(c) ? " (hero) " : "");
        break;
    case 'B':
        carla_print(text, cursor_u8(c) ? "True" : "False");
        break;
    case 't':
        carla_print(text, cursor_u8(c) ? "true" : "false");
        break;
    case 'v':
        print_packed_vec(text, c, layout);
        break;
    case 'w':
    case 'm':
        print_floats(text, c, part == 'm');
        break;
    case 's': {
        struct reel_bytes s = cursor_bytes(c, cursor_u16le(c));
        grow_put(text, s.data, s.size);
        break;
    }
    case 'D':
        print_door(text, cursor_u8(c));
        break;
    default:
        print_lights(text, cursor_u32le(c));
    }
}

void carla_print_record(struct grow *text, const char *form, struct cursor *record, const struct carla_layout *layout) {
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
            size_t number = 0;
            for (; *form >= '0' && *form <= '9'; form++) {
                number = number * 10 + (size_t)(*form - '0');
            }
            *record = cursor_of(bytes_of(begin, (size_t)(record->end - begin)));
            cursor_take(record, number);
        }
        print_part(text, *form++, record, layout);
    }
}

/* --- begin and end --- */

void carla_print_start(struct reel_carla *pass) {
    struct grow *text = &pass->text;
    char date[80] = "";
    struct tm tm;
    time_t at = (time_t)pass->header.date;
    if (gmtime_r(&at, &tm)) {
        snprintf(date, sizeof date, "%02d/%02d/%02d %02d:%02d:%02d", tm.tm_mon + 1, tm.tm_mday,
                 (tm.tm_year % 100 + 100) % 100, tm.tm_hour, tm.tm_min, tm.tm_sec);
    }
    carla_print(text, "Version: ");
    carla_print_number(text, pass->header.version);
    carla_print(text, "\nMap: ");
    grow_put(text, pass->header.map.data, pass->header.map.size);
    carla_print(text, "\nDate: ");
    carla_print(text, date);
    carla_print(text, "\n\n");
}

void carla_print_end(struct reel_carla *pass, bool whole_seconds) {
    struct grow *text = &pass->text;
    carla_print(text, "\nFrames: ");
    carla_print_number(text, pass->frame.id);
    carla_print(text, "\nDuration: ");
    if (whole_seconds) {
        carla_print_rounded(text, carla_now(pass), 0);
    } else {
        carla_print_real(text, carla_now(pass));
    }
    carla_print(text, " seconds\n");
}
