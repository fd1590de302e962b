/* Base64 (RFC 4648): the standard alphabet with padding, and the URL-safe alphabet without. */
#ifndef REEL_SYNTAX_BASE64_H
#define REEL_SYNTAX_BASE64_H

#include "reel/bytes.h"

#define BASE64_ROOM(text_size) ((text_size) / 4 * 3 + 1)   /* maximum decoded size, with a NUL */
#define BASE64_TEXT(data_size) (((data_size) + 2) / 3 * 4) /* digits and padding, without a NUL */

int base64_digit(char c); /* 0 … 63; -1: none */
/* Decodes into `out`, which has room for text.size / 4 * 3 bytes. False: not padded base64. */
bool base64_read(struct reel_bytes text, uint8_t *out, size_t *size);
/* Writes BASE64_TEXT(data.size) characters, no NUL. */
void base64_write(struct reel_bytes data, char *out);

/* URL-safe alphabet, no padding, with a NUL: at most BASE64_TEXT(data.size) + 1 bytes. */
void base64url_write(struct reel_bytes data, char *out);
/* Reads what that writes; `out` has room for text.size * 3 / 4 bytes. False: anything else, also bits left over that
 * are not 0. */
bool base64url_read(struct reel_bytes text, uint8_t *out, size_t *size);
bool base64url_only(const char *text, size_t size);

#endif
