/* Bytes as lower-case hexadecimal digits, and back. */
#ifndef REEL_BASE_HEX_H
#define REEL_BASE_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HEX_DIGITS "0123456789abcdef"

/* Two digits, no NUL. */
static inline void hex_byte(uint8_t byte, char out[2]) {
    out[0] = HEX_DIGITS[byte >> 4];
    out[1] = HEX_DIGITS[byte & 15];
}

/* 2 * size digits and a NUL. */
static inline void hex_write(const void *data, size_t size, char *out) {
    for (size_t i = 0; i < size; i++) {
        hex_byte(((const uint8_t *)data)[i], out + 2 * i);
    }
    out[2 * size] = '\0';
}

/* How many lower-case digits the text begins with. */
static inline size_t hex_span(const char *text) {
    return strspn(text, HEX_DIGITS);
}

/* Whether the text is `size` lower-case digits. */
static inline bool hex_is(const char *text, size_t size) {
    return hex_span(text) == size && text[size] == '\0';
}

/* The value of a digit of either case; -1: not a digit. */
static inline int hex_digit(char c) {
    unsigned digit = (unsigned)(uint8_t)c - '0', letter = ((unsigned)(uint8_t)c | 0x20) - 'a';
    return digit < 10 ? (int)digit : letter < 6 ? (int)letter + 10 : -1;
}

/* Reads 2 * size lower-case digits. False: not such digits. */
static inline bool hex_read(const char *text, size_t size, void *out) {
    for (size_t i = 0; i < size; i++) {
        char high = text[2 * i], low = high ? text[2 * i + 1] : '\0';
        if (hex_digit(high) < 0 || hex_digit(low) < 0 || (high >= 'A' && high <= 'F') || (low >= 'A' && low <= 'F')) {
            return false;
        }
        ((uint8_t *)out)[i] = (uint8_t)(hex_digit(high) << 4 | hex_digit(low));
    }
    return true;
}

#endif
