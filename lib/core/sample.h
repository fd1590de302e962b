/* Which messages of a channel a summary looks at, where the file's index does not tell what only their heads hold (which node sent them,
 * their frame ids): up to SAMPLE_MESSAGES of a channel – the first ones, so that two that alternate are both met, and then some up to the
 * last one. */
#ifndef REEL_FORMATS_SAMPLE_H
#define REEL_FORMATS_SAMPLE_H

#include <stdint.h>

enum { SAMPLE_MESSAGES = 8, SAMPLE_FIRST = 4 };

/* The number of sample k of `count` messages; count > SAMPLE_MESSAGES. */
static inline uint32_t sample_number(uint32_t k, uint32_t count) {
    return k < SAMPLE_FIRST ? k : count - 1 - (SAMPLE_MESSAGES - 1 - k) * (count / (SAMPLE_MESSAGES - SAMPLE_FIRST + 1));
}

#endif
