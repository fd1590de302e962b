/* The caller of a request that is signed for S3 (s3_keys.h). */
#include "access/s3_keys.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/access_internal.h"
#include "access/audit.h"
#include "access/s3_text.h"
#include "base/cleanup.h"
#include "reel/time.h"

enum { KEYS_TRIED = 8 };
static const char nothing[] = /* SHA-256 of no bytes */
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/* ---- what was signed */

struct signed_headers {
    struct s3_header items[S3_SIGNED_HEADERS_MAX];
    char names[S3_SIGNED_NAMES_MAX + 1];
    char *values[S3_SIGNED_HEADERS_MAX];
    size_t n, host; /* host: its place */
};

static void signed_headers_done(struct signed_headers *h) {
    for (size_t i = 0; i < h->n; i++) {
        free(h->values[i]);
    }
}

static bool read_headers(const struct http_request *r, const struct s3_claim *claim, struct signed_headers *out) {
    memcpy(out->names, claim->headers, sizeof out->names);
    for (char *rest = out->names, *name; (name = strsep(&rest, ";"));) {
        char *value = out->n < S3_SIGNED_HEADERS_MAX ? http_header_lines(r, name) : NULL;
        if (!value) {
            return false;
        }
        s3_canonical_value(value);
        out->host = strcmp(name, "host") == 0 ? out->n : out->host;
        out->values[out->n] = value;
        out->items[out->n++] = (struct s3_header){name, value};
    }
    return true;
}

/* Whether the request, with this path and host, is signed by one of the secrets that the token has had. */
static bool matches(struct links *links, const struct token *token, struct s3_credentials *c,
                    const struct s3_signing *what, const char *signature) {
    char secret[LINK_MAC_TEXT], ours[SHA256_HEX];
    struct reel_error ignored;
    bool good = false;
    for (unsigned i = 0; i < KEYS_TRIED && !good; i++) {
        if (!s3_secret(links, token, i, secret, &ignored) || !secret[0]) {
            break;
        }
        snprintf(c->secret, sizeof c->secret, "%s", secret);
        good = s3_signature(what, ours) && CRYPTO_memcmp(ours, signature, SHA256_HEX - 1) == 0;
    }
    OPENSSL_cleanse(c->secret, sizeof c->secret);
    OPENSSL_cleanse(secret, sizeof secret);
    return good;
}

/* A proxy may have taken the path of --public-url away, and have set another Host: both are tried as they were. */
static bool is_signed_by(struct access *a, const struct http_request *r, const struct s3_claim *claim,
                         const struct token *token) {
    const char *target = http_target_sent(r), *prefix = http_prefix(r);
    const char *sent = http_header(r, "x-amz-content-sha256");
    char public_host[HTTP_HOST];
    bool has_public_host = http_public_host(r, public_host);
    AUTO_MEM struct s3_credentials *c = calloc(1, sizeof *c);
    AUTO_MEM char *path = s3_canonical_path(target, strcspn(target, "?")), *query = s3_canonical_query(s3_query(r));
    AUTO_MEM char *longer = NULL;
    AUTO_STRUCT(signed_headers_done) struct signed_headers headers = {.n = 0};
    if (!c || !path || !query || !read_headers(r, claim, &headers) || asprintf(&longer, "%s%s", prefix, path) < 0) {
        return false;
    }
    snprintf(c->region, sizeof c->region, "%s", claim->region);
    struct s3_signing what = {.credentials = c,
                              .now_s = claim->signed_s,
                              .method = http_method(r),
                              .query = query,
                              .headers = headers.items,
                              .n_headers = headers.n,
                              .payload = sent                ? sent
                                         : claim->lifetime_s ? S3_UNSIGNED
                                                             : nothing};
    for (unsigned i = 0; i < 4; i++) {
        if ((i & 1 && !*prefix) || (i & 2 && !has_public_host)) {
            continue;
        }
        what.path = i & 1 ? longer : path;
        headers.items[headers.host].value = i & 2 ? public_host : headers.values[headers.host];
        if (matches(a->links, token, c, &what, claim->signature)) {
            return true;
        }
    }
    return false;
}

/* ---- the caller */

static enum http_verdict refuse(struct http_grant *out, const char *code, const char *detail) {
    out->code = code;
    return access_refuse(out, HTTP_FORBIDDEN, detail);
}

/* A failed log-in, of which an address has only so many. */
static enum http_verdict fail(struct access *a, const struct address *peer, struct http_grant *out, const char *code,
                              const char *detail) {
    enum http_verdict verdict = access_failed(a, peer, out, detail);
    return verdict == HTTP_TOO_OFTEN ? verdict : refuse(out, code, detail);
}

static enum http_verdict check_time(const struct s3_claim *claim, struct http_grant *out) {
    int64_t age_s = reel_now_ns() / ACCESS_SECOND_NS - claim->signed_s;
    if (claim->lifetime_s ? age_s < -S3_CLOCK_SKEW_S : llabs(age_s) > S3_CLOCK_SKEW_S) {
        return refuse(out, "RequestTimeTooSkewed",
                      "The difference between the request time and the current time is too large.");
    }
    return claim->lifetime_s && age_s > claim->lifetime_s ? refuse(out, "AccessDenied", "Request has expired")
                                                          : HTTP_GRANTED;
}

enum http_verdict access_by_s3(struct access *a, const struct http_request *r, const struct address *peer,
                               struct http_grant *out) {
    static const char unknown[] = "The access key is unknown, or its token has expired or was revoked.";
    AUTO_STRUCT(token_done) struct token token = {0};
    struct s3_claim claim;
    struct reel_error err = {0};
    int64_t row = 0;
    const char *header = http_header(r, "Authorization");
    bool reads =
        header ? s3_claim_header(header, http_header(r, "x-amz-date"), &claim) : s3_claim_query(s3_query(r), &claim);
    if (!reads && (header ? header[3] == ' ' : strstr(s3_query(r), "AWSAccessKeyId=") != NULL)) {
        return refuse(out, "InvalidRequest",
                      "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.");
    }
    if (!reads) {
        return refuse(out, header ? "AuthorizationHeaderMalformed" : "AuthorizationQueryParametersError",
                      "The signature is not one of AWS Signature Version 4 for S3 with its date and the header host.");
    }
    enum http_verdict verdict = check_time(&claim, out);
    if (verdict != HTTP_GRANTED) {
        return verdict;
    }
    if (!s3_key_read(claim.access, &row) || !catalog_token_by_row(a->catalog, row, &token, &err)) {
        return row == 0 || err.code == REEL_NOT_FOUND
                   ? fail(a, peer, out, "InvalidAccessKeyId", unknown)
                   : access_refuse(out, HTTP_NOT_NOW, "The catalog is not available.");
    }
    if (!is_signed_by(a, r, &claim, &token)) {
        return fail(a, peer, out, "SignatureDoesNotMatch",
                    "The signature does not match the request, as it was received, and the secret of this access key.");
    }
    if (token_state(&token, reel_now_ns()) != TOKEN_GOOD) {
        return fail(a, peer, out, "InvalidAccessKeyId", unknown);
    }
    audit_token_used(a->audit, token.row, token.used_ns);
    return token_caller(&token, "s3", &out->caller, &out->memory) ? HTTP_GRANTED
                                                                  : access_refuse(out, HTTP_NOT_NOW, "Out of memory.");
}
