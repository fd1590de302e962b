/* A selection that outlives the texts and tables it was made of. */
#ifndef REEL_STREAM_SELECTION_H
#define REEL_STREAM_SELECTION_H

#include "base/arena.h"
#include "reel/iterate.h"

/* `initial` is not copied: NULL. False: no memory. */
bool selection_copy(struct reel_selection *copy, const struct reel_selection *selection, uint32_t n_recordings,
                    struct arena *arena);

#endif
