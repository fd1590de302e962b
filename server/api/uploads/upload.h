/* Shared by uploads in one request and upload sessions. */
#ifndef SERVER_API_UPLOADS_UPLOAD_H
#define SERVER_API_UPLOADS_UPLOAD_H

#include "http/http.h"
#include "uploads/upload_options.h"

enum { UPLOAD_TAG_PARAMS_MAX = 64 };
static const int64_t UPLOAD_SCAN_WAIT_NS = 20000000000; /* then the scan continues as a job: 202 */

/* The upload options in the query. False: replied. */
bool upload_read_query(struct http_request *r, struct upload_options *w);
/* Whether the caller may upload this, and there is room for `length` bytes (0: unknown). False: replied. */
bool upload_may(struct http_request *r, const struct upload_options *w, uint64_t length);
/* The answer to a stored upload: 201, 202 or 200, a header with the recording's URL, and the recording with links. */
struct upload_answer {
    unsigned status;
    const char *header;
    char address[96];
};
static inline bool upload_is_stored(const struct ingest_result *result) {
    return result->outcome != INGEST_REFUSED && result->outcome != INGEST_KEPT;
}
json_t *upload_view(const struct http_request *r, const struct ingest_result *result, struct upload_answer *out);
/* Replies with the error, and with the recording if the file was stored all the same. */
void upload_refuse(struct http_request *r, const struct ingest_result *result, const struct reel_error *err);

#endif
