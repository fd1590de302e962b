/* /failures: files that could not be imported and recordings that could not be scanned. Files are named by their path
 * below an import root.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/job_reply.h"
#include "api/paging.h"
#include "api/uploads/uploads.h"
#include "app.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "imports/import.h"
#include "scans/scan_job.h"
#include "store/roots.h"
#include "views/views.h"

enum { TRIES_MAX = 16 }; /* pages read per answer, as the caller may be allowed to see few of the rows */

static const char *const columns[] = {"id",     "path",  "recording",    "name",        "collection", "code",
                                      "reason", "tries", "first_failed", "last_failed", NULL};
static const char *code_name(enum reel_code code) {
    static const char *const names[] = {
        "unreadable", "not_recognised", "damaged",   "unsupported", "too_large", "refused",   "gone",    "conflict",
        "io",         "no_space",       "no_memory", "cancelled",   "changed",   "read_only", "catalog", "busy"};
    return (size_t)code < sizeof names / sizeof *names ? names[code] : "unknown";
}

/* Below a root that is no longer configured only the file's name is shown. */
static char *failures_path_of(const struct roots *roots, const struct catalog_failure *f) {
    const char *below = import_is_url(f->folder) ? f->folder : f->folder[0] ? roots_below(roots, f->folder) : NULL;
    char *path = NULL;
    if (below && strcmp(f->name, ".") == 0) { /* the folder itself */
        return strdup(below);
    }
    bool plain = !below || strcmp(below, ".") == 0;
    return asprintf(&path, "%s%s%s", plain ? "" : below, plain ? "" : "/", f->name) < 0 ? NULL : path;
}

static json_t *view_failure(const struct roots *roots, const struct catalog_failure *f) {
    AUTO_MEM char *path = failures_path_of(roots, f);
    const char *name = strrchr(path ? path : "", '/');
    name = f->recording[0] ? f->recording_name : name ? name + 1 : path;
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:s, s:o, s:I, s:o, s:o}", "id", (json_int_t)f->row, "path",
                     view_text(path), "recording", view_text(f->recording), "name", view_text(name), "collection",
                     view_text(f->collection), "code", code_name(f->code), "reason", view_text(f->reason), "tries",
                     (json_int_t)f->tries, "first_failed", view_time(f->first_ns, REEL_CLOCK_WALL), "last_failed",
                     view_time(f->last_ns, REEL_CLOCK_WALL));
}

/* A page of the failures that the caller may see. *more: the row where the next page begins, 0 at the end. */
static bool failures_fill(struct http_request *r, json_t *items, int64_t after, uint32_t limit, int64_t *more,
                          struct reel_error *err) {
    AUTO_MEM struct catalog_failure *page = calloc(limit, sizeof *page);
    uint32_t n = limit;
    *more = 0;
    if (!page) {
        return reel_fail_memory(err);
    }
    for (unsigned tries = 0; json_array_size(items) < limit && n > 0 && tries < TRIES_MAX; tries++) {
        uint32_t room = limit - (uint32_t)json_array_size(items);
        if (!catalog_failures_after(http_app(r)->catalog, after, page, room, &n, err)) {
            return false;
        }
        for (uint32_t i = 0; i < n; i++) {
            after = page[i].row;
            if (http_caller_sees(http_caller(r), page[i].collection)) {
                json_array_append_new(items, view_failure(http_app(r)->roots, &page[i]));
            }
            catalog_failure_done(&page[i]);
        }
        *more = n == room ? after : 0;
    }
    return true;
}

void api_failures(struct http_request *r) {
    struct reel_error err = {0};
    uint32_t limit = paging_limit(r);
    int64_t after = 0, more = 0;
    if (!paging_after_row(r, &after)) {
        return;
    }
    json_t *items = json_array();
    if (!failures_fill(r, items, after, limit, &more, &err)) {
        json_decref(items);
        http_reply_error(r, &err);
        return;
    }
    char next[32];
    snprintf(next, sizeof next, "%lld", (long long)more);
    paging_reply(r, items, more ? next : NULL, columns);
}

/* ---- one of them */

static bool failures_find(struct http_request *r, struct catalog_failure *f) {
    struct reel_error err = {0};
    int64_t row;
    if (!number_i64(http_segment(r, "id"), &row)) {
        http_reply_problem(r, 404, "not-found", "there is no such failure");
        return false;
    }
    if (!catalog_failure_get(http_app(r)->catalog, row, f, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    if (!http_caller_sees(http_caller(r), f->collection)) {
        catalog_failure_done(f);
        http_reply_problem(r, 404, "not-found", "there is no such failure");
        return false;
    }
    return true;
}

void api_failure_forget(struct http_request *r) {
    AUTO_STRUCT(catalog_failure_done) struct catalog_failure f = {0};
    struct reel_error err = {0};
    if (!failures_find(r, &f)) {
        return;
    }
    if (catalog_failure_forget(http_app(r)->catalog, f.row, &err)) {
        http_reply_empty(r, 204);
    } else {
        http_reply_error(r, &err);
    }
}

/* Imports the file again, or scans the stored recording again. */
static bool try_again(struct app *app, const struct catalog_failure *f, char job[JOB_ID_TEXT], struct reel_error *err) {
    if (!f->recording[0]) {
        AUTO_STRUCT(import_request_done) struct import_request q = {.failure = f->row};
        q.collection = strdup(f->collection);
        return q.collection ? import_start(app, &q, job, err) : reel_fail_memory(err);
    }
    struct catalog_recording row;
    if (!catalog_get(app->catalog, f->recording, &row, err)) {
        return false;
    }
    bool added = scan_again(app, &row, job, err);
    catalog_recording_done(&row);
    return added;
}

void api_failure_retry(struct http_request *r) {
    AUTO_STRUCT(catalog_failure_done) struct catalog_failure f = {0};
    struct reel_error err = {0};
    char job[JOB_ID_TEXT];
    if (!failures_find(r, &f)) {
        return;
    }
    if (!try_again(http_app(r), &f, job, &err)) {
        http_reply_error(r, &err);
        return;
    }
    api_reply_job(r, job);
}
