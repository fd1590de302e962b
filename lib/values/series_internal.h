/* Shared by series.c and series_draw.c: the runs of a column. */
#ifndef REEL_VALUES_SERIES_INTERNAL_H
#define REEL_VALUES_SERIES_INTERNAL_H

#include <stdatomic.h>

#include "reel/series.h"

struct run { /* consecutive values; in a run of one value all points equal it */
    struct reel_point first, last, low, high;
    double sum;
    uint64_t count;
};

struct reel_column {
    atomic_uint references;
    struct run *runs;
    size_t count, capacity;
    uint64_t each;  /* values per run; 1: exact */
    bool has_wider; /* some value was not a float32 */
};

#endif
