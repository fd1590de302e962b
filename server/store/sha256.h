/* SHA-256 whose state can be kept: libcrypto's EVP interface hides it. */
#ifndef SERVER_STORE_SHA256_H
#define SERVER_STORE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t h[8];
    uint64_t size; /* bytes so far */
    uint8_t rest[64];
};
void sha256_start(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t size);
void sha256_end(const struct sha256 *s, uint8_t out[32]); /* `s` may go on */

enum { SHA256_STATE_TEXT = 65 };
/* After a multiple of 64 bytes. */
void sha256_state(const struct sha256 *s, char out[SHA256_STATE_TEXT]);
bool sha256_restore(struct sha256 *s, const char *state, uint64_t size);

#endif
