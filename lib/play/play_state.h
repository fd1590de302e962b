/* What the controls of a playback (play.c) and its streams (play_stream.c) share. Two clocks: the recording's time, and
 * tape time, which is the same without shortened silences and with all rounds of a loop one after the other. A message
 * is due when `anchor` plus its distance in tape time, divided by the speed, is reached. */
#ifndef REEL_PLAY_PLAY_STATE_H
#define REEL_PLAY_PLAY_STATE_H

#include <pthread.h>

#include "base/arena.h"
#include "play/play.h"

struct reel_play {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* on the monotonic clock */
    struct reel_play_options options;
    play_view view; /* NULL: none */
    uint32_t actor; /* of the view */
    struct reel_play_state state;
    int64_t tape_ns;                /* of the last message */
    int64_t anchor_ns, anchor_tape; /* this tape time is, or was, at this time of the monotonic clock */
    bool seeks;                     /* to state.position_ns */
    int wake;                       /* play_wake(), -1: none */
    struct arena arena;             /* of options.pause_topics */
    unsigned references;
};

/* The mutex is held during all of these. */
enum due { DUE, SEEKS, NOT_YET };
/* Waits until `tape` is reached or a new position is wanted, but not beyond `limit_ns` of the monotonic clock. */
enum due play_wait_for(struct reel_play *play, int64_t tape, int64_t limit_ns);
/* When this tape time is reached, on the monotonic clock; INT64_MAX: not as things are. */
int64_t play_reached_at(const struct reel_play *play, int64_t tape);
/* This tape time is now. */
void play_anchor(struct reel_play *play, int64_t tape);

#endif
