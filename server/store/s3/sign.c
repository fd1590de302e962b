/* See sign.h. */
#include "store/s3/sign.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/hex.h"
#include "base/text_stream.h"

enum { SCOPE_MAX = S3_REGION_MAX + 40, NAMES_MAX = 1024 };

bool s3_escape(const char *text, bool is_path, char *out, size_t size) {
    size_t n = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        bool letter = (*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9');
        bool plain = letter || strchr("-_.~", *p) || (is_path && *p == '/');
        if (n + (plain ? 1 : 3) >= size) {
            return false;
        }
        n += (size_t)snprintf(out + n, size - n, plain ? "%c" : "%%%02X", *p);
    }
    out[n] = '\0';
    return size > 0;
}

void s3_date(int64_t now_s, char out[S3_DATE_TEXT]) {
    struct tm utc;
    time_t now = (time_t)now_s;
    gmtime_r(&now, &utc);
    if (strftime(out, S3_DATE_TEXT, "%Y%m%dT%H%M%SZ", &utc) == 0) {
        out[0] = '\0';
    }
}

static bool chain(uint8_t key[DIGEST_SHA256], const char *text) {
    uint8_t out[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    bool good =
        HMAC(EVP_sha256(), key, DIGEST_SHA256, (const uint8_t *)text, strlen(text), out, &n) && n == DIGEST_SHA256;
    memcpy(key, out, DIGEST_SHA256);
    return good;
}

/* The key of a day, region and service, then the signature of `text`. */
static bool sign_text(const struct s3_credentials *c, const char *day, const char *text, char out[SHA256_HEX]) {
    char first[S3_SECRET_MAX + 4];
    uint8_t key[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    int used = snprintf(first, sizeof first, "AWS4%s", c->secret);
    bool good = used > 0 && (size_t)used < sizeof first &&
                HMAC(EVP_sha256(), first, used, (const uint8_t *)day, strlen(day), key, &n) && n == DIGEST_SHA256 &&
                chain(key, c->region) && chain(key, "s3") && chain(key, "aws4_request") && chain(key, text);
    if (good) {
        hex_write(key, DIGEST_SHA256, out);
    }
    explicit_bzero(first, sizeof first);
    explicit_bzero(key, sizeof key);
    return good;
}

struct scope {
    char date[S3_DATE_TEXT], day[9], text[SCOPE_MAX], names[NAMES_MAX]; /* names of the signed headers, joined by ; */
};

static bool find_scope(const struct s3_signing *what, struct scope *out) {
    size_t used = 0;
    s3_date(what->now_s, out->date);
    snprintf(out->day, sizeof out->day, "%.8s", out->date);
    snprintf(out->text, sizeof out->text, "%s/%s/s3/aws4_request", out->day, what->credentials->region);
    for (size_t i = 0; i < what->n_headers && used < sizeof out->names; i++) {
        used += (size_t)snprintf(out->names + used, sizeof out->names - used, "%s%s", i > 0 ? ";" : "",
                                 what->headers[i].name);
    }
    return used < sizeof out->names;
}

static bool sign_request(const struct s3_signing *what, const struct scope *scope, const char *query,
                         const char *payload, char out[SHA256_HEX]) {
    char hash[SHA256_HEX], to_sign[SCOPE_MAX + SHA256_HEX + 64];
    AUTO_MEM char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) {
        return false;
    }
    fprintf(f, "%s\n%s\n%s\n", what->method, what->path, query);
    for (size_t i = 0; i < what->n_headers; i++) {
        fprintf(f, "%s:%s\n", what->headers[i].name, what->headers[i].value);
    }
    fprintf(f, "\n%s\n%s", scope->names, payload);
    if (!text_stream_close(f, &text)) {
        return false;
    }
    digest_hex(DIGEST_SHA256, bytes_of(text, size), hash);
    snprintf(to_sign, sizeof to_sign, "AWS4-HMAC-SHA256\n%s\n%s\n%s", scope->date, scope->text, hash);
    return sign_text(what->credentials, scope->day, to_sign, out);
}

bool s3_signature(const struct s3_signing *what, char out[SHA256_HEX]) {
    struct scope scope;
    return find_scope(what, &scope) && sign_request(what, &scope, what->query, what->payload, out);
}

bool s3_sign(const struct s3_signing *what, char out[S3_AUTHORIZATION_MAX]) {
    struct scope scope;
    char signature[SHA256_HEX];
    if (!find_scope(what, &scope) || !sign_request(what, &scope, what->query, what->payload, signature)) {
        return false;
    }
    int n = snprintf(out, S3_AUTHORIZATION_MAX, "AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%s",
                     what->credentials->access, scope.text, scope.names, signature);
    return n > 0 && n < S3_AUTHORIZATION_MAX;
}

bool s3_sign_query(const struct s3_signing *what, unsigned lifetime_s, const char *more, char *out, size_t size) {
    struct scope scope;
    const struct s3_credentials *c = what->credentials;
    char credential[S3_ACCESS_MAX + SCOPE_MAX], escaped[3 * sizeof credential], signature[SHA256_HEX];
    if (!find_scope(what, &scope)) {
        return false;
    }
    AUTO_MEM char *token = malloc(3 * strlen(c->token) + 1);
    snprintf(credential, sizeof credential, "%s/%s", c->access, scope.text);
    if (!token || !s3_escape(credential, false, escaped, sizeof escaped) ||
        !s3_escape(c->token, false, token, 3 * strlen(c->token) + 1)) {
        return false;
    }
    int n = snprintf(out, size,
                     "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=%s&X-Amz-Date=%s&X-Amz-Expires=%u%s%s&X-Amz-"
                     "SignedHeaders=%s%s%s",
                     escaped, scope.date, lifetime_s, c->token[0] ? "&X-Amz-Security-Token=" : "", token, scope.names,
                     more[0] ? "&" : "", more);
    if (n < 0 || (size_t)n >= size || !sign_request(what, &scope, out, S3_UNSIGNED, signature)) {
        return false;
    }
    int end = snprintf(out + n, size - (size_t)n, "&X-Amz-Signature=%s", signature);
    return end > 0 && (size_t)end < size - (size_t)n;
}
