/* See md5.h. */
#include "wire/md5.h"

#include <math.h>

#include "wire/bytes.h"

static uint32_t rotate(uint32_t v, unsigned n) {
    return v << n | v >> (32 - n);
}

static void take_block(uint32_t h[4], const uint8_t *p) {
    static const uint8_t shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3];
    for (unsigned i = 0; i < 64; i++) {
        uint32_t f = i < 16 ? (b & c) | (~b & d) : i < 32 ? (d & b) | (~d & c) : i < 48 ? b ^ c ^ d : c ^ (b | ~d);
        unsigned word = i < 16 ? i : i < 32 ? (5 * i + 1) % 16 : i < 48 ? (3 * i + 5) % 16 : 7 * i % 16;
        uint32_t constant = (uint32_t)(fabs(sin(i + 1.0)) * 4294967296.0); /* as the RFC defines it */
        uint32_t next = b + rotate(a + f + constant + load_u32le(p + 4 * word), shifts[i / 16][i % 4]);
        a = d;
        d = c;
        c = b;
        b = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
}

void md5_hex(struct reel_bytes data, char out[MD5_TEXT]) {
    static const char digits[] = "0123456789abcdef";
    uint32_t h[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    size_t at = 0;
    for (; data.size - at >= 64; at += 64) {
        take_block(h, data.data + at);
    }
    uint8_t last[128] = {0};
    size_t rest = data.size - at, room = rest < 56 ? 64 : 128;
    if (rest > 0) {
        memcpy(last, data.data + at, rest);
    }
    last[rest] = 0x80;
    store_u64le(last + room - 8, (uint64_t)data.size * 8);
    for (at = 0; at < room; at += 64) {
        take_block(h, last + at);
    }
    for (unsigned i = 0; i < 16; i++) {
        uint8_t byte = (uint8_t)(h[i / 4] >> 8 * (i % 4));
        out[2 * i] = digits[byte >> 4];
        out[2 * i + 1] = digits[byte & 15];
    }
    out[32] = '\0';
}
