/* Bytes written as hexadecimal digits with blanks anywhere, and texts in between: "05000000 'hello' 00". For tests of
 * decoders. */
#ifndef REEL_TESTS_HEX_H
#define REEL_TESTS_HEX_H

#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "reel/bytes.h"

/* Valid until the test program ends. Exactly as large as the bytes, so that a sanitizer sees a read past them. */
static inline struct reel_bytes hex(const char *text) {
    static uint8_t *kept[4096];
    static size_t n_kept;
    uint8_t bytes[4096];
    size_t n = 0;
    for (const char *p = text; *p; p++) {
        assert(n < sizeof bytes);
        if (*p == '\'') {
            for (p++; *p != '\''; p++) {
                bytes[n++] = (uint8_t)*p;
            }
        } else if (*p != ' ') {
            const char digits[] = {p[0], p[1], '\0'};
            char *end;
            bytes[n++] = (uint8_t)strtoul(digits, &end, 16);
            assert(end == digits + 2);
            p++;
        }
    }
    uint8_t *copy = malloc(n > 0 ? n : 1);
    assert(copy && n_kept < sizeof kept / sizeof *kept);
    memcpy(copy, bytes, n);
    kept[n_kept++] = copy; /* still reachable: no leak */
    return bytes_of(copy, n);
}

#endif
