/* Parses q=, the line of a search box. The grammar:
 *
 *   q      = any
 *   any    = all { ( "or" | "|" ) all }                one of them must match
 *   all    = item { item }                             all of them must match
 *   item   = [-] ( "(" any ")" | word | "phrase" | key:value{,value} | key:range )     "-": must not match
 *   value  = text with * and ? as in globs | "quoted, literal"
 *   range  = [>|>=|<|<=|=] bound | bound..bound
 *   key    = topic type format collection state group damaged | size duration messages created (with a range) |
 * meta.KEY | meta."KEY" | any other: a tag's key, * for any; "quoted" when it has a colon or is one of these names
 *
 * A word of the form 2024-06-11 or 2024-06 also finds the recordings of that day or month. key:* matches any value of
 * the key, *:value any key with that value; of several values one must match. In quotes \" and \\ stand for themselves,
 * and "or" is a word. */
#ifndef SERVER_CATALOG_SEARCH_H
#define SERVER_CATALOG_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "reel/error.h"

enum { SEARCH_BYTES_MAX = 2000, SEARCH_NODES_MAX = 64, SEARCH_VALUES_MAX = 128, SEARCH_DEPTH_MAX = 8 };

enum search_kind {
    SEARCH_ALL, /* of its children; of none: everything */
    SEARCH_ANY, /* of its children, two at least */
    SEARCH_WORD,
    SEARCH_TOPIC,
    SEARCH_TYPE,
    SEARCH_META, /* values are of the form KEY:value, whole */
    SEARCH_TAG,
    SEARCH_FORMAT,
    SEARCH_COLLECTION,
    SEARCH_STATE,
    SEARCH_GROUP,
    SEARCH_DAMAGED,
    SEARCH_SIZE,
    SEARCH_DURATION,
    SEARCH_MESSAGES,
    SEARCH_CREATED
};

struct search_value {
    const char *text;
    bool exact; /* was quoted: no glob; a phrase */
};
struct search_node {
    enum search_kind kind;
    bool negated, has_range;
    uint32_t first, next;              /* children of SEARCH_ALL and SEARCH_ANY: their place in nodes; 0: none */
    uint32_t at;                       /* where it stands in q, in bytes */
    struct search_value key;           /* SEARCH_TAG */
    const struct search_value *values; /* at least 1, but for a range; of a word exactly 1 */
    uint32_t n_values;
    int64_t min, max; /* has_range: both included; bytes, ns, messages, or the ns of a date */
};
struct search {
    const char *q;
    struct search_node nodes[SEARCH_NODES_MAX]; /* nodes[0] is the root, a SEARCH_ALL or SEARCH_ANY */
    uint32_t n_nodes;
    struct search_value values[SEARCH_VALUES_MAX];
    uint32_t n_values;
    char *memory;
};

extern const char *const search_keys[]; /* "topic" …, NULL at the end */

/* REEL_ARGUMENT, with the place, when it is no such line. `q` must outlive *out; search_done() in any case. */
bool search_parse(const char *q, struct search *out, struct reel_error *err);
void search_done(struct search *search);
/* REEL_ARGUMENT: "q, character N: …", in characters as users count; false. */
bool search_fail(const char *q, uint32_t at, struct reel_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* search_range.c: `text` as a range of this kind of node (SEARCH_SIZE … SEARCH_CREATED). */
bool search_range(enum search_kind kind, const char *text, int64_t *min, int64_t *max, struct reel_error *err);
/* 2024-06-11 or 2024-06: its first and its last nanosecond, in UTC. */
bool search_date(const char *text, int64_t *min, int64_t *max);

#endif
