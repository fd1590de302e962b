/* Entity tags and digests. */
#ifndef SERVER_API_DIGESTS_H
#define SERVER_API_DIGESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The ETag "sha256-<base64>" of a text that names everything the bytes depend on. `out` has room for 64. */
void api_etag(const char *text, char out[64]);
/* The ETag of original bytes and the value of Repr-Digest from a SHA-256 in hex. */
void api_digest_texts(const char *sha256_hex, char etag[64], char repr_digest[72]);
/* Base64 of 32 bytes (44 characters and NUL); and back: false when malformed. */
void api_base64_digest(const uint8_t digest[32], char out[45]);
bool api_digest_from_base64(const char *text, size_t size, uint8_t digest[32]);

#endif
