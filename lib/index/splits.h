/* Files that continue each other: run_0.mcap, run_1.mcap … of a recorder that lists them nowhere. */
#ifndef REEL_INDEX_SPLITS_H
#define REEL_INDEX_SPLITS_H

#include "index/format.h"

/* reel_format.joins() of formats whose summary is quick to read. */
enum reel_joins splits_join(const struct reel_format *format, struct reel_source *const *parts, uint32_t n,
                            struct reel_source *other);

#endif
