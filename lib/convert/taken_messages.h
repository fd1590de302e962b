/* The messages that planning took for some groups, and a stream that gives them once more, so that another thread packs
 * the groups without merging again. Where the stream lays payloads out anew (stream_lays_out()), the small ones are
 * kept, too. */
#ifndef REEL_CONVERT_TAKEN_MESSAGES_H
#define REEL_CONVERT_TAKEN_MESSAGES_H

#include "base/grow.h"
#include "stream/stream.h"

struct taken_message {
    struct reel_message message;
    size_t at; /* of its payload in `payloads`; SIZE_MAX: it is not kept */
};
struct taken_messages {
    struct taken_message *items;
    size_t n, room;
    struct grow payloads;
};

/* `m` is what the stream has given last. */
bool taken_add(struct taken_messages *taken, struct reel_stream *stream, const struct reel_message *m,
               struct reel_error *err);
void taken_remove_last(struct taken_messages *taken);
void taken_clear(struct taken_messages *taken);
void taken_done(struct taken_messages *taken);

/* Is freed with reel_stream_free(); `below`, which was opened like the stream that was taken from, stays the caller's.
 */
struct reel_stream *taken_stream_new(struct reel_stream *below, struct reel_error *err);
/* The stream gives the messages of `taken`, from the first one on. */
void taken_stream_begin(struct reel_stream *stream, const struct taken_messages *taken);

#endif
