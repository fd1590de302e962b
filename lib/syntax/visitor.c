/* Packed arrays, stamps and members for visitors that take single values. */
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

bool reel_member_visit(struct reel_visitor *v, const struct reel_members *members, const struct reel_member *m,
                       const uint8_t *at) {
    const struct reel_bytes array = bytes_of(at + m->offset, (size_t)m->count * reel_number_size(m->number));
    struct reel_stamp stamp;
    switch ((enum reel_member_kind)m->kind) {
    case REEL_MEMBER_NUMBER:
        return reel_number_visit(v, (enum reel_number)m->number, at + m->offset);
    case REEL_MEMBER_NUMBERS:
        return visit_numbers(v, (enum reel_number)m->number, array, 0);
    case REEL_MEMBER_BYTES:
        return visit_binary(v, array);
    case REEL_MEMBER_TIME:
    case REEL_MEMBER_DURATION:
        stamp = reel_member_stamp(members, m, at);
        return visit_stamp(v, &stamp);
    case REEL_MEMBER_MAP:
        return visit_begin_map(v);
    case REEL_MEMBER_END:
        return visit_end_map(v);
    }
    return false;
}

bool reel_members_expand(struct reel_visitor *v, const struct reel_members *members, const uint8_t *at) {
    bool goes_on = true;
    for (const struct reel_member *m = members->items, *end = m + members->n; goes_on && m < end; m++) {
        goes_on = (m->kind == REEL_MEMBER_END || visit_key(v, m->key)) && reel_member_visit(v, members, m, at);
    }
    return goes_on;
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
