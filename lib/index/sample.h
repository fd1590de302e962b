/* Which messages of a channel a summary samples when the file's index lacks what only message headers hold (sender
 * node, frame ids): at most SAMPLE_MESSAGES per channel – the first ones, to see both of two that alternate, and then
 * some spread up to the last. */
#ifndef REEL_INDEX_SAMPLE_H
#define REEL_INDEX_SAMPLE_H

#include <stdint.h>

enum { SAMPLE_MESSAGES = 8, SAMPLE_FIRST = 4 };

/* The number of sample k of `count` messages; count > SAMPLE_MESSAGES. */
static inline uint32_t sample_number(uint32_t k, uint32_t count) {
    return k < SAMPLE_FIRST ? k
                            : count - 1 - (SAMPLE_MESSAGES - 1 - k) * (count / (SAMPLE_MESSAGES - SAMPLE_FIRST + 1));
}

#endif
