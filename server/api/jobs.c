/* /jobs: background work, seen and cancelled. */
#include "ingest/jobs.h"

#include <stdlib.h>

#include "api/routes.h"
#include "api/views.h"
#include "app.h"

enum { LIST_MAX = 1000 };

static json_t *view_job(const struct job_view *j) {
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "id", j->id, "kind", j->kind, "subject", j->subject, "state", job_state_name(j->state), "done",
                          view_u64(j->done), "total", view_u64(j->total), "created", view_time(j->created_ns, REEL_CLOCK_WALL));
    if (j->ended_ns) {
        json_object_set_new(o, "ended", view_time(j->ended_ns, REEL_CLOCK_WALL));
    }
    if (j->state == JOB_FAILED) {
        json_object_set_new(o, "problem", json_string(j->error.text));
    }
    if (j->result[0]) {
        json_object_set_new(o, "result", json_string(j->result));
    }
    return o;
}

void api_jobs_list(struct http_request *r) {
    struct job_view *views = malloc(LIST_MAX * sizeof *views);
    if (!views) {
        http_reply_problem(r, 500, "memory", "no memory");
        return;
    }
    size_t n = jobs_list(http_app(r)->jobs, views, LIST_MAX);
    json_t *items = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(items, view_job(&views[i]));
    }
    free(views);
    http_reply_json(r, 200, json_pack("{s:o}", "items", items));
}

static void reply_no_job(struct http_request *r) {
    http_reply_problem(r, 404, "not-found", "there is no job %s; ended ones are kept for an hour", http_segment(r, "id"));
}

void api_job_get(struct http_request *r) {
    struct job_view view;
    if (jobs_find(http_app(r)->jobs, http_segment(r, "id"), &view)) {
        http_reply_json(r, 200, view_job(&view));
    } else {
        reply_no_job(r);
    }
}

void api_job_cancel(struct http_request *r) {
    if (jobs_cancel(http_app(r)->jobs, http_segment(r, "id"))) {
        http_reply_empty(r, 204);
    } else {
        reply_no_job(r);
    }
}
