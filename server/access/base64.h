/* Base64 without padding, in the alphabet that needs no escapes (RFC 4648, 5). */
#ifndef SERVER_ACCESS_BASE64_H
#define SERVER_ACCESS_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void base64url_write(const uint8_t *data, size_t size, char *out); /* (4 size + 2) / 3 characters and a NUL */
bool base64url_only(const char *text, size_t size);

#endif
