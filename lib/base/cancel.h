/* Whether the work of this thread was cancelled. Who runs work says how that is found out; what may take long asks: the
 * merge of an index, reading a payload, decoding a chunk, moving a window. Work that is passed to other threads takes
 * it along (base/pipeline.c). */
#ifndef REEL_BASE_CANCEL_H
#define REEL_BASE_CANCEL_H

#include <stdint.h>

#include "reel/error.h"

struct cancel {
    bool (*goes_on)(void *context); /* false: the work was cancelled. Any thread calls it, often */
    void *context;
};

/* Sets what holds for this thread from now on (NULL: nothing cancels it), and returns what held before. `cancel` must
 * outlive the work. */
const struct cancel *cancel_set(const struct cancel *cancel);
const struct cancel *cancel_current(void);
/* False: REEL_CANCELLED. */
bool cancel_check(struct reel_error *err);
/* For loops of many small steps, which *n counts: asks at each 65,536th. */
static inline bool cancel_check_step(uint32_t *n, struct reel_error *err) {
    return (++*n & 0xffff) != 0 || cancel_check(err);
}

#endif
