/* Bytes with nothing behind them: a parser that reads past the end of its input is a finding of AddressSanitizer. A
 * string literal ends in a NUL and a part of a larger buffer in its next part, where such a read goes unseen. */
#ifndef TESTS_EXACT_H
#define TESTS_EXACT_H

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

/* Free it by exact_free(). It begins one byte after its allocation, so that an empty one has an end to be read past,
 * too. */
static inline struct reel_bytes exact_copy(struct reel_bytes from) {
    uint8_t *room = malloc(from.size + 1);
    if (!room) {
        abort();
    }
    if (from.size > 0) {
        memcpy(room + 1, from.data, from.size);
    }
    return bytes_of(room + 1, from.size);
}
static inline void exact_free(const struct reel_bytes *copy) {
    if (copy->data) {
        free((uint8_t *)copy->data - 1);
    }
}
#define AUTO_EXACT __attribute__((cleanup(exact_free)))

#endif
