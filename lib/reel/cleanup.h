/* Scope-bound ownership: AUTO(reel_index_free) struct reel_index *i = NULL; … *out = TAKE(i); No goto needed. */
#ifndef REEL_CLEANUP_H
#define REEL_CLEANUP_H

/* Defines reel_auto_<free_fn>() for a destructor that takes a pointer and accepts NULL. */
#define REEL_DEFINE_AUTO(type, free_fn)                                                                                                    \
    static inline void reel_auto_##free_fn(type **p) {                                                                                     \
        free_fn(*p);                                                                                                                       \
    }                                                                                                                                      \
    struct reel_auto_defined_##free_fn

#define AUTO(free_fn) __attribute__((cleanup(reel_auto_##free_fn)))

#define TAKE(pointer)                                                                                                                      \
    ({                                                                                                                                     \
        __typeof__(pointer) taken_ = (pointer);                                                                                            \
        (pointer) = NULL;                                                                                                                  \
        taken_;                                                                                                                            \
    })

#include <stdlib.h>
#include <unistd.h>

static inline void reel_auto_mem(void *p) {
    free(*(void **)p);
}
static inline void reel_auto_fd(const int *fd) {
    if (*fd >= 0) {
        close(*fd);
    }
}
#define AUTO_MEM __attribute__((cleanup(reel_auto_mem))) /* for anything from malloc */
#define AUTO_FD __attribute__((cleanup(reel_auto_fd)))   /* for an int descriptor, -1 = none */

#endif
