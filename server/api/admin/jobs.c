/* /jobs: lists and cancels background jobs. */
#include "work/jobs.h"
#include "http/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/admin/admin.h"
#include "api/paging.h"
#include "app.h"
#include "base/cleanup.h"
#include "views/views.h"

enum {
    QUIET_POLLS = 40,
    PAGES_MAX = 16,
    KINDS_MAX = 16
}; /* PAGES_MAX: read for one answer, as the caller may see or want few of the rows */
static const int64_t POLL_NS = 250000000;

static json_t *view_job(const struct jobs *jobs, const char *prefix, const struct catalog_job *j) {
    const struct job_kind *kind = jobs_kind(jobs, j->kind);
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "id", j->id, "kind", j->kind, "subject", j->subject,
                          "state", job_state_name(j->state), "done", view_u64(j->done), "total", view_u64(j->total),
                          "created", view_time(j->created_ns, REEL_CLOCK_WALL));
    if (j->ended_ns) {
        json_object_set_new(o, "ended", view_time(j->ended_ns, REEL_CLOCK_WALL));
    }
    if (j->state == JOB_FAILED) {
        json_object_set_new(o, "problem", json_string(j->error.text));
    }
    if (kind && kind->result && j->state == JOB_DONE) {
        json_object_set_new(o, "result", json_sprintf("%s%s", prefix, kind->result));
    }
    json_t *outcome = j->outcome[0] ? json_loads(j->outcome, 0, NULL) : NULL;
    if (outcome) {
        json_object_set_new(o, "outcome", outcome);
    }
    return o;
}

/* A token limited to collections sees the jobs of these, but no server-wide jobs. */
static bool is_shown(const struct http_request *r, const struct catalog_job *j) {
    const struct http_caller *caller = http_caller(r);
    return !caller->collections || (j->collection[0] && http_caller_sees(caller, j->collection));
}

/* A plan belongs to no collection, and several requests may wait for it. Its unguessable id is returned to each of
 * them; they may read the job but not cancel it. */
static bool is_waited_for(const struct catalog_job *j) {
    return strcmp(j->kind, "plan") == 0;
}

/* Whether `value` is among the values of the parameter, or there are none. */
static bool is_among(const struct http_request *r, const char *name, const char *value) {
    const char *values[KINDS_MAX];
    size_t n = http_params(r, name, values, KINDS_MAX);
    bool found = n == 0;
    for (size_t i = 0; i < n; i++) {
        found = found || strcmp(values[i], value) == 0;
    }
    return found;
}

static bool is_wanted(const struct http_request *r, const struct catalog_job *j) {
    return is_among(r, "kind", j->kind) && is_among(r, "state", job_state_name(j->state));
}

/* A page of the jobs that the caller may see. *more: the row where the next page begins, 0 at the end. */
static bool jobs_fill(struct http_request *r, json_t *items, int64_t before, uint32_t limit, int64_t *more,
                      struct reel_error *err) {
    struct jobs *jobs = http_app(r)->jobs;
    AUTO_MEM struct catalog_job *page = calloc(limit, sizeof *page);
    uint32_t n = limit;
    *more = 0;
    if (!page) {
        return reel_fail_memory(err);
    }
    for (unsigned pages = 0; json_array_size(items) < limit && n > 0 && pages < PAGES_MAX; pages++) {
        uint32_t room = limit - (uint32_t)json_array_size(items);
        if (!jobs_list(jobs, before, page, room, &n, err)) {
            return false;
        }
        for (uint32_t i = 0; i < n; i++) {
            before = page[i].row;
            if (is_wanted(r, &page[i]) && is_shown(r, &page[i])) {
                json_array_append_new(items, view_job(jobs, http_prefix(r), &page[i]));
            }
            catalog_job_done(&page[i]);
        }
        *more = n == room ? before : 0;
    }
    return true;
}

void api_jobs_list(struct http_request *r) {
    static const char *const columns[] = {"id",      "kind",  "subject", "state",  "done",    "total",
                                          "created", "ended", "problem", "result", "outcome", NULL};
    struct reel_error err = {0};
    uint32_t limit = paging_limit(r);
    int64_t before = 0, more = 0;
    if (!paging_after_row(r, &before)) {
        return;
    }
    json_t *items = json_array();
    if (!jobs_fill(r, items, before, limit, &more, &err)) {
        json_decref(items);
        http_reply_error(r, &err);
        return;
    }
    char next[32];
    snprintf(next, sizeof next, "%lld", (long long)more);
    paging_reply(r, items, more ? next : NULL, columns);
}

static void reply_no_job(struct http_request *r) {
    http_reply_problem(r, 404, "not-found", "there is no job %s; ended ones are kept for a week",
                       http_segment(r, "id"));
}

/* The job in the path, if the caller may see it; the caller frees it. */
static bool admin_jobs_find(struct http_request *r, struct catalog_job *j) {
    struct reel_error ignored;
    if (!jobs_find(http_app(r)->jobs, http_segment(r, "id"), j, &ignored)) {
        return false;
    }
    if (is_shown(r, j) || is_waited_for(j)) {
        return true;
    }
    catalog_job_done(j);
    return false;
}

