/* Conversion plans by ETag, kept in the derived cache. */
#ifndef SERVER_API_PLANS_H
#define SERVER_API_PLANS_H

#include <stdint.h>

#include "api/derived_cache.h"
#include "reel/write.h"

/* The input of a plan; everything is copied or referenced. */
struct plan_request {
    const char *key; /* the ETag's text: same key, same bytes */
    const struct reel_writer *writer;
    struct reel_write_options options;
    struct reel_recording *const *recordings;
    uint32_t n_recordings;
    struct reel_selection selection;
};

/* A reference to the plan (reel_plan_free). NULL with job[0] set: not ready after wait_ns (503, Retry-After). NULL with err: it failed. */
struct reel_plan *plans_get(struct derived_cache *cache, const struct plan_request *q, int64_t wait_ns, char job[33],
                            struct reel_error *err);

#endif
