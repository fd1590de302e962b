/* A selection that outlives the texts and tables it was made of. */
#ifndef REEL_STREAM_SELECTION_H
#define REEL_STREAM_SELECTION_H

#include "base/arena.h"
#include "stream/stream.h"

/* The selection that a program has passed to a public function, which may be of an older version; NULL: all. */
bool selection_read(struct reel_selection *out, const struct reel_selection *given, struct reel_error *err);

/* `initial` is not copied: NULL. False: no memory. */
bool selection_copy(struct reel_selection *copy, const struct reel_selection *selection, uint32_t n_recordings,
                    struct arena *arena);

#endif
