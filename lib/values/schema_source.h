/* Where the definition of a channel's messages comes from. */
#ifndef REEL_VALUES_SCHEMA_SOURCE_H
#define REEL_VALUES_SCHEMA_SOURCE_H

#include "base/arena.h"
#include "base/hash_table.h"
#include "reel/open.h"

enum { SCHEMA_SOURCE_ROOM = 64, SCHEMA_DISTRIBUTION_ROOM = 32 };

/* Of the channels of one index; those that are alike are looked up once. */
struct schema_sources { /* {.index = …} */
    const struct reel_index *index;
    struct hash_table known;
    struct arena arena;
    char distribution[SCHEMA_DISTRIBUTION_ROOM];
};
void schema_sources_done(struct schema_sources *sources);

/* NULL: the recording, or there is none. Otherwise it is assumed: "supplied", "built-in", "built-in humble"; the
 * distribution is that of the recording. */
const char *schema_source(struct schema_sources *sources, const struct reel_channel *channel,
                          char out[SCHEMA_SOURCE_ROOM]);
/* Whether definitions may be assumed, for channels that hold none at all: outputs with definitions depend on them. */
bool schema_sources_lack(const struct reel_index *index);
/* Whether values of the recording depend on the definitions that users supply. */
bool schema_sources_vary(const struct reel_index *index);

#endif
