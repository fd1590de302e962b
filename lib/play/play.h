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

/* For who waits for a socket, too: fd (an eventfd; -1: none) becomes readable with each change of the controls, and the
 * state at a new position is due at once, also while it is paused. */
void play_wake(struct reel_play *play, int fd);
/* When the next message is due, by clock_ns(): 0: now, or the stream ends or fails; INT64_MAX: it is paused. On the
 * stream's thread, as these: */
int64_t play_due(struct reel_stream *played);
/* The next reel_stream_next() returns at once, also while it is paused. */
void play_step(struct reel_stream *played);
/* Gives back the memory of its readers until the next message. */
void play_rest(struct reel_stream *played);

/* The controls of a stream of reel_play_stream(). */
struct reel_play *play_of(const struct reel_stream *played);

#endif
