/* See md5.h. */
#include "base/md5.h"

#include "base/bytes.h"
#include "base/hex.h"

static const uint32_t sines[64] = {
    /* 2^32 * |sin(1)|, |sin(2)|, ... */
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static uint32_t rotate(uint32_t v, unsigned n) {
    return v << n | v >> (32 - n);
}

static void take_block(uint32_t h[4], const uint8_t *p) {
    static const uint8_t shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3];
    for (unsigned i = 0; i < 64; i++) {
        uint32_t f = i < 16 ? (b & c) | (~b & d) : i < 32 ? (d & b) | (~d & c) : i < 48 ? b ^ c ^ d : c ^ (b | ~d);
        unsigned word = i < 16 ? i : i < 32 ? (5 * i + 1) % 16 : i < 48 ? (3 * i + 5) % 16 : 7 * i % 16;
        uint32_t next = b + rotate(a + f + sines[i] + load_u32le(p + 4 * word), shifts[i / 16][i % 4]);
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
    uint8_t digest[16];
    for (unsigned i = 0; i < 4; i++) {
        store_u32le(digest + 4 * i, h[i]);
    }
    hex_write(digest, sizeof digest, out);
}
