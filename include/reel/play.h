/* Playback: a stream whose messages come when they are due, as the recording went. */
#ifndef REEL_PLAY_H
#define REEL_PLAY_H

#include "reel/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

struct reel_play_options {
    size_t size; /* sizeof(struct reel_play_options) */
    /* 0, or from 0.001 to 1000000: */
    double speed;       /* 1: as recorded; 0: as fast as possible */
    double rate;        /* messages a second, whatever was recorded; 0: as recorded */
    double clock_hz;    /* messages a second of the topic /clock with the recording's time, as `rosbag play --clock`; 0:
                           none */
    int64_t max_gap_ns; /* longer silences are shortened to this; 0: none are */
    bool loop;          /* from the start again at the end */
    bool paused;        /* from the beginning */
    bool latch;         /* a new position begins with the last message of each topic before it */
    /* globs: when a message of such a topic is due, playback pauses; it is the first that comes when it goes on, as
     * with `rosbag play --pause-topics` */
    const char *const *pause_topics;
    uint32_t n_pause_topics;
};
/* As recorded, once. */
static inline struct reel_play_options reel_play_defaults(void) {
    struct reel_play_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.speed = 1;
    return options;
}

/* The controls of one playback; counted references. All of these functions may be called from any thread. */
struct reel_play;
/* `options` NULL: reel_play_defaults(). REEL_ARGUMENT: a number is not in its range. Free with
 * reel_play_free(). */
struct reel_play *reel_play_new(const struct reel_play_options *options, struct reel_error *err);
struct reel_play *reel_play_ref(struct reel_play *play);
void reel_play_free(struct reel_play *play); /* gives one reference back; NULL is fine */
REEL_DEFINE_AUTO(struct reel_play, reel_play_free);

enum { REEL_PLAY_PAUSED = 1, REEL_PLAY_SPEED = 2, REEL_PLAY_POSITION = 4, REEL_PLAY_LOOP = 8 };
struct reel_play_change {
    size_t size;  /* sizeof(struct reel_play_change) */
    unsigned set; /* which of the members below apply */
    bool paused, loop;
    double speed;
    int64_t position_ns; /* playback continues with the first message at this time or later */
};
/* Acts on the running stream at once. REEL_ARGUMENT: a speed that is negative or no number, a position outside of what
 * is played. */
bool reel_play_set(struct reel_play *play, const struct reel_play_change *change, struct reel_error *err);

struct reel_play_state {
    size_t size; /* sizeof(struct reel_play_state), set by the caller */
    bool paused, loop;
    double speed;
    int64_t start_ns, end_ns; /* what is played */
    int64_t position_ns;      /* the recording's time now */
    uint64_t messages;        /* returned so far */
    uint64_t late_ns;         /* how late the last one was */
};
void reel_play_get(struct reel_play *play, struct reel_play_state *out);

/* A stream (reel/stream.h) whose reel_stream_next() waits until the next message is due. Takes a reference to `play`,
 * and copies `selection` (NULL: all). Time begins to count with the first message that is asked for. [start_ns, end_ns]
 * is where positions may lie; messages from before the start are due at once. A new position begins with the state
 * there. Channels with an empty name at the end of the list are free for states that have channels of their own;
 * playback fails with REEL_LIMIT where there are too few. Free with reel_stream_free(). */
struct reel_stream *reel_play_stream(struct reel_play *play, struct reel_recording *const *recordings, uint32_t n,
                                     const struct reel_selection *selection, int64_t start_ns, int64_t end_ns,
                                     struct reel_error *err);
/* Waits until the next call of reel_stream_next() will return at once, for `timeout_ns` at most; false: not yet. On the
 * stream's thread. */
bool reel_play_wait(struct reel_stream *played, int64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
