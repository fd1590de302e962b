/* Base64 read back. */
#ifndef REEL_CORE_BASE64_H
#define REEL_CORE_BASE64_H

#include "reel/bytes.h"

#define BASE64_ROOM(text_size) ((text_size) / 4 * 3 + 1)

/* Into `out`, which has BASE64_ROOM(text.size). False: the text is no base64 with all its padding. */
static inline bool base64_read(struct reel_bytes text, uint8_t *out, size_t *size) {
    size_t made = 0;
    uint32_t v = 0;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        bool padding = c == '=' && i + 2 >= text.size && (i + 1 == text.size || text.data[i + 1] == '=');
        int digit = c >= 'A' && c <= 'Z'   ? c - 'A'
                    : c >= 'a' && c <= 'z' ? c - 'a' + 26
                    : c >= '0' && c <= '9' ? c - '0' + 52
                    : c == '+'             ? 62
                    : c == '/'             ? 63
                    : padding              ? 0
                                           : -1;
        if (digit < 0) {
            return false;
        }
        v = v << 6 | (uint32_t)digit;
        if (i % 4 == 3) {
            out[made++] = (uint8_t)(v >> 16);
            out[made++] = (uint8_t)(v >> 8);
            out[made++] = (uint8_t)v;
        }
    }
    if (text.size > 0 && text.size % 4 == 0) {
        made -= (size_t)(text.data[text.size - 1] == '=') + (size_t)(text.data[text.size - 2] == '=');
    }
    *size = made;
    return text.size % 4 == 0;
}

#endif
