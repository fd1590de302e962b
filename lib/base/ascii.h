/* Letters and digits of ASCII, and texts compared without regard to the case of such letters. Those of <ctype.h> and
 * <strings.h> depend on the locale: in a Turkish one "TITLE" is not "title". */
#ifndef REEL_BASE_ASCII_H
#define REEL_BASE_ASCII_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool ascii_is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}
static inline bool ascii_is_letter(uint8_t c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}
static inline bool ascii_is_alnum(uint8_t c) {
    return ascii_is_digit(c) || ascii_is_letter(c);
}
static inline bool ascii_is_space(uint8_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}
static inline uint8_t ascii_lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}
static inline uint8_t ascii_upper(uint8_t c) {
    return c >= 'a' && c <= 'z' ? (uint8_t)(c - ('a' - 'A')) : c;
}

/* As strncasecmp(), strcasecmp() and strcasestr() in the locale "C". */
static inline int ascii_ncasecmp(const char *a, const char *b, size_t size) {
    for (size_t i = 0; i < size; i++) {
        uint8_t x = ascii_lower((uint8_t)a[i]), y = ascii_lower((uint8_t)b[i]);
        if (x != y || x == '\0') {
            return x - y;
        }
    }
    return 0;
}
static inline int ascii_casecmp(const char *a, const char *b) {
    return ascii_ncasecmp(a, b, SIZE_MAX);
}
static inline bool ascii_contains(const char *text, const char *part) {
    size_t size = strlen(part);
    for (; *text && ascii_ncasecmp(text, part, size) != 0; text++) {
    }
    return *text || size == 0;
}

#endif
