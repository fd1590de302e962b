/* A payload as a stream of values: a decoder walks it once and calls a visitor. Nothing builds a tree. */
#ifndef REEL_ENCODING_H
#define REEL_ENCODING_H

#include "reel/cleanup.h"
#include "reel/error.h"
#include "reel/model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum reel_number {
    REEL_BOOL,
    REEL_I8,
    REEL_U8,
    REEL_I16,
    REEL_U16,
    REEL_I32,
    REEL_U32,
    REEL_I64,
    REEL_U64,
    REEL_F32,
    REEL_F64
};
/* Bytes of one in an array. */
static inline unsigned reel_number_size(enum reel_number type) {
    static const uint8_t sizes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    return sizes[type];
}

/* A time or a duration of a type that the schema's language has for it. */
struct reel_stamp {
    int64_t seconds, nanoseconds; /* as in the payload, not normalised; of a time since 1970 */
    const char *nanoseconds_name; /* the language's: "nsec", "nanosec" */
    bool is_duration;
};

/* A visitor receives the values: it fills the table and embeds struct reel_visitor first in its own state. Each
 * callback returns false to end the walk: the visitor needs no more, or reached its own ceiling. Every payload is one
 * value; a map is begin_map, (key, value)…, end_map. Values whose callback is NULL are ignored. */
struct reel_visitor;
struct reel_visitor_ops {
    bool (*begin_map)(struct reel_visitor *v);
    bool (*key)(
        struct reel_visitor *v,
        struct reel_bytes name); /* any bytes: a visitor that writes text shows what is no UTF-8 in its own way */
    bool (*end_map)(struct reel_visitor *v);
    bool (*begin_list)(struct reel_visitor *v);
    bool (*end_list)(struct reel_visitor *v);
    bool (*null)(struct reel_visitor *v);
    bool (*boolean)(struct reel_visitor *v, bool value);
    bool (*integer)(struct reel_visitor *v, int64_t value);
    bool (*natural)(struct reel_visitor *v, uint64_t value);
    bool (*real)(struct reel_visitor *v, double value);
    bool (*real32)(struct reel_visitor *v, float value); /* 9 significant digits are exact */
    bool (*text)(struct reel_visitor *v, struct reel_bytes value);
    bool (*binary)(struct reel_visitor *v, struct reel_bytes value);
    /* A packed array: little-endian numbers back to back, data.size / reel_number_size(type) of them. columns > 1: rows
     * of so many each (a position is 3 columns); the last row may be short. A list of numbers otherwise. */
    bool (*numbers)(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns);
    bool (*stamp)(struct reel_visitor *v,
                  const struct reel_stamp *value); /* the map {"sec", nanoseconds_name} otherwise */
};
struct reel_visitor {
    const struct reel_visitor_ops *ops;
};

/* A packed array as single values, in lists; for visitors that have nothing better to do with it. Also what happens
 * when `numbers` is NULL.
 */
bool reel_numbers_expand(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns);

/* A stamp as a map; also what happens when `stamp` is NULL. */
bool reel_stamp_expand(struct reel_visitor *v, const struct reel_stamp *value);

/* One little-endian number of the type. */
bool reel_number_visit(struct reel_visitor *v, enum reel_number type, const uint8_t *at);

/* A field that every message of a channel has, for columns and for lists of what can be plotted. */
struct reel_field {
    const char *path; /* keys joined by '.', indexes of fixed-length arrays as numbers: "pose.covariance.35" */
    const char *type; /* "float64", "string", "time", "uint8[]"; the schema's own word where there is one */
    const char *unit; /* "m", "rad", "nm"; "" = unknown or none */
    bool numeric;     /* one number (a bool counts): can be plotted */
};
/* Asked for each field, in the order of the payload; false ends it. */
typedef bool (*reel_field_visit)(void *context, const struct reel_field *field);

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
typedef bool (*reel_shape_visit)(void *context, const struct reel_shape *part); /* false ends it */

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

    /* Optional: the nested shape of every payload, by the schema. */
    bool (*shape)(const void *state, reel_shape_visit visit, void *context);

    /* Optional: the messages that make a cut at `time_ns` right (REEL_NEEDS_STATE_AT_CUT): the state from all messages
     * with time < time_ns of channels with wanted[channel.id]. Adds to `initial` (reel/iterate.h). Encodings that share
     * the function share the state: it is called once for the channels of all of them. */
    bool (*state_at)(struct reel_reader *reader, int64_t time_ns, const bool *wanted,
                     struct reel_initial_state *initial, struct reel_error *err);

    /* Optional: the stream with messages of this encoding in place of those that can be converted to it (ROS 1 and ROS
     * 2). Takes `source` over, also when it fails; gives it back as it is when there is nothing to convert. */
    struct reel_stream *(*convert)(struct reel_stream *source, struct reel_error *err);

    /* Names in other containers. */
    const char *profile; /* the middleware that such payloads are of, by MCAP's name: "ros1", "ros2"; NULL: none */
    const char *message_encoding; /* MCAP's name of the encoding; NULL: `name` */
    const char *schema_encoding;  /* the language of definitions that name none, as MCAP calls it; NULL: `name` */
    const char *const *languages; /* NULL-terminated: how the names of languages begin that define such payloads; the
                                   * longest that fits decides. NULL: none */
    bool is_exact;                /* decode() emits what shape() says and nothing else */
    bool is_map;                  /* every payload is one map, also where no schema says so */
    bool is_viewable;             /* Foxglove and compatible viewers decode it themselves */

    unsigned version; /* of what decode() emits: part of every ETag of decoded text */
};

/* The table of encodings, NULL-terminated (formats/encodings.c). */
extern const struct reel_encoding *const reel_encodings[];
const struct reel_encoding *
reel_encoding_of(const struct reel_channel *channel); /* NULL when its encoding is unknown */
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
bool reel_decoder_fields(const struct reel_decoder *decoder, reel_field_visit visit,
                         void *context); /* none when the encoding has no schema */
/* As shape(); nothing is visited when the encoding has none. *exact (may be NULL): the payloads have no other values.
 */
bool reel_decoder_shape(const struct reel_decoder *decoder, reel_shape_visit visit, void *context, bool *exact);
unsigned reel_encodings_version(void); /* changes when any decoder does */

/* The shortest decimal that reads back to the same number, with NUL; "NaN", "Infinity", "-Infinity". */
enum { REEL_NUMBER_TEXT = 48 };
void reel_number_text(double value, char out[REEL_NUMBER_TEXT]);
void reel_number_text32(float value, char out[REEL_NUMBER_TEXT]); /* of a float32, which needs fewer digits */

#ifdef __cplusplus
}
#endif

#endif
