/* What a request that is signed for S3 (AWS Signature Version 4) claims, and the text that its signature is of. */
#ifndef SERVER_ACCESS_S3_TEXT_H
#define SERVER_ACCESS_S3_TEXT_H

#include "store/s3/sign.h"

enum {
    S3_SIGNED_HEADERS_MAX = 64,
    S3_SIGNED_NAMES_MAX = 1000, /* bytes of their names */
    S3_CLAIM_MAX = 2048,        /* bytes of Authorization */
    S3_LIFETIME_MAX_S = 7 * 86400,
};
struct s3_claim {
    char access[S3_ACCESS_MAX], region[S3_REGION_MAX], signature[SHA256_HEX];
    char headers[S3_SIGNED_NAMES_MAX + 1]; /* names in lower case, joined by ; */
    int64_t signed_s;                      /* since 1970 */
    int64_t lifetime_s;                    /* of an address with a signature; 0: it is in the header */
};
/* By the headers Authorization and x-amz-date (NULL: there is none). False: they are not what S3 says. */
bool s3_claim_header(const char *authorization, const char *date, struct s3_claim *out);
/* By the query as sent. */
bool s3_claim_query(const char *query, struct s3_claim *out);

/* A path and a query, as sent, as they are signed: decoded, escaped in the one way of S3, the query sorted and without
 * its signature. So how a client escapes does not matter, and what is signed is what the server reads. malloc'd; NULL:
 * invalid, too many parameters, or no memory. */
char *s3_canonical_path(const char *path, size_t size);
char *s3_canonical_query(const char *query);
/* The value of a header without spaces around it, and with one where there are several; in place. */
void s3_canonical_value(char *value);

#endif
