/* See digests.h. */
#include "api/digests.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/hex.h"
#include "syntax/base64.h"

void api_base64_digest(const uint8_t digest[32], char out[45]) {
    base64_write(bytes_of(digest, 32), out);
    out[BASE64_TEXT(32)] = '\0';
}

bool api_digest_from_base64(const char *text, size_t size, uint8_t digest[32]) {
    uint8_t raw[33];
    size_t n;
    if (size != 44 || !base64_read(bytes_of(text, size), raw, &n) || n != 32) {
        return false;
    }
    memcpy(digest, raw, 32);
    return true;
}

void api_etag(const char *text, char out[64]) {
    uint8_t digest[DIGEST_SHA256];
    char base64[45];
    digest_of(DIGEST_SHA256, bytes_text(text), digest);
    api_base64_digest(digest, base64);
    snprintf(out, 64, "\"sha256-%s\"", base64);
}

void api_digest_texts(const char *sha256_hex, char etag[64], char repr_digest[72]) {
    uint8_t digest[32];
    char base64[45];
    hex_read(sha256_hex, sizeof digest, digest);
    api_base64_digest(digest, base64);
    snprintf(etag, 64, "\"sha256-%s\"", base64);
    snprintf(repr_digest, 72, "sha-256=:%s:", base64);
}
