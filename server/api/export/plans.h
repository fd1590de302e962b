/* Conversion plans by ETag, kept in the derived cache. */
#ifndef SERVER_API_EXPORT_PLANS_H
#define SERVER_API_EXPORT_PLANS_H

#include <stdint.h>

#include "convert/conversion.h"
#include "convert/split.h"
#include "work/derived_cache.h"

struct plan_request {
    const char *key;   /* the ETag's text: same key, same bytes */
    const char *owner; /* who asked: http_client() */
    struct reel_conversion *conversion;
};

/* A reference to the plan (reel_plan_free). NULL with job[0] set: not ready after wait_ns (503, Retry-After). NULL with
 * err: it failed. */
struct reel_plan *plans_get(struct derived_cache *cache, const struct plan_request *q, int64_t wait_ns, char job[33],
                            struct reel_error *err);

/* The same if the plan is already there; NULL: it is not. */
struct reel_plan *plans_find(struct derived_cache *cache, const char *key);

/* The length of a plan that was made, also when it has left the cache: of the last 65,536 or so. */
bool plans_length(const char *key, uint64_t *length);

/* ---- parts.c: a conversion in parts, as one tar archive */

struct parts;                         /* their plans */
void parts_free(struct parts *parts); /* gives a reference back */
REEL_DEFINE_AUTO(struct parts, parts_free);
/* As plans_get(). `q->key` also depends on the rule. */
struct parts *parts_get(struct derived_cache *cache, const struct plan_request *q, const struct reel_split_rule *rule,
                        int64_t wait_ns, char job[33], struct reel_error *err);

/* The archive: members STEM_0000.EXTENSION … Any range of it is read without the others; owned by the response. */
struct parts_archive;
struct parts_archive *parts_archive_new(struct parts *parts, const struct plan_request *q, const char *stem,
                                        int64_t modified_ns, struct reel_error *err);
void parts_archive_free(void *archive);
uint64_t parts_archive_length(const struct parts_archive *archive);
bool parts_archive_read(void *archive, uint64_t offset, void *buffer, size_t size, struct reel_error *err);

#endif
