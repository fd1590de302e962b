/* Structs of options that begin with their size (`size_t size`), so that programs compiled with an older header keep
 * working. */
#ifndef REEL_BASE_OPTIONS_H
#define REEL_BASE_OPTIONS_H

#include <string.h>

#include "reel/error.h"

/* Copies what the caller's version of the struct has (`given` NULL: nothing) over zeros. `name` is the struct's, for
 * the error. */
static inline bool options_copy(void *out, size_t size, const void *given, const char *name, struct reel_error *err) {
    size_t given_size = given ? *(const size_t *)given : 0;
    if (given && (given_size == 0 || given_size > size)) {
        return reel_fail(err, REEL_ARGUMENT, "%s.size is not that of this version", name);
    }
    memset(out, 0, size);
    memcpy(out, given ? given : out, given_size);
    *(size_t *)out = size;
    return true;
}

/* The reverse: as much of a result as the caller's version of the struct has; members that are newer than the library
 * are zero. */
static inline void options_fill(void *out, void *result, size_t size) {
    size_t out_size = *(size_t *)out, common = out_size < size ? out_size : size;
    *(size_t *)result = out_size;
    memset(out, 0, out_size);
    memcpy(out, result, common);
}

#endif
