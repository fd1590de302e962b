/* Streams inside of the library: messages and streams as they are laid out, positions. One k-way merge over the index
 * segments of any number of recordings. Order: time, then recording, then position in the file. A stream can be marked,
 * and continued at any message. */
#ifndef REEL_STREAM_STREAM_H
#define REEL_STREAM_STREAM_H

#include "read/reader.h"
#include "reel/stream.h"

struct reel_loss;

extern const struct reel_selection selection_all; /* reel_select_all() */
/* All messages of one channel. NULL with err. */
struct reel_stream *stream_of_channel(struct reel_recording *recording, const uint32_t *channel,
                                      struct reel_error *err);

/* What a recording of one file has got since it had these sizes: messages of chunks from `chunks` on, in that one from
 * `offset` on, or behind `bytes` in the file itself. */
struct reel_since {
    uint64_t bytes, offset;
    uint32_t chunks;
};

bool stream_is_new(const struct reel_since *since, const struct reel_entry *entry);

struct reel_message {
    int64_t time_ns;
    uint32_t channel;     /* position in the stream's channels */
    uint32_t source;      /* position of its recording in the stream */
    uint32_t size;        /* payload bytes */
    bool before_start;    /* put in front of the selection */
    uint32_t initial;     /* index among the messages put before the selection, from 1; 0: an ordinary message */
    uint32_t again;       /* how many messages a view has made of the same one before it */
    const uint8_t *owned; /* payload held by a view or initial state, alive as long as the stream; NULL: the bytes are
                             where `entry` says, or the view makes them */
    struct reel_entry entry;
};

/* The position of a message in its stream. Plain data, valid for any stream opened with the same recordings and
 * selection. */
struct reel_position {
    int64_t time_ns;
    uint64_t offset;
    uint32_t source, chunk;
    uint32_t initial; /* as in reel_message */
    uint32_t again;
};
static inline struct reel_position reel_position_of(const struct reel_message *m) {
    return (struct reel_position){.time_ns = m->entry.time_ns,
                                  .offset = m->entry.offset,
                                  .source = m->source,
                                  .chunk = m->entry.chunk,
                                  .initial = m->initial,
                                  .again = m->again};
}

/* A view wraps a stream and is one: it fills this table and owns the stream below. Callers use the functions below it.
 */
struct reel_stream_ops {
    enum reel_step (*next)(struct reel_stream *s, struct reel_message *m, struct reel_error *err);
    bool (*seek)(struct reel_stream *s, const struct reel_position *mark, struct reel_error *err);
    void (*free)(struct reel_stream *s);
    /* Optional, for a view that makes payloads of other bytes: that of a message without `owned`, `m->size` bytes,
     * valid until the next call on the stream. Any message may be asked for that the stream, or one opened like it,
     * has given, also an earlier one. */
    bool (*payload)(struct reel_stream *s, const struct reel_message *m, struct reel_bytes *out,
                    struct reel_error *err);
    /* Optional, beside `payload`: writes it to `to`, where that saves a copy. */
    bool (*put)(struct reel_stream *s, const struct reel_message *m, uint8_t *to, struct reel_error *err);
};
struct reel_stream {
    const struct reel_stream_ops *ops;
    const struct reel_channel *const *channels; /* the selected ones, also those without a message in range; ->id is the
                                                   recording's own */
    const uint32_t *channel_source;             /* which recording each comes from */
    uint32_t n_channels;
    uint32_t n_sources;
    struct reel_reader *const *readers; /* one a source, for payloads */
    const enum reel_clock *clocks;      /* one a source: what its times, shifted, count from */
    const int64_t *shifts;              /* one a source: added to its times */
    struct reel_initial_state *initial; /* what was put in front; NULL = nothing */
    bool thinned;                       /* by every_n or every_ns */
    uint32_t fps;                       /* the k-th message is at k/fps from the first one, to the ns; 0: at its time */
    uint32_t view_version;              /* part of every ETag */
    const struct reel_loss *losses;     /* what the views lose or change of it; NULL: nothing */
    /* messages left out so far, because they do not fit their definition; NULL: none ever is */
    const uint64_t *left_out;
    struct reel_message latest;          /* what stream_next() and … */
    struct reel_description description; /* … reel_stream_describe() have returned */
};

enum reel_step stream_next(struct reel_stream *stream, struct reel_message *m, struct reel_error *err);
/* Goes on with the message at `mark` (or the first one after that position). What every_n / every_ns have counted up to
 * there is found from the index. */
bool stream_seek(struct reel_stream *stream, const struct reel_position *mark, struct reel_error *err);
/* Back to the first message, wherever the stream is. */
bool stream_rewind(struct reel_stream *stream, struct reel_error *err);
/* Whether payloads have other bytes than in the recording: they are laid out when a message is reached. */
static inline bool stream_lays_out(const struct reel_stream *stream) {
    return stream->ops->payload != NULL;
}
/* Whether a position is the one that stream_rewind() seeks: no message has it. */
bool stream_is_start(const struct reel_position *position);
bool stream_describe(struct reel_stream *stream, const struct reel_message *m, struct reel_description *out,
                     struct reel_error *err);

/* The stream's message with index `index` in time order (negative: from the end). REEL_NOT_FOUND. */
bool reel_message_at_index(struct reel_stream *stream, int64_t index, struct reel_message *out, struct reel_error *err);
/* Moves a stream that is at its start to the first of the messages whose index is in [*from, to), and sets *from to its
 * index from the start; INT64_MAX: to the end. *count: how many there are at most; 0: none, and the stream is anywhere.
 */
bool stream_slice(struct reel_stream *stream, int64_t *from, int64_t to, uint64_t *count, struct reel_error *err);
/* The last message of the selection at or before time_ns, and a stream of the selection without messages in front, for
 * its payload. Sampling (every_n, every_ns) is ignored. REEL_NOT_FOUND. */
bool reel_message_at_time(struct reel_recording *recording, const struct reel_selection *selection, int64_t time_ns,
                          struct reel_stream **stream, struct reel_message *out, struct reel_error *err);

/* A mark as a text for URLs and rows, and back; false: less room than REEL_CURSOR_ROOM, or no text of ours. */
bool reel_cursor_encode(const struct reel_position *mark, char *out, size_t size);
bool reel_cursor_decode(const char *text, struct reel_position *mark);

/* ---- the basic stream */

/* False for views and for conditions on payloads: what they give depends on more than the index. */
bool stream_is_plain(const struct reel_stream *stream);
/* False for views, sampled streams, streams of new messages (reel_since) and streams with an initial state: their
 * messages cannot be counted without walking. */
bool stream_can_count(const struct reel_stream *stream);
/* Counts messages with time < before_ns (REEL_TIME_MAX: all) from the index, without walking. Requires
 * stream_can_count(). */
bool stream_count(struct reel_stream *stream, int64_t before_ns, uint64_t *count, struct reel_error *err);

/* Whether a message of the recording, within the selection's time range, is one of the stream's, a view's aside.
 * Sampling is not considered. */
bool stream_selects(struct reel_stream *stream, const struct reel_message *m, bool *selects, struct reel_error *err);

/* The whole payload, to be decoded to values; REEL_LIMIT over REEL_DECODED_MAX. Valid until the next call on the
 * stream. */
bool stream_decodable(struct reel_stream *stream, const struct reel_message *m, struct reel_bytes *out,
                      struct reel_error *err);
/* The check alone. */
bool stream_may_decode(uint64_t size, struct reel_error *err);

#endif
