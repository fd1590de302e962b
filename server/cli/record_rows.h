/* A stream's channels and messages as rows for a live recording on a server. */
#ifndef SERVER_CLI_RECORD_ROWS_H
#define SERVER_CLI_RECORD_ROWS_H

#include "base/grow.h"
#include "cli/record_remote.h"
#include "stream/stream.h"

/* Takes `stream` over and sends its messages, payloads as they are; `channels`: after rows that define the stream's
 * channels. `await` (may be NULL) is called before each message, which is then sent at once; false ends the rows:
 * REEL_CANCELLED. Without it messages are sent in batches. */
bool record_rows_send(struct record_remote *remote, struct reel_stream *stream, bool channels,
                      bool (*await)(struct reel_stream *stream), struct reel_error *err);
/* Sends the complete rows of `rows` and removes them. */
bool record_rows_whole(struct record_remote *remote, struct grow *rows, struct reel_error *err);

#endif
