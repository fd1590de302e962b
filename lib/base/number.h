/* Numbers in text from clients. Integers: digits, and a "-" where negative numbers are allowed; no blanks, no "+", no
 * overflow. */
#ifndef REEL_BASE_NUMBER_H
#define REEL_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"

/* `out` is unchanged when the text is not such a number. */
static inline bool number_u64_of(const char *text, size_t size, uint64_t *out) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (unsigned)(text[i] - '0'), &value)) {
            return false;
        }
    }
    *out = size > 0 ? value : *out;
    return size > 0;
}

static inline bool number_i64_of(const char *text, size_t size, int64_t *out) {
    uint64_t value;
    bool negative = size > 0 && *text == '-';
    if (!number_u64_of(text + negative, size - negative, &value) || value > (uint64_t)INT64_MAX + negative) {
        return false;
    }
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

static inline bool number_u64(const char *text, uint64_t *out) {
    return number_u64_of(text, strlen(text), out);
}

static inline bool number_i64(const char *text, int64_t *out) {
    return number_i64_of(text, strlen(text), out);
}

/* Whatever strtod() takes, as a whole. */
static inline bool number_real(const char *text, double *out) {
    C_LOCALE;
    char *end;
    double value = strtod(text, &end);
    bool good = end != text && *end == '\0';
    *out = good ? value : *out;
    return good;
}

#endif
