/* Answers that name a job, and how long a client waits for one. */
#ifndef SERVER_API_JOB_REPLY_H
#define SERVER_API_JOB_REPLY_H

#include "http/http.h"

/* Planning an export is waited for so long: less than the time limit of usual proxies. */
static const int64_t API_PLAN_WAIT_NS = INT64_C(50000000000);
/* How long the client waits for a job: Prefer: wait=N (seconds, at most a minute); respond-async: not at all; else
 * default_ns. */
int64_t api_wait_ns(const struct http_request *r, int64_t default_ns);

/* {"id", "href"} of a job, as every answer names one. */
json_t *api_view_job(const struct http_request *r, const char *id);
/* 202 with Location and {"job": {"id", "href"}}. */
void api_reply_job(struct http_request *r, const char *id);
/* 503 with Retry-After and the job; 202 with both if there is a job and the client prefers respond-async. */
void api_reply_busy(struct http_request *r, const char *job, const char *what);

#endif
