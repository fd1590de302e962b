/* Internals of the MCAP writer: write.c (head, chunks, the table), model.c (schemas, channels), keys.c (metadata),
 * tail.c (attachments, summary), group.c (order of messages), positions.c (message indexes). Every length is known
 * before its bytes are written, from the plan or by counting; only a chunk's CRC is patched afterwards. */
#ifndef REEL_FORMATS_MCAP_WRITE_H
#define REEL_FORMATS_MCAP_WRITE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/limits.h"
#include "convert/writer.h"
#include "formats/mcap/positions.h"

extern const struct reel_format reel_format_mcap;
extern const struct reel_writer reel_writer_mcap;

enum {
    MCAP_CHUNK_BYTES = 1 << 20, /* size of the records of a chunk, unless a single message is larger */
    MCAP_TAIL_CHUNKS = 2048,    /* ChunkIndex records in one part of the tail */
    MCAP_CHANNELS_MAX = 65535,
    MCAP_SCHEMAS_MAX = 65535,
    MCAP_PACKED_MAX = 7 << 20, /* most records of a compressed chunk; a larger message is not compressed, so that it can
                                  be rendered in pieces */
    MCAP_NOTE_HEAD = 32,
    MCAP_NOTE_ROW = 6,
};

/* Values for an attachment's record that the model does not have. */
struct mcap_attached {
    uint64_t create_ns;
    uint32_t crc;
};

/* Known after planning. */
struct mcap_totals {
    uint64_t messages, start_ns, end_ns;
    uint64_t *counts;               /* messages by channel position */
    struct mcap_attached *attached; /* in the order of the tail's first parts */
    uint32_t summary_crc;
};

/* The plan's note of a chunk, enough for its ChunkIndex: start u64, end u64, size of the records u64, their stored size
 * u64, then a row for each channel (position u16, count u32) in the order of the MessageIndex records. */
struct mcap_note {
    uint64_t start_ns, end_ns, records, stored; /* a chunk is compressed if that makes it smaller */
    const uint8_t *rows;
    uint32_t n_rows;
};
struct mcap_note mcap_note_of(const struct reel_group *group);
static inline uint16_t mcap_row_channel(const struct mcap_note *note, uint32_t row) {
    return load_u16le(note->rows + (size_t)row * MCAP_NOTE_ROW);
}
static inline uint64_t mcap_row_index_size(const struct mcap_note *note, uint32_t row) { /* Size of the MessageIndex
                                                                                            record. */
    return MCAP_MESSAGE_INDEX_HEAD +
           (uint64_t)MCAP_MESSAGE_INDEX_ENTRY * load_u32le(note->rows + (size_t)row * MCAP_NOTE_ROW + 2);
}
void mcap_put_record(struct reel_sink *out, enum mcap_op op, uint64_t content_size);

/* model.c. What the head contains and the summary repeats. Built on first use: a run that only renders chunks never
 * needs it. The ids of its schemas and channels count on from those of `first`. */
struct mcap_model;
struct mcap_first {
    uint32_t schema, channel;
};
struct mcap_model *mcap_model_new(const struct reel_stream *stream, struct mcap_first first, struct reel_error *err);
void mcap_model_free(struct mcap_model *model);
REEL_DEFINE_AUTO(struct mcap_model, mcap_model_free);
uint32_t mcap_model_schemas(const struct mcap_model *model); /* number of schemas */
uint32_t mcap_model_channels(const struct mcap_model *model);
const char *mcap_model_profile(const struct mcap_model *model);
void mcap_put_schemas(const struct mcap_model *model, struct reel_sink *out);
void mcap_put_channels(const struct mcap_model *model, struct reel_sink *out);

/* A Metadata record. */
struct mcap_metadata {
    const char *name;
    struct reel_pairs pairs;
};
const struct mcap_metadata *mcap_model_metadata(const struct mcap_model *model, uint32_t *count);
uint64_t mcap_metadata_size(const struct mcap_metadata *m); /* size of the record */
void mcap_put_metadata(const struct mcap_metadata *m, struct reel_sink *out);

/* keys.c. How the metadata of a channel describes its schemas. */
struct mcap_schemas {
    const char *name;      /* name in the record that the channel refers to */
    bool empty;            /* the channel's schema has only a name */
    bool made_up;          /* the record says more than the channel's schema */
    bool encoding_assumed; /* the schema encoding is assumed, not the channel's own */
    const uint16_t *ids;   /* ids of all the channel's schemas, when there are several */
    const char *md5; /* hash of a ROS 1 type with several schemas, whose own hashes are of another kind; NULL: none */
};
const char *mcap_message_encoding(const struct reel_channel *c);
bool mcap_channel_pairs(struct arena *arena, const struct reel_channel *c, const struct mcap_schemas *schemas,
                        struct reel_pairs *out, struct reel_error *err);
/* Adds the records of one recording to `records`, which has room for one more than it has pairs. With `named`,
 * "NAME:key" goes to a record of that name. */
bool mcap_file_metadata(struct arena *arena, const struct reel_pairs *from, bool named, struct mcap_metadata *records,
                        uint32_t *count, struct reel_error *err);

bool mcap_accepts(const struct reel_channel *channel, struct reel_loss *loss);
bool mcap_accepts_all(const struct reel_stream *stream, struct reel_loss *loss);

/* record.c. Recording message by message. */
extern const struct reel_recorder_ops mcap_recorder;

/* write.c */
bool mcap_codec_named(const char *name, enum reel_codec *codec, struct reel_error *err);
/* Name of the compression, "" for a chunk that is stored plain. */
const char *mcap_compression(const struct reel_write *w, const struct mcap_note *note);
/* The run's model. NULL with err. */
struct mcap_model *mcap_model_of(struct reel_write *w, struct reel_error *err);

/* group.c. Reorders messages, where it pays, so that each chunk holds either light channels or one heavy one.
 * reel_writer.view */
struct reel_stream *mcap_grouped(struct reel_stream *source, struct reel_error *err);
/* Classes by channel: 0 for light channels, an own number for each heavy one. Where nothing is grouped: all 0, and
 * false. */
bool mcap_classes(const struct reel_stream *stream, uint32_t *classes);

uint64_t mcap_attachments(const struct reel_stream *stream); /* number, over all recordings */
uint64_t mcap_tail_parts(struct reel_write *w);
bool mcap_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err);

#endif
