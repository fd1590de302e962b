/* Callers of /s3, by requests that are signed for S3: with the access key and the secret that belong to a token. The
 * secret is derived from the token's hash by a key of the server, so it is stored nowhere. */
#ifndef SERVER_ACCESS_S3_H
#define SERVER_ACCESS_S3_H

#include "access/links.h"
#include "access/token.h"

#define S3_BASE "/s3"
enum { S3_KEY_TEXT = 24, S3_CLOCK_SKEW_S = 15 * 60 };
struct s3_keys {
    char access[S3_KEY_TEXT];   /* REEL and the number of the token */
    char secret[LINK_MAC_TEXT]; /* good until the key has been replaced twice (reel token rotate) */
};
bool s3_keys_of(struct links *links, const struct token *token, struct s3_keys *out, struct reel_error *err);

/* Whether the request is signed for S3. */
bool s3_is_signed(const struct http_request *r);

#endif
