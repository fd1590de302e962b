/* From a selection to messages in time order: one k-way merge over the index segments of any number of recordings.
 * Payloads are read only on request. Order: time, then recording, then position in the file. A stream can be marked,
 * and continued at any message. */
#ifndef REEL_ITERATE_H
#define REEL_ITERATE_H

#include "reel/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

struct reel_view;
struct reel_loss;

/* Of a stream of many recordings only the readers of the latest so many hold memory: what a message's payload is in
 * stays valid until others were read. */
enum { REEL_STREAM_AWAKE = 64 };

/* How one recording of several joins a stream. */
enum { REEL_PREFIX_ROOM = 288 };
struct reel_source_option {
    int64_t shift_ns;              /* added to all its times */
    bool wall;                     /* after that they count from 1970, whatever its own clock does */
    char prefix[REEL_PREFIX_ROOM]; /* "/run1": prefix of its topics if names must be distinguished; "" = none */
};
enum reel_prefixing {
    REEL_PREFIX_CLASH /* topics that several recordings have */,
    REEL_PREFIX_ALWAYS,
    REEL_PREFIX_NEVER
};
enum reel_align { REEL_ALIGN_START, REEL_ALIGN_NONE };

/* What makes several recordings one: recordings whose clock is relative begin (REEL_ALIGN_START) when the earliest wall
 * clock recording does, or, when there is none, when the first of them does; prefixes are made from the `names` (suffix
 * off, numbered where they are equal). Fills out[n]; REEL_LIMIT when a time would pass 64 bits. */
bool reel_merge_options(struct reel_recording *const *recordings, uint32_t n, const char *const *names,
                        enum reel_align align, struct reel_source_option *out, struct reel_error *err);
/* Moves recordings that REEL_ALIGN_NONE has left at their times: each of texts[n_texts] is "KEY:2.5s" or "KEY:-2.5s"
 * with one of keys[n]. All times then count as those of the first recording do. REEL_ARGUMENT for a text or key that is
 * not understood, REEL_LIMIT when a time would pass 64 bits. */
bool reel_merge_shift(struct reel_recording *const *recordings, uint32_t n, const char *const *keys,
                      const char *const *texts, size_t n_texts, struct reel_source_option *out, struct reel_error *err);
/* Bytes of a file's name before its ending: the longest of any format, else everything from the last dot. */
size_t reel_name_stem(const char *name);
/* Smallest and largest time of them all, with their shifts (`sources` NULL = none); 0 and 0 when there is no message.
 */
void reel_merge_span(struct reel_recording *const *recordings, uint32_t n, const struct reel_source_option *sources,
                     int64_t *first_ns, int64_t *last_ns);

struct reel_selection {
    const char *const *topics;  /* globs (* any run, ? one character); a topic is selected when it matches one of them
                                   and none of `exclude` */
    uint32_t n_topics;          /* 0 = all */
    const char *const *exclude; /* a channel is selected with the topics of it that are */
    uint32_t n_exclude;
    const uint32_t
        *channels;       /* ids of channels (reel_channel.id), for one recording only: the others are not selected */
    uint32_t n_channels; /* 0 = all */
    const char *const *renames; /* "FROM:TO": the topic FROM is called TO in the stream; globs mean the names before */
    uint32_t n_renames;
    /* "/topic.path>0.5", joined by "and", "or" and parentheses (reel/values.h): of these topics only the messages for
     * which it holds, where conditions on other topics are left out; all must hold */
    const char *const *where;
    uint32_t n_where;
    int64_t start_ns,
        end_ns; /* half-open [start, end); REEL_TIME_MIN / REEL_TIME_MAX when open. Ignored where has_* is false */
    uint64_t every_n; /* keep each n-th message of a channel; 0, 1 = all */
    int64_t
        every_ns; /* keep the first message of a channel in each interval of this length, counted from start; 0 = all */
    /* What a recording of one file has got since it had these sizes: messages of chunks from since_chunks on, in that
     * one from since_offset on, or behind since_bytes in the file itself. */
    uint64_t since_bytes, since_offset;
    uint32_t since_chunks;
    bool last_per_topic; /* put the last message before start of every selected channel in front (needs start) */
    int64_t lookback_ns; /* not older than this before start; 0 = however old */
    bool state_at_cut;   /* put the encodings' state_at(start) in front (needs start); set for writers with
                            REEL_NEEDS_STATE_AT_CUT */
    bool key_frames; /* put in front the frames of videos before start from their key frame on (needs start); set for
                        files */
    const struct reel_source_option
        *sources; /* one a recording, or NULL: as they are. All times here, and of the stream, are shifted ones;
                   * globs match a topic with its prefix or without */
    enum reel_prefixing prefixing; /* what `sources[].prefix` is for */
    const struct reel_view
        *view; /* reel/view.h; what a target's stream is seen through (reel_writer_stream()); NULL: as it is */
    const char *encoding; /* messages are converted to it where they can be (reel_encoding.convert): "cdr", "ros1"; "":
                           * none are; NULL: what the target's writer prefers */
    struct reel_initial_state *initial; /* made by an earlier stream of the same selection (stream->initial): not made
                                 again; NULL: made when needed */
};
#define REEL_TIME_MIN INT64_MIN
#define REEL_TIME_MAX INT64_MAX

extern const struct reel_selection reel_select_all;

