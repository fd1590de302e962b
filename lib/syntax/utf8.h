/* UTF-8 validation: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef REEL_SYNTAX_UTF8_H
#define REEL_SYNTAX_UTF8_H

#include "base/grow.h"
#include "base/hex.h"

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

/* The characters of a text that is UTF-8 which fit in `size` bytes. */
static inline void utf8_copy(char *out, size_t size, const char *text) {
    size_t n = strlen(text);
    for (n = n < size ? n : size - 1; n > 0 && ((uint8_t)text[n] & 0xc0) == 0x80; n--) {
    }
    memcpy(out, text, n);
    out[n] = '\0';
}

/* The text with each byte that is not UTF-8 as \xNN. */
static inline void utf8_put(struct grow *to, struct reel_bytes text) {
    for (size_t at = 0, plain = 0; at <= text.size;) {
        size_t size = at < text.size ? utf8_length(text.data + at, text.size - at) : 0;
        if (size == 0 && at > plain) {
            grow_put(to, text.data + plain, at - plain);
        }
        if (size == 0 && at < text.size) {
            char escape[] = {'\\', 'x', '0', '0'};
            hex_byte(text.data[at], escape + 2);
            grow_put(to, escape, sizeof escape);
        }
        at += size > 0 ? size : 1;
        plain = size > 0 ? plain : at;
    }
}

static inline bool utf8_has_control(const char *text) {
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)) {
            return true;
        }
    }
    return false;
}

/* Writes a character's number, at most 0x1fffff, as UTF-8; returns its size (1 … 4). A surrogate becomes three bytes
 * that are no UTF-8. */
static inline size_t utf8_put_code(uint32_t code, uint8_t *out) {
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, code >>= 6) {
        out[i] = (uint8_t)(0x80 | (code & 0x3f));
    }
    out[0] = (uint8_t)(code | (0xf00u >> size));
    return size;
}

/* The character of two units of UTF-16. */
static inline uint32_t utf8_code_of_units(uint32_t high, uint32_t low) {
    return 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
}

/* Writes a character of UTF-16, of which each unit is a number of its own, as UTF-8; returns its size (1 … 4). `low` is
 * the unit after it (0: none), which a character of two units takes: *used is 1 or 2. What is no character becomes
 * U+FFFD. */
static inline size_t utf8_put_units(uint32_t unit, uint32_t low, uint32_t *used, uint8_t *out) {
    bool pair = unit >= 0xd800 && unit < 0xdc00 && low >= 0xdc00 && low < 0xe000;
    bool none = unit > 0x10ffff || (unit >= 0xd800 && unit < 0xe000);
    *used = pair ? 2 : 1;
    return utf8_put_code(pair ? utf8_code_of_units(unit, low) : none ? 0xfffd : unit, out);
}

#endif
