/* 64-bit hash mixing: for tables, and for sums that do not depend on an order. */
#ifndef REEL_BASE_MIX_H
#define REEL_BASE_MIX_H

#include <stdint.h>

/* Mixes b into a running hash. */
static inline uint64_t mix_step(uint64_t a, uint64_t b) {
    uint64_t h = (a ^ 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 32 ^ b) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 29;
}

/* Fastest; 0 when either number is 0. */
static inline uint64_t mix_fold(uint64_t a, uint64_t b) {
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The same for numbers that are small, or 0. */
static inline uint64_t mix_pair(uint64_t a, uint64_t b) {
    return mix_fold(a ^ 0x9e3779b97f4a7c15u, b ^ 0xd1b54a32d192ed03u);
}

#endif
