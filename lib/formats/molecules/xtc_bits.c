/* See xtc_bits.h. */
#include "formats/molecules/xtc_bits.h"

#include <limits.h>
#include <string.h>

enum {
    FIRST_SMALL = 9,
    RUN_MAX = 8,               /* small differences after a whole position */
    WHOLE_RANGE_MAX = 0xFFFFFF /* a larger range than this: each coordinate has bits of its own */
};

/* The ranges of small differences: three of range i take i bits. */
static const int32_t ranges[] = {
    0,       0,       0,       0,       0,        0,        0,       0,       0,       8,       10,
    12,      16,      20,      25,      32,       40,       50,      64,      80,      101,     128,
    161,     203,     256,     322,     406,      512,      645,     812,     1024,    1290,    1625,
    2048,    2580,    3250,    4096,    5060,     6501,     8192,    10321,   13003,   16384,   20642,
    26007,   32768,   41285,   52015,   65536,    82570,    104031,  131072,  165140,  208063,  262144,
    330280,  416127,  524287,  660561,  832255,   1048576,  1321122, 1664510, 2097152, 2642245, 3329021,
    4194304, 5284491, 6658042, 8388607, 10568983, 13316085, 16777216};
enum { RANGES = sizeof ranges / sizeof *ranges };

/* ---- bits */

struct writer {
    struct grow *out;
    uint32_t pending; /* its lowest `n_pending` bits are not yet written */
    unsigned n_pending;
};

static void put_bits(struct writer *w, unsigned n, uint32_t value) {
    for (unsigned left = n; left > 0;) {
        unsigned take = left < 8 ? left : 8;
        left -= take;
        w->pending = w->pending << take | (value >> left & ((1U << take) - 1));
        w->n_pending += take;
        if (w->n_pending >= 8) {
            w->n_pending -= 8;
            grow_u8(w->out, (uint8_t)(w->pending >> w->n_pending));
            w->pending &= (1U << w->n_pending) - 1;
        }
    }
}

static void end_bits(struct writer *w) {
    if (w->n_pending > 0) {
        put_bits(w, 8 - w->n_pending, 0);
    }
}

static unsigned bits_of(uint32_t range) {
    unsigned n = 0;
    while (n < 32 && range >> n > 0) {
        n++;
    }
    return n;
}

/* Numbers below 2^96, least digit first. */
struct wide {
    uint32_t digits[3];
};

