/* What a dataset of recordings like this one can have: features by the names and types of its topics, and their rate.
 */
#ifndef SERVER_DATASETS_PROPOSE_H
#define SERVER_DATASETS_PROPOSE_H

#include <jansson.h>

#include "index/index.h"

/* A copy of the definition with "features" and "fps", where it has none. NULL with err: REEL_UNSUPPORTED: there is no
 * topic of a type that is known here. */
json_t *dataset_propose(const json_t *definition, const struct reel_index *index, struct reel_error *err);

#endif
