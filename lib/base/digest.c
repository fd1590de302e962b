/* See digest.h. */
#define OPENSSL_API_COMPAT 0x10101000L /* SHA256_Update() and the like are deprecated since 3.0 */
#include "base/digest.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hex.h"

enum { BLOCK = 64 };

void digest_start(struct digest *d, enum digest_kind kind) {
    *d = (struct digest){.kind = kind};
    switch (kind) {
    case DIGEST_MD5:
        MD5_Init(&d->md5);
        break;
    case DIGEST_SHA1:
        SHA1_Init(&d->sha1);
        break;
    case DIGEST_SHA256:
        SHA256_Init(&d->sha256);
    }
}

void digest_add(struct digest *d, const void *data, size_t size) {
    d->size += size;
    switch (d->kind) {
    case DIGEST_MD5:
        MD5_Update(&d->md5, data, size);
        break;
    case DIGEST_SHA1:
        SHA1_Update(&d->sha1, data, size);
        break;
    case DIGEST_SHA256:
        SHA256_Update(&d->sha256, data, size);
    }
}

void digest_end(const struct digest *d, uint8_t *out) {
    struct digest last = *d;
    switch (d->kind) {
    case DIGEST_MD5:
        MD5_Final(out, &last.md5);
        break;
    case DIGEST_SHA1:
        SHA1_Final(out, &last.sha1);
        break;
    case DIGEST_SHA256:
        SHA256_Final(out, &last.sha256);
    }
}

void digest_end_hex(const struct digest *d, char *out) {
    uint8_t raw[DIGEST_MAX];
    digest_end(d, raw);
    hex_write(raw, d->kind, out);
}

void digest_of(enum digest_kind kind, struct reel_bytes data, uint8_t *out) {
    struct digest d;
    digest_start(&d, kind);
    digest_add(&d, data.data, data.size);
    digest_end(&d, out);
}

void digest_hex(enum digest_kind kind, struct reel_bytes data, char *out) {
    uint8_t raw[DIGEST_MAX];
    digest_of(kind, data, raw);
    hex_write(raw, kind, out);
}

void digest_state(const struct digest *d, char out[SHA256_HEX]) {
    uint8_t raw[DIGEST_SHA256];
    for (unsigned i = 0; i < sizeof raw; i++) {
        raw[i] = (uint8_t)(d->sha256.h[i / 4] >> (8 * (3 - i % 4)));
    }
    hex_write(raw, sizeof raw, out);
}

bool digest_restore(struct digest *d, const char *state, uint64_t size) {
    uint8_t raw[DIGEST_SHA256];
    if (strlen(state) != 2 * sizeof raw || size % BLOCK != 0 || !hex_read(state, sizeof raw, raw)) {
        return false;
    }
    digest_start(d, DIGEST_SHA256);
    d->size = size;
    d->sha256.Nl = (SHA_LONG)(size << 3); /* bits */
    d->sha256.Nh = (SHA_LONG)(size >> 29);
    for (unsigned i = 0; i < sizeof raw; i++) {
        d->sha256.h[i / 4] = d->sha256.h[i / 4] << 8 | raw[i];
    }
    return true;
}
