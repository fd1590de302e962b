/* Handlers of administration: tokens, links, audit log, maintenance, changes, webhooks, retention rules, jobs. */
#ifndef SERVER_API_ADMIN_ADMIN_H
#define SERVER_API_ADMIN_ADMIN_H

#include "http/http.h"

/* jobs.c */
struct catalog_job;
bool jobs_find_shown(struct http_request *r, struct catalog_job *out); /* the job in the path; false: replied (404) */
void api_jobs_list(struct http_request *r);
void api_job_get(struct http_request *r);
void api_job_cancel(struct http_request *r);
/* maintenance.c */
void api_backup(struct http_request *r);
void api_backup_last(struct http_request *r);
void api_scrub(struct http_request *r);
void api_scrub_last(struct http_request *r);
/* tokens.c */
void api_tokens_list(struct http_request *r);
void api_token_create(struct http_request *r);
void api_token_revoke(struct http_request *r);
void api_log_in(struct http_request *r);
void api_log_out(struct http_request *r);
/* links.c */
void api_link_create(struct http_request *r);
void api_recording_link(struct http_request *r);
/* audit.c */
void api_audit(struct http_request *r);
/* changes.c */
void api_changes(struct http_request *r);
/* webhooks.c */
void api_webhooks_list(struct http_request *r);
void api_webhook_add(struct http_request *r);
void api_webhook_get(struct http_request *r);
void api_webhook_delete(struct http_request *r);
void api_webhook_test(struct http_request *r);
/* retention.c */
void api_retention_get(struct http_request *r);
void api_retention_put(struct http_request *r);
void api_retention_run(struct http_request *r);
/* job_results.c */
void api_job_results(struct http_request *r);

#endif
