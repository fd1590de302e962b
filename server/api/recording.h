/* The recording in the path, found and opened for one request. */
#ifndef SERVER_API_RECORDING_H
#define SERVER_API_RECORDING_H

#include "app.h"

/* A recording found and opened for one request. */
struct api_recording {
    struct catalog_recording row;
    struct reel_recording *recording; /* NULL when only the row was requested */
};
void api_recording_done(struct api_recording *a);

/* The row of path segment {id}; false: replied: 404, or it is a live recording of another server, and the request was
 * forwarded to that one. While that server is silent the row is as it was saved last. */
bool api_find(struct http_request *r, struct api_recording *out);
/* The same for what needs the file: 503 then. */
bool api_find_growing(struct http_request *r, struct api_recording *out);
/* The same; `key` as catalog_get() takes it. */
bool api_find_key(struct http_request *r, const char *key, struct api_recording *out);
/* The recording of a row, as recordings_get(), also one that grows. */
struct reel_recording *api_recording_open(struct app *app, const struct catalog_recording *row, int64_t wait_ns,
                                          char job[33], struct reel_error *err);
/* As api_find_growing(), opened for its messages; replies 503, 410 or 422 when its state does not allow that. */
bool api_open(struct http_request *r, struct api_recording *out);
bool api_open_key(struct http_request *r, const char *key, struct api_recording *out);
/* The same for what its index alone answers, also of a recording whose file is still on a robot. */
bool api_open_index(struct http_request *r, struct api_recording *out);
void api_reply_announced(struct http_request *r, const struct catalog_recording *row); /* 409 */
/* The same as api_open(), with the memory to decode its messages. */
bool api_open_messages(struct http_request *r, struct api_recording *out);
bool api_open_messages_key(struct http_request *r, const char *key, struct api_recording *out);

/* Whether the caller may write to this collection, which need not exist. False: replied (403). Every route that reads a
 * collection's name from a request calls this before ingest_check(); lists use catalog_query.allowed. */
bool api_may_use(struct http_request *r, const char *collection);

#endif
