/* Errors that do not end what was being done. */
#ifndef REEL_BASE_ERROR_H
#define REEL_BASE_ERROR_H

#include "reel/error.h"

/* No error yet. The text is not cleared whole: that would take as long as decoding a small message. */
static inline void reel_error_clear(struct reel_error *err) {
    err->code = REEL_OK;
    err->sys = 0;
    err->text[0] = '\0';
}

/* For code that goes on without what a failed call was to give: true, except where the failure is transient
 * (reel_is_transient()), as the result would be another one next time: that is passed on. */
bool reel_error_ignore(struct reel_error *err, const struct reel_error *own);

#endif
