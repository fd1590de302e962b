/* Numbers as the shortest decimals that read back to the same value. */
#ifndef REEL_DECODE_SHORTEST_H
#define REEL_DECODE_SHORTEST_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SHORTEST_ROOM = 40 };
/* Finite values only; writes no NUL and returns the length, at most 24. What lies behind it in `out` is written over. */
size_t shortest_double(double value, char out[SHORTEST_ROOM]);
size_t shortest_float(float value, char out[SHORTEST_ROOM]);
/* The other way: the double nearest to a decimal number as JSON has it, whatever the locale; beyond the largest it is infinite. */
double shortest_read(const char *text, size_t size);
/* What printf's %g writes, in any locale; also of what is not finite. */
size_t general_double(double value, char out[SHORTEST_ROOM]);

#ifdef __cplusplus
}
#endif

#endif
