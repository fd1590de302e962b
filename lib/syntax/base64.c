/* See base64.h. */
#include "syntax/base64.h"

#include <string.h>

static const char base64_alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char for_url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* 1 + the digit; 0: none. */
static const uint8_t digits[128] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};

int base64_digit(char c) {
    return (uint8_t)c < sizeof digits ? digits[(uint8_t)c] - 1 : -1;
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
        int digit = i + padding >= text.size ? 0 : base64_digit((char)text.data[i]);
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

/* Writes all digits, including those for missing bytes at the end; returns how many of these to drop or replace by
 * padding. */
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

bool base64url_read(struct reel_bytes text, uint8_t *out, size_t *size) {
    uint32_t bits = 0;
    unsigned held = 0; /* bits that are not written yet */
    *size = 0;
    for (size_t i = 0; i < text.size; i++) {
        const char *digit = memchr(for_url, text.data[i], sizeof for_url - 1);
        if (!digit) {
            return false;
        }
        bits = bits << 6 | (uint32_t)(digit - for_url);
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[(*size)++] = (uint8_t)(bits >> held);
            bits &= (1U << held) - 1;
        }
    }
    return held < 6 && bits == 0;
}

bool base64url_only(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        char c = text[i], letter = (char)(c | 0x20);
        bool good = (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        if (!good) {
            return false;
        }
    }
    return true;
}
