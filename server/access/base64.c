/* See base64.h. */
#include "access/base64.h"

#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void base64url_write(const uint8_t *data, size_t size, char *out) {
    uint32_t held = 0;
    unsigned bits = 0;
    for (size_t i = 0; i < size; i++) {
        held = held << 8 | data[i];
        for (bits += 8; bits >= 6; bits -= 6) {
            *out++ = alphabet[held >> (bits - 6) & 63];
        }
    }
    if (bits > 0) {
        *out++ = alphabet[held << (6 - bits) & 63];
    }
    *out = '\0';
}

bool base64url_only(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (!text[i] || !strchr(alphabet, text[i])) {
            return false;
        }
    }
    return true;
}
