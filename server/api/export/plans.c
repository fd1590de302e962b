/* See plans.h. */
#include "api/export/plans.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/digest.h"

enum { KEY_TEXT = 64, LENGTHS = 1 << 16 };

struct request { /* the job's */
    struct reel_conversion *conversion;
    struct reel_keep keep;
    char key[KEY_TEXT];
};

/* ---- lengths: a list of many conversions needs them all, and their plans do not fit in the cache together */

struct length { /* two keys with one slot: the later one counts */
    uint8_t key[DIGEST_SHA256];
    uint64_t bytes;
};
static pthread_mutex_t lengths_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct length *lengths; /* LENGTHS of them; NULL: none is known */

static struct length *slot_of(const uint8_t key[DIGEST_SHA256]) {
    return lengths ? &lengths[(size_t)key[0] | (size_t)key[1] << 8] : NULL;
}

static void note_length(const char *key, uint64_t bytes) {
    struct length one = {.bytes = bytes};
    digest_of(DIGEST_SHA256, bytes_text(key), one.key);
    pthread_mutex_lock(&lengths_mutex);
    lengths = lengths ? lengths : calloc(LENGTHS, sizeof *lengths);
    struct length *slot = slot_of(one.key);
    if (slot) {
        *slot = one;
    }
    pthread_mutex_unlock(&lengths_mutex);
}

bool plans_length(const char *key, uint64_t *length) {
    uint8_t digest[DIGEST_SHA256];
    digest_of(DIGEST_SHA256, bytes_text(key), digest);
    pthread_mutex_lock(&lengths_mutex);
    const struct length *slot = slot_of(digest);
    bool known = slot && memcmp(slot->key, digest, sizeof digest) == 0;
    *length = known ? slot->bytes : 0;
    pthread_mutex_unlock(&lengths_mutex);
    return known;
}

/* ---- plans */

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
    if (plan) {
        note_length(q->key, reel_plan_length(plan));
    }
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
        snprintf(request->key, sizeof request->key, "%s", q->key);
    }
    const struct derived_request derived = {
        .key = q->key, .subject = q->conversion->writer->name, .owner = q->owner, .wait_ns = wait_ns};
    return derived_get(cache, &kind, &derived, request, job, err);
}

struct reel_plan *plans_find(struct derived_cache *cache, const char *key) {
    return derived_find(cache, key);
}
