/* A question about values, parsed: conditions joined by "and" and "or". */
#ifndef REEL_VALUES_QUESTION_H
#define REEL_VALUES_QUESTION_H

#include "decode/condition.h"
#include "reel/values.h"

enum { QUESTION_NODES_MAX = 4 * CONDITIONS_MAX };
struct question_node {
    enum { NODE_CONDITION, NODE_AND, NODE_OR } kind;
    uint32_t left, right; /* of a condition: left is its number */
};
struct reel_question {
    struct condition conditions[CONDITIONS_MAX];
    struct question_node nodes[QUESTION_NODES_MAX];
    uint32_t n_conditions, n_nodes, root;
    int64_t for_ns;
};

/* Whether the whole holds, where the conditions do so. */
enum truth question_truth(const struct reel_question *q, const enum truth conditions[CONDITIONS_MAX]);

#endif
