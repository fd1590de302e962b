/* The messages of one or several recordings in order of time: the earliest first; of equal times in the order of the
 * recordings, then of the file. Opening a stream and running through it reads no payload; each is read when it is asked
 * for.
 *
 * A stream belongs to one thread at a time, and so do its messages. Several streams of one recording are independent.
 */
#ifndef REEL_STREAM_H
#define REEL_STREAM_H

#include <string.h>

#include "reel/open.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- several recordings as one */

/* How one recording of several joins a stream. Elements of arrays: the layout stays. */
enum { REEL_PREFIX_ROOM = 288 };
struct reel_source_option {
    int64_t shift_ns;              /* added to all its times */
    bool wall;                     /* after the shift, times count from 1970 even if its own clock is relative */
    char prefix[REEL_PREFIX_ROOM]; /* "/run1": prefix of its topics where names must be distinguished; "": none */
};
enum reel_prefixing {
    REEL_PREFIX_CLASH, /* topics that several recordings have get a prefix */
    REEL_PREFIX_ALWAYS,
    REEL_PREFIX_NEVER,
};
enum reel_align {
    REEL_ALIGN_START, /* recordings with a relative clock begin when the earliest with a wall clock does; if none has a
                         wall clock, all begin when the first one does */
    REEL_ALIGN_NONE,  /* all times stay */
};

/* Fills out[n], for reel_selection.sources. A prefix is the name in names[n] without its file extension, plus a number
 * if names are equal. REEL_LIMIT: a time would not fit 64 bits. */
bool reel_merge_options(struct reel_recording *const *recordings, uint32_t n, const char *const *names,
                        enum reel_align align, struct reel_source_option *out, struct reel_error *err);

/* Moves recordings that REEL_ALIGN_NONE has left at their times: each of texts[n_texts] is "KEY:2.5s" or "KEY:-2.5s"
 * with one of keys[n]. All times then count as those of the first recording do. REEL_ARGUMENT: a text or a key is not
 * understood; REEL_LIMIT: a time would not fit 64 bits. */
bool reel_merge_shift(struct reel_recording *const *recordings, uint32_t n, const char *const *keys,
                      const char *const *texts, size_t n_texts, struct reel_source_option *out, struct reel_error *err);

/* Smallest and largest time of all messages, with the shifts of `sources` (NULL: none); 0 and 0 without messages. */
void reel_merge_span(struct reel_recording *const *recordings, uint32_t n, const struct reel_source_option *sources,
                     int64_t *first_ns, int64_t *last_ns);

/* ---- selections */

#define REEL_TIME_MIN INT64_MIN
#define REEL_TIME_MAX INT64_MAX

struct reel_view;          /* a conversion of messages for another program; reel_view_named() */
struct reel_initial_state; /* of the library */
struct reel_since;         /* of the library */
struct reel_rules;         /* of the library */

/* Which messages. Begin with reel_select_all(), then restrict it. Texts and tables are the caller's and are copied.
 * Globs: * is any run of characters, ? one. Members that need a start have no effect while start_ns is open. */
struct reel_selection {
    size_t size;                /* sizeof(struct reel_selection) */
    const char *const *topics;  /* globs: a topic is selected that matches one of these and none of `exclude` */
    uint32_t n_topics;          /* 0: all */
    const char *const *exclude; /* globs */
    uint32_t n_exclude;
    const uint32_t *channels;   /* ids of channels (reel_channel.id) of a single recording; others are not selected */
    uint32_t n_channels;        /* 0: all */
    const char *const *renames; /* "FROM:TO": the topic FROM is called TO in the stream; globs mean the names before */
    uint32_t n_renames;
    /* "/topic.path>0.5", joined by "and", "or" and parentheses (reel_question_new()): a message passes if every text
     * holds for it; conditions on other topics are ignored */
    const char *const *where;
    uint32_t n_where;
    int64_t start_ns, end_ns; /* start_ns <= time < end_ns; REEL_TIME_MIN, REEL_TIME_MAX: open */
    uint64_t every_n;         /* each n-th message of a channel; 0, 1: all */
    int64_t every_ns; /* the first message of a channel in each interval of this length from the start; 0: all */

    /* Messages from before the start, which come first (reel_message_is_before_start()): */
    bool last_per_topic; /* the last one of each selected channel … */
    int64_t lookback_ns; /* … that is not older than this before the start; 0: however old */
    bool state_at_cut;   /* one that sums up what came before, in formats where messages are changes (NanoVer, CARLA) */
    bool key_frames;     /* the frames of videos from their last key frame on */

    const struct reel_source_option *sources; /* one for each recording; NULL: as they are. Times of the selection and
                                                 of the stream are shifted; globs match a topic with its prefix or
                                                 without */
    enum reel_prefixing prefixing;            /* when prefixes are used */
    const struct reel_view *view;             /* of conversions; NULL: messages as they are */
    const char *encoding; /* "cdr", "ros1": messages are converted to it where possible; "": none are; NULL: to the
                             encoding that suits the output format best */

    struct reel_initial_state *initial; /* the library sets it; leave NULL */
    const struct reel_since *since;     /* the library sets it; leave NULL */

