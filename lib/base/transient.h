/* Transient errors (reel_is_transient(): no memory, a failed read, cancelled …) say nothing about a file. Much code
 * turns a failure into a finding, a fallback or "not this format"; such a result must not be stored when the failure
 * was transient. Code that stores results therefore opens a watch: reel_fail() records the first transient error of the
 * thread in it, even when the caller ignores the error, and the watch fails with that error at its end. */
#ifndef REEL_BASE_TRANSIENT_H
#define REEL_BASE_TRANSIENT_H

#include "reel/error.h"

struct transient_watch {
    struct reel_error first; /* REEL_OK: none yet */
    struct transient_watch *outer;
};

/* Watches nest; begin and end are called in pairs on the same thread. */
void transient_watch_begin(struct transient_watch *watch);
/* `good`: result of the watched work. True when it is true and no transient error occurred; else *err is set,
 * preferring the transient error. */
bool transient_watch_end(struct transient_watch *watch, bool good, struct reel_error *err);
/* True when the innermost watch of this thread has recorded an error. */
bool transient_error_noted(void);

#endif
