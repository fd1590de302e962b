/* Callers of /s3, by requests that are signed for S3: with the access key and the secret that belong to a token. The
 * secret is derived from the token's hash by a key of the server, so it is stored nowhere. */
#ifndef SERVER_ACCESS_S3_KEYS_H
#define SERVER_ACCESS_S3_KEYS_H

#include "access/links.h"
#include "access/token.h"

#define S3_BASE "/s3"
enum { S3_KEY_TEXT = 24, S3_CLOCK_SKEW_S = 15 * 60 };
struct s3_keys {
    char access[S3_KEY_TEXT];   /* REEL and the number of the token */
    char secret[LINK_MAC_TEXT]; /* good until the key has been replaced twice (reel token rotate) */
};
bool s3_keys_of(struct links *links, const struct token *token, struct s3_keys *out, struct reel_error *err);

/* The same secret by the i-th key of the server from the newest; "": there are no more. */
bool s3_secret(struct links *links, const struct token *token, unsigned i, char out[LINK_MAC_TEXT],
               struct reel_error *err);
/* The number of the token of an access key. False: it is none. */
bool s3_key_read(const char *access, int64_t *row);

/* Whether the request is signed for S3, also by the version 2 of signatures, which is not accepted, and its query as it
 * was sent, "" without one. */
bool s3_is_signed(const struct http_request *r);
const char *s3_query(const struct http_request *r);

#endif
