/* A selection that outlives the texts and tables it was made of. */
#ifndef REEL_CORE_SELECTION_H
#define REEL_CORE_SELECTION_H

#include "reel/iterate.h"
#include "wire/arena.h"

/* `front` is not copied: NULL. False: no memory. */
bool selection_copy(struct reel_selection *copy, const struct reel_selection *selection, uint32_t n_recordings,
                    struct arena *arena);

#endif
