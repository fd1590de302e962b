/* See base64.h. */
#include "wire/base64.h"

static const char base64_alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char for_url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static int digit_of(char c, const char *alphabet) {
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == alphabet[62]    ? 62
           : c == alphabet[63]    ? 63
                                  : -1;
}

bool base64_read(struct reel_bytes text, uint8_t *out, size_t *size) {
    size_t written = 0, padding = 0;
    uint32_t v = 0;
    *size = 0;
    if (text.size % 4 != 0) {
        return false;
    }
    if (text.size > 0 && text.data[text.size - 1] == '=') {
        padding = text.data[text.size - 2] == '=' ? 2 : 1;
    }
    for (size_t i = 0; i < text.size; i++) {
        int digit = i + padding >= text.size ? 0 : digit_of((char)text.data[i], base64_alphabet);
        if (digit < 0) {
            return false;
        }
        v = v << 6 | (uint32_t)digit;
        if (i % 4 == 3) {
            out[written++] = (uint8_t)(v >> 16);
            out[written++] = (uint8_t)(v >> 8);
            out[written++] = (uint8_t)v;
        }
    }
    *size = written - padding;
    return true;
}

/* Writes all digits, including those for missing bytes at the end; returns how many of these to drop or replace by padding. */
static size_t write_digits(struct reel_bytes data, const char *alphabet, char *out) {
    for (size_t i = 0; i < data.size; i += 3, out += 4) {
        uint32_t v = (uint32_t)data.data[i] << 16 | (i + 1 < data.size ? (uint32_t)data.data[i + 1] << 8 : 0) |
                     (i + 2 < data.size ? data.data[i + 2] : 0);
        out[0] = alphabet[v >> 18];
        out[1] = alphabet[v >> 12 & 63];
        out[2] = alphabet[v >> 6 & 63];
        out[3] = alphabet[v & 63];
    }
    return (3 - data.size % 3) % 3;
}

void base64_write(struct reel_bytes data, char *out) {
    size_t padding = write_digits(data, base64_alphabet, out);
    for (size_t i = 1; i <= padding; i++) {
        out[BASE64_TEXT(data.size) - i] = '=';
    }
}

void base64url_write(struct reel_bytes data, char *out) {
    size_t padding = write_digits(data, for_url, out);
    out[BASE64_TEXT(data.size) - padding] = '\0';
}

bool base64url_only(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (digit_of(text[i], for_url) < 0) {
            return false;
        }
    }
    return true;
}
