/* See sha256.h. The work is libcrypto's: its older interface, whose struct is public. */
#define OPENSSL_API_COMPAT 0x10101000L /* SHA256_Update() and the like are deprecated since 3.0 */
#include "store/sha256.h"

#include <openssl/sha.h>
#include <string.h>

#include "base/hex.h"

static void to_theirs(const struct sha256 *s, SHA256_CTX *c) {
    SHA256_Init(c);
    memcpy(c->h, s->h, sizeof c->h);
    c->Nl = (SHA_LONG)(s->size << 3);
    c->Nh = (SHA_LONG)(s->size >> 29);
    c->num = (unsigned)(s->size % sizeof s->rest);
    memcpy(c->data, s->rest, sizeof c->data);
}

void sha256_start(struct sha256 *s) {
    SHA256_CTX c;
    SHA256_Init(&c);
    *s = (struct sha256){0};
    memcpy(s->h, c.h, sizeof s->h);
}

void sha256_add(struct sha256 *s, const void *data, size_t size) {
    SHA256_CTX c;
    to_theirs(s, &c);
    SHA256_Update(&c, data, size);
    memcpy(s->h, c.h, sizeof s->h);
    memcpy(s->rest, c.data, sizeof s->rest);
    s->size += size;
}

void sha256_end(const struct sha256 *s, uint8_t out[32]) {
    SHA256_CTX c;
    to_theirs(s, &c);
    SHA256_Final(out, &c);
}

void sha256_state(const struct sha256 *s, char out[SHA256_STATE_TEXT]) {
    uint8_t raw[32];
    for (unsigned i = 0; i < 32; i++) {
        raw[i] = (uint8_t)(s->h[i / 4] >> (8 * (3 - i % 4)));
    }
    hex_write(raw, sizeof raw, out);
}

bool sha256_restore(struct sha256 *s, const char *state, uint64_t size) {
    uint8_t raw[32];
    if (strlen(state) != 2 * sizeof raw || size % sizeof s->rest != 0 || !hex_read(state, sizeof raw, raw)) {
        return false;
    }
    *s = (struct sha256){.size = size};
    for (unsigned i = 0; i < 32; i++) {
        s->h[i / 4] = s->h[i / 4] << 8 | raw[i];
    }
    return true;
}
