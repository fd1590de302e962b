/* Conditions on a value of a message: "/topic.path>0.5". */
#ifndef REEL_DECODE_CONDITION_H
#define REEL_DECODE_CONDITION_H

#include "reel/encoding.h"

enum { CONDITIONS_MAX = 16, CONDITION_TEXT_MAX = 256 };
enum comparison { IS_EQUAL, IS_NOT_EQUAL, IS_LESS, IS_MORE, IS_AT_MOST, IS_AT_LEAST };

struct condition {
    char *field; /* what is in front of the operator */
    char *value; /* what is behind it */
    enum comparison comparison;
    bool is_number, is_time; /* what the value can be compared with, besides texts */
    double number;           /* of a time: nanoseconds since 1970 */
};

/* REEL_ARGUMENT: it is no condition. */
bool condition_parse(const char *text, struct condition *out, struct reel_error *err);
void condition_done(struct condition *c);

/* A visitor that keeps one value: a number or a bool, a time (as nanoseconds since 1970, to a double's precision), or a
 * text. A list or a map is none of them. */
enum value_kind { VALUE_NONE, VALUE_NUMBER, VALUE_TIME, VALUE_TEXT };
struct value {
    struct reel_visitor visitor; /* must be first */
    enum value_kind kind;
    uint32_t depth; /* in a list or a map */
    double number;
    char text[CONDITION_TEXT_MAX];
};
void value_start(struct value *value);

bool condition_holds(const struct condition *c, const struct value *value);

/* For which values of a set the condition holds: none, some or all of them. */
enum truth { TRUTH_NO, TRUTH_MAYBE, TRUTH_YES };
struct value_range {
    double min, max; /* of the numbers, where there are any */
    uint64_t numbers, nans;
    uint64_t missing; /* messages without a number or a text */
    bool has_texts;
    bool are_times; /* the numbers */
};
enum truth condition_truth(const struct condition *c, const struct value_range *range);

#endif
