/* See webhooks.h. */
#include "events/webhooks.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reel/time.h"
#include "work/jobs.h"

enum { TURN_MAX = 64, BACK_OFF_STEPS = 12, GLOBS_MAX = 64 };
#define SECOND_NS INT64_C(1000000000)
static const int64_t BACK_OFF_MAX_NS = 3600 * SECOND_NS, KEPT_NS = 86400 * SECOND_NS;

static const char *const *globs_of(const json_t *array, const char *out[GLOBS_MAX + 1]) {
    size_t n = json_array_size(array);
    for (size_t i = 0; i < n && i < GLOBS_MAX; i++) {
        out[i] = json_string_value(json_array_get(array, i));
    }
    out[n < GLOBS_MAX ? n : GLOBS_MAX] = NULL;
    return n > 0 ? out : NULL;
}

/* The next change to deliver to it, as the array's only item. hook->seq is then the last one read. */
static bool next_change(struct app *app, struct webhook *hook, json_t *items, struct reel_error *err) {
    const char *kinds[GLOBS_MAX + 1], *collections[GLOBS_MAX + 1];
    const struct change_filter filter = {.kinds = globs_of(hook->events, kinds),
                                         .collections = globs_of(hook->collections, collections),
                                         .prefix = app->prefix};
    for (int64_t before = -1; json_array_size(items) == 0 && before != hook->seq;) {
        before = hook->seq;
        if (!catalog_changes(app->catalog, &filter, &hook->seq, 1, items, err)) {
            return false;
        }
    }
    return true;
}

/* A failed change is tried again at hook->next_ns; one that failed for a day is dropped. */
static bool record_result(struct app *app, struct webhook *hook, const json_t *change, struct webhook_result *result,
                          struct reel_error *err) {
    struct reel_time since;
    int64_t now = reel_now_ns();
    const char *time = json_string_value(json_object_get(change, "time"));
    if (!result->delivered) {
        uint64_t tries = hook->tries < BACK_OFF_STEPS ? hook->tries : BACK_OFF_STEPS;
        int64_t pause = SECOND_NS << tries;
        hook->next_ns = result->next_ns = now + (pause < BACK_OFF_MAX_NS ? pause : BACK_OFF_MAX_NS);
    }
    atomic_fetch_add(result->delivered ? &app->webhooks.delivered : &app->webhooks.failed, 1);
    bool old = !result->delivered && time && reel_time_parse(time, 1, &since, NULL) && now - since.ns > KEPT_NS;
    atomic_fetch_add(&app->webhooks.dropped, old);
    return catalog_webhook_result(app->catalog, hook->row, result, err) &&
           (!old || catalog_webhook_moved(app->catalog, hook->row, result->seq, 1, err));
}

/* Changes that were trimmed before their delivery are counted as dropped. */
static bool catch_up(struct app *app, struct webhook *hook, struct reel_error *err) {
    int64_t first, last;
    if (!catalog_changes_ends(app->catalog, &first, &last, err)) {
        return false;
    }
    if (first <= hook->seq + 1) {
        return true;
    }
    int64_t lost = first - 1 - hook->seq;
    hook->seq = first - 1;
    atomic_fetch_add(&app->webhooks.dropped, (uint64_t)lost);
    return catalog_webhook_moved(app->catalog, hook->row, hook->seq, (uint64_t)lost, err);
}

/* The next change. *more: there may be another. */
static bool deliver_one(struct app *app, struct webhook *hook, struct webhook_sender *sender,
                        const struct job_call *call, bool *more, struct reel_error *err) {
    json_auto_t *items = json_array();
    struct webhook_result result = {0};
    *more = false;
    if (!next_change(app, hook, items, err)) {
        return false;
    }
    const json_t *change = json_array_get(items, 0);
    if (!change) { /* what the filter does not let through need not be read again */
        return catalog_webhook_moved(app->catalog, hook->row, hook->seq, 0, err);
    }
    webhook_send(sender, hook, change, &result);
    if (!result.delivered && !call->progress->report(call->progress->context, 0, 0)) { /* an aborted POST is not counted
                                                                                          as an attempt */
        return reel_fail(err, REEL_CANCELLED, "cancelled");
    }
    if (!record_result(app, hook, change, &result, err)) {
        return false;
    }
    *more = result.delivered;
    *call->come_back_ns = result.delivered ? 0 : hook->next_ns;
    hook->tries = 0;
    return true;
}

static bool deliver(struct app *app, struct webhook *hook, const struct job_call *call, struct reel_error *err) {
    struct webhook_sender *sender = webhook_sender_new(app->config.webhook_private, call->progress, err);
    bool good = sender && catch_up(app, hook, err), more = good;
    for (unsigned n = 0; good && more && n < TURN_MAX; n++) {
        good = deliver_one(app, hook, sender, call, &more, err);
    }
    if (good && more) { /* others have their turn */
        *call->come_back_ns = reel_now_ns();
    }
    webhook_sender_free(sender);
    return good;
}

bool webhook_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    struct webhook hook = {0};
    struct reel_error why = {0};
    if (!catalog_webhook_get(app->catalog, strtoll(call->key, NULL, 10), &hook, &why)) {
        return why.code == REEL_NOT_FOUND || reel_error_pass(err, &why); /* it was deleted */
    }
    bool early = hook.next_ns > reel_now_ns(), good = true;
    if (early) {
        *call->come_back_ns = hook.next_ns;
    } else {
        good = deliver(app, &hook, call, err);
    }
    webhook_done(&hook);
    return good;
}

bool webhooks_add_jobs(struct app *app) {
    int64_t rows[WEBHOOKS_MAX];
    uint32_t n = 0;
    struct reel_error ignored;
    catalog_webhooks_due(app->catalog, rows, &n, &ignored);
    for (uint32_t i = 0; i < n; i++) {
        char key[24];
        snprintf(key, sizeof key, "%lld", (long long)rows[i]);
        jobs_add(app->jobs, &(struct job_spec){.kind = "webhook", .key = key, .subject = key}, NULL, &ignored);
    }
    return false;
}
