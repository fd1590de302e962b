/* See cancel.h. */
#include "base/cancel.h"

#include <stddef.h>

static _Thread_local const struct cancel *current;

const struct cancel *cancel_set(const struct cancel *cancel) {
    const struct cancel *before = current;
    current = cancel;
    return before;
}

const struct cancel *cancel_current(void) {
    return current;
}

bool cancel_check(struct reel_error *err) {
    return !current || current->goes_on(current->context) || reel_fail(err, REEL_CANCELLED, "cancelled");
}
