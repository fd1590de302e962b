/* See plans.h. */
#include "api/export/plans.h"

#include <stdlib.h>

#include "base/cleanup.h"

struct request { /* the job's */
    struct reel_conversion *conversion;
    struct reel_keep keep;
};

static void plans_free_request(void *context) {
    struct request *q = context;
    if (q) {
        reel_conversion_free(q->conversion);
        free(q);
    }
}

static bool make_plan(void *context, const struct reel_progress *progress, void **thing, uint64_t *memory,
                      struct reel_error *err) {
    const struct request *q = context;
    struct reel_plan *plan = reel_conversion_plan(q->conversion, &q->keep, progress, err);
    *thing = plan;
    *memory = plan ? reel_plan_memory(plan) : 0;
    return plan;
}

static void *ref_plan(void *plan) {
    return reel_plan_ref(plan);
}
static void unref_plan(void *plan) {
    reel_plan_free(plan);
}
static uint64_t kept_of_plan(const void *plan) {
    return reel_plan_kept(plan);
}
static void forget_kept(void *plan) {
    reel_plan_forget(plan);
}

struct reel_plan *plans_get(struct derived_cache *cache, const struct plan_request *q, int64_t wait_ns, char job[33],
                            struct reel_error *err) {
    static const struct derived_kind kind = {.job = "plan",
                                             .make = make_plan,
                                             .free_context = plans_free_request,
                                             .ref = ref_plan,
                                             .unref = unref_plan,
                                             .kept = kept_of_plan,
                                             .forget = forget_kept};
    struct request *request = calloc(1, sizeof *request);
    if (request) {
        request->conversion = reel_conversion_ref(q->conversion);
        request->keep = derived_keep(cache);
    }
    const struct derived_request derived = {
        .key = q->key, .subject = q->conversion->writer->name, .owner = q->owner, .wait_ns = wait_ns};
    return derived_get(cache, &kind, &derived, request, job, err);
}

struct reel_plan *plans_find(struct derived_cache *cache, const char *key) {
    return derived_find(cache, key);
}
