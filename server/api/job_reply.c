/* See job_reply.h. */
#include "api/job_reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *api_view_job(const struct http_request *r, const char *id) {
    return json_pack("{s:s, s:o}", "id", id, "href", json_sprintf("%s/api/v1/jobs/%s", http_prefix(r), id));
}

static void add_job_location(struct http_request *r, const char *id) {
    char address[64];
    snprintf(address, sizeof address, "/api/v1/jobs/%s", id);
    http_add_address(r, "Location", address);
}

void api_reply_job(struct http_request *r, const char *id) {
    add_job_location(r, id);
    http_reply_json(r, 202, json_pack("{s:o}", "job", api_view_job(r, id)));
}

static bool responds_async(const struct http_request *r) {
    const char *prefer = http_header(r, "Prefer");
    return prefer && strstr(prefer, "respond-async") && !http_catches_problems(r);
}

void api_reply_busy(struct http_request *r, const char *job, const char *what) {
    http_add_header(r, "Retry-After", "2");
    if (job && job[0] && responds_async(r)) {
        http_add_header(r, "Preference-Applied", "respond-async");
        api_reply_job(r, job);
        return;
    }
    if (job && job[0]) {
        add_job_location(r, job);
        http_reply_problem_with(r, 503, "busy", what, json_pack("{s:o}", "job", api_view_job(r, job)));
        return;
    }
    http_reply_problem(r, 503, "busy", "%s", what);
}

int64_t api_wait_ns(const struct http_request *r, int64_t default_ns) {
    enum { WAIT_MAX_S = 60 };
    const char *prefer = http_header(r, "Prefer"), *wait = prefer ? strstr(prefer, "wait=") : NULL;
    if (!wait || wait[5] < '0' || wait[5] > '9') {
        return prefer && strstr(prefer, "respond-async") ? 0 : default_ns;
    }
    unsigned long seconds = strtoul(wait + 5, NULL, 10);
    return (int64_t)(seconds < WAIT_MAX_S ? seconds : WAIT_MAX_S) * 1000000000;
}
