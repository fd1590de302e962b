/* Playback: a stream that gives each message when it is due, as the recording went. */
#ifndef REEL_PLAY_H
#define REEL_PLAY_H

#include "reel/iterate.h"

#ifdef __cplusplus
extern "C" {
#endif

struct reel_play_options {
    size_t size; /* sizeof(struct reel_play_options) */
    /* 0, or from 0.001 to 1000000: */
    double speed;    /* 1 = as recorded; 0 = as fast as possible */
    double rate;     /* messages a second, whatever was recorded; 0 = as recorded */
    double clock_hz; /* messages of the topic /clock a second with the recording's time, as `rosbag play --clock`; 0 =
                        none */
    int64_t max_gap_ns; /* longer silences are shortened to this; 0 = none are */
    bool loop;          /* from the start again at the end */
    bool paused;
    /* Optional: what is played instead of the recorded messages, as reel_carla_follow(), with `actor`. Takes `below`
     * over, also when it fails. */
    struct reel_stream *(*view)(struct reel_stream *below, uint32_t actor, struct reel_error *err);
    uint32_t actor;
    bool latch; /* a new position begins with the last message of each topic before it */
};

struct reel_play_state {
    bool paused, loop;
    double speed;
    int64_t start_ns, end_ns; /* of the selection */
    int64_t position_ns;      /* the recording's time now */
    uint64_t messages;        /* given so far */
    uint64_t late_ns;         /* how late the last one was */
};

enum { REEL_PLAY_PAUSED = 1, REEL_PLAY_SPEED = 2, REEL_PLAY_POSITION = 4, REEL_PLAY_LOOP = 8 };
struct reel_play_change {
    unsigned set; /* which of the members below apply */
    bool paused, loop;
    double speed;
    int64_t position_ns; /* playback goes on with the first message at this time or later */
};

/* The controls of one playback; counted references. All functions may be called from any thread. */
struct reel_play;
struct reel_play *reel_play_new(const struct reel_play_options *options, struct reel_error *err);
struct reel_play *reel_play_ref(struct reel_play *play);
void reel_play_free(struct reel_play *play); /* gives one reference back; NULL is fine */
REEL_DEFINE_AUTO(struct reel_play, reel_play_free);
/* Acts on the running stream at once. REEL_ARGUMENT: a speed that is negative or no number, a position outside the
 * selection. */
bool reel_play_set(struct reel_play *play, const struct reel_play_change *change, struct reel_error *err);
void reel_play_get(struct reel_play *play, struct reel_play_state *out);

/* The stream of a selection, which waits in reel_stream_next() until its next message is due. Takes a reference to
 * `play`. Time begins to count with the first message that is asked for. [start_ns, end_ns] is where positions may lie;
 * messages that were put before the selection are due at once. A new position begins with the state there: `selection`
 * must outlive the stream. Channels with an empty name at the end of the list are free for states that have channels of
 * their own; playback fails with REEL_LIMIT where there are too few. */
struct reel_stream *reel_play_stream(struct reel_play *play, struct reel_recording *const *recordings, uint32_t n,
                                     const struct reel_selection *selection, int64_t start_ns, int64_t end_ns,
                                     struct reel_error *err);
/* Waits until the next call of reel_stream_next() will return at once, for `timeout_ns` at most; false: not yet. */
bool reel_play_wait(struct reel_stream *played, int64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
