/* See survey.h. */
#include "tables/columns/survey.h"

#include "base/bytes.h"
#include "decode/decoder.h"
#include "syntax/visitor.h"

/* ---- sizes */

enum { VALUE_BYTES = 8 };

struct size {                    /* a visitor that ends the walk when the values are too many */
    struct reel_visitor visitor; /* must be the first member */
    uint64_t bytes;
};

static bool columns_survey_measure(struct reel_visitor *v, uint64_t bytes) {
    struct size *m = (struct size *)v;
    m->bytes += bytes;
    return m->bytes <= REEL_ROW_VALUES_MAX;
}
static bool measure_one(struct reel_visitor *v) {
    return columns_survey_measure(v, VALUE_BYTES);
}
static bool measure_boolean(struct reel_visitor *v, bool value) {
    (void)value;
    return columns_survey_measure(v, VALUE_BYTES);
}
static bool measure_integer(struct reel_visitor *v, int64_t value) {
    (void)value;
    return columns_survey_measure(v, VALUE_BYTES);
}
static bool measure_natural(struct reel_visitor *v, uint64_t value) {
    (void)value;
    return columns_survey_measure(v, VALUE_BYTES);
}
static bool measure_real(struct reel_visitor *v, double value) {
    (void)value;
    return columns_survey_measure(v, VALUE_BYTES);
}
static bool measure_real32(struct reel_visitor *v, float value) {
    (void)value;
    return columns_survey_measure(v, VALUE_BYTES);
}
static bool measure_bytes(struct reel_visitor *v, struct reel_bytes value) {
    return columns_survey_measure(v, VALUE_BYTES + value.size);
}
static bool measure_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns) {
    (void)type;
    return columns_survey_measure(v, VALUE_BYTES + data.size + (columns > 1 ? data.size / columns : 0));
}
static bool measure_stamp(struct reel_visitor *v, const struct reel_stamp *value) {
    (void)value;
    return columns_survey_measure(v, VALUE_BYTES);
}
static bool measure_members(struct reel_visitor *v, const struct reel_members *members, const uint8_t *at) {
    (void)at;
    return columns_survey_measure(v, VALUE_BYTES * (uint64_t)members->values + members->array_bytes);
}
static const struct reel_visitor_ops measure_ops = {
    .begin_map = measure_one,
    .begin_list = measure_one,
    .null = measure_one,
    .boolean = measure_boolean,
    .integer = measure_integer,
    .natural = measure_natural,
    .real = measure_real,
    .real32 = measure_real32,
    .text = measure_bytes,
    .binary = measure_bytes,
    .numbers = measure_numbers,
    .stamp = measure_stamp,
    .members = measure_members,
};

bool columns_can_decode(const struct reel_decoder *decoder, struct reel_bytes payload, bool *can, uint64_t *bytes,
                        struct reel_error *err) {
    struct size m = {.visitor.ops = &measure_ops};
    bool good = decode_try(decoder, payload, &m.visitor, can, err);
    *can = *can && m.bytes <= REEL_ROW_VALUES_MAX;
    if (bytes) {
        *bytes = m.bytes;
    }
    return good;
}

/* ---- kinds of values */

#define EXACT_MAX (INT64_C(1) << 53)

static struct columns_survey *survey_self(struct reel_visitor *v) {
    return (struct columns_survey *)v;
}

/* The column of the value that comes; NULL: it is not wanted. */
static struct column *survey_target(struct columns_survey *s) {
    if (s->skipped > 0) {
        return NULL;
    }
    if (s->depth == 0) {
        return s->columns->payload;
    }
    const struct survey_level *level = &s->levels[s->depth - 1];
    return !level->is_list ? s->next : column_is_any(level->column) ? NULL : columns_element(s->columns, level->column);
}

/* Does a value of this kind fit what the schema says? */
static bool survey_fits(const struct column *column, uint32_t seen) {
    const uint32_t integers =
        (SEEN_NUMBERS & ~(uint32_t)(1 << REEL_BOOL | 1 << REEL_F32 | 1 << REEL_F64)) | SEEN_INTEGER;
    uint32_t is = column->seen;
    return (is & seen) != 0 || ((is & integers) && (seen & integers)) || ((is & SEEN_TEXT) && (seen & SEEN_INTEGER));
}

/* Counts a value. NULL: nothing below it is wanted. */
static struct column *see(struct columns_survey *s, uint32_t seen) {
    struct column *column = survey_target(s);
    if (!column) {
        return NULL;
    }
    bool member = s->depth > 0 && !s->levels[s->depth - 1].is_list;
    if (member && column->slot == column->parent->count) {
        return NULL; /* of equal keys the first counts */
    }
    if (member) {
        column->slot = column->parent->count;
    }
    column->count += (seen & SEEN_NULL) == 0;
    if (column_is_any(column)) {
        return NULL;
    }
    if (!column->declared || !survey_fits(column, seen)) {
        column->declared = column->declared && (seen & SEEN_NULL);
        column->seen |= seen;
    }
    return column;
}

