/* The initial state of a stream: messages inserted before the first message of a selection. Computed once, shared by
 * plan and renders. */
#ifndef REEL_STREAM_INITIAL_STATE_H
#define REEL_STREAM_INITIAL_STATE_H

#include "base/arena.h"
#include "base/grow.h"
#include "stream/stream.h"

struct reel_initial_state {
    _Atomic uint32_t references;
    struct arena arena; /* channels that exist only in it */
    const struct reel_channel **channels;
    uint32_t *channel_source;
    size_t n_channels, cap_channels, cap_sources;
    struct reel_message *messages; /* sorted by time; .channel counts the stream's channels first, then its own */
    size_t n_messages, cap_messages;
    /* only during initial_state_make(): */
    const struct reel_stream *stream;
    uint32_t source;
};

/* Messages that a cut needs of channels whose messages build on earlier ones, whatever their encoding: a video's frames
 * since its key frame. Listed in formats/views.c. */
struct reel_cut_rule {
    bool (*applies)(const struct reel_channel *channel);
    /* The channel's entries before `start_ns` that are needed, newest first; may be none. The caller frees them. */
    bool (*before)(struct reel_reader *reader, const struct reel_channel *channel, int64_t start_ns,
                   struct reel_entry **entries, size_t *n, struct reel_error *err);
};
extern const struct reel_cut_rule *const reel_cut_rules[]; /* NULL-terminated */

/* The initial state that the selection requires; may hold no message. NULL on failure. */
struct reel_initial_state *initial_state_make(const struct reel_stream *stream, const struct reel_selection *selection,
                                              struct reel_error *err);

/* Messages put in front, made once per (recordings, selection); counted references. */
struct reel_initial_state *reel_initial_state_ref(struct reel_initial_state *initial);
void reel_initial_state_free(struct reel_initial_state *initial);

/* What an encoding's state_at() adds: a message that the front will own. `data` comes from malloc and is taken over,
 * also on failure. The channel is copied and joined to the stream's channels; one equal to a channel of the recording
 * (same name, type, encoding) is that channel. */
bool reel_initial_state_add(struct reel_initial_state *initial, const struct reel_channel *channel, int64_t time_ns,
                            uint8_t *data, size_t size, const uint64_t extra[REEL_ENTRY_EXTRAS],
                            struct reel_error *err);

#endif
