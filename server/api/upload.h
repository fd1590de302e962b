/* What uploads in one request and upload sessions share. */
#ifndef SERVER_API_UPLOAD_H
#define SERVER_API_UPLOAD_H

#include "api/common.h"
#include "ingest/upload_options.h"

enum { WISHES_TAG_PARAMS_MAX = 64 };
static const int64_t UPLOAD_SCAN_WAIT_NS = 20000000000; /* then the scan goes on as a job: 202 */

/* The wishes that the query says. False: replied. */
bool upload_read_query(struct http_request *r, struct upload_options *w);
/* Whether the caller may put that there, and there is room for `length` bytes (0: unknown). False: replied. */
bool upload_may(struct http_request *r, const struct upload_options *w, uint64_t length);
/* Idempotency-Key; "" when there is none. NULL: replied, it is too long. */
const char *upload_key(struct http_request *r);
/* SHA-256 in hex of texts, each with its length. */
void upload_fingerprint(const char *const *texts, size_t n, char out[SHA256_HEX]);
const char *upload_owner(const struct http_request *r); /* of sessions and keys: the caller's name */

/* What became of the bytes when they were taken: 201, 202 or 200, a header with the recording's address, and the recording. */
struct upload_answer {
    unsigned status;
    const char *header;
    char address[96];
};
static inline bool upload_is_taken(const struct ingest_result *result) {
    return result->outcome != INGEST_REFUSED && result->outcome != INGEST_KEPT;
}
json_t *upload_view(const struct ingest_result *result, struct upload_answer *out);
/* Replies why not; of what was kept all the same also what is there. */
void upload_refuse(struct http_request *r, const struct ingest_result *result, const struct reel_error *err);

#endif
