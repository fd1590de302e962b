/* Base64 without padding, in the alphabet that needs no escapes (RFC 4648, 5). */
#ifndef SERVER_ACCESS_BASE64_H
#define SERVER_ACCESS_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BASE64URL_BYTES = 32, BASE64URL_TEXT = 44 }; /* 256 bits: 43 characters and a NUL */
void base64url_write(const uint8_t data[BASE64URL_BYTES], char out[BASE64URL_TEXT]);
bool base64url_only(const char *text, size_t size);

#endif
