/* See condition.h. */
#include "decode/condition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reel/time.h"

/* ---- text */

/* Where the operator is in the text, and which. */
static const char *find_operator(const char *text, enum comparison *comparison, size_t *size) {
    static const struct {
        const char *sign;
        enum comparison comparison;
    } known[] = {{">=", IS_AT_LEAST}, {"<=", IS_AT_MOST}, {"!=", IS_NOT_EQUAL}, {"==", IS_EQUAL},
                 {"=", IS_EQUAL},     {">", IS_MORE},     {"<", IS_LESS}};
    const char *at = strpbrk(text, "<>=!");
    for (size_t i = 0; at && i < sizeof known / sizeof *known; i++) {
        if (strncmp(at, known[i].sign, strlen(known[i].sign)) == 0) {
            *comparison = known[i].comparison;
            *size = strlen(known[i].sign);
            return at;
        }
    }
    return NULL;
}

/* What the value may mean besides a text: true and false are 1 and 0, as bools are. */
static void read_value(struct condition *c) {
    struct reel_time time;
    char *end;
    c->number = strtod(c->value, &end);
    c->is_number = c->is_time = end != c->value && *end == '\0';
    if (strcmp(c->value, "true") == 0 || strcmp(c->value, "false") == 0) {
        c->is_number = true;
        c->number = c->value[0] == 't';
    } else if (!c->is_number && reel_time_parse(c->value, 1, &time, NULL) && time.kind == REEL_TIME_ABSOLUTE) {
        c->is_time = true;
        c->number = (double)time.ns;
    }
}

bool condition_parse(const char *text, struct condition *out, struct reel_error *err) {
    size_t size = 0;
    *out = (struct condition){0};
    const char *at = find_operator(text, &out->comparison, &size);
    if (!at || at == text) {
        return reel_fail(err, REEL_ARGUMENT,
                         "where: \"%.200s\" is no condition: /topic.path>0.5 is one; also <, >=, <=, = and !=", text);
    }
    out->field = strndup(text, (size_t)(at - text));
    out->value = strdup(at + size);
    if (!out->field || !out->value) {
        condition_done(out);
        return reel_fail_memory(err);
    }
    read_value(out);
    return true;
}

void condition_done(struct condition *c) {
    free(c->field);
    free(c->value);
    *c = (struct condition){0};
}

/* ---- one value */

static struct value *self(struct reel_visitor *v) {
    return (struct value *)v;
}

static bool keep(struct reel_visitor *v, enum value_kind kind, double number) {
    struct value *f = self(v);
    if (f->depth == 0) {
        f->kind = kind;
        f->number = number;
    }
    return true;
}
static bool on_real(struct reel_visitor *v, double value) {
    return keep(v, VALUE_NUMBER, value);
}
static bool on_boolean(struct reel_visitor *v, bool value) {
    return keep(v, VALUE_NUMBER, value);
}
static bool on_integer(struct reel_visitor *v, int64_t value) {
    return keep(v, VALUE_NUMBER, (double)value);
}
static bool on_natural(struct reel_visitor *v, uint64_t value) {
    return keep(v, VALUE_NUMBER, (double)value);
}
static bool on_real32(struct reel_visitor *v, float value) {
    return keep(v, VALUE_NUMBER, (double)value);
}
static bool on_stamp(struct reel_visitor *v, const struct reel_stamp *value) {
    return keep(v, VALUE_TIME, (double)value->seconds * 1e9 + (double)value->nanoseconds);
}
static bool on_text(struct reel_visitor *v, struct reel_bytes value) {
    struct value *f = self(v);
    size_t size = value.size < CONDITION_TEXT_MAX - 1 ? value.size : CONDITION_TEXT_MAX - 1;
    keep(v, VALUE_TEXT, 0);
    if (f->depth == 0) {
        if (size > 0) {
            memcpy(f->text, value.data, size);
        }
        f->text[size] = '\0';
    }
    return true;
}
static bool on_begin(struct reel_visitor *v) {
    self(v)->depth++;
    return true;
}
static bool on_end(struct reel_visitor *v) {
    self(v)->depth--;
    return true;
}
static bool on_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns) {
    (void)v, (void)type, (void)data, (void)columns;
    return true;
}
static const struct reel_visitor_ops value_ops = {.begin_map = on_begin,
                                                  .end_map = on_end,
                                                  .begin_list = on_begin,
                                                  .end_list = on_end,
                                                  .boolean = on_boolean,
                                                  .integer = on_integer,
                                                  .natural = on_natural,
                                                  .real = on_real,
                                                  .real32 = on_real32,
                                                  .text = on_text,
                                                  .numbers = on_numbers,
                                                  .stamp = on_stamp};

void value_start(struct value *value) {
    value->visitor.ops = &value_ops;
    value->kind = VALUE_NONE;
    value->depth = 0;
}

/* ---- comparing */

static bool has_order(enum comparison comparison, int order) {
    switch (comparison) {
    case IS_EQUAL:
        return order == 0;
    case IS_NOT_EQUAL:
        return order != 0;
    case IS_LESS:
        return order < 0;
    case IS_MORE:
        return order > 0;
    case IS_AT_MOST:
        return order <= 0;
    case IS_AT_LEAST:
        return order >= 0;
    }
    return false;
}

static bool number_holds(const struct condition *c, double number) {
    if (isnan(number) || isnan(c->number)) { /* NaN is equal to nothing */
        return c->comparison == IS_NOT_EQUAL;
    }
    return has_order(c->comparison, (number > c->number) - (number < c->number));
}

bool condition_holds(const struct condition *c, const struct value *value) {
    switch (value->kind) {
    case VALUE_NONE:
        return false;
    case VALUE_NUMBER:
        return c->is_number && number_holds(c, value->number);
    case VALUE_TIME:
        return c->is_time && number_holds(c, value->number);
    case VALUE_TEXT:
        return has_order(c->comparison, strcmp(value->text, c->value));
    }
    return false;
}

/* Of numbers from min to max that include both. */
static enum truth range_truth(const struct condition *c, double min, double max) {
    bool low = number_holds(c, min), high = number_holds(c, max), between = min < c->number && c->number < max;
    if (low != high || (between && (c->comparison == IS_EQUAL || c->comparison == IS_NOT_EQUAL))) {
        return TRUTH_MAYBE;
    }
    return low ? TRUTH_YES : TRUTH_NO;
}

enum truth condition_truth(const struct condition *c, const struct value_range *range) {
    bool comparable = range->are_times ? c->is_time : c->is_number;
    enum truth numbers = comparable && range->numbers > 0 ? range_truth(c, range->min, range->max) : TRUTH_NO;
    bool nans = comparable && range->nans > 0 && number_holds(c, NAN);
    bool some = numbers != TRUTH_NO || nans || range->has_texts;
    bool all = (range->numbers == 0 || numbers == TRUTH_YES) && (range->nans == 0 || nans) && range->missing == 0 &&
               !range->has_texts;
    return !some ? TRUTH_NO : all ? TRUTH_YES : TRUTH_MAYBE;
}
