/* Playback through a view. */
#ifndef REEL_PLAY_PLAY_H
#define REEL_PLAY_PLAY_H

#include "reel/play.h"

/* What is played instead of the recorded messages, as reel_carla_follow() makes it. Takes `below` over, also when it
 * fails.
 */
typedef struct reel_stream *(*play_view)(struct reel_stream *below, uint32_t actor, struct reel_error *err);
/* Before the first stream of `play`. */
void play_through(struct reel_play *play, play_view view, uint32_t actor);

/* The controls of a stream of reel_play_stream(). */
struct reel_play *play_of(const struct reel_stream *played);

#endif
