/* The compression of positions in XTC files, by Frans van Hoesel: a position is either whole, counted from the least
 * one of the frame, or the small difference to the one before it. As three integers in a mixed radix they take as few
 * bits as their ranges need. Source of the layout: xdrfile_compress_coord_float() of GROMACS's xdrfile. */
#ifndef REEL_FORMATS_MOLECULES_XTC_BITS_H
#define REEL_FORMATS_MOLECULES_XTC_BITS_H

#include "base/grow.h"

struct xtc_range {
    int32_t least[3], most[3];
};
/* Appends the bits of n > 0 positions, whose ranges are below 2^32 - 1; positions may change places in `at`. The value
 * is the index of the first range of small differences, for the head of the frame. */
unsigned xtc_pack(int32_t *at, size_t n, struct xtc_range *range, struct grow *bits);

#endif
