/* See s3_keys.h. */
#include "access/s3_keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hex.h"
#include "base/number.h"

enum { TEXT_MAX = 128 };

/* What a secret is derived from: the hash too, as a number can mean another token in a catalog that was made anew. */
static size_t text_of(const struct token *token, char out[TEXT_MAX]) {
    int n = snprintf(out, TEXT_MAX, "%" PRId64 "\n", token->row);
    hex_write(token->hash, TOKEN_HASH, out + n);
    return (size_t)n + 2 * TOKEN_HASH;
}

bool s3_keys_of(struct links *links, const struct token *token, struct s3_keys *out, struct reel_error *err) {
    char text[TEXT_MAX];
    snprintf(out->access, sizeof out->access, "REEL%012" PRId64, token->row);
    return links_secret(links, text, text_of(token, text), 0, out->secret, err);
}

bool s3_key_read(const char *access, int64_t *row) {
    return strncmp(access, "REEL", 4) == 0 && access[4] != '-' && number_i64(access + 4, row) && *row > 0;
}

bool s3_secret(struct links *links, const struct token *token, unsigned i, char out[LINK_MAC_TEXT],
               struct reel_error *err) {
    char text[TEXT_MAX];
    return links_secret(links, text, text_of(token, text), i, out, err);
}

const char *s3_query(const struct http_request *r) {
    const char *query = strchr(http_target_sent(r), '?');
    return query ? query + 1 : "";
}

/* Whether a text begins with one of two. */
static bool begins(const char *text, const char *first, const char *second) {
    return strncmp(text, first, strlen(first)) == 0 || strncmp(text, second, strlen(second)) == 0;
}

bool s3_is_signed(const struct http_request *r) {
    const char *header = http_header(r, "Authorization"), *at = s3_query(r);
    if (header) {
        return begins(header, "AWS4-HMAC-SHA256 ", "AWS ");
    }
    for (; at && *at; at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL) {
        if (begins(at, "X-Amz-Signature=", "AWSAccessKeyId=")) {
            return true;
        }
    }
    return false;
}
