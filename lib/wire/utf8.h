/* UTF-8 validation: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef REEL_WIRE_UTF8_H
#define REEL_WIRE_UTF8_H

#include "reel/bytes.h"

/* Size of the character that begins at p (1 … 4), or 0 when the `left` bytes do not begin with a valid one. */
static inline size_t utf8_length(const uint8_t *p, size_t left) {
    if (left == 0) {
        return 0;
    }
    if (p[0] < 0x80) {
        return 1;
    }
    size_t size = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || size > left) {
        return 0;
    }
    /* Only the second byte has a narrower range, after four of the first bytes. */
    uint8_t low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    uint8_t high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    if (p[1] < low || p[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < size; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return size;
}

static inline bool utf8_valid(struct reel_bytes text) {
    for (size_t i = 0; i < text.size;) {
        size_t size = text.data[i] < 0x80 ? 1 : utf8_length(text.data + i, text.size - i);
        if (size == 0) {
            return false;
        }
        i += size;
    }
    return true;
}

static inline bool utf8_has_control(const char *text) {
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)) {
            return true;
        }
    }
    return false;
}

#endif