bool jobs_find_shown(struct http_request *r, struct catalog_job *out) {
    if (admin_jobs_find(r, out)) {
        return true;
    }
    reply_no_job(r);
    return false;
}

/* ---- progress: an event for each change, at most a few per second, and "end" with the last */

struct follow {
    struct http_request *r;
    struct jobs *jobs;
    const char *prefix;
    struct catalog_job sent;
    unsigned quiet; /* polls since the last event or comment */
    bool begun, over;
};

static bool is_over(const struct catalog_job *j) {
    return j->state != JOB_QUEUED && j->state != JOB_RUNNING;
}

static bool is_news(const struct follow *f, const struct catalog_job *now) {
    return !f->begun || is_over(now) || now->state != f->sent.state || now->done != f->sent.done ||
           now->total != f->sent.total || strcmp(now->outcome, f->sent.outcome) != 0;
}

/* The state of the job now; one that has left no row has succeeded. */
static bool read_again(struct follow *f, struct catalog_job *now, struct reel_error *err) {
    struct reel_error why = {0};
    catalog_job_done(now);
    if (jobs_find(f->jobs, f->sent.id, now, &why)) {
        return true;
    }
    if (why.code != REEL_NOT_FOUND) {
        return reel_error_pass(err, &why);
    }
    *now = f->sent;
    now->options = NULL;
    now->state = JOB_DONE;
    return true;
}

/* The next event, or a comment that keeps proxies from closing the connection. */
static bool next_event(void *context, void *buffer, size_t size, size_t *got, struct reel_error *err) {
    struct follow *f = context;
    AUTO_STRUCT(catalog_job_done) struct catalog_job now = {0};
    *got = 0;
    if (f->over) {
        return true;
    }
    for (bool news = false; !news && f->quiet < QUIET_POLLS; f->quiet++) {
        struct reel_error ignored;
        if (f->begun) {
            (void)jobs_wait(f->jobs, f->sent.id, POLL_NS, &ignored);
        }
        if (jobs_stopping(f->jobs)) {
            return reel_fail(err, REEL_CANCELLED, "the server stops");
        }
        enum http_ending ending = http_stream_ending(f->r, false);
        if (ending == HTTP_REVOKED || ending == HTTP_GONE) {
            return true;
        }
        if (!read_again(f, &now, err)) {
            return false;
        }
        news = is_news(f, &now);
    }
    if (f->quiet == QUIET_POLLS) {
        *got = (size_t)snprintf(buffer, size, ": still there\n\n");
        f->quiet = 0;
        return true;
    }
    f->quiet = 0;
    f->begun = true;
    f->over = is_over(&now);
    json_t *view = view_job(f->jobs, f->prefix, &now);
    f->sent = now;
    f->sent.options = NULL;
    char *text = json_text(view);
    json_decref(view);
    int n = text ? snprintf(buffer, size, "event: %s\ndata: %s\n\n", f->over ? "end" : "progress", text) : -1;
    free(text);
    *got = n > 0 && (size_t)n < size ? (size_t)n : 0;
    return *got > 0 || reel_fail_memory(err);
}

static void follow(struct http_request *r) {
    AUTO_STRUCT(catalog_job_done) struct catalog_job now = {0};
    if (!admin_jobs_find(r, &now)) {
        reply_no_job(r);
        return;
    }
    struct follow *f = calloc(1, sizeof *f);
    if (!f) {
        http_reply_no_memory(r);
        return;
    }
    f->r = r;
    f->jobs = http_app(r)->jobs;
    f->prefix = http_prefix(r);
    f->sent = now;
    f->sent.options = NULL;
    http_add_header(r, "Cache-Control", "no-store");
    http_reply_stream(
        r, &(struct http_stream){
               .media_type = "text/event-stream", .next = next_event, .free = free, .context = f, .lasts = true});
}

void api_job_get(struct http_request *r) {
    static const char *const offers[] = {"application/json", "text/event-stream", NULL};
    const char *media = http_negotiate(r, offers);
    AUTO_STRUCT(catalog_job_done) struct catalog_job job = {0};
    if (media && strcmp(media, offers[1]) == 0) {
        follow(r);
    } else if (admin_jobs_find(r, &job)) {
        http_reply_json(r, 200, view_job(http_app(r)->jobs, http_prefix(r), &job));
    } else {
        reply_no_job(r);
    }
}

void api_job_cancel(struct http_request *r) {
    AUTO_STRUCT(catalog_job_done) struct catalog_job job = {0};
    struct reel_error err = {0};
    if (!admin_jobs_find(r, &job)) {
        reply_no_job(r);
    } else if (!is_shown(r, &job)) {
        http_reply_problem(r, 403, "forbidden",
                           "others may wait for this job too, and %s is limited to some collections",
                           http_caller(r)->name);
    } else if (job.state == JOB_CANCELLED || jobs_cancel(http_app(r)->jobs, job.id, &err)) {
        http_reply_empty(r, 204);
    } else if (err.code == REEL_NOT_FOUND) {
        http_reply_problem(r, 409, "conflict", "this job has ended: it cannot be cancelled any more");
    } else {
        http_reply_error(r, &err);
    }
}
