/* Parses q=, the line of a search box. The grammar:
 *
 *   q      = terms separated by blanks; all must match
 *   term   = [-] ( word | "quoted phrase" | key:value{,value} )      "-": must not match
 *   value  = text with * and ? as in globs | "quoted, literal"
 *   key    = topic type format collection state group damaged | meta.KEY | meta."KEY" | any other: a tag's key, * for any; "quoted"
 *            when it has a colon
 *
 * key:* matches any value of the key, *:value any key with that value; of several values one must match. In quotes \" and \\ stand for
 * themselves. No part of the user's text reaches SQL or the syntax of FTS5. */
#ifndef SERVER_CATALOG_SEARCH_H
#define SERVER_CATALOG_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "reel/error.h"

enum { SEARCH_BYTES_MAX = 2000, SEARCH_TERMS_MAX = 32, SEARCH_VALUES_MAX = 128 };

enum search_kind {
    SEARCH_TOPIC,
    SEARCH_TYPE,
    SEARCH_META, /* values are of the form KEY:value, whole */
    SEARCH_TAG,
    SEARCH_FORMAT,
    SEARCH_COLLECTION,
    SEARCH_STATE,
    SEARCH_GROUP,
    SEARCH_DAMAGED
};

struct search_value {
    const char *text;
    bool exact; /* was quoted: no glob */
};
struct search_term {
    enum search_kind kind;
    bool negated;
    struct search_value key; /* SEARCH_TAG */
    const struct search_value *values;
    uint32_t n_values; /* at least 1 */
};
struct search {
    struct search_term terms[SEARCH_TERMS_MAX]; /* all but words and phrases */
    uint32_t n_terms;
    struct search_value values[SEARCH_VALUES_MAX];
    char *words;   /* for FTS5's MATCH: words and phrases that must be there; NULL: none */
    char *without; /* and those of which none may be */
    char *memory;
};

/* REEL_ARGUMENT, with the place, when it is no such line. search_done() in any case. */
bool search_parse(const char *q, struct search *out, struct reel_error *err);
void search_done(struct search *search);

#endif
