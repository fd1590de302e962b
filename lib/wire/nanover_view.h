/* A stream of NanoVer messages in today's form: messages of the older form are converted, and entries of messages in a
 * file of another format get the columns of NanoVer's contract (nanover.h). */
#ifndef REEL_WIRE_NANOVER_VIEW_H
#define REEL_WIRE_NANOVER_VIEW_H

#include "reel/iterate.h"
#include "wire/nanover.h"

/* Takes over `source`, also on failure; returns it unchanged when there is nothing to convert. */
struct reel_stream *nanover_view(struct reel_stream *source, struct reel_error *err);

/* True when the channel's messages are NanoVer's, in today's or the older form. */
bool nanover_holds(const struct reel_channel *channel);

#endif