struct reel_message {
    int64_t time_ns;
    uint32_t channel;     /* position in reel_stream_channels() */
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
struct reel_position reel_position_of(const struct reel_message *m);

enum reel_step { REEL_STEP_ERROR = -1, REEL_STEP_END = 0, REEL_STEP_MESSAGE = 1 };

struct reel_stream;

/* A view wraps a stream and is one: it fills this table and owns the stream below. Callers use the functions below it.
 */
struct reel_stream_ops {
    enum reel_step (*next)(struct reel_stream *s, struct reel_message *m, struct reel_error *err);
    bool (*seek)(struct reel_stream *s, const struct reel_position *mark, struct reel_error *err);
    void (*free)(struct reel_stream *s);
    /* Optional, for a view that makes payloads of other bytes: that of a message without `owned`, `m->size` bytes,
     * valid until the next call on the stream. Any message the stream has given may be asked for, also an earlier one.
     */
    bool (*payload)(struct reel_stream *s, const struct reel_message *m, struct reel_bytes *out,
                    struct reel_error *err);
};
struct reel_stream {
    const struct reel_stream_ops *ops;
    const struct reel_channel *const
        *channels; /* the selected ones, also those without a message in range; ->id is the recording's own */
    const uint32_t *channel_source; /* which recording each comes from */
    uint32_t n_channels;
    uint32_t n_sources;
    struct reel_reader *const *readers; /* one a source, for payloads */
    const enum reel_clock *clocks;      /* one a source: what its times, shifted, count from */
    const int64_t *shifts;              /* one a source: added to its times */
    struct reel_initial_state *initial; /* what was put in front; NULL = nothing */
    bool thinned;                       /* by every_n or every_ns */
    uint32_t view_version;              /* part of every ETag */
    const struct reel_loss *losses;     /* what the views lose or change of it; NULL: nothing */
    const uint64_t
        *left_out; /* messages left out so far, because they do not fit their definition; NULL: none ever is */
};

/* Each recording gets a reference. The selection's texts and options are copied. Unknown topics select nothing. */
struct reel_stream *reel_stream_open(struct reel_recording *const *recordings, uint32_t n_recordings,
                                     const struct reel_selection *selection, struct reel_error *err);
void reel_stream_free(struct reel_stream *stream);
REEL_DEFINE_AUTO(struct reel_stream, reel_stream_free);

/* Whether the selection has any message. If not, `why` says so, and which topics one that does not exist may have
 * meant. */
enum { REEL_MATCHES_TEXT = 600 };
bool reel_selection_matches(struct reel_recording *const *recordings, uint32_t n_recordings,
                            const struct reel_selection *selection, bool *any, char why[REEL_MATCHES_TEXT],
                            struct reel_error *err);

enum reel_step reel_stream_next(struct reel_stream *stream, struct reel_message *m, struct reel_error *err);
/* Goes on with the message at `mark` (or the first one after that position). What every_n / every_ns have counted up to
 * there is found from the index. */
bool reel_stream_seek(struct reel_stream *stream, const struct reel_position *mark, struct reel_error *err);

/* Payload bytes [offset, offset + size) of m into the caller's memory. */
bool reel_stream_copy(struct reel_stream *stream, const struct reel_message *m, uint64_t offset, void *buffer,
                      size_t size, struct reel_error *err);
/* The whole payload, valid until the next call on the stream. */
bool reel_stream_payload(struct reel_stream *stream, const struct reel_message *m, struct reel_bytes *out,
                         struct reel_error *err);
bool reel_stream_describe(struct reel_stream *stream, const struct reel_message *m, struct reel_description *out,
                          struct reel_error *err);

/* The stream's message with index `index` in time order (negative: from the end). REEL_NOT_FOUND. */
bool reel_message_at_index(struct reel_stream *stream, int64_t index, struct reel_message *out, struct reel_error *err);
/* The last message of the selection at or before time_ns, and a stream of the selection without messages in front, for
 * its payload. Sampling (every_n, every_ns) is ignored. REEL_NOT_FOUND. */
bool reel_message_at_time(struct reel_recording *recording, const struct reel_selection *selection, int64_t time_ns,
                          struct reel_stream **stream, struct reel_message *out, struct reel_error *err);

/* Messages put in front, made once per (recordings, selection); counted references. */
struct reel_initial_state *reel_initial_state_ref(struct reel_initial_state *initial);
void reel_initial_state_free(struct reel_initial_state *initial);

/* What an encoding's state_at() adds: a message that the front will own. `data` comes from malloc and is taken over,
 * also on failure. The channel is copied and joined to the stream's channels; one equal to a channel of the recording
 * (same name, type, encoding) is that channel. */
bool reel_initial_state_add(struct reel_initial_state *initial, const struct reel_channel *channel, int64_t time_ns,
                            uint8_t *data, size_t size, const uint64_t extra[REEL_ENTRY_EXTRAS],
                            struct reel_error *err);

/* Entries of one channel with time < before_ns, newest first; for state_at(). Stops when visit() returns false. */
bool reel_reader_reverse(struct reel_reader *reader, uint32_t channel, int64_t before_ns,
                         bool (*visit)(void *context, const struct reel_entry *entry), void *context,
                         struct reel_error *err);

bool reel_glob_match(const char *glob, const char *text);
/* The same for topics: one leading slash does not count on either side, because recordings from before 2010 often lack
 * it. */
bool reel_topic_match(const char *glob, const char *topic);

/* A mark as a text for URLs and rows, and back; false: no room, or no text of ours. */
enum { REEL_CURSOR_ROOM = 44 };
bool reel_cursor_encode(const struct reel_position *mark, char *out, size_t size);
bool reel_cursor_decode(const char *text, struct reel_position *mark);

#ifdef __cplusplus
}
#endif

#endif
