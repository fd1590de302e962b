/* From a selection to messages in order of time, of any number of recordings. Payloads are read only on request. */
#ifndef REEL_STREAM_H
#define REEL_STREAM_H

#include "reel/open.h"

#ifdef __cplusplus
extern "C" {
#endif

struct reel_message;
struct reel_stream;
struct reel_view;
struct reel_initial_state;

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
    const char *const
        *where; /* "/topic.path>0.5": of this topic only the messages for which it holds; all conditions must */
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
        *view; /* stream/view.h; what a target's stream is seen through (reel_writer_stream()); NULL: as it is */
    const char *encoding; /* messages are converted to it where they can be (reel_encoding.convert): "cdr", "ros1"; "":
                           * none are; NULL: what the target's writer prefers */
    struct reel_initial_state *initial; /* made by an earlier stream of the same selection (stream->initial): not made
                                 again; NULL: made when needed */
};
#define REEL_TIME_MIN INT64_MIN
#define REEL_TIME_MAX INT64_MAX

extern const struct reel_selection reel_select_all;

/* What only the record header holds; describe() fills what the format has. */
struct reel_description {
    int64_t publish_ns;   /* preset to log_time */
    uint32_t sequence;    /* preset to 0 */
    const char *frame_id; /* preset to NULL; points into `head` or the channel */
};

enum reel_step { REEL_STEP_ERROR = -1, REEL_STEP_END = 0, REEL_STEP_MESSAGE = 1 };

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

/* Payload bytes [offset, offset + size) of m into the caller's memory. */
bool reel_stream_copy(struct reel_stream *stream, const struct reel_message *m, uint64_t offset, void *buffer,
                      size_t size, struct reel_error *err);
/* The whole payload, valid until the next call on the stream. */
bool reel_stream_payload(struct reel_stream *stream, const struct reel_message *m, struct reel_bytes *out,
                         struct reel_error *err);
bool reel_stream_describe(struct reel_stream *stream, const struct reel_message *m, struct reel_description *out,
                          struct reel_error *err);

/* Messages of one stream as JSON objects: {"topic":…,"log_time":…,"publish_time":…,"data":…}, as in rows of NDJSON. */
struct reel_json;
struct reel_json *reel_json_new(struct reel_stream *stream, struct reel_error *err); /* the stream must outlive it */
void reel_json_free(struct reel_json *json);                                         /* NULL is fine */
REEL_DEFINE_AUTO(struct reel_json, reel_json_free);

/* `m` is the stream's latest message. *text ends with NUL, has `*length` bytes and is valid until the next call. A
 * payload that cannot be decoded is {"$base64":…} with its encoding. `length` may be NULL. */
bool reel_message_json(struct reel_json *json, const struct reel_message *m, const char **text, size_t *length,
                       struct reel_error *err);

#ifdef __cplusplus
}
#endif

#endif
