/* Packed arrays and stamps for visitors that take single values. */
#include "syntax/visitor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

bool reel_number_visit(struct reel_visitor *v, enum reel_number type, const uint8_t *at) {
    switch (type) {
    case REEL_BOOL:
        return visit_boolean(v, *at != 0);
    case REEL_I8:
        return visit_integer(v, (int8_t)*at);
    case REEL_U8:
        return visit_natural(v, *at);
    case REEL_I16:
        return visit_integer(v, (int16_t)load_u16le(at));
    case REEL_U16:
        return visit_natural(v, load_u16le(at));
    case REEL_I32:
        return visit_integer(v, (int32_t)load_u32le(at));
    case REEL_U32:
        return visit_natural(v, load_u32le(at));
    case REEL_I64:
        return visit_integer(v, (int64_t)load_u64le(at));
    case REEL_U64:
        return visit_natural(v, load_u64le(at));
    case REEL_F32:
        return visit_real32(v, load_f32le(at));
    case REEL_F64:
        return visit_real(v, load_f64le(at));
    }
    return false;
}

bool reel_numbers_expand(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns) {
    size_t size = reel_number_size(type), n = data.size / size;
    bool rows = columns > 1, goes_on = visit_begin_list(v);
    for (size_t i = 0; goes_on && i < n; i++) {
        bool first = rows && i % columns == 0, last = rows && (i % columns == columns - 1 || i == n - 1);
        goes_on = (!first || visit_begin_list(v)) && reel_number_visit(v, type, data.data + i * size) &&
                  (!last || visit_end_list(v));
    }
    return goes_on && visit_end_list(v);
}

static bool visitor_visit_part(struct reel_visitor *v, int64_t value) {
    return value < 0 ? visit_integer(v, value) : visit_natural(v, (uint64_t)value);
}

bool reel_stamp_expand(struct reel_visitor *v, const struct reel_stamp *value) {
    return visit_begin_map(v) && visit_key_text(v, "sec") && visitor_visit_part(v, value->seconds) &&
           visit_key_text(v, value->nanoseconds_name) && visitor_visit_part(v, value->nanoseconds) && visit_end_map(v);
}

/* The ranges of google.protobuf.Timestamp and Duration. */
static bool has_text(const struct reel_stamp *value) {
    const int64_t year_1 = -62135596800, year_10000 = 253402300800, longest = 315576000000;
    int64_t s = value->seconds, ns = value->nanoseconds;
    if (!value->is_text || ns >= NS_PER_S || ns <= -NS_PER_S) {
        return false;
    }
    return value->is_duration ? s >= -longest && s <= longest && (s == 0 || ns == 0 || (s < 0) == (ns < 0))
                              : s >= year_1 && s < year_10000 && ns >= 0;
}

/* Decimals in groups of three; none of a whole second. */
static void put_decimals(char out[16], int64_t ns) {
    snprintf(out, 16, ".%09d", abs((int)ns));
    size_t n = ns == 0 ? 0 : ns % 1000000 == 0 ? 4 : ns % 1000 == 0 ? 7 : 10;
    out[n] = '\0';
}

bool reel_stamp_show(struct reel_visitor *v, const struct reel_stamp *value) {
    char text[96], decimals[16];
    if (!has_text(value)) {
        return reel_stamp_expand(v, value);
    }
    put_decimals(decimals, value->nanoseconds);
    if (value->is_duration) {
        bool negative = value->seconds < 0 || value->nanoseconds < 0;
        snprintf(text, sizeof text, "%s%" PRIi64 "%ss", negative ? "-" : "", imaxabs(value->seconds), decimals);
        return visit_text(v, bytes_text(text));
    }
    struct tm date;
    time_t seconds = (time_t)value->seconds;
    gmtime_r(&seconds, &date);
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d%sZ", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday,
             date.tm_hour, date.tm_min, date.tm_sec, decimals);
    return visit_text(v, bytes_text(text));
}
