/* The channels of a TIDE file as RSBag's own tools tell them: scope, wire schema, source, types, rate. From the index alone. */
#ifndef REEL_TIDE_H
#define REEL_TIDE_H

#include "reel/index.h"
#include "reel/table.h"

/* A row a channel, in the order of the file. `types`: what the file's TYPE blocks say of it, the envelope first, as JSON. REEL_UNSUPPORTED:
 * no TIDE file; REEL_CANCELLED: the table wanted no more. */
bool reel_tide_channels(const struct reel_index *index, const struct reel_table *to, struct reel_error *err);

#endif
