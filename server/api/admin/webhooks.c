/* /webhooks: URLs that get changes by POST. */
#include "events/webhooks.h"

#include <openssl/rand.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/admin/admin.h"
#include "api/body.h"
#include "api/paging.h"
#include "base/cleanup.h"
#include "base/hex.h"
#include "base/number.h"
#include "maintenance/settings.h"
#include "views/views.h"
#include "work/jobs.h"

enum { KINDS_MAX = 32, COLLECTIONS_MAX = 64, GLOB_MAX = 255, SECRET_BYTES = 32 };

static json_t *webhooks_view(const struct webhook *w) {
    json_t *o = json_pack("{s:I, s:s, s:O, s:O, s:o, s:o, s:o, s:o, s:o}", "id", (json_int_t)w->row, "url", w->url,
                          "events", w->events, "collections", w->collections, "created",
                          view_time(w->created_ns, REEL_CLOCK_WALL), "delivered", view_u64(w->delivered), "dropped",
                          view_u64(w->dropped), "failed_tries", view_u64(w->tries), "since", json_integer(w->seq));
    json_object_set_new(o, "next_try", w->next_ns > 0 ? view_time(w->next_ns, REEL_CLOCK_WALL) : json_null());
    return o;
}

void api_webhooks_list(struct http_request *r) {
    static const char *const columns[] = {"id",      "url",          "events", "collections", "created", "delivered",
                                          "dropped", "failed_tries", "since",  "next_try",    NULL};
    struct webhook hooks[WEBHOOKS_MAX];
    struct reel_error err = {0};
    uint32_t n;
    if (!catalog_webhooks(http_app(r)->catalog, hooks, &n, &err)) {
        http_reply_error(r, &err);
        return;
    }
    json_t *items = json_array();
    for (uint32_t i = 0; i < n; i++) {
        json_array_append_new(items, webhooks_view(&hooks[i]));
        webhook_done(&hooks[i]);
    }
    paging_reply(r, items, NULL, columns);
}

/* The number in the path; 0: malformed. */
static int64_t row_of(struct http_request *r) {
    int64_t row = 0;
    number_i64(http_segment(r, "id"), &row);
    return row;
}

void api_webhook_get(struct http_request *r) {
    struct catalog *c = http_app(r)->catalog;
    struct webhook hook;
    struct reel_error err = {0};
    json_t *results = NULL;
    if (catalog_webhook_get(c, row_of(r), &hook, &err) && (results = catalog_webhook_results(c, hook.row, &err))) {
        json_t *body = webhooks_view(&hook);
        json_object_set_new(body, "results", results);
        http_reply_json(r, 200, body);
    } else {
        http_reply_error(r, &err);
    }
    webhook_done(&hook);
}

void api_webhook_delete(struct http_request *r) {
    struct reel_error err = {0};
    if (catalog_webhook_delete(http_app(r)->catalog, row_of(r), &err) && settings_save(http_app(r), &err)) {
        http_reply_empty(r, 204);
    } else {
        http_reply_error(r, &err);
    }
}

/* ---- a new one */

/* A list of globs; NULL: replied. */
static json_t *read_globs(struct http_request *r, const json_t *body, const char *name, size_t max, json_t *fallback) {
    json_t *list = json_object_get(body, name), *one;
    size_t i;
    if (!list || json_is_null(list)) {
        return fallback;
    }
    json_decref(fallback);
    bool good = json_is_array(list) && json_array_size(list) <= max;
    json_array_foreach(list, i, one) {
        good = good && json_string_length(one) > 0 && json_string_length(one) <= GLOB_MAX;
    }
    if (!good) {
        body_refuse(r, name, "must be a list of at most %zu names or globs", max);
        return NULL;
    }
    return json_incref(list);
}

static char *make_secret(void) {
    uint8_t raw[SECRET_BYTES];
    char *text = RAND_bytes(raw, sizeof raw) == 1 ? malloc(2 * SECRET_BYTES + 1) : NULL;
    if (text) {
        hex_write(raw, sizeof raw, text);
    }
    return text;
}

