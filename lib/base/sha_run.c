/* See sha_run.h. */
#include "base/sha_run.h"

#include <string.h>

void sha_run(struct reel_bytes data, void (*take_block)(uint32_t *h, const uint8_t *p), uint32_t *h, uint8_t *out,
             size_t size) {
    size_t at = 0;
    for (; data.size - at >= 64; at += 64) {
        take_block(h, data.data + at);
    }
    uint8_t last[128] = {0};
    size_t left = data.size - at, padded = left < 56 ? 64 : 128;
    if (left > 0) {
        memcpy(last, data.data + at, left);
    }
    last[left] = 0x80;
    for (size_t i = 0; i < 8; i++) {
        last[padded - 1 - i] = (uint8_t)((uint64_t)data.size * 8 >> 8 * i);
    }
    for (at = 0; at < padded; at += 64) {
        take_block(h, last + at);
    }
    for (size_t i = 0; i < size; i++) {
        out[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
    }
}
