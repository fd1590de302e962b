/* A payload as a stream of values: a decoder walks it once and calls a visitor. Nothing builds a tree. */
#ifndef REEL_DECODE_ENCODING_H
#define REEL_DECODE_ENCODING_H

#include "reel/cleanup.h"
#include "reel/values.h"
#include "syntax/visitor.h"

/* A part of the shape that a schema gives its payloads. In pre-order: a struct, its members with their names, its end;
 * a list, then its element. */
enum reel_shape_kind {
    REEL_SHAPE_STRUCT, /* its members follow … */
    REEL_SHAPE_END,    /* … up to this */
    REEL_SHAPE_LIST,   /* one more part follows: the element */
    REEL_SHAPE_NUMBER,
    REEL_SHAPE_TEXT, /* also an enum, whose numbers without a name are texts then */
    REEL_SHAPE_BYTES,
    REEL_SHAPE_TIME,
    REEL_SHAPE_DURATION,
    REEL_SHAPE_ANY, /* the schema does not say, or the value contains itself */
};
struct reel_shape {
    enum reel_shape_kind kind;
    struct reel_bytes name;  /* of a member */
    enum reel_number number; /* of a number */
    bool optional;           /* a member that a payload may lack */
};
enum reel_shape_next {
    REEL_SHAPE_STOP,
    REEL_SHAPE_ENTER, /* go on; of a struct or a list: with what is in it */
    REEL_SHAPE_SKIP,  /* go on after this struct and its end, or after this list and its element */
};
typedef enum reel_shape_next (*reel_shape_visit)(void *context, const struct reel_shape *part);

struct reel_reader;
struct reel_initial_state;
struct reel_stream;

/* Everything that depends on the payload: one const table in the encoding's folder, listed in formats/encodings.c. */
struct reel_encoding {
    const char *name; /* struct reel_channel.encoding */

    /* Reads the channel's schema once: *state is immutable after it and used by many threads. Fails with words when
     * payloads of this channel cannot be decoded (REEL_UNSUPPORTED, REEL_DAMAGED, REEL_LIMIT): they are delivered as
     * bytes then. The channel outlives the state. */
    bool (*open)(const struct reel_channel *channel, void **state, struct reel_error *err);
    void (*close)(void *state);

    /* Walks one payload. False: err->code is REEL_OK when the visitor stopped the walk, else the payload does not fit
     * its schema (REEL_DAMAGED) or a ceiling was met (REEL_LIMIT); the visitor may have received a part by then. */
    bool (*decode)(const void *state, struct reel_bytes payload, struct reel_visitor *v, struct reel_error *err);

    /* Optional: how many bytes a message takes at the beginning of `payload`, where others follow it. */
    bool (*extent)(const void *state, struct reel_bytes payload, size_t *size, struct reel_error *err);

    /* Optional: the fields that the schema gives every message. An array of any length is one field. */
    bool (*fields)(const void *state, reel_field_visit visit, void *context);

    /* Optional: the nested shape of every payload, by the schema. Types in types multiply it beyond any size: the
     * visitor counts. False: it stopped. */
    bool (*shape)(const void *state, reel_shape_visit visit, void *context);

    /* Optional: the messages that make a cut at `time_ns` right (REEL_NEEDS_STATE_AT_CUT): the state from all messages
     * with time < time_ns of channels with wanted[channel.id]. Adds to `initial` (stream/stream.h). Encodings that
     * share the function share the state: it is called once for the channels of all of them. */
    bool (*state_at)(struct reel_reader *reader, int64_t time_ns, const bool *wanted,
                     struct reel_initial_state *initial, struct reel_error *err);

    /* Optional: the stream with messages of this encoding in place of those that can be converted to it (ROS 1 and ROS
     * 2). Takes `source` over, also when it fails; gives it back as it is when there is nothing to convert. */
    struct reel_stream *(*convert)(struct reel_stream *source, struct reel_error *err);

    /* Optional: where the definition of the channel's messages comes from, if the recording holds none or not all of
     * it: "supplied" (decode/own_definitions.h), "built-in", "built-in DISTRIBUTION". NULL: the recording, or there is
     * none.
     */
    const char *(*source)(const struct reel_channel *channel);

    /* Optional: the fewest bytes of a payload of the channel that lists something, where payloads are lists that are
     * written even when they are empty; 0: they are not. */
    uint32_t (*least_filled)(const struct reel_channel *channel);

    /* Names in other containers. */
    const char *profile; /* the middleware that such payloads are of, by MCAP's name: "ros1", "ros2"; NULL: none */
    const char *message_encoding; /* MCAP's name of the encoding; NULL: `name` */
    const char *schema_encoding;  /* the language of definitions that name none, as MCAP calls it; NULL: `name` */
    const char *const *languages; /* NULL-terminated: how the names of languages begin that define such payloads; the
                                   * longest that fits decides. NULL: none */
    bool is_exact;                /* decode() emits what shape() says and nothing else */
    bool is_envelope;             /* payloads contain messages of other encodings */
    bool is_map;                  /* every payload is one map, also where no schema says so */
    bool is_viewable;             /* Foxglove and compatible viewers decode it themselves */

    unsigned version; /* of what decode() emits: part of every ETag of decoded text */
};

/* The table of encodings, NULL-terminated (formats/encodings.c). */
extern const struct reel_encoding *const reel_encodings[];
/* NULL when its encoding is unknown */
const struct reel_encoding *reel_encoding_of(const struct reel_channel *channel);
/* As least_filled(); 0 where the encoding has none. */
uint32_t reel_channel_least_filled(const struct reel_channel *channel);
/* The encoding of payloads whose definitions are in this language (reel_encoding.languages); NULL: not known. */
const char *reel_language_encoding(struct reel_bytes language);
bool reel_language_is_delimited(struct reel_bytes language); /* its encoding has extent() */
/* Is the channel's encoding known to be of this middleware? */
bool reel_channel_has_profile(const struct reel_channel *channel, const char *profile);

/* A decoder for one channel. Immutable after opening. */
struct reel_decoder;
/* REEL_UNSUPPORTED for an unknown encoding, otherwise as open(). */
struct reel_decoder *reel_decoder_open(const struct reel_channel *channel, struct reel_error *err);
void reel_decoder_free(struct reel_decoder *decoder); /* NULL is fine */
REEL_DEFINE_AUTO(struct reel_decoder, reel_decoder_free);
bool reel_decode(const struct reel_decoder *decoder, struct reel_bytes payload, struct reel_visitor *v,
                 struct reel_error *err);
/* As extent(); REEL_UNSUPPORTED where the encoding has none. */
bool reel_decode_extent(const struct reel_decoder *decoder, struct reel_bytes payload, size_t *size,
                        struct reel_error *err);
bool reel_decoder_fields(const struct reel_decoder *decoder, reel_field_visit visit, void *context); /* none when the
                                                                                                        encoding has no
                                                                                                        schema */
/* As shape(); nothing is visited when the encoding has none. *exact (may be NULL): the payloads have no other values.
 */
bool reel_decoder_shape(const struct reel_decoder *decoder, reel_shape_visit visit, void *context, bool *exact);
unsigned reel_decoders_version(void); /* changes when any decoder does */
/* … and when the definitions that users supply do (own_definitions.h). */
unsigned reel_encodings_version(void);

#endif
