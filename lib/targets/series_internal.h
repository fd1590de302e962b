/* What series.c and series_draw.c share: the runs of a column. */
#ifndef REEL_DECODE_SERIES_OWN_H
#define REEL_DECODE_SERIES_OWN_H

#include <stdatomic.h>

#include "reel/series.h"

struct run { /* values that follow each other; of one value all points are that one */
    struct reel_point first, last, low, high;
    double sum;
    uint64_t count;
};

struct reel_column {
    atomic_uint references;
    struct run *runs;
    size_t count, capacity;
    uint64_t each;  /* values in a run; 1: exact */
    bool has_wider; /* a value was no float32 */
};

#endif