    bool latched; /* from before the start, of latched channels the last message, as a late subscriber gets it */

    struct reel_rules *rules; /* of the library; leave NULL */
};

/* The selection of all messages. */
static inline struct reel_selection reel_select_all(void) {
    struct reel_selection all;
    memset(&all, 0, sizeof all);
    all.size = sizeof all;
    all.start_ns = REEL_TIME_MIN;
    all.end_ns = REEL_TIME_MAX;
    return all;
}

/* Whether the selection has any message. If not, `why` is a sentence that says so and suggests topics for a
 * name that does not exist. Reads as far as the first message. */
enum { REEL_MATCHES_TEXT = 600 };
bool reel_selection_matches(struct reel_recording *const *recordings, uint32_t n,
                            const struct reel_selection *selection, bool *any, char why[REEL_MATCHES_TEXT],
                            struct reel_error *err);

/* "foxglove": what Foxglove and compatible viewers draw. Static; do not free. REEL_ARGUMENT: the text lists
 * the views. */
const struct reel_view *reel_view_named(const char *name, struct reel_error *err);

/* ---- streams */

struct reel_stream;
struct reel_message;

/* `selection` NULL: all. Each recording gets a reference. Topics that do not exist select nothing. REEL_ARGUMENT: a
 * condition or shift that makes no sense. Free with reel_stream_free(). */
struct reel_stream *reel_stream_open(struct reel_recording *const *recordings, uint32_t n,
                                     const struct reel_selection *selection, struct reel_error *err);
void reel_stream_free(struct reel_stream *stream); /* NULL is fine */
REEL_DEFINE_AUTO(struct reel_stream, reel_stream_free);

/* The selected channels, also those without a message in the time range, at positions from 0; NULL: there are no more.
 * Valid as long as the stream. `id` is that in the recording. */
const struct reel_channel *reel_stream_channel(const struct reel_stream *stream, uint32_t position);
/* Which of the recordings a channel comes from; 0 for positions that do not exist. */
uint32_t reel_stream_channel_recording(const struct reel_stream *stream, uint32_t position);

/* The next message, which is valid until the next call of this function or reel_stream_seek(); NULL unless
 * REEL_STEP_MESSAGE is returned. */
enum reel_step { REEL_STEP_ERROR = -1, REEL_STEP_END = 0, REEL_STEP_MESSAGE = 1 };
enum reel_step reel_stream_next(struct reel_stream *stream, const struct reel_message **message,
                                struct reel_error *err);

int64_t reel_message_time(const struct reel_message *message);     /* log time, ns */
uint32_t reel_message_channel(const struct reel_message *message); /* position for reel_stream_channel() */
uint32_t reel_message_size(const struct reel_message *message);    /* bytes of payload */
bool reel_message_is_before_start(const struct reel_message *message);

/* The payload, valid until the next call on the stream. REEL_LIMIT: it is larger than 1 GiB; REEL_DAMAGED,
 * REEL_CHANGED, REEL_IO: it cannot be read. */
bool reel_stream_payload(struct reel_stream *stream, const struct reel_message *message, struct reel_bytes *out,
                         struct reel_error *err);
/* Bytes [offset, offset + size) of it into the caller's memory; of any size. REEL_ARGUMENT: they are not all inside. */
bool reel_stream_copy(struct reel_stream *stream, const struct reel_message *message, uint64_t offset, void *buffer,
                      size_t size, struct reel_error *err);

/* What only the header of a message holds, where the format has it. Valid until the next call on the stream. */
struct reel_description {
    int64_t publish_ns;   /* else the log time */
    uint32_t sequence;    /* else 0 */
    const char *frame_id; /* else NULL */
};
const struct reel_description *reel_stream_describe(struct reel_stream *stream, const struct reel_message *message,
                                                    struct reel_error *err);

/* The position of a message as a text, NUL-terminated, for later: reel_stream_seek() continues a stream of the same
 * recordings and selection with that message. REEL_ARGUMENT: the text is no position. */
enum { REEL_CURSOR_ROOM = 44 };
void reel_message_cursor(const struct reel_message *message, char out[REEL_CURSOR_ROOM]);
bool reel_stream_seek(struct reel_stream *stream, const char *cursor, struct reel_error *err);

/* ---- messages as JSON */

/* Decodes the messages of one stream, which must outlive it: {"topic":…,"log_time":…,"publish_time":…,"data":…}. */
struct reel_json;
struct reel_json *reel_json_new(struct reel_stream *stream, struct reel_error *err);
void reel_json_free(struct reel_json *json); /* NULL is fine */
REEL_DEFINE_AUTO(struct reel_json, reel_json_free);

/* `message` is the stream's latest. *text ends with NUL, has *length bytes (`length` may be NULL) and is valid until
 * the next call. A payload that cannot be decoded is {"$base64":…} with its encoding. */
bool reel_message_json(struct reel_json *json, const struct reel_message *message, const char **text, size_t *length,
                       struct reel_error *err);

#ifdef __cplusplus
}
#endif

#endif
