/* `reel play --to URL`: what is played goes into a live recording of a server. */
#ifndef SERVER_CLI_PLAY_REMOTE_H
#define SERVER_CLI_PLAY_REMOTE_H

#include "cli/record_remote.h"
#include "reel/write.h"

/* Takes `stream` over. Ends with the stream, or when go_on() of the options is false. */
bool play_remote(const struct record_remote_options *options, struct reel_stream *stream, struct reel_error *err);

/* Waits until the next message of a playback is due; false: interrupted. */
bool play_await(struct reel_stream *played);

#endif
