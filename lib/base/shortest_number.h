/* Numbers as the shortest decimals that read back to the same value. */
#ifndef REEL_BASE_SHORTEST_NUMBER_H
#define REEL_BASE_SHORTEST_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SHORTEST_ROOM = 40 };
/* Finite values only; writes no NUL and returns the length, at most 24. Bytes of `out` after it are overwritten too. */
size_t shortest_double(double value, char out[SHORTEST_ROOM]);
size_t shortest_float(float value, char out[SHORTEST_ROOM]);
/* The same of a whole number. */
size_t whole_digits(uint64_t value, char out[SHORTEST_ROOM]);
/* The reverse: the double nearest to a JSON number, independent of the locale; infinite beyond the largest. */
double shortest_read(const char *text, size_t size);
/* The output of printf's %g in the C locale, also for values that are not finite. */
size_t general_double(double value, char out[SHORTEST_ROOM]);

#ifdef __cplusplus
}
#endif

#endif
