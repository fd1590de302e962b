/* A stream of NanoVer messages in today's form: messages of the older form are converted, and entries of messages in a
 * file of another format get the columns of NanoVer's contract (message.h). */
#ifndef REEL_FORMATS_NANOVER_CURRENT_FORM_H
#define REEL_FORMATS_NANOVER_CURRENT_FORM_H

#include "formats/nanover/message.h"
#include "stream/stream.h"

/* Takes over `source`, also on failure; returns it unchanged when there is nothing to convert. */
struct reel_stream *nanover_view(struct reel_stream *source, struct reel_error *err);

/* True when the channel's messages are NanoVer's, in today's or the older form. */
bool nanover_holds(const struct reel_channel *channel);

#endif
