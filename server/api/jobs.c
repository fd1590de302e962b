/* /jobs: lists and cancels background jobs. */
#include "ingest/jobs.h"
#include "http/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/routes.h"
#include "api/rows.h"
#include "api/views.h"
#include "app.h"

enum { LIST_MAX = 1000, QUIET_POLLS = 40 };
static const int64_t POLL_NS = 250000000;

static json_t *view_job(const struct job_view *j) {
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "id", j->id, "kind", j->kind, "subject", j->subject, "state",
                          job_state_name(j->state), "done", view_u64(j->done), "total", view_u64(j->total), "created",
                          view_time(j->created_ns, REEL_CLOCK_WALL));
    if (j->ended_ns) {
        json_object_set_new(o, "ended", view_time(j->ended_ns, REEL_CLOCK_WALL));
    }
    if (j->state == JOB_FAILED) {
        json_object_set_new(o, "problem", json_string(j->error.text));
    }
    if (j->result[0]) {
        json_object_set_new(o, "result", json_string(j->result));
    }
    json_t *outcome = j->outcome[0] ? json_loads(j->outcome, 0, NULL) : NULL;
    if (outcome) {
        json_object_set_new(o, "outcome", outcome);
    }
    return o;
}

/* A token limited to collections sees the jobs of these, but no server-wide jobs. */
static bool is_shown(const struct http_request *r, const struct job_view *j) {
    const struct http_caller *caller = http_caller(r);
    return !caller->collections || (j->collection[0] && http_caller_sees(caller, j->collection));
}

/* A plan belongs to no collection, and several requests may wait for it. Its unguessable id is returned to each of them; they may read
 * the job but not cancel it. */
static bool is_waited_for(const struct job_view *j) {
    return strcmp(j->kind, "plan") == 0;
}

void api_jobs_list(struct http_request *r) {
    static const char *const columns[] = {"id",      "kind",  "subject", "state",  "done",    "total",
                                          "created", "ended", "problem", "result", "outcome", NULL};
    struct rows_form form;
    if (!rows_form(r, &form)) {
        return;
    }
    struct job_view *views = malloc(LIST_MAX * sizeof *views);
    if (!views) {
        http_reply_no_memory(r);
        return;
    }
    size_t n = jobs_list(http_app(r)->jobs, views, LIST_MAX);
    json_t *items = json_array();
    for (size_t i = 0; i < n; i++) {
        if (is_shown(r, &views[i])) {
            json_array_append_new(items, view_job(&views[i]));
        }
    }
    free(views);
    rows_reply(r, &form, json_pack("{s:O, s:n}", "items", items, "next"), items, columns);
}

static void reply_no_job(struct http_request *r) {
    http_reply_problem(r, 404, "not-found", "there is no job %s; ended ones are kept for an hour", http_segment(r, "id"));
}

/* The job in the path, if the caller may see it. */
static bool find(struct http_request *r, struct job_view *j) {
    return jobs_find(http_app(r)->jobs, http_segment(r, "id"), j) && (is_shown(r, j) || is_waited_for(j));
}

/* ---- progress: an event for each change, at most a few per second, and "end" with the last */

struct follow {
    struct http_request *request;
    struct job *job;
    struct job_view sent;
    unsigned quiet; /* polls since the last event or comment */
    bool begun, over;
};

static bool is_over(const struct job_view *v) {
    return v->state != JOB_QUEUED && v->state != JOB_RUNNING;
}

static bool is_news(const struct follow *f, const struct job_view *now) {
    return !f->begun || is_over(now) || now->state != f->sent.state || now->done != f->sent.done || now->total != f->sent.total ||
           strcmp(now->outcome, f->sent.outcome) != 0;
}

/* The next event, or a comment that keeps proxies from closing the connection. */
static bool next_event(void *context, void *buffer, size_t size, size_t *got, struct reel_error *err) {
    struct follow *f = context;
    struct job_view now;
    *got = 0;
    if (f->over) {
        return true;
    }
    for (bool news = false; !news && f->quiet < QUIET_POLLS; f->quiet++) {
        if (f->begun) {
            job_wait(f->job, POLL_NS);
        }
        if (http_is_stopping(f->request)) {
            return reel_fail(err, REEL_CANCELLED, "the server stops");
        }
        job_view(f->job, &now);
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
    f->sent = now;
    json_t *view = view_job(&now);
    char *text = json_text(view);
    json_decref(view);
    int n = text ? snprintf(buffer, size, "event: %s\ndata: %s\n\n", f->over ? "end" : "progress", text) : -1;
    free(text);
    *got = n > 0 && (size_t)n < size ? (size_t)n : 0;
    return *got > 0 || reel_fail_memory(err);
}

static void free_follow(void *context) {
    struct follow *f = context;
    job_unref(f->job);
    free(f);
}

static void follow(struct http_request *r) {
    struct job_view view;
    struct job *job = find(r, &view) ? jobs_get(http_app(r)->jobs, view.id) : NULL;
    struct follow *f = job ? calloc(1, sizeof *f) : NULL;
    if (!f) {
        job_unref(job);
        reply_no_job(r);
        return;
    }
    f->request = r;
    f->job = job;
    http_add_header(r, "Cache-Control", "no-store");
    http_reply_stream(r, &(struct http_stream){.media_type = "text/event-stream", .next = next_event, .free = free_follow, .context = f});
}

void api_job_get(struct http_request *r) {
    static const char *const offers[] = {"application/json", "text/event-stream", NULL};
    const char *media = http_negotiate(r, offers);
    struct job_view view;
    if (media && strcmp(media, offers[1]) == 0) {
        follow(r);
        return;
    }
    if (find(r, &view)) {
        http_reply_json(r, 200, view_job(&view));
    } else {
        reply_no_job(r);
    }
}

void api_job_cancel(struct http_request *r) {
    struct job_view view;
    if (!find(r, &view)) {
        reply_no_job(r);
    } else if (!is_shown(r, &view)) {
        http_reply_problem(r, 403, "forbidden", "others may wait for this job too, and %s is limited to some collections",
                           http_caller(r)->name);
    } else {
        jobs_cancel(http_app(r)->jobs, view.id);
        http_reply_empty(r, 204);
    }
}
