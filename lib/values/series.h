/* Columns inside of the library: their runs, for series.c and series_draw.c. */
#ifndef REEL_VALUES_SERIES_H
#define REEL_VALUES_SERIES_H

#include <stdatomic.h>

#include "reel/values.h"

uint64_t reel_column_memory(const struct reel_column *column);
/* All values were float32: those that are drawn unchanged read best as reel_number_text32() writes them. */
bool reel_column_is_float32(const struct reel_column *column);

struct run { /* consecutive values; in a run of one value all points equal it */
    struct reel_point first, last, low, high;
    double sum;             /* of the finite ones … */
    uint64_t finite, count; /* … and how many they are, of all */
};

struct reel_column {
    atomic_uint references;
    struct run *runs;
    size_t count, capacity;
    uint64_t each;  /* values per run; 1: exact */
    bool has_wider; /* some value was not a float32 */
};

#endif
