/* MD5, SHA-1 and SHA-256, by libcrypto. A digest in progress is a value: it is copied by assignment, has nothing to
 * free, and no call can fail. libcrypto's EVP interface has none of this, and hides the state that an upload's note
 * carries from one process to the next. */
#ifndef REEL_BASE_DIGEST_H
#define REEL_BASE_DIGEST_H

#include <openssl/md5.h>
#include <openssl/sha.h>

#include "reel/bytes.h"

enum digest_kind { DIGEST_MD5 = 16, DIGEST_SHA1 = 20, DIGEST_SHA256 = 32 }; /* the size in bytes */
enum { DIGEST_MAX = 32 };
enum { MD5_HEX = 33, SHA1_HEX = 41, SHA256_HEX = 65 }; /* as lower-case digits, with the NUL */

struct digest {
    enum digest_kind kind;
    uint64_t size; /* bytes so far */
    union {
        MD5_CTX md5;
        SHA_CTX sha1;
        SHA256_CTX sha256;
    };
};
void digest_start(struct digest *d, enum digest_kind kind);
void digest_add(struct digest *d, const void *data, size_t size);
void digest_end(const struct digest *d, uint8_t *out); /* `d` may go on */
void digest_end_hex(const struct digest *d, char *out);

/* Of bytes in memory. */
void digest_of(enum digest_kind kind, struct reel_bytes data, uint8_t *out);
void digest_hex(enum digest_kind kind, struct reel_bytes data, char *out);

/* The state of a SHA-256 after a multiple of 64 bytes, as text. Restore: false if it is none. */
void digest_state(const struct digest *d, char out[SHA256_HEX]);
bool digest_restore(struct digest *d, const char *state, uint64_t size);

#endif
