/* Scope-bound ownership: AUTO(reel_index_free) struct reel_index *i = NULL; … *out = TAKE(i); */
#ifndef REEL_BASE_CLEANUP_H
#define REEL_BASE_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

#include "reel/cleanup.h"

#define AUTO(free_fn) __attribute__((cleanup(reel_auto_##free_fn)))
#define AUTO_STRUCT(done_fn) __attribute__((cleanup(done_fn))) /* for a struct itself: done_fn(&it) */

#define TAKE(pointer)                                                                                                  \
    ({                                                                                                                 \
        __typeof__(pointer) taken_ = (pointer);                                                                        \
        (pointer) = NULL;                                                                                              \
        taken_;                                                                                                        \
    })

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
