/* /admin/retention: the rules and quotas, a preview of what they would remove, and a run of them. */
#include "maintenance/retention.h"
#include "app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/admin/admin.h"
#include "api/body.h"
#include "api/job_reply.h"
#include "api/paging.h"
#include "base/cleanup.h"
#include "maintenance/settings.h"
#include "views/views.h"
#include "work/jobs.h"

/* The stored document, with the settings of the configuration and the last run. */
static void reply_document(struct http_request *r) {
    struct app *app = http_app(r);
    struct reel_error err = {0};
    json_t *document = retention_get(app->catalog, &err);
    if (!document) {
        http_reply_error(r, &err);
        return;
    }
    json_t *last = retention_last(app->catalog, &err);
    json_object_set_new(document, "trash_days", json_integer(app->config.trash_days));
    json_object_set_new(document, "last_run", last ? last : json_null());
    http_reply_json(r, 200, document);
}

void api_retention_get(struct http_request *r) {
    reply_document(r);
}

/* The rules and quotas of the body; NULL: replied. */
static json_t *read_document(struct http_request *r) {
    json_t *body = body_json(r);
    if (body) {
        json_object_del(body, "trash_days"); /* so that the answer of GET can be sent back */
        json_object_del(body, "last_run");
    }
    return body;
}

void api_retention_put(struct http_request *r) {
    struct reel_error err = {0};
    const json_t *body = read_document(r);
    if (!body) {
        return;
    }
    if (retention_set(http_app(r)->catalog, body, &err) && settings_save(http_app(r), &err)) {
        reply_document(r);
    } else if (err.code == REEL_ARGUMENT) {
        http_reply_problem(r, 400, "bad-body", "%s", err.text);
    } else {
        http_reply_error(r, &err);
    }
}

static json_t *view_item(const struct retention_item *item) {
    static const char *const whys[] = {
        [RETENTION_AGE] = "age", [RETENTION_BYTES] = "size", [RETENTION_TRASH] = "trash"};
    const struct retention_row *row = &item->row;
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:o, s:o}", "action",
                     item->why == RETENTION_TRASH ? "purge" : "trash", "why", whys[item->why], "recording", row->id,
                     "collection", row->collection, "name", row->name, "revision", (int)row->revision, "size",
                     view_u64(row->size), "created", view_time(row->created_ns, REEL_CLOCK_WALL));
}

/* Runs the preview until the page is full. */
static bool retention_fill(struct app *app, const json_t *document, struct retention_walk *w, uint32_t limit,
                           json_t *out, struct reel_error *err) {
    AUTO_MEM struct retention_item *items = calloc(RETENTION_STEP, sizeof *items);
    int64_t now_ns = reel_now_ns();
    bool good = items || reel_fail_memory(err);
    while (good && !w->over && json_array_size(out) < limit) {
        uint32_t n = 0;
        good = retention_step(app, document, now_ns, w, limit - (uint32_t)json_array_size(out), items, &n, err);
        for (uint32_t i = 0; i < n; i++) {
            json_array_append_new(out, view_item(&items[i]));
        }
        retention_items_done(items, n);
    }
    return good;
}

/* The document to preview: that of the body, or the stored one. NULL: replied. */
static json_t *document_to_try(struct http_request *r, json_t *given) {
    struct reel_error err = {0};
    if (json_object_size(given) > 0 && !retention_check(given, &err)) {
        http_reply_problem(r, 400, "bad-body", "%s", err.text);
        return NULL;
    }
    json_t *document = json_object_size(given) > 0 ? json_incref(given) : retention_get(http_app(r)->catalog, &err);
    if (!document) {
        http_reply_error(r, &err);
    }
    return document;
}

static void reply_dry(struct http_request *r, json_t *given) {
    static const char *const columns[] = {"action",   "why",  "recording", "collection", "name",
                                          "revision", "size", "created",   NULL};
    struct retention_walk w = {0};
    struct reel_error err = {0};
    uint32_t limit = paging_limit(r);
    AUTO_MEM char *after = NULL;
    if (!paging_after(r, &after)) {
        return;
    }
    if (after && !retention_walk_parse(after, &w)) {
        http_reply_bad_param(r, "cursor", "is not a cursor of this server");
        return;
    }
    json_auto_t *document = document_to_try(r, given);
    if (!document) {
        retention_walk_done(&w);
        return;
    }
    json_t *items = json_array();
    if (retention_fill(http_app(r), document, &w, limit, items, &err)) {
        AUTO_MEM char *next = w.over ? NULL : retention_walk_text(&w);
        paging_reply(r, items, next, columns);
    } else {
        json_decref(items);
        http_reply_error(r, &err);
    }
    retention_walk_done(&w);
}

void api_retention_run(struct http_request *r) {
    struct reel_error err = {0};
    json_t *given = read_document(r);
    bool dry = false;
    http_param_bool(r, "dry_run", &dry);
    if (!given) {
        return;
    }
    if (dry) {
        reply_dry(r, given);
        return;
    }
    if (json_object_size(given) > 0) {
        http_reply_problem(r, 400, "bad-body",
                           "rules are only tried with dry_run=true; PUT /api/v1/admin/retention saves them");
        return;
    }
    char id[JOB_ID_TEXT];
    const struct job_spec spec = {.kind = "retention", .subject = "retention rules and trash", .alone = true};
    struct app *app = http_app(r);
    if (!jobs_add(app->jobs, &spec, id, &err)) {
        http_reply_error(r, &err);
        return;
    }
    struct reel_error ignored; /* the job has it */
    (void)jobs_wait(app->jobs, id, api_wait_ns(r, 0), &ignored);
    api_reply_job(r, id);
}
