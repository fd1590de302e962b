/* Shared by access.c and identify.c. */
#ifndef SERVER_ACCESS_ACCESS_INTERNAL_H
#define SERVER_ACCESS_ACCESS_INTERNAL_H

#include <stdatomic.h>

#include "access/access.h"
#include "access/links.h"
#include "access/network.h"

enum { TRUSTED_MAX = 64 };
#define ACCESS_SECOND_NS INT64_C(1000000000)

struct access {
    struct access_options options;
    enum http_role proxy_role;
    struct network trusted[TRUSTED_MAX];
    size_t n_trusted;
    struct catalog *catalog;
    struct links *links;
    struct audit *audit;
    struct limiter *failures, *denials, *openings;
    atomic_bool closed; /* a token was created at some time, or others can reach the server: a token is required */
    atomic_bool lost;   /* … but the catalog had none when this was last asked */
};

/* Whether this request is admitted without credentials, as of the last check of the catalog. */
bool access_is_open(struct access *a, const struct http_request *r);
const char *access_recording(const struct http_request *r); /* the key of the recording in its path; NULL: none */
enum http_verdict access_identify(struct access *a, const struct http_request *r, struct http_grant *out);

/* A failed log-in of this address: HTTP_UNKNOWN, or HTTP_TOO_OFTEN after too many. */
enum http_verdict access_failed(struct access *a, const struct address *peer, struct http_grant *out,
                                const char *detail);
/* s3.c: the caller of a request that is signed for S3. */
enum http_verdict access_by_s3(struct access *a, const struct http_request *r, const struct address *peer,
                               struct http_grant *out);

static inline enum http_verdict access_refuse(struct http_grant *out, enum http_verdict verdict, const char *detail) {
    out->detail = detail;
    return verdict;
}

#endif