static bool see_integer(struct reel_visitor *v, int64_t value) {
    bool exact = value >= -EXACT_MAX && value <= EXACT_MAX;
    see(survey_self(v), SEEN_INTEGER | (value < 0 ? SEEN_NEGATIVE : 0) | (exact ? 0 : SEEN_INEXACT));
    return true;
}
static bool see_natural(struct reel_visitor *v, uint64_t value) {
    see(survey_self(v),
        SEEN_INTEGER | (value > INT64_MAX ? SEEN_HUGE : 0) | (value > (uint64_t)EXACT_MAX ? SEEN_INEXACT : 0));
    return true;
}
static bool see_null(struct reel_visitor *v) {
    see(survey_self(v), SEEN_NULL);
    return true;
}
static bool see_boolean(struct reel_visitor *v, bool value) {
    (void)value;
    see(survey_self(v), 1 << REEL_BOOL);
    return true;
}
static bool see_real(struct reel_visitor *v, double value) {
    (void)value;
    see(survey_self(v), 1 << REEL_F64);
    return true;
}
static bool see_real32(struct reel_visitor *v, float value) {
    (void)value;
    see(survey_self(v), 1 << REEL_F32);
    return true;
}
static bool see_text(struct reel_visitor *v, struct reel_bytes value) {
    (void)value;
    see(survey_self(v), SEEN_TEXT);
    return true;
}
static bool see_binary(struct reel_visitor *v, struct reel_bytes value) {
    (void)value;
    see(survey_self(v), SEEN_BYTES);
    return true;
}
static bool see_stamp(struct reel_visitor *v, const struct reel_stamp *value) {
    int64_t ns;
    bool fits_int64 = !__builtin_mul_overflow(value->seconds, INT64_C(1000000000), &ns) &&
                      !__builtin_add_overflow(ns, value->nanoseconds, &ns);
    see(survey_self(v), !fits_int64 ? SEEN_ANY : value->is_duration ? SEEN_DURATION : SEEN_TIME);
    return true;
}

/* ---- maps and lists */

static bool survey_begin(struct columns_survey *s, uint32_t seen) {
    struct column *column = see(s, seen);
    if (!column || column_is_any(column) || s->skipped > 0) {
        s->skipped++;
        return true;
    }
    s->levels[s->depth++] = (struct survey_level){.column = column, .is_list = seen == SEEN_LIST};
    return true;
}
static bool see_begin_map(struct reel_visitor *v) {
    return survey_begin(survey_self(v), SEEN_MAP);
}
static bool see_begin_list(struct reel_visitor *v) {
    return survey_begin(survey_self(v), SEEN_LIST);
}
static bool see_end(struct reel_visitor *v) {
    struct columns_survey *s = survey_self(v);
    if (s->skipped > 0) {
        s->skipped--;
    } else {
        s->depth--;
    }
    return true;
}
static bool see_key(struct reel_visitor *v, struct reel_bytes name) {
    struct columns_survey *s = survey_self(v);
    if (s->skipped == 0) {
        struct survey_level *level = &s->levels[s->depth - 1];
        s->next = column_is_any(level->column) ? NULL : columns_child(s->columns, level->column, name, &level->hint);
    }
    return true;
}
static bool see_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns) {
    struct columns_survey *s = survey_self(v);
    uint32_t seen = UINT32_C(1) << type;
    see_begin_list(v);
    if (data.size > 0 && columns > 1) {
        see_begin_list(v);
        see(s, seen);
        see_end(v);
    } else if (data.size > 0) {
        see(s, seen);
    }
    return see_end(v);
}

static const struct reel_visitor_ops survey_ops = {
    .begin_map = see_begin_map,
    .key = see_key,
    .end_map = see_end,
    .begin_list = see_begin_list,
    .end_list = see_end,
    .null = see_null,
    .boolean = see_boolean,
    .integer = see_integer,
    .natural = see_natural,
    .real = see_real,
    .real32 = see_real32,
    .text = see_text,
    .binary = see_binary,
    .numbers = see_numbers,
    .stamp = see_stamp,
};

void columns_survey_start(struct columns_survey *s, struct columns *columns) {
    s->visitor.ops = &survey_ops;
    s->columns = columns;
    s->depth = s->skipped = 0;
    s->next = NULL;
}