/* False: replied. */
static bool read_url_and_secret(struct http_request *r, const json_t *body, struct webhook *w) {
    struct reel_error err = {0};
    const json_t *secret = json_object_get(body, "secret");
    const char *url = json_string_value(json_object_get(body, "url")), *given = json_string_value(secret);
    if (!url || !webhook_url_check(url, http_app(r)->config.webhook_private, &err)) {
        body_refuse(r, "url", "%s", url ? err.text : "is the URL that gets the POST requests");
        return false;
    }
    if (secret && !json_is_null(secret) &&
        (!given || strlen(given) < WEBHOOK_SECRET_MIN || strlen(given) > WEBHOOK_SECRET_MAX)) {
        body_refuse(r, "secret", "must be a text of %d to %d bytes; without it one is generated", WEBHOOK_SECRET_MIN,
                    WEBHOOK_SECRET_MAX);
        return false;
    }
    w->url = strdup(url);
    w->secret = given ? strdup(given) : make_secret();
    if (!w->url || !w->secret) {
        http_reply_no_memory(r);
        return false;
    }
    return true;
}

static bool read_webhook(struct http_request *r, const json_t *body, struct webhook *w) {
    static const char *const known[] = {"url", "events", "collections", "secret", NULL};
    return body_knows(r, body, known) && read_url_and_secret(r, body, w) &&
           (w->events = read_globs(r, body, "events", KINDS_MAX,
                                   json_pack("[s, s, s]", "recording.created", "scan.failed", "recording.trashed"))) &&
           (w->collections = read_globs(r, body, "collections", COLLECTIONS_MAX, json_array()));
}

/* Adds it to the catalog and to the settings file, or to neither. */
static bool webhooks_add(struct app *app, struct webhook *hook, struct reel_error *err) {
    struct reel_error ignored;
    if (!catalog_webhook_add(app->catalog, hook, err)) {
        return false;
    }
    bool kept = settings_save(app, err);
    if (!kept) {
        catalog_webhook_delete(app->catalog, hook->row, &ignored);
    }
    return kept;
}

void api_webhook_add(struct http_request *r) {
    struct app *app = http_app(r);
    struct webhook hook = {0};
    struct reel_error err = {0};
    json_t *body = body_json(r);
    if (!body || !read_webhook(r, body, &hook)) {
        webhook_done(&hook);
        return;
    }
    if (webhooks_add(app, &hook, &err)) {
        char address[64];
        atomic_store(&app->webhooks.any, true);
        jobs_poke(app->jobs, "webhook");
        snprintf(address, sizeof address, "/api/v1/webhooks/%lld", (long long)hook.row);
        json_t *answer = webhooks_view(&hook);
        json_object_set_new(answer, "secret", json_string(hook.secret));
        http_add_address(r, "Location", address);
        http_add_header(r, "Cache-Control", "no-store");
        http_reply_json(r, 201, answer);
    } else {
        http_reply_error(r, &err);
    }
    webhook_done(&hook);
}

/* ---- a test */

static bool webhooks_goes_on(void *context, uint64_t done, uint64_t total) {
    (void)done, (void)total;
    return !jobs_stopping(context);
}

static json_t *view_test(const struct webhook_result *result) {
    return json_pack("{s:b, s:I, s:I, s:o}", "delivered", result->delivered, "status", (json_int_t)result->status,
                     "took_ms", (json_int_t)result->took_ms, "problem",
                     result->problem[0] ? view_text(result->problem) : json_string(""));
}

void api_webhook_test(struct http_request *r) {
    struct app *app = http_app(r);
    const struct reel_progress progress = {.report = webhooks_goes_on, .context = app->jobs};
    AUTO_STRUCT(webhook_done) struct webhook hook = {0};
    struct reel_error err = {0};
    if (!catalog_webhook_get(app->catalog, row_of(r), &hook, &err)) {
        http_reply_error(r, &err);
        return;
    }
    struct webhook_sender *sender = webhook_sender_new(app->config.webhook_private, &progress, &err);
    json_auto_t *sample =
        json_pack("{s:i, s:s, s:o, s:s, s:s}", "seq", 0, "kind", "webhook.test", "time",
                  view_time(reel_now_ns(), REEL_CLOCK_WALL), "collection", "sample", "name", "sample.bag");
    if (sender && sample) {
        struct webhook_result result = {0};
        webhook_send(sender, &hook, sample, &result);
        http_reply_json(r, 200, view_test(&result));
    } else {
        http_reply_no_memory(r);
    }
    webhook_sender_free(sender);
}
