/* Streams whose messages satisfy conditions on their values: selection.where. */
#ifndef REEL_STREAM_WHERE_H
#define REEL_STREAM_WHERE_H

#include "stream/stream.h"

/* Takes `below` over, also on failure. REEL_ARGUMENT: a condition that is none, or is about no topic of the recordings;
 * why a topic cannot be decoded. */
struct reel_stream *where_stream(struct reel_stream *below, const struct reel_selection *selection,
                                 struct reel_error *err);
/* stream_selects() of such a stream. */
bool where_selects(struct reel_stream *stream, const struct reel_message *m, bool *selects, struct reel_error *err);

#endif
