/* Users' regular expressions (PCRE2) over names. Steps and memory are bounded; a pattern that would exceed them is an
 * error, not a mismatch. */
#ifndef SERVER_CATALOG_PATTERN_H
#define SERVER_CATALOG_PATTERN_H

#include <stdbool.h>

#include "reel/cleanup.h"
#include "reel/error.h"

enum { PATTERN_BYTES_MAX = 256 };

struct pattern;
struct pattern *pattern_new(const char *text, struct reel_error *err); /* REEL_ARGUMENT */
void pattern_free(struct pattern *pattern);
REEL_DEFINE_AUTO(struct pattern, pattern_free);
/* Whether it is found anywhere in `name` (^ and $ hold it). False: it takes too long, REEL_ARGUMENT. */
bool pattern_match(const struct pattern *pattern, const char *name, bool *yes, struct reel_error *err);

#endif
