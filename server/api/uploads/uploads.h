/* Handlers of uploads, upload sessions, live recordings and imports. */
#ifndef SERVER_API_UPLOADS_UPLOADS_H
#define SERVER_API_UPLOADS_UPLOADS_H

#include "http/http.h"

/* upload.c */
void api_upload_begin(struct http_request *r);
bool api_upload_piece(struct http_request *r, const void *data, size_t size);
void api_upload_end(struct http_request *r);
void api_upload_aborted(struct http_request *r);
/* sessions_create.c */
void api_uploads_options(struct http_request *r);
void api_uploads_create_begin(struct http_request *r);
void api_uploads_create_end(struct http_request *r);
void api_uploads_get(struct http_request *r);
void api_uploads_delete(struct http_request *r);
/* sessions.c */
void api_uploads_append_begin(struct http_request *r);
bool api_uploads_piece(struct http_request *r, const void *data, size_t size);
void api_uploads_end(struct http_request *r);
void api_uploads_aborted(struct http_request *r);
/* live.c */
struct ingest_request;
struct ingest_result;
/* The parameter `from`. False: replied. */
bool api_live_may_record(struct http_request *r, bool live, const char *from);
void api_live_create(struct http_request *r, const struct ingest_request *q, const char *from,
                     struct ingest_result *out, struct reel_error *err);
void api_append_begin(struct http_request *r);
bool api_append_piece(struct http_request *r, const void *data, size_t size);
void api_append(struct http_request *r);
void api_finish(struct http_request *r);
/* announce.c */
void api_announce_begin(struct http_request *r);
bool api_announce_piece(struct http_request *r, const void *data, size_t size);
void api_announce(struct http_request *r);
void api_announce_aborted(struct http_request *r);
/* fetches.c */
void api_fetch(struct http_request *r);
void api_fetches(struct http_request *r);
void api_fetch_answer(struct http_request *r);
/* imports.c */
void api_import(struct http_request *r);
void api_watches(struct http_request *r);
/* failures.c */
void api_failures(struct http_request *r);
void api_failure_retry(struct http_request *r);
void api_failure_forget(struct http_request *r);

#endif
