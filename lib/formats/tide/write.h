/* Internals of the TIDE writer. write.c: head, chunks and index · write_book.c: channels and types · split.c: types of
 * one definition · accept.c: what a log cannot hold · record.c: message by message. A channel that was read from a TIDE
 * log is written with its original fields if reading them restores it; any other channel has the properties for which
 * TIDE has no field in its source config (reel_properties.c). */
#ifndef REEL_FORMATS_TIDE_WRITE_H
#define REEL_FORMATS_TIDE_WRITE_H

#include "chunks/codec.h"
#include "convert/writer.h"
#include "formats/tide/container.h"

extern const struct reel_writer reel_writer_tide;
extern const struct reel_writer reel_writer_tide0;
extern const struct reel_writer reel_writer_tide2;
extern const struct reel_recorder_ops tide_recorder; /* record.c */

enum {
    TIDE_CHUNK_BYTES = 1 << 20, /* of entries in a chunk, unless one message alone is larger */
    TIDE_CHUNK_MESSAGES = 16384,
    TIDE_PACKED_MAX = 7 << 20, /* most entries of a chunk that is packed */
    TIDE_NAME_MAX = 255,
    TIDE_SYNTAX_MAX = 255,
    TIDE_TYPE_NAME_MAX = 65535,
    /* Size of a group's note: u64 start, u64 end, u64 raw bytes of the entries, u64 stored bytes, u8 codec. */
    TIDE_NOTE = 33,
};

struct tide_position { /* one message of the current chunk */
    uint64_t time_ns, offset;
    uint32_t channel;
};

struct tide_run {
    enum reel_codec codec;
    bool is_new;
    uint32_t *ids;     /* of the channels, by position in the stream */
    uint32_t *counts;  /* by channel: entries in the chunk; all 0 between chunks */
    uint32_t *touched; /* the channels of the chunk, in order of their first entry */
    uint32_t n_touched;
    struct tide_position *positions;
    uint8_t *rows; /* INDX rows of the chunk */
    uint8_t *raw;  /* the entries of a chunk to be compressed */
    size_t raw_room;
    struct grow packed;    /* and compressed */
    uint64_t packed_group; /* group in `packed`; UINT64_MAX = none */
};

struct tide_chunk_note {
    uint64_t start_ns, end_ns, raw, stored;
    enum reel_codec codec;
};

/* A chunk whose messages are in run->positions. */
struct tide_indexed {
    uint64_t number, at; /* among the chunks; in the file */
    uint32_t count;
    bool disordered;
};
void tide_put_chunk_head(struct reel_sink *out, uint64_t number, uint32_t count, const struct tide_chunk_note *note);
/* The INDX blocks of a chunk; uses up run->counts. */
void tide_put_indexes(struct tide_run *run, const struct tide_indexed *chunk, struct reel_sink *out);
uint64_t tide_indexes_size(const struct tide_run *run, uint32_t count);
bool tide_codec_named(const char *name, enum reel_codec *codec, bool is_new, struct reel_error *err);

/* The id of each channel in the output, by position in the stream: its original id if that is unique. NULL: no memory.
 */
uint32_t *tide_ids_new(const struct reel_stream *stream, struct reel_error *err);

/* split.c. The types that one definition lists. Its bytes are all `text` and `after`, one after the other. */
struct tide_section {
    struct reel_bytes name, text;
    struct reel_bytes after; /* blank lines and the heading of the next type; valid UTF-8 */
    const uint32_t *needs;   /* other sections: the types of its fields */
    uint32_t n_needs;
};
struct tide_split {
    struct tide_section *sections;
    uint32_t *order; /* in which each section follows those it needs; in the arena */
    uint32_t count;  /* 0: one definition, not to be split */
};
bool tide_split(struct arena *arena, const struct reel_channel *c, const struct reel_schema *s,
                struct tide_split *out); /* false: no memory */
void tide_split_free(struct tide_split *split);

/* The channels and types of a stream as they are written. */
struct tide_book;
struct tide_book *tide_book_new(const struct reel_stream *stream, const uint32_t *ids, bool is_new,
                                struct reel_error *err);
void tide_book_free(struct tide_book *book);
REEL_DEFINE_AUTO(struct tide_book, tide_book_free);
void tide_put_types(const struct tide_book *book, struct reel_sink *out);
void tide_put_channels(const struct tide_book *book, struct reel_sink *out);
bool tide_put_metadata(const struct reel_stream *stream, struct reel_sink *out, struct reel_error *err);
/* write_remainder.c */
bool tide_put_kept_types(const struct reel_stream *stream, struct reel_sink *out, struct reel_error *err);
void tide_put_head(struct reel_sink *out, const char *tag, uint64_t size);

bool tide_accepts_old(const struct reel_channel *c, struct reel_loss *loss);
bool tide_accepts_new(const struct reel_channel *c, struct reel_loss *loss);
bool tide_accepts_all_old(const struct reel_stream *stream, struct reel_loss *loss);
bool tide_accepts_all_new(const struct reel_stream *stream, struct reel_loss *loss);

#endif
