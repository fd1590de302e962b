/* Retention rules and quotas by collection, one document:
 * {"rules": [{"collection": GLOB, "max_age": "30d", "max_size": N, "keep": {KEY: VALUE or null (any)}}],
 *  "quotas": [{"collection": GLOB, "size": N, "recordings": N}]}
 * The first matching rule (or quota) applies to a collection. Age counts from when a recording was added; recordings in
 * the trash do not count towards a quota. A document with an unknown member is refused, because a mistyped rule must
 * not delete anything. */
#ifndef SERVER_CATALOG_RETENTION_RULES_H
#define SERVER_CATALOG_RETENTION_RULES_H

#include <jansson.h>

#include "catalog/catalog.h"

enum { RETENTION_RULES_MAX = 100, RETENTION_KEEP_MAX = 32 };

bool retention_check(const json_t *document, struct reel_error *err); /* REEL_ARGUMENT: it is not such a document */
json_t *retention_get(struct catalog *c, struct reel_error *err); /* {"rules": [], "quotas": []} when nothing was set */
bool retention_set(struct catalog *c, const json_t *document, struct reel_error *err);
/* The rule or quota (`list` is "rules" or "quotas") of a collection; NULL: none. */
const json_t *retention_of(const json_t *document, const char *list, const char *collection);

#endif
