/* Base64: read in the usual alphabet, written for tokens and links without padding, in the one that needs no escapes (RFC 4648, 4 and 5).
 */
#ifndef SERVER_ACCESS_BASE64_H
#define SERVER_ACCESS_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With all its padding and no blanks; `out` has room for size / 4 * 3 bytes. False: it is none. */
bool base64_decode(const char *text, size_t size, uint8_t *out, size_t *out_size);

enum { BASE64URL_BYTES = 32, BASE64URL_TEXT = 44 }; /* 256 bits: 43 characters and a NUL */
void base64url_write(const uint8_t data[BASE64URL_BYTES], char out[BASE64URL_TEXT]);
bool base64url_only(const char *text, size_t size);

#endif
