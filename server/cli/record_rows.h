/* A stream's channels and messages as rows for a live recording on a server. */
#ifndef SERVER_CLI_RECORD_ROWS_H
#define SERVER_CLI_RECORD_ROWS_H

#include "cli/record_remote.h"
#include "reel/iterate.h"

/* Defines the stream's channels from position `first` on. */
bool record_rows_channels(struct record_remote *remote, const struct reel_stream *stream, uint32_t first, struct reel_error *err);
/* Takes `stream` over and sends its messages, payloads as they are. `await` (may be NULL) is called before each message, which is then sent
 * at once; false ends the rows: REEL_CANCELLED. Without it messages are sent in batches. */
bool record_rows_send(struct record_remote *remote, struct reel_stream *stream, bool (*await)(struct reel_stream *stream),
                      struct reel_error *err);

#endif
