/* Signatures of requests to S3, version 4, for requests that are sent (request.c) and that come (access/s3.c): the
 * bytes of a path and query as they are signed and sent, the Authorization header, and addresses that carry their
 * signature. libcurl's own option is not used: 7.88 signs queries and some headers wrongly, and an address needs the
 * same code. Nothing here keeps state. */
#ifndef SERVER_STORE_S3_SIGN_H
#define SERVER_STORE_S3_SIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"

enum {
    S3_REGION_MAX = 64,
    S3_ACCESS_MAX = 128,
    S3_SECRET_MAX = 256,
    S3_TOKEN_MAX = 4096,
    S3_AUTHORIZATION_MAX = 512,
    S3_DATE_TEXT = 17, /* 20240501T100000Z */
};
#define S3_UNSIGNED "UNSIGNED-PAYLOAD"

struct s3_credentials {
    char access[S3_ACCESS_MAX], secret[S3_SECRET_MAX], token[S3_TOKEN_MAX]; /* token "": none */
    char region[S3_REGION_MAX];
};

struct s3_header { /* the name in lower case */
    const char *name, *value;
};

struct s3_signing {
    const struct s3_credentials *credentials;
    int64_t now_s;
    const char *method, *path, *query; /* escaped; the query sorted, "" without one */
    const struct s3_header *headers;   /* all that are signed, sorted by name, host and x-amz-date among them */
    size_t n_headers;
    const char *payload; /* SHA-256 of the body as hex, or S3_UNSIGNED */
};

/* The signature alone, as hex digits. False: no memory, or something is longer than its ceiling. */
bool s3_signature(const struct s3_signing *what, char out[SHA256_HEX]);
/* Escapes for a path (slashes stay) or a part of a query. False: there is no room. */
bool s3_escape(const char *text, bool is_path, char *out, size_t size);
/* The value of x-amz-date. */
void s3_date(int64_t now_s, char out[S3_DATE_TEXT]);
/* The value of Authorization. False: no memory, or something is longer than its ceiling. */
bool s3_sign(const struct s3_signing *what, char out[S3_AUTHORIZATION_MAX]);
/* The query of a GET with its signature, good for `lifetime_s` seconds; `more` are further parameters of it, escaped
 * and sorted after the X-Amz-… ones ("" or "response-content-type=…"). The payload and x-amz-date of `what` do not
 * matter; its headers are the host alone. */
bool s3_sign_query(const struct s3_signing *what, unsigned lifetime_s, const char *more, char *out, size_t size);

#endif