static void wide_step(struct wide *w, uint32_t factor, uint32_t add) {
    uint64_t carry = add;
    for (unsigned i = 0; i < 3; i++) {
        carry += (uint64_t)w->digits[i] * factor;
        w->digits[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* The bits that any three integers of these ranges take together. */
static unsigned bits_of_three(const uint32_t range[3]) {
    struct wide product = {.digits = {1}};
    for (unsigned i = 0; i < 3; i++) {
        wide_step(&product, range[i], 0);
    }
    unsigned high = product.digits[2] > 0 ? 2 : product.digits[1] > 0 ? 1 : 0;
    return 32 * high + bits_of(product.digits[high]);
}

/* Its bytes come least first, the bits of each most first. */
static void put_three(struct writer *w, unsigned bits, const uint32_t range[3], const uint32_t value[3]) {
    struct wide number = {.digits = {value[0]}};
    wide_step(&number, range[1], value[1]);
    wide_step(&number, range[2], value[2]);
    for (unsigned at = 0; at < bits; at += 8) {
        put_bits(w, bits - at < 8 ? bits - at : 8, number.digits[at / 32] >> at % 32 & 0xFF);
    }
}

/* ---- positions */

static int64_t distance(int32_t a, int32_t b) {
    int64_t d = (int64_t)a - b;
    return d < 0 ? -d : d;
}

static bool near(const int32_t *a, const int32_t *b, int32_t range) {
    return distance(a[0], b[0]) < range && distance(a[1], b[1]) < range && distance(a[2], b[2]) < range;
}

/* Sets the range of all positions; the value is the smallest step from one to the next. */
static int64_t measure(const int32_t *at, size_t n, struct xtc_range *range) {
    int64_t least = INT_MAX;
    memcpy(range->least, at, sizeof range->least);
    memcpy(range->most, at, sizeof range->most);
    for (size_t i = 1; i < n; i++) {
        const int32_t *p = at + 3 * i;
        int64_t step = 0;
        for (unsigned k = 0; k < 3; k++) {
            range->least[k] = p[k] < range->least[k] ? p[k] : range->least[k];
            range->most[k] = p[k] > range->most[k] ? p[k] : range->most[k];
            step += distance(p[k], p[(int)k - 3]);
        }
        least = step < least ? step : least;
    }
    return least;
}

struct packer {
    struct writer w;
    const struct xtc_range *range;
    uint32_t whole[3];     /* the ranges of whole positions */
    unsigned whole_bits;   /* of the three together; 0: each has bits of its own */
    unsigned least, most;  /* indices of ranges of small differences */
    unsigned small;        /* the present one */
    int32_t half, smaller; /* half of its range, and of the one below */
    unsigned last_run;
};

static void put_whole(struct packer *p, const int32_t *at) {
    uint32_t value[3];
    for (unsigned k = 0; k < 3; k++) {
        value[k] = (uint32_t)at[k] - (uint32_t)p->range->least[k];
    }
    if (p->whole_bits > 0) {
        put_three(&p->w, p->whole_bits, p->whole, value);
        return;
    }
    for (unsigned k = 0; k < 3; k++) {
        put_bits(&p->w, bits_of(p->whole[k]), value[k]);
    }
}

static void swap_positions(int32_t *a, int32_t *b) {
    int32_t swap[3];
    memcpy(swap, a, sizeof swap);
    memcpy(a, b, sizeof swap);
    memcpy(b, swap, sizeof swap);
}

static bool is_far(const int32_t *a, const int32_t *b, int32_t range) {
    int64_t sum = 0;
    for (unsigned k = 0; k < 3; k++) {
        sum += distance(a[k], b[k]) * distance(a[k], b[k]);
    }
    return sum >= (int64_t)range * range;
}

static void put_run(struct packer *p, const int32_t *at, unsigned run, int change) {
    uint32_t range = (uint32_t)ranges[p->small];
    bool same = run == p->last_run && change == 0;
    put_bits(&p->w, 1, !same);
    if (!same) {
        put_bits(&p->w, 5, (uint32_t)((int)(3 * run) + change + 1));
        p->last_run = run;
    }
    for (unsigned i = 0; i < run; i++) {
        const int32_t *now = at + 3 * (size_t)i;
        uint32_t value[3];
        for (int k = 0; k < 3; k++) {
            value[k] = (uint32_t)(now[k] - now[k - 3] + p->half);
        }
        put_three(&p->w, p->small, (const uint32_t[]){range, range, range}, value);
    }
}

static void change_range(struct packer *p, int change) {
    p->small = (unsigned)((int)p->small + change);
    if (change < 0) {
        p->half = p->smaller;
        p->smaller = ranges[p->small - 1] / 2;
    } else if (change > 0) {
        p->smaller = p->half;
        p->half = ranges[p->small] / 2;
    }
}

/* A whole position and those that follow it closely; the value is how many there are. As the second of a molecule of
 * water is the oxygen, which both hydrogens are near, the first two change places where they are near. */
static size_t put_positions(struct packer *p, int32_t *at, size_t left, bool first) {
    int change = p->small < p->most && !first && near(at, at - 3, ranges[p->most] / 2) ? 1
                 : p->small > p->least                                                 ? -1
                                                                                       : 0;
    bool close = left > 1 && near(at, at + 3, p->half);
    unsigned run = 0;
    if (close) {
        swap_positions(at, at + 3);
    } else if (change < 0) {
        change = 0;
    }
    put_whole(p, at);
    while (close && run < RUN_MAX) {
        const int32_t *now = at + 3 * (size_t)(run + 1);
        if (change < 0 && is_far(now, now - 3, p->smaller)) {
            change = 0;
        }
        run++;
        close = run + 1 < left && near(now + 3, now, p->half);
    }
    put_run(p, at + 3, run, change);
    change_range(p, change);
    return run + 1;
}

unsigned xtc_pack(int32_t *at, size_t n, struct xtc_range *range, struct grow *bits) {
    struct packer p = {.w = {.out = bits}, .range = range, .last_run = UINT_MAX, .small = FIRST_SMALL};
    int64_t step = measure(at, n, range);
    bool wide = false;
    for (unsigned k = 0; k < 3; k++) {
        p.whole[k] = (uint32_t)range->most[k] - (uint32_t)range->least[k] + 1;
        wide |= p.whole[k] > WHOLE_RANGE_MAX;
    }
    p.whole_bits = wide ? 0 : bits_of_three(p.whole);
    while (p.small < RANGES - 1 && ranges[p.small] < step) {
        p.small++;
    }
    unsigned first = p.small;
    p.most = first + 8 < RANGES ? first + 8 : RANGES - 1;
    p.least = p.most - 8;
    p.half = ranges[first] / 2;
    p.smaller = ranges[first > FIRST_SMALL ? first - 1 : FIRST_SMALL] / 2;
    for (size_t i = 0; i < n;) {
        i += put_positions(&p, at + 3 * i, n - i, i == 0);
    }
    end_bits(&p.w);
    return first;
}
