/* Transient errors (reel_is_passing: no memory, a failed read, cancelled …) say nothing about a file. Much code answers a failure with a
 * finding, a fallback or "not mine"; were the failure transient, that answer would be kept for ever. So whoever keeps an answer watches the
 * work for it: reel_fail() notes the first transient error of this thread in the open watch, whether or not the caller takes an error, and
 * the watch fails with it at its end, whatever the work made of it. */
#ifndef REEL_CORE_TRANSIENT_H
#define REEL_CORE_TRANSIENT_H

#include "reel/error.h"

struct transient_watch {
    struct reel_error first; /* REEL_OK: none yet */
    struct transient_watch *outer;
};

/* Watches nest; each begin has its end, on the same thread. */
void transient_watch_begin(struct transient_watch *watch);
/* `good`: what the watched work returned. True when it is and nothing transient happened; else *err says why, transient errors first. */
bool transient_watch_end(struct transient_watch *watch, bool good, struct reel_error *err);
/* Has the innermost watch of this thread noted one? */
bool transient_error_noted(void);

#endif
