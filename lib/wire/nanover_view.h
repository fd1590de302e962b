/* A stream of NanoVer messages in the form of today: messages of the older form are converted, and the entries of messages that lie in
 * another format's file keep NanoVer's contract (nanover.h). */
#ifndef REEL_WIRE_NANOVER_VIEW_H
#define REEL_WIRE_NANOVER_VIEW_H

#include "reel/iterate.h"
#include "wire/nanover.h"

/* Takes `source` over, also when it fails; gives it back as it is when there is nothing to change. */
struct reel_stream *nanover_view(struct reel_stream *source, struct reel_error *err);

/* Are the channel's messages NanoVer's, of today or of the older form? */
bool nanover_holds(const struct reel_channel *channel);

#endif
