/* Bytes inside JSON text: REEL_CODEC_JSON_BYTES. */
#ifndef REEL_CHUNKS_JSON_BYTES_H
#define REEL_CHUNKS_JSON_BYTES_H

#include "syntax/json_scan.h"

/* Decodes JSON text in which bytes stand as {"$base64": "…"} into text of the same length: the digits become their
 * bytes, zeros fill up the rest, everything else stays. So the position of the first digit in the text is that of the
 * first byte. Takes any text; what are no digits counts for nothing. */
struct json_bytes { /* zeroed at the start of a text */
    enum { JSON_BYTES_TEXT, JSON_BYTES_KEY, JSON_BYTES_DIGITS } stage;
    uint8_t escape[JSON_ESCAPE_MAX]; /* the begin of one; n_escape 0: none */
    unsigned n_escape;
    unsigned matched; /* characters of the key */
    unsigned bits, n_bits;
    uint64_t owed; /* zeros after the bytes */
};
/* Advances input and output until one of both is used up. */
void json_bytes_decode(struct json_bytes *j, const uint8_t **in, size_t *left, uint8_t **out, size_t *room);

#endif
