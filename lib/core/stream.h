/* What the core knows of its basic stream beyond reel/iterate.h. */
#ifndef REEL_CORE_STREAM_H
#define REEL_CORE_STREAM_H

#include "reel/iterate.h"

/* False for views, for what is sampled, and where something stands in front: only walking tells how many messages come. */
bool stream_can_count(const struct reel_stream *stream);
/* How many messages the stream has with time < before_ns; REEL_TIME_MAX: all. From the index, without walking. Only where
 * stream_can_count(). */
bool stream_count(struct reel_stream *stream, int64_t before_ns, uint64_t *count, struct reel_error *err);

#endif
