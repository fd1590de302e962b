/* Conditions on values of messages: "/topic.path>0.5", joined by "and", "or" and parentheses. */
#ifndef REEL_DECODE_CONDITION_H
#define REEL_DECODE_CONDITION_H

#include "decode/encoding.h"
#include "decode/fields.h"

enum { CONDITIONS_MAX = 16, CONDITION_NODES_MAX = 4 * CONDITIONS_MAX };
enum comparison { IS_EQUAL, IS_NOT_EQUAL, IS_LESS, IS_MORE, IS_AT_MOST, IS_AT_LEAST };

struct condition {
    char *field; /* what is in front of the operator */
    char *value; /* what is behind it */
    enum comparison comparison;
    bool is_number, is_time; /* what the value can be compared with, besides texts */
    bool is_integer;         /* `integer` is the number; else it is the nearest double */
    double number;           /* of a time: nanoseconds since 1970 */
    __int128 integer;
};

struct condition_node {
    enum { NODE_CONDITION, NODE_AND, NODE_OR } kind;
    uint32_t left, right; /* of a condition: left is its number */
};
struct conditions {
    struct condition items[CONDITIONS_MAX];
    struct condition_node nodes[CONDITION_NODES_MAX];
    uint32_t n, n_nodes, root;
};
/* Of several texts all must hold. REEL_ARGUMENT: what is expected where. */
bool conditions_parse(const char *const *where, uint32_t n, struct conditions *out, struct reel_error *err);
void conditions_done(struct conditions *c);

/* For which values of a set a condition holds: none, some or all of them. TRUTH_NONE: it is not about them. */
enum truth { TRUTH_NO, TRUTH_MAYBE, TRUTH_YES, TRUTH_NONE };
/* Whether the whole holds, where each condition does so; those with TRUTH_NONE are left out. */
enum truth conditions_truth(const struct conditions *c, const enum truth each[CONDITIONS_MAX]);

/* A visitor that keeps one value: a number or a bool, a time (as nanoseconds since 1970), or how a text compares with
 * those of conditions. A list or a map is none of them. */
enum value_kind { VALUE_NONE, VALUE_NUMBER, VALUE_TIME, VALUE_TEXT };
struct value {
    struct reel_visitor visitor; /* must be first */
    enum value_kind kind;
    uint32_t depth;  /* in a list or a map */
    bool is_integer; /* as in struct condition */
    double number;
    __int128 integer;
    const struct condition *conditions;
    uint32_t about;             /* bits: the conditions that are about it */
    int orders[CONDITIONS_MAX]; /* of a text, for each of these: as of bytes_compare() */
};
/* A time as the nearest double. */
double value_of_stamp(const struct reel_stamp *stamp);

/* Reads the values of a channel's messages that conditions are about. */
struct condition_reader {         /* zeroed = about none */
    struct reel_decoder *decoder; /* owned; NULL: its messages have no values */
    struct field_set *paths;
    uint32_t conditions;              /* bits: those that are about the channel */
    uint32_t columns[CONDITIONS_MAX]; /* of their values */
};
bool condition_reader_add(struct condition_reader *r, uint32_t condition, const char *path, struct reel_error *err);
void condition_reader_done(struct condition_reader *r);
/* By column. `payload` NULL: no values. */
bool condition_reader_read(const struct condition_reader *r, const struct conditions *c,
                           const struct reel_bytes *payload, struct value values[CONDITIONS_MAX],
                           struct reel_error *err);
/* Sets those that are about the channel. */
void condition_reader_truths(const struct condition_reader *r, const struct conditions *c,
                             const struct value values[CONDITIONS_MAX], enum truth each[CONDITIONS_MAX]);

/* The values of a set of messages. */
struct value_range {
    double min, max; /* of the numbers, where there are any */
    uint64_t numbers, nans;
    uint64_t missing; /* messages without a number or a text */
    bool has_texts;
    bool are_times; /* the numbers */
};
enum truth condition_truth(const struct condition *c, const struct value_range *range);

#endif
