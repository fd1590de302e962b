/* `reel play --to URL`: what is played goes into a live recording of a server. */
#ifndef SERVER_CLI_PLAY_REMOTE_H
#define SERVER_CLI_PLAY_REMOTE_H

#include "cli/record_remote.h"
#include "convert/writer.h"

/* Takes `stream` over. Ends with the stream, or when go_on() of the options is false. */
bool play_remote(const struct record_remote_options *options, struct reel_stream *stream, struct reel_error *err);

/* The same with rows that come from elsewhere: write() takes them, finish() sends the rest. */
struct play_bridge;
struct play_bridge *play_bridge_open(const struct record_remote_options *options, struct reel_error *err);
bool play_bridge_write(void *bridge, const void *rows, size_t size, struct reel_error *err);
bool play_bridge_finish(struct play_bridge *bridge, struct reel_error *err);
void play_bridge_free(struct play_bridge *bridge);
REEL_DEFINE_AUTO(struct play_bridge, play_bridge_free);

/* Waits until the next message of a playback is due; false: interrupted. */
bool play_await(struct reel_stream *played);

#endif
